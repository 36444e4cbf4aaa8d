"""Counts, sized demands, the fit matrix and costs as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from gpudesk.domain.cost import (
    CostAnswer,
    CostColumn,
    CostDistribution,
    ResolvedCostInput,
    TokenCosts,
    TotalCostOfOwnership,
)
from gpudesk.domain.deployment import ParallelPlan
from gpudesk.domain.sizing import (
    AcceleratorNeeds,
    DeploymentSize,
    FitCell,
    SizingOption,
    SizingResult,
    SmallestDeployments,
)
from gpudesk.report.sizing import describe_sizing
from gpudesk.text.formatting import Formatter, IntervalEstimate
from gpudesk.text.messages import format_message
from gpudesk.text.units import GIB


def encode_counts(keys: Sequence[str], how_many: AcceleratorNeeds) -> dict[str, Any]:
    """Return what is needed by column and weight format; `keys` name the columns."""
    return {
        "needed": [
            {"accelerator": key, "formats": [_encode_needed(each) for each in needed]}
            for key, needed in zip(keys, how_many.needed, strict=True)
        ]
    }


def _encode_needed(needed: SmallestDeployments) -> dict[str, Any]:
    return {
        "bits": needed.bits,
        "weights": needed.weights.value,
        "one_request": _encode_size(needed.one),
        "in_flight": _encode_size(needed.load),
        "reason": None if needed.reason is None else format_message(needed.reason),
    }


def _encode_size(size: DeploymentSize | None) -> dict[str, Any] | None:
    return None if size is None else {"count": size.count, "parallel": encode_plan(size.plan)}


def encode_plan(plan: ParallelPlan) -> dict[str, Any]:
    return {"tp": plan.tp, "pp": plan.pp, "ep": plan.ep, "dp": plan.dp, "attention_dp": plan.attention_dp}


def encode_sizing(sizing: SizingResult, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the candidates, and the peak that they carry; `names` are what the accelerators are called."""
    return {
        "requests_per_s": sizing.requests_per_s,
        "output_tokens_per_s": sizing.output_tokens_per_s,
        "candidates": [
            _encode_sizing_candidate(sizing, each, name) for each, name in zip(sizing.candidates, names, strict=True)
        ],
    }


def _encode_sizing_candidate(sizing: SizingResult, candidate: SizingOption, name: str) -> dict[str, Any]:
    answered = candidate.count is not None
    estimate, bound, rate = candidate.estimate, candidate.bound, candidate.output_tokens_per_s
    return {
        "accelerator": candidate.accelerator,
        "replicas": candidate.replicas if answered else None,
        "parallel": encode_plan(candidate.plan) if answered else None,
        "spare": candidate.spare if answered else None,
        "count": candidate.count,
        "nodes": candidate.nodes if answered else None,
        "concurrency_per_replica": candidate.concurrency_per_replica if answered else None,
        "concurrency": candidate.concurrency if answered else None,
        "factors": [{"name": factor.name, "value": factor.value, "unit": factor.unit} for factor in candidate.factors],
        "output_tokens_per_s": None if rate is None else rate._asdict(),
        "power_kw": candidate.power_kw,
        "serving_engine": None if estimate is None else estimate.serving_engine,
        "bound": None
        if bound is None
        else {
            "floor": bound.floor,
            "ratio": bound.ratio,
            "reasons": [format_message(reason) for reason in bound.reasons],
        },
        "reason": None if candidate.reason is None else format_message(candidate.reason),
        "notes": [format_message(note) for note in candidate.notes],
        "sentence": describe_sizing(sizing, candidate, name, Formatter()),
    }


def encode_fit_matrix(
    cells: Iterable[FitCell], context: int, concurrency: int, beyond: Set[str] = frozenset()
) -> dict[str, Any]:
    """Return the cells of a question about sequences of `context` tokens, `concurrency` in flight.

    `beyond` are models that are not made for so many tokens.
    """
    return {
        "cells": [_encode_fit_cell(cell, context, concurrency, beyond_context=cell.model in beyond) for cell in cells]
    }


def _encode_fit_cell(cell: FitCell, context: int, concurrency: int, *, beyond_context: bool) -> dict[str, Any]:
    headroom, usable = cell.headroom_bytes, cell.usable_bytes
    return {
        "accelerator": cell.accelerator,
        "model": cell.model,
        "weights": cell.weights.value,
        "kv": cell.kv.value,
        "context": context,
        "concurrency": concurrency,
        "count": cell.count,
        "parallel": None if cell.plan is None else encode_plan(cell.plan),
        "serving_engine": cell.serving_engine,
        "usable_gib": None if usable is None else usable / GIB,
        "headroom_gib": None if headroom is None else headroom / GIB,
        "fits": cell.fits,
        "beyond_context": beyond_context,
        "reason": None if cell.reason is None else format_message(cell.reason),
    }


def encode_costs(
    costs: CostAnswer, owned: CostDistribution | None = None, rented: CostDistribution | None = None
) -> dict[str, Any]:
    found: dict[str, Any] = {
        "candidates": [_encode_cost_column(column) for column in costs.columns],
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
        "api_usd_per_million_output_band": _encode_cost_interval(costs.api),
        "tax": "excluded",
    }
    if owned is not None and rented is not None:
        found["draws"] = {
            "n": owned.n,
            "seed": owned.seed,
            "cheapest": dict(owned.cheapest),
            "cheapest_rented": dict(rented.cheapest),
            "usd_per_million_output": _encode_quantiles(owned),
            "usd_per_million_output_rented": _encode_quantiles(rented),
        }
    return found


def _encode_quantiles(draws: CostDistribution) -> dict[str, Any]:
    return {name: {"low": low, "median": middle, "high": high} for name, (low, middle, high) in draws.quantiles.items()}


def _encode_cost_column(column: CostColumn) -> dict[str, Any]:
    owned, rented, rent = column.owned, column.rented, column.rent
    shown = owned or rented
    return {
        "accelerator": column.key,
        "count": column.count,
        "output_tokens_per_s": _encode_cost_interval(column.tokens_per_s),
        "tco": None if column.tco is None else _encode_tco(column.tco),
        "missing": list(column.missing),
        "basis": "owned" if owned else "rented" if rented else None,
        **(_encode_token_costs(shown) if shown else dict.fromkeys(_TOKEN_COSTS)),
        "owned": None if owned is None else _encode_token_costs(owned),
        "rented": None if rented is None else _encode_token_costs(rented),
        "rent": None if rent is None else {"low": rent.low, "median": rent.median, "high": rent.high},
        "rent_usd_per_hour": column.rent_usd_per_hour,
        "software": None if column.software is None else column.software._asdict(),
        "efficiency": _encode_efficiency(column),
        "curve": [point._asdict() for point in column.curve],
        "inputs": {name: _encode_resolved_input(each) for name, each in column.inputs.items()},
    }


_TOKEN_COSTS = (
    "usd_per_million_output",
    "usd_per_million_input",
    "usd_per_million_blended",
    "usd_per_request",
    "usd_per_user_month",
)


def _encode_token_costs(costs: TokenCosts) -> dict[str, Any]:
    figures = (costs.output, costs.input, costs.blended, costs.request, costs.user_month)
    return {name: _encode_cost_interval(each) for name, each in zip(_TOKEN_COSTS, figures, strict=True)}


def _encode_cost_interval(banded: IntervalEstimate | None) -> dict[str, float] | None:
    return None if banded is None else banded._asdict()


def _encode_tco(tco: TotalCostOfOwnership) -> dict[str, Any]:
    return {
        "years": tco.years,
        "total_usd": tco.total_usd,
        "lines": [{"name": line.name, "usd": line.usd} for line in tco.lines],
        "at_once_usd": tco.at_once_usd,
        "per_month_usd": tco.per_month_usd,
    }


def _encode_efficiency(column: CostColumn) -> dict[str, Any] | None:
    found = column.efficiency
    if found is None:
        return None
    return {
        "tokens_per_s_per_kw": _encode_cost_interval(found.tokens_per_s_per_kw),
        "tokens_per_s_per_rack": _encode_cost_interval(found.tokens_per_s_per_rack),
        "accelerators_per_rack": found.accelerators_per_rack,
        "joules_per_token": _encode_cost_interval(found.joules_per_token),
        "usd_per_gib": found.usd_per_gib,
        "usd_per_gib_for_kv": found.usd_per_gib_for_kv,
        "energy_kwh": found.energy_kwh,
        "carbon_kg": found.carbon_kg,
    }


def _encode_resolved_input(found: ResolvedCostInput) -> dict[str, Any]:
    spread = found.spread
    return {
        "origin": found.origin.value,
        "low": None if spread is None else spread.low,
        "likely": None if spread is None else spread.likely,
        "high": None if spread is None else spread.high,
    }
