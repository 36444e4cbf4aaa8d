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
from gpudesk.workbench.deciding.leading import FIGURES, Beats, by_cost, by_figure, by_number, leads
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
    "leads_density": ("tokens_per_s_kw", True),
    "leads_power": ("watts_per_token_s", False),
}
#: All facts of this module.
LEADING: Final = (*_NUMBERS, *FIGURES, "leads_cost", "leads_owned_cost")


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
    for name, fact in (("leads_cost", "usd_per_million"), ("leads_owned_cost", "owned_usd_per_million")):
        ranked[name] = by_cost(answer, keys, [band_of(part, fact) for part in parts])
    found: list[dict[str, Fact]] = [dict.fromkeys(LEADING, False) for _ in parts]
    for name, beats in ranked.items():
        for place, leading in leads(standing, beats).items():
            found[place][name] = leading
    return found


def payback_facts(
    situations: Sequence[Situation], parts: Sequence[Facts], monthly_hours: Fact
) -> list[dict[str, Fact]]:
    """Return from how many rented hours a month a port pays, and whether those stated reach that.

    Against the accelerator of the own platform that is rented at the least; where nothing on that platform
    is compared there is nothing to port from. What needs no port pays where no port does.
    """
    hours = [_payback(situations, place, parts) for place in range(len(parts))]
    pays = [_reached(needed, monthly_hours) for needed in hours]
    ported = [each for part, each in zip(parts, pays, strict=True) if part.get("needs_port") is True]
    stays = _nobody(ported)
    return [
        {"payback_hours": needed, "pays_back": each if part.get("needs_port") is True else stays}
        for part, needed, each in zip(parts, hours, pays, strict=True)
    ]


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


def _payback(situations: Sequence[Situation], place: int, parts: Sequence[Facts]) -> float | None:
    """Return the hours a month from which a port pays; infinite where it never does, None if not known."""
    if parts[place].get("needs_port") is not True:
        return None
    found = [
        each.value
        for other, part in zip(situations, parts, strict=True)
        if part.get("needs_port") is False
        for each in port(situations[place], other)
    ]
    if not found:
        return None
    return min((value for value in found if value is not None), default=math.inf)
