"""Buttons that paint themselves: Enter presses them as Space does, but not in dialogs, which have a default button."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedButton, ThemePainter


class _Tinted(PaintedButton):
    """A button in one color."""

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), pen.color("selection"))


@pytest.mark.parametrize(("window", "pressed"), [(QWidget, 2), (QDialog, 1)])
def test_enter_presses_outside_dialogs(theme: Theme, qtbot: QtBot, window: type[QWidget], pressed: int) -> None:
    around = window()
    qtbot.addWidget(around)
    button = _Tinted(theme, around)
    presses: list[PaintedButton] = []
    button.clicked.connect(lambda: presses.append(button))
    QTest.keyClick(button, Qt.Key.Key_Return)
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert len(presses) == pressed


def test_it_is_painted_with_colors_of_the_theme(theme: Theme, qtbot: QtBot) -> None:
    button = _Tinted(theme)
    qtbot.addWidget(button)
    button.resize(8, 8)
    assert button.grab().toImage().pixelColor(4, 4) == theme.color("selection")
