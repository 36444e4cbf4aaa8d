"""Edits that bring a deployment to another size: what changes, and formats stated for all vendors."""

from dataclasses import replace

import pytest

from gpudesk.desktop.session.scenario_edits import (
    apply_remedy,
    choose_stated_format,
    replace_deployment,
    replace_model_and_baseline,
)
from gpudesk.documents.scenario_file import SAMPLE_TEMPLATE, read_template
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import FitRemedy, FitRemedyKind


@pytest.fixture
def scenario() -> Scenario:
    choices = (AcceleratorChoice("h200-sxm", count=2, tp=2), AcceleratorChoice("b200-hgx", count=2))
    return replace(read_template(SAMPLE_TEMPLATE), accelerators=choices)


def remedy(kind: FitRemedyKind, value: int | float | Precision) -> FitRemedy:
    return FitRemedy(kind, value, works=True, estimate=None)


def test_more_of_them_leave_the_plan_open(scenario: Scenario) -> None:
    edited = apply_remedy(scenario, 0, remedy(FitRemedyKind.COUNT, 4), "NVIDIA")
    assert edited.accelerators[0] == AcceleratorChoice("h200-sxm", count=4)
    assert edited.accelerators[1] == scenario.accelerators[1]


def test_fewer_requests_and_a_narrower_cache_are_for_all_columns(scenario: Scenario) -> None:
    fewer = apply_remedy(scenario, 1, remedy(FitRemedyKind.CONCURRENCY, 53), "NVIDIA")
    assert fewer.workload.load.concurrency == 53
    narrower = apply_remedy(replace(scenario, kv=Precision.FP16), 1, remedy(FitRemedyKind.KV, Precision.FP8), "NVIDIA")
    assert narrower.kv == Precision.FP8


def test_more_of_the_memory_is_for_all_columns(scenario: Scenario) -> None:
    edited = apply_remedy(scenario, 0, remedy(FitRemedyKind.FRACTION, 0.97), "NVIDIA")
    assert edited == replace(scenario, memory_fraction=0.97)


@pytest.mark.parametrize(
    ("weights", "vendor", "stated"),
    [
        (Precision.NVFP4, "NVIDIA", Precision.FP4),
        (Precision.MXFP4, "AMD", Precision.FP4),
        (Precision.MXFP4, "NVIDIA", Precision.MXFP4),
        (Precision.INT4, "NVIDIA", Precision.INT4),
    ],
)
def test_a_vendors_own_format_is_stated_plainly(weights: Precision, vendor: str, stated: Precision) -> None:
    assert choose_stated_format(weights, vendor) is stated


def test_a_deployment_keeps_the_format_that_is_stated_already(scenario: Scenario) -> None:
    kept = replace_deployment(replace(scenario, weights=Precision.NVFP4), 1, Precision.NVFP4, 1, "NVIDIA")
    assert kept.weights == Precision.NVFP4
    assert kept.accelerators[1].count == 1
    other = replace_deployment(scenario, 0, Precision.INT4, 1, "NVIDIA")
    assert (other.weights, other.accelerators[0].count) == (Precision.INT4, 1)


def test_a_pair_becomes_the_baseline_and_the_others_stay(scenario: Scenario) -> None:
    edited = replace_model_and_baseline(scenario, "phi-4", Precision.FP4, Precision.FP8, "mi355x", 2)
    assert (edited.model, edited.weights, edited.kv) == ("phi-4", Precision.FP4, Precision.FP8)
    assert [(choice.accelerator, choice.count) for choice in edited.accelerators] == [
        ("mi355x", 2),
        ("h200-sxm", 2),
        ("b200-hgx", 2),
    ]
    assert len({choice.slot for choice in edited.accelerators}) == 3
    assert edited.workload == scenario.workload


def test_a_part_that_is_there_moves_with_its_color_and_lets_its_plan_go(scenario: Scenario) -> None:
    planned = AcceleratorChoice("b200-hgx", 2, tp=2, serving_engine="tgi", slot=4)
    scenario = replace(scenario, accelerators=(scenario.accelerators[0], planned))
    edited = replace_model_and_baseline(scenario, "phi-4", Precision.FP8, Precision.FP8, "b200-hgx", None)
    assert edited.accelerators[0] == AcceleratorChoice("b200-hgx", slot=4)
    assert [choice.accelerator for choice in edited.accelerators] == ["b200-hgx", "h200-sxm"]


def test_of_six_the_last_makes_room(scenario: Scenario) -> None:
    parts = ("h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi350x", "mi355x")
    full = replace(scenario, accelerators=tuple(AcceleratorChoice(part) for part in parts))
    edited = replace_model_and_baseline(full, "phi-4", Precision.FP8, Precision.FP8, "l40s", 1)
    assert [choice.accelerator for choice in edited.accelerators] == ["l40s", *parts[:5]]
