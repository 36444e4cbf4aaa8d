"""The rail: the list of pages on the left, folded to icons in a narrow window."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.ui.widgets.qt_support import ArrowKeyGroup, format_key
from gpudesk.text.translation import tr

_WIDE, _FOLDED = 184.0, 48.0
#: Long names of pages may widen the rail up to here; beyond they are cut.
_WIDEST = 260.0
_ITEM, _PITCH, _DIVIDER = 32.0, 34.0, 17.0
_SIDE, _TOP = 8.0, 10.0
_ICON, _ICON_X, _TEXT_X, _DIGIT_SIDE = 16.0, 13.0, 38.0, 12.0
_BAR, _BAR_INSET = 3.0, 7.0


@dataclass(frozen=True, slots=True)
class RailItem:
    """A page in the rail; `digit` is shown as the key that opens it together with Ctrl.

    `divided` draws a line above it.
    """

    id: str
    title: str
    icon: str
    digit: str
    divided: bool = False


class _RailButton(QAbstractButton):
    """One page: a choice among the others, painted whole."""

    def __init__(self, theme: Theme, item: RailItem) -> None:
        super().__init__()
        self._theme = theme
        self.item = item
        self.folded = False
        self.setCheckable(True)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(item.title)
        self.setAccessibleDescription(format_key(f"Ctrl+{item.digit}"))

    def fold(self, folded: bool) -> None:
        """Show the icon alone; the name is in the tool tip then."""
        self.folded = folded
        self.setToolTip(f"{self.item.title}  {format_key(f'Ctrl+{self.item.digit}')}" if folded else "")
        self.update()

    def wanted_width(self) -> float:
        theme = self._theme
        name = QFontMetricsF(theme.font("body_strong")).horizontalAdvance(self.item.title)
        digit = QFontMetricsF(theme.font("caption")).horizontalAdvance(self.item.digit)
        return theme.px(_TEXT_X) + name + theme.px(12) + digit + theme.px(_DIGIT_SIDE)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(_ITEM), self._theme.px(_ITEM))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open the page with Enter as with Space; let the rail act on arrows."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            self._draw(ThemePainter(painter, self._theme))

    def _draw(self, pen: ThemePainter) -> None:
        px, middle, chosen = self._theme.px, self.height() / 2, self.isChecked()
        if chosen or self.isDown():
            pen.tint(QRectF(self.rect()), "selection", 6.0)
        elif self.underMouse():
            pen.tint(QRectF(self.rect()), "hover", 6.0)
        if chosen:
            inset = px(_BAR_INSET)
            pen.tint(QRectF(0, inset, _BAR, self.height() - 2 * inset), "selection_bar", 1.5)
        colour, side = "text1" if chosen else "text2", float(px(_ICON))
        x = (self.width() - side) / 2 if self.folded else float(px(_ICON_X))
        pen.icon(self.item.icon, x, middle - side / 2, side, colour)
        if self.folded:
            return
        digit = pen.width(self.item.digit, "caption")
        right = self.width() - px(_DIGIT_SIDE)
        name = QRectF(px(_TEXT_X), 0, right - digit - px(8) - px(_TEXT_X), self.height())
        pen.text(name, self.item.title, font="section" if chosen else "body", colour=colour)
        quiet = "text2" if chosen else "text3"
        place = QRectF(right - digit - 1, 0, digit + 1, self.height())
        pen.text(place, self.item.digit, font="caption", colour=quiet, align=RIGHT)


class _RailDivider(QWidget):
    """A line between two groups of pages."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(_ITEM), self._theme.px(_DIVIDER))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            inset, y = self._theme.px(4), self.height() // 2
            ThemePainter(painter, self._theme).hairline(inset, y, self.width() - inset, y)


class PageRail(QWidget):
    """Lists the pages. ↑ ↓ Home End move the focus inside, Enter or Space opens; Tab stops here once.

    The user folds it, and keeps it so; a narrow window folds it besides, and there unfolding it holds until
    the window changes between narrow and wide.
    """

    #: The id of the page that the user chose.
    chosen = Signal(str)
    #: The user folded or unfolded the rail for good.
    collapsed_changed = Signal(bool)

    def __init__(self, theme: Theme, pages: Sequence[RailItem], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._collapsed = False
        self._narrow = False
        self._opened_though_narrow = False
        self.setAccessibleName(tr("Pages"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._group = QButtonGroup(self)
        self._column = QVBoxLayout(self)
        self._items = [_RailButton(theme, page) for page in pages]
        self._keys = ArrowKeyGroup(self)
        for button in self._items:
            self._keys.add(button)
            self._group.addButton(button)
            if button.item.divided:
                self._column.addWidget(_RailDivider(theme))
            self._column.addWidget(button)
            button.clicked.connect(lambda _on, page=button.item.id: self._choose(page))
        self._column.addStretch(1)
        self.fold_button = IconButton(theme, "panel-left-close", tr("Collapse sidebar"), parent=self)
        self.fold_button.clicked.connect(self.toggle)
        self._foot = QHBoxLayout()
        self._foot.addWidget(self.fold_button)
        self._foot.addStretch(1)
        self._column.addLayout(self._foot)
        self.set_page("")
        theme.follow(self._dress)

    @property
    def folded(self) -> bool:
        return not self._opened_though_narrow if self._narrow else self._collapsed

    @property
    def page(self) -> str:
        return next((button.item.id for button in self._items if button.isChecked()), "")

    def set_page(self, page_id: str) -> None:
        """Show a page as the one that is open, without saying so; an unknown id stands for none."""
        # An exclusive group would not let the last one be taken back.
        self._group.setExclusive(False)
        for button in self._items:
            button.setChecked(button.item.id == page_id)
        self._group.setExclusive(bool(self.page))
        self._keys.set_tab_stop(next((b for b in self._items if b.isChecked()), self._items[0]))

    def set_collapsed(self, collapsed: bool) -> None:
        self._collapsed = collapsed
        self._dress()

    def set_narrow(self, narrow: bool) -> None:
        if narrow != self._narrow:
            self._narrow = narrow
            self._opened_though_narrow = False
            self._dress()

    def toggle(self) -> None:
        if self._narrow:
            self._opened_though_narrow = not self._opened_though_narrow
        else:
            self._collapsed = not self._collapsed
            self.collapsed_changed.emit(self._collapsed)
        self._dress()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            ThemePainter(painter, self._theme).hairline(self.width() - 1, 0, self.width() - 1, self.height())

    def _choose(self, page_id: str) -> None:
        self.set_page(page_id)
        self.chosen.emit(page_id)

    def _dress(self) -> None:
        px, folded = self._theme.px, self.folded
        for button in self._items:
            button.fold(folded)
        widest = max(button.wanted_width() for button in self._items) + 2 * px(_SIDE) + 1
        wide = min(max(px(_WIDE), int(widest) + 1), px(_WIDEST))
        self.setFixedWidth(px(_FOLDED) if folded else wide)
        self._column.setContentsMargins(px(_SIDE), px(_TOP), px(_SIDE) + 1, px(_SIDE))
        self._column.setSpacing(px(_PITCH) - px(_ITEM))
        # The icon at the foot is aligned with those of the pages.
        lead = px(_FOLDED - _SIDE * 2 - 28) / 2 if folded else px(_ICON_X) - px(28 - _ICON) / 2
        self._foot.setContentsMargins(int(lead), 0, 0, 0)
        self.fold_button.set_icon("panel-left-open" if folded else "panel-left-close")
        self.fold_button.set_name(tr("Expand sidebar") if folded else tr("Collapse sidebar"))
        self.update()
