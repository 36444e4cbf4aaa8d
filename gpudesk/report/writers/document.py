"""Short documents of headings, paragraphs, lists and tables, as Markdown and as one HTML file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from gpudesk import paths
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.writers.safe_text import escape_markdown as escaped
from gpudesk.report.writers.safe_text import make_visible
from gpudesk.text.translation import get_language, tr


@frozen_dataclass
class DocumentHeading:
    """A heading; level 1 is the title."""

    level: int
    text: str


@frozen_dataclass
class DocumentParagraph:
    """A paragraph; a strong one must stand out."""

    text: str
    strong: bool = False


@frozen_dataclass
class BulletList:
    """A list of lines."""

    lines: tuple[str, ...]


@frozen_dataclass
class CheckList:
    """Points with a note, each done or not."""

    points: tuple[tuple[bool, str, str], ...]


@frozen_dataclass
class DocumentTable:
    """A table: its head, and rows with the same number of cells."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


DocumentBlock = DocumentHeading | DocumentParagraph | BulletList | CheckList | DocumentTable


# Markdown


def write_blocks_markdown(blocks: Sequence[DocumentBlock]) -> str:
    """Return a document as Markdown, with all texts escaped."""
    return "\n\n".join("\n".join(_write_markdown(block)) for block in blocks) + "\n"


def _write_markdown(block: DocumentBlock) -> Iterator[str]:
    match block:
        case DocumentHeading(level, text):
            yield f"{'#' * level} {escaped(text)}"
        case DocumentParagraph(text, strong):
            yield f"**{escaped(text)}**" if strong else escaped(text)
        case BulletList(lines):
            yield from (f"- {escaped(line)}" for line in lines)
        case CheckList(points):
            for is_done, text, note in points:
                text_line = escaped(tr("{text}: {note}", text=text, note=note) if note else text)
                yield f"- [{'x' if is_done else ' '}] {text_line}"
        case DocumentTable(head, rows):
            yield f"| {' | '.join(map(escaped, head))} |"
            yield "|" + "---|" * len(head)
            yield from (f"| {' | '.join(map(escaped, row))} |" for row in rows)


# HTML


def write_blocks_html(title: str, blocks: Sequence[DocumentBlock]) -> str:
    """Return a document as one HTML file."""
    return write_html_file(title, ['<body><main class="paper">', *list_html_lines(blocks), "</main></body>"])


def write_html_file(title: str, body: Iterable[str]) -> str:
    """Return a self-contained HTML file that prints on A4, with the lines of its body."""
    style = "\n".join(paths.resource(f"sheets/{name}.css").read_text(encoding="utf-8") for name in ("sheet", "paper"))
    head = (
        '<meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light">'
        f"<title>{_escape_text(title)}</title>"
        f"<style>{style}</style>"
    )
    page = ["<!DOCTYPE html>", f'<html lang="{get_language()}">', f"<head>{head}</head>"]
    return "\n".join([*page, *body, "</html>", ""])


def list_html_lines(blocks: Sequence[DocumentBlock]) -> list[str]:
    """Return the lines of an HTML element of the class `paper`, which `sheets/paper.css` styles."""
    return [line for block in blocks for line in _write_html(block)]


def _write_html(block: DocumentBlock) -> Iterator[str]:
    match block:
        case DocumentHeading(level, text):
            yield f"<h{level}>{_escape_text(text)}</h{level}>"
        case DocumentParagraph(text, strong):
            yield f"<p{' class=warning' if strong else ''}>{_escape_text(text)}</p>"
        case BulletList(lines):
            yield f"<ul>{''.join(f'<li>{_escape_text(line)}</li>' for line in lines)}</ul>"
        case CheckList(points):
            yield f'<ul class="ticks">{"".join(_write_tick(*point) for point in points)}</ul>'
        case DocumentTable(head, rows):
            heads = "".join(f"<th>{_escape_text(each)}</th>" for each in head)
            yield f'<table class="grid"><thead><tr>{heads}</tr></thead><tbody>'
            for row in rows:
                yield f"<tr>{''.join(f'<td>{_escape_text(each)}</td>' for each in row)}</tr>"
            yield "</tbody></table>"


def _write_tick(is_done: bool, text: str, note: str) -> str:
    mark = "☑" if is_done else "☐"
    state = tr("done") if is_done else tr("open")
    note_html = f'<span class="said">{_escape_text(note)}</span>' if note else ""
    return f'<li><span class="mark" aria-label="{escape(state)}">{mark}</span>{_escape_text(text)}{note_html}</li>'


def _escape_text(text: str) -> str:
    return escape(make_visible(text))
