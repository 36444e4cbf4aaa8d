"""A line of text that yields to what has more to say."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label


class CutLabel(Label):
    """A line that is cut where there is no room, and then whole in its tool tip."""

    def __init__(
        self,
        theme: Theme,
        parent: QWidget | None = None,
        *,
        cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
    ) -> None:
        """Begin empty; `cut` says on which side of the text the room is missing."""
        self._whole = ""
        self._side = cut
        super().__init__(theme, font="small", colour="text2", parent=parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_whole(self, text: str) -> None:
        """Show a text as far as there is room."""
        self._whole = text
        self.setAccessibleName(text)
        self._cut()

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Need no width."""
        return QSize(0, super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Cut anew."""
        super().resizeEvent(event)
        self._cut()

    def _dress(self) -> None:
        super()._dress()
        self._cut()

    def _cut(self) -> None:
        cut = self.fontMetrics().elidedText(self._whole, self._side, self.width())
        self.setText(cut)
        self.setToolTip(self._whole if cut != self._whole else "")
