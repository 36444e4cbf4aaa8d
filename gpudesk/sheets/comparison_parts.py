"""The parts of the comparison table: groups of rows, with everything that a cell says, but no layout.

All texts are in their final digits. Values beside them are in the units on display, with all their digits,
for sorting and for spreadsheets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from gpudesk.domain.estimates import Basis
from gpudesk.sheets.sheet import Mark


class Origin(StrEnum):
    """Where the figures of a row come from, which is what explains them."""

    #: An attribute of each part, from the catalog.
    ATTRIBUTE = "attribute"
    #: A figure of each estimate.
    FIGURE = "figure"


@dataclass(frozen=True, slots=True)
class Reference:
    """What stands behind a figure: the name of an attribute, or of a figure that can be explained."""

    origin: Origin
    name: str


@dataclass(frozen=True, slots=True)
class ComparedCell:
    """One figure or word of one column.

    `value`, `low` and `high` are in the row's unit; `value` is None where nothing is known, and then
    `reason` says in two or three words why, `explanation` in a sentence where there is more to say.
    `second` is another line under the figure, as `band` is. `delta` is what it says against the baseline.
    `disputed` is the number of claims where they differ, else 0. `own` says that the user states the value or
    chose it among the claims.
    """

    text: str
    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    band: str | None = None
    second: str | None = None
    delta: str | None = None
    reason: str | None = None
    explanation: str | None = None
    mark: Mark | None = None
    disputed: int = 0
    own: bool = False
    basis: Basis | None = None

    @property
    def line_below(self) -> str | None:
        """The line under the figure: the band, or a second form of the figure."""
        return self.band or self.second

    @property
    def is_figure(self) -> bool:
        """Whether it holds a number, which can be compared and calculated with."""
        return isinstance(self.value, int | float)


@dataclass(frozen=True, slots=True)
class ComparedRow:
    """One line of the table. `more_is_better` is None where neither more nor less is."""

    key: str
    label: str
    unit: str | None
    cells: tuple[ComparedCell, ...]
    reference: Reference
    more_is_better: bool | None = None

    def differs(self, positions: Sequence[int]) -> bool:
        """Return whether one of these columns says another thing than the rest of them."""
        cells = [self.cells[position] for position in positions]
        return len({(cell.text, cell.reason, cell.line_below) for cell in cells}) > 1

    @property
    def has_second_line(self) -> bool:
        """Whether some cell has a line under its figure."""
        return any(cell.line_below for cell in self.cells)


@dataclass(frozen=True, slots=True)
class ComparedGroup:
    """Rows under one heading; `note` says on what conditions they hold."""

    key: str
    title: str
    rows: tuple[ComparedRow, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ComparedHead:
    """The head of a column. `key` tells it from all others; `slot` is its place in the palette."""

    key: str
    name: str
    detail: str
    slot: int
    hollow: bool
    announced: bool = False


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """All that is known of the parts of a scenario side by side; the first column is the baseline."""

    heads: tuple[ComparedHead, ...]
    groups: tuple[ComparedGroup, ...]

    @property
    def rows(self) -> tuple[ComparedRow, ...]:
        """The rows of all groups."""
        return tuple(row for group in self.groups for row in group.rows)
