"""Placement of windows and dialogs: each is on the screen as a whole."""

import pytest
from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.settings import UserSettings, place_beside, restore_place
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.dialogs.keyboard import KeyboardDialog
from gpudesk.desktop.window.main_window import MainWindow

_TITLE_BAR = 40


def get_available_rect(window: QWidget) -> QRect:
    return window.screen().availableGeometry()


def test_first_window_leaves_room_for_its_title_bar(qtbot: QtBot) -> None:
    """The offscreen platform's screen is smaller than the default window, as on a small notebook."""
    window = QWidget()
    qtbot.addWidget(window)
    restore_place(window, UserSettings())
    available = get_available_rect(window)
    # The position is that of the title bar.
    assert available.contains(window.pos())
    assert window.pos().y() + _TITLE_BAR + window.height() <= available.bottom() + 1
    assert window.width() <= available.width()


def test_second_window_cascades_within_the_screen(qtbot: QtBot) -> None:
    first, second = QWidget(), QWidget()
    for window in (first, second):
        qtbot.addWidget(window)
        window.resize(300, 200)
    corner = get_available_rect(first).topLeft()
    first.move(corner + QPoint(10, 10))
    place_beside(second, first)
    assert second.pos() == corner + QPoint(34, 34)
    second.resize(get_available_rect(first).size())
    place_beside(second, first)
    assert second.pos() == corner + QPoint(34, 34)
    assert get_available_rect(first).contains(QRect(second.pos(), second.size()))


def test_second_window_without_room_takes_a_free_corner(qtbot: QtBot) -> None:
    first, second = QWidget(), QWidget()
    for window in (first, second):
        qtbot.addWidget(window)
    corner = get_available_rect(first).topLeft()
    second.setMinimumSize(get_available_rect(first).size())
    first.move(corner + QPoint(200, 200))
    place_beside(second, first)
    assert second.pos() == corner
    first.move(corner)
    place_beside(second, first)
    assert second.pos() == corner + QPoint(24, 24)


@pytest.mark.parametrize("percent", [100, 150])
def test_shortcut_dialog_fits_the_screen_at_every_text_size(window: MainWindow, theme: Theme, percent: int) -> None:
    theme.set_font_percent(percent)
    dialog = KeyboardDialog(theme, [], window)
    assert dialog.height() <= get_available_rect(dialog).height() - _TITLE_BAR
    assert dialog.width() <= get_available_rect(dialog).width()
