"""The lines of the panel as a tree of nodes, built from an explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Final, TypeVar

from gpudesk.domain.sizing import FitRemedy
from gpudesk.report.explanation.parts import (
    CatalogAction,
    ClaimGroup,
    ClaimLine,
    ColumnOutcomeLine,
    DecisionExplanation,
    DecisionFinding,
    DisputeLine,
    ExplainedPlan,
    ExplainedPlanGroup,
    ExplainedPlans,
    Explanation,
    ExplanationBasis,
    ExplanationDetail,
    LimiterBreakdown,
    LimiterShareLine,
    MeasuredRunLine,
    MeasuredRunLines,
    RemedyLine,
    RulingLine,
    StatedGroup,
    StatementLine,
    TermLine,
    UseLine,
)
from gpudesk.text.translation import tr

T = TypeVar("T")

#: How many lines of a long list are in sight before it is unfolded.
_FIRST: Final = 5


class NodeKind(StrEnum):
    """What a line of the panel shows."""

    HEAD = "head"
    SECTION = "section"
    BAR = "bar"
    SHARE = "share"
    RECORD = "record"
    TERM = "term"
    GROUP = "group"
    CLAIM = "claim"
    DETAIL = "detail"
    NOTE = "note"
    DISPUTE = "dispute"
    REMEDY = "remedy"
    PLAN = "plan"
    PLANS = "plans"
    STATEMENT = "statement"
    STATED = "stated"
    MORE = "more"
    USE = "use"
    OUTCOME = "outcome"
    RULING = "ruling"
    SAID = "said"
    RULE = "rule"
    LINK = "link"
    EMPTY = "empty"


#: Lines that cannot be moved to: they only set others apart.
PASSIVE = frozenset({NodeKind.SECTION, NodeKind.BAR, NodeKind.GROUP, NodeKind.RULE})

#: Lines that a click anywhere on them folds in or out.
FOLDING = frozenset(
    {
        NodeKind.CLAIM,
        NodeKind.PLANS,
        NodeKind.RECORD,
        NodeKind.STATEMENT,
        NodeKind.STATED,
        NodeKind.MORE,
        NodeKind.RULING,
    }
)


class LinkCommand(StrEnum):
    """What a link does."""

    COPY_WITH_SOURCES = "copy with sources"
    COPY_WORKING = "copy working"
    APPLY = "apply"
    EDIT = "edit"


@dataclass(frozen=True, slots=True)
class NodeHeading:
    """The title of a part of the panel, and a word at its right."""

    title: str
    aside: str = ""


@dataclass(frozen=True, slots=True)
class NodeRemark:
    """A sentence with an icon."""

    text: str
    icon: str


@dataclass(frozen=True, slots=True)
class RankedShare:
    """One part of the bar with its place in it, the largest being 0."""

    line: LimiterShareLine
    place: int


@dataclass(frozen=True, slots=True)
class NodeLink:
    """An action: its wording, what it does, with what, and the key that does it too."""

    text: str
    command: LinkCommand
    remedy: FitRemedy | None = None
    offer: CatalogAction | None = None

    @property
    def key(self) -> str:
        """The key that does the same, empty where there is none."""
        return "" if self.offer is None else self.offer.key


NodeContent = (
    Explanation
    | NodeHeading
    | LimiterBreakdown
    | RankedShare
    | TermLine
    | ClaimLine
    | ExplanationDetail
    | NodeRemark
    | DisputeLine
    | RemedyLine
    | MeasuredRunLine
    | ExplainedPlan
    | ExplainedPlanGroup
    | StatementLine
    | StatedGroup
    | UseLine
    | ColumnOutcomeLine
    | RulingLine
    | NodeLink
    | None
)


@dataclass(frozen=True)
class PanelNode:
    """One line; `key` tells it from all others. A term says itself what is read out, when it is asked."""

    kind: NodeKind
    key: str
    content: NodeContent
    said: str | None = None
    copied_as: str | None = None
    below: tuple[PanelNode, ...] = ()

    @property
    def has_children(self) -> bool:
        return bool(self.content.outline[1]) if isinstance(self.content, TermLine) else bool(self.below)

    @cached_property
    def children(self) -> tuple[PanelNode, ...]:
        """The lines that belong to this one; those of a term are made when they are asked for."""
        if isinstance(self.content, TermLine):
            return tuple(make_term_node(each, f"{self.key}/{each.name}") for each in self.content.inputs)
        return self.below

    @property
    def sentence(self) -> str:
        if self.said is not None:
            return self.said
        return self.content.sentence if isinstance(self.content, TermLine) else ""

    @property
    def copied(self) -> str:
        """What is copied: the sentence where nothing else is given."""
        return self.sentence if self.copied_as is None else self.copied_as

    @property
    def shape(self) -> tuple[object, ...]:
        """What has to be equal for the tree to keep its lines and change their texts only."""
        if isinstance(self.content, TermLine):
            return (self.kind, self.key, self.content.outline)
        return (self.kind, self.key, tuple(child.shape for child in self.below))


def make_term_node(term: TermLine, key: str) -> PanelNode:
    return PanelNode(NodeKind.TERM, key, term)


def make_section_node(key: str, title: str, aside: str = "") -> PanelNode:
    said = f"{title}, {aside}" if aside else title
    return PanelNode(NodeKind.SECTION, f"section.{key}", NodeHeading(title, aside), said)


def fold_long_list(prefix: str, items: Sequence[T], node_of: Callable[[str, T], PanelNode]) -> Iterator[PanelNode]:
    """Yield the lines of a list, of a long one the first few and a fold with the others.

    `node_of` makes the line of an item, whose key begins as it is told.
    """
    shown = len(items) if len(items) <= _FIRST + 1 else _FIRST
    for item in items[:shown]:
        yield node_of(prefix, item)
    if others := items[shown:]:
        key = f"{prefix}.more"
        label = tr("… and {n} more", n=len(others))
        yield PanelNode(
            NodeKind.MORE, key, NodeHeading(label), label, below=tuple(node_of(key, each) for each in others)
        )


def make_detail_nodes(details: tuple[ExplanationDetail, ...], key: str) -> tuple[PanelNode, ...]:
    """Return what is folded below a line; of an address itself is copied."""
    return tuple(
        PanelNode(
            NodeKind.DETAIL,
            f"{key}.{number}",
            detail,
            f"{detail.label}: {detail.value}",
            detail.value if detail.url else f"{detail.label}: {detail.value}",
        )
        for number, detail in enumerate(details)
    )


def make_detail_section(explanation: Explanation) -> Iterator[PanelNode]:
    if explanation.details:
        yield make_section_node("details", tr("Source"))
        yield from make_detail_nodes(explanation.details, "detail")


def make_remark_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    for place, text in enumerate(explanation.remarks):
        yield PanelNode(NodeKind.NOTE, f"remark.{place}", NodeRemark(text, "info"), text)


def make_statement_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    if explanation.statements:
        yield make_section_node("statements", tr("As printed"), tr("statements of source documents"))
    yield from fold_long_list("statement", explanation.statements, _make_statement_node)


def _make_statement_node(prefix: str, line: StatementLine) -> PanelNode:
    key = f"{prefix}.{line.id}"
    return PanelNode(NodeKind.STATEMENT, key, line, line.sentence, below=make_detail_nodes(line.details, key))


def make_stated_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    if explanation.stated:
        yield make_section_node("stated", tr("What it states"))
    for group in explanation.stated:
        key = f"stated.{group.key}"
        figures = make_detail_nodes(group.figures, key)
        more = (PanelNode(NodeKind.GROUP, f"{key}.more", NodeHeading(group.more), group.more),) if group.more else ()
        yield PanelNode(NodeKind.STATED, key, group, group.label, below=(*figures, *more))


def make_use_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    if explanation.uses:
        yield make_section_node("uses", tr("Used by"))
    for place, use in enumerate(explanation.uses):
        yield PanelNode(NodeKind.USE, f"use.{place}", use, f"{use.name}, {use.role}")


#: In the order in which they are read, after claims and their reason.
AFTER_CLAIMS: tuple[Callable[[Explanation], Iterator[PanelNode]], ...] = (
    make_remark_nodes,
    make_detail_section,
    make_statement_nodes,
    make_stated_nodes,
)


#: Findings that are remarks on what is in doubt, in a box with the sign of a verdict.
_JUDGED = ("undecided", "removed", "open")


def make_decision_nodes(decision: DecisionExplanation | None) -> Iterator[PanelNode]:
    if decision is None:
        return
    for place, line in enumerate(decision.outcomes):
        yield _make_outcome_node(place, line)
    for finding in decision.findings:
        yield from _make_finding_nodes(finding)
    if decision.rulings:
        yield make_section_node("rulings", decision.rulings_title)
    yield from fold_long_list("ruling", decision.rulings, _make_ruling_node)


def _make_outcome_node(place: int, line: ColumnOutcomeLine) -> PanelNode:
    return PanelNode(NodeKind.OUTCOME, f"outcome.{place}", line, line.sentence)


def _make_finding_nodes(finding: DecisionFinding) -> Iterator[PanelNode]:
    yield make_section_node(f"finding.{finding.key}", finding.title)
    judged = finding.key.split(".")[0] in _JUDGED
    for place, text in enumerate(finding.texts):
        key = f"finding.{finding.key}.{place}"
        if judged:
            yield PanelNode(NodeKind.NOTE, key, NodeRemark(text, "scale"), text)
        else:
            yield PanelNode(NodeKind.SAID, key, NodeHeading(text), text)


def _make_ruling_node(prefix: str, line: RulingLine) -> PanelNode:
    key = f"{prefix}.{line.id}"
    below = tuple(
        PanelNode(NodeKind.SAID, f"{key}.{place}", NodeHeading(text), text) for place, text in enumerate(line.lines)
    )
    copied = "\n".join((line.sentence, *line.lines))
    return PanelNode(NodeKind.RULING, key, line, line.sentence, copied, below)


def make_nodes(explanation: Explanation) -> tuple[PanelNode, ...]:
    """Return the lines of an explanation in the order in which they are read."""
    return (
        PanelNode(NodeKind.HEAD, "head", explanation, _head_sentence(explanation), explanation.sentence),
        *make_decision_nodes(explanation.decision),
        *_make_remedy_nodes(explanation),
        *_make_record_nodes(explanation.record),
        *_make_limit_nodes(explanation.limits),
        *_make_plan_nodes(explanation.plans),
        *_make_working_nodes(explanation.working),
        *_make_claim_nodes(explanation),
        *(node for nodes in AFTER_CLAIMS for node in nodes(explanation)),
        *_make_dispute_nodes(explanation.disputes),
        *make_use_nodes(explanation),
        *_make_link_nodes(explanation),
    )


def make_empty_nodes() -> tuple[PanelNode, ...]:
    text = tr("Click any figure, curve or bar: its sources, its formula and the numbers in it appear here.")
    return (PanelNode(NodeKind.EMPTY, "empty", NodeRemark(text, "mouse-pointer-click"), text),)


def _head_sentence(explanation: Explanation) -> str:
    parts = (
        explanation.what,
        explanation.conditions,
        explanation.value,
        explanation.band,
        explanation.basis,
        explanation.age,
    )
    return "; ".join(part for part in parts if part)


def _make_limit_nodes(limits: LimiterBreakdown | None) -> Iterator[PanelNode]:
    if limits is None:
        return
    yield make_section_node("limits", tr("What limits it"), limits.of)
    if limits.remark:
        yield PanelNode(NodeKind.NOTE, "limits.remark", NodeRemark(limits.remark, "info"), limits.remark)
    said = ", ".join(f"{share.label} {share.text}" for share in limits.shares)
    yield PanelNode(NodeKind.BAR, "limits.bar", limits, said)
    for place, share in enumerate(limits.shares):
        text = f"{share.label} {share.text}"
        yield PanelNode(NodeKind.SHARE, f"limits.{place}", RankedShare(share, place), text)


def _make_record_nodes(record: MeasuredRunLines | None) -> Iterator[PanelNode]:
    if record is None:
        return
    yield make_section_node("record", tr("Our record"), tr("ours without having seen them"))
    if record.of:
        yield PanelNode(NodeKind.GROUP, "record.of", NodeHeading(record.of), record.of)
    if record.remark:
        yield PanelNode(NodeKind.NOTE, "record.remark", NodeRemark(record.remark, "info"), record.remark)
    for place, line in enumerate(record.lines):
        key = f"record.{place}"
        copied = f"{line.sentence}, {line.address}" if line.address else line.sentence
        yield PanelNode(NodeKind.RECORD, key, line, line.sentence, copied, make_detail_nodes(line.details, key))


def _make_plan_nodes(plans: ExplainedPlans | None) -> Iterator[PanelNode]:
    if plans is None:
        return
    yield make_section_node("plans", tr("Why this plan"), tr("fastest first"))
    for place, plan in enumerate(plans.shown):
        yield PanelNode(NodeKind.PLAN, f"plan.{place}", plan, plan.sentence)
    for group in plans.more:
        key = f"plans.{group.key}"
        below = tuple(
            PanelNode(NodeKind.PLAN, f"{key}.{place}", plan, plan.sentence) for place, plan in enumerate(group.plans)
        )
        yield PanelNode(NodeKind.PLANS, key, group, group.label, below=below)


def _make_working_nodes(term: TermLine | None) -> Iterator[PanelNode]:
    if term is not None:
        yield make_section_node("working", tr("Working"), tr("select a term for its source"))
        yield make_term_node(term, "term")


def _make_claim_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    groups = explanation.claims
    if not groups:
        return
    aside = tr("preferred first") if any(len(group.claims) > 1 for group in groups) else ""
    yield make_section_node("claims", explanation.claims_title, aside)
    named = len(groups) > 1 or explanation.working is not None
    for group in groups:
        if named:
            yield PanelNode(NodeKind.GROUP, f"group.{group.key}", NodeHeading(group.label), group.label)
        yield from _make_group_nodes(group)


def _make_group_nodes(group: ClaimGroup) -> Iterator[PanelNode]:
    for place, claim in enumerate(group.claims):
        key = f"claim.{group.key}.{place}"
        children = (*make_detail_nodes(claim.details, key), *_make_offer_nodes(claim.offer, key))
        yield PanelNode(NodeKind.CLAIM, key, claim, f"{group.label}, {claim.sentence}", claim.sentence, children)
    if group.reason:
        key = f"reason.{group.key}"
        yield PanelNode(NodeKind.NOTE, key, NodeRemark(group.reason, "scale"), group.reason)


def _make_offer_nodes(offer: CatalogAction | None, key: str) -> tuple[PanelNode, ...]:
    if offer is None:
        return ()
    return (PanelNode(NodeKind.LINK, f"{key}.offer", NodeLink(offer.text, LinkCommand.EDIT, offer=offer), offer.text),)


def _make_dispute_nodes(disputes: tuple[DisputeLine, ...]) -> Iterator[PanelNode]:
    if disputes:
        yield make_section_node("disputes", tr("Contradictions, judged"))
    yield from fold_long_list("dispute", tuple(enumerate(disputes)), _make_dispute_node)


def _make_dispute_node(prefix: str, numbered: tuple[int, DisputeLine]) -> PanelNode:
    place, dispute = numbered
    said = f"{dispute.disagreement} {dispute.judged} {dispute.reason}"
    return PanelNode(NodeKind.DISPUTE, f"{prefix}.{place}", dispute, said)


def _make_remedy_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    if explanation.remedies:
        unfit = explanation.ground is ExplanationBasis.DOES_NOT_FIT
        yield make_section_node("remedies", tr("What would make it fit") if unfit else tr("What would end the waiting"))
    for place, remedy in enumerate(explanation.remedies):
        said = ", ".join(part for part in (remedy.label, remedy.verdict, remedy.detail) if part)
        yield PanelNode(NodeKind.REMEDY, f"remedy.{place}", remedy, said)
    for place, remedy in enumerate(explanation.remedies):
        if remedy.action is not None:
            link = NodeLink(remedy.action, LinkCommand.APPLY, remedy.remedy)
            yield PanelNode(NodeKind.LINK, f"apply.{place}", link, remedy.action)


def _make_link_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    yield PanelNode(NodeKind.RULE, "links", None, "")
    for place, offer in enumerate(explanation.offers):
        link = NodeLink(offer.text, LinkCommand.EDIT, offer=offer)
        said = tr("{action}, key {key}", action=offer.text, key=offer.key) if offer.key else offer.text
        yield PanelNode(NodeKind.LINK, f"offer.{place}", link, said)
    links = [NodeLink(tr("Copy with sources"), LinkCommand.COPY_WITH_SOURCES)]
    if explanation.working is not None:
        links.append(NodeLink(tr("Copy working"), LinkCommand.COPY_WORKING))
    for link in links:
        yield PanelNode(NodeKind.LINK, f"link.{link.command}", link, link.text)
