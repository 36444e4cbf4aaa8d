"""The estimator: answers many requests in one call, and whole scenarios as frozen answers."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import orjson

from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import resolve_fp4
from gpudesk.domain.answer import (
    Answer,
    AnswerCatalog,
    ComparisonColumn,
    ConcurrencyCurve,
    FigureDifference,
    Scenario,
    check_context,
    check_scenario_ids,
    make_column_keys,
)
from gpudesk.domain.claim import AttributeClaims
from gpudesk.domain.deployment_analysis import (
    AcceleratorScaling,
    DeploymentTimeShares,
    DerivationTerm,
    KvCacheCurve,
    RequestTimeline,
    Roofline,
    RooflineCeiling,
    TopologyComparison,
)
from gpudesk.domain.estimate import Estimate, EstimateRequest, LaunchSettings, LoadKind, PlanChoice
from gpudesk.domain.precision import STORAGE_FORMATS
from gpudesk.domain.registry import FIGURES, list_judged_figures
from gpudesk.domain.sizing import Demand, FitRemedy, SizingResult, SmallestDeployments, UsableMemory
from gpudesk.engine.calibration import (
    NO_KEYS,
    Calibration,
    PairRelation,
    compute_lead_odds,
    find_lead_scale,
    find_plan_interval,
    make_ratio_interval,
    relate_accelerators,
)
from gpudesk.engine.disaggregation import serve_pools, split_pool_rounds
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.serving import LOAD_CODES, make_workload_values
from gpudesk.estimation.evaluation import CaseArrays, CaseList, make_estimate, make_unfit_estimate
from gpudesk.estimation.operation import (
    CurveArrays,
    CurveTable,
    OperatingPoint,
    compute_kv_curve,
    compute_limiter_shares,
    compute_memory_room,
    compute_request_time,
    compute_step_shares,
    find_deployment,
    find_memory_plan,
    get_pool_request,
    list_curve_points,
    make_roofline,
    name_limiters,
    operate,
)
from gpudesk.estimation.plan_comparison import PlanIntervals, explain_plan_choice
from gpudesk.estimation.pools import PoolEstimator, PoolOperatingPoint
from gpudesk.estimation.search_space import MOST_KEPT_PLANS, FittingPlans, SearchSpace, SearchSpaceTable
from gpudesk.estimation.sizing.minimum import InsufficientDeployment, MinimumCountFinder, find_remedies, is_short
from gpudesk.estimation.sizing.topology import EstimateFunction, ScalingTable, compare_topologies
from gpudesk.text.messages import InputError, Message, input_error, message

if TYPE_CHECKING:
    from gpudesk.domain.accelerator import System
    from gpudesk.estimation.line_answers import LineAnswerer, LineQuestion
    from gpudesk.estimation.sizing.demand import BudgetExcess, DemandSizer, SizingRequest


class PoolCharts:
    """Builds the chart data of an estimate with pools."""

    def __init__(self, pools: PoolEstimator, constants: SchedulingConstants) -> None:
        self._pools = pools
        self._constants = constants

    def curve(self, estimate: Estimate) -> ConcurrencyCurve:
        """Return the figures of the same pools by concurrency, including the estimate's own point."""
        operating_point = self._pools.operate(estimate)
        most = estimate.max_concurrency
        load = estimate.request.workload.load
        closed = load.kind is LoadKind.CONCURRENCY
        own = estimate.concurrency or 1
        points = {*list_curve_points(most), *({own} if closed and own <= most else ())}
        amount = np.array(sorted(points), dtype=np.float64)
        rounds = load.requests / own if closed and load.requests is not None else np.inf
        cases = self._pools.make_cases(
            estimate.request, operating_point.spaces[1], [operating_point.pair] * len(amount)
        )
        kind = np.full(len(amount), LOAD_CODES[LoadKind.CONCURRENCY], dtype=np.int8)
        loads = replace(cases.loads, kind=kind, amount=amount, total=np.maximum(amount * rounds, amount))
        cases = replace(cases, loads=loads)
        results = serve_pools(LoadKind.CONCURRENCY, cases.pools, cases.requests, loads, self._constants)
        parts = CurveArrays(
            intervals=self._pools.compute_intervals(operating_point.pair, cases, results),
            limiter=name_limiters(results),
            shares=compute_limiter_shares(split_pool_rounds(cases.pools, cases.requests, results)),
        )
        return parts.curve(slice(None), tuple(int(each) for each in amount), most)

    def roofline(self, estimate: Estimate) -> Roofline:
        """Return the rooflines of the decode pool with its point, and the point of the prefill pool."""
        operating_point = self._pools.operate(estimate)
        prefill, decode = (
            make_roofline(space, choice.deployment, self._get_operation(operating_point, which))
            for which, (space, choice) in enumerate(zip(operating_point.spaces, operating_point.pair, strict=True))
        )
        effective = RooflineCeiling(decode.effective.bandwidth, prefill.effective.flops)
        return replace(decode, prefill=prefill.prefill, effective=effective)

    def operate(self, estimate: Estimate) -> OperatingPoint:
        """Return the operation of the decode pool under the load of an estimate."""
        return self._get_operation(self._pools.operate(estimate), 1)

    def _get_operation(self, operating_point: PoolOperatingPoint, which: int) -> OperatingPoint:
        """Return the operation of one of the pools (0: prefill, 1: decode) in the form that charts use."""
        cases, results = operating_point.cases, operating_point.results
        arrays = CaseArrays(
            index=np.array([operating_point.pair[which].deployment.position], dtype=np.intp),
            rows=cases.pools.decode if which else cases.pools.prefill,
            requests=cases.requests,
            loads=cases.loads,
            counts=cases.counts,
        )
        return OperatingPoint(arrays, results, split_pool_rounds(cases.pools, cases.requests, results))


POOLS_NOT_SIZED: Final = message(
    "sizing.pools", "has separate prefill and decode pools, which sizing does not support; size it without pools"
)


def get_serving_constants(calibration: Calibration) -> SchedulingConstants:
    names = SchedulingConstants.__dataclass_fields__
    return SchedulingConstants(**{name: calibration.value(name, NO_KEYS) for name in names})


class _EstimatorCaches:
    """A table of search spaces and everything that holds positions in it; it only grows."""

    def __init__(self, table: SearchSpaceTable, constants: SchedulingConstants, ask: EstimateFunction) -> None:
        self.table = table
        self.curves = CurveTable(table, constants)
        self.needs = MinimumCountFinder(table, constants)
        self.pools = PoolEstimator(table, constants)
        self.pool_charts = PoolCharts(self.pools, constants)
        self.scaling = ScalingTable(table, constants, ask)
        self.lines: LineAnswerer | None = None


class Estimator:
    """Answers questions about deployments, on any thread; caches results on accelerators, models and plans.

    Each call uses the same caches from start to end. When they are full, the next call starts with new ones: clearing
    them would move the positions that calls on other threads hold.
    """

    def __init__(self, catalog: Catalog, calibration: Calibration) -> None:
        self._catalog = catalog
        self._calibration = calibration
        self._constants = get_serving_constants(calibration)
        self._sizers: dict[tuple[tuple[EstimateRequest, ...], Demand, bool], DemandSizer] = {}
        self._most_kept = MOST_KEPT_PLANS
        self._caches = self._make_caches()

    def _make_caches(self) -> _EstimatorCaches:
        return _EstimatorCaches(SearchSpaceTable(self._catalog, self._calibration), self._constants, self.estimate_many)

    def _get_caches(self) -> _EstimatorCaches:
        """Return the caches for one call: those so far, or new ones if these are full."""
        caches = self._caches
        if caches.table.plan_count >= self._most_kept:
            caches = self._caches = self._make_caches()
        return caches

    def estimate(self, request: EstimateRequest) -> Estimate:
        """Answer one question; raises InputError if it cannot be answered."""
        answer = self.estimate_many([request])[0]
        if isinstance(answer, InputError):
            raise answer
        return answer

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Answer all questions in one vectorized call, in order; a failed one gives its InputError."""
        caches = self._get_caches()
        cases = CaseList(caches.table)
        open_requests: list[tuple[int, SearchSpace, FittingPlans]] = []
        answers: list[Estimate | InputError | None] = [None] * len(requests)
        for position, request in enumerate(requests):
            work = request.workload
            try:
                if request.disaggregated is not None:
                    answers[position] = caches.pools.estimate(request)
                    continue
                space = caches.table.find_space(request)
                fitting = space.find_smallest_fitting(work.request_tokens)
                if fitting is None:
                    answers[position] = make_unfit_estimate(request, space, caches.table)
                    continue
            except InputError as error:
                answers[position] = error.detach()
                continue
            open_requests.append((position, space, fitting))
            cases.add(fitting, make_workload_values(work))
        if open_requests:
            factors = [
                space.interval_factors[requests[position].workload.load.kind] for position, space, _ in open_requests
            ]
            chosen = cases.choose(factors, self._constants)
            for (position, space, fitting), place, figures in zip(
                open_requests, chosen.places, chosen.iterate_figures(), strict=True
            ):
                answers[position] = make_estimate(requests[position], space, fitting, place, figures)
        return [answer for answer in answers if answer is not None]

    def answer_lines(self, questions: Sequence[LineQuestion]) -> list[bytes | InputError]:
        """Return the JSON lines that answer questions, in order; a failed one gives its InputError."""
        from gpudesk.estimation.line_answers import LineAnswerer

        caches = self._get_caches()
        if caches.lines is None:
            caches.lines = LineAnswerer(caches.table, self._constants, caches.pools.estimate)
        return caches.lines.answer(questions)

    def list_counts(self, request: EstimateRequest) -> tuple[int, ...]:
        """Return the sizes to try for a request that leaves its size open, smallest first.

        Those half as large again are for three replicas of half the size, where that holds a request. Raises InputError
        for a request that cannot be answered.
        """
        space = self._get_caches().table.find_space(replace(request, count=None))
        sizes, least = space.counts, space.find_smallest_count(request.workload.request_tokens)
        between = {size * 3 // 2 for size in sizes if size % 2 == 0 and least is not None and size // 2 >= least}
        return tuple(sorted({*sizes, *(size for size in between if size < sizes[-1])}))

    def remember(self, most: int) -> None:
        """Cache this many plans, of about 1.5 kB each: for many questions about many deployments."""
        self._most_kept = most

    def curves(self, estimates: Sequence[Estimate]) -> tuple[ConcurrencyCurve, ...]:
        """Return for each estimate, which must fit, the figures of its deployment by concurrency."""
        caches = self._get_caches()
        alone = iter(caches.curves.curves([each for each in estimates if each.pools is None]))
        return tuple(next(alone) if each.pools is None else caches.pool_charts.curve(each) for each in estimates)

    def roofline(self, estimate: Estimate) -> Roofline | None:
        """Return the roofline of a deployment with its points; None if it does not fit."""
        if not estimate.fits:
            return None
        caches = self._get_caches()
        if estimate.pools is not None:
            return caches.pool_charts.roofline(estimate)
        there = find_deployment(estimate, caches.table)
        return make_roofline(there.space, there.deployment, operate([there], caches.table, self._constants))

    def compute_time_shares(self, estimate: Estimate) -> DeploymentTimeShares | None:
        """Return the time breakdown of a deployment; None if it does not fit."""
        return compute_step_shares(self._operate(estimate)) if estimate.fits else None

    def request_time(self, estimate: Estimate) -> RequestTimeline | None:
        """Return the time breakdown of one request; None if it does not fit or the load has no such time."""
        return compute_request_time(self._operate(estimate), estimate) if estimate.fits else None

    def _operate(self, estimate: Estimate) -> OperatingPoint:
        """Return the operation of a deployment that fits, or of its decode pool, under its load."""
        caches = self._get_caches()
        if estimate.pools is not None:
            return caches.pool_charts.operate(estimate)
        return operate([find_deployment(estimate, caches.table)], caches.table, self._constants)

    def compute_kv_by_context(self, estimate: Estimate) -> KvCacheCurve:
        """Return the KV cache of a deployment by context length, fitting or not."""
        space, memory = find_memory_plan(estimate, self._get_caches().table)
        return compute_kv_curve(estimate, space.configuration, memory)

    def compute_usable_memory(self, estimate: Estimate) -> UsableMemory:
        """Return the usable memory of a deployment and the memory that its load needs, fitting or not."""
        _, memory = find_memory_plan(estimate, self._get_caches().table)
        return compute_memory_room(estimate, memory.budget)

    def launch_settings(self, estimate: Estimate, systems: Sequence[System]) -> LaunchSettings:
        from gpudesk.estimation.launch import get_launch_settings

        return get_launch_settings(estimate, self._get_caches().table, systems)

    def needed(self, requests: Sequence[EstimateRequest]) -> tuple[tuple[SmallestDeployments, ...], ...]:
        """Return for each request the smallest deployments by weight format, from wide to narrow."""
        return self._get_caches().needs.needed(requests)

    def size(
        self,
        requests: Sequence[EstimateRequest],
        demand: Demand,
        find_excess: BudgetExcess | None = None,
        *,
        quickest: bool = False,
    ) -> SizingResult:
        """Return how many of each accelerator a demand needs, within a budget; counts of requests are ignored.

        With `quickest`, replicas are sized for the shortest time of a request, not for the fewest accelerators.
        """
        from gpudesk.estimation.sizing.demand import DemandSizer

        key = tuple(requests), demand, quickest
        sizer = self._sizers.get(key)
        if sizer is None:
            output_tokens = requests[0].workload.output_tokens if requests else 1
            sized = [self._make_sizing_request(request) for request in requests]
            sizer = DemandSizer(demand, sized, self.estimate_many, output_tokens, quickest=quickest)
            # A search for what would change a decision varies budgets: the replicas stay.
            self._sizers = {key: sizer}
        return sizer.size(find_excess)

    def _make_sizing_request(self, request: EstimateRequest) -> SizingRequest:
        from gpudesk.estimation.sizing.demand import SizingRequest

        table = self._get_caches().table
        part, model = table.find_facts(request)
        free = replace(request, count=None, dp=None)
        if request.disaggregated is not None:
            return SizingRequest(free, part, model, (), POOLS_NOT_SIZED)
        try:
            least = (request.tp or 1) * (request.pp or 1)
            fixed = request.tp is not None or request.pp is not None
            counts = (least,) if fixed else table.find_space(free).counts
        except InputError as error:
            return SizingRequest(free, part, model, (), error.problem)
        return SizingRequest(free, part, model, counts)

    def remedies(self, estimate: Estimate) -> tuple[FitRemedy, ...]:
        """Return what would make a deployment fit; empty if it does."""
        if not is_short(estimate):
            return ()
        caches = self._get_caches()
        part, model = caches.table.find_facts(estimate.request)
        size = caches.needs.for_load(estimate.request)
        unasked = replace(get_pool_request(estimate), memory_fraction=None)
        safe = caches.table.find_space(unasked).configuration.settings.memory_fraction
        return find_remedies(InsufficientDeployment(estimate, part, model, size, safe), self.estimate_many)

    def scalings(
        self, requests: Sequence[EstimateRequest], *, brief: bool = False
    ) -> tuple[AcceleratorScaling | InputError, ...]:
        """Return for each request how its accelerator scales with the count, which is ignored."""
        return self._get_caches().scaling.scalings(requests, brief=brief)

    def topology(self, baseline: Estimate, other: Estimate) -> TopologyComparison:
        """Compare two deployments by the cost of sharding; raises InputError if one does not fit."""
        return compare_topologies(
            baseline, other, self._get_caches().table, self._constants, self.estimate_many, self.differences
        )

    def plans(self, estimate: Estimate) -> PlanChoice:
        """Return every plan considered for an estimate, with the reason for or against it."""
        bands = PlanIntervals(
            *(
                find_plan_interval(self._calibration, figure, estimate.basis)
                for figure in ("throughput", "ttft", "tpot")
            )
        )
        return explain_plan_choice(estimate, self._get_caches().table, self._constants, bands)

    def differences(self, baseline: Estimate, other: Estimate) -> tuple[FigureDifference, ...]:
        """Compare two estimates figure by figure, each with the interval of the ratio and the odds of a lead."""
        accelerators = (self._catalog.accelerator(each.request.accelerator) for each in (baseline, other))
        relation = relate_accelerators(*accelerators)
        differences = []
        for figure in list_judged_figures():
            ours, theirs = getattr(other, figure), getattr(baseline, figure)
            if ours is None or theirs is None:
                continue
            kind = {"ttft_ms": "ttft", "tpot_ms": "tpot"}.get(figure, "throughput")
            ratio = ours.value / theirs.value
            apart, log_ratio = relation, 0.0
            if kind != "throughput":
                log_ratio = math.log(ratio)
                # At latency limits each runs at its own rate, so latencies share as few errors as those of two vendors.
                if other.request.workload.load.kind is LoadKind.LIMITS:
                    apart = PairRelation.VENDORS
            scale = find_lead_scale(self._calibration, kind, baseline.basis, other.basis, apart, log_ratio)
            better = ratio if FIGURES[figure].more_is_better else 1.0 / ratio
            differences.append(
                FigureDifference(
                    figure=figure,
                    accelerator=other.request.accelerator,
                    baseline=baseline.request.accelerator,
                    ratio=make_ratio_interval(ratio, scale),
                    odds=compute_lead_odds(better, scale),
                )
            )
        return tuple(differences)

    def explain(self, estimate: Estimate, figure: str) -> DerivationTerm:
        """Return the derivation of a figure; raises InputError that lists the known figures."""
        # Estimates do without derivations: loading them takes 20 ms.
        from gpudesk.estimation.derivation.figures import explain_figure, explain_pools

        caches = self._get_caches()
        pool_term = None if estimate.pools is None else explain_pools(estimate, figure, caches.pools)
        return pool_term or explain_figure(estimate, figure, caches.table, self._constants)


class AnswerEstimator(Protocol):
    """The part of the estimator that an answer needs."""

    def estimate_many(self, requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        """Return one answer for each request, in order."""

    def curves(self, estimates: Sequence[Estimate]) -> tuple[ConcurrencyCurve, ...]:
        """Return for each estimate that fits its figures by concurrency."""

    def differences(self, baseline: Estimate, other: Estimate) -> tuple[FigureDifference, ...]: ...

    def needed(self, requests: Sequence[EstimateRequest]) -> tuple[tuple[SmallestDeployments, ...], ...]:
        """Return for each request the smallest deployments by weight format."""


def answer_scenario(
    scenario: Scenario,
    facts: AnswerCatalog,
    estimates: AnswerEstimator,
    calibration: str,
    *,
    rank_announced: bool = False,
    with_counts: bool = True,
) -> Answer:
    """Return the answer to a scenario; `calibration` identifies the constants behind the estimates.

    `with_counts` searches for the counts that are enough if requests queue on all columns, which takes 2 ms.

    An accelerator without an estimate keeps its column, with the problem. Announced accelerators are ranked with
    shipping ones only on request. A scenario without a model or accelerators, an unknown id, and requests beyond the
    model's context raise `InputError`.
    """
    if not scenario.model:
        raise input_error("scenario.no_model", "choose a model", "scenario.model")
    if not scenario.accelerators:
        raise input_error("scenario.no_accelerators", "add an accelerator", "scenario.accelerators")
    check_scenario_ids(scenario, facts)
    check_context(scenario, facts.model(scenario.model))
    answers = estimates.estimate_many(scenario.requests())
    columns = tuple(_make_column(scenario, position, result, facts) for position, result in enumerate(answers))
    if with_counts and all(column.queues for column in columns):
        columns = tuple(map(_add_enough, columns, estimates.needed(scenario.requests())))
    unranked = () if rank_announced else _list_unranked(columns)
    things = dict.fromkeys([*(choice.accelerator for choice in scenario.accelerators), scenario.model])
    disputes = {dispute.id: dispute for thing in things for dispute in facts.disputes(thing)}
    return Answer(
        scenario=scenario,
        catalog_revision=facts.revision,
        data_date=facts.data_date,
        calibration=calibration,
        model=facts.model(scenario.model),
        model_attributes=_index_attributes(facts.attributes(scenario.model)),
        columns=columns,
        differences=_compare_columns(scenario, columns, estimates),
        disputes=tuple(disputes.values()),
        notes=_make_answer_notes(scenario, facts, tuple(columns[place].accelerator.name for place in unranked)),
        digest=hash_answer,
        unranked=unranked,
    )


def _make_column(
    scenario: Scenario, position: int, result: Estimate | InputError, facts: AnswerCatalog
) -> ComparisonColumn:
    choice = scenario.accelerators[position]
    estimate = result if isinstance(result, Estimate) else None
    return ComparisonColumn(
        choice=choice,
        accelerator=facts.accelerator(choice.accelerator),
        attributes=_index_attributes(facts.attributes(choice.accelerator)),
        estimate=estimate,
        curve=None,
        problem=result.problem if isinstance(result, InputError) else None,
    )


def _add_enough(column: ComparisonColumn, needed: Sequence[SmallestDeployments]) -> ComparisonColumn:
    """Return a column on which requests queue with the count on which none does: by memory, or by arrivals."""
    estimate = column.estimate
    assert estimate is not None
    work, rate = estimate.request.workload, estimate.output_tokens_per_s
    if estimate.stable is False and rate is not None and work.load.request_rate is not None:
        copies = math.ceil(work.load.request_rate * work.output_tokens / rate.value)
        return replace(column, enough=copies * estimate.count)
    bits = STORAGE_FORMATS[resolve_fp4(estimate.request.weights, "")].bits
    size = next((each.load for each in needed if each.bits == bits), None)
    return replace(column, enough=None if size is None else size.count)


def _list_unranked(columns: tuple[ComparisonColumn, ...]) -> tuple[int, ...]:
    """Return the positions of the announced columns, empty if all are announced."""
    announced = tuple(place for place, column in enumerate(columns) if column.accelerator.announced)
    return () if len(announced) == len(columns) else announced


def add_curves(answer: Answer, estimates: AnswerEstimator) -> Answer:
    """Return an answer with the curves of all columns that fit."""
    fitting = [column.estimate for column in answer.columns if column.estimate and column.estimate.fits]
    curves = iter(estimates.curves(fitting))
    columns = (
        replace(column, curve=next(curves)) if column.estimate and column.estimate.fits else column
        for column in answer.columns
    )
    return replace(answer, columns=tuple(columns))


def _index_attributes(attributes: tuple[AttributeClaims, ...]) -> Mapping[str, AttributeClaims]:
    return MappingProxyType({attribute.name: attribute for attribute in attributes})


def _compare_columns(
    scenario: Scenario, columns: tuple[ComparisonColumn, ...], estimates: AnswerEstimator
) -> tuple[FigureDifference, ...]:
    """Compare every pair of columns, the baseline's first, so that leaders can be determined."""
    keys = make_column_keys(scenario.accelerators)
    differences = []
    for (one, baseline), (two, other) in combinations(zip(keys, columns, strict=True), 2):
        if baseline.estimate is None or other.estimate is None:
            continue
        compared = estimates.differences(baseline.estimate, other.estimate)
        # Keys of columns distinguish counts of one accelerator.
        differences += [replace(difference, accelerator=two, baseline=one) for difference in compared]
    return tuple(differences)


def _make_answer_notes(scenario: Scenario, facts: AnswerCatalog, unranked: tuple[str, ...]) -> tuple[Message, ...]:
    notes = (
        [
            message(
                "answer.unranked",
                "Announced, so not ranked with available accelerators: {names}",
                names=tuple(dict.fromkeys(unranked)),
            )
        ]
        if unranked
        else []
    )
    if scenario.catalog_revision not in (None, facts.revision):
        notes.append(
            message(
                "answer.other_catalog",
                "The scenario was saved with another catalog; these figures use the catalog of {date}",
                date=facts.data_date,
            )
        )
    return tuple(notes)


def hash_answer(answer: Answer) -> str:
    """Return the SHA-256 of the answer's content.

    File-only data, palette indexes, and curves and costs, which follow from the rest, are excluded: the same comparison
    has the same hash everywhere.
    """
    content = {field.name: getattr(answer, field.name) for field in fields(answer)}
    content["scenario"] = replace(
        answer.scenario,
        catalog_revision=None,
        user_records=(),
        unknown_sections=MappingProxyType({}),
        accelerators=tuple(replace(choice, slot=None) for choice in answer.scenario.accelerators),
    )
    content["columns"] = tuple(
        replace(column, choice=replace(column.choice, slot=None), curve=None) for column in answer.columns
    )
    content["differences"] = tuple(each for each in answer.differences if each.figure in FIGURES)
    del content["digest"], content["notes"], content["costs"]
    canonical = orjson.dumps(content, default=_to_plain_json, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()


def _to_plain_json(value: object) -> Any:  # noqa: ANN401 - whatever JSON can hold
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        # Named tuples are tuples to the encoder.
        return list(value)
    if isinstance(value, float):
        # Shares in messages are floats to the encoder.
        return float(value)
    raise TypeError(type(value).__name__)
