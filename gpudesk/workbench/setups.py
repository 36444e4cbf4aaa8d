"""From a question to the deployments that could answer it: serving engine, kernels, plans, memory.

Everything here depends on the part, the model and the settings but not on the lengths or the load, so it is
worked out once and kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.models import Model
from gpudesk.domain.precision import Precision, concrete
from gpudesk.domain.serving_engines import ServingEngine
from gpudesk.engine import support
from gpudesk.engine.constants import Calibration
from gpudesk.engine.hardware import peak
from gpudesk.engine.memory import (
    MemoryBudget,
    MemorySettings,
    drawing_bytes,
    memory_budget,
    step_bytes,
)
from gpudesk.engine.plans import PlanWishes, candidate_plans, divides_heads, replica_counts
from gpudesk.engine.sharding import shard
from gpudesk.workbench.requests import check_degrees

#: Software older than this before the newest calibrated month is taken to be this old: rows reach no further.
OLDEST_MONTHS = 36
#: Below this, chunks of prefill cost more than the memory they save is worth.
LEAST_BATCHED_TOKENS = 2048
#: Nobody lowers the batch below this to save what drawing its tokens takes.
LEAST_BATCH = 64


@dataclass(frozen=True, slots=True)
class Placement:
    """One plan of a setup with its memory; `settings` are those that the memory was worked out with."""

    plan: ParallelPlan
    budget: MemoryBudget
    settings: MemorySettings

    @property
    def most_running(self) -> int:
        """Sequences that the serving engine lets one replica run at once, whatever memory holds."""
        return self.settings.max_batch * self.budget.attention_ranks

    def capacity(self, tokens: int) -> float:
        """Sequences of `tokens` that one replica runs at once, by its memory and its serving engine."""
        return self.running(self.budget.cache.sequence_bytes(tokens))

    def running(self, sequence_bytes: int) -> float:
        """Return `capacity` for sequences of so many bytes on a rank."""
        return float(min(self.budget.admitted(sequence_bytes) // self.plan.dp, self.most_running))


@dataclass(frozen=True, slots=True)
class Frame:
    """What all plans of a setup share.

    `limit_tokens` is how many tokens a step of an attention rank takes at the most where a load sets p99
    limits, see `ServingConstants`.
    """

    accelerator: Accelerator
    model: Model
    engine: ServingEngine
    kernel: support.KernelPath
    weights: Precision
    kv: Precision
    settings: MemorySettings
    mixed_steps: bool
    kv_on_demand: bool
    present_runtime: bool
    months_old: float
    months_newer: float
    limit_tokens: float
    notes: tuple[Message, ...]


def months(date: str) -> int:
    """Months since year 0 of an ISO date of at least a month."""
    return int(date[:4]) * 12 + int(date[5:7]) - 1


def frame(
    request: EstimateRequest,
    accelerator: Accelerator,
    model: Model,
    engines: tuple[ServingEngine, ...],
    calibration: Calibration,
) -> Frame:
    """Choose serving engine, kernels and settings; raises InputError where nothing runs it."""
    if not model.dimensions_known:
        raise InputError(message("model.no_dimensions", model=model.id), "model")
    weights, kv = concrete(request.weights, accelerator.vendor), concrete(request.kv, accelerator.vendor)
    engine, notes = _engine(request, accelerator, model, engines, weights, kv)
    kernel = support.kernel_path(engine, accelerator, weights, request.date)
    _check_peaks(accelerator, kernel.arithmetic)
    if kernel.path is support.Path.WEIGHT_ONLY:
        notes = (
            *notes,
            message(
                "estimate.weight_only",
                weights=str(weights),
                arithmetic=str(kernel.arithmetic),
                engine=engine.name,
            ),
        )
    date = request.date or calibration.newest_month
    age = months(calibration.newest_month) - months(date)
    if age > OLDEST_MONTHS:
        notes = (*notes, message("estimate.older_than_calibration", years=OLDEST_MONTHS // 12))
    limits = support.limits(engine, accelerator, date, request.workload.behind_server)
    fraction = request.memory_fraction
    if fraction is None:
        fraction = limits.safe_memory_fraction
        notes = (*notes, message("estimate.memory_fraction", fraction=fraction, of=limits.memory_fraction_of))
    if accelerator.announced:
        notes = (*notes, message("estimate.announced", accelerator=accelerator.name))
    if age < 0:
        notes = (*notes, message("estimate.newer_than_calibration", newest=calibration.newest_month))
    return Frame(
        accelerator=accelerator,
        model=model,
        engine=engine,
        kernel=kernel,
        weights=weights,
        kv=kv,
        settings=MemorySettings(
            memory_fraction=fraction,
            memory_fraction_of=limits.memory_fraction_of,
            runtime_bytes=limits.runtime_bytes,
            max_batch=request.max_batch or limits.max_batch,
            max_batched_tokens=request.max_batched_tokens or limits.max_batched_tokens,
            usual_fraction=limits.memory_fraction if request.memory_fraction is None else None,
            collective_bytes=limits.collective_bytes,
            logit_bytes=limits.logit_bytes,
            holding=limits.holding,
            padding=kernel.padding,
        ),
        mixed_steps=limits.mixed_steps,
        kv_on_demand=limits.kv_on_demand,
        present_runtime=limits.present_runtime,
        months_old=float(min(max(0, age), OLDEST_MONTHS)),
        months_newer=float(max(0, -age)),
        limit_tokens=calibration.value("limit_tokens", {}),
        notes=notes,
    )


def _check_peaks(accelerator: Accelerator, arithmetic: Precision) -> None:
    """Refuse a part that states no peak for its arithmetic or for that of attention."""
    for wanted in (arithmetic, Precision.BF16):
        if peak(accelerator, wanted) is None:
            problem = message("estimate.no_peak", accelerator=accelerator.name, arithmetic=str(wanted))
            raise InputError(problem, "accelerator")


def _engine(
    request: EstimateRequest,
    accelerator: Accelerator,
    model: Model,
    engines: tuple[ServingEngine, ...],
    weights: Precision,
    kv: Precision,
) -> tuple[ServingEngine, tuple[Message, ...]]:
    if request.serving_engine is None:
        best = support.best_engine(engines, accelerator, model, weights, kv, request.date)
        if isinstance(best, Message):
            raise InputError(best, "kv" if best.id == "engine.none_kv" else "weights")
        return best, (message("estimate.engine_chosen", engine=best.name),)
    named = next((engine for engine in engines if engine.id == request.serving_engine), None)
    if named is None:
        known = tuple(engine.id for engine in engines)
        raise InputError(
            message("engine.unknown", engine=request.serving_engine, known=known), "serving_engine"
        )
    against = support.runs(named, accelerator, model, weights, kv, request.date)
    if against:
        raise InputError(against[0], "serving_engine")
    return named, ()


def wishes(request: EstimateRequest, engine: ServingEngine) -> PlanWishes:
    """Return what the user fixed of the plan, and what the serving engine can do."""
    return PlanWishes(
        count=request.count,
        tp=request.tp,
        pp=request.pp,
        ep=request.ep,
        dp=request.dp,
        attention_dp=request.attention_dp,
        allow_pp=engine.supports_pp,
        allow_ep=engine.supports_ep,
        allow_attention_dp=engine.supports_attention_dp,
    )


def check_plan(request: EstimateRequest, frame_: Frame) -> None:
    """Refuse a plan that cannot be: a count that is not tp x pp x dp, heads that tp does not divide."""
    degrees = ("count", "tp", "pp", "ep", "dp")
    check_degrees({name: getattr(request, name) for name in degrees})
    if request.tp is not None and not divides_heads(frame_.model, request.tp):
        raise InputError(message("plan.heads", tp=request.tp, model=frame_.model.name), "tp")
    if request.pp is not None and request.pp > frame_.model.layer_count:
        raise InputError(message("plan.stages", pp=request.pp, layers=frame_.model.layer_count), "pp")
    _check_features(request, frame_)


def _check_features(request: EstimateRequest, frame_: Frame) -> None:
    engine = frame_.engine
    if (request.pp or 1) > 1 and not engine.supports_pp:
        raise InputError(message("plan.engine_pp", engine=engine.name), "pp")
    if (request.ep or 1) > 1 and not _experts(frame_.model):
        raise InputError(message("plan.no_experts", model=frame_.model.name), "ep")
    if (request.ep or 1) > 1 and not engine.supports_ep:
        raise InputError(message("plan.engine_ep", engine=engine.name), "ep")
    if request.attention_dp and not engine.supports_attention_dp:
        raise InputError(message("plan.engine_attention_dp", engine=engine.name), "attention_dp")


def _experts(model: Model) -> int:
    return max((getattr(group.ffn, "experts", 0) for group in model.layers), default=0)


def placements(request: EstimateRequest, frame_: Frame, count: int) -> tuple[Placement, ...]:
    """Return every plan of `count` accelerators with its memory, whether it fits or not."""
    return tuple(placement(request, frame_, plan) for plan in plans_of(request, frame_, count))


def plans_of(request: EstimateRequest, frame_: Frame, count: int) -> tuple[ParallelPlan, ...]:
    """Return every plan of `count` accelerators that the question leaves open."""
    return candidate_plans(frame_.model, frame_.accelerator, count, wishes(request, frame_.engine))


def counts(request: EstimateRequest, frame_: Frame) -> tuple[int, ...]:
    """Deployment sizes to try, smallest first: those on which all weights together find room."""
    if request.count is not None:
        return (request.count,)
    sizes = replica_counts(frame_.accelerator, wishes(request, frame_.engine))
    weights = shard(frame_.model, frame_.weights, ParallelPlan()).resident_bytes
    roomy = tuple(size for size in sizes if size * frame_.accelerator.memory_bytes > weights)
    return roomy or sizes[-1:]


def placement(request: EstimateRequest, frame_: Frame, plan: ParallelPlan) -> Placement:
    """Return the memory of a plan and the settings that it needs.

    What nobody set is lowered where the model fills the memory, as an operator does.
    """
    settings = frame_.settings
    while True:
        budget = memory_budget(frame_.accelerator, frame_.model, frame_.weights, frame_.kv, plan, settings)
        leaner = _leaner(request, frame_.model, settings, budget, plan)
        if leaner is None:
            return Placement(plan, budget, settings)
        settings = leaner


def _leaner(
    request: EstimateRequest, model: Model, settings: MemorySettings, budget: MemoryBudget, plan: ParallelPlan
) -> MemorySettings | None:
    """Return settings that leave the usual cache more where it has too little, if there are any.

    The chunk is halved while its activations would leave less than they take, the batch while drawing its
    tokens would leave nothing. Where activations lie beside the fraction, lowering them brings nothing.
    """
    taken = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    left = budget.capacity_bytes - taken
    beside = settings.memory_fraction_of == "static" and budget.usual_pool_bytes < left
    if beside or budget.weights_bytes >= budget.capacity_bytes:
        return None
    if step_bytes(model, plan, settings) >= drawing_bytes(model, settings):
        chunk = settings.max_batched_tokens
        short = budget.usual_pool_bytes < budget.activations_bytes
        if request.max_batched_tokens or not short or chunk < 2 * LEAST_BATCHED_TOKENS:
            return None
        return replace(settings, max_batched_tokens=chunk // 2)
    batch = settings.max_batch
    if request.max_batch or budget.usual_pool_bytes > 0 or batch < 2 * LEAST_BATCH:
        return None
    return replace(settings, max_batch=batch // 2)
