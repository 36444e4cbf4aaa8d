"""Costs: inputs with bounds, the user's settings, and results. US dollars before taxes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, replace
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple, TypeVar

from gpudesk.domain.accelerator import SOFTWARE_PLATFORMS, SystemCount, round_up_to_lots
from gpudesk.domain.claim import PriceSummary, ProviderClass
from gpudesk.domain.field_checks import (
    FieldCheck,
    accept_boolean,
    accept_entries,
    accept_number,
    accept_text,
    accept_word,
    check_fields,
)
from gpudesk.domain.sizing import NumberBounds
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, message
from gpudesk.text.translation import LabeledEnum

_V = TypeVar("_V")


class UncertainValue(NamedTuple):
    """An uncertain number: at least `low`, most likely `likely`, at most `high`."""

    low: float
    likely: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> UncertainValue:
        return cls(value, value, value)

    @classmethod
    def around(cls, likely: float, share: float) -> UncertainValue:
        ends = sorted((likely * (1.0 - share), likely * (1.0 + share)))
        return cls(ends[0], likely, ends[1])

    @property
    def is_known(self) -> bool:
        return self.low == self.high

    @property
    def in_order(self) -> bool:
        return self.low <= self.likely <= self.high

    def find_quantile(self, share: float) -> float:
        """Return a quantile of the triangular distribution."""
        width = self.high - self.low
        if share * width <= self.likely - self.low:
            return self.low + math.sqrt(share * width * (self.likely - self.low))
        return self.high - math.sqrt((1.0 - share) * width * (self.high - self.likely))


class CostInputGroup(LabeledEnum):
    """The subject of an input, in the order of forms."""

    USE = "use", "Use"
    HARDWARE = "hardware", "Hardware"
    MONEY = "money", "Cost of capital"
    SITE = "site", "Site and energy"
    SERVICE = "service", "Service"
    SOFTWARE = "software", "Software engineering"
    RENT = "rent", "Rental price"
    API = "api", "Hosted API"
    CARBON = "carbon", "Carbon"


class CostInputOrigin(StrEnum):
    """Where the value of an input comes from."""

    YOURS = "yours"
    RECORD = "record"
    DEMAND = "demand"
    DEFAULT = "default"
    NOWHERE = "nowhere"


@frozen_dataclass
class CostInput:
    """One input: `unit` is None for shares of 1 and plain numbers. `each` inputs are set per accelerator."""

    name: str
    group: CostInputGroup
    unit: str | None
    bounds: NumberBounds
    each: bool = False


def _share(high: float = 1.0) -> NumberBounds:
    return NumberBounds(0.0, high)


_MOST_USD: Final = 1e8
_COST_INPUTS: Final = (
    CostInput("years", CostInputGroup.USE, "years", NumberBounds(0.25, 15.0)),
    CostInput("utilisation", CostInputGroup.USE, None, NumberBounds(0.0, 1.0, above=True)),
    CostInput("requests_per_user_month", CostInputGroup.USE, None, NumberBounds(0.0, 1e7, above=True)),
    CostInput("price_usd", CostInputGroup.HARDWARE, "USD", NumberBounds(0.0, _MOST_USD, above=True), each=True),
    CostInput("discount", CostInputGroup.HARDWARE, None, _share(0.95), each=True),
    CostInput("server_share", CostInputGroup.HARDWARE, None, _share(10.0)),
    CostInput("network_share", CostInputGroup.HARDWARE, None, _share(10.0)),
    CostInput("rack_share", CostInputGroup.HARDWARE, None, _share(10.0)),
    CostInput("spares", CostInputGroup.HARDWARE, None, _share(2.0)),
    CostInput("residual", CostInputGroup.HARDWARE, None, _share(0.95)),
    CostInput("capital_rate", CostInputGroup.MONEY, None, _share(1.0)),
    CostInput("energy_usd_per_kwh", CostInputGroup.SITE, "USD/kWh", NumberBounds(0.0, 10.0)),
    CostInput("pue", CostInputGroup.SITE, None, NumberBounds(1.0, 5.0)),
    CostInput("accelerator_w", CostInputGroup.SITE, "W", NumberBounds(0.0, 1e5, above=True), each=True),
    CostInput("host_w", CostInputGroup.SITE, "W", NumberBounds(0.0, 1e5), each=True),
    CostInput("draw", CostInputGroup.SITE, None, NumberBounds(0.0, 1.5, above=True)),
    CostInput("idle_draw", CostInputGroup.SITE, None, _share()),
    CostInput("demand_usd_per_kw_month", CostInputGroup.SITE, "USD/kW/month", NumberBounds(0.0, 1e4)),
    CostInput("hosting_usd_per_kw_month", CostInputGroup.SITE, "USD/kW/month", NumberBounds(0.0, 1e4)),
    CostInput("rack_kw", CostInputGroup.SITE, "kW", NumberBounds(0.0, 1e4, above=True)),
    CostInput("support", CostInputGroup.SERVICE, None, _share(1.0)),
    CostInput("staff_usd_per_year", CostInputGroup.SERVICE, "USD/year", NumberBounds(0.0, _MOST_USD)),
    CostInput("engineer_usd_per_year", CostInputGroup.SOFTWARE, "USD/year", NumberBounds(0.0, _MOST_USD)),
    CostInput("engineers", CostInputGroup.SOFTWARE, None, NumberBounds(0.0, 1e5), each=True),
    CostInput("porting_engineer_months", CostInputGroup.SOFTWARE, "months", NumberBounds(0.0, 1e5), each=True),
    CostInput("fleet", CostInputGroup.SOFTWARE, None, NumberBounds(1.0, 1e8)),
    CostInput("rent_usd_per_hour", CostInputGroup.RENT, "USD/h", NumberBounds(0.0, 1e5, above=True), each=True),
    CostInput("api_input_usd_per_million", CostInputGroup.API, "USD/M", NumberBounds(0.0, 1e6)),
    CostInput("api_output_usd_per_million", CostInputGroup.API, "USD/M", NumberBounds(0.0, 1e6)),
    CostInput("grid_g_per_kwh", CostInputGroup.CARBON, "g/kWh", NumberBounds(0.0, 1e4)),
    CostInput("embodied_kg", CostInputGroup.CARBON, "kg", NumberBounds(0.0, 1e6), each=True),
)
#: All inputs by name, in the order of forms.
COST_INPUTS: Final[Mapping[str, CostInput]] = {each.name: each for each in _COST_INPUTS}

#: Rental terms in the order of the interface.
RENT_TERMS: Final = ("on_demand", "spot", "reserved", "reserved_1y", "reserved_3y", "capacity_block")
#: Provider classes to which rents can be limited.
COMPARED_CLASSES: Final = (ProviderClass.SPECIALIZED, ProviderClass.HYPERSCALER, ProviderClass.MARKETPLACE)


@frozen_dataclass
class DisplayCurrency:
    """The displayed currency: on `date`, one US dollar was `per_usd` of it."""

    code: str
    per_usd: float
    date: str


_NOTHING: Final[Mapping[str, UncertainValue]] = {}
_NOBODY: Final[Mapping[str, Mapping[str, UncertainValue]]] = {}


@frozen_dataclass
class CostSettings:
    """The user's cost settings; everything else is from the catalog, or the program's default.

    `inputs` apply to all accelerators, `parts` to one by its id. `rent_term` is the term of the catalog's rents, and
    `provider_class` the class of their providers if any has it; without it, the first class that rents the accelerator,
    independent of the other columns. `around` widens every input by this share on both sides. Software is ported to
    accelerators of other platforms than `runs_on`; without a platform, no porting is charged. Whole systems are owned,
    unless `single_accelerators` charges only those that a deployment uses.
    """

    inputs: Mapping[str, UncertainValue] = field(default_factory=lambda: _NOTHING)
    parts: Mapping[str, Mapping[str, UncertainValue]] = field(default_factory=lambda: _NOBODY)
    rent_term: str = RENT_TERMS[0]
    provider_class: ProviderClass | None = None
    runs_on: str | None = None
    around: float | None = None
    single_accelerators: bool = False
    currency: DisplayCurrency | None = None

    def get_accelerator_inputs(self, accelerator: str) -> Mapping[str, UncertainValue]:
        return self.parts.get(accelerator, _NOTHING)

    def with_input(self, name: str, spread: UncertainValue | None, accelerator: str | None = None) -> CostSettings:
        """Return the settings with an input for all, or for one accelerator; None leaves it to the program."""
        if accelerator is None:
            return replace(self, inputs=replace_entry(self.inputs, name, spread))
        part = replace_entry(self.get_accelerator_inputs(accelerator), name, spread)
        return replace(self, parts=replace_entry(self.parts, accelerator, part or None))


#: No settings.
NO_COST_SETTINGS: Final = CostSettings()


def replace_entry(values: Mapping[str, _V], name: str, value: _V | None) -> dict[str, _V]:
    """Return a copy with one entry set, or with None removed."""
    others = {key: each for key, each in values.items() if key != name}
    return others if value is None else {**others, name: value}


WRONG_RANGE: Final = message(
    "costs.range", "must be a number, or three numbers in order: minimum, most likely, maximum"
)
_LONGEST_CODE: Final = 8
_RANGE_ENDS: Final = 3


def parse_costs(fields: Mapping[str, Any]) -> CostSettings:
    """Return the settings of a section's fields; raises `InputError` with the path inside the file."""
    values = check_fields("costs", fields, _COST_CHECKS)
    if "accelerators" in values:
        values["parts"] = values.pop("accelerators")
    return CostSettings(**values)


def write_cost_section(settings: CostSettings) -> dict[str, Any]:
    """Return the fields of the section; defaults are left out, and all fields if nothing is set."""
    usual = CostSettings()
    fields: dict[str, Any] = {}
    if settings.inputs:
        fields["inputs"] = _write_range(settings.inputs)
    if settings.parts:
        fields["accelerators"] = {key: _write_range(part) for key, part in settings.parts.items()}
    for name in _SETTING_CHECKS:
        if getattr(settings, name) != getattr(usual, name):
            fields[name] = getattr(settings, name)
    if (currency := settings.currency) is not None:
        fields["currency"] = {"code": currency.code, "per_usd": currency.per_usd, "date": currency.date}
    return fields


def parse_range(name: str, where: str, value: object) -> UncertainValue:
    """Return the range that a JSON value states for an input; raises `InputError`."""
    check = COST_INPUTS[name].bounds.make_check()
    if type(value) is not list:
        return UncertainValue.exactly(check(where, value))
    if len(value) != _RANGE_ENDS:
        raise InputError(WRONG_RANGE, where)
    spread = UncertainValue(*(check(f"{where}[{place}]", each) for place, each in enumerate(value)))
    if not spread.in_order:
        raise InputError(WRONG_RANGE, where)
    return spread


def _accept_inputs(*, each: bool) -> FieldCheck:
    """Accept stated inputs; for a single accelerator only per-accelerator inputs."""
    checks = {name: partial(parse_range, name) for name, spec in COST_INPUTS.items() if spec.each or not each}
    return lambda where, value: check_fields(where, value, checks)


def _parse_currency(where: str, value: object) -> DisplayCurrency:
    return DisplayCurrency(**check_fields(where, value, _CURRENCY, required=_CURRENCY))


_CURRENCY: Final[Mapping[str, FieldCheck]] = {
    "code": accept_text(_LONGEST_CODE),
    "per_usd": accept_number(0.0, 1e9, above=True),
    "date": accept_text(),
}
_SETTING_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "rent_term": accept_word({term: term for term in RENT_TERMS}),
    "provider_class": accept_word({each.value: each for each in COMPARED_CLASSES}),
    "runs_on": accept_word({platform: platform for platform in SOFTWARE_PLATFORMS}),
    "around": accept_number(0.0, 0.9),
    "single_accelerators": accept_boolean,
}
_COST_CHECKS: Final[Mapping[str, FieldCheck]] = {
    "inputs": _accept_inputs(each=False),
    "accelerators": accept_entries(_accept_inputs(each=True)),
    "currency": _parse_currency,
    **_SETTING_CHECKS,
}


def _write_range(inputs: Mapping[str, UncertainValue]) -> dict[str, Any]:
    return {name: spread.likely if spread.is_known else list(spread) for name, spread in inputs.items()}


@frozen_dataclass
class CostDefaultSource:
    """The source of a default, and the reason for its value; without a title it is an assumption."""

    note: str
    title: str = ""
    url: str = ""
    date: str = ""


#: Origin of a utilization of a load that is the peak of the demand already.
AVERAGE_OVER_PEAK: Final = CostDefaultSource("average over peak load")


@frozen_dataclass
class SystemPrice:
    """The cost of one system of `size` accelerators; `price` summarizes the prices on record."""

    size: int
    price: PriceSummary


@frozen_dataclass
class ResolvedCostInput:
    """The value of an input for one accelerator, and its origin; no `spread` if it is missing.

    `record` are the catalog's prices behind it, `source` that of a default. A purchase price derived from that of a
    whole system has `system`; then the share of the server only `divides` the known total. The range of old prices is
    widened by the factor `drift` at both ends. `class_ratio` is set if no specialized cloud rents this accelerator: the
    usual ratio of their rents to those of the providers on record. Then the range extends to their usual price, and
    odds compare `like_for_like`, the range that rents of specialized clouds would have. `other_rents` are those of
    specialized clouds on other terms, to check it.
    """

    name: str
    origin: CostInputOrigin
    spread: UncertainValue | None
    record: PriceSummary | None = None
    source: CostDefaultSource | None = None
    system: SystemPrice | None = None
    divides: bool = False
    drift: float = 1.0
    class_ratio: UncertainValue | None = None
    like_for_like: UncertainValue | None = None
    other_rents: tuple[ProviderRent, ...] = ()

    @property
    def instance_size(self) -> int:
        """The minimum number of accelerators that providers on record rent, independent of the user's price."""
        return 1 if self.record is None else self.record.smallest_instance

    @property
    def prices(self) -> PriceSummary | None:
        """The catalog's prices behind the value, directly or derived."""
        return self.record if self.system is None else self.system.price

    @property
    def is_old(self) -> bool:
        return self.drift > 1.0

    @property
    def is_used(self) -> bool:
        """Whether the catalog has only prices of used accelerators."""
        is_catalog = self.origin is CostInputOrigin.RECORD
        return is_catalog and self.prices is not None and self.prices.is_used

    @property
    def doubt(self) -> UncertainValue | None:
        """The range that makes costs uncertain: only the likely value for a share that divides a known price."""
        return UncertainValue.exactly(self.spread.likely) if self.divides and self.spread is not None else self.spread


#: The factor by which prices differ after a year: it holds for 80% of the pairs of prices of this catalog that are 6 to
#: 15 months apart, of one accelerator to buy (1.6), or to rent at one provider (1.5).
_YEARLY_DRIFT: Final = 1.5


def compute_price_drift(years: float) -> float:
    """Return the factor by which a price has risen or fallen at most after some years, with 80% odds.

    Its logarithm grows with the square root of the age, as that of a random walk: 1.5 after a year, 2.3 after four.
    """
    return math.exp(math.log(_YEARLY_DRIFT) * math.sqrt(years))


class CostLine(NamedTuple):
    """One line of a total."""

    name: str
    usd: float


@frozen_dataclass
class TotalCostOfOwnership:
    """The cost of owning over `years`; the lines add up to the total.

    `at_once_usd` is paid at the beginning, `per_month_usd` each month: cash, without interest and residual value.
    """

    years: float
    total_usd: float
    lines: tuple[CostLine, ...]
    at_once_usd: float
    per_month_usd: float


class SoftwareCosts(NamedTuple):
    """Software costs of a deployment, owned or rented: porting once, upkeep each month."""

    at_once_usd: float
    per_month_usd: float


@frozen_dataclass
class TokenCosts:
    """Costs per token, over the interval of the throughput.

    All cost is divided by the output tokens, by the input tokens, or by both (`blended`).
    """

    output: IntervalEstimate
    input: IntervalEstimate
    blended: IntervalEstimate
    request: IntervalEstimate
    user_month: IntervalEstimate


@frozen_dataclass
class DeploymentEfficiency:
    """Efficiency of a deployment by power and price; None if an input is missing.

    `joules_per_token` is at the meter, while it works. `tokens_per_s_per_rack` fills a rack up to its power.
    """

    tokens_per_s_per_kw: IntervalEstimate | None
    tokens_per_s_per_rack: IntervalEstimate | None
    accelerators_per_rack: int | None
    joules_per_token: IntervalEstimate | None
    usd_per_gib: float | None
    usd_per_gib_for_kv: float | None
    energy_kwh: float | None
    carbon_kg: float | None


class BreakEven(NamedTuple):
    """Where two costs are equal: the value of an input, or None without one within its bounds.

    `key` is the column of the input; `against` the column that it is compared with, None for its own rent. Without a
    value `cheaper` is whether the first costs less throughout. `used` is the current value of the input, if it is
    solved for.
    """

    name: str
    key: str
    against: str | None
    value: float | None
    unit: str | None
    cheaper: bool | None = None
    used: UncertainValue | None = None


class CostCurvePoint(NamedTuple):
    """The cost of a million output tokens at a given speed per user."""

    concurrency: int
    tokens_per_s_per_user: float
    owned_usd: float | None
    rented_usd: float | None


@frozen_dataclass
class CostColumn:
    """The costs of one accelerator of a comparison; `key` is that of its column.

    Owned and rented deployments have the same `software` costs. `missing` names the inputs without which a cost is
    unknown: `throughput` without an estimate. `count` is None without a deployment that fits. `rent` summarizes the
    rents on record. `sold` are the whole systems that the accelerators are sold in, None for cards; `systems` are the
    same if the owned cost counts them whole. `idle_rented` accelerators are paid for in partly used whole instances.
    `provider_rents` has the cheapest first. `like_for_like_usd` is a million rented output tokens at the usual rent of
    specialized clouds, if none of them rents the accelerator.
    """

    key: str
    accelerator: str
    count: int | None
    inputs: Mapping[str, ResolvedCostInput]
    missing: tuple[str, ...]
    idle_rented: int = 0
    provider_rents: tuple[ProviderRent, ...] = ()
    tokens_per_s: IntervalEstimate | None = None
    sold: SystemCount | None = None
    systems: SystemCount | None = None
    tco: TotalCostOfOwnership | None = None
    owned: TokenCosts | None = None
    rented: TokenCosts | None = None
    like_for_like_usd: float | None = None
    rent: PriceSummary | None = None
    rent_usd_per_hour: float | None = None
    software: SoftwareCosts | None = None
    efficiency: DeploymentEfficiency | None = None
    curve: tuple[CostCurvePoint, ...] = ()

    @property
    def rented_count(self) -> int:
        """How many accelerators are paid for by the hour."""
        return (self.count or 0) + self.idle_rented

    @property
    def bought(self) -> SystemCount | None:
        """The systems behind the owned cost, of size 1 if accelerators are bought singly; None without a cost."""
        return None if self.owned is None else self.systems or _share_lots(self.sold, self.count or 0)

    @property
    def smallest_instances(self) -> SystemCount | None:
        """The smallest instances on record that hold the deployment; None without one, or if rented singly."""
        size, count = self.inputs["rent_usd_per_hour"].instance_size, self.count or 0
        return None if size == 1 or not count else SystemCount(round_up_to_lots(count, size) // size, size, count)

    @property
    def rented_instances(self) -> SystemCount | None:
        """The instances behind the rented cost, the smallest on record; None without a cost."""
        if self.rented is None:
            return None
        instances = self.smallest_instances
        return instances if self.idle_rented else _share_lots(instances, self.count or 0)

    @property
    def owned_usd_per_million_output(self) -> IntervalEstimate | None:
        return None if self.owned is None else self.owned.output

    @property
    def rented_usd_per_million_output(self) -> IntervalEstimate | None:
        return None if self.rented is None else self.rented.output


def _share_lots(lots: SystemCount | None, count: int) -> SystemCount:
    """Return the systems or instances whose idle accelerators are not paid for; single accelerators without any."""
    return SystemCount(count, 1, count) if lots is None or not lots.idle else replace(lots, is_shared=True)


class ProviderRent(NamedTuple):
    """The newest rent of an accelerator at a provider, and its token cost there if requested.

    The rent is per accelerator-hour; for several regions it is the median. `smallest_instance` is the minimum number of
    accelerators to rent.
    """

    provider: str
    provider_class: ProviderClass
    term: str
    usd_per_hour: float
    date: str | None
    usd_per_million_output: float | None = None
    smallest_instance: int = 1

    def compute_hourly_bill(self, accelerators: int) -> float:
        return round_up_to_lots(accelerators, self.smallest_instance) * self.usd_per_hour


class SameProviderRent(NamedTuple):
    """The ratio of the rents of two accelerators at one provider."""

    provider: str
    accelerator: str
    against: str
    ratio: float


@frozen_dataclass
class CostAnswer:
    """The costs of all accelerators of a comparison, in its order.

    `api` is the charge of a hosted API for a million output tokens with their prompts, if its prices are stated;
    `api_missing` names the missing one if only the other is stated. `utilisation` is that of all. `same_provider`
    compares rents with those of the first accelerator.
    """

    columns: tuple[CostColumn, ...]
    break_evens: tuple[BreakEven, ...]
    api: IntervalEstimate | None
    utilisation: ResolvedCostInput
    api_missing: tuple[str, ...] = ()
    same_provider: tuple[SameProviderRent, ...] = ()

    @property
    def busy_share(self) -> float:
        return 1.0 if self.utilisation.spread is None else self.utilisation.spread.likely

    @property
    def rent_classes(self) -> Mapping[str, tuple[ProviderClass, ...]]:
        """The classes of the providers behind the rents of record, by key of the column."""
        rents = {column.key: column.inputs["rent_usd_per_hour"] for column in self.columns}
        return {
            key: rent.record.classes
            for key, rent in rents.items()
            if rent.origin is CostInputOrigin.RECORD and rent.record is not None and rent.record.classes
        }


class CostSensitivity(NamedTuple):
    """A cost with one input at its low and at its high end, all others at their likely values."""

    name: str
    at_low: float
    at_high: float
    low: float
    high: float


@frozen_dataclass
class CostDistribution:
    """Costs of a million output tokens in many draws of all uncertain inputs.

    All accelerators share the same draws. `cheapest` has the odds that each is the cheapest, by column key; columns
    that lack an input or are not ranked are left out. `quantiles` are the 10th, 50th and 90th percentiles; `histogram`
    counts draws between `edges`.
    """

    n: int
    seed: int
    rented: bool
    cheapest: Mapping[str, float]
    quantiles: Mapping[str, tuple[float, float, float]]
    edges: tuple[float, ...]
    histogram: Mapping[str, tuple[int, ...]]

    @property
    def compared(self) -> Mapping[str, float]:
        """The odds to show: those of a single ranked column say nothing about its cost."""
        return self.cheapest if len(self.cheapest) > 1 else {}
