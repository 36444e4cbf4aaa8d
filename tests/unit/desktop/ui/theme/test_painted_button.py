"""Painted buttons: Enter clicks them, except in dialogs, which have a default button."""

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


@pytest.mark.parametrize(("parent_class", "expected_clicks"), [(QWidget, 2), (QDialog, 1)])
def test_enter_clicks_outside_dialogs(
    theme: Theme, qtbot: QtBot, parent_class: type[QWidget], expected_clicks: int
) -> None:
    parent = parent_class()
    qtbot.addWidget(parent)
    button = _Tinted(theme, parent)
    clicks: list[PaintedButton] = []
    button.clicked.connect(lambda: clicks.append(button))
    QTest.keyClick(button, Qt.Key.Key_Return)
    QTest.keyClick(button, Qt.Key.Key_Space)
    assert len(clicks) == expected_clicks


def test_button_is_painted_in_theme_colors(theme: Theme, qtbot: QtBot) -> None:
    button = _Tinted(theme)
    qtbot.addWidget(button)
    button.resize(8, 8)
    assert button.grab().toImage().pixelColor(4, 4) == theme.color("selection")
