"""Costs: inputs with bounds, what the user states, and cost results. US dollars before taxes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NamedTuple

from gpudesk.domain.claim import PriceSummary, ProviderClass
from gpudesk.domain.sizing import NumberBounds
from gpudesk.domain.system import SystemCount
from gpudesk.text.formatting import IntervalEstimate


class UncertainValue(NamedTuple):
    """A number that is not known: at least `low`, most likely `likely`, at most `high`."""

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


class CostInputGroup(StrEnum):
    """What an input is about, in the order of forms."""

    USE = "use"
    HARDWARE = "hardware"
    MONEY = "money"
    SITE = "site"
    SERVICE = "service"
    SOFTWARE = "software"
    RENT = "rent"
    API = "api"
    CARBON = "carbon"


class CostInputOrigin(StrEnum):
    """Where the value of an input comes from."""

    YOURS = "yours"
    RECORD = "record"
    DEMAND = "demand"
    DEFAULT = "default"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class CostInput:
    """One input: `unit` is None for shares of 1 and plain numbers. `each` is stated by accelerator."""

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
COST_INPUTS: Final[Mapping[str, CostInput]] = MappingProxyType({each.name: each for each in _COST_INPUTS})

#: Terms of rents in the order in which they are offered.
RENT_TERMS: Final = ("on_demand", "spot", "reserved", "reserved_1y", "reserved_3y", "capacity_block")
#: Classes of providers that rents can be limited to.
COMPARED_CLASSES: Final = (ProviderClass.SPECIALIZED, ProviderClass.HYPERSCALER, ProviderClass.MARKETPLACE)


@dataclass(frozen=True, slots=True)
class DisplayCurrency:
    """The currency that amounts are shown in: `per_usd` of it were one US dollar on `date`."""

    code: str
    per_usd: float
    date: str


_NOTHING: Final[Mapping[str, UncertainValue]] = MappingProxyType({})
_NOBODY: Final[Mapping[str, Mapping[str, UncertainValue]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CostSettings:
    """What the user says of costs; what is not stated is that of the catalog, or the program's default.

    `inputs` hold for all accelerators, `parts` for one by its id. `rent_term` is the term of the rents that are
    taken from the catalog, `provider_class` that of their providers where any has it; without it, the first class
    that rents the accelerator, whatever others are compared. `around` takes every input to be known to this share
    on either side. Software is ported to accelerators of other platforms than `runs_on`; where nobody says what it
    runs on, no port is paid for. Whole systems are owned, unless `single_accelerators` pays for those that a
    deployment uses alone.
    """

    inputs: Mapping[str, UncertainValue] = field(default_factory=lambda: _NOTHING)
    parts: Mapping[str, Mapping[str, UncertainValue]] = field(default_factory=lambda: _NOBODY)
    rent_term: str = RENT_TERMS[0]
    provider_class: ProviderClass | None = None
    runs_on: str | None = None
    around: float | None = None
    single_accelerators: bool = False
    currency: DisplayCurrency | None = None

    def of_part(self, accelerator: str) -> Mapping[str, UncertainValue]:
        return self.parts.get(accelerator, _NOTHING)

    def with_input(self, name: str, spread: UncertainValue | None, accelerator: str | None = None) -> CostSettings:
        """Return the settings with an input of all, or of one accelerator; None leaves it to the program."""
        if accelerator is None:
            return replace(self, inputs=_with(self.inputs, name, spread))
        part = _with(self.of_part(accelerator), name, spread)
        parts = {key: value for key, value in self.parts.items() if key != accelerator}
        return replace(self, parts={**parts, accelerator: part} if part else parts)


#: Nothing stated.
NO_COST_SETTINGS: Final = CostSettings()


def _with(inputs: Mapping[str, UncertainValue], name: str, spread: UncertainValue | None) -> dict[str, UncertainValue]:
    others = {key: value for key, value in inputs.items() if key != name}
    return others if spread is None else {**others, name: spread}


@dataclass(frozen=True, slots=True)
class CostDefaultSource:
    """Where a default was found, and why so much; without a title nobody states it."""

    note: str
    title: str = ""
    url: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class SystemPrice:
    """What one system of `size` accelerators costs; `price` sums up what is on record."""

    size: int
    price: PriceSummary


@dataclass(frozen=True, slots=True)
class ResolvedCostInput:
    """The value of an input for one accelerator, and where it comes from; no `spread` where it is missing.

    `record` are the prices of the catalog behind it, `source` is that of a default. A purchase price that follows
    from that of a whole system has `system`; the share of the server then only `divides` what is known as a whole.
    A range that is wider because its prices are old `is_old`. One that reaches to what specialized clouds usually
    charge, since none has this accelerator, has their `class_ratio` to the providers on record.
    """

    name: str
    origin: CostInputOrigin
    spread: UncertainValue | None
    record: PriceSummary | None = None
    source: CostDefaultSource | None = None
    system: SystemPrice | None = None
    divides: bool = False
    is_old: bool = False
    class_ratio: float | None = None

    @property
    def instance_size(self) -> int:
        """How few accelerators the providers on record rent at a time, whatever price the user enters."""
        return 1 if self.record is None else self.record.smallest_instance

    @property
    def prices(self) -> PriceSummary | None:
        """The prices of the catalog that the value is the median of, or follows from."""
        return self.record if self.system is None else self.system.price

    @property
    def doubt(self) -> UncertainValue | None:
        """The range that makes costs uncertain: of a share that divides a known price, its likely value alone."""
        return UncertainValue.exactly(self.spread.likely) if self.divides and self.spread is not None else self.spread


#: By which share the range of a price older than 12 months is wider on each side. An assumption.
OLD_PRICE_DOUBT: Final = 0.5


class CostLine(NamedTuple):
    """One line of a total."""

    name: str
    usd: float


@dataclass(frozen=True, slots=True)
class TotalCostOfOwnership:
    """What owning costs over `years`; the lines add up to the total.

    `at_once_usd` is paid at the beginning, `per_month_usd` each month: cash, without interest and residual.
    """

    years: float
    total_usd: float
    lines: tuple[CostLine, ...]
    at_once_usd: float
    per_month_usd: float


class SoftwareCosts(NamedTuple):
    """What software costs a deployment, whether it is owned or rented: porting once, upkeep each month."""

    at_once_usd: float
    per_month_usd: float


@dataclass(frozen=True, slots=True)
class TokenCosts:
    """What tokens cost, with the band of the throughput.

    All cost is over the output tokens, over the input tokens, or over both alike (`blended`).
    """

    output: IntervalEstimate
    input: IntervalEstimate
    blended: IntervalEstimate
    request: IntervalEstimate
    user_month: IntervalEstimate


@dataclass(frozen=True, slots=True)
class DeploymentEfficiency:
    """What a deployment yields for its power and price; None if an input is missing.

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
    """Where two costs are equal: the value of an input, or None if none within its bounds does it.

    `key` is that of the column whose input it is; `against` that of the one that it is compared with, None
    for its own rent. Without a value `cheaper` says whether the first costs less throughout. `used` is what the
    input is at present, where an input is solved for.
    """

    name: str
    key: str
    against: str | None
    value: float | None
    unit: str | None
    cheaper: bool | None = None
    used: UncertainValue | None = None


class CostCurvePoint(NamedTuple):
    """What a million output tokens costs where each user gets so many tokens per second."""

    concurrency: int
    tokens_per_s_per_user: float
    owned_usd: float | None
    rented_usd: float | None


@dataclass(frozen=True, slots=True)
class CostColumn:
    """The costs of one accelerator of a comparison; `key` is that of its column.

    What is owned and what is rented bear the same `software`.

    `missing` names the inputs without which a cost cannot be told: `throughput` where there is no estimate.
    `count` is None without a deployment that fits. `rent` sums up the rents on record. `systems` are the whole
    systems that are owned; None if accelerators are bought singly. `idle_rented` accelerators come with those
    that are used where whole instances are rented. `provider_rents` has the cheapest first.
    """

    key: str
    accelerator: str
    count: int | None
    inputs: Mapping[str, ResolvedCostInput]
    missing: tuple[str, ...]
    idle_rented: int = 0
    provider_rents: tuple[ProviderRent, ...] = ()
    tokens_per_s: IntervalEstimate | None = None
    systems: SystemCount | None = None
    tco: TotalCostOfOwnership | None = None
    owned: TokenCosts | None = None
    rented: TokenCosts | None = None
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
    def owned_usd_per_million_output(self) -> IntervalEstimate | None:
        return None if self.owned is None else self.owned.output

    @property
    def rented_usd_per_million_output(self) -> IntervalEstimate | None:
        return None if self.rented is None else self.rented.output


class ProviderRent(NamedTuple):
    """The newest rent of an accelerator at a provider, and the cost of its tokens there if it was asked for.

    The rent is of an accelerator-hour; of several regions it is the median. `smallest_instance` is how few
    accelerators the provider rents at a time.
    """

    provider: str
    provider_class: ProviderClass
    term: str
    usd_per_hour: float
    date: str | None
    usd_per_million_output: float | None = None
    smallest_instance: int = 1

    def hourly_bill(self, accelerators: int) -> float:
        """Return what so many accelerators cost an hour, in USD, in whole instances."""
        return -(-accelerators // self.smallest_instance) * self.smallest_instance * self.usd_per_hour


class SameProviderRent(NamedTuple):
    """The rent of an accelerator over that of another at one provider."""

    provider: str
    accelerator: str
    against: str
    ratio: float


@dataclass(frozen=True, slots=True)
class CostAnswer:
    """The costs of all accelerators of a comparison, in its order.

    `api` is what a hosted API charges for a million output tokens with their prompts, where its prices are
    stated; `api_missing` names the one that is not, where only the other is. `utilisation` is that of all.
    `same_provider` compares rents with the first accelerator's.
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
    """What a cost becomes when one input is at its low and at its high end, all others likely."""

    name: str
    at_low: float
    at_high: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class CostDistribution:
    """Costs of a million output tokens in many draws of all inputs that are not known.

    The same draws hold for all accelerators. `cheapest` has the odds that each is, by the key of its column;
    those that lack an input or are not ranked are not among them. `quantiles` are those of one in ten, the
    median and nine in ten; `histogram` counts draws between `edges`.
    """

    n: int
    seed: int
    rented: bool
    cheapest: Mapping[str, float]
    quantiles: Mapping[str, tuple[float, float, float]]
    edges: tuple[float, ...]
    histogram: Mapping[str, tuple[int, ...]]
