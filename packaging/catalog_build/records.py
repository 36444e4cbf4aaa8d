"""Records of the files in `data/`: fields, types, required keys."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WrapValidator, create_model

from gpudesk.catalog.model_record import SLUG, FileRecord, ModelRecord, Slug, Text, list_model_fields, make_record_type
from gpudesk.domain.accelerator import SystemKind
from gpudesk.domain.claim import ProviderClass, SourceKind
from gpudesk.domain.diffusion import DiffusionArchitecture, DiffusionRun

_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")


def _check_date(text: str) -> str:
    if not _DATE.fullmatch(text):
        raise ValueError("write the date as YYYY, YYYY-MM or YYYY-MM-DD")
    return text


def _check_value(value: object, _next: object) -> bool | int | float | str | list[str]:
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) and word.strip() for word in value):
        return value
    raise ValueError("a value is a number, a word, true or false, or a list of words")


def _convert_empty_to_none(cell: object) -> object:
    return None if cell == "" else cell


Date = Annotated[str, AfterValidator(_check_date)]
#: In strict mode pydantic accepts no plain word for an enumeration, but files have nothing else.
KindWord = Annotated[SourceKind, Field(strict=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
#: A claim's value: one check instead of a union, which would report one error per type.
RecordedValue = Annotated[bool | int | float | str | list[str], WrapValidator(_check_value)]


def split_names(cell: str | None) -> tuple[str, ...]:
    return () if cell is None else tuple(cell.split(";"))


class SourceRecord(FileRecord):
    """One `[sources.<slug>]` of data/sources/."""

    title: Text
    publisher: Text
    kind: KindWord
    url: Annotated[str, Field(pattern=r"^https?://\S+$")] | None = None
    date: Date | None = None
    trust: Text | None = None


class SourcesFile(FileRecord):
    """A file of data/sources/."""

    sources: dict[Slug, SourceRecord]


class ClaimRecord(FileRecord):
    """A claim in the unit that it was published in."""

    value: RecordedValue
    source: Slug
    preferred: bool = False
    kind: KindWord | None = None
    retrieved: Date | None = None
    conditions: Text | None = None
    note: Text | None = None
    verdict: Text | None = None
    unit: Text | None = None


class AttributeRecord(FileRecord):
    """All claims about one attribute; `none_preferred` states that none of them is preferred."""

    claims: Annotated[list[ClaimRecord], Field(min_length=1)]
    unit: Text | None = None
    reason: Text | None = None
    none_preferred: bool = False


class AcceleratorFile(FileRecord):
    """A file of data/accelerators/."""

    id: Slug
    name: Text
    vendor: Text
    generation: Slug
    announced: bool
    attributes: dict[str, AttributeRecord]


class SystemFile(FileRecord):
    """A file of data/systems/. An instance names its provider, and its name in data/prices/cloud.csv if any."""

    id: Slug
    name: Text
    vendor: Text
    kind: Annotated[SystemKind, Field(strict=False)]
    accelerator: Slug
    attributes: dict[str, AttributeRecord]
    provider: Text | None = None
    instance: Text | None = None


class ReferenceDesignFile(FileRecord):
    """A file of data/reference_designs/."""

    id: Slug
    name: Text
    vendor: Text
    system: Slug
    accelerator_count: Annotated[int, Field(ge=1)]
    attributes: dict[str, AttributeRecord]


class TableRecord(BaseModel):
    """Base of all rows of CSV tables: cells are text, so numbers are read from text; empty is None."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_Word = Annotated[str, Field(min_length=1)]
_OptionalWord = Annotated[str | None, BeforeValidator(_convert_empty_to_none)]
_OptionalSlug = Annotated[Slug | None, BeforeValidator(_convert_empty_to_none)]
_OptionalSlugs = Annotated[
    Annotated[str, Field(pattern=rf"^{SLUG}(?:;{SLUG})*$")] | None, BeforeValidator(_convert_empty_to_none)
]
_OptionalDate = Annotated[Date | None, BeforeValidator(_convert_empty_to_none)]
_OptionalCount = Annotated[Annotated[int, Field(ge=1)] | None, BeforeValidator(_convert_empty_to_none)]
_Usd = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_OptionalUsd = Annotated[_Usd | None, BeforeValidator(_convert_empty_to_none)]


class CloudPriceRecord(TableRecord):
    """A row of data/prices/cloud.csv: one accelerator for one hour."""

    provider: _Word
    accelerator: _OptionalSlug
    term: _Word
    usd_per_accelerator_hour: _OptionalUsd
    usd_low: _OptionalUsd
    usd_high: _OptionalUsd
    accelerators_in_instance: _OptionalCount
    instance: _OptionalWord
    region: _OptionalWord
    date: _OptionalDate
    source: Slug
    kind: SourceKind
    note: _OptionalWord


class PurchasePriceRecord(TableRecord):
    """A row of data/prices/purchase.csv: one accelerator; `verdict` says why not to use it."""

    accelerator: _OptionalSlug
    usd_low: _Usd
    usd_high: _Usd
    basis: _OptionalWord
    date: _OptionalDate
    source: Slug
    kind: SourceKind
    verdict: _OptionalWord
    seller: _OptionalWord


class ProviderRecord(TableRecord):
    """A row of data/prices/providers.csv."""

    provider: _Word
    provider_class: ProviderClass
    note: _OptionalWord


class ApiPriceRecord(TableRecord):
    """A row of data/prices/api.csv: the list price of a hosted model."""

    model: Slug
    provider: _Word
    provider_model: _Word
    usd_per_million_input: _Usd
    usd_per_million_output: _Usd
    usd_per_million_cached_input: _OptionalUsd
    date: Date
    source: Slug
    note: _OptionalWord


class MissingPriceRecord(TableRecord):
    """A row of data/prices/missing.csv: prices of an accelerator that are not public."""

    accelerator: Slug
    missing: _Word
    note: _Word
    source: Slug
    date: Date


class SeedClaimRecord(TableRecord):
    """A row of data/claims/seeds.csv, with the figures as printed.

    `thing` and `thing_attribute` can name several, separated by semicolons. `stated` is the value for an attribute, if
    it differs from the printed text, or "-" without one; `verdict` says why the value is not used.
    """

    id: _Word
    source: Slug
    subject: _Word
    attribute: _Word
    value: _Word
    value_high: _OptionalWord
    unit: _OptionalWord
    conditions: _OptionalWord
    as_of: _OptionalWord
    stated_by: _OptionalWord
    note: _OptionalWord
    thing: _OptionalSlugs
    thing_attribute: _OptionalWord
    stated: _OptionalWord
    verdict: _OptionalWord


class DisputeRecord(TableRecord):
    """A row of data/disputes/seeds.csv."""

    id: _Word
    claim_a: _OptionalWord
    claim_b: _OptionalWord
    subject: _Word
    attribute: _Word
    disagreement: _Word
    verdict: _Word
    reason: _Word
    thing: _OptionalSlugs
    thing_attribute: _OptionalWord


class HardwareDisputeRecord(DisputeRecord):
    """A row of data/disputes/hardware.csv, which repeats the accelerator."""

    accelerator: _OptionalSlug


if TYPE_CHECKING:
    DiffusionRunRecord = FileRecord

    class DiffusionArchitectureRecord(FileRecord):  # noqa: D101
        source: str
else:
    DiffusionRunRecord = make_record_type(DiffusionRun)
    DiffusionArchitectureRecord = make_record_type(DiffusionArchitecture)


class DiffusionResultRecord(FileRecord):
    """A measured or estimated time of a diffusion model."""

    part: Text
    count: Annotated[int, Field(ge=1)]
    setting: Text
    value: RecordedValue
    unit: Text
    source: Slug
    value_high: Number | None = None
    accelerator: Slug | None = None
    kind: KindWord | None = None
    retrieved: Date | None = None
    note: Text | None = None
    run: DiffusionRunRecord | None = None


class DiffusionFile(FileRecord):
    """A file of data/diffusion/."""

    id: Slug
    name: Text
    type: Text
    attributes: dict[str, AttributeRecord]
    measurements: list[DiffusionResultRecord] = Field(default_factory=list)
    estimates: list[DiffusionResultRecord] = Field(default_factory=list)
    architecture: DiffusionArchitectureRecord | None = None

    def results(self) -> Iterator[tuple[str, DiffusionResultRecord]]:
        """Yield measured, then estimated times, each with its place in the file."""
        for part, results in (("measurements", self.measurements), ("estimates", self.estimates)):
            for number, result in enumerate(results, start=1):
                yield f"{part}.{number}", result


class ModelClaimRecord(ClaimRecord):
    """One `[[claims]]`: about an attribute of the model or one dimension, named by its path."""

    attribute: Text
    reason: Text | None = None


class ModelFile(ModelRecord):
    """A file of data/models/: its structure. `MODEL_FILE` adds the remaining fields of `Model`."""

    dimensions_source: Slug | None = None
    claims: list[ModelClaimRecord] = Field(default_factory=list)


MODEL_FILE: type[ModelFile] = create_model("ModelFile", __base__=ModelFile, **list_model_fields())
