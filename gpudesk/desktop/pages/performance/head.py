"""The head of the page: title, which view, bands, the pinned result, copy. It wraps where it is narrow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import IconButton, LinkButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.page_head import PageHead
from gpudesk.domain.answers import Answer
from gpudesk.sheets.labels import precision_name
from gpudesk.sheets.names import load_text
from gpudesk.text import tr


class Head(PageHead):
    """Controls of the page; what they do is connected by it."""

    bands_toggled = Signal(bool)
    copy_requested = Signal()

    def __init__(
        self, desk: Desk, theme: Theme, views: Sequence[tuple[str, str]], parent: QWidget | None = None
    ) -> None:
        """Offer views as (key, text)."""
        self.bands = QCheckBox(tr("Bands"))
        self.pin = IconButton(theme, "pin", tr("Pin this result"), key="Ctrl+G")
        super().__init__(theme, tr("Performance"), views, (self.bands, self.pin), parent)
        self._desk = desk
        self.bands.setToolTip(tr("Shade where measured values lie four times in five"))
        self.bands.toggled.connect(self.bands_toggled)
        self.pin.clicked.connect(desk.pin_ghost)
        self.copy.setToolTip(tr("Copy the charts as a picture, and their numbers for a spreadsheet"))
        self.copy.clicked.connect(self.copy_requested)
        self.pinned = Label(theme, font="small", colour="text2")
        self.let_go = LinkButton(theme, tr("Let go"))
        self.let_go.setAccessibleName(tr("Let the pinned result go"))
        self.let_go.clicked.connect(desk.clear_ghost)
        self.add_below(self.pinned)
        self.add_below(self.let_go)
        desk.ghost_changed.connect(self.show_ghost)
        self.show_ghost()

    # The pinned result

    def show_ghost(self) -> None:
        """Say what is pinned, with the way to let it go."""
        ghost = self._desk.ghost
        for widget in (self.pinned, self.let_go):
            widget.setVisible(ghost is not None)
        if ghost is not None:
            self.pinned.setText(tr("Pinned: {what}", what=told(ghost, self._desk)))
        self.pin.setEnabled(self._desk.answer is not None)


def told(answer: Answer, desk: Desk) -> str:
    """Return what a pinned answer was: its load and the format of its weights."""
    scenario = answer.scenario
    return f"{load_text(scenario.workload.load, desk.formatter)}, {precision_name(scenario.weights)}"
