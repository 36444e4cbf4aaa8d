"""The main window: combines bars, pages and panel, and dispatches actions."""

from __future__ import annotations

import gc
import logging
from functools import cached_property, partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, Qt, QTimer
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent
from PySide6.QtWidgets import QDialog, QWidget

from gpudesk.desktop.pages.page import DeskPage, MultiViewPage
from gpudesk.desktop.session.actions import ActionSpec
from gpudesk.desktop.session.desk import AnnouncedRanking, Desk
from gpudesk.desktop.session.document import Document, RecoveredScenario, RecoveryFile
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.selection import Selection
from gpudesk.desktop.session.settings import restore_place, save_place
from gpudesk.desktop.ui.theme.focus_ring import FocusRing
from gpudesk.desktop.ui.widgets.layouts import make_column, make_row
from gpudesk.desktop.ui.widgets.note_bar import NoteBar
from gpudesk.desktop.window.accelerator_chips import ChipRow
from gpudesk.desktop.window.action_list import list_actions
from gpudesk.desktop.window.bars import PageRail, RailItem, StatusBar, StatusText, TopBar
from gpudesk.desktop.window.catalog_link import CatalogController
from gpudesk.desktop.window.document_window import (
    DocumentWindow,
    PanelController,
    ProgramContext,
    WindowBody,
    list_page_specs,
)
from gpudesk.desktop.window.file_actions import FileActions
from gpudesk.desktop.window.menus import WindowMenus, wrap_tab_focus
from gpudesk.desktop.window.scenario_bar import ScenarioBar, UndoButtons
from gpudesk.domain.answer import Scenario
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.window.command_palette import CommandPalette
    from gpudesk.desktop.window.start_page import StartPage
    from gpudesk.report.profile_sections import ProfileTables


log = logging.getLogger(__name__)

_PAGE, _RAIL = "window.page", "rail.collapsed"
#: Minimum width of the scenario bar and one chart, at 100% text size.
_LEAST_SIZE = (900, 480)
#: In a narrower window the rail collapses itself.
_FOLDED = 1360
_START = "start"
#: Levels of layouts between a widget and its window that settle before a paint.
_NESTED_LAYOUTS = 16
#: Views that all windows retain, and the delay of the deletion of others.
_MOST_VIEWS, _DROP_AFTER_MS = 8, 500


class MainWindow(DocumentWindow):
    """Combines bars, pages and panel, and dispatches actions."""

    def __init__(self, program: ProgramContext) -> None:
        """Create what is visible at once; pages and panel are created on demand."""
        super().__init__()
        self.program = program
        self.theme, self.settings = program.theme, program.settings
        self.desk = Desk(program.service, program.formatter, self)
        recovery = RecoveryFile(self)
        self.document = Document(self.desk, self.settings, recovery, self)
        self.jobs = Jobs(program.formatter, self)
        self.ranking = AnnouncedRanking(self.desk, self.settings, self)
        self.page_specs = list_page_specs()
        self.pages: dict[str, DeskPage] = {}
        self._page = _START
        self._selections: dict[str, Selection | None] = {}
        self._view_limit = QTimer(self, singleShot=True, interval=_DROP_AFTER_MS)
        self._view_limit.timeout.connect(self._drop_old_views)
        self.note = NoteBar(self.theme)
        self.note.focus_lost.connect(self.focus_page)
        self.files = FileActions(self.document, self.settings, self.note, self)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAcceptDrops(True)
        self._make_bars()
        right = make_column(self.scenario, self.chips, self.note, (self.body, 1), gap=0)
        middle = make_row(self.rail, (right, 1), gap=0)
        central = QWidget()
        make_column((middle, 1), self.status, gap=0, on=central)
        self.setCentralWidget(central)
        self.catalog = CatalogController(self)
        self.menus = WindowMenus(self.top.menus, self.theme, self.list_window_actions, self)
        self.ring = FocusRing(self, self.theme)
        self.status_text = StatusText(self.desk, self.document, self.status)
        recovery.failed.connect(self.status_text.show_recovery_failure)
        self._connect()
        restore_place(self, self.settings)
        self.rail.set_collapsed(self.settings.get(_RAIL, default=False))

    def go_on_from(self, former: MainWindow) -> None:
        """Continue from another window: its document, on the same page, in the same place."""
        self.document.adopt(former.document)
        self.setGeometry(former.geometry())
        self.setWindowState(former.windowState())
        if former.page is None:
            self.show_start()
        else:
            self.show_page(former._page)

    def go_on_with_preview(self, former: MainWindow) -> None:
        """Open the preview that is open in another window."""
        dialogs = [dialog for dialog in former.findChildren(QDialog) if dialog.isVisible()]
        if dialogs:
            from gpudesk.desktop.window.sheet_preview import PagesPreview

            for dialog in dialogs:
                if isinstance(dialog, PagesPreview):
                    dialog.reopen(self)

    # Construction

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
        self.chips.profile_requested.connect(partial(self._follow_link, "profile"))
        self.steps = UndoButtons(theme, desk.undo_stack, self)
        self.undo, self.redo = self.steps.undo, self.steps.redo
        self.scenario.add_at_end(self.undo)
        self.scenario.add_at_end(self.redo)
        self.body = WindowBody(theme, self.settings)
        self.panel = PanelController(self.body, self._make_panel)
        self.status = StatusBar(theme)

    def _connect(self) -> None:
        self.rail.chosen.connect(self.show_page)
        self.rail.collapsed_changed.connect(lambda folded: self.settings.put(_RAIL, folded))
        self.top.search.clicked.connect(self.open_palette)
        self.top.print.clicked.connect(self.preview)
        self.top.panel.clicked.connect(self.panel.toggle)
        self.jobs.shown.connect(self.status.set_job)
        self.status.job_canceled.connect(self.jobs.cancel)
        self.document.changed.connect(self._show_title)
        self.desk.scenario_changed.connect(self._leave_start)
        self.theme.follow(self._fit_to_text)
        self._show_title()

    def _make_panel(self, parent: QWidget) -> QWidget:
        from gpudesk.desktop.window.sources_panel import SourcesPanel

        panel = SourcesPanel(self.desk, self.theme, self.settings, parent)
        panel.close_requested.connect(lambda: self.body.show_panel(is_visible=False))
        panel.editor_requested.connect(self.catalog.open_editor)
        panel.failed.connect(self.catalog.say_not_done)
        return panel

    # Pages

    @cached_property
    def start(self) -> StartPage:
        """The start page, created when first shown."""
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
        page = self.pages.get(page_id)
        if page is None:
            spec = next(spec for spec in self.page_specs if spec.id == page_id)
            page = self.pages[page_id] = spec.make(self.desk, self.theme, self.settings)
            page.wanted.connect(self._fill_in)
            page.page_requested.connect(self._follow_link)
            page.preview_requested.connect(self.preview)
            page.profile_preview_requested.connect(self.preview_profile)
            page.editing_requested.connect(self.catalog.open_editor)
            page.import_requested.connect(self.catalog.ask_for_imports)
            page.backups_requested.connect(self.catalog.show_backups)
            if isinstance(page, MultiViewPage):
                page.view_created.connect(self._limit_views)
            self.body.stack.addWidget(page)
        focus = self.focused()
        was_inside = focus is None or self.body.stack.isAncestorOf(focus)
        if page_id != self._page:
            # The panel explains the cell of the visible page: each page has its own.
            self._selections[self._page] = None if self.desk.is_selection_proposed else self.desk.selection
            self.desk.select_again(self._selections.get(page_id))
        self._page = page_id
        log.info("page %s", page_id)
        self.settings.put(_PAGE, page_id)
        self.body.stack.setCurrentWidget(page)
        self.rail.set_page(page_id)
        self.menus.bind()
        self.panel.load_after(page)
        if was_inside:
            # The focused widget is now hidden, and Qt would focus any other.
            page.focus_content()

    def drop_hidden_pages(self) -> None:
        """Delete all pages but the one that is shown: the others are not needed where this window soon goes."""
        for page_id in [each for each in self.pages if each != self._page]:
            page = self.pages.pop(page_id)
            page.deleteLater()
            QCoreApplication.sendPostedEvents(page, QEvent.Type.DeferredDelete.value)

    def _limit_views(self) -> None:
        """Drop old views soon, in a turn of their own; also while ever more views are created."""
        if not self._view_limit.isActive():
            self._view_limit.start()

    def _drop_old_views(self) -> None:
        """Delete the views of all windows that were shown longest ago: those of one window can take 70 MB."""
        every = (page for window in self.program.windows for page in window.pages.values())
        pages = (page for page in every if isinstance(page, MultiViewPage))
        showings = ((number, page, key) for page in pages for key, number in page.showings.items())
        old_views = sorted(showings, key=itemgetter(0))[:-_MOST_VIEWS]
        if not old_views:
            return
        # Views dropped earlier leave reference cycles; in a long session without a pause these would add up.
        gc.collect()
        for _, page, key in old_views:
            if not page.views[key].isVisible():
                page.drop_view(key)
        self.program.clean_up_later()

    @property
    def manual_topic(self) -> str:
        return "first-steps" if self.page is None else self.page.manual_topic

    @property
    def page(self) -> DeskPage | None:
        return self.pages.get(self._page)

    def focus_page(self) -> None:
        (self.page or self.start).focus_content()

    def is_page(self, page_id: str) -> bool:
        return self._page == page_id

    def _leave_start(self) -> None:
        if self._page == _START and (self.document.begun or self.document.edited):
            last = self.settings.get(_PAGE, self.page_specs[0].id)
            page_ids = [spec.id for spec in self.page_specs]
            self.show_page(last if last in page_ids else page_ids[0])

    def _follow_link(self, page_id: str, key: str) -> None:
        self.show_page(page_id)
        if key and self.page is not None:
            self.page.focus_column(key)

    def _fill_in(self, name: str) -> None:
        if name == "model":
            self.choose_model()
        else:
            self.chips.open_list()

    # Actions

    def list_window_actions(self) -> list[ActionSpec]:
        return list_actions(self, self.catalog)

    def new(self) -> None:
        self._target().document.new()

    def open_template(self, template: str) -> None:
        self._target().files.open_template(template)

    def open_recommendation(self, scenario: Scenario) -> None:
        target = self._target()
        target.document.open_unsaved(scenario)
        target.show_page("decide")
        if isinstance(target.page, MultiViewPage):
            target.page.choose_view("result")

    def open_path(self, path: Path) -> bool:
        window = self.program.find_window(path)
        if window is not None:
            window.come_to_front()
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

    def _target(self) -> DocumentWindow:
        return self if self.document.replaceable else self.program.open_new_window()

    def preview(self) -> None:
        from gpudesk.desktop.window.sheet_preview import show_preview

        show_preview(self)

    def preview_profile(self, tables: ProfileTables) -> None:
        from gpudesk.desktop.window.sheet_preview import show_profile_preview

        show_profile_preview(self, tables)

    @cached_property
    def palette_of_commands(self) -> CommandPalette:
        from gpudesk.desktop.window.command_palette import CommandPalette

        return CommandPalette(self.theme, self)

    def open_palette(self) -> None:
        from gpudesk.desktop.window.command_palette import list_palette_entries

        self.palette_of_commands.open(list_palette_entries(self))

    # Qt overrides

    def focusNextPrevChild(self, following: bool) -> bool:
        """Move on with Tab in reading order: scenario, page, panel, top bar, list of pages."""
        return wrap_tab_focus(self, following=following) or super().focusNextPrevChild(following)

    def _show_title(self) -> None:
        title = self.document.title
        self.setWindowTitle(tr("{title}[*] — GPU Desk", title=title.replace("[*]", "")))
        self.setWindowModified(self.document.edited)
        self.top.set_title(title)

    def event(self, event: QEvent) -> bool:
        # Layouts settle before every paint: each call settles one more level of nested ones, and Qt paints in between.
        if event.type() == QEvent.Type.UpdateRequest:
            for _ in range(_NESTED_LAYOUTS):
                QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)
        return super().event(event)

    def changeEvent(self, event: QEvent) -> None:
        """Look at the user's file when the window becomes active: another program may have changed it."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.desk.service.user_catalog.read_changes()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold_rail()

    def _fit_to_text(self) -> None:
        """Increase the minimum size with the text size, limited to the screen."""
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
        """Open dropped scenarios, and import other files, once the drag source has finished."""
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
