"""Rows of the comparison from the catalog, with numbered notes where sources differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.answer import Answer, ComparisonColumn
from gpudesk.domain.claim import PRICE_BOUND_ATTRIBUTES, AttributeClaims, Claim, Source, is_figure
from gpudesk.domain.cost import CostAnswer, CostInputOrigin, ResolvedCostInput
from gpudesk.domain.registry import ATTRIBUTES, PEAK_DENSE, Attribute, find_quantity, list_sheet_attributes
from gpudesk.report.comparison.tables import (
    CellMarking,
    ComparisonCell,
    ComparisonRow,
    RowOrigin,
    RowReference,
    SheetNote,
    SheetSource,
)
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.labels import label_attribute, label_attribute_briefly, translate_title
from gpudesk.text.formatting import (
    MISSING_VALUE_TEXT,
    ClaimValue,
    Formatter,
    Quantity,
    convert_to_display_unit,
    get_display_unit,
    join_unit,
)
from gpudesk.text.messages import to_sentence
from gpudesk.text.translation import tr, trn

#: Ratios nearer to 1 count as equal.
_SAME: Final = 0.005
#: Sources named of a median of prices, the newest first: rents have up to a dozen.
_MOST_CITED: Final = 2
_PRICE: Final = PRICE_BOUND_ATTRIBUTES[0]


class SourceNumbering:
    """Numbers notes and sources in the order of first citation on a sheet."""

    def __init__(self, formatter: Formatter) -> None:
        self._formatter = formatter
        self._notes: dict[str, SheetNote] = {}
        self._sources: dict[str, SheetSource] = {}
        #: Entry and name of every attribute with a note on its dispute.
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
                title=translate_title(source.title),
                publisher=source.named_publisher,
                kind=source.kind.label,
                date=None if source.date is None else self._formatter.date(source.date),
                url=source.url,
            )
        return self._sources[source.id].number

    def number_note(
        self, name: str, attribute: AttributeClaims, high: AttributeClaims | None = None
    ) -> tuple[int, ...]:
        """Return the number of the note on an attribute of the accelerator `name`.

        None if sources agree on a shipped value. `high` is the upper end of a price.
        """
        if not (attribute.disputed or is_user_chosen(attribute) or (high is not None and is_user_chosen(high))):
            return ()
        if attribute.disputed:
            self.noted.add((attribute.thing, attribute.name))
        label = tr("Price") if attribute.name in PRICE_BOUND_ATTRIBUTES else label_attribute(attribute.name)
        claim = attribute.preferred
        if claim is None:
            value = tr("{name}, {attribute}: unknown.", name=name, attribute=label)
        else:
            value = tr(
                "{name}, {attribute}: {value} [{source}].",
                name=name,
                attribute=label,
                value=self._find_effective_value(attribute, claim, high),
                source=self.source(claim.source),
            )
        rivals = "; ".join(self._list_rival_texts(attribute))
        refused = tr("Not used: {rivals}.", rivals=rivals) if rivals else ""
        reason = attribute.reason if attribute.reason != tr("Your value") else None
        text = " ".join(part for part in (value, refused, to_sentence(reason) if reason else "") if part)
        if text not in self._notes:
            self._notes[text] = SheetNote(len(self._notes) + 1, text)
        return (self._notes[text].number,)

    def _find_effective_value(self, attribute: AttributeClaims, claim: Claim, high: AttributeClaims | None) -> str:
        """Return the preferred value, or both ends of a price, and whether it is one of the user's."""
        text = self._format_claim(attribute, claim)
        upper = None if high is None else high.preferred
        if upper is not None and upper.value != claim.value:
            low, most = (self._formatter.catalog(each.value, Quantity.USD) for each in (claim, upper))
            text = join_unit(f"{low} – {most}", "USD", " ")
        if claim.own or (upper is not None and upper.own):
            return tr("{value}, custom value", value=text)
        return tr("{value}, custom choice", value=text) if is_user_chosen(attribute) else text

    def _list_rival_texts(self, attribute: AttributeClaims) -> Iterable[str]:
        """Return each rival value once, with all its sources."""
        numbers_by_value: dict[str, list[int]] = {}
        preferred = attribute.preferred
        alike = None if preferred is None else self._format_claim(attribute, preferred)
        for claim in attribute.rivals:
            if not attribute.agrees(claim):
                value_text = self._format_claim(attribute, claim)
                if value_text == alike and claim.published:
                    # They differ beyond the displayed digits.
                    value_text = claim.published
                numbers = numbers_by_value.setdefault(value_text, [])
                number = self.source(claim.source)
                if number not in numbers:
                    numbers.append(number)
        return (f"{value} [{', '.join(map(str, numbers))}]" for value, numbers in numbers_by_value.items())

    def _format_claim(self, attribute: AttributeClaims, claim: Claim) -> str:
        return format_claim_value(attribute, claim.value, self._formatter)


def format_claim_value(attribute: AttributeClaims, value: ClaimValue, formatter: Formatter) -> str:
    """Return a value of an attribute with its unit; yes and no in the current language."""
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    return formatter.catalog_with_unit(value, find_quantity(attribute.name, attribute.unit))


def is_user_chosen(attribute: AttributeClaims) -> bool:
    """Whether the user stated the preferred value, or chose it among the claims."""
    return attribute.overridden or (attribute.preferred is not None and attribute.preferred.own)


def find_best_positions(
    claims: Sequence[AttributeClaims | None], more_is_better: bool | None, unranked: Sequence[int]
) -> frozenset[int]:
    """Return the positions of the best value, empty if all are equal or the attribute has no better direction.

    `unranked` positions are those of announced accelerators next to shipping ones.
    """
    if more_is_better is None:
        return frozenset()
    values = {
        position: attribute.value
        for position, attribute in enumerate(claims)
        if attribute is not None and isinstance(attribute.value, int | float) and position not in unranked
    }
    if len(set(values.values())) < 2:
        return frozenset()
    best = max(values.values()) if more_is_better else min(values.values())
    return frozenset(position for position, value in values.items() if value == best)


def format_delta(ratio: float, formatter: Formatter) -> str:
    """Return a figure relative to the baseline: a signed percentage, `× 3.4`, or the same."""
    return tr("same") if abs(ratio - 1) < _SAME else formatter.difference(ratio)


def build_attribute_rows(
    answer: Answer, attributes: Iterable[Attribute], formatter: Formatter
) -> tuple[ComparisonRow, ...]:
    """Return a row for each attribute with a value in some column."""
    return tuple(row for each in attributes if (row := _build_attribute_row(answer, each, formatter)) is not None)


def _build_attribute_row(answer: Answer, attribute: Attribute, formatter: Formatter) -> ComparisonRow | None:
    if attribute.upper_end is not None:
        ends = (attribute.key, attribute.upper_end)
        if answer.costs is not None:
            return build_price_row(answer, answer.costs, formatter)
        label = tr("Purchase price")
        cells = tuple(_build_range_cell(column, ends, formatter) for column in answer.columns)
    else:
        label = label_attribute_briefly(attribute)
        claims = [column.attributes.get(attribute.key) for column in answer.columns]
        best = find_best_positions(claims, attribute.more_is_better, answer.unranked)
        base = None if claims[0] is None or attribute.is_name else _get_number(claims[0])
        cells = tuple(
            _build_attribute_cell(column, attribute, base if position else None, formatter, is_best=position in best)
            for position, column in enumerate(answer.columns)
        )
    if all(cell.value is None for cell in cells):
        return None
    return ComparisonRow(
        attribute.row_key,
        label,
        None if attribute.unit is None else get_display_unit(find_quantity(attribute.key, attribute.unit)),
        cells,
        RowReference(RowOrigin.ATTRIBUTE, attribute.key),
        attribute.more_is_better,
    )


def _build_attribute_cell(
    column: ComparisonColumn, attribute: Attribute, base: float | None, formatter: Formatter, *, is_best: bool
) -> ComparisonCell:
    claims = column.attributes.get(attribute.key)
    disputed = 0 if claims is None else _count_rival_claims(column, claims)
    if claims is None or claims.value is None:
        return ComparisonCell(MISSING_VALUE_TEXT, reason=_describe_unknown_value(column, attribute), disputed=disputed)
    value = _get_number(claims)
    if value is None:
        text = format_claim_value(claims, claims.value, formatter)
        return ComparisonCell(text, value=text, disputed=disputed, own=is_user_chosen(claims))
    quantity = find_quantity(attribute.key, attribute.unit)
    return ComparisonCell(
        formatter.catalog(value, quantity),
        value=convert_to_display_unit(value, quantity),
        delta=format_delta(value / base, formatter) if base else None,
        mark=CellMarking.BEST if is_best else None,
        disputed=disputed,
        own=is_user_chosen(claims),
    )


def _get_number(attribute: AttributeClaims) -> float | None:
    value = attribute.value
    return value if is_figure(value) else None


def _count_rival_claims(column: ComparisonColumn, attribute: AttributeClaims) -> int:
    """Return the number of claims if they differ, including those on the memory's label."""
    sides: Sequence[AttributeClaims | None] = (attribute,)
    if attribute.name == "memory":
        sides = (attribute, column.attributes.get("memory_label"))
    return max((len(side.claims) for side in sides if side is not None and side.disputed), default=0)


def _describe_unknown_value(column: ComparisonColumn, attribute: Attribute) -> str:
    """Return why there is no value: the accelerator does not support it, or no source states it."""
    supported = column.attributes.get("supported_precisions")
    format_name = None if supported is None or not attribute.precision else supported.value
    if isinstance(format_name, tuple) and attribute.precision.partition("_")[0] not in format_name:
        return tr("not supported")
    return tr("no figure found")


def _build_range_cell(column: ComparisonColumn, names: Sequence[str], formatter: Formatter) -> ComparisonCell:
    """Return both ends of an accelerator's price."""
    ends = [column.attributes[name] for name in names if name in column.attributes]
    bounds = [(end, value) for end in ends if (value := _get_number(end)) is not None]
    if not bounds:
        return ComparisonCell(MISSING_VALUE_TEXT, reason=tr("price unknown"))
    texts = dict.fromkeys(formatter.catalog(value, Quantity.USD) for _, value in bounds)
    low, high = bounds[0][1], bounds[-1][1]
    return ComparisonCell(
        " – ".join(texts),
        value=low,
        low=low,
        high=high,
        disputed=max((len(end.claims) for end in ends if end.disputed), default=0),
        own=any(map(is_user_chosen, ends)),
    )


def build_price_row(answer: Answer, costs: CostAnswer, formatter: Formatter) -> ComparisonRow | None:
    """Return the purchase price per accelerator that costs use, with the number of its prices and the newest date.

    A price derived from whole systems is without their servers. The label says so, or each cell if they differ.
    """
    money = MoneyFormatter(formatter, answer.scenario.costs.currency)
    prices = [column.inputs["price_usd"] for column in costs.columns]
    usd = [None if price.spread is None else price.spread.likely for price in prices]
    if not any(usd):
        return None
    bases = {price.system is not None for price in prices if price.spread is not None and not _is_user_price(price)}
    label = tr("Purchase price")
    if len(bases) == 1:
        label = tr("Purchase price in a system") if True in bases else tr("Purchase price, single")
    cells = (
        ComparisonCell(MISSING_VALUE_TEXT, reason=tr("price unknown"))
        if value is None
        else ComparisonCell(
            money.whole(value),
            value=money.convert_to_currency(value),
            detail=_describe_price_basis(price, names_system=len(bases) > 1),
            delta=format_delta(value / usd[0], formatter) if position and usd[0] else None,
            own=_is_user_price(price),
        )
        for position, (price, value) in enumerate(zip(prices, usd, strict=True))
    )
    key, reference = ATTRIBUTES[_PRICE].row_key, RowReference(RowOrigin.ATTRIBUTE, _PRICE)
    return ComparisonRow(key, label, money.code, tuple(cells), reference)


def _is_user_price(price: ResolvedCostInput) -> bool:
    return price.origin is CostInputOrigin.YOURS or (price.prices is not None and price.prices.is_user_value)


def _describe_price_basis(price: ResolvedCostInput, *, names_system: bool) -> str | None:
    if _is_user_price(price):
        return tr("entered by you")
    prices = describe_price_record(price)
    if prices is None or not names_system:
        return prices
    return tr("in a system: {prices}", prices=prices) if price.system else tr("single: {prices}", prices=prices)


def describe_price_record(price: ResolvedCostInput) -> str | None:
    """Return of how many catalog prices a price is the median, and the month of the newest; None for the user's."""
    record = price.prices
    if record is None or price.origin is CostInputOrigin.YOURS:
        return None
    prices = trn("{n} price", "{n} prices", record.count, n=record.count)
    if record.newest is None:
        return prices
    return tr("{prices}, {date}", prices=prices, date=Formatter().date(record.newest[:7]))


def merge_half_precisions(answer: Answer, rows: tuple[ComparisonRow, ...]) -> tuple[ComparisonRow, ...]:
    """Return dense peaks with one row for FP16 and BF16 if they are equal in every column."""
    pairs = [[column.attributes.get(f"{PEAK_DENSE}{name}") for name in ("bf16", "fp16")] for column in answer.columns]
    alike = any(half is not None for _, half in pairs) and all(
        half is None or (brain is not None and brain.value == half.value and not half.disputed) for brain, half in pairs
    )
    if not alike:
        return rows
    both = tr("{one}, {two}", one="FP16", two="BF16")
    return tuple(
        replace(row, label=both) if row.key == f"{PEAK_DENSE}bf16" else row
        for row in rows
        if row.key != f"{PEAK_DENSE}fp16"
    )


def add_notes(
    rows: tuple[ComparisonRow, ...], answer: Answer, names: tuple[str, ...], references: SourceNumbering
) -> tuple[ComparisonRow, ...]:
    """Return rows of attributes with the numbers of the notes on their cells; `names` are those of the columns."""

    def number(row: ComparisonRow, position: int) -> tuple[int, ...]:
        name = "" if row.reference is None else row.reference.name
        column, label = answer.columns[position], names[position]
        claims, upper = column.attributes.get(name), ATTRIBUTES[name].upper_end
        if claims is None:
            return ()
        notes = references.number_note(label, claims, None if upper is None else column.attributes.get(upper))
        if name == "memory" and "memory_label" in column.attributes:
            # Notes on how the memory is sold belong to it too.
            notes += references.number_note(label, column.attributes["memory_label"])
        return notes

    return tuple(
        replace(row, cells=tuple(replace(cell, notes=number(row, place)) for place, cell in enumerate(row.cells)))
        for row in rows
    )


def build_source_rows(answer: Answer, references: SourceNumbering) -> tuple[ComparisonRow, ...]:
    """Return, for every attribute of the sheet, the number of the source that each value comes from."""
    rows = []
    for attribute in list_sheet_attributes():
        if attribute.key == _PRICE and answer.costs is not None:
            continue
        cells = tuple(_build_source_cell(column, attribute.key, references) for column in answer.columns)
        label = label_attribute(attribute.key) if attribute.upper_end is None else tr(attribute.form_label)
        rows.append(ComparisonRow(f"source.{attribute.row_key}", label, None, cells))
    if answer.costs is not None:
        for name, label in (("price_usd", tr("Purchase price")), ("rent_usd_per_hour", tr("Rental price"))):
            cells = tuple(_cite_prices(column.inputs[name], references) for column in answer.costs.columns)
            rows.append(ComparisonRow(f"source.{name}", label, None, cells))
    return tuple(row for row in rows if any(cell.text != MISSING_VALUE_TEXT for cell in row.cells))


def _cite_prices(price: ResolvedCostInput, references: SourceNumbering) -> ComparisonCell:
    """Return the numbers of the newest sources behind a median of prices, and how many more there are."""
    if price.prices is None or not price.prices.sources or price.origin is CostInputOrigin.YOURS:
        return ComparisonCell(MISSING_VALUE_TEXT)
    cited = sorted(references.source(source) for source in price.prices.sources[:_MOST_CITED])
    numbers = f"[{', '.join(map(str, cited))}]"
    more = len(price.prices.sources) - len(cited)
    return ComparisonCell(tr("{numbers} and {n} more", numbers=numbers, n=more) if more else numbers)


def _build_source_cell(column: ComparisonColumn, name: str, references: SourceNumbering) -> ComparisonCell:
    attribute = column.attributes.get(name)
    claim = None if attribute is None else attribute.preferred
    return ComparisonCell(MISSING_VALUE_TEXT if claim is None else f"[{references.source(claim.source)}]")
