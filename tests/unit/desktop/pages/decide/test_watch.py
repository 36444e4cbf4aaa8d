"""The watch list: rows in words and marks, notes of the user as steps of their own file, and undoing them."""

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
from tests.unit.desktop.pages.decide.views_of import shown

GAP, REPORTS, REFERENCE = "W002-01", "W002-02", "W002-03"


@pytest.fixture
def own_desk(user_service: GpuDeskService, qtbot: QtBot) -> Desk:
    made = Desk(user_service, Formatter(ENGLISH_NUMBERS))
    made.open(read_template("70b-chat-on-four"))
    return made


@pytest.fixture
def view(own_desk: Desk, theme: Theme, qtbot: QtBot) -> DeferralView:
    made = shown(DeferralView(own_desk, theme), own_desk, qtbot)
    qtbot.waitUntil(lambda: not made.job.running)
    return made


def row(view: DeferralView, signal: str) -> WatchSignalRow:
    return view.watch.rows[signal]


def form(view: DeferralView, signal: str) -> WatchForm:
    QTest.mouseClick(row(view, signal).edit, Qt.MouseButton.LeftButton)
    found = row(view, signal).form
    assert found is not None
    return found


def filled(form: WatchForm, value: str, date: str = "2026-10", source: str = "Our own test") -> WatchForm:
    if form.answer.isVisible():
        form.answer.set_value(value)
    for name, text in (("value", value), ("date", date), ("source", source)):
        form.lines[name].setText(text)
    return form


def save(form: WatchForm) -> None:
    QTest.mouseClick(form.save, Qt.MouseButton.LeftButton)


def noted(view: DeferralView, signal: str, value: str, qtbot: QtBot) -> None:
    save(filled(form(view, signal), value))
    view.desk.flush()
    qtbot.waitUntil(lambda: not view.job.running)


def test_there_are_five_rows_with_words_for_their_state(view: DeferralView) -> None:
    assert list(view.watch.rows) == [f"W002-0{number}" for number in range(1, 6)]
    states = [each.state.text() for each in view.watch.rows.values()]
    assert states == ["not passed", "unknown", "not passed", "passed", "unknown"]
    assert row(view, GAP).accessibleName().startswith("ROCm attention kernel gap: not passed")
    assert row(view, GAP).edit.accessibleName() == "Add value: ROCm attention kernel gap"
    assert not view.watch.undo.isVisible()


def test_a_note_is_written_shown_and_undone(view: DeferralView, own_desk: Desk, qtbot: QtBot) -> None:
    noted(view, GAP, "9", qtbot)
    (note,) = own_desk.service.user_catalog.watched
    assert note == WatchNote(GAP, 9.0, "2026-10", "Our own test")
    assert row(view, GAP).state.text() == "passed"
    assert row(view, GAP).edit.text() == "Edit note"
    assert view.watch.undo.text() == "Undo: Add note to watch list: ROCm attention kernel gap"
    QTest.mouseClick(view.watch.undo, Qt.MouseButton.LeftButton)
    assert not own_desk.service.user_catalog.watched
    assert row(view, GAP).state.text() == "not passed"
    assert not view.watch.undo.isVisible()
    own_desk.service.user_catalog.redo()
    assert row(view, GAP).state.text() == "passed"


def test_a_note_is_that_of_all_documents(view: DeferralView, own_desk: Desk, qtbot: QtBot) -> None:
    noted(view, REFERENCE, "yes", qtbot)
    own_desk.open(read_template("70b-chat-on-four"))
    assert row(view, REFERENCE).state.text() == "passed"
    assert own_desk.undo_stack.count() == 0, "it is no step of the document"
    with GpuDeskService.open() as again:
        assert again.user_catalog.watched == own_desk.service.user_catalog.watched


def test_a_note_is_changed_and_removed(view: DeferralView, own_desk: Desk, qtbot: QtBot) -> None:
    noted(view, GAP, "9", qtbot)
    opened = form(view, GAP)
    assert opened.lines["value"].text() == "9"
    assert opened.lines["source"].text() == "Our own test"
    opened.lines["note"].setText("read twice")
    save(filled(opened, "-3.5"))
    (note,) = own_desk.service.user_catalog.watched
    assert note == WatchNote(GAP, -3.5, "2026-10", "Our own test", "read twice")
    QTest.mouseClick(form(view, GAP).remove, Qt.MouseButton.LeftButton)
    assert not own_desk.service.user_catalog.watched
    assert row(view, GAP).form is None
    assert row(view, GAP).edit.hasFocus()


@pytest.mark.parametrize("value", ["0", "-2", "12", "12%"])
def test_any_number_can_be_noted(view: DeferralView, own_desk: Desk, qtbot: QtBot, value: str) -> None:
    noted(view, GAP, value, qtbot)
    assert own_desk.service.user_catalog.watched[0].value == float(value.removesuffix("%"))


@pytest.mark.parametrize(
    ("signal", "value", "date", "source", "where", "said"),
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
def test_what_cannot_be_noted_is_said_at_its_field(
    view: DeferralView, own_desk: Desk, signal: str, value: str, date: str, source: str, where: str, said: str
) -> None:
    opened = filled(form(view, signal), value, date, source)
    save(opened)
    assert said in opened.fault.text()
    assert opened.fault.isVisible()
    assert not own_desk.service.user_catalog.watched
    marked = [name for name, line in opened.lines.items() if line.property("fault") == "true"]
    assert marked == ([where] if where else ["value"])
    if where:
        assert opened.lines[where].hasFocus()
    QTest.keyClicks(opened.lines["source"], "y")
    assert not opened.fault.isVisible()


def test_a_form_is_left_and_saved_with_keys(view: DeferralView, own_desk: Desk) -> None:
    opened = filled(form(view, GAP), "9")
    assert opened.lines["value"].hasFocus()
    QTest.keyClick(opened.lines["value"], Qt.Key.Key_Escape)
    assert row(view, GAP).form is None
    assert row(view, GAP).edit.isVisible()
    assert not own_desk.service.user_catalog.watched
    QTest.keyClick(filled(form(view, GAP), "9").lines["source"], Qt.Key.Key_Return)
    assert own_desk.service.user_catalog.watched[0].value == 9.0


def test_one_form_is_open_at_a_time_and_stays_when_figures_change(
    view: DeferralView, own_desk: Desk, qtbot: QtBot
) -> None:
    form(view, GAP)
    opened = filled(form(view, REFERENCE), "yes")
    assert row(view, GAP).form is None
    own_desk.edit("Long", workload=replace(own_desk.scenario.workload, output_tokens=2000))
    own_desk.flush()
    qtbot.waitUntil(lambda: not view.job.running)
    assert row(view, REFERENCE).form is opened
    assert opened.lines["source"].text() == "Our own test"


def test_what_another_program_changed_meanwhile_keeps_what_was_typed(
    view: DeferralView, own_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_step: object) -> None:
        raise InputError(
            message(
                "own.changed_elsewhere",
                "was changed by another program, so nothing was written; check the current values, then try again",
            ),
            "facts",
        )

    monkeypatch.setattr(own_desk.service.user_catalog, "do", refused)
    opened = filled(form(view, GAP), "9")
    save(opened)
    assert opened.fault.text().startswith("Not saved: ")
    assert opened.lines["value"].text() == "9"


def test_the_row_keeps_the_focus_when_the_list_changes(view: DeferralView, own_desk: Desk) -> None:
    row(view, REPORTS).edit.setFocus()
    gap = next(each for each in own_desk.service.reference_data.signals if each.id == GAP)
    own = own_desk.service.user_catalog
    own.do(note_signal(own.watched, gap, 9.0, date="2026-10", source="A test"))
    assert row(view, REPORTS).edit.hasFocus()


def test_a_step_that_another_program_stands_in_the_way_of_is_told(
    view: DeferralView, own_desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted(view, GAP, "9", qtbot)

    def refused() -> None:
        raise InputError(
            message(
                "own.changed_elsewhere",
                "was changed by another program, so nothing was written; check the current values, then try again",
            ),
            "facts",
        )

    monkeypatch.setattr(own_desk.service.user_catalog, "undo", refused)
    QTest.mouseClick(view.watch.undo, Qt.MouseButton.LeftButton)
    assert view.watch.problem.isVisible()
    assert view.watch.problem.text().startswith("No change: ")


def test_facts_are_not_undone_from_the_list(view: DeferralView, own_desk: Desk, qtbot: QtBot) -> None:
    noted(view, GAP, "9", qtbot)
    bench = own_desk.service
    source = entry.make_user_source("A quote")
    bench.user_catalog.do(edits.state_value(bench.catalog, "mi325x", "tdp", 900, "W", source, today="2026-11-23"))
    assert not view.watch.undo.isVisible()


def test_the_list_is_read_only_where_the_file_is(
    view: DeferralView, own_desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(own_desk.service.user_catalog), "writable", property(lambda _own: False))
    view.show_watch_list()
    assert not row(view, GAP).edit.isEnabled()
    assert row(view, GAP).edit.toolTip() == "The file with your values is read-only"
