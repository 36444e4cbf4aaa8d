"""The page Performance as its user meets it: views, table, pinned result, copies, states, sizes."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QDialog, QWidget
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.desk_chart import DeskChart
from gpudesk.desktop.pages.performance.page import PerformancePage
from gpudesk.desktop.pages.performance.views import ChartView, PerformanceOverview
from gpudesk.desktop.session import scenario_edits
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import select_figure
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.tables.data_table import DataTableModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import list_template_ids, read_template

#: Sizes of letters and of the page; all others leave more room than one of these.
SIZES = [(90, (1424, 933)), (150, (920, 653)), (150, (600, 500))]
VIEWS = ("overview", "throughput", "pareto", "latency", "roofline", "split")


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> PerformancePage:
    made = PerformancePage(desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(944, 753)
    made.show()
    return made


def table_of(page: PerformancePage) -> DataTableModel:
    assert isinstance(page.view, ChartView)
    model = page.view.table.model()
    assert isinstance(model, DataTableModel)
    return model


def cell(page: PerformancePage, row: int, column: int) -> str:
    model = table_of(page)
    return str(model.index(row, column).data())


def test_each_view_has_a_verdict_of_its_own(page: PerformancePage) -> None:
    verdicts = {}
    for view in VIEWS:
        page.choose_view(view)
        verdicts[view] = page.describe_verdict()
    assert verdicts["roofline"].startswith("Decode is limited by memory bandwidth: ")
    assert "Prefill is limited by compute: " in verdicts["roofline"]
    assert verdicts["split"].startswith("A request spends ")
    assert "Prefill of other requests takes " in verdicts["split"]
    assert len(set(verdicts.values())) == len(VIEWS) - 1


def test_a_low_window_scrolls_before_a_chart_is_squashed(page: PerformancePage, desk: Desk) -> None:
    desk.open(read_template("405b-one-node"))
    page.resize(944, 450)
    for view in ("throughput", "pareto", "latency", "roofline"):
        page.choose_view(view)
        page.grab()
        chart = page.view.charts[0]
        assert isinstance(chart, DeskChart)
        assert chart.frame.area.height() >= 240


@pytest.mark.parametrize("template", list_template_ids())
def test_every_view_of_every_template_is_drawn(page: PerformancePage, desk: Desk, template: str) -> None:
    desk.open(read_template(template))
    for view in VIEWS:
        page.choose_view(view)
        assert page.view.isVisible()
        assert not page.grab().isNull()
        assert all(chart.accessibleDescription() for chart in page.view.charts)


def test_the_view_and_bands_are_remembered(
    page: PerformancePage, desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page.choose_view("latency")
    page.head.bands.click()
    again = PerformancePage(desk, theme, settings)
    qtbot.addWidget(again)
    assert again.head.segment.value == "latency"
    assert not again.head.bands.isChecked()


def test_the_speed_that_is_read_off_is_one_for_both_views(page: PerformancePage, settings: UserSettings) -> None:
    assert isinstance(page.view, PerformanceOverview)
    page.view.pareto.move_rule(42.0)
    assert settings.get("performance.read_off", 0.0) == 42.0
    page.choose_view("pareto")
    assert page.view.charts[0].drawing.rule.text == "≥ 42 tok/s"  # type: ignore[union-attr]


def test_the_table_has_the_digits_of_the_answer(page: PerformancePage, desk: Desk, qtmodeltester: ModelTester) -> None:
    page.choose_view("throughput")
    qtmodeltester.check(table_of(page))  # type: ignore[no-untyped-call]
    assert desk.answer is not None
    estimates = [column.estimate for column in desk.answer.columns]
    best = max(
        (each.output_tokens_per_s for each in estimates if each and each.output_tokens_per_s),
        key=lambda rate: rate.value,
    )
    assert cell(page, 0, 1) == desk.formatter.estimate(best.value)
    assert cell(page, 0, 2) == desk.formatter.band(best)
    assert cell(page, 0, 3) == "memory bandwidth"


def test_long_times_have_the_units_of_other_pages(page: PerformancePage, desk: Desk) -> None:
    page.choose_view("latency")
    assert table_of(page).headerData(1, Qt.Orientation.Horizontal) == "TTFT, ms"
    desk.edit("Long prompts", workload=replace(desk.scenario.workload, input_tokens=32_000, output_tokens=1_000))
    desk.flush()
    assert table_of(page).headerData(1, Qt.Orientation.Horizontal) in ("TTFT, s", "TTFT, min")


def test_a_row_of_the_table_selects_its_figure(page: PerformancePage, desk: Desk) -> None:
    page.choose_view("latency")
    assert isinstance(page.view, ChartView)
    table = page.view.table
    table.setCurrentIndex(table.model().index(1, 3))
    QTest.keyClick(table, Qt.Key.Key_Return)
    key = table_of(page).table.rows[1].key
    assert desk.selection == select_figure(key, "tpot_ms")


def test_the_table_says_who_does_not_fit_and_who_runs_fewer(page: PerformancePage, desk: Desk) -> None:
    page.choose_view("throughput")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 100), "Load")
    desk.flush()
    sentences = {cell(page, row, 0): cell(page, row, 3) for row in range(4)}
    assert sentences["H200 SXM"].endswith("of 100, the rest queue")
    assert sentences["H200 SXM"].startswith("runs ")
    desk.edit("405B", model="llama-3.1-405b")
    desk.flush()
    assert all(cell(page, row, 3).startswith("does not fit: ") for row in range(4))


def test_a_pinned_result_is_named_and_let_go(page: PerformancePage, desk: Desk) -> None:
    assert page.head.pinned.isHidden()
    page.head.pin.click()
    assert page.head.pinned.text() == "Pinned: 64 in flight, FP8"
    page.head.let_go.click()
    assert page.head.pinned.isHidden()
    assert desk.ghost is None


def test_copy_takes_picture_and_numbers(page: PerformancePage) -> None:
    page.head.copy.click()
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.hasImage()
    text = mime.text()
    assert "Output throughput vs. concurrency" in text
    assert "Time to first token vs. concurrency" in text


def test_every_command_is_an_action(page: PerformancePage, qtbot: QtBot) -> None:
    actions = {action.id: action for action in page.list_page_actions()}
    assert {f"performance.{view}" for view in VIEWS} < set(actions)
    actions["performance.roofline"].run()
    assert page.head.segment.value == "roofline"
    actions["performance.table"].run()
    dialog = page.findChild(QDialog) or page.window().findChild(QDialog)
    assert dialog is not None
    assert dialog.isVisible()
    dialog.close()


def test_an_unfinished_scenario_says_what_is_missing(page: PerformancePage, desk: Desk) -> None:
    wanted: list[str] = []
    page.wanted.connect(wanted.append)
    desk.open(scenario_edits.make_empty_scenario())
    assert not page.view.isVisible()
    assert not page.head.copy.isEnabled()
    texts = [each for each in page.findChildren(QAbstractButton) if each.text() == "Choose a model"]
    texts[0].click()
    assert wanted == ["model"]


def test_a_problem_is_said_and_the_last_answer_stays(page: PerformancePage, desk: Desk) -> None:
    desk.edit("Change of model", model="no-such-model")
    desk.flush()
    assert page.view.isVisible()
    assert "no-such-model" in page.body.note.text


@pytest.mark.parametrize(("percent", "size"), SIZES)
def test_the_page_can_be_seen_whole_at_any_size(
    page: PerformancePage, theme: Theme, percent: int, size: tuple[int, int], qtbot: QtBot
) -> None:
    theme.set_font_percent(percent)
    page.resize(*size)
    for view in VIEWS:
        page.choose_view(view)
        qtbot.waitUntil(lambda: all(roomy(chart) for chart in page.view.charts))
        assert not page.grab().isNull()


def roomy(chart: QWidget) -> bool:
    return chart.height() >= chart.minimumSizeHint().height()


def test_everything_that_takes_the_focus_has_a_name(page: PerformancePage) -> None:
    for view in VIEWS:
        page.choose_view(view)
        nameless = [
            each
            for each in page.findChildren(QWidget)
            if each.isVisible() and each.focusPolicy() & Qt.FocusPolicy.TabFocus and not _name(each)
        ]
        assert nameless == []


def _name(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text
