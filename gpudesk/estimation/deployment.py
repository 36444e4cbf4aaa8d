"""From a request to its possible deployments: serving engine, kernels, plans, memory, step coefficients.

Everything here depends on the accelerator, the model and the settings but not on lengths or load, so it is computed
once and cached.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from gpudesk.domain.accelerator import Accelerator, resolve_fp4
from gpudesk.domain.estimate import EstimateRequest, ParallelPlan, describe_degrees, to_calendar_months
from gpudesk.domain.model import Model, describe_generic_model
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import KernelPathKind, ServingEngine
from gpudesk.engine import engine_support
from gpudesk.engine.calibration import NO_KEYS, Calibration
from gpudesk.engine.engine_support import (
    EngineLimits,
    PlanConstraints,
    count_experts,
    list_expert_variants,
    list_parallel_plans,
    list_replica_counts,
    make_plan,
)
from gpudesk.engine.memory import (
    KernelPath,
    MemoryBudget,
    MemoryPlan,
    MemorySettings,
    ResolvedDeployment,
    ServingConfiguration,
    compute_memory_budget,
    compute_sampling_bytes,
    compute_step_bytes,
)
from gpudesk.engine.sharding import prepare_shards, shard_model
from gpudesk.engine.step_work import RankLink, find_link, find_peak, find_stage_link, is_dispatched
from gpudesk.estimation.request_fields import check_degrees
from gpudesk.text.formatting import Quantity
from gpudesk.text.messages import (
    FormatName,
    InputError,
    Message,
    Share,
    Term,
    input_error,
    message,
    message_n,
    quote_input,
)

#: Older software counts as this many months before the newest calibrated month: rows reach no further back.
OLDEST_MONTHS = 36
#: Smaller prefill chunks cost more than the memory they save is worth.
LEAST_BATCHED_TOKENS = 2048
#: Operators do not lower the batch further to save sampling memory.
LEAST_BATCH = 64


#: The base of a serving engine's memory fraction.
_MEMORY_TERMS: Final = {
    "total": Term("total", "all memory"),
    "free": Term("free", "the free memory"),
    "static": Term("static", "the free memory before the weights load"),
}


def configure_serving(
    request: EstimateRequest,
    accelerator: Accelerator,
    model: Model,
    engines: tuple[ServingEngine, ...],
    calibration: Calibration,
) -> ServingConfiguration:
    """Choose serving engine, kernels and settings; raises InputError if nothing runs the request."""
    if not model.dimensions_known:
        raise input_error(
            "model.no_dimensions",
            "the dimensions of {model} are unpublished, so estimates are not available",
            "model",
            model=model.id,
        )
    weights, kv = (resolve_fp4(request.weights, accelerator.vendor), resolve_fp4(request.kv, accelerator.vendor))
    engine, chosen_notes = _choose_engine(request, accelerator, model, engines, weights, kv)
    generic = describe_generic_model(model)
    user_notes = chosen_notes if generic is None else (generic, *chosen_notes)
    work = request.workload
    fixed = request.memory_fraction, request.max_batch, request.max_batched_tokens
    shared = _configure_engine(
        engine, accelerator, weights, request.date, work.behind_server, fixed, calibration.newest_month
    )
    kernel, limits = shared.kernel, shared.limits
    return ServingConfiguration(
        accelerator,
        model,
        engine,
        kernel,
        weights,
        kv,
        shared.settings,
        limits.mixed_steps,
        limits.kv_on_demand,
        limits.present_runtime,
        work.eager,
        work.behind_server,
        work.acceptance_length,
        float(min(max(0, shared.age), OLDEST_MONTHS)),
        float(max(0, -shared.age)),
        calibration.value("limit_tokens", NO_KEYS),
        user_notes + shared.notes,
    )


class _EngineConfiguration(NamedTuple):
    """What configurations of any model share; `age` is months before the newest calibrated one."""

    kernel: KernelPath
    limits: EngineLimits
    settings: MemorySettings
    age: int
    notes: tuple[Message, ...]


@lru_cache(maxsize=250)
def _configure_engine(
    engine: ServingEngine,
    accelerator: Accelerator,
    weights: Precision,
    user_date: str | None,
    behind_server: bool,
    fixed: tuple[float | None, int | None, int | None],
    newest_month: str,
) -> _EngineConfiguration:
    """Return kernels and settings; `fixed` are memory fraction, batch and tokens per step that the user set."""
    user_fraction, user_batch, user_tokens = fixed
    notes: list[Message] = []
    kernel = engine_support.find_kernel_path(engine, accelerator, weights, user_date)
    if kernel.path is KernelPathKind.WEIGHT_ONLY:
        notes += [
            message(
                "estimate.weight_only",
                "{engine} stores {weights} weights on this accelerator but computes in {arithmetic}",
                weights=FormatName(weights),
                arithmetic=FormatName(kernel.arithmetic),
                engine=engine.name,
            )
        ]
    elif kernel.path is KernelPathKind.NATIVE and weights is Precision.BF16 and kernel.arithmetic is Precision.FP16:
        notes += [
            message(
                "estimate.no_bf16",
                "{accelerator} has no BF16; {engine} converts the weights to FP16",
                accelerator=accelerator.name,
                engine=engine.name,
            )
        ]
    date = user_date or newest_month
    age = to_calendar_months(newest_month) - to_calendar_months(date)
    if age > OLDEST_MONTHS:
        notes += [
            message(
                "estimate.older_than_calibration",
                "The software date is older than the measurements; the estimate assumes {years} years before the "
                "newest one",
                years=OLDEST_MONTHS // 12,
            )
        ]
    limits = engine_support.resolve_engine_limits(engine, accelerator, date, behind_server)
    fraction = user_fraction
    if fraction is None:
        fraction = limits.safe_memory_fraction
        usual = limits.memory_fraction
        of = _MEMORY_TERMS[limits.memory_fraction_of]
        notes += [
            message(
                "estimate.memory_fraction",
                "Fit and max concurrency assume {fraction} of {of}",
                fraction=Share(fraction),
                of=of,
            )
            if usual >= fraction
            else message(
                "estimate.memory_fractions",
                "Max concurrency assumes that {engine} uses {fraction} of {of}, the highest safe setting. "
                "Speed assumes {usual}, its default",
                fraction=Share(fraction),
                of=of,
                engine=engine.name,
                usual=Share(usual),
            )
        ]
    if accelerator.announced:
        notes += [
            message(
                "estimate.announced",
                "{accelerator} is announced, not available: its figures come from the vendor",
                accelerator=accelerator.name,
            )
        ]
    if age < 0:
        notes += [
            message(
                "estimate.newer_than_calibration",
                "The software date is after the newest measurements ({newest}), so the 80% intervals are wider",
                newest=newest_month,
            )
        ]
    settings = MemorySettings(
        memory_fraction=fraction,
        memory_fraction_of=limits.memory_fraction_of,
        runtime_bytes=limits.runtime_bytes,
        max_batch=user_batch or limits.max_batch,
        max_batched_tokens=user_tokens or limits.max_batched_tokens,
        usual_fraction=limits.memory_fraction if user_fraction is None else None,
        collective_bytes=limits.collective_bytes,
        attention_rank_bytes=limits.attention_rank_bytes,
        logit_bytes=limits.logit_bytes,
        holding=limits.holding,
        padding=kernel.padding,
    )
    return _EngineConfiguration(kernel, limits, settings, age, tuple(notes))


def check_peaks(configuration: ServingConfiguration) -> None:
    """Raise `InputError` where no time can be computed: without a peak for the arithmetic or for attention."""
    accelerator = configuration.accelerator
    for precision in (configuration.kernel.arithmetic, Precision.BF16):
        if find_peak(accelerator, precision) is None:
            problem = message(
                "estimate.no_peak",
                "{accelerator} needs a peak in {arithmetic} or wider to compute times; enter one in the catalog",
                accelerator=accelerator.name,
                arithmetic=FormatName(precision),
            )
            raise InputError(problem, "accelerator")


def _choose_engine(
    request: EstimateRequest,
    accelerator: Accelerator,
    model: Model,
    engines: tuple[ServingEngine, ...],
    weights: Precision,
    kv: Precision,
) -> tuple[ServingEngine, tuple[Message, ...]]:
    if request.serving_engine is None:
        best = engine_support.choose_engine(engines, accelerator, model, weights, kv, request.date)
        if isinstance(best, Message):
            raise InputError(best, "kv" if best.id == "engine.none_kv" else "weights")
        return best, (message("estimate.engine_chosen", "Serving engine chosen: {engine}", engine=best.name),)
    requested_engine = next((engine for engine in engines if engine.id == request.serving_engine), None)
    if requested_engine is None:
        engine_ids = tuple(engine.id for engine in engines)
        raise input_error(
            "engine.unknown",
            "unknown serving engine {engine}; the options are {known}",
            "serving_engine",
            engine=quote_input(request.serving_engine),
            known=engine_ids,
        )
    against = engine_support.find_objections(requested_engine, accelerator, model, weights, kv, request.date)
    if against:
        raise InputError(against[0], "serving_engine")
    return requested_engine, ()


def make_plan_wishes(request: EstimateRequest, engine: ServingEngine) -> PlanConstraints:
    degrees = request.tp, request.pp, request.ep, request.dp, request.attention_dp
    return PlanConstraints(*degrees, engine.supports_pp, engine.supports_ep, engine.supports_attention_dp)


def check_plan(request: EstimateRequest, configuration: ServingConfiguration) -> None:
    """Refuse an impossible plan: a count other than tp x pp x dp, or dimensions that do not divide evenly."""
    check_degrees({"count": request.count, "tp": request.tp, "pp": request.pp, "ep": request.ep, "dp": request.dp})
    stages = request.pp or 1
    if stages > 1 and stages > configuration.model.layer_count:
        raise input_error(
            "plan.stages",
            "PP {pp} exceeds the {layers} layers of the model; use a smaller PP",
            "pp",
            pp=stages,
            layers=configuration.model.layer_count,
        )
    _check_features(request, configuration)
    if request.tp is not None or request.ep is not None:
        _check_shares(request, configuration)


def _check_shares(request: EstimateRequest, configuration: ServingConfiguration) -> None:
    """Refuse degrees with which the serving engine does not load the model, for any value of the open degrees."""
    wishes, tp, pp = make_plan_wishes(request, configuration.engine), request.tp or request.ep or 1, request.pp or 1
    first: tuple[Message, ParallelPlan] | None = None
    for ep, attention_dp in list_expert_variants(configuration.model, wishes, tp, pp):
        plan = make_plan(tp, pp, ep, request.dp or 1, attention_dp)
        objection = find_objection(configuration, plan)
        if objection is None:
            return
        first = first or (objection, plan)
    if first is not None:
        objection, plan = first
        raise InputError(add_nearest_plan(objection, request, configuration, plan), "tp" if request.tp else "ep")


def _check_features(request: EstimateRequest, configuration: ServingConfiguration) -> None:
    engine = configuration.engine
    if (request.pp or 1) > 1 and not engine.supports_pp:
        raise input_error(
            "plan.engine_pp",
            "{engine} does not support pipeline parallelism; remove PP or choose another serving engine",
            "pp",
            engine=engine.name,
        )
    if (request.ep or 1) > 1 and not count_experts(configuration.model):
        raise input_error("plan.no_experts", "{model} has no experts; remove EP", "ep", model=configuration.model.name)
    if (request.ep or 1) > 1 and not engine.supports_ep:
        raise input_error(
            "plan.engine_ep",
            "{engine} does not support expert parallelism; remove EP or choose another serving engine",
            "ep",
            engine=engine.name,
        )
    if request.attention_dp and not engine.supports_attention_dp:
        raise input_error(
            "plan.engine_attention_dp",
            "{engine} does not support data-parallel attention; remove it or choose another serving engine",
            "attention_dp",
            engine=engine.name,
        )


def find_objection(configuration: ServingConfiguration, plan: ParallelPlan) -> Message | None:
    """Return why the serving engine refuses a plan, or None if it does not."""
    return engine_support.find_plan_objection(
        configuration.engine, configuration.accelerator, configuration.model, configuration.weights, plan
    )


def describe_no_plan(request: EstimateRequest, configuration: ServingConfiguration, count: int) -> Message:
    """Return that no plan of `count` accelerators is valid, why the nearest is refused, and which count works."""
    model = configuration.model.name
    wishes = make_plan_wishes(request, configuration.engine)
    refused = list_parallel_plans(configuration.model, configuration.accelerator, count, wishes)
    if refused and (objection := find_objection(configuration, refused[0])) is not None:
        return add_nearest_plan(objection, request, configuration, refused[0])
    return message_n(
        "plan.none",
        "{model} has no parallel plan for exactly {count} accelerator; change the count",
        "{model} has no parallel plan for exactly {count} accelerators; change the count",
        "count",
        count=count,
        model=model,
    )


def add_nearest_plan(
    objection: Message, request: EstimateRequest, configuration: ServingConfiguration, refused: ParallelPlan
) -> Message:
    """Return why a plan is refused with the nearest one that holds a request; without it if none exists."""
    nearest = _find_nearest_plan(request, configuration, refused)
    if nearest is None:
        return objection
    refusal = message(
        "plan.refused", "{reason}; the nearest valid plan is {plan}", reason=objection, plan=describe_degrees(nearest)
    )
    return replace(refusal, id=objection.id)


def _find_nearest_plan(
    request: EstimateRequest, configuration: ServingConfiguration, refused: ParallelPlan
) -> ParallelPlan | None:
    """Return the plan with the most similar degrees, on as many accelerators if possible."""
    free = replace(request, count=None, tp=None, pp=None, ep=None, dp=None, attention_dp=None)
    wishes = make_plan_wishes(free, configuration.engine)
    sizes = list_replica_counts(configuration.accelerator, wishes)
    tokens = request.workload.request_tokens
    for size in sorted({refused.count, *sizes}, key=lambda size: abs(math.log2(size / refused.count))):
        plans = list_parallel_plans(configuration.model, configuration.accelerator, size, wishes)
        for plan in sorted(plans, key=lambda plan: _measure_distance(plan, refused)):
            if find_objection(configuration, plan) is not None:
                continue
            if make_memory_plan(free, configuration, plan).budget.max_sequences(tokens) >= 1:
                return plan
    return None


def _measure_distance(plan: ParallelPlan, other: ParallelPlan) -> tuple[bool, float]:
    """Return the distance of two plans: a difference in attention-DP, then doublings of degrees."""
    degrees = ((plan.tp, other.tp), (plan.pp, other.pp), (plan.ep, other.ep), (plan.dp, other.dp))
    return plan.attention_dp != other.attention_dp, sum(abs(math.log2(mine / theirs)) for mine, theirs in degrees)


def list_counts(request: EstimateRequest, configuration: ServingConfiguration) -> tuple[int, ...]:
    """Return deployment sizes to try, smallest first: those with room for all weights together."""
    if request.count is not None:
        return (request.count,)
    sizes = list_replica_counts(configuration.accelerator, make_plan_wishes(request, configuration.engine))
    weights = compute_weights_bytes(configuration)
    roomy = tuple(size for size in sizes if size * configuration.accelerator.memory_bytes > weights)
    return roomy or sizes[-1:]


def compute_weights_bytes(configuration: ServingConfiguration) -> int:
    """Return the bytes of the whole model, without what kernels add."""
    settings = configuration.settings
    shards = shard_model(configuration.model, configuration.weights, ParallelPlan(), settings.padding)
    return shards.resident_bytes - shards.padding_bytes


def prepare_plans(plans: Iterable[tuple[ServingConfiguration, ParallelPlan]]) -> None:
    """Divide the weights of many plans at once, for `make_memory_plan`."""
    prepare_shards((of.model, of.weights, plan.replica_shape, of.settings.padding) for of, plan in plans)


def make_memory_plan(request: EstimateRequest, configuration: ServingConfiguration, plan: ParallelPlan) -> MemoryPlan:
    """Return the memory of a plan and the settings that it needs.

    Free settings are lowered if the model fills the memory, as an operator would.
    """
    settings = configuration.settings
    if plan.attention_dp and settings.usual_fraction is not None and settings.attention_rank_bytes:
        free = plan.tp * settings.attention_rank_bytes / configuration.accelerator.memory_bytes
        settings = settings._replace(usual_fraction=max(settings.usual_fraction - free, 0.0))
    while True:
        budget = compute_memory_budget(
            configuration.accelerator, configuration.model, configuration.weights, configuration.kv, plan, settings
        )
        reduced = _reduce_settings(request, configuration.model, settings, budget, plan)
        if reduced is None:
            return MemoryPlan(plan, budget, settings)
        settings = reduced


class MemoryPlanCache:
    """The memory of the plans of one configuration, shared by plans that differ only in replicas."""

    def __init__(self, request: EstimateRequest, configuration: ServingConfiguration) -> None:
        self._request = request
        self._configuration = configuration
        self._wishes = make_plan_wishes(request, configuration.engine)
        self._alike: dict[tuple[int, int, int, bool], MemoryPlan | None] = {}

    def list_plans(self, count: int) -> tuple[ParallelPlan, ...]:
        """Return the plans of `count` accelerators, with or without the serving engine's checks."""
        return list_parallel_plans(self._configuration.model, self._configuration.accelerator, count, self._wishes)

    def find_alike(self, plan: ParallelPlan) -> MemoryPlan | None:
        """Return a plan with any number of equal replicas; None if the serving engine refuses them."""
        shape = plan.replica_shape
        if shape not in self._alike:
            refused = find_objection(self._configuration, plan) is not None
            self._alike[shape] = None if refused else make_memory_plan(self._request, self._configuration, plan)
        return self._alike[shape]

    def find(self, plan: ParallelPlan) -> MemoryPlan | None:
        """Return a plan with its memory; None if the serving engine refuses it."""
        memory = self.find_alike(plan)
        return memory if memory is None or memory.plan == plan else memory.with_replicas(plan)


def _reduce_settings(
    request: EstimateRequest, model: Model, settings: MemorySettings, budget: MemoryBudget, plan: ParallelPlan
) -> MemorySettings | None:
    """Return settings that leave more memory for a cache that is too small by default, if there are any.

    The chunk is halved while its activations would leave less than they take, the batch while sampling would leave
    nothing. If activations are outside the fraction, lowering them does not help.
    """
    if budget.usual_pool_bytes >= budget.activations_bytes > 0:
        return None
    occupied_bytes = budget.weights_bytes + budget.activations_bytes + budget.runtime_bytes
    remaining_bytes = budget.capacity_bytes - occupied_bytes
    outside_pool = settings.memory_fraction_of == "static" and budget.usual_pool_bytes < remaining_bytes
    if outside_pool or budget.weights_bytes >= budget.capacity_bytes:
        return None
    if compute_step_bytes(model, plan, settings) >= compute_sampling_bytes(model, settings):
        chunk = settings.max_batched_tokens
        if request.max_batched_tokens or chunk < 2 * LEAST_BATCHED_TOKENS:
            return None
        return settings._replace(max_batched_tokens=chunk // 2)
    batch = settings.max_batch
    if request.max_batch or budget.usual_pool_bytes > 0 or batch < 2 * LEAST_BATCH:
        return None
    return settings._replace(max_batch=batch // 2)


def make_plan_notes(deployment: ResolvedDeployment, node_bandwidth: float) -> tuple[Message, ...]:
    """Return notes on the plan: links other than the fastest, and lowered settings."""
    notes = _make_link_notes(deployment.plan, deployment.configuration.accelerator, node_bandwidth)
    if deployment.memory.settings is not deployment.configuration.settings:
        notes += _make_reduction_notes(deployment.memory.settings, deployment.configuration.settings)
    return notes


def make_chosen_plan_note(plan: ParallelPlan) -> Message:
    degrees = {"tp": plan.tp, "pp": plan.pp, "ep": plan.ep, "dp": plan.dp}
    if plan.attention_dp:
        return message(
            "estimate.plan_chosen_attention_dp",
            "Plan chosen: TP {tp}, PP {pp}, EP {ep}, DP {dp}, with data-parallel attention",
            **degrees,
        )
    return message("estimate.plan_chosen", "Plan chosen: TP {tp}, PP {pp}, EP {ep}, DP {dp}", **degrees)


def _make_reduction_notes(settings: MemorySettings, usual: MemorySettings) -> tuple[Message, ...]:
    notes: tuple[Message, ...] = ()
    if settings.max_batched_tokens < usual.max_batched_tokens:
        notes += (
            message(
                "estimate.smaller_chunk",
                "Steps have at most {tokens} tokens, below the serving engine's default, to leave memory for the KV "
                "cache",
                tokens=settings.max_batched_tokens,
            ),
        )
    if settings.max_batch < usual.max_batch:
        notes += (
            message_n(
                "estimate.smaller_batch",
                "Steps have at most {sequences} sequence, below the serving engine's default, to leave memory for "
                "the KV cache",
                "Steps have at most {sequences} sequences, below the serving engine's default, to leave memory for "
                "the KV cache",
                "sequences",
                sequences=settings.max_batch,
            ),
        )
    return notes


def _make_link_notes(plan: ParallelPlan, accelerator: Accelerator, node_bandwidth: float) -> tuple[Message, ...]:
    links = [find_link(accelerator, plan.tp, node_bandwidth)] if plan.tp > 1 else []
    tp_spans_hosts = bool(links) and links[0].kind == "node"
    if is_dispatched(plan):
        links.append(find_link(accelerator, plan.ep, node_bandwidth))
    if plan.pp > 1:
        links.append(find_stage_link(accelerator, plan, node_bandwidth))
    used = {link.kind: link for link in links if link.kind != "scale-up"}
    return tuple([_make_link_note(each, tp_spans_hosts=tp_spans_hosts) for each in used.values()])


def _make_link_note(used: RankLink, *, tp_spans_hosts: bool) -> Message:
    bandwidth = (used.bandwidth, Quantity.LINK_BANDWIDTH)
    if used.kind == "pcie":
        return message(
            "estimate.over_pcie", "The accelerators communicate over PCIe at {bandwidth}", bandwidth=bandwidth
        )
    if tp_spans_hosts:
        return message(
            "estimate.tp_between_hosts",
            "Tensor parallelism spans hosts, which communicate over the network at {bandwidth} per accelerator",
            bandwidth=bandwidth,
        )
    return message(
        "estimate.between_hosts",
        "The plan spans hosts, which communicate over the network at {bandwidth}",
        bandwidth=bandwidth,
    )
