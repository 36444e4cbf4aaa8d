"""The rows of the comparison table that the catalog fills: every attribute that some part has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gpudesk.domain.answers import Answer, Column
from gpudesk.domain.claims import PRICE_ENDS, Attribute, is_figure
from gpudesk.domain.formatting import (
    UNKNOWN,
    Formatter,
    Quantity,
    display_unit,
    in_display_unit,
    quantity_of,
)
from gpudesk.sheets.comparison_parts import ComparedCell, ComparedRow, Origin, Reference
from gpudesk.sheets.labels import attribute_label
from gpudesk.sheets.sheet import Mark
from gpudesk.sheets.specs import best_positions, claim_text, is_own
from gpudesk.text import tr

#: Attributes with the direction that is better: True more, False less, None neither.
_Attributes = tuple[tuple[str, bool | None], ...]

MEMORY: Final[_Attributes] = (
    ("memory", True),
    ("memory_bandwidth", True),
    ("memory_type", None),
    ("memory_stacks", None),
    ("last_level_cache", None),
)
INTERCONNECT: Final[_Attributes] = (
    ("scale_up_bandwidth", True),
    ("scale_up_domain", None),
    ("interconnect", None),
    ("pcie_bandwidth", True),
    ("pcie_generation", None),
)
POWER: Final[_Attributes] = (
    ("tdp", False),
    ("form_factor", None),
    ("architecture", None),
    ("process_node", None),
    ("release_date", None),
    ("status", None),
)
SOFTWARE: Final[_Attributes] = (
    ("software_platform", None),
    ("supported_precisions", None),
)
#: Precisions of peaks, those that serve models first.
PRECISIONS: Final = ("bf16", "fp16", "fp8", "fp6", "fp4", "int8", "tf32", "fp32", "fp64", "fp64_matrix")

#: Numbers that name something rather than measure it.
_NAMES: Final = frozenset({"pcie_generation"})
#: Ratios nearer to 1 than this are said to be the same.
_SAME: Final = 0.005


def delta_text(ratio: float, formatter: Formatter) -> str:
    """Return what a figure says against the baseline: signed per cent, `× 3.4`, or the same."""
    return tr("same") if abs(ratio - 1) < _SAME else formatter.difference(ratio)


def attribute_rows(answer: Answer, attributes: _Attributes, formatter: Formatter) -> tuple[ComparedRow, ...]:
    """Return a row for each attribute that some part has a value of."""
    made = (_row(answer, name, attribute_label(name), more, formatter) for name, more in attributes)
    return tuple(row for row in made if row is not None)


def peak_rows(answer: Answer, sparsity: str, formatter: Formatter) -> tuple[ComparedRow, ...]:
    """Return the peaks by precision, `dense` or `sparse`; FP16 and BF16 share a row where they are alike."""
    shared = sparsity == "dense" and _halves_alike(answer)
    made = []
    for precision in PRECISIONS:
        if precision == "fp16" and shared:
            continue
        name, _, unit_of_it = precision.partition("_")
        label = f"{name.upper()} {unit_of_it}".rstrip()
        if precision == "bf16" and shared:
            label = tr("{one}, {two}", one="FP16", two="BF16")
        made.append(_row(answer, f"peak_{sparsity}_{precision}", label, True, formatter))
    return tuple(row for row in made if row is not None)


def price_rows(answer: Answer, formatter: Formatter) -> tuple[ComparedRow, ...]:
    """Return both ends of what each part is said to cost, as one row."""
    cells = tuple(_price_cell(column, formatter) for column in answer.columns)
    if all(cell.value is None for cell in cells):
        return ()
    reference = Reference(Origin.ATTRIBUTE, PRICE_ENDS[0])
    return (ComparedRow("price", tr("Purchase price"), display_unit(Quantity.USD), cells, reference),)


def _halves_alike(answer: Answer) -> bool:
    """Whether no part states another peak in FP16 than in BF16, nor is in dispute about it."""
    pairs = [
        (column.attributes.get("peak_dense_bf16"), column.attributes.get("peak_dense_fp16"))
        for column in answer.columns
    ]
    return any(half is not None for _, half in pairs) and all(
        half is None or (brain is not None and brain.value == half.value and not half.disputed)
        for brain, half in pairs
    )


def _row(
    answer: Answer, name: str, label: str, more_is_better: bool | None, formatter: Formatter
) -> ComparedRow | None:
    found = [column.attributes.get(name) for column in answer.columns]
    known = [attribute for attribute in found if attribute is not None and attribute.value is not None]
    if not known:
        return None
    quantity = quantity_of(name, known[0].unit)
    best = best_positions(found, more_is_better, answer.unranked)
    base = None if found[0] is None or name in _NAMES else _number(found[0])
    cells = tuple(
        _cell(column, name, quantity, base if position else None, position in best, formatter)
        for position, column in enumerate(answer.columns)
    )
    unit = display_unit(quantity, name)
    return ComparedRow(name, label, unit, cells, Reference(Origin.ATTRIBUTE, name), more_is_better)


def _cell(
    column: Column, name: str, quantity: Quantity, base: float | None, best: bool, formatter: Formatter
) -> ComparedCell:
    attribute = column.attributes.get(name)
    disputed = 0 if attribute is None else _disputes(column, attribute)
    if attribute is None or attribute.value is None:
        return ComparedCell(UNKNOWN, reason=_why_unknown(column, name), disputed=disputed)
    value = _number(attribute)
    if value is None:
        text = claim_text(attribute, attribute.value, formatter)
        return ComparedCell(text, value=text, disputed=disputed, own=is_own(attribute))
    return ComparedCell(
        formatter.catalog(attribute.value, quantity),
        value=in_display_unit(value, quantity),
        second=f"{formatter.gb(value)} GB" if quantity is Quantity.MEMORY else None,
        delta=delta_text(value / base, formatter) if base else None,
        mark=Mark.BEST if best else None,
        disputed=disputed,
        own=is_own(attribute),
    )


def _number(attribute: Attribute) -> float | None:
    value = attribute.value
    return value if is_figure(value) else None


def _disputes(column: Column, attribute: Attribute) -> int:
    """Return how many claims there are where they differ; those on the memory's label count for it too."""
    sides: Sequence[Attribute | None] = (attribute,)
    if attribute.name == "memory":
        sides = (attribute, column.attributes.get("memory_label"))
    return max((len(side.claims) for side in sides if side is not None and side.disputed), default=0)


def _why_unknown(column: Column, name: str) -> str:
    """Return why there is no value: the part cannot do it, or nobody states it."""
    if name.startswith("peak_"):
        supported = column.attributes.get("supported_precisions")
        precision = name.split("_")[2]
        known = None if supported is None else supported.value
        if isinstance(known, tuple) and precision not in known:
            return tr("not supported")
    return tr("no figure found")


def _price_cell(column: Column, formatter: Formatter) -> ComparedCell:
    ends = [column.attributes[name] for name in PRICE_ENDS if name in column.attributes]
    stated = [(end, value) for end in ends if (value := _number(end)) is not None]
    if not stated:
        return ComparedCell(UNKNOWN, reason=tr("no price found"))
    texts = dict.fromkeys(formatter.catalog(value, Quantity.USD) for _, value in stated)
    low, high = stated[0][1], stated[-1][1]
    return ComparedCell(
        " – ".join(texts),
        value=low,
        low=low,
        high=high,
        disputed=max((len(end.claims) for end in ends if end.disputed), default=0),
        own=any(map(is_own, ends)),
    )
