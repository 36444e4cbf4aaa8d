"""Estimates: resolves questions against catalog and calibration and answers many of them in one call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.answers import Curve, Difference, Term
from gpudesk.domain.charts import KvCurve, RequestTime, Roofline, StepShares
from gpudesk.domain.demand import Demand, Sizing
from gpudesk.domain.estimates import Banded, Estimate, EstimateRequest
from gpudesk.domain.launch import LaunchSettings
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.models import Model
from gpudesk.domain.plans import PlanChoice
from gpudesk.domain.serving_engines import ServingEngine
from gpudesk.domain.sizing import MemoryRoom, Needed, Remedy
from gpudesk.domain.topology import Scaling, Topology
from gpudesk.engine.bands import pair_band, plan_band
from gpudesk.engine.constants import Calibration
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.serving import serve
from gpudesk.workbench.cases import CaseList, SetupTable
from gpudesk.workbench.contexts import kv_against_context
from gpudesk.workbench.curves import CurveTable
from gpudesk.workbench.deployed import deployed, operate, own_request, placement_of
from gpudesk.workbench.launch_settings import launch_settings
from gpudesk.workbench.memory_room import memory_room
from gpudesk.workbench.needs import NeedsFinder
from gpudesk.workbench.plan_reasons import PairBands, plan_choice
from gpudesk.workbench.pool_charts import PoolCharts
from gpudesk.workbench.pool_working import explain_pools
from gpudesk.workbench.pools import PoolTable
from gpudesk.workbench.remedies import Situation, falls_short, remedies
from gpudesk.workbench.results import unfit_estimate
from gpudesk.workbench.roofline import roofline
from gpudesk.workbench.shares import request_time, step_shares
from gpudesk.workbench.sizing import Asked, size_demand
from gpudesk.workbench.topology import topology
from gpudesk.workbench.topology_scaling import ScalingTable
from gpudesk.workbench.working import explain

#: Figures of an estimate that two parts are compared by.
COMPARED = ("output_tokens_per_s", "output_tokens_per_s_per_accelerator", "ttft_ms", "tpot_ms")


class Facts(Protocol):
    """What an estimator asks of the catalog; each raises InputError for an unknown id."""

    def accelerator(self, accelerator_id: str) -> Accelerator:
        """Return a part by its id."""

    def model(self, model_id: str) -> Model:
        """Return a model by its id."""

    def serving_engines(self) -> tuple[ServingEngine, ...]:
        """Return all serving engines."""


def serving_constants(calibration: Calibration) -> ServingConstants:
    """Return the constants of serving dynamics, which are the same for all parts."""
    names = ServingConstants.__dataclass_fields__
    return ServingConstants(**{name: calibration.value(name, {}) for name in names})


class Estimator:
    """Answers questions about deployments; keeps what it has worked out about parts, models and plans."""

    def __init__(self, catalog: Facts, calibration: Calibration) -> None:
        """Take the facts and the constants; both stay as they are."""
        self._calibration = calibration
        self._constants = serving_constants(calibration)
        self._setups = SetupTable(catalog, calibration)
        self._curves = CurveTable(self._setups, self._constants)
        self._needs = NeedsFinder(self._setups, self._constants)
        self._pools = PoolTable(self._setups, self._constants)
        self._pool_charts = PoolCharts(self._pools, self._constants)
        self._scaling = ScalingTable(self._setups, self._constants, self.estimate_many)

    def estimate(self, request: EstimateRequest) -> Estimate:
        """Answer one question; raises InputError for one that cannot be answered."""
        answer = self.estimate_many([request])[0]
        if isinstance(answer, InputError):
            raise answer
        return answer

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Answer all questions in one vectorised call, in order; an unanswerable one gives its InputError."""
        self._make_room()
        cases = CaseList(self._setups)
        answers: list[Estimate | InputError | None] = [None] * len(requests)
        for position, request in enumerate(requests):
            try:
                if request.disaggregated is not None:
                    answers[position] = self._pools.estimate(request)
                    continue
                setup = self._setups.setup(request)
                if not cases.add(position, request, setup):
                    answers[position] = unfit_estimate(request, setup, self._setups)
            except InputError as error:
                answers[position] = error
        if len(cases):
            arrays = cases.arrays()
            results = serve(arrays.rows, arrays.requests, arrays.loads, self._constants)
            for position, estimate in cases.best(results, arrays, self._constants):
                answers[position] = estimate
        return [answer for answer in answers if answer is not None]

    def remember(self, most: int) -> None:
        """Remember this many plans, of about 1.5 kB each: for many questions about many deployments."""
        self._setups.most_kept = most

    def _make_room(self) -> None:
        if self._setups.make_room():
            self._curves.clear()

    def curves(self, estimates: Sequence[Estimate]) -> tuple[Curve, ...]:
        """Return for each estimate, which must fit, the figures of its deployment against concurrency."""
        alone = iter(self._curves.curves([each for each in estimates if each.pools is None]))
        return tuple(
            next(alone) if each.pools is None else self._pool_charts.curve(each) for each in estimates
        )

    def roofline(self, estimate: Estimate) -> Roofline | None:
        """Return the roofs over a deployment and its points; None where it does not fit."""
        if not estimate.fits:
            return None
        if estimate.pools is not None:
            return self._pool_charts.roofline(estimate)
        there = deployed(estimate, self._setups)
        return roofline(there.candidate, operate([there], self._setups, self._constants))

    def step_shares(self, estimate: Estimate) -> StepShares | None:
        """Return where the time of a deployment goes; None where it does not fit."""
        if not estimate.fits:
            return None
        if estimate.pools is not None:
            return self._pool_charts.step_shares(estimate)
        there = deployed(estimate, self._setups)
        return step_shares(operate([there], self._setups, self._constants))

    def request_time(self, estimate: Estimate) -> RequestTime | None:
        """Divide the time of one request; None where it does not fit or the load has no such time."""
        if not estimate.fits:
            return None
        if estimate.pools is not None:
            return self._pool_charts.request_time(estimate)
        there = deployed(estimate, self._setups)
        return request_time(operate([there], self._setups, self._constants), estimate)

    def kv_against_context(self, estimate: Estimate) -> KvCurve:
        """Return the KV cache of a deployment against context length, whether it fits or not."""
        setup, placed = placement_of(estimate, self._setups)
        return kv_against_context(estimate, setup.frame, placed)

    def memory_room(self, estimate: Estimate) -> MemoryRoom:
        """Return what a deployment may use of its memory, and what its load asks for, fitting or not."""
        _, placed = placement_of(estimate, self._setups)
        return memory_room(estimate, placed.budget)

    def launch_settings(self, estimate: Estimate) -> LaunchSettings:
        """Return the settings that a deployment without pools was estimated with."""
        return launch_settings(estimate, self._setups)

    def needed(self, requests: Sequence[EstimateRequest]) -> tuple[tuple[Needed, ...], ...]:
        """Return for each request the smallest deployments by weight format, from wide to narrow."""
        self._make_room()
        return self._needs.needed(requests)

    def size(self, requests: Sequence[EstimateRequest], demand: Demand) -> Sizing:
        """Return how many of each accelerator a demand needs; counts that requests fix are left open."""
        self._make_room()
        output_tokens = requests[0].workload.output_tokens if requests else 1
        asked = [self._to_size(request) for request in requests]
        return size_demand(demand, asked, self.estimate_many, output_tokens)

    def _to_size(self, request: EstimateRequest) -> Asked:
        """Return an accelerator with the sizes of a replica that are tried, or what rules it out."""
        part, model = self._setups.facts(request)
        free = replace(request, count=None, dp=None)
        if request.disaggregated is not None:
            return Asked(free, part, model, (), message("sizing.pools"))
        try:
            least = (request.tp or 1) * (request.pp or 1)
            fixed = request.tp is not None or request.pp is not None
            counts = (least,) if fixed else self._setups.setup(free).counts
        except InputError as error:
            return Asked(free, part, model, (), error.problem)
        return Asked(free, part, model, counts)

    def remedies(self, estimate: Estimate) -> tuple[Remedy, ...]:
        """Return what would make a deployment hold what it is asked to; empty where it does."""
        if not falls_short(estimate):
            return ()
        part, model = self._setups.facts(estimate.request)
        size = self._needs.for_load(estimate.request)
        unasked = replace(own_request(estimate), memory_fraction=None)
        safe = self._setups.setup(unasked).frame.settings.memory_fraction
        return remedies(Situation(estimate, part, model, size, safe), self.estimate_many)

    def scalings(
        self, requests: Sequence[EstimateRequest], *, brief: bool = False
    ) -> tuple[Scaling | InputError, ...]:
        """Return for each request how its accelerator scales with their number, counts left open."""
        return self._scaling.scalings(requests, brief=brief)

    def topology(self, baseline: Estimate, other: Estimate) -> Topology:
        """Compare what two deployments spend on being spread; raises InputError where one does not fit."""
        return topology(baseline, other, self._setups, self._constants, self.estimate_many, self.differences)

    def plans(self, estimate: Estimate) -> PlanChoice:
        """Return every plan that was looked at for an estimate, and why it was taken or not."""
        bands = PairBands(
            *(
                plan_band(self._calibration, figure, estimate.basis)
                for figure in ("throughput", "ttft", "tpot")
            )
        )
        return plan_choice(estimate, self._setups, self._constants, bands)

    def differences(self, baseline: Estimate, other: Estimate) -> tuple[Difference, ...]:
        """Compare two estimates figure by figure, each on the band of its ratio."""
        found = []
        for figure in COMPARED:
            ours, theirs = getattr(other, figure), getattr(baseline, figure)
            if ours is None or theirs is None:
                continue
            kind = {"ttft_ms": "ttft", "tpot_ms": "tpot"}.get(figure, "throughput")
            factors = pair_band(self._calibration, kind, baseline.basis, other.basis)
            ratio = factors.around(ours.value / theirs.value)
            found.append(
                Difference(
                    figure=figure,
                    accelerator=other.request.accelerator,
                    baseline=baseline.request.accelerator,
                    ratio=ratio,
                    winner=_winner(baseline, other, ratio, lower_is_better=kind != "throughput"),
                )
            )
        return tuple(found)

    def explain(self, estimate: Estimate, figure: str) -> Term:
        """Return the derivation of a figure; raises InputError that names the figures there are."""
        found = None if estimate.pools is None else explain_pools(estimate, figure, self._pools)
        return found or explain(estimate, figure, self._setups)


def _winner(baseline: Estimate, other: Estimate, ratio: Banded, *, lower_is_better: bool) -> str | None:
    if ratio.low <= 1.0 <= ratio.high:
        return None
    higher = other if ratio.value > 1.0 else baseline
    lower = baseline if higher is other else other
    return (lower if lower_is_better else higher).request.accelerator


__all__ = ["Estimator", "Facts"]
