"""Fleets: demand over the day, whole systems, racks, and costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Final

from gpudesk.domain.accelerator import System
from gpudesk.domain.claim import ProviderClass
from gpudesk.domain.cost import CostLine, ProviderRent
from gpudesk.domain.sizing import NumberBounds, SizingOption
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import Message, input_error
from gpudesk.text.translation import LabeledEnum

HOURS_PER_DAY: Final = 24
#: Power of an idle system over its working power: about 80 of 700 W for an accelerator, and half of the host's power.
#: An assumption; vendors publish no idle power.
IDLE_SHARE: Final = 0.3


class LoadCurveKind(LabeledEnum):
    """How demand is spread over a day; `OWN` is the user's."""

    FLAT = "flat", "Flat"
    OFFICE = "office", "Office hours"
    GLOBAL = "global", "Global"
    OVERNIGHT = "overnight", "Overnight batch"
    OWN = "own", "Custom"


@frozen_dataclass
class DailyLoadCurve:
    """Demand of each hour as a multiple of the average hour: 24 multipliers whose mean is 1."""

    kind: LoadCurveKind
    multipliers: tuple[float, ...]

    @property
    def peak_factor(self) -> float:
        """The peak hour over the average hour."""
        return max(self.multipliers)


def check_multipliers(multipliers: Sequence[float]) -> None:
    """Check for 24 finite multipliers of at least 0, one of them above 0; errors name the hour."""
    if len(multipliers) != HOURS_PER_DAY:
        raise input_error(
            "fleet.curve_length",
            "A load curve has 24 numbers, one per hour; {count} given",
            "fleet.own_multipliers",
            count=len(multipliers),
        )
    for hour, multiplier in enumerate(multipliers):
        if not math.isfinite(multiplier) or multiplier < 0.0:
            raise input_error(
                "fleet.curve_hour",
                "{value} at hour {hour} is not possible; demand is 0 or more",
                f"fleet.own_multipliers[{hour}]",
                value=str(multiplier),
                hour=hour,
            )
    if not any(multipliers):
        raise input_error(
            "fleet.curve_empty",
            "Every hour of the load curve is 0; enter demand for at least one hour",
            "fleet.own_multipliers",
        )


class SiteCooling(LabeledEnum):
    """The cooling that the site offers."""

    AIR = "air", "air only"
    LIQUID = "liquid", "air or liquid"


@frozen_dataclass
class FleetSettings:
    """The user's settings of a fleet; the demand itself is `Scenario.demand`.

    `own_multipliers` belong to the curve `OWN`: any 24 numbers of at least 0, one of them above 0. `growth_per_year` is
    the yearly growth of demand. `spare_systems` are reserves beyond the spare replicas of the demand. `systems` names
    the system to buy for an accelerator, `instances` the instance to rent; the program chooses the others. `cooling`
    and `kw_per_rack` limit the site: air alone, or air and liquid; None means unlimited. `months_to_live` is the time
    until the fleet must serve.
    """

    curve: LoadCurveKind = LoadCurveKind.OFFICE
    own_multipliers: tuple[float, ...] = ()
    growth_per_year: float = 0.0
    spare_systems: int = 0
    systems: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    instances: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    cooling: SiteCooling | None = None
    kw_per_rack: float | None = None
    months_to_live: float | None = None


#: Demand of each hour from midnight in percent of the peak hour. Assumptions, not measurements: office hours in one
#: time zone, with the peak of `DEFAULT_PEAK_FACTOR`, users of all time zones, jobs that run at night.
_PRESETS: Final[Mapping[LoadCurveKind, tuple[float, ...]]] = {
    LoadCurveKind.FLAT: (100,) * HOURS_PER_DAY,
    LoadCurveKind.OFFICE: (
        *(10, 8, 6, 6, 6, 8, 15, 35),
        *(65, 90, 100, 100, 90, 95, 100, 100),
        *(90, 70, 50, 40, 36, 32, 28, 20),
    ),
    LoadCurveKind.GLOBAL: (
        *(82, 78, 76, 75, 76, 79, 83, 87),
        *(91, 94, 96, 97, 97, 98, 99, 100),
        *(100, 99, 97, 95, 93, 91, 88, 85),
    ),
    LoadCurveKind.OVERNIGHT: (
        *(100, 100, 100, 100, 100, 100, 50, 5),
        *(5, 5, 5, 5, 5, 5, 5, 5),
        *(5, 5, 5, 5, 20, 60, 100, 100),
    ),
}


def make_load_curve(settings: FleetSettings) -> DailyLoadCurve:
    """Return the curve of the settings with mean 1; raises `InputError` for invalid own multipliers."""
    if settings.curve is not LoadCurveKind.OWN:
        return _normalize(settings.curve, _PRESETS[settings.curve])
    check_multipliers(settings.own_multipliers)
    return _normalize(LoadCurveKind.OWN, settings.own_multipliers)


def _normalize(kind: LoadCurveKind, weights: Sequence[float]) -> DailyLoadCurve:
    # Scale by the largest first: otherwise weights near the limits of floats have no finite or non-zero sum.
    most = max(weights)
    shares = [weight / most for weight in weights]
    mean = math.fsum(shares) / HOURS_PER_DAY
    return DailyLoadCurve(kind, tuple(share / mean for share in shares))


#: No settings.
NO_FLEET_SETTINGS: Final = FleetSettings()
#: Bounds of each number of the settings.
FLEET_BOUNDS: Final[Mapping[str, NumberBounds]] = {
    "growth_per_year": NumberBounds(-0.9, 10.0),
    "spare_systems": NumberBounds(0, 64),
    "kw_per_rack": NumberBounds(0.0, 1000.0, above=True),
    "months_to_live": NumberBounds(0.0, 120.0),
}


@frozen_dataclass
class RackedSystem:
    """One system in a rack: its accelerators in use, spare and idle; `bottom_unit` counts from 0."""

    bottom_unit: float
    rack_units: float
    used: int
    spare: int
    idle: int


@frozen_dataclass
class Rack:
    """A rack with its systems from the bottom up; `limited_by` is `units` or `power`, None if it is not full."""

    systems: tuple[RackedSystem, ...]
    height_units: float
    power_max_kw: float
    price_usd: float | None
    limited_by: str | None

    @property
    def used(self) -> int:
        return sum(each.used for each in self.systems)

    @property
    def spare(self) -> int:
        return sum(each.spare for each in self.systems)

    @property
    def idle(self) -> int:
        return sum(each.idle for each in self.systems)


@frozen_dataclass
class FleetHour:
    """One hour of the day: requests/s, the replicas that carry it, and their utilization."""

    requests_per_s: float
    replicas: int
    utilization: float


class Supply(LabeledEnum):
    """How a fleet is supplied and paid for."""

    OWNED = "owned", "Own"
    RENTED = "rented", "Rent"
    AUTOSCALED = "autoscaled", "Rent, autoscaled"
    API = "api", "Hosted API"


@frozen_dataclass
class FleetCost:
    """The cost of one supply over the horizon, in US dollars before taxes.

    `per_user_month_usd` is None if the demand is not stated in users. `rented_count` is the accelerators paid for in
    the peak hour, at `rent_usd_per_hour` each. Without a total, `missing` names the missing data in one sentence.
    `source` describes the price: provider, term and date, or system and price source; rents on record are of
    `provider_classes`. `cumulative_usd` is the cash paid at the beginning and by the end of each begun year of the
    horizon, so one more than `FleetOption.years`; the last is `total_usd` without the residual value.
    """

    supply: Supply
    total_usd: IntervalEstimate | None
    per_month_usd: IntervalEstimate | None = None
    per_user_month_usd: IntervalEstimate | None = None
    per_million_tokens_usd: IntervalEstimate | None = None
    cumulative_usd: tuple[IntervalEstimate, ...] = ()
    lines: tuple[CostLine, ...] = ()
    rented_count: int | None = None
    rent_usd_per_hour: float | None = None
    source: Message | None = None
    provider_classes: tuple[ProviderClass, ...] = ()
    missing: Message | None = None


@frozen_dataclass
class FleetYear:
    """The fleet at the beginning of a year: demand over today's, systems needed, systems added."""

    year: int
    demand_factor: float
    systems: int
    added: int


@frozen_dataclass
class FleetOption:
    """The fleet of one accelerator.

    `sizing` has the accelerators that the demand needs. `system` is the system to buy, None if single cards go into
    servers that are not sold as a whole; `instance` the instance to rent, None if accelerators are rented singly. used
    + spare + idle = systems x `slots`, the accelerators of a system; single cards leave slots empty. `idle` are the
    accelerators of a partly used system. `systems_per_replica` above 1 means that a replica spans systems over
    `fabric_bits_per_s`. `utilization` is the day's tokens over the maximum of all working replicas. `months_to_next` is
    when growth needs the next system; None if not within the horizon. `provider_rents` has the cheapest first. Without
    a fleet `reason` explains why.
    """

    accelerator: str
    reason: Message | None
    sizing: SizingOption | None = None
    system: System | None = None
    instance: System | None = None
    slots: int = 1
    systems: int = 0
    spare_systems: int = 0
    used: int = 0
    spare: int = 0
    idle: int = 0
    systems_per_replica: int = 1
    fabric_bits_per_s: float | None = None
    racks: tuple[Rack, ...] = ()
    power_max_kw: float | None = None
    power_average_kw: float | None = None
    power_estimated: bool = False
    hours: tuple[FleetHour, ...] = ()
    utilization: float = 0.0
    costs: tuple[FleetCost, ...] = ()
    years: tuple[FleetYear, ...] = ()
    months_to_next: float | None = None
    delivery_weeks: float | None = None
    provider_rents: tuple[ProviderRent, ...] = ()
    notes: tuple[Message, ...] = ()

    def find_supply_cost(self, supply: Supply) -> FleetCost | None:
        return next((cost for cost in self.costs if cost.supply is supply), None)


@frozen_dataclass
class FleetAnswer:
    """The fleets for a demand, in the order of the scenario's accelerators.

    `cheapest` is the accelerator and supply with the lowest cost over the horizon, `odds` its probability when prices
    and throughput vary; None if no cost is known. `growth_per_year` is that of the demand. `costed_utilization` is the
    one that the costs of a comparison assume for the same demand.
    """

    curve: DailyLoadCurve
    horizon_years: float
    options: tuple[FleetOption, ...]
    api: FleetCost | None = None
    cheapest: tuple[str, Supply] | None = None
    odds: float | None = None
    notes: tuple[Message, ...] = ()
    growth_per_year: float = 0.0
    costed_utilization: float | None = None

    @property
    def runner_up(self) -> tuple[tuple[str, Supply], float] | None:
        """The cheapest supply of another accelerator or an API, else of the same, with its USD per month."""
        return min(self._list_others(), key=lambda each: (self._is_leader(each[0]), each[1]), default=None)

    @property
    def nearest(self) -> tuple[tuple[str, Supply], float] | None:
        """The cheapest other supply of any accelerator, the leading one included, with its USD per month."""
        return min(self._list_others(), key=lambda each: each[1], default=None)

    def _is_leader(self, key: tuple[str, Supply]) -> bool:
        return self.cheapest is not None and key[0] == self.cheapest[0]

    def _list_others(self) -> list[tuple[tuple[str, Supply], float]]:
        """Return every supply but the cheapest, with its USD per month; a fleet that cannot scale has one rent."""
        costs = {(option.accelerator, cost.supply): cost for option in self.options for cost in option.costs}
        if self.api is not None:
            costs["", Supply.API] = self.api
        months = {key: cost.per_month_usd.value for key, cost in costs.items() if cost.per_month_usd is not None}
        least = None if self.cheapest is None else months.get(self.cheapest)
        return [(key, usd) for key, usd in months.items() if not (self._is_leader(key) and usd == least)]
