"""Separate prefill and decode pools: rate matching, KV transfer and queues, vectorized."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final, assert_never

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimate import Limiter, LoadKind
from gpudesk.engine.loads import PhysicalBounds, RoundTimes, SchedulingConstants, get_p99_factors
from gpudesk.engine.serving import DeploymentLoads, ServingResults
from gpudesk.engine.steps import (
    LIMITERS,
    Array,
    CoefficientColumns,
    Mask,
    ReplicaRequests,
    StepTime,
    compute_decode_step,
    compute_request_prefill,
    find_limiter,
    split_time,
)
from gpudesk.frozen_dataclass import frozen_dataclass

#: Bisection steps: they narrow an interval to 1e-15 of its width.
_HALVINGS: Final = 50
#: Decode steps that a request waits on average: it arrives in the middle of a running step.
UNDER_WAY: Final = 0.5
#: Minimum seconds of a request in the decode pool, so that rates are finite without any decode step.
SHORTEST_STAY: Final = 1e-9
#: Minimum seconds between two transfers, so that rates are finite if nothing has to be transferred.
_SHORTEST_SPACING: Final = 1e-12


@frozen_dataclass
class PoolPair:
    """A prefill and a decode pool for each case; arrays of one shape.

    `prompts`: prompts that one prefill replica holds at once. `transfer`: seconds to transfer the cache of one prompt.
    `spacing`: seconds between two transfers if all ranks send and receive all the time. `handover`: seconds that the
    serving engine adds to each request that changes pools.
    """

    prefill: CoefficientColumns
    decode: CoefficientColumns
    prefill_replicas: Array
    decode_replicas: Array
    prompts: Array
    transfer: Array
    spacing: Array
    handover: Array

    def select(self, chosen: NDArray[Any] | slice) -> PoolPair:
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


class PoolFlow:
    """The stations that a request passes; `queued` prompts wait in a prefill replica under pressure."""

    def __init__(self, pools: PoolPair, requests: ReplicaRequests, queued: Array) -> None:
        rows = pools.prefill
        self.pools = pools
        self.requests = requests
        self.queued = np.clip(queued, 1.0, np.maximum(pools.prompts, 1.0))
        self.later = np.maximum(requests.output - 1.0, 0.0)
        # The prompt yields the first token; a step yields no more tokens than the request still needs.
        self.steps = np.maximum(self.later / pools.decode.tokens_per_step, np.minimum(self.later, 1.0))
        self.each, self.chunk = compute_request_prefill(rows, requests.prompt, self.queued, requests.cached)
        self.lone, chunk = compute_request_prefill(rows, requests.prompt, np.ones(len(rows)), requests.cached)
        self._alone = self.lone + (1.0 - 1.0 / rows.stages) * chunk.total
        self._fill = (1.0 - 1.0 / rows.stages) * self.chunk.total
        self.prefill_rate = pools.prefill_replicas / self.each
        self.transfer_rate = 1.0 / np.maximum(pools.spacing, _SHORTEST_SPACING)
        self.capacity = np.maximum(requests.capacity, 1.0)
        self._stepped: tuple[Array, StepTime] | None = None

    def step(self, running: Array) -> StepTime:
        """Decode step of a replica; the last result is cached, since conditions read it several times."""
        if self._stepped is None or self._stepped[0] is not running:
            self._stepped = running, compute_decode_step(self.pools.decode, running, self.requests.context)
        return self._stepped[1]

    def decoding(self, running: Array) -> Array:
        """Seconds from the first token to the last."""
        return self.steps * self.step(running).total

    def rate(self, running: Array, others: Array | float = 1.0) -> Array:
        """Requests/s of the decode pool; each request waits for the running step before its first token."""
        waits = self.steps + others * UNDER_WAY
        stay = np.maximum(waits * self.step(running).total, SHORTEST_STAY)
        served: Array = self.pools.decode_replicas * running / stay
        return served

    def compute_arrival_time(self, rate: Array, others: Array | float = 1.0) -> Array:
        """Seconds until the cache of a prompt is in the decode pool, at a rate with random arrivals.

        `others` is the share of the load that a request finds ahead of it, 1 if there are many clients.
        """
        prefill = self._compute_stretch(others * rate / self.prefill_rate)
        transfer = self._compute_stretch(others * rate / self.transfer_rate)
        moved = self.pools.transfer * transfer + self.pools.handover
        seconds: Array = self.pools.prefill.latency + self._alone * prefill + moved
        return seconds

    def _compute_stretch(self, busy: Array) -> Array:
        """Factor by which queueing lengthens a station that serves random arrivals one by one (M/D/1)."""
        idle = np.maximum(1.0 - busy, 1e-9)
        stretch: Array = 1.0 + 0.5 * busy / idle
        return stretch

    @property
    def supply(self) -> Array:
        """Highest requests/s that can reach the decode pool."""
        return np.minimum(self.prefill_rate, self.transfer_rate)

    @property
    def moved(self) -> Array:
        """Seconds that an uncontended request spends in transfer or changing pools."""
        return self.pools.prefill.latency + self.pools.transfer + self.pools.handover

    @property
    def alone(self) -> Array:
        """Seconds to the first token of an uncontended request."""
        return self._alone + self.moved

    def compute_last_arrival(self, burst: Array) -> Array:
        """Seconds until the last of `burst` simultaneous prompts is in the decode pool."""
        return np.maximum(self._fill + burst / self.supply, self._alone) + self.moved

    def compute_mean_arrival(self, burst: Array) -> Array:
        """Mean seconds until prompts of a `burst` are in the decode pool: they finish chunk by chunk."""
        chunk = np.maximum(self.each, self.chunk.total / self.pools.prefill.stages)
        spread = 0.5 * (burst / self.supply + chunk)
        return np.maximum(self._fill + spread, self._alone) + self.moved

    def tpot(self, running: Array) -> Array:
        """Seconds per output token after the first; NaN for a single output token."""
        return np.where(self.later > 0, self.decoding(running) / np.maximum(self.later, 1.0), np.nan)

    def largest(self, good: Callable[[Array], Mask], most: Array) -> Array:
        """Return the largest number of running sequences up to `most` that satisfies `good`."""
        fits = good(most)
        if fits.all():
            return most
        low, high = np.zeros_like(most), most
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            holds = good(middle)
            low, high = np.where(holds, middle, low), np.where(holds, high, middle)
        return np.where(fits, most, np.maximum(low, most * 1e-12))


#: A pool with a higher utilization is practically full.
_FULL: Final = 1.0 - 1e-9
_INTERCONNECT: Final = LIMITERS.index(Limiter.INTERCONNECT)

#: The station that limits the rate: the values of `DisaggregatedResults.binding`.
PREFILL_STATION, LINK_STATION, DECODE_STATION = 0, 1, 2


@frozen_dataclass
class DisaggregatedResults(ServingResults):
    """Results of each deployment.

    `running` sequences decode in one replica of the decode pool; `waiting` prompts queue together in one replica of the
    prefill pool. `*_busy`: the rate as a share of the highest rate of this station alone under the load; `binding`
    names the most loaded station. Times in seconds: a request stays in the decode pool (running sequences of all
    replicas over the rate) for its decode steps, `under_way` until it joins a step, and `tail`, its share of ramp-up
    and drain of the run. `queue` is TTFT beyond the prefill of a prompt alone, its transfer and the handover.
    """

    under_way: Array
    tail: Array
    queue: Array
    prefill_busy: Array
    link_busy: Array
    decode_busy: Array
    binding: NDArray[np.intp]

    def select(self, chosen: NDArray[Any] | slice) -> DisaggregatedResults:
        return DisaggregatedResults(*(getattr(self, field.name)[chosen] for field in fields(self)))


def _compute_waves(total: Array, running: Array, tail_wave: float) -> Array:
    """Rounds that `total` requests take, `running` at a time; a started last round counts in part."""
    full = total / running
    return np.maximum(1.0, full + tail_wave * np.minimum(1.0, np.maximum(full - 1.0, 0.0)))


@frozen_dataclass
class _PoolLoadResult:
    """The results for a load; `most` are the highest rates by station.

    `others` is as for `PoolFlow.rate`.
    """

    flow: PoolFlow
    concurrency: Array
    admitted: Array
    running: Array
    rate: Array
    ttft: Array
    tpot: Array
    duration: Array
    stable: Mask
    most: tuple[Array, Array, Array]
    others: Array | float = 1.0

    def results(self) -> DisaggregatedResults:
        busy = np.nan_to_num(self.rate, nan=0.0) / np.stack(self.most)
        binding = np.argmax(busy, axis=0)
        flow, pools = self.flow, self.flow.pools
        step, chunk = flow.step(self.running), flow.chunk
        running = pools.decode_replicas * self.running
        by_station = np.stack(
            (_find_step_limiter(chunk), np.full(len(binding), _INTERCONNECT, dtype=np.intp), _find_step_limiter(step))
        )
        return DisaggregatedResults(
            concurrency=self.concurrency,
            admitted=self.admitted,
            running=self.running,
            waiting=flow.queued,
            rate=self.rate,
            ttft=self.ttft,
            tpot=self.tpot,
            duration=self.duration,
            stable=self.stable,
            limiter=by_station[binding, np.arange(len(binding))],
            under_way=self.others * UNDER_WAY * step.total,
            tail=running / self.rate - running / flow.rate(self.running, self.others),
            queue=self.ttft - flow.lone - pools.transfer - pools.handover,
            prefill_busy=np.minimum(busy[PREFILL_STATION], 1.0),
            link_busy=np.minimum(busy[LINK_STATION], 1.0),
            decode_busy=np.minimum(busy[DECODE_STATION], 1.0),
            binding=binding,
        )


def _find_step_limiter(step: StepTime) -> NDArray[np.intp]:
    return find_limiter((step.read_time, step.arithmetic, step.collectives, step.overhead))


def _solve_burst(
    pools: PoolPair, requests: ReplicaRequests, total: Array, constants: SchedulingConstants
) -> _PoolLoadResult:
    """`total` requests arrive at once; those without room in the decode pool wait for earlier ones."""
    flow = PoolFlow(pools, requests, total / pools.prefill_replicas)
    sequences = np.minimum(total / pools.decode_replicas, flow.capacity)
    room = sequences * pools.decode_replicas
    running = flow.largest(lambda each: flow.rate(each) <= flow.supply, sequences)
    decoding = flow.decoding(running)
    rounds = _compute_waves(total, room, constants.tail_wave) * room / flow.rate(sequences)
    duration = np.maximum(flow.compute_last_arrival(total) + decoding, flow.alone + rounds)
    queued = total - room
    later = 0.5 * (flow.compute_last_arrival(room) + duration - decoding)
    ttft = (room * flow.compute_mean_arrival(room) + queued * later) / total
    return _PoolLoadResult(
        flow=flow,
        concurrency=total,
        admitted=room,
        running=running,
        rate=total / duration,
        ttft=np.minimum(ttft, duration - decoding),
        tpot=flow.tpot(running),
        duration=duration,
        stable=np.ones(len(total), dtype=np.bool_),
        most=(flow.prefill_rate, flow.transfer_rate, flow.rate(sequences)),
    )


def _solve_closed_loop(
    pools: PoolPair, requests: ReplicaRequests, clients: Array, total: Array, constants: SchedulingConstants
) -> _PoolLoadResult:
    """`clients` send the next request after each answer, until `total` are sent.

    Little's law gives the rate: clients = rate x (arrival + decoding). After the first wave, requests of equal length
    arrive one after the other in the order of the prefill pool; varied requests queue there.
    """
    flow = PoolFlow(pools, requests, clients / pools.prefill_replicas)
    others = 1.0 - 1.0 / clients
    most = np.minimum(clients / pools.decode_replicas, flow.capacity)

    def holds(running: Array) -> Mask:
        rate = flow.rate(running, others)
        inside = rate * flow.compute_arrival_time(rate, others) + running * pools.decode_replicas
        fits: Mask = (inside <= clients) & (rate <= _FULL * flow.supply)
        return fits

    running = flow.largest(holds, most)
    rate, decoding = flow.rate(running, others), flow.decoding(running)
    round_s = clients / rate
    steady = round_s - decoding
    room = np.minimum(clients, flow.capacity * pools.decode_replicas)
    first = flow.compute_mean_arrival(room) + others * UNDER_WAY * flow.step(running).total
    first = (room * first + (clients - room) * np.maximum(first, steady)) / clients
    share = clients / total
    finite = np.isfinite(total)
    waves = np.where(finite, _compute_waves(total, clients, constants.tail_wave), 1.0)
    late = np.where(finite, np.maximum(flow.compute_last_arrival(clients) - steady, 0.0), 0.0)
    duration = waves * round_s + late
    return _PoolLoadResult(
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
        others=others,
    )


def _open(pools: PoolPair, requests: ReplicaRequests, rate: Array) -> _PoolLoadResult:
    """Requests arrive at `rate` per second; unstable if a pool or the link cannot keep up."""
    flow = PoolFlow(pools, requests, pools.prompts)
    most = (flow.prefill_rate, flow.transfer_rate, flow.rate(flow.capacity))
    highest = np.minimum(flow.supply, most[DECODE_STATION])
    stable = rate < _FULL * highest
    served = np.where(stable, rate, highest)
    running = flow.largest(lambda each: flow.rate(each) <= served, flow.capacity)
    step = flow.step(running).total
    ttft = flow.compute_arrival_time(served) + UNDER_WAY * np.minimum(running, 1.0) * step
    inside = np.maximum(served * (ttft + flow.decoding(running)), 1.0)
    # If the queue grows without end, the pool runs as many sequences as it has room for.
    room = flow.capacity * pools.decode_replicas
    inside = np.where(stable, inside, room)
    return _PoolLoadResult(
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


def _solve_within_limits(
    pools: PoolPair, requests: ReplicaRequests, loads: DeploymentLoads, constants: SchedulingConstants
) -> _PoolLoadResult:
    """The highest rate whose TTFT and TPOT stay within the limits (p99 or mean); NaN if no rate does."""
    flow = PoolFlow(pools, requests, pools.prompts)
    tail, margin = get_p99_factors(loads.p99, constants)

    def first(running: Array) -> Array:
        waits = UNDER_WAY * np.minimum(running, 1.0) * flow.step(running).total
        return flow.compute_arrival_time(flow.rate(running)) + waits

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
    return _PoolLoadResult(
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
    kind: LoadKind, pools: PoolPair, requests: ReplicaRequests, loads: DeploymentLoads, constants: SchedulingConstants
) -> DisaggregatedResults:
    """Serve every case, all with one kind of load.

    `requests.capacity` is per replica of the decode pool; leave out cases that do not fit.
    """
    match kind:
        case LoadKind.BATCH:
            load_result = _solve_burst(pools, requests, loads.amount, constants)
        case LoadKind.SATURATE:
            load_result = _solve_burst(pools, requests, loads.total, constants)
        case LoadKind.CONCURRENCY:
            clients = np.minimum(loads.amount, loads.total)
            load_result = _solve_closed_loop(pools, requests, clients, loads.total, constants)
        case LoadKind.REQUEST_RATE:
            load_result = _open(pools, requests, loads.amount)
        case LoadKind.LIMITS:
            load_result = _solve_within_limits(pools, requests, loads, constants)
        case _:
            assert_never(kind)
    return load_result.results()


def compute_pool_bounds(ideal: PoolPair, requests: ReplicaRequests, results: DisaggregatedResults) -> PhysicalBounds:
    """Physical bounds of the whole deployment; `ideal` are pools without any loss."""
    flow = PoolFlow(ideal, requests, results.waiting)
    running = np.maximum(results.running, 1.0)
    decoding = np.maximum(flow.decoding(running), SHORTEST_STAY)
    return PhysicalBounds(
        rate=np.minimum(flow.supply, ideal.decode_replicas * running / decoding),
        tpot=flow.step(running).total / np.minimum(ideal.decode.tokens_per_step, np.maximum(flow.later, 1.0)),
        ttft=flow.alone,
    )


def split_pool_rounds(pools: PoolPair, requests: ReplicaRequests, results: DisaggregatedResults) -> RoundTimes:
    """Split the time of one request into its decode steps and its prompt, each on its own pool.

    The transfer counts as collectives and the handover as overhead.
    """
    flow = PoolFlow(pools, requests, results.waiting)
    step = flow.step(np.maximum(results.running, 1.0))
    chunks = (flow.each - pools.prefill.request) / flow.chunk.total
    serial = pools.prefill.request + pools.handover + pools.prefill.latency
    read_time, arithmetic, collectives, overhead = split_time(serial, (flow.steps, step), (chunks, flow.chunk))
    return RoundTimes(
        parts=(read_time, arithmetic, collectives + pools.transfer, overhead),
        decode=step,
        prefill=flow.chunk,
        decoding=flow.steps * step.total,
        alone=flow.alone - pools.transfer - pools.handover,
    )
