"""How many accelerators are needed, as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.sizing import HowMany, Needed, Size
from gpudesk.sentences import sentence


def how_many_fields(keys: Sequence[str], how_many: HowMany) -> dict[str, Any]:
    """Return what is needed by column and weight format; `keys` name the columns."""
    return {
        "needed": [
            {"accelerator": key, "formats": [_needed(each) for each in needed]}
            for key, needed in zip(keys, how_many.needed, strict=True)
        ]
    }


def _needed(needed: Needed) -> dict[str, Any]:
    return {
        "bits": needed.bits,
        "weights": needed.weights.value,
        "one_request": _size(needed.one),
        "in_flight": _size(needed.load),
        "reason": None if needed.reason is None else sentence(needed.reason),
    }


def _size(size: Size | None) -> dict[str, Any] | None:
    return None if size is None else {"count": size.count, "parallel": plan_fields(size.plan)}


def plan_fields(plan: ParallelPlan) -> dict[str, Any]:
    """Return the degrees of a plan."""
    return {
        "tp": plan.tp,
        "pp": plan.pp,
        "ep": plan.ep,
        "dp": plan.dp,
        "attention_dp": plan.attention_dp,
    }
