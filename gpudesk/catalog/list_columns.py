"""Columns of the catalog lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpudesk.domain.attributes import CatalogCellMark, CatalogColumn, CatalogColumnKind, CatalogSection
from gpudesk.domain.registry import (
    ATTRIBUTES,
    SYSTEM_ATTRIBUTES,
    Attribute,
    ListColumn,
    find_quantity,
    list_listed_attributes,
)
from gpudesk.text.formatting import Quantity
from gpudesk.text.units import KIB

_Kind = CatalogColumnKind

PARAMETERS_GROUP: Final = "parameters"


def _make_figure_column(
    attribute: str,
    quantity: Quantity,
    group: str = "",
    *,
    key: str = "",
    decimals: int | None = None,
    is_visible: bool = True,
) -> CatalogColumn:
    return CatalogColumn(
        key or attribute, _Kind.FIGURE, quantity, attribute, decimals=decimals, group=group, is_visible=is_visible
    )


def _make_word_column(attribute: str, *, is_visible: bool = True) -> CatalogColumn:
    return CatalogColumn(attribute, _Kind.TEXT, attribute=attribute, is_visible=is_visible)


#: Attributes whose words the program translates.
_WORDED: Final = frozenset({"cooling"})


def _make_registered_column(column: ListColumn, attribute: Attribute) -> CatalogColumn:
    if attribute.unit is not None:
        kind = _Kind.FIGURE if attribute.upper_end is None else _Kind.MONEY
    elif attribute.key in _WORDED:
        kind = _Kind.WORD
    else:
        kind = _Kind.DATE if attribute.key == "release_date" else _Kind.TEXT
    quantity = find_quantity(attribute.key, attribute.unit) if attribute.unit is not None else Quantity.TEXT
    return CatalogColumn(
        column.key or attribute.row_key,
        kind,
        quantity,
        attribute.key,
        decimals=column.decimals,
        group=column.group,
        is_visible=column.is_visible,
    )


_ACCELERATORS: Final = (CatalogColumn("name", _Kind.NAME), CatalogColumn("vendor", _Kind.TEXT))

_SYSTEMS: Final = (
    CatalogColumn("name", _Kind.NAME),
    CatalogColumn("vendor", _Kind.TEXT, is_visible=False),
    CatalogColumn("system_kind", _Kind.WORD),
    CatalogColumn("accelerator", _Kind.TEXT),
)


_MODELS: Final = (
    CatalogColumn("name", _Kind.NAME),
    CatalogColumn("organisation", _Kind.TEXT),
    CatalogColumn("total", _Kind.FIGURE, Quantity.COUNT, "total_parameters", 1e9, 1, PARAMETERS_GROUP),
    CatalogColumn("active", _Kind.FIGURE, Quantity.COUNT, "active_parameters", 1e9, 1, PARAMETERS_GROUP),
    CatalogColumn("layers", _Kind.FIGURE, Quantity.COUNT, "layer_count", 1, 0),
    CatalogColumn("context", _Kind.FIGURE, Quantity.COUNT, "max_context", 1, 0),
    CatalogColumn("stored_in", _Kind.WORD, attribute="native_precision"),
    CatalogColumn("kv", _Kind.FIGURE, Quantity.COUNT, None, KIB, 1),
    _make_word_column("licence"),
    CatalogColumn("release_date", _Kind.DATE, attribute="release_date", is_visible=False),
)

_DIFFUSION: Final = (
    CatalogColumn("name", _Kind.NAME),
    CatalogColumn("medium", _Kind.WORD),
    CatalogColumn("parameters", _Kind.FIGURE, Quantity.COUNT, "parameters", 1e9, 1),
    _make_figure_column("denoiser_weights", Quantity.MEMORY),
    _make_word_column("default_steps"),
    _make_word_column("default_resolution"),
    _make_figure_column("vram_low", Quantity.MEMORY, "vram", key="vram_low"),
    _make_figure_column("vram_high", Quantity.MEMORY, "vram", key="vram_high"),
    CatalogColumn("results", _Kind.FIGURE, Quantity.COUNT, None, 1, 0),
    _make_word_column("recommended_hardware", is_visible=False),
)

_PRICES: Final = (
    CatalogColumn("name", _Kind.NAME),
    CatalogColumn("term", _Kind.WORD),
    CatalogColumn("usd_hour", _Kind.MONEY, Quantity.USD_PER_HOUR),
    CatalogColumn("usd", _Kind.MONEY, Quantity.USD),
    CatalogColumn("provider", _Kind.TEXT),
    CatalogColumn("provider_class", _Kind.WORD),
    CatalogColumn("region", _Kind.TEXT),
    CatalogColumn("date", _Kind.DATE),
    CatalogColumn("age", _Kind.AGE),
    CatalogColumn("kind", _Kind.WORD),
    CatalogColumn("source", _Kind.TEXT, is_visible=False),
    CatalogColumn("instance", _Kind.TEXT, is_visible=False),
    CatalogColumn("basis", _Kind.TEXT, is_visible=False),
)

_CLAIMS: Final = (
    CatalogColumn("thing", _Kind.NAME),
    CatalogColumn("attribute", _Kind.ATTRIBUTE),
    CatalogColumn("value", _Kind.VALUE),
    CatalogColumn("unit", _Kind.UNIT),
    CatalogColumn("stance", _Kind.WORD),
    CatalogColumn("source", _Kind.TEXT),
    CatalogColumn("kind", _Kind.WORD),
    CatalogColumn("date", _Kind.DATE, is_visible=False),
    CatalogColumn("age", _Kind.AGE),
    CatalogColumn("verdict", _Kind.TEXT),
    CatalogColumn("published", _Kind.TEXT, is_visible=False),
    CatalogColumn("conditions", _Kind.TEXT, is_visible=False),
    CatalogColumn("retrieved", _Kind.DATE, is_visible=False),
    CatalogColumn("id", _Kind.TEXT, is_visible=False),
)

_DISPUTES: Final = (
    CatalogColumn("subject", _Kind.NAME),
    CatalogColumn("attribute", _Kind.ATTRIBUTE),
    CatalogColumn("disagreement", _Kind.TEXT),
    CatalogColumn("verdict", _Kind.TEXT),
    CatalogColumn("reason", _Kind.TEXT),
    CatalogColumn("against", _Kind.WORD),
    CatalogColumn("claims", _Kind.TEXT, is_visible=False),
    CatalogColumn("id", _Kind.TEXT, is_visible=False),
)

_SOURCES: Final = (
    CatalogColumn("title", _Kind.NAME),
    CatalogColumn("publisher", _Kind.TEXT),
    CatalogColumn("kind", _Kind.WORD),
    CatalogColumn("date", _Kind.DATE, is_visible=False),
    CatalogColumn("age", _Kind.AGE),
    CatalogColumn("claims", _Kind.FIGURE, Quantity.COUNT, None, 1, 0),
    CatalogColumn("trust", _Kind.TEXT),
    CatalogColumn("url", _Kind.TEXT, is_visible=False),
    CatalogColumn("id", _Kind.TEXT, is_visible=False),
)

_YOURS: Final = (
    CatalogColumn("thing", _Kind.NAME),
    CatalogColumn("attribute", _Kind.ATTRIBUTE),
    CatalogColumn("yours", _Kind.VALUE),
    CatalogColumn("unit", _Kind.UNIT),
    CatalogColumn("shipped", _Kind.VALUE),
    CatalogColumn("difference", _Kind.RATIO),
    CatalogColumn("source", _Kind.TEXT),
    CatalogColumn("date", _Kind.DATE),
    CatalogColumn("reason", _Kind.TEXT),
)

_COLUMNS: Final[Mapping[CatalogSection, tuple[CatalogColumn, ...]]] = {
    CatalogSection.ACCELERATORS: _ACCELERATORS,
    CatalogSection.SYSTEMS: _SYSTEMS,
    CatalogSection.MODELS: _MODELS,
    CatalogSection.DIFFUSION: _DIFFUSION,
    CatalogSection.PRICES: _PRICES,
    CatalogSection.CLAIMS: _CLAIMS,
    CatalogSection.DISPUTES: _DISPUTES,
    CatalogSection.SOURCES: _SOURCES,
    CatalogSection.YOURS: _YOURS,
}


def list_catalog_columns(section: CatalogSection) -> tuple[CatalogColumn, ...]:
    """Return the columns of a section from left to right; those of attributes are in the registry."""
    attributes = {CatalogSection.ACCELERATORS: ATTRIBUTES, CatalogSection.SYSTEMS: SYSTEM_ATTRIBUTES}.get(section, {})
    registered = (_make_registered_column(column, each) for column, each in list_listed_attributes(attributes))
    return (*_COLUMNS[section], *registered)


def make_marks(section: CatalogSection, key: str, mark: CatalogCellMark) -> tuple[int, ...]:
    return tuple(mark if column.key == key else 0 for column in list_catalog_columns(section))
