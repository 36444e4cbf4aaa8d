"""Fleets for a demand: sizing, whole systems, racks, power, load curve, growth and costs."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.catalog.price_ranges import summarize_prices
from gpudesk.catalog.read import Catalog
from gpudesk.costing.accelerator_costs import Amount, compute_api_usd_per_million
from gpudesk.costing.scenario_costs import CostCalculator
from gpudesk.costing.systems import SystemSpec, find_instance, find_system
from gpudesk.costing.uncertainty import (
    DRAW_SEED,
    CostSampler,
    Draws,
    compute_common_share,
    draw_cost_input,
    draw_throughput_factor,
    get_likely,
)
from gpudesk.domain.accelerator import Accelerator, System
from gpudesk.domain.answer import Scenario
from gpudesk.domain.claim import PURCHASE_TERM, PriceRecord
from gpudesk.domain.cost import CostInputOrigin, CostSettings, ResolvedCostInput, UncertainValue
from gpudesk.domain.fleet import (
    DailyLoadCurve,
    FleetAnswer,
    FleetCost,
    FleetHour,
    FleetOption,
    FleetSettings,
    FleetYear,
    SiteCooling,
    Supply,
    make_load_curve,
)
from gpudesk.domain.sizing import Demand, DemandKind, SizingOption, SizingResult
from gpudesk.estimation.estimator import Estimator
from gpudesk.fleet.supply import (
    FLEET_DRAWS,
    MOST_RACKED,
    FleetLoad,
    ReplicaNeeds,
    ReplicaPacking,
    SupplyCost,
    check_fleet_settings,
    choose_cheapest,
    compute_average_draw,
    compute_replica_needs,
    cost_api,
    cost_owned,
    cost_rented,
    count_owned,
    fill_racks,
    list_occupancy,
    make_fleet_load,
    state_missing,
)
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message, MessageParameter, message, message_n
from gpudesk.text.units import MONTHS_PER_YEAR

_WATTS: Final = 1000.0
_GIGA: Final = 1e9
_THROUGHPUT: Final = "output_tokens_per_s"
_WEEKS_PER_MONTH: Final = 52.0 / 12.0
_API_INPUTS: Final = ("api_input_usd_per_million", "api_output_usd_per_million")


class FleetPlanner:
    """Plans fleets from a catalog, its estimates and its costs."""

    def __init__(self, catalog: Catalog, estimator: Estimator, costing: CostCalculator) -> None:
        self._catalog = catalog
        self._estimator = estimator
        self._costing = costing

    def plan(self, scenario: Scenario, stated_demand: Demand) -> FleetAnswer:
        """Return the fleets for a demand; raises `InputError` for an invalid setting.

        The peak hour of the load curve replaces the demand's peak factor.
        """
        settings = scenario.fleet
        check_fleet_settings(settings)
        curve = make_load_curve(settings)
        demand = replace(stated_demand, peak_factor=curve.peak_factor)
        sizing = self._estimator.size(scenario.requests(), demand)
        parts = [self._catalog.accelerator(each.accelerator) for each in sizing.candidates]
        inputs = [
            self._costing.resolve_inputs(part, each.count or 1, scenario)
            for part, each in zip(parts, sizing.candidates, strict=True)
        ]
        years, utilization = inputs[0]["years"].spread, inputs[0]["utilisation"].spread
        work = scenario.workload
        load = make_fleet_load(
            demand,
            curve,
            settings.growth_per_year,
            0.0 if years is None else years.likely,
            (work.input_tokens, work.output_tokens),
        )
        sampler = CostSampler(FLEET_DRAWS, DRAW_SEED, self._compute_common_error(sizing))
        plans = [
            self._plan_accelerator(part, option, cost_inputs, load, settings, scenario.costs, sampler)
            for part, option, cost_inputs in zip(parts, sizing.candidates, inputs, strict=True)
        ]
        api = self._cost_api(scenario, load, inputs, plans)
        costs = [(plan.option.accelerator, each) for plan in plans for each in plan.costs]
        if isinstance(api, SupplyCost):
            costs.append(("", api))
        cheapest, odds = choose_cheapest(costs)
        return FleetAnswer(
            curve=curve,
            horizon_years=load.years,
            options=tuple(plan.option for plan in plans),
            api=api.cost if isinstance(api, SupplyCost) else api,
            cheapest=cheapest,
            odds=odds,
            notes=tuple(_list_demand_notes(stated_demand, curve)),
            growth_per_year=settings.growth_per_year,
            costed_utilization=None if utilization is None else utilization.likely,
        )

    def _compute_common_error(self, sizing: SizingResult) -> float:
        options = [each for each in sizing.candidates if each.estimate is not None]
        bands = [each.output_tokens_per_s for each in options if each.output_tokens_per_s is not None]
        estimates = [each.estimate for each in options if each.estimate is not None]
        ratios = [
            difference.ratio
            for other in estimates[1:]
            for difference in self._estimator.differences(estimates[0], other)
            if difference.figure == _THROUGHPUT
        ]
        return compute_common_share(bands, ratios)

    def _plan_accelerator(
        self,
        part: Accelerator,
        sizing: SizingOption,
        inputs: Mapping[str, ResolvedCostInput],
        load: FleetLoad,
        settings: FleetSettings,
        costs: CostSettings,
        sampler: CostSampler,
    ) -> _AcceleratorPlan:
        systems = self._catalog.list_systems_with(part.id)
        values = {name: _draw(part, name, each) for name, each in inputs.items() if each.spread is not None}
        spec = find_system(part, systems, settings)
        if sizing.count is None:
            return _AcceleratorPlan(FleetOption(part.id, sizing.reason, sizing=sizing))
        rents = [price for price in self._catalog.prices(part.id) if price.term != PURCHASE_TERM]
        is_single = any(price.accelerators_in_instance == 1 for price in rents)
        instance = find_instance(part, systems, settings, sizing.plan.replica, singly=is_single)
        rent = inputs["rent_usd_per_hour"]
        is_named = part.id in settings.instances
        if instance is not None and (is_named or instance.own) and rent.origin is not CostInputOrigin.YOURS:
            listed = _find_instance_rent(instance, rents, costs.rent_term)
            rent = listed if is_named or listed.spread is not None else rent
        throughput: Amount = 1.0
        if sizing.output_tokens_per_s is not None:
            throughput = draw_throughput_factor(sizing.output_tokens_per_s, sampler.error(part.id))
        needs = compute_replica_needs(load, sizing, throughput)
        plan = _AcceleratorPlanner(part, sizing, inputs, values, load, settings, spec, instance, rent, needs).plan()
        providers = self._costing.list_provider_rents(part.id, costs.rent_term)
        return replace(plan, option=replace(plan.option, provider_rents=providers))

    def _cost_api(
        self,
        scenario: Scenario,
        load: FleetLoad,
        inputs: Sequence[Mapping[str, ResolvedCostInput]],
        plans: Sequence[_AcceleratorPlan],
    ) -> SupplyCost | FleetCost:
        """Return the API cost: by the user's prices, or the list prices of the model."""
        needs = next((plan.needs for plan in plans if plan.needs is not None), None)
        if needs is None or load.demand.kind is DemandKind.CONCURRENCY:
            return state_missing(Supply.API, _NO_TOKENS)
        priced = [inputs[0][name] for name in _API_INPUTS]
        user_prices = [each.spread if each.origin is CostInputOrigin.YOURS else None for each in priced]
        prices = self._catalog.api_prices(scenario.model)
        lengths = float(load.input_tokens), float(load.output_tokens)
        if any(user_prices):
            if not all(user_prices):
                return state_missing(Supply.API, _HALF_API_PRICE)
            ends = zip(*(each for each in user_prices if each is not None), strict=True)
            spread = UncertainValue(
                *(
                    float(compute_api_usd_per_million(input_price, output_price, *lengths))
                    for input_price, output_price in ends
                )
            )
            source = message("fleet.api_stated", "Your API prices")
        elif prices:
            charged = [
                float(compute_api_usd_per_million(each.usd_per_million_input, each.usd_per_million_output, *lengths))
                for each in prices
            ]
            spread = UncertainValue(min(charged), statistics.median(charged), max(charged))
            source = message_n(
                "fleet.api_listed",
                "List price of {providers}, {date}",
                "Median list price of {providers}, {date}",
                "count",
                count=len(prices),
                providers=tuple(sorted({each.provider for each in prices})),
                date=max(each.date for each in prices),
            )
        else:
            return state_missing(Supply.API, _NO_API_PRICE)
        cost = cost_api(load, needs, draw_cost_input("", "api_output_usd_per_million", spread, FLEET_DRAWS))
        return replace(cost, cost=replace(cost.cost, source=source))


def _list_demand_notes(demand: Demand, curve: DailyLoadCurve) -> Iterator[Message]:
    """Yield a note if the user's peak factor is replaced by a different one of the load curve."""
    if demand.states_peak and round(demand.peak_factor, 2) != round(curve.peak_factor, 2):
        yield message(
            "fleet.peak_of_curve",
            "The load curve sets the peak: {peak} × average instead of your peak factor of {factor}",
            peak=round(curve.peak_factor, 2),
            factor=demand.peak_factor,
        )


_NO_TOKENS: Final = message(
    "fleet.no_tokens", "Requests in flight give no tokens per day; state users, requests or tokens"
)
_HALF_API_PRICE: Final = message("fleet.half_api_price", "Enter the API's prices for input and for output tokens")
_NO_API_PRICE: Final = message(
    "fleet.no_api_price", "No list price of an API is on record for this model; enter its prices in the cost inputs"
)


@frozen_dataclass
class _AcceleratorPlan:
    """A fleet, its needs, and the totals of its supplies in each draw."""

    option: FleetOption
    needs: ReplicaNeeds | None = None
    costs: tuple[SupplyCost, ...] = ()


@frozen_dataclass
class _AcceleratorPlanner:
    """Inputs for the fleet of one accelerator; `values` are its cost inputs with their draws."""

    part: Accelerator
    sizing: SizingOption
    inputs: Mapping[str, ResolvedCostInput]
    values: Mapping[str, Amount]
    load: FleetLoad
    settings: FleetSettings
    spec: SystemSpec
    instance: System | None
    rent: ResolvedCostInput
    needs: ReplicaNeeds

    @property
    def packing(self) -> ReplicaPacking:
        return ReplicaPacking(self.sizing.plan.replica, self.spec.slots, self.spec.is_whole)

    @property
    def spares(self) -> int:
        return self.load.demand.spare_replicas

    @property
    def is_owned(self) -> bool:
        return self.spec.refusal is None

    @property
    def spare_systems(self) -> int:
        return self.settings.spare_systems if self.is_owned else 0

    def plan(self) -> _AcceleratorPlan:
        spec, packing, spares, spare_systems = self.spec, self.packing, self.spares, self.spare_systems
        working = int(self.needs.peak[0, 0])
        owned = count_owned(self.needs, packing, spares, spare_systems)
        systems = int(packing.count_systems(float(working + spares))) + spare_systems if self.is_owned else 0
        used, spare = working * packing.replica, spares * packing.replica + spare_systems * spec.slots
        costs = (self._own(owned), *self._rent())
        option = FleetOption(
            accelerator=self.part.id,
            reason=None,
            sizing=self.sizing,
            system=spec.system if self.is_owned else None,
            instance=self.instance,
            slots=spec.slots,
            systems=systems,
            spare_systems=spare_systems,
            used=used,
            spare=spare,
            idle=int(owned[0, 0]) - used - spare if self.is_owned else 0,
            systems_per_replica=packing.systems_per_replica,
            fabric_bits_per_s=self._get_fabric(),
            hours=tuple(self._list_hours()),
            utilization=float(self.needs.utilization[0, 0]),
            costs=tuple(each.cost if isinstance(each, SupplyCost) else each for each in costs),
            delivery_weeks=None if spec.system is None else spec.system.delivery_weeks,
            notes=tuple(self._list_notes(systems)),
        )
        if self.is_owned:
            option = self._add_site(option, owned)
        return _AcceleratorPlan(option, self.needs, tuple(each for each in costs if isinstance(each, SupplyCost)))

    def _add_site(self, option: FleetOption, owned: Draws) -> FleetOption:
        """Return the fleet with its racks, its power, and its systems in later years."""
        spec = self.spec
        limit_kw = self.settings.kw_per_rack or get_likely(self.values["rack_kw"])
        usd = None
        if "price_usd" in self.values:
            usd = get_likely(self.values["price_usd"]) * (1.0 + get_likely(self.values["server_share"]))
        power = average = None
        if spec.power_w is not None:
            paid = float(owned[0, 0])
            power = spec.power_w / spec.slots * paid / _WATTS
            busy = option.used * option.utilization / paid
            average = power * get_likely(compute_average_draw(self.values["draw"], busy))
        occupancy: tuple[tuple[int, int], ...] = ()
        if option.systems <= MOST_RACKED:
            working = option.used // self.packing.replica
            occupancy = list_occupancy(self.packing, working, self.spares, option.spare_systems)
        return replace(
            option,
            racks=fill_racks(spec, occupancy, usd, limit_kw),
            power_max_kw=power,
            power_average_kw=average,
            power_estimated=spec.power_estimated,
            years=tuple(self._list_years()),
            months_to_next=self._find_next_month(option.systems - option.spare_systems),
        )

    def _find_power(self) -> Amount | None:
        """Return the maximum power of an accelerator with its share of the system: the user's, or the system's."""
        is_stated = any(self.inputs[name].origin is CostInputOrigin.YOURS for name in ("accelerator_w", "host_w"))
        if is_stated and "accelerator_w" in self.values:
            return self.values["accelerator_w"] + self.values["host_w"]
        return None if self.spec.power_w is None else self.spec.power_w / self.spec.slots

    def _own(self, owned: Draws) -> SupplyCost | FleetCost:
        if self.spec.refusal is not None:
            return state_missing(Supply.OWNED, self.spec.refusal)
        machine_w = self._find_power()
        if machine_w is None or "price_usd" not in self.values:
            return state_missing(
                Supply.OWNED,
                message(
                    "fleet.no_purchase",
                    "Missing purchase price or power of {accelerator}; enter it in the cost inputs",
                    accelerator=self.part.name,
                ),
            )
        cost = cost_owned(self.load, self.needs, self.values, machine_w, owned, self.packing.replica)
        return replace(cost, cost=replace(cost.cost, source=self._describe_price()))

    def _describe_price(self) -> Message:
        price = self.inputs["price_usd"]
        is_user_value = price.prices is not None and price.prices.is_user_value
        if is_user_value or price.origin is CostInputOrigin.YOURS or price.spread is None:
            return message("fleet.price_stated", "Your price, plus a share for server and network")
        if price.system is not None:
            paid = price.system.price
            return message_n(
                "fleet.price_of_systems",
                "System of {size}: {price} in the catalog, plus a share for the network",
                "Systems of {size}: {price} ({count} catalog prices), plus a share for the network",
                "count",
                count=paid.count,
                size=price.system.size,
                price=_state_range(paid.low, paid.high, "USD"),
            )
        return message(
            "fleet.price_of_accelerator",
            "{accelerator}: {price} each in the catalog, plus a share for server and network",
            accelerator=self.part.name,
            price=_state_range(price.spread.low, price.spread.high, "USD"),
        )

    def _rent(self) -> Iterator[SupplyCost | FleetCost]:
        replica = self.sizing.plan.replica
        packing = ReplicaPacking(replica, replica if self.instance is None else self.instance.accelerator_count)
        for supply in (Supply.RENTED, Supply.AUTOSCALED):
            if self.rent.spread is None:
                yield state_missing(supply, self._explain_no_rent())
                continue
            values = {**self.values, "rent_usd_per_hour": _draw(self.part, "rent_usd_per_hour", self.rent)}
            cost = cost_rented(self.load, self.needs, values, packing, autoscaled=supply is Supply.AUTOSCALED)
            # The same hourly rent is listed once.
            source = _describe_rent(self.rent) if supply is Supply.RENTED else None
            rent, record = get_likely(values["rent_usd_per_hour"]), self.rent.record
            classes = () if record is None or self.rent.origin is CostInputOrigin.YOURS else record.classes
            priced = replace(cost.cost, source=source, rent_usd_per_hour=rent, provider_classes=classes)
            yield replace(cost, cost=priced)

    def _explain_no_rent(self) -> Message:
        if self.instance is not None and self.part.id in self.settings.instances:
            return message(
                "fleet.no_rent_of_instance",
                "No price of this term is on record for {instance}; choose another term or instance",
                instance=self.instance.name,
            )
        return message(
            "fleet.no_rent", "Missing rent of {accelerator}; enter it in the cost inputs", accelerator=self.part.name
        )

    def _get_fabric(self) -> float | None:
        system = self.spec.system
        if system is None or self.packing.systems_per_replica == 1 or not self.is_owned:
            return None
        return system.fabric_bits_per_s

    def _list_hours(self) -> Iterator[FleetHour]:
        cap, capacity = self.load.demand.utilisation_cap, self.sizing.replica_capacity
        for level in self.load.levels.tolist():
            level_demand = self.load.peak_demand * level
            replicas = math.ceil(level_demand / (capacity * cap) - 1e-9)
            utilization = level_demand / (capacity * replicas) if replicas else 0.0
            yield FleetHour(self.needs.requests_per_s * level, replicas, utilization)

    def _list_years(self) -> Iterator[FleetYear]:
        packing, before = self.packing, 0
        for year, factor in enumerate(self.load.factors.tolist()):
            replicas = float(self.needs.peak[year, 0]) + self.spares
            systems = max(before, int(packing.count_systems(replicas)) + self.spare_systems)
            yield FleetYear(year + 1, factor, systems, systems - before if year else 0)
            before = systems

    def _find_next_month(self, systems: int) -> float | None:
        """Return the month in which the demand exceeds the working replicas of these systems."""
        growth = self.settings.growth_per_year
        working_replicas = self.packing.count_replicas(systems) - self.spares
        capacity = working_replicas * self.sizing.replica_capacity * self.load.demand.utilisation_cap
        if growth <= 0.0 or capacity <= 0.0:
            return None
        months = max(0.0, MONTHS_PER_YEAR * math.log(capacity / self.load.peak_demand) / math.log1p(growth))
        return months if months < self.load.years * MONTHS_PER_YEAR else None

    def _describe_span(self) -> Message:
        size, count, fabric = self.packing.replica, self.packing.systems_per_replica, self._get_fabric()
        if fabric is None:
            return message(
                "fleet.spans_unknown",
                "A replica of {size} accelerators spans {count} systems; the rate of the network between them is not "
                "published",
                size=size,
                count=count,
            )
        return message(
            "fleet.spans_systems",
            "A replica of {size} accelerators spans {count} systems over a network of {rate} per system",
            size=size,
            count=count,
            rate=(fabric / _GIGA, "Gbit/s"),
        )

    def _list_notes(self, systems: int) -> Iterator[Message]:
        spec, packing = self.spec, self.packing
        if not self.is_owned:
            return
        if spec.system is None:
            yield message_n(
                "fleet.single_cards",
                "{count} accelerator bought individually, in servers of up to {slots}",
                "{count} accelerators bought individually, in servers of up to {slots}",
                "count",
                count=(int(self.needs.peak[0, 0]) + self.spares) * packing.replica,
                slots=spec.slots,
            )
        elif packing.systems_per_replica > 1:
            yield self._describe_span()
        if systems > MOST_RACKED:
            yield message("fleet.no_racks", "Racks of more than {count} systems are not listed", count=MOST_RACKED)
        elif spec.height_estimated and spec.system is not None:
            yield message(
                "fleet.height_estimated",
                "Height in the rack is not published; {units} rack units are assumed",
                units=spec.rack_units,
            )
        if self.settings.cooling is SiteCooling.AIR and spec.system is not None and spec.system.cooling is None:
            yield message(
                "fleet.cooling_unknown",
                "Cooling of {system} is not published; check that air is enough",
                system=spec.system.name,
            )
        months, weeks = self.settings.months_to_live, None if spec.system is None else spec.system.delivery_weeks
        if months is not None and weeks is not None and weeks > months * _WEEKS_PER_MONTH:
            yield message(
                "fleet.late",
                "Delivery takes about {weeks} weeks; the fleet must be in service in {months} months",
                weeks=weeks,
                months=months,
            )


def _describe_rent(rent: ResolvedCostInput) -> Message:
    record = rent.record
    if record is None or record.is_user_value or rent.origin is CostInputOrigin.YOURS:
        return message("fleet.rent_stated", "Your rent")
    return message_n(
        "fleet.rent_listed",
        "{count} price on record, {price}",
        "{median}, the median of {count} prices on record, {price}",
        "count",
        count=record.count,
        median=(record.median, "USD/h"),
        price=_state_range(record.low, record.high, "USD/h"),
    )


def _state_range(low: float, high: float, unit: str) -> MessageParameter:
    if low == high:
        return low, unit
    return message("fleet.price_range", "{low} to {high}", low=(low, unit), high=(high, unit))


def _find_instance_rent(instance: System, prices: Sequence[PriceRecord], term: str) -> ResolvedCostInput:
    """Return the rent per accelerator of a named instance from its provider's list."""
    listed = [
        price
        for price in prices
        if price.provider == instance.provider
        and price.term == term
        and (price.instance == instance.instance or price.accelerators_in_instance == instance.accelerator_count)
    ]
    for record in summarize_prices(listed):
        spread = UncertainValue(record.low, record.median, record.high)
        return ResolvedCostInput("rent_usd_per_hour", CostInputOrigin.RECORD, spread, record=record)
    return ResolvedCostInput("rent_usd_per_hour", CostInputOrigin.NOWHERE, None)


def _draw(part: Accelerator, name: str, cost_input: ResolvedCostInput) -> Amount:
    return 0.0 if cost_input.doubt is None else draw_cost_input(part.id, name, cost_input.doubt, FLEET_DRAWS)
