"""An accelerator from JSON: the words of a file of data/accelerators/, or what `gpudesk catalog show` prints.

    {"name": "Example 1", "vendor": "Example", "generation": "hopper", "announced": false,
     "sources": {"sheet": {"title": "Data sheet", "publisher": "Example", "kind": "vendor_datasheet",
                           "url": "https://example.com/sheet", "date": "2026-03"}},
     "attributes": {"memory": {"value": 192, "unit": "GiB", "source": "sheet"},
                    "memory_bandwidth": {"unit": "TB/s", "reason": "why the first is taken", "claims": [
                        {"value": 5.3, "source": "sheet"}, {"value": 5.2, "source": "sheet of 2025"}]}}}

An id can be given and is otherwise made of the name. Figures have a unit, words have none. `source` names an
entry of `sources`, or is one; where there is only one source it can be left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from gpudesk.catalog.importing.accelerator_facts import StatedFigure, accelerator_facts, doubts
from gpudesk.catalog.importing.accelerator_tables import Table, opened
from gpudesk.catalog.importing.file_sources import file_source, plain_text, slug
from gpudesk.domain.claims import Kind, Source
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.own_facts import MissingField, OwnAccelerator, OwnClaim, Proposal

_ANNOUNCED: Final = "announced"
#: What `gpudesk catalog show` says beside the accelerator.
_BESIDE: Final = frozenset(
    {"id", "name", "vendor", "maker", "generation", _ANNOUNCED, "sources", "attributes"}
)
_IGNORED: Final = frozenset({"kind", "catalog", "disputes", "prices", "own"})


def propose_accelerator(data: bytes, *, name: str, today: str, generations: Sequence[str] = ()) -> Proposal:
    """Return the accelerator of a JSON file called `name`; `generations` are those that the catalog has.

    Raises `InputError` at the field that is at fault. Where the file does not say which generation the part
    behaves like, that is asked for.
    """
    return complete_accelerator(data, {}, name=name, today=today, generations=generations)


def complete_accelerator(
    data: bytes, answers: Mapping[str, object], *, name: str, today: str, generations: Sequence[str] = ()
) -> Proposal:
    """Return the accelerator with what the user says of fields that were missing, by their names."""
    table = opened(data, answers)
    if table.word("kind", "accelerator") != "accelerator":
        raise InputError(message("import.part.other_kind"), "kind")
    title = table.needed("name")
    if not table.has("generation"):
        why = message("import.part.generation")
        missing = MissingField("generation", "word", why, tuple(sorted(generations)))
        return Proposal("accelerator", title, (), missing=(missing,))
    reader = _Reader(table, name)
    figures = {attribute: list(reader.figures(attribute, each)) for attribute, each in reader.attributes()}
    part = OwnAccelerator(
        id=slug(table.word("id") or title, 60),
        name=title,
        vendor=table.word("vendor") or table.needed("maker", shown="vendor"),
        generation=slug(table.needed("generation")),
        announced=table.yes(_ANNOUNCED, default=_status(figures) == _ANNOUNCED),
    )
    facts = accelerator_facts(part, figures, today=today, reasons=reader.reasons)
    claims = [fact for fact in facts if isinstance(fact, OwnClaim)]
    notes = tuple(finding.problem for finding in doubts(claims, title))
    return Proposal("accelerator", title, facts, notes, tuple(_left_out(table, figures, claims)))


def _status(figures: Mapping[str, Sequence[StatedFigure]]) -> object:
    stated = figures.get("status")
    return stated[0].value if stated else None


def _left_out(
    table: Table, figures: Mapping[str, Sequence[StatedFigure]], claims: Sequence[OwnClaim]
) -> Iterator[Message]:
    """Yield what the file says and the facts do not."""
    twice = sum(map(len, figures.values())) - len(claims)
    if twice:
        yield message("import.part.same_source", count=twice)
    other = table.names() - _BESIDE - _IGNORED
    if other:
        yield message(
            "import.part.other_fields", names=tuple(sorted(plain_text(each, 40) for each in other)[:8])
        )


class _Reader:
    """Reads attributes and their sources."""

    def __init__(self, table: Table, file_name: str) -> None:
        self._table = table
        self._file_name = file_name
        self._sources = {key: self._made(each) for key, each in table.tables("sources")}
        self.reasons: dict[str, str] = {}

    def attributes(self) -> Iterator[tuple[str, Table]]:
        """Yield the attributes by name, whether the file has them by name or one after the other."""
        if self._table.is_list("attributes"):
            seen: set[str] = set()
            for each in self._table.list_of_tables("attributes"):
                attribute = each.needed("name")
                if attribute in seen:
                    raise InputError(message("import.part.twice"), each.where(attribute))
                seen.add(attribute)
                yield attribute, each
        else:
            yield from self._table.tables("attributes")

    def figures(self, attribute: str, table: Table) -> Iterator[StatedFigure]:
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

    def _shown(self, table: Table) -> Iterator[StatedFigure]:
        """Yield claims as `gpudesk catalog show` prints them: the value, again as a claim, its rivals."""
        claim = table.table("claim")
        if claim is not None:
            if table.has("value") and table.raw("value") != claim.raw("value"):
                raise InputError(message("import.part.two_values"), table.where("value"))
            yield self._figure(claim, table)
        for rival in table.list_of_tables("rivals") if table.has("rivals") else ():
            yield self._figure(rival, table)

    def _figure(self, claim: Table, attribute: Table) -> StatedFigure:
        value = claim.raw("value")
        if isinstance(value, list):
            value = tuple(value)
        if value is None or isinstance(value, dict):
            raise InputError(message("field.missing"), claim.where("value"))
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

    def _source(self, claim: Table) -> Source:
        """Return the source of a claim: named, written there, or the only one of the file."""
        if claim.is_table("source") and (table := claim.table("source")) is not None:
            return self._made(table)
        key = claim.word("source")
        if key is None and len(self._sources) == 1:
            return next(iter(self._sources.values()))
        if key is None:
            raise InputError(message("import.part.no_source"), claim.where("source"))
        if key not in self._sources:
            raise InputError(message("import.part.unknown_source", given=key), claim.where("source"))
        return self._sources[key]

    def _made(self, table: Table) -> Source:
        """Return a source of the user's with the words of the file."""
        return file_source(
            table.needed("title"),
            table.word("publisher") or self._file_name,
            table.kind("kind") or Kind.USER,
            date=table.date("date"),
            url=table.address("url"),
            trust=table.word("trust"),
        )
