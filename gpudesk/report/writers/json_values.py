"""Counts, sizes, fleets and costs as JSON values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from gpudesk.domain.cost import CostAnswer, CostColumn, CostDistribution, TokenCosts
from gpudesk.domain.estimate_json import encode_each, encode_fields, encode_value
from gpudesk.domain.fleet import FleetAnswer, FleetOption, Supply
from gpudesk.domain.sizing import AcceleratorNeeds, FitCell, SizingOption, SizingResult
from gpudesk.report.sizing import describe_sizing
from gpudesk.text.formatting import Formatter
from gpudesk.text.units import GIB


def encode_counts(keys: Sequence[str], how_many: AcceleratorNeeds) -> dict[str, Any]:
    """Return the counts by column and weight format; `keys` name the columns."""
    size = "(count parallel=plan)"
    formats = f"bits weights one_request=one{size} in_flight=load{size} reason"
    return {
        "needed": [
            {"accelerator": key, "formats": encode_each(needed, formats)}
            for key, needed in zip(keys, how_many.needed, strict=True)
        ]
    }


def encode_sizing(sizing: SizingResult, names: tuple[str, ...]) -> dict[str, Any]:
    """Return the candidates, and the peak that they carry; `names` are those of the accelerators."""
    return {
        **encode_fields(sizing, "requests_per_s output_tokens_per_s"),
        "candidates": [
            _encode_sizing_candidate(sizing, each, name) for each, name in zip(sizing.candidates, names, strict=True)
        ],
    }


def _encode_sizing_candidate(sizing: SizingResult, candidate: SizingOption, name: str) -> dict[str, Any]:
    answered = candidate.count is not None
    fields = encode_fields(candidate, "replicas parallel=plan spare count nodes concurrency_per_replica concurrency")
    return {
        "accelerator": candidate.accelerator,
        **{key: value if answered else None for key, value in fields.items()},
        **encode_fields(
            candidate,
            "systems(system=system.id systems=count.systems size=count.size used=count.used idle=count.idle power_kw "
            "power_estimated) factors output_tokens_per_s power_kw serving_engine=estimate.serving_engine bound reason "
            "notes",
        ),
        "sentence": describe_sizing(sizing, candidate, name, Formatter()),
    }


def encode_fleets(answer: FleetAnswer) -> dict[str, Any]:
    """Return the fleets of a demand with their racks, hours, years and costs; systems by their ids."""
    runner_up = None if answer.runner_up is None else answer.runner_up[0]
    return {
        **encode_fields(answer, "curve horizon_years"),
        "fleets": [_encode_fleet(option) for option in answer.options],
        "api": encode_value(answer.api),
        "cheapest": _encode_supply(answer.cheapest),
        "runner_up": _encode_supply(runner_up),
        **encode_fields(answer, "odds notes"),
    }


def _encode_supply(supply: tuple[str, Supply] | None) -> dict[str, Any]:
    """Return the accelerator, null for an API, and how it is paid for; both are null without a price."""
    accelerator, way = supply or ("", None)
    return {"accelerator": accelerator or None, "supply": way}


def _encode_fleet(option: FleetOption) -> dict[str, Any]:
    return encode_fields(
        option,
        "accelerator reason parallel=sizing.plan system=system.id instance=instance.id systems spare_systems used "
        "spare idle systems_per_replica fabric_bits_per_s power_max_kw power_average_kw power_estimated utilization "
        "racks hours costs years months_to_next delivery_weeks provider_rents notes",
    )


def encode_fit_matrix(
    cells: Iterable[FitCell], context: int, concurrency: int, beyond: Set[str] = frozenset()
) -> dict[str, Any]:
    """Return the cells of a question about sequences of `context` tokens, `concurrency` in flight.

    `beyond` are models with a shorter context.
    """
    return {
        "cells": [
            {
                **encode_fields(cell, "accelerator model weights kv"),
                "context": context,
                "concurrency": concurrency,
                **encode_fields(cell, "count parallel=plan serving_engine"),
                "usable_gib": None if cell.usable_bytes is None else cell.usable_bytes / GIB,
                "headroom_gib": None if cell.headroom_bytes is None else cell.headroom_bytes / GIB,
                "fits": cell.fits,
                "beyond_context": cell.model in beyond,
                "reason": encode_value(cell.reason),
            }
            for cell in cells
        ]
    }


def encode_costs(
    costs: CostAnswer, owned: CostDistribution | None = None, rented: CostDistribution | None = None
) -> dict[str, Any]:
    encoded: dict[str, Any] = {
        "candidates": [_encode_cost_column(column) for column in costs.columns],
        "break_even": encode_each(costs.break_evens, "name accelerator=key against value unit"),
        **encode_fields(costs, "api_usd_per_million_output=api.value api_usd_per_million_output_band=api"),
        "tax": "excluded",
    }
    if owned is not None and rented is not None:
        encoded["draws"] = {
            **encode_fields(owned, "n seed cheapest"),
            "cheapest_rented": dict(rented.cheapest),
            "usd_per_million_output": _encode_quantiles(owned),
            "usd_per_million_output_rented": _encode_quantiles(rented),
        }
    return encoded


def _encode_quantiles(draws: CostDistribution) -> dict[str, Any]:
    return {name: {"low": low, "median": middle, "high": high} for name, (low, middle, high) in draws.quantiles.items()}


#: Fields of the owned whole systems.
SYSTEM_COUNT = "systems size used idle"
_TOKEN_COSTS = (
    "usd_per_million_output=output usd_per_million_input=input usd_per_million_blended=blended usd_per_request=request "
    "usd_per_user_month=user_month"
)


def _encode_cost_column(column: CostColumn) -> dict[str, Any]:
    owned, rented = _encode_token_costs(column.owned), _encode_token_costs(column.rented)
    unknown = dict.fromkeys(name.partition("=")[0] for name in _TOKEN_COSTS.split())
    return {
        "accelerator": column.key,
        **encode_fields(column, "count output_tokens_per_s=tokens_per_s tco missing"),
        **encode_fields(column, f"systems({SYSTEM_COUNT})"),
        "basis": "owned" if owned else "rented" if rented else None,
        **(owned or rented or unknown),
        "owned": owned,
        "rented": rented,
        **encode_fields(
            column, "rent(low median high) rent_usd_per_hour idle_rented provider_rents software efficiency curve"
        ),
        "inputs": {
            name: {"origin": each.origin.value, **(encode_value(each.spread) or _NO_SPREAD)}
            for name, each in column.inputs.items()
        },
    }


_NO_SPREAD = {"low": None, "likely": None, "high": None}


def _encode_token_costs(costs: TokenCosts | None) -> dict[str, Any] | None:
    return None if costs is None else encode_fields(costs, _TOKEN_COSTS)
