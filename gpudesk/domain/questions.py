"""The questions of the guided decision: on nine screens at most, each with a default if it is skipped."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gpudesk.domain.demand import Bounds

#: An answer: the id of an option, or a number where a question takes one.
AnswerValue = str | float
#: Asks for nothing: what depends on it cannot be told.
UNKNOWN: Final = "unknown"
#: Sets no limit.
NONE: Final = "none"
NO_LIMIT: Final = math.inf


class Strength(StrEnum):
    """How much a rule weighs; what must hold is never outvoted."""

    HARD = "hard"
    STRONG = "strong"
    MILD = "mild"


class Screen(StrEnum):
    """The screens in their order."""

    SOFTWARE = "software"
    MEMORY = "memory"
    LATENCY = "latency"
    SITE = "site"
    GOAL = "goal"
    TEAM = "team"
    MONEY = "money"
    TIMING = "timing"
    VENDORS = "vendors"

    @property
    def strength(self) -> Strength:
        """How much most answers of a screen weigh, which is the part of the dialogue that it stands in."""
        return _STRENGTHS[self]


_STRENGTHS: Final = {
    Screen.SOFTWARE: Strength.HARD,
    Screen.MEMORY: Strength.HARD,
    Screen.LATENCY: Strength.HARD,
    Screen.SITE: Strength.HARD,
    Screen.GOAL: Strength.STRONG,
    Screen.TEAM: Strength.STRONG,
    Screen.MONEY: Strength.STRONG,
    Screen.TIMING: Strength.MILD,
    Screen.VENDORS: Strength.MILD,
}


@dataclass(frozen=True, slots=True)
class Question:
    """One question: ids of options, or a number within `bounds` in `unit` with `presets` that are offered.

    `default` is what holds as long as nothing is answered and the scenario says nothing of it. A number's
    options are those that are no number: that there is no limit, or that it is not known.
    """

    id: str
    screen: Screen
    options: tuple[str, ...]
    default: str
    bounds: Bounds | None = None
    unit: str | None = None
    presets: tuple[float, ...] = ()

    @property
    def takes_number(self) -> bool:
        """Whether it is answered with a number."""
        return self.bounds is not None

    @property
    def offered(self) -> tuple[AnswerValue, ...]:
        """What is offered to choose from, numbers first."""
        return (*self.presets, *self.options)

    def takes(self, value: object) -> bool:
        """Whether a value is an answer to it."""
        if isinstance(value, str):
            return value in self.options
        if self.bounds is None or isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return self.bounds.hold(value)


_MOST_MS: Final = 3_600_000.0
_ALL: Final = (
    Question(
        "serving_engine",
        Screen.SOFTWARE,
        ("any", "vllm", "sglang", "tensorrt-llm", "tgi", "own"),
        "any",
    ),
    Question("tuned_for", Screen.SOFTWARE, ("nothing", "cuda", "cdna4"), "nothing"),
    Question("porting", Screen.SOFTWARE, ("yes", "no"), "yes"),
    Question("shape", Screen.MEMORY, ("free", "one", "several"), "free"),
    Question("long_context", Screen.MEMORY, ("no", "yes"), "no"),
    Question("precision", Screen.MEMORY, ("any", "fp4", "automatic", "unquantised"), "any"),
    Question(
        "ttft_limit_ms",
        Screen.LATENCY,
        (NONE,),
        NONE,
        Bounds(0.0, _MOST_MS, above=True),
        "ms",
        (1000.0, 2000.0, 5000.0),
    ),
    Question(
        "tpot_limit_ms",
        Screen.LATENCY,
        (NONE,),
        NONE,
        Bounds(0.0, _MOST_MS, above=True),
        "ms",
        (20.0, 50.0, 100.0),
    ),
    Question("service", Screen.LATENCY, ("interactive", "server", "offline"), "server"),
    Question("site", Screen.SITE, ("open", "rack", "oam", "hgx", "pcie", "amd"), "open"),
    Question("destination", Screen.SITE, ("free", "controlled", UNKNOWN), UNKNOWN),
    Question("priority", Screen.GOAL, ("balanced", "cost", "speed", "users", "certainty"), "balanced"),
    Question("work", Screen.GOAL, ("serving", "multimodal", "media", "fine_tuning", "training"), "serving"),
    Question("standing", Screen.GOAL, (NONE, "reference", "frontier"), NONE),
    Question("team", Screen.TEAM, ("rocm", "can_learn", "cuda", "small", UNKNOWN), UNKNOWN),
    Question("tuning", Screen.TEAM, ("full", "untuned", "tuned", "own_code", UNKNOWN), UNKNOWN),
    Question("current_platform", Screen.TEAM, ("CUDA", "ROCm", "other", NONE), "CUDA"),
    Question("acquisition", Screen.MONEY, ("undecided", "own", "rent"), "undecided"),
    Question(
        "monthly_hours",
        Screen.MONEY,
        (UNKNOWN,),
        UNKNOWN,
        Bounds(0.0, 1e9, above=True),
        "h/month",
        (500.0, 1_000.0, 10_000.0, 1_000_000.0),
    ),
    Question(
        "budget_usd",
        Screen.MONEY,
        (NONE,),
        NONE,
        Bounds(0.0, 1e12, above=True),
        "USD",
        (50_000.0, 250_000.0, 1_000_000.0),
    ),
    Question(
        "adoption_months",
        Screen.MONEY,
        (UNKNOWN,),
        UNKNOWN,
        Bounds(0.0, 120.0),
        "months",
        (0.0, 3.0, 6.0, 12.0),
    ),
    Question(
        "months_to_launch",
        Screen.TIMING,
        (UNKNOWN,),
        UNKNOWN,
        Bounds(0.0, 120.0),
        "months",
        (0.0, 3.0, 9.0, 12.0),
    ),
    Question("waiting", Screen.TIMING, ("no", "unpriced", "priced"), "no"),
    Question("vendor_policy", Screen.VENDORS, ("any", "one", "two_pools", "shared_pool"), "any"),
    Question("api_checked", Screen.VENDORS, ("yes", "no", UNKNOWN), UNKNOWN),
)
#: All questions by id, in the order of the dialogue.
QUESTIONS: Final[Mapping[str, Question]] = MappingProxyType({each.id: each for each in _ALL})

_NOTHING: Final[Mapping[str, AnswerValue]] = MappingProxyType({})
_NO_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType({})
#: What a rule adds to the score of what it favours, by its strength; those that must hold remove instead.
USUAL_WEIGHTS: Final[Mapping[Strength, float]] = MappingProxyType(
    {Strength.HARD: 0.0, Strength.STRONG: 3.0, Strength.MILD: 1.0}
)
#: Weights that a user may give a rule.
WEIGHT_BOUNDS: Final = Bounds(0.0, 100.0)


@dataclass(frozen=True, slots=True)
class DecisionSettings:
    """What the user said in the dialogue; what is not said is the scenario's, or the question's default.

    `weights` are those of rules whose weight the user changed. `kept` is a second set of answers, kept to be
    compared with. `plans` are inputs of the plans beside the recommendation, by name. `done` are the steps of
    a purchase that are done, with a note on each.
    """

    answers: Mapping[str, AnswerValue] = field(default_factory=lambda: _NOTHING)
    weights: Mapping[str, float] = field(default_factory=lambda: _NO_WEIGHTS)
    kept: Mapping[str, AnswerValue] | None = None
    plans: Mapping[str, AnswerValue] = field(default_factory=lambda: _NOTHING)
    done: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


#: Nothing said.
NO_DECISION: Final = DecisionSettings()
