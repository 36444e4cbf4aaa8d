"""The view Export and terms: scores, rules, the warning, steps with notes, saving the sheet."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.parts import NoteEdit
from gpudesk.desktop.pages.decide.purchasing.terms_view import NotedCheckBox, TermsView
from gpudesk.desktop.pages.decide.record_view import RecordView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_attribute, select_catalog_dispute, select_catalog_statement
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.cost import UncertainValue
from tests.unit.desktop.pages.decide.view_helpers import show_view


@pytest.fixture
def view(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> TermsView:
    return show_view(TermsView(desk, theme, settings), desk, qtbot)


def compare_accelerators(desk: Desk, *accelerators: str) -> None:
    desk.edit("Other", accelerators=tuple(AcceleratorChoice(accelerator, 1) for accelerator in accelerators))
    desk.flush()


def type_text(edit: NoteEdit, words: str) -> None:
    edit.setFocus()
    edit.selectAll()
    QTest.keyClick(edit, Qt.Key.Key_Delete)
    QTest.keyClicks(edit, words)
    QTest.keyClick(edit, Qt.Key.Key_Return)


def get_check_box(view: TermsView, key: str) -> NotedCheckBox:
    ticks = [tick for block in view.steps.steps for tick in (block.title, *block.points)]
    return next(tick for tick in ticks if tick.key == key)


# The export check


def test_scores_have_a_row_per_accelerator(view: TermsView) -> None:
    rows = view.export.scores.texts()
    assert [row[0] for row in rows] == ["H200 SXM", "MI325X", "B200 SXM", "MI355X"]
    assert rows[1][1].startswith("2,614.9 × 8 = 20,919 (FP8, INT8)")
    assert rows[0][2].startswith("TPP 15,824: below 21,000")
    assert rows[2][2].splitlines()[-1] == "Not eligible: case-by-case review"
    assert rows[0][3] == "TPP 15,824: above 4,800\nControlled: 3A090.a by TPP"


def test_rules_are_listed_newest_first(view: TermsView) -> None:
    rows = view.export.rules.texts()
    assert rows[0][0].startswith("May 2026 guidance\npublished and effective 2026-05-31")
    assert rows[-1][0] == "October 2022 rule\npublished 2022-10-13\n87 FR 62186"
    assert "Not enforced since 2025-05-13" in rows[2][1]
    view.export.rules.setFocus(Qt.FocusReason.TabFocusReason)
    assert view.export.rules.currentIndex().row() == 0
    QTest.keyClick(view.export.rules, Qt.Key.Key_Down)
    assert view.export.read_in.title.text() == "Sources: January 2026 rule"
    assert any("govinfo.gov" in text for text in view.export.read_in.texts)


def test_warning_is_always_visible(view: TermsView, desk: Desk) -> None:
    warning = "Arithmetic, not legal advice: check the current rule and ask counsel"
    for accelerators in (("h200-sxm",), ("l4", "mi300x")):
        compare_accelerators(desk, *accelerators)
        assert view.export.warning.label.text() == warning
        assert view.export.warning.isVisible()
        assert view.export.notes.texts[0] == f"{warning}.", "also below the long table of rules"
        assert warning in view.copied()


def test_refuted_claim_is_shown_only_with_its_accelerator(view: TermsView, desk: Desk) -> None:
    assert not view.export.refused.isVisible()
    compare_accelerators(desk, "mi300x", "h200-sxm")
    assert view.export.refused.isVisible()
    assert "1,307 × 16 = 20,912, and the threshold is 4,800" in view.export.refused.texts[0]


def test_unknown_classification_is_undecided(view: TermsView, desk: Desk) -> None:
    compare_accelerators(desk, "l4", "h200-sxm")
    row = view.export.scores.texts()[0]
    assert row[3] == "TPP 1,936: below 4,800\nUndecided: 3A090.a by density, 3A090.b by density"


def test_destination_is_saved_and_undone(view: TermsView, desk: Desk) -> None:
    type_text(view.export.destination, "China")
    desk.flush()
    assert desk.scenario.decision.plans["destination_name"] == "China"
    assert "The rule text on file names China." in view.export.rules.texts()[0][1]
    assert any("China" in note for note in view.export.notes.texts)
    desk.undo_stack.undo()
    desk.flush()
    assert "destination_name" not in desk.scenario.decision.plans
    assert view.export.destination.text() == ""
    type_text(view.export.destination, "Peru")
    type_text(view.export.destination, " ")
    assert "destination_name" not in desk.scenario.decision.plans, "an empty destination is not saved"


def test_enter_on_a_score_selects_its_peak(view: TermsView, desk: Desk) -> None:
    view.export.scores.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view.export.scores, Qt.Key.Key_Down)
    QTest.keyClick(view.export.scores, Qt.Key.Key_Return)
    assert desk.selection == select_attribute("mi325x", "peak_dense_fp8")


# The negotiation sheet


def test_steps_show_whether_they_apply(view: TermsView, desk: Desk) -> None:
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


def test_check_marks_and_notes_are_undoable_steps(view: TermsView, desk: Desk) -> None:
    tick = get_check_box(view, "P002-04.response")
    assert not tick.note.isVisible()
    tick.box.setFocus()
    QTest.keyClick(tick.box, Qt.Key.Key_Space)
    desk.flush()
    assert desk.scenario.decision.done == {"P002-04.response": ""}
    assert tick.note.isVisible()
    type_text(tick.note, "4 h, in the draft")
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


def test_progress_counts_completed_steps(view: TermsView, desk: Desk) -> None:
    assert view.steps.progress.text() == "0 of 6 steps done"
    get_check_box(view, "P002-06").box.click()
    desk.flush()
    assert view.steps.progress.text() == "1 of 6 steps done"
    assert "[x] A production-like test (P002-06)" in view.copied()


def test_multi_line_note_is_shown_on_one_line(view: TermsView, desk: Desk) -> None:
    settings = replace(desk.scenario.decision, done={"P002-06": "one\ntwo"})
    desk.edit("Note", decision=settings)
    desk.flush()
    note = get_check_box(view, "P002-06").note
    assert note.text() == "one two"
    note.commit()
    assert desk.scenario.decision.done == {"P002-06": "one\ntwo"}, "an unedited note is unchanged"


def test_escape_restores_a_note_and_control_characters_are_removed(view: TermsView, desk: Desk) -> None:
    tick = get_check_box(view, "P002-06")
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


def test_evidence_of_a_step_is_selected(view: TermsView, desk: Desk) -> None:
    block = view.steps.steps[0]
    block.evidence_wanted.emit("D-100", True)
    assert desk.selection == select_catalog_dispute("D-100")
    block.evidence_wanted.emit("C002-071", False)
    assert desk.selection == select_catalog_statement("C002-071")


def test_controls_are_named_and_steps_reachable_by_keyboard(view: TermsView) -> None:
    for tick in (tick for block in view.steps.steps for tick in (block.title, *block.points)):
        assert tick.box.accessibleName()
        assert tick.note.accessibleName().startswith("Note on: ")
    assert view.export.destination.accessibleName() == "Destination"
    assert view.export.scores.accessibleName()
    view.to_steps.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(view.to_steps, Qt.Key.Key_Space)
    assert view.steps.steps[0].title.box.hasFocus()


def test_view_is_painted_in_both_themes_and_large_text(view: TermsView, theme: Theme) -> None:
    light = view.grab().toImage()
    theme.set_preference(DARK)
    assert view.grab().toImage() != light
    theme.set_font_percent(150)
    table = view.export.scores
    assert table.height() >= sum(table.rowHeight(row) for row in range(table.model().rowCount()))


# Saving


@pytest.mark.parametrize(("name", "begins"), [("sheet.md", "# Negotiation sheet"), ("sheet", "<!DOCTYPE html>")])
def test_format_of_the_sheet_follows_the_suffix(
    view: TermsView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, begins: str
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / name), ""))
    view.steps.save.click()
    sheet_file = next(tmp_path.glob("sheet*"))
    assert sheet_file.suffix == (Path(name).suffix or ".html")
    text = sheet_file.read_text(encoding="utf-8")
    assert text.startswith(begins)
    assert "Arithmetic, not legal advice" in text
    assert view.steps.status_label.text() == f"Saved: {sheet_file}"
    assert view.steps.status_label.isVisible()


def test_failure_to_save_is_reported(view: TermsView, tmp_path: Path) -> None:
    view.save_to(tmp_path / "sheet.docx")
    assert ".docx is not a supported format" in view.steps.status_label.text()
    view.save_to(tmp_path / "nowhere" / "sheet.md")
    assert "cannot be written" in view.steps.status_label.text()
    assert list(tmp_path.glob("sheet*")) == []


def test_view_without_a_sheet_opens_no_file_dialog(
    desk: Desk, theme: Theme, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> tuple[str, str]:
        raise AssertionError("a file dialog was opened")

    monkeypatch.setattr(QFileDialog, "getSaveFileName", fail)
    other = RecordView(desk, theme)
    qtbot.addWidget(other)
    other.ask_and_save()
