"""Tables of both catalog files: the shipped one, and the user's with its versions.

Columns of sources, claims and prices that both files share are declared once. Programs that only read use the fields of
the domain's records, which have the same names, because this module is slow to load.
"""

from __future__ import annotations

from typing import ClassVar, Final

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, Integer, MetaData, UniqueConstraint, text
from sqlmodel import Field, SQLModel

#: The tables of each file, regardless of other tables in the program.
SHIPPED_METADATA: Final = MetaData()
USER_METADATA: Final = MetaData()


# Common to both files


class SourceBase(SQLModel):
    """A publication that figures come from."""

    title: str
    publisher: str
    kind: str
    url: str | None
    date: str | None
    trust: str | None


class AcceleratorBase(SQLModel):
    """An accelerator without its attributes."""

    generation: str
    announced: bool = Field(sa_type=Integer)


class SystemBase(SQLModel):
    """A system without its attributes; `provider` and `instance` are those of its rents."""

    kind: str
    provider: str | None
    instance: str | None


class ModelBase(SQLModel):
    """The structure of a model: its dimensions, layer kinds and layers as JSON."""

    definition: str


class ClaimBase(SQLModel):
    """A figure as one source states it: JSON in the internal unit, `published` as printed."""

    value: str
    kind: str
    published: str | None
    conditions: str | None
    note: str | None


class PriceBase(SQLModel):
    """A rent by the hour or a purchase, in US dollars per accelerator."""

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


# The shipped file


class _ShippedTable(SQLModel):
    """Base of the tables; the metadata separates them from tables of other files."""

    metadata: ClassVar[MetaData] = SHIPPED_METADATA


class MetaRow(_ShippedTable, table=True):
    """A property of the file itself: revision, data date, digest of its sources."""

    __tablename__ = "meta"
    key: str = Field(primary_key=True)
    value: str


class SourceRow(SourceBase, _ShippedTable, table=True):
    """A source of shipped claims."""

    __tablename__ = "source"
    id: str = Field(primary_key=True)


class EntryRow(_ShippedTable, table=True):
    """An accelerator, a model, a diffusion model, a serving engine or a system; `position` is its order in lists."""

    __tablename__ = "thing"
    id: str = Field(primary_key=True)
    kind: str = Field(index=True)
    name: str
    maker: str | None
    position: int


class AcceleratorRow(AcceleratorBase, _ShippedTable, table=True):
    """A shipped accelerator."""

    __tablename__ = "accelerator"
    id: str = Field(primary_key=True, foreign_key="thing.id")


class ModelRow(ModelBase, _ShippedTable, table=True):
    """A shipped model."""

    __tablename__ = "model"
    id: str = Field(primary_key=True, foreign_key="thing.id")


class ServingEngineRow(_ShippedTable, table=True):
    """The rules of a serving engine as JSON."""

    __tablename__ = "serving_engine"
    id: str = Field(primary_key=True, foreign_key="thing.id")
    definition: str


class SystemRow(SystemBase, _ShippedTable, table=True):
    """A shipped system."""

    __tablename__ = "system"
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


class ClaimRow(ClaimBase, _ShippedTable, table=True):
    """A shipped claim; `verdict` says why it is not the preferred one."""

    __tablename__ = "claim"
    __table_args__ = (
        ForeignKeyConstraint(["thing", "attribute"], ["attribute.thing", "attribute.name"]),
        Index("one_preferred_claim", "thing", "attribute", unique=True, sqlite_where=text("preferred")),
    )
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


class ShippedPriceRow(PriceBase, _ShippedTable, table=True):
    """A shipped price; `position` is its order in lists."""

    __tablename__ = "price"
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


# The user's file


class _UserTable(SQLModel):
    """Base of the tables: `position` is the order of entry.

    The subject of a claim or a price can be an entry of the shipped catalog: no foreign key refers to it here.
    """

    metadata: ClassVar[MetaData] = USER_METADATA
    position: int | None = Field(primary_key=True)


def _refer_to_source() -> ForeignKey:
    """Checked at the end of a step, whose facts can come in any order."""
    return ForeignKey("source.id", deferrable=True, initially="DEFERRED")


class UserSourceRow(SourceBase, _UserTable, table=True):
    """A source of the user's."""

    __tablename__ = "source"
    id: str = Field(unique=True)


class UserAcceleratorRow(AcceleratorBase, _UserTable, table=True):
    """An accelerator of the user's."""

    __tablename__ = "accelerator"
    id: str = Field(unique=True)
    name: str
    vendor: str


class UserModelRow(ModelBase, _UserTable, table=True):
    """A model of the user's."""

    __tablename__ = "model"
    id: str = Field(unique=True)
    name: str
    organisation: str


class UserSystemRow(SystemBase, _UserTable, table=True):
    """A system of the user's."""

    __tablename__ = "system"
    __table_args__: ClassVar[dict[str, object]] = {"info": {"since": 4}}
    id: str = Field(unique=True)
    name: str
    vendor: str
    accelerator: str


class UserClaimRow(ClaimBase, _UserTable, table=True):
    """A claim of the user's."""

    __tablename__ = "claim"
    __table_args__ = (UniqueConstraint("thing", "attribute", "source"), Index("claim_source", "source"))
    thing: str
    attribute: str
    source: str = Field(sa_column_args=[_refer_to_source()])
    retrieved: str


class PreferenceRow(_UserTable, table=True):
    """The user's preferred claim for an attribute; its source can be a shipped one."""

    __tablename__ = "preference"
    __table_args__ = (UniqueConstraint("thing", "attribute"),)
    thing: str
    attribute: str
    source: str
    value: str
    reason: str
    date: str


class UserPriceRow(PriceBase, _UserTable, table=True):
    """A price of the user's."""

    __tablename__ = "price"
    __table_args__ = (Index("price_source", "source"),)
    id: str = Field(unique=True)
    accelerator: str
    source: str = Field(sa_column_args=[_refer_to_source()])


class SignerRow(SQLModel, table=True):
    """A signer of packs whom the user trusts."""

    metadata: ClassVar[MetaData] = USER_METADATA
    __tablename__ = "signer"
    __table_args__: ClassVar[dict[str, object]] = {"info": {"since": 2}}
    key: str = Field(primary_key=True)
    name: str
    trusted_on: str


class WatchRow(_UserTable, table=True):
    """A note on the watch list."""

    __tablename__ = "watch"
    __table_args__: ClassVar[dict[str, object]] = {"info": {"since": 3}}
    signal: str = Field(unique=True)
    value: str
    date: str
    source: str
    note: str | None
