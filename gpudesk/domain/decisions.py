"""Decisions: rules, what each says of each accelerator, and what follows, with how firm that is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Banded
from gpudesk.domain.questions import AnswerValue, Strength

#: What a fact may be; None where it is not known.
Fact = bool | float | str | Banded | None
Facts = Mapping[str, Fact]


class Tested(NamedTuple):
    """One comparison of a condition, or one fact that is true or not, with what was found."""

    text: str
    left: Fact
    right: Fact
    holds: bool | None


class Effect(StrEnum):
    """What a rule does to one accelerator."""

    REMOVES = "removes"
    FAVOURS = "favours"
    PASSES = "passes"
    NONE = "none"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a rule, that `when` holds; then what it asks of accelerators, each by its own facts.

    `requires` removes those of which it does not hold, `favours` adds the rule's weight, `checks` is only
    shown. `advice` is what is to be done. `theme` and `title` are what it is about, and is called, where that
    is not the rule's.
    """

    when: str
    requires: str | None = None
    favours: str | None = None
    checks: str | None = None
    advice: str | None = None
    theme: str | None = None
    title: str | None = None

    @property
    def asked(self) -> str | None:
        """The condition on accelerators."""
        return self.requires or self.favours or self.checks


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of a document in the program's words, for any accelerators.

    `source` is the id of the document (None: the program's own), `dated` when it spoke, `pair` the
    accelerators that it compared. Rules of one `theme` count once. `asks` are the questions that it answers
    to, `shows` the fact of accelerators that it is about. `disputes` are those about a figure that it rests
    on; `printed` is that figure and `corrected` what holds instead. `unfounded` says why nothing is left of
    it, which leaves it without weight.
    """

    id: str
    source: str | None
    dated: str
    pair: tuple[str, ...]
    strength: Strength
    theme: str
    title: str
    why: str
    cases: tuple[Case, ...]
    asks: tuple[str, ...] = ()
    shows: str | None = None
    disputes: tuple[str, ...] = ()
    printed: str | None = None
    corrected: str | None = None
    unfounded: str | None = None
    weight: float | None = None
    against: tuple[str, ...] = ()


class TraceCell(NamedTuple):
    """What a rule does to one accelerator, and the fact that it shows."""

    effect: Effect
    value: Fact
    tested: tuple[Tested, ...] = ()


@dataclass(frozen=True, slots=True)
class TraceLine:
    """A rule that fired: its case, what was tested of the scenario, and one cell for each column.

    `weight` is what it adds where it favours. `counted_with` is the rule of the same theme that counts for
    both; `answers` are those that it rests on.
    """

    rule: Rule
    case: Case
    answers: Mapping[str, AnswerValue]
    tested: tuple[Tested, ...]
    cells: tuple[TraceCell, ...]
    weight: float
    counted_with: str | None = None

    @property
    def title(self) -> str:
        """What the case that holds is called."""
        return self.case.title or self.rule.title


class Origin(StrEnum):
    """Where an answer comes from."""

    YOURS = "yours"
    SCENARIO = "scenario"
    DEFAULT = "default"


class Answered(NamedTuple):
    """The answer in force to a question."""

    value: AnswerValue
    origin: Origin


class Exclusion(NamedTuple):
    """A rule that removes a column, and the comparison that does it."""

    key: str
    rule: Rule
    because: tuple[Tested, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How one column stands: its score with likely figures, and its share of the draws that it wins.

    `removed` are the rules that remove it, `open_rules` those that would but cannot be decided.
    """

    key: str
    accelerator: str
    score: float
    share: float
    removed: tuple[str, ...] = ()
    open_rules: tuple[str, ...] = ()


class Verdict(StrEnum):
    """What a decision comes to."""

    WINNER = "winner"
    OPEN = "no clear winner"
    NONE_FITS = "none fits"


class Weighed(NamedTuple):
    """A rule with what it gives the leading column over the mean of the others; below 0 it is against it."""

    rule: Rule
    line: TraceLine
    gain: float


@dataclass(frozen=True, slots=True)
class Pilot:
    """The measurement that would settle a decision: which columns, which figure, and for how long.

    `figure` is the fact whose doubt moves the most draws. `hours` run `requests` on each of the columns.
    """

    keys: tuple[str, ...]
    figure: str
    requests: int
    hours: float


@dataclass(frozen=True, slots=True)
class Flip:
    """The smallest change of one input that changes the answer, tried out.

    `input` is a question's id, or `key.name` of an input of costs; `becomes` the keys of the columns that
    then lead, empty where none is left.
    """

    input: str
    before: AnswerValue | None
    after: AnswerValue
    becomes: tuple[str, ...]
    verdict: Verdict


class Level(StrEnum):
    """How an accelerator does in a factor, as comparisons of two put it."""

    PREFERRED = "preferred"
    CAPABLE = "capable"
    EQUAL = "equal"
    LACKS = "lacks"
    UNKNOWN = "unknown"


class FactorCell(NamedTuple):
    """How one accelerator does in a factor, and the fact that made it so."""

    level: Level
    value: Fact


@dataclass(frozen=True, slots=True)
class Factor:
    """One row of the factor table: a subject, the fact that it is judged by, and a cell for each column.

    `stated` are the rules of documents that have this row.
    """

    id: str
    fact: str
    cells: tuple[FactorCell, ...]
    stated: tuple[str, ...]


class Dispute(NamedTuple):
    """Two rules of one theme that favour different accelerators here."""

    one: str
    other: str


class Advice(NamedTuple):
    """What a rule tells to do."""

    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Recommended:
    """The deployment that is recommended, by the key of its column."""

    key: str
    accelerator: str
    count: int
    plan: ParallelPlan


@dataclass(frozen=True, slots=True)
class Decision:
    """What the answers come to on one catalog: everything that screen, paper and command line show of it.

    `columns` are the keys of the columns in their order, `facts` those of the scenario and `parts` those of
    each column. `silent` are the rules that did not fire. `shares` are of draws of everything that is not
    known, the weights of the rules among it; `runner_up` is the key of the next column.
    """

    columns: tuple[str, ...]
    answers: Mapping[str, Answered]
    facts: Facts
    parts: tuple[Facts, ...]
    trace: tuple[TraceLine, ...]
    silent: tuple[str, ...]
    standings: tuple[Standing, ...]
    verdict: Verdict
    recommended: Recommended | None
    runner_up: str | None
    robustness: float
    draws: int
    reasons: tuple[Weighed, ...]
    against: tuple[Weighed, ...]
    exclusions: tuple[Exclusion, ...]
    advice: tuple[Advice, ...]
    conflicts: tuple[Dispute, ...]
    pilot: Pilot | None
    factors: tuple[Factor, ...]
