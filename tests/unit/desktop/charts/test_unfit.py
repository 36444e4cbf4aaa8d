"""What the performance page says of columns whose load is more than memory holds."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.charts.unfit import full_at
from gpudesk.desktop.session.desk import Desk
from gpudesk.domain.formatting import ENGLISH, Formatter
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
