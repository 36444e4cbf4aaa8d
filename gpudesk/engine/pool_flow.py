"""The stations that a request passes in a disaggregated deployment: prefill pool, link, decode pool.

All times are seconds; rates are requests/s of the whole deployment; vectorised over independent cases.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.loads import Mask, Requests
from gpudesk.engine.steps import Array, Rows, StepTime, decode_step, request_prefill

#: Halvings of an interval: enough for a share of 1e-15 of it.
_HALVINGS: Final = 50
#: Decode steps that a request waits for on average: it finds the one under way half done.
UNDER_WAY: Final = 0.5
#: Seconds that a request stays in the decode pool at least, so that rates are finite without any decode step.
SHORTEST_STAY: Final = 1e-9
#: Seconds between two transfers at the least, so that rates are finite where nothing is to be moved.
_SHORTEST_SPACING: Final = 1e-12


@dataclass(frozen=True, slots=True)
class PoolPair:
    """A prefill and a decode pool in each case; arrays of one shape.

    `prompts`: that one prefill replica holds at once. `transfer`: seconds in which the cache of one prompt
    travels. `spacing`: seconds between two transfers where all ranks send and receive all the time.
    `handover`: seconds that the serving engine adds to each request that changes pools.
    """

    prefill: Rows
    decode: Rows
    prefill_replicas: Array
    decode_replicas: Array
    prompts: Array
    transfer: Array
    spacing: Array
    handover: Array

    def select(self, chosen: NDArray[Any] | slice) -> PoolPair:
        """Return the chosen cases."""
        return PoolPair(
            self.prefill.select(chosen),
            self.decode.select(chosen),
            self.prefill_replicas[chosen],
            self.decode_replicas[chosen],
            self.prompts[chosen],
            self.transfer[chosen],
            self.spacing[chosen],
            self.handover[chosen],
        )


class Flow:
    """The stations that a request passes; `queued` prompts wait in a prefill replica when it is pressed."""

    def __init__(self, pools: PoolPair, requests: Requests, queued: Array) -> None:
        """Work out what does not depend on the rate."""
        rows = pools.prefill
        self.pools = pools
        self.requests = requests
        self.queued = np.clip(queued, 1.0, np.maximum(pools.prompts, 1.0))
        self.later = np.maximum(requests.output - 1.0, 0.0)
        # The first token comes with the prompt; a step yields no more tokens than there are to come.
        self.steps = np.maximum(self.later / pools.decode.tokens_per_step, np.minimum(self.later, 1.0))
        self.each, self.chunk = request_prefill(rows, requests.prompt, self.queued, requests.cached)
        each, chunk = request_prefill(rows, requests.prompt, np.ones(len(rows)), requests.cached)
        self._alone = each + (1.0 - 1.0 / rows.stages) * chunk.total
        self._fill = (1.0 - 1.0 / rows.stages) * self.chunk.total
        self.prefill_rate = pools.prefill_replicas / self.each
        self.transfer_rate = 1.0 / np.maximum(pools.spacing, _SHORTEST_SPACING)
        self.capacity = np.maximum(requests.capacity, 1.0)
        self._stepped: tuple[Array, StepTime] | None = None

    def step(self, running: Array) -> StepTime:
        """Decode step of a replica; the last is kept, since conditions ask for it several times."""
        if self._stepped is None or self._stepped[0] is not running:
            self._stepped = running, decode_step(self.pools.decode, running, self.requests.context)
        return self._stepped[1]

    def decoding(self, running: Array) -> Array:
        """Seconds from the first token to the last."""
        return self.steps * self.step(running).total

    def rate(self, running: Array, others: Array | float = 1.0) -> Array:
        """Requests/s of the decode pool, of which each waits for a step under way before its first token."""
        waits = self.steps + others * UNDER_WAY
        stay = np.maximum(waits * self.step(running).total, SHORTEST_STAY)
        served: Array = self.pools.decode_replicas * running / stay
        return served

    def arrival(self, rate: Array, others: Array | float = 1.0) -> Array:
        """Seconds until the cache of a prompt is in the decode pool, at a rate with random arrivals.

        `others` is the share of the load that a request finds before it, 1 where clients are many.
        """
        prefill = self._stretched(others * rate / self.prefill_rate)
        transfer = self._stretched(others * rate / self.transfer_rate)
        moved = self.pools.transfer * transfer + self.pools.handover
        seconds: Array = self.pools.prefill.latency + self._alone * prefill + moved
        return seconds

    def _stretched(self, busy: Array) -> Array:
        """How much longer a station takes that serves one after the other what comes at random (M/D/1)."""
        idle = np.maximum(1.0 - busy, 1e-9)
        stretch: Array = 1.0 + 0.5 * busy / idle
        return stretch

    @property
    def supply(self) -> Array:
        """Requests/s that reach the decode pool at most."""
        return np.minimum(self.prefill_rate, self.transfer_rate)

    @property
    def moved(self) -> Array:
        """Seconds that a request is under way or changes pools, where nobody is in the way."""
        return self.pools.prefill.latency + self.pools.transfer + self.pools.handover

    @property
    def alone(self) -> Array:
        """Seconds to the first token of a request that nobody is in the way of."""
        return self._alone + self.moved

    def last_of(self, burst: Array) -> Array:
        """Seconds until the last of `burst` prompts that come at once is in the decode pool."""
        return np.maximum(self._fill + burst / self.supply, self._alone) + self.moved

    def mean_of(self, burst: Array) -> Array:
        """Mean seconds until prompts of a `burst` are in the decode pool: they finish chunk by chunk."""
        chunk = np.maximum(self.each, self.chunk.total / self.pools.prefill.stages)
        spread = 0.5 * (burst / self.supply + chunk)
        return np.maximum(self._fill + spread, self._alone) + self.moved

    def tpot(self, running: Array) -> Array:
        """Seconds from first to last token over the tokens between; NaN for a single output token."""
        return np.where(self.later > 0, self.decoding(running) / np.maximum(self.later, 1.0), np.nan)

    def largest(self, good: Callable[[Array], Mask], most: Array) -> Array:
        """Return the largest number of running sequences up to `most` for which `good` holds."""
        fits = good(most)
        if fits.all():
            return most
        low, high = np.zeros_like(most), most
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            holds = good(middle)
            low, high = np.where(holds, middle, low), np.where(holds, high, middle)
        return np.where(fits, most, np.maximum(low, most * 1e-12))
