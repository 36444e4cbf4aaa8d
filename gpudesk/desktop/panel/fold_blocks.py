"""How a line is laid out that does nothing but fold others in and out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF

from gpudesk.desktop.panel.pieces import Icon, Layout, Measure

if TYPE_CHECKING:
    from gpudesk.desktop.panel.blocks import State

_MARGIN: Final = 16
_FOLD: Final = 12


def fold_layout(label: str, colour: str, state: State, measure: Measure) -> Layout:
    """Lay out a label with its arrow; the whole line folds."""
    theme, layout = measure.theme, Layout()
    x, side = float(theme.px(_MARGIN)), float(theme.px(_FOLD))
    height = float(theme.line("small"))
    layout.space(theme.px(4))
    shown = measure.elided(label, "small", state.width - 2 * x - side - theme.px(4))
    icon = "chevron-down" if state.expanded else "chevron-right"
    at = x + measure.width(shown, "small") + theme.px(2)
    layout.add(Icon(icon, at, layout.height + (height - side) / 2, side, "text3"))
    layout.row(x, shown, "small", colour, height)
    layout.space(theme.px(4))
    layout.fold = QRectF(0, 0, state.width, layout.height)
    return layout
