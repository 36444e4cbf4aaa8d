"""Disaggregated deployments: of all splits and plans the one that serves a load best, as an estimate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Estimate, EstimateRequest, Limiter, Pool, PoolKind, Pools
from gpudesk.domain.messages import Message, message
from gpudesk.domain.plans import plan_degrees
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.arrivals import mean_to_p99
from gpudesk.engine.choosing import LeastLimits
from gpudesk.engine.disaggregated import (
    DECODE,
    LINK,
    PREFILL,
    PoolResults,
    pool_bounds,
    serve_pools,
)
from gpudesk.engine.hardware import Link, link
from gpudesk.engine.kv import cache_profile
from gpudesk.engine.loads import Requests, ServingConstants
from gpudesk.engine.memory import MemoryBudget
from gpudesk.engine.pool_flow import PoolPair
from gpudesk.engine.serving import Loads
from gpudesk.engine.steps import LIMITERS, Array, Rows
from gpudesk.engine.workload_arrays import workload_values
from gpudesk.workbench.case_arrays import CaseColumns, case_arrays
from gpudesk.workbench.cases import Setup, SetupTable
from gpudesk.workbench.figures import FigureBands, Reached, bands_within, rows_of
from gpudesk.workbench.pool_choices import (
    Pair,
    PoolChoice,
    Side,
    choices,
    pairs,
    plan_request,
    sides,
    unfit_pools,
)
from gpudesk.workbench.results import Figures, load_notes

#: Requests/s of an open loop in which every request has the pools to itself.
_RARELY: Final = 1e-9
_BINDING: Final = {PREFILL: PoolKind.PREFILL, LINK: None, DECODE: PoolKind.DECODE}


@dataclass(frozen=True, slots=True)
class PoolCases:
    """Pairs of plans as arrays, all under the load of one question; `counts` are accelerators of both."""

    pools: PoolPair
    requests: Requests
    loads: Loads
    counts: Array


@dataclass(frozen=True, slots=True)
class PoolOperation:
    """The pools that an estimate chose, and what they do under its load, as a single case.

    `setups` are those of prefill and decode pool.
    """

    setups: tuple[Setup, Setup]
    pair: Pair
    cases: PoolCases
    results: PoolResults


class PoolTable:
    """Answers disaggregated questions with what the estimator knows."""

    def __init__(self, table: SetupTable, constants: ServingConstants) -> None:
        """Take the setups and the constants of serving dynamics."""
        self._table = table
        self._constants = constants

    def estimate(self, request: EstimateRequest) -> Estimate:
        """Return the estimate of the best split and plans; raises InputError where there can be none."""
        prefill, decode = sides(request, self._table)
        found = pairs(request, prefill, decode, self._table)
        if not found:
            return unfit_pools(request, prefill, decode, self._table)
        cases = self.cases(request, decode.setup, found)
        results = self.serve(request, cases)
        best = int(np.argmax(self._scores(cases, results)))
        return self._chosen(request, decode.setup, found[best], cases, results, best)

    def _scores(self, cases: PoolCases, results: PoolResults) -> Array:
        """Return by what splits and plans are chosen: the rate, less up to a thousandth by the whole answer.

        A split trades TTFT for TPOT, so that it is the whole answer that counts. Where limits are not met,
        scores are below zero, the less the further a request that has the pools to itself is from them.
        """
        output = cases.requests.output
        later = np.where(output > 1.0, results.tpot * (output - 1.0), 0.0)
        pace = np.nan_to_num(results.ttft + later, nan=1.0)
        scores: Array = np.nan_to_num(results.rate, nan=-1.0) * (1.0 - 1e-3 * pace / (1.0 + pace))
        missed = np.flatnonzero(np.isnan(results.rate))
        if len(missed):
            asked = _select(cases, missed)
            rarely = replace(asked.loads, amount=np.full(len(missed), _RARELY))
            found = serve_pools(LoadKind.REQUEST_RATE, asked.pools, asked.requests, rarely, self._constants)
            _, margin = mean_to_p99(asked.loads.p99, self._constants)
            scores[missed] = -LeastLimits(found.ttft, found.tpot / margin).missed_by(asked.loads)
        return scores

    def operate(self, estimate: Estimate) -> PoolOperation:
        """Serve the load of an estimate with pools once more."""
        request, pools = estimate.request, estimate.pools
        if pools is None:
            raise ValueError(estimate.plan)
        tokens = request.workload.input_tokens, request.workload.input_tokens + request.workload.output_tokens
        found = [
            self._known(plan_request(request, pool.plan), pool.plan, each)
            for pool, each in zip((pools.prefill, pools.decode), tokens, strict=True)
        ]
        (prefill_setup, prefill), (decode_setup, decode) = found
        cases = self.cases(request, decode_setup, [(prefill, decode)])
        results = self.serve(request, cases)
        return PoolOperation((prefill_setup, decode_setup), (prefill, decode), cases, results)

    def _known(self, own: EstimateRequest, plan: ParallelPlan, tokens: int) -> tuple[Setup, PoolChoice]:
        """Return a pool of which the plan is known, and that fits."""
        setup = self._table.setup(own)
        side = Side(PoolKind.DECODE, own, setup, tokens)
        return setup, choices(side, plan.count, self._table)[0]

    def serve(self, request: EstimateRequest, cases: PoolCases) -> PoolResults:
        """Serve the load of a question in every case."""
        kind = request.workload.load.kind
        return serve_pools(kind, cases.pools, cases.requests, cases.loads, self._constants)

    def cases(self, request: EstimateRequest, setup: Setup, found: list[Pair]) -> PoolCases:
        """Return pairs of a prefill and a decode plan as arrays."""
        plans = [(prefill.candidate.plan, decode.candidate.plan) for prefill, decode in found]
        counts = np.array([one.count + other.count for one, other in plans], dtype=np.float64)
        columns = CaseColumns(
            rows=[decode.candidate.position for _, decode in found],
            capacity=[decode.capacity for _, decode in found],
            replicas=[float(other.dp) for _, other in plans],
            counts=counts,
        )
        arrays = case_arrays(self._table.rows, [workload_values(request.workload)], [len(found)], columns)
        positions = np.array([prefill.candidate.position for prefill, _ in found], dtype=np.intp)
        rows = (self._table.rows.take(positions), arrays.rows)
        pools = self._pools(request, setup, found, rows, lossless=False)
        return PoolCases(pools, arrays.requests, arrays.loads, counts)

    def _pools(
        self,
        request: EstimateRequest,
        setup: Setup,
        found: list[Pair],
        rows: tuple[Rows, Rows],
        *,
        lossless: bool,
    ) -> PoolPair:
        """Join pools; `lossless` counts nothing but the rate of the link between them."""
        totals = [one.candidate.plan.count + other.candidate.plan.count for one, other in found]
        links = {total: self.link(setup, total) for total in set(totals)}
        rates = {
            total: each.bandwidth * (1.0 if lossless else self.reached(setup, each))
            for total, each in links.items()
        }
        rate = np.array([rates[total] for total in totals])
        sent, senders = moved(request, [prefill for prefill, _ in found])
        received, receivers = moved(request, [decode for _, decode in found])
        handover = 0.0 if lossless else self.handover(setup)
        return PoolPair(
            prefill=rows[0],
            decode=rows[1],
            prefill_replicas=np.array([float(each.candidate.plan.dp) for each, _ in found]),
            decode_replicas=np.array([float(each.candidate.plan.dp) for _, each in found]),
            prompts=np.array([each.capacity for each, _ in found]),
            transfer=np.maximum(sent, received) / rate,
            spacing=np.maximum(sent / senders, received / receivers) / rate,
            handover=np.full(len(found), handover),
        )

    def link(self, setup: Setup, count: int) -> Link:
        """Return what joins pools of together `count`: the scale-up domain or host that holds both, or else
        the network.
        """
        node = self._table.calibration.value("node_bandwidth", {})
        return link(setup.frame.accelerator, count, node)

    def reached(self, setup: Setup, joined: Link) -> float:
        """Return the share of the link that a transfer between two ranks reaches."""
        keys = {**_keys(setup), "link": joined.kind, "ranks": "2"}
        return self._table.calibration.value("link_efficiency", keys)

    def handover(self, setup: Setup) -> float:
        """Return the seconds that the serving engine adds to a request that changes pools."""
        return self._table.calibration.value("handover_time", _keys(setup))

    def bands(
        self, request: EstimateRequest, setup: Setup, pair: Pair, cases: PoolCases, results: PoolResults
    ) -> FigureBands:
        """Return the figures, with their bands, of cases that all are of one pair of plans."""
        rows = [self._table.ideal([each.candidate]) for each in pair]
        first = np.zeros(len(cases.counts), dtype=np.intp)
        ideal = self._pools(request, setup, [pair], (rows[0], rows[1]), lossless=True).select(first)
        bound = pool_bounds(ideal, cases.requests, results)
        reached = Reached(results.rate, results.ttft, results.tpot)
        factors = np.array([setup.factors[request.workload.load.kind]])[first]
        return bands_within(bound, reached, cases.requests, cases.loads, cases.counts, factors)

    def _chosen(
        self,
        request: EstimateRequest,
        setup: Setup,
        pair: Pair,
        cases: PoolCases,
        results: PoolResults,
        best: int,
    ) -> Estimate:
        only = np.array([best], dtype=np.intp)
        cases, results = _select(cases, only), results.select(only)
        bands = self.bands(request, setup, pair, cases, results)
        figures = next(rows_of(results, np.zeros(1, dtype=np.intp), bands))
        plans = pair[0].candidate.plan, pair[1].candidate.plan
        pools = Pools(
            prefill=Pool(plans[0], float(results.prefill_busy[0])),
            decode=Pool(plans[1], float(results.decode_busy[0])),
            transfer_ms=float(cases.pools.transfer[0] + cases.pools.handover[0]) * 1e3,
            transfer_bytes=_cache_bytes(request, setup),
            link=self.link(setup, plans[0].count + plans[1].count).kind,
            link_busy=float(results.link_busy[0]),
            binding=_BINDING[int(results.binding[0])],
        )
        return _estimate(request, setup, pair, pools, figures)


def _estimate(request: EstimateRequest, setup: Setup, pair: Pair, pools: Pools, figures: Figures) -> Estimate:
    decode = pair[1]
    queued = figures.admitted is not None and figures.admitted < (figures.concurrency or 0)
    full = queued and pools.binding is PoolKind.DECODE
    resident = max(1, min(figures.admitted or 1, decode.max_sequences))
    return Estimate(
        request=request,
        fits=True,
        serving_engine=setup.frame.engine.id,
        plan=pools.decode.plan,
        count=pools.prefill.count + pools.decode.count,
        memory=decode.candidate.budget.use(resident, decode.sequence_bytes),
        max_concurrency=decode.max_sequences,
        concurrency=figures.concurrency,
        admitted=figures.admitted,
        limiter=Limiter.CAPACITY if full else LIMITERS[figures.limiter],
        basis=setup.basis,
        output_tokens_per_s=figures.output_tokens_per_s,
        total_tokens_per_s=figures.total_tokens_per_s,
        output_tokens_per_s_per_accelerator=figures.output_tokens_per_s_per_accelerator,
        ttft_ms=figures.ttft_ms,
        tpot_ms=figures.tpot_ms,
        request_s=figures.request_s,
        batch_s=figures.batch_s,
        stable=figures.stable,
        notes=_notes(request, setup, pair, pools, figures),
        pools=pools,
    )


def _keys(setup: Setup) -> dict[str, str]:
    frame = setup.frame
    return {"generation": frame.accelerator.generation, "serving_engine": frame.engine.family}


def moved(request: EstimateRequest, pool: list[PoolChoice]) -> tuple[Array, Array]:
    """Bytes that a rank of each pool moves of one prompt, and how many prompts move at once.

    Ranks move their shares side by side. Under attention-DP a prompt lies on one rank, so that as many
    prompts move at once as there are ranks.
    """
    budgets = [each.candidate.budget for each in pool]
    moved = [float(budget.cache.filled_bytes(request.workload.input_tokens)) for budget in budgets]
    return np.array(moved), np.array([float(budget.attention_ranks * budget.replicas) for budget in budgets])


def _cache_bytes(request: EstimateRequest, setup: Setup) -> int:
    """Bytes of the cache of a prompt, on however many ranks."""
    undivided = cache_profile(setup.frame.model, setup.frame.kv, ParallelPlan())
    return undivided.sequence_bytes(request.workload.input_tokens)


def _select(cases: PoolCases, chosen: NDArray[np.intp]) -> PoolCases:
    return PoolCases(
        cases.pools.select(chosen),
        cases.requests.select(chosen),
        cases.loads.select(chosen),
        cases.counts[chosen],
    )


def _notes(
    request: EstimateRequest, setup: Setup, pair: Pair, pools: Pools, figures: Figures
) -> tuple[Message, ...]:
    """Say how the accelerators are split, which pool binds, how idle the other is, and what travels."""
    return (
        *setup.frame.notes,
        _pool_note(PoolKind.PREFILL, pools.prefill.plan),
        _pool_note(PoolKind.DECODE, pools.decode.plan),
        message(
            "pools.transfer",
            size=(float(pools.transfer_bytes), "B"),
            time=(pools.transfer_ms / 1e3, "s"),
            link=pools.link,
        ),
        *_binding_notes(pools, figures),
        _memory_note(pair[0].candidate.budget),
        *_particular(pair),
        *load_notes(request, setup.frame, pair[1].candidate.budget, pair[1].max_sequences, figures),
    )


def _pool_note(kind: PoolKind, plan: ParallelPlan) -> Message:
    return message("pools.pool", pool=str(kind).capitalize(), count=plan.count, plan=plan_degrees(plan))


def _memory_note(prefill: MemoryBudget) -> Message:
    """Say whose memory is told, and how much of its own the other pool has left beside the weights."""
    weights, capacity = float(prefill.weights_bytes), float(prefill.capacity_bytes)
    return message("pools.memory", weights=(weights, "B"), capacity=(capacity, "B"))


def _binding_notes(pools: Pools, figures: Figures) -> tuple[Message, ...]:
    if figures.output_tokens_per_s is None:
        return ()
    if pools.binding is None:
        return (message("pools.link_binds", fraction=pools.prefill.busy, share=pools.decode.busy),)
    of = {PoolKind.PREFILL: pools.prefill, PoolKind.DECODE: pools.decode}
    other = next(kind for kind in PoolKind if kind is not pools.binding)
    return (message("pools.binds", binding=str(pools.binding), other=str(other), fraction=of[other].busy),)


def _particular(pair: Pair) -> tuple[Message, ...]:
    """Return what is particular to the plans, each note once."""
    notes = {(note.id, *note.parameters.items()): note for each in pair for note in each.candidate.notes}
    return tuple(notes.values())
