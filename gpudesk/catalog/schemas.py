"""The shape of the files in `data/`: every field, its type, and which of them must be there.

Strict: a number in quotes is no number, and a key that is not named here is an error. What makes sense
beyond the shape (sources that exist, units that fit, one preferred claim) is checked in `checks`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Annotated, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WrapValidator

from gpudesk.domain.claims import Kind

_DATE = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")


def _checked_date(text: str) -> str:
    if not _DATE.fullmatch(text):
        raise ValueError("write the date as YYYY, YYYY-MM or YYYY-MM-DD")
    return text


def _checked_value(value: object, _next: object) -> bool | int | float | str | list[str]:
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, list) and value and all(isinstance(word, str) and word.strip() for word in value):
        return value
    raise ValueError("a value is a number, a word, true or false, or a list of words")


def _none_if_empty(cell: object) -> object:
    return None if cell == "" else cell


_SLUG: Final = "[a-z0-9]+(?:[.-][a-z0-9]+)*"
Slug = Annotated[str, Field(pattern=f"^{_SLUG}$")]
Text = Annotated[str, Field(min_length=1)]
Date = Annotated[str, AfterValidator(_checked_date)]
#: Strict validation takes no plain word for an enumeration, files have nothing else.
KindWord = Annotated[Kind, Field(strict=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
#: A claim's value: one check instead of a union, which would report one error for each of its types.
RecordedValue = Annotated[bool | int | float | str | list[str], WrapValidator(_checked_value)]


def listed(cell: str | None) -> tuple[str, ...]:
    """Return the names in a cell that may hold several, with semicolons between them."""
    return () if cell is None else tuple(cell.split(";"))


class FileRecord(BaseModel):
    """What all records of TOML files share: strict types, no unknown keys, no change afterwards."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


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
    """All claims about one attribute; `none_preferred` says that none of them is taken."""

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


class DiffusionFile(FileRecord):
    """A file of data/diffusion/."""

    id: Slug
    name: Text
    type: Text
    attributes: dict[str, AttributeRecord]
    measurements: list[DiffusionResultRecord] = Field(default_factory=list)
    estimates: list[DiffusionResultRecord] = Field(default_factory=list)

    def results(self) -> Iterator[tuple[str, DiffusionResultRecord]]:
        """Yield what was measured, then what was estimated, each with its place in the file."""
        for part, results in (("measurements", self.measurements), ("estimates", self.estimates)):
            for number, result in enumerate(results, start=1):
                yield f"{part}.{number}", result


class TableRecord(BaseModel):
    """What all rows of CSV tables share: cells are text, so numbers are read from text; empty is None."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_Word = Annotated[str, Field(min_length=1)]
_OptionalWord = Annotated[str | None, BeforeValidator(_none_if_empty)]
_OptionalSlug = Annotated[Slug | None, BeforeValidator(_none_if_empty)]
_OptionalSlugs = Annotated[
    Annotated[str, Field(pattern=rf"^{_SLUG}(?:;{_SLUG})*$")] | None, BeforeValidator(_none_if_empty)
]
_OptionalDate = Annotated[Date | None, BeforeValidator(_none_if_empty)]
_OptionalCount = Annotated[Annotated[int, Field(ge=1)] | None, BeforeValidator(_none_if_empty)]
_Usd = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_OptionalUsd = Annotated[_Usd | None, BeforeValidator(_none_if_empty)]


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
    kind: Kind
    note: _OptionalWord


class PurchasePriceRecord(TableRecord):
    """A row of data/prices/purchase.csv: one accelerator bought; `verdict` says why not to use it."""

    accelerator: _OptionalSlug
    usd_low: _Usd
    usd_high: _Usd
    basis: _OptionalWord
    date: _OptionalDate
    source: Slug
    kind: Kind
    verdict: _OptionalWord


class SeedClaimRecord(TableRecord):
    """A row of data/claims/seeds.csv, with the figures as printed.

    `thing` and `thing_attribute` may name several, with semicolons between them. `stated` is the value that
    an attribute has by it, where that is written otherwise than printed, or "-" where it gives none;
    `verdict` says why the value is not taken.
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
    """A row of data/disputes/hardware.csv, which names the accelerator once more."""

    accelerator: _OptionalSlug
