"""The header and the advice of a profile: tags with their rules, the verdict, and checks before buying."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from gpudesk.domain.cost import CostInputOrigin
from gpudesk.domain.precision import STORAGE_FORMATS
from gpudesk.domain.profile import BuyingAdvice, ProfileTag, ResourceHeadroom
from gpudesk.profile.ranking import RankedModel
from gpudesk.profile.standing import PeerGroups
from gpudesk.text.messages import Message, Term, message, message_n

if TYPE_CHECKING:
    from gpudesk.domain.accelerator import Accelerator
    from gpudesk.domain.reference_data import ExportCheck
    from gpudesk.profile.context import AcceleratorFacts, ProfileContext

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
