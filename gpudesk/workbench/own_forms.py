"""Steps of forms that change several of the user's facts at once; pure functions of the catalog."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import Attribute, Source
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.own_facts import (
    Edit,
    OwnAccelerator,
    OwnClaim,
    OwnFact,
    OwnFacts,
    OwnModel,
    OwnPrice,
    fact_key,
)
from gpudesk.workbench.own_checks import line
from gpudesk.workbench.own_entry import attribute_or_empty

#: The term of a price that is paid once.
PURCHASE: Final = "purchase"
#: The two attributes of a purchase price.
PRICE_ENDS: Final = ("price_low", "price_high")
_RENTAL_TERMS: Final = ("on_demand", "spot", "reserved")


def in_place_of_held(catalog: Catalog, thing: str, attribute: str, step: Edit) -> Edit:
    """Return a step that states a value so that it takes the place of the user's own that holds now.

    Without this the former value stays beside the new one as a rival, where they have different sources.
    """
    former: list[OwnFact] = []
    for name in PRICE_ENDS if attribute in PRICE_ENDS else (attribute,):
        held = attribute_or_empty(catalog, thing, name).preferred
        stated = None if held is None else catalog.own.get("claim", thing, name, held.source.id)
        if stated is not None and stated not in step.before:
            former.append(stated)
    if not former:
        return step
    return difference(catalog.own, without(catalog.own.after(step), former), step.text)


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


def difference(before: OwnFacts, after: OwnFacts, text: Message) -> Edit:
    """Return the step from some facts to others."""
    gone = tuple(fact for fact in before if after.get(*fact_key(fact)) != fact)
    new = tuple(fact for fact in after if before.get(*fact_key(fact)) != fact)
    if not gone and not new:
        raise InputError(message("own.same_value"), "value")
    return Edit(text, before=gone, after=new)


def without(facts: OwnFacts, gone: Iterable[OwnFact]) -> OwnFacts:
    """Return the facts without some of them, and without sources that only those rested on."""
    keys = {fact_key(fact) for fact in gone}
    named = {fact.source for fact in gone if isinstance(fact, OwnClaim | OwnPrice)}
    kept = [fact for fact in facts if fact_key(fact) not in keys]
    rested = {fact.source for fact in kept if isinstance(fact, OwnClaim | OwnPrice)}
    idle = named - rested
    return OwnFacts.of(fact for fact in kept if not (isinstance(fact, Source) and fact.id in idle))


def upper_end(catalog: Catalog, attribute: Attribute) -> Attribute | None:
    """Return the other end of a range of which an attribute is the lower one; None for all others."""
    if attribute.name != PRICE_ENDS[0]:
        return None
    return attribute_or_empty(catalog, attribute.thing, PRICE_ENDS[1])
