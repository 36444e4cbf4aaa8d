"""The editors of one figure: a value of the user, and the choice of a claim."""

import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk import paths
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
from tests.unit.desktop.pages.catalog.editors.keys import Show, get_focused_widget, press_key, press_tab, type_text

ACCELERATOR, ATTRIBUTE = "mi325x", "memory_bandwidth"


def get_claims(desk: Desk) -> AttributeClaims:
    return desk.service.catalog.attribute(ACCELERATOR, ATTRIBUTE)


def enter_bandwidth(desk: Desk, theme: Theme, show: Show, value: str = "5.3", title: str = "Own run") -> ValueEditor:
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    dialog.value_row.focus_control()
    dialog.value_row.control().selectAll()  # type: ignore[attr-defined]
    type_text(value)
    dialog.source.title.focus_control()
    dialog.source.title.edit.selectAll()
    type_text(title)
    press_key(Qt.Key.Key_Return)
    return dialog


# A value of the user's


def test_value_is_entered_by_keyboard_and_applies_at_once(desk: Desk, theme: Theme, show: Show) -> None:
    before = desk.service.answer(desk.scenario)
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    type_text("5.3")
    press_tab(2)
    type_text("both directions")
    press_tab()
    type_text("measured by us")
    press_tab(2)
    type_text("Own run")
    press_tab()
    type_text("Lab")
    press_tab(2)
    type_text("2026-11")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved
    assert not dialog.isVisible()
    claims = get_claims(desk)
    assert claims.value == 5_300_000_000_000
    claim = claims.preferred
    assert claim is not None
    assert claim.own
    assert (claim.source.title, claim.source.publisher, claim.source.date) == ("Own run", "Lab", "2026-11")
    assert (claim.published, claim.conditions, claim.kind) == ("5.3 TB/s", "both directions", SourceKind.USER)
    assert claims.reason == "measured by us"
    assert claims.shipped is not None
    assert claims.shipped.value == 6_000_000_000_000
    assert desk.service.answer(desk.scenario) != before, "the answer uses the new value"


def test_unit_field_applies_to_the_number(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    type_text("5300")
    press_tab()
    press_key(Qt.Key.Key_Down)
    assert dialog.value_row.echo == "−12% vs. shipped value"
    dialog.source.title.focus_control()
    type_text("Own run")
    press_key(Qt.Key.Key_Return)
    assert get_claims(desk).value == 5_300_000_000_000


@pytest.mark.parametrize(("value", "base_value"), [("5300 GB/s", 5.3e12), ("5.3TB/s", 5.3e12), ("5,300 gb/s", 5.3e12)])
def test_unit_may_be_typed_after_the_number(
    desk: Desk, theme: Theme, show: Show, value: str, base_value: float
) -> None:
    enter_bandwidth(desk, theme, show, value)
    assert get_claims(desk).value == base_value


def test_number_is_read_as_the_language_writes_it(user_service: GpuDeskService, theme: Theme, show: Show) -> None:
    desk = Desk(user_service, Formatter(GERMAN_NUMBERS))
    enter_bandwidth(desk, theme, show, "5,3")
    assert get_claims(desk).value == 5_300_000_000_000


def test_invalid_number_is_reported_after_a_pause_in_typing(desk: Desk, theme: Theme, show: Show, qtbot: QtBot) -> None:
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    type_text("fast")
    row = dialog.value_row
    assert not row.fault
    qtbot.waitUntil(lambda: "number" in row.fault)
    assert row.control().accessibleDescription() == row.fault
    row.control().selectAll()  # type: ignore[attr-defined]
    type_text("6")
    assert not row.fault, "the fault disappears with the next key"


def test_missing_source_is_reported_and_focused(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    type_text("5.3")
    press_key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.source.title.fault == "Title is missing"
    assert get_focused_widget() is dialog.source.title.edit
    assert not get_claims(desk).overridden


@pytest.mark.parametrize(
    ("row", "text"), [("url", "example.com"), ("date", "2026-13"), ("date", "last year"), ("title", "a\x07b")]
)
def test_invalid_source_is_reported_at_its_field(desk: Desk, theme: Theme, show: Show, row: str, text: str) -> None:
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    type_text("5.3")
    dialog.source.title.show_value("Own run")
    getattr(dialog.source, row).show_value(text)
    press_key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert [each.name for each in dialog.rows if each.fault] == [row]
    assert not get_claims(desk).overridden


def test_last_source_of_the_session_is_prefilled(desk: Desk, theme: Theme, show: Show) -> None:
    enter_bandwidth(desk, theme, show, title="Quote by mail")
    second = ValueEditor(desk, theme, "mi355x", "price_low")
    show(second)
    assert second.source.title.text() == "Quote by mail"
    type_text("30000")
    press_key(Qt.Key.Key_Return)
    claims = desk.service.catalog.attribute("mi355x", "price_low")
    assert claims.value == 30_000
    assert claims.preferred is not None
    assert claims.preferred.source == get_claims(desk).preferred.source  # type: ignore[union-attr]


def test_earlier_sources_are_completed_by_title(desk: Desk, theme: Theme, show: Show) -> None:
    enter_bandwidth(desk, theme, show, title="Quote by mail")
    dialog = ValueEditor(desk, theme, ACCELERATOR, "tdp")
    show(dialog)
    row = dialog.source.title
    row.focus_control()
    row.edit.selectAll()
    type_text("quo")
    completer = row.edit.completer()
    assert completer.completionCount() == 1
    dialog.source.publisher.show_value("another publisher")
    popup = completer.popup()
    assert popup is not None
    QTest.keyClick(popup, Qt.Key.Key_Down)
    QTest.keyClick(popup, Qt.Key.Key_Return)
    assert dialog.source.publisher.text() is None, "the other fields of the source are filled in"


def test_second_value_replaces_the_first(desk: Desk, theme: Theme, show: Show) -> None:
    enter_bandwidth(desk, theme, show)
    second = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    assert second.value_row.control().text() == "5.3"  # type: ignore[attr-defined]
    assert second.source.title.text() == "Own run"
    second.deleteLater()
    enter_bandwidth(desk, theme, show, "5.5", "Second run")
    user_claims = [claim for claim in get_claims(desk).claims if claim.own]
    assert [claim.source.title for claim in user_claims] == ["Second run"]
    assert get_claims(desk).value == 5_500_000_000_000
    assert len(desk.service.user_catalog.facts) == 3, "one source, one claim, one preference"


def test_value_is_reverted_in_the_form_and_undone(desk: Desk, theme: Theme, show: Show) -> None:
    enter_bandwidth(desk, theme, show)
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    assert dialog.revert_button.text() == "Reset to shipped value"
    dialog.revert_button.setFocus()
    press_key(Qt.Key.Key_Space)
    assert not get_claims(desk).overridden
    assert get_claims(desk).value == 6_000_000_000_000
    desk.service.user_catalog.undo()
    assert get_claims(desk).value == 5_300_000_000_000


def test_texts_booleans_and_lists_are_entered(desk: Desk, theme: Theme, show: Show) -> None:
    def enter_value(entry_id: str, name: str, fill: Callable[[ValueEditor], None]) -> object:
        dialog = ValueEditor(desk, theme, entry_id, name)
        show(dialog)
        fill(dialog)
        dialog.source.title.show_value("Own run")
        dialog.accept()
        assert dialog.saved, [row.fault for row in dialog.rows] + [dialog.note.text]
        return desk.service.catalog.attribute(entry_id, name).value

    def choose_no(dialog: ValueEditor) -> None:
        assert isinstance(dialog.value_row, YesNoRow)
        dialog.value_row.show_yes(not old_value)

    model = desk.service.catalog.models()[0].id
    old_value = desk.service.catalog.attribute(model, "tied_embeddings").value
    assert enter_value(ACCELERATOR, "memory_type", lambda _: type_text("HBM4")) == "HBM4"
    assert enter_value(ACCELERATOR, "supported_precisions", lambda _: type_text("fp8, bf16, fp8")) == ("fp8", "bf16")
    assert enter_value(model, "tied_embeddings", choose_no) is (not old_value)


def test_claims_are_listed_next_to_the_form(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    sentences = [line.node.sentence for line in dialog.claims.view.lines.lines]
    assert sentences[0].startswith("6.0 TB/s, used")
    assert sum("rejected" in line for line in sentences) >= 3


# A purchase price with two ends


def get_price_range(desk: Desk) -> tuple[object, object]:
    catalog = desk.service.catalog
    return (catalog.attribute(ACCELERATOR, "price_low").value, catalog.attribute(ACCELERATOR, "price_high").value)


@pytest.mark.parametrize(("high", "expected"), [("", (30_000, 30_000)), ("35000", (30_000, 35_000))])
def test_price_above_the_builtin_range_is_one_step(
    desk: Desk, theme: Theme, show: Show, high: str, expected: tuple[int, int]
) -> None:
    assert get_price_range(desk) == (20_000, 25_000)
    dialog = ValueEditor(desk, theme, ACCELERATOR, "price_high")
    show(dialog)
    type_text("30000")
    press_tab()
    type_text(high)
    dialog.source.title.show_value("Quote by mail")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved, [row.fault for row in dialog.rows]
    assert get_price_range(desk) == expected
    desk.service.user_catalog.undo()
    assert get_price_range(desk) == (20_000, 25_000)
    desk.service.user_catalog.redo()
    second = ValueEditor(desk, theme, ACCELERATOR, "price_low")
    show(second)
    assert second.high_row is not None
    assert second.high_row.parse_number_or_none() == (35_000 if high else None)
    second.revert_button.click()
    assert get_price_range(desk) == (20_000, 25_000)


def test_upper_end_below_the_lower_is_reported(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = ValueEditor(desk, theme, ACCELERATOR, "price_low")
    show(dialog)
    type_text("30000")
    press_tab()
    type_text("20000")
    dialog.source.title.show_value("Quote by mail")
    press_key(Qt.Key.Key_Return)
    assert dialog.high_row is not None
    assert "swap the two" in dialog.high_row.fault


def test_claim_sets_both_ends_of_a_price(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PreferenceEditor(desk, theme, ACCELERATOR, "price_low", claim="seed-002")
    show(dialog)
    dialog.reason.focus_control()
    type_text("a real quote")
    press_key(Qt.Key.Key_Return)
    assert dialog.saved
    assert get_price_range(desk) == (22_000, 22_000)
    second = PreferenceEditor(desk, theme, ACCELERATOR, "price_low")
    show(second)
    second.shipped_button.click()
    assert get_price_range(desk) == (20_000, 25_000)


# What cannot be saved


def test_full_disk_keeps_the_input(desk: Desk, theme: Theme, show: Show, monkeypatch: pytest.MonkeyPatch) -> None:
    def raise_disk_full(user_catalog: UserCatalog, edit: object) -> None:
        raise InputError(
            message(
                "own.file.full",
                "cannot be written because the disk is full; your values are unchanged: free some space, then try "
                "again",
            ),
            str(user_catalog.path),
        )

    monkeypatch.setattr(UserCatalog, "write", raise_disk_full)
    dialog = enter_bandwidth(desk, theme, show)
    assert dialog.isVisible()
    assert dialog.note.isVisible()
    assert "the disk is full" in dialog.note.text
    assert "Your entries are kept" in dialog.note.text
    assert dialog.value_row.control().text() == "5.3"  # type: ignore[attr-defined]
    assert not get_claims(desk).overridden
    monkeypatch.undo()
    press_key(Qt.Key.Key_Return)
    assert not dialog.isVisible(), "saved once there is room again"
    assert get_claims(desk).value == 5_300_000_000_000


def test_broken_file_is_reported_on_opening(theme: Theme, show: Show, qtbot: QtBot) -> None:
    user_path = paths.get_user_catalog_path()
    user_path.parent.mkdir(parents=True)
    user_path.write_bytes(b"no catalog at all" * 100)
    with GpuDeskService.open() as service:
        desk = Desk(service, Formatter())
        dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
        show(dialog)
        assert dialog.note.text.startswith("Saving is not possible: ")
        type_text("5.3")
        dialog.source.title.show_value("Own run")
        press_key(Qt.Key.Key_Return)
        assert dialog.isVisible()
        assert user_path.read_bytes().startswith(b"no catalog")


def test_locked_file_keeps_the_input(desk: Desk, theme: Theme, show: Show) -> None:
    enter_bandwidth(desk, theme, show)
    with closing(sqlite3.connect(paths.get_user_catalog_path(), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        dialog = enter_bandwidth(desk, theme, show, "5.5", "Second run")
        assert dialog.isVisible()
        assert "in use by another program" in dialog.note.text
        assert dialog.source.title.text() == "Second run"
        other.execute("ROLLBACK")
    dialog.accept()
    assert get_claims(desk).value == 5_500_000_000_000


def test_concurrent_edit_is_reported_before_saving(desk: Desk, theme: Theme, show: Show) -> None:
    enter_bandwidth(desk, theme, show)
    with GpuDeskService.open() as other:
        catalog = other.catalog
        other.user_catalog.do(revert_attribute(catalog, ACCELERATOR, ATTRIBUTE))
    dialog = enter_bandwidth(desk, theme, show, "5.5", "Second run")
    assert dialog.isVisible()
    assert "another program" in dialog.note.text
    dialog.accept()
    assert get_claims(desk).value == 5_500_000_000_000, "saved on top of the current values"


def test_read_only_file_is_reported_on_opening(
    desk: Desk, theme: Theme, show: Show, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(UserCatalog, "writable", property(lambda _: False))
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    assert dialog.note.isVisible()
    assert dialog.note.text == "Saving is not possible: the file with your values is read-only."


def test_unchanged_value_is_reported(desk: Desk, theme: Theme, show: Show) -> None:
    enter_bandwidth(desk, theme, show)
    dialog = enter_bandwidth(desk, theme, show)
    assert dialog.isVisible()
    assert "current catalog value" in dialog.value_row.fault


# Leaving


def test_escape_closes_an_unedited_form(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    questions = answer_box("Discard changes")
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    press_key(Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert not questions


def test_escape_asks_before_discarding_edits(
    desk: Desk, theme: Theme, show: Show, answer_box: Callable[[str], list[str]]
) -> None:
    questions = answer_box("Keep editing")
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    type_text("5.3")
    press_key(Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert questions == ["Discard changes? Your entries are not saved yet."]
    answer_box("Discard changes")
    press_key(Qt.Key.Key_Escape)
    assert not dialog.isVisible()
    assert not get_claims(desk).overridden


# The choice of a claim


def test_claim_is_chosen_by_keyboard(desk: Desk, theme: Theme, show: Show, qtbot: QtBot) -> None:
    dialog = PreferenceEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    assert dialog.options[0].hasFocus()
    press_key(Qt.Key.Key_Down)
    press_key(Qt.Key.Key_Down)
    assert dialog.chosen is not None
    assert dialog.chosen.source.id == "seed-002"
    qtbot.waitUntil(lambda: "MI325X" in dialog.impact.detail.text(), timeout=5000)
    dialog.reason.focus_control()
    type_text("the figure of our own runs")
    press_key(Qt.Key.Key_Return)
    claims = get_claims(desk)
    assert claims.value == 5_300_000_000_000
    assert claims.preference is not None
    assert claims.preference.reason == "the figure of our own runs"


def test_reason_is_required(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PreferenceEditor(desk, theme, ACCELERATOR, ATTRIBUTE, claim="seed-002")
    show(dialog)
    press_key(Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert dialog.reason.fault == "Reason is missing"
    assert get_focused_widget() is dialog.reason.edit


def test_options_name_publisher_and_value(desk: Desk, theme: Theme, show: Show) -> None:
    dialog = PreferenceEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    names = [option.accessibleName() for option in dialog.options]
    assert names[0].startswith("6.0 TB/s, used, AMD, GEAK hardware data")
    seed = next(name for name in names if "AMD stack scorecard" in name)
    assert "rejected" in seed
    assert "published as 5300 GB/s" in seed
    assert "Value of MI300X" in seed
    assert "“5.3 TB/s”" in seed


def test_choice_is_reset_to_the_builtin_value(desk: Desk, theme: Theme, show: Show) -> None:
    enter_bandwidth(desk, theme, show)
    dialog = PreferenceEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    assert dialog.options[0].choice.stance == "chosen by you"
    assert dialog.shipped_button.text() == "Use shipped value"
    dialog.shipped_button.setFocus()
    press_key(Qt.Key.Key_Space)
    assert get_claims(desk).value == 6_000_000_000_000
    assert any(claim.own for claim in get_claims(desk).rivals), "the user's value remains as an alternative"


def test_impact_is_shown_while_typing(desk: Desk, theme: Theme, show: Show, qtbot: QtBot) -> None:
    dialog = ValueEditor(desk, theme, ACCELERATOR, ATTRIBUTE)
    show(dialog)
    type_text("3")
    qtbot.waitUntil(lambda: "MI325X" in dialog.impact.words.text() + dialog.impact.detail.text(), timeout=5000)
    other = ValueEditor(desk, theme, "l4", "tdp")
    show(other)
    type_text("73")
    qtbot.waitUntil(lambda: other.impact.words.text() == "Result unchanged", timeout=5000)
