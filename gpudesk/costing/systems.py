"""The system to buy with an accelerator, or the instance to rent, with its price, power and height."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from gpudesk.domain.accelerator import Accelerator, System, SystemKind
from gpudesk.domain.claim import PriceSummary
from gpudesk.domain.cost import CostInputOrigin, ResolvedCostInput, SystemPrice, UncertainValue
from gpudesk.domain.fleet import FleetSettings, SiteCooling
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import IntervalEstimate
from gpudesk.text.messages import InputError, Message, message

LIQUID: Final = "liquid"
#: Maximum power of a system over the TDP of its accelerators, by cooling, for systems without a published maximum.
#: Medians of published systems: air 1.8 (DGX A100 2.03, H100 and H200 1.82, B200 1.79, B300 1.65, Gaudi 3 1.60), liquid
#: 1.3 (GB200 NVL72 1.39, GB300 NVL72 1.31, 1.18 by the power supplies of eight MI355X).
POWER_RATIOS: Final[Mapping[str, float]] = {"air": 1.8, LIQUID: 1.3}
#: The lowest and highest ratio of these systems.
_POWER_RATIO_ENDS: Final[Mapping[str, tuple[float, float]]] = {"air": (1.6, 2.03), LIQUID: (1.18, 1.39)}
#: Height per accelerator without a published height, in rack units: 8U for eight air-cooled modules, 4U for eight
#: liquid-cooled ones, and 4U for eight PCIe cards, like most systems on record.
_UNITS: Final[Mapping[str, float]] = {"air": 1.0, LIQUID: 0.5}
_CARD_UNITS: Final = 0.5
#: Three systems of 13.3 kW fill a rack of 40 kW, although a quotient of floats can be just below 3.
_ROUNDING: Final = 1e-9
_WATTS: Final = 1000.0
_CARD: Final = "PCIe"


@frozen_dataclass
class SystemSpec:
    """The purchase: `system` from the catalog, or servers of a usual size if it is None.

    `is_whole` is whether idle accelerators in it are paid for: boards are sold in whole systems, cards are not.
    `power_w` is the maximum of a system with all slots filled, None if neither it nor the TDP is known. `refusal`
    explains why the site cannot host it.
    """

    system: System | None
    slots: int
    is_whole: bool
    power_w: float | None
    power_estimated: bool
    rack_units: float
    height_estimated: bool
    refusal: Message | None = None


def is_card(accelerator: Accelerator) -> bool:
    """Whether an accelerator is a card that is sold singly and fits any server."""
    return (accelerator.form_factor or "").startswith(_CARD)


def _is_board(accelerator: Accelerator) -> bool:
    """Whether an accelerator is sold only in whole systems, like SXM and OAM modules."""
    return accelerator.form_factor is not None and not accelerator.is_rented_only and not is_card(accelerator)


def find_system(accelerator: Accelerator, systems: Sequence[System], settings: FleetSettings) -> SystemSpec:
    """Return the system to buy with an accelerator: the one that the user names, or the program's choice.

    Among systems that the site can host the program prefers the user's own, then the most complete record (price,
    power, height, cooling), then those of the accelerator's own vendor, then the lowest price per accelerator. PCIe
    cards are bought singly unless the user has a system with them. Raises `InputError` for a name that is not a system
    with this accelerator.
    """
    named = settings.systems.get(accelerator.id)
    if named is not None:
        return _describe_system(accelerator, _look_up(named, accelerator, systems, rented=False), settings)
    is_single = is_card(accelerator)
    sold = [system for system in systems if not system.is_rented and (system.own or not is_single)]
    specs = [_describe_system(accelerator, system, settings) for system in sold]
    if not specs:
        # A server with as many accelerators as one host holds, for those without a system on record.
        slots, tdp_w = accelerator.cards_per_host, accelerator.tdp_w
        power = None if tdp_w is None else tdp_w * POWER_RATIOS["air"] * slots
        units = (_CARD_UNITS if is_card(accelerator) else _UNITS["air"]) * slots
        return SystemSpec(None, slots, _is_board(accelerator), power, power is not None, units, True)
    return min(specs, key=lambda spec: _rank(accelerator, spec))


def find_instance(
    accelerator: Accelerator, systems: Sequence[System], settings: FleetSettings, replica: int, *, singly: bool
) -> System | None:
    """Return the instance to rent: the one that the user names, or the program's choice.

    That is the smallest that holds a replica, else the largest, first among the user's own. None if accelerators are
    rented `singly` and the user has no instance, or if none is on record.
    """
    named = settings.instances.get(accelerator.id)
    if named is not None:
        return _look_up(named, accelerator, systems, rented=True)
    rented = [system for system in systems if system.is_rented]
    own = [system for system in rented if system.own]
    if not own and (singly or not rented):
        return None
    sizes = own or rented
    return min(sizes, key=lambda each: (each.accelerator_count < replica, abs(each.accelerator_count - replica)))


def _look_up(name: str, accelerator: Accelerator, systems: Sequence[System], *, rented: bool) -> System:
    for system in systems:
        if system.id == name and system.is_rented == rented:
            return system
    if rented:
        where, problem = (
            "instances",
            message(
                "fleet.no_instance",
                "{name} is not an instance with {accelerator}; gpudesk catalog list systems lists all",
                name=name,
                accelerator=accelerator.name,
            ),
        )
    else:
        where, problem = (
            "systems",
            message(
                "fleet.no_system",
                "{name} is not a system with {accelerator}; gpudesk catalog list systems lists all",
                name=name,
                accelerator=accelerator.name,
            ),
        )
    raise InputError(problem, f"fleet.{where}.{accelerator.id}")


def _rank(accelerator: Accelerator, spec: SystemSpec) -> tuple[bool, bool, int, bool, float, str]:
    system = spec.system
    assert system is not None
    price = system.price_usd
    known = (price, system.power_max_w, system.rack_units, system.cooling)
    usd = math.inf if price is None else price.value / system.accelerator_count
    return (
        spec.refusal is not None,
        not system.own,
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
    is_estimated = estimated and power is not None
    return SystemSpec(system, count, True, power, is_estimated, units, system.rack_units is None, refusal)


def _refuse(accelerator: Accelerator, system: System, settings: FleetSettings, power_w: float | None) -> Message | None:
    """Return why a site cannot host a system; unknown cooling or power is never a reason."""
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


@frozen_dataclass
class SiteNeeds:
    """The site requirements of the least demanding system with an accelerator; None without a record.

    `air_cooled` is False if every system needs liquid cooling. `kw` is the lowest power of a system that the site can
    cool, with the range of `POWER_RATIOS` if no maximum is published. `delivery_weeks` is the shortest.
    """

    air_cooled: bool | None = None
    kw: IntervalEstimate | None = None
    delivery_weeks: float | None = None


def is_off_the_shelf(accelerator: Accelerator, systems: Sequence[System]) -> bool:
    """Whether an accelerator is delivered as quickly as a card: it is one, or is sold in desktop computers only."""
    sold = [system for system in systems if not system.is_rented]
    return is_card(accelerator) or (bool(sold) and all(system.kind is SystemKind.DESKTOP for system in sold))


def find_usual_delivery(sold: Iterable[tuple[Accelerator, Sequence[System]]]) -> Mapping[bool, IntervalEstimate]:
    """Return the delivery in weeks of those off the shelf (True) and of others: the mean of systems with a record.

    The interval has the shortest and the longest.
    """
    weeks: dict[bool, list[float]] = {}
    for accelerator, systems in sold:
        records = [each.delivery_weeks for each in systems if each.delivery_weeks is not None and not each.is_rented]
        weeks.setdefault(is_off_the_shelf(accelerator, systems), []).extend(records)
    return {
        shelf: IntervalEstimate(sum(each) / len(each), min(each), max(each)) for shelf, each in weeks.items() if each
    }


def find_site_needs(accelerator: Accelerator, systems: Sequence[System], settings: FleetSettings) -> SiteNeeds:
    """Return the site requirements of an accelerator; a card can be the only one in its server."""
    named = settings.systems.get(accelerator.id)
    sold = [system for system in systems if not system.is_rented]
    sold = [system for system in sold if system.id == named] or ([] if is_card(accelerator) else sold)
    if not sold:
        kw = None if accelerator.tdp_w is None else _estimate_kw(accelerator.tdp_w, "air")
        return SiteNeeds(True, kw) if is_card(accelerator) else SiteNeeds()
    coolings = {system.cooling for system in sold}
    air_cooled = False if coolings == {LIQUID} else True if "air" in coolings else None
    cooled = [each for each in sold if settings.cooling is not SiteCooling.AIR or each.cooling != LIQUID]
    powers = [kw for system in cooled if (kw := _find_kw(accelerator, system)) is not None]
    weeks = [system.delivery_weeks for system in cooled if system.delivery_weeks is not None]
    kw = IntervalEstimate(*(min(ends) for ends in zip(*powers, strict=True))) if powers else None
    return SiteNeeds(air_cooled, kw, min(weeks, default=None))


def _find_kw(accelerator: Accelerator, system: System) -> IntervalEstimate | None:
    if system.power_max_w is not None:
        return IntervalEstimate(*[system.power_max_w / _WATTS] * 3)
    if accelerator.tdp_w is None:
        return None
    return _estimate_kw(accelerator.tdp_w * system.accelerator_count, LIQUID if system.cooling == LIQUID else "air")


def _estimate_kw(accelerators_w: float, cooling: str) -> IntervalEstimate:
    low, high = _POWER_RATIO_ENDS[cooling]
    return IntervalEstimate(*(accelerators_w * ratio / _WATTS for ratio in (POWER_RATIOS[cooling], low, high)))


def find_owned_system(accelerator: Accelerator, systems: Sequence[System], settings: FleetSettings) -> SystemSpec:
    """The same as `find_system`, but a name that is not a system with this accelerator counts as none.

    The fleet itself reports such a name.
    """
    named = settings.systems.get(accelerator.id)
    if not any(system.id == named and not system.is_rented for system in systems):
        settings = replace(settings, systems={})
    return find_system(accelerator, systems, settings)


def list_priced_systems(spec: SystemSpec, systems: Sequence[System], named: str | None) -> tuple[System, ...]:
    """Return the systems whose prices represent one like `spec`.

    That is the system alone if the user names or owns it and its price is known, else all of the same size.
    """
    if spec.system is None:
        return ()
    if spec.system.price_usd is not None and (spec.system.own or spec.system.id == named):
        return (spec.system,)
    return tuple(each for each in systems if each.accelerator_count == spec.slots and each.price_usd is not None)


def resolve_purchase_price(
    system: SystemPrice | None, record: PriceSummary | None, server_share: float, *, singly: bool
) -> ResolvedCostInput:
    """Return the price of an accelerator without its share of a server, from all prices on record.

    Accelerators sold in whole systems are priced by these: prices of single accelerators are rare, and servers around
    them an assumption. Such prices widen the range. They count alone if nothing else is known, if the user entered one,
    and for accelerators bought `singly`.
    """
    is_user_value = record is not None and record.is_user_value and not (system is not None and system.price.user_count)
    if system is None or (record is not None and (singly or is_user_value)):
        if record is None:
            return ResolvedCostInput("price_usd", CostInputOrigin.NOWHERE, None)
        spread = UncertainValue(record.low, record.median, record.high)
        return ResolvedCostInput("price_usd", CostInputOrigin.RECORD, spread, record=record)
    ends = system.price.low, system.price.median, system.price.high
    low, likely, high = (usd / system.size / (1.0 + server_share) for usd in ends)
    if record is not None:
        low, high = min(low, record.low), max(high, record.high)
    spread = UncertainValue(low, likely, high)
    return ResolvedCostInput("price_usd", CostInputOrigin.RECORD, spread, record=record, system=system)


def find_host_power(accelerator: Accelerator, systems: Sequence[System]) -> UncertainValue | None:
    """Return the power of a system beyond its accelerators, per accelerator, from published maxima, in W."""
    if is_card(accelerator):
        return None
    watts = [
        system.power_max_w / system.accelerator_count - accelerator_w
        for system in systems
        if system.power_max_w is not None and (accelerator_w := system.accelerator_power_w) is not None
    ]
    if not watts or min(watts) < 0.0:
        return None
    return UncertainValue(min(watts), statistics.median(watts), max(watts))
