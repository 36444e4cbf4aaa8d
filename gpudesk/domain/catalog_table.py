"""Catalog lists as tables: columns and rows as plain values in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag, StrEnum

from gpudesk.domain.claim import Claim, Dispute, DocumentStatement, PriceRecord, Source, SourceKind, StalenessLimits
from gpudesk.domain.user_facts import InactiveOverride
from gpudesk.text.formatting import ClaimValue, Quantity

#: What a cell holds; a range is its two ends as a pair of numbers.
CatalogCellValue = ClaimValue | tuple[float, float]


class CatalogSection(StrEnum):
    """The lists of the catalog."""

    ACCELERATORS = "accelerators"
    SYSTEMS = "systems"
    MODELS = "models"
    DIFFUSION = "diffusion"
    PRICES = "prices"
    CLAIMS = "claims"
    DISPUTES = "disputes"
    SOURCES = "sources"
    YOURS = "yours"


def get_stale_days(rule: StalenessLimits, section: CatalogSection) -> int:
    return rule.prices if section is CatalogSection.PRICES else rule.facts


class CatalogColumnKind(StrEnum):
    """How the values of a column read."""

    #: What a row is called.
    NAME = "name"
    TEXT = "text"
    #: Words that the program has a text for: a kind, a term, a stance.
    WORD = "word"
    #: The name of an attribute.
    ATTRIBUTE = "attribute"
    #: Numbers of one quantity.
    FIGURE = "figure"
    #: One amount of money, or its two ends.
    MONEY = "money"
    #: Figures or words of whatever attribute the row is about.
    VALUE = "value"
    #: The unit of such a figure.
    UNIT = "unit"
    #: A ratio to 1, shown in percent.
    RATIO = "ratio"
    #: A day, month or year in ISO form.
    DATE = "date"
    #: How long ago such a date is.
    AGE = "age"


class CatalogCellMark(IntFlag):
    """What is said beside a figure."""

    #: Some claim states another value.
    DISPUTED = 1
    #: The value is one of the user's.
    OWN = 2
    #: Nobody states the value: it follows from others.
    COMPUTED = 4


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """One column: `key` is its name in settings, `attribute` the one of the catalog that it shows.

    Figures are divided by `scale` before they are written with `decimals`; None takes both from the quantity.
    `group` is the key of what several columns have in common. Columns that are not `is_visible` are offered.
    """

    key: str
    kind: CatalogColumnKind
    quantity: Quantity = Quantity.TEXT
    attribute: str | None = None
    scale: float | None = None
    decimals: int | None = None
    group: str = ""
    is_visible: bool = True


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """One row. `key` tells it from others of its section; `marks` has one mark a column, or none at all.

    `maker` is the vendor, organisation, provider or publisher. `kinds` are those of the sources behind the
    row, `date` is the oldest of them. `item` is what the row is made of where that is one thing. `waits` is
    what of the user's facts in the row has no effect.
    """

    key: str
    values: tuple[CatalogCellValue, ...]
    marks: tuple[int, ...] = ()
    thing: str | None = None
    attribute: str | None = None
    unit: str | None = None
    maker: str | None = None
    kinds: tuple[SourceKind, ...] = ()
    date: str | None = None
    announced: bool = False
    disputed: bool = False
    own: bool = False
    item: Claim | PriceRecord | Source | Dispute | DocumentStatement | None = None
    waits: InactiveOverride | None = None


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """All rows of a section in the order of the catalog."""

    section: CatalogSection
    columns: tuple[CatalogColumn, ...]
    rows: tuple[CatalogRow, ...]

    def place(self, key: str) -> int:
        """Return the place of the column of a key, -1 if none exists."""
        return next((place for place, column in enumerate(self.columns) if column.key == key), -1)
