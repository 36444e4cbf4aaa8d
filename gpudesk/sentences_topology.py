"""The sentences of what spreading a model over accelerators costs.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

TOPOLOGY_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "topology.falls_idle": "slower than on {fewer}: stages wait {share} of the time",
        "topology.falls_links": "slower than on {fewer}: links take {share} of a step",
        "topology.falls_overhead": "slower than on {fewer}: overhead takes {share} of a step",
        "topology.pools": "its accelerators form pools, each with its own plan; compare it without them",
        "topology.unspread": "Neither is spread over several accelerators, so nothing is lost to links.",
        "topology.cost": "Of a decode step of {many}, {share} goes to communication with one request at a "
        "time ({each} a token), {now} at this load.",
        "topology.bandwidth_more": "Links leave it {left} of memory bandwidth, {ahead} more than {few} keeps "
        "({whole}).",
        "topology.bandwidth_less": "Links leave it {left} of memory bandwidth, {ahead} less than {few} keeps "
        "({whole}).",
        "topology.bandwidth_same": "Links leave it {left} of memory bandwidth, as much as {few} keeps "
        "({whole}).",
        "topology.room": "{roomy} leaves {room} for the KV cache and runs {most} such requests at once, "
        "{tight} {less} and {fewest}.",
        "topology.single_many": "So with one request at a time {many} is ahead, sharded as it is: {own} a "
        "token against {against}.",
        "topology.single_few": "So with one request at a time {few} is ahead: {against} a token against "
        "{own}.",
        "topology.single_none": "With one request at a time nobody wins: {many} takes {own} a token, {few} "
        "{against}, which is within the error of the estimate.",
        "topology.load_many": "At this load {many} is ahead, {own} against {against}: here the argument for "
        "fewer parts does not hold.",
        "topology.load_few": "At this load {few} is ahead, {against} against {own}: here the argument for "
        "fewer parts holds.",
        "topology.load_few_by_room": "At this load {few} is ahead, {against} against {own}, since {many} "
        "holds only {held} requests at once: it is room that decides, not what links cost.",
        "topology.each_many": "Counted for one accelerator {many} is ahead, {own} against {against}.",
        "topology.each_few": "Counted for one accelerator {few} is ahead, {against} against {own}.",
        "topology.each_none": "Counted for one accelerator nobody wins: {own} and {against}.",
        "topology.load_none": "At this load nobody wins: {many} yields {own}, {few} {against}, which is "
        "within the error of the estimate.",
    }
)

TOPOLOGY_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

TOPOLOGY_COUNTED: Final[Mapping[str, str]] = MappingProxyType({})
