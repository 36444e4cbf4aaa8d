"""The view Scaling: chart, rows of one accelerator, rules of thumb, comparison of two deployments."""

from __future__ import annotations

from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.performance.page import PerformancePage, ScalingView
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.tables.data_table import FiguresTable
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.deployment_analysis import AcceleratorScaling, ScalingRuleOfThumb

#: Text sizes in percent and page sizes in px; others leave more space than one of these.
SIZES = [(90, (1424, 933)), (150, (920, 653)), (150, (600, 500))]
PAIR = "h100-pair-or-mi300x-70b"


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> PerformancePage:
    desk.open(read_template(PAIR))
    performance_page = PerformancePage(desk, theme, settings)
    qtbot.addWidget(performance_page)
    performance_page.resize(1423, 932)
    performance_page.show()
    performance_page.choose_view("scaling")
    return performance_page


@pytest.fixture
def view(page: PerformancePage, desk: Desk) -> ScalingView:
    assert isinstance(page.view, ScalingView)
    desk.select(select_figure(desk.keys[0], "output_tokens_per_s"))
    return page.view


def list_column(table: FiguresTable, head: str) -> list[str]:
    position = [each.head for each in table.table.columns].index(head)
    return [row.cells[position].text for row in table.table.rows]


def list_remarks(table: FiguresTable) -> list[str]:
    return [row.cells[-1].text for row in table.table.rows]


# The chart


def test_each_accelerator_has_a_curve_of_all_counts(view: ScalingView, desk: Desk) -> None:
    drawing = view.chart.drawing
    assert {line.key: line.x.tolist() for line in drawing.lines} == {
        "h100-sxm": [2, 4, 8, 16, 32, 64],
        "mi300x": [1, 2, 4, 8, 16, 32, 64],
    }
    assert all(line.capped for line in drawing.lines)
    (h100, _) = desk.service.scaling(desk.scenario)
    assert isinstance(h100, AcceleratorScaling)
    rates = [row.estimate.output_tokens_per_s for row in h100.rows if row.estimate and row.fits]
    assert drawing.lines[0].y.tolist() == [rate.value for rate in rates if rate]
    assert drawing.lines[0].low is not None


def test_marks_are_at_the_counts_of_the_scenario(view: ScalingView) -> None:
    assert [(mark.key, mark.x) for mark in view.chart.drawing.marks] == [("h100-sxm", 2.0), ("mi300x", 1.0)]


def test_bandwidth_chart_includes_the_rule(view: ScalingView) -> None:
    view.quantity._buttons["bandwidth"].click()
    drawing = view.chart.drawing
    assert drawing.lines[1].y[0] == 100.0
    assert drawing.lines[1].low is None
    assert all(0 < share <= 100 for line in drawing.lines for share in line.y)
    (by_rule,) = drawing.ghosts
    assert by_rule.key == "h100-sxm"
    assert by_rule.y == pytest.approx([88.0] * 6)
    assert view.chart.frame.get_y_range() == (0.0, 100.0)


def test_readout_moves_by_keyboard(view: ScalingView) -> None:
    view.chart.setFocus()
    QTest.keyClick(view.chart, Qt.Key.Key_Home)
    assert view.chart.hover_x == 1.0
    assert view.chart.hover_readout is not None
    assert view.chart.hover_readout.title == "1 accelerator"
    rows = {row.name: row.cells for row in view.chart.hover_readout.rows}
    assert rows["H100 SXM"] == ("—", "does not fit")
    QTest.keyClick(view.chart, Qt.Key.Key_Right)
    assert view.chart.hover_x == 2.0


def test_chart_has_an_accessible_description(view: ScalingView) -> None:
    text = view.chart.accessibleDescription()
    assert "H100 SXM: minimum count 2; fastest count 8: " in text
    assert "MI300X: minimum count 1; fastest count " in text


def test_columns_of_one_accelerator_share_a_curve(view: ScalingView, desk: Desk) -> None:
    desk.apply(scenario_edits.add_accelerator(desk.scenario, "mi300x"), "Add")
    desk.flush()
    assert [line.name for line in view.chart.drawing.lines] == ["H100 SXM", "MI300X"]
    assert len(view.chart.drawing.marks) == 3


# The rows of one accelerator


def test_rows_report_shortages_and_faster_replicas(
    page: PerformancePage, view: ScalingView, qtmodeltester: ModelTester
) -> None:
    page.resize(1700, 932)
    table = view.counts.table
    qtmodeltester.check(table.model())  # type: ignore[no-untyped-call]
    texts = list_remarks(table)
    assert texts[0].startswith("does not fit: ")
    assert texts[1].startswith("TP 2, runs ")
    assert "TP 8 × DP 2: " in texts[4]
    assert texts[4].endswith("2 hosts")
    assert "slower than on 8: " in texts[6]
    assert list_column(table, "Total, tok/s")[0] == "—"
    assert list_column(table, "Memory, GiB (GB)")[1] == "160.0 (171.8)"
    models = [int(count) for count in list_column(table, "Models")]
    assert models == sorted(models)
    assert models[0] < models[-1]


def test_template_reproduces_the_published_table(view: ScalingView, desk: Desk) -> None:
    desk.open(read_template("mi325x-or-h200-70b"))
    desk.select(select_figure("mi325x", "output_tokens_per_s"))
    assert list_column(view.counts.table, "Flat 0.88, GB/s")[:4] == ["6,000", "10,560", "21,120", "42,240"]
    view.counts._choose_rule(str(ScalingRuleOfThumb.ADDED))
    assert list_column(view.counts.table, "Added 0.88, GB/s")[:4] == ["6,000", "11,280", "21,840", "42,960"]
    assert view.chart.rule is ScalingRuleOfThumb.ADDED


def test_difference_between_model_and_rule_is_shown(view: ScalingView) -> None:
    text = view.counts.remark.text()
    assert text.startswith("With 8 accelerators: ")
    assert "23,584 GB/s by the rule (+" in text
    estimate = text.removeprefix("With 8 accelerators: ").partition(" ")[0]
    assert estimate.endswith("00"), "an estimate has three digits"


def test_table_follows_the_selection(view: ScalingView, desk: Desk) -> None:
    assert view.counts.table.table.rows[0].cells[0].text == "1 × H100 SXM"
    desk.select(select_figure("mi300x", "output_tokens_per_s"))
    assert view.counts.table.table.rows[0].cells[0].text == "1 × MI300X"
    assert view.counts.part.value == "mi300x"


def test_offered_count_is_applied(view: ScalingView, desk: Desk) -> None:
    table = view.counts.table
    assert view.counts.offer.isHidden()
    table.setCurrentIndex(table.model().index(3, 4))
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert view.counts.offer.text() == "Use 8 × H100 SXM"
    view.counts.offer.click()
    desk.flush()
    assert desk.scenario.accelerators[0].count == 8
    assert view.counts.offer.isHidden()
    desk.undo_stack.undo()
    assert desk.scenario.accelerators[0].count == 2


# Comparison of two deployments


def test_comparison_has_the_published_figures(view: ScalingView, desk: Desk) -> None:
    text = view.comparison.summary_label.text()
    assert "of a 2 × H100 SXM decode step" in text
    assert "more than 1 × MI300X (5.3 TB/s)" in text
    table = view.comparison.table
    assert [row.cells[0].text for row in table.table.rows] == ["2 × H100 SXM", "1 × MI300X"]
    assert [each.split("; ")[1] for each in list_remarks(table)] == [
        "flat 0.88: 41.8 tok/s for one request",
        "flat 0.88: 37.6 tok/s for one request",
    ]
    assert desk.answer is not None
    rates = [desk_column.estimate.output_tokens_per_s for desk_column in desk.answer.columns if desk_column.estimate]
    assert list_column(table, "Total, tok/s") == [desk.formatter.estimate(rate.value) for rate in rates if rate]


def test_cell_of_the_comparison_selects_its_figure(view: ScalingView, desk: Desk) -> None:
    table = view.comparison.table
    position = [each.head for each in table.table.columns].index("TPOT, batch 1, ms")
    table.setCurrentIndex(table.model().index(1, position))
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert desk.selection == select_figure("mi300x", "tpot_ms")


def test_impossible_comparison_has_a_reason(view: ScalingView, desk: Desk) -> None:
    desk.apply(scenario_edits.replace_count(desk.scenario, 0, 1), "Count")
    desk.flush()
    assert view.comparison.table.isHidden()
    assert view.comparison.summary_label.text()
    desk.apply(scenario_edits.remove_accelerator(desk.scenario, 1), "Remove")
    desk.flush()
    assert view.comparison.summary_label.text().startswith("To compare, add a second accelerator")


# Drags, copying and sizes


def test_tables_are_unchanged_during_a_drag(view: ScalingView, desk: Desk, qtbot: QtBot) -> None:
    before = list_column(view.counts.table, "Total, tok/s")
    former_curve = view.chart.drawing.lines[1].y.tolist()
    desk.begin_gesture("load")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 64), "Load")
    desk.flush()
    assert view.chart.drawing.lines[1].y.tolist() != former_curve
    assert list_column(view.counts.table, "Total, tok/s") == before
    desk.end_gesture()
    assert list_column(view.counts.table, "Total, tok/s") != before


def test_tables_follow_when_a_drag_pauses(view: ScalingView, desk: Desk, qtbot: QtBot) -> None:
    before = list_column(view.counts.table, "Total, tok/s")
    desk.begin_gesture("load")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 64), "Load")
    desk.flush()
    qtbot.waitUntil(lambda: list_column(view.counts.table, "Total, tok/s") != before)
    desk.end_gesture()


def test_other_views_compute_no_scaling(
    page: PerformancePage, view: ScalingView, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.choose_view("latency")
    calls: list[object] = []
    monkeypatch.setattr(desk.service, "scaling", lambda *each, **_: calls.append(each))
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 48), "Load")
    desk.flush()
    desk.select(select_figure("mi300x", "tpot_ms"))
    assert calls == []


def test_data_is_copied_and_shown_in_a_table_dialog(page: PerformancePage, view: ScalingView) -> None:
    page.head.copy.click()
    text = QGuiApplication.clipboard().mimeData().text()
    assert "Scaling by accelerator count" in text
    assert "Two deployments compared" in text
    assert "KV cache space, GB" in text
    actions = {action.id: action for action in page.list_page_actions()}
    view.comparison.table.setFocus()
    actions["performance.table"].run()
    dialog = page.findChild(QDialog) or page.window().findChild(QDialog)
    assert dialog is not None
    assert dialog.windowTitle() == "Two deployments compared"
    dialog.close()


@pytest.mark.parametrize(("percent", "size"), SIZES)
def test_all_rows_are_visible_at_any_size(
    page: PerformancePage, view: ScalingView, theme: Theme, percent: int, size: tuple[int, int], qtbot: QtBot
) -> None:
    theme.set_font_percent(percent)
    page.resize(*size)

    def shows_all_rows(table: FiguresTable) -> bool:
        last = table.model().index(table.model().rowCount() - 1, 0)
        return table.visualRect(last).bottom() <= table.viewport().height()

    qtbot.waitUntil(lambda: view.chart.height() >= view.chart.minimumSizeHint().height())
    for table in (view.counts.table, view.comparison.table):
        qtbot.waitUntil(partial(shows_all_rows, table))
    assert not page.grab().isNull()


def test_verdict_has_the_fastest_count(page: PerformancePage) -> None:
    page.choose_view("scaling")
    fastest, efficiency, runner_up = page.describe_verdict()
    assert fastest.startswith("One replica is fastest on ")
    assert efficiency.startswith("Throughput per accelerator: ")
    assert runner_up.startswith("Next: 8 × "), "it can be as fast"
