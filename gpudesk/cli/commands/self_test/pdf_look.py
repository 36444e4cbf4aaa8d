"""What is in a PDF that this program made, without a library for PDF: pages, fonts, pictures and text.

It reads what Qt writes: objects one after the other, with no object inside a stream, and letters by the
numbers of their glyphs, which a table of the font leads back to characters.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_OBJECT: Final = re.compile(rb"(?:^|\n)(\d+) 0 obj\b(.*?)endobj", re.DOTALL)
_STREAM: Final = re.compile(rb"stream\r?\n(.*?)\r?\n?endstream", re.DOTALL)
_PAGE: Final = re.compile(rb"/Type\s*/Page\b")
_EMBEDDED: Final = re.compile(rb"/FontName\s*/[A-Z]{6}\+([\w-]+).*?/FontFile\d?\s+(\d+) 0 R", re.DOTALL)
_SIDES: Final = re.compile(rb"/Width\s+(\d+).*?/Height\s+(\d+)", re.DOTALL)
_TO_UNICODE: Final = re.compile(rb"/ToUnicode\s+(\d+) 0 R")
_NAMED_FONT: Final = re.compile(rb"/(F\d+)\s+(\d+) 0 R")
_RANGE: Final = re.compile(rb"<([0-9A-Fa-f]{4})>\s*<[0-9A-Fa-f]{4}>\s*\[(.*?)\]", re.DOTALL)
_CODE: Final = re.compile(rb"<([0-9A-Fa-f]+)>")
_LETTERS: Final = re.compile(rb"/(F\d+)\s+\S+\s+Tf|<([0-9A-Fa-f]+)>\s*Tj")

_Table = dict[int, str]


@dataclass(frozen=True, slots=True)
class Seen:
    """Pages, the fonts that are inside, the sides of pictures, and the text without its blanks."""

    pages: int
    fonts: frozenset[str]
    pictures: tuple[tuple[int, int], ...]
    text: str


def look_at(raw: bytes) -> Seen:
    """Return what is in a PDF."""
    objects = {int(found[1]): found[2] for found in _OBJECT.finditer(raw)}
    heads = {number: _STREAM.sub(b"", body) for number, body in objects.items()}
    return Seen(
        pages=sum(_PAGE.search(head) is not None for head in heads.values()),
        fonts=frozenset(_fonts(objects, heads)),
        pictures=tuple(_pictures(heads)),
        text="".join(_text(objects, heads).split()),
    )


def _fonts(objects: dict[int, bytes], heads: dict[int, bytes]) -> Iterator[str]:
    """Yield the names of the fonts whose letters are inside."""
    for head in heads.values():
        found = _EMBEDDED.search(head)
        if found is not None and _content(objects.get(int(found[2]), b"")):
            yield found[1].decode()


def _pictures(heads: dict[int, bytes]) -> Iterator[tuple[int, int]]:
    for head in heads.values():
        sides = _SIDES.search(head) if b"/Image" in head else None
        if sides is not None:
            yield int(sides[1]), int(sides[2])


def _text(objects: dict[int, bytes], heads: dict[int, bytes]) -> str:
    tables = dict(_tables(objects, heads))
    letters = []
    for number, body in objects.items():
        if b"/Image" in heads[number] or b"/FontFile" in heads[number]:
            continue
        table: _Table = {}
        for found in _LETTERS.finditer(_content(body)):
            if found[1] is not None:
                table = tables.get(found[1], {})
            else:
                codes = range(0, len(found[2]), 4)
                letters += [table.get(int(found[2][at : at + 4], 16), "") for at in codes]
    return "".join(letters)


def _tables(objects: dict[int, bytes], heads: dict[int, bytes]) -> Iterator[tuple[bytes, _Table]]:
    """Yield for each name that pages give a font its table from glyphs to characters."""
    for head in heads.values():
        for found in _NAMED_FONT.finditer(head):
            table = _TO_UNICODE.search(heads.get(int(found[2]), b""))
            if table is not None:
                yield found[1], _glyphs(_content(objects.get(int(table[1]), b"")))


def _glyphs(table: bytes) -> _Table:
    glyphs: _Table = {}
    for found in _RANGE.finditer(table):
        first = int(found[1], 16)
        for place, code in enumerate(_CODE.findall(found[2])):
            glyphs[first + place] = bytes.fromhex(code.decode()).decode("utf-16-be", "replace")
    return glyphs


def _content(body: bytes) -> bytes:
    """Return what the stream of an object holds, nothing where it has none."""
    found = _STREAM.search(body)
    if found is None:
        return b""
    try:
        return zlib.decompress(found[1]) if b"/FlateDecode" in body[: found.start()] else found[1]
    except zlib.error:
        return b""
