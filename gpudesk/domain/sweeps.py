"""Sweeps: one question at every point of a grid of parts, models, formats, degrees, lengths and loads."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Final

from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.precision import Precision
from gpudesk.domain.workloads import Load, LoadKind

#: More points than this are a slip of the pen: they would take hours and fill the disk.
MOST_POINTS: Final = 10**9
#: Loads that a sweep can run over, all of which are a number of sequences.
LOADS: Final = (LoadKind.BATCH, LoadKind.CONCURRENCY)


@dataclass(frozen=True, slots=True)
class Sweep:
    """The axes of a grid, from the slowest to the fastest, and what all of its points share.

    `tp` None leaves count and plan open: the smallest deployment that fits, by the best of its plans. A
    number is a deployment of one replica of that degree (times PP and DP where `base` fixes them). `amounts`
    are sequences of a static batch or of a closed loop, as `load` says. `base` is any question: what of it
    is no axis holds everywhere.
    """

    accelerators: tuple[str, ...]
    models: tuple[str, ...]
    weights: tuple[Precision, ...]
    kv: tuple[Precision, ...]
    tp: tuple[int | None, ...]
    input_tokens: tuple[int, ...]
    output_tokens: tuple[int, ...]
    load: LoadKind
    amounts: tuple[int, ...]
    base: EstimateRequest

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the axes in the order of the grid."""
        return (
            "accelerator",
            "model",
            "weights",
            "kv",
            "tp",
            "input_tokens",
            "output_tokens",
            self.load.value,
        )

    @property
    def axes(self) -> tuple[tuple[Any, ...], ...]:
        """Values of the axes in the order of `names`."""
        return (
            self.accelerators,
            self.models,
            self.weights,
            self.kv,
            self.tp,
            self.input_tokens,
            self.output_tokens,
            self.amounts,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return tuple(len(axis) for axis in self.axes)

    @property
    def points(self) -> int:
        """Points of the grid."""
        return prod(self.shape)

    def load_of(self, amount: int) -> Load:
        """Return the load of `amount` sequences."""
        if self.load is LoadKind.BATCH:
            return Load(LoadKind.BATCH, batch=amount)
        return Load(LoadKind.CONCURRENCY, concurrency=amount)
