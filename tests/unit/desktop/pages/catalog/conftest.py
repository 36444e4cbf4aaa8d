"""The page Catalog over a service whose user's facts last as long as the test."""

from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter


@pytest.fixture
def own_desk(qtbot: QtBot) -> Iterator[Desk]:
    """Return a desk whose catalog may be changed."""
    with GpuDeskService(GpuDeskService.open().catalog) as service:
        desk = Desk(service, Formatter(ENGLISH_NUMBERS))
        desk.open(read_template("70b-chat-on-four"))
        yield desk


@pytest.fixture
def page(own_desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> CatalogPage:
    made = CatalogPage(own_desk, theme, settings)
    qtbot.addWidget(made)
    made.resize(920, 700)
    made.show()
    return made
