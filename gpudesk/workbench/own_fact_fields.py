"""The fields of the user's facts as they come from outside, and what each of them can be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from typing import Any, Final, cast

from gpudesk.catalog.attribute_names import ACCELERATOR, DIFFUSION, MODEL_STATED
from gpudesk.catalog.definitions import to_json
from gpudesk.catalog.figure_bounds import COUNTED, LARGEST, LISTS
from gpudesk.domain.claims import OWN_SOURCE, ClaimValue, Kind, Preference, Source
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnFact, OwnModel, OwnPrice
from gpudesk.workbench.fields import Check, boolean, number, plain_text, quoted, text, whole, word, wrong_type
from gpudesk.workbench.own_checks import ADDRESS, optional_date

_MOST_WORDS: Final = 100
_MOST: Final = 1e30
#: Whole numbers have 64 bits where they are handed on.
_MOST_WHOLE: Final = 2**63 - 1
_MOST_USD: Final = 1e9
_LINE: Final = plain_text(300)
_NOTE: Final = plain_text(4000)
_ID: Final = re.compile(r"[a-z0-9]+(?:[._-]+[a-z0-9]+)*")
_ATTRIBUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*")
#: Units of what is counted in whole numbers.
_COUNTED: Final = COUNTED | {"tokens", "parameters"}
_KINDS: Final = {kind.value: kind for kind in Kind}


def _matching(pattern: re.Pattern[str]) -> Check:
    def check(where: str, value: object) -> str:
        found: str = _LINE(where, value)
        if pattern.fullmatch(found) is None:
            raise InputError(message("pack.no_id", given=quoted(found)), where)
        return found

    return check


def _own_source_id(where: str, value: object) -> str:
    found: str = _matching(_ID)(where, value)
    if not found.startswith(OWN_SOURCE):
        raise InputError(message("pack.not_own_source", given=quoted(found)), where)
    return found


def _date(where: str, value: object) -> str | None:
    given: str = _LINE(where, value)
    try:
        return optional_date(where, given)
    except InputError:
        raise InputError(message("field.month", given=quoted(given)), where) from None


def _address(where: str, value: object) -> str:
    given: str = text(2000)(where, value)
    if ADDRESS.fullmatch(given) is None:
        raise InputError(message("own.not_an_address", given=quoted(given)), where)
    return given


def _value(where: str, value: object) -> ClaimValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        whole(-_MOST_WHOLE, _MOST_WHOLE)(where, value)
        return value
    if isinstance(value, float):
        return float(number(-_MOST, _MOST)(where, value))
    if isinstance(value, list):
        if not 0 < len(value) <= _MOST_WORDS:
            raise InputError(message("field.range", given=str(len(value)), low=1, high=_MOST_WORDS), where)
        return tuple(_LINE(f"{where}[{place}]", each) for place, each in enumerate(value))
    return cast("str", _NOTE(where, value))


def _definition(where: str, value: object) -> str:
    """Return the structure of a model as the catalog keeps it, after all the checks of an import."""
    from gpudesk.catalog.importing.model_facts import checked_model

    if not isinstance(value, dict):
        raise wrong_type(where, value, "object")
    try:
        return to_json(checked_model(value).definition())
    except RecursionError:
        raise InputError(message("pack.too_deep"), where) from None
    except InputError as error:
        raise InputError(error.problem, f"{where}.{error.where}" if error.where else where) from error


@dataclass(frozen=True)
class Shape:
    """The fields of a kind of fact, each with its check."""

    made: Callable[..., OwnFact]
    checks: Mapping[str, Check]

    @cached_property
    def blank(self) -> Mapping[str, None]:
        """The fields that have no default and may be unknown."""
        return dict.fromkeys(name for name, kind in self._without_default if kind.endswith("| None"))

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The fields that there must be."""
        return tuple(name for name, _ in self._without_default if name not in self.blank)

    @property
    def _without_default(self) -> Iterator[tuple[str, str]]:
        named = fields(cast("Any", self.made))
        return ((field.name, str(field.type)) for field in named if field.default is MISSING)


_USD: Final = number(0, _MOST_USD, above=True)
_THING: Final = _matching(_ID)
_STATED: Final[Mapping[str, Check]] = {
    "thing": _THING,
    "attribute": _matching(_ATTRIBUTE),
    "value": _value,
}
SHAPES: Final[Mapping[str, Shape]] = {
    "source": Shape(
        Source,
        {
            "id": _own_source_id,
            "title": _LINE,
            "publisher": _LINE,
            "kind": word(_KINDS),
            "url": _address,
            "date": _date,
            "trust": _NOTE,
        },
    ),
    "accelerator": Shape(
        OwnAccelerator,
        {"id": _THING, "name": _LINE, "vendor": _LINE, "generation": _LINE, "announced": boolean},
    ),
    "model": Shape(OwnModel, {"id": _THING, "name": _LINE, "organisation": _LINE, "definition": _definition}),
    "claim": Shape(
        OwnClaim,
        {
            **_STATED,
            "source": _own_source_id,
            "kind": word(_KINDS),
            "retrieved": _date,
            "published": _LINE,
            "conditions": _LINE,
            "note": _NOTE,
        },
    ),
    "preference": Shape(Preference, {**_STATED, "source": _THING, "reason": _NOTE, "date": _date}),
    "price": Shape(
        OwnPrice,
        {
            "id": _LINE,
            "accelerator": _THING,
            "term": _LINE,
            "source": _own_source_id,
            "kind": word(_KINDS),
            "usd": _USD,
            "usd_low": _USD,
            "usd_high": _USD,
            "provider": _LINE,
            "region": _LINE,
            "instance": _LINE,
            "accelerators_in_instance": whole(1, 1_000_000),
            "basis": _LINE,
            "date": _date,
            "note": _NOTE,
        },
    ),
}


def check_fact(fact: OwnFact, where: str) -> None:
    """Refuse a fact whose fields do not go together."""
    if isinstance(fact, OwnClaim | Preference):
        _check_value(fact.attribute, fact.value, f"{where}.value")
    if isinstance(fact, OwnModel) and (described := json.loads(fact.definition)["id"]) != fact.id:
        raise InputError(message("pack.other_id", id=described), f"{where}.definition")
    if isinstance(fact, OwnPrice):
        stated = [amount for amount in (fact.usd_low, fact.usd, fact.usd_high) if amount is not None]
        if not stated:
            raise InputError(message("field.missing"), f"{where}.usd")
        if stated != sorted(stated):
            raise InputError(message("own.price_order"), f"{where}.usd_high")


def _check_value(attribute: str, value: ClaimValue, where: str) -> None:
    """Refuse a value that an attribute cannot have: words for figures and the reverse, and sizes below 0."""
    units = {**MODEL_STATED, **DIFFUSION, **ACCELERATOR}
    if attribute not in units:
        return
    unit = units[attribute]
    shown = list(value) if isinstance(value, tuple) else value
    if unit is None:
        wanted = "list" if attribute in LISTS else "text"
        if attribute in ACCELERATOR and not isinstance(value, tuple if attribute in LISTS else str):
            raise wrong_type(where, shown, wanted)
    elif unit in _COUNTED and not isinstance(value, int):
        raise wrong_type(where, shown, "whole")
    else:
        number(0, LARGEST.get(unit, _MOST), above=True)(where, shown)
