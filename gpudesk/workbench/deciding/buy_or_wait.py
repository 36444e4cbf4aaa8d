"""Whether to buy a column's part now or to wait for the next one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.domain.accelerators import Accelerator
from gpudesk.domain.buying import MOST_MONTHS, USUAL_SLIP, BuyOrWait, Verdict, WaitQuestion
from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.demand import Bounds
from gpudesk.domain.messages import InputError, Message, message
from gpudesk.domain.ranges import Range
from gpudesk.domain.scenarios import AcceleratorChoice, Scenario
from gpudesk.domain.units import MONTHS_PER_YEAR
from gpudesk.workbench.deciding.input_draws import likely_of, range_of
from gpudesk.workbench.deciding.next_parts import months_to_next, next_part_of
from gpudesk.workbench.deciding.waiting_case import WaitCase
from gpudesk.workbench.deciding.waiting_rules import rules_on_waiting
from gpudesk.workbench.deciding.waiting_sums import judged_sums, likely_verdict, price_points, turns_of

if TYPE_CHECKING:
    from gpudesk.workbench.workbench import Workbench

_MOST_USD: Final = 1e12
_MOST_TOKENS: Final = 1e18
_BOUNDS: Final = {
    "months_to_launch": Bounds(0.0, MOST_MONTHS),
    "months_to_next": Bounds(0.0, MOST_MONTHS),
    "slip_months": Bounds(0.0, MOST_MONTHS),
    "years": INPUTS["years"].bounds,
    "usd_per_month": Bounds(0.0, _MOST_USD),
    "tokens_per_month": Bounds(0.0, _MOST_TOKENS, above=True),
}


def check_question(question: WaitQuestion) -> None:
    """Refuse a number outside its range; raises `InputError` that names the field."""
    for name, bounds in _BOUNDS.items():
        stated = getattr(question, name)
        spread = stated if isinstance(stated, Range) else None if stated is None else Range.exactly(stated)
        if spread is None:
            continue
        if not spread.in_order:
            raise InputError(message("costs.range"), name)
        for value in spread:
            if not bounds.hold(value):
                problem = message("field.range", given=value, low=bounds.low, high=bounds.high)
                raise InputError(problem, name)


def buy_or_wait(scenario: Scenario, position: int, question: WaitQuestion, workbench: Workbench) -> BuyOrWait:
    """Return whether to buy the part of a scenario's column now, or to wait for the next one.

    Both are compared as the scenario's other columns are, and cost what the scenario says of costs. Raises
    `InputError` for a question that cannot be, an unknown part, and a scenario that gets no answer.
    """
    check_question(question)
    catalog = workbench.catalog
    chosen = catalog.accelerator(scenario.accelerators[position].accelerator)
    following = next_part_of(chosen, question, catalog)
    today = question.today or catalog.data_date
    answer = workbench.answer(_compared(scenario, position, following, question))
    situations = workbench.costing.situations(answer)
    case = WaitCase(answer, situations, question, waits=following is not None)
    months, dated = months_to_next(following, question, today, catalog)
    slip = question.slip_months or USUAL_SLIP
    delivery = case.delivery(months, slip)
    known = case.known(delivery)
    sums, computed = judged_sums(known)
    found = BuyOrWait(
        chosen=chosen.id,
        next_part=None if following is None else following.id,
        months_to_launch=question.months_to_launch,
        years=likely_of(case.months) / MONTHS_PER_YEAR,
        rules=rules_on_waiting(question, today, None if following is None else following.name),
        computed=computed,
        likely=likely_verdict(known),
        slip_months=slip,
        months_to_next=months,
        delivery_months=None if delivery is None else range_of(delivery),
        gap_months=None if known.gap is None else range_of(known.gap),
        tokens_per_month=None if case.tokens is None else range_of(case.tokens),
        tokens_origin=case.tokens_origin,
        monthly=case.monthly(known),
        sums=sums,
        turns=turns_of(known, question.months_to_launch, months, slip),
        prices=price_points(known),
        notes=(*(() if dated is None else (dated,)), *case.notes(known)),
    )
    return replace(found, notes=(*found.notes, *_against_rules(found)))


def _against_rules(found: BuyOrWait) -> Iterator[Message]:
    """Yield where documents and arithmetic, or documents among themselves, say different things."""
    if (found.document, found.computed) == (Verdict.BUY, Verdict.WAIT):
        yield message("buying.computed_wait")
    elif (found.document, found.computed) == (Verdict.WAIT, Verdict.BUY):
        yield message("buying.computed_buy")
    elif len({rule.verdict for rule in found.rules if rule.strong and rule.verdict is not None}) > 1:
        yield message("buying.rules_contradict")


def _compared(
    scenario: Scenario, position: int, following: Accelerator | None, question: WaitQuestion
) -> Scenario:
    """Return the scenario with the chosen column first, the next part behind it, and then all others.

    A next part that is no column of the scenario is taken in the chosen part's number, if that is fixed.
    """
    chosen = scenario.accelerators[position]
    others = [each for place, each in enumerate(scenario.accelerators) if place != position]
    ahead = [chosen]
    if following is not None:
        own = next((each for each in others if each.accelerator == following.id), None)
        ahead.append(own or AcceleratorChoice(following.id, count=chosen.count))
        others = [each for each in others if each is not own]
    costs = scenario.costs
    if question.years is not None:
        costs = costs.with_input("years", Range.exactly(question.years))
    return replace(scenario, accelerators=(*ahead, *others), costs=costs)
