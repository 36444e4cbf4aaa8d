"""Requests that arrive at random: what an open loop does, and the most that limits of TTFT and TPOT allow.

Vectorised over independent cases of one replica, as `gpudesk.engine.loads` is; seconds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from gpudesk.engine.loads import MOST_STEPS, Served, ServingConstants
from gpudesk.engine.rounds import Cycle, Mask, Requests, alone, cycle_of, pace
from gpudesk.engine.steps import Array, Rows

#: What the last in a hundred waits, over what all wait on average, where waits fall off exponentially.
LATEST: Final = math.log(100.0)


def mean_to_p99(p99: Mask, constants: ServingConstants) -> tuple[Array, Array]:
    """Return what limits hold of means: times that a wait is longer at p99, and mean TPOT over its limit.

    Both are 1 where the limits are of means.
    """
    return np.where(p99, LATEST, 1.0), np.where(p99, constants.p99_margin, 1.0)


def _steady(rows: Rows, requests: Requests, running: Array) -> Cycle:
    """Work out a round of `running` sequences of which some arrive while others are waiting."""
    return cycle_of(rows, requests, running, _arriving(rows, running))


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


def _first_token(rows: Rows, first: Array, cycle: Cycle, present: Array, rate: Array) -> Array:
    """TTFT of requests that arrive at random, `rate` a second, among `present` sequences on average.

    Of these there may be less than one. `first` is the TTFT of a request that is alone. Nobody waits longer
    than for the prompts of all that run.
    """
    waiting = first + np.minimum(present, 1.0) * cycle.wait(rows.mixes, rate)
    most = np.maximum(first, rows.latency + cycle.fill + cycle.prompts) + MOST_STEPS * cycle.step
    return np.minimum(waiting, most)


def open_loop(rows: Rows, requests: Requests, rate: Array) -> Served:
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
    present = np.minimum(rate * cycle.seconds, running)
    idle = np.maximum(1.0 - rate * cycle.added, 1e-9)
    first = _first_token(rows, alone(rows, requests), cycle, present, rate)
    unknown = np.full_like(rate, np.nan)
    return Served(
        running=running,
        waiting=_arriving(rows, running),
        rate=np.where(stable, rate, np.minimum(rate, running / cycle.seconds)),
        ttft=np.where(stable, first, unknown),
        tpot=np.where(stable, pace(requests, cycle.decoding / idle), unknown),
        duration=unknown,
        stable=stable,
        limiter=cycle.limiter,
    )


def _in_short_steps(rows: Rows, requests: Requests, tokens: float) -> Array:
    """Sequences whose tokens, with the prompts that replace them, make steps of `tokens` on every rank.

    Servers under p99 limits are tuned to steps of a few thousand tokens: longer ones hold up all that run,
    and bring hardly any throughput once arithmetic sets their time.
    """
    together = np.minimum(tokens * rows.attention_ranks, rows.chunk_tokens) * rows.stages
    prompt = requests.prompt * rows.tokens_per_step / np.maximum(requests.later, 1.0)
    most: Array = np.maximum(together / (rows.verified_tokens + prompt), 1.0)
    return most


def within_limits(
    rows: Rows, requests: Requests, ttft: Array, tpot: Array, p99: Mask, constants: ServingConstants
) -> Served:
    """Return the highest throughput whose TTFT and TPOT stay within the limits (p99 or mean).

    `running` is 0 and the rate NaN where not even one sequence meets them.
    """
    tail, margin = mean_to_p99(p99, constants)
    undisturbed = alone(rows, requests)

    def point(running: Array) -> tuple[Cycle, Array, Array]:
        cycle = _steady(rows, requests, running)
        first = _first_token(rows, undisturbed, cycle, running, running / cycle.seconds)
        return cycle, pace(requests, cycle.seconds), first

    def meets(running: Array) -> Mask:
        _, between, first = point(running)
        latest = undisturbed + tail * (first - undisturbed)
        within: Mask = (np.nan_to_num(between, nan=0.0) <= margin * tpot) & (latest <= ttft)
        return within

    most = np.where(p99, _in_short_steps(rows, requests, constants.limit_tokens), requests.capacity)
    running = _largest(meets, np.maximum(np.minimum(requests.capacity, most), 1.0))
    possible = running > 0
    cycle, between, first = point(np.maximum(running, 1.0))
    # Under the highest load that a p99 limit of TTFT allows, queues use part of the limit up.
    # They fill it as far as a round of the replica: at a load that it keeps up with nobody queues for longer.
    queued = rows.limit_queue * np.maximum(np.minimum(ttft, cycle.seconds) - first, 0.0)
    unknown = np.full_like(ttft, np.nan)
    return Served(
        running=running,
        waiting=_arriving(rows, np.maximum(running, 1.0)),
        rate=np.where(possible, running / cycle.seconds, unknown),
        ttft=np.where(possible, first + np.where(p99, queued, 0.0), unknown),
        tpot=np.where(possible, between, unknown),
        duration=unknown,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
    )
