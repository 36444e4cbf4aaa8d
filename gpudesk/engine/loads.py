"""What a load makes of step times: throughput, TTFT and TPOT, vectorised over independent cases.

Loads that keep requests in flight are here, those that arrive at random in `gpudesk.engine.arrivals`. Every
function works on one replica and on arrays of one shape; `serve` divides the load among replicas and adds
them up again. All times are seconds, rates are of the whole run from first submission to last token, TTFT
and TPOT are means over all requests. The forms follow a simulation of a replica step by step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.rounds import Cycle, Mask, Requests, alone, cycle_of, pace
from gpudesk.engine.steps import Array, Rows, StepTime, cache_read, decode_step

__all__ = [
    "GROWN",
    "MOST_STEPS",
    "Bounds",
    "Mask",
    "Requests",
    "RoundTimes",
    "Served",
    "ServingConstants",
    "batch",
    "bounds",
    "closed_loop",
    "round_times",
    "saturate",
]

#: Decode steps that a newcomer waits at the most, beside the prompts of all that run.
MOST_STEPS: Final = 2.5
#: Share of their outputs that sequences hold in a cache that is full and given on demand.
GROWN: Final = 0.62
#: How much of a step that shrinks with its batch a request is spared in a run that drains, where outputs are
#: distributed exponentially.
DRAINED: Final = 0.31
#: With the same outputs, how much more their tokens wait for a burst than the mean length says.
SHORTER: Final = 1.6


@dataclass(frozen=True, slots=True)
class ServingConstants:
    """Fitted figures of serving dynamics, without unit.

    `tail_wave`: how much of a started last wave of equal requests is paid. `longest`: the longest output of
    varied requests over their mean. `p99_margin`: mean TPOT over its p99 limit. `limit_tokens`: tokens in a
    step of one rank at which servers under p99 limits are run.
    """

    tail_wave: float
    longest: float
    p99_margin: float
    limit_tokens: float


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


def _waves(total: Array, running: Array, tail_wave: float) -> Array:
    """Rounds that `total` equal requests take `running` at a time, a started last round paid in part."""
    full = total / running
    return np.maximum(1.0, full + tail_wave * np.minimum(1.0, np.maximum(full - 1.0, 0.0)))


def _room(rows: Rows, requests: Requests) -> Array:
    """Sequences that run at once. `capacity` counts them at their full length.

    Where memory is given as they grow, more of them run, at different ages: as many as the caches that they
    have by then leave room for. A state or a window that is full early leaves none. Lengths that vary use
    the room up: the long ones stay longest.
    """
    if bool(np.all(requests.varied)):
        return requests.capacity
    full = requests.held_prompt + requests.output
    grown = cache_read(rows, full - (1.0 - GROWN) * requests.later)
    share = np.where(grown > 0, cache_read(rows, full) / np.maximum(grown, 1e-300), 1.0)
    most = np.maximum(rows.step_batch_cap, requests.capacity)
    room = np.maximum(np.floor(np.minimum(requests.capacity * share, most)), requests.capacity)
    return np.where(requests.varied | (rows.on_demand == 0), requests.capacity, room)


def batch(rows: Rows, requests: Requests, size: Array) -> Served:
    """`size` requests start together; those beyond the capacity wait for the round before them."""
    rounds = np.ceil(size / requests.capacity)
    running = size / rounds
    cycle = cycle_of(rows, requests, running, running)
    seconds = cycle.apart + cycle.fill
    duration = rows.latency + rounds * seconds
    return Served(
        running=running,
        waiting=running,
        rate=size / duration,
        ttft=rows.latency + cycle.burst + 0.5 * (rounds - 1.0) * seconds,
        tpot=pace(requests, seconds - cycle.burst),
        duration=duration,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


def _fixed_step(rows: Rows, requests: Requests, cycle: Cycle, running: Array) -> Array:
    """Part of a decode step that does not shrink with its batch: where the line from a quarter of it ends."""
    few = np.maximum(1.0, 0.25 * running)
    small = decode_step(rows, few, requests.context).total
    fixed = (running * small - few * cycle.decode.total) / np.maximum(running - few, 1e-9)
    return np.where(running > few, np.clip(fixed, 0.0, small), small)


def _stalled(rows: Rows, requests: Requests, cycle: Cycle, running: Array, first_wave: Array) -> Array:
    """Mean seconds that prompts of others hold up a request between its first token and its last.

    Those of the first wave wait for the rest of the burst, all others for every prompt that comes meanwhile.
    Where prompts go in one step with the tokens of others, a token waits for one chunk at most.
    """
    others = (running - 1.0) * cycle.each_prompt
    most = cycle.steps * cycle.prefill.total
    load = others / np.maximum(most, 1e-12)
    alike = np.where(load < 1.0, 0.5 * load, 1.0 - 0.5 / np.maximum(load, 1.0))
    burst = np.where(requests.varied, SHORTER * load / (1.0 + SHORTER * load), alike)
    chunks = most * (first_wave * burst + (1.0 - first_wave) * np.minimum(load, 1.0))
    # Short outputs divide the same wait by fewer tokens.
    halt = np.where(requests.varied, np.minimum(1.5, 0.5 * np.maximum(requests.later, 1.0)), 0.5)
    halted = others * (first_wave * halt + (1.0 - first_wave))
    return np.where(rows.mixes > 0, chunks, halted)


def _decoding(rows: Rows, requests: Requests, cycle: Cycle, running: Array, shrinks: Array) -> Array:
    """Seconds of all decode steps of a request of a saturated run, without what prompts add.

    Where prompts take most of the time, the first requests have ended before the last begin. `shrinks` is
    how much of a step falls away with its batch while the run ends.
    """
    fewer = cycle.steps * (cycle.prefill.total + cycle.decode.total) / cycle.each_prompt
    decoding = np.maximum(np.where(rows.mixes > 0, np.minimum(fewer, running), running), 1.0)
    step = decode_step(rows, decoding, requests.context).total
    return cycle.steps * np.maximum(step - shrinks, 0.0)


def saturate(rows: Rows, requests: Requests, total: Array, constants: ServingConstants) -> Served:
    """`total` requests are queued at once and served as fast as memory admits."""
    running = np.minimum(total, _room(rows, requests))
    first_wave = running / total
    cycle = cycle_of(rows, requests, running, running)
    fixed = _fixed_step(rows, requests, cycle, running)
    # The last of varied length run on in an ever smaller batch, until the longest has ended.
    outlasting = np.minimum(np.log(total), constants.longest - 1.0) * cycle.steps * fixed
    alike = _waves(total, running, constants.tail_wave) * cycle.decoding
    decoding = np.where(requests.varied, total / running * cycle.decoding + outlasting, alike)
    together = (total / running - 1.0) * cycle.shared
    duration = rows.latency + decoding + total * cycle.each_prompt + cycle.fill - together
    rate = total / duration
    queued = total - running
    later = cycle.fill + cycle.prompts + 0.5 * queued / rate
    ttft = rows.latency + (cycle.burst * running + later * queued) / total
    shrinks = np.where(
        requests.varied, DRAINED * first_wave * np.maximum(cycle.decode.total - fixed, 0.0), 0.0
    )
    decoded = _decoding(rows, requests, cycle, running, shrinks) - (1.0 - first_wave) * cycle.shared
    # Steps of fewer sequences share no more with prompts than all they take.
    stay = np.maximum(decoded, 0.0) + _stalled(rows, requests, cycle, running, first_wave)
    # No request outlives the run.
    stay = np.minimum(stay, duration - ttft)
    return Served(
        running=running,
        waiting=running,
        rate=rate,
        ttft=ttft,
        tpot=pace(requests, stay),
        duration=duration,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )


def _closed_first_token(
    rows: Rows, requests: Requests, cycle: Cycle, running: Array, in_burst: Array, group: Array
) -> Array:
    """TTFT in a closed loop, without a queue for memory; `group` equal requests end together."""
    first = alone(rows, requests)
    others = 1.0 - 1.0 / np.maximum(running, 1.0)
    steady = first + others * cycle.wait(rows.mixes, running / cycle.seconds)
    chunks = np.ceil(requests.prompt / rows.chunk_tokens)
    together = rows.latency + group * cycle.each_prompt + others * chunks * cycle.tokens
    steady = np.where(requests.varied, steady, np.maximum(steady, together))
    ttft = in_burst * np.maximum(rows.latency + cycle.burst, first) + (1.0 - in_burst) * steady
    longest = np.maximum(first, rows.latency + cycle.fill + cycle.prompts) + MOST_STEPS * cycle.step
    # Prompts that do not go between the tokens of running sequences wait before their first.
    return np.maximum(np.minimum(ttft, longest), rows.latency + cycle.prompts - cycle.stall)


def closed_loop(
    rows: Rows, requests: Requests, concurrency: Array, total: Array, constants: ServingConstants
) -> Served:
    """`concurrency` clients send the next request when the last is answered, until `total` are sent.

    `total` is infinite for a steady state and never below `concurrency`.
    """
    finite = np.isfinite(total)
    running = np.minimum(concurrency, _room(rows, requests))
    first_wave = concurrency / total
    # Where prompts come before tokens, all that wait go at once, and equal requests keep in step for ever.
    cohort = np.where(requests.varied, rows.burst_varied, 1.0 - rows.mixes * (1.0 - rows.burst_equal))
    in_burst = first_wave + (1.0 - first_wave) * cohort
    # Elsewhere equal prompts that shared a chunk end together, and their successors share one again.
    chunkful = np.floor(rows.chunk_tokens / np.maximum(requests.prompt, 1.0))
    group = np.where(requests.varied, 1.0, np.clip(chunkful, 1.0, running))
    waiting = np.maximum(1.0 + in_burst * (running - 1.0), group)
    cycle = cycle_of(rows, requests, running, waiting)
    ttft = _closed_first_token(rows, requests, cycle, running, in_burst, group)
    apart = cycle.apart - (1.0 - first_wave) * cycle.shared
    seconds = np.maximum(apart, ttft - rows.latency + cycle.decoding)
    waves = np.where(finite, _waves(total, running, constants.tail_wave), 1.0)
    served = np.where(finite, total, running)
    # A started last round is paid in part, but no prompt twice.
    busy = waves * seconds - (waves * running - served) * cycle.each_prompt
    # On the way between client and replica nobody is served.
    duration = busy * (1.0 + rows.latency * running / (concurrency * seconds))
    queue = (concurrency - running) * seconds / running
    return Served(
        running=running,
        waiting=waiting,
        rate=served / duration,
        ttft=ttft + queue * (1.0 - first_wave * 0.5),
        tpot=pace(requests, seconds + rows.latency - ttft),
        duration=np.where(finite, duration, np.nan),
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
    cycle = cycle_of(ideal, requests, running, running)
    return Bounds(
        rate=running / cycle.seconds,
        tpot=cycle.decode.total / np.minimum(ideal.tokens_per_step, np.maximum(requests.later, 1.0)),
        ttft=alone(ideal, requests),
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
    cycle = cycle_of(rows, requests, running, waiting)
    return RoundTimes(
        parts=cycle.parts,
        decode=cycle.decode,
        prefill=cycle.prefill,
        decoding=cycle.decoding,
        alone=alone(rows, requests),
    )
