"""Figures of an accelerator by attribute, as the checks of whether they can be read them."""

from __future__ import annotations

from collections.abc import Mapping

from gpudesk.domain.claims import ClaimValue

Values = Mapping[str, ClaimValue]


def number(values: Values, name: str) -> float | None:
    """Return a figure above zero, or None."""
    value = values.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return float(value)
    return None


def text(values: Values, name: str) -> str:
    """Return a word, empty where there is none."""
    value = values.get(name)
    return value if isinstance(value, str) else ""


def said(name: str) -> str:
    """Return the name of an attribute in words."""
    return name.replace("_", " ")


def near(value: float, wanted: float, tolerance: float) -> bool:
    """Whether a value lies within a share of what is wanted."""
    return abs(value - wanted) <= tolerance * wanted
