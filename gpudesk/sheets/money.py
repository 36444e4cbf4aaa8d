"""Amounts of money as text, in US dollars or in the currency that the user set a rate of."""

from __future__ import annotations

from typing import Final

from gpudesk.domain.cost_inputs import Currency
from gpudesk.domain.estimates import Banded
from gpudesk.domain.formatting import UNKNOWN, Formatter

_USD: Final = "USD"
_THOUSAND: Final = 1000.0
_SPACE: Final = "\N{NO-BREAK SPACE}"


class Money:
    """Writes amounts that are US dollars inside; `code` is what they are shown in."""

    def __init__(self, formatter: Formatter, currency: Currency | None = None) -> None:
        """Show dollars, or a currency by its rate."""
        self._formatter = formatter
        self._rate = 1.0 if currency is None else currency.per_usd
        self.code = _USD if currency is None else currency.code

    def in_currency(self, usd: float) -> float:
        """Return an amount in the currency that is shown."""
        return usd * self._rate

    def unit(self, unit: str) -> str:
        """Return a unit of money as `USD/kWh` in the currency that is shown."""
        return unit.replace(_USD, self.code)

    def small(self, usd: float | None) -> str:
        """Return an amount of some dollars and cents: two decimals below 100, three digits below 0.1."""
        if usd is None:
            return UNKNOWN
        amount = usd * self._rate
        if abs(amount) >= 100.0:
            return self._formatter.number(amount)
        return self._formatter.number(amount, 2) if abs(amount) >= 0.1 else self._formatter.estimate(amount)

    def whole(self, usd: float | None) -> str:
        """Return an amount without cents."""
        return UNKNOWN if usd is None else self._formatter.number(usd * self._rate)

    def thousands(self, usd: float | None) -> str:
        """Return an amount in thousands: with a decimal below a hundred of them."""
        if usd is None:
            return UNKNOWN
        amount = usd * self._rate / _THOUSAND
        return self._formatter.number(amount, 1 if abs(amount) < 99.95 else 0)

    def band(self, banded: Banded | None) -> str:
        """Return the interval of a small amount."""
        if banded is None:
            return UNKNOWN
        return f"{self.small(banded.low)}{_SPACE}–{_SPACE}{self.small(banded.high)}"

    def banded(self, banded: Banded | None) -> str:
        """Return a small amount with its band and the code."""
        if banded is None:
            return UNKNOWN
        return f"{self.small(banded.value)} ({self.band(banded)}){_SPACE}{self.code}"
