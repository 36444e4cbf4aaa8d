"""The pages of the window in the order of the rail, each loaded when it is first opened."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from gpudesk.desktop.pages.page import Page
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.text import tr


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page by name: its module is imported, and it is made, at the first look.

    `digit` is the key that opens it together with Ctrl. `divided` puts a line above it in the rail.
    """

    id: str
    title: str
    icon: str
    module: str
    class_name: str
    digit: int
    divided: bool = False

    def make(self, desk: Desk, theme: Theme, settings: Settings) -> Page:
        """Return the page."""
        page: Page = getattr(import_module(self.module), self.class_name)(desk, theme, settings)
        return page


def page_specs() -> tuple[PageSpec, ...]:
    """Return all pages."""
    folder = "gpudesk.desktop.pages"
    return (
        PageSpec("compare", tr("Compare"), "columns-3", f"{folder}.compare.page", "ComparePage", 1),
        PageSpec(
            "performance",
            tr("Performance"),
            "chart-spline",
            f"{folder}.performance.page",
            "PerformancePage",
            2,
        ),
        PageSpec("memory", tr("Memory and fit"), "memory-stick", f"{folder}.memory.page", "MemoryPage", 3),
        PageSpec("cost", tr("Cost"), "coins", f"{folder}.cost.page", "CostPage", 5),
        PageSpec("decide", tr("Decide"), "signpost", f"{folder}.decide.page", "DecidePage", 6, divided=True),
        PageSpec(
            "catalog", tr("Catalog"), "library", f"{folder}.catalog.page", "CatalogPage", 8, divided=True
        ),
    )
