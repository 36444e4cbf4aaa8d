"""Fields of imported configurations, read within bounds, and the source of a file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, TypeVar

from gpudesk.domain.claim import USER_SOURCE_PREFIX, Source, SourceKind
from gpudesk.domain.field_checks import accept_whole, make_type_error
from gpudesk.domain.user_facts import MissingImportField
from gpudesk.text.messages import InputError, Message, Term, format_message, message

_T = TypeVar("_T")

_LONGEST_SLUG: Final = 40
_LONGEST_TEXT: Final = 200
_DIGITS: Final = 8


def make_file_slug(text: str, longest: int = _LONGEST_SLUG) -> str:
    """Return a text as an id: lower case letters, digits, dots and hyphens; "file" if nothing is left."""
    slug = re.sub(r"[^a-z0-9.]+", "-", text.lower())
    slug = re.sub(r"[.-]*-[.-]*", "-", re.sub(r"\.{2,}", ".", slug))[:longest].strip(".-")
    return slug or "file"


def clean_text(text: str, longest: int = _LONGEST_TEXT) -> str:
    """Return a text on one line without unprintable and direction-changing characters."""
    printable = "".join(each if each.isprintable() else " " for each in text[: 4 * longest])
    return " ".join(printable.split())[:longest]


def make_file_source(
    title: str,
    publisher: str,
    kind: SourceKind,
    *,
    date: str | None = None,
    url: str | None = None,
    trust: str | None = None,
) -> Source:
    """Return a source of the user; equal words give equal ids, also when a file is read again."""
    words = (clean_text(title) or "file", clean_text(publisher) or "file")
    digest = hashlib.sha256("\n".join((*words, date or "", url or "")).encode()).hexdigest()[:_DIGITS]
    return Source(
        f"{USER_SOURCE_PREFIX}{make_file_slug(words[0])}-{digest}", *words, kind, url=url, date=date, trust=trust
    )


#: Above every size of every network; products of them are bounded again in `model_facts`.
LARGEST_SIZE: Final = 2**31
#: Maximum number of layers, since lists are made of that length.
MOST_LAYERS: Final = 2**12
MOST_EXPERTS: Final = 2**14
_QUOTED: Final = 60


class ConfigFields:
    """A table of the file. `defaults` are those of the architecture's class.

    Tables inside it share `missing`, `assumed` and `read_names`, which hold the paths of fields: required but missing,
    taken from the class, and read.
    """

    def __init__(
        self,
        table: Mapping[str, Any],
        path: str = "",
        *,
        defaults: Mapping[str, int] = MappingProxyType({}),
        parent: ConfigFields | None = None,
    ) -> None:
        self._table = table
        self._path = path
        self._defaults = defaults
        self.missing: dict[str, MissingImportField] = {} if parent is None else parent.missing
        self.assumed: dict[str, int] = {} if parent is None else parent.assumed
        self.read_names: set[str] = set() if parent is None else parent.read_names

    def with_defaults(self, defaults: Mapping[str, int]) -> ConfigFields:
        """Return the same table with the defaults of its class."""
        return ConfigFields(self._table, self._path, defaults=defaults, parent=self)

    def with_values(self, values: Mapping[str, Any]) -> ConfigFields:
        """Return the same table with other values."""
        return ConfigFields({**self._table, **values}, self._path, defaults=self._defaults, parent=self)

    def _get(self, name: str) -> Any:  # noqa: ANN401 - any content of the file
        self.read_names.add(self.where(name))
        return self._table.get(name)

    def where(self, name: str) -> str:
        name_text = name if name.isprintable() and len(name) <= _QUOTED else clean_text(name, _QUOTED)
        return f"{self._path}.{name_text}" if self._path else name_text

    def has(self, *names: str) -> bool:
        return any(self._table.get(name) is not None for name in names)

    def whole(self, *names: str, low: int = 1, high: int = LARGEST_SIZE) -> int:
        """Return a required number, under the first of its names that exists, or ask for it."""
        value = self.find_whole(*names, low=low, high=high)
        if value is None:
            self.ask(names[0], "whole")
            return low
        return value

    def read_whole_or(self, default: int, *names: str, low: int = 1, high: int = LARGEST_SIZE) -> int:
        value = self.find_whole(*names, low=low, high=high)
        return default if value is None else value

    def find_whole(self, *names: str, low: int = 1, high: int = LARGEST_SIZE) -> int | None:
        """Return a number, or None without any of its names or a default.

        Further names are synonyms: if present too, they count as read.
        """
        self.read_names.update(map(self.where, names))
        for name in names:
            value = self._get(name)
            if value is not None:
                return int(accept_whole(low, high)(self.where(name), value))
        for name in names:
            if name in self._defaults:
                self.assumed[self.where(name)] = self._defaults[name]
                return self._defaults[name]
        return None

    def yes(self, *names: str, default: bool) -> bool:
        return self._find_of_type(bool, "boolean", names, default)

    def word(self, *names: str, default: str = "") -> str:
        return self._find_of_type(str, "text", names, default)

    def _find_of_type(self, kind: type[_T], type_name: str, names: Sequence[str], default: _T) -> _T:
        """Return the value under the first of the names that exists; raises `InputError` for any other type."""
        for name in names:
            value = self._get(name)
            if value is not None:
                if not isinstance(value, kind):
                    raise make_type_error(self.where(name), value, type_name)
                return value
        return default

    def words(self, name: str, count: int) -> list[str] | None:
        """Return the first `count` words of a per-layer list, or None without one."""
        values = self._list(name, count)
        if values is None:
            return None
        for number, value in enumerate(values, start=1):
            if not isinstance(value, str):
                raise make_type_error(f"{self.where(name)}.{number}", value, "text")
        return values

    def read_whole_list(self, name: str, count: int) -> list[int] | None:
        """Return the first `count` numbers of a per-layer list, yes and no as 1 and 0."""
        values = self._list(name, count)
        if values is None:
            return None
        check, where = accept_whole(0, LARGEST_SIZE), self.where(name)
        return [
            int(value) if isinstance(value, bool) else check(f"{where}.{number}", value)
            for number, value in enumerate(values, start=1)
        ]

    def numbers(self, name: str, high: int) -> frozenset[int] | None:
        """Return a list of layer numbers of any length, or None without one."""
        values = self._get(name)
        if values is None:
            return None
        if not isinstance(values, list):
            raise make_type_error(self.where(name), values, "list")
        check, where = accept_whole(0, high), self.where(name)
        return frozenset(check(f"{where}.{number}", value) for number, value in enumerate(values, start=1))

    def is_list(self, name: str) -> bool:
        return isinstance(self._table.get(name), list)

    def table(self, name: str) -> ConfigFields | None:
        value = self._get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise make_type_error(self.where(name), value, "object")
        return ConfigFields(value, self.where(name), parent=self)

    def tables(self, name: str, count: int) -> list[ConfigFields]:
        """Return the first `count` tables of a per-layer list; raises if there are fewer."""
        values = self._list(name, count) or []
        inner_tables = []
        for number, value in enumerate(values, start=1):
            where = f"{self.where(name)}.{number}"
            if not isinstance(value, Mapping):
                raise make_type_error(where, value, "object")
            inner_tables.append(ConfigFields(value, where, parent=self))
        return inner_tables

    def names(self) -> tuple[str, ...]:
        """Return the names of all text fields."""
        return tuple(self._table)

    def raw(self, name: str) -> object:
        return self._get(name)

    def list_unread(self, hints: Sequence[str]) -> tuple[str, ...]:
        """Return the names of unread fields that hold a size, a list or a yes, and contain a hint."""
        return tuple(
            clean_text(name, _QUOTED)
            for name, value in self._table.items()
            if isinstance(value, int | list | Mapping)
            and value
            and self.where(name) not in self.read_names
            and any(hint in name for hint in hints)
        )

    def ask(self, name: str, kind: str, choices: Sequence[str] = ()) -> None:
        where = self.where(name)
        why = message("import.hf.missing", "{of}; not in the file", of=_FIELD_MEANINGS.get(name, _OTHER_SIZE))
        self.missing.setdefault(where, MissingImportField(where, kind, why, tuple(choices)))

    def _list(self, name: str, count: int) -> list[Any] | None:
        values = self._get(name)
        if values is None:
            return None
        if not isinstance(values, list):
            raise make_type_error(self.where(name), values, "list")
        if len(values) < count:
            raise InputError(describe_short_list(len(values), count), self.where(name))
        return values[:count]


#: Meanings of the fields of a configuration.
_FIELD_MEANINGS: Final[dict[str, Term]] = {
    term: term
    for term in (
        Term("hidden_size", "Width of a token between layers"),
        Term("num_hidden_layers", "Number of layers"),
        Term("vocab_size", "Vocabulary size in tokens"),
        Term("num_attention_heads", "Query heads per layer"),
        Term("num_key_value_heads", "Key and value heads per layer"),
        Term("head_dim", "Width of a head"),
        Term("intermediate_size", "Width of the feed-forward block"),
        Term("moe_intermediate_size", "Width of an expert"),
        Term("num_experts", "Experts per layer"),
        Term("num_experts_per_tok", "Experts per token"),
        Term("tie_word_embeddings", "LM head shares the embedding table"),
        Term("attention_bias", "Attention projections have biases"),
        Term("qk_norm", "Normalization of queries and keys: none, per head, or across all heads"),
        Term("quantized_matrices", "Matrices in the narrow number format, whose targets are unknown"),
        Term("gated_mlp", "Feed-forward block has a gate: three matrices instead of two"),
    )
}
_OTHER_SIZE: Final = Term("other_size", "A size of this architecture")


#: Meanings of the possible words of a field.
_CHOICE_MEANINGS: Final[dict[str, Term]] = {
    term: term
    for term in (
        Term("none", "no norm"),
        Term("head", "one norm per head"),
        Term("full", "one norm across all heads"),
        Term("all", "all matrices of the layers"),
        Term("feed_forward", "feed-forward blocks, including experts"),
        Term("experts", "routed experts only"),
        Term("nothing", "no matrix of the text model"),
    )
}


def describe_choice(choice: str) -> str:
    """Return the meaning of a possible word for a missing field; the word itself if it is a name."""
    meaning = _CHOICE_MEANINGS.get(choice)
    return choice if meaning is None else format_message(message("import.choice_meaning", "{meaning}", meaning=meaning))


def describe_missing_field(field: MissingImportField) -> str:
    """Return the name of a field with its meaning, and its possible words."""
    name, why = field.name, format_message(field.why)
    meanings = {choice: describe_choice(choice) for choice in field.choices}
    words = tuple(choice if choice == meaning else f"{choice} = {meaning}" for choice, meaning in meanings.items())
    if field.kind == "yes_no":
        text = message("import.missing_flag", "{name}, yes or no ({why})", name=name, why=why)
    elif words:
        text = message("import.missing_choice", "{name}, one of {choices} ({why})", name=name, choices=words, why=why)
    else:
        text = message("import.missing_size", "{name} ({why})", name=name, why=why)
    return format_message(text)


def describe_short_list(actual: int, expected: int) -> Message:
    return message("import.hf.short_list", "has {found} entries for {wanted} layers", found=actual, wanted=expected)


def describe_too_large_size(largest: int) -> Message:
    return message("import.model.large", "is larger than the limit of {largest}", largest=largest)
