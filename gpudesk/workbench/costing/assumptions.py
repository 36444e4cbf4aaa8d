"""What is taken for granted of costs, read from its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gpudesk.domain.cost_inputs import INPUTS, CostSettings
from gpudesk.domain.costs import CostSource
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.ranges import Range
from gpudesk.workbench.cost_fields import parse_costs
from gpudesk.workbench.files import read_toml

_DISCOUNTS: Final = "discounts"
_CASES: Final = "cases"


@dataclass(frozen=True, slots=True)
class Assumption:
    """A range with where it comes from; `source_id` is that of a source of the catalog."""

    spread: Range
    source: CostSource
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class CostCase:
    """A case that a document makes: its accelerators, every input that it states, and its printed figures.

    `source` is the id of the document, `first` and `last` those of the figures.
    """

    id: str
    source: str
    accelerators: tuple[str, ...]
    settings: CostSettings
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Defaults by input, discounts that are said to have been given, by vendor, and cases of documents."""

    inputs: Mapping[str, Assumption]
    discounts: Mapping[str, Assumption]
    cases: tuple[CostCase, ...] = ()


def read_assumptions(path: Path) -> Assumptions:
    """Return what the file states; raises `InputError` that names file and place."""
    document = read_toml(path)
    discounts, cases = document.pop(_DISCOUNTS, {}), document.pop(_CASES, {})
    return Assumptions(
        inputs=MappingProxyType(
            {name: _assumption(name, entry, f"{path}: {name}") for name, entry in document.items()}
        ),
        discounts=MappingProxyType(
            {
                vendor: _assumption("discount", entry, f"{path}: {_DISCOUNTS}.{vendor}")
                for vendor, entry in discounts.items()
            }
        ),
        cases=tuple(_case(name, entry, f"{path}: {_CASES}.{name}") for name, entry in cases.items()),
    )


def _case(name: str, entry: Mapping[str, Any], where: str) -> CostCase:
    try:
        first, last = entry["examples"]
        stated = CostCase(
            id=name,
            source=entry["source"],
            accelerators=tuple(entry["accelerators"]),
            settings=parse_costs(entry["costs"]),
            first=first,
            last=last,
        )
    except (KeyError, TypeError, ValueError, InputError) as error:
        raise InputError(message("costs.assumption"), where) from error
    return stated


def _assumption(name: str, entry: Mapping[str, Any], where: str) -> Assumption:
    try:
        spread = Range(*(float(each) for each in entry["range"]))
        source = entry.get("source", {})
        found = CostSource(
            entry["note"], source.get("title", ""), source.get("url", ""), source.get("date", "")
        )
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(message("costs.assumption"), where) from error
    bounds = INPUTS[name].bounds if name in INPUTS else None
    if bounds is None or not spread.in_order or not all(map(bounds.hold, spread)):
        raise InputError(message("costs.assumption"), where)
    return Assumption(spread, found, source.get("id", ""))
