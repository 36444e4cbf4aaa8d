"""What the months of buying and of waiting cost, from an answered scenario and what it says of costs."""

from __future__ import annotations

import math
from collections.abc import Iterator

from gpudesk.domain.answers import Answer
from gpudesk.domain.buying import MonthlyCosts, MonthOrigin, TokenOrigin, WaitQuestion
from gpudesk.domain.messages import Message, message
from gpudesk.domain.ranges import Range
from gpudesk.domain.units import HOURS_PER_MONTH, MONTHS_PER_YEAR, SECONDS_PER_HOUR
from gpudesk.economics.owning import Amount
from gpudesk.economics.tokens import served_tokens
from gpudesk.economics.waiting import gap_months
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.costing.costs import common_error
from gpudesk.workbench.costing.formulas import (
    NEEDED_TO_OWN,
    NEEDED_TO_RENT,
    THROUGHPUT,
    owned_per_million,
    rented_per_million,
)
from gpudesk.workbench.deciding.input_draws import DrawTable, range_of
from gpudesk.workbench.deciding.lacking import lacking
from gpudesk.workbench.deciding.waiting_sums import Known, PricedMonth
from gpudesk.workbench.sizing import check_demand, demand_factors

_MILLION = 1e6
_NEEDED_BESIDE_PRICE = tuple(name for name in NEEDED_TO_OWN if name != "price_usd")


class WaitCase:
    """The chosen part in the first column of an answer, the next part, if any, in the second."""

    def __init__(
        self, answer: Answer, situations: tuple[Situation, ...], question: WaitQuestion, *, waits: bool
    ) -> None:
        """Draw what is not known of the chosen part and of the next one."""
        self._answer, self._situations, self._question = answer, situations, question
        self._table = DrawTable(common_error(answer))
        self._own = self._table.inputs(situations[0])
        self._waits = waits
        self._next = self._table.inputs(situations[1]) if waits else None
        self.tokens, self.tokens_origin = self._tokens()
        self.stopgap, self.without_origin = self._stopgap()
        #: Months of use.
        self.months: Amount = self._own["years"] * MONTHS_PER_YEAR

    def delivery(self, months: Range | None, slip: Range) -> Amount | None:
        """Return in how many months the next part is there, slip included; None where that is not known."""
        if months is None:
            return None
        return self._table.number("months to the next part", months) + self._table.number("slip", slip)

    def known(self, delivery: Amount | None) -> Known:
        """Return what is known of both courses."""
        price = self._situations[0].values.get("price_usd")
        return Known(
            months=self.months,
            gap=self._gap(delivery),
            buy=self._a_month(self._owned(0, self._own)),
            following=None if self._next is None else self._a_month(self._owned(1, self._next)),
            without=self._without(),
            tokens=self.tokens,
            waits=self._waits,
            priced=self._priced(),
            chosen_price_usd=price,
        )

    def monthly(self, known: Known) -> MonthlyCosts:
        """Return what a month costs on each course."""
        return MonthlyCosts(
            buy_usd=_range(known.buy),
            next_usd=_range(known.following),
            without_usd=_range(known.without),
            buy_usd_per_million=_range(self._owned(0, self._own)),
            next_usd_per_million=None if self._next is None else _range(self._owned(1, self._next)),
            without_origin=self.without_origin,
            stopgap=None if self.stopgap is None else self.stopgap.accelerator,
        )

    def notes(self, known: Known) -> Iterator[Message]:
        """Yield what figures rest on, and what they lack."""
        columns, situations = self._answer.columns, self._situations
        yield from lacking(situations[0], columns[0], NEEDED_TO_OWN)
        if self._waits:
            yield from lacking(situations[1], columns[1], NEEDED_TO_OWN)
        if self.without_origin is None:
            yield message("buying.no_rent")
        elif self.stopgap is not None:
            name = columns[situations.index(self.stopgap)].accelerator.name
            yield message("buying.rented_meanwhile", accelerator=name)
        if self.tokens_origin is TokenOrigin.DEMAND:
            yield message("buying.tokens_of_demand")
        elif self.tokens_origin is TokenOrigin.DEPLOYMENT:
            yield message("buying.tokens_of_deployment", accelerator=columns[0].accelerator.name)
        if self._rent_is_cheaper(known):
            yield message("buying.rent_is_cheaper", accelerator=columns[0].accelerator.name)

    def _rent_is_cheaper(self, known: Known) -> bool:
        likely = known.likely()
        if self.stopgap is None or likely.buy is None or likely.without is None:
            return False
        return bool(likely.without < likely.buy)

    def _gap(self, delivery: Amount | None) -> Amount | None:
        if not self._waits:
            return self.months
        if delivery is None:
            return None
        return gap_months(self._question.months_to_launch, delivery, self.months)

    def _tokens(self) -> tuple[Amount | None, TokenOrigin | None]:
        """Return the output tokens of a month: stated, those of the demand, or all that is worked out."""
        scenario = self._answer.scenario
        if self._question.tokens_per_month is not None:
            return self._question.tokens_per_month, TokenOrigin.YOURS
        if scenario.demand is not None:
            check_demand(scenario.demand)
            output = scenario.workload.output_tokens
            average = demand_factors(scenario.demand, output)[:-1]
            rate = math.prod(factor.value for factor in average) * output
            return rate * HOURS_PER_MONTH * SECONDS_PER_HOUR, TokenOrigin.DEMAND
        if self._situations[0].deployment is None:
            return None, None
        rated, share = self._own[THROUGHPUT], self._own["utilisation"]
        return served_tokens(rated, HOURS_PER_MONTH, share), TokenOrigin.DEPLOYMENT

    def _stopgap(self) -> tuple[Situation | None, MonthOrigin | None]:
        """Return whose rent stands for a month without either part: the chosen part's, else a rival's."""
        if self._question.usd_per_month is not None:
            return None, MonthOrigin.YOURS
        first, *others = self._situations
        if first.knows(NEEDED_TO_RENT):
            return first, MonthOrigin.RENT
        rivals = others[1:] if self._waits else others
        found = next((each for each in rivals if each.knows(NEEDED_TO_RENT)), None)
        return found, None if found is None else MonthOrigin.RIVAL_RENT

    def _without(self) -> Amount | None:
        stated = self._question.usd_per_month
        if stated is not None:
            return self._table.number("a month without", stated)
        if self.stopgap is None or self.stopgap.deployment is None:
            return None
        values = self._own if self.stopgap is self._situations[0] else self._table.inputs(self.stopgap)
        return self._a_month(rented_per_million(values, self.stopgap.deployment))

    def _owned(self, position: int, values: dict[str, Amount]) -> Amount | None:
        """Return what a million output tokens of a part that is owned costs."""
        found = self._situations[position]
        if found.deployment is None or not found.knows(NEEDED_TO_OWN):
            return None
        return owned_per_million(values, found.deployment)

    def _a_month(self, per_million: Amount | None) -> Amount | None:
        if per_million is None or self.tokens is None:
            return None
        return per_million * self.tokens / _MILLION

    def _priced(self) -> PricedMonth | None:
        """Return the next part's month by its price, which it is a straight line in."""
        if self._next is None or not self._situations[1].knows(_NEEDED_BESIDE_PRICE):
            return None
        deployment = self._situations[1].deployment
        assert deployment is not None
        at = [
            self._a_month(owned_per_million({**self._next, "price_usd": price}, deployment))
            for price in (0.0, 1.0)
        ]
        free, one = at
        if free is None or one is None:
            return None
        return PricedMonth(free, one - free)


def _range(amount: Amount | None) -> Range | None:
    return None if amount is None else range_of(amount)
