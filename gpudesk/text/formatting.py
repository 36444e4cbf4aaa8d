"""Quantities as text: one formatter for screen, paper, terminal and files."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import get_language, tr, translate_data, trn
from gpudesk.text.units import GB, GIB, KIB, MIB

#: The value of a claim: a number, a word, yes or no, or a list of words.
ClaimValue = int | float | str | bool | tuple[str, ...] | None


class IntervalEstimate(NamedTuple):
    """A median estimate with its 80% interval."""

    value: float
    low: float
    high: float


MISSING_VALUE_TEXT: Final = "—"
#: Decimals kept of a number that the user or a source gave.
_MOST_DECIMALS: Final = 9
_ISO_DATE: Final = re.compile(r"\d{4}(-\d\d){1,2}")
_PART_OF_YEAR: Final = re.compile(r"\d{4}-[QH]\d")
#: Space between a number and its unit, and around the dash of a range.
_SPACE: Final = " "


@frozen_dataclass
class NumberStyle:
    """How a language writes numbers: decimal sign, thousands separator, minus sign, percentages, amounts."""

    name: str
    decimal: str
    thousands: str
    minus: str
    #: The percent sign, with the space before it.
    percent: str = "%"
    #: Whether the currency sign comes before the amount.
    currency_first: bool = True
    #: Whether dates are written as 26.11.2026; otherwise in ISO form.
    day_first: bool = False


ENGLISH_NUMBERS: Final = NumberStyle("en", ".", ",", "−")
GERMAN_NUMBERS: Final = NumberStyle("de", ",", ".", "−", "\N{NO-BREAK SPACE}%", currency_first=False, day_first=True)
#: For machine-readable files: no separators, ASCII minus.
MACHINE_NUMBERS: Final = NumberStyle("machine", ".", "", "-")

_STYLES: Final = {style.name: style for style in (ENGLISH_NUMBERS, GERMAN_NUMBERS, MACHINE_NUMBERS)}


def find_number_style(language: str | None) -> NumberStyle:
    """Return the number style of a language code (`de`, `de_DE`, `en`); English for unknown codes."""
    return _STYLES.get((language or "").partition("_")[0], ENGLISH_NUMBERS)


class Quantity(StrEnum):
    """The kind of a number, which decides its unit and digits on display."""

    MEMORY = "memory"
    CACHE = "cache"
    MEMORY_BANDWIDTH = "memory bandwidth"
    LINK_BANDWIDTH = "link bandwidth"
    NETWORK_RATE = "network rate"
    STORAGE = "storage"
    ARITHMETIC = "arithmetic"
    #: Counted in operations.
    INTEGER_ARITHMETIC = "integer arithmetic"
    POWER = "power"
    USD = "usd"
    USD_PER_HOUR = "usd per hour"
    TOKEN_RATE = "token rate"
    MILLISECONDS = "milliseconds"
    SECONDS = "seconds"
    RACK_UNITS = "rack units"
    MASS = "mass"
    WEEKS = "weeks"
    COUNT = "count"
    TEXT = "text"


@frozen_dataclass
class _DisplayUnit:
    """The displayed unit, its size in the internal unit, and the digits of catalog values."""

    unit: str | None
    factor: float
    least_decimals: int
    most_decimals: int


_DISPLAY_UNITS: Final[dict[Quantity, _DisplayUnit]] = {
    Quantity.MEMORY: _DisplayUnit("GiB", GIB, 1, 1),
    Quantity.CACHE: _DisplayUnit("MiB", MIB, 0, 1),
    Quantity.MEMORY_BANDWIDTH: _DisplayUnit("TB/s", 1e12, 1, 2),
    Quantity.LINK_BANDWIDTH: _DisplayUnit("GB/s", 1e9, 0, 1),
    Quantity.NETWORK_RATE: _DisplayUnit("Gbit/s", 1e9, 0, 1),
    Quantity.STORAGE: _DisplayUnit("TB", 1e12, 0, 2),
    Quantity.ARITHMETIC: _DisplayUnit("TFLOPS", 1e12, 0, 1),
    Quantity.INTEGER_ARITHMETIC: _DisplayUnit("TOPS", 1e12, 0, 1),
    Quantity.POWER: _DisplayUnit("W", 1, 0, 1),
    Quantity.USD: _DisplayUnit("USD", 1, 0, 0),
    Quantity.USD_PER_HOUR: _DisplayUnit("USD/h", 1, 2, 2),
    Quantity.TOKEN_RATE: _DisplayUnit("tok/s", 1, 0, 2),
    Quantity.MILLISECONDS: _DisplayUnit("ms", 1, 0, 2),
    Quantity.SECONDS: _DisplayUnit("s", 1, 0, 2),
    Quantity.RACK_UNITS: _DisplayUnit("U", 1, 0, 1),
    Quantity.MASS: _DisplayUnit("kg", 1, 0, 2),
    Quantity.WEEKS: _DisplayUnit("weeks", 1, 0, 1),
    Quantity.COUNT: _DisplayUnit(None, 1, 0, 3),
    Quantity.TEXT: _DisplayUnit(None, 1, 0, 3),
}

_BY_UNIT: Final[dict[str, Quantity]] = {
    "B": Quantity.MEMORY,
    "B/s": Quantity.LINK_BANDWIDTH,
    "bit/s": Quantity.NETWORK_RATE,
    "FLOP/s": Quantity.ARITHMETIC,
    "W": Quantity.POWER,
    "USD": Quantity.USD,
    "USD/h": Quantity.USD_PER_HOUR,
    "tok/s": Quantity.TOKEN_RATE,
    "ms": Quantity.MILLISECONDS,
    "s": Quantity.SECONDS,
    "U": Quantity.RACK_UNITS,
    "kg": Quantity.MASS,
    "weeks": Quantity.WEEKS,
}


def find_quantity_of_unit(unit: str | None) -> Quantity:
    """Return the quantity of figures in an internal unit, if nothing else defines it."""
    return Quantity.COUNT if unit is None else _BY_UNIT.get(unit, Quantity.COUNT)


def get_display_unit(quantity: Quantity) -> str | None:
    """Return the displayed unit of a quantity, or None for plain numbers and words."""
    return _DISPLAY_UNITS[quantity].unit


def convert_to_display_unit(value: float, quantity: Quantity) -> float:
    """Return a value in its displayed unit, with all digits."""
    return value / _DISPLAY_UNITS[quantity].factor


class Formatter:
    """Formats quantities in one number style. Stateless, so it can be shared."""

    def __init__(self, style: NumberStyle | None = None) -> None:
        """Format in a number style, by default that of the active language."""
        self.style = style or find_number_style(get_language())

    def number(self, value: float, decimals: int = 0) -> str:
        """Return `value` with this many decimals, thousands grouped. Files get all digits of a fraction."""
        if decimals and self.style is MACHINE_NUMBERS:
            return f"{value:.10g}"
        try:
            text = f"{abs(value):,.{decimals}f}"
        except OverflowError:
            # A whole number of hundreds of digits, quoted in an error message.
            from decimal import Decimal

            text = f"{Decimal(abs(value)):.2e}"
        whole, _, fraction = text.partition(".")
        grouped = whole.replace(",", self.style.thousands)
        negative = value < 0 and text.strip("0.,") != ""
        return (self.style.minus if negative else "") + (
            f"{grouped}{self.style.decimal}{fraction}" if fraction else grouped
        )

    def count(self, value: float | None) -> str:
        return MISSING_VALUE_TEXT if value is None else self.number(value)

    def exact(self, value: float | None) -> str:
        """Return a number with all its decimals."""
        if value is None or not math.isfinite(value):
            return MISSING_VALUE_TEXT
        return self.number(value, _count_stated_decimals(value, 0, _MOST_DECIMALS))

    def estimate(self, value: float | None) -> str:
        """Return an estimate with three significant digits: 0.0123, 65.9, 1,390. Files get all digits."""
        if value is None or not math.isfinite(value):
            return MISSING_VALUE_TEXT
        if self.style is MACHINE_NUMBERS:
            return f"{value:.10g}"
        return self.number(_round_estimate(value), _estimate_decimals(value))

    def round_estimate(self, value: float) -> float:
        """Return the number that `estimate` shows."""
        if self.style is MACHINE_NUMBERS:
            return value
        return round(_round_estimate(value), _estimate_decimals(value))

    def band(self, banded: IntervalEstimate | None) -> str:
        """Return the interval, `980 – 1,560`, with three significant digits at each end."""
        if banded is None:
            return MISSING_VALUE_TEXT
        return self.interval(banded.low, banded.high)

    def interval(self, low: float, high: float) -> str:
        return f"{self.estimate(low)}{_SPACE}–{_SPACE}{self.estimate(high)}"

    def estimate_with_interval(self, banded: IntervalEstimate | None, unit: str | None = None) -> str:
        """Return the median with its interval, `1,230 (980 – 1,560)`, in the unit that suits the median."""
        if banded is None:
            return MISSING_VALUE_TEXT
        factor, display_unit = find_readable_unit(banded.value, unit)
        value, low, high = (each / factor for each in banded)
        text = f"{self.estimate(value)} ({self.interval(low, high)})"
        return self._join_unit(text, display_unit) if display_unit else text

    def gib(self, memory_bytes: float | None) -> str:
        return MISSING_VALUE_TEXT if memory_bytes is None else self.number(memory_bytes / GIB, 1)

    def gb(self, memory_bytes: float | None) -> str:
        """Return bytes as a number of GB (10^9)."""
        return MISSING_VALUE_TEXT if memory_bytes is None else self.number(memory_bytes / GB, 1)

    def memory(self, memory_bytes: float | None) -> str:
        """Return bytes as `131.4 GiB (141.1 GB)`; below 1 GiB in MiB, KiB or bytes."""
        if memory_bytes is None:
            return MISSING_VALUE_TEXT
        if abs(memory_bytes) >= GIB or memory_bytes == 0:
            return f"{self.gib(memory_bytes)}{_SPACE}GiB ({self.gb(memory_bytes)}{_SPACE}GB)"
        text, unit = self.value_and_unit(memory_bytes, "B")
        return f"{text}{_SPACE}{unit}"

    def difference(self, ratio: float) -> str:
        """Return the difference of a ratio from 1 as a signed percentage."""
        return f"{self.signed_per_cent(ratio)}{self.style.percent}"

    def signed_per_cent(self, ratio: float) -> str:
        """Return the difference of a ratio from 1 as a signed percentage, without the sign `%`."""
        per_cent = (ratio - 1) * 100
        if self.style is MACHINE_NUMBERS:
            return f"{per_cent:.10g}"
        sign = "+" if round(per_cent) > 0 else ""
        return f"{sign}{self.number(_round_estimate(per_cent))}"

    def small_amount(self, value: float | None) -> str:
        """Return an amount of some dollars and cents: two decimals below 100, three digits below 0.1."""
        if value is None or not math.isfinite(value):
            return MISSING_VALUE_TEXT
        if self.style is MACHINE_NUMBERS:
            return self.estimate(value)
        if abs(value) >= 100.0:
            return self.number(value)
        return self.number(value, 2) if abs(value) >= 0.1 else self.estimate(value)

    def round_small_amount(self, value: float) -> float:
        """Return the number that `small_amount` shows."""
        if self.style is MACHINE_NUMBERS or abs(value) < 0.1:
            return self.round_estimate(value)
        return round(value, 2 if abs(value) < 100.0 else 0)

    def money(self, amount: str, code: str) -> str:
        """Return an amount with its currency: a dollar sign before it, or the code after it."""
        return _join_currency(amount, code, self.style)

    def per_cent(self, share: float | None) -> str:
        """Return a share of 1 as a percentage."""
        return MISSING_VALUE_TEXT if share is None else f"{self.number(share * 100)}{self.style.percent}"

    def date(self, iso_date: str) -> str:
        """Return a day, a month, a quarter or a half in the style of the language; years and words stay unchanged."""
        if self.style is not MACHINE_NUMBERS and _PART_OF_YEAR.fullmatch(iso_date) is not None:
            return f"{iso_date[5:]} {iso_date[:4]}"
        if not self.style.day_first or _ISO_DATE.fullmatch(iso_date) is None:
            return iso_date
        return ".".join(reversed(iso_date.split("-")))

    def _join_unit(self, text: str, unit: str) -> str:
        """Return a number with its unit; files for programs keep the currency after the number."""
        if self.style is MACHINE_NUMBERS and unit.startswith("USD"):
            return f"{text}{_SPACE}{unit}"
        return join_unit(text, unit, _SPACE)

    def catalog(self, value: ClaimValue, quantity: Quantity) -> str:
        """Return a catalog value in its displayed unit, without the unit; words are translated, lists are not."""
        if value is None:
            return MISSING_VALUE_TEXT
        if isinstance(value, bool):
            return tr("yes") if value else tr("no")
        if isinstance(value, str):
            return self.date(translate_data(value))
        if isinstance(value, tuple):
            return ", ".join(value)
        display_unit = _DISPLAY_UNITS[quantity]
        scaled = value / display_unit.factor
        if quantity in _ARITHMETIC and abs(scaled) >= _WHOLE_RATE and self.style is not MACHINE_NUMBERS:
            return self.number(scaled)
        most = 3 if 0 < abs(scaled) < 1 else display_unit.most_decimals
        return self.number(scaled, _count_stated_decimals(scaled, display_unit.least_decimals, most))

    def catalog_with_unit(self, value: ClaimValue, quantity: Quantity) -> str:
        """Return a catalog value with its unit; memory in GiB and GB."""
        if quantity is Quantity.MEMORY and isinstance(value, int | float) and not isinstance(value, bool):
            return self.memory(value)
        text = self.catalog(value, quantity)
        unit = get_display_unit(quantity)
        if value is None or isinstance(value, str | tuple | bool) or unit is None:
            return text
        return self._join_unit(text, unit)

    def quantity(self, value: float, unit: str | None) -> str:
        """Return any figure with its unit, scaled to a readable size; `unit` is the internal one.

        With a `Quantity` as the unit, digits and unit are those of the catalog.
        """
        if isinstance(unit, Quantity):
            return self.catalog_with_unit(value, unit)
        if unit == "B":
            return self.memory(value)
        text, display_unit = self.value_and_unit(value, unit)
        return self._join_unit(text, translate_unit(display_unit, value)) if display_unit else text

    def value_and_unit(self, value: float, unit: str | None) -> tuple[str, str | None]:
        """Return any figure, scaled to a readable size, and its unit; bytes in binary units."""
        return self.value_as(value, value, unit), find_readable_unit(value, unit)[1]

    def value_as(self, value: float, reference: float, unit: str | None) -> str:
        """Return a figure, without its unit, in the unit that suits `reference`."""
        factor, _ = find_readable_unit(reference, unit)
        scaled = value / factor
        if unit == "B" and factor in (GIB, 1):
            return self.number(scaled, 1 if factor == GIB else 0)
        if unit == "B/s" and factor == 1e12 and abs(scaled) < 10:
            # As in the catalog, 6.0 TB/s.
            return self.number(scaled, _count_stated_decimals(scaled, 1, 2))
        if unit == "FLOP/s" and factor == 1e12 and _is_stated(scaled):
            return self.catalog(value, Quantity.ARITHMETIC)
        # A price has the same digits in every place.
        whole = (unit in _COUNTED and scaled == round(scaled)) or (unit == "USD" and abs(scaled) >= _WHOLE_USD)
        return self.number(scaled) if whole else self.estimate(scaled)


#: Amounts from here on are shown in whole dollars.
_WHOLE_USD: Final = 100.0
#: Peaks from here on are shown in whole TFLOPS or TOPS: 1,979, also where a source states 1,978.9.
_WHOLE_RATE: Final = 100.0
_ARITHMETIC: Final = frozenset({Quantity.ARITHMETIC, Quantity.INTEGER_ARITHMETIC})
#: Decimals of TFLOPS in data sheets; a computed rate has more.
_STATED_DECIMALS: Final = 3
#: Units of counted items, whose whole numbers keep all digits.
_COUNTED: Final = frozenset({None, "", "tokens", "sequences", "requests", "accelerators", "layers", "parameters", "1"})

#: Internal unit -> units for readable sizes, the largest first.
_READABLE: Final[dict[str, tuple[tuple[float, str], ...]]] = {
    "B": ((GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB"), (1, "B")),
    "s": ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "ms": ((3.6e6, "h"), (6e4, "min"), (1e3, "s"), (1.0, "ms")),
    "B/s": ((1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s")),
    "FLOP/s": ((1e15, "PFLOPS"), (1e12, "TFLOPS"), (1e9, "GFLOPS")),
    "FLOP": ((1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1e6, "MFLOP")),
    "FLOP/token": ((1e12, "TFLOP/token"), (1e9, "GFLOP/token"), (1e6, "MFLOP/token")),
    "B/token": ((GIB, "GiB/token"), (MIB, "MiB/token"), (KIB, "KiB/token"), (1.0, "B/token")),
    "parameters": ((1.0, "parameters"),),
}
#: Units that are used only above several of them: 10,000 ms, 120 s, 120 min, 100,000 TFLOPS.
_USED_FROM: Final = {
    ("s", "h"): 2.0,
    ("s", "min"): 2.0,
    ("ms", "h"): 2.0,
    ("ms", "min"): 2.0,
    ("ms", "s"): 10.0,
    ("FLOP/s", "PFLOPS"): 100.0,
}


def find_readable_unit(value: float, unit: str | None) -> tuple[float, str | None]:
    """Return the best unit for a value: its size in the internal unit, and its name.

    Times are in ms below 10,000 ms, in seconds below 120 s, in minutes below 120 min; rates of arithmetic are in TFLOPS
    below 100,000 TFLOPS, as in data sheets.
    """
    steps = _READABLE.get(unit or "")
    if steps is None:
        return 1.0, None if unit in ("", "1") else unit
    if value == 0:
        return (1.0, unit) if unit in ("s", "ms") else steps[0]
    return next(
        (each for each in steps if abs(value) >= each[0] * _USED_FROM.get((unit or "", each[1]), 1.0)), steps[-1]
    )


def find_common_unit(values: Sequence[float], unit: str | None) -> tuple[float, str | None]:
    """Return the best unit for a row of values, as `find_readable_unit`: the largest in which none is below 0.1."""
    factor, display_unit = find_readable_unit(max(values, default=1.0), unit)
    fitting = (
        step
        for step in _READABLE.get(unit or "", ())
        if step[0] <= factor and min(values, default=0.0) >= 0.1 * step[0]
    )
    return next(fitting, (factor, display_unit))


#: Units that are words or abbreviations of words.
_WORDED_UNITS: Final = (
    "USD/M",
    "USD/M tokens",
    "USD/kW/month",
    "USD/year",
    "requests/s",
    "U",
    "nodes",
    "cores",
    "adapters",
)


def translate_unit(unit: str, number: float = 2) -> str:
    """Return a unit in the current language, as shown with a number: words change, symbols stay."""
    n = 1 if number == 1 else 2
    match unit:
        case "tokens":
            return trn("token", "tokens", n)
        case "sequences":
            return trn("sequence", "sequences", n)
        case "requests":
            return trn("request", "requests", n)
        case "accelerators":
            return trn("accelerator", "accelerators", n)
        case "layers":
            return trn("layer", "layers", n)
        case "parameters":
            return trn("parameter", "parameters", n)
        case "weeks":
            return trn("week", "weeks", n)
    return tr(unit) if unit in _WORDED_UNITS else unit


def join_unit(text: str, unit: str, space: str = "\N{NO-BREAK SPACE}") -> str:
    """Return a number with its unit in the current language: `5 years`, `12%`, `$0.14/kWh (0.08 – 0.2)`."""
    style = find_number_style(get_language())
    if unit == "%":
        return text + style.percent
    display_unit = translate_unit(unit)
    code, slash, per = display_unit.partition("/")
    if code == "1":
        return f"{text}/{per}"
    if code == "USD" and text:
        likely = text.partition("(")[0].rstrip()
        return _join_currency(likely, code, style) + slash + per + text[len(likely) :]
    return f"{text}{space}{display_unit}"


def _join_currency(amount: str, code: str, style: NumberStyle) -> str:
    if code == "USD" and style.currency_first:
        sign = amount[:1] if amount.startswith(("+", style.minus)) else ""
        return f"{sign}${amount[len(sign) :]}"
    return f"{amount}\N{NO-BREAK SPACE}{'$' if code == 'USD' else code}"


def _round_estimate(value: float) -> float:
    """Return a value of 1,000 or more with three significant digits; smaller values are rounded by decimals."""
    return value if abs(value) < 1000 else float(f"{value:.2e}")


def _estimate_decimals(value: float) -> int:
    """Return the decimals for three significant digits: 0 from 100 on, at most 10."""
    if value == 0:
        return 0
    decimals = 2 - math.floor(math.log10(abs(value)))
    # 9.996 is shown as 10.0, not as 10.00.
    if round(abs(value), max(decimals, 0)) >= 10 ** (3 - decimals):
        decimals -= 1
    return min(max(decimals, 0), 10)


def _is_stated(value: float) -> bool:
    """Return whether a rate has so few decimals that a data sheet can state it."""
    return math.isclose(round(value, _STATED_DECIMALS), value, rel_tol=1e-9)


def _count_stated_decimals(value: float, least: int, most: int) -> int:
    for decimals in range(least, most):
        if math.isclose(round(value, decimals), value, rel_tol=1e-9):
            return decimals
    return most


#: Units that stay on the line of their figure, and variants on that of their name: H100 PCIe.
FIGURE_UNITS: Final = frozenset(
    {"%", "B", "KiB", "MiB", "GiB", "GB", "TB/s", "GB/s", "PFLOPS", "TFLOPS", "TOPS", "W", "USD", "×"}
    | {"tok/s", "ms", "s", "bytes", "bits", "MHz", "tokens", "requests", "requests/s", "kW", "MWh", "TB", "MB", "nm"}
    | {"month", "months", "year", "years", "rack", "racks", "SXM", "NVL", "PCIe"}
    | {"Bit", "Byte", "Token", "Anfragen", "Anfragen/s", "Monat", "Monate", "Jahr", "Jahre", "Rack", "Racks"}
)
_UNIT_SPACE: Final = re.compile(
    rf"(?<=\d) (?=(?:{'|'.join(map(re.escape, sorted(FIGURE_UNITS)))})(?!\w))"
    r"|(?<=×) (?=\w)|(?<=\d) (?=– \d)|(?<=\d –) (?=\d)|(?<=\w) (?=\d+$)"
)
_RATE: Final = re.compile(r"(?<=\w)/(?=s\b)")


def bind_units(text: str) -> str:
    """Return a text with no-break spaces in ranges, between figures and units, and between names and their numbers.

    Rates such as tok/s do not break at their slash: a word joiner follows it.
    """
    return _RATE.sub("/\u2060", _UNIT_SPACE.sub("\u00a0", text))


#: A text of this length keeps at least so many characters in its last line.
_LONG_TEXT: Final = 60
_LEAST_END: Final = 12


def bind_end(text: str) -> str:
    """Return a text with no-break spaces between its last words, so that none of them is alone in the last line."""
    start = text.rfind(" ", 0, -_LEAST_END) + 1
    return text if len(text) < _LONG_TEXT else text[:start] + text[start:].replace(" ", "\u00a0")
