"""The statements of the source documents among the claims: what each says of which attribute of which thing.

A statement that an attribute's claims hold already is linked to its claim; any other becomes a rival claim of
its document, which is never preferred: what the files of the things prefer stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gpudesk.catalog.files import DataFiles, Entry
from gpudesk.catalog.problems import Problem
from gpudesk.catalog.references import attributes_of_things
from gpudesk.catalog.schemas import AttributeRecord, ClaimRecord, SeedClaimRecord, listed
from gpudesk.catalog.values import Value, value_in_si
from gpudesk.domain.claims import is_figure
from gpudesk.domain.units import UnknownUnitError

#: Stands in `stated` where a statement bears on an attribute without giving a value of it.
NO_VALUE: Final = "-"

#: What stands in the place of a unit beside words.
_NO_UNITS: Final = frozenset({None, "text", "date", "year", "boolean"})
#: How the names of attributes end that hold the upper end of a range.
_UPPER: Final = "_high"


class StatementError(ValueError):
    """A statement cannot be put as a value of the attribute that it names."""


class Link(NamedTuple):
    """What a statement is about: a thing, perhaps one of its attributes, perhaps a claim by its place."""

    statement: str
    thing: str
    attribute: str | None = None
    claim: int | None = None


@dataclass(frozen=True)
class Statements:
    """The attributes of all things with the statements among their claims, and what each is about."""

    attributes: Mapping[str, Mapping[str, AttributeRecord]]
    links: list[Link] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def with_statements(files: DataFiles) -> Statements:
    """Join every statement to what it is about; what cannot be joined is left out and among the problems."""
    joined = Statements(attributes_of_things(files))
    attributes = {thing: dict(found) for thing, found in joined.attributes.items()}
    for entry in sorted(files.seed_claims, key=lambda entry: entry.record.id):
        for thing in listed(entry.record.thing):
            _join(entry, thing, attributes.get(thing, {}), joined)
    return Statements(attributes, joined.links, joined.problems)


def _join(
    entry: Entry[SeedClaimRecord], thing: str, attributes: dict[str, AttributeRecord], joined: Statements
) -> None:
    """Join a statement to a thing, or to the attributes of it that it names."""
    record = entry.record
    names = listed(record.thing_attribute)
    if not names:
        joined.links.append(Link(record.id, thing))
    for name in names:
        if name not in attributes:
            continue
        attribute = attributes[name]
        if record.stated == NO_VALUE:
            joined.links.append(Link(record.id, thing, name))
            continue
        try:
            claim = _claim(record, name, attribute)
            place = _place(claim, attribute)
        except (StatementError, UnknownUnitError) as error:
            joined.problems.append(entry.problem("stated", f"is no value of {thing} {name}: {error}"))
            continue
        if place is None:
            place = len(attribute.claims)
            attributes[name] = attribute.model_copy(update={"claims": [*attribute.claims, claim]})
            joined.problems.extend(_unexplained(entry, thing, name, claim, attribute))
        joined.links.append(Link(record.id, thing, name, place))


def _claim(record: SeedClaimRecord, name: str, attribute: AttributeRecord) -> ClaimRecord:
    """Put a statement as a claim about an attribute."""
    value, unit = _value(record, name, attribute)
    return ClaimRecord(
        value=value,
        unit=unit,
        source=record.source,
        conditions=record.conditions,
        note=record.note,
        verdict=record.verdict,
    )


def _value(record: SeedClaimRecord, name: str, attribute: AttributeRecord) -> tuple[Value, str | None]:
    """Return the value of an attribute that a statement gives, and the unit that it is printed in."""
    told = record.stated or (record.value_high if name.endswith(_UPPER) else None) or record.value
    known = next((claim.value for claim in attribute.claims), "")
    if isinstance(known, list):
        return [word.strip().lower() for word in told.split(",")], None
    if is_figure(known):
        unit = record.unit if attribute.unit is not None else None
        return _number(told), unit
    worded = record.stated is not None or record.unit in _NO_UNITS
    return (told if worded else f"{told} {record.unit}"), None


def _number(told: str) -> int | float:
    try:
        number = float(told)
    except ValueError:
        raise StatementError(f"{told!r} is no figure") from None
    return int(number) if number.is_integer() else number


def _place(claim: ClaimRecord, attribute: AttributeRecord) -> int | None:
    """Return where the attribute holds the claim already: its source says the same, in the unit inside."""
    wanted = value_in_si(claim.value, claim.unit)
    for place, each in enumerate(attribute.claims):
        if each.source == claim.source and value_in_si(each.value, each.unit or attribute.unit) == wanted:
            return place
    return None


def _unexplained(
    entry: Entry[SeedClaimRecord], thing: str, name: str, claim: ClaimRecord, attribute: AttributeRecord
) -> Iterator[Problem]:
    """A statement that differs from the value taken says why it is not."""
    taken = next((each for each in attribute.claims if each.preferred), None)
    if taken is None or claim.verdict is not None:
        return
    if value_in_si(claim.value, claim.unit) != value_in_si(taken.value, taken.unit or attribute.unit):
        told = f"is missing: {claim.value!r} differs from {taken.value!r}, which is taken for {thing} {name}"
        yield entry.problem("verdict", told)
