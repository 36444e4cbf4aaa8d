"""Whole systems: which are bought or rented, how replicas are packed into them, their power and their racks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from gpudesk.costing.ownership import Amount
from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.fleet import FleetSettings, Rack, RackedSystem, SiteCooling
from gpudesk.domain.system import System, SystemKind
from gpudesk.text.messages import InputError, Message, message

LIQUID: Final = "liquid"
#: Maximum power of a system over the TDP of its accelerators where no maximum is published, by cooling. Medians of
#: published systems: air 1.8 (DGX A100 2.03, H100 and H200 1.82, B200 1.79, B300 1.65), liquid 1.35 (GB200 NVL72
#: 1.39, GB300 NVL72 1.31).
POWER_RATIOS: Final[Mapping[str, float]] = MappingProxyType({"air": 1.8, LIQUID: 1.35})
#: Height per accelerator where no height is published, in rack units: 8U for eight modules cooled by air, 4U for
#: eight cooled by liquid, and 4U for eight PCIe cards, as most systems on record.
_UNITS: Final[Mapping[str, float]] = MappingProxyType({"air": 1.0, LIQUID: 0.5})
_CARD_UNITS: Final = 0.5
#: Usable height of a standard rack, in rack units.
RACK_UNITS: Final = 42.0
#: Larger fleets get no racks: nobody could look at them one by one.
MOST_RACKED: Final = 4_000
#: Three systems of 13.3 kW fill a rack of 40 kW, though quotients of floats may lie just below.
_ROUNDING: Final = 1e-9
_WATTS: Final = 1000.0
_CARD: Final = "PCIe"


@dataclass(frozen=True, slots=True)
class ReplicaPacking:
    """How replicas are packed into systems of `slots` accelerators; one that fits a system is not split.

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
        """How many replicas a system holds, 1 where a replica spans systems."""
        return max(1, self.slots // self.replica)

    def count_systems(self, replicas: Amount) -> Amount:
        return np.ceil(np.asarray(replicas) / self.replicas_per_system) * self.systems_per_replica

    def count_accelerators(self, replicas: Amount) -> Amount:
        """Return the accelerators that are paid for."""
        return self.count_systems(replicas) * self.slots if self.whole else np.asarray(replicas) * self.replica

    def count_replicas(self, systems: int) -> int:
        """Return how many replicas so many systems hold."""
        return systems // self.systems_per_replica * self.replicas_per_system


@dataclass(frozen=True, slots=True)
class SystemSpec:
    """What is bought: `system` from the catalog, or servers for single cards where it is None.

    `power_w` is the maximum of a system with all slots filled, None where neither it nor the TDP is known.
    `refusal` says why the site does not take it.
    """

    system: System | None
    slots: int
    power_w: float | None
    power_estimated: bool
    rack_units: float
    height_estimated: bool
    refusal: Message | None = None

    @property
    def is_whole(self) -> bool:
        """Whether its idle accelerators are paid for."""
        return self.system is not None


def is_card(accelerator: Accelerator) -> bool:
    """Whether an accelerator is a card that is bought singly and put into any server."""
    return (accelerator.form_factor or "").startswith(_CARD)


def find_system(accelerator: Accelerator, systems: Sequence[System], settings: FleetSettings) -> SystemSpec:
    """Return what is bought of an accelerator: the system that the user names, or the program's choice.

    Among systems that the site takes the program prefers the most complete record (price, power, height, cooling),
    then those of the accelerator's own vendor, then the lowest price per accelerator. PCIe cards are bought singly.
    Raises `InputError` for a name that is no system with this accelerator.
    """
    named = settings.systems.get(accelerator.id)
    if named is not None:
        return _describe_system(accelerator, _look_up(named, accelerator, systems, rented=False), settings)
    sold = [] if is_card(accelerator) else [system for system in systems if not system.is_rented]
    specs = [_describe_system(accelerator, system, settings) for system in sold]
    if not specs:
        return _describe_cards(accelerator)
    return min(specs, key=lambda spec: _rank(accelerator, spec))


def find_instance(
    accelerator: Accelerator, systems: Sequence[System], settings: FleetSettings, replica: int, *, singly: bool
) -> System | None:
    """Return the instance that is rented: the user's, or the smallest that holds a replica, else the largest.

    None where accelerators are rented `singly`, or no instance is on record.
    """
    named = settings.instances.get(accelerator.id)
    if named is not None:
        return _look_up(named, accelerator, systems, rented=True)
    rented = [system for system in systems if system.is_rented]
    if singly or not rented:
        return None
    return min(rented, key=lambda each: (each.accelerator_count < replica, abs(each.accelerator_count - replica)))


def _look_up(name: str, accelerator: Accelerator, systems: Sequence[System], *, rented: bool) -> System:
    for system in systems:
        if system.id == name and system.is_rented == rented:
            return system
    if rented:
        where, problem = (
            "instances",
            message(
                "fleet.no_instance",
                "{name} is no instance with {accelerator}; gpudesk catalog list systems lists all",
                name=name,
                accelerator=accelerator.name,
            ),
        )
    else:
        where, problem = (
            "systems",
            message(
                "fleet.no_system",
                "{name} is no system with {accelerator}; gpudesk catalog list systems lists all",
                name=name,
                accelerator=accelerator.name,
            ),
        )
    raise InputError(problem, f"fleet.{where}.{accelerator.id}")


def _rank(accelerator: Accelerator, spec: SystemSpec) -> tuple[bool, int, bool, float, str]:
    system = spec.system
    assert system is not None
    price = system.price_usd
    known = (price, system.power_max_w, system.rack_units, system.cooling)
    usd = math.inf if price is None else price.value / system.accelerator_count
    return (
        spec.refusal is not None,
        sum(value is None for value in known),
        system.vendor != accelerator.vendor,
        usd,
        system.id,
    )


def _describe_system(accelerator: Accelerator, system: System, settings: FleetSettings) -> SystemSpec:
    cooling = LIQUID if system.cooling == LIQUID else "air"
    count, tdp_w = system.accelerator_count, accelerator.tdp_w
    estimated = system.power_max_w is None
    power = system.power_max_w if tdp_w is None or not estimated else tdp_w * POWER_RATIOS[cooling] * count
    units = system.rack_units or _UNITS[cooling] * count
    refusal = _refuse(accelerator, system, settings, power)
    return SystemSpec(system, count, power, estimated and power is not None, units, system.rack_units is None, refusal)


def _describe_cards(accelerator: Accelerator) -> SystemSpec:
    slots, tdp_w = accelerator.cards_per_host, accelerator.tdp_w
    power = None if tdp_w is None else tdp_w * POWER_RATIOS["air"] * slots
    units = (_CARD_UNITS if is_card(accelerator) else _UNITS["air"]) * slots
    return SystemSpec(None, slots, power, power is not None, units, True)


def _refuse(accelerator: Accelerator, system: System, settings: FleetSettings, power_w: float | None) -> Message | None:
    """Return why a site does not take a system; unknown cooling or power never is a reason."""
    if settings.cooling is SiteCooling.AIR and system.cooling == LIQUID:
        return message(
            "fleet.needs_liquid",
            "{system} needs liquid cooling; the site has air cooling only",
            system=system.name,
            accelerator=accelerator.name,
        )
    limit = settings.kw_per_rack
    if limit is not None and power_w is not None and power_w > limit * _WATTS * (1.0 + _ROUNDING):
        return message(
            "fleet.needs_power",
            "{system} needs {needed} per rack; the site supplies {limit}",
            system=system.name,
            needed=(power_w / _WATTS, "kW"),
            limit=(limit, "kW"),
            accelerator=accelerator.name,
        )
    return None


def list_occupancy(
    packing: ReplicaPacking, working: int, spare: int, spare_systems: int
) -> tuple[tuple[int, int], ...]:
    """Return for each system its accelerators in use and spare, first those of working replicas."""
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

    `accelerator_usd` is the price of a system for each accelerator that is paid for. A system that is a rack, or
    needs more than the limit by itself, has a rack of its own. Workstations, desktops and very large fleets get none.
    """
    system = spec.system
    if len(occupancy) > MOST_RACKED:
        return ()
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
