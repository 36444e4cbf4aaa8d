"""Explanations of attributes of the catalog, and what the catalog adds to those of an answer's parts."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.domain.claims import PRICE_ENDS, PURCHASE, Attribute, Claim, Stance
from gpudesk.domain.formatting import UNKNOWN, Formatter, Quantity, display_unit, quantity_of
from gpudesk.sheets.catalog_view import EDIT_KEY, CatalogView, aged, statement_line
from gpudesk.sheets.claim_lines import (
    claim_group,
    dispute_line,
    figure_of,
    kind_text,
    label_alone,
    range_text,
)
from gpudesk.sheets.explaining_entries import explain_price
from gpudesk.sheets.explanation import ClaimGroup, ClaimLine, Explanation, Ground, Offer, OfferKind
from gpudesk.sheets.specs import as_sentence
from gpudesk.text import tr, trn

# Attributes


def explain_catalog_attribute(view: CatalogView, thing: str, name: str) -> Explanation | None:
    """Explain an attribute of an entry, or that nobody states it."""
    found = {attribute.name: attribute for attribute in view.facts.attributes(thing)}
    if name in PRICE_ENDS and PRICE_ENDS[0] in found:
        name = PRICE_ENDS[0]
    if name not in found:
        return _recorded(view, thing) if name in PRICE_ENDS else _unstated(view, thing, name)
    attribute = found[name]
    high = found.get(PRICE_ENDS[1]) if name == PRICE_ENDS[0] else None
    groups = [claim_group(attribute, view.formatter, high)]
    sold = found.get("memory_label") if name == "memory" else None
    if sold is not None and sold.disputed:
        groups.append(claim_group(sold, view.formatter))
    figure, unit = figure_of(found, name, view.formatter)
    claim = attribute.preferred
    made = Explanation(
        what=tr("{attribute}, {thing}", attribute=label_alone(name), thing=view.named(thing)),
        conditions=_whose(attribute),
        figure=figure,
        unit=unit,
        band=range_or_shipped(attribute, view.formatter, high),
        ground=Ground.UNKNOWN if claim is None else Ground.CLAIM,
        basis="" if claim is None else claimed_by(claim),
        claims=tuple(groups),
        claims_title=trn("{n} claim", "{n} claims", len(attribute.claims)),
        disputes=tuple(
            dispute_line(each) for each in view.facts.disputes(thing) if each.concerns(thing, name)
        ),
        facts=(view.fact,),
    )
    return with_catalog(made, attribute, view, high)


def _recorded(view: CatalogView, thing: str) -> Explanation | None:
    """Explain what a part costs by the prices on record, the user's first; where there is none, say so."""
    bought = [price for price in view.facts.prices() if price.accelerator == thing and price.term == PURCHASE]
    if not bought:
        return _unstated(view, thing, PRICE_ENDS[0])
    return explain_price(view, min(bought, key=lambda price: not price.own).id)


def _unstated(view: CatalogView, thing: str, name: str) -> Explanation:
    """Say that nobody states an attribute, what follows for it from the rest, and how to state it."""
    formatter, value = view.formatter, view.computed(thing, name)
    computed = isinstance(value, int | float)
    quantity = quantity_of(name, None)
    figure = formatter.catalog(value, quantity) if isinstance(value, int | float) else UNKNOWN
    offer = Offer(OfferKind.VALUE, tr("Enter your value…"), thing, name, key=EDIT_KEY)
    return Explanation(
        what=tr("{attribute}, {thing}", attribute=label_alone(name), thing=view.named(thing)),
        conditions=tr("No source states it"),
        figure=figure,
        unit=display_unit(quantity, name) if computed else None,
        band="",
        ground=Ground.EXACT if computed else Ground.UNKNOWN,
        basis=tr("Computed from the dimensions") if computed else "",
        uses=view.uses(thing),
        offers=(offer,) if view.writable else (),
        facts=(view.fact,),
    )


def with_catalog(
    made: Explanation, attribute: Attribute, view: CatalogView, high: Attribute | None = None
) -> Explanation:
    """Return the explanation of an attribute with what the catalog adds to its claims.

    These are age, statements as printed, whose choice it is, what rests on it, and the edits there are.
    """
    claim = attribute.preferred
    statements = [
        statement
        for statement in view.facts.seed_claims(attribute.thing)
        if statement.concerns(attribute.thing, attribute.name)
    ]
    days = view.rule.prices if attribute.name in PRICE_ENDS else view.rule.facts
    dated = made if claim is None else aged(made, claim.source.date or claim.retrieved, days, view)
    return replace(
        dated,
        claims=_with_offers(made.claims, attribute, view),
        remarks=(*dated.remarks, *_remarks(attribute)),
        statements=tuple(statement_line(each) for each in statements),
        uses=view.uses(attribute.thing),
        offers=_offers(attribute, high, view),
    )


def _whose(attribute: Attribute) -> str:
    """Return whose value it is: the user's, the user's choice, or that of the shipped catalog."""
    claim, chosen = attribute.preferred, attribute.preference
    if claim is None:
        return tr("No value is taken")
    if claim.own:
        return tr("Your value, entered {date}", date=claim.retrieved or tr("no date"))
    if chosen is not None:
        return tr("Your choice among the claims, {date}", date=chosen.date)
    return tr("Shipped value")


def claimed_by(claim: Claim) -> str:
    """Return on whose word a value stands."""
    return tr("Your value: {source}", source=claim.source.title) if claim.own else kind_text(claim)


def range_or_shipped(attribute: Attribute, formatter: Formatter, high: Attribute | None) -> str:
    """Return how far claims lie apart; of the user's choice, what the shipped catalog has instead."""
    parts = []
    if quantity_of(attribute.name, attribute.unit) is Quantity.MEMORY:
        size = attribute.value
        if isinstance(size, int | float):
            parts.append(f"{formatter.gb(size)} GB")
    own = attribute.preferred is not None and attribute.preferred.own
    if attribute.overridden or own:
        return " · ".join([*parts, shipped_text(attribute, formatter)])
    return " · ".join([*parts, range_text(attribute, formatter, high)])


def shipped_text(attribute: Attribute, formatter: Formatter) -> str:
    """Return the shipped value beside the user's, with the difference where both are figures."""
    shipped, taken = attribute.shipped, attribute.value
    if shipped is None:
        return tr("No value in the shipped catalog")
    quantity = quantity_of(attribute.name, attribute.unit)
    said = tr("Shipped: {value}", value=formatter.catalog_with_unit(shipped.value, quantity, attribute.name))
    numbers = [value for value in (taken, shipped.value) if isinstance(value, int | float)]
    if len(numbers) == 2 and numbers[1] and not any(isinstance(value, bool) for value in numbers):
        ratio = numbers[0] / numbers[1]
        if ratio != 1:
            return f"{said} · {formatter.difference(ratio)}"
    return said


def _remarks(attribute: Attribute) -> tuple[str, ...]:
    found = []
    chosen = attribute.preference
    if chosen is not None:
        if chosen.reason != tr("Your value"):
            said = as_sentence(chosen.reason)
            found.append(tr("Your reason, {date}: {reason}", date=chosen.date, reason=said))
        if attribute.shipped_reason:
            found.append(tr("The shipped catalog: {reason}", reason=as_sentence(attribute.shipped_reason)))
    if any(claim.own for claim in attribute.claims):
        found.append(tr("Your value is kept in your own file. An upgrade of the catalog does not touch it."))
    return tuple(found)


def _with_offers(
    groups: tuple[ClaimGroup, ...], attribute: Attribute, view: CatalogView
) -> tuple[ClaimGroup, ...]:
    """Return the groups with an offer to take each claim of the attribute that is not taken."""
    key = f"{attribute.thing}/{attribute.name}"
    if not view.writable:
        return groups
    return tuple(
        replace(
            group,
            claims=tuple(_with_offer(line, attribute) for line in group.claims),
        )
        if group.key == key
        else group
        for group in groups
    )


def _with_offer(line: ClaimLine, attribute: Attribute) -> ClaimLine:
    if line.stance is Stance.TAKEN:
        return line
    text = tr("Take this claim…")
    return replace(
        line, offer=Offer(OfferKind.TAKE, text, attribute.thing, attribute.name, source=line.source_id)
    )


def _offers(attribute: Attribute, high: Attribute | None, view: CatalogView) -> tuple[Offer, ...]:
    if not view.writable:
        return ()
    thing, name = attribute.thing, attribute.name
    sides = [side for side in (attribute, high) if side is not None]
    own = next((claim for side in sides for claim in side.claims if claim.own), None)
    says = own is not None or any(side.overridden for side in sides)
    offers = []
    if says and not view.facts.thing(thing).own:
        shipped = any(claim for side in sides for claim in side.claims if not claim.own)
        text = tr("Revert to the shipped value") if shipped else tr("Remove your value")
        offers.append(Offer(OfferKind.REVERT, text, thing, name))
    text = tr("Enter your value…") if own is None else tr("Change your value…")
    offers.append(Offer(OfferKind.VALUE, text, thing, name, key=EDIT_KEY))
    if own is not None:
        offers.append(Offer(OfferKind.SOURCE, tr("Edit source and date…"), source=own.source.id))
    return tuple(offers)
