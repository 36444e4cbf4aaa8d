"""The total cost of owning a deployment line by line, the cost per token, and break-even points.

Pure functions of numbers or arrays that broadcast. Amounts are US dollars, rates are shares of 1. Hardware is bought at
the beginning, depreciated linearly to its residual value, and operated in between. Taxes are excluded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.units import HOURS_PER_MONTH, HOURS_PER_YEAR, MONTHS_PER_YEAR, SECONDS_PER_HOUR

#: A number, or an array that broadcasts against the others.
Amount = float | NDArray[np.float64]

_KILO: Final = 1000.0


@frozen_dataclass
class HardwareInputs:
    """The purchase of each accelerator.

    `price_usd` is before `discount`, which is a share of it. `server_usd`, `network_usd` and `rack_usd` are an
    accelerator's shares. `spares` are the share of spare hardware on the shelf, without power. `residual` is the share
    of the price paid that the hardware is worth at the end.
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
        """Price paid for an accelerator: list price less discount."""
        return self.price_usd * (1.0 - self.discount)


@frozen_dataclass
class RunningInputs:
    """Operating inputs, per accelerator and shared.

    `accelerator_w` and `host_w` are its power and its share of the host's; `draw` is the average share of both that is
    drawn, `idle_draw` the share of its power that an idle accelerator draws. `pue` is power of the site over that of
    the machines. Demand charge and hosting are per kW of the machines, at the meter for the demand charge. `support` is
    a yearly share of the hardware price. `staff_usd_per_year` is per accelerator.
    """

    accelerator_w: Amount
    energy_usd_per_kwh: Amount
    host_w: Amount = 0.0
    draw: Amount = 1.0
    idle_draw: Amount = 0.0
    pue: Amount = 1.0
    demand_usd_per_kw_month: Amount = 0.0
    hosting_usd_per_kw_month: Amount = 0.0
    support: Amount = 0.0
    staff_usd_per_year: Amount = 0.0

    @property
    def machine_kw(self) -> Amount:
        return (self.accelerator_w + self.host_w) / _KILO


@frozen_dataclass
class EngineeringInputs:
    """Additional software work, for a fleet of this many accelerators.

    Porting is paid once, `engineers` continuously. A deployment pays its share of the fleet.
    """

    engineer_usd_per_year: Amount = 0.0
    engineers: Amount = 0.0
    porting_engineer_months: Amount = 0.0
    fleet: Amount = 1.0


@frozen_dataclass
class OwnershipInputs:
    """A deployment of this many accelerators owned for `years`; capital costs `capital_rate` per year.

    `idle` accelerators of a partly used system are paid for and draw idle power.
    """

    accelerators: Amount
    years: Amount
    hardware: HardwareInputs
    running: RunningInputs
    engineering: EngineeringInputs = EngineeringInputs()
    capital_rate: Amount = 0.0
    idle: Amount = 0.0

    @property
    def bought(self) -> Amount:
        return self.accelerators + self.idle

    @property
    def average_kw(self) -> Amount:
        """Average power of the machines; hosts draw as much for idle accelerators."""
        running = self.running
        idle_kw = (running.accelerator_w * running.idle_draw + running.host_w * running.draw) / _KILO
        return self.accelerators * running.machine_kw * running.draw + self.idle * idle_kw


def list_ownership_lines(owned: OwnershipInputs) -> dict[str, Amount]:
    """Return the cost of each line over all years, in dollars and display order; the total is their sum.

    The residual value is negative. The cost of capital is its rate on the mean of the hardware's value at the beginning
    and at the end. Cooling is the site's power beyond its machines.
    """
    software = list_software_lines(owned.engineering, owned.accelerators, owned.years)
    return {**_list_hardware_lines(owned), **_list_running_lines(owned), **software}


def sum_lines(lines: Mapping[str, Amount]) -> Amount:
    amounts = iter(lines.values())
    summed = next(amounts)
    for amount in amounts:
        summed = summed + amount
    return summed


def list_software_lines(engineering: EngineeringInputs, accelerators: Amount, years: Amount) -> dict[str, Amount]:
    """Return the software cost of a deployment over all years, in dollars, owned or rented."""
    share = accelerators / engineering.fleet
    upkeep = engineering.engineers * engineering.engineer_usd_per_year * years
    months = engineering.porting_engineer_months
    return {"porting": share * (months / MONTHS_PER_YEAR * engineering.engineer_usd_per_year), "upkeep": share * upkeep}


def compute_upfront_usd(owned: OwnershipInputs) -> Amount:
    """Return the upfront cost: hardware and porting."""
    return (
        _compute_purchase_usd(owned)
        + list_software_lines(owned.engineering, owned.accelerators, owned.years)["porting"]
    )


def compute_monthly_usd(owned: OwnershipInputs) -> Amount:
    """Return the running cost per month, in cash: without cost of capital and residual value."""
    running = sum_lines(_list_running_lines(owned))
    upkeep = list_software_lines(owned.engineering, owned.accelerators, owned.years)["upkeep"]
    return (running + upkeep) / (owned.years * MONTHS_PER_YEAR)


def compute_energy_kwh(owned: OwnershipInputs) -> Amount:
    """Return the energy at the meter over all years, in kWh."""
    return owned.average_kw * owned.running.pue * (owned.years * HOURS_PER_YEAR)


def _list_hardware_lines(owned: OwnershipInputs) -> dict[str, Amount]:
    hardware = owned.hardware
    pieces = owned.bought * (1.0 + hardware.spares)
    paid = _compute_purchase_usd(owned)
    return {
        "accelerators": pieces * hardware.net_price_usd,
        "server": pieces * hardware.server_usd,
        "network": pieces * hardware.network_usd,
        "rack": pieces * hardware.rack_usd,
        "residual": -hardware.residual * paid,
        "capital": owned.capital_rate * owned.years * paid * (1.0 + hardware.residual) / 2.0,
    }


def _compute_purchase_usd(owned: OwnershipInputs) -> Amount:
    hardware = owned.hardware
    each = hardware.net_price_usd + hardware.server_usd + hardware.network_usd + hardware.rack_usd
    return owned.bought * (1.0 + hardware.spares) * each


def _list_running_lines(owned: OwnershipInputs) -> dict[str, Amount]:
    running = owned.running
    months = owned.years * MONTHS_PER_YEAR
    kilowatts = owned.bought * running.machine_kw
    energy = owned.average_kw * (owned.years * HOURS_PER_YEAR) * running.energy_usd_per_kwh
    return {
        "power": energy,
        "cooling": energy * (running.pue - 1.0),
        "demand": kilowatts * running.pue * months * running.demand_usd_per_kw_month,
        "hosting": kilowatts * months * running.hosting_usd_per_kw_month,
        "support": running.support * owned.years * _compute_purchase_usd(owned),
        "staff": owned.bought * running.staff_usd_per_year * owned.years,
    }


_MILLION: Final = 1e6
_JOULES_PER_KWH: Final = 3.6e6


def count_served_tokens(tokens_per_s: Amount, hours: Amount, utilisation: Amount) -> Amount:
    """Return the tokens of this many hours at a utilization and the given rate."""
    return tokens_per_s * hours * utilisation * SECONDS_PER_HOUR


def compute_owned_usd_per_million(
    total_usd: Amount, tokens_per_s: Amount, years: Amount, utilisation: Amount
) -> Amount:
    return total_usd / count_served_tokens(tokens_per_s, years * HOURS_PER_YEAR, utilisation) * _MILLION


def compute_rented_usd_per_million(usd_per_hour: Amount, tokens_per_s: Amount, utilisation: Amount) -> Amount:
    """Return dollars per million tokens of a deployment rented by the hour.

    `usd_per_hour` is for the whole deployment, `utilisation` the used share of the rented hours.
    """
    return usd_per_hour / count_served_tokens(tokens_per_s, 1.0, utilisation) * _MILLION


def compute_api_usd_per_million(
    usd_per_million_input: Amount, usd_per_million_output: Amount, input_tokens: Amount, output_tokens: Amount
) -> Amount:
    """Return a hosted API's charge for a million output tokens with their prompts."""
    return usd_per_million_output + usd_per_million_input * input_tokens / output_tokens


def compute_joules_per_token(kilowatts: Amount, tokens_per_s: Amount) -> Amount:
    return kilowatts * _JOULES_PER_KWH / SECONDS_PER_HOUR / tokens_per_s


def solve_linear_root(difference: Callable[[float], Amount]) -> Amount:
    """Return the zero of a difference that is linear in its argument; NaN without one.

    The line is given by its values at 0 and 1.
    """
    at_zero = np.asarray(difference(0.0), dtype=np.float64)
    slope = np.asarray(difference(1.0), dtype=np.float64) - at_zero
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.where(slope == 0.0, np.nan, -at_zero / slope)
    return float(root) if root.ndim == 0 else root


def compute_months_to_own(at_once_usd: Amount, per_month_usd: Amount, rent_usd_per_month: Amount) -> Amount:
    """Return the months after which owning has cost less than renting; infinity if never."""
    saved = np.asarray(rent_usd_per_month - per_month_usd, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        months = np.where(saved > 0.0, at_once_usd / saved, np.inf)
    return float(months) if months.ndim == 0 else months


def compute_hours_to_own(total_usd: Amount, years: Amount, rent_usd_per_hour: Amount) -> Amount:
    """Return the rented hours per month above which owning is cheaper over all years."""
    return total_usd / (years * MONTHS_PER_YEAR) / rent_usd_per_hour


def compute_utilization_to_own(total_usd: Amount, years: Amount, rent_usd_per_hour: Amount) -> Amount:
    """Return the utilization above which owning is cheaper; above 1 if it never is."""
    return compute_hours_to_own(total_usd, years, rent_usd_per_hour) / HOURS_PER_MONTH


def compute_payback_hours(cost_usd: Amount, months: Amount, saved_usd_per_hour: Amount) -> Amount:
    """Return the hours per month that pay back a one-time cost in the given months."""
    return cost_usd / (saved_usd_per_hour * months)
