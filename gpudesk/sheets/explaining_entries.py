"""Explanations of entries of the catalog: whole things, prices, sources, disputes, statements."""

from __future__ import annotations

from gpudesk.domain.claims import PURCHASE, Price, Source
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.domain.things import Thing
from gpudesk.sheets.catalog_stated import price_text, stated_groups
from gpudesk.sheets.catalog_view import EDIT_KEY, CatalogView, aged, statement_line
from gpudesk.sheets.catalog_words import word
from gpudesk.sheets.claim_lines import (
    dispute_line,
)
from gpudesk.sheets.explanation import (
    Detail,
    Explanation,
    Ground,
    Offer,
    OfferKind,
)
from gpudesk.sheets.labels import kind_label
from gpudesk.sheets.names import short_name
from gpudesk.text import tr, trn


def explain_catalog_thing(view: CatalogView, thing: str) -> Explanation:
    """Explain an entry: what its attributes rest on, and the statements and disputes about it."""
    entry = view.facts.thing(thing)
    attributes = view.facts.attributes(thing)
    disputed = sum(attribute.disputed for attribute in attributes)
    own = sum(
        attribute.overridden or any(claim.own for claim in attribute.claims) for attribute in attributes
    )
    counted = trn("{n} attribute", "{n} attributes", len(attributes))
    parts = [counted]
    if disputed:
        parts.append(tr("sources differ on {n}", n=disputed))
    if own:
        parts.append(tr("yours: {n}", n=own))
    about = [each for each in view.facts.seed_claims(thing) if not each.attributes]
    return Explanation(
        what=entry.name,
        conditions=", ".join(part for part in (word_of_kind(entry), entry.maker) if part),
        figure=short_name(entry.name),
        unit=None,
        band=" · ".join(parts),
        ground=Ground.CLAIM,
        basis=tr("Yours") if entry.own else tr("Entry of the shipped catalog"),
        disputes=tuple(dispute_line(each) for each in view.facts.disputes(thing) if not each.attributes),
        statements=tuple(statement_line(each) for each in about),
        uses=view.uses(thing),
        facts=(view.fact,),
    )


def word_of_kind(entry: Thing) -> str:
    """Return what kind of entry it is."""
    return {
        "accelerator": tr("Accelerator"),
        "model": tr("Model"),
        "diffusion_model": tr("Diffusion model"),
        "serving_engine": tr("Serving engine"),
    }[entry.kind.value]


def explain_price(view: CatalogView, price_id: str) -> Explanation | None:
    """Explain a price; None where there is no such."""
    price = next((each for each in view.facts.prices() if each.id == price_id), None)
    if price is None:
        return None
    bought = price.term == PURCHASE
    what = tr("Purchase price, {thing}", thing=view.named(price.accelerator))
    if not bought:
        what = tr("Rent, {thing}", thing=view.named(price.accelerator) or tr("another part"))
    figure, unit = price_text(price, view.formatter)
    kind = kind_label(price.kind)
    made = Explanation(
        what=what,
        conditions=", ".join(part for part in (word(price.term), price.provider, price.region) if part),
        figure=figure,
        unit=unit,
        band=tr("For one accelerator") + (f" · {price.note}" if price.note else ""),
        ground=Ground.CLAIM,
        basis=tr("Your value: {source}", source=price.source.title)
        if price.own
        else f"{kind[:1].upper()}{kind[1:]}, {price.date or price.source.date or tr('no date')}",
        details=(*_price_details(price), *source_details(price.source)),
        uses=view.uses(price.accelerator),
        offers=_price_offers(price, view),
        facts=(view.fact,),
    )
    return aged(made, price.date or price.source.date, view.rule.prices, view)


def _price_details(price: Price) -> tuple[Detail, ...]:
    count = price.accelerators_in_instance
    pairs = (
        (tr("Instance"), price.instance),
        (tr("Accelerators"), None if count is None else str(count)),
        (tr("Basis"), price.basis),
        (tr("As of"), price.date),
    )
    return tuple(Detail(label, text) for label, text in pairs if text)


def _price_offers(price: Price, view: CatalogView) -> tuple[Offer, ...]:
    if not view.writable or price.accelerator is None:
        return ()
    if price.own:
        return (
            Offer(OfferKind.PRICE, tr("Edit your price…"), price.accelerator, price=price.id, key=EDIT_KEY),
        )
    return (Offer(OfferKind.PRICE, tr("Enter your price…"), price.accelerator, key=EDIT_KEY),)


def source_details(source: Source) -> tuple[Detail, ...]:
    """Return by what a source can be found, and what is remarked on it."""
    pairs = (
        (tr("Title"), source.title),
        (tr("Publisher"), None if source.publisher == "not stated" else source.publisher),
        (tr("Kind"), kind_label(source.kind)),
        (tr("Date"), source.date or tr("no date")),
        (tr("Remark"), source.trust),
    )
    found = tuple(Detail(label, text) for label, text in pairs if text)
    return (*found, Detail(tr("Address"), source.url, url=True)) if source.url else found


def explain_source(view: CatalogView, source_id: str) -> Explanation:
    """Explain a source: how it can be found, and all that it states."""
    source = view.facts.source(source_id)
    count, groups = stated_groups(view.facts, source, view.formatter)
    offers = (Offer(OfferKind.SOURCE, tr("Edit source and date…"), source=source_id, key=EDIT_KEY),)
    kind = kind_label(source.kind)
    made = Explanation(
        what=source.title,
        conditions="" if source.publisher == "not stated" else source.publisher,
        figure=view.formatter.count(count),
        unit=trn("figure", "figures", count),
        band="",
        ground=Ground.CLAIM,
        basis=f"{kind[:1].upper()}{kind[1:]}, {source.date or tr('no date')}",
        details=source_details(source),
        statements=tuple(
            statement_line(each)
            for each in view.facts.seed_claims()
            if each.source.id == source_id and not each.attributes
        ),
        stated=groups,
        offers=offers if source.own and view.writable else (),
        facts=(view.fact,),
    )
    return aged(made, source.date, view.rule.facts, view)


def explain_dispute(view: CatalogView, dispute_id: str) -> Explanation | None:
    """Explain a contradiction: both sides as printed, the verdict and its reason; None if it is not there."""
    dispute = next((each for each in view.facts.disputes() if each.id == dispute_id), None)
    if dispute is None:
        return None
    sides = {dispute.claim_a, dispute.claim_b}
    statements = [each for each in view.facts.seed_claims() if each.id in sides]
    line = dispute_line(dispute)
    return Explanation(
        what=tr(
            "{attribute}, {thing}",
            attribute=_words(dispute.attribute),
            thing=dispute.subject,
        ),
        conditions=tr("Contradiction {id}, judged", id=dispute.id),
        figure=line.verdict,
        unit=None,
        band=line.disagreement,
        ground=Ground.CLAIM,
        basis=line.refused_by or tr("Two statements that cannot both hold"),
        remarks=(line.reason,),
        statements=tuple(statement_line(each) for each in statements),
        facts=(view.fact,),
    )


def explain_statement(view: CatalogView, statement_id: str) -> Explanation | None:
    """Explain a statement of a source document, with the contradictions that it is part of."""
    found = next((each for each in view.facts.seed_claims() if each.id == statement_id), None)
    if found is None:
        return None
    line = statement_line(found)
    judged = [each for each in view.facts.disputes() if statement_id in (each.claim_a, each.claim_b)]
    value = found.value if found.value_high in (None, found.value) else f"{found.value} – {found.value_high}"
    made = Explanation(
        what=tr("{attribute}, {thing}", attribute=_words(found.attribute), thing=found.subject),
        conditions=_words(found.conditions) if found.conditions else tr("As printed"),
        figure=value,
        unit=None if found.unit in ("text", "date", "year", "boolean") else found.unit,
        band=line.remark,
        ground=Ground.CLAIM,
        basis=line.origin,
        details=line.details,
        disputes=tuple(dispute_line(each) for each in judged),
        facts=(view.fact,),
    )
    return aged(made, found.source.date, view.rule.facts, view)


def _words(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:] if words else UNKNOWN
