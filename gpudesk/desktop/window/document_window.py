"""The interface of a document window for commands, dialogs and reports, and of the program around it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Protocol

from PySide6.QtCore import QObject, QRect, Qt, QTimerEvent, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QStackedWidget, QWidget

from gpudesk.desktop import pages
from gpudesk.desktop.pages.page import DeskPage
from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.session.desk import AnnouncedRanking, Desk
from gpudesk.desktop.session.document import Document, RecoveredScenario
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import make_row
from gpudesk.desktop.ui.widgets.note_bar import NoteBar
from gpudesk.desktop.ui.widgets.qt_support import call_after_paint
from gpudesk.desktop.window.accelerator_chips import ChipRow
from gpudesk.desktop.window.bars import PageRail, StatusBar, TopBar
from gpudesk.desktop.window.file_actions import FileActions
from gpudesk.desktop.window.scenario_bar import ScenarioBar
from gpudesk.domain.answer import Scenario
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: Below this width of the window the panel overlays the page.
_NARROW = 1180
_LEAST, _USUAL, _MOST = 280, 312, 480
_SHOWN, _WIDTH = "panel.shown", "panel.width"


class WindowBody(QWidget):
    """Holds the stack of pages and, once created, the panel."""

    def __init__(self, theme: Theme, settings: UserSettings) -> None:
        super().__init__()
        self._theme = theme
        self._settings = settings
        self.stack = QStackedWidget()
        self.panel: QWidget | None = None
        #: The panel, or its placeholder.
        self._beside: QWidget | None = None
        self._is_panel_wanted = settings.get(_SHOWN, default=True)
        self._over = False
        self._is_over = False
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(1)
        self._splitter.addWidget(self.stack)
        self._splitter.splitterMoved.connect(self._moved)
        make_row(self._splitter, on=self)
        theme.changed.connect(self._arrange)

    def hold_place(self) -> None:
        """Reserve the panel's width until it exists, so that the page is laid out once."""
        if self._beside is None:
            self._beside = QWidget(self)
            self._beside.setAutoFillBackground(True)
            self._arrange()

    def set_panel(self, panel: QWidget) -> None:
        """Insert the panel in place of its placeholder."""
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
        """Show or hide the panel; the state of an overlay is not stored, since it covers the explained content."""
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
            # Stored at the default text size, with which it scales.
            self._settings.put(_WIDTH, round(self.panel.width() / self._theme.length(1)))

    def _limit(self, panel: QWidget) -> None:
        panel.setMinimumWidth(self._theme.px(_LEAST))
        panel.setMaximumWidth(self._theme.px(_MOST))


class PanelController:
    """Creates the panel on first use."""

    def __init__(self, body: WindowBody, make: Callable[[QWidget], QWidget]) -> None:
        self._body = body
        self._make = make

    def load_after(self, page: QWidget) -> None:
        """Load the panel once a page is painted, and reserve its width until then."""
        if self._body.panel is None:
            self._body.hold_place()
            call_after_paint(page, self._load)

    def _load(self) -> None:
        if self._body.panel is None:
            self._body.set_panel(self._make(self._body))

    @property
    def is_visible(self) -> bool:
        return self._body.panel_shown

    def toggle(self) -> None:
        if self._body.panel is None:
            self._load()
            self._body.show_panel(is_visible=True)
        else:
            self._body.show_panel(not self.is_visible)


@frozen_dataclass
class PageSpec:
    """A page by name: its module is imported, and the page is created, on first use.

    `digit` is its key with Ctrl. `divided` puts a line above it in the rail.
    """

    id: str
    title: str
    icon: str
    module: str
    class_name: str
    digit: int
    divided: bool = False

    def make(self, desk: Desk, theme: Theme, settings: UserSettings) -> DeskPage:
        theme = theme.defer()
        page: DeskPage = getattr(import_module(self.module), self.class_name)(desk, theme, settings)
        theme.attach(page)
        return page


def list_page_specs() -> tuple[PageSpec, ...]:
    folder = "gpudesk.desktop.pages"
    return (
        PageSpec("compare", tr("Compare"), "columns-3", f"{folder}.compare.page", "ComparePage", 1),
        PageSpec("performance", tr("Performance"), "chart-spline", f"{folder}.performance.page", "PerformancePage", 2),
        PageSpec("memory", tr("Memory and fit"), "memory-stick", f"{folder}.memory.page", "MemoryPage", 3),
        PageSpec("profile", tr("Profile"), "cpu", f"{folder}.profile.page", "ProfilePage", 4),
        PageSpec("cost", tr("Cost"), "coins", f"{folder}.cost.page", "CostPage", 5),
        PageSpec("decide", tr("Decide"), "signpost", f"{folder}.decide.page", "DecidePage", 6, divided=True),
        PageSpec("fleet", tr("Fleet"), "server", f"{folder}.fleet.page", "FleetPage", 7),
        PageSpec("catalog", tr("Catalog"), "library", f"{folder}.catalog.page", "CatalogPage", 8, divided=True),
    )


def list_page_modules() -> list[str]:
    """Return the names of the modules with a page or view."""
    names = [each.name for each in walk_packages(pages.__path__, f"{pages.__name__}.")]
    return [name for name in names if name.endswith(("page", "view"))]


class PageModuleLoader(QObject):
    """Imports all pages and views, one module per turn of the event loop, and then deletes itself.

    A thread must not import them: PySide6 adds new classes to a table that the window's thread reads without the
    interpreter's lock, whenever Qt asks a widget for its class. If the table grows meanwhile, the program crashes.
    """

    loaded = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._names = iter(list_page_modules())
        self.startTimer(0)

    def timerEvent(self, event: QTimerEvent) -> None:
        name = next(self._names, None)
        if name is not None:
            import_module(name)
            return
        self.killTimer(event.timerId())
        self.loaded.emit()
        self.deleteLater()


class ProgramContext(Protocol):
    """Shared by all windows."""

    service: GpuDeskService
    settings: UserSettings
    formatter: Formatter
    theme: Theme

    @property
    def windows(self) -> Sequence[DocumentWindow]: ...
    def find_active_window(self) -> DocumentWindow | None: ...
    def open_new_window(self) -> DocumentWindow: ...
    def find_window(self, path: Path) -> DocumentWindow | None: ...
    def window_closed(self, window: DocumentWindow) -> None: ...
    def clean_up_later(self) -> None: ...
    def set_theme(self, preference: str) -> None: ...
    def set_font_percent(self, percent: int) -> None: ...
    def set_language(self, code: str) -> None: ...
    def open_logs(self) -> None: ...
    def show_manual(self, topic: str) -> None: ...
    def quit(self) -> None: ...


class DocumentWindow(QMainWindow):
    """A window with one document: its components and its interface."""

    program: ProgramContext
    theme: Theme
    settings: UserSettings
    desk: Desk
    document: Document
    files: FileActions
    jobs: Jobs
    ranking: AnnouncedRanking
    page_specs: tuple[PageSpec, ...]
    #: The pages shown so far, by id.
    pages: dict[str, DeskPage]
    top: TopBar
    rail: PageRail
    scenario: ScenarioBar
    chips: ChipRow
    note: NoteBar
    body: WindowBody
    panel: PanelController
    status: StatusBar

    @property
    def page(self) -> DeskPage | None:
        """The visible page, None on the start page."""
        raise NotImplementedError

    def is_page(self, page_id: str) -> bool:
        raise NotImplementedError

    def show_page(self, page_id: str) -> None:
        """Show a page, created and loaded on first use."""
        raise NotImplementedError

    def show_start(self) -> None:
        raise NotImplementedError

    def focus_page(self) -> None:
        raise NotImplementedError

    def focused(self) -> QWidget | None:
        """Return the focused widget of this window; None before the first control is focused."""
        return self.focusWidget()

    def list_window_actions(self) -> list[ActionSpec]:
        raise NotImplementedError

    def new(self) -> None:
        """Start a new scenario, here if nothing would be lost, else in a new window."""
        raise NotImplementedError

    def open_template(self, template: str) -> None:
        raise NotImplementedError

    def open_recommendation(self, scenario: Scenario) -> None:
        """Open a new scenario with its recommendation, here if nothing would be lost."""
        raise NotImplementedError

    def open_path(self, path: Path) -> bool:
        """Open a file here if nothing would be lost, else in a new window.

        If it is already open, its window comes to the front.
        """
        raise NotImplementedError

    def ask_to_open(self) -> None:
        path = self.files.ask_for_file()
        if path is not None:
            self.open_path(path)

    def open_recovered(self, recovered: RecoveredScenario) -> None:
        raise NotImplementedError

    def choose_model(self) -> None:
        self.scenario.model.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.scenario.model.open_list()

    def open_palette(self) -> None:
        raise NotImplementedError

    def preview(self) -> None:
        raise NotImplementedError

    def come_to_front(self) -> None:
        raise NotImplementedError
