"""Which accelerators hold which models, and how many of each: all pairs at once.

Memory is the estimator's, to the byte, without timing. The readings of a memory label are for checking published
counts; estimates never use them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from threading import Lock
from typing import TYPE_CHECKING, Final

from gpudesk.domain.accelerator import Accelerator, resolve_fp4
from gpudesk.domain.estimate import EstimateRequest, Load, LoadKind, ParallelPlan, Workload
from gpudesk.domain.model import Model
from gpudesk.domain.precision import STORAGE_FORMATS, Precision
from gpudesk.domain.sizing import CapacityReadingId, FitCell, FitMatrix, FitQuestion
from gpudesk.engine.calibration import Calibration
from gpudesk.engine.memory import (
    CAPACITY_READINGS,
    CapacityReading,
    MemoryPlan,
    ServingConfiguration,
    compute_cache_profile,
)
from gpudesk.engine.sharding import shard_model
from gpudesk.engine.tensors import count_parameters
from gpudesk.estimation.deployment import (
    MemoryPlanCache,
    configure_serving,
    describe_no_plan,
    list_counts,
    make_memory_plan,
)
from gpudesk.estimation.evaluation import explain_unfit
from gpudesk.estimation.sizing.minimum import describe_too_large_load
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, input_error, message

if TYPE_CHECKING:
    from gpudesk.catalog.read import Catalog


#: Plans of one size in order of preference: one replica before copies, tensor parallelism before pipeline stages,
#: features of all serving engines before expert parallelism and attention-DP.
_PLAIN_FIRST: Final = attrgetter("dp", "pp", "attention_dp", "ep")


@frozen_dataclass
class LadderStep:
    """A deployment that holds the request, and the free usable memory of its most loaded accelerator."""

    memory: MemoryPlan
    headroom_bytes: int

    @property
    def usable_bytes(self) -> int:
        budget = self.memory.budget
        return budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes + budget.pool_bytes

    def find_longest_context(self, limit: int) -> int:
        """Return the longest sequence in tokens that the deployment holds, at most `limit`."""
        low, high = 0, limit
        while low < high:
            middle = (low + high + 1) // 2
            if self.memory.budget.max_sequences(middle) >= 1:
                low = middle
            else:
                high = middle - 1
        return low


@dataclass(slots=True)
class DeploymentLadder:
    """The plans of one accelerator and model by deployment size; `sizes` are those to try."""

    request: EstimateRequest
    configuration: ServingConfiguration
    sizes: tuple[int, ...]
    _memory: MemoryPlanCache = field(init=False)
    _plans: dict[int, list[ParallelPlan]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._memory = MemoryPlanCache(self.request, self.configuration)

    def lowest(self, tokens: int, concurrency: int, most: float = math.inf) -> LadderStep | None:
        """Return the smallest deployment that runs this many sequences of `tokens` at once; None without one.

        Also None if that needs more than `most` accelerators. Of the plans of that size it is the simplest.
        """
        configuration = self.configuration
        memory_bytes = configuration.accelerator.memory_bytes
        weights_bytes = shard_model(configuration.model, configuration.weights, ParallelPlan()).resident_bytes
        # However divided, weights and cache need at least their size on one accelerator.
        least = weights_bytes + concurrency * self._count_sequence_bytes(ParallelPlan(), tokens)
        for size in self.sizes:
            if size > most:
                return None
            if size * memory_bytes < least:
                continue
            for plan in self._list_plans(size):
                if configuration.settings.max_batch * plan.dp * (plan.tp if plan.attention_dp else 1) < concurrency:
                    continue
                each = self._count_sequence_bytes(plan, tokens)
                if weights_bytes / (plan.pp * math.lcm(plan.tp, plan.ep)) + each > memory_bytes:
                    continue
                alike = self._memory.find_alike(plan)
                if alike is None or alike.budget.count_sequences(each) < 1:
                    continue
                memory = alike.with_replicas(plan)
                budget = memory.budget
                if budget.count_sequences(each) < concurrency:
                    continue
                if memory.compute_capacity(budget.count_admitted(each)) * plan.dp >= concurrency:
                    ranks = budget.attention_ranks * budget.replicas
                    return LadderStep(memory, budget.pool_bytes - -(-concurrency // ranks) * each)
        return None

    def reason(self, tokens: int, concurrency: int) -> Message:
        """Return why no tried deployment has enough memory."""
        nearest = self._find_nearest(tokens)
        if nearest is None:
            return describe_no_plan(self.request, self.configuration, self.sizes[-1])
        if nearest.budget.max_sequences(tokens):
            return describe_too_large_load(concurrency, self.sizes[-1], self.configuration.accelerator.name)
        return explain_unfit(self.request, self.configuration, nearest, tokens)

    def count_missing_bytes(self, tokens: int) -> int:
        """Return the missing bytes of one accelerator for a sequence of `tokens`; 0 if it fits."""
        memory = make_memory_plan(self.request, self.configuration, ParallelPlan())
        return max(0, -memory.budget.headroom_bytes(tokens))

    def _find_nearest(self, tokens: int) -> MemoryPlan | None:
        """Return the plan with the most free or least missing memory for a sequence; ties go to the first."""
        # Copies of a replica have the same free memory.
        plans: dict[tuple[int, int, int, bool], ParallelPlan] = {}
        for plan in (plan for size in self.sizes for plan in self._list_plans(size)):
            plans.setdefault(plan.replica_shape, plan)
        needs = [(self._count_sequence_bytes(plan, tokens), place, plan) for place, plan in enumerate(plans.values())]
        nearest: tuple[int, int, MemoryPlan] | None = None
        for each, place, plan in sorted(needs, key=itemgetter(0)):
            if nearest is not None and self.configuration.accelerator.memory_bytes - each < nearest[0]:
                break
            memory = self._memory.find(plan)
            if memory is not None:
                candidate = memory.budget.headroom_bytes(tokens), -place, memory
                nearest = candidate if nearest is None else max(nearest, candidate, key=itemgetter(0, 1))
        return None if nearest is None else nearest[2]

    def _count_sequence_bytes(self, plan: ParallelPlan, tokens: int) -> int:
        configuration = self.configuration
        return compute_cache_profile(
            configuration.model, configuration.kv, plan, configuration.settings.holding
        ).sequence_bytes(tokens)

    def _list_plans(self, size: int) -> list[ParallelPlan]:
        plans = self._plans.get(size)
        if plans is None:
            plans = self._plans[size] = sorted(self._memory.list_plans(size), key=_PLAIN_FIRST)
        return plans


#: Cached pairs of an accelerator and a model with their settings, of about 4 kB each: a full matrix, and a third more
#: for questions with other settings.
MOST_PAIRS: Final = 6_000
#: Those kept while no matrix is shown, for profiles.
RESTING_PAIRS: Final = 600

_PairKey = tuple[Precision, Precision, str | None, float | None, str, str]


class FitFinder:
    """Answers questions about all pairs; caches what is independent of lengths and load."""

    def __init__(self, catalog: Catalog, calibration: Calibration) -> None:
        self._engines = catalog.serving_engines()
        self._calibration = calibration
        self._ladders: dict[_PairKey, DeploymentLadder | Message] = {}
        self._lock = Lock()

    def matrix(self, question: FitQuestion, accelerators: Sequence[Accelerator], models: Sequence[Model]) -> FitMatrix:
        """Return all cells; raises `InputError` for a context or concurrency below 1."""
        rows = tuple(self.rows(question, accelerators, models))
        return FitMatrix(question, tuple(accelerators), tuple(models), rows)

    def rows(
        self, question: FitQuestion, accelerators: Sequence[Accelerator], models: Sequence[Model]
    ) -> Iterator[tuple[FitCell, ...]]:
        """Yield the cells model by model, for progress display."""
        _check_fit_question(question)
        for model in models:
            yield tuple(self._make_cell(question, part, model) for part in accelerators)

    def count_held_by_one(self, question: FitQuestion, part: Accelerator, models: Sequence[Model]) -> int:
        """Return how many of the models one accelerator holds; callers cache the count, not each ladder."""
        ladders = (self._make_ladder(question, part, model) for model in models)
        return sum(
            not isinstance(ladder, Message) and ladder.lowest(question.context, question.concurrency, 1) is not None
            for ladder in ladders
        )

    def find_ladder(self, question: FitQuestion, part: Accelerator, model: Model) -> DeploymentLadder | Message:
        """Return the plans of one pair by deployment size, or why no serving engine runs it."""
        settings = question.weights, question.kv, question.serving_engine, question.memory_fraction
        key = *settings, part.id, model.id
        ladder = self._ladders.get(key)
        if ladder is None:
            ladder = self._make_ladder(question, part, model)
            with self._lock:
                self._ladders[key] = ladder
                self._limit_pairs(MOST_PAIRS)
        return ladder

    def drop_old_pairs(self) -> None:
        """Keep only the newest `RESTING_PAIRS`, since a full matrix takes 14 MB; it is built again in half a second."""
        with self._lock:
            self._limit_pairs(RESTING_PAIRS)

    def _limit_pairs(self, most: int) -> None:
        while len(self._ladders) > most:
            del self._ladders[next(iter(self._ladders))]

    def _make_cell(self, question: FitQuestion, part: Accelerator, model: Model) -> FitCell:
        ladder = self.find_ladder(question, part, model)
        weights, kv = resolve_fp4(question.weights, part.vendor), resolve_fp4(question.kv, part.vendor)
        if isinstance(ladder, Message):
            return FitCell(part.id, model.id, weights, kv, fits=False, reason=ladder)
        engine = ladder.configuration.engine.id
        rung = ladder.lowest(question.context, question.concurrency)
        if rung is None:
            reason = ladder.reason(question.context, question.concurrency)
            return FitCell(part.id, model.id, weights, kv, fits=False, serving_engine=engine, reason=reason)
        return FitCell(
            part.id,
            model.id,
            weights,
            kv,
            fits=True,
            serving_engine=engine,
            count=rung.memory.plan.count,
            plan=rung.memory.plan,
            usable_bytes=rung.usable_bytes,
            headroom_bytes=rung.headroom_bytes,
        )

    def _make_ladder(self, question: FitQuestion, part: Accelerator, model: Model) -> DeploymentLadder | Message:
        # A request with these settings; its lengths and load are not used.
        request = EstimateRequest(
            accelerator=part.id,
            model=model.id,
            weights=question.weights,
            kv=question.kv,
            workload=_ANY_WORKLOAD,
            serving_engine=question.serving_engine,
            memory_fraction=question.memory_fraction,
        )
        try:
            configuration = configure_serving(request, part, model, self._engines, self._calibration)
            # Notes belong to estimates, and take a fifth of the time per pair.
            configuration = configuration._replace(notes=())
            return DeploymentLadder(request, configuration, list_counts(request, configuration))
        except InputError as error:
            return error.problem


_ANY_WORKLOAD: Final = Workload(1, 1, Load(LoadKind.CONCURRENCY, concurrency=1))


def _check_fit_question(question: FitQuestion) -> None:
    for name in ("context", "concurrency"):
        value = getattr(question, name)
        if value < 1:
            raise input_error(
                "fit.below_one", "{given} is below 1; use a whole number of at least 1", name, given=value
            )


#: A label as it is printed: `80 GB`, `192 GiB`, `1.5 TB`.
_LABEL: Final = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(G|T)i?B\b", re.IGNORECASE)
_UNITS: Final = {"G": 1.0, "T": 1000.0}


def compute_reading_matrix(
    reading: CapacityReadingId,
    question: FitQuestion,
    accelerators: Sequence[Accelerator],
    models: Sequence[Model],
    parameters: Mapping[str, float],
) -> FitMatrix:
    """Return the counts of a reading; of the question only the weight format matters.

    `parameters` are those of each model by its id. Cells have no plan and no serving engine; usable and free memory are
    those of one accelerator by the reading.
    """
    capacity_reading = CAPACITY_READINGS[reading]
    rows = tuple(
        tuple(
            _make_reading_cell(capacity_reading, question, part, model, parameters.get(model.id))
            for part in accelerators
        )
        for model in models
    )
    return FitMatrix(question, tuple(accelerators), tuple(models), rows)


def count_model_parameters(catalog: Catalog, models: Sequence[Model]) -> dict[str, float]:
    """Return the parameters of each model by its id: those stated, else those of its dimensions.

    A model with neither is left out.
    """
    totals: dict[str, float] = {}
    for model in models:
        claimed_total = catalog.model_values(model.id).get("total_parameters")
        if isinstance(claimed_total, int | float) and claimed_total > 0:
            totals[model.id] = claimed_total
        elif model.dimensions_known:
            totals[model.id] = count_parameters(model)
    return totals


def compute_plain_weights_bytes(parameters: float, weights: Precision, vendor: str) -> float:
    """Return parameters × bits / 8: every parameter in the format, without block scales."""
    return parameters * STORAGE_FORMATS[resolve_fp4(weights, vendor)].bits / 8


def get_memory_label(part: Accelerator) -> float | None:
    """Return the number of a memory label in its own GB or GiB; None without such a label."""
    match = _LABEL.match(part.memory_label or "")
    return float(match[1]) * _UNITS[match[2].upper()] if match else None


def _make_reading_cell(
    reading: CapacityReading, question: FitQuestion, part: Accelerator, model: Model, parameters: float | None
) -> FitCell:
    weights, kv = resolve_fp4(question.weights, part.vendor), resolve_fp4(question.kv, part.vendor)
    label = get_memory_label(part)
    if not label:
        reason = message("fit.no_label", "{accelerator} has no marketed memory capacity", accelerator=part.name)
        return FitCell(part.id, model.id, weights, kv, fits=False, reason=reason)
    if parameters is None:
        reason = message("fit.no_parameters", "the parameter count of {model} is unknown", model=model.name)
        return FitCell(part.id, model.id, weights, kv, fits=False, reason=reason)
    needed = compute_plain_weights_bytes(parameters, weights, part.vendor)
    count, usable = reading.count(needed, label), reading.usable_bytes(label)
    return FitCell(
        part.id,
        model.id,
        weights,
        kv,
        fits=True,
        count=count,
        usable_bytes=int(usable),
        headroom_bytes=int(usable - needed / count),
    )
