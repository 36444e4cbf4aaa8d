"""The comparison as values: one kind of rows and cells for screen, paper, terminal and files; the sheet.

All texts are in their final digits. Values beside them are in the units on display, with all their digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from gpudesk.domain.decision import RuleEffect
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.report.rack_drawing import FleetSketch

#: What changes against a baseline begin with.
_SIGNS: Final = ("+", "-", "\N{MINUS SIGN}")


class CellMarking(StrEnum):
    """What distinguishes a cell in its row."""

    BEST = "best"
    #: Among the best, which are too close to call.
    TIED = "tied"
    #: Too close to call among more than two, or in the whole row.
    OPEN = "open"
    #: Requests wait, so that the figure is not compared.
    QUEUES = "queues"
    #: The accelerator cannot do what is asked.
    FAILS = "fails"


class RowOrigin(StrEnum):
    """Where the figures of a row come from, which is what explains them."""

    #: An attribute of each accelerator, from the catalog.
    ATTRIBUTE = "attribute"
    #: A figure of each estimate.
    FIGURE = "figure"


@dataclass(frozen=True, slots=True)
class RowReference:
    """What stands behind a figure: the name of an attribute, or of a figure that can be explained."""

    origin: RowOrigin
    name: str


@dataclass(frozen=True, slots=True)
class ComparisonCell:
    """One figure or word of one column.

    `value`, `low` and `high` are in the row's unit; `value` is None if nothing is known, and then
    `reason` says in two or three words why, `explanation` in a sentence where there is more to say.
    `low_text` and `high_text` are the ends of a band, `detail` is a second line of another kind. `delta` is what
    the figure says against the baseline, `notes` are numbers of notes at the foot of a sheet. `disputed` is the
    number of claims where they differ, else 0. `own` says that the user states the value or chose it.
    """

    text: str
    value: float | str | None = None
    low: float | None = None
    high: float | None = None
    low_text: str | None = None
    high_text: str | None = None
    detail: str | None = None
    delta: str | None = None
    reason: str | None = None
    explanation: str | None = None
    mark: CellMarking | None = None
    notes: tuple[int, ...] = ()
    disputed: int = 0
    own: bool = False
    basis: EstimateBasis | None = None

    @property
    def band(self) -> str | None:
        if self.low_text is None:
            return None
        if self.low_text[:1] in _SIGNS:
            return tr("{low} to {high}", low=self.low_text, high=self.high_text)
        return f"{self.low_text} – {self.high_text}"

    @property
    def line_below(self) -> str | None:
        """The line under the figure: the band, or a second form of the figure."""
        return self.band or self.detail

    @property
    def is_figure(self) -> bool:
        """Whether it holds a number, which can be compared and calculated with."""
        return isinstance(self.value, int | float)


@dataclass(frozen=True, slots=True)
class ComparisonRow:
    """One line: a label with its unit and one cell for each column.

    `key` tells it from all others of its table and stays the same in every language. `more_is_better` is None
    where neither more nor less is. `detail` are further words about the label, below it.
    """

    key: str
    label: str
    unit: str | None
    cells: tuple[ComparisonCell, ...]
    reference: RowReference | None = None
    more_is_better: bool | None = None
    detail: str = ""

    def differs(self, positions: Sequence[int]) -> bool:
        cells = [self.cells[position] for position in positions]
        return len({(cell.text, cell.reason, cell.line_below) for cell in cells}) > 1

    @property
    def has_second_line(self) -> bool:
        return any(cell.line_below for cell in self.cells)


@dataclass(frozen=True, slots=True)
class ComparisonGroup:
    """Rows under one heading; `note` says on what conditions they hold."""

    key: str
    title: str
    rows: tuple[ComparisonRow, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ComparisonHead:
    """The head of a column: the accelerator, and what it is.

    `key` tells it from all others. `slot` is its place in the palette; an accelerator that stands further left
    too is told by an `is_variant` marker.
    """

    key: str
    name: str
    detail: str
    slot: int
    is_variant: bool = False
    announced: bool = False


@dataclass(frozen=True, slots=True)
class ComparisonTable:
    """Groups of rows under the heads of the columns, of which the first is the baseline."""

    heads: tuple[ComparisonHead, ...]
    groups: tuple[ComparisonGroup, ...]
    title: str = ""

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        return tuple(row for group in self.groups for row in group.rows)


#: A table that has nothing to say.
NO_TABLE: Final = ComparisonTable((), ())


@dataclass(frozen=True, slots=True)
class HeadlineLeader:
    """A column that leads, or one of those that nobody beats; `key` is that of the column."""

    key: str
    name: str
    slot: int
    is_variant: bool


@dataclass(frozen=True, slots=True)
class AnnouncedLead:
    """What an announced accelerator that is not ranked would be: in a sentence, and where there is little room."""

    text: str = ""
    brief: str = ""


@dataclass(frozen=True, slots=True)
class Headline:
    """One question of the comparison with its answer in a word and what there is to say of it.

    `mark` tells where nobody wins among the leaders, or where some do not fit. `announced` says of an announced
    accelerator, which is not ranked beside shipping ones, that it would lead.
    """

    figure: str
    label: str
    leaders: tuple[HeadlineLeader, ...]
    text: str
    unit: str
    detail: str
    mark: CellMarking | None = None
    announced: AnnouncedLead = AnnouncedLead()
    #: The odds of each to be the best, adding up to 1, the most first; empty if the figure is exact.
    odds: tuple[tuple[HeadlineLeader, float], ...] = ()
    spoken_odds: str = ""

    @property
    def is_open(self) -> bool:
        return self.mark is CellMarking.OPEN

    @property
    def winner(self) -> HeadlineLeader | None:
        return self.leaders[0] if self.mark is None and len(self.leaders) == 1 else None


@dataclass(frozen=True, slots=True)
class LabeledValue:
    """A label with its value: one assumption, or one item of the foot."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class SheetNote:
    """A numbered note to marked cells."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class SheetRemark:
    """What is to be said about one accelerator, or about all (`subject` empty)."""

    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class SheetSource:
    """A numbered source."""

    number: int
    title: str
    publisher: str
    kind: str
    date: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class SheetDispute:
    """Two statements that cannot both hold, and the verdict."""

    subject: str
    disagreement: str
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class SheetMemoryBar:
    """The parts of one accelerator's memory in GiB, for drawing; `label` is the capacity as text.

    `needed` is what all parts take as text, where they do not fit.
    """

    slot: int
    name: str
    parts: tuple[tuple[str, float], ...]
    capacity: float
    label: str
    needed: str | None = None
    is_variant: bool = False

    @property
    def extent(self) -> float:
        return max(self.capacity, sum(size for _, size in self.parts))


@dataclass(frozen=True, slots=True)
class ThroughputSeries:
    """One accelerator's output tokens/s against requests in flight, with its band, for drawing."""

    slot: int
    name: str
    concurrency: tuple[int, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    is_variant: bool = False


@dataclass(frozen=True, slots=True)
class SheetWorking:
    """How a figure comes about: its formulas in words, and for each part the numbers in them."""

    figure: str
    formulas: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SheetCandidate:
    """A deployment that is compared: its figure by the objective, and its odds to be the best, from 0 to 1."""

    deployment: str
    value: str
    odds: float
    odds_text: str
    slot: int
    is_variant: bool = False


@dataclass(frozen=True, slots=True)
class SheetRecommendation:
    """Which accelerator to take: the verdict, why, what is compared with its odds, and what there is to say of it.

    `slot` is that of the accelerator that is recommended, None if none is. `lines` are grouped by their
    subjects.
    """

    verdict: str
    reason: str
    candidates: tuple[SheetCandidate, ...]
    lines: tuple[SheetRemark, ...]
    slot: int | None = None
    is_variant: bool = False


@dataclass(frozen=True, slots=True)
class SheetTraceRow:
    """A rule that fired: what it says, its strength, what it rests on, its document, its weight.

    The figures of `row` are without signs; `effects` are what the rule does to each accelerator.
    """

    rule: str
    strength: str
    answer: str
    source: str
    weight: str
    row: ComparisonRow
    effects: tuple[RuleEffect, ...]


@dataclass(frozen=True, slots=True)
class SheetFleet:
    """The fleets for a demand: the answer in a sentence or two, what each takes and costs, and their racks."""

    verdict: str
    table: ComparisonTable
    sketches: tuple[FleetSketch, ...]


@dataclass(frozen=True, slots=True)
class ComparisonSheet:
    """A whole comparison in words and figures."""

    title: str
    note: str
    date: str | None
    assumptions: tuple[LabeledValue, ...]
    headlines: tuple[Headline, ...]
    table: ComparisonTable
    whose: ComparisonTable
    key: tuple[str, ...]
    notes: tuple[SheetNote, ...]
    remarks: tuple[SheetRemark, ...]
    memory: tuple[SheetMemoryBar, ...]
    throughput: tuple[ThroughputSeries, ...]
    concurrency: int | None
    disputes: tuple[SheetDispute, ...]
    sources: tuple[SheetSource, ...]
    foot: tuple[LabeledValue, ...]
    #: Only where it was asked for, and shown only where there is room.
    working: tuple[SheetWorking, ...] = ()
    #: How many are needed, and a sentence about each where users ask for something.
    how_many: ComparisonTable = NO_TABLE
    sizing: tuple[SheetRemark, ...] = ()
    #: What that costs.
    costs: ComparisonTable = NO_TABLE
    #: Which to take, where the user answered questions, and on request every rule that fired.
    recommendation: SheetRecommendation | None = None
    #: Who leads, by how much and with which odds, in a sentence or two.
    verdict: str = ""
    trace: tuple[SheetTraceRow, ...] = ()
    #: Where the scenario has a demand.
    fleet: SheetFleet | None = None

    @property
    def fleet_table(self) -> ComparisonTable:
        return NO_TABLE if self.fleet is None else self.fleet.table

    @property
    def heads(self) -> tuple[ComparisonHead, ...]:
        return self.table.heads
