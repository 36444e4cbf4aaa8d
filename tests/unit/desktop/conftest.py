"""What tests of the window share: the theme as it is at first, and a desk over the real service."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.catalog import list_rows
from gpudesk.catalog.read import Catalog
from gpudesk.desktop.pages.catalog import catalog_model
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import LIGHT, Theme
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.attributes import CatalogRow, CatalogSection
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

# A window waits for other processes here and there, and these for their turn on a machine that does much else.
for waits in (QtBot.waitSignal, QtBot.waitSignals, QtBot.waitUntil, QtBot.waitCallback):
    waits.__kwdefaults__ = {**(waits.__kwdefaults__ or {}), "timeout": 30_000}

#: Four accelerators, of which two lead together.
FOUR = "70b-chat-on-four"


@pytest.fixture(scope="session")
def _theme_of_session(qapp: QApplication) -> Theme:
    return Theme(qapp, LIGHT)


@pytest.fixture
def theme(_theme_of_session: Theme) -> Theme:
    _theme_of_session.set_preference(LIGHT)
    _theme_of_session.set_font_percent(100)
    return _theme_of_session


@pytest.fixture
def user_service(user_home: Path) -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as opened:
        yield opened


@pytest.fixture
def desk(service: GpuDeskService, qtbot: QtBot) -> Desk:
    service.rank_announced = False
    made = Desk(service, Formatter(ENGLISH_NUMBERS))
    made.open(read_template(FOUR))
    return made


@pytest.fixture
def settings(tmp_path: Path, qtbot: QtBot) -> UserSettings:
    return UserSettings(tmp_path / "settings.json")


@pytest.fixture(autouse=True, scope="session")
def _shipped_rows_are_made_once(_shipped_facts_are_opened_once: None) -> Iterator[None]:
    """Let all Catalog pages on the shipped facts alone share their rows: making them takes half of a page's start."""
    shipped, make = Catalog.open(paths.get_built_catalog_path()), list_rows.iterate_catalog_rows
    rows: dict[CatalogSection, tuple[CatalogRow | None, ...]] = {}

    def give(section: CatalogSection, catalog: Catalog) -> Iterator[CatalogRow | None]:
        if catalog is not shipped:
            return make(section, catalog)
        if section not in rows:
            rows[section] = tuple(make(section, catalog))
        return iter(rows[section])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog_model, "iterate_catalog_rows", give)
        yield


@pytest.fixture(autouse=True)
def _widgets_go_with_their_test(qapp: QApplication) -> Iterator[None]:
    """Delete the widgets of a test when it ends.

    No event loop runs here that would do so. Left to the garbage collector, they would go while Qt walks over
    them in a later test.
    """
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True, scope="session")
def _clipboard_is_emptied(qapp: QApplication) -> Iterator[None]:
    """Empty the clipboard at the end: without a screen Qt deletes what it holds after Python has gone."""
    yield
    qapp.clipboard().clear()
