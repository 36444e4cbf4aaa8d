"""The Decide page: the questions, the recommendation, and changes that would alter it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtWidgets import QApplication, QWidget

from gpudesk.desktop.pages.decide.parts import DecideView
from gpudesk.desktop.pages.decide.questions_view import QuestionsView
from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec, load_view
from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import FullWidthScrollArea
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.paths import MissingFileError
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import tr

QUESTIONS, RESULT = "questions", "result"
BUYING, RECORD = "buying", "record"


def _load_view(path: str, *arguments: object) -> Callable[[Desk, Theme], DecideView]:
    """Return the factory of a view in this folder."""
    module, _, class_name = path.rpartition(".")
    return load_view(f"{__package__}.{module}", class_name, *arguments)


#: Minimum interval of decisions during a drag: one takes as long as a frame.
_FOLLOWS_MS: Final = 33


class DecidePage(MultiViewPage[DecideView]):
    """Decides the desk's answer: the dialogue first, then the recommendation."""

    page_id = "decide"
    menu_section = 56

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(desk, theme, settings, parent)
        self._follower = make_delay(self, _FOLLOWS_MS, self._follow)
        desk.gesture_changed.connect(self._gesture_changed)

    def title(self) -> str:
        return tr("Decide")

    def view_specs(self) -> Sequence[PageViewSpec[DecideView]]:
        terms = _load_view("purchasing.terms_view.TermsView", self.settings)
        return (
            PageViewSpec(QUESTIONS, tr("Questions"), QuestionsView),
            PageViewSpec(RESULT, tr("Recommendation"), _load_view("result_view.ResultView")),
            PageViewSpec("sets", tr("Answer sets"), _load_view("sets_view.AnswerSetsView")),
            PageViewSpec("factors", tr("Factors"), _load_view("factors_view.FactorsView")),
            PageViewSpec("timing", tr("Buy or wait"), _load_view("purchasing.deferral_view.DeferralView")),
            PageViewSpec("vendors", tr("Two vendors"), _load_view("purchasing.vendors_view.VendorsView")),
            PageViewSpec(BUYING, tr("Export and terms"), terms),
            PageViewSpec(RECORD, tr("References"), _load_view("record_view.RecordView")),
        )

    # Views

    def make_view(self, key: str, theme: Theme) -> DecideView:
        view = super().make_view(key, theme)
        view.view_requested.connect(self._show_wanted)
        view.page_requested.connect(self.page_requested)
        view.sheet_requested.connect(self.preview_requested)
        return view

    def make_scroll_area(self, view: DecideView) -> FullWidthScrollArea | None:
        return super().make_scroll_area(view) if view.scrolls else None

    def refresh(self) -> None:
        """Show the desk's answer; during a gesture the latest one, in a separate event."""
        if not self.desk.in_gesture:
            self._follower.stop()
            super().refresh()
        elif not self._follower.isActive():
            self._follower.start()

    def _follow(self) -> None:
        if self.isVisible():
            super().refresh()
        else:
            self._stale = True

    def _gesture_changed(self) -> None:
        if self._follower.isActive() and not self.desk.in_gesture:
            self._follower.stop()
            self._follow()

    def show_view(self) -> None:
        try:
            if self.desk.evaluated is not None:
                if self.view.needs_decision:
                    # Before the view is touched: this fails if rules cannot be read.
                    _ = self.desk.evaluated.decision
                self.view.show_decision(self.desk.evaluated)
        except (InputError, MissingFileError) as error:
            text = format_input_error(error, self.desk.formatter) if isinstance(error, InputError) else str(error)
            self.body.show_state(text, None, answered=False)

    def propose_selection(self) -> Selection | None:
        return self.view.propose_selection()

    def _show_wanted(self, key: str) -> None:
        """Show another view, and focus it: the former focus is hidden."""
        self.choose_view(key)
        self.view.focus_first()

    # Commands

    def describe_copy(self) -> str:
        return tr("Copy view as text")

    def copy(self) -> None:
        text = self.view.copied()
        if text:
            QApplication.clipboard().setText(text)

    def focus_content(self) -> None:
        if self.body.usable:
            self.view.focus_first()
        else:
            super().focus_content()

    def list_page_actions(self) -> list[ActionSpec]:
        """Return each view, the dialogue steps, which are disabled in other views, and the copy commands."""

        def is_usable() -> bool:
            return self.body.usable

        def is_asking() -> bool:
            return self.body.usable and isinstance(self.views.get(self.view_key), QuestionsView)

        def step(by: int) -> None:
            if isinstance(self.view, QuestionsView):
                self.view.step(by)

        view = partial(ActionSpec, menu=MenuId.VIEW, section=self.menu_section + 1, enabled=is_usable)
        edit = partial(ActionSpec, menu=MenuId.EDIT, section=self.menu_section, enabled=is_usable)
        file = partial(ActionSpec, menu=MenuId.FILE, section=2, enabled=is_usable)
        turn, result = partial(view, enabled=is_asking), partial(self._show_wanted, RESULT)
        return [
            *super().list_page_actions(),
            turn("decide.next", tr("Next question"), lambda: step(1), "arrow-right", ("Alt+Right",)),
            turn("decide.back", tr("Previous question"), lambda: step(-1), "arrow-left", ("Alt+Left",)),
            view("decide.recommend", tr("Show recommendation"), result, "signpost"),
            edit("decide.copy", tr("Copy decision"), self.copy, "copy", ("Ctrl+Shift+C",)),
            file("decide.negotiation", tr("Save negotiation sheet…"), self._save_negotiation, "file-down"),
        ]

    def _save_negotiation(self) -> None:
        self._show_wanted(BUYING)
        self.view.ask_and_save()
