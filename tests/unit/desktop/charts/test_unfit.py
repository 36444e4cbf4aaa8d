"""What the performance page says of columns whose load is more than memory holds."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.charts.figure_charts import ThroughputChart
from gpudesk.desktop.charts.unfit import full_at
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.formatting import ENGLISH, Formatter
from gpudesk.domain.precision import Precision
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (Load(LoadKind.CONCURRENCY, concurrency=1000), "runs 76 of 1,000 at once"),
        # All are meant to wait that do not run.
        (Load(LoadKind.SATURATE, requests=1000), ""),
        (Load(LoadKind.CONCURRENCY, concurrency=8), ""),
    ],
)
def test_a_load_beyond_memory_is_said_where_it_is_a_fault(qtbot: QtBot, load: Load, said: str) -> None:
    scenario = read_template("70b-chat-on-four")
    with Workbench.open() as workbench:
        desk = Desk(workbench, Formatter(ENGLISH))
        desk.open(replace(scenario, workload=replace(scenario.workload, load=load)))
        assert desk.answer is not None
        estimate = desk.answer.columns[0].estimate
        assert estimate is not None
        assert full_at(estimate, desk) == said


def test_a_chart_is_high_enough_for_all_that_do_not_fit(theme: Theme, qtbot: QtBot, desk: Desk) -> None:
    chart = ThroughputChart(desk, theme)
    chart.say_what_does_not_fit()
    qtbot.addWidget(chart)
    chart.refresh()
    usual = chart.least_height()
    scenario = replace(desk.scenario, model="llama-3.1-405b", weights=Precision.BF16)
    desk.apply(scenario, "Larger")
    desk.flush()
    chart.refresh()
    assert chart.notice is not None
    chart.resize(700, chart.least_height())
    chart.show()
    assert chart.least_height() > usual
    assert chart.notice.geometry().top() >= chart.head_height()


def test_other_text_sizes_leave_nothing_of_the_notice_before(theme: Theme, qtbot: QtBot, desk: Desk) -> None:
    chart = ThroughputChart(desk, theme)
    chart.say_what_does_not_fit()
    qtbot.addWidget(chart)
    scenario = replace(desk.scenario, model="llama-3.1-405b", weights=Precision.BF16)
    desk.apply(scenario, "Larger")
    desk.flush()
    chart.refresh()
    chart.resize(700, 400)
    chart.show()
    theme.set_font_percent(125)
    assert chart.notice is not None
    shown = [child for child in chart.notice.findChildren(QPushButton) if child.isVisible()]
    assert len(shown) == 4
