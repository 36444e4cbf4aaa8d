"""Fixtures for tests of the window: a light theme at 100%, a desk over the real service, and user settings."""

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

# Some windows wait for other processes, which may be slow to start on a busy machine.
for wait_method in (QtBot.waitSignal, QtBot.waitSignals, QtBot.waitUntil, QtBot.waitCallback):
    wait_method.__kwdefaults__ = {**(wait_method.__kwdefaults__ or {}), "timeout": 30_000}

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
    with GpuDeskService.open() as gpudesk_service:
        yield gpudesk_service


@pytest.fixture
def desk(service: GpuDeskService, qtbot: QtBot) -> Desk:
    service.rank_announced = False
    desk = Desk(service, Formatter(ENGLISH_NUMBERS))
    desk.open(read_template(FOUR))
    return desk


@pytest.fixture
def settings(tmp_path: Path, qtbot: QtBot) -> UserSettings:
    return UserSettings(tmp_path / "settings.json")


@pytest.fixture(autouse=True, scope="session")
def _share_builtin_catalog_rows(_shipped_facts_are_opened_once: None) -> Iterator[None]:
    """Share the rows of the built-in catalog between Catalog pages: making them takes half of a page's start."""
    builtin_catalog, iterate_rows = Catalog.open(paths.get_built_catalog_path()), list_rows.iterate_catalog_rows
    rows: dict[CatalogSection, tuple[CatalogRow | None, ...]] = {}

    def iterate_shared_rows(section: CatalogSection, catalog: Catalog) -> Iterator[CatalogRow | None]:
        if catalog is not builtin_catalog:
            return iterate_rows(section, catalog)
        if section not in rows:
            rows[section] = tuple(iterate_rows(section, catalog))
        return iter(rows[section])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog_model, "iterate_catalog_rows", iterate_shared_rows)
        yield


@pytest.fixture(autouse=True)
def _delete_widgets_after_test(qapp: QApplication) -> Iterator[None]:
    """Delete a test's widgets when it ends.

    No event loop runs here that would do so, and the garbage collector could delete them while Qt iterates over
    them in a later test.
    """
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(autouse=True, scope="session")
def _clear_clipboard_at_exit(qapp: QApplication) -> Iterator[None]:
    """Clear the clipboard at the end: the offscreen platform deletes its contents after Python has shut down."""
    yield
    qapp.clipboard().clear()
