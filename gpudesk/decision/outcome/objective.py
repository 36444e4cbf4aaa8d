"""The user's aim as a score: what each candidate comes to, and the odds that it is the best.

The odds of two are logistic in the ratio of their values, as those of `FigureDifference`; those of several weigh
each against the best (D. McFadden, Conditional logit analysis of qualitative choice behavior, 1974). The order of
two does not depend on a third."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from gpudesk.costing.accelerator_costs import (
    NEEDED_TO_OWN,
    NEEDED_TO_RENT,
    THROUGHPUT,
    AcceleratorCostInputs,
    cost_owned_per_million,
    cost_rented_per_million,
)
from gpudesk.costing.uncertainty import LOGISTIC_VARIANCE, PaymentBasis, compute_price_deviation
from gpudesk.decision.facts.accelerator_facts import get_interval, get_number
from gpudesk.domain.decision import DecisionObjective, FactValues, ObjectiveName, QuestionAnswer
from gpudesk.domain.estimate import Estimate
from gpudesk.engine.calibration import Calibration, find_lead_scale, relate_accelerators
from gpudesk.text.formatting import IntervalEstimate

if TYPE_CHECKING:
    from gpudesk.decision.facts.decision_facts import DecisionFacts

#: Objective -> the fact that it is, whether less is better, the unit, and the kind of figure whose error it has.
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
#: The option of `priority` -> the objective. Costs and what is balanced depend on what is known of prices.
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
#: Scale of the error of exact counts in the logarithm, and of months to production in months.
_EXACT, _MONTHS = 0.02, 0.75


@dataclass(frozen=True, slots=True)
class CandidateScore:
    """What a candidate comes to: `utility` grows with what is better, and its error has the `scale`.

    `price_deviation` is that of its own prices, in the same unit. Where `missing` names what is not known,
    there is no value.
    """

    value: IntervalEstimate | None
    utility: float = -math.inf
    scale: float = 1.0
    price_deviation: float = 0.0
    missing: str | None = None


def get_objective_fact(name: ObjectiveName) -> str:
    return _MEASURES[name][0]


def choose_objective(
    answers: Mapping[str, QuestionAnswer], parts: Sequence[FactValues], basis: PaymentBasis | None
) -> DecisionObjective:
    """Return what decides; without prices throughput stands in for costs, whose reciprocal it is at one price."""
    wanted = _BY_PRIORITY[str(answers["priority"].value)]
    if wanted is ObjectiveName.THROUGHPUT and answers["site"].value == "rack":
        wanted = ObjectiveName.DENSITY
    name = wanted
    if not any(_read_value(part, _MEASURES[wanted][0]) for part in parts):
        name = ObjectiveName.THROUGHPUT
    _, lower, unit, _ = _MEASURES[name]
    payment = None if name is not ObjectiveName.COST or basis is None else "rented" if basis.rented else "owned"
    return DecisionObjective(name, unit, lower, payment, None if name is wanted else wanted)


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
    basis: PaymentBasis | None,
    calibration: Calibration,
) -> tuple[CandidateScore, ...]:
    """Return the score of each column; it does not depend on the other columns."""
    return tuple(
        _score(objective, view.estimate, situation, part, basis, calibration)
        for view, situation, part in zip(ground.views, ground.situations, parts, strict=True)
    )


def _score(
    objective: DecisionObjective,
    estimate: Estimate | None,
    situation: AcceleratorCostInputs,
    part: FactValues,
    basis: PaymentBasis | None,
    calibration: Calibration,
) -> CandidateScore:
    fact, lower, _, kind = _MEASURES[objective.name]
    value = _read_value(part, fact)
    if estimate is None or value is None:
        return CandidateScore(None, missing=_name_missing(objective, situation, basis))
    sign = -1.0 if lower else 1.0
    if objective.name is ObjectiveName.TIME:
        return CandidateScore(value, sign * value.value, _MONTHS)
    if kind is None:
        return CandidateScore(value, sign * math.log(max(value.value, 1e-9)), _EXACT)
    own = find_lead_scale(calibration, kind, estimate.basis, estimate.basis)
    prices = 0.0
    if objective.name is ObjectiveName.COST and basis is not None:
        prices = compute_price_deviation(situation, basis)
    return CandidateScore(value, sign * math.log(value.value), own, prices)


def _name_missing(
    objective: DecisionObjective, situation: AcceleratorCostInputs, basis: PaymentBasis | None
) -> str | None:
    if objective.name is not ObjectiveName.COST or basis is None:
        return get_objective_fact(objective.name)
    return next((name for name in basis.needed if name not in situation.values), THROUGHPUT)


PairScale = Callable[[int, int], float]


def make_pair_scale(
    objective: DecisionObjective, ground: DecisionFacts, scores: Sequence[CandidateScore], calibration: Calibration
) -> PairScale:
    """Return what tells the scale of the error between two columns, prices included."""
    kind = _MEASURES[objective.name][3]

    def find_scale(one: int, other: int) -> float:
        first, second = ground.views[one], ground.views[other]
        if kind is None or first.estimate is None or second.estimate is None:
            return scores[one].scale
        relation = relate_accelerators(first.column.accelerator, second.column.accelerator)
        error = find_lead_scale(calibration, kind, first.estimate.basis, second.estimate.basis, relation)
        prices = scores[one].price_deviation ** 2 + scores[other].price_deviation ** 2
        return math.sqrt(error**2 + prices / LOGISTIC_VARIANCE)

    return find_scale


def compute_odds(ranks: Sequence[float], eligible: Sequence[bool], find_scale: PairScale) -> list[float]:
    """Return the odds that each candidate is the best; they add up to 1 over the eligible ones."""
    running = [place for place, can in enumerate(eligible) if can]
    if not running:
        return [0.0] * len(ranks)
    best = max(running, key=lambda place: ranks[place])
    weights = [
        math.exp((ranks[place] - ranks[best]) / find_scale(best, place)) if can and place != best else float(can)
        for place, can in enumerate(eligible)
    ]
    total = sum(weights)
    return [weight / total for weight in weights]


def rank_candidates(scores: Sequence[CandidateScore], meets: Sequence[float]) -> list[float]:
    """Return the utility of each candidate, less what the doubt is worth that it keeps within the limits."""
    return [
        score.utility + score.scale * math.log(max(share, 1e-6)) for score, share in zip(scores, meets, strict=True)
    ]


def solve_for_lead(
    situation: AcceleratorCostInputs, basis: PaymentBasis, missing: str | None, usd_per_million: float
) -> float | None:
    """Return the price or rent, in USD, at which output tokens cost so much; None where none above 0 does.

    Costs are straight lines in prices. None too where something else than the price is missing.
    """
    needed = NEEDED_TO_RENT if basis.rented else NEEDED_TO_OWN
    if missing is None or missing == THROUGHPUT or situation.deployment is None:
        return None
    if any(name not in situation.values for name in needed if name != missing):
        return None
    per_million = cost_rented_per_million if basis.rented else cost_owned_per_million
    free = float(per_million({**situation.values, missing: 0.0}, situation.deployment))
    one = float(per_million({**situation.values, missing: 1.0}, situation.deployment))
    price = (usd_per_million - free) / (one - free)
    return price if price > 0.0 else None
