"""The columns of each list of the catalog."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.catalog_tables import CellMark, Column, ColumnKind, Section
from gpudesk.domain.formatting import Quantity
from gpudesk.domain.units import KIB

_Kind = ColumnKind

#: Groups of columns.
DENSE: Final = "dense"
PARAMETERS: Final = "parameters"


def _figure(
    attribute: str,
    quantity: Quantity,
    group: str = "",
    *,
    key: str = "",
    decimals: int | None = None,
    shown: bool = True,
) -> Column:
    return Column(
        key or attribute, _Kind.FIGURE, quantity, attribute, decimals=decimals, group=group, shown=shown
    )


def _words(attribute: str, *, shown: bool = True) -> Column:
    return Column(attribute, _Kind.TEXT, attribute=attribute, shown=shown)


def _peak(precision: str, *, shown: bool = True) -> Column:
    name = f"peak_dense_{precision}"
    return _figure(name, Quantity.ARITHMETIC, DENSE, key=precision, decimals=0, shown=shown)


_ACCELERATORS: Final = (
    Column("name", _Kind.NAME),
    Column("vendor", _Kind.TEXT),
    _words("architecture"),
    _figure("memory", Quantity.MEMORY),
    _figure("memory_bandwidth", Quantity.MEMORY_BANDWIDTH, decimals=2),
    _peak("fp16", shown=False),
    _peak("bf16"),
    _peak("fp8"),
    _peak("fp6", shown=False),
    _peak("fp4"),
    _peak("int8", shown=False),
    _figure("tdp", Quantity.POWER),
    Column("price", _Kind.MONEY, Quantity.USD, "price_low"),
    _words("form_factor", shown=False),
    _words("memory_type", shown=False),
    _figure("scale_up_bandwidth", Quantity.LINK_BANDWIDTH, shown=False),
    _figure("scale_up_domain", Quantity.COUNT, shown=False),
    _words("status", shown=False),
    Column("release_date", _Kind.DATE, attribute="release_date", shown=False),
)

_MODELS: Final = (
    Column("name", _Kind.NAME),
    Column("organisation", _Kind.TEXT),
    Column("total", _Kind.FIGURE, Quantity.COUNT, "total_parameters", 1e9, 1, PARAMETERS),
    Column("active", _Kind.FIGURE, Quantity.COUNT, "active_parameters", 1e9, 1, PARAMETERS),
    Column("layers", _Kind.FIGURE, Quantity.COUNT, "layer_count", 1, 0),
    Column("context", _Kind.FIGURE, Quantity.COUNT, "max_context", 1, 0),
    Column("stored_in", _Kind.WORD, attribute="native_precision"),
    Column("kv", _Kind.FIGURE, Quantity.COUNT, None, KIB, 1),
    _words("licence"),
    Column("release_date", _Kind.DATE, attribute="release_date", shown=False),
)

_DIFFUSION: Final = (
    Column("name", _Kind.NAME),
    Column("medium", _Kind.WORD),
    Column("parameters", _Kind.FIGURE, Quantity.COUNT, "parameters", 1e9, 1),
    _figure("denoiser_weights", Quantity.MEMORY),
    _words("default_steps"),
    _words("default_resolution"),
    _figure("vram_low", Quantity.MEMORY, "vram", key="vram_low"),
    _figure("vram_high", Quantity.MEMORY, "vram", key="vram_high"),
    Column("results", _Kind.FIGURE, Quantity.COUNT, None, 1, 0),
    _words("recommended_hardware", shown=False),
)

_PRICES: Final = (
    Column("name", _Kind.NAME),
    Column("term", _Kind.WORD),
    Column("usd_hour", _Kind.MONEY, Quantity.USD_PER_HOUR),
    Column("usd", _Kind.MONEY, Quantity.USD),
    Column("provider", _Kind.TEXT),
    Column("region", _Kind.TEXT),
    Column("date", _Kind.DATE),
    Column("age", _Kind.AGE),
    Column("kind", _Kind.WORD),
    Column("source", _Kind.TEXT, shown=False),
    Column("instance", _Kind.TEXT, shown=False),
    Column("basis", _Kind.TEXT, shown=False),
)

_CLAIMS: Final = (
    Column("thing", _Kind.NAME),
    Column("attribute", _Kind.ATTRIBUTE),
    Column("value", _Kind.VALUE),
    Column("unit", _Kind.UNIT),
    Column("stance", _Kind.WORD),
    Column("source", _Kind.TEXT),
    Column("kind", _Kind.WORD),
    Column("date", _Kind.DATE, shown=False),
    Column("age", _Kind.AGE),
    Column("verdict", _Kind.TEXT),
    Column("published", _Kind.TEXT, shown=False),
    Column("conditions", _Kind.TEXT, shown=False),
    Column("retrieved", _Kind.DATE, shown=False),
    Column("id", _Kind.TEXT, shown=False),
)

_DISPUTES: Final = (
    Column("subject", _Kind.NAME),
    Column("attribute", _Kind.ATTRIBUTE),
    Column("disagreement", _Kind.TEXT),
    Column("verdict", _Kind.TEXT),
    Column("reason", _Kind.TEXT),
    Column("against", _Kind.WORD),
    Column("claims", _Kind.TEXT, shown=False),
    Column("id", _Kind.TEXT, shown=False),
)

_SOURCES: Final = (
    Column("title", _Kind.NAME),
    Column("publisher", _Kind.TEXT),
    Column("kind", _Kind.WORD),
    Column("date", _Kind.DATE, shown=False),
    Column("age", _Kind.AGE),
    Column("claims", _Kind.FIGURE, Quantity.COUNT, None, 1, 0),
    Column("trust", _Kind.TEXT),
    Column("url", _Kind.TEXT, shown=False),
    Column("id", _Kind.TEXT, shown=False),
)

_YOURS: Final = (
    Column("thing", _Kind.NAME),
    Column("attribute", _Kind.ATTRIBUTE),
    Column("yours", _Kind.VALUE),
    Column("unit", _Kind.UNIT),
    Column("shipped", _Kind.VALUE),
    Column("difference", _Kind.RATIO),
    Column("source", _Kind.TEXT),
    Column("date", _Kind.DATE),
    Column("reason", _Kind.TEXT),
)

COLUMNS: Final[Mapping[Section, tuple[Column, ...]]] = MappingProxyType(
    {
        Section.ACCELERATORS: _ACCELERATORS,
        Section.MODELS: _MODELS,
        Section.DIFFUSION: _DIFFUSION,
        Section.PRICES: _PRICES,
        Section.CLAIMS: _CLAIMS,
        Section.DISPUTES: _DISPUTES,
        Section.SOURCES: _SOURCES,
        Section.YOURS: _YOURS,
    }
)


def marked(section: Section, key: str, mark: CellMark) -> tuple[int, ...]:
    """Return the marks of a row that has one, in the column with a key."""
    return tuple(mark if column.key == key else 0 for column in COLUMNS[section])
