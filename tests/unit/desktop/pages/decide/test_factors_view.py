"""The view Factors: keyboard, selection, copying."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.decide.factors_view import FACTOR, FIRST, FactorsView
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_trace_row
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from tests.unit.desktop.pages.decide.view_helpers import get_evaluated, set_answers, show_view


@pytest.fixture
def view(desk: Desk, theme: Theme, qtbot: QtBot) -> FactorsView:
    return show_view(FactorsView(desk, theme), desk, qtbot)


def test_rows_are_the_factors_of_the_decision(view: FactorsView, desk: Desk) -> None:
    decision = get_evaluated(desk).decision
    assert [row.id for row in view.model.rows] == [factor.id for factor in decision.factors]
    assert [head.name for head in view.model.heads] == ["H200 SXM", "MI325X", "B200 SXM", "MI355X"]
    assert "Factors that lack a measure are not rated" in view.note.text()


def test_table_fills_the_width_and_shows_all_rows(view: FactorsView) -> None:
    table = view.table
    columns = sum(table.columnWidth(column) for column in range(view.model.columnCount()))
    assert columns == table.viewport().width()
    assert table.height() >= sum(table.rowHeight(row) for row in range(view.model.rowCount()))


def test_arrow_keys_select_the_rule(view: FactorsView, desk: Desk) -> None:
    view.focus_first()
    view.table.setCurrentIndex(view.model.index(0, FACTOR))
    assert desk.selection == select_trace_row("D003-15")
    QTest.keyClick(view.table, Qt.Key.Key_Right)
    assert desk.selection == select_trace_row("D003-15", "h200-sxm")
    QTest.keyClick(view.table, Qt.Key.Key_Down)
    assert desk.selection == select_trace_row("D003-16", "h200-sxm")
    desk.select(None)
    QTest.keyClick(view.table, Qt.Key.Key_Return)
    assert desk.selection == select_trace_row("D003-16", "h200-sxm")


def test_tab_starts_at_the_first_factor(view: FactorsView) -> None:
    view.table.setFocus(Qt.FocusReason.TabFocusReason)
    assert (view.table.currentIndex().row(), view.table.currentIndex().column()) == (0, FACTOR)
    assert view.table.focus_rect() is None


def test_typing_finds_a_factor(view: FactorsView) -> None:
    view.table.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClicks(view.table, "first")
    assert view.model.rows[view.table.currentIndex().row()].name == "Time to first token"


def test_table_is_copied(view: FactorsView) -> None:
    lines = view.copied().splitlines()
    assert lines[0].split("\t")[:2] == ["Factor", "H200 SXM"]
    assert len(lines) == 1 + len(view.model.rows)
    assert any(line.startswith("FP4\tMissing\tMissing\tPreferred") for line in lines)


def test_table_is_painted_in_both_themes(view: FactorsView, desk: Desk, theme: Theme) -> None:
    set_answers(desk, priority="cost")
    view.table.setCurrentIndex(view.model.index(0, FIRST))
    for preference in (theme.preference, DARK):
        theme.set_preference(preference)
        picture = view.table.grab().toImage()
        colors = {picture.pixelColor(x, picture.height() // 2).name() for x in range(0, picture.width(), 7)}
        assert theme.color("page").name() in colors
    sentence = view.table.describe_cell(view.model.index(0, FIRST))
    assert sentence.startswith("Software, H200 SXM: Preferred")


def test_cost_and_its_payment_share_a_line(view: FactorsView, theme: Theme, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three lines in a cell would touch the edges of its tint."""
    lines: list[str] = []
    monkeypatch.setattr(view.table, "_write_lines", lambda _place, *texts: lines.extend(each[0] for each in texts))
    view.resize(theme.px(1400), view.height())
    view.table.grab()
    assert any(line.startswith("$") and line.endswith(" owned") for line in lines)
