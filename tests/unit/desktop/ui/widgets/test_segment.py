"""The segmented control and the buttons."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.ui.widgets.buttons import Button, LinkButton, SegmentedControl


@pytest.fixture
def segment(theme: Theme, qtbot: QtBot) -> SegmentedControl:
    control = SegmentedControl(
        theme, "Rows", [("all", "All rows"), ("differing", "Differences only"), ("mine", "Mine")]
    )
    qtbot.addWidget(control)
    control.show()
    return control


def list_buttons(segment: SegmentedControl) -> list[QPushButton]:
    return segment.findChildren(QPushButton)


def test_arrow_keys_move_the_choice(segment: SegmentedControl, qtbot: QtBot) -> None:
    first = list_buttons(segment)[0]
    with qtbot.waitSignal(segment.chosen) as signal:
        QTest.keyClick(first, Qt.Key.Key_Right)
    assert signal.args == ["differing"]
    assert segment.value == "differing"


def test_only_the_current_segment_is_reached_by_tab(segment: SegmentedControl) -> None:
    reached = [button.text() for button in list_buttons(segment) if button.focusPolicy() & Qt.FocusPolicy.TabFocus]
    assert reached == ["All rows"]


def test_segments_have_accessible_names(segment: SegmentedControl) -> None:
    assert [button.accessibleName() for button in list_buttons(segment)] == [
        "Rows: All rows",
        "Rows: Differences only",
        "Rows: Mine",
    ]


def test_set_value_emits_no_signal(segment: SegmentedControl, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(segment.chosen):
        segment.set_value("mine")
    assert segment.value == "mine"


def test_primary_button_is_filled_in_both_themes(theme: Theme, qtbot: QtBot) -> None:
    button = Button(theme, "Print sheet", icon="printer", kind="primary", key="Ctrl P")
    qtbot.addWidget(button)
    button.resize(button.sizeHint())
    for preference in ("light", DARK):
        theme.set_preference(preference)
        image = button.grab().toImage()
        assert image.pixelColor(6, button.height() // 2) == theme.color("button")
    button.setEnabled(False)
    assert button.grab().toImage().pixelColor(6, button.height() // 2) == theme.color("strong")


def test_buttons_grow_with_the_text(theme: Theme, qtbot: QtBot) -> None:
    button, link = Button(theme, "Copy", icon="copy"), LinkButton(theme, "Enter your own value…")
    qtbot.addWidget(button)
    qtbot.addWidget(link)
    before = button.sizeHint()
    assert before.height() == 28
    theme.set_font_percent(150)
    assert button.sizeHint().height() == 42
    assert button.sizeHint().width() > before.width() * 1.4
    assert link.font().pixelSize() == 18
    assert (button.accessibleName(), link.accessibleName()) == ("Copy", "Enter your own value…")


def test_button_is_clicked_by_keyboard(theme: Theme, qtbot: QtBot) -> None:
    button = Button(theme, "Copy")
    qtbot.addWidget(button)
    button.show()
    with qtbot.waitSignal(button.clicked):
        QTest.keyClick(button, Qt.Key.Key_Space)
