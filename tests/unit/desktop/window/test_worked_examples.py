"""The dialog of worked examples: opened from the menu, filtered, read and copied."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.window.dialogs.worked_examples import WorkedExamplesDialog
from gpudesk.desktop.window.main_window import MainWindow


@pytest.fixture
def dialog(window: MainWindow) -> WorkedExamplesDialog:
    (action,) = (spec for spec in window.list_window_actions() if spec.id == "help.examples")
    action.run()
    (examples_dialog,) = window.findChildren(WorkedExamplesDialog)
    assert examples_dialog.isVisible()
    return examples_dialog


def list_ids(dialog: WorkedExamplesDialog) -> list[str]:
    return [texts[0] for texts in dialog.table.texts()]


def list_current_texts(dialog: WorkedExamplesDialog) -> list[str]:
    row = dialog.table.current_row
    return [] if row is None else [cell.text for cell in row.cells]


def test_claim_is_found_read_and_copied(dialog: WorkedExamplesDialog, qtbot: QtBot) -> None:
    assert len(list_ids(dialog)) == 560
    QTest.keyClicks(dialog.filter, "w001-05")
    assert list_ids(dialog) == ["W001-05"]
    assert list_current_texts(dialog) == ["W001-05", "Refuted", "H100 count for 405B, FP16", "4 – 6", "11"]
    assert "⌈405 × 2 ÷ 80⌉ = 11" in dialog.working.text()
    assert "Published: 4 – 6, but arithmetic gives 11." in dialog.working.text()
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == dialog.text
    assert dialog.copy.text() == "Copied"


def test_long_claims_have_several_lines(dialog: WorkedExamplesDialog, qtbot: QtBot) -> None:
    table = dialog.table

    rows = range(table.model().rowCount())

    def find_cut() -> list[int]:
        return [row for row in rows if table.measure_lines(row) > table.rowHeight(row)]

    qtbot.waitUntil(lambda: find_cut() == [])
    assert len({table.rowHeight(row) for row in rows}) > 1
    dialog.resize(dialog.width() - 60, dialog.height())
    qtbot.waitUntil(lambda: find_cut() == [])


def test_verdict_filters_the_list(dialog: WorkedExamplesDialog) -> None:
    for verdict, number, label in (
        ("contradicted by arithmetic", 90, "Refuted"),
        ("not derivable", 32, "Cannot be derived"),
    ):
        dialog.verdict.set_value(verdict)
        dialog.verdict.chosen.emit(verdict)
        assert len(list_ids(dialog)) == number
        assert list_current_texts(dialog)[1] == label


def test_empty_search_result_has_a_hint(dialog: WorkedExamplesDialog) -> None:
    QTest.keyClicks(dialog.filter, "no such words")
    assert list_ids(dialog) == []
    assert dialog.working.text() == "No matching claims. Clear the filter."
    assert not dialog.copy.isEnabled()
    QTest.keyClick(dialog.filter, Qt.Key.Key_Escape)
    assert len(list_ids(dialog)) == 560
    assert dialog.copy.isEnabled()


def test_dialog_is_driven_by_keys(dialog: WorkedExamplesDialog, qtbot: QtBot) -> None:
    assert dialog.filter.hasFocus()
    QTest.keyClick(dialog.filter, Qt.Key.Key_Down)
    assert dialog.table.hasFocus()
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    assert dialog.current is not None
    assert dialog.current.example.id == "W000-02"
    assert dialog.working.text().startswith("W000-02: ")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
