"""The page Compare over the real workbench, shown offscreen."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.compare.page import ComparePage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.formatting import ENGLISH, Formatter
from gpudesk.domain.scenarios import AcceleratorChoice, Scenario
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench

#: Four parts, of which two lead together.
FOUR = "70b-chat-on-four"

MakePage = Callable[..., ComparePage]


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open() as opened:
        yield opened


@pytest.fixture
def desk(workbench: Workbench, qtbot: QtBot) -> Desk:
    made = Desk(workbench, Formatter(ENGLISH))
    made.open(read_template(FOUR))
    return made


@pytest.fixture
def settings(tmp_path: Path, qtbot: QtBot) -> Settings:
    return Settings(tmp_path / "settings.json")


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: Settings, qtbot: QtBot) -> ComparePage:
    made = ComparePage(desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(944, 753)
    made.show()
    return made


def with_counts(scenario: Scenario, *counts: int) -> Scenario:
    """Return the scenario with other counts, each with a plan of its own."""
    choices = tuple(
        AcceleratorChoice(choice.accelerator, count, slot=choice.slot)
        for choice, count in zip(scenario.accelerators, counts, strict=False)
    )
    return replace(scenario, accelerators=choices)
