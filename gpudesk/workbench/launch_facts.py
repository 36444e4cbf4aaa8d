"""The options of serving engines, read from their file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gpudesk.domain.launch import LaunchFacts, LaunchSource
from gpudesk.domain.messages import InputError, message
from gpudesk.workbench.files import read_toml

#: What every engine must name, of its server and of its benchmark.
_SERVER: Final = (
    "command",
    "model",
    "tp",
    "pp",
    "max_batch",
    "max_batched_tokens",
    "context",
    "memory_fraction",
)
_BENCHMARK: Final = (
    "command",
    "model",
    "dataset",
    "input_tokens",
    "output_tokens",
    "requests",
    "concurrency",
    "request_rate",
)


def read_launch_facts(path: Path) -> Mapping[str, LaunchFacts]:
    """Return the options by serving engine; raises `InputError` that names file and place."""
    document = read_toml(path)
    return MappingProxyType({engine: _facts(engine, entry, path) for engine, entry in document.items()})


def _facts(engine: str, entry: dict[str, Any], path: Path) -> LaunchFacts:
    for table, names in (("server", _SERVER), ("benchmark", _BENCHMARK)):
        missing = tuple(name for name in names if name not in entry.get(table, {}))
        if missing:
            raise InputError(message("launch.missing", names=missing), f"{path}: {engine}.{table}")
    server, benchmark = dict(entry["server"]), dict(entry["benchmark"])
    return LaunchFacts(
        serving_engine=engine,
        name=entry["name"],
        version=entry["version"],
        retrieved=entry["retrieved"],
        sources=tuple(LaunchSource(each["title"], each["url"]) for each in entry["sources"]),
        step_limits_of=entry["step_limits_of"],
        server_command=tuple(server.pop("command")),
        server=MappingProxyType(server),
        kv=MappingProxyType(dict(entry["kv"])),
        benchmark_command=tuple(benchmark.pop("command")),
        benchmark=MappingProxyType(benchmark),
    )
