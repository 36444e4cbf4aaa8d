"""What a load makes of step times: throughput, TTFT and TPOT, vectorised over independent cases.

Every function works on one replica and on arrays of one shape; `serve` divides the load among replicas
and adds them up again. All times are seconds, rates are of the whole run from first submission to last
token, TTFT and TPOT are means over all requests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.steps import (
    Array,
    Rows,
    StepTime,
    decode_step,
    limiter_index,
    request_prefill,
    time_parts,
)

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ServingConstants:
    """Fitted figures of serving dynamics, without unit unless named.

    `mixing`: how much of the prefill work stalls running sequences. `tail_wave`: how much of a started
    last wave is paid. `queueing`: stretch of TTFT per ρ/(1-ρ). `step_wait`: decode steps of others that pass
    before a first token. `p99_margin`: mean TPOT over its p99 limit; `ttft_margin`: stretch of the residence
    time at a TTFT limit.
    """

    mixing: float
    tail_wave: float
    queueing: float
    step_wait: float
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
    def cached(self) -> Array:
        """Prompt tokens found in the prefix cache."""
        return self.held_prompt - self.prompt

    @property
    def context(self) -> Array:
        """Mean context of a decoding sequence."""
        return self.held_prompt + 0.5 * self.output

    def select(self, chosen: NDArray[Any] | slice) -> Requests:
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
    """What one replica does under its load. `rate` is requests/s; NaN where a figure has no meaning.

    `waiting` is how many of the running sequences queue for prefill together.
    """

    running: Array
    waiting: Array
    rate: Array
    ttft: Array
    tpot: Array
    duration: Array
    stable: Mask
    limiter: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class _Cycle:
    """One round in which every running sequence is prefilled and decoded once; all in seconds.

    `parts` divides all of it by the first four of `LIMITERS`. `step` is a decode step, 0 where a single token
    leaves nothing to decode. `chunk` is what a prefill chunk takes from the replica, `fill` what the first
    one of a burst takes longer than that on its way through the pipeline stages.
    """

    decode: StepTime
    prefill: StepTime
    step: Array
    decoding: Array
    each_prompt: Array
    prompts: Array
    chunk: Array
    fill: Array
    parts: tuple[Array, Array, Array, Array]

    @property
    def limiter(self) -> NDArray[np.intp]:
        """Position in `LIMITERS` of what takes most of the round."""
        return limiter_index(self.parts)

    @property
    def seconds(self) -> Array:
        """Length of the round in a steady state: all decode steps and all prompts."""
        return self.decoding + self.prompts

    @property
    def stall(self) -> Array:
        """The most that running sequences wait for prompts: one chunk on each stage between two tokens."""
        steps = self.decoding / self.decode.total
        return np.minimum(self.prompts, steps * self.prefill.total)

    @property
    def burst(self) -> Array:
        """Mean time to the first token when all prompts come at once: they finish chunk by chunk."""
        return self.fill + 0.5 * (self.prompts + np.maximum(self.each_prompt, self.chunk))


def _cycle(rows: Rows, requests: Requests, running: Array, waiting: Array) -> _Cycle:
    """Work out a round of `running` sequences, of which `waiting` queue for prefill together."""
    each, prefill = request_prefill(rows, requests.prompt, waiting, requests.cached)
    decode = decode_step(rows, running, requests.context)
    # The first token comes with the prompt.
    later = np.maximum(requests.output - 1.0, 0.0)
    # A step yields no more tokens than there are to come.
    steps = np.maximum(later / rows.tokens_per_step, np.minimum(later, 1.0))
    prompts = running * each
    chunk = prefill.total / rows.stages
    serving = running * rows.request
    return _Cycle(
        decode=decode,
        prefill=prefill,
        step=np.where(steps > 0, decode.total, 0.0),
        decoding=steps * decode.total,
        each_prompt=each,
        prompts=prompts,
        chunk=chunk,
        fill=(rows.stages - 1.0) * chunk,
        parts=time_parts(serving, (steps, decode), ((prompts - serving) / prefill.total, prefill)),
    )


def _alone(rows: Rows, requests: Requests) -> Array:
    """Seconds to the first token of a prompt that has the replica to itself, all pipeline stages passed."""
    each, chunk = request_prefill(rows, requests.prompt, np.ones(len(rows)), requests.cached)
    return each + (1.0 - 1.0 / rows.stages) * chunk.total


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
    seconds = cycle.seconds + cycle.fill
    burst = cycle.burst
    duration = rounds * seconds
    return Served(
        running=running,
        waiting=running,
        rate=size / duration,
        ttft=burst + 0.5 * (rounds - 1.0) * seconds,
        tpot=_tpot(requests, seconds - burst),
        duration=duration,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


def saturate(rows: Rows, requests: Requests, total: Array, constants: ServingConstants) -> Served:
    """`total` requests are queued at once and served as fast as memory admits."""
    running = np.minimum(total, requests.capacity)
    cycle = _cycle(rows, requests, running, running)
    waves = _waves(total, running, constants.tail_wave)
    duration = waves * cycle.decoding + total * cycle.each_prompt + cycle.fill
    rate = total / duration
    queued = np.maximum(total - running, 0.0)
    later = cycle.fill + cycle.prompts + 0.5 * queued / rate
    ttft = (cycle.burst * running + later * queued) / total
    # No request outlives the run.
    decoding = np.minimum(cycle.decoding + constants.mixing * cycle.stall, duration - ttft)
    return Served(
        running=running,
        waiting=running,
        rate=rate,
        ttft=ttft,
        tpot=_tpot(requests, decoding),
        duration=duration,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


def closed_loop(
    rows: Rows, requests: Requests, concurrency: Array, total: Array, constants: ServingConstants
) -> Served:
    """`concurrency` clients send the next request when the last is answered, until `total` are sent.

    `total` is infinite for a steady state and never below `concurrency`.
    """
    finite = np.isfinite(total)
    running = np.minimum(concurrency, requests.capacity)
    cohort = np.where(requests.varied, rows.burst_varied, rows.burst_equal)
    first_wave = concurrency / total
    in_burst = first_wave + (1.0 - first_wave) * cohort
    waiting = 1.0 + in_burst * (running - 1.0)
    cycle = _cycle(rows, requests, running, waiting)
    alone = _alone(rows, requests)
    busy = np.minimum(cycle.prompts / cycle.seconds, 0.98)
    # What others are in the middle of, and the steps that a prompt shares. A lone client waits for nobody.
    others = np.minimum(running - 1.0, 1.0)
    steady = alone + others * (constants.step_wait * cycle.step + 0.5 * busy * cycle.each_prompt)
    ttft = in_burst * np.maximum(cycle.burst, alone) + (1.0 - in_burst) * steady
    longest = np.maximum(alone, cycle.fill + cycle.prompts) + (1.0 + constants.step_wait) * cycle.step
    ttft = np.minimum(ttft, longest)
    # Prompts that do not go between the tokens of running sequences wait before their first.
    ttft = np.maximum(ttft, cycle.prompts - cycle.stall)
    seconds = np.maximum(cycle.seconds, ttft + cycle.decoding)
    queue = (concurrency - running) * seconds / running
    waves = np.where(finite, _waves(total, running, constants.tail_wave), 1.0)
    served = np.where(finite, total, running)
    # A started last round is paid in part, but no prompt twice.
    duration = waves * seconds - (waves * running - served) * cycle.each_prompt
    return Served(
        running=running,
        waiting=waiting,
        rate=served / duration,
        ttft=ttft + queue * (1.0 - first_wave * 0.5),
        tpot=_tpot(requests, seconds - ttft),
        duration=np.where(finite, duration, np.nan),
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


def _steady(rows: Rows, requests: Requests, running: Array) -> _Cycle:
    """Work out a round of `running` sequences of which some arrive while others are waiting."""
    return _cycle(rows, requests, running, _arriving(rows, running))


def _arriving(rows: Rows, running: Array) -> Array:
    """Sequences that queue for prefill together where requests arrive at random."""
    waiting: Array = 1.0 + rows.burst_varied * (running - 1.0)
    return waiting


def _largest(good: Callable[[Array], Mask], capacity: Array) -> Array:
    """Return the largest whole number up to `capacity` for which `good` holds, 0 where 1 is not good.

    `good` holds up to some number and for none beyond it.
    """
    low, high = np.zeros_like(capacity), np.floor(capacity) + 1.0
    for _ in range(int(np.max(high, initial=1.0)).bit_length()):
        middle = np.floor(0.5 * (low + high))
        holds = (middle >= 1.0) & good(np.maximum(middle, 1.0))
        low = np.where(holds, middle, low)
        high = np.where(holds | (middle < 1.0), high, middle)
    return low


def _first_token(
    alone: Array, cycle: _Cycle, present: Array, busy: Array, constants: ServingConstants
) -> Array:
    """TTFT of requests that arrive at random while prefill takes the share `busy` of the time.

    A prompt waits for the step under way and shares its own with the `present` sequences, of which there may
    be less than one on average. Nobody waits longer than for the prompts of all that run.
    """
    idle = np.maximum(1.0 - busy, 1e-9)
    steps = constants.step_wait * np.minimum(present, 1.0) * cycle.step
    waiting = alone * (1.0 + constants.queueing * busy / idle) + steps
    return np.minimum(waiting, np.maximum(alone, cycle.fill + cycle.prompts) + cycle.step + steps)


def open_loop(rows: Rows, requests: Requests, rate: Array, constants: ServingConstants) -> Served:
    """Requests arrive at `rate` a second whatever is running; unstable where the replica cannot keep up."""

    def excess(running: Array) -> Array:
        """Sequences that arrive in a round of `running`, less these."""
        return rate * _steady(rows, requests, running).seconds - running

    capacity = np.maximum(requests.capacity, 1.0)
    below = np.maximum(_largest(lambda running: excess(running) > 0, capacity), 1.0)
    more, less = excess(below), excess(np.minimum(below + 1.0, capacity))
    stable = (more <= 0) | (less <= 0)
    share = np.where(more > 0, more / np.maximum(more - less, 1e-9), 0.0)
    running = np.where(stable, np.minimum(below + share, capacity), capacity)
    cycle = _steady(rows, requests, running)
    busy = np.minimum(rate * cycle.each_prompt, 1.0)
    present = np.minimum(rate * cycle.seconds, running)
    idle = np.maximum(1.0 - busy, 1e-9)
    unknown = np.full_like(rate, np.nan)
    return Served(
        running=running,
        waiting=_arriving(rows, running),
        rate=np.where(stable, rate, np.minimum(rate, running / cycle.seconds)),
        ttft=np.where(stable, _first_token(_alone(rows, requests), cycle, present, busy, constants), unknown),
        tpot=np.where(stable, _tpot(requests, cycle.decoding / idle), unknown),
        duration=unknown,
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
    alone = _alone(rows, requests)

    def pace(running: Array) -> tuple[_Cycle, Array, Array]:
        cycle = _steady(rows, requests, running)
        busy = np.minimum(cycle.prompts / cycle.seconds, 0.999)
        return cycle, _tpot(requests, cycle.seconds), _first_token(alone, cycle, running, busy, constants)

    def meets(running: Array) -> Mask:
        _, between, first = pace(running)
        within: Mask = (np.nan_to_num(between, nan=0.0) <= margin * tpot) & (first <= margin * ttft)
        return within

    running = _largest(meets, np.maximum(requests.capacity, 1.0))
    possible = running > 0
    cycle, between, first = pace(np.maximum(running, 1.0))
    # Arrivals are random, so the queue must stay short enough for the limit of the first token.
    stretch = 1.0 + np.where(p99, constants.ttft_margin * (alone + cycle.step) / ttft, 0.0)
    # Under the highest load that a p99 limit of TTFT allows, queues use part of the limit up.
    # They fill it as far as a round of the replica: at a load that it keeps up with nobody queues for longer.
    queued = rows.limit_queue * np.maximum(np.minimum(ttft, cycle.seconds) - first, 0.0)
    first += np.where(p99, queued, 0.0)
    unknown = np.full_like(ttft, np.nan)
    return Served(
        running=running,
        waiting=_arriving(rows, np.maximum(running, 1.0)),
        rate=np.where(possible, running / (cycle.seconds * stretch), unknown),
        ttft=np.where(possible, first, unknown),
        tpot=np.where(possible, between, unknown),
        duration=unknown,
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
    cycle = _cycle(ideal, requests, running, running)
    return Bounds(
        rate=running / cycle.seconds,
        tpot=cycle.decode.total / np.minimum(ideal.tokens_per_step, np.maximum(requests.output - 1.0, 1.0)),
        ttft=_alone(ideal, requests),
    )


@dataclass(frozen=True, slots=True)
class RoundTimes:
    """Where the seconds of one round of a replica go; arrays of one shape.

    `parts` holds them by the first four of `LIMITERS`, all decode steps and all prompts together, which is
    what names the limiter. `decoding` is what the decode steps take alone, `alone` is the first
    token of a prompt that nobody else is in the way of.
    """

    parts: tuple[Array, Array, Array, Array]
    decode: StepTime
    prefill: StepTime
    decoding: Array
    alone: Array


def round_times(rows: Rows, requests: Requests, running: Array, waiting: Array) -> RoundTimes:
    """Take one round of `running` sequences apart, of which `waiting` queue for prefill together."""
    cycle = _cycle(rows, requests, running, waiting)
    return RoundTimes(
        parts=cycle.parts,
        decode=cycle.decode,
        prefill=cycle.prefill,
        decoding=cycle.decoding,
        alone=_alone(rows, requests),
    )
