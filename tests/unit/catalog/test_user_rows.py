"""Facts in the user's file: what was stated comes back exactly, or is refused at its field."""

from __future__ import annotations

import sqlite3
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.catalog.user_store.migrations import migrate
from gpudesk.catalog.user_store.rows import FACT_TABLES, LONGEST_TEXT, TABLE_BY_NAME, RowError, decode_rows, encode_row
from gpudesk.domain.claim import ClaimPreference, Source, SourceKind
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFact, UserModel, UserPrice, get_fact_key
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError
from tests.unit.catalog.user_samples import ALL, BANDWIDTH, CARD, QUOTE, RENT

#: Any text at all: half characters, NUL, marks that turn the direction of writing.
_texts = st.text(st.characters(codec=None), max_size=12) | st.sampled_from(
    ["\0", "a\0b", "\ud800", "\u202eedoc", "\u200f", "'; DROP TABLE claim; --", "=1+1", "NULL", "🂡"]
)
_optional_texts = st.none() | _texts
_numbers = st.none() | st.floats() | st.integers() | st.just(10**400) | st.just(2**53 + 1)
_wholes = st.none() | st.integers() | st.sampled_from([2**63 - 1, 2**63, -(2**63), 10**5000])
_values: st.SearchStrategy[ClaimValue] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.just(10**5000),
    st.floats(),
    _texts,
    st.lists(_texts, max_size=3).map(tuple),
)
_kinds = st.sampled_from(SourceKind)
_facts: st.SearchStrategy[UserFact] = st.one_of(
    st.builds(Source, _texts, _texts, _texts, _kinds, _optional_texts, _optional_texts, _optional_texts),
    st.builds(UserAccelerator, _texts, _texts, _texts, _texts, st.booleans()),
    st.builds(UserModel, _texts, _texts, _texts, _texts),
    st.builds(
        UserClaim, _texts, _texts, _values, _texts, _kinds, _texts, _optional_texts, _optional_texts
    ),
    st.builds(ClaimPreference, _texts, _texts, _texts, _values, _texts, _texts),
    st.builds(
        UserPrice, _texts, _texts, _texts, _texts, _kinds, _numbers, _numbers, _numbers,
        accelerators_in_instance=_wholes, note=_optional_texts,
    ),
)  # fmt: skip


def _through_a_file(*facts: UserFact) -> list[UserFact]:
    table = TABLE_BY_NAME[get_fact_key(facts[0])[0]]
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        migrate(connection)
        for fact in facts:
            connection.execute(table.insert, encode_row(table, fact))
        return decode_rows(table, connection.execute(table.select).fetchall())
    finally:
        connection.close()


@given(_facts)
def test_fact_survives_a_round_trip_or_names_the_invalid_field(fact: UserFact) -> None:
    refused_at: str | None = None
    facts: list[UserFact] = []
    try:
        facts = _through_a_file(fact)
    except InputError as error:
        refused_at = error.where
    assert facts == [fact] or refused_at in {field.name for field in fields(fact)}
    if facts and isinstance(fact, UserClaim):
        # Equal is not enough: 1, 1.0 and True are.
        assert [repr(each.value) for each in facts if isinstance(each, UserClaim)] == [repr(fact.value)]


@pytest.mark.parametrize("fact", ALL, ids=lambda fact: get_fact_key(fact)[-1])
def test_facts_of_every_kind_come_back(fact: UserFact) -> None:
    assert _through_a_file(fact) == [fact]


@pytest.mark.parametrize(
    ("fact", "where", "expected"),
    [
        (replace(QUOTE, title="half \udc00"), "title", "field.half_character"),
        (replace(QUOTE, publisher="a\0b"), "publisher", "field.control"),
        (replace(QUOTE, url="u" * (LONGEST_TEXT + 1)), "url", "field.long"),
        (replace(RENT, usd=float("nan")), "usd", "own.no_number"),
        (replace(RENT, usd_low=float("-inf")), "usd_low", "own.no_number"),
        (replace(RENT, usd_high=10**400), "usd_high", "own.too_large"),
        (replace(RENT, usd=2**53 + 1), "usd", "own.too_large"),
        (replace(RENT, accelerators_in_instance=2**63), "accelerators_in_instance", "own.too_large"),
        (replace(BANDWIDTH, value=10**5000), "value", "own.too_large"),
        (replace(BANDWIDTH, value=float("inf")), "value", "own.no_number"),
        (replace(BANDWIDTH, value=("fp8", "\ud800")), "value", "field.half_character"),
        (replace(BANDWIDTH, value=("x" * 600_000, "y" * 600_000)), "value", "field.long"),
        # What an importer could let through in spite of the types.
        (replace(CARD, name=None), "name", "field.type"),  # type: ignore[arg-type]
        (replace(CARD, announced=1), "announced", "field.type"),  # type: ignore[arg-type]
        (replace(RENT, usd=True), "usd", "field.type"),
        (replace(RENT, accelerators_in_instance=8.0), "accelerators_in_instance", "field.type"),  # type: ignore[arg-type]
        (replace(BANDWIDTH, value={"a": 1}), "value", "field.type"),  # type: ignore[arg-type]
        (replace(BANDWIDTH, value=("fp8", 4)), "value", "field.type"),  # type: ignore[arg-type]
        (replace(BANDWIDTH, kind="gossip"), "kind", "field.word"),  # type: ignore[arg-type]
    ],
)
def test_unstorable_value_is_refused_by_name(fact: UserFact, where: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        encode_row(TABLE_BY_NAME[get_fact_key(fact)[0]], fact)
    assert (caught.value.where, caught.value.problem.id) == (where, expected)


def test_rows_come_back_in_the_order_in_which_they_were_entered() -> None:
    prices = [replace(RENT, id=f"own-{name}") for name in ("c", "a", "b")]
    assert _through_a_file(*prices) == prices


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        ("value", "NaN"),
        ("value", "{}"),
        ("value", "[1]"),
        ("value", "[" * 100_000),
        ("value", "not JSON"),
        ("value", "1 2"),
        ("value", ""),
        ("value", b"\x00"),
        ("kind", "gossip"),
        ("retrieved", 7),
        ("note", 1.5),
    ],
)
def test_row_with_invalid_values_is_refused(column: str, stored: object) -> None:
    table = TABLE_BY_NAME["claim"]
    row = dict(zip(table.columns, encode_row(table, BANDWIDTH), strict=True)) | {column: stored}
    with pytest.raises(RowError):
        decode_rows(table, [tuple(row.values())])


def test_every_field_of_a_fact_has_a_column_and_every_column_a_field() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection)
    for table in FACT_TABLES:
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table.name})")]
        assert sorted(columns) == sorted(["position", *table.columns])
    connection.close()
