"""An accelerator or a system from JSON: a data file, or the output of `gpudesk catalog show`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, fields
from types import MappingProxyType
from typing import Any, Final

from gpudesk.catalog.importing.entry_facts import FiguredEntry, StatedFigure, find_doubts, make_entry_facts
from gpudesk.catalog.importing.fields import clean_text, make_file_slug, make_file_source
from gpudesk.catalog.read import Catalog
from gpudesk.domain.accelerator import SystemKind
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.field_checks import (
    CONTROL_CHARACTER,
    MISSING_FIELD,
    FieldCheck,
    describe_too_long,
    describe_wrong_address,
    describe_wrong_date,
    make_type_error,
    parse_bounded_json,
)
from gpudesk.domain.user_facts import (
    NOTHING_TO_IMPORT,
    ImportProposal,
    MissingImportField,
    UserAccelerator,
    UserClaim,
    UserSystem,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.input_records import join_place, parse_record
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, Message, input_error, message, message_n, quote_input

_LARGEST_FILE: Final = 4 << 20
_LONGEST_TEXT: Final = 2000
_MOST_ENTRIES: Final = 500
_DATE: Final = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
_ADDRESS: Final = re.compile(r"https?://[^\s]+")


@frozen_dataclass
class _SourceEntry:
    title: str
    publisher: str | None = None
    kind: SourceKind | None = None
    date: str | None = None
    url: str | None = None
    trust: str | None = None


@frozen_dataclass
class _ClaimEntry:
    """A figure with its source: the key of a source of the file, or a whole source."""

    value: ClaimValue = None
    unit: str | None = None
    source: str | _SourceEntry | None = None
    kind: SourceKind | None = None
    conditions: str | None = None
    note: str | None = None
    verdict: str | None = None
    retrieved: str | None = None
    published: str | None = None
    preferred: bool = False


@frozen_dataclass
class _AttributeEntry(_ClaimEntry):
    """One figure, or `claims`; or in the form of `gpudesk catalog show`: the value, its claim, its rivals."""

    name: str | None = None
    reason: str | None = None
    claims: tuple[_ClaimEntry, ...] | None = None
    claim: _ClaimEntry | None = None
    rivals: tuple[_ClaimEntry, ...] | None = None


@frozen_dataclass
class _EntryFields:
    name: str
    id: str | None = None
    vendor: str | None = None
    maker: str | None = None
    kind: str | None = None
    sources: dict[str, _SourceEntry] = field(default_factory=dict)
    attributes: dict[str, _AttributeEntry] | tuple[_AttributeEntry, ...] = ()


@frozen_dataclass
class _AcceleratorFields(_EntryFields):
    generation: str | None = None
    announced: bool | None = None


@frozen_dataclass
class _SystemFields(_EntryFields):
    system_kind: SystemKind | None = None
    accelerator: str | None = None
    provider: str | None = None
    instance: str | None = None


def _accept_line(where: str, value: object) -> str | None:
    """Accept a line of text; None if it is blank."""
    if not isinstance(value, str):
        raise make_type_error(where, value, "text")
    if len(value) > _LONGEST_TEXT:
        raise InputError(describe_too_long(_LONGEST_TEXT), where)
    if not value.isprintable():
        raise InputError(CONTROL_CHARACTER, where)
    return value.strip() or None


def _accept_date(where: str, value: object) -> str | None:
    word = _accept_line(where, value)
    if word is not None and not _DATE.fullmatch(word):
        raise InputError(describe_wrong_date(quote_input(word)), where)
    return word


def _accept_address(where: str, value: object) -> str | None:
    word = _accept_line(where, value)
    if word is not None and not _ADDRESS.fullmatch(word):
        raise InputError(describe_wrong_address(quote_input(word)), where)
    return word


_CHECKS: Final[Mapping[str, FieldCheck]] = {"date": _accept_date, "retrieved": _accept_date, "url": _accept_address}


def _read_table(data: bytes, answers: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields of a file with answers for missing ones."""
    table = parse_bounded_json(data, None, _LARGEST_FILE, no_object=NOTHING_TO_IMPORT, nan=False)
    for name in ("sources", "attributes"):
        entries = table.get(name)
        if isinstance(entries, dict | list) and len(entries) > _MOST_ENTRIES:
            raise input_error("import.part.many", "has more than {most} entries", name, most=_MOST_ENTRIES)
        if isinstance(entries, dict):
            table[name] = {key: each for key, each in entries.items() if each is not None}
    return table | {name: value for name, value in answers.items() if value is not None and table.get(name) is None}


_ANNOUNCED: Final = "announced"
#: Fields of `gpudesk catalog show` that do not belong to the entry.
_IGNORED_FIELDS: Final = frozenset({"kind", "catalog", "disputes", "prices", "own", "api_prices", "missing_prices"})


def propose_accelerator(
    data: bytes,
    answers: Mapping[str, object] = MappingProxyType({}),
    *,
    name: str,
    today: str,
    generations: Sequence[str] = (),
) -> ImportProposal:
    """Return the accelerator of a JSON file called `name`; `generations` are those of the catalog.

    `answers` are the user's values for missing fields, by name; the generation with the same behavior is asked for if
    the file lacks it. Raises `InputError` at the faulty field.
    """
    table = _read_table(data, answers)
    if table.get("kind") not in (None, "accelerator"):
        raise input_error(
            "import.part.other_kind", "is not an accelerator; import models from config.json or GGUF files", "kind"
        )
    entry = parse_record(_AcceleratorFields, table, "", _CHECKS, text=_accept_line, ignore_unknown=True)
    if entry.generation is None:
        why = message(
            "import.part.generation",
            "The file does not name a known generation. Choose the generation that estimates follow; a new "
            "name is uncalibrated",
        )
        missing = MissingImportField("generation", "word", why, tuple(sorted(generations)))
        return ImportProposal("accelerator", entry.name, (), missing=(missing,))
    maker, reader = _require_maker(entry), _FigureReader(entry, table, name)
    figures = reader.read()
    status = figures.get("status")
    part = UserAccelerator(
        id=make_file_slug(entry.id or entry.name, 60),
        name=entry.name,
        vendor=maker,
        generation=make_file_slug(entry.generation),
        announced=bool(status and status[0].value == _ANNOUNCED) if entry.announced is None else entry.announced,
    )
    return _make_proposal(part, reader, table, today)


def propose_system(data: bytes, *, name: str, today: str, catalog: Catalog) -> ImportProposal:
    """Return the system of a JSON file called `name`; its accelerator must be in the catalog.

    Raises `InputError` at the faulty field.
    """
    table = _read_table(data, {})
    entry = parse_record(_SystemFields, table, "", _CHECKS, text=_accept_line, ignore_unknown=True)
    if entry.system_kind is None:
        raise InputError(MISSING_FIELD, "system_kind")
    if entry.accelerator is None:
        raise InputError(MISSING_FIELD, "accelerator")
    try:
        catalog.accelerator(entry.accelerator)
    except InputError as error:
        raise InputError(error.problem, "accelerator") from error
    system = UserSystem(
        id=make_file_slug(entry.id or entry.name, 60),
        name=entry.name,
        vendor=_require_maker(entry),
        kind=entry.system_kind,
        accelerator=entry.accelerator,
        provider=entry.provider,
        instance=entry.instance,
    )
    return _make_proposal(system, _FigureReader(entry, table, name), table, today)


def _require_maker(entry: _EntryFields) -> str:
    maker = entry.vendor or entry.maker
    if maker is None:
        raise InputError(MISSING_FIELD, "vendor")
    return maker


def _make_proposal(entry: FiguredEntry, reader: _FigureReader, table: Mapping[str, Any], today: str) -> ImportProposal:
    figures = reader.read()
    facts = make_entry_facts(entry, figures, today=today, reasons=reader.reasons)
    claims = [fact for fact in facts if isinstance(fact, UserClaim)]
    notes = tuple(finding.problem for finding in find_doubts(claims, entry))
    known = {each.name for each in fields(_AcceleratorFields if isinstance(entry, UserAccelerator) else _SystemFields)}
    ignored = tuple(_list_ignored(table.keys() - known, figures, claims))
    return ImportProposal(entry.key[0], entry.name, facts, notes, ignored)


def _list_ignored(
    unknown_fields: Collection[str], figures: Mapping[str, Sequence[StatedFigure]], claims: Sequence[UserClaim]
) -> Iterator[Message]:
    twice = sum(map(len, figures.values())) - len(claims)
    if twice:
        yield message_n(
            "import.part.same_source",
            "{count} additional value from a source that already gives one",
            "{count} additional values from sources that already give one",
            "count",
            count=twice,
        )
    other = set(unknown_fields) - _IGNORED_FIELDS
    if other:
        yield message(
            "import.part.other_fields",
            "Ignored fields: {names}",
            names=tuple(sorted(clean_text(each, 40) for each in other)[:8]),
        )


class _FigureReader:
    """Reads attributes and their sources."""

    def __init__(self, entry: _EntryFields, table: Mapping[str, Any], file_name: str) -> None:
        self._entry = entry
        self._table = table
        self._file_name = file_name
        self._sources = {key: self._make_source(each) for key, each in entry.sources.items()}
        self.reasons: dict[str, str] = {}

    def read(self) -> dict[str, list[StatedFigure]]:
        """Return the figures by attribute, the preferred one of each first."""
        return {attribute[0]: list(self._list_figures(*attribute)) for attribute in self._list_attributes()}

    def _list_attributes(self) -> Iterator[tuple[str, _AttributeEntry, str, bool]]:
        """Yield the attributes by name, each with its place and whether the file states that it has no value."""
        attribute_entries, raw = self._entry.attributes, self._table.get("attributes")
        if isinstance(attribute_entries, dict):
            for name, each in attribute_entries.items():
                yield name, each, join_place("attributes", name), _is_null(raw, name)
            return
        names: set[str] = set()
        for number, each in enumerate(attribute_entries):
            where = join_place("attributes", number)
            if each.name is None:
                raise InputError(MISSING_FIELD, join_place(where, "name"))
            if each.name in names:
                raise input_error("import.part.twice", "is defined twice; remove one", join_place(where, each.name))
            names.add(each.name)
            yield each.name, each, where, _is_null(raw, number)

    def _list_figures(
        self, attribute: str, entry: _AttributeEntry, where: str, unstated: bool
    ) -> Iterator[StatedFigure]:
        """Yield the figures of an attribute, the preferred one first."""
        if entry.reason:
            self.reasons[attribute] = entry.reason
        if entry.claims is not None:
            numbered = sorted(enumerate(entry.claims), key=lambda each: not each[1].preferred)
            for number, claim in numbered:
                yield self._make_figure(claim, entry, f"{where}.claims[{number}]")
        elif entry.claim is not None or entry.rivals is not None:
            if entry.claim is not None and entry.value not in (None, entry.claim.value):
                raise input_error(
                    "import.part.two_values",
                    "differs from the value of its claim; change both, or remove one",
                    f"{where}.value",
                )
            if entry.claim is not None:
                yield self._make_figure(entry.claim, entry, f"{where}.claim")
            for number, rival in enumerate(entry.rivals or ()):
                yield self._make_figure(rival, entry, f"{where}.rivals[{number}]")
        elif not unstated:
            yield self._make_figure(entry, entry, where)

    def _make_figure(self, claim: _ClaimEntry, attribute: _AttributeEntry, where: str) -> StatedFigure:
        if claim.value is None:
            raise InputError(MISSING_FIELD, f"{where}.value")
        return StatedFigure(
            value=claim.value,
            unit=claim.unit or attribute.unit,
            source=self._find_source(claim.source, f"{where}.source"),
            kind=claim.kind,
            conditions=claim.conditions,
            note=claim.note or claim.verdict,
            retrieved=claim.retrieved,
            printed=claim.published,
        )

    def _find_source(self, reference: str | _SourceEntry | None, where: str) -> Source:
        """Return the source of a claim: named, inline, or the only one of the file."""
        if isinstance(reference, _SourceEntry):
            return self._make_source(reference)
        if reference is None and len(self._sources) == 1:
            return next(iter(self._sources.values()))
        if reference is None:
            raise input_error(
                "import.part.no_source", "is missing: every figure needs a source; enter its publisher", where
            )
        if reference not in self._sources:
            raise input_error(
                "import.part.unknown_source",
                "{given} is not in the list of sources",
                where,
                given=quote_input(reference),
            )
        return self._sources[reference]

    def _make_source(self, entry: _SourceEntry) -> Source:
        return make_file_source(
            entry.title,
            entry.publisher or self._file_name,
            entry.kind or SourceKind.USER,
            date=entry.date,
            url=entry.url,
            trust=entry.trust,
        )


def _is_null(entries: Any, key: str | int) -> bool:  # noqa: ANN401 - any JSON value
    return "value" in entries[key] and entries[key]["value"] is None
