"""The rail: the list of pages at the left, with the digits of their shortcuts; folded, icons alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.theme.pen import RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import IconButton
from gpudesk.text import tr

_WIDE, _FOLDED = 184.0, 48.0
_ITEM, _PITCH = 32.0, 34.0


@dataclass(frozen=True, slots=True)
class RailItem:
    """A page in the list; `digit` is that of its shortcut."""

    id: str
    title: str
    icon: str
    digit: str


class RailButton(QAbstractButton):
    """One page; the one that is shown is the checked one."""

    def __init__(self, theme: Theme, item: RailItem, parent: QWidget | None = None) -> None:
        """Show a page's icon, title and digit."""
        super().__init__(parent)
        self.item = item
        self._theme = theme
        self._folded = False
        self.setCheckable(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setProperty("ringRadius", 6.0)
        self.setAccessibleName(item.title)
        self.setAccessibleDescription(tr("Ctrl {digit}", digit=item.digit))
        self.setText(item.title)

    def set_folded(self, folded: bool) -> None:
        """Show the icon alone, with the title as tool tip."""
        self._folded = folded
        said = tr("{title}  Ctrl {digit}", title=self.item.title, digit=self.item.digit)
        self.setToolTip(said if folded else "")
        self.update()

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Be as high as an item of the design."""
        return QSize(self._theme.px(_ITEM), self._theme.px(_ITEM))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw ground, bar, icon, title and digit."""
        painter = QPainter(self)
        try:
            self._draw(Pen(painter, self._theme))
        finally:
            painter.end()

    def _draw(self, pen: Pen) -> None:
        theme, height = self._theme, float(self.height())
        rect = QRectF(self.rect())
        on = self.isChecked()
        if on:
            pen.tint(rect, "selection", 6.0)
            pen.tint(QRectF(0, theme.px(7), theme.px(3), height - 2 * theme.px(7)), "selection_bar", 1.5)
        elif self.underMouse():
            pen.tint(rect, "hover", 6.0)
        side = float(theme.px(16))
        x = (self.width() - side) / 2 if self._folded else float(theme.px(12))
        pen.icon(self.item.icon, x, (height - side) / 2, side, "text1" if on else "text2")
        if self._folded:
            return
        x += side + theme.px(11)
        font = "body_strong" if on else "body"
        pen.text(
            QRectF(x, 0, self.width() - x - theme.px(26), height),
            self.item.title,
            font=font,
            colour="text1" if on else "text2",
        )
        pen.text(
            QRectF(0, 0, self.width() - theme.px(12), height),
            self.item.digit,
            font="caption",
            colour="text2" if on else "text3",
            align=RIGHT,
        )


class Rail(QWidget):
    """The pages to choose from; one stop of the Tab key, ↑ and ↓ go from page to page."""

    #: The id of the page that the user chose.
    chosen = Signal(str)
    #: Whether the user wants the rail folded.
    collapsed_changed = Signal(bool)

    def __init__(self, theme: Theme, pages: Sequence[RailItem], parent: QWidget | None = None) -> None:
        """Begin unfolded, with no page chosen."""
        super().__init__(parent)
        self._theme = theme
        self._collapsed = False
        self._narrow = False
        self.setAccessibleName(tr("Pages"))
        self._group = QButtonGroup(self)
        self.buttons = [RailButton(theme, item, self) for item in pages]
        self._column = QVBoxLayout(self)
        for button in self.buttons:
            self._group.addButton(button)
            self._column.addWidget(button)
            button.clicked.connect(lambda _on=False, button=button: self.chosen.emit(button.item.id))
        self._column.addStretch(1)
        self.fold = IconButton(theme, "panel-left-close", tr("Fold the list of pages"))
        self.fold.clicked.connect(self.toggle)
        foot = QHBoxLayout()
        foot.addWidget(self.fold)
        foot.addStretch(1)
        self._column.addLayout(foot)
        theme.follow(self._dress)

    @property
    def folded(self) -> bool:
        """Whether icons alone are shown."""
        return self._collapsed or self._narrow

    def set_page(self, page_id: str) -> None:
        """Show which page is shown, none with an empty id."""
        self._group.setExclusive(False)
        for button in self.buttons:
            button.setChecked(button.item.id == page_id)
        self._group.setExclusive(True)

    def set_collapsed(self, collapsed: bool) -> None:
        """Fold or unfold, as the user wants it where there is room."""
        if collapsed != self._collapsed:
            self._collapsed = collapsed
            self._dress()
            self.collapsed_changed.emit(collapsed)

    def toggle(self) -> None:
        """Fold or unfold."""
        if self._narrow:
            # The user wants to see the titles in spite of the narrow window.
            self._narrow = False
            self._collapsed = False
            self._dress()
        else:
            self.set_collapsed(not self._collapsed)

    def set_narrow(self, narrow: bool) -> None:
        """Fold while the window has no room for titles."""
        if narrow != self._narrow:
            self._narrow = narrow
            self._dress()

    def keyPressEvent(self, event: QKeyEvent) -> None:  # noqa: N802 - Qt's name
        """Go to the page above or below."""
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        focused = next((n for n, button in enumerate(self.buttons) if button.hasFocus()), None)
        if focused is None or Qt.Key(event.key()) not in steps:
            super().keyPressEvent(event)
            return
        target = self.buttons[(focused + steps[Qt.Key(event.key())]) % len(self.buttons)]
        target.setFocus(Qt.FocusReason.TabFocusReason)
        target.click()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the ground and the line at the right."""
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            Pen(painter, self._theme).hairline(self.width() - 1, 0, self.width() - 1, self.height())
        finally:
            painter.end()

    def _dress(self) -> None:
        px = self._theme.px
        self.setFixedWidth(px(_FOLDED if self.folded else _WIDE))
        self._column.setContentsMargins(px(8), px(10), px(8), px(12))
        self._column.setSpacing(px(_PITCH - _ITEM))
        for button in self.buttons:
            button.set_folded(self.folded)
        self.fold.set_icon("panel-left-open" if self.folded else "panel-left-close")
        self.fold.set_name(tr("Unfold the list of pages") if self.folded else tr("Fold the list of pages"))
        self.update()
