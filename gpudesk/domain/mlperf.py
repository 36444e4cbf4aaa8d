"""Results of MLPerf Inference, side by side for each accelerator, within one round only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class MlperfScenario(StrEnum):
    """How MLPerf sends requests: all at once, at a rate within limits, within tighter limits."""

    OFFLINE = "offline"
    SERVER = "server"
    INTERACTIVE = "interactive"


@dataclass(frozen=True, slots=True)
class MlperfResult:
    """One submitted result of the closed division; `output_tokens_per_s` is that of the whole system.

    `submitter` and `system` are as the round names them; `preview` systems were not on sale by then.
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
        """Output tokens/s of the system over its accelerators: derived, no metric of MLPerf."""
        return self.output_tokens_per_s / self.count


@dataclass(frozen=True, slots=True)
class MlperfCell:
    """The results of one accelerator in one MLPerf scenario, the best for each accelerator first.

    `ratio` is that best over the best of the baseline; None where the baseline has no result.
    """

    results: tuple[MlperfResult, ...]
    ratio: float | None

    @property
    def best(self) -> MlperfResult:
        """The result with the most tokens/s for each accelerator."""
        return self.results[0]


@dataclass(frozen=True, slots=True)
class MlperfRow:
    """One accelerator of a head-to-head, by MLPerf scenario; those without results are left out."""

    accelerator: str
    cells: Mapping[MlperfScenario, MlperfCell]


class Outcome(StrEnum):
    """How one accelerator stands to another in an MLPerf scenario."""

    AHEAD = "ahead"
    BEHIND = "behind"
    TIE = "tie"


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """All accelerators with results of one round and model, against one of them.

    `tie_share` is by how much results must differ to count: repeats of one system differ by that.
    """

    round: str
    source: str
    model: str
    baseline: str
    rows: tuple[MlperfRow, ...]
    tie_share: float

    def row(self, accelerator: str) -> MlperfRow | None:
        """Return the row of an accelerator."""
        return next((row for row in self.rows if row.accelerator == accelerator), None)

    def outcomes(self, accelerator: str) -> dict[MlperfScenario, Outcome]:
        """Return how an accelerator stands to the baseline wherever both have results."""
        row = self.row(accelerator)
        if row is None:
            return {}
        return {
            scenario: self.outcome(cell.ratio)
            for scenario, cell in row.cells.items()
            if cell.ratio is not None
        }

    def outcome(self, ratio: float) -> Outcome:
        """Return what a ratio to the baseline says."""
        if max(ratio, 1.0 / ratio) <= 1.0 + self.tie_share:
            return Outcome.TIE
        return Outcome.AHEAD if ratio > 1.0 else Outcome.BEHIND


@dataclass(frozen=True, slots=True)
class StatedRatio:
    """A ratio that a document states, with who computed it, and what the submitted results give.

    `claim` is the id of the document's claim. `round` is None where no single round is behind it, and
    `found` where there are no two results to work it out from.
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
    found: float | None = None
