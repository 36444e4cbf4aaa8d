"""The view Export and terms: scores next to rules, the warning, ticks with notes, saving the sheet."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.parts import NoteEdit
from gpudesk.desktop.pages.decide.purchasing.terms_view import (
    NotedCheckBox,
    TermsView,
    connect_saving,
    save_negotiation,
    write_negotiation,
)
from gpudesk.desktop.pages.decide.record_view import RecordView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_attribute, select_catalog_dispute, select_catalog_statement
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import UncertainValue
from tests.unit.desktop.pages.decide.views_of import shown


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> TermsView:
    return shown(TermsView(desk, theme), desk, qtbot)


def compare(desk: Desk, *parts: str) -> None:
    desk.edit("Other", accelerators=tuple(AcceleratorChoice(part, 1) for part in parts))
    desk.flush()


def type_words(edit: NoteEdit, words: str) -> None:
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, words)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def tick_of(view: TermsView, key: str) -> NotedCheckBox:
    ticks = [tick for block in view.steps.steps for tick in (block.title, *block.points)]
    return next(tick for tick in ticks if tick.key == key)


# The export check


def test_each_accelerator_has_a_row_with_its_product_and_its_standings(view: TermsView) -> None:
    rows = view.export.scores.texts()
    assert [row[0] for row in rows] == ["H200 SXM", "MI325X", "B200 SXM", "MI355X"]
    assert rows[1][1].startswith("2,614.9 × 8 = 20,919 (FP8, INT8)")
    assert rows[0][2].startswith("TPP 15,824: below 21,000")
    assert rows[2][2].splitlines()[-1] == "Not eligible: case-by-case review"
    assert rows[0][3] == "TPP 15,824: above 4,800\nControlled: 3A090.a by TPP"


def test_rules_stand_newest_first_with_their_days(view: TermsView) -> None:
    rows = view.export.rules.texts()
    assert rows[0][0].startswith("May 2026 guidance\npublished and effective 2026-05-31")
    assert rows[-1][0] == "October 2022 rule\npublished 2022-10-13\n87 FR 62186"
    assert "Not enforced since 2025-05-13" in rows[2][1]
    view.export.rules.setFocus(Qt.FocusReason.TabFocusReason)
    assert view.export.rules.currentIndex().row() == 0
    QTest.keyClick(view.export.rules, Qt.Key.Key_Down)
    assert view.export.read_in.title.text() == "Sources: January 2026 rule"
    assert any("govinfo.gov" in text for text in view.export.read_in.texts)


def test_the_warning_is_always_there(view: TermsView, desk: Desk) -> None:
    words = "Arithmetic, not legal advice: check the current rule and ask counsel"
    for parts in (("h200-sxm",), ("l4", "mi300x")):
        compare(desk, *parts)
        assert view.export.warning.label.text() == words
        assert view.export.warning.isVisible()
        assert view.export.notes.texts[0] == f"{words}.", "below the long table of rules too"
        assert words in view.copied()


def test_a_document_s_claim_is_refused_only_beside_its_part(view: TermsView, desk: Desk) -> None:
    assert not view.export.refused.isVisible()
    compare(desk, "mi300x", "h200-sxm")
    assert view.export.refused.isVisible()
    assert "1,307 × 16 = 20,912, and the threshold is 4,800" in view.export.refused.texts[0]


def test_what_cannot_be_told_is_said_to_be_so(view: TermsView, desk: Desk) -> None:
    compare(desk, "l4", "h200-sxm")
    row = view.export.scores.texts()[0]
    assert row[3] == "TPP 1,936: below 4,800\nUndecided: 3A090.a by density, 3A090.b by density"


def test_the_destination_is_kept_and_undone(view: TermsView, desk: Desk) -> None:
    type_words(view.export.destination, "China")
    desk.flush()
    assert desk.scenario.decision.plans["destination_name"] == "China"
    assert "The rule text on file names China." in view.export.rules.texts()[0][1]
    assert any("China" in note for note in view.export.notes.texts)
    desk.undo_stack.undo()
    desk.flush()
    assert "destination_name" not in desk.scenario.decision.plans
    assert view.export.destination.text() == ""
    type_words(view.export.destination, "Peru")
    type_words(view.export.destination, " ")
    assert "destination_name" not in desk.scenario.decision.plans, "nothing typed states none"


def test_a_score_leads_to_its_peak_in_the_panel(view: TermsView, desk: Desk) -> None:
    view.export.scores.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view.export.scores, Qt.Key.Key_Down)
    QTest.keyClick(view.export.scores, Qt.Key.Key_Return)
    assert desk.selection == select_attribute("mi325x", "peak_dense_fp8")


# The negotiation sheet


def test_steps_say_whether_they_apply_and_what_is_missing(view: TermsView, desk: Desk) -> None:
    first, second, *_ = view.steps.steps
    assert first.state.text() == "Undecided. High impact. 2 points open."
    assert "unknown > 200: unknown" in first.remarks.text()
    costs = desk.scenario.costs.with_input("fleet", UncertainValue.exactly(800.0))
    desk.edit("State the fleet", costs=costs)
    desk.flush()
    assert "Missing: whether you have a competing quote." in first.remarks.text()
    assert any("anecdotal (unnamed people)" in text for text in first.figures.texts)
    assert second.state.text().startswith("Applies.")
    view.steps.quote._buttons["yes"].click()
    desk.flush()
    assert desk.scenario.decision.plans["competing_quote"] == "yes"
    assert first.state.text().startswith("Applies.")
    view.steps.quote._buttons["no"].click()
    desk.flush()
    assert first.state.text().startswith("Does not apply.")
    assert "Otherwise: Use list prices" in first.remarks.text()
    view.steps.quote._buttons["unsaid"].click()
    assert "competing_quote" not in desk.scenario.decision.plans


def test_ticks_and_notes_are_kept_as_steps_that_can_be_undone(view: TermsView, desk: Desk) -> None:
    tick = tick_of(view, "P002-04.response")
    assert not tick.note.isVisible()
    tick.box.setFocus()
    QTest.keyClick(tick.box, Qt.Key.Key_Space)
    desk.flush()
    assert desk.scenario.decision.done == {"P002-04.response": ""}
    assert tick.note.isVisible()
    type_words(tick.note, "4 h, in the draft")
    desk.flush()
    assert desk.scenario.decision.done == {"P002-04.response": "4 h, in the draft"}
    texts = [desk.undo_stack.text(step) for step in range(desk.undo_stack.count())]
    assert texts == ["Complete purchase step", "Purchase note"]
    desk.undo_stack.undo()
    desk.flush()
    assert tick.note.text() == ""
    tick.box.click()
    desk.flush()
    assert desk.scenario.decision.done == {}
    assert not tick.box.isChecked()


def test_progress_counts_whole_steps(view: TermsView, desk: Desk) -> None:
    assert view.steps.progress.text() == "0 of 6 steps done"
    tick_of(view, "P002-06").box.click()
    desk.flush()
    assert view.steps.progress.text() == "1 of 6 steps done"
    assert "[x] A production-like test (P002-06)" in view.copied()


def test_a_note_of_a_document_on_several_lines_is_shown_on_one(view: TermsView, desk: Desk) -> None:
    settings = replace(desk.scenario.decision, done={"P002-06": "one\ntwo"})
    desk.edit("Note", decision=settings)
    desk.flush()
    note = tick_of(view, "P002-06").note
    assert note.text() == "one two"
    note.commit()
    assert desk.scenario.decision.done == {"P002-06": "one\ntwo"}, "nothing was typed"


def test_escape_brings_a_note_back_and_controls_are_left_out(view: TermsView, desk: Desk) -> None:
    tick = tick_of(view, "P002-06")
    tick.box.click()
    desk.flush()
    tick.note.setFocus()
    QTest.keyClicks(tick.note, "draft")
    QTest.keyClick(tick.note, Qt.Key.Key_Escape)
    assert tick.note.text() == ""
    assert desk.scenario.decision.done == {"P002-06": ""}
    tick.note.setText("a\u202eb\tc")
    tick.note.setModified(True)
    tick.note.commit()
    assert desk.scenario.decision.done == {"P002-06": "ab c"}


def test_evidence_of_a_step_is_shown_in_the_panel(view: TermsView, desk: Desk) -> None:
    block = view.steps.steps[0]
    block.evidence_wanted.emit("D-100", True)
    assert desk.selection == select_catalog_dispute("D-100")
    block.evidence_wanted.emit("C002-071", False)
    assert desk.selection == select_catalog_statement("C002-071")


def test_controls_have_names_and_the_keyboard_reaches_the_steps(view: TermsView) -> None:
    for tick in (tick for block in view.steps.steps for tick in (block.title, *block.points)):
        assert tick.box.accessibleName()
        assert tick.note.accessibleName().startswith("Note on: ")
    assert view.export.destination.accessibleName() == "Destination"
    assert view.export.scores.accessibleName()
    view.to_steps.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view.to_steps, Qt.Key.Key_Space)
    assert view.steps.steps[0].title.box.hasFocus()


def test_it_is_drawn_in_both_themes_and_with_large_letters(view: TermsView, theme: Theme) -> None:
    light = view.grab().toImage()
    theme.set_preference(DARK)
    assert view.grab().toImage() != light
    theme.set_font_percent(150)
    table = view.export.scores
    assert table.height() >= sum(table.rowHeight(row) for row in range(table.model().rowCount()))


# Saving


@pytest.mark.parametrize(("name", "begins"), [("sheet.md", "# Negotiation sheet"), ("sheet", "<!DOCTYPE html>")])
def test_the_sheet_is_saved_by_its_suffix(
    view: TermsView, settings: UserSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, begins: str
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / name), ""))
    connect_saving(view, settings)
    view.steps.save.click()
    written = next(tmp_path.glob("sheet*"))
    assert written.suffix == (Path(name).suffix or ".html")
    text = written.read_text(encoding="utf-8")
    assert text.startswith(begins)
    assert "Arithmetic, not legal advice" in text
    assert view.steps.status_label.text() == f"Saved: {written}"
    assert view.steps.status_label.isVisible()


def test_what_stands_in_the_way_of_saving_is_said(view: TermsView, settings: UserSettings, tmp_path: Path) -> None:
    write_negotiation(view, tmp_path / "sheet.docx", settings)
    assert ".docx is not a sheet format" in view.steps.status_label.text()
    write_negotiation(view, tmp_path / "nowhere" / "sheet.md", settings)
    assert "cannot be written" in view.steps.status_label.text()
    assert list(tmp_path.glob("sheet*")) == []


def test_nothing_is_asked_where_there_is_no_sheet(
    desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> tuple[str, str]:
        raise AssertionError("asked for a file")

    monkeypatch.setattr(QFileDialog, "getSaveFileName", refuse)
    other = RecordView(desk, theme)
    qtbot.addWidget(other)
    connect_saving(other, settings)
    save_negotiation(other, settings)
