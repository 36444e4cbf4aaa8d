"""The files of serving engines: TOML tables with the field names of `ServingEngine`, validated."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from gpudesk.catalog.problems import DataError, Problem, validation_problems
from gpudesk.domain.serving_engines import ServingEngine

#: Folder of the files below `data/`.
FOLDER: Final = "serving_engines"

_ADAPTER: Final = TypeAdapter(ServingEngine)


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
    engines = [_read(path, problems) for path in sorted((data_dir / FOLDER).glob("*.toml"))]
    if problems:
        raise DataError(problems)
    return tuple(engine for engine in engines if engine is not None)


def _read(path: Path, problems: list[Problem]) -> ServingEngine | None:
    file = f"{FOLDER}/{path.name}"
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem(file, "", f"is not TOML: {error}"))
        return None
    try:
        engine = _ADAPTER.validate_python(content, extra="forbid")
    except ValidationError as error:
        problems += validation_problems(error, file)
        return None
    if engine.id != path.stem:
        problems.append(Problem(file, "id", f"must be the name of the file, given '{engine.id}'"))
    return engine


def _sorted(value: Any) -> Any:
    """Sort keys and the members of sets, whose order means nothing."""
    if isinstance(value, dict):
        return {key: _sorted(each) for key, each in sorted(value.items())}
    if isinstance(value, list):
        items = [_sorted(each) for each in value]
        return sorted(items) if all(isinstance(each, str) for each in items) else items
    return value
