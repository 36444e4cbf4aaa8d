"""The top bar and the status bar with what it says."""

from __future__ import annotations

import sys

from PySide6.QtCore import QObject, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenuBar, QSizePolicy, QWidget

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.document import Document
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, IconButton, LinkButton
from gpudesk.desktop.ui.widgets.labels import ElidedLabel, ThemedLabel
from gpudesk.desktop.ui.widgets.qt_support import format_key
from gpudesk.text.translation import tr, trn

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
            pen.text(QRectF(x, 0, key_x - x - theme.px(4), self.height()), self.text(), colour="text2")
            pen.key_hint(key_x, level, key)


class TopBar(QWidget):
    """Menu bar, title and tools in one line, set as the window's menu widget."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.menus = QMenuBar(self)
        self.menus.setAccessibleName(tr("Menu bar"))
        # Where the system has a menu bar of its own, users look for menus nowhere else.
        self.menus.setNativeMenuBar(sys.platform == "darwin")
        self.menus.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        self.title = ElidedLabel(theme, cut=Qt.TextElideMode.ElideMiddle)
        self.title.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.search = SearchButton(theme, self)
        self.print = IconButton(theme, "printer", tr("Preview sheet"), key="Ctrl+P")
        self.panel = IconButton(theme, "panel-right", tr("Show or hide sources and calculation"), key="Ctrl+I")
        self._row = QHBoxLayout(self)
        self._row.addWidget(self.menus, 0, Qt.AlignmentFlag.AlignVCenter)
        self._row.addWidget(self.title, 1)
        self._row.addWidget(self.search)
        self._row.addWidget(self.print)
        self._row.addWidget(self.panel)
        theme.follow(self._dress)

    def set_title(self, title: str) -> None:
        self.title.set_whole(title)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            ThemePainter(painter, self._theme).hairline(0, self.height() - 1, self.width(), self.height() - 1)

    def _dress(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(8), 0, px(12), 0)
        self._row.setSpacing(px(8))
        self.setFixedHeight(px(_TOP_BAR_HEIGHT))
        self.update()


_STATUS_BAR_HEIGHT = 24.0
_ICON = 14.0
_SIDE, _GAP = 12.0, 20.0
#: How long a passing message is shown.
_STANDS_MS = 8000


class StatusBar(QWidget):
    """Says what stands behind the figures and what became of the document; passing sentences take the left.

    What is empty takes no room. "Offline" always stands: it is a promise.
    """

    #: The user wants the job that is shown to end.
    job_cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._catalog = ""
        self._message = ""
        self.setAccessibleName(tr("Status bar"))
        self._left_label = ElidedLabel(theme, self)
        self._job = self._part()
        self._job.set_colour("text1")
        self._cancel = LinkButton(theme, tr("Cancel"), parent=self)
        self._cancel.hide()
        self._cancel.clicked.connect(self.job_cancelled)
        self._saved = self._part()
        self._elapsed = self._part()
        self._offline = self._part(tr("Offline"))
        self._offline.setToolTip(tr("GPU Desk never uses the network."))
        self._row = QHBoxLayout(self)
        self._row.addWidget(self._left_label, 1)
        for part in (self._job, self._cancel, self._saved, self._elapsed, self._offline):
            self._row.addWidget(part)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_STANDS_MS)
        self._timer.timeout.connect(self.clear_message)
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
        """What is said to be done, empty where nothing is."""
        return self._job.text()

    @property
    def message(self) -> str:
        """The passing sentence, empty where there is none."""
        return self._message

    def show_message(self, text: str) -> None:
        """Show a message for eight seconds and announce it to screen readers."""
        self._message = text
        self._show_left()
        self._timer.start()
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def clear_message(self) -> None:
        self._timer.stop()
        self._message = ""
        self._show_left()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            pen = ThemePainter(painter, self._theme)
            pen.hairline(0, 0, self.width(), 0)
            if self._message or self._catalog:
                side = float(self._theme.px(_ICON))
                icon, colour = ("info", "text1") if self._message else ("database", "text2")
                pen.icon(icon, self._theme.px(_SIDE), (self.height() - side) / 2 + 0.5, side, colour)

    def _part(self, text: str = "") -> ThemedLabel:
        part = ThemedLabel(self._theme, font="small", colour="text2", parent=self)
        self._set(part, text)
        return part

    @staticmethod
    def _set(part: ThemedLabel, text: str) -> None:
        part.setText(text)
        part.setAccessibleName(text)
        part.setVisible(bool(text))

    def _show_left(self) -> None:
        self._left_label.set_colour("text1" if self._message else "text2")
        self._left_label.set_whole(self._message or self._catalog)
        self.update()

    def _dress(self) -> None:
        px = self._theme.px
        self._row.setContentsMargins(px(_SIDE + _ICON + 6), 1, px(_SIDE), 0)
        self._row.setSpacing(px(_GAP))
        self.setFixedHeight(max(px(_STATUS_BAR_HEIGHT), self._theme.line("small") + 4))
        self.update()


class StatusText(QObject):
    """Keeps the status bar in step with desk and document."""

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

    def say_not_kept(self, folder: str) -> None:
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
            # Another text lays the whole window out anew.
            return
        if self._desk.answer is None or self._desk.problem is not None:
            self._bar.set_elapsed("")
        else:
            ms = self._desk.formatter.number(max(1, round(self._desk.elapsed_ms)))
            self._bar.set_elapsed(tr("Recalculated in {n} ms", n=ms))
