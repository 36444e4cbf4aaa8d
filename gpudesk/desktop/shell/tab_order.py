"""The order in which Tab goes through a window: region by region, each as it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QWidget


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
    widget: QWidget
    rect: QRect


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
    yield from (placed.widget for placed in sorted(line, key=lambda each: each.rect.left()))


def _placed(region: QWidget) -> Iterator[_Placed]:
    window = region.window()
    for widget in (region, *region.findChildren(QWidget)):
        takes_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if takes_tab and widget.isVisible() and widget.focusProxy() is None and widget.window() is window:
            yield _Placed(widget, QRect(widget.mapTo(window, QPoint(0, 0)), widget.size()))
