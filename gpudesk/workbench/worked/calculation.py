"""How one form of calculation is written, shown and worked out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from gpudesk.domain.answers import Term


class Quantity(NamedTuple):
    """What a symbol of a formula stands for, in words and units.

    `scale` is how many of the unit that examples use make one `unit`, in which the number is shown.
    """

    name: str
    unit: str | None = None
    scale: float = 1.0


#: What symbols stand for wherever a calculation does not say otherwise.
_USUAL: Final[Mapping[str, Quantity]] = {
    "active": Quantity("active parameters", "billion"),
    "bits": Quantity("bits of a parameter"),
    "bpp": Quantity("bytes of a parameter"),
    "bw": Quantity("memory bandwidth", "GB/s"),
    "bytes": Quantity("bytes of a parameter"),
    "ctx": Quantity("tokens of a sequence"),
    "f": Quantity("factor"),
    "gib": Quantity("GB in a unit of the label"),
    "kv": Quantity("KV cache of a token", "B"),
    "kv_bytes": Quantity("KV cache of a token", "B"),
    "mem": Quantity("memory label"),
    "n": Quantity("accelerators"),
    "need": Quantity("memory needed", "GB"),
    "params": Quantity("parameters", "billion"),
    "seqs": Quantity("sequences"),
    "stacks": Quantity("stacks"),
    "tok": Quantity("tokens a second", "tok/s"),
    "u": Quantity("usable share"),
    "usable": Quantity("usable share"),
    "weights": Quantity("weights", "GB"),
    "wt": Quantity("weights", "GB"),
}


@dataclass(frozen=True, slots=True)
class Calculation:
    """One form of calculation.

    `result` and `unit` say what it gives, `shown` is the formula with its inputs by name
    (`domain.formulas`), written in the units that they are shown in, and `work` gives the result from the
    numbers of the symbols as examples have them. `symbols` are those that mean something of their own here.
    """

    result: str
    unit: str | None
    shown: str
    work: Callable[[Mapping[str, float]], float]
    symbols: Mapping[str, Quantity] = field(default_factory=dict)

    def term(self, values: Mapping[str, float]) -> Term:
        """Return the working of a result; raises KeyError for a symbol that it does not know."""
        inputs = tuple(self._input(symbol, value) for symbol, value in values.items())
        return Term(self.result, self.work(values), self.unit, self.shown, inputs=inputs)

    def _input(self, symbol: str, value: float) -> Term:
        quantity = self.symbols[symbol] if symbol in self.symbols else _USUAL[symbol]
        return Term(quantity.name, value / quantity.scale, quantity.unit)
