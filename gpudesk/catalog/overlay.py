"""User facts merged over the shipped catalog, by entry and attribute."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any, Final, get_args

from gpudesk.catalog.model_definition import (
    find_dimension,
    is_dimension,
    parse_model,
    patch_definition,
    to_canonical_json,
)
from gpudesk.domain.attributes import REGISTERED_ATTRIBUTES, find_model_unit, get_units, is_possible_value
from gpudesk.domain.claim import (
    AttributeClaims,
    CatalogEntry,
    CatalogEntryKind,
    Claim,
    ClaimPreference,
    PriceRecord,
    ProviderClass,
    Source,
)
from gpudesk.domain.model import Model
from gpudesk.domain.user_facts import (
    UserAccelerator,
    UserClaim,
    UserEntry,
    UserFact,
    UserFacts,
    UserModel,
    UserPrice,
    UserSystem,
    get_fact_key,
)
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError

SourcesById = Mapping[str, Source]

#: Getters of the field values of a fact, by its class.
_VALUES: Final[Mapping[type, Callable[[Any], tuple[object, ...]]]] = {
    kind: attrgetter(*(field.name for field in fields(kind))) for kind in get_args(UserFact)
}
#: Digits of a revision.
_REVISION_LENGTH: Final = 16


class UserLayer:
    """The user's facts, indexed by entry."""

    def __init__(self, facts: UserFacts) -> None:
        self.facts = facts
        self.sources: dict[str, Source] = {}
        self.accelerators: dict[str, UserAccelerator] = {}
        self.models: dict[str, UserModel] = {}
        self.systems: dict[str, UserSystem] = {}
        self.prices: list[UserPrice] = []
        self.claims: dict[str, dict[str, list[UserClaim]]] = {}
        self.preferences: dict[str, dict[str, ClaimPreference]] = {}
        for fact in facts:
            if isinstance(fact, Source):
                self.sources[fact.id] = fact
            elif isinstance(fact, UserAccelerator):
                self.accelerators[fact.id] = fact
            elif isinstance(fact, UserModel):
                model = _make_readable(fact)
                if model is not None:
                    self.models[fact.id] = model
            elif isinstance(fact, UserSystem):
                self.systems[fact.id] = fact
            elif isinstance(fact, UserPrice):
                self.prices.append(fact)
            elif isinstance(fact, UserClaim):
                self.claims.setdefault(fact.thing, {}).setdefault(fact.attribute, []).append(fact)
            else:
                self.preferences.setdefault(fact.thing, {})[fact.attribute] = fact
        # One id is one entry; this program never writes two.
        self.models = {name: model for name, model in self.models.items() if name not in self.accelerators}
        others = self.accelerators.keys() | self.models.keys()
        self.systems = {name: system for name, system in self.systems.items() if name not in others}

    def things(self) -> list[CatalogEntry]:
        """Return the user's own entries: accelerators, then models, then systems."""
        entries: tuple[UserEntry, ...] = (*self.accelerators.values(), *self.models.values(), *self.systems.values())
        return [
            CatalogEntry(
                each.id,
                CatalogEntryKind(each.key[0]),
                each.name,
                each.organisation if isinstance(each, UserModel) else each.vendor,
                own=True,
            )
            for each in entries
        ]

    def touched(self, thing: str) -> bool:
        return thing in self.claims or thing in self.preferences


def _make_readable(fact: UserModel) -> UserModel | None:
    """Return a model by its id; None for an unreadable structure, which stays in the file."""
    try:
        plain = json.loads(fact.definition)
        definition = plain | {"id": fact.id, "name": fact.name, "organisation": fact.organisation}
        parse_model(definition)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return fact if definition == plain else replace(fact, definition=to_canonical_json(definition))


def merge_things(shipped: Mapping[str, CatalogEntry], layer: UserLayer) -> dict[str, CatalogEntry]:
    """Return all entries by id, the user's after the shipped ones of their kind; shipped ids win.

    A system without its accelerator is left out.
    """
    accelerators = {thing.id for thing in shipped.values() if thing.kind is CatalogEntryKind.ACCELERATOR}
    accelerators |= layer.accelerators.keys()
    lost = {system.id for system in layer.systems.values() if system.accelerator not in accelerators}
    own = [thing for thing in layer.things() if thing.id not in shipped and thing.id not in lost]
    kinds = list(dict.fromkeys(thing.kind for thing in (*shipped.values(), *own)))
    ordered = [thing for kind in kinds for thing in (*shipped.values(), *own) if thing.kind is kind]
    return {thing.id: thing for thing in ordered}


def merge_attributes(
    thing: CatalogEntry,
    shipped: Mapping[str, AttributeClaims],
    layer: UserLayer,
    sources: SourcesById,
    definition: str | None = None,
) -> dict[str, AttributeClaims]:
    """Return the attributes of an entry with the user's claims and preferences.

    `definition` has a model's dimensions. If the user's preferred dimensions are inconsistent, because an upgrade
    changed others, none of them applies, and the preferences are inactive.
    """
    claims, preferences = layer.claims.get(thing.id, {}), layer.preferences.get(thing.id, {})
    if not claims and not preferences:
        return dict(shipped)
    plain = None if definition is None else dict(json.loads(definition))
    # Leave out claims that do not suit the entry, which this program never writes.
    possible = {}
    for name, user_claims in claims.items():
        dimension = None if plain is None else find_dimension(plain, name)
        fitting = [each for each in user_claims if is_possible_value(thing.kind, name, each.value, dimension)]
        if fitting:
            possible[name] = fitting
    attributes = _merge_all(thing, shipped, possible, preferences, sources, plain)
    chosen_values = {} if plain is None else find_chosen_dimensions(plain, attributes)
    if plain is None or not chosen_values or make_patched_model(plain, chosen_values) is not None:
        return attributes
    other_preferences = {name: each for name, each in preferences.items() if not is_dimension(plain, name)}
    return _merge_all(thing, shipped, possible, other_preferences, sources, plain)


def _merge_all(
    thing: CatalogEntry,
    shipped: Mapping[str, AttributeClaims],
    claims: Mapping[str, list[UserClaim]],
    preferences: Mapping[str, ClaimPreference],
    sources: SourcesById,
    definition: Mapping[str, Any] | None,
) -> dict[str, AttributeClaims]:
    names = [*shipped, *(name for name in claims if name not in shipped)]
    if thing.kind in REGISTERED_ATTRIBUTES:
        places = {name: place for place, name in enumerate(REGISTERED_ATTRIBUTES[thing.kind])}
        names.sort(key=lambda name: places.get(name, len(places)))
    return {
        name: _merge_attribute(
            shipped.get(name) or AttributeClaims(thing.id, name, find_unit(thing.kind, name), ()),
            claims.get(name, ()),
            preferences.get(name),
            sources,
            None if definition is None else find_dimension(definition, name),
        )
        for name in names
    }


def find_unit(kind: CatalogEntryKind, name: str) -> str | None:
    """Return the internal unit of an attribute of a kind of entry; None for words and plain counts."""
    return find_model_unit(name) if kind is CatalogEntryKind.MODEL else get_units(kind).get(name)


def _merge_attribute(
    shipped: AttributeClaims,
    user_claims: list[UserClaim] | tuple[()],
    chosen: ClaimPreference | None,
    sources: SourcesById,
    dimension: ClaimValue,
) -> AttributeClaims:
    """Put the user's claims after the shipped ones, and prefer the user's choice if it exists.

    Without a choice the value of a `dimension` is that of the definition, which is used for computation.
    """
    claims = [*shipped.claims, *(_make_claim(each, shipped.unit, sources) for each in user_claims)]
    chosen_claim = None if chosen is None else _find_chosen(claims, chosen)
    if chosen_claim is None:
        if not shipped.claims and claims:
            # Without other claims the first one applies until the user chooses.
            agreeing = (place for place, each in enumerate(claims) if is_same_value(each.value, dimension))
            first = 0 if dimension is None else next(agreeing, None)
            if first is not None:
                claims[first] = replace(claims[first], preferred=True)
        return replace(shipped, claims=tuple(claims))
    return replace(
        shipped,
        claims=tuple(replace(claim, preferred=place == chosen_claim) for place, claim in enumerate(claims)),
        reason=None if chosen is None else chosen.reason,
        preference=chosen,
        shipped=shipped.preferred,
        shipped_reason=shipped.reason,
    )


def _find_chosen(claims: list[Claim], chosen: ClaimPreference) -> int | None:
    """Return the position of the preferred claim, or None if it no longer exists."""
    for place, claim in enumerate(claims):
        if claim.source.id == chosen.source and is_same_value(claim.value, chosen.value):
            return place
    return None


def is_same_value(one: ClaimValue, other: ClaimValue) -> bool:
    """Whether two values are equal, where true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _make_claim(user_claim: UserClaim, unit: str | None, sources: SourcesById) -> Claim:
    return Claim(
        value=user_claim.value,
        unit=unit,
        source=sources[user_claim.source],
        kind=user_claim.kind,
        published=user_claim.published,
        conditions=user_claim.conditions,
        retrieved=user_claim.retrieved,
        note=user_claim.note,
        own=True,
    )


def find_chosen_dimensions(
    definition: Mapping[str, Any], attributes: Mapping[str, AttributeClaims]
) -> dict[str, ClaimValue]:
    """Return the dimensions of a model that the user prefers to those of its definition."""
    return {
        name: each.value
        for name, each in attributes.items()
        if each.overridden
        and is_dimension(definition, name)
        and not is_same_value(each.value, find_dimension(definition, name))
    }


def make_patched_model(definition: Mapping[str, Any], dimensions: Mapping[str, ClaimValue]) -> Model | None:
    """Return a model with other dimensions than its definition, None if they are inconsistent."""
    if not dimensions:
        return parse_model(dict(definition))
    # The module is slow to load, and few users change the dimensions of models.
    from gpudesk.catalog.importing.model_facts import check_model_definition

    try:
        return parse_model(check_model_definition(patch_definition(definition, dimensions)).definition())
    except InputError:
        return None


def merge_model(definition: str, attributes: Mapping[str, AttributeClaims]) -> Model:
    """Return a model with the user's preferred dimensions, which are among its merged attributes."""
    plain: dict[str, Any] = json.loads(definition)
    return make_patched_model(plain, find_chosen_dimensions(plain, attributes)) or parse_model(plain)


def merge_prices(
    shipped: tuple[PriceRecord, ...], layer: UserLayer, sources: SourcesById, classes: Mapping[str, ProviderClass]
) -> tuple[PriceRecord, ...]:
    """Return all prices, the user's after the shipped ones; `classes` are those of providers by name."""
    user_prices = (
        replace(
            price.price(sources[price.source]), provider_class=classes.get(price.provider or "", ProviderClass.UNKNOWN)
        )
        for price in layer.prices
    )
    return (*shipped, *user_prices)


def merge_revision(shipped: str, facts: UserFacts) -> str:
    """Return the digest of both layers: that of the shipped catalog if there is no other."""
    if not len(facts):
        return shipped
    digest = hashlib.sha256(shipped.encode())
    for line in sorted(json.dumps([get_fact_key(fact)[0], *_VALUES[type(fact)](fact)]) for fact in facts):
        digest.update(f"{line}\n".encode())
    return digest.hexdigest()[:_REVISION_LENGTH]
