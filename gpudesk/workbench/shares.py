"""Where time goes: shares of a step by what limits it, and the parts of one request's time."""

from __future__ import annotations

from typing import Final

import numpy as np

from gpudesk.domain.charts import PREFILL, RequestTime, Share, StepShares
from gpudesk.domain.estimates import Estimate
from gpudesk.engine.steps import LIMITERS, Array, StepTime
from gpudesk.workbench.deployed import Operation

#: Limiters that take time; capacity does not.
_NAMES: Final = tuple(str(limiter) for limiter in LIMITERS[:4])


def step_shares(operation: Operation) -> StepShares:
    """Return where the time of a single deployment goes.

    TPOT is the decode step over the tokens that it yields, and the rest is the prefill mixed in.
    """
    rounds = operation.rounds
    decode = _parts(rounds.decode)
    return StepShares(
        run=_named(np.array([float(part[0]) for part in rounds.parts])),
        token=_token(operation, decode),
        decode=_named(decode),
        prefill=_named(_parts(rounds.prefill)),
    )


def _parts(step: StepTime) -> Array:
    """Seconds of a step in the order of the limiters."""
    return np.array(
        [float(part[0]) for part in (step.read, step.arithmetic, step.collectives, step.overhead)]
    )


def _named(seconds: Array, names: tuple[str, ...] = _NAMES) -> tuple[Share, ...]:
    shares = (seconds / seconds.sum()).tolist()
    return tuple(Share(name, share) for name, share in zip(names, shares, strict=True))


def _token(operation: Operation, decode: Array) -> tuple[Share, ...] | None:
    later = float(operation.arrays.requests.output[0]) - 1.0
    tpot = float(operation.results.tpot[0])
    if later <= 0 or not np.isfinite(tpot):
        return None
    stepping = float(operation.rounds.decoding[0]) / later
    parts = decode / decode.sum() * stepping
    # Steps of a run that ends are emptier at times, and where speculation yields more than is asked for the
    # last one counts whole: both leave nothing over.
    return _named(np.append(parts, max(0.0, tpot - stepping)), (*_NAMES, PREFILL))


def request_time(operation: Operation, estimate: Estimate) -> RequestTime | None:
    """Divide the time of one request; None where the load has no such time.

    Its own prefill takes what it would take alone; what TTFT has beyond that is waiting.
    """
    whole, first = estimate.request_s, estimate.ttft_ms
    if whole is None or first is None:
        return None
    ttft = first.value / 1e3
    prefill = min(float(operation.rounds.alone[0]), ttft)
    return RequestTime(ttft - prefill, prefill, whole.value - ttft)
