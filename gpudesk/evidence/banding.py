"""Bands from held-out residuals: by figure, by basis, and by what a figure is known better or worse for.

A residual is the logarithm of measured over predicted, from a fit that has not seen the group of the run.
A group (a publisher, a model) counts for less than its rows, since what they miss by is shared. Each slice is
drawn towards the wider slice that it is a part of, the more so the fewer publishers it has.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

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
#: Share of the residuals that is left out on either side. A publisher that nobody has seen scatters more than
#: those that are there, so that the band of theirs would hold less than four in five of its figures.
OUTSIDE: Final[Mapping[str, float]] = {"output_tokens_per_s": 0.072, "tpot_ms": 0.098, "ttft_ms": 0.106}
#: By what the band of each figure is narrowed, step by step.
NARROWED: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "output_tokens_per_s": (
        ("serving_engine",),
        ("serving_engine", "weights"),
        ("serving_engine", "weights", "experts"),
    ),
    "tpot_ms": (("load",), ("load", "experts")),
    "ttft_ms": (("load",),),
}
#: A group weighs its size to this power: what it misses by is shared. Throughput has far larger groups.
GROUP_WEIGHT: Final[Mapping[str, float]] = {"output_tokens_per_s": 0.25, "tpot_ms": 0.5, "ttft_ms": 0.5}
#: Publishers at which a slice speaks for itself as much as the wider slice does for it.
HALF_TRUSTED: Final = 8.0
#: A slice of fewer residuals has no rule of its own.
LEAST_IN_SLICE: Final = 30
#: Folds whose residuals stand for each basis; those of one basis are pooled.
BASIS_FOLDS: Final[Mapping[Basis, tuple[str, ...]]] = {
    Basis.CALIBRATED: ("series",),
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

Edges = tuple[float, float]
Where = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Residuals:
    """Residuals of one figure: weights, publishers, and the keys by which a band may be narrowed."""

    values: Array
    weights: Array
    series: NDArray[np.str_]
    keys: Mapping[str, NDArray[np.str_]]

    def inside(self, chosen: NDArray[np.bool_]) -> Residuals:
        """Return some of the residuals."""
        keys = {name: column[chosen] for name, column in self.keys.items()}
        return Residuals(self.values[chosen], self.weights[chosen], self.series[chosen], keys)


def band_keys(run: BenchRun) -> dict[str, str]:
    """Return what the band of a run may be narrowed by, as an estimate of it would ask for it."""
    traits = run.traits
    return {
        "load": traits["load"],
        "serving_engine": traits["engine"],
        "weights": traits["weights"],
        "generation": traits["generation"],
        "experts": "no" if traits["experts"] == "dense" else "yes",
    }


def residuals(
    held_out: Iterable[HeldOut], runs: Mapping[str, BenchRun], figure: str, folds: Sequence[str]
) -> Residuals:
    """Return the residuals of a figure from some folds, each with the weight that its group leaves it."""
    chosen = [each for each in held_out if each.figure == figure and each.fold in folds]
    groups = [(each.fold, runs[each.run].traits[each.fold]) for each in chosen]
    sizes = Counter(groups)
    known = {name: band_keys(runs[name]) for name in {each.run for each in chosen}}
    names = {name for steps in NARROWED[figure] for name in steps}
    return Residuals(
        values=np.log(np.array([each.measured / each.predicted for each in chosen])),
        weights=np.array([sizes[group] ** (GROUP_WEIGHT[figure] - 1.0) for group in groups]),
        series=np.array([runs[each.run].traits["series"] for each in chosen], dtype=np.str_),
        keys={
            name: np.array([known[each.run][name] for each in chosen], dtype=np.str_)
            for name in sorted(names)
        },
    )


def quantile(values: Array, weights: Array, share: float) -> float:
    """Return the weighted quantile, between values where it falls between."""
    order = np.argsort(values, kind="stable")
    ordered, weighed = values[order], weights[order]
    places = (np.cumsum(weighed) - 0.5 * weighed) / weighed.sum()
    return float(np.interp(share, places, ordered))


def _edges(found: Residuals, outside: float) -> Edges:
    low, high = (quantile(found.values, found.weights, share) for share in (outside, 1.0 - outside))
    return min(low, -LEAST), max(high, LEAST)


def _shrunk(slice_: Residuals, wider: Edges, outside: float) -> Edges:
    """Return the edges of a slice, drawn towards those of the wider slice."""
    publishers = len(set(slice_.series.tolist()))
    trust = publishers / (publishers + HALF_TRUSTED)
    low, high = _edges(slice_, outside)
    return trust * low + (1.0 - trust) * wider[0], trust * high + (1.0 - trust) * wider[1]


def rule(figure: str, basis: Basis, edges: Edges, where: Where = ()) -> BandRule:
    """Return a rule from edges in the logarithm."""
    narrowed = {key: frozenset({value}) for key, value in where}
    return BandRule(figure, str(basis), math.exp(edges[0]), math.exp(edges[1]), narrowed)


def band_rules(held_out: Sequence[HeldOut], runs: Sequence[BenchRun]) -> tuple[BandRule, ...]:
    """Return the rules of all bands, for every basis, each figure first as a whole, then by slice."""
    by_id = {run.id: run for run in runs}
    rules = [
        rule(figure, Basis.MEASURED, (math.log(low), math.log(high)))
        for figure, (low, high) in MEASURED.items()
    ]
    for figure, name in BAND_FIGURES.items():
        calibrated = residuals(held_out, by_id, figure, BASIS_FOLDS[Basis.CALIBRATED])
        if not len(calibrated.values):
            continue
        slices = dict(_slices(figure, calibrated))
        for basis, folds in BASIS_FOLDS.items():
            weaker = residuals(held_out, by_id, figure, folds)
            stretch = _stretch(weaker, slices[()], figure, WEAKER[basis])
            rules.extend(
                rule(name, basis, (low * stretch, high * stretch), where)
                for where, (low, high) in slices.items()
            )
    return tuple(rules)


def _stretch(weaker: Residuals, whole: Edges, figure: str, least: float) -> float:
    """Return how much wider residuals are than those of a calibrated estimate."""
    if not len(weaker.values):
        return least
    low, high = _edges(weaker, OUTSIDE[figure])
    return max(least, (high - low) / (whole[1] - whole[0]))


def _slices(figure: str, calibrated: Residuals) -> Iterator[tuple[Where, Edges]]:
    """Yield the edges of all residuals, then of each slice, the wider ones first."""
    found: dict[Where, Edges] = {(): _edges(calibrated, OUTSIDE[figure])}
    yield (), found[()]
    for names in NARROWED[figure]:
        columns = [calibrated.keys[name] for name in names]
        for values in sorted(set(zip(*(column.tolist() for column in columns), strict=True))):
            chosen = np.logical_and.reduce(
                [column == value for column, value in zip(columns, values, strict=True)]
            )
            if np.count_nonzero(chosen) < LEAST_IN_SLICE:
                continue
            where = tuple(zip(names, values, strict=True))
            wider = found.get(where[:-1], found[()])
            found[where] = _shrunk(calibrated.inside(chosen), wider, OUTSIDE[figure])
            yield where, found[where]
