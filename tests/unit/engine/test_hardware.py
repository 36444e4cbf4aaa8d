"""Peaks by arithmetic, and the link between ranks."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.precision import Precision
from gpudesk.engine.hardware import FALLBACK_PCIE, Link, link, peak, stage_link
from tests.unit.engine.bench import H200

NODE = 50e9


@pytest.mark.parametrize(
    ("peaks", "arithmetic", "expected"),
    [
        ({"bf16": 1.0, "fp16": 2.0, "fp8": 3.0, "fp4": 4.0}, Precision.NVFP4, 4.0),
        ({"bf16": 1.0, "fp16": 2.0, "fp8": 3.0}, Precision.MXFP4, 3.0),
        ({"bf16": 1.0, "fp16": 2.0}, Precision.FP8, 1.0),
        ({"fp16": 2.0}, Precision.BF16, 2.0),
        ({"bf16": 1.0}, Precision.FP16, 1.0),
        ({"bf16": 1.0, "fp8": 3.0}, Precision.FP6, 3.0),
        ({"bf16": 1.0, "fp8": 3.0}, Precision.INT8, 1.0),
        ({"bf16": 1.0, "int8": 5.0}, Precision.INT4, 1.0),
        ({"int8": 5.0}, Precision.BF16, None),
        ({}, Precision.FP8, None),
    ],
)
def test_peak_of_the_next_wider_arithmetic(
    peaks: dict[str, float], arithmetic: Precision, expected: float | None
) -> None:
    part = replace(H200, peak_dense=MappingProxyType(peaks))
    found = peak(part, arithmetic)
    assert (None if found is None else found.flops) == expected


@pytest.mark.parametrize("arithmetic", list(Precision))
def test_every_arithmetic_has_a_peak_on_a_part_with_16_bits(arithmetic: Precision) -> None:
    assert peak(H200, arithmetic) is not None


def test_ranks_of_one_domain_use_half_of_the_bidirectional_rate() -> None:
    assert link(H200, 8, NODE) == Link(4.5e11, "scale-up")
    rack = replace(H200, scale_up_domain=72, scale_up_bandwidth=1.8e12)
    assert link(rack, 64, NODE) == Link(9e11, "scale-up")


def test_ranks_beyond_the_domain_go_between_hosts() -> None:
    assert link(H200, 16, NODE) == Link(NODE, "node")
    assert link(replace(H200, scale_up_domain=72), 144, NODE) == Link(NODE, "node")


@pytest.mark.parametrize("domain", [None, 1])
def test_cards_without_a_scale_up_link_share_a_host_over_pcie(domain: int | None) -> None:
    card = replace(H200, scale_up_domain=domain, scale_up_bandwidth=None)
    assert link(card, 2, NODE) == link(card, 8, NODE) == Link(6.4e10, "pcie")
    assert link(replace(card, pcie_bandwidth=None), 4, NODE) == Link(FALLBACK_PCIE / 2, "pcie")
    assert link(card, 9, NODE) == Link(NODE, "node")


def test_a_bridge_joins_two_cards_only() -> None:
    pair = replace(H200, scale_up_domain=2, scale_up_bandwidth=6e11)
    assert link(pair, 2, NODE) == Link(3e11, "scale-up")
    assert link(pair, 4, NODE) == Link(6.4e10, "pcie")


def test_a_domain_whose_link_is_not_known_counts_as_cards_in_one_host() -> None:
    unknown = replace(H200, scale_up_domain=12, scale_up_bandwidth=None)
    assert link(unknown, 2, NODE).kind == "pcie"
    assert link(unknown, 16, NODE) == Link(NODE, "node")


@pytest.mark.parametrize("plan", [ParallelPlan(8, 2), ParallelPlan(4, 3), ParallelPlan(1, 16)])
def test_stages_beyond_a_host_hand_over_through_the_network(plan: ParallelPlan) -> None:
    assert stage_link(H200, plan, NODE) == Link(NODE, "node")
    # The ranks of one stage stay in their host.
    assert link(H200, plan.tp, NODE).kind == "scale-up"


def test_stages_within_a_host_use_its_own_link() -> None:
    assert stage_link(H200, ParallelPlan(4, 2), NODE) == Link(4.5e11, "scale-up")
    # Replicas beside each other hand nothing over.
    assert stage_link(H200, ParallelPlan(2, 4, dp=4), NODE) == Link(4.5e11, "scale-up")
    rack = replace(H200, scale_up_domain=72)
    assert stage_link(rack, ParallelPlan(8, 8), NODE).kind == "scale-up"
    assert stage_link(rack, ParallelPlan(32, 3), NODE) == Link(NODE, "node")


def test_stages_on_cards_use_pcie_up_to_eight_of_them() -> None:
    card = replace(H200, scale_up_domain=None, scale_up_bandwidth=None)
    assert stage_link(card, ParallelPlan(2, 4), NODE) == Link(6.4e10, "pcie")
    assert stage_link(card, ParallelPlan(2, 8), NODE) == Link(NODE, "node")
    pair = replace(H200, scale_up_domain=2, scale_up_bandwidth=6e11)
    assert stage_link(pair, ParallelPlan(1, 2), NODE) == Link(3e11, "scale-up")
    assert stage_link(pair, ParallelPlan(2, 2), NODE) == Link(6.4e10, "pcie")


def test_a_link_between_stages_is_never_faster_than_that_of_a_rank_group() -> None:
    for plan in (ParallelPlan(2, 2), ParallelPlan(8, 3), ParallelPlan(1, 2), ParallelPlan(4, 16)):
        for part in (H200, replace(H200, scale_up_domain=None, scale_up_bandwidth=None)):
            within = link(part, plan.tp, NODE).bandwidth if plan.tp > 1 else float("inf")
            assert stage_link(part, plan, NODE).bandwidth <= within
