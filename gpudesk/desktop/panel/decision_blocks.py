"""How the lines are laid out that only decisions have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF

from gpudesk.desktop.panel.node import Heading
from gpudesk.desktop.panel.pieces import Icon, Layout, Measure, Swatch, Text
from gpudesk.sheets.explanation_decisions import OutcomeLine, RulingLine
from gpudesk.sheets.option_words import Fate

if TYPE_CHECKING:
    from gpudesk.desktop.panel.blocks import State

_MARGIN: Final = 16
_NAME_X: Final = 28
_FOLD: Final = 12
_INDENT: Final = 12
#: Colours of what becomes of an accelerator.
_STATES: Final = {Fate.STAYS: "text2", Fate.UNDECIDED: "disputed_text", Fate.REMOVED: "text2"}


def outcome_layout(line: OutcomeLine, state: State, measure: Measure) -> Layout:
    """Lay out an accelerator: swatch and name, what becomes of it at the right, the fact below."""
    theme, layout = measure.theme, Layout()
    x, right = float(theme.px(_MARGIN)), float(state.width - theme.px(_MARGIN))
    height = float(theme.line("body"))
    name_x = x + theme.px(_NAME_X)
    layout.space(theme.px(3))
    said = measure.elided(line.state, "small", (right - name_x) * 0.6)
    layout.add(Text(right, layout.height, height, said, "small", _STATES[line.fate], right=True))
    room = right - measure.width(said, "small") - theme.px(8) - name_x
    name = measure.elided(line.name, "body_strong", room)
    layout.add(Swatch(x, layout.height + height / 2, name_x, name, "body_strong", line.slot, line.hollow))
    layout.space(height)
    if line.text:
        lines = measure.lines(line.text, "small", right - name_x)
        layout.paragraph(name_x, lines, "small", "text2", float(theme.line("small")))
    layout.space(theme.px(5))
    return layout


def ruling_layout(line: RulingLine, state: State, measure: Measure) -> Layout:
    """Lay out a rule: its title, how much it weighs at the right, id and document below."""
    theme, layout = measure.theme, Layout()
    x, right = float(theme.px(_MARGIN)), float(state.width - theme.px(_MARGIN))
    height, caption = float(theme.line("small")), float(theme.line("caption"))
    side = float(theme.px(_FOLD))
    colour = "text1" if line.applies else "text2"
    layout.space(theme.px(4))
    *above, last = measure.lines(line.title, "small_strong", right - x - side - theme.px(2))
    layout.paragraph(x, tuple(above), "small_strong", colour, height)
    at = x + measure.width(last, "small_strong") + theme.px(2)
    icon = "chevron-down" if state.expanded else "chevron-right"
    layout.add(Icon(icon, at, layout.height + (height - side) / 2, side, "text3"))
    layout.fold = QRectF(
        at - theme.px(4), layout.height - theme.px(3), side + theme.px(8), height + theme.px(6)
    )
    layout.row(x, last, "small_strong", colour, height)
    quiet = "text2" if state.current else "text3"
    layout.paragraph(x, measure.lines(line.strength, "caption", right - x), "caption", "text2", caption)
    layout.paragraph(x, measure.lines(line.origin, "caption", right - x), "caption", quiet, caption)
    layout.space(theme.px(5))
    return layout


def said_layout(said: Heading, state: State, measure: Measure) -> Layout:
    """Lay out a sentence, a little further in where it is folded below another line."""
    theme, layout = measure.theme, Layout()
    x = float(theme.px(_MARGIN + state.depth * _INDENT))
    room = state.width - theme.px(_MARGIN) - x
    layout.space(theme.px(2))
    colour = "text1" if state.depth == 0 else "text2"
    lines = measure.lines(said.title, "small", room)
    layout.paragraph(x, lines, "small", colour, float(theme.line("small")))
    layout.space(theme.px(4))
    return layout
