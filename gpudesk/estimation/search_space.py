"""Search spaces of requests and their deployments, computed once, with the table of step coefficients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from threading import Lock
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import EstimateBasis, EstimateRequest, LoadKind, ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.engine.calibration import NO_KEYS, Calibration, find_basis, find_interval
from gpudesk.engine.memory import MemoryPlan, ResolvedDeployment, ServingConfiguration
from gpudesk.engine.rates import StepModel, compute_single_step_model, compute_step_model
from gpudesk.engine.step_work import has_experts
from gpudesk.engine.steps import COEFFICIENT_NAMES, CoefficientColumns, SingleCoefficients, stack_coefficients
from gpudesk.estimation.deployment import (
    MemoryPlanCache,
    check_peaks,
    check_plan,
    compute_weights_bytes,
    configure_serving,
    describe_no_plan,
    list_counts,
    make_plan_notes,
    prepare_plans,
)
from gpudesk.text.messages import InputError, Message


class CoefficientTable:
    """Step coefficients of deployments in order of addition, and those without any loss.

    All new deployments are computed at once on demand. Jobs on other threads can add deployments meanwhile.
    """

    def __init__(self, calibration: Calibration) -> None:
        self.calibration = calibration
        self.node_bandwidth = calibration.value("node_bandwidth", NO_KEYS)
        #: Plans and lengths cached by all search spaces of this table.
        self.plan_count = 0
        self._coefficients = np.empty((len(COEFFICIENT_NAMES), 64))
        self._ideal = np.empty((len(COEFFICIENT_NAMES), 64))
        self._count = 0
        self._pending: list[ResolvedDeployment] = []
        self._lock = Lock()

    def __len__(self) -> int:
        return self._count + len(self._pending)

    def add(self, configuration: ServingConfiguration, memory: MemoryPlan) -> ResolvedDeployment:
        """Return the deployment of a plan, with its position in this table."""
        with self._lock:
            deployment = ResolvedDeployment(configuration, memory, len(self))
            self._pending.append(deployment)
            return deployment

    def take(self, positions: NDArray[np.intp]) -> CoefficientColumns:
        """Return the coefficients at `positions`, one per case."""
        self._compute_pending()
        return CoefficientColumns(self._coefficients, positions)

    def take_one(self, position: int) -> SingleCoefficients:
        self._compute_pending()
        return SingleCoefficients(self._coefficients, position)

    def take_ideal(self, deployments: Sequence[ResolvedDeployment]) -> CoefficientColumns:
        """Return the coefficients of the deployments without any loss."""
        self._compute_pending()
        return CoefficientColumns(self._ideal, np.array([each.position for each in deployments], dtype=np.intp))

    def take_one_ideal(self, deployment: ResolvedDeployment) -> SingleCoefficients:
        """Return the same of one deployment, for cases of any shape."""
        self._compute_pending()
        return SingleCoefficients(self._ideal, deployment.position)

    def _compute_pending(self) -> None:
        if not self._pending:
            return
        with self._lock:
            added = len(self._pending)
            if not added:
                return
            steps = compute_step_model(self._pending, self.calibration)
            size = self._coefficients.shape[1]
            while self._count + added > size:
                size *= 2
            self._coefficients = self._extend(self._coefficients, size, stack_coefficients(steps.coefficients, added))
            self._ideal = self._extend(self._ideal, size, stack_coefficients(steps.ideal, added))
            self._count += added
            self._pending = []

    def _extend(self, table: NDArray[np.float64], size: int, columns: NDArray[np.float64]) -> NDArray[np.float64]:
        if size > table.shape[1]:
            table = np.concatenate((table, np.empty((len(table), size - table.shape[1]))), axis=1)
        table[:, self._count : self._count + columns.shape[1]] = columns
        return table


class IntervalFactorsByLoad(dict[LoadKind, tuple[float, ...]]):
    """Low and high factors of throughput, TTFT and TPOT by load, each computed on first use."""

    def __init__(self, calibration: Calibration, basis: EstimateBasis, keys: Mapping[str, str], years: float) -> None:
        """Use the keys of `find_interval` but the load, and the age of the newest measurements."""
        super().__init__()
        self._calibration = calibration
        self._basis = basis
        self._keys = keys
        self._years = years

    def __missing__(self, kind: LoadKind) -> tuple[float, ...]:
        keys = {**self._keys, "load": str(kind)}
        intervals = [find_interval(self._calibration, each, self._basis, keys) for each in _INTERVAL_FIGURES]
        factors = self[kind] = tuple(factor for each in intervals for factor in each.widen_by_years(self._years))
        return factors


_INTERVAL_FIGURES: Final = ("throughput", "ttft", "tpot")

#: Lengths of requests, by deployment size, for which a search space caches the fitting plans.
MOST_LENGTHS: Final = 4096
#: Plans and lengths cached by a table before a new one replaces it, of about 1.5 kB each. A scenario needs up to a
#: thousand; with more, garbage collection would stall the window.
MOST_KEPT_PLANS: Final = 2_000


class FittingPlans(NamedTuple):
    """The deployments of `accelerators` that hold a request of some length, and matching columns for arrays.

    `capacity` is sequences of one replica, `sequences` those that the memory of the whole deployment holds, `admitted`
    those that the serving engine admits; `sequence_bytes` are those of one request on a rank.
    """

    accelerators: int
    deployments: tuple[ResolvedDeployment, ...]
    positions: tuple[int, ...]
    capacity: tuple[float, ...]
    replicas: tuple[float, ...]
    sequences: tuple[int, ...]
    admitted: tuple[int, ...]
    sequence_bytes: tuple[int, ...]


@dataclass(slots=True)
class SearchSpace:
    """The possible deployments of a request, for any lengths and load; computed on demand.

    `coefficients` are shared by all spaces of a table. `request` is the first with these settings: its lengths and load
    do not matter. `counts` are the deployment sizes to try, smallest first. `interval_factors` are low and high factors
    of throughput, TTFT and TPOT by load.
    """

    coefficients: CoefficientTable
    request: EstimateRequest
    configuration: ServingConfiguration
    counts: tuple[int, ...]
    basis: EstimateBasis
    interval_factors: Mapping[LoadKind, tuple[float, ...]]
    _memory: MemoryPlanCache = field(init=False)
    _candidates: list[ParallelPlan] = field(default_factory=list)
    _counts_listed: int = 0
    #: Held while candidates are added, which jobs on other threads read.
    _listing: Lock = field(default_factory=Lock)
    _plans_of_count: dict[int, tuple[MemoryPlan, ...]] = field(default_factory=dict)
    _deployments: dict[ParallelPlan, ResolvedDeployment] = field(default_factory=dict)
    _fitting: dict[tuple[int, int], FittingPlans | None] = field(default_factory=dict)
    _plan_notes: dict[int, tuple[Message, ...]] = field(default_factory=dict)
    _step_models: dict[int, StepModel] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._memory = MemoryPlanCache(self.request, self.configuration)

    def list_memory_plans(self, count: int) -> tuple[MemoryPlan, ...]:
        """Return the plans of `count` accelerators, fitting or not; raises InputError if a fixed count has none."""
        plans = self._plans_of_count.get(count)
        if plans is None:
            listed = self._memory.list_plans(count)
            if len(listed) > 1:
                prepare_plans((self.configuration, plan) for plan in listed)
            memory_plans = [self._memory.find(plan) for plan in listed]
            plans = tuple([memory for memory in memory_plans if memory is not None])
            self.coefficients.plan_count += len(plans)
            if not plans and self.request.count is not None:
                raise InputError(describe_no_plan(self.request, self.configuration, count), "count")
            self._plans_of_count[count] = plans
        return plans

    def list_smallest_plans(self) -> tuple[ParallelPlan, ...]:
        """Return the plans of the smallest count, with or without the serving engine's checks."""
        return self._memory.list_plans(self.counts[0])

    def resolve(self, memory: MemoryPlan) -> ResolvedDeployment:
        deployment = self._deployments.get(memory.plan)
        if deployment is None:
            deployment = self._deployments[memory.plan] = self.coefficients.add(self.configuration, memory)
        return deployment

    def find_smallest_fitting(self, tokens: int) -> FittingPlans | None:
        """Return the plans of the smallest deployment that holds `tokens` once; None without one."""
        for count in self.counts:
            fitting = self.find_fitting(count, tokens)
            if fitting is not None:
                return fitting
        return None

    def find_fitting(self, count: int, tokens: int) -> FittingPlans | None:
        """Return the plans of `count` accelerators that hold `tokens` once; None without one."""
        key = count, tokens
        # Not cleared when full but replaced: calls on other threads may be about to read it.
        known = self._fitting
        if key not in known:
            if len(known) >= MOST_LENGTHS:
                known = self._fitting = {}
            known[key] = self._make_fitting(count, tokens)
            self.coefficients.plan_count += 1
        return known[key]

    def _make_fitting(self, count: int, tokens: int) -> FittingPlans | None:
        fitting = []
        for memory in self.list_memory_plans(count):
            budget = memory.budget
            size = budget.cache.sequence_bytes(tokens)
            sequences = budget.count_sequences(size)
            if sequences >= 1:
                deployment, admitted = self.resolve(memory), budget.limit_admitted(sequences, size)
                capacity, replicas = memory.compute_capacity(admitted), float(memory.plan.dp)
                fitting.append((deployment, deployment.position, capacity, replicas, sequences, admitted, size))
        return FittingPlans(count, *zip(*fitting, strict=True)) if fitting else None

    def find_smallest_count(self, tokens: int) -> int | None:
        """Return the smallest deployment that holds `tokens` once, without timing its plans; None without one."""
        return find_smallest_counts([(self, tokens)])[0]

    def find_candidate(self, place: int) -> ParallelPlan | None:
        """Return the plan at index `place` of those to try for the smallest count, smallest first; None past the last.

        Each has other replicas than those before, which could hold the weights.
        """
        if place >= len(self._candidates):
            with self._listing:
                self._list_candidates(place)
        return self._candidates[place] if place < len(self._candidates) else None

    def _list_candidates(self, place: int) -> None:
        memory_bytes = self.configuration.accelerator.memory_bytes
        while place >= len(self._candidates) and self._counts_listed < len(self.counts):
            weights = compute_weights_bytes(self.configuration)
            known_shapes = {plan.replica_shape for plan in self._candidates}
            plans = self._memory.list_plans(self.counts[self._counts_listed])
            self._counts_listed += 1
            new = [
                plan
                # Wide plans, which are last in the list, hold most.
                for plan in reversed(plans)
                # The ranks that share the weights hold at least all of them.
                if weights < memory_bytes * (plan.count if plan.ep > plan.tp else plan.replica)
                and plan.replica_shape not in known_shapes
            ]
            self._candidates += new
            self.coefficients.plan_count += len(new)

    def holds(self, plan: ParallelPlan, tokens: int) -> bool:
        """Whether a plan holds `tokens` once and the serving engine accepts it."""
        memory = self._memory.find_alike(plan)
        return memory is not None and memory.budget.max_sequences(tokens) >= 1

    def compute_room(self, count: int, tokens: int) -> float:
        """Return the most sequences of `tokens` that a plan of `count` accelerators runs at once."""
        fitting = self._fitting.get((count, tokens))
        if fitting is not None:
            return max(each * copies for each, copies in zip(fitting.capacity, fitting.replicas, strict=True))
        plans = self.list_memory_plans(count)
        return max((each.compute_capacity_for(tokens) * each.plan.dp for each in plans), default=0.0)

    def list_plan_notes(self, deployment: ResolvedDeployment) -> tuple[Message, ...]:
        notes = self._plan_notes.get(deployment.position)
        if notes is None:
            notes = make_plan_notes(deployment, self.coefficients.node_bandwidth)
            self._plan_notes[deployment.position] = notes
        return notes

    def make_step_model(self, deployment: ResolvedDeployment) -> StepModel:
        """Return the step model of a deployment, as plain numbers: the same while a load is dragged."""
        model = self._step_models.get(deployment.position)
        if model is None:
            model = compute_single_step_model(deployment, self.coefficients.calibration)
            self._step_models[deployment.position] = model
        return model


def find_smallest_counts(searches: Sequence[tuple[SearchSpace, int]]) -> list[int | None]:
    """Return for each space the smallest deployment that holds that many tokens once; None without one.

    All searches try a plan at a time, so that the weights of these plans are divided at once.
    """
    counts: list[int | None] = [None] * len(searches)
    left = dict(enumerate(searches))
    place = 0
    while left:
        plans = {each: plan for each, (space, _) in left.items() if (plan := space.find_candidate(place)) is not None}
        prepare_plans((left[each][0].configuration, plan) for each, plan in plans.items())
        for each, plan in plans.items():
            space, tokens = left[each]
            if space.holds(plan, tokens):
                counts[each] = plan.count
        left = {each: left[each] for each in plans if counts[each] is None}
        place += 1
    return counts


#: The key of a configuration, besides its formats, and the degrees that the user fixed.
_get_settings: Final = attrgetter(
    "accelerator",
    "model",
    "weights",
    "kv",
    "serving_engine",
    "date",
    "memory_fraction",
    "max_batch",
    "max_batched_tokens",
    "workload.eager",
    "workload.behind_server",
    "workload.acceptance_length",
)
_get_degrees: Final = attrgetter("count", "tp", "pp", "ep", "dp", "attention_dp")


class SearchSpaceTable:
    """All search spaces so far, and the table of their step coefficients. It only grows, so positions stay valid."""

    def __init__(self, catalog: Catalog, calibration: Calibration) -> None:
        self._catalog = catalog
        self.calibration = calibration
        self._engines = catalog.serving_engines()
        self._configurations: dict[tuple[object, ...], ServingConfiguration] = {}
        self._intervals: dict[tuple[object, ...], tuple[EstimateBasis, Mapping[LoadKind, tuple[float, ...]]]] = {}
        self._spaces: dict[tuple[object, ...], SearchSpace] = {}
        self.coefficients = CoefficientTable(calibration)

    @property
    def plan_count(self) -> int:
        """The number of cached plans and lengths, from which on the owner replaces the table."""
        return self.coefficients.plan_count

    def find_space(self, request: EstimateRequest) -> SearchSpace:
        """Return the search space of a request; raises InputError if nothing runs it or the plan is impossible."""
        settings = _get_settings(request)
        key = settings, _get_degrees(request)
        space = self._spaces.get(key)
        if space is None:
            configuration = self._configurations.get(settings)
            if configuration is None:
                accelerator, model = self.find_facts(request)
                configuration = configure_serving(request, accelerator, model, self._engines, self.calibration)
                check_peaks(configuration)
                self._configurations[settings] = configuration
            check_plan(request, configuration)
            counts = list_counts(request, configuration)
            space = SearchSpace(self.coefficients, request, configuration, counts, *self._find_intervals(configuration))
            self._spaces[key] = space
        return space

    def _find_intervals(
        self, configuration: ServingConfiguration
    ) -> tuple[EstimateBasis, Mapping[LoadKind, tuple[float, ...]]]:
        generation, family = configuration.accelerator.generation, configuration.engine.family
        experts = "yes" if has_experts(configuration.model) else "no"
        generic = configuration.model.generic_architecture is not None
        key = generation, family, experts, configuration.weights, configuration.months_newer, generic
        intervals = self._intervals.get(key)
        if intervals is None:
            # No published row was measured on an unknown architecture.
            own_basis = find_basis(self.calibration, generation, family)
            basis = EstimateBasis.UNCALIBRATED if generic else own_basis
            keys = {
                "generation": generation,
                "serving_engine": family,
                "experts": experts,
                "weights": str(configuration.weights),
            }
            factors = IntervalFactorsByLoad(self.calibration, basis, keys, configuration.months_newer / 12.0)
            intervals = self._intervals[key] = basis, factors
        return intervals

    def find_facts(self, request: EstimateRequest) -> tuple[Accelerator, Model]:
        """Return accelerator and model of a request; raises InputError for unknown ids."""
        return self._catalog.accelerator(request.accelerator), self._catalog.model(request.model)
