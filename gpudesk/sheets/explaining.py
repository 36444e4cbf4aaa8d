"""From an answer to the explanation of one of its figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from gpudesk.domain.answers import Answer, Column, Term
from gpudesk.domain.charts import StepShares
from gpudesk.domain.claims import PRICE_ENDS, Attribute
from gpudesk.domain.estimates import Banded, Basis, Estimate, RowsBehind
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.plans import PlanChoice
from gpudesk.domain.records import Record
from gpudesk.domain.sizing import Remedy
from gpudesk.domain.workloads import Load, LoadKind
from gpudesk.sentences import sentence
from gpudesk.sheets.claim_lines import (
    claim_group,
    dispute_lines,
    figure_of,
    label_alone,
)
from gpudesk.sheets.explaining_catalog import claimed_by, range_or_shipped
from gpudesk.sheets.explanation import Explanation, Ground
from gpudesk.sheets.figures import grown_text, pools_text, remembered_text
from gpudesk.sheets.labels import FIGURE_UNITS, engine_name, figure_label, precision_name
from gpudesk.sheets.limit_lines import limits_of, remedy_lines
from gpudesk.sheets.names import column_names, load_text
from gpudesk.sheets.plan_lines import plan_lines
from gpudesk.sheets.record_lines import record_lines
from gpudesk.sheets.working_lines import inputs_of, term_line
from gpudesk.text import tr, trn

MEMORY: Final = "memory"
MAX_CONCURRENCY: Final = "max_concurrency"


def no_source_text(source: str) -> str:
    """Return the id of a source where nobody can put it into words."""
    return source


@dataclass(frozen=True, slots=True)
class Backing:
    """What stands behind a figure of an estimate, as far as it is known; `record` None was not asked for."""

    term: Term | None = None
    shares: StepShares | None = None
    remedies: tuple[Remedy, ...] = ()
    plans: PlanChoice | None = None
    record: tuple[Record, ...] | None = None
    rows: RowsBehind | None = None
    source_text: Callable[[str], str] = no_source_text


def explain_attribute(answer: Answer, position: int, name: str, formatter: Formatter) -> Explanation | None:
    """Explain an attribute of a column's part; None where the catalog has no such attribute."""
    column = answer.columns[position]
    found = column.attributes.get(name)
    if found is None:
        return None
    high = column.attributes.get(PRICE_ENDS[1]) if name == PRICE_ENDS[0] else None
    groups = [claim_group(found, formatter, high)]
    sold = column.attributes.get("memory_label")
    if name == MEMORY and sold is not None and sold.disputed:
        groups.append(claim_group(sold, formatter))
    figure, unit = figure_of(column.attributes, name, formatter)
    made = _of_catalog(answer, found, column.accelerator.name, formatter, high)
    return replace(made, figure=figure, unit=unit, claims=tuple(groups))


def explain_model(answer: Answer, name: str, formatter: Formatter) -> Explanation | None:
    """Explain an attribute of the model; None where the catalog has no such attribute."""
    found = answer.model_attributes.get(name)
    if found is None:
        return None
    figure, unit = figure_of(answer.model_attributes, name, formatter)
    made = _of_catalog(answer, found, answer.model.name, formatter)
    return replace(made, figure=figure, unit=unit, claims=(claim_group(found, formatter),))


def _of_catalog(
    answer: Answer, found: Attribute, thing: str, formatter: Formatter, high: Attribute | None = None
) -> Explanation:
    claim = found.preferred
    count = len(found.claims)
    return Explanation(
        what=label_alone(found.name),
        conditions=thing,
        figure=UNKNOWN,
        unit=None,
        band=range_or_shipped(found, formatter, high),
        ground=Ground.UNKNOWN if claim is None else Ground.CLAIM,
        basis="" if claim is None else claimed_by(claim),
        claims_title=trn("{n} claim", "{n} claims", count),
        disputes=dispute_lines(answer.disputes, found.thing, found.name),
        facts=(_catalog_fact(answer),),
    )


def explain_figure(
    answer: Answer, position: int, name: str, backing: Backing, formatter: Formatter
) -> Explanation:
    """Explain a figure of a column's estimate, or why there is none."""
    column = answer.columns[position]
    estimate = column.estimate
    if estimate is None:
        return _no_estimate(answer, position, name, formatter)
    working = None if backing.term is None else term_line(backing.term, backing.source_text, formatter)
    head = _head(answer, position, estimate, name, backing, formatter)
    return replace(
        head,
        record=None if backing.record is None else record_lines(estimate, name, backing.record, formatter),
        limits=limits_of(name, estimate, backing.shares, formatter),
        plans=None if backing.plans is None else plan_lines(backing.plans, formatter),
        working=working,
        claims_title=tr("Inputs and their sources"),
        claims=() if backing.term is None else inputs_of(answer, column, backing.term, formatter),
        remedies=remedy_lines(backing.remedies, estimate, column.accelerator, formatter),
        facts=_facts(answer, estimate, formatter),
    )


def _head(
    answer: Answer, position: int, estimate: Estimate, name: str, backing: Backing, formatter: Formatter
) -> Explanation:
    if not estimate.fits:
        return _short(answer, position, estimate, backing, formatter)
    if name == MEMORY:
        return _memory(answer, position, estimate, formatter)
    if name == MAX_CONCURRENCY:
        return _most_in_flight(answer, position, estimate, formatter)
    return _estimated(answer, position, estimate, name, backing, formatter)


def _estimated(
    answer: Answer, position: int, estimate: Estimate, name: str, backing: Backing, formatter: Formatter
) -> Explanation:
    value: Banded | None = getattr(estimate, name, None)
    label = figure_label(name) if name in FIGURE_UNITS else name
    if value is None:
        ground, band, basis = Ground.UNKNOWN, _why_no_figure(estimate, backing, formatter), ""
        figure, unit = UNKNOWN, None
    else:
        figure, unit = formatter.estimate(value.value), FIGURE_UNITS.get(name)
        band = tr(
            "{low} to {high}, four times in five",
            low=formatter.estimate(value.low),
            high=formatter.estimate(value.high),
        )
        ground = Ground(estimate.basis.value)
        basis = _basis_text(answer.columns[position], estimate, backing.rows, formatter)
    return Explanation(
        what=tr("{figure}, {deployment}", figure=label, deployment=_deployment(answer, position, formatter)),
        conditions=_conditions(answer, formatter),
        figure=figure,
        unit=unit,
        band=band,
        ground=ground,
        basis=basis,
    )


def _memory(answer: Answer, position: int, estimate: Estimate, formatter: Formatter) -> Explanation:
    return Explanation(
        what=tr("Memory, {deployment}", deployment=_deployment(answer, position, formatter)),
        conditions=_memory_conditions(answer, estimate, formatter),
        figure=formatter.gib(estimate.memory.free_bytes),
        unit=tr("GiB free"),
        band=tr(
            "Of {capacity} GiB. {holds}",
            capacity=formatter.gib(estimate.memory.capacity_bytes),
            holds=_holds(estimate, formatter),
        ),
        ground=Ground.EXACT,
        basis=tr("Exact to the byte, no band"),
    )


def _memory_conditions(answer: Answer, estimate: Estimate, formatter: Formatter) -> str:
    model = _model_text(answer)
    return model if estimate.pools is None else f"{model}, {remembered_text(estimate, formatter)}"


def _most_in_flight(answer: Answer, position: int, estimate: Estimate, formatter: Formatter) -> Explanation:
    work = estimate.request.workload
    return Explanation(
        what=tr(
            "{figure}, {deployment}",
            figure=figure_label(MAX_CONCURRENCY),
            deployment=_deployment(answer, position, formatter),
        ),
        conditions=tr(
            "Requests of {n} tokens, {model}",
            n=formatter.count(work.input_tokens + work.output_tokens),
            model=_model_text(answer),
        ),
        figure=formatter.count(estimate.max_concurrency),
        unit=tr("requests"),
        band=_holds(estimate, formatter),
        ground=Ground.EXACT,
        basis=tr("Exact to the byte, no band"),
    )


def _short(
    answer: Answer, position: int, estimate: Estimate, backing: Backing, formatter: Formatter
) -> Explanation:
    """Say how much memory a deployment lacks; its working has needed and usable as the first terms."""
    term = backing.term
    short, needed, usable = UNKNOWN, UNKNOWN, UNKNOWN
    if term is not None and term.name == "short" and isinstance(term.value, int | float):
        short = formatter.gib(term.value)
        needed, usable = (
            formatter.gib(each.value) for each in term.inputs[:2] if isinstance(each.value, int | float)
        )
        band = tr("Needs {needed}, has {usable} usable on each", needed=needed, usable=usable)
    else:
        band = "" if estimate.reason is None else sentence(estimate.reason, formatter)
    return Explanation(
        what=tr("Does not fit: {deployment}", deployment=_deployment(answer, position, formatter)),
        conditions=_model_text(answer),
        figure=short,
        unit=tr("GiB short") if short != UNKNOWN else None,
        band=band,
        ground=Ground.DOES_NOT_FIT,
        basis=tr("Exact to the byte, no band"),
    )


def _no_estimate(answer: Answer, position: int, name: str, formatter: Formatter) -> Explanation:
    column = answer.columns[position]
    label = figure_label(name) if name in FIGURE_UNITS else tr("Memory")
    return Explanation(
        what=tr("{figure}, {deployment}", figure=label, deployment=_deployment(answer, position, formatter)),
        conditions=_model_text(answer),
        figure=UNKNOWN,
        unit=None,
        band="" if column.problem is None else sentence(column.problem, formatter),
        ground=Ground.UNKNOWN,
        basis="",
        facts=(_catalog_fact(answer),),
    )


# Words


def _deployment(answer: Answer, position: int, formatter: Formatter) -> str:
    """Return a column's name with its count."""
    name, column = column_names(answer)[position], answer.columns[position]
    count = column.choice.count if column.estimate is None else column.estimate.count
    return name if " × " in name or count is None else f"{name} × {formatter.count(count)}"


def _conditions(answer: Answer, formatter: Formatter) -> str:
    work = answer.scenario.workload
    return tr(
        "{load}, {input} in, {output} out",
        load=_load(work.load, formatter),
        input=formatter.count(work.input_tokens),
        output=formatter.count(work.output_tokens),
    )


def _load(load: Load, formatter: Formatter) -> str:
    if load.kind is LoadKind.CONCURRENCY and load.requests is None:
        return trn(
            "{n} request in flight",
            "{n} requests in flight",
            load.concurrency or 0,
            n=formatter.count(load.concurrency),
        )
    text = load_text(load, formatter)
    return text[:1].upper() + text[1:]


def _model_text(answer: Answer) -> str:
    scenario = answer.scenario
    return tr(
        "{model}, {weights} weights, {kv} KV cache",
        model=answer.model.name,
        weights=precision_name(scenario.weights),
        kv=precision_name(scenario.kv),
    )


def _holds(estimate: Estimate, formatter: Formatter) -> str:
    asked, admitted = estimate.concurrency, estimate.admitted
    if estimate.grows:
        said = grown_text(estimate, formatter)
        return said[:1].upper() + said[1:]
    if asked is not None and admitted is not None and admitted < asked:
        if admitted < estimate.max_concurrency:
            return tr(
                "Runs {admitted} of {asked} at once; memory holds {most}",
                admitted=formatter.count(admitted),
                asked=formatter.count(asked),
                most=formatter.count(estimate.max_concurrency),
            )
        return tr(
            "Holds {admitted} of {asked} in flight",
            admitted=formatter.count(admitted),
            asked=formatter.count(asked),
        )
    return tr("Fits, up to {n} in flight", n=formatter.count(estimate.max_concurrency))


def _why_no_figure(estimate: Estimate, backing: Backing, formatter: Formatter) -> str:
    for note in estimate.notes:
        if note.id in ("estimate.overload", "estimate.limits_not_met"):
            return sentence(note, formatter)
    formula = None if backing.term is None else backing.term.formula
    if formula and "{" not in formula:
        text = tr(formula)
        return text[:1].upper() + text[1:]
    return tr("This load has no such figure")


def _basis_text(column: Column, estimate: Estimate, rows: RowsBehind | None, formatter: Formatter) -> str:
    engine = engine_name(estimate.serving_engine)
    architecture = column.attributes.get("architecture")
    generation = (
        tr("its generation") if architecture is None or not architecture.value else str(architecture.value)
    )
    if estimate.basis is Basis.MEASURED:
        return tr("Measured: your own run of these conditions")
    if rows is None:
        return {
            Basis.CALIBRATED: tr("Calibrated"),
            Basis.ESTIMATED: tr("Estimated"),
        }.get(estimate.basis, tr("Uncalibrated"))
    if estimate.basis is Basis.CALIBRATED:
        return trn(
            "Calibrated on {n} row of {generation} with {engine}",
            "Calibrated on {n} rows of {generation} with {engine}",
            rows.together,
            n=formatter.count(rows.together),
            generation=generation,
            engine=engine,
        )
    if estimate.basis is Basis.ESTIMATED:
        return trn(
            "Estimated: {generation} has {n} row, {engine} {m}, none together",
            "Estimated: {generation} has {n} rows, {engine} {m}, none together",
            rows.generation,
            generation=generation,
            engine=engine,
            n=formatter.count(rows.generation),
            m=formatter.count(rows.family),
        )
    return tr("Uncalibrated: no rows of {generation} or {engine}", generation=generation, engine=engine)


def _facts(answer: Answer, estimate: Estimate, formatter: Formatter) -> tuple[str, ...]:
    plan = estimate.plan
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    named = ", ".join(f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1)
    if estimate.pools is not None:
        named = pools_text(estimate.pools, formatter)
    served = tr(
        "{model}, served by {engine}", model=_model_text(answer), engine=engine_name(estimate.serving_engine)
    )
    return (
        f"{served}, {named}" if named else served,
        _catalog_fact(answer),
        tr("Calibration {name}", name=answer.calibration),
    )


def _catalog_fact(answer: Answer) -> str:
    return tr(
        "GPU Desk, catalog of {date}, revision {revision}",
        date=answer.data_date,
        revision=answer.catalog_revision[:8],
    )
