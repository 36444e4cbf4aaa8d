"""Search spaces of requests and the deployments in them, computed once, with the table of their step coefficients."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.estimate import EstimateBasis, EstimateRequest
from gpudesk.domain.model import Model
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.domain.workload import LoadKind
from gpudesk.engine.calibration import Calibration, find_basis, find_interval
from gpudesk.engine.deployment import MemoryPlan, ResolvedDeployment, ServingConfiguration
from gpudesk.engine.rates import compute_ideal_coefficients
from gpudesk.engine.step_work import has_experts
from gpudesk.engine.steps import (
    COEFFICIENT_NAMES,
    CoefficientColumns,
    SingleCoefficients,
    StepCoefficients,
    get_coefficients,
)
from gpudesk.estimation.deployment import (
    check_plan,
    configure_serving,
    list_counts,
    list_memory_plans,
    resolve_deployment,
)
from gpudesk.text.messages import InputError, Message, message_n


class CoefficientTable:
    """Keeps rows in the order in which they were added."""

    def __init__(self) -> None:
        self._data = np.empty((len(COEFFICIENT_NAMES), 64))
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, row: StepCoefficients) -> int:
        if self._count == self._data.shape[1]:
            self._data = np.concatenate((self._data, np.empty_like(self._data)), axis=1)
        self._data[:, self._count] = get_coefficients(row)
        self._count += 1
        return self._count - 1

    def take(self, positions: NDArray[np.intp]) -> CoefficientColumns:
        """Return the rows at `positions`, one for each case."""
        return CoefficientColumns(self._data, positions)

    def one(self, position: int) -> SingleCoefficients:
        return SingleCoefficients(self._data, position)


#: Lengths of requests, by deployment size, that a setup remembers the fitting plans of.
MOST_LENGTHS = 4096
#: Plans and lengths that are remembered of all setups together, of about 1.5 kB each. A scenario takes one
#: or two thousand; more would make the interpreter's search for unreachable objects stop the window.
MOST_KEPT_PLANS = 10_000


@dataclass(frozen=True, slots=True)
class FittingPlans:
    """The plans of one deployment size that hold a request of some length: columns for the arrays."""

    count: int
    chosen: tuple[ResolvedDeployment, ...]
    rows: tuple[int, ...]
    capacity: tuple[float, ...]
    replicas: tuple[float, ...]
    sequences: tuple[int, ...]
    sequence_bytes: tuple[int, ...]


@dataclass(slots=True)
class SearchSpace:
    """What has been worked out for one part, model and settings.

    `factors` are those of the bands by load: low and high of throughput, TTFT and TPOT.
    """

    frame: ServingConfiguration
    counts: tuple[int, ...]
    basis: EstimateBasis
    factors: Mapping[LoadKind, tuple[float, ...]]
    placements: dict[int, tuple[MemoryPlan, ...]] = field(default_factory=dict)
    candidates: dict[ParallelPlan, ResolvedDeployment] = field(default_factory=dict)
    options: dict[tuple[int, int], FittingPlans | None] = field(default_factory=dict)


class SearchSpaceTable:
    """All setups asked for so far, and the table of their step rows."""

    def __init__(self, catalog: EstimatorCatalog, calibration: Calibration) -> None:
        self._catalog = catalog
        self.calibration = calibration
        self._engines = catalog.serving_engines()
        self._bands: dict[tuple[str | float, ...], Mapping[LoadKind, tuple[float, ...]]] = {}
        #: How much is remembered.
        self.most_kept = MOST_KEPT_PLANS
        self._empty()

    def _empty(self) -> None:
        self._setups: dict[tuple[object, ...], SearchSpace] = {}
        self.rows = CoefficientTable()
        self._ideal = CoefficientTable()
        self._ideal_of: dict[int, int] = {}
        self._kept = 0

    @property
    def full(self) -> bool:
        return self._kept >= self.most_kept

    def make_room(self) -> bool:
        """Forget everything where too much has been worked out; return whether that was done.

        Rows have other positions afterwards, so this is for the time between two calls.
        """
        if not self.full:
            return False
        self._empty()
        return True

    def setup(self, request: EstimateRequest) -> SearchSpace:
        """Return the setup of a question; raises InputError where nothing runs it or the plan cannot be."""
        work = request.workload
        key = (
            request.accelerator,
            request.model,
            request.weights,
            request.kv,
            request.serving_engine,
            request.date,
            request.count,
            request.tp,
            request.pp,
            request.ep,
            request.dp,
            request.attention_dp,
            request.memory_fraction,
            request.max_batch,
            request.max_batched_tokens,
            work.eager,
            work.behind_server,
            work.acceptance_length,
        )
        found = self._setups.get(key)
        if found is None:
            found = self._setups[key] = self._make(request)
        return found

    def _make(self, request: EstimateRequest) -> SearchSpace:
        accelerator, model = self.facts(request)
        made = configure_serving(request, accelerator, model, self._engines, self.calibration)
        check_plan(request, made)
        rests_on = find_basis(self.calibration, accelerator.generation, made.engine.family)
        return SearchSpace(made, list_counts(request, made), rests_on, self._factors(made, rests_on))

    def _factors(self, made: ServingConfiguration, rests_on: EstimateBasis) -> Mapping[LoadKind, tuple[float, ...]]:
        key = (
            made.accelerator.generation,
            made.engine.family,
            "yes" if has_experts(made.model) else "no",
            str(made.weights),
            rests_on,
            made.months_newer,
        )
        if key not in self._bands:
            names = ("generation", "serving_engine", "experts", "weights")
            fixed = {name: str(value) for name, value in zip(names, key, strict=False)}
            self._bands[key] = {
                kind: tuple(
                    factor
                    for figure in ("throughput", "ttft", "tpot")
                    for factor in find_interval(
                        self.calibration, figure, rests_on, {**fixed, "load": str(kind)}
                    ).widened(made.months_newer / 12.0)
                )
                for kind in LoadKind
            }
        return self._bands[key]

    def facts(self, request: EstimateRequest) -> tuple[Accelerator, Model]:
        """Return part and model of a question; raises InputError for ids that there are not."""
        return self._catalog.accelerator(request.accelerator), self._catalog.model(request.model)

    def options(self, request: EstimateRequest, setup: SearchSpace, tokens: int) -> FittingPlans | None:
        """Return the plans of the smallest deployment that hold `tokens` once; None where none does."""
        for count in setup.counts:
            found = self.options_of(request, setup, count, tokens)
            if found is not None:
                return found
        return None

    def needs(self, request: EstimateRequest, setup: SearchSpace, tokens: int) -> int | None:
        """Return the smallest deployment that holds `tokens` once, its plans not timed; None without one."""
        for count in setup.counts:
            placed = self.placements(request, setup, count)
            if any(p.budget.held(p.budget.cache.sequence_bytes(tokens)) >= 1 for p in placed):
                return count
        return None

    def placements(self, request: EstimateRequest, setup: SearchSpace, count: int) -> tuple[MemoryPlan, ...]:
        """Return the plans of `count` accelerators, fitting or not; raises InputError without any."""
        if count not in setup.placements:
            made = list_memory_plans(request, setup.frame, count)
            if not made and request.count is not None:
                raise InputError(describe_no_plan(count, setup.frame.model.name), "count")
            setup.placements[count] = made
            self._kept += len(made)
        return setup.placements[count]

    def candidate(self, request: EstimateRequest, setup: SearchSpace, placed: MemoryPlan) -> ResolvedDeployment:
        """Return a placement with its step coefficients, which stand in the table of rows."""
        found = setup.candidates.get(placed.plan)
        if found is None:
            found = resolve_deployment(request, setup.frame, placed, self.calibration, len(self.rows))
            self.rows.add(found.row)
            setup.candidates[placed.plan] = found
        return found

    def options_of(self, request: EstimateRequest, setup: SearchSpace, count: int, tokens: int) -> FittingPlans | None:
        """Return the plans of `count` accelerators that hold `tokens` once; None where none does."""
        key = count, tokens
        if key in setup.options:
            return setup.options[key]
        found = self._options(request, setup, count, tokens)
        if len(setup.options) >= MOST_LENGTHS:
            setup.options.clear()
        setup.options[key] = found
        self._kept += 1
        return found

    def _options(self, request: EstimateRequest, setup: SearchSpace, count: int, tokens: int) -> FittingPlans | None:
        every = [(p, p.budget.cache.sequence_bytes(tokens)) for p in self.placements(request, setup, count)]
        placed = [(p, size, held) for p, size in every if (held := p.budget.held(size)) >= 1]
        if not placed:
            return None
        # Lists inside, since a generator costs more than the few plans that it yields.
        chosen = tuple([self.candidate(request, setup, p) for p, _, _ in placed])
        return FittingPlans(
            count=count,
            chosen=chosen,
            rows=tuple([c.position for c in chosen]),
            capacity=tuple([p.running(size) for p, size, _ in placed]),
            replicas=tuple([float(p.plan.dp) for p, _, _ in placed]),
            sequences=tuple([held for _, _, held in placed]),
            sequence_bytes=tuple([size for _, size, _ in placed]),
        )

    def room(self, request: EstimateRequest, setup: SearchSpace, count: int, tokens: int) -> float:
        """Return the most sequences of `tokens` that a plan of `count` accelerators runs at once."""
        known = setup.options.get((count, tokens))
        if known is not None:
            return max(c * r for c, r in zip(known.capacity, known.replicas, strict=True))
        placed = self.placements(request, setup, count)
        return max((p.capacity(tokens) * p.plan.dp for p in placed), default=0.0)

    def ideal(self, chosen: list[ResolvedDeployment]) -> CoefficientColumns:
        """Return the rows that the chosen candidates would have if nothing were lost."""
        return self._ideal.take(np.array([self._ideal_position(each) for each in chosen], dtype=np.intp))

    def one_ideal(self, chosen: ResolvedDeployment) -> SingleCoefficients:
        """Return the same of one candidate, for cases of any shape."""
        return self._ideal.one(self._ideal_position(chosen))

    def _ideal_position(self, chosen: ResolvedDeployment) -> int:
        position = self._ideal_of.get(chosen.position)
        if position is None:
            lookup = float(chosen.budget.shards.embedding_lookup_bytes)
            row = compute_ideal_coefficients(chosen.work, lookup, chosen.rates.expert_evenness)
            position = self._ideal_of[chosen.position] = self._ideal.add(row)
        return position


class EstimatorCatalog(Protocol):
    """What an estimator asks of the catalog; each raises InputError for an unknown id."""

    def accelerator(self, accelerator_id: str) -> Accelerator: ...

    def model(self, model_id: str) -> Model: ...

    def serving_engines(self) -> tuple[ServingEngine, ...]: ...


def describe_no_plan(count: int, model: str) -> Message:
    return message_n(
        "plan.none",
        "no parallel plan of {model} takes exactly {count} accelerator; change the count",
        "no parallel plan of {model} takes exactly {count} accelerators; change the count",
        "count",
        count=count,
        model=model,
    )
