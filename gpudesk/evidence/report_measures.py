"""What the accuracy report says of a set of held-out figures, and the bars that it holds them to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from gpudesk.domain.workloads import LoadKind
from gpudesk.evidence.bench import BenchRun
from gpudesk.evidence.judging import Judged


class View(StrEnum):
    """Figures that are judged together; bursts are loads whose requests are all there at the start."""

    THROUGHPUT = "throughput"
    TPOT = "TPOT"
    BURST_TTFT = "TTFT of bursts"
    OTHER_TTFT = "TTFT of other loads"
    TTFT = "TTFT of all loads"


#: Loads whose first tokens wait for prompts that came at the same moment.
BURSTS: Final = frozenset({str(LoadKind.BATCH), str(LoadKind.SATURATE)})


@dataclass(frozen=True, slots=True)
class Bar:
    """What is to be reached: median and 90th hundredth of the error, median upper over lower edge.

    None where nothing is to be reached.
    """

    median: float | None
    p90: float | None
    width: float | None


BARS: Final[Mapping[View, Bar]] = {
    View.THROUGHPUT: Bar(0.11, 0.35, 1.8),
    View.TPOT: Bar(0.15, 0.40, 2.5),
    View.BURST_TTFT: Bar(0.16, 0.50, None),
    View.OTHER_TTFT: Bar(None, None, None),
    View.TTFT: Bar(None, None, 3.5),
}
#: Shares of rows that the band is to hold: in all, and in every slice of at least `LEAST_JUDGED` rows.
WHOLE_COVERAGE: Final = (0.75, 0.88)
SLICE_COVERAGE: Final = (0.65, 0.95)
LEAST_JUDGED: Final = 30


@dataclass(frozen=True, slots=True)
class Measure:
    """Rows; median and 90th hundredth of the error; median predicted over measured; the band's record."""

    rows: int
    median: float
    p90: float
    bias: float
    coverage: float
    width: float


@dataclass(frozen=True, slots=True)
class Misses:
    """Which bars a set of figures misses."""

    median: bool
    p90: bool
    coverage: bool
    width: bool

    def __bool__(self) -> bool:
        """Whether any bar is missed."""
        return self.median or self.p90 or self.coverage or self.width


def view_of(figure: str, run: BenchRun) -> View:
    """Return what a figure of a run is judged with."""
    if figure == "output_tokens_per_s":
        return View.THROUGHPUT
    if figure == "tpot_ms":
        return View.TPOT
    return View.BURST_TTFT if run.traits["load"] in BURSTS else View.OTHER_TTFT


def measure(rows: Sequence[Judged]) -> Measure:
    """Return what there is to say of some figures; at least one."""
    errors = np.array([row.error for row in rows])
    return Measure(
        rows=len(rows),
        median=float(np.median(errors)),
        p90=float(np.quantile(errors, 0.9)),
        bias=float(np.exp(np.median(np.log([row.ratio for row in rows])))),
        coverage=float(np.mean([row.inside for row in rows])),
        width=float(np.median([row.width for row in rows])),
    )


def misses(found: Measure, view: View, coverage: tuple[float, float] = SLICE_COVERAGE) -> Misses:
    """Return which bars are missed; too few rows miss none."""
    bar = BARS[view]
    enough = found.rows >= LEAST_JUDGED
    return Misses(
        median=enough and bar.median is not None and found.median > bar.median,
        p90=enough and bar.p90 is not None and found.p90 > bar.p90,
        coverage=enough and not coverage[0] <= found.coverage <= coverage[1],
        width=enough and coverage == WHOLE_COVERAGE and bar.width is not None and found.width > bar.width,
    )


def by_view(rows: Iterable[Judged], whole: bool = False) -> dict[View, list[Judged]]:
    """Return the figures of each view that has any, in the order of the views.

    With `whole` the two views of TTFT are also there as one, by which the width of its band is judged.
    """
    found: dict[View, list[Judged]] = {view: [] for view in View}
    for row in rows:
        found[view_of(row.figure, row.run)].append(row)
    if whole:
        found[View.TTFT] = [*found[View.BURST_TTFT], *found[View.OTHER_TTFT]]
    return {view: inside for view, inside in found.items() if inside}


def by_trait(rows: Iterable[Judged], trait: str) -> dict[str, list[Judged]]:
    """Return the figures by the value of a trait of their run, most rows first."""
    found: dict[str, list[Judged]] = defaultdict(list)
    for row in rows:
        found[row.run.traits[trait]].append(row)
    return dict(sorted(found.items(), key=lambda each: (-len(each[1]), each[0])))


def of_fold(rows: Iterable[Judged], fold: str) -> list[Judged]:
    """Return the figures of one fold."""
    return [row for row in rows if row.fold == fold]
