"""The user's facts as JSON: they come back as they were, and nothing else comes in."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.documents.user_fact_json import (
    add_needed_facts,
    order_facts,
    read_user_facts,
    write_record,
    write_scenario_records,
)
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.user_facts import MOST_FACTS, UserFacts, UserModel, get_fact_key
from gpudesk.text.messages import InputError
from tests.unit.domain.user_samples import ALL, LAB, OFFER

RECORDS = [write_record(fact) for fact in order_facts(ALL)]


def scenario(model: str, *parts: str) -> Scenario:
    return Scenario(
        name="s",
        model=model,
        weights=Precision.FP8,
        workload=Workload(100, 100, Load(LoadKind.CONCURRENCY, concurrency=8)),
        accelerators=tuple(AcceleratorChoice(part) for part in parts),
    )


def test_facts_come_back_from_json_as_they_were() -> None:
    text = json.dumps(RECORDS, allow_nan=False)
    facts = read_user_facts(json.loads(text))
    assert {get_fact_key(fact): fact for fact in facts} == dict(ALL.facts)


def test_a_structure_is_an_object_that_people_can_read() -> None:
    record = next(record for record in RECORDS if record["fact"] == "model")
    assert record["definition"]["mixers"]["attention"]["kv_heads"] == 8


def test_selected_facts_add_only_their_dependencies() -> None:
    price = add_needed_facts(ALL, [("price", "offer-1")])
    assert [get_fact_key(fact) for fact in price] == [("source", OFFER.id), ("price", "offer-1")]
    claim = add_needed_facts(ALL, [("claim", "ours-x1", "memory", LAB.id)])
    assert ("accelerator", "ours-x1") in {get_fact_key(fact) for fact in claim}
    assert sum(get_fact_key(fact)[0] == "claim" for fact in claim) == 4
    assert add_needed_facts(ALL, [("price", "no-such")]) == []


def test_scenario_copies_the_facts_it_uses() -> None:
    records = write_scenario_records(scenario("ours-8b", "ours-x1", "mi325x"), ALL)
    facts = read_user_facts(records)
    assert len(facts) == len(ALL) - len([LAB, OFFER]) - 2 + 1
    assert not any(get_fact_key(fact)[0] == "price" for fact in facts)
    assert read_user_facts(write_scenario_records(scenario("llama-3.1-8b", "h200-sxm"), ALL)).facts == {}
    only = read_user_facts(write_scenario_records(scenario("llama-3.1-8b", "mi325x"), ALL))
    assert {get_fact_key(fact)[0] for fact in only} == {"source", "claim", "preference"}


def changed(table: str, **fields: object) -> list[dict[str, Any]]:
    """Return all records, the first of a table with other fields; None takes a field away."""
    position = next(place for place, record in enumerate(RECORDS) if record["fact"] == table)
    record = {**RECORDS[position], **fields}
    return [*RECORDS[:position], {k: v for k, v in record.items() if v is not None}, *RECORDS[position + 1 :]]


@pytest.mark.parametrize(
    ("records", "problem", "field"),
    [
        (changed("source", id="nvidia-h200"), "pack.not_own_source", "id"),
        (changed("source", kind="hearsay"), "field.word", "kind"),
        (changed("source", title=None), "field.missing", "title"),
        (changed("source", title="x" * 301), "field.long", "title"),
        (changed("source", title="a\x00b"), "field.control", "title"),
        (changed("source", url="javascript:alert(1)"), "own.not_an_address", "url"),
        (changed("source", date="yesterday"), "field.month", "date"),
        (changed("source", color="red"), "field.unknown", None),
        (changed("source", fact="color"), "field.word", "fact"),
        (changed("accelerator", id="../etc"), "pack.no_id", "id"),
        (changed("accelerator", announced=1), "field.type", "announced"),
        (changed("claim", attribute="a'; DROP TABLE claim;--"), "pack.no_id", "attribute"),
        (changed("claim", value=-5), "field.range_above", "value"),
        (changed("claim", value="many"), "field.type", "value"),
        (changed("claim", value=[]), "field.range", "value"),
        (changed("claim", value={"a": 1}), "field.type", "value"),
        (changed("claim", value=1e40), "field.range", "value"),
        (changed("claim", source="own-no-such"), "own.no_such_source", "source"),
        (changed("price", usd=-1), "field.range_above", "usd"),
        (changed("price", usd=None), "field.missing", "usd"),
        (changed("price", usd_low=9.0), "own.price_order", "usd_high"),
        (changed("model", definition={"id": "ours-8b"}), "import.model.field", "definition.name"),
        (changed("model", id="other"), "pack.other_id", "definition"),
        (changed("model", definition="{}"), "field.type", "definition"),
        ([*RECORDS, RECORDS[0]], "pack.twice", None),
        ([5], "field.type", None),
        ([record for record in RECORDS if record.get("attribute") != "memory"], "own.required", None),
    ],
)
def test_impossible_value_is_refused_with_its_path(
    records: list[dict[str, Any]], problem: str, field: str | None
) -> None:
    with pytest.raises(InputError) as caught:
        read_user_facts(records, "facts")
    assert caught.value.problem.id == problem
    where = caught.value.where or ""
    assert where.startswith("facts[")
    assert field is None or where.endswith(f".{field}")


def test_more_facts_than_a_user_can_have_are_refused_unread() -> None:
    with pytest.raises(InputError) as caught:
        read_user_facts([None] * (MOST_FACTS + 1))
    assert caught.value.problem.id == "pack.too_many"


def test_a_structure_that_is_nested_without_end_is_refused() -> None:
    deep: Any = 1
    for _ in range(5000):
        deep = {"a": deep}
    with pytest.raises(InputError) as caught:
        read_user_facts(changed("model", definition=deep))
    assert caught.value.problem.id == "pack.too_deep"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(codec=None), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(st.integers(0, len(RECORDS) - 1), st.data(), JSON)
def test_any_value_in_a_field_is_read_or_rejected(position: int, data: st.DataObject, value: object) -> None:
    records = [dict(record) for record in RECORDS]
    records[position][data.draw(st.sampled_from([*records[position], "extra"]))] = value
    try:
        facts = read_user_facts(records)
    except InputError:
        return
    assert isinstance(facts, UserFacts)
    again = read_user_facts([write_record(fact) for fact in facts])
    assert again.facts == facts.facts


def test_records_do_not_change_the_structure_of_a_model() -> None:
    model = next(fact for fact in ALL if isinstance(fact, UserModel))
    assert write_record(replace(model, name="Other"))["definition"]["name"] == "Ours 8B"
