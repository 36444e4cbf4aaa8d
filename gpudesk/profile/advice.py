"""Models ranked for each job, and the advice of a profile: tags, the verdict, and checks before buying."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.cost import CostInputOrigin
from gpudesk.domain.estimate import Estimate, EstimateRequest
from gpudesk.domain.precision import STORAGE_FORMATS
from gpudesk.domain.profile import (
    BuyingAdvice,
    JobRecommendation,
    ProfileQuestion,
    ProfileTag,
    RankingFactor,
    ResourceHeadroom,
)
from gpudesk.domain.reference_data import ExportCheck
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.profile.placements import (
    AcceleratorFacts,
    FormatPlacement,
    ModelPlacement,
    ProfileContext,
    count_months,
    iterate_held,
)
from gpudesk.profile.settings import ProfileJob, ProfileSettings
from gpudesk.profile.standing import PeerGroups
from gpudesk.text.messages import FormatName, Message, Share, Term, message, message_n

#: The job of models that no job lists, such as the user's own.
_COMMON_JOB: Final = "chat"


@frozen_dataclass
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
    single_placements = iterate_held(context.placements)
    return [request for placement, best, _ in single_placements for request in _make_requests(placement, best, context)]


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
    at_load, single = (make(accelerator, model, best.weights, 1, best.kv, alone=alone) for alone in (False, True))
    return at_load, single


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
        weights = FormatName(row.format.weights)
        yield message("profile.why.format", "in {weights}, {free} of memory free", weights=weights, free=free)
    throughput = row.factors.get(RankingFactor.THROUGHPUT)
    if throughput is not None:
        yield message("profile.why.throughput", "faster than {share} of models that fit", share=Share(throughput))
    if row.released is not None:
        yield message("profile.why.released", "released {date}", date=row.released)


_CLOUD: Final = "cloud"
_DESKTOP: Final = "desktop"

#: Categories in words, and resources as the subject of a sentence.
CATEGORY_TERMS: Final = {
    "consumer": Term("consumer", "consumer card"),
    "cloud": Term("cloud", "cloud only"),
    "rack": Term("rack", "rack-scale"),
    "card": Term("card", "PCIe card"),
    "module": Term("module", "server module"),
    "desktop": Term("desktop", "desktop system"),
    "other": Term("other", "other form"),
}
#: Memory limits how many requests run, every other resource their speed.
_MORE_REQUESTS, _SPEED = Term("requests", "further requests"), Term("speed", "the speed")
RESOURCE_TERMS: Final = {
    "memory": Term("memory", "memory"),
    "bandwidth": Term("bandwidth", "memory bandwidth"),
    "compute": Term("compute", "compute"),
    "links": Term("links", "links"),
    "host": Term("host", "host overhead"),
    "power": Term("power", "power"),
}


def list_tags(context: ProfileContext, peers: PeerGroups) -> tuple[ProfileTag, ...]:
    """Return the tags of the header, each with its rule."""
    own = context.facts
    accelerator = own.accelerator
    texts = {
        "vendor": (accelerator.vendor, message("profile.tag.vendor", "Vendor in the catalog")),
        "architecture": (
            own.get_text("architecture"),
            message("profile.tag.architecture", "Architecture in the catalog, with its source"),
        ),
        "form_factor": (
            accelerator.form_factor,
            message("profile.tag.form", "Form factor in the catalog, with its source"),
        ),
        "platform": (
            accelerator.platform,
            message("profile.tag.platform", "Software platform in the catalog, with its source"),
        ),
        "memory_type": (
            accelerator.memory_type,
            message("profile.tag.memory", "Memory type in the catalog, with its source"),
        ),
    }
    tags = [ProfileTag(name, _name_tag(text), rule) for name, (text, rule) in texts.items() if text is not None]
    tags.append(
        ProfileTag(
            "category",
            _name_tag(CATEGORY_TERMS[own.category]),
            message_n(
                "profile.tag.category",
                "By name and form factor; {count} accelerator in this category",
                "By name and form factor; {count} accelerators in this category",
                "count",
                count=len(peers.category),
            ),
        )
    )
    return (*tags, *_list_state_tags(context))


def _name_tag(name: str) -> Message:
    return message("profile.tag", "{name}", name=name)


def _list_state_tags(context: ProfileContext) -> Iterator[ProfileTag]:
    accelerator = context.accelerator
    if accelerator.announced:
        yield ProfileTag(
            "announced",
            message("profile.tag.announced", "announced"),
            message("profile.tag.announced_rule", "Announced by the vendor and not available yet"),
        )
    if accelerator.discontinued:
        yield ProfileTag(
            "discontinued",
            message("profile.tag.discontinued", "discontinued"),
            message("profile.tag.discontinued_rule", "Status in the catalog: end of life"),
        )


def make_headline(advice: BuyingAdvice, limits: Sequence[ResourceHeadroom], context: ProfileContext) -> Message:
    """Return one sentence: how many models run well and fit, and what limits first."""
    name, first = context.accelerator.name, limits[0]
    if advice.runs_well is None:
        return message(
            "profile.headline.no_rates",
            "{accelerator} fits {fits} of {models} models; their rates are unknown",
            accelerator=name,
            models=advice.models,
            fits=advice.fits,
        )
    if context.model is None or first.headroom is None:
        return message(
            "profile.headline",
            "{accelerator} fits {fits} of {models} models and runs {well} well",
            accelerator=name,
            well=advice.runs_well,
            models=advice.models,
            fits=advice.fits,
        )
    return message(
        "profile.headline.limit",
        "{accelerator} fits {fits} of {models} models and runs {well} well; {resource} limits {limited} of {model}",
        accelerator=name,
        well=advice.runs_well,
        models=advice.models,
        fits=advice.fits,
        resource=RESOURCE_TERMS[first.resource],
        limited=_MORE_REQUESTS if first.resource == "memory" else _SPEED,
        model=context.placements[context.model].model.name,
    )


def advise(models: Sequence[RankedModel], export: ExportCheck | None, context: ProfileContext) -> BuyingAdvice:
    """Return the verdict by form factor and price, the shares of models, and the checks before buying.

    `export` is None if the export rules cannot be read.
    """
    rule = context.settings.runs_well
    fits = sum(each.held_alone for each in context.placements.values())
    return BuyingAdvice(
        _judge(context),
        sum(_runs_well(each, context) for each in models) if models or not fits else None,
        fits,
        len(context.placements),
        message(
            "profile.runs_well",
            "Runs well: at least {bits} bits or as published, {tokens_per_s} tok/s for 1 request, and {concurrency} "
            "requests at once",
            bits=rule.bits,
            tokens_per_s=rule.tokens_per_s,
            concurrency=rule.concurrency,
        ),
        tuple(_list_checks(export, context)),
    )


def _runs_well(model: RankedModel, context: ProfileContext) -> bool:
    rule, rate = context.settings.runs_well, model.single.output_tokens_per_s
    wide = model.placement.is_native or STORAGE_FORMATS[model.format.weights].bits >= rule.bits
    room = model.single.max_concurrency >= rule.concurrency
    return wide and room and rate is not None and rate.value >= rule.tokens_per_s


def _judge(context: ProfileContext) -> Message:
    own = context.facts
    accelerator = own.accelerator
    form = accelerator.form_factor
    hosts = Term("workstations", "workstations") if own.category == "consumer" else Term("servers", "servers")
    if own.category == _CLOUD:
        return message("profile.buy.cloud", "Not sold: rent it from {vendor}", vendor=accelerator.vendor)
    if accelerator.announced:
        date = own.get_text("release_date")
        if date is None:
            return message("profile.buy.undated", "Announced without a date: compare delivery dates before you order")
        return message(
            "profile.buy.announced", "Announced for {date}: compare delivery dates before you order", date=date
        )
    if own.category == _DESKTOP:
        return message("profile.buy.desktop", "Sold only as a complete desktop system; ask for a quote")
    if form is None:
        return message("profile.buy.no_form", "Form factor unknown: check which server takes it")
    if own.price_usd is None:
        return message(
            "profile.buy.no_price",
            "For {hosts} that take {form}; price unknown, so ask for a quote",
            hosts=hosts,
            form=form,
        )
    return message(
        "profile.buy.price",
        "For {hosts} that take {form}, at {price} each",
        hosts=hosts,
        form=form,
        price=(own.price_usd, "USD"),
    )


def _list_checks(export: ExportCheck | None, context: ProfileContext) -> Iterator[Message]:
    own, accelerator = context.facts, context.accelerator
    if own.category not in (_CLOUD, _DESKTOP) and accelerator.form_factor is not None:
        yield _check_form(own)
    yield _check_price(own)
    yield _check_delivery(accelerator)
    if own.category != _CLOUD:
        yield _check_power(accelerator)
    yield _check_export(export)
    engines = tuple(each.name for each in context.catalog.serving_engines() if each.runs_on(accelerator))
    if engines:
        yield message(
            "profile.check.support", "Support: runs on {engines}; test your model there first", engines=engines
        )
    else:
        yield message("profile.check.no_support", "Support: no serving engine in the catalog supports it")


def _check_form(own: AcceleratorFacts) -> Message:
    form = own.accelerator.form_factor or ""
    if own.category in ("module", "rack"):
        return message(
            "profile.check.form",
            "Server: {form} fits only servers or racks built for it, with up to {count} accelerators",
            form=form,
            count=own.accelerator.cards_per_host,
        )
    return message("profile.check.slot", "Host: check slots, height and airflow for {form}", form=form)


def _check_price(own: AcceleratorFacts) -> Message:
    if own.category == _CLOUD:
        return message("profile.check.cloud", "Price: rented only; compare rents on the cost page")
    if own.price_usd is None:
        return message("profile.check.no_price", "Price: no purchase price in the catalog; enter your quote")
    price, record = (own.price_usd, "USD"), own.price.record
    if own.price.origin is CostInputOrigin.YOURS:
        return message("profile.check.own_price", "Price: {price}, as entered in this scenario", price=price)
    if own.price.system is None:
        return message(
            "profile.check.price", "Price: {price} is the median in the catalog; ask for a quote", price=price
        )
    if record is None:
        return message("profile.check.system_price", "Price: {price} each, from prices of whole systems", price=price)
    return message(
        "profile.check.prices",
        "Price: {price} each in whole systems, used here; {single} if bought individually",
        price=price,
        single=(record.median, "USD"),
    )


def _check_delivery(accelerator: Accelerator) -> Message:
    if accelerator.announced:
        return message("profile.check.delivery", "Delivery: not available yet; get a date in writing")
    if accelerator.discontinued:
        return message("profile.check.stock", "Delivery: discontinued; check stock, warranty and spares")
    if accelerator.status is None:
        return message("profile.check.status", "Delivery: availability unknown; ask the vendor")
    return message("profile.check.shipping", "Delivery: available; get the lead time in writing")


def _check_power(accelerator: Accelerator) -> Message:
    if accelerator.tdp_w is None:
        return message("profile.check.no_power", "Power: board power unknown; ask the vendor")
    return message(
        "profile.check.power",
        "Power: {power} of board power each; check supply and cooling",
        power=(accelerator.tdp_w, "W"),
    )


def _check_export(export: ExportCheck | None) -> Message:
    if export is None or export.tpp is None:
        return message(
            "profile.check.export_unknown", "Export: total processing performance unknown; check the current rule"
        )
    outcomes = {each.met for each in export.rules if each.rule.is_active and each.rule.is_control}
    tpp = round(export.tpp)
    if True in outcomes:
        return message(
            "profile.check.export_controlled",
            "Export: total processing performance (TPP) {tpp} is controlled by current US rules; not legal advice",
            tpp=tpp,
        )
    if None in outcomes:
        return message(
            "profile.check.export_open",
            "Export: total processing performance (TPP) {tpp}; die area unknown, so check the current rule",
            tpp=tpp,
        )
    return message(
        "profile.check.export_free",
        "Export: total processing performance (TPP) {tpp} is below the limits of current US rules",
        tpp=tpp,
    )
