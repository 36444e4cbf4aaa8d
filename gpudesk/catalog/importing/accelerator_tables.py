"""JSON of accelerators as tables that are read field by field, each with its place for what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from gpudesk.catalog.importing.file_sources import plain_text
from gpudesk.catalog.importing.hf_fields import wrong_type
from gpudesk.domain.claims import Kind
from gpudesk.domain.messages import InputError, message

_LARGEST: Final = 4 << 20
_LONGEST: Final = 2000
_MOST_ENTRIES: Final = 500
_DATE: Final = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_ADDRESS: Final = re.compile(r"https?://[^\s]+")


def opened(data: bytes, answers: Mapping[str, object]) -> Table:
    """Return the table of a file with answers in the place of fields that it does not have."""
    if len(data) > _LARGEST:
        raise InputError(message("import.too_big", most=(float(_LARGEST), "B")))
    try:
        table = json.loads(data.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise InputError(message("import.not_text")) from None
    except json.JSONDecodeError as error:
        raise InputError(message("import.not_json", line=error.lineno)) from None
    except (RecursionError, ValueError):
        raise InputError(message("import.nested")) from None
    if not isinstance(table, dict):
        raise InputError(message("import.unknown"))
    given = {name: value for name, value in answers.items() if value is not None}
    return Table({**table, **{name: value for name, value in given.items() if table.get(name) is None}})


def _no_number(_: str) -> NoReturn:
    """NaN and infinities are no JSON, and no figures."""
    raise json.JSONDecodeError("no number", "", 0)


class Table:
    """An object of the file; null counts as not there."""

    def __init__(self, fields: Mapping[str, Any], path: str = "") -> None:
        """Read an object that stands at a path."""
        self._fields = fields
        self._path = path

    def where(self, name: str) -> str:
        """Return the path of a field."""
        shown = plain_text(name, 60)
        return f"{self._path}.{shown}" if self._path else shown

    def names(self) -> frozenset[str]:
        """Return the names of all fields."""
        return frozenset(self._fields)

    def has(self, name: str) -> bool:
        """Whether a field is there."""
        return self._fields.get(name) is not None

    def raw(self, name: str) -> Any:  # noqa: ANN401 - as JSON gives it
        """Return a field as it is."""
        return self._fields.get(name)

    def word(self, name: str, default: str | None = None) -> str | None:
        """Return a line of text, or the default where there is none."""
        value = self._fields.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise wrong_type(self.where(name), value, "text")
        if len(value) > _LONGEST:
            raise InputError(message("field.long", longest=_LONGEST), self.where(name))
        if not value.isprintable():
            raise InputError(message("field.control"), self.where(name))
        return value.strip() or default

    def needed(self, name: str, shown: str | None = None) -> str:
        """Return a line of text that must be there; `shown` is the name to ask for it by."""
        found = self.word(name)
        if found is None:
            raise InputError(message("field.missing"), self.where(shown or name))
        return found

    def yes(self, name: str, *, default: bool) -> bool:
        """Return a truth value."""
        value = self._fields.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise wrong_type(self.where(name), value, "boolean")
        return value

    def kind(self, name: str) -> Kind | None:
        """Return how a source came to its figure."""
        word = self.word(name)
        if word is None:
            return None
        try:
            return Kind(word)
        except ValueError:
            allowed = tuple(each.value for each in Kind)
            raise InputError(message("field.word", given=word, allowed=allowed), self.where(name)) from None

    def date(self, name: str) -> str | None:
        """Return a year, a month or a day."""
        word = self.word(name)
        if word is not None and not _DATE.fullmatch(word):
            raise InputError(message("field.month", given=word), self.where(name))
        return word

    def address(self, name: str) -> str | None:
        """Return the address of a page."""
        word = self.word(name)
        if word is not None and not _ADDRESS.fullmatch(word):
            raise InputError(message("own.not_an_address", given=word), self.where(name))
        return word

    def is_list(self, name: str) -> bool:
        """Whether a field is a list."""
        return isinstance(self._fields.get(name), list)

    def is_table(self, name: str) -> bool:
        """Whether a field is an object."""
        return isinstance(self._fields.get(name), dict)

    def table(self, name: str) -> Table | None:
        """Return an object, or None where there is none."""
        value = self._fields.get(name)
        return None if value is None else self._table(name, value)

    def tables(self, name: str) -> Iterator[tuple[str, Table]]:
        """Yield the objects of an object by name; none where it is not there."""
        outer = self.table(name)
        if outer is None:
            return
        outer.check_length(len(outer.names()))
        for key in self._fields[name]:
            if (inner := outer.table(key)) is not None:
                yield key, inner

    def list_of_tables(self, name: str) -> Iterator[Table]:
        """Yield the objects of a list."""
        value = self._fields.get(name)
        if not isinstance(value, list):
            raise wrong_type(self.where(name), value, "list")
        self.check_length(len(value))
        for number, each in enumerate(value, start=1):
            yield self._table(f"{name}.{number}", each)

    def check_length(self, length: int) -> None:
        """Refuse more entries than any accelerator has."""
        if length > _MOST_ENTRIES:
            raise InputError(message("import.part.many", most=_MOST_ENTRIES), self._path or None)

    def _table(self, name: str, value: object) -> Table:
        if not isinstance(value, dict):
            raise wrong_type(self.where(name), value, "object")
        return Table(value, self.where(name))
