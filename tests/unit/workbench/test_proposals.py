"""A proposal under another id, name or source: everything in it follows."""

import json
from dataclasses import replace

import pytest

from gpudesk.domain.claims import Kind, Preference, Source
from gpudesk.domain.messages import InputError
from gpudesk.domain.own_facts import (
    NOBODY,
    OwnAccelerator,
    OwnClaim,
    OwnFact,
    OwnModel,
    OwnPrice,
    Proposal,
)
from gpudesk.workbench.proposals import (
    check_id,
    free_id,
    lacks,
    made_by,
    named,
    nobodys,
    sources_of,
    subject_of,
    titled,
)

SOURCE = Source("own-file-1", "config.json", "Meta", Kind.CONFIG_COPY)
MODEL = OwnModel("a-model", "A model", "Meta", json.dumps({"id": "a-model", "name": "A model", "layers": []}))
CLAIM = OwnClaim("a-model", "hidden_size", 64, SOURCE.id, Kind.CONFIG_COPY, "2026-11-21")


def price(name: str, provider: str | None = None, date: str | None = None) -> OwnPrice:
    return OwnPrice(name, "h100-sxm", "spot", SOURCE.id, Kind.USER, 2.0, provider=provider, date=date)


def proposal(*facts: OwnFact, kind: str = "model") -> Proposal:
    return Proposal(kind, "A model", (SOURCE, *facts))


def test_a_new_id_and_name_reach_the_claims_and_the_definition() -> None:
    made = named(proposal(MODEL, CLAIM), "b-model", " B model ")
    subject = subject_of(made)
    assert isinstance(subject, OwnModel)
    assert (subject.id, subject.name, made.name) == ("b-model", "B model", "B model")
    definition = json.loads(subject.definition)
    assert (definition["id"], definition["name"]) == ("b-model", "B model")
    assert [fact.thing for fact in made.facts if isinstance(fact, OwnClaim)] == ["b-model"]


def test_an_accelerator_takes_its_prices_and_choices_along() -> None:
    part = OwnAccelerator("x1", "X1", "X", "hopper")
    about = OwnPrice("p", "x1", "spot", SOURCE.id, Kind.USER, 2.0)
    other = OwnPrice("q", "h100-sxm", "spot", SOURCE.id, Kind.USER, 2.0)
    chosen = Preference("x1", "tdp", SOURCE.id, 700, "a reason", "2026-11-21")
    made = named(proposal(part, chosen, about, other, kind="accelerator"), "x2", "X2")
    assert [fact.accelerator for fact in made.facts if isinstance(fact, OwnPrice)] == ["x2", "h100-sxm"]
    assert [fact.thing for fact in made.facts if isinstance(fact, Preference)] == ["x2"]


def test_what_does_not_change_is_the_same_proposal() -> None:
    before = proposal(MODEL, CLAIM)
    assert named(before, "a-model", "A model") is before
    assert titled(before, "config.json") is before


def test_another_title_makes_another_source_that_all_rests_on() -> None:
    made = titled(proposal(MODEL, CLAIM, price("p")), "From the model card")
    (source,) = sources_of(made)
    assert source.title == "From the model card"
    assert (source.publisher, source.kind) == ("Meta", Kind.CONFIG_COPY)
    assert source.id != SOURCE.id
    assert {fact.source for fact in made.facts if isinstance(fact, OwnClaim | OwnPrice)} == {source.id}


def test_what_prices_lack_is_seen() -> None:
    assert lacks(proposal(price("p"), price("q", provider="Crusoe", date="2026-01"))) == (True, True)
    assert lacks(proposal(price("q", provider="Crusoe"))) == (False, True)
    assert lacks(proposal(MODEL)) == (False, False)


@pytest.mark.parametrize(
    ("wanted", "taken", "made"),
    [
        ("Llama 3.3 70B!", (), "llama-3.3-70b"),
        ("llama", ("llama", "llama-2"), "llama-3"),
        ("../../etc", (), "etc"),
        ("日本", (), "own"),
        ("a..b", (), "a..b"),
        ("", ("own",), "own-2"),
    ],
)
def test_an_id_is_made_of_a_name(wanted: str, taken: tuple[str, ...], made: str) -> None:
    if ".." in made:
        assert check_id(free_id(wanted, taken), taken) == "own"
    else:
        assert check_id(free_id(wanted, taken), taken) == made


@pytest.mark.parametrize("given", ["", "A", "a b", "-a", "a-", "a..b", "a/b", "ä", "a" * 81])
def test_an_id_that_cannot_be_is_refused_at_its_field(given: str) -> None:
    with pytest.raises(InputError) as caught:
        check_id(given, ())
    assert caught.value.where == "id"


def test_what_cannot_be_is_refused_at_its_field() -> None:
    with pytest.raises(InputError) as caught:
        named(proposal(MODEL), "b", "a\0b")
    assert caught.value.where == "name"
    with pytest.raises(InputError) as caught:
        titled(proposal(MODEL), " ")
    assert caught.value.where == "title"


def test_a_model_that_nobody_made_gets_its_maker_and_the_source_its_publisher() -> None:
    source = Source("own-file-2", "config.json", NOBODY, Kind.CONFIG_COPY)
    unsigned = replace(MODEL, organisation=NOBODY)
    made = Proposal("model", "A model", (source, unsigned, replace(CLAIM, source=source.id)))
    assert nobodys(made)
    assert not nobodys(proposal(MODEL))
    assert not nobodys(proposal(price("p"), kind="prices"))
    signed = made_by(made, " Acme ")
    subject, (published,) = subject_of(signed), sources_of(signed)
    assert isinstance(subject, OwnModel)
    assert (subject.organisation, published.publisher) == ("Acme", "Acme")
    assert json.loads(subject.definition)["organisation"] == "Acme"
    assert [fact.source for fact in signed.facts if isinstance(fact, OwnClaim)] == [published.id]
    assert published.id != source.id


def test_whoever_published_a_file_stays_its_publisher() -> None:
    made = made_by(proposal(replace(MODEL, organisation=NOBODY), CLAIM), "Acme")
    assert sources_of(made) == (SOURCE,)


def test_only_models_have_a_maker_that_can_be_named() -> None:
    for made, given in ((proposal(price("p"), kind="prices"), "Acme"), (proposal(MODEL), "a\x00b")):
        with pytest.raises(InputError) as refused:
            made_by(made, given)
        assert refused.value.where == "organisation"
