"""From inputs to costs: for single numbers and for draws alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpudesk.economics.owning import (
    Amount,
    Engineering,
    Hardware,
    Ownership,
    Running,
    ownership_lines,
    software_lines,
    total,
)
from gpudesk.economics.tokens import owned_usd_per_million, rented_usd_per_million

#: Stands among the inputs for the output tokens/s of the deployment, which an estimate gives.
THROUGHPUT = "throughput"
Values = Mapping[str, Amount]

#: Without these there is no cost of owning, or of renting.
NEEDED_TO_OWN = ("price_usd", "accelerator_w", THROUGHPUT)
NEEDED_TO_RENT = ("rent_usd_per_hour", THROUGHPUT)
#: Inputs of what software costs, which is the same for hardware that is owned and that is rented.
_OF_SOFTWARE = ("engineer_usd_per_year", "engineers", "porting_engineer_months", "fleet")
#: Inputs that a cost of owning, or of renting, depends on.
OF_OWNING = (
    THROUGHPUT,
    "utilisation",
    "years",
    "price_usd",
    "discount",
    "server_share",
    "network_share",
    "rack_share",
    "spares",
    "residual",
    "capital_rate",
    "energy_usd_per_kwh",
    "pue",
    "accelerator_w",
    "host_w",
    "draw",
    "demand_usd_per_kw_month",
    "hosting_usd_per_kw_month",
    "support",
    "staff_usd_per_year",
    *_OF_SOFTWARE,
)
OF_RENTING = (THROUGHPUT, "utilisation", "years", "rent_usd_per_hour", *_OF_SOFTWARE)


@dataclass(frozen=True, slots=True)
class Deployment:
    """What is paid for: so many accelerators, and how long its requests are in tokens."""

    accelerators: int
    input_tokens: int
    output_tokens: int


def ownership(values: Values, accelerators: Amount) -> Ownership:
    """Return a deployment that is owned. Shares of hardware are of the list price of an accelerator."""
    price = values["price_usd"]
    return Ownership(
        accelerators=accelerators,
        years=values["years"],
        hardware=Hardware(
            price_usd=price,
            discount=values["discount"],
            server_usd=values["server_share"] * price,
            network_usd=values["network_share"] * price,
            rack_usd=values["rack_share"] * price,
            spares=values["spares"],
            residual=values["residual"],
        ),
        running=Running(
            accelerator_w=values["accelerator_w"],
            energy_usd_per_kwh=values["energy_usd_per_kwh"],
            host_w=values["host_w"],
            draw=values["draw"],
            pue=values["pue"],
            demand_usd_per_kw_month=values["demand_usd_per_kw_month"],
            hosting_usd_per_kw_month=values["hosting_usd_per_kw_month"],
            support=values["support"],
            staff_usd_per_year=values["staff_usd_per_year"],
        ),
        engineering=_engineering(values),
        capital_rate=values["capital_rate"],
    )


def owned_total_usd(values: Values, deployment: Deployment) -> Amount:
    """Return what owning a deployment costs over all years."""
    return total(ownership_lines(ownership(values, deployment.accelerators)))


def owned_per_million(values: Values, deployment: Deployment) -> Amount:
    """Return dollars for a million output tokens of a deployment that is owned."""
    return owned_usd_per_million(
        owned_total_usd(values, deployment), values[THROUGHPUT], values["years"], values["utilisation"]
    )


def rented_per_million(values: Values, deployment: Deployment) -> Amount:
    """Return dollars for a million output tokens of a deployment rented all hours, with its software."""
    rate, utilisation = values[THROUGHPUT], values["utilisation"]
    hourly = deployment.accelerators * values["rent_usd_per_hour"]
    software = total(software_of(values, deployment.accelerators))
    return rented_usd_per_million(hourly, rate, utilisation) + owned_usd_per_million(
        software, rate, values["years"], utilisation
    )


def software_of(values: Values, accelerators: Amount) -> dict[str, Amount]:
    """Return what porting and upkeep cost so many accelerators over all years."""
    return software_lines(_engineering(values), accelerators, values["years"])


def _engineering(values: Values) -> Engineering:
    return Engineering(
        engineer_usd_per_year=values["engineer_usd_per_year"],
        engineers=values["engineers"],
        porting_engineer_months=values["porting_engineer_months"],
        fleet=values["fleet"],
    )
