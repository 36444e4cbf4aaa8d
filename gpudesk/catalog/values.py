"""Claimed values in the unit used inside, exact: 1307.4 TFLOPS is 1307.4e12 and no neighbour of it."""

from __future__ import annotations

from decimal import Decimal

from gpudesk.domain.units import si_unit, to_si

Value = bool | int | float | str | list[str]


def value_in_si(value: Value, unit: str | None) -> Value:
    """Convert a figure to the unit used inside; whole numbers come out as integers, words unchanged.

    Raises `UnknownUnitError` for a unit that the program does not know.
    """
    if unit is None or not isinstance(value, int | float) or isinstance(value, bool):
        return value
    exact = Decimal(str(value)) * Decimal(str(to_si(1, unit)))
    return int(exact) if exact == exact.to_integral_value() else float(exact)


def published(value: Value, unit: str | None) -> str | None:
    """Return a figure with its unit as printed, or None where that is what the catalog holds anyway."""
    if unit is None or (si_unit(unit) == unit and to_si(1, unit) == 1):
        return None
    return f"{value} {unit}"
