"""What forms of the user's own facts need beyond single edits; pure functions of the catalog."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import PRICE_ENDS, PURCHASE, Attribute
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import (
    Edit,
    OwnAccelerator,
    OwnClaim,
    OwnFact,
    OwnFacts,
    OwnModel,
    OwnPrice,
)
from gpudesk.workbench.own_checks import line
from gpudesk.workbench.own_entry import attribute_or_empty

_RENTAL_TERMS: Final = ("on_demand", "spot", "reserved")


def rename(catalog: Catalog, thing: str, name: str, maker: str) -> Edit:
    """Give an entry of the user's another name and maker; its id stays, so that scenarios find it."""
    found = catalog.own.get("accelerator", thing) or catalog.own.get("model", thing)
    named, by = line("name", name.strip()), line("maker", maker.strip())
    if isinstance(found, OwnAccelerator):
        changed: OwnFact = replace(found, name=named, vendor=by)
    elif isinstance(found, OwnModel):
        changed = replace(found, name=named, organisation=by)
    else:
        raise InputError(message("own.not_own", id=thing), "id")
    if changed == found:
        raise InputError(message("own.same_value"), "name")
    text = message("own.step.rename", name=found.name, new=named)
    return Edit(text, before=(found,), after=(changed,))


def price_id(price: OwnPrice) -> str:
    """Return an id for a new price of the user's: the same words make the same price."""
    digest = hashlib.sha256(repr(replace(price, id="")).encode("utf-8", "surrogatepass")).hexdigest()
    return f"own-{price.accelerator}-{digest[:8]}"


def rental_terms(catalog: Catalog) -> tuple[str, ...]:
    """Return the terms on which accelerators are rented, those of the catalog among them."""
    stated = dict.fromkeys((*_RENTAL_TERMS, *(price.term for price in catalog.prices())))
    return tuple(term for term in stated if term != PURCHASE)


def rests_on(facts: OwnFacts, source: str) -> int:
    """Return how many of the user's figures rest on a source."""
    return sum(isinstance(fact, OwnClaim | OwnPrice) and fact.source == source for fact in facts)


def upper_end(catalog: Catalog, attribute: Attribute) -> Attribute | None:
    """Return the other end of a range of which an attribute is the lower one; None for all others."""
    if attribute.name != PRICE_ENDS[0]:
        return None
    return attribute_or_empty(catalog, attribute.thing, PRICE_ENDS[1])
