"""The page Memory and fit over the real service, shown offscreen: a large model on two of each part."""

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.memory.page import MemoryPage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.scenario import AcceleratorChoice
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

#: Does not fit; holds 92 requests of this length; fits.
PARTS = ("h200-sxm", "mi325x", "mi355x")


@pytest.fixture
def desk(service: GpuDeskService, qtbot: QtBot) -> Desk:
    """Return a desk with 100 requests in flight on two of each part."""
    made = Desk(service, Formatter(ENGLISH_NUMBERS))
    scenario = read_template("405b-one-node")
    load = replace(scenario.workload.load, concurrency=100)
    choices = tuple(AcceleratorChoice(part, 2) for part in PARTS)
    work = replace(scenario.workload, load=load)
    made.open(replace(scenario, workload=work, accelerators=choices))
    return made


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> MemoryPage:
    made = MemoryPage(desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(944, 753)
    made.show()
    return made
