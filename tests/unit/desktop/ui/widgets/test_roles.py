"""Accessible roles of the program's widgets; Qt's own widgets keep theirs."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.widgets.qt_support import AccessibleRole, install_accessible_roles


class Painted(QWidget):
    """A widget that paints a chart."""

    accessible_role = AccessibleRole.Chart

    def __init__(self) -> None:
        super().__init__()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Memory, chart")
        self.setAccessibleDescription("It fits.")
        QVBoxLayout(self).addWidget(QPushButton("Use 4"))


def test_widget_has_the_role_of_its_class(qtbot: QtBot) -> None:
    install_accessible_roles()
    widget = Painted()
    qtbot.addWidget(widget)
    interface = QAccessible.queryAccessibleInterface(widget)
    assert interface.role() is AccessibleRole.Chart
    assert interface.text(QAccessible.Text.Name) == "Memory, chart"
    assert interface.text(QAccessible.Text.Description) == "It fits."
    assert interface.childCount() == 1
    assert interface.child(0).text(QAccessible.Text.Name) == "Use 4"


def test_qt_widgets_keep_their_roles(qtbot: QtBot) -> None:
    install_accessible_roles()
    button = QPushButton("Copy")
    qtbot.addWidget(button)
    assert QAccessible.queryAccessibleInterface(button).role() is AccessibleRole.Button
