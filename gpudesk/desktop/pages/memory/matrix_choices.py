"""What the user asks of the view of all models: formats, lengths, how it is counted, in which order."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from gpudesk.desktop.itemmodels.fit_arrangement import BY_PARAMETERS
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.shell.choices import MOST_TOKENS
from gpudesk.domain.fit_matrix import FitQuestion, ReadingId
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.domain.scenarios import Scenario

#: The most sequences in flight that can be asked for.
MOST_IN_FLIGHT: Final = 1_000_000
#: Counts that rows and columns can be narrowed to.
MOST_COUNTS: Final = (1, 2, 4, 8, 16, 32)
_SETTING: Final = "memory.matrix."


@dataclass(frozen=True, slots=True)
class MatrixChoices:
    """Empty formats and a `context` of 0 follow the scenario; an empty `reading` is the estimator.

    `most` is 0 where nothing is narrowed; `by` and `descending` are as in `FitOrder`.
    """

    weights: str = ""
    kv: str = ""
    context: int = 0
    concurrency: int = 1
    reading: str = ""
    by: str = BY_PARAMETERS
    descending: bool = False
    most: int = 0

    @property
    def follows(self) -> bool:
        """Whether formats and lengths are those of the scenario, of a single sequence."""
        return (self.weights, self.kv, self.context, self.concurrency) == ("", "", 0, 1)

    def question(self, scenario: Scenario) -> FitQuestion:
        """Return what every cell is asked."""
        work = scenario.workload
        return FitQuestion(
            weights=Precision(self.weights) if self.weights else scenario.weights,
            kv=Precision(self.kv) if self.kv else scenario.kv,
            context=self.context or work.input_tokens + work.output_tokens,
            concurrency=self.concurrency,
            serving_engine=scenario.serving_engine,
            memory_fraction=scenario.memory_fraction,
        )


def read_choices(settings: Settings) -> MatrixChoices:
    """Return what was chosen last; what cannot be used is as it is at first."""
    usual = MatrixChoices()
    kept = {
        each.name: settings.get(_SETTING + each.name, getattr(usual, each.name))
        for each in fields(MatrixChoices)
    }
    allowed = {
        "weights": kept["weights"] in tuple(Precision),
        "kv": kept["kv"] in tuple(KV_BYTES),
        "context": 0 <= kept["context"] <= MOST_TOKENS,
        "concurrency": 1 <= kept["concurrency"] <= MOST_IN_FLIGHT,
        "reading": kept["reading"] in ("", *ReadingId),
        "most": kept["most"] in MOST_COUNTS,
    }
    return MatrixChoices(
        **{name: value if allowed.get(name, True) else getattr(usual, name) for name, value in kept.items()}
    )


def keep_choices(settings: Settings, choices: MatrixChoices) -> None:
    """Begin with these the next time."""
    for each in fields(MatrixChoices):
        settings.put(_SETTING + each.name, getattr(choices, each.name))
