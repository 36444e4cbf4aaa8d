"""Plans that are not tried at all, with what rules them out: hosts, heads, or the serving engine."""

from __future__ import annotations

from collections.abc import Iterator

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import EstimateRequest
from gpudesk.domain.messages import Message, message
from gpudesk.domain.models import Model, MoeFfn
from gpudesk.engine.plans import PIPELINE_DEGREES, TENSOR_DEGREES, divides_heads
from gpudesk.workbench.setups import Frame

#: A plan with what rules it out.
Exclusion = tuple[ParallelPlan, Message]


def exclusions(request: EstimateRequest, frame: Frame, count: int) -> tuple[Exclusion, ...]:
    """Return one plan of `count` accelerators for each thing that rules some out.

    Only degrees that the user left open are looked at: of the others nothing was to be chosen.
    """
    if count == 1 or (request.tp, request.pp, request.dp) != (None, None, None):
        return ()
    found = [*_tensor(frame, count), *_pipeline(frame, count)]
    if request.ep is None and request.attention_dp is None:
        found += _experts(frame, count)
    return tuple(found)


def _degrees(count: int) -> tuple[int, ...]:
    return tuple(tp for tp in TENSOR_DEGREES if 1 < tp <= count and count % tp == 0)


def _tensor(frame: Frame, count: int) -> Iterator[Exclusion]:
    """Yield tensor-parallel degrees whose heads do not divide, and the smallest that leaves its host."""
    host = frame.accelerator.cards_per_host
    for tp in _degrees(count):
        plan = ParallelPlan(tp, dp=count // tp)
        if not divides_heads(frame.model, tp):
            yield plan, message("plan.heads_do_not_divide", tp=tp, model=frame.model.name)
        elif tp > host:
            yield plan, message("plan.beyond_host", tp=tp, host=host)
            return


def _pipeline(frame: Frame, count: int) -> Iterator[Exclusion]:
    if frame.engine.supports_pp:
        return
    stages = [pp for pp in PIPELINE_DEGREES if 1 < pp <= frame.model.layer_count and count % pp == 0]
    if stages:
        plan = ParallelPlan(pp=stages[0], dp=count // stages[0])
        yield plan, message("plan.no_pp", engine=frame.engine.name)


def _experts(frame: Frame, count: int) -> Iterator[Exclusion]:
    """Yield the widest plan with expert parallelism, and with data-parallel attention, if it is not tried."""
    experts = expert_count(frame.model)
    host = frame.accelerator.cards_per_host
    ranks = [tp for tp in _degrees(count) if tp <= host and divides_heads(frame.model, tp)]
    if not experts or not ranks:
        return
    ep = ranks[-1]
    plan, name = ParallelPlan(ep, ep=ep, dp=count // ep), frame.engine.name
    beside = ParallelPlan(ep, ep=ep, dp=count // ep, attention_dp=True)
    if experts % ep:
        yield plan, message("plan.experts_do_not_divide", ep=ep, experts=experts)
        return
    if not frame.engine.supports_ep:
        yield plan, message("plan.no_ep", engine=name)
    if not frame.engine.supports_attention_dp:
        yield beside, message("plan.no_attention_dp", engine=name)


def expert_count(model: Model) -> int:
    """Return the experts of the widest layer; 0 where there are none."""
    return max((group.ffn.experts for group in model.layers if isinstance(group.ffn, MoeFfn)), default=0)
