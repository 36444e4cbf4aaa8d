"""The user's facts over another shipped catalog than they were stated over, or in a file of others."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from gpudesk.catalog.queries import Catalog
from gpudesk.catalog.verify import verify
from gpudesk.domain.catalog_tables import Section
from gpudesk.domain.claims import Kind, Preference
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import OwnAccelerator, OwnClaim, OwnFact, OwnFacts, OwnModel, OwnPrice
from gpudesk.domain.things import ThingKind
from gpudesk.sheets.catalog_tables import EXPORT_KINDS
from gpudesk.sheets.catalog_tables import catalog_table as export_table
from gpudesk.workbench import own_edits
from gpudesk.workbench.catalog_rows import catalog_rows
from gpudesk.workbench.own_facts_json import record_of
from tests.unit.workbench.own_samples import ACCELERATOR, LAB, MODEL, OFFER, TODAY

STRUCTURE = next(fact for fact in MODEL if isinstance(fact, OwnModel))
TAKEN, TAKEN_MODEL, GONE = "h200-sxm", "llama-3.1-8b", "part-of-yesterday"


def under(name: str) -> list[OwnFact]:
    """Return the sample accelerator under another id."""
    return [
        dataclasses.replace(fact, id=name)
        if isinstance(fact, OwnAccelerator)
        else dataclasses.replace(fact, thing=name)
        for fact in ACCELERATOR
        if isinstance(fact, OwnAccelerator | OwnClaim)
    ]


FACTS: dict[str, Sequence[OwnFact]] = {
    "claims of a thing that is gone": (
        LAB,
        OwnClaim(GONE, "memory", 2**30, LAB.id, Kind.USER, TODAY),
        Preference(GONE, "memory", LAB.id, 2**30, "ours", TODAY),
    ),
    "the price of a part that is gone": (OFFER, OwnPrice("o-1", GONE, "on_demand", OFFER.id, Kind.USER, 2.5)),
    "a choice of a claim that is gone": (
        Preference("mi325x", "memory_bandwidth", "source-of-yesterday", 5e12, "ours", TODAY),
    ),
    "a dimension that is gone": (
        LAB,
        OwnClaim(TAKEN_MODEL, "mixers.gone.heads", 5, LAB.id, Kind.USER, TODAY),
        Preference(TAKEN_MODEL, "mixers.gone.heads", LAB.id, 5, "ours", TODAY),
    ),
    "an attribute that is gone": (LAB, OwnClaim("mi325x", "colour", "red", LAB.id, Kind.USER, TODAY)),
    "an accelerator that is shipped by now": (LAB, *under(TAKEN)),
    "an accelerator with the id of a shipped model": (LAB, *under(TAKEN_MODEL)),
    "a model that is shipped by now": (LAB, dataclasses.replace(STRUCTURE, id=TAKEN_MODEL)),
    "a model and an accelerator of one id": (LAB, *ACCELERATOR, dataclasses.replace(STRUCTURE, id="ours-x1")),
    "a model whose structure has another id": (LAB, dataclasses.replace(STRUCTURE, id="ours-9b")),
    "a model whose structure cannot be read": (OwnModel("ours", "Ours", "Us", "{}"),),
    "a model whose structure is no JSON": (OwnModel("ours", "Ours", "Us", "["),),
    "a model whose structure is no object": (OwnModel("ours", "Ours", "Us", "[1]"),),
    "half an accelerator": (
        LAB,
        OFFER,
        OwnAccelerator("half", "Half", "Us", "hopper"),
        OwnClaim("half", "memory", 2**30, LAB.id, Kind.USER, TODAY),
        OwnPrice("o-2", "half", "on_demand", OFFER.id, Kind.USER, 2.5),
    ),
}


@pytest.mark.parametrize("stated", FACTS.values(), ids=FACTS)
def test_everything_is_answered_and_the_shipped_part_stays_what_it_is(
    facts: Catalog, stated: Sequence[OwnFact]
) -> None:
    merged = facts.with_own(OwnFacts.of(stated))
    assert verify(merged) == ()
    assert {model.id: model for model in facts.models()}.items() <= {
        model.id: model for model in merged.models()
    }.items()
    for thing in merged.things():
        assert all(attribute.thing == thing.id for attribute in merged.attributes(thing.id))
        if thing.kind is ThingKind.MODEL:
            assert merged.model(thing.id).id == thing.id
            assert merged.definition(thing.id)["id"] == thing.id
    assert merged.accelerator(TAKEN) == facts.accelerator(TAKEN)
    for kind in EXPORT_KINDS:
        assert list(export_table(kind, merged).rows)
    for section in Section:
        assert list(catalog_rows(section, merged)) or section is Section.YOURS
    assert len(merged.things()) == len({thing.id for thing in merged.things()})
    assert dict(merged.own.facts) == dict(OwnFacts.of(stated).facts)


def test_what_cannot_be_read_is_refused_by_name_where_it_is_handed_on() -> None:
    with pytest.raises(InputError) as caught:
        record_of(OwnModel("ours", "Ours", "Us", "["))
    assert caught.value.where == "Ours"


def test_one_step_does_not_bring_two_entries_of_one_id(facts: Catalog) -> None:
    both = [LAB, *ACCELERATOR, dataclasses.replace(STRUCTURE, id="ours-x1")]
    with pytest.raises(InputError, match=r"own\.exists"):
        own_edits.add(facts, both, "both")
