"""The files of serving engines: TOML tables with the field names of `ServingEngine`, validated.

Whether the models and parts that their rules name exist is checked in `engine_checks`.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from gpudesk.catalog.problems import DataError, Problem, validation_problems
from gpudesk.domain.models import FFN_KINDS, MIXER_KINDS
from gpudesk.domain.serving_engines import (
    KernelRule,
    KvRule,
    ModelRule,
    ParallelSupport,
    PlatformRule,
    PreferenceRule,
    ServingEngine,
    Setting,
    SettingRule,
    When,
)
from gpudesk.domain.serving_engines import Path as KernelWay

#: Folder of the files below `data/`.
FOLDER: Final = "serving_engines"

_ADAPTER: Final = TypeAdapter(ServingEngine)
_MONTH: Final = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])")
#: Fields of all tables but conditions that say nothing when empty.
_NEVER_EMPTY: Final = frozenset(
    {"name", "family", "source", "note", "reason", "weights", "kv", "platforms", "kernels"}
)
_FRACTIONS: Final = frozenset({Setting.MEMORY_FRACTION, Setting.SAFE_MEMORY_FRACTION})
_SHARES: Final = frozenset({Setting.WINDOW_SHARE, Setting.STATE_SHARE})
_SWITCHES: Final = frozenset(
    {Setting.CHUNKED_PREFILL, Setting.MIXED_STEPS, Setting.KV_ON_DEMAND, Setting.PRESENT_RUNTIME}
)

#: Everything that is a table of its own in a file.
_Table = (
    ServingEngine
    | ParallelSupport
    | PlatformRule
    | SettingRule
    | KernelRule
    | KvRule
    | PreferenceRule
    | ModelRule
    | When
)
#: The path of a field, counted from 1, and what is wrong with it.
_Fault = tuple[str, str]


def to_json(engine: ServingEngine) -> str:
    """Write an engine with its rules as JSON; the same engine gives the same text."""
    plain = _sorted(_ADAPTER.dump_python(engine, mode="json"))
    return TypeAdapter(Any).dump_json(plain).decode()


def from_json(text: str) -> ServingEngine:
    """Read an engine that `to_json` wrote."""
    return _ADAPTER.validate_json(text)


def read_serving_engines(data_dir: Path) -> tuple[ServingEngine, ...]:
    """Read every engine, by id; raises `DataError` with every problem as file, field and fault."""
    problems: list[Problem] = []
    paths = sorted((data_dir / FOLDER).glob("*.toml"))
    if not paths:
        problems.append(Problem(FOLDER, "", "the folder holds no TOML file"))
    known = _known_sources(data_dir)
    engines = [_read(path, known, problems) for path in paths]
    if problems:
        raise DataError(problems)
    return tuple(sorted((engine for engine in engines if engine is not None), key=lambda engine: engine.id))


def _known_sources(data_dir: Path) -> frozenset[str] | None:
    """Return the slugs of all sources; None where a file cannot be read, which its own reader reports."""
    known: set[str] = set()
    for path in sorted((data_dir / "sources").glob("*.toml")):
        try:
            known.update(tomllib.loads(path.read_text(encoding="utf-8"))["sources"])
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError):
            return None
    return frozenset(known)


def _read(path: Path, known: frozenset[str] | None, problems: list[Problem]) -> ServingEngine | None:
    file = f"{FOLDER}/{path.name}"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        problems.append(Problem(file, "", f"cannot be read: {error.strerror}"))
        return None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem(file, "", f"is not TOML: {error}"))
        return None
    try:
        # By way of JSON: strict, where a number in quotes is no number, pydantic takes lists for sets and
        # words for enumerations from nothing else.
        engine = _ADAPTER.validate_json(json.dumps(content, default=str), strict=True, extra="forbid")
    except ValidationError as error:
        problems += validation_problems(error, file)
        return None
    if engine.id != path.stem:
        problems.append(Problem(file, "id", f"must be the name of the file, given '{engine.id}'"))
    problems += [Problem(file, field, told) for field, told in _faults(engine, known)]
    return engine


def _faults(engine: ServingEngine, known: frozenset[str] | None) -> Iterator[_Fault]:
    """Yield what makes no sense in a file whose fields all have the right types."""
    for place, table in _tables(engine):
        yield from _when_faults(place, table) if isinstance(table, When) else _empty(place, table)
        source = getattr(table, "source", None)
        if source and known is not None and source not in known:
            yield f"{place}source", f"there is no source {source!r} in sources/"
    yield from _last_rules(engine)
    yield from _values(engine)
    for number, rule in enumerate(engine.kernels, start=1):
        if rule.path is KernelWay.WEIGHT_ONLY and rule.arithmetic is None:
            yield f"kernels.{number}.arithmetic", "is missing: the weights are widened to it"
        for name in ("hidden_multiple", "intermediate_multiple"):
            if getattr(rule, name) < 1:
                yield f"kernels.{number}.{name}", f"{getattr(rule, name)} is no whole number above 0"
    yield from _layer_kinds(engine)


def _tables(table: _Table, place: str = "") -> Iterator[tuple[str, _Table]]:
    """Yield every table of a file with the path before its fields."""
    yield place, table
    for field in fields(table):
        value = getattr(table, field.name)
        if isinstance(value, ParallelSupport | When):
            yield from _tables(value, f"{place}{field.name}.")
        elif isinstance(value, tuple):  # of rules
            for number, rule in enumerate(value, start=1):
                yield from _tables(rule, f"{place}{field.name}.{number}.")


def _empty(place: str, table: _Table) -> Iterator[_Fault]:
    """Text and lists that must say something do."""
    for field in fields(table):
        value = getattr(table, field.name)
        if field.name in _NEVER_EMPTY and value is not None and not value:
            yield f"{place}{field.name}", "is empty"


def _when_faults(place: str, when: When) -> Iterator[_Fault]:
    """Months are written as YYYY-MM, and no bound contradicts the other."""
    for name in ("since", "until"):
        month = getattr(when, name)
        if month is not None and not _MONTH.fullmatch(month):
            yield f"{place}{name}", f"write the month as YYYY-MM, given {month!r}"
    if when.since is not None and when.until is not None and when.since >= when.until:
        yield f"{place}until", "is not after since"
    low, high = when.least_memory_bytes, when.below_memory_bytes
    if low is not None and high is not None and low >= high:
        yield f"{place}below_memory_bytes", "is not above least_memory_bytes"


def _last_rules(engine: ServingEngine) -> Iterator[_Fault]:
    """Every setting ends in a rule that always holds, so that no part is without a value."""
    last = {rule.setting: rule for rule in engine.settings}
    for setting in Setting:
        if setting not in last:
            yield "settings", f"there is none for {setting}"
        elif last[setting].when != When():
            yield "settings", f"the last rule for {setting} has conditions; end with one that always holds"


def _values(engine: ServingEngine) -> Iterator[_Fault]:
    """Fractions and shares lie between 0 and 1, switches are either, all else is a whole number above 0."""
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
        elif not math.isfinite(rule.value) or rule.value <= 0 or rule.value != int(rule.value):
            yield field, f"{rule.value} is no whole number above 0"


def _layer_kinds(engine: ServingEngine) -> Iterator[_Fault]:
    """Kinds of layers are those that models have, and a rule against models names some."""
    for number, against in enumerate(engine.cannot_serve, start=1):
        place = f"cannot_serve.{number}"
        if not (against.models or against.mixers or against.ffns):
            yield place, "names no models, mixers or ffns"
        yield from _kinds(f"{place}.mixers", against.mixers, MIXER_KINDS)
        yield from _kinds(f"{place}.ffns", against.ffns, FFN_KINDS)
    for number, offered in enumerate(engine.kv, start=1):
        yield from _kinds(f"kv.{number}.except_mixers", offered.except_mixers, MIXER_KINDS)


def _kinds(field: str, named: frozenset[str], known: Mapping[str, object]) -> Iterator[_Fault]:
    yield from ((field, f"there is no kind {name!r}") for name in sorted(named - known.keys()))


def _sorted(value: object) -> object:
    """Sort keys and the members of sets, whose order means nothing."""
    if isinstance(value, dict):
        return {key: _sorted(each) for key, each in sorted(value.items())}
    if isinstance(value, list):
        words = [each for each in value if isinstance(each, str)]
        return sorted(words) if len(words) == len(value) else [_sorted(each) for each in value]
    return value
