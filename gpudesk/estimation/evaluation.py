"""Evaluation of many requests in one vectorized call: cases as arrays, figures with intervals, notes, estimates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpudesk.domain.estimate import Estimate, EstimateRequest, Limiter, Load, LoadKind
from gpudesk.engine.loads import PhysicalBounds, SchedulingConstants, compute_bounds
from gpudesk.engine.memory import MemoryPlan, ResolvedDeployment, ServingConfiguration
from gpudesk.engine.serving import (
    LOAD_CODES,
    DeploymentLoads,
    ServingResults,
    make_requests_and_loads,
    score_plans,
    serve_loads,
)
from gpudesk.engine.steps import LIMITERS, Array, CoefficientColumns, ReplicaRequests
from gpudesk.estimation.deployment import describe_no_plan, make_chosen_plan_note
from gpudesk.estimation.search_space import (
    CoefficientTable,
    FittingPlans,
    SearchSpace,
    SearchSpaceTable,
    find_smallest_counts,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, MessageParameter, Share, message, message_n


@frozen_dataclass
class CaseArrays:
    """The input of one vectorized call."""

    index: NDArray[np.intp]
    rows: CoefficientColumns
    requests: ReplicaRequests
    loads: DeploymentLoads
    counts: Array


def make_case_arrays(
    table: CoefficientTable,
    workloads: Sequence[tuple[float, ...]],
    lengths: Sequence[int],
    positions: ArrayLike,
    capacity: ArrayLike,
    replicas: ArrayLike,
    counts: ArrayLike,
) -> CaseArrays:
    """Return the cases as arrays; each of the `make_workload_values` applies to `lengths` consecutive cases.

    The others have a value per case: position in the table, sequences of a replica, replicas, accelerators.
    """
    values = np.repeat(np.array(workloads, dtype=np.float64), lengths, axis=0)
    requests, loads = make_requests_and_loads(values, np.array(capacity), np.array(replicas))
    index = np.array(positions, dtype=np.intp)
    return CaseArrays(index, table.take(index), requests, loads, np.asarray(counts, dtype=np.float64))


#: Beyond this many rounds the end of a run hardly matters.
_MANY_ROUNDS = 10


class CaseFigures(NamedTuple):
    """Results of one question's winning case; None if a figure has no meaning for the load.

    From the first figure on the fields are those of `Estimate` in its order.
    """

    concurrency: int | None
    admitted: int | None
    limiter: int
    output_tokens_per_s: IntervalEstimate | None
    total_tokens_per_s: IntervalEstimate | None
    output_tokens_per_s_per_accelerator: IntervalEstimate | None
    ttft_ms: IntervalEstimate | None
    tpot_ms: IntervalEstimate | None
    request_s: IntervalEstimate | None
    batch_s: IntervalEstimate | None
    stable: bool


def make_estimate(
    request: EstimateRequest, space: SearchSpace, fitting: FittingPlans, place: int, figures: CaseFigures
) -> Estimate:
    """Make the estimate of the plan at index `place` of those that fit."""
    deployment, max_sequences = fitting.deployments[place], fitting.sequences[place]
    concurrency, admitted = figures.concurrency, figures.admitted
    work = request.workload
    total = work.load.requests if work.uneven else None
    runs_out = total is not None and ends_unevenly(work.output_tokens, total, admitted)
    has_rate = figures.output_tokens_per_s is not None
    return Estimate(
        request,
        True,
        space.configuration.engine.id,
        deployment.plan,
        deployment.plan.count,
        deployment.budget.compute_use(count_resident(admitted, fitting.admitted[place]), fitting.sequence_bytes[place]),
        max_sequences,
        concurrency,
        admitted,
        find_limiter(figures.limiter, concurrency, admitted),
        space.basis,
        *figures[3:],
        notes=make_deployment_notes(request, space, deployment, has_rate=has_rate, runs_out=runs_out)
        + make_load_notes(
            work.request_tokens,
            work.load.kind,
            deployment,
            (max_sequences, fitting.admitted[place]),
            (concurrency, admitted, figures.stable),
        ),
        user_model=space.configuration.model.own,
    )


def find_limiter(binding: int, concurrency: int | None, admitted: int | None) -> Limiter:
    """Return the limiter of a deployment: capacity if requests wait, else that of its steps."""
    if admitted is not None and concurrency is not None and admitted < concurrency:
        return Limiter.CAPACITY
    return LIMITERS[binding]


def count_resident(admitted: int | None, admissible: int) -> int:
    """Return the number of sequences for which memory is shown."""
    # With on-demand memory more requests run than memory holds at full length.
    return max(1, min(admitted or 1, admissible))


def make_deployment_notes(
    request: EstimateRequest, space: SearchSpace, deployment: ResolvedDeployment, *, has_rate: bool, runs_out: bool
) -> tuple[Message, ...]:
    """Return notes on choices and assumptions; `runs_out`: the end of the run matters, see `ends_unevenly`."""
    configuration, count = space.configuration, deployment.plan.count
    notes = configuration.notes
    if count > 1 and None in (request.tp, request.pp, request.dp):
        notes += (make_chosen_plan_note(deployment.plan),)
        if count & (count - 1):
            notes += (_make_uneven_note(count),)
    if has_rate and _runs_short_steps(request.workload.load, deployment):
        notes += (
            message(
                "estimate.short_steps",
                "To meet p99 limits, steps have at most {tokens} tokens per rank, including prompts; longer steps "
                "would delay all running requests",
                tokens=round(configuration.limit_tokens),
            ),
        )
    if runs_out:
        notes += (
            message(
                "estimate.uneven_end",
                "Output lengths vary as in real traffic. The batch ends with the longest output, so it takes longer "
                "than with equal lengths",
            ),
        )
    return notes + space.list_plan_notes(deployment)


def _runs_short_steps(load: Load, deployment: ResolvedDeployment) -> bool:
    p99 = load.kind is LoadKind.LIMITS and load.limit == "p99"
    return p99 and deployment.configuration.limit_tokens < deployment.memory.settings.max_batched_tokens


def ends_unevenly(output_tokens: int, total: int, admitted: int | None) -> bool:
    """Return whether the end of a run of `total` requests of varied lengths matters."""
    return output_tokens > 1 and 1 < total < _MANY_ROUNDS * (admitted or 0)


def make_load_notes(
    tokens: int,
    kind: LoadKind,
    deployment: ResolvedDeployment,
    room: tuple[int, int],
    state: tuple[int | None, int | None, bool],
) -> tuple[Message, ...]:
    """Return notes on an overloaded deployment: queued requests, missed limits, overload.

    `tokens` are those of one request, `room` is the numbers of requests that memory holds and that the engine admits,
    `state` is concurrency, admitted and stability.
    """
    max_sequences, admissible = room
    concurrency, admitted, stable = state
    notes: tuple[Message, ...] = ()
    if admitted is not None and concurrency is not None and admitted < concurrency:
        notes += (_make_queue_note(deployment, admitted, concurrency, admissible, max_sequences),)
    elif admitted is not None and admitted > max_sequences:
        name = deployment.configuration.engine.name
        notes += (
            message(
                "estimate.grown",
                "{engine} allocates KV cache as requests grow: {admitted} run at once, although {most} would fit at "
                "full length",
                engine=name,
                admitted=admitted,
                most=max_sequences,
            ),
        )
    if not stable:
        notes += (
            message("estimate.overload", "Requests arrive faster than they are served: the queue grows without limit"),
        )
    model = deployment.configuration.model
    if model.max_context is not None and tokens > model.max_context:
        most = model.max_context
        notes += (
            message(
                "estimate.beyond_context",
                "{tokens} tokens exceed the {most} token context of {model}",
                model=model.name,
                tokens=tokens,
                most=most,
            ),
        )
    if kind is LoadKind.LIMITS and not admitted:
        notes += (message("estimate.limits_not_met", "Even a single request misses the latency limits"),)
    return notes


def _make_queue_note(
    deployment: ResolvedDeployment, admitted: int, concurrency: int, by_memory: int, most: int
) -> Message:
    """Return why requests queue: too little memory, the engine's default share of it, or its batch limit.

    With on-demand memory more requests of equal length run than memory holds at full length.
    """
    queued = concurrency - admitted
    engine, settings = deployment.configuration.engine.name, deployment.memory.settings
    if admitted > most:
        return message_n(
            "estimate.queued_grown",
            "{engine} allocates KV cache as requests grow: {admitted} of {concurrency} run at once, although {most} "
            "would fit at full length; {queued} is queued",
            "{engine} allocates KV cache as requests grow: {admitted} of {concurrency} run at once, although {most} "
            "would fit at full length; {queued} are queued",
            "queued",
            engine=engine,
            admitted=admitted,
            concurrency=concurrency,
            most=most,
            queued=queued,
        )
    if by_memory > admitted:
        return message_n(
            "estimate.queued_engine",
            "The serving engine runs {admitted} of {concurrency} requests at once; {queued} is queued",
            "The serving engine runs {admitted} of {concurrency} requests at once; {queued} are queued",
            "queued",
            admitted=admitted,
            concurrency=concurrency,
            queued=queued,
        )
    if by_memory < most:
        return message(
            "estimate.queued_usual",
            "{engine} runs {admitted} of {concurrency} requests at its default of {usual} of memory; {fraction} would "
            "fit {most}",
            engine=engine,
            usual=Share(settings.usual_fraction or settings.memory_fraction),
            admitted=admitted,
            concurrency=concurrency,
            fraction=Share(settings.memory_fraction),
            most=most,
        )
    return message_n(
        "estimate.queued_memory",
        "Memory fits {admitted} of {concurrency} requests; {queued} is queued",
        "Memory fits {admitted} of {concurrency} requests; {queued} are queued",
        "queued",
        admitted=admitted,
        concurrency=concurrency,
        queued=queued,
    )


def _make_uneven_note(count: int) -> Message:
    """Return why more accelerators can be slower for few requests: heads divide by powers of two."""
    return message(
        "estimate.uneven_count",
        "{count} accelerators split one replica less evenly than {fewer}, so few requests may take longer than on "
        "{fewer}",
        count=count,
        fewer=1 << (count.bit_length() - 1),
    )


def explain_unfit(
    request: EstimateRequest, configuration: ServingConfiguration, nearest: MemoryPlan, tokens: int
) -> Message:
    """Return why a plan has no memory for a request of `tokens`."""
    budget = nearest.budget
    spare = budget.compute_use(1, budget.cache.sequence_bytes(tokens)).free_bytes
    parameters: dict[str, MessageParameter] = {
        "fraction": Share(configuration.settings.memory_fraction),
        "accelerator": configuration.accelerator.name,
        "count": nearest.plan.count,
        "missing": (float(-budget.headroom_bytes(tokens)), "B"),
        "weights": (float(budget.weights_bytes), "B"),
        "capacity": (float(budget.capacity_bytes), "B"),
    }
    if request.memory_fraction is not None and spare > 0:
        return message(
            "estimate.fraction_too_small",
            "At memory fraction {fraction}, one request needs {missing} more on {count} × {accelerator}, with "
            "{weights} of weights; increase the fraction",
            **parameters,
        )
    if budget.pool_bytes > 0:
        return message(
            "estimate.request_does_not_fit",
            "One request of this length does not fit {count} × {accelerator}: {missing} too large for the {capacity} "
            "of one accelerator",
            **parameters,
        )
    return message(
        "estimate.weights_do_not_fit",
        "The weights do not fit {count} × {accelerator}: they need {weights} per accelerator, which has {capacity}",
        **parameters,
    )


def make_unfit_estimate(request: EstimateRequest, space: SearchSpace, table: SearchSpaceTable) -> Estimate:
    """Make the estimate of a request that no plan holds; raises InputError without any plan."""
    answer = make_unfit_estimates([(request, space)], table)[0]
    if isinstance(answer, InputError):
        raise answer
    return answer


def make_unfit_estimates(
    questions: Sequence[tuple[EstimateRequest, SearchSpace]], table: SearchSpaceTable
) -> list[Estimate | InputError]:
    """Return `make_unfit_estimate` of many requests, or their errors."""
    needs = find_smallest_counts(
        [
            (table.find_space(each_request.with_open_plan()), each_request.workload.request_tokens)
            for each_request, _ in questions
        ]
    )
    answers: list[Estimate | InputError] = []
    for (request, space), count in zip(questions, needs, strict=True):
        try:
            answers.append(_make_unfit_estimate(request, space, count))
        except InputError as error:
            answers.append(error.detach())
    return answers


def _make_unfit_estimate(request: EstimateRequest, space: SearchSpace, needs: int | None) -> Estimate:
    tokens = request.workload.request_tokens
    # The plan that comes closest to holding `tokens`.
    memory_plans = [memory for count in space.counts for memory in space.list_memory_plans(count)]
    if not memory_plans:
        raise InputError(describe_no_plan(request, space.configuration, request.count or space.counts[-1]), "count")
    nearest = max(memory_plans, key=lambda memory: memory.budget.headroom_bytes(tokens))
    budget = nearest.budget
    return Estimate(
        request=request,
        fits=False,
        serving_engine=space.configuration.engine.id,
        plan=nearest.plan,
        count=nearest.plan.count,
        memory=budget.compute_use(1, budget.cache.sequence_bytes(tokens)),
        max_concurrency=0,
        limiter=Limiter.CAPACITY,
        basis=space.basis,
        reason=explain_unfit(request, space.configuration, nearest, tokens),
        needs=needs,
        notes=space.configuration.notes,
        user_model=space.configuration.model.own,
    )


#: Value, low and high, each an array; NaN if the figure has no meaning.
IntervalArrays = tuple[Array, Array, Array]


@frozen_dataclass
class FigureIntervals:
    """The figures of an `Estimate` as arrays, by their names there."""

    output_tokens_per_s: IntervalArrays
    total_tokens_per_s: IntervalArrays
    output_tokens_per_s_per_accelerator: IntervalArrays
    ttft_ms: IntervalArrays
    tpot_ms: IntervalArrays
    request_s: IntervalArrays
    batch_s: IntervalArrays


def compute_figure_intervals(
    results: ServingResults,
    arrays: CaseArrays,
    chosen: NDArray[np.intp] | slice,
    ideal: CoefficientColumns,
    factors: Array,
) -> FigureIntervals:
    """Return the figures of the selected cases with their intervals.

    `ideal` are the coefficients of the selected cases without any loss; `factors` has the shape (cases, 6): low and
    high factor of throughput, TTFT and TPOT.
    """
    requests, loads = arrays.requests.select(chosen), arrays.loads.select(chosen)
    bound = compute_bounds(ideal, requests, np.maximum(results.running[chosen], 1.0))
    admitted = results.admitted[chosen]
    active = np.minimum(loads.replicas, np.maximum(np.nan_to_num(admitted, nan=1.0), 1.0))
    whole = PhysicalBounds(bound.rate * active, bound.tpot, bound.ttft)
    reached = results.rate[chosen], results.ttft[chosen], results.tpot[chosen]
    return bound_intervals(whole, reached, requests, loads, arrays.counts[chosen], factors)


def bound_intervals(
    bound: PhysicalBounds,
    reached: tuple[Array, Array, Array],
    requests: ReplicaRequests,
    loads: DeploymentLoads,
    counts: Array,
    factors: Array,
) -> FigureIntervals:
    """Return the figures with intervals within the physical bounds of the whole deployments.

    They have `reached` requests/s, seconds of TTFT, and seconds of TPOT.
    """
    # An open loop is never answered faster than requests arrive.
    requested = np.where(loads.kind == LOAD_CODES[LoadKind.REQUEST_RATE], loads.amount, np.inf)
    rate = _bound_rate(reached[0], np.minimum(bound.rate, requested), factors[:, 0], factors[:, 1])
    output = _scale_interval(rate, requests.output)
    ttft = _bound_time(reached[1], bound.ttft, factors[:, 2], factors[:, 3])
    tpot = _bound_time(reached[2], bound.tpot, factors[:, 4], factors[:, 5])
    gaps = np.maximum(requests.output - 1.0, 0.0)
    value, low, high = (first + np.where(gaps > 0, gaps * each, 0.0) for first, each in zip(ttft, tpot, strict=True))
    is_batch = loads.kind == LOAD_CODES[LoadKind.BATCH]
    size = np.where(is_batch, loads.amount, np.nan)
    return FigureIntervals(
        output_tokens_per_s=output,
        total_tokens_per_s=_scale_interval(output, (requests.held_prompt + requests.output) / requests.output),
        output_tokens_per_s_per_accelerator=_scale_interval(output, 1.0 / counts),
        ttft_ms=_scale_interval(ttft, 1e3),
        tpot_ms=_scale_interval(tpot, 1e3),
        request_s=(value, low, high),
        batch_s=(size / rate[0], size / rate[2], size / rate[1]),
    )


def iterate_figures(results: ServingResults, chosen: NDArray[np.intp], bands: FigureIntervals) -> Iterator[CaseFigures]:
    """Yield the selected cases one by one, each with its figures, which `bands` has in the same order."""
    yield from map(
        CaseFigures,
        list_whole(results.concurrency[chosen]),
        list_whole(results.admitted[chosen]),
        results.limiter[chosen].tolist(),
        *(_list_intervals(getattr(bands, field.name)) for field in fields(FigureIntervals)),
        results.stable[chosen].tolist(),
    )


def _bound_rate(value: Array, bound: Array, low: Array, high: Array) -> IntervalArrays:
    """Interval of a rate: value and ends stay below the bound."""
    value = np.where(value > 0, np.minimum(value, bound), np.nan)
    return value, value * low, np.maximum(value, np.minimum(value * high, bound))


def _bound_time(value: Array, bound: Array, low: Array, high: Array) -> IntervalArrays:
    """Interval of a time: value and ends stay above the bound."""
    value = np.where(value > 0, np.maximum(value, bound), np.nan)
    return value, np.minimum(value, np.maximum(value * low, bound)), value * high


def _scale_interval(figure: IntervalArrays, factor: Array | float) -> IntervalArrays:
    return figure[0] * factor, figure[1] * factor, figure[2] * factor


def _list_intervals(figure: IntervalArrays) -> list[IntervalEstimate | None]:
    finite = (np.isfinite(figure[0]) & np.isfinite(figure[1]) & np.isfinite(figure[2])).tolist()
    # Hundreds of thousands are made at once, and the named constructor is several times slower.
    new = tuple.__new__
    rows = zip(figure[0].tolist(), figure[1].tolist(), figure[2].tolist(), strict=True)
    return [new(IntervalEstimate, row) if is_finite else None for row, is_finite in zip(rows, finite, strict=True)]


def list_whole(values: Array) -> list[int | None]:
    """Return rounded values of 0 or more; None for NaN."""
    return [None if value != value else max(0, round(value)) for value in values.tolist()]


@frozen_dataclass
class ChosenCases:
    """The case that answers each question, as an index into `results` and into the plans that fit."""

    results: ServingResults
    cases: NDArray[np.intp]
    places: list[int]
    intervals: FigureIntervals

    def iterate_figures(self) -> Iterator[CaseFigures]:
        return iterate_figures(self.results, self.cases, self.intervals)


class CaseList:
    """Collects the cases of many questions: every question has one case per plan that fits."""

    def __init__(self, table: SearchSpaceTable) -> None:
        self._table = table
        self._fittings: list[FittingPlans] = []
        self._plan_counts: list[int] = []
        self._per_request: list[tuple[float, ...]] = []

    def __len__(self) -> int:
        return len(self._fittings)

    def add(self, fitting: FittingPlans, workload: tuple[float, ...]) -> None:
        """Add a question with its candidate plans and its `make_workload_values`."""
        self._fittings.append(fitting)
        self._plan_counts.append(len(fitting.positions))
        self._per_request.append(workload)

    def arrays(self) -> CaseArrays:
        lengths = self._plan_counts
        counts = np.repeat(np.array([each.accelerators for each in self._fittings], dtype=np.float64), lengths)
        columns = (
            [position for each in self._fittings for position in each.positions],
            [capacity for each in self._fittings for capacity in each.capacity],
            [replicas for each in self._fittings for replicas in each.replicas],
        )
        return make_case_arrays(self._table.coefficients, self._per_request, lengths, *columns, counts)

    def _list_starts(self) -> NDArray[np.intp]:
        return np.concatenate(([0], np.cumsum(self._plan_counts)[:-1])).astype(np.intp)

    def find_winners(
        self, results: ServingResults, arrays: CaseArrays, constants: SchedulingConstants
    ) -> NDArray[np.intp]:
        """Return the winning case of every question: the plan with the highest output rate.

        Among plans within 0.1% of each other the one with the lower TPOT wins, then the simpler one; if none meets the
        limits of the load, the closest.
        """
        starts = self._list_starts()
        score = score_plans(arrays.rows, arrays.requests, arrays.loads, results, constants)
        peak = np.repeat(np.maximum.reduceat(score, starts), self._plan_counts)
        highest = np.flatnonzero(score >= peak)
        return highest[np.searchsorted(highest, starts)]

    def list_deployments(self, cases: NDArray[np.intp]) -> list[ResolvedDeployment]:
        places = (cases - self._list_starts()).tolist()
        return [fitting.deployments[place] for fitting, place in zip(self._fittings, places, strict=True)]

    def choose(self, factors: Sequence[tuple[float, ...]], constants: SchedulingConstants) -> ChosenCases:
        """Serve all cases and select one per question; `factors` are the interval factors of each."""
        arrays = self.arrays()
        results = serve_loads(arrays.rows, arrays.requests, arrays.loads, constants)
        cases = self.find_winners(results, arrays, constants)
        ideal = self._table.coefficients.take_ideal(self.list_deployments(cases))
        intervals = compute_figure_intervals(results, arrays, cases, ideal, np.array(factors))
        return ChosenCases(results, cases, (cases - self._list_starts()).tolist(), intervals)
