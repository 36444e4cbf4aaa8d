"""Facts carried by a scenario file: copies of its author's own facts behind its figures.

They are treated like an unsigned pack. Facts that the catalog lacks are offered for import, never applied.
"""

from __future__ import annotations

from typing import Final

from gpudesk.catalog.read import Catalog
from gpudesk.documents.packs import preview_pack
from gpudesk.documents.user_fact_json import read_user_facts
from gpudesk.domain.answer import Scenario
from gpudesk.domain.user_facts import CarriedFactsError, FactPack, UserEntry

_RECORDS: Final = "own_records.records"


def make_carried_pack(scenario: Scenario) -> FactPack | None:
    """Return the facts that a scenario carries, None without any; raises `InputError` with the place."""
    if not scenario.own_records:
        return None
    facts = read_user_facts(scenario.own_records, _RECORDS)
    return FactPack(scenario.name, made="", about=scenario.catalog_revision or "", facts=facts, digest="")


def check_carried_facts(scenario: Scenario, catalog: Catalog) -> None:
    """Raise `CarriedFactsError` if a scenario names entries that it carries and the catalog lacks."""
    pack = make_carried_pack(scenario)
    if pack is None:
        return
    there = {thing.id for thing in catalog.things()}
    used = {scenario.model, *(choice.accelerator for choice in scenario.accelerators)} - there
    names = tuple(fact.name for fact in pack.facts if isinstance(fact, UserEntry) and fact.id in used)
    if names:
        raise CarriedFactsError(pack, names)


def find_new_carried_facts(scenario: Scenario, catalog: Catalog) -> FactPack | None:
    """Return the facts that a scenario carries if the catalog lacks some of them or has different ones."""
    pack = make_carried_pack(scenario)
    if pack is None or not any(row.can_be_chosen for row in preview_pack(pack, catalog)):
        return None
    return pack
