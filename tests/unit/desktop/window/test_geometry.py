"""Where windows and dialogs stand: all of them can be seen, title bar, status bar and all."""

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.settings import UserSettings, place_beside, restore_place
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.dialogs.keyboard import KeyboardDialog
from gpudesk.desktop.window.main_window import MainWindow

_TITLE_BAR = 40


def room_of(window: QWidget) -> QRect:
    return window.screen().availableGeometry()


def test_the_first_window_leaves_room_for_its_title_bar(qtbot: QtBot) -> None:
    """Offscreen the screen is smaller than the usual window, as a small notebook's is."""
    window = QWidget()
    qtbot.addWidget(window)
    restore_place(window, UserSettings())
    room = room_of(window)
    # The place is that of the title bar, above which nothing is.
    assert room.contains(window.pos())
    assert window.pos().y() + _TITLE_BAR + window.height() <= room.bottom() + 1
    assert window.width() <= room.width()


def test_a_further_window_lies_beside_the_former_as_long_as_it_can_be_seen(qtbot: QtBot) -> None:
    former, further = QWidget(), QWidget()
    for window in (former, further):
        qtbot.addWidget(window)
        window.resize(300, 200)
    corner = room_of(former).topLeft()
    former.move(corner + QPoint(10, 10))
    place_beside(further, former)
    assert further.pos() == corner + QPoint(34, 34)
    further.resize(room_of(former).size())
    place_beside(further, former)
    assert further.pos() == corner + QPoint(34, 34)
    assert room_of(former).contains(QRect(further.pos(), further.size()))


def test_a_further_window_without_room_takes_a_corner_that_is_free(qtbot: QtBot) -> None:
    former, further = QWidget(), QWidget()
    for window in (former, further):
        qtbot.addWidget(window)
    corner = room_of(former).topLeft()
    further.setMinimumSize(room_of(former).size())
    former.move(corner + QPoint(200, 200))
    place_beside(further, former)
    assert further.pos() == corner
    former.move(corner)
    place_beside(further, former)
    assert further.pos() == corner + QPoint(24, 24)


@pytest.mark.parametrize("percent", [100, 150])
def test_the_shortcuts_fit_the_screen_at_every_size_of_text(window: MainWindow, theme: Theme, percent: int) -> None:
    theme.set_font_percent(percent)
    dialog = KeyboardDialog(theme, [], window)
    assert dialog.height() <= room_of(dialog).height() - _TITLE_BAR
    assert dialog.width() <= room_of(dialog).width()
