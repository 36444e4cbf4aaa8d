"""Sheets and tables as Markdown that reads well as plain text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from gpudesk.domain.claim import Source
from gpudesk.report.comparison.tables import (
    TIES,
    CellMarking,
    ComparisonCell,
    ComparisonRow,
    ComparisonSheet,
    ComparisonTable,
    SheetRecommendation,
    SheetSource,
    label_tie,
)
from gpudesk.report.decision.recommendation import build_trace_table
from gpudesk.report.decision.rules import describe_effect_marks
from gpudesk.report.writers.document import DocumentBlock, write_blocks_markdown
from gpudesk.report.writers.export_table import ExportCellKind, ExportRow, ExportTable, ExportValue, drop_not_finite
from gpudesk.report.writers.safe_text import escape_markdown as escaped
from gpudesk.text.formatting import MISSING_VALUE_TEXT
from gpudesk.text.translation import tr

_NUMBERS = frozenset({ExportCellKind.NUMBER, ExportCellKind.MIXED})


def write_table_markdown(table: ExportTable) -> bytes:
    """Return the file's contents. Columns about a figure become the number of its source next to it."""
    numbers = {source.id: number for number, source in enumerate(table.sources, start=1)}
    columns = [place for place, column in enumerate(table.head) if column.about is None]
    places = {column.key: place for place, column in enumerate(table.head)}
    whose: dict[int, int] = {}
    for place, column in enumerate(table.head):
        if column.about is not None:
            whose.setdefault(places[column.about], place)
    heads = [table.head[place] for place in columns]
    lines = [
        _write_table_line(escaped(column.head) for column in heads),
        _write_table_line("---:" if column.kind in _NUMBERS else "---" for column in heads),
        *(
            _write_table_line(_write_table_cell(row, place, whose.get(place), numbers) for place in columns)
            for row in table.rows
        ),
    ]
    blocks = [f"# {escaped(table.title)}", *map(escaped, table.notes), "\n".join(lines)]
    if table.sources:
        blocks += [f"## {escaped(tr('Sources'))}", "\n".join(_write_table_sources(table.sources))]
    return ("\n\n".join(blocks) + "\n").encode()


def _write_table_cell(row: ExportRow, place: int, whose: int | None, numbers: dict[str, int]) -> str:
    text = _write_table_value(row[place])
    number = None if whose is None else numbers.get(str(row[whose]))
    return text if number is None else f"{text} \\[{number}\\]"


def _write_table_value(value: ExportValue) -> str:
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if drop_not_finite(value) is None:
        return MISSING_VALUE_TEXT
    return repr(value)


def _write_table_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _write_table_sources(sources: Sequence[Source]) -> Iterable[str]:
    for number, source in enumerate(sources, start=1):
        words = (source.title, source.publisher, source.kind.label, source.date, source.url)
        yield f"{number}. {', '.join(escaped(word) for word in words if word)}"


def write_sheet_markdown(sheet: ComparisonSheet, appendix: Sequence[DocumentBlock] = ()) -> str:
    """Return the sheet with the blocks of an appendix, whose headings are of the second level and below."""
    blocks = [f"# {escaped(sheet.title)}", escaped(sheet.note)]
    blocks.append(_write_facts(sheet))
    if sheet.verdict:
        blocks.append(_write_verdict(sheet.verdict))
    if sheet.recommendation is not None:
        blocks += _write_recommendation(sheet.recommendation)
    blocks += [f"**{escaped(line.label)}: {escaped(line.text)}.** {escaped(line.detail)}" for line in sheet.headlines]
    blocks += _write_sheet_table(sheet.table, sheet)
    blocks.append(
        " ".join(
            (tr("**Bold**: best in row."), tr("{tie}: too close to call.", tie=label_tie()), tr("△ requests queue."))
        )
    )
    blocks += _write_sheet_table(sheet.how_many, sheet)
    blocks += [f"{escaped(remark.text)}." for remark in sheet.sizing]
    blocks += _write_sheet_table(sheet.costs, sheet)
    if sheet.fleet is not None:
        blocks.append(_write_verdict(sheet.fleet.verdict))
        blocks += _write_sheet_table(sheet.fleet.table, sheet)
    blocks += _write_section(tr("Notes"), (f"{note.number}. {escaped(note.text)}" for note in sheet.notes))
    blocks += _write_section(
        tr("About these estimates"),
        (
            f"- {f'**{escaped(remark.subject)}** ' if remark.subject else ''}{escaped(remark.text)}."
            for remark in sheet.remarks
        ),
    )
    blocks += _write_section(
        tr("Also in dispute"),
        (
            f"- **{escaped(entry.subject)}** {escaped(entry.disagreement)} "
            f"{escaped(tr('Verdict: {verdict}.', verdict=entry.verdict))} {escaped(entry.reason)}"
            for entry in sheet.disputes
        ),
    )
    blocks += _write_sheet_table(sheet.whose, sheet)
    blocks += _write_section(tr("Sources"), (_write_source(source) for source in sheet.sources))
    if sheet.trace:
        blocks += _write_sheet_table(build_trace_table(sheet), sheet)
        blocks.append(escaped(describe_effect_marks()))
    blocks.append(" · ".join(f"{escaped(fact.label)} {escaped(fact.value)}" for fact in sheet.foot))
    text = "\n\n".join(block for block in blocks if block) + "\n"
    return f"{text}\n{write_blocks_markdown(appendix)}" if appendix else text


def _write_verdict(sentences: Sequence[str]) -> str:
    answer, *others = map(escaped, sentences)
    return " ".join((f"**{answer}**", *others))


def _write_facts(sheet: ComparisonSheet) -> str:
    facts = [f"{escaped(fact.label)}: {escaped(fact.value)}" for fact in sheet.assumptions]
    if sheet.date:
        facts.append(escaped(sheet.date))
    return " · ".join(facts)


def _write_recommendation(recommendation: SheetRecommendation) -> list[str]:
    blocks = [
        f"## {escaped(tr('Recommendation'))}",
        f"**{escaped(recommendation.verdict)}**",
        *((escaped(recommendation.reason),) if recommendation.reason else ()),
    ]
    if recommendation.candidates:
        head, *rows = (
            _write_table_line(map(escaped, cells))
            for cells in (
                (tr("Deployment"), tr("Figure"), tr("Odds")),
                *((each.deployment, each.value, each.odds_text) for each in recommendation.candidates),
            )
        )
        blocks.append("\n".join((head, "|---|---|---:|", *rows)))
    for subject, lines in groupby(recommendation.lines, key=lambda line: line.subject):
        blocks += [f"### {escaped(subject)}", "\n".join(f"- {escaped(line.text)}." for line in lines)]
    return blocks


def _write_section(title: str, items: Iterable[str]) -> list[str]:
    lines = list(items)
    return [f"## {escaped(title)}", "\n".join(lines)] if lines else []


def _write_sheet_table(table: ComparisonTable, sheet: ComparisonSheet) -> list[str]:
    if not table.groups:
        return []
    heads = ["", tr("Unit"), *(head.name for head in sheet.heads)]
    lines = [_write_table_line(map(escaped, heads)), "|---|---|" + "---:|" * len(sheet.heads)]
    for group in table.groups:
        if group.title:
            lines.append(_write_table_line([f"**{escaped(group.title)}**", *[""] * (len(heads) - 1)]))
        lines += [_write_sheet_row(row) for row in group.rows]
    return [f"## {escaped(table.title)}", "\n".join(lines)]


def _write_sheet_row(row: ComparisonRow) -> str:
    label = f"{row.label}; {row.detail}" if row.detail else row.label
    cells = [escaped(label), escaped(row.unit or ""), *(_write_sheet_cell(cell) for cell in row.cells)]
    return _write_table_line(cells)


def _write_sheet_cell(cell: ComparisonCell) -> str:
    text = escaped(cell.text)
    if cell.mark in (CellMarking.BEST, CellMarking.TIED):
        text = f"**{text}**"
    if cell.mark in TIES:
        text = f"{text} {label_tie()}"
    elif cell.mark is CellMarking.QUEUES:
        text = f"{text} △"
    second = ", ".join(escaped(line) for line in (cell.band, cell.detail) if line)
    notes = f" \\[{', '.join(map(str, cell.notes))}\\]" if cell.notes else ""
    return f"{text}{f' ({second})' if second else ''}{notes}"


def _write_source(source: SheetSource) -> str:
    title = escaped(source.title)
    if source.url is not None and source.url.startswith(("https://", "http://")):
        title = f"[{title}](<{source.url}>)"
    rest = ", ".join(escaped(word) for word in (source.publisher, source.kind, source.date) if word)
    return f"{source.number}. {title}. {rest}"
