"""The conditions of a published run in words."""

from __future__ import annotations

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.records import Condition, Record
from gpudesk.domain.workloads import Workload
from gpudesk.sentences import plan_name
from gpudesk.sheets.labels import engine_name, precision_name
from gpudesk.sheets.names import load_text, short_name
from gpudesk.text import tr, trn


def condition_texts(record: Record, formatter: Formatter) -> dict[Condition, str]:
    """Return every condition of the run of a record, each as it is told alone."""
    run = record.request
    deployment = f"{formatter.count(run.count)} × {short_name(record.accelerator)}"
    return {
        Condition.ACCELERATOR: deployment,
        Condition.COUNT: deployment,
        Condition.MODEL: record.model,
        Condition.WEIGHTS: tr("{precision} weights", precision=precision_name(run.weights)),
        Condition.KV: tr("{precision} KV cache", precision=precision_name(run.kv)),
        Condition.SERVING_ENGINE: engine_name(run.serving_engine or UNKNOWN),
        Condition.PLAN: plan_name(_stated_plan(run)),
        Condition.POOLS: tr("one pool for prefill and decode"),
        Condition.DATE: tr("software of {month}", month=run.date),
        Condition.MEMORY_FRACTION: tr(
            "memory fraction {fraction}", fraction=formatter.stated(run.memory_fraction)
        ),
        Condition.MAX_BATCH: trn(
            "at most {n} sequence a step",
            "at most {n} sequences a step",
            run.max_batch or 0,
            n=formatter.count(run.max_batch),
        ),
        Condition.MAX_BATCHED_TOKENS: tr(
            "at most {n} tokens a step", n=formatter.count(run.max_batched_tokens)
        ),
        **_work_texts(run.workload, formatter),
    }


def _work_texts(work: Workload, formatter: Formatter) -> dict[Condition, str]:
    cached = formatter.per_cent(work.prefix_hit_rate)
    lengths = tr(
        "{input} in, {output} out",
        input=formatter.count(work.input_tokens),
        output=formatter.count(work.output_tokens),
    )
    return {
        Condition.LENGTHS: lengths,
        Condition.LOAD: load_text(work.load, formatter),
        Condition.SERVER: tr("behind a server") if work.behind_server else tr("without a server"),
        Condition.SPREAD: tr("varied lengths") if work.varied else tr("equal lengths"),
        Condition.EAGER: tr("without graphs") if work.eager else tr("with graphs"),
        Condition.PREFIX: tr("{share} of the prompts cached", share=cached)
        if work.prefix_hit_rate
        else tr("no prompts cached"),
        Condition.SPECULATION: tr("no speculative decoding"),
    }


def _stated_plan(run: EstimateRequest) -> ParallelPlan:
    """Return the plan of a run, with degrees of one where none is stated."""
    return ParallelPlan(run.tp or 1, run.pp or 1, run.ep or 1, run.dp or 1, bool(run.attention_dp))


def software_text(record: Record) -> str:
    """Return the serving engine of a run with its version, where that is more than a name, and its month."""
    run, version = record.request, record.engine_version or ""
    engine = engine_name(run.serving_engine or UNKNOWN)
    named = engine if version.lower() in ("", run.serving_engine) else f"{engine} {version}"
    return f"{named}, {run.date}"
