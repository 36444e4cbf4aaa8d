"""The user's facts laid over those of the shipped catalog, by thing and attribute.

Nothing is merged into one figure: a claim of the user's stands beside the shipped ones, and a preference says
which of them holds. What the catalog itself takes stays known, so that the two can be compared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gpudesk.catalog.attribute_names import ACCELERATOR, DIFFUSION, model_unit
from gpudesk.catalog.definitions import model_of, to_json
from gpudesk.catalog.figure_bounds import can_be
from gpudesk.catalog.model_patches import is_dimension, patched, stated_dimension
from gpudesk.domain.claims import Attribute, Claim, ClaimValue, Preference, Price, Source
from gpudesk.domain.messages import InputError
from gpudesk.domain.models import Model
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnFacts, OwnModel, OwnPrice
from gpudesk.domain.things import Thing, ThingKind

Sources = Mapping[str, Source]

#: Digits of a revision.
_LENGTH: Final = 16


class Layer:
    """The user's facts, in order for questions about one thing."""

    def __init__(self, facts: OwnFacts) -> None:
        """Sort the facts by what they are about."""
        self.facts = facts
        self.sources: dict[str, Source] = {}
        self.accelerators: dict[str, OwnAccelerator] = {}
        self.models: dict[str, OwnModel] = {}
        self.prices: list[OwnPrice] = []
        self.claims: dict[str, dict[str, list[OwnClaim]]] = {}
        self.preferences: dict[str, dict[str, Preference]] = {}
        for fact in facts:
            if isinstance(fact, Source):
                self.sources[fact.id] = fact
            elif isinstance(fact, OwnAccelerator):
                self.accelerators[fact.id] = fact
            elif isinstance(fact, OwnModel):
                model = _readable(fact)
                if model is not None:
                    self.models[fact.id] = model
            elif isinstance(fact, OwnPrice):
                self.prices.append(fact)
            elif isinstance(fact, OwnClaim):
                self.claims.setdefault(fact.thing, {}).setdefault(fact.attribute, []).append(fact)
            else:
                self.preferences.setdefault(fact.thing, {})[fact.attribute] = fact
        # One id is one entry; this program does not write two.
        self.models = {name: model for name, model in self.models.items() if name not in self.accelerators}

    def things(self) -> list[Thing]:
        """Return the user's own entries: accelerators, then models."""
        parts = [
            Thing(each.id, ThingKind.ACCELERATOR, each.name, each.vendor, own=True)
            for each in self.accelerators.values()
        ]
        models = [
            Thing(each.id, ThingKind.MODEL, each.name, each.organisation, own=True)
            for each in self.models.values()
        ]
        return parts + models

    def touched(self, thing: str) -> bool:
        """Whether the user says anything about a thing's attributes."""
        return thing in self.claims or thing in self.preferences


def _readable(fact: OwnModel) -> OwnModel | None:
    """Return a model under its id; None for a structure that cannot be read, which stays in the file."""
    try:
        plain = json.loads(fact.definition)
        named = plain | {"id": fact.id, "name": fact.name, "organisation": fact.organisation}
        model_of(named)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
    return fact if named == plain else replace(fact, definition=to_json(named))


def merged_things(shipped: Mapping[str, Thing], layer: Layer) -> dict[str, Thing]:
    """Return all entries by id, the user's after the shipped ones of their kind; shipped ids stay."""
    own = [thing for thing in layer.things() if thing.id not in shipped]
    kinds = list(dict.fromkeys(thing.kind for thing in (*shipped.values(), *own)))
    ordered = [thing for kind in kinds for thing in (*shipped.values(), *own) if thing.kind is kind]
    return {thing.id: thing for thing in ordered}


def merged_attributes(
    thing: Thing,
    shipped: Mapping[str, Attribute],
    layer: Layer,
    sources: Sources,
    definition: str | None = None,
) -> dict[str, Attribute]:
    """Return the attributes of a thing with the user's claims and choices among their claims.

    Of a model, `definition` says what its dimensions are. Where those that the user prefers make no model,
    what an upgrade brought being other than it was, none of them holds, and the choices wait.
    """
    claims, preferences = layer.claims.get(thing.id, {}), layer.preferences.get(thing.id, {})
    if not claims and not preferences:
        return dict(shipped)
    plain = None if definition is None else dict(json.loads(definition))
    claims = _that_can_be(thing.kind, claims, plain)
    found = _all_merged(thing, shipped, claims, preferences, sources, plain)
    wanted = {} if plain is None else chosen_dimensions(plain, found)
    if plain is None or not wanted or patched_model(plain, wanted) is not None:
        return found
    kept = {name: each for name, each in preferences.items() if not is_dimension(plain, name)}
    return _all_merged(thing, shipped, claims, kept, sources, plain)


def _that_can_be(
    kind: ThingKind, claims: Mapping[str, list[OwnClaim]], definition: Mapping[str, Any] | None
) -> dict[str, list[OwnClaim]]:
    """Leave out claims that no such thing can have, which this program does not write."""
    found = {}
    for name, stated in claims.items():
        dimension = None if definition is None else stated_dimension(definition, name)
        fitting = [each for each in stated if can_be(kind, name, each.value, dimension)]
        if fitting:
            found[name] = fitting
    return found


def _all_merged(
    thing: Thing,
    shipped: Mapping[str, Attribute],
    claims: Mapping[str, list[OwnClaim]],
    preferences: Mapping[str, Preference],
    sources: Sources,
    definition: Mapping[str, Any] | None,
) -> dict[str, Attribute]:
    names = [*shipped, *(name for name in claims if name not in shipped)]
    if thing.kind is ThingKind.ACCELERATOR:
        places = {name: place for place, name in enumerate(ACCELERATOR)}
        names.sort(key=lambda name: places.get(name, len(places)))
    return {
        name: _merged(
            shipped.get(name) or Attribute(thing.id, name, unit_of(thing.kind, name), ()),
            claims.get(name, ()),
            preferences.get(name),
            sources,
            None if definition is None else stated_dimension(definition, name),
        )
        for name in names
    }


def unit_of(kind: ThingKind, name: str) -> str | None:
    """Return the unit in which an attribute of a kind of thing is kept; None for words and plain counts."""
    if kind is ThingKind.ACCELERATOR:
        return ACCELERATOR.get(name)
    return model_unit(name) if kind is ThingKind.MODEL else DIFFUSION.get(name)


def _merged(
    shipped: Attribute,
    stated: list[OwnClaim] | tuple[()],
    chosen: Preference | None,
    sources: Sources,
    dimension: ClaimValue,
) -> Attribute:
    """Put the user's claims after the shipped ones, and take the one that the user prefers if it is there.

    Without a choice the value of a `dimension` is that of the definition, which is what is computed with.
    """
    claims = [*shipped.claims, *(_claim(each, shipped.unit, sources) for each in stated)]
    taken = None if chosen is None else _chosen(claims, chosen)
    if taken is None:
        if not shipped.claims and claims:
            # Nobody else says anything: what was stated first holds until the user chooses.
            agreeing = (place for place, each in enumerate(claims) if same_value(each.value, dimension))
            first = 0 if dimension is None else next(agreeing, None)
            if first is not None:
                claims[first] = replace(claims[first], preferred=True)
        return replace(shipped, claims=tuple(claims))
    return replace(
        shipped,
        claims=tuple(replace(claim, preferred=place == taken) for place, claim in enumerate(claims)),
        reason=None if chosen is None else chosen.reason,
        preference=chosen,
        shipped=shipped.preferred,
        shipped_reason=shipped.reason,
    )


def _chosen(claims: list[Claim], chosen: Preference) -> int | None:
    """Return the place of the preferred claim, or None where nobody states it any more."""
    for place, claim in enumerate(claims):
        if claim.source.id == chosen.source and same_value(claim.value, chosen.value):
            return place
    return None


def same_value(one: ClaimValue, other: ClaimValue) -> bool:
    """Whether two values are one, where true is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _claim(stated: OwnClaim, unit: str | None, sources: Sources) -> Claim:
    return Claim(
        value=stated.value,
        unit=unit,
        source=sources[stated.source],
        kind=stated.kind,
        published=stated.published,
        conditions=stated.conditions,
        retrieved=stated.retrieved,
        note=stated.note,
        own=True,
    )


def chosen_dimensions(
    definition: Mapping[str, Any], attributes: Mapping[str, Attribute]
) -> dict[str, ClaimValue]:
    """Return the dimensions of a model that the user prefers to those of its definition."""
    return {
        name: each.value
        for name, each in attributes.items()
        if each.overridden
        and is_dimension(definition, name)
        and not same_value(each.value, stated_dimension(definition, name))
    }


def patched_model(definition: Mapping[str, Any], wanted: Mapping[str, ClaimValue]) -> Model | None:
    """Return a model with other dimensions than its definition has, None where they make none."""
    if not wanted:
        return model_of(dict(definition))
    # It takes time to load, and few users change the dimensions of models.
    from gpudesk.catalog.importing.model_facts import checked_model

    try:
        return model_of(checked_model(patched(definition, wanted)).definition())
    except InputError:
        return None


def merged_model(definition: str, attributes: Mapping[str, Attribute]) -> Model:
    """Return a model with the dimensions that the user prefers, which are among its merged attributes."""
    plain: dict[str, Any] = json.loads(definition)
    return patched_model(plain, chosen_dimensions(plain, attributes)) or model_of(plain)


def merged_prices(shipped: tuple[Price, ...], layer: Layer, sources: Sources) -> tuple[Price, ...]:
    """Return all prices, the user's after the shipped ones."""
    return (*shipped, *(price.price(sources[price.source]) for price in layer.prices))


def merged_revision(shipped: str, facts: OwnFacts) -> str:
    """Return the digest of both layers: that of the shipped catalog where there is no other."""
    if not len(facts):
        return shipped
    digest = hashlib.sha256(shipped.encode())
    for line in sorted(map(repr, facts)):
        digest.update(line.encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()[:_LENGTH]
