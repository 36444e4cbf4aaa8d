"""Parallel plans worth evaluating, and what a serving engine supports: kernels, formats, models, plans, limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from gpudesk.domain.accelerator import Accelerator, resolve_fp4
from gpudesk.domain.deployment_analysis import ScalingRuleOfThumb
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import (
    FFN_KINDS,
    MIXER_KINDS,
    Attention,
    DenseFfn,
    GatedDeltaNet,
    Mamba1,
    Mixer,
    Model,
    MoeFfn,
    ShortConvolution,
)
from gpudesk.domain.precision import KV_BYTES, Precision
from gpudesk.domain.serving_engine import (
    EngineSetting,
    KernelPathKind,
    ServingEngine,
    SplitPart,
    SplitRule,
    UnsupportedModelRule,
    list_platforms,
)
from gpudesk.engine.memory import CacheReservation, KernelPath
from gpudesk.engine.sharding import ExpertPadding
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import FormatName, Message, Term, message

#: Tensor-parallel degrees that serving engines support inside one scale-up domain.
TENSOR_DEGREES = (1, 2, 4, 8, 16, 32, 64)
#: Numbers of pipeline stages to search, as hosts are used in twos and threes.
PIPELINE_DEGREES = (1, 2, 3, 4, 6, 8, 16)
#: Largest replica, in accelerators, that the search covers.
MAX_PLAN_ACCELERATORS = 64


class PlanConstraints(NamedTuple):
    """The degrees of a plan that the user fixed; None is free. `allow_*` are features of the serving engine."""

    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None
    allow_pp: bool = True
    allow_ep: bool = True
    allow_attention_dp: bool = True


@lru_cache(maxsize=2_000)
def divides_heads(model: Model, tp: int) -> bool:
    """Whether `tp` divides the heads of every layer, and divides or replicates the KV heads."""
    for group in model.layers:
        mixer = group.mixer
        if mixer is not None and any(heads % tp for heads in list_heads(mixer)):
            return False
        if isinstance(mixer, Attention) and mixer.kv_heads % tp and tp % mixer.kv_heads:
            return False
    return True


def list_heads(mixer: Mixer) -> tuple[int, ...]:
    """Numbers of heads (or channels) that must not be split across ranks."""
    if isinstance(mixer, GatedDeltaNet):
        return mixer.key_heads, mixer.value_heads
    if isinstance(mixer, Mamba1 | ShortConvolution):
        return (mixer.inner_size,)
    return (mixer.heads,)


@lru_cache(maxsize=1_000)
def count_experts(model: Model) -> int:
    """Return the experts of the widest layer; 0 without experts."""
    return max((g.ffn.experts for g in model.layers if isinstance(g.ffn, MoeFfn)), default=0)


def list_expert_variants(model: Model, wishes: PlanConstraints, tp: int, pp: int) -> Iterator[tuple[int, bool]]:
    """Yield EP and whether attention is data-parallel, as far as `wishes` leave them open."""
    experts = count_experts(model)
    if wishes.attention_dp:
        yield wishes.ep or (tp if experts else 1), True
        return
    if wishes.ep is not None:
        yield wishes.ep, False
    else:
        yield 1, False
        if wishes.allow_ep and experts and tp > 1 and experts % tp == 0:
            yield tp, False
    free = wishes.attention_dp is None and wishes.ep in (None, tp)
    if free and wishes.allow_attention_dp and experts and tp > 1 and pp == 1 and experts % tp == 0:
        yield tp, True


def list_parallel_plans(
    model: Model, accelerator: Accelerator, count: int, wishes: PlanConstraints
) -> tuple[ParallelPlan, ...]:
    """Return every plan of exactly `count` accelerators that agrees with `wishes`, simplest first.

    Tensor parallelism divides the attention heads and stays inside the host or scale-up domain unless the user asks
    otherwise. Pipeline stages are used across hosts and if fewer stages do not fit.
    """
    return _list_plans(model, accelerator.cards_per_host, count, wishes)


#: A search makes the same few hundred plans for every model.
make_plan: Final = lru_cache(maxsize=1_000)(ParallelPlan)


@lru_cache(maxsize=2_000)
def _list_plans(model: Model, host: int, count: int, wishes: PlanConstraints) -> tuple[ParallelPlan, ...]:
    plans: list[ParallelPlan] = []
    for tp in (wishes.tp,) if wishes.tp is not None else _list_tensor_degrees(model, min(count, host)):
        for pp in (wishes.pp,) if wishes.pp is not None else _list_stages(model, wishes, count // tp):
            dp = count // (tp * pp)
            if tp * pp * dp != count or dp != (wishes.dp or dp):
                continue
            for ep, attention_dp in list_expert_variants(model, wishes, tp, pp):
                if (tp * dp) % ep == 0:
                    plans.append(make_plan(tp, pp, ep, dp, attention_dp))
    return tuple(dict.fromkeys(plans))


def _list_tensor_degrees(model: Model, most: int) -> Iterator[int]:
    return (tp for tp in TENSOR_DEGREES if tp <= most and divides_heads(model, tp))


def _list_stages(model: Model, wishes: PlanConstraints, most: int) -> Iterator[int]:
    if not wishes.allow_pp:
        return iter((1,))
    most = min(most, max(1, model.layer_count))
    return (pp for pp in PIPELINE_DEGREES if pp <= most)


def list_replica_counts(accelerator: Accelerator, wishes: PlanConstraints) -> tuple[int, ...]:
    """Deployment sizes to try, smallest first, when the user gave no count."""
    if wishes.tp is not None or wishes.pp is not None or wishes.dp is not None:
        least = (wishes.tp or 1) * (wishes.pp or 1) * (wishes.dp or 1)
        return tuple(least * factor for factor in (1, 2, 4, 8, 16, 32, 64))
    host = accelerator.cards_per_host
    inside = [size for size in TENSOR_DEGREES if size <= host]
    beyond = [host * nodes for nodes in (2, 3, 4, 6, 8)] if host <= 8 else []
    return tuple(size for size in (*inside, *beyond) if size <= MAX_PLAN_ACCELERATORS)


#: The factor of the published table of one accelerator page.
DEFAULT_SCALING_FACTOR: Final = 0.88


def _scale_flat(count: int, factor: float) -> float:
    """Every accelerator loses the same from the second on: n x f."""
    return float(count) if count == 1 else count * factor


def _scale_linearly(count: int, factor: float) -> float:
    """Each accelerator after the first adds f: 1 + f (n - 1)."""
    return 1.0 + factor * (count - 1)


def _compound_each(count: int, factor: float) -> float:
    """Each accelerator after the first slows all of them: n x f^(n - 1)."""
    return count * factor ** (count - 1)


def _compound_per_doubling(count: int, factor: float) -> float:
    return float(count * factor ** math.log2(count))


_RULES: Final[dict[ScalingRuleOfThumb, Callable[[int, float], float]]] = {
    ScalingRuleOfThumb.FLAT: _scale_flat,
    ScalingRuleOfThumb.ADDED: _scale_linearly,
    ScalingRuleOfThumb.COMPOUNDING: _compound_each,
    ScalingRuleOfThumb.PER_DOUBLING: _compound_per_doubling,
}


def scale_bandwidth(
    bandwidth: float,
    count: int,
    rule: ScalingRuleOfThumb = ScalingRuleOfThumb.FLAT,
    factor: float = DEFAULT_SCALING_FACTOR,
) -> float:
    """Return the total bandwidth of `count` accelerators of `bandwidth` each by a rule, in the unit given.

    Raises ValueError for a count below 1 or a factor outside 0 to 1.
    """
    if count < 1:
        raise ValueError(f"count {count} is below 1")
    if not 0.0 < factor <= 1.0:
        raise ValueError(f"factor {factor} is not above 0 and at most 1")
    return bandwidth * _RULES[rule](count, factor)


def compute_stream_ceiling(
    bandwidth: float,
    weights_bytes: float,
    count: int = 1,
    rule: ScalingRuleOfThumb = ScalingRuleOfThumb.FLAT,
    factor: float = DEFAULT_SCALING_FACTOR,
) -> float:
    """Return tokens/s of one request if each token took one read of the weights and no other time."""
    return scale_bandwidth(bandwidth, count, rule, factor) / weights_bytes


@frozen_dataclass
class EngineLimits:
    """Default limits of the engine on an accelerator; batch limits are in sequences and tokens per step."""

    max_batch: int
    max_batched_tokens: int
    memory_fraction: float
    safe_memory_fraction: float
    memory_fraction_of: Literal["total", "free", "static"]
    runtime_bytes: int
    collective_bytes: int
    attention_rank_bytes: int
    logit_bytes: int
    holding: CacheReservation
    chunked_prefill: bool
    mixed_steps: bool
    kv_on_demand: bool
    present_runtime: bool


@lru_cache(maxsize=500)
def find_kernel_path(
    engine: ServingEngine, accelerator: Accelerator, weights: Precision, date: str | None = None
) -> KernelPath:
    """Return how `engine` runs `weights` on an accelerator with software of `date`."""
    weights = resolve_fp4(weights, accelerator.vendor)
    elsewhere = _explain_platform_mismatch(engine, accelerator, date)
    if elsewhere is not None:
        return KernelPath(KernelPathKind.NONE, weights, elsewhere)
    for rule in engine.kernels:
        if weights in rule.weights and rule.when.holds(accelerator, date):
            if rule.path is KernelPathKind.NONE:
                break
            padding = ExpertPadding(rule.hidden_multiple, rule.intermediate_multiple)
            return KernelPath(rule.path, rule.arithmetic or weights, padding=padding)
    runs_here = tuple(sorted(_list_formats(engine, accelerator, date)))
    reason = message(
        "engine.no_kernel",
        "{engine} does not support {weights} weights on {accelerator}; it supports {formats}"
        if runs_here
        else "{engine} does not support {weights} weights on {accelerator}; choose another serving engine",
        engine=engine.name,
        accelerator=accelerator.name,
        weights=FormatName(weights),
        formats=tuple(map(FormatName, runs_here)),
    )
    return KernelPath(KernelPathKind.NONE, weights, reason)


@lru_cache(maxsize=2_000)
def _explain_platform_mismatch(engine: ServingEngine, accelerator: Accelerator, date: str | None) -> Message | None:
    """Return why `engine` does not run on an accelerator at all, or None if it does."""
    if engine.runs_on(accelerator, date):
        return None
    platform = ", ".join(sorted(list_platforms(accelerator)))
    return message(
        "engine.no_platform",
        "{engine} does not support {accelerator} ({platform}); choose another serving engine",
        engine=engine.name,
        accelerator=accelerator.name,
        platform=platform,
    )


def _list_formats(engine: ServingEngine, accelerator: Accelerator, date: str | None) -> set[str]:
    paths: dict[str, KernelPathKind] = {}
    for rule in engine.kernels:
        if rule.when.holds(accelerator, date):
            paths = {str(precision): rule.path for precision in rule.weights} | paths
    return {precision for precision, path in paths.items() if path is not KernelPathKind.NONE}


@lru_cache(maxsize=1_000)
def _list_mixers(model: Model) -> frozenset[str]:
    present = {type(group.mixer) for group in model.layers if group.mixer is not None}
    return frozenset(name for name, kind in MIXER_KINDS.items() if kind in present)


@lru_cache(maxsize=1_000)
def _list_ffns(model: Model) -> frozenset[str]:
    present = {type(group.ffn) for group in model.layers if group.ffn is not None}
    return frozenset(name for name, kind in FFN_KINDS.items() if kind in present)


def find_kv_objection(
    engine: ServingEngine, accelerator: Accelerator, model: Model, kv: Precision, date: str | None = None
) -> Message | None:
    """Return why `engine` cannot keep the cache of `model` in `kv`, or None if it can."""
    return _find_kv_objection(engine, accelerator, _list_mixers(model), resolve_fp4(kv, accelerator.vendor), date)


@lru_cache(maxsize=500)
def _find_kv_objection(
    engine: ServingEngine, accelerator: Accelerator, mixers: frozenset[str], kv: Precision, date: str | None
) -> Message | None:
    offered: set[str] = set()
    for rule in engine.kv:
        if not rule.when.holds(accelerator, date) or not rule.except_mixers.isdisjoint(mixers):
            continue
        if kv in rule.kv:
            return None
        offered |= {str(precision) for precision in rule.kv}
    return message(
        "engine.no_kv",
        "{engine} does not support {kv} KV cache on {accelerator} for this model; it supports {formats}"
        if offered
        else "{engine} does not support a KV cache on {accelerator}; choose another serving engine",
        engine=engine.name,
        accelerator=accelerator.name,
        kv=FormatName(kv),
        formats=tuple(map(FormatName, sorted(offered))),
    )


def _applies(rule: UnsupportedModelRule, accelerator: Accelerator, model: Model, date: str | None) -> bool:
    if not rule.when.holds(accelerator, date):
        return False
    return (
        model.id in rule.models
        or not rule.mixers.isdisjoint(_list_mixers(model))
        or not rule.ffns.isdisjoint(_list_ffns(model))
    )


def find_objections(
    engine: ServingEngine,
    accelerator: Accelerator,
    model: Model,
    weights: Precision,
    kv: Precision,
    date: str | None = None,
) -> tuple[Message, ...]:
    """Return every reason against serving `model` this way; empty if it runs."""
    elsewhere = _explain_platform_mismatch(engine, accelerator, date)
    if elsewhere is not None:
        return (elsewhere,)
    against: list[Message] = []
    if any(_applies(rule, accelerator, model, date) for rule in engine.cannot_serve):
        against.append(
            message(
                "engine.no_model",
                "{engine} does not support {model}; choose another serving engine",
                engine=engine.name,
                model=model.name,
            )
        )
    kernel = find_kernel_path(engine, accelerator, weights, date)
    if kernel.reason is not None:
        against.append(kernel.reason)
    no_kv = find_kv_objection(engine, accelerator, model, kv, date)
    if no_kv is not None:
        against.append(no_kv)
    return tuple(against)


#: Names in refusals for what is split by elements inside a layer.
_WIDTHS: Final = {
    SplitPart.ROUTED: Term("plan.experts", "experts"),
    SplitPart.SHARED: Term("plan.shared_experts", "shared experts"),
    SplitPart.DENSE: Term("plan.dense_layers", "dense layers"),
}


@frozen_dataclass
class SplitCheck:
    """One dimension of a model that ranks share: each rank must hold a whole multiple of `unit` of `size`."""

    part: SplitPart
    size: int
    unit: int
    repeats: bool

    def refuses(self, plan: ParallelPlan) -> bool:
        ranks = self.count_ranks(plan)
        if ranks == 1 or self.size % (self.unit * ranks) == 0:
            return False
        return not (self.repeats and ranks % self.size == 0)

    def count_ranks(self, plan: ParallelPlan) -> int:
        """Return the ranks that share it: data-parallel attention leaves shared experts and dense layers whole."""
        if self.part is SplitPart.EXPERTS:
            return plan.ep
        if self.part is SplitPart.ROUTED:
            return max(1, plan.tp // plan.ep)
        return 1 if plan.attention_dp and self.part in (SplitPart.SHARED, SplitPart.DENSE) else plan.tp


def find_plan_objection(
    engine: ServingEngine, accelerator: Accelerator, model: Model, weights: Precision, plan: ParallelPlan
) -> Message | None:
    """Return why `engine` does not load `model` under `plan`, or None if it does."""
    if plan.tp > 1 and not engine.parallel.tp:
        return message("plan.engine_tp", "{engine} splits a model by layers: use PP instead of TP", engine=engine.name)
    if not engine.parallel.hosts and plan.replica > accelerator.cards_per_host:
        return message(
            "plan.one_host",
            "{engine} runs a replica on one host, which has {host} accelerators",
            engine=engine.name,
            host=accelerator.cards_per_host,
        )
    if plan.tp == plan.ep == 1:
        return None
    rules = _find_split_rules(engine, accelerator)
    for check in _list_split_checks(engine, model, weights is Precision.FP8, rules):
        if check.refuses(plan):
            return _describe_refusal(check, engine, model, plan)
    return None


@lru_cache(maxsize=1_000)
def _find_split_rules(engine: ServingEngine, accelerator: Accelerator) -> tuple[bool, ...]:
    """Return which rules on splits apply to an accelerator: most accelerators share them."""
    return tuple([rule.when.holds(accelerator) for rule in engine.splits])


@lru_cache(maxsize=2_000)
def _list_split_checks(
    engine: ServingEngine, model: Model, blocks: bool, rules: tuple[bool, ...]
) -> tuple[SplitCheck, ...]:
    """Return the dimensions that must divide evenly, starting with the one that most plans violate.

    `blocks`: whether the weights are in blocks. `rules`: which rules of the engine apply.
    """
    sizes = _list_sizes(model)
    checks = [
        check
        for rule, applies in zip(engine.splits, rules, strict=True)
        if applies and (blocks or not rule.by_block)
        for check in _make_split_checks(rule, model, sizes)
    ]
    return tuple(dict.fromkeys(checks))


def _make_split_checks(
    rule: SplitRule, model: Model, sizes: Mapping[SplitPart, Sequence[int | None]]
) -> tuple[SplitCheck, ...]:
    unit = model.fp8_block if rule.by_block else 1
    if unit is None:
        return ()
    return tuple(
        SplitCheck(part, -(-size // rule.filled_to) * rule.filled_to, unit, rule.repeats)
        for part in SplitPart  # in the order of the checks
        if part in rule.parts
        for size in dict.fromkeys(sizes[part])
        if size
    )


def _list_sizes(model: Model) -> dict[SplitPart, list[int | None]]:
    """Return the sizes of each dimension in all layers; dimensions that are 0 or None are not shared."""
    mixers = [group.mixer for group in model.layers if group.mixer is not None]
    ffns = [group.ffn for group in model.layers]
    experts = [ffn for ffn in ffns if isinstance(ffn, MoeFfn)]
    dense = [ffn.intermediate_size for ffn in ffns if isinstance(ffn, DenseFfn)]
    return {
        SplitPart.HEADS: [heads for mixer in mixers for heads in list_heads(mixer)],
        SplitPart.KV_HEADS: [mixer.kv_heads for mixer in mixers if isinstance(mixer, Attention)],
        SplitPart.EXPERTS: [ffn.experts for ffn in experts],
        SplitPart.ROUTED: [ffn.intermediate_size for ffn in experts],
        SplitPart.SHARED: [ffn.shared_intermediate_size for ffn in experts],
        SplitPart.DENSE: [*dense, *(ffn.parallel_dense_intermediate_size for ffn in experts)],
        SplitPart.VOCABULARY: [model.vocab_size],
    }


def _describe_refusal(check: SplitCheck, engine: ServingEngine, model: Model, plan: ParallelPlan) -> Message:
    if check.part is SplitPart.HEADS:
        return message(
            "plan.heads", "TP {tp} does not divide the attention heads of {model}", tp=plan.tp, model=model.name
        )
    if check.part is SplitPart.KV_HEADS:
        return message(
            "plan.kv_heads",
            "{engine} can neither split nor evenly replicate the {heads} KV heads of {model} with TP {tp}"
            if check.repeats
            else "{engine} does not replicate KV heads; choose a TP that divides the {heads} of {model}, unlike "
            "TP {tp}",
            engine=engine.name,
            heads=check.size,
            model=model.name,
            tp=plan.tp,
        )
    if check.part is SplitPart.EXPERTS:
        return message(
            "plan.experts_uneven",
            "{engine} needs an EP that divides the {experts} experts of {model}; EP {ep} does not",
            engine=engine.name,
            ep=plan.ep,
            experts=check.size,
            model=model.name,
        )
    if check.part is SplitPart.VOCABULARY:
        return message(
            "plan.vocabulary",
            "{engine} cannot split the vocabulary of {model} ({size} entries) by TP {tp}",
            engine=engine.name,
            model=model.name,
            tp=plan.tp,
            size=check.size,
        )
    return message(
        "plan.block",
        "{engine} cannot split the {part} of {model} across {ranks} ranks: {width} / {ranks} is not a multiple of "
        "the FP8 block of {block}",
        engine=engine.name,
        part=_WIDTHS[check.part],
        model=model.name,
        ranks=check.count_ranks(plan),
        width=check.size,
        block=check.unit,
    )


def _rank(engine: ServingEngine, accelerator: Accelerator) -> int:
    return next((rule.rank for rule in engine.preference if rule.when.holds(accelerator)), 99)


def choose_engine(
    engines: Sequence[ServingEngine],
    accelerator: Accelerator,
    model: Model,
    weights: Precision,
    kv: Precision,
    date: str | None = None,
) -> ServingEngine | Message:
    """Return the engine with the lowest rank that runs the deployment; ties go to the first id.

    If no engine does, the message lists the formats that run on the accelerator.
    """
    ordered = sorted(engines, key=lambda engine: (_rank(engine, accelerator), engine.id))
    for engine in ordered:
        if not find_objections(engine, accelerator, model, weights, kv, date):
            return engine
    here = [engine for engine in ordered if _explain_platform_mismatch(engine, accelerator, date) is None]
    return _explain_no_engine(here, accelerator, model, weights, kv, date)


def _explain_no_engine(
    here: Sequence[ServingEngine],
    accelerator: Accelerator,
    model: Model,
    weights: Precision,
    kv: Precision,
    date: str | None,
) -> Message:
    """Return why no serving engine runs the deployment on the accelerator, and the formats that some support."""
    able = [engine for engine in here if find_kernel_path(engine, accelerator, weights, date).reason is None]
    kv_formats = _list_kv_formats(able, accelerator, model, date)
    if able and str(resolve_fp4(kv, accelerator.vendor)) not in kv_formats:
        return message(
            "engine.none_kv",
            "no serving engine supports {kv} KV cache on {accelerator} for this model; supported: {formats}"
            if kv_formats
            else "no serving engine supports a KV cache on {accelerator} for this model",
            accelerator=accelerator.name,
            kv=FormatName(kv),
            formats=tuple(map(FormatName, kv_formats)),
        )
    # If weights and cache would run, the model is the obstacle, and other formats would not help.
    formats = set() if able else {name for engine in here for name in _list_formats(engine, accelerator, date)}
    return message(
        "engine.none",
        "no serving engine supports {model} with {weights} weights on {accelerator}; supported: {formats}"
        if formats
        else "no serving engine supports {model} on {accelerator}",
        accelerator=accelerator.name,
        model=model.name,
        weights=FormatName(weights),
        formats=tuple(map(FormatName, sorted(formats))),
    )


def _list_kv_formats(
    engines: Sequence[ServingEngine], accelerator: Accelerator, model: Model, date: str | None
) -> tuple[str, ...]:
    kv_formats = (
        str(kv)
        for kv in KV_BYTES
        if kv is not Precision.FP4  # an alias of another format
        and any(find_kv_objection(engine, accelerator, model, kv, date) is None for engine in engines)
    )
    return tuple(sorted(kv_formats))


@lru_cache(maxsize=2_000)
def resolve_engine_limits(
    engine: ServingEngine, accelerator: Accelerator, date: str | None = None, behind_server: bool | None = None
) -> EngineLimits:
    """Return the default limits of the engine; raises ValueError for a setting that its rules leave open."""

    def of(setting: EngineSetting) -> float:
        for rule in engine.settings:
            if rule.setting is setting and rule.when.holds(accelerator, date, behind_server):
                return rule.value
        raise ValueError(f"{engine.id}: {setting} on {accelerator.id}")

    return EngineLimits(
        max_batch=int(of(EngineSetting.MAX_BATCH)),
        max_batched_tokens=int(of(EngineSetting.MAX_BATCHED_TOKENS)),
        memory_fraction=of(EngineSetting.MEMORY_FRACTION),
        safe_memory_fraction=of(EngineSetting.SAFE_MEMORY_FRACTION),
        memory_fraction_of=engine.memory_fraction_of,
        runtime_bytes=int(of(EngineSetting.RUNTIME_BYTES)),
        collective_bytes=int(of(EngineSetting.COLLECTIVE_BYTES)),
        attention_rank_bytes=int(of(EngineSetting.ATTENTION_RANK_BYTES)),
        logit_bytes=int(of(EngineSetting.LOGIT_BYTES)),
        holding=CacheReservation(
            window_share=of(EngineSetting.WINDOW_SHARE),
            state_share=of(EngineSetting.STATE_SHARE),
            state_slots=int(of(EngineSetting.STATE_SLOTS)),
        ),
        chunked_prefill=bool(of(EngineSetting.CHUNKED_PREFILL)),
        mixed_steps=bool(of(EngineSetting.MIXED_STEPS)),
        kv_on_demand=bool(of(EngineSetting.KV_ON_DEMAND)),
        present_runtime=bool(of(EngineSetting.PRESENT_RUNTIME)),
    )
