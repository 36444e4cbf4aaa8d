"""Workloads: token counts of one request, and how requests arrive."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class LoadKind(StrEnum):
    """How requests arrive."""

    BATCH = "batch"
    CONCURRENCY = "concurrency"
    SATURATE = "saturate"
    REQUEST_RATE = "request_rate"
    LIMITS = "limits"


@dataclass(frozen=True, slots=True)
class Load:
    """One of: a static batch, a closed loop, all queued at once, an open loop, or latency limits.

    `batch`: this many requests start together. `concurrency`: closed loop, with `requests` a finite run, else steady
    state. `saturate`: `requests` are queued at once. `request_rate`: requests/s of an open loop. `limits`: the highest
    throughput within `ttft_ms` and `tpot_ms` (p99 or mean).
    """

    kind: LoadKind
    batch: int | None = None
    concurrency: int | None = None
    requests: int | None = None
    request_rate: float | None = None
    ttft_ms: float | None = None
    tpot_ms: float | None = None
    limit: Literal["p99", "mean"] = "p99"


@dataclass(frozen=True, slots=True)
class Workload:
    """Requests of `input_tokens` and `output_tokens` under a load.

    `varied` lengths spread around these means as in real traffic; otherwise all requests are equal, as in a static
    batch (`uneven`). `spread` is the excess of the longest varied output over the mean, relative to real traffic.
    `prefix_hit_rate` is the share of input tokens found in the prefix cache. `acceptance_length` is the mean number of
    tokens per step of speculative decoding.
    """

    input_tokens: int
    output_tokens: int
    load: Load
    varied: bool = True
    spread: float = 1.0
    server: bool | None = None
    prefix_hit_rate: float = 0.0
    acceptance_length: float = 1.0
    eager: bool = False

    @property
    def request_tokens(self) -> int:
        """Tokens of one request, input and output."""
        return self.input_tokens + self.output_tokens

    @property
    def behind_server(self) -> bool:
        """Whether requests come through the HTTP server; by default that follows from the load."""
        if self.server is not None:
            return self.server
        return self.load.kind in (LoadKind.CONCURRENCY, LoadKind.REQUEST_RATE, LoadKind.LIMITS)

    @property
    def uneven(self) -> bool:
        """Whether requests differ in length. Those of a static batch do not: it stays full until it ends."""
        return self.varied and self.load.kind is not LoadKind.BATCH
