"""What is known of a column only beside the others: who leads in what, whose port pays back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from gpudesk.domain.answers import Answer
from gpudesk.domain.decisions import Fact, Facts
from gpudesk.workbench.costing.breaks import port
from gpudesk.workbench.costing.columns import Situation
from gpudesk.workbench.costing.unknowns import Basis
from gpudesk.workbench.deciding.leading import FIGURES, Beats, by_figure, by_number, by_speed, leads
from gpudesk.workbench.deciding.part_facts import band_of, number_of

#: Facts that say who leads in a plain number -> the number, and whether more of it is better.
_NUMBERS: Final[Mapping[str, tuple[str, bool]]] = {
    "leads_memory": ("memory_gib", True),
    "leads_bandwidth": ("bandwidth_tbs", True),
    "leads_compute": ("peak_pflops", True),
    "leads_link": ("link_gbs", True),
    "leads_host_link": ("host_link_gbs", True),
    "leads_kv_room": ("kv_room_gb", True),
    "leads_concurrency": ("max_concurrency", True),
    "leads_coverage": ("models_held", True),
    "leads_model_engines": ("model_engine_count", True),
    "leads_count": ("count", False),
    "leads_spend": ("spend_usd", False),
}
#: Facts that say who leads in what is as throughput, or its reciprocal -> that, and whether more is better.
_BY_SPEED: Final[Mapping[str, tuple[str, bool]]] = {
    "leads_cost": ("usd_per_million", False),
    "leads_owned_cost": ("owned_usd_per_million", False),
    "leads_density": ("tokens_per_s_kw", True),
    "leads_power": ("watts_per_token_s", False),
}
#: All facts of this module.
LEADING: Final = (*_NUMBERS, *FIGURES, *_BY_SPEED)


def basis_of(parts: Sequence[Facts], acquisition: object) -> Basis | None:
    """Return by which costs tokens are compared: as they are paid for, else by those that all have.

    None where no kind of cost is known of two accelerators.
    """
    if acquisition in ("own", "rent"):
        return Basis(rented=acquisition == "rent")
    known = [
        sum(band_of(part, name) is not None for part in parts)
        for name in ("owned_usd_per_million", "rented_usd_per_million")
    ]
    if max(known, default=0) < 2:
        return None
    return Basis(rented=known[1] > known[0])


def with_costs(part: Facts, basis: Basis | None) -> dict[str, Fact]:
    """Return the facts of a column with the cost of its tokens as they are compared."""
    if basis is None:
        return {**part, "usd_per_million": None}
    name = "rented_usd_per_million" if basis.rented else "owned_usd_per_million"
    return {**part, "usd_per_million": part.get(name)}


def leading_facts(
    answer: Answer, keys: Sequence[str], parts: Sequence[Facts], standing: Sequence[int]
) -> list[dict[str, Fact]]:
    """Return who of the `standing` columns leads in what; those that are removed lead in nothing."""
    ranked: dict[str, Beats] = {
        name: by_number([number_of(part, fact) for part in parts], higher=higher)
        for name, (fact, higher) in _NUMBERS.items()
    }
    ranked |= {name: by_figure(answer, keys, figure) for name, figure in FIGURES.items()}
    for name, (fact, higher) in _BY_SPEED.items():
        ranked[name] = by_speed(answer, keys, [band_of(part, fact) for part in parts], higher=higher)
    found: list[dict[str, Fact]] = [dict.fromkeys(LEADING, False) for _ in parts]
    for name, beats in ranked.items():
        for place, leading in leads(standing, beats).items():
            found[place][name] = leading
    return found


def payback_facts(
    situations: Sequence[Situation],
    parts: Sequence[Facts],
    standing: Sequence[int],
    monthly_hours: Fact,
) -> list[dict[str, Fact]]:
    """Return from how many rented hours a month a port pays, and whether those stated reach that.

    Against the accelerator of the own platform whose tokens cost the least to rent; where nothing on that
    platform is left there is nothing to port from. What needs no port pays where no port does.
    """
    home = _home(parts, standing)
    ports = [place for place in standing if parts[place].get("needs_port") is True]
    hours = {place: _payback(situations, place, home) for place in ports}
    pays = {place: _reached(hours[place], monthly_hours) for place in ports}
    stays = _nobody(list(pays.values()))
    return [
        {"payback_hours": hours.get(place), "pays_back": pays.get(place) if place in pays else stays}
        for place in range(len(parts))
    ]


def _home(parts: Sequence[Facts], standing: Sequence[int]) -> int | None:
    """Return the column of the own platform whose tokens cost the least to rent; None where there is none."""
    costs = {
        place: cost.value
        for place in standing
        if parts[place].get("needs_port") is False
        and (cost := band_of(parts[place], "rented_usd_per_million")) is not None
    }
    return min(costs, key=lambda place: (costs[place], place)) if costs else None


def _reached(needed: float | None, monthly_hours: Fact) -> bool | None:
    """Whether the hours of a month reach those that a port needs; None where one of them is not known."""
    if needed is None:
        return None
    if needed == math.inf:
        return False
    return monthly_hours >= needed if isinstance(monthly_hours, float) else None


def _nobody(ported: Sequence[bool | None]) -> bool | None:
    """Whether no port pays back; None where that is not known of one, and none is known to."""
    if True in ported:
        return False
    return None if None in ported else True


def _payback(situations: Sequence[Situation], place: int, home: int | None) -> float | None:
    """Return the hours a month from which a port pays; infinite where it never does, None if not known."""
    if home is None:
        return None
    found = list(port(situations[place], situations[home]))
    if not found:
        return None
    return math.inf if found[0].value is None else found[0].value
