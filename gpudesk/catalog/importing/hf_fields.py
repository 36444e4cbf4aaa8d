"""One table of a configuration, read field by field: bounded, typed, and keeping count of what is not there.

Names are those of the file. A field that is needed and not there is asked for: the reading goes on with a
stand-in, and the fields that are missing are told together. JSON's null counts as not there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from gpudesk.catalog.importing.file_sources import plain_text
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import MissingField

#: Above every size of every network; what is multiplied from there is bounded again in `model_facts`.
LARGEST: Final = 2**31
#: Layers beyond which nothing is read, since lists are made as long as that.
MOST_LAYERS: Final = 2**12
MOST_EXPERTS: Final = 2**14
_QUOTED: Final = 60
_KINDS: Final[Mapping[type, str]] = MappingProxyType(
    {
        bool: "boolean",
        int: "whole",
        float: "number",
        str: "text",
        list: "list",
        dict: "object",
    }
)


class Fields:
    """A table of the file. `defaults` are what the class of the architecture takes for what is left out.

    Tables inside it share `missing` and `assumed`, which hold the paths of fields.
    """

    def __init__(
        self,
        table: Mapping[str, Any],
        path: str = "",
        *,
        defaults: Mapping[str, int] = MappingProxyType({}),
        parent: Fields | None = None,
    ) -> None:
        """Read from a table as JSON gives it."""
        self._table = table
        self._path = path
        self._defaults = defaults
        self.missing: dict[str, MissingField] = {} if parent is None else parent.missing
        self.assumed: dict[str, int] = {} if parent is None else parent.assumed

    def with_defaults(self, defaults: Mapping[str, int]) -> Fields:
        """Return the same table with what its class takes for fields that are left out."""
        return Fields(self._table, self._path, defaults=defaults, parent=self)

    def where(self, name: str) -> str:
        """Return the path of a field."""
        shown = name if name.isprintable() and len(name) <= _QUOTED else plain_text(name, _QUOTED)
        return f"{self._path}.{shown}" if self._path else shown

    def has(self, *names: str) -> bool:
        """Whether one of the fields is there."""
        return any(self._table.get(name) is not None for name in names)

    def whole(self, *names: str, low: int = 1, high: int = LARGEST) -> int:
        """Return a number that is needed, under the first of its names that is there, or ask for it."""
        value = self.maybe(*names, low=low, high=high)
        if value is None:
            self.ask(names[0], "whole")
            return low
        return value

    def whole_or(self, default: int, *names: str, low: int = 1, high: int = LARGEST) -> int:
        """Return a number that the class has a default for."""
        value = self.maybe(*names, low=low, high=high)
        return default if value is None else value

    def maybe(self, *names: str, low: int = 1, high: int = LARGEST) -> int | None:
        """Return a number, or None where no name is there and the class says nothing."""
        for name in names:
            if self._table.get(name) is not None:
                return self._whole(self.where(name), self._table[name], low, high)
        for name in names:
            if name in self._defaults:
                self.assumed[self.where(name)] = self._defaults[name]
                return self._defaults[name]
        return None

    def yes(self, *names: str, default: bool) -> bool:
        """Return a yes or no."""
        for name in names:
            value = self._table.get(name)
            if value is not None:
                if not isinstance(value, bool):
                    raise wrong_type(self.where(name), value, "boolean")
                return value
        return default

    def word(self, *names: str, default: str = "") -> str:
        """Return a word."""
        for name in names:
            value = self._table.get(name)
            if value is not None:
                if not isinstance(value, str):
                    raise wrong_type(self.where(name), value, "text")
                return value
        return default

    def words(self, name: str, count: int) -> list[str] | None:
        """Return the first `count` words of a list with one a layer, or None where it is not there."""
        values = self._list(name, count)
        if values is None:
            return None
        for number, value in enumerate(values, start=1):
            if not isinstance(value, str):
                raise wrong_type(f"{self.where(name)}.{number}", value, "text")
        return values

    def wholes(self, name: str, count: int) -> list[int] | None:
        """Return the first `count` numbers of a list with one a layer, yes and no as 1 and 0."""
        values = self._list(name, count)
        if values is None:
            return None
        return [
            int(value)
            if isinstance(value, bool)
            else self._whole(f"{self.where(name)}.{number}", value, 0, LARGEST)
            for number, value in enumerate(values, start=1)
        ]

    def numbers(self, name: str, high: int) -> frozenset[int] | None:
        """Return a list of layer numbers, however many, or None where it is not there."""
        values = self._table.get(name)
        if values is None:
            return None
        if not isinstance(values, list):
            raise wrong_type(self.where(name), values, "list")
        return frozenset(
            self._whole(f"{self.where(name)}.{number}", value, 0, high)
            for number, value in enumerate(values, start=1)
        )

    def is_list(self, name: str) -> bool:
        """Whether a field is a list."""
        return isinstance(self._table.get(name), list)

    def table(self, name: str) -> Fields | None:
        """Return a table inside this one, or None where it is not there."""
        value = self._table.get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise wrong_type(self.where(name), value, "object")
        return Fields(value, self.where(name), parent=self)

    def tables(self, name: str, count: int) -> list[Fields]:
        """Return the first `count` tables of a list with one a layer; raises where there are fewer."""
        values = self._list(name, count) or []
        found = []
        for number, value in enumerate(values, start=1):
            where = f"{self.where(name)}.{number}"
            if not isinstance(value, Mapping):
                raise wrong_type(where, value, "object")
            found.append(Fields(value, where, parent=self))
        return found

    def names(self) -> tuple[str, ...]:
        """Return the names of all fields that are text."""
        return tuple(self._table)

    def raw(self, name: str) -> object:
        """Return what stands in a field, unread."""
        return self._table.get(name)

    def ask(self, name: str, kind: str, choices: Sequence[str] = ()) -> None:
        """Note that a field is missing."""
        where = self.where(name)
        why = message("import.hf.missing", of=name if name in MEANINGS else "other_size")
        self.missing.setdefault(where, MissingField(where, kind, why, tuple(choices)))

    def _list(self, name: str, count: int) -> list[Any] | None:
        values = self._table.get(name)
        if values is None:
            return None
        if not isinstance(values, list):
            raise wrong_type(self.where(name), values, "list")
        if len(values) < count:
            raise InputError(
                message("import.hf.short_list", found=len(values), wanted=count), self.where(name)
            )
        return values[:count]

    @staticmethod
    def _whole(where: str, value: object, low: int, high: int) -> int:
        if isinstance(value, float) and math.isfinite(value) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong_type(where, value, "whole")
        if not low <= value <= high:
            raise InputError(message("field.range", given=quoted(value), low=low, high=high), where)
        return value


#: Fields whose meaning has words of its own.
MEANINGS: Final = frozenset(
    {
        "hidden_size",
        "num_hidden_layers",
        "vocab_size",
        "num_attention_heads",
        "num_key_value_heads",
        "head_dim",
        "intermediate_size",
        "moe_intermediate_size",
        "num_experts",
        "num_experts_per_tok",
        "tie_word_embeddings",
        "attention_bias",
        "qk_norm",
        "gated_mlp",
    }
)


def wrong_type(where: str, value: object, wanted: str) -> InputError:
    """Return the error for a value of another kind than the field holds."""
    found = _KINDS.get(type(value), "nothing")
    return InputError(message("field.type", given=quoted(value), found=found, wanted=wanted), where)


def quoted(value: object) -> str:
    """Return a value as JSON writes it, cut where it is long."""
    if isinstance(value, list | dict):
        return "[…]" if isinstance(value, list) else "{…}"
    if isinstance(value, int) and abs(value) > 10**_QUOTED:
        return "10^60 …"
    written = json.dumps(value, ensure_ascii=True, default=str)
    return written if len(written) <= _QUOTED else written[:_QUOTED] + "…"
