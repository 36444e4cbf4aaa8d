"""A table as JSON for programs: one object a row, its keys in order, null for what is not known."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from gpudesk.sheets.json import source_fields
from gpudesk.sheets.plain_text import whole_text
from gpudesk.sheets.table_export import ExportTable, known


def table_json(table: ExportTable) -> bytes:
    """Return the file's contents, a line for each row, column, source and note."""
    keys = [column.key for column in table.head]
    sections: dict[str, list[Any]] = {
        "columns": [
            {"key": column.key, "name": column.name, "unit": column.unit, "about": column.about}
            for column in table.head
        ],
        "notes": list(table.notes),
        "rows": [dict(zip(keys, map(known, row), strict=True)) for row in table.rows],
        "sources": [source_fields(source) for source in table.sources],
    }
    lines = ",\n".join(f'"{name}": {_listed(items)}' for name, items in sections.items())
    return f'{{\n{lines},\n"title": {_line(table.title)}\n}}\n'.encode()


def _listed(items: Iterable[Any]) -> str:
    lines = ",\n".join(map(_line, items))
    return f"[\n{lines}\n]" if lines else "[]"


def _line(value: object) -> str:
    # Written item by item, since only lines without indents are written fast.
    return whole_text(json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True))
