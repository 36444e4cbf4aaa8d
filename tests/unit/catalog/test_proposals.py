"""A proposal under another id, name or source: everything in it follows."""

import json
from dataclasses import replace

import pytest

from gpudesk.catalog.importing.proposals import (
    check_new_id,
    find_free_id,
    find_missing_price_fields,
    get_subject,
    has_no_owner,
    list_proposal_sources,
    rename_subject,
    retitle_source,
    set_organization,
)
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.user_facts import (
    UNKNOWN_MAKER,
    ImportProposal,
    UserAccelerator,
    UserClaim,
    UserFact,
    UserModel,
    UserPrice,
)
from gpudesk.text.messages import InputError

SOURCE = Source("own-file-1", "config.json", "Meta", SourceKind.CONFIG_COPY)
MODEL = UserModel("a-model", "A model", "Meta", json.dumps({"id": "a-model", "name": "A model", "layers": []}))
CLAIM = UserClaim("a-model", "hidden_size", 64, SOURCE.id, SourceKind.CONFIG_COPY, "2026-11-21")


def price(name: str, provider: str | None = None, date: str | None = None) -> UserPrice:
    return UserPrice(name, "h100-sxm", "spot", SOURCE.id, SourceKind.USER, 2.0, provider=provider, date=date)


def make_proposal(*facts: UserFact, kind: str = "model") -> ImportProposal:
    return ImportProposal(kind, "A model", (SOURCE, *facts))


def test_a_new_id_and_name_reach_the_claims_and_the_definition() -> None:
    proposal = rename_subject(make_proposal(MODEL, CLAIM), "b-model", " B model ")
    subject = get_subject(proposal)
    assert isinstance(subject, UserModel)
    assert (subject.id, subject.name, proposal.name) == ("b-model", "B model", "B model")
    definition = json.loads(subject.definition)
    assert (definition["id"], definition["name"]) == ("b-model", "B model")
    assert [fact.thing for fact in proposal.facts if isinstance(fact, UserClaim)] == ["b-model"]


def test_renamed_accelerator_keeps_prices_and_choices() -> None:
    part = UserAccelerator("x1", "X1", "X", "hopper")
    about = UserPrice("p", "x1", "spot", SOURCE.id, SourceKind.USER, 2.0)
    other = UserPrice("q", "h100-sxm", "spot", SOURCE.id, SourceKind.USER, 2.0)
    preference = ClaimPreference("x1", "tdp", SOURCE.id, 700, "a reason", "2026-11-21")
    proposal = rename_subject(make_proposal(part, preference, about, other, kind="accelerator"), "x2", "X2")
    assert [fact.accelerator for fact in proposal.facts if isinstance(fact, UserPrice)] == ["x2", "h100-sxm"]
    assert [fact.thing for fact in proposal.facts if isinstance(fact, ClaimPreference)] == ["x2"]


def test_unchanged_proposal_is_the_same_object() -> None:
    before = make_proposal(MODEL, CLAIM)
    assert rename_subject(before, "a-model", "A model") is before
    assert retitle_source(before, "config.json") is before


def test_another_title_makes_another_source_that_all_rests_on() -> None:
    proposal = retitle_source(make_proposal(MODEL, CLAIM, price("p")), "From the model card")
    (source,) = list_proposal_sources(proposal)
    assert source.title == "From the model card"
    assert (source.publisher, source.kind) == ("Meta", SourceKind.CONFIG_COPY)
    assert source.id != SOURCE.id
    assert {fact.source for fact in proposal.facts if isinstance(fact, UserClaim | UserPrice)} == {source.id}


def test_missing_fields_of_prices_are_reported() -> None:
    assert find_missing_price_fields(make_proposal(price("p"), price("q", provider="Crusoe", date="2026-01"))) == (
        True,
        True,
    )
    assert find_missing_price_fields(make_proposal(price("q", provider="Crusoe"))) == (False, True)
    assert find_missing_price_fields(make_proposal(MODEL)) == (False, False)


@pytest.mark.parametrize(
    ("name", "existing_ids", "expected"),
    [
        ("Llama 3.3 70B!", (), "llama-3.3-70b"),
        ("llama", ("llama", "llama-2"), "llama-3"),
        ("../../etc", (), "etc"),
        ("日本", (), "own"),
        ("a..b", (), "a..b"),
        ("", ("own",), "own-2"),
    ],
)
def test_an_id_is_made_of_a_name(name: str, existing_ids: tuple[str, ...], expected: str) -> None:
    if ".." in expected:
        assert check_new_id(find_free_id(name, existing_ids), existing_ids) == "own"
    else:
        assert check_new_id(find_free_id(name, existing_ids), existing_ids) == expected


@pytest.mark.parametrize("entry_id", ["", "A", "a b", "-a", "a-", "a..b", "a/b", "ä", "a" * 81])
def test_an_id_that_cannot_be_is_refused_at_its_field(entry_id: str) -> None:
    with pytest.raises(InputError) as caught:
        check_new_id(entry_id, ())
    assert caught.value.where == "id"


def test_impossible_value_is_refused_at_its_field() -> None:
    with pytest.raises(InputError) as caught:
        rename_subject(make_proposal(MODEL), "b", "a\0b")
    assert caught.value.where == "name"
    with pytest.raises(InputError) as caught:
        retitle_source(make_proposal(MODEL), " ")
    assert caught.value.where == "title"


def test_model_without_maker_gets_maker_and_publisher() -> None:
    source = Source("own-file-2", "config.json", UNKNOWN_MAKER, SourceKind.CONFIG_COPY)
    unsigned = replace(MODEL, organisation=UNKNOWN_MAKER)
    proposal = ImportProposal("model", "A model", (source, unsigned, replace(CLAIM, source=source.id)))
    assert has_no_owner(proposal)
    assert not has_no_owner(make_proposal(MODEL))
    assert not has_no_owner(make_proposal(price("p"), kind="prices"))
    signed = set_organization(proposal, " Acme ")
    subject, (published,) = get_subject(signed), list_proposal_sources(signed)
    assert isinstance(subject, UserModel)
    assert (subject.organisation, published.publisher) == ("Acme", "Acme")
    assert json.loads(subject.definition)["organisation"] == "Acme"
    assert [fact.source for fact in signed.facts if isinstance(fact, UserClaim)] == [published.id]
    assert published.id != source.id


def test_publisher_of_a_file_is_kept() -> None:
    proposal = set_organization(make_proposal(replace(MODEL, organisation=UNKNOWN_MAKER), CLAIM), "Acme")
    assert list_proposal_sources(proposal) == (SOURCE,)


def test_only_models_have_a_maker_that_can_be_named() -> None:
    for proposal, maker in ((make_proposal(price("p"), kind="prices"), "Acme"), (make_proposal(MODEL), "a\x00b")):
        with pytest.raises(InputError) as refused:
            set_organization(proposal, maker)
        assert refused.value.where == "organisation"
