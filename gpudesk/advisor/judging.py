"""What rules say of accelerators: which of them fire for a scenario, and what each does to each column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from gpudesk.advisor.conditions import Outcome, condition
from gpudesk.domain.decisions import Case, Effect, Facts, Rule, TraceCell, TraceLine
from gpudesk.domain.questions import USUAL_WEIGHTS, AnswerValue, Strength

_ORDER = {Strength.HARD: 0, Strength.STRONG: 1, Strength.MILD: 2}


def in_order(rules: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return rules as they are applied: what must hold, then what is strong, then what is mild."""
    return tuple(sorted(rules, key=lambda rule: _ORDER[rule.strength]))


def weight_of(rule: Rule, weights: Mapping[str, float]) -> float:
    """Return what a rule adds where it favours: the user's weight, its own, or that of its strength.

    One that has nothing left to stand on adds nothing, unless the user gives it a weight.
    """
    if rule.id in weights:
        return weights[rule.id]
    if rule.unfounded is not None:
        return 0.0
    return USUAL_WEIGHTS[rule.strength] if rule.weight is None else rule.weight


def firing(rule: Rule, facts: Facts) -> tuple[Case, Outcome] | None:
    """Return the first case of a rule that holds for a scenario; None where none is known to."""
    for case in rule.cases:
        outcome = condition(case.when).on(facts)
        if outcome.holds:
            return case, outcome
    return None


def trace_of(
    rules: Sequence[Rule],
    facts: Facts,
    parts: Sequence[Facts],
    answers: Mapping[str, AnswerValue],
    weights: Mapping[str, float],
) -> tuple[TraceLine, ...]:
    """Return a line for each rule that fires, in the order in which they are applied.

    `parts` are the facts of each column without those of the scenario. Of rules of one theme that favour the
    same columns the heaviest counts, and the others say with which they are counted.
    """
    lines = tuple(_lines(in_order(rules), facts, parts, answers, weights))
    return tuple(_counted_once(lines))


def _lines(
    rules: Sequence[Rule],
    facts: Facts,
    parts: Sequence[Facts],
    answers: Mapping[str, AnswerValue],
    weights: Mapping[str, float],
) -> Iterator[TraceLine]:
    every = [{**facts, **part} for part in parts]
    for rule in rules:
        fired = firing(rule, facts)
        if fired is None:
            continue
        case, outcome = fired
        yield TraceLine(
            rule=rule,
            case=case,
            answers={name: answers[name] for name in rule.asks if name in answers},
            tested=outcome.tested,
            cells=tuple(_cell(rule, case, each) for each in every),
            weight=weight_of(rule, weights),
        )


def _cell(rule: Rule, case: Case, facts: Facts) -> TraceCell:
    shown = None if rule.shows is None else facts.get(rule.shows)
    if case.asked is None:
        return TraceCell(Effect.NONE, shown)
    outcome = condition(case.asked).on(facts)
    return TraceCell(_effect(case, outcome.holds), shown, outcome.tested)


def _effect(case: Case, holds: bool | None) -> Effect:
    if holds is None:
        return Effect.UNDECIDED
    if case.requires is not None:
        return Effect.PASSES if holds else Effect.REMOVES
    if case.favours is not None:
        return Effect.FAVOURS if holds else Effect.NONE
    return Effect.PASSES if holds else Effect.NONE


def theme_of(line: TraceLine) -> str:
    """Return what a line is about; lines of one theme count once."""
    return line.case.theme or line.rule.theme


def _counted_once(lines: Sequence[TraceLine]) -> Iterator[TraceLine]:
    """Yield the lines, those that a heavier one of their theme already counts with its id."""
    counting: dict[tuple[str, tuple[Effect, ...]], TraceLine] = {}
    for line in lines:
        if line.case.favours is None:
            continue
        key = (theme_of(line), tuple(cell.effect for cell in line.cells))
        if key not in counting or counting[key].weight < line.weight:
            counting[key] = line
    for line in lines:
        key = (theme_of(line), tuple(cell.effect for cell in line.cells))
        counts = counting.get(key)
        if line.case.favours is None or counts is None or counts is line:
            yield line
        else:
            yield replace(line, counted_with=counts.rule.id)
