"""Puts the columns of the list in the user's order, hides, shows and moves them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Signal

from gpudesk.desktop.pages.catalog.column_memory import ColumnMemory, Columns
from gpudesk.desktop.pages.catalog.table_view import CatalogView
from gpudesk.desktop.session.settings import Settings
from gpudesk.domain.catalog_tables import Section
from gpudesk.workbench.catalog_columns import COLUMNS

#: The section that was shown last.
SECTION_SETTING: Final = "catalog.section"


class ColumnArrangement(QObject):
    """Arranges the heads of one view by section."""

    changed = Signal()

    def __init__(self, settings: Settings, view: CatalogView, parent: QObject) -> None:
        """Keep what the user does to the heads."""
        super().__init__(parent)
        self._memory = ColumnMemory(settings)
        self._view = view
        self._section = Section.ACCELERATORS
        self._arranging = False
        view.columns_changed.connect(self._keep)

    @property
    def hidden(self) -> frozenset[str]:
        """Keys of the columns that are hidden."""
        return self._memory.of(self._section, COLUMNS[self._section]).hidden

    def take_section(self, section: Section) -> None:
        """Arrange the heads, which stand for the columns of this section now."""
        self._section = section
        self._apply()

    def _apply(self) -> None:
        columns = COLUMNS[self._section]
        kept = self._memory.of(self._section, columns)
        heads, keys = self._view.heads, [column.key for column in columns]
        self._arranging = True
        try:
            for place, key in enumerate(kept.order):
                number = keys.index(key)
                if heads.visualIndex(number) != place:
                    heads.moveSection(heads.visualIndex(number), place)
                if heads.isSectionHidden(number) != (key in kept.hidden):
                    heads.setSectionHidden(number, key in kept.hidden)
            self._view.chosen_widths = dict(kept.widths)
        finally:
            self._arranging = False
        self._view.measure()

    def _keep(self) -> None:
        if self._arranging:
            return
        columns, heads = COLUMNS[self._section], self._view.heads
        kept = self._memory.of(self._section, columns)
        order = tuple(columns[heads.logicalIndex(place)].key for place in range(heads.count()))
        self._memory.keep(self._section, Columns(order, kept.hidden, self._view.chosen_widths))

    # What can be done with a column

    def toggle(self, key: str) -> None:
        """Hide a column, or show it."""
        kept = self._memory.of(self._section, COLUMNS[self._section])
        self._memory.keep(self._section, Columns(kept.order, kept.hidden ^ {key}, kept.widths))
        self._apply()
        self.changed.emit()

    def can_move(self, number: int, step: int) -> bool:
        """Return whether a column has a neighbour that it could change places with."""
        return self._neighbour(number, step) is not None

    def move(self, number: int, step: int) -> None:
        """Move a column past its neighbour that is shown, to the left (-1) or to the right (1)."""
        target = self._neighbour(number, step)
        if target is not None:
            heads = self._view.heads
            heads.moveSection(heads.visualIndex(number), heads.visualIndex(target))

    def _neighbour(self, number: int, step: int) -> int | None:
        shown = self._view.heads.shown()
        if number == 0 or number not in shown:
            return None
        place = shown.index(number) + step
        return shown[place] if 0 < place < len(shown) else None

    def reset(self) -> None:
        """Show the columns as they were designed, as wide as their content."""
        self._memory.forget(self._section)
        self._apply()
        self.changed.emit()
