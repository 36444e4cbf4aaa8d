"""The catalog as tables: what stands in the lists of things, figures, prices and sources, as plain values.

Values are in the unit used inside; how they are written, headed and sorted is decided where they are shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag, StrEnum

from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.claims import Claim, ClaimValue, Dispute, Kind, Price, SeedClaim, Source
from gpudesk.domain.formatting import Quantity
from gpudesk.domain.waiting import Waiting

#: What a cell holds; a range is its two ends as a pair of numbers.
CellValue = ClaimValue | tuple[float, float]


class Section(StrEnum):
    """The lists of the catalog."""

    ACCELERATORS = "accelerators"
    MODELS = "models"
    DIFFUSION = "diffusion"
    PRICES = "prices"
    CLAIMS = "claims"
    DISPUTES = "disputes"
    SOURCES = "sources"
    YOURS = "yours"


def stale_days(rule: AgeRule, section: Section) -> int:
    """Return after how many days the rows of a section count as stale."""
    return rule.prices if section is Section.PRICES else rule.facts


class ColumnKind(StrEnum):
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
    #: A ratio to 1, shown in per cent.
    RATIO = "ratio"
    #: A day, month or year in ISO form.
    DATE = "date"
    #: How long ago such a date is.
    AGE = "age"


class CellMark(IntFlag):
    """What is said beside a figure."""

    #: Some claim states another value.
    DISPUTED = 1
    #: The value is one of the user's.
    OWN = 2
    #: Nobody states the value: it follows from others.
    COMPUTED = 4


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `key` is its name in settings, `attribute` the one of the catalog that it shows.

    Figures are divided by `scale` before they are written with `decimals`; None takes both from the quantity.
    `group` is the key of what several columns have in common. Columns that are not `shown` are offered.
    """

    key: str
    kind: ColumnKind
    quantity: Quantity = Quantity.TEXT
    attribute: str | None = None
    scale: float | None = None
    decimals: int | None = None
    group: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class CatalogRow:
    """One row. `key` tells it from others of its section; `marks` has one mark a column, or none at all.

    `maker` is the vendor, organisation, provider or publisher. `kinds` are those of the sources behind the
    row, `date` is the oldest of them. `item` is what the row is made of where that is one thing. `waits` is
    what of the user's facts in the row has no effect.
    """

    key: str
    values: tuple[CellValue, ...]
    marks: tuple[int, ...] = ()
    thing: str | None = None
    attribute: str | None = None
    unit: str | None = None
    maker: str | None = None
    kinds: tuple[Kind, ...] = ()
    date: str | None = None
    announced: bool = False
    disputed: bool = False
    own: bool = False
    item: Claim | Price | Source | Dispute | SeedClaim | None = None
    waits: Waiting | None = None


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """All rows of a section in the order of the catalog."""

    section: Section
    columns: tuple[Column, ...]
    rows: tuple[CatalogRow, ...]

    def place(self, key: str) -> int:
        """Return the place of the column of a key, -1 where there is none."""
        return next((place for place, column in enumerate(self.columns) if column.key == key), -1)
