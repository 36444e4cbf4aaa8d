"""Accelerators of the user's as forms make and change them: a name, and figures each with its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gpudesk.catalog.attribute_names import ACCELERATOR
from gpudesk.catalog.importing.accelerator_facts import StatedFigure, accelerator_facts
from gpudesk.catalog.queries import Catalog
from gpudesk.domain.claims import Claim, Preference, Source
from gpudesk.domain.messages import message
from gpudesk.domain.own_facts import Edit, OwnAccelerator, OwnClaim, OwnFact, OwnFacts
from gpudesk.text import tr
from gpudesk.workbench.own_checks import own_source
from gpudesk.workbench.own_edits import add
from gpudesk.workbench.own_entry import attribute_or_empty
from gpudesk.workbench.own_steps import step
from gpudesk.workbench.proposals import free_id

__all__ = ["STATUS", "Generation", "StatedFigure", "copied", "generations", "new_id", "part_step"]

#: Words of the attribute `status`, by whether an accelerator is announced alone.
STATUS: Final = {True: "announced", False: "shipping"}


@dataclass(frozen=True, slots=True)
class Generation:
    """Accelerators of one die, by their names."""

    name: str
    parts: tuple[str, ...]


def generations(catalog: Catalog) -> tuple[Generation, ...]:
    """Return the generations that the catalog has, by name, each with its accelerators."""
    found: dict[str, list[str]] = {}
    for part in catalog.accelerators():
        found.setdefault(part.generation, []).append(part.name)
    return tuple(Generation(name, tuple(parts)) for name, parts in sorted(found.items()))


def copied(claim: Claim) -> StatedFigure:
    """Return the figure of a claim, with a source of the user's that says what the claim's does."""
    source = claim.source
    if not source.own:
        source = own_source(
            source.title, source.publisher, url=source.url, date=source.date, kind=source.kind
        )
    unit = claim.unit if isinstance(claim.value, int | float) else None
    return StatedFigure(
        claim.value,
        unit,
        source,
        claim.kind,
        conditions=claim.conditions,
        note=claim.note,
        retrieved=claim.retrieved,
        printed=claim.published,
    )


def new_id(catalog: Catalog, name: str) -> str:
    """Return a free id for an accelerator of that name."""
    return free_id(name, {thing.id for thing in catalog.things()})


def part_step(
    catalog: Catalog, part: OwnAccelerator, figures: Mapping[str, StatedFigure], *, today: str
) -> Edit:
    """Return the step that adds an accelerator with its figures, or changes one of the user's to them.

    Raises `InputError` at the attribute that is missing or cannot be.
    """
    facts = accelerator_facts(part, {name: (each,) for name, each in figures.items()}, today=today)
    if catalog.own.get(*part.key) is None:
        return add(catalog, facts, part.name)
    return _changed(catalog, part, OwnFacts.of(facts), today)


def _changed(
    catalog: Catalog,
    part: OwnAccelerator,
    new: OwnFacts,
    today: str,
) -> Edit:
    """Put new figures in the place of those that hold; where none is given, all that was stated goes."""
    own = catalog.own
    claims = {fact.attribute: fact for fact in new if isinstance(fact, OwnClaim)}
    sources = {fact.id: fact for fact in new if isinstance(fact, Source)}
    gone: list[OwnFact] = []
    put: list[OwnFact] = [part]
    for name in ACCELERATOR:
        claim, held = claims.get(name), _held(catalog, part.id, name)
        if claim is not None and held is not None and _says_the_same(claim, held):
            continue
        stated = list(_stated(own, part.id, name))
        rivals = [fact for fact in stated if fact != held and claim is not None and fact.key != claim.key]
        gone += [fact for fact in stated if fact not in rivals]
        chosen = own.get("preference", part.id, name)
        gone += [] if chosen is None else [chosen]
        if claim is not None:
            put += [sources[claim.source], claim]
        if claim is not None and rivals:
            put.append(Preference(part.id, name, claim.source, claim.value, tr("Your value"), today))
    return step(own, message("own.step.change", name=part.name), take=gone, put=put)


def _held(catalog: Catalog, part: str, name: str) -> OwnClaim | None:
    """Return the user's claim that holds for an attribute of one of the user's accelerators."""
    attribute = attribute_or_empty(catalog, part, name)
    if attribute.preferred is None:
        return None
    found = catalog.own.get("claim", part, name, attribute.preferred.source.id)
    return found if isinstance(found, OwnClaim) else None


def _stated(own: OwnFacts, part: str, name: str) -> Iterator[OwnClaim]:
    for fact in own:
        if isinstance(fact, OwnClaim) and (fact.thing, fact.attribute) == (part, name):
            yield fact


def _says_the_same(one: OwnClaim, other: OwnClaim) -> bool:
    """Whether two claims differ at most in when they were entered and how they were printed."""
    return replace(one, retrieved="", published=None) == replace(other, retrieved="", published=None)
