"""The commands that start a deployment and measure it, with what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gpudesk.domain.estimates import Estimate
from gpudesk.domain.messages import Message


@dataclass(frozen=True, slots=True)
class LaunchSource:
    """Where options were read."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """What the options of a serving engine are called in the version that was looked at.

    `server` and `benchmark` map what an option does to its name, an empty name standing for a value without
    one; `kv` maps formats of the KV cache to the engine's words. `step_limits_of` says whether what limits a
    step is given for each attention rank or for the replica, whose ranks then share it.
    """

    serving_engine: str
    name: str
    version: str
    retrieved: str
    sources: tuple[LaunchSource, ...]
    step_limits_of: Literal["rank", "replica"]
    server_command: tuple[str, ...]
    server: Mapping[str, str]
    kv: Mapping[str, str]
    benchmark_command: tuple[str, ...]
    benchmark: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class LaunchFile:
    """A file that a command reads."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class LaunchPlan:
    """How one replica of an estimate is started, and how all of them are measured under its load.

    Commands are text for a POSIX shell. `notes` say what they leave to whoever runs them.
    """

    estimate: Estimate
    facts: LaunchFacts
    server: str
    benchmark: str
    files: tuple[LaunchFile, ...] = ()
    notes: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class LaunchSettings:
    """Settings that an estimate was made with, for one replica.

    `max_batch` (sequences) and `max_batched_tokens` are those of a step of one of `attention_ranks`.
    `memory_fraction` is the serving engine's own setting; `hosts` is how many one replica spans, where a host
    is what one scale-up network joins: `domain_over_machines` accelerators if those are in several machines.
    """

    max_batch: int
    max_batched_tokens: int
    attention_ranks: int
    memory_fraction: float
    hosts: int
    domain_over_machines: int | None
    max_context: int | None
    model: str
