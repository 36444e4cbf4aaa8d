"""The view Scaling as its user meets it: chart, rows of one part, rules of thumb, two compared."""

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

#: Sizes of letters and of the page; all others leave more room than one of these.
SIZES = [(90, (1424, 933)), (150, (920, 653)), (150, (600, 500))]
PAIR = "h100-pair-or-mi300x-70b"


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> PerformancePage:
    desk.open(read_template(PAIR))
    made = PerformancePage(desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(1423, 932)
    made.show()
    made.choose_view("scaling")
    return made


@pytest.fixture
def view(page: PerformancePage, desk: Desk) -> ScalingView:
    assert isinstance(page.view, ScalingView)
    desk.select(select_figure(desk.keys[0], "output_tokens_per_s"))
    return page.view


def column(table: FiguresTable, head: str) -> list[str]:
    place = [each.head for each in table.table.columns].index(head)
    return [row.cells[place].text for row in table.table.rows]


def remarks(table: FiguresTable) -> list[str]:
    return [row.cells[-1].text for row in table.table.rows]


# The chart


def test_a_curve_for_each_part_as_far_as_it_was_tried(view: ScalingView, desk: Desk) -> None:
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


def test_circles_stand_where_the_scenario_does(view: ScalingView) -> None:
    assert [(mark.key, mark.x) for mark in view.chart.drawing.marks] == [("h100-sxm", 2.0), ("mi300x", 1.0)]


def test_bandwidth_is_shown_beside_the_rule(view: ScalingView) -> None:
    view.quantity._buttons["bandwidth"].click()
    drawing = view.chart.drawing
    assert drawing.lines[1].y[0] == 100.0
    assert drawing.lines[1].low is None
    assert all(0 < share <= 100 for line in drawing.lines for share in line.y)
    (by_rule,) = drawing.ghosts
    assert by_rule.key == "h100-sxm"
    assert by_rule.y == pytest.approx([88.0] * 6)
    assert view.chart.frame.get_y_range() == (0.0, 100.0)


def test_counts_are_read_off_by_keyboard(view: ScalingView) -> None:
    view.chart.setFocus()
    QTest.keyClick(view.chart, Qt.Key.Key_Home)
    assert view.chart.hover_x == 1.0
    assert view.chart.hover_readout is not None
    assert view.chart.hover_readout.title == "1 accelerator"
    rows = {row.name: row.cells for row in view.chart.hover_readout.rows}
    assert rows["H100 SXM"] == ("—", "does not fit")
    QTest.keyClick(view.chart, Qt.Key.Key_Right)
    assert view.chart.hover_x == 2.0


def test_the_chart_says_itself_in_words(view: ScalingView) -> None:
    text = view.chart.accessibleDescription()
    assert "H100 SXM: minimum count 2; fastest count 8: " in text
    assert "MI300X: minimum count 1; fastest count " in text


def test_columns_of_one_part_share_a_curve(view: ScalingView, desk: Desk) -> None:
    desk.apply(scenario_edits.add_accelerator(desk.scenario, "mi300x"), "Add")
    desk.flush()
    assert [line.name for line in view.chart.drawing.lines] == ["H100 SXM", "MI300X"]
    assert len(view.chart.drawing.marks) == 3


# The rows of one part


def test_the_rows_say_what_does_not_fit_and_where_replicas_are_faster(
    page: PerformancePage, view: ScalingView, qtmodeltester: ModelTester
) -> None:
    page.resize(1700, 932)
    table = view.counts.table
    qtmodeltester.check(table.model())  # type: ignore[no-untyped-call]
    said = remarks(table)
    assert said[0].startswith("does not fit: ")
    assert said[1].startswith("TP 2, runs ")
    assert "TP 8 × DP 2: " in said[4]
    assert said[4].endswith("2 hosts")
    assert "slower than on 8: " in said[6]
    assert column(table, "Total, tok/s")[0] == "—"
    assert column(table, "Memory, GiB (GB)")[1] == "160.0 (171.8)"
    models = [int(count) for count in column(table, "Models")]
    assert models == sorted(models)
    assert models[0] < models[-1]


def test_the_preset_gives_the_published_table(view: ScalingView, desk: Desk) -> None:
    desk.open(read_template("mi325x-or-h200-70b"))
    desk.select(select_figure("mi325x", "output_tokens_per_s"))
    assert column(view.counts.table, "Flat 0.88, GB/s")[:4] == ["6,000", "10,560", "21,120", "42,240"]
    view.counts._choose_rule(str(ScalingRuleOfThumb.ADDED))
    assert column(view.counts.table, "Added 0.88, GB/s")[:4] == ["6,000", "11,280", "21,840", "42,960"]
    assert view.chart.rule is ScalingRuleOfThumb.ADDED


def test_the_view_says_how_model_and_rule_differ(view: ScalingView) -> None:
    text = view.counts.remark.text()
    assert text.startswith("With 8 accelerators: ")
    assert "23,584 GB/s by the rule (+" in text
    estimate = text.removeprefix("With 8 accelerators: ").partition(" ")[0]
    assert estimate.endswith("00"), "an estimate has three digits"


def test_the_table_follows_the_selection(view: ScalingView, desk: Desk) -> None:
    assert view.counts.table.table.rows[0].cells[0].text == "1 × H100 SXM"
    desk.select(select_figure("mi300x", "output_tokens_per_s"))
    assert view.counts.table.table.rows[0].cells[0].text == "1 × MI300X"
    assert view.counts.part.value == "mi300x"


def test_a_count_is_taken_with_enter_and_the_offer(view: ScalingView, desk: Desk) -> None:
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


# Sharding against fewer accelerators


def test_the_page_s_argument_in_numbers(view: ScalingView, desk: Desk) -> None:
    text = view.comparison.summary_label.text()
    assert "of a 2 × H100 SXM decode step" in text
    assert "more than 1 × MI300X (5.3 TB/s)" in text
    table = view.comparison.table
    assert [row.cells[0].text for row in table.table.rows] == ["2 × H100 SXM", "1 × MI300X"]
    assert [each.split("; ")[1] for each in remarks(table)] == [
        "flat 0.88: 41.8 tok/s for one request",
        "flat 0.88: 37.6 tok/s for one request",
    ]
    assert desk.answer is not None
    rates = [column_.estimate.output_tokens_per_s for column_ in desk.answer.columns if column_.estimate]
    assert column(table, "Total, tok/s") == [desk.formatter.estimate(rate.value) for rate in rates if rate]


def test_a_cell_of_the_comparison_selects_its_figure(view: ScalingView, desk: Desk) -> None:
    table = view.comparison.table
    place = [each.head for each in table.table.columns].index("TPOT, batch 1, ms")
    table.setCurrentIndex(table.model().index(1, place))
    QTest.keyClick(table, Qt.Key.Key_Return)
    assert desk.selection == select_figure("mi300x", "tpot_ms")


def test_what_cannot_be_compared_is_said(view: ScalingView, desk: Desk) -> None:
    desk.apply(scenario_edits.replace_count(desk.scenario, 0, 1), "Count")
    desk.flush()
    assert view.comparison.table.isHidden()
    assert view.comparison.summary_label.text()
    desk.apply(scenario_edits.remove_accelerator(desk.scenario, 1), "Remove")
    desk.flush()
    assert view.comparison.summary_label.text().startswith("To compare, add a second accelerator")


# While something moves, and everywhere


def test_tables_rest_while_the_load_is_dragged(view: ScalingView, desk: Desk, qtbot: QtBot) -> None:
    before = column(view.counts.table, "Total, tok/s")
    drawn = view.chart.drawing.lines[1].y.tolist()
    desk.begin_gesture("load")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 64), "Load")
    desk.flush()
    assert view.chart.drawing.lines[1].y.tolist() != drawn
    assert column(view.counts.table, "Total, tok/s") == before
    desk.end_gesture()
    assert column(view.counts.table, "Total, tok/s") != before


def test_tables_catch_up_when_a_drag_rests(view: ScalingView, desk: Desk, qtbot: QtBot) -> None:
    before = column(view.counts.table, "Total, tok/s")
    desk.begin_gesture("load")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 64), "Load")
    desk.flush()
    qtbot.waitUntil(lambda: column(view.counts.table, "Total, tok/s") != before)
    desk.end_gesture()


def test_another_view_works_nothing_out(
    page: PerformancePage, view: ScalingView, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.choose_view("latency")
    asked: list[object] = []
    monkeypatch.setattr(desk.service, "scaling", lambda *each, **_: asked.append(each))
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 48), "Load")
    desk.flush()
    desk.select(select_figure("mi300x", "tpot_ms"))
    assert asked == []


def test_numbers_are_copied_and_shown_as_a_table(page: PerformancePage, view: ScalingView) -> None:
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
def test_the_view_can_be_seen_whole_at_any_size(
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


def test_the_verdict_of_scaling_is_about_the_count(page: PerformancePage) -> None:
    page.choose_view("scaling")
    assert page.describe_verdict().startswith("One replica is fastest on ")
    assert "Output per accelerator: " in page.describe_verdict()
