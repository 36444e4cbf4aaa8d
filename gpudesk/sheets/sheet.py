"""The parts of a sheet: texts in their final digits and order, without any layout."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpudesk.domain.decisions import Effect


class Mark(StrEnum):
    """What distinguishes a cell in its row."""

    BEST = "best"
    #: Among the best, and nobody wins: the differences between them are within their bands.
    TIED = "tied"
    #: Nobody wins in the whole row, or not against the baseline.
    OPEN = "open"
    #: The accelerator cannot do what is asked.
    FAILS = "fails"


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure or word. `low` and `high` are its band, `detail` is a second line of another kind.

    `notes` are numbers of notes at the foot.
    """

    text: str
    low: str | None = None
    high: str | None = None
    detail: str | None = None
    mark: Mark | None = None
    notes: tuple[int, ...] = ()

    @property
    def band(self) -> str | None:
        """The interval as text."""
        return None if self.low is None else f"{self.low} – {self.high}"


@dataclass(frozen=True, slots=True)
class Row:
    """A label with its unit and one cell for each accelerator."""

    label: str
    unit: str | None
    cells: tuple[Cell, ...]
    #: Further words about the label, below it.
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under one heading."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column: the accelerator, its architecture and form.

    `slot` is its place in the palette; a part that stands further left too is told by a `hollow` marker.
    """

    name: str
    detail: str
    slot: int
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Groups of rows under the heads of the accelerators."""

    title: str
    groups: tuple[Group, ...]


#: A table that has nothing to say.
NO_TABLE: Final = Table("", ())


@dataclass(frozen=True, slots=True)
class Fact:
    """A label with its value: one assumption, or one item of the foot."""

    label: str
    value: str


@dataclass(frozen=True, slots=True)
class Headline:
    """One question of the comparison with its answer in a word and its figures.

    `slot` is that of the winner. `mark` tells where there is none: nobody wins, or some do not fit.
    """

    question: str
    answer: str
    detail: str
    slot: int | None = None
    hollow: bool = False
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """A numbered note to marked cells."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """What is to be said about one accelerator, or about all (`subject` empty)."""

    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """A numbered source."""

    number: int
    title: str
    publisher: str
    kind: str
    date: str | None
    url: str | None


@dataclass(frozen=True, slots=True)
class DisputeEntry:
    """Two statements that cannot both hold, and the verdict."""

    subject: str
    disagreement: str
    verdict: str
    reason: str


@dataclass(frozen=True, slots=True)
class MemoryBar:
    """The parts of one accelerator's memory in GiB, for drawing; `label` is the capacity as text.

    `needed` is what all parts take as text, where they do not fit.
    """

    slot: int
    name: str
    parts: tuple[tuple[str, float], ...]
    capacity: float
    label: str
    needed: str | None = None
    hollow: bool = False

    @property
    def extent(self) -> float:
        """GiB that a drawing has to have room for."""
        return max(self.capacity, sum(size for _, size in self.parts))


@dataclass(frozen=True, slots=True)
class Series:
    """One accelerator's output tokens/s against requests in flight, with its band, for drawing."""

    slot: int
    name: str
    concurrency: tuple[int, ...]
    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Working:
    """How a figure comes about: its formulas in words, and for each part the numbers in them."""

    figure: str
    formulas: str
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Share:
    """In which share of the draws, from 0 to 1, an accelerator leads."""

    name: str
    share: float
    slot: int
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class Recommendation:
    """Which accelerator to take: the verdict, why, how firm that is, and what there is to say of it.

    `slot` is that of the accelerator that is recommended, None where nobody wins. `lines` are grouped by
    their subjects.
    """

    verdict: str
    reason: str
    firm: str
    shares: tuple[Share, ...]
    shares_said: str
    lines: tuple[Remark, ...]
    slot: int | None = None
    hollow: bool = False


@dataclass(frozen=True, slots=True)
class TraceRow:
    """A rule that fired: what it says, its strength, what it rests on, its document, its weight.

    The figures of `row` are without signs; `effects` are what the rule does to each accelerator.
    """

    rule: str
    strength: str
    answer: str
    source: str
    weight: str
    row: Row
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A whole comparison in words and figures."""

    title: str
    note: str
    date: str | None
    assumptions: tuple[Fact, ...]
    headlines: tuple[Headline, ...]
    heads: tuple[Head, ...]
    table: Table
    whose: Table
    key: tuple[str, ...]
    notes: tuple[Note, ...]
    remarks: tuple[Remark, ...]
    memory: tuple[MemoryBar, ...]
    throughput: tuple[Series, ...]
    concurrency: int | None
    disputes: tuple[DisputeEntry, ...]
    sources: tuple[SourceEntry, ...]
    foot: tuple[Fact, ...]
    #: Only where it was asked for, and shown only where there is room.
    working: tuple[Working, ...] = ()
    #: How many are needed, and a sentence about each where users ask for something.
    how_many: Table = NO_TABLE
    sizing: tuple[Remark, ...] = ()
    #: What that costs.
    costs: Table = NO_TABLE
    #: Which to take, and every rule that fired, where the user answered questions.
    recommendation: Recommendation | None = None
    trace: tuple[TraceRow, ...] = ()
