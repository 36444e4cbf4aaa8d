"""A condition on simulated values equals the condition on each value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.rules.conditions import evaluate_in_draws, parse_condition
from gpudesk.domain.decision import FactValue
from gpudesk.text.formatting import IntervalEstimate

CONDITIONS = (
    "x <= limit",
    "x <= limit and flag",
    "x > limit or not flag",
    "not (x > limit and flag)",
    "x / y >= 2 and limit > 0",
    "x + y - limit * 2 < -1 or name == 'a'",
    "x == limit or name != 'b'",
    "missing > 1 or x < limit",
    "missing > 1 and x < limit",
    "flag",
)
NUMBERS = st.floats(-10.0, 10.0)


@given(
    st.sampled_from(CONDITIONS),
    st.lists(NUMBERS, min_size=1, max_size=6),
    st.lists(NUMBERS, min_size=6, max_size=6),
    NUMBERS,
    st.booleans(),
    st.sampled_from(["a", "b"]),
)
def test_condition_over_draws_equals_the_condition_of_each_draw(
    text: str, xs: list[float], ys: list[float], limit: float, flag: bool, name: str
) -> None:
    condition, ys = parse_condition(text), ys[: len(xs)]
    same: dict[str, FactValue] = {"limit": limit, "flag": flag, "name": name}
    if "/" in text and 0.0 in ys:
        return
    truth = evaluate_in_draws(condition, {**same, "x": np.array(xs), "y": np.array(ys)})
    marks = truth if isinstance(truth, np.ndarray) else [truth] * len(xs)
    for mark, x, y in zip(marks, xs, ys, strict=True):
        alone = condition.on({**same, "x": x, "y": y}).holds
        # What is not known holds nothing, whether it is said so for all draws or for one.
        assert bool(mark) == bool(alone)


@pytest.mark.parametrize(
    ("text", "facts", "truth"),
    [
        ("known > 1", {"known": 2.0}, True),
        ("known > 1", {}, None),
        ("known > 1", {"known": IntervalEstimate(2.0, 0.0, 3.0)}, True),
        ("name > 1", {"name": "a"}, None),
        ("name == 'a'", {"name": "a"}, True),
        ("a / b > 1", {"a": 1.0, "b": 0.0}, None),
        ("-a < 0", {"a": 1.0}, True),
        ("not a", {"a": None}, None),
    ],
)
def test_constant_truth_is_a_single_value(text: str, facts: dict[str, FactValue], truth: bool | None) -> None:
    assert evaluate_in_draws(parse_condition(text), facts) is truth
