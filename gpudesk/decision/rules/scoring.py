"""Which rules fire for a scenario, what each does to each accelerator, and the scores that follow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from gpudesk.costing.uncertainty import draw_uniform
from gpudesk.decision.rules.conditions import (
    ConditionOutcome,
    DrawMarks,
    Draws,
    SimulatedFact,
    SimulatedTruth,
    evaluate_in_draws,
    parse_condition,
)
from gpudesk.domain.decision import (
    DEFAULT_WEIGHTS,
    AnswerValue,
    DecisionRule,
    FactValues,
    RuleCase,
    RuleEffect,
    RuleStrength,
    TraceCell,
    TraceLine,
)

_ORDER = {RuleStrength.HARD: 0, RuleStrength.STRONG: 1, RuleStrength.MILD: 2}


def sort_rules(rules: Sequence[DecisionRule]) -> tuple[DecisionRule, ...]:
    """Return rules as they are applied: what must hold, then what is strong, then what is mild."""
    return tuple(sorted(rules, key=lambda rule: _ORDER[rule.strength]))


def resolve_rule_weight(rule: DecisionRule, weights: Mapping[str, float]) -> float:
    """Return what a rule adds where it favours: the user's weight, its own, or that of its strength.

    One that has nothing left to stand on adds nothing, unless the user gives it a weight.
    """
    if rule.id in weights:
        return weights[rule.id]
    if rule.unfounded is not None:
        return 0.0
    return DEFAULT_WEIGHTS[rule.strength] if rule.weight is None else rule.weight


def find_firing_case(rule: DecisionRule, facts: FactValues) -> tuple[RuleCase, ConditionOutcome] | None:
    """Return the first case of a rule that holds for a scenario; None where none is known to."""
    for case in rule.cases:
        outcome = parse_condition(case.when).on(facts)
        if outcome.holds:
            return case, outcome
    return None


def trace_rules(
    rules: Sequence[DecisionRule],
    facts: FactValues,
    parts: Sequence[FactValues],
    answers: Mapping[str, AnswerValue],
    weights: Mapping[str, float],
) -> tuple[TraceLine, ...]:
    """Return a line for each rule that fires, in the order in which they are applied.

    `parts` are the facts of each column without those of the scenario. Of rules of one theme that favour the
    same columns the heaviest counts, and the others say with which they are counted.
    """
    lines = tuple(_trace_lines(sort_rules(rules), facts, parts, answers, weights))
    return tuple(_count_themes_once(lines))


def _trace_lines(
    rules: Sequence[DecisionRule],
    facts: FactValues,
    parts: Sequence[FactValues],
    answers: Mapping[str, AnswerValue],
    weights: Mapping[str, float],
) -> Iterator[TraceLine]:
    every = [{**facts, **part} for part in parts]
    for rule in rules:
        fired = find_firing_case(rule, facts)
        if fired is None:
            continue
        case, outcome = fired
        yield TraceLine(
            rule=rule,
            case=case,
            answers={name: answers[name] for name in rule.asks if name in answers},
            tested=outcome.tested,
            cells=tuple(_trace_cell(rule, case, each) for each in every),
            weight=resolve_rule_weight(rule, weights),
        )


def _trace_cell(rule: DecisionRule, case: RuleCase, facts: FactValues) -> TraceCell:
    shown = None if rule.shows is None else facts.get(rule.shows)
    if case.asked is None:
        return TraceCell(RuleEffect.NONE, shown)
    outcome = parse_condition(case.asked).on(facts)
    return TraceCell(_get_effect(case, outcome.holds), shown, outcome.tested)


def _get_effect(case: RuleCase, holds: bool | None) -> RuleEffect:
    if holds is None:
        return RuleEffect.UNDECIDED
    if case.requires is not None:
        return RuleEffect.PASSES if holds else RuleEffect.REMOVES
    if case.favours is not None:
        return RuleEffect.FAVOURS if holds else RuleEffect.NONE
    return RuleEffect.PASSES if holds else RuleEffect.NONE


def get_line_theme(line: TraceLine) -> str:
    """Return what a line is about; lines of one theme count once."""
    return line.case.theme or line.rule.theme


def _count_themes_once(lines: Sequence[TraceLine]) -> Iterator[TraceLine]:
    counting: dict[tuple[str, tuple[RuleEffect, ...]], TraceLine] = {}
    for line in lines:
        if line.case.favours is None:
            continue
        key = (get_line_theme(line), tuple(cell.effect for cell in line.cells))
        if key not in counting or counting[key].weight < line.weight:
            counting[key] = line
    for line in lines:
        key = (get_line_theme(line), tuple(cell.effect for cell in line.cells))
        counts = counting.get(key)
        if line.case.favours is None or counts is None or counts is line:
            yield line
        else:
            yield replace(line, counted_with=counts.rule.id)


#: The weight of a theme may as well be half of what it is, or twice.
WEIGHT_DOUBT: Final = 2.0
#: Scores that differ by less are the same.
_SAME_SCORE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class SimulatedFacts:
    """What is drawn: so many draws, and by fact the draws of each column."""

    count: int
    seed: int
    parts: tuple[Mapping[str, SimulatedFact], ...]


@dataclass(frozen=True, slots=True)
class LeadShares:
    """In which share of the draws each column leads, alone or with others, and in which none is left."""

    columns: tuple[float, ...]
    none: float


def compute_scores(lines: Sequence[TraceLine], columns: int) -> tuple[float, ...]:
    """Return the score of each column: of every theme the heaviest rule that favours it, added up."""
    best: dict[tuple[str, int], float] = {}
    for line in lines:
        for place, cell in enumerate(line.cells):
            if cell.effect is RuleEffect.FAVOURS:
                key = (get_line_theme(line), place)
                best[key] = max(best.get(key, 0.0), line.weight)
    return tuple(math.fsum(value for (_, at), value in best.items() if at == place) for place in range(columns))


def list_removing_rules(lines: Sequence[TraceLine], place: int) -> tuple[str, ...]:
    return tuple(line.rule.id for line in lines if line.cells[place].effect is RuleEffect.REMOVES)


def list_undecided_rules(lines: Sequence[TraceLine], place: int) -> tuple[str, ...]:
    """Return the rules that would remove a column, but cannot be decided."""
    return tuple(
        line.rule.id
        for line in lines
        if line.case.requires is not None and line.cells[place].effect is RuleEffect.UNDECIDED
    )


def compute_lead_shares(
    lines: Sequence[TraceLine],
    facts: Mapping[str, SimulatedFact],
    parts: Sequence[Mapping[str, SimulatedFact]],
    drawn: SimulatedFacts,
) -> LeadShares:
    """Return how often each column leads in draws of what is not known, and of the weights.

    Columns that tie in a draw share it. A rule that removes and cannot be decided, since a fact is missing,
    removes in no draw. `facts` and `parts` are those that do not change.
    """
    count = drawn.count
    every = [{**facts, **part, **changing} for part, changing in zip(parts, drawn.parts, strict=True)]
    totals = np.zeros((len(parts), count))
    # What is removed with its whole band is so in all draws, those beyond the band too.
    out = np.repeat([[bool(list_removing_rules(lines, place))] for place in range(len(parts))], count, axis=1)
    by_theme: dict[str, list[TraceLine]] = {}
    for line in lines:
        if line.case.requires is not None:
            asked = parse_condition(line.case.requires)
            for place, each in enumerate(every):
                out[place] |= _mark_draws(evaluate_in_draws(asked, each), count, unknown=True) ^ True
        elif line.case.favours is not None and line.weight > 0.0:
            by_theme.setdefault(get_line_theme(line), []).append(line)
    for theme, of_theme in by_theme.items():
        doubt = WEIGHT_DOUBT ** (2.0 * draw_uniform(drawn.seed, f"weight of {theme}", count) - 1.0)
        for place, each in enumerate(every):
            totals[place] += _weigh_favors(of_theme, each, count) * doubt
    return _share_leads(totals, out)


def _weigh_favors(lines: Sequence[TraceLine], facts: Mapping[str, SimulatedFact], count: int) -> Draws:
    """Return the heaviest weight of a theme that favours a column, in each draw."""
    best = np.zeros(count)
    for line in lines:
        assert line.case.favours is not None
        holds = _mark_draws(evaluate_in_draws(parse_condition(line.case.favours), facts), count, unknown=False)
        np.maximum(best, holds * line.weight, out=best)
    return best


def _mark_draws(truth: SimulatedTruth, count: int, *, unknown: bool) -> DrawMarks:
    if isinstance(truth, np.ndarray):
        return truth
    return np.full(count, unknown if truth is None else truth)


def _share_leads(totals: Draws, out: DrawMarks) -> LeadShares:
    ranked = np.where(out, -np.inf, totals)
    top = ranked.max(axis=0)
    left = np.isfinite(top)
    leads = (ranked >= top - _SAME_SCORE) & left & ~out
    each = leads / np.maximum(leads.sum(axis=0), 1)
    return LeadShares(tuple(float(share) for share in each.mean(axis=1)), float((~left).mean()))


def list_weighted_rules(
    rules: Sequence[DecisionRule], weights: Mapping[str, float]
) -> tuple[tuple[DecisionRule, float], ...]:
    """Return each rule with what it adds where it favours, under weights that the user gave."""
    return tuple((rule, resolve_rule_weight(rule, weights)) for rule in sort_rules(rules))
