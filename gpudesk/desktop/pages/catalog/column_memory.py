"""Which columns of each section are shown, in which order and how wide, kept in the settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpudesk.desktop.session.settings import Settings
from gpudesk.domain.catalog_tables import Column, Section


@dataclass(frozen=True, slots=True)
class Columns:
    """Keys of the columns from left to right, of those that are hidden, and widths that the user set."""

    order: tuple[str, ...]
    hidden: frozenset[str]
    widths: Mapping[str, int] = field(default_factory=dict)


class ColumnMemory:
    """Reads and writes the arrangement of each section; what no longer fits is left out."""

    def __init__(self, settings: Settings) -> None:
        """Keep the settings."""
        self._settings = settings

    def of(self, section: Section, columns: Sequence[Column]) -> Columns:
        """Return how a section is arranged; at first as it was designed."""
        stored: dict[str, Any] = self._settings.get(_name(section), {})
        known = [column.key for column in columns]
        listed = _words(stored.get("order"))
        kept = [key for key in dict.fromkeys(listed) if key in known[1:]]
        order = (known[0], *kept, *(key for key in known[1:] if key not in kept))
        hidden = {column.key for column in columns if not column.shown}
        if "hidden" in stored:
            # A column that came with an upgrade is shown or not as it was designed.
            hidden = {key for key in hidden if key not in listed} | set(_words(stored["hidden"]))
        widths = stored.get("widths")
        return Columns(
            order,
            frozenset(hidden & set(known[1:])),
            {
                key: width
                for key, width in (widths if isinstance(widths, dict) else {}).items()
                if key in known and type(width) is int and 0 < width <= 4000
            },
        )

    def keep(self, section: Section, columns: Columns) -> None:
        """Write how a section is arranged."""
        self._settings.put(
            _name(section),
            {
                "order": list(columns.order),
                "hidden": sorted(columns.hidden),
                "widths": dict(columns.widths),
            },
        )

    def forget(self, section: Section) -> None:
        """Go back to the arrangement as it was designed."""
        self._settings.put(_name(section), {})


def _name(section: Section) -> str:
    return f"catalog.columns.{section.value}"


def _words(found: object) -> list[str]:
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
