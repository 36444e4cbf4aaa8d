"""Gathers what stands behind the selected figure from answer and workbench."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gpudesk.desktop.panel.catalog_explainer import catalog_view, explain_selection
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, SelectionKind
from gpudesk.desktop.session.settings import Settings
from gpudesk.domain.answers import Column, Term
from gpudesk.domain.claims import PRICE_ENDS, Attribute
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.messages import InputError
from gpudesk.domain.records import Record
from gpudesk.sheets.catalog_view import CatalogView
from gpudesk.sheets.explaining import Backing, explain_attribute, explain_figure, explain_model
from gpudesk.sheets.explaining_catalog import with_catalog
from gpudesk.sheets.explanation import Explanation


class Explainer:
    """Explains selections of one desk."""

    def __init__(self, desk: Desk, settings: Settings | None = None) -> None:
        """Read the desk's answer, and ask its workbench; the settings have the rule for ages."""
        self._desk = desk
        self._settings = settings
        self._sources: dict[str, str] = {}

    def explain(self, selection: Selection | None, *, whole: bool = True) -> Explanation | None:
        """Explain a selection; None where there is nothing to explain.

        With `whole` false the head of a figure alone: value, band, basis.
        """
        answer, formatter = self._desk.answer, self._desk.formatter
        if selection is not None and selection.of_catalog:
            return explain_selection(selection, self._view())
        if selection is None or answer is None:
            return None
        if selection.of_decision:
            from gpudesk.desktop.panel.decision_explainer import explain_decision

            return explain_decision(self._desk, selection, self._view())
        if selection.kind is SelectionKind.MODEL:
            made = explain_model(answer, selection.name, formatter)
            return self._with_catalog(made, answer.model_attributes, selection.name)
        if selection.column not in self._desk.keys:
            return None
        position = self._desk.keys.index(selection.column)
        if selection.kind is SelectionKind.ATTRIBUTE:
            made = explain_attribute(answer, position, selection.name, formatter)
            return self._with_catalog(made, answer.columns[position].attributes, selection.name)
        if selection.kind is SelectionKind.COST:
            return self._cost(position, selection.name)
        backing = self._backing(answer.columns[position], selection.name, whole=whole)
        return explain_figure(answer, position, selection.name, backing, formatter)

    def _cost(self, position: int, name: str) -> Explanation | None:
        """Explain a cost of a column, with the prices of its part on record."""
        from gpudesk.sheets.explaining_costs import explain_cost

        answer, workbench = self._desk.answer, self._desk.workbench
        if answer is None:
            return None
        column = workbench.costing.costs(answer, brief=True).columns[position]
        count = "" if column.count is None else f" × {self._desk.formatter.count(column.count)}"
        prices = workbench.catalog.prices(column.accelerator)
        called = f"{self._desk.names[position]}{count}"
        return explain_cost(answer, column, called, name, self._desk.formatter, prices)

    def _view(self) -> CatalogView:
        return catalog_view(self._desk, self._settings)

    def _with_catalog(
        self, made: Explanation | None, attributes: Mapping[str, Attribute], name: str
    ) -> Explanation | None:
        """Return an explanation of an attribute with what the catalog adds to its claims."""
        if made is None:
            return None
        high = attributes.get(PRICE_ENDS[1]) if name == PRICE_ENDS[0] else None
        return with_catalog(made, attributes[name], self._view(), high)

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

    def _backing(self, column: Column, name: str, *, whole: bool) -> Backing:
        estimate, workbench = column.estimate, self._desk.workbench
        if estimate is None:
            return Backing()
        rows = workbench.rows_behind(estimate)
        if not whole and estimate.fits:
            return Backing(rows=rows)
        return Backing(
            term=self._term(estimate, name),
            shares=workbench.step_shares(estimate),
            remedies=workbench.remedies(estimate),
            plans=workbench.plans(estimate) if estimate.fits else None,
            record=self._record(estimate, name),
            rows=rows,
            source_text=self._source_text,
        )

    def _term(self, estimate: Estimate, name: str) -> Term | None:
        try:
            return self._desk.workbench.explain(estimate, name if estimate.fits else "memory")
        except InputError:
            return None

    def _record(self, estimate: Estimate, name: str) -> tuple[Record, ...]:
        """Return what was published near to a figure; nothing where the files of measurements are broken."""
        try:
            return self._desk.workbench.record(estimate, name)
        except InputError:
            return ()

    def _source_text(self, source: str) -> str:
        """Return a source in words; they stay as they are while the catalog is open."""
        found = self._sources.get(source)
        if found is None:
            found = self._sources[source] = self._desk.workbench.source_text(source)
        return found
