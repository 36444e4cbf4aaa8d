"""Which accelerators hold which models: the smallest deployment of each pair."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.messages import Message
from gpudesk.domain.models import Model
from gpudesk.domain.precision import Precision


class ReadingId(StrEnum):
    """How a memory label is read by whoever counts accelerators from it; answers use none of these.

    As GB or as GiB, whole or with a tenth kept free.
    """

    DECIMAL = "decimal"
    BINARY = "binary"
    DECIMAL_RESERVED = "decimal-reserved"
    BINARY_RESERVED = "binary-reserved"


@dataclass(frozen=True, slots=True)
class FitQuestion:
    """What every cell of a matrix is asked: these formats, sequences of `context` tokens, so many in flight.

    `context` counts input and output tokens together. Models that read fewer tokens are still asked.
    """

    weights: Precision
    kv: Precision = Precision.FP16
    context: int = 8192
    concurrency: int = 1
    serving_engine: str | None = None
    memory_fraction: float | None = None


@dataclass(frozen=True, slots=True)
class FitCell:
    """The smallest deployment of one accelerator that holds a model and all requests in flight.

    `weights` and `kv` are concrete formats (FP4 as that of the vendor). `headroom_bytes` is what is left of
    the usable memory on the fullest accelerator. Without a deployment `fits` is False, `reason` says why,
    and count, plan and headroom are None.
    """

    accelerator: str
    model: str
    weights: Precision
    kv: Precision
    fits: bool
    serving_engine: str | None = None
    count: int | None = None
    plan: ParallelPlan | None = None
    usable_bytes: int | None = None
    headroom_bytes: int | None = None
    reason: Message | None = None


@dataclass(frozen=True, slots=True)
class FitMatrix:
    """All cells of a question: one row for each model, in it one cell for each accelerator."""

    question: FitQuestion
    accelerators: tuple[Accelerator, ...]
    models: tuple[Model, ...]
    rows: tuple[tuple[FitCell, ...], ...]
