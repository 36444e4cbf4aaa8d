"""Decisions: facts of an answered scenario, what rules say of them, and what follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from gpudesk.costing.uncertainty import DRAW_SEED, CostSampler, PaymentBasis, compute_common_error
from gpudesk.decision.facts.answers import convert_answers, get_cost_platform, resolve_answers
from gpudesk.decision.facts.decision_facts import list_platform_facts
from gpudesk.decision.facts.leaders import (
    add_cost_facts,
    choose_payment_basis,
    list_leading_facts,
    list_payback_facts,
    simulate_facts,
)
from gpudesk.decision.rules.scoring import (
    LeadShares,
    compute_lead_shares,
    compute_scores,
    get_line_theme,
    list_removing_rules,
    list_undecided_rules,
    trace_rules,
)
from gpudesk.domain.answer import Answer, make_column_keys
from gpudesk.domain.cost import CostAnswer
from gpudesk.domain.decision import (
    AnswerValue,
    ColumnStanding,
    ConditionResult,
    Decision,
    DecisionFactor,
    DecisionRule,
    DecisionVerdict,
    FactorCell,
    FactorLevel,
    FactValue,
    FactValues,
    PilotMeasurement,
    QuestionAnswer,
    RecommendedDeployment,
    RuleAdvice,
    RuleConflict,
    RuleEffect,
    RuleExclusion,
    TraceLine,
    WeighedRule,
)

if TYPE_CHECKING:
    from gpudesk.decision.facts.decision_facts import DecisionFacts, DecisionFactsBuilder


class _FactorRow(NamedTuple):
    """One factor: the fact that it is judged by, the fact that says who leads in it, rules that state it."""

    id: str
    fact: str
    leads: str | None
    stated: tuple[str, ...]


#: In the document's order. What no leading fact judges has no measure: it stays unknown.
_FACTOR_ROWS: Final = (
    _FactorRow("software", "engine_count", "most_engines", ("D003-15",)),
    _FactorRow("very_large_models", "count", "leads_count", ("D003-16",)),
    _FactorRow("cluster", "link_gbs", "leads_link", ("D003-17", "D003-02")),
    _FactorRow("cost", "usd_per_million", "leads_cost", ("D003-18", "D003-07")),
    _FactorRow("fine_tuning", "fine_tuning", None, ("D003-19", "D003-11")),
    _FactorRow("experts", "memory_gib", "leads_memory", ("D003-20", "D003-06")),
    _FactorRow("community", "community", None, ("D003-21",)),
    _FactorRow("flexibility", "flexibility", None, ("D003-22",)),
    _FactorRow("throughput", "tokens_per_s", "leads_throughput", ("D002-02", "D003-10")),
    _FactorRow("first_token", "ttft_ms", "leads_ttft", ("D004-01",)),
    _FactorRow("long_context", "kv_room_gb", "leads_kv_room", ("D000-04", "D001-02")),
    _FactorRow("fp4", "fp4_pflops", "native_fp4", ("D002-04",)),
)


def rate_factors(parts: Sequence[FactValues]) -> tuple[DecisionFactor, ...]:
    """Return the rows of the table; of one accelerator alone nothing is preferred."""
    most = max((_count_engines(part) for part in parts), default=0.0)
    least = min((_count_engines(part) for part in parts), default=0.0)
    every = [{**part, "most_engines": None if most == least else _count_engines(part) == most} for part in parts]
    return tuple(DecisionFactor(row.id, row.fact, tuple(_rate_cells(row, every)), row.stated) for row in _FACTOR_ROWS)


def _count_engines(part: FactValues) -> float:
    count = part.get("engine_count")
    return count if isinstance(count, float) else 0.0


def _rate_cells(row: _FactorRow, parts: Sequence[FactValues]) -> list[FactorCell]:
    if row.leads is None:
        return [FactorCell(FactorLevel.UNKNOWN, None) for _ in parts]
    leading = [part.get(row.leads) for part in parts]
    values = [part.get(row.fact) for part in parts]
    nobody = True not in leading or all(leading)
    return [
        FactorCell(_rate_level(leads, value, fits=part.get("fits") is not False, nobody=nobody), value)
        for leads, value, part in zip(leading, values, parts, strict=True)
    ]


def _rate_level(leads: FactValue, value: FactValue, *, fits: bool, nobody: bool) -> FactorLevel:
    if leads is False and value == 0.0:
        return FactorLevel.LACKS
    if value is None or not fits:
        return FactorLevel.UNKNOWN
    if nobody:
        return FactorLevel.EQUAL
    return FactorLevel.PREFERRED if leads is True else FactorLevel.CAPABLE


DECISION_DRAWS: Final = 2_000
#: The leading column is recommended where it leads in so many of the draws: twice as many as all others.
CLEAR_SHARE: Final = 2.0 / 3.0
_REASONS: Final = 3
#: Requests that a pilot sends at least, and rounds of all in flight; seconds that it takes at least.
_PILOT_REQUESTS, _PILOT_ROUNDS, _PILOT_SECONDS = 256, 10, 600.0
_SECONDS_PER_HOUR: Final = 3600.0


@dataclass(frozen=True, slots=True)
class EffectiveFacts:
    """All facts of a decision, and the columns that no rule removes by likely figures."""

    facts: FactValues
    parts: tuple[FactValues, ...]
    standing: tuple[int, ...]
    basis: PaymentBasis | None


class Decider:
    """Decides answered scenarios by rules; what does not depend on answers is worked out once."""

    def __init__(self, rules: Sequence[DecisionRule], ground: DecisionFactsBuilder) -> None:
        self.rules = tuple(rules)
        self._removing = tuple(rule for rule in rules if any(case.requires for case in rule.cases))
        self._ground = ground

    def decide(
        self, answer: Answer, said: Mapping[str, AnswerValue] | None = None, *, draws: int = DECISION_DRAWS
    ) -> Decision:
        """Return the decision on an answered scenario, under other answers than its own where `said`."""
        answers = resolve_answers(answer.scenario, said, answer.model.native_precision)
        platform = get_cost_platform(answers)
        ground = self._ground.of(answer, platform)
        situation = self._situation(answer, ground, answers)
        weights = answer.scenario.decision.weights
        values = {name: each.value for name, each in answers.items()}
        lines = trace_rules(self.rules, situation.facts, situation.parts, values, weights)
        found = self._shares(answer, ground, situation, lines, draws)
        decision = _make_decision(answer, answers, situation, lines, found, draws)
        return self._unsure(decision, values, weights)

    def apart(self, answer: Answer) -> Decider:
        """Return one that a job may use on its thread for this answer, with whatever is said and paid."""
        return Decider(self.rules, self._ground.apart(answer))

    def costs_of(self, answer: Answer, said: Mapping[str, AnswerValue] | None = None) -> CostAnswer:
        """Return the costs that a decision rests on: those of software on the platform that is in use."""
        answers = resolve_answers(answer.scenario, said, answer.model.native_precision)
        return self._ground.of(answer, get_cost_platform(answers)).costs

    def _situation(
        self, answer: Answer, ground: DecisionFacts, answers: Mapping[str, QuestionAnswer]
    ) -> EffectiveFacts:
        """Return all facts: first those that remove columns, then who leads among those that are left."""
        keys = make_column_keys(answer.scenario.accelerators)
        every = tuple(range(len(ground.parts)))
        said = convert_answers(answers)
        facts: dict[str, FactValue] = {**ground.facts(every), **said}
        basis = choose_payment_basis(ground.parts, said.get("acquisition"))
        parts = [add_cost_facts(part, basis) for part in ground.parts]
        wide, by_platform, current = ground.widest, ground.engines_by_platform, _get_platform(answer, said)
        parts = _merge_facts(parts, [list_platform_facts(current, part, wide, by_platform) for part in parts])
        parts = _merge_facts(parts, ground.for_engine(said.get("serving_engine")))
        facts |= _list_derived_facts(parts, every, ground, said)
        hard = trace_rules(self._removing, facts, parts, {}, {})
        standing = tuple(place for place in every if not list_removing_rules(hard, place))
        if standing and standing != every:
            # What is compared from here on is what is left: whoever is out sets no measure.
            facts |= ground.facts(standing) | _list_derived_facts(parts, standing, ground, said) | said
        hours = list_payback_facts(ground.situations, parts, standing, said.get("monthly_hours"))
        parts = _merge_facts(parts, hours)
        parts = _merge_facts(parts, list_leading_facts(answer, keys, parts, standing))
        return EffectiveFacts(facts, tuple(parts), standing, basis)

    def _shares(
        self, answer: Answer, ground: DecisionFacts, situation: EffectiveFacts, lines: Sequence[TraceLine], draws: int
    ) -> LeadShares:
        drawing = CostSampler(draws, DRAW_SEED, compute_common_error(answer))
        drawn = simulate_facts(ground.situations, situation.parts, situation.standing, situation.basis, drawing)
        return compute_lead_shares(lines, situation.facts, situation.parts, drawn)

    def _unsure(self, decision: Decision, answers: Mapping[str, AnswerValue], weights: Mapping[str, float]) -> Decision:
        """Return the decision with what rules tell to do where nothing is clear."""
        if decision.verdict is not DecisionVerdict.OPEN:
            silent = _list_silent_rules(self.rules, decision.trace)
            return replace(decision, silent=silent)
        facts = {**decision.facts, "unsure": True}
        lines = trace_rules(self.rules, facts, decision.parts, answers, weights)
        return replace(
            decision, facts=facts, trace=lines, advice=_list_advice(lines), silent=_list_silent_rules(self.rules, lines)
        )


def _merge_facts(parts: Sequence[FactValues], more: Sequence[FactValues]) -> list[dict[str, FactValue]]:
    return [{**part, **added} for part, added in zip(parts, more, strict=True)]


def _list_silent_rules(rules: Sequence[DecisionRule], lines: Sequence[TraceLine]) -> tuple[str, ...]:
    fired = {line.rule.id for line in lines}
    return tuple(rule.id for rule in rules if rule.id not in fired)


def _get_platform(answer: Answer, said: FactValues) -> FactValue:
    """Return the platform that software runs on; one that no option names is that of the costs."""
    current, costed = said.get("current_platform"), answer.scenario.costs.runs_on
    return costed if current == _OTHER and costed not in _NAMED else current


def _list_derived_facts(
    parts: Sequence[FactValues], places: Sequence[int], ground: DecisionFacts, said: FactValues
) -> dict[str, FactValue]:
    ports = [parts[place].get("needs_port") for place in places]
    announced = any(part.get("announced") is True for part in parts)
    return {
        "some_need_port": True if True in ports else None if None in ports else False,
        "some_announced": announced and ground.ranked_apart,
        "engine_everywhere": ground.everywhere(said.get("serving_engine"), places),
    }


def _make_decision(
    answer: Answer,
    answers: Mapping[str, QuestionAnswer],
    situation: EffectiveFacts,
    lines: tuple[TraceLine, ...],
    found: LeadShares,
    draws: int,
) -> Decision:
    keys = make_column_keys(answer.scenario.accelerators)
    points = compute_scores(lines, len(keys))
    standings = tuple(
        ColumnStanding(
            key=key,
            accelerator=answer.columns[place].accelerator.id,
            score=points[place],
            share=found.columns[place],
            removed=list_removing_rules(lines, place),
            open_rules=list_undecided_rules(lines, place),
        )
        for place, key in enumerate(keys)
    )
    ranked = sorted(
        (place for place in range(len(keys)) if not standings[place].removed),
        key=lambda place: (-found.columns[place], -points[place], place),
    )
    verdict = _get_verdict(ranked, found)
    first = ranked[0] if ranked else None
    second = ranked[1] if len(ranked) > 1 else None
    others = ranked[1:] or [place for place in range(len(keys)) if place != first]
    weighed = () if first is None else _weigh_themes(lines, first, others)
    return Decision(
        columns=keys,
        answers=answers,
        facts=situation.facts,
        parts=situation.parts,
        trace=lines,
        silent=(),
        standings=standings,
        verdict=verdict,
        recommended=None if first is None else _make_recommended(answer, keys, first),
        runner_up=None if second is None else keys[second],
        robustness=0.0 if first is None else found.columns[first],
        draws=draws,
        reasons=tuple(each for each in weighed if each.gain > 0.0)[:_REASONS],
        against=tuple(each for each in reversed(weighed) if each.gain < 0.0)[:1],
        exclusions=_list_exclusions(keys, lines),
        advice=_list_advice(lines),
        conflicts=_list_conflicts(lines),
        pilot=_plan_pilot(answer, keys, lines, first, second) if verdict is DecisionVerdict.OPEN else None,
        factors=rate_factors(situation.parts),
    )


def _get_verdict(ranked: Sequence[int], found: LeadShares) -> DecisionVerdict:
    if not ranked:
        return DecisionVerdict.NONE_FITS
    return DecisionVerdict.WINNER if found.columns[ranked[0]] >= CLEAR_SHARE else DecisionVerdict.OPEN


def _make_recommended(answer: Answer, keys: Sequence[str], place: int) -> RecommendedDeployment | None:
    column = answer.columns[place]
    if column.estimate is None:
        return None
    return RecommendedDeployment(keys[place], column.accelerator.id, column.estimate.count, column.estimate.plan)


def _weigh_themes(lines: Sequence[TraceLine], first: int, others: Sequence[int]) -> tuple[WeighedRule, ...]:
    """Return what each theme gives the first column over the mean of the others, the most first."""
    by_theme: dict[str, list[TraceLine]] = {}
    for line in lines:
        if line.case.favours is not None:
            by_theme.setdefault(get_line_theme(line), []).append(line)
    found = []
    for of_theme in by_theme.values():
        ours = _find_heaviest_line(of_theme, first)
        rivals = [each for place in others if (each := _find_heaviest_line(of_theme, place)) is not None]
        mean = sum(each.weight for each in rivals) / max(len(others), 1)
        gain = (0.0 if ours is None else ours.weight) - mean
        said = ours if gain > 0.0 else max(rivals, key=lambda line: line.weight, default=None)
        if said is not None and gain != 0.0:
            found.append(WeighedRule(said.rule, said, gain))
    return tuple(sorted(found, key=lambda each: -each.gain))


def _find_heaviest_line(lines: Sequence[TraceLine], place: int) -> TraceLine | None:
    """Return the heaviest line that favours a column; of as heavy ones the first."""
    favouring = [line for line in lines if line.cells[place].effect is RuleEffect.FAVOURS]
    return max(favouring, key=lambda line: line.weight, default=None)


def _list_exclusions(keys: Sequence[str], lines: Sequence[TraceLine]) -> tuple[RuleExclusion, ...]:
    return tuple(
        RuleExclusion(key, line.rule, _list_failed_tests(line.cells[place].tested))
        for place, key in enumerate(keys)
        for line in lines
        if line.cells[place].effect is RuleEffect.REMOVES
    )


def _list_failed_tests(tested: tuple[ConditionResult, ...]) -> tuple[ConditionResult, ...]:
    """Return the comparisons that fail; of one that asks that something does not hold, all of them."""
    return tuple(each for each in tested if each.holds is False) or tested


def _list_advice(lines: Sequence[TraceLine]) -> tuple[RuleAdvice, ...]:
    return tuple(RuleAdvice(line.rule.id, line.case.advice) for line in lines if line.case.advice is not None)


def _list_conflicts(lines: Sequence[TraceLine]) -> tuple[RuleConflict, ...]:
    """Return rules of documents that say otherwise than one that does something here, each pair once."""
    pairs = {
        frozenset((line.rule.id, other)): RuleConflict(line.rule.id, other)
        for line in lines
        if line.case.checks is None
        for other in line.rule.against
    }
    return tuple(pairs.values())


def _plan_pilot(
    answer: Answer, keys: Sequence[str], lines: Sequence[TraceLine], first: int | None, second: int | None
) -> PilotMeasurement | None:
    """Return what to measure: a limit that lies in a band, else throughput, on the two that lead."""
    if first is None or second is None:
        return None
    figure = "output_tokens_per_s"
    for line in lines:
        if line.rule.id in _LIMITS and any(
            line.cells[place].effect is RuleEffect.UNDECIDED for place in (first, second)
        ):
            figure = _LIMITS[line.rule.id]
            break
    seconds, requests = 0.0, _PILOT_REQUESTS
    for place in (first, second):
        estimate = answer.columns[place].estimate
        if estimate is None or estimate.output_tokens_per_s is None:
            continue
        requests = max(requests, (estimate.concurrency or 1) * _PILOT_ROUNDS)
        tokens = requests * estimate.request.workload.output_tokens
        seconds = max(seconds, tokens / estimate.output_tokens_per_s.value)
    hours = math.ceil(max(seconds, _PILOT_SECONDS) / _SECONDS_PER_HOUR * 10.0) / 10.0
    return PilotMeasurement((keys[first], keys[second]), figure, requests, hours)


#: Stands for a platform that no option names, and those that one does.
_OTHER, _NAMED = "other", ("CUDA", "ROCm")
#: Rules that hold a figure to a limit -> the figure.
_LIMITS: Final = {"L-01": "ttft_ms", "L-02": "tpot_ms"}
