"""Notes and offers: one note at a time, and offers that a note does not replace."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.ui.widgets.note_bar import NoteBar


@pytest.fixture
def bar(theme: Theme, qtbot: QtBot) -> Iterator[NoteBar]:
    window = QWidget()
    qtbot.addWidget(window)
    note_bar = NoteBar(theme)
    QVBoxLayout(window).addWidget(note_bar)
    window.show()
    yield note_bar
    window.hide()


def click(bar: NoteBar, title: str) -> None:
    (button,) = [each for each in bar.findChildren(QPushButton) if each.text() == title and each.isVisible()]
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def test_note_replaces_the_former_note(bar: NoteBar) -> None:
    bar.show_note("first", [("Do", list)])
    bar.show_note("second")
    assert bar.text == "second"
    assert not any(button.isVisible() for button in bar.findChildren(QPushButton))


def test_offers_stay_when_notes_change(bar: NoteBar) -> None:
    clicks: list[str] = []
    bar.offer("recovered", [("Open", lambda: clicks.append("opened"))])
    bar.show_note("not saved")
    bar.offer("crashed", [("Show", lambda: clicks.append("shown"))])
    assert bar.offers == ["recovered", "crashed"]
    assert bar.text == "not saved"
    bar.clear()
    assert bar.text == ""
    assert bar.isVisible()
    click(bar, "Show")
    assert bar.offers == ["recovered"]
    click(bar, "Open")
    assert clicks == ["shown", "opened"]
    assert bar.offers == []
    assert not bar.isVisible()


def test_action_of_an_offer_may_make_another(bar: NoteBar) -> None:
    bar.offer("first", [("Next", lambda: bar.offer("second", []))])
    click(bar, "Next")
    assert bar.offers == ["second"]
    assert bar.isVisible()


def test_notes_and_offers_close_separately(bar: NoteBar) -> None:
    bar.offer("offer", [])
    bar.show_note("note")
    above, below = (each for each in bar.findChildren(IconButton) if each.isVisible())
    tops = {each: each.mapTo(bar, each.rect().topLeft()).y() for each in (above, below)}
    upper = min(tops, key=lambda each: tops[each])
    QTest.mouseClick(upper, Qt.MouseButton.LeftButton)
    assert bar.offers == []
    assert bar.text == "note"
    lower = above if upper is below else below
    QTest.keyClick(lower, Qt.Key.Key_Escape)
    assert bar.text == ""
    assert not bar.isVisible()
