"""Prices of one accelerator summed up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PriceRange:
    """The prices of one accelerator and term in US dollars per accelerator; a rent is by the hour.

    `own_count` of them are the user's. `oldest` and `newest` are of the prices with a date, `undated` counts
    the others. `providers` are those that are named, each once.
    """

    accelerator: str
    term: str
    low: float
    median: float
    high: float
    count: int
    own_count: int
    oldest: str | None
    newest: str | None
    undated: int
    providers: tuple[str, ...]
