"""Models for each job, ranked by fit, speed, throughput, context, recency and tier under the weights of a mode."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.profile import JobRecommendation, ProfileQuestion, RankingFactor
from gpudesk.profile.context import count_months
from gpudesk.profile.placements import FormatPlacement, ModelPlacement, iterate_held
from gpudesk.profile.settings import ProfileJob, ProfileSettings
from gpudesk.text.messages import Message, Share, message

if TYPE_CHECKING:
    from gpudesk.profile.context import ProfileContext

#: The job of models that no job lists, such as the user's own.
_COMMON_JOB: Final = "chat"


@dataclass(frozen=True, slots=True)
class RankedModel:
    """A model that one accelerator holds, with its estimates, and its factors scaled to 0..1 among all that fit."""

    placement: ModelPlacement
    format: FormatPlacement
    context_tokens: int
    free_bytes: int
    usable_bytes: int
    at_load: Estimate
    single: Estimate
    released: str | None
    factors: Mapping[RankingFactor, float]


def resolve_weights(question: ProfileQuestion, settings: ProfileSettings) -> Mapping[RankingFactor, float]:
    """Return the weight of each factor: the question's if given, else that of the mode."""
    return MappingProxyType({**settings.modes[question.mode], **(question.weights or {})})


def compute_score(factors: Mapping[RankingFactor, float], weights: Mapping[RankingFactor, float]) -> float:
    """Return the weighted mean of the known factors, 0..1; 0 if none has a weight."""
    total = sum(weights.get(factor, 0.0) for factor in factors)
    if total <= 0.0:
        return 0.0
    return sum(weights.get(factor, 0.0) * value for factor, value in factors.items()) / total


def list_ranking_requests(context: ProfileContext) -> list[EstimateRequest]:
    held = iterate_held(context.placements)
    return [request for placement, best, _ in held for request in _make_requests(placement, best, context)]


def list_ranked_models(context: ProfileContext) -> tuple[RankedModel, ...]:
    """Return all models that one accelerator holds with estimated rates, in catalog order."""
    rows = []
    for placement, best, step in iterate_held(context.placements):
        at_load, single = context.memo.fitting(_make_requests(placement, best, context))
        if at_load is None or single is None:
            continue
        rows.append(
            RankedModel(
                placement,
                best,
                placement.find_longest_context(),
                step.headroom_bytes,
                step.usable_bytes,
                at_load,
                single,
                find_release_date(placement.model.id, context),
                MappingProxyType({}),
            )
        )
    values = [_measure_factors(row, context) for row in rows]
    scaled = _scale_factors(values)
    return tuple(replace(row, factors=factors) for row, factors in zip(rows, scaled, strict=True))


def _make_requests(
    placement: ModelPlacement, best: FormatPlacement, context: ProfileContext
) -> tuple[EstimateRequest, EstimateRequest]:
    make, model = context.memo.make_request, placement.model.id
    accelerator = context.accelerator.id
    return make(accelerator, model, best.weights, 1), make(accelerator, model, best.weights, 1, alone=True)


def find_release_date(model: str, context: ProfileContext) -> str | None:
    date = context.catalog.model_values(model).get("release_date")
    return None if date is None else str(date)


def _measure_factors(row: RankedModel, context: ProfileContext) -> dict[RankingFactor, float]:
    """Return the measure of each factor in its own unit, capped at what is enough; unknown ones are left out."""
    model = row.placement.model.id
    enough = context.settings.enough
    values = {
        RankingFactor.FIT: min(row.free_bytes / row.usable_bytes, enough.free_share),
        RankingFactor.CONTEXT: float(row.context_tokens),
    }
    for factor, estimate in ((RankingFactor.SPEED, row.single), (RankingFactor.THROUGHPUT, row.at_load)):
        if estimate.output_tokens_per_s is not None:
            values[factor] = estimate.output_tokens_per_s.value
    if RankingFactor.SPEED in values:
        values[RankingFactor.SPEED] = min(values[RankingFactor.SPEED], enough.tokens_per_s)
    months = count_months(row.released)
    if months is not None:
        values[RankingFactor.RECENCY] = float(months)
    tiers = context.question.tiers or {}
    tier = tiers.get(model, None if tiers else context.parameters.get(model))
    if tier is not None:
        values[RankingFactor.TIER] = tier
    return values


def _scale_factors(values: Sequence[Mapping[RankingFactor, float]]) -> list[Mapping[RankingFactor, float]]:
    """Return each value as its rank among all of its factor, 0 the lowest and 1 the highest; ties share a rank."""
    known = {factor: sorted(row[factor] for row in values if factor in row) for factor in RankingFactor}
    return [MappingProxyType({factor: _rank(value, known[factor]) for factor, value in row.items()}) for row in values]


def _rank(value: float, ordered: Sequence[float]) -> float:
    if len(ordered) < 2:
        return 1.0
    below, up_to = bisect_left(ordered, value), bisect_right(ordered, value)
    return (below + up_to - 1) / (2 * (len(ordered) - 1))


def recommend(models: Sequence[RankedModel], context: ProfileContext) -> tuple[JobRecommendation, ...]:
    """Return the best models of each job, jobs in the order of the settings."""
    weights = resolve_weights(context.question, context.settings)
    named = frozenset().union(*(job.models for job in context.settings.jobs))
    return tuple(
        recommendation
        for job in context.settings.jobs
        for recommendation in _recommend_for(job, models, weights, named, context.settings.recommendations)
    )


def _recommend_for(
    job: ProfileJob,
    models: Sequence[RankedModel],
    weights: Mapping[RankingFactor, float],
    named: frozenset[str],
    most: int,
) -> Iterator[JobRecommendation]:
    suited = [
        row
        for row in models
        if row.context_tokens >= job.context_tokens
        and (row.placement.model.id in job.models or (job.id == _COMMON_JOB and row.placement.model.id not in named))
    ]
    suited.sort(key=lambda row: (-compute_score(row.factors, weights), row.placement.model.id))
    for row in suited[:most]:
        estimate = row.at_load
        yield JobRecommendation(
            job.id,
            row.placement.model.id,
            row.format.weights,
            compute_score(row.factors, weights),
            row.factors,
            row.context_tokens,
            row.single.output_tokens_per_s,
            estimate.output_tokens_per_s,
            estimate.serving_engine,
            estimate.basis,
            estimate.request,
            tuple(_explain_rank(row)),
        )


def _explain_rank(row: RankedModel) -> Iterator[Message]:
    free = Share(row.free_bytes / row.usable_bytes)
    if row.placement.is_native:
        yield message("profile.why.native", "as published, {free} of memory free", free=free)
    else:
        weights = str(row.format.weights).upper()
        yield message("profile.why.format", "in {weights}, {free} of memory free", weights=weights, free=free)
    throughput = row.factors.get(RankingFactor.THROUGHPUT)
    if throughput is not None:
        yield message("profile.why.throughput", "faster than {share} of models that fit", share=Share(throughput))
    if row.released is not None:
        yield message("profile.why.released", "released {date}", date=row.released)
