"""Predictions of runs by fits that have not seen them, and what they miss by.

A fold leaves out all runs that share a trait: a series (publisher and harness), a model, a family of models,
an accelerator, a generation, a vendor, a version of a serving engine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.evidence.bench import FIGURES, Bench, BenchRun
from gpudesk.evidence.fitting import fit
from gpudesk.evidence.parameters import Array

#: Traits by which runs are left out.
FOLDS: Final = ("series", "model", "family", "accelerator", "generation", "vendor", "version")
#: Groups with fewer runs than this are left out together: a fit without three runs shows nothing.
SMALL_GROUP: Final = 9
#: Name of the group of all small groups.
OTHERS: Final = "others"
#: Steps that a fit without a fold takes from where the fit to all runs ended, and its first damping: the way
#: is short.
FOLD_STEPS: Final = 4
FOLD_DAMPING: Final = 1e-2


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A figure of a run, and what a fit says of it that has not seen the group of the run."""

    run: str
    figure: str
    fold: str
    measured: float
    predicted: float


def fold_groups(runs: Sequence[BenchRun], trait: str) -> list[str]:
    """Return the group of each run; small groups are put together."""
    sizes = Counter(run.traits[trait] for run in runs)
    return [run.traits[trait] if sizes[run.traits[trait]] >= SMALL_GROUP else OTHERS for run in runs]


def leave_out(bench: Bench, trait: str, start: Array) -> tuple[HeldOut, ...]:
    """Return every figure as predicted by a fit that has not seen any run of its group."""
    groups = np.array(fold_groups(bench.runs, trait))
    found: list[HeldOut] = []
    for group in sorted(set(groups.tolist())):
        inside: NDArray[np.bool_] = groups == group
        if inside.all():
            continue
        values = fit(bench, ~inside, start, FOLD_STEPS, FOLD_DAMPING).values
        predicted = bench.predict(values).figures
        found.extend(_figures(bench.runs, np.flatnonzero(inside).tolist(), predicted, trait))
    return tuple(found)


def _figures(
    runs: Sequence[BenchRun], places: Iterable[int], predicted: Mapping[str, Array], fold: str
) -> Iterator[HeldOut]:
    for place in places:
        run = runs[place]
        for figure in FIGURES:
            if figure in run.figures and np.isfinite(predicted[figure][place]):
                yield HeldOut(run.id, figure, fold, run.figures[figure], float(predicted[figure][place]))
