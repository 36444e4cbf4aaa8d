"""The smallest deployments by weight format, and remedies for deployments that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gpudesk.domain.accelerator import Accelerator, resolve_fp4
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind
from gpudesk.domain.model import Model
from gpudesk.domain.precision import KV_BYTES, STORAGE_FORMATS, Precision
from gpudesk.domain.sizing import DeploymentSize, FitRemedy, FitRemedyKind, SmallestDeployments
from gpudesk.engine.loads import SchedulingConstants
from gpudesk.engine.serving import make_workload_values, serve_loads
from gpudesk.estimation.evaluation import CaseList, make_unfit_estimate
from gpudesk.estimation.search_space import FittingPlans, SearchSpace, SearchSpaceTable
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, message_n

#: Widths of weight formats to compare, besides that of the scenario.
WIDTHS: Final = (16, 8, 4)

_ONE: Final = Load(LoadKind.CONCURRENCY, concurrency=1)


def count_in_flight(load: Load) -> int | None:
    """Return how many requests a load has in flight by definition; None if that is a result."""
    return {LoadKind.CONCURRENCY: load.concurrency, LoadKind.BATCH: load.batch}.get(load.kind)


def list_weight_formats(bits: int, weights: Precision, model: Model, part: Accelerator) -> tuple[Precision, ...]:
    """Return the weight formats of a width in the order of trying on an accelerator.

    First the scenario's own, then that of the published checkpoint, then the accelerator's native ones.
    """
    usual = {
        16: [Precision.BF16],
        8: [Precision.FP8, Precision.INT8],
        6: [Precision.FP6],
        4: [resolve_fp4(Precision.FP4, part.vendor), Precision.INT4],
    }[bits]
    if bits == 4 and "fp4" not in part.peak_dense:
        usual.reverse()
    preferred_formats = [
        resolve_fp4(each, part.vendor) for each in (weights, model.native_precision) if each is not None
    ]
    return tuple(dict.fromkeys([*(each for each in preferred_formats if STORAGE_FORMATS[each].bits == bits), *usual]))


@dataclass(slots=True)
class _FormatSearch:
    """One accelerator with its weights in one width that some serving engine runs.

    `counts` are the deployment sizes that hold one request and are tried for the load.
    """

    bits: int
    request: EstimateRequest
    space: SearchSpace
    counts: tuple[int, ...] = ()
    one: DeploymentSize | None = None
    load: DeploymentSize | None = None
    reason: Message | None = None

    @property
    def tokens(self) -> int:
        return self.request.workload.request_tokens

    @property
    def target_count(self) -> int | None:
        return count_in_flight(self.request.workload.load)

    def needed(self) -> SmallestDeployments:
        request = self.request
        return SmallestDeployments(request.accelerator, self.bits, request.weights, self.one, self.load, self.reason)


class MinimumCountFinder:
    """Finds the smallest deployments of several accelerators in several formats, in a few vectorized calls."""

    def __init__(self, table: SearchSpaceTable, constants: SchedulingConstants) -> None:
        self._table = table
        self._constants = constants

    def needed(self, requests: Sequence[EstimateRequest]) -> tuple[tuple[SmallestDeployments, ...], ...]:
        """Return the smallest deployments for each request, by weight format from wide to narrow."""
        rows = [[self._begin(request, bits) for bits in _list_widths(request)] for request in requests]
        self._run([each for row in rows for each in row if isinstance(each, _FormatSearch)])
        return tuple(tuple(each.needed() if isinstance(each, _FormatSearch) else each for each in row) for row in rows)

    def for_load(self, request: EstimateRequest) -> DeploymentSize | None:
        """Return the smallest deployment that runs all requests in flight; None without one."""
        free = _open_request(request)
        search = _FormatSearch(0, free, self._table.find_space(free))
        self._run([search])
        return search.load

    def _begin(self, request: EstimateRequest, bits: int) -> _FormatSearch | SmallestDeployments:
        """Return the search in the first format of a width that runs, or the reason against the first one."""
        part, model = self._table.find_facts(request)
        reason = None
        tried = list_weight_formats(bits, request.weights, model, part)
        for weights in tried:
            free = _open_request(request, weights)
            try:
                return _FormatSearch(bits, free, self._table.find_space(free))
            except InputError as error:
                reason = reason or error.problem
        return SmallestDeployments(part.id, bits, tried[0], None, None, reason)

    def _run(self, searches: list[_FormatSearch]) -> None:
        """Find the plans for one request, and, smallest first, those that run everything at once.

        All are tried together, and failed ones again with larger counts; most succeed at the first attempt.
        """
        fits = [(each, fitting) for each in searches if (fitting := self._find_smallest(each)) is not None]
        alone = [
            (each, replace(each.request, workload=replace(each.request.workload, load=_ONE)), fitting)
            for each, fitting in fits
        ]
        remaining_searches = [(each, self._list_roomy(each)) for each, _ in fits if each.target_count is not None]
        while alone or remaining_searches:
            tried = [
                (each, roomy, fitting)
                for each, roomy in remaining_searches
                if (fitting := self._find_next(each, roomy))
            ]
            whole = [(each, each.request, fitting) for each, _, fitting in tried]
            sizes = self._choose_sizes([*alone, *whole])
            for (each, _, _), (size, _) in zip(alone, sizes[: len(alone)], strict=True):
                each.one = size
            for (each, _, _), (size, runs_all) in zip(whole, sizes[len(alone) :], strict=True):
                each.load = size if runs_all else None
            alone = []
            remaining_searches = [(each, roomy) for each, roomy, _ in tried if each.load is None]

    def _find_smallest(self, search: _FormatSearch) -> FittingPlans | None:
        fitting = search.space.find_smallest_fitting(search.tokens)
        if fitting is None:
            search.reason = make_unfit_estimate(search.request, search.space, self._table).reason
        else:
            search.counts = tuple(count for count in search.space.counts if count >= fitting.accelerators)
        return fitting

    def _find_next(self, search: _FormatSearch, roomy: Iterator[FittingPlans]) -> FittingPlans | None:
        """Return the next plans to try for the whole load; None, with the reason, after the last."""
        fitting = next(roomy, None)
        if fitting is None:
            search.reason = describe_too_large_load(
                search.target_count or 0, search.space.counts[-1], search.space.configuration.accelerator.name
            )
        return fitting

    def _list_roomy(self, search: _FormatSearch) -> Iterator[FittingPlans]:
        """Yield the plans of each count, smallest first, if one has room for all requests in flight."""
        for count in search.counts:
            if search.space.compute_room(count, search.tokens) >= (search.target_count or 1):
                fitting = search.space.find_fitting(count, search.tokens)
                if fitting is not None:
                    yield fitting

    def _choose_sizes(
        self, trials: list[tuple[_FormatSearch, EstimateRequest, FittingPlans]]
    ) -> list[tuple[DeploymentSize, bool]]:
        """Return the best of the given plans for each, and whether it runs all requests in flight."""
        if not trials:
            return []
        cases = CaseList(self._table)
        for _, request, fitting in trials:
            cases.add(fitting, make_workload_values(request.workload))
        arrays = cases.arrays()
        results = serve_loads(arrays.rows, arrays.requests, arrays.loads, self._constants)
        first = cases.find_winners(results, arrays, self._constants)
        runs_all = np.rint(results.admitted[first]) == np.rint(results.concurrency[first])
        plans = [deployment.plan for deployment in cases.list_deployments(first)]
        return [(DeploymentSize(plan.count, plan), bool(all_)) for plan, all_ in zip(plans, runs_all, strict=True)]


def _open_request(request: EstimateRequest, weights: Precision | None = None) -> EstimateRequest:
    """Return the request, in other `weights` if given, with open count and plan."""
    return replace(request.with_open_plan(), weights=weights or request.weights)


def _list_widths(request: EstimateRequest) -> tuple[int, ...]:
    own = STORAGE_FORMATS[resolve_fp4(request.weights, "")].bits
    return tuple(sorted({*WIDTHS, own}, reverse=True))


#: Answers questions, each with an estimate or the reason for its absence.
EstimateRequests = Callable[[Sequence[EstimateRequest]], list[Estimate | InputError]]


@frozen_dataclass
class InsufficientDeployment:
    """An estimate that does not fit, with related facts.

    `for_load` is the smallest deployment of a free plan that runs everything at once, `safe_fraction` the largest
    memory fraction of its serving engine.
    """

    estimate: Estimate
    part: Accelerator
    model: Model
    for_load: DeploymentSize | None
    safe_fraction: float


def is_short(estimate: Estimate) -> bool:
    """Whether a deployment does not hold one request, or not all that its load has in flight by definition."""
    if not estimate.fits:
        return True
    has_fixed_concurrency = count_in_flight(estimate.request.workload.load) is not None
    return has_fixed_concurrency and (estimate.admitted or 0) < (estimate.concurrency or 0)


def find_remedies(shortage: InsufficientDeployment, answers: EstimateRequests) -> tuple[FitRemedy, ...]:
    """Return the remedies tried: a larger memory fraction, more accelerators, narrower formats, fewer requests.

    A deployment that does not fit is made to hold one request; one with too little capacity, all. Of the weights only
    the widest format that helps is named, else the narrowest; the memory fraction only if it helps, because a failure
    there is obvious.
    """
    tried = list(_try_remedies(shortage))
    estimates = answers([request for _, _, request in tried])
    remedies = [
        _judge_trials(kind, value, shortage.estimate, answer)
        for (kind, value, _), answer in zip(tried, estimates, strict=True)
    ]
    narrower = [remedy for remedy in remedies if remedy.kind is FitRemedyKind.WEIGHTS]
    running = [remedy for remedy in narrower if remedy.estimate is not None] or narrower
    narrowest = min(running, key=lambda remedy: STORAGE_FORMATS[Precision(str(remedy.value))].bits, default=None)
    named = next((remedy for remedy in narrower if remedy.works), narrowest)
    return tuple(
        remedy
        for remedy in remedies
        if remedy is named
        or remedy.kind not in (FitRemedyKind.WEIGHTS, FitRemedyKind.FRACTION)
        or (remedy.kind is FitRemedyKind.FRACTION and remedy.works)
    )


#: A remedy with its new value and the request that tests it.
_RemedyTrial = tuple[FitRemedyKind, int | float | Precision, EstimateRequest]


def _try_remedies(shortage: InsufficientDeployment) -> Iterator[_RemedyTrial]:
    """Yield all remedies to try on the present count; only degrees that the user left open can change."""
    estimate = shortage.estimate
    request = replace(estimate.request, count=estimate.count)
    user_fraction, safe = request.memory_fraction, shortage.safe_fraction
    if estimate.max_concurrency > (estimate.admitted or 0) if user_fraction is None else user_fraction < safe:
        yield FitRemedyKind.FRACTION, safe, replace(request, memory_fraction=safe)
    # More accelerators with a plan of the program's choice: for one request if none fits, and for the load.
    enough = None if shortage.for_load is None else shortage.for_load.count
    for count in dict.fromkeys((estimate.needs, enough)):
        if count is not None:
            free = replace(request, count=count, tp=None, pp=None, ep=None, dp=None, attention_dp=None)
            yield FitRemedyKind.COUNT, count, free
    # Narrower weights, and half of the cache if it is the cache that does not fit.
    stored_bits = STORAGE_FORMATS[resolve_fp4(request.weights, shortage.part.vendor)].bits
    for bits in WIDTHS:
        if bits < stored_bits:
            for each in list_weight_formats(bits, request.weights, shortage.model, shortage.part):
                yield FitRemedyKind.WEIGHTS, each, replace(request, weights=each)
    reason = shortage.estimate.reason
    if KV_BYTES[request.kv] > 1.0 and (reason is None or reason.id != "estimate.weights_do_not_fit"):
        yield FitRemedyKind.KV, Precision.FP8, replace(request, kv=Precision.FP8)
    load = request.workload.load
    if count_in_flight(load) is not None:
        # As many requests as are admitted now, or a single one if not even that fits.
        fewer = max(1, estimate.admitted or 1)
        less = replace(load, batch=fewer) if load.kind is LoadKind.BATCH else replace(load, concurrency=fewer)
        yield FitRemedyKind.CONCURRENCY, fewer, replace(request, workload=replace(request.workload, load=less))


def _judge_trials(
    kind: FitRemedyKind, value: int | float | Precision, before: Estimate, answer: Estimate | InputError
) -> FitRemedy:
    if isinstance(answer, InputError):
        return FitRemedy(kind, value, works=False, estimate=None, reason=answer.problem)
    works = answer.fits and (not before.fits or not is_short(answer))
    reason = answer.reason or next((n for n in answer.notes if n.id.startswith("estimate.queued")), None)
    return FitRemedy(kind, value, works, answer, None if works else reason)


def describe_too_large_load(concurrency: int, count: int, accelerator: str) -> Message:
    return message_n(
        "needed.load_too_large",
        "{concurrency} request in flight does not fit {count} × {accelerator}, the largest tested deployment",
        "{concurrency} requests in flight do not fit {count} × {accelerator}, the largest tested deployment",
        "concurrency",
        concurrency=concurrency,
        count=count,
        accelerator=accelerator,
    )
