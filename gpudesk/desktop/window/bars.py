"""The bars around the pages: the rail with the list of pages, the top bar, and the status bar."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from PySide6.QtCore import QObject, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QMenuBar, QSizePolicy, QVBoxLayout, QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.document import Document
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, PaintedButton, PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, IconButton, LinkButton
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ElidedLabel, ThemedLabel, make_row
from gpudesk.desktop.ui.widgets.qt_support import ArrowKeyGroup, format_key, make_delay, set_manual_topic
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import tr, trn

_WIDE, _FOLDED = 184.0, 48.0
#: Maximum width of the rail for long page names, which are then cut.
_WIDEST = 260.0
_ITEM, _PITCH, _DIVIDER = 32.0, 34.0, 17.0
_SIDE, _TOP = 8.0, 10.0
_ICON, _ICON_X, _TEXT_X, _DIGIT_SIDE = 16.0, 13.0, 38.0, 12.0
_BAR_INSET = 7.0


@frozen_dataclass
class RailItem:
    """A page in the rail; `digit` is displayed as its key with Ctrl.

    `divided` draws a line above it.
    """

    id: str
    title: str
    icon: str
    digit: str
    divided: bool = False


class _RailButton(PaintedButton):
    """One page: a radio button, custom painted."""

    def __init__(self, theme: Theme, item: RailItem) -> None:
        super().__init__(theme)
        self.item = item
        self.folded = False
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(item.title)
        self.setAccessibleDescription(format_key(f"Ctrl+{item.digit}"))
        set_manual_topic(item.id, self)

    def fold(self, folded: bool) -> None:
        """Show only the icon, with the name in the tooltip."""
        self.folded = folded
        self.setToolTip(f"{self.item.title}  {format_key(f'Ctrl+{self.item.digit}')}" if folded else "")
        self.update()

    def measure_wanted_width(self) -> float:
        theme = self._theme
        name = QFontMetricsF(theme.font("body_strong")).horizontalAdvance(self.item.title)
        digit = QFontMetricsF(theme.font("caption")).horizontalAdvance(self.item.digit)
        return theme.px(_TEXT_X) + name + theme.px(12) + digit + theme.px(_DIGIT_SIDE)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(_ITEM), self._theme.px(_ITEM))

    def paint(self, pen: ThemePainter) -> None:
        px, middle, chosen = self._theme.px, self.height() / 2, self.isChecked()
        pen.list_item(self, px(_BAR_INSET))
        color, side = "text1" if chosen else "text2", float(px(_ICON))
        x = (self.width() - side) / 2 if self.folded else float(px(_ICON_X))
        pen.icon(self.item.icon, x, middle - side / 2, side, color)
        if self.folded:
            return
        digit = pen.width(self.item.digit, "caption")
        right = self.width() - px(_DIGIT_SIDE)
        name = QRectF(px(_TEXT_X), 0, right - digit - px(8) - px(_TEXT_X), self.height())
        pen.text(name, self.item.title, font="section" if chosen else "body", color=color)
        quiet = "text2" if chosen else "text3"
        place = QRectF(right - digit - 1, 0, digit + 1, self.height())
        pen.text(place, self.item.digit, font="caption", color=quiet, align=RIGHT)


class _RailDivider(PaintedWidget):
    """A line between two groups of pages."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(_ITEM), self._theme.px(_DIVIDER))

    def paint(self, pen: ThemePainter) -> None:
        inset, y = self._theme.px(4), self.height() // 2
        pen.hairline(inset, y, self.width() - inset, y)


class PageRail(PaintedWidget):
    """Lists the pages. ↑ ↓ Home End move the focus inside, Enter or Space opens; a single tab stop.

    The user's choice to collapse it is stored; a narrow window collapses it too, and expanding it there lasts until the
    window changes between narrow and wide.
    """

    #: The id of the chosen page.
    chosen = Signal(str)
    #: The user collapsed or expanded the rail permanently.
    collapsed_changed = Signal(bool)

    def __init__(self, theme: Theme, pages: Sequence[RailItem]) -> None:
        super().__init__(theme)
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
        self.fold_button = IconButton(theme, "panel-left-close", tr("Collapse sidebar"), self.toggle, parent=self)
        self._foot = make_row(self.fold_button, STRETCH)
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
        """Show a page as the open one, without a signal; an unknown id stands for none."""
        # An exclusive group would not allow unchecking the last one.
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

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("chrome"))
        pen.hairline(self.width() - 1, 0, self.width() - 1, self.height())

    def _choose(self, page_id: str) -> None:
        self.set_page(page_id)
        self.chosen.emit(page_id)

    def _dress(self) -> None:
        px, folded = self._theme.px, self.folded
        for button in self._items:
            button.fold(folded)
        widest = max(button.measure_wanted_width() for button in self._items) + 2 * px(_SIDE) + 1
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


_TOP_BAR_HEIGHT = 34.0
_SEARCH = 272.0
_SEARCH_KEY = "Ctrl+K"


class SearchButton(Button):
    """Looks like a field, opens the command palette."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            theme,
            tr("Search or run a command"),
            icon="search",
            kind="search",
            key=format_key(_SEARCH_KEY),
            parent=parent,
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        least = super().sizeHint()
        return QSize(max(least.width(), self._theme.px(_SEARCH)), self._theme.px(26))

    def minimumSizeHint(self) -> QSize:
        return QSize(self._theme.px(90), self._theme.px(26))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            theme, level = self._theme, self.height() / 2
            pen = ThemePainter(painter, theme)
            rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
            pen.frame(rect, "control" if self.underMouse() else "strong", radius=6.0, fill="page")
            side = float(theme.px(14))
            pen.icon("search", theme.px(10), level - side / 2, side, "text2")
            key = format_key(_SEARCH_KEY)
            key_x = self.width() - pen.tag_width(key) - theme.px(4)
            x = theme.px(10) + side + theme.px(8)
            pen.text(QRectF(x, 0, key_x - x - theme.px(4), self.height()), self.text(), color="text2")
            pen.key_hint(key_x, level, key)


class TopBar(PaintedWidget):
    """Menu bar, title and tools in one line, set as the window's menu widget."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self.menus = QMenuBar(self)
        self.menus.setAccessibleName(tr("Menu bar"))
        # If the system has a global menu bar, users expect menus only there.
        self.menus.setNativeMenuBar(sys.platform == "darwin")
        self.menus.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.title = ElidedLabel(theme, cut=Qt.TextElideMode.ElideMiddle)
        self.title.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.search = SearchButton(theme, self)
        self.print = IconButton(theme, "printer", tr("Preview sheet"), key="Ctrl+P")
        self.panel = IconButton(theme, "panel-right", tr("Show or hide sources and calculation"), key="Ctrl+I")
        menus = (self.menus, 0, Qt.AlignmentFlag.AlignVCenter)
        tools = (self.search, self.print, self.panel)
        make_row(menus, (self.title, 1), *tools, gap=8, margins=(8, 0, 12, 0), scaled=theme, on=self)
        theme.follow(self._dress)

    def set_title(self, title: str) -> None:
        self.title.set_whole(title)

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("chrome"))
        pen.hairline(0, self.height() - 1, self.width(), self.height() - 1)

    def _dress(self) -> None:
        self.setFixedHeight(self._theme.px(_TOP_BAR_HEIGHT))
        self.update()


_STATUS_BAR_HEIGHT = 24.0
_STATUS_ICON = 14.0
_BAR_SIDE, _GAP = 12.0, 20.0
#: Display time of a temporary message.
_STANDS_MS = 8000


class StatusBar(PaintedWidget):
    """Shows the data behind the figures and the document state; temporary messages are at the left.

    Empty texts take no space. "Offline" is always shown: it is a promise.
    """

    #: Cancel the visible job.
    job_canceled = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._catalog = ""
        #: The temporary message, empty without one.
        self.message = ""
        self.setAccessibleName(tr("Status bar"))
        self._left_label = ElidedLabel(theme, self)
        self._job = self._make_status_label()
        self._job.set_color("text1")
        self._cancel = LinkButton(theme, tr("Cancel"), self.job_canceled, parent=self)
        self._cancel.hide()
        self._saved = self._make_status_label()
        self._elapsed = self._make_status_label()
        self._offline = self._make_status_label(tr("Offline"))
        self._offline.setToolTip(tr("GPU Desk never uses the network."))
        parts = (self._job, self._cancel, self._saved, self._elapsed, self._offline)
        self._row = make_row((self._left_label, 1), *parts, on=self)
        self._timer = make_delay(self, _STANDS_MS, self.clear_message)
        theme.follow(self._dress)

    def set_catalog(self, text: str) -> None:
        """Show the date and the size of the catalog in use."""
        self._catalog = text
        self._show_left()

    def set_saved(self, text: str) -> None:
        self._set(self._saved, text)

    def set_elapsed(self, text: str) -> None:
        self._set(self._elapsed, text)

    def set_job(self, text: str, can_cancel: bool = False) -> None:
        """Show the running job with its progress; an empty text clears it."""
        began = bool(text) and self._job.isHidden()
        self._set(self._job, text)
        self._cancel.setVisible(bool(text) and can_cancel)
        self._cancel.setAccessibleName(tr("Cancel: {job}", job=text))
        if began and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    @property
    def job(self) -> str:
        """The text of the job, empty without one."""
        return self._job.text()

    def show_message(self, text: str) -> None:
        """Show a message for eight seconds and announce it to screen readers."""
        self.message = text
        self._show_left()
        self._timer.start()
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def clear_message(self) -> None:
        self._timer.stop()
        self.message = ""
        self._show_left()

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("chrome"))
        pen.hairline(0, 0, self.width(), 0)
        if self.message or self._catalog:
            side = float(self._theme.px(_STATUS_ICON))
            icon, color = ("info", "text1") if self.message else ("database", "text2")
            pen.icon(icon, self._theme.px(_BAR_SIDE), (self.height() - side) / 2 + 0.5, side, color)

    def _make_status_label(self, text: str = "") -> ThemedLabel:
        part = ThemedLabel(self._theme, font="small", color="text2", parent=self)
        self._set(part, text)
        return part

    @staticmethod
    def _set(part: ThemedLabel, text: str) -> None:
        part.setText(text)
        part.setAccessibleName(text)
        part.setVisible(bool(text))

    def _show_left(self) -> None:
        self._left_label.set_color("text1" if self.message else "text2")
        self._left_label.set_whole(self.message or self._catalog)
        self.update()

    def _dress(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(_BAR_SIDE + _STATUS_ICON + 6), 1, px(_BAR_SIDE), 0)
        self._row.setSpacing(px(_GAP))
        self.setFixedHeight(max(px(_STATUS_BAR_HEIGHT), self._theme.line("small") + 4))
        self.update()


class StatusText(QObject):
    """Keeps the status bar up to date with desk and document."""

    def __init__(self, desk: Desk, document: Document, bar: StatusBar) -> None:
        super().__init__(bar)
        self._desk = desk
        self._document = document
        self._bar = bar
        document.changed.connect(self._say_saved)
        desk.answered.connect(self._say_elapsed)
        desk.gesture_changed.connect(self._say_elapsed)
        desk.catalog_changed.connect(self._say_catalog)
        self._say_catalog()
        self._say_saved()

    def show_recovery_failure(self, folder: str) -> None:
        """Show that unsaved edits would be lost in a crash."""
        self._bar.show_message(tr("Cannot back up unsaved edits in {folder}. Save often.", folder=folder))

    def _say_catalog(self) -> None:
        service, count = self._desk.service, self._desk.formatter.count
        catalog, own = service.catalog, len(service.user_catalog.facts)
        text = tr(
            "Catalog {date} · {accelerators} accelerators, {models} models",
            date=self._desk.formatter.date(catalog.data_date),
            accelerators=count(len(catalog.accelerators())),
            models=count(len(catalog.models())),
        )
        if own:
            yours = trn("{n} value entered by you", "{n} values entered by you", own, n=count(own))
            text = f"{text} · {yours}"
        self._bar.set_catalog(text)

    def _say_saved(self) -> None:
        document = self._document
        if document.edited:
            self._bar.set_saved(tr("Edited"))
        elif document.saved_at is not None:
            self._bar.set_saved(tr("Saved {time}", time=f"{document.saved_at:%H:%M}"))
        else:
            self._bar.set_saved("")

    def _say_elapsed(self) -> None:
        if self._desk.in_gesture:
            # Setting another text would lay out the whole window again.
            return
        if self._desk.answer is None or self._desk.problem is not None:
            self._bar.set_elapsed("")
        else:
            ms = self._desk.formatter.number(max(1, round(self._desk.elapsed_ms)))
            self._bar.set_elapsed(tr("Recalculated in {n} ms", n=ms))
