"""The scenario file: one scenario as JSON that people can read and diff line by line.

It also reads the scenario attached to a PDF, and the templates.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk import paths
from gpudesk.domain.answer import MAX_ACCELERATORS, MAX_PALETTE_INDEX, AcceleratorChoice, Answer, Scenario
from gpudesk.domain.cost import parse_costs, write_cost_section
from gpudesk.domain.decision import QUESTIONS, WEIGHT_BOUNDS, AnswerValue, DecisionSettings
from gpudesk.domain.estimate import Load, LoadKind
from gpudesk.domain.field_checks import (
    HALF_CHARACTER,
    FieldCheck,
    accept_entries,
    accept_number,
    accept_text,
    accept_whole,
    accept_word,
    check_fields,
    describe_json_fault,
    describe_unknown_word,
    find_closest,
    is_nested_too_deep,
    make_type_error,
    parse_strict_json,
    quote_value,
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
from gpudesk.files import describe_too_large, read_bytes, write_atomically
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, format_message, input_error, message
from gpudesk.text.translation import translate_data

if TYPE_CHECKING:
    from gpudesk.catalog.read import Catalog

_NOT_A_SCENARIO: Final = message(
    "scenario.not_a_scenario", "is not a GPU Desk scenario; choose a .gpudesk file or a sheet saved as PDF"
)

#: Name and media type of the attachment.
ATTACHMENT_NAME: Final = "comparison.gpudesk"
ATTACHMENT_TYPE: Final = "application/x-gpudesk"

_SIGNATURE: Final = b"%PDF-"
_STREAM: Final = re.compile(rb"(?<!end)stream(?:\r\n|\n)")
_END: Final = b"endstream"
#: Near the beginning or end of every scenario file, and unlikely in other JSON.
_KEY: Final = b'"gpudesk"'
_BLANKS: Final = b" \t\r\n\xef\xbb\xbf"
#: Enough of a deflated stream for its first characters: its tables come before the first byte.
_FIRST_BYTES: Final = 1024
#: A sheet has a few hundred streams; one of them begins like a scenario.
_MOST_STREAMS: Final = 20_000
_MOST_INFLATED: Final = 2


def is_pdf(raw: bytes) -> bool:
    return raw.startswith(_SIGNATURE)


def read_attached_scenario(raw: bytes, where: str, most: int) -> bytes:
    """Return the scenario file of at most `most` bytes in a PDF; `where` names the PDF in errors.

    Raises `InputError` without one, even if the PDF has other faults. Streams do not nest, so one pass over the file is
    enough; those that could be a scenario are inflated to `_MOST_INFLATED` times `most` bytes in total.
    """
    place, room = 0, _MOST_INFLATED * most
    for _ in range(_MOST_STREAMS):
        match = _STREAM.search(raw, place)
        if match is None or room <= 0:
            break
        content, place = _decode_stream(raw, match.end(), min(most + 1, room))
        room -= len(content)
        if _KEY not in content:
            continue
        if len(content) > most:
            raise InputError(describe_too_large(most), where)
        return content
    raise input_error("pdf.no_scenario", "is a PDF without a scenario; open a PDF sheet that GPU Desk saved", where)


def _decode_stream(raw: bytes, start: int, room: int) -> tuple[bytes, int]:
    """Return the content of a stream, up to `room` bytes, and its end; nothing if it cannot be a scenario."""
    if _begins_with_brace(raw[start : start + _FIRST_BYTES]):
        end = raw.find(_END, start)
        end = len(raw) if end < 0 else end
        # The line end before it is not part of the stream.
        content = raw[start : min(end, start + room)].removesuffix(b"\n").removesuffix(b"\r")
        return content, end
    reader = zlib.decompressobj()
    try:
        first = reader.decompress(raw[start : start + _FIRST_BYTES], _FIRST_BYTES)
        if not _begins_with_brace(first):
            return b"", start
        return _inflate(reader, first, raw, start + _FIRST_BYTES, room)
    except zlib.error:
        return b"", start


def _begins_with_brace(content: bytes) -> bool:
    return content.lstrip(_BLANKS)[:1] == b"{"


def _inflate(reader: zlib._Decompress, first: bytes, raw: bytes, start: int, room: int) -> tuple[bytes, int]:
    """Return a deflated stream whose `first` bytes are known, at most `room` bytes, and its end."""
    pieces, room, waiting = [first], room - len(first), reader.unconsumed_tail
    while room > 0 and not reader.eof:
        if not waiting:
            waiting, start = raw[start : start + 65536], start + 65536
            if not waiting:
                break
        pieces.append(reader.decompress(waiting, room))
        waiting = reader.unconsumed_tail
        room -= len(pieces[-1])
    return b"".join(pieces), min(start, len(raw)) - len(waiting) - len(reader.unused_data)


SCENARIO_SUFFIX: Final = ".gpudesk"
#: Version of the file, and of each known section.
SCENARIO_FORMAT: Final = 1
_SECTIONS: Final = {"scenario": 1, "catalog": 1, "own_records": 1, "demand": 1, "fleet": 1, "costs": 1, "decision": 1}
#: Real scenarios are below 1% of it; it keeps a wrong file from filling the memory.
_MOST_BYTES: Final = 4 << 20


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file, or the scenario in a sheet saved as PDF.

    Raises `InputError` that names the file, the place in it and the remedy.
    """
    raw = read_bytes(path, _MOST_BYTES)
    if is_pdf(raw):
        raw = read_attached_scenario(raw, str(path), _MOST_BYTES)
    return parse_scenario(raw, str(path))


def write_scenario(scenario: Scenario, path: Path) -> None:
    """Write a scenario file atomically: either the old or the new version exists, complete.

    Raises `InputError` if it exceeds the size limit of reading.
    """
    raw = format_scenario(scenario).encode()
    if len(raw) > _MOST_BYTES:
        # Unknown sections and copies of the user's facts have no limit of their own.
        raise input_error(
            "scenario.too_large",
            "would take {size}; a scenario file has at most {most}",
            str(path),
            size=(float(len(raw)), "B"),
            most=(float(_MOST_BYTES), "B"),
        )
    write_atomically(path, raw)


def format_scenario(scenario: Scenario) -> str:
    document: dict[str, Any] = {**scenario.unknown_sections, "gpudesk": SCENARIO_FORMAT}
    document["scenario"] = {"version": _SECTIONS["scenario"], **write_scenario_section(scenario)}
    if scenario.catalog_revision is not None:
        document["catalog"] = {"version": _SECTIONS["catalog"], "revision": scenario.catalog_revision}
    if scenario.user_records:
        records = [dict(record) for record in scenario.user_records]
        document["own_records"] = {"version": _SECTIONS["own_records"], "records": records}
    for name, fields in (
        ("demand", {} if scenario.demand is None else write_demand_section(scenario.demand)),
        ("fleet", write_fleet_section(scenario.fleet)),
        ("costs", write_cost_section(scenario.costs)),
        ("decision", write_decision_section(scenario.decision)),
    ):
        if fields:
            document[name] = {"version": _SECTIONS[name], **fields}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def format_answered_scenario(answer: Answer) -> bytes:
    """Return the scenario file of an answer, with the revision of the catalog that it rests on."""
    return format_scenario(replace(answer.scenario, catalog_revision=answer.catalog_revision)).encode()


def parse_scenario(raw: bytes, where: str) -> Scenario:
    """Return the scenario in the contents of a file; `where` names the file in errors."""
    document = _load_document(raw, where)
    version = document.get("gpudesk")
    if type(version) is not int or version < 1 or "scenario" not in document:
        raise InputError(_NOT_A_SCENARIO, where)
    if version != SCENARIO_FORMAT:
        raise input_error(
            "scenario.newer",
            "has format {version}, but GPU Desk reads format {known}; update GPU Desk",
            where,
            version=version,
            known=SCENARIO_FORMAT,
        )
    for section in _SECTIONS:
        _check_section(document, section, where)
    try:
        return _parse_other_sections(document, _parse_scenario_section(document))
    except InputError as error:
        place = f"{where}: {error.where}" if error.where else where
        raise InputError(error.problem, place) from error


def _parse_scenario_section(document: Mapping[str, Any]) -> Scenario:
    section = document.get("catalog")
    revision = None if section is None else section.get("revision")
    if revision is not None and type(revision) is not str:
        raise make_type_error("catalog.revision", revision, "text")
    return parse_scenario_fields(
        _drop_version(document["scenario"]),
        catalog_revision=revision,
        user_records=_parse_records(document.get("own_records")),
        unknown_sections={
            name: value for name, value in document.items() if name not in _SECTIONS and name != "gpudesk"
        },
    )


def _parse_other_sections(document: Mapping[str, Any], scenario: Scenario) -> Scenario:
    parsers: dict[str, Callable[[dict[str, Any]], Any]] = {
        "demand": parse_demand,
        "fleet": parse_fleet,
        "costs": parse_costs,
        "decision": parse_decision,
    }
    sections = {name: _drop_version(document[name]) for name in parsers if document.get(name) is not None}
    return replace(scenario, **{name: parsers[name](section) for name, section in sections.items()})


def _load_document(raw: bytes, where: str) -> dict[str, Any]:
    document = parse_strict_json(raw, where, _NOT_A_SCENARIO, _describe_fault)
    if is_nested_too_deep(document):
        raise InputError(_NOT_A_SCENARIO, where)
    # Escapes of single surrogates cannot be written to a file.
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(HALF_CHARACTER, where) from error
    return document


def _check_section(document: Mapping[str, Any], name: str, where: str) -> None:
    """Check that a known section is an object of a known version."""
    section = document.get(name)
    if section is None and name != "scenario":
        return
    if type(section) is not dict:
        error = make_type_error(name, section, "object")
        raise InputError(error.problem, f"{where}: {name}")
    version = section.get("version")
    if type(version) is not int or version < 1:
        error = make_type_error(name, version, "whole")
        raise InputError(error.problem, f"{where}: {name}.version")
    if version != _SECTIONS[name]:
        problem = message(
            "scenario.newer_section",
            "has section {section} in version {version}, but GPU Desk reads version {known}; update GPU Desk",
            section=name,
            version=version,
            known=_SECTIONS[name],
        )
        raise InputError(problem, where)


def _drop_version(section: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in section.items() if name != "version"}


def _parse_records(section: Mapping[str, Any] | None) -> tuple[Mapping[str, object], ...]:
    records = [] if section is None else section.get("records", [])
    if type(records) is not list:
        raise make_type_error("own_records.records", records, "list")
    for position, record in enumerate(records):
        if type(record) is not dict:
            raise make_type_error(f"own_records.records[{position}]", record, "object")
    return tuple(records)


#: The default scenario of the program.
SAMPLE_TEMPLATE = "mi325x-or-h200-70b"

_TEMPLATE_FOLDER = "templates"


@frozen_dataclass
class ScenarioTemplate:
    """A scenario shipped with the program, by its id."""

    id: str
    scenario: Scenario


def list_template_ids() -> tuple[str, ...]:
    return tuple(sorted(file.stem for file in paths.resource(_TEMPLATE_FOLDER).glob(f"*{SCENARIO_SUFFIX}")))


def read_template(name: str) -> Scenario:
    """Return the scenario of a template; raises `InputError` that lists the templates."""
    template_ids = list_template_ids()
    if name not in template_ids:
        raise input_error(
            "template.unknown",
            "unknown template {name}; available: {near}",
            name=quote_value(name),
            near=find_closest(name, template_ids) or template_ids,
        )
    return read_scenario(paths.resource(f"{_TEMPLATE_FOLDER}/{name}{SCENARIO_SUFFIX}"))


@cache
def list_templates() -> tuple[ScenarioTemplate, ...]:
    return tuple(ScenarioTemplate(name, read_template(name)) for name in list_template_ids())


#: More accelerators are counted in a title: their names would take two lines.
_MOST_NAMED: Final = 3


def make_title(scenario: Scenario, catalog: Catalog) -> str:
    """Return the title of the user or the template, else the names of accelerators and model.

    The title of a template applies while the scenario has the template's model and accelerators. Without a model or
    accelerators, or with an unknown one, the scenario's own name stays.
    """
    template = next((each.scenario for each in list_templates() if each.scenario.name == scenario.name), None)
    holds = scenario.name and (template is None or _list_named(scenario) == _list_named(template))
    if holds or not scenario.model or not scenario.accelerators:
        return scenario.name if template is None else translate_data(scenario.name)
    try:
        model = catalog.model(scenario.model).name
        names = dict.fromkeys(catalog.accelerator(choice.accelerator).name for choice in scenario.accelerators)
    except InputError:
        return scenario.name
    if len(names) > _MOST_NAMED:
        many = message("scenario.title_many", "{model} on {n} accelerators", model=model, n=str(len(names)))
        return format_message(many)
    name_text = ", ".join(names)
    return format_message(message("scenario.title", "{accelerators} for {model}", accelerators=name_text, model=model))


def get_valid_note(scenario: Scenario) -> str:
    """Return the note of a scenario; empty if it is a template's note that no longer applies."""
    template = next((each.scenario for each in list_templates() if each.scenario.note == scenario.note), None)
    if template is None:
        return scenario.note
    return translate_data(scenario.note) if _list_noted(scenario) == _list_noted(template) else ""


def _list_named(scenario: Scenario) -> tuple[object, ...]:
    return scenario.model, *((choice.accelerator, choice.count) for choice in scenario.accelerators)


def _list_noted(scenario: Scenario) -> tuple[object, ...]:
    return scenario.weights, scenario.kv, scenario.workload, *_list_named(scenario)


def _describe_fault(error: ValueError) -> Message:
    if isinstance(error, json.JSONDecodeError) and error.doc.strip()[:1] not in ("{", ""):
        return _NOT_A_SCENARIO
    # A complete file ends with the brace of its object; a truncated one rarely does.
    if isinstance(error, json.JSONDecodeError) and (
        error.pos >= len(error.doc.rstrip()) or not error.doc.rstrip().endswith("}")
    ):
        return message(
            "scenario.cut_short",
            "is incomplete: it ends at line {line}, column {column}; use an earlier copy",
            line=error.lineno,
            column=error.colno,
        )
    return describe_json_fault(error)


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
    user_records: tuple[Mapping[str, object], ...],
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
        **values, catalog_revision=catalog_revision, user_records=user_records, unknown_sections=dict(unknown_sections)
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
    fields: dict[str, Any] = load.list_stated_fields()
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


_DEMAND_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "kind": accept_word(_KINDS),
    **{name: bounds.make_check(whole=name == "spare_replicas") for name, bounds in DEMAND_BOUNDS.items()},
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
    **{name: bounds.make_check(whole=name == "spare_systems") for name, bounds in FLEET_BOUNDS.items()},
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
            raise InputError(describe_unknown_word(quote_value(value), question.options), where)
        problem = message(
            "decide.number", "{given} must be a number or {allowed}", given=quote_value(value), allowed=question.options
        )
        raise InputError(problem, where)
    number: float = question.bounds.make_check()(where, value)
    return number


_ANSWER_CHECKS: Final[Mapping[str, FieldCheck]] = {name: partial(parse_answer, name) for name in QUESTIONS}


def _parse_plan_values(where: str, value: object) -> dict[str, AnswerValue]:
    # Few files have plans, and their inputs load everything on purchases and routing.
    from gpudesk.decision.purchasing.plan_inputs import parse_plans

    return parse_plans(where, value)


_DECISION_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "answers": parse_answers,
    "weights": accept_entries(WEIGHT_BOUNDS.make_check()),
    "kept": parse_answers,
    "plans": _parse_plan_values,
    "done": accept_entries(accept_text(_LONGEST_STEP_NOTE, empty=True)),
}
