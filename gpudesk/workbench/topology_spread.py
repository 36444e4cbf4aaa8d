"""What deployments spend because they are spread: communication, and pipeline stages without work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from gpudesk.domain.estimates import Estimate
from gpudesk.domain.topology import Spread
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.serving import serve
from gpudesk.engine.steps import FIELDS, Rows, decode_classes, row_values
from gpudesk.workbench.deployed import arrays_of, deployed, operate

if TYPE_CHECKING:
    from gpudesk.workbench.cases import SetupTable

#: The coefficients of a step that are communication.
_COLLECTIVES: Final = [
    FIELDS.index(name) for name in ("comm_fixed", "comm_token", "ring_fixed", "ring_token")
]


class FreeLinks(NamedTuple):
    """What a deployment gains if communication takes no time: its rate over the real one, TPOT likewise."""

    rate: float
    tpot: float


def spreads(
    estimates: Sequence[Estimate], table: SetupTable, constants: ServingConstants
) -> tuple[Spread, ...]:
    """Return what each of the estimates, which must fit, spends on being spread; all in one vectorised call.

    Bands have no part in it, and neither have pools: estimates with pools must be left out.
    """
    if not estimates:
        return ()
    there = [deployed(each, table) for each in estimates]
    operation = operate(there, table, constants)
    rows, decode = operation.arrays.rows, operation.rounds.decode
    requests, rounds = operation.arrays.requests, operation.rounds
    collectives = decode.collectives / decode.total
    steps = np.where(
        requests.later > 0,
        rounds.decoding / np.maximum(requests.later, 1.0),
        decode.total / rows.tokens_per_step,
    )
    stretch = 1.0 + rows.bubble * (rows.stages - 1.0)
    running = operation.results.running.clip(1.0)
    filled = np.minimum(running / rows.stages, 1.0)
    # Without any loss, seconds of reading are bytes over the bandwidth of the data sheet.
    ideal = decode_classes(
        table.ideal([each.candidate for each in there]),
        np.maximum(running / rows.stages, 1.0),
        requests.context,
    )
    reading = ideal.dense[0] + ideal.experts[0] + ideal.head[0] + ideal.attention[0]
    drawn = reading / decode.total * filled
    overhead = decode.overhead / decode.total
    parts = (collectives, collectives * steps * 1e3, filled / stretch, drawn, overhead, steps * 1e3)
    return tuple(Spread(*row) for row in zip(*(each.tolist() for each in parts), strict=True))


def free_links(
    estimates: Sequence[Estimate], table: SetupTable, constants: ServingConstants
) -> tuple[FreeLinks, ...]:
    """Return how much faster each of the estimates would be with links that take no time, served anew."""
    there = [deployed(each, table) for each in estimates]
    arrays = arrays_of(there, table)
    freed = np.array([row_values(each.candidate.row) for each in there], dtype=np.float64).T.copy()
    freed[_COLLECTIVES] = 0.0
    real = serve(arrays.rows, arrays.requests, arrays.loads, constants)
    free = serve(Rows(freed), arrays.requests, arrays.loads, constants)
    rates, times = (free.rate / real.rate).tolist(), (free.tpot / real.tpot).tolist()
    return tuple(FreeLinks(*each) for each in zip(rates, times, strict=True))
