"""How each kind of line of the panel is laid out, from the tokens of the theme; nothing is painted here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from PySide6.QtCore import QRectF

from gpudesk.desktop.panel.catalog_blocks import add_age, statement_layout, use_layout
from gpudesk.desktop.panel.decision_blocks import outcome_layout, ruling_layout, said_layout
from gpudesk.desktop.panel.fold_blocks import fold_layout
from gpudesk.desktop.panel.node import Heading, Kind, Link, Node, Remark, Share
from gpudesk.desktop.panel.pieces import Fill, Glyph, Icon, Key, Layout, Measure, Rule, Text
from gpudesk.desktop.panel.plan_blocks import plan_layout
from gpudesk.desktop.panel.record_blocks import record_layout
from gpudesk.domain.claims import Stance
from gpudesk.sheets.explanation import (
    ClaimLine,
    Detail,
    DisputeLine,
    Explanation,
    Ground,
    Limits,
    RemedyLine,
    TermLine,
)
from gpudesk.text import tr

_MARGIN: Final = 16.0
_INDENT: Final = 12.0
#: How far a selection or a box stands from the panel's edge.
_INSET: Final = 8.0
_INKS: Final = ("ink1", "ink2", "ink3", "ink4")
_GROUNDS: Final = {
    Ground.MEASURED: "measured",
    Ground.CALIBRATED: "calibrated",
    Ground.ESTIMATED: "estimated",
    Ground.UNCALIBRATED: "uncalibrated",
    Ground.EXACT: "exact",
    Ground.DOES_NOT_FIT: "exact",
}


@dataclass(frozen=True, slots=True)
class State:
    """What beside its content decides how a line looks: how deep it stands, whether open, whether current.

    Texts are laid out for `width`, of which the scroll bar may cover the margin; boxes end at `edge`.
    """

    width: int
    edge: int
    depth: int = 0
    foldable: bool = False
    expanded: bool = False
    current: bool = False


class Blocks:
    """Lays lines out, and keeps the layouts until content, state or theme change."""

    def __init__(self, measure: Measure) -> None:
        """Measure texts with this."""
        self._measure = measure
        self._theme = measure.theme
        self._kept: dict[str, tuple[Node, State, Layout]] = {}
        self._makers: dict[Kind, Callable[[Any, State], Layout]] = {
            Kind.HEAD: self._head,
            Kind.SECTION: self._section,
            Kind.BAR: self._bar,
            Kind.SHARE: self._share,
            Kind.TERM: self._term,
            Kind.GROUP: self._group,
            Kind.CLAIM: self._claim,
            Kind.DETAIL: self._detail,
            Kind.NOTE: self._note,
            Kind.DISPUTE: self._dispute,
            Kind.REMEDY: self._remedy,
            Kind.RECORD: lambda record, state: record_layout(record, state, measure),
            Kind.PLAN: lambda plan, state: plan_layout(plan, state, measure),
            Kind.PLANS: lambda group, state: fold_layout(group.label, "text2", state, measure),
            Kind.STATEMENT: lambda line, state: statement_layout(line, state, measure),
            Kind.STATED: lambda group, state: fold_layout(group.label, "text1", state, measure),
            Kind.MORE: lambda more, state: fold_layout(more.title, "text2", state, measure),
            Kind.USE: lambda use, state: use_layout(use, state, measure),
            Kind.OUTCOME: lambda line, state: outcome_layout(line, state, measure),
            Kind.RULING: lambda line, state: ruling_layout(line, state, measure),
            Kind.SAID: lambda said, state: said_layout(said, state, measure),
            Kind.RULE: self._rule,
            Kind.LINK: self._link,
            Kind.EMPTY: self._empty,
        }
        self._theme.changed.connect(self.clear)

    def clear(self) -> None:
        """Let all layouts go."""
        self._kept.clear()

    def layout(self, node: Node, state: State) -> Layout:
        """Return the layout of a line."""
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
        self, layout: Layout, x: float, text: str, font: str, colour: str, width: float, most: int = 0
    ) -> None:
        """Put a text below what is there, broken to a width."""
        if text:
            lines = self._measure.lines(text, font, width, most)
            layout.paragraph(x, lines, font, colour, self._line(font))

    # The figure

    def _head(self, what: Explanation, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN)
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

    def _figure(self, layout: Layout, x: float, what: Explanation, width: float) -> None:
        """Put the figure with its unit: as large as it finds room, words in several lines."""
        gap = self._px(6)
        unit = self._measure.width(what.unit, "small") + gap if what.unit else 0.0
        for font in ("figure", "verdict", "option"):
            taken = self._measure.width(what.figure, font)
            if taken + unit <= width:
                self._figure_line(layout, x, what, font, x + taken + gap)
                return
        self._wrapped(layout, x, what.value, "option", "text1", width)

    def _figure_line(self, layout: Layout, x: float, what: Explanation, font: str, unit_x: float) -> None:
        height = self._line(font)
        baseline = layout.height + (height + self._measure.metrics(font).capHeight()) / 2
        if what.unit:
            rise = self._measure.metrics("small").capHeight()
            layout.add(Text(unit_x, baseline - rise, rise, what.unit, "small", "text3"))
        layout.row(x, what.figure, font, "text1", height)

    def _basis(self, layout: Layout, x: float, what: Explanation, width: float) -> None:
        middle = layout.height + self._line("small") / 2
        glyph = _GROUNDS.get(what.ground)
        aside = self._px(18)
        if glyph is not None:
            layout.add(Glyph(glyph, x + self._px(5), middle))
        else:
            side = self._px(13)
            layout.add(Icon("file-text", x - self._px(1), middle - side / 2, side))
        self._wrapped(layout, x + aside, what.basis, "small", "text2", width - aside)

    # Headings

    def _section(self, heading: Heading, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN)
        layout.space(self._px(8))
        layout.add(Rule(0, layout.height, state.width, layout.height))
        layout.space(self._px(14))
        room = state.width - 2 * x
        title = self._measure.elided(heading.title, "label", room)
        left = room - self._measure.width(title, "label") - self._px(12)
        height = self._line("label")
        aside = self._measure.elided(heading.aside, "caption", left) if left > self._px(40) else ""
        if aside:
            layout.add(Text(state.width - x, layout.height, height, aside, "caption", "text3", right=True))
        layout.row(x, title, "label", "text1", height)
        layout.space(self._px(6))
        return layout

    def _group(self, heading: Heading, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN)
        layout.space(self._px(6))
        text = self._measure.elided(heading.title, "caption_strong", state.width - 2 * x)
        layout.row(x, text, "caption_strong", "text2", self._line("caption_strong"))
        layout.space(self._px(2))
        return layout

    def _rule(self, nothing: None, state: State) -> Layout:  # noqa: ARG002 - called like the others
        layout = Layout()
        layout.space(self._px(8))
        layout.add(Rule(0, layout.height, state.width, layout.height))
        layout.space(self._px(9))
        return layout

    # What limits

    def _bar(self, limits: Limits, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN)
        layout.space(self._px(2))
        height, gap = self._px(10), 2.0
        shares = limits.shares
        room = state.width - 2 * x - gap * (len(shares) - 1)
        total = sum(share.share for share in shares) or 1.0
        for place, share in enumerate(shares):
            width = max(1.0, room * share.share / total)
            layout.add(Fill(x, layout.height, width, height, _ink(place), 2.0))
            x += width + gap
        layout.space(height + self._px(8))
        return layout

    def _share(self, share: Share, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN)
        height = self._line("small") + self._px(3)
        font = "label" if share.place == 0 else "small"
        colour = "text1" if share.place == 0 else "text2"
        side = self._px(8)
        layout.add(Fill(x, (height - side) / 2, side, side, _ink(share.place), 2.0))
        right = state.width - x
        layout.add(Text(right, 0, height, share.line.text, font, colour, right=True))
        inner = x + self._px(16)
        room = right - self._measure.width(share.line.text, font) - self._px(8) - inner
        layout.row(inner, self._measure.elided(share.line.label, font, room), font, colour, height)
        return layout

    # Working

    def _term(self, term: TermLine, state: State) -> Layout:
        layout = Layout()
        x = self._px(_MARGIN) + state.depth * self._px(_INDENT)
        right = state.width - self._px(_MARGIN)
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
            rule = self._px(_MARGIN) + (level - 1) * self._px(_INDENT) + self._px(3)
            layout.add(Rule(rule, 0, rule, layout.height, "hair"))
        return layout

    def _valued_row(self, layout: Layout, x: float, right: float, term: TermLine, state: State) -> None:
        """Put label, fold and value in one line."""
        height, font = self._line("small"), "small_strong"
        at = right
        if term.unit:
            layout.add(
                Text(
                    at,
                    layout.height,
                    height,
                    term.unit,
                    "caption",
                    "text2" if state.current else "text3",
                    right=True,
                )
            )
            at -= self._measure.width(term.unit, "caption") + self._px(4)
        layout.add(Text(at, layout.height, height, term.value, font, "text1", right=True))
        at -= self._measure.width(term.value, font) + self._px(8)
        fold = self._px(14) if state.foldable else 0.0
        label = self._measure.elided(term.label, font, max(0.0, at - x - fold))
        if state.foldable:
            self._fold(layout, x + self._measure.width(label, font) + self._px(2), height, state)
        layout.row(x, label, font, "text1", height)

    def _fold(self, layout: Layout, x: float, height: float, state: State) -> None:
        side = self._px(12)
        icon = "chevron-down" if state.expanded else "chevron-right"
        layout.add(Icon(icon, x, layout.height + (height - side) / 2, side, "text3"))
        layout.fold = QRectF(
            x - self._px(4), layout.height - self._px(3), side + self._px(8), height + self._px(6)
        )

    # Claims

    def _claim(self, claim: ClaimLine, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN)
        right = state.width - x
        preferred = claim.stance is Stance.TAKEN
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
        layout.add(Text(right, layout.height, height, claim.origin, "caption", quiet, right=True))
        layout.row(x, title, "caption", "text2", height)
        if claim.verdict:
            most = 0 if state.current or state.expanded else 2
            self._wrapped(layout, x, claim.verdict, "caption", "text2", right - x, most)
        layout.space(self._px(6))
        if preferred:
            inset = self._px(_INSET)
            fill = Fill(inset, 0, state.edge - inset, layout.height, "selection", 6.0)
            layout.pieces.insert(0, fill)
        return layout

    def _claimed(self, layout: Layout, x: float, value: str, unit: str | None, state: State) -> None:
        height = self._line("section")
        at = x + self._measure.width(value, "section") + self._px(4)
        if unit:
            layout.add(Text(at, layout.height, height, unit, "small", "text2"))
            at += self._measure.width(unit, "small") + self._px(4)
        self._fold(layout, at, height, state)
        layout.row(x, value, "section", "text1", height)

    def _stance(self, layout: Layout, right: float, stance: Stance, quiet: str) -> None:
        height = self._line("section")
        middle = layout.height + height / 2
        if stance is Stance.TAKEN:
            side = self._px(14)
            layout.add(Icon("check", right - side, middle - side / 2, side, "text1"))
        elif stance is Stance.AGREES:
            layout.add(Text(right, layout.height, height, tr("agrees"), "caption", quiet, right=True))
        else:
            glyph = "unfit" if stance is Stance.REFUSED else "disputed"
            layout.add(Glyph(glyph, right - self._px(6), middle))

    def _detail(self, detail: Detail, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN + 4)
        right = state.width - self._px(_MARGIN)
        column = x + self._px(92)
        height = self._line("caption")
        label = self._measure.elided(detail.label, "caption", column - x - self._px(8))
        quiet = "text2" if state.current else "text3"
        layout.space(self._px(2))
        layout.add(Text(x, layout.height, height, label, "caption", quiet))
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

    def _note(self, remark: Remark, state: State) -> Layout:
        layout, inset = Layout(), self._px(12)
        layout.space(self._px(8))
        top, icon = layout.height, self._px(15)
        layout.space(self._px(10))
        x = inset + self._px(10) + icon + self._px(8)
        side = layout.height + (self._line("small") - icon) / 2
        mark = Icon(remark.icon, inset + self._px(10), side, icon)
        self._wrapped(layout, x, remark.text, "small", "text1", state.edge - self._px(10) - x)
        layout.space(self._px(10))
        box = Fill(inset, top, state.edge - inset, layout.height - top, "sunken", 8.0)
        layout.pieces[:0] = [box, mark]
        layout.space(self._px(12))
        return layout

    def _dispute(self, dispute: DisputeLine, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN + 18)
        room = state.width - self._px(_MARGIN) - x
        layout.space(self._px(4))
        middle = layout.height + self._line("small") / 2
        layout.add(Glyph("disputed", self._px(_MARGIN + 5), middle))
        self._wrapped(layout, x, dispute.disagreement, "small", "text2", room)
        verdict = tr("Verdict: {verdict}", verdict=dispute.verdict)
        self._wrapped(layout, x, verdict, "small_strong", "text1", room)
        self._wrapped(layout, x, dispute.refused_by, "caption", "text2", room)
        quiet = "text2" if state.current else "text3"
        self._wrapped(layout, x, dispute.reason, "caption", quiet, room)
        layout.space(self._px(6))
        return layout

    def _remedy(self, remedy: RemedyLine, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN)
        right = state.width - x
        height, font = self._line("small"), "small_strong"
        layout.space(self._px(4))
        layout.add(Text(right, layout.height, height, remedy.verdict, font, "text1", right=True))
        room = right - self._measure.width(remedy.verdict, font) - self._px(8) - x
        layout.row(x, self._measure.elided(remedy.label, font, room), font, "text1", height)
        quiet = "text2" if state.current else "text3"
        self._wrapped(layout, x, remedy.detail, "caption", quiet, right - x, 0 if state.current else 2)
        layout.space(self._px(4))
        return layout

    def _link(self, link: Link, state: State) -> Layout:
        layout, x = Layout(), self._px(_MARGIN)
        height, room = self._line("small") + self._px(8), state.width - 2 * x
        if link.key:
            layout.add(Key(state.width - x, height / 2, link.key))
            room -= self._measure.width(link.key, "caption") + self._px(20)
        layout.row(x, self._measure.elided(link.text, "small", room), "small", "link", height)
        return layout

    def _empty(self, remark: Remark, state: State) -> Layout:
        layout, icon = Layout(), self._px(16)
        x = self._px(_MARGIN + 6)
        layout.space(self._px(18))
        top = layout.height + (self._line("small") - icon) / 2
        layout.add(Icon(remark.icon, x, top, icon))
        inner = x + icon + self._px(8)
        room = state.width - self._px(_MARGIN) - inner
        self._wrapped(layout, inner, remark.text, "small", "text2", room)
        layout.space(self._px(18))
        return layout


def _ink(place: int) -> str:
    return _INKS[min(place, len(_INKS) - 1)]
