"""The sentences of how many accelerators a demand needs.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SIZING_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "sizing.no_demand": "says nothing of what users ask; give users, requests a second or tokens a day",
        "sizing.no_option": "no demand is given; give --users, --request-rate or --tokens-per-day",
        "sizing.pools": "is set up as pools of its own, which are not sized yet; size it without them",
        "sizing.nothing_fits": "No deployment of it that is tried holds the model and one request",
        "sizing.limits_not_met": "No deployment of {accelerator} that is tried meets the limits; with a "
        "single request it reaches {ttft} to the first token and {tpot} a token",
        "sizing.in_flight": "{count} requests are in flight at the peak, more than there are users: each has "
        "several at a time, or asks less often than is stated",
        "sizing.domain": "A host stands for the {domain} accelerators that one scale-up network joins, which "
        "are in several machines",
        "sizing.bound_rounding": "× {factor}: only whole replicas can be had, of {count} each",
        "sizing.bound_rounding:one": "× {factor}: only whole accelerators can be had",
        "sizing.bound_reserve": "× {factor}: {count} stand in reserve",
        "sizing.bound_reserve:one": "× {factor}: one stands in reserve",
        "sizing.bound_cap": "× {factor}: replicas are loaded to {share} of their rate",
        "sizing.bound_limits": "× {factor}: the latency limits leave {share} of the rate without them",
        "sizing.bound_arithmetic": "× {factor}: prompts and output are computed too, at the peak rate of "
        "arithmetic beside reading memory",
        "sizing.bound_engine": "× {factor}: kernels, communication and overhead leave {share} of the peak "
        "rates",
    }
)

SIZING_WORDS: Final[Mapping[str, str]] = MappingProxyType({})

SIZING_COUNTED: Final[Mapping[str, str]] = MappingProxyType(
    {"sizing.bound_rounding": "count", "sizing.bound_reserve": "count"}
)
