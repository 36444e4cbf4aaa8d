"""Pairs of accelerators in held-out figures, and the bands of their ratios.

What two runs of one publisher miss by together cancels in their ratio, so that its band is its own.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from gpudesk.domain.estimates import Basis
from gpudesk.engine.constants import BandRule
from gpudesk.evidence.banding import BAND_FIGURES, LEAST, MEASURED, quantile, rule
from gpudesk.evidence.bench import BenchRun
from gpudesk.evidence.held_out import HeldOut

#: What is left out for each basis; of a weaker one only pairs that cross it are counted.
PAIR_FOLDS: Final = (
    (Basis.CALIBRATED, "series"),
    (Basis.ESTIMATED, "generation"),
    (Basis.UNCALIBRATED, "vendor"),
)
#: Share of the ratios that the band is to hold.
HELD: Final = 0.8
#: How much wider a weaker basis is at least, in the logarithm.
WEAKER: Final = 1.1


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs that differ in the accelerator only: logarithms of the ratio, measured and predicted."""

    first: BenchRun
    second: BenchRun
    figure: str
    measured: float
    predicted: float

    @property
    def residual(self) -> float:
        """How much the ratio is missed by."""
        return self.measured - self.predicted


def pairs(held_out: Sequence[HeldOut], runs: Sequence[BenchRun], figure: str, fold: str) -> tuple[Pair, ...]:
    """Return all pairs of different accelerators under the same question in the same series.

    Several runs of one accelerator are taken together by their median. Of other folds than that of series
    only pairs count that cross what is left out.
    """
    by_id = {run.id: run for run in runs}
    alike: dict[tuple[object, ...], dict[str, list[HeldOut]]] = defaultdict(lambda: defaultdict(list))
    for each in held_out:
        if each.figure == figure and each.fold == fold:
            run = by_id[each.run]
            alike[_question(run)][run.traits["accelerator"]].append(each)
    found: list[Pair] = []
    for parts in alike.values():
        for one, other in combinations(sorted(parts), 2):
            first, second = by_id[parts[one][0].run], by_id[parts[other][0].run]
            if fold == "series" or first.traits[fold] != second.traits[fold]:
                ours, theirs = _median(parts[one]), _median(parts[other])
                found.append(Pair(first, second, figure, ours[0] - theirs[0], ours[1] - theirs[1]))
    return tuple(found)


def _median(figures: Sequence[HeldOut]) -> tuple[float, float]:
    measured = float(np.median([math.log(each.measured) for each in figures]))
    predicted = float(np.median([math.log(each.predicted) for each in figures]))
    return measured, predicted


def _question(run: BenchRun) -> tuple[object, ...]:
    """Return what two runs must share to be compared; rates of a closed loop and a batch by their size."""
    work, plan = run.workload, run.candidates[0].situation.plan
    load = work.load
    return (
        run.traits["series"],
        run.traits["engine"],
        run.traits["model"],
        run.traits["load"],
        round(work.input_tokens, -1),
        round(work.output_tokens, -1) if work.output_tokens > 400 else 400,
        load.batch or load.concurrency or load.request_rate,
        load.tpot_ms,
        plan.count,
    )


def pair_rules(held_out: Sequence[HeldOut], runs: Sequence[BenchRun]) -> tuple[BandRule, ...]:
    """Return the bands of ratios between two accelerators, by the weaker basis of the two."""
    rules: list[BandRule] = []
    for figure, name in BAND_FIGURES.items():
        repeats = math.log(MEASURED[name][1])
        rules.append(rule(name, Basis.MEASURED, (-repeats, repeats)))
        width = LEAST
        for basis, fold in PAIR_FOLDS:
            widened = width if basis is Basis.CALIBRATED else width * WEAKER
            width = max(widened, _width(pairs(held_out, runs, figure, fold)))
            rules.append(rule(name, basis, (-width, width)))
    return tuple(rules)


def _width(found: Sequence[Pair]) -> float:
    """Return what four in five ratios are missed by at most, series weighed by the root of their size."""
    if not found:
        return 0.0
    sizes = Counter(pair.first.traits["series"] for pair in found)
    weights = np.array([sizes[pair.first.traits["series"]] ** -0.5 for pair in found])
    return quantile(np.abs(np.array([pair.residual for pair in found])), weights, HELD)
