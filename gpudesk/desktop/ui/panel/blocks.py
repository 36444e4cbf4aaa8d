"""The six kinds of block that the panel shows, and their layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QPointF, QRectF

from gpudesk.desktop.ui.theme.theme_painter import LEFT, RIGHT, TextMeasure, ThemePainter
from gpudesk.domain.sizing import FitRemedy
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.explanation.parts import CatalogAction, Explanation, ExplanationBasis

#: Color of secondary text: stronger on the current row.
QUIET: Final = "quiet"


class RowCut(StrEnum):
    """When a text shows all its lines."""

    NEVER = "never"
    #: On the current row.
    UNTIL_CURRENT = "until current"
    #: On the current row, and on unfolded rows.
    UNTIL_OPEN = "until open"


@frozen_dataclass
class RowText:
    """A text at the right end of a line; a `share` below 1 is its maximum width share."""

    text: str
    font: str
    color: str = "text1"
    share: float = 1.0


@frozen_dataclass
class RowLine:
    """A text of a row, broken into lines; empty ones are left out.

    `most` is the maximum number of lines (0: any), `cut` the condition. `values` are at its right, the rightmost first;
    `label` in a column before it. The text is followed by its `unit`, the fold arrow of the row, and a check mark.
    `sign` is a glyph at the right end, "check" for preferred items.
    """

    text: str
    font: str = "caption"
    color: str = "text2"
    most: int = 0
    cut: RowCut = RowCut.UNTIL_CURRENT
    values: tuple[RowText, ...] = ()
    label: str = ""
    unit: str = ""
    fold: bool = False
    check: bool = False
    sign: str = ""
    #: The cut is in the middle of the text, for an address.
    middle: bool = False
    #: The color on the current row, and whether it appears only there.
    current_color: str = ""
    current_only: bool = False
    #: Space beyond the height of a line, in design lengths.
    leading: float = 0.0


@frozen_dataclass
class RowBlock:
    """Lines about one subject.

    `space` is the space above and below them, in design lengths. `glyph`, the position of an `ink` or a `swatch` (slot,
    and whether a variant) come before the first line. `nested` rows are indented by depth, `ruled` ones with a hairline
    per level. A click anywhere folds a `folding` row.
    """

    lines: tuple[RowLine, ...]
    space: tuple[float, float] = (4, 4)
    indent: float = 0.0
    glyph: str = ""
    ink: int | None = None
    swatch: tuple[int, bool] | None = None
    nested: bool = False
    ruled: bool = False
    folding: bool = False
    #: Emphasized among its neighbors: no quiet text; optionally filled.
    emphatic: bool = False
    is_filled: bool = False
    tool_tip: str | None = None
    #: The address that can be selected as text and is copied by following the row.
    address: str = ""


@frozen_dataclass
class HeadingBlock:
    """The title of a section below a rule with a word at its right, or of a group of rows; or only a rule."""

    title: str = ""
    aside: str = ""
    group: bool = False


@frozen_dataclass
class NoteBlock:
    """A sentence with an icon, in a box or, if nothing else is shown, without one."""

    text: str
    icon: str
    boxed: bool = True


@frozen_dataclass
class BarBlock:
    """A bar of segments by their shares of any total."""

    shares: tuple[float, ...]


class LinkCommand(StrEnum):
    """The command of a link."""

    COPY_WITH_SOURCES = "copy with sources"
    COPY_WORKING = "copy working"
    APPLY = "apply"
    FREE_COUNTS = "free counts"
    EDIT = "edit"


@frozen_dataclass
class LinkBlock:
    """An action: its wording, its command with the argument, and its key."""

    text: str
    command: LinkCommand
    remedy: FitRemedy | None = None
    offer: CatalogAction | None = None

    @property
    def key(self) -> str:
        """The key of the same command, empty without one."""
        return "" if self.offer is None else self.offer.key


#: An `Explanation` as a block is its own head: the figure with its interval, basis and age.
PanelBlock = Explanation | HeadingBlock | NoteBlock | BarBlock | RowBlock | LinkBlock

_MARGIN: Final = 16
_INDENT: Final = 12
#: Distance of a selection or a box from the panel's edge.
_INSET: Final = 8
#: Space from a glyph, an ink or a swatch to the text after it; the width of the label column.
_AFTER_GLYPH, _AFTER_INK, _AFTER_SWATCH, _LABELS = 18, 16, 28, 92
#: The fold arrow, and its width taken from the text before it.
_FOLD, _FOLD_ROOM = 12, 14
#: Width of a sign at the right end, taken from the text.
_SIGN_ROOM: Final = 10
_LEAST_TEXT: Final = 40
_INKS: Final = ("ink1", "ink2", "ink3", "ink4")
_BASIS_GLYPHS: Final = {
    ExplanationBasis.CALIBRATED: "calibrated",
    ExplanationBasis.ESTIMATED: "estimated",
    ExplanationBasis.UNCALIBRATED: "uncalibrated",
    ExplanationBasis.EXACT: "exact",
    ExplanationBasis.DOES_NOT_FIT: "exact",
}


@frozen_dataclass
class BlockState:
    """State that affects a block's look besides its content: depth, open, current.

    Texts are laid out for `width`, whose margin the scroll bar can cover; boxes end at `edge`.
    """

    width: int
    edge: int
    depth: int = 0
    foldable: bool = False
    expanded: bool = False
    current: bool = False


@dataclass(slots=True)
class BlockLayout:
    """The drawing operations of a panel line, and its height; `fold` is the click area of the arrow.

    Positions are relative to the left end of the panel and the top of the line.
    """

    height: float = 0.0
    fold: QRectF | None = None
    #: Each draws with the top of the line at a y.
    pieces: list[Callable[[ThemePainter, float], object]] = field(default_factory=list)

    def draw(self, pen: ThemePainter, y: float) -> None:
        for draw_piece in self.pieces:
            draw_piece(pen, y)

    def space(self, height: float) -> None:
        self.height += height

    def text(
        self,
        x: float,
        text: str,
        font: str,
        color: str,
        height: float,
        *,
        top: float | None = None,
        right: bool = False,
    ) -> None:
        """Place a text in a box of a height, or at `top`; `x` is its right end with `right`."""
        level = self.height if top is None else top

        def draw(pen: ThemePainter, y: float) -> None:
            baseline = y + level + (height + pen.metrics(font).capHeight()) / 2
            pen.text(QPointF(x, baseline), text, font=font, color=color, align=RIGHT if right else LEFT)

        self.pieces.append(draw)

    def row(self, x: float, text: str, font: str, color: str, height: float) -> None:
        """Add a line of text below the content."""
        self.text(x, text, font, color, height)
        self.height += height

    def paragraph(self, x: float, lines: Sequence[str], font: str, color: str, height: float) -> None:
        for line in lines:
            self.row(x, line, font, color, height)

    def fill(self, box: QRectF, color: str, radius: float, *, behind: bool = False) -> None:
        place = 0 if behind else len(self.pieces)
        self.pieces.insert(place, lambda pen, y: pen.tint(box.translated(0, y), color, radius))

    def rule(self, x1: float, y1: float, x2: float, y2: float) -> None:
        self.pieces.append(lambda pen, y: pen.hairline(x1, y + y1, x2, y + y2))

    def glyph(self, name: str, x: float, level: float) -> None:
        """Place a glyph around a point."""
        self.pieces.append(lambda pen, y: pen.glyph(name, x, y + level))

    def icon(self, name: str, x: float, middle: float, side: float, color: str = "text2") -> None:
        """Place an icon at `x`, vertically centered."""
        self.pieces.append(lambda pen, y: pen.icon(name, x, y + middle - side / 2, side, color))


class BlockLayouts:
    """Lays out blocks, and caches the layouts until content, state or theme change."""

    def __init__(self, measure: TextMeasure) -> None:
        self._measure = measure
        self._theme = measure.theme
        self._cached_layouts: dict[str, tuple[PanelBlock, BlockState, BlockLayout]] = {}
        self._theme.changed.connect(self._cached_layouts.clear)

    def layout(self, key: str, block: PanelBlock, state: BlockState) -> BlockLayout:
        """Return the layout of the block with a key."""
        cached = self._cached_layouts.get(key)
        if cached is not None and cached[0] is block and cached[1] == state:
            return cached[2]
        block_layout = self._lay_out(block, state)
        self._cached_layouts[key] = (block, state, block_layout)
        return block_layout

    def _lay_out(self, block: PanelBlock, state: BlockState) -> BlockLayout:
        match block:
            case RowBlock():
                return self._lay_out_row(block, state)
            case HeadingBlock():
                return self._lay_out_heading(block, state)
            case NoteBlock():
                return self._lay_out_note(block, state) if block.boxed else self._lay_out_bare_note(block, state)
            case BarBlock():
                return self._lay_out_bar(block, state)
            case LinkBlock():
                return self._link(block, state)
            case _:
                return self._lay_out_figure(block, state)

    # Lengths

    def _px(self, n: float) -> float:
        return float(self._theme.px(n))

    def _measure_line(self, font: str) -> float:
        return float(self._theme.line(font))

    def _wrapped(self, layout: BlockLayout, x: float, text: str, font: str, color: str, width: float) -> None:
        if text:
            layout.paragraph(x, self._measure.lines(text, font, width), font, color, self._measure_line(font))

    # The figure

    def _lay_out_figure(self, what: Explanation, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_MARGIN)
        width = state.width - 2 * x
        layout.space(self._px(14))
        self._wrapped(layout, x, what.what, "section", "text1", width)
        self._wrapped(layout, x, what.conditions, "small", "text2", width)
        if what.figure:
            layout.space(self._px(8))
            self._number(layout, x, what, width)
        self._wrapped(layout, x, what.band, "small", "text2", width)
        glyph = _BASIS_GLYPHS.get(what.ground, "")
        self._marked(layout, x, what.basis, "text2", width, glyph, "file-text")
        color, glyph = ("disputed_text", "partly") if what.stale else ("text2", "")
        self._marked(layout, x, what.age, color, width, glyph, "history")
        layout.space(self._px(6))
        return layout

    def _number(self, layout: BlockLayout, x: float, what: Explanation, width: float) -> None:
        """Place the figure with its unit: as large as it fits, texts on several lines."""
        gap = self._px(6)
        unit = self._measure.width(what.unit, "small") + gap if what.unit else 0.0
        for font in ("figure", "verdict", "option"):
            text_width = self._measure.width(what.figure, font)
            if text_width + unit > width:
                continue
            height = self._measure_line(font)
            if what.unit:
                baseline = layout.height + (height + self._measure.metrics(font).capHeight()) / 2
                rise = self._measure.metrics("small").capHeight()
                layout.text(x + text_width + gap, what.unit, "small", "text3", rise, top=baseline - rise)
            layout.row(x, what.figure, font, "text1", height)
            return
        self._wrapped(layout, x, what.value, "option", "text1", width)

    def _marked(
        self, layout: BlockLayout, x: float, text: str, color: str, width: float, glyph: str, icon: str
    ) -> None:
        """Place a text after a glyph, or after an icon without a suitable glyph."""
        if not text:
            return
        middle, side = layout.height + self._measure_line("small") / 2, self._px(13)
        if glyph:
            layout.glyph(glyph, x + self._px(5), middle)
        else:
            layout.icon(icon, x - self._px(1), middle, side)
        aside = self._px(_AFTER_GLYPH)
        self._wrapped(layout, x + aside, text, "small", color, width - aside)

    # Headings and notes

    def _lay_out_heading(self, heading: HeadingBlock, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_MARGIN)
        room = state.width - 2 * x
        if heading.group:
            layout.space(self._px(6))
            text = self._measure.elide_text(heading.title, "caption_strong", room)
            layout.row(x, text, "caption_strong", "text2", self._measure_line("caption_strong"))
            layout.space(self._px(2))
            return layout
        layout.space(self._px(8))
        layout.rule(0, layout.height, state.width, layout.height)
        if not heading.title:
            layout.space(self._px(9))
            return layout
        layout.space(self._px(14))
        title = self._measure.elide_text(heading.title, "label", room)
        remaining = room - self._measure.width(title, "label") - self._px(12)
        height = self._measure_line("label")
        aside = self._measure.elide_text(heading.aside, "caption", remaining) if remaining > self._px(40) else ""
        if aside:
            layout.text(state.width - x, aside, "caption", "text3", height, right=True)
        layout.row(x, title, "label", "text1", height)
        layout.space(self._px(6))
        return layout

    def _lay_out_note(self, note: NoteBlock, state: BlockState) -> BlockLayout:
        layout, inset = BlockLayout(), self._px(12)
        layout.space(self._px(8))
        top, icon = layout.height, self._px(15)
        layout.space(self._px(10))
        x = inset + self._px(10) + icon + self._px(8)
        layout.icon(note.icon, inset + self._px(10), layout.height + self._measure_line("small") / 2, icon)
        self._wrapped(layout, x, note.text, "small", "text1", state.edge - self._px(10) - x)
        layout.space(self._px(10))
        layout.fill(QRectF(inset, top, state.edge - inset, layout.height - top), "sunken", 8.0, behind=True)
        layout.space(self._px(12))
        return layout

    def _lay_out_bare_note(self, note: NoteBlock, state: BlockState) -> BlockLayout:
        layout, icon, x = BlockLayout(), self._px(16), self._px(_MARGIN + 6)
        layout.space(self._px(18))
        layout.icon(note.icon, x, layout.height + self._measure_line("small") / 2, icon)
        inner = x + icon + self._px(8)
        self._wrapped(layout, inner, note.text, "small", "text2", state.width - self._px(_MARGIN) - inner)
        layout.space(self._px(18))
        return layout

    # Bars and links

    def _lay_out_bar(self, bar: BarBlock, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_MARGIN)
        layout.space(self._px(2))
        height, gap = self._px(10), 2.0
        room = state.width - 2 * x - gap * (len(bar.shares) - 1)
        total = sum(bar.shares) or 1.0
        for place, share in enumerate(bar.shares):
            width = max(1.0, room * share / total)
            layout.fill(QRectF(x, layout.height, width, height), _choose_ink(place), 2.0)
            x += width + gap
        layout.space(height + self._px(8))
        return layout

    def _link(self, link: LinkBlock, state: BlockState) -> BlockLayout:
        layout, x = BlockLayout(), self._px(_MARGIN)
        height, room = self._measure_line("small") + self._px(8), state.width - 2 * x
        if link.key:
            key, right = link.key, state.width - x
            layout.pieces.append(lambda pen, y: pen.key_hint(right - pen.tag_width(key), y + height / 2, key))
            room -= self._measure.width(link.key, "caption") + self._px(20)
        layout.row(x, self._measure.elide_text(link.text, "small", room), "small", "link", height)
        return layout

    # Rows

    def _lay_out_row(self, row: RowBlock, state: BlockState) -> BlockLayout:
        layout = BlockLayout()
        depth = state.depth if row.nested else 0
        x = self._px(_MARGIN + row.indent) + depth * self._px(_INDENT)
        above, below = row.space
        layout.space(self._px(above))
        inner = x + self._mark_row(layout, x, row)
        for line in row.lines:
            if line.text and (state.current or not line.current_only):
                self._row_line(layout, inner, line, row, state)
        layout.space(self._px(below))
        if row.ruled:
            for level in range(depth):
                rule = self._px(_MARGIN) + level * self._px(_INDENT) + self._px(3)
                layout.rule(rule, 0, rule, layout.height)
        if row.is_filled:
            inset = self._px(_INSET)
            layout.fill(QRectF(inset, 0, state.edge - inset, layout.height), "selection", 6.0, behind=True)
        return layout

    def _mark_row(self, layout: BlockLayout, x: float, row: RowBlock) -> float:
        """Place the sign before the first line; return the indent of the texts."""
        height = self._measure_line(row.lines[0].font) + (
            self._px(row.lines[0].leading) if row.lines[0].leading else 0.0
        )
        middle = layout.height + height / 2
        if row.glyph:
            layout.glyph(row.glyph, x + self._px(5), middle)
            return self._px(_AFTER_GLYPH)
        if row.swatch is not None:
            slot, is_variant = row.swatch
            layout.pieces.append(lambda pen, y: pen.swatch(x, y + middle, slot, is_variant=is_variant))
            return self._px(_AFTER_SWATCH)
        if row.ink is not None:
            side = self._px(8)
            layout.fill(QRectF(x, middle - side / 2, side, side), _choose_ink(row.ink), 2.0)
            return self._px(_AFTER_INK)
        return 0.0

    def _row_line(self, layout: BlockLayout, x: float, line: RowLine, row: RowBlock, state: BlockState) -> None:
        px, measure = self._px, self._measure
        height = self._measure_line(line.font) + (px(line.leading) if line.leading else 0.0)
        right = state.width - px(_MARGIN)
        fold = line.fold and state.foldable
        if line.label:
            label = measure.elide_text(line.label, "caption", px(_LABELS - 8))
            layout.text(x, label, "caption", self._color(QUIET, row, state), height)
            x += px(_LABELS)
        room = self._add_values(layout, right, height, line, row, state, right - x) - x
        room -= px(_FOLD_ROOM) if fold or line.check else 0.0
        room -= px(_SIGN_ROOM) if line.sign else 0.0
        texts = self._break_line(line, max(px(_LEAST_TEXT), room), state)
        color = self._color(line.current_color if state.current and line.current_color else line.color, row, state)
        layout.paragraph(x, texts[:-1], line.font, color, height)
        at = x + measure.width(texts[-1], line.font)
        if line.unit:
            at += px(4)
            layout.text(at, line.unit, "small", "text2", height)
            at += measure.width(line.unit, "small") + px(2)
        if line.check:
            layout.icon("check", at + px(4), layout.height + height / 2, px(14), "text1")
        if fold:
            self._add_fold(layout, at + px(2), height, row, state)
        layout.row(x, texts[-1], line.font, color, height)

    def _break_line(self, line: RowLine, room: float, state: BlockState) -> tuple[str, ...]:
        whole = (line.cut is not RowCut.NEVER and state.current) or (line.cut is RowCut.UNTIL_OPEN and state.expanded)
        if line.middle and not whole:
            return (self._measure.elide_text(line.text, line.font, room, middle=True),)
        return self._measure.lines(line.text, line.font, room, 0 if whole else line.most)

    def _add_values(
        self,
        layout: BlockLayout,
        right: float,
        height: float,
        line: RowLine,
        row: RowBlock,
        state: BlockState,
        width: float,
    ) -> float:
        """Place the values at the right of a line; return where the text before them must end."""
        px, at = self._px, right
        for place, value in enumerate(line.values):
            text = self._measure.elide_text(value.text, value.font, width * value.share)
            color = self._color(value.color, row, state)
            layout.text(at, text, value.font, color, height, right=True)
            at -= self._measure.width(text, value.font) + px(8 if place == len(line.values) - 1 else 4)
        if line.sign == "check":
            layout.icon("check", right - px(14), layout.height + height / 2, px(14), "text1")
        elif line.sign:
            layout.glyph(line.sign, right - px(6), layout.height + height / 2)
        return at

    def _add_fold(self, layout: BlockLayout, x: float, height: float, row: RowBlock, state: BlockState) -> None:
        side = self._px(_FOLD)
        icon = "chevron-down" if state.expanded else "chevron-right"
        layout.icon(icon, x, layout.height + height / 2, side, "text3")
        if not row.folding:
            layout.fold = QRectF(x - self._px(4), layout.height - self._px(3), side + self._px(8), height + self._px(6))

    def _color(self, color: str, row: RowBlock, state: BlockState) -> str:
        if color != QUIET:
            return color
        return "text2" if state.current or row.emphatic else "text3"


def _choose_ink(place: int) -> str:
    return _INKS[min(place, len(_INKS) - 1)]
