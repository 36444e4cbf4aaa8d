"""The comparison as values: the same rows and cells for screen, paper, terminal and files; the sheet.

Texts have their final digits. The values stored with them are in display units, with all digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from gpudesk.domain.answer import Answer, ComparisonColumn, assign_palette_indexes, find_variants, make_column_keys
from gpudesk.domain.decision import RuleEffect
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.labels import list_column_names
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.report.rack_drawing import FleetSketch

#: Prefix of changes from a baseline.
_SIGNS: Final = ("+", "-", "\N{MINUS SIGN}")
#: The most steps on the scale of throughput.
_MOST_TICKS: Final = 5


class CellMarking(StrEnum):
    """The highlighting of a cell in its row."""

    BEST = "best"
    #: Among the best, which are too close to call.
    TIED = "tied"
    #: Too close to call among more than two, or in the whole row.
    OPEN = "open"
    #: Requests wait, so that the figure is not compared.
    QUEUES = "queues"
    #: The accelerator cannot do what is asked.
    FAILS = "fails"


#: Marks of figures that are too close to call.
TIES: Final = frozenset({CellMarking.TIED, CellMarking.OPEN})


def label_tie() -> str:
    """Return the word next to a figure that is too close to call with others."""
    return tr("tie")


class RowOrigin(StrEnum):
    """The origin of a row's figures, which also explains them."""

    #: An attribute of each accelerator, from the catalog.
    ATTRIBUTE = "attribute"
    #: A figure of each estimate.
    FIGURE = "figure"


@frozen_dataclass
class RowReference:
    """The source behind a figure: the name of an attribute, or of an explainable figure."""

    origin: RowOrigin
    name: str


@frozen_dataclass
class ComparisonCell:
    """One figure or word of one column.

    `value`, `low` and `high` are in the row's unit; `value` is None if unknown, with a short `reason` and, if needed,
    an `explanation` in a sentence. `low_text` and `high_text` are the ends of an interval, `detail` is a second line of
    another kind. `delta` is the difference from the baseline, `notes` are numbers of notes at the foot of a sheet.
    `disputed` is the number of claims if they differ, else 0. `own` marks a value that the user stated or chose.
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
        """The line below the figure: a second form of the figure, or its interval."""
        return self.detail or self.band

    @property
    def is_figure(self) -> bool:
        """Whether it holds a number for comparison and calculation."""
        return isinstance(self.value, int | float)


@frozen_dataclass
class ComparisonRow:
    """One line: a label with its unit and one cell for each column.

    `key` is unique in its table and independent of the language. `more_is_better` is None if neither is. `detail` is
    additional text below the label.
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


@frozen_dataclass
class ComparisonGroup:
    """Rows below one heading; `note` states their conditions."""

    key: str
    title: str
    rows: tuple[ComparisonRow, ...]
    note: str = ""


@frozen_dataclass
class ComparisonHead:
    """The head of a column: the accelerator, and its description.

    `key` is unique. `slot` is its palette index; an accelerator that occurs further left too has an `is_variant`
    marker.
    """

    key: str
    name: str
    detail: str
    slot: int
    is_variant: bool = False
    announced: bool = False


def build_heads(answer: Answer, describe: Callable[[ComparisonColumn], str]) -> tuple[ComparisonHead, ...]:
    """Return the heads of all columns; `describe` returns the details below a name."""
    choices = answer.scenario.accelerators
    looks = zip(
        make_column_keys(choices),
        list_column_names(answer),
        answer.columns,
        assign_palette_indexes(choices),
        find_variants(choices),
        strict=True,
    )
    return tuple(
        ComparisonHead(key, name, describe(column), slot, is_variant, column.accelerator.announced)
        for key, name, column, slot, is_variant in looks
    )


@frozen_dataclass
class ComparisonTable:
    """Groups of rows below the heads of the columns; the first column is the baseline."""

    heads: tuple[ComparisonHead, ...]
    groups: tuple[ComparisonGroup, ...]
    title: str = ""

    @property
    def rows(self) -> tuple[ComparisonRow, ...]:
        return tuple(row for group in self.groups for row in group.rows)


#: An empty table.
NO_TABLE: Final = ComparisonTable((), ())


@frozen_dataclass
class HeadlineLeader:
    """A leading column, or one of those without a leader; `key` is that of the column."""

    key: str
    name: str
    slot: int
    is_variant: bool


@frozen_dataclass
class UnrankedLead:
    """How an unranked accelerator that is announced or queues would compare: as a sentence, and briefly."""

    text: str = ""
    brief: str = ""


@frozen_dataclass
class Headline:
    """One question of the comparison with its answer and further details.

    `mark` shows a tie among the leaders, or that some do not fit. `unranked` states that an accelerator that is
    announced, or on which requests queue, would lead.
    """

    figure: str
    label: str
    leaders: tuple[HeadlineLeader, ...]
    text: str
    unit: str
    detail: str
    mark: CellMarking | None = None
    unranked: UnrankedLead = UnrankedLead()
    #: The odds of each to be the best, adding up to 1, the highest first; empty if the figure is exact.
    odds: tuple[tuple[HeadlineLeader, float], ...] = ()
    spoken_odds: str = ""

    @property
    def is_open(self) -> bool:
        return self.mark is CellMarking.OPEN

    @property
    def winner(self) -> HeadlineLeader | None:
        return self.leaders[0] if self.mark is None and len(self.leaders) == 1 else None


@frozen_dataclass
class LabeledValue:
    """A label with its value: one assumption, or one item of the foot."""

    label: str
    value: str


@frozen_dataclass
class SheetNote:
    """A numbered note to marked cells."""

    number: int
    text: str


@frozen_dataclass
class SheetRemark:
    """A remark on one accelerator, or on all (`subject` empty)."""

    subject: str
    text: str


@frozen_dataclass
class SheetSource:
    """A numbered source."""

    number: int
    title: str
    publisher: str
    kind: str
    date: str | None
    url: str | None


@frozen_dataclass
class SheetDispute:
    """Two statements that cannot both hold, and the verdict."""

    subject: str
    disagreement: str
    verdict: str
    reason: str


@frozen_dataclass
class SheetMemoryBar:
    """The memory breakdown of one accelerator in GiB, for drawing; `label` is the capacity as text.

    `needed` is the total as text, if it exceeds the capacity.
    """

    slot: int
    name: str
    parts: tuple[tuple[str, float], ...]
    capacity: float
    label: str
    needed: str | None = None

    @property
    def extent(self) -> float:
        return max(self.capacity, sum(size for _, size in self.parts))


@frozen_dataclass
class ThroughputSeries:
    """One accelerator's output tokens/s by concurrency, with its interval, for drawing."""

    slot: int
    name: str
    concurrency: tuple[int, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    is_variant: bool = False


@frozen_dataclass
class ThroughputPlane:
    """Maps requests in flight (logarithmic) and tokens/s (from zero) to positions on a drawing.

    `step` divides the scale of tokens/s, and `ticks` are powers of two, thinned to the available room.
    """

    left: float
    right: float
    top: float
    bottom: float
    most_x: float
    step: float
    step_count: int

    def x(self, concurrency: float) -> float:
        return self.left + (self.right - self.left) * math.log(concurrency) / math.log(self.most_x)

    def y(self, rate: float) -> float:
        return self.bottom - (self.bottom - self.top) * rate / (self.step_count * self.step)

    @property
    def ticks(self) -> list[int]:
        exponents = int(math.log2(self.most_x))
        stride = max(1, math.ceil((exponents + 1) / 6))
        return [2**exponent for exponent in range(0, exponents + 1, stride)]


def make_throughput_plane(series: Sequence[ThroughputSeries], concurrency: int | None) -> ThroughputPlane:
    """Return the plane of curves and a load, without positions: the smallest round step of which a few suffice."""
    highest = max(max(each.high) for each in series)
    rough = highest / _MOST_TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1.0, 2.0, 2.5, 5.0, 10.0) if factor * power >= rough)
    longest = max(2, *(max(each.concurrency) for each in series), concurrency or 1)
    return ThroughputPlane(0.0, 1.0, 0.0, 1.0, float(longest), step, math.ceil(highest / step))


def spread_labels(positions: Sequence[float], pitch: float, top: float, bottom: float) -> list[float]:
    """Return positions in rising order at least `pitch` apart, near the wanted ones and within the bounds."""
    places: list[float] = []
    for place in positions:
        places.append(max(place, places[-1] + pitch if places else top))
    limit = bottom
    for number in range(len(places) - 1, -1, -1):
        places[number] = min(places[number], limit)
        limit = places[number] - pitch
    return places


@frozen_dataclass
class SheetDerivation:
    """The derivation of a figure: its formulas in words, and for each accelerator their numbers."""

    figure: str
    formulas: str
    lines: tuple[tuple[str, str], ...]


@frozen_dataclass
class SheetCandidate:
    """A compared deployment `8 × H100 SXM`: its figure by the objective, and its odds to be the best, from 0 to 1.

    `full_value` also has the limits that it may miss, which lower its odds; a sheet has it as `value`. `key` is that of
    its column, `slot` the palette index on a sheet.
    """

    key: str
    deployment: str
    value: str
    full_value: str
    odds: float
    odds_text: str
    slot: int = 0


@frozen_dataclass
class SheetRecommendation:
    """The recommended accelerator: the verdict, the reasons, the candidates with their odds, and further lines.

    `slot` is that of the recommended accelerator, None without one. `lines` are grouped by subject.
    """

    verdict: str
    reason: str
    candidates: tuple[SheetCandidate, ...]
    lines: tuple[SheetRemark, ...]
    slot: int | None = None
    is_variant: bool = False


@frozen_dataclass
class SheetTraceRow:
    """A rule that fired: its text, its strength, its basis, its document, its weight.

    The figures of `row` have no signs; `effects` are the rule's effects on each accelerator.
    """

    rule: str
    strength: str
    answer: str
    source: str
    weight: str
    row: ComparisonRow
    effects: tuple[RuleEffect, ...]


@frozen_dataclass
class SheetFleet:
    """The fleets for a demand: the answer, its order in a line, the size and cost of each, their racks."""

    verdict: tuple[str, ...]
    order: str
    table: ComparisonTable
    sketches: tuple[FleetSketch, ...]


@frozen_dataclass
class ComparisonSheet:
    """A whole comparison as texts and figures."""

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
    #: Only on request, and shown only if there is room.
    working: tuple[SheetDerivation, ...] = ()
    #: The counts, with a sentence on each if there is a demand.
    how_many: ComparisonTable = NO_TABLE
    sizing: tuple[SheetRemark, ...] = ()
    #: The costs of the counts.
    costs: ComparisonTable = NO_TABLE
    #: The recommendation, if the user answered questions, and on request every rule that fired.
    recommendation: SheetRecommendation | None = None
    #: Sentences: the leader, its lead and the odds; then what else to know.
    verdict: tuple[str, ...] = ()
    trace: tuple[SheetTraceRow, ...] = ()
    #: If the scenario has a demand.
    fleet: SheetFleet | None = None

    @property
    def fleet_table(self) -> ComparisonTable:
        return NO_TABLE if self.fleet is None else self.fleet.table

    @property
    def heads(self) -> tuple[ComparisonHead, ...]:
        return self.table.heads
