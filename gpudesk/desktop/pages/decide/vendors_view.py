"""The view Two vendors: requests of two kinds over two of the columns, what each plan takes and costs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QHideEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from gpudesk.desktop.charts.commands import context_menu, menu_position
from gpudesk.desktop.charts.data_table import Data
from gpudesk.desktop.pages.decide.decided import Decided
from gpudesk.desktop.pages.decide.plan_job import PlanJob
from gpudesk.desktop.pages.decide.result_parts import Said, SaidList
from gpudesk.desktop.pages.decide.vendors_cells import PlanTable, plan_table
from gpudesk.desktop.pages.decide.vendors_form import VendorFacts, VendorsForm
from gpudesk.desktop.pages.decide.vendors_table import PlansTable
from gpudesk.desktop.pages.decide.views import DecideView
from gpudesk.desktop.session.deciding import with_plan
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.ground import Rule
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError
from gpudesk.domain.questions import AnswerValue
from gpudesk.domain.routing import Routing
from gpudesk.sentences import sentence
from gpudesk.sheets.money import Money
from gpudesk.sheets.routing_words import (
    beyond_text,
    mix_text,
    mixing_text,
    ranking_text,
    routing_notes,
    shared_pool_lines,
)
from gpudesk.text import tr
from gpudesk.workbench.deciding.plan_inputs import WHERE, split_positions

_MARGIN, _LEAST = 16.0, 300.0
_BESIDE: Final = 720.0


class VendorsView(DecideView):
    """Edits the document's inputs of the plans; they are worked out beside the window."""

    def __init__(self, desk: Desk, theme: Theme, parent: QWidget | None = None) -> None:
        """Make form, table and lists; they are empty."""
        super().__init__(desk, theme, parent)
        self.found: Routing | None = None
        self._decided: Decided | None = None
        self.formatter = desk.formatter
        self.setAccessibleName(tr("Two vendors"))
        self.form = VendorsForm(theme, desk.formatter.style, self)
        self.form.stated.connect(self._state)
        self.problem = Label(theme, colour="unfit", wrap=True, parent=self)
        self.problem.hide()
        self.working = Label(theme, font="small", colour="text2", parent=self)
        self.working.hide()
        self.result = QWidget(self)
        self.result.hide()
        self.mix = Label(theme, font="small", colour="text2", wrap=True, parent=self.result)
        self.title = Label(theme, tr("Plans"), font="section", parent=self.result)
        self.subtitle = Label(theme, font="small", colour="text3", wrap=True, parent=self.result)
        self.table = PlansTable(theme, self.result)
        self.ranks = SaidList(theme, parent=self.result)
        self.beyond = SaidList(theme, tr("What a split costs"), self.result)
        self.shared = SaidList(theme, tr("One shared pool"), self.result)
        self.mixing = SaidList(theme, tr("What documents say of mixing"), self)
        self.notes = SaidList(theme, tr("What this rests on"), self.result)
        self.job = PlanJob(desk, self)
        self.job.found.connect(self._done)
        self.job.failed.connect(self._failed)
        self.job.working.connect(self._tell)
        self._lay_out()

    def _lay_out(self) -> None:
        px = self.theme.px
        margin = px(_MARGIN)
        upper, lower, found = QVBoxLayout(), QVBoxLayout(), QVBoxLayout(self.result)
        upper.setContentsMargins(margin - px(8), 0, margin, px(8))
        upper.addWidget(self.form)
        found.setContentsMargins(0, 0, 0, 0)
        found.setSpacing(px(6))
        head = QHBoxLayout()
        head.setSpacing(px(10))
        head.addWidget(self.title)
        head.addWidget(self.subtitle, 1)
        found.addLayout(head)
        found.addWidget(self.mix)
        found.addWidget(self.table)
        found.addWidget(self.ranks)
        self._pair = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._pair.setSpacing(px(24))
        for block in (self.beyond, self.shared):
            self._pair.addWidget(block, 1, Qt.AlignmentFlag.AlignTop)
        found.addSpacing(px(8))
        found.addLayout(self._pair)
        found.addSpacing(px(8))
        found.addWidget(self.notes)
        lower.setContentsMargins(margin, px(10), margin, margin)
        lower.setSpacing(px(8))
        lower.addWidget(self.problem)
        lower.addWidget(self.working)
        lower.addWidget(self.result)
        lower.addSpacing(px(6))
        lower.addWidget(self.mixing)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(0)
        whole.addLayout(upper)
        whole.addWidget(Rule(self.theme, self))
        whole.addLayout(lower)
        whole.addStretch(1)

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Give way in width, so that blocks come to stand below one another."""
        return QSize(self.theme.px(_LEAST), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Put lists below one another where they have no room side by side."""
        super().resizeEvent(event)
        beside = event.size().width() >= self.theme.px(_BESIDE)
        way = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._pair.setDirection(way)

    # Asking

    def show_decision(self, found: Decided) -> None:
        """Work out the plans of a decision's scenario."""
        self._decided = found
        self._show_mixing()
        scenario, workbench = found.answer.scenario, self.desk.workbench
        try:
            self._keys()
        except InputError as error:
            self._failed(error)
            return
        self._show_form()
        self.job.ask((found.answer,), lambda: workbench.beside.routing_steps(scenario))

    def _keys(self) -> tuple[str, str]:
        """Return the columns that share the requests; raises `InputError` where there are no two parts."""
        decided, catalog = self._decided, self.desk.workbench.catalog
        assert decided is not None
        pair = split_positions(decided.answer.scenario, lambda part: catalog.accelerator(part).vendor)
        return decided.keys[pair[0]], decided.keys[pair[1]]

    def _done(self, found: Routing) -> None:
        self.found = found
        self.problem.hide()
        self.form.setEnabled(True)
        self._show_form()
        self._show_found()
        self.result.show()

    def _failed(self, error: InputError) -> None:
        """Say why there are no plans, at the input that is wrong where it is one of the form."""
        self.found = None
        self.result.hide()
        said = sentence(error.problem, self.formatter)
        said = f"{said[:1].upper()}{said[1:]}"
        self.problem.setText(said)
        self.problem.show()
        try:
            self._show_form()
        except InputError:
            self.form.setEnabled(False)
            return
        self.form.set_fault((error.where or "").removeprefix(f"{WHERE}."), said)

    def _tell(self, text: str) -> None:
        self.working.setText(f"{text}…" if text else "")
        self.working.setVisible(bool(text))

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Work out nothing that nobody looks at."""
        super().hideEvent(event)
        self.job.rest(wait=not self.window().isVisible())

    # Showing

    def _show_form(self) -> None:
        decided, catalog = self._decided, self.desk.workbench.catalog
        if decided is None:
            return
        models = catalog.models()
        keys = self._keys()
        self.form.setEnabled(True)
        self.form.set_fault("", "")
        self.form.set_models(models)
        self.form.show_facts(
            VendorFacts(
                scenario=decided.answer.scenario,
                keys=keys,
                columns=decided.names,
                models={model.id: model.name for model in models},
                found=self.found,
            )
        )

    def _show_found(self) -> None:
        found, decided = self.found, self._decided
        if found is None or decided is None:
            return
        formatter = self.formatter
        self.subtitle.setText(self._unit(found))
        self.mix.setText(mix_text(found, formatter, self._models(found)))
        self.table.show_table(self._table(formatter))
        self.ranks.show_lines([Said(*rank) for rank in self._ranks()])
        self.beyond.show_lines([Said("plus", "text2", text) for text in self._beyond()])
        shared = shared_pool_lines(found, formatter)
        marks = ("triangle-alert", "equal")
        self.shared.show_lines([Said(mark, "text2", text) for mark, text in zip(marks, shared, strict=False)])
        self.notes.show_lines([Said("info", "text2", note) for note in routing_notes(found, formatter)])
        self.result.setAccessibleName(". ".join(text for _, _, text in self._ranks()))

    def _unit(self, found: Routing) -> str:
        years = self.formatter.stated(found.years)
        return tr(
            "accelerators; costs of {years} years, thousand {code}", years=years, code=self._money().code
        )

    def _money(self) -> Money:
        decided = self._decided
        currency = None if decided is None else decided.answer.scenario.costs.currency
        return Money(self.formatter, currency)

    def _models(self, found: Routing) -> dict[str, str] | None:
        """Return the names of the models, where there is more than one."""
        used = {kind.model for kind in found.classes}
        if len(used) < len(found.classes):
            return None
        return {model: self.desk.workbench.catalog.model(model).name for model in used}

    def _table(self, formatter: Formatter) -> PlanTable:
        found, decided = self.found, self._decided
        if found is None or decided is None:
            return PlanTable()
        money = Money(formatter, decided.answer.scenario.costs.currency)
        return plan_table(found, decided.names, decided.slots, decided.hollow, money, formatter)

    def _ranks(self) -> Iterator[tuple[str, str, str]]:
        found, decided = self.found, self._decided
        if found is None or decided is None:
            return
        for paid, ranking in ((tr("Owned"), found.owned), (tr("Rented"), found.rented)):
            text = ranking_text(ranking, found, decided.names)
            mark, colour = ("minus", "text3") if ranking is None else ("overlap", "best_text")
            if ranking is not None and ranking.decided:
                mark = "best"
            yield mark, colour, tr("{paid}: {text}", paid=paid, text=text)

    def _beyond(self) -> list[str]:
        """Return what splits cost beyond one vendor: owned, or rented where a price is missing."""
        found, decided = self.found, self._decided
        if found is None or decided is None:
            return []
        ranking = found.owned or found.rented
        if ranking is None:
            return []
        money = self._money()
        paid = tr("Owned") if ranking is found.owned else tr("Rented")
        texts = [beyond_text(each, found, decided.names, money) for each in ranking.beyond]
        return [tr("{paid}: {text}", paid=paid, text=text) for text in texts]

    def _show_mixing(self) -> None:
        """Show what documents say, with their dates, and how it goes together."""
        workbench = self.desk.workbench
        rules = workbench.beside.rules_on_mixing()
        lines = [Said("book-open", "text2", text) for text in map(mixing_text, rules)]
        disputes = {each for rule in rules for each in rule.disputes}
        lines += [
            Said("scale", "disputed", tr("{id}: {verdict}", id=each.id, verdict=each.verdict))
            for each in workbench.catalog.disputes()
            if each.id in disputes and each.verdict
        ]
        self.mixing.show_lines(lines)

    # Editing the document

    def _state(self, inputs: dict[str, AnswerValue | None], step: str) -> None:
        scenario = self.desk.scenario
        for name, value in inputs.items():
            scenario = with_plan(scenario, name, value)
        self.desk.apply(scenario, step)

    # What the page and charts ask

    def data(self, formatter: Formatter) -> Data:
        """Return the table of plans."""
        table = self._table(formatter)
        columns = table.columns()
        heads = (tr("Plan"), *(head for head, _ in columns))
        rows = tuple(
            (line.name, *(cells[number] for _, cells in columns)) for number, line in enumerate(table.lines)
        )
        code = self._money().code
        return Data(tr("Plans for two parts, costs in thousand {code}", code=code), heads, rows)

    def copied(self) -> str:
        """Return plans and what is said of them as text."""
        found = self.found
        lines = [self.mix.text(), *(text for _, _, text in self._ranks()), *self._beyond()]
        lines += shared_pool_lines(found, self.formatter) if found is not None else ()
        lines += self.mixing.texts
        table = "" if found is None else self.data(self.formatter).tab_separated()
        return table + "".join(f"{line}\n" for line in lines if line)

    def focus_first(self) -> None:
        """Give the focus to the first part."""
        self.form.fields["vendor_a"].setFocus(Qt.FocusReason.OtherFocusReason)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:  # noqa: N802 - Qt's name
        """Offer picture, numbers and table."""
        if self.found is not None:
            context_menu(self, self, []).popup(menu_position(event, self))
