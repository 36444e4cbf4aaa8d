"""The headroom of each resource under the load, smallest first, and its remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpudesk.domain.deployment_analysis import DeploymentTimeShares
from gpudesk.domain.estimate import Estimate, Limiter
from gpudesk.domain.precision import STORAGE_FORMATS, resolve_fp4
from gpudesk.domain.profile import ResourceHeadroom
from gpudesk.domain.sizing import UsableMemory
from gpudesk.profile.placements import explain_answer
from gpudesk.text.messages import Message, Share, message

if TYPE_CHECKING:
    from gpudesk.estimation.estimator import Estimator
    from gpudesk.profile.context import ProfileContext

#: Resources by the limiter that uses them.
_TIMED: Final = {
    "bandwidth": Limiter.MEMORY_BANDWIDTH,
    "compute": Limiter.COMPUTE,
    "links": Limiter.INTERCONNECT,
    "host": Limiter.OVERHEAD,
}
#: A remedy has at least this many times the resource.
_LARGER: Final = 1.1
_UNKNOWN: Final = message("profile.limit.unknown", "Not known")
_ATTRIBUTES: Final = {"memory": "memory", "bandwidth": "memory_bandwidth", "compute": "peak_dense_bf16"}


def list_limits(context: ProfileContext, estimator: Estimator) -> tuple[ResourceHeadroom, ...]:
    """Return the headroom of each resource for the profile's model, the smallest first, unknown ones last.

    For memory it is the share of usable memory left by the load; for others 1 - the share of the run time that the
    resource takes.
    """
    request = context.make_model_request(context.accelerator.id, context.model_count)
    answer = None if request is None else context.memo.answer([request])[0]
    if not isinstance(answer, Estimate) or not answer.fits:
        reason = context.explain_no_model() if answer is None else explain_answer(answer)
        unknown = (ResourceHeadroom(name, None, _UNKNOWN, reason=reason) for name in ("memory", *_TIMED))
        return (*unknown, _describe_power(context))
    shares = estimator.step_shares(answer)
    limits = [_measure_memory(answer, estimator.memory_room(answer), context)]
    if shares is not None:
        limits += [_measure_time(name, answer, shares, context) for name in _TIMED]
    limits.append(_describe_power(context))
    return tuple(sorted(limits, key=lambda each: (each.headroom is None, each.headroom or 0.0)))


def _measure_memory(estimate: Estimate, room: UsableMemory, context: ProfileContext) -> ResourceHeadroom:
    headroom = 0.0 if estimate.queues else max(0.0, room.spare_bytes / room.usable_bytes)
    used = message(
        "profile.limit.memory",
        "{needed} of {usable} usable memory; {admitted} of {concurrency} requests run at once",
        needed=(float(min(room.needed_bytes, room.usable_bytes)), "B"),
        usable=(float(room.usable_bytes), "B"),
        admitted=estimate.admitted or 0,
        concurrency=estimate.concurrency or 0,
    )
    return ResourceHeadroom("memory", headroom, used, _find_memory_remedy(estimate, context))


def _find_memory_remedy(estimate: Estimate, context: ProfileContext) -> Message | None:
    bits = STORAGE_FORMATS[resolve_fp4(estimate.request.weights, context.accelerator.vendor)].bits
    if bits > 8:
        return message("profile.remedy.format", "Weights in 8 bits instead of {bits} take half the memory", bits=bits)
    return _find_larger("memory", context) or message(
        "profile.remedy.fp8_cache", "An FP8 KV cache takes half the memory of the 16-bit cache"
    )


def _measure_time(
    name: str, estimate: Estimate, shares: DeploymentTimeShares, context: ProfileContext
) -> ResourceHeadroom:
    share = next((each.share for each in shares.run if each.name == str(_TIMED[name])), 0.0)
    used = message("profile.limit.time", "{share} of the run time", share=Share(share))
    if name == "links" and estimate.count == 1:
        return ResourceHeadroom(
            name, 1.0, used, reason=message("profile.limit.one", "1 accelerator runs the model, so no link is used")
        )
    return ResourceHeadroom(name, 1.0 - share, used, _find_time_remedy(name, estimate, context))


def _find_time_remedy(name: str, estimate: Estimate, context: ProfileContext) -> Message | None:
    if name == "host":
        return message(
            "profile.remedy.host",
            "Above {concurrency} requests in flight, the fixed time per step counts less per token",
            concurrency=estimate.concurrency or 0,
        )
    if name == "links":
        return message(
            "profile.remedy.links", "Fewer than {count} accelerators per replica communicate less", count=estimate.count
        )
    return _find_larger(name, context)


def _find_larger(resource: str, context: ProfileContext) -> Message | None:
    """Return the accelerator with the next larger amount of a resource in its category, else in the catalog."""
    attribute = _ATTRIBUTES[resource]
    own = context.facts.get_value(attribute)
    if not own:
        return None
    larger = [
        (each.category != context.facts.category, value, each.accelerator.name)
        for each in context.others
        if (value := each.get_value(attribute) or 0.0) >= _LARGER * own
    ]
    if not larger:
        return None
    _, value, name = min(larger)
    return _describe_larger(resource, name, value / own)


def _describe_larger(resource: str, accelerator: str, factor: float) -> Message:
    if resource == "memory":
        return message(
            "profile.remedy.memory", "{accelerator} has {factor} × the memory", accelerator=accelerator, factor=factor
        )
    if resource == "bandwidth":
        return message(
            "profile.remedy.bandwidth",
            "{accelerator} has {factor} × the memory bandwidth",
            accelerator=accelerator,
            factor=factor,
        )
    return message(
        "profile.remedy.compute",
        "{accelerator} has {factor} × the dense BF16 peak",
        accelerator=accelerator,
        factor=factor,
    )


def _describe_power(context: ProfileContext) -> ResourceHeadroom:
    watts = context.accelerator.tdp_w
    used = (
        _UNKNOWN
        if watts is None
        else message("profile.limit.power", "At most {power} of board power", power=(watts, "W"))
    )
    reason = message("profile.limit.power_reason", "Not modeled")
    return ResourceHeadroom("power", None, used, reason=reason)
