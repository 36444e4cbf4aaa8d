"""Uncertainty of costs: draws from ranges, their distribution, and the effect of each input.

A range is a triangular distribution. Each uncertain number is an array with its likely value first, then its draws; an
input has the same error in every use.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpudesk.costing.accelerator_costs import (
    NEEDED_TO_OWN,
    NEEDED_TO_RENT,
    OF_OWNING,
    OF_RENTING,
    THROUGHPUT,
    AcceleratorCostInputs,
    Amount,
    CostValues,
    PaidDeployment,
    compute_owned_token_cost,
    compute_rented_token_cost,
)
from gpudesk.domain.answer import Answer, compute_best_odds
from gpudesk.domain.cost import COST_INPUTS, CostDistribution, CostSensitivity, UncertainValue
from gpudesk.domain.progress import JobProgress, ProgressSteps
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import message

Draws = NDArray[np.float64]

#: Quantiles at the ends of an 80% interval.
_BAND_TAIL: Final = 0.1
#: The 90th percentile of a standard normal distribution.
_NORMAL_90: Final = 1.2815515655446004


class InputSwing(NamedTuple):
    """The result with one input at its low and at its high end, all others likely."""

    name: str
    at_low: float
    at_high: float

    @property
    def width(self) -> float:
        return abs(self.at_high - self.at_low)


def draw_uniform(seed: int, name: str, count: int) -> Draws:
    """Return numbers from 0 to 1 that depend only on the seed and the name.

    So the draws of an input do not change with other inputs or accelerators.
    """
    return _make_generator(seed, name).random(count)


def draw_normal(seed: int, name: str, count: int) -> Draws:
    """Return standard normal numbers that depend only on the seed and the name."""
    return _make_generator(seed, name).standard_normal(count)


def _make_generator(seed: int, name: str) -> np.random.Generator:
    digest = hashlib.blake2b(name.encode(), digest_size=8).digest()
    return np.random.default_rng([seed, int.from_bytes(digest, "little")])


def draw_triangular(spread: UncertainValue, uniform: Draws) -> Draws:
    """Return draws of a range from uniform ones; raises ValueError if it is not in order."""
    low, likely, high = spread
    if not low <= likely <= high:
        raise ValueError(f"range {spread} is not in order")
    if low == high:
        return np.full_like(uniform, likely)
    width = high - low
    peak = (likely - low) / width
    with np.errstate(invalid="ignore"):
        rising = low + np.sqrt(uniform * width * (likely - low))
        falling = high - np.sqrt((1.0 - uniform) * width * (high - likely))
    return np.where(uniform < peak, rising, falling)


def draw_interval(low: float, value: float, high: float, normal: Draws) -> Draws:
    """Return draws of an estimate from its 80% interval and normal draws.

    They are normal on a logarithmic scale below and above the value, with the width of each side.
    """
    if not 0.0 < low <= value <= high:
        raise ValueError(f"band {low}, {value}, {high} is not in order or not above 0")
    deviation = normal / _NORMAL_90
    below, above = np.log(value / low), np.log(high / value)
    factors: Draws = np.exp(np.where(deviation < 0.0, deviation * below, deviation * above))
    return value * factors


def compute_quantiles(draws: Draws) -> tuple[float, float, float]:
    """Return both ends of the 80% interval, and the median between them."""
    low, middle, high = np.quantile(draws, (_BAND_TAIL, 0.5, 1.0 - _BAND_TAIL)).tolist()
    return low, middle, high


def compute_swings(
    inputs: Mapping[str, UncertainValue], result: Callable[[Mapping[str, Draws]], Draws]
) -> tuple[InputSwing, ...]:
    """Return the effect of each input on a result by itself, the largest first.

    `result` is called once, with both ends of all inputs in turn as arrays.
    """
    uncertain = [name for name, spread in inputs.items() if not spread.is_known]
    values = {name: np.full(2 * len(uncertain), spread.likely) for name, spread in inputs.items()}
    for place, name in enumerate(uncertain):
        values[name][2 * place : 2 * place + 2] = inputs[name].low, inputs[name].high
    ends = np.broadcast_to(result(values), (2 * len(uncertain),)).reshape(-1, 2).tolist()
    swings = [InputSwing(name, *pair) for name, pair in zip(uncertain, ends, strict=True)]
    return tuple(sorted(swings, key=lambda swing: -swing.width))


_BINS: Final = 60
#: The histogram ends at this quantile of the draws of all accelerators, and begins at the lowest draw.
_HISTOGRAM_END: Final = 0.99
_COMMON: Final = "throughput of all"
_RENT: Final = "rent_usd_per_hour"


@frozen_dataclass
class PaymentBasis:
    """How tokens are paid for, and the inputs of that."""

    rented: bool

    @property
    def name(self) -> str:
        return "rented" if self.rented else "owned"

    @property
    def needed(self) -> tuple[str, ...]:
        return NEEDED_TO_RENT if self.rented else NEEDED_TO_OWN

    @property
    def inputs(self) -> tuple[str, ...]:
        return OF_RENTING if self.rented else OF_OWNING

    @property
    def compute_token_cost(self) -> Callable[[CostValues, PaidDeployment], Amount]:
        """The cost per million output tokens, in USD."""
        return compute_rented_token_cost if self.rented else compute_owned_token_cost


def list_input_ranges(inputs: AcceleratorCostInputs, basis: PaymentBasis) -> dict[str, UncertainValue]:
    spreads = {
        name: spread
        for name in basis.inputs
        if name != THROUGHPUT and (spread := inputs.inputs[name].doubt) is not None
    }
    rate = inputs.tokens_per_s
    if rate is not None:
        spreads[THROUGHPUT] = UncertainValue(rate.low, rate.value, rate.high)
    return spreads


def rank_influences(inputs: AcceleratorCostInputs, basis: PaymentBasis) -> tuple[CostSensitivity, ...]:
    """Return the effect of each uncertain input on a million output tokens, the largest first."""
    if not inputs.knows(basis.needed) or inputs.deployment is None:
        return ()
    deployment = inputs.deployment
    per_million = basis.compute_token_cost
    spreads = list_input_ranges(inputs, basis)
    moved = compute_swings(spreads, lambda values: np.asarray(per_million(values, deployment)))
    return tuple(
        CostSensitivity(each.name, each.at_low, each.at_high, spreads[each.name].low, spreads[each.name].high)
        for each in moved
    )


def draw_cost_steps(
    situations: Sequence[AcceleratorCostInputs], basis: PaymentBasis, drawing: CostSampler, odds: Mapping[str, float]
) -> ProgressSteps[CostDistribution]:
    """Draw the costs of all accelerators in common draws, one accelerator per step.

    `odds` are those of the cheapest.
    """
    costs: dict[str, Draws] = {}
    for number, inputs in enumerate(situations):
        yield JobProgress(message("costs.drawing", "Simulating costs"), number, len(situations))
        if (cost_draws := drawing.costs(inputs, basis)) is not None:
            costs[inputs.key] = cost_draws
    return _summarize_draws(costs, odds, drawing, rented=basis.rented)


#: Draws whose costs are computed at once.
_BLOCK: Final = 10_000


class CostSampler:
    """Draws of all cost inputs: inputs that accelerators share are drawn once for all."""

    def __init__(self, count: int, seed: int, common: float) -> None:
        """Make this many draws; `common` is the shared part of the variance of throughput's error."""
        self.count, self.seed, self.common = count, seed, common
        self._together = draw_normal(seed, _COMMON, count)
        self._shared: dict[str, Draws] = {}

    def error(self, key: str) -> Draws:
        """Return the error of the throughput of a column in each draw, as a standard normal number."""
        own = draw_normal(self.seed, f"{THROUGHPUT} of {key}", self.count)
        return math.sqrt(self.common) * self._together + math.sqrt(1.0 - self.common) * own

    def costs(self, inputs: AcceleratorCostInputs, basis: PaymentBasis) -> Draws | None:
        """Return the cost per million output tokens in each draw; None if an input is missing."""
        if not inputs.knows(basis.needed) or inputs.deployment is None:
            return None
        per_million = basis.compute_token_cost
        values: dict[str, Draws | float] = {}
        for name, spread in list_input_ranges(inputs, basis).items():
            if name == THROUGHPUT:
                values[name] = draw_interval(spread.low, spread.likely, spread.high, self.error(inputs.key))
            elif spread.is_known:
                values[name] = spread.likely
            else:
                values[name] = _draw_input(inputs, name, spread, self._shared, self.count, self.seed)
        costs = np.empty(self.count)
        # Block by block: every line of the costs is an array too.
        for block in (slice(start, start + _BLOCK) for start in range(0, self.count, _BLOCK)):
            inputs_of_block = {
                name: value[block] if isinstance(value, np.ndarray) else value for name, value in values.items()
            }
            costs[block] = per_million(inputs_of_block, inputs.deployment)
        return costs


def _draw_input(
    inputs: AcceleratorCostInputs, name: str, spread: UncertainValue, shared: dict[str, Draws], count: int, seed: int
) -> Draws:
    """Return draws of an input: per accelerator if it is individual, the same for all otherwise."""
    if COST_INPUTS[name].each:
        return draw_triangular(spread, draw_uniform(seed, _name_draws(inputs.accelerator, name), count))
    if name not in shared:
        shared[name] = draw_triangular(spread, draw_uniform(seed, name, count))
    return shared[name]


def _summarize_draws(
    costs: Mapping[str, Draws], odds: Mapping[str, float], drawing: CostSampler, *, rented: bool
) -> CostDistribution:
    if not costs:
        return CostDistribution(drawing.count, drawing.seed, rented, {}, {}, (), {})
    every = np.concatenate([each[:: max(1, drawing.count // 20_000)] for each in costs.values()])
    low, high = min(float(each.min()) for each in costs.values()), float(np.quantile(every, _HISTOGRAM_END))
    edges = np.linspace(low, high if high > low else low + max(abs(low), 1.0) * 1e-6, _BINS + 1)
    return CostDistribution(
        n=drawing.count,
        seed=drawing.seed,
        rented=rented,
        cheapest=odds,
        quantiles={name: compute_quantiles(each) for name, each in costs.items()},
        edges=tuple(edges.tolist()),
        histogram={name: tuple(int(n) for n in np.histogram(each, edges)[0]) for name, each in costs.items()},
    )


#: The variance of a logistic distribution of scale 1.
_LOGISTIC_VARIANCE: Final = math.pi**2 / 3.0
_PRICE_DRAWS: Final = 512


def draw_log_costs(inputs: AcceleratorCostInputs, basis: PaymentBasis) -> Draws:
    """Return the logarithm of a cost in draws of all its inputs but throughput, which stays at its estimate.

    Rents are like for like. A draw has the same shared inputs for all accelerators and both ways to pay, so shared
    uncertainty cancels in a difference. They are cached with the inputs.
    """
    if basis.rented in inputs.log_costs:
        return inputs.log_costs[basis.rented]
    assert inputs.deployment is not None
    values: dict[str, Amount] = dict(inputs.values)
    for name, spread in list_input_ranges(inputs, basis).items():
        if name != THROUGHPUT and not spread.is_known:
            like_for_like = inputs.inputs[name].like_for_like or spread
            values[name] = _draw_cost_input(_name_draws(inputs.accelerator, name), like_for_like)
    per_million = basis.compute_token_cost
    costs = np.log(np.asarray(per_million(values, inputs.deployment)))
    return inputs.log_costs.setdefault(basis.rented, np.broadcast_to(costs, (_PRICE_DRAWS,)))


def compute_class_gain(inputs: AcceleratorCostInputs, payment: PaymentBasis) -> float:
    """Return by how much the logarithm of a cost is lower at the usual rent of specialized clouds.

    0 if the rent on record is like for like, or the cost unknown.
    """
    rent, deployment = inputs.inputs[_RENT].like_for_like, inputs.deployment
    if rent is None or deployment is None or not inputs.knows(payment.needed):
        return 0.0
    now, usual = (
        float(np.asarray(payment.compute_token_cost({**inputs.values, _RENT: usd}, deployment)))
        for usd in (inputs.values[_RENT], rent.likely)
    )
    return math.log(now / usual)


def add_price_doubt(error_scale: float, ours: Draws, theirs: Draws) -> float:
    """Return the logistic error scale of a cost ratio from that of throughputs and draws of both costs."""
    return math.sqrt(error_scale**2 + float(np.var(ours - theirs)) / _LOGISTIC_VARIANCE)


def shift_lead(lead: float, gain: float) -> float:
    """Return a lead after a gain in like-for-like prices, which never make a higher cost on record lead."""
    return lead + gain if lead * (lead + gain) > 0.0 else 0.0


PairScale = Callable[[int, int], float]


def compute_odds(
    ranks: Sequence[float], eligible: Sequence[bool], find_scale: PairScale, gains: Sequence[float] | None = None
) -> list[float]:
    """Return the odds that each candidate is the best, 0 for the others; the error of two ranks is logistic.

    `gains` are those of like-for-like prices.
    """
    running = [place for place, can in enumerate(eligible) if can]
    if not running:
        return [0.0] * len(ranks)
    best = max(running, key=lambda place: ranks[place])
    gains = gains or [0.0] * len(ranks)
    ahead = {
        place: 1.0 / (1.0 + math.exp(-lead / find_scale(best, place)))
        for place in running
        if place != best
        for lead in [shift_lead(ranks[best] - ranks[place], gains[best] - gains[place])]
    }
    odds = compute_best_odds(best, ahead)
    return [odds.get(place, 0.0) for place in range(len(ranks))]


@lru_cache(maxsize=128)
def _draw_cost_input(name: str, spread: UncertainValue) -> Draws:
    return draw_triangular(spread, draw_uniform(DRAW_SEED, name, _PRICE_DRAWS))


_THROUGHPUT: Final = "output_tokens_per_s"


def compute_common_error(answer: Answer) -> float:
    """Return the shared part of the variance of throughput's error.

    The interval of a ratio is as wide as the part that is not shared: with variance v of each error and the shared part
    c, the ratio has the variance 2 v (1 - c).
    """
    bands = [
        estimate.output_tokens_per_s
        for column in answer.columns
        if (estimate := column.estimate) is not None and estimate.output_tokens_per_s is not None
    ]
    ratios = [each.ratio for each in answer.differences if each.figure == _THROUGHPUT]
    return compute_common_share(bands, ratios)


def compute_common_share(bands: Sequence[IntervalEstimate], ratios: Sequence[IntervalEstimate]) -> float:
    """Return that part from the intervals of throughputs and of their ratios; 0 if either is missing."""
    if not bands or not ratios:
        return 0.0
    own = sum(math.log(each.high / each.low) ** 2 for each in bands) / len(bands)
    apart = sum(math.log(each.high / each.low) ** 2 for each in ratios) / len(ratios)
    return 0.0 if own <= 0.0 else min(max(1.0 - apart / (2.0 * own), 0.0), 1.0)


DRAW_SEED: Final = 1


INPUT_DRAWS: Final = 20_000
#: A range is an 80% interval.
_INTERVAL_ENDS: Final = (0.1, 0.9)


class DrawTable:
    """Draws of inputs; all accelerators share them.

    `common` is the shared part of the variance of throughput's error.
    """

    def __init__(self, common: float, count: int = INPUT_DRAWS, seed: int = DRAW_SEED) -> None:
        self._drawing = CostSampler(count, seed, common)

    def number(self, name: str, spread: UncertainValue) -> Amount:
        """Return draws of an uncertain number by its range; a certain one stays a number."""
        if spread.is_known:
            return spread.likely
        draws = draw_triangular(spread, draw_uniform(self._drawing.seed, name, self._drawing.count))
        return _prepend_likely(spread.likely, draws)

    def rate(self, inputs: AcceleratorCostInputs, band: IntervalEstimate) -> Amount:
        """Return draws of an accelerator's throughput by its interval; all accelerators have the same error."""
        if band.low == band.high:
            return band.value
        draws = draw_interval(band.low, band.value, band.high, self._drawing.error(inputs.key))
        return _prepend_likely(band.value, draws)

    def inputs(self, cost_inputs: AcceleratorCostInputs) -> dict[str, Amount]:
        """Return every input of an accelerator that has a value, including its throughput."""
        values = {
            each.name: self.number(_name_draws(cost_inputs.accelerator, each.name), spread)
            for each in cost_inputs.inputs.values()
            if (spread := each.doubt) is not None
        }
        if cost_inputs.tokens_per_s is not None:
            values[THROUGHPUT] = self.rate(cost_inputs, cost_inputs.tokens_per_s)
        return values


@lru_cache(maxsize=128)
def draw_cost_input(accelerator: str, name: str, spread: UncertainValue, count: int) -> Amount:
    """Return an input with its likely value first, then its draws; a certain one stays a number.

    Draws are cached, since a form asks for the same inputs at every step.
    """
    if spread.is_known:
        return spread.likely
    uniform = draw_uniform(DRAW_SEED, _name_draws(accelerator, name), count)
    return _prepend_likely(spread.likely, draw_triangular(spread, uniform))


def draw_throughput_factor(band: IntervalEstimate, error: Draws) -> Amount:
    """Return the ratio of a throughput to its estimate, 1 first, then its draws."""
    if band.low == band.high:
        return 1.0
    return _prepend_likely(1.0, draw_interval(band.low / band.value, 1.0, band.high / band.value, error))


def _name_draws(accelerator: str, name: str) -> str:
    return f"{name} of {accelerator}" if COST_INPUTS[name].each else name


def _prepend_likely(likely: float, draws: Draws) -> Draws:
    return np.concatenate(([likely], draws))


def get_likely(amount: Amount) -> float:
    return float(np.ravel(amount)[0])


def compute_range(amount: Amount) -> UncertainValue:
    """Return the likely value with the 80% interval of its draws; ends can be infinite."""
    # Without negative zeros.
    values = np.ravel(np.asarray(amount, dtype=np.float64)) + 0.0
    if len(values) == 1:
        return UncertainValue.exactly(float(values[0]))
    sorted_draws, likely = np.sort(values[1:]), float(values[0])
    # No interpolation between draws: ends can be infinite.
    low, high = (float(sorted_draws[round(share * (len(sorted_draws) - 1))]) for share in _INTERVAL_ENDS)
    return UncertainValue(min(low, likely), likely, max(high, likely))


def compute_range_or_none(amount: Amount | None) -> UncertainValue | None:
    return None if amount is None else compute_range(amount)


def compute_share_above(amount: Amount, limit: float = 0.0) -> float:
    """Return the share of draws in which an amount is above a limit; ties count half."""
    values = np.ravel(np.asarray(amount, dtype=np.float64))
    draws = values[1:] if len(values) > 1 else values
    return float(np.mean(draws > limit) + np.mean(draws == limit) / 2.0)
