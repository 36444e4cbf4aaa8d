"""Tables for the clipboard, with the figures that the window shows: tab-separated text and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.comparison.tables import ComparisonRow, ComparisonTable
from gpudesk.report.writers.safe_text import quote_formula
from gpudesk.text.formatting import NumberStyle
from gpudesk.text.translation import tr

_MINUS: Final = "\N{MINUS SIGN}"
#: A number as any language shows it, also as a percentage. Spreadsheets only know the ASCII minus.
_SHOWN_NUMBER: Final = re.compile(r"[+\-\N{MINUS SIGN}]?\d[\d.,]*(?:\s?%)?")


@frozen_dataclass
class ClipboardTable:
    """The clipboard content, in both formats."""

    text: str
    html: str


def format_tab_separated(lines: Iterable[Sequence[str]]) -> str:
    """Return lines of cells as text for spreadsheets: one line for each, and nothing that runs as a formula."""
    return "\n".join("\t".join(map(_format_field, line)) for line in lines)


def _format_field(text: str) -> str:
    if _SHOWN_NUMBER.fullmatch(text):
        return text.replace(_MINUS, "-")
    return quote_formula(" ".join(text.split()))


def build_comparison_clipping(
    table: ComparisonTable,
    rows: Sequence[ComparisonRow],
    positions: Sequence[int],
    style: NumberStyle,
    *,
    with_heads: bool = True,
) -> ClipboardTable:
    """Return these rows of these columns. With heads come labels, units and intervals; without, only figures."""
    if with_heads:
        banded = any(row.cells[position].low is not None for row in rows for position in positions)
        fields = [tr("Group"), tr("Row"), tr("Unit")]
        for position in positions:
            head = table.heads[position]
            fields.append(f"{head.name}, {head.detail}" if head.detail else head.name)
            if banded:
                fields += [tr("{name} low", name=head.name), tr("{name} high", name=head.name)]
        lines = [fields, *(_list_fields(table, row, positions, banded=banded) for row in rows)]
    else:
        lines = [[row.cells[position].text for position in positions] for row in rows]
    return ClipboardTable(format_tab_separated(lines), _write_html_table(lines, style))


def _list_fields(table: ComparisonTable, row: ComparisonRow, positions: Sequence[int], *, banded: bool) -> list[str]:
    group = next(group.title for group in table.groups if any(each.key == row.key for each in group.rows))
    fields = [group, row.label, row.unit or ""]
    for position in positions:
        cell = row.cells[position]
        # Words with a second line, such as a deployment with its plan, keep it.
        fields.append(f"{cell.text}, {cell.detail}" if isinstance(cell.value, str) and cell.detail else cell.text)
        if banded:
            fields += [cell.low_text or "", cell.high_text or ""]
    return fields


def _write_html_table(lines: Iterable[Sequence[str]], style: NumberStyle) -> str:
    rows = "".join(f"<tr>{''.join(_write_table_cell(text, style) for text in line)}</tr>" for line in lines)
    return f'<html><head><meta charset="utf-8"></head><body><table>{rows}</table></body></html>'


def _write_table_cell(text: str, style: NumberStyle) -> str:
    if _SHOWN_NUMBER.fullmatch(text) is None or text.endswith("%"):
        return f"<td>{escape(text)}</td>"
    plain = text.replace(_MINUS, "-").replace(style.thousands, "").replace(style.decimal, ".")
    # LibreOffice and Excel read this in place of the text, in any language.
    return f'<td sdval="{plain}" sdnum="1033;" x:num="{plain}">{text}</td>'
