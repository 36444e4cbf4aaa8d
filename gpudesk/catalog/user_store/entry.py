"""Entry of values with their units, and the checks of entered fields."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Mapping
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from gpudesk.catalog.model_definition import (
    find_dimension,
    find_shape_faults,
    is_dimension,
    parse_model,
    patch_definition,
)
from gpudesk.catalog.overlay import find_chosen_dimensions, is_same_value
from gpudesk.catalog.read import Catalog, describe_unknown_attribute
from gpudesk.domain.attributes import (
    COUNTED_UNITS,
    LARGEST_BY_UNIT,
    REGISTERED_ATTRIBUTES,
    convert_claim_to_si,
    get_units,
)
from gpudesk.domain.claim import (
    NO_PUBLISHER,
    USER_SOURCE_PREFIX,
    AttributeClaims,
    CatalogEntryKind,
    ClaimPreference,
    Source,
    SourceKind,
)
from gpudesk.domain.field_checks import (
    EMPTY_FIELD,
    accept_month,
    accept_plain_text,
    describe_not_above,
    describe_wrong_address,
    make_type_error,
    quote_value,
)
from gpudesk.domain.registry import find_attribute_definition, find_quantity, list_required_attributes
from gpudesk.domain.user_facts import UserFact, UserModel
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import ClaimValue, Quantity
from gpudesk.text.messages import InputError, Message, input_error, message, quote_input
from gpudesk.text.units import UnknownUnitError, convert_to_si_unit, get_si_unit

REVERSED_PRICES: Final = message("own.price_order", "is below the low end; swap the two")


class ValueKind(StrEnum):
    """The type of the input."""

    NUMBER = "number"
    WORD = "word"
    WORDS = "words"
    YES_NO = "yes_no"


@frozen_dataclass
class UnitChoice:
    """A unit offered for a number: the input times `times` is in the unit `unit`."""

    label: str
    unit: str | None
    times: int = 1

    def scale(self, typed: float) -> int | float:
        exact = Decimal(str(typed)) * self.times
        return int(exact) if exact == exact.to_integral_value() else float(exact)

    def inside(self, typed: float) -> int | float:
        """Return the input in the internal unit, exactly."""
        exact = Decimal(str(self.scale(typed)))
        if self.unit is not None:
            exact *= Decimal(str(convert_to_si_unit(1, self.unit)))
        return int(exact) if exact == exact.to_integral_value() else float(exact)

    def typed(self, inside: float) -> float:
        """Return the input for a value in the internal unit."""
        return float(Decimal(str(inside)) / Decimal(str(self.inside(1))))


@frozen_dataclass
class ValueEntry:
    """One figure to enter. `attribute` has all existing claims, possibly none.

    The first of `units` is the displayed one; empty for words. `words` are those of other entries.
    """

    attribute: AttributeClaims
    kind: ValueKind
    units: tuple[UnitChoice, ...]
    words: tuple[str, ...] = ()


#: Without any value, the name shows that it is not a plain word.
_YES_NO: Final = frozenset({"tied_embeddings", "router_bias"})
_PLAIN_NUMBER: Final = (UnitChoice("", None),)
_UNITS_BY_QUANTITY: Final[dict[Quantity, tuple[str, ...]]] = {
    Quantity.MEMORY: ("GiB", "GB"),
    Quantity.CACHE: ("MiB", "MB", "GiB"),
    Quantity.MEMORY_BANDWIDTH: ("TB/s", "GB/s"),
    Quantity.LINK_BANDWIDTH: ("GB/s", "TB/s"),
    Quantity.ARITHMETIC: ("TFLOPS", "PFLOPS"),
    Quantity.INTEGER_ARITHMETIC: ("TOPS",),
    Quantity.POWER: ("W", "kW"),
    Quantity.NETWORK_RATE: ("Gbit/s",),
    Quantity.STORAGE: ("TB", "GB"),
}
_BILLION: Final = 10**9


def make_entry(catalog: Catalog, thing: str, name: str) -> ValueEntry:
    """Return the input of an attribute of an entry; raises `InputError` for an unsuitable one."""
    return _make_value_entry(catalog, find_attribute(catalog, thing, name), catalog.get_entry_kind(thing))


def make_new_entry(catalog: Catalog, kind: CatalogEntryKind, name: str) -> ValueEntry:
    """Return the input of an attribute for a new accelerator or system."""
    return _make_value_entry(catalog, AttributeClaims("", name, get_units(kind)[name], ()), kind)


def _make_value_entry(catalog: Catalog, attribute: AttributeClaims, of: CatalogEntryKind) -> ValueEntry:
    kind, name = _find_value_kind(attribute), attribute.name
    units = list_unit_choices(name, attribute.unit) if kind is ValueKind.NUMBER else ()
    words = _list_words(catalog, of, name) if kind in (ValueKind.WORD, ValueKind.WORDS) else ()
    return ValueEntry(attribute, kind, units, words)


def find_attribute(catalog: Catalog, thing: str, name: str) -> AttributeClaims:
    """Return an attribute with its claims, possibly none.

    Raises `InputError` if an entry of this kind has no such attribute.
    """
    claims = next((each for each in catalog.attributes(thing) if each.name == name), None)
    if claims is not None:
        return claims
    units = get_units(catalog.get_entry_kind(thing))
    if name in units:
        return AttributeClaims(thing, name, units[name], ())
    raise InputError(describe_unknown_attribute(thing, name, ()))


def list_unit_choices(name: str, unit: str | None) -> tuple[UnitChoice, ...]:
    """Return the units in which a figure can be entered, the displayed one first."""
    if unit is None:
        return _PLAIN_NUMBER
    if unit == "parameters":
        return (UnitChoice("billion", unit, _BILLION), UnitChoice("", unit))
    scaled = _UNITS_BY_QUANTITY.get(find_quantity(name, unit), (unit,))
    return tuple(UnitChoice(each, each) for each in scaled)


def _find_value_kind(attribute: AttributeClaims) -> ValueKind:
    value: ClaimValue = next((claim.value for claim in attribute.claims if claim.value is not None), None)
    name = attribute.name
    if isinstance(value, bool) or (value is None and name.rpartition(".")[2] in _YES_NO):
        return ValueKind.YES_NO
    definition = find_attribute_definition(name)
    if isinstance(value, tuple) or (value is None and definition is not None and definition.is_word_list):
        return ValueKind.WORDS
    if isinstance(value, int | float) or (value is None and attribute.unit is not None):
        return ValueKind.NUMBER
    return ValueKind.WORD


def _list_words(catalog: Catalog, kind: CatalogEntryKind, name: str) -> tuple[str, ...]:
    words: dict[str, None] = {}
    for each in catalog.things(kind):
        for attribute in catalog.attributes(each.id):
            value = attribute.value if attribute.name == name else None
            if isinstance(value, str):
                words[value] = None
            elif isinstance(value, tuple):
                words.update(dict.fromkeys(value))
    return tuple(sorted(words, key=str.casefold))


#: Larger than any figure of an accelerator or a model, in any unit.
_LARGEST_FIGURE: Final = 1e30
#: The total of all layers of a model, which follows from its groups.
DERIVED_DIMENSION: Final = "layer_count"
_LONGEST_LINE: Final = 300
_LONGEST_NOTE: Final = 4000
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
#: The form of a source's address.
URL_PATTERN: Final = re.compile(r"https?://[^\s<>\"]{1,1900}")
_SLUG_LENGTH: Final = 40

check_line = accept_plain_text(_LONGEST_LINE)
_check_note = accept_plain_text(_LONGEST_NOTE)


def check_optional_line(where: str, value: str | None) -> str | None:
    """Return a line of text without surrounding spaces, None for an empty one."""
    stripped = (value or "").strip()
    return check_line(where, stripped) if stripped else None


def check_optional_note(where: str, value: str | None) -> str | None:
    """Return a multi-line text, None for an empty one."""
    stripped = (value or "").strip()
    return _check_note(where, stripped) if stripped else None


def check_optional_date(where: str, value: str | None) -> str | None:
    """Return a year, a month or a day, None for an empty one."""
    stripped = (value or "").strip()
    if not stripped or _YEAR.fullmatch(stripped):
        return stripped or None
    accept_month(where, stripped)
    return stripped


def make_slug(name: str) -> str:
    """Return a name in the characters of ids; empty if none is left."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9.]+", "-", plain).strip("-.")


def make_user_source(
    title: str,
    publisher: str | None = None,
    *,
    url: str | None = None,
    date: str | None = None,
    kind: SourceKind = SourceKind.USER,
) -> Source:
    """Return a source of the user; equal words give equal sources.

    Raises `InputError` at the invalid field: `title`, `publisher`, `url` or `date`.
    """
    title_line = check_optional_line("title", title)
    if title_line is None:
        raise input_error("own.title_missing", "is missing: every figure needs a source; enter its publisher", "title")
    address = check_optional_line("url", url) if len(url or "") <= _LONGEST_LINE else url
    if address is not None and URL_PATTERN.fullmatch(address) is None:
        raise InputError(describe_wrong_address(quote_value(address)), "url")
    by = check_optional_line("publisher", publisher) or NO_PUBLISHER
    day = check_optional_date("date", date)
    words = "\n".join((title_line, by, address or "", day or "", kind.value))
    digest = hashlib.sha256(words.encode()).hexdigest()[:8]
    slug = make_slug(title_line)[:_SLUG_LENGTH].strip("-.")
    return Source(
        id=f"{USER_SOURCE_PREFIX}{slug}-{digest}" if slug else f"{USER_SOURCE_PREFIX}{digest}",
        title=title_line,
        publisher=by,
        kind=kind,
        url=address,
        date=day,
    )


def check_value(entry: ValueEntry, value: ClaimValue, unit: str | None) -> ClaimValue:
    """Return a value in the internal unit; raises `InputError` at `value` or `unit`."""
    if entry.kind is ValueKind.NUMBER:
        return _check_figure(entry.attribute, value, unit)
    if entry.kind is ValueKind.YES_NO:
        if not isinstance(value, bool):
            raise make_type_error("value", value, "boolean")
        return value
    if entry.kind is ValueKind.WORDS:
        words = value if isinstance(value, tuple) else (value,)
        if not words:
            raise InputError(EMPTY_FIELD, "value")
        return tuple(check_line("value", each) for each in words)
    return str(check_line("value", value.strip() if isinstance(value, str) else value))


def _check_figure(attribute: AttributeClaims, value: ClaimValue, unit: str | None) -> int | float:
    """Return a figure above zero in the internal unit."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise make_type_error("value", value, "number")
    if not 0 < value < _LARGEST_FIGURE:
        raise InputError(describe_not_above(quote_value(value), 0, _LARGEST_FIGURE), "value")
    try:
        fits = unit is None or attribute.unit is None or get_si_unit(unit) == attribute.unit
        inside = convert_claim_to_si(value, unit) if fits else None
    except UnknownUnitError:
        inside = None
    if isinstance(inside, bool) or not isinstance(inside, int | float) or (unit and attribute.unit is None):
        raise input_error(
            "own.unknown_unit",
            "{given} is not a unit for this attribute, which uses {unit}",
            "unit",
            given=quote_value(unit),
            unit=attribute.unit or "1",
        )
    whole = attribute.unit in COUNTED_UNITS or (attribute.unit is None and isinstance(attribute.value, int))
    if whole and inside != int(inside):
        raise make_type_error("value", value, "whole")
    if attribute.unit is not None and inside > (most := LARGEST_BY_UNIT.get(attribute.unit, _LARGEST_FIGURE)):
        high = (most, attribute.unit)
        raise InputError(describe_not_above(quote_value(value), 0, high), "value")
    return int(inside) if whole else inside


def check_dimension(catalog: Catalog, attribute: AttributeClaims, value: ClaimValue) -> None:
    """Refuse a dimension of a model that is inconsistent with the others; `where` is `value`."""
    thing, name = attribute.thing, attribute.name
    if catalog.get_entry_kind(thing) is not CatalogEntryKind.MODEL:
        return
    definition = catalog.definition(thing)
    if not is_dimension(definition, name):
        if name == DERIVED_DIMENSION:
            raise input_error(
                "own.follows", "{name} follows from the layer groups; change a group instead", "value", name=name
            )
        return
    chosen = find_chosen_dimensions(definition, {each.name: each for each in catalog.attributes(thing)})
    check_dimensions(definition, {**chosen, name: value}, "value")


def check_dimensions(definition: Mapping[str, Any], dimensions: Mapping[str, ClaimValue], where: str) -> None:
    """Refuse dimensions of a definition that are inconsistent with the others; `where` names the fault.

    The checks are the same as for files.
    """
    from gpudesk.catalog.importing.model_facts import check_model_definition

    if all(is_same_value(value, find_dimension(definition, name)) for name, value in dimensions.items()):
        return
    try:
        check_model_definition(patch_definition(definition, dimensions))
    except InputError as error:
        raise InputError(error.problem, where) from error


def is_consistent_model(definition: Mapping[str, Any], dimensions: Mapping[str, ClaimValue]) -> bool:
    try:
        check_dimensions(definition, dimensions, "value")
    except InputError:
        return False
    return True


def check_choices(catalog: Catalog, things: Collection[str]) -> None:
    """Refuse the user's preferred dimensions if they are inconsistent; where: the model."""
    for model in [thing for thing in catalog.things(CatalogEntryKind.MODEL) if thing.id in things]:
        definition = catalog.definition(model.id)
        chosen_values = {
            fact.attribute: fact.value
            for fact in catalog.user_facts
            if isinstance(fact, ClaimPreference) and fact.thing == model.id and is_dimension(definition, fact.attribute)
        }
        check_dimensions(definition, chosen_values, model.name)


def is_required(kind: CatalogEntryKind, name: str) -> bool:
    return name in list_required_attributes(REGISTERED_ATTRIBUTES.get(kind, {}))


def check_model(fact: UserFact) -> None:
    """Refuse a model whose definition cannot be read."""
    if isinstance(fact, UserModel):
        try:
            faults = list(find_shape_faults(parse_model(json.loads(fact.definition))))
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(describe_no_such_model(str(error)), fact.id) from error
        for fault in faults:
            raise input_error("own.shape", "conflicts with the rest of the model: {fault}", fact.id, fault=str(fault))


def describe_taken_id(entry_id: str) -> Message:
    return message("own.exists", "{id} already exists; choose another id", id=entry_id)


def describe_no_such_model(reason: str) -> Message:
    return message("own.no_such_model", "is not a valid model: {reason}", reason=reason)


def describe_no_such_source(source: str) -> Message:
    return message(
        "own.no_such_source", "unknown source {id}; enter where the figure comes from", id=quote_input(source)
    )


def describe_required(attribute: str) -> Message:
    return message("own.required", "{attribute} is required; enter it", attribute=attribute)
