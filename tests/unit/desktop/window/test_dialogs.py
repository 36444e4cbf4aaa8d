"""The dialogs of keyboard shortcuts and of more settings."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.dialogs.keyboard import KeyboardDialog, list_shortcuts
from gpudesk.desktop.window.dialogs.more_settings import MoreSettingsDialog, SettingRow
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Scenario
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import GERMAN_NUMBERS, Formatter


def do_nothing() -> None: ...


# Keyboard shortcuts

TITLES = {MenuId.FILE: "&File", MenuId.EDIT: "&Edit"}
SPECS = [
    ActionSpec("edit.redo", "Redo", do_nothing, menu=MenuId.EDIT, shortcuts=("Ctrl+Shift+Z", "Ctrl+Y")),
    ActionSpec("page.filter", "Filter rows…", do_nothing, shortcuts=("/",), single_key=True),
    ActionSpec("file.new", "New scenario", do_nothing, menu=MenuId.FILE, shortcuts=("Ctrl+N",)),
    ActionSpec("file.none", "Without a key", do_nothing, menu=MenuId.FILE),
]


def test_shortcuts_are_grouped_by_menu_with_the_page_last() -> None:
    entries = list_shortcuts(SPECS, TITLES)
    assert [(entry.group, entry.title, entry.shortcut) for entry in entries] == [
        ("File", "New scenario", "Ctrl N"),
        ("Edit", "Redo", "Ctrl Shift Z or Ctrl Y"),
        ("This page", "Filter rows", "/"),
    ]


@pytest.mark.parametrize("typed", ["redo", "ctrl y"])
def test_shortcuts_are_searched_by_command_and_key(theme: Theme, qtbot: QtBot, typed: str) -> None:
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


def test_arrow_key_moves_the_focus_to_the_list(theme: Theme, qtbot: QtBot) -> None:
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


class AppliedScenarios(list[Scenario]):
    """The scenarios that the dialog applied."""


@pytest.fixture
def applied() -> AppliedScenarios:
    return AppliedScenarios()


@pytest.fixture
def scenario() -> Scenario:
    return read_template("70b-chat-on-four")


@pytest.fixture
def dialog(desk: Desk, theme: Theme, qtbot: QtBot, scenario: Scenario, applied: AppliedScenarios) -> MoreSettingsDialog:
    settings_dialog = MoreSettingsDialog(desk, theme, scenario, applied.append)
    qtbot.addWidget(settings_dialog, before_close_func=lambda form: form.done(0))
    settings_dialog.show()
    settings_dialog.activateWindow()
    qtbot.waitUntil(settings_dialog.isActiveWindow)
    return settings_dialog


def get_row(dialog: MoreSettingsDialog, name: str) -> SettingRow:
    row = dialog.row(name)
    assert isinstance(row, SettingRow)
    return row


def test_all_settings_are_applied_in_one_step(
    dialog: MoreSettingsDialog, scenario: Scenario, applied: AppliedScenarios
) -> None:
    texts = {
        "prefix_hit_rate": "30",
        "acceptance_length": "2.5",
        "date": "2026-03-15",
        "memory_fraction": "85%",
        "max_batch": "256",
        "max_batched_tokens": "8k",
    }
    for name, text in texts.items():
        get_row(dialog, name).edit.setText(text)
    dialog.name_row.edit.setText("Chat")
    dialog.note_row.edit.setPlainText("For the board")
    dialog.lengths.show_value("fixed")
    dialog.server.show_value("offline")
    dialog.eager.setChecked(True)
    QTest.keyClick(get_row(dialog, "max_batch").edit, Qt.Key.Key_Return)
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


def test_unchanged_settings_are_not_applied(dialog: MoreSettingsDialog, applied: AppliedScenarios) -> None:
    dialog.accept()
    assert not dialog.isVisible()
    assert applied == []


def test_escape_applies_nothing(
    dialog: MoreSettingsDialog, applied: AppliedScenarios, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[MoreSettingsDialog] = []

    def confirm(form: MoreSettingsDialog) -> bool:
        questions.append(form)
        return True

    monkeypatch.setattr(MoreSettingsDialog, "_confirm_discard", confirm)
    QTest.keyClicks(dialog.name_row.edit, "Other")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert questions == [dialog]
    assert applied == []


def test_a_checked_box_counts_as_an_entry(dialog: MoreSettingsDialog) -> None:
    assert not dialog.entered
    dialog.eager.toggle()
    assert dialog.entered


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("prefix_hit_rate", "130", "'130' is not between 0 and 100. Default: none"),
        ("memory_fraction", "0", "'0' is out of range; use a value above 0, up to 100."),
        ("memory_fraction", "most", "Enter a number"),
        ("acceptance_length", "0.5", "'0.5' is not between 1 and 1,000."),
        ("max_batch", "2.5", "expected a whole number"),
        ("max_batched_tokens", "-4", "is not between 1 and"),
        ("date", "2026-13", "use YYYY-MM"),
    ],
)
def test_faulty_field_shows_its_fault_and_blocks_apply(
    dialog: MoreSettingsDialog, applied: AppliedScenarios, name: str, text: str, fault: str
) -> None:
    line = get_row(dialog, name)
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


def test_name_too_long_for_files_is_refused(dialog: MoreSettingsDialog, applied: AppliedScenarios) -> None:
    dialog.name_row.edit.setText("x" * 201)
    dialog.accept()
    assert dialog.isVisible()
    assert "200 characters" in dialog.name_row.edit.accessibleDescription()
    assert dialog.name_row.edit.hasFocus()
    assert applied == []


def test_numbers_round_trip_in_the_users_language(
    service: GpuDeskService, theme: Theme, qtbot: QtBot, scenario: Scenario, applied: AppliedScenarios
) -> None:
    edited_scenario = replace(
        scenario,
        memory_fraction=0.29,
        max_batched_tokens=16_384,
        workload=replace(scenario.workload, acceptance_length=2.75),
    )
    desk = Desk(service, Formatter(GERMAN_NUMBERS))
    dialog = MoreSettingsDialog(desk, theme, edited_scenario, applied.append)
    qtbot.addWidget(dialog)
    assert get_row(dialog, "acceptance_length").edit.text() == "2,75"
    assert get_row(dialog, "max_batched_tokens").edit.text() == "16.384"
    assert get_row(dialog, "memory_fraction").edit.text() == "29"
    assert get_row(dialog, "prefix_hit_rate").edit.text() == ""
    assert dialog.edited() == edited_scenario
