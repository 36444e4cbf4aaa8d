"""Scenarios that tests of decisions vary, and the decisions on them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.decision import AnswerValue, Decision, DecisionSettings
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.service import GpuDeskService

PARTS = ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi355x")


def make_scenario(
    model: str = "llama-3.1-70b",
    parts: tuple[str, ...] = PARTS,
    *,
    count: int | None = 8,
    in_flight: int = 64,
    weights: Precision = Precision.FP8,
    base_answers: Mapping[str, AnswerValue] = MappingProxyType({}),
    **answers: AnswerValue,
) -> Scenario:
    return Scenario(
        name="A case",
        model=model,
        weights=weights,
        kv=Precision.FP8 if weights is not Precision.BF16 else Precision.FP16,
        workload=Workload(1000, 500, Load(LoadKind.CONCURRENCY, concurrency=in_flight)),
        accelerators=tuple(AcceleratorChoice(part, count=count) for part in parts),
        decision=DecisionSettings(answers={**base_answers, **answers}),
    )


def decide(service: GpuDeskService, scenario: Scenario) -> Decision:
    return service.decide(service.answer(scenario))


def get_leader(decision: Decision) -> str:
    assert decision.recommended is not None
    return decision.recommended.key
