"""Printed figures and their working: from the menu, narrowed, read, copied."""

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
    (opened,) = window.findChildren(WorkedExamplesDialog)
    assert opened.isVisible()
    return opened


def shown(dialog: WorkedExamplesDialog) -> list[str]:
    table = dialog.table
    items = [table.item(row, 0) for row in range(table.rowCount()) if not table.isRowHidden(row)]
    return [item.text() for item in items if item is not None]


def test_figures_are_found_and_their_working_read(dialog: WorkedExamplesDialog, qtbot: QtBot) -> None:
    assert len(shown(dialog)) == 560
    QTest.keyClicks(dialog.filter, "w001-05")
    assert shown(dialog) == ["W001-05"]
    row = dialog.table.selectedItems()
    assert [item.text() for item in row] == ["W001-05", "Refuted", "H100 count for 405B, FP16", "4 – 6", "11"]
    assert "⌈405 × 2 ÷ 80⌉ = 11" in dialog.working.text()
    assert "Published: 4 – 6, but arithmetic gives 11." in dialog.working.text()
    QTest.mouseClick(dialog.copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text() == dialog.text
    assert dialog.copy.text() == "Copied"


def test_a_verdict_narrows_the_list(dialog: WorkedExamplesDialog) -> None:
    for verdict, number, label in (
        ("contradicted by arithmetic", 90, "Refuted"),
        ("not derivable", 32, "Cannot be derived"),
    ):
        dialog.verdict.set_value(verdict)
        dialog.verdict.chosen.emit(verdict)
        assert len(shown(dialog)) == number
        assert dialog.table.selectedItems()[1].text() == label


def test_what_is_not_found_is_said(dialog: WorkedExamplesDialog) -> None:
    QTest.keyClicks(dialog.filter, "no such words")
    assert shown(dialog) == []
    assert dialog.working.text() == "No matching claims. Clear the filter."
    assert not dialog.copy.isEnabled()
    QTest.keyClick(dialog.filter, Qt.Key.Key_Escape)
    assert len(shown(dialog)) == 560
    assert dialog.copy.isEnabled()


def test_keys_lead_through_it(dialog: WorkedExamplesDialog, qtbot: QtBot) -> None:
    assert dialog.filter.hasFocus()
    QTest.keyClick(dialog.filter, Qt.Key.Key_Down)
    assert dialog.table.hasFocus()
    QTest.keyClick(dialog.table, Qt.Key.Key_Down)
    assert dialog.current is not None
    assert dialog.current.example.id == "W000-02"
    assert dialog.working.text().startswith("W000-02: ")
    QTest.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()
