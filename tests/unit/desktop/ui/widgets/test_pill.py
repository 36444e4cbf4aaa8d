"""Pills and the layout that they stand in."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.filters import FilterPill
from gpudesk.desktop.ui.widgets.layouts import FlowLayout


def test_a_switch_tells_that_it_was_pressed_and_its_cross_clears(theme: Theme, qtbot: QtBot) -> None:
    pill = FilterPill(theme, "Has disputes")
    qtbot.addWidget(pill)
    pill.show()
    with qtbot.waitSignal(pill.switched):
        QTest.keyClick(pill, Qt.Key.Key_Return)
    narrow = pill.sizeHint().width()
    pill.show_text("Has disputes", on=True)
    assert pill.on
    assert pill.sizeHint().width() > narrow, "there is room for the ×"
    assert "active" in pill.accessibleName()
    pill.resize(pill.sizeHint())
    with qtbot.waitSignal(pill.cleared):
        QTest.mouseClick(pill, Qt.MouseButton.LeftButton, pos=QPoint(pill.width() - 8, 10))
    with qtbot.waitSignal(pill.switched):
        QTest.mouseClick(pill, Qt.MouseButton.LeftButton, pos=QPoint(12, 10))


def test_a_menu_is_filled_when_it_opens(theme: Theme, qtbot: QtBot) -> None:
    filled: list[QMenu] = []
    pill = FilterPill(theme, "Vendor", filled.append)
    qtbot.addWidget(pill)
    pill.show()
    QTest.keyClick(pill, Qt.Key.Key_Down)
    assert len(filled) == 1
    filled[0].hide()


def test_what_has_no_room_begins_the_next_line(qtbot: QtBot) -> None:
    box = QWidget()
    qtbot.addWidget(box)
    flow = FlowLayout(10, box)
    flow.setContentsMargins(0, 0, 0, 0)
    parts = [QWidget(box) for _ in range(4)]
    for part in parts:
        part.setFixedSize(100, 20)
        flow.addWidget(part)
    parts[1].hide()
    assert flow.heightForWidth(320) == 20
    assert flow.heightForWidth(319) == 50
    assert flow.heightForWidth(100) == 80
    box.resize(215, 100)
    box.show()
    assert [part.pos().y() for part in parts if part.isVisible()] == [0, 0, 30]
    assert flow.count() == 4
    assert flow.itemAt(9) is None
    parts[1].show()
    assert flow.heightForWidth(320) == 50
    parts[1].setFixedHeight(30)
    assert flow.heightForWidth(100) == 120
    flow.takeAt(1)
    assert flow.heightForWidth(320) == 20
    flow.setContentsMargins(0, 5, 0, 0)
    assert flow.heightForWidth(320) == 25
