"""Calculations of the time between two dates: one formula, `a-b`, of months or of days."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.workbench.worked.calculation import Calculation, Quantity

#: The formula of them all; only the statement of an example says what its dates are counted in.
SPAN: Final = "a-b"


def _between(values: Mapping[str, float]) -> float:
    return values["a"] - values["b"]


#: The calculations by what is counted, which is the first word of an example's statement.
SPANS: Final[Mapping[str, Calculation]] = MappingProxyType(
    {
        # A month is given as one number: year × 12 + month, years counted from 2000.
        "months": Calculation(
            "months between",
            "months",
            "{later_month_1_is_January_2000} − {earlier_month_1_is_January_2000}",
            _between,
            {
                "a": Quantity("later month (1 is January 2000)"),
                "b": Quantity("earlier month (1 is January 2000)"),
            },
        ),
        "days": Calculation(
            "days between",
            "days",
            "{later_day_of_the_month} − {earlier_day_of_the_month}",
            _between,
            {"a": Quantity("later day of the month"), "b": Quantity("earlier day of the month")},
        ),
    }
)
