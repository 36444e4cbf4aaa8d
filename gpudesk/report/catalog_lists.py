"""Cells, heads and terms of the catalog's lists."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeGuard

from gpudesk.domain.attributes import (
    CatalogCellMark,
    CatalogCellValue,
    CatalogColumn,
    CatalogColumnKind,
    CatalogRow,
    CatalogSection,
    CatalogTable,
)
from gpudesk.domain.claim import PURCHASE_TERM, PriceSummary, SourceKind, is_figure
from gpudesk.domain.registry import ATTRIBUTES, SYSTEM_ATTRIBUTES, Attribute, ListColumn, find_quantity
from gpudesk.report.explanation.claims import label_kind_shortly
from gpudesk.report.labels import (
    PRICE_WORDS,
    count_days_since,
    explain_attribute,
    find_end_of_date,
    format_age,
    label_attribute,
    label_attribute_briefly,
    shorten_name,
    translate_title,
)
from gpudesk.report.writers.clipboard import format_tab_separated
from gpudesk.report.writers.export_table import UNITS_SAID_BY_NAME
from gpudesk.text.formatting import (
    MISSING_VALUE_TEXT,
    Formatter,
    Quantity,
    convert_to_display_unit,
    get_display_unit,
    translate_unit,
)
from gpudesk.text.messages import capitalize_first, format_message
from gpudesk.text.translation import tr, translate_data

#: Columns of sentences, which are translated; other columns hold names.
_STATEMENTS: Final = frozenset({"basis", "conditions", "disagreement", "instance", "reason", "trust", "verdict"})
_GROUPS: Final = {
    "dense": "TFLOPS, dense",
    "height": "Height",
    "host_memory": "RAM",
    "memory": "Memory",
    "parameters": "Parameters, 10⁹",
    "power": "Power",
    "price": "Price",
    "vram": "Memory, GiB",
}

_WORDS: Final = {
    **PRICE_WORDS,
    "taken": "used",
    "agrees": "agrees",
    "differs": "differs",
    "refused": "rejected",
    "server": "server",
    "rack": "rack",
    "workstation": "workstation",
    "desktop": "desktop",
    "instance": "instance",
    "air": "air",
    "liquid": "liquid",
    "image": "image",
    "video": "video",
    "claim": "another claim",
    "arithmetic": "arithmetic",
    "public_record": "public record",
    # In place of an attribute, if a row is about a whole entry or a price.
    "accelerator": "Accelerator",
    "model": "Model",
    "diffusion_model": "Diffusion model",
    "price_on_demand": "Price, on-demand",
    "price_spot": "Price, spot",
    "price_reserved": "Price, reserved",
    "price_reserved_1y": "Price, 1 year reserved",
    "price_reserved_3y": "Price, 3 years reserved",
    "price_capacity_block": "Price, capacity block",
    "price_purchase": "Price, purchase",
}

_KINDS: Final = frozenset(kind.value for kind in SourceKind)


def label_column(section: CatalogSection, column: CatalogColumn) -> str:
    if column.head:
        return tr(column.head)
    attribute = _find_registered_attribute(section, column)
    if attribute is not None and attribute.listed is not None:
        return label_list_head(attribute, attribute.listed)
    return get_display_unit(column.quantity) or column.key


#: Sections whose attributes are in the registry.
_REGISTERED: Final[Mapping[CatalogSection, Mapping[str, Attribute]]] = {
    CatalogSection.ACCELERATORS: ATTRIBUTES,
    CatalogSection.SYSTEMS: SYSTEM_ATTRIBUTES,
}


def _find_registered_attribute(section: CatalogSection, column: CatalogColumn) -> Attribute | None:
    return _REGISTERED.get(section, {}).get(column.attribute or "")


def label_list_head(attribute: Attribute, column: ListColumn) -> str:
    """Return the head of an accelerator or system column: its own, else the unit of figures, else the label."""
    if column.head:
        return tr(column.head)
    unit = (
        None
        if attribute.unit is None or attribute.precision
        else get_display_unit(find_quantity(attribute.key, attribute.unit))
    )
    return translate_unit(unit) if unit else label_attribute_briefly(attribute)


def describe_column(section: CatalogSection, column: CatalogColumn) -> str:
    attribute = _find_registered_attribute(section, column)
    if attribute is not None and attribute.explanation:
        return explain_attribute(attribute)
    return tr(column.meaning) if column.meaning else label_column(section, column)


def label_column_group(group: str) -> str:
    return tr(_GROUPS[group])


def format_price_summary(summary: PriceSummary, formatter: Formatter) -> tuple[str, str, str]:
    """Return the lowest price, the median and the highest; the median of purchase prices as a computed figure."""
    if summary.term == PURCHASE_TERM:
        return formatter.number(summary.low), formatter.estimate(summary.median), formatter.number(summary.high)
    low, median, high = (formatter.number(usd, 2) for usd in (summary.low, summary.median, summary.high))
    return low, median, high


def label_term_of_data(value: CatalogCellValue) -> str:
    """Return the text for a word of the data; number formats are capitalized."""
    if value is None:
        return MISSING_VALUE_TEXT
    text = str(value)
    if text in _WORDS:
        return tr(_WORDS[text])
    if text in _KINDS:
        return SourceKind(text).label
    return text.upper() if text.startswith(("fp", "bf", "int", "mxfp", "nvfp")) else text


def label_kind_briefly(value: CatalogCellValue) -> str:
    return MISSING_VALUE_TEXT if value is None else label_kind_shortly(SourceKind(str(value)))


def label_list_attribute(value: CatalogCellValue) -> str:
    """Return the name of an attribute; that of a document's statement is its name in the data files."""
    if value is None:
        return MISSING_VALUE_TEXT
    text = str(value)
    if text in _WORDS:
        return tr(_WORDS[text])
    label = label_attribute(text)
    if label != text or "." in text:
        return label
    label = translate_data(text)
    return capitalize_first(label) if label != text else translate_data(capitalize_first(text.replace("_", " ")))


#: Kinds of columns with right-aligned values.
FIGURES: Final = frozenset(
    {CatalogColumnKind.FIGURE, CatalogColumnKind.MONEY, CatalogColumnKind.RATIO, CatalogColumnKind.VALUE}
)
_DASH: Final = " – "
#: Sections with short accelerator names.
_BRIEF: Final = frozenset(
    {CatalogSection.ACCELERATORS, CatalogSection.PRICES, CatalogSection.CLAIMS, CatalogSection.YOURS}
)


class CatalogCellFormatter:
    """Writes the cells of one section. `today` is the reference day for ages, in ISO form."""

    def __init__(self, table: CatalogTable, formatter: Formatter, today: str) -> None:
        """Write nothing yet: decimals of a column are determined with its first figure."""
        self._table = table
        self._formatter = formatter
        self._decimals: dict[int, int] = {}
        self._writers: Mapping[CatalogColumnKind, Callable[[CatalogCellValue, CatalogRow, int], str]] = {
            CatalogColumnKind.NAME: lambda value, _row, _place: (
                self._brief.get(str(value)) or self._format_words(value)
            ),
            CatalogColumnKind.TEXT: lambda value, _row, place: self._format_text(value, table.columns[place]),
            CatalogColumnKind.DATE: lambda value, _row, _place: self._format_words(translate_data(str(value))),
            CatalogColumnKind.WORD: lambda value, _row, place: (
                label_kind_briefly(value) if table.columns[place].key == "kind" else label_term_of_data(value)
            ),
            CatalogColumnKind.ATTRIBUTE: lambda value, _row, _place: label_list_attribute(value),
            CatalogColumnKind.FIGURE: lambda value, _row, place: self._format_figure(value, place),
            CatalogColumnKind.MONEY: lambda value, _row, place: self._format_money(value, table.columns[place]),
            CatalogColumnKind.VALUE: lambda value, row, _place: self._format_value(value, row),
            CatalogColumnKind.UNIT: lambda _value, row, _place: self._choose_unit(row),
            CatalogColumnKind.RATIO: lambda value, _row, _place: self._format_ratio(value),
            CatalogColumnKind.AGE: lambda value, _row, _place: format_age(count_days_since(str(value), today)),
        }

    def text(self, row: CatalogRow, place: int) -> str:
        column, value = self._table.columns[place], row.values[place]
        if value is None:
            return MISSING_VALUE_TEXT
        if row.waits is not None and column.key == "reason":
            return format_message(row.waits.why, self._formatter)
        return self._writers[column.kind](value, row, place)

    def get_full_name(self, row: CatalogRow) -> str:
        """Return the full name of a row whose cell shows a short one."""
        return self._format_words(row.values[0])

    def search_text(self, row: CatalogRow) -> str:
        """Return all cells of a row in lower case, figures also without their separators."""
        places = range(len(row.values))
        texts = [self.text(row, place) for place in places if row.values[place] is not None]
        whole = "\n".join([*texts, self.get_full_name(row)])
        separator = self._formatter.style.thousands
        if separator and separator in whole and any(letter.isdigit() for letter in whole):
            whole = f"{whole}\n{whole.replace(separator, '')}"
        return whole.casefold()

    # Kinds of values

    @cached_property
    def _brief(self) -> dict[str, str]:
        """Short names of accelerators, unless ambiguous."""
        if self._table.section not in _BRIEF:
            return {}
        names = {str(row.values[0]) for row in self._table.rows if row.values[0] is not None}
        short = {name: shorten_name(name) for name in names}
        brief_counts = Counter(short.values())
        return {name: brief for name, brief in short.items() if brief_counts[brief] == 1}

    def _format_text(self, value: CatalogCellValue, column: CatalogColumn) -> str:
        if column.key == "accelerator":
            return shorten_name(str(value))
        is_phrase = column.key in _STATEMENTS or column.attribute is not None
        return self._format_words(translate_data(value) if is_phrase and isinstance(value, str) else value)

    def _format_figure(self, value: CatalogCellValue, place: int) -> str:
        if not is_figure(value):
            return self._format_words(value)
        column = self._table.columns[place]
        return self._formatter.number(_convert_for_display(value, column), self._count_decimals(place))

    def _count_decimals(self, place: int) -> int:
        """Return the decimals of a column, common to all its figures."""
        decimals = self._decimals.get(place)
        if decimals is None:
            column = self._table.columns[place]
            decimals = (
                column.decimals if column.decimals is not None else self._count_max_decimals(place, column.quantity)
            )
            self._decimals[place] = decimals
        return decimals

    def _count_max_decimals(self, place: int, quantity: Quantity) -> int:
        values = {value for row in self._table.rows if is_figure(value := row.values[place])}
        mark = self._formatter.style.decimal
        texts = (self._formatter.catalog(value, quantity) for value in values)
        return max((len(text.partition(mark)[2]) for text in texts), default=0)

    def _format_money(self, value: CatalogCellValue, column: CatalogColumn) -> str:
        if isinstance(value, tuple):
            return _DASH.join(self._format_amount(end, column) for end in value if isinstance(end, int | float))
        return self._format_amount(value, column) if is_figure(value) else self._format_words(value)

    def _format_amount(self, value: float, column: CatalogColumn) -> str:
        return self._formatter.number(value, 2 if column.quantity is Quantity.USD_PER_HOUR else 0)

    def _format_value(self, value: CatalogCellValue, row: CatalogRow) -> str:
        quantity = find_quantity(row.attribute or "", row.unit)
        if _is_range(value):
            return _DASH.join(self._formatter.catalog(end, quantity) for end in value)
        if is_figure(value):
            return self._formatter.catalog(value, quantity)
        return self._format_words(translate_data(value) if isinstance(value, str) else value)

    def _choose_unit(self, row: CatalogRow) -> str:
        """Return the unit in which a row's figure is shown; None for words."""
        if not any(is_figure(value) or _is_range(value) for value in self._list_values(row)):
            return translate_data(row.unit or MISSING_VALUE_TEXT) if row.attribute is None else MISSING_VALUE_TEXT
        if row.attribute is None:
            return translate_data(row.unit or MISSING_VALUE_TEXT)
        unit = get_display_unit(find_quantity(row.attribute, row.unit))
        unit_text = MISSING_VALUE_TEXT if row.unit in UNITS_SAID_BY_NAME else row.unit
        return translate_unit(unit) if unit else translate_data(unit_text or MISSING_VALUE_TEXT)

    def _list_values(self, row: CatalogRow) -> Iterable[CatalogCellValue]:
        return (row.values[place] for place in self._value_places)

    @cached_property
    def _value_places(self) -> tuple[int, ...]:
        columns = self._table.columns
        return tuple(place for place, column in enumerate(columns) if column.kind is CatalogColumnKind.VALUE)

    def _format_ratio(self, value: CatalogCellValue) -> str:
        return self._formatter.difference(float(value)) if is_figure(value) else self._format_words(value)

    def _format_words(self, value: CatalogCellValue) -> str:
        if isinstance(value, bool):
            return tr("yes") if value else tr("no")
        if isinstance(value, tuple):
            return ", ".join(map(str, value))
        # Imported text can contain line breaks; a cell has one line.
        return (
            MISSING_VALUE_TEXT if value is None else self._formatter.date(translate_title(" ".join(str(value).split())))
        )

    # Sentences

    def sentence(self, row: CatalogRow, place: int) -> str:
        """Return the full text of a cell, after the name of the row."""
        column = self._table.columns[place]
        cell_text = self.get_full_name(row) if place == 0 else self.text(row, place)
        if cell_text == MISSING_VALUE_TEXT:
            cell_text = self._explain_unknown(row, column)
        parts = (
            [cell_text]
            if place == 0
            else [self.get_full_name(row), describe_column(self._table.section, column), cell_text]
        )
        if column.kind is CatalogColumnKind.AGE and row.values[place] is not None:
            parts.append(self._format_words(row.values[place]))
        if place == 0 and row.announced:
            parts.append(tr("announced"))
        mark = row.marks[place] if row.marks else 0
        parts += [text for flag, text in _describe_marks() if mark & flag]
        return ", ".join(parts)

    def _explain_unknown(self, row: CatalogRow, column: CatalogColumn) -> str:
        if column.kind in (CatalogColumnKind.DATE, CatalogColumnKind.AGE) and column.attribute is None:
            return tr("unknown: the source gives no date")
        if column.key in ("usd", "usd_hour") and any(_format_amounts(self._table, row)):
            return tr("other kind of price")
        if column.key == "price":
            return tr("unknown: price not published")
        if column.attribute is not None or column.kind is CatalogColumnKind.VALUE:
            return tr("unknown: not published")
        return tr("empty")


def _format_amounts(table: CatalogTable, row: CatalogRow) -> Iterable[bool]:
    return (
        row.values[place] is not None
        for place, column in enumerate(table.columns)
        if column.kind is CatalogColumnKind.MONEY
    )


def _describe_marks() -> tuple[tuple[CatalogCellMark, str], ...]:
    return (
        (CatalogCellMark.OWN, tr("your value")),
        (CatalogCellMark.COMPUTED, tr("computed")),
        (CatalogCellMark.DISPUTED, tr("sources disagree")),
    )


def _is_range(value: object) -> TypeGuard[tuple[float, float]]:
    return isinstance(value, tuple) and len(value) == 2 and all(map(is_figure, value))


def _convert_for_display(value: float, column: CatalogColumn) -> float:
    return value / column.scale if column.scale else convert_to_display_unit(value, column.quantity)


def build_catalog_clipping(
    table: CatalogTable,
    rows: Sequence[CatalogRow],
    places: Sequence[int],
    writer: CatalogCellFormatter,
    *,
    with_heads: bool,
) -> str:
    """Return cells as they are shown, names in full, as tab-separated text."""
    lines = [[_write_copied_text(table, row, place, writer) for place in places] for row in rows]
    if with_heads:
        lines.insert(0, [_write_full_head(table, place) for place in places])
    return format_tab_separated(lines)


def _write_copied_text(table: CatalogTable, row: CatalogRow, place: int, writer: CatalogCellFormatter) -> str:
    is_name = table.columns[place].kind is CatalogColumnKind.NAME
    return writer.get_full_name(row) if is_name else writer.text(row, place)


def _write_full_head(table: CatalogTable, place: int) -> str:
    column = table.columns[place]
    head = label_column(table.section, column)
    return f"{head}, TFLOPS" if column.group == "dense" else head


def make_sort_key(value: CatalogCellValue, row: CatalogRow, column: CatalogColumn) -> tuple[float, str, float]:
    """Return the sort key of known values: numbers before words, each among its kind."""
    if column.kind in (CatalogColumnKind.DATE, CatalogColumnKind.AGE):
        ended = find_end_of_date(str(value))
        return (0.0, "", float(ended.toordinal())) if ended is not None else (1.0, str(value), 0.0)
    if column.kind is CatalogColumnKind.VALUE and (is_figure(value) or _is_range(value)):
        return 0.0, row.unit or "", float(value[0] if isinstance(value, tuple) else value)
    if isinstance(value, tuple) and value and isinstance(value[0], int | float):
        return 0.0, "", float(value[0])
    if is_figure(value):
        return 0.0, "", float(value)
    if column.kind in (CatalogColumnKind.WORD, CatalogColumnKind.ATTRIBUTE):
        return (
            1.0,
            (label_term_of_data if column.kind is CatalogColumnKind.WORD else label_list_attribute)(value).casefold(),
            0.0,
        )
    if isinstance(value, tuple):
        return 1.0, ", ".join(map(str, value)).casefold(), 0.0
    return 1.0, str(value).casefold(), 0.0
