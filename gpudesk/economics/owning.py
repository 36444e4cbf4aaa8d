"""The total cost of owning a deployment, line by line.

Hardware is bought at the beginning, written down in equal parts to what it is worth at the end, and run in
between. Taxes are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.units import HOURS_PER_YEAR, MONTHS_PER_YEAR

#: A number, or an array that broadcasts against the others.
Amount = float | NDArray[np.float64]

_KILO: Final = 1000.0


@dataclass(frozen=True, slots=True)
class Hardware:
    """What is bought for each accelerator.

    `price_usd` is before `discount`, which is a share of it. `server_usd`, `network_usd` and `rack_usd` are
    an accelerator's shares. `spares` lie on the shelf: a share more of everything, without power.
    `residual` is the share of what was paid that the hardware is worth at the end.
    """

    price_usd: Amount
    discount: Amount = 0.0
    server_usd: Amount = 0.0
    network_usd: Amount = 0.0
    rack_usd: Amount = 0.0
    spares: Amount = 0.0
    residual: Amount = 0.0

    @property
    def net_price_usd(self) -> Amount:
        """What an accelerator is paid for: list price less discount."""
        return self.price_usd * (1.0 - self.discount)


@dataclass(frozen=True, slots=True)
class Running:
    """What running takes, for each accelerator and shared.

    `accelerator_w` and `host_w` are its power and its share of the host's; `draw` is the share of both that
    is drawn on average. `pue` is power of the site over that of the machines. Demand and hosting are paid
    for each kW of the machines, at the meter for demand. `support` is a share of what was paid for hardware
    in a year. `staff_usd_per_year` is for each accelerator.
    """

    accelerator_w: Amount
    energy_usd_per_kwh: Amount
    host_w: Amount = 0.0
    draw: Amount = 1.0
    pue: Amount = 1.0
    demand_usd_per_kw_month: Amount = 0.0
    hosting_usd_per_kw_month: Amount = 0.0
    support: Amount = 0.0
    staff_usd_per_year: Amount = 0.0

    @property
    def machine_kw(self) -> Amount:
        """Power of an accelerator and its share of the host, in kW."""
        return (self.accelerator_w + self.host_w) / _KILO


@dataclass(frozen=True, slots=True)
class Engineering:
    """What software takes beyond what would be done anyway, for a fleet of so many accelerators.

    Porting is paid once, `engineers` all the time. A deployment bears its share of the fleet.
    """

    engineer_usd_per_year: Amount = 0.0
    engineers: Amount = 0.0
    porting_engineer_months: Amount = 0.0
    fleet: Amount = 1.0


@dataclass(frozen=True, slots=True)
class Ownership:
    """A deployment of so many accelerators that is owned for `years`; capital costs `capital_rate` a year."""

    accelerators: Amount
    years: Amount
    hardware: Hardware
    running: Running
    engineering: Engineering = Engineering()
    capital_rate: Amount = 0.0


#: The lines of the total, in the order in which they are shown.
LINES: Final = (
    "accelerators",
    "server",
    "network",
    "rack",
    "residual",
    "capital",
    "power",
    "cooling",
    "demand",
    "hosting",
    "support",
    "staff",
    "porting",
    "upkeep",
)


def ownership_lines(owned: Ownership) -> dict[str, Amount]:
    """Return what each line costs over all years, in dollars; the total is their sum.

    The residual is below 0. Capital costs its rate on the mean of what the hardware is worth at the
    beginning and at the end. Cooling is what the site takes beyond its machines.
    """
    software = software_lines(owned.engineering, owned.accelerators, owned.years)
    return {**_hardware_lines(owned), **_running_lines(owned), **software}


def total(lines: Mapping[str, Amount]) -> Amount:
    """Return the sum of lines."""
    amounts = iter(lines.values())
    summed = next(amounts)
    for amount in amounts:
        summed = summed + amount
    return summed


def software_lines(engineering: Engineering, accelerators: Amount, years: Amount) -> dict[str, Amount]:
    """Return what software costs a deployment over all years, in dollars, whether it is owned or rented."""
    share = accelerators / engineering.fleet
    upkeep = engineering.engineers * engineering.engineer_usd_per_year * years
    return {"porting": share * _porting_usd(engineering), "upkeep": share * upkeep}


def paid_at_once_usd(owned: Ownership) -> Amount:
    """Return what is paid at the beginning: hardware and porting."""
    return _paid(owned) + software_lines(owned.engineering, owned.accelerators, owned.years)["porting"]


def paid_per_month_usd(owned: Ownership) -> Amount:
    """Return what is paid each month: all that runs. Capital costs no cash, and no hardware is sold."""
    running = total(_running_lines(owned))
    upkeep = software_lines(owned.engineering, owned.accelerators, owned.years)["upkeep"]
    return (running + upkeep) / (owned.years * MONTHS_PER_YEAR)


def energy_kwh(owned: Ownership) -> Amount:
    """Return the energy at the meter over all years, in kWh."""
    running = owned.running
    return (
        owned.accelerators * running.machine_kw * running.draw * running.pue * (owned.years * HOURS_PER_YEAR)
    )


def _hardware_lines(owned: Ownership) -> dict[str, Amount]:
    hardware = owned.hardware
    pieces = owned.accelerators * (1.0 + hardware.spares)
    paid = _paid(owned)
    return {
        "accelerators": pieces * hardware.net_price_usd,
        "server": pieces * hardware.server_usd,
        "network": pieces * hardware.network_usd,
        "rack": pieces * hardware.rack_usd,
        "residual": -hardware.residual * paid,
        "capital": owned.capital_rate * owned.years * paid * (1.0 + hardware.residual) / 2.0,
    }


def _paid(owned: Ownership) -> Amount:
    hardware = owned.hardware
    each = hardware.net_price_usd + hardware.server_usd + hardware.network_usd + hardware.rack_usd
    return owned.accelerators * (1.0 + hardware.spares) * each


def _running_lines(owned: Ownership) -> dict[str, Amount]:
    running = owned.running
    months = owned.years * MONTHS_PER_YEAR
    kilowatts = owned.accelerators * running.machine_kw
    energy = kilowatts * running.draw * (owned.years * HOURS_PER_YEAR) * running.energy_usd_per_kwh
    return {
        "power": energy,
        "cooling": energy * (running.pue - 1.0),
        "demand": kilowatts * running.pue * months * running.demand_usd_per_kw_month,
        "hosting": kilowatts * months * running.hosting_usd_per_kw_month,
        "support": running.support * owned.years * _paid(owned),
        "staff": owned.accelerators * running.staff_usd_per_year * owned.years,
    }


def _porting_usd(engineering: Engineering) -> Amount:
    months = engineering.porting_engineer_months
    return months / MONTHS_PER_YEAR * engineering.engineer_usd_per_year
