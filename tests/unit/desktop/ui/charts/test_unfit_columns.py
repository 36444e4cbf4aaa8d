"""Notices about accelerators whose memory does not fit the load."""

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.desk_chart import format_admitted
from gpudesk.desktop.pages.performance.concurrency_charts import ThroughputChart
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.domain.precision import Precision
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.mark.parametrize(
    ("load", "expected"),
    [
        (Load(LoadKind.CONCURRENCY, concurrency=1000), "runs 76 of 1,000, the rest queue"),
        # Queueing is intended here.
        (Load(LoadKind.SATURATE, requests=1000), ""),
        (Load(LoadKind.CONCURRENCY, concurrency=8), ""),
    ],
)
def test_queueing_is_reported_unless_intended(qtbot: QtBot, load: Load, expected: str) -> None:
    scenario = read_template("70b-chat-on-four")
    with GpuDeskService.open() as service:
        desk = Desk(service, Formatter(ENGLISH_NUMBERS))
        desk.open(replace(scenario, workload=replace(scenario.workload, load=load)))
        assert desk.answer is not None
        estimate = desk.answer.columns[0].estimate
        assert estimate is not None
        assert format_admitted(estimate, desk) == expected


def test_chart_is_high_enough_for_its_notice(theme: Theme, qtbot: QtBot, desk: Desk) -> None:
    chart = ThroughputChart(desk, theme)
    chart.least_plot = 120
    chart.show_unfit_columns()
    qtbot.addWidget(chart)
    chart.refresh()
    former_height = chart.measure_least_height()
    scenario = replace(desk.scenario, model="llama-3.1-405b", weights=Precision.BF16)
    desk.apply(scenario, "Larger")
    desk.flush()
    chart.refresh()
    assert chart.notice is not None
    chart.resize(700, chart.measure_least_height())
    chart.show()
    assert chart.measure_least_height() > former_height
    assert chart.notice.geometry().top() >= chart.head_height()


def test_new_text_size_replaces_the_notice(theme: Theme, qtbot: QtBot, desk: Desk) -> None:
    chart = ThroughputChart(desk, theme)
    chart.show_unfit_columns()
    qtbot.addWidget(chart)
    scenario = replace(desk.scenario, model="llama-3.1-405b", weights=Precision.BF16)
    desk.apply(scenario, "Larger")
    desk.flush()
    chart.refresh()
    chart.resize(700, 400)
    chart.show()
    theme.set_font_percent(125)
    assert chart.notice is not None
    buttons = [child for child in chart.notice.findChildren(QPushButton) if child.isVisible()]
    assert len(buttons) == 4
