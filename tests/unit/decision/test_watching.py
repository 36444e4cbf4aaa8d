"""The watch list: what holds of each signal, notes of the user as steps, undone, kept, and seen elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gpudesk import paths
from gpudesk.catalog.user_store import edits, entry
from gpudesk.catalog.user_store.user_catalog import UserCatalog
from gpudesk.decision.purchasing.procurement import forget_signal, note_signal
from gpudesk.decision.rules.data_files import read_signals
from gpudesk.domain.reference_data import SignalStatus, WatchNote, WatchSignal, WatchValue, make_watch_list
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_message

SIGNALS = {signal.id: signal for signal in read_signals(paths.get_data_path("rules/signals.toml"))}
GAP, REFERENCE = SIGNALS["W002-01"], SIGNALS["W002-03"]


@pytest.fixture
def bench() -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as bench:
        yield bench


def noted(
    user_catalog: UserCatalog, signal: WatchSignal = GAP, value: WatchValue = 9, date: str = "2026-10", **more: str
) -> None:
    source = more.pop("source", "Our own test")
    user_catalog.do(note_signal(user_catalog.watched, signal, value, date=date, source=source, **more))


def values(user_catalog: UserCatalog) -> list[tuple[str, WatchValue]]:
    return [(note.signal, note.value) for note in user_catalog.watched]


def state(user_catalog: UserCatalog, signal: WatchSignal = GAP) -> SignalStatus:
    return next(each for each in make_watch_list(SIGNALS.values(), user_catalog.watched) if each.signal is signal)


# What holds


def test_there_are_the_five_signals_of_the_document() -> None:
    assert list(SIGNALS) == [f"W002-0{number}" for number in range(1, 6)]
    assert [signal.threshold is None for signal in SIGNALS.values()] == [False, True, True, True, True]


def test_newest_value_on_record_is_used_without_a_user_value() -> None:
    by_id = {each.signal.id: each for each in make_watch_list(SIGNALS.values(), ())}
    gap = by_id["W002-01"]
    assert (gap.value, gap.date, gap.passed, gap.missing) == (23, "2024-01", False, 11)
    assert (by_id["W002-03"].value, by_id["W002-03"].passed) == (False, False)
    assert (by_id["W002-02"].value, by_id["W002-02"].passed) == (None, None), "nothing is on record"
    assert by_id["W002-05"].passed is None


@pytest.mark.parametrize(
    ("value", "passed", "missing"), [(12.1, False, 0.1), (12, False, 0), (11.9, True, 0), (-3, True, 0)]
)
def test_signal_passes_beyond_its_threshold_and_not_on_it(value: float, passed: bool, missing: float) -> None:
    (gap,) = make_watch_list([GAP], [WatchNote(GAP.id, value, "2026-10", "A test")])
    assert gap.passed is passed
    assert gap.missing == pytest.approx(missing)


def test_user_note_takes_precedence_and_the_record_is_kept() -> None:
    note = WatchNote(REFERENCE.id, True, "2023-01", "A page")
    (reference,) = make_watch_list([REFERENCE], [note])
    assert (reference.value, reference.date, reference.passed) == (True, "2023-01", True)
    assert reference.note == note
    assert reference.known is not None
    assert reference.known.statements == ("C002-067",)


@pytest.mark.parametrize(("signal", "value"), [(GAP, True), (REFERENCE, 3.0)])
def test_note_that_is_not_of_the_form_of_its_signal_has_no_effect(signal: WatchSignal, value: WatchValue) -> None:
    note = WatchNote(signal.id, value, "2026-10", "An older program")
    (line,) = make_watch_list([signal], [note])
    assert line.idle == note
    assert line.note is None
    assert line.value == signal.known[0].value


# Steps


def test_note_is_written_undone_and_done_again(bench: GpuDeskService) -> None:
    noted(bench.user_catalog, note="read twice")
    assert bench.user_catalog.watched == (WatchNote(GAP.id, 9, "2026-10", "Our own test", "read twice"),)
    assert state(bench.user_catalog).passed is True
    assert bench.user_catalog.undo_text is not None
    assert format_message(bench.user_catalog.undo_text) == f"Add note to watch list: {GAP.title}"
    bench.user_catalog.undo()
    assert values(bench.user_catalog) == []
    assert state(bench.user_catalog).passed is False
    bench.user_catalog.redo()
    assert state(bench.user_catalog).passed is True


def test_note_is_there_after_the_program_ended(bench: GpuDeskService) -> None:
    noted(bench.user_catalog)
    noted(bench.user_catalog, REFERENCE, True)
    bench.close()
    with GpuDeskService.open() as again:
        assert again.user_catalog.watched == bench.user_catalog.watched
        assert len(again.user_catalog.facts) == 0


def test_another_note_takes_the_place_of_the_former_and_gives_it_back(bench: GpuDeskService) -> None:
    noted(bench.user_catalog)
    noted(bench.user_catalog, REFERENCE, False)
    noted(bench.user_catalog, value=15.5, date="2026-11-20")
    assert values(bench.user_catalog) == [(GAP.id, 15.5), (REFERENCE.id, False)]
    bench.user_catalog.undo()
    assert values(bench.user_catalog) == [(GAP.id, 9), (REFERENCE.id, False)]


def test_note_can_be_removed_and_comes_back(bench: GpuDeskService) -> None:
    noted(bench.user_catalog)
    bench.user_catalog.do(forget_signal(bench.user_catalog.watched, GAP))
    assert state(bench.user_catalog).note is None
    bench.user_catalog.undo()
    assert state(bench.user_catalog).value == 9
    with pytest.raises(InputError) as refused:
        forget_signal(bench.user_catalog.watched, REFERENCE)
    assert refused.value.problem.id == "watch.no_note"


def test_notes_and_facts_are_undone_in_the_order_of_their_steps(bench: GpuDeskService) -> None:
    noted(bench.user_catalog)
    quote = entry.make_user_source("A quote")
    bench.user_catalog.do(edits.state_value(bench.catalog, "mi325x", "tdp", 900, "W", quote, today="2026-11-23"))
    noted(bench.user_catalog, REFERENCE, True)
    bench.user_catalog.undo()
    assert (len(bench.user_catalog.watched), bench.catalog.attribute("mi325x", "tdp").value) == (1, 900)
    bench.user_catalog.undo()
    assert not bench.catalog.attribute("mi325x", "tdp").overridden
    assert len(bench.user_catalog.watched) == 1
    bench.user_catalog.undo()
    assert values(bench.user_catalog) == []


def test_note_moves_neither_catalog_nor_estimates(bench: GpuDeskService) -> None:
    catalog, revision, estimator = bench.catalog, bench.catalog.revision, bench.estimator
    noted(bench.user_catalog)
    assert bench.catalog is catalog
    assert bench.catalog.revision == revision
    assert bench.estimator is estimator


def test_listeners_learn_of_a_note(bench: GpuDeskService) -> None:
    changes: list[frozenset[str]] = []
    bench.user_catalog.subscribe(changes.append)
    noted(bench.user_catalog)
    bench.user_catalog.undo()
    assert changes == [frozenset(), frozenset()]


def test_without_a_file_notes_last_as_long_as_the_program() -> None:
    user_catalog = UserCatalog(None, lambda _facts, _edit: None)
    noted(user_catalog)
    assert state(user_catalog).passed is True
    user_catalog.undo()
    assert user_catalog.watched == ()


def test_note_of_another_program_is_taken_up_and_protects_what_it_wrote(bench: GpuDeskService) -> None:
    noted(bench.user_catalog)
    with GpuDeskService.open() as other:
        noted(other.user_catalog, value=14)
        with pytest.raises(InputError) as refused:
            noted(bench.user_catalog, value=7)
    assert refused.value.problem.id == "own.changed_elsewhere"
    assert state(bench.user_catalog).value == 14, "what holds now is shown"
    noted(bench.user_catalog, value=7)
    assert state(bench.user_catalog).value == 7


def test_note_of_another_program_is_seen_when_looked_for(bench: GpuDeskService) -> None:
    noted(bench.user_catalog)
    with GpuDeskService.open() as other:
        noted(other.user_catalog, REFERENCE, True)
    assert bench.user_catalog.read_changes()
    assert len(bench.user_catalog.watched) == 2
    assert not bench.user_catalog.read_changes()


@pytest.mark.parametrize(
    ("signal", "value", "date", "source", "where", "problem"),
    [
        (GAP, True, "2026-10", "A test", "value", "field.type"),
        (GAP, "12", "2026-10", "A test", "value", "field.type"),
        (GAP, float("nan"), "2026-10", "A test", "value", "field.type"),
        (GAP, 1e12, "2026-10", "A test", "value", "field.range"),
        (REFERENCE, 1, "2026-10", "A test", "value", "field.type"),
        (GAP, 9, "", "A test", "date", "watch.no_date"),
        (GAP, 9, "soon", "A test", "date", "field.month"),
        (GAP, 9, "2026-02-30", "A test", "date", "field.month"),
        (GAP, 9, "2026-10", "  ", "source", "watch.no_source"),
        (GAP, 9, "2026-10", "a\0b", "source", "field.control"),
        (GAP, 9, "2026-10", "x" * 400, "source", "field.long"),
    ],
)
def test_note_that_cannot_be_is_refused_at_its_field(
    signal: WatchSignal, value: WatchValue, date: str, source: str, where: str, problem: str
) -> None:
    with pytest.raises(InputError) as refused:
        note_signal((), signal, value, date=date, source=source)
    assert (refused.value.where, refused.value.problem.id) == (where, problem)


def test_unchanged_note_is_no_undo_step(bench: GpuDeskService) -> None:
    noted(bench.user_catalog)
    with pytest.raises(InputError) as refused:
        noted(bench.user_catalog, source=" Our own test ")
    assert refused.value.problem.id == "own.same_value"


# The file of signals

BARE = """
source = "seed-002"
dated = "2024-02"
[[signals]]
id = "one"
title = "One"
look_for = "L"
if_passed = "P"
if_not = "N"
"""


@pytest.mark.parametrize(
    ("added", "problem"),
    [
        ('threshold = { value = 12, unit = "%", direction = "under" }', "field.word"),
        ('threshold = { value = 12, unit = "%" }', "field.missing"),
        ("threshold = 12", "field.type"),
        ('known = [{ value = 3, date = "2024-01", source = "s", about = "a" }]', "beside.form"),
        ('known = [{ value = "yes", date = "2024-01", source = "s", about = "a" }]', "field.type"),
        ('known = [{ value = true, source = "s", about = "a" }]', "field.missing"),
    ],
)
def test_broken_signal_is_reported_with_file_and_place(tmp_path: Path, added: str, problem: str) -> None:
    path = tmp_path / "signals.toml"
    path.write_text(f"{BARE}{added}\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_signals(path)
    assert refused.value.problem.id == problem
    assert str(path) in (refused.value.where or "")
