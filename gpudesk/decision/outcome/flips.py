"""Changes that would alter a decision: for each input the nearest value that does, solved for and verified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from gpudesk.decision.facts.accelerator_facts import get_likely_input, get_number
from gpudesk.decision.facts.answers import question_matters
from gpudesk.decision.outcome.decision import Decider
from gpudesk.domain.answer import Answer
from gpudesk.domain.cost import COST_INPUTS, UncertainValue
from gpudesk.domain.decision import (
    COUNTED_IN_USE,
    COUNTED_WHOLE,
    QUESTIONS,
    SYSTEMS_COUNTED,
    UNSERVED_WORK,
    AnswerValue,
    Decision,
    DecisionFlip,
    DecisionQuestion,
    DecisionVerdict,
    FactValue,
)
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import message

#: Factors by which a number is varied, before the change is located between the last two, until they are this close.
_STEPS: Final = (1.05, 1.15, 1.35, 1.7, 2.5, 5.0, 10.0, 30.0)
_MOST_TRIALS, _CLOSE = 12, 0.02
#: Significant digits of a tipping point, rounded away from the current value so that it still alters the decision.
_DIGITS: Final = (3, 4, 5, 6)
#: Limits that can be unset -> the limited fact, and how many values to try.
_LIMIT_FACTS: Final = {"ttft_limit_ms": "ttft_ms", "tpot_limit_ms": "tpot_ms", "budget_usd": "spend_usd"}
_GRID, _BEYOND = 5, 1.2
#: Factor by which a limit is loosened that is still too tight.
_LOOSER: Final = 1.5
#: Prices of the leading accelerator, which could rise, and of the others, which could fall.
_PRICES: Final = ("price_usd", "rent_usd_per_hour")
#: The answer on buying or renting -> the prices that it leaves to pay; of both without such an answer.
_PRICES_PAID: Final = {"own": _PRICES[:1], "rent": _PRICES[1:]}
#: Distance of a change of another kind: like doubling a number.
_OF_KIND: Final = math.log(2.0)


@frozen_dataclass
class _FlipInput:
    """One input: its current value, the values to try in each direction, and how to decide with one.

    `is_monotone`: if the last value of a direction does not change the leader, none of that direction does. `loosest`
    is where an unset limit may begin to matter: the largest limited figure of the deployments.
    """

    name: str
    now: AnswerValue | None
    tries: tuple[tuple[AnswerValue, ...], ...]
    decide: Callable[[AnswerValue], Decision]
    is_monotone: bool = False
    loosest: float | None = None


def search_flips(decider: Decider, answer: Answer) -> ProgressSteps[tuple[DecisionFlip, ...]]:
    """Search for flips, one trial per step, and return them, the nearest change first.

    A flip makes another accelerator lead, or none: those come last. Before them come prices after which the new leader
    is still too close to call: between near equals any price does that. Each was decided with the value that it shows.
    """
    answers = dict(answer.scenario.decision.answers)
    present = decider.decide(answer, answers, brief=True)
    inputs = list(_list_inputs(decider, answer, answers, present))
    ranked: list[tuple[float, DecisionFlip]] = []
    for number, each in enumerate(inputs):
        progress = JobProgress(message("decide.flipping", "Checking what would change the result"), number, len(inputs))
        flips = []
        for tries in each.tries:
            flip = yield from _search_flip(each, tries, present, progress)
            if flip is not None:
                flips.append(flip)
        if flips:
            ranked.append(min(((_compute_distance(each, flip), flip) for flip in flips), key=lambda pair: pair[0]))
    ranked.sort(key=lambda pair: (not pair[1].becomes, _is_price_of_tie(pair[1]), pair[0]))
    return tuple(flip for _, flip in ranked)


def _is_price_of_tie(flip: DecisionFlip) -> bool:
    return flip.input.endswith(_PRICES) and flip.verdict is DecisionVerdict.OPEN


def _get_lead(decision: Decision) -> str | None:
    return None if decision.recommended is None else decision.recommended.key


def _compute_distance(each: _FlipInput, flip: DecisionFlip) -> float:
    now, after = each.now, flip.after
    if each.name == SYSTEMS_COUNTED:
        # A convention of the comparison, which readers must know before any change of fact.
        return 0.0
    if isinstance(now, float) and isinstance(after, float) and now > 0.0 and after > 0.0:
        return abs(math.log(after / now))
    return _OF_KIND


def _list_inputs(
    decider: Decider, answer: Answer, user_answers: dict[str, AnswerValue], present: Decision
) -> Iterator[_FlipInput]:
    """Yield every input to try: answers that matter, how partly used systems count, prices of those not removed."""
    for name, answered in present.answers.items():
        if not question_matters(name, present.answers, present.facts, present.parts):
            continue
        grid = _list_reachable_limits(name, present)
        flip_input = _make_question_input(decider, answer, user_answers, QUESTIONS[name], answered.value, grid[1:])
        yield replace(flip_input, loosest=grid[0]) if grid else flip_input
    if any(each.eligible and each.lots is not None and each.lots.idle for each in present.candidates):
        yield _make_systems_input(decider, answer, user_answers)
    lead = None if present.recommended is None else present.recommended.accelerator
    removed = {each.key for each in present.candidates if each.removed}
    ground = decider.get_decision_costs(answer, user_answers)
    tried: set[str] = set()
    for column in ground.columns:
        if column.key in removed or column.accelerator in tried:
            continue
        tried.add(column.accelerator)
        for price in _PRICES_PAID.get(str(present.answers["acquisition"].value), _PRICES):
            now = get_likely_input(column, price)
            if now is not None and now > 0.0:
                yield _make_price_input(
                    decider, answer, user_answers, (column.accelerator, price), now, rises=column.accelerator == lead
                )


def _list_reachable_limits(name: str, present: Decision) -> tuple[float, ...]:
    """Return values for an unset limit, from the largest to below the smallest limited figure."""
    if name not in _LIMIT_FACTS or present.recommended is None:
        return ()
    # Which limit rules out a leader without the figure is unknown.
    if present.parts[present.columns.index(present.recommended.key)].get(_LIMIT_FACTS[name]) is None:
        return ()
    limits = [fact for part in present.parts if (fact := part.get(_LIMIT_FACTS[name])) is not None]
    ends = [end for fact in limits for end in _list_fact_ends(fact)]
    if not ends or min(ends) <= 0.0:
        return ()
    high, low = max(ends), min(ends) / _BEYOND
    if name == "tpot_limit_ms":
        # The assumed limit is the loosest.
        high = min(high, get_number(present.facts, "reading_tpot_ms") or math.inf)
    step = (low / high) ** (1.0 / _GRID)
    return tuple(high * step**number for number in range(_GRID + 1))


def _list_fact_ends(fact: FactValue) -> tuple[float, ...]:
    if isinstance(fact, IntervalEstimate):
        return (fact.low, fact.high)
    return (float(fact),) if isinstance(fact, (int, float)) else ()


def _make_question_input(
    decider: Decider,
    answer: Answer,
    user_answers: dict[str, AnswerValue],
    question: DecisionQuestion,
    now: AnswerValue,
    grid: tuple[float, ...],
) -> _FlipInput:
    def decide(value: AnswerValue) -> Decision:
        return decider.decide(answer, {**user_answers, question.id: value}, brief=True)

    tries: tuple[tuple[AnswerValue, ...], ...]
    if isinstance(now, float) and now > 0.0 and question.bounds is not None:
        tries = _step_outward(now, question.bounds.low, question.bounds.high)
    elif question.id in _LIMIT_FACTS:
        tries = (grid,)
    elif question.takes_number:
        tries = (question.presets,)
    else:
        # Work out of scope ends the dialogue.
        tries = tuple((option,) for option in question.options if option not in (now, *UNSERVED_WORK))
    return _FlipInput(question.id, now, tries, decide)


def _make_price_input(
    decider: Decider,
    answer: Answer,
    user_answers: dict[str, AnswerValue],
    place: tuple[str, str],
    now: float,
    *,
    rises: bool,
) -> _FlipInput:
    part, name = place
    scenario = answer.scenario

    def decide(value: AnswerValue) -> Decision:
        costs = scenario.costs.with_input(name, UncertainValue.exactly(float(value)), part)
        changed = replace(answer, scenario=replace(scenario, costs=costs))
        return decider.decide(changed, user_answers, brief=True)

    bounds = COST_INPUTS[name].bounds
    below, beyond = _step_outward(now, bounds.low, bounds.high)
    return _FlipInput(f"{part}.{name}", now, (beyond if rises else below,), decide, is_monotone=True)


def _make_systems_input(decider: Decider, answer: Answer, user_answers: dict[str, AnswerValue]) -> _FlipInput:
    def decide(value: AnswerValue) -> Decision:
        costs = replace(answer.scenario.costs, single_accelerators=value == COUNTED_IN_USE)
        return decider.decide(replace(answer, scenario=replace(answer.scenario, costs=costs)), user_answers, brief=True)

    now, other = COUNTED_WHOLE, COUNTED_IN_USE
    if answer.scenario.costs.single_accelerators:
        now, other = other, now
    return _FlipInput(SYSTEMS_COUNTED, now, ((other,),), decide)


def _step_outward(now: float, low: float, high: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    return (
        tuple(now / step for step in _STEPS if now / step > low),
        tuple(now * step for step in _STEPS if now * step <= high),
    )


def _search_flip(
    each: _FlipInput, tries: tuple[AnswerValue, ...], present: Decision, progress: JobProgress
) -> ProgressSteps[DecisionFlip | None]:
    lead = _get_lead(present)
    if each.name in _LIMIT_FACTS and _is_looser(tries, each.now):
        # If the loosest limit changes nothing, none in between does.
        yield progress
        if _get_lead(each.decide(tries[-1])) == lead:
            return None
    same, before = each.now if each.loosest is None else each.loosest, present
    for value in tries[-1:] if each.is_monotone else tries:
        yield progress
        after = each.decide(value)
        if _get_lead(after) == lead:
            same, before = value, after
            continue
        if isinstance(same, float) and isinstance(value, float):
            changed = value, after
            if same == each.loosest:
                same, changed = yield from _loosen(each, same, changed, lead, progress)
            nearer = yield from _locate_flip(each, (same, before), changed, lead, progress)
            for digits in _DIGITS:
                flip = _try_value(each, round_away(nearer, digits, up=nearer > same), lead)
                if flip is not None:
                    return flip
            return None
        return _make_flip(each, value, after, lead)
    return None


def _loosen(
    each: _FlipInput, loosest: float, after: tuple[float, Decision], lead: str | None, progress: JobProgress
) -> ProgressSteps[tuple[float, tuple[float, Decision]]]:
    """Return a limit that changes nothing, and the loosest known one with its decision that does.

    Without a limit, other counts and plans may be best than the compared deployments, so that a limit which these meet
    can still change the result.
    """
    same = loosest
    for _ in _STEPS:
        yield progress
        decision = each.decide(same)
        if _get_lead(decision) == lead:
            break
        after, same = (same, decision), same * _LOOSER
    return same, after


def _is_looser(tries: tuple[AnswerValue, ...], now: AnswerValue | None) -> bool:
    return bool(tries) and isinstance(now, float) and isinstance(tries[-1], float) and tries[-1] > now


def _locate_flip(
    each: _FlipInput,
    before: tuple[float, Decision],
    after: tuple[float, Decision],
    lead: str | None,
    progress: JobProgress,
) -> ProgressSteps[float]:
    """Return a value close to where the lead changes, on the far side, between one `before` and one `after` that."""
    is_slow = False
    for _ in range(_MOST_TRIALS):
        same, changed = before[0], after[0]
        if abs(changed - same) <= _CLOSE * abs(changed):
            break
        yield progress
        # Interpolation that has left more than half of the range is followed by halving.
        value = None if is_slow else _find_tie(before, after, lead)
        if value is None:
            value = math.sqrt(same * changed) if same > 0.0 and changed > 0.0 else (same + changed) / 2.0
        decision = each.decide(value)
        if _get_lead(decision) == lead:
            before = value, decision
        else:
            after = value, decision
        is_slow = not is_slow and abs(after[0] - before[0]) > abs(changed - same) / 2.0
    return after[0]


def _find_tie(before: tuple[float, Decision], after: tuple[float, Decision], lead: str | None) -> float | None:
    """Return where the former and the new leader should be equal, moved towards the farther end; None if unknown.

    Their merits are logarithms of costs, which are linear in a price: in that of the former, which rises, or of the new
    one, which falls.
    """
    rival = _get_lead(after[1])
    (same, ahead), (changed, behind) = ((value, _compute_advance(each, lead, rival)) for value, each in (before, after))
    if ahead is None or behind is None or not ahead > 0.0 > behind:
        return None
    sign = -1.0 if changed > same else 1.0
    here, there = math.exp(sign * ahead), math.exp(sign * behind)
    share = (1.0 - here) / (there - here)
    # Both ends move.
    margin = min(0.4 * _CLOSE * abs(changed / (changed - same)), 0.4)
    return same + (changed - same) * (share + margin if share < 0.5 else share - margin)


def _compute_advance(decision: Decision, lead: str | None, rival: str | None) -> float | None:
    """Return by how much merit one column leads another; None if one of them is out."""
    merits = {each.key: each.merit for each in decision.candidates if each.eligible}
    return merits[lead] - merits[rival] if lead in merits and rival in merits else None


def round_away(value: float, digits: int = _DIGITS[0], *, up: bool) -> float:
    scale = 10.0 ** (math.floor(math.log10(abs(value))) - digits + 1)
    steps = value / scale
    whole = math.ceil(steps - 1e-9) if up else math.floor(steps + 1e-9)
    # Negative powers of ten are not exact: the digits are.
    return float(f"{whole * scale:.{digits}g}")


def _try_value(each: _FlipInput, value: AnswerValue, lead: str | None) -> DecisionFlip | None:
    return _make_flip(each, value, each.decide(value), lead)


def _make_flip(each: _FlipInput, value: AnswerValue, decision: Decision, lead: str | None) -> DecisionFlip | None:
    """Return the flip with its outcome; None if it changes nothing, or moves the work out of scope."""
    becomes = _get_lead(decision)
    if becomes == lead or not decision.scope.answered:
        return None
    return DecisionFlip(each.name, each.now, value, () if becomes is None else (becomes,), decision.verdict)
