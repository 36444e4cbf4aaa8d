"""Parallel plans: which ways of spreading a model over accelerators are worth evaluating."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.models import Attention, GatedDeltaNet, Mamba1, Mixer, Model, MoeFfn

#: Tensor-parallel degrees that serving engines offer inside one scale-up domain.
TENSOR_DEGREES = (1, 2, 4, 8, 16, 32, 64)
#: Pipeline stages offered: hosts come in twos and threes.
PIPELINE_DEGREES = (1, 2, 3, 4, 6, 8, 16)
#: Deployments of one replica are searched up to this many accelerators.
MOST_ACCELERATORS = 64


@dataclass(frozen=True, slots=True)
class PlanWishes:
    """What the user has fixed of a plan; None is free. `allow_*` says what the serving engine can do."""

    count: int | None = None
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    dp: int | None = None
    attention_dp: bool | None = None
    allow_pp: bool = True
    allow_ep: bool = True
    allow_attention_dp: bool = True


def divides_heads(model: Model, tp: int) -> bool:
    """Whether `tp` divides the heads of every layer, and divides or repeats the KV heads of attention."""
    for group in model.layers:
        mixer = group.mixer
        if mixer is not None and any(heads % tp for heads in _heads(mixer)):
            return False
        if isinstance(mixer, Attention) and mixer.kv_heads % tp and tp % mixer.kv_heads:
            return False
    return True


def _heads(mixer: Mixer) -> tuple[int, ...]:
    """Numbers of heads, or of channels where there are no heads, that lie whole on one rank."""
    if isinstance(mixer, GatedDeltaNet):
        return mixer.key_heads, mixer.value_heads
    if isinstance(mixer, Mamba1):
        return (mixer.inner_size,)
    return (mixer.heads,)


def _expert_count(model: Model) -> int:
    return max((g.ffn.experts for g in model.layers if isinstance(g.ffn, MoeFfn)), default=0)


def _degrees(wished: int | None, options: tuple[int, ...]) -> tuple[int, ...]:
    return options if wished is None else (wished,)


def _variants(model: Model, wishes: PlanWishes, tp: int, pp: int, dp: int) -> Iterator[tuple[int, bool]]:
    """Expert degree and attention-DP of a plan with the given other degrees."""
    experts = _expert_count(model)
    if wishes.attention_dp:
        yield wishes.ep or (tp if experts else 1), True
        return
    group = tp * dp
    if wishes.ep is not None:
        yield wishes.ep, False
    else:
        yield 1, False
        if wishes.allow_ep and experts and tp > 1 and experts % tp == 0:
            yield tp, False
    free = wishes.attention_dp is None and wishes.ep in (None, tp)
    if free and wishes.allow_attention_dp and experts and tp > 1 and pp == 1 and experts % tp == 0 and group:
        yield tp, True


def candidate_plans(
    model: Model, accelerator: Accelerator, count: int, wishes: PlanWishes
) -> tuple[ParallelPlan, ...]:
    """Return every plan of exactly `count` accelerators that agrees with `wishes`, simplest first.

    Tensor parallelism stays inside the host or scale-up domain unless the user asks otherwise and divides
    the attention heads; pipeline stages are offered across hosts and where fewer stages do not fit.
    """
    host = accelerator.cards_per_host
    plans: list[ParallelPlan] = []
    options = tuple(tp for tp in TENSOR_DEGREES if tp <= min(count, host) and divides_heads(model, tp))
    for tp in _degrees(wishes.tp, options):
        for pp in _degrees(wishes.pp, _stages(model, wishes, count, tp)):
            if count % (tp * pp):
                continue
            dp = count // (tp * pp)
            if wishes.dp is not None and dp != wishes.dp:
                continue
            for ep, attention_dp in _variants(model, wishes, tp, pp, dp):
                if (tp * dp) % ep == 0:
                    plans.append(ParallelPlan(tp, pp, ep, dp, attention_dp))
    return tuple(dict.fromkeys(plans))


def _stages(model: Model, wishes: PlanWishes, count: int, tp: int) -> tuple[int, ...]:
    if not wishes.allow_pp:
        return (1,)
    return tuple(pp for pp in PIPELINE_DEGREES if tp * pp <= count and pp <= max(1, model.layer_count))


def replica_counts(accelerator: Accelerator, wishes: PlanWishes) -> tuple[int, ...]:
    """Deployment sizes to try, smallest first, when the user gave no count."""
    if wishes.tp is not None or wishes.pp is not None or wishes.dp is not None:
        least = (wishes.tp or 1) * (wishes.pp or 1) * (wishes.dp or 1)
        return tuple(least * factor for factor in (1, 2, 4, 8, 16, 32, 64))
    host = accelerator.cards_per_host
    inside = [size for size in TENSOR_DEGREES if size <= host]
    beyond = [host * nodes for nodes in (2, 3, 4, 6, 8)] if host <= 8 else []
    return tuple(size for size in (*inside, *beyond) if size <= MOST_ACCELERATORS)
