"""Rows of what the user states, beside what the shipped catalog has."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.catalog_tables import CatalogRow, CellMark, CellValue, Section
from gpudesk.domain.claims import PRICE_ENDS, PURCHASE, Attribute, Claim, Price
from gpudesk.domain.own_facts import Key, OwnAccelerator, OwnFacts, OwnModel
from gpudesk.domain.things import Thing
from gpudesk.domain.waiting import Waiting
from gpudesk.text import tr
from gpudesk.workbench.catalog_columns import marked
from gpudesk.workbench.catalog_waiting_rows import LOW, PRICE, ends, ratio, waiting_row

_HIGH: Final = PRICE_ENDS[1]


def own_rows(catalog: Catalog) -> Iterator[CatalogRow]:
    """Yield a row for each thing, attribute and price of the user's."""
    things = {thing.id: thing for thing in catalog.things()}
    waits = {key for waiting in catalog.waiting for key in waiting.keys}
    for fact in catalog.own:
        if isinstance(fact, OwnAccelerator | OwnModel) and fact.key not in waits:
            yield _thing_row(things[fact.id])
    for thing_id in _touched(catalog.own):
        if thing_id in things:
            yield from _override_rows(things[thing_id], catalog.attributes(thing_id), waits)
    for waiting in catalog.waiting:
        if waiting.price is None:
            yield waiting_row(catalog, things.get(waiting.thing), waiting)
    gone = {waiting.price.id: waiting for waiting in catalog.waiting if waiting.price is not None}
    for price in catalog.prices():
        if price.own:
            yield _own_price_row(price, things.get(price.accelerator or ""), gone.get(price.id))


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


def _override_rows(
    thing: Thing, attributes: Iterable[Attribute], waits: Container[Key]
) -> Iterator[CatalogRow]:
    """Yield what the user says of a thing with effect; the two ends of a price are one amount."""
    found = {
        attribute.name: attribute
        for attribute in attributes
        if any(
            claim.own and ("claim", thing.id, attribute.name, claim.source.id) not in waits
            for claim in attribute.claims
        )
        or (attribute.overridden and ("preference", thing.id, attribute.name) not in waits)
    }
    high = found.pop(_HIGH, None) if LOW in found else None
    for name, attribute in found.items():
        yield _override_row(thing, attribute, high if name == LOW else None)


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
            PRICE if attribute.name == LOW else attribute.name,
            ends(_values(yours)),
            attribute.unit,
            ends(_values(shipped)),
            ratio(ends(_values(yours)), ends(_values(shipped))),
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


def _values(claims: Iterable[Claim | None]) -> Iterator[CellValue]:
    return (claim.value for claim in claims if claim is not None)


def _own_price_row(price: Price, part: Thing | None, waiting: Waiting | None) -> CatalogRow:
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
            price.note if waiting is None else waiting.why.id,
        ),
        marks=() if waiting is not None else _OWN_VALUE,
        thing=price.accelerator,
        unit="USD" if price.term == PURCHASE else "USD/h",
        maker=price.provider,
        kinds=(price.kind,),
        date=price.date,
        own=True,
        item=price,
        waits=waiting,
    )
