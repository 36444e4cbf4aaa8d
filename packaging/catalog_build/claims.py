"""Claims per attribute from data files: model dimensions and statements of the source documents."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from catalog_build.files import DataEntry, DataFiles, DataProblem
from catalog_build.records import (
    AcceleratorFile,
    AttributeRecord,
    ClaimRecord,
    DiffusionFile,
    ModelClaimRecord,
    ModelFile,
    ReferenceDesignFile,
    SeedClaimRecord,
    SystemFile,
    split_names,
)
from gpudesk.catalog.model_definition import MODEL_FIELDS
from gpudesk.catalog.model_record import list_dimensions
from gpudesk.domain.attributes import MODEL_STATED_UNITS, RecordedClaimValue, convert_claim_to_si, find_model_unit
from gpudesk.domain.claim import is_figure
from gpudesk.text.units import UnknownUnitError

#: Words about the checkpoint; without a named configuration their source is that of its precision.
_OF_THE_CHECKPOINT: Final = frozenset({"quantised_tensors", "native_other_precision", "native_group_size"})


def make_model_attributes(model: ModelFile) -> dict[str, AttributeRecord]:
    """Return the attributes by name: dimensions in the order of the file, then other claims."""
    dimensions = list_dimensions(model)
    claimed: dict[str, list[ModelClaimRecord]] = {}
    for claim in model.claims:
        claimed.setdefault(claim.attribute, []).append(claim)
    attributes: dict[str, AttributeRecord] = {}
    for name in [*dimensions, *(name for name in claimed if name not in dimensions)]:
        claims = claimed.get(name, [])
        records: list[ClaimRecord] = [*claims]
        if name in dimensions and not any(claim.preferred for claim in claims):
            source = _find_source(name, model, claimed)
            if source is not None:
                records.insert(0, ClaimRecord(value=dimensions[name], source=source, preferred=True))
        if records:
            attributes[name] = AttributeRecord(
                claims=records,
                unit=find_model_unit(name),
                reason=next((claim.reason for claim in claims if claim.reason is not None), None),
                none_preferred=not any(record.preferred for record in records),
            )
    return attributes


def _find_source(name: str, model: ModelFile, claimed: dict[str, list[ModelClaimRecord]]) -> str | None:
    """Return the source of a dimension without a preferred claim, or None."""
    if model.dimensions_source is not None or name not in _OF_THE_CHECKPOINT:
        return model.dimensions_source
    return next((claim.source for claim in claimed.get("native_precision", ()) if claim.preferred), None)


def find_claim_problems(model: ModelFile, attributes: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield inconsistencies between the claims and the dimensions of a file, as (field, problem).

    `attributes` has the names of `make_model_attributes`.
    """
    dimensions = list_dimensions(model)
    for number, claim in enumerate(model.claims, start=1):
        field = f"claims.{number}"
        if claim.attribute in dimensions:
            value = dimensions[claim.attribute]
            if claim.preferred and (claim.value != value or isinstance(claim.value, bool) != isinstance(value, bool)):
                yield f"{field}.value", f"{claim.value!r} is preferred, but the file has {value!r}"
        elif claim.attribute in MODEL_FIELDS:
            if claim.preferred:
                yield f"{field}.value", f"is preferred, but the file has no {claim.attribute}"
        elif claim.attribute not in MODEL_STATED_UNITS:
            yield (f"{field}.attribute", f"{claim.attribute!r} is neither an attribute nor a dimension stated here")
        if not claim.preferred and claim.verdict is None:
            yield f"{field}.verdict", "is missing: say why the claim is not taken"
    for name in dimensions:
        if name not in attributes:
            yield name, "has no source: name a dimensions_source or claim it"


AttributeFile = AcceleratorFile | DiffusionFile | SystemFile | ReferenceDesignFile


def list_attribute_files(files: DataFiles) -> tuple[DataEntry[AttributeFile], ...]:
    """Return the files that spell out attributes."""
    return (*files.accelerators, *files.diffusion, *files.systems, *files.reference_designs)


def list_attributes_by_thing(files: DataFiles) -> dict[str, dict[str, AttributeRecord]]:
    attributes = {entry.record.id: dict(entry.record.attributes) for entry in list_attribute_files(files)}
    return attributes | {entry.record.id: make_model_attributes(entry.record) for entry in files.models}


#: Marks in `stated` a statement about an attribute that gives no value of it.
NO_VALUE: Final = "-"

#: Words in place of the unit of a value without one.
_NO_UNITS: Final = frozenset({None, "text", "date", "year", "boolean"})
#: Suffix of attributes that are the upper end of a range.
_UPPER: Final = "_high"


class StatementError(ValueError):
    """A statement cannot be converted to a value of the attribute that it names."""


class StatementLink(NamedTuple):
    """The target of a statement: an entry, possibly one of its attributes, possibly a claim by its position."""

    statement: str
    thing: str
    attribute: str | None = None
    claim: int | None = None


@dataclass(frozen=True)
class JoinedStatements:
    """The attributes of all entries with the statements among their claims, and the target of each."""

    attributes: Mapping[str, Mapping[str, AttributeRecord]]
    links: list[StatementLink] = field(default_factory=list)
    problems: list[DataProblem] = field(default_factory=list)


def join_statements(files: DataFiles, things: Mapping[str, Mapping[str, AttributeRecord]]) -> JoinedStatements:
    """Join every statement with its targets; failures are among the problems.

    `things` are those of `list_attributes_by_thing`.
    """
    joined = JoinedStatements(things)
    attributes = {thing: dict(thing_attributes) for thing, thing_attributes in joined.attributes.items()}
    for entry in sorted(files.seed_claims, key=lambda entry: entry.record.id):
        for thing in split_names(entry.record.thing):
            _join_statement(entry, thing, attributes.get(thing, {}), joined)
    return JoinedStatements(attributes, joined.links, joined.problems)


def _join_statement(
    entry: DataEntry[SeedClaimRecord], thing: str, attributes: dict[str, AttributeRecord], joined: JoinedStatements
) -> None:
    record = entry.record
    names = split_names(record.thing_attribute)
    if not names:
        joined.links.append(StatementLink(record.id, thing))
    for name in names:
        if name not in attributes:
            continue
        attribute = attributes[name]
        if record.stated == NO_VALUE:
            joined.links.append(StatementLink(record.id, thing, name))
            continue
        try:
            value, unit = _find_value(record, name, attribute)
            claim = ClaimRecord(
                value=value,
                unit=unit,
                source=record.source,
                conditions=record.conditions,
                note=record.note,
                verdict=record.verdict,
            )
            place = _find_claim(claim, attribute)
        except (StatementError, UnknownUnitError) as error:
            joined.problems.append(entry.problem("stated", f"is no value of {thing} {name}: {error}"))
            continue
        if place is None:
            place = len(attribute.claims)
            attributes[name] = attribute.model_copy(update={"claims": [*attribute.claims, claim]})
            joined.problems.extend(_find_unexplained(entry, thing, name, claim, attribute))
        joined.links.append(StatementLink(record.id, thing, name, place))


def _find_value(
    record: SeedClaimRecord, name: str, attribute: AttributeRecord
) -> tuple[RecordedClaimValue, str | None]:
    stated_value = record.stated or (record.value_high if name.endswith(_UPPER) else None) or record.value
    known_value = next((claim.value for claim in attribute.claims), "")
    if isinstance(known_value, list):
        return [word.strip().lower() for word in stated_value.split(",")], None
    if is_figure(known_value):
        unit = record.unit if attribute.unit is not None else None
        try:
            number = float(stated_value)
        except ValueError:
            raise StatementError(f"{stated_value!r} is no figure") from None
        return (int(number) if number.is_integer() else number), unit
    worded = record.stated is not None or record.unit in _NO_UNITS
    return (stated_value if worded else f"{stated_value} {record.unit}"), None


def _find_claim(claim: ClaimRecord, attribute: AttributeRecord) -> int | None:
    """Return the position of an equal claim of the attribute: same source and internal value."""
    si_value = convert_claim_to_si(claim.value, claim.unit)
    for place, each in enumerate(attribute.claims):
        if each.source == claim.source and convert_claim_to_si(each.value, each.unit or attribute.unit) == si_value:
            return place
    return None


def _find_unexplained(
    entry: DataEntry[SeedClaimRecord], thing: str, name: str, claim: ClaimRecord, attribute: AttributeRecord
) -> Iterator[DataProblem]:
    preferred = next((each for each in attribute.claims if each.preferred), None)
    if preferred is None or claim.verdict is not None:
        return
    if convert_claim_to_si(claim.value, claim.unit) != convert_claim_to_si(
        preferred.value, preferred.unit or attribute.unit
    ):
        problem = f"is missing: {claim.value!r} differs from {preferred.value!r}, which is taken for {thing} {name}"
        yield entry.problem("verdict", problem)
