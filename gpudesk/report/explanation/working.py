"""The derivation of a figure, its plans, and similar measured runs with the error of their predictions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.claim import AttributeClaims
from gpudesk.domain.deployment_analysis import (
    ComparableRun,
    DerivationTerm,
    RunCondition,
    find_bias,
    find_published_figure,
    to_placeholder,
)
from gpudesk.domain.estimate import ConsideredPlan, Estimate, ParallelPlan, PlanChoice, Workload, format_plan
from gpudesk.domain.registry import FIGURES, MAX_CONCURRENCY, find_quantity, list_headline_figures
from gpudesk.report.comparison.tables import SheetDerivation
from gpudesk.report.explanation.claims import build_input_claims
from gpudesk.report.explanation.parts import (
    ClaimGroup,
    ExplainedPlan,
    ExplainedPlanGroup,
    ExplainedPlans,
    ExplanationDetail,
    MeasuredRunLine,
    MeasuredRunLines,
    TermLine,
    TermOutline,
)
from gpudesk.report.labels import (
    format_load,
    get_figure_unit,
    label_date,
    label_figure,
    label_precision,
    label_serving_engine,
    shorten_name,
    translate_title,
)
from gpudesk.text.formatting import (
    MISSING_VALUE_TEXT,
    Formatter,
    IntervalEstimate,
    Quantity,
    find_readable_unit,
    get_display_unit,
    translate_unit,
)
from gpudesk.text.messages import InputError, capitalize_first, format_message, join_messages
from gpudesk.text.translation import tr, translate_data, trn

#: Names of terms that are not simply capitalized.
_LABELS: Final = {
    "TTFT": "Time to first token",
    "TPOT": "Time per output token",
    "running sequences in a replica": "Running per replica",
    "running sequences": "Running per replica",
    "round": "One round",
    "free memory": "Free memory",
    "bytes": "Bytes to read",
    "bytes of one sequence": "KV cache of one request",
    "tokens of one sequence": "Tokens of one request",
    "bytes that it fills": "KV cache used",
    "set aside beside them": "Reserved memory",
    "cache of one sequence": "KV cache read per request",
    "fraction": "Memory fraction",
    "dense matrices": "Dense matrices",
    "routed experts": "Routed experts",
    "attention over the cache": "Attention over KV cache",
    "attention within the prompt": "Attention within prompts",
    "gemm efficiency": "Matrix efficiency",
    "attention efficiency": "Attention efficiency",
    "weight read efficiency": "Weight read efficiency",
    "kv read efficiency": "KV cache read efficiency",
    "link efficiency": "Link efficiency",
    "activation traffic": "Activation traffic",
    "moe layer time": "Expert layer time",
    "layer time": "Layer time",
    "quantize time": "Quantization per layer",
    "step time": "Step time",
    "sequence time": "Sequence time",
    "stream time": "Stream time",
    "request time": "Server time",
    "peak": "Dense peak",
}

#: Units of counted items, omitted in formulas.
_COUNTED: Final = frozenset({None, "", "1", "tokens", "sequences", "requests", "accelerators"})
#: Units of memory next to rates of memory, which are decimal too.
_DECIMAL: Final = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"))
_MILLISECONDS: Final = "ms"
_RATES: Final = frozenset({"B/s", "FLOP/s"})
_INPUT: Final = re.compile(r"\{\w+\}")
#: Characters of a formula besides its inputs, if it preserves the unit.
_KEEPS_THE_UNIT: Final = frozenset("+−() ²^½")


def label_term(name: str) -> str:
    label = _LABELS.get(name)
    return tr(label) if label else capitalize_first(tr(name))


def format_term_value(term: DerivationTerm, formatter: Formatter) -> tuple[str, str | None]:
    """Return a term's value and its displayed unit; words unchanged, unknown as a dash."""
    if isinstance(term.value, str):
        return term.value, None
    if term.value is None:
        return MISSING_VALUE_TEXT, None
    text, unit = _format_figure(term, term.value, formatter)
    # "Output tokens 1,000 tokens" is redundant.
    if unit is None or (unit in _COUNTED and (unit == "sequences" or unit in term.name.lower())):
        return text, None
    return text, translate_unit(unit, term.value)


def _format_figure(term: DerivationTerm, value: float, formatter: Formatter) -> tuple[str, str | None]:
    """Return a figure and its unit: a rate of the catalog or of a link with the digits and the unit of the catalog."""
    kind, _, path = (term.source or "").partition(":")
    if term.unit in _RATES and kind in ("catalog", "link"):
        attribute = path.rpartition("/")[2]
        quantity = Quantity.LINK_BANDWIDTH if kind == "link" else find_quantity(attribute, term.unit)
        return formatter.catalog(value, quantity), get_display_unit(quantity)
    return formatter.value_and_unit(value, term.unit)


def format_named_formula(term: DerivationTerm) -> str | None:
    if term.formula is None:
        return None
    return tr(term.formula, **{to_placeholder(each.name): tr(each.name) for each in term.inputs})


def format_numeric_formula(term: DerivationTerm, formatter: Formatter) -> str | None:
    """Return the formula with the numbers of its inputs; a formula in words stays unchanged.

    If inputs and result are of one kind, all numbers are in the unit of the result, without repeating it.
    """
    if term.formula is None:
        return None
    if not term.inputs:
        return tr(term.formula)
    alike = _keeps_the_unit(term.formula)
    numbers = {
        to_placeholder(each.name): _format_term_number(each, term, formatter, alike=alike) for each in term.inputs
    }
    return tr(term.formula, **numbers).replace(f"+ {formatter.style.minus}", f"{formatter.style.minus} ")


def _format_term_number(each: DerivationTerm, result: DerivationTerm, formatter: Formatter, *, alike: bool) -> str:
    if not isinstance(each.value, int | float):
        return MISSING_VALUE_TEXT if each.value is None else each.value
    if alike and isinstance(result.value, int | float) and _find_term_kind(each.unit) == _find_term_kind(result.unit):
        same = each.value * _put_inside(each.unit) / _put_inside(result.unit)
        return formatter.value_as(same, result.value, result.unit)
    if each.unit == "B" and any(other.unit == "B/s" for other in result.inputs):
        return _format_decimal(each.value, formatter)
    text, unit = _format_figure(each, each.value, formatter)
    if unit is None or each.unit in _COUNTED:
        return text
    return f"{text}{unit[1:]}" if unit.startswith("1/") else f"{text} {translate_unit(unit)}"


def _format_decimal(size: float, formatter: Formatter) -> str:
    factor, unit = next((step for step in _DECIMAL if size >= step[0]), (1.0, "B"))
    return f"{formatter.estimate(size / factor)} {unit}"


@lru_cache(maxsize=256)
def _keeps_the_unit(formula: str) -> bool:
    """Whether the formula only adds inputs, or takes their maximum."""
    return set(_INPUT.sub("", formula)) <= _KEEPS_THE_UNIT


def _find_term_kind(unit: str | None) -> str | None:
    return "s" if unit == _MILLISECONDS else unit


def _put_inside(unit: str | None) -> float:
    return 1e-3 if unit == _MILLISECONDS else 1.0


_CATALOG: Final = "catalog:"


def build_term_line(term: DerivationTerm, source_text: Callable[[str], str], formatter: Formatter) -> TermLine:
    value, unit = format_term_value(term, formatter)
    source = term.source
    formula = format_numeric_formula(term, formatter)
    if formula is None and term.note is not None:
        formula = format_message(term.note, formatter)
    return TermLine(
        name=term.name,
        label=label_term(term.name),
        value=value,
        unit=unit,
        formula=formula,
        source=None if source is None else source_text(source),
        claims=_make_claims_key(term),
        outline=_build_outline(term),
        enter=lambda: tuple(build_term_line(each, source_text, formatter) for each in term.inputs),
    )


def _build_outline(term: DerivationTerm) -> TermOutline:
    return term.name, tuple(map(_build_outline, term.inputs))


def list_input_claims(
    answer: Answer, column: ComparisonColumn, working: DerivationTerm, formatter: Formatter
) -> tuple[ClaimGroup, ...]:
    """Return the claims behind the leaves of a derivation, each attribute once, in the order of the terms."""
    keys = dict.fromkeys(key for key in map(_make_claims_key, _walk_leaves(working)) if key)
    groups = (_build_claims_of_inputs(answer, column, key, formatter) for key in keys)
    return tuple(group for group in groups if group is not None)


def _make_claims_key(term: DerivationTerm) -> str | None:
    source = term.source
    return source.removeprefix(_CATALOG) if source is not None and source.startswith(_CATALOG) else None


def _walk_leaves(term: DerivationTerm) -> Iterator[DerivationTerm]:
    yield term
    for each in term.inputs:
        yield from _walk_leaves(each)


def _build_claims_of_inputs(
    answer: Answer, column: ComparisonColumn, key: str, formatter: Formatter
) -> ClaimGroup | None:
    attribute = _find_attribute(answer, column, key)
    if attribute is None:
        return None
    group = replace(build_input_claims(attribute, formatter), key=key)
    if "/" in key:
        return group
    # One configuration states all dimensions, so no single one is meant.
    claims = tuple(
        replace(
            claim,
            value=tr("Configuration"),
            unit=None,
            sentence=tr("Configuration, {origin}", origin=f"{claim.title}, {claim.origin}"),
        )
        for claim in group.claims[:1]
    )
    return replace(group, label=tr("Dimensions of {model}", model=answer.model.name), claims=claims)


def _find_attribute(answer: Answer, column: ComparisonColumn, key: str) -> AttributeClaims | None:
    """Return the attribute named by a source; dimensions of a model count as one."""
    thing, _, name = key.partition("/")
    if not name:
        return answer.model_attributes.get("hidden_size")
    attributes = column.attributes if thing == column.accelerator.id else answer.model_attributes
    family: Iterable[AttributeClaims] = (each for each in attributes.values() if each.name.startswith(f"{name}_"))
    return attributes.get(name) or next(iter(family), None)


#: Returns the derivation of a figure of an estimate; raises `InputError` without one.
WorkingSource = Callable[[Estimate, str], DerivationTerm]


def build_sheet_workings(
    answer: Answer, names: tuple[str, ...], formatter: Formatter, explain: WorkingSource
) -> tuple[SheetDerivation, ...]:
    """Return the derivations of the headline figures and of capacity; columns with one formula are grouped."""
    return tuple(
        working
        for figure in (*(each for each in list_headline_figures() if each in FIGURES), MAX_CONCURRENCY.key)
        for working in _build_working_of_figure(answer, figure, names, formatter, explain)
    )


def _build_working_of_figure(
    answer: Answer, figure: str, names: tuple[str, ...], formatter: Formatter, explain: WorkingSource
) -> Iterator[SheetDerivation]:
    terms_by_figure: dict[str, list[tuple[str, str]]] = {}
    label = ""
    for name, column in zip(names, answer.columns, strict=True):
        term = None if column.estimate is None else _list_explained_columns(column.estimate, figure, explain)
        if term is not None:
            label = label_term(term.name)
            numbers = "; ".join(_join_numbers(each, formatter) for each in _list_steps(term))
            terms_by_figure.setdefault(_join_formulas(term), []).append((name, numbers))
    for formulas, lines in terms_by_figure.items():
        yield SheetDerivation(label, formulas, tuple(lines))


def _list_explained_columns(estimate: Estimate, figure: str, explain: WorkingSource) -> DerivationTerm | None:
    if figure != MAX_CONCURRENCY.key and getattr(estimate, figure) is None:
        return None
    try:
        return explain(estimate, figure)
    except InputError:
        return None


def _list_steps(term: DerivationTerm) -> Iterator[DerivationTerm]:
    yield term
    yield from (each for each in term.inputs if each.formula is not None and "{" in each.formula)


def _join_formulas(term: DerivationTerm) -> str:
    """Return the formulas of all steps with the names of their inputs, the first without its own name."""
    formulas = [format_named_formula(term) or ""]
    formulas += [
        tr("{term} = {formula}", term=tr(each.name), formula=format_named_formula(each))
        for each in _list_steps(term)
        if each is not term
    ]
    return "; ".join(formulas)


def _join_numbers(term: DerivationTerm, formatter: Formatter) -> str:
    value, unit = format_term_value(term, formatter)
    result = value if unit is None else f"{value} {unit}"
    return f"{format_numeric_formula(term, formatter)} = {result}"


#: Maximum fitting plans shown at first, including the estimate's.
_SHOWN: Final = 4


def build_explained_plans(choice: PlanChoice, formatter: Formatter) -> ExplainedPlans | None:
    """Return the considered plans; None if there was no choice, or none fits."""
    if choice.chosen is None or not choice.searched:
        return None
    fitting = [option for option in choice.options if option.fits]
    groups = (
        _build_plan_group("slower", fitting[_SHOWN:], formatter),
        _build_plan_group("unfit", [option for option in choice.options if option.fits is False], formatter),
        _build_plan_group("untried", [option for option in choice.options if option.fits is None], formatter),
    )
    return ExplainedPlans(
        first_plans=tuple(build_explained_plan(option, formatter) for option in fitting[:_SHOWN]),
        more=tuple(group for group in groups if group.plans),
    )


def build_explained_plan(option: ConsideredPlan, formatter: Formatter) -> ExplainedPlan:
    rate = option.output_tokens_per_s
    return ExplainedPlan(
        name=format_plan(option.plan),
        figure=MISSING_VALUE_TEXT if rate is None else formatter.estimate(rate.value),
        unit=None if rate is None else get_figure_unit("output_tokens_per_s"),
        reason=join_messages(option.reasons, formatter),
        latency=", ".join(
            text
            for text in (
                _format_plan_figure("TTFT", option.ttft_ms, formatter),
                _format_plan_figure("TPOT", option.tpot_ms, formatter),
            )
            if text
        ),
        is_chosen=option.is_chosen,
    )


def _format_plan_figure(name: str, value: IntervalEstimate | None, formatter: Formatter) -> str:
    return "" if value is None else f"{name} {formatter.quantity(value.value, 'ms')}"


def _build_plan_group(key: str, options: list[ConsideredPlan], formatter: Formatter) -> ExplainedPlanGroup:
    count = len(options)
    label = {
        "slower": trn("{n} slower plan", "{n} slower plans", count),
        "unfit": trn("{n} plan that does not fit", "{n} plans that do not fit", count),
        "untried": trn("{n} plan not tried", "{n} plans not tried", count),
    }[key]
    return ExplainedPlanGroup(key, label, tuple(build_explained_plan(option, formatter) for option in options))


def describe_plan_reason(choice: PlanChoice, formatter: Formatter) -> str | None:
    """Return the reason for the plan in a line; None if there was no choice."""
    chosen_plan = choice.chosen
    return join_messages(chosen_plan.reasons, formatter) if chosen_plan is not None and choice.searched else None


def describe_run_conditions(record: ComparableRun, formatter: Formatter) -> dict[RunCondition, str]:
    run = record.request
    deployment = f"{formatter.count(run.count)} × {shorten_name(record.accelerator)}"
    # Unstated degrees are one.
    return {
        RunCondition.ACCELERATOR: deployment,
        RunCondition.COUNT: deployment,
        RunCondition.MODEL: record.model,
        RunCondition.WEIGHTS: tr("{precision} weights", precision=label_precision(run.weights)),
        RunCondition.KV: tr("{precision} KV cache", precision=label_precision(run.kv)),
        RunCondition.SERVING_ENGINE: label_serving_engine(run.serving_engine or MISSING_VALUE_TEXT),
        RunCondition.PLAN: format_plan(
            ParallelPlan(run.tp or 1, run.pp or 1, run.ep or 1, run.dp or 1, bool(run.attention_dp))
        ),
        RunCondition.POOLS: tr("one pool for prefill and decode"),
        RunCondition.DATE: tr("software of {month}", month=formatter.date(run.date or "")),
        RunCondition.MEMORY_FRACTION: tr("memory fraction {fraction}", fraction=formatter.exact(run.memory_fraction)),
        RunCondition.MAX_BATCH: trn(
            "max {n} sequence per step",
            "max {n} sequences per step",
            run.max_batch or 0,
            n=formatter.count(run.max_batch),
        ),
        RunCondition.MAX_BATCHED_TOKENS: trn(
            "max {n} token per step",
            "max {n} tokens per step",
            run.max_batched_tokens or 0,
            n=formatter.count(run.max_batched_tokens),
        ),
        **_describe_workload(run.workload, formatter),
    }


def _describe_workload(work: Workload, formatter: Formatter) -> dict[RunCondition, str]:
    cached = formatter.per_cent(work.prefix_hit_rate)
    lengths = tr(
        "{input} input and {output} output tokens",
        input=formatter.count(work.input_tokens),
        output=formatter.count(work.output_tokens),
    )
    return {
        RunCondition.LENGTHS: lengths,
        RunCondition.LOAD: format_load(work.load, formatter),
        RunCondition.SERVER: tr("with a server") if work.behind_server else tr("without a server"),
        RunCondition.SPREAD: tr("mixed lengths") if work.varied else tr("fixed lengths"),
        RunCondition.EAGER: tr("without graph capture") if work.eager else tr("with graph capture"),
        RunCondition.PREFIX: tr("{share} prefix cache hits", share=cached)
        if work.prefix_hit_rate
        else tr("no prefix cache"),
        RunCondition.SPECULATION: tr("no speculative decoding"),
    }


#: Conditions of where, what, and under what load a run was: shown in full for each record.
_CONDITION_ORDER = (RunCondition.ACCELERATOR, RunCondition.PLAN)
_WHAT = (RunCondition.MODEL, RunCondition.WEIGHTS, RunCondition.KV)
_LOAD = (RunCondition.LENGTHS, RunCondition.LOAD, RunCondition.SPREAD, RunCondition.SERVER)


def build_measured_runs(
    estimate: Estimate, name: str, records: tuple[ComparableRun, ...], formatter: Formatter
) -> MeasuredRunLines | None:
    """Return the records of a figure in words; None for an unpublished figure."""
    published = find_published_figure(estimate, name)
    if published is None:
        return None
    lines = tuple(_build_run_line(record, formatter) for record in records)
    remark = None
    if not records:
        remark = tr("No similar measured runs")
    elif not records[0].near:
        remark = trn(
            "No close match; this is the nearest run", "No close match; these are the nearest runs", len(records)
        )
    of = "" if published == name else label_figure(published)
    request = estimate.request
    bias = find_bias(records, request.accelerator)
    if bias is not None:
        runs = next(each for each in records if each.request.accelerator == request.accelerator)
        remark = describe_bias(bias, published, shorten_name(runs.accelerator), formatter)
    return MeasuredRunLines(of, lines, remark)


def describe_bias(bias: tuple[float, float], figure: str, name: str, formatter: Formatter) -> str:
    """Return by how much estimates of similar measured runs on an accelerator were too high or too low."""
    errors = sorted(abs(ratio - 1.0) for ratio in bias)
    low, high = formatter.number(errors[0] * 100.0), formatter.per_cent(errors[1])
    values = {"figure": label_figure(figure), "error": high if high.startswith(low) else f"{low}–{high}", "name": name}
    if bias[0] > 1.0:
        return tr("{figure} of similar measured runs on {name} was estimated {error} too high", **values)
    return tr("{figure} of similar measured runs on {name} was estimated {error} too low", **values)


def _build_run_line(record: ComparableRun, formatter: Formatter) -> MeasuredRunLine:
    source, texts = record.source, describe_run_conditions(record, formatter)
    what = _describe_differing_conditions(record, formatter)
    factor, unit = find_readable_unit(max(record.measured, record.predicted), get_figure_unit(record.figure))
    return MeasuredRunLine(
        what=capitalize_first(what),
        error=formatter.difference(record.ratio),
        figures=tr(
            "measured {measured}, estimated {estimated}",
            measured=f"{formatter.estimate(record.measured / factor)} {unit}",
            estimated=formatter.estimate(record.predicted / factor),
        ),
        verdict=_describe_run_verdict(record),
        source=", ".join(filter(None, (source.named_publisher, translate_title(source.title)))),
        date=Formatter().date((source.date or "")[: len("2000-01")]),
        address=source.url or "",
        details=tuple(_list_run_details(record, texts)),
    )


def _describe_differing_conditions(record: ComparableRun, formatter: Formatter) -> str:
    """Return the differing conditions, each once: a deployment names accelerator and count together."""
    if record.as_asked:
        return tr("these conditions")
    texts = describe_run_conditions(record, formatter)
    return ", ".join(dict.fromkeys(texts[condition] for condition in record.differs))


def _describe_run_verdict(record: ComparableRun) -> str:
    if record.inside_band is None:
        return ""
    return tr("inside the 80% interval") if record.inside_band else tr("outside the 80% interval")


def _list_run_details(record: ComparableRun, texts: Mapping[RunCondition, str]) -> Iterator[ExplanationDetail]:
    """Yield the conditions of the measurement, the publisher, and the link.

    All records have the same details, so that the display can replace one by another.
    """
    source = record.source
    where = _CONDITION_ORDER if record.request.tp is not None else _CONDITION_ORDER[:1]
    yield ExplanationDetail(tr("Hardware"), _join_parts(texts, where))
    yield ExplanationDetail(tr("Model"), _join_parts(texts, _WHAT))
    yield ExplanationDetail(tr("Load"), _join_parts(texts, _LOAD))
    run, version = record.request, record.engine_version or ""
    engine = label_serving_engine(run.serving_engine or MISSING_VALUE_TEXT)
    software = engine if version.lower() in ("", run.serving_engine) else f"{engine} {version}"
    yield ExplanationDetail(tr("Software"), f"{software}, {label_date(run.date)}")
    yield ExplanationDetail(tr("Assumptions"), _join_parts(texts, record.assumed) or tr("none"))
    yield ExplanationDetail(
        tr("Note"),
        " ".join(part for part in (translate_data(record.note or ""), translate_data(source.trust or "")) if part)
        or MISSING_VALUE_TEXT,
    )
    yield ExplanationDetail(tr("Run ID"), record.row)
    yield ExplanationDetail(tr("Title"), source.title)
    yield ExplanationDetail(tr("Publisher"), source.named_publisher or MISSING_VALUE_TEXT)
    yield ExplanationDetail(tr("Kind"), source.kind.label)
    yield ExplanationDetail(tr("Date"), label_date(source.date))
    yield ExplanationDetail(tr("URL"), source.url or MISSING_VALUE_TEXT, url=source.url is not None)


def _join_parts(texts: Mapping[RunCondition, str], conditions: tuple[RunCondition, ...]) -> str:
    return ", ".join(dict.fromkeys(texts[condition] for condition in conditions))
