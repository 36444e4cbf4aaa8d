"""What the catalog page is asked to show of a section: words, facets and an order. Without Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gpudesk.domain.catalog_tables import CatalogRow, CatalogTable, ColumnKind, Section
from gpudesk.domain.claims import Kind
from gpudesk.sheets.ages import age_days
from gpudesk.sheets.catalog_cells import FIGURES, sort_key

#: What of a section can be narrowed by which facet.
FACETS: Final[dict[Section, tuple[str, ...]]] = {
    Section.ACCELERATORS: ("makers", "status", "kinds", "age", "disputes", "own"),
    Section.MODELS: ("makers", "kinds", "age", "disputes", "own"),
    Section.DIFFUSION: ("kinds", "age", "disputes"),
    Section.PRICES: ("makers", "kinds", "age", "own"),
    Section.CLAIMS: ("makers", "kinds", "age", "disputes", "own"),
    Section.DISPUTES: (),
    Section.SOURCES: ("makers", "kinds", "age", "own"),
    Section.YOURS: (),
}


@dataclass(frozen=True, slots=True)
class Facets:
    """What narrows a section. Empty sets and None narrow nothing.

    `newer_than` is in days; `stale` leaves only what the rule calls stale.
    """

    makers: frozenset[str] = frozenset()
    kinds: frozenset[Kind] = frozenset()
    shipping: bool = False
    newer_than: int | None = None
    stale: bool = False
    disputes: bool = False
    own: bool = False

    @property
    def active(self) -> bool:
        """Whether anything is narrowed."""
        return self != Facets()

    def keeps(self, row: CatalogRow, today: str, stale_days: int) -> bool:
        """Return whether a row is among what is asked for."""
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
        age = age_days(row.date, today)
        if age is None:
            return False
        return age > stale_days if self.stale else self.newer_than is None or age <= self.newer_than


@dataclass(frozen=True, slots=True)
class Sorting:
    """The column that rows are ordered by."""

    column: str
    descending: bool


def next_sorting(sorting: Sorting | None, column: str, *, largest_first: bool) -> Sorting | None:
    """Return what asking for a column leads to: one way, then the other, then the order of the catalog."""
    if sorting is None or sorting.column != column:
        return Sorting(column, largest_first)
    return replace(sorting, descending=not largest_first) if sorting.descending == largest_first else None


def largest_first(kind: ColumnKind) -> bool:
    """Return whether asking for a column means its largest values first: figures and dates."""
    return kind in FIGURES or kind is ColumnKind.DATE


def ordered(table: CatalogTable, sorting: Sorting | None, *, announced_among: bool = False) -> list[int]:
    """Return the places of all rows in an order; unknown values are last both ways.

    Sorted by a figure, announced rows come after all others unless they are to stand among them. Equals
    stay in the order of the catalog.
    """
    places = list(range(len(table.rows)))
    position = -1 if sorting is None else table.place(sorting.column)
    if sorting is None or position < 0:
        return places
    column, rows = table.columns[position], table.rows
    known = [place for place in places if rows[place].values[position] is not None]
    keys: dict[int, Any] = {
        place: sort_key(rows[place].values[position], rows[place], column) for place in known
    }
    # The older the earlier: ages run against their dates.
    known.sort(key=keys.__getitem__, reverse=sorting.descending != (column.kind is ColumnKind.AGE))
    unknown = [place for place in places if rows[place].values[position] is None]
    result = known + unknown
    if column.kind in (ColumnKind.FIGURE, ColumnKind.MONEY) and not announced_among:
        return [p for p in result if not rows[p].announced] + [p for p in result if rows[p].announced]
    return result


def matching(texts: Sequence[str], places: Sequence[int], words: str) -> list[int]:
    """Return the places whose texts hold all words; `texts` are in small letters."""
    found = list(places)
    for word in words.casefold().split():
        found = [place for place in found if word in texts[place]]
    return found


def ranked_end(table: CatalogTable, places: Sequence[int], sorting: Sorting | None) -> int:
    """Return where the announced rows begin that stand after all others; -1 where none do."""
    if sorting is None:
        return -1
    position = table.place(sorting.column)
    if position < 0 or table.columns[position].kind not in (ColumnKind.FIGURE, ColumnKind.MONEY):
        return -1
    tail = len(places)
    while tail and table.rows[places[tail - 1]].announced:
        tail -= 1
    return tail if 0 < tail < len(places) else -1
