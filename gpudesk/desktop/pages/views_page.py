"""What pages with several views have in common: a head to choose by, and one view below it at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from gpudesk.desktop.actions import ActionSpec
from gpudesk.desktop.pages.page import Page, view_actions
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.answer_stack import AnswerStack
from gpudesk.desktop.widgets.ground import fill
from gpudesk.desktop.widgets.page_head import PageHead
from gpudesk.desktop.widgets.scroll_area import ScrollArea

V = TypeVar("V", bound=QWidget)


class ViewSpec(NamedTuple, Generic[V]):
    """A view of a page: its key in settings and actions, what it is called, and what makes it."""

    key: str
    text: str
    make: Callable[[Desk, Theme], V]


class ViewsPage(Page, Generic[V]):
    """Begins with the view that was chosen last; each view is made when it is first shown.

    Subclasses set `page_id` and `menu_section`, and write `title`, `view_specs` and `show_view`; what they do
    otherwise than most, they override. The constructor calls `title`, `view_specs` and `make_head` only.
    """

    #: Where the page's actions stand in their menus.
    menu_section = 0

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer, and make no view yet."""
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(self.title())
        self._specs = {spec.key: spec for spec in self.view_specs()}
        self._texts = [(spec.key, spec.text) for spec in self._specs.values()]
        #: The views that were made so far, by key.
        self.views: dict[str, V] = {}
        self.head = self.make_head(self._texts)
        self.head.segment.chosen.connect(self.choose_view)
        content = QWidget()
        self._shown = QStackedLayout(content)
        self.body = AnswerStack(theme, content)
        self.body.wanted.connect(self.wanted)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.head)
        whole.addWidget(self.body, 1)
        theme.follow(self._dress)
        first = next(iter(self._specs))
        last = settings.get(self._setting, first)
        self.choose_view(last if last in self._specs else first)

    @property
    def _setting(self) -> str:
        return f"{self.page_id}.view"

    def _dress(self) -> None:
        grounds: list[QWidget] = [self, *self.views.values()]
        for widget in grounds:
            fill(widget, self.theme.colour("page"))

    # What a page gives

    def title(self) -> str:
        """Return what the page is called."""
        raise NotImplementedError

    def view_specs(self) -> Sequence[ViewSpec[V]]:
        """Return the views in the order in which they are offered; the first is shown at first."""
        raise NotImplementedError

    def show_view(self) -> None:
        """Let the view that is shown show what the desk has now; called only while the page is visible."""
        raise NotImplementedError

    # What a page may do otherwise

    def make_head(self, views: Sequence[tuple[str, str]]) -> PageHead:
        """Return the head, which offers views as (key, text)."""
        return PageHead(self.theme, self.title(), views)

    def make_view(self, key: str) -> V:
        """Return a new view, connected to the page."""
        return self._specs[key].make(self.desk, self.theme)

    def framed(self, view: V) -> QWidget:
        """Return what a new view is put on the page in: a scroll area of its own, or the view itself."""
        scroll = ScrollArea()
        scroll.show_widget(view)
        return scroll

    def needs_answer(self) -> bool:
        """Whether the view that is chosen says nothing without an answer."""
        return True

    def set_usable(self, *, usable: bool) -> None:
        """Let the controls of the head be used, or not because the view cannot be shown."""
        for control in (self.head.segment, self.head.copy):
            control.setEnabled(usable)

    # What a page gets

    @property
    def view(self) -> V:
        """The view that is chosen, made when it is first asked for."""
        key = self.view_key
        if key not in self.views:
            self.views[key] = self.make_view(key)
            self._shown.addWidget(self.framed(self.views[key]))
            self._dress()
        return self.views[key]

    def choose_view(self, key: str) -> None:
        """Show a view, and begin with it the next time."""
        self.view_key = key
        self.settings.put(self._setting, key)
        self.head.segment.set_value(key)
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def refresh(self) -> None:
        """Show the view that is chosen, or what the scenario lacks for it."""
        desk, view, needs = self.desk, self.view, self.needs_answer()
        # Before the content is seen, so that no other view is shown for a moment.
        self._shown.setCurrentIndex(list(self.views.values()).index(view))
        missing = desk.missing if needs else None
        answered = desk.answer is not None or not needs
        usable = self.body.show_state(self.problem_text, missing, answered=answered)
        if usable:
            self.show_view()
        self.set_usable(usable=usable)

    def actions_of_page(self) -> list[ActionSpec]:
        """Return an action for each view."""
        return view_actions(self.page_id, self.title(), self._texts, self.choose_view, self.menu_section)
