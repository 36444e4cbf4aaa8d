"""The watch list: rows, notes as undoable steps of the user's file."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.catalog.user_store import edits, entry
from gpudesk.decision.purchasing.procurement import note_signal
from gpudesk.desktop.pages.decide.purchasing.deferral_view import DeferralView
from gpudesk.desktop.pages.decide.purchasing.watch_list import WatchForm, WatchSignalRow
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.reference_data import WatchNote
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from gpudesk.text.messages import InputError, message
from tests.unit.desktop.pages.decide.view_helpers import show_view

GAP, REPORTS, REFERENCE = "W002-01", "W002-02", "W002-03"


@pytest.fixture
def user_desk(user_service: GpuDeskService, qtbot: QtBot) -> Desk:
    desk = Desk(user_service, Formatter(ENGLISH_NUMBERS))
    desk.open(read_template("70b-chat-on-four"))
    return desk


@pytest.fixture
def view(user_desk: Desk, theme: Theme, qtbot: QtBot) -> DeferralView:
    deferral_view = show_view(DeferralView(user_desk, theme), user_desk, qtbot)
    qtbot.waitUntil(lambda: not deferral_view.job.running)
    return deferral_view


def get_row(view: DeferralView, signal: str) -> WatchSignalRow:
    return view.watch.rows[signal]


def open_form(view: DeferralView, signal: str) -> WatchForm:
    QTest.mouseClick(get_row(view, signal).edit, Qt.MouseButton.LeftButton)
    watch_form = get_row(view, signal).form
    assert watch_form is not None
    return watch_form


def fill(open_form: WatchForm, value: str, date: str = "2026-10", source: str = "Our own test") -> WatchForm:
    if open_form.answer.isVisible():
        open_form.answer.set_value(value)
    for name, text in (("value", value), ("date", date), ("source", source)):
        open_form.lines[name].setText(text)
    return open_form


def click_save(open_form: WatchForm) -> None:
    QTest.mouseClick(open_form.save, Qt.MouseButton.LeftButton)


def add_note(view: DeferralView, signal: str, value: str, qtbot: QtBot) -> None:
    click_save(fill(open_form(view, signal), value))
    view.desk.flush()
    qtbot.waitUntil(lambda: not view.job.running)


def test_five_signals_have_their_states(view: DeferralView) -> None:
    assert list(view.watch.rows) == [f"W002-0{number}" for number in range(1, 6)]
    states = [each.state.text() for each in view.watch.rows.values()]
    assert states == ["not passed", "unknown", "not passed", "passed", "unknown"]
    assert get_row(view, GAP).accessibleName().startswith("ROCm attention kernel gap: not passed")
    assert get_row(view, GAP).edit.accessibleName() == "Add value: ROCm attention kernel gap"
    assert not view.watch.undo.isVisible()


def test_note_is_added_and_undone(view: DeferralView, user_desk: Desk, qtbot: QtBot) -> None:
    add_note(view, GAP, "9", qtbot)
    (note,) = user_desk.service.user_catalog.watched
    assert note == WatchNote(GAP, 9.0, "2026-10", "Our own test")
    assert get_row(view, GAP).state.text() == "passed"
    assert get_row(view, GAP).edit.text() == "Edit note"
    assert view.watch.undo.text() == "Undo: Add note to watch list: ROCm attention kernel gap"
    QTest.mouseClick(view.watch.undo, Qt.MouseButton.LeftButton)
    assert not user_desk.service.user_catalog.watched
    assert get_row(view, GAP).state.text() == "not passed"
    assert not view.watch.undo.isVisible()
    user_desk.service.user_catalog.redo()
    assert get_row(view, GAP).state.text() == "passed"


def test_note_applies_to_all_documents(view: DeferralView, user_desk: Desk, qtbot: QtBot) -> None:
    add_note(view, REFERENCE, "yes", qtbot)
    user_desk.open(read_template("70b-chat-on-four"))
    assert get_row(view, REFERENCE).state.text() == "passed"
    assert user_desk.undo_stack.count() == 0, "it is not an undo step of the document"
    with GpuDeskService.open() as second_service:
        assert second_service.user_catalog.watched == user_desk.service.user_catalog.watched


def test_note_is_changed_and_removed(view: DeferralView, user_desk: Desk, qtbot: QtBot) -> None:
    add_note(view, GAP, "9", qtbot)
    watch_form = open_form(view, GAP)
    assert watch_form.lines["value"].text() == "9"
    assert watch_form.lines["source"].text() == "Our own test"
    watch_form.lines["note"].setText("read twice")
    click_save(fill(watch_form, "-3.5"))
    (note,) = user_desk.service.user_catalog.watched
    assert note == WatchNote(GAP, -3.5, "2026-10", "Our own test", "read twice")
    QTest.mouseClick(open_form(view, GAP).remove, Qt.MouseButton.LeftButton)
    assert not user_desk.service.user_catalog.watched
    assert get_row(view, GAP).form is None
    assert get_row(view, GAP).edit.hasFocus()


@pytest.mark.parametrize("value", ["0", "-2", "12", "12%"])
def test_any_number_is_accepted(view: DeferralView, user_desk: Desk, qtbot: QtBot, value: str) -> None:
    add_note(view, GAP, value, qtbot)
    assert user_desk.service.user_catalog.watched[0].value == float(value.removesuffix("%"))


@pytest.mark.parametrize(
    ("signal", "value", "date", "source", "field_name", "expected_fault"),
    [
        (GAP, "much", "2026-10", "A test", "value", "Enter a number"),
        (GAP, "", "2026-10", "A test", "value", "Enter a value"),
        (REFERENCE, "", "2026-10", "A test", "", "Enter a value"),
        (GAP, "9", "", "A test", "date", "A note needs a date"),
        (GAP, "9", "2026", "A test", "date", "is not a date; use YYYY-MM or YYYY-MM-DD"),
        (GAP, "9", "2026-10", "", "source", "A note needs a source"),
        (GAP, "9", "2026-10", "x" * 400, "source", "longer than"),
    ],
)
def test_invalid_note_is_reported_at_its_field(
    view: DeferralView,
    user_desk: Desk,
    signal: str,
    value: str,
    date: str,
    source: str,
    field_name: str,
    expected_fault: str,
) -> None:
    watch_form = fill(open_form(view, signal), value, date, source)
    click_save(watch_form)
    assert expected_fault in watch_form.fault.text()
    assert watch_form.fault.isVisible()
    assert not user_desk.service.user_catalog.watched
    faulty_fields = [name for name, line in watch_form.lines.items() if line.property("fault") == "true"]
    assert faulty_fields == ([field_name] if field_name else ["value"])
    if field_name:
        assert watch_form.lines[field_name].hasFocus()
    QTest.keyClicks(watch_form.lines["source"], "y")
    assert not watch_form.fault.isVisible()


def test_form_is_canceled_and_saved_by_keys(view: DeferralView, user_desk: Desk) -> None:
    watch_form = fill(open_form(view, GAP), "9")
    assert watch_form.lines["value"].hasFocus()
    QTest.keyClick(watch_form.lines["value"], Qt.Key.Key_Escape)
    assert get_row(view, GAP).form is None
    assert get_row(view, GAP).edit.isVisible()
    assert not user_desk.service.user_catalog.watched
    QTest.keyClick(fill(open_form(view, GAP), "9").lines["source"], Qt.Key.Key_Return)
    assert user_desk.service.user_catalog.watched[0].value == 9.0


def test_one_form_is_open_and_survives_updates(view: DeferralView, user_desk: Desk, qtbot: QtBot) -> None:
    open_form(view, GAP)
    watch_form = fill(open_form(view, REFERENCE), "yes")
    assert get_row(view, GAP).form is None
    user_desk.edit("Long", workload=replace(user_desk.scenario.workload, output_tokens=2000))
    user_desk.flush()
    qtbot.waitUntil(lambda: not view.job.running)
    assert get_row(view, REFERENCE).form is watch_form
    assert watch_form.lines["source"].text() == "Our own test"


def test_concurrent_change_keeps_the_input(
    view: DeferralView, user_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_step: object) -> None:
        raise InputError(
            message(
                "own.changed_elsewhere",
                "was changed by another program, so nothing was written; check the current values, then try again",
            ),
            "facts",
        )

    monkeypatch.setattr(user_desk.service.user_catalog, "do", refuse)
    watch_form = fill(open_form(view, GAP), "9")
    click_save(watch_form)
    assert watch_form.fault.text().startswith("Not saved: ")
    assert watch_form.lines["value"].text() == "9"


def test_row_keeps_the_focus_when_the_list_changes(view: DeferralView, user_desk: Desk) -> None:
    get_row(view, REPORTS).edit.setFocus()
    gap = next(each for each in user_desk.service.reference_data.signals if each.id == GAP)
    user_catalog = user_desk.service.user_catalog
    user_catalog.do(note_signal(user_catalog.watched, gap, 9.0, date="2026-10", source="A test"))
    assert get_row(view, REPORTS).edit.hasFocus()


def test_failure_to_undo_is_reported(
    view: DeferralView, user_desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_note(view, GAP, "9", qtbot)

    def refuse() -> None:
        raise InputError(
            message(
                "own.changed_elsewhere",
                "was changed by another program, so nothing was written; check the current values, then try again",
            ),
            "facts",
        )

    monkeypatch.setattr(user_desk.service.user_catalog, "undo", refuse)
    QTest.mouseClick(view.watch.undo, Qt.MouseButton.LeftButton)
    assert view.watch.problem.isVisible()
    assert view.watch.problem.text().startswith("No change: ")


def test_undo_of_the_list_excludes_other_values(view: DeferralView, user_desk: Desk, qtbot: QtBot) -> None:
    add_note(view, GAP, "9", qtbot)
    service = user_desk.service
    source = entry.make_user_source("A quote")
    service.user_catalog.do(edits.state_value(service.catalog, "mi325x", "tdp", 900, "W", source, today="2026-11-23"))
    assert not view.watch.undo.isVisible()


def test_read_only_file_disables_editing(view: DeferralView, user_desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(user_desk.service.user_catalog), "writable", property(lambda _: False))
    view.show_watch_list()
    assert not get_row(view, GAP).edit.isEnabled()
    assert get_row(view, GAP).edit.toolTip() == "The file with your values is read-only"
