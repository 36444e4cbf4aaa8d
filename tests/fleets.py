"""Fleets made by hand, as the service answers them: for tests of the page, the picture and the sheet."""

from collections.abc import Sequence
from dataclasses import replace

from gpudesk.domain.accelerator import System, SystemKind
from gpudesk.domain.fleet import (
    DailyLoadCurve,
    FleetAnswer,
    FleetCost,
    FleetHour,
    FleetOption,
    FleetYear,
    LoadCurveKind,
    Rack,
    RackedSystem,
    Supply,
)
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import message

_OFFICE = (0.2,) * 7 + (0.6, 1.2, 1.9, 2.4, 2.4, 2.0, 2.2, 2.4, 2.2, 1.8, 1.2, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2)
OFFICE = DailyLoadCurve(LoadCurveKind.OFFICE, tuple(each * 24 / sum(_OFFICE) for each in _OFFICE))


def make_system(accelerator: str, name: str, rack_units: float = 8.0, count: int = 8) -> System:
    return System(
        id=name.lower().replace(" ", "-"),
        name=name,
        vendor="Maker",
        kind=SystemKind.SERVER,
        accelerator=accelerator,
        accelerator_count=count,
        rack_units=rack_units,
        power_max_w=10_200.0,
        price_low_usd=250_000.0,
        price_high_usd=320_000.0,
    )


def make_cost(supply: Supply, at_once: float, per_month: float, years: int = 3) -> FleetCost:
    def spread(usd: float) -> IntervalEstimate:
        return IntervalEstimate(usd, usd * 0.85, usd * 1.2)

    total = at_once + per_month * 12 * years
    return FleetCost(
        supply,
        spread(total),
        spread(total / 12 / years),
        spread(total / 12 / years / 2000),
        spread(total / 40_000),
        tuple(spread(at_once + per_month * 12 * year) for year in range(years + 1)),
        rented_count=None if supply in (Supply.OWNED, Supply.API) else 12,
        source=message("test.source", "a provider, on demand, 2026-05-18"),
    )


def make_racks(systems: Sequence[RackedSystem], in_a_rack: int, price: float | None) -> tuple[Rack, ...]:
    racks = []
    for start in range(0, len(systems), in_a_rack):
        systems_in_rack = systems[start : start + in_a_rack]
        placed = tuple(replace(each, bottom_unit=place * each.rack_units) for place, each in enumerate(systems_in_rack))
        worth = None if price is None else price * len(systems_in_rack)
        racks.append(
            Rack(
                placed, 42.0, 10.2 * len(systems_in_rack), worth, "power" if len(systems_in_rack) == in_a_rack else None
            )
        )
    return tuple(racks)


def make_option(accelerator: str, name: str, systems: int, in_a_rack: int = 4, scale: float = 1.0) -> FleetOption:
    """Return a fleet of whole systems of eight: the last but one has a spare replica, the last is idle in part."""
    system = make_system(accelerator, name)
    full = [RackedSystem(0.0, 8.0, 8, 0, 0)] * (systems - 1)
    racks = make_racks([*full, RackedSystem(0.0, 8.0, 2, 2, 4)], in_a_rack, 285_000.0)
    capacity = 8.0
    hours = tuple(
        FleetHour(5.0 * each, max(1, round(each * 4)), 5.0 * each / capacity / 1.5) for each in OFFICE.multipliers
    )
    return FleetOption(
        accelerator,
        None,
        system=system,
        systems=systems,
        used=8 * systems - 6,
        spare=2,
        idle=4,
        racks=racks,
        power_max_kw=10.2 * systems,
        power_average_kw=6.1 * systems,
        hours=hours,
        utilization=0.31,
        costs=(
            make_cost(Supply.OWNED, 285_000.0 * systems * scale, 9_000.0 * systems * scale),
            make_cost(Supply.RENTED, 0.0, 21_000.0 * systems * scale),
            make_cost(Supply.AUTOSCALED, 0.0, 12_000.0 * systems * scale),
        ),
        years=(
            FleetYear(0, 1.0, systems, systems),
            FleetYear(1, 1.3, systems + 1, 1),
            FleetYear(2, 1.7, systems + 2, 1),
        ),
        months_to_next=9.0,
        notes=(message("test.note", "cooling is not published"),),
        delivery_weeks=16.0,
    )


def make_fleets(accelerators: Sequence[str]) -> FleetAnswer:
    """Return a fleet for each accelerator, the second the cheapest; the last of more than three has none."""
    makers = (("DGX X", 5, 4, 1.0), ("XE9680", 3, 2, 0.8), ("HGX Y", 22, 4, 1.3), ("Rack Z", 2, 4, 1.1))
    options = [make_option(each, *makers[place % len(makers)]) for place, each in enumerate(accelerators)]
    if len(options) > 3:
        reason = message("test.reason", "no deployment meets the limits")
        options[-1] = FleetOption(accelerators[-1], reason)
    best = (accelerators[min(1, len(accelerators) - 1)], Supply.OWNED)
    return FleetAnswer(OFFICE, 3.0, tuple(options), make_cost(Supply.API, 0.0, 95_000.0), best, 0.72)
