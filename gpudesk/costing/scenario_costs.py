"""The costs of an answered scenario, and break-even inputs between two accelerators."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from gpudesk.catalog.price_ranges import ComparablePrices, summarize_api_prices, summarize_system_prices
from gpudesk.costing.accelerator_costs import (
    NEEDED_TO_OWN,
    THROUGHPUT,
    AcceleratorCostInputs,
    PaidDeployment,
    compute_api_usd_per_million,
    compute_hours_to_own,
    compute_months_to_own,
    compute_owned_token_cost,
    compute_payback_hours,
    compute_upfront_cost,
    compute_utilization_to_own,
    cost_provider_rents,
    cost_software,
    count_served_tokens,
    gather_cost_inputs,
    make_cost_column,
    solve_linear_root,
    sum_lines,
)
from gpudesk.costing.inputs import AcceleratorRecords, CostAssumptions, resolve_cost_inputs
from gpudesk.costing.systems import SystemSpec, find_owned_system, list_priced_systems
from gpudesk.costing.uncertainty import (
    DRAW_SEED,
    CostSampler,
    PaymentBasis,
    add_price_doubt,
    compute_class_gain,
    compute_common_error,
    draw_cost_steps,
    draw_log_costs,
    rank_influences,
    shift_lead,
)
from gpudesk.domain.accelerator import Accelerator, System, SystemCount, count_systems, round_up_to_lots
from gpudesk.domain.answer import (
    AcceleratorChoice,
    Answer,
    ComparisonColumn,
    FigureDifference,
    Scenario,
    compute_win_odds,
    rank_figures,
)
from gpudesk.domain.claim import PURCHASE_TERM, PriceSummary, ProviderClass
from gpudesk.domain.cost import (
    AVERAGE_OVER_PEAK,
    COST_INPUTS,
    NO_COST_SETTINGS,
    BreakEven,
    CostAnswer,
    CostColumn,
    CostDefaultSource,
    CostDistribution,
    CostInputOrigin,
    CostSensitivity,
    CostSettings,
    ProviderRent,
    ResolvedCostInput,
    SameProviderRent,
    SystemPrice,
    UncertainValue,
)
from gpudesk.domain.estimate import Estimate, LoadKind
from gpudesk.domain.fleet import NO_FLEET_SETTINGS, FleetSettings, LoadCurveKind, make_load_curve
from gpudesk.domain.progress import ProgressSteps, run_to_end
from gpudesk.domain.registry import COST_FIGURES
from gpudesk.domain.sizing import DemandKind
from gpudesk.engine.calibration import compute_lead_odds, make_ratio_interval
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.units import HOURS_PER_MONTH, MONTHS_PER_YEAR

if TYPE_CHECKING:
    from gpudesk.catalog.read import Catalog


#: Inputs to solve for equal token cost with the baseline, with their units.
TO_TIE = ("price_usd", "discount", "engineers", "energy_usd_per_kwh", THROUGHPUT)
_HALVINGS = 200
_CLOSE = 1e-9
_MILLION = 1e6


def compare_own_and_rent(inputs: AcceleratorCostInputs, column: CostColumn) -> Iterator[BreakEven]:
    """Yield the points above which owning an accelerator is cheaper than renting it; software costs both the same.

    Months are those after which less cash was paid than rent around the clock, if within the planned years. Hours and
    utilization compare all costs of owning with rent for the used hours only.
    """
    tco, software, name = column.tco, column.software, inputs.key
    if tco is None or software is None or "rent_usd_per_hour" not in inputs.values or column.count is None:
        return
    hourly = inputs.values["rent_usd_per_hour"] * column.rented_count
    term = tco.years * MONTHS_PER_YEAR
    months = compute_months_to_own(
        tco.at_once_usd - software.at_once_usd, tco.per_month_usd - software.per_month_usd, hourly * HOURS_PER_MONTH
    )
    yield BreakEven("months_to_own", name, None, float(months) if months <= term else None, "months")
    owned = tco.total_usd - software.at_once_usd - software.per_month_usd * term
    hours = float(compute_hours_to_own(owned, tco.years, hourly))
    yield BreakEven("hours_to_own", name, None, hours if hours <= HOURS_PER_MONTH else None, "h/month")
    share = float(compute_utilization_to_own(owned, tco.years, hourly))
    yield BreakEven("utilisation_to_own", name, None, share if share <= 1.0 else None, None)


def compare_with_api(
    inputs: AcceleratorCostInputs, column: CostColumn, api_usd_per_million: float
) -> Iterator[BreakEven]:
    """Yield the million output tokens per month above which owning, and renting, cost less than a hosted API.

    The deployment's cost does not depend on the load, which is at most that of all hours.
    """
    tokens = column.tokens_per_s
    if tokens is None or not api_usd_per_million > 0.0:
        return
    most = float(count_served_tokens(tokens.value, HOURS_PER_MONTH, 1.0)) / _MILLION
    likely = inputs.values["utilisation"]
    for name, costs in (("tokens_to_own", column.owned), ("tokens_to_rent", column.rented)):
        if costs is None:
            continue
        needed = costs.output.value * likely * most / api_usd_per_million
        yield BreakEven(name, inputs.key, None, needed if needed <= most else None, "M/month")


def compare_port(inputs: AcceleratorCostInputs, rival: AcceleratorCostInputs) -> Iterator[BreakEven]:
    """Yield the hours per month above which lower rents pay back extra software costs.

    Hours are per accelerator that replaces the rival's. Empty if the rival's software costs as much.
    """
    if inputs.deployment is None or rival.deployment is None:
        return
    own, other = _compute_rent_per_rate(inputs), _compute_rent_per_rate(rival)
    if own is None or other is None:
        return
    values = inputs.values
    cost = _sum_fleet_software(values) - _sum_fleet_software(rival.values)
    if cost <= 0.0:
        return
    saved = (other - own) * values[THROUGHPUT] / inputs.deployment.accelerators
    hours = None
    if saved > 0.0:
        hours = float(compute_payback_hours(cost, values["years"] * MONTHS_PER_YEAR, saved))
    yield BreakEven("hours_to_port", inputs.key, rival.key, hours, "h/month")


def _sum_fleet_software(values: Mapping[str, float]) -> float:
    return float(sum_lines(cost_software(values, values["fleet"])))


def _compute_rent_per_rate(inputs: AcceleratorCostInputs) -> float | None:
    rent = inputs.values.get("rent_usd_per_hour")
    if rent is None or inputs.deployment is None or THROUGHPUT not in inputs.values:
        return None
    return rent * inputs.deployment.rented / inputs.values[THROUGHPUT]


def list_ties(inputs: AcceleratorCostInputs, rival: AcceleratorCostInputs) -> Iterator[BreakEven]:
    """Yield for each input the value, all others likely, at which a token costs the same as the rival's."""
    if not inputs.knows(NEEDED_TO_OWN) or not rival.knows(NEEDED_TO_OWN):
        return
    for name in TO_TIE:
        value = solve_for_tie(name, inputs, rival)
        unit = "tok/s" if name == THROUGHPUT else COST_INPUTS[name].unit
        cheaper = None if value is not None else _is_cheaper(inputs, rival)
        yield BreakEven(f"{name}_to_tie", inputs.key, rival.key, value, unit, cheaper, _get_used_value(name, inputs))


def _get_used_value(name: str, inputs: AcceleratorCostInputs) -> UncertainValue | None:
    rate = inputs.tokens_per_s
    if name != THROUGHPUT:
        return inputs.inputs[name].spread
    return None if rate is None else UncertainValue(rate.low, rate.value, rate.high)


def _is_cheaper(inputs: AcceleratorCostInputs, rival: AcceleratorCostInputs) -> bool:
    """Whether a token costs less than the rival's throughout, if no input makes them equal."""
    assert inputs.deployment is not None
    assert rival.deployment is not None
    return _compute_cost_per_token(inputs.values, inputs.deployment, {}) < _compute_cost_per_token(
        rival.values, rival.deployment, {}
    )


def solve_for_tie(name: str, inputs: AcceleratorCostInputs, rival: AcceleratorCostInputs) -> float | None:
    """Return the value of an input at which owning has the same token cost; None if none within bounds.

    An input shared by all accelerators changes for both. Costs over throughput are linear in most inputs, with exact
    roots; the others use bisection.
    """
    deployment, other = inputs.deployment, rival.deployment
    if deployment is None or other is None:
        return None
    shared = name != THROUGHPUT and not COST_INPUTS[name].each

    def difference(value: float) -> float:
        ours = _compute_cost_per_token(inputs.values, deployment, {name: value})
        theirs = _compute_cost_per_token(rival.values, other, {name: value} if shared else {})
        return ours - theirs

    if name == THROUGHPUT:
        return _solve_tied_throughput(inputs.values, deployment, difference)
    low, high = COST_INPUTS[name].bounds.low, COST_INPUTS[name].bounds.high
    with_ends = [value for value in (_solve_line(difference),) if value is not None and low <= value <= high]
    return with_ends[0] if with_ends else _bisect(difference, low, high)


def _compute_cost_per_token(
    values: Mapping[str, float], deployment: PaidDeployment, changed: Mapping[str, float]
) -> float:
    return float(compute_owned_token_cost({**values, **changed}, deployment))


def _solve_tied_throughput(
    values: Mapping[str, float], deployment: PaidDeployment, difference: Callable[[float], float]
) -> float:
    """Return the tokens/s at which costs are equal: cost is inversely proportional to throughput."""
    rate = values[THROUGHPUT]
    ours = _compute_cost_per_token(values, deployment, {})
    return rate * ours / (ours - difference(rate))


def _solve_line(difference: Callable[[float], float]) -> float | None:
    """Return the root of a difference that is linear, None otherwise."""
    root = float(solve_linear_root(difference))
    if not math.isfinite(root):
        return None
    scale = abs(difference(0.0)) + abs(difference(1.0))
    return root if abs(difference(root)) <= _CLOSE * max(scale, abs(root)) else None


def _bisect(difference: Callable[[float], float], low: float, high: float) -> float | None:
    at_low, at_high = difference(low), difference(high)
    if not math.isfinite(at_low) or not math.isfinite(at_high) or (at_low > 0.0) == (at_high > 0.0):
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if (difference(middle) > 0.0) == (at_low > 0.0):
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


#: Origin of a utilization derived from a demand.
_CURVE_SOURCES: Final[Mapping[LoadCurveKind, CostDefaultSource]] = {
    LoadCurveKind.FLAT: CostDefaultSource("load curve: constant"),
    LoadCurveKind.OFFICE: CostDefaultSource("load curve: office hours"),
    LoadCurveKind.GLOBAL: CostDefaultSource("load curve: users worldwide"),
    LoadCurveKind.OVERNIGHT: CostDefaultSource("load curve: overnight jobs"),
    LoadCurveKind.OWN: CostDefaultSource("load curve: yours"),
}
_STATED_PEAK_SOURCE: Final = CostDefaultSource("your peak factor")


def _find_demand_utilization(scenario: Scenario) -> ResolvedCostInput | None:
    """Return the utilization of replicas that carry the peak hour of a demand at their highest allowed load.

    The peak is that of the load curve, unless the user states another peak factor: counts are sized for that one.
    An open loop is that peak already, as are the requests in flight of the demand. The utilization is the same for all
    accelerators, although whole replicas are used a little less. None without a demand.
    """
    demand, load = scenario.demand, scenario.workload.load
    if demand is None:
        return None
    curve = make_load_curve(scenario.fleet)
    peak_factor, curve_source = curve.peak_factor, _CURVE_SOURCES[curve.kind]
    if demand.states_peak:
        peak_factor, curve_source = demand.peak_factor, _STATED_PEAK_SOURCE
    in_flight = math.ceil(demand.amount) if demand.kind is DemandKind.CONCURRENCY else None
    is_peak = load.kind is LoadKind.REQUEST_RATE or (in_flight is not None and load.concurrency == in_flight)
    share = UncertainValue.exactly((1.0 if is_peak else demand.utilisation_cap) / peak_factor)
    source = AVERAGE_OVER_PEAK if is_peak else curve_source
    return ResolvedCostInput("utilisation", CostInputOrigin.DEMAND, share, source=source)


def _count_owned_systems(spec: SystemSpec, estimate: Estimate) -> SystemCount | None:
    """Return the whole systems of a deployment; None if accelerators are bought singly.

    The pools of a disaggregated deployment share systems.
    """
    if not spec.is_whole:
        return None
    replica, copies = (1, estimate.count) if estimate.pools is not None else (estimate.plan.replica, estimate.plan.dp)
    count = count_systems(spec.slots, replica, copies)
    return count if spec.system is None else replace(count, name=spec.system.name)


def _count_idle_rented(rent: ResolvedCostInput, count: int) -> int:
    """Return the accelerators rented beyond `count`, if providers on record rent only whole instances."""
    return round_up_to_lots(count, rent.instance_size) - count


COST_DRAWS: Final = 100_000
_THROUGHPUT_FIGURE: Final = "output_tokens_per_s"
_RENTED_FIGURE: Final = "rented_usd_per_million_output"
_OWNED_FIGURE: Final = "owned_usd_per_million_output"
_API: Final = ("api_input_usd_per_million", "api_output_usd_per_million")


@frozen_dataclass
class _SettingsCache:
    """Results that depend only on settings, model and utilization, by accelerator and its own settings.

    Settings that differ in inputs of single accelerators share them: a price changes the costs of one.
    """

    settings: CostSettings
    fleet: FleetSettings
    model: str | None
    utilization: ResolvedCostInput | None
    inputs: dict[tuple[str, int, _UserInputs], Mapping[str, ResolvedCostInput]] = field(
        default_factory=dict, compare=False
    )
    #: The systems to buy by accelerator.
    systems: dict[str, SystemSpec] = field(default_factory=dict, compare=False)
    #: The last costs of each column by its key, its accelerator and the settings of that.
    columns: dict[tuple[str, str, _UserInputs], _ColumnCosts] = field(default_factory=dict, compare=False)

    def share(self, settings: CostSettings) -> _SettingsCache:
        """Return one for settings that differ in inputs of single accelerators."""
        if max(len(self.inputs), len(self.columns)) > _MOST_SHARED:
            return replace(self, settings=settings, inputs={}, columns={})
        return replace(self, settings=settings)

    def list_user_inputs(self, accelerator: str) -> _UserInputs:
        return tuple(sorted(self.settings.get_accelerator_inputs(accelerator).items()))


#: The user's inputs for one accelerator.
_UserInputs = tuple[tuple[str, UncertainValue], ...]


@dataclass(slots=True)
class _ColumnCosts:
    """The inputs of a column's costs, and the costs once they were asked for."""

    column: ComparisonColumn
    inputs: AcceleratorCostInputs
    costs: CostColumn | None = None


#: Settings of the window, and those that a job tries.
_MOST_SETTINGS: Final = 2
#: Entries that settings with other inputs of single accelerators share before they are dropped.
_MOST_SHARED: Final = 512


class CostCalculator:
    """Computes costs from a catalog's prices."""

    def __init__(self, catalog: Catalog, assumptions: CostAssumptions) -> None:
        self._catalog = catalog
        self.assumptions = assumptions
        #: The last answer with the inputs of its costs, which several callers need.
        self._last: tuple[Answer, tuple[_ColumnCosts, ...]] | None = None
        self._caches: tuple[_SettingsCache, ...] = ()

    @cached_property
    def _prices(self) -> ComparablePrices:
        return ComparablePrices(self._catalog.prices())

    @cached_property
    def _systems(self) -> Mapping[str, Sequence[System]]:
        systems: dict[str, list[System]] = {}
        for each in self._catalog.systems():
            systems.setdefault(each.accelerator, []).append(each)
        return systems

    def situations(self, answer: Answer) -> tuple[AcceleratorCostInputs, ...]:
        return tuple(each.inputs for each in self._list_column_costs(answer))

    def _list_column_costs(self, answer: Answer) -> tuple[_ColumnCosts, ...]:
        # Jobs ask for other answers meanwhile: return that of this call.
        last = self._last
        if last is None or last[0] is not answer:
            cache, pairs = self._cache_of(answer.scenario), zip(answer.keys, answer.columns, strict=True)
            self._last = last = answer, tuple(self._find_column_costs(*pair, cache) for pair in pairs)
        return last[1]

    def _find_column_costs(self, key: str, column: ComparisonColumn, cache: _SettingsCache) -> _ColumnCosts:
        cache_key = key, column.accelerator.id, cache.list_user_inputs(column.accelerator.id)
        column_costs = cache.columns.get(cache_key)
        if column_costs is None or column_costs.column is not column:
            column_costs = cache.columns[cache_key] = _ColumnCosts(column, self._gather(key, column, cache))
        return column_costs

    def _cache_of(self, scenario: Scenario) -> _SettingsCache:
        return self._find_cache(scenario.costs, scenario.fleet, scenario.model, _find_demand_utilization(scenario))

    def _find_cache(
        self,
        settings: CostSettings,
        fleet: FleetSettings = NO_FLEET_SETTINGS,
        model: str | None = None,
        utilization: ResolvedCostInput | None = None,
    ) -> _SettingsCache:
        """Return the cache for these settings. A caller can keep it while other threads replace the list of caches."""
        settings_cache = _SettingsCache(settings, fleet, model, utilization)
        for cache in self._caches:
            if cache == settings_cache:
                return cache
        for cache in self._caches:
            if replace(cache, settings=replace(cache.settings, parts=settings.parts)) == settings_cache:
                settings_cache = cache.share(settings)
                break
        self._caches = (settings_cache, *self._caches[: _MOST_SETTINGS - 1])
        return settings_cache

    def resolve_inputs(
        self, accelerator: Accelerator, count: int, scenario: Scenario
    ) -> Mapping[str, ResolvedCostInput]:
        """Return all inputs of this many accelerators under the settings of a scenario."""
        return self._resolve_count(accelerator, count, self._cache_of(scenario))

    def find_lots(self, accelerators: Sequence[str], scenario: Scenario, *, rented: bool) -> tuple[int, ...]:
        """Return the lot size of each accelerator: a whole system, or a whole instance.

        Without any price costs do not decide, so accelerators count singly.
        """
        if scenario.costs.single_accelerators:
            return (1,) * len(accelerators)
        cache, parts = self._cache_of(scenario), [self._catalog.accelerator(each) for each in accelerators]
        every = [self._resolve_count(part, 1, cache) for part in parts]
        if rented:
            return tuple(inputs["rent_usd_per_hour"].instance_size for inputs in every)
        specs = [self._find_system(part, cache) for part in parts]
        is_priced = any(inputs["price_usd"].spread is not None for inputs in every)
        return tuple(spec.slots if spec.is_whole and is_priced else 1 for spec in specs)

    def compute_token_usd(self, column: ComparisonColumn, scenario: Scenario, *, rented: bool) -> float | None:
        """Return the dollars per million output tokens of a column; None if they are unknown."""
        basis, inputs = PaymentBasis(rented), self._gather(column.choice.accelerator, column, self._cache_of(scenario))
        if inputs.deployment is None or not inputs.knows(basis.needed):
            return None
        return float(basis.compute_token_cost(inputs.values, inputs.deployment))

    def compute_upfront_usd(self, column: ComparisonColumn, scenario: Scenario) -> float | None:
        """Return the dollars paid at once to buy the deployment of a column; None if its cost is unknown."""
        inputs = self._gather(column.choice.accelerator, column, self._cache_of(scenario))
        if inputs.deployment is None or not inputs.knows(NEEDED_TO_OWN):
            return None
        return float(compute_upfront_cost(inputs.values, inputs.deployment))

    def compute_sized_upfront_usd(self, replica: Estimate, count: int, scenario: Scenario) -> float | None:
        """Return the dollars paid at once to buy this many accelerators in replicas like that of an estimate."""
        part = self._catalog.accelerator(replica.request.accelerator)
        whole = replace(replica, count=count, plan=replace(replica.plan, dp=count // replica.plan.replica))
        return self.compute_upfront_usd(ComparisonColumn(AcceleratorChoice(part.id), part, {}, whole, None), scenario)

    def _gather(self, key: str, column: ComparisonColumn, cache: _SettingsCache) -> AcceleratorCostInputs:
        estimate, inputs = column.estimate, self._resolve_inputs(column, cache)
        sold, systems, idle_rented = None, None, 0
        if estimate is not None and estimate.fits:
            sold = _count_owned_systems(self._find_system(column.accelerator, cache), estimate)
            if not cache.settings.single_accelerators:
                systems, idle_rented = sold, _count_idle_rented(inputs["rent_usd_per_hour"], estimate.count)
        return gather_cost_inputs(key, column, inputs, sold, systems, idle_rented)

    def _resolve_inputs(self, column: ComparisonColumn, cache: _SettingsCache) -> Mapping[str, ResolvedCostInput]:
        count = 1 if column.estimate is None else column.estimate.count
        return self._resolve_count(column.accelerator, count, cache)

    def _find_class_ratio(
        self, accelerator: Accelerator, rent: PriceSummary | None, settings: CostSettings
    ) -> UncertainValue | None:
        """Return the usual ratio of specialized clouds' rents to these; None if they offer none."""
        if rent is None or rent.is_user_value or settings.provider_class is not None or accelerator.is_rented_only:
            return None
        if len(rent.classes) != 1 or rent.classes[0] is ProviderClass.SPECIALIZED:
            return None
        return self._prices.find_class_ratio(settings.rent_term, rent.classes[0])

    def _resolve_count(
        self, accelerator: Accelerator, count: int, cache: _SettingsCache
    ) -> Mapping[str, ResolvedCostInput]:
        key = accelerator.id, count, cache.list_user_inputs(accelerator.id)
        inputs = cache.inputs.get(key)
        if inputs is None:
            settings = cache.settings
            terms = (settings.rent_term, settings.provider_class), (PURCHASE_TERM, None)
            prices = {term: price for term, of in terms if (price := self._prices.find(accelerator.id, term, of))}
            if cache.model is not None:
                prices |= summarize_api_prices(self._catalog.api_prices(cache.model))
            systems, system_price = self._list_systems(accelerator.id), self._find_system_price(accelerator, cache)
            ratio = self._find_class_ratio(accelerator, prices.get(settings.rent_term), settings)
            other_rents = () if ratio is None else self._prices.list_specialized_rents(accelerator.id)
            records = AcceleratorRecords(prices, systems, system_price, self._catalog.data_date, ratio, other_rents)
            inputs = resolve_cost_inputs(
                accelerator, count, settings, self.assumptions, records, cache.utilization, self._get_source_title
            )
            cache.inputs[key] = inputs
        return inputs

    def _find_system(self, accelerator: Accelerator, cache: _SettingsCache) -> SystemSpec:
        if accelerator.id not in cache.systems:
            systems = self._list_systems(accelerator.id)
            cache.systems[accelerator.id] = find_owned_system(accelerator, systems, cache.fleet)
        return cache.systems[accelerator.id]

    def _find_system_price(self, accelerator: Accelerator, cache: _SettingsCache) -> SystemPrice | None:
        """Return the cost of one of the systems to buy with an accelerator."""
        spec, systems = self._find_system(accelerator, cache), self._list_systems(accelerator.id)
        priced = list_priced_systems(spec, systems, cache.fleet.systems.get(accelerator.id))
        if not priced:
            return None
        sources = [self._catalog.find_price_source(each.id) for each in priced]
        return SystemPrice(spec.slots, summarize_system_prices(accelerator.id, priced, sources))

    def _list_systems(self, accelerator: str) -> Sequence[System]:
        """Return the systems on record with an accelerator."""
        return self._systems.get(accelerator, ())

    def _get_source_title(self, source: str) -> str:
        return self._catalog.source(source).title

    def costs(self, answer: Answer, *, brief: bool = False) -> CostAnswer:
        """Return the costs of all, and the break-even points: with each other, or if `brief` with rents only."""
        term, situations = answer.scenario.costs.rent_term, self.situations(answer)
        columns = tuple(self._cost_column(each, term) for each in self._list_column_costs(answer))
        breaks: list[BreakEven] = []
        for each, column in zip(situations, columns, strict=True):
            breaks += compare_own_and_rent(each, column)
            if each is not situations[0] and not brief:
                breaks += list_ties(each, situations[0])
                breaks += compare_port(each, situations[0])
        api = _resolve_api_price(situations)
        if api is not None:
            for each, column in zip(situations, columns, strict=True):
                breaks += compare_with_api(each, column, api.value)
        costs = CostAnswer(
            columns, tuple(breaks), api, _get_utilization(situations), _list_missing_api_prices(situations)
        )
        return replace(costs, same_provider=tuple(self._compare_same_provider(costs, term)))

    def _cost_column(self, each: _ColumnCosts, term: str) -> CostColumn:
        if each.costs is None:
            rents = cost_provider_rents(each.inputs, self._prices.list_provider_rents(each.inputs.accelerator, term))
            each.costs = make_cost_column(each.inputs, each.column, rents)
        return each.costs

    def _compare_same_provider(self, costs: CostAnswer, term: str) -> Iterator[SameProviderRent]:
        accelerators = list(dict.fromkeys(column.accelerator for column in costs.columns))
        for accelerator in accelerators[1:]:
            yield from self._prices.compare_same_provider(accelerator, accelerators[0], term)

    def list_provider_rents(self, accelerator: str, term: str) -> tuple[ProviderRent, ...]:
        """Return the newest rent of an accelerator at each provider, the cheapest first."""
        return self._prices.list_provider_rents(accelerator, term)

    def resolve_purchase_price(
        self, accelerator: Accelerator, settings: CostSettings = NO_COST_SETTINGS
    ) -> ResolvedCostInput:
        return self._resolve_count(accelerator, 1, self._find_cache(settings))["price_usd"]

    def cost_column(self, column: ComparisonColumn, settings: CostSettings = NO_COST_SETTINGS) -> CostColumn:
        """Return the costs of a single column, with or without an estimate."""
        accelerator = column.choice.accelerator
        return make_cost_column(self._gather(accelerator, column, self._find_cache(settings)), column)

    def add_costs(self, answer: Answer, costs: CostAnswer | None = None) -> Answer:
        """Return an answer with its costs, and with the comparison of any two columns.

        `costs` are those of the answer if already known.
        """
        costs = costs or self.costs(answer, brief=True)
        return replace(
            answer, costs=costs, differences=(*answer.differences, *self._compare_token_costs(answer, costs))
        )

    def _compare_token_costs(self, answer: Answer, costs: CostAnswer) -> Iterator[FigureDifference]:
        """Yield the ratio of the token costs of any two columns, with the odds that the second costs less.

        Its error is that of the throughput ratio, combined with the prices of each.
        """
        situations = {each.key: each for each in self.situations(answer)}
        columns = {column.key: column for column in costs.columns}
        for difference in answer.differences:
            if difference.figure != _THROUGHPUT_FIGURE:
                continue
            pair = difference.baseline, difference.accelerator
            for figure in COST_FIGURES:
                base, other = (getattr(columns[key], figure) for key in pair)
                if base is None or other is None:
                    continue
                basis = PaymentBasis(rented=figure == _RENTED_FIGURE)
                draws = (draw_log_costs(situations[key], basis) for key in pair)
                scale = add_price_doubt(difference.error_scale, *draws)
                ratio = other.value / base.value
                theirs, ours = (compute_class_gain(situations[key], basis) for key in pair)
                lead = math.exp(shift_lead(-math.log(ratio), ours - theirs))
                interval, odds = make_ratio_interval(ratio, scale), compute_lead_odds(lead, scale)
                yield FigureDifference(figure, pair[1], pair[0], interval, odds)

    def add_reported_discounts(self, settings: CostSettings, scenario: Scenario) -> CostSettings:
        """Return settings with the discounts reported by unnamed buyers, where none is stated."""
        if "discount" in settings.inputs:
            return settings
        for choice in scenario.accelerators:
            if "discount" in settings.get_accelerator_inputs(choice.accelerator):
                continue
            vendor = self._catalog.accelerator(choice.accelerator).vendor
            if (reported := self.assumptions.discounts.get(vendor)) is not None:
                settings = settings.with_input("discount", reported.spread, choice.accelerator)
        return settings

    def influences(self, answer: Answer, position: int, *, rented: bool = False) -> tuple[CostSensitivity, ...]:
        """Return the inputs that move the cost of one accelerator, the largest effect first."""
        return rank_influences(self.situations(answer)[position], PaymentBasis(rented))

    def break_evens(self, answer: Answer, position: int, rival: int) -> tuple[BreakEven, ...]:
        """Return break-even inputs at which owning one accelerator has the token cost of another."""
        situations = self.situations(answer)
        own, other = situations[position], situations[rival]
        return (*list_ties(own, other), *compare_port(own, other))

    def draws(
        self, answer: Answer, *, rented: bool = False, count: int = COST_DRAWS, seed: int = DRAW_SEED
    ) -> CostDistribution:
        """Return the costs in many draws of all uncertain inputs, including the engine's error."""
        return run_to_end(self.draw_steps(answer, rented=rented, count=count, seed=seed))

    def draw_steps(
        self, answer: Answer, *, rented: bool = False, count: int = COST_DRAWS, seed: int = DRAW_SEED
    ) -> ProgressSteps[CostDistribution]:
        """The same as a job."""
        basis, drawing = PaymentBasis(rented), CostSampler(count, seed, compute_common_error(answer))
        return draw_cost_steps(self.situations(answer), basis, drawing, self._compute_odds(answer, basis))

    def _compute_odds(self, answer: Answer, basis: PaymentBasis) -> Mapping[str, float]:
        """Return the odds that each ranked column is the cheapest, as in comparisons, which are calibrated."""
        answer = answer if answer.costs is not None else self.add_costs(answer)
        figure = _RENTED_FIGURE if basis.rented else _OWNED_FIGURE
        odds = compute_win_odds(answer, figure) or dict.fromkeys(rank_figures(answer, figure), 1.0)
        return {answer.keys[place]: share for place, share in odds.items()}


def _resolve_api_price(situations: tuple[AcceleratorCostInputs, ...]) -> IntervalEstimate | None:
    for each in situations:
        input_price, output_price = (each.inputs[name].spread for name in _API)
        if input_price is not None and output_price is not None and each.deployment is not None:
            work = each.deployment
            at = [
                float(compute_api_usd_per_million(input_usd, output_usd, work.input_tokens, work.output_tokens))
                for input_usd, output_usd in zip(
                    (input_price.low, input_price.likely, input_price.high),
                    (output_price.low, output_price.likely, output_price.high),
                    strict=True,
                )
            ]
            return IntervalEstimate(at[1], at[0], at[2])
    return None


def _list_missing_api_prices(situations: tuple[AcceleratorCostInputs, ...]) -> tuple[str, ...]:
    lacking = tuple(name for name in _API if situations and situations[0].inputs[name].spread is None)
    return lacking if len(lacking) == 1 else ()


def _get_utilization(situations: tuple[AcceleratorCostInputs, ...]) -> ResolvedCostInput:
    if situations:
        return situations[0].inputs["utilisation"]
    return ResolvedCostInput("utilisation", CostInputOrigin.NOWHERE, None)
