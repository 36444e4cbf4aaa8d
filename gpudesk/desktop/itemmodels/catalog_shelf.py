"""The sections of the catalog as the page holds them: made when asked for, or in small pieces before."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from gpudesk.desktop.itemmodels.catalog_query import Facets, Sorting, matching, ordered
from gpudesk.domain.catalog_tables import CatalogRow, CatalogTable, Section
from gpudesk.domain.formatting import Formatter
from gpudesk.sheets.catalog_cells import CatalogWriter
from gpudesk.workbench.catalog_columns import COLUMNS
from gpudesk.workbench.catalog_rows import catalog_rows

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

#: Rows that are made between two looks at the clock.
_PIECE: Final = 16


@dataclass
class _Part:
    """A section: first its rows are made, then the texts that are searched."""

    coming: Iterator[CatalogRow | None]
    rows: list[CatalogRow] = field(default_factory=list)
    table: CatalogTable | None = None
    writer: CatalogWriter | None = None
    texts: list[str] = field(default_factory=list)
    orders: dict[tuple[Sorting | None, bool], list[int]] = field(default_factory=dict)
    #: The last question and its answer.
    asked: tuple[object, ...] = ()
    sought: str = ""
    found: list[int] | None = None


class Shelf:
    """All sections of one catalog as it is now; a new catalog needs a new shelf."""

    def __init__(self, workbench: Workbench, formatter: Formatter, today: str) -> None:
        """Make nothing yet."""
        self._formatter = formatter
        self.today = today
        self._parts = {section: _Part(catalog_rows(section, workbench.catalog)) for section in Section}

    # Making

    def table(self, section: Section) -> CatalogTable:
        """Return the rows of a section, made now where they are not yet."""
        part = self._parts[section]
        while part.table is None:
            self._step_rows(section, part, None)
        return part.table

    def writer(self, section: Section) -> CatalogWriter:
        """Return what writes the cells of a section."""
        part = self._parts[section]
        if part.writer is None:
            part.writer = CatalogWriter(self.table(section), self._formatter, self.today)
        return part.writer

    def texts(self, section: Section) -> Sequence[str]:
        """Return the text of each row that is searched, made now where it is not yet."""
        part = self._parts[section]
        while len(part.texts) < len(self.table(section).rows):
            self._step_texts(section, part, None)
        return part.texts

    def is_ready(self, section: Section) -> bool:
        """Return whether a section can be searched at once."""
        part = self._parts[section]
        return part.table is not None and len(part.texts) == len(part.table.rows)

    def step(self, seconds: float) -> bool:
        """Make what is missing for about this long; return whether anything is still missing."""
        end = time.perf_counter() + seconds
        for section, part in self._parts.items():
            while part.table is None:
                if time.perf_counter() >= end:
                    return True
                self._step_rows(section, part, _PIECE)
            while len(part.texts) < len(part.table.rows):
                if time.perf_counter() >= end:
                    return True
                self._step_texts(section, part, _PIECE)
        return False

    def _step_rows(self, section: Section, part: _Part, count: int | None) -> None:
        made = list(islice(part.coming, count))
        part.rows.extend(row for row in made if row is not None)
        if count is None or len(made) < count:
            part.table = CatalogTable(section, COLUMNS[section], tuple(part.rows))

    def _step_texts(self, section: Section, part: _Part, count: int | None) -> None:
        writer, begun = self.writer(section), len(part.texts)
        rows = self.table(section).rows[begun : None if count is None else begun + count]
        part.texts.extend(map(writer.search_text, rows))

    # Asking

    def places(
        self,
        section: Section,
        words: str,
        facets: Facets,
        sorting: Sorting | None,
        *,
        announced_among: bool,
        stale_days: int,
    ) -> list[int]:
        """Return the places of the rows that match, in order; the list is not to be changed."""
        part = self._parts[section]
        asked = (facets, sorting, announced_among, stale_days)
        sought = words.casefold().strip()
        found, former = part.found, part.sought
        if part.asked != asked or found is None or not sought.startswith(former):
            found, former = self._narrowed(section, facets, sorting, announced_among, stale_days), ""
        if sought != former:
            # What is typed on narrows what was found, and nothing else.
            found = matching(self.texts(section), found, sought)
        part.asked, part.sought, part.found = asked, sought, found
        return found

    def _narrowed(
        self,
        section: Section,
        facets: Facets,
        sorting: Sorting | None,
        announced_among: bool,
        stale_days: int,
    ) -> list[int]:
        """Return the places of the rows within facets, in order."""
        table, part = self.table(section), self._parts[section]
        key = (sorting, announced_among)
        found = part.orders.get(key)
        if found is None:
            found = part.orders[key] = ordered(table, sorting, announced_among=announced_among)
        if not facets.active:
            return found
        rows, today = table.rows, self.today
        return [place for place in found if facets.keeps(rows[place], today, stale_days)]
