"""The shipped catalog as domain objects. Each kind of thing is read at the first question for it."""

from __future__ import annotations

from functools import cached_property

from gpudesk.catalog import readers
from gpudesk.catalog.readers import PartRow
from gpudesk.catalog.store import Store
from gpudesk.domain.claims import Attribute, ClaimValue, Dispute, Price, SeedClaim, Source
from gpudesk.domain.diffusion import DiffusionModel
from gpudesk.domain.serving_engines import ServingEngine
from gpudesk.domain.things import Thing


class Shipped:
    """What one catalog file holds. Whoever lays facts of their own over it shares what was read."""

    def __init__(self, store: Store) -> None:
        """Read from an open file."""
        self.store = store
        self._attributes: dict[str, dict[str, Attribute]] = {}

    @cached_property
    def meta(self) -> dict[str, str]:
        """What the file says of itself."""
        return readers.read_meta(self.store)

    @cached_property
    def things(self) -> dict[str, Thing]:
        """Every entry by id, in the order of lists."""
        return readers.read_things(self.store)

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Every source by id."""
        return readers.read_sources(self.store)

    @cached_property
    def parts(self) -> dict[str, PartRow]:
        """What every accelerator is beyond its attributes, by id in the order of lists."""
        return readers.read_parts(self.store)

    @cached_property
    def part_values(self) -> dict[str, dict[str, ClaimValue]]:
        """The preferred values of every accelerator, by id and attribute."""
        return readers.read_part_values(self.store)

    @cached_property
    def definitions(self) -> dict[str, str]:
        """The structure of every model as JSON, by id in the order of lists."""
        return readers.read_definitions(self.store)

    @cached_property
    def diffusion_models(self) -> dict[str, DiffusionModel]:
        """Every diffusion model by id."""
        return readers.read_diffusion_models(self.store, self.sources)

    @cached_property
    def serving_engines(self) -> dict[str, ServingEngine]:
        """Every serving engine by id."""
        return readers.read_serving_engines(self.store)

    @cached_property
    def prices(self) -> tuple[Price, ...]:
        """All prices: rents first, then purchases."""
        return readers.read_prices(self.store, self.sources)

    @cached_property
    def seed_claims(self) -> tuple[SeedClaim, ...]:
        """The statements of the source documents."""
        return readers.read_seed_claims(self.store, self.sources)

    @cached_property
    def disputes(self) -> tuple[Dispute, ...]:
        """The judged contradictions."""
        return readers.read_disputes(self.store)

    def attributes_of(self, thing: str) -> dict[str, Attribute]:
        """Return the attributes of a thing, read once; none where the file does not have it."""
        if thing not in self._attributes:
            self._attributes[thing] = readers.read_attributes(self.store, thing, self.sources)
        return self._attributes[thing]
