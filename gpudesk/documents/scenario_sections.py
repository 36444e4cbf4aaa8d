"""Sections of a scenario file: JSON values to scenario, demand, fleet and decision settings, and back."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from gpudesk.domain.answer import MAX_ACCELERATORS, MAX_PALETTE_INDEX, AcceleratorChoice, Scenario
from gpudesk.domain.decision import QUESTIONS, WEIGHT_BOUNDS, AnswerValue, DecisionSettings
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.domain.estimate_json import write_load_json
from gpudesk.domain.field_checks import (
    FieldCheck,
    accept_entries,
    accept_number,
    accept_text,
    accept_whole,
    accept_word,
    check_fields,
    describe_unknown_word,
    make_type_error,
)
from gpudesk.domain.fleet import (
    FLEET_BOUNDS,
    NO_FLEET_SETTINGS,
    FleetSettings,
    LoadCurveKind,
    SiteCooling,
    check_multipliers,
)
from gpudesk.domain.sizing import DEMAND_BOUNDS, Demand, DemandKind
from gpudesk.estimation.request_fields import REQUEST_FIELDS, accept_workload, check_degrees, write_pools_wish
from gpudesk.text.messages import InputError, input_error, message

_LONGEST_SCENARIO_NOTE: Final = 20_000

#: Fields of one accelerator of a scenario, checked like those of a request.
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
_CHOICE_CHECKS: Final[dict[str, FieldCheck]] = {
    **{name: REQUEST_FIELDS[name] for name in _CHOICE if name in REQUEST_FIELDS},
    "slot": accept_whole(1, MAX_PALETTE_INDEX),
}
#: Fields for all accelerators.
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
    checks: dict[str, FieldCheck] = {
        "name": accept_text(empty=True),
        "note": accept_text(_LONGEST_SCENARIO_NOTE, empty=True),
        "workload": accept_workload,
        "accelerators": _parse_choices,
        **{name: REQUEST_FIELDS[name] for name in _SHARED},
        "model": accept_text(empty=True),
    }
    values = check_fields("scenario", fields, checks, required=("name", "model", "weights", "workload", "accelerators"))
    return Scenario(
        **values, catalog_revision=catalog_revision, own_records=own_records, unknown_sections=dict(unknown_sections)
    )


def write_scenario_section(scenario: Scenario) -> dict[str, Any]:
    """Return the fields of the scenario section; defaults are left out."""
    fields = {name: getattr(scenario, name) for name in (*_SHARED, "name", "note")}
    workload = scenario.workload
    fields["workload"] = _list_stated_fields(
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
    fields["accelerators"] = [_write_choice_fields(choice) for choice in scenario.accelerators]
    return _list_stated_fields(fields)


def _write_choice_fields(choice: AcceleratorChoice) -> dict[str, Any]:
    fields = {name: getattr(choice, name) for name in _CHOICE}
    wish = choice.disaggregated
    return _list_stated_fields({**fields, "disaggregated": None if wish is None else write_pools_wish(wish)})


def write_load_fields(load: Load) -> dict[str, Any]:
    fields = write_load_json(load)
    if load.kind is LoadKind.SATURATE:
        fields["saturate"] = True
    if load.kind is LoadKind.LIMITS:
        fields["limit"] = load.limit
    return fields


def _list_stated_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


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
    values = check_fields(where, value, _CHOICE_CHECKS, required=("accelerator",))
    check_degrees(values, f"{where}.")
    return AcceleratorChoice(**values)


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
    return Demand(**check_fields("demand", fields, _DEMAND_CHECKS, required=("kind", "amount")))


def write_demand_section(demand: Demand) -> dict[str, Any]:
    """Return the fields of the section; limits that are not set are left out."""
    values = {name: getattr(demand, name) for name in _DEMAND_CHECKS}
    return {name: value for name, value in values.items() if value is not None} | {"kind": demand.kind.value}


_CURVES: Final = {kind.value: kind for kind in LoadCurveKind}
_COOLINGS: Final = {cooling.value: cooling for cooling in SiteCooling}
_LONGEST_ID: Final = 100
_MOST_DEMAND: Final = 1e15


def _make_fleet_check(name: str) -> FieldCheck:
    bounds = FLEET_BOUNDS[name]
    return accept_number(bounds.low, bounds.high, above=bounds.above)


def _parse_multipliers(where: str, value: object) -> tuple[float, ...]:
    if type(value) is not list:
        raise make_type_error(where, value, "list")
    # Negative ones get the message that names the hour.
    check = accept_number(-_MOST_DEMAND, _MOST_DEMAND)
    multipliers = tuple(check(f"{where}[{hour}]", each) for hour, each in enumerate(value))
    check_multipliers(multipliers)
    return multipliers


_FLEET_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "own_multipliers": _parse_multipliers,
    **dict.fromkeys(("systems", "instances"), accept_entries(accept_text(_LONGEST_ID))),
    "curve": accept_word(_CURVES),
    **{name: _make_fleet_check(name) for name in FLEET_BOUNDS},
    "spare_systems": accept_whole(int(FLEET_BOUNDS["spare_systems"].low), int(FLEET_BOUNDS["spare_systems"].high)),
    "cooling": accept_word(_COOLINGS),
}


def parse_fleet(fields: Mapping[str, Any]) -> FleetSettings:
    """Return the settings of a section's fields; raises `InputError` with the path inside the file."""
    values = check_fields("fleet", fields, _FLEET_CHECKS)
    if values.get("curve") is LoadCurveKind.OWN:
        check_multipliers(values.get("own_multipliers", ()))
    return FleetSettings(**values)


def write_fleet_section(settings: FleetSettings) -> dict[str, Any]:
    """Return the fields of the section; defaults are left out, and all fields if nothing is set."""
    values = {name: getattr(settings, name) for name in _FLEET_CHECKS}
    fields = {name: value for name, value in values.items() if value != getattr(NO_FLEET_SETTINGS, name)}
    for name in ("systems", "instances"):
        if name in fields:
            fields[name] = dict(fields[name])
    if "own_multipliers" in fields:
        fields["own_multipliers"] = list(fields["own_multipliers"])
    return fields


_LONGEST_STEP_NOTE: Final = 2_000


def parse_decision(fields: Mapping[str, Any]) -> DecisionSettings:
    """Return the settings of a section's fields; raises `InputError` with the path inside the file."""
    return DecisionSettings(**check_fields("decision", fields, _DECISION_CHECKS))


def write_decision_section(settings: DecisionSettings) -> dict[str, Any]:
    """Return the fields of the section that are stated; empty if none is."""
    fields: dict[str, Any] = {
        name: dict(getattr(settings, name))
        for name in ("answers", "weights", "plans", "done")
        if getattr(settings, name)
    }
    if settings.kept is not None:
        fields["kept"] = dict(settings.kept)
    return fields


def parse_answers(where: str, value: object) -> dict[str, AnswerValue]:
    """Return answers by question; raises `InputError` for an unknown question or an invalid answer."""
    return check_fields(where, value, _ANSWER_CHECKS)


def parse_answer(name: str, where: str, value: object) -> AnswerValue:
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
    number: float = accept_number(bounds.low, bounds.high, above=bounds.above)(where, value)
    return number


_ANSWER_CHECKS: Final[Mapping[str, FieldCheck]] = {name: partial(parse_answer, name) for name in QUESTIONS}


def _parse_plan_values(where: str, value: object) -> dict[str, AnswerValue]:
    # Few files have plans, and their inputs load everything on purchases and routing.
    from gpudesk.decision.purchasing.plan_inputs import parse_plans

    return parse_plans(where, value)


_DECISION_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "answers": parse_answers,
    "weights": accept_entries(accept_number(WEIGHT_BOUNDS.low, WEIGHT_BOUNDS.high)),
    "kept": parse_answers,
    "plans": _parse_plan_values,
    "done": accept_entries(accept_text(_LONGEST_STEP_NOTE, empty=True)),
}
