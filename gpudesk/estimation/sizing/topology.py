"""The cost of sharding: communication and idle stages, scaling with the count, and two deployments compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import FigureDifference
from gpudesk.domain.deployment_analysis import (
    AcceleratorScaling,
    ParallelismCosts,
    ScalingRow,
    ScalingRuleOfThumb,
    TopologyComparison,
    TopologySide,
    get_throughput,
)
from gpudesk.domain.estimate import NOTHING_TO_EXPLAIN, Estimate, EstimateRequest, Limiter, Load, LoadKind, ParallelPlan
from gpudesk.engine.engine_support import compute_stream_ceiling, scale_bandwidth
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.serving import serve_loads
from gpudesk.engine.sharding import shard_model
from gpudesk.engine.steps import COEFFICIENT_NAMES, CoefficientColumns, compute_decode_operators, compute_stretch
from gpudesk.estimation.operation import find_deployment, find_memory_plan, make_deployment_arrays, operate
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, MessageParameter, Share, input_error, message, message_n

if TYPE_CHECKING:
    from gpudesk.estimation.search_space import SearchSpaceTable


#: The communication coefficients of a step.
_COLLECTIVES: Final = [
    COEFFICIENT_NAMES.index(name) for name in ("comm_fixed", "comm_token", "ring_fixed", "ring_token")
]


class LinkGains(NamedTuple):
    """Gains of a deployment if communication took no time: its rate over the real one, TPOT likewise."""

    rate: float
    tpot: float


def compute_spreads(
    estimates: Sequence[Estimate], table: SearchSpaceTable, constants: SchedulingConstants
) -> tuple[ParallelismCosts, ...]:
    """Return the sharding costs of the estimates, which must fit, in one vectorized call.

    Intervals are not involved, and estimates with pools must be left out.
    """
    if not estimates:
        return ()
    there = [find_deployment(each, table) for each in estimates]
    operation = operate(there, table, constants)
    rows, decode = operation.arrays.rows, operation.rounds.decode
    requests, rounds = operation.arrays.requests, operation.rounds
    collectives = decode.collectives / decode.total
    steps = np.where(
        requests.later > 0, rounds.decoding / np.maximum(requests.later, 1.0), decode.total / rows.tokens_per_step
    )
    running = operation.results.running.clip(1.0)
    stretch = compute_stretch(rows, running)
    stage_occupancy = np.minimum(running / rows.stages, 1.0)
    # Without any loss, reading seconds are bytes over the data sheet's bandwidth.
    ideal = compute_decode_operators(
        table.coefficients.take_ideal([each.deployment for each in there]),
        np.maximum(running / rows.stages, 1.0),
        requests.context,
    )
    reading = ideal.dense[0] + ideal.experts[0] + ideal.head[0] + ideal.attention[0]
    reading_share = reading / decode.total * stage_occupancy
    overhead = decode.overhead / decode.total
    parts = (collectives, collectives * steps * 1e3, stage_occupancy / stretch, reading_share, overhead, steps * 1e3)
    return tuple(ParallelismCosts(*row) for row in zip(*(each.tolist() for each in parts), strict=True))


def compute_link_gains(
    estimates: Sequence[Estimate], table: SearchSpaceTable, constants: SchedulingConstants
) -> tuple[LinkGains, ...]:
    """Return the speedup of each estimate with links that take no time, served again."""
    there = [find_deployment(each, table) for each in estimates]
    arrays = make_deployment_arrays(there, table)
    freed = np.array([getattr(arrays.rows, name) for name in COEFFICIENT_NAMES])
    freed[_COLLECTIVES] = 0.0
    real = serve_loads(arrays.rows, arrays.requests, arrays.loads, constants)
    free = serve_loads(CoefficientColumns(freed), arrays.requests, arrays.loads, constants)
    rates, times = (free.rate / real.rate).tolist(), (free.tpot / real.tpot).tolist()
    return tuple(LinkGains(*each) for each in zip(rates, times, strict=True))


#: Counts to consider, besides that of the scenario.
COUNTS: Final = (1, 2, 4, 8, 16, 32, 64)

#: Rates that differ by less look equal.
_SAME: Final = 0.005
#: Cached rows of single requests: those of some scenarios.
_MOST_KEPT: Final = 128

EstimateFunction = Callable[[Sequence[EstimateRequest]], list[Estimate | InputError]]


class _ScalingRequest(NamedTuple):
    """One row to compute."""

    request: EstimateRequest
    part: Accelerator
    size: int


class ScalingTable:
    """Computes the rows, and caches those of single requests, which do not depend on the load."""

    def __init__(self, table: SearchSpaceTable, constants: SchedulingConstants, ask: EstimateFunction) -> None:
        self._table = table
        self._constants = constants
        self._ask = ask
        self._single_estimates: dict[EstimateRequest, tuple[Estimate, ParallelismCosts]] = {}

    def scalings(
        self, requests: Sequence[EstimateRequest], *, brief: bool = False
    ) -> tuple[AcceleratorScaling | InputError, ...]:
        """Return for each question how its accelerator scales; its fixed counts and plans are ignored.

        In `brief`, single requests and replicas are left out, which only tables show.
        """
        accelerators: list[Accelerator | InputError] = []
        scaling_requests: list[_ScalingRequest] = []
        for request in requests:
            try:
                part, _ = self._table.find_facts(request)
            except InputError as error:
                accelerators.append(error.detach())
                continue
            accelerators.append(part)
            free = request.with_open_plan()
            scaling_requests += [_ScalingRequest(free, part, count) for count in _list_scaling_counts(request)]
        rows = iter(self._make_rows(scaling_requests, brief=brief))
        return tuple(
            each
            if isinstance(each, InputError)
            else AcceleratorScaling(
                each.id,
                each.memory_bandwidth,
                each.cards_per_host,
                _explain_drops(tuple(islice(rows, len(_list_scaling_counts(request))))),
            )
            for each, request in zip(accelerators, requests, strict=True)
        )

    def _make_rows(self, scaling_requests: Sequence[_ScalingRequest], *, brief: bool) -> list[ScalingRow]:
        """Return a row for each: one replica at the load, a single request, and replicas."""
        questions = [replace(each.request, count=each.size, dp=1) for each in scaling_requests]
        if not brief:
            questions += [replace(each.request, count=each.size) for each in scaling_requests]
        answers = self._ask(questions)
        free = dict(enumerate(answers[len(scaling_requests) :]))
        fitting = [
            (place, estimate)
            for place, estimate in enumerate(answers[: len(scaling_requests)])
            if isinstance(estimate, Estimate) and estimate.fits
        ]
        places = [place for place, _ in fitting]
        spread = compute_spreads([estimate for _, estimate in fitting], self._table, self._constants)
        ones = {}
        if not brief:
            singles = self._estimate_alone(
                [make_single_request(scaling_requests[place].request, estimate) for place, estimate in fitting]
            )
            ones = dict(zip(places, singles, strict=True))
        of_load = dict(zip(places, spread, strict=True))
        return [
            _make_scaling_row(each, answers[place], free.get(place), of_load.get(place), ones.get(place))
            for place, each in enumerate(scaling_requests)
        ]

    def _estimate_alone(self, requests: Sequence[EstimateRequest]) -> list[tuple[Estimate, ParallelismCosts]]:
        missing = [request for request in dict.fromkeys(requests) if request not in self._single_estimates]
        if missing:
            if len(self._single_estimates) > _MOST_KEPT:
                self._single_estimates.clear()
                missing = list(dict.fromkeys(requests))
            estimates = [each for each in self._ask(missing) if isinstance(each, Estimate)]
            spread = compute_spreads(estimates, self._table, self._constants)
            self._single_estimates.update(zip(missing, zip(estimates, spread, strict=True), strict=True))
        return [self._single_estimates[request] for request in requests]


def _list_scaling_counts(request: EstimateRequest) -> tuple[int, ...]:
    own = () if request.count is None or request.count > COUNTS[-1] else (request.count,)
    return tuple(sorted({*COUNTS, *own}))


def make_single_request(request: EstimateRequest, estimate: Estimate) -> EstimateRequest:
    one = Load(LoadKind.CONCURRENCY, concurrency=1)
    return replace(
        request.with_plan(estimate.plan),
        workload=replace(request.workload, load=one, server=request.workload.behind_server),
        serving_engine=estimate.serving_engine,
    )


def _make_scaling_row(
    scaling_request: _ScalingRequest,
    whole: Estimate | InputError,
    free: Estimate | InputError | None,
    spread: ParallelismCosts | None,
    one: tuple[Estimate, ParallelismCosts] | None,
) -> ScalingRow:
    part, count = scaling_request.part, scaling_request.size
    estimate = whole if isinstance(whole, Estimate) else None
    bandwidth = count * part.memory_bandwidth
    return ScalingRow(
        count=count,
        hosts=-(-count // part.cards_per_host),
        memory_bytes=count * part.memory_bytes,
        estimate=estimate,
        single=None if one is None else one[0],
        replicas=_find_faster_replicas(free, estimate),
        spread=spread,
        single_spread=None if one is None else one[1],
        bandwidth=None if spread is None else bandwidth * spread.effective_share,
        bandwidth_per_s=None if spread is None else bandwidth * spread.bandwidth_share,
        by_rule=_scale_by_rule(part.memory_bandwidth, count),
        problem=whole.problem if isinstance(whole, InputError) else None,
    )


@lru_cache(maxsize=1024)
def _scale_by_rule(bandwidth: float, count: int) -> Mapping[ScalingRuleOfThumb, float]:
    return MappingProxyType({rule: scale_bandwidth(bandwidth, count, rule) for rule in ScalingRuleOfThumb})


def _find_faster_replicas(free: Estimate | InputError | None, whole: Estimate | None) -> Estimate | None:
    """Return the program's plan if it has replicas and is faster than one replica."""
    if not isinstance(free, Estimate) or not free.fits or free.plan.dp == 1:
        return None
    ours, theirs = get_throughput(free), get_throughput(whole)
    return free if ours is not None and ours > (theirs or 0.0) else None


def _explain_drops(rows: tuple[ScalingRow, ...]) -> tuple[ScalingRow, ...]:
    best: ScalingRow | None = None
    explained_rows = []
    for row in rows:
        rate, before = (get_throughput(row.estimate), get_throughput(best.estimate) if best is not None else None)
        if rate is not None and before is not None and best is not None and rate < before * (1.0 - _SAME):
            explained_rows.append(replace(row, falls=_explain_drop(row, best)))
            continue
        explained_rows.append(row)
        if rate is not None:
            best = row
    return tuple(explained_rows)


def _explain_drop(row: ScalingRow, best: ScalingRow) -> Message | None:
    """Return the component of a step that grew most: waiting stages, communication, or launching and scheduling."""
    if row.spread is None or best.spread is None or row.estimate is None:
        return None
    ours, theirs = (_list_losses(spread) for spread in (row.spread, best.spread))
    grown = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    most = grown.index(max(grown))
    if most == 0:
        return message(
            "topology.falls_idle",
            "slower than on {fewer}: pipeline stages wait {share} of the time",
            fewer=best.count,
            share=Share(1.0 - row.spread.stage_occupancy),
        )
    if most == 1:
        return message(
            "topology.falls_links",
            "slower than on {fewer}: links take {share} of a step",
            fewer=best.count,
            share=Share(row.spread.collectives),
        )
    return message(
        "topology.falls_overhead",
        "slower than on {fewer}: overhead takes {share} of a step",
        fewer=best.count,
        share=Share(row.spread.overhead),
    )


def _list_losses(spread: ParallelismCosts) -> tuple[float, float, float]:
    """Milliseconds of a step for waiting stages, links, and launching and scheduling."""
    return spread.step_ms * (1.0 - spread.stage_occupancy), spread.collective_ms, spread.step_ms * spread.overhead


@frozen_dataclass
class _SidePair:
    """The deployment with more sharding and the other, with their names."""

    many: TopologySide
    few: TopologySide
    names: tuple[str, str]


def summarize_topology(
    sides: tuple[TopologySide, TopologySide],
    names: tuple[str, str],
    at_load: Sequence[FigureDifference],
    at_one: Sequence[FigureDifference],
) -> tuple[Message, ...]:
    """Return the cost of sharding, its gain, the side with more memory, and the leader, in that order."""
    pair = _SidePair(*sides, names)
    if _compare_spread(sides[0]) < _compare_spread(sides[1]):
        pair = _SidePair(sides[1], sides[0], (names[1], names[0]))
    messages = [_compare_cost(pair), _compare_bandwidth(pair), _compare_room(pair)]
    messages += [_compare_single(pair, at_one), _compare_load(pair, at_load), _list_each(pair, at_load)]
    return tuple(each for each in messages if each is not None)


def _compare_spread(side: TopologySide) -> tuple[int, int]:
    return side.estimate.plan.replica, side.estimate.count


def _compare_cost(pair: _SidePair) -> Message:
    many = pair.many
    if many.estimate.plan.replica == 1:
        return message("topology.unspread", "Each replica runs on a single accelerator, so links add no time.")
    return message(
        "topology.cost",
        "Communication takes {share} of a {many} decode step for a single request ({each} per token), and {now} at "
        "this load.",
        many=pair.names[0],
        share=Share(many.single_spread.collectives),
        each=(many.single_spread.collective_ms, "ms"),
        now=Share(many.spread.collectives),
    )


def _compare_bandwidth(pair: _SidePair) -> Message | None:
    if pair.many.estimate.plan.replica == 1:
        return None
    left, whole = pair.many.single_effective_bandwidth, pair.few.single_effective_bandwidth
    ratio = left / whole
    parameters: dict[str, MessageParameter] = {
        "many": pair.names[0],
        "few": pair.names[1],
        "left": (left, "B/s"),
        "whole": (whole, "B/s"),
        "ahead": Share(abs(ratio - 1.0)),
    }
    if abs(ratio - 1.0) < _SAME:
        return message(
            "topology.bandwidth_same",
            "After communication, {many} keeps {left} of memory bandwidth, the same as {few} ({whole}).",
            **parameters,
        )
    if ratio > 1.0:
        return message(
            "topology.bandwidth_more",
            "After communication, {many} keeps {left} of memory bandwidth, {ahead} more than {few} ({whole}).",
            **parameters,
        )
    return message(
        "topology.bandwidth_less",
        "After communication, {many} keeps {left} of memory bandwidth, {ahead} less than {few} ({whole}).",
        **parameters,
    )


def _compare_room(pair: _SidePair) -> Message:
    sides = ((pair.many, pair.names[0]), (pair.few, pair.names[1]))
    (most, roomy), (least, tight) = sorted(sides, key=lambda each: -each[0].kv_room_bytes)
    return message(
        "topology.room",
        "KV cache: {roomy} holds {most} requests in {room}, {tight} holds {fewest} in {less}.",
        roomy=roomy,
        tight=tight,
        room=(most.kv_room_bytes, "B"),
        less=(least.kv_room_bytes, "B"),
        most=most.estimate.max_concurrency,
        fewest=least.estimate.max_concurrency,
    )


# The leader


#: Odds are never rounded to certainty.
_HIGHEST_ODDS: Final = 0.99


@frozen_dataclass
class _TopologyLead:
    """The likely leader in a figure (None: too close to call), its odds, and the figures of both with their unit."""

    many_wins: bool | None
    odds: Share
    own: tuple[float, str]
    against: tuple[float, str]


def _find_lead(
    differences: Sequence[FigureDifference], figure: str, sides: tuple[Estimate, Estimate]
) -> _TopologyLead | None:
    """Read the leader from the difference; for one accelerator twice the better figure decides."""
    difference = next((each for each in differences if each.figure == figure), None)
    if difference is None:
        return None
    ours, theirs = (float(getattr(side, figure).value) for side in sides)
    unit = "ms" if figure.endswith("_ms") else "tok/s"
    wins = None if difference.winner is None else (ours < theirs) == figure.endswith("_ms")
    odds = Share(min(max(difference.odds, 1.0 - difference.odds), _HIGHEST_ODDS))
    return _TopologyLead(wins, odds, (ours, unit), (theirs, unit))


def _compare_single(pair: _SidePair, differences: Sequence[FigureDifference]) -> Message | None:
    ahead = _find_lead(differences, "tpot_ms", (pair.many.single, pair.few.single))
    if ahead is None:
        return None
    parameters: dict[str, MessageParameter] = {
        "many": pair.names[0],
        "few": pair.names[1],
        "own": ahead.own,
        "against": ahead.against,
        "odds": ahead.odds,
    }
    if ahead.many_wins is None:
        return message(
            "topology.single_none",
            "A single request is too close to call: {own} per token on {many}, {against} on {few}.",
            **parameters,
        )
    if ahead.many_wins:
        return message(
            "topology.single_many",
            "A single request is faster on {many} ({odds} odds) despite sharding: {own} per token, compared with "
            "{against}.",
            **parameters,
        )
    return message(
        "topology.single_few",
        "A single request is faster on {few} ({odds} odds): {against} per token, compared with {own}.",
        **parameters,
    )


def _compare_load(pair: _SidePair, differences: Sequence[FigureDifference]) -> Message | None:
    many, few = pair.many.estimate, pair.few.estimate
    ahead = _find_lead(differences, "output_tokens_per_s", (many, few))
    if ahead is None:
        return None
    parameters: dict[str, MessageParameter] = {
        "many": pair.names[0],
        "few": pair.names[1],
        "own": ahead.own,
        "against": ahead.against,
        "odds": ahead.odds,
        "held": many.admitted or 0,
    }
    if ahead.many_wins is None:
        return message(
            "topology.load_none", "This load is too close to call: {own} on {many}, {against} on {few}.", **parameters
        )
    if ahead.many_wins:
        return message(
            "topology.load_many",
            "This load is faster on {many} ({odds} odds): {own}, compared with {against}. "
            "More accelerators pay off here.",
            **parameters,
        )
    if many.limiter is Limiter.CAPACITY and few.limiter is not Limiter.CAPACITY:
        return message_n(
            "topology.load_few_by_room",
            "This load is faster on {few} ({odds} odds): {against}, compared with {own}. {many} holds only {held} "
            "request at once, so memory decides, not links.",
            "This load is faster on {few} ({odds} odds): {against}, compared with {own}. {many} holds only {held} "
            "requests at once, so memory decides, not links.",
            "held",
            **parameters,
        )
    return message(
        "topology.load_few",
        "This load is faster on {few} ({odds} odds): {against}, compared with {own}. Fewer accelerators pay off here.",
        **parameters,
    )


def _list_each(pair: _SidePair, differences: Sequence[FigureDifference]) -> Message | None:
    figure = "output_tokens_per_s_per_accelerator"
    ahead = _find_lead(differences, figure, (pair.many.estimate, pair.few.estimate))
    if ahead is None or pair.many.estimate.count == pair.few.estimate.count:
        return None
    parameters: dict[str, MessageParameter] = {
        "many": pair.names[0],
        "few": pair.names[1],
        "own": ahead.own,
        "against": ahead.against,
        "odds": ahead.odds,
    }
    if ahead.many_wins is None:
        return message(
            "topology.each_none",
            "Per accelerator, it is too close to call: {own} on {many}, {against} on {few}.",
            **parameters,
        )
    if ahead.many_wins:
        return message(
            "topology.each_many",
            "Per accelerator, {many} is ahead ({odds} odds): {own}, compared with {against}.",
            **parameters,
        )
    return message(
        "topology.each_few",
        "Per accelerator, {few} is ahead ({odds} odds): {against}, compared with {own}.",
        **parameters,
    )


_Compare = Callable[[Estimate, Estimate], tuple[FigureDifference, ...]]


def compare_topologies(
    baseline: Estimate,
    other: Estimate,
    table: SearchSpaceTable,
    constants: SchedulingConstants,
    ask: EstimateFunction,
    compare: _Compare,
) -> TopologyComparison:
    """Compare two deployments; raises InputError if one does not fit or has pools."""
    pair = (baseline, other)
    for each in pair:
        if not each.fits:
            raise InputError(each.reason or NOTHING_TO_EXPLAIN, each.request.accelerator)
        if each.pools is not None:
            raise input_error(
                "topology.pools",
                "its accelerators form pools with separate plans; compare it without pools",
                each.request.accelerator,
            )
    ones = []
    for estimate in ask([make_single_request(each.request, each) for each in pair]):
        if isinstance(estimate, InputError):
            raise estimate
        ones.append(estimate)
    spread = compute_spreads([*pair, *ones], table, constants)
    free = compute_link_gains([*pair, *ones], table, constants)
    sides = [
        _make_topology_side(pair[k], ones[k], (spread[k], spread[k + 2]), (free[k], free[k + 2]), table) for k in (0, 1)
    ]
    at_load, at_one = compare(*pair), compare(*ones)
    summary = summarize_topology(
        (sides[0], sides[1]), (_name_side(sides[0], table), _name_side(sides[1], table)), at_load, at_one
    )
    return TopologyComparison(sides[0], sides[1], at_load, summary)


def _make_topology_side(
    estimate: Estimate,
    single: Estimate,
    spread: tuple[ParallelismCosts, ParallelismCosts],
    free: tuple[LinkGains, LinkGains],
    table: SearchSpaceTable,
) -> TopologySide:
    space, memory = find_memory_plan(estimate, table)
    part, plan = space.configuration.accelerator, estimate.plan
    weights = shard_model(space.configuration.model, space.configuration.weights, ParallelPlan()).resident_bytes
    rate, tpot, one = estimate.output_tokens_per_s, estimate.tpot_ms, single.tpot_ms
    return TopologySide(
        estimate=estimate,
        single=single,
        spread=spread[0],
        single_spread=spread[1],
        kv_room_bytes=float(max(0, memory.budget.pool_bytes) * plan.count),
        bandwidth=part.memory_bandwidth * plan.count,
        ceiling=compute_stream_ceiling(part.memory_bandwidth, weights, plan.replica),
        free_output_tokens_per_s=None if rate is None else rate.value * free[0].rate,
        free_tpot_ms=None if tpot is None else tpot.value * free[0].tpot,
        free_single_tpot_ms=None if one is None else one.value * free[1].tpot,
    )


def _name_side(side: TopologySide, table: SearchSpaceTable) -> str:
    part, _ = table.find_facts(side.estimate.request)
    return f"{side.estimate.count} × {part.name}"
