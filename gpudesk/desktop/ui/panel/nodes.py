"""The lines of the panel as a tree of nodes, built from an explanation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeVar

from gpudesk.desktop.ui.panel.blocks import (
    QUIET,
    BarBlock,
    HeadingBlock,
    LinkBlock,
    LinkCommand,
    NoteBlock,
    PanelBlock,
    RowBlock,
    RowCut,
    RowLine,
    RowText,
)
from gpudesk.domain.claim import ClaimStatus
from gpudesk.domain.sizing import FitRemedyKind
from gpudesk.report.decision.questions import ColumnOutcome
from gpudesk.report.explanation.parts import (
    CatalogAction,
    ClaimLine,
    DecisionExplanation,
    DecisionFinding,
    DisputeLine,
    ExplainedPlan,
    ExplainedPlans,
    Explanation,
    ExplanationBasis,
    ExplanationDetail,
    LimiterBreakdown,
    MeasuredRunLine,
    MeasuredRunLines,
    RemedyLine,
    RulingLine,
    StatementLine,
    TermLine,
    UseLine,
)
from gpudesk.text.translation import tr

T = TypeVar("T")

#: How many lines of a long list are visible before it is unfolded.
_FIRST: Final = 5
#: Lines of a reason or a statement unless it is the current row.
_MOST_LINES: Final = 3


@dataclass(frozen=True)
class PanelNode:
    """One row of the tree; `key` is unique, `subject` is what it is about.

    A term computes its accessible text, and its child rows, on demand.
    """

    key: str
    block: PanelBlock
    fixed_sentence: str | None = None
    copied_as: str | None = None
    below: tuple[PanelNode, ...] = ()
    subject: object = None

    @property
    def has_children(self) -> bool:
        return bool(self.subject.outline[1]) if isinstance(self.subject, TermLine) else bool(self.below)

    @cached_property
    def children(self) -> tuple[PanelNode, ...]:
        if isinstance(self.subject, TermLine):
            return tuple(make_term_node(each, f"{self.key}/{each.name}") for each in self.subject.inputs)
        return self.below

    @property
    def sentence(self) -> str:
        if self.fixed_sentence is not None:
            return self.fixed_sentence
        return self.subject.sentence if isinstance(self.subject, TermLine) else ""

    @property
    def copied(self) -> str:
        """The text to copy: the sentence by default."""
        return self.sentence if self.copied_as is None else self.copied_as

    @property
    def address(self) -> str:
        return self.block.address if isinstance(self.block, RowBlock) else ""

    @property
    def folding(self) -> bool:
        return isinstance(self.block, RowBlock) and self.block.folding

    @property
    def passive(self) -> bool:
        """Whether it cannot be current: a mere separator."""
        return isinstance(self.block, HeadingBlock | BarBlock)

    @cached_property
    def shape(self) -> tuple[object, ...]:
        """Must be equal for the tree to keep its lines and change only their texts."""
        if isinstance(self.subject, TermLine):
            return (self.key, self.subject.outline)
        return (self.key, type(self.block), tuple(child.shape for child in self.below))


def make_empty_nodes() -> tuple[PanelNode, ...]:
    """Return the lines of the panel without a selection."""
    text = tr("Click a figure, curve or bar to see its sources, formula and inputs.")
    return (PanelNode("empty", NoteBlock(text, "mouse-pointer-click", boxed=False), text),)


# Common elements


def _make_section_node(key: str, title: str, aside: str = "") -> PanelNode:
    return PanelNode(f"section.{key}", HeadingBlock(title, aside), f"{title}, {aside}" if aside else title)


def _make_group_node(key: str, title: str) -> PanelNode:
    return PanelNode(key, HeadingBlock(title, group=True), title)


def make_note_node(key: str, text: str, icon: str = "info") -> PanelNode:
    return PanelNode(key, NoteBlock(text, icon), text)


def _make_fold_node(key: str, label: str, below: Iterable[PanelNode], color: str = "text2") -> PanelNode:
    """Return a label, below which further lines are folded."""
    line = RowLine(label, "small", color, most=1, cut=RowCut.NEVER, fold=True)
    return PanelNode(key, RowBlock((line,), folding=True), label, below=tuple(below))


def _fold_long_list(prefix: str, items: Sequence[T], node_of: Callable[[str, T], PanelNode]) -> Iterator[PanelNode]:
    """Yield the lines of a list, of a long one the first few and a fold with the others.

    `node_of` makes the line of an item, whose key starts with the given one.
    """
    count = len(items) if len(items) <= _FIRST + 1 else _FIRST
    for item in items[:count]:
        yield node_of(prefix, item)
    if others := items[count:]:
        key = f"{prefix}.more"
        yield _make_fold_node(key, tr("… and {n} more", n=len(others)), (node_of(key, each) for each in others))


def make_detail_nodes(details: tuple[ExplanationDetail, ...], key: str) -> tuple[PanelNode, ...]:
    """Return the folded lines below a line; an address is copied itself."""
    return tuple(_make_detail_node(f"{key}.{number}", detail) for number, detail in enumerate(details))


def _make_detail_node(key: str, detail: ExplanationDetail) -> PanelNode:
    line = RowLine(detail.value, color="text1", label=detail.label)
    if detail.url:
        line = RowLine(detail.value, color="link", label=detail.label, most=1, middle=True)
    address = detail.value if detail.url else ""
    block = RowBlock((line,), space=(2, 2), indent=4, tool_tip=detail.value, address=address)
    text = f"{detail.label}: {detail.value}"
    return PanelNode(key, block, text, detail.value if detail.url else text, subject=detail)


# Decisions


#: Findings about doubts, in a box with the sign of a verdict.
_JUDGED: Final = ("undecided", "removed", "open")
_OUTCOME_COLORS: Final = {
    ColumnOutcome.STAYS: "text2",
    ColumnOutcome.UNDECIDED: "disputed_text",
    ColumnOutcome.REMOVED: "text2",
}


def _make_decision_nodes(decision: DecisionExplanation | None) -> Iterator[PanelNode]:
    if decision is None:
        return
    for place, line in enumerate(decision.outcomes):
        key = f"outcome.{place}"
        state = RowText(line.state, "small", _OUTCOME_COLORS[line.fate], share=0.6)
        name = RowLine(line.name, "body_strong", f"slot{line.slot}", most=1, cut=RowCut.NEVER, values=(state,))
        lines = (name, RowLine(line.text, "small"))
        block = RowBlock(lines, space=(3, 5), swatch=(line.slot, line.is_variant))
        yield PanelNode(key, block, line.sentence, subject=line)
    for finding in decision.findings:
        yield from _make_finding_nodes(finding)
    if decision.rulings:
        yield _make_section_node("rulings", decision.rulings_title)
    yield from _fold_long_list("ruling", decision.rulings, _make_ruling_node)


def _make_finding_nodes(finding: DecisionFinding) -> Iterator[PanelNode]:
    yield _make_section_node(f"finding.{finding.key}", finding.title)
    judged = finding.key.split(".")[0] in _JUDGED
    for place, text in enumerate(finding.texts):
        key = f"finding.{finding.key}.{place}"
        yield make_note_node(key, text, "scale") if judged else _make_sentence_node(key, text)


def _make_sentence_node(key: str, text: str) -> PanelNode:
    return PanelNode(key, RowBlock((RowLine(text, "small", "text1"),), space=(2, 4)), text)


def _make_ruling_node(prefix: str, line: RulingLine) -> PanelNode:
    key = f"{prefix}.{line.id}"
    below = tuple(_make_sentence_node(f"{key}.{place}", text) for place, text in enumerate(line.lines))
    copied = "\n".join((line.sentence, *line.lines))
    lines = (
        RowLine(line.title, "small_strong", "text1" if line.applies else "text2", fold=True),
        RowLine(line.strength),
        RowLine(line.origin, color=QUIET),
    )
    return PanelNode(key, RowBlock(lines, space=(4, 5), folding=True), line.sentence, copied, below, line)


# Figures


def _make_remedy_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    unfit = explanation.ground is ExplanationBasis.DOES_NOT_FIT
    if explanation.remedies:
        title = tr("Ways to make it fit") if unfit else tr("Ways to avoid queueing")
        yield _make_section_node("remedies", title)
    for place, remedy in enumerate(explanation.remedies):
        yield _make_remedy_node(f"remedy.{place}", remedy)
    for place, remedy in enumerate(explanation.remedies):
        if remedy.action is not None:
            link = LinkBlock(remedy.action, LinkCommand.APPLY, remedy.remedy)
            yield PanelNode(f"apply.{place}", link, remedy.action)
    if unfit and any(each.action and each.remedy.kind is FitRemedyKind.COUNT for each in explanation.remedies):
        # A bar for one long and a few short shares is not a comparison.
        text = tr("Use the smallest counts that fit")
        yield PanelNode("apply.each", LinkBlock(text, LinkCommand.FREE_COUNTS), text)


def _make_remedy_node(key: str, remedy: RemedyLine) -> PanelNode:
    verdict = RowText(remedy.verdict, "small_strong")
    lines = (
        RowLine(remedy.label, "small_strong", "text1", most=1, cut=RowCut.NEVER, values=(verdict,)),
        RowLine(remedy.detail, color=QUIET, most=2),
    )
    text = ", ".join(part for part in (remedy.label, remedy.verdict, remedy.detail) if part)
    return PanelNode(key, RowBlock(lines), text, subject=remedy)


def _make_record_nodes(record: MeasuredRunLines | None) -> Iterator[PanelNode]:
    if record is None:
        return
    yield _make_section_node("record", tr("Similar measured runs"), tr("predicted without them"))
    if record.of:
        yield _make_group_node("record.of", record.of)
    if record.remark:
        yield make_note_node("record.remark", record.remark)
    for place, line in enumerate(record.lines):
        yield _make_run_node(f"record.{place}", line)


def _make_run_node(key: str, line: MeasuredRunLine) -> PanelNode:
    """Return a run's subject and the error of the estimate, below them both figures, and the publisher."""
    error, date = RowText(line.error, "small_strong"), RowText(line.date, "caption", QUIET)
    lines = (
        RowLine(line.what, "small", "text1", most=_MOST_LINES, cut=RowCut.UNTIL_OPEN, values=(error,), fold=True),
        RowLine(line.compared),
        RowLine(line.source, color=QUIET, most=1, values=(date,)),
    )
    block = RowBlock(lines, space=(4, 6), folding=True, tool_tip=f"{line.what}\n{line.source}")
    copied = f"{line.sentence}, {line.address}" if line.address else line.sentence
    return PanelNode(key, block, line.sentence, copied, make_detail_nodes(line.details, key), line)


def _make_limit_nodes(limits: LimiterBreakdown | None) -> Iterator[PanelNode]:
    if limits is None:
        return
    yield _make_section_node("limits", tr("Limiting factors"), limits.of)
    if limits.remark:
        yield make_note_node("limits.remark", limits.remark)
    texts = [f"{share.label} {share.text}" for share in limits.shares]
    yield PanelNode("limits.bar", BarBlock(tuple(share.share for share in limits.shares)), ", ".join(texts))
    for place, (share, text) in enumerate(zip(limits.shares, texts, strict=True)):
        font, color = ("small", "text2") if place else ("label", "text1")
        value = RowText(share.text, font, color)
        line = RowLine(share.label, font, color, most=1, cut=RowCut.NEVER, values=(value,), leading=3)
        yield PanelNode(f"limits.{place}", RowBlock((line,), space=(0, 0), ink=place), text, subject=share)


def _make_plan_nodes(plans: ExplainedPlans | None) -> Iterator[PanelNode]:
    if plans is None:
        return
    yield _make_section_node("plans", tr("Why this plan"), tr("fastest first"))
    for place, plan in enumerate(plans.first_plans):
        yield _make_plan_node(f"plan.{place}", plan)
    for group in plans.more:
        key = f"plans.{group.key}"
        below = (_make_plan_node(f"{key}.{place}", plan) for place, plan in enumerate(group.plans))
        yield _make_fold_node(key, group.label, below)


def _make_plan_node(key: str, plan: ExplainedPlan) -> PanelNode:
    """Return a plan with its throughput, below them the reason for or against it."""
    values = _make_values(plan.figure, plan.unit)
    lines = (
        RowLine(plan.name, "small_strong", "text1", most=1, cut=RowCut.NEVER, values=values, check=plan.is_chosen),
        RowLine(plan.reason, color=QUIET, most=0 if plan.is_chosen else _MOST_LINES),
        RowLine(plan.latency, color="text1", current_only=True),
    )
    return PanelNode(key, RowBlock(lines, nested=True, emphatic=plan.is_chosen), plan.sentence, subject=plan)


def _make_values(figure: str, unit: str | None) -> tuple[RowText, ...]:
    value = RowText(figure, "small_strong")
    return (RowText(unit, "caption", QUIET), value) if unit else (value,)


def _make_working_nodes(term: TermLine | None) -> Iterator[PanelNode]:
    if term is not None:
        yield _make_section_node("working", tr("Calculation"), tr("select a term for its source"))
        yield make_term_node(term, "term")


def make_term_node(term: TermLine, key: str) -> PanelNode:
    label = RowLine(
        term.label,
        "small_strong",
        "text1",
        most=1,
        cut=RowCut.NEVER,
        values=_make_values(term.value, term.unit),
        fold=True,
    )
    lines = (
        label,
        RowLine(term.formula or "", color=QUIET, most=2),
        RowLine(term.source or "", color=QUIET, most=1, current_color="text1", current_only=bool(term.formula)),
    )
    tool_tip = "\n".join(filter(None, (term.label, term.formula, term.source)))
    return PanelNode(key, RowBlock(lines, nested=True, ruled=True, tool_tip=tool_tip), subject=term)


# Claims and the catalog


def _make_claim_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    groups = explanation.claims
    if not groups:
        return
    aside = tr("preferred first") if any(len(group.claims) > 1 for group in groups) else ""
    yield _make_section_node("claims", explanation.claims_title, aside)
    has_titles = len(groups) > 1 or explanation.working is not None
    for group in groups:
        if has_titles:
            yield _make_group_node(f"group.{group.key}", group.label)
        for place, claim in enumerate(group.claims):
            key = f"claim.{group.key}.{place}"
            yield make_claim_node(key, claim, f"{group.label}, {claim.sentence}")
        if group.reason:
            yield make_note_node(f"reason.{group.key}", group.reason, "scale")


def make_claim_node(key: str, claim: ClaimLine, text: str) -> PanelNode:
    """Return a claim with its stance, below it its source; further details are folded below that."""
    preferred = claim.stance is ClaimStatus.TAKEN
    agrees = (RowText(tr("agrees"), "caption", QUIET),) if claim.stance is ClaimStatus.AGREES else ()
    sign = {
        ClaimStatus.TAKEN: "check",
        ClaimStatus.AGREES: "",
        ClaimStatus.REFUSED: "unfit",
        ClaimStatus.DIFFERS: "disputed",
    }[claim.stance]
    value = RowLine(claim.value, "section", "text1", most=2, values=agrees, unit=claim.unit or "", fold=True, sign=sign)
    origin = RowText(claim.origin, "caption", QUIET)
    lines = (
        value,
        RowLine(claim.title, most=1, cut=RowCut.NEVER, values=(origin,)),
        RowLine(claim.verdict or "", most=2, cut=RowCut.UNTIL_OPEN),
    )
    tool_tip = "\n".join(filter(None, (claim.value, claim.source, claim.verdict)))
    block = RowBlock(lines, space=(6, 6), folding=True, emphatic=preferred, is_filled=preferred, tool_tip=tool_tip)
    below = (*make_detail_nodes(claim.details, key), *_make_offer_nodes(claim.offer, key))
    return PanelNode(key, block, text, claim.sentence, below, claim)


def _make_offer_nodes(offer: CatalogAction | None, key: str) -> tuple[PanelNode, ...]:
    if offer is None:
        return ()
    return (PanelNode(f"{key}.offer", LinkBlock(offer.text, LinkCommand.EDIT, offer=offer), offer.text),)


def _make_catalog_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    """Yield whose choice a fact is, its source, its printed statements, and the statements of a source."""
    for place, text in enumerate(explanation.remarks):
        yield make_note_node(f"remark.{place}", text)
    if explanation.details:
        yield _make_section_node("details", tr("Source"))
        yield from make_detail_nodes(explanation.details, "detail")
    if explanation.statements:
        yield _make_section_node("statements", tr("As published"), tr("statements in documents"))
    yield from _fold_long_list("statement", explanation.statements, _make_statement_node)
    if explanation.statement_groups:
        yield _make_section_node("stated", tr("Values from this source"))
    for group in explanation.statement_groups:
        key = f"stated.{group.key}"
        more = (_make_group_node(f"{key}.more", group.more),) if group.more else ()
        yield _make_fold_node(key, group.label, (*make_detail_nodes(group.figures, key), *more), "text1")


def _make_statement_node(prefix: str, line: StatementLine) -> PanelNode:
    key = f"{prefix}.{line.id}"
    lines = (
        RowLine(line.text, "small", "text1", most=_MOST_LINES, cut=RowCut.UNTIL_OPEN, fold=True),
        RowLine(line.origin, color=QUIET, most=1, cut=RowCut.NEVER, middle=True),
        RowLine(line.remark, most=1, cut=RowCut.UNTIL_OPEN),
    )
    block = RowBlock(lines, space=(4, 6), folding=True)
    return PanelNode(key, block, line.sentence, below=make_detail_nodes(line.details, key), subject=line)


def _make_dispute_nodes(disputes: tuple[DisputeLine, ...]) -> Iterator[PanelNode]:
    if disputes:
        yield _make_section_node("disputes", tr("Disputed values"))
    yield from _fold_long_list("dispute", tuple(enumerate(disputes)), _make_dispute_node)


def _make_dispute_node(prefix: str, numbered: tuple[int, DisputeLine]) -> PanelNode:
    place, dispute = numbered
    lines = (
        RowLine(dispute.disagreement, "small"),
        RowLine(tr("Verdict: {verdict}", verdict=dispute.verdict), "small_strong", "text1"),
        RowLine(dispute.refused_by),
        RowLine(dispute.reason, color=QUIET),
    )
    text = f"{dispute.disagreement} {dispute.judged} {dispute.reason}"
    return PanelNode(f"{prefix}.{place}", RowBlock(lines, space=(4, 6), glyph="disputed"), text, subject=dispute)


def _make_use_nodes(uses: tuple[UseLine, ...]) -> Iterator[PanelNode]:
    if uses:
        yield _make_section_node("uses", tr("Used by"))
    for place, use in enumerate(uses):
        lines = (RowLine(use.name, "small", "text1", most=1, cut=RowCut.NEVER), RowLine(use.role, color=QUIET))
        yield PanelNode(f"use.{place}", RowBlock(lines, space=(2, 4)), f"{use.name}, {use.role}", subject=use)


def _make_link_nodes(explanation: Explanation) -> Iterator[PanelNode]:
    yield PanelNode("links", HeadingBlock(), "")
    for place, offer in enumerate(explanation.offers):
        link = LinkBlock(offer.text, LinkCommand.EDIT, offer=offer)
        text = tr("{action}, key {key}", action=offer.text, key=offer.key) if offer.key else offer.text
        yield PanelNode(f"offer.{place}", link, text)
    links = [LinkBlock(tr("Copy with sources"), LinkCommand.COPY_WITH_SOURCES)]
    if explanation.working is not None:
        links.append(LinkBlock(tr("Copy calculation"), LinkCommand.COPY_WORKING))
    for link in links:
        yield PanelNode(f"link.{link.command}", link, link.text)


#: The sections of an explanation after its head, in reading order, and their builders.
_PARTS: Final[tuple[tuple[Callable[[Explanation], Iterator[PanelNode]], tuple[str, ...]], ...]] = (
    (lambda explanation: _make_decision_nodes(explanation.decision), ("decision",)),
    (_make_remedy_nodes, ("remedies", "ground")),
    (lambda explanation: _make_record_nodes(explanation.record), ("record",)),
    (lambda explanation: _make_limit_nodes(explanation.limits), ("limits",)),
    (lambda explanation: _make_plan_nodes(explanation.plans), ("plans",)),
    (lambda explanation: _make_working_nodes(explanation.working), ("working",)),
    (_make_claim_nodes, ("claims", "claims_title", "working")),
    (_make_catalog_nodes, ("remarks", "details", "statements", "statement_groups")),
    (lambda explanation: _make_dispute_nodes(explanation.disputes), ("disputes",)),
    (lambda explanation: _make_use_nodes(explanation.uses), ("uses",)),
    (_make_link_nodes, ("offers", "working")),
)


class NodeBuilder:
    """Builds the nodes of explanations; unchanged sections reuse theirs.

    While a load is dragged only the head changes: the panel is updated in 0.2 ms instead of 2.5.
    """

    def __init__(self) -> None:
        self._former: Explanation | None = None
        self._part_nodes: list[tuple[PanelNode, ...]] = [()] * len(_PARTS)

    def build(self, explanation: Explanation) -> tuple[PanelNode, ...]:
        """Return the lines of an explanation in reading order."""
        former, self._former = self._former, explanation
        for place, (make, inputs) in enumerate(_PARTS):
            if former is None or any(getattr(former, name) is not getattr(explanation, name) for name in inputs):
                self._part_nodes[place] = tuple(make(explanation))
        parts = (
            explanation.what,
            explanation.conditions,
            explanation.value,
            explanation.band,
            explanation.basis,
            explanation.age,
        )
        head = PanelNode("head", explanation, "; ".join(part for part in parts if part), explanation.sentence)
        return (head, *(node for nodes in self._part_nodes for node in nodes))
