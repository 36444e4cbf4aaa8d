"""The main window: it puts bars, pages and panel together and passes actions on."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from gpudesk.desktop.pages.page import DeskPage
from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.session.desk import AnnouncedRanking, Desk
from gpudesk.desktop.session.document import Document
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.recovery import RecoveredScenario, RecoveryFile
from gpudesk.desktop.session.settings import UserSettings, restore_place, save_place
from gpudesk.desktop.ui.theme.focus_ring import FocusRing
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.note_bar import NoteBar
from gpudesk.desktop.ui.widgets.qt_support import call_after_paint
from gpudesk.desktop.window.accelerator_chips import ChipRow
from gpudesk.desktop.window.action_list import list_actions
from gpudesk.desktop.window.bars import StatusBar, StatusText, TopBar
from gpudesk.desktop.window.catalog_link import CatalogController
from gpudesk.desktop.window.file_actions import FileActions
from gpudesk.desktop.window.menus import WindowMenus, wrap_tab_focus
from gpudesk.desktop.window.rail import PageRail, RailItem
from gpudesk.desktop.window.scenario_bar import ScenarioBar, UndoButtons
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.window.app import DesktopProgram
    from gpudesk.desktop.window.command_palette import CommandPalette
    from gpudesk.desktop.window.start_page import StartPage


@dataclass(frozen=True, slots=True)
class PageSpec:
    """A page by name: its module is imported, and it is made, at the first look.

    `digit` is the key that opens it together with Ctrl. `divided` puts a line above it in the rail.
    """

    id: str
    title: str
    icon: str
    module: str
    class_name: str
    digit: int
    divided: bool = False

    def make(self, desk: Desk, theme: Theme, settings: UserSettings) -> DeskPage:
        page: DeskPage = getattr(import_module(self.module), self.class_name)(desk, theme, settings)
        return page


def list_page_specs() -> tuple[PageSpec, ...]:
    folder = "gpudesk.desktop.pages"
    return (
        PageSpec("compare", tr("Compare"), "columns-3", f"{folder}.compare.page", "ComparePage", 1),
        PageSpec("performance", tr("Performance"), "chart-spline", f"{folder}.performance.page", "PerformancePage", 2),
        PageSpec("memory", tr("Memory and fit"), "memory-stick", f"{folder}.memory.page", "MemoryPage", 3),
        PageSpec("cost", tr("Cost"), "coins", f"{folder}.cost.page", "CostPage", 5),
        PageSpec("decide", tr("Decide"), "signpost", f"{folder}.decide.page", "DecidePage", 6, divided=True),
        PageSpec("catalog", tr("Catalog"), "library", f"{folder}.catalog.page", "CatalogPage", 8, divided=True),
    )


#: Below this width of the window the panel lies over the page.
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
        self._wanted = settings.get(_SHOWN, default=True)
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
        return self._over if self._is_over else self._wanted

    def show_panel(self, shown: bool) -> None:
        """Show or hide the panel; over the page that is not remembered, since it hides what it explains."""
        if self._is_over:
            self._over = shown
        else:
            self._wanted = shown
            self._settings.put(_SHOWN, shown)
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
        panel.setVisible(self._wanted)

    def _moved(self) -> None:
        if self.panel is not None:
            # Kept as at the usual size of text, with which it grows.
            self._settings.put(_WIDTH, round(self.panel.width() / self._theme.length(1)))

    def _limit(self, panel: QWidget) -> None:
        panel.setMinimumWidth(self._theme.px(_LEAST))
        panel.setMaximumWidth(self._theme.px(_MOST))


class PanelController:
    """Makes the panel when it is first needed, and hands on what it asks for."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._body = window.body

    def load_after(self, page: DeskPage) -> None:
        """Load the panel once a page is painted, and keep its place free until then."""
        if self._body.panel is None:
            self._body.hold_place()
            call_after_paint(page, self._load)

    def _load(self) -> None:
        if self._body.panel is not None:
            return
        from gpudesk.desktop.window.sources_panel import SourcesPanel

        window = self._window
        panel = SourcesPanel(window.desk, window.theme, window.settings, self._body)
        panel.close_requested.connect(lambda: self._body.show_panel(shown=False))
        panel.editor_requested.connect(window.catalog.open_editor)
        panel.failed.connect(window.catalog.say_not_done)
        self._body.set_panel(panel)

    @property
    def shown(self) -> bool:
        return self._body.panel_shown

    def toggle(self) -> None:
        if self._body.panel is None:
            self._load()
            self._body.show_panel(shown=True)
        else:
            self._body.show_panel(not self.shown)


log = logging.getLogger(__name__)

_PAGE, _RAIL = "window.page", "rail.collapsed"
#: What the scenario bar and one chart need, at text of 100 %.
_LEAST_SIZE = (900, 480)
#: Below this width the rail folds by itself.
_FOLDED = 1360
_START = "start"


class MainWindow(QMainWindow):
    """One document in a window."""

    def __init__(self, program: DesktopProgram) -> None:
        """Make what is seen at once; pages and panel come when they are asked for."""
        super().__init__()
        self.program = program
        self.theme, self.settings = program.theme, program.settings
        self.desk = Desk(program.service, program.formatter, self)
        recovery = RecoveryFile(self)
        self.document = Document(self.desk, self.settings, recovery, self)
        self.jobs = Jobs(program.formatter, self)
        self.ranking = AnnouncedRanking(self.desk, self.settings, self)
        self.page_specs = list_page_specs()
        self._pages: dict[str, DeskPage] = {}
        self._page = _START
        self.note = NoteBar(self.theme)
        self.files = FileActions(self.document, self.settings, self.note, self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAcceptDrops(True)
        self._make_bars()
        self._lay_out()
        self.catalog = CatalogController(self)
        self.menus = WindowMenus(self.top.menus, self.theme, self.actions_of_window, self)
        self.ring = FocusRing(self, self.theme)
        self.status_text = StatusText(self.desk, self.document, self.status)
        recovery.failed.connect(self.status_text.say_not_kept)
        self._connect()
        restore_place(self, self.settings)
        self.rail.set_collapsed(self.settings.get(_RAIL, default=False))

    # Putting together

    def _make_bars(self) -> None:
        theme, desk = self.theme, self.desk
        self.top = TopBar(theme)
        self.setMenuWidget(self.top)
        items = [
            RailItem(spec.id, spec.title, spec.icon, str(spec.digit), divided=spec.divided) for spec in self.page_specs
        ]
        self.rail = PageRail(theme, items)
        self.scenario = ScenarioBar(desk, theme)
        self.chips = ChipRow(desk, theme)
        self.steps = UndoButtons(theme, desk.undo_stack, self)
        self.undo, self.redo = self.steps.undo, self.steps.redo
        self.scenario.add_at_end(self.undo)
        self.scenario.add_at_end(self.redo)
        self.body = WindowBody(theme, self.settings)
        self.panel = PanelController(self)
        self.status = StatusBar(theme)

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        for widget in (self.scenario, self.chips, self.note):
            right.addWidget(widget)
        right.addWidget(self.body, 1)
        middle = QHBoxLayout()
        middle.addWidget(self.rail)
        middle.addLayout(right, 1)
        central = QWidget()
        whole = QVBoxLayout(central)
        whole.addLayout(middle, 1)
        whole.addWidget(self.status)
        for layout in (right, middle, whole):
            layout.setContentsMargins(0, 0, 0, 0)
            layout.setSpacing(0)
        self.setCentralWidget(central)

    def _connect(self) -> None:
        self.rail.chosen.connect(self.show_page)
        self.rail.collapsed_changed.connect(lambda folded: self.settings.put(_RAIL, folded))
        self.top.search.clicked.connect(self.open_palette)
        self.top.print.clicked.connect(self.preview)
        self.top.panel.clicked.connect(self.panel.toggle)
        self.jobs.shown.connect(self.status.set_job)
        self.status.job_cancelled.connect(self.jobs.cancel)
        self.document.changed.connect(self._show_title)
        self.desk.scenario_changed.connect(self._leave_start)
        self.theme.follow(self._fit_to_text)
        self._show_title()

    # Pages

    @cached_property
    def start(self) -> StartPage:
        """The start page, made when it is first shown."""
        from gpudesk.desktop.window.start_page import StartPage

        start = StartPage(self)
        self.body.stack.addWidget(start)
        return start

    def show_start(self) -> None:
        self.start.refresh()
        self._page = _START
        self.body.stack.setCurrentWidget(self.start)
        self.rail.set_page("")
        self.start.focus_content()

    def show_page(self, page_id: str) -> None:
        """Show a page, made and loaded at the first time."""
        page = self._pages.get(page_id)
        if page is None:
            spec = next(spec for spec in self.page_specs if spec.id == page_id)
            page = self._pages[page_id] = spec.make(self.desk, self.theme, self.settings)
            self._connect_page(page)
            self.body.stack.addWidget(page)
        focus = self.focused()
        was_inside = focus is None or self.body.stack.isAncestorOf(focus)
        self._page = page_id
        log.info("page %s", page_id)
        self.settings.put(_PAGE, page_id)
        self.body.stack.setCurrentWidget(page)
        self.rail.set_page(page_id)
        self.menus.bind()
        self.panel.load_after(page)
        if was_inside:
            # What had the focus is out of sight now, and Qt would give it to anything.
            page.focus_content()

    def _connect_page(self, page: DeskPage) -> None:
        page.wanted.connect(self._fill_in)
        page.preview_requested.connect(self.preview)
        page.editing_requested.connect(self.catalog.open_editor)
        page.import_requested.connect(self.catalog.ask_for_imports)
        page.backups_requested.connect(self.catalog.show_backups)

    @property
    def page(self) -> DeskPage | None:
        """The page that is shown, None while it is the start page."""
        return self._pages.get(self._page)

    def is_page(self, page_id: str) -> bool:
        return self._page == page_id

    def _leave_start(self) -> None:
        if self._page == _START and (self.document.begun or self.document.edited):
            last = self.settings.get(_PAGE, self.page_specs[0].id)
            known = [spec.id for spec in self.page_specs]
            self.show_page(last if last in known else known[0])

    def _fill_in(self, name: str) -> None:
        if name == "model":
            self.choose_model()
        else:
            self.chips.open_list()

    def toggle_rail(self) -> None:
        self.rail.toggle()

    # Actions

    def actions_of_window(self) -> list[ActionSpec]:
        return list_actions(self)

    def page_actions(self) -> list[ActionSpec]:
        return [] if self.page is None else self.page.actions_of_page()

    def has_answer(self) -> bool:
        return self.desk.answer is not None

    def new(self) -> None:
        """Begin a new scenario, here where nothing would be lost, else in a window of its own."""
        self._target().document.new()

    def open_template(self, template: str) -> None:
        self._target().files.open_template(template)

    def ask_to_open(self) -> None:
        path = self.files.ask_for_file()
        if path is not None:
            self.open_path(path)

    def open_path(self, path: Path) -> bool:
        """Open a file here where nothing would be lost, else in a window of its own.

        Where it is open already, its window comes to the front.
        """
        shown = self.program.window_of(path)
        if shown is not None:
            shown.come_to_front()
            return True
        if not self.document.replaceable and not self.files.can_open(path):
            return False
        return self._target().files.open(path)

    def come_to_front(self) -> None:
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.raise_()
        self.activateWindow()

    def open_recovered(self, recovered: RecoveredScenario) -> None:
        self._target().files.open_recovered(recovered)

    def _target(self) -> MainWindow:
        return self if self.document.replaceable else self.program.new_window()

    def preview(self) -> None:
        from gpudesk.desktop.window.sheet_preview import show_preview

        show_preview(self)

    def choose_model(self) -> None:
        self.scenario.model.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.scenario.model.open_list()

    @cached_property
    def palette_of_commands(self) -> CommandPalette:
        from gpudesk.desktop.window.command_palette import CommandPalette

        return CommandPalette(self.theme, self)

    def open_palette(self) -> None:
        from gpudesk.desktop.window.palette_model import list_palette_entries

        self.palette_of_commands.open(list_palette_entries(self))

    def focused(self) -> QWidget | None:
        """Return what has the focus in this window; nothing has before the first control is reached."""
        return self.focusWidget()

    # What Qt tells

    def focusNextPrevChild(self, following: bool) -> bool:
        """Go on with Tab in the order of reading: scenario, page, panel, bar above, list of pages."""
        return wrap_tab_focus(self, following=following) or super().focusNextPrevChild(following)

    def _show_title(self) -> None:
        title = self.document.title
        self.setWindowTitle(tr("{title}[*] — GPU Desk", title=title.replace("[*]", "")))
        self.setWindowModified(self.document.edited)
        self.top.set_title(title)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold_rail()

    def _fit_to_text(self) -> None:
        """Need more room where text is larger, but never more than the screen has."""
        room = self.screen().availableSize()
        wide, high = (self.theme.px(length) for length in _LEAST_SIZE)
        self.setMinimumSize(min(wide, room.width()), min(high, room.height()))
        self._fold_rail()

    def _fold_rail(self) -> None:
        self.rail.set_narrow(self.width() < self.theme.px(_FOLDED))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open the scenarios that were dropped, and import other files, once the source is done with them."""
        files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
        event.acceptProposedAction()
        QTimer.singleShot(0, self, lambda: self.catalog.open_dropped(files))

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self.files.may_close():
            event.ignore()
            return
        self.jobs.stop()
        save_place(self, self.settings)
        self.settings.write()
        self.document.close()
        self.program.window_closed(self)
        event.accept()
