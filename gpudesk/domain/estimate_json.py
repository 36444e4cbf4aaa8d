"""The JSON of estimates, for lines of `estimate --batch` and every file. Keys, order and units are stable."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, Final

from gpudesk.domain.estimate import (
    AcceleratorPool,
    ConsideredPlan,
    DisaggregatedPools,
    Estimate,
    MemoryUse,
    ParallelPlan,
    PlanChoice,
)
from gpudesk.domain.published_run import ComparableRun
from gpudesk.domain.registry import FIGURES
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, format_message, join_messages
from gpudesk.text.units import GIB

PER_GIB: Final = 1.0 / GIB


def write_estimate_json(
    estimate: Estimate, identity: str | int | None = None, write_text: Callable[[Message], str] = format_message
) -> dict[str, Any]:
    """Return the object of one line; figures without meaning are null, memory is in GiB.

    `write_text` turns notes into sentences.
    """
    fields: dict[str, Any] = {
        "id": identity,
        "fits": estimate.fits,
        "serving_engine": estimate.serving_engine,
        "parallel": write_plan_json(estimate.plan),
        "count": estimate.count,
        "concurrency": estimate.concurrency,
        "admitted": estimate.admitted,
        "limiter": None if estimate.limiter is None else estimate.limiter.value,
        "basis": estimate.basis.value,
        **{name: write_interval_json(getattr(estimate, name)) for name in FIGURES},
        "stable": estimate.stable,
        "memory_gib": write_memory_json(estimate.memory),
        "max_concurrency": estimate.max_concurrency,
        "notes": [write_text(note) for note in estimate.notes],
        "pools": None if estimate.pools is None else write_pools_json(estimate.pools),
    }
    if estimate.own_model:
        fields["model_basis"] = "user"
    if not estimate.fits:
        fields["reason"] = None if estimate.reason is None else format_message(estimate.reason)
        fields["needs"] = estimate.needs
    return fields


def write_plan_json(plan: ParallelPlan) -> dict[str, int | bool]:
    return {"tp": plan.tp, "pp": plan.pp, "ep": plan.ep, "dp": plan.dp, "attention_dp": plan.attention_dp}


def write_pools_json(pools: DisaggregatedPools) -> dict[str, Any]:
    """Return the pools of a disaggregated deployment; `busy` is a share of the highest rate of each."""
    return {
        "prefill": _write_pool_json(pools.prefill),
        "decode": _write_pool_json(pools.decode),
        "transfer_ms": pools.transfer_ms,
        "transfer_gib": pools.transfer_bytes * PER_GIB,
        "link": pools.link,
        "link_busy": pools.link_busy,
        "binding": "link" if pools.binding is None else pools.binding.value,
    }


def _write_pool_json(pool: AcceleratorPool) -> dict[str, Any]:
    return {"count": pool.count, "parallel": write_plan_json(pool.plan), "busy": pool.busy}


def write_memory_json(use: MemoryUse) -> dict[str, float]:
    return {
        "capacity": use.capacity_bytes * PER_GIB,
        "weights": use.weights_bytes * PER_GIB,
        "kv": use.kv_bytes * PER_GIB,
        "activations": use.activations_bytes * PER_GIB,
        "runtime": use.runtime_bytes * PER_GIB,
        "free": use.free_bytes * PER_GIB,
    }


def write_interval_json(figure: IntervalEstimate | None) -> dict[str, float] | None:
    """Return a figure with its interval; None if it has no meaning."""
    # Also false for NaN; the ends enclose the value.
    if figure is None or not (figure.low > 0.0 and figure.high < math.inf):
        return None
    return {"value": figure.value, "low": figure.low, "high": figure.high}


def write_plan_choice_json(choice: PlanChoice) -> list[dict[str, Any]]:
    """Return an object for each plan, that of the estimate first; figures without meaning are null.

    `fits` is null if something other than memory rules the plan out.
    """
    return [_write_plan_option_json(option) for option in choice.options]


def _write_plan_option_json(option: ConsideredPlan) -> dict[str, Any]:
    return {
        **write_plan_json(option.plan),
        "fits": option.fits,
        "output_tokens_per_s": write_interval_json(option.output_tokens_per_s),
        "ttft_ms": write_interval_json(option.ttft_ms),
        "tpot_ms": write_interval_json(option.tpot_ms),
        "taken": option.taken,
        "within_error": option.within_error,
        "reason": join_messages(option.reasons),
    }


def write_record_json(records: Iterable[ComparableRun]) -> list[dict[str, Any]]:
    """Return an object for each record, the nearest first; `error` is predicted over measured, less 1."""
    return [_write_one_record_json(record) for record in records]


def _write_one_record_json(record: ComparableRun) -> dict[str, Any]:
    run, work, source = record.request, record.request.workload, record.source
    return {
        "row": record.row,
        "figure": record.figure,
        "measured": record.measured,
        "predicted": record.predicted,
        "error": record.ratio - 1,
        "inside_band": record.inside_band,
        "distance": record.distance,
        "near": record.near,
        "as_asked": record.as_asked,
        "differs": [str(condition) for condition in record.differs],
        "assumed": [str(condition) for condition in record.assumed],
        "accelerator": run.accelerator,
        "count": run.count,
        "model": run.model,
        "weights": str(run.weights),
        "kv": str(run.kv),
        "serving_engine": run.serving_engine,
        "engine_version": record.engine_version,
        "date": run.date,
        "tp": run.tp,
        "pp": run.pp,
        "ep": run.ep,
        "dp": run.dp,
        "attention_dp": run.attention_dp,
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "load": {name: value for name, value in _write_load_json(record) if value is not None},
        "source": {
            "id": source.id,
            "title": source.title,
            "publisher": source.publisher,
            "kind": str(source.kind),
            "url": source.url,
            "date": source.date,
        },
    }


def _write_load_json(record: ComparableRun) -> Iterable[tuple[str, Any]]:
    load = record.request.workload.load
    yield "kind", str(load.kind)
    for name in ("batch", "concurrency", "requests", "request_rate", "ttft_ms", "tpot_ms"):
        yield name, getattr(load, name)
