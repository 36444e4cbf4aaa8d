"""An accelerator or a system as user facts: every figure with its source, checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.importing.accelerator_plausibility import check_plausibility
from gpudesk.domain.attributes import (
    COUNTED_UNITS,
    LARGEST_BY_UNIT,
    REGISTERED_ATTRIBUTES,
    convert_claim_to_si,
    format_published,
)
from gpudesk.domain.claim import (
    CatalogEntryKind,
    ClaimPreference,
    PlausibilityFinding,
    PlausibilityGrade,
    Source,
    SourceKind,
    is_figure,
)
from gpudesk.domain.field_checks import (
    CONTROL_CHARACTER,
    EMPTY_FIELD,
    describe_not_above,
    describe_too_long,
    make_type_error,
    quote_value,
)
from gpudesk.domain.registry import Attribute, list_required_attributes
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFact, UserSystem
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, input_error, message
from gpudesk.text.units import UnknownUnitError, get_si_unit

_LONGEST: Final = 200
#: Maximum of a figure in any unit.
_MOST: Final = 1e30


FiguredEntry = UserAccelerator | UserSystem

_MORE_THAN_SLOTS: Final = message("system.more_than_slots", "is more than the accelerator slots; correct one of them")
_MORE_THAN_MAXIMUM: Final = message("system.more_than_maximum", "is above the maximum power; correct one of them")
_ABOVE_UPPER_END: Final = message("system.above_upper_end", "is above the high end; swap the two")


@frozen_dataclass
class StatedFigure:
    """A value in its source's unit; words have no unit."""

    value: ClaimValue
    unit: str | None
    source: Source
    kind: SourceKind | None = None
    conditions: str | None = None
    note: str | None = None
    retrieved: str | None = None
    printed: str | None = None


def make_entry_facts(
    entry: FiguredEntry,
    figures: Mapping[str, Sequence[StatedFigure]],
    *,
    today: str,
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> tuple[UserFact, ...]:
    """Return the sources, the entry, and a claim for every figure; of several the first is preferred.

    `reasons` explain the preferences by attribute. Raises `InputError` at an attribute that is missing, has a wrong
    unit, or does not suit the entry.
    """
    attributes = REGISTERED_ATTRIBUTES[CatalogEntryKind(entry.key[0])]
    for name in list_required_attributes(attributes):
        if not figures.get(name):
            raise input_error("import.part.required", "is missing; it is required", name)
    for name in figures:
        if name not in attributes:
            raise input_error("import.part.attribute", "is not an attribute of such entries; correct its name", name)
    claims = [
        claim
        for name, attribute_figures in figures.items()
        for claim in _iterate_claims(entry.id, attributes[name], attribute_figures, today)
    ]
    for finding in find_doubts(claims, entry):
        if finding.grade is PlausibilityGrade.REFUSED:
            raise InputError(finding.problem, finding.attribute)
    sources = {each.source.id: each.source for attribute_figures in figures.values() for each in attribute_figures}
    return (*sources.values(), entry, *claims, *_iterate_preferences(claims, reasons, today))


def find_doubts(claims: Sequence[UserClaim], entry: FiguredEntry) -> tuple[PlausibilityFinding, ...]:
    """Return the problems of the preferred figures, which are the first of their attributes."""
    values: dict[str, ClaimValue] = {}
    for claim in claims:
        values.setdefault(claim.attribute, claim.value)
    return check_system(values) if isinstance(entry, UserSystem) else check_plausibility(values, entry.name)


def check_system(values: Mapping[str, ClaimValue]) -> tuple[PlausibilityFinding, ...]:
    """Return the contradictions among the figures of a system, each of which is refused."""
    return tuple(
        PlausibilityFinding(name, PlausibilityGrade.REFUSED, problem)
        for name, limit, problem in (
            ("accelerator_count", "accelerator_slots", _MORE_THAN_SLOTS),
            ("power_typical", "power_max", _MORE_THAN_MAXIMUM),
            ("price_low", "price_high", _ABOVE_UPPER_END),
        )
        if is_figure(value := values.get(name)) and is_figure(most := values.get(limit)) and value > most
    )


def _iterate_claims(
    entry: str, attribute: Attribute, figures: Sequence[StatedFigure], today: str
) -> Iterator[UserClaim]:
    """Yield the claims about an attribute; of each source the first value."""
    sources: set[str] = set()
    for figure in figures:
        value = _check_figure_value(attribute, figure)
        if figure.source.id not in sources:
            sources.add(figure.source.id)
            yield UserClaim(
                thing=entry,
                attribute=attribute.key,
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
    """Yield the stated reasons for preferring one of several claims."""
    first: dict[str, UserClaim] = {}
    rivalled = set()
    for claim in claims:
        if first.setdefault(claim.attribute, claim) is not claim:
            rivalled.add(claim.attribute)
    for name, claim in first.items():
        if name in rivalled and name in reasons:
            yield ClaimPreference(claim.thing, name, claim.source, claim.value, reasons[name], today)


def _check_figure_value(attribute: Attribute, figure: StatedFigure) -> ClaimValue:
    """Return a value in the internal unit; raises `InputError` at the attribute."""
    name, unit = attribute.key, attribute.unit
    if unit is not None:
        return _check_number(name, figure, unit)
    if figure.unit is not None:
        raise input_error(
            "import.part.no_unit", "has the unit {given}, but text has no unit", name, given=quote_value(figure.unit)
        )
    value = figure.value
    if attribute.is_word_list:
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
