"""The middle of a window: the stack of pages, and the panel beside it or over it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QWidget

from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.qt_support import call_after_paint

#: Below this width of the window the panel overlays the page.
_NARROW = 1180
_LEAST, _USUAL, _MOST = 280, 312, 480
_SHOWN, _WIDTH = "panel.shown", "panel.width"


class WindowBody(QWidget):
    """Holds the stack of pages and, once it is there, the panel."""

    def __init__(self, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._settings = settings
        self.stack = QStackedWidget()
        self.panel: QWidget | None = None
        #: The panel, or what holds its place.
        self._beside: QWidget | None = None
        self._is_panel_wanted = settings.get(_SHOWN, default=True)
        self._over = False
        self._is_over = False
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(1)
        self._splitter.addWidget(self.stack)
        self._splitter.splitterMoved.connect(self._moved)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._splitter)
        theme.changed.connect(self._arrange)

    def hold_place(self) -> None:
        """Keep the panel's room free until it is there, so that the page is laid out once."""
        if self._beside is None:
            self._beside = QWidget(self)
            self._beside.setAutoFillBackground(True)
            self._arrange()

    def set_panel(self, panel: QWidget) -> None:
        """Take the panel in, where its place was held."""
        place, self._beside, self.panel = self._beside, panel, panel
        if place is not None and self._splitter.indexOf(place) >= 0:
            self._limit(panel)
            self._splitter.replaceWidget(self._splitter.indexOf(place), panel)
        else:
            panel.setParent(self)
        if place is not None:
            place.deleteLater()
        self._arrange()

    @property
    def panel_shown(self) -> bool:
        return self._over if self._is_over else self._is_panel_wanted

    def show_panel(self, is_visible: bool) -> None:
        """Show or hide the panel; over the page that is not remembered, since it hides what it explains."""
        if self._is_over:
            self._over = is_visible
        else:
            self._is_panel_wanted = is_visible
            self._settings.put(_SHOWN, is_visible)
        self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        panel = self._beside
        self._is_over = self.window().width() < self._theme.px(_NARROW)
        if panel is None:
            return
        if self._is_over:
            if self._splitter.indexOf(panel) >= 0:
                panel.setParent(self)
            panel.setMinimumWidth(0)
            width = min(self._theme.px(_USUAL), self.width())
            panel.setGeometry(QRect(self.width() - width, 0, width, self.height()))
            panel.setVisible(self._over)
            panel.raise_()
            return
        self._limit(panel)
        if self._splitter.indexOf(panel) < 0:
            self._splitter.addWidget(panel)
            self._splitter.setStretchFactor(0, 1)
            self._splitter.setStretchFactor(1, 0)
            width = self._theme.px(self._settings.get(_WIDTH, _USUAL))
            self._splitter.setSizes([max(1, self.width() - width), width])
        panel.setVisible(self._is_panel_wanted)

    def _moved(self) -> None:
        if self.panel is not None:
            # Kept as at the usual size of text, with which it grows.
            self._settings.put(_WIDTH, round(self.panel.width() / self._theme.length(1)))

    def _limit(self, panel: QWidget) -> None:
        panel.setMinimumWidth(self._theme.px(_LEAST))
        panel.setMaximumWidth(self._theme.px(_MOST))


class PanelController:
    """Makes the panel when it is first needed."""

    def __init__(self, body: WindowBody, make: Callable[[QWidget], QWidget]) -> None:
        self._body = body
        self._make = make

    def load_after(self, page: QWidget) -> None:
        """Load the panel once a page is painted, and keep its place free until then."""
        if self._body.panel is None:
            self._body.hold_place()
            call_after_paint(page, self._load)

    def _load(self) -> None:
        if self._body.panel is None:
            self._body.set_panel(self._make(self._body))

    @property
    def shown(self) -> bool:
        return self._body.panel_shown

    def toggle(self) -> None:
        if self._body.panel is None:
            self._load()
            self._body.show_panel(is_visible=True)
        else:
            self._body.show_panel(not self.shown)
