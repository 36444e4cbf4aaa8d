"""The Cost page: cost of tokens, what drives it, and the assumptions behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.pages.cost.assumptions import AssumptionsView
from gpudesk.desktop.pages.cost.views import (
    CostOverview,
    CostView,
    PublishedCasesView,
    RentOrBuyView,
    SimulationView,
    TokenCostView,
)
from gpudesk.desktop.pages.page import MultiViewPage, PageViewSpec, make_chart_actions
from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.settings import UserSettings, get_folder
from gpudesk.desktop.ui.charts import chart_data
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button
from gpudesk.desktop.ui.widgets.labels import ThemedLabel
from gpudesk.desktop.ui.widgets.page_frame import PageHeader
from gpudesk.desktop.ui.widgets.qt_support import ask_save_path
from gpudesk.domain.answer import get_accelerator_id
from gpudesk.report.comparison.verdicts import describe_cost_terms, describe_payback, describe_token_cost
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import tr

_FOLDER: Final = "cost.folder"


class CostPage(MultiViewPage[CostView]):
    """What the desk's answer costs: all at a glance, or one question."""

    page_id = "cost"
    menu_section = 54
    has_verdict = True
    needs_curves = True

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        self.cash_flow = Button(theme, tr("Cash flow…"), icon="file-down")
        super().__init__(desk, theme, settings, parent)
        self.cash_flow.setToolTip(tr("Save monthly costs as a spreadsheet with formulas"))
        self.cash_flow.clicked.connect(self.save_cash_flow)
        self.status_label = ThemedLabel(theme, font="small", colour="text2")
        self.status_label.hide()
        self.head.add_below(self.status_label)
        self.head.copy.setToolTip(tr("Copy as picture and as spreadsheet data"))
        self.head.copy.clicked.connect(self.copy)

    def title(self) -> str:
        return tr("Cost")

    def view_specs(self) -> Sequence[PageViewSpec[CostView]]:
        return (
            PageViewSpec("overview", tr("Overview"), CostOverview),
            PageViewSpec("tokens", tr("Per token"), TokenCostView),
            PageViewSpec("rent", tr("Rent or buy"), RentOrBuyView),
            PageViewSpec("draws", tr("Monte Carlo"), SimulationView),
            PageViewSpec("cases", tr("Published cases"), PublishedCasesView),
            PageViewSpec("assumptions", tr("Assumptions"), AssumptionsView),
        )

    def make_head(self, views: Sequence[tuple[str, str]]) -> PageHeader:
        return PageHeader(self.theme, self.title(), views, (self.cash_flow,))

    def set_usable(self, *, usable: bool) -> None:
        super().set_usable(usable=usable)
        self.cash_flow.setEnabled(usable)

    # Views

    def make_view(self, key: str, theme: Theme) -> CostView:
        view = super().make_view(key, theme)
        view.chosen.connect(self._choose)
        view.price_wanted.connect(self._ask_for_price)
        return view

    def show_view(self) -> None:
        if self.desk.evaluated is not None:
            self.view.show_costs(self.desk.evaluated)

    def describe_verdict(self) -> str:
        evaluated = self.desk.evaluated
        if evaluated is None:
            return ""
        describe = describe_payback if self.view_key == "rent" else describe_token_cost
        return describe(evaluated.answer_with_costs, self.desk.formatter)

    def describe_terms(self) -> str:
        evaluated = self.desk.evaluated
        return "" if evaluated is None else describe_cost_terms(evaluated.answer_with_costs, self.desk.formatter)

    def _choose(self, key: str) -> None:
        self.view.choose(key)
        self.refresh()

    def focus_column(self, key: str) -> None:
        self._ask_for_price(key)

    def _ask_for_price(self, key: str) -> None:
        self.choose_view("assumptions")
        if isinstance(self.view, AssumptionsView):
            self.view.focus_price(get_accelerator_id(key))

    # Commands

    def copy(self) -> None:
        chart_data.copy_to_clipboard(list(self.view.charts), self.view.grab())

    def save_cash_flow(self) -> None:
        if self.desk.answer is None:
            return
        proposed = get_folder(self.settings, _FOLDER) / "cash-flow.xlsx"
        target = ask_save_path(self, tr("Save cash flow"), proposed, [(tr("Excel workbook"), ".xlsx")])
        if target is not None:
            self.write_cash_flow(target)

    def write_cash_flow(self, target: Path) -> None:
        from gpudesk.documents.scenario_file import make_title
        from gpudesk.files import write_atomically
        from gpudesk.report.cash_flow import build_cash_flow_workbook
        from gpudesk.report.labels import get_today

        evaluated = self.desk.evaluated
        if evaluated is None:
            return
        answer = evaluated.answer
        title = make_title(answer.scenario, self.desk.service.catalog)
        revision = answer.catalog_revision[:8]
        book = build_cash_flow_workbook(
            evaluated.full_costs, evaluated.names, title=title, revision=revision, made_on=get_today()
        )
        try:
            write_atomically(target, book)
        except InputError as error:
            text = format_input_error(error, self.desk.formatter)
            self.status_label.set_colour("unfit")
        else:
            self.settings.put(_FOLDER, str(target.absolute().parent))
            text = tr("Saved: {file}", file=str(target))
            self.status_label.set_colour("text2")
        self.status_label.setText(text)
        self.status_label.show()

    def focus_content(self) -> None:
        first = self.view.charts[0]
        if isinstance(first, QWidget):
            first.setFocus(Qt.FocusReason.OtherFocusReason)

    def actions_of_page(self) -> list[ActionSpec]:
        """Return the page's commands: each view, and what a chart can be asked for."""

        def usable() -> bool:
            return self.body.usable

        table = (tr("Show cost table"), lambda: chart_data.show_data_table(self.view.current_chart()))
        copied = (tr("Copy costs"), self.copy)
        saved = ActionSpec(
            "cost.cash_flow", tr("Save cash flow…"), self.save_cash_flow, MenuId.FILE, 2, "file-down", enabled=usable
        )
        charts = make_chart_actions(self.page_id, self.menu_section, table, copied, usable)
        return [*super().actions_of_page(), *charts, saved]
