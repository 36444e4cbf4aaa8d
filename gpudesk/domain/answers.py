"""Answers: all results for one scenario on one catalog revision, frozen; what every output shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.claims import Attribute, Dispute
from gpudesk.domain.estimates import Banded, Estimate
from gpudesk.domain.messages import Message
from gpudesk.domain.models import Model
from gpudesk.domain.scenarios import AcceleratorChoice, Scenario


@dataclass(frozen=True, slots=True)
class Term:
    """One node of a derivation: a quantity, the formula that gives it, and the terms that enter.

    `formula` holds its inputs by their names (`domain.formulas`), or says in words what no formula would;
    `unit` is the unit used inside; `source` names the claim, constant or setting that a leaf comes from.
    """

    name: str
    value: float | str | None
    unit: str | None = None
    formula: str | None = None
    source: str | None = None
    inputs: tuple[Term, ...] = ()
    note: Message | None = None

    @property
    def number(self) -> float:
        """The value to count on with; 0 where there is none."""
        return float(self.value) if isinstance(self.value, int | float) else 0.0


@dataclass(frozen=True, slots=True)
class BandedSeries:
    """A figure with its band at each point of a curve, as plain numbers for drawing; also a row of `Banded`.

    NaN where the figure has no meaning.
    """

    value: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    @classmethod
    def of(cls, figures: Iterable[Banded]) -> BandedSeries:
        """Return the series of figures that are given one by one."""
        value, low, high = zip(*figures, strict=True)
        return cls(value, low, high)

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.value)

    def __getitem__(self, position: int) -> Banded:
        """Return the figure at a point."""
        return Banded(self.value[position], self.low[position], self.high[position])

    def __iter__(self) -> Iterator[Banded]:
        """Yield the figure at each point."""
        return map(Banded, self.value, self.low, self.high)


@dataclass(frozen=True, slots=True)
class LimiterShares:
    """How the time of the run divides at each point of a curve, prefill and decode together.

    They add up to 1. The largest of them is what limits the point, except where memory admits no more.
    """

    memory_bandwidth: tuple[float, ...]
    compute: tuple[float, ...]
    interconnect: tuple[float, ...]
    overhead: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Curve:
    """Figures of one deployment against concurrency in a closed loop, whatever the load of the scenario is.

    The plan stays that of the estimate. Points lie at 1, the powers of two, the end where memory ends, the
    scenario's own concurrency (there the curve is the estimate) and between. A finite run has the same number
    of rounds at every point.
    """

    concurrency: tuple[int, ...]
    output_tokens_per_s: BandedSeries
    output_tokens_per_s_per_accelerator: BandedSeries
    ttft_ms: BandedSeries
    tpot_ms: BandedSeries
    limiter: tuple[str, ...]
    shares: LimiterShares
    max_concurrency: int


@dataclass(frozen=True, slots=True)
class Column:
    """One accelerator of the comparison: its facts, and its estimate or the reason why there is none."""

    choice: AcceleratorChoice
    accelerator: Accelerator
    attributes: Mapping[str, Attribute]
    estimate: Estimate | None
    curve: Curve | None
    problem: Message | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """One result of a column against the baseline: their ratio with its own band.

    `winner` is None where the band of the ratio holds 1, which is said as "no winner".
    """

    figure: str
    accelerator: str
    baseline: str
    ratio: Banded
    winner: str | None


@dataclass(frozen=True)
class Answer:
    """All results for `scenario` on the catalog of `catalog_revision`.

    `unranked` are the positions of announced columns that stand beside shipping ones and are not ranked
    with them. `digest` works out the hash of an answer, which costs more than the rest and is seldom asked
    for.
    """

    scenario: Scenario
    catalog_revision: str
    data_date: str
    calibration: str
    model: Model
    model_attributes: Mapping[str, Attribute]
    columns: tuple[Column, ...]
    differences: tuple[Difference, ...]
    disputes: tuple[Dispute, ...]
    notes: tuple[Message, ...]
    digest: Callable[[Answer], str] = field(repr=False, compare=False)
    unranked: tuple[int, ...] = ()

    @cached_property
    def content_hash(self) -> str:
        """Hash of the answer and the catalog revision, without date, locale, layout, colours or curves."""
        return self.digest(self)
