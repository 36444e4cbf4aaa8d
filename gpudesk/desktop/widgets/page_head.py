"""The head of a page with views: title, which view, controls; it wraps where there is no room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.segment import Segment
from gpudesk.text import tr

_GAP = 18
_MARGIN = 16
_SPACING = 8
#: Where the choice of views stands in the upper line: after the title and the gap.
_PLACE = 2


class PageHead(QWidget):
    """Controls of a page, the copy button last; what they do is connected by the page."""

    def __init__(
        self,
        theme: Theme,
        title: str,
        views: Sequence[tuple[str, str]],
        controls: Sequence[QWidget] = (),
        parent: QWidget | None = None,
        *,
        with_copy: bool = True,
    ) -> None:
        """Offer views as (key, text), with `controls` at the right, and a button that copies."""
        super().__init__(parent)
        self._theme = theme
        self._wrapped: bool | None = None
        self._kept: dict[QPushButton, Sequence[str]] = {}
        self.segment = Segment(theme, tr("View"), views)
        self.copy = Button(theme, tr("Copy"), icon="copy", parent=self)
        self.copy.setVisible(with_copy)
        self._fixed = (Label(theme, title, font="page"), *controls, *((self.copy,) if with_copy else ()))
        self._upper, self._lower = QHBoxLayout(), QHBoxLayout()
        self._upper.addWidget(self._fixed[0])
        self._upper.addSpacing(_GAP)
        self._upper.addStretch(1)
        for control in self._fixed[1:]:
            self._upper.addWidget(control)
        self._lower.addStretch(1)
        self._whole = QVBoxLayout(self)
        self._whole.setSpacing(4)
        for row in (self._upper, self._lower):
            row.setSpacing(_SPACING)
            self._whole.addLayout(row)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.follow(self._dress)

    def add_below(self, widget: QWidget) -> None:
        """Set a widget at the right end of the lower line."""
        self._lower.addWidget(widget)

    def keep_room(self, button: QPushButton, texts: Sequence[str]) -> None:
        """Keep room for the longest of a button's texts, though it has another one or is hidden."""
        self._kept[button] = texts
        self.arrange()

    def _width_of(self, part: QWidget) -> int:
        """Return the width that a part of the upper line takes, or may take."""
        hint = part.sizeHint().width()
        if isinstance(part, QPushButton) and part in self._kept:
            letters = part.fontMetrics()
            longest = max(letters.horizontalAdvance(text) for text in self._kept[part])
            return hint + longest - letters.horizontalAdvance(part.text())
        return 0 if part.isHidden() else hint

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put the choice of views where it has room."""
        super().resizeEvent(event)
        self.arrange()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Leave the width to the page."""
        return QSize(200, super().sizeHint().height())

    def _dress(self) -> None:
        px = self._theme.px
        self._whole.setContentsMargins(0, px(9), 0, px(5))
        for row in (self._upper, self._lower):
            row.setContentsMargins(px(_MARGIN), 0, px(_MARGIN), 0)
        self._wrapped = None
        self.arrange()

    def arrange(self) -> None:
        """Set the choice of views where it has room, after its texts have changed too."""
        views = self.segment.width_in_one_line()
        needed = sum(map(self._width_of, self._fixed)) + views
        wrapped = (
            needed + _GAP + 2 * self._theme.px(_MARGIN) + (len(self._fixed) + 2) * _SPACING > self.width()
        )
        self.segment.set_lines(
            2 if wrapped and views + 2 * self._theme.px(_MARGIN) + _SPACING > self.width() else 1
        )
        if wrapped == self._wrapped:
            return
        self._wrapped = wrapped
        for row in (self._upper, self._lower):
            row.removeWidget(self.segment)
        if wrapped:
            self._lower.insertWidget(0, self.segment)
        else:
            self._upper.insertWidget(_PLACE, self.segment)
        self.updateGeometry()
