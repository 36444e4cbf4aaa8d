"""Fixtures for tests of the Compare page over the real service."""

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
    compare_page = ComparePage(desk, theme, settings)
    qtbot.addWidget(compare_page)
    compare_page.resize(944, 753)
    compare_page.show()
    return compare_page


def replace_counts(scenario: Scenario, *counts: int) -> Scenario:
    choices = tuple(
        AcceleratorChoice(choice.accelerator, count, slot=choice.slot)
        for choice, count in zip(scenario.accelerators, counts, strict=False)
    )
    return replace(scenario, accelerators=choices)
