"""Prefill and decode on pools of their own: rate matching, the KV transfer, queues; vectorised over cases.

A prompt is computed on the prefill pool, its KV cache travels to the decode pool, and its tokens are
generated there, undisturbed by the prompts of others. No request is served faster than by either pool alone
or by the link between them:

    rate <= min(replicas / prefill of one prompt, 1 / spacing of transfers, replicas x running / residence)

A transfer begins when the prompt is computed (it does not overlap with its own prefill, only with that of
others), so all of it is part of TTFT. All times are seconds; rates are requests/s of the whole deployment.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final, assert_never

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimates import Limiter
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.arrivals import mean_to_p99
from gpudesk.engine.loads import Bounds, Mask, Requests, RoundTimes, ServingConstants
from gpudesk.engine.pool_flow import SHORTEST_STAY, UNDER_WAY, Flow, PoolPair
from gpudesk.engine.serving import Loads
from gpudesk.engine.steps import LIMITERS, Array, StepTime, limiter_index, time_parts

#: A pool that is busier than this is as good as full.
_FULL: Final = 1.0 - 1e-9
_INTERCONNECT: Final = LIMITERS.index(Limiter.INTERCONNECT)

#: What sets the rate: the values of `PoolResults.binding`.
PREFILL, LINK, DECODE = 0, 1, 2


@dataclass(frozen=True, slots=True)
class PoolResults:
    """What each deployment does; arrays of one shape, NaN where a figure has no meaning for the load.

    `running` sequences decode in one replica of the decode pool, `waiting` prompts queue together in one of
    the prefill pool. `*_busy`: the rate as a share of the highest that this station alone would reach under
    the load; `binding` says which is busiest.
    """

    concurrency: Array
    admitted: Array
    running: Array
    waiting: Array
    rate: Array
    ttft: Array
    tpot: Array
    duration: Array
    stable: Mask
    limiter: NDArray[np.intp]
    prefill_busy: Array
    link_busy: Array
    decode_busy: Array
    binding: NDArray[np.intp]

    def select(self, chosen: NDArray[Any] | slice) -> PoolResults:
        """Return the chosen cases."""
        return PoolResults(*(getattr(self, field.name)[chosen] for field in fields(self)))


def _waves(total: Array, running: Array, tail_wave: float) -> Array:
    """Rounds that `total` requests take `running` at a time, a started last round paid in part."""
    full = total / running
    return np.maximum(1.0, full + tail_wave * np.minimum(1.0, np.maximum(full - 1.0, 0.0)))


@dataclass(frozen=True, slots=True)
class _Found:
    """What a load comes to, beside what follows from it; `most` are the highest rates by station."""

    flow: Flow
    concurrency: Array
    admitted: Array
    running: Array
    rate: Array
    ttft: Array
    tpot: Array
    duration: Array
    stable: Mask
    most: tuple[Array, Array, Array]

    def results(self) -> PoolResults:
        """Name what binds."""
        busy = np.nan_to_num(self.rate, nan=0.0) / np.stack(self.most)
        binding = np.argmax(busy, axis=0)
        step, chunk = self.flow.step(self.running), self.flow.chunk
        by_station = np.stack(
            (_limiter(chunk), np.full(len(binding), _INTERCONNECT, dtype=np.intp), _limiter(step))
        )
        return PoolResults(
            concurrency=self.concurrency,
            admitted=self.admitted,
            running=self.running,
            waiting=self.flow.queued,
            rate=self.rate,
            ttft=self.ttft,
            tpot=self.tpot,
            duration=self.duration,
            stable=self.stable,
            limiter=by_station[binding, np.arange(len(binding))],
            prefill_busy=np.minimum(busy[PREFILL], 1.0),
            link_busy=np.minimum(busy[LINK], 1.0),
            decode_busy=np.minimum(busy[DECODE], 1.0),
            binding=binding,
        )


def _limiter(step: StepTime) -> NDArray[np.intp]:
    return limiter_index((step.read, step.arithmetic, step.collectives, step.overhead))


def _burst(pools: PoolPair, requests: Requests, total: Array, constants: ServingConstants) -> _Found:
    """`total` requests come at once; those that the decode pool has no room for wait for the ones before."""
    flow = Flow(pools, requests, total / pools.prefill_replicas)
    held = np.minimum(total / pools.decode_replicas, flow.capacity)
    room = held * pools.decode_replicas
    running = flow.largest(lambda each: flow.rate(each) <= flow.supply, held)
    decoding = flow.decoding(running)
    rounds = _waves(total, room, constants.tail_wave) * room / flow.rate(held)
    duration = np.maximum(flow.last_of(total) + decoding, flow.alone + rounds)
    queued = total - room
    later = 0.5 * (flow.last_of(room) + duration - decoding)
    ttft = (room * flow.mean_of(room) + queued * later) / total
    return _Found(
        flow=flow,
        concurrency=total,
        admitted=room,
        running=running,
        rate=total / duration,
        ttft=np.minimum(ttft, duration - decoding),
        tpot=flow.tpot(running),
        duration=duration,
        stable=np.ones(len(total), dtype=np.bool_),
        most=(flow.prefill_rate, flow.transfer_rate, flow.rate(held)),
    )


def _closed(
    pools: PoolPair, requests: Requests, clients: Array, total: Array, constants: ServingConstants
) -> _Found:
    """`clients` send the next request when the last is answered, until `total` are sent.

    Little's law gives the rate: clients = rate x (arrival + decoding). After the first wave, equal requests
    come one after the other as they left the prefill pool, and random ones find its queue.
    """
    flow = Flow(pools, requests, clients / pools.prefill_replicas)
    others = 1.0 - 1.0 / clients
    most = np.minimum(clients / pools.decode_replicas, flow.capacity)

    def holds(running: Array) -> Mask:
        rate = flow.rate(running, others)
        inside = rate * flow.arrival(rate, others) + running * pools.decode_replicas
        fits: Mask = (inside <= clients) & (rate <= _FULL * flow.supply)
        return fits

    running = flow.largest(holds, most)
    rate, decoding = flow.rate(running, others), flow.decoding(running)
    round_s = clients / rate
    steady = round_s - decoding
    room = np.minimum(clients, flow.capacity * pools.decode_replicas)
    first = flow.mean_of(room) + others * UNDER_WAY * flow.step(running).total
    first = (room * first + (clients - room) * np.maximum(first, steady)) / clients
    share = clients / total
    finite = np.isfinite(total)
    waves = np.where(finite, _waves(total, clients, constants.tail_wave), 1.0)
    late = np.where(finite, np.maximum(flow.last_of(clients) - steady, 0.0), 0.0)
    duration = waves * round_s + late
    return _Found(
        flow=flow,
        concurrency=clients,
        admitted=room,
        running=running,
        rate=np.where(finite, total, clients) / duration,
        ttft=share * first + (1.0 - share) * steady,
        tpot=flow.tpot(running),
        duration=np.where(finite, duration, np.nan),
        stable=np.ones(len(clients), dtype=np.bool_),
        most=(flow.prefill_rate, flow.transfer_rate, flow.rate(most, others)),
    )


def _open(pools: PoolPair, requests: Requests, rate: Array) -> _Found:
    """Requests arrive at `rate` a second; unstable where a pool or the link cannot keep up."""
    flow = Flow(pools, requests, pools.prompts)
    most = (flow.prefill_rate, flow.transfer_rate, flow.rate(flow.capacity))
    highest = np.minimum(flow.supply, most[DECODE])
    stable = rate < _FULL * highest
    served = np.where(stable, rate, highest)
    running = flow.largest(lambda each: flow.rate(each) <= served, flow.capacity)
    step = flow.step(running).total
    ttft = flow.arrival(served) + UNDER_WAY * np.minimum(running, 1.0) * step
    inside = np.maximum(served * (ttft + flow.decoding(running)), 1.0)
    # Where the queue grows without end, as many run as there is room for.
    room = flow.capacity * pools.decode_replicas
    inside = np.where(stable, inside, room)
    return _Found(
        flow=flow,
        concurrency=inside,
        admitted=np.minimum(inside, room),
        running=running,
        rate=served,
        ttft=np.where(stable, ttft, np.nan),
        tpot=np.where(stable, flow.tpot(running), np.nan),
        duration=np.full_like(rate, np.nan),
        stable=stable,
        most=most,
    )


def _within(pools: PoolPair, requests: Requests, loads: Loads, constants: ServingConstants) -> _Found:
    """The highest rate whose TTFT and TPOT stay within the limits (p99 or mean); NaN where none does."""
    flow = Flow(pools, requests, pools.prompts)
    tail, margin = mean_to_p99(loads.p99, constants)

    def first(running: Array) -> Array:
        waits = UNDER_WAY * np.minimum(running, 1.0) * flow.step(running).total
        return flow.arrival(flow.rate(running)) + waits

    def paced(running: Array) -> Mask:
        within: Mask = np.nan_to_num(flow.tpot(running), nan=0.0) <= margin * loads.tpot
        return within

    def prompt(running: Array) -> Mask:
        latest = flow.alone + tail * (first(running) - flow.alone)
        early: Mask = (latest <= loads.ttft) & (flow.rate(running) <= _FULL * flow.supply)
        return early

    fast = flow.largest(paced, flow.capacity)
    soon = flow.largest(prompt, flow.capacity)
    running = np.minimum(fast, soon)
    possible = paced(running) & prompt(running)
    rate = np.where(possible, flow.rate(running), np.nan)
    inside = np.where(possible, np.maximum(rate * (first(running) + flow.decoding(running)), 1.0), 0.0)
    unknown = np.full_like(rate, np.nan)
    return _Found(
        flow=flow,
        concurrency=inside,
        admitted=np.minimum(inside, flow.capacity * pools.decode_replicas),
        running=running,
        rate=rate,
        ttft=np.where(possible, first(running), unknown),
        tpot=np.where(possible, flow.tpot(running), unknown),
        duration=unknown,
        stable=np.ones(len(rate), dtype=np.bool_),
        most=(flow.rate(soon), flow.transfer_rate, flow.rate(fast)),
    )


def serve_pools(
    kind: LoadKind, pools: PoolPair, requests: Requests, loads: Loads, constants: ServingConstants
) -> PoolResults:
    """Serve every case, all of one kind of load.

    `requests.capacity` is that of one replica of the decode pool; cases that do not fit must be left out.
    """
    match kind:
        case LoadKind.BATCH:
            found = _burst(pools, requests, loads.amount, constants)
        case LoadKind.SATURATE:
            found = _burst(pools, requests, loads.total, constants)
        case LoadKind.CONCURRENCY:
            clients = np.minimum(loads.amount, loads.total)
            found = _closed(pools, requests, clients, loads.total, constants)
        case LoadKind.REQUEST_RATE:
            found = _open(pools, requests, loads.amount)
        case LoadKind.LIMITS:
            found = _within(pools, requests, loads, constants)
        case _:
            assert_never(kind)
    return found.results()


def pool_bounds(ideal: PoolPair, requests: Requests, results: PoolResults) -> Bounds:
    """Bounds of physics on the whole deployment; `ideal` are pools without any loss."""
    flow = Flow(ideal, requests, results.waiting)
    running = np.maximum(results.running, 1.0)
    decoding = np.maximum(flow.decoding(running), SHORTEST_STAY)
    return Bounds(
        rate=np.minimum(flow.supply, ideal.decode_replicas * running / decoding),
        tpot=flow.step(running).total / np.minimum(ideal.decode.tokens_per_step, np.maximum(flow.later, 1.0)),
        ttft=flow.alone,
    )


def pool_rounds(pools: PoolPair, requests: Requests, results: PoolResults) -> RoundTimes:
    """Take the time of one request apart: its decode steps and its prompt, each on its own pool.

    The transfer counts as collectives and the hand-over as overhead.
    """
    flow = Flow(pools, requests, results.waiting)
    step = flow.step(np.maximum(results.running, 1.0))
    chunks = (flow.each - pools.prefill.request) / flow.chunk.total
    beside = pools.prefill.request + pools.handover + pools.prefill.latency
    read, arithmetic, collectives, overhead = time_parts(beside, (flow.steps, step), (chunks, flow.chunk))
    return RoundTimes(
        parts=(read, arithmetic, collectives + pools.transfer, overhead),
        decode=step,
        prefill=flow.chunk,
        decoding=flow.steps * step.total,
        alone=flow.alone - pools.transfer - pools.handover,
    )
