"""An accelerator from JSON: a data file, or the output of `gpudesk catalog show`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from gpudesk.catalog.importing.accelerator_facts import StatedFigure, find_doubts, make_accelerator_facts
from gpudesk.catalog.importing.fields import clean_text, make_file_slug, make_file_source
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.fact_exchange import NOTHING_TO_IMPORT
from gpudesk.domain.field_checks import (
    CONTROL_CHARACTER,
    MISSING_FIELD,
    describe_too_long,
    describe_unknown_word,
    describe_wrong_address,
    describe_wrong_date,
    make_type_error,
)
from gpudesk.domain.json_input import parse_bounded_json
from gpudesk.domain.user_facts import ImportProposal, MissingImportField, UserAccelerator, UserClaim
from gpudesk.text.messages import InputError, Message, input_error, message, message_n

_LARGEST_FILE: Final = 4 << 20
_LONGEST_TEXT: Final = 2000
_MOST_ENTRIES: Final = 500
_DATE: Final = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_ADDRESS: Final = re.compile(r"https?://[^\s]+")


def open_table(data: bytes, answers: Mapping[str, object]) -> JsonTable:
    """Return the table of a file with answers in the place of fields that it does not have."""
    table = parse_bounded_json(data, None, _LARGEST_FILE, no_object=NOTHING_TO_IMPORT, nan=False)
    given = {name: value for name, value in answers.items() if value is not None}
    return JsonTable({**table, **{name: value for name, value in given.items() if table.get(name) is None}})


class JsonTable:
    """An object of the file; null counts as not there."""

    def __init__(self, fields: Mapping[str, Any], path: str = "") -> None:
        self._fields = fields
        self._path = path

    def where(self, name: str) -> str:
        shown = clean_text(name, 60)
        return f"{self._path}.{shown}" if self._path else shown

    def names(self) -> frozenset[str]:
        return frozenset(self._fields)

    def has(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def raw(self, name: str) -> Any:  # noqa: ANN401 - as JSON gives it
        return self._fields.get(name)

    def word(self, name: str, default: str | None = None) -> str | None:
        """Return a line of text, or the default where there is none."""
        value = self._fields.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise make_type_error(self.where(name), value, "text")
        if len(value) > _LONGEST_TEXT:
            raise InputError(describe_too_long(_LONGEST_TEXT), self.where(name))
        if not value.isprintable():
            raise InputError(CONTROL_CHARACTER, self.where(name))
        return value.strip() or default

    def needed(self, name: str, shown: str | None = None) -> str:
        """Return a line of text that must be there; `shown` is the name to ask for it by."""
        found = self.word(name)
        if found is None:
            raise InputError(MISSING_FIELD, self.where(shown or name))
        return found

    def yes(self, name: str, *, default: bool) -> bool:
        value = self._fields.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise make_type_error(self.where(name), value, "boolean")
        return value

    def kind(self, name: str) -> SourceKind | None:
        word = self.word(name)
        if word is None:
            return None
        try:
            return SourceKind(word)
        except ValueError:
            allowed = tuple(each.value for each in SourceKind)
            raise InputError(describe_unknown_word(word, allowed), self.where(name)) from None

    def date(self, name: str) -> str | None:
        word = self.word(name)
        if word is not None and not _DATE.fullmatch(word):
            raise InputError(describe_wrong_date(word), self.where(name))
        return word

    def address(self, name: str) -> str | None:
        word = self.word(name)
        if word is not None and not _ADDRESS.fullmatch(word):
            raise InputError(describe_wrong_address(word), self.where(name))
        return word

    def is_list(self, name: str) -> bool:
        return isinstance(self._fields.get(name), list)

    def is_table(self, name: str) -> bool:
        return isinstance(self._fields.get(name), dict)

    def table(self, name: str) -> JsonTable | None:
        value = self._fields.get(name)
        return None if value is None else self._table(name, value)

    def tables(self, name: str) -> Iterator[tuple[str, JsonTable]]:
        """Yield the objects of an object by name; none where it is not there."""
        outer = self.table(name)
        if outer is None:
            return
        outer.check_length(len(outer.names()))
        for key in self._fields[name]:
            if (inner := outer.table(key)) is not None:
                yield key, inner

    def list_of_tables(self, name: str) -> Iterator[JsonTable]:
        value = self._fields.get(name)
        if not isinstance(value, list):
            raise make_type_error(self.where(name), value, "list")
        self.check_length(len(value))
        for number, each in enumerate(value, start=1):
            yield self._table(f"{name}.{number}", each)

    def check_length(self, length: int) -> None:
        if length > _MOST_ENTRIES:
            raise input_error(
                "import.part.many", "has more than {most} entries", self._path or None, most=_MOST_ENTRIES
            )

    def _table(self, name: str, value: object) -> JsonTable:
        if not isinstance(value, dict):
            raise make_type_error(self.where(name), value, "object")
        return JsonTable(value, self.where(name))


_ANNOUNCED: Final = "announced"
#: What `gpudesk catalog show` says beside the accelerator.
_KNOWN_FIELDS: Final = frozenset({"id", "name", "vendor", "maker", "generation", _ANNOUNCED, "sources", "attributes"})
_IGNORED_FIELDS: Final = frozenset({"kind", "catalog", "disputes", "prices", "own"})


def propose_accelerator(
    data: bytes,
    answers: Mapping[str, object] = MappingProxyType({}),
    *,
    name: str,
    today: str,
    generations: Sequence[str] = (),
) -> ImportProposal:
    """Return the accelerator of a JSON file called `name`; `generations` are those that the catalog has.

    `answers` are what the user says of fields that were missing, by their names: where the file does not say which
    generation the part behaves like, that is asked for. Raises `InputError` at the field that is at fault.
    """
    table = open_table(data, answers)
    if table.word("kind", "accelerator") != "accelerator":
        raise input_error(
            "import.part.other_kind", "is not an accelerator; models come from config.json or GGUF files", "kind"
        )
    title = table.needed("name")
    if not table.has("generation"):
        why = message(
            "import.part.generation",
            "The file does not say which generation the accelerator behaves like. Estimates take the constants "
            "of that generation; a new word is uncalibrated",
        )
        missing = MissingImportField("generation", "word", why, tuple(sorted(generations)))
        return ImportProposal("accelerator", title, (), missing=(missing,))
    reader = _AcceleratorReader(table, name)
    figures = {attribute: list(reader.figures(attribute, each)) for attribute, each in reader.attributes()}
    part = UserAccelerator(
        id=make_file_slug(table.word("id") or title, 60),
        name=title,
        vendor=table.word("vendor") or table.needed("maker", shown="vendor"),
        generation=make_file_slug(table.needed("generation")),
        announced=table.yes(_ANNOUNCED, default=_find_status(figures) == _ANNOUNCED),
    )
    facts = make_accelerator_facts(part, figures, today=today, reasons=reader.reasons)
    claims = [fact for fact in facts if isinstance(fact, UserClaim)]
    notes = tuple(finding.problem for finding in find_doubts(claims, title))
    return ImportProposal("accelerator", title, facts, notes, tuple(_list_ignored(table, figures, claims)))


def _find_status(figures: Mapping[str, Sequence[StatedFigure]]) -> object:
    stated = figures.get("status")
    return stated[0].value if stated else None


def _list_ignored(
    table: JsonTable, figures: Mapping[str, Sequence[StatedFigure]], claims: Sequence[UserClaim]
) -> Iterator[Message]:
    twice = sum(map(len, figures.values())) - len(claims)
    if twice:
        yield message_n(
            "import.part.same_source",
            "{count} further value of a source that already states one",
            "{count} further values of sources that already state one",
            "count",
            count=twice,
        )
    other = table.names() - _KNOWN_FIELDS - _IGNORED_FIELDS
    if other:
        yield message(
            "import.part.other_fields",
            "Fields that are not read: {names}",
            names=tuple(sorted(clean_text(each, 40) for each in other)[:8]),
        )


class _AcceleratorReader:
    """Reads attributes and their sources."""

    def __init__(self, table: JsonTable, file_name: str) -> None:
        self._table = table
        self._file_name = file_name
        self._sources = {key: self._made(each) for key, each in table.tables("sources")}
        self.reasons: dict[str, str] = {}

    def attributes(self) -> Iterator[tuple[str, JsonTable]]:
        """Yield the attributes by name, whether the file has them by name or one after the other."""
        if self._table.is_list("attributes"):
            seen: set[str] = set()
            for each in self._table.list_of_tables("attributes"):
                attribute = each.needed("name")
                if attribute in seen:
                    raise input_error("import.part.twice", "is there twice; remove one", each.where(attribute))
                seen.add(attribute)
                yield attribute, each
        else:
            yield from self._table.tables("attributes")

    def figures(self, attribute: str, table: JsonTable) -> Iterator[StatedFigure]:
        """Yield the figures of an attribute, the preferred one first."""
        if reason := table.word("reason"):
            self.reasons[attribute] = reason
        if table.has("claims"):
            claims = list(table.list_of_tables("claims"))
            claims.sort(key=lambda claim: not claim.yes("preferred", default=False))
            yield from (self._figure(claim, table) for claim in claims)
        elif table.has("claim") or table.has("rivals"):
            yield from self._shown(table)
        elif table.has("value") or "value" not in table.names():
            yield self._figure(table, table)

    def _shown(self, table: JsonTable) -> Iterator[StatedFigure]:
        """Yield claims as `gpudesk catalog show` prints them: the value, again as a claim, its rivals."""
        claim = table.table("claim")
        if claim is not None:
            if table.has("value") and table.raw("value") != claim.raw("value"):
                raise input_error(
                    "import.part.two_values",
                    "differs from the value of its claim; change both, or remove one",
                    table.where("value"),
                )
            yield self._figure(claim, table)
        for rival in table.list_of_tables("rivals") if table.has("rivals") else ():
            yield self._figure(rival, table)

    def _figure(self, claim: JsonTable, attribute: JsonTable) -> StatedFigure:
        value = claim.raw("value")
        if isinstance(value, list):
            value = tuple(value)
        if value is None or isinstance(value, dict):
            raise InputError(MISSING_FIELD, claim.where("value"))
        return StatedFigure(
            value=value,
            unit=claim.word("unit") or attribute.word("unit"),
            source=self._source(claim),
            kind=claim.kind("kind"),
            conditions=claim.word("conditions"),
            note=claim.word("note") or claim.word("verdict"),
            retrieved=claim.date("retrieved"),
            printed=claim.word("published"),
        )

    def _source(self, claim: JsonTable) -> Source:
        """Return the source of a claim: named, written there, or the only one of the file."""
        if claim.is_table("source") and (table := claim.table("source")) is not None:
            return self._made(table)
        key = claim.word("source")
        if key is None and len(self._sources) == 1:
            return next(iter(self._sources.values()))
        if key is None:
            raise input_error(
                "import.part.no_source",
                "is missing: every figure needs a source; say who states it",
                claim.where("source"),
            )
        if key not in self._sources:
            raise input_error(
                "import.part.unknown_source", "{given} is no entry of sources", claim.where("source"), given=key
            )
        return self._sources[key]

    def _made(self, table: JsonTable) -> Source:
        return make_file_source(
            table.needed("title"),
            table.word("publisher") or self._file_name,
            table.kind("kind") or SourceKind.USER,
            date=table.date("date"),
            url=table.address("url"),
            trust=table.word("trust"),
        )
