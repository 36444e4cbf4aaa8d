"""Whether the rules of serving engines are about models and parts that the catalog has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from gpudesk.catalog.files import DataFiles
from gpudesk.catalog.problems import Problem
from gpudesk.catalog.serving_engine_files import FOLDER
from gpudesk.domain.serving_engines import ServingEngine, When


def engine_problems(engines: tuple[ServingEngine, ...], files: DataFiles) -> Iterator[Problem]:
    """Yield every rule for a model, a generation or a platform that no file describes."""
    known = _known(files)
    for engine in engines:
        for field, name in sorted(set(_named(engine))):
            if name not in known[field.rpartition(".")[2]]:
                yield Problem(f"{FOLDER}/{engine.id}.toml", field, f"there is no {name!r}")


def _known(files: DataFiles) -> dict[str, frozenset[str]]:
    """Return the names that each kind of field can have; a part can have several platforms, by commas."""
    platforms = (
        str(claim.value).split(",")
        for entry in files.accelerators
        for claim in entry.record.attributes["software_platform"].claims
    )
    return {
        "models": frozenset(entry.record.id for entry in files.models),
        "generations": frozenset(entry.record.generation for entry in files.accelerators),
        "platforms": frozenset(name.strip() for name in chain.from_iterable(platforms)),
    }


def _named(engine: ServingEngine) -> Iterator[tuple[str, str]]:
    """Yield every such name with the field in which it stands."""
    for number, rule in enumerate(engine.cannot_serve, start=1):
        yield from ((f"cannot_serve.{number}.models", name) for name in rule.models)
    for field, when in _conditions(engine):
        yield from ((f"{field}.when.generations", name) for name in when.generations)
        yield from ((f"{field}.when.platforms", name) for name in when.platforms)


def _conditions(engine: ServingEngine) -> Iterator[tuple[str, When]]:
    for part in ("platforms", "settings", "kernels", "kv", "preference", "cannot_serve"):
        for number, rule in enumerate(getattr(engine, part), start=1):
            yield f"{part}.{number}", rule.when
