"""Published runs: measured figures near a question, and MLPerf results side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from gpudesk.domain.claim import Source
from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.translation import LabeledEnum


class RunCondition(StrEnum):
    """Conditions in which a published run can differ from the request, in the order of display."""

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


@frozen_dataclass
class ComparableRun:
    """One published figure, and its prediction by a fit without any run of its publisher's harness.

    `figure` has the name used in estimates: a rate is that of the whole deployment in output tokens. `request` has the
    conditions of the run by the names of the catalog, None if unpublished, and `assumed` are those filled by judgment;
    `accelerator` and `model` are their names. `differs` are the conditions that differ from the request. `distance` is
    0 if nothing relevant differs, and `near` is whether it is small enough for the error to be informative.
    `inside_band`: the measured value is in the interval around the prediction.
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
    differs: tuple[RunCondition, ...]
    distance: float
    near: bool
    assumed: tuple[RunCondition, ...] = ()
    note: str | None = None

    @property
    def ratio(self) -> float:
        return self.predicted / self.measured

    @property
    def as_asked(self) -> bool:
        return not self.differs


#: Least error of each run: repeats of one configuration by two publishers differ by more.
_LEAST_BIAS = 0.05
_LEAST_RUNS = 2


def find_bias(runs: Iterable[ComparableRun], accelerator: str) -> tuple[float, float] | None:
    """Return the smallest and largest prediction ÷ measurement of near runs if they lean one way; else None.

    Only two runs or more on the accelerator itself count.
    """
    ratios = sorted(run.ratio for run in runs if run.near and run.request.accelerator == accelerator)
    if len(ratios) < _LEAST_RUNS or (ratios[0] < 1.0 + _LEAST_BIAS and ratios[-1] > 1.0 - _LEAST_BIAS):
        return None
    return ratios[0], ratios[-1]


#: Figures of an estimate and the published figures behind them.
_RESTS_ON = {
    "output_tokens_per_s": "output_tokens_per_s",
    "total_tokens_per_s": "output_tokens_per_s",
    "output_tokens_per_s_per_accelerator": "output_tokens_per_s",
    "batch_s": "output_tokens_per_s",
    "ttft_ms": "ttft_ms",
    "tpot_ms": "tpot_ms",
}


def find_published_figure(estimate: Estimate, figure: str) -> str | None:
    """Return the published figure behind a figure of an estimate; None without one.

    The time of a request is based on the larger of its components: the first token, or the others.
    """
    if not isinstance(getattr(estimate, figure, None), IntervalEstimate):
        return None
    if figure != "request_s":
        return _RESTS_ON.get(figure)
    ttft, tpot = estimate.ttft_ms, estimate.tpot_ms
    others = 0.0 if tpot is None else tpot.value * (estimate.request.workload.output_tokens - 1)
    return "ttft_ms" if ttft is not None and ttft.value >= others else "tpot_ms"


class MlperfScenario(LabeledEnum):
    """How MLPerf sends requests: all at once, at a rate within limits, within tighter limits."""

    OFFLINE = "offline", "Offline"
    SERVER = "server", "Server"
    INTERACTIVE = "interactive", "Interactive"


@frozen_dataclass
class MlperfResult:
    """One submitted result of the closed division; `output_tokens_per_s` is that of the whole system.

    `submitter` and `system` are the names in the round; `preview` systems were not yet on sale.
    """

    id: str
    round: str
    source: str
    model: str
    accelerator: str
    mlperf_scenario: MlperfScenario
    count: int
    output_tokens_per_s: float
    submitter: str
    system: str
    serving_engine: str | None
    weights: str
    software: str
    preview: bool = False

    @property
    def per_accelerator(self) -> float:
        """Output tokens/s of the system over its accelerators: derived, not an MLPerf metric."""
        return self.output_tokens_per_s / self.count


@frozen_dataclass
class MlperfCell:
    """The results of one accelerator in one MLPerf scenario, the best per accelerator first.

    `ratio` is the best over the best of the baseline; None if the baseline has no result.
    """

    results: tuple[MlperfResult, ...]
    ratio: float | None

    @property
    def best(self) -> MlperfResult:
        """The result with the most tokens/s per accelerator."""
        return self.results[0]


@frozen_dataclass
class MlperfRow:
    """One accelerator of a head-to-head, by MLPerf scenario; those without results are left out."""

    accelerator: str
    cells: Mapping[MlperfScenario, MlperfCell]


class MlperfOutcome(StrEnum):
    """How one accelerator compares with another in an MLPerf scenario."""

    AHEAD = "ahead"
    BEHIND = "behind"
    TIE = "tie"


@frozen_dataclass
class MlperfHeadToHead:
    """All accelerators with results of one round and model, compared with one of them.

    `tie_share` is the smallest significant difference: repeats of one system differ by as much.
    """

    round: str
    source: str
    model: str
    baseline: str
    rows: tuple[MlperfRow, ...]
    tie_share: float

    def row(self, accelerator: str) -> MlperfRow | None:
        return next((row for row in self.rows if row.accelerator == accelerator), None)

    def outcomes(self, accelerator: str) -> dict[MlperfScenario, MlperfOutcome]:
        row = self.row(accelerator)
        if row is None:
            return {}
        return {scenario: self.outcome(cell.ratio) for scenario, cell in row.cells.items() if cell.ratio is not None}

    def outcome(self, ratio: float) -> MlperfOutcome:
        if max(ratio, 1.0 / ratio) <= 1.0 + self.tie_share:
            return MlperfOutcome.TIE
        return MlperfOutcome.AHEAD if ratio > 1.0 else MlperfOutcome.BEHIND


@frozen_dataclass
class StatedMlperfRatio:
    """A ratio stated by a document, with its author, and the ratio of the submitted results.

    `claim` is the id of the document's claim. `round` is None for ratios from no single round, and `computed` is None
    without two results.
    """

    claim: str
    source: str
    round: str | None
    model: str
    mlperf_scenario: MlperfScenario | None
    accelerator: str
    baseline: str
    ratio: float
    computed_by: str
    computed: float | None = None
