"""An estimate as the JSON object that `estimate` writes: keys, order and units are a contract."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from gpudesk.domain.estimates import Banded, Estimate, MemoryUse
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
    plan = estimate.plan
    limiter = estimate.limiter
    fields: dict[str, Any] = {
        "id": identity,
        "fits": estimate.fits,
        "serving_engine": estimate.serving_engine,
        "parallel": {
            "tp": plan.tp,
            "pp": plan.pp,
            "ep": plan.ep,
            "dp": plan.dp,
            "attention_dp": plan.attention_dp,
        },
        "count": estimate.count,
        "concurrency": estimate.concurrency,
        "admitted": estimate.admitted,
        "limiter": None if limiter is None else limiter.value,
        "basis": estimate.basis.value,
        "output_tokens_per_s": _banded(estimate.output_tokens_per_s),
        "total_tokens_per_s": _banded(estimate.total_tokens_per_s),
        "output_tokens_per_s_per_accelerator": _banded(estimate.output_tokens_per_s_per_accelerator),
        "ttft_ms": _banded(estimate.ttft_ms),
        "tpot_ms": _banded(estimate.tpot_ms),
        "request_s": _banded(estimate.request_s),
        "batch_s": _banded(estimate.batch_s),
        "stable": estimate.stable,
        "memory_gib": memory_fields(estimate.memory),
        "max_concurrency": estimate.max_concurrency,
        "notes": [say(note) for note in estimate.notes],
    }
    if not estimate.fits:
        fields["reason"] = None if estimate.reason is None else sentence(estimate.reason)
        fields["needs"] = estimate.needs
    return fields


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


def _banded(figure: Banded | None) -> dict[str, float] | None:
    # Also false for what is not a number; the ends enclose the value.
    if figure is None or not (figure.low > 0.0 and figure.high < math.inf):
        return None
    return {"value": figure.value, "low": figure.low, "high": figure.high}
