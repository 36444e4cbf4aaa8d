"""The rule for ages: from when on a fact counts as stale."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AgeRule:
    """After how many days prices and other figures count as stale, unless the user sets otherwise."""

    prices: int = 90
    facts: int = 365
