"""What the rest of the program asks the catalog: the shipped facts with those of the user laid over them."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from gpudesk.catalog import overlay
from gpudesk.catalog.attribute_names import ACCELERATOR_REQUIRED
from gpudesk.catalog.readers import PartRow, accelerator_of
from gpudesk.catalog.shipped import Shipped
from gpudesk.catalog.store import Store
from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.claims import Attribute, ClaimValue, Dispute, Price, SeedClaim, Source
from gpudesk.domain.diffusion import DiffusionModel
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.models import Model
from gpudesk.domain.own_facts import OwnFacts
from gpudesk.domain.serving_engines import ServingEngine
from gpudesk.domain.things import Thing, ThingKind
from gpudesk.domain.waiting import Waiting

_T = TypeVar("_T")


class Catalog:
    """The facts of one catalog file and of one user, as domain objects with their sources.

    A question for an id that is not there raises `InputError` with the closest ids. The answers never
    change: other facts of the user make another catalog.
    """

    def __init__(self, shipped: Shipped, own: OwnFacts | None = None) -> None:
        """Answer from an open file, which is closed with this object, and from the facts of the user."""
        self.shipped = shipped
        self.own = OwnFacts() if own is None else own
        self._layer = overlay.Layer(self.own)
        self._attributes: dict[str, dict[str, Attribute]] = {}

    @classmethod
    def open(cls, path: Path) -> Catalog:
        """Open the file at `path`; raises `CatalogFileError` where it is no usable catalog."""
        return cls(Shipped(Store(path)))

    def with_own(self, own: OwnFacts) -> Catalog:
        """Return the catalog with these facts of the user instead; both share the file."""
        return Catalog(self.shipped, own)

    def close(self) -> None:
        """Let the file go; what was read stays valid."""
        self.shipped.store.close()

    def __enter__(self) -> Catalog:
        """Return the catalog itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self.close()

    # What the catalog is

    @property
    def revision(self) -> str:
        """The digest of all facts: equal for equal facts, whenever and wherever they were built."""
        return self._revision

    @property
    def shipped_revision(self) -> str:
        """The digest of the shipped facts alone."""
        return self.shipped.meta["revision"]

    @property
    def data_date(self) -> str:
        """The latest day on which a figure was retrieved."""
        return self.shipped.meta["data_date"]

    # Things

    def things(self, kind: ThingKind | None = None) -> tuple[Thing, ...]:
        """Return the entries of one kind or of all, in the order of lists."""
        return tuple(thing for thing in self._things.values() if kind is None or thing.kind is kind)

    def thing(self, thing_id: str) -> Thing:
        """Return the entry of any kind of thing."""
        return _found(self._things, thing_id, "thing")

    def kind_of(self, thing_id: str) -> ThingKind:
        """Return what kind of thing an id names."""
        return self.thing(thing_id).kind

    def accelerators(self) -> tuple[Accelerator, ...]:
        """Return every accelerator, by vendor and release."""
        return tuple(self._accelerators.values())

    def accelerator(self, accelerator_id: str) -> Accelerator:
        """Return one accelerator, assembled from the preferred values."""
        return _found(self._accelerators, accelerator_id, ThingKind.ACCELERATOR)

    def models(self) -> tuple[Model, ...]:
        """Return every model, by organisation and name."""
        return tuple(self._models.values())

    def model(self, model_id: str) -> Model:
        """Return one model with all its dimensions."""
        return _found(self._models, model_id, ThingKind.MODEL)

    def definition(self, model_id: str) -> dict[str, Any]:
        """Return the structure of a model in plain JSON types, as it was published or entered."""
        return dict(json.loads(_found(self._definitions, model_id, ThingKind.MODEL)))

    def diffusion_models(self) -> tuple[DiffusionModel, ...]:
        """Return every diffusion model."""
        return tuple(self.shipped.diffusion_models.values())

    def diffusion_model(self, model_id: str) -> DiffusionModel:
        """Return one diffusion model with its results."""
        return _found(self.shipped.diffusion_models, model_id, ThingKind.DIFFUSION_MODEL)

    def serving_engines(self) -> tuple[ServingEngine, ...]:
        """Return every serving engine."""
        return tuple(self.shipped.serving_engines.values())

    def serving_engine(self, engine_id: str) -> ServingEngine:
        """Return one serving engine with its rules."""
        return _found(self.shipped.serving_engines, engine_id, ThingKind.SERVING_ENGINE)

    # Figures and who states them

    def attributes(self, thing_id: str) -> tuple[Attribute, ...]:
        """Return all attributes of a thing with all their claims, in the order of the data."""
        return tuple(self._attributes_of(thing_id).values())

    def attribute(self, thing_id: str, name: str) -> Attribute:
        """Return one attribute of a thing with all its claims."""
        attributes = self._attributes_of(thing_id)
        if name not in attributes:
            near = _near(name, attributes)
            raise InputError(message("catalog.unknown_attribute", thing=thing_id, name=name, near=near))
        return attributes[name]

    def sources(self) -> tuple[Source, ...]:
        """Return every source, by id."""
        return tuple(self._sources.values())

    def source(self, source_id: str) -> Source:
        """Return one source."""
        return _found(self._sources, source_id, "source")

    def prices(self, accelerator: str | None = None) -> tuple[Price, ...]:
        """Return all prices, or those of one accelerator: rents first, then purchases."""
        if accelerator is None:
            return self._prices
        self.accelerator(accelerator)
        return tuple(price for price in self._prices if price.accelerator == accelerator)

    def seed_claims(self, thing: str | None = None) -> tuple[SeedClaim, ...]:
        """Return what the five source documents state, of all subjects or of one thing alone."""
        if thing is None:
            return self.shipped.seed_claims
        self.thing(thing)
        return tuple(claim for claim in self.shipped.seed_claims if claim.concerns(thing))

    def disputes(self, thing: str | None = None) -> tuple[Dispute, ...]:
        """Return the judged contradictions, all or those about one thing."""
        if thing is None:
            return self.shipped.disputes
        self.thing(thing)
        return tuple(dispute for dispute in self.shipped.disputes if dispute.concerns(thing))

    # What the user says

    @cached_property
    def waiting(self) -> tuple[Waiting, ...]:
        """The facts of the user that have no effect on the catalog as it is, and why."""
        # Most users have none, and who asks for a figure does not want to know.
        from gpudesk.catalog.waiting import waiting_facts

        return waiting_facts(self) if len(self.own) else ()

    # What was merged

    @cached_property
    def _revision(self) -> str:
        return overlay.merged_revision(self.shipped_revision, self.own)

    @cached_property
    def _things(self) -> dict[str, Thing]:
        return overlay.merged_things(self.shipped.things, self._layer)

    @cached_property
    def _sources(self) -> dict[str, Source]:
        return {**self.shipped.sources, **self._layer.sources}

    @cached_property
    def _accelerators(self) -> dict[str, Accelerator]:
        """Assemble every accelerator; one of the user's that lacks what estimates need is left out."""
        found = {}
        for part in (*self.shipped.parts.values(), *self._own_parts()):
            values = self._values(part.id)
            if all(name in values for name in ACCELERATOR_REQUIRED):
                found[part.id] = accelerator_of(part, values)
        return found

    def _own_parts(self) -> list[PartRow]:
        return [
            PartRow(part.id, part.name, part.vendor, part.generation, part.announced)
            for part in self._layer.accelerators.values()
            if part.id not in self.shipped.things
        ]

    def _values(self, part: str) -> Mapping[str, ClaimValue]:
        """Return the values that hold for an accelerator."""
        if not self._layer.touched(part):
            return self.shipped.part_values.get(part, {})
        attributes = self._attributes_of(part)
        return {name: each.value for name, each in attributes.items() if each.preferred is not None}

    @cached_property
    def _definitions(self) -> dict[str, str]:
        own = {
            model.id: model.definition
            for model in self._layer.models.values()
            if model.id not in self.shipped.things
        }
        return {**self.shipped.definitions, **own}

    @cached_property
    def _models(self) -> dict[str, Model]:
        return {
            model: overlay.merged_model(
                definition, self._attributes_of(model) if self._layer.touched(model) else {}
            )
            for model, definition in self._definitions.items()
        }

    @cached_property
    def _prices(self) -> tuple[Price, ...]:
        return overlay.merged_prices(self.shipped.prices, self._layer, self._sources)

    def _attributes_of(self, thing_id: str) -> dict[str, Attribute]:
        """Merge the attributes of a thing, once."""
        if thing_id not in self._attributes:
            thing = self.thing(thing_id)
            shipped = {} if thing.own else self.shipped.attributes_of(thing_id)
            definition = self._definitions[thing_id] if thing.kind is ThingKind.MODEL else None
            self._attributes[thing_id] = overlay.merged_attributes(
                thing, shipped, self._layer, self._sources, definition
            )
        return self._attributes[thing_id]


def _found(entries: Mapping[str, _T], entry_id: str, kind: str) -> _T:
    """Return an entry; where there is none, raise what was asked for and the closest ids."""
    try:
        return entries[entry_id]
    except KeyError:
        problem = message("catalog.unknown", kind=kind, id=entry_id, near=_near(entry_id, entries))
        raise InputError(problem) from None


def _near(word: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three known words that look like `word`, the closest first."""
    names = list(known)
    wanted = word.strip().lower().replace(" ", "-").replace("_", "-")
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
    starting = [name for name in names if len(wanted) > 1 and name.startswith(wanted) and name not in close]
    return tuple((close + starting)[:3])
