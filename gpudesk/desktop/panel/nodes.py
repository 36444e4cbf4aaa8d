"""The lines of the panel as a tree: from an explanation to nodes, each with its kind, key and sentence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from gpudesk.domain.sizing import Remedy
from gpudesk.sheets.explanation import (
    ClaimGroup,
    ClaimLine,
    Detail,
    DisputeLine,
    Explanation,
    Ground,
    Limits,
    PlanGroup,
    PlanLine,
    PlanLines,
    RecordLine,
    RecordLines,
    RemedyLine,
    ShareLine,
    TermLine,
)
from gpudesk.text import tr


class Kind(StrEnum):
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
    RULE = "rule"
    LINK = "link"
    EMPTY = "empty"


#: Lines that cannot be moved to: they only set others apart.
PASSIVE = frozenset({Kind.SECTION, Kind.BAR, Kind.GROUP, Kind.RULE})


class Command(StrEnum):
    """What a link does."""

    COPY_WITH_SOURCES = "copy with sources"
    COPY_WORKING = "copy working"
    APPLY = "apply"


@dataclass(frozen=True, slots=True)
class Heading:
    """The title of a part of the panel, and a word at its right."""

    title: str
    aside: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence with an icon."""

    text: str
    icon: str


@dataclass(frozen=True, slots=True)
class Share:
    """One part of the bar with its place in it, the largest being 0."""

    line: ShareLine
    place: int


@dataclass(frozen=True, slots=True)
class Link:
    """An action: its wording, what it does, and with what."""

    text: str
    command: Command
    remedy: Remedy | None = None


Content = (
    Explanation
    | Heading
    | Limits
    | Share
    | TermLine
    | ClaimLine
    | Detail
    | Remark
    | DisputeLine
    | RemedyLine
    | RecordLine
    | PlanLine
    | PlanGroup
    | Link
    | None
)


@dataclass(frozen=True)
class Node:
    """One line; `key` tells it from all others. A term says itself what is read out, when it is asked."""

    kind: Kind
    key: str
    content: Content
    said: str | None = None
    copied_as: str | None = None
    below: tuple[Node, ...] = ()

    @property
    def has_children(self) -> bool:
        """Whether lines belong to this one."""
        return bool(self.content.outline[1]) if isinstance(self.content, TermLine) else bool(self.below)

    @cached_property
    def children(self) -> tuple[Node, ...]:
        """The lines that belong to this one; those of a term are made when they are asked for."""
        if isinstance(self.content, TermLine):
            return tuple(_term_node(each, f"{self.key}/{each.name}") for each in self.content.inputs)
        return self.below

    @property
    def sentence(self) -> str:
        """What is read out."""
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


def nodes_of(explanation: Explanation) -> tuple[Node, ...]:
    """Return the lines of an explanation in the order in which they are read."""
    return (
        Node(Kind.HEAD, "head", explanation, _head_sentence(explanation), explanation.sentence),
        *_remedy_nodes(explanation),
        *_record_nodes(explanation.record),
        *_limit_nodes(explanation.limits),
        *_plan_nodes(explanation.plans),
        *_working_nodes(explanation.working),
        *_claim_nodes(explanation),
        *_dispute_nodes(explanation.disputes),
        *_link_nodes(explanation),
    )


def empty_nodes() -> tuple[Node, ...]:
    """Return what the panel says while nothing is selected."""
    text = tr("Click any figure, curve or bar: its sources, its formula and the numbers in it appear here.")
    return (Node(Kind.EMPTY, "empty", Remark(text, "mouse-pointer-click"), text),)


def _head_sentence(explanation: Explanation) -> str:
    parts = (
        explanation.what,
        explanation.conditions,
        explanation.value,
        explanation.band,
        explanation.basis,
    )
    return "; ".join(part for part in parts if part)


def _section(key: str, title: str, aside: str = "") -> Node:
    said = f"{title}, {aside}" if aside else title
    return Node(Kind.SECTION, f"section.{key}", Heading(title, aside), said)


def _limit_nodes(limits: Limits | None) -> Iterator[Node]:
    if limits is None:
        return
    yield _section("limits", tr("What limits it"), limits.of)
    if limits.remark:
        yield Node(Kind.NOTE, "limits.remark", Remark(limits.remark, "info"), limits.remark)
    said = ", ".join(f"{share.label} {share.text}" for share in limits.shares)
    yield Node(Kind.BAR, "limits.bar", limits, said)
    for place, share in enumerate(limits.shares):
        text = f"{share.label} {share.text}"
        yield Node(Kind.SHARE, f"limits.{place}", Share(share, place), text)


def _record_nodes(record: RecordLines | None) -> Iterator[Node]:
    if record is None:
        return
    yield _section("record", tr("Our record"), tr("ours without having seen them"))
    if record.of:
        yield Node(Kind.GROUP, "record.of", Heading(record.of), record.of)
    if record.remark:
        yield Node(Kind.NOTE, "record.remark", Remark(record.remark, "info"), record.remark)
    for place, line in enumerate(record.lines):
        key = f"record.{place}"
        copied = f"{line.sentence}, {line.address}" if line.address else line.sentence
        yield Node(Kind.RECORD, key, line, line.sentence, copied, _detail_nodes(line.details, key))


def _plan_nodes(plans: PlanLines | None) -> Iterator[Node]:
    if plans is None:
        return
    yield _section("plans", tr("Why this plan"), tr("fastest first"))
    for place, plan in enumerate(plans.shown):
        yield Node(Kind.PLAN, f"plan.{place}", plan, plan.sentence)
    for group in plans.more:
        key = f"plans.{group.key}"
        below = tuple(
            Node(Kind.PLAN, f"{key}.{place}", plan, plan.sentence) for place, plan in enumerate(group.plans)
        )
        yield Node(Kind.PLANS, key, group, group.label, below=below)


def _working_nodes(term: TermLine | None) -> Iterator[Node]:
    if term is not None:
        yield _section("working", tr("Working"), tr("select a term for its source"))
        yield _term_node(term, "term")


def _term_node(term: TermLine, key: str) -> Node:
    return Node(Kind.TERM, key, term)


def _claim_nodes(explanation: Explanation) -> Iterator[Node]:
    groups = explanation.claims
    if not groups:
        return
    aside = tr("preferred first") if any(len(group.claims) > 1 for group in groups) else ""
    yield _section("claims", explanation.claims_title, aside)
    named = len(groups) > 1 or explanation.working is not None
    for group in groups:
        if named:
            yield Node(Kind.GROUP, f"group.{group.key}", Heading(group.label), group.label)
        yield from _group_nodes(group)


def _group_nodes(group: ClaimGroup) -> Iterator[Node]:
    for place, claim in enumerate(group.claims):
        key = f"claim.{group.key}.{place}"
        children = _detail_nodes(claim.details, key)
        yield Node(Kind.CLAIM, key, claim, f"{group.label}, {claim.sentence}", claim.sentence, children)
    if group.reason:
        key = f"reason.{group.key}"
        yield Node(Kind.NOTE, key, Remark(group.reason, "scale"), group.reason)


def _detail_nodes(details: tuple[Detail, ...], key: str) -> tuple[Node, ...]:
    """Return what is folded below a line; of an address itself is copied."""
    return tuple(
        Node(
            Kind.DETAIL,
            f"{key}.{number}",
            detail,
            f"{detail.label}: {detail.value}",
            detail.value if detail.url else f"{detail.label}: {detail.value}",
        )
        for number, detail in enumerate(details)
    )


def _dispute_nodes(disputes: tuple[DisputeLine, ...]) -> Iterator[Node]:
    if disputes:
        yield _section("disputes", tr("Contradictions, judged"))
    for place, dispute in enumerate(disputes):
        verdict = tr("Verdict: {verdict}.", verdict=dispute.verdict)
        said = f"{dispute.disagreement} {verdict} {dispute.reason}"
        yield Node(Kind.DISPUTE, f"dispute.{place}", dispute, said)


def _remedy_nodes(explanation: Explanation) -> Iterator[Node]:
    if explanation.remedies:
        unfit = explanation.ground is Ground.DOES_NOT_FIT
        yield _section(
            "remedies", tr("What would make it fit") if unfit else tr("What would end the waiting")
        )
    for place, remedy in enumerate(explanation.remedies):
        said = ", ".join(part for part in (remedy.label, remedy.verdict, remedy.detail) if part)
        yield Node(Kind.REMEDY, f"remedy.{place}", remedy, said)
    for place, remedy in enumerate(explanation.remedies):
        if remedy.action is not None:
            link = Link(remedy.action, Command.APPLY, remedy.remedy)
            yield Node(Kind.LINK, f"apply.{place}", link, remedy.action)


def _link_nodes(explanation: Explanation) -> Iterator[Node]:
    yield Node(Kind.RULE, "links", None, "")
    links = [Link(tr("Copy with sources"), Command.COPY_WITH_SOURCES)]
    if explanation.working is not None:
        links.append(Link(tr("Copy working"), Command.COPY_WORKING))
    for link in links:
        yield Node(Kind.LINK, f"link.{link.command}", link, link.text)
