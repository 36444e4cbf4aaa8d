"""Readings and operations of the Catalog page for its tests."""

from PySide6.QtWidgets import QMenu

from gpudesk.catalog.user_store import edits
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.session.desk import Desk


def list_row_keys(page: CatalogPage) -> list[str]:
    return [row.key for number in range(len(page.model.lines)) if (row := page.model.row(number)) is not None]


def go_to(page: CatalogPage, row_key: str, column_key: str) -> None:
    page.view.setCurrentIndex(
        page.model.index(page.model.find_catalog_line(row_key), page.model.table.place(column_key))
    )
    page.view.setFocus()


def find_action(page: CatalogPage, name: str) -> ActionSpec:
    return next(spec for spec in page.list_page_actions() if spec.id == f"catalog.{name}")


def enter_bandwidth(desk: Desk, value: float = 5.9) -> None:
    """Enter a bandwidth of the MI325X as the user's value, in TB/s."""
    source = make_user_source("Quote by mail", "A reseller", date="2026-11-18")
    catalog = desk.service.catalog
    step = edits.state_value(
        catalog, "mi325x", "memory_bandwidth", value, "TB/s", source, today="2026-11-20", reason="seen"
    )
    desk.service.user_catalog.do(step)


def map_menu_entries(menu: QMenu) -> dict[str, bool]:
    return {each.text(): each.isEnabled() for each in menu.actions() if each.text()}
