"""SI units used internally, and the published units of data files and sources."""

from __future__ import annotations

from typing import Final

KIB: Final = 2**10
MIB: Final = 2**20
GIB: Final = 2**30
GB: Final = 10**9

SECONDS_PER_HOUR: Final = 3600.0
HOURS_PER_YEAR: Final = 8760.0
MONTHS_PER_YEAR: Final = 12.0
HOURS_PER_MONTH: Final = HOURS_PER_YEAR / MONTHS_PER_YEAR

#: Published unit -> (internal unit, factor). Rates of arithmetic can be FLOP/s or OP/s.
_SI: Final[dict[str, tuple[str, float]]] = {
    "B": ("B", 1),
    "KB": ("B", 10**3),
    "MB": ("B", 10**6),
    "GB": ("B", 10**9),
    "TB": ("B", 10**12),
    "KiB": ("B", KIB),
    "MiB": ("B", MIB),
    "GiB": ("B", GIB),
    "B/s": ("B/s", 1),
    "GB/s": ("B/s", 10**9),
    "GiB/s": ("B/s", GIB),
    "TB/s": ("B/s", 10**12),
    "bit/s": ("bit/s", 1),
    "Gbit/s": ("bit/s", 10**9),
    "TFLOPS": ("FLOP/s", 10**12),
    "PFLOPS": ("FLOP/s", 10**15),
    "TOPS": ("FLOP/s", 10**12),
    "FLOP/s": ("FLOP/s", 1),
    "W": ("W", 1),
    "kW": ("W", 10**3),
    "USD": ("USD", 1),
    "USD/h": ("USD/h", 1),
    "nm": ("nm", 1),
    "ms": ("s", 10**-3),
    "s": ("s", 1),
    "us": ("s", 10**-6),
    "tokens": ("tokens", 1),
    "parameters": ("parameters", 1),
    "B params": ("parameters", 10**9),
    "stacks": ("stacks", 1),
    "accelerators": ("accelerators", 1),
    "GPUs": ("accelerators", 1),
    "generation": ("generation", 1),
    "nodes": ("nodes", 1),
    "racks": ("racks", 1),
    "cores": ("cores", 1),
    "vCPUs": ("vCPUs", 1),
    "adapters": ("adapters", 1),
    "U": ("U", 1),
    "kg": ("kg", 1),
    "weeks": ("weeks", 1),
    "tok/s": ("tok/s", 1),
}


class UnknownUnitError(ValueError):
    """A unit that the program does not know."""

    def __init__(self, unit: str) -> None:
        super().__init__(unit)
        self.unit = unit


def get_si_unit(unit: str) -> str:
    """Return the internal unit of a published unit; raises `UnknownUnitError`."""
    try:
        return _SI[unit][0]
    except KeyError:
        raise UnknownUnitError(unit) from None


def convert_to_si_unit(value: float, unit: str) -> float:
    """Convert `value` in a published `unit` to the internal unit; integers stay exact integers.

    Raises `UnknownUnitError` for a unit that is not in the table.
    """
    try:
        factor = _SI[unit][1]
    except KeyError:
        raise UnknownUnitError(unit) from None
    return value * factor
