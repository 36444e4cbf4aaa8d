"""What a serving engine refuses of a parallel plan: parts of a model that its ranks cannot share evenly, and hosts.

The rules lie in `data/serving_engines`, each with its source; here they become a few checks of one model, made once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.model import Attention, DenseFfn, Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.domain.serving_engine import ServingEngine, SplitPart, SplitRule
from gpudesk.engine.plans import list_heads
from gpudesk.text.messages import Message, Term, message

#: What is split by elements inside a layer, as a refusal calls it.
_WIDTHS: Final = {
    SplitPart.ROUTED: Term("plan.experts", "experts"),
    SplitPart.SHARED: Term("plan.shared_experts", "shared experts"),
    SplitPart.DENSE: Term("plan.dense_layers", "dense layers"),
}


@dataclass(frozen=True, slots=True)
class SplitCheck:
    """One number of a model that ranks share: `size` must be a whole multiple of `unit` on each of them."""

    part: SplitPart
    size: int
    unit: int
    repeats: bool

    def refuses(self, plan: ParallelPlan) -> bool:
        ranks = self.count_ranks(plan)
        if self.repeats and ranks % self.size == 0:
            return False
        return self.size % (self.unit * ranks) != 0 and ranks > 1

    def count_ranks(self, plan: ParallelPlan) -> int:
        """Return the ranks that share it: data-parallel attention leaves shared experts and dense layers whole."""
        if self.part is SplitPart.EXPERTS:
            return plan.ep
        if self.part is SplitPart.ROUTED:
            return max(1, plan.tp // plan.ep)
        return 1 if plan.attention_dp and self.part in (SplitPart.SHARED, SplitPart.DENSE) else plan.tp


def find_plan_objection(
    engine: ServingEngine,
    accelerator: Accelerator,
    model: Model,
    weights: Precision,
    plan: ParallelPlan,
    date: str | None = None,
) -> Message | None:
    """Return why `engine` does not load `model` under `plan`, or None where it does."""
    if plan.tp > 1 and not engine.parallel.tp:
        return message("plan.engine_tp", "{engine} splits a model by layers, which is PP, not TP", engine=engine.name)
    if plan.replica > accelerator.cards_per_host and not engine.parallel.hosts:
        return message(
            "plan.one_host",
            "{engine} runs a replica on one host, which has {host} accelerators",
            engine=engine.name,
            host=accelerator.cards_per_host,
        )
    for check in _list_split_checks(engine, accelerator, model, weights, date):
        if check.refuses(plan):
            return _describe_refusal(check, engine, model, plan)
    return None


@lru_cache(maxsize=4_000)
def _list_split_checks(
    engine: ServingEngine, accelerator: Accelerator, model: Model, weights: Precision, date: str | None
) -> tuple[SplitCheck, ...]:
    """Return what must be shared evenly, the part that most plans fail by first."""
    checks = [
        check
        for rule in engine.splits
        if rule.when.holds(accelerator, date) and (weights is Precision.FP8 or not rule.by_block)
        for check in _make_split_checks(rule, model)
    ]
    return tuple(dict.fromkeys(checks))


def _make_split_checks(rule: SplitRule, model: Model) -> list[SplitCheck]:
    unit = model.fp8_block if rule.by_block else 1
    if unit is None:
        return []
    checks = []
    for part in SplitPart:  # whose order is that of the checks
        if part in rule.parts:
            sizes = dict.fromkeys(_list_sizes(part, model))
            filled = [-(-size // rule.filled_to) * rule.filled_to for size in sizes]
            checks += [SplitCheck(part, size, unit, rule.repeats) for size in filled]
    return checks


def _list_sizes(part: SplitPart, model: Model) -> list[int]:
    """Return the numbers of a part in all layers, without zeros."""
    mixers = [group.mixer for group in model.layers if group.mixer is not None]
    ffns = [group.ffn for group in model.layers]
    experts = [ffn for ffn in ffns if isinstance(ffn, MoeFfn)]
    dense = [ffn.intermediate_size for ffn in ffns if isinstance(ffn, DenseFfn)]
    sizes: dict[SplitPart, list[int | None]] = {
        SplitPart.HEADS: [heads for mixer in mixers for heads in list_heads(mixer)],
        SplitPart.KV_HEADS: [mixer.kv_heads for mixer in mixers if isinstance(mixer, Attention)],
        SplitPart.EXPERTS: [ffn.experts for ffn in experts],
        SplitPart.ROUTED: [ffn.intermediate_size for ffn in experts],
        SplitPart.SHARED: [ffn.shared_intermediate_size for ffn in experts],
        SplitPart.DENSE: [*dense, *(ffn.parallel_dense_intermediate_size for ffn in experts)],
        SplitPart.VOCABULARY: [model.vocab_size],
    }
    return [size for size in sizes[part] if size]


def _describe_refusal(check: SplitCheck, engine: ServingEngine, model: Model, plan: ParallelPlan) -> Message:
    if check.part is SplitPart.HEADS:
        return message(
            "plan.heads", "TP {tp} does not divide the attention heads of {model}", tp=plan.tp, model=model.name
        )
    if check.part is SplitPart.KV_HEADS:
        return message(
            "plan.kv_heads",
            "{engine} neither divides the {heads} KV heads of {model} by TP {tp} nor repeats them evenly"
            if check.repeats
            else "{engine} does not repeat KV heads, and TP {tp} does not divide the {heads} of {model}",
            engine=engine.name,
            heads=check.size,
            model=model.name,
            tp=plan.tp,
        )
    if check.part is SplitPart.EXPERTS:
        return message(
            "plan.experts_uneven",
            "{engine} gives every rank as many experts, and EP {ep} does not divide the {experts} of {model}",
            engine=engine.name,
            ep=plan.ep,
            experts=check.size,
            model=model.name,
        )
    if check.part is SplitPart.VOCABULARY:
        return message(
            "plan.vocabulary",
            "{engine} cannot split the vocabulary of {model} by TP {tp}: {size} entries do not divide",
            engine=engine.name,
            model=model.name,
            tp=plan.tp,
            size=check.size,
        )
    return message(
        "plan.block",
        "{engine} cannot split the {part} of {model} by {ranks}: {width} / {ranks} is not a multiple of the FP8 block "
        "of {block}",
        engine=engine.name,
        part=_WIDTHS[check.part],
        model=model.name,
        ranks=check.count_ranks(plan),
        width=check.size,
        block=check.unit,
    )
