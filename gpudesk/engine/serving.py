"""One vectorised call for any mix of loads: divides them among replicas, serves them, adds up again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.arrivals import open_loop, within_limits
from gpudesk.engine.loads import (
    Requests,
    Served,
    ServingConstants,
    closed_loop,
    saturate,
)
from gpudesk.engine.steps import Array, Rows

#: Codes of the loads in `Loads.kind`.
CODES: Final = {kind: code for code, kind in enumerate(LoadKind)}

#: Cases that one pass works on, so that its arrays stay in the cache of one core.
CHUNK: Final = 4096


@dataclass(frozen=True, slots=True)
class Loads:
    """The load of each case on its whole deployment; arrays of one shape.

    `amount`: sequences of a batch or of a closed loop, or requests/s of an open loop. `total`: requests of
    the run, infinite for steady state. `ttft` and `tpot`: limits in seconds. `replicas`: of the deployment.
    """

    kind: NDArray[np.int8]
    amount: Array
    total: Array
    ttft: Array
    tpot: Array
    p99: NDArray[np.bool_]
    replicas: Array

    def select(self, chosen: NDArray[Any] | slice) -> Loads:
        """Return the chosen cases."""
        return Loads(*(getattr(self, field.name)[chosen] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class Results:
    """What each deployment does; arrays of one shape, NaN where a figure has no meaning for the load.

    `concurrency` and `admitted` are sequences of the whole deployment, `rate` is requests/s of the whole
    deployment, `running` sequences of one replica, of which `waiting` queue for prefill together; times in
    seconds; `limiter` a position in LIMITERS.
    """

    concurrency: Array
    admitted: Array
    running: Array
    waiting: Array
    rate: Array
    ttft: Array
    tpot: Array
    duration: Array
    stable: NDArray[np.bool_]
    limiter: NDArray[np.intp]


def _batch(rows: Rows, requests: Requests, loads: Loads, constants: ServingConstants) -> Results:
    size = np.ceil(loads.amount / loads.replicas)
    served = saturate(rows, requests, size, constants)
    active = np.minimum(loads.replicas, loads.amount)
    admitted = np.minimum(loads.amount, served.running * active)
    return _results(served, loads.amount, admitted, loads.amount / served.duration)


def _closed(rows: Rows, requests: Requests, loads: Loads, constants: ServingConstants) -> Results:
    # More clients than requests send nothing.
    clients = np.minimum(loads.amount, loads.total)
    active = np.minimum(loads.replicas, clients)
    served = closed_loop(rows, requests, clients / active, loads.total / active, constants)
    return _results(served, clients, served.running * active, served.rate * active)


def _saturate(rows: Rows, requests: Requests, loads: Loads, constants: ServingConstants) -> Results:
    active = np.minimum(loads.replicas, loads.total)
    served = saturate(rows, requests, loads.total / active, constants)
    return _results(served, loads.total, served.running * active, served.rate * active)


def _open(rows: Rows, requests: Requests, loads: Loads, _: ServingConstants) -> Results:
    return _arriving(open_loop(rows, requests, loads.amount / loads.replicas), requests, loads)


def _limits(rows: Rows, requests: Requests, loads: Loads, constants: ServingConstants) -> Results:
    served = within_limits(rows, requests, loads.ttft, loads.tpot, loads.p99, constants)
    return _arriving(served, requests, loads)


def _arriving(served: Served, requests: Requests, loads: Loads) -> Results:
    """Count by Little's law who is in flight where requests come by themselves: rate times stay.

    That is one at least while there is any, and beyond what is admitted they wait. Without a stay (overload,
    limits not met) those that run are counted.
    """
    stay = served.ttft + requests.later * np.nan_to_num(served.tpot)
    inside = np.maximum(served.rate * stay * loads.replicas, 1.0)
    inside = np.where(np.isnan(stay), served.running * loads.replicas, inside)
    admitted = np.minimum(inside, requests.capacity * loads.replicas)
    return _results(served, inside, admitted, served.rate * loads.replicas)


def _results(served: Served, concurrency: Array, admitted: Array, rate: Array) -> Results:
    return Results(
        concurrency=concurrency,
        admitted=admitted,
        running=served.running,
        waiting=served.waiting,
        rate=rate,
        ttft=served.ttft,
        tpot=served.tpot,
        duration=served.duration,
        stable=served.stable,
        limiter=served.limiter,
    )


_SERVE: Final[dict[LoadKind, Callable[[Rows, Requests, Loads, ServingConstants], Results]]] = {
    LoadKind.BATCH: _batch,
    LoadKind.CONCURRENCY: _closed,
    LoadKind.SATURATE: _saturate,
    LoadKind.REQUEST_RATE: _open,
    LoadKind.LIMITS: _limits,
}


def serve(rows: Rows, requests: Requests, loads: Loads, constants: ServingConstants) -> Results:
    """Serve every case. `requests.capacity` is per replica; cases that do not fit must be left out before."""
    present = [kind for kind in LoadKind if bool(np.any(loads.kind == CODES[kind]))]
    if len(present) == 1 and len(rows) <= CHUNK:
        return _SERVE[present[0]](rows, requests, loads, constants)
    results = _empty(len(rows))
    for kind in present:
        for chosen in _chunks(loads.kind == CODES[kind]):
            part = _SERVE[kind](rows.select(chosen), requests.select(chosen), loads.select(chosen), constants)
            for field in fields(Results):
                getattr(results, field.name)[chosen] = getattr(part, field.name)
    return results


def _chunks(mask: NDArray[np.bool_]) -> Iterator[NDArray[np.intp] | slice]:
    """Yield where `mask` holds, at most CHUNK cases at a time; as slices where it holds everywhere."""
    everywhere = bool(mask.all())
    cases = np.flatnonzero(mask)
    for start in range(0, len(cases), CHUNK):
        yield slice(start, start + CHUNK) if everywhere else cases[start : start + CHUNK]


def _empty(cases: int) -> Results:
    arrays = {field.name: np.full(cases, np.nan) for field in fields(Results)}
    return Results(
        **{**arrays, "stable": np.ones(cases, dtype=np.bool_), "limiter": np.zeros(cases, dtype=np.intp)}
    )
