"""Whole systems in racks, demand over the day, and the cost of a fleet: owned, rented, or from an API.

Amounts are arrays: the likely value first, then draws, as in `costing.uncertainty`. A leading second axis is the years
of the horizon. Demand grows at the beginning of each year, and systems are added then; none is sold before the end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.catalog.read import Catalog
from gpudesk.costing.accelerator_costs import (
    Amount,
    CostValues,
    OwnershipInputs,
    compute_upfront_usd,
    cost_software,
    list_ownership_lines,
)
from gpudesk.costing.systems import SystemSpec, find_system
from gpudesk.costing.uncertainty import add_price_doubt, compute_odds
from gpudesk.domain.accelerator import OwnedSystems, SystemKind, count_systems
from gpudesk.domain.cost import CostLine
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.fleet import (
    FLEET_BOUNDS,
    IDLE_SHARE,
    DailyLoadCurve,
    FleetCost,
    FleetSettings,
    Rack,
    RackedSystem,
    Supply,
)
from gpudesk.domain.sizing import Demand, DemandKind, SizingOption, SizingResult
from gpudesk.estimation.sizing.demand import list_demand_factors
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, message
from gpudesk.text.units import HOURS_PER_YEAR, MONTHS_PER_YEAR, SECONDS_PER_HOUR

#: Usable height of a standard rack, in rack units.
RACK_UNITS: Final = 42.0
#: Larger fleets get no racks: too many to look at.
MOST_RACKED: Final = 4_000
#: Three systems of 13.3 kW fill a rack of 40 kW, although a quotient of floats can be just below 3; and 2.0000000001
#: replicas are two.
_ROUNDING: Final = 1e-9
_WATTS: Final = 1000.0


@frozen_dataclass
class ReplicaPacking:
    """How replicas are packed into systems of `slots` accelerators; a replica that fits a system is not split.

    `whole` systems are paid for with their idle accelerators; otherwise slots stay empty.
    """

    replica: int
    slots: int
    whole: bool = True

    @property
    def systems_per_replica(self) -> int:
        return math.ceil(self.replica / self.slots)

    @property
    def replicas_per_system(self) -> int:
        """Replicas per system, 1 if a replica spans systems."""
        return max(1, self.slots // self.replica)

    def count_systems(self, replicas: Amount) -> Amount:
        return np.ceil(np.asarray(replicas) / self.replicas_per_system) * self.systems_per_replica

    def count_accelerators(self, replicas: Amount) -> Amount:
        """Return the accelerators that are paid for."""
        return self.count_systems(replicas) * self.slots if self.whole else np.asarray(replicas) * self.replica

    def count_replicas(self, systems: int) -> int:
        """Return how many replicas this many systems hold."""
        return systems // self.systems_per_replica * self.replicas_per_system


def note_budget(sizing: SizingResult, find_spend: Callable[[Estimate, int], float], budget_usd: float) -> SizingResult:
    """Return a sizing with a note for each option that costs more to buy than the budget."""
    candidates = []
    for option in sizing.candidates:
        usd = 0.0 if option.estimate is None or option.count is None else find_spend(option.estimate, option.count)
        notes = option.notes
        if usd > budget_usd:
            note = message(
                "sizing.over_budget",
                "Costs {spend} to buy, more than your budget of {budget}",
                spend=(usd, "USD"),
                budget=(budget_usd, "USD"),
            )
            notes = (*notes, note)
        candidates.append(replace(option, notes=notes))
    return replace(sizing, candidates=tuple(candidates))


def add_systems(sizing: SizingResult, catalog: Catalog, settings: FleetSettings) -> SizingResult:
    """Return a sizing whose options state the whole systems that hold their accelerators."""
    candidates = tuple(_add_systems(option, catalog, settings) for option in sizing.candidates)
    return replace(sizing, candidates=candidates)


def _add_systems(option: SizingOption, catalog: Catalog, settings: FleetSettings) -> SizingOption:
    part = catalog.accelerator(option.accelerator)
    spec = find_system(part, catalog.list_systems_with(part.id), settings)
    if option.count is None or spec.system is None or spec.refusal is not None:
        return option
    count = count_systems(spec.slots, option.plan.replica, option.count // option.plan.replica)
    kilowatts = None if spec.power_w is None else spec.power_w / _WATTS * count.systems
    return replace(option, systems=OwnedSystems(spec.system, count, kilowatts, spec.power_estimated))


def list_occupancy(
    packing: ReplicaPacking, working: int, spare: int, spare_systems: int
) -> tuple[tuple[int, int], ...]:
    """Return for each system its accelerators in use and spare, those of working replicas first."""
    states = [True] * working + [False] * spare
    size, slots, replicas_per_system = packing.replica, packing.slots, packing.replicas_per_system
    if packing.systems_per_replica == 1:
        groups = [states[start : start + replicas_per_system] for start in range(0, len(states), replicas_per_system)]
        occupancy = [(sum(group) * size, (len(group) - sum(group)) * size) for group in groups]
    else:
        used_slots = [min(slots, size - place) for place in range(0, size, slots)]
        occupancy = [(count, 0) if is_working else (0, count) for is_working in states for count in used_slots]
    return (*occupancy, *[(0, slots)] * spare_systems)


def fill_racks(
    spec: SystemSpec, occupancy: Sequence[tuple[int, int]], accelerator_usd: float | None, limit_kw: float
) -> tuple[Rack, ...]:
    """Return the racks of a fleet, filled from the bottom up to their height or to `limit_kw`.

    `accelerator_usd` is the price of a system per paid accelerator. A rack-scale system, or a system above the limit,
    gets its own rack. Workstations and desktops get none.
    """
    system = spec.system
    if system is not None and system.kind in (SystemKind.WORKSTATION, SystemKind.DESKTOP):
        return ()
    each_kw = (spec.power_w or 0.0) / _WATTS
    height = max(RACK_UNITS, spec.rack_units)
    by_units = math.floor(height / spec.rack_units + _ROUNDING)
    is_rack = system is not None and system.kind is SystemKind.RACK
    by_power = by_units if is_rack or not each_kw else math.floor(limit_kw / each_kw + _ROUNDING)
    room = max(1, min(by_units, by_power))
    return tuple(
        _make_rack(spec, occupancy[start : start + room], accelerator_usd, height, room, by_units)
        for start in range(0, len(occupancy), room)
    )


def _make_rack(
    spec: SystemSpec,
    occupancy: Sequence[tuple[int, int]],
    accelerator_usd: float | None,
    height: float,
    room: int,
    by_units: int,
) -> Rack:
    racked = tuple(
        RackedSystem(
            place * spec.rack_units, spec.rack_units, used, spare, spec.slots - used - spare if spec.is_whole else 0
        )
        for place, (used, spare) in enumerate(occupancy)
    )
    paid = sum(each.used + each.spare + each.idle for each in racked)
    limited_by = None if len(racked) < room else "units" if room == by_units else "power"
    power_kw = (spec.power_w or 0.0) / _WATTS * paid / spec.slots
    return Rack(racked, height, power_kw, None if accelerator_usd is None else paid * accelerator_usd, limited_by)


Draws = NDArray[np.float64]

#: Draws of prices and throughputs; odds have a standard error of about 1.5%.
FLEET_DRAWS: Final = 1_000
_MILLION: Final = 1e6
#: Quantiles at the ends of an 80% interval.
_INTERVAL: Final = (0.1, 0.9)


def check_fleet_settings(settings: FleetSettings) -> None:
    """Check that settings are in range; raises `InputError` that names the field."""
    for name, bounds in FLEET_BOUNDS.items():
        bounds.check(getattr(settings, name), f"fleet.{name}")


@frozen_dataclass
class FleetLoad:
    """Demand over the day and the horizon.

    `peak_demand` is the demand of today's peak hour: requests/s, or requests in flight. `factors` are the demand at the
    beginning of each year over today's, `lengths` the length of each year, of which the last can be shorter.
    """

    demand: Demand
    curve: DailyLoadCurve
    peak_demand: float
    input_tokens: int
    output_tokens: int
    factors: Draws
    lengths: Draws

    @property
    def years(self) -> float:
        return float(self.lengths.sum())

    @property
    def levels(self) -> Draws:
        """Demand of each hour over the peak hour."""
        return np.array(self.curve.multipliers, dtype=np.float64) / self.curve.peak_factor

    @property
    def demand_years(self) -> float:
        """Years of the horizon, each weighted by its demand over today's."""
        return float((self.factors * self.lengths).sum())

    @property
    def user_months(self) -> float | None:
        """User-months; None if the demand is not stated in users."""
        if self.demand.kind is not DemandKind.USERS:
            return None
        return self.demand.amount * self.demand_years * MONTHS_PER_YEAR


def make_fleet_load(
    demand: Demand, curve: DailyLoadCurve, growth: float, years: float, tokens: tuple[int, int]
) -> FleetLoad:
    """Return the load; `tokens` are the input and output tokens of a request."""
    begun = max(1, math.ceil(years - _ROUNDING))
    starts = np.arange(begun, dtype=np.float64)
    peak_demand = math.prod(factor.value for factor in list_demand_factors(demand, tokens[1]))
    lengths = np.minimum(1.0, years - starts)
    return FleetLoad(demand, curve, peak_demand, tokens[0], tokens[1], (1.0 + growth) ** starts, lengths)


@frozen_dataclass
class ReplicaNeeds:
    """Working replicas of an accelerator: in the peak hour, by year and draw, and in every hour of the day.

    `utilization` is the mean load of the replicas of the peak hour over their highest rate. `tokens` are the output
    tokens of the horizon: those of the demand, or, for requests in flight, those that replicas yield with them.
    """

    peak: Draws
    hourly: Draws
    hours: Draws
    utilization: Draws
    requests_per_s: float
    tokens: Draws


def compute_replica_needs(load: FleetLoad, sizing: SizingOption, throughput: Amount) -> ReplicaNeeds:
    """Return the replicas that carry a load; `throughput` is relative to its estimate.

    Requests in flight are limited by memory, not speed: their replicas do not vary with throughput. `hourly` has an
    axis for each distinct level of the curve between years and draws, and `hours` how many hours have it.
    """
    in_flight = load.demand.kind is DemandKind.CONCURRENCY
    varied = np.ones(FLEET_DRAWS + 1) * throughput
    factor = np.ones(FLEET_DRAWS + 1) if in_flight else varied
    capacity = sizing.replica_capacity
    busiest = load.factors[:, None] * (load.peak_demand / (capacity * factor))
    peak = np.maximum(1.0, _round_up(busiest / load.demand.utilisation_cap))
    levels, hours = np.unique(load.levels, return_counts=True)
    hourly = _round_up(busiest[:, None, :] * levels[:, None] / load.demand.utilisation_cap)
    utilization = busiest * load.levels.mean() / peak
    requests = load.peak_demand
    if in_flight and sizing.peak_output_tokens_per_s is not None:
        requests = sizing.peak_output_tokens_per_s.value / load.output_tokens
    tokens = requests * load.levels.mean() * load.output_tokens * HOURS_PER_YEAR * SECONDS_PER_HOUR * load.demand_years
    all_tokens = tokens * (varied if in_flight else np.ones(FLEET_DRAWS + 1))
    return ReplicaNeeds(peak, hourly, hours.astype(np.float64), utilization, requests, all_tokens)


def _round_up(replicas: Draws) -> Draws:
    return np.ceil(replicas - _ROUNDING)


@frozen_dataclass
class SupplyCost:
    """A cost, and its total in each draw."""

    cost: FleetCost
    totals: Draws


def compute_average_draw(draw: Amount, busy_share: Amount) -> Amount:
    """Return the average power draw of accelerators over their maximum, if a share of them is busy at a time.

    `draw` is the relative power of a busy accelerator.
    """
    return draw * (IDLE_SHARE + (1.0 - IDLE_SHARE) * busy_share)


def count_owned(needs: ReplicaNeeds, packing: ReplicaPacking, spare_replicas: int, spare_systems: int) -> Draws:
    bought = packing.count_accelerators(needs.peak + spare_replicas) + spare_systems * packing.slots
    return np.maximum.accumulate(np.asarray(bought, dtype=np.float64), axis=0)


def cost_owned(
    load: FleetLoad, needs: ReplicaNeeds, values: CostValues, machine_w: Amount, owned: Draws, replica: int
) -> SupplyCost:
    """Return the cost of owning `owned` accelerators by year and draw; replicas have `replica` accelerators.

    `machine_w` is the maximum power of an accelerator with its share of the system. The systems added in a year are one
    purchase for the remaining years; its energy follows from the utilization then.
    """
    remaining = np.flip(np.cumsum(np.flip(load.lengths)))[:, None]
    lengths = load.lengths[:, None]
    busy = needs.peak * replica * needs.utilization / owned
    draw = compute_average_draw(values["draw"], busy) * lengths
    # Energy of each purchase over its remaining years; the sum over purchases is the consumption of each year.
    draw = np.flip(np.cumsum(np.flip(draw, axis=0), axis=0), axis=0) / remaining
    added = np.diff(owned, axis=0, prepend=0.0)
    # Software is paid once for all purchases.
    others = {"years": remaining, "accelerator_w": machine_w, "host_w": 0.0, "draw": draw}
    without_software = {"engineers": 0.0, "porting_engineer_months": 0.0}
    bought = OwnershipInputs({**values, **others, **without_software}, added)
    lines = list_ownership_lines(bought)
    software = cost_software(values, owned[0, 0])
    totals = {name: np.broadcast_to(np.asarray(usd), owned.shape).sum(axis=0) for name, usd in lines.items()}
    totals |= {name: np.broadcast_to(np.asarray(usd), owned.shape[1:]) for name, usd in software.items()}
    upfront = np.broadcast_to(np.asarray(compute_upfront_usd(bought)), owned.shape)
    running = (sum(lines.values()) - upfront - lines["residual"]) / remaining
    yearly = np.cumsum(running, axis=0) * lengths
    yearly[1:] += upfront[1:]
    return _make_cost(Supply.OWNED, load, needs, totals, upfront[0], yearly)


def cost_rented(
    load: FleetLoad, needs: ReplicaNeeds, values: CostValues, packing: ReplicaPacking, *, autoscaled: bool
) -> SupplyCost:
    """Return the cost of renting: for the peak hour of each year around the clock, or by the hour.

    Spare replicas are rented in all hours. Instances are rented whole.
    """
    spare = load.demand.spare_replicas
    busiest = np.asarray(packing.count_accelerators(needs.peak + spare), dtype=np.float64)
    rented = busiest
    if autoscaled:
        hourly = np.asarray(packing.count_accelerators(needs.hourly + spare), dtype=np.float64)
        rented = (hourly * needs.hours[:, None]).sum(axis=1) / needs.hours.sum()
    yearly = rented * (load.lengths[:, None] * HOURS_PER_YEAR) * values["rent_usd_per_hour"]
    software = cost_software(values, float(busiest[0, 0]))
    totals = {"rent": yearly.sum(axis=0)}
    totals |= {name: np.broadcast_to(np.asarray(usd), yearly.shape[1:]) for name, usd in software.items()}
    supply = Supply.AUTOSCALED if autoscaled else Supply.RENTED
    cost = _make_cost(supply, load, needs, totals, np.zeros(yearly.shape[1]), yearly)
    return replace(cost, cost=replace(cost.cost, rented_count=int(busiest[0, 0])))


def cost_api(load: FleetLoad, needs: ReplicaNeeds, usd_per_million: Amount) -> SupplyCost:
    """Return the API cost; its price is per million output tokens with their prompts."""
    price = np.ones(FLEET_DRAWS + 1) * usd_per_million
    shares = (load.factors * load.lengths / load.demand_years)[:, None]
    yearly = price * (needs.tokens / _MILLION) * shares
    return _make_cost(Supply.API, load, needs, {"api": yearly.sum(axis=0)}, np.zeros(len(price)), yearly)


def _make_cost(
    supply: Supply, load: FleetLoad, needs: ReplicaNeeds, totals: Mapping[str, Draws], at_once: Draws, yearly: Draws
) -> SupplyCost:
    """Return a cost by its lines; software adds to the upfront cost and to each year."""
    total = np.sum(list(totals.values()), axis=0)
    porting, upkeep = totals.get("porting", 0.0), totals.get("upkeep", 0.0)
    paid = np.vstack([at_once + porting, yearly + upkeep * load.lengths[:, None] / load.years])
    per_million = total / needs.tokens * _MILLION
    *cumulative, whole, tokens = make_intervals(np.vstack([np.cumsum(paid, axis=0), total, per_million]))
    months = load.years * MONTHS_PER_YEAR
    user_months = load.user_months
    cost = FleetCost(
        supply=supply,
        total_usd=whole,
        per_month_usd=_scale(whole, 1.0 / months),
        per_user_month_usd=None if user_months is None else _scale(whole, 1.0 / user_months),
        per_million_tokens_usd=tokens,
        cumulative_usd=tuple(cumulative),
        lines=tuple(CostLine(name, float(usd[0])) for name, usd in totals.items()),
    )
    return SupplyCost(cost, total)


def make_intervals(amounts: Draws) -> tuple[IntervalEstimate, ...]:
    """Return for each row its likely value with the 80% interval of its draws."""
    ordered = np.sort(amounts[:, 1:], axis=1)
    low, high = (ordered[:, round(share * (FLEET_DRAWS - 1))] for share in _INTERVAL)
    likely = amounts[:, 0]
    return tuple(
        IntervalEstimate(*each)
        for each in zip(
            likely.tolist(), np.minimum(low, likely).tolist(), np.maximum(high, likely).tolist(), strict=True
        )
    )


def _scale(interval: IntervalEstimate, factor: float) -> IntervalEstimate:
    return IntervalEstimate(*(each * factor for each in interval))


def state_missing(supply: Supply, missing: Message) -> FleetCost:
    return FleetCost(supply, None, missing=missing)


#: Scale of the error between totals that never differ in the draws, so that any difference decides.
_LEAST_SCALE: Final = 1e-9
#: An API can be free, and zero has no logarithm.
_LEAST_USD: Final = 1e-9


def choose_cheapest(costs: Sequence[tuple[str, SupplyCost]]) -> tuple[tuple[str, Supply] | None, float | None]:
    """Return the accelerator and supply with the lowest likely total, and the odds that it is the cheapest.

    Payment options of one accelerator that never differ count as one: a fleet that cannot scale down has no second
    rent.
    """
    costs = [
        each
        for place, each in enumerate(costs)
        if not any(each[0] == other and np.array_equal(each[1].totals, cost.totals) for other, cost in costs[:place])
    ]
    if not costs:
        return None, None
    logs = np.log(np.maximum(np.stack([each.totals for _, each in costs]), _LEAST_USD))
    utilities = (-logs[:, 0]).tolist()
    odds = compute_odds(
        utilities,
        [True] * len(costs),
        lambda one, other: max(add_price_doubt(0.0, logs[one, 1:], logs[other, 1:]), _LEAST_SCALE),
    )
    best = int(np.argmin(logs[:, 0]))
    accelerator, cheapest = costs[best]
    return (accelerator, cheapest.cost.supply), odds[best]
