"""What waits until something was painted, since nobody sees it before."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget


def after_paint(widget: QWidget, act: Callable[[], object]) -> None:
    """Call once the widget, with what it holds, was painted next; never, where it is not painted any more."""
    _Waiting(widget, act)


class _Waiting(QObject):
    """Waits for one paint of its parent."""

    def __init__(self, widget: QWidget, act: Callable[[], object]) -> None:
        super().__init__(widget)
        self._act = act
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Take the paint; what the widget holds is painted in the same turn of the event loop."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._done)
        return False

    def _done(self) -> None:
        self.deleteLater()
        self._act()
