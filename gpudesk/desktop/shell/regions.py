"""The regions of a window in the order of reading, which F6 and the Tab key go through."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.shell.tab_order import chain_as_read

if TYPE_CHECKING:
    from gpudesk.desktop.main_window import MainWindow


def go_to_region(window: MainWindow, by: int) -> None:
    """Give the focus to the next (1) or former (-1) of scenario, accelerators, page and panel."""
    regions: list[QWidget] = [window.scenario, window.chips, window.body.stack]
    if window.body.panel is not None and window.body.panel_shown:
        regions.append(window.body.panel)
    focus = window.focused()
    now = next(
        (n for n, region in enumerate(regions) if focus is not None and region.isAncestorOf(focus)), -1
    )
    region = regions[(now + by) % len(regions)]
    reason = Qt.FocusReason.TabFocusReason
    if region is window.body.stack:
        (window.page or window.start).focus_content()
    elif region is window.scenario:
        window.scenario.model.setFocus(reason)
    elif region is window.chips:
        (window.chips.chips[0] if window.chips.chips else window.chips.add).setFocus(reason)
    else:
        region.setFocus(reason)


def tab_round(window: MainWindow, *, following: bool) -> bool:
    """Bring the Tab key from the last control to the first; return whether it stood there.

    The order is that of reading: scenario, page, panel, the bar above, the list of pages, the bar below.
    """
    regions: list[QWidget] = [window.scenario, window.chips, window.note, window.body.stack]
    if window.body.panel is not None:
        regions.append(window.body.panel)
    ends = chain_as_read([*regions, window.top, window.rail, window.status])
    if ends is None or window.focusWidget() is not ends[following]:
        return False
    # What cannot be seen stands between the last control and the first.
    reason = Qt.FocusReason.TabFocusReason if following else Qt.FocusReason.BacktabFocusReason
    ends[not following].setFocus(reason)
    return True
