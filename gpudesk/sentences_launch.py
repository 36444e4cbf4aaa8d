"""The sentences of the commands that start a deployment and measure it.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

LAUNCH_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "launch.missing": "lacks {names}; restore the file",
        "launch.unfit": "It does not fit, so there is nothing to start",
        "launch.pools": "Pools for prefill and decode are systems of their own; there are no commands for "
        "them here",
        "launch.unknown": "For {engine} no commands are known; choose another serving engine",
        "launch.checkpoint": "MODEL stands for a checkpoint of {model} in {weights}: a folder, or the "
        "name of a repository",
        "launch.replicas": "Start {count} of these, each on {each} accelerators and with a port of its own, "
        "behind a balancer; send the measurement to that",
        "launch.hosts_ray": "One replica spans {hosts} hosts: start a Ray cluster over them first",
        "launch.hosts_each": "One replica spans {hosts} hosts: run the command on each, with RANK from 0 to "
        "{last} and FIRST_HOST the name of the first",
        "launch.hosts_launcher": "One replica spans {hosts} hosts: run {launcher} before the command, as one "
        "task for each accelerator",
        "launch.domain": "One scale-up network joins {domain} of them over several machines: where a replica "
        "takes more than one machine, start it over all of these",
        "launch.beyond_context": "{tokens} tokens are more than the {most} that {model} is made for: the "
        "server refuses such requests",
        "launch.kv": "{engine} has no option there for a KV cache in {kv}; it takes what the checkpoint says",
        "launch.varied": "Requests of the estimate vary in length, so the server admits twice the mean; the "
        "measurement sends them all with the mean lengths",
        "launch.speculative": "Speculative decoding needs a draft model, which the command does not name",
        "launch.prefixes": "Prefixes are kept, but random prompts share none: measure with prompts of your "
        "own",
        "launch.eager": "{engine} has no option there to run without captured graphs",
    }
)

LAUNCH_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

LAUNCH_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
