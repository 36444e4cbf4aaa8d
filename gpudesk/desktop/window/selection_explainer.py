"""Collects the explanation of what is selected: a figure, a catalog fact or a decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final, TypeVar

from gpudesk.catalog.list_rows import compute_model_value
from gpudesk.catalog.user_store.edits import forget_inactive, revert_attribute
from gpudesk.desktop.session import selection as selections
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
from gpudesk.desktop.session.selection import EditorKind, EditorRequest, Selection, SelectionKind
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.documents.settings_file import make_age_rule
from gpudesk.domain.answer import ComparisonColumn
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, AttributeClaims, StalenessLimits
from gpudesk.domain.decision import Decision
from gpudesk.domain.derivation import DerivationTerm
from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.published_run import ComparableRun
from gpudesk.domain.scenario import AcceleratorChoice, Scenario
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
from gpudesk.report.explanation.decision import DecisionContext, explain_option, explain_ruling
from gpudesk.report.explanation.figure import FigureBacking, explain_attribute, explain_figure, explain_model_attribute
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


def make_catalog_view(desk: Desk, settings: UserSettings | None) -> CatalogContext:
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


def explain_catalog_selection(selection: Selection, view: CatalogContext) -> Explanation | None:
    """Explain what is selected in the catalog; None where it is not there any more."""
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
    return add_inactive_facts(explanation, _waiting_at(selection, view.facts.waiting), view)


def _waiting_at(selection: Selection, waiting: Iterable[InactiveOverride]) -> tuple[InactiveOverride, ...]:
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
    """Remove facts of the user that have no effect; raises `InputError` where that fails."""
    own, catalog = desk.service.user_catalog, desk.service.catalog
    place = selections.select_catalog_attribute(offer.thing or "", offer.attribute or "")
    if offer.price is not None:
        place = selections.select_catalog_price(offer.price)
    for each in _waiting_at(place, catalog.waiting)[:1]:
        own.do(forget_inactive(catalog, each))


def revert_offer(offer: CatalogAction, desk: Desk) -> None:
    """Take back all that the user says of an attribute; raises `InputError` where that fails."""
    own, catalog = desk.service.user_catalog, desk.service.catalog
    own.do(revert_attribute(catalog, offer.thing or "", offer.attribute or ""))


_T = TypeVar("_T")


def explain_decision(
    desk: Desk, evaluated: EvaluatedAnswer, selection: Selection, view: CatalogContext
) -> Explanation | None:
    """Explain an answer or a rule; None where there is no decision, or no such rule."""
    try:
        if selection.kind is SelectionKind.TRACE:
            context = _make_decision_context(desk, evaluated, evaluated.decision, view)
            return explain_ruling(context, selection.name, selection.column)
        alternative = evaluated.decide_alternative(selection.name, selection.answer)
    except (InputError, MissingFileError):
        # The page says what is wrong with the rules.
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
        slots=evaluated.palette_indexes,
        is_variant=evaluated.is_variant,
        rules=desk.service.decider.rules,
        formatter=evaluated.formatter,
        source=lambda name: _there(catalog.source, name),
        dispute=disputes.get,
        catalog=view.fact,
        weights=evaluated.answer.scenario.decision.weights,
    )


def _there(find: Callable[[str], _T], name: str) -> _T | None:
    try:
        return find(name)
    except InputError:
        return None


class SelectionExplainer:
    """Explains selections of one desk."""

    def __init__(self, desk: Desk, settings: UserSettings | None = None) -> None:
        """Read the desk's answer, and ask its service; the settings have the rule for ages."""
        self._desk = desk
        self._settings = settings
        self._sources: dict[str, str] = {}

    def explain(self, selection: Selection | None, *, whole: bool = True) -> Explanation | None:
        """Explain a selection; None where there is nothing to explain.

        With `whole` false the head of a figure alone: value, band, basis.
        """
        evaluated, formatter = self._desk.evaluated, self._desk.formatter
        if selection is not None and selection.of_catalog:
            return explain_catalog_selection(selection, self._view())
        if selection is not None and selection.request is not None:
            return self._explain_deployment(selection.request, selection.name)
        if selection is None or evaluated is None:
            return None
        answer = evaluated.answer
        if selection.of_decision:
            return explain_decision(self._desk, evaluated, selection, self._view())
        if selection.kind is SelectionKind.MODEL:
            explanation = explain_model_attribute(answer, selection.name, formatter)
            return self._with_catalog(explanation, answer.model_attributes, selection.name)
        return self._explain_column(evaluated, selection, whole=whole)

    def _explain_column(self, evaluated: EvaluatedAnswer, selection: Selection, *, whole: bool) -> Explanation | None:
        if selection.column not in self._desk.keys:
            return None
        answer, formatter = evaluated.answer, self._desk.formatter
        position = self._desk.keys.index(selection.column)
        if selection.kind is SelectionKind.ATTRIBUTE:
            explanation = explain_attribute(answer, position, selection.name, formatter)
            return self._with_catalog(explanation, answer.columns[position].attributes, selection.name)
        if selection.kind is SelectionKind.COST:
            return self._cost(evaluated, position, selection.name)
        backing = self._backing(answer.columns[position], selection.name, whole=whole)
        return explain_figure(answer, position, selection.name, backing, formatter)

    def _explain_deployment(self, request: EstimateRequest, name: str) -> Explanation | None:
        """Explain a figure of a deployment as that of a comparison's only column; None where it has no answer."""
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
        return explain_figure(answer, 0, name, self._backing(answer.columns[0], name, whole=True), self._desk.formatter)

    def _cost(self, evaluated: EvaluatedAnswer, position: int, name: str) -> Explanation | None:
        from gpudesk.report.explanation.cost import explain_cost

        column = evaluated.costs.columns[position]
        count = "" if column.count is None else f" × {self._desk.formatter.count(column.count)}"
        prices = self._desk.service.catalog.prices(column.accelerator)
        deployment_name = f"{evaluated.columns[position].name}{count}"
        return explain_cost(evaluated.answer, column, deployment_name, name, self._desk.formatter, prices)

    def _view(self) -> CatalogContext:
        return make_catalog_view(self._desk, self._settings)

    def _with_catalog(
        self, explanation: Explanation | None, attributes: Mapping[str, AttributeClaims], name: str
    ) -> Explanation | None:
        if explanation is None:
            return None
        high = attributes.get(PRICE_BOUND_ATTRIBUTES[1]) if name == PRICE_BOUND_ATTRIBUTES[0] else None
        return add_catalog_facts(explanation, attributes[name], self._view(), high)

    def updated(self, former: Explanation, head: Explanation) -> Explanation:
        """Return a former explanation with the value, band and basis of a new one."""
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

    def _backing(self, column: ComparisonColumn, name: str, *, whole: bool) -> FigureBacking:
        estimate, service = column.estimate, self._desk.service
        if estimate is None:
            return FigureBacking()
        rows = service.rows_behind(estimate)
        if not whole and estimate.fits:
            return FigureBacking(rows=rows)
        return FigureBacking(
            term=self._term(estimate, name),
            shares=service.step_shares(estimate),
            remedies=service.remedies(estimate),
            plans=service.plans(estimate) if estimate.fits else None,
            record=self._record(estimate, name),
            rows=rows,
            source_text=self._source_text,
        )

    def _term(self, estimate: Estimate, name: str) -> DerivationTerm | None:
        try:
            return self._desk.service.explain(estimate, name if estimate.fits else "memory")
        except InputError:
            return None

    def _record(self, estimate: Estimate, name: str) -> tuple[ComparableRun, ...]:
        """Return what was published near to a figure; nothing where the files of measurements are broken."""
        try:
            return self._desk.service.record(estimate, name)
        except InputError:
            return ()

    def _source_text(self, source: str) -> str:
        """Return a source in words; they stay as they are while the catalog is open."""
        text = self._sources.get(source)
        if text is None:
            text = self._sources[source] = self._desk.service.source_text(source)
        return text
