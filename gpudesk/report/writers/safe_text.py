"""Text that is safe in files: nothing that breaks a file, reverses it, or runs in a spreadsheet."""

from __future__ import annotations

import re
from typing import Final

from gpudesk.text.translation import tr

#: Characters with which spreadsheets begin a formula; full-width forms count as the narrow ones.
_FORMULA: Final = re.compile(r"[=+\-@＝＋－＠\t\r\n]|[\s\ufeff\u200b-\u200f]+[=+\-@＝＋－＠]")  # noqa: RUF001
_NUMBER: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
#: Characters that Markdown would interpret as markup, a character reference or a formula.
_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>|~&$])")
#: Controls except tab, line feed and carriage return, surrogates and noncharacters, which XML forbids; and characters
#: that change the direction of the following text, also outside their cell.
_UNFIT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u202a-\u202e\u2066-\u2069]")
_HALF: Final = re.compile("[\ud800-\udfff]")
_UNKNOWN_CHARACTER: Final = "\ufffd"
#: Distance of a control character's picture; that of delete is separate.
_PICTURES: Final = 0x2400
_DELETE: Final = "\x7f"


def make_visible(text: str) -> str:
    """Return the text with a visible sign for each character that a file cannot hold or show."""
    return text if text.isprintable() else _UNFIT.sub(_replace_control, text)


def _replace_control(match: re.Match[str]) -> str:
    character = match.group()
    if character == _DELETE:
        return "\u2421"
    return chr(_PICTURES + ord(character)) if character < " " else _UNKNOWN_CHARACTER


def drop_surrogates(text: str) -> str:
    """Return the text without surrogates, which UTF-8 cannot encode; all else stays."""
    return text if text.isascii() else _HALF.sub(_UNKNOWN_CHARACTER, text)


def join_to_one_line(text: str) -> str:
    return " ".join(make_visible(text).split())


def quote_formula(text: str) -> str:
    """Return the text so that no spreadsheet runs it: an apostrophe before a possible formula."""
    text = make_visible(text)
    return f"'{text}" if looks_like_formula(text) else text


def looks_like_formula(text: str) -> bool:
    """Whether a spreadsheet might interpret the text as a formula, typed in or read from plain text."""
    return _FORMULA.match(text) is not None


def quote_formula_cell(text: str) -> str:
    """The same as `safe_text`, but a cell with a number stays a number."""
    return text if is_number(text) else quote_formula(text)


def is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def escape_markdown(text: str) -> str:
    return _MARKUP.sub(r"\\\1", join_to_one_line(text))


#: Excel reserves this name.
RESERVED_SHEET_NAME: Final = "history"
_LONGEST_NAME: Final = 31
_NOT_IN_NAMES: Final = re.compile(r"[\[\]:*?/\\]")


def make_sheet_name(title: str, used_names: set[str]) -> str:
    """Return a unique name for a sheet and store it: short, without characters that Excel forbids."""
    plain = _NOT_IN_NAMES.sub(" ", make_visible(title)).strip(" '")[:_LONGEST_NAME].strip(" '") or tr("Table")
    name, number = plain, 1
    while name.casefold() in used_names:
        number += 1
        end = f" ({number})"
        name = f"{plain[: _LONGEST_NAME - len(end)].rstrip()}{end}"
    used_names.add(name.casefold())
    return name
