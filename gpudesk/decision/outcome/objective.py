"""The user's objective as a score: the utility of each candidate, and the odds that it is the best.

The odds of two are logistic in the ratio of their values, as in `FigureDifference`; those of several weigh each against
the best (D. McFadden, Conditional logit analysis of qualitative choice behavior, 1974). The order of two does not
depend on a third.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from gpudesk.costing.accelerator_costs import (
    AcceleratorCostInputs,
    cost_owned_per_million,
    cost_rented_per_million,
    cost_upfront,
)
from gpudesk.costing.uncertainty import Draws, PairScale, PaymentBasis, add_price_doubt
from gpudesk.decision.facts.accelerator_facts import get_interval, get_number
from gpudesk.decision.facts.leaders import find_cheaper_payment, get_token_cost
from gpudesk.domain.decision import DecisionObjective, FactValues, ObjectiveName, QuestionAnswer
from gpudesk.domain.estimate import Estimate
from gpudesk.engine.calibration import Calibration, find_lead_scale, relate_accelerators
from gpudesk.text.formatting import IntervalEstimate

if TYPE_CHECKING:
    from gpudesk.decision.facts.decision_facts import DecisionFacts, Payments

#: Objective -> its fact, whether less is better, the unit, and the kind of figure with its error.
_MEASURES: Final[Mapping[ObjectiveName, tuple[str, bool, str, str | None]]] = MappingProxyType(
    {
        ObjectiveName.COST: ("usd_per_million", True, "USD/M tokens", "throughput"),
        ObjectiveName.THROUGHPUT: ("tokens_per_s_each", False, "tok/s", "throughput"),
        ObjectiveName.DENSITY: ("tokens_per_s_kw", False, "tok/s per kW", "throughput"),
        ObjectiveName.LATENCY: ("request_s", True, "s", "throughput"),
        ObjectiveName.CAPACITY: ("requests_each", False, "requests", None),
        ObjectiveName.TIME: ("months_to_production", True, "months", None),
    }
)
#: The option of `priority` -> the objective. Costs and the balanced objective depend on known prices.
_BY_PRIORITY: Final[Mapping[str, ObjectiveName]] = MappingProxyType(
    {
        "balanced": ObjectiveName.COST,
        "cost": ObjectiveName.COST,
        "speed": ObjectiveName.THROUGHPUT,
        "latency": ObjectiveName.LATENCY,
        "users": ObjectiveName.CAPACITY,
        "certainty": ObjectiveName.TIME,
    }
)
_PRICES: Final = ("price_usd", "rent_usd_per_hour")
#: Logarithmic error scale of exact counts, and error scale of months to production in months.
_EXACT, _MONTHS = 0.02, 0.75


@dataclass(frozen=True, slots=True)
class CandidateScore:
    """The score of a candidate: a higher `utility` is better, and its error has the `scale`.

    For costs, `log_costs` are draws of their logarithm, each with the cheaper way to pay, and `lacking` has the missing
    input for each way to pay. For other figures it has the figure itself.
    """

    value: IntervalEstimate | None
    utility: float = -math.inf
    scale: float = 1.0
    log_costs: Draws | None = None
    lacking: Mapping[PaymentBasis | None, str] = field(default_factory=dict)

    def find_missing(self, paid: PaymentBasis | None) -> tuple[PaymentBasis | None, str | None]:
        """Return the missing input and its way to pay: for `paid`, that of the best column, if several are open."""
        if paid in self.lacking:
            return paid, self.lacking[paid]
        return next(iter(self.lacking.items()), (None, None))


def get_objective_fact(name: ObjectiveName) -> str:
    return _MEASURES[name][0]


def choose_objective(answers: Mapping[str, QuestionAnswer], parts: Sequence[FactValues]) -> DecisionObjective:
    """Return the objective in effect; without prices throughput replaces cost, its reciprocal at equal price."""
    objective = _BY_PRIORITY[str(answers["priority"].value)]
    if objective is ObjectiveName.THROUGHPUT and answers["site"].value == "rack":
        objective = ObjectiveName.DENSITY
    name = objective
    if not any(_read_value(part, _MEASURES[objective][0]) for part in parts):
        name = ObjectiveName.THROUGHPUT
    _, lower, unit, _ = _MEASURES[name]
    return DecisionObjective(name, unit, lower, None if name is objective else objective)


def _read_value(part: FactValues, fact: str) -> IntervalEstimate | None:
    interval = get_interval(part, fact)
    if interval is not None:
        return interval
    number = get_number(part, fact)
    return None if number is None else IntervalEstimate(number, number, number)


def score_candidates(
    objective: DecisionObjective,
    ground: DecisionFacts,
    parts: Sequence[FactValues],
    payments: Payments,
    calibration: Calibration,
) -> tuple[CandidateScore, ...]:
    """Return the score of each column; it does not depend on other columns."""
    return tuple(
        _score_cost(ground, place, part, payments[place], calibration)
        if objective.name is ObjectiveName.COST
        else _score(objective, ground.views[place].estimate, part, calibration)
        for place, part in enumerate(parts)
    )


def _score(
    objective: DecisionObjective, estimate: Estimate | None, part: FactValues, calibration: Calibration
) -> CandidateScore:
    fact, lower, _, kind = _MEASURES[objective.name]
    value = _read_value(part, fact)
    if estimate is None or value is None:
        return CandidateScore(None, lacking={None: fact})
    sign = -1.0 if lower else 1.0
    if objective.name is ObjectiveName.TIME:
        return CandidateScore(value, sign * value.value, _MONTHS)
    if kind is None:
        return CandidateScore(value, sign * math.log(max(value.value, 1e-9)), _EXACT)
    return CandidateScore(
        value, sign * math.log(value.value), find_lead_scale(calibration, kind, estimate.basis, estimate.basis)
    )


def _score_cost(
    ground: DecisionFacts, place: int, part: FactValues, payments: Sequence[PaymentBasis], calibration: Calibration
) -> CandidateScore:
    """Return the score of a column by the cheaper way to pay."""
    values = ground.situations[place].values
    lacking: dict[PaymentBasis | None, str] = {
        each: unknown[0] for each in payments if (unknown := [name for name in each.needed if name not in values])
    }
    estimate, payment = ground.views[place].estimate, find_cheaper_payment(part, payments)
    value = None if payment is None else get_token_cost(part, payment)
    if estimate is None or value is None:
        return CandidateScore(None, lacking=lacking)
    draws = [ground.draw_log_costs(place, each) for each in payments if get_token_cost(part, each) is not None]
    return CandidateScore(
        value,
        -math.log(value.value),
        find_lead_scale(calibration, "throughput", estimate.basis, estimate.basis),
        reduce(np.minimum, draws),
        lacking,
    )


def make_pair_scale(
    objective: DecisionObjective, ground: DecisionFacts, scores: Sequence[CandidateScore], calibration: Calibration
) -> PairScale:
    """Return the function for the error scale between two columns, prices included."""
    kind = _MEASURES[objective.name][3]

    def find_scale(one: int, other: int) -> float:
        first, second = ground.views[one], ground.views[other]
        if kind is None or first.estimate is None or second.estimate is None:
            return scores[one].scale
        relation = relate_accelerators(first.column.accelerator, second.column.accelerator)
        error = find_lead_scale(calibration, kind, first.estimate.basis, second.estimate.basis, relation)
        ours, theirs = scores[one].log_costs, scores[other].log_costs
        return error if ours is None or theirs is None else add_price_doubt(error, ours, theirs)

    return find_scale


def rank_candidates(scores: Sequence[CandidateScore], meets: Sequence[float]) -> list[float]:
    """Return the utility of each candidate, less a penalty for the risk of missing a limit."""
    return [
        score.utility + score.scale * math.log(max(share, 1e-6)) for score, share in zip(scores, meets, strict=True)
    ]


def solve_for_lead(
    situation: AcceleratorCostInputs,
    basis: PaymentBasis | None,
    missing: str | None,
    usd_per_million: float,
    budget_usd: float,
) -> float | None:
    """Return the price or rent, in USD, at which output tokens have a cost, within a budget; None without one above 0.

    Costs are linear in prices. Also None if another input than the price is missing.
    """
    if missing not in _PRICES or basis is None or situation.deployment is None:
        return None
    if any(name not in situation.values for name in basis.needed if name != missing):
        return None
    limits = [(cost_rented_per_million if basis.rented else cost_owned_per_million, usd_per_million)]
    if not basis.rented:
        limits.append((cost_upfront, budget_usd))
    prices = []
    for cost, limit in limits:
        free = float(cost({**situation.values, missing: 0.0}, situation.deployment))
        one = float(cost({**situation.values, missing: 1.0}, situation.deployment))
        prices.append((limit - free) / (one - free))
    price = min(prices)
    return price if price > 0.0 else None
