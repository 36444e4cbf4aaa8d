"""Decisions: the objective scores candidates, requirements remove them, and rules argue for and against."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import TYPE_CHECKING, Final, NamedTuple

from gpudesk.costing.uncertainty import DRAW_SEED, CostSampler, compute_common_error, compute_odds
from gpudesk.decision.facts.accelerator_facts import get_number, list_timing_facts, must_buy
from gpudesk.decision.facts.answers import convert_answers, resolve_answers
from gpudesk.decision.facts.decision_facts import list_platform_facts
from gpudesk.decision.outcome.objective import (
    OWNED,
    RENTED,
    add_cost_facts,
    choose_objective,
    find_cheaper_payment,
    get_objective_fact,
    list_leading_facts,
    list_open_payments,
    list_payback_facts,
    make_pair_scale,
    score_candidates,
    simulate_facts,
    solve_for_lead,
)
from gpudesk.decision.outcome.ways_out import MOST_WAYS_OUT, find_budget
from gpudesk.decision.rules.conditions import parse_condition
from gpudesk.decision.rules.scoring import (
    assign_roles,
    can_alter_decision,
    compute_argument_shares,
    compute_limit_odds,
    get_line_theme,
    list_removing_rules,
    list_tested_figures,
    list_undecided_rules,
    trace_rules,
)
from gpudesk.domain.accelerator import COMMON_PLATFORMS, EVERYWHERE, OTHER_PLATFORM, SystemCount
from gpudesk.domain.answer import Answer
from gpudesk.domain.cost import CostAnswer, CostColumn
from gpudesk.domain.decision import (
    MEDIA_WORK,
    UNSERVED_WORK,
    AnswerOrigin,
    AnswerValue,
    ConditionResult,
    Decision,
    DecisionCandidate,
    DecisionFactor,
    DecisionObjective,
    DecisionReason,
    DecisionRule,
    DecisionScope,
    DecisionVerdict,
    FactorCell,
    FactorLevel,
    FactValue,
    FactValues,
    ObjectiveName,
    OtherPayment,
    PilotMeasurement,
    QuestionAnswer,
    RecommendedDeployment,
    RuleAdvice,
    RuleConflict,
    RuleEffect,
    RuleExclusion,
    RuleRole,
    TraceLine,
    WayOut,
    WayOutKind,
)
from gpudesk.domain.estimate import EstimateBasis
from gpudesk.domain.progress import ProgressSteps
from gpudesk.domain.sizing import weigh_request_time
from gpudesk.engine.calibration import Calibration
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Term, message

if TYPE_CHECKING:
    from gpudesk.costing.uncertainty import PaymentBasis
    from gpudesk.decision.facts.decision_facts import DecisionFacts, DecisionFactsBuilder, Payments


class _FactorRow(NamedTuple):
    """One factor: the fact to judge by, the fact about its leader, and the rules that state it."""

    id: str
    fact: str
    leads: str | None
    rules: tuple[str, ...]


#: In the document's order. Factors without a leader fact have no measure: they stay unknown.
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
    """Return the rows of the table; a single accelerator is never preferred."""
    most = max((_count_engines(part) for part in parts), default=0.0)
    least = min((_count_engines(part) for part in parts), default=0.0)
    every = [{**part, "most_engines": None if most == least else _count_engines(part) == most} for part in parts]
    return tuple(DecisionFactor(row.id, row.fact, tuple(_rate_cells(row, every)), row.rules) for row in _FACTOR_ROWS)


def _count_engines(part: FactValues) -> float:
    count = part.get("engine_count")
    return count if isinstance(count, float) else 0.0


def _rate_cells(row: _FactorRow, parts: Sequence[FactValues]) -> list[FactorCell]:
    if row.leads is None:
        return [FactorCell(FactorLevel.UNKNOWN, None) for _ in parts]
    leading = [part.get(row.leads) for part in parts]
    values = [part.get(row.fact) for part in parts]
    known = {value.value if isinstance(value, IntervalEstimate) else value for value in values if value is not None}
    if len(known) == 1 or all(leading):
        best, rest = FactorLevel.EQUAL, FactorLevel.EQUAL
    else:
        best, rest = FactorLevel.PREFERRED, FactorLevel.CAPABLE if True in leading else FactorLevel.TIED
    cells = []
    for leads, value, part in zip(leading, values, parts, strict=True):
        if leads is False and value == 0.0:
            level = FactorLevel.LACKS
        elif value is None or part.get("fits") is False:
            level = FactorLevel.UNKNOWN
        else:
            level = best if leads is True else rest
        cells.append(FactorCell(level, value))
    return cells


DECISION_DRAWS: Final = 2_000
#: Minimum odds to name the leading candidate.
NAMED_ODDS: Final = 0.8
#: Value of all arguments for a candidate, as a share of its own: the minimum by which two publishers' measurements of
#: one configuration differ (10 to 25%).
_ARGUMENTS: Final = 0.1
#: Value of a tenfold smaller commitment with the same capacity.
_TENTH_OF_BILL: Final = 0.08
#: An accelerator without a price counts as the most expensive rented one (GB300 NVL72): a missing price is not an
#: advantage.
_UNPRICED_USD_PER_HOUR: Final = 18.0
_REASONS: Final = 4
#: Smaller differences are ties.
_ALIKE: Final = 0.03
#: The fact that the decision is open, which is known last.
_UNSURE: Final = "unsure"
#: Minimum requests of a pilot, minimum rounds of all in flight, its minimum seconds, and their step.
_PILOT_REQUESTS, _PILOT_ROUNDS, _PILOT_SECONDS, _PILOT_STEP = 256, 10, 600.0, 300.0
_SECONDS_PER_HOUR, _MILLION = 3600.0, 1e6


@frozen_dataclass
class EffectiveFacts:
    """All facts of a decision, the columns that no rule removes by likely figures, and the ways to pay for each."""

    facts: FactValues
    parts: tuple[FactValues, ...]
    standing: tuple[int, ...]
    payments: Payments

    def name_payment(self, place: int | None, objective: ObjectiveName = ObjectiveName.COST) -> str | None:
        """Return the cheaper open way to pay for tokens of a column; by time the one that is there first."""
        if place is None:
            return None
        if objective is ObjectiveName.TIME:
            return (OWNED if must_buy(self.parts[place], self.facts.get("acquisition")) else RENTED).name
        payment = find_cheaper_payment(self.parts[place], self.payments[place])
        return None if payment is None else payment.name


@frozen_dataclass
class RankedCandidates:
    """The candidates of a decision: eligible ones from the best to the worst, and all in column order.

    `by_figures` is the position of the leader without arguments. `can_any` says whether one can meet the limits.
    """

    candidates: tuple[DecisionCandidate, ...]
    order: tuple[int, ...]
    by_figures: int | None
    can_any: bool


class Decider:
    """Decides answered scenarios: the objective scores, limits remove, rules argue."""

    def __init__(self, rules: Sequence[DecisionRule], ground: DecisionFactsBuilder, calibration: Calibration) -> None:
        self.rules = tuple(rules)
        self._removing = tuple(rule for rule in rules if any(case.requires for case in rule.cases))
        self._effective = tuple(rule for rule in rules if can_alter_decision(rule))
        self._unsettled = tuple(
            rule for rule in rules if any(_UNSURE in parse_condition(case.when).names for case in rule.cases)
        )
        self._ground = ground
        self._calibration = calibration

    def decide(
        self, answer: Answer, user_answers: Mapping[str, AnswerValue] | None = None, *, brief: bool = False
    ) -> Decision:
        """Return the decision on an answered scenario, with `user_answers` instead of its own answers if given.

        It lacks ways out, which `search_ways_out` finds. A `brief` one has only the recommendation with its candidates,
        and the trace of the rules behind it.
        """
        answers = resolve_answers(answer.scenario, user_answers, answer.model.native_precision)
        ground = self._ground.of(answer, answers)
        situation = self._collect_facts(ground, answers, brief=brief)
        weights = answer.scenario.decision.weights
        values = {name: each.value for name, each in answers.items()}
        rules = self._effective if brief else self.rules
        lines = trace_rules(rules, situation.facts, situation.parts, values, weights)
        objective = choose_objective(answers, [situation.parts[place] for place in situation.standing])
        able = self._meet_limits(ground, situation, lines)
        ranked = self._rank(ground, situation, lines, objective, able)
        if brief:
            return _make_decision(answers, situation, lines, ranked, objective)
        other = self._find_other_payment(answer, answers, situation, objective, ranked)
        lines = assign_roles(lines, objective.name, [each.eligible for each in ranked.candidates])
        decision = replace(
            _add_arguments(ground, situation, _make_decision(answers, situation, lines, ranked, objective)),
            other_payment=other,
            set_counts=self._ground.list_set_counts(answer, answers),
        )
        if values["work"] == MEDIA_WORK:
            decision = replace(decision, media_fits=self._ground.list_media_fits(answer))
        return self._add_open_rules(decision, values, weights)

    def search_ways_out(self, answer: Answer, decision: Decision) -> ProgressSteps[tuple[WayOut, ...]]:
        """Search for the smallest changes after which something meets every limit; none if something does."""
        if not decision.lacks_ways_out:
            return ()
        ground = self._ground.of(answer, decision.answers)
        ways = self._list_ways_to_pay(answer, ground, decision)
        if decision.verdict is DecisionVerdict.NONE_FITS:
            ways += yield from self._ground.search_ways_out(ground, decision, self.fork(answer).decide)
        return ways[:MOST_WAYS_OUT]

    def _list_ways_to_pay(self, answer: Answer, ground: DecisionFacts, decision: Decision) -> tuple[WayOut, ...]:
        """Return the smallest budget that buys what meets all other limits, and what to rent instead of buying."""
        larger = find_budget(decision, ground.views)
        ways = () if larger is None else (larger,)
        if decision.answers["acquisition"].value != "own":
            return ways
        rented = self.decide(answer, {**_list_user_answers(decision.answers), "acquisition": "rent"})
        if rented.recommended is None:
            return ways
        view = self._ground.of(answer, rented.answers).views[rented.columns.index(rented.recommended.key)]
        assert view.estimate is not None
        return *ways, WayOut(WayOutKind.RENT, view.column.accelerator.name, view.estimate)

    def fork(self, answer: Answer | None = None) -> Decider:
        """Return a decider for a job on another thread, with the data on this answer."""
        return Decider(self.rules, self._ground.fork(answer), self._calibration)

    def get_decision_costs(self, answer: Answer, user_answers: Mapping[str, AnswerValue] | None = None) -> CostAnswer:
        """Return the costs behind a decision, for the deployments that it judges."""
        answers = resolve_answers(answer.scenario, user_answers, answer.model.native_precision)
        return self._ground.of(answer, answers).costs

    def _collect_facts(
        self, ground: DecisionFacts, answers: Mapping[str, QuestionAnswer], *, brief: bool
    ) -> EffectiveFacts:
        """Return the facts: first those that remove columns; unless `brief`, then leaders among the rest."""
        answer = ground.answer
        every = tuple(range(len(ground.parts)))
        answer_facts = convert_answers(answers)
        facts: dict[str, FactValue] = {**ground.facts(every), **answer_facts}
        payments = tuple(list_open_payments(part, answer_facts) for part in ground.parts)
        parts = [add_cost_facts(part, open_) for part, open_ in zip(ground.parts, payments, strict=True)]
        wide, by_platform, current = ground.widest, ground.engines_by_platform, _get_platform(answer, answer_facts)
        launch, acquisition = answer_facts.get("months_to_launch"), answer_facts.get("acquisition")
        parts = _merge_facts(parts, [list_platform_facts(current, part, wide, by_platform) for part in parts])
        timing = [list_timing_facts(part, answer.data_date, launch, acquisition) for part in parts]
        parts = _merge_facts(parts, timing)
        parts = _merge_facts(parts, ground.list_engine_facts(answer_facts.get("serving_engine")))
        facts |= _list_derived_facts(parts, every, ground, answer_facts)
        hard = trace_rules(self._removing, facts, parts, {}, {})
        standing = tuple(place for place in every if not list_removing_rules(hard, place))
        if standing and standing != every:
            # From here on only the remaining accelerators are compared: a removed one sets no scale.
            facts |= ground.facts(standing) | _list_derived_facts(parts, standing, ground, answer_facts) | answer_facts
        if brief:
            return EffectiveFacts(facts, tuple(parts), standing, payments)
        hours = list_payback_facts(ground.situations, parts, standing, answer_facts.get("monthly_hours"))
        parts = _merge_facts(parts, hours)
        # If no accelerator remains, all are compared.
        compared = standing or every, payments
        if compared not in ground.leading:
            ground.leading[compared] = list_leading_facts(answer, ground.keys, parts, compared[0])
        parts = _merge_facts(parts, ground.leading[compared])
        return EffectiveFacts(facts, tuple(parts), standing, payments)

    def _find_other_payment(
        self,
        answer: Answer,
        answers: Mapping[str, QuestionAnswer],
        situation: EffectiveFacts,
        objective: DecisionObjective,
        ranked: RankedCandidates,
    ) -> OtherPayment | None:
        """Return the leader by the other way to pay than the leading column's, if the verdict differs."""
        open_ways = any(len(each) > 1 for each in situation.payments)
        if objective.name is not ObjectiveName.COST or not ranked.order or not open_ways:
            return None
        first = ranked.candidates[ranked.order[0]]
        payment, acquisition = (OWNED, "own") if first.payment == RENTED.name else (RENTED, "rent")
        others = self.decide(answer, {**_list_user_answers(answers), "acquisition": acquisition}, brief=True)
        if others.recommended is None:
            return None
        candidates = {each.key: each for each in others.candidates}
        leader = candidates[others.recommended.key]
        if leader.key == first.key and (leader.odds >= NAMED_ODDS) is (first.odds >= NAMED_ODDS):
            return None
        return OtherPayment(payment.name, leader, None if others.runner_up is None else candidates[others.runner_up])

    def _rank(
        self,
        ground: DecisionFacts,
        situation: EffectiveFacts,
        lines: Sequence[TraceLine],
        objective: DecisionObjective,
        able: Sequence[float],
    ) -> RankedCandidates:
        """Return the candidates with their odds, in an order independent of irrelevant candidates.

        `able` are the odds that each meets the limits, 0 for a removed one.
        """
        parts = situation.parts
        scores = score_candidates(objective, ground, parts, situation.payments, self._calibration)
        eligible = [score.value is not None and share > 0.0 for score, share in zip(scores, able, strict=True)]
        # The risk of missing a limit is a penalty.
        ranks = [
            score.utility + score.scale * math.log(max(share, 1e-6)) for score, share in zip(scores, able, strict=True)
        ]
        find_scale = make_pair_scale(objective, ground, scores, self._calibration)
        odds = compute_odds(ranks, eligible, find_scale, [score.gain for score in scores])
        arguments = compute_argument_shares(lines, objective.name, len(parts))
        # Who reads along gets a faster answer for the larger bill.
        bill = 0.0 if situation.facts.get("service") == "interactive" else _TENTH_OF_BILL
        by_cost, acquisition = objective.name is ObjectiveName.COST, str(situation.facts.get("acquisition"))
        by_payment = by_cost or objective.name is ObjectiveName.TIME
        payments = [
            situation.name_payment(place, objective.name) if by_payment else None for place in range(len(parts))
        ]
        every_lots = [
            _find_lots(view.costs, payment or _PAYMENTS.get(acquisition))
            for view, payment in zip(ground.views, payments, strict=True)
        ]
        merits = [
            rank
            + _ARGUMENTS * share
            - bill * measure_commitment(part, open_, view.costs)
            - measure_size(objective.name, lots)
            for rank, share, part, open_, view, lots in zip(
                ranks, arguments, parts, situation.payments, ground.views, every_lots, strict=True
            )
        ]
        running = [place for place, can in enumerate(eligible) if can]
        order = tuple(sorted(running, key=lambda place: (-merits[place], place)))
        best = None if not order else scores[order[0]].value
        paid = None if not order else find_cheaper_payment(parts[order[0]], situation.payments[order[0]])
        lacks = [score.find_missing(paid) for score in scores]
        budget = get_number(situation.facts, "budget_usd") or math.inf
        candidates = tuple(
            DecisionCandidate(
                key=view.key,
                accelerator=view.column.accelerator.id,
                count=None if view.estimate is None else view.estimate.count,
                plan=None if view.estimate is None else view.estimate.plan,
                eligible=eligible[place],
                value=scores[place].value,
                odds=odds[place],
                score=arguments[place],
                merit=merits[place],
                removed=list_removing_rules(lines, place),
                open_rules=list_undecided_rules(lines, place),
                missing=lacks[place][1],
                needed=None
                if best is None
                else solve_for_lead(ground.situations[place], *lacks[place], best.value, budget),
                payment=payment,
                systems=view.costs.systems,
                problem=view.column.problem,
                lots=lots,
                unlike_rent=unlike_rent,
                like_for_like=None if unlike_rent is None else view.costs.like_for_like_usd,
                doubts=list_doubts(parts[place], situation.name_payment(place, objective.name), objective),
            )
            for place, (view, payment, lots) in enumerate(zip(ground.views, payments, every_lots, strict=True))
            for rent in [view.costs.inputs["rent_usd_per_hour"]]
            for unlike_rent in [rent if by_cost and payment == RENTED.name and rent.class_ratio is not None else None]
        )
        by_figures = max(running, key=lambda place: ranks[place], default=None)
        return RankedCandidates(candidates, order, by_figures, any(able))

    def _meet_limits(
        self, ground: DecisionFacts, situation: EffectiveFacts, lines: Sequence[TraceLine]
    ) -> tuple[float, ...]:
        """Return the odds that each column meets the limits; no draws if no interval contains a limit."""
        undecided = [place for place in situation.standing if list_undecided_rules(lines, place)]
        if undecided:
            drawing = CostSampler(DECISION_DRAWS, DRAW_SEED, compute_common_error(ground.answer))
            simulated = simulate_facts(ground.situations, situation.parts, undecided, drawing)
            odds = compute_limit_odds(lines, situation.facts, situation.parts, simulated)
        else:
            odds = tuple(float(not list_removing_rules(lines, place)) for place in range(len(situation.parts)))
        return tuple(share if place in situation.standing else 0.0 for place, share in enumerate(odds))

    def _add_open_rules(
        self, decision: Decision, answers: Mapping[str, AnswerValue], weights: Mapping[str, float]
    ) -> Decision:
        """Return the decision; an open one with the advice of the rules for open decisions."""
        if decision.verdict is not DecisionVerdict.OPEN or not decision.scope.answered:
            silent = _list_silent_rules(self.rules, decision.trace)
            return replace(decision, silent=silent)
        facts = {**decision.facts, _UNSURE: True}
        lines = (*decision.trace, *trace_rules(self._unsettled, facts, decision.parts, answers, weights))
        return replace(
            decision,
            facts=facts,
            trace=lines,
            advice=_list_advice(lines, decision.answers, decision.scope),
            silent=_list_silent_rules(self.rules, lines),
        )


def measure_commitment(part: FactValues, payments: Sequence[PaymentBasis], costs: CostColumn) -> float:
    """Return log10 of a deployment's commitment in USD per hour, by the cheapest open way to pay.

    Rents are those of the cheapest provider, in its whole instances.
    """
    deployed, rate = costs.count or 1, get_number(part, "tokens_per_s")
    bills = [rent.compute_hourly_bill(deployed) for rent in costs.provider_rents if RENTED in payments]
    owned = get_number(part, "owned_usd_per_million") if OWNED in payments else None
    if owned is not None and rate is not None:
        bills.append(owned * rate * _SECONDS_PER_HOUR / _MILLION)
    return math.log10(min(bills, default=deployed * _UNPRICED_USD_PER_HOUR))


def measure_size(objective: ObjectiveName, lots: SystemCount | None) -> float:
    """Return the natural logarithm of the factor by which paid accelerators make a figure worse; 0 for other goals.

    For latency it is that by which larger deployments are chosen; for throughput it is per paid accelerator.
    """
    if lots is None or lots.is_shared:
        return 0.0
    if objective is ObjectiveName.LATENCY:
        return math.log(weigh_request_time(1.0, lots.accelerators))
    return math.log(lots.accelerators / lots.used) if objective is ObjectiveName.THROUGHPUT else 0.0


def _list_user_answers(answers: Mapping[str, QuestionAnswer]) -> dict[str, AnswerValue]:
    return {name: each.value for name, each in answers.items() if each.origin is AnswerOrigin.YOURS}


def _merge_facts(parts: Sequence[FactValues], more: Sequence[FactValues]) -> list[dict[str, FactValue]]:
    return [{**part, **added} for part, added in zip(parts, more, strict=True)]


def _list_silent_rules(rules: Sequence[DecisionRule], lines: Sequence[TraceLine]) -> tuple[str, ...]:
    fired = {line.rule.id for line in lines}
    return tuple(rule.id for rule in rules if rule.id not in fired)


def _get_platform(answer: Answer, facts: FactValues) -> FactValue:
    """Return the platform of the user's software; if no option names it, that of the costs."""
    current, costed = facts.get("current_platform"), answer.scenario.costs.runs_on
    unnamed = current == OTHER_PLATFORM and costed is not None and costed not in COMMON_PLATFORMS
    return costed if unnamed else current


def _list_derived_facts(
    parts: Sequence[FactValues], places: Sequence[int], ground: DecisionFacts, facts: FactValues
) -> dict[str, FactValue]:
    ports = [parts[place].get("needs_port") for place in places]
    announced = any(part.get("announced") is True for part in parts)
    return {
        "some_need_port": True if True in ports else None if None in ports else False,
        "some_announced": announced and ground.ranked_apart,
        "engine_everywhere": ground.everywhere(facts.get("serving_engine"), places),
    }


def _make_decision(
    answers: Mapping[str, QuestionAnswer],
    situation: EffectiveFacts,
    lines: tuple[TraceLine, ...],
    ranked: RankedCandidates,
    objective: DecisionObjective,
) -> Decision:
    """Return the decision without its arguments."""
    candidates, order = ranked.candidates, ranked.order
    scope = _find_scope(answers)
    first = order[0] if order and scope.answered else None
    second = None if first is None else max(order[1:], key=lambda place: candidates[place].odds, default=None)
    odds = 0.0 if first is None else candidates[first].odds
    if not order and not ranked.can_any:
        verdict = DecisionVerdict.NONE_FITS
    else:
        verdict = DecisionVerdict.WINNER if odds >= NAMED_ODDS else DecisionVerdict.OPEN
    keys = tuple(each.key for each in candidates)
    tied = None if first is None or ranked.by_figures in (None, first) else ranked.by_figures
    return Decision(
        columns=keys,
        answers=answers,
        facts=situation.facts,
        parts=situation.parts,
        trace=lines,
        objective=objective,
        scope=scope,
        candidates=candidates,
        verdict=verdict,
        recommended=None if first is None else _make_recommended(candidates[first]),
        runner_up=None if second is None else keys[second],
        tied_by=None if tied is None else keys[tied],
        robustness=odds,
    )


def _add_arguments(ground: DecisionFacts, situation: EffectiveFacts, decision: Decision) -> Decision:
    keys, lines, objective = decision.columns, decision.trace, decision.objective
    first = None if decision.recommended is None else keys.index(decision.recommended.key)
    second = None if decision.runner_up is None else keys.index(decision.runner_up)
    spoken = [] if first is None else list_reasons(situation, keys, lines, objective, first, second)
    is_open, by_cost = decision.verdict is DecisionVerdict.OPEN, objective.name is ObjectiveName.COST
    return replace(
        decision,
        reasons=tuple(reason for reason, gains in spoken if gains)[:_REASONS],
        against=tuple(reason for reason, gains in spoken if not gains)[:_REASONS],
        exclusions=_list_exclusions(keys, lines),
        advice=_list_advice(lines, decision.answers, decision.scope),
        conflicts=_list_conflicts(lines),
        pilot=_plan_pilot(ground.answer, keys, lines, objective, first, second) if is_open else None,
        factors=rate_factors(situation.parts),
        api_usd=api.value if by_cost and (api := ground.costs.api) is not None else None,
        utilization=ground.costs.utilisation if by_cost else None,
    )


#: The answer on buying or renting -> the way to pay.
_PAYMENTS: Final = {"own": OWNED.name, "rent": RENTED.name}


def _find_lots(costs: CostColumn, payment: str | None) -> SystemCount | None:
    """Return the whole systems or instances of a deployment; None if it is rented without a known cost."""
    return {OWNED.name: costs.bought or costs.sold, RENTED.name: costs.rented_instances}.get(payment or "")


def _find_scope(answers: Mapping[str, QuestionAnswer]) -> DecisionScope:
    work = str(answers["work"].value)
    if work not in UNSERVED_WORK:
        return DecisionScope(answered=True)
    return DecisionScope(
        answered=False,
        why=message(
            "decide.out_of_scope",
            "These figures are for text serving. They do not show which accelerator is best for {work}.",
            work=_WORK_TERMS[work],
        ),
    )


_WORK_TERMS: Final = {
    "media": Term("work.media", "images or video"),
    "embeddings": Term("work.embeddings", "embeddings"),
    "fine_tuning": Term("work.fine_tuning", "fine-tuning"),
    "training": Term("work.training", "training"),
}


def _make_recommended(candidate: DecisionCandidate) -> RecommendedDeployment | None:
    if candidate.count is None or candidate.plan is None:
        return None
    return RecommendedDeployment(candidate.key, candidate.accelerator, candidate.count, candidate.plan)


#: Figures shown next to the objective, with whether less is better.
_COST: Final = "usd_per_million"
_BESIDE: Final = (("tokens_per_s_each", False), ("interactivity", False))


def list_reasons(
    situation: EffectiveFacts,
    keys: Sequence[str],
    lines: Sequence[TraceLine],
    objective: DecisionObjective,
    first: int,
    other: int | None,
) -> list[tuple[DecisionReason, bool]]:
    """Return the comparison of the first column with the next one, and which of the two each point favors.

    The objective comes first, then other figures, then arguments of rules by weight.
    """
    reasons: list[tuple[DecisionReason, bool]] = []
    parts = situation.parts
    aim = get_objective_fact(objective.name)
    # If costs do not decide, they are compared by one way to pay: owned and rented differ by more than accelerators do.
    costs = [] if aim == _COST else [(f"{each.name}_usd_per_million", True) for each in situation.payments[first]]
    known = [each for each in costs if other is not None and None not in (parts[first][each[0]], parts[other][each[0]])]
    figures = ((aim, objective.lower_is_better), *known[:1], *(each for each in _BESIDE if each[0] != aim))
    for fact, lower in figures:
        ours, theirs = get_number(parts[first], fact), None if other is None else get_number(parts[other], fact)
        if ours is None or (theirs is None and fact != aim):
            continue
        gains = theirs is None or (ours <= theirs if lower else ours >= theirs)
        decides = fact == aim and gains and ours != theirs
        if theirs is not None and abs(ours - theirs) <= _ALIKE * abs(theirs) and not decides:
            continue
        values = parts[first].get(fact), None if other is None else parts[other].get(fact)
        paid = (situation.name_payment(first), situation.name_payment(other)) if fact == _COST else (None, None)
        reasons.append((DecisionReason(fact, *values, None if other is None else keys[other], payments=paid), gains))
    doubts = list_doubts(parts[first], situation.name_payment(first, objective.name), objective)
    reasons += [(DecisionReason(fact, parts[first].get(fact), None, None), False) for fact in doubts]
    if other is not None:
        reasons += _list_arguments(parts, keys, lines, first, other)
    return reasons


def list_doubts(part: FactValues, payment: str | None, objective: DecisionObjective) -> tuple[str, ...]:
    """Return the facts that make the purchase or the figures of a column doubtful."""
    age = {OWNED.name: "old_price", RENTED.name: "old_rent"}.get(payment or "", "")
    doubts = {
        "basis": part.get("basis") != EstimateBasis.CALIBRATED.value,
        "announced": part.get("announced") is True,
        "sales_region": part.get("sales_region") not in (None, EVERYWHERE),
        "discontinued": payment == OWNED.name and part.get("discontinued") is True,
        "old_release": payment == OWNED.name and not part.get("discontinued") and part.get("old_release") is not None,
        "used_price": payment == OWNED.name and part.get("used_price") is True,
        age: objective.name is ObjectiveName.COST and part.get(age) is not None,
    }
    return tuple(compress(doubts, doubts.values()))


def _list_arguments(
    parts: Sequence[FactValues], keys: Sequence[str], lines: Sequence[TraceLine], first: int, other: int
) -> Iterator[tuple[DecisionReason, bool]]:
    """Yield the heaviest rule of each theme that favors exactly one of the two."""
    themes: set[tuple[str, bool]] = set()
    for line in sorted(lines, key=lambda line: -line.weight):
        ours = line.cells[first].effect is RuleEffect.FAVORS
        if line.role is not RuleRole.ARGUED or ours is (line.cells[other].effect is RuleEffect.FAVORS):
            continue
        theme = get_line_theme(line), ours
        if theme in themes:
            continue
        themes.add(theme)
        fact = next(iter(list_tested_figures(line.case)), None)
        values = (None, None) if fact is None else (parts[first].get(fact), parts[other].get(fact))
        yield DecisionReason(fact, *values, keys[other], line), ours


def _list_exclusions(keys: Sequence[str], lines: Sequence[TraceLine]) -> tuple[RuleExclusion, ...]:
    return tuple(
        RuleExclusion(key, line.rule, _list_failed_tests(line.cells[place].tested))
        for place, key in enumerate(keys)
        for line in lines
        if line.cells[place].effect is RuleEffect.REMOVES
    )


def _list_failed_tests(tested: tuple[ConditionResult, ...]) -> tuple[ConditionResult, ...]:
    """Return the failed comparisons; for a negated condition, all of them."""
    return tuple(each for each in tested if each.holds is False) or tested


def _list_advice(
    lines: Sequence[TraceLine], answers: Mapping[str, QuestionAnswer], scope: DecisionScope
) -> tuple[RuleAdvice, ...]:
    """Return the advice to act on; if the work is out of scope, only that of rules that read answers."""
    return tuple(
        RuleAdvice(line.rule.id, line.case.advice)
        for line in lines
        if line.case.advice is not None
        and not line.rule.is_followed
        and (scope.answered or any(answers[name].origin is not AnswerOrigin.DEFAULT for name in line.answers))
    )


def _list_conflicts(lines: Sequence[TraceLine]) -> tuple[RuleConflict, ...]:
    """Return rules of documents that contradict an effective one, each pair once."""
    pairs = {
        frozenset((line.rule.id, other)): RuleConflict(line.rule.id, other)
        for line in lines
        if line.case.checks is None
        for other in line.rule.against
    }
    return tuple(pairs.values())


def _plan_pilot(
    answer: Answer,
    keys: Sequence[str],
    lines: Sequence[TraceLine],
    objective: DecisionObjective,
    first: int | None,
    second: int | None,
) -> PilotMeasurement | None:
    """Return what to measure: a figure whose interval contains a limit, else throughput, on the two leaders.

    None if no measurement can settle the goal: time to production, or the requests that fit in memory.
    """
    if first is None or second is None:
        return None
    figure = None if objective.name in (ObjectiveName.TIME, ObjectiveName.CAPACITY) else "output_tokens_per_s"
    for line in lines:
        if line.rule.id in _LIMITS and any(
            line.cells[place].effect is RuleEffect.UNDECIDED for place in (first, second)
        ):
            figure = _LIMITS[line.rule.id]
            break
    if figure is None:
        return None
    seconds, requests = 0.0, _PILOT_REQUESTS
    for place in (first, second):
        estimate = answer.columns[place].estimate
        if estimate is None or estimate.output_tokens_per_s is None:
            continue
        in_flight = min(estimate.concurrency or 1, estimate.max_concurrency)
        requests = max(requests, in_flight * _PILOT_ROUNDS)
        tokens = requests * estimate.request.workload.output_tokens
        seconds = max(seconds, tokens / estimate.output_tokens_per_s.value)
    hours = math.ceil(max(seconds, _PILOT_SECONDS) / _PILOT_STEP) * _PILOT_STEP / _SECONDS_PER_HOUR
    return PilotMeasurement((keys[first], keys[second]), figure, requests, hours)


#: Rules that limit a figure -> the figure.
_LIMITS: Final = {"L-01": "ttft_ms", "L-02": "tpot_ms"}
