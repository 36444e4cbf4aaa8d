"""Edits that add or change an accelerator or a system of the user with all its figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gpudesk.catalog.importing.entry_facts import FiguredEntry, StatedFigure, make_entry_facts
from gpudesk.catalog.importing.proposals import find_free_id
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store.edits import add_facts, make_step
from gpudesk.catalog.user_store.entry import find_attribute, make_user_source
from gpudesk.domain.attributes import REGISTERED_ATTRIBUTES
from gpudesk.domain.claim import CatalogEntryKind, Claim, ClaimPreference, Source
from gpudesk.domain.user_facts import FactEdit, UserClaim, UserFact, UserFacts
from gpudesk.text.messages import message
from gpudesk.text.translation import tr

#: Words of the attribute `status`, by whether an accelerator is only announced.
STATUS_BY_ANNOUNCED: Final = {True: "announced", False: "shipping"}


@dataclass(frozen=True, slots=True)
class AcceleratorGeneration:
    """Accelerators of one die, by name."""

    name: str
    parts: tuple[str, ...]


def group_by_generation(catalog: Catalog) -> tuple[AcceleratorGeneration, ...]:
    """Return the generations of the catalog, by name, each with its accelerators."""
    ids_by_generation: dict[str, list[str]] = {}
    for part in catalog.accelerators():
        ids_by_generation.setdefault(part.generation, []).append(part.name)
    return tuple(AcceleratorGeneration(name, tuple(parts)) for name, parts in sorted(ids_by_generation.items()))


def copy_figure(claim: Claim) -> StatedFigure:
    """Return the figure of a claim, with a user source that copies the claim's source."""
    source = claim.source
    if not source.own:
        source = make_user_source(source.title, source.publisher, url=source.url, date=source.date, kind=source.kind)
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


def make_entry_id(catalog: Catalog, name: str) -> str:
    return find_free_id(name, {thing.id for thing in catalog.things()})


def make_entry_step(
    catalog: Catalog, entry: FiguredEntry, figures: Mapping[str, StatedFigure], *, today: str
) -> FactEdit:
    """Return the step that adds an entry with its figures, or changes an existing one of the user.

    Raises `InputError` at the missing or invalid attribute.
    """
    facts = make_entry_facts(entry, {name: (each,) for name, each in figures.items()}, today=today)
    if catalog.own.get(*entry.key) is None:
        return add_facts(catalog, facts, entry.name)
    new = UserFacts.of(facts)
    own = catalog.own
    claims = {fact.attribute: fact for fact in new if isinstance(fact, UserClaim)}
    sources = {fact.id: fact for fact in new if isinstance(fact, Source)}
    removed: list[UserFact] = []
    added: list[UserFact] = [entry]
    for name in REGISTERED_ATTRIBUTES[CatalogEntryKind(entry.key[0])]:
        claim, active_claim = claims.get(name), _find_active_claim(catalog, entry.id, name)
        if claim is not None and active_claim is not None and _is_same_statement(claim, active_claim):
            continue
        stated = list(_list_user_claims(own, entry.id, name))
        rivals = [fact for fact in stated if fact != active_claim and claim is not None and fact.key != claim.key]
        removed += [fact for fact in stated if fact not in rivals]
        chosen = own.get("preference", entry.id, name)
        removed += [] if chosen is None else [chosen]
        if claim is not None:
            added += [sources[claim.source], claim]
        if claim is not None and rivals:
            added.append(ClaimPreference(entry.id, name, claim.source, claim.value, tr("Your value"), today))
    return make_step(own, message("own.step.change", "Change {name}", name=entry.name), take=removed, added=added)


def _find_active_claim(catalog: Catalog, part: str, name: str) -> UserClaim | None:
    attribute = find_attribute(catalog, part, name)
    if attribute.preferred is None:
        return None
    own_claim = catalog.own.get("claim", part, name, attribute.preferred.source.id)
    return own_claim if isinstance(own_claim, UserClaim) else None


def _list_user_claims(own: UserFacts, part: str, name: str) -> Iterator[UserClaim]:
    for fact in own:
        if isinstance(fact, UserClaim) and (fact.thing, fact.attribute) == (part, name):
            yield fact


def _is_same_statement(one: UserClaim, other: UserClaim) -> bool:
    """Whether two claims differ at most in the day of entry and the printed form."""
    return replace(one, retrieved="", published=None) == replace(other, retrieved="", published=None)
