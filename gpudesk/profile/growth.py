"""Models just out of reach, and upgrades that hold them: another accelerator, or more of the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.domain.estimate import Estimate
from gpudesk.domain.profile import OutOfReach, Upgrade
from gpudesk.estimation.sizing.fit_matrix import DeploymentLadder
from gpudesk.profile.placements import FormatPlacement, ModelPlacement
from gpudesk.text.messages import Message, message

if TYPE_CHECKING:
    from gpudesk.domain.accelerator import Accelerator
    from gpudesk.profile.context import AcceleratorFacts, ProfileContext

_CLOUD: Final = "cloud"


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
        context.memo.make_request(context.accelerator.id, each.model, each.weights, each.count)
        for each, _ in rows
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
        usd_per_million_output=context.cost_per_million(estimate),
        request=estimate.request,
    )


# Upgrades


def list_upgrades(context: ProfileContext) -> tuple[Upgrade, ...]:
    """Return the upgrades: most models unlocked per USD first, then those without a price, most models first.

    More of the same accelerator is included. Rent-only accelerators are left out, unless the accelerator itself is.
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
        and (each.category != _CLOUD or own.category == _CLOUD)
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
