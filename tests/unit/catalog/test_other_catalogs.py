"""The user's facts over another shipped catalog than they were stated over, or in a file of others."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from gpudesk.catalog.list_rows import iterate_catalog_rows
from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store import edits
from gpudesk.catalog.verify import verify_catalog
from gpudesk.documents.user_fact_json import write_record
from gpudesk.domain.attributes import CatalogSection
from gpudesk.domain.claim import CatalogEntryKind, ClaimPreference, SourceKind
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFact, UserFacts, UserModel, UserPrice
from gpudesk.report.catalog_export import EXPORT_KINDS
from gpudesk.report.catalog_export import build_catalog_table as export_table
from gpudesk.text.messages import InputError
from tests.unit.domain.user_samples import ACCELERATOR, LAB, MODEL, OFFER, TODAY

STRUCTURE = next(fact for fact in MODEL if isinstance(fact, UserModel))
TAKEN, TAKEN_MODEL, GONE = "h200-sxm", "llama-3.1-8b", "part-of-yesterday"


def under(name: str) -> list[UserFact]:
    return [
        dataclasses.replace(fact, id=name)
        if isinstance(fact, UserAccelerator)
        else dataclasses.replace(fact, thing=name)
        for fact in ACCELERATOR
        if isinstance(fact, UserAccelerator | UserClaim)
    ]


FACTS: dict[str, Sequence[UserFact]] = {
    "claims of a thing that is gone": (
        LAB,
        UserClaim(GONE, "memory", 2**30, LAB.id, SourceKind.USER, TODAY),
        ClaimPreference(GONE, "memory", LAB.id, 2**30, "ours", TODAY),
    ),
    "the price of a part that is gone": (OFFER, UserPrice("o-1", GONE, "on_demand", OFFER.id, SourceKind.USER, 2.5)),
    "a choice of a claim that is gone": (
        ClaimPreference("mi325x", "memory_bandwidth", "source-of-yesterday", 5e12, "ours", TODAY),
    ),
    "a dimension that is gone": (
        LAB,
        UserClaim(TAKEN_MODEL, "mixers.gone.heads", 5, LAB.id, SourceKind.USER, TODAY),
        ClaimPreference(TAKEN_MODEL, "mixers.gone.heads", LAB.id, 5, "ours", TODAY),
    ),
    "an attribute that is gone": (LAB, UserClaim("mi325x", "color", "red", LAB.id, SourceKind.USER, TODAY)),
    "an accelerator that is shipped by now": (LAB, *under(TAKEN)),
    "an accelerator with the id of a shipped model": (LAB, *under(TAKEN_MODEL)),
    "a model that is shipped by now": (LAB, dataclasses.replace(STRUCTURE, id=TAKEN_MODEL)),
    "a model and an accelerator of one id": (LAB, *ACCELERATOR, dataclasses.replace(STRUCTURE, id="ours-x1")),
    "a model whose structure has another id": (LAB, dataclasses.replace(STRUCTURE, id="ours-9b")),
    "a model whose structure cannot be read": (UserModel("ours", "Ours", "Us", "{}"),),
    "a model whose structure is no JSON": (UserModel("ours", "Ours", "Us", "["),),
    "a model whose structure is no object": (UserModel("ours", "Ours", "Us", "[1]"),),
    "half an accelerator": (
        LAB,
        OFFER,
        UserAccelerator("half", "Half", "Us", "hopper"),
        UserClaim("half", "memory", 2**30, LAB.id, SourceKind.USER, TODAY),
        UserPrice("o-2", "half", "on_demand", OFFER.id, SourceKind.USER, 2.5),
    ),
}


@pytest.mark.parametrize("user_facts", FACTS.values(), ids=FACTS)
def test_user_entries_leave_shipped_answers_unchanged(facts: Catalog, user_facts: Sequence[UserFact]) -> None:
    merged = facts.with_user_facts(UserFacts.of(user_facts))
    assert verify_catalog(merged) == ()
    assert {model.id: model for model in facts.models()}.items() <= {
        model.id: model for model in merged.models()
    }.items()
    for thing in merged.things():
        assert all(attribute.thing == thing.id for attribute in merged.attributes(thing.id))
        if thing.kind is CatalogEntryKind.MODEL:
            assert merged.model(thing.id).id == thing.id
            assert merged.definition(thing.id)["id"] == thing.id
    assert merged.accelerator(TAKEN) == facts.accelerator(TAKEN)
    for kind in EXPORT_KINDS:
        assert list(export_table(kind, merged).rows)
    for section in CatalogSection:
        assert list(iterate_catalog_rows(section, merged)) or section is CatalogSection.YOURS
    assert len(merged.things()) == len({thing.id for thing in merged.things()})
    assert dict(merged.user_facts.facts) == dict(UserFacts.of(user_facts).facts)


def test_unreadable_entry_is_refused_by_name_on_export() -> None:
    with pytest.raises(InputError) as caught:
        write_record(UserModel("ours", "Ours", "Us", "["))
    assert caught.value.where == "Ours"


def test_one_step_does_not_bring_two_entries_of_one_id(facts: Catalog) -> None:
    both = [LAB, *ACCELERATOR, dataclasses.replace(STRUCTURE, id="ours-x1")]
    with pytest.raises(InputError, match=r"own\.exists"):
        edits.add_facts(facts, both, "both")
