"""The page Compare over the real service, shown offscreen."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.compare.page import ComparePage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.domain.answer import AcceleratorChoice, Scenario

#: Four accelerators, of which two lead together.
FOUR = "70b-chat-on-four"

MakePage = Callable[..., ComparePage]


@pytest.fixture
def page(desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> ComparePage:
    made = ComparePage(desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(944, 753)
    made.show()
    return made


def with_counts(scenario: Scenario, *counts: int) -> Scenario:
    choices = tuple(
        AcceleratorChoice(choice.accelerator, count, slot=choice.slot)
        for choice, count in zip(scenario.accelerators, counts, strict=False)
    )
    return replace(scenario, accelerators=choices)
