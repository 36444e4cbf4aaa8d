"""What a cost rests on: every input with its unit and its bounds, and what a scenario says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from gpudesk.domain.demand import Bounds
from gpudesk.domain.ranges import Range


class CostGroup(StrEnum):
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


class Origin(StrEnum):
    """Where the value of an input comes from."""

    YOURS = "yours"
    RECORD = "record"
    DEFAULT = "default"
    NOWHERE = "nowhere"


@dataclass(frozen=True, slots=True)
class CostInput:
    """One input: `unit` is None for shares of 1 and plain numbers. `each` is stated by accelerator."""

    name: str
    group: CostGroup
    unit: str | None
    bounds: Bounds
    each: bool = False


def _share(high: float = 1.0) -> Bounds:
    return Bounds(0.0, high)


_MOST_USD: Final = 1e8
_ALL: Final = (
    CostInput("years", CostGroup.USE, "years", Bounds(0.25, 15.0)),
    CostInput("utilisation", CostGroup.USE, None, Bounds(0.0, 1.0, above=True)),
    CostInput("requests_per_user_month", CostGroup.USE, None, Bounds(0.0, 1e7, above=True)),
    CostInput("price_usd", CostGroup.HARDWARE, "USD", Bounds(0.0, _MOST_USD, above=True), each=True),
    CostInput("discount", CostGroup.HARDWARE, None, _share(0.95), each=True),
    CostInput("server_share", CostGroup.HARDWARE, None, _share(10.0)),
    CostInput("network_share", CostGroup.HARDWARE, None, _share(10.0)),
    CostInput("rack_share", CostGroup.HARDWARE, None, _share(10.0)),
    CostInput("spares", CostGroup.HARDWARE, None, _share(2.0)),
    CostInput("residual", CostGroup.HARDWARE, None, _share(0.95)),
    CostInput("capital_rate", CostGroup.MONEY, None, _share(1.0)),
    CostInput("energy_usd_per_kwh", CostGroup.SITE, "USD/kWh", Bounds(0.0, 10.0)),
    CostInput("pue", CostGroup.SITE, None, Bounds(1.0, 5.0)),
    CostInput("accelerator_w", CostGroup.SITE, "W", Bounds(0.0, 1e5, above=True), each=True),
    CostInput("host_w", CostGroup.SITE, "W", Bounds(0.0, 1e5)),
    CostInput("draw", CostGroup.SITE, None, Bounds(0.0, 1.5, above=True)),
    CostInput("demand_usd_per_kw_month", CostGroup.SITE, "USD/kW/month", Bounds(0.0, 1e4)),
    CostInput("hosting_usd_per_kw_month", CostGroup.SITE, "USD/kW/month", Bounds(0.0, 1e4)),
    CostInput("rack_kw", CostGroup.SITE, "kW", Bounds(0.0, 1e4, above=True)),
    CostInput("support", CostGroup.SERVICE, None, _share(1.0)),
    CostInput("staff_usd_per_year", CostGroup.SERVICE, "USD/year", Bounds(0.0, _MOST_USD)),
    CostInput("engineer_usd_per_year", CostGroup.SOFTWARE, "USD/year", Bounds(0.0, _MOST_USD)),
    CostInput("engineers", CostGroup.SOFTWARE, None, Bounds(0.0, 1e5), each=True),
    CostInput("porting_engineer_months", CostGroup.SOFTWARE, "months", Bounds(0.0, 1e5), each=True),
    CostInput("fleet", CostGroup.SOFTWARE, None, Bounds(1.0, 1e8)),
    CostInput("rent_usd_per_hour", CostGroup.RENT, "USD/h", Bounds(0.0, 1e5, above=True), each=True),
    CostInput("api_input_usd_per_million", CostGroup.API, "USD/M", Bounds(0.0, 1e6)),
    CostInput("api_output_usd_per_million", CostGroup.API, "USD/M", Bounds(0.0, 1e6)),
    CostInput("grid_g_per_kwh", CostGroup.CARBON, "g/kWh", Bounds(0.0, 1e4)),
    CostInput("embodied_kg", CostGroup.CARBON, "kg", Bounds(0.0, 1e6), each=True),
)
#: All inputs by name, in the order of forms.
INPUTS: Final[Mapping[str, CostInput]] = MappingProxyType({each.name: each for each in _ALL})

#: Terms of rents in the order in which they are offered.
RENT_TERMS: Final = ("on_demand", "spot", "reserved")
#: The platform that the team's software runs on, unless the scenario says otherwise.
USUAL_PLATFORM: Final = "CUDA"


@dataclass(frozen=True, slots=True)
class Currency:
    """The currency that amounts are shown in: `per_usd` of it were one US dollar on `date`."""

    code: str
    per_usd: float
    date: str


_NOTHING: Final[Mapping[str, Range]] = MappingProxyType({})
_NOBODY: Final[Mapping[str, Mapping[str, Range]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CostSettings:
    """What the user says of costs; what is not stated is that of the catalog, or the program's default.

    `inputs` hold for all accelerators, `parts` for one by its id. `rent_term` is the term of rents that is
    taken from the catalog. `around` takes every input to be known to this share on either side. Software is
    ported to accelerators of other platforms than `runs_on`.
    """

    inputs: Mapping[str, Range] = field(default_factory=lambda: _NOTHING)
    parts: Mapping[str, Mapping[str, Range]] = field(default_factory=lambda: _NOBODY)
    rent_term: str = RENT_TERMS[0]
    runs_on: str = USUAL_PLATFORM
    around: float | None = None
    currency: Currency | None = None

    def of_part(self, accelerator: str) -> Mapping[str, Range]:
        """Return what is stated of one accelerator."""
        return self.parts.get(accelerator, _NOTHING)

    def with_input(self, name: str, spread: Range | None, accelerator: str | None = None) -> CostSettings:
        """Return the settings with an input of all, or of one accelerator; None leaves it to the program."""
        if accelerator is None:
            return replace(self, inputs=_with(self.inputs, name, spread))
        part = _with(self.of_part(accelerator), name, spread)
        parts = {key: value for key, value in self.parts.items() if key != accelerator}
        return replace(self, parts={**parts, accelerator: part} if part else parts)


#: Nothing stated.
NO_SETTINGS: Final = CostSettings()


def _with(inputs: Mapping[str, Range], name: str, spread: Range | None) -> dict[str, Range]:
    kept = {key: value for key, value in inputs.items() if key != name}
    return kept if spread is None else {**kept, name: spread}
