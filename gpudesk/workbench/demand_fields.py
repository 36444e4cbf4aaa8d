"""The fields of the demand section of a scenario file: from JSON values to a `Demand` and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpudesk.domain.demand import RANGES, Demand, DemandKind
from gpudesk.domain.messages import InputError, message
from gpudesk.workbench.fields import Check, number, unknown_field, whole, word

_SECTION: Final = "demand"
_KINDS: Final = {kind.value: kind for kind in DemandKind}


def _ranged(name: str) -> Check:
    bounds = RANGES[name]
    return number(bounds.low, bounds.high, above=bounds.above)


_CHECKS: Final[Mapping[str, Check]] = {
    "kind": word(_KINDS),
    **{name: _ranged(name) for name in RANGES},
    "spare_replicas": whole(int(RANGES["spare_replicas"].low), int(RANGES["spare_replicas"].high)),
}


def parse_demand(fields: Mapping[str, Any]) -> Demand:
    """Return the demand of a section's fields; raises `InputError` with the path inside the file."""
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in _CHECKS:
            raise unknown_field(_SECTION, name, _CHECKS)
        if value is not None:
            values[name] = _CHECKS[name](f"{_SECTION}.{name}", value)
    for name in ("kind", "amount"):
        if name not in values:
            raise InputError(message("field.missing"), f"{_SECTION}.{name}")
    return Demand(**values)


def demand_fields(demand: Demand) -> dict[str, Any]:
    """Return the fields of the section; limits that are not set are left out."""
    values = {name: getattr(demand, name) for name in _CHECKS}
    return {name: value for name, value in values.items() if value is not None} | {"kind": demand.kind.value}
