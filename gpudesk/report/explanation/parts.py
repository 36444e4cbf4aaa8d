"""Value types of an explanation: figure, derivation, limiter, plans, measured runs, claims, decision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from gpudesk.domain.claim import ClaimStatus
from gpudesk.domain.sizing import FitRemedy
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import MISSING_VALUE_TEXT, join_unit
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.report.decision.questions import ColumnOutcome


@frozen_dataclass
class ColumnOutcomeLine:
    """One column under an answer or a rule: its name and look, its outcome, and the fact behind it.

    `slot` is its palette index, from 1. `state` is right-aligned; `text` below.
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


@frozen_dataclass
class DecisionFinding:
    """Sentences below a heading: the reason for being undecided, the weight of a rule."""

    key: str
    title: str
    texts: tuple[str, ...]


@frozen_dataclass
class RulingLine:
    """A rule with its strength and source; `lines` are reason, test, and printed text."""

    id: str
    title: str
    strength: str
    origin: str
    applies: bool
    lines: tuple[str, ...]

    @property
    def sentence(self) -> str:
        return f"{self.title}, {self.strength}, {self.origin}"


@frozen_dataclass
class DecisionExplanation:
    """The sections of an explanation of a decision in reading order."""

    outcomes: tuple[ColumnOutcomeLine, ...] = ()
    findings: tuple[DecisionFinding, ...] = ()
    rulings_title: str = ""
    rulings: tuple[RulingLine, ...] = ()

    def list_text_lines(self) -> Iterator[str]:
        """Yield all lines as text, for pasting."""
        yield from (f"- {line.sentence}" for line in self.outcomes)
        for finding in self.findings:
            yield f"{finding.title}: {' '.join(finding.texts)}"
        if self.rulings:
            yield f"{self.rulings_title}:"
        for ruling in self.rulings:
            yield f"- {ruling.sentence}"
            yield from (f"  {line}" for line in ruling.lines)


class ExplanationBasis(StrEnum):
    """The basis of a figure, shown by its glyph."""

    CALIBRATED = "calibrated"
    ESTIMATED = "estimated"
    UNCALIBRATED = "uncalibrated"
    EXACT = "exact"
    CLAIM = "claim"
    DOES_NOT_FIT = "does not fit"
    UNKNOWN = "unknown"


@frozen_dataclass
class ExplanationDetail:
    """A label with its value; `url` marks an address, which can be copied."""

    label: str
    value: str
    url: bool = False


def list_details(*pairs: tuple[str, str | None], url: str | None = None) -> tuple[ExplanationDetail, ...]:
    """Return the values that are known, with their labels; the address last."""
    details = tuple(ExplanationDetail(label, text) for label, text in pairs if text)
    return (*details, ExplanationDetail(tr("URL"), url, url=True)) if url else details


class CatalogActionKind(StrEnum):
    """Kinds of catalog edits."""

    #: Enter or change a value of the user's.
    VALUE = "value"
    #: Prefer another claim.
    TAKE = "take"
    #: Remove all of the user's data on an attribute.
    REVERT = "revert"
    #: Remove inactive facts of the user.
    FORGET = "forget"
    SOURCE = "source"
    PRICE = "price"


@frozen_dataclass
class CatalogAction:
    """An available edit: its wording, its target, and its key.

    `source` is the id of the source of the claim, or the source itself; `price` is the id of a price.
    """

    kind: CatalogActionKind
    text: str
    thing: str | None = None
    attribute: str | None = None
    source: str | None = None
    price: str | None = None
    key: str = ""


@frozen_dataclass
class StatementLine:
    """A printed statement of a source document: text, document, and remarks."""

    id: str
    text: str
    origin: str
    remark: str
    details: tuple[ExplanationDetail, ...]

    @property
    def sentence(self) -> str:
        return ", ".join(part for part in (self.text, self.origin, self.remark) if part)


@frozen_dataclass
class StatementGroup:
    """A source's statements on one entry; `more` is the number of omitted ones."""

    key: str
    label: str
    figures: tuple[ExplanationDetail, ...]
    more: str = ""


@frozen_dataclass
class UseLine:
    """A user of a fact: its name, and its role."""

    name: str
    role: str


@frozen_dataclass
class ClaimLine:
    """One claim: its figure, its publication, and the verdict on a rival.

    `origin` is kind and date, `source` identifies the publication, `source_id` its id. `offer` is the edit that prefers
    the claim, if available.
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


@frozen_dataclass
class ClaimGroup:
    """All claims about one attribute, the preferred one first, with the reason.

    `key` is the attribute as `THING/NAME`, which the sources of terms refer to.
    """

    key: str
    label: str
    claims: tuple[ClaimLine, ...]
    reason: str | None = None


#: The names of a term and of all its inputs, nested.
TermOutline = tuple[str, tuple["TermOutline", ...]]


@dataclass(frozen=True)
class TermLine:
    """One quantity of a derivation with its formula.

    `claims` is the key of the `ClaimGroup` behind a leaf. `enter` describes the input terms on demand: a derivation has
    a hundred and shows ten.
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
        value = join_unit(self.value, self.unit, " ") if self.unit else self.value
        return ", ".join(part for part in (f"{self.label} {value}", self.formula, self.source) if part)

    def walk(self) -> Iterator[TermLine]:
        yield self
        for each in self.inputs:
            yield from each.walk()


@frozen_dataclass
class LimiterShareLine:
    """A component of a time; `share` is of 1."""

    label: str
    share: float
    text: str


@frozen_dataclass
class LimiterBreakdown:
    """The limiter of a figure: a remark, and the breakdown of the time named by `of`, the largest first."""

    of: str
    shares: tuple[LimiterShareLine, ...]
    remark: str | None = None


@frozen_dataclass
class DisputeLine:
    """Two contradictory statements, the verdict and its reason.

    `refused_by` is set if the statement is refuted by arithmetic or public record rather than by another.
    """

    disagreement: str
    verdict: str
    reason: str
    refused_by: str = ""

    @property
    def judged(self) -> str:
        verdict = tr("Verdict: {verdict}.", verdict=self.verdict)
        return f"{verdict} {self.refused_by}." if self.refused_by else verdict


@frozen_dataclass
class RemedyLine:
    """One way to make a deployment fit; `action` is the wording of the edit if it works."""

    label: str
    verdict: str
    detail: str
    remedy: FitRemedy
    action: str | None


@frozen_dataclass
class ExplainedPlan:
    """One parallel plan: its throughput or a dash, and the reason for or against it.

    `latency` is its TTFT and TPOT, empty without any.
    """

    name: str
    figure: str
    unit: str | None
    reason: str
    latency: str
    is_chosen: bool

    @property
    def value(self) -> str:
        """The throughput with its unit, empty without one."""
        return join_unit(self.figure, self.unit, " ") if self.unit else ""

    @property
    def sentence(self) -> str:
        chosen = tr("chosen") if self.is_chosen else ""
        return ", ".join(part for part in (self.name, chosen, self.value, self.latency, self.reason) if part)


@frozen_dataclass
class ExplainedPlanGroup:
    """Further plans of one kind, which are rarely needed."""

    key: str
    label: str
    plans: tuple[ExplainedPlan, ...]


@frozen_dataclass
class ExplainedPlans:
    """The chosen plan with the nearest alternatives, and all others in groups."""

    first_plans: tuple[ExplainedPlan, ...]
    more: tuple[ExplainedPlanGroup, ...]


@frozen_dataclass
class MeasuredRunLine:
    """One published figure and its held-out prediction.

    `what` are the conditions that differ from the request, `error` is the error of the prediction, `verdict` whether
    the measured figure is in its interval. `source` is publisher and title, `address` the link.
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


@frozen_dataclass
class MeasuredRunLines:
    """Published figures similar to one, the nearest first, and a remark if there is none or none is near.

    `of` names their figure if it differs from the explained one.
    """

    of: str
    lines: tuple[MeasuredRunLine, ...]
    remark: str | None = None


@frozen_dataclass
class Explanation:
    """The full explanation of one figure, in reading order.

    `band` is the interval, the range of claims or the reason for a missing figure, in words. `age` is the age of a
    catalog fact, `stale` whether the user's rule marks it. `facts` state the basis of the explanation, for copies.
    Explanations of a whole decision have no figure.
    """

    what: str
    conditions: str
    figure: str = MISSING_VALUE_TEXT
    unit: str | None = None
    band: str = ""
    ground: ExplanationBasis = ExplanationBasis.UNKNOWN
    basis: str = ""
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
    statement_groups: tuple[StatementGroup, ...] = ()
    uses: tuple[UseLine, ...] = ()
    offers: tuple[CatalogAction, ...] = ()
    decision: DecisionExplanation | None = None

    @property
    def value(self) -> str:
        return join_unit(self.figure, self.unit, " ") if self.unit else self.figure

    @property
    def sentence(self) -> str:
        return "; ".join(part for part in (self.what, self.value, self.band, self.basis) if part)
