"""Numbers as users type and read them in fields."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpudesk.domain.formatting import ENGLISH, NumberStyle
from gpudesk.text import tr

_MULTIPLES = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6}
_SPACES = " \u00a0\u2009\u202f\u2007'\u2019_"


class NumberError(ValueError):
    """What was typed is no number that can be used here; the message says what to type."""


@dataclass(frozen=True, slots=True)
class NumberFormat:
    """How a field shows and reads its number: language, decimals, limits.

    With `decimals` 0 only whole numbers are taken. `unit` is named in messages only.
    """

    least: float
    most: float
    decimals: int = 0
    style: NumberStyle = ENGLISH

    def text(self, value: float) -> str:
        """Write a number with its thousands apart and no idle noughts."""
        digits = f"{value:,.{self.decimals}f}"
        if self.decimals:
            digits = digits.rstrip("0").rstrip(".")
        marks = {",": self.style.thousands, ".": self.style.decimal, "-": self.style.minus}
        return "".join(marks.get(character, character) for character in digits)

    def parse(self, text: str) -> float:
        """Read a number; `4k` is 4,000. What cannot be used raises NumberError."""
        compact = "".join(c for c in text.strip() if c not in _SPACES)
        factor = 1.0
        if compact and compact[-1] in _MULTIPLES:
            factor, compact = _MULTIPLES[compact[-1]], compact[:-1]
        value = self._value(compact) * factor
        if self.decimals == 0 and value != round(value):
            raise NumberError(tr("A whole number is wanted. Use {value}", value=self.text(round(value))))
        if value < self.least:
            raise NumberError(tr("{value} at least", value=self.text(self.least)))
        if value > self.most:
            raise NumberError(tr("{value} at most", value=self.text(self.most)))
        return value

    def _value(self, compact: str) -> float:
        """Read digits. A separator of thousands counts where three digits follow, else as a decimal sign."""
        plain = compact.replace(self.style.minus, "-")
        groups = plain.split(self.style.thousands) if self.style.thousands else [plain]
        if len(groups) > 1 and all(len(group.split(self.style.decimal)[0]) == 3 for group in groups[1:]):
            plain = "".join(groups)
        elif len(groups) == 2 and self.style.decimal not in plain:
            plain = ".".join(groups)
        try:
            value = float(plain.replace(self.style.decimal, "."))
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or not any(c.isdigit() for c in plain):
            example = self.text(min(max(self.least, 64), self.most))
            raise NumberError(tr("A number is wanted, such as {value}", value=example))
        return value
