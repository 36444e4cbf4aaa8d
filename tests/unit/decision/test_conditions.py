"""Conditions of rules: what may be written, and what holds, does not, or is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.rules.conditions import ConditionError, parse_condition
from gpudesk.domain.decision import FactValue
from gpudesk.text.formatting import IntervalEstimate

WAIT = IntervalEstimate(1.99, 1.63, 2.55)
KNOWN: dict[str, FactValue] = {
    "memory_gib": 141.0,
    "needed_gib": 138.5,
    "platform": "CUDA",
    "has_fp4": False,
    "ttft_s": WAIT,
    "count": 2,
    "price_usd": None,
}


def holds(text: str, **more: FactValue) -> bool | None:
    return parse_condition(text).on({**KNOWN, **more}).holds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory_gib >= needed_gib", True),
        ("memory_gib * 0.9 >= needed_gib", False),
        ("memory_gib - needed_gib == 2.5", True),
        ("count * memory_gib / 2 == memory_gib", True),
        ("-count < 0", True),
        ("platform == 'CUDA'", True),
        ("platform != 'CUDA'", False),
        ("has_fp4", False),
        ("not has_fp4 and platform == 'CUDA'", True),
        ("has_fp4 == False", True),
        ("has_fp4 or memory_gib > 200", False),
    ],
)
def test_known_values_decide_a_condition(text: str, expected: bool) -> None:
    assert holds(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ttft_s <= 2", None),
        ("ttft_s <= 2.55", True),
        ("ttft_s < 1.63", False),
        ("ttft_s > 1", True),
        ("ttft_s == 1.99", None),
        ("ttft_s != 3", True),
        ("ttft_s * 2 <= 5", None),
        ("ttft_s / 2 <= 1.3", True),
        ("1 / ttft_s > 0.3", True),
        ("ttft_s <= 2 or count == 2", True),
        ("ttft_s <= 2 and count == 3", False),
    ],
)
def test_limit_inside_an_interval_is_undecided(text: str, expected: bool | None) -> None:
    assert holds(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "price_usd <= 20000",
        "price_usd * 2 <= 20000",
        "never_heard_of",
        "never_heard_of == 'CUDA'",
        "count / (count - 2) > 1",
        "ttft_s / (ttft_s - 2) > 1",
        "platform > 'A'",
        "platform == 3",
        "platform * 2 > 1",
        "memory_gib",
    ],
)
def test_missing_or_mistyped_values_are_undecided(text: str) -> None:
    assert holds(text) is None


def test_compared_values_are_reported() -> None:
    outcome = parse_condition("memory_gib >= needed_gib and not has_fp4 and ttft_s <= limit_s").on(
        {**KNOWN, "limit_s": 2.0}
    )
    assert outcome.holds is None
    assert outcome.tested == (
        ("memory_gib >= needed_gib", 141.0, 138.5, True),
        ("has_fp4", False, None, False),
        ("ttft_s <= limit_s", WAIT, 2.0, None),
    )


def test_a_condition_names_the_facts_that_it_asks_for() -> None:
    assert parse_condition("a > 2 and not b or c + d == 'e'").names == {"a", "b", "c", "d"}


@pytest.mark.parametrize(
    ("text", "place", "why"),
    [
        ("memory_gib >=", 12, "not a condition"),
        ("", 0, "not a condition"),
        ("1 < count < 3", 0, "one comparison at a time"),
        ("platform in 'CUDA'", 0, "only ==, !=, <, <=, > and >= compare"),
        ("count is 2", 0, "only ==, !=, <, <=, > and >= compare"),
        ("open('file') == 2", 0, "neither a fact nor a number nor a text"),
        ("has_fp4 and count ** 2 > 4", 12, "neither a fact nor a number nor a text"),
        ("has_fp4 and 3", 12, "neither a comparison nor a fact"),
        ("count.real > 1", 0, "neither a fact nor a number nor a text"),
        ("count > None", 8, "neither a fact nor a number nor a text"),
        ("[x for x in y]", 0, "neither a comparison nor a fact"),
        ("(count := 2) > 1", 1, "neither a fact nor a number nor a text"),
    ],
)
def test_invalid_condition_is_refused_at_its_place(text: str, place: int, why: str) -> None:
    with pytest.raises(ConditionError, match=why) as raised:
        parse_condition(text)
    assert abs(raised.value.place - place) <= 1
    assert raised.value.text == text


# What holds of all facts

numbers = st.floats(-1e6, 1e6, allow_nan=False)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@given(a=numbers, b=numbers, sign=st.sampled_from(COMPARISONS))
def test_numbers_compare_as_they_do_elsewhere(a: float, b: float, sign: str) -> None:
    assert parse_condition(f"a {sign} b").on({"a": a, "b": b}).holds is eval(f"a {sign} b", {}, {"a": a, "b": b})


@given(
    ends=st.lists(numbers, min_size=2, max_size=2).map(sorted),
    share=st.floats(0.0, 1.0),
    limit=numbers,
    sign=st.sampled_from(COMPARISONS),
)
def test_condition_true_for_an_interval_is_true_inside_it(
    ends: list[float], share: float, limit: float, sign: str
) -> None:
    low, high = ends
    within = min(max(low + share * (high - low), low), high)
    band = IntervalEstimate(within, low, high)
    truth = parse_condition(f"a {sign} limit").on({"a": band, "limit": limit}).holds
    if truth is not None:
        assert parse_condition(f"a {sign} limit").on({"a": within, "limit": limit}).holds is truth


@given(a=st.sampled_from([True, False, None]), b=st.sampled_from([True, False, None]))
def test_not_and_or_are_those_of_de_morgan(a: bool | None, b: bool | None) -> None:
    facts: dict[str, FactValue] = {"a": a, "b": b}

    def of(text: str) -> bool | None:
        return parse_condition(text).on(facts).holds

    assert of("not (a and b)") is of("not a or not b")
    assert of("not (a or b)") is of("not a and not b")
    assert of("not not a") is a


@given(a=st.sampled_from([True, False, None]), b=st.sampled_from([True, False]))
def test_decided_condition_stays_decided_with_more_facts(a: bool | None, b: bool) -> None:
    """An unknown fact that becomes known never turns an outcome over."""
    for text in ("a and b", "a or b", "not a", "a and not b"):
        before = parse_condition(text).on({"a": None, "b": b}).holds
        after = parse_condition(text).on({"a": a, "b": b}).holds
        assert before is None or a is None or before is after
