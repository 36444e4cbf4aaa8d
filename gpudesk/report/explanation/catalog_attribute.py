"""Explains attributes of the catalog, and inactive facts of the user."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, PURCHASE_TERM, AttributeClaims, Claim, ClaimStatus
from gpudesk.domain.registry import find_quantity
from gpudesk.domain.user_facts import InactiveOverride
from gpudesk.report.explanation.catalog_entry import (
    EDIT_KEY,
    CatalogContext,
    add_age,
    build_statement_line,
    explain_price,
)
from gpudesk.report.explanation.claims import (
    build_claim_group,
    build_dispute_line,
    describe_claim_kind,
    describe_claim_range,
    format_attribute_value,
)
from gpudesk.report.explanation.parts import (
    CatalogAction,
    CatalogActionKind,
    ClaimGroup,
    ClaimLine,
    Explanation,
    ExplanationBasis,
)
from gpudesk.report.labels import label_attribute_alone, label_date, shorten_name
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, Quantity, get_display_unit
from gpudesk.text.messages import format_message, to_sentence
from gpudesk.text.translation import tr, trn

# Attributes


def explain_catalog_attribute(view: CatalogContext, thing: str, name: str) -> Explanation | None:
    attributes = {attribute.name: attribute for attribute in view.facts.attributes(thing)}
    if name in PRICE_BOUND_ATTRIBUTES and PRICE_BOUND_ATTRIBUTES[0] in attributes:
        name = PRICE_BOUND_ATTRIBUTES[0]
    if name not in attributes:
        return _has_record(view, thing) if name in PRICE_BOUND_ATTRIBUTES else _explain_unstated(view, thing, name)
    attribute = attributes[name]
    high = attributes.get(PRICE_BOUND_ATTRIBUTES[1]) if name == PRICE_BOUND_ATTRIBUTES[0] else None
    groups = [build_claim_group(attribute, view.formatter, high)]
    sold = attributes.get("memory_label") if name == "memory" else None
    if sold is not None and sold.disputed:
        groups.append(build_claim_group(sold, view.formatter))
    figure, unit = format_attribute_value(attributes, name, view.formatter)
    claim = attribute.preferred
    explanation = Explanation(
        what=tr("{attribute}, {subject}", attribute=label_attribute_alone(name), subject=view.find_name(thing)),
        conditions=_describe_owner(attribute),
        figure=figure,
        unit=unit,
        band=describe_range_or_shipped(attribute, view.formatter, high),
        ground=ExplanationBasis.UNKNOWN if claim is None else ExplanationBasis.CLAIM,
        basis="" if claim is None else describe_origin_of_value(claim),
        claims=tuple(groups),
        claims_title=trn("{n} claim", "{n} claims", len(attribute.claims)),
        disputes=tuple(build_dispute_line(each) for each in view.facts.disputes(thing) if each.concerns(thing, name)),
        facts=(view.fact,),
    )
    return add_catalog_facts(explanation, attribute, view, high)


def _has_record(view: CatalogContext, thing: str) -> Explanation | None:
    """Explain an accelerator's price by the prices on record, the user's first, or state that none exists."""
    bought = [
        price
        for price in view.facts.prices()
        if price.accelerator == thing and price.term == PURCHASE_TERM and not price.is_refused
    ]
    if not bought:
        return _explain_unstated(view, thing, PRICE_BOUND_ATTRIBUTES[0])
    return explain_price(view, min(bought, key=lambda price: not price.own).id)


def _explain_unstated(view: CatalogContext, thing: str, name: str) -> Explanation:
    formatter, value = view.formatter, view.computed(thing, name)
    computed = isinstance(value, int | float)
    quantity = find_quantity(name, None)
    figure = formatter.catalog(value, quantity) if isinstance(value, int | float) else MISSING_VALUE_TEXT
    offer = CatalogAction(CatalogActionKind.VALUE, tr("Enter your value…"), thing, name, key=EDIT_KEY)
    return Explanation(
        what=tr("{attribute}, {subject}", attribute=label_attribute_alone(name), subject=view.find_name(thing)),
        conditions=tr("Not published"),
        figure=figure,
        unit=get_display_unit(quantity) if computed else None,
        ground=ExplanationBasis.EXACT if computed else ExplanationBasis.UNKNOWN,
        basis=tr("Computed from the dimensions") if computed else "",
        uses=view.uses(thing),
        offers=(offer,) if view.writable else (),
        facts=(view.fact,),
    )


def add_catalog_facts(
    explanation: Explanation, attribute: AttributeClaims, view: CatalogContext, high: AttributeClaims | None = None
) -> Explanation:
    """Return the explanation of an attribute with data from the catalog.

    These are age, printed statements, the owner of the choice, uses, and available edits.
    """
    claim = attribute.preferred
    statements = [
        statement
        for statement in view.facts.seed_claims(attribute.thing)
        if statement.concerns(attribute.thing, attribute.name)
    ]
    days = view.rule.prices if attribute.name in PRICE_BOUND_ATTRIBUTES else view.rule.facts
    dated = explanation if claim is None else add_age(explanation, claim.source.date or claim.retrieved, days, view)
    remarks = []
    chosen = attribute.preference
    if chosen is not None:
        if chosen.reason != tr("Your value"):
            reason = to_sentence(chosen.reason)
            remarks.append(tr("Your reason, {date}: {reason}", date=label_date(chosen.date), reason=reason))
        if attribute.shipped_reason:
            remarks.append(tr("Shipped catalog: {reason}", reason=to_sentence(attribute.shipped_reason)))
    if any(claim.own for claim in attribute.claims):
        remarks.append(tr("Your value is kept in your own file. Catalog updates do not change it."))
    return replace(
        dated,
        claims=_add_actions(explanation.claims, attribute, view),
        remarks=(*dated.remarks, *remarks),
        statements=tuple(build_statement_line(each) for each in statements),
        uses=view.uses(attribute.thing),
        offers=_list_actions(attribute, high, view),
    )


def _describe_owner(attribute: AttributeClaims) -> str:
    """Return whether the value is the user's, the user's choice, or the shipped one."""
    claim, chosen = attribute.preferred, attribute.preference
    if claim is None:
        return tr("No value")
    if claim.own:
        return tr("Entered by you, {date}", date=label_date(claim.retrieved))
    if chosen is not None:
        return tr("Chosen by you, {date}", date=label_date(chosen.date))
    return tr("Shipped value")


def describe_origin_of_value(claim: Claim) -> str:
    return tr("Your value: {source}", source=claim.source.title) if claim.own else describe_claim_kind(claim)


def describe_range_or_shipped(attribute: AttributeClaims, formatter: Formatter, high: AttributeClaims | None) -> str:
    """Return the range of the claims; for the user's choice, the shipped value."""
    parts = []
    if find_quantity(attribute.name, attribute.unit) is Quantity.MEMORY:
        size = attribute.value
        if isinstance(size, int | float):
            parts.append(f"{formatter.gb(size)} GB")
    own = attribute.preferred is not None and attribute.preferred.own
    if attribute.overridden or own:
        return " · ".join([*parts, describe_shipped_value(attribute, formatter)])
    return " · ".join([*parts, describe_claim_range(attribute, formatter, high)])


def describe_shipped_value(attribute: AttributeClaims, formatter: Formatter) -> str:
    """Return the shipped value next to the user's, with the difference if both are figures."""
    shipped, effective = attribute.shipped, attribute.value
    if shipped is None:
        return tr("No value in the shipped catalog")
    quantity = find_quantity(attribute.name, attribute.unit)
    text = tr("Shipped: {value}", value=formatter.catalog_with_unit(shipped.value, quantity))
    numbers = [value for value in (effective, shipped.value) if isinstance(value, int | float)]
    if len(numbers) == 2 and numbers[1] and not any(isinstance(value, bool) for value in numbers):
        ratio = numbers[0] / numbers[1]
        if ratio != 1:
            return f"{text} · {formatter.difference(ratio)}"
    return text


def _add_actions(
    groups: tuple[ClaimGroup, ...], attribute: AttributeClaims, view: CatalogContext
) -> tuple[ClaimGroup, ...]:
    """Return the groups with an offer to prefer each claim that is not preferred."""
    key = f"{attribute.thing}/{attribute.name}"
    if not view.writable:
        return groups
    return tuple(
        replace(group, claims=tuple(_add_action_to_claim(line, attribute) for line in group.claims))
        if group.key == key
        else group
        for group in groups
    )


def _add_action_to_claim(line: ClaimLine, attribute: AttributeClaims) -> ClaimLine:
    if line.stance is ClaimStatus.TAKEN:
        return line
    text = tr("Use this claim…")
    return replace(
        line, offer=CatalogAction(CatalogActionKind.TAKE, text, attribute.thing, attribute.name, source=line.source_id)
    )


def _list_actions(
    attribute: AttributeClaims, high: AttributeClaims | None, view: CatalogContext
) -> tuple[CatalogAction, ...]:
    if not view.writable:
        return ()
    thing, name = attribute.thing, attribute.name
    sides = [side for side in (attribute, high) if side is not None]
    own = next((claim for side in sides for claim in side.claims if claim.own), None)
    is_user_value = own is not None or any(side.overridden for side in sides)
    offers = []
    if is_user_value and not view.facts.thing(thing).own:
        shipped = any(claim for side in sides for claim in side.claims if not claim.own)
        text = tr("Reset to shipped value") if shipped else tr("Remove your value")
        offers.append(CatalogAction(CatalogActionKind.REVERT, text, thing, name))
    text = tr("Enter your value…") if own is None else tr("Change your value…")
    offers.append(CatalogAction(CatalogActionKind.VALUE, text, thing, name, key=EDIT_KEY))
    if own is not None:
        offers.append(CatalogAction(CatalogActionKind.SOURCE, tr("Edit source and date…"), source=own.source.id))
    return tuple(offers)


def add_inactive_facts(
    explanation: Explanation | None, waiting: tuple[InactiveOverride, ...], view: CatalogContext
) -> Explanation | None:
    """Return an explanation with the inactive facts and reasons; these alone if there is nothing else."""
    if not waiting:
        return explanation
    explained = _explain_inactive_alone(waiting[0], view) if explanation is None else explanation
    remarks = [_build_inactive_remark(each, view) for each in waiting]
    offers = [_build_forget_action(each) for each in waiting[:1]] if view.writable else []
    if waiting[0].price is not None:
        # A price belongs to an existing accelerator.
        explained = replace(explained, offers=())
    elif explanation is not None:
        explained = replace(explained, conditions=tr("{origin}, your value is inactive", origin=explained.conditions))
    return replace(explained, remarks=(*remarks, *explained.remarks), offers=(*offers, *explained.offers))


def _build_inactive_remark(waiting: InactiveOverride, view: CatalogContext) -> str:
    why = format_message(waiting.why, view.formatter)
    if waiting.entry is not None:
        return tr("Your entry is inactive: {why}.", why=why)
    if waiting.price is not None:
        return tr("Your price is inactive: {why}.", why=why)
    if waiting.claims:
        return tr("Your value is inactive: {why}.", why=why)
    return tr("Your choice is inactive: {why}.", why=why)


def _build_forget_action(waiting: InactiveOverride) -> CatalogAction:
    price = None if waiting.price is None else waiting.price.id
    text = tr("Remove from your values")
    return CatalogAction(CatalogActionKind.FORGET, text, waiting.thing, waiting.attribute, price=price)


def _explain_inactive_alone(waiting: InactiveOverride, view: CatalogContext) -> Explanation:
    figure, unit = _format_inactive_value(waiting, view)
    what = waiting.thing
    if waiting.attribute is not None:
        what = tr(
            "{attribute}, {subject}",
            attribute=label_attribute_alone(waiting.attribute),
            subject=view.find_name(waiting.thing),
        )
    elif waiting.entry is not None:
        what = waiting.entry.name
    return Explanation(
        what=what, conditions=tr("Inactive"), figure=figure, unit=unit, basis=tr("Yours"), facts=(view.fact,)
    )


def _format_inactive_value(waiting: InactiveOverride, view: CatalogContext) -> tuple[str, str | None]:
    """Return the value that the user states or prefers, with its unit if known from its name."""
    if waiting.entry is not None:
        return shorten_name(waiting.entry.name), None
    value = next(iter(waiting.values), None)
    if value is None:
        return MISSING_VALUE_TEXT, None
    quantity = find_quantity(waiting.attribute or "", waiting.unit)
    figured = isinstance(value, int | float) and quantity is not Quantity.TEXT
    unit = get_display_unit(quantity) if figured else None
    return view.formatter.catalog(value, quantity), unit
