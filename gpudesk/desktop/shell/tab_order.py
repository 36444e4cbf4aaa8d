"""The order in which Tab goes through a window: region by region, each as it is read.

A widget with the property `readAsBlock` is read whole before what stands beside it: a column of a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QWidget

BLOCK: Final = "readAsBlock"


def chain_as_read(regions: Sequence[QWidget]) -> tuple[QWidget, QWidget] | None:
    """Let Tab go through what can be seen of the regions: line by line, each line from the left.

    Return the first and the last control, None where there is none. Controls come and go with the scenario,
    and pages with their first use, so this is done when Tab is pressed rather than kept up to date.
    """
    found = [widget for region in regions for widget in _as_read(region)]
    for before, after in pairwise(found):
        QWidget.setTabOrder(before, after)
    return (found[0], found[-1]) if found else None


@dataclass(slots=True)
class _Placed:
    """A control, or a block of several, in the window's coordinates."""

    widget: QWidget
    rect: QRect
    block: bool


def _as_read(region: QWidget) -> Iterator[QWidget]:
    """Yield the controls of a region; a line is what has its middle above the lower edge of the topmost."""
    line: list[_Placed] = []
    for placed in sorted(_placed(region), key=lambda each: each.rect.top()):
        if line and placed.rect.center().y() > line[0].rect.bottom():
            yield from _from_the_left(line)
            line = []
        line.append(placed)
    yield from _from_the_left(line)


def _from_the_left(line: list[_Placed]) -> Iterator[QWidget]:
    for placed in sorted(line, key=lambda each: each.rect.left()):
        if placed.block:
            yield from _as_read(placed.widget)
        else:
            yield placed.widget


def _placed(region: QWidget) -> Iterator[_Placed]:
    window, within = region.window(), region.findChildren(QWidget)
    blocks = [widget for widget in within if widget.property(BLOCK) and widget.isVisible()]
    for widget in (region, *within):
        if any(block is not widget and block.isAncestorOf(widget) for block in blocks):
            continue
        block = widget in blocks
        takes_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
        if (block or takes_tab) and widget.isVisible() and widget.window() is window:
            place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
            yield _Placed(widget, place, block)
