"""Whole systems: packing of replicas into systems, and of systems into racks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from gpudesk.costing.ownership import Amount
from gpudesk.costing.systems import SystemSpec, find_system
from gpudesk.domain.accelerator import OwnedSystems, SystemKind, count_systems
from gpudesk.domain.fleet import FleetSettings, Rack, RackedSystem
from gpudesk.domain.sizing import SizingOption, SizingResult

if TYPE_CHECKING:
    from gpudesk.catalog.read import Catalog

#: Usable height of a standard rack, in rack units.
RACK_UNITS: Final = 42.0
#: Larger fleets get no racks: too many to look at.
MOST_RACKED: Final = 4_000
#: Three systems of 13.3 kW fill a rack of 40 kW, although a quotient of floats can be just below 3.
_ROUNDING: Final = 1e-9
_WATTS: Final = 1000.0


@dataclass(frozen=True, slots=True)
class ReplicaPacking:
    """How replicas are packed into systems of `slots` accelerators; a replica that fits a system is not split.

    `whole` systems are paid for with their idle accelerators; otherwise slots stay empty.
    """

    replica: int
    slots: int
    whole: bool = True

    @property
    def systems_per_replica(self) -> int:
        return math.ceil(self.replica / self.slots)

    @property
    def replicas_per_system(self) -> int:
        """Replicas per system, 1 if a replica spans systems."""
        return max(1, self.slots // self.replica)

    def count_systems(self, replicas: Amount) -> Amount:
        return np.ceil(np.asarray(replicas) / self.replicas_per_system) * self.systems_per_replica

    def count_accelerators(self, replicas: Amount) -> Amount:
        """Return the accelerators that are paid for."""
        return self.count_systems(replicas) * self.slots if self.whole else np.asarray(replicas) * self.replica

    def count_replicas(self, systems: int) -> int:
        """Return how many replicas this many systems hold."""
        return systems // self.systems_per_replica * self.replicas_per_system


def add_systems(sizing: SizingResult, catalog: Catalog, settings: FleetSettings) -> SizingResult:
    """Return a sizing whose options state the whole systems that hold their accelerators."""
    candidates = tuple(_add_systems(option, catalog, settings) for option in sizing.candidates)
    return replace(sizing, candidates=candidates)


def _add_systems(option: SizingOption, catalog: Catalog, settings: FleetSettings) -> SizingOption:
    part = catalog.accelerator(option.accelerator)
    spec = find_system(part, catalog.systems_of(part.id), settings)
    if option.count is None or spec.system is None or spec.refusal is not None:
        return option
    count = count_systems(spec.slots, option.plan.replica, option.count // option.plan.replica)
    return replace(option, systems=OwnedSystems(spec.system, count))


def list_occupancy(
    packing: ReplicaPacking, working: int, spare: int, spare_systems: int
) -> tuple[tuple[int, int], ...]:
    """Return for each system its accelerators in use and spare, those of working replicas first."""
    states = [True] * working + [False] * spare
    size, slots, held = packing.replica, packing.slots, packing.replicas_per_system
    if packing.systems_per_replica == 1:
        groups = [states[start : start + held] for start in range(0, len(states), held)]
        occupancy = [(sum(group) * size, (len(group) - sum(group)) * size) for group in groups]
    else:
        filled = [min(slots, size - place) for place in range(0, size, slots)]
        occupancy = [(count, 0) if is_working else (0, count) for is_working in states for count in filled]
    return (*occupancy, *[(0, slots)] * spare_systems)


def fill_racks(
    spec: SystemSpec, occupancy: Sequence[tuple[int, int]], accelerator_usd: float | None, limit_kw: float
) -> tuple[Rack, ...]:
    """Return the racks of a fleet, filled from the bottom up to their height or to `limit_kw`.

    `accelerator_usd` is the price of a system per paid accelerator. A rack-scale system, or a system above the limit,
    gets its own rack. Workstations and desktops get none.
    """
    system = spec.system
    if system is not None and system.kind in (SystemKind.WORKSTATION, SystemKind.DESKTOP):
        return ()
    each_kw = (spec.power_w or 0.0) / _WATTS
    height = max(RACK_UNITS, spec.rack_units)
    by_units = math.floor(height / spec.rack_units + _ROUNDING)
    is_rack = system is not None and system.kind is SystemKind.RACK
    by_power = by_units if is_rack or not each_kw else math.floor(limit_kw / each_kw + _ROUNDING)
    room = max(1, min(by_units, by_power))
    return tuple(
        _make_rack(spec, occupancy[start : start + room], accelerator_usd, height, room, by_units)
        for start in range(0, len(occupancy), room)
    )


def _make_rack(
    spec: SystemSpec,
    occupancy: Sequence[tuple[int, int]],
    accelerator_usd: float | None,
    height: float,
    room: int,
    by_units: int,
) -> Rack:
    racked = tuple(
        RackedSystem(
            place * spec.rack_units, spec.rack_units, used, spare, spec.slots - used - spare if spec.is_whole else 0
        )
        for place, (used, spare) in enumerate(occupancy)
    )
    paid = sum(each.used + each.spare + each.idle for each in racked)
    limited_by = None if len(racked) < room else "units" if room == by_units else "power"
    power_kw = (spec.power_w or 0.0) / _WATTS * paid / spec.slots
    return Rack(racked, height, power_kw, None if accelerator_usd is None else paid * accelerator_usd, limited_by)
