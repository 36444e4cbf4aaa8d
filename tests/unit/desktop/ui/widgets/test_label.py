"""Labels keep their colors with every theme and parent."""

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QLabel, QSplitter, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel


def get_color(label: ThemedLabel) -> str:
    return label.palette().color(QPalette.ColorRole.WindowText).name()


def test_label_follows_the_theme_under_a_new_parent(theme: Theme, qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    splitter = QSplitter(window)
    holder = QWidget(window)
    label = ThemedLabel(theme, "Sources and calculation", parent=holder)
    window.show()
    theme.set_preference(DARK)
    assert get_color(label) == theme.color("text1").name()
    splitter.addWidget(holder)
    assert get_color(label) == theme.color("text1").name()
    label.set_color("text3")
    assert get_color(label) == theme.color("text3").name()


def test_wrapped_text_keeps_figures_and_units_on_one_line(theme: Theme, qtbot: QtBot) -> None:
    label = ThemedLabel(theme, "MI355X (440 ms)", wrap=True)
    qtbot.addWidget(label)
    assert label.text() == "MI355X (440 ms)"
    assert QLabel.text(label) == "MI355X (440\u00a0ms)"
