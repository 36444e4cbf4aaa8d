"""Rows of the user's facts next to the shipped values, active and inactive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gpudesk.catalog.list_columns import mark_user_cell
from gpudesk.catalog.read import Catalog
from gpudesk.domain.attributes import CatalogCellValue, CatalogRow, CatalogSection
from gpudesk.domain.claim import (
    PRICE_BOUND_ATTRIBUTES,
    PURCHASE_TERM,
    AttributeClaims,
    CatalogEntry,
    Claim,
    PriceRecord,
    Source,
    is_figure,
)
from gpudesk.domain.user_facts import InactiveOverride, UserEntry, UserModel
from gpudesk.text.translation import tr

PRICE_LOW: Final = PRICE_BOUND_ATTRIBUTES[0]
#: The common name of both ends of a price.
PURCHASE_PRICE: Final = "price_purchase"


def make_inactive_row(catalog: Catalog, thing: CatalogEntry | None, waiting: InactiveOverride) -> CatalogRow:
    """Return the row of an inactive entry or attribute value; prices have their own rows."""
    if waiting.entry is not None:
        return _make_inactive_entry_row(waiting, waiting.entry)
    name = waiting.attribute or ""
    yours = merge_ends(waiting.values)
    shipped = merge_ends(claim.value for claim in _list_shipped_claims(catalog, thing, name))
    claim = next(iter(waiting.claims), None)
    source = None if claim is None else catalog.user_facts.get("source", claim.source)
    dates = [*(each.date for each in waiting.choices), *(each.retrieved for each in waiting.claims)]
    return CatalogRow(
        key=_make_inactive_key(waiting),
        values=(
            waiting.thing if thing is None else thing.name,
            PURCHASE_PRICE if name == PRICE_LOW else name,
            yours,
            waiting.unit,
            shipped,
            divide_values(yours, shipped),
            source.title if isinstance(source, Source) else None,
            dates[0],
            waiting.why.id,
        ),
        thing=waiting.thing,
        attribute=name,
        unit=waiting.unit,
        maker=None if thing is None else thing.maker,
        kinds=tuple(dict.fromkeys(each.kind for each in waiting.claims)),
        date=dates[0],
        own=True,
        waits=waiting,
    )


def _make_inactive_key(waiting: InactiveOverride) -> str:
    return "/".join(("waiting", *waiting.keys[0]))


def _make_inactive_entry_row(waiting: InactiveOverride, entry: UserEntry) -> CatalogRow:
    maker = entry.organisation if isinstance(entry, UserModel) else entry.vendor
    return CatalogRow(
        key=_make_inactive_key(waiting),
        values=(entry.name, entry.key[0], maker, *(None,) * 5, waiting.why.id),
        thing=entry.id,
        maker=maker,
        own=True,
        waits=waiting,
    )


def _list_shipped_claims(catalog: Catalog, thing: CatalogEntry | None, name: str) -> list[Claim]:
    if thing is None:
        return []
    names = PRICE_BOUND_ATTRIBUTES if name == PRICE_LOW else (name,)
    choices = (each.catalog_choice for each in catalog.attributes(thing.id) if each.name in names)
    return [claim for claim in choices if claim is not None]


def merge_ends(values: Iterable[CatalogCellValue]) -> CatalogCellValue:
    """Return the ends of one amount as one value, or as a range."""
    known_values = [value for value in values if value is not None]
    numbers = [value for value in known_values if is_figure(value)]
    if len(set(numbers)) > 1:
        return min(numbers), max(numbers)
    return known_values[0] if known_values else None


def divide_values(one: CatalogCellValue, other: CatalogCellValue) -> float | None:
    """Return a value divided by another, if both are single numbers."""
    return float(one) / float(other) if is_figure(one) and is_figure(other) and other else None


_PRICE_HIGH: Final = PRICE_BOUND_ATTRIBUTES[1]


def iterate_user_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    """Yield a row for each of the user's entries, attributes and prices."""
    things = {thing.id: thing for thing in catalog.things()}
    waits = {key for waiting in catalog.waiting for key in waiting.keys}
    for fact in catalog.user_facts:
        if isinstance(fact, UserEntry) and fact.key not in waits:
            yield _make_user_entry_row(things[fact.id])
    about = (key[1] for key in catalog.user_facts.facts if key[0] in ("claim", "preference"))
    for thing_id in dict.fromkeys(about):
        if thing_id in things:
            thing = things[thing_id]
            attributes = catalog.attributes(thing_id)
            user_attributes = {
                attribute.name: attribute
                for attribute in attributes
                if any(
                    claim.own and ("claim", thing.id, attribute.name, claim.source.id) not in waits
                    for claim in attribute.claims
                )
                or (attribute.overridden and ("preference", thing.id, attribute.name) not in waits)
            }
            high = user_attributes.pop(_PRICE_HIGH, None) if PRICE_LOW in user_attributes else None
            for name, attribute in user_attributes.items():
                yield _make_override_row(thing, attribute, high if name == PRICE_LOW else None)
    for waiting in catalog.waiting:
        if waiting.price is None:
            yield make_inactive_row(catalog, things.get(waiting.thing), waiting)
    inactive = {waiting.price.id: waiting for waiting in catalog.waiting if waiting.price is not None}
    for price in catalog.prices():
        if price.own:
            yield _make_user_price_row(price, things.get(price.accelerator or ""), inactive.get(price.id))


def _make_user_entry_row(thing: CatalogEntry) -> CatalogRow:
    return CatalogRow(
        key=thing.id,
        values=(thing.name, thing.kind.value, thing.maker, *(None,) * 6),
        thing=thing.id,
        maker=thing.maker,
        own=True,
    )


def _make_override_row(thing: CatalogEntry, attribute: AttributeClaims, high: AttributeClaims | None) -> CatalogRow:
    sides = [side for side in (attribute, high) if side is not None]
    preference = next((side.preference for side in sides if side.preference is not None), None)
    yours, shipped = [_find_user_claim(side) for side in sides], [_find_shipped_claim(side) for side in sides]
    user_claim = next((claim for claim in yours if claim is not None), None)
    date = preference.date if preference is not None else user_claim.retrieved if user_claim is not None else None
    holds = any(claim is not None and claim is side.preferred for claim, side in zip(yours, sides, strict=True))
    return CatalogRow(
        key=f"{thing.id}/{attribute.name}",
        values=(
            thing.name,
            PURCHASE_PRICE if attribute.name == PRICE_LOW else attribute.name,
            merge_ends(_list_values(yours)),
            attribute.unit,
            merge_ends(_list_values(shipped)),
            divide_values(merge_ends(_list_values(yours)), merge_ends(_list_values(shipped))),
            user_claim.source.title if user_claim is not None else None,
            date,
            None if preference is None or preference.reason == tr("Your value") else preference.reason,
        ),
        marks=_USER_VALUE if holds else (),
        thing=thing.id,
        attribute=attribute.name,
        unit=attribute.unit,
        maker=thing.maker,
        kinds=() if user_claim is None else (user_claim.kind,),
        date=date,
        disputed=any(side.disputed for side in sides),
        own=True,
        item=user_claim,
    )


def _find_user_claim(attribute: AttributeClaims) -> Claim | None:
    preferred = attribute.preferred
    if attribute.overridden or (preferred is not None and preferred.own):
        return preferred
    return _find_first(attribute.claims, own=True)


def _find_shipped_claim(attribute: AttributeClaims) -> Claim | None:
    return attribute.shipped if attribute.overridden else _find_first(attribute.claims, own=False)


_USER_VALUE: Final = mark_user_cell(CatalogSection.YOURS, "yours")


def _find_first(claims: Iterable[Claim], *, own: bool) -> Claim | None:
    """Return the preferred one of the user's or of the shipped claims, else the first."""
    user_claims = [claim for claim in claims if claim.own is own]
    return next((claim for claim in user_claims if claim.preferred), user_claims[0] if user_claims else None)


def _list_values(claims: Iterable[Claim | None]) -> Iterator[CatalogCellValue]:
    return (claim.value for claim in claims if claim is not None)


def _make_user_price_row(price: PriceRecord, part: CatalogEntry | None, waiting: InactiveOverride | None) -> CatalogRow:
    amount = price.usd if price.usd is not None else price.usd_low
    return CatalogRow(
        key=f"price/{price.id}",
        values=(
            part.name if part is not None else price.accelerator,
            f"price_{price.term}",
            amount,
            "USD" if price.term == PURCHASE_TERM else "USD/h",
            None,
            None,
            price.source.title,
            price.date,
            price.note if waiting is None else waiting.why.id,
        ),
        marks=() if waiting is not None else _USER_VALUE,
        thing=price.accelerator,
        unit="USD" if price.term == PURCHASE_TERM else "USD/h",
        maker=price.provider,
        kinds=(price.kind,),
        date=price.date,
        own=True,
        item=price,
        waits=waiting,
    )
