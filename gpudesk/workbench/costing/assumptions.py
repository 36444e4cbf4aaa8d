"""What is taken for granted of costs, read from its file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gpudesk.domain.cost_inputs import INPUTS
from gpudesk.domain.costs import CostSource
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.ranges import Range

_DISCOUNTS: Final = "discounts"


@dataclass(frozen=True, slots=True)
class Assumption:
    """A range with where it comes from; `source_id` is that of a source of the catalog."""

    spread: Range
    source: CostSource
    source_id: str = ""


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Defaults by input, and discounts that are said to have been given, by vendor."""

    inputs: Mapping[str, Assumption]
    discounts: Mapping[str, Assumption]


def read_assumptions(path: Path) -> Assumptions:
    """Return what the file states; raises `InputError` that names file and place."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(message("file.unreadable", reason=reason.lower()), str(path)) from error
    discounts = document.pop(_DISCOUNTS, {})
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
    )


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
