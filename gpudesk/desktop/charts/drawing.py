"""What a chart asks its plot to show, as data: curves, marks, a line across, a limit, a read-out."""

from __future__ import annotations

from dataclasses import dataclass

from gpudesk.desktop.charts.lines import Line


@dataclass(frozen=True, slots=True)
class Mark:
    """A point that is read off: a circle on a curve, or the slot's `marker`; `text` stands beside it."""

    key: str
    slot: int
    x: float
    y: float
    hollow: bool = False
    marker: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across the plot at a value of `x`: the working line, or dashed with a tab to read off.

    `text` is what its tick says.
    """

    value: float
    text: str
    read_off: bool = False
    movable: bool = True


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound on `y` that the load sets, with its words."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class ReadOutRow:
    """One accelerator's figures: the first cell is the figure, the others say more."""

    key: str
    slot: int
    hollow: bool
    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadOut:
    """Figures at one place, in the order in which they are to be read; `heads` name the cells."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[ReadOutRow, ...]


@dataclass(frozen=True, eq=False)
class Drawing:
    """Everything that a plot shows. `note` is said in its middle where there is nothing to draw."""

    lines: tuple[Line, ...] = ()
    ghosts: tuple[Line, ...] = ()
    marks: tuple[Mark, ...] = ()
    rule: Rule | None = None
    limit: Limit | None = None
    read_out: ReadOut | None = None
    note: str = ""
