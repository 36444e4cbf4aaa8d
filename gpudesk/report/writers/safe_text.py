"""Text that files may hold: nothing that breaks a file, reverses it, or runs in a spreadsheet."""

from __future__ import annotations

import re
from typing import Final

from gpudesk.text.translation import tr

#: What spreadsheets take for the beginning of a formula; full-width forms are read as the narrow ones.
_FORMULA: Final = re.compile(r"[=+\-@＝＋－＠\t\r\n]|[\s\ufeff\u200b-\u200f]+[=+\-@＝＋－＠]")  # noqa: RUF001
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
#: What Markdown would take for markup, a character reference or a formula.
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>|~&$])")
#: Controls but tab, line feed and carriage return, halves of characters and codes that are no characters,
#: which XML forbids; and what turns the direction of the text that follows, outside its own cell too.
_UNFIT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_UNKNOWN_CHARACTER: Final = "\ufffd"
#: The picture of a control character lies this far from it; that of delete is by itself.
_PICTURES: Final = 0x2400
_DELETE: Final = "\x7f"


def make_visible(text: str) -> str:
    """Return the text with a sign in the place of each character that a file could not hold or show."""
    return text if text.isprintable() else _UNFIT.sub(_picture, text)


def _picture(match: re.Match[str]) -> str:
    character = match.group()
    if character == _DELETE:
        return "\u2421"
    return chr(_PICTURES + ord(character)) if character < " " else _UNKNOWN_CHARACTER


def drop_surrogates(text: str) -> str:
    """Return the text without halves of characters, which UTF-8 has no bytes for; all else stays."""
    return text if text.isascii() else _HALF.sub(_UNKNOWN_CHARACTER, text)


def join_to_one_line(text: str) -> str:
    return " ".join(make_visible(text).split())


def quote_formula(text: str) -> str:
    """Return the text so that no spreadsheet runs it: an apostrophe before what could begin a formula."""
    text = make_visible(text)
    return f"'{text}" if looks_like_formula(text) else text


def looks_like_formula(text: str) -> bool:
    """Whether a spreadsheet might take the text for a formula, typed in or read from plain text."""
    return _FORMULA.match(text) is not None


def quote_formula_cell(text: str) -> str:
    """Return what `safe_text` does, but leave a cell that is a number a number."""
    return text if is_number(text) else quote_formula(text)


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def escape_markdown(text: str) -> str:
    """Return the text in one line so that Markdown shows it as it is."""
    return _MARKUP.sub(r"\\\1", join_to_one_line(text))


#: Excel keeps this name for itself.
RESERVED_SHEET_NAME: Final = "history"
_LONGEST_NAME: Final = 31
_NOT_IN_NAMES: Final = re.compile(r"[\[\]:*?/\\]")


def make_sheet_name(title: str, used_names: set[str]) -> str:
    """Return a name for a sheet and keep it: short, without what Excel forbids, no two alike."""
    plain = _NOT_IN_NAMES.sub(" ", make_visible(title)).strip(" '")[:_LONGEST_NAME].strip(" '") or tr("Table")
    name, number = plain, 1
    while name.casefold() in used_names:
        number += 1
        end = f" ({number})"
        name = f"{plain[: _LONGEST_NAME - len(end)].rstrip()}{end}"
    used_names.add(name.casefold())
    return name
