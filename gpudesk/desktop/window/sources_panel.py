"""The panel at the right of the window, with the explanation of the selection."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QSplitter, QVBoxLayout, QWidget

from gpudesk.catalog.list_rows import compute_model_value
from gpudesk.catalog.user_store.edits import forget_inactive, revert_attribute
from gpudesk.desktop.session import selection as selections
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.jobs import Jobs
from gpudesk.desktop.session.scenario_edits import apply_remedy, free_counts
from gpudesk.desktop.session.selection import EditorKind, EditorRequest, Selection, SelectionKind
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.panel.blocks import LinkBlock, LinkCommand
from gpudesk.desktop.ui.panel.nodes import NodeBuilder, PanelNode, make_empty_nodes
from gpudesk.desktop.ui.panel.view import PanelView
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_row
from gpudesk.desktop.ui.widgets.qt_support import make_delay
from gpudesk.documents.settings_file import STALE_FACT_DAYS, STALE_PRICE_DAYS, make_age_rule
from gpudesk.domain.answer import AcceleratorChoice, ComparisonColumn, Scenario
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, StalenessLimits
from gpudesk.domain.decision import Decision
from gpudesk.domain.deployment_analysis import ComparableRun, DerivationTerm
from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.sizing import FitRemedy
from gpudesk.domain.user_facts import InactiveOverride
from gpudesk.paths import MissingFileError
from gpudesk.report.explanation.catalog_attribute import (
    add_catalog_facts,
    add_inactive_facts,
    explain_catalog_attribute,
)
from gpudesk.report.explanation.catalog_entry import (
    CatalogContext,
    explain_catalog_entry,
    explain_dispute,
    explain_price,
    explain_source,
    explain_statement,
)
from gpudesk.report.explanation.claims import format_explanation, format_working
from gpudesk.report.explanation.decision import DecisionContext, explain_option, explain_ruling
from gpudesk.report.explanation.figure import FigureEvidence, explain_attribute, explain_figure
from gpudesk.report.explanation.parts import CatalogAction, CatalogActionKind, Explanation
from gpudesk.report.labels import get_today
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

_EDITORS: Final = {
    CatalogActionKind.VALUE: EditorKind.VALUE,
    CatalogActionKind.TAKE: EditorKind.PREFERENCE,
    CatalogActionKind.SOURCE: EditorKind.SOURCE,
    CatalogActionKind.PRICE: EditorKind.PRICE,
}


def explain_catalog_selection(selection: Selection, view: CatalogContext) -> Explanation | None:
    """Explain a catalog selection; None if it no longer exists."""
    explain = {
        SelectionKind.PRICE: explain_price,
        SelectionKind.SOURCE: explain_source,
        SelectionKind.DISPUTE: explain_dispute,
        SelectionKind.STATEMENT: explain_statement,
    }
    try:
        if selection.kind is SelectionKind.CATALOG:
            explanation = explain_catalog_attribute(view, selection.thing, selection.name)
        elif selection.kind is SelectionKind.THING:
            explanation = explain_catalog_entry(view, selection.thing)
        else:
            explanation = explain[selection.kind](view, selection.name)
    except InputError:
        explanation = None
    return add_inactive_facts(explanation, _select_inactive_overrides(selection, view.facts.waiting), view)


def _select_inactive_overrides(
    selection: Selection, waiting: Iterable[InactiveOverride]
) -> tuple[InactiveOverride, ...]:
    if selection.kind is SelectionKind.PRICE:
        return tuple(each for each in waiting if each.price is not None and each.price.id == selection.name)
    if selection.kind not in (SelectionKind.CATALOG, SelectionKind.THING):
        return ()
    return tuple(each for each in waiting if each.concerns(selection.thing, selection.name or None))


def make_editor_request(offer: CatalogAction) -> EditorRequest:
    kind = _EDITORS[offer.kind]
    if kind is EditorKind.SOURCE:
        return EditorRequest(kind, source=offer.source)
    return EditorRequest(kind, offer.thing, offer.attribute, claim=offer.source, price=offer.price)


def forget_offer(offer: CatalogAction, desk: Desk) -> None:
    """Remove inactive facts of the user; raises `InputError` if that fails."""
    user_catalog, catalog = desk.service.user_catalog, desk.service.catalog
    place = selections.select_catalog_attribute(offer.thing or "", offer.attribute or "")
    if offer.price is not None:
        place = selections.select_catalog_price(offer.price)
    for each in _select_inactive_overrides(place, catalog.waiting)[:1]:
        user_catalog.do(forget_inactive(catalog, each))


def revert_offer(offer: CatalogAction, desk: Desk) -> None:
    """Remove all of the user's data on an attribute; raises `InputError` if that fails."""
    user_catalog, catalog = desk.service.user_catalog, desk.service.catalog
    user_catalog.do(revert_attribute(catalog, offer.thing or "", offer.attribute or ""))


_T = TypeVar("_T")


def explain_decision(
    desk: Desk, evaluated: EvaluatedAnswer, selection: Selection, view: CatalogContext
) -> Explanation | None:
    """Explain an answer or a rule; None without a decision, or for an unknown rule."""
    try:
        if selection.kind is SelectionKind.TRACE:
            context = _make_decision_context(desk, evaluated, evaluated.decision, view)
            return explain_ruling(context, selection.name, selection.column)
        alternative = evaluated.decide_alternative(selection.name, selection.answer)
    except (InputError, MissingFileError):
        # The page shows the error of the rules.
        return None
    context = _make_decision_context(desk, evaluated, alternative, view)
    return explain_option(context, selection.name, selection.answer)


def _make_decision_context(
    desk: Desk, evaluated: EvaluatedAnswer, decision: Decision, view: CatalogContext
) -> DecisionContext:
    catalog = desk.service.catalog
    disputes = {each.id: each for each in catalog.disputes()}
    return DecisionContext(
        decision=decision,
        names=evaluated.names,
        slots={column.key: column.palette_index for column in evaluated.columns},
        is_variant={column.key: column.is_variant for column in evaluated.columns},
        rules=desk.service.decider.rules,
        formatter=evaluated.formatter,
        source=lambda name: _find_or_none(catalog.source, name),
        dispute=disputes.get,
        catalog=view.fact,
        weights=evaluated.answer.scenario.decision.weights,
    )


def _find_or_none(find: Callable[[str], _T], name: str) -> _T | None:
    try:
        return find(name)
    except InputError:
        return None


#: The cells among which arrow keys move; what is known of their figures is kept, so that the panel follows in time.
_CELLS_KEPT: Final = 100


class SelectionExplainer:
    """Explains selections of one desk."""

    def __init__(self, desk: Desk, settings: UserSettings | None = None) -> None:
        """Use the desk's answer and service; the settings have the rule for ages."""
        self._desk = desk
        self._settings = settings
        self._sources: dict[str, str] = {}
        self._evidence: deque[tuple[Estimate, str, FigureEvidence]] = deque(maxlen=_CELLS_KEPT)

    def explain(self, selection: Selection | None, *, whole: bool = True) -> Explanation | None:
        """Explain a selection; None if there is no explanation.

        With `whole` false only the head of a figure: value, interval, basis.
        """
        evaluated = self._desk.evaluated
        if selection is not None and selection.of_catalog:
            return explain_catalog_selection(selection, self._view())
        if selection is not None and selection.request is not None:
            return self._explain_deployment(selection.request, selection.name)
        if selection is None or evaluated is None:
            return None
        if selection.of_decision:
            return explain_decision(self._desk, evaluated, selection, self._view())
        return self._explain_column(evaluated, selection, whole=whole)

    def _explain_column(self, evaluated: EvaluatedAnswer, selection: Selection, *, whole: bool) -> Explanation | None:
        if selection.column not in self._desk.keys:
            return None
        answer, formatter = evaluated.answer, self._desk.formatter
        position = self._desk.keys.index(selection.column)
        if selection.kind is SelectionKind.ATTRIBUTE:
            explanation = explain_attribute(answer, position, selection.name, formatter)
            if explanation is None:
                return None
            attributes, is_price = answer.columns[position].attributes, selection.name == PRICE_BOUND_ATTRIBUTES[0]
            high = attributes.get(PRICE_BOUND_ATTRIBUTES[1]) if is_price else None
            explanation = add_catalog_facts(explanation, attributes[selection.name], self._view(), high)
            if not is_price:
                return explanation
            from gpudesk.report.explanation.cost import explain_purchase_price

            column = evaluated.costs.columns[position]
            prices = self._desk.service.catalog.prices(column.accelerator)
            return explain_purchase_price(evaluated.answer, column, explanation, self._desk.formatter, prices)
        if selection.kind is SelectionKind.COST:
            return self._explain_cost(evaluated, position, selection.name)
        if selection.kind is SelectionKind.FLEET:
            return self._explain_fleet(evaluated, position, selection.name)
        backing = self._collect_evidence(answer.columns[position], selection.name, whole=whole)
        return explain_figure(answer, position, selection.name, backing, formatter)

    def _explain_deployment(self, request: EstimateRequest, name: str) -> Explanation | None:
        """Explain a figure of a deployment as that of a comparison's only column; None without an answer."""
        choice = AcceleratorChoice(
            request.accelerator,
            count=request.count,
            tp=request.tp,
            pp=request.pp,
            ep=request.ep,
            dp=request.dp,
            attention_dp=request.attention_dp,
        )
        scenario = Scenario(
            "",
            request.model,
            request.weights,
            request.workload,
            (choice,),
            kv=request.kv,
            serving_engine=request.serving_engine,
            date=request.date,
            memory_fraction=request.memory_fraction,
        )
        try:
            answer = self._desk.service.answer(scenario)
        except InputError:
            return None
        return explain_figure(
            answer, 0, name, self._collect_evidence(answer.columns[0], name, whole=True), self._desk.formatter
        )

    def _explain_cost(self, evaluated: EvaluatedAnswer, position: int, name: str) -> Explanation | None:
        from gpudesk.report.explanation.cost import explain_cost

        column = evaluated.costs.columns[position]
        count = "" if column.count is None else f" × {self._desk.formatter.count(column.count)}"
        prices = self._desk.service.catalog.prices(column.accelerator)
        deployment_name = f"{evaluated.columns[position].name}{count}"
        return explain_cost(evaluated.answer, column, deployment_name, name, self._desk.formatter, prices)

    def _explain_fleet(self, evaluated: EvaluatedAnswer, position: int, name: str) -> Explanation | None:
        from gpudesk.report.explanation.fleet import explain_fleet_figure, gather_derived_fleet

        scenario, part = evaluated.answer.scenario, evaluated.columns[position].column.accelerator
        if scenario.demand is None:
            return None
        service, formatter = self._desk.service, self._desk.formatter
        try:
            answer = evaluated.fleet
        except InputError:
            return None
        option = next(each for each in answer.options if each.accelerator == part.id)
        inputs = service.costing.resolve_inputs(part, option.used or 1, scenario)
        fleet = gather_derived_fleet(option, answer, scenario, inputs, formatter)
        shown_name, _ = evaluated.collect_fleet_looks()[part.id]
        return None if fleet is None else explain_fleet_figure(fleet, name, shown_name, formatter)

    def _view(self) -> CatalogContext:
        desk = self._desk
        settings = self._settings
        scenario = desk.scenario
        used = {choice.accelerator: tr("accelerator in the comparison") for choice in scenario.accelerators}
        if scenario.model:
            used[scenario.model] = tr("model in the comparison")
        return CatalogContext(
            facts=desk.service.catalog,
            formatter=desk.formatter,
            today=get_today(),
            rule=StalenessLimits() if settings is None else make_age_rule(settings.values),
            scenario=scenario.name,
            used=used,
            writable=desk.service.user_catalog.writable,
            computed=partial(compute_model_value, desk.service.catalog),
        )

    def update_explanation(self, former: Explanation, head: Explanation) -> Explanation:
        """Return a former explanation with the value, interval and basis of a new one."""
        return replace(
            former,
            what=head.what,
            conditions=head.conditions,
            figure=head.figure,
            unit=head.unit,
            band=head.band,
            ground=head.ground,
            basis=head.basis,
        )

    def _collect_evidence(self, column: ComparisonColumn, name: str, *, whole: bool) -> FigureEvidence:
        estimate, service = column.estimate, self._desk.service
        if estimate is None:
            return FigureEvidence()
        rows = service.count_calibration_rows(estimate)
        if not whole and estimate.fits:
            return FigureEvidence(rows=rows)
        evidence_by_name = {
            each: evidence for evidence_estimate, each, evidence in self._evidence if evidence_estimate is estimate
        }
        if name not in evidence_by_name:
            shared = next(iter(evidence_by_name.values()), None) or self._make_deployment_evidence(estimate)
            term, record = self._find_derivation(estimate, name), self._record(estimate, name)
            evidence_by_name[name] = replace(shared, term=term, record=record, rows=rows)
            self._evidence.append((estimate, name, evidence_by_name[name]))
        return evidence_by_name[name]

    def _make_deployment_evidence(self, estimate: Estimate) -> FigureEvidence:
        """Return what all figures of an estimate share."""
        estimator = self._desk.service.estimator
        return FigureEvidence(
            shares=estimator.compute_time_shares(estimate),
            remedies=estimator.remedies(estimate),
            plans=estimator.plans(estimate) if estimate.fits else None,
            source_text=self._get_source_text,
        )

    def _find_derivation(self, estimate: Estimate, name: str) -> DerivationTerm | None:
        try:
            return self._desk.service.explain(estimate, name if estimate.fits else "memory")
        except InputError:
            return None

    def _record(self, estimate: Estimate, name: str) -> tuple[ComparableRun, ...]:
        """Return the published figures similar to one; empty if the measurement files are damaged."""
        try:
            return self._desk.service.record(estimate, name)
        except InputError:
            return ()

    def _get_source_text(self, source: str) -> str:
        """Return a source in words, cached while the catalog is open."""
        text = self._sources.get(source)
        if text is None:
            text = self._sources[source] = self._desk.service.source_text(source)
        return text


LEAST_WIDTH = 280
WIDTH = 312
#: Time between updates during a drag: more figures a second cannot be read, and take time from the page.
_FOLLOWS_MS: Final = 50


class SourcesPanel(QWidget):
    """Explains the selected figure. `pinned` keeps the current one."""

    manual_topic = "working"

    #: Close the panel.
    close_requested = Signal()
    #: Edit a fact of the catalog: an `EditorRequest`.
    editor_requested = Signal(object)
    #: A fact could not be removed: an `InputError`.
    failed = Signal(object)

    def __init__(self, desk: Desk, theme: Theme, settings: UserSettings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._theme = theme
        self._settings = settings
        self._explainer = SelectionExplainer(desk, settings)
        self._nodes = NodeBuilder()
        self.explanation: Explanation | None = None
        self._selection: Selection | None = None
        self._shown_selection: Selection | None = None
        self._columns: tuple[ComparisonColumn, ...] | None = None
        self.pinned = False
        self._stale = True
        self._partial = False
        self._follower = make_delay(self, _FOLLOWS_MS, self._refresh_later)
        self.setObjectName("sources-panel")
        self.setAccessibleName(tr("Sources and calculation"))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumWidth(LEAST_WIDTH)
        self._title = ThemedLabel(self._theme, tr("Sources and calculation"), font="section")
        self._pin = IconButton(self._theme, "pin", tr("Pin: keep showing this figure"))
        self._pin.setCheckable(True)
        self._pin.toggled.connect(self._set_pinned)
        self._close = IconButton(self._theme, "x", tr("Close panel"), self.close_requested, key="Ctrl+I")
        self._head = make_row((self._title, 1), self._pin, self._close)
        self.view = PanelView(self._theme, self)
        self.view.setAccessibleName(tr("Sources and calculation"))
        self.view.followed.connect(self._follow)
        self.setFocusProxy(self.view)
        self._column = QVBoxLayout(self)
        self._column.setSpacing(0)
        self._column.addLayout(self._head)
        self._column.addWidget(self.view, 1)
        desk.selection_changed.connect(self._selected)
        desk.answered.connect(self._answered)
        desk.catalog_changed.connect(self._refresh_later)
        settings.changed.connect(self._rule_changed)
        desk.gesture_changed.connect(self._gesture_changed)
        theme.changed.connect(self._dress)
        self._dress()

    # Display

    def _set_pinned(self, pinned: bool) -> None:
        self.pinned = pinned
        self._pin.set_icon("pin-off" if pinned else "pin")
        self._pin.set_name(tr("Unpin: follow the selection") if pinned else tr("Pin: keep showing this figure"))
        if not pinned:
            self._selected()

    def _selected(self) -> None:
        if not self.pinned:
            self._selection = self._desk.selection
            self._refresh_later()

    def _gesture_changed(self) -> None:
        if not self._desk.in_gesture and (self._partial or self._follower.isActive()):
            self._follower.stop()
            self._refresh_later()

    def _answered(self) -> None:
        if self._stale or self._selection != self._shown_selection or not self._is_explained():
            if not self._desk.in_gesture:
                self._refresh_later()
            elif not self._follower.isActive():
                self._follower.start()

    def _is_explained(self) -> bool:
        """Whether a new answer makes no difference: nothing is explained, or only costs changed."""
        if self._selection is None:
            return True
        answer = self._desk.answer
        is_figure = self._selection.kind is SelectionKind.FIGURE
        return is_figure and answer is not None and answer.columns is self._columns

    def _refresh_later(self) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def refresh(self) -> None:
        """Explain the figure again; during a drag, or while published runs are read by a job, only its head."""
        self._stale = False
        is_reading = Jobs.any_running() and not self._desk.service.has_records
        if is_reading:
            self._follower.start()
        self._partial = self._desk.in_gesture or is_reading
        whole = not self._partial
        explanation = self._explainer.explain(self._selection, whole=whole)
        former = self.explanation
        if not whole and explanation is not None and former is not None:
            explanation = self._explainer.update_explanation(former, explanation)
        self.explanation = explanation
        nodes = make_empty_nodes() if explanation is None else self._nodes.build(explanation)
        self.view.show_nodes(nodes, stay=self._shown_selection == self._selection)
        self._shown_selection = self._selection
        self._columns = None if self._desk.answer is None else self._desk.answer.columns
        self.view.setAccessibleDescription(nodes[0].sentence)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            if not self.pinned:
                self._selection = self._desk.selection
            self.refresh()

    # Links

    def _follow(self, node: PanelNode) -> None:
        if isinstance(node.block, LinkBlock):
            self._do(node.block)
        else:
            self._copy(node.copied)

    def _do(self, link: LinkBlock) -> None:
        explanation = self.explanation
        if explanation is None:
            return
        if link.command is LinkCommand.COPY_WITH_SOURCES:
            self._copy(format_explanation(explanation))
        elif link.command is LinkCommand.COPY_WORKING and explanation.working is not None:
            self._copy(format_working(explanation.working))
        elif link.command is LinkCommand.FREE_COUNTS:
            self._desk.apply(free_counts(self._desk.scenario), link.text)
        elif link.offer is not None:
            self._edit(link.offer)
        elif link.remedy is not None and self._selection is not None:
            self._take(link.remedy, link.text, self._selection.column)

    def _edit(self, offer: CatalogAction) -> None:
        take_back = {CatalogActionKind.REVERT: revert_offer, CatalogActionKind.FORGET: forget_offer}.get(offer.kind)
        if take_back is None:
            self.editor_requested.emit(make_editor_request(offer))
            return
        try:
            take_back(offer, self._desk)
        except InputError as error:
            self.failed.emit(error)

    def _rule_changed(self, name: str) -> None:
        if name in (STALE_PRICE_DAYS, STALE_FACT_DAYS):
            self._refresh_later()

    def _take(self, remedy: FitRemedy, text: str, key: str) -> None:
        column = self._desk.column(key)
        if column is not None:
            position, vendor = self._desk.keys.index(key), column.accelerator.vendor
            self._desk.apply(apply_remedy(self._desk.scenario, position, remedy, vendor), text)

    @staticmethod
    def _copy(text: str) -> None:
        QApplication.clipboard().setText(text)

    # Looks

    def sizeHint(self) -> QSize:
        return QSize(self._theme.px(WIDTH), self._theme.px(480))

    def _dress(self) -> None:
        px = self._theme.px
        self._head.setContentsMargins(px(16), px(6), px(6), px(7))
        self._head.setSpacing(px(2))
        self._column.setContentsMargins(1 if self._lies_over else 0, 0, 0, 0)
        self.update()

    @property
    def _lies_over(self) -> bool:
        """Whether the panel overlays the page: next to it, the splitter draws the divider."""
        return not isinstance(self.parentWidget(), QSplitter)

    def event(self, event: QEvent) -> bool:
        """Draw a divider when the panel is taken out of the splitter."""
        is_handled = super().event(event)
        if event.type() == QEvent.Type.ParentChange:
            self._dress()
        return is_handled

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self._theme.color("chrome"))
            y = self.view.y() - 1
            painter.fillRect(0, y, self.width(), 1, self._theme.color("hair"))
            if self._lies_over:
                painter.fillRect(0, 0, 1, self.height(), self._theme.color("strong"))
