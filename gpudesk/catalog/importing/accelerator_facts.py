"""An accelerator as facts of the user: every figure with its source, and such as can be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from gpudesk.catalog.attribute_names import ACCELERATOR, ACCELERATOR_REQUIRED
from gpudesk.catalog.figure_bounds import COUNTED, LARGEST, LISTS
from gpudesk.catalog.importing.accelerator_plausibility import findings
from gpudesk.catalog.importing.hf_fields import quoted, wrong_type
from gpudesk.catalog.values import published, value_in_si
from gpudesk.domain.claims import ClaimValue, Kind, Preference, Source
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnFact
from gpudesk.domain.plausibility import Finding, Grade
from gpudesk.domain.units import UnknownUnitError, si_unit

_LONGEST: Final = 200
#: Of a figure in whatever unit.
_MOST: Final = 1e30


@dataclass(frozen=True, slots=True)
class StatedFigure:
    """A value in a unit as its source states it; words have no unit."""

    value: ClaimValue
    unit: str | None
    source: Source
    kind: Kind | None = None
    conditions: str | None = None
    note: str | None = None
    retrieved: str | None = None
    printed: str | None = None


def accelerator_facts(
    part: OwnAccelerator,
    figures: Mapping[str, Sequence[StatedFigure]],
    *,
    today: str,
    reasons: Mapping[str, str] = MappingProxyType({}),
) -> tuple[OwnFact, ...]:
    """Return the sources, the accelerator, and a claim for every figure; of several the first is preferred.

    `reasons` say by attribute why. Raises `InputError` at the attribute that is missing, in a wrong unit,
    or such as no accelerator can have.
    """
    for name in ACCELERATOR_REQUIRED:
        if not figures.get(name):
            raise InputError(message("import.part.required"), name)
    claims = [claim for name, stated in figures.items() for claim in _claims(part.id, name, stated, today)]
    for finding in doubts(claims, part.name):
        if finding.grade is Grade.REFUSED:
            raise InputError(finding.problem, finding.attribute)
    sources = {each.source.id: each.source for stated in figures.values() for each in stated}
    return (*sources.values(), part, *claims, *_preferences(claims, reasons, today))


def doubts(claims: Sequence[OwnClaim], name: str) -> tuple[Finding, ...]:
    """Return what speaks against the figures that are preferred, which are the first of their attributes."""
    values: dict[str, ClaimValue] = {}
    for claim in claims:
        values.setdefault(claim.attribute, claim.value)
    return findings(values, name)


def _claims(part: str, name: str, stated: Sequence[StatedFigure], today: str) -> Iterator[OwnClaim]:
    """Yield the claims about an attribute; a source states one value of it, the first that is given."""
    if name not in ACCELERATOR:
        raise InputError(message("import.part.attribute"), name)
    seen: set[str] = set()
    for figure in stated:
        value = _checked(name, figure)
        if figure.source.id not in seen:
            seen.add(figure.source.id)
            yield OwnClaim(
                thing=part,
                attribute=name,
                value=value,
                source=figure.source.id,
                kind=figure.kind or figure.source.kind,
                retrieved=figure.retrieved or today,
                published=figure.printed or _published(figure),
                conditions=figure.conditions,
                note=figure.note,
            )


def _published(figure: StatedFigure) -> str | None:
    value = figure.value
    return published(value, figure.unit) if isinstance(value, int | float) else None


def _preferences(claims: Sequence[OwnClaim], reasons: Mapping[str, str], today: str) -> Iterator[Preference]:
    """Yield why one of several claims is taken, where that is said."""
    first: dict[str, OwnClaim] = {}
    rivalled = set()
    for claim in claims:
        if first.setdefault(claim.attribute, claim) is not claim:
            rivalled.add(claim.attribute)
    for name, claim in first.items():
        if name in rivalled and name in reasons:
            yield Preference(claim.thing, name, claim.source, claim.value, reasons[name], today)


def _checked(name: str, figure: StatedFigure) -> ClaimValue:
    """Return a value in the unit used inside; raises `InputError` at the attribute."""
    unit = ACCELERATOR[name]
    if unit is not None:
        return _figure(name, figure, unit)
    if figure.unit is not None:
        raise InputError(message("import.part.no_unit", given=quoted(figure.unit)), name)
    value = figure.value
    if name in LISTS:
        words = value if isinstance(value, tuple) else (value,)
        return tuple(_text(name, word) for word in words)
    return _text(name, value)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise wrong_type(name, value, "text")
    if not value.strip():
        raise InputError(message("field.empty"), name)
    if len(value) > _LONGEST:
        raise InputError(message("field.long", longest=_LONGEST), name)
    if not value.isprintable():
        raise InputError(message("field.control"), name)
    return value.strip()


def _figure(name: str, figure: StatedFigure, unit: str) -> int | float:
    value = figure.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type(name, value, "number")
    if not 0 < value < _MOST:
        raise _beyond(name, value, unit)
    try:
        fits = si_unit(figure.unit or unit) == unit
    except UnknownUnitError:
        fits = False
    if not fits or (figure.unit is None and unit not in COUNTED):
        raise InputError(message("import.part.unit", given=quoted(figure.unit), unit=unit), name)
    inside = value_in_si(value, figure.unit)
    if isinstance(inside, float) and unit in COUNTED:
        raise wrong_type(name, value, "whole")
    if isinstance(inside, int | float) and inside > LARGEST[unit]:
        raise _beyond(name, value, unit)
    return inside if isinstance(inside, int | float) else value


def _beyond(name: str, value: float, unit: str) -> InputError:
    high = (LARGEST[unit], unit)
    return InputError(message("field.range_above", given=quoted(value), low=0, high=high), name)
