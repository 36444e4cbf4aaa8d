"""The sheet as Markdown: tables that read well as plain text too."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpudesk.sheets.sheet import Cell, Mark, Row, Sheet, SourceEntry, Table
from gpudesk.text import tr

#: What Markdown would take for markup.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~])")


def sheet_markdown(sheet: Sheet) -> str:
    """Return the file's contents."""
    blocks = [f"# {_escaped(sheet.title)}", _escaped(sheet.note)]
    blocks.append(_facts(sheet))
    blocks += [
        f"**{_escaped(line.question)}: {_escaped(line.answer)}.** {_escaped(line.detail)}"
        for line in sheet.headlines
    ]
    blocks += _table(sheet.table, sheet)
    blocks.append(f"{tr('**Bold**: best in the row.')} {tr('≈ no winner: within their bands.')}")
    blocks += _section(tr("Notes"), (f"{note.number}. {_escaped(note.text)}" for note in sheet.notes))
    blocks += _section(
        tr("About these estimates"),
        (
            f"- {f'**{_escaped(remark.subject)}** ' if remark.subject else ''}{_escaped(remark.text)}."
            for remark in sheet.remarks
        ),
    )
    blocks += _section(
        tr("Also in dispute"),
        (
            f"- **{_escaped(entry.subject)}** {_escaped(entry.disagreement)} "
            f"{_escaped(tr('Verdict: {verdict}.', verdict=entry.verdict))} {_escaped(entry.reason)}"
            for entry in sheet.disputes
        ),
    )
    blocks += _table(sheet.whose, sheet)
    blocks += _section(tr("Sources"), (_source(source) for source in sheet.sources))
    blocks.append(" · ".join(f"{_escaped(fact.label)} {_escaped(fact.value)}" for fact in sheet.foot))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _facts(sheet: Sheet) -> str:
    facts = [f"{_escaped(fact.label)}: {_escaped(fact.value)}" for fact in sheet.assumptions]
    if sheet.date:
        facts.append(_escaped(sheet.date))
    return " · ".join(facts)


def _section(title: str, items: Iterable[str]) -> list[str]:
    lines = list(items)
    return [f"## {_escaped(title)}", "\n".join(lines)] if lines else []


def _table(table: Table, sheet: Sheet) -> list[str]:
    if not table.groups:
        return []
    heads = ["", tr("Unit"), *(head.name for head in sheet.heads)]
    lines = [_line(heads), "|---|---|" + "---:|" * len(sheet.heads)]
    for group in table.groups:
        if group.title:
            lines.append(_line([f"**{_escaped(group.title)}**", *[""] * (len(heads) - 1)], escape=False))
        lines += [_row(row) for row in group.rows]
    return [f"## {_escaped(table.title)}", "\n".join(lines)]


def _row(row: Row) -> str:
    cells = [_escaped(row.label), _escaped(row.unit or ""), *(_cell(cell) for cell in row.cells)]
    return _line(cells, escape=False)


def _cell(cell: Cell) -> str:
    text = _escaped(cell.text)
    if cell.mark in (Mark.BEST, Mark.TIED):
        text = f"**{text}**"
    if cell.mark in (Mark.TIED, Mark.OPEN):
        text = f"{text} ≈"
    second = ", ".join(_escaped(line) for line in (cell.band, cell.detail) if line)
    notes = f" \\[{', '.join(map(str, cell.notes))}\\]" if cell.notes else ""
    return f"{text}{f' ({second})' if second else ''}{notes}"


def _line(cells: Iterable[str], *, escape: bool = True) -> str:
    return "| " + " | ".join(_escaped(cell) if escape else cell for cell in cells) + " |"


def _source(source: SourceEntry) -> str:
    title = _escaped(source.title)
    if source.url is not None and source.url.startswith(("https://", "http://")):
        title = f"[{title}](<{source.url}>)"
    rest = ", ".join(_escaped(word) for word in (source.publisher, source.kind, source.date) if word)
    return f"{source.number}. {title}. {rest}"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text.replace("\n", " "))
