"""Tables to hand on: typed cells under named columns, and the files that they are written to.

A table says nothing about its looks. Every form holds the same rows; CSV, which has room for one table
alone, leaves title, notes and the list of sources out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import IO, Final

from gpudesk.domain.claims import Source

#: None where nothing is known. Dates are ISO text: a year, a month or a day.
CellValue = str | bool | int | float | None


class CellKind(StrEnum):
    """What the cells of a column hold; a column of figures of several units is `MIXED`."""

    TEXT = "text"
    DATE = "date"
    NUMBER = "number"
    YES_NO = "yes or no"
    MIXED = "mixed"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `key` names it for programs, `name` for people; `unit` is that of its figures.

    `about` is the key of the figure whose source, kind or date the column states: it can be folded away.
    """

    key: str
    name: str
    unit: str | None = None
    kind: CellKind = CellKind.TEXT
    about: str | None = None

    @property
    def head(self) -> str:
        """The name with the unit."""
        return f"{self.name} ({self.unit})" if self.unit else self.name


Row = tuple[CellValue, ...]


@dataclass(frozen=True, slots=True)
class ExportTable:
    """Rows under a head, with the sources that they name by their ids."""

    title: str
    head: tuple[Column, ...]
    rows: Sequence[Row]
    notes: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()


def known(value: CellValue) -> CellValue:
    """Return the value, or None for a number that is none."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Form(StrEnum):
    """Forms of a table, by the suffix of its file."""

    CSV = ".csv"
    XLSX = ".xlsx"
    JSON = ".json"
    MARKDOWN = ".md"


#: For programs: figures there are in the units used inside.
MACHINE_FORMS: Final = frozenset({Form.JSON})


def write_table(table: ExportTable, form: Form, file: IO[bytes]) -> None:
    """Write a table in one form; raises OSError where the file takes no more."""
    if form is Form.XLSX:
        from gpudesk.sheets.table_xlsx import write_xlsx

        write_xlsx([table], file)
    elif form is Form.CSV:
        from gpudesk.sheets.table_csv import table_csv

        file.write(table_csv(table))
    elif form is Form.JSON:
        from gpudesk.sheets.table_json import table_json

        file.write(table_json(table))
    else:
        from gpudesk.sheets.table_markdown import table_markdown

        file.write(table_markdown(table))
