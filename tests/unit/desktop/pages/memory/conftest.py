"""The page Memory and fit over the real service, shown offscreen: a large model on two of each part."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.memory.page import MemoryPage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.model import Model
from gpudesk.domain.sizing import FitCell, FitQuestion
from gpudesk.estimation.sizing.fit_matrix import FitFinder
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

#: Does not fit; holds 92 requests of this length; fits.
PARTS = ("h200-sxm", "mi325x", "mi355x")


@pytest.fixture(autouse=True, scope="session")
def _cells_are_computed_once(service: GpuDeskService) -> Iterator[None]:
    """Let views of all models on the shipped facts share their 4,200 cells, a quarter of a second for each question."""
    known: dict[tuple[FitQuestion, str, str], FitCell] = {}
    find = FitFinder._make_cell

    def give(finder: FitFinder, question: FitQuestion, part: Accelerator, model: Model) -> FitCell:
        if finder is not service.fit:
            return find(finder, question, part, model)
        key = question, part.id, model.id
        if key not in known:
            known[key] = find(finder, question, part, model)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FitFinder, "_make_cell", give)
        yield


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
