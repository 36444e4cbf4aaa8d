"""Parallel plans worth evaluating, and published rules of thumb for scaling."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.deployment_analysis import ScalingRuleOfThumb
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import Attention, GatedDeltaNet, Mamba1, Mixer, Model, MoeFfn, ShortConvolution

#: Tensor-parallel degrees that serving engines support inside one scale-up domain.
TENSOR_DEGREES = (1, 2, 4, 8, 16, 32, 64)
#: Numbers of pipeline stages to search, as hosts are used in twos and threes.
PIPELINE_DEGREES = (1, 2, 3, 4, 6, 8, 16)
#: Largest replica, in accelerators, that the search covers.
MAX_PLAN_ACCELERATORS = 64


@dataclass(frozen=True, slots=True)
class PlanConstraints:
    """The degrees of a plan that the user fixed; None is free. `allow_*` are features of the serving engine."""

    count: int | None = None
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
def _expert_count(model: Model) -> int:
    return max((g.ffn.experts for g in model.layers if isinstance(g.ffn, MoeFfn)), default=0)


def list_expert_variants(model: Model, wishes: PlanConstraints, tp: int, pp: int) -> Iterator[tuple[int, bool]]:
    """Yield EP and whether attention is data-parallel, as far as `wishes` leave them open."""
    experts = _expert_count(model)
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


@lru_cache(maxsize=1_000)
def _list_plans(model: Model, host: int, count: int, wishes: PlanConstraints) -> tuple[ParallelPlan, ...]:
    plans: list[ParallelPlan] = []
    for tp in (wishes.tp,) if wishes.tp is not None else _list_tensor_degrees(model, min(count, host)):
        for pp in (wishes.pp,) if wishes.pp is not None else _list_stages(model, wishes, count // tp):
            dp = count // (tp * pp)
            if tp * pp * dp != count or dp != (wishes.dp or dp):
                continue
            for ep, attention_dp in list_expert_variants(model, wishes, tp, pp):
                if (tp * dp) % ep == 0:
                    plans.append(ParallelPlan(tp, pp, ep, dp, attention_dp))
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


def _flat(count: int, factor: float) -> float:
    """Every accelerator loses the same from the second on: n x f."""
    return float(count) if count == 1 else count * factor


def _added(count: int, factor: float) -> float:
    """Each accelerator after the first adds f: 1 + f (n - 1)."""
    return 1.0 + factor * (count - 1)


def _compounding(count: int, factor: float) -> float:
    """Each accelerator after the first slows all of them: n x f^(n - 1)."""
    return count * factor ** (count - 1)


def _per_doubling(count: int, factor: float) -> float:
    return float(count * factor ** math.log2(count))


_RULES: Final[dict[ScalingRuleOfThumb, Callable[[int, float], float]]] = {
    ScalingRuleOfThumb.FLAT: _flat,
    ScalingRuleOfThumb.ADDED: _added,
    ScalingRuleOfThumb.COMPOUNDING: _compounding,
    ScalingRuleOfThumb.PER_DOUBLING: _per_doubling,
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
