"""Measured runs near to an estimate, with their conditions and the error of the prediction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gpudesk.domain.deployment import ParallelPlan, format_plan
from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.published_run import ComparableRun, RunCondition, find_published_figure
from gpudesk.domain.workload import Workload
from gpudesk.report.explanation.parts import ExplanationDetail, MeasuredRunLine, MeasuredRunLines
from gpudesk.report.labels import (
    format_load,
    get_figure_unit,
    label_date,
    label_figure,
    label_precision,
    label_serving_engine,
    label_source_kind,
    shorten_name,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, translate_data, trn


def describe_run_conditions(record: ComparableRun, formatter: Formatter) -> dict[RunCondition, str]:
    run = record.request
    deployment = f"{formatter.count(run.count)} × {shorten_name(record.accelerator)}"
    return {
        RunCondition.ACCELERATOR: deployment,
        RunCondition.COUNT: deployment,
        RunCondition.MODEL: record.model,
        RunCondition.WEIGHTS: tr("{precision} weights", precision=label_precision(run.weights)),
        RunCondition.KV: tr("{precision} KV cache", precision=label_precision(run.kv)),
        RunCondition.SERVING_ENGINE: label_serving_engine(run.serving_engine or MISSING_VALUE_TEXT),
        RunCondition.PLAN: format_plan(_format_stated_plan(run)),
        RunCondition.POOLS: tr("one pool for prefill and decode"),
        RunCondition.DATE: tr("software of {month}", month=formatter.date(run.date or "")),
        RunCondition.MEMORY_FRACTION: tr("memory fraction {fraction}", fraction=formatter.stated(run.memory_fraction)),
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


def _format_stated_plan(run: EstimateRequest) -> ParallelPlan:
    """Return the plan of a run, with degrees of one where none is stated."""
    return ParallelPlan(run.tp or 1, run.pp or 1, run.ep or 1, run.dp or 1, bool(run.attention_dp))


def format_run_software(record: ComparableRun) -> str:
    """Return the serving engine of a run with its version, where that is more than a name, and its month."""
    run, version = record.request, record.engine_version or ""
    engine = label_serving_engine(run.serving_engine or MISSING_VALUE_TEXT)
    software = engine if version.lower() in ("", run.serving_engine) else f"{engine} {version}"
    return f"{software}, {label_date(run.date)}"


#: Conditions that say where a run ran, what, and under what load: told whole for each record.
_CONDITION_ORDER = (RunCondition.ACCELERATOR, RunCondition.PLAN)
_WHAT = (RunCondition.MODEL, RunCondition.WEIGHTS, RunCondition.KV)
_LOAD = (RunCondition.LENGTHS, RunCondition.LOAD, RunCondition.SPREAD, RunCondition.SERVER)


def build_measured_runs(
    estimate: Estimate, name: str, records: tuple[ComparableRun, ...], formatter: Formatter
) -> MeasuredRunLines | None:
    """Return the records of a figure in words; None for a figure that nobody publishes."""
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
    return MeasuredRunLines(of, lines, remark)


def _build_run_line(record: ComparableRun, formatter: Formatter) -> MeasuredRunLine:
    source, texts = record.source, describe_run_conditions(record, formatter)
    what = _describe_differing_conditions(record, formatter)
    return MeasuredRunLine(
        what=capitalize_first(what),
        error=formatter.difference(record.ratio),
        figures=tr(
            "measured {measured}, estimated {estimated}",
            measured=f"{formatter.estimate(record.measured)} {get_figure_unit(record.figure)}",
            estimated=formatter.estimate(record.predicted),
        ),
        verdict=_describe_run_verdict(record),
        source=", ".join(filter(None, (source.named_publisher, source.title))),
        date=Formatter().date((source.date or "")[: len("2000-01")]),
        address=source.url or "",
        details=tuple(_list_run_details(record, texts)),
    )


def _describe_differing_conditions(record: ComparableRun, formatter: Formatter) -> str:
    """Return the conditions that are not as asked, each once: a deployment names part and count together."""
    if record.as_asked:
        return tr("these conditions")
    texts = describe_run_conditions(record, formatter)
    return ", ".join(dict.fromkeys(texts[condition] for condition in record.differs))


def _describe_run_verdict(record: ComparableRun) -> str:
    if record.inside_band is None:
        return ""
    return tr("inside the 80% interval") if record.inside_band else tr("outside the 80% interval")


def _list_run_details(record: ComparableRun, texts: Mapping[RunCondition, str]) -> Iterator[ExplanationDetail]:
    """Yield under which conditions it was measured, by whom, and where that can be read.

    All records have the same details, so that one can take the place of another where they are shown.
    """
    source = record.source
    where = _CONDITION_ORDER if record.request.tp is not None else _CONDITION_ORDER[:1]
    yield ExplanationDetail(tr("Hardware"), _join_parts(texts, where))
    yield ExplanationDetail(tr("Model"), _join_parts(texts, _WHAT))
    yield ExplanationDetail(tr("Load"), _join_parts(texts, _LOAD))
    yield ExplanationDetail(tr("Software"), format_run_software(record))
    yield ExplanationDetail(tr("Assumptions"), _join_parts(texts, record.assumed) or tr("none"))
    yield ExplanationDetail(
        tr("Note"),
        " ".join(part for part in (translate_data(record.note or ""), translate_data(source.trust or "")) if part)
        or MISSING_VALUE_TEXT,
    )
    yield ExplanationDetail(tr("Run ID"), record.row)
    yield ExplanationDetail(tr("Title"), source.title)
    yield ExplanationDetail(tr("Publisher"), source.named_publisher or MISSING_VALUE_TEXT)
    yield ExplanationDetail(tr("Kind"), label_source_kind(source.kind))
    yield ExplanationDetail(tr("Date"), label_date(source.date))
    yield ExplanationDetail(tr("URL"), source.url or MISSING_VALUE_TEXT, url=source.url is not None)


def _join_parts(texts: Mapping[RunCondition, str], conditions: tuple[RunCondition, ...]) -> str:
    return ", ".join(dict.fromkeys(texts[condition] for condition in conditions))
