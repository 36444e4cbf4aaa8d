"""Attribute values: units by kind of entry, bounds, types, conversion; and tables of the catalog's lists."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import IntFlag, StrEnum
from typing import Final

from gpudesk.domain.claim import (
    CatalogEntryKind,
    Claim,
    Dispute,
    DocumentStatement,
    PriceRecord,
    Source,
    SourceKind,
    StalenessLimits,
)
from gpudesk.domain.registry import ATTRIBUTES, SYSTEM_ATTRIBUTES, Attribute
from gpudesk.domain.user_facts import InactiveOverride
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue, Quantity
from gpudesk.text.translation import LabeledEnum
from gpudesk.text.units import convert_to_si_unit, get_si_unit

DIFFUSION_UNITS: Final[Mapping[str, str | None]] = {
    "parameters": "parameters",
    "denoiser_weights": "B",
    "vram_low": "B",
    "vram_high": "B",
    "default_steps": None,
    "default_resolution": None,
    "recommended_hardware": None,
}

#: Attributes of a model besides its dimensions. `layers` is the pattern in which layer kinds alternate.
MODEL_STATED_UNITS: Final[Mapping[str, str | None]] = {
    "release_date": None,
    "licence": None,
    "total_parameters": "parameters",
    "active_parameters": "parameters",
    "architecture": None,
    "layers": None,
}

#: Last word of a dimension's path -> unit; all other dimensions are plain numbers or words.
_DIMENSION_UNITS: Final = {"max_context": "tokens", "window": "tokens"}


#: The kinds whose attributes are in the registry.
REGISTERED_ATTRIBUTES: Final[Mapping[CatalogEntryKind, Mapping[str, Attribute]]] = {
    CatalogEntryKind.ACCELERATOR: ATTRIBUTES,
    CatalogEntryKind.SYSTEM: SYSTEM_ATTRIBUTES,
    CatalogEntryKind.REFERENCE_DESIGN: SYSTEM_ATTRIBUTES,
}


def get_units(kind: CatalogEntryKind) -> Mapping[str, str | None]:
    """Return the attributes of a kind of entry, except dimensions of models, with their units."""
    if kind in REGISTERED_ATTRIBUTES:
        return {name: attribute.unit for name, attribute in REGISTERED_ATTRIBUTES[kind].items()}
    return {CatalogEntryKind.DIFFUSION_MODEL: DIFFUSION_UNITS, CatalogEntryKind.MODEL: MODEL_STATED_UNITS}.get(kind, {})


def find_model_unit(name: str) -> str | None:
    """Return the unit of a model's attribute, which can be the path of a dimension."""
    if name in MODEL_STATED_UNITS:
        return MODEL_STATED_UNITS[name]
    return _DIMENSION_UNITS.get(name.rpartition(".")[2])


#: Units of whole numbers.
COUNTED_UNITS: Final = frozenset(
    {"stacks", "accelerators", "generation", "nodes", "racks", "cores", "vCPUs", "adapters"}
)
#: Bounds by internal unit; whole numbers of all of them have 64 bits.
LARGEST_BY_UNIT: Final = {
    "B": 1e18,
    "B/s": 1e18,
    "FLOP/s": 9e18,
    "W": 1e9,
    "USD": 1e12,
    "stacks": 1e6,
    "accelerators": 1e6,
    "generation": 1e3,
    "bit/s": 1e18,
    "nodes": 1e6,
    "racks": 1e6,
    "cores": 1e6,
    "vCPUs": 1e6,
    "adapters": 1e6,
    "U": 1e3,
    "kg": 1e6,
    "weeks": 1e3,
}
_LARGEST_OTHER: Final = 1e30


def is_possible_value(kind: CatalogEntryKind, attribute: str, value: ClaimValue, dimension: ClaimValue = None) -> bool:
    """Whether an attribute of a kind of entry can have a value, given in the internal unit.

    A `dimension` of a model has the type of its definition.
    """
    if kind in REGISTERED_ATTRIBUTES:
        definition = REGISTERED_ATTRIBUTES[kind].get(attribute)
        return definition is not None and _is_possible_for(definition, value)
    if dimension is not None:
        return type(value) is type(dimension)
    return get_units(kind).get(attribute) is None or _is_bounded_figure(value, _LARGEST_OTHER)


def _is_possible_for(attribute: Attribute, value: ClaimValue) -> bool:
    unit = attribute.unit
    if unit is None:
        return isinstance(value, tuple if attribute.is_word_list else str) and bool(value)
    return _is_bounded_figure(value, LARGEST_BY_UNIT[unit]) and (unit not in COUNTED_UNITS or isinstance(value, int))


def _is_bounded_figure(value: ClaimValue, largest: float) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value <= largest


RecordedClaimValue = bool | int | float | str | list[str]


def convert_claim_to_si(value: RecordedClaimValue, unit: str | None) -> RecordedClaimValue:
    """Convert a figure to the internal unit; whole numbers become integers, words stay unchanged.

    Raises `UnknownUnitError` for a unit that the program does not know.
    """
    if unit is None or not isinstance(value, int | float) or isinstance(value, bool):
        return value
    exact = Decimal(str(value)) * Decimal(str(convert_to_si_unit(1, unit)))
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def format_published(value: RecordedClaimValue, unit: str | None) -> str | None:
    """Return a figure with its unit as printed, or None if that equals the catalog's value."""
    if unit is None or (get_si_unit(unit) == unit and convert_to_si_unit(1, unit) == 1):
        return None
    return f"{value} {unit}"


#: The content of a cell; a range is a pair of numbers.
CatalogCellValue = ClaimValue | tuple[float, float]


class CatalogSection(LabeledEnum):
    """The lists of the catalog."""

    ACCELERATORS = "accelerators", "Accelerators"
    SYSTEMS = "systems", "Systems"
    MODELS = "models", "Models"
    DIFFUSION = "diffusion", "Diffusion"
    PRICES = "prices", "Prices"
    CLAIMS = "claims", "Claims"
    DISPUTES = "disputes", "Disputes"
    SOURCES = "sources", "Sources"
    YOURS = "yours", "Your values"


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


@frozen_dataclass
class CatalogColumn:
    """One column: `key` is its name in settings, `attribute` its attribute in the catalog.

    Figures are divided by `scale` and written with `decimals`; None takes both from the quantity. `group` is the key
    that related columns share. Columns that are not `is_visible` are optional. A column of an attribute in the registry
    has no `head` of its own, one of amounts has its unit instead. `meaning` is the full text of an abbreviated head.
    """

    key: str
    kind: CatalogColumnKind
    quantity: Quantity = Quantity.TEXT
    attribute: str | None = None
    scale: float | None = None
    decimals: int | None = None
    group: str = ""
    is_visible: bool = True
    head: str = ""
    meaning: str = ""


@frozen_dataclass
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


@frozen_dataclass
class CatalogTable:
    """All rows of a section in the order of the catalog."""

    section: CatalogSection
    columns: tuple[CatalogColumn, ...]
    rows: tuple[CatalogRow, ...]

    def place(self, key: str) -> int:
        """Return the position of a column by key, -1 if not found."""
        return next((place for place, column in enumerate(self.columns) if column.key == key), -1)
