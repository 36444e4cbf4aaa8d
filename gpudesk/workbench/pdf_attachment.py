"""The scenario that a sheet saved as PDF carries, read back without a library for PDF.

Of the whole format only streams matter here: the scenario lies in one of them, as it is or deflated, and no
other stream of a PDF begins with a brace. So the reader needs neither the tables of the file nor the names of
its attachments, and still finds the scenario after another program has written the file anew.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Final

from gpudesk.domain.messages import InputError, message

#: Name and media type of the attachment.
ATTACHMENT_NAME: Final = "comparison.gpudesk"
ATTACHMENT_TYPE: Final = "application/x-gpudesk"

_SIGNATURE: Final = b"%PDF-"
_STREAM: Final = re.compile(rb"(?<!end)stream(?:\r\n|\n)")
_END: Final = re.compile(rb"\r?\n?endstream")
#: What every scenario file has near its beginning or end, and no other JSON is likely to have.
_KEY: Final = b'"gpudesk"'
_BLANKS: Final = b" \t\r\n\xef\xbb\xbf"
#: Enough of a deflated stream to see how its content begins: its tables come before the first byte.
_FIRST_BYTES: Final = 1024


def is_pdf(raw: bytes) -> bool:
    """Whether the contents of a file are those of a PDF, by how it begins."""
    return raw.startswith(_SIGNATURE)


def attached_scenario(raw: bytes, where: str, most: int) -> bytes:
    """Return the scenario file of at most `most` bytes that a PDF carries; `where` names the PDF in errors.

    Raises `InputError` where it carries none, whatever else may be wrong with the PDF.
    """
    for found in _STREAM.finditer(raw):
        content = _content(raw, found.end(), most)
        if content is None or _KEY not in content:
            continue
        if len(content) > most:
            raise InputError(message("file.too_big", most=(float(most), "B")), where)
        return content
    raise InputError(message("pdf.no_scenario"), where)


def _content(raw: bytes, start: int, most: int) -> bytes | None:
    """Return what a stream holds, up to one byte more than `most`, or None where it cannot be a scenario."""
    if _begins_with_brace(raw[start : start + _FIRST_BYTES]):
        end = _END.search(raw, start)
        return None if end is None else raw[start : min(end.start(), start + most + 1)]
    reader = zlib.decompressobj()
    try:
        first = reader.decompress(raw[start : start + _FIRST_BYTES], _FIRST_BYTES)
        if not _begins_with_brace(first):
            return None
        return first + b"".join(_inflated(reader, raw, start + _FIRST_BYTES, most + 1 - len(first)))
    except zlib.error:
        return None


def _begins_with_brace(content: bytes) -> bool:
    return content.lstrip(_BLANKS)[:1] == b"{"


def _inflated(reader: zlib._Decompress, raw: bytes, start: int, room: int) -> Iterator[bytes]:
    """Yield the rest of a deflated stream, `room` bytes at the most."""
    waiting = reader.unconsumed_tail
    while room > 0 and not reader.eof:
        if not waiting:
            waiting, start = raw[start : start + 65536], start + 65536
            if not waiting:
                return
        piece = reader.decompress(waiting, room)
        waiting = reader.unconsumed_tail
        room -= len(piece)
        yield piece
