"""Tables to export: typed cells in named columns, with their sources.

A table has no layout. Every format holds the same rows; CSV leaves title, notes and sources out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final

from gpudesk.domain.claim import AttributeClaims, Claim, ClaimStatus, Source, SourceKind
from gpudesk.domain.registry import find_quantity
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue, Quantity, convert_to_display_unit, get_display_unit
from gpudesk.text.translation import tr

#: None if unknown. Dates are ISO text: a year, a month or a day.
ExportValue = str | bool | int | float | None


class ExportCellKind(StrEnum):
    """The type of a column's cells; figures of several units are `MIXED`."""

    TEXT = "text"
    DATE = "date"
    NUMBER = "number"
    YES_NO = "yes or no"
    MIXED = "mixed"


@frozen_dataclass
class ExportColumn:
    """A column: `key` names it for programs, `name` for people; `unit` is that of its figures.

    `about` is the key of the figure whose source, kind or date the column states: it can be collapsed. `value` gives
    the cell of a record; by default that is the attribute of the record with the column's key.
    """

    key: str
    name: str
    unit: str | None = None
    kind: ExportCellKind = ExportCellKind.TEXT
    about: str | None = None
    value: Callable[[Any], ExportValue] | None = field(default=None, compare=False, repr=False)

    @property
    def head(self) -> str:
        return f"{self.name} ({self.unit})" if self.unit else self.name


ExportRow = tuple[ExportValue, ...]


@frozen_dataclass
class ExportTable:
    """Rows below a head, with the sources that they name by id."""

    title: str
    head: tuple[ExportColumn, ...]
    rows: Sequence[ExportRow]
    notes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


def make_rows(columns: Sequence[ExportColumn], records: Iterable[object]) -> list[ExportRow]:
    getters = [column.value or attrgetter(column.key) for column in columns]
    return [tuple(get(record) for get in getters) for record in records]


def drop_not_finite(value: ExportValue) -> ExportValue:
    return None if isinstance(value, float) and not math.isfinite(value) else value


class ExportFormat(StrEnum):
    """Formats of a table, by file suffix."""

    CSV = ".csv"
    XLSX = ".xlsx"
    JSON = ".json"
    MARKDOWN = ".md"


#: For programs: figures in internal units.
MACHINE_FORMATS: Final = frozenset({ExportFormat.JSON})


#: Digits kept of a figure in its displayed unit, which removes rounding noise.
_DIGITS: Final = 12
#: Units already implied by the name of a count.
UNITS_SAID_BY_NAME: Final = frozenset({"stacks", "generation"})


@frozen_dataclass
class ExportCellConverter:
    """Makes cells. For programs figures are in internal units, and words are ids."""

    for_programs: bool = False

    def value(self, value: ClaimValue, attribute: str, unit: str | None) -> ExportValue:
        """Return a claimed value; a list of words in one cell."""
        if isinstance(value, tuple):
            return ", ".join(value)
        if self.for_programs or isinstance(value, str | bool) or value is None:
            return value
        display_value = float(f"{convert_to_display_unit(value, find_quantity(attribute, unit)):.{_DIGITS}g}")
        return int(display_value) if display_value.is_integer() else display_value

    def unit(self, attribute: str, unit: str | None) -> str | None:
        """Return the unit of the values of `value`; None for words and plain counts."""
        if self.for_programs:
            return unit
        quantity = find_quantity(attribute, unit)
        count_unit = None if quantity is not Quantity.COUNT or unit in UNITS_SAID_BY_NAME else unit
        return get_display_unit(quantity) or count_unit

    def kind(self, kind: SourceKind) -> str:
        return kind.value if self.for_programs else kind.label

    def stance(self, stance: ClaimStatus) -> str:
        return stance.value if self.for_programs else stance.label

    def whose(self, claim: Claim | None) -> tuple[ExportValue, ...]:
        """Return the cells of `whose_columns`; empty ones without a claim."""
        if claim is None:
            return (None, None, None, None)
        return (claim.source.id, self.kind(claim.kind), claim.source.date, claim.own)


def list_source_columns(get_source: Callable[[Any], Source] = attrgetter("source")) -> tuple[ExportColumn, ...]:
    """Return the columns that name the source of a record."""
    return (
        ExportColumn("source", tr("Source"), value=lambda each: get_source(each).id),
        ExportColumn("source_title", tr("Title"), value=lambda each: get_source(each).title),
        ExportColumn("publisher", tr("Publisher"), value=lambda each: get_source(each).named_publisher),
        ExportColumn("url", tr("URL"), value=lambda each: get_source(each).url),
    )


def list_provenance_columns(name: str, label: str) -> tuple[ExportColumn, ...]:
    return (
        ExportColumn(f"{name}_source", tr("{figure}: source", figure=label), about=name),
        ExportColumn(f"{name}_kind", tr("{figure}: kind", figure=label), about=name),
        ExportColumn(f"{name}_date", tr("{figure}: date", figure=label), kind=ExportCellKind.DATE, about=name),
        ExportColumn(f"{name}_own", tr("{figure}: yours", figure=label), kind=ExportCellKind.YES_NO, about=name),
    )


def merge_attribute_names(things: Mapping[str, Mapping[str, AttributeClaims]]) -> list[str]:
    """Return the names of the attributes of all entries, each after the one that it follows somewhere."""
    names: list[str] = []
    for attributes in things.values():
        place = 0
        for name in attributes:
            if name in names:
                place = names.index(name) + 1
            else:
                names.insert(place, name)
                place += 1
    return names


def build_sources_table(sources: Iterable[Source], cells: ExportCellConverter) -> ExportTable:
    head = (
        ExportColumn("source", tr("Source"), value=attrgetter("id")),
        ExportColumn("title", tr("Title")),
        ExportColumn("publisher", tr("Publisher"), value=attrgetter("named_publisher")),
        ExportColumn("kind", tr("Kind"), value=lambda source: cells.kind(source.kind)),
        ExportColumn("date", tr("Date"), kind=ExportCellKind.DATE),
        ExportColumn("url", tr("URL")),
        ExportColumn("remark", tr("Note"), value=attrgetter("trust")),
        ExportColumn("own", tr("Yours"), kind=ExportCellKind.YES_NO),
    )
    return ExportTable(tr("Sources"), head, make_rows(head, sources))
