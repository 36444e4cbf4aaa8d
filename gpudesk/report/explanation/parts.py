"""Value types of an explanation: figure, working, limiter, plans, measured runs, claims, decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from gpudesk.domain.claim import ClaimStatus
from gpudesk.domain.sizing import FitRemedy
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.report.decision.questions import ColumnOutcome


@dataclass(frozen=True, slots=True)
class ColumnOutcomeLine:
    """One column under an answer or a rule: its name and how it is drawn, its fate, and the fact behind it.

    `slot` is its place in the palette, from 1. `state` stands at the right; `text` below.
    """

    name: str
    slot: int
    is_variant: bool
    fate: ColumnOutcome
    state: str
    text: str

    @property
    def sentence(self) -> str:
        return ", ".join(part for part in (self.name, self.state, self.text) if part)


@dataclass(frozen=True, slots=True)
class DecisionFinding:
    """A sentence or a few under a heading: why something is undecided, what a rule weighs."""

    key: str
    title: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RulingLine:
    """A rule with its strength and source; `lines` are why it is there, what it tests, what was printed."""

    id: str
    title: str
    strength: str
    origin: str
    applies: bool
    lines: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return f"{self.title}, {self.strength}, {self.origin}"


@dataclass(frozen=True, slots=True)
class DecisionExplanation:
    """The parts of an explanation of a decision in the order in which they are read."""

    outcomes: tuple[ColumnOutcomeLine, ...] = ()
    findings: tuple[DecisionFinding, ...] = ()
    rulings_title: str = ""
    rulings: tuple[RulingLine, ...] = ()

    def as_text(self) -> Iterator[str]:
        """Yield all of it line by line, to be pasted."""
        yield from (f"- {line.sentence}" for line in self.outcomes)
        for finding in self.findings:
            yield f"{finding.title}: {' '.join(finding.texts)}"
        if self.rulings:
            yield f"{self.rulings_title}:"
        for ruling in self.rulings:
            yield f"- {ruling.sentence}"
            yield from (f"  {line}" for line in ruling.lines)


class ExplanationBasis(StrEnum):
    """What a figure rests on, which is what its glyph says."""

    MEASURED = "measured"
    CALIBRATED = "calibrated"
    ESTIMATED = "estimated"
    UNCALIBRATED = "uncalibrated"
    EXACT = "exact"
    CLAIM = "claim"
    DOES_NOT_FIT = "does not fit"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ExplanationDetail:
    """A label with its value; `url` marks an address, which can be copied."""

    label: str
    value: str
    url: bool = False


class CatalogActionKind(StrEnum):
    """What of the catalog can be edited."""

    #: Enter or change a value of the user's.
    VALUE = "value"
    #: Take another of the claims there are.
    TAKE = "take"
    #: Drop all that the user says of an attribute.
    REVERT = "revert"
    #: Remove facts of the user's that have no effect.
    FORGET = "forget"
    SOURCE = "source"
    PRICE = "price"


@dataclass(frozen=True, slots=True)
class CatalogAction:
    """An edit that can be asked for: its wording, what it is about, and the key that stands for it.

    `source` is the id of the source of the claim, or the source itself; `price` is the id of a price.
    """

    kind: CatalogActionKind
    text: str
    thing: str | None = None
    attribute: str | None = None
    source: str | None = None
    price: str | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class StatementLine:
    """A statement of a source document as printed: what, by whom, and what is remarked on it."""

    id: str
    said: str
    origin: str
    remark: str
    details: tuple[ExplanationDetail, ...]

    @property
    def sentence(self) -> str:
        return ", ".join(part for part in (self.said, self.origin, self.remark) if part)


@dataclass(frozen=True, slots=True)
class StatedGroup:
    """What a source states of one thing; `more` says how much of it is left out."""

    key: str
    label: str
    figures: tuple[ExplanationDetail, ...]
    more: str = ""


@dataclass(frozen=True, slots=True)
class UseLine:
    """What rests on a fact: its name, and as what."""

    name: str
    role: str


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """One claim: its figure, who states it in what kind of publication, and the verdict on a rival.

    `origin` is kind and date, `source` everything by which the publication can be found, `source_id` its id.
    `offer` is the edit that takes the claim, where that can be asked for.
    """

    value: str
    unit: str | None
    stance: ClaimStatus
    title: str
    origin: str
    source: str
    verdict: str | None
    details: tuple[ExplanationDetail, ...]
    sentence: str
    source_id: str = ""
    offer: CatalogAction | None = None


@dataclass(frozen=True, slots=True)
class ClaimGroup:
    """All claims about one attribute, the preferred one first, and why it is preferred.

    `key` is the attribute as `THING/NAME`, which the sources of terms refer to.
    """

    key: str
    label: str
    claims: tuple[ClaimLine, ...]
    reason: str | None = None


#: The names of a term and of all that enter it, nested.
TermOutline = tuple[str, tuple["TermOutline", ...]]


@dataclass(frozen=True)
class TermLine:
    """One quantity of a working with the formula that gives it.

    `claims` is the key of the `ClaimGroup` that a leaf takes its value from. `enter` puts the terms that
    enter into words, which is done when they are asked for: a working has a hundred of them and shows ten.
    """

    name: str
    label: str
    value: str
    unit: str | None
    formula: str | None
    source: str | None
    claims: str | None
    outline: TermOutline
    enter: Callable[[], tuple[TermLine, ...]] = field(repr=False, compare=False)

    @cached_property
    def inputs(self) -> tuple[TermLine, ...]:
        return self.enter()

    @property
    def sentence(self) -> str:
        value = f"{self.value} {self.unit}" if self.unit else self.value
        return ", ".join(part for part in (f"{self.label} {value}", self.formula, self.source) if part)

    def walk(self) -> Iterator[TermLine]:
        yield self
        for each in self.inputs:
            yield from each.walk()


@dataclass(frozen=True, slots=True)
class LimiterShareLine:
    """What takes a part of a time; `share` is of 1."""

    label: str
    share: float
    text: str


@dataclass(frozen=True, slots=True)
class LimiterBreakdown:
    """What limits a figure: a remark in words, and how the time named by `of` divides, the largest first."""

    of: str
    shares: tuple[LimiterShareLine, ...]
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class DisputeLine:
    """Two statements that cannot both hold, the verdict and its reason.

    `refused_by` says so where the statement is refused by arithmetic or public record and not by another.
    """

    disagreement: str
    verdict: str
    reason: str
    refused_by: str = ""

    @property
    def judged(self) -> str:
        verdict = tr("Verdict: {verdict}.", verdict=self.verdict)
        return f"{verdict} {self.refused_by}." if self.refused_by else verdict


@dataclass(frozen=True, slots=True)
class RemedyLine:
    """One way to make a deployment fit; `action` is the wording of the edit where it works."""

    label: str
    verdict: str
    detail: str
    remedy: FitRemedy
    action: str | None


@dataclass(frozen=True, slots=True)
class ExplainedPlan:
    """One parallel plan: its throughput or a dash, and why it was taken or not.

    `latency` is TTFT and TPOT with it, empty if it has none.
    """

    name: str
    figure: str
    unit: str | None
    reason: str
    latency: str
    taken: bool

    @property
    def value(self) -> str:
        """The throughput with its unit, empty if none exists."""
        return f"{self.figure} {self.unit}" if self.unit else ""

    @property
    def sentence(self) -> str:
        chosen = tr("chosen") if self.taken else ""
        return ", ".join(part for part in (self.name, chosen, self.value, self.latency, self.reason) if part)


@dataclass(frozen=True, slots=True)
class ExplainedPlanGroup:
    """Further plans of one kind, which are seldom asked for."""

    key: str
    label: str
    plans: tuple[ExplainedPlan, ...]


@dataclass(frozen=True, slots=True)
class ExplainedPlans:
    """The plan taken with the next ones, and all others in groups."""

    shown: tuple[ExplainedPlan, ...]
    more: tuple[ExplainedPlanGroup, ...]


@dataclass(frozen=True, slots=True)
class MeasuredRunLine:
    """One published figure and what was said of it unseen.

    `what` are the conditions in which it is not as asked, `error` is how far ours is off, `verdict` whether
    the measured figure lies in our band. `source` is who published it under what title, `address` where.
    """

    what: str
    error: str
    figures: str
    verdict: str
    source: str
    date: str
    address: str
    details: tuple[ExplanationDetail, ...]

    @property
    def compared(self) -> str:
        return ", ".join(part for part in (self.figures, self.verdict) if part)

    @property
    def sentence(self) -> str:
        error = ", ".join(part for part in (self.error, self.verdict) if part)
        published = ", ".join(part for part in (self.source, self.date) if part)
        return f"{self.what}: {self.figures} ({error}); {published}"


@dataclass(frozen=True, slots=True)
class MeasuredRunLines:
    """Published figures near to one, the nearest first, and a remark where there are none or none is near.

    `of` names the figure that they are of where that is another one, on which the explained one rests.
    """

    of: str
    lines: tuple[MeasuredRunLine, ...]
    remark: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything about one figure, in the order in which it is read.

    `band` is the interval, the range of claims or the reason why there is no figure, in words. `age` is how
    old a fact of the catalog is, `stale` whether that is too old by the user's rule. `facts` say on what all
    of it rests, for copies. What is about a decision as a whole has no figure.
    """

    what: str
    conditions: str
    figure: str
    unit: str | None
    band: str
    ground: ExplanationBasis
    basis: str
    record: MeasuredRunLines | None = None
    limits: LimiterBreakdown | None = None
    plans: ExplainedPlans | None = None
    working: TermLine | None = None
    claims_title: str = ""
    claims: tuple[ClaimGroup, ...] = ()
    disputes: tuple[DisputeLine, ...] = ()
    remedies: tuple[RemedyLine, ...] = ()
    facts: tuple[str, ...] = ()
    age: str = ""
    stale: bool = False
    details: tuple[ExplanationDetail, ...] = ()
    remarks: tuple[str, ...] = ()
    statements: tuple[StatementLine, ...] = ()
    stated: tuple[StatedGroup, ...] = ()
    uses: tuple[UseLine, ...] = ()
    offers: tuple[CatalogAction, ...] = ()
    decision: DecisionExplanation | None = None

    @property
    def value(self) -> str:
        return f"{self.figure} {self.unit}" if self.unit else self.figure

    @property
    def sentence(self) -> str:
        return "; ".join(part for part in (self.what, self.value, self.band, self.basis) if part)
