"""Where two costs are equal. Costs are straight lines in what is asked for, so that roots are exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gpudesk.domain.units import HOURS_PER_MONTH, MONTHS_PER_YEAR
from gpudesk.economics.owning import Amount


def linear_root(difference: Callable[[float], Amount]) -> Amount:
    """Return where a difference that is a straight line in its argument is 0; NaN where it never is.

    The line is known from its values at 0 and 1.
    """
    at_zero = np.asarray(difference(0.0), dtype=np.float64)
    slope = np.asarray(difference(1.0), dtype=np.float64) - at_zero
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.where(slope == 0.0, np.nan, -at_zero / slope)
    return float(root) if root.ndim == 0 else root


def months_to_own(at_once_usd: Amount, per_month_usd: Amount, rent_usd_per_month: Amount) -> Amount:
    """Return after how many months owning has cost less than renting; infinity where it never does."""
    saved = np.asarray(rent_usd_per_month - per_month_usd, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        months = np.where(saved > 0.0, at_once_usd / saved, np.inf)
    return float(months) if months.ndim == 0 else months


def hours_per_month_to_own(total_usd: Amount, years: Amount, rent_usd_per_hour: Amount) -> Amount:
    """Return from how many rented hours a month on owning is cheaper over all years."""
    return total_usd / (years * MONTHS_PER_YEAR) / rent_usd_per_hour


def utilisation_to_own(total_usd: Amount, years: Amount, rent_usd_per_hour: Amount) -> Amount:
    """Return the share of all hours in use from which on owning is cheaper; above 1 where it never is."""
    return hours_per_month_to_own(total_usd, years, rent_usd_per_hour) / HOURS_PER_MONTH


def payback_months(cost_usd: Amount, hours_per_month: Amount, saved_usd_per_hour: Amount) -> Amount:
    """Return after how many months what was paid once has been saved by the hour."""
    return cost_usd / (hours_per_month * saved_usd_per_hour)


def payback_hours_per_month(cost_usd: Amount, months: Amount, saved_usd_per_hour: Amount) -> Amount:
    """Return the hours a month that pay what was paid once back in so many months."""
    return cost_usd / (saved_usd_per_hour * months)


def saving_after(saved: Amount, cost: Amount, added: Amount) -> Amount:
    """Return what is left of a saving when the cost of what saves rises by so much."""
    return 1.0 - (1.0 - saved) * (cost + added) / cost


def added_to_reach(saved: Amount, left: Amount, cost: Amount) -> Amount:
    """Return what the cost of what saves may rise by until only `left` of its saving is left."""
    return cost * (saved - left) / (1.0 - saved)
