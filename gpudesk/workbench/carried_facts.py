"""The facts that a scenario file carries: copies of its author's own facts that its figures rest on.

They are looked at like a pack that nobody signed. What the catalog lacks of them is offered, never taken.
"""

from __future__ import annotations

from typing import Final

from gpudesk.catalog.queries import Catalog
from gpudesk.domain.own_facts import OwnAccelerator, OwnModel
from gpudesk.domain.packs import CarriedFactsError, Pack
from gpudesk.domain.scenarios import Scenario
from gpudesk.workbench.own_facts_json import own_facts_of
from gpudesk.workbench.pack_preview import preview

_RECORDS: Final = "own_records.records"


def carried_pack(scenario: Scenario) -> Pack | None:
    """Return the facts that a scenario carries, None for none; raises `InputError` with the place."""
    if not scenario.own_records:
        return None
    facts = own_facts_of(scenario.own_records, _RECORDS)
    return Pack(scenario.name, made="", about=scenario.catalog_revision or "", facts=facts, digest="")


def check_carried(scenario: Scenario, catalog: Catalog) -> None:
    """Raise `CarriedFactsError` where a scenario names entries that it carries and the catalog lacks."""
    pack = carried_pack(scenario)
    if pack is None:
        return
    there = {thing.id for thing in catalog.things()}
    used = {scenario.model, *(choice.accelerator for choice in scenario.accelerators)} - there
    names = tuple(
        fact.name for fact in pack.facts if isinstance(fact, OwnAccelerator | OwnModel) and fact.id in used
    )
    if names:
        raise CarriedFactsError(pack, names)


def news(scenario: Scenario, catalog: Catalog) -> Pack | None:
    """Return the facts that a scenario carries where the catalog lacks some of them, or has others."""
    pack = carried_pack(scenario)
    if pack is None or not any(row.can_be_chosen for row in preview(pack, catalog)):
        return None
    return pack
