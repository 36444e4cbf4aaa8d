"""Daily load curves: presets, the user's own multipliers, and the checks of fleet settings."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from gpudesk.domain.field_checks import describe_not_above, describe_out_of_range
from gpudesk.domain.fleet import (
    FLEET_BOUNDS,
    HOURS_PER_DAY,
    DailyLoadCurve,
    FleetSettings,
    LoadCurveKind,
    check_multipliers,
)
from gpudesk.text.messages import InputError

#: Demand of each hour from midnight in per cent of the busiest hour. Assumptions, not measurements: users of one
#: time zone at work, users of all time zones, jobs that run at night.
_PRESETS: Final[Mapping[LoadCurveKind, tuple[float, ...]]] = MappingProxyType(
    {
        LoadCurveKind.FLAT: (100,) * HOURS_PER_DAY,
        LoadCurveKind.OFFICE: (
            *(5, 4, 3, 3, 3, 5, 10, 25),
            *(60, 90, 100, 100, 85, 95, 100, 100),
            *(90, 65, 40, 30, 25, 20, 15, 8),
        ),
        LoadCurveKind.GLOBAL: (
            *(82, 78, 76, 75, 76, 79, 83, 87),
            *(91, 94, 96, 97, 97, 98, 99, 100),
            *(100, 99, 97, 95, 93, 91, 88, 85),
        ),
        LoadCurveKind.OVERNIGHT: (
            *(100, 100, 100, 100, 100, 100, 50, 5),
            *(5, 5, 5, 5, 5, 5, 5, 5),
            *(5, 5, 5, 5, 20, 60, 100, 100),
        ),
    }
)


def make_load_curve(settings: FleetSettings) -> DailyLoadCurve:
    """Return the curve of the settings with the mean 1; raises `InputError` for own multipliers that make none."""
    if settings.curve is not LoadCurveKind.OWN:
        return _normalize(settings.curve, _PRESETS[settings.curve])
    check_multipliers(settings.own_multipliers)
    return _normalize(LoadCurveKind.OWN, settings.own_multipliers)


def check_fleet_settings(settings: FleetSettings) -> None:
    """Refuse a setting outside its range; raises `InputError` that names the field."""
    for name, bounds in FLEET_BOUNDS.items():
        value = getattr(settings, name)
        if value is None or bounds.hold(value):
            continue
        describe = describe_not_above if bounds.above else describe_out_of_range
        raise InputError(describe(value, bounds.low, bounds.high), f"fleet.{name}")


def _normalize(kind: LoadCurveKind, weights: Sequence[float]) -> DailyLoadCurve:
    # By the largest first: weights near the ends of the range of floats have no finite or non-zero sum otherwise.
    most = max(weights)
    shares = [weight / most for weight in weights]
    mean = math.fsum(shares) / HOURS_PER_DAY
    return DailyLoadCurve(kind, tuple(share / mean for share in shares))
