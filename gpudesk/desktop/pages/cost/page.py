"""The page Cost: what tokens cost, owned and rented, what moves that, and what is assumed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QStackedLayout, QVBoxLayout, QWidget

from gpudesk import paths
from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.charts import commands
from gpudesk.desktop.pages.cost.assumptions_view import AssumptionsView
from gpudesk.desktop.pages.cost.cases_view import CasesView
from gpudesk.desktop.pages.cost.costed import costed
from gpudesk.desktop.pages.cost.questions import DrawsView, RentView, TokensView
from gpudesk.desktop.pages.cost.views import CostView, Overview
from gpudesk.desktop.pages.page import Page, chart_actions, view_actions
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.answer_stack import AnswerStack
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.ground import fill
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.page_head import PageHead
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.domain.comparison import part_of
from gpudesk.domain.messages import InputError
from gpudesk.sentences import problem
from gpudesk.text import tr

_SECTION: Final = 54
_VIEW: Final = "cost.view"
_FOLDER: Final = "cost.folder"
_MAKERS: Final[dict[str, Callable[[Desk, Theme], CostView]]] = {
    "overview": Overview,
    "tokens": TokensView,
    "rent": RentView,
    "draws": DrawsView,
    "cases": CasesView,
    "assumptions": AssumptionsView,
}


class CostPage(Page):
    """Shows the view that was chosen last; the others are made when they are asked for."""

    page_id = "cost"
    needs_curves = True

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer."""
        super().__init__(desk, theme, settings, parent)
        self.setAccessibleName(tr("Cost"))
        self._views: dict[str, CostView] = {}
        self.cash_flow = Button(theme, tr("Cash flow…"), icon="file-down")
        self.cash_flow.setToolTip(tr("Save costs month by month as a workbook with live formulas"))
        self.cash_flow.clicked.connect(self.save_cash_flow)
        self.head = PageHead(theme, tr("Cost"), self._segments(), (self.cash_flow,))
        self.said = Label(theme, font="small", colour="text2")
        self.said.hide()
        self.head.add_below(self.said)
        self.head.copy.setToolTip(tr("Copy the charts as a picture, and their numbers for a spreadsheet"))
        self.head.copy.clicked.connect(self.copy)
        self.head.segment.chosen.connect(self.choose_view)
        content = QWidget()
        self._shown = QStackedLayout(content)
        self.body = AnswerStack(theme, content)
        self.body.wanted.connect(self.wanted)
        self._build()
        theme.follow(self._dress)
        chosen = settings.get(_VIEW, "overview")
        self.choose_view(chosen if chosen in _MAKERS else "overview")

    @staticmethod
    def _segments() -> tuple[tuple[str, str], ...]:
        return (
            ("overview", tr("Overview")),
            ("tokens", tr("Per token")),
            ("rent", tr("Rent or buy")),
            ("draws", tr("Monte Carlo")),
            ("cases", tr("Printed cases")),
            ("assumptions", tr("Assumptions")),
        )

    def _build(self) -> None:
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.head)
        whole.addWidget(self.body, 1)

    def _dress(self) -> None:
        fill(self, self.theme.colour("page"))

    # Views

    @property
    def view(self) -> CostView:
        """The view that is shown."""
        return self._views[self._chosen]

    def choose_view(self, key: str) -> None:
        """Show a view, and begin with it the next time."""
        self._chosen = key
        self.settings.put(_VIEW, key)
        self.head.segment.set_value(key)
        if key not in self._views:
            view = self._views[key] = _MAKERS[key](self.desk, self.theme)
            view.chosen.connect(self._choose)
            view.price_wanted.connect(self._ask_for_price)
            scroll = ScrollArea()
            scroll.show_widget(view)
            self._shown.addWidget(scroll)
        self._shown.setCurrentIndex(list(self._views).index(key))
        if self.isVisible():
            self.refresh()

    def _choose(self, key: str) -> None:
        self.view.choose(key)
        self.refresh()

    def _ask_for_price(self, key: str) -> None:
        """Show the field in which the price of an accelerator is stated."""
        self.choose_view("assumptions")
        if isinstance(self.view, AssumptionsView):
            self.view.focus_price(part_of(key))

    # Showing

    def refresh(self) -> None:
        """Show the costs of the desk's answer, or what is missing."""
        desk = self.desk
        found = costed(desk)
        shown = self.body.show_state(self.problem_text, desk.missing, answered=found is not None)
        if shown and found is not None:
            self.view.show_costs(found)
        for control in (self.head.segment, self.head.copy, self.cash_flow):
            control.setEnabled(shown)

    # Commands

    def copy(self) -> None:
        """Copy the charts that are shown, and their numbers."""
        commands.copy(list(self.view.charts), self.view.grab())

    def save_cash_flow(self) -> None:
        """Ask for a file, and write what is paid month by month as a workbook with live formulas."""
        if self.desk.answer is None:
            return
        folder = Path(self.settings.get(_FOLDER, str(paths.home_dir())))
        chosen, _ = QFileDialog.getSaveFileName(
            self, tr("Save the cash flow"), str(folder / "cash-flow.xlsx"), tr("Workbook (*.xlsx)")
        )
        if chosen:
            target = Path(chosen)
            self.write_cash_flow(target if target.suffix else target.with_suffix(".xlsx"))

    def write_cash_flow(self, target: Path) -> None:
        """Write the workbook, and say so or what stood in the way."""
        from gpudesk.sheets.cash_flow import cash_flow_workbook
        from gpudesk.sheets.dates import today
        from gpudesk.workbench.files import write_atomically

        answer = self.desk.answer
        if answer is None:
            return
        found = self.desk.workbench.costs(answer)
        names = dict(zip(self.desk.keys, self.desk.names, strict=True))
        title, revision = answer.scenario.name, answer.catalog_revision[:8]
        book = cash_flow_workbook(found, names, title=title, revision=revision, made_on=today())
        try:
            write_atomically(target, book)
        except InputError as error:
            text = problem(error, self.desk.formatter)
            self.said.set_colour("unfit")
        else:
            self.settings.put(_FOLDER, str(target.absolute().parent))
            text = tr("Saved: {file}", file=str(target))
            self.said.set_colour("text2")
        self.said.setText(text)
        self.said.show()

    def focus_content(self) -> None:
        """Give the focus to the first chart."""
        first = self.view.charts[0]
        if isinstance(first, QWidget):
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_of_page(self) -> list[ActionSpec]:
        """Return the page's commands: each view, and what a chart can be asked for."""
        views = view_actions("cost", tr("Cost"), self._segments(), self.choose_view, _SECTION)

        def usable() -> bool:
            return self.body.usable

        table = (tr("Show cost as table"), lambda: commands.show_table(self.view.current_chart()))
        copied = (tr("Copy costs"), self.copy)
        saved = ActionSpec(
            "cost.cash_flow",
            tr("Save the cash flow…"),
            self.save_cash_flow,
            Menu.FILE,
            2,
            "file-down",
            enabled=usable,
        )
        return [*views, *chart_actions("cost", _SECTION, table, copied, usable), saved]
