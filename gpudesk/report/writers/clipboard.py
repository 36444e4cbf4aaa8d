"""The comparison table for the clipboard: tab-separated text, and HTML that spreadsheets import exactly.

Figures keep all digits. The text follows the number style of the language; the HTML carries the number too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from gpudesk.report.comparison.tables import ComparisonRow, ComparisonTable
from gpudesk.report.writers.safe_text import quote_formula_cell
from gpudesk.text.formatting import NumberStyle
from gpudesk.text.translation import tr

#: A clipboard field: a number, words, or empty.
ClipboardField = float | str | None


@dataclass(frozen=True, slots=True)
class ClipboardTable:
    """The clipboard content, in both formats."""

    text: str
    html: str


def build_comparison_clipping(
    table: ComparisonTable,
    rows: Sequence[ComparisonRow],
    positions: Sequence[int],
    style: NumberStyle,
    *,
    with_heads: bool = True,
) -> ClipboardTable:
    """Return these rows of these columns. With heads come labels, units and intervals; without, only figures."""
    lines: list[list[ClipboardField]]
    if with_heads:
        banded = any(row.cells[position].low is not None for row in rows for position in positions)
        fields: list[ClipboardField] = [tr("Group"), tr("Row"), tr("Unit")]
        for position in positions:
            head = table.heads[position]
            fields.append(f"{head.name}, {head.detail}" if head.detail else head.name)
            if banded:
                fields += [tr("{name} low", name=head.name), tr("{name} high", name=head.name)]
        lines = [fields]
        lines += [_list_fields(table, row, positions, banded=banded) for row in rows]
    else:
        lines = [[row.cells[position].value for position in positions] for row in rows]
    return ClipboardTable(
        "\n".join("\t".join(_format_plain(field, style) for field in line) for line in lines),
        _write_html_table(lines, style),
    )


def _list_fields(
    table: ComparisonTable, row: ComparisonRow, positions: Sequence[int], *, banded: bool
) -> list[ClipboardField]:
    group = next(group.title for group in table.groups if any(each.key == row.key for each in group.rows))
    fields: list[ClipboardField] = [group, row.label, row.unit]
    for position in positions:
        cell = row.cells[position]
        # Words with a second line, such as a deployment with its plan, keep it.
        fields.append(f"{cell.value}, {cell.detail}" if isinstance(cell.value, str) and cell.detail else cell.value)
        if banded:
            fields += [cell.low, cell.high]
    return fields


def format_full_number(value: float, style: NumberStyle) -> str:
    """Return a number with all its digits and the style's decimal sign, without separators."""
    text = f"{value:.15g}"
    if "e" in text:
        text = f"{value:.15f}".rstrip("0").rstrip(".")
    return text.replace(".", style.decimal)


def _format_plain(field: ClipboardField, style: NumberStyle) -> str:
    if field is None:
        return ""
    return quote_formula_cell(" ".join(field.split())) if isinstance(field, str) else format_full_number(field, style)


def _write_html_table(lines: Iterable[Sequence[ClipboardField]], style: NumberStyle) -> str:
    rows = "".join(f"<tr>{''.join(_write_table_cell(field, style) for field in line)}</tr>" for line in lines)
    return f'<html><head><meta charset="utf-8"></head><body><table>{rows}</table></body></html>'


def _write_table_cell(field: ClipboardField, style: NumberStyle) -> str:
    if field is None:
        return "<td></td>"
    if isinstance(field, str):
        return f"<td>{escape(field)}</td>"
    plain = f"{field:.15g}"
    # LibreOffice and Excel read this in place of the text, in any language.
    return f'<td sdval="{plain}" sdnum="1033;" x:num="{plain}">{format_full_number(field, style)}</td>'
