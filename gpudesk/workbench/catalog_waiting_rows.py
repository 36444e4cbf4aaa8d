"""Rows of what the user states without effect: about what is gone, or against what came since."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.catalog_tables import CatalogRow, CellValue
from gpudesk.domain.claims import PRICE_ENDS, Claim, Source, is_figure
from gpudesk.domain.own_facts import OwnAccelerator, OwnModel
from gpudesk.domain.things import Thing, ThingKind
from gpudesk.domain.waiting import Waiting

LOW: Final = PRICE_ENDS[0]
#: What both ends of a price are called together.
PRICE: Final = "price_purchase"


def waiting_row(catalog: Catalog, thing: Thing | None, waiting: Waiting) -> CatalogRow:
    """Return the row of an entry, or of what is said of an attribute, that waits; of no price."""
    if waiting.entry is not None:
        return _entry_row(waiting, waiting.entry)
    name = waiting.attribute or ""
    yours = ends(waiting.values)
    shipped = ends(claim.value for claim in _held(catalog, thing, name))
    claim = next(iter(waiting.claims), None)
    source = None if claim is None else catalog.own.get("source", claim.source)
    dates = [*(each.date for each in waiting.choices), *(each.retrieved for each in waiting.claims)]
    return CatalogRow(
        key=_key(waiting),
        values=(
            waiting.thing if thing is None else thing.name,
            PRICE if name == LOW else name,
            yours,
            waiting.unit,
            shipped,
            ratio(yours, shipped),
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


def _key(waiting: Waiting) -> str:
    return "/".join(("waiting", *waiting.keys[0]))


def _entry_row(waiting: Waiting, entry: OwnAccelerator | OwnModel) -> CatalogRow:
    part = isinstance(entry, OwnAccelerator)
    kind = ThingKind.ACCELERATOR if part else ThingKind.MODEL
    maker = entry.vendor if isinstance(entry, OwnAccelerator) else entry.organisation
    return CatalogRow(
        key=_key(waiting),
        values=(entry.name, kind.value, maker, *(None,) * 5, waiting.why.id),
        thing=entry.id,
        maker=maker,
        own=True,
        waits=waiting,
    )


def _held(catalog: Catalog, thing: Thing | None, name: str) -> list[Claim]:
    """Return what the shipped catalog takes for an attribute, of a price for both ends."""
    if thing is None:
        return []
    names = PRICE_ENDS if name == LOW else (name,)
    choices = (each.catalog_choice for each in catalog.attributes(thing.id) if each.name in names)
    return [claim for claim in choices if claim is not None]


def ends(values: Iterable[CellValue]) -> CellValue:
    """Return the values of the ends of one amount: one value, or the two ends."""
    stated = [value for value in values if value is not None]
    numbers = [value for value in stated if is_figure(value)]
    if len(set(numbers)) > 1:
        return min(numbers), max(numbers)
    return stated[0] if stated else None


def ratio(one: CellValue, other: CellValue) -> float | None:
    """Return a value divided by another, where both are one number."""
    return float(one) / float(other) if is_figure(one) and is_figure(other) and other else None
