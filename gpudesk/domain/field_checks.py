"""Checks of single fields from outside: JSON lines, scenario files, options. External JSON is bounded, without NaN.

A check takes the place of a field and its value as parsed from JSON, and returns the value to use. It raises
`InputError` that names the actual and the expected value.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from typing import Any, Final, NoReturn

from gpudesk.text.messages import Exact, InputError, Message, MessageParameter, Term, input_error, message, quote_input
from gpudesk.text.units import MIB

NOT_UTF8: Final = message("import.not_text", "is not UTF-8 text; save it as UTF-8 (in Excel: CSV UTF-8)")
NO_FIELDS: Final = message("import.hf.no_object", "contains no fields; choose the config.json of a model")
NESTED_TOO_DEEP: Final = message("import.nested", "is nested too deeply, or contains numbers that are too long")


def refuse_constant(name: str) -> NoReturn:
    """Refuse NaN and Infinity, which Python accepts although they are not JSON."""
    raise ValueError(name)


def _refuse_as_json(_: str) -> NoReturn:
    raise json.JSONDecodeError("no number", "", 0)


#: Real files have less than a tenth of this nesting depth.
_DEEPEST: Final = 100
#: Larger than any configuration.
CONFIG_BYTES: Final = 16 * MIB


def parse_bounded_json(
    data: bytes, name: str | None, largest: int = CONFIG_BYTES, *, no_object: Message = NO_FIELDS, nan: bool = True
) -> dict[str, Any]:
    """Return the object in a file called `name`; raises `InputError` for anything else.

    `no_object` is the error for other values. Without `nan`, NaN and infinities are refused.
    """
    if len(data) > largest:
        raise InputError(describe_too_large_import(largest), name)
    try:
        document = json.loads(data.decode("utf-8-sig"), parse_constant=None if nan else _refuse_as_json)
    except UnicodeDecodeError:
        raise InputError(NOT_UTF8, name) from None
    except json.JSONDecodeError as error:
        raise InputError(describe_not_json(error.lineno), name) from None
    except (RecursionError, ValueError):
        # Nested deeper than any real file, or a number with thousands of digits.
        raise InputError(NESTED_TOO_DEEP, name) from None
    if not isinstance(document, dict):
        raise InputError(no_object, name)
    if is_nested_too_deep(document):
        raise InputError(NESTED_TOO_DEEP, name)
    return document


def parse_strict_json(
    raw: bytes, where: str | None, foreign: Message, describe_fault: Callable[[ValueError], Message]
) -> dict[str, Any]:
    """Return the object in a file of the program; raises `InputError` at `where` for anything else.

    Repeated fields, NaN and infinities are refused. `describe_fault` describes the error of a file that is not UTF-8 or
    not JSON, `foreign` is the error for other values. The depth is not limited.
    """

    def make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for key, value in pairs:
            if key in fields:
                problem = message("scenario.twice", "has {field} twice in one object; remove one", field=key[:_QUOTED])
                raise InputError(problem, where)
            fields[key] = value
        return fields

    try:
        document = json.loads(raw.decode("utf-8-sig"), object_pairs_hook=make_object, parse_constant=refuse_constant)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(describe_fault(error), where) from error
    except (RecursionError, ValueError) as error:
        raise InputError(foreign, where) from error
    if type(document) is not dict:
        raise InputError(foreign, where)
    return document


def describe_json_fault(error: ValueError) -> Message:
    """Return where a text is not UTF-8 or not JSON."""
    if isinstance(error, json.JSONDecodeError):
        return message(
            "scenario.not_json",
            "is not valid JSON at line {line}, column {column}; correct it there",
            line=error.lineno,
            column=error.colno,
        )
    line = error.object.count(b"\n", 0, error.start) + 1 if isinstance(error, UnicodeDecodeError) else 1
    return message("scenario.not_utf8", "is not UTF-8 text at line {line}; save it as UTF-8", line=line)


def is_nested_too_deep(document: object, deepest: int = _DEEPEST) -> bool:
    """Whether lists and objects are nested deeper than a limit, by default that of recursion."""
    level = [document]
    for _ in range(deepest):
        inner = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, dict | list))
        level = [each for values in inner for each in values if isinstance(each, dict | list)]
        if not level:
            return False
    return True


def describe_not_json(line: int) -> Message:
    return message("import.not_json", "is not valid JSON at line {line}; correct it or download it again", line=line)


def describe_too_large_import(largest: float) -> Message:
    return message("import.too_big", "is larger than the limit of {most}", most=(float(largest), "B"))


MISSING_FIELD: Final = message("field.missing", "is missing")
EMPTY_FIELD: Final = message("field.empty", "is empty")
CONTROL_CHARACTER: Final = message("field.control", "contains a control character; remove it")
HALF_CHARACTER: Final = message("field.half_character", "contains an invalid Unicode character; remove it")

#: Names of JSON types in errors.
JSON_KINDS: Final[dict[str, Term]] = {
    term: term
    for term in (
        Term("boolean", "true or false"),
        Term("whole", "a whole number"),
        Term("number", "a number"),
        Term("finite", "a finite number"),
        Term("text", "text"),
        Term("text_or_whole", "text or a whole number"),
        Term("boolean_or_object", "true, false or an object"),
        Term("list", "a list"),
        Term("object", "an object"),
        Term("null", "nothing"),
    )
}

FieldCheck = Callable[[str, object], Any]

_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?")
#: Characters that change the direction of text.
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
#: Longer wrong values are shortened in errors.
_QUOTED = 60
#: How many similar words an error suggests.
_CLOSEST = 3
#: The similarity from which a word is suggested, from 0 to 1, and what is added if one contains the other.
_SIMILAR: Final = 0.6
_CONTAINS: Final = 0.2


def accept_whole(low: int, high: int) -> FieldCheck:
    """Accept whole numbers from `low` to `high`; 64.0 is accepted too."""

    def check(where: str, value: object) -> int:
        # Called eight times for most lines of a batch, nearly always with a whole number in range.
        if type(value) is int and low <= value <= high:
            return value
        if type(value) is float and value.is_integer():
            value = int(value)
        if type(value) is not int:
            raise make_type_error(where, value, "whole")
        if not low <= value <= high:
            raise InputError(describe_out_of_range(quote_value(value), low, high), where)
        return value

    return check


#: Smallest number that counts as above zero: quotients by smaller ones overflow, and no real quantity is smaller.
_LEAST_ABOVE_ZERO: Final = 1e-9


def accept_number(low: float, high: float, *, above: bool = False) -> FieldCheck:
    """Accept finite numbers from `low` to `high`; with `above`, `low` itself is refused."""

    def check(where: str, value: object) -> float:
        if type(value) is int:
            value = _convert_to_float(where, value)
        if type(value) is not float or not math.isfinite(value):
            raise make_type_error(where, value, "number" if type(value) is not float else "finite")
        if above and low == 0 < value < _LEAST_ABOVE_ZERO:
            quoted = quote_value(value)
            raise input_error(
                "field.tiny",
                "{given} is too small; the minimum is {least}",
                where,
                given=quoted,
                least=str(_LEAST_ABOVE_ZERO),
            )
        if value > high or value < low or (above and value == low):
            quoted = quote_value(value)
            if above:
                raise InputError(describe_not_above(quoted, low, high), where)
            raise InputError(describe_out_of_range(quoted, low, high), where)
        return value

    return check


def _convert_to_float(where: str, value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        raise make_type_error(where, value, "finite") from None


def accept_text(longest: int = 200, *, empty: bool = False) -> FieldCheck:
    """Accept text of at most `longest` characters that can be written as UTF-8."""

    def check(where: str, value: object) -> str:
        if type(value) is not str:
            raise make_type_error(where, value, "text")
        if not value and not empty:
            raise InputError(EMPTY_FIELD, where)
        if len(value) > longest:
            raise InputError(describe_too_long(longest), where)
        if not value.isascii():
            # Refuse surrogates, which JSON escapes can express and UTF-8 cannot.
            try:
                value.encode()
            except UnicodeEncodeError:
                raise InputError(HALF_CHARACTER, where) from None
        if not value.isprintable() and any(unicodedata.category(c) == "Cc" and c != "\n" for c in value):
            # They would control the terminal that shows the text.
            raise InputError(CONTROL_CHARACTER, where)
        return value

    return check


def accept_plain_text(longest: int) -> FieldCheck:
    """Accept text that displays literally: without characters that change the direction of following text.

    Names and titles from others are listed next to each other, also when the user decides on trust.
    """
    accepted = accept_text(longest)

    def check(where: str, value: object) -> str:
        text: str = accepted(where, value)
        if not text.isascii() and _TURNS.intersection(text):
            raise InputError(CONTROL_CHARACTER, where)
        return text

    return check


def accept_word(words: Mapping[str, Any]) -> FieldCheck:
    """Accept one of the keys of `words` and return its value."""

    def check(where: str, value: object) -> Any:  # noqa: ANN401 - the values can be anything
        try:
            return words[value]  # type: ignore[index]
        except (KeyError, TypeError):
            if type(value) is not str:
                raise make_type_error(where, value, "text") from None
            raise InputError(describe_unknown_word(quote_value(value), tuple(words)), where) from None

    return check


def accept_boolean(where: str, value: object) -> bool:
    if type(value) is not bool:
        raise make_type_error(where, value, "boolean")
    return value


def accept_month(where: str, value: object) -> str:
    """Accept `YYYY-MM` or `YYYY-MM-DD`; return the month."""
    if type(value) is not str:
        raise make_type_error(where, value, "text")
    if _MONTH.fullmatch(value) is None or not _is_date(value):
        raise InputError(describe_wrong_date(quote_value(value)), where)
    return value[:7]


def _is_date(value: str) -> bool:
    try:
        date.fromisoformat(value if len(value) > len("2000-01") else f"{value}-01")
    except ValueError:
        return False
    return True


def check_fields(
    where: str, value: object, checks: Mapping[str, FieldCheck], *, required: Iterable[str] = ()
) -> dict[str, Any]:
    """Return the checked fields of an object, without those that are null."""
    values = {}
    for name, entry in _require_object(where, value).items():
        if name not in checks:
            raise make_unknown_field_error(where, name, checks)
        if entry is not None:
            values[name] = checks[name](f"{where}.{name}", entry)
    for name in required:
        if name not in values:
            raise InputError(MISSING_FIELD, f"{where}.{name}")
    return values


def accept_entries(check: FieldCheck, most: int = 500) -> FieldCheck:
    """Accept an object with any names whose values all pass one check."""

    def check_entries(where: str, value: object) -> dict[str, Any]:
        entries = _require_object(where, value)
        if len(entries) > most:
            raise input_error("decide.too_many", "has more than {most} entries; remove some", where, most=most)
        return {name: check(f"{where}.{name}", entry) for name, entry in entries.items()}

    return check_entries


def _require_object(where: str, value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise make_type_error(where, value, "object")
    return value


def accept_identity(where: str, value: object) -> str | int:
    """Accept an id of a line: text or a whole number."""
    if type(value) is int or type(value) is str:
        return value
    raise make_type_error(where, value, "text_or_whole")


def make_type_error(where: str, value: object, expected: str) -> InputError:
    return InputError(describe_wrong_type(quote_value(value), _name_json_type(value), expected), where)


def make_unknown_field_error(where: str, name: str, known_fields: Collection[str]) -> InputError:
    """Return the error for an unknown field, with the closest known ones."""
    if near := find_closest(name, known_fields):
        return input_error(
            "field.unknown_near",
            "unknown field {given}; did you mean {near}?",
            where or None,
            given=quote_value(name),
            near=near,
        )
    return InputError(describe_unknown_field(quote_value(name), tuple(known_fields)), where or None)


def find_closest(word: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return up to three similar words, the closest first; of `meta-llama/Llama-3.1-70B`, the end counts.

    Words that contain all typed characters in order rank higher: `lama-70b` finds `llama-3.1-70b`.
    """
    typed = _simplify(word.rsplit("/", 1)[-1])
    matcher = difflib.SequenceMatcher(b=typed)
    likeness = {}
    for each in words:
        known = _simplify(each)
        matcher.set_seq1(known)
        shorter, longer = sorted((known, typed), key=len)
        contains = len(typed) > 1 and (shorter is typed or 2 * len(shorter) > len(longer))
        contains = contains and _contains_in_order(longer, shorter)
        likeness[each] = matcher.ratio() + (_CONTAINS if contains else 0.0)
    near = sorted((each for each in likeness if likeness[each] >= _SIMILAR), key=lambda each: -likeness[each])
    return tuple(near[:_CLOSEST])


def _simplify(word: str) -> str:
    return word.strip().lower().replace(" ", "-").replace("_", "-")


def _contains_in_order(word: str, part: str) -> bool:
    characters = iter(word)
    return all(character in characters for character in part)


def quote_value(value: object) -> str:
    """Return text in quotation marks, another value as JSON writes it; shortened, unprintable characters escaped."""
    if isinstance(value, str):
        return quote_input(value if len(value) <= _QUOTED else f"{value[:_QUOTED]}…")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    quoted = json.dumps(value, ensure_ascii=False, default=str)
    if not quoted.isprintable():
        quoted = json.dumps(value, default=str)
    return quoted if len(quoted) <= _QUOTED else quoted[:_QUOTED] + "…"


def _name_json_type(value: object) -> str:
    kinds: dict[type, str] = {bool: "boolean", int: "whole", float: "number", str: "text", list: "list", tuple: "list"}
    return "null" if value is None else kinds.get(type(value), "object")


def describe_too_long(longest: int) -> Message:
    return message("field.long", "is longer than {longest} characters", longest=longest)


def describe_wrong_date(text: str) -> Message:
    return message("field.month", "{given} is not a date; use YYYY-MM or YYYY-MM-DD", given=text)


def describe_out_of_range(value: str | float, low: float, high: float) -> Message:
    return message(
        "field.range",
        "{given} is not between {low} and {high}",
        given=value if isinstance(value, str) else Exact(value),
        low=Exact(low),
        high=Exact(high),
    )


def describe_not_above(value: str | float, low: float, high: MessageParameter) -> Message:
    return message(
        "field.range_above",
        "{given} is out of range; use a value above {low}, up to {high}",
        given=value if isinstance(value, str) else Exact(value),
        low=Exact(low),
        high=Exact(high) if isinstance(high, int | float) else high,
    )


def describe_wrong_type(value: str, actual_type: str, expected: str) -> Message:
    return message(
        "field.type",
        "{given} is {found}; expected {wanted}",
        given=value,
        found=JSON_KINDS[actual_type],
        wanted=JSON_KINDS[expected],
    )


def describe_unknown_field(field_name: str, known_fields: tuple[str, ...]) -> Message:
    return message(
        "field.unknown", "unknown field {given}; the fields are {known}", given=field_name, known=known_fields
    )


def describe_unknown_word(word: str, allowed: tuple[str, ...]) -> Message:
    return message("field.word", "{given} is not one of {allowed}", given=word, allowed=allowed)


def describe_wrong_address(address: str) -> Message:
    return message("own.not_an_address", "{given} is not a URL; start with https:// or leave it empty", given=address)
