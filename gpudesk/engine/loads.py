"""What a load makes of step times: throughput, TTFT and TPOT, vectorised over independent cases.

Every function works on one replica and on arrays of one shape; `serve` divides the load among replicas
and adds them up again. All times are seconds, rates are of the whole run from first submission to last
token, TTFT and TPOT are means over all requests.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.steps import Array, Rows, StepTime, decode_step, limiter_index, request_prefill

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ServingConstants:
    """Fitted figures of serving dynamics, without unit unless named.

    `cohort_fixed`, `cohort_varied`: share of requests that meet a burst in a steady closed loop, since
    equal requests keep in step. `mixing`: how much of the prefill work stalls running sequences.
    `tail_wave`: how much of a started last wave is paid. `queueing`: stretch of TTFT per ρ/(1-ρ).
    `p99_margin`: mean TPOT over its p99 limit; `ttft_margin`: stretch of the residence time at a TTFT limit.
    """

    cohort_fixed: float
    cohort_varied: float
    mixing: float
    tail_wave: float
    queueing: float
    p99_margin: float
    ttft_margin: float


@dataclass(frozen=True, slots=True)
class Requests:
    """What one replica serves: prompt tokens to compute, prompt tokens held, output tokens, and the limits.

    `capacity` is how many sequences the replica admits, at least 1; all arrays of one shape.
    """

    prompt: Array
    held_prompt: Array
    output: Array
    capacity: Array
    varied: Mask

    @property
    def context(self) -> Array:
        """Mean context of a decoding sequence."""
        return self.held_prompt + 0.5 * self.output

    def select(self, chosen: NDArray[Any]) -> Requests:
        """Return the chosen cases."""
        return Requests(
            self.prompt[chosen],
            self.held_prompt[chosen],
            self.output[chosen],
            self.capacity[chosen],
            self.varied[chosen],
        )


@dataclass(frozen=True, slots=True)
class Served:
    """What one replica does under its load. `rate` is requests/s; NaN where a figure has no meaning."""

    running: Array
    rate: Array
    ttft: Array
    tpot: Array
    duration: Array
    stable: Mask
    limiter: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Cycle:
    """One round in which every running sequence is prefilled and decoded once."""

    running: Array
    decode: StepTime
    prefill: StepTime
    prefill_each: Array
    steps: Array

    @property
    def seconds(self) -> Array:
        """Length of the round: all decode steps and all prompts."""
        return self.steps * self.decode.total + self.running * self.prefill_each

    @property
    def limiter(self) -> NDArray[np.intp]:
        """What binds over the round."""
        chunks = self.running * self.prefill_each / np.maximum(self.prefill.total, 1e-30)
        return limiter_index((self.steps, self.decode), (chunks, self.prefill))


def _steps(rows: Rows, requests: Requests) -> Array:
    """Decode steps of a request; the first token comes with the prompt."""
    return np.maximum(requests.output - 1.0, 0.0) / rows.tokens_per_step


def _cycle(rows: Rows, requests: Requests, running: Array, waiting: Array) -> _Cycle:
    each, prefill = request_prefill(rows, requests.prompt, waiting)
    return _Cycle(
        running, decode_step(rows, running, requests.context), prefill, each, _steps(rows, requests)
    )


def _tpot(requests: Requests, seconds: Array) -> Array:
    """Seconds from first to last token over the tokens between; NaN for a single output token."""
    later = requests.output - 1.0
    return np.where(later > 0, seconds / np.maximum(later, 1.0), np.nan)


def _waves(total: Array, running: Array, tail_wave: float) -> Array:
    """Rounds that `total` requests take `running` at a time, a started last round paid in part."""
    full = total / running
    return np.maximum(1.0, full + tail_wave * np.minimum(1.0, np.maximum(full - 1.0, 0.0)))


def batch(rows: Rows, requests: Requests, size: Array) -> Served:
    """`size` requests start together; those beyond the capacity wait for the round before them."""
    rounds = np.ceil(size / requests.capacity)
    running = size / rounds
    cycle = _cycle(rows, requests, running, running)
    burst = 0.5 * (running + 1.0) * cycle.prefill_each
    decode = cycle.steps * cycle.decode.total
    stalled = np.maximum(running * cycle.prefill_each - burst, 0.0)
    duration = rounds * cycle.seconds
    return Served(
        running=running,
        rate=size / duration,
        ttft=burst + 0.5 * (rounds - 1.0) * cycle.seconds,
        tpot=_tpot(requests, decode + stalled),
        duration=duration,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


def _chunk_seconds(rows: Rows, cycle: _Cycle) -> Array:
    return cycle.prefill.total / rows.stages


def saturate(rows: Rows, requests: Requests, total: Array, constants: ServingConstants) -> Served:
    """`total` requests are queued at once and served as fast as memory admits."""
    running = np.minimum(total, requests.capacity)
    cycle = _cycle(rows, requests, running, running)
    waves = _waves(total, running, constants.tail_wave)
    duration = waves * cycle.steps * cycle.decode.total + total * cycle.prefill_each
    rate = total / duration
    stall = np.minimum(
        running * cycle.prefill_each / np.maximum(cycle.steps, 1.0), _chunk_seconds(rows, cycle)
    )
    burst = 0.5 * (running + 1.0) * cycle.prefill_each
    queued = np.maximum(total - running, 0.0)
    later = running * cycle.prefill_each + 0.5 * queued / rate
    return Served(
        running=running,
        rate=rate,
        ttft=(burst * running + later * queued) / total,
        tpot=_tpot(requests, cycle.steps * (cycle.decode.total + constants.mixing * stall)),
        duration=duration,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


def closed_loop(
    rows: Rows, requests: Requests, concurrency: Array, total: Array, constants: ServingConstants
) -> Served:
    """`concurrency` clients send the next request when the last is answered; `total` may be infinite."""
    running = np.minimum(concurrency, requests.capacity)
    varied = np.where(requests.varied, constants.cohort_varied, constants.cohort_fixed)
    first_wave = np.where(np.isfinite(total), np.minimum(1.0, concurrency / total), 0.0)
    in_burst = first_wave + (1.0 - first_wave) * varied
    cycle = _cycle(rows, requests, running, 1.0 + in_burst * (running - 1.0))
    seconds = cycle.seconds
    queue = np.maximum(concurrency - running, 0.0) * seconds / running
    alone, _ = request_prefill(rows, requests.prompt, np.ones_like(running))
    alone_latency = alone + (rows.stages - 1.0) * np.maximum(alone - rows.request, 0.0)
    busy = np.minimum(running * cycle.prefill_each / seconds, 0.98)
    steady = alone_latency + 0.5 * cycle.decode.total + 0.5 * busy * cycle.prefill_each
    burst = 0.5 * (running + 1.0) * cycle.prefill_each
    ttft = in_burst * np.maximum(burst, alone_latency) + (1.0 - in_burst) * steady
    ttft = np.minimum(ttft, np.maximum(alone_latency, running * cycle.prefill_each) + cycle.decode.total)
    seconds = np.maximum(seconds, ttft + cycle.steps * cycle.decode.total)
    waves = np.where(
        np.isfinite(total), _waves(np.maximum(total, concurrency), running, constants.tail_wave), 1.0
    )
    finite = np.where(np.isfinite(total), total, running)
    duration = waves * seconds
    return Served(
        running=running,
        rate=finite / duration,
        ttft=ttft + queue * (1.0 - first_wave * 0.5),
        tpot=_tpot(requests, np.maximum(seconds - ttft, cycle.steps * cycle.decode.total)),
        duration=np.where(np.isfinite(total), duration, np.nan),
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


#: Halvings of the searches below; 40 give the batch to better than one part in 10^9.
_HALVINGS = 40


def open_loop(rows: Rows, requests: Requests, rate: Array, constants: ServingConstants) -> Served:
    """Requests arrive at `rate` a second whatever is running; unstable where the replica cannot keep up."""
    each, _ = request_prefill(rows, requests.prompt, np.ones_like(rate))
    busy = rate * each

    def residence(running: Array) -> Array:
        step = decode_step(rows, running, requests.context).total
        return _steps(rows, requests) * step / np.maximum(1.0 - busy, 1e-9)

    low, high = np.ones_like(rate), np.maximum(requests.capacity, 1.0)
    stable = (busy < 1.0) & (rate * residence(high) <= high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        too_few = rate * residence(middle) > middle
        low, high = np.where(too_few, middle, low), np.where(too_few, high, middle)
    running = high
    cycle = _cycle(rows, requests, running, np.ones_like(rate))
    wait = constants.queueing * busy / np.maximum(1.0 - busy, 1e-9)
    ttft = np.where(stable, each * (1.0 + wait) + 0.5 * cycle.decode.total, np.nan)
    tpot = np.where(stable, _tpot(requests, residence(running)), np.nan)
    ceiling = requests.capacity / _cycle(rows, requests, requests.capacity, np.ones_like(rate)).seconds
    return Served(
        running=np.minimum(running, requests.capacity),
        rate=np.where(stable, rate, np.minimum(rate, ceiling)),
        ttft=ttft,
        tpot=tpot,
        duration=np.full_like(rate, np.nan),
        stable=stable,
        limiter=cycle.limiter,
    )


def within_limits(
    rows: Rows, requests: Requests, ttft: Array, tpot: Array, p99: Mask, constants: ServingConstants
) -> Served:
    """Return the highest throughput whose TTFT and TPOT stay within the limits (p99 or mean).

    `running` is 0 and the rate NaN where not even one sequence meets them.
    """
    margin = np.where(p99, constants.p99_margin, 1.0)
    alone, _ = request_prefill(rows, requests.prompt, np.ones_like(ttft))
    steps = _steps(rows, requests)

    def pace(running: Array) -> tuple[Array, Array]:
        step = decode_step(rows, running, requests.context).total
        between = _tpot(requests, steps * step + running * alone)
        busy = np.minimum(running * alone / np.maximum(steps * step + running * alone, 1e-30), 0.999)
        first = alone * (1.0 + constants.queueing * busy / (1.0 - busy)) + 0.5 * step
        return between, first

    def meets(running: Array) -> Mask:
        between, first = pace(running)
        within: Mask = (np.nan_to_num(between, nan=0.0) <= margin * tpot) & (first <= margin * ttft)
        return within

    low, high = np.ones_like(ttft), np.maximum(requests.capacity, 1.0)
    possible = meets(low)
    whole = meets(high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        good = meets(middle)
        low, high = np.where(good, middle, low), np.where(good, high, middle)
    running = np.where(whole, np.maximum(requests.capacity, 1.0), np.floor(low))
    cycle = _cycle(rows, requests, np.maximum(running, 1.0), np.ones_like(ttft))
    between, first = pace(np.maximum(running, 1.0))
    # Arrivals are random, so the queue must stay short enough for the limit of the first token.
    stretch = np.where(p99, ttft / (ttft + constants.ttft_margin * (alone + cycle.decode.total)), 1.0)
    rate = running / cycle.seconds * stretch
    nothing = np.full_like(rate, np.nan)
    return Served(
        running=np.where(possible, running, 0.0),
        rate=np.where(possible, rate, nothing),
        ttft=np.where(possible, first, nothing),
        tpot=np.where(possible, between, nothing),
        duration=nothing,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


@dataclass(frozen=True, slots=True)
class Bounds:
    """What no deployment can beat: requests/s of one replica, and seconds of TPOT and TTFT."""

    rate: Array
    tpot: Array
    ttft: Array


def bounds(ideal: Rows, requests: Requests, running: Array) -> Bounds:
    """Bounds of physics with `running` sequences in a replica; `ideal` are rows without any loss."""
    each, _ = request_prefill(ideal, requests.prompt, running)
    step = decode_step(ideal, running, requests.context).total
    steps = _steps(ideal, requests)
    return Bounds(
        rate=running / np.maximum(steps * step + running * each, 1e-30),
        tpot=step / ideal.tokens_per_step,
        ttft=each,
    )
