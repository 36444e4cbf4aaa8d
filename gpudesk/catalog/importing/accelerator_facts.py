"""An accelerator as user facts: every figure with its source, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.accelerator_plausibility import check_plausibility
from gpudesk.domain.attributes import COUNTED_UNITS, LARGEST_BY_UNIT, convert_claim_to_si, format_published
from gpudesk.domain.claim import ClaimPreference, PlausibilityFinding, PlausibilityGrade, Source, SourceKind
from gpudesk.domain.field_checks import (
    CONTROL_CHARACTER,
    EMPTY_FIELD,
    describe_not_above,
    describe_too_long,
    make_type_error,
    quote_value,
)
from gpudesk.domain.registry import ATTRIBUTES, list_required_attributes
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFact
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, input_error
from gpudesk.text.units import UnknownUnitError, get_si_unit

_LONGEST: Final = 200
#: Of a figure in whatever unit.
_MOST: Final = 1e30


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A value in a unit as its source states it; words have no unit."""

    value: ClaimValue
    unit: str | None
    source: Source
    kind: SourceKind | None = None
    conditions: str | None = None
    note: str | None = None
    retrieved: str | None = None
    printed: str | None = None


def make_accelerator_facts(
    part: UserAccelerator,
    figures: Mapping[str, Sequence[StatedFigure]],
    *,
    today: str,
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> tuple[UserFact, ...]:
    """Return the sources, the accelerator, and a claim for every figure; of several the first is preferred.

    `reasons` say by attribute why. Raises `InputError` at the attribute that is missing, in a wrong unit,
    or such as no accelerator can have.
    """
    for name in list_required_attributes():
        if not figures.get(name):
            raise input_error("import.part.required", "is missing; estimates need it", name)
    claims = [claim for name, stated in figures.items() for claim in _iterate_claims(part.id, name, stated, today)]
    for finding in find_doubts(claims, part.name):
        if finding.grade is PlausibilityGrade.REFUSED:
            raise InputError(finding.problem, finding.attribute)
    sources = {each.source.id: each.source for stated in figures.values() for each in stated}
    return (*sources.values(), part, *claims, *_iterate_preferences(claims, reasons, today))


def find_doubts(claims: Sequence[UserClaim], name: str) -> tuple[PlausibilityFinding, ...]:
    """Return what speaks against the figures that are preferred, which are the first of their attributes."""
    values: dict[str, ClaimValue] = {}
    for claim in claims:
        values.setdefault(claim.attribute, claim.value)
    return check_plausibility(values, name)


def _iterate_claims(part: str, name: str, stated: Sequence[StatedFigure], today: str) -> Iterator[UserClaim]:
    """Yield the claims about an attribute; a source states one value of it, the first that is given."""
    if name not in ATTRIBUTES:
        raise input_error("import.part.attribute", "is not an attribute of accelerators", name)
    sources: set[str] = set()
    for figure in stated:
        value = _check_figure_value(name, figure)
        if figure.source.id not in sources:
            sources.add(figure.source.id)
            yield UserClaim(
                thing=part,
                attribute=name,
                value=value,
                source=figure.source.id,
                kind=figure.kind or figure.source.kind,
                retrieved=figure.retrieved or today,
                published=figure.printed or _format_printed(figure),
                conditions=figure.conditions,
                note=figure.note,
            )


def _format_printed(figure: StatedFigure) -> str | None:
    value = figure.value
    return format_published(value, figure.unit) if isinstance(value, int | float) else None


def _iterate_preferences(
    claims: Sequence[UserClaim], reasons: Mapping[str, str], today: str
) -> Iterator[ClaimPreference]:
    """Yield why one of several claims is taken, where that is said."""
    first: dict[str, UserClaim] = {}
    rivalled = set()
    for claim in claims:
        if first.setdefault(claim.attribute, claim) is not claim:
            rivalled.add(claim.attribute)
    for name, claim in first.items():
        if name in rivalled and name in reasons:
            yield ClaimPreference(claim.thing, name, claim.source, claim.value, reasons[name], today)


def _check_figure_value(name: str, figure: StatedFigure) -> ClaimValue:
    """Return a value in the unit used inside; raises `InputError` at the attribute."""
    unit = ATTRIBUTES[name].unit
    if unit is not None:
        return _check_number(name, figure, unit)
    if figure.unit is not None:
        raise input_error(
            "import.part.no_unit", "has the unit {given}, but text has no unit", name, given=quote_value(figure.unit)
        )
    value = figure.value
    if ATTRIBUTES[name].is_word_list:
        words = value if isinstance(value, tuple) else (value,)
        return tuple(_check_text(name, word) for word in words)
    return _check_text(name, value)


def _check_text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise make_type_error(name, value, "text")
    if not value.strip():
        raise InputError(EMPTY_FIELD, name)
    if len(value) > _LONGEST:
        raise InputError(describe_too_long(_LONGEST), name)
    if not value.isprintable():
        raise InputError(CONTROL_CHARACTER, name)
    return value.strip()


def _check_number(name: str, figure: StatedFigure, unit: str) -> int | float:
    value = figure.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise make_type_error(name, value, "number")
    if not 0 < value < _MOST:
        raise _make_range_error(name, value, unit)
    try:
        fits = get_si_unit(figure.unit or unit) == unit
    except UnknownUnitError:
        fits = False
    if not fits or (figure.unit is None and unit not in COUNTED_UNITS):
        raise input_error(
            "import.part.unit",
            "{given} is not a unit for this attribute, which uses {unit}",
            name,
            given=quote_value(figure.unit),
            unit=unit,
        )
    inside = convert_claim_to_si(value, figure.unit)
    if isinstance(inside, float) and unit in COUNTED_UNITS:
        raise make_type_error(name, value, "whole")
    if isinstance(inside, int | float) and inside > LARGEST_BY_UNIT[unit]:
        raise _make_range_error(name, value, unit)
    return inside if isinstance(inside, int | float) else value


def _make_range_error(name: str, value: float, unit: str) -> InputError:
    high = (LARGEST_BY_UNIT[unit], unit)
    return InputError(describe_not_above(quote_value(value), 0, high), name)
