"""Filter pills, and the flow layout that they are in."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.filters import FilterPill
from gpudesk.desktop.ui.widgets.layouts import FlowLayout


def test_pill_emits_switched_and_cleared(theme: Theme, qtbot: QtBot) -> None:
    pill = FilterPill(theme, "Has disputes")
    qtbot.addWidget(pill)
    pill.show()
    with qtbot.waitSignal(pill.switched):
        QTest.keyClick(pill, Qt.Key.Key_Return)
    width = pill.sizeHint().width()
    pill.show_text("Has disputes", on=True)
    assert pill.on
    assert pill.sizeHint().width() > width, "space for the ×"
    assert "active" in pill.accessibleName()
    pill.resize(pill.sizeHint())
    with qtbot.waitSignal(pill.cleared):
        QTest.mouseClick(pill, Qt.MouseButton.LeftButton, pos=QPoint(pill.width() - 8, 10))
    with qtbot.waitSignal(pill.switched):
        QTest.mouseClick(pill, Qt.MouseButton.LeftButton, pos=QPoint(12, 10))


def test_menu_is_filled_when_it_opens(theme: Theme, qtbot: QtBot) -> None:
    menus: list[QMenu] = []
    pill = FilterPill(theme, "Vendor", menus.append)
    qtbot.addWidget(pill)
    pill.show()
    QTest.keyClick(pill, Qt.Key.Key_Down)
    assert len(menus) == 1
    menus[0].hide()


def test_flow_layout_wraps(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    flow = FlowLayout(10, box)
    flow.setContentsMargins(0, 0, 0, 0)
    widgets = [QWidget(box) for _ in range(4)]
    for widget in widgets:
        widget.setFixedSize(100, 20)
        flow.addWidget(widget)
    widgets[1].hide()
    assert flow.heightForWidth(320) == 20
    assert flow.heightForWidth(319) == 50
    assert flow.heightForWidth(100) == 80
    box.resize(215, 100)
    box.show()
    assert [widget.pos().y() for widget in widgets if widget.isVisible()] == [0, 0, 30]
    assert flow.count() == 4
    assert flow.itemAt(9) is None
    widgets[1].show()
    assert flow.heightForWidth(320) == 50
    widgets[1].setFixedHeight(30)
    assert flow.heightForWidth(100) == 120
    flow.takeAt(1)
    assert flow.heightForWidth(320) == 20
    flow.setContentsMargins(0, 5, 0, 0)
    assert flow.heightForWidth(320) == 25
