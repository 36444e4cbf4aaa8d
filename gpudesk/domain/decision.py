"""Decisions: questions, rules, effects of rules on accelerators, and the recommendation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.accelerator import SystemCount
from gpudesk.domain.cost import ResolvedCostInput
from gpudesk.domain.estimate import Estimate, ParallelPlan
from gpudesk.domain.sizing import NumberBounds
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message
from gpudesk.text.translation import LabeledEnum, translate_data

#: An answer: the id of an option, or a number where a question takes one.
AnswerValue = str | float
#: The answer "unknown": anything that depends on it is undecided.
UNKNOWN_ANSWER: Final = "unknown"
#: Owning or renting is open.
UNDECIDED_ANSWER: Final = "undecided"
#: No limit.
NO_LIMIT_ANSWER: Final = "none"
NO_LIMIT: Final = math.inf
#: No user waits for answers.
OFFLINE_SERVICE: Final = "offline"
#: Kinds of work to which figures of text serving do not apply.
MEDIA_WORK: Final = "media"
UNSERVED_WORK: Final = (MEDIA_WORK, "embeddings", "fine_tuning", "training")


class RuleStrength(LabeledEnum):
    """The weight of a rule; arguments never outvote a requirement."""

    HARD = "hard", "Required"
    STRONG = "strong", "Strong preference"
    MILD = "mild", "Mild preference"


class DialogueScreen(LabeledEnum):
    """The screens in order."""

    SOFTWARE = "software", "Existing software"
    MEMORY = "memory", "Memory and number formats"
    LATENCY = "latency", "Latency"
    SITE = "site", "Site"
    GOAL = "goal", "Goal"
    TEAM = "team", "Team"
    MONEY = "money", "Buy or rent"
    TIMING = "timing", "Timing"
    VENDORS = "vendors", "Vendors"

    @property
    def strength(self) -> RuleStrength:
        """The usual strength of rules for the questions of this screen."""
        return _STRENGTHS[self]


_STRENGTHS: Final = {
    DialogueScreen.SOFTWARE: RuleStrength.HARD,
    DialogueScreen.MEMORY: RuleStrength.HARD,
    DialogueScreen.LATENCY: RuleStrength.HARD,
    DialogueScreen.SITE: RuleStrength.HARD,
    DialogueScreen.GOAL: RuleStrength.STRONG,
    DialogueScreen.TEAM: RuleStrength.STRONG,
    DialogueScreen.MONEY: RuleStrength.STRONG,
    DialogueScreen.TIMING: RuleStrength.MILD,
    DialogueScreen.VENDORS: RuleStrength.MILD,
}


@frozen_dataclass
class DecisionQuestion:
    """One question: ids of options, or a number within `bounds` in `unit` with suggested `presets`.

    `default` applies until the user answers, unless the scenario implies a value. A number's options are non-numbers:
    no limit, or unknown.
    """

    id: str
    screen: DialogueScreen
    options: tuple[str, ...]
    default: str
    bounds: NumberBounds | None = None
    unit: str | None = None
    presets: tuple[float, ...] = ()

    @property
    def takes_number(self) -> bool:
        return self.bounds is not None

    @property
    def offered(self) -> tuple[AnswerValue, ...]:
        """All choices offered, numbers first."""
        return (*self.presets, *self.options)

    def takes(self, value: object) -> bool:
        if isinstance(value, str):
            return value in self.options
        if self.bounds is None or isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return self.bounds.hold(value)


_MOST_MS: Final = 3_600_000.0
_QUESTIONS: Final = (
    DecisionQuestion(
        "serving_engine", DialogueScreen.SOFTWARE, ("any", "vllm", "sglang", "tensorrt-llm", "tgi", "own"), "any"
    ),
    DecisionQuestion("tuned_for", DialogueScreen.SOFTWARE, ("nothing", "cuda", "cdna4"), "nothing"),
    DecisionQuestion("porting", DialogueScreen.SOFTWARE, ("yes", "no"), "yes"),
    DecisionQuestion("shape", DialogueScreen.MEMORY, ("free", "one", "several"), "free"),
    DecisionQuestion("long_context", DialogueScreen.MEMORY, ("no", "yes"), "no"),
    DecisionQuestion("precision", DialogueScreen.MEMORY, ("any", "fp4", "automatic", "unquantised"), "any"),
    DecisionQuestion(
        "ttft_limit_ms",
        DialogueScreen.LATENCY,
        (NO_LIMIT_ANSWER,),
        NO_LIMIT_ANSWER,
        NumberBounds(0.0, _MOST_MS, above=True),
        "ms",
        (1000.0, 2000.0, 5000.0),
    ),
    DecisionQuestion(
        "tpot_limit_ms",
        DialogueScreen.LATENCY,
        (NO_LIMIT_ANSWER,),
        NO_LIMIT_ANSWER,
        NumberBounds(0.0, _MOST_MS, above=True),
        "ms",
        (20.0, 50.0, 100.0),
    ),
    DecisionQuestion("service", DialogueScreen.LATENCY, ("interactive", "server", OFFLINE_SERVICE), "server"),
    DecisionQuestion("site", DialogueScreen.SITE, ("open", "office", "rack", "oam", "hgx", "pcie", "amd"), "open"),
    DecisionQuestion(
        "destination", DialogueScreen.SITE, ("free", "controlled", "china", UNKNOWN_ANSWER), UNKNOWN_ANSWER
    ),
    DecisionQuestion(
        "priority", DialogueScreen.GOAL, ("balanced", "cost", "speed", "latency", "users", "certainty"), "balanced"
    ),
    DecisionQuestion("work", DialogueScreen.GOAL, ("serving", "multimodal", *UNSERVED_WORK), "serving"),
    DecisionQuestion("standing", DialogueScreen.GOAL, (NO_LIMIT_ANSWER, "reference", "frontier"), NO_LIMIT_ANSWER),
    DecisionQuestion(
        "team", DialogueScreen.TEAM, ("rocm", "can_learn", "cuda", "small", UNKNOWN_ANSWER), UNKNOWN_ANSWER
    ),
    DecisionQuestion(
        "tuning", DialogueScreen.TEAM, ("full", "untuned", "tuned", "own_code", UNKNOWN_ANSWER), UNKNOWN_ANSWER
    ),
    DecisionQuestion(
        "current_platform",
        DialogueScreen.TEAM,
        ("CUDA", "ROCm", "other", NO_LIMIT_ANSWER, UNKNOWN_ANSWER),
        UNKNOWN_ANSWER,
    ),
    DecisionQuestion("acquisition", DialogueScreen.MONEY, (UNDECIDED_ANSWER, "own", "rent"), UNDECIDED_ANSWER),
    DecisionQuestion(
        "monthly_hours",
        DialogueScreen.MONEY,
        (UNKNOWN_ANSWER,),
        UNKNOWN_ANSWER,
        NumberBounds(0.0, 1e9, above=True),
        "h/month",
        (500.0, 1_000.0, 10_000.0, 1_000_000.0),
    ),
    DecisionQuestion(
        "budget_usd",
        DialogueScreen.MONEY,
        (NO_LIMIT_ANSWER,),
        NO_LIMIT_ANSWER,
        NumberBounds(0.0, 1e12, above=True),
        "USD",
        (50_000.0, 250_000.0, 1_000_000.0),
    ),
    DecisionQuestion(
        "adoption_months",
        DialogueScreen.MONEY,
        (UNKNOWN_ANSWER,),
        UNKNOWN_ANSWER,
        NumberBounds(0.0, 120.0),
        "months",
        (0.0, 3.0, 6.0, 12.0),
    ),
    DecisionQuestion(
        "months_to_launch",
        DialogueScreen.TIMING,
        (UNKNOWN_ANSWER,),
        UNKNOWN_ANSWER,
        NumberBounds(0.0, 120.0),
        "months",
        (0.0, 3.0, 9.0, 12.0),
    ),
    DecisionQuestion("waiting", DialogueScreen.TIMING, ("no", "unpriced", "priced"), "no"),
    DecisionQuestion("vendor_policy", DialogueScreen.VENDORS, ("any", "one", "two_pools", "shared_pool"), "any"),
    DecisionQuestion("api_checked", DialogueScreen.VENDORS, ("yes", "no", UNKNOWN_ANSWER), UNKNOWN_ANSWER),
)
#: All questions by id, in the order of the dialogue.
QUESTIONS: Final[Mapping[str, DecisionQuestion]] = {each.id: each for each in _QUESTIONS}

_NOTHING: Final[Mapping[str, AnswerValue]] = {}
_NO_WEIGHTS: Final[Mapping[str, float]] = {}
#: The weight of a rule as an argument, by strength; requirements remove instead.
DEFAULT_WEIGHTS: Final[Mapping[RuleStrength, float]] = {
    RuleStrength.HARD: 0.0,
    RuleStrength.STRONG: 3.0,
    RuleStrength.MILD: 1.0,
}
#: Weights that a user can give a rule.
WEIGHT_BOUNDS: Final = NumberBounds(0.0, 100.0)


@frozen_dataclass
class DecisionSettings:
    """Answers of the user; a question without one takes the scenario's value, or its default.

    `weights` are the changed weights of rules. `kept` is a second set of answers for comparison. `plans` are inputs of
    purchasing plans, by name. `done` are completed purchase steps, each with a note.
    """

    answers: Mapping[str, AnswerValue] = field(default_factory=lambda: _NOTHING)
    weights: Mapping[str, float] = field(default_factory=lambda: _NO_WEIGHTS)
    kept: Mapping[str, AnswerValue] | None = None
    plans: Mapping[str, AnswerValue] = field(default_factory=lambda: _NOTHING)
    done: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def purchase_budget_usd(self) -> float | None:
        """The up-front budget of those who buy; None without one."""
        budget = self.answers.get("budget_usd")
        return budget if isinstance(budget, float) and self.answers.get("acquisition") == "own" else None

    @property
    def seeks_latency(self) -> bool:
        """Whether the goal is the shortest time of a request."""
        return self.answers.get("priority") == "latency"


#: No answers.
NO_DECISION_SETTINGS: Final = DecisionSettings()


#: Possible values of a fact; None if unknown.
FactValue = bool | float | str | IntervalEstimate | None
FactValues = Mapping[str, FactValue]


class ConditionResult(NamedTuple):
    """One comparison of a condition, or one boolean fact, with the value found."""

    text: str
    left: FactValue
    right: FactValue
    holds: bool | None


class RuleEffect(LabeledEnum):
    """The effect of a rule on one accelerator."""

    REMOVES = "removes", "rules it out"
    FAVORS = "favours", "favors it"
    PASSES = "passes", "passes"
    NONE = "none", "no effect"
    UNDECIDED = "undecided", "undecided"


@frozen_dataclass
class RuleCase:
    """One case of a rule: the condition `when`, and its effect on accelerators, by their own facts.

    `requires` removes those that fail it, `favours` adds the rule's weight, `checks` is only shown. `advice` is a
    recommended action. `theme` and `title` override those of the rule.
    """

    when: str
    requires: str | None = None
    favours: str | None = None
    checks: str | None = None
    advice: str | None = None
    theme: str | None = None
    title: str | None = None

    @property
    def question_condition(self) -> str | None:
        return self.requires or self.favours or self.checks


@frozen_dataclass
class DecisionRule:
    """A rule of a document in the program's words, for any accelerators.

    `source` is the id of the document (None: the program's own), `dated` its date, `pair` the accelerators that it
    compared. Rules of one `theme` count once. `asks` are the questions that it depends on, `shows` the accelerator fact
    that it is about. `disputes` concern a figure that it relies on; `printed` is that figure and `corrected` the right
    one. `unfounded` explains why a refuted rule has no weight. The advice of one that `is_followed` is what the search,
    the estimates or the pilot do already.
    """

    id: str
    source: str | None
    dated: str
    pair: tuple[str, ...]
    strength: RuleStrength
    theme: str
    title: str
    why: str
    cases: tuple[RuleCase, ...]
    asks: tuple[str, ...] = ()
    shows: str | None = None
    disputes: tuple[str, ...] = ()
    printed: str | None = None
    corrected: str | None = None
    unfounded: str | None = None
    weight: float | None = None
    against: tuple[str, ...] = ()
    is_followed: bool = False


class RuleRole(LabeledEnum):
    """What a rule did to a decision: part of the objective or the limits, an argument, or no effect."""

    DECIDED = "decided", "Decisive"
    ARGUED = "argued", "Arguments"
    NO_MATTER = "did not matter", "No effect"


class TraceCell(NamedTuple):
    """The effect of a rule on one accelerator, and the fact that it shows."""

    effect: RuleEffect
    value: FactValue
    tested: tuple[ConditionResult, ...] = ()


@frozen_dataclass
class TraceLine:
    """A rule that fired: its case, the tested facts of the scenario, and one cell for each column.

    `shows` is the column figure in its cells, one that the case compares. `weight` is its weight as an argument.
    `counted_with` is the rule of the same theme that counts for both; `answers` are those that it depends on.
    """

    rule: DecisionRule
    case: RuleCase
    answers: Mapping[str, AnswerValue]
    tested: tuple[ConditionResult, ...]
    shows: str | None
    cells: tuple[TraceCell, ...]
    weight: float
    counted_with: str | None = None
    role: RuleRole = RuleRole.NO_MATTER

    @property
    def title(self) -> str:
        return translate_data(self.case.title or self.rule.title)


class AnswerOrigin(LabeledEnum):
    """Where an answer comes from."""

    YOURS = "yours", "yours"
    SCENARIO = "scenario", "from the scenario"
    DEFAULT = "default", "default"


class QuestionAnswer(NamedTuple):
    """The current answer to a question."""

    value: AnswerValue
    origin: AnswerOrigin


class RuleExclusion(NamedTuple):
    """A rule that removes a column, and the failed comparison."""

    key: str
    rule: DecisionRule
    because: tuple[ConditionResult, ...]


class ObjectiveName(LabeledEnum):
    """The quantity by which candidates are scored, in one unit for all, with what the best one is."""

    COST = "usd_per_million_output", "Cheapest"
    THROUGHPUT = "output_tokens_per_s_per_accelerator", "Fastest per accelerator"
    DENSITY = "output_tokens_per_s_per_kw", "Fastest per kW"
    LATENCY = "request_s", "Fastest to answer"
    CAPACITY = "requests_per_accelerator", "Highest concurrency"
    TIME = "months_to_production", "First in production"


class DecisionObjective(NamedTuple):
    """The current objective; `instead_of` is the requested one if no candidate has the data to be scored by it."""

    name: ObjectiveName
    unit: str
    lower_is_better: bool
    instead_of: ObjectiveName | None = None


@frozen_dataclass
class DecisionCandidate:
    """The deployment of one column that carries the load, with its result by the objective.

    `value` is None if it cannot be computed; `missing` is the missing input, and `needed` the highest value (a price)
    at which it would lead. `payment`, "owned" or "rented", is the cheaper open way to pay, where costs are compared.
    `eligible` candidates are scored, and their `odds` to be the best add up to 1. `removed` are the rules that remove
    it, `open_rules` undecided ones that might. `score` is the sum of arguments. The highest `merit`, which does not
    depend on other candidates, is recommended: the logarithm of the value, with arguments and commitment. `systems` are
    the whole systems to own; None if accelerators are bought singly. `problem` is the reason for a missing estimate.
    `lots` are the whole systems or instances that it is sold or rented in. `unlike_rent` is the rent behind the value,
    if no specialized cloud rents the accelerator, and `like_for_like` the value at the usual rent of these. `doubts`
    are the facts that make its purchase or its figures doubtful.
    """

    key: str
    accelerator: str
    count: int | None
    plan: ParallelPlan | None
    eligible: bool
    value: IntervalEstimate | None
    odds: float
    score: float
    merit: float
    removed: tuple[str, ...] = ()
    open_rules: tuple[str, ...] = ()
    missing: str | None = None
    needed: float | None = None
    payment: str | None = None
    systems: SystemCount | None = None
    problem: Message | None = None
    lots: SystemCount | None = None
    unlike_rent: ResolvedCostInput | None = None
    like_for_like: float | None = None
    doubts: tuple[str, ...] = ()


class OtherPayment(NamedTuple):
    """The leader and runner-up if everything were paid for in the other way, "owned" or "rented"."""

    payment: str
    leader: DecisionCandidate
    runner_up: DecisionCandidate | None


class MediaFit(NamedTuple):
    """The names of the image and video models that one accelerator of a column holds, and of the others."""

    key: str
    held: tuple[str, ...]
    too_large: tuple[str, ...]


class DecisionScope(NamedTuple):
    """Whether figures of text serving apply to the kind of work, and the reason if not."""

    answered: bool
    why: Message | None = None


class DecisionVerdict(StrEnum):
    """The result of a decision."""

    WINNER = "winner"
    OPEN = "no clear winner"
    NONE_FITS = "none fits"


class DecisionReason(NamedTuple):
    """A fact for or against the leading column, compared with the column `other`.

    `line` is the rule that argues so; None for a figure of the estimates or costs. `fact` is the tested figure, None if
    the rule tests none. `payments` are how the two are paid for, for costs alone.
    """

    fact: str | None
    ours: FactValue
    theirs: FactValue
    other: str | None
    line: TraceLine | None = None
    payments: tuple[str | None, str | None] = (None, None)


@frozen_dataclass
class PilotMeasurement:
    """The measurement that would settle a decision: columns, figure, and duration.

    `figure` is the fact whose uncertainty matters most. `hours` run `requests` on each of the columns.
    """

    keys: tuple[str, ...]
    figure: str
    requests: int
    hours: float


#: The input of a flip that counts partly used systems in the other way: whole, or only their accelerators in use.
SYSTEMS_COUNTED: Final = "systems_counted"
COUNTED_WHOLE: Final = "whole"
COUNTED_IN_USE: Final = "in_use"


@frozen_dataclass
class DecisionFlip:
    """The smallest change of one input that changes the recommendation, verified by deciding again.

    `input` is a question's id, `key.name` of a cost input, or `SYSTEMS_COUNTED`; `becomes` are the keys of the columns
    that then lead, empty if none is left.
    """

    input: str
    before: AnswerValue | None
    after: AnswerValue
    becomes: tuple[str, ...]
    verdict: DecisionVerdict


class FactorLevel(LabeledEnum):
    """The rating of an accelerator in a factor, from pairwise comparisons."""

    PREFERRED = "preferred", "preferred"
    CAPABLE = "capable", "capable"
    EQUAL = "equal", "equal"
    TIED = "tied", "too close"
    LACKS = "lacks", "missing"
    UNKNOWN = "unknown", "unknown"


class FactorCell(NamedTuple):
    """The rating of one accelerator in a factor, and the fact behind it."""

    level: FactorLevel
    value: FactValue


@frozen_dataclass
class DecisionFactor:
    """One row of the factor table: a subject, its fact, and a cell for each column.

    `rules` are those of documents that state this factor.
    """

    id: str
    fact: str
    cells: tuple[FactorCell, ...]
    rules: tuple[str, ...]


class RuleConflict(NamedTuple):
    """Two rules of one theme that favor different accelerators here."""

    one: str
    other: str


class RuleAdvice(NamedTuple):
    """An action that a rule recommends."""

    rule: str
    text: str


@frozen_dataclass
class RecommendedDeployment:
    """The recommended deployment, by the key of its column."""

    key: str
    accelerator: str
    count: int
    plan: ParallelPlan


class WayOutKind(StrEnum):
    """The kind of change after which a deployment meets every limit."""

    WEIGHTS = "weights"
    COUNT = "count"
    ACCELERATOR = "accelerator"
    CONTEXT = "context"
    BUDGET = "budget"
    RENT = "rent"


class WayOut(NamedTuple):
    """A change after which a deployment meets every limit, with the estimate that shows it.

    `name` is that of the accelerator, `budget_usd` the budget that pays for the deployment, where that is the change.
    `undecided` are the titles of limits that a missing fact leaves undecided.
    """

    kind: WayOutKind
    name: str
    estimate: Estimate
    budget_usd: float | None = None
    undecided: tuple[str, ...] = ()


@frozen_dataclass
class Decision:
    """The decision for the answers on one catalog: everything that screen, paper and command line show of it.

    `columns` are the keys of the columns in order, `facts` those of the scenario and `parts` those of each column.
    `silent` are the rules that did not fire. `robustness` is the odds of the recommended column, `runner_up` the key of
    the next column. `tied_by` is the column that leads by figures alone, within the error, if arguments decided.
    `other_payment` is set if owning or renting is open and the other way alone has another leader, or if only one of
    the two has a named leader. `api_usd` is the price of a million output tokens, with their prompts, at a hosted API;
    None if it is unknown or costs are not compared. `utilization` is that behind costs, None if they are not compared.
    `set_counts` are the columns with a count of the user that is not the one for the demand, with that one; None for
    it if no number carries the demand within the limits.
    `media_fits` are known for work on images and video.
    """

    columns: tuple[str, ...]
    answers: Mapping[str, QuestionAnswer]
    facts: FactValues
    parts: tuple[FactValues, ...]
    trace: tuple[TraceLine, ...]
    objective: DecisionObjective
    scope: DecisionScope
    candidates: tuple[DecisionCandidate, ...]
    verdict: DecisionVerdict
    recommended: RecommendedDeployment | None
    runner_up: str | None
    tied_by: str | None
    robustness: float
    silent: tuple[str, ...] = ()
    reasons: tuple[DecisionReason, ...] = ()
    against: tuple[DecisionReason, ...] = ()
    exclusions: tuple[RuleExclusion, ...] = ()
    advice: tuple[RuleAdvice, ...] = ()
    conflicts: tuple[RuleConflict, ...] = ()
    pilot: PilotMeasurement | None = None
    factors: tuple[DecisionFactor, ...] = ()
    ways_out: tuple[WayOut, ...] = ()
    other_payment: OtherPayment | None = None
    api_usd: float | None = None
    utilization: ResolvedCostInput | None = None
    set_counts: Mapping[str, int | None] = field(default_factory=lambda: MappingProxyType({}))
    media_fits: tuple[MediaFit, ...] = ()

    @property
    def lacks_ways_out(self) -> bool:
        """Whether nothing is recommended, so that changes that help are worth a search."""
        return self.recommended is None and self.scope.answered
