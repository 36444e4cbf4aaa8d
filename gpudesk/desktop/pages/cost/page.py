"""The page Cost: what tokens cost, owned and rented, what moves that, and what is assumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from gpudesk import paths
from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.charts import commands
from gpudesk.desktop.pages.cost.assumptions_view import AssumptionsView
from gpudesk.desktop.pages.cost.cases_view import CasesView
from gpudesk.desktop.pages.cost.costed import costed
from gpudesk.desktop.pages.cost.questions import DrawsView, RentView, TokensView
from gpudesk.desktop.pages.cost.views import CostView, Overview
from gpudesk.desktop.pages.page import chart_actions
from gpudesk.desktop.pages.views_page import ViewsPage, ViewSpec
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.page_head import PageHead
from gpudesk.domain.comparison import part_of
from gpudesk.domain.messages import InputError
from gpudesk.sentences import problem
from gpudesk.text import tr

_FOLDER: Final = "cost.folder"


class CostPage(ViewsPage[CostView]):
    """What the desk's answer costs: all at a glance, or one question."""

    page_id = "cost"
    menu_section = 54
    needs_curves = True

    def __init__(self, desk: Desk, theme: Theme, settings: Settings, parent: QWidget | None = None) -> None:
        """Show nothing until there is an answer."""
        self.cash_flow = Button(theme, tr("Cash flow…"), icon="file-down")
        super().__init__(desk, theme, settings, parent)
        self.cash_flow.setToolTip(tr("Save costs month by month as a workbook with live formulas"))
        self.cash_flow.clicked.connect(self.save_cash_flow)
        self.said = Label(theme, font="small", colour="text2")
        self.said.hide()
        self.head.add_below(self.said)
        self.head.copy.setToolTip(tr("Copy the charts as a picture, and their numbers for a spreadsheet"))
        self.head.copy.clicked.connect(self.copy)

    def title(self) -> str:
        """Return what the page is called."""
        return tr("Cost")

    def view_specs(self) -> Sequence[ViewSpec[CostView]]:
        """Return the overview, a view for each question, and what is assumed."""
        return (
            ViewSpec("overview", tr("Overview"), Overview),
            ViewSpec("tokens", tr("Per token"), TokensView),
            ViewSpec("rent", tr("Rent or buy"), RentView),
            ViewSpec("draws", tr("Monte Carlo"), DrawsView),
            ViewSpec("cases", tr("Printed cases"), CasesView),
            ViewSpec("assumptions", tr("Assumptions"), AssumptionsView),
        )

    def make_head(self, views: Sequence[tuple[str, str]]) -> PageHead:
        """Return the head, with the button that saves the cash flow."""
        return PageHead(self.theme, self.title(), views, (self.cash_flow,))

    def set_usable(self, *, usable: bool) -> None:
        """Let the controls be used while there are costs."""
        super().set_usable(usable=usable)
        self.cash_flow.setEnabled(usable)

    # Views

    def make_view(self, key: str) -> CostView:
        """Return a new view, in which accelerators are chosen and prices asked for."""
        view = super().make_view(key)
        view.chosen.connect(self._choose)
        view.price_wanted.connect(self._ask_for_price)
        return view

    def show_view(self) -> None:
        """Show the costs of the desk's answer."""
        found = costed(self.desk)
        if found is not None:
            self.view.show_costs(found)

    def _choose(self, key: str) -> None:
        self.view.choose(key)
        self.refresh()

    def _ask_for_price(self, key: str) -> None:
        """Show the field in which the price of an accelerator is stated."""
        self.choose_view("assumptions")
        if isinstance(self.view, AssumptionsView):
            self.view.focus_price(part_of(key))

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
        charts = chart_actions(self.page_id, self.menu_section, table, copied, usable)
        return [*super().actions_of_page(), *charts, saved]
