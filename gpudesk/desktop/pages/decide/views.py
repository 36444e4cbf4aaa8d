"""What the views of the page Decide have in common."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme


class DecideView(QWidget):
    """One view of a decision; it edits the scenario through the desk, and selects for the panel there."""

    #: The key of another view that is to be shown: `questions`, `result` and so on.
    view_wanted = Signal(str)
    #: The sheet is to be shown before it is printed.
    sheet_wanted = Signal()

    #: Whether the page puts the view in a scroll area of its own.
    scrolls = True

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Keep what the view shows and how."""
        super().__init__(parent)
        self.desk = desk
        self.theme = theme

    def show_decision(self, found: Decided) -> None:
        """Show a decision; called whenever there is another one, while the view is visible."""
        raise NotImplementedError

    def copied(self) -> str:
        """Return what is copied of the view as text; empty where there is nothing."""
        return ""

    def focus_first(self) -> None:
        """Give the focus to what the view is about."""
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802 - Qt's name
        """Draw the ground."""
        painter = QPainter(self)
        try:
            painter.fillRect(event.rect(), self.theme.colour("page"))
        finally:
            painter.end()
