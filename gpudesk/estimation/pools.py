"""Disaggregated deployments: the best of all splits and plans for a load, as an estimate."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimate import (
    AcceleratorPool,
    DisaggregatedPools,
    DisaggregationRequest,
    Estimate,
    EstimateRequest,
    Limiter,
    LoadKind,
    ParallelPlan,
    PoolKind,
    PoolRequest,
    describe_degrees,
)
from gpudesk.engine.calibration import ConstantKeys
from gpudesk.engine.disaggregation import (
    DECODE_STATION,
    LINK_STATION,
    PREFILL_STATION,
    DisaggregatedResults,
    PoolPair,
    compute_pool_bounds,
    serve_pools,
)
from gpudesk.engine.loads import SchedulingConstants, get_p99_factors
from gpudesk.engine.memory import MemoryBudget, ResolvedDeployment, compute_cache_profile
from gpudesk.engine.serving import DeploymentLoads, LowestLimits, make_workload_values
from gpudesk.engine.step_work import RankLink, find_link
from gpudesk.engine.steps import LIMITERS, Array, CoefficientColumns, ReplicaRequests
from gpudesk.estimation.deployment import make_plan_notes
from gpudesk.estimation.evaluation import (
    CaseFigures,
    FigureIntervals,
    bound_intervals,
    iterate_figures,
    make_case_arrays,
    make_load_notes,
    make_unfit_estimate,
)
from gpudesk.estimation.search_space import FittingPlans, SearchSpace, SearchSpaceTable
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, Share, Term, input_error, message, message_n

_POOL_TERMS: Final = {PoolKind.PREFILL: Term("prefill", "prefill"), PoolKind.DECODE: Term("decode", "decode")}
_POOL_HEADS: Final = {PoolKind.PREFILL: Term("Prefill", "Prefill"), PoolKind.DECODE: Term("Decode", "Decode")}
#: The link over which the pools transfer the KV cache.
_LINK_TERMS: Final = {
    "scale-up": Term("scale-up", "the scale-up link"),
    "pcie": Term("pcie", "PCIe"),
    "node": Term("node", "the network"),
}
#: Maximum splits of a deployment to try; larger ones are split in steps.
MOST_SPLITS: Final = 32
_DEGREES: Final = ("tp", "pp", "ep", "dp", "attention_dp")


@frozen_dataclass
class PoolSide:
    """One pool to choose: its question by itself, and the tokens that it holds of a request."""

    kind: PoolKind
    request: EstimateRequest
    space: SearchSpace
    tokens: int


@frozen_dataclass
class PoolChoice:
    """A plan of one pool: its deployment, sequences of one replica, and bytes per sequence on a rank."""

    deployment: ResolvedDeployment
    capacity: float
    max_sequences: int
    sequence_bytes: int


#: A plan of the prefill pool with one of the decode pool.
PoolPairChoice = tuple[PoolChoice, PoolChoice]


def make_pool_sides(request: EstimateRequest, table: SearchSpaceTable) -> tuple[PoolSide, PoolSide]:
    """Return prefill and decode pool of a question; raises InputError for an impossible plan."""
    wish = request.disaggregated or DisaggregationRequest()
    for name in _DEGREES:
        if getattr(request, name) is not None:
            raise input_error(
                "pools.degree",
                "each pool of a disaggregated deployment has its own plan; remove {name}, or set it for the prefill "
                "and decode pools",
                name,
                name=name,
            )
    work = request.workload
    return (
        _make_side(request, PoolKind.PREFILL, wish.prefill, work.input_tokens, table),
        _make_side(request, PoolKind.DECODE, wish.decode, work.request_tokens, table),
    )


def _make_side(
    request: EstimateRequest, kind: PoolKind, wish: PoolRequest, tokens: int, table: SearchSpaceTable
) -> PoolSide:
    own = request.with_degrees(wish)
    with _name_pool_in_errors(kind):
        return PoolSide(kind, own, table.find_space(own), tokens)


@contextmanager
def _name_pool_in_errors(kind: PoolKind) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        if error.where in ("count", *_DEGREES):
            raise InputError(error.problem, f"disaggregated.{kind}.{error.where}") from error
        raise


def _list_splits(request: EstimateRequest, prefill: PoolSide, decode: PoolSide) -> tuple[tuple[int, int], ...]:
    """Return the counts of both pools to try; without a total count, those of the smallest pools."""
    total, one, other = request.count, prefill.request.count, decode.request.count
    if total is None:
        one, other = one or _find_smallest_pool(prefill), other or _find_smallest_pool(decode)
        return () if one is None or other is None else ((one, other),)
    if one is not None and other is not None:
        if one + other != total:
            raise InputError(
                message_n(
                    "pools.sum",
                    "the pools need {prefill} and {decode} accelerators, but the total is {count}; change one of the "
                    "three",
                    "the pools need {prefill} and {decode} accelerators, but the total is {count}; change one of the "
                    "three",
                    "count",
                    count=total,
                    prefill=one,
                    decode=other,
                ),
                "count",
            )
        return ((one, other),)
    if total <= max(one or 1, other or 1):
        raise InputError(
            message_n(
                "pools.none_left",
                "{count} accelerator is not enough for two pools; use more",
                "{count} accelerators are not enough for two pools; use more",
                "count",
                count=total,
            ),
            "count",
        )
    if one is not None:
        return ((one, total - one),)
    if other is not None:
        return ((total - other, other),)
    step = 1
    while total > step * MOST_SPLITS:
        step *= 2
    return tuple((part, total - part) for part in range(step, total, step))


def _find_smallest_pool(side: PoolSide) -> int | None:
    """Return the minimum number of accelerators of the pool; None if unknown."""
    with _name_pool_in_errors(side.kind):
        fitting = side.space.find_smallest_fitting(side.tokens)
    return None if fitting is None else fitting.accelerators


def list_pool_choices(side: PoolSide, count: int) -> list[PoolChoice]:
    """Return the plans of a pool that fit; with pipeline stages only if none fits without."""
    with _name_pool_in_errors(side.kind):
        fitting = side.space.find_fitting(count, side.tokens)
    choices = [] if fitting is None else _make_choices(fitting)
    return [each for each in choices if each.deployment.plan.pp == 1] or choices


def _make_choices(fitting: FittingPlans) -> list[PoolChoice]:
    columns = (fitting.deployments, fitting.capacity, fitting.sequences, fitting.sequence_bytes)
    return [PoolChoice(*each) for each in zip(*columns, strict=True)]


def make_unfit_pools(
    request: EstimateRequest, prefill: PoolSide, decode: PoolSide, table: SearchSpaceTable
) -> Estimate:
    smallest_pools = [_find_smallest_pool(_open_side(side, table)) for side in (prefill, decode)]
    total = None if None in smallest_pools else sum(count or 0 for count in smallest_pools)
    for side in (decode, prefill):
        whole = request.count is None and side.request.count is None
        if (whole and _find_smallest_pool(side) is None) or _is_too_small(side):
            unfit_estimate = make_unfit_estimate(side.request, side.space, table)
            return replace(unfit_estimate, request=request, count=request.count or unfit_estimate.count, needs=total)
    rest = request.with_degrees(PoolRequest(count=(request.count or 2) - 1))
    unfit_estimate = make_unfit_estimate(rest, table.find_space(rest), table)
    return replace(
        unfit_estimate,
        request=request,
        count=request.count or unfit_estimate.count,
        needs=total,
        reason=_explain_unfit_pools(request, decode, smallest_pools),
    )


def _is_too_small(side: PoolSide) -> bool:
    return side.request.count is not None and not list_pool_choices(side, side.request.count)


def _open_side(side: PoolSide, table: SearchSpaceTable) -> PoolSide:
    own = side.request.with_degrees(PoolRequest())
    return replace(side, request=own, space=table.find_space(own))


def _explain_unfit_pools(request: EstimateRequest, decode: PoolSide, smallest_pools: list[int | None]) -> Message:
    prefill_needs, decode_needs = (count or 0 for count in smallest_pools)
    accelerator = decode.space.configuration.accelerator.name
    if not (prefill_needs and decode_needs):
        return message(
            "pools.never_fit",
            "No pool of {accelerator} fits the model and a request of this length",
            accelerator=accelerator,
        )
    return message(
        "pools.do_not_fit",
        "No split of {count} × {accelerator} fits both pools: prefill needs {prefill}, decode {decode}",
        count=request.count or 0,
        accelerator=accelerator,
        prefill=prefill_needs,
        decode=decode_needs,
    )


#: Requests/s of an open loop in which requests do not meet.
_RARELY: Final = 1e-9
_BINDING: Final = {PREFILL_STATION: PoolKind.PREFILL, LINK_STATION: None, DECODE_STATION: PoolKind.DECODE}


@frozen_dataclass
class PoolCases:
    """Pairs of plans as arrays, all under the load of one request; `counts` are accelerators of both.

    `space` is that of the decode pool.
    """

    request: EstimateRequest
    space: SearchSpace
    pools: PoolPair
    requests: ReplicaRequests
    loads: DeploymentLoads
    counts: Array


@frozen_dataclass
class PoolOperatingPoint:
    """The pools chosen by an estimate, and their results under its load, as a single case.

    `spaces` are those of prefill and decode pool.
    """

    spaces: tuple[SearchSpace, SearchSpace]
    pair: PoolPairChoice
    cases: PoolCases
    results: DisaggregatedResults


class PoolEstimator:
    """Answers disaggregated questions with the estimator's data."""

    def __init__(self, table: SearchSpaceTable, constants: SchedulingConstants) -> None:
        self._table = table
        self._constants = constants

    def estimate(self, request: EstimateRequest) -> Estimate:
        """Return the estimate of the best split and plans; raises InputError if none is possible."""
        prefill, decode = make_pool_sides(request, self._table)
        # Every pair of plans that holds a request, over all splits of the accelerators.
        pool_pairs = [
            pair
            for one, other in _list_splits(request, prefill, decode)
            for pair in product(list_pool_choices(prefill, one), list_pool_choices(decode, other))
        ]
        if not pool_pairs:
            return make_unfit_pools(request, prefill, decode, self._table)
        cases = self.make_cases(request, decode.space, pool_pairs)
        results = self._serve(cases)
        best = int(np.argmax(self._score(cases, results)))
        only = np.array([best], dtype=np.intp)
        return self._make_estimate(pool_pairs[best], _select_cases(cases, only), results.select(only))

    def _score(self, cases: PoolCases, results: DisaggregatedResults) -> Array:
        """Return the score of splits and plans: the rate, less up to 0.1% by the latency of the whole request.

        A split trades TTFT for TPOT, so the whole request counts. For missed limits scores are below zero, lower the
        further a single request misses them.
        """
        output = cases.requests.output
        later = np.where(output > 1.0, results.tpot * (output - 1.0), 0.0)
        pace = np.nan_to_num(results.ttft + later, nan=1.0)
        scores: Array = np.nan_to_num(results.rate, nan=-1.0) * (1.0 - 1e-3 * pace / (1.0 + pace))
        missed = np.flatnonzero(np.isnan(results.rate))
        if len(missed):
            missing = _select_cases(cases, missed)
            rarely = replace(missing.loads, amount=np.full(len(missed), _RARELY))
            lone_results = serve_pools(LoadKind.REQUEST_RATE, missing.pools, missing.requests, rarely, self._constants)
            _, margin = get_p99_factors(missing.loads.p99, self._constants)
            scores[missed] = -LowestLimits(lone_results.ttft, lone_results.tpot / margin).compute_miss_factor(
                missing.loads
            )
        return scores

    def operate(self, estimate: Estimate) -> PoolOperatingPoint:
        request, pools = estimate.request, estimate.pools
        if pools is None:
            raise ValueError(estimate.plan)
        tokens = request.workload.input_tokens, request.workload.request_tokens
        choices = [
            self._find_pool(request.with_plan(pool.plan), pool.plan, each)
            for pool, each in zip((pools.prefill, pools.decode), tokens, strict=True)
        ]
        (prefill_space, prefill), (decode_space, decode) = choices
        cases = self.make_cases(request, decode_space, [(prefill, decode)])
        return PoolOperatingPoint((prefill_space, decode_space), (prefill, decode), cases, self._serve(cases))

    def _find_pool(self, own: EstimateRequest, plan: ParallelPlan, tokens: int) -> tuple[SearchSpace, PoolChoice]:
        space = self._table.find_space(own)
        side = PoolSide(PoolKind.DECODE, own, space, tokens)
        return space, list_pool_choices(side, plan.count)[0]

    def _serve(self, cases: PoolCases) -> DisaggregatedResults:
        kind = cases.request.workload.load.kind
        return serve_pools(kind, cases.pools, cases.requests, cases.loads, self._constants)

    def make_cases(self, request: EstimateRequest, space: SearchSpace, choices: list[PoolPairChoice]) -> PoolCases:
        plans = [(prefill.deployment.plan, decode.deployment.plan) for prefill, decode in choices]
        counts = np.array([one.count + other.count for one, other in plans], dtype=np.float64)
        arrays = make_case_arrays(
            self._table.coefficients,
            [make_workload_values(request.workload)],
            [len(choices)],
            [decode.deployment.position for _, decode in choices],
            [decode.capacity for _, decode in choices],
            [float(other.dp) for _, other in plans],
            counts,
        )
        positions = np.array([prefill.deployment.position for prefill, _ in choices], dtype=np.intp)
        rows = (self._table.coefficients.take(positions), arrays.rows)
        pools = self._join_pools(request, space, choices, rows, lossless=False)
        return PoolCases(request, space, pools, arrays.requests, arrays.loads, counts)

    def _join_pools(
        self,
        request: EstimateRequest,
        space: SearchSpace,
        choices: list[PoolPairChoice],
        rows: tuple[CoefficientColumns, CoefficientColumns],
        *,
        lossless: bool,
    ) -> PoolPair:
        """Join pools; `lossless` counts only the rate of the link between them."""
        totals = [one.deployment.plan.count + other.deployment.plan.count for one, other in choices]
        links = {total: self.find_link(space, total) for total in set(totals)}
        rates = {
            total: each.bandwidth * (1.0 if lossless else self.find_link_efficiency(space, each))
            for total, each in links.items()
        }
        rate = np.array([rates[total] for total in totals])
        moved_bytes, senders = compute_moved_bytes(request, [prefill for prefill, _ in choices])
        received, receivers = compute_moved_bytes(request, [decode for _, decode in choices])
        handover = 0.0 if lossless else self.find_handover_time(space)
        return PoolPair(
            prefill=rows[0],
            decode=rows[1],
            prefill_replicas=np.array([float(each.deployment.plan.dp) for each, _ in choices]),
            decode_replicas=np.array([float(each.deployment.plan.dp) for _, each in choices]),
            prompts=np.array([each.capacity for each, _ in choices]),
            transfer=np.maximum(moved_bytes, received) / rate,
            spacing=np.maximum(moved_bytes / senders, received / receivers) / rate,
            handover=np.full(len(choices), handover),
        )

    def find_link(self, space: SearchSpace, count: int) -> RankLink:
        """Return the link between pools of `count` in total: the domain or host that holds both, else the network."""
        return find_link(space.configuration.accelerator, count, self._table.coefficients.node_bandwidth)

    def find_link_efficiency(self, space: SearchSpace, joined: RankLink) -> float:
        keys = _make_constant_keys(space)._replace(link=joined.kind, ranks="2")
        return self._table.calibration.value("link_efficiency", keys)

    def find_handover_time(self, space: SearchSpace) -> float:
        """Return the seconds that the serving engine adds to a request that changes pools."""
        return self._table.calibration.value("handover_time", _make_constant_keys(space))

    def compute_intervals(
        self, pair: PoolPairChoice, cases: PoolCases, results: DisaggregatedResults
    ) -> FigureIntervals:
        """Return the figures, with their intervals, of cases of one pair of plans."""
        rows = [self._table.coefficients.take_ideal([each.deployment]) for each in pair]
        first = np.zeros(len(cases.counts), dtype=np.intp)
        ideal = self._join_pools(cases.request, cases.space, [pair], (rows[0], rows[1]), lossless=True).select(first)
        bound = compute_pool_bounds(ideal, cases.requests, results)
        reached = results.rate, results.ttft, results.tpot
        factors = np.array([cases.space.interval_factors[cases.request.workload.load.kind]])[first]
        return bound_intervals(bound, reached, cases.requests, cases.loads, cases.counts, factors)

    def _make_estimate(self, pair: PoolPairChoice, cases: PoolCases, results: DisaggregatedResults) -> Estimate:
        """Make the estimate of a single case."""
        request, space = cases.request, cases.space
        intervals = self.compute_intervals(pair, cases, results)
        figures = next(iterate_figures(results, np.zeros(1, dtype=np.intp), intervals))
        plans = pair[0].deployment.plan, pair[1].deployment.plan
        undivided = compute_cache_profile(space.configuration.model, space.configuration.kv, ParallelPlan())
        pools = DisaggregatedPools(
            prefill=AcceleratorPool(plans[0], float(results.prefill_busy[0])),
            decode=AcceleratorPool(plans[1], float(results.decode_busy[0])),
            transfer_ms=float(cases.pools.transfer[0] + cases.pools.handover[0]) * 1e3,
            transfer_bytes=undivided.sequence_bytes(request.workload.input_tokens),
            link=self.find_link(space, plans[0].count + plans[1].count).kind,
            link_busy=float(results.link_busy[0]),
            binding=_BINDING[int(results.binding[0])],
        )
        return _make_pool_estimate(request, space, pair, pools, figures)


def _make_pool_estimate(
    request: EstimateRequest, space: SearchSpace, pair: PoolPairChoice, pools: DisaggregatedPools, figures: CaseFigures
) -> Estimate:
    decode = pair[1]
    queued = figures.admitted is not None and figures.admitted < (figures.concurrency or 0)
    full = queued and pools.binding is PoolKind.DECODE
    resident = max(1, min(figures.admitted or 1, decode.max_sequences))
    return Estimate(
        request,
        True,
        space.configuration.engine.id,
        pools.decode.plan,
        pools.prefill.count + pools.decode.count,
        decode.deployment.budget.compute_use(resident, decode.sequence_bytes),
        decode.max_sequences,
        figures.concurrency,
        figures.admitted,
        Limiter.CAPACITY if full else LIMITERS[figures.limiter],
        space.basis,
        *figures[3:],
        notes=_make_pool_notes(request, space, pair, pools, figures),
        user_model=space.configuration.model.own,
        pools=pools,
    )


def _make_constant_keys(space: SearchSpace) -> ConstantKeys:
    configuration = space.configuration
    return ConstantKeys(generation=configuration.accelerator.generation, serving_engine=configuration.engine.family)


def compute_moved_bytes(request: EstimateRequest, pool: list[PoolChoice]) -> tuple[Array, Array]:
    """Bytes that a rank of each pool transfers per prompt, and how many prompts are transferred at once.

    Ranks transfer their shares in parallel. Under attention-DP a prompt is on one rank, so as many prompts are
    transferred at once as there are ranks.
    """
    budgets = [each.deployment.budget for each in pool]
    moved = [float(budget.cache.compute_filled_bytes(request.workload.input_tokens)) for budget in budgets]
    return np.array(moved), np.array([float(budget.attention_ranks * budget.replicas) for budget in budgets])


def _select_cases(cases: PoolCases, chosen: NDArray[np.intp]) -> PoolCases:
    return replace(
        cases,
        pools=cases.pools.select(chosen),
        requests=cases.requests.select(chosen),
        loads=cases.loads.select(chosen),
        counts=cases.counts[chosen],
    )


def _make_pool_notes(
    request: EstimateRequest, space: SearchSpace, pair: PoolPairChoice, pools: DisaggregatedPools, figures: CaseFigures
) -> tuple[Message, ...]:
    return (
        *space.configuration.notes,
        _make_pool_note(PoolKind.PREFILL, pools.prefill.plan),
        _make_pool_note(PoolKind.DECODE, pools.decode.plan),
        message(
            "pools.transfer",
            "The KV cache of a prompt, {size}, reaches the decode pool {time} after prefill, over {link}",
            size=(float(pools.transfer_bytes), "B"),
            time=(pools.transfer_ms / 1e3, "s"),
            link=_LINK_TERMS[pools.link],
        ),
        *_make_binding_notes(pools, figures),
        _make_memory_note(pair[0].deployment.budget),
        *_list_particular_notes(pair, space.coefficients.node_bandwidth),
        *make_load_notes(
            request.workload.request_tokens,
            request.workload.load.kind,
            pair[1].deployment,
            (
                pair[1].max_sequences,
                pair[1].deployment.budget.count_admitted_sequences(request.workload.request_tokens),
            ),
            (figures.concurrency, figures.admitted, figures.stable),
        ),
    )


def _make_pool_note(kind: PoolKind, plan: ParallelPlan) -> Message:
    return message(
        "pools.pool",
        "{pool} pool of {count}: {plan}",
        pool=_POOL_HEADS[kind],
        count=plan.count,
        plan=describe_degrees(plan),
    )


def _make_memory_note(prefill: MemoryBudget) -> Message:
    """Return the pool whose memory is shown, and the memory left besides the weights in the other."""
    weights, capacity = float(prefill.weights_bytes), float(prefill.capacity_bytes)
    return message(
        "pools.memory",
        "Memory figures are for one decode accelerator, where requests stay; on a prefill accelerator, weights take "
        "{weights} of {capacity}",
        weights=(weights, "B"),
        capacity=(capacity, "B"),
    )


def _make_binding_notes(pools: DisaggregatedPools, figures: CaseFigures) -> tuple[Message, ...]:
    if figures.output_tokens_per_s is None:
        return ()
    if pools.binding is None:
        return (
            message(
                "pools.link_binds",
                "The link between the pools limits the rate; the prefill pool runs at {fraction} of its capacity, "
                "the decode pool at {share}",
                fraction=Share(pools.prefill.busy),
                share=Share(pools.decode.busy),
            ),
        )
    of = {PoolKind.PREFILL: pools.prefill, PoolKind.DECODE: pools.decode}
    other = next(kind for kind in PoolKind if kind is not pools.binding)
    return (
        message(
            "pools.binds",
            "The {binding} pool limits the rate; the {other} pool runs at {fraction} of its capacity",
            binding=_POOL_TERMS[pools.binding],
            other=_POOL_TERMS[other],
            fraction=Share(of[other].busy),
        ),
    )


def _list_particular_notes(pair: PoolPairChoice, node_bandwidth: float) -> tuple[Message, ...]:
    """Return the notes specific to the plans, each once."""
    every = [note for each in pair for note in make_plan_notes(each.deployment, node_bandwidth)]
    return tuple({(note.id, *note.parameters.items()): note for note in every}.values())
