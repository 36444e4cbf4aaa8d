"""The scenario file: one scenario as JSON that people can read and compare line by line.

    {
      "gpudesk": 1,
      "catalog": {"version": 1, "revision": "…"},
      "own_records": {"version": 1, "records": [...]},
      "demand": {"version": 1, "kind": "users", "amount": 500, …},
      "scenario": {"version": 1, "name": "…", "model": "…", …}
    }

Each section has its own version. Sections that this program does not know survive a save as they are; a
section of a newer version is refused. Keys are sorted and numbers are those of JSON, whatever the locale.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gpudesk.domain.messages import InputError, message
from gpudesk.domain.scenarios import Scenario
from gpudesk.workbench.cost_fields import cost_fields, parse_costs
from gpudesk.workbench.decision_fields import decision_fields, parse_decision
from gpudesk.workbench.demand_fields import demand_fields, parse_demand
from gpudesk.workbench.fields import wrong_type
from gpudesk.workbench.files import read_bytes, write_atomically
from gpudesk.workbench.pdf_attachment import attached_scenario, is_pdf
from gpudesk.workbench.scenario_fields import parse_scenario_fields, scenario_fields
from gpudesk.workbench.strict_json import DuplicateKeyError, no_constant, unique

SUFFIX: Final = ".gpudesk"
#: Version of the file as a whole, and of each section that this program knows.
FORMAT: Final = 1
_SECTIONS: Final = {"scenario": 1, "catalog": 1, "own_records": 1, "demand": 1, "costs": 1, "decision": 1}
#: No scenario comes near this; it keeps a wrong file from filling the memory.
_MOST_BYTES: Final = 16 << 20


def read_scenario(path: Path) -> Scenario:
    """Read a scenario file, or the scenario that a sheet saved as PDF carries.

    Raises `InputError` that names the file, the place in it and the remedy.
    """
    raw = read_bytes(path, _MOST_BYTES)
    if is_pdf(raw):
        raw = attached_scenario(raw, str(path), _MOST_BYTES)
    return parse_scenario(raw, str(path))


def write_scenario(scenario: Scenario, path: Path) -> None:
    """Write a scenario file so that at any moment either the old or the new one is there, whole."""
    write_atomically(path, scenario_text(scenario).encode())


def scenario_text(scenario: Scenario) -> str:
    """Return the contents of the scenario's file."""
    document: dict[str, Any] = {**scenario.unknown_sections, "gpudesk": FORMAT}
    document["scenario"] = {"version": _SECTIONS["scenario"], **scenario_fields(scenario)}
    if scenario.catalog_revision is not None:
        document["catalog"] = {"version": _SECTIONS["catalog"], "revision": scenario.catalog_revision}
    if scenario.own_records:
        records = [dict(record) for record in scenario.own_records]
        document["own_records"] = {"version": _SECTIONS["own_records"], "records": records}
    if scenario.demand is not None:
        document["demand"] = {"version": _SECTIONS["demand"], **demand_fields(scenario.demand)}
    if costs := cost_fields(scenario.costs):
        document["costs"] = {"version": _SECTIONS["costs"], **costs}
    if decision := decision_fields(scenario.decision):
        document["decision"] = {"version": _SECTIONS["decision"], **decision}
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def parse_scenario(raw: bytes, where: str) -> Scenario:
    """Return the scenario that the contents of a file state; `where` names the file in errors."""
    document = _document(raw, where)
    _check_format(document, where)
    for section in _SECTIONS:
        _check_section(document, section, where)
    try:
        return _with_sections(document, _scenario(document))
    except InputError as error:
        place = f"{where}: {error.where}" if error.where else where
        raise InputError(error.problem, place) from error


def _scenario(document: Mapping[str, Any]) -> Scenario:
    """Return the scenario of its own section."""
    return parse_scenario_fields(
        _without_version(document["scenario"]),
        catalog_revision=_revision(document.get("catalog")),
        own_records=_records(document.get("own_records")),
        unknown_sections={
            name: value for name, value in document.items() if name not in _SECTIONS and name != "gpudesk"
        },
    )


def _with_sections(document: Mapping[str, Any], scenario: Scenario) -> Scenario:
    """Return the scenario with the sections that a file can do without."""
    if (stated := document.get("demand")) is not None:
        scenario = replace(scenario, demand=parse_demand(_without_version(stated)))
    if (stated := document.get("costs")) is not None:
        scenario = replace(scenario, costs=parse_costs(_without_version(stated)))
    if (stated := document.get("decision")) is not None:
        scenario = replace(scenario, decision=parse_decision(_without_version(stated)))
    return scenario


def _document(raw: bytes, where: str) -> dict[str, Any]:
    try:
        document = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=unique, parse_constant=no_constant)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(message("scenario.not_utf8", line=line), where) from error
    except json.JSONDecodeError as error:
        # A whole file ends with the brace of its object; one that was cut off seldom does.
        cut = error.pos >= len(error.doc.rstrip()) or not error.doc.rstrip().endswith("}")
        problem = message(
            "scenario.cut_short" if cut else "scenario.not_json", line=error.lineno, column=error.colno
        )
        raise InputError(problem, where) from error
    except DuplicateKeyError as error:
        raise InputError(message("scenario.twice", field=error.key), where) from error
    except (RecursionError, ValueError) as error:
        raise InputError(message("scenario.not_a_scenario"), where) from error
    if type(document) is not dict:
        raise InputError(message("scenario.not_a_scenario"), where)
    _refuse_half_characters(document, where)
    return document


def _refuse_half_characters(document: dict[str, Any], where: str) -> None:
    """Refuse escapes of half a character anywhere, since no file could be written with them."""
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise InputError(message("field.half_character"), where) from error


def _check_format(document: Mapping[str, Any], where: str) -> None:
    version = document.get("gpudesk")
    if type(version) is not int or version < 1 or "scenario" not in document:
        raise InputError(message("scenario.not_a_scenario"), where)
    if version != FORMAT:
        raise InputError(message("scenario.newer", version=version, known=FORMAT), where)


def _check_section(document: Mapping[str, Any], name: str, where: str) -> None:
    """Refuse a known section that is not an object or of a version that is not known."""
    section = document.get(name)
    if section is None and name != "scenario":
        return
    if type(section) is not dict:
        error = wrong_type(name, section, "object")
        raise InputError(error.problem, f"{where}: {name}")
    version = section.get("version")
    if type(version) is not int or version < 1:
        error = wrong_type(name, version, "whole")
        raise InputError(error.problem, f"{where}: {name}.version")
    if version != _SECTIONS[name]:
        problem = message("scenario.newer_section", section=name, version=version, known=_SECTIONS[name])
        raise InputError(problem, where)


def _without_version(section: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in section.items() if name != "version"}


def _revision(section: Mapping[str, Any] | None) -> str | None:
    """Return the revision of the catalog at the last save."""
    revision = None if section is None else section.get("revision")
    if revision is not None and type(revision) is not str:
        raise wrong_type("catalog.revision", revision, "text")
    return revision


def _records(section: Mapping[str, Any] | None) -> tuple[Mapping[str, object], ...]:
    """Return the copies of the user's own records."""
    records = [] if section is None else section.get("records", [])
    if type(records) is not list:
        raise wrong_type("own_records.records", records, "list")
    for position, record in enumerate(records):
        if type(record) is not dict:
            raise wrong_type(f"own_records.records[{position}]", record, "object")
    return tuple(records)
