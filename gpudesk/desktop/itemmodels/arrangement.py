"""How the user has arranged the comparison table: what is hidden, what is filtered, in which order.

Pure functions: from a table and an arrangement to the lines and columns that are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from gpudesk.sheets.comparison_parts import ComparedGroup, ComparedRow, ComparisonTable
from gpudesk.sheets.comparison_words import searched


@dataclass(frozen=True, slots=True)
class Sorting:
    """Columns in the order of their values in the row of this key."""

    row: str
    descending: bool


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What of the table is shown, and in which order.

    `row_order` holds the keys of rows that were moved, all of their group. Columns are hidden by their key.
    """

    differences_only: bool = False
    filter: str = ""
    hidden_rows: frozenset[str] = frozenset()
    row_order: tuple[str, ...] = ()
    hidden_columns: frozenset[str] = frozenset()
    sorting: Sorting | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the view: a row, or the heading of its group."""

    group: ComparedGroup
    row: ComparedRow | None

    @property
    def key(self) -> str:
        """What tells the line from all others, whatever stands in it."""
        return f"group:{self.group.key}" if self.row is None else self.row.key

    @property
    def has_second_line(self) -> bool:
        """Whether some cell of the line has a line under its figure."""
        return self.row is not None and self.row.has_second_line


def lines(table: ComparisonTable, arrangement: Arrangement) -> tuple[Line, ...]:
    """Return the lines that are shown, headings included; a group without rows has no heading."""
    shown: list[Line] = []
    positions = columns(table, arrangement)
    words = arrangement.filter.casefold().split()
    for group in table.groups:
        rows = [
            row
            for row in ordered(group.rows, arrangement.row_order)
            if row.key not in arrangement.hidden_rows
            and _passes(row, group, words, positions, differences_only=arrangement.differences_only)
        ]
        if rows:
            shown += [Line(group, None), *(Line(group, row) for row in rows)]
    return tuple(shown)


def _passes(
    row: ComparedRow,
    group: ComparedGroup,
    words: Sequence[str],
    positions: Sequence[int],
    *,
    differences_only: bool,
) -> bool:
    """Whether a row has all words that are looked for; of one column all rows count as differing."""
    if differences_only and len(positions) > 1 and not row.differs(positions):
        return False
    if not words:
        return True
    text = searched(row, group.title)
    return all(word in text for word in words)


def ordered(rows: Iterable[ComparedRow], order: Sequence[str]) -> tuple[ComparedRow, ...]:
    """Return rows as the user has ordered them; one without a place follows the row before it."""
    natural = list(rows)
    places = {key: place for place, key in enumerate(order)}
    placed = sorted((row for row in natural if row.key in places), key=lambda row: places[row.key])
    previous: ComparedRow | None = None
    for row in natural:
        if row.key not in places:
            placed.insert(0 if previous is None else placed.index(previous) + 1, row)
        previous = row
    return tuple(placed)


def moved(table: ComparisonTable, arrangement: Arrangement, key: str, step: int) -> Arrangement:
    """Return the arrangement with a row moved past its neighbour that is shown, up (-1) or down (1)."""
    shown = [line.key for line in lines(table, arrangement) if line.row is not None]
    group = next((group for group in table.groups if any(row.key == key for row in group.rows)), None)
    if group is None:
        return arrangement
    keys = [row.key for row in ordered(group.rows, arrangement.row_order)]
    visible = [each for each in keys if each in shown]
    if key not in visible or not 0 <= visible.index(key) + step < len(visible):
        return arrangement
    neighbour = visible[visible.index(key) + step]
    keys.remove(key)
    keys.insert(keys.index(neighbour) + (1 if step > 0 else 0), key)
    others = tuple(each for each in arrangement.row_order if each not in keys)
    return replace(arrangement, row_order=(*others, *keys))


def columns(table: ComparisonTable, arrangement: Arrangement) -> tuple[int, ...]:
    """Return the positions of the columns that are shown, in the order in which they are."""
    shown = [
        position for position, head in enumerate(table.heads) if head.key not in arrangement.hidden_columns
    ]
    sorting = arrangement.sorting
    row = None if sorting is None else find_row(table, sorting.row)
    if sorting is None or row is None:
        return tuple(shown)
    known = [position for position in shown if row.cells[position].value is not None]
    unknown = [position for position in shown if row.cells[position].value is None]
    numbers = all(row.cells[position].is_figure for position in known)

    def value(position: int) -> tuple[float, str]:
        cell = row.cells[position]
        return (float(cell.value or 0), "") if numbers else (0.0, cell.text.casefold())

    # Python sorts stably in reverse too: equals stay in the order of the scenario both ways.
    return (*sorted(known, key=value, reverse=sorting.descending), *unknown)


def find_row(table: ComparisonTable, key: str) -> ComparedRow | None:
    """Return the row of a key, wherever it stands."""
    return next((row for group in table.groups for row in group.rows if row.key == key), None)


def next_sorting(table: ComparisonTable, sorting: Sorting | None, key: str) -> Sorting | None:
    """Return what asking for a row leads to: the best first, then the reverse, then the scenario's order."""
    row = find_row(table, key)
    best_first = row is None or (row.more_is_better is not False and any(c.is_figure for c in row.cells))
    if sorting is None or sorting.row != key:
        return Sorting(key, best_first)
    return Sorting(key, not best_first) if sorting.descending == best_first else None
