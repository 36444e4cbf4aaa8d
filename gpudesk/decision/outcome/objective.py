"""The user's objective as a score: leaders by figure, the utility of each candidate, and the odds that it is the best.

The odds of two are logistic in the ratio of their values, as in `FigureDifference`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

from gpudesk.costing.accelerator_costs import (
    AcceleratorCostInputs,
    compute_owned_token_cost,
    compute_rented_token_cost,
    compute_upfront_cost,
)
from gpudesk.costing.scenario_costs import compare_port
from gpudesk.costing.uncertainty import (
    CostSampler,
    Draws,
    PairScale,
    PaymentBasis,
    add_price_doubt,
    compute_class_gain,
    draw_interval,
    draw_log_costs,
)
from gpudesk.decision.facts.accelerator_facts import arrives_late, get_interval, get_number
from gpudesk.decision.rules.conditions import SimulatedFact
from gpudesk.decision.rules.scoring import TESTED_FIGURES, SimulatedFacts
from gpudesk.domain.answer import Answer, find_difference
from gpudesk.domain.decision import DecisionObjective, FactValue, FactValues, ObjectiveName, QuestionAnswer
from gpudesk.domain.estimate import Estimate
from gpudesk.engine.calibration import Calibration, find_lead_scale, relate_accelerators
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate

if TYPE_CHECKING:
    from gpudesk.decision.facts.decision_facts import DecisionFacts, Payments


Beats = Callable[[int, int], bool | None]


def find_leaders(places: Sequence[int], beats: Beats) -> dict[int, bool | None]:
    """Return for each column whether it leads: none beats it, and it beats one of the others.

    `beats` says whether the first beats the second; None if unknown. A beaten column does not lead; one that is
    unbeaten and beats none is undecided.
    """
    leaders: dict[int, bool | None] = {}
    for place in places:
        others = [other for other in places if other != place]
        wins = [beats(place, other) for other in others]
        losses = [beats(other, place) for other in others]
        if not others or all(each is None for each in (*wins, *losses)):
            leaders[place] = None
        elif True in losses:
            leaders[place] = False
        else:
            leaders[place] = True if True in wins else None
    return leaders


def compare_by_number(values: Sequence[float | None], *, higher: bool) -> Beats:
    def beats(one: int, other: int) -> bool | None:
        ours, theirs = values[one], values[other]
        if ours is None or theirs is None:
            return None
        return ours > theirs if higher else ours < theirs

    return beats


def compare_by_figure(answer: Answer, keys: Sequence[str], figure: str) -> Beats:
    """Return whether one column beats another in a figure, as in the answer's differences."""

    def beats(one: int, other: int) -> bool | None:
        difference = find_difference(answer, figure, keys[one], keys[other]) or find_difference(
            answer, figure, keys[other], keys[one]
        )
        return None if difference is None else difference.winner == keys[one]

    return beats


def compare_by_speed(
    answer: Answer, keys: Sequence[str], values: Sequence[IntervalEstimate | None], *, higher: bool
) -> Beats:
    """Return whether a column is better in a quantity proportional to throughput, or inversely, like costs.

    The ratio of the likely values has the interval of the throughput ratio.
    """

    def beats(one: int, other: int) -> bool | None:
        ours, theirs = values[one], values[other]
        if ours is None or theirs is None:
            return None
        better = ours.value / theirs.value if higher else theirs.value / ours.value
        return better > _compute_ratio_margin(answer, keys[one], keys[other])

    return beats


def _compute_ratio_margin(answer: Answer, one: str, other: str) -> float:
    forth = find_difference(answer, "output_tokens_per_s", other, one)
    if forth is not None:
        return forth.ratio.value / forth.ratio.low
    back = find_difference(answer, "output_tokens_per_s", one, other)
    return 1.0 if back is None else back.ratio.high / back.ratio.value


#: Facts about leaders in a figure of the answer -> the figure.
LEADING_FIGURES: Mapping[str, str] = {
    "leads_throughput": "output_tokens_per_s",
    "leads_throughput_each": "output_tokens_per_s_per_accelerator",
    "leads_ttft": "ttft_ms",
    "leads_tpot": "tpot_ms",
}


#: Facts about leaders in a plain number -> whether more of it is better.
_NUMBERS: Final[Mapping[str, bool]] = {
    "leads_memory": True,
    "leads_bandwidth": True,
    "leads_compute": True,
    "leads_link": True,
    "leads_host_link": True,
    "leads_kv_room": True,
    "leads_concurrency": True,
    "leads_coverage": True,
    "leads_model_engines": True,
    "leads_count": False,
    "leads_spend": False,
}
#: Facts about leaders whose quantity scales with throughput or its inverse -> whether more of it is better.
_BY_SPEED: Final[Mapping[str, bool]] = {
    "leads_cost": False,
    "leads_owned_cost": False,
    "leads_density": True,
    "leads_power": False,
}
#: All facts of this module.
LEADING: Final = (*_NUMBERS, *LEADING_FIGURES, *_BY_SPEED)


OWNED, RENTED = PaymentBasis(rented=False), PaymentBasis(rented=True)


def list_open_payments(part: FactValues, facts: FactValues) -> tuple[PaymentBasis, ...]:
    """Return the open ways to pay for a column: as answered.

    If both are open, it is owned only within the budget and if it usually arrives before the launch.
    """
    acquisition, spend, budget = facts.get("acquisition"), get_number(part, "spend_usd"), facts.get("budget_usd")
    if acquisition == "own":
        return (OWNED,)
    too_dear = spend is not None and isinstance(budget, float) and spend > budget
    return (
        (RENTED,)
        if acquisition == "rent" or too_dear or arrives_late(part, facts.get("months_to_launch"))
        else (RENTED, OWNED)
    )


def get_token_cost(part: FactValues, payment: PaymentBasis) -> IntervalEstimate | None:
    """Return the dollars per million output tokens of a column, by one way to pay."""
    return get_interval(part, f"{payment.name}_usd_per_million")


def find_cheaper_payment(part: FactValues, payments: Sequence[PaymentBasis]) -> PaymentBasis | None:
    """Return the cheaper way to pay for tokens of a column; None if no cost is known."""
    costs = {payment: cost.value for payment in payments if (cost := get_token_cost(part, payment)) is not None}
    return min(costs, key=lambda payment: costs[payment], default=None)


def add_cost_facts(part: FactValues, payments: Sequence[PaymentBasis]) -> dict[str, FactValue]:
    """Return the facts of a column with the cost of its tokens by the cheaper way to pay."""
    payment = find_cheaper_payment(part, payments)
    return {**part, "usd_per_million": None if payment is None else get_token_cost(part, payment)}


def list_leading_facts(
    answer: Answer, keys: Sequence[str], parts: Sequence[FactValues], standing: Sequence[int]
) -> list[dict[str, FactValue]]:
    """Return the leaders among the `standing` columns by figure; removed ones lead in nothing."""
    ranked: dict[str, Beats] = {
        name: compare_by_number([get_number(part, TESTED_FIGURES[name][0]) for part in parts], higher=higher)
        for name, higher in _NUMBERS.items()
    }
    ranked |= {name: compare_by_figure(answer, keys, figure) for name, figure in LEADING_FIGURES.items()}
    for name, higher in _BY_SPEED.items():
        values = [get_interval(part, TESTED_FIGURES[name][0]) for part in parts]
        ranked[name] = compare_by_speed(answer, keys, values, higher=higher)
    leading_facts: list[dict[str, FactValue]] = [dict.fromkeys(LEADING, False) for _ in parts]
    for name, beats in ranked.items():
        for place, leading in find_leaders(standing, beats).items():
            leading_facts[place][name] = leading
    return leading_facts


def list_payback_facts(
    situations: Sequence[AcceleratorCostInputs],
    parts: Sequence[FactValues],
    standing: Sequence[int],
    monthly_hours: FactValue,
) -> list[dict[str, FactValue]]:
    """Return the rented hours per month above which a port pays, and whether the stated hours reach that.

    The reference is the accelerator of the user's platform with the cheapest rented tokens; without one there is
    nothing to port from. A column that needs no port counts as paying if no port does.
    """
    home = _find_home(parts, standing)
    ports = [place for place in standing if parts[place].get("needs_port") is True]
    hours = {place: _compute_payback(situations, place, home) for place in ports}
    pays = {place: _reaches_hours(hours[place], monthly_hours) for place in ports}
    stays = _no_port_pays(list(pays.values()))
    return [
        {"payback_hours": hours.get(place), "pays_back": pays.get(place) if place in pays else stays}
        for place in range(len(parts))
    ]


def _find_home(parts: Sequence[FactValues], standing: Sequence[int]) -> int | None:
    """Return the column of the user's platform with the cheapest rented tokens; None without one."""
    costs = {
        place: cost.value
        for place in standing
        if parts[place].get("needs_port") is False
        and (cost := get_interval(parts[place], "rented_usd_per_million")) is not None
    }
    return min(costs, key=lambda place: (costs[place], place)) if costs else None


def _reaches_hours(needed: float | None, monthly_hours: FactValue) -> bool | None:
    """Whether the monthly hours reach those that a port needs; None if either is unknown."""
    if needed is None:
        return None
    if needed == math.inf:
        return False
    return monthly_hours >= needed if isinstance(monthly_hours, float) else None


def _no_port_pays(ported: Sequence[bool | None]) -> bool | None:
    """Whether every port costs more than it saves; None if unknown."""
    if True in ported:
        return False
    return None if None in ported else True


def _compute_payback(situations: Sequence[AcceleratorCostInputs], place: int, home: int | None) -> float | None:
    """Return the hours per month above which a port pays; infinite if never, None if unknown."""
    if home is None:
        return None
    ties = list(compare_port(situations[place], situations[home]))
    if not ties:
        return None
    return math.inf if ties[0].value is None else ties[0].value


#: Figures that limits refer to: an accelerator slower than estimated also has slower tokens.
_LIMITED: Final = ("ttft_ms", "tpot_ms")


def simulate_facts(
    situations: Sequence[AcceleratorCostInputs],
    parts: Sequence[FactValues],
    places: Collection[int],
    drawing: CostSampler,
) -> SimulatedFacts:
    """Return draws of the figures that limits refer to, for the columns at these places."""
    return SimulatedFacts(
        drawing.count,
        drawing.seed,
        tuple(
            _simulate_figures(inputs, part, drawing) if place in places else {}
            for place, (inputs, part) in enumerate(zip(situations, parts, strict=True))
        ),
    )


def _simulate_figures(
    inputs: AcceleratorCostInputs, part: FactValues, drawing: CostSampler
) -> dict[str, SimulatedFact]:
    error = drawing.error(inputs.key)
    bands = {name: band for name in _LIMITED if (band := get_interval(part, name)) is not None}
    return {name: draw_interval(band.low, band.value, band.high, -error) for name, band in bands.items()}


#: Objective -> its fact, whether less is better, the unit, and the kind of figure with its error.
_MEASURES: Final[Mapping[ObjectiveName, tuple[str, bool, str, str | None]]] = {
    ObjectiveName.COST: ("usd_per_million", True, "USD/M tokens", "throughput"),
    ObjectiveName.THROUGHPUT: ("tokens_per_s_each", False, "tok/s", "throughput"),
    ObjectiveName.DENSITY: ("tokens_per_s_kw", False, "tok/s per kW", "throughput"),
    ObjectiveName.LATENCY: ("request_s", True, "s", "throughput"),
    ObjectiveName.CAPACITY: ("requests_each", False, "requests", None),
    ObjectiveName.TIME: ("months_to_production", True, "months", None),
}
#: The option of `priority` -> the objective. Costs and the balanced objective depend on known prices.
_BY_PRIORITY: Final[Mapping[str, ObjectiveName]] = {
    "balanced": ObjectiveName.COST,
    "cost": ObjectiveName.COST,
    "speed": ObjectiveName.THROUGHPUT,
    "latency": ObjectiveName.LATENCY,
    "users": ObjectiveName.CAPACITY,
    "certainty": ObjectiveName.TIME,
}
_PRICES: Final = ("price_usd", "rent_usd_per_hour")
#: Logarithmic error scale of exact counts, and error scale of months to production in months.
_EXACT, _MONTHS = 0.02, 0.75
#: Standard deviations between the ends of an 80% interval.
_WIDTH: Final = 2.56


@frozen_dataclass
class CandidateScore:
    """The score of a candidate: a higher `utility` is better, and its error has the `scale`.

    Costs are those by the cheaper way to pay: `log_costs` are draws of their logarithm, `gain` is that of like-for-like
    prices, and `lacking` has the missing input for each way to pay. For other figures it has the figure itself.
    """

    value: IntervalEstimate | None
    utility: float = -math.inf
    scale: float = 1.0
    log_costs: Draws | None = None
    gain: float = 0.0
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
        return CandidateScore(value, sign * value.value, max(_MONTHS, (value.high - value.low) / _WIDTH))
    if kind is None:
        return CandidateScore(value, sign * math.log(max(value.value, 1e-9)), _EXACT)
    return CandidateScore(
        value, sign * math.log(value.value), find_lead_scale(calibration, kind, estimate.basis, estimate.basis)
    )


def _score_cost(
    ground: DecisionFacts, place: int, part: FactValues, payments: Sequence[PaymentBasis], calibration: Calibration
) -> CandidateScore:
    """Return the score of a column by the cheaper way to pay."""
    situation = ground.situations[place]
    lacking: dict[PaymentBasis | None, str] = {
        each: unknown[0]
        for each in payments
        if (unknown := [name for name in each.needed if name not in situation.values])
    }
    estimate, payment = ground.views[place].estimate, find_cheaper_payment(part, payments)
    value = None if payment is None else get_token_cost(part, payment)
    if estimate is None or payment is None or value is None:
        return CandidateScore(None, lacking=lacking)
    return CandidateScore(
        value,
        -math.log(value.value),
        find_lead_scale(calibration, "throughput", estimate.basis, estimate.basis),
        draw_log_costs(situation, payment),
        compute_class_gain(situation, payment),
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
            return max(scores[one].scale, scores[other].scale)
        relation = relate_accelerators(first.column.accelerator, second.column.accelerator)
        error = find_lead_scale(calibration, kind, first.estimate.basis, second.estimate.basis, relation)
        ours, theirs = scores[one].log_costs, scores[other].log_costs
        return error if ours is None or theirs is None else add_price_doubt(error, ours, theirs)

    return find_scale


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
    limits = [(compute_rented_token_cost if basis.rented else compute_owned_token_cost, usd_per_million)]
    if not basis.rented:
        limits.append((compute_upfront_cost, budget_usd))
    prices = []
    for cost, limit in limits:
        free = float(cost({**situation.values, missing: 0.0}, situation.deployment))
        one = float(cost({**situation.values, missing: 1.0}, situation.deployment))
        prices.append((limit - free) / (one - free))
    price = min(prices)
    return price if price > 0.0 else None
