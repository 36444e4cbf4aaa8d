"""What tests of the page Catalog read in it and do to it."""

from PySide6.QtWidgets import QMenu

from gpudesk.catalog.user_store import edits
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.pages.catalog.page import CatalogPage
from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.session.desk import Desk


def keys(page: CatalogPage) -> list[str]:
    return [row.key for line in range(len(page.model.lines)) if (row := page.model.row(line)) is not None]


def go_to(page: CatalogPage, row: str, column: str) -> None:
    page.view.setCurrentIndex(page.model.index(page.model.find_catalog_line(row), page.model.table.place(column)))
    page.view.setFocus()


def action(page: CatalogPage, name: str) -> ActionSpec:
    return next(spec for spec in page.list_page_actions() if spec.id == f"catalog.{name}")


def state(desk: Desk, value: float = 5.9) -> None:
    """Let the user state a bandwidth of the MI325X."""
    source = make_user_source("Quote by mail", "A reseller", date="2026-11-18")
    catalog = desk.service.catalog
    step = edits.state_value(
        catalog, "mi325x", "memory_bandwidth", value, "TB/s", source, today="2026-11-20", reason="seen"
    )
    desk.service.user_catalog.do(step)


def entries(menu: QMenu) -> dict[str, bool]:
    return {each.text(): each.isEnabled() for each in menu.actions() if each.text()}
