"""Whether to buy an accelerator now or wait for the next one: release dates, costs, and rules of documents."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gpudesk.costing.accelerator_costs import (
    NEEDED_TO_OWN,
    NEEDED_TO_RENT,
    THROUGHPUT,
    AcceleratorCostInputs,
    Amount,
    compute_owned_token_cost,
    compute_rented_token_cost,
    count_served_tokens,
    list_missing_inputs,
)
from gpudesk.costing.uncertainty import DrawTable, compute_common_error, compute_range_or_none, get_likely
from gpudesk.decision.facts.answers import resolve_answers
from gpudesk.decision.purchasing.deferral_costs import (
    CourseAmounts,
    MonthlyCostByPrice,
    compute_gap_months,
    compute_price_points,
    find_turns,
    judge_deferral,
    judge_likely,
)
from gpudesk.decision.purchasing.plan_inputs import check_plan_id, make_wait_question, name_failed_input
from gpudesk.decision.services import PlanningServices
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.answer import AcceleratorChoice, Answer, Scenario
from gpudesk.domain.cost import COST_INPUTS, WRONG_RANGE, UncertainValue
from gpudesk.domain.dates import count_months_until, parse_date_span
from gpudesk.domain.purchase import (
    DEFAULT_SLIP_MONTHS,
    LATE_MONTHS,
    MAX_MONTHS,
    NEWEST_ACCELERATOR,
    SOON_MONTHS,
    DeferralAnalysis,
    DeferralMonthlyCosts,
    DeferralQuestion,
    DeferralVerdict,
    GapCostOrigin,
    RuleOpinion,
    TokenDemandOrigin,
)
from gpudesk.domain.sizing import NumberBounds
from gpudesk.estimation.sizing.demand import check_demand, list_demand_factors
from gpudesk.text.messages import InputError, Message, input_error, message
from gpudesk.text.units import HOURS_PER_MONTH, MONTHS_PER_YEAR, SECONDS_PER_HOUR

if TYPE_CHECKING:
    from gpudesk.catalog.read import Catalog


def compute_year_after(today: str, months: float) -> int | None:
    """Return the year this many months after `today`; None if that is unreadable."""
    now = parse_date_span(today)
    return None if now is None else int((now[0] + months) // MONTHS_PER_YEAR)


def find_next_accelerator(chosen: Accelerator, question: DeferralQuestion, catalog: Catalog) -> Accelerator | None:
    """Return the next accelerator: the requested one, else the newest announced one, if any.

    Announced ones of the chosen accelerator's vendor come first. Raises `InputError` for an unknown accelerator, and
    for the chosen one.
    """
    if question.next_part is None:
        return None
    if question.next_part != NEWEST_ACCELERATOR:
        if question.next_part == chosen.id:
            raise input_error(
                "buying.same",
                "{accelerator} is the accelerator to buy now; choose another one to wait for",
                "next_part",
                accelerator=chosen.name,
            )
        return catalog.accelerator(question.next_part)
    announced = [each for each in catalog.accelerators() if each.announced and each.id != chosen.id]
    own = [each for each in announced if each.vendor == chosen.vendor]
    return max(own or announced, key=lambda each: _get_release_month(each, catalog), default=None)


def estimate_months_to_next(
    part: Accelerator | None, question: DeferralQuestion, today: str, catalog: Catalog
) -> tuple[UncertainValue | None, Message | None]:
    """Return the availability of an accelerator without delay, and the basis unless the user stated it."""
    if part is None:
        return None, message(
            "buying.no_next", "No next accelerator: waiting is compared with continuing without new hardware"
        )
    if question.months_to_next is not None:
        return question.months_to_next, None
    if not part.announced:
        return UncertainValue.exactly(0.0), message(
            "buying.shipping",
            "{accelerator} is already available; enter a delivery date if delivery takes longer",
            accelerator=part.name,
        )
    date = find_release_date(part, catalog)
    months = None if date is None else count_months_until(date, today)
    if date is None or months is None:
        return None, message(
            "buying.no_date",
            "{accelerator} has no release date; enter when it will be available",
            accelerator=part.name,
        )
    if months.high <= 0.0:
        return months, message(
            "buying.overdue",
            "{accelerator} was planned for {date} but is still only announced; enter when it will be available",
            accelerator=part.name,
            date=date,
        )
    return months, message(
        "buying.planned",
        "{accelerator} is planned for {date}, counted from {today}",
        accelerator=part.name,
        date=date,
        today=today,
    )


def find_release_date(part: Accelerator, catalog: Catalog) -> str | None:
    for attribute in catalog.attributes(part.id):
        if attribute.name == "release_date" and isinstance(attribute.value, str):
            return attribute.value
    return None


def _get_release_month(part: Accelerator, catalog: Catalog) -> float:
    date = find_release_date(part, catalog)
    span = None if date is None else parse_date_span(date)
    return 0.0 if span is None else span[1]


#: For infrastructure planned for this year or later the rule says to compare only figures and cost (D000-26).
_LEVEL_SOFTWARE: Final = 2027


def apply_waiting_rules(
    question: DeferralQuestion, today: str, next_name: str | None = None
) -> tuple[RuleOpinion, ...]:
    """Return the verdicts of D002-16, D002-18, D002-19, D003-25 and D000-26 on a question.

    `next_name` is the next accelerator, if any.
    """
    opinions = [_apply_launch_rules(question.months_to_launch)]
    if question.tuned_for_next and next_name is not None:
        tuned = message(
            "buying.tuned",
            "Models tuned for {accelerator}: wait (AMD stack scorecard, February 2024)",
            accelerator=next_name,
        )
        opinions.append(RuleOpinion("D002-18", DeferralVerdict.WAIT, tuned, strong=True))
    opinions.append(_apply_slip_rules(question))
    opinions.append(_apply_live_rules(question.months_to_launch))
    year = compute_year_after(today, question.months_to_launch)
    if year is not None and year >= _LEVEL_SOFTWARE:
        opinions.append(
            RuleOpinion(
                "D000-26",
                None,
                message(
                    "buying.level_software",
                    "By {year} the MI325X vs H200 page (March 2026) expects equal software, so specifications "
                    "and cost decide",
                    year=str(year),
                ),
            )
        )
    elif year is not None:
        opinions.append(
            RuleOpinion(
                "D000-26",
                None,
                message(
                    "buying.weigh_software",
                    "For {year} the MI325X vs H200 page (March 2026) considers both platforms, including software",
                    year=str(year),
                ),
            )
        )
    return tuple(opinions)


def _apply_launch_rules(months: float) -> RuleOpinion:
    """D002-16: a near launch favors buying, a distant one waiting; in between it is silent."""
    if months < SOON_MONTHS:
        reason = message(
            "buying.launch_soon",
            "Launch within {months} months: buy (AMD stack scorecard, February 2024)",
            months=round(SOON_MONTHS),
        )
        return RuleOpinion("D002-16", DeferralVerdict.BUY, reason, strong=True)
    if months >= LATE_MONTHS:
        reason = message(
            "buying.launch_late",
            "Launch in {months} months or later: wait (AMD stack scorecard, February 2024)",
            months=round(LATE_MONTHS),
        )
        return RuleOpinion("D002-16", DeferralVerdict.WAIT, reason, strong=True)
    reason = message(
        "buying.launch_between",
        "The AMD stack scorecard (February 2024) does not cover launches {soon} to {late} months away, so the "
        "result is computed",
        soon=round(SOON_MONTHS),
        late=round(LATE_MONTHS),
    )
    return RuleOpinion("D002-16", None, reason, strong=True)


def _apply_slip_rules(question: DeferralQuestion) -> RuleOpinion:
    """D002-19: buy if the slip is not priced in."""
    if question.slip_months is None:
        reason = message(
            "buying.slip_assumed",
            "The AMD stack scorecard (February 2024) advises buying if no delay is priced. Assumed delay: up to "
            "{months} months, its two quarters",
            months=round(DEFAULT_SLIP_MONTHS.high),
        )
        return RuleOpinion("D002-19", DeferralVerdict.BUY, reason)
    return RuleOpinion(
        "D002-19",
        None,
        message(
            "buying.slip_stated", "The delay is priced, as the AMD stack scorecard (February 2024) requires for waiting"
        ),
    )


def _apply_live_rules(months: float) -> RuleOpinion:
    """D003-25: a running service favors buying; anything else is reconsidered at the release."""
    if months <= 0.0:
        return RuleOpinion(
            "D003-25",
            DeferralVerdict.BUY,
            message("buying.live", "Live service: buy (B200 vs MI355X, May 2026)"),
            strong=True,
        )
    return RuleOpinion(
        "D003-25",
        None,
        message(
            "buying.not_live",
            "Not live yet: check again when the next accelerator is available (B200 vs MI355X, May 2026)",
        ),
        strong=True,
    )


_MILLION = 1e6
_NEEDED_BESIDE_PRICE = tuple(name for name in NEEDED_TO_OWN if name != "price_usd")


class DeferralCase:
    """The chosen accelerator in the first column of an answer, the next one, if any, in the second."""

    def __init__(
        self, answer: Answer, situations: tuple[AcceleratorCostInputs, ...], question: DeferralQuestion, *, waits: bool
    ) -> None:
        self._answer, self._situations, self._question = answer, situations, question
        self._table = DrawTable(compute_common_error(answer))
        self._own = self._table.inputs(situations[0])
        self._waits = waits
        self._next = self._table.inputs(situations[1]) if waits else None
        self.tokens, self.tokens_origin = self._choose_tokens()
        self.gap_rental, self.without_origin = self._find_gap_rental()
        #: Months of use.
        self.months: Amount = self._own["years"] * MONTHS_PER_YEAR

    def delivery(self, months: UncertainValue | None, slip: UncertainValue) -> Amount | None:
        """Return the months until the next accelerator is available, slip included; None if unknown."""
        if months is None:
            return None
        return self._table.number("months to the next part", months) + self._table.number("slip", slip)

    def make_amounts(self, delivery: Amount | None) -> CourseAmounts:
        price = self._situations[0].values.get("price_usd")
        return CourseAmounts(
            months=self.months,
            gap=self._compute_gap(delivery),
            buy=self._compute_monthly_cost(self._compute_owned_cost(0, self._own)),
            following=None
            if self._next is None
            else self._compute_monthly_cost(self._compute_owned_cost(1, self._next)),
            without=self._compute_gap_cost(),
            tokens=self.tokens,
            waits=self._waits,
            priced=self._derive_cost_by_price(),
            chosen_price_usd=price,
        )

    def monthly(self, amounts: CourseAmounts) -> DeferralMonthlyCosts:
        return DeferralMonthlyCosts(
            buy_usd=compute_range_or_none(amounts.buy),
            next_usd=compute_range_or_none(amounts.following),
            without_usd=compute_range_or_none(amounts.without),
            buy_usd_per_million=compute_range_or_none(self._compute_owned_cost(0, self._own)),
            next_usd_per_million=None
            if self._next is None
            else compute_range_or_none(self._compute_owned_cost(1, self._next)),
            without_origin=self.without_origin,
            gap_rental=None if self.gap_rental is None else self.gap_rental.accelerator,
        )

    def notes(self, amounts: CourseAmounts) -> Iterator[Message]:
        columns, situations = self._answer.columns, self._situations
        yield from list_missing_inputs(situations[0], columns[0], NEEDED_TO_OWN)
        if self._waits:
            yield from list_missing_inputs(situations[1], columns[1], NEEDED_TO_OWN)
        if self.without_origin is None:
            yield message(
                "buying.no_rent",
                "Enter the value of a month without hardware: no compared accelerator has both a rent and a throughput",
            )
        elif self.gap_rental is not None:
            name = columns[situations.index(self.gap_rental)].accelerator.name
            yield message(
                "buying.rented_meanwhile",
                "A month without owned hardware costs the rent of {accelerator}, including software",
                accelerator=name,
            )
        if self.tokens_origin is TokenDemandOrigin.DEMAND:
            yield message("buying.tokens_of_demand", "Tokens per month are the average demand")
        elif self.tokens_origin is TokenDemandOrigin.DEPLOYMENT:
            yield message(
                "buying.tokens_of_deployment",
                "Tokens per month are the full output of the {accelerator} deployment during its hours of use",
                accelerator=columns[0].accelerator.name,
            )
        if self._rent_is_cheaper(amounts):
            yield message(
                "buying.rent_is_cheaper",
                "Renting costs less per month than owning {accelerator}, regardless of the next generation",
                accelerator=columns[0].accelerator.name,
            )

    def _rent_is_cheaper(self, amounts: CourseAmounts) -> bool:
        likely = amounts.likely()
        if self.gap_rental is None or likely.buy is None or likely.without is None:
            return False
        return bool(likely.without < likely.buy)

    def _compute_gap(self, delivery: Amount | None) -> Amount | None:
        if not self._waits:
            return self.months
        if delivery is None:
            return None
        return compute_gap_months(self._question.months_to_launch, delivery, self.months)

    def _choose_tokens(self) -> tuple[Amount | None, TokenDemandOrigin | None]:
        """Return the output tokens of a month: stated, those of the demand, or the maximum."""
        scenario = self._answer.scenario
        if self._question.tokens_per_month is not None:
            return self._question.tokens_per_month, TokenDemandOrigin.YOURS
        if scenario.demand is not None:
            check_demand(scenario.demand)
            output = scenario.workload.output_tokens
            average = list_demand_factors(scenario.demand, output)[:-1]
            rate = math.prod(factor.value for factor in average) * output
            return rate * HOURS_PER_MONTH * SECONDS_PER_HOUR, TokenDemandOrigin.DEMAND
        if self._situations[0].deployment is None:
            return None, None
        rated, share = self._own[THROUGHPUT], self._own["utilisation"]
        return count_served_tokens(rated, HOURS_PER_MONTH, share), TokenDemandOrigin.DEPLOYMENT

    def _find_gap_rental(self) -> tuple[AcceleratorCostInputs | None, GapCostOrigin | None]:
        """Return the accelerator whose rent prices a month of waiting: the chosen one, else a rival."""
        if self._question.usd_per_month is not None:
            return None, GapCostOrigin.YOURS
        first, *others = self._situations
        if first.knows(NEEDED_TO_RENT):
            return first, GapCostOrigin.RENT
        rivals = others[1:] if self._waits else others
        rental = next((each for each in rivals if each.knows(NEEDED_TO_RENT)), None)
        return rental, None if rental is None else GapCostOrigin.RIVAL_RENT

    def _compute_gap_cost(self) -> Amount | None:
        user_cost = self._question.usd_per_month
        if user_cost is not None:
            return self._table.number("a month without", user_cost)
        if self.gap_rental is None or self.gap_rental.deployment is None:
            return None
        values = self._own if self.gap_rental is self._situations[0] else self._table.inputs(self.gap_rental)
        return self._compute_monthly_cost(compute_rented_token_cost(values, self.gap_rental.deployment))

    def _compute_owned_cost(self, position: int, values: dict[str, Amount]) -> Amount | None:
        inputs = self._situations[position]
        if inputs.deployment is None or not inputs.knows(NEEDED_TO_OWN):
            return None
        return compute_owned_token_cost(values, inputs.deployment)

    def _compute_monthly_cost(self, per_million: Amount | None) -> Amount | None:
        if per_million is None or self.tokens is None:
            return None
        return per_million * self.tokens / _MILLION

    def _derive_cost_by_price(self) -> MonthlyCostByPrice | None:
        """Return the next accelerator's monthly cost as a linear function of its price."""
        if self._next is None or not self._situations[1].knows(_NEEDED_BESIDE_PRICE):
            return None
        deployment = self._situations[1].deployment
        assert deployment is not None
        at = [
            self._compute_monthly_cost(compute_owned_token_cost({**self._next, "price_usd": price}, deployment))
            for price in (0.0, 1.0)
        ]
        free, one = at
        if free is None or one is None:
            return None
        return MonthlyCostByPrice(free, one - free)


_MOST_USD: Final = 1e12
_MOST_TOKENS: Final = 1e18
_QUESTION_BOUNDS: Final = {
    "months_to_launch": NumberBounds(0.0, MAX_MONTHS),
    "months_to_next": NumberBounds(0.0, MAX_MONTHS),
    "slip_months": NumberBounds(0.0, MAX_MONTHS),
    "years": COST_INPUTS["years"].bounds,
    "usd_per_month": NumberBounds(0.0, _MOST_USD),
    "tokens_per_month": NumberBounds(0.0, _MOST_TOKENS, above=True),
}


def check_wait_question(question: DeferralQuestion) -> None:
    """Refuse a number outside its range; raises `InputError` that names the field."""
    for name, bounds in _QUESTION_BOUNDS.items():
        user_value = getattr(question, name)
        if isinstance(user_value, UncertainValue) and not user_value.in_order:
            raise InputError(WRONG_RANGE, name)
        for value in user_value if isinstance(user_value, UncertainValue) else (user_value,):
            bounds.check(value, name)


def compare_buy_and_wait(
    scenario: Scenario, position: int, question: DeferralQuestion, service: PlanningServices
) -> DeferralAnalysis:
    """Return whether to buy the accelerator of a scenario's column now, or to wait for the next one.

    Both are compared like the scenario's other columns, with the scenario's cost settings. Raises `InputError` for an
    invalid question, an unknown accelerator, and a scenario without an answer.
    """
    check_wait_question(question)
    catalog = service.catalog
    chosen = catalog.accelerator(scenario.accelerators[position].accelerator)
    following = find_next_accelerator(chosen, question, catalog)
    today = question.today or catalog.data_date
    answer = service.answer(_make_compared_scenario(scenario, position, following, question))
    situations = service.costing.situations(answer)
    case = DeferralCase(answer, situations, question, waits=following is not None)
    months, dated = estimate_months_to_next(following, question, today, catalog)
    slip = question.slip_months or DEFAULT_SLIP_MONTHS
    delivery = case.delivery(months, slip)
    amounts = case.make_amounts(delivery)
    sums, computed = judge_deferral(amounts)
    analysis = DeferralAnalysis(
        chosen=chosen.id,
        next_part=None if following is None else following.id,
        months_to_launch=question.months_to_launch,
        years=get_likely(case.months) / MONTHS_PER_YEAR,
        rules=apply_waiting_rules(question, today, None if following is None else following.name),
        computed=computed,
        likely=judge_likely(amounts),
        slip_months=slip,
        months_to_next=months,
        delivery_months=compute_range_or_none(delivery),
        gap_months=compute_range_or_none(amounts.gap),
        tokens_per_month=compute_range_or_none(case.tokens),
        tokens_origin=case.tokens_origin,
        monthly=case.monthly(amounts),
        sums=sums,
        turns=find_turns(amounts, question.months_to_launch, months, slip),
        prices=compute_price_points(amounts),
        notes=(*(() if dated is None else (dated,)), *case.notes(amounts)),
    )
    return replace(analysis, notes=(*analysis.notes, *_note_rule_conflicts(analysis)))


def _note_rule_conflicts(analysis: DeferralAnalysis) -> Iterator[Message]:
    """Yield contradictions between documents and arithmetic, or among documents."""
    if (analysis.document, analysis.computed) == (DeferralVerdict.BUY, DeferralVerdict.WAIT):
        yield message(
            "buying.computed_wait", "The documents' rules recommend buying; the computed costs recommend waiting"
        )
    elif (analysis.document, analysis.computed) == (DeferralVerdict.WAIT, DeferralVerdict.BUY):
        yield message(
            "buying.computed_buy", "The documents' rules recommend waiting; the computed costs recommend buying"
        )
    elif len({rule.verdict for rule in analysis.rules if rule.strong and rule.verdict is not None}) > 1:
        yield message(
            "buying.rules_contradict", "The documents' rules contradict each other here, so the computed costs decide"
        )


def _make_compared_scenario(
    scenario: Scenario, position: int, following: Accelerator | None, question: DeferralQuestion
) -> Scenario:
    """Return the scenario with the chosen column first, then the next accelerator, then all others.

    A next accelerator outside the scenario gets the count of the chosen one, if that is fixed.
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
        costs = costs.with_input("years", UncertainValue.exactly(question.years))
    return replace(scenario, accelerators=(*ahead, *others), costs=costs)


#: The generation for which models can be tuned, as in the dialogue (D002-18).
_TUNED: Final = "cdna4"


def plan_deferral(scenario: Scenario, position: int, today: str, service: PlanningServices) -> DeferralAnalysis:
    """Return whether to buy the accelerator of a column now or to wait; raises `InputError` for wrong inputs."""
    check_plan_id(scenario, "next_part", service.catalog.accelerator)
    question = make_wait_question(scenario, today=today)
    tuned = _is_tuned_for_next(scenario, position, question, service)
    wait_question = make_wait_question(scenario, today=today, tuned_for_next=tuned)
    return name_failed_input(lambda: compare_buy_and_wait(scenario, position, wait_question, service))


def _is_tuned_for_next(
    scenario: Scenario, position: int, question: DeferralQuestion, service: PlanningServices
) -> bool:
    if resolve_answers(scenario)["tuned_for"].value != _TUNED:
        return False
    chosen = service.catalog.accelerator(scenario.accelerators[position].accelerator)
    following = name_failed_input(lambda: find_next_accelerator(chosen, question, service.catalog))
    return following is not None and following.generation == _TUNED and chosen.generation != _TUNED
