"""From what rules say to who leads: nothing outvotes what must hold, and themes count once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.rules.scoring import (
    SimulatedFacts,
    compute_lead_shares,
    compute_scores,
    list_removing_rules,
    list_undecided_rules,
    trace_rules,
)
from gpudesk.domain.decision import DecisionRule, FactValue, RuleCase, RuleEffect, RuleStrength, TraceLine


def rule(
    name: str,
    strength: RuleStrength = RuleStrength.STRONG,
    theme: str | None = None,
    *,
    favours: str | None = None,
    requires: str | None = None,
) -> DecisionRule:
    case = RuleCase("on", favours=favours, requires=requires)
    return DecisionRule(name, "seed-000", "2026-03", (), strength, theme or name, name, "", (case,))


def lines_of(rules: list[DecisionRule], parts: list[dict[str, FactValue]], **weights: float) -> tuple[TraceLine, ...]:
    return trace_rules(rules, {"on": True}, parts, {}, weights)


def share(lines: tuple[TraceLine, ...], parts: list[dict[str, FactValue]], draws: int = 500) -> tuple[float, ...]:
    drawn = SimulatedFacts(draws, 1, tuple({} for _ in parts))
    return compute_lead_shares(lines, {"on": True}, parts, drawn).columns


A: dict[str, FactValue] = {"good": True, "big": False, "ok": True}
B: dict[str, FactValue] = {"good": False, "big": True, "ok": True}


def test_the_heaviest_rule_of_a_theme_counts_and_others_say_so() -> None:
    rules = [
        rule("light", RuleStrength.MILD, "one", favours="good"),
        rule("heavy", RuleStrength.STRONG, "one", favours="good"),
        rule("apart", RuleStrength.MILD, "two", favours="big"),
    ]
    lines = lines_of(rules, [A, B])
    assert compute_scores(lines, 2) == (3.0, 1.0)
    assert [each.rule.id for each in lines] == ["heavy", "light", "apart"]
    assert [each.counted_with for each in lines] == [None, "heavy", None]


def test_rules_of_a_theme_that_disagree_both_count() -> None:
    rules = [rule("one", theme="t", favours="good"), rule("other", theme="t", favours="big")]
    assert compute_scores(lines_of(rules, [A, B]), 2) == (3.0, 3.0)


@given(st.floats(0.0, 100.0))
def test_nothing_outvotes_what_must_hold(weight: float) -> None:
    rules = [rule("must", RuleStrength.HARD, requires="big"), rule("wish", favours="good")]
    lines = lines_of(rules, [A, B], wish=weight)
    assert list_removing_rules(lines, 0) == ("must",)
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
    rules = [rule("must", RuleStrength.HARD, requires="unknown"), rule("wish", favours="unknown")]
    lines = lines_of(rules, [A, B])
    assert {cell.effect for line in lines for cell in line.cells} == {RuleEffect.UNDECIDED}
    assert list_undecided_rules(lines, 0) == ("must",)
    assert compute_scores(lines, 2) == (0.0, 0.0)
    assert share(lines, [A, B]) == (0.5, 0.5)


def test_draws_decide_what_a_band_leaves_open() -> None:
    must = rule("must", RuleStrength.HARD, requires="wait <= limit")
    parts: list[dict[str, FactValue]] = [{}, {"wait": 1.0}]
    facts: dict[str, FactValue] = {"on": True, "limit": 2.0}
    lines = trace_rules([must, rule("wish", favours="first")], facts, [{**parts[0], "first": True}, parts[1]], {}, {})
    waits = np.array([1.0, 1.5, 2.5, 3.0])
    drawn = SimulatedFacts(4, 1, ({"wait": waits}, {}))
    found = compute_lead_shares(lines, facts, [{"first": True}, {"wait": 1.0, "first": False}], drawn)
    assert found.columns == (0.5, 0.5)
    assert found.none == 0.0


def test_where_all_are_removed_nobody_leads() -> None:
    must = lines_of([rule("must", RuleStrength.HARD, requires="nowhere")], [{"nowhere": False}])
    found = compute_lead_shares(must, {"on": True}, [{"nowhere": False}], SimulatedFacts(10, 1, ({},)))
    assert found.columns == (0.0,)
    assert found.none == 1.0
