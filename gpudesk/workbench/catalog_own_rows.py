"""Rows of what the user states, beside what the shipped catalog has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.catalog_tables import CatalogRow, CellMark, CellValue, Section
from gpudesk.domain.claims import PRICE_ENDS, PURCHASE, Attribute, Claim, Price, is_figure
from gpudesk.domain.own_facts import OwnAccelerator, OwnFacts, OwnModel
from gpudesk.domain.things import Thing
from gpudesk.text import tr
from gpudesk.workbench.catalog_columns import marked

_LOW, _HIGH = PRICE_ENDS
#: What both are called together.
_PRICE: Final = "price_purchase"


def own_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    """Yield a row for each thing, attribute and price of the user's."""
    things = {thing.id: thing for thing in catalog.things()}
    for fact in catalog.own:
        if isinstance(fact, OwnAccelerator | OwnModel) and fact.id in things:
            yield _thing_row(things[fact.id])
    for thing_id in _touched(catalog.own):
        if thing_id in things:
            yield from _override_rows(things[thing_id], catalog.attributes(thing_id))
    for price in catalog.prices():
        if price.own:
            yield _own_price_row(price, things.get(price.accelerator or ""))


def _touched(facts: OwnFacts) -> tuple[str, ...]:
    """Return the things about whose attributes the user says something, in the order in which that began."""
    about = (key[1] for key in facts.facts if key[0] in ("claim", "preference"))
    return tuple(dict.fromkeys(about))


def _thing_row(thing: Thing) -> CatalogRow:
    return CatalogRow(
        key=thing.id,
        values=(thing.name, thing.kind.value, thing.maker, *(None,) * 6),
        thing=thing.id,
        maker=thing.maker,
        own=True,
    )


def _override_rows(thing: Thing, attributes: Iterable[Attribute]) -> Iterator[CatalogRow]:
    """Yield what the user says of a thing; the two ends of a price are one amount."""
    found = {
        attribute.name: attribute
        for attribute in attributes
        if attribute.overridden or any(claim.own for claim in attribute.claims)
    }
    high = found.pop(_HIGH, None) if _LOW in found else None
    for name, attribute in found.items():
        yield _override_row(thing, attribute, high if name == _LOW else None)


def _override_row(thing: Thing, attribute: Attribute, high: Attribute | None) -> CatalogRow:
    sides = [side for side in (attribute, high) if side is not None]
    preference = next((side.preference for side in sides if side.preference is not None), None)
    yours, shipped = [_yours(side) for side in sides], [_shipped(side) for side in sides]
    stated = next((claim for claim in yours if claim is not None), None)
    date = preference.date if preference is not None else stated.retrieved if stated is not None else None
    holds = any(
        claim is not None and claim is side.preferred for claim, side in zip(yours, sides, strict=True)
    )
    return CatalogRow(
        key=f"{thing.id}/{attribute.name}",
        values=(
            thing.name,
            _PRICE if attribute.name == _LOW else attribute.name,
            _ends(yours),
            attribute.unit,
            _ends(shipped),
            _ratio(_ends(yours), _ends(shipped)),
            stated.source.title if stated is not None else None,
            date,
            None if preference is None or preference.reason == tr("Your value") else preference.reason,
        ),
        marks=_OWN_VALUE if holds else (),
        thing=thing.id,
        attribute=attribute.name,
        unit=attribute.unit,
        maker=thing.maker,
        kinds=() if stated is None else (stated.kind,),
        date=date,
        disputed=any(side.disputed for side in sides),
        own=True,
        item=stated,
    )


def _yours(attribute: Attribute) -> Claim | None:
    """Return the claim that the user takes, else the one that the user states."""
    taken = attribute.preferred
    if attribute.overridden or (taken is not None and taken.own):
        return taken
    return _first(attribute.claims, own=True)


def _shipped(attribute: Attribute) -> Claim | None:
    return attribute.shipped if attribute.overridden else _first(attribute.claims, own=False)


_OWN_VALUE: Final = marked(Section.YOURS, "yours", CellMark.OWN)


def _first(claims: Iterable[Claim], *, own: bool) -> Claim | None:
    """Return the preferred one of the user's or of the shipped claims, else the first."""
    found = [claim for claim in claims if claim.own is own]
    return next((claim for claim in found if claim.preferred), found[0] if found else None)


def _ends(claims: Iterable[Claim | None]) -> CellValue:
    """Return what claims about the ends of one amount state: one value, or the two ends."""
    values = [claim.value for claim in claims if claim is not None and claim.value is not None]
    numbers = [value for value in values if is_figure(value)]
    if len(set(numbers)) > 1:
        return min(numbers), max(numbers)
    return values[0] if values else None


def _ratio(one: CellValue, other: CellValue) -> float | None:
    """Return a value divided by another, where both are one number."""
    return float(one) / float(other) if is_figure(one) and is_figure(other) and other else None


def _own_price_row(price: Price, part: Thing | None) -> CatalogRow:
    amount = price.usd if price.usd is not None else price.usd_low
    return CatalogRow(
        key=f"price/{price.id}",
        values=(
            part.name if part is not None else price.accelerator,
            f"price_{price.term}",
            amount,
            "USD" if price.term == PURCHASE else "USD/h",
            None,
            None,
            price.source.title,
            price.date,
            price.note,
        ),
        marks=_OWN_VALUE,
        thing=price.accelerator,
        unit="USD" if price.term == PURCHASE else "USD/h",
        maker=price.provider,
        kinds=(price.kind,),
        date=price.date,
        own=True,
        item=price,
    )
