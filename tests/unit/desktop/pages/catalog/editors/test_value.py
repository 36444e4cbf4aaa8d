"""The forms of one figure: a value of the user's, and the choice of a claim."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.catalog.user_store.edits import revert_attribute
from gpudesk.catalog.user_store.user_catalog import UserCatalog
from gpudesk.desktop.pages.catalog.editors.fields import YesNoRow
from gpudesk.desktop.pages.catalog.editors.preference_editor import PreferenceEditor
from gpudesk.desktop.pages.catalog.editors.value_editor import ValueEditor
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.claim import AttributeClaims, SourceKind
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import GERMAN_NUMBERS, Formatter
from gpudesk.text.messages import InputError, message
from tests.unit.desktop.pages.catalog.editors.keys import Show, focused, key, tab, typed

PART, NAME = "mi325x", "memory_bandwidth"


def bandwidth(desk: Desk) -> AttributeClaims:
    return desk.service.catalog.attribute(PART, NAME)


def state(desk: Desk, theme: Theme, show: Show, value: str = "5.3", title: str = "Own run") -> ValueEditor:
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    dialog.value_row.focus_control()
    dialog.value_row.control().selectAll()  # type: ignore[attr-defined]
    typed(value)
    dialog.source.title.focus_control()
    dialog.source.title.edit.selectAll()
    typed(title)
    key(Qt.Key.Key_Return)
    return dialog


# A value of the user's


def test_value_is_stated_by_keyboard_and_holds_at_once(desk: Desk, theme: Theme, show: Show) -> None:
    before = desk.service.answer(desk.scenario)
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    typed("5.3")
    tab(2)
    typed("both directions")
    tab()
    typed("measured by us")
    tab(2)
    typed("Own run")
    tab()
    typed("Lab")
    tab(2)
    typed("2026-11")
    key(Qt.Key.Key_Return)
    assert dialog.saved
    assert not dialog.isVisible()
    found = bandwidth(desk)
    assert found.value == 5_300_000_000_000
    claim = found.preferred
    assert claim is not None
    assert claim.own
    assert (claim.source.title, claim.source.publisher, claim.source.date) == ("Own run", "Lab", "2026-11")
    assert (claim.published, claim.conditions, claim.kind) == ("5.3 TB/s", "both directions", SourceKind.USER)
    assert found.reason == "measured by us"
    assert found.shipped is not None
    assert found.shipped.value == 6_000_000_000_000
    assert desk.service.answer(desk.scenario) != before, "what depends on it changes"


def test_unit_beside_the_number_counts(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    typed("5300")
    tab()
    key(Qt.Key.Key_Down)
    assert dialog.value_row.echo == "−12% vs. shipped value"
    dialog.source.title.focus_control()
    typed("Own run")
    key(Qt.Key.Key_Return)
    assert bandwidth(desk).value == 5_300_000_000_000


@pytest.mark.parametrize(("value", "inside"), [("5300 GB/s", 5.3e12), ("5.3TB/s", 5.3e12), ("5,300 gb/s", 5.3e12)])
def test_unit_may_be_typed_after_the_number(desk: Desk, theme: Theme, show: Show, value: str, inside: float) -> None:
    state(desk, theme, show, value)
    assert bandwidth(desk).value == inside


def test_number_is_read_as_the_language_writes_it(bench: GpuDeskService, theme: Theme, show: Show) -> None:
    desk = Desk(bench, Formatter(GERMAN_NUMBERS))
    state(desk, theme, show, "5,3")
    assert bandwidth(desk).value == 5_300_000_000_000


def test_wrong_number_is_told_at_the_field_once_the_typing_rests(
    desk: Desk, theme: Theme, show: Show, qtbot: QtBot
) -> None:
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    typed("fast")
    row = dialog.value_row
    assert not row.fault
    qtbot.waitUntil(lambda: "number" in row.fault)
    assert row.control().accessibleDescription() == row.fault
    row.control().selectAll()  # type: ignore[attr-defined]
    typed("6")
    assert not row.fault, "what is mended is not held against one"


def test_source_is_required_and_is_where_saving_leads(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    typed("5.3")
    key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.source.title.fault == "Title is missing"
    assert focused() is dialog.source.title.edit
    assert not bandwidth(desk).overridden


@pytest.mark.parametrize(
    ("row", "text"), [("url", "example.com"), ("date", "2026-13"), ("date", "last year"), ("title", "a\x07b")]
)
def test_source_that_cannot_be_kept_is_told_at_its_field(
    desk: Desk, theme: Theme, show: Show, row: str, text: str
) -> None:
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    typed("5.3")
    dialog.source.title.show_value("Own run")
    getattr(dialog.source, row).show_value(text)
    key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert [each.name for each in dialog.rows if each.fault] == [row]
    assert not bandwidth(desk).overridden


def test_last_source_of_the_session_stands_there_again(desk: Desk, theme: Theme, show: Show) -> None:
    state(desk, theme, show, title="Quote by mail")
    following = ValueEditor(desk, theme, "mi355x", "price_low")
    show(following)
    assert following.source.title.text() == "Quote by mail"
    typed("30000")
    key(Qt.Key.Key_Return)
    found = desk.service.catalog.attribute("mi355x", "price_low")
    assert found.value == 30_000
    assert found.preferred is not None
    assert found.preferred.source == bandwidth(desk).preferred.source  # type: ignore[union-attr]


def test_former_source_is_offered_while_its_title_is_typed(desk: Desk, theme: Theme, show: Show) -> None:
    state(desk, theme, show, title="Quote by mail")
    dialog = ValueEditor(desk, theme, PART, "tdp")
    show(dialog)
    row = dialog.source.title
    row.focus_control()
    row.edit.selectAll()
    typed("quo")
    completer = row.edit.completer()
    assert completer.completionCount() == 1
    dialog.source.publisher.show_value("somebody else")
    popup = completer.popup()
    assert popup is not None
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert dialog.source.publisher.text() is None, "the rest of it is filled in"


def test_own_value_is_changed_and_does_not_pile_up(desk: Desk, theme: Theme, show: Show) -> None:
    state(desk, theme, show)
    again = ValueEditor(desk, theme, PART, NAME)
    assert again.value_row.control().text() == "5.3"  # type: ignore[attr-defined]
    assert again.source.title.text() == "Own run"
    again.deleteLater()
    state(desk, theme, show, "5.5", "Second run")
    own = [claim for claim in bandwidth(desk).claims if claim.own]
    assert [claim.source.title for claim in own] == ["Second run"]
    assert bandwidth(desk).value == 5_500_000_000_000
    assert len(desk.service.user_catalog.facts) == 3, "a source, a claim, a choice"


def test_it_is_reverted_from_the_form_and_can_be_undone(desk: Desk, theme: Theme, show: Show) -> None:
    state(desk, theme, show)
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    assert dialog.revert_button.text() == "Reset to shipped value"
    dialog.revert_button.setFocus()
    key(Qt.Key.Key_Space)
    assert not bandwidth(desk).overridden
    assert bandwidth(desk).value == 6_000_000_000_000
    desk.service.user_catalog.undo()
    assert bandwidth(desk).value == 5_300_000_000_000


def test_words_yes_or_no_and_lists_are_stated_too(desk: Desk, theme: Theme, show: Show) -> None:
    def stated(thing: str, name: str, enter: Callable[[ValueEditor], None]) -> object:
        dialog = ValueEditor(desk, theme, thing, name)
        show(dialog)
        enter(dialog)
        dialog.source.title.show_value("Own run")
        dialog.accept()
        assert dialog.saved, [row.fault for row in dialog.rows] + [dialog.note.text]
        return desk.service.catalog.attribute(thing, name).value

    def choose_no(dialog: ValueEditor) -> None:
        assert isinstance(dialog.value_row, YesNoRow)
        dialog.value_row.show_yes(not was)

    model = desk.service.catalog.models()[0].id
    was = desk.service.catalog.attribute(model, "tied_embeddings").value
    assert stated(PART, "memory_type", lambda _: typed("HBM4")) == "HBM4"
    assert stated(PART, "supported_precisions", lambda _: typed("fp8, bf16, fp8")) == ("fp8", "bf16")
    assert stated(model, "tied_embeddings", choose_no) is (not was)


def test_claims_stand_beside_it(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    said = [line.node.sentence for line in dialog.claims.view.lines.lines]
    assert said[0].startswith("6.0 TB/s, used")
    assert sum("rejected" in line for line in said) >= 3


# A purchase price, which has two ends


def ends(desk: Desk) -> tuple[object, object]:
    catalog = desk.service.catalog
    return (catalog.attribute(PART, "price_low").value, catalog.attribute(PART, "price_high").value)


@pytest.mark.parametrize(("high", "wanted"), [("", (30_000, 30_000)), ("35000", (30_000, 35_000))])
def test_purchase_price_above_the_shipped_range_is_stated_as_one_step(
    desk: Desk, theme: Theme, show: Show, high: str, wanted: tuple[int, int]
) -> None:
    assert ends(desk) == (20_000, 25_000)
    dialog = ValueEditor(desk, theme, PART, "price_high")
    show(dialog)
    typed("30000")
    tab()
    typed(high)
    dialog.source.title.show_value("Quote by mail")
    key(Qt.Key.Key_Return)
    assert dialog.saved, [row.fault for row in dialog.rows]
    assert ends(desk) == wanted
    desk.service.user_catalog.undo()
    assert ends(desk) == (20_000, 25_000)
    desk.service.user_catalog.redo()
    again = ValueEditor(desk, theme, PART, "price_low")
    show(again)
    assert again.high_row is not None
    assert again.high_row.parse_number_or_none() == (35_000 if high else None)
    again.revert_button.click()
    assert ends(desk) == (20_000, 25_000)


def test_upper_end_below_the_lower_is_told_there(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = ValueEditor(desk, theme, PART, "price_low")
    show(dialog)
    typed("30000")
    tab()
    typed("20000")
    dialog.source.title.show_value("Quote by mail")
    key(Qt.Key.Key_Return)
    assert dialog.high_row is not None
    assert "swap the two" in dialog.high_row.fault


def test_both_ends_of_a_claim_are_taken(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PreferenceEditor(desk, theme, PART, "price_low", claim="seed-002")
    show(dialog)
    dialog.reason.focus_control()
    typed("a real quote")
    key(Qt.Key.Key_Return)
    assert dialog.saved
    assert ends(desk) == (22_000, 22_000)
    back = PreferenceEditor(desk, theme, PART, "price_low")
    show(back)
    back.shipped_button.click()
    assert ends(desk) == (20_000, 25_000)


# What cannot be saved


def test_full_disk_keeps_all_that_was_entered(
    desk: Desk, theme: Theme, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(own: UserCatalog, edit: object) -> None:
        raise InputError(
            message(
                "own.file.full",
                "cannot be written because the disk is full; your values are unchanged: free some space, then try "
                "again",
            ),
            str(own.path),
        )

    monkeypatch.setattr(UserCatalog, "write", full)
    dialog = state(desk, theme, show)
    assert dialog.isVisible()
    assert dialog.note.isVisible()
    assert "the disk is full" in dialog.note.text
    assert "Your entries are kept" in dialog.note.text
    assert dialog.value_row.control().text() == "5.3"  # type: ignore[attr-defined]
    assert not bandwidth(desk).overridden
    monkeypatch.undo()
    key(Qt.Key.Key_Return)
    assert not dialog.isVisible(), "saved once there is room again"
    assert bandwidth(desk).value == 5_300_000_000_000


def test_file_that_cannot_be_used_is_told_before_anything_is_typed(
    own_file: Path, theme: Theme, show: Show, qtbot: QtBot
) -> None:
    path = own_file
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no catalog at all" * 100)
    with GpuDeskService.open() as bench:
        desk = Desk(bench, Formatter())
        dialog = ValueEditor(desk, theme, PART, NAME)
        show(dialog)
        assert dialog.note.text.startswith("Saving is not possible: ")
        typed("5.3")
        dialog.source.title.show_value("Own run")
        key(Qt.Key.Key_Return)
        assert dialog.isVisible()
        assert path.read_bytes().startswith(b"no catalog")


def test_locked_file_keeps_all_that_was_entered(desk: Desk, theme: Theme, show: Show, own_file: Path) -> None:
    state(desk, theme, show)
    with closing(sqlite3.connect(own_file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        dialog = state(desk, theme, show, "5.5", "Second run")
        assert dialog.isVisible()
        assert "in use by another program" in dialog.note.text
        assert dialog.source.title.text() == "Second run"
        other.execute("ROLLBACK")
    dialog.accept()
    assert bandwidth(desk).value == 5_500_000_000_000


def test_what_another_program_wrote_meanwhile_is_not_overwritten(desk: Desk, theme: Theme, show: Show) -> None:
    state(desk, theme, show)
    with GpuDeskService.open() as other:
        catalog = other.catalog
        other.user_catalog.do(revert_attribute(catalog, PART, NAME))
    dialog = state(desk, theme, show, "5.5", "Second run")
    assert dialog.isVisible()
    assert "another program" in dialog.note.text
    dialog.accept()
    assert bandwidth(desk).value == 5_500_000_000_000, "saved on top of what holds now"


def test_file_that_is_read_only_is_told_before_anything_is_typed(
    desk: Desk, theme: Theme, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UserCatalog, "writable", property(lambda _: False))
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    assert dialog.note.isVisible()
    assert dialog.note.text == "Saving is not possible: the file with your values is read-only."


def test_value_that_is_there_already_says_so(desk: Desk, theme: Theme, show: Show) -> None:
    state(desk, theme, show)
    dialog = state(desk, theme, show)
    assert dialog.isVisible()
    assert "current catalog value" in dialog.value_row.fault


# Leaving


def test_escape_leaves_at_once_where_nothing_was_entered(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    asked = answer_box("Discard changes")
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    key(Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert not asked


def test_escape_asks_where_something_was(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    asked = answer_box("Keep editing")
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    typed("5.3")
    key(Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert asked == ["Discard changes? Your entries are not saved yet."]
    answer_box("Discard changes")
    key(Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert not bandwidth(desk).overridden


# The choice of a claim


def test_claim_is_chosen_by_keyboard_with_a_reason(desk: Desk, theme: Theme, show: Show, qtbot: QtBot) -> None:
    dialog = PreferenceEditor(desk, theme, PART, NAME)
    show(dialog)
    assert dialog.options[0].hasFocus()
    key(Qt.Key.Key_Down)
    key(Qt.Key.Key_Down)
    assert dialog.chosen is not None
    assert dialog.chosen.source.id == "seed-002"
    qtbot.waitUntil(lambda: "MI325X" in dialog.impact.detail.text(), timeout=5000)
    dialog.reason.focus_control()
    typed("the figure of our own runs")
    key(Qt.Key.Key_Return)
    found = bandwidth(desk)
    assert found.value == 5_300_000_000_000
    assert found.preference is not None
    assert found.preference.reason == "the figure of our own runs"


def test_reason_is_required(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PreferenceEditor(desk, theme, PART, NAME, claim="seed-002")
    show(dialog)
    key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.reason.fault == "Reason is missing"
    assert focused() is dialog.reason.edit


def test_options_say_who_printed_what(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PreferenceEditor(desk, theme, PART, NAME)
    show(dialog)
    names = [option.accessibleName() for option in dialog.options]
    assert names[0].startswith("6.0 TB/s, used, AMD, GEAK hardware data")
    seed = next(name for name in names if "AMD stack scorecard" in name)
    assert "rejected" in seed
    assert "published as 5300 GB/s" in seed
    assert "Value of MI300X" in seed
    assert "“5.3 TB/s”" in seed


def test_shipped_choice_is_taken_back(desk: Desk, theme: Theme, show: Show) -> None:
    state(desk, theme, show)
    dialog = PreferenceEditor(desk, theme, PART, NAME)
    show(dialog)
    assert dialog.options[0].choice.stance == "chosen by you"
    assert dialog.shipped_button.text() == "Use shipped value"
    dialog.shipped_button.setFocus()
    key(Qt.Key.Key_Space)
    assert bandwidth(desk).value == 6_000_000_000_000
    assert any(claim.own for claim in bandwidth(desk).rivals), "the own value stays beside it"


def test_what_it_does_to_the_scenario_is_told_while_one_types(
    desk: Desk, theme: Theme, show: Show, qtbot: QtBot
) -> None:
    dialog = ValueEditor(desk, theme, PART, NAME)
    show(dialog)
    typed("3")
    qtbot.waitUntil(lambda: "MI325X" in dialog.impact.words.text() + dialog.impact.detail.text(), timeout=5000)
    other = ValueEditor(desk, theme, "l4", "tdp")
    show(other)
    typed("73")
    qtbot.waitUntil(lambda: other.impact.words.text() == "Result unchanged", timeout=5000)
