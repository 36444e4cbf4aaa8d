"""The sheet as one HTML file without external parts: read in a browser, printed on A4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Final

from gpudesk.report.comparison.tables import (
    TIES,
    CellMarking,
    ComparisonCell,
    ComparisonGroup,
    ComparisonRow,
    ComparisonSheet,
    ComparisonTable,
    Headline,
    LabeledValue,
    SheetDispute,
    SheetRecommendation,
    SheetRemark,
    SheetSource,
    label_tie,
)
from gpudesk.report.decision.recommendation import build_trace_table
from gpudesk.report.decision.rules import describe_effect_marks
from gpudesk.report.labels import format_throughput_title
from gpudesk.report.writers.document import DocumentBlock, list_html_lines, write_html_file
from gpudesk.report.writers.svg import (
    draw_memory_chart,
    draw_memory_legend,
    draw_racks,
    draw_swatch,
    draw_throughput_chart,
)
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

#: Signs after a figure.
_SIGNS: Final[Mapping[CellMarking | None, str]] = {CellMarking.QUEUES: '<span class="queues">△</span>'}
#: With more columns than this they are narrower.
_WIDE_COLUMNS = 4
#: Heights of the throughput chart, in units of its drawing.
_CHART_HEIGHT = 180.0
_LOW_CHART_HEIGHT = 100.0


def write_sheet_html(sheet: ComparisonSheet, appendix: Sequence[DocumentBlock] = ()) -> str:
    """Return the sheet with the blocks of an appendix, whose headings are of the second level and below."""
    further = ['<section class="paper">', *list_html_lines(appendix), "</section>"] if appendix else []
    pages = (*_write_first_page(sheet), *_write_second_page(sheet), *further)
    return write_html_file(sheet.title, ["<body>", "<main>", *pages, "</main>", "</body>"])


def _write_first_page(sheet: ComparisonSheet) -> list[str]:
    brand = f'<p class="brand"><strong>GPU Desk</strong> {escape(tr("Comparison sheet"))}</p>'
    parts = [
        f'<header>{brand}<p class="date">{escape(sheet.date or "")}</p></header>',
        f"<h1>{escape(sheet.title)}</h1>",
    ]
    if sheet.note:
        parts.append(f'<p class="note">{escape(sheet.note)}</p>')
    parts.append(_write_facts(sheet.assumptions, "assumptions"))
    if sheet.verdict:
        parts.append(_write_verdict(sheet.verdict))
    if sheet.fleet is not None:
        parts.append(f"<p>{escape(sheet.fleet.order)}</p>")
    if sheet.recommendation is not None:
        parts.append(_write_recommendation(sheet.recommendation))
    if sheet.headlines:
        items = "".join(
            f'<div><p class="question">{escape(headline.label)}</p>'
            f'<p class="answer">{_write_leader(headline)}'
            f"{escape(headline.text)}</p>"
            f'<p class="detail">{escape(headline.detail)}</p></div>'
            for headline in sheet.headlines
        )
        parts.append(f'<section class="headlines">{items}</section>')
    parts.append(_write_table(sheet.table, sheet, "comparison"))
    parts.append(f'<p class="key">{_write_key(sheet.key)}</p>')
    if sheet.memory or sheet.throughput:
        parts.append(f'<div class="charts">{_write_throughput(sheet)}{_write_memory(sheet)}</div>')
    return parts


def _write_second_page(sheet: ComparisonSheet) -> list[str]:
    parts = [] if sheet.recommendation is None else [_write_recommended(sheet.recommendation)]
    if sheet.how_many.groups:
        parts.append(_write_table(sheet.how_many, sheet, "comparison"))
        parts += [f'<p class="sizing">{escape(remark.text)}.</p>' for remark in sheet.sizing]
    if sheet.costs.groups:
        parts.append(_write_table(sheet.costs, sheet, "comparison"))
    if sheet.fleet is not None:
        parts.append(_write_verdict(sheet.fleet.verdict))
        parts.append(_write_table(sheet.fleet.table, sheet, "comparison"))
        parts.append(draw_racks(sheet.fleet.sketches))
    parts.append('<div class="appendix">')
    if sheet.notes:
        items = "".join(
            f'<li id="note-{note.number}" value="{note.number}">{escape(note.text)}</li>' for note in sheet.notes
        )
        parts.append(_write_section(tr("Notes"), f'<ol class="notes">{items}</ol>'))
    if sheet.remarks:
        parts.append(_write_section(tr("About these estimates"), _write_remarks(sheet.remarks)))
    if sheet.disputes:
        parts.append(_write_section(tr("Also in dispute"), _write_disputes(sheet.disputes)))
    if sheet.whose.groups:
        parts.append(_write_table(sheet.whose, sheet, "whose"))
    if sheet.sources:
        parts.append(_write_section(tr("Sources"), _write_sources(sheet.sources)))
    if sheet.trace:
        parts.append(f'<section class="trace"><h2>{escape(tr("Rules"))}</h2><p>{escape(describe_effect_marks())}</p>')
        parts += [_write_table(build_trace_table(sheet), sheet, "trace"), "</section>"]
    parts += ["</div>", f"<footer>{_write_facts(sheet.foot, 'foot')}</footer>"]
    return parts


def _write_verdict(sentences: Sequence[str]) -> str:
    answer, *others = map(escape, sentences)
    return f'<p class="verdict">{answer}</p>' + (f"<p>{' '.join(others)}</p>" if others else "")


def _write_facts(facts: Iterable[LabeledValue], css_class: str) -> str:
    items = "".join(f"<div><dt>{escape(fact.label)}</dt><dd>{escape(fact.value)}</dd></div>" for fact in facts)
    return f'<dl class="{css_class}">{items}</dl>'


def _write_recommendation(recommendation: SheetRecommendation) -> str:
    mark = "" if recommendation.slot is None else draw_swatch(recommendation.slot, is_variant=recommendation.is_variant)
    reason = f"<p>{escape(recommendation.reason)}</p>" if recommendation.reason else ""
    return (
        '<section class="recommendation"><div>'
        f'<p class="question">{escape(tr("Recommendation"))}</p>'
        f'<p class="answer">{mark}{escape(recommendation.verdict)}</p>{reason}</div>'
        f"{_write_candidates(recommendation)}</section>"
    )


def _write_candidates(recommendation: SheetRecommendation) -> str:
    """Return a row for each candidate: its deployment, a bar of its odds, and the odds."""
    rows = "".join(
        f"<div><dt>{escape(each.deployment)}<br>{escape(each.value)}</dt>"
        f'<dd class="shares"><i class="slot{each.slot}" style="flex-grow:{each.odds:.4f}"></i>'
        f'<i style="flex-grow:{1.0 - each.odds:.4f}"></i></dd><dd>{escape(each.odds_text)}</dd></div>'
        for each in recommendation.candidates
    )
    return f'<dl class="candidates">{rows}</dl>' if rows else ""


def _write_recommended(recommendation: SheetRecommendation) -> str:
    parts = []
    for subject, lines in groupby(recommendation.lines, key=lambda line: line.subject):
        items = "".join(f"<li>{escape(line.text)}.</li>" for line in lines)
        parts.append(f"<div><h3>{escape(subject)}</h3><ul>{items}</ul></div>")
    title = f"<h2>{escape(tr('Why this recommendation'))}</h2>"
    return f'<section class="recommended">{title}{"".join(parts)}</section>' if parts else ""


def _write_leader(headline: Headline) -> str:
    winner = headline.winner
    return "" if winner is None else draw_swatch(winner.slot, is_variant=winner.is_variant)


def _write_table(table: ComparisonTable, sheet: ComparisonSheet, css_class: str) -> str:
    heads = "".join(
        f'<th scope="col">{draw_swatch(head.slot, is_variant=head.is_variant)}'
        f'<span class="name slot{head.slot}">{escape(head.name)}</span>'
        f'<span class="detail">{escape(head.detail)}</span></th>'
        for head in sheet.heads
    )
    narrow = " narrow" if len(sheet.heads) > _WIDE_COLUMNS else ""
    caption = f"<caption>{escape(table.title)}</caption>"
    body = "".join(_write_group(group, len(sheet.heads)) for group in table.groups)
    columns = '<col class="label"><col class="unit">' + "<col>" * len(sheet.heads)
    return (
        f'<table class="{css_class}{narrow}">{caption}<colgroup>{columns}</colgroup>'
        f'<thead><tr><td colspan="2"></td>{heads}</tr></thead>{body}</table>'
    )


def _write_group(group: ComparisonGroup, columns: int) -> str:
    title = (
        f'<tr class="group"><th scope="rowgroup" colspan="{columns + 2}">{escape(group.title)}</th></tr>'
        if group.title
        else ""
    )
    return f"<tbody>{title}{''.join(_write_row(row) for row in group.rows)}</tbody>"


def _write_row(row: ComparisonRow) -> str:
    return (
        f'<tr><th scope="row">{escape(row.label)}{_write_row_detail(row)}</th>'
        f'<td class="unit">{escape(row.unit or "")}</td>'
        f"{''.join(_write_cell(cell) for cell in row.cells)}</tr>"
    )


def _write_row_detail(row: ComparisonRow) -> str:
    return f'<span class="detail">{escape(row.detail)}</span>' if row.detail else ""


def _write_cell(cell: ComparisonCell) -> str:
    notes = ",".join(f'<a href="#note-{number}" class="noted">{number}</a>' for number in cell.notes)
    figure = f'<span class="figure">{escape(cell.text)}</span>'
    sign = f'<span class="tied">{escape(label_tie())}</span>' if cell.mark in TIES else _SIGNS.get(cell.mark, "")
    raised = f"<sup>{notes}</sup>" if notes else ""
    second = "".join(f'<span class="band">{escape(line)}</span>' for line in (cell.band, cell.detail) if line)
    css_class = "" if cell.mark is None else f' class="{cell.mark.value}"'
    return f'<td{css_class}><div>{figure}<span class="gutter">{sign}{raised}</span>{second}</div></td>'


def _write_key(key: Iterable[str]) -> str:
    return " ".join(f"<span>{escape(text)}</span>" for text in key)


def _write_throughput(sheet: ComparisonSheet) -> str:
    if not sheet.throughput:
        return ""
    height = _CHART_HEIGHT if len(sheet.heads) <= _WIDE_COLUMNS else _LOW_CHART_HEIGHT
    chart = draw_throughput_chart(sheet.throughput, sheet.concurrency, height, Formatter())
    title = format_throughput_title(closed_loop=sheet.concurrency is not None)
    return f'<section class="throughput"><h2>{escape(title)}</h2>{chart}</section>'


def _write_memory(sheet: ComparisonSheet) -> str:
    if not sheet.memory:
        return ""
    title = tr("Memory, GiB")
    legend = f'<span class="legend">{draw_memory_legend(sheet.memory[0])}</span>'
    return f'<section class="memory"><h2>{escape(title)} {legend}</h2>{draw_memory_chart(sheet.memory)}</section>'


def _write_section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>{body}</section>"


def _write_remarks(remarks: Iterable[SheetRemark]) -> str:
    items = "".join(
        f"<li>{f'<strong>{escape(remark.subject)}</strong> ' if remark.subject else ''}{escape(remark.text)}.</li>"
        for remark in remarks
    )
    return f'<ul class="remarks">{items}</ul>'


def _write_disputes(disputes: Iterable[SheetDispute]) -> str:
    items = "".join(
        f"<li><strong>{escape(entry.subject)}</strong> {escape(entry.disagreement)} "
        f"{escape(tr('Verdict: {verdict}.', verdict=entry.verdict))} {escape(entry.reason)}</li>"
        for entry in disputes
    )
    return f'<ul class="disputes">{items}</ul>'


def _write_sources(sources: Iterable[SheetSource]) -> str:
    items = "".join(f'<li value="{source.number}">{_write_source(source)}</li>' for source in sources)
    return f'<ol class="sources">{items}</ol>'


def _write_source(source: SheetSource) -> str:
    title = escape(source.title)
    if source.url is not None and source.url.startswith(("https://", "http://")):
        title = f'<a href="{escape(source.url)}">{title}</a>'
    rest = ", ".join(escape(word) for word in (source.publisher, source.kind, source.date) if word)
    return f"{title}. {rest}"
