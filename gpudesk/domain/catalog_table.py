"""Catalog lists as tables: columns and rows as plain values in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag, StrEnum

from gpudesk.domain.claim import Claim, Dispute, DocumentStatement, PriceRecord, Source, SourceKind, StalenessLimits
from gpudesk.domain.user_facts import InactiveOverride
from gpudesk.text.formatting import ClaimValue, Quantity

#: The content of a cell; a range is a pair of numbers.
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
    """The type of the values of a column."""

    #: The name of a row.
    NAME = "name"
    TEXT = "text"
    #: A term that the program translates: a kind, a word, a stance.
    WORD = "word"
    #: The name of an attribute.
    ATTRIBUTE = "attribute"
    #: Numbers of one quantity.
    FIGURE = "figure"
    #: An amount of money, or a range.
    MONEY = "money"
    #: Figures or words of the attribute in the row.
    VALUE = "value"
    #: The unit of such a figure.
    UNIT = "unit"
    #: A ratio to 1, shown as a percentage.
    RATIO = "ratio"
    #: A day, month or year in ISO form.
    DATE = "date"
    #: The age of such a date.
    AGE = "age"


class CatalogCellMark(IntFlag):
    """A mark next to a figure."""

    #: Another claim states a different value.
    DISPUTED = 1
    #: The value was entered by the user.
    OWN = 2
    #: Computed from other values, without a source of its own.
    COMPUTED = 4


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """One column: `key` is its name in settings, `attribute` its attribute in the catalog.

    Figures are divided by `scale` and written with `decimals`; None takes both from the quantity. `group` is the key
    that related columns share. Columns that are not `is_visible` are optional.
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
    """One row. `key` is unique in its section; `marks` has one mark per column, or none at all.

    `maker` is the vendor, organization, provider or publisher. `kinds` are those of the sources of the row, `date` is
    the oldest. `item` is the object behind the row if it is one. `waits` are the inactive user facts in the row.
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
        """Return the position of a column by key, -1 if not found."""
        return next((place for place, column in enumerate(self.columns) if column.key == key), -1)
