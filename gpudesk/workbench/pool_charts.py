"""What charts show of disaggregated deployments: curves, rooflines, and where the time goes."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from gpudesk.domain.answers import Curve
from gpudesk.domain.charts import RequestTime, Roof, Roofline, StepShares
from gpudesk.domain.estimates import Estimate
from gpudesk.domain.workloads import LoadKind
from gpudesk.engine.disaggregated import pool_rounds, serve_pools
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.serving import CODES, Results
from gpudesk.workbench.case_arrays import CaseArrays
from gpudesk.workbench.curves import CurveParts, curve_points, limiters_of, shares_of
from gpudesk.workbench.deployed import Operation
from gpudesk.workbench.pools import PoolOperation, PoolTable
from gpudesk.workbench.roofline import roofline
from gpudesk.workbench.shares import request_time, step_shares


class PoolCharts:
    """Makes what charts show of an estimate with pools."""

    def __init__(self, pools: PoolTable, constants: ServingConstants) -> None:
        """Work with what the estimator knows."""
        self._pools = pools
        self._constants = constants

    def curve(self, estimate: Estimate) -> Curve:
        """Return the figures of the same pools against concurrency, the estimate's own among the points."""
        done = self._pools.operate(estimate)
        most = estimate.max_concurrency
        load = estimate.request.workload.load
        closed = load.kind is LoadKind.CONCURRENCY
        own = estimate.concurrency or 1
        points = {*curve_points(most), *({own} if closed and own <= most else ())}
        amount = np.array(sorted(points), dtype=np.float64)
        rounds = load.requests / own if closed and load.requests is not None else np.inf
        cases = self._pools.cases(estimate.request, done.setups[1], [done.pair] * len(amount))
        kind = np.full(len(amount), CODES[LoadKind.CONCURRENCY], dtype=np.int8)
        loads = replace(cases.loads, kind=kind, amount=amount, total=np.maximum(amount * rounds, amount))
        cases = replace(cases, loads=loads)
        results = serve_pools(LoadKind.CONCURRENCY, cases.pools, cases.requests, loads, self._constants)
        parts = CurveParts(
            bands=self._pools.bands(estimate.request, done.setups[1], done.pair, cases, results),
            limiter=limiters_of(results),
            shares=shares_of(pool_rounds(cases.pools, cases.requests, results)),
        )
        return parts.curve(slice(None), tuple(int(each) for each in amount), most)

    def roofline(self, estimate: Estimate) -> Roofline:
        """Return the roofs over the decode pool with its point, and the point of the prefill pool."""
        done = self._pools.operate(estimate)
        prefill, decode = (
            roofline(choice.candidate, self._operation(done, which)) for which, choice in enumerate(done.pair)
        )
        effective = Roof(decode.effective.bandwidth, prefill.effective.flops)
        return replace(decode, prefill=prefill.prefill, effective=effective)

    def step_shares(self, estimate: Estimate) -> StepShares:
        """Return where the time of a request goes."""
        return step_shares(self._operation(self._pools.operate(estimate), 1))

    def request_time(self, estimate: Estimate) -> RequestTime | None:
        """Divide the time of one request; None where the load has no such time."""
        return request_time(self._operation(self._pools.operate(estimate), 1), estimate)

    def _operation(self, done: PoolOperation, which: int) -> Operation:
        """Return what one of the pools does (0: prefill, 1: decode) in the form that charts are made from."""
        cases, results = done.cases, done.results
        position = done.pair[which].candidate.position
        rows = cases.pools.decode if which else cases.pools.prefill
        arrays = CaseArrays(
            index=np.array([position], dtype=np.intp),
            rows=rows,
            requests=cases.requests,
            loads=cases.loads,
            counts=cases.counts,
        )
        same = {field.name: getattr(results, field.name) for field in fields(Results)}
        rounds = pool_rounds(cases.pools, cases.requests, results)
        return Operation(arrays, Results(**same), rounds)
