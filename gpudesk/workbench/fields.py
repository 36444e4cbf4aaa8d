"""Checks of single fields that come from outside: JSON lines, scenario files, options.

A check takes the place of a field and its value as parsed from JSON, and returns the value to use. It
raises `InputError` that says what was there and what belongs there.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from typing import Any

from gpudesk.domain.messages import InputError, message

Check = Callable[[str, object], Any]

_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?")
#: What turns the direction of text, in its own place and after it.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
#: More of a wrong value than this is not repeated to the user.
_QUOTED = 60


def whole(low: int, high: int) -> Check:
    """Accept whole numbers from `low` to `high`; 64.0 is one too."""

    def check(where: str, value: object) -> int:
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise wrong_type(where, value, "whole")
        if not low <= value <= high:
            raise InputError(message("field.range", given=quoted(value), low=low, high=high), where)
        return value

    return check


def number(low: float, high: float, *, above: bool = False) -> Check:
    """Accept finite numbers from `low` to `high`; with `above`, `low` itself is refused."""

    def check(where: str, value: object) -> float:
        if type(value) is int:
            value = _as_float(where, value)
        if type(value) is not float or not math.isfinite(value):
            raise wrong_type(where, value, "number")
        if value > high or value < low or (above and value == low):
            given = quoted(value)
            if above:
                raise InputError(message("field.range_above", given=given, low=low, high=high), where)
            raise InputError(message("field.range", given=given, low=low, high=high), where)
        return value

    return check


def _as_float(where: str, value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise wrong_type(where, value, "number") from None


def text(longest: int = 200, *, empty: bool = False) -> Check:
    """Accept text of at most `longest` characters that can be written as UTF-8."""

    def check(where: str, value: object) -> str:
        if type(value) is not str:
            raise wrong_type(where, value, "text")
        if not value and not empty:
            raise InputError(message("field.empty"), where)
        if len(value) > longest:
            raise InputError(message("field.long", longest=longest), where)
        if not value.isascii():
            _refuse_surrogates(where, value)
        if not value.isprintable() and any(unicodedata.category(c) == "Cc" and c != "\n" for c in value):
            # They would steer the terminal that shows the text.
            raise InputError(message("field.control"), where)
        return value

    return check


def plain_text(longest: int) -> Check:
    """Accept text that shows as what it is: without what turns the direction of what follows it.

    Names and titles that come from others stand beside each other in lists and in questions of trust.
    """
    accepted = text(longest)

    def check(where: str, value: object) -> str:
        found: str = accepted(where, value)
        if not found.isascii() and _TURNS.intersection(found):
            raise InputError(message("field.control"), where)
        return found

    return check


def _refuse_surrogates(where: str, value: str) -> None:
    """Refuse halves of characters, which JSON escapes can hold and UTF-8 cannot."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InputError(message("field.half_character"), where) from None


def word(words: Mapping[str, Any]) -> Check:
    """Accept one of the keys of `words` and return what it stands for."""

    def check(where: str, value: object) -> Any:  # noqa: ANN401 - whatever the word stands for
        try:
            return words[value]  # type: ignore[index]
        except (KeyError, TypeError):
            if type(value) is not str:
                raise wrong_type(where, value, "text") from None
            raise InputError(
                message("field.word", given=quoted(value), allowed=tuple(words)), where
            ) from None

    return check


def boolean(where: str, value: object) -> bool:
    """Accept true and false."""
    if type(value) is not bool:
        raise wrong_type(where, value, "boolean")
    return value


def month(where: str, value: object) -> str:
    """Accept `YYYY-MM` or `YYYY-MM-DD`; return the month."""
    if type(value) is not str:
        raise wrong_type(where, value, "text")
    if _MONTH.fullmatch(value) is None or not _is_date(value):
        raise InputError(message("field.month", given=quoted(value)), where)
    return value[:7]


def _is_date(value: str) -> bool:
    """Whether the day, if one is given, exists."""
    try:
        date.fromisoformat(value if len(value) > len("2000-01") else f"{value}-01")
    except ValueError:
        return False
    return True


def identity(where: str, value: object) -> str | int:
    """Accept what can name a line: text or a whole number."""
    if type(value) is int or type(value) is str:
        return value
    raise wrong_type(where, value, "text_or_whole")


def wrong_type(where: str, value: object, wanted: str) -> InputError:
    """Return the error for a value of another kind than the field holds."""
    return InputError(message("field.type", given=quoted(value), found=_kind(value), wanted=wanted), where)


def unknown_field(where: str, name: str, known: Collection[str]) -> InputError:
    """Return the error for a field that there is none of, with the fields that come closest."""
    if near := closest(name, known):
        return InputError(message("field.unknown_near", given=quoted(name), near=near), where or None)
    return InputError(message("field.unknown", given=quoted(name), known=tuple(known)), where or None)


def closest(given: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return up to three of the known words that resemble the given one."""
    return tuple(difflib.get_close_matches(given.lower(), known, n=3, cutoff=0.6))


def quoted(value: object) -> str:
    """Return a value as JSON writes it, cut where it is long."""
    written = json.dumps(value, ensure_ascii=False, default=str)
    return written if len(written) <= _QUOTED else written[:_QUOTED] + "…"


def _kind(value: object) -> str:
    """Return the word of `gpudesk.sentences` for what kind of JSON value this is."""
    kinds: dict[type, str] = {
        bool: "boolean",
        int: "whole",
        float: "number",
        str: "text",
        list: "list",
        dict: "object",
    }
    return kinds.get(type(value), "nothing")
