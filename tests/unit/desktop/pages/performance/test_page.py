"""The Performance page: views, table, pinned result, copying, states, sizes."""

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

#: Text sizes in percent and page sizes in px; others leave more space than one of these.
SIZES = [(90, (1424, 933)), (150, (920, 653)), (150, (600, 500))]
VIEWS = ("overview", "throughput", "pareto", "latency", "roofline", "split")


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> PerformancePage:
    performance_page = PerformancePage(desk, theme, settings)
    qtbot.addWidget(performance_page)
    performance_page.resize(944, 753)
    performance_page.show()
    return performance_page


def get_table(page: PerformancePage) -> DataTableModel:
    assert isinstance(page.view, ChartView)
    model = page.view.table.model()
    assert isinstance(model, DataTableModel)
    return model


def get_cell(page: PerformancePage, row: int, column: int) -> str:
    model = get_table(page)
    return str(model.index(row, column).data())


def test_each_view_has_its_own_verdict(page: PerformancePage) -> None:
    verdicts = {}
    for view in VIEWS:
        page.choose_view(view)
        verdicts[view] = " ".join(page.describe_verdict())
    assert verdicts["roofline"].startswith("Decode is limited by memory bandwidth: ")
    assert "Prefill is limited by compute: " in verdicts["roofline"]
    assert verdicts["split"].startswith("A request spends ")
    assert "Prefill of other requests takes " in verdicts["split"]
    assert len(set(verdicts.values())) == len(VIEWS) - 1


def test_low_window_scrolls_to_keep_the_chart_height(page: PerformancePage, desk: Desk) -> None:
    desk.open(read_template("405b-one-node"))
    page.resize(944, 450)
    for view in ("throughput", "pareto", "latency", "roofline"):
        page.choose_view(view)
        page.grab()
        chart = page.view.charts[0]
        assert isinstance(chart, DeskChart)
        assert chart.frame.area.height() >= 240


@pytest.mark.parametrize("template", list_template_ids())
def test_every_view_of_every_template_is_painted(page: PerformancePage, desk: Desk, template: str) -> None:
    desk.open(read_template(template))
    for view in VIEWS:
        page.choose_view(view)
        assert page.view.isVisible()
        assert not page.grab().isNull()
        assert all(chart.accessibleDescription() for chart in page.view.charts)


def test_view_and_bands_are_saved(
    page: PerformancePage, desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot
) -> None:
    page.choose_view("latency")
    page.head.bands.click()
    second_page = PerformancePage(desk, theme, settings)
    qtbot.addWidget(second_page)
    assert second_page.head.segment.value == "latency"
    assert not second_page.head.bands.isChecked()


def test_cursor_speed_is_shared_by_both_views(page: PerformancePage, settings: UserSettings) -> None:
    assert isinstance(page.view, PerformanceOverview)
    page.view.pareto.move_rule(42.0)
    assert settings.get("performance.read_off", 0.0) == 42.0
    page.choose_view("pareto")
    assert page.view.charts[0].drawing.rule.text == "≥ 42 tok/s"  # type: ignore[union-attr]


def test_table_has_the_digits_of_the_answer(page: PerformancePage, desk: Desk, qtmodeltester: ModelTester) -> None:
    page.choose_view("throughput")
    qtmodeltester.check(get_table(page))  # type: ignore[no-untyped-call]
    assert desk.answer is not None
    estimates = [column.estimate for column in desk.answer.columns]
    best = max(
        (each.output_tokens_per_s for each in estimates if each and each.output_tokens_per_s),
        key=lambda rate: rate.value,
    )
    assert get_cell(page, 0, 1) == desk.formatter.estimate(best.value)
    assert get_cell(page, 0, 2) == desk.formatter.band(best)
    assert get_cell(page, 0, 3) == "memory bandwidth"


def test_long_times_are_in_seconds_or_minutes(page: PerformancePage, desk: Desk) -> None:
    page.choose_view("latency")
    assert get_table(page).headerData(1, Qt.Orientation.Horizontal) == "TTFT, ms"
    desk.edit("Long prompts", workload=replace(desk.scenario.workload, input_tokens=32_000, output_tokens=1_000))
    desk.flush()
    assert get_table(page).headerData(1, Qt.Orientation.Horizontal) in ("TTFT, s", "TTFT, min")


def test_row_of_the_table_selects_its_figure(page: PerformancePage, desk: Desk) -> None:
    page.choose_view("latency")
    assert isinstance(page.view, ChartView)
    table = page.view.table
    table.setCurrentIndex(table.model().index(1, 3))
    QTest.keyClick(table, Qt.Key.Key_Return)
    key = get_table(page).table.rows[1].key
    assert desk.selection == select_figure(key, "tpot_ms")


def test_table_reports_queues_and_shortages(page: PerformancePage, desk: Desk) -> None:
    page.choose_view("throughput")
    desk.apply(scenario_edits.replace_load_value(desk.scenario, 100), "Load")
    desk.flush()
    sentences = {get_cell(page, row, 0): get_cell(page, row, 3) for row in range(4)}
    assert sentences["H200 SXM"].endswith("of 100, the rest queue")
    assert sentences["H200 SXM"].startswith("runs ")
    desk.edit("405B", model="llama-3.1-405b")
    desk.flush()
    assert all(get_cell(page, row, 3).startswith("does not fit: ") for row in range(4))


def test_pinned_result_is_named_and_cleared(page: PerformancePage, desk: Desk) -> None:
    assert page.head.pinned.isHidden()
    page.head.pin.click()
    assert page.head.pinned.text() == "Pinned: 64 in flight, FP8"
    page.head.let_go.click()
    assert page.head.pinned.isHidden()
    assert desk.ghost is None


def test_copy_has_an_image_and_data(page: PerformancePage) -> None:
    page.head.copy.click()
    mime = QGuiApplication.clipboard().mimeData()
    assert mime.hasImage()
    text = mime.text()
    assert "Output throughput vs. concurrency" in text
    assert "Time to first token vs. concurrency" in text


def test_views_and_table_are_actions(page: PerformancePage, qtbot: QtBot) -> None:
    actions = {action.id: action for action in page.list_page_actions()}
    assert {f"performance.{view}" for view in VIEWS} < set(actions)
    actions["performance.roofline"].run()
    assert page.head.segment.value == "roofline"
    actions["performance.table"].run()
    dialog = page.findChild(QDialog) or page.window().findChild(QDialog)
    assert dialog is not None
    assert dialog.isVisible()
    dialog.close()


def test_incomplete_scenario_has_a_link_to_the_missing_field(page: PerformancePage, desk: Desk) -> None:
    requests: list[str] = []
    page.wanted.connect(requests.append)
    desk.open(scenario_edits.make_empty_scenario())
    assert not page.view.isVisible()
    assert not page.head.copy.isEnabled()
    texts = [each for each in page.findChildren(QAbstractButton) if each.text() == "Choose a model"]
    texts[0].click()
    assert requests == ["model"]


def test_problem_is_shown_above_the_last_answer(page: PerformancePage, desk: Desk) -> None:
    desk.edit("Change of model", model="no-such-model")
    desk.flush()
    assert page.view.isVisible()
    assert "no-such-model" in page.body.note.text


@pytest.mark.parametrize(("percent", "size"), SIZES)
def test_charts_have_their_minimum_height_at_any_size(
    page: PerformancePage, theme: Theme, percent: int, size: tuple[int, int], qtbot: QtBot
) -> None:
    theme.set_font_percent(percent)
    page.resize(*size)
    for view in VIEWS:
        page.choose_view(view)
        qtbot.waitUntil(lambda: all(has_minimum_height(chart) for chart in page.view.charts))
        assert not page.grab().isNull()


def has_minimum_height(chart: QWidget) -> bool:
    return chart.height() >= chart.minimumSizeHint().height()


def test_focusable_widgets_are_named(page: PerformancePage) -> None:
    for view in VIEWS:
        page.choose_view(view)
        nameless = [
            each
            for each in page.findChildren(QWidget)
            if each.isVisible() and each.focusPolicy() & Qt.FocusPolicy.TabFocus and not get_name(each)
        ]
        assert nameless == []


def get_name(widget: QWidget) -> str:
    text = widget.text() if isinstance(widget, QAbstractButton) else ""
    return widget.accessibleName() or text
