"""Text as files may hold it: nothing in it that breaks a file, turns it round, or is run by a spreadsheet."""

from __future__ import annotations

import re
from typing import Final

#: What spreadsheets take for the beginning of a formula; full-width forms are read as the narrow ones.
_FORMULA: Final = re.compile(r"[=+\-@＝＋－＠\t\r\n]|[\s\ufeff\u200b-\u200f]+[=+\-@＝＋－＠]")  # noqa: RUF001
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
#: What Markdown would take for markup, a character reference or a formula.
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>|~&$])")
#: Controls but tab, line feed and carriage return, halves of characters and codes that are no characters,
#: which XML forbids; and what turns the direction of the text that follows, outside its own cell too.
_UNFIT: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]"
)
_HALF: Final = re.compile("[\ud800-\udfff]")
_UNKNOWN_CHARACTER: Final = "\ufffd"
#: The picture of a control character lies this far from it; that of delete is by itself.
_PICTURES: Final = 0x2400
_DELETE: Final = "\x7f"


def shown_text(text: str) -> str:
    """Return the text with a sign in the place of each character that a file could not hold or show."""
    return text if text.isprintable() else _UNFIT.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    character = match.group()
    if character == _DELETE:
        return "\u2421"
    return chr(_PICTURES + ord(character)) if character < " " else _UNKNOWN_CHARACTER


def whole_text(text: str) -> str:
    """Return the text without halves of characters, which UTF-8 has no bytes for; all else stays."""
    return text if text.isascii() else _HALF.sub(_UNKNOWN_CHARACTER, text)


def one_line(text: str) -> str:
    """Return the text in one line, with single spaces."""
    return " ".join(shown_text(text).split())


def safe_text(text: str) -> str:
    """Return the text so that no spreadsheet runs it: an apostrophe before what could begin a formula."""
    text = shown_text(text)
    return f"'{text}" if begins_formula(text) else text


def begins_formula(text: str) -> bool:
    """Whether a spreadsheet might take the text for a formula, typed in or read from plain text."""
    return _FORMULA.match(text) is not None


def safe_cell(text: str) -> str:
    """Return what `safe_text` does, but leave a cell that is a number a number."""
    return text if is_number(text) else safe_text(text)


def is_number(text: str) -> bool:
    """Whether the text is a number as programs write it."""
    return _NUMBER.fullmatch(text) is not None


def markdown_text(text: str) -> str:
    """Return the text in one line so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\1", one_line(text))
