"""From what rules say to who leads: nothing outvotes what must hold, and themes count once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.advisor.judging import trace_of
from gpudesk.advisor.scoring import Drawn, removed, scores, shares, undecided
from gpudesk.domain.decisions import Case, Effect, Fact, Rule, TraceLine
from gpudesk.domain.questions import Strength


def rule(
    name: str,
    strength: Strength = Strength.STRONG,
    theme: str | None = None,
    *,
    favours: str | None = None,
    requires: str | None = None,
) -> Rule:
    case = Case("on", favours=favours, requires=requires)
    return Rule(name, "seed-000", "2026-03", (), strength, theme or name, name, "", (case,))


def lines_of(rules: list[Rule], parts: list[dict[str, Fact]], **weights: float) -> tuple[TraceLine, ...]:
    return trace_of(rules, {"on": True}, parts, {}, weights)


def share(lines: tuple[TraceLine, ...], parts: list[dict[str, Fact]], draws: int = 500) -> tuple[float, ...]:
    drawn = Drawn(draws, 1, tuple({} for _ in parts))
    return shares(lines, {"on": True}, parts, drawn).columns


A: dict[str, Fact] = {"good": True, "big": False, "ok": True}
B: dict[str, Fact] = {"good": False, "big": True, "ok": True}


def test_the_heaviest_rule_of_a_theme_counts_and_others_say_so() -> None:
    rules = [
        rule("light", Strength.MILD, "one", favours="good"),
        rule("heavy", Strength.STRONG, "one", favours="good"),
        rule("apart", Strength.MILD, "two", favours="big"),
    ]
    lines = lines_of(rules, [A, B])
    assert scores(lines, 2) == (3.0, 1.0)
    assert [each.rule.id for each in lines] == ["heavy", "light", "apart"]
    assert [each.counted_with for each in lines] == [None, "heavy", None]


def test_rules_of_a_theme_that_disagree_both_count() -> None:
    rules = [rule("one", theme="t", favours="good"), rule("other", theme="t", favours="big")]
    assert scores(lines_of(rules, [A, B]), 2) == (3.0, 3.0)


@given(st.floats(0.0, 100.0))
def test_nothing_outvotes_what_must_hold(weight: float) -> None:
    rules = [rule("must", Strength.HARD, requires="big"), rule("wish", favours="good")]
    lines = lines_of(rules, [A, B], wish=weight)
    assert removed(lines, 0) == ("must",)
    assert share(lines, [A, B]) == (0.0, 1.0)


@given(st.floats(0.1, 50.0), st.floats(1.0, 3.0))
def test_more_weight_never_costs_what_it_favours_its_lead(weight: float, more: float) -> None:
    rules = [rule("one", favours="good"), rule("other", favours="big")]
    light, heavy = (lines_of(rules, [A, B], one=each, other=5.0) for each in (weight, weight * more))
    assert share(heavy, [A, B])[0] >= share(light, [A, B])[0]


def test_columns_that_tie_share_the_draws() -> None:
    assert share((), [A, B]) == (0.5, 0.5)
    same = [rule("both", favours="ok")]
    assert share(lines_of(same, [A, B]), [A, B]) == (0.5, 0.5)


def test_what_cannot_be_decided_removes_nobody_and_adds_nothing() -> None:
    rules = [rule("must", Strength.HARD, requires="unknown"), rule("wish", favours="unknown")]
    lines = lines_of(rules, [A, B])
    assert {cell.effect for line in lines for cell in line.cells} == {Effect.UNDECIDED}
    assert undecided(lines, 0) == ("must",)
    assert scores(lines, 2) == (0.0, 0.0)
    assert share(lines, [A, B]) == (0.5, 0.5)


def test_draws_decide_what_a_band_leaves_open() -> None:
    must = rule("must", Strength.HARD, requires="wait <= limit")
    parts: list[dict[str, Fact]] = [{}, {"wait": 1.0}]
    facts: dict[str, Fact] = {"on": True, "limit": 2.0}
    lines = trace_of(
        [must, rule("wish", favours="first")], facts, [{**parts[0], "first": True}, parts[1]], {}, {}
    )
    waits = np.array([1.0, 1.5, 2.5, 3.0])
    drawn = Drawn(4, 1, ({"wait": waits}, {}))
    found = shares(lines, facts, [{"first": True}, {"wait": 1.0, "first": False}], drawn)
    assert found.columns == (0.5, 0.5)
    assert found.none == 0.0


def test_where_all_are_removed_nobody_leads() -> None:
    must = lines_of([rule("must", Strength.HARD, requires="nowhere")], [{"nowhere": False}])
    found = shares(must, {"on": True}, [{"nowhere": False}], Drawn(10, 1, ({},)))
    assert found.columns == (0.0,)
    assert found.none == 1.0
