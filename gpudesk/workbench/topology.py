"""Sharding against fewer parts: two deployments of one model, what links cost, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from gpudesk.domain.answers import Difference
from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.estimates import Estimate, EstimateRequest
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.topology import Deployed, Spread, Topology
from gpudesk.engine.loads import ServingConstants
from gpudesk.engine.scaling_rules import stream_ceiling
from gpudesk.engine.sharding import shard
from gpudesk.workbench.deployed import placement_of
from gpudesk.workbench.topology_said import said_of
from gpudesk.workbench.topology_scaling import alone
from gpudesk.workbench.topology_spread import FreeLinks, free_links, spreads

if TYPE_CHECKING:
    from gpudesk.workbench.cases import SetupTable

_Ask = Callable[[Sequence[EstimateRequest]], list[Estimate | InputError]]
_Compare = Callable[[Estimate, Estimate], tuple[Difference, ...]]


def topology(
    baseline: Estimate,
    other: Estimate,
    table: SetupTable,
    constants: ServingConstants,
    ask: _Ask,
    compare: _Compare,
) -> Topology:
    """Compare two deployments; raises InputError where one does not fit or has pools."""
    pair = (baseline, other)
    for each in pair:
        if not each.fits:
            raise InputError(each.reason or message("explain.does_not_fit"), each.request.accelerator)
        if each.pools is not None:
            raise InputError(message("topology.pools"), each.request.accelerator)
    ones = []
    for found in ask([alone(each.request, each) for each in pair]):
        if isinstance(found, InputError):
            raise found
        ones.append(found)
    spread = spreads([*pair, *ones], table, constants)
    free = free_links([*pair, *ones], table, constants)
    sides = [
        _side(pair[k], ones[k], (spread[k], spread[k + 2]), (free[k], free[k + 2]), table) for k in (0, 1)
    ]
    at_load, at_one = compare(*pair), compare(*ones)
    said = said_of((sides[0], sides[1]), (_name(sides[0], table), _name(sides[1], table)), at_load, at_one)
    return Topology(sides[0], sides[1], at_load, at_one, said)


def _side(
    estimate: Estimate,
    single: Estimate,
    spread: tuple[Spread, Spread],
    free: tuple[FreeLinks, FreeLinks],
    table: SetupTable,
) -> Deployed:
    setup, placed = placement_of(estimate, table)
    part, plan = setup.frame.accelerator, estimate.plan
    weights = shard(setup.frame.model, setup.frame.weights, ParallelPlan()).resident_bytes
    rate, tpot, one = estimate.output_tokens_per_s, estimate.tpot_ms, single.tpot_ms
    return Deployed(
        estimate=estimate,
        single=single,
        spread=spread[0],
        single_spread=spread[1],
        kv_room_bytes=float(max(0, placed.budget.pool_bytes) * plan.count),
        bandwidth=part.memory_bandwidth * plan.count,
        ceiling=stream_ceiling(part.memory_bandwidth, weights, plan.replica),
        free_output_tokens_per_s=None if rate is None else rate.value * free[0].rate,
        free_tpot_ms=None if tpot is None else tpot.value * free[0].tpot,
        free_single_tpot_ms=None if one is None else one.value * free[1].tpot,
    )


def _name(side: Deployed, table: SetupTable) -> str:
    part, _ = table.facts(side.estimate.request)
    return f"{side.estimate.count} × {part.name}"
