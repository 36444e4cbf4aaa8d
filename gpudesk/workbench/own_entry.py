"""How a figure of the catalog is entered: as what, in which units, and which words others have there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Final

from gpudesk.catalog.attribute_names import ACCELERATOR, DIFFUSION, MODEL_STATED
from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import Attribute, ClaimValue
from gpudesk.domain.formatting import Quantity, display_unit, quantity_of
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.things import ThingKind
from gpudesk.domain.units import to_si


class EntryKind(StrEnum):
    """What is typed."""

    NUMBER = "number"
    WORD = "word"
    WORDS = "words"
    YES_NO = "yes_no"


@dataclass(frozen=True, slots=True)
class UnitChoice:
    """A unit that can be chosen beside a number: what is typed times `times` is in the unit `unit`."""

    label: str
    unit: str | None
    times: int = 1

    def stated(self, typed: float) -> int | float:
        """Return what is typed in `unit`, exactly."""
        exact = Decimal(str(typed)) * self.times
        return int(exact) if exact == exact.to_integral_value() else float(exact)

    def inside(self, typed: float) -> int | float:
        """Return what is typed in the unit used inside, exactly."""
        exact = Decimal(str(self.stated(typed)))
        if self.unit is not None:
            exact *= Decimal(str(to_si(1, self.unit)))
        return int(exact) if exact == exact.to_integral_value() else float(exact)

    def typed(self, inside: float) -> float:
        """Return what one would type for a value in the unit used inside."""
        return float(Decimal(str(inside)) / Decimal(str(self.inside(1))))


@dataclass(frozen=True, slots=True)
class Entry:
    """One figure to enter. `attribute` has all claims there are, none where nobody states it.

    The first of `units` is that on display; there are none for words. `words` are what other things have.
    """

    attribute: Attribute
    kind: EntryKind
    units: tuple[UnitChoice, ...]
    words: tuple[str, ...] = ()


#: Where nobody states a value yet, its name tells that it is no plain word.
_YES_NO: Final = frozenset({"tied_embeddings", "router_bias"})
_LISTS: Final = frozenset({"supported_precisions"})
_PLAIN: Final = (UnitChoice("", None),)
_SCALED: Final[dict[Quantity, tuple[str, ...]]] = {
    Quantity.MEMORY: ("GiB", "GB"),
    Quantity.CACHE: ("MiB", "MB", "GiB"),
    Quantity.MEMORY_BANDWIDTH: ("TB/s", "GB/s"),
    Quantity.LINK_BANDWIDTH: ("GB/s", "TB/s"),
    Quantity.ARITHMETIC: ("TFLOPS", "PFLOPS"),
    Quantity.POWER: ("W", "kW"),
}
_BILLION: Final = 10**9
_KNOWN: Final[dict[ThingKind, Mapping[str, str | None]]] = {
    ThingKind.ACCELERATOR: ACCELERATOR,
    ThingKind.DIFFUSION_MODEL: DIFFUSION,
    ThingKind.MODEL: MODEL_STATED,
}


def entry_of(catalog: Catalog, thing: str, name: str) -> Entry:
    """Return how an attribute of a thing is entered; raises `InputError` for one that it cannot have."""
    return _entry(catalog, attribute_or_empty(catalog, thing, name), catalog.kind_of(thing))


def part_entry(catalog: Catalog, thing: str, name: str) -> Entry:
    """Return how an attribute of an accelerator is entered that need not be there yet."""
    return _entry(catalog, Attribute(thing, name, ACCELERATOR[name], ()), ThingKind.ACCELERATOR)


def _entry(catalog: Catalog, attribute: Attribute, of: ThingKind) -> Entry:
    kind, name = _kind(attribute), attribute.name
    units = units_of(name, attribute.unit) if kind is EntryKind.NUMBER else ()
    words = _words(catalog, of, name) if kind in (EntryKind.WORD, EntryKind.WORDS) else ()
    return Entry(attribute, kind, units, words)


def attribute_or_empty(catalog: Catalog, thing: str, name: str) -> Attribute:
    """Return an attribute with its claims, or without any where nobody states it.

    Raises `InputError` where a thing of this kind has no such attribute.
    """
    found = next((each for each in catalog.attributes(thing) if each.name == name), None)
    if found is not None:
        return found
    known = _KNOWN.get(catalog.kind_of(thing), {})
    if name in known:
        return Attribute(thing, name, known[name], ())
    raise InputError(message("catalog.unknown_attribute", thing=thing, name=name, near=()))


def units_of(name: str, unit: str | None) -> tuple[UnitChoice, ...]:
    """Return the units in which a figure can be typed, that on display first."""
    if unit is None:
        return _PLAIN
    if unit == "parameters":
        return (UnitChoice("billion", unit, _BILLION), UnitChoice("", unit))
    quantity = quantity_of(name, unit)
    if display_unit(quantity, name) == "TOPS":
        return (UnitChoice("TOPS", "TOPS"),)
    scaled = _SCALED.get(quantity, (unit,))
    return tuple(UnitChoice(each, each) for each in scaled)


def _kind(attribute: Attribute) -> EntryKind:
    """Tell from what is claimed, else from the name, what belongs there."""
    stated: ClaimValue = next((claim.value for claim in attribute.claims if claim.value is not None), None)
    last = attribute.name.rpartition(".")[2]
    if isinstance(stated, bool) or (stated is None and last in _YES_NO):
        return EntryKind.YES_NO
    if isinstance(stated, tuple) or (stated is None and last in _LISTS):
        return EntryKind.WORDS
    if isinstance(stated, int | float) or (stated is None and attribute.unit is not None):
        return EntryKind.NUMBER
    return EntryKind.WORD


def _words(catalog: Catalog, kind: ThingKind, name: str) -> tuple[str, ...]:
    """Return the words that things of a kind have there."""
    found: dict[str, None] = {}
    for each in catalog.things(kind):
        for attribute in catalog.attributes(each.id):
            value = attribute.value if attribute.name == name else None
            if isinstance(value, str):
                found[value] = None
            elif isinstance(value, tuple):
                found.update(dict.fromkeys(value))
    return tuple(sorted(found, key=str.casefold))
