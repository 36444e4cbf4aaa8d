"""An estimate as the JSON object that `estimate` writes: keys, order and units are a contract."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Banded, Estimate, MemoryUse, Pool, Pools
from gpudesk.domain.messages import Message
from gpudesk.domain.units import GIB
from gpudesk.sentences import sentence

_PER_GIB: Final = 1.0 / GIB


def estimate_fields(
    estimate: Estimate, identity: str | int | None = None, say: Callable[[Message], str] = sentence
) -> dict[str, Any]:
    """Return the object of one line; figures without meaning are null, memory is in GiB.

    `say` turns notes into sentences.
    """
    limiter = estimate.limiter
    fields: dict[str, Any] = {
        "id": identity,
        "fits": estimate.fits,
        "serving_engine": estimate.serving_engine,
        "parallel": parallel_fields(estimate.plan),
        "count": estimate.count,
        "concurrency": estimate.concurrency,
        "admitted": estimate.admitted,
        "limiter": None if limiter is None else limiter.value,
        "basis": estimate.basis.value,
        "output_tokens_per_s": banded_fields(estimate.output_tokens_per_s),
        "total_tokens_per_s": banded_fields(estimate.total_tokens_per_s),
        "output_tokens_per_s_per_accelerator": banded_fields(estimate.output_tokens_per_s_per_accelerator),
        "ttft_ms": banded_fields(estimate.ttft_ms),
        "tpot_ms": banded_fields(estimate.tpot_ms),
        "request_s": banded_fields(estimate.request_s),
        "batch_s": banded_fields(estimate.batch_s),
        "stable": estimate.stable,
        "memory_gib": memory_fields(estimate.memory),
        "max_concurrency": estimate.max_concurrency,
        "notes": [say(note) for note in estimate.notes],
        "pools": None if estimate.pools is None else pools_fields(estimate.pools),
    }
    if not estimate.fits:
        fields["reason"] = None if estimate.reason is None else sentence(estimate.reason)
        fields["needs"] = estimate.needs
    return fields


def parallel_fields(plan: ParallelPlan) -> dict[str, int | bool]:
    """Return the degrees of a plan."""
    return {"tp": plan.tp, "pp": plan.pp, "ep": plan.ep, "dp": plan.dp, "attention_dp": plan.attention_dp}


def pools_fields(pools: Pools) -> dict[str, Any]:
    """Return the pools of a disaggregated deployment; `busy` is a share of what each could do."""
    return {
        "prefill": _pool_fields(pools.prefill),
        "decode": _pool_fields(pools.decode),
        "transfer_ms": pools.transfer_ms,
        "transfer_gib": pools.transfer_bytes * _PER_GIB,
        "link": pools.link,
        "link_busy": pools.link_busy,
        "binding": "link" if pools.binding is None else pools.binding.value,
    }


def _pool_fields(pool: Pool) -> dict[str, Any]:
    return {"count": pool.count, "parallel": parallel_fields(pool.plan), "busy": pool.busy}


def memory_fields(use: MemoryUse) -> dict[str, float]:
    """Return the memory of the fullest accelerator in GiB."""
    return {
        "capacity": use.capacity_bytes * _PER_GIB,
        "weights": use.weights_bytes * _PER_GIB,
        "kv": use.kv_bytes * _PER_GIB,
        "activations": use.activations_bytes * _PER_GIB,
        "runtime": use.runtime_bytes * _PER_GIB,
        "free": use.free_bytes * _PER_GIB,
    }


def banded_fields(figure: Banded | None) -> dict[str, float] | None:
    """Return a figure with its band; None where it has no meaning."""
    # Also false for what is not a number; the ends enclose the value.
    if figure is None or not (figure.low > 0.0 and figure.high < math.inf):
        return None
    return {"value": figure.value, "low": figure.low, "high": figure.high}
