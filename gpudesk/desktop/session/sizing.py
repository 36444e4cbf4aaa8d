"""Edits that bring a deployment to another size or format, as what is needed and what would help say."""

from __future__ import annotations

from dataclasses import replace

from gpudesk.desktop.session.edits import (
    add_accelerator,
    make_baseline,
    remove_accelerator,
    with_accelerator,
    with_count,
    with_load_value,
)
from gpudesk.domain.demand import Candidate
from gpudesk.domain.precision import Precision, concrete
from gpudesk.domain.scenarios import MOST_ACCELERATORS, AcceleratorChoice, Scenario
from gpudesk.domain.sizing import Remedy, RemedyKind
from gpudesk.domain.workloads import Load, LoadKind


def with_remedy(scenario: Scenario, position: int, remedy: Remedy, vendor: str) -> Scenario:
    """Return the scenario in which the accelerator at a position holds what it is asked to.

    Formats, the memory fraction and the number of requests are those of the scenario, so that they change for
    all columns.
    `vendor` is that of the accelerator.
    """
    value = remedy.value
    if remedy.kind is RemedyKind.WEIGHTS:
        return replace(scenario, weights=stated_format(Precision(str(value)), vendor))
    if remedy.kind is RemedyKind.KV:
        return replace(scenario, kv=Precision(str(value)))
    if remedy.kind is RemedyKind.FRACTION:
        return replace(scenario, memory_fraction=float(value))
    if remedy.kind is RemedyKind.COUNT:
        return with_count(scenario, position, int(value))
    return with_load_value(scenario, int(value))


def with_deployment(
    scenario: Scenario, position: int, weights: Precision, count: int, vendor: str
) -> Scenario:
    """Return the scenario with a weight format, for all columns, and with a count of one accelerator."""
    kept = scenario.weights if concrete(scenario.weights, vendor) is weights else None
    chosen = kept or stated_format(weights, vendor)
    return with_count(replace(scenario, weights=chosen), position, count)


def with_pair(
    scenario: Scenario, model: str, weights: Precision, kv: Precision, accelerator: str, count: int | None
) -> Scenario:
    """Return the scenario with another model in these formats, and an accelerator as its baseline.

    The accelerator's plan and serving engine are left open, and its count too where that is None. The others
    stay; of a full comparison the last one makes room.
    """
    places = (n for n, choice in enumerate(scenario.accelerators) if choice.accelerator == accelerator)
    place = next(places, None)
    if place is None:
        if len(scenario.accelerators) >= MOST_ACCELERATORS:
            scenario = remove_accelerator(scenario, len(scenario.accelerators) - 1)
        scenario = add_accelerator(scenario, accelerator)
        place = len(scenario.accelerators) - 1
    scenario = make_baseline(scenario, place)
    first = AcceleratorChoice(accelerator, count=count, slot=scenario.accelerators[0].slot)
    choices = (first, *scenario.accelerators[1:])
    return replace(scenario, model=model, weights=weights, kv=kv, accelerators=choices)


def stated_format(weights: Precision, vendor: str) -> Precision:
    """Return the format to state in a scenario: plain FP4 for a vendor's own, so that others have theirs."""
    return Precision.FP4 if weights is concrete(Precision.FP4, vendor) else weights


def with_candidate(
    scenario: Scenario, position: int, candidate: Candidate, requests_per_s: float
) -> Scenario:
    """Return the scenario with the working replicas of a sized demand at a position, under its peak.

    Replicas in reserve serve nothing, so that they are not part of the deployment. The load is that of all
    columns.
    """
    plan = candidate.plan
    deployed = with_accelerator(
        scenario,
        position,
        count=candidate.replicas * plan.replica,
        tp=plan.tp,
        pp=plan.pp,
        ep=plan.ep,
        dp=candidate.replicas,
        attention_dp=plan.attention_dp,
    )
    load = Load(LoadKind.REQUEST_RATE, request_rate=requests_per_s)
    return replace(deployed, workload=replace(deployed.workload, load=load))
