"""The fields of the scenario section: from JSON values to a `Scenario` and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpudesk.domain.messages import InputError, message
from gpudesk.domain.scenarios import MOST_ACCELERATORS, MOST_SLOTS, AcceleratorChoice, Scenario
from gpudesk.domain.workloads import Load, LoadKind, Workload
from gpudesk.workbench.fields import Check, text, unknown_field, whole, wrong_type
from gpudesk.workbench.pool_fields import pools_field
from gpudesk.workbench.requests import REQUEST_FIELDS, WORKLOAD_FIELDS, check_degrees

_LONGEST_NOTE: Final = 20_000

#: Fields of one accelerator of a scenario, checked as those of a request are.
_CHOICE: Final = (
    "accelerator",
    "count",
    "tp",
    "pp",
    "ep",
    "dp",
    "attention_dp",
    "disaggregated",
    "serving_engine",
    "slot",
)
_CHOICE_CHECKS: Final[dict[str, tuple[str, Check]]] = {
    **{name: REQUEST_FIELDS[name] for name in _CHOICE if name in REQUEST_FIELDS},
    "slot": ("slot", whole(1, MOST_SLOTS)),
}
#: Fields that hold for all accelerators.
_SHARED: Final = (
    "model",
    "weights",
    "kv",
    "serving_engine",
    "date",
    "memory_fraction",
    "max_batch",
    "max_batched_tokens",
)


def parse_scenario_fields(
    fields: Mapping[str, Any],
    *,
    catalog_revision: str | None,
    own_records: tuple[Mapping[str, object], ...],
    unknown_sections: Mapping[str, object],
) -> Scenario:
    """Return the scenario of a section's fields; raises `InputError` with the path inside the file."""
    shared: dict[str, tuple[str, Check]] = {
        "name": ("name", text(empty=True)),
        "note": ("note", text(_LONGEST_NOTE, empty=True)),
        "workload": ("workload", _workload),
        "accelerators": ("accelerators", _choices),
        **{name: REQUEST_FIELDS[name] for name in _SHARED},
        "model": ("model", text(empty=True)),
    }
    values = _checked("scenario", fields, shared)
    _require("scenario", values, ("name", "model", "weights", "workload", "accelerators"))
    return Scenario(
        **values,
        catalog_revision=catalog_revision,
        own_records=own_records,
        unknown_sections=dict(unknown_sections),
    )


def scenario_fields(scenario: Scenario) -> dict[str, Any]:
    """Return the fields of the scenario section; what is left to the program is left out."""
    fields = {name: getattr(scenario, name) for name in (*_SHARED, "name", "note")}
    fields["workload"] = workload_fields(scenario.workload)
    fields["accelerators"] = [_choice_fields(choice) for choice in scenario.accelerators]
    return _stated(fields)


def _choice_fields(choice: AcceleratorChoice) -> dict[str, Any]:
    fields = {name: getattr(choice, name) for name in _CHOICE}
    return _stated({**fields, "disaggregated": pools_field(choice.disaggregated)})


def workload_fields(workload: Workload) -> dict[str, Any]:
    """Return a workload as the fields of a request state it."""
    return _stated(
        {
            "input_tokens": workload.input_tokens,
            "output_tokens": workload.output_tokens,
            "lengths": "varied" if workload.varied else "fixed",
            "server": workload.server,
            "prefix_hit_rate": workload.prefix_hit_rate,
            "acceptance_length": workload.acceptance_length,
            "eager": workload.eager,
            "load": load_fields(workload.load),
        }
    )


def load_fields(load: Load) -> dict[str, Any]:
    """Return a load as the fields of a request state it."""
    stated = {
        name: getattr(load, name)
        for name in ("batch", "concurrency", "requests", "request_rate", "ttft_ms", "tpot_ms")
    }
    fields: dict[str, Any] = _stated(stated)
    if load.kind is LoadKind.SATURATE:
        fields["saturate"] = True
    if load.kind is LoadKind.LIMITS:
        fields["limit"] = load.limit
    return fields


def _stated(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _checked(where: str, fields: object, known: Mapping[str, tuple[str, Check]]) -> dict[str, Any]:
    """Return the checked values of an object by the names inside; null equals omitted."""
    if not isinstance(fields, dict):
        raise wrong_type(where, fields, "object")
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in known:
            raise unknown_field(where, name, known)
        if value is not None:
            target, check = known[name]
            values[target] = check(f"{where}.{name}", value)
    return values


def _require(where: str, values: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name not in values:
            raise InputError(message("field.missing"), f"{where}.{name}")


def _workload(where: str, value: object) -> Workload:
    values = _checked(where, value, WORKLOAD_FIELDS)
    _require(where, values, ("input_tokens", "output_tokens", "load"))
    return Workload(**values)


def _choices(where: str, value: object) -> tuple[AcceleratorChoice, ...]:
    if not isinstance(value, list):
        raise wrong_type(where, value, "list")
    if len(value) > MOST_ACCELERATORS:
        raise InputError(message("scenario.accelerators", count=len(value), most=MOST_ACCELERATORS), where)
    return tuple(_choice(f"{where}[{position}]", item) for position, item in enumerate(value))


def _choice(where: str, value: object) -> AcceleratorChoice:
    values = _checked(where, value, _CHOICE_CHECKS)
    _require(where, values, ("accelerator",))
    check_degrees(values, f"{where}.")
    return AcceleratorChoice(**values)
