"""Explanations of facts of the user's that have no effect: what waits, and why."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.domain.formatting import UNKNOWN, Quantity, display_unit, quantity_of
from gpudesk.domain.waiting import Waiting
from gpudesk.sentences import sentence
from gpudesk.sheets.catalog_view import CatalogView
from gpudesk.sheets.claim_lines import label_alone
from gpudesk.sheets.explanation import Explanation, Ground, Offer, OfferKind
from gpudesk.sheets.names import short_name
from gpudesk.text import tr


def with_waiting(
    made: Explanation | None, waiting: tuple[Waiting, ...], view: CatalogView
) -> Explanation | None:
    """Return an explanation with what waits there and why; where nothing else is to be said, that alone."""
    if not waiting:
        return made
    shown = _alone(waiting[0], view) if made is None else made
    remarks = [_remark(each, view) for each in waiting]
    offers = [_offer(each) for each in waiting[:1]] if view.writable else []
    if waiting[0].price is not None:
        # A price is of a part that is there.
        shown = replace(shown, offers=())
    elif made is not None:
        shown = replace(shown, conditions=tr("{whose}, yours has no effect", whose=shown.conditions))
    return replace(shown, remarks=(*remarks, *shown.remarks), offers=(*offers, *shown.offers))


def _remark(waiting: Waiting, view: CatalogView) -> str:
    why = sentence(waiting.why, view.formatter)
    if waiting.entry is not None:
        return tr("Your entry has no effect: {why}.", why=why)
    if waiting.price is not None:
        return tr("Your price has no effect: {why}.", why=why)
    if waiting.claims:
        return tr("Your value has no effect: {why}.", why=why)
    return tr("Your choice has no effect: {why}.", why=why)


def _offer(waiting: Waiting) -> Offer:
    price = None if waiting.price is None else waiting.price.id
    text = tr("Remove from your facts")
    return Offer(OfferKind.FORGET, text, waiting.thing, waiting.attribute, price=price)


def _alone(waiting: Waiting, view: CatalogView) -> Explanation:
    """Explain what waits where the catalog has nothing beside it."""
    figure, unit = _figure(waiting, view)
    what = waiting.thing
    if waiting.attribute is not None:
        what = tr(
            "{attribute}, {thing}", attribute=label_alone(waiting.attribute), thing=view.named(waiting.thing)
        )
    elif waiting.entry is not None:
        what = waiting.entry.name
    return Explanation(
        what=what,
        conditions=tr("Without effect"),
        figure=figure,
        unit=unit,
        band="",
        ground=Ground.UNKNOWN,
        basis=tr("Yours"),
        facts=(view.fact,),
    )


def _figure(waiting: Waiting, view: CatalogView) -> tuple[str, str | None]:
    """Return what the user states or takes, with the unit beside it where its name tells one."""
    if waiting.entry is not None:
        return short_name(waiting.entry.name), None
    value = next(iter(waiting.values), None)
    if value is None:
        return UNKNOWN, None
    quantity = quantity_of(waiting.attribute or "", waiting.unit)
    figured = isinstance(value, int | float) and quantity is not Quantity.TEXT
    unit = display_unit(quantity, waiting.attribute or "") if figured else None
    return view.formatter.catalog(value, quantity), unit
