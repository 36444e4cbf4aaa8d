"""Values as JSON, records by field name; and the JSON of estimates, for lines of `estimate --batch` and every file.

Keys, order and units are stable.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import fields
from datetime import datetime
from enum import Enum
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

from gpudesk.domain.deployment_analysis import ComparableRun
from gpudesk.domain.estimate import DisaggregatedPools, Estimate, MemoryUse, ParallelPlan, PlanChoice
from gpudesk.domain.registry import FIGURES
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, format_message, join_messages
from gpudesk.text.units import GIB

PER_GIB: Final = 1.0 / GIB
_PLAN_FIGURES: Final = ("output_tokens_per_s", "ttft_ms", "tpot_ms")


def _write_plain(value: float | str | None) -> float | str | None:
    return None if isinstance(value, float) and not math.isfinite(value) else value


#: Types of values without contents -> their JSON. Many enumerations are texts, too.
_WRITERS: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (Enum, attrgetter("value")),
    (float | int | str | None, _write_plain),
    (Message, format_message),
    (Path, str),
    (datetime, datetime.isoformat),
)


def encode_value(value: Any) -> Any:  # noqa: ANN401 - any value, and any JSON
    """Return a value with its contents: records as objects, messages as sentences, enumerations and paths as words.

    A number that is not finite is null, and so is an interval with such an end. Raises `TypeError` for types without a
    JSON form.
    """
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    if isinstance(value, IntervalEstimate) and not all(map(math.isfinite, value)):
        return None
    if isinstance(value, Mapping):
        return {encode_value(key): encode_value(each) for key, each in value.items()}
    if isinstance(value, Set):
        value = sorted(value, key=str)
    names = getattr(value, "_fields", None)
    if names is None and isinstance(value, tuple | list):
        return [encode_value(each) for each in value]
    return {name: encode_value(getattr(value, name)) for name in names or [field.name for field in fields(value)]}


#: A field of an object: its key, the path to its value, and the fields of the records there, empty for all.
_FieldSpec = tuple[str, tuple[str, ...], tuple["_FieldSpec", ...]]


@cache
def _parse_names(names: str) -> tuple[_FieldSpec, ...]:
    levels: list[list[_FieldSpec]] = [[]]
    for token in re.findall(r"[\w.=]+|[()]", names):
        if token == "(":
            levels.append([])
        elif token == ")":
            inner = tuple(levels.pop())
            levels[-1][-1] = (*levels[-1][-1][:2], inner)
        else:
            key, _, path = token.partition("=")
            levels[-1].append((key, tuple((path or key).split(".")), ()))
    return tuple(levels[0])


def encode_fields(record: object, names: str) -> dict[str, Any]:
    """Return the fields and properties of a record, named with spaces between.

    `key=field` renames one, `key=field.inner` is a field of a record inside, null without that record, and
    `key(names)` has these fields of the record or of each record in a list.
    """
    return _encode_specs(record, _parse_names(names))


def _encode_specs(record: Any, specs: tuple[_FieldSpec, ...]) -> dict[str, Any]:  # noqa: ANN401 - any record
    encoded = {}
    for key, path, inner in specs:
        value = record
        for name in path:
            value = None if value is None else getattr(value, name)
        if not inner or value is None:
            encoded[key] = encode_value(value)
        elif isinstance(value, tuple | list) and not hasattr(value, "_fields"):
            encoded[key] = [_encode_specs(each, inner) for each in value]
        else:
            encoded[key] = _encode_specs(value, inner)
    return encoded


def encode_each(records: Iterable[object], names: str) -> list[dict[str, Any]]:
    return [encode_fields(record, names) for record in records]


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
    if estimate.user_model:
        fields["model_basis"] = "user"
    if not estimate.fits:
        fields["reason"] = None if estimate.reason is None else format_message(estimate.reason)
        fields["needs"] = estimate.needs
    return fields


def write_plan_json(plan: ParallelPlan) -> dict[str, int | bool]:
    return {"tp": plan.tp, "pp": plan.pp, "ep": plan.ep, "dp": plan.dp, "attention_dp": plan.attention_dp}


def write_pools_json(pools: DisaggregatedPools) -> dict[str, Any]:
    """Return the pools of a disaggregated deployment; `busy` is a share of the highest rate of each."""
    pool = "(count parallel=plan(tp pp ep dp attention_dp) busy)"
    return {
        **encode_fields(pools, f"prefill{pool} decode{pool} transfer_ms"),
        "transfer_gib": pools.transfer_bytes * PER_GIB,
        **encode_fields(pools, "link link_busy"),
        "binding": "link" if pools.binding is None else pools.binding.value,
    }


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
    return [
        {
            **write_plan_json(option.plan),
            "fits": option.fits,
            **{name: write_interval_json(getattr(option, name)) for name in _PLAN_FIGURES},
            **encode_fields(option, "taken=is_chosen within_error"),
            "reason": join_messages(option.reasons),
        }
        for option in choice.options
    ]


def write_record_json(records: Iterable[ComparableRun]) -> list[dict[str, Any]]:
    """Return an object for each record, the nearest first; `error` is predicted over measured, less 1."""
    return [
        {
            **encode_fields(record, "row figure measured predicted"),
            "error": record.ratio - 1,
            **encode_fields(record, "inside_band distance near as_asked differs assumed"),
            **encode_fields(record.request, "accelerator count model weights kv serving_engine"),
            "engine_version": record.engine_version,
            **encode_fields(record.request, "date tp pp ep dp attention_dp"),
            **encode_fields(record.request.workload, "input_tokens output_tokens"),
            "load": {
                "kind": record.request.workload.load.kind.value,
                **record.request.workload.load.list_stated_fields(),
            },
            **encode_fields(record, "source(id title publisher kind url date)"),
        }
        for record in records
    ]
