"""Reference deployments: who is said to run what, how many, and on whose word."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """A deployment that a document tells of.

    `named` is whether it says who that is; otherwise `who` is its description. `accelerators` are ids of the
    catalog, `count` is how many there are, None where no number is printed. `date` is the ISO month or day
    for which it is told. `basis` says on whose word it stands, `statements` and `disputes` are ids of the
    catalog.
    """

    id: str
    who: str
    named: bool
    what: str
    basis: str
    source: str
    platform: str | None = None
    accelerators: tuple[str, ...] = ()
    count: int | None = None
    date: str | None = None
    statements: tuple[str, ...] = ()
    disputes: tuple[str, ...] = ()


def references_of(references: tuple[Reference, ...], *accelerators: str) -> tuple[Reference, ...]:
    """Return the references that are about any of these accelerators, in their order."""
    return tuple(each for each in references if not set(each.accelerators).isdisjoint(accelerators))
