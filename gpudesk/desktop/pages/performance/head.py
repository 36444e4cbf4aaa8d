"""The head of the page: title, which view, bands, the pinned result, copy. It wraps where it is narrow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button, IconButton, LinkButton
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.domain.answers import Answer
from gpudesk.sheets.labels import precision_name
from gpudesk.sheets.names import load_text
from gpudesk.text import tr


class Head(QWidget):
    """Controls of the page; what they do is connected by it."""

    #: The key of the view that was chosen.
    view_chosen = Signal(str)
    bands_toggled = Signal(bool)
    copy_requested = Signal()

    def __init__(
        self, desk: Desk, theme: Theme, views: Sequence[tuple[str, str]], parent: QWidget | None = None
    ) -> None:
        """Offer views as (key, text)."""
        super().__init__(parent)
        self._desk, self._theme = desk, theme
        self._wrapped: bool | None = None
        self.segment = Segment(theme, tr("View"), views)
        self.segment.chosen.connect(self.view_chosen)
        self.bands = QCheckBox(tr("Bands"))
        self.bands.setToolTip(tr("Shade where measured values lie four times in five"))
        self.bands.toggled.connect(self.bands_toggled)
        self.pin = IconButton(theme, "pin", tr("Pin this result"), key="Ctrl+G")
        self.pin.clicked.connect(desk.pin_ghost)
        self.copy = Button(theme, tr("Copy"), icon="copy")
        self.copy.setToolTip(tr("Copy the charts as a picture, and their numbers for a spreadsheet"))
        self.copy.clicked.connect(self.copy_requested)
        self.pinned = Label(theme, font="small", colour="text2")
        self.let_go = LinkButton(theme, tr("Let go"))
        self.let_go.setAccessibleName(tr("Let the pinned result go"))
        self.let_go.clicked.connect(desk.clear_ghost)
        self._build()
        desk.ghost_changed.connect(self.show_ghost)
        theme.changed.connect(self._arrange_anew)
        self.show_ghost()

    def _build(self) -> None:
        self._upper, self._lower = QHBoxLayout(), QHBoxLayout()
        self._title = Label(self._theme, tr("Performance"), font="page")
        self._upper.addWidget(self._title)
        self._upper.addSpacing(18)
        self._upper.addWidget(self.segment)
        self._upper.addStretch(1)
        self._upper.addWidget(self.bands)
        for control in (self.pin, self.copy):
            self._upper.addWidget(control)
        self._lower.addStretch(1)
        self._lower.addWidget(self.pinned)
        self._lower.addWidget(self.let_go)
        for row in (self._upper, self._lower):
            row.setContentsMargins(16, 0, 16, 0)
            row.setSpacing(8)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 10, 0, 6)
        whole.setSpacing(4)
        whole.addLayout(self._upper)
        whole.addLayout(self._lower)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    # The pinned result

    def show_ghost(self) -> None:
        """Say what is pinned, with the way to let it go."""
        ghost = self._desk.ghost
        for widget in (self.pinned, self.let_go):
            widget.setVisible(ghost is not None)
        if ghost is not None:
            self.pinned.setText(tr("Pinned: {what}", what=told(ghost, self._desk)))
        self.pin.setEnabled(self._desk.answer is not None)

    # Size

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the choice of views into a line of its own where it has no room beside the rest."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange_anew(self) -> None:
        self._wrapped = None
        self._arrange()

    def _arrange(self) -> None:
        others = (self._title, self.bands, self.pin, self.copy)
        needed = sum(widget.sizeHint().width() for widget in (*others, self.segment)) + 18 + 32 + 6 * 8
        wrapped = needed > self.width()
        if wrapped == self._wrapped:
            return
        self._wrapped = wrapped
        for row in (self._upper, self._lower):
            row.removeWidget(self.segment)
        if wrapped:
            self._lower.insertWidget(0, self.segment)
        else:
            self._upper.insertWidget(2, self.segment)
        self.updateGeometry()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave the width to the page."""
        return QSize(200, super().sizeHint().height())


def told(answer: Answer, desk: Desk) -> str:
    """Return what a pinned answer was: its load and the format of its weights."""
    scenario = answer.scenario
    return f"{load_text(scenario.workload.load, desk.formatter)}, {precision_name(scenario.weights)}"
