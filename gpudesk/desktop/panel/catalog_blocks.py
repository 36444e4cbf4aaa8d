"""How the lines are laid out that only facts of the catalog have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF

from gpudesk.desktop.panel.pieces import Glyph, Icon, Layout, Measure
from gpudesk.sheets.explanation import Explanation, StatementLine, UseLine

if TYPE_CHECKING:
    from gpudesk.desktop.panel.blocks import State

_MARGIN: Final = 16
_FOLD: Final = 12
#: Lines of a statement where it is not the current line.
_MOST_LINES: Final = 3


def statement_layout(line: StatementLine, state: State, measure: Measure) -> Layout:
    """Lay out a statement: its words, the document, and what is remarked on it."""
    theme, layout = measure.theme, Layout()
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
    layout.add(Icon(icon, at, layout.height + (height - side) / 2, side, "text3"))
    layout.fold = QRectF(
        at - theme.px(4), layout.height - theme.px(3), side + theme.px(8), height + theme.px(6)
    )
    layout.row(x, last, "small", "text1", height)
    layout.row(x, measure.elided(line.origin, "caption", right - x, middle=True), "caption", quiet, caption)
    if line.remark:
        remarks = measure.lines(line.remark, "caption", right - x, 0 if whole else 1)
        layout.paragraph(x, remarks, "caption", "text2", caption)
    layout.space(theme.px(6))
    return layout


def use_layout(use: UseLine, state: State, measure: Measure) -> Layout:
    """Lay out what rests on a fact: its name, and as what below it."""
    theme, layout = measure.theme, Layout()
    x = float(theme.px(_MARGIN))
    room = state.width - 2 * x
    layout.space(theme.px(2))
    layout.row(x, measure.elided(use.name, "small", room), "small", "text1", float(theme.line("small")))
    quiet = "text2" if state.current else "text3"
    lines = measure.lines(use.role, "caption", room)
    layout.paragraph(x, lines, "caption", quiet, float(theme.line("caption")))
    layout.space(theme.px(4))
    return layout


def add_age(layout: Layout, x: float, what: Explanation, width: float, measure: Measure) -> None:
    """Put how old a fact is below what is there; one that is stale is marked."""
    theme = measure.theme
    height, aside = float(theme.line("small")), float(theme.px(18))
    middle = layout.height + height / 2
    if what.stale:
        layout.add(Glyph("partly", x + theme.px(5), middle))
    else:
        side = float(theme.px(13))
        layout.add(Icon("history", x - theme.px(1), middle - side / 2, side))
    colour = "disputed_text" if what.stale else "text2"
    lines = measure.lines(what.age, "small", width - aside)
    layout.paragraph(x + aside, lines, "small", colour, height)
