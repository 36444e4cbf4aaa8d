"""Checks of what the user states, before it becomes a fact: at the field where it was given."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Any, Final

from gpudesk.catalog.attribute_names import ACCELERATOR_REQUIRED
from gpudesk.catalog.definitions import model_of
from gpudesk.catalog.figure_bounds import COUNTED, LARGEST
from gpudesk.catalog.model_patches import is_dimension, patched, stated_dimension
from gpudesk.catalog.model_shapes import shape_faults
from gpudesk.catalog.overlay import chosen_dimensions, same_value
from gpudesk.catalog.queries import Catalog
from gpudesk.catalog.values import value_in_si
from gpudesk.domain.claims import OWN_SOURCE, Attribute, ClaimValue, Kind, Preference, Source
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import OwnFact, OwnModel
from gpudesk.domain.things import ThingKind
from gpudesk.domain.units import UnknownUnitError, si_unit
from gpudesk.workbench.fields import month, plain_text, quoted, wrong_type
from gpudesk.workbench.own_entry import Entry, EntryKind

#: What a source says of its publisher where nobody is named.
NO_PUBLISHER: Final = "not stated"
#: No figure of an accelerator or a model comes near this, in whatever unit.
_MOST: Final = 1e30
#: The sum of all layers of a model, which follows from its groups.
FOLLOWING: Final = "layer_count"
_LONGEST_LINE: Final = 300
_LONGEST_NOTE: Final = 4000
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
#: What the address of a source looks like.
ADDRESS: Final = re.compile(r"https?://[^\s<>\"]{1,1900}")
_SLUG_LENGTH: Final = 40

line = plain_text(_LONGEST_LINE)
_note = plain_text(_LONGEST_NOTE)


def optional_line(where: str, value: str | None) -> str | None:
    """Return a line of text without blanks around it, None where nothing was given."""
    stripped = (value or "").strip()
    return line(where, stripped) if stripped else None


def optional_note(where: str, value: str | None) -> str | None:
    """Return a text of several lines, None where nothing was given."""
    stripped = (value or "").strip()
    return _note(where, stripped) if stripped else None


def optional_date(where: str, value: str | None) -> str | None:
    """Return a year, a month or a day, None where nothing was given."""
    stripped = (value or "").strip()
    if not stripped or _YEAR.fullmatch(stripped):
        return stripped or None
    month(where, stripped)
    return stripped


def slug(name: str) -> str:
    """Return a name in the letters of ids; empty where it has none of them."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.")


def own_source(
    title: str,
    publisher: str | None = None,
    *,
    url: str | None = None,
    date: str | None = None,
    kind: Kind = Kind.USER,
) -> Source:
    """Return a source of the user's; the same words make the same source.

    Raises `InputError` at the field that cannot be taken: `title`, `publisher`, `url` or `date`.
    """
    named = optional_line("title", title)
    if named is None:
        raise InputError(message("own.title_missing"), "title")
    address = optional_line("url", url) if len(url or "") <= _LONGEST_LINE else url
    if address is not None and ADDRESS.fullmatch(address) is None:
        raise InputError(message("own.not_an_address", given=quoted(address)), "url")
    by = optional_line("publisher", publisher) or NO_PUBLISHER
    day = optional_date("date", date)
    words = "\n".join((named, by, address or "", day or "", kind.value))
    digest = hashlib.sha256(words.encode()).hexdigest()[:8]
    shown = slug(named)[:_SLUG_LENGTH].strip("-.")
    return Source(
        id=f"{OWN_SOURCE}{shown}-{digest}" if shown else f"{OWN_SOURCE}{digest}",
        title=named,
        publisher=by,
        kind=kind,
        url=address,
        date=day,
    )


def checked_value(entry: Entry, value: ClaimValue, unit: str | None) -> ClaimValue:
    """Return a value in the unit used inside; raises `InputError` at `value` or `unit`."""
    if entry.kind is EntryKind.NUMBER:
        return _figure(entry.attribute, value, unit)
    if entry.kind is EntryKind.YES_NO:
        if not isinstance(value, bool):
            raise wrong_type("value", value, "boolean")
        return value
    if entry.kind is EntryKind.WORDS:
        words = value if isinstance(value, tuple) else (value,)
        if not words:
            raise InputError(message("field.empty"), "value")
        return tuple(line("value", each) for each in words)
    return str(line("value", value.strip() if isinstance(value, str) else value))


def _figure(attribute: Attribute, value: ClaimValue, unit: str | None) -> int | float:
    """Return a figure above zero in the unit used inside."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong_type("value", value, "number")
    if not 0 < value < _MOST:
        raise InputError(message("field.range_above", given=quoted(value), low=0, high=_MOST), "value")
    try:
        fits = unit is None or attribute.unit is None or si_unit(unit) == attribute.unit
        inside = value_in_si(value, unit) if fits else None
    except UnknownUnitError:
        inside = None
    if isinstance(inside, bool) or not isinstance(inside, int | float) or (unit and attribute.unit is None):
        raise InputError(message("own.unknown_unit", given=quoted(unit), unit=attribute.unit or "1"), "unit")
    whole = attribute.unit in COUNTED or (attribute.unit is None and isinstance(attribute.value, int))
    if whole and inside != int(inside):
        raise wrong_type("value", value, "whole")
    if attribute.unit is not None and inside > (most := LARGEST.get(attribute.unit, _MOST)):
        high = (most, attribute.unit)
        raise InputError(message("field.range_above", given=quoted(value), low=0, high=high), "value")
    return int(inside) if whole else inside


def check_dimension(catalog: Catalog, attribute: Attribute, value: ClaimValue) -> None:
    """Refuse a dimension of a model that makes no model with its other dimensions; `where` is `value`."""
    thing, name = attribute.thing, attribute.name
    if catalog.kind_of(thing) is not ThingKind.MODEL:
        return
    definition = catalog.definition(thing)
    if not is_dimension(definition, name):
        if name == FOLLOWING:
            raise InputError(message("own.follows", name=name), "value")
        return
    chosen = chosen_dimensions(definition, {each.name: each for each in catalog.attributes(thing)})
    check_dimensions(definition, {**chosen, name: value}, "value")


def check_dimensions(definition: Mapping[str, Any], wanted: Mapping[str, ClaimValue], where: str) -> None:
    """Refuse dimensions that make no model with the others of a definition; `where` names what is at fault.

    What is refused of a file is refused here too.
    """
    from gpudesk.catalog.importing.model_facts import checked_model

    if all(same_value(value, stated_dimension(definition, name)) for name, value in wanted.items()):
        return
    try:
        checked_model(patched(definition, wanted))
    except InputError as error:
        raise InputError(error.problem, where) from error


def dimensions_fit(definition: Mapping[str, Any], wanted: Mapping[str, ClaimValue]) -> bool:
    """Whether dimensions make a model with the others of a definition."""
    try:
        check_dimensions(definition, wanted, "value")
    except InputError:
        return False
    return True


def check_choices(catalog: Catalog, things: Collection[str]) -> None:
    """Refuse dimensions of models that the user prefers and that make no model together; where: the model."""
    for model in [thing for thing in catalog.things(ThingKind.MODEL) if thing.id in things]:
        definition = catalog.definition(model.id)
        wanted = {
            fact.attribute: fact.value
            for fact in catalog.own
            if isinstance(fact, Preference)
            and fact.thing == model.id
            and is_dimension(definition, fact.attribute)
        }
        check_dimensions(definition, wanted, model.name)


def required(kind: ThingKind, name: str) -> bool:
    """Whether a thing cannot do without an attribute."""
    return kind is ThingKind.ACCELERATOR and name in ACCELERATOR_REQUIRED


def check_model(fact: OwnFact) -> None:
    """Refuse a model whose definition cannot be read."""
    if isinstance(fact, OwnModel):
        try:
            faults = list(shape_faults(model_of(json.loads(fact.definition))))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(message("own.no_such_model", reason=str(error)), fact.id) from error
        for fault in faults:
            raise InputError(message("own.shape", fault=str(fault)), fact.id)
