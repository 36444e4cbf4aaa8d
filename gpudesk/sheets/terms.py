"""Terms of a working as text: labels, values with their units, formulas with the numbers in them."""

from __future__ import annotations

import re
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from gpudesk.domain.answers import Term
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.formulas import placeholder
from gpudesk.text import tr, trn

#: What a term is called where its name, with a capital, would not do.
_LABELS: Final = MappingProxyType(
    {
        "output tokens/s": "Output throughput",
        "input and output tokens/s": "Input and output throughput",
        "output tokens/s per accelerator": "Output per accelerator",
        "TTFT": "Time to first token",
        "TPOT": "Time per output token",
        "maximum concurrency": "Most requests in flight",
        "running sequences in a replica": "Running in a replica",
        "running sequences": "Running in a replica",
        "round": "One round of all",
        "free memory": "Left free",
        "short": "Short",
        "bytes": "Bytes to read",
        "bytes of one sequence": "KV cache of one request",
        "tokens of one sequence": "Tokens of one request",
        "bytes that it fills": "What it fills of the cache",
        "set aside beside them": "Set aside beside that",
        "cache of one sequence": "Cache read of one",
        "fraction": "Memory fraction",
        "dense matrices": "Dense matrices",
        "routed experts": "Routed experts",
        "attention over the cache": "Attention over the cache",
        "attention within the prompt": "Attention within prompts",
        "gemm efficiency": "Share of peak, matrices",
        "attention efficiency": "Share of peak, attention",
        "weight read efficiency": "Share of bandwidth, weights",
        "kv read efficiency": "Share of bandwidth, cache",
        "link efficiency": "Share of the link",
        "activation traffic": "Activation traffic",
        "moe layer time": "Time of an expert layer",
        "layer time": "Time of a layer",
        "quantise time": "Narrowing in a layer",
        "step time": "Time of a step",
        "sequence time": "Time of a sequence",
        "request time": "Time of the server",
        "peak": "Dense peak",
    }
)

#: Units of things that are counted, which a formula leaves out.
_COUNTED: Final = frozenset({None, "", "1", "tokens", "sequences", "requests", "accelerators"})
#: Units of memory beside rates of memory, which are decimal too.
_DECIMAL: Final = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB"))
_MILLISECONDS: Final = "ms"
_INPUT: Final = re.compile(r"\{\w+\}")
#: What a formula may be made of beside its inputs where it gives what is of their kind.
_KEEPS_THE_UNIT: Final = frozenset("+−() ²^½")


def term_label(name: str) -> str:
    """Return what a term is called at the head of its line."""
    known = _LABELS.get(name)
    return tr(known) if known else tr(name[:1].upper() + name[1:])


def term_value(term: Term, formatter: Formatter) -> tuple[str, str | None]:
    """Return a term's value and its unit on display; words as they are, the unknown as a dash."""
    if isinstance(term.value, str):
        return term.value, None
    if term.value is None:
        return UNKNOWN, None
    text, unit = formatter.value_and_unit(term.value, term.unit)
    if unit is None or unit not in _COUNTED:
        return text, unit
    # "Output tokens 1,000 tokens" says it twice.
    said = unit == "sequences" or unit in term.name.lower()
    return text, None if said else _counted(unit, term.value)


def _counted(unit: str, number: float) -> str:
    """Return what is counted, in the singular for one of it."""
    return trn(unit.removesuffix("s"), unit, 1 if number == 1 else 2)


def named_formula(term: Term) -> str | None:
    """Return the formula with the names of its inputs."""
    if term.formula is None:
        return None
    return tr(term.formula, **{placeholder(each.name): tr(each.name) for each in term.inputs})


def numeric_formula(term: Term, formatter: Formatter) -> str | None:
    """Return the formula with the numbers of its inputs; one in words alone stays as it is.

    Where inputs and result are of one kind, all is written in the unit of the result, without repeating it.
    """
    if term.formula is None:
        return None
    if not term.inputs:
        return tr(term.formula)
    alike = _keeps_the_unit(term.formula)
    numbers = {placeholder(each.name): _number(each, term, formatter, alike=alike) for each in term.inputs}
    return tr(term.formula, **numbers).replace(f"+ {formatter.style.minus}", f"{formatter.style.minus} ")


def _number(each: Term, result: Term, formatter: Formatter, *, alike: bool) -> str:
    if not isinstance(each.value, int | float):
        return UNKNOWN if each.value is None else each.value
    if alike and isinstance(result.value, int | float) and _kind(each.unit) == _kind(result.unit):
        same = each.value * _inside(each.unit) / _inside(result.unit)
        return formatter.value_as(same, result.value, result.unit)
    if each.unit == "B" and any(other.unit == "B/s" for other in result.inputs):
        return _decimal(each.value, formatter)
    text, unit = formatter.value_and_unit(each.value, each.unit)
    return text if unit is None or each.unit in _COUNTED else f"{text} {unit}"


def _decimal(size: float, formatter: Formatter) -> str:
    factor, unit = next((step for step in _DECIMAL if size >= step[0]), (1.0, "B"))
    return f"{formatter.estimate(size / factor)} {unit}"


@lru_cache(maxsize=256)
def _keeps_the_unit(formula: str) -> bool:
    """Whether the formula adds its inputs up, or takes the larger of them, and does nothing else."""
    return set(_INPUT.sub("", formula)) <= _KEEPS_THE_UNIT


def _kind(unit: str | None) -> str | None:
    return "s" if unit == _MILLISECONDS else unit


def _inside(unit: str | None) -> float:
    return 1e-3 if unit == _MILLISECONDS else 1.0
