"""Costs as JSON values."""

from __future__ import annotations

from typing import Any

from gpudesk.domain.costs import CostAnswer, CostColumn, CostDraws, ResolvedInput, Tco, TokenCosts
from gpudesk.domain.estimates import Banded


def cost_fields(
    costs: CostAnswer, owned: CostDraws | None = None, rented: CostDraws | None = None
) -> dict[str, Any]:
    """Return all costs, where they are equal, and, from draws, how often each accelerator is cheapest."""
    found: dict[str, Any] = {
        "candidates": [_candidate(column) for column in costs.columns],
        "break_even": [
            {
                "name": each.name,
                "accelerator": each.key,
                "against": each.against,
                "value": each.value,
                "unit": each.unit,
            }
            for each in costs.break_evens
        ],
        "api_usd_per_million_output": None if costs.api is None else costs.api.value,
        "api_usd_per_million_output_band": _banded(costs.api),
        "tax": "excluded",
    }
    if owned is not None and rented is not None:
        found["draws"] = {
            "n": owned.n,
            "seed": owned.seed,
            "cheapest": dict(owned.cheapest),
            "cheapest_rented": dict(rented.cheapest),
            "usd_per_million_output": _quantiles(owned),
            "usd_per_million_output_rented": _quantiles(rented),
        }
    return found


def _quantiles(draws: CostDraws) -> dict[str, Any]:
    return {
        name: {"low": low, "median": middle, "high": high}
        for name, (low, middle, high) in draws.quantiles.items()
    }


def _candidate(column: CostColumn) -> dict[str, Any]:
    owned, rented, rent = column.owned, column.rented, column.rent
    shown = owned or rented
    return {
        "accelerator": column.key,
        "count": column.count,
        "output_tokens_per_s": _banded(column.tokens_per_s),
        "tco": None if column.tco is None else _tco(column.tco),
        "missing": list(column.missing),
        "basis": "owned" if owned else "rented" if rented else None,
        **(_token_costs(shown) if shown else dict.fromkeys(_TOKEN_COSTS)),
        "owned": None if owned is None else _token_costs(owned),
        "rented": None if rented is None else _token_costs(rented),
        "rent": None if rent is None else {"low": rent.low, "median": rent.median, "high": rent.high},
        "rent_usd_per_hour": column.rent_usd_per_hour,
        "software": None if column.software is None else column.software._asdict(),
        "efficiency": _efficiency(column),
        "curve": [point._asdict() for point in column.curve],
        "inputs": {name: _input(each) for name, each in column.inputs.items()},
    }


_TOKEN_COSTS = (
    "usd_per_million_output",
    "usd_per_million_input",
    "usd_per_million_blended",
    "usd_per_request",
    "usd_per_user_month",
)


def _token_costs(costs: TokenCosts) -> dict[str, Any]:
    figures = (costs.output, costs.input, costs.blended, costs.request, costs.user_month)
    return {name: _banded(each) for name, each in zip(_TOKEN_COSTS, figures, strict=True)}


def _banded(banded: Banded | None) -> dict[str, float] | None:
    return None if banded is None else banded._asdict()


def _tco(tco: Tco) -> dict[str, Any]:
    return {
        "years": tco.years,
        "total_usd": tco.total_usd,
        "lines": [{"name": line.name, "usd": line.usd} for line in tco.lines],
        "at_once_usd": tco.at_once_usd,
        "per_month_usd": tco.per_month_usd,
    }


def _efficiency(column: CostColumn) -> dict[str, Any] | None:
    found = column.efficiency
    if found is None:
        return None
    return {
        "tokens_per_s_per_kw": _banded(found.tokens_per_s_per_kw),
        "tokens_per_s_per_rack": _banded(found.tokens_per_s_per_rack),
        "accelerators_per_rack": found.accelerators_per_rack,
        "joules_per_token": _banded(found.joules_per_token),
        "usd_per_gib": found.usd_per_gib,
        "usd_per_gib_for_kv": found.usd_per_gib_for_kv,
        "energy_kwh": found.energy_kwh,
        "carbon_kg": found.carbon_kg,
    }


def _input(found: ResolvedInput) -> dict[str, Any]:
    spread = found.spread
    return {
        "origin": found.origin.value,
        "low": None if spread is None else spread.low,
        "likely": None if spread is None else spread.likely,
        "high": None if spread is None else spread.high,
    }
