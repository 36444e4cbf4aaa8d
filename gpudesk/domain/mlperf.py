"""MLPerf results of accelerators side by side."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import LabeledEnum


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
