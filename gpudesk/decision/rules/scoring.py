"""Rules that fire for a scenario, their effect on each accelerator, and the value of arguments."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from gpudesk.decision.rules.conditions import ConditionOutcome, SimulatedFact, evaluate_in_draws, parse_condition
from gpudesk.domain.decision import (
    DEFAULT_WEIGHTS,
    AnswerValue,
    ConditionResult,
    DecisionRule,
    FactValues,
    ObjectiveName,
    RuleCase,
    RuleEffect,
    RuleRole,
    RuleStrength,
    TraceCell,
    TraceLine,
)
from gpudesk.frozen_dataclass import frozen_dataclass

_ORDER = {RuleStrength.HARD: 0, RuleStrength.STRONG: 1, RuleStrength.MILD: 2}


def sort_rules(rules: Sequence[DecisionRule]) -> tuple[DecisionRule, ...]:
    """Return rules in the order of application: requirements, strong ones, mild ones."""
    return tuple(sorted(rules, key=lambda rule: _ORDER[rule.strength]))


def resolve_rule_weight(rule: DecisionRule, weights: Mapping[str, float]) -> float:
    """Return the weight that a rule adds if it favors: the user's weight, its own, or that of its strength.

    A refuted rule adds nothing, unless the user gives it a weight.
    """
    if rule.id in weights:
        return weights[rule.id]
    if rule.unfounded is not None:
        return 0.0
    return DEFAULT_WEIGHTS[rule.strength] if rule.weight is None else rule.weight


def find_firing_case(rule: DecisionRule, facts: FactValues) -> tuple[RuleCase, ConditionOutcome] | None:
    """Return the first case of a rule that holds for a scenario; None if none is known to."""
    for case in rule.cases:
        outcome = parse_condition(case.when).on(facts)
        if outcome.holds:
            return case, outcome
    return None


#: A fact about a leader or a property -> the figures that it compares, the one to name first.
TESTED_FIGURES: Final[Mapping[str, tuple[str, ...]]] = {
    "leads_memory": ("memory_gib",),
    "leads_bandwidth": ("bandwidth_tbs",),
    "leads_compute": ("peak_pflops",),
    "leads_link": ("link_gbs",),
    "leads_host_link": ("host_link_gbs",),
    "leads_kv_room": ("kv_room_gb",),
    "leads_concurrency": ("max_concurrency",),
    "leads_coverage": ("models_held",),
    "leads_model_engines": ("model_engine_count",),
    "leads_count": ("count",),
    "leads_spend": ("spend_usd",),
    "leads_cost": ("usd_per_million",),
    "leads_owned_cost": ("owned_usd_per_million",),
    "leads_density": ("tokens_per_s_kw",),
    "leads_power": ("watts_per_token_s",),
    "leads_throughput": ("tokens_per_s",),
    "leads_throughput_each": ("tokens_per_s_each",),
    "leads_ttft": ("ttft_ms",),
    "leads_tpot": ("tpot_ms",),
    "widest_software": ("engine_count", "engines"),
    "runs_engine": ("engines",),
    "needs_port": ("platform",),
    "native_fp4": ("fp4_pflops",),
    "announced": ("available",),
    "fits_alone": ("needs_alone_gb",),
    "pays_back": ("payback_hours",),
}
#: The condition of a case that is only shown: every compared deployment fits.
_ANYWAY: Final = "fits"


def list_tested_figures(case: RuleCase) -> tuple[str, ...]:
    """Return the column figures that a case compares to favor or to check; none if it does neither."""
    names = parse_condition(case.favours or case.checks or _ANYWAY).names - {_ANYWAY}
    return tuple(figure for name in sorted(names) for figure in TESTED_FIGURES.get(name, (name,)))


def find_shown_figure(rule: DecisionRule, case: RuleCase) -> str | None:
    """Return the figure that a rule shows: its own, unless the case compares others."""
    figures = list_tested_figures(case)
    return rule.shows if not figures or rule.shows in figures else figures[0]


def trace_rules(
    rules: Sequence[DecisionRule],
    facts: FactValues,
    parts: Sequence[FactValues],
    answers: Mapping[str, AnswerValue],
    weights: Mapping[str, float],
) -> tuple[TraceLine, ...]:
    """Return a line for each rule that fires, in the order of application.

    `parts` are the facts of each column without those of the scenario. Of rules of one theme that favor the same
    columns the heaviest counts, and the others refer to it.
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
            shows=(shows := find_shown_figure(rule, case)),
            cells=tuple(_trace_cell(shows, case, each) for each in every),
            weight=resolve_rule_weight(rule, weights),
        )


def _trace_cell(shows: str | None, case: RuleCase, facts: FactValues) -> TraceCell:
    value = None if shows is None else facts.get(shows)
    if case.question_condition is None:
        return TraceCell(RuleEffect.NONE, value)
    condition = parse_condition(case.question_condition)
    outcome = condition.on(facts)
    if case.requires is not None and outcome.holds is None and evaluate_in_draws(condition, facts) is False:
        # The interval contains the limit, but the likely figure misses it.
        return TraceCell(RuleEffect.REMOVES, value, tuple(_judge_likely(each, facts) for each in outcome.tested))
    return TraceCell(_get_effect(case, outcome.holds), value, outcome.tested)


def _judge_likely(tested: ConditionResult, facts: FactValues) -> ConditionResult:
    """Return an undecided comparison as its likely figures decide it."""
    if tested.holds is not None:
        return tested
    likely = evaluate_in_draws(parse_condition(tested.text), facts)
    return tested._replace(holds=likely if isinstance(likely, bool) else None)


def _get_effect(case: RuleCase, holds: bool | None) -> RuleEffect:
    if holds is None:
        return RuleEffect.UNDECIDED
    if case.requires is not None:
        return RuleEffect.PASSES if holds else RuleEffect.REMOVES
    if case.favours is not None:
        return RuleEffect.FAVORS if holds else RuleEffect.NONE
    return RuleEffect.PASSES if holds else RuleEffect.NONE


def get_line_theme(line: TraceLine) -> str:
    """Return the theme of a line; lines of one theme count once."""
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


#: Facts already in the estimates and costs of the objective: rules about them add nothing.
_MEASURED: Final = frozenset(
    {
        *("leads_cost", "leads_owned_cost", "leads_spend", "pays_back", "spend_usd"),
        *("leads_throughput", "leads_throughput_each", "leads_tpot", "leads_ttft", "leads_density", "leads_power"),
        *("leads_bandwidth", "leads_compute", "leads_link", "leads_count", "fits_alone", "fits", "hosts"),
        *("kv_room_gb", "kv_needed_gb", "holds_load"),
    }
)
#: Objective -> the facts by which rules name its measure.
_OF_OBJECTIVE: Final[Mapping[ObjectiveName, frozenset[str]]] = {
    # Porting is a cost.
    ObjectiveName.COST: frozenset({"leads_cost", "leads_owned_cost", "leads_spend", "pays_back", "needs_port"}),
    ObjectiveName.THROUGHPUT: frozenset({"leads_throughput", "leads_throughput_each"}),
    ObjectiveName.DENSITY: frozenset({"leads_density", "leads_power"}),
    ObjectiveName.LATENCY: frozenset({"leads_tpot", "leads_ttft"}),
    ObjectiveName.CAPACITY: frozenset({"leads_concurrency", "leads_kv_room", "leads_memory"}),
    ObjectiveName.TIME: frozenset({"needs_port", "announced"}),
}
#: Facts of a scenario, or of one column relative to the others, that change with the comparison.
_RELATIVE: Final = (
    *("leads_", "some_", "all_", "most_", "least_", "fewest_", "coverage_", "bound_by", "decode_share"),
    *("kv_some_short", "engine_everywhere", "host_traffic_most", "unsure"),
)


_ROLES: Final = tuple(RuleRole)


def assign_roles(
    lines: Sequence[TraceLine], objective: ObjectiveName, eligible: Sequence[bool]
) -> tuple[TraceLine, ...]:
    """Return the lines with their effects on a decision by an objective, the deciding ones first."""
    lines_with_roles = (replace(line, role=_find_role(line, objective, eligible)) for line in lines)
    return tuple(sorted(lines_with_roles, key=lambda line: _ROLES.index(line.role)))


def _find_role(line: TraceLine, objective: ObjectiveName, eligible: Sequence[bool]) -> RuleRole:
    if line.case.requires is not None:
        passed = all(cell.effect is RuleEffect.PASSES for cell in line.cells)
        return RuleRole.NO_MATTER if passed else RuleRole.DECIDED
    if line.case.favours is not None and parse_condition(line.case.favours).names & _OF_OBJECTIVE[objective]:
        return RuleRole.DECIDED
    favored = {cell.effect is RuleEffect.FAVORS for cell, can in zip(line.cells, eligible, strict=True) if can}
    return RuleRole.ARGUED if is_argument(line, objective) and favored == {True, False} else RuleRole.NO_MATTER


def is_argument(line: TraceLine, objective: ObjectiveName) -> bool:
    """Whether a rule favors by something not yet in the objective or the estimates."""
    if line.case.favours is None or line.weight <= 0.0:
        return False
    return not parse_condition(line.case.favours).names & (_MEASURED | _OF_OBJECTIVE[objective])


def can_alter_decision(rule: DecisionRule) -> bool:
    """Whether a case of a rule removes columns, or is an argument that counts."""
    return any(case.requires is not None or (case.favours is not None and is_absolute(case)) for case in rule.cases)


def is_absolute(case: RuleCase) -> bool:
    """Whether a case judges a column independently of the others."""
    conditions = [text for text in (case.when, case.favours) if text is not None]
    return not any(name.startswith(_RELATIVE) for text in conditions for name in parse_condition(text).names)


def compute_argument_shares(lines: Sequence[TraceLine], objective: ObjectiveName, columns: int) -> tuple[float, ...]:
    """Return for each column the share of arguments in its favor, each theme once with its heaviest rule.

    Only arguments that do not depend on the other columns count.
    """
    themes: dict[str, float] = {}
    best: dict[tuple[str, int], float] = {}
    for line in lines:
        if not is_argument(line, objective) or not is_absolute(line.case):
            continue
        theme = get_line_theme(line)
        themes[theme] = max(themes.get(theme, 0.0), line.weight)
        for place, cell in enumerate(line.cells):
            if cell.effect is RuleEffect.FAVORS:
                best[theme, place] = max(best.get((theme, place), 0.0), line.weight)
    total = math.fsum(themes.values())
    if total <= 0.0:
        return (0.0,) * columns
    return tuple(math.fsum(value for (_, at), value in best.items() if at == place) / total for place in range(columns))


@frozen_dataclass
class SimulatedFacts:
    """Simulated facts: the number of draws, and by fact the draws of each column."""

    count: int
    seed: int
    parts: tuple[Mapping[str, SimulatedFact], ...]


def list_removing_rules(lines: Sequence[TraceLine], place: int) -> tuple[str, ...]:
    return tuple(line.rule.id for line in lines if line.cells[place].effect is RuleEffect.REMOVES)


def list_undecided_rules(lines: Sequence[TraceLine], place: int) -> tuple[str, ...]:
    """Return the undecided rules that would remove a column."""
    return tuple(
        line.rule.id
        for line in lines
        if line.case.requires is not None and line.cells[place].effect is RuleEffect.UNDECIDED
    )


#: Facts without which nothing is said to keep within a limit.
_KNOWN_FIRST: Final = frozenset({"spend_usd"})


def compute_limit_odds(
    lines: Sequence[TraceLine],
    facts: Mapping[str, SimulatedFact],
    parts: Sequence[Mapping[str, SimulatedFact]],
    simulated: SimulatedFacts,
) -> tuple[float, ...]:
    """Return the share of draws in which each column meets all requirements; 0 for a removed one.

    A rule that is undecided because of a missing fact removes in no draw, but an unknown price is within no budget.
    `facts` and `parts` are those that do not vary.
    """
    every = [{**facts, **part, **changing} for part, changing in zip(parts, simulated.parts, strict=True)]
    meets = np.ones((len(parts), simulated.count), dtype=np.bool_)
    for place in range(len(parts)):
        meets[place] = not list_removing_rules(lines, place)
    for line in lines:
        if line.case.requires is None:
            continue
        condition = parse_condition(line.case.requires)
        for place, each in enumerate(every):
            if line.cells[place].effect is RuleEffect.UNDECIDED:
                holds, unknown = evaluate_in_draws(condition, each), condition.names.isdisjoint(_KNOWN_FIRST)
                meets[place] &= unknown if holds is None else holds
    return tuple(float(share) for share in meets.mean(axis=1))


def list_weighted_rules(
    rules: Sequence[DecisionRule], weights: Mapping[str, float]
) -> tuple[tuple[DecisionRule, float], ...]:
    """Return each rule with the weight that it adds if it favors, under the user's weights."""
    return tuple((rule, resolve_rule_weight(rule, weights)) for rule in sort_rules(rules))
