"""Throughput, TTFT and TPOT of one replica under each kind of load, vectorized over cases.

Times are in seconds, rates cover the run from first submission to last token, TTFT and TPOT are means over all
requests. The formulas follow a step-by-step simulation of a replica. `gpudesk.engine.serving` divides the load among
replicas.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.engine.steps import (
    Array,
    CoefficientColumns,
    Mask,
    PromptRound,
    ReplicaRequests,
    ServingRound,
    StepTime,
    compute_cache_read,
    compute_decode_step,
    compute_lone_ttft,
    compute_prompt_round,
    compute_request_prefill,
    compute_round,
    compute_tpot,
)
from gpudesk.frozen_dataclass import frozen_dataclass

#: Decode steps that a new request waits at most, besides the prompts of all running requests.
MOST_STEPS: Final = 2.5
#: A smaller share of a round does not count as a started round.
ROUNDING: Final = 1e-9


@frozen_dataclass
class SchedulingConstants:
    """Calibration constants of serving dynamics, dimensionless unless a unit is given."""

    #: Rounds that a started last round of equal requests adds on average.
    tail_wave: float
    #: Longest output of varied requests over their mean.
    longest: float
    #: Mean TPOT over its p99 limit.
    p99_margin: float
    #: Tokens per step of one rank with which servers under p99 limits run.
    limit_tokens: float
    #: Share of their outputs that equal sequences hold at once in a full on-demand cache.
    kv_growth_share: float
    #: Share of the batch-dependent part of a step that varied requests save while a run drains.
    drain_saving: float
    #: Recomputed prompt tokens over output tokens, for varied requests that outgrow the cache. About nine in ten are
    #: recomputed, but in one step with the tokens of others, which hides most of the time.
    recompute_share: float
    #: Then the increase of the mean TPOT per ratio of output to prompt, and per square of it.
    preemption_slowdown: float
    preemption_slowdown_square: float
    #: Factor by which tokens of varied outputs wait longer for a burst than their mean length implies.
    burst_stall_factor: float


@frozen_dataclass
class LoadTerms:
    """Terms of the figures of a replica besides its decode steps and prompts; seconds.

    In a round (running / rate) every running sequence is answered once. It consists of all decode steps and prompts,
    less `overlap`, plus `waiting` and `tail`. TTFT is the prefill of a prompt alone plus `queue`. The time from first
    to last token is all decode steps of a request plus `stall`.
    """

    overlap: Array
    waiting: Array
    tail: Array
    queue: Array
    stall: Array


@frozen_dataclass
class ReplicaResults:
    """Results of one replica under its load. `rate` is requests/s; NaN if a figure has no meaning.

    `waiting` is how many of the running sequences queue for prefill together. `compute_terms` returns the terms of the
    figures, from the values used to compute them.
    """

    running: Array
    waiting: Array
    rate: Array
    ttft: Array
    tpot: Array
    duration: Array
    stable: Mask
    limiter: NDArray[np.intp]
    compute_terms: Callable[[], LoadTerms]


def _select_by_mask(mask: Mask, one: Callable[[], Array], other: Callable[[], Array]) -> Array:
    """Return `one` where the mask is True and `other` elsewhere; computes only what some case needs."""
    if np.all(mask):
        return one()
    return np.where(mask, one(), other()) if np.any(mask) else other()


def _count_room(rows: CoefficientColumns, requests: ReplicaRequests, constants: SchedulingConstants) -> Array:
    """Sequences that run at once. `capacity` counts them at full length.

    With on-demand memory more of them run, at different ages: as many as their current caches leave room for. A
    constant state or a full window leaves no such room. Varied lengths use up the room, because long sequences stay
    longest. So do equal requests that stay in step, because all are full at once.
    """
    if bool(np.all(requests.varied)):
        return requests.capacity
    full = requests.held_prompt + requests.output
    grown = compute_cache_read(rows, full - (1.0 - constants.kv_growth_share) * requests.later)
    share = np.where(grown > 0, compute_cache_read(rows, full) / np.maximum(grown, 1e-300), 1.0)
    most = np.maximum(rows.step_batch_cap, requests.capacity)
    room = np.maximum(np.floor(np.minimum(requests.capacity * share, most)), requests.capacity)
    whole = requests.varied | (rows.on_demand * rows.mixes == 0)
    return np.where(whole, requests.capacity, room)


def _count_prompts_per_chunk(rows: CoefficientColumns, requests: ReplicaRequests, running: Array) -> Array:
    whole = np.floor(rows.chunk_tokens / np.maximum(requests.prompt, 1.0))
    return np.clip(whole, 1.0, running)


def _count_ending_together(rows: CoefficientColumns, requests: ReplicaRequests, running: Array) -> Array:
    """Varied sequences that end with the same step as one of them."""
    ended = np.minimum(1.0, rows.tokens_per_step / np.maximum(requests.later, 1.0))
    together: Array = 1.0 + ended * (running - 1.0)
    return together


def _average_group(running: Array, in_burst: Array, group: Array) -> Array:
    """Prompts that are prefilled together, if a share `in_burst` of all prompts meets a burst of `running`.

    All others come in a `group`. A chunk has a least time, however few prompts share it. So the mean of the chunks per
    prompt counts, not the mean of the prompts per chunk.
    """
    average: Array = 1.0 / (in_burst / running + (1.0 - in_burst) / group)
    return average


@frozen_dataclass
class _ReplicaRun:
    """How a replica processes its requests: `running` of them at once share a round, `cycle`.

    `begin` are the prompts of the first round, which arrive at once.
    """

    rows: CoefficientColumns
    requests: ReplicaRequests
    cycle: ServingRound
    begin: PromptRound
    running: Array
    constants: SchedulingConstants

    def compute_tail(self, total: Array, is_count_known: Mask) -> Array:
        """Rounds that the end of a run takes beyond `total` / `running`, in steps that do not shrink.

        Equal requests start a last round with those that are left, which takes as many steps as a full round. Their
        number is known if a setting limits the running sequences (`is_count_known`). Memory is known only to a few
        percent, so any number can be left, and `tail_wave` is the mean cost. With exponentially distributed outputs,
        the longest of R running requests takes 1 + 1/2 + ... + 1/R mean outputs, here ln(R) + 0.577 (error below 1%),
        and `longest` at most.
        """

        def started() -> Array:
            rounds = total / self.running
            remainder = np.maximum(np.ceil(rounds - ROUNDING) - rounds, 0.0)
            return np.where(is_count_known, remainder, self.constants.tail_wave * np.clip(rounds - 1.0, 0.0, 1.0))

        def outlasting() -> Array:
            beyond = self.requests.spread * (self.constants.longest - 1.0)
            return np.minimum(np.log(self.running) - 0.423 * (1.0 - 1.0 / self.running), beyond)

        return _select_by_mask(self.requests.varied, outlasting, started)

    def compute_fixed_step(self) -> Array:
        """Part of a decode step that does not shrink with its batch: extrapolated from a quarter of the batch."""
        few = np.maximum(1.0, 0.25 * self.running)
        small = compute_decode_step(self.rows, few, self.requests.context).total
        fixed = (self.running * small - few * self.cycle.decode.total) / np.maximum(self.running - few, 1e-9)
        return np.where(self.running > few, np.clip(fixed, 0.0, small), small)

    def compute_stall(self, first_wave: Array | float) -> Array:
        """Mean seconds by which prompts of others delay a request between its first and last token.

        Requests of the first wave wait for the rest of the burst, all others for every prompt that arrives meanwhile.
        Prompts in the same chunk cause no delay.
        """

        def mixed() -> Array:
            """A token waits for one chunk at most."""
            shared = _count_prompts_per_chunk(self.rows, self.requests, self.running)
            most = np.maximum(self.cycle.steps * self.begin.prefill.total, 1e-12)
            each = self.begin.each_prompt / most
            begun = (self.running - shared) * each
            later = (self.running - np.where(self.requests.varied, 1.0, shared)) * each
            longer = self.constants.burst_stall_factor * begun
            burst = _select_by_mask(
                self.requests.varied,
                lambda: longer / (1.0 + longer),
                lambda: np.where(begun < 1.0, 0.5 * begun, 1.0 - 0.5 / np.maximum(begun, 1.0)),
            )
            return most * (first_wave * burst + (1.0 - first_wave) * np.minimum(later, 1.0))

        def halted() -> Array:
            rest = self.begin.fill + self.begin.prompts - self.begin.burst
            # Short outputs divide the same wait by fewer tokens. The mean of 1/n exceeds 1 over the mean of n, most of
            # all if the shortest running output is short.
            short = np.maximum(np.log(np.maximum(np.minimum(self.requests.later, self.running), 1.0)), 1.0)
            others = (self.running - 1.0) * self.begin.each_prompt
            varied = first_wave * short * rest + (1.0 - first_wave) * others
            return np.where(self.requests.varied, varied, rest)

        return _select_by_mask(self.rows.mixes > 0, mixed, halted)

    def compute_recomputation(self, first_wave: Array) -> tuple[Array, Array]:
        """Return the seconds that recomputation adds to each request, and the factor on its TPOT.

        On-demand memory admits varied requests by their prompts. As they grow, the newest are preempted to free as many
        tokens as the others need, and recomputed later; their tokens wait meanwhile. This continues while others queue
        for memory.
        """
        grow = (
            self.requests.varied
            & (self.rows.on_demand * self.rows.mixes > 0)
            & (self.requests.capacity < self.rows.step_batch_cap)
        )
        if not np.any(grow & (first_wave < 1.0)):
            return np.zeros(1), np.ones(1)
        queued = np.where(grow, 1.0 - first_wave, 0.0)
        chunk = np.minimum(self.rows.chunk_tokens, np.maximum(self.requests.prompt, 1.0) * self.running)
        token = self.begin.prefill.total / (chunk * self.rows.stages)
        longer = np.minimum(self.requests.output / np.maximum(self.requests.held_prompt, 1.0), 5.0)
        slowdown = self.constants.preemption_slowdown + self.constants.preemption_slowdown_square * longer
        return queued * self.constants.recompute_share * self.requests.output * token, 1.0 + queued * longer * slowdown

    def compute_decoding(self, fixed: Array, spared: Array) -> Array:
        """Seconds of all decode steps of a request of a saturated run, without the delay by prompts.

        If prompts take most of the time, the first requests end before the last begin. `fixed` is the part of a step
        that does not shrink with its batch; `spared` is the share of the rest that is saved while the run drains.
        """
        fewer = (
            self.cycle.steps
            * (self.begin.prefill.total + self.cycle.decode.total)
            / (self.begin.each_prompt * self.running)
        )
        share = np.where(self.rows.mixes > 0, np.minimum(fewer, 1.0), 1.0) - spared
        decoding: Array = self.cycle.steps * (fixed + np.maximum(share, 0.0) * (self.cycle.decode.total - fixed))
        return decoding

    def compute_short_wave(self, total: Array) -> Array:
        """Share of equal requests that the last wave of a run lacks."""
        rounds = total / self.running
        remainder = np.maximum(rounds - np.floor(rounds + ROUNDING), 0.0)
        return np.where(self.requests.varied | (rounds <= 1.0), 0.0, remainder / rounds * (1.0 - remainder))

    def compute_queue(self, total: Array) -> Array:
        """Return mean seconds that requests queue for a place.

        Equal requests wait for whole waves. Varied requests end one by one, so the queue shrinks evenly, behind the
        prompts of the first wave.
        """
        rounds = total / self.running

        def even() -> Array:
            begin = self.begin.fill + self.begin.prompts - self.begin.burst
            return (1.0 - 1.0 / rounds) * (begin + 0.5 * (rounds - 1.0) * self.cycle.seconds)

        def alike() -> Array:
            waves = np.floor(rounds + ROUNDING)
            remaining_rounds = np.maximum(rounds - waves, 0.0)
            return self.cycle.seconds * waves * (0.5 * (waves - 1.0) + remaining_rounds) / rounds

        return _select_by_mask(self.requests.varied, even, alike)


def serve_saturated(
    rows: CoefficientColumns, requests: ReplicaRequests, total: Array, constants: SchedulingConstants
) -> ReplicaResults:
    """`total` requests are queued at once and served as fast as memory admits, like a static batch."""
    running = np.minimum(total, _count_room(rows, requests, constants))
    first_wave = running / total
    cycle = compute_round(rows, requests, running, running)
    run = _ReplicaRun(rows, requests, cycle, cycle, running, constants)
    fixed = run.compute_fixed_step()
    is_count_known = requests.capacity >= rows.step_batch_cap
    tail = run.compute_tail(total, is_count_known) * cycle.steps * fixed
    together = (total / running - 1.0) * cycle.shared
    again, slower = run.compute_recomputation(first_wave)
    busy = total / running * cycle.apart + tail + cycle.fill - together
    duration = rows.latency + busy + total * again
    ttft = rows.latency + cycle.burst + run.compute_queue(total)
    ttft = ttft + 0.5 * (total - running) * again
    short = run.compute_short_wave(total)
    spared = np.where(requests.varied, constants.drain_saving * first_wave, short)
    decoded = run.compute_decoding(fixed, spared) - (1.0 - first_wave) * cycle.shared
    # Steps of fewer sequences overlap with prompts by their full length at most.
    stay = np.maximum(decoded, 0.0) + (1.0 - short) * run.compute_stall(first_wave)
    # No equal request outlasts the run.
    slowed = slower * (stay + running * again)
    stay = np.where(requests.varied, slowed, np.minimum(stay, duration - ttft))

    def compute_terms() -> LoadTerms:
        return LoadTerms(
            overlap=(1.0 - first_wave) * cycle.shared,
            waiting=first_wave * (rows.latency + cycle.fill) + running * again,
            tail=first_wave * tail,
            queue=ttft - _compute_prefill_alone(rows, requests),
            stall=stay - cycle.decoding,
        )

    return ReplicaResults(
        running=running,
        waiting=running,
        rate=total / duration,
        ttft=ttft,
        tpot=compute_tpot(requests, stay),
        duration=duration,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
        compute_terms=compute_terms,
    )


def _compute_prefill_alone(rows: CoefficientColumns, requests: ReplicaRequests) -> Array:
    """Seconds of replica time that a prompt takes without any queue."""
    return compute_request_prefill(rows, requests.prompt, np.ones(len(rows)), requests.cached)[0]


def _compute_steady_first_token(
    rows: CoefficientColumns, requests: ReplicaRequests, cycle: ServingRound, running: Array, group: Array, first: Array
) -> Array:
    """TTFT in a closed loop after its first wave, without a queue.

    `group` requests end together, and `first` is the TTFT of an uncontended request.
    """
    others = 1.0 - 1.0 / np.maximum(running, 1.0)

    def together() -> Array:
        """Equal requests are sent at the end of a step, one group after the other, without delaying each other."""
        chunks = np.ceil(requests.prompt / rows.chunk_tokens)
        return np.maximum(rows.latency + group * cycle.each_prompt + others * chunks * cycle.tokens, first)

    steady = _select_by_mask(
        requests.varied, lambda: first + others * cycle.compute_loop_wait(rows, requests.prompt, group), together
    )
    # Prompts that are not mixed with decode steps wait before their first token.
    queues = np.where(cycle.steps > 0, rows.mixes, 1.0)
    ttft: Array = np.maximum(steady, rows.latency + queues * (cycle.prompts - cycle.stall))
    return ttft


def serve_closed_loop(
    rows: CoefficientColumns,
    requests: ReplicaRequests,
    concurrency: Array,
    total: Array,
    constants: SchedulingConstants,
) -> ReplicaResults:
    """`concurrency` clients send the next request after each answer, until `total` are sent.

    `total` is infinite for a steady state and never below `concurrency`.
    """
    finite = np.isfinite(total)
    running = np.minimum(concurrency, _count_room(rows, requests, constants))
    served = np.where(finite, total, running)
    first_wave = concurrency / total
    # If prompts run before tokens, all waiting prompts run at once, and equal requests stay in step. Without decode
    # steps they arrive one by one.
    cohort = np.where(requests.varied, rows.burst_varied, 1.0 - rows.mixes * (1.0 - rows.burst_equal))
    cohort = np.where(requests.later > 0, cohort, 0.0)
    in_burst = first_wave + (1.0 - first_wave) * cohort
    # Otherwise equal prompts that shared a chunk end together, and their successors share a chunk again. Others end
    # with the same step.
    ended = _count_ending_together(rows, requests, running)
    group = np.where(requests.varied, ended, _count_prompts_per_chunk(rows, requests, running))
    waiting = _average_group(running, in_burst, group)
    cycle = compute_round(rows, requests, running, waiting)
    begin = compute_prompt_round(rows, requests, running, running)
    first = compute_lone_ttft(rows, requests)
    steady = _compute_steady_first_token(rows, requests, cycle, running, group, first)
    burst = np.maximum(rows.latency + begin.burst, first)
    ttft = in_burst * burst + (1.0 - in_burst) * steady
    apart = cycle.apart - (1.0 - first_wave) * cycle.shared
    seconds = np.maximum(apart, ttft - rows.latency + cycle.decoding)
    stay = seconds + rows.latency - ttft
    ends: Array = np.zeros(1)
    if finite.any():
        run = _ReplicaRun(rows, requests, cycle, begin, running, constants)
        fixed = run.compute_fixed_step()
        is_count_known = (concurrency <= running) | (requests.capacity >= rows.step_batch_cap)
        tail = run.compute_tail(served, is_count_known)
        ends = np.where(finite, tail, 0.0) * cycle.steps * fixed
        begun = run.compute_decoding(fixed, np.where(requests.varied, constants.drain_saving, 0.0))
        begun += run.compute_stall(1.0)
        stay = stay + first_wave * (begun - (seconds + rows.latency - burst))
    busy = served / running * seconds + ends
    # Requests in transit between client and replica are not being served.
    duration = busy + rows.latency * served / concurrency
    # No equal request outlasts the run.
    longest = np.where(requests.varied | ~finite, np.inf, duration - ttft)
    queue = (concurrency - running) * seconds / running
    ttft = ttft + queue * (1.0 - first_wave * 0.5)
    stay = np.minimum(stay, longest)

    def compute_terms() -> LoadTerms:
        return LoadTerms(
            overlap=(1.0 - first_wave) * cycle.shared,
            waiting=seconds - apart + rows.latency * running / concurrency,
            tail=ends * running / served,
            queue=ttft - _compute_prefill_alone(rows, requests),
            stall=stay - cycle.decoding,
        )

    return ReplicaResults(
        running=running,
        waiting=waiting,
        rate=served / duration,
        ttft=ttft,
        tpot=compute_tpot(requests, stay),
        duration=np.where(finite, duration, np.nan),
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
        compute_terms=compute_terms,
    )


@frozen_dataclass
class PhysicalBounds:
    """Limits that no deployment can beat: requests/s of one replica, and seconds of TPOT and TTFT."""

    rate: Array
    tpot: Array
    ttft: Array


def compute_bounds(ideal: CoefficientColumns, requests: ReplicaRequests, running: Array) -> PhysicalBounds:
    """Physical bounds with `running` sequences in a replica; `ideal` are coefficients without any loss."""
    cycle = compute_round(ideal, requests, running, running)
    return PhysicalBounds(
        rate=running / cycle.seconds,
        tpot=cycle.decode.total / np.minimum(ideal.tokens_per_step, np.maximum(requests.later, 1.0)),
        ttft=compute_lone_ttft(ideal, requests),
    )


@frozen_dataclass
class RoundTimes:
    """Time breakdown of one round of a replica in seconds; arrays of one shape.

    `parts` divides it by the first four of `LIMITERS`, all decode steps and prompts together; the largest names the
    limiter. `decoding` is the time of the decode steps alone, `alone` the time to the first token of an uncontended
    prompt.
    """

    parts: tuple[Array, Array, Array, Array]
    decode: StepTime
    prefill: StepTime
    decoding: Array
    alone: Array


#: p99 of a wait over its mean, for exponentially distributed waits.
LATEST: Final = math.log(100.0)


def get_p99_factors(p99: Mask, constants: SchedulingConstants) -> tuple[Array, Array]:
    """Return how p99 limits translate to means: p99 over mean of a wait, and mean TPOT over its limit.

    Both are 1 if the limits are means.
    """
    return np.where(p99, LATEST, 1.0), np.where(p99, constants.p99_margin, 1.0)


def _compute_steady_round(rows: CoefficientColumns, requests: ReplicaRequests, running: Array) -> ServingRound:
    """Compute a round of `running` sequences during which some arrive while others wait."""
    return compute_round(rows, requests, running, _count_arriving(rows, requests, running))


def _count_arriving(rows: CoefficientColumns, requests: ReplicaRequests, running: Array) -> Array:
    """Sequences that queue for prefill together with random arrivals: as many arrive in a step as end with it."""
    return _average_group(running, rows.burst_varied, _count_ending_together(rows, requests, running))


def _find_largest(good: Callable[[Array], Mask], capacity: Array) -> Array:
    """Return the largest whole number up to `capacity` that satisfies `good`, 0 if 1 does not.

    `good` must be true up to some number and false beyond it.
    """
    low, high = np.zeros_like(capacity), np.floor(capacity) + 1.0
    for _ in range(int(np.max(high, initial=1.0)).bit_length()):
        middle = np.floor(0.5 * (low + high))
        holds = (middle >= 1.0) & good(np.maximum(middle, 1.0))
        low = np.where(holds, middle, low)
        high = np.where(holds | (middle < 1.0), high, middle)
    return low


def _compute_first_token(
    rows: CoefficientColumns, prompt: Array, first: Array, cycle: ServingRound, present: Array, rate: Array
) -> Array:
    """TTFT of requests that arrive at random, `rate` per second, with `present` sequences on average.

    `present` can be below one. `first` is the TTFT of an uncontended request. The wait never exceeds the prompts of all
    running sequences.
    """
    waiting = first + np.minimum(present, 1.0) * cycle.wait(rows, prompt, rate)
    most = np.maximum(first, rows.latency + cycle.fill + cycle.prompts) + MOST_STEPS * cycle.step
    return np.minimum(waiting, most)


def serve_open_loop(rows: CoefficientColumns, requests: ReplicaRequests, rate: Array) -> ReplicaResults:
    """Requests arrive at `rate` per second regardless of the queue; unstable if the replica cannot keep up."""

    def excess(running: Array) -> Array:
        """Sequences that arrive during a round of `running`, less `running`."""
        return rate * _compute_steady_round(rows, requests, running).seconds - running

    capacity = np.maximum(requests.capacity, 1.0)
    below = np.maximum(_find_largest(lambda running: excess(running) > 0, capacity), 1.0)
    more, less = excess(below), excess(np.minimum(below + 1.0, capacity))
    stable = (more <= 0) | (less <= 0)
    share = np.where(more > 0, more / np.maximum(more - less, 1e-9), 0.0)
    running = np.where(stable, np.minimum(below + share, capacity), capacity)
    cycle = _compute_steady_round(rows, requests, running)
    present = np.minimum(rate * cycle.seconds, running)
    idle = np.maximum(1.0 - rate * cycle.added, 1e-9)
    lone = compute_lone_ttft(rows, requests)
    first = _compute_first_token(rows, requests.prompt, lone, cycle, present, rate)
    unknown = np.full_like(rate, np.nan)
    served = np.where(stable, rate, np.minimum(rate, running / cycle.seconds))

    def compute_terms() -> LoadTerms:
        return LoadTerms(
            overlap=cycle.shared,
            # With very few arrivals, the replica waits for the next one.
            waiting=running / served - cycle.seconds,
            tail=np.zeros_like(rate),
            queue=first - _compute_prefill_alone(rows, requests),
            stall=cycle.decoding / idle - cycle.decoding,
        )

    return ReplicaResults(
        running=running,
        waiting=_count_arriving(rows, requests, running),
        rate=served,
        ttft=np.where(stable, first, unknown),
        tpot=np.where(stable, compute_tpot(requests, cycle.decoding / idle), unknown),
        duration=unknown,
        stable=stable,
        limiter=cycle.limiter,
        compute_terms=compute_terms,
    )


def _count_in_short_steps(rows: CoefficientColumns, requests: ReplicaRequests, tokens: float) -> Array:
    """Sequences whose tokens, with the prompts that replace them, fill steps of `tokens` on every rank.

    Servers under p99 limits are tuned to steps of a few thousand tokens: longer steps delay all running requests, and
    add little throughput once compute-bound.
    """
    together = np.minimum(tokens * rows.attention_ranks, rows.chunk_tokens) * rows.stages
    prompt = requests.prompt * rows.tokens_per_step / np.maximum(requests.later, 1.0)
    most: Array = np.maximum(together / (rows.verified_tokens + prompt), 1.0)
    return most


def serve_within_limits(
    rows: CoefficientColumns,
    requests: ReplicaRequests,
    ttft: Array,
    tpot: Array,
    p99: Mask,
    constants: SchedulingConstants,
) -> ReplicaResults:
    """Return the highest throughput whose TTFT and TPOT stay within the limits (p99 or mean).

    `running` is 0 and the rate NaN if not even one sequence meets them.
    """
    tail, margin = get_p99_factors(p99, constants)
    undisturbed = compute_lone_ttft(rows, requests)

    def begin(running: Array) -> tuple[ServingRound, Array]:
        cycle = _compute_steady_round(rows, requests, running)
        return cycle, _compute_first_token(rows, requests.prompt, undisturbed, cycle, running, running / cycle.seconds)

    # Several prompts that share a chunk take less time each than one alone; no latency is below that of one request.
    alone, least = begin(np.ones_like(ttft))

    def point(running: Array) -> tuple[ServingRound, Array, Array]:
        cycle, first = begin(running)
        between = compute_tpot(requests, np.maximum(cycle.seconds, alone.seconds))
        return cycle, between, np.maximum(first, least)

    def latest(first: Array) -> Array:
        return undisturbed + tail * (first - undisturbed)

    def meets(running: Array) -> Mask:
        _, between, first = point(running)
        within: Mask = (np.nan_to_num(between, nan=0.0) <= margin * tpot) & (latest(first) <= ttft)
        return within

    most = np.where(p99, _count_in_short_steps(rows, requests, constants.limit_tokens), requests.capacity)
    running = _find_largest(meets, np.maximum(np.minimum(requests.capacity, most), 1.0))
    possible = running > 0
    cycle, between, first = point(np.maximum(running, 1.0))
    # Under the highest load that a p99 limit of TTFT allows, queues use part of the limit, up to a round of the
    # replica: at a load that it keeps up with, no request queues longer.
    queued = rows.limit_queue * np.maximum(np.minimum(ttft, cycle.seconds) - first, 0.0)
    # Attention ranks prefill together every few steps, if the limit leaves time; half of that is the mean wait.
    gathered = 0.5 * np.minimum(rows.gather_steps * cycle.step, np.maximum(ttft - latest(first), 0.0))
    first = first + np.where(p99, queued + gathered, 0.0)
    unknown = np.full_like(ttft, np.nan)

    def compute_terms() -> LoadTerms:
        return LoadTerms(
            overlap=cycle.shared,
            waiting=np.zeros_like(ttft),
            tail=np.zeros_like(ttft),
            queue=first - _compute_prefill_alone(rows, requests),
            stall=cycle.seconds - cycle.decoding,
        )

    return ReplicaResults(
        running=running,
        waiting=_count_arriving(rows, requests, np.maximum(running, 1.0)),
        rate=np.where(possible, running / cycle.seconds, unknown),
        ttft=np.where(possible, first, unknown),
        tpot=np.where(possible, between, unknown),
        duration=unknown,
        stable=np.ones(len(rows), dtype=np.bool_),
        limiter=cycle.limiter,
        compute_terms=compute_terms,
    )
