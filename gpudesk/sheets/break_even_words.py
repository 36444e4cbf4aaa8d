"""Sentences that say where two costs are equal, and which one is lower where they never are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.costs import BreakEven
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.sheets.cost_words import is_share
from gpudesk.sheets.money import Money
from gpudesk.text import tr

_SPACE: Final = "\N{NO-BREAK SPACE}"


def break_even_text(found: BreakEven, names: Mapping[str, str], formatter: Formatter, money: Money) -> str:
    """Return where two costs are equal as a sentence; `names` are those of the columns, by key."""
    name, value = names[found.key], found.value
    rival = "" if found.against is None else names[found.against]
    if found.name in _OWN:
        said, never = _OWN[found.name]
        return tr(said if value is not None else never, name=name, value=_value_text(found, formatter))
    if found.name in _API:
        said, never = _API[found.name]
        return tr(said if value is not None else never, name=name, value=formatter.estimate(value))
    if found.name == "hours_to_port":
        if value is None:
            return tr(
                "The dearer software for {name} never pays back in rent against {rival}",
                name=name,
                rival=rival,
            )
        return tr(
            "The dearer software for {name} pays back in rent against {rival}"
            " from {value} accelerator-hours a month on",
            name=name,
            rival=rival,
            value=formatter.count(value),
        )
    kind = found.name.removesuffix("_to_tie")
    said, throughout = _TIES[kind]
    if value is not None:
        return tr(said, name=name, rival=rival, value=_tie_text(kind, value, formatter, money))
    if found.cheaper:
        return tr(
            "A token of {name} is cheaper than one of {rival} {throughout}", **_of(found, names, throughout)
        )
    return tr("A token of {name} is dearer than one of {rival} {throughout}", **_of(found, names, throughout))


def _of(found: BreakEven, names: Mapping[str, str], throughout: str) -> dict[str, str]:
    name = names[found.key]
    rival = "" if found.against is None else names[found.against]
    return {"name": name, "rival": rival, "throughout": tr(throughout, name=name)}


#: What would have to be for a token to cost the same, and how it is put that nothing does.
_TIES: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "price_usd": (
            "A token of {name} costs what one of {rival} does at a purchase price of {value} for {name}",
            "at any purchase price of {name}",
        ),
        "discount": (
            "A token of {name} costs what one of {rival} does at a discount of {value} on {name}",
            "at any discount on {name}, none included",
        ),
        "engineers": (
            "A token of {name} costs what one of {rival} does with {value} engineers for the fleet of {name}",
            "with any number of engineers for {name}, none included",
        ),
        "energy_usd_per_kwh": (
            "A token of {name} costs what one of {rival} does where energy is {value}",
            "whatever energy costs",
        ),
        "throughput": (
            "A token of {name} costs what one of {rival} does where {name} yields {value}",
            "at any throughput of {name}",
        ),
    }
)
_API: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "tokens_to_own": (
            "{name} bought is cheaper than the hosted API from {value} million output tokens a month on",
            "The hosted API is cheaper than {name} bought at any load that it serves",
        ),
        "tokens_to_rent": (
            "{name} rented is cheaper than the hosted API from {value} million output tokens a month on",
            "The hosted API is cheaper than {name} rented at any load that it serves",
        ),
    }
)
_OWN: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "months_to_own": (
            "After {value} months less cash has gone for {name} bought than rented around the clock",
            "Within the years planned no less cash goes for {name} bought than rented around the clock",
        ),
        "hours_to_own": (
            "Over all years {name} bought is cheaper from {value} hours a month on if idle ones cost no rent",
            "Over all years {name} rented is cheaper however many hours a month it is used",
        ),
        "utilisation_to_own": (
            "In use {value} of all hours {name} costs as much bought as rented for these hours alone",
            "Even in use all hours {name} costs no more rented than bought",
        ),
    }
)


def _value_text(found: BreakEven, formatter: Formatter) -> str:
    if found.value is None:
        return UNKNOWN
    if found.name == "utilisation_to_own":
        return formatter.per_cent(found.value)
    return formatter.number(found.value, 1 if found.name == "months_to_own" else 0)


def _tie_text(kind: str, value: float, formatter: Formatter, money: Money) -> str:
    if kind == "price_usd":
        return f"{money.whole(value)}{_SPACE}{money.code}"
    if kind == "energy_usd_per_kwh":
        return f"{money.small(value)}{_SPACE}{money.code}/kWh"
    if kind == "throughput":
        return f"{formatter.estimate(value)}{_SPACE}tok/s"
    if is_share(kind):
        return f"{formatter.number(value * 100.0, 1)}{_SPACE}%"
    return formatter.number(value, 1)
