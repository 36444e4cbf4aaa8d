"""The sheet as Markdown: tables that read well as plain text too."""

from __future__ import annotations

from collections.abc import Iterable

from gpudesk.sheets.plain_text import markdown_text as escaped
from gpudesk.sheets.recommendation import trace_table
from gpudesk.sheets.rule_words import effects_key
from gpudesk.sheets.sheet import Cell, Mark, Recommendation, Row, Sheet, SourceEntry, Table
from gpudesk.text import tr


def sheet_markdown(sheet: Sheet) -> str:
    """Return the file's contents."""
    blocks = [f"# {escaped(sheet.title)}", escaped(sheet.note)]
    blocks.append(_facts(sheet))
    if sheet.recommendation is not None:
        blocks += _recommendation(sheet.recommendation)
    blocks += [
        f"**{escaped(line.question)}: {escaped(line.answer)}.** {escaped(line.detail)}"
        for line in sheet.headlines
    ]
    blocks += _table(sheet.table, sheet)
    blocks.append(f"{tr('**Bold**: best in the row.')} {tr('≈ no winner: within their bands.')}")
    blocks += _table(sheet.how_many, sheet)
    blocks += [f"{escaped(remark.text)}." for remark in sheet.sizing]
    blocks += _table(sheet.costs, sheet)
    blocks += _section(tr("Notes"), (f"{note.number}. {escaped(note.text)}" for note in sheet.notes))
    blocks += _section(
        tr("About these estimates"),
        (
            f"- {f'**{escaped(remark.subject)}** ' if remark.subject else ''}{escaped(remark.text)}."
            for remark in sheet.remarks
        ),
    )
    blocks += _section(
        tr("Also in dispute"),
        (
            f"- **{escaped(entry.subject)}** {escaped(entry.disagreement)} "
            f"{escaped(tr('Verdict: {verdict}.', verdict=entry.verdict))} {escaped(entry.reason)}"
            for entry in sheet.disputes
        ),
    )
    blocks += _table(sheet.whose, sheet)
    blocks += _section(tr("Sources"), (_source(source) for source in sheet.sources))
    if sheet.trace:
        blocks += _table(trace_table(sheet.trace), sheet)
        blocks.append(escaped(effects_key()))
    blocks.append(" · ".join(f"{escaped(fact.label)} {escaped(fact.value)}" for fact in sheet.foot))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _facts(sheet: Sheet) -> str:
    facts = [f"{escaped(fact.label)}: {escaped(fact.value)}" for fact in sheet.assumptions]
    if sheet.date:
        facts.append(escaped(sheet.date))
    return " · ".join(facts)


def _recommendation(found: Recommendation) -> list[str]:
    lines = (f"- **{escaped(line.subject)}** {escaped(line.text)}." for line in found.lines)
    firm = f"{escaped(found.firm)}{f': {escaped(found.shares_said)}' if found.shares else ''}."
    said = f"**{escaped(found.verdict)}.** {escaped(found.reason)} {firm}"
    return [f"## {escaped(tr('Recommendation'))}", said, "\n".join(lines)]


def _section(title: str, items: Iterable[str]) -> list[str]:
    lines = list(items)
    return [f"## {escaped(title)}", "\n".join(lines)] if lines else []


def _table(table: Table, sheet: Sheet) -> list[str]:
    if not table.groups:
        return []
    heads = ["", tr("Unit"), *(head.name for head in sheet.heads)]
    lines = [_line(heads), "|---|---|" + "---:|" * len(sheet.heads)]
    for group in table.groups:
        if group.title:
            lines.append(_line([f"**{escaped(group.title)}**", *[""] * (len(heads) - 1)], escape=False))
        lines += [_row(row) for row in group.rows]
    return [f"## {escaped(table.title)}", "\n".join(lines)]


def _row(row: Row) -> str:
    label = f"{row.label}; {row.detail}" if row.detail else row.label
    cells = [escaped(label), escaped(row.unit or ""), *(_cell(cell) for cell in row.cells)]
    return _line(cells, escape=False)


def _cell(cell: Cell) -> str:
    text = escaped(cell.text)
    if cell.mark in (Mark.BEST, Mark.TIED):
        text = f"**{text}**"
    if cell.mark in (Mark.TIED, Mark.OPEN):
        text = f"{text} ≈"
    second = ", ".join(escaped(line) for line in (cell.band, cell.detail) if line)
    notes = f" \\[{', '.join(map(str, cell.notes))}\\]" if cell.notes else ""
    return f"{text}{f' ({second})' if second else ''}{notes}"


def _line(cells: Iterable[str], *, escape: bool = True) -> str:
    return "| " + " | ".join(escaped(cell) if escape else cell for cell in cells) + " |"


def _source(source: SourceEntry) -> str:
    title = escaped(source.title)
    if source.url is not None and source.url.startswith(("https://", "http://")):
        title = f"[{title}](<{source.url}>)"
    rest = ", ".join(escaped(word) for word in (source.publisher, source.kind, source.date) if word)
    return f"{source.number}. {title}. {rest}"
