"""Fixtures for tests of the page Memory and fit: a large model on two of each accelerator."""

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

#: Does not fit; fits 92 requests of this length; fits all.
ACCELERATORS = ("h200-sxm", "mi325x", "mi355x")


@pytest.fixture(autouse=True, scope="session")
def _share_fit_cells(service: GpuDeskService) -> Iterator[None]:
    """Share the 4,200 cells of the fit matrix between tests, 0.25 s for each question."""
    cells: dict[tuple[FitQuestion, str, str], FitCell] = {}
    make_cell = FitFinder._make_cell

    def make_shared_cell(finder: FitFinder, question: FitQuestion, accelerator: Accelerator, model: Model) -> FitCell:
        if finder is not service.fit:
            return make_cell(finder, question, accelerator, model)
        key = question, accelerator.id, model.id
        if key not in cells:
            cells[key] = make_cell(finder, question, accelerator, model)
        return cells[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FitFinder, "_make_cell", make_shared_cell)
        yield


@pytest.fixture
def desk(service: GpuDeskService, qtbot: QtBot) -> Desk:
    """Return a desk with 100 requests in flight on two of each accelerator."""
    desk = Desk(service, Formatter(ENGLISH_NUMBERS))
    scenario = read_template("405b-one-node")
    load = replace(scenario.workload.load, concurrency=100)
    choices = tuple(AcceleratorChoice(accelerator, 2) for accelerator in ACCELERATORS)
    workload = replace(scenario.workload, load=load)
    desk.open(replace(scenario, workload=workload, accelerators=choices))
    return desk


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> MemoryPage:
    memory_page = MemoryPage(desk, theme, settings)
    qtbot.addWidget(memory_page)
    memory_page.resize(944, 753)
    memory_page.show()
    return memory_page
