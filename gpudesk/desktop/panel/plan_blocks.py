"""How the parallel plans of a deployment are laid out in the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpudesk.desktop.panel.pieces import Icon, Layout, Measure, Text
from gpudesk.sheets.explanation import PlanLine

if TYPE_CHECKING:
    from gpudesk.desktop.panel.blocks import State

_MARGIN: Final = 16
_INDENT: Final = 12
_CHECK: Final = 14
#: Lines of a reason where the plan is not the current line.
_MOST_LINES: Final = 3


def plan_layout(plan: PlanLine, state: State, measure: Measure) -> Layout:
    """Lay out a plan: its name and throughput, below them why it was taken or not."""
    theme, layout = measure.theme, Layout()
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


def _named(layout: Layout, x: float, right: float, plan: PlanLine, measure: Measure, quiet: str) -> None:
    """Put name, check and figure in one line; the name gives way."""
    theme, font = measure.theme, "small_strong"
    height = float(theme.line("small"))
    at = right
    if plan.unit:
        layout.add(Text(at, layout.height, height, plan.unit, "caption", quiet, right=True))
        at -= measure.width(plan.unit, "caption") + theme.px(4)
    layout.add(Text(at, layout.height, height, plan.figure, font, "text1", right=True))
    at -= measure.width(plan.figure, font) + theme.px(8)
    side = float(theme.px(_CHECK)) if plan.taken else 0.0
    name = measure.elided(plan.name, font, max(0.0, at - x - side - theme.px(4)))
    if plan.taken:
        check = x + measure.width(name, font) + theme.px(4)
        layout.add(Icon("check", check, layout.height + (height - side) / 2, side, "text1"))
    layout.row(x, name, font, "text1", height)
