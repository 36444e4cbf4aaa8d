"""Tables of the shipped catalog file; those of the user's are in `user_store/migrations.py`.

Programs that only read use the fields of the domain's records, which have the same names, because this module is slow
to load.
"""

from __future__ import annotations

from typing import ClassVar, Final

from sqlalchemy import ForeignKeyConstraint, Index, Integer, MetaData, text
from sqlmodel import Field, SQLModel

#: The tables of the file, regardless of other tables in the program.
SHIPPED_METADATA: Final = MetaData()


class _ShippedTable(SQLModel):
    """Base of the tables; the metadata separates them from tables of other files."""

    metadata: ClassVar[MetaData] = SHIPPED_METADATA


class MetaRow(_ShippedTable, table=True):
    """A property of the file itself: revision, data date, digest of its sources."""

    __tablename__ = "meta"
    key: str = Field(primary_key=True)
    value: str


class SourceRow(_ShippedTable, table=True):
    """A source of shipped claims."""

    __tablename__ = "source"
    title: str
    publisher: str
    kind: str
    url: str | None
    date: str | None
    trust: str | None
    id: str = Field(primary_key=True)


class EntryRow(_ShippedTable, table=True):
    """An accelerator, a model, a diffusion model, a serving engine or a system; `position` is its order in lists."""

    __tablename__ = "thing"
    id: str = Field(primary_key=True)
    kind: str = Field(index=True)
    name: str
    maker: str | None
    position: int


class AcceleratorRow(_ShippedTable, table=True):
    """A shipped accelerator."""

    __tablename__ = "accelerator"
    generation: str
    announced: bool = Field(sa_type=Integer)
    id: str = Field(primary_key=True, foreign_key="thing.id")


class ModelRow(_ShippedTable, table=True):
    """A shipped model."""

    __tablename__ = "model"
    definition: str
    id: str = Field(primary_key=True, foreign_key="thing.id")


class ServingEngineRow(_ShippedTable, table=True):
    """The rules of a serving engine as JSON."""

    __tablename__ = "serving_engine"
    id: str = Field(primary_key=True, foreign_key="thing.id")
    definition: str


class SystemRow(_ShippedTable, table=True):
    """A shipped system."""

    __tablename__ = "system"
    kind: str
    provider: str | None
    instance: str | None
    id: str = Field(primary_key=True, foreign_key="thing.id")
    accelerator: str = Field(foreign_key="accelerator.id", index=True)


class ReferenceDesignRow(_ShippedTable, table=True):
    """A published design: its number of accelerators, and its system."""

    __tablename__ = "reference_design"
    id: str = Field(primary_key=True, foreign_key="thing.id")
    system: str = Field(foreign_key="system.id")
    accelerator_count: int


class DiffusionModelRow(_ShippedTable, table=True):
    """A diffusion model without its attributes; its dimensions as JSON."""

    __tablename__ = "diffusion_model"
    id: str = Field(primary_key=True, foreign_key="thing.id")
    medium: str
    architecture: str | None


class DiffusionResultRow(_ShippedTable, table=True):
    """A reported time of a diffusion model; its conditions as JSON."""

    __tablename__ = "diffusion_result"
    model: str = Field(primary_key=True, foreign_key="diffusion_model.id")
    position: int = Field(primary_key=True)
    part: str
    accelerator: str | None = Field(foreign_key="accelerator.id")
    count: int
    setting: str
    value: str
    value_high: float | None
    unit: str | None
    estimated: bool
    source: str = Field(foreign_key="source.id")
    kind: str
    retrieved: str | None
    note: str | None
    run: str | None


class AttributeRow(_ShippedTable, table=True):
    """One attribute of one entry, the subject of claims. `unit` is the internal one."""

    __tablename__ = "attribute"
    thing: str = Field(primary_key=True, foreign_key="thing.id")
    name: str = Field(primary_key=True)
    position: int
    unit: str | None
    reason: str | None


class ClaimRow(_ShippedTable, table=True):
    """A shipped claim; `verdict` says why it is not the preferred one."""

    __tablename__ = "claim"
    __table_args__ = (
        ForeignKeyConstraint(["thing", "attribute"], ["attribute.thing", "attribute.name"]),
        Index("one_preferred_claim", "thing", "attribute", unique=True, sqlite_where=text("preferred")),
    )
    value: str
    kind: str
    published: str | None
    conditions: str | None
    note: str | None
    thing: str = Field(primary_key=True)
    attribute: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    source: str = Field(foreign_key="source.id")
    preferred: bool
    retrieved: str | None
    verdict: str | None


class SeedClaimRow(_ShippedTable, table=True):
    """A statement of one of the five source documents, as printed."""

    __tablename__ = "seed_claim"
    id: str = Field(primary_key=True)
    source: str = Field(foreign_key="source.id")
    subject: str
    attribute: str
    value: str
    value_high: str | None
    unit: str | None
    conditions: str | None
    as_of: str | None
    stated_by: str | None
    note: str | None


class SeedSubjectRow(_ShippedTable, table=True):
    """The target of a statement: an entry, possibly an attribute of it, and the equal claim.

    `claim` is the position of that claim; None if the statement gives no value of the attribute.
    """

    __tablename__ = "seed_subject"
    __table_args__ = (
        ForeignKeyConstraint(["thing", "attribute"], ["attribute.thing", "attribute.name"]),
        ForeignKeyConstraint(["thing", "attribute", "claim"], ["claim.thing", "claim.attribute", "claim.position"]),
    )
    seed_claim: str = Field(primary_key=True, foreign_key="seed_claim.id")
    position: int = Field(primary_key=True)
    thing: str = Field(foreign_key="thing.id", index=True)
    attribute: str | None
    claim: int | None


class DisputeRow(_ShippedTable, table=True):
    """Two contradictory statements; `claim_b` can also be a word instead of a claim."""

    __tablename__ = "dispute"
    id: str = Field(primary_key=True)
    claim_a: str | None = Field(foreign_key="seed_claim.id")
    claim_b: str | None
    subject: str
    attribute: str
    disagreement: str
    verdict: str
    reason: str


class DisputeSubjectRow(_ShippedTable, table=True):
    """The target of a dispute: an entry, possibly an attribute of it."""

    __tablename__ = "dispute_subject"
    __table_args__ = (ForeignKeyConstraint(["thing", "attribute"], ["attribute.thing", "attribute.name"]),)
    dispute: str = Field(primary_key=True, foreign_key="dispute.id")
    position: int = Field(primary_key=True)
    thing: str = Field(foreign_key="thing.id")
    attribute: str | None


class ShippedPriceRow(_ShippedTable, table=True):
    """A shipped price; `position` is its order in lists."""

    __tablename__ = "price"
    term: str
    kind: str
    usd: float | None
    usd_low: float | None
    usd_high: float | None
    provider: str | None
    region: str | None
    instance: str | None
    accelerators_in_instance: int | None
    basis: str | None
    date: str | None
    note: str | None
    id: str = Field(primary_key=True)
    position: int
    accelerator: str | None = Field(foreign_key="accelerator.id")
    source: str = Field(foreign_key="source.id")


class ProviderRow(_ShippedTable, table=True):
    """A provider of accelerators and its class."""

    __tablename__ = "provider"
    provider: str = Field(primary_key=True)
    provider_class: str


class ApiPriceRow(_ShippedTable, table=True):
    """The list price of a hosted model."""

    __tablename__ = "api_price"
    position: int = Field(primary_key=True)
    model: str = Field(foreign_key="model.id")
    provider: str
    provider_model: str
    usd_per_million_input: float
    usd_per_million_output: float
    usd_per_million_cached_input: float | None
    date: str
    source: str = Field(foreign_key="source.id")
    note: str | None


class MissingPriceRow(_ShippedTable, table=True):
    """Prices of an accelerator that are not public."""

    __tablename__ = "missing_price"
    position: int = Field(primary_key=True)
    accelerator: str = Field(foreign_key="accelerator.id")
    missing: str
    note: str
    source: str = Field(foreign_key="source.id")
    date: str
