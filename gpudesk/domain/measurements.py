"""Published measurements: what was run, what was measured, and which rows are shown without being used."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpudesk.domain.estimates import EstimateRequest

#: Figures of an estimate that published rows can be held against: the rate of the whole deployment in output
#: tokens, and the times of first and further tokens.
MEASURED_FIGURES = ("output_tokens_per_s", "ttft_ms", "tpot_ms")


@dataclass(frozen=True, slots=True)
class Measured:
    """One figure of a run: converted, with the row that it comes from and the metric as published."""

    row: str
    metric: str
    value: float


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """One run with all that was measured in it, by the name of the figure.

    `request` asks the same of the program, with the names of the catalog; its id is that of the run.
    `accelerator` and `model` are the names in the source. `assumed` names columns that it leaves open.
    """

    id: str
    source: str
    series: str
    accelerator: str
    model: str
    engine_version: str | None
    request: EstimateRequest
    measured: Mapping[str, Measured]
    assumed: frozenset[str]
    note: str | None

    @property
    def figures(self) -> dict[str, float]:
        """Return what was measured, by the name of the figure."""
        return {name: figure.value for name, figure in self.measured.items()}


@dataclass(frozen=True, slots=True)
class UnusedRow:
    """A published figure that is kept and shown, but neither fitted nor judged by; `reason` is a key.

    Value and unit are as published, accelerator and model are the names in the source: the catalog need not
    have them.
    """

    id: str
    run: str
    source: str
    series: str
    accelerator: str
    model: str
    metric: str
    value: float
    unit: str
    reason: str
    note: str | None


@dataclass(frozen=True, slots=True)
class MeasuredRuns:
    """All published runs. `reasons` and `definitions` are the sentences behind reasons and metrics.

    `revision` is the SHA-256 of the files that they were read from.
    """

    used: tuple[MeasuredRun, ...]
    unused: tuple[UnusedRow, ...]
    reasons: Mapping[str, str]
    definitions: Mapping[str, str]
    revision: str
