"""Explains a figure of an answer: limiter, remedies, parallel plan, derivation and sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES
from gpudesk.domain.deployment_analysis import (
    PREFILL_SHARE,
    ComparableRun,
    DeploymentTimeShares,
    DerivationTerm,
    TimeShare,
)
from gpudesk.domain.estimate import CalibrationCoverage, Estimate, EstimateBasis, Limiter, Load, LoadKind, PlanChoice
from gpudesk.domain.registry import find_figure
from gpudesk.domain.sizing import FitRemedy, FitRemedyKind
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.estimate_rows import (
    describe_memory_deployment,
    describe_pools,
    describe_running_requests,
)
from gpudesk.report.explanation.catalog_attribute import describe_origin_of_value, describe_range_or_shipped
from gpudesk.report.explanation.claims import build_claim_group, format_attribute_value, list_disputes_about
from gpudesk.report.explanation.parts import (
    Explanation,
    ExplanationBasis,
    LimiterBreakdown,
    LimiterShareLine,
    RemedyLine,
)
from gpudesk.report.explanation.working import (
    build_explained_plans,
    build_measured_runs,
    build_term_line,
    list_input_claims,
)
from gpudesk.report.labels import (
    format_load,
    format_tokens,
    get_figure_unit,
    label_attribute_alone,
    label_figure,
    label_precision,
    label_serving_engine,
    list_column_names,
    list_model_warnings,
    shorten_name,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate, find_readable_unit
from gpudesk.text.messages import capitalize_first, format_message
from gpudesk.text.translation import tr, trn

#: Smaller shares would be displayed as zero.
_LEAST: Final = 0.005

#: Time figures and the time that their shares divide; all others are limited by the time of the whole run.
_DECODE_FIGURE: Final = "tpot_ms"
_PREFILL_FIGURE: Final = "ttft_ms"
_WITHOUT: Final = frozenset({"memory", "max_concurrency"})

_ORDER: Final = {limiter.value: place for place, limiter in enumerate(Limiter)}


def find_limiter_shares(
    name: str, estimate: Estimate, shares: DeploymentTimeShares | None, formatter: Formatter
) -> LimiterBreakdown | None:
    """Return the breakdown of the time behind a figure; None without one."""
    if shares is None or not estimate.fits or name in _WITHOUT:
        return None
    of, parts = tr("share of run time"), shares.run
    if name == _DECODE_FIGURE and shares.token is not None:
        of, parts = tr("time per token"), shares.token
    elif name == _PREFILL_FIGURE:
        of, parts = tr("time per prompt"), shares.prefill
    remark = None
    if estimate.limiter is Limiter.CAPACITY and name != _PREFILL_FIGURE:
        remark = _describe_full_memory(estimate, formatter)
    return LimiterBreakdown(of, _list_limiter_shares(parts, formatter), remark)


def _describe_full_memory(estimate: Estimate, formatter: Formatter) -> str:
    running = formatter.count(estimate.admitted)
    if (estimate.admitted or 0) < estimate.max_concurrency:
        most = formatter.count(estimate.max_concurrency)
        return tr("{n} in flight, with memory for {most}", n=running, most=most)
    return tr("Memory is full at {n} in flight", n=running)


def _list_limiter_shares(parts: Iterable[TimeShare], formatter: Formatter) -> tuple[LimiterShareLine, ...]:
    largest = sorted(
        (part for part in parts if part.share >= _LEAST),
        key=lambda part: (-part.share, _ORDER.get(part.name, len(_ORDER))),
    )
    return tuple(
        LimiterShareLine(_label_share(part.name), part.share, formatter.per_cent(part.share)) for part in largest
    )


def _label_share(name: str) -> str:
    label = tr("interleaved prefill") if name == PREFILL_SHARE else Limiter(name).label
    return capitalize_first(label)


def list_remedies(
    remedies: tuple[FitRemedy, ...], estimate: Estimate, part: Accelerator, formatter: Formatter
) -> tuple[RemedyLine, ...]:
    name = shorten_name(part.name)
    return tuple(_build_remedy_line(remedy, estimate, name, formatter) for remedy in remedies)


def _build_remedy_line(remedy: FitRemedy, estimate: Estimate, name: str, formatter: Formatter) -> RemedyLine:
    label, action = _describe_remedy_action(remedy, estimate, name, formatter)
    detail = _describe_remedy_detail(remedy, formatter)
    return RemedyLine(
        label=label,
        verdict=tr("yes") if remedy.works else tr("no"),
        detail=detail,
        remedy=remedy,
        action=action if remedy.works else None,
    )


def _describe_remedy_action(remedy: FitRemedy, estimate: Estimate, name: str, formatter: Formatter) -> tuple[str, str]:
    if remedy.kind is FitRemedyKind.COUNT and isinstance(remedy.value, int):
        many = f"{formatter.count(remedy.value)} × {name}"
        return many, tr("Use {deployment}", deployment=many)
    if remedy.kind is FitRemedyKind.CONCURRENCY and isinstance(remedy.value, int):
        count = formatter.count(remedy.value)
        load = estimate.request.workload.load
        requested = formatter.count(load.concurrency or load.batch or estimate.concurrency)
        fewer = trn("{n} request instead of {asked}", "{n} requests instead of {asked}", remedy.value, asked=requested)
        return fewer, tr("Use {n} in flight", n=count)
    here = f"{formatter.count(estimate.count)} × {name}"
    if remedy.kind is FitRemedyKind.FRACTION and isinstance(remedy.value, float):
        share = formatter.per_cent(remedy.value)
        return (
            tr("Memory fraction of {share} on {deployment}", share=share, deployment=here),
            tr("Use a memory fraction of {share}", share=share),
        )
    narrow = label_precision(str(remedy.value))
    if remedy.kind is FitRemedyKind.KV:
        return (
            tr("{precision} KV cache on {deployment}", precision=narrow, deployment=here),
            tr("Use {precision} KV cache", precision=narrow),
        )
    return (
        tr("{precision} weights on {deployment}", precision=narrow, deployment=here),
        tr("Use {precision} weights", precision=narrow),
    )


def _describe_remedy_detail(remedy: FitRemedy, formatter: Formatter) -> str:
    if not remedy.works:
        return "" if remedy.reason is None else format_message(remedy.reason, formatter)
    estimate = remedy.estimate
    if estimate is None:
        return ""
    plan = estimate.plan
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    degree_texts = [f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1]
    capacity_text = tr("up to {n} in flight", n=formatter.count(estimate.max_concurrency))
    if remedy.kind is FitRemedyKind.CONCURRENCY:
        capacity_text = tr("no queueing")
    return ", ".join((*degree_texts, capacity_text))


MEMORY_FIGURE: Final = "memory"
CONCURRENCY_FIGURE: Final = "max_concurrency"


def keep_source_id(source: str) -> str:
    """Return the id of a source that has no text."""
    return source


@frozen_dataclass
class FigureEvidence:
    """Data behind a figure of an estimate; `record` None was not requested."""

    term: DerivationTerm | None = None
    shares: DeploymentTimeShares | None = None
    remedies: tuple[FitRemedy, ...] = ()
    plans: PlanChoice | None = None
    record: tuple[ComparableRun, ...] | None = None
    rows: CalibrationCoverage | None = None
    source_text: Callable[[str], str] = keep_source_id


def explain_attribute(answer: Answer, position: int, name: str, formatter: Formatter) -> Explanation | None:
    """Explain an attribute of a column's accelerator; None for an unknown attribute."""
    column = answer.columns[position]
    claims = column.attributes.get(name)
    if claims is None:
        return None
    high = column.attributes.get(PRICE_BOUND_ATTRIBUTES[1]) if name == PRICE_BOUND_ATTRIBUTES[0] else None
    groups = [build_claim_group(claims, formatter, high)]
    sold = column.attributes.get("memory_label")
    if name == MEMORY_FIGURE and sold is not None and sold.disputed:
        groups.append(build_claim_group(sold, formatter))
    figure, unit = format_attribute_value(column.attributes, name, formatter)
    claim = claims.preferred
    return Explanation(
        what=label_attribute_alone(claims.name),
        conditions=column.accelerator.name,
        figure=figure,
        unit=unit,
        band=describe_range_or_shipped(claims, formatter, high),
        ground=ExplanationBasis.UNKNOWN if claim is None else ExplanationBasis.CLAIM,
        basis="" if claim is None else describe_origin_of_value(claim),
        claims=tuple(groups),
        claims_title=trn("{n} claim", "{n} claims", len(claims.claims)),
        disputes=list_disputes_about(answer.disputes, claims.thing, claims.name),
        facts=(_describe_catalog_revision(answer),),
    )


def explain_figure(
    answer: Answer, position: int, name: str, backing: FigureEvidence, formatter: Formatter
) -> Explanation:
    column = answer.columns[position]
    estimate = column.estimate
    if estimate is None:
        return _explain_missing_estimate(answer, position, name, formatter)
    working = None if backing.term is None else build_term_line(backing.term, backing.source_text, formatter)
    head = _write_head(answer, position, estimate, name, backing, formatter)
    plan = estimate.plan
    degrees = (("TP", plan.tp), ("PP", plan.pp), ("EP", plan.ep), ("DP", plan.dp))
    plan_text = ", ".join(f"{name} {formatter.count(degree)}" for name, degree in degrees if degree > 1)
    if estimate.pools is not None:
        plan_text = describe_pools(estimate.pools, formatter)
    served = tr(
        "{model}, served by {engine}",
        model=_describe_model(answer),
        engine=label_serving_engine(estimate.serving_engine),
    )
    return replace(
        head,
        record=None if backing.record is None else build_measured_runs(estimate, name, backing.record, formatter),
        limits=find_limiter_shares(name, estimate, backing.shares, formatter),
        plans=None if backing.plans is None else build_explained_plans(backing.plans, formatter),
        working=working,
        claims_title=tr("Inputs and their sources"),
        claims=() if backing.term is None else list_input_claims(answer, column, backing.term, formatter),
        remedies=list_remedies(backing.remedies, estimate, column.accelerator, formatter),
        facts=(
            f"{served}, {plan_text}" if plan_text else served,
            _describe_catalog_revision(answer),
            tr("Calibration {name}", name=answer.calibration),
        ),
        remarks=list_model_warnings(answer.model, formatter),
    )


def _write_head(
    answer: Answer, position: int, estimate: Estimate, name: str, backing: FigureEvidence, formatter: Formatter
) -> Explanation:
    if not estimate.fits:
        return _explain_misfit(answer, position, estimate, backing, formatter)
    if name == MEMORY_FIGURE:
        return _explain_memory(answer, position, estimate, formatter)
    if name == CONCURRENCY_FIGURE:
        return _explain_concurrency(answer, position, estimate, formatter)
    value: IntervalEstimate | None = getattr(estimate, name, None)
    label = label_figure(name) if find_figure(name) else name
    if value is None:
        ground, band, basis = (ExplanationBasis.UNKNOWN, _describe_absent_figure(estimate, backing, formatter), "")
        figure, unit = MISSING_VALUE_TEXT, None
    else:
        factor, unit = find_readable_unit(value.value, get_figure_unit(name))
        figure, low, high = (formatter.estimate(each / factor) for each in value)
        band = tr("80% interval: {low} to {high}", low=low, high=high)
        ground = ExplanationBasis(estimate.basis.value)
        basis = _describe_basis(answer.columns[position], estimate, backing.rows, formatter)
        if estimate.user_model:
            basis = tr("{basis}; model entered by you", basis=basis)
    return Explanation(
        what=tr("{figure}, {deployment}", figure=label, deployment=_describe_deployment(answer, position, formatter)),
        conditions=_describe_figure_conditions(answer, formatter),
        figure=figure,
        unit=unit,
        band=band,
        ground=ground,
        basis=basis,
    )


def _explain_memory(answer: Answer, position: int, estimate: Estimate, formatter: Formatter) -> Explanation:
    model = _describe_model(answer)
    return Explanation(
        what=tr("Memory, {deployment}", deployment=_describe_deployment(answer, position, formatter)),
        conditions=model if estimate.pools is None else f"{model}, {describe_memory_deployment(estimate, formatter)}",
        figure=formatter.gib(estimate.memory.spare_bytes),
        unit=tr("GiB free"),
        band=tr(
            "Of {capacity} GiB. {holds}",
            capacity=formatter.gib(estimate.memory.capacity_bytes),
            holds=_describe_capacity(estimate, formatter),
        ),
        ground=ExplanationBasis.EXACT,
        basis=tr("Exact to the byte"),
    )


def _explain_concurrency(answer: Answer, position: int, estimate: Estimate, formatter: Formatter) -> Explanation:
    work = estimate.request.workload
    return Explanation(
        what=tr(
            "{figure}, {deployment}",
            figure=label_figure(CONCURRENCY_FIGURE),
            deployment=_describe_deployment(answer, position, formatter),
        ),
        conditions=tr(
            "Requests of {tokens}, {model}",
            tokens=format_tokens(work.input_tokens + work.output_tokens, formatter),
            model=_describe_model(answer),
        ),
        figure=formatter.count(estimate.max_concurrency),
        unit=tr("requests"),
        band=_describe_capacity(estimate, formatter),
        ground=ExplanationBasis.EXACT,
        basis=tr("Exact to the byte"),
    )


def _explain_misfit(
    answer: Answer, position: int, estimate: Estimate, backing: FigureEvidence, formatter: Formatter
) -> Explanation:
    """Explain the memory shortage of a deployment.

    The first terms of its derivation are the needed and usable memory.
    """
    term = backing.term
    short, needed, usable = MISSING_VALUE_TEXT, MISSING_VALUE_TEXT, MISSING_VALUE_TEXT
    if term is not None and term.name == "missing memory" and isinstance(term.value, int | float):
        short = formatter.gib(term.value)
        needed, usable = (formatter.gib(each.value) for each in term.inputs[:2] if isinstance(each.value, int | float))
        band = tr("Needs {needed} GiB per accelerator; {usable} GiB usable", needed=needed, usable=usable)
    else:
        band = "" if estimate.reason is None else format_message(estimate.reason, formatter)
    return Explanation(
        what=tr("Does not fit: {deployment}", deployment=_describe_deployment(answer, position, formatter)),
        conditions=_describe_model(answer),
        figure=short,
        unit=tr("GiB short") if short != MISSING_VALUE_TEXT else None,
        band=band,
        ground=ExplanationBasis.DOES_NOT_FIT,
        basis=tr("Exact to the byte"),
    )


def _explain_missing_estimate(answer: Answer, position: int, name: str, formatter: Formatter) -> Explanation:
    column = answer.columns[position]
    label = label_figure(name) if find_figure(name) else tr("Memory")
    return Explanation(
        what=tr("{figure}, {deployment}", figure=label, deployment=_describe_deployment(answer, position, formatter)),
        conditions=_describe_model(answer),
        band="" if column.problem is None else format_message(column.problem, formatter),
        facts=(_describe_catalog_revision(answer),),
    )


# Texts


def _describe_deployment(answer: Answer, position: int, formatter: Formatter) -> str:
    name, column = list_column_names(answer)[position], answer.columns[position]
    count = column.choice.count if column.estimate is None else column.estimate.count
    return name if " × " in name or count is None else f"{name} × {formatter.count(count)}"


def _describe_figure_conditions(answer: Answer, formatter: Formatter) -> str:
    work = answer.scenario.workload
    return tr(
        "{load}, {input} input and {output} output tokens",
        load=_describe_load(work.load, formatter),
        input=formatter.count(work.input_tokens),
        output=formatter.count(work.output_tokens),
    )


def _describe_load(load: Load, formatter: Formatter) -> str:
    if load.kind is LoadKind.CONCURRENCY and load.requests is None:
        return trn(
            "{n} request in flight",
            "{n} requests in flight",
            load.concurrency or 0,
            n=formatter.count(load.concurrency),
        )
    return capitalize_first(format_load(load, formatter))


def _describe_model(answer: Answer) -> str:
    scenario = answer.scenario
    return tr(
        "{model}, {weights} weights, {kv} KV cache",
        model=answer.model.name,
        weights=label_precision(scenario.weights),
        kv=label_precision(scenario.kv),
    )


def _describe_capacity(estimate: Estimate, formatter: Formatter) -> str:
    concurrency, admitted = estimate.concurrency, estimate.admitted
    if estimate.grows:
        text = describe_running_requests(estimate, formatter)
        return capitalize_first(text)
    if concurrency is not None and admitted is not None and admitted < concurrency:
        if admitted < estimate.max_concurrency:
            return tr(
                "{admitted} of {asked} in flight, with memory for {most}",
                admitted=formatter.count(admitted),
                asked=formatter.count(concurrency),
                most=formatter.count(estimate.max_concurrency),
            )
        return tr(
            "Memory for {admitted} of {asked} in flight",
            admitted=formatter.count(admitted),
            asked=formatter.count(concurrency),
        )
    return tr("Fits, up to {n} in flight", n=formatter.count(estimate.max_concurrency))


def _describe_absent_figure(estimate: Estimate, backing: FigureEvidence, formatter: Formatter) -> str:
    for note in estimate.notes:
        if note.id in ("estimate.overload", "estimate.limits_not_met"):
            return format_message(note, formatter)
    formula = None if backing.term is None else backing.term.formula
    if formula and "{" not in formula:
        text = tr(formula)
        return capitalize_first(text)
    return tr("Not defined for this load")


def _describe_basis(
    column: ComparisonColumn, estimate: Estimate, rows: CalibrationCoverage | None, formatter: Formatter
) -> str:
    engine = label_serving_engine(estimate.serving_engine)
    architecture = column.attributes.get("architecture")
    generation = tr("this generation") if architecture is None or not architecture.value else str(architecture.value)
    if rows is None:
        return {EstimateBasis.CALIBRATED: tr("Calibrated"), EstimateBasis.ESTIMATED: tr("Estimated")}.get(
            estimate.basis, tr("Uncalibrated")
        )
    if estimate.basis is EstimateBasis.CALIBRATED:
        return trn(
            "Calibrated on {n} measured run of {generation} with {engine}",
            "Calibrated on {n} measured runs of {generation} with {engine}",
            rows.together,
            n=formatter.count(rows.together),
            generation=generation,
            engine=engine,
        )
    if estimate.basis is EstimateBasis.ESTIMATED:
        return trn(
            "Estimated: {n} measured run of {generation} and {m} of {engine}, but no run of both",
            "Estimated: {n} measured runs of {generation} and {m} of {engine}, but no run of both",
            rows.generation,
            generation=generation,
            engine=engine,
            n=formatter.count(rows.generation),
            m=formatter.count(rows.family),
        )
    return tr("Uncalibrated: no measured runs of {generation} or {engine}", generation=generation, engine=engine)


def _describe_catalog_revision(answer: Answer) -> str:
    return tr(
        "Catalog of {date}, revision {revision}",
        date=Formatter().date(answer.data_date),
        revision=answer.catalog_revision[:8],
    )
