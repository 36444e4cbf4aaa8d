"""Headroom of each resource, models just out of reach, and upgrades: another accelerator, or more of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.accelerator import Accelerator, resolve_fp4
from gpudesk.domain.deployment_analysis import DeploymentTimeShares
from gpudesk.domain.estimate import Estimate, Limiter
from gpudesk.domain.precision import STORAGE_FORMATS
from gpudesk.domain.profile import OutOfReach, ResourceHeadroom, Upgrade
from gpudesk.domain.sizing import UsableMemory
from gpudesk.estimation.estimator import Estimator
from gpudesk.estimation.sizing.fit_matrix import DeploymentLadder
from gpudesk.profile.placements import AcceleratorFacts, FormatPlacement, ModelPlacement, ProfileContext, explain_answer
from gpudesk.text.messages import Message, message

#: Categories of accelerators that cannot be bought one by one.
_NOT_SOLD_SINGLY: Final = ("cloud", "rack")


# Just out of reach


def list_out_of_reach(context: ProfileContext) -> tuple[OutOfReach, ...]:
    """Return the models that one accelerator does not hold as published, with the least missing memory first.

    Models that no narrower format brings within reach come first.
    """
    rows = sorted(
        _find_out_of_reach(context), key=lambda row: (row[0].smaller_format is not None, row[0].missing_bytes)
    )
    rows = rows[: context.settings.out_of_reach]
    requests = [
        context.memo.make_request(
            context.accelerator.id, each.model, each.weights, each.count, placement.find_kv(each.weights)
        )
        for each, placement in rows
        if each.count is not None
    ]
    estimates = {each.model: estimate for each, estimate in zip(requests, context.memo.fitting(requests), strict=True)}
    return tuple(_add_figures(row, placement, estimates.get(row.model), context) for row, placement in rows)


def _find_out_of_reach(context: ProfileContext) -> Iterator[tuple[OutOfReach, ModelPlacement]]:
    for model, placement in context.placements.items():
        runnable = [each for each in placement.formats if isinstance(each.ladder, DeploymentLadder)]
        if not runnable or runnable[0].count == 1:
            continue
        best = placement.best
        smaller = best.weights if best is not None and best.count == 1 else None
        # For models within reach by a narrower format: the memory missing for the published one; else for the best one.
        row = runnable[0] if smaller is not None else best or runnable[-1]
        yield (
            OutOfReach(model, row.weights, _count_missing_bytes(row, context), row.count, smaller, None, None, None),
            placement,
        )


def _count_missing_bytes(placement: FormatPlacement, context: ProfileContext) -> int:
    """Return the missing bytes of one accelerator for the weights, activations, runtime and KV cache of one request."""
    ladder = placement.ladder
    assert isinstance(ladder, DeploymentLadder)
    return ladder.count_missing_bytes(context.finder.tokens)


def _add_figures(
    row: OutOfReach, placement: ModelPlacement, estimate: Estimate | None, context: ProfileContext
) -> OutOfReach:
    if row.count is None:
        return replace(row, reason=placement.explain(context.finder.tokens))
    if estimate is None:
        return row
    return replace(
        row,
        figure=estimate.output_tokens_per_s,
        usd_per_million_output=context.compute_cost_per_million(estimate),
        request=estimate.request,
    )


# Upgrades


def list_upgrades(context: ProfileContext) -> tuple[Upgrade, ...]:
    """Return the upgrades: most models unlocked per USD first, then those without a price, most models first.

    More of the same accelerator is included. Those that are only rented or sold by the rack are left out, unless the
    accelerator itself is.
    """
    unreached = [each for each in context.placements.values() if not each.held_alone]
    same = list(_scale_out(unreached, context))
    others = list(_scale_up(unreached, context))
    ranked = sorted((*same, *others), key=_rank_upgrade)
    return tuple(ranked[: context.settings.upgrades])


def _rank_upgrade(upgrade: Upgrade) -> tuple[bool, float, int, float]:
    """Order by USD per unlocked model; then by models unlocked and speed."""
    per_model = upgrade.usd_per_unlocked
    speed = upgrade.speedup or 0.0
    return per_model is None, 0.0 if per_model is None else per_model, -len(upgrade.unlocked), -speed


def _scale_out(unreached: Sequence[ModelPlacement], context: ProfileContext) -> Iterator[Upgrade]:
    accelerator, price = context.accelerator, context.facts.price_usd
    counts = [count for count in context.settings.counts if 1 < count <= accelerator.cards_per_host]
    rates = _estimate_rates([(accelerator, count) for count in (1, *counts)], context)
    for count, rate in zip(counts, rates[1:], strict=True):
        unlocked = tuple(
            each.model.id for each in unreached if (best := each.best) is not None and (best.count or 0) <= count
        )
        if not unlocked:
            continue
        extra = None if price is None else (count - 1) * price
        yield _make_upgrade(accelerator, count, unlocked, _compute_speedup(rate, rates[0]), extra, context)


def _scale_up(unreached: Sequence[ModelPlacement], context: ProfileContext) -> Iterator[Upgrade]:
    own = context.facts
    larger = [
        each
        for each in context.others
        if each.accelerator.memory_bytes > own.accelerator.memory_bytes
        and (each.category not in _NOT_SOLD_SINGLY or each.category == own.category)
    ]
    larger.sort(key=lambda each: (each.price_usd is None, each.category != own.category, each.accelerator.memory_bytes))
    del larger[context.settings.upgrade_candidates :]
    rates = _estimate_rates([(each.accelerator, 1) for each in (own, *larger)], context)
    for facts, rate in zip(larger, rates[1:], strict=True):
        accelerator = facts.accelerator
        unlocked = tuple(each.model.id for each in unreached if context.finder.holds_alone(accelerator, each.model))
        speedup = _compute_speedup(rate, rates[0])
        if unlocked:
            yield _make_upgrade(accelerator, 1, unlocked, speedup, _compute_extra(facts, own), context)


def _compute_extra(facts: AcceleratorFacts, own: AcceleratorFacts) -> float | None:
    if facts.price_usd is None or own.price_usd is None:
        return None
    return facts.price_usd - own.price_usd


def _estimate_rates(deployments: Sequence[tuple[Accelerator, int]], context: ProfileContext) -> list[float | None]:
    """Return output tokens/s of the profile's model on each deployment, in its format; None if it does not run."""
    requests = [
        request
        for accelerator, count in deployments
        if (request := context.make_model_request(accelerator.id, count)) is not None
    ]
    if not requests:
        return [None] * len(deployments)
    return [
        None if each is None or each.output_tokens_per_s is None else each.output_tokens_per_s.value
        for each in context.memo.fitting(requests)
    ]


def _compute_speedup(rate: float | None, own: float | None) -> float | None:
    return None if not rate or not own else rate / own


def _make_upgrade(
    accelerator: Accelerator,
    count: int,
    unlocked: tuple[str, ...],
    speedup: float | None,
    extra_usd: float | None,
    context: ProfileContext,
) -> Upgrade:
    budget = context.question.budget_usd
    return Upgrade(
        accelerator.id,
        count,
        unlocked,
        speedup,
        extra_usd,
        None if extra_usd is None else max(extra_usd, 0.0) / len(unlocked),
        accelerator.announced,
        None if budget is None or extra_usd is None else extra_usd <= budget,
        _explain_missing_price(accelerator, context) if extra_usd is None else None,
    )


def _explain_missing_price(accelerator: Accelerator, context: ProfileContext) -> Message:
    missing = accelerator if context.facts.price_usd is not None else context.accelerator
    return message(
        "profile.upgrade.no_price",
        "No purchase price for {accelerator}; enter a price to see the extra cost",
        accelerator=missing.name,
    )


# Headroom

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
    resource limits.
    """
    request = context.make_model_request(context.accelerator.id, context.model_count)
    answer = None if request is None else context.memo.answer([request])[0]
    if not isinstance(answer, Estimate) or not answer.fits:
        reason = context.explain_no_model() if answer is None else explain_answer(answer)
        unknown = (ResourceHeadroom(name, None, _UNKNOWN, reason=reason) for name in ("memory", *_TIMED))
        return (*unknown, _describe_power(context))
    shares = estimator.compute_time_shares(answer)
    limits = [_measure_memory(answer, estimator.compute_usable_memory(answer), context)]
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
    used = message("profile.limit.time", "of the run time")
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
