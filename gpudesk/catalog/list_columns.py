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


def _make_figure_column(
    key: str,
    head: str,
    meaning: str,
    attribute: str | None = None,
    quantity: Quantity = Quantity.COUNT,
    *,
    scale: float | None = None,
    decimals: int | None = None,
    group: str = "",
) -> CatalogColumn:
    return CatalogColumn(key, _Kind.FIGURE, quantity, attribute, scale, decimals, group, head=head, meaning=meaning)


_AGE: Final = CatalogColumn(
    "age", _Kind.AGE, head="Age", meaning="Age of the source; a month or year counts from its last day"
)
_COLUMNS: Final[Mapping[CatalogSection, tuple[CatalogColumn, ...]]] = {
    CatalogSection.ACCELERATORS: (
        CatalogColumn("name", _Kind.NAME, head="Accelerator"),
        CatalogColumn("vendor", _Kind.TEXT, head="Vendor"),
    ),
    CatalogSection.SYSTEMS: (
        CatalogColumn("name", _Kind.NAME, head="System"),
        CatalogColumn("vendor", _Kind.TEXT, is_visible=False, head="Vendor"),
        CatalogColumn("system_kind", _Kind.WORD, head="Kind"),
        CatalogColumn("accelerator", _Kind.TEXT, head="Accelerator"),
    ),
    CatalogSection.MODELS: (
        CatalogColumn("name", _Kind.NAME, head="Model"),
        CatalogColumn("organisation", _Kind.TEXT, head="Organization"),
        _make_figure_column(
            "total", "Total", "Parameters, billions", "total_parameters", scale=1e9, decimals=1, group=PARAMETERS_GROUP
        ),
        _make_figure_column(
            "active",
            "Active",
            "Active parameters per token, billions",
            "active_parameters",
            scale=1e9,
            decimals=1,
            group=PARAMETERS_GROUP,
        ),
        _make_figure_column("layers", "Layers", "", "layer_count", scale=1, decimals=0),
        _make_figure_column("context", "Context", "Context limit, tokens", "max_context", scale=1, decimals=0),
        CatalogColumn(
            "stored_in",
            _Kind.WORD,
            attribute="native_precision",
            head="Stored in",
            meaning="Number format of the published weights",
        ),
        _make_figure_column(
            "kv", "KV, KiB/token", "KV cache per token of a long context in FP16, KiB", scale=KIB, decimals=1
        ),
        CatalogColumn("licence", _Kind.TEXT, attribute="licence", head="License"),
        CatalogColumn("release_date", _Kind.DATE, attribute="release_date", is_visible=False, head="Released"),
    ),
    CatalogSection.DIFFUSION: (
        CatalogColumn("name", _Kind.NAME, head="Diffusion model"),
        CatalogColumn("medium", _Kind.WORD, head="Medium"),
        _make_figure_column(
            "parameters", "Parameters, 10⁹", "Parameters, billions", "parameters", scale=1e9, decimals=1
        ),
        _make_figure_column(
            "denoiser_weights", "Weights, GiB", "Published denoiser weights, GiB", "denoiser_weights", Quantity.MEMORY
        ),
        CatalogColumn("default_steps", _Kind.TEXT, attribute="default_steps", head="Steps"),
        CatalogColumn("default_resolution", _Kind.TEXT, attribute="default_resolution", head="Resolution"),
        _make_figure_column(
            "vram_low", "Min", "Smallest memory reported as sufficient, GiB", "vram_low", Quantity.MEMORY, group="vram"
        ),
        _make_figure_column(
            "vram_high", "Max", "Largest memory reported as needed, GiB", "vram_high", Quantity.MEMORY, group="vram"
        ),
        _make_figure_column("results", "Results", "Published generation times", scale=1, decimals=0),
        CatalogColumn(
            "recommended_hardware",
            _Kind.TEXT,
            attribute="recommended_hardware",
            is_visible=False,
            head="Recommended for",
        ),
    ),
    CatalogSection.PRICES: (
        CatalogColumn("name", _Kind.NAME, head="Accelerator"),
        CatalogColumn("term", _Kind.WORD, head="Term"),
        CatalogColumn(
            "usd_hour", _Kind.MONEY, Quantity.USD_PER_HOUR, meaning="Rental price per accelerator, USD per hour"
        ),
        CatalogColumn("usd", _Kind.MONEY, Quantity.USD, meaning="Purchase price per accelerator, USD"),
        CatalogColumn("provider", _Kind.TEXT, head="Provider"),
        CatalogColumn("provider_class", _Kind.WORD, head="Kind of provider"),
        CatalogColumn("region", _Kind.TEXT, head="Region"),
        CatalogColumn("date", _Kind.DATE, head="Date", meaning="Date of the source"),
        _AGE,
        CatalogColumn("kind", _Kind.WORD, head="Kind"),
        CatalogColumn("source", _Kind.TEXT, is_visible=False, head="Source"),
        CatalogColumn("instance", _Kind.TEXT, is_visible=False, head="Instance"),
        CatalogColumn("basis", _Kind.TEXT, is_visible=False, head="Basis"),
    ),
    CatalogSection.CLAIMS: (
        CatalogColumn("thing", _Kind.NAME, head="Subject"),
        CatalogColumn("attribute", _Kind.ATTRIBUTE, head="Attribute"),
        CatalogColumn("value", _Kind.VALUE, head="Value"),
        CatalogColumn("unit", _Kind.UNIT, head="Unit"),
        CatalogColumn("stance", _Kind.WORD, head="Status", meaning="How the claim compares with the value in use"),
        CatalogColumn("source", _Kind.TEXT, head="Source"),
        CatalogColumn("kind", _Kind.WORD, head="Kind"),
        CatalogColumn("date", _Kind.DATE, is_visible=False, head="Date", meaning="Date of the source"),
        _AGE,
        CatalogColumn("verdict", _Kind.TEXT, head="Verdict"),
        CatalogColumn("published", _Kind.TEXT, is_visible=False, head="As published"),
        CatalogColumn("conditions", _Kind.TEXT, is_visible=False, head="Conditions"),
        CatalogColumn("retrieved", _Kind.DATE, is_visible=False, head="Retrieved on"),
        CatalogColumn("id", _Kind.TEXT, is_visible=False, head="ID"),
    ),
    CatalogSection.DISPUTES: (
        CatalogColumn("subject", _Kind.NAME, head="Subject"),
        CatalogColumn("attribute", _Kind.ATTRIBUTE, head="Attribute"),
        CatalogColumn("disagreement", _Kind.TEXT, head="Disagreement"),
        CatalogColumn("verdict", _Kind.TEXT, head="Verdict"),
        CatalogColumn("reason", _Kind.TEXT, head="Reason"),
        CatalogColumn("against", _Kind.WORD, head="Rejected by", meaning="What contradicts the statement"),
        CatalogColumn("claims", _Kind.TEXT, is_visible=False, head="Claims", meaning="Statement IDs"),
        CatalogColumn("id", _Kind.TEXT, is_visible=False, head="ID"),
    ),
    CatalogSection.SOURCES: (
        CatalogColumn("title", _Kind.NAME, head="Title"),
        CatalogColumn("publisher", _Kind.TEXT, head="Publisher"),
        CatalogColumn("kind", _Kind.WORD, head="Kind"),
        CatalogColumn("date", _Kind.DATE, is_visible=False, head="Date", meaning="Date of the source"),
        _AGE,
        _make_figure_column("claims", "Claims", "Claims, prices and results from this source", scale=1, decimals=0),
        CatalogColumn("trust", _Kind.TEXT, head="Note"),
        CatalogColumn("url", _Kind.TEXT, is_visible=False, head="URL"),
        CatalogColumn("id", _Kind.TEXT, is_visible=False, head="ID"),
    ),
    CatalogSection.YOURS: (
        CatalogColumn("thing", _Kind.NAME, head="Subject"),
        CatalogColumn("attribute", _Kind.ATTRIBUTE, head="Attribute"),
        CatalogColumn("yours", _Kind.VALUE, head="Your values"),
        CatalogColumn("unit", _Kind.UNIT, head="Unit"),
        CatalogColumn("shipped", _Kind.VALUE, head="Shipped"),
        CatalogColumn(
            "difference", _Kind.RATIO, head="Difference", meaning="Your value compared with the shipped value"
        ),
        CatalogColumn("source", _Kind.TEXT, head="Source"),
        CatalogColumn("date", _Kind.DATE, head="Date", meaning="Date of the source"),
        CatalogColumn("reason", _Kind.TEXT, head="Reason"),
    ),
}


def list_catalog_columns(section: CatalogSection) -> tuple[CatalogColumn, ...]:
    """Return the columns of a section from left to right; those of attributes are in the registry."""
    attributes = {CatalogSection.ACCELERATORS: ATTRIBUTES, CatalogSection.SYSTEMS: SYSTEM_ATTRIBUTES}.get(section, {})
    registered = (_make_registered_column(column, each) for column, each in list_listed_attributes(attributes))
    return (*_COLUMNS[section], *registered)


def mark_user_cell(section: CatalogSection, key: str) -> tuple[int, ...]:
    """Return the marks of a row of which one cell is the user's."""
    return tuple(CatalogCellMark.OWN if column.key == key else 0 for column in list_catalog_columns(section))
