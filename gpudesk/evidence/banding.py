"""Bands from held-out residuals: by figure, by basis, and by what a figure is known better or worse for.

A residual is the logarithm of measured over predicted, from a fit that has not seen the group of the run.
Groups (a publisher, a model) count as the square root of their size, since what they miss by is shared. The
band runs from the tenth to the ninetieth hundredth. Slices with few residuals are drawn towards all others.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from gpudesk.domain.estimates import Basis
from gpudesk.engine.constants import BandRule
from gpudesk.evidence.bench import BenchRun
from gpudesk.evidence.held_out import HeldOut
from gpudesk.evidence.parameters import Array

#: Names of the figures in rules of bands.
BAND_FIGURES: Final[Mapping[str, str]] = {
    "output_tokens_per_s": "throughput",
    "tpot_ms": "tpot",
    "ttft_ms": "ttft",
}
#: Hundredths between which the band lies.
EDGES: Final = (0.1, 0.9)
#: Residuals at which a slice speaks for itself as much as all others do for it.
HALF_TRUSTED: Final = 40
#: A slice of fewer residuals has no rule of its own.
LEAST_IN_SLICE: Final = 30
#: Folds whose residuals stand for each basis; those of one basis are pooled.
BASIS_FOLDS: Final[Mapping[Basis, tuple[str, ...]]] = {
    Basis.CALIBRATED: ("series", "model"),
    Basis.ESTIMATED: ("generation", "series"),
    Basis.UNCALIBRATED: ("vendor",),
}
#: How much wider a weaker basis is at least, in the logarithm.
WEAKER: Final = {Basis.CALIBRATED: 1.0, Basis.ESTIMATED: 1.15, Basis.UNCALIBRATED: 1.35}
#: Bands of the user's own measurements: what repeats of one configuration differ by.
MEASURED: Final[Mapping[str, tuple[float, float]]] = {
    "throughput": (0.87, 1.15),
    "tpot": (0.87, 1.15),
    "ttft": (0.77, 1.30),
}
#: No band is narrower than this to either side, in the logarithm.
LEAST: Final = math.log(1.05)


@dataclass(frozen=True, slots=True)
class Residuals:
    """Residuals of one figure with their weights and the runs that they are of."""

    values: Array
    weights: Array
    runs: tuple[BenchRun, ...]

    def where(self, **traits: str) -> Residuals:
        """Return the residuals of runs that have all of these traits."""
        chosen = np.array(
            [all(run.traits[name] == value for name, value in traits.items()) for run in self.runs],
            dtype=np.bool_,
        )
        return Residuals(
            self.values[chosen],
            self.weights[chosen],
            tuple(run for run, inside in zip(self.runs, chosen, strict=True) if inside),
        )


def residuals(
    held_out: Iterable[HeldOut], runs: Mapping[str, BenchRun], figure: str, folds: Sequence[str]
) -> Residuals:
    """Return the residuals of a figure from some folds; each fold's groups weigh the root of their size."""
    chosen = [each for each in held_out if each.figure == figure and each.fold in folds]
    groups = [(each.fold, runs[each.run].traits[each.fold]) for each in chosen]
    sizes = Counter(groups)
    return Residuals(
        values=np.log(np.array([each.measured / each.predicted for each in chosen])),
        weights=np.array([sizes[group] ** -0.5 for group in groups]),
        runs=tuple(runs[each.run] for each in chosen),
    )


def quantile(values: Array, weights: Array, share: float) -> float:
    """Return the weighted quantile, between values where it falls between."""
    order = np.argsort(values, kind="stable")
    ordered, weighed = values[order], weights[order]
    places = (np.cumsum(weighed) - 0.5 * weighed) / weighed.sum()
    return float(np.interp(share, places, ordered))


def _edges(found: Residuals) -> tuple[float, float]:
    low, high = (quantile(found.values, found.weights, share) for share in EDGES)
    return min(low, -LEAST), max(high, LEAST)


def _shrunk(slice_: Residuals, whole: tuple[float, float]) -> tuple[float, float]:
    trust = len(slice_.values) / (len(slice_.values) + HALF_TRUSTED)
    own = _edges(slice_)
    return tuple(trust * mine + (1.0 - trust) * theirs for mine, theirs in zip(own, whole, strict=True))  # type: ignore[return-value]


def _rule(
    figure: str, basis: Basis, edges: tuple[float, float], where: Mapping[str, str] | None = None
) -> BandRule:
    narrowed = {key: frozenset({value}) for key, value in (where or {}).items()}
    return BandRule(figure, str(basis), math.exp(edges[0]), math.exp(edges[1]), narrowed)


def band_rules(held_out: Sequence[HeldOut], runs: Sequence[BenchRun]) -> tuple[BandRule, ...]:
    """Return the rules of all bands, for every basis, each figure first as a whole, then by slice."""
    by_id = {run.id: run for run in runs}
    rules = [
        _rule(figure, Basis.MEASURED, (math.log(low), math.log(high)))
        for figure, (low, high) in MEASURED.items()
    ]
    for figure, name in BAND_FIGURES.items():
        calibrated = residuals(held_out, by_id, figure, BASIS_FOLDS[Basis.CALIBRATED])
        whole = _edges(calibrated)
        slices = _slices(calibrated, whole)
        for basis, folds in BASIS_FOLDS.items():
            stretch = _stretch(residuals(held_out, by_id, figure, folds), whole, WEAKER[basis])
            rules.append(_rule(name, basis, _stretched(whole, stretch)))
            rules.extend(_rule(name, basis, _stretched(edges, stretch), where) for where, edges in slices)
    return tuple(rules)


def _stretch(weaker: Residuals, whole: tuple[float, float], least: float) -> float:
    """Return how much wider residuals are than those of a calibrated estimate."""
    low, high = _edges(weaker)
    return max(least, (high - low) / (whole[1] - whole[0]))


def _stretched(edges: tuple[float, float], stretch: float) -> tuple[float, float]:
    return edges[0] * stretch, edges[1] * stretch


def _slices(
    calibrated: Residuals, whole: tuple[float, float]
) -> list[tuple[dict[str, str], tuple[float, float]]]:
    """Return the edges by load, and by load and kind of model."""
    found: list[tuple[dict[str, str], tuple[float, float]]] = []
    for load in sorted({run.traits["load"] for run in calibrated.runs}):
        of_load = calibrated.where(load=load)
        if len(of_load.values) < LEAST_IN_SLICE:
            continue
        by_load = _shrunk(of_load, whole)
        found.append(({"load": load}, by_load))
        for kind, key in (("dense", "no"), ("mixture of experts", "yes")):
            inside = of_load.where(experts=kind)
            if len(inside.values) >= LEAST_IN_SLICE:
                found.append(({"load": load, "experts": key}, _shrunk(inside, by_load)))
    return found


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

    Several runs of one accelerator are taken together by their median.
    """
    by_id = {run.id: run for run in runs}
    alike: dict[tuple[object, ...], dict[str, list[HeldOut]]] = defaultdict(lambda: defaultdict(list))
    for each in held_out:
        if each.figure == figure and each.fold == fold:
            run = by_id[each.run]
            alike[_question(run)][run.traits["accelerator"]].append(each)
    found: list[Pair] = []
    for parts in alike.values():
        for first, second in combinations(sorted(parts), 2):
            ours, theirs = _median(parts[first]), _median(parts[second])
            found.append(
                Pair(
                    by_id[parts[first][0].run],
                    by_id[parts[second][0].run],
                    figure,
                    ours[0] - theirs[0],
                    ours[1] - theirs[1],
                )
            )
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
        rules.append(_rule(name, Basis.MEASURED, (-repeats, repeats)))
        width = 0.0
        for basis, fold in (
            (Basis.CALIBRATED, "series"),
            (Basis.ESTIMATED, "generation"),
            (Basis.UNCALIBRATED, "vendor"),
        ):
            width = max(width * 1.1, _pair_width(pairs(held_out, runs, figure, fold), basis))
            rules.append(_rule(name, basis, (-width, width)))
    return tuple(rules)


def _pair_width(found: Sequence[Pair], basis: Basis) -> float:
    """Return what four in five ratios are missed by at most, series weighed by the root of their size."""
    trait = {Basis.ESTIMATED: "generation", Basis.UNCALIBRATED: "vendor"}.get(basis)
    if trait is not None:
        found = [pair for pair in found if pair.first.traits[trait] != pair.second.traits[trait]]
    if not found:
        return 0.0
    sizes = Counter(pair.first.traits["series"] for pair in found)
    weights = np.array([sizes[pair.first.traits["series"]] ** -0.5 for pair in found])
    return quantile(np.abs(np.array([pair.residual for pair in found])), weights, 0.8)
