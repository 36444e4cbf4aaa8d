"""The head of the page: title, which view, copy. The views take a line of their own where it is narrow."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.text import tr

_GAP = 18
_MARGIN = 16
_SPACING = 8


class Head(QWidget):
    """Controls of the page; what they do is connected by it."""

    def __init__(
        self, theme: Theme, title: str, views: Sequence[tuple[str, str]], parent: QWidget | None = None
    ) -> None:
        """Offer views as (key, text)."""
        super().__init__(parent)
        self._theme = theme
        self._wrapped: bool | None = None
        self.segment = Segment(theme, tr("View"), views)
        self.copy = Button(theme, tr("Copy"), icon="copy")
        self.copy.setToolTip(tr("Copy a picture, and the numbers for a spreadsheet"))
        self._title = Label(theme, title, font="page")
        self._upper, self._lower = QHBoxLayout(), QHBoxLayout()
        self._upper.addWidget(self._title)
        self._upper.addSpacing(_GAP)
        self._upper.addStretch(1)
        self._upper.addWidget(self.copy)
        self._lower.addStretch(1)
        self._whole = QVBoxLayout(self)
        self._whole.setSpacing(4)
        for row in (self._upper, self._lower):
            row.setContentsMargins(_MARGIN, 0, _MARGIN, 0)
            row.setSpacing(_SPACING)
            self._whole.addLayout(row)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._dress)

    def _dress(self) -> None:
        px = self._theme.px
        self._whole.setContentsMargins(0, px(9), 0, px(5))
        self._wrapped = None
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the views where they have room."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        controls = (self._title, self.segment, self.copy)
        needed = sum(control.sizeHint().width() for control in controls)
        wrapped = needed + _GAP + 2 * _MARGIN + 4 * _SPACING > self.width()
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
