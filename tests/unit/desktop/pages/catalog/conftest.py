"""Fixtures for tests of the Catalog page, over a user catalog that lasts as long as the test."""

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
def user_desk(qtbot: QtBot) -> Iterator[Desk]:
    """Return a desk whose catalog can be edited."""
    with GpuDeskService(GpuDeskService.open().catalog) as service:
        desk = Desk(service, Formatter(ENGLISH_NUMBERS))
        desk.open(read_template("70b-chat-on-four"))
        yield desk


@pytest.fixture
def page(user_desk: Desk, theme: Theme, settings: UserSettings, qtbot: QtBot) -> CatalogPage:
    catalog_page = CatalogPage(user_desk, theme, settings)
    qtbot.addWidget(catalog_page)
    catalog_page.resize(920, 700)
    catalog_page.show()
    return catalog_page
