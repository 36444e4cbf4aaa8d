"""The lines of the panel: from an explanation to nodes in the order in which they are read."""

from __future__ import annotations

from collections.abc import Iterator

from gpudesk.desktop.panel.catalog_nodes import AFTER_CLAIMS, use_nodes
from gpudesk.desktop.panel.decision_nodes import decision_nodes
from gpudesk.desktop.panel.node import (
    Command,
    Heading,
    Kind,
    Link,
    Node,
    Remark,
    Share,
    detail_nodes,
    first_few,
    section,
    term_node,
)
from gpudesk.sheets.explanation import (
    ClaimGroup,
    DisputeLine,
    Explanation,
    Ground,
    Limits,
    Offer,
    PlanLines,
    RecordLines,
    TermLine,
)
from gpudesk.text import tr


def nodes_of(explanation: Explanation) -> tuple[Node, ...]:
    """Return the lines of an explanation in the order in which they are read."""
    return (
        Node(Kind.HEAD, "head", explanation, _head_sentence(explanation), explanation.sentence),
        *decision_nodes(explanation.decision),
        *_remedy_nodes(explanation),
        *_record_nodes(explanation.record),
        *_limit_nodes(explanation.limits),
        *_plan_nodes(explanation.plans),
        *_working_nodes(explanation.working),
        *_claim_nodes(explanation),
        *(node for nodes in AFTER_CLAIMS for node in nodes(explanation)),
        *_dispute_nodes(explanation.disputes),
        *use_nodes(explanation),
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
        explanation.age,
    )
    return "; ".join(part for part in parts if part)


def _limit_nodes(limits: Limits | None) -> Iterator[Node]:
    if limits is None:
        return
    yield section("limits", tr("What limits it"), limits.of)
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
    yield section("record", tr("Our record"), tr("ours without having seen them"))
    if record.of:
        yield Node(Kind.GROUP, "record.of", Heading(record.of), record.of)
    if record.remark:
        yield Node(Kind.NOTE, "record.remark", Remark(record.remark, "info"), record.remark)
    for place, line in enumerate(record.lines):
        key = f"record.{place}"
        copied = f"{line.sentence}, {line.address}" if line.address else line.sentence
        yield Node(Kind.RECORD, key, line, line.sentence, copied, detail_nodes(line.details, key))


def _plan_nodes(plans: PlanLines | None) -> Iterator[Node]:
    if plans is None:
        return
    yield section("plans", tr("Why this plan"), tr("fastest first"))
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
        yield section("working", tr("Working"), tr("select a term for its source"))
        yield term_node(term, "term")


def _claim_nodes(explanation: Explanation) -> Iterator[Node]:
    groups = explanation.claims
    if not groups:
        return
    aside = tr("preferred first") if any(len(group.claims) > 1 for group in groups) else ""
    yield section("claims", explanation.claims_title, aside)
    named = len(groups) > 1 or explanation.working is not None
    for group in groups:
        if named:
            yield Node(Kind.GROUP, f"group.{group.key}", Heading(group.label), group.label)
        yield from _group_nodes(group)


def _group_nodes(group: ClaimGroup) -> Iterator[Node]:
    for place, claim in enumerate(group.claims):
        key = f"claim.{group.key}.{place}"
        children = (*detail_nodes(claim.details, key), *_offer_nodes(claim.offer, key))
        yield Node(Kind.CLAIM, key, claim, f"{group.label}, {claim.sentence}", claim.sentence, children)
    if group.reason:
        key = f"reason.{group.key}"
        yield Node(Kind.NOTE, key, Remark(group.reason, "scale"), group.reason)


def _offer_nodes(offer: Offer | None, key: str) -> tuple[Node, ...]:
    """Return the link to an edit."""
    if offer is None:
        return ()
    return (Node(Kind.LINK, f"{key}.offer", Link(offer.text, Command.EDIT, offer=offer), offer.text),)


def _dispute_nodes(disputes: tuple[DisputeLine, ...]) -> Iterator[Node]:
    if disputes:
        yield section("disputes", tr("Contradictions, judged"))
    yield from first_few("dispute", tuple(enumerate(disputes)), _dispute_node)


def _dispute_node(prefix: str, numbered: tuple[int, DisputeLine]) -> Node:
    place, dispute = numbered
    said = f"{dispute.disagreement} {dispute.judged} {dispute.reason}"
    return Node(Kind.DISPUTE, f"{prefix}.{place}", dispute, said)


def _remedy_nodes(explanation: Explanation) -> Iterator[Node]:
    if explanation.remedies:
        unfit = explanation.ground is Ground.DOES_NOT_FIT
        yield section("remedies", tr("What would make it fit") if unfit else tr("What would end the waiting"))
    for place, remedy in enumerate(explanation.remedies):
        said = ", ".join(part for part in (remedy.label, remedy.verdict, remedy.detail) if part)
        yield Node(Kind.REMEDY, f"remedy.{place}", remedy, said)
    for place, remedy in enumerate(explanation.remedies):
        if remedy.action is not None:
            link = Link(remedy.action, Command.APPLY, remedy.remedy)
            yield Node(Kind.LINK, f"apply.{place}", link, remedy.action)


def _link_nodes(explanation: Explanation) -> Iterator[Node]:
    yield Node(Kind.RULE, "links", None, "")
    for place, offer in enumerate(explanation.offers):
        link = Link(offer.text, Command.EDIT, offer=offer)
        said = tr("{action}, key {key}", action=offer.text, key=offer.key) if offer.key else offer.text
        yield Node(Kind.LINK, f"offer.{place}", link, said)
    links = [Link(tr("Copy with sources"), Command.COPY_WITH_SOURCES)]
    if explanation.working is not None:
        links.append(Link(tr("Copy working"), Command.COPY_WORKING))
    for link in links:
        yield Node(Kind.LINK, f"link.{link.command}", link, link.text)
