"""Pairs in held-out figures, of accelerators and of parallel plans, and the bands of their ratios.

What two runs of one publisher miss by together cancels in their ratio, so that its band is its own. Two plans
of one accelerator share more than two accelerators do: most constants, the memory, the kernels.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Basis
from gpudesk.engine.bands import BETWEEN_PLANS
from gpudesk.engine.constants import BandRule
from gpudesk.evidence.banding import BAND_FIGURES, HALF_TRUSTED, LEAST, MEASURED, quantile, rule
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
    """Two runs that differ in one thing only: logarithms of the ratio, measured and predicted."""

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
    found = _pairs(held_out, runs, (figure, fold), _question, lambda run: run.traits["accelerator"])
    crossing = [each for each in found if each.first.traits[fold] != each.second.traits[fold]]
    return tuple(found if fold == "series" else crossing)


def plan_pairs(
    held_out: Sequence[HeldOut], runs: Sequence[BenchRun], figure: str, fold: str
) -> tuple[Pair, ...]:
    """Return all pairs of different plans of one accelerator under the same load in the same series.

    They may be of different sizes: hardly anybody publishes two plans of one size, and what there is to know
    about them, how much more several accelerators do than one, is the same. Runs whose plan is not stated
    are left out.
    """
    stated = [run for run in runs if len(_plans(run)) == 1]
    return tuple(_pairs(held_out, stated, (figure, fold), _same_part, lambda run: str(_plans(run))))


def _plans(run: BenchRun) -> set[ParallelPlan]:
    return {candidate.situation.plan for candidate in run.candidates}


def _pairs(
    held_out: Sequence[HeldOut],
    runs: Sequence[BenchRun],
    of: tuple[str, str],
    question: Callable[[BenchRun], tuple[object, ...]],
    differs: Callable[[BenchRun], str],
) -> list[Pair]:
    """Return pairs of runs of the same question that differ, from figure and fold `of`."""
    by_id = {run.id: run for run in runs}
    figure, fold = of
    alike: dict[tuple[object, ...], dict[str, list[HeldOut]]] = defaultdict(lambda: defaultdict(list))
    for each in held_out:
        if each.figure == figure and each.fold == fold and each.run in by_id:
            run = by_id[each.run]
            alike[question(run)][differs(run)].append(each)
    found: list[Pair] = []
    for sides in alike.values():
        for one, other in combinations(sorted(sides), 2):
            ours, theirs = _median(sides[one]), _median(sides[other])
            first, second = by_id[sides[one][0].run], by_id[sides[other][0].run]
            found.append(Pair(first, second, figure, ours[0] - theirs[0], ours[1] - theirs[1]))
    return found


def _median(figures: Sequence[HeldOut]) -> tuple[float, float]:
    measured = float(np.median([math.log(each.measured) for each in figures]))
    predicted = float(np.median([math.log(each.predicted) for each in figures]))
    return measured, predicted


def _load(run: BenchRun) -> tuple[object, ...]:
    """Return what two runs must share to be compared; rates of a closed loop and a batch by their size."""
    work, load = run.workload, run.workload.load
    return (
        run.traits["series"],
        run.traits["engine"],
        run.traits["model"],
        run.traits["load"],
        round(work.input_tokens, -1),
        round(work.output_tokens, -1) if work.output_tokens > 400 else 400,
        load.batch or load.concurrency or load.request_rate,
        load.tpot_ms,
    )


def _question(run: BenchRun) -> tuple[object, ...]:
    """Return what runs of two accelerators share."""
    return (*_load(run), run.candidates[0].situation.plan.count)


def _same_part(run: BenchRun) -> tuple[object, ...]:
    """Return what runs of two plans share."""
    kv = run.candidates[0].situation.kv
    software = (run.traits["version"], run.traits["weights"], kv)
    return (*_load(run), run.workload.load.requests, run.traits["accelerator"], *software)


def pair_rules(held_out: Sequence[HeldOut], runs: Sequence[BenchRun]) -> tuple[BandRule, ...]:
    """Return the bands of ratios between two accelerators, by the weaker basis of the two, and two plans."""
    rules: list[BandRule] = []
    for figure, name in BAND_FIGURES.items():
        repeats = math.log(MEASURED[name][1])
        rules.append(rule(name, Basis.MEASURED, (-repeats, repeats)))
        width = plans = LEAST
        for basis, fold in PAIR_FOLDS:
            weaker = 1.0 if basis is Basis.CALIBRATED else WEAKER
            width = max(width * weaker, _width(pairs(held_out, runs, figure, fold)))
            rules.append(rule(name, basis, (-width, width)))
            plans = max(plans * weaker, _plan_width(plan_pairs(held_out, runs, figure, fold), width))
            rules.append(rule(name, basis, (-plans, plans), (BETWEEN_PLANS,)))
    return tuple(rules)


def _plan_width(found: Sequence[Pair], parts: float) -> float:
    """Return the width for plans, drawn towards that for `parts` the more, the fewer publishers there are."""
    publishers = len({pair.first.traits["series"] for pair in found})
    trust = publishers / (publishers + HALF_TRUSTED)
    return min(parts, trust * _width(found) + (1.0 - trust) * parts)


def _width(found: Sequence[Pair]) -> float:
    """Return what four in five ratios are missed by at most, series weighed by the root of their size."""
    if not found:
        return 0.0
    sizes = Counter(pair.first.traits["series"] for pair in found)
    weights = np.array([sizes[pair.first.traits["series"]] ** -0.5 for pair in found])
    return quantile(np.abs(np.array([pair.residual for pair in found])), weights, HELD)
