"""Serving engine files: reading, validation, checks against the catalog."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, Final

from pydantic import TypeAdapter

from catalog_build.files import ENGINES_FOLDER, DataEntry, DataError, DataFileReader, DataFiles, DataProblem
from gpudesk.domain.model import FFN_KINDS, MIXER_KINDS
from gpudesk.domain.serving_engine import (
    EngineCondition,
    EnginePreferenceRule,
    EngineSetting,
    EngineSettingRule,
    KernelPathKind,
    KernelRule,
    KvCacheRule,
    ParallelSupport,
    PlatformRule,
    ServingEngine,
    SplitRule,
    UnsupportedModelRule,
)

_ADAPTER: Final = TypeAdapter(ServingEngine)
_MONTH: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
#: Fields of all tables but conditions that must not be empty.
_NEVER_EMPTY: Final = frozenset(
    {"name", "family", "source", "note", "reason", "weights", "kv", "parts", "platforms", "kernels"}
)
_FRACTIONS: Final = frozenset({EngineSetting.MEMORY_FRACTION, EngineSetting.SAFE_MEMORY_FRACTION})
_SHARES: Final = frozenset({EngineSetting.WINDOW_SHARE, EngineSetting.STATE_SHARE})
_SWITCHES: Final = frozenset(
    {
        EngineSetting.CHUNKED_PREFILL,
        EngineSetting.MIXED_STEPS,
        EngineSetting.KV_ON_DEMAND,
        EngineSetting.PRESENT_RUNTIME,
    }
)

#: Tables of a file.
_EngineTable = (
    ServingEngine
    | ParallelSupport
    | PlatformRule
    | EngineSettingRule
    | KernelRule
    | KvCacheRule
    | EnginePreferenceRule
    | UnsupportedModelRule
    | SplitRule
    | EngineCondition
)
#: The path of a field, counted from 1, and its problem.
_Fault = tuple[str, str]


def write_engine_json(engine: ServingEngine) -> str:
    """Write an engine with its rules as JSON; the same engine gives the same text."""
    plain = _sort_json(_ADAPTER.dump_python(engine, mode="json"))
    return TypeAdapter(Any).dump_json(plain).decode()


def read_serving_engines(data_dir: Path) -> tuple[ServingEngine, ...]:
    """Read every engine, by id, without the catalog; raises `DataError` with every problem of the files."""
    reader = DataFileReader(data_dir)
    entries = reader.folder(ENGINES_FOLDER, ServingEngine)
    if problems := [*reader.problems, *find_engine_faults(entries, None)]:
        raise DataError(problems)
    return tuple(sorted((entry.record for entry in entries), key=lambda engine: engine.id))


def find_engine_faults(
    entries: Sequence[DataEntry[ServingEngine]], known_ids: frozenset[str] | None
) -> Iterator[DataProblem]:
    """Yield the inconsistencies of single files; `known_ids` are the sources, None if unknown."""
    for entry in entries:
        if entry.record.id != PurePosixPath(entry.file).stem:
            yield entry.problem("id", f"must be the name of the file, given '{entry.record.id}'")
        yield from (entry.problem(field, problem) for field, problem in _find_faults(entry.record, known_ids))


def _find_faults(engine: ServingEngine, known_ids: frozenset[str] | None) -> Iterator[_Fault]:
    """Yield the inconsistencies of a file whose fields all have the right types."""
    for place, table in _iterate_tables(engine):
        yield from _check_when(place, table) if isinstance(table, EngineCondition) else _check_empty(place, table)
        source = getattr(table, "source", None)
        if source and known_ids is not None and source not in known_ids:
            yield f"{place}source", f"there is no source {source!r} in sources/"
    yield from _check_last_rules(engine)
    yield from _check_values(engine)
    for number, rule in enumerate(engine.kernels, start=1):
        if rule.path is KernelPathKind.WEIGHT_ONLY and rule.arithmetic is None:
            yield f"kernels.{number}.arithmetic", "is missing: the weights are widened to it"
        for name in ("hidden_multiple", "intermediate_multiple"):
            if getattr(rule, name) < 1:
                yield f"kernels.{number}.{name}", f"{getattr(rule, name)} is no whole number above 0"
    for number, split in enumerate(engine.splits, start=1):
        if split.filled_to < 1:
            yield f"splits.{number}.filled_to", f"{split.filled_to} is no whole number above 0"
    yield from _check_layer_kinds(engine)


def _iterate_tables(table: _EngineTable, place: str = "") -> Iterator[tuple[str, _EngineTable]]:
    """Yield every table of a file with the path to its fields."""
    yield place, table
    for field in fields(table):
        value = getattr(table, field.name)
        if isinstance(value, ParallelSupport | EngineCondition):
            yield from _iterate_tables(value, f"{place}{field.name}.")
        elif isinstance(value, tuple):  # tables of rules
            for number, rule in enumerate(value, start=1):
                yield from _iterate_tables(rule, f"{place}{field.name}.{number}.")


def _check_empty(place: str, table: _EngineTable) -> Iterator[_Fault]:
    for field in fields(table):
        value = getattr(table, field.name)
        if field.name in _NEVER_EMPTY and value is not None and not value:
            yield f"{place}{field.name}", "is empty"


def _check_when(place: str, when: EngineCondition) -> Iterator[_Fault]:
    """Months are written as YYYY-MM, and bounds are in order."""
    for name in ("since", "until"):
        month = getattr(when, name)
        if month is not None and not _MONTH.fullmatch(month):
            yield f"{place}{name}", f"write the month as YYYY-MM, given {month!r}"
    if when.since is not None and when.until is not None and when.since >= when.until:
        yield f"{place}until", "is not after since"
    low, high = when.least_memory_bytes, when.below_memory_bytes
    if low is not None and high is not None and low >= high:
        yield f"{place}below_memory_bytes", "is not above least_memory_bytes"


def _check_last_rules(engine: ServingEngine) -> Iterator[_Fault]:
    """Every setting ends in an unconditional rule, so that no accelerator lacks a value."""
    last = {rule.setting: rule for rule in engine.settings}
    for setting in EngineSetting:
        if setting not in last:
            yield "settings", f"there is none for {setting}"
        elif last[setting].when != EngineCondition():
            yield "settings", f"the last rule for {setting} has conditions; end with one that always holds"


def _check_values(engine: ServingEngine) -> Iterator[_Fault]:
    """Fractions and shares are between 0 and 1, switches are 0 or 1, all others are whole numbers above 0.

    Only the memory of attention ranks can be 0.
    """
    for number, rule in enumerate(engine.settings, start=1):
        field = f"settings.{number}.value"
        if rule.setting in _FRACTIONS:
            if not 0 < rule.value <= 1:
                yield field, f"{rule.value} is no fraction between 0 and 1"
        elif rule.setting in _SHARES:
            if not 0 <= rule.value <= 1:
                yield field, f"{rule.value} is no share from 0 to 1"
        elif rule.setting in _SWITCHES:
            if rule.value not in (0, 1):
                yield field, f"{rule.value} is neither 1 (on) nor 0 (off)"
        elif rule.setting is EngineSetting.ATTENTION_RANK_BYTES and rule.value == 0:
            continue
        elif not math.isfinite(rule.value) or rule.value <= 0 or rule.value != int(rule.value):
            yield field, f"{rule.value} is no whole number above 0"


def _check_layer_kinds(engine: ServingEngine) -> Iterator[_Fault]:
    for number, against in enumerate(engine.cannot_serve, start=1):
        place = f"cannot_serve.{number}"
        if not (against.models or against.mixers or against.ffns):
            yield place, "names no models, mixers or ffns"
        yield from _check_kinds(f"{place}.mixers", against.mixers, MIXER_KINDS)
        yield from _check_kinds(f"{place}.ffns", against.ffns, FFN_KINDS)
    for number, offered in enumerate(engine.kv, start=1):
        yield from _check_kinds(f"kv.{number}.except_mixers", offered.except_mixers, MIXER_KINDS)


def _check_kinds(field: str, names: frozenset[str], known_names: Mapping[str, object]) -> Iterator[_Fault]:
    yield from ((field, f"there is no kind {name!r}") for name in sorted(names - known_names.keys()))


def _sort_json(value: object) -> object:
    """Sort keys and the members of sets, whose order has no meaning."""
    if isinstance(value, dict):
        return {key: _sort_json(each) for key, each in sorted(value.items())}
    if isinstance(value, list):
        words = [each for each in value if isinstance(each, str)]
        return sorted(words) if len(words) == len(value) else [_sort_json(each) for each in value]
    return value


def find_unknown_names(files: DataFiles) -> Iterator[DataProblem]:
    """Yield every rule for a model, a generation or a platform without a file."""
    platforms = (
        str(claim.value).split(",")
        for entry in files.accelerators
        for claim in entry.record.attributes["software_platform"].claims
    )
    known_names = {
        "models": frozenset(entry.record.id for entry in files.models),
        "generations": frozenset(entry.record.generation for entry in files.accelerators),
        "platforms": frozenset(name.strip() for name in chain.from_iterable(platforms)),
    }
    for entry in files.engines:
        for field, name in sorted(set(_iterate_named(entry.record))):
            if name not in known_names[field.rpartition(".")[2]]:
                yield entry.problem(field, f"there is no {name!r}")


def _iterate_named(engine: ServingEngine) -> Iterator[tuple[str, str]]:
    for number, rule in enumerate(engine.cannot_serve, start=1):
        yield from ((f"cannot_serve.{number}.models", name) for name in rule.models)
    for field, when in _iterate_conditions(engine):
        yield from ((f"{field}.when.generations", name) for name in when.generations)
        yield from ((f"{field}.when.platforms", name) for name in when.platforms)


def _iterate_conditions(engine: ServingEngine) -> Iterator[tuple[str, EngineCondition]]:
    for part in ("platforms", "settings", "kernels", "kv", "preference", "cannot_serve", "splits"):
        for number, rule in enumerate(getattr(engine, part), start=1):
            yield f"{part}.{number}", rule.when
