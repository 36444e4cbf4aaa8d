"""Order, widths and visibility of catalog columns, kept in the settings for each section."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from PySide6.QtCore import QObject, Signal

from gpudesk.catalog.list_columns import list_catalog_columns
from gpudesk.desktop.pages.catalog.table import CatalogTableView
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.domain.catalog_table import CatalogColumn, CatalogSection


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """Keys of the columns from left to right, of those that are hidden, and widths that the user set."""

    order: tuple[str, ...]
    hidden: frozenset[str]
    widths: Mapping[str, int] = field(default_factory=dict)


class ColumnSettings:
    """Reads and writes the arrangement of each section; what no longer fits is left out."""

    def __init__(self, settings: UserSettings) -> None:
        self._settings = settings

    def of(self, section: CatalogSection, columns: Sequence[CatalogColumn]) -> ColumnOrder:
        """Return how a section is arranged; at first as it was designed."""
        stored: dict[str, Any] = self._settings.get(_setting_key(section), {})
        keys = [column.key for column in columns]
        listed = _read_words(stored.get("order"))
        kept_keys = [key for key in dict.fromkeys(listed) if key in keys[1:]]
        order = (keys[0], *kept_keys, *(key for key in keys[1:] if key not in kept_keys))
        hidden = {column.key for column in columns if not column.is_visible}
        if "hidden" in stored:
            # A column that came with an upgrade is shown or not as it was designed.
            hidden = {key for key in hidden if key not in listed} | set(_read_words(stored["hidden"]))
        widths = stored.get("widths")
        return ColumnOrder(
            order,
            frozenset(hidden & set(keys[1:])),
            {
                key: width
                for key, width in (widths if isinstance(widths, dict) else {}).items()
                if key in keys and type(width) is int and 0 < width <= 4000
            },
        )

    def keep(self, section: CatalogSection, columns: ColumnOrder) -> None:
        self._settings.put(
            _setting_key(section),
            {"order": list(columns.order), "hidden": sorted(columns.hidden), "widths": dict(columns.widths)},
        )

    def forget(self, section: CatalogSection) -> None:
        self._settings.put(_setting_key(section), {})


def _setting_key(section: CatalogSection) -> str:
    return f"catalog.columns.{section.value}"


def _read_words(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


#: The section that was shown last.
SECTION_SETTING: Final = "catalog.section"


class ColumnArrangement(QObject):
    """Arranges the heads of one view by section."""

    changed = Signal()

    def __init__(self, settings: UserSettings, view: CatalogTableView, parent: QObject) -> None:
        super().__init__(parent)
        self._memory = ColumnSettings(settings)
        self._view = view
        self._section = CatalogSection.ACCELERATORS
        self._arranging = False
        view.columns_changed.connect(self._keep)

    @property
    def hidden(self) -> frozenset[str]:
        return self._memory.of(self._section, list_catalog_columns(self._section)).hidden

    def take_section(self, section: CatalogSection) -> None:
        """Arrange the header for the columns of a section."""
        self._section = section
        self._apply()

    def _apply(self) -> None:
        columns = list_catalog_columns(self._section)
        order = self._memory.of(self._section, columns)
        heads, keys = self._view.heads, [column.key for column in columns]
        self._arranging = True
        try:
            for place, key in enumerate(order.order):
                number = keys.index(key)
                if heads.visualIndex(number) != place:
                    heads.moveSection(heads.visualIndex(number), place)
                if heads.isSectionHidden(number) != (key in order.hidden):
                    heads.setSectionHidden(number, key in order.hidden)
            self._view.user_widths = dict(order.widths)
        finally:
            self._arranging = False
        self._view.measure()

    def _keep(self) -> None:
        if self._arranging:
            return
        columns, heads = list_catalog_columns(self._section), self._view.heads
        column_order = self._memory.of(self._section, columns)
        order = tuple(columns[heads.logicalIndex(place)].key for place in range(heads.count()))
        self._memory.keep(self._section, ColumnOrder(order, column_order.hidden, self._view.user_widths))

    # What can be done with a column

    def toggle(self, key: str) -> None:
        order = self._memory.of(self._section, list_catalog_columns(self._section))
        self._memory.keep(self._section, ColumnOrder(order.order, order.hidden ^ {key}, order.widths))
        self._apply()
        self.changed.emit()

    def can_move(self, number: int, step: int) -> bool:
        return self._neighbour(number, step) is not None

    def move(self, number: int, step: int) -> None:
        """Move a column past its neighbour that is shown, to the left (-1) or to the right (1)."""
        target = self._neighbour(number, step)
        if target is not None:
            heads = self._view.heads
            heads.moveSection(heads.visualIndex(number), heads.visualIndex(target))

    def _neighbour(self, number: int, step: int) -> int | None:
        shown_columns = self._view.heads.shown()
        if number == 0 or number not in shown_columns:
            return None
        place = shown_columns.index(number) + step
        return shown_columns[place] if 0 < place < len(shown_columns) else None

    def reset(self) -> None:
        self._memory.forget(self._section)
        self._apply()
        self.changed.emit()
