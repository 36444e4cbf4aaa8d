"""The sections of a scenario file: from JSON values to scenario, demand, fleet and decision settings, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpudesk.domain.decision import QUESTIONS, WEIGHT_BOUNDS, AnswerValue, DecisionSettings
from gpudesk.domain.field_checks import (
    MISSING_FIELD,
    FieldCheck,
    accept_number,
    accept_text,
    accept_whole,
    accept_word,
    describe_unknown_word,
    make_type_error,
    make_unknown_field_error,
)
from gpudesk.domain.fleet import (
    FLEET_BOUNDS,
    NO_FLEET_SETTINGS,
    FleetSettings,
    LoadCurveKind,
    SiteCooling,
    check_multipliers,
)
from gpudesk.domain.scenario import MAX_ACCELERATORS, MAX_PALETTE_INDEX, AcceleratorChoice, Scenario
from gpudesk.domain.sizing import DEMAND_BOUNDS, Demand, DemandKind
from gpudesk.domain.workload import Load, LoadKind, Workload
from gpudesk.estimation.request_fields import REQUEST_FIELDS, WORKLOAD_FIELDS, check_degrees, write_pools_wish
from gpudesk.text.messages import InputError, input_error, message

_LONGEST_SCENARIO_NOTE: Final = 20_000

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
_CHOICE_CHECKS: Final[dict[str, tuple[str, FieldCheck]]] = {
    **{name: REQUEST_FIELDS[name] for name in _CHOICE if name in REQUEST_FIELDS},
    "slot": ("slot", accept_whole(1, MAX_PALETTE_INDEX)),
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
    shared: dict[str, tuple[str, FieldCheck]] = {
        "name": ("name", accept_text(empty=True)),
        "note": ("note", accept_text(_LONGEST_SCENARIO_NOTE, empty=True)),
        "workload": ("workload", _parse_workload),
        "accelerators": ("accelerators", _parse_choices),
        **{name: REQUEST_FIELDS[name] for name in _SHARED},
        "model": ("model", accept_text(empty=True)),
    }
    values = _check_fields("scenario", fields, shared)
    _require_fields("scenario", values, ("name", "model", "weights", "workload", "accelerators"))
    return Scenario(
        **values, catalog_revision=catalog_revision, own_records=own_records, unknown_sections=dict(unknown_sections)
    )


def write_scenario_section(scenario: Scenario) -> dict[str, Any]:
    """Return the fields of the scenario section; what is left to the program is left out."""
    fields = {name: getattr(scenario, name) for name in (*_SHARED, "name", "note")}
    fields["workload"] = write_workload_json(scenario.workload)
    fields["accelerators"] = [_write_choice_fields(choice) for choice in scenario.accelerators]
    return _list_stated_fields(fields)


def _write_choice_fields(choice: AcceleratorChoice) -> dict[str, Any]:
    fields = {name: getattr(choice, name) for name in _CHOICE}
    return _list_stated_fields({**fields, "disaggregated": write_pools_wish(choice.disaggregated)})


def write_workload_json(workload: Workload) -> dict[str, Any]:
    return _list_stated_fields(
        {
            "input_tokens": workload.input_tokens,
            "output_tokens": workload.output_tokens,
            "lengths": "varied" if workload.varied else "fixed",
            "server": workload.server,
            "prefix_hit_rate": workload.prefix_hit_rate,
            "acceptance_length": workload.acceptance_length,
            "eager": workload.eager,
            "load": write_load_fields(workload.load),
        }
    )


def write_load_fields(load: Load) -> dict[str, Any]:
    stated = {
        name: getattr(load, name) for name in ("batch", "concurrency", "requests", "request_rate", "ttft_ms", "tpot_ms")
    }
    fields: dict[str, Any] = _list_stated_fields(stated)
    if load.kind is LoadKind.SATURATE:
        fields["saturate"] = True
    if load.kind is LoadKind.LIMITS:
        fields["limit"] = load.limit
    return fields


def _list_stated_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _check_fields(where: str, fields: object, known_fields: Mapping[str, tuple[str, FieldCheck]]) -> dict[str, Any]:
    """Return the checked values of an object by the names inside; null equals omitted."""
    if not isinstance(fields, dict):
        raise make_type_error(where, fields, "object")
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in known_fields:
            raise make_unknown_field_error(where, name, known_fields)
        if value is not None:
            target, check = known_fields[name]
            values[target] = check(f"{where}.{name}", value)
    return values


def _require_fields(where: str, values: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name not in values:
            raise InputError(MISSING_FIELD, f"{where}.{name}")


def _parse_workload(where: str, value: object) -> Workload:
    values = _check_fields(where, value, WORKLOAD_FIELDS)
    _require_fields(where, values, ("input_tokens", "output_tokens", "load"))
    return Workload(**values)


def _parse_choices(where: str, value: object) -> tuple[AcceleratorChoice, ...]:
    if not isinstance(value, list):
        raise make_type_error(where, value, "list")
    if len(value) > MAX_ACCELERATORS:
        raise input_error(
            "scenario.accelerators",
            "has {count} accelerators; a comparison can have at most {most}",
            where,
            count=len(value),
            most=MAX_ACCELERATORS,
        )
    return tuple(_parse_choice(f"{where}[{position}]", item) for position, item in enumerate(value))


def _parse_choice(where: str, value: object) -> AcceleratorChoice:
    values = _check_fields(where, value, _CHOICE_CHECKS)
    _require_fields(where, values, ("accelerator",))
    check_degrees(values, f"{where}.")
    return AcceleratorChoice(**values)


_DEMAND_SECTION: Final = "demand"
_KINDS: Final = {kind.value: kind for kind in DemandKind}


def _make_range_check(name: str) -> FieldCheck:
    bounds = DEMAND_BOUNDS[name]
    return accept_number(bounds.low, bounds.high, above=bounds.above)


_DEMAND_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "kind": accept_word(_KINDS),
    **{name: _make_range_check(name) for name in DEMAND_BOUNDS},
    "spare_replicas": accept_whole(int(DEMAND_BOUNDS["spare_replicas"].low), int(DEMAND_BOUNDS["spare_replicas"].high)),
}


def parse_demand(fields: Mapping[str, Any]) -> Demand:
    """Return the demand of a section's fields; raises `InputError` with the path inside the file."""
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in _DEMAND_CHECKS:
            raise make_unknown_field_error(_DEMAND_SECTION, name, _DEMAND_CHECKS)
        if value is not None:
            values[name] = _DEMAND_CHECKS[name](f"{_DEMAND_SECTION}.{name}", value)
    for name in ("kind", "amount"):
        if name not in values:
            raise InputError(MISSING_FIELD, f"{_DEMAND_SECTION}.{name}")
    return Demand(**values)


def write_demand_section(demand: Demand) -> dict[str, Any]:
    """Return the fields of the section; limits that are not set are left out."""
    values = {name: getattr(demand, name) for name in _DEMAND_CHECKS}
    return {name: value for name, value in values.items() if value is not None} | {"kind": demand.kind.value}


_FLEET_SECTION: Final = "fleet"
_CURVES: Final = {kind.value: kind for kind in LoadCurveKind}
_COOLINGS: Final = {cooling.value: cooling for cooling in SiteCooling}
_LONGEST_ID: Final = 100
_MOST_DEMAND: Final = 1e15


def _make_fleet_check(name: str) -> FieldCheck:
    bounds = FLEET_BOUNDS[name]
    return accept_number(bounds.low, bounds.high, above=bounds.above)


_FLEET_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "curve": accept_word(_CURVES),
    **{name: _make_fleet_check(name) for name in FLEET_BOUNDS},
    "spare_systems": accept_whole(int(FLEET_BOUNDS["spare_systems"].low), int(FLEET_BOUNDS["spare_systems"].high)),
    "cooling": accept_word(_COOLINGS),
}
_FLEET_FIELDS: Final = ("own_multipliers", "systems", "instances", *_FLEET_CHECKS)


def parse_fleet(fields: Mapping[str, Any]) -> FleetSettings:
    """Return the settings of a section's fields; raises `InputError` with the path inside the file."""
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in _FLEET_FIELDS:
            raise make_unknown_field_error(_FLEET_SECTION, name, _FLEET_FIELDS)
        where = f"{_FLEET_SECTION}.{name}"
        if value is None:
            continue
        if name == "own_multipliers":
            values[name] = _parse_multipliers(value, where)
        elif name in ("systems", "instances"):
            check = accept_text(_LONGEST_ID)
            values[name] = {part: check(f"{where}.{part}", id_) for part, id_ in _require_object(value, where).items()}
        else:
            values[name] = _FLEET_CHECKS[name](where, value)
    if values.get("curve") is LoadCurveKind.OWN:
        check_multipliers(values.get("own_multipliers", ()))
    return FleetSettings(**values)


def _parse_multipliers(value: object, where: str) -> tuple[float, ...]:
    if type(value) is not list:
        raise make_type_error(where, value, "list")
    # Negative ones get the message that names the hour.
    check = accept_number(-_MOST_DEMAND, _MOST_DEMAND)
    multipliers = tuple(check(f"{where}[{hour}]", each) for hour, each in enumerate(value))
    check_multipliers(multipliers)
    return multipliers


def write_fleet_section(settings: FleetSettings) -> dict[str, Any]:
    """Return the fields of the section; what is left to the program is left out, all of it where all is."""
    stated = {name: getattr(settings, name) for name in _FLEET_FIELDS}
    fields = {name: value for name, value in stated.items() if value != getattr(NO_FLEET_SETTINGS, name)}
    for name in ("systems", "instances"):
        if name in fields:
            fields[name] = dict(fields[name])
    if "own_multipliers" in fields:
        fields["own_multipliers"] = list(fields["own_multipliers"])
    return fields


_DECISION_SECTION: Final = "decision"
_DECISION_FIELDS: Final = ("answers", "weights", "kept", "plans", "done")
_LONGEST_STEP_NOTE: Final = 2_000
_MOST_ENTRIES: Final = 500


def parse_decision(fields: Mapping[str, Any]) -> DecisionSettings:
    """Return the settings of a section's fields; raises `InputError` with the path inside the file."""
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in _DECISION_FIELDS:
            raise make_unknown_field_error(_DECISION_SECTION, name, _DECISION_FIELDS)
        if value is None:
            continue
        where = f"{_DECISION_SECTION}.{name}"
        if name in ("answers", "kept"):
            values[name] = parse_answers(value, where)
        elif name == "weights":
            values[name] = _parse_weights(value, where)
        elif name == "plans":
            values[name] = _parse_plan_values(value, where)
        else:
            values[name] = _parse_notes(value, where)
    return DecisionSettings(**values)


def write_decision_section(settings: DecisionSettings) -> dict[str, Any]:
    """Return the fields of the section that are stated; empty where none is."""
    fields: dict[str, Any] = {
        name: dict(getattr(settings, name))
        for name in ("answers", "weights", "plans", "done")
        if getattr(settings, name)
    }
    if settings.kept is not None:
        fields["kept"] = dict(settings.kept)
    return fields


def parse_answers(value: object, where: str) -> dict[str, AnswerValue]:
    """Return answers by question; raises `InputError` for one that there is not, or that is none of it."""
    answers: dict[str, AnswerValue] = {}
    for name, stated in _require_object(value, where).items():
        if name not in QUESTIONS:
            raise make_unknown_field_error(where, name, QUESTIONS)
        if stated is not None:
            answers[name] = parse_answer(name, stated, f"{where}.{name}")
    return answers


def parse_answer(name: str, value: object, where: str) -> AnswerValue:
    """Return a value as the answer to a question; raises `InputError` that lists the possible answers."""
    question = QUESTIONS[name]
    if isinstance(value, str) or question.bounds is None:
        if question.takes(value):
            return str(value)
        if question.bounds is None:
            raise InputError(describe_unknown_word(str(value), question.options), where)
        problem = message(
            "decide.number", "{given} must be a number or {allowed}", given=str(value), allowed=question.options
        )
        raise InputError(problem, where)
    bounds = question.bounds
    stated: float = accept_number(bounds.low, bounds.high, above=bounds.above)(where, value)
    return stated


def _parse_weights(value: object, where: str) -> dict[str, float]:
    check = accept_number(WEIGHT_BOUNDS.low, WEIGHT_BOUNDS.high)
    return {rule: check(f"{where}.{rule}", weight) for rule, weight in _require_object(value, where).items()}


def _parse_plan_values(value: object, where: str) -> dict[str, AnswerValue]:
    # Few files have plans, and their inputs bring everything about purchases and routing with them.
    from gpudesk.decision.purchasing.plan_inputs import parse_plans

    return parse_plans(_require_object(value, where))


def _parse_notes(value: object, where: str) -> dict[str, str]:
    check = accept_text(_LONGEST_STEP_NOTE, empty=True)
    return {step: check(f"{where}.{step}", note) for step, note in _require_object(value, where).items()}


def _require_object(value: object, where: str) -> dict[str, Any]:
    if type(value) is not dict:
        raise make_type_error(where, value, "object")
    if len(value) > _MOST_ENTRIES:
        raise input_error("decide.too_many", "has more than {most} entries; remove some", where, most=_MOST_ENTRIES)
    return value
