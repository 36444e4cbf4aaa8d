"""Explains what is selected in the catalog, and does what the explanations offer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Final

from gpudesk.desktop.pages.catalog.requests import EditorKind, EditorRequest
from gpudesk.desktop.session import selection as selections
from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.selection import Selection, SelectionKind
from gpudesk.desktop.session.settings import Settings
from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.messages import InputError
from gpudesk.domain.waiting import Waiting
from gpudesk.sheets.catalog_view import CatalogView
from gpudesk.sheets.dates import today
from gpudesk.sheets.explaining_catalog import explain_catalog_attribute
from gpudesk.sheets.explaining_entries import (
    explain_catalog_thing,
    explain_dispute,
    explain_price,
    explain_source,
    explain_statement,
)
from gpudesk.sheets.explaining_waiting import with_waiting
from gpudesk.sheets.explanation import Explanation, Offer, OfferKind
from gpudesk.text import tr
from gpudesk.workbench.catalog_things import computed_value
from gpudesk.workbench.own_edits import forget, revert
from gpudesk.workbench.settings_file import age_rule

_EDITORS: Final = {
    OfferKind.VALUE: EditorKind.VALUE,
    OfferKind.TAKE: EditorKind.PREFERENCE,
    OfferKind.SOURCE: EditorKind.SOURCE,
    OfferKind.PRICE: EditorKind.PRICE,
}


def catalog_view(desk: Desk, settings: Settings | None) -> CatalogView:
    """Return the catalog as the user of a desk looks at it today."""
    scenario = desk.scenario
    used = {choice.accelerator: tr("accelerator of the comparison") for choice in scenario.accelerators}
    if scenario.model:
        used[scenario.model] = tr("model of the comparison")
    return CatalogView(
        facts=desk.workbench.catalog,
        formatter=desk.formatter,
        today=today(),
        rule=AgeRule() if settings is None else age_rule(settings.values),
        scenario=scenario.name,
        used=used,
        writable=desk.workbench.own.writable,
        computed=partial(computed_value, desk.workbench.catalog),
    )


def explain_selection(selection: Selection, view: CatalogView) -> Explanation | None:
    """Explain what is selected in the catalog; None where it is not there any more."""
    explain = {
        SelectionKind.PRICE: explain_price,
        SelectionKind.SOURCE: explain_source,
        SelectionKind.DISPUTE: explain_dispute,
        SelectionKind.STATEMENT: explain_statement,
    }
    try:
        if selection.kind is SelectionKind.CATALOG:
            made = explain_catalog_attribute(view, selection.thing, selection.name)
        elif selection.kind is SelectionKind.THING:
            made = explain_catalog_thing(view, selection.thing)
        else:
            made = explain[selection.kind](view, selection.name)
    except InputError:
        made = None
    return with_waiting(made, _waiting_at(selection, view.facts.waiting), view)


def _waiting_at(selection: Selection, waiting: Iterable[Waiting]) -> tuple[Waiting, ...]:
    """Return what of the user's facts waits in the place that is selected."""
    if selection.kind is SelectionKind.PRICE:
        return tuple(each for each in waiting if each.price is not None and each.price.id == selection.name)
    if selection.kind not in (SelectionKind.CATALOG, SelectionKind.THING):
        return ()
    return tuple(each for each in waiting if each.concerns(selection.thing, selection.name or None))


def request_of(offer: Offer) -> EditorRequest:
    """Return what to open an editor for."""
    kind = _EDITORS[offer.kind]
    if kind is EditorKind.SOURCE:
        return EditorRequest(kind, source=offer.source)
    return EditorRequest(kind, offer.thing, offer.attribute, claim=offer.source, price=offer.price)


def forget_offer(offer: Offer, desk: Desk) -> None:
    """Remove facts of the user that have no effect; raises `InputError` where that fails."""
    own, catalog = desk.workbench.own, desk.workbench.catalog
    place = selections.catalog_attribute(offer.thing or "", offer.attribute or "")
    if offer.price is not None:
        place = selections.catalog_price(offer.price)
    for each in _waiting_at(place, catalog.waiting)[:1]:
        own.do(forget(catalog, each))


def revert_offer(offer: Offer, desk: Desk) -> None:
    """Take back all that the user says of an attribute; raises `InputError` where that fails."""
    own, catalog = desk.workbench.own, desk.workbench.catalog
    own.do(revert(catalog, offer.thing or "", offer.attribute or ""))
