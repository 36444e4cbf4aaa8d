"""Sections of the catalog: query, cached rows, and the item model of the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject, Qt

from gpudesk.catalog.list_columns import list_catalog_columns
from gpudesk.catalog.list_rows import iterate_catalog_rows
from gpudesk.desktop.ui.tables.table_base import HEADING, SELECTABLE, TableItemModel
from gpudesk.domain.attributes import CatalogColumn, CatalogColumnKind, CatalogRow, CatalogSection, CatalogTable
from gpudesk.domain.claim import SourceKind
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.catalog_lists import FIGURES, CatalogCellFormatter, describe_column, label_column, make_sort_key
from gpudesk.report.labels import count_days_since, is_stale_date
from gpudesk.report.manual import explain_key
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.catalog.read import Catalog


#: Sections with each facet.
FACETS: Final[dict[CatalogSection, tuple[str, ...]]] = {
    CatalogSection.ACCELERATORS: ("makers", "status", "kinds", "age", "disputes", "own"),
    CatalogSection.SYSTEMS: ("makers", "kinds", "age", "disputes", "own"),
    CatalogSection.MODELS: ("makers", "kinds", "age", "disputes", "own"),
    CatalogSection.DIFFUSION: ("kinds", "age", "disputes"),
    CatalogSection.PRICES: ("makers", "kinds", "age", "own"),
    CatalogSection.CLAIMS: ("makers", "kinds", "age", "disputes", "own"),
    CatalogSection.DISPUTES: (),
    CatalogSection.SOURCES: ("makers", "kinds", "age", "own"),
    CatalogSection.YOURS: (),
}


@frozen_dataclass
class CatalogFacets:
    """Filters of a section. Empty sets and None filter nothing.

    `newer_than` is in days; `stale` leaves only stale values.
    """

    makers: frozenset[str] = frozenset()
    kinds: frozenset[SourceKind] = frozenset()
    shipping: bool = False
    newer_than: int | None = None
    stale: bool = False
    disputes: bool = False
    own: bool = False

    @property
    def active(self) -> bool:
        return self != CatalogFacets()

    def keeps(self, row: CatalogRow, today: str, stale_days: int) -> bool:
        if (
            (self.makers and row.maker not in self.makers)
            or (self.kinds and self.kinds.isdisjoint(row.kinds))
            or (self.shipping and row.announced)
            or (self.disputes and not row.disputed)
            or (self.own and not row.own)
        ):
            return False
        if self.newer_than is None and not self.stale:
            return True
        age = count_days_since(row.date, today)
        if age is None:
            return False
        return age > stale_days if self.stale else self.newer_than is None or age <= self.newer_than


@frozen_dataclass
class CatalogSorting:
    """The column by which rows are sorted."""

    column: str
    descending: bool


def choose_next_column_sorting(
    sorting: CatalogSorting | None, column: str, *, largest_first: bool
) -> CatalogSorting | None:
    """Return the next sorting by a column: one direction, then the other, then catalog order."""
    if sorting is None or sorting.column != column:
        return CatalogSorting(column, largest_first)
    return replace(sorting, descending=not largest_first) if sorting.descending == largest_first else None


def is_largest_first(kind: CatalogColumnKind) -> bool:
    """Return whether a column is first sorted with its largest values on top: figures and dates."""
    return kind in FIGURES or kind is CatalogColumnKind.DATE


def order_places(table: CatalogTable, sorting: CatalogSorting | None, *, announced_among: bool = False) -> list[int]:
    """Return the positions of all rows in an order; unknown values are last in both directions.

    Sorted by a figure, announced rows come after all others unless they are ranked with them. Ties stay in catalog
    order.
    """
    places = list(range(len(table.rows)))
    position = -1 if sorting is None else table.place(sorting.column)
    if sorting is None or position < 0:
        return places
    column, rows = table.columns[position], table.rows
    known_places = [place for place in places if rows[place].values[position] is not None]
    keys: dict[int, Any] = {
        place: make_sort_key(rows[place].values[position], rows[place], column) for place in known_places
    }
    # Ages sort opposite to their dates.
    known_places.sort(key=keys.__getitem__, reverse=sorting.descending != (column.kind is CatalogColumnKind.AGE))
    unknown = [place for place in places if rows[place].values[position] is None]
    result = known_places + unknown
    if column.kind in (CatalogColumnKind.FIGURE, CatalogColumnKind.MONEY) and not announced_among:
        return [p for p in result if not rows[p].announced] + [p for p in result if rows[p].announced]
    return result


def find_matching(texts: Sequence[str], places: Sequence[int], words: str) -> list[int]:
    """Return the positions whose texts contain all words; `texts` are in lower case."""
    matching = list(places)
    for word in words.casefold().split():
        matching = [place for place in matching if word in texts[place]]
    return matching


def find_ranked_end(table: CatalogTable, places: Sequence[int], sorting: CatalogSorting | None) -> int:
    """Return the index of the first announced row after all ranked rows, -1 without one."""
    if sorting is None:
        return -1
    position = table.place(sorting.column)
    if position < 0 or table.columns[position].kind not in (CatalogColumnKind.FIGURE, CatalogColumnKind.MONEY):
        return -1
    tail = len(places)
    while tail and table.rows[places[tail - 1]].announced:
        tail -= 1
    return tail if 0 < tail < len(places) else -1


#: Rows built between two checks of the time.
_PIECE: Final = 16


@dataclass
class _SectionCache:
    """A section: its rows, then the texts for searching."""

    coming: Iterator[CatalogRow | None]
    rows: list[CatalogRow] = field(default_factory=list)
    table: CatalogTable | None = None
    writer: CatalogCellFormatter | None = None
    texts: list[str] = field(default_factory=list)
    orders: dict[tuple[CatalogSorting | None, bool], list[int]] = field(default_factory=dict)
    #: The last query and its result.
    query: tuple[object, ...] = ()
    sought: str = ""
    positions: list[int] | None = None


class CatalogSections:
    """All sections of one catalog revision; a new catalog needs a new object."""

    def __init__(self, catalog: Catalog, formatter: Formatter, today: str) -> None:
        self._formatter = formatter
        self.today = today
        self._parts = {section: _SectionCache(iterate_catalog_rows(section, catalog)) for section in CatalogSection}

    # Building

    def table(self, section: CatalogSection) -> CatalogTable:
        """Return the rows of a section, building missing ones."""
        part = self._parts[section]
        while part.table is None:
            self._step_rows(section, part, None)
        return part.table

    def writer(self, section: CatalogSection) -> CatalogCellFormatter:
        part = self._parts[section]
        if part.writer is None:
            part.writer = CatalogCellFormatter(self.table(section), self._formatter, self.today)
        return part.writer

    def texts(self, section: CatalogSection) -> Sequence[str]:
        """Return the search text of each row, building missing ones."""
        part = self._parts[section]
        while len(part.texts) < len(self.table(section).rows):
            self._step_texts(section, part, None)
        return part.texts

    def is_ready(self, section: CatalogSection) -> bool:
        part = self._parts[section]
        return part.table is not None and len(part.texts) == len(part.table.rows)

    def step(self, seconds: float) -> bool:
        """Build missing rows and texts for about `seconds`; return whether any are still missing."""
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

    def _step_rows(self, section: CatalogSection, part: _SectionCache, count: int | None) -> None:
        new_rows = list(islice(part.coming, count))
        part.rows.extend(row for row in new_rows if row is not None)
        if count is None or len(new_rows) < count:
            part.table = CatalogTable(section, list_catalog_columns(section), tuple(part.rows))

    def _step_texts(self, section: CatalogSection, part: _SectionCache, count: int | None) -> None:
        writer, begun = self.writer(section), len(part.texts)
        rows = self.table(section).rows[begun : None if count is None else begun + count]
        part.texts.extend(map(writer.search_text, rows))

    # Queries

    def places(
        self,
        section: CatalogSection,
        words: str,
        facets: CatalogFacets,
        sorting: CatalogSorting | None,
        *,
        announced_among: bool,
        stale_days: int,
    ) -> list[int]:
        """Return the positions of the matching rows, in order; the list must not be changed."""
        part = self._parts[section]
        query = (facets, sorting, announced_among, stale_days)
        sought = words.casefold().strip()
        matching, former = part.positions, part.sought
        if part.query != query or matching is None or not sought.startswith(former):
            matching, former = self._filter_places(section, facets, sorting, announced_among, stale_days), ""
        if sought != former:
            # Further typing only narrows the rows found so far.
            matching = find_matching(self.texts(section), matching, sought)
        part.query, part.sought, part.positions = query, sought, matching
        return matching

    def _filter_places(
        self,
        section: CatalogSection,
        facets: CatalogFacets,
        sorting: CatalogSorting | None,
        announced_among: bool,
        stale_days: int,
    ) -> list[int]:
        table, part = self.table(section), self._parts[section]
        key = (sorting, announced_among)
        places = part.orders.get(key)
        if places is None:
            places = part.orders[key] = order_places(table, sorting, announced_among=announced_among)
        if not facets.active:
            return places
        rows, today = table.rows, self.today
        return [place for place in places if facets.keeps(rows[place], today, stale_days)]


#: Returns the sections of a catalog for the pages of all windows: complete ones take 9 MB.
share_sections: Final = lru_cache(maxsize=1)(CatalogSections)


_EMPTY: Final = CatalogTable(CatalogSection.ACCELERATORS, (), ())


class CatalogHeading:
    """A heading of a group of rows: a title, and a summary computed when shown."""

    def __init__(self, title: str, make_note: Callable[[], str]) -> None:
        self.title = title
        self._make_note = make_note

    @cached_property
    def note(self) -> str:
        return self._make_note()


#: A line: the position of a row in the table, or a heading.
CatalogLine = int | CatalogHeading


class CatalogModel(TableItemModel):
    """Lines over a `CatalogTable`; texts are formatted on demand."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.table = _EMPTY
        self.lines: Sequence[CatalogLine] = ()
        #: The line with a rule above it: rows from there on are not ranked; -1 for none.
        self.rule = -1
        #: The heading lines.
        self.headings: Sequence[int] = ()
        self._writer: CatalogCellFormatter | None = None
        self._today, self._stale_days = "", 0
        self._stale: dict[str | None, bool] = {}

    def show(
        self,
        table: CatalogTable,
        writer: CatalogCellFormatter,
        lines: Sequence[CatalogLine],
        *,
        headings: Sequence[int] = (),
        rule: int = -1,
    ) -> None:
        """Show these lines of a table; `headings` are the heading lines."""
        self.beginResetModel()
        self.table, self._writer, self.lines, self.rule = table, writer, lines, rule
        self.headings = headings
        self.endResetModel()

    def mark_stale(self, today: str, days: int) -> None:
        if (today, days) != (self._today, self._stale_days):
            self._today, self._stale_days = today, days
            self._stale.clear()
            if self.lines:
                self.dataChanged.emit(self.index(0, 0), self.index(len(self.lines) - 1, self.columnCount() - 1))

    def is_stale(self, row: CatalogRow) -> bool:
        stale = self._stale.get(row.date)
        if stale is None:
            stale = self._stale[row.date] = is_stale_date(row.date, self._today, self._stale_days)
        return stale

    # Looking up

    def row(self, number: int) -> CatalogRow | None:
        """Return the row in a line; None in a heading's."""
        if not 0 <= number < len(self.lines):
            return None
        line = self.lines[number]
        return self.table.rows[line] if isinstance(line, int) else None

    def column(self, number: int) -> CatalogColumn:
        return self.table.columns[number]

    def find_catalog_line(self, key: str) -> int:
        """Return the line of a row by key, -1 if it is not shown."""
        rows = self.table.rows
        return next(
            (number for number, line in enumerate(self.lines) if isinstance(line, int) and rows[line].key == key), -1
        )

    def text(self, row: CatalogRow, column: int) -> str:
        return "" if self._writer is None else self._writer.text(row, column)

    def sentence(self, number: int, column: int) -> str:
        line, row = self.lines[number], self.row(number)
        if isinstance(line, CatalogHeading):
            return f"{line.title}, {line.note}" if line.note else line.title
        if row is None or self._writer is None:
            return ""
        text = self._writer.sentence(row, column)
        old = self.column(column).kind is CatalogColumnKind.AGE and self.is_stale(row)
        return f"{text}, {tr('stale')}" if old else text

    # Display and accessibility

    def count_rows(self) -> int:
        return len(self.lines)

    def count_columns(self) -> int:
        return len(self.table.columns)

    def get_flags(self, row: int, column: int) -> Qt.ItemFlag:  # noqa: ARG002 - headings span whole lines
        return HEADING if self.row(row) is None else SELECTABLE

    def get_text(self, row: int, column: int) -> str:
        line = self.row(row)
        if line is None:
            return self.sentence(row, 0) if column == 0 else ""
        return self.text(line, column)

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:
        figures = self.column(column).kind in FIGURES
        return Qt.AlignmentFlag.AlignRight if figures else Qt.AlignmentFlag.AlignLeft

    def get_label(self, section: int, *, spoken: bool) -> str | None:  # noqa: ARG002 - one meaning for all columns
        row = self.row(section)
        return None if row is None else self.text(row, 0)

    def explain_head(self, section: int, *, across: bool) -> str:
        return explain_key(self.column(section).attribute or "") if across else ""

    def get_head(self, section: int, *, spoken: bool) -> str:
        name = describe_column if spoken else label_column
        return name(self.table.section, self.column(section))
