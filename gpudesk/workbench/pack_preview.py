"""What a catalog pack would change: each of its facts held against the user's own and the shipped ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gpudesk.catalog.attribute_names import ACCELERATOR, DIFFUSION, MODEL_STATED
from gpudesk.catalog.model_patches import is_dimension, stated_dimension
from gpudesk.catalog.overlay import same_value, unit_of
from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import Attribute, Claim, Preference, Source
from gpudesk.domain.own_facts import Key, OwnAccelerator, OwnClaim, OwnFact, OwnModel, OwnPrice, fact_key
from gpudesk.domain.packs import Pack, PackRow, Standing
from gpudesk.domain.things import ThingKind
from gpudesk.workbench.own_checks import FOLLOWING, dimensions_fit
from gpudesk.workbench.own_facts_json import thing_of


def preview(pack: Pack, catalog: Catalog) -> tuple[PackRow, ...]:
    """Return a row for each fact of a pack: how it stands to the user's facts and to the shipped ones."""
    judge = _Judge(pack, catalog)
    return tuple(judge.row(fact) for fact in pack.facts)


class _Judge:
    """Compares the facts of a pack with a catalog."""

    def __init__(self, pack: Pack, catalog: Catalog) -> None:
        self._pack, self._catalog = pack, catalog
        self._kinds = {thing.id: thing.kind for thing in catalog.things()}
        self._names = {thing.id: thing.name for thing in catalog.things()}
        entries = [fact for fact in pack.facts if isinstance(fact, OwnAccelerator | OwnModel)]
        self._brought = {fact.id: fact.key for fact in entries if fact.id not in self._kinds}
        self._names |= {fact.id: fact.name for fact in entries if fact.id in self._brought}
        self._known: dict[str, dict[str, Attribute]] = {}
        self._definitions: dict[str, Mapping[str, Any]] = {}

    def row(self, fact: OwnFact) -> PackRow:
        """Return the row of a fact."""
        yours = self._catalog.own.get(*fact_key(fact))
        if isinstance(fact, OwnClaim | Preference):
            return self._figure(fact, yours)
        standing = _own_standing(fact, yours)
        if isinstance(fact, OwnAccelerator | OwnModel) and yours is None and fact.id in self._kinds:
            standing = Standing.TAKEN
        if isinstance(fact, OwnPrice) and self._kind(fact.accelerator) is not ThingKind.ACCELERATOR:
            standing = Standing.NO_ENTRY
        return self._made(fact, standing, yours)

    def _figure(self, fact: OwnClaim | Preference, yours: OwnFact | None) -> PackRow:
        fault = self._fault(fact)
        if fault is not None:
            return self._made(fact, fault, yours)
        standing = _own_standing(fact, yours)
        attribute = self._attribute(fact)
        shipped = None if attribute is None else attribute.catalog_choice
        if isinstance(fact, Preference) and standing is Standing.NEW:
            yours = self._displaced(fact)
            if yours is not None:
                standing = Standing.DIFFERS
            elif shipped is not None and not same_value(shipped.value, fact.value):
                standing = Standing.OVERRIDES
        return self._made(fact, standing, yours, shipped, self._brought.get(fact.thing))

    def _fault(self, fact: OwnClaim | Preference) -> Standing | None:
        """Return why a figure cannot be brought in, None where it can."""
        kind = self._kind(fact.thing)
        if kind is None:
            return Standing.NO_ENTRY
        if not self._can_have(kind, fact):
            return Standing.UNFIT
        if isinstance(fact, Preference) and not self._stated(fact):
            return Standing.NO_CLAIM
        return None

    def _can_have(self, kind: ThingKind, fact: OwnClaim | Preference) -> bool:
        """Whether a kind of thing has an attribute; of a model, whether it can have such a dimension."""
        if kind is not ThingKind.MODEL:
            known = {ThingKind.ACCELERATOR: ACCELERATOR, ThingKind.DIFFUSION_MODEL: DIFFUSION}.get(kind, {})
            return fact.attribute in known
        definition = self._definition(fact.thing)
        if is_dimension(definition, fact.attribute):
            stated = stated_dimension(definition, fact.attribute)
            if isinstance(fact, Preference):
                return self._fits(fact, definition)
            return type(fact.value) is type(stated)
        if fact.attribute == FOLLOWING:
            # It can be stated as a source does, but not chosen against what it follows from.
            return isinstance(fact, OwnClaim)
        return fact.attribute in MODEL_STATED or fact.attribute in self._attributes(fact.thing)

    def _fits(self, choice: Preference, definition: Mapping[str, Any]) -> bool:
        """Whether a dimension goes with the others: with those that the pack takes as well, or by itself."""
        together = {
            each.attribute: each.value
            for each in self._pack.facts
            if isinstance(each, Preference)
            and each.thing == choice.thing
            and is_dimension(definition, each.attribute)
        }
        return any(
            dimensions_fit(definition, wanted) for wanted in (together, {choice.attribute: choice.value})
        )

    def _definition(self, thing: str) -> Mapping[str, Any]:
        """Return the structure of a model of the pack or of the catalog."""
        if thing not in self._definitions:
            brought = self._pack.facts.get("model", thing) if thing in self._brought else None
            self._definitions[thing] = (
                json.loads(brought.definition)
                if isinstance(brought, OwnModel)
                else self._catalog.definition(thing)
            )
        return self._definitions[thing]

    def _attributes(self, thing: str) -> Mapping[str, Attribute]:
        """Return the attributes of an entry of the catalog."""
        if thing not in self._kinds:
            return {}
        if thing not in self._known:
            self._known[thing] = {each.name: each for each in self._catalog.attributes(thing)}
        return self._known[thing]

    def _kind(self, thing: str) -> ThingKind | None:
        if thing in self._brought:
            return ThingKind(self._brought[thing][0])
        return self._kinds.get(thing)

    def _attribute(self, fact: OwnClaim | Preference) -> Attribute | None:
        return self._attributes(fact.thing).get(fact.attribute)

    def _stated(self, choice: Preference) -> bool:
        """Whether somebody states what a preference takes, here or in the pack."""
        brought = self._pack.facts.get("claim", choice.thing, choice.attribute, choice.source)
        if isinstance(brought, OwnClaim) and same_value(brought.value, choice.value):
            return True
        attribute = self._attribute(choice)
        return attribute is not None and any(
            claim.source.id == choice.source and same_value(claim.value, choice.value)
            for claim in attribute.claims
        )

    def _displaced(self, choice: Preference) -> OwnClaim | None:
        """Return the user's claim that would have to give way to the one that a preference takes."""
        key = ("claim", choice.thing, choice.attribute, choice.source)
        yours, brought = self._catalog.own.get(*key), self._pack.facts.get(*key)
        return yours if isinstance(yours, OwnClaim) and brought not in (None, yours) else None

    def _made(
        self,
        fact: OwnFact,
        standing: Standing,
        yours: OwnFact | None,
        shipped: Claim | None = None,
        part_of: Key | None = None,
    ) -> PackRow:
        thing = thing_of(fact)
        kind, unit = self._kind(thing), None
        if kind is not None and isinstance(fact, OwnClaim | Preference):
            unit = unit_of(kind, fact.attribute)
        return PackRow(
            key=fact_key(fact),
            fact=fact,
            standing=standing,
            name="" if isinstance(fact, Source) else self._names.get(thing, thing),
            unit=unit,
            yours=yours,
            shipped=shipped,
            part_of=part_of,
        )


def _own_standing(fact: OwnFact, yours: OwnFact | None) -> Standing:
    if yours is None:
        return Standing.NEW
    return Standing.SAME if yours == fact else Standing.DIFFERS
