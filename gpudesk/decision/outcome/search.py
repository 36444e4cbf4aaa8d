"""Searches over many decisions: a shortlist of the whole catalog, and the questions that can still matter."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.decision.facts.accelerator_facts import get_number
from gpudesk.decision.facts.answers import question_matters
from gpudesk.decision.outcome.objective import OWNED
from gpudesk.decision.outcome.ways_out import list_mendable
from gpudesk.domain.answer import MAX_ACCELERATORS, AcceleratorChoice, Answer, Scenario
from gpudesk.domain.claim import is_older
from gpudesk.domain.decision import (
    QUESTIONS,
    UNKNOWN_ANSWER,
    UNSERVED_WORK,
    AnswerOrigin,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionObjective,
    FactValues,
)
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.text.messages import message

if TYPE_CHECKING:
    from gpudesk.decision.outcome.decision import Decider
    from gpudesk.decision.services import PlanningServices

#: Asked before the others: it can charge whole platforms with a port.
_PLATFORM: Final = "current_platform"
_KIND: Final = "work"
#: Accelerators of a shortlist, at least, and the merit from which one is far behind the best: four times the cost.
_LEAST_SHORTLISTED: Final = 3
_FAR_BEHIND: Final = math.log(4.0)
#: Purchase prices of this age cannot be paid today, so that a shortlist does not rest on them.
_OUTDATED_YEARS: Final = 3


#: A candidate that does not meet every limit, after whether another deployment cannot fix that, whether its cost is
#: unknown under a budget, the number of rules that remove it, and what it costs under a budget.
_Distance = tuple[bool, bool, int, float, DecisionCandidate]


def search_shortlist(service: PlanningServices, decider: Decider, scenario: Scenario) -> ProgressSteps[Scenario]:
    """Search the catalog, some accelerators per step; return the scenario with the best as its columns.

    Its own accelerators are disregarded. Discontinued ones are left out unless the user rents, as are those to buy
    that are old or have only an outdated price. If none meets every limit, the closest are returned;
    some from the smallest memory to the largest if figures of text serving do not apply to the work.
    """
    if scenario.decision.answers.get("work") in UNSERVED_WORK:
        shipping = [part for part in service.catalog.accelerators() if not (part.announced or part.discontinued)]
        by_memory = {part.memory_bytes: part for part in sorted(shipping, key=lambda part: part.memory_bytes)}
        sizes, last = tuple(by_memory.values()), MAX_ACCELERATORS - 1
        spread = dict.fromkeys(sizes[round(place * (len(sizes) - 1) / last)].id for place in range(MAX_ACCELERATORS))
        return replace(scenario, accelerators=tuple(map(AcceleratorChoice, spread)))
    rents = scenario.decision.answers.get("acquisition") == "rent"
    parts = [part.id for part in service.catalog.accelerators() if rents or not part.discontinued]
    ranked: list[tuple[DecisionObjective, DecisionCandidate]] = []
    removed: list[_Distance] = []
    has_budget = scenario.decision.purchase_budget_usd is not None
    for start in range(0, len(parts), MAX_ACCELERATORS):
        yield JobProgress(message("shortlist.searching", "Searching the catalog"), start, len(parts))
        choices = tuple(AcceleratorChoice(part) for part in parts[start : start + MAX_ACCELERATORS])
        answer = service.answer(replace(scenario, accelerators=choices))
        decision = decider.decide(answer)
        ranked += [
            (decision.objective, each)
            for each, part in zip(decision.candidates, decision.parts, strict=True)
            if each.eligible and not (each.payment == OWNED.name and _is_outdated(part, answer.data_date))
        ]
        mendable = list_mendable(decision)
        removed += [
            (
                each.accelerator not in mendable,
                # Whether it is within a budget is unknown without a price.
                has_budget and spend == math.inf,
                len(each.removed),
                spend if has_budget else 0.0,
                each,
            )
            for each, part in zip(decision.candidates, decision.parts, strict=True)
            for spend in [get_number(part, "spend_usd") or math.inf]
            if not each.eligible and not (has_budget and _is_outdated(part, answer.data_date))
        ]
    if best := _take_best(ranked):
        choices = tuple(_keep_size(each, sized=scenario.demand is not None) for each in best)
    else:
        choices = _take_nearest(service, removed)
    return replace(scenario, accelerators=choices)


def _is_outdated(part: FactValues, today: str) -> bool:
    """Whether an accelerator or its price is so old that it can hardly be bought."""
    date = part.get("old_price")
    return part.get("old_release") is not None or (isinstance(date, str) and is_older(date, today, _OUTDATED_YEARS))


def _keep_size(candidate: DecisionCandidate, sized: bool) -> AcceleratorChoice:
    """Return the candidate as a column. If `sized` for a demand, its replicas stay: some of them are spares."""
    choice = AcceleratorChoice(candidate.accelerator, count=candidate.count)
    return choice.with_plan(candidate.plan) if sized and candidate.plan is not None else choice


def _take_nearest(service: PlanningServices, removed: Sequence[_Distance]) -> tuple[AcceleratorChoice, ...]:
    """Return those that another deployment could fix and the fewest rules remove.

    Ties go to shipping ones, to those that cost least under a budget, and to large ones.
    """

    def measure_distance(each: _Distance) -> tuple[bool, bool, int, bool, float, int]:
        is_unmendable, is_unpriced, rules, spend, candidate = each
        part = service.catalog.accelerator(candidate.accelerator)
        return is_unmendable, is_unpriced, rules, part.announced, spend, -part.memory_bytes

    nearest = sorted(removed, key=measure_distance)[:MAX_ACCELERATORS]
    return tuple(AcceleratorChoice(each.accelerator) for *_, each in nearest)


def _take_best(ranked: Sequence[tuple[DecisionObjective, DecisionCandidate]]) -> list[DecisionCandidate]:
    """Return the best by the requested objective; by its substitute if none can be scored by it.

    Of those far behind the best, only as many are kept as a comparison needs.
    """
    if not ranked:
        return []
    aim = min({objective for objective, _ in ranked}, key=lambda aim: aim.instead_of is not None)
    scored = [each for objective, each in ranked if objective == aim and each.value is not None]
    best = sorted(scored, key=lambda each: -each.merit)[:MAX_ACCELERATORS]
    near = sum(each.merit >= best[0].merit - _FAR_BEHIND for each in best)
    return best[: max(near, _LEAST_SHORTLISTED)]


#: An unanswered question -> the decision under each of its options.
OptionDecisions = Mapping[AnswerValue, Decision]


def search_questions(decider: Decider, answer: Answer) -> ProgressSteps[Mapping[str, OptionDecisions]]:
    """Try the options of every unanswered question, one option per step.

    Return those with an option that changes the recommendation, in order: the platform first, then by the number of
    options that change it. Empty if no further answer can change it.
    """
    user_answers = dict(answer.scenario.decision.answers)
    present = decider.decide(answer, user_answers)
    open_ = [name for name in QUESTIONS if _is_open(name, present)] if present.scope.answered else []
    ranked: list[tuple[float, str, OptionDecisions]] = []
    for number, name in enumerate(open_):
        decisions: dict[AnswerValue, Decision] = {}
        for value in QUESTIONS[name].offered:
            yield JobProgress(message("decide.asking", "Choosing the next question"), number, len(open_))
            same = value == present.answers[name].value
            decisions[value] = present if same else decider.decide(answer, {**user_answers, name: value})
        leads = [
            _find_lead(each) for value, each in decisions.items() if each is not present and value != UNKNOWN_ANSWER
        ]
        changes = sum(lead != _find_lead(present) for lead in leads)
        if changes:
            ranked.append((1.0 if name == _PLATFORM else changes / len(leads) - 1.0, name, decisions))
    ranked.sort(key=lambda each: -each[0])
    return {name: decisions for _, name, decisions in ranked}


def _is_open(name: str, decision: Decision) -> bool:
    """Whether a question is worth asking; other work than text serving ends the dialogue rather than changes it."""
    answered = decision.answers[name].origin is AnswerOrigin.YOURS or name == _KIND
    return not answered and question_matters(name, decision.answers, decision.facts, decision.parts)


def _find_lead(decision: Decision) -> str | None:
    return None if decision.recommended is None else decision.recommended.key
