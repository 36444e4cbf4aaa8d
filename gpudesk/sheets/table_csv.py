"""A table as CSV after RFC 4180, in UTF-8: numbers have a point and no separators, the unknown is empty."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from gpudesk.sheets.plain_text import safe_text
from gpudesk.sheets.table_export import CellValue, ExportTable, known


def table_csv(table: ExportTable) -> bytes:
    """Return the file's contents: a line of heads, then the rows. No text in it is run by a spreadsheet."""
    lines = [[safe_text(column.head) for column in table.head]]
    lines += [[_written(value) for value in row] for row in table.rows]
    return csv_text(lines).encode()


def csv_text(lines: Iterable[Iterable[str]]) -> str:
    """Return lines of cells that are safe already as CSV; lines end as RFC 4180 has them."""
    target = io.StringIO()
    csv.writer(target).writerows(lines)
    return target.getvalue()


def _written(value: CellValue) -> str:
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if known(value) is None:
        return ""
    return repr(value)
