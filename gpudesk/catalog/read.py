"""The catalog as the program reads it: shipped facts with the user's overrides."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

from gpudesk.catalog import overlay
from gpudesk.catalog.database import CatalogDatabase
from gpudesk.catalog.model_definition import MODEL_FIELDS, is_dimension
from gpudesk.catalog.overlay import find_unit, is_same_value
from gpudesk.catalog.shipped import ShippedCatalog, make_accelerator, make_system, share_equal
from gpudesk.domain.accelerator import Accelerator, ReferenceDesign, System
from gpudesk.domain.attributes import MODEL_STATED_UNITS, find_model_unit
from gpudesk.domain.claim import (
    PRICE_BOUND_ATTRIBUTES,
    ApiPrice,
    AttributeClaims,
    CatalogEntry,
    CatalogEntryKind,
    Claim,
    ClaimPreference,
    Dispute,
    DocumentStatement,
    MissingPrice,
    PriceRecord,
    Source,
    is_figure,
)
from gpudesk.domain.diffusion import DiffusionModel
from gpudesk.domain.field_checks import find_closest
from gpudesk.domain.model import Model
from gpudesk.domain.registry import find_attribute_definition, list_required_attributes
from gpudesk.domain.serving_engine import ServingEngine
from gpudesk.domain.user_facts import InactiveOverride, UserClaim, UserEntry, UserFacts, UserPrice, UserSystem
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, Message, MessageParameter, Term, message, quote_input

_T = TypeVar("_T")

#: Kinds of ids.
_KINDS: Final[dict[str, Term]] = {
    term: term
    for term in (
        Term("accelerator", "accelerator"),
        Term("model", "model"),
        Term("diffusion_model", "diffusion model"),
        Term("serving_engine", "serving engine"),
        Term("system", "system"),
        Term("thing", "catalog entry"),
        Term("source", "source"),
    )
}


class Catalog:
    """The facts of one catalog file and of one user, as domain objects with their sources.

    An unknown id raises `InputError` with the closest ids. The answers never change: other facts of the user make
    another catalog.
    """

    def __init__(self, shipped: ShippedCatalog, user_facts: UserFacts | None = None) -> None:
        """Use an open file, which is closed with this object, and the facts of the user."""
        self.shipped = shipped
        self.user_facts = UserFacts() if user_facts is None else user_facts
        self._layer = overlay.UserLayer(self.user_facts)
        self._attributes: dict[str, dict[str, AttributeClaims]] = {}

    @classmethod
    def open(cls, path: Path) -> Catalog:
        """Open the file at `path`; raises `CatalogFileError` if it is not a usable catalog."""
        return cls(ShippedCatalog(CatalogDatabase(path)))

    def with_user_facts(self, user_facts: UserFacts) -> Catalog:
        """Return the catalog with other facts of the user; both share the file."""
        return Catalog(self.shipped, user_facts)

    def close(self) -> None:
        """Close the file; data already read stays valid."""
        self.shipped.store.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Properties

    @property
    def revision(self) -> str:
        """The digest of all facts: equal for equal facts, regardless of time and place of the build."""
        return self._revision

    @property
    def shipped_revision(self) -> str:
        return self.shipped.meta["revision"]

    @property
    def data_date(self) -> str:
        """The latest day on which a figure was retrieved."""
        return self.shipped.meta["data_date"]

    # Entries

    def things(self, kind: CatalogEntryKind | None = None) -> tuple[CatalogEntry, ...]:
        """Return the entries of one kind or of all, in the order of lists."""
        return tuple(thing for thing in self._things.values() if kind is None or thing.kind is kind)

    def thing(self, thing_id: str) -> CatalogEntry:
        return _look_up(self._things, thing_id, "thing")

    def get_entry_kind(self, thing_id: str) -> CatalogEntryKind:
        return self.thing(thing_id).kind

    def accelerators(self) -> tuple[Accelerator, ...]:
        return tuple(self._accelerators.values())

    def accelerator(self, accelerator_id: str) -> Accelerator:
        return _look_up(self._accelerators, accelerator_id, CatalogEntryKind.ACCELERATOR)

    def models(self) -> tuple[Model, ...]:
        return tuple(self._models.values())

    def model(self, model_id: str) -> Model:
        entry = self._things.get(model_id)
        if entry is not None and entry.kind is CatalogEntryKind.DIFFUSION_MODEL:
            problem = message(
                "catalog.diffusion_model",
                "{id} makes images or video and this answer is for language models; use `gpudesk estimate` or "
                "`gpudesk fit` for its time and memory",
                id=model_id,
            )
            raise InputError(problem)
        return _look_up(self._models, model_id, CatalogEntryKind.MODEL)

    def definition(self, model_id: str) -> dict[str, Any]:
        """Return the structure of a model in plain JSON types, as published or entered."""
        return dict(json.loads(_look_up(self._definitions, model_id, CatalogEntryKind.MODEL)))

    def diffusion_models(self) -> tuple[DiffusionModel, ...]:
        return tuple(self.shipped.diffusion_models.values())

    def diffusion_model(self, model_id: str) -> DiffusionModel:
        return _look_up(self.shipped.diffusion_models, model_id, CatalogEntryKind.DIFFUSION_MODEL)

    def serving_engines(self) -> tuple[ServingEngine, ...]:
        return tuple(self.shipped.serving_engines.values())

    def serving_engine(self, engine_id: str) -> ServingEngine:
        return _look_up(self.shipped.serving_engines, engine_id, CatalogEntryKind.SERVING_ENGINE)

    def systems(self) -> tuple[System, ...]:
        """Return all systems: servers, racks, workstations, desktops, then instances, each by vendor.

        The user's systems come last.
        """
        return tuple(self._systems.values())

    def system(self, system_id: str) -> System:
        return _look_up(self._systems, system_id, CatalogEntryKind.SYSTEM)

    def list_systems_with(self, accelerator_id: str) -> tuple[System, ...]:
        """Return the systems with an accelerator; raises `InputError` for an unknown accelerator."""
        self.accelerator(accelerator_id)
        return tuple(system for system in self._systems.values() if system.accelerator == accelerator_id)

    def find_price_source(self, system_id: str) -> Source | None:
        """Return the newest source of the price of a system."""
        attributes = self._get_attributes(system_id)
        claims = [each.preferred for name in ("price_low", "price_high") if (each := attributes.get(name)) is not None]
        sources = (claim.source for claim in claims if claim is not None)
        return max(sources, key=lambda source: source.date or "", default=None)

    def reference_designs(self) -> tuple[ReferenceDesign, ...]:
        """Return the published designs for comparison with fleets."""
        return self.shipped.reference_designs

    # Figures and their sources

    def attributes(self, thing_id: str) -> tuple[AttributeClaims, ...]:
        """Return all attributes of an entry with all their claims, in the order of the data."""
        return tuple(self._get_attributes(thing_id).values())

    def attribute(self, thing_id: str, name: str) -> AttributeClaims:
        attributes = self._get_attributes(thing_id)
        if name not in attributes:
            near = find_closest(name, attributes)
            raise InputError(describe_unknown_attribute(thing_id, name, near))
        return attributes[name]

    def get_accelerator_values(self, accelerator_id: str) -> Mapping[str, ClaimValue]:
        """Return the values in effect of an accelerator by attribute, without reading rival claims."""
        return self._get_values(accelerator_id, self.shipped.part_values)

    def model_values(self, model_id: str) -> Mapping[str, ClaimValue]:
        """Return the values in effect of a model by attribute, without reading rival claims."""
        return self._get_values(model_id, self.shipped.model_values)

    def sources(self) -> tuple[Source, ...]:
        return tuple(self._sources.values())

    def source(self, source_id: str) -> Source:
        return _look_up(self._sources, source_id, "source")

    def prices(self, accelerator: str | None = None) -> tuple[PriceRecord, ...]:
        """Return all prices, or those of one accelerator: rents first, then purchases."""
        if accelerator is None:
            return self._prices
        self.accelerator(accelerator)
        return tuple(price for price in self._prices if price.accelerator == accelerator)

    def api_prices(self, model: str) -> tuple[ApiPrice, ...]:
        """Return the list prices of a hosted model; empty for a model of the user."""
        return tuple(price for price in self.shipped.api_prices if price.model == model)

    def missing_prices(self, accelerator: str) -> tuple[MissingPrice, ...]:
        """Return which prices of an accelerator are not public, with the findings instead."""
        return tuple(each for each in self.shipped.missing_prices if each.accelerator == accelerator)

    def seed_claims(self, thing: str | None = None) -> tuple[DocumentStatement, ...]:
        """Return the statements of the five source documents, on all subjects or one entry."""
        if thing is None:
            return self.shipped.seed_claims
        self.thing(thing)
        return tuple(claim for claim in self.shipped.seed_claims if claim.concerns(thing))

    def disputes(self, thing: str | None = None) -> tuple[Dispute, ...]:
        """Return the judged contradictions, all or those about one entry."""
        if thing is None:
            return self.shipped.disputes
        self.thing(thing)
        return self.shipped.disputes_by_thing.get(thing, ())

    # User facts

    @cached_property
    def waiting(self) -> tuple[InactiveOverride, ...]:
        """The inactive facts of the user, with reasons."""
        # Most users have none, and estimates do not need them.

        return find_inactive_overrides(self) if len(self.user_facts) else ()

    # Merged data

    @cached_property
    def _revision(self) -> str:
        return overlay.merge_revision(self.shipped_revision, self.user_facts)

    @cached_property
    def _things(self) -> dict[str, CatalogEntry]:
        return overlay.merge_things(self.shipped.things, self._layer)

    @cached_property
    def _sources(self) -> dict[str, Source]:
        return {**self.shipped.sources, **self._layer.sources}

    @cached_property
    def _accelerators(self) -> dict[str, Accelerator]:
        """Assemble every accelerator; a user's one without the required values is left out."""
        accelerators, required = {}, list_required_attributes()
        of_user = (part for part in self._layer.accelerators.values() if part.id not in self.shipped.things)
        for part in (*self.shipped.parts.values(), *of_user):
            values = self.get_accelerator_values(part.id)
            if all(name in values for name in required):
                accelerators[part.id] = share_equal(make_accelerator(part, values))
        return accelerators

    @cached_property
    def _systems(self) -> dict[str, System]:
        """Assemble every system; a user's one without its number of accelerators is left out."""
        shipped, parts, systems = self.shipped.system_values, self.shipped.part_values, dict[str, System]()
        things = self._things
        of_user = (each for each in self._layer.systems.values() if each.id in things and things[each.id].own)
        for entry in (*self.shipped.systems.values(), *of_user):
            values = self._get_values(entry.id, shipped)
            if "accelerator_count" in values:
                system = make_system(entry, values, self._get_values(entry.accelerator, parts))
                systems[entry.id] = replace(system, own=True) if entry.id in self._layer.systems else system
        return systems

    def _get_values(self, thing: str, shipped: Mapping[str, Mapping[str, ClaimValue]]) -> Mapping[str, ClaimValue]:
        """Return the current values of an entry; `shipped` has only those of the catalog."""
        if not self._layer.touched(thing):
            return shipped.get(thing, {})
        attributes = self._get_attributes(thing)
        return {name: each.value for name, each in attributes.items() if each.preferred is not None}

    @cached_property
    def _definitions(self) -> dict[str, str]:
        own = {
            model.id: model.definition for model in self._layer.models.values() if model.id not in self.shipped.things
        }
        return {**self.shipped.definitions, **own}

    @cached_property
    def _models(self) -> dict[str, Model]:
        models = {
            model: overlay.merge_model(definition, self._get_attributes(model) if self._layer.touched(model) else {})
            for model, definition in self._definitions.items()
        }
        own = self._definitions.keys() - self.shipped.definitions.keys()
        models |= {model: replace(models[model], own=True) for model in own}
        return {model_id: share_equal(model) for model_id, model in models.items()}

    @cached_property
    def _prices(self) -> tuple[PriceRecord, ...]:
        return overlay.merge_prices(self.shipped.prices, self._layer, self._sources, self.shipped.provider_classes)

    def _get_attributes(self, thing_id: str) -> dict[str, AttributeClaims]:
        if thing_id not in self._attributes:
            thing = self.thing(thing_id)
            shipped = {} if thing.own else self.shipped.get_attribute_claims(thing_id)
            definition = self._definitions[thing_id] if thing.kind is CatalogEntryKind.MODEL else None
            self._attributes[thing_id] = overlay.merge_attributes(
                thing, shipped, self._layer, self._sources, definition
            )
        return self._attributes[thing_id]


def _look_up(entries: Mapping[str, _T], entry_id: str, kind: str) -> _T:
    """Return an entry; raises an error with the closest ids for an unknown one."""
    try:
        return entries[entry_id]
    except KeyError:
        near = find_closest(entry_id, entries)
        problem = message(
            "catalog.unknown",
            "unknown {kind} {id}; did you mean {near}?" if near else "unknown {kind} {id}; run `{command}` to list all",
            kind=_KINDS[kind],
            id=quote_input(entry_id),
            near=near,
            command="gpudesk catalog list" + ("" if kind == "thing" else f" {kind.replace('_', '-')}s"),
        )
        raise InputError(problem) from None


#: Attributes of any model, regardless of its layer groups.
_MODEL_ATTRIBUTES: Final = frozenset({*MODEL_STATED_UNITS, *MODEL_FIELDS, "layer_count"})

UserStatement = UserClaim | ClaimPreference


def find_inactive_overrides(catalog: Catalog) -> tuple[InactiveOverride, ...]:
    """Return the inactive facts: entries, then attribute values, then prices."""
    things = {thing.id: thing for thing in catalog.things()}
    return (
        *_find_inactive_entries(catalog, things),
        *_find_inactive_statements(catalog, things),
        *(
            InactiveOverride(fact.accelerator, None, _say_missing(fact.accelerator), (fact,))
            for fact in catalog.user_facts
            if isinstance(fact, UserPrice) and fact.accelerator not in things
        ),
    )


def _say_missing(thing: str) -> Message:
    return message("own.waits.thing", "the entry {id} is no longer in the catalog", id=thing)


def _find_inactive_entries(catalog: Catalog, things: Mapping[str, CatalogEntry]) -> Iterator[InactiveOverride]:
    for fact in catalog.user_facts:
        if not isinstance(fact, UserEntry):
            continue
        entry, kind = things.get(fact.id), CatalogEntryKind(fact.key[0])
        if entry is None and isinstance(fact, UserSystem):
            yield InactiveOverride(fact.id, None, _say_missing(fact.accelerator), (fact,))
        elif entry is None:
            yield InactiveOverride(
                fact.id, None, message("own.waits.unreadable", "its structure cannot be read"), (fact,)
            )
        elif not entry.own:
            yield InactiveOverride(
                fact.id,
                None,
                message("own.waits.taken", "the catalog now has its own entry {id}, which is used instead", id=fact.id),
                (fact,),
            )
        elif entry.kind is not kind:
            yield InactiveOverride(
                fact.id,
                None,
                message("own.waits.two", "your other entry with the same id {id} is used instead", id=fact.id),
                (fact,),
            )


# Figures and choices


def _find_inactive_statements(catalog: Catalog, things: Mapping[str, CatalogEntry]) -> Iterator[InactiveOverride]:
    """Yield inactive claims and preferences; both ends of a price are inactive together."""
    statements: dict[str, dict[str, list[UserStatement]]] = {}
    for fact in catalog.user_facts:
        if isinstance(fact, UserClaim | ClaimPreference):
            statements.setdefault(fact.thing, {}).setdefault(fact.attribute, []).append(fact)
    for thing, about in statements.items():
        entry = things.get(thing)
        attributes = {} if entry is None else {each.name: each for each in catalog.attributes(thing)}
        inactive: dict[tuple[str, str], tuple[Message, list[UserStatement]]] = {}
        for name, facts in about.items():
            for fact in facts:
                why = _say_missing(thing) if entry is None else _find_reason(catalog, entry, attributes.get(name), fact)
                if why is not None:
                    group = PRICE_BOUND_ATTRIBUTES[0] if name in PRICE_BOUND_ATTRIBUTES else name
                    inactive.setdefault((group, why.id), (why, []))[1].append(fact)
        for (name, _), (why, waiting) in inactive.items():
            unit = _find_unit_of_name(name) if entry is None else find_unit(entry.kind, name)
            yield InactiveOverride(thing, name, why, tuple(waiting), unit)


def _find_unit_of_name(name: str) -> str | None:
    """Return the unit of an attribute of an entry that no longer exists, so its kind is unknown."""
    attribute = find_attribute_definition(name)
    return find_model_unit(name) if attribute is None else attribute.unit


def _find_reason(
    catalog: Catalog, thing: CatalogEntry, attribute: AttributeClaims | None, fact: UserStatement
) -> Message | None:
    """Return why a value of an existing entry is inactive, None if it is active."""
    if attribute is None or not _is_known(catalog, thing, attribute):
        return message(
            "own.waits.attribute", "the entry {id} no longer has this attribute, so the value is unused", id=thing.id
        )
    is_claimed = any(
        claim.source.id == fact.source and is_same_value(claim.value, fact.value) for claim in attribute.claims
    )
    if isinstance(fact, UserClaim) and not is_claimed:
        return message("own.waits.cannot_be", "this value is not allowed for the entry, so it is unused")
    if attribute.preference is not None or not _is_chosen(catalog, fact):
        return None
    if is_claimed:
        return _say_no_model(attribute.preferred)
    value = _make_parameter(fact.value, find_unit(thing.kind, fact.attribute))
    if attribute.preferred is None:
        return message(
            "own.waits.claim_none", "the value {value} no longer has a source, so the value stays empty", value=value
        )
    if attribute.preferred.own:
        return message(
            "own.waits.claim_yours",
            "the value {value} no longer has a source; another value of yours applies",
            value=value,
        )
    return message(
        "own.waits.claim", "the value {value} no longer has a source; the catalog default applies", value=value
    )


def _is_chosen(catalog: Catalog, fact: UserStatement) -> bool:
    """Whether it is a preference, or the claim that it names: both are inactive together."""
    choice = catalog.user_facts.get("preference", fact.thing, fact.attribute)
    return (
        isinstance(choice, ClaimPreference) and choice.source == fact.source and is_same_value(choice.value, fact.value)
    )


def _is_known(catalog: Catalog, thing: CatalogEntry, attribute: AttributeClaims) -> bool:
    """Whether an attribute is used: for a model, a shipped one, a dimension, or a known name."""
    if thing.kind is not CatalogEntryKind.MODEL or any(not claim.own for claim in attribute.claims):
        return True
    return attribute.name in _MODEL_ATTRIBUTES or is_dimension(catalog.definition(thing.id), attribute.name)


def _say_no_model(claim: Claim | None) -> Message:
    """Return the note that the dimensions are inconsistent, with the current value."""
    if claim is None:
        return message(
            "own.waits.dimension_none", "cannot be combined with the other dimensions; the model's own value applies"
        )
    if claim.own:
        return message(
            "own.waits.dimension_yours", "cannot be combined with the other dimensions; another value of yours applies"
        )
    return message("own.waits.dimension", "cannot be combined with the other dimensions; the catalog default applies")


def _make_parameter(value: ClaimValue, unit: str | None) -> MessageParameter:
    if is_figure(value) and unit is not None:
        return (value, unit)
    if isinstance(value, tuple):
        return ", ".join(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def describe_unknown_attribute(thing: str, name: str, near: tuple[str, ...]) -> Message:
    return message(
        "catalog.unknown_attribute",
        "{thing} has no attribute {name}; did you mean {near}?"
        if near
        else "{thing} has no attribute {name}; run `gpudesk catalog show {thing}` to list them",
        thing=thing,
        name=name,
        near=near,
    )
