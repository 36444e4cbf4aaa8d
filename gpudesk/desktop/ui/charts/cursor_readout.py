"""The size and columns of the readout on a plot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QRectF

from gpudesk.desktop.ui.charts.drawing import CursorReadout
from gpudesk.desktop.ui.charts.label_placement import Box
from gpudesk.desktop.ui.charts.scales import FloatArray

if TYPE_CHECKING:
    from gpudesk.desktop.ui.charts.text_painter import TextPainter
    from gpudesk.desktop.ui.theme.theme import Theme


@dataclass(frozen=True, slots=True)
class ReadoutSize:
    """How large a read-out is, how wide its columns are, and the room between them."""

    width: float
    height: float
    name: float
    cells: tuple[float, ...]
    gap: float


def find_corner_boxes(area: QRectF, size: ReadoutSize, inset: float) -> list[Box]:
    lefts = (area.left() + inset, area.right() - inset - size.width)
    tops = (area.top() + inset, area.bottom() - inset - size.height)
    return [(x, y, x + size.width, y + size.height) for y in tops for x in lefts]


def sample_points(rect: QRectF) -> FloatArray:
    xs = np.linspace(rect.left() + 1, rect.right() - 1, 5)
    ys = np.linspace(rect.top() + 1, rect.bottom() - 1, 5)
    return np.array([(x, y) for x in xs for y in ys])


def find_right_edges(box: QRectF, size: ReadoutSize, inset: float) -> list[float]:
    """Return the right ends of the cells, from the first."""
    right = box.right() - inset
    ends = []
    for width in reversed(size.cells):
        ends.append(right)
        right -= width + size.gap
    return ends[::-1]


READOUT_INSET: Final = 10
#: Of the figure itself, and of what more is said of it.
CELL_FONTS: Final = ("label", "caption", "caption")


def measure_readout(cursor_readout: CursorReadout, letters: TextPainter, theme: Theme) -> ReadoutSize:
    # Many columns stand closer.
    gap = float(theme.px(16 if len(cursor_readout.heads) < 3 else 11))
    name = 0.0
    cells = [letters.width(head, "caption") for head in cursor_readout.heads]
    for row in cursor_readout.rows:
        name = max(name, letters.width(row.name, "small"))
        for number, (cell, font) in enumerate(zip(row.cells, CELL_FONTS, strict=False)):
            cells[number] = max(cells[number], letters.width(cell, font))
    swatch = float(theme.px(28))
    width = swatch + name + sum(cells) + gap * len(cells)
    head = letters.width(cursor_readout.title, "caption_strong") + gap + sum(cells[1:]) + gap * max(0, len(cells) - 1)
    head += letters.width(cursor_readout.heads[0], "caption") if cursor_readout.heads else 0.0
    name += max(0.0, head - width)
    width = max(width, head) + 2 * theme.px(READOUT_INSET)
    height = theme.px(26) + len(cursor_readout.rows) * theme.px(18) + theme.px(7)
    return ReadoutSize(width, float(height), name, tuple(cells), gap)
