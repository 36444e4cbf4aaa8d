"""Rows of the comparison that the catalog fills, with numbered notes where sources differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, AttributeClaims, Claim, Source, is_figure
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparedCell,
    ComparedRow,
    RowOrigin,
    RowReference,
    SheetCell,
    SheetGroup,
    SheetNote,
    SheetRow,
    SheetSource,
)
from gpudesk.report.labels import label_attribute, label_precision, label_source_kind
from gpudesk.text.formatting import (
    MISSING_VALUE_TEXT,
    ClaimValue,
    Formatter,
    Quantity,
    convert_to_display_unit,
    find_quantity,
    get_display_unit,
)
from gpudesk.text.translation import tr

#: Attributes shown, by group. True: more is better; False: less is; None: neither.
SHEET_MEMORY: Final = (("memory", True), ("memory_bandwidth", True))
SHEET_COMPUTE: Final = (("peak_dense_bf16", True), ("peak_dense_fp8", True), ("peak_dense_fp4", True))
SHEET_SYSTEM: Final = (("scale_up_bandwidth", True), ("tdp", False))

#: Names of the parts' attributes that a sheet shows.
SHEET_ATTRIBUTES: Final = frozenset(
    {"memory_label", *PRICE_BOUND_ATTRIBUTES} | {name for name, _ in (*SHEET_MEMORY, *SHEET_COMPUTE, *SHEET_SYSTEM)}
)


class SourceNumbering:
    """Numbers notes and sources in the order in which a sheet comes to them."""

    def __init__(self, formatter: Formatter) -> None:
        self._formatter = formatter
        self._notes: dict[str, SheetNote] = {}
        self._sources: dict[str, SheetSource] = {}
        #: Thing and name of every attribute that has a note on its dispute.
        self.noted: set[tuple[str, str]] = set()

    @property
    def notes(self) -> tuple[SheetNote, ...]:
        return tuple(self._notes.values())

    @property
    def sources(self) -> tuple[SheetSource, ...]:
        return tuple(self._sources.values())

    def source(self, source: Source) -> int:
        if source.id not in self._sources:
            self._sources[source.id] = SheetSource(
                number=len(self._sources) + 1,
                title=source.title,
                publisher=source.publisher,
                kind=label_source_kind(source.kind),
                date=source.date,
                url=source.url,
            )
        return self._sources[source.id].number

    def number_note(
        self, name: str, attribute: AttributeClaims, high: AttributeClaims | None = None
    ) -> tuple[int, ...]:
        """Return the number of the note on an attribute of the part `name`.

        There is none where sources agree on a shipped value. `high` is the upper end of a price.
        """
        if not (attribute.disputed or is_user_chosen(attribute) or (high is not None and is_user_chosen(high))):
            return ()
        if attribute.disputed:
            self.noted.add((attribute.thing, attribute.name))
        text = self._note_text(name, attribute, high)
        if text not in self._notes:
            self._notes[text] = SheetNote(len(self._notes) + 1, text)
        return (self._notes[text].number,)

    def _note_text(self, name: str, attribute: AttributeClaims, high: AttributeClaims | None) -> str:
        label = tr("Price") if attribute.name in PRICE_BOUND_ATTRIBUTES else label_attribute(attribute.name)
        claim = attribute.preferred
        if claim is None:
            said = tr("{part}, {attribute}: unknown.", part=name, attribute=label)
        else:
            said = tr(
                "{part}, {attribute}: {value} [{source}].",
                part=name,
                attribute=label,
                value=self._taken(attribute, claim, high),
                source=self.source(claim.source),
            )
        rivals = "; ".join(self._rival_texts(attribute))
        refused = tr("Not taken: {rivals}.", rivals=rivals) if rivals else ""
        given = attribute.reason if attribute.reason != tr("Your value") else None
        return " ".join(part for part in (said, refused, to_sentence(given) if given else "") if part)

    def _taken(self, attribute: AttributeClaims, claim: Claim, high: AttributeClaims | None) -> str:
        """Return the value that is taken, both ends of a price, and whether it is one of the user's."""
        text = self._claimed(attribute, claim)
        upper = None if high is None else high.preferred
        if upper is not None and upper.value != claim.value:
            text = f"{self._formatter.catalog(claim.value, Quantity.USD)} – {self._claimed(attribute, upper)}"
        if claim.own or (upper is not None and upper.own):
            return tr("{value}, own value", value=text)
        return tr("{value}, own choice", value=text) if is_user_chosen(attribute) else text

    def _rival_texts(self, attribute: AttributeClaims) -> Iterable[str]:
        """Return each rival value once, with all who state it."""
        stated: dict[str, list[int]] = {}
        taken = attribute.preferred
        alike = None if taken is None else self._claimed(attribute, taken)
        for claim in attribute.rivals:
            if not attribute.agrees(claim):
                said = self._claimed(attribute, claim)
                if said == alike and claim.published:
                    # They differ beyond the digits that are shown.
                    said = claim.published
                numbers = stated.setdefault(said, [])
                number = self.source(claim.source)
                if number not in numbers:
                    numbers.append(number)
        return (f"{value} [{', '.join(map(str, numbers))}]" for value, numbers in stated.items())

    def _claimed(self, attribute: AttributeClaims, claim: Claim) -> str:
        return format_claim_value(attribute, claim.value, self._formatter)


def to_sentence(text: str) -> str:
    """Return words of the data as a sentence: with a capital and a full stop."""
    ended = text if text.endswith((".", "!", "?")) else f"{text}."
    return ended[:1].upper() + ended[1:]


def format_claim_value(attribute: AttributeClaims, value: ClaimValue, formatter: Formatter) -> str:
    """Return a value of an attribute with its unit; yes and no in the language in force."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return formatter.catalog_with_unit(value, find_quantity(attribute.name, attribute.unit), attribute.name)


def build_spec_groups(
    answer: Answer,
    names: tuple[str, ...],
    formatter: Formatter,
    references: SourceNumbering,
    memory_rows: tuple[SheetRow, ...],
) -> tuple[SheetGroup, ...]:
    """Return memory, compute and system; rows of which no part has a value are left out."""

    def rows(attributes: tuple[tuple[str, bool | None], ...]) -> tuple[SheetRow, ...]:
        made = (_build_spec_row(answer, names, name, more, formatter, references) for name, more in attributes)
        return tuple(row for row in made if row is not None)

    groups = (
        SheetGroup(tr("Memory"), (*rows(SHEET_MEMORY), *memory_rows)),
        SheetGroup(tr("Compute, dense"), rows(SHEET_COMPUTE)),
        SheetGroup(tr("System"), (*rows(SHEET_SYSTEM), *_build_spec_price_rows(answer, names, formatter, references))),
    )
    return tuple(group for group in groups if group.rows)


def _build_spec_row(
    answer: Answer,
    names: tuple[str, ...],
    name: str,
    more_is_better: bool | None,
    formatter: Formatter,
    references: SourceNumbering,
) -> SheetRow | None:
    found = [column.attributes.get(name) for column in answer.columns]
    if all(attribute is None or attribute.value is None for attribute in found):
        return None
    unit = next(attribute.unit for attribute in found if attribute is not None)
    quantity = find_quantity(name, unit)
    best = find_best_positions(found, more_is_better, answer.unranked)
    cells = []
    for position, (part, attribute) in enumerate(zip(names, found, strict=True)):
        cell = _build_spec_cell(attribute, quantity, formatter, best=position in best)
        notes = _number_notes(part, answer.columns[position], attribute, references)
        cells.append(replace(cell, notes=notes))
    return SheetRow(_label_spec_row(name), get_display_unit(quantity, name), tuple(cells))


def _build_spec_price_rows(
    answer: Answer, names: tuple[str, ...], formatter: Formatter, references: SourceNumbering
) -> tuple[SheetRow, ...]:
    cells = []
    for part, column in zip(names, answer.columns, strict=True):
        ends = [column.attributes.get(name) for name in PRICE_BOUND_ATTRIBUTES]
        stated = [
            formatter.catalog(end.value, Quantity.USD) for end in ends if end is not None and end.value is not None
        ]
        low, high = ends
        notes = () if low is None else references.number_note(part, low, high)
        cells.append(SheetCell(" – ".join(dict.fromkeys(stated)) or MISSING_VALUE_TEXT, notes=notes))
    if all(cell.text == MISSING_VALUE_TEXT for cell in cells):
        return ()
    return (SheetRow(tr("Price"), get_display_unit(Quantity.USD), tuple(cells)),)


def _label_spec_row(name: str) -> str:
    """Return the label; in the group of dense peaks the precision says it all."""
    if name.startswith("peak_dense_"):
        return label_precision(name.removeprefix("peak_dense_"))
    return label_attribute(name)


def _number_notes(
    part: str, column: ComparisonColumn, attribute: AttributeClaims | None, references: SourceNumbering
) -> tuple[int, ...]:
    """Return the notes of a cell; where memory is shown, those on its label belong to it too."""
    if attribute is None:
        return ()
    notes = references.number_note(part, attribute)
    if attribute.name == "memory" and "memory_label" in column.attributes:
        notes += references.number_note(part, column.attributes["memory_label"])
    return notes


def _build_spec_cell(
    attribute: AttributeClaims | None, quantity: Quantity, formatter: Formatter, *, best: bool
) -> SheetCell:
    if attribute is None:
        return SheetCell(MISSING_VALUE_TEXT)
    value = attribute.value
    numeric = is_figure(value)
    detail = None
    if quantity is Quantity.MEMORY and isinstance(value, int | float):
        detail = f"{formatter.gb(value)} GB"
    plain = formatter.catalog(value, quantity) if numeric else format_claim_value(attribute, value, formatter)
    return SheetCell(plain, detail=detail, mark=CellMarking.BEST if best else None)


def is_user_chosen(attribute: AttributeClaims) -> bool:
    """Whether the user states the value that is taken, or chose it among the claims."""
    return attribute.overridden or (attribute.preferred is not None and attribute.preferred.own)


def find_best_positions(
    found: Sequence[AttributeClaims | None], more_is_better: bool | None, unranked: Sequence[int]
) -> frozenset[int]:
    """Return the positions of the best value, none where all are alike or nothing is better.

    `unranked` positions are those of announced parts beside shipping ones.
    """
    if more_is_better is None:
        return frozenset()
    values = {
        position: attribute.value
        for position, attribute in enumerate(found)
        if attribute is not None and isinstance(attribute.value, int | float) and position not in unranked
    }
    if len(set(values.values())) < 2:
        return frozenset()
    best = max(values.values()) if more_is_better else min(values.values())
    return frozenset(position for position, value in values.items() if value == best)


def build_source_rows(answer: Answer, references: SourceNumbering) -> tuple[SheetRow, ...]:
    """Return, for every attribute shown, the number of the source that each part's value comes from."""
    rows = []
    for name, _ in (*SHEET_MEMORY, *SHEET_COMPUTE, *SHEET_SYSTEM, (PRICE_BOUND_ATTRIBUTES[0], None)):
        found = [_build_source_cell(column, name, references) for column in answer.columns]
        if any(cell.text != MISSING_VALUE_TEXT for cell in found):
            label = tr("Price") if name in PRICE_BOUND_ATTRIBUTES else label_attribute(name)
            rows.append(SheetRow(label, None, tuple(found)))
    return tuple(rows)


def _build_source_cell(column: ComparisonColumn, name: str, references: SourceNumbering) -> SheetCell:
    attribute = column.attributes.get(name)
    claim = None if attribute is None else attribute.preferred
    return SheetCell(MISSING_VALUE_TEXT) if claim is None else SheetCell(f"[{references.source(claim.source)}]")


#: Attributes with the direction that is better: True more, False less, None neither.
_AttributeDirections = tuple[tuple[str, bool | None], ...]

MEMORY_ATTRIBUTES: Final[_AttributeDirections] = (
    ("memory", True),
    ("memory_bandwidth", True),
    ("memory_type", None),
    ("memory_stacks", None),
    ("last_level_cache", None),
)
INTERCONNECT_ATTRIBUTES: Final[_AttributeDirections] = (
    ("scale_up_bandwidth", True),
    ("scale_up_domain", None),
    ("interconnect", None),
    ("pcie_bandwidth", True),
    ("pcie_generation", None),
)
POWER_ATTRIBUTES: Final[_AttributeDirections] = (
    ("tdp", False),
    ("form_factor", None),
    ("architecture", None),
    ("process_node", None),
    ("release_date", None),
    ("status", None),
)
SOFTWARE_ATTRIBUTES: Final[_AttributeDirections] = (("software_platform", None), ("supported_precisions", None))
#: Precisions of peaks, those that serve models first.
PEAK_PRECISIONS: Final = ("bf16", "fp16", "fp8", "fp6", "fp4", "int8", "tf32", "fp32", "fp64", "fp64_matrix")

#: Numbers that name something rather than measure it.
_NAMING_NUMBERS: Final = frozenset({"pcie_generation"})
#: Ratios nearer to 1 than this are said to be the same.
_SAME: Final = 0.005


def format_delta(ratio: float, formatter: Formatter) -> str:
    """Return what a figure says against the baseline: signed per cent, `× 3.4`, or the same."""
    return tr("same") if abs(ratio - 1) < _SAME else formatter.difference(ratio)


def build_attribute_rows(
    answer: Answer, attributes: _AttributeDirections, formatter: Formatter
) -> tuple[ComparedRow, ...]:
    made = (_build_attribute_row(answer, name, label_attribute(name), more, formatter) for name, more in attributes)
    return tuple(row for row in made if row is not None)


def build_peak_rows(answer: Answer, sparsity: str, formatter: Formatter) -> tuple[ComparedRow, ...]:
    """Return the peaks by precision, `dense` or `sparse`; FP16 and BF16 share a row where they are alike."""
    shared = sparsity == "dense" and _are_half_peaks_alike(answer)
    made = []
    for precision in PEAK_PRECISIONS:
        if precision == "fp16" and shared:
            continue
        name, _, unit_of_it = precision.partition("_")
        label = f"{name.upper()} {unit_of_it}".rstrip()
        if precision == "bf16" and shared:
            label = tr("{one}, {two}", one="FP16", two="BF16")
        made.append(_build_attribute_row(answer, f"peak_{sparsity}_{precision}", label, True, formatter))
    return tuple(row for row in made if row is not None)


def build_price_rows(answer: Answer, formatter: Formatter) -> tuple[ComparedRow, ...]:
    cells = tuple(_build_price_cell(column, formatter) for column in answer.columns)
    if all(cell.value is None for cell in cells):
        return ()
    reference = RowReference(RowOrigin.ATTRIBUTE, PRICE_BOUND_ATTRIBUTES[0])
    return (ComparedRow("price", tr("Purchase price"), get_display_unit(Quantity.USD), cells, reference),)


def _are_half_peaks_alike(answer: Answer) -> bool:
    """Whether no part states another peak in FP16 than in BF16, nor is in dispute about it."""
    pairs = [
        (column.attributes.get("peak_dense_bf16"), column.attributes.get("peak_dense_fp16"))
        for column in answer.columns
    ]
    return any(half is not None for _, half in pairs) and all(
        half is None or (brain is not None and brain.value == half.value and not half.disputed) for brain, half in pairs
    )


def _build_attribute_row(
    answer: Answer, name: str, label: str, more_is_better: bool | None, formatter: Formatter
) -> ComparedRow | None:
    found = [column.attributes.get(name) for column in answer.columns]
    known = [attribute for attribute in found if attribute is not None and attribute.value is not None]
    if not known:
        return None
    quantity = find_quantity(name, known[0].unit)
    best = find_best_positions(found, more_is_better, answer.unranked)
    base = None if found[0] is None or name in _NAMING_NUMBERS else _get_number(found[0])
    cells = tuple(
        _build_attribute_cell(column, name, quantity, base if position else None, position in best, formatter)
        for position, column in enumerate(answer.columns)
    )
    unit = get_display_unit(quantity, name)
    return ComparedRow(name, label, unit, cells, RowReference(RowOrigin.ATTRIBUTE, name), more_is_better)


def _build_attribute_cell(
    column: ComparisonColumn, name: str, quantity: Quantity, base: float | None, best: bool, formatter: Formatter
) -> ComparedCell:
    attribute = column.attributes.get(name)
    disputed = 0 if attribute is None else _count_rival_claims(column, attribute)
    if attribute is None or attribute.value is None:
        return ComparedCell(MISSING_VALUE_TEXT, reason=_describe_unknown_value(column, name), disputed=disputed)
    value = _get_number(attribute)
    if value is None:
        text = format_claim_value(attribute, attribute.value, formatter)
        return ComparedCell(text, value=text, disputed=disputed, own=is_user_chosen(attribute))
    return ComparedCell(
        formatter.catalog(attribute.value, quantity),
        value=convert_to_display_unit(value, quantity),
        second=f"{formatter.gb(value)} GB" if quantity is Quantity.MEMORY else None,
        delta=format_delta(value / base, formatter) if base else None,
        mark=CellMarking.BEST if best else None,
        disputed=disputed,
        own=is_user_chosen(attribute),
    )


def _get_number(attribute: AttributeClaims) -> float | None:
    value = attribute.value
    return value if is_figure(value) else None


def _count_rival_claims(column: ComparisonColumn, attribute: AttributeClaims) -> int:
    """Return how many claims there are where they differ; those on the memory's label count for it too."""
    sides: Sequence[AttributeClaims | None] = (attribute,)
    if attribute.name == "memory":
        sides = (attribute, column.attributes.get("memory_label"))
    return max((len(side.claims) for side in sides if side is not None and side.disputed), default=0)


def _describe_unknown_value(column: ComparisonColumn, name: str) -> str:
    """Return why there is no value: the part cannot do it, or nobody states it."""
    if name.startswith("peak_"):
        supported = column.attributes.get("supported_precisions")
        precision = name.split("_")[2]
        known = None if supported is None else supported.value
        if isinstance(known, tuple) and precision not in known:
            return tr("not supported")
    return tr("no figure found")


def _build_price_cell(column: ComparisonColumn, formatter: Formatter) -> ComparedCell:
    ends = [column.attributes[name] for name in PRICE_BOUND_ATTRIBUTES if name in column.attributes]
    stated = [(end, value) for end in ends if (value := _get_number(end)) is not None]
    if not stated:
        return ComparedCell(MISSING_VALUE_TEXT, reason=tr("no price found"))
    texts = dict.fromkeys(formatter.catalog(value, Quantity.USD) for _, value in stated)
    low, high = stated[0][1], stated[-1][1]
    return ComparedCell(
        " – ".join(texts),
        value=low,
        low=low,
        high=high,
        disputed=max((len(end.claims) for end in ends if end.disputed), default=0),
        own=any(map(is_user_chosen, ends)),
    )
