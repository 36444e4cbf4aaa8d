"""Pages of the manual as text for a terminal: wrapped, with plain marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from gpudesk.report.manual.markdown import (
    Block,
    CodeBlock,
    Heading,
    ItemList,
    ManualTable,
    Paragraph,
    Picture,
    list_texts,
    make_plain,
)
from gpudesk.report.manual.pages import ManualHit, ManualPage
from gpudesk.report.writers.text import align_table, indent_hanging, measure_text, wrap_text
from gpudesk.text.translation import tr

#: Longer lines of prose are hard to read, also in a wide terminal.
_WIDEST: Final = 88
_CODE_INDENT: Final = "    "


def list_page_lines(page: ManualPage, anchor: str, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    """Yield the lines of a page, or of the section that an anchor names: down to the next heading of its level."""
    for number, block in enumerate(_select_blocks(page, anchor)):
        if number and not isinstance(block, Picture):
            yield ""
        yield from _list_block_lines(block, width, strong)


def _select_blocks(page: ManualPage, anchor: str) -> Sequence[Block]:
    if not anchor:
        return page.blocks
    start = next(n for n, block in enumerate(page.blocks) if isinstance(block, Heading) and block.anchor == anchor)
    level = page.blocks[start].level  # type: ignore[union-attr]
    following = range(start + 1, len(page.blocks))
    end = next((n for n in following if isinstance(block := page.blocks[n], Heading) and block.level <= level), None)
    return page.blocks[start:end]


def _list_block_lines(block: Block, width: int, strong: Callable[[str], str]) -> Iterator[str]:
    prose = min(width, _WIDEST)
    match block:
        case Heading(text=text, level=level):
            yield strong(text.upper() if level == 1 else text)
        case Paragraph(text=text):
            yield from wrap_text(make_plain(text), prose)
        case CodeBlock(lines=lines):
            yield from (_CODE_INDENT + line for line in lines)
        case ItemList(ordered=ordered):
            for place, text in enumerate(list_texts(block), 1):
                yield from indent_hanging(f"{place}. " if ordered else "- ", text, prose)
        case ManualTable():
            yield from _list_table_lines(block, width, strong)


def _list_table_lines(table: ManualTable, width: int, strong: Callable[[str], str]) -> list[str]:
    """Return an aligned table, or each row as label and text where the columns leave no room."""
    head = [make_plain(cell) for cell in table.head]
    rows = [[make_plain(cell) for cell in row] for row in table.rows]
    widths = [max(map(measure_text, column)) for column in zip(head, *rows, strict=True)]
    if sum(widths[:-1]) + 2 * len(widths) + 16 <= width:
        return align_table(head, rows, width, strong=strong)
    lines: list[str] = []
    for row in rows:
        lines += wrap_text(row[0], width)
        for label, cell in zip(head[1:], row[1:], strict=True):
            lines += indent_hanging("  ", f"{label}: {cell}" if label else cell, width)
    return lines


def list_topic_lines(topics: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return (name, title) of topics as a table."""
    return align_table((tr("Topic"), tr("Title")), topics, width)


def list_hit_lines(hits: Sequence[ManualHit], width: int, strong: Callable[[str], str]) -> Iterator[str]:
    for hit in hits:
        yield strong(hit.title)
        yield from indent_hanging("  ", hit.excerpt, min(width, _WIDEST))
        yield f"  gpudesk help {hit.topic}"
