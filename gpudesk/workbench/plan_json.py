"""The parallel plans of an estimate as the list of JSON objects that `estimate` and `explain` write."""

from __future__ import annotations

from typing import Any

from gpudesk.domain.plans import PlanChoice, PlanOption
from gpudesk.sentences import reasons_text
from gpudesk.workbench.estimate_json import banded_fields, parallel_fields


def plan_fields(choice: PlanChoice) -> list[dict[str, Any]]:
    """Return an object for each plan, that of the estimate first; figures without meaning are null.

    `fits` is null where something else than memory rules the plan out.
    """
    return [_option(option) for option in choice.options]


def _option(option: PlanOption) -> dict[str, Any]:
    return {
        **parallel_fields(option.plan),
        "fits": option.fits,
        "output_tokens_per_s": banded_fields(option.output_tokens_per_s),
        "ttft_ms": banded_fields(option.ttft_ms),
        "tpot_ms": banded_fields(option.tpot_ms),
        "taken": option.taken,
        "within_error": option.within_error,
        "reason": reasons_text(option.reasons),
    }
