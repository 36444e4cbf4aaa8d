"""The status bar: the catalog at the left; a job, saved state, time of the answer, "Offline" at the right."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import LinkButton
from gpudesk.desktop.widgets.cut_label import CutLabel
from gpudesk.desktop.widgets.label import Label
from gpudesk.text import tr

_HEIGHT = 24.0
_ICON = 14.0
_SIDE, _GAP = 12.0, 20.0
#: How long a passing sentence stands.
_STANDS_MS = 8000


class StatusBar(QWidget):
    """Says what stands behind the figures and what became of the document; passing sentences take the left.

    What is empty takes no room. "Offline" always stands: it is a promise.
    """

    #: The user wants the job that is shown to end.
    job_cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        """Begin with nothing but the promise."""
        super().__init__(parent)
        self._theme = theme
        self._catalog = ""
        self._message = ""
        self.setAccessibleName(tr("Status"))
        self._left = CutLabel(theme, self)
        self._job = self._part()
        self._job.set_colour("text1")
        self._cancel = LinkButton(theme, tr("Cancel"), parent=self)
        self._cancel.hide()
        self._cancel.clicked.connect(self.job_cancelled)
        self._saved = self._part()
        self._elapsed = self._part()
        self._offline = self._part(tr("Offline"))
        self._offline.setToolTip(tr("GPU Desk works without a network and sends nothing."))
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._left, 1)
        for part in (self._job, self._cancel, self._saved, self._elapsed, self._offline):
            self._row.addWidget(part)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_STANDS_MS)
        self._timer.timeout.connect(self.clear_message)
        theme.follow(self._dress)

    def set_catalog(self, text: str) -> None:
        """Say which catalog the figures come from: its date and what it holds."""
        self._catalog = text
        self._show_left()

    def set_saved(self, text: str) -> None:
        """Say whether the document is saved."""
        self._set(self._saved, text)

    def set_elapsed(self, text: str) -> None:
        """Say how long the last answer took."""
        self._set(self._elapsed, text)

    def set_job(self, text: str, can_cancel: bool = False) -> None:
        """Say what is being done and how far it is; empty where nothing is."""
        began = bool(text) and self._job.isHidden()
        self._set(self._job, text)
        self._cancel.setVisible(bool(text) and can_cancel)
        self._cancel.setAccessibleName(tr("Cancel: {job}", job=text))
        if began and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    @property
    def job(self) -> str:
        """What is said to be done, empty where nothing is."""
        return self._job.text()

    @property
    def message(self) -> str:
        """The passing sentence, empty where there is none."""
        return self._message

    def show_message(self, text: str) -> None:
        """Say something for eight seconds, to those who listen too."""
        self._message = text
        self._show_left()
        self._timer.start()
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def clear_message(self) -> None:
        """Show the catalog again."""
        self._timer.stop()
        self._message = ""
        self._show_left()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground, the line above, and the icon before what stands at the left."""
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            pen = Pen(painter, self._theme)
            pen.hairline(0, 0, self.width(), 0)
            if self._message or self._catalog:
                side = float(self._theme.px(_ICON))
                icon, colour = ("info", "text1") if self._message else ("database", "text2")
                pen.icon(icon, self._theme.px(_SIDE), (self.height() - side) / 2 + 0.5, side, colour)
        finally:
            painter.end()

    def _part(self, text: str = "") -> Label:
        part = Label(self._theme, font="small", colour="text2", parent=self)
        self._set(part, text)
        return part

    @staticmethod
    def _set(part: Label, text: str) -> None:
        part.setText(text)
        part.setAccessibleName(text)
        part.setVisible(bool(text))

    def _show_left(self) -> None:
        self._left.set_colour("text1" if self._message else "text2")
        self._left.set_whole(self._message or self._catalog)
        self.update()

    def _dress(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(_SIDE + _ICON + 6), 1, px(_SIDE), 0)
        self._row.setSpacing(px(_GAP))
        self.setFixedHeight(max(px(_HEIGHT), self._theme.line("small") + 4))
        self.update()
