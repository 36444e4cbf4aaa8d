"""What stands in the cells of the catalog's lists: text, sentence, and what goes to the clipboard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeGuard

from gpudesk.domain.catalog_tables import (
    CatalogRow,
    CatalogTable,
    CellMark,
    CellValue,
    Column,
    ColumnKind,
    Section,
)
from gpudesk.domain.claims import is_figure
from gpudesk.domain.formatting import (
    UNKNOWN,
    Formatter,
    Quantity,
    display_unit,
    in_display_unit,
    quantity_of,
)
from gpudesk.sentences import sentence
from gpudesk.sheets.ages import age_days, age_text, end_of
from gpudesk.sheets.catalog_words import attribute_text, column_head, column_meaning, kind_word, word
from gpudesk.sheets.comparison_copy import number_text
from gpudesk.sheets.names import short_name
from gpudesk.sheets.plain_text import safe_text
from gpudesk.text import tr

#: Kinds of columns whose values end at one line.
FIGURES: Final = frozenset({ColumnKind.FIGURE, ColumnKind.MONEY, ColumnKind.RATIO, ColumnKind.VALUE})
_DASH: Final = " – "
#: Where accelerators are called by their short names.
_BRIEF: Final = frozenset({Section.ACCELERATORS, Section.PRICES, Section.CLAIMS, Section.YOURS})


class CatalogWriter:
    """Writes the cells of one section. `today` is the day that ages are counted to, in ISO form."""

    def __init__(self, table: CatalogTable, formatter: Formatter, today: str) -> None:
        """Write nothing yet: decimals of a column are counted with its first figure."""
        self._table = table
        self._formatter = formatter
        self._decimals: dict[int, int] = {}
        self._writers: Mapping[ColumnKind, Callable[[CellValue, CatalogRow, int], str]] = {
            ColumnKind.NAME: lambda value, _row, _place: self._name(value),
            ColumnKind.TEXT: lambda value, _row, _place: self._words(value),
            ColumnKind.DATE: lambda value, _row, _place: self._words(value),
            ColumnKind.WORD: lambda value, _row, place: (
                kind_word(value) if table.columns[place].key == "kind" else word(value)
            ),
            ColumnKind.ATTRIBUTE: lambda value, _row, _place: attribute_text(value),
            ColumnKind.FIGURE: lambda value, _row, place: self._figure(value, place),
            ColumnKind.MONEY: lambda value, _row, place: self._money(value, table.columns[place]),
            ColumnKind.VALUE: lambda value, row, _place: self._value(value, row),
            ColumnKind.UNIT: lambda _value, row, _place: self._unit(row),
            ColumnKind.RATIO: lambda value, _row, _place: self._ratio(value),
            ColumnKind.AGE: lambda value, _row, _place: age_text(age_days(str(value), today)),
        }

    def text(self, row: CatalogRow, place: int) -> str:
        """Return what stands in a cell."""
        column, value = self._table.columns[place], row.values[place]
        if value is None:
            return UNKNOWN
        if row.waits is not None and column.key == "reason":
            return sentence(row.waits.why, self._formatter)
        return self._writers[column.kind](value, row, place)

    def whole_name(self, row: CatalogRow) -> str:
        """Return what a row is called in full, where its cell has a short name."""
        return self._words(row.values[0])

    def search_text(self, row: CatalogRow) -> str:
        """Return all cells of a row in small letters, figures also without their separators."""
        places = range(len(row.values))
        texts = [self.text(row, place) for place in places if row.values[place] is not None]
        whole = "\n".join([*texts, self.whole_name(row)])
        separator = self._formatter.style.thousands
        if separator and separator in whole and any(letter.isdigit() for letter in whole):
            whole = f"{whole}\n{whole.replace(separator, '')}"
        return whole.casefold()

    # Kinds of values

    def _name(self, value: CellValue) -> str:
        return self._brief.get(str(value)) or self._words(value)

    @cached_property
    def _brief(self) -> dict[str, str]:
        """Short names of accelerators, where no other has the same."""
        if self._table.section not in _BRIEF:
            return {}
        names = {str(row.values[0]) for row in self._table.rows if row.values[0] is not None}
        short = {name: short_name(name) for name in names}
        counted = Counter(short.values())
        return {name: brief for name, brief in short.items() if counted[brief] == 1}

    def _figure(self, value: CellValue, place: int) -> str:
        if not is_figure(value):
            return self._words(value)
        column = self._table.columns[place]
        return self._formatter.number(_shown(value, column), self._places(place))

    def _places(self, place: int) -> int:
        """Return the decimals of a column: one count for all its figures."""
        found = self._decimals.get(place)
        if found is None:
            column = self._table.columns[place]
            found = column.decimals if column.decimals is not None else self._most(place, column.quantity)
            self._decimals[place] = found
        return found

    def _most(self, place: int, quantity: Quantity) -> int:
        values = {value for row in self._table.rows if is_figure(value := row.values[place])}
        mark = self._formatter.style.decimal
        texts = (self._formatter.catalog(value, quantity) for value in values)
        return max((len(text.partition(mark)[2]) for text in texts), default=0)

    def _money(self, value: CellValue, column: Column) -> str:
        if isinstance(value, tuple):
            return _DASH.join(self._amount(end, column) for end in value if isinstance(end, int | float))
        return self._amount(value, column) if is_figure(value) else self._words(value)

    def _amount(self, value: float, column: Column) -> str:
        return self._formatter.number(value, 2 if column.quantity is Quantity.USD_PER_HOUR else 0)

    def _value(self, value: CellValue, row: CatalogRow) -> str:
        quantity = quantity_of(row.attribute or "", row.unit)
        if _is_range(value):
            return _DASH.join(self._formatter.catalog(end, quantity) for end in value)
        return self._formatter.catalog(value, quantity) if is_figure(value) else self._words(value)

    def _unit(self, row: CatalogRow) -> str:
        """Return the unit in which the figure of a row is shown; that of words is none."""
        if not any(is_figure(value) or _is_range(value) for value in self._figures_of(row)):
            return row.unit or UNKNOWN if row.attribute is None else UNKNOWN
        if row.attribute is None:
            return row.unit or UNKNOWN
        shown = display_unit(quantity_of(row.attribute, row.unit), row.attribute)
        return shown or row.unit or UNKNOWN

    def _figures_of(self, row: CatalogRow) -> Iterable[CellValue]:
        return (row.values[place] for place in self._value_places)

    @cached_property
    def _value_places(self) -> tuple[int, ...]:
        columns = self._table.columns
        return tuple(place for place, column in enumerate(columns) if column.kind is ColumnKind.VALUE)

    def _ratio(self, value: CellValue) -> str:
        return self._formatter.difference(float(value)) if is_figure(value) else self._words(value)

    def _words(self, value: CellValue) -> str:
        if isinstance(value, bool):
            return tr("yes") if value else tr("no")
        if isinstance(value, tuple):
            return ", ".join(map(str, value))
        # What was imported may hold line breaks; a cell has one line.
        return " ".join(str(value).split()) if value is not None else UNKNOWN

    # Sentences

    def sentence(self, row: CatalogRow, place: int) -> str:
        """Return everything that a cell shows, after what the row is called."""
        column = self._table.columns[place]
        said = self.whole_name(row) if place == 0 else self.text(row, place)
        if said == UNKNOWN:
            said = self._why_unknown(row, column)
        parts = [said] if place == 0 else [self.whole_name(row), self._spoken_head(column), said]
        if column.kind is ColumnKind.AGE and row.values[place] is not None:
            parts.append(self._words(row.values[place]))
        if place == 0 and row.announced:
            parts.append(tr("announced"))
        mark = row.marks[place] if row.marks else 0
        parts += [text for flag, text in _marks() if mark & flag]
        return ", ".join(parts)

    def _spoken_head(self, column: Column) -> str:
        return column_meaning(self._table.section, column)

    def _why_unknown(self, row: CatalogRow, column: Column) -> str:
        if column.kind in (ColumnKind.DATE, ColumnKind.AGE) and column.attribute is None:
            return tr("unknown: the source gives no date")
        if column.key in ("usd", "usd_hour") and any(_amounts(self._table, row)):
            return tr("not such a price")
        if column.key == "price":
            return tr("unknown: no purchase price found")
        if column.attribute is not None or column.kind is ColumnKind.VALUE:
            return tr("unknown: no source states it")
        return tr("nothing")


def _amounts(table: CatalogTable, row: CatalogRow) -> Iterable[bool]:
    return (
        row.values[place] is not None
        for place, column in enumerate(table.columns)
        if column.kind is ColumnKind.MONEY
    )


def _marks() -> tuple[tuple[CellMark, str], ...]:
    return (
        (CellMark.OWN, tr("your value")),
        (CellMark.COMPUTED, tr("computed")),
        (CellMark.DISPUTED, tr("sources differ")),
    )


def _is_range(value: object) -> TypeGuard[tuple[float, float]]:
    return isinstance(value, tuple) and len(value) == 2 and all(map(is_figure, value))


def _shown(value: float, column: Column) -> float:
    """Return a figure in the unit of its column."""
    return value / column.scale if column.scale else in_display_unit(value, column.quantity)


def clipping(
    table: CatalogTable,
    rows: Sequence[CatalogRow],
    places: Sequence[int],
    writer: CatalogWriter,
    formatter: Formatter,
    *,
    with_heads: bool,
) -> str:
    """Return cells as tab-separated text: figures with all their digits, words that no spreadsheet runs."""
    lines = [[_field(table, row, place, writer, formatter) for place in places] for row in rows]
    if with_heads:
        lines.insert(0, [safe_text(_full_head(table, place)) for place in places])
    return "\n".join("\t".join(line) for line in lines)


def _full_head(table: CatalogTable, place: int) -> str:
    column = table.columns[place]
    head = column_head(table.section, column)
    return f"{head}, TFLOPS" if column.group == "dense" else head


def _field(
    table: CatalogTable, row: CatalogRow, place: int, writer: CatalogWriter, formatter: Formatter
) -> str:
    column, value = table.columns[place], row.values[place]
    if value is None:
        return ""
    if is_figure(value) and column.kind in FIGURES:
        return number_text(_copied(value, column, row), formatter.style)
    if column.kind is ColumnKind.AGE:
        return writer.text(row, place)
    if column.kind is ColumnKind.NAME:
        return safe_text(writer.whole_name(row))
    return safe_text(" ".join(writer.text(row, place).split()))


def _copied(value: float, column: Column, row: CatalogRow) -> float:
    if column.kind is ColumnKind.VALUE:
        return in_display_unit(value, quantity_of(row.attribute or "", row.unit))
    return float(value) if column.kind is not ColumnKind.FIGURE else _shown(value, column)


def sort_key(value: CellValue, row: CatalogRow, column: Column) -> tuple[float, str, float]:
    """Return what known values of a column are ordered by: numbers before words, like with like."""
    if column.kind in (ColumnKind.DATE, ColumnKind.AGE):
        ended = end_of(str(value))
        return (0.0, "", float(ended.toordinal())) if ended is not None else (1.0, str(value), 0.0)
    if column.kind is ColumnKind.VALUE and (is_figure(value) or _is_range(value)):
        return 0.0, row.unit or "", float(value[0] if isinstance(value, tuple) else value)
    if isinstance(value, tuple) and value and isinstance(value[0], int | float):
        return 0.0, "", float(value[0])
    if is_figure(value):
        return 0.0, "", float(value)
    if column.kind in (ColumnKind.WORD, ColumnKind.ATTRIBUTE):
        return 1.0, (word if column.kind is ColumnKind.WORD else attribute_text)(value).casefold(), 0.0
    if isinstance(value, tuple):
        return 1.0, ", ".join(map(str, value)).casefold(), 0.0
    return 1.0, str(value).casefold(), 0.0
