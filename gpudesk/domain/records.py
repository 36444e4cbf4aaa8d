"""Records: published figures near a question, each beside what was said of it without having seen it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gpudesk.domain.claims import Source
from gpudesk.domain.estimates import Banded, Estimate, EstimateRequest


class Condition(StrEnum):
    """What a published run can have otherwise than it was asked for, in the order in which it is told."""

    ACCELERATOR = "accelerator"
    COUNT = "count"
    MODEL = "model"
    WEIGHTS = "weights"
    KV = "kv"
    SERVING_ENGINE = "serving_engine"
    LENGTHS = "lengths"
    LOAD = "load"
    PLAN = "plan"
    POOLS = "pools"
    DATE = "date"
    SERVER = "server"
    SPREAD = "spread"
    EAGER = "eager"
    PREFIX = "prefix"
    SPECULATION = "speculation"
    MEMORY_FRACTION = "memory_fraction"
    MAX_BATCH = "max_batch"
    MAX_BATCHED_TOKENS = "max_batched_tokens"


@dataclass(frozen=True, slots=True)
class Record:
    """One published figure, and what a fit says of it that has not seen any run of its publisher's harness.

    `figure` names it as an estimate does: a rate is that of the whole deployment in output tokens. `request`
    has the conditions of the run by the names of the catalog, None where the publication is silent, and
    `assumed` are those that were filled by judgement; `accelerator` and `model` are their names. `differs`
    are the conditions that are not as asked. `distance` is 0 where nothing that matters differs, and `near`
    says whether it is small enough for the error to tell something. `inside_band`: the measured value lies in
    the band around the prediction.
    """

    run: str
    row: str
    figure: str
    measured: float
    predicted: float
    inside_band: bool | None
    request: EstimateRequest
    accelerator: str
    model: str
    engine_version: str | None
    source: Source
    differs: tuple[Condition, ...]
    distance: float
    near: bool
    assumed: tuple[Condition, ...] = ()
    note: str | None = None

    @property
    def ratio(self) -> float:
        """Predicted over measured."""
        return self.predicted / self.measured

    @property
    def as_asked(self) -> bool:
        """Whether the run has the conditions that were asked for."""
        return not self.differs


#: Figures of an estimate and the published one that each rests on.
_RESTS_ON = {
    "output_tokens_per_s": "output_tokens_per_s",
    "total_tokens_per_s": "output_tokens_per_s",
    "output_tokens_per_s_per_accelerator": "output_tokens_per_s",
    "batch_s": "output_tokens_per_s",
    "ttft_ms": "ttft_ms",
    "tpot_ms": "tpot_ms",
}


def published_figure(estimate: Estimate, figure: str) -> str | None:
    """Return the published figure that one of an estimate rests on; None where none is behind it.

    The time of a request rests on the larger of its parts: the first token, or the others.
    """
    if not isinstance(getattr(estimate, figure, None), Banded):
        return None
    if figure != "request_s":
        return _RESTS_ON.get(figure)
    ttft, tpot = estimate.ttft_ms, estimate.tpot_ms
    others = 0.0 if tpot is None else tpot.value * (estimate.request.workload.output_tokens - 1)
    return "ttft_ms" if ttft is not None and ttft.value >= others else "tpot_ms"
