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


def folds(runs: Sequence[BenchRun], trait: str) -> tuple[str, ...]:
    """Return the groups that are left out one after the other; none where all runs are of one group."""
    groups = sorted(set(fold_groups(runs, trait)))
    return tuple(groups) if len(groups) > 1 else ()


def leave_out(bench: Bench, trait: str, group: str) -> tuple[HeldOut, ...]:
    """Return every figure of a group as predicted by a fit that has not seen any run of it.

    The search starts at the beliefs: one that began at constants fitted to all runs would remember the group.
    """
    inside: NDArray[np.bool_] = np.array(fold_groups(bench.runs, trait)) == group
    predicted = bench.predict(fit(bench, ~inside).values).figures
    return tuple(_figures(bench.runs, np.flatnonzero(inside).tolist(), predicted, trait))


def _figures(
    runs: Sequence[BenchRun], places: Iterable[int], predicted: Mapping[str, Array], fold: str
) -> Iterator[HeldOut]:
    for place in places:
        run = runs[place]
        for figure in FIGURES:
            if figure in run.figures and np.isfinite(predicted[figure][place]):
                yield HeldOut(run.id, figure, fold, run.figures[figure], float(predicted[figure][place]))
