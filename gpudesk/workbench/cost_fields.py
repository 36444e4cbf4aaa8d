"""The fields of the cost section of a scenario file: from JSON values to `CostSettings` and back.

An input is a number, or the list of what it is at least, most likely and at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpudesk.domain.accelerators import PLATFORMS
from gpudesk.domain.cost_inputs import INPUTS, RENT_TERMS, CostSettings, Currency
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.ranges import Range
from gpudesk.workbench.fields import Check, number, text, unknown_field, word, wrong_type

_SECTION: Final = "costs"
_LONGEST_CODE: Final = 8
_ENDS: Final = 3
_CHECKS: Final[Mapping[str, Check]] = {
    "rent_term": word({term: term for term in RENT_TERMS}),
    "runs_on": word({platform: platform for platform in PLATFORMS}),
    "around": number(0.0, 0.9),
}
_CURRENCY: Final[Mapping[str, Check]] = {
    "code": text(_LONGEST_CODE),
    "per_usd": number(0.0, 1e9, above=True),
    "date": text(),
}
_FIELDS: Final = ("inputs", "accelerators", "currency", *_CHECKS)


def parse_costs(fields: Mapping[str, Any]) -> CostSettings:
    """Return the settings of a section's fields; raises `InputError` with the path inside the file."""
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in _FIELDS:
            raise unknown_field(_SECTION, name, _FIELDS)
        where = f"{_SECTION}.{name}"
        if value is None:
            continue
        if name == "inputs":
            values["inputs"] = _inputs(where, value, each=False)
        elif name == "accelerators":
            values["parts"] = {
                key: _inputs(f"{where}.{key}", stated, each=True)
                for key, stated in _object(where, value).items()
            }
        elif name == "currency":
            values["currency"] = _currency(where, value)
        else:
            values[name] = _CHECKS[name](where, value)
    return CostSettings(**values)


def cost_fields(settings: CostSettings) -> dict[str, Any]:
    """Return the fields of the section; what is left to the program is left out, all of it where all is."""
    usual = CostSettings()
    fields: dict[str, Any] = {}
    if settings.inputs:
        fields["inputs"] = _stated(settings.inputs)
    if settings.parts:
        fields["accelerators"] = {key: _stated(part) for key, part in settings.parts.items()}
    for name in _CHECKS:
        if getattr(settings, name) != getattr(usual, name):
            fields[name] = getattr(settings, name)
    if (currency := settings.currency) is not None:
        fields["currency"] = {"code": currency.code, "per_usd": currency.per_usd, "date": currency.date}
    return fields


def range_of(name: str, value: object, where: str) -> Range:
    """Return the range that a value of JSON states for an input; raises `InputError`."""
    bounds = INPUTS[name].bounds
    check = number(bounds.low, bounds.high, above=bounds.above)
    if type(value) is not list:
        return Range.exactly(check(where, value))
    if len(value) != _ENDS:
        raise InputError(message("costs.range"), where)
    spread = Range(*(check(f"{where}[{place}]", each) for place, each in enumerate(value)))
    if not spread.in_order:
        raise InputError(message("costs.range"), where)
    return spread


def _inputs(where: str, value: object, *, each: bool) -> dict[str, Range]:
    """Return stated inputs; of one accelerator only those that are stated by accelerator."""
    known = [name for name, spec in INPUTS.items() if spec.each or not each]
    found = {}
    for name, stated in _object(where, value).items():
        if name not in known:
            raise unknown_field(where, name, known)
        if stated is not None:
            found[name] = range_of(name, stated, f"{where}.{name}")
    return found


def _object(where: str, value: object) -> dict[str, Any]:
    if type(value) is not dict:
        raise wrong_type(where, value, "object")
    return value


def _currency(where: str, value: object) -> Currency:
    stated = _object(where, value)
    for name in stated:
        if name not in _CURRENCY:
            raise unknown_field(where, name, _CURRENCY)
    for name in _CURRENCY:
        if stated.get(name) is None:
            raise InputError(message("field.missing"), f"{where}.{name}")
    return Currency(**{name: check(f"{where}.{name}", stated[name]) for name, check in _CURRENCY.items()})


def _stated(inputs: Mapping[str, Range]) -> dict[str, Any]:
    return {name: spread.likely if spread.is_known else list(spread) for name, spread in inputs.items()}
