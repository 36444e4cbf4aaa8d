"""Tables of the shipped catalog."""

from __future__ import annotations

from typing import ClassVar, Final

from sqlalchemy import ForeignKeyConstraint, Index, MetaData, text
from sqlmodel import Field, SQLModel

#: The metadata of these tables alone, whatever other tables a program defines.
SHIPPED_METADATA: Final = MetaData()


class _ShippedTable(SQLModel):
    """What the tables share; the metadata keeps them apart from tables of other files."""

    metadata: ClassVar[MetaData] = SHIPPED_METADATA


class MetaRow(_ShippedTable, table=True):
    """One word about the file itself: revision, data date, digest of what it was built from."""

    __tablename__ = "meta"
    key: str = Field(primary_key=True)
    value: str


class SourceRow(_ShippedTable, table=True):
    """A publication that figures come from."""

    __tablename__ = "source"
    id: str = Field(primary_key=True)
    title: str
    publisher: str
    kind: str
    url: str | None
    date: str | None
    trust: str | None


class ThingRow(_ShippedTable, table=True):
    """An accelerator, a model, a diffusion model or a serving engine; `position` is its place in lists."""

    __tablename__ = "thing"
    id: str = Field(primary_key=True)
    kind: str = Field(index=True)
    name: str
    maker: str | None
    position: int


class AcceleratorRow(_ShippedTable, table=True):
    """What an accelerator is beyond its attributes."""

    __tablename__ = "accelerator"
    id: str = Field(primary_key=True, foreign_key="thing.id")
    generation: str
    announced: bool


class ModelRow(_ShippedTable, table=True):
    """The structure of a model: its dimensions, layer kinds and layers as JSON."""

    __tablename__ = "model"
    id: str = Field(primary_key=True, foreign_key="thing.id")
    definition: str


class ServingEngineRow(_ShippedTable, table=True):
    """The rules of a serving engine as JSON."""

    __tablename__ = "serving_engine"
    id: str = Field(primary_key=True, foreign_key="thing.id")
    definition: str


class DiffusionModelRow(_ShippedTable, table=True):
    """What a diffusion model is beyond its attributes."""

    __tablename__ = "diffusion_model"
    id: str = Field(primary_key=True, foreign_key="thing.id")
    medium: str


class DiffusionResultRow(_ShippedTable, table=True):
    """A reported time of a diffusion model."""

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


class AttributeRow(_ShippedTable, table=True):
    """One attribute of one thing: what its claims are about. `unit` is the one used inside."""

    __tablename__ = "attribute"
    thing: str = Field(primary_key=True, foreign_key="thing.id")
    name: str = Field(primary_key=True)
    position: int
    unit: str | None
    reason: str | None


class ClaimRow(_ShippedTable, table=True):
    """A figure as one source states it: JSON in the unit used inside, `published` as printed."""

    __tablename__ = "claim"
    __table_args__ = (
        ForeignKeyConstraint(["thing", "attribute"], ["attribute.thing", "attribute.name"]),
        Index("one_preferred_claim", "thing", "attribute", unique=True, sqlite_where=text("preferred")),
    )
    thing: str = Field(primary_key=True)
    attribute: str = Field(primary_key=True)
    position: int = Field(primary_key=True)
    value: str
    source: str = Field(foreign_key="source.id")
    kind: str
    preferred: bool
    published: str | None
    conditions: str | None
    retrieved: str | None
    note: str | None
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
    """What a statement is about: a thing, perhaps an attribute of it, and the claim that says the same.

    `claim` is the position of that claim; None where the statement gives no value of the attribute.
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
    """Two statements that cannot both hold; `claim_b` can also be a word instead of a claim."""

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
    """What a dispute is about: a thing, perhaps an attribute of it."""

    __tablename__ = "dispute_subject"
    __table_args__ = (ForeignKeyConstraint(["thing", "attribute"], ["attribute.thing", "attribute.name"]),)
    dispute: str = Field(primary_key=True, foreign_key="dispute.id")
    position: int = Field(primary_key=True)
    thing: str = Field(foreign_key="thing.id")
    attribute: str | None


class ShippedPriceRow(_ShippedTable, table=True):
    """A rent by the hour or a purchase, in US dollars per accelerator."""

    __tablename__ = "price"
    id: str = Field(primary_key=True)
    position: int
    accelerator: str | None = Field(foreign_key="accelerator.id")
    term: str
    source: str = Field(foreign_key="source.id")
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
