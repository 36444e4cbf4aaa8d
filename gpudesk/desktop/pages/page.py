"""Base classes of the pages: one that shows the desk's answer while visible, and one with several views."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from enum import Enum, auto
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any, Final, Generic, NamedTuple, TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QSizePolicy, QStackedLayout, QWidget

from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.selection import Selection
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.charts.chart_data import (
    ChartDataDialog,
    CopyableChart,
    DeskAnswerChart,
    copy_to_clipboard,
    show_data_table,
)
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea, ThemedLabel, fill_background, make_column
from gpudesk.desktop.ui.widgets.page_frame import AnswerStack, PageHeader
from gpudesk.desktop.ui.widgets.qt_support import call_after_paint, make_delay
from gpudesk.domain.progress import ProgressSteps
from gpudesk.paths import MissingFileError
from gpudesk.text.messages import InputError, capitalize_first, format_message
from gpudesk.text.translation import get_language, tr

ResultT = TypeVar("ResultT")


class QueryState(Enum):
    """The progress of a query."""

    NOTHING = auto()
    WORKING = auto()
    READY = auto()
    STOPPED = auto()
    FAILED = auto()


class BackgroundQuery(QObject, Generic[ResultT]):
    """Answers the last query of a page with a job; meanwhile the result belongs to a former query.

    Subclasses implement `ask`, which sets the key of the query.
    """

    #: There is a new result, or another state.
    changed = Signal()
    #: The progress text, empty for short jobs; whether it can be canceled.
    working = Signal(str, bool)

    def __init__(self, desk: Desk, parent: QObject) -> None:
        super().__init__(parent)
        self._desk = desk
        self._jobs = Jobs(desk.formatter, self)
        self._jobs.shown.connect(self.working)
        self._key: tuple[object, ...] | None = None
        self.state = QueryState.NOTHING
        self.result: ResultT | None = None
        self.error: InputError | None = None

    @property
    def running(self) -> bool:
        return self._jobs.running

    @property
    def problem(self) -> str:
        """The error text."""
        error = self.error
        return "" if error is None else capitalize_first(format_message(error.problem, self._desk.formatter))

    def stop(self) -> None:
        """Stop the search and keep the results so far."""
        self._jobs.cancel()

    def rest(self) -> None:
        """Stop all jobs while the page is hidden, including former ones; the next query starts again."""
        self._jobs.stop()
        if self.state is QueryState.WORKING:
            self._key, self.state = None, QueryState.NOTHING

    def _start(self, name: str, key: tuple[object, ...], steps: ProgressSteps[ResultT]) -> None:
        self._set(QueryState.WORKING)
        ends = (partial(self._done, key), partial(self._failed, key), partial(self._stopped, key))
        self._jobs.start(name, steps, *ends)

    def _done(self, key: tuple[object, ...], result: ResultT) -> None:
        if key is self._key:
            self.result = result
            self._set(QueryState.READY)

    def _failed(self, key: tuple[object, ...], error: InputError) -> None:
        if key is self._key:
            self.error = error.detach()
            self._set(QueryState.FAILED)

    def _stopped(self, key: tuple[object, ...]) -> None:
        if key is self._key:
            self._set(QueryState.STOPPED)

    def _set(self, state: QueryState) -> None:
        self.state = state
        self.changed.emit()


class DeskPage(QWidget):
    """A page of the window. Subclasses set `page_id` and implement `refresh`."""

    #: Short name in settings, actions and shortcuts.
    page_id = ""
    #: Whether the page shows figures by concurrency.
    needs_curves = False

    #: The user wants to fill in a missing input: `model` or `accelerators`.
    wanted = Signal(str)
    #: The user wants to see another page, by its id, and a column there, by its key.
    page_requested = Signal(str, str)
    #: The user wants to see the sheet.
    preview_requested = Signal()
    #: The user wants the print preview of a profile: `ProfileTables`.
    profile_preview_requested = Signal(object)
    #: The user wants to add or change a fact: an `EditorRequest` of the page Catalog.
    editing_requested = Signal(object)
    #: The user wants to import facts from files, or to see the backups.
    import_requested = Signal()
    backups_requested = Signal()

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        """Store the desk and the view options; nothing is computed until the page is visible."""
        super().__init__(parent)
        self.desk = desk
        self.theme = theme
        self.settings = settings
        self._stale = True
        # After the first paint, which it would delay.
        self._proposal = make_delay(self, 0, self._propose_selection)
        desk.answered.connect(self._answered)
        desk.gesture_changed.connect(self._proposal.start)

    def refresh(self) -> None:
        """Show the desk's answer; called only while the page is visible."""
        raise NotImplementedError

    @property
    def manual_topic(self) -> str:
        """The page or section of the manual that F1 opens; other widgets have it as a plain attribute."""
        return self.page_id

    @property
    def problem_text(self) -> str:
        """Why the last edit cannot be answered, empty if it is."""
        wrong = self.desk.problem
        return "" if wrong is None else format_message(wrong.problem, self.desk.formatter)

    def list_page_actions(self) -> list[ActionSpec]:
        return []

    def propose_selection(self) -> Selection | None:
        """Return what the panel explains until the user selects a figure; None for nothing."""
        return None

    def _propose_selection(self) -> None:
        if self.isVisible() and not self.desk.in_gesture:
            self.desk.propose_selection(self.propose_selection())

    def focus_content(self) -> None:
        self.setFocus()

    def focus_column(self, key: str) -> None:  # noqa: ARG002 - for pages with one
        """Focus the field that the user has to fill in for a column."""
        self.focus_content()

    def _answered(self) -> None:
        if self.isVisible():
            self._stale = False
            self.refresh()
            self._proposal.start()
        else:
            self._stale = True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.want_curves()
        if self._stale:
            self._stale = False
            self.refresh()
        self._proposal.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.desk.want_curves(self.page_id, are_wanted=False)

    def want_curves(self) -> None:
        """Let the desk evaluate curves while they are visible."""
        self.desk.want_curves(self.page_id, are_wanted=self.needs_curves and self.isVisible())
        if self.needs_curves:
            self.desk.flush()


def make_view_actions(
    page_id: str, group: str, views: Sequence[tuple[str, str]], choose: Callable[[str], object], section: int
) -> list[ActionSpec]:
    """Return an action for each view of a page, given as (key, text)."""
    make = partial(ActionSpec, menu=MenuId.VIEW, section=section, group=group)
    return [make(f"{page_id}.{key}", tr("Show {view}", view=text), partial(choose, key)) for key, text in views]


#: Delay before the verdict follows an answer.
_REST_MS: Final = 120
#: Maximum wait for the first paint.
_FIRST_MS: Final = 300
#: Language -> the usual widths of a slow verdict and its terms in one line, in design lengths.
_SLOW_WIDTHS: Final = {"en": (1500.0, 850.0), "de": (1600.0, 1100.0)}
_MOST_LINES: Final = 3


class VerdictLine(ThemedLabel):
    """The verdict of a page in a sentence, updated after a pause, so that a moving slider stays fast.

    What else to know is in `terms`, in smaller type, which the page places below. The verdict is a tab stop, so that
    it can be read aloud and copied. A line of each is reserved for the first verdict. If that takes longer than a first
    paint (`is_slow`), it follows the paint, and its usual lines are reserved, so that nothing moves when it appears.
    """

    #: Show the verdict: the answer has not changed for a moment.
    due = Signal()

    def __init__(self, theme: Theme, *, is_slow: bool = False) -> None:
        self._is_slow = self._is_first_slow = is_slow
        self.terms = ThemedLabel(theme, color="text2", wrap=True, selectable=True)
        self.terms.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        super().__init__(theme, font="page", wrap=True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        flags = Qt.TextInteractionFlag
        self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.due)
        self.clear_verdict()

    def focus_rect(self) -> QRect:
        """Return the rectangle of the text, for the focus ring."""
        return self.contentsRect()

    def request(self) -> None:
        """Follow the answer; until the update the former verdict is dimmed."""
        # A disabled widget loses the focus.
        self.setEnabled(self.hasFocus())
        self.terms.setEnabled(False)
        self.show()
        if not self.text():
            self.terms.show()
            self._dress()
        if self._is_slow:
            call_after_paint(self, partial(self._timer.start, 0))
            # No further paint is needed if the line was painted before.
            self._timer.start(_FIRST_MS)
        else:
            self._timer.start(_REST_MS if self.text() else 0)

    def show_verdict(self, describe: Callable[[], Sequence[str]], terms: str = "") -> None:
        """Show the first sentence of `describe`, and the others with `terms`; nothing if a file cannot be read."""
        try:
            sentences = describe()
        except (InputError, MissingFileError):
            # The view that needs the file reports the error.
            sentences = ()
        self._is_first_slow, self._is_slow = self._is_slow, False
        self._set_words(sentences[:1], [*sentences[1:], terms] if sentences else ())
        for label in (self, self.terms):
            label.setEnabled(True)
        self.setVisible(bool(sentences))
        if self._is_first_slow and sentences:
            # Its reserved lines stay.
            self.terms.show()
        self._dress()

    def clear_verdict(self) -> None:
        self._timer.stop()
        self._set_words((), ())
        self.hide()

    def _set_words(self, verdict: Sequence[str], terms: Sequence[str]) -> None:
        """Set and announce the texts; an empty line has a name too, since it can be focused before its verdict."""
        self.setText("".join(verdict))
        self.terms.show_text(" ".join(filter(None, terms)))
        self.terms.setAccessibleName(self.terms.text() or tr("Verdict"))
        self.setAccessibleName(" ".join(filter(None, (*verdict, *terms))) or tr("Verdict"))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._reserve_height()

    def _dress(self) -> None:
        super()._dress()
        px = self._theme.px
        self.setContentsMargins(px(16), px(2), px(16), px(8 if self.terms.isHidden() else 1))
        self.terms.setContentsMargins(px(16), 0, px(16), px(8))
        self._reserve_height()

    def _reserve_height(self) -> None:
        px, margins = self._theme.px, self.contentsMargins()
        verdict, terms = _SLOW_WIDTHS.get(get_language(), _SLOW_WIDTHS["de"])
        height = margins.top() + self._theme.line("page") + margins.bottom()
        self.setMinimumHeight(height)
        # Lines that the verdict does not need are below its terms.
        used = max(0, self.heightForWidth(self.width()) - height) if self.text() else 0
        further = (self._count_reserved(verdict) - 1) * self.fontMetrics().lineSpacing()
        lines = self._count_reserved(terms) * self.terms.fontMetrics().lineSpacing()
        self.terms.setMinimumHeight(lines + px(8) + max(0, further - used))

    def _count_reserved(self, usual: float) -> int:
        """Return the lines reserved for a text of a usual width."""
        px = self._theme.px
        lines = math.ceil(px(usual) / max(1, self.width() - px(32))) if self._is_first_slow else 1
        return min(lines, _MOST_LINES)


class PageView(QWidget):
    """A view of a page. `charts` are those that can be copied and shown as tables, in reading order."""

    charts: Sequence[CopyableChart] = ()

    def refresh(self) -> None:
        """Show the desk's answer."""
        raise NotImplementedError

    def focus_first(self) -> None:
        """Focus the first control, by default the first chart."""
        first = self.charts[0]
        if isinstance(first, QWidget):
            first.setFocus(Qt.FocusReason.OtherFocusReason)


class ChartsView(PageView):
    """A view whose charts show the desk's answer by themselves."""

    charts: Sequence[DeskAnswerChart]

    def __init__(self, charts: Sequence[DeskAnswerChart], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.charts = tuple(charts)

    def refresh(self) -> None:
        for chart in self.charts:
            chart.refresh()


def load_view(module: str, class_name: str, *arguments: object) -> Callable[[Desk, Theme], Any]:
    """Return the factory of a view whose module is loaded with the first one; `arguments` follow desk and theme."""
    return lambda desk, theme: getattr(import_module(module), class_name)(desk, theme, *arguments)


ViewT = TypeVar("ViewT", bound=PageView)


class PageViewSpec(NamedTuple, Generic[ViewT]):
    """A view of a page: its key in settings and actions, its name, and its factory."""

    key: str
    text: str
    make: Callable[[Desk, Theme], ViewT]


#: Numbers the showings of all views, so that those shown longest ago are known.
_showings: Final = count()


class MultiViewPage(DeskPage, Generic[ViewT]):
    """Starts with the last chosen view; each view is created when shown, until `drop_view` deletes it.

    Subclasses set `page_id` and `menu_section`, and implement `title` and `view_specs`; other methods have defaults.
    The constructor calls only `title`, `view_specs`, `make_head` and `describe_copy`.
    """

    #: Position of the page's actions in their menus.
    menu_section = 0
    #: Whether a verdict is shown above the views.
    has_verdict = False

    view_created = Signal()

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(self.title())
        self._specs = {spec.key: spec for spec in self.view_specs()}
        self._texts = [(spec.key, spec.text) for spec in self._specs.values()]
        #: The present views, by key, and the number of their last showing.
        self.views: dict[str, ViewT] = {}
        self.showings: dict[str, int] = {}
        self.head = self.make_head(self._texts)
        self.head.segment.chosen.connect(self.choose_view)
        self.head.segment.set_manual_topics({key: f"{self.page_id}#{key}" for key in self._specs})
        self.head.copy.setToolTip(self.describe_copy())
        self.head.copy.clicked.connect(self.copy)
        self.verdict = VerdictLine(theme)
        self.verdict.due.connect(self._show_verdict)
        content = QWidget()
        self._view_stack = QStackedLayout(content)
        self.body = AnswerStack(theme, content)
        self.body.wanted.connect(self.wanted)
        make_column(self.head, self.verdict, self.verdict.terms, (self.body, 1), gap=0, on=self)
        theme.follow(self._dress)
        first = next(iter(self._specs))
        last = settings.get(self._setting, first)
        self.choose_view(last if last in self._specs else first)

    @property
    def _setting(self) -> str:
        return f"{self.page_id}.view"

    def _dress(self) -> None:
        fill_background(self, self.theme.color("page"))

    # To implement in subclasses

    def title(self) -> str:
        raise NotImplementedError

    def view_specs(self) -> Sequence[PageViewSpec[ViewT]]:
        """Return the views in display order; the first is the default."""
        raise NotImplementedError

    # Defaults to override

    def show_view(self) -> None:
        """Let the visible view show the desk's data; called only while the page is visible."""
        self.view.refresh()

    def make_head(self, views: Sequence[tuple[str, str]]) -> PageHeader:
        """Return the head, with a choice of views as (key, text)."""
        return PageHeader(self.theme, self.title(), views)

    def make_view(self, key: str, theme: Theme) -> ViewT:
        return self._specs[key].make(self.desk, theme)

    def _show_verdict(self) -> None:
        self.verdict.show_verdict(self.describe_verdict, self.describe_terms())

    def describe_terms(self) -> str:
        """Return the terms behind the verdict, in small type below it; may be empty."""
        return ""

    def describe_verdict(self) -> Sequence[str]:
        """Return the verdict on the desk's answer as sentences, the answer first; empty for pages without one."""
        return ()

    def make_scroll_area(self, view: ViewT) -> FullWidthScrollArea | None:  # noqa: ARG002 - for some pages
        """Return the scroll area for a new view; None for one that scrolls by itself."""
        return FullWidthScrollArea()

    def name_chart_commands(self) -> tuple[str, str] | None:
        """Return the texts of the commands that show a chart as a table and copy the view; None without charts."""
        return None

    def needs_answer(self) -> bool:
        return True

    def needs_verdict(self) -> bool:
        """Return whether the visible view has a verdict above it; without one, no line is reserved."""
        return self.has_verdict

    def find_missing_input(self) -> str | None:
        """Return the missing input: `model`, `accelerators`, or empty."""
        return self.desk.missing if self.needs_answer() else None

    def set_usable(self, *, usable: bool) -> None:
        """Enable the controls of the head, or disable them if the view cannot be shown."""
        for control in (self.head.segment, self.head.copy):
            control.setEnabled(usable)

    def _propose_selection(self) -> None:
        if self.body.usable:
            super()._propose_selection()

    # Interface for the window

    @property
    def manual_topic(self) -> str:
        return f"{self.page_id}#{self.view_key}"

    @property
    def view_keys(self) -> tuple[str, ...]:
        return tuple(self._specs)

    @property
    def view(self) -> ViewT:
        key = self.view_key
        if key not in self.views:
            theme = self.theme.defer()
            view = self.views[key] = self.make_view(key, theme)
            scroll = self.make_scroll_area(view)
            self._view_stack.addWidget(view if scroll is None else scroll)
            if scroll is not None:
                # After the area has its parent: a view passes each new parent's style down to all children.
                scroll.show_widget(view)
            theme.attach(view)
            theme.follow(lambda: fill_background(view, theme.color("page")))
            self.view_created.emit()
        return self.views[key]

    def drop_view(self, key: str) -> None:
        """Delete a hidden view, to be created again when shown: its content is the desk's."""
        self._stale |= key == self.view_key
        view = self._view_stack.widget(list(self.views).index(key))
        assert view is not None
        self._view_stack.removeWidget(view)
        view.deleteLater()
        del self.views[key], self.showings[key]

    def choose_view(self, key: str) -> None:
        self.view_key = key
        self.settings.put(self._setting, key)
        self.head.segment.set_value(key)
        if self.isVisible():
            focus = QApplication.focusWidget()
            was_inside = self.body.usable and focus is not None and self.body.isAncestorOf(focus)
            if was_inside and focus is not None:
                # Qt would move the focus of the hidden view to any other control, and scroll to it.
                focus.clearFocus()
            self.refresh()
            if was_inside:
                self.focus_content()
            self._proposal.start()
        else:
            self._stale = True

    def refresh(self) -> None:
        view, needs = self.view, self.needs_answer()
        self.showings[self.view_key] = next(_showings)
        # Before the content is visible, so that no other view flashes.
        self._view_stack.setCurrentIndex(list(self.views.values()).index(view))
        answered = self.desk.answer is not None or not needs
        usable = self.body.show_state(self.problem_text, self.find_missing_input(), answered=answered)
        if usable:
            self.show_view()
        if usable and needs and self.needs_verdict():
            self.verdict.request()
        else:
            self.verdict.clear_verdict()
        self.set_usable(usable=usable)
        # New content can need other heights than at the layout before: else it would be painted twice.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest)

    # Commands

    def describe_copy(self) -> str:
        return tr("Copy as picture and as spreadsheet data")

    def copy(self) -> None:
        """Copy a picture of the view, and the numbers of its charts."""
        copy_to_clipboard(list(self.view.charts), self.view.grab())

    def show_table(self) -> ChartDataDialog:
        """Show the numbers of the focused chart, else of the first, in a table."""
        focused = QApplication.focusWidget()
        charts = (chart for chart in self.view.charts if isinstance(chart, QWidget))
        at = next((chart for chart in charts if focused and (chart is focused or chart.isAncestorOf(focused))), None)
        return show_data_table(at or self.view.charts[0])

    def focus_content(self) -> None:
        self.view.focus_first()

    def _can_show_charts(self) -> bool:
        return self.body.usable and not self.body.isHidden()

    def list_page_actions(self) -> list[ActionSpec]:
        """Return the page's commands: each view, and those of its charts."""
        section, names = self.menu_section, self.name_chart_commands()
        actions = make_view_actions(self.page_id, self.title(), self._texts, self.choose_view, section)
        if names is not None:
            table, copied = names
            make = partial(ActionSpec, enabled=self._can_show_charts)
            view, edit = partial(make, menu=MenuId.VIEW), partial(make, menu=MenuId.EDIT, section=section)
            actions += [
                view(f"{self.page_id}.table", table, self.show_table, "table-2", ("Alt+T",), section=section + 1),
                edit(f"{self.page_id}.copy", copied, self.copy, "copy", ("Ctrl+Shift+C",)),
            ]
        return actions
