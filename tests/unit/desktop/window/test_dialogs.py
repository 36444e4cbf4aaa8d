"""The dialogs of the window: keyboard shortcuts, more settings."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.dialogs.keyboard import KeyboardDialog, list_shortcuts
from gpudesk.desktop.window.dialogs.more_settings import MoreSettingsDialog
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Scenario
from gpudesk.text.formatting import GERMAN_NUMBERS


def nothing() -> None: ...


# Keyboard shortcuts

TITLES = {MenuId.FILE: "&File", MenuId.EDIT: "&Edit"}
SPECS = [
    ActionSpec("edit.redo", "Redo", nothing, menu=MenuId.EDIT, shortcuts=("Ctrl+Shift+Z", "Ctrl+Y")),
    ActionSpec("page.filter", "Filter rows…", nothing, shortcuts=("/",), single_key=True),
    ActionSpec("file.new", "New scenario", nothing, menu=MenuId.FILE, shortcuts=("Ctrl+N",)),
    ActionSpec("file.none", "Without a key", nothing, menu=MenuId.FILE),
]


def test_shortcuts_stand_menu_by_menu_and_those_of_the_page_last() -> None:
    entries = list_shortcuts(SPECS, TITLES)
    assert [(entry.group, entry.title, entry.shortcut) for entry in entries] == [
        ("File", "New scenario", "Ctrl N"),
        ("Edit", "Redo", "Ctrl Shift Z or Ctrl Y"),
        ("This page", "Filter rows", "/"),
    ]


@pytest.mark.parametrize("typed", ["redo", "ctrl y"])
def test_a_shortcut_is_found_by_its_command_and_by_its_key(theme: Theme, qtbot: QtBot, typed: str) -> None:
    dialog = KeyboardDialog(theme, list_shortcuts(SPECS, TITLES))
    qtbot.addWidget(dialog)
    dialog.show()
    QTest.keyClicks(dialog.search, typed)
    assert dialog.search.accessibleDescription() == "1 of 3"
    assert dialog.view.currentIndex().data() == "Redo"
    QTest.keyClicks(dialog.search, "quux")
    assert not dialog.view.isVisible()
    QTest.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_arrows_leave_the_line_for_the_list(theme: Theme, qtbot: QtBot) -> None:
    dialog = KeyboardDialog(theme, list_shortcuts(SPECS, TITLES))
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.activateWindow()
    qtbot.waitUntil(dialog.isActiveWindow)
    QTest.keyClick(dialog.search, Qt.Key.Key_Down)
    assert dialog.view.hasFocus()
    QTest.keyClick(dialog.view, Qt.Key.Key_Down)
    assert dialog.view.currentIndex().data() == "Redo"


# More settings


class Applied(list[Scenario]):
    """The scenarios that were passed."""


@pytest.fixture
def applied() -> Applied:
    return Applied()


@pytest.fixture
def scenario() -> Scenario:
    return read_template("70b-chat-on-four")


@pytest.fixture
def dialog(theme: Theme, qtbot: QtBot, scenario: Scenario, applied: Applied) -> MoreSettingsDialog:
    made = MoreSettingsDialog(theme, scenario, applied.append)
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    return made


def test_all_settings_are_taken_over_in_one_step(
    dialog: MoreSettingsDialog, scenario: Scenario, applied: Applied
) -> None:
    typed = {
        "prefix_hit_rate": "30",
        "acceptance_length": "2.5",
        "date": "2026-03-15",
        "memory_fraction": "85%",
        "max_batch": "256",
        "max_batched_tokens": "8k",
    }
    for name, text in typed.items():
        dialog.line(name).edit.setText(text)
    dialog.name.setText("Chat")
    dialog.note.setPlainText("For the board")
    dialog.lengths.set_value("fixed")
    dialog.server.set_value("offline")
    dialog.eager.setChecked(True)
    QTest.keyClick(dialog.line("max_batch").edit, Qt.Key.Key_Return)
    assert not dialog.isVisible()
    workload = replace(
        scenario.workload, prefix_hit_rate=0.3, acceptance_length=2.5, varied=False, server=False, eager=True
    )
    assert applied == [
        replace(
            scenario,
            name="Chat",
            note="For the board",
            workload=workload,
            date="2026-03",
            memory_fraction=0.85,
            max_batch=256,
            max_batched_tokens=8000,
        )
    ]


def test_what_is_not_changed_is_not_applied(dialog: MoreSettingsDialog, applied: Applied) -> None:
    dialog.accept()
    assert not dialog.isVisible()
    assert applied == []


def test_keeping_it_as_it_was_changes_nothing(dialog: MoreSettingsDialog, applied: Applied) -> None:
    dialog.name.setText("Other")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert applied == []


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("prefix_hit_rate", "130", "“130” is not between 0 and 100. Default: none"),
        ("memory_fraction", "0", "“0” is out of range; use a value above 0, up to 100."),
        ("memory_fraction", "most", "Enter a number"),
        ("acceptance_length", "0.5", "“0.5” is not between 1 and 1,000."),
        ("max_batch", "2.5", "expected a whole number"),
        ("max_batched_tokens", "-4", "is not between 1 and"),
        ("date", "2026-13", "use YYYY-MM"),
    ],
)
def test_a_fault_is_said_at_its_field_and_holds_apply_back(
    dialog: MoreSettingsDialog, applied: Applied, name: str, text: str, fault: str
) -> None:
    line = dialog.line(name)
    line.edit.setText(text)
    dialog.accept()
    assert dialog.isVisible()
    assert applied == []
    assert fault in line.fault
    assert fault in line.edit.accessibleDescription()
    assert line.edit.hasFocus()
    line.edit.selectAll()
    QTest.keyClick(line.edit, Qt.Key.Key_Delete)
    assert line.fault == ""


def test_a_name_too_long_for_files_is_refused(dialog: MoreSettingsDialog, applied: Applied) -> None:
    dialog.name.setText("x" * 201)
    dialog.accept()
    assert dialog.isVisible()
    assert "200 characters" in dialog.name.accessibleDescription()
    assert dialog.name.hasFocus()
    assert applied == []


def test_what_is_shown_is_what_is_read_in_the_users_language(
    theme: Theme, qtbot: QtBot, scenario: Scenario, applied: Applied
) -> None:
    given = replace(
        scenario,
        memory_fraction=0.29,
        max_batched_tokens=16_384,
        workload=replace(scenario.workload, acceptance_length=2.75),
    )
    dialog = MoreSettingsDialog(theme, given, applied.append, style=GERMAN_NUMBERS)
    qtbot.addWidget(dialog)
    assert dialog.line("acceptance_length").edit.text() == "2,75"
    assert dialog.line("max_batched_tokens").edit.text() == "16.384"
    assert dialog.line("memory_fraction").edit.text() == "29"
    assert dialog.line("prefix_hit_rate").edit.text() == ""
    assert dialog.edited() == given
