"""Peaks by arithmetic, and the link between ranks."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.precision import Precision
from gpudesk.engine.step_work import FALLBACK_PCIE, RankLink, find_link, find_peak, find_stage_link
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
    peak = find_peak(part, arithmetic)
    assert (None if peak is None else peak.flops) == expected


@pytest.mark.parametrize("arithmetic", list(Precision))
def test_every_arithmetic_has_a_peak_on_a_part_with_16_bits(arithmetic: Precision) -> None:
    assert find_peak(H200, arithmetic) is not None


def test_ranks_of_one_domain_use_half_of_the_bidirectional_rate() -> None:
    assert find_link(H200, 8, NODE) == RankLink(4.5e11, "scale-up")
    rack = replace(H200, scale_up_domain=72, scale_up_bandwidth=1.8e12)
    assert find_link(rack, 64, NODE) == RankLink(9e11, "scale-up")


def test_ranks_beyond_the_domain_go_between_hosts() -> None:
    assert find_link(H200, 16, NODE) == RankLink(NODE, "node")
    assert find_link(replace(H200, scale_up_domain=72), 144, NODE) == RankLink(NODE, "node")


@pytest.mark.parametrize("domain", [None, 1])
def test_cards_without_a_scale_up_link_share_a_host_over_pcie(domain: int | None) -> None:
    card = replace(H200, scale_up_domain=domain, scale_up_bandwidth=None)
    assert find_link(card, 2, NODE) == find_link(card, 8, NODE) == RankLink(6.4e10, "pcie")
    assert find_link(replace(card, pcie_bandwidth=None), 4, NODE) == RankLink(FALLBACK_PCIE / 2, "pcie")
    assert find_link(card, 9, NODE) == RankLink(NODE, "node")


def test_a_bridge_joins_two_cards_only() -> None:
    pair = replace(H200, scale_up_domain=2, scale_up_bandwidth=6e11)
    assert find_link(pair, 2, NODE) == RankLink(3e11, "scale-up")
    assert find_link(pair, 4, NODE) == RankLink(6.4e10, "pcie")


def test_a_domain_whose_link_is_not_known_counts_as_cards_in_one_host() -> None:
    unknown = replace(H200, scale_up_domain=12, scale_up_bandwidth=None)
    assert find_link(unknown, 2, NODE).kind == "pcie"
    assert find_link(unknown, 16, NODE) == RankLink(NODE, "node")


@pytest.mark.parametrize("plan", [ParallelPlan(8, 2), ParallelPlan(4, 3), ParallelPlan(1, 16)])
def test_stages_beyond_a_host_hand_over_through_the_network(plan: ParallelPlan) -> None:
    assert find_stage_link(H200, plan, NODE) == RankLink(NODE, "node")
    # The ranks of one stage stay in their host.
    assert find_link(H200, plan.tp, NODE).kind == "scale-up"


def test_stages_within_a_host_use_its_own_link() -> None:
    assert find_stage_link(H200, ParallelPlan(4, 2), NODE) == RankLink(4.5e11, "scale-up")
    # Replicas next to each other hand nothing over.
    assert find_stage_link(H200, ParallelPlan(2, 4, dp=4), NODE) == RankLink(4.5e11, "scale-up")
    rack = replace(H200, scale_up_domain=72)
    assert find_stage_link(rack, ParallelPlan(8, 8), NODE).kind == "scale-up"
    assert find_stage_link(rack, ParallelPlan(32, 3), NODE) == RankLink(NODE, "node")


def test_stages_on_cards_use_pcie_up_to_eight_of_them() -> None:
    card = replace(H200, scale_up_domain=None, scale_up_bandwidth=None)
    assert find_stage_link(card, ParallelPlan(2, 4), NODE) == RankLink(6.4e10, "pcie")
    assert find_stage_link(card, ParallelPlan(2, 8), NODE) == RankLink(NODE, "node")
    pair = replace(H200, scale_up_domain=2, scale_up_bandwidth=6e11)
    assert find_stage_link(pair, ParallelPlan(1, 2), NODE) == RankLink(3e11, "scale-up")
    assert find_stage_link(pair, ParallelPlan(2, 2), NODE) == RankLink(6.4e10, "pcie")


def test_a_link_between_stages_is_never_faster_than_that_of_a_rank_group() -> None:
    for plan in (ParallelPlan(2, 2), ParallelPlan(8, 3), ParallelPlan(1, 2), ParallelPlan(4, 16)):
        for part in (H200, replace(H200, scale_up_domain=None, scale_up_bandwidth=None)):
            within = find_link(part, plan.tp, NODE).bandwidth if plan.tp > 1 else float("inf")
            assert find_stage_link(part, plan, NODE).bandwidth <= within


def test_bridges_join_fewer_cards_than_a_host_holds() -> None:
    """Four H200 NVL share a bridge and eight a host; the eight communicate over PCIe."""
    card = replace(H200, form_factor="PCIe dual-slot", scale_up_domain=4, pcie_bandwidth=126e9)
    assert (card.cards_per_host, card.domain_over_machines) == (8, None)
    assert find_link(card, 4, NODE).kind == "scale-up"
    assert find_link(card, 8, NODE) == RankLink(63e9, "pcie")
    assert find_link(card, 16, NODE).kind == "node"


def test_a_soldered_chip_is_alone_in_its_host() -> None:
    alone = replace(H200, form_factor="SoC, soldered", scale_up_domain=1, scale_up_bandwidth=None)
    assert alone.cards_per_host == 1
    assert find_link(alone, 2, NODE) == RankLink(NODE, "node")
    assert replace(alone, form_factor=None).cards_per_host == 8
