"""The layout of each kind of line of the panel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import QRectF

from gpudesk.desktop.ui.panel.nodes import NodeHeading, NodeKind, NodeLink, NodeRemark, PanelNode, RankedShare
from gpudesk.desktop.ui.panel.pieces import (
    BlockLayout,
    FillPiece,
    GlyphPiece,
    IconPiece,
    KeyPiece,
    RulePiece,
    SwatchPiece,
    TextMeasure,
    TextPiece,
)
from gpudesk.domain.claim import ClaimStatus
from gpudesk.report.decision.questions import ColumnOutcome
from gpudesk.report.explanation.parts import (
    ClaimLine,
    ColumnOutcomeLine,
    DisputeLine,
    ExplainedPlan,
    Explanation,
    ExplanationBasis,
    ExplanationDetail,
    LimiterBreakdown,
    MeasuredRunLine,
    RemedyLine,
    RulingLine,
    StatementLine,
    TermLine,
    UseLine,
)
from gpudesk.text.translation import tr

_MARGIN: Final = 16
_FOLD: Final = 12


def lay_out_fold(label: str, colour: str, state: BlockState, measure: TextMeasure) -> BlockLayout:
    """Lay out a label with its arrow; the whole line folds."""
    theme, layout = measure.theme, BlockLayout()
    x, side = float(theme.px(_MARGIN)), float(theme.px(_FOLD))
    height = float(theme.line("small"))
    layout.space(theme.px(4))
    shown = measure.elided(label, "small", state.width - 2 * x - side - theme.px(4))
    icon = "chevron-down" if state.expanded else "chevron-right"
    at = x + measure.width(shown, "small") + theme.px(2)
    layout.add(IconPiece(icon, at, layout.height + (height - side) / 2, side, "text3"))
    layout.row(x, shown, "small", colour, height)
    layout.space(theme.px(4))
    layout.fold = QRectF(0, 0, state.width, layout.height)
    return layout


#: Lines of conditions where the record is not the current line.
_MOST_LINES: Final = 3


def lay_out_record(record: MeasuredRunLine, state: BlockState, measure: TextMeasure) -> BlockLayout:
    """Lay out a record: what it is of and our error, below them both figures, and who published it."""
    theme, layout = measure.theme, BlockLayout()
    x = float(theme.px(_MARGIN))
    right = float(state.width - theme.px(_MARGIN))
    caption = float(theme.line("caption"))
    layout.space(theme.px(4))
    _titled(layout, x, right, record, state, measure)
    layout.paragraph(x, measure.lines(record.compared, "caption", right - x), "caption", "text2", caption)
    _published(layout, x, right, record, state, measure)
    layout.space(theme.px(6))
    return layout


def _titled(
    layout: BlockLayout, x: float, right: float, record: MeasuredRunLine, state: BlockState, measure: TextMeasure
) -> None:
    """Put conditions, the fold after them, and our error in lines; the conditions give way."""
    theme, font = measure.theme, "small"
    height, side = float(theme.line(font)), float(theme.px(_FOLD))
    layout.add(TextPiece(right, layout.height, height, record.error, "small_strong", "text1", right=True))
    error = measure.width(record.error, "small_strong") + theme.px(8)
    room = max(float(theme.px(40)), right - x - error - side - theme.px(2))
    most = 0 if state.current or state.expanded else _MOST_LINES
    *above, last = measure.lines(record.what, font, room, most)
    layout.paragraph(x, tuple(above), font, "text1", height)
    icon = "chevron-down" if state.expanded else "chevron-right"
    at = x + measure.width(last, font) + theme.px(2)
    layout.add(IconPiece(icon, at, layout.height + (height - side) / 2, side, "text3"))
    layout.fold = QRectF(at - theme.px(4), layout.height - theme.px(3), side + theme.px(8), height + theme.px(6))
    layout.row(x, last, font, "text1", height)


def _published(
    layout: BlockLayout, x: float, right: float, record: MeasuredRunLine, state: BlockState, measure: TextMeasure
) -> None:
    """Put who published it and when in one line, of which the title gives way; whole where it is current."""
    height = float(measure.theme.line("caption"))
    quiet = "text2" if state.current else "text3"
    layout.add(TextPiece(right, layout.height, height, record.date, "caption", quiet, right=True))
    date = measure.width(record.date, "caption") + measure.theme.px(10)
    if state.current:
        lines = measure.lines(record.source, "caption", right - date - x)
    else:
        lines = (measure.elided(record.source, "caption", right - date - x),)
    layout.paragraph(x, lines, "caption", quiet, height)


_INDENT: Final = 12
_CHECK: Final = 14
#: Lines of a reason where the plan is not the current line.


def lay_out_plan(plan: ExplainedPlan, state: BlockState, measure: TextMeasure) -> BlockLayout:
    """Lay out a plan: its name and throughput, below them why it was taken or not."""
    theme, layout = measure.theme, BlockLayout()
    x = float(theme.px(_MARGIN + state.depth * _INDENT))
    right = float(state.width - theme.px(_MARGIN))
    quiet = "text2" if state.current or plan.taken else "text3"
    layout.space(theme.px(4))
    _named(layout, x, right, plan, measure, quiet)
    most = 0 if state.current or plan.taken else _MOST_LINES
    lines = measure.lines(plan.reason, "caption", right - x, most)
    layout.paragraph(x, lines, "caption", quiet, float(theme.line("caption")))
    if state.current and plan.latency:
        lines = measure.lines(plan.latency, "caption", right - x)
        layout.paragraph(x, lines, "caption", "text1", float(theme.line("caption")))
    layout.space(theme.px(4))
    return layout


def _named(layout: BlockLayout, x: float, right: float, plan: ExplainedPlan, measure: TextMeasure, quiet: str) -> None:
    """Put name, check and figure in one line; the name gives way."""
    theme, font = measure.theme, "small_strong"
    height = float(theme.line("small"))
    at = right
    if plan.unit:
        layout.add(TextPiece(at, layout.height, height, plan.unit, "caption", quiet, right=True))
        at -= measure.width(plan.unit, "caption") + theme.px(4)
    layout.add(TextPiece(at, layout.height, height, plan.figure, font, "text1", right=True))
    at -= measure.width(plan.figure, font) + theme.px(8)
    side = float(theme.px(_CHECK)) if plan.taken else 0.0
    name = measure.elided(plan.name, font, max(0.0, at - x - side - theme.px(4)))
    if plan.taken:
        check = x + measure.width(name, font) + theme.px(4)
        layout.add(IconPiece("check", check, layout.height + (height - side) / 2, side, "text1"))
    layout.row(x, name, font, "text1", height)


#: Lines of a statement where it is not the current line.


def lay_out_statement(line: StatementLine, state: BlockState, measure: TextMeasure) -> BlockLayout:
    """Lay out a statement: its words, the document, and what is remarked on it."""
    theme, layout = measure.theme, BlockLayout()
    x, right = float(theme.px(_MARGIN)), float(state.width - theme.px(_MARGIN))
    height, side = float(theme.line("small")), float(theme.px(_FOLD))
    caption = float(theme.line("caption"))
    quiet = "text2" if state.current else "text3"
    layout.space(theme.px(4))
    whole = state.current or state.expanded
    room = right - x - side - theme.px(2)
    *above, last = measure.lines(line.said, "small", room, 0 if whole else _MOST_LINES)
    layout.paragraph(x, tuple(above), "small", "text1", height)
    icon = "chevron-down" if state.expanded else "chevron-right"
    at = x + measure.width(last, "small") + theme.px(2)
    layout.add(IconPiece(icon, at, layout.height + (height - side) / 2, side, "text3"))
    layout.fold = QRectF(at - theme.px(4), layout.height - theme.px(3), side + theme.px(8), height + theme.px(6))
    layout.row(x, last, "small", "text1", height)
    layout.row(x, measure.elided(line.origin, "caption", right - x, middle=True), "caption", quiet, caption)
    if line.remark:
        remarks = measure.lines(line.remark, "caption", right - x, 0 if whole else 1)
        layout.paragraph(x, remarks, "caption", "text2", caption)
    layout.space(theme.px(6))
    return layout


def lay_out_use(use: UseLine, state: BlockState, measure: TextMeasure) -> BlockLayout:
    """Lay out what rests on a fact: its name, and as what below it."""
    theme, layout = measure.theme, BlockLayout()
    x = float(theme.px(_MARGIN))
    room = state.width - 2 * x
    layout.space(theme.px(2))
    layout.row(x, measure.elided(use.name, "small", room), "small", "text1", float(theme.line("small")))
    quiet = "text2" if state.current else "text3"
    lines = measure.lines(use.role, "caption", room)
    layout.paragraph(x, lines, "caption", quiet, float(theme.line("caption")))
    layout.space(theme.px(4))
    return layout


def add_age(layout: BlockLayout, x: float, what: Explanation, width: float, measure: TextMeasure) -> None:
    """Put how old a fact is below what is there; one that is stale is marked."""
    theme = measure.theme
    height, aside = float(theme.line("small")), float(theme.px(18))
    middle = layout.height + height / 2
    if what.stale:
        layout.add(GlyphPiece("partly", x + theme.px(5), middle))
    else:
        side = float(theme.px(13))
        layout.add(IconPiece("history", x - theme.px(1), middle - side / 2, side))
    colour = "disputed_text" if what.stale else "text2"
    lines = measure.lines(what.age, "small", width - aside)
    layout.paragraph(x + aside, lines, "small", colour, height)


_NAME_X: Final = 28
#: Colours of what becomes of an accelerator.
_STATES: Final = {
    ColumnOutcome.STAYS: "text2",
    ColumnOutcome.UNDECIDED: "disputed_text",
    ColumnOutcome.REMOVED: "text2",
}


def lay_out_outcome(line: ColumnOutcomeLine, state: BlockState, measure: TextMeasure) -> BlockLayout:
    """Lay out an accelerator: swatch and name, what becomes of it at the right, the fact below."""
    theme, layout = measure.theme, BlockLayout()
    x, right = float(theme.px(_MARGIN)), float(state.width - theme.px(_MARGIN))
    height = float(theme.line("body"))
    name_x = x + theme.px(_NAME_X)
    layout.space(theme.px(3))
    said = measure.elided(line.state, "small", (right - name_x) * 0.6)
    layout.add(TextPiece(right, layout.height, height, said, "small", _STATES[line.fate], right=True))
    room = right - measure.width(said, "small") - theme.px(8) - name_x
    name = measure.elided(line.name, "body_strong", room)
    layout.add(SwatchPiece(x, layout.height + height / 2, name_x, name, "body_strong", line.slot, line.is_variant))
    layout.space(height)
    if line.text:
        lines = measure.lines(line.text, "small", right - name_x)
        layout.paragraph(name_x, lines, "small", "text2", float(theme.line("small")))
    layout.space(theme.px(5))
    return layout


def lay_out_ruling(line: RulingLine, state: BlockState, measure: TextMeasure) -> BlockLayout:
    """Lay out a rule: its title, how much it weighs at the right, id and document below."""
    theme, layout = measure.theme, BlockLayout()
    x, right = float(theme.px(_MARGIN)), float(state.width - theme.px(_MARGIN))
    height, caption = float(theme.line("small")), float(theme.line("caption"))
    side = float(theme.px(_FOLD))
    colour = "text1" if line.applies else "text2"
    layout.space(theme.px(4))
    *above, last = measure.lines(line.title, "small_strong", right - x - side - theme.px(2))
    layout.paragraph(x, tuple(above), "small_strong", colour, height)
    at = x + measure.width(last, "small_strong") + theme.px(2)
    icon = "chevron-down" if state.expanded else "chevron-right"
    layout.add(IconPiece(icon, at, layout.height + (height - side) / 2, side, "text3"))
    layout.fold = QRectF(at - theme.px(4), layout.height - theme.px(3), side + theme.px(8), height + theme.px(6))
    layout.row(x, last, "small_strong", colour, height)
    quiet = "text2" if state.current else "text3"
    layout.paragraph(x, measure.lines(line.strength, "caption", right - x), "caption", "text2", caption)
    layout.paragraph(x, measure.lines(line.origin, "caption", right - x), "caption", quiet, caption)
    layout.space(theme.px(5))
    return layout


def lay_out_sentence(said: NodeHeading, state: BlockState, measure: TextMeasure) -> BlockLayout:
    """Lay out a sentence, a little further in where it is folded below another line."""
    theme, layout = measure.theme, BlockLayout()
    x = float(theme.px(_MARGIN + state.depth * _INDENT))
    room = state.width - theme.px(_MARGIN) - x
    layout.space(theme.px(2))
    colour = "text1" if state.depth == 0 else "text2"
    lines = measure.lines(said.title, "small", room)
    layout.paragraph(x, lines, "small", colour, float(theme.line("small")))
    layout.space(theme.px(4))
    return layout


_BLOCK_MARGIN: Final = 16.0
_BLOCK_INDENT: Final = 12.0
#: How far a selection or a box stands from the panel's edge.
_INSET: Final = 8.0
_INKS: Final = ("ink1", "ink2", "ink3", "ink4")
_GROUNDS: Final = {
    ExplanationBasis.MEASURED: "measured",
    ExplanationBasis.CALIBRATED: "calibrated",
    ExplanationBasis.ESTIMATED: "estimated",
    ExplanationBasis.UNCALIBRATED: "uncalibrated",
    ExplanationBasis.EXACT: "exact",
    ExplanationBasis.DOES_NOT_FIT: "exact",
}


@dataclass(frozen=True, slots=True)
class BlockState:
    """What beside its content decides how a line looks: how deep it stands, whether open, whether current.

    Texts are laid out for `width`, of which the scroll bar may cover the margin; boxes end at `edge`.
    """

    width: int
    edge: int
    depth: int = 0
    foldable: bool = False
    expanded: bool = False
    current: bool = False


class BlockLayouts:
    """Lays lines out, and keeps the layouts until content, state or theme change."""

    def __init__(self, measure: TextMeasure) -> None:
        self._measure = measure
        self._theme = measure.theme
        self._kept: dict[str, tuple[PanelNode, BlockState, BlockLayout]] = {}
        self._makers: dict[NodeKind, Callable[[Any, BlockState], BlockLayout]] = {
            NodeKind.HEAD: self._head,
            NodeKind.SECTION: self._section,
            NodeKind.BAR: self._bar,
            NodeKind.SHARE: self._share,
            NodeKind.TERM: self._term,
            NodeKind.GROUP: self._group,
            NodeKind.CLAIM: self._claim,
            NodeKind.DETAIL: self._detail,
            NodeKind.NOTE: self._note,
            NodeKind.DISPUTE: self._dispute,
            NodeKind.REMEDY: self._remedy,
            NodeKind.RECORD: lambda record, state: lay_out_record(record, state, measure),
            NodeKind.PLAN: lambda plan, state: lay_out_plan(plan, state, measure),
            NodeKind.PLANS: lambda group, state: lay_out_fold(group.label, "text2", state, measure),
            NodeKind.STATEMENT: lambda line, state: lay_out_statement(line, state, measure),
            NodeKind.STATED: lambda group, state: lay_out_fold(group.label, "text1", state, measure),
            NodeKind.MORE: lambda more, state: lay_out_fold(more.title, "text2", state, measure),
            NodeKind.USE: lambda use, state: lay_out_use(use, state, measure),
            NodeKind.OUTCOME: lambda line, state: lay_out_outcome(line, state, measure),
            NodeKind.RULING: lambda line, state: lay_out_ruling(line, state, measure),
            NodeKind.SAID: lambda said, state: lay_out_sentence(said, state, measure),
            NodeKind.RULE: self._rule,
            NodeKind.LINK: self._link,
            NodeKind.EMPTY: self._empty,
        }
        self._theme.changed.connect(self.clear)

    def clear(self) -> None:
        self._kept.clear()

    def layout(self, node: PanelNode, state: BlockState) -> BlockLayout:
        kept = self._kept.get(node.key)
        if kept is not None and kept[0] is node and kept[1] == state:
            return kept[2]
        made = self._makers[node.kind](node.content, state)
        self._kept[node.key] = (node, state, made)
        return made

    # Lengths

    def _px(self, n: float) -> float:
        return float(self._theme.px(n))

    def _line(self, font: str) -> float:
        return float(self._theme.line(font))

    def _wrapped(
        self, layout: BlockLayout, x: float, text: str, font: str, colour: str, width: float, most: int = 0
    ) -> None:
        if text:
            lines = self._measure.lines(text, font, width, most)
            layout.paragraph(x, lines, font, colour, self._line(font))

    # The figure

    def _head(self, what: Explanation, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN)
        width = state.width - 2 * x
        layout.space(self._px(14))
        self._wrapped(layout, x, what.what, "section", "text1", width)
        self._wrapped(layout, x, what.conditions, "small", "text2", width)
        if what.figure:
            layout.space(self._px(8))
            self._figure(layout, x, what, width)
        self._wrapped(layout, x, what.band, "small", "text2", width)
        if what.basis:
            self._basis(layout, x, what, width)
        if what.age:
            add_age(layout, x, what, width, self._measure)
        layout.space(self._px(6))
        return layout

    def _figure(self, layout: BlockLayout, x: float, what: Explanation, width: float) -> None:
        """Put the figure with its unit: as large as it finds room, words in several lines."""
        gap = self._px(6)
        unit = self._measure.width(what.unit, "small") + gap if what.unit else 0.0
        for font in ("figure", "verdict", "option"):
            taken = self._measure.width(what.figure, font)
            if taken + unit <= width:
                self._figure_line(layout, x, what, font, x + taken + gap)
                return
        self._wrapped(layout, x, what.value, "option", "text1", width)

    def _figure_line(self, layout: BlockLayout, x: float, what: Explanation, font: str, unit_x: float) -> None:
        height = self._line(font)
        baseline = layout.height + (height + self._measure.metrics(font).capHeight()) / 2
        if what.unit:
            rise = self._measure.metrics("small").capHeight()
            layout.add(TextPiece(unit_x, baseline - rise, rise, what.unit, "small", "text3"))
        layout.row(x, what.figure, font, "text1", height)

    def _basis(self, layout: BlockLayout, x: float, what: Explanation, width: float) -> None:
        middle = layout.height + self._line("small") / 2
        glyph = _GROUNDS.get(what.ground)
        aside = self._px(18)
        if glyph is not None:
            layout.add(GlyphPiece(glyph, x + self._px(5), middle))
        else:
            side = self._px(13)
            layout.add(IconPiece("file-text", x - self._px(1), middle - side / 2, side))
        self._wrapped(layout, x + aside, what.basis, "small", "text2", width - aside)

    # Headings

    def _section(self, heading: NodeHeading, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN)
        layout.space(self._px(8))
        layout.add(RulePiece(0, layout.height, state.width, layout.height))
        layout.space(self._px(14))
        room = state.width - 2 * x
        title = self._measure.elided(heading.title, "label", room)
        left = room - self._measure.width(title, "label") - self._px(12)
        height = self._line("label")
        aside = self._measure.elided(heading.aside, "caption", left) if left > self._px(40) else ""
        if aside:
            layout.add(TextPiece(state.width - x, layout.height, height, aside, "caption", "text3", right=True))
        layout.row(x, title, "label", "text1", height)
        layout.space(self._px(6))
        return layout

    def _group(self, heading: NodeHeading, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN)
        layout.space(self._px(6))
        text = self._measure.elided(heading.title, "caption_strong", state.width - 2 * x)
        layout.row(x, text, "caption_strong", "text2", self._line("caption_strong"))
        layout.space(self._px(2))
        return layout

    def _rule(self, nothing: None, state: BlockState) -> BlockLayout:  # noqa: ARG002 - called like the others
        layout = BlockLayout()
        layout.space(self._px(8))
        layout.add(RulePiece(0, layout.height, state.width, layout.height))
        layout.space(self._px(9))
        return layout

    # What limits

    def _bar(self, limits: LimiterBreakdown, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN)
        layout.space(self._px(2))
        height, gap = self._px(10), 2.0
        shares = limits.shares
        room = state.width - 2 * x - gap * (len(shares) - 1)
        total = sum(share.share for share in shares) or 1.0
        for place, share in enumerate(shares):
            width = max(1.0, room * share.share / total)
            layout.add(FillPiece(x, layout.height, width, height, _ink(place), 2.0))
            x += width + gap
        layout.space(height + self._px(8))
        return layout

    def _share(self, share: RankedShare, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN)
        height = self._line("small") + self._px(3)
        font = "label" if share.place == 0 else "small"
        colour = "text1" if share.place == 0 else "text2"
        side = self._px(8)
        layout.add(FillPiece(x, (height - side) / 2, side, side, _ink(share.place), 2.0))
        right = state.width - x
        layout.add(TextPiece(right, 0, height, share.line.text, font, colour, right=True))
        inner = x + self._px(16)
        room = right - self._measure.width(share.line.text, font) - self._px(8) - inner
        layout.row(inner, self._measure.elided(share.line.label, font, room), font, colour, height)
        return layout

    # Working

    def _term(self, term: TermLine, state: BlockState) -> BlockLayout:
        layout = BlockLayout()
        x = self._px(_BLOCK_MARGIN) + state.depth * self._px(_BLOCK_INDENT)
        right = state.width - self._px(_BLOCK_MARGIN)
        quiet = "text2" if state.current else "text3"
        layout.space(self._px(4))
        self._valued_row(layout, x, right, term, state)
        if term.formula:
            most = 0 if state.current else 2
            self._wrapped(layout, x, term.formula, "caption", quiet, right - x, most)
        if term.source and state.current:
            self._wrapped(layout, x, term.source, "caption", "text1", right - x)
        elif term.source and not term.formula:
            source = self._measure.elided(term.source, "caption", right - x)
            layout.row(x, source, "caption", quiet, self._line("caption"))
        layout.space(self._px(4))
        for level in range(1, state.depth + 1):
            rule = self._px(_BLOCK_MARGIN) + (level - 1) * self._px(_BLOCK_INDENT) + self._px(3)
            layout.add(RulePiece(rule, 0, rule, layout.height, "hair"))
        return layout

    def _valued_row(self, layout: BlockLayout, x: float, right: float, term: TermLine, state: BlockState) -> None:
        height, font = self._line("small"), "small_strong"
        at = right
        if term.unit:
            layout.add(
                TextPiece(
                    at, layout.height, height, term.unit, "caption", "text2" if state.current else "text3", right=True
                )
            )
            at -= self._measure.width(term.unit, "caption") + self._px(4)
        layout.add(TextPiece(at, layout.height, height, term.value, font, "text1", right=True))
        at -= self._measure.width(term.value, font) + self._px(8)
        fold = self._px(14) if state.foldable else 0.0
        label = self._measure.elided(term.label, font, max(0.0, at - x - fold))
        if state.foldable:
            self._fold(layout, x + self._measure.width(label, font) + self._px(2), height, state)
        layout.row(x, label, font, "text1", height)

    def _fold(self, layout: BlockLayout, x: float, height: float, state: BlockState) -> None:
        side = self._px(12)
        icon = "chevron-down" if state.expanded else "chevron-right"
        layout.add(IconPiece(icon, x, layout.height + (height - side) / 2, side, "text3"))
        layout.fold = QRectF(x - self._px(4), layout.height - self._px(3), side + self._px(8), height + self._px(6))

    # Claims

    def _claim(self, claim: ClaimLine, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN)
        right = state.width - x
        preferred = claim.stance is ClaimStatus.TAKEN
        quiet = "text2" if preferred or state.current else "text3"
        layout.space(self._px(6))
        room = right - self._px(24) - x
        lines = self._measure.lines(claim.value, "section", room, 0 if state.current else 2)
        self._stance(layout, right, claim.stance, quiet)
        for line in lines[:-1]:
            layout.row(x, line, "section", "text1", self._line("section"))
        self._claimed(layout, x, lines[-1], claim.unit, state)
        origin = self._measure.width(claim.origin, "caption")
        title = self._measure.elided(claim.title, "caption", right - x - origin - self._px(10))
        height = self._line("caption")
        layout.add(TextPiece(right, layout.height, height, claim.origin, "caption", quiet, right=True))
        layout.row(x, title, "caption", "text2", height)
        if claim.verdict:
            most = 0 if state.current or state.expanded else 2
            self._wrapped(layout, x, claim.verdict, "caption", "text2", right - x, most)
        layout.space(self._px(6))
        if preferred:
            inset = self._px(_INSET)
            fill = FillPiece(inset, 0, state.edge - inset, layout.height, "selection", 6.0)
            layout.pieces.insert(0, fill)
        return layout

    def _claimed(self, layout: BlockLayout, x: float, value: str, unit: str | None, state: BlockState) -> None:
        height = self._line("section")
        at = x + self._measure.width(value, "section") + self._px(4)
        if unit:
            layout.add(TextPiece(at, layout.height, height, unit, "small", "text2"))
            at += self._measure.width(unit, "small") + self._px(4)
        self._fold(layout, at, height, state)
        layout.row(x, value, "section", "text1", height)

    def _stance(self, layout: BlockLayout, right: float, stance: ClaimStatus, quiet: str) -> None:
        height = self._line("section")
        middle = layout.height + height / 2
        if stance is ClaimStatus.TAKEN:
            side = self._px(14)
            layout.add(IconPiece("check", right - side, middle - side / 2, side, "text1"))
        elif stance is ClaimStatus.AGREES:
            layout.add(TextPiece(right, layout.height, height, tr("agrees"), "caption", quiet, right=True))
        else:
            glyph = "unfit" if stance is ClaimStatus.REFUSED else "disputed"
            layout.add(GlyphPiece(glyph, right - self._px(6), middle))

    def _detail(self, detail: ExplanationDetail, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN + 4)
        right = state.width - self._px(_BLOCK_MARGIN)
        column = x + self._px(92)
        height = self._line("caption")
        label = self._measure.elided(detail.label, "caption", column - x - self._px(8))
        quiet = "text2" if state.current else "text3"
        layout.space(self._px(2))
        layout.add(TextPiece(x, layout.height, height, label, "caption", quiet))
        room = right - column
        if detail.url and not state.current:
            shown = self._measure.elided(detail.value, "caption", room, middle=True)
            layout.row(column, shown, "caption", "link", height)
        else:
            colour = "link" if detail.url else "text1"
            self._wrapped(layout, column, detail.value, "caption", colour, room)
        layout.space(self._px(2))
        return layout

    # Remarks

    def _note(self, remark: NodeRemark, state: BlockState) -> BlockLayout:
        layout, inset = BlockLayout(), self._px(12)
        layout.space(self._px(8))
        top, icon = layout.height, self._px(15)
        layout.space(self._px(10))
        x = inset + self._px(10) + icon + self._px(8)
        side = layout.height + (self._line("small") - icon) / 2
        mark = IconPiece(remark.icon, inset + self._px(10), side, icon)
        self._wrapped(layout, x, remark.text, "small", "text1", state.edge - self._px(10) - x)
        layout.space(self._px(10))
        box = FillPiece(inset, top, state.edge - inset, layout.height - top, "sunken", 8.0)
        layout.pieces[:0] = [box, mark]
        layout.space(self._px(12))
        return layout

    def _dispute(self, dispute: DisputeLine, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN + 18)
        room = state.width - self._px(_BLOCK_MARGIN) - x
        layout.space(self._px(4))
        middle = layout.height + self._line("small") / 2
        layout.add(GlyphPiece("disputed", self._px(_BLOCK_MARGIN + 5), middle))
        self._wrapped(layout, x, dispute.disagreement, "small", "text2", room)
        verdict = tr("Verdict: {verdict}", verdict=dispute.verdict)
        self._wrapped(layout, x, verdict, "small_strong", "text1", room)
        self._wrapped(layout, x, dispute.refused_by, "caption", "text2", room)
        quiet = "text2" if state.current else "text3"
        self._wrapped(layout, x, dispute.reason, "caption", quiet, room)
        layout.space(self._px(6))
        return layout

    def _remedy(self, remedy: RemedyLine, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN)
        right = state.width - x
        height, font = self._line("small"), "small_strong"
        layout.space(self._px(4))
        layout.add(TextPiece(right, layout.height, height, remedy.verdict, font, "text1", right=True))
        room = right - self._measure.width(remedy.verdict, font) - self._px(8) - x
        layout.row(x, self._measure.elided(remedy.label, font, room), font, "text1", height)
        quiet = "text2" if state.current else "text3"
        self._wrapped(layout, x, remedy.detail, "caption", quiet, right - x, 0 if state.current else 2)
        layout.space(self._px(4))
        return layout

    def _link(self, link: NodeLink, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_BLOCK_MARGIN)
        height, room = self._line("small") + self._px(8), state.width - 2 * x
        if link.key:
            layout.add(KeyPiece(state.width - x, height / 2, link.key))
            room -= self._measure.width(link.key, "caption") + self._px(20)
        layout.row(x, self._measure.elided(link.text, "small", room), "small", "link", height)
        return layout

    def _empty(self, remark: NodeRemark, state: BlockState) -> BlockLayout:
        layout, icon = BlockLayout(), self._px(16)
        x = self._px(_BLOCK_MARGIN + 6)
        layout.space(self._px(18))
        top = layout.height + (self._line("small") - icon) / 2
        layout.add(IconPiece(remark.icon, x, top, icon))
        inner = x + icon + self._px(8)
        room = state.width - self._px(_BLOCK_MARGIN) - inner
        self._wrapped(layout, inner, remark.text, "small", "text2", room)
        layout.space(self._px(18))
        return layout


def _ink(place: int) -> str:
    return _INKS[min(place, len(_INKS) - 1)]
