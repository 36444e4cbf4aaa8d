"""What sections, columns, terms and stances of the catalog's lists are called."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from gpudesk.domain.catalog_tables import CellValue, Column, ColumnKind, Section
from gpudesk.domain.claims import Kind
from gpudesk.domain.formatting import UNKNOWN, display_unit
from gpudesk.sheets.claim_lines import short_kind
from gpudesk.sheets.labels import attribute_label, kind_label
from gpudesk.text import tr

_SECTIONS: Final = MappingProxyType(
    {
        Section.ACCELERATORS: "Accelerators",
        Section.MODELS: "Models",
        Section.DIFFUSION: "Diffusion",
        Section.PRICES: "Prices",
        Section.CLAIMS: "Claims",
        Section.DISPUTES: "Disputes",
        Section.SOURCES: "Sources",
        Section.YOURS: "Yours",
    }
)

#: What the first column holds, by section.
_NAMES: Final = MappingProxyType(
    {
        Section.ACCELERATORS: "Accelerator",
        Section.MODELS: "Model",
        Section.DIFFUSION: "Diffusion model",
        Section.PRICES: "Accelerator",
        Section.CLAIMS: "Subject",
        Section.DISPUTES: "Subject",
        Section.SOURCES: "Title",
        Section.YOURS: "Subject",
    }
)

_HEADS: Final = MappingProxyType(
    {
        "vendor": "Vendor",
        "architecture": "Architecture",
        "organisation": "Organisation",
        "form_factor": "Form factor",
        "memory_type": "Memory",
        "status": "Status",
        "release_date": "Released",
        "scale_up_domain": "Domain",
        "total": "Total",
        "active": "Active",
        "layers": "Layers",
        "context": "Context",
        "stored_in": "Stored in",
        "licence": "Licence",
        "medium": "Medium",
        "default_steps": "Steps",
        "default_resolution": "Resolution",
        "vram_low": "Least",
        "vram_high": "Most",
        "results": "Results",
        "recommended_hardware": "Recommended for",
        "term": "Term",
        "provider": "Provider",
        "region": "Region",
        "date": "Date",
        "age": "Age",
        "kind": "Kind",
        "source": "Source",
        "instance": "Instance",
        "basis": "Basis",
        "attribute": "Attribute",
        "value": "Value",
        "unit": "Unit",
        "stance": "Stands",
        "verdict": "Verdict",
        "published": "As published",
        "conditions": "Conditions",
        "retrieved": "Read on",
        "id": "Number",
        "disagreement": "What disagrees",
        "reason": "Reason",
        "against": "Against",
        "claims": "Claims",
        "publisher": "Publisher",
        "trust": "Remark",
        "url": "Address",
        "yours": "Yours",
        "shipped": "Shipped",
        "difference": "Difference",
        "parameters": "Parameters, 10⁹",
        "kv": "KV, KiB/token",
        "denoiser_weights": "Weights, GiB",
    }
)

#: The whole of what is short in a head.
_MEANINGS: Final = MappingProxyType(
    {
        "memory": "Memory capacity, GiB",
        "memory_bandwidth": "Memory bandwidth, TB/s",
        "tdp": "Board power, W",
        "price": "Purchase price, USD",
        "scale_up_bandwidth": "Scale-up link, both ways, GB/s",
        "scale_up_domain": "Accelerators in one scale-up domain",
        "total": "Parameters, thousand million",
        "active": "Parameters that one token passes, thousand million",
        "context": "Longest context, tokens",
        "stored_in": "Format of the published weights",
        "kv": "What the KV cache grows by with each token of a long context, in FP16, KiB",
        "parameters": "Parameters, thousand million",
        "denoiser_weights": "Weights of the denoiser as published, GiB",
        "vram_low": "Least memory reported to be enough, GiB",
        "vram_high": "Most memory reported to be needed, GiB",
        "results": "Times that others report",
        "usd_hour": "Rent of one accelerator, USD an hour",
        "usd": "Purchase price of one accelerator, USD",
        "date": "Date that the source gives",
        "age": "How long ago that is; a date without a day counts from its end",
        "stance": "How the claim stands to the one that is taken",
        "claims": "Claims, prices and results that rest on it",
        "difference": "Your value against the shipped one",
        "against": "What refuses the statement",
    }
)

_GROUPS: Final = MappingProxyType(
    {"dense": "TFLOPS, dense", "parameters": "Parameters, 10⁹", "vram": "Memory, GiB"}
)

_WORDS: Final = MappingProxyType(
    {
        "on_demand": "on demand",
        "spot": "spot",
        "reserved": "reserved",
        "purchase": "purchase",
        "taken": "taken",
        "agrees": "agrees",
        "differs": "differs",
        "refused": "refused",
        "image": "image",
        "video": "video",
        "claim": "another claim",
        "arithmetic": "arithmetic",
        "public_record": "public record",
        # In the place of an attribute, where a row is about a whole thing or a price.
        "accelerator": "Accelerator",
        "model": "Model",
        "diffusion_model": "Diffusion model",
        "price_on_demand": "Price, on demand",
        "price_spot": "Price, spot",
        "price_reserved": "Price, reserved",
        "price_purchase": "Price, purchase",
    }
)

_KINDS: Final = frozenset(kind.value for kind in Kind)


def section_label(section: Section) -> str:
    """Return what a section is called."""
    return tr(_SECTIONS[section])


def column_head(section: Section, column: Column) -> str:
    """Return what stands over a column."""
    if column.kind is ColumnKind.NAME:
        return tr(_NAMES[section])
    if column.group == "dense":
        return column.key.upper()
    if column.key in _HEADS:
        return tr(_HEADS[column.key])
    return display_unit(column.quantity, column.attribute or "") or column.key


def column_meaning(section: Section, column: Column) -> str:
    """Return what a column holds, in full."""
    if column.group == "dense":
        return tr("{precision} peak without sparsity, TFLOPS", precision=column.key.upper())
    if section is Section.DISPUTES and column.key == "claims":
        return tr("Numbers of the statements")
    return tr(_MEANINGS[column.key]) if column.key in _MEANINGS else column_head(section, column)


def group_head(group: str) -> str:
    """Return what stands over several columns."""
    return tr(_GROUPS[group])


def word(value: CellValue) -> str:
    """Return the text for a word of the data; formats of numbers are written in capitals."""
    if value is None:
        return UNKNOWN
    text = str(value)
    if text in _WORDS:
        return tr(_WORDS[text])
    if text in _KINDS:
        return kind_label(text)
    return text.upper() if text.startswith(("fp", "bf", "int", "mxfp", "nvfp")) else text


def kind_word(value: CellValue) -> str:
    """Return the short word for a kind of source."""
    return UNKNOWN if value is None else short_kind(Kind(str(value)))


def attribute_text(value: CellValue) -> str:
    """Return what an attribute is called; of a statement of a document, its own word."""
    if value is None:
        return UNKNOWN
    text = str(value)
    if text in _WORDS:
        return tr(_WORDS[text])
    label = attribute_label(text)
    return label if label != text or "." in text else _plain(text)


def _plain(name: str) -> str:
    """Return a name of the data as words."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
