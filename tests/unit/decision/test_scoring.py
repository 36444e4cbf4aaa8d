"""The results of rules: what must hold removes, what is measured is in the objective, themes argue once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.rules.scoring import (
    SimulatedFacts,
    assign_roles,
    compute_argument_shares,
    compute_limit_odds,
    list_removing_rules,
    list_undecided_rules,
    trace_rules,
)
from gpudesk.domain.decision import (
    DecisionRule,
    FactValue,
    ObjectiveName,
    RuleCase,
    RuleEffect,
    RuleRole,
    RuleStrength,
    TraceLine,
)
from gpudesk.text.formatting import IntervalEstimate


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


def shares(lines: tuple[TraceLine, ...], objective: ObjectiveName = ObjectiveName.COST) -> tuple[float, ...]:
    return compute_argument_shares(lines, objective, 2)


def roles(lines: tuple[TraceLine, ...], objective: ObjectiveName = ObjectiveName.COST) -> dict[str, RuleRole]:
    return {line.rule.id: line.role for line in assign_roles(lines, objective, (True, True))}


A: dict[str, FactValue] = {"good": True, "big": False, "ok": True}
B: dict[str, FactValue] = {"good": False, "big": True, "ok": True}


def test_only_the_heaviest_rule_of_a_theme_counts() -> None:
    rules = [
        rule("light", RuleStrength.MILD, "one", favours="good"),
        rule("heavy", RuleStrength.STRONG, "one", favours="good"),
        rule("apart", RuleStrength.MILD, "two", favours="big"),
    ]
    lines = lines_of(rules, [A, B])
    assert shares(lines) == (0.75, 0.25)
    assert [each.rule.id for each in lines] == ["heavy", "light", "apart"]
    assert [each.counted_with for each in lines] == [None, "heavy", None]


def test_rules_of_a_theme_that_disagree_both_count() -> None:
    rules = [rule("one", theme="t", favours="good"), rule("other", theme="t", favours="big")]
    assert shares(lines_of(rules, [A, B])) == (1.0, 1.0)


@given(st.floats(0.1, 50.0), st.floats(1.0, 3.0))
def test_more_weight_never_costs_what_it_favors(weight: float, more: float) -> None:
    rules = [rule("one", favours="good"), rule("other", favours="big")]
    light, heavy = (lines_of(rules, [A, B], one=each, other=5.0) for each in (weight, weight * more))
    assert shares(heavy)[0] >= shares(light)[0]
    assert shares(heavy)[1] <= shares(light)[1]


def test_figure_of_the_objective_is_no_further_argument() -> None:
    parts: list[dict[str, FactValue]] = [{"leads_cost": True, **A}, {"leads_cost": False, **B}]
    lines = lines_of([rule("cost", favours="leads_cost"), rule("apart", favours="good")], parts)
    assert roles(lines) == {"cost": RuleRole.DECIDED, "apart": RuleRole.ARGUED}
    assert roles(lines, ObjectiveName.THROUGHPUT)["cost"] is RuleRole.NO_MATTER
    assert shares(lines) == (1.0, 0.0)


def test_relative_facts_break_no_tie() -> None:
    parts: list[dict[str, FactValue]] = [{"leads_memory": True}, {"leads_memory": False}]
    lines = lines_of([rule("most", favours="leads_memory")], parts)
    assert roles(lines) == {"most": RuleRole.ARGUED}
    assert shares(lines) == (0.0, 0.0)


def test_arguments_for_all_accelerators_change_nothing() -> None:
    assert roles(lines_of([rule("both", favours="ok")], [A, B])) == {"both": RuleRole.NO_MATTER}


def test_hard_rule_decides_only_if_it_removes_an_accelerator() -> None:
    rules = [rule("must", RuleStrength.HARD, requires="big"), rule("met", RuleStrength.HARD, requires="ok")]
    lines = lines_of(rules, [A, B])
    assert list_removing_rules(lines, 0) == ("must",)
    assert roles(lines) == {"must": RuleRole.DECIDED, "met": RuleRole.NO_MATTER}


def test_undecided_condition_has_no_effect() -> None:
    rules = [rule("must", RuleStrength.HARD, requires="unknown"), rule("wish", favours="unknown")]
    lines = lines_of(rules, [A, B])
    assert {cell.effect for line in lines for cell in line.cells} == {RuleEffect.UNDECIDED}
    assert list_undecided_rules(lines, 0) == ("must",)
    assert shares(lines) == (0.0, 0.0)
    assert compute_limit_odds(lines, {"on": True}, [A, B], SimulatedFacts(10, 1, ({}, {}))) == (1.0, 1.0)


def test_simulation_decides_where_intervals_overlap() -> None:
    must = rule("must", RuleStrength.HARD, requires="wait <= limit")
    facts: dict[str, FactValue] = {"on": True, "limit": 2.0}
    parts: list[dict[str, FactValue]] = [{"wait": IntervalEstimate(2.0, 1.0, 3.0)}, {"wait": 1.0}]
    lines = trace_rules([must], facts, parts, {}, {})
    simulated_facts = SimulatedFacts(4, 1, ({"wait": np.array([1.0, 1.5, 2.5, 3.0])}, {}))
    assert compute_limit_odds(lines, facts, parts, simulated_facts) == (0.5, 1.0)


def test_excluded_accelerator_meets_its_limits_in_no_draw() -> None:
    must = lines_of([rule("must", RuleStrength.HARD, requires="nowhere")], [{"nowhere": False}])
    assert compute_limit_odds(must, {"on": True}, [{"nowhere": False}], SimulatedFacts(10, 1, ({},))) == (0.0,)
