"""Which facts of the user have no effect on the catalog as it is, and why.

An upgrade of the shipped catalog may drop an entry, a claim or a dimension that the user's facts are about,
or bring an entry of the same id. What is said of them stays in the user's file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from gpudesk.catalog.attribute_names import ACCELERATOR, MODEL_STATED, model_unit
from gpudesk.catalog.definitions import MODEL_FIELDS
from gpudesk.catalog.model_patches import is_dimension
from gpudesk.catalog.overlay import same_value, unit_of
from gpudesk.domain.claims import PRICE_ENDS, Attribute, Claim, ClaimValue, Preference, is_figure
from gpudesk.domain.messages import Message, Parameter, message
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnModel, OwnPrice
from gpudesk.domain.things import Thing, ThingKind
from gpudesk.domain.waiting import Waiting

if TYPE_CHECKING:
    from gpudesk.catalog.queries import Catalog

#: What any model can have, whatever its groups of layers are.
_NAMED: Final = frozenset({*MODEL_STATED, *MODEL_FIELDS, "layer_count"})

Said = OwnClaim | Preference


def waiting_facts(catalog: Catalog) -> tuple[Waiting, ...]:
    """Return the facts that wait: entries, then what is said of attributes, then prices."""
    things = {thing.id: thing for thing in catalog.things()}
    return (
        *_entries(catalog, things),
        *_all_said(catalog, things),
        *(
            Waiting(fact.accelerator, None, _gone(fact.accelerator), (fact,))
            for fact in catalog.own
            if isinstance(fact, OwnPrice) and fact.accelerator not in things
        ),
    )


def _gone(thing: str) -> Message:
    return message("own.waits.thing", id=thing)


def _entries(catalog: Catalog, things: Mapping[str, Thing]) -> Iterator[Waiting]:
    for fact in catalog.own:
        if not isinstance(fact, OwnAccelerator | OwnModel):
            continue
        entry, kind = things.get(fact.id), _kind_of(fact)
        if entry is None:
            yield Waiting(fact.id, None, message("own.waits.unreadable"), (fact,))
        elif not entry.own:
            yield Waiting(fact.id, None, message("own.waits.taken", id=fact.id), (fact,))
        elif entry.kind is not kind:
            yield Waiting(fact.id, None, message("own.waits.two", id=fact.id), (fact,))


def _kind_of(fact: OwnAccelerator | OwnModel) -> ThingKind:
    return ThingKind.ACCELERATOR if isinstance(fact, OwnAccelerator) else ThingKind.MODEL


# Figures and choices


def _all_said(catalog: Catalog, things: Mapping[str, Thing]) -> Iterator[Waiting]:
    """Yield what waits of what is said about attributes; both ends of a price wait together."""
    said: dict[str, dict[str, list[Said]]] = {}
    for fact in catalog.own:
        if isinstance(fact, OwnClaim | Preference):
            said.setdefault(fact.thing, {}).setdefault(fact.attribute, []).append(fact)
    for thing, about in said.items():
        entry = things.get(thing)
        attributes = {} if entry is None else {each.name: each for each in catalog.attributes(thing)}
        found: dict[tuple[str, str], tuple[Message, list[Said]]] = {}
        for name, facts in about.items():
            for fact in facts:
                why = _gone(thing) if entry is None else _why(catalog, entry, attributes.get(name), fact)
                if why is not None:
                    group = PRICE_ENDS[0] if name in PRICE_ENDS else name
                    found.setdefault((group, why.id), (why, []))[1].append(fact)
        for (name, _), (why, waiting) in found.items():
            unit = ACCELERATOR.get(name, model_unit(name)) if entry is None else unit_of(entry.kind, name)
            yield Waiting(thing, name, why, tuple(waiting), unit)


def _why(catalog: Catalog, thing: Thing, attribute: Attribute | None, fact: Said) -> Message | None:
    """Return why what is said of a thing that is there waits, None where it has its effect."""
    if attribute is None or not _is_known(catalog, thing, attribute):
        return message("own.waits.attribute", id=thing.id)
    stated = any(
        claim.source.id == fact.source and same_value(claim.value, fact.value) for claim in attribute.claims
    )
    if isinstance(fact, OwnClaim) and not stated:
        return message("own.waits.cannot_be")
    if attribute.preference is not None or not _is_chosen(catalog, fact):
        return None
    if stated:
        return _no_model(attribute.preferred)
    return _no_claim(attribute.preferred, _written(fact.value, unit_of(thing.kind, fact.attribute)))


def _is_chosen(catalog: Catalog, fact: Said) -> bool:
    """Whether it is a choice, or the claim that the user's choice names: both wait together."""
    choice = catalog.own.get("preference", fact.thing, fact.attribute)
    return (
        isinstance(choice, Preference)
        and choice.source == fact.source
        and same_value(choice.value, fact.value)
    )


def _is_known(catalog: Catalog, thing: Thing, attribute: Attribute) -> bool:
    """Whether anything rests on an attribute: of a model, one that is shipped, a dimension, or named so."""
    if thing.kind is not ThingKind.MODEL or any(not claim.own for claim in attribute.claims):
        return True
    return attribute.name in _NAMED or is_dimension(catalog.definition(thing.id), attribute.name)


def _no_claim(held: Claim | None, value: Parameter) -> Message:
    """Say that nobody states what the user takes, and what holds instead."""
    if held is None:
        return message("own.waits.claim_none", value=value)
    return message("own.waits.claim_yours" if held.own else "own.waits.claim", value=value)


def _no_model(held: Claim | None) -> Message:
    """Say that the dimensions make no model, and what holds instead."""
    if held is None:
        return message("own.waits.dimension_none")
    return message("own.waits.dimension_yours" if held.own else "own.waits.dimension")


def _written(value: ClaimValue, unit: str | None) -> Parameter:
    """Return a value as a parameter of a message."""
    if is_figure(value) and unit is not None:
        return (value, unit)
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)
