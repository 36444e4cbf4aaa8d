"""Reading data files by their fields: each of its kind, none unknown, faults told with file and place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from gpudesk.domain.messages import InputError, message
from gpudesk.workbench.fields import boolean, month, number, text, unknown_field, whole, word, wrong_type
from gpudesk.workbench.files import read_toml

_LONGEST: Final = 4000
_MOST: Final = 1e18


class Entry:
    """One table of a file. What is not asked for is refused by `end`, so that no slip of the pen is lost."""

    def __init__(self, values: object, where: str) -> None:
        """Take a table that lies at `where`; raises `InputError` for anything else."""
        if not isinstance(values, dict):
            raise wrong_type(where, values, "object")
        self.where = where
        self._values: dict[str, Any] = values
        self._asked: set[str] = set()

    def place(self, name: str) -> str:
        """Return where a field is."""
        return f"{self.where}.{name}" if self.where[-1:] != ":" else f"{self.where} {name}"

    def has(self, name: str) -> bool:
        """Whether a field is there."""
        self._asked.add(name)
        return name in self._values

    def text(self, name: str) -> str:
        """Return a text."""
        found: str = text(_LONGEST)(self.place(name), self._must(name))
        return found

    def optional_text(self, name: str) -> str | None:
        """Return a text, None where there is none."""
        return self.text(name) if self.has(name) else None

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty where there is none."""
        return tuple(text(_LONGEST)(place, each) for place, each in self._list(name))

    def number(self, name: str) -> float:
        """Return a number."""
        found: float = number(-_MOST, _MOST)(self.place(name), self._must(name))
        return found

    def optional_number(self, name: str) -> float | None:
        """Return a number, None where there is none."""
        return self.number(name) if self.has(name) else None

    def whole(self, name: str) -> int:
        """Return a whole number above 0."""
        found: int = whole(1, 10**12)(self.place(name), self._must(name))
        return found

    def optional_whole(self, name: str) -> int | None:
        """Return a whole number above 0, None where there is none."""
        return self.whole(name) if self.has(name) else None

    def flag(self, name: str) -> bool:
        """Return yes or no."""
        return boolean(self.place(name), self._must(name))

    def number_or_flag(self, name: str) -> float | bool:
        """Return a number, or yes or no."""
        return self.flag(name) if isinstance(self._must(name), bool) else self.number(name)

    def date(self, name: str) -> str:
        """Return an ISO month or day."""
        value = self._must(name)
        month(self.place(name), value)
        return str(value)

    def optional_date(self, name: str) -> str | None:
        """Return an ISO month or day, None where there is none."""
        return self.date(name) if self.has(name) else None

    def word(self, name: str, words: Mapping[str, Any]) -> Any:  # noqa: ANN401 - whatever the word stands for
        """Return what one of `words` stands for."""
        return word(words)(self.place(name), self._must(name))

    def tables(self, name: str) -> tuple[Entry, ...]:
        """Return a list of tables, empty where there is none."""
        return tuple(Entry(each, place) for place, each in self._list(name))

    def optional_table(self, name: str) -> Entry | None:
        """Return a table, None where there is none."""
        return Entry(self._values[name], self.place(name)) if self.has(name) else None

    def end(self) -> None:
        """Refuse fields that nobody asked for."""
        for name in self._values:
            if name not in self._asked:
                raise unknown_field(self.where.rstrip(":"), name, sorted(self._asked))

    def _must(self, name: str) -> object:
        if not self.has(name):
            raise InputError(message("field.missing"), self.place(name))
        return self._values[name]

    def _list(self, name: str) -> list[tuple[str, object]]:
        if not self.has(name):
            return []
        values = self._values[name]
        if not isinstance(values, list):
            raise wrong_type(self.place(name), values, "list")
        return [(f"{self.place(name)}[{position}]", each) for position, each in enumerate(values)]


def read_entries(path: Path) -> Entry:
    """Return the fields of a file; raises `InputError` where it cannot be read."""
    return Entry(read_toml(path), f"{path}:")


def require_once(ids: Iterable[str], where: str) -> None:
    """Refuse an id that stands there twice."""
    seen: set[str] = set()
    for each in ids:
        if each in seen:
            raise InputError(message("beside.twice", id=each), where)
        seen.add(each)
