"""How a published figure near to the selected one is laid out in the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QRectF

from gpudesk.desktop.panel.pieces import Icon, Layout, Measure, Text
from gpudesk.sheets.explanation import RecordLine

if TYPE_CHECKING:
    from gpudesk.desktop.panel.blocks import State

_MARGIN: Final = 16
_FOLD: Final = 12
#: Lines of conditions where the record is not the current line.
_MOST_LINES: Final = 3


def record_layout(record: RecordLine, state: State, measure: Measure) -> Layout:
    """Lay out a record: what it is of and our error, below them both figures, and who published it."""
    theme, layout = measure.theme, Layout()
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
    layout: Layout, x: float, right: float, record: RecordLine, state: State, measure: Measure
) -> None:
    """Put conditions, the fold after them, and our error in lines; the conditions give way."""
    theme, font = measure.theme, "small"
    height, side = float(theme.line(font)), float(theme.px(_FOLD))
    layout.add(Text(right, layout.height, height, record.error, "small_strong", "text1", right=True))
    error = measure.width(record.error, "small_strong") + theme.px(8)
    room = max(float(theme.px(40)), right - x - error - side - theme.px(2))
    most = 0 if state.current or state.expanded else _MOST_LINES
    *above, last = measure.lines(record.what, font, room, most)
    layout.paragraph(x, tuple(above), font, "text1", height)
    icon = "chevron-down" if state.expanded else "chevron-right"
    at = x + measure.width(last, font) + theme.px(2)
    layout.add(Icon(icon, at, layout.height + (height - side) / 2, side, "text3"))
    layout.fold = QRectF(
        at - theme.px(4), layout.height - theme.px(3), side + theme.px(8), height + theme.px(6)
    )
    layout.row(x, last, font, "text1", height)


def _published(
    layout: Layout, x: float, right: float, record: RecordLine, state: State, measure: Measure
) -> None:
    """Put who published it and when in one line, of which the title gives way; whole where it is current."""
    height = float(measure.theme.line("caption"))
    quiet = "text2" if state.current else "text3"
    layout.add(Text(right, layout.height, height, record.date, "caption", quiet, right=True))
    date = measure.width(record.date, "caption") + measure.theme.px(10)
    if state.current:
        lines = measure.lines(record.source, "caption", right - date - x)
    else:
        lines = (measure.elided(record.source, "caption", right - date - x),)
    layout.paragraph(x, lines, "caption", quiet, height)
