"""The Markdown of the manual as blocks, and these as HTML.

The subset: headings, paragraphs, lists of one level, tables, fenced code, and pictures on a line by themselves;
within a line code, bold, emphasis and links.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

_FENCE: Final = "```"
#: A name of its own in links may follow in braces, so that the words can change.
_HEADING: Final = re.compile(r"(#{1,4}) +(.+?)(?: +\{#([\w-]+)\})?")
_PICTURE: Final = re.compile(r"!\[([^\]]*)\]\(([^)]+)\)")
_ITEM: Final = re.compile(r"(?:[-*]|(\d+)\.) +(.+)")
_RULE_CELL: Final = re.compile(r":?-+:?")
#: Cells of a row; a bar after a backslash belongs to a cell.
_CELL_END: Final = re.compile(r"(?<!\\)\|")
_INLINE: Final = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 4; `anchor` is its name in links."""

    level: int
    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Words in one line, with their marks."""

    text: str


@dataclass(frozen=True, slots=True)
class ItemList:
    """Items of a list of one level."""

    items: tuple[str, ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class ManualTable:
    """A head and rows of as many cells."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Lines that keep their breaks; `kind` is the word after the fence."""

    kind: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture by the name of its file, with the text that stands for it."""

    text: str
    file: str


Block = Heading | Paragraph | ItemList | ManualTable | CodeBlock | Picture


@dataclass(frozen=True, slots=True)
class InlineText:
    """A run of text: `kind` is `text`, `code`, `strong`, `emphasis` or `link`, which alone has a target."""

    kind: str
    text: str
    target: str = ""


def make_anchor(heading: str) -> str:
    """Return the name of a heading in links: lowercase words with hyphens, as GitHub makes it."""
    plain = re.sub(r"[^\w\s-]", "", make_plain(heading).casefold())
    return re.sub(r"\s+", "-", plain.strip())


def parse_blocks(text: str) -> tuple[Block, ...]:
    return tuple(_read_blocks(text.splitlines()))


def _read_blocks(lines: Sequence[str]) -> Iterator[Block]:
    number = 0
    while number < len(lines):
        line = lines[number].strip()
        end = number + 1
        if line.startswith(_FENCE):
            while not lines[end].startswith(_FENCE):
                end += 1
            yield CodeBlock(line.removeprefix(_FENCE), tuple(lines[number + 1 : end]))
            end += 1
        elif line.startswith("<!--") or not line:
            pass
        elif heading := _HEADING.fullmatch(line):
            yield Heading(len(heading[1]), heading[2], heading[3] or make_anchor(heading[2]))
        elif picture := _PICTURE.fullmatch(line):
            yield Picture(picture[1], picture[2])
        elif line.startswith("|"):
            end = _find_end(lines, number, lambda each: each.startswith("|"))
            yield _read_table(lines[number:end])
        elif _ITEM.fullmatch(line):
            end = _find_end(lines, number, bool)
            yield _read_list(lines[number:end])
        else:
            end = _find_end(lines, number, lambda each: bool(each) and not _begins_block(each))
            yield Paragraph(" ".join(each.strip() for each in lines[number:end]))
        number = end


def _begins_block(line: str) -> bool:
    return line.startswith((_FENCE, "|", "#", "![", "- ", "* "))


def _find_end(lines: Sequence[str], start: int, belongs: Callable[[str], bool]) -> int:
    return next((n for n in range(start + 1, len(lines)) if not belongs(lines[n].strip())), len(lines))


def _read_table(lines: Sequence[str]) -> ManualTable:
    rows = [
        tuple(cell.strip().replace("\\|", "|") for cell in _CELL_END.split(line.strip().strip("|"))) for line in lines
    ]
    return ManualTable(rows[0], tuple(row for row in rows[1:] if not all(map(_RULE_CELL.fullmatch, row))))


def _read_list(lines: Sequence[str]) -> ItemList:
    items: list[str] = []
    ordered = False
    for line in lines:
        if item := _ITEM.fullmatch(line.strip()):
            ordered = ordered or item[1] is not None
            items.append(item[2])
        else:
            items[-1] += f" {line.strip()}"
    return ItemList(tuple(items), ordered)


def parse_inline(text: str) -> Iterator[InlineText]:
    position = 0
    for mark in _INLINE.finditer(text):
        if mark.start() > position:
            yield InlineText("text", text[position : mark.start()])
        code, strong, emphasis, link, target = mark.groups()
        if link:
            yield InlineText("link", make_plain(link), target)
        else:
            kind = "code" if code else "strong" if strong else "emphasis"
            yield InlineText(kind, code or strong or emphasis)
        position = mark.end()
    if position < len(text):
        yield InlineText("text", text[position:])


def make_plain(text: str) -> str:
    """Return a line without its marks."""
    return "".join(run.text for run in parse_inline(text))


def list_texts(block: Block) -> list[str]:
    """Return the lines of a block without marks: what is searched and counted."""
    match block:
        case CodeBlock(lines=lines):
            return list(lines)
        case ItemList(items=items):
            return [make_plain(item) for item in items]
        case ManualTable(head=head, rows=rows):
            return [" · ".join(make_plain(cell) for cell in row) for row in (head, *rows)]
        case _:
            return [make_plain(block.text)]


def write_html(blocks: Sequence[Block], link: Callable[[str], str] = str) -> str:
    """Return blocks as HTML for browsers and Qt; `link` gives the address of a target, empty where there is none."""
    return "\n".join(_write_block(block, link) for block in blocks)


def _write_block(block: Block, link: Callable[[str], str]) -> str:
    match block:
        case Heading(level=level, text=text, anchor=anchor):
            return f'<h{level} id="{anchor}"><a name="{anchor}"></a>{_write_inline(text, link)}</h{level}>'
        case Paragraph(text=text):
            return f"<p>{_write_inline(text, link)}</p>"
        case Picture(text=text, file=file):
            return f'<div><img src="{escape(link(file))}" alt="{escape(text)}"></div>'
        case CodeBlock(lines=lines):
            return f"<pre>{escape(chr(10).join(lines))}</pre>"
        case ItemList(items=items, ordered=ordered):
            name = "ol" if ordered else "ul"
            return f"<{name}>{''.join(f'<li>{_write_inline(item, link)}</li>' for item in items)}</{name}>"
    cells = ["".join(f"<td>{_write_inline(cell, link)}</td>" for cell in row) for row in block.rows]
    head = "".join(f"<th>{_write_inline(cell, link)}</th>" for cell in block.head)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<table border="1" cellspacing="0" cellpadding="5"><tr>{head}</tr>{body}</table>'


_ELEMENTS: Final = {"code": "code", "strong": "b", "emphasis": "i"}


def _write_inline(text: str, link: Callable[[str], str]) -> str:
    return "".join(_write_run(run, link) for run in parse_inline(text))


def _write_run(run: InlineText, link: Callable[[str], str]) -> str:
    address = link(run.target) if run.kind == "link" else ""
    if address:
        return f'<a href="{escape(address)}">{escape(run.text)}</a>'
    element = _ELEMENTS.get(run.kind)
    return f"<{element}>{escape(run.text)}</{element}>" if element else escape(run.text)
