"""Edits that change the size of a deployment, its formats or its accelerators."""

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


def make_remedy(kind: FitRemedyKind, value: int | float | Precision) -> FitRemedy:
    return FitRemedy(kind, value, works=True, estimate=None)


def test_higher_count_clears_the_plan(scenario: Scenario) -> None:
    edited = apply_remedy(scenario, 0, make_remedy(FitRemedyKind.COUNT, 4), "NVIDIA")
    assert edited.accelerators[0] == AcceleratorChoice("h200-sxm", count=4)
    assert edited.accelerators[1] == scenario.accelerators[1]


def test_concurrency_and_cache_precision_change_for_all_columns(scenario: Scenario) -> None:
    fewer = apply_remedy(scenario, 1, make_remedy(FitRemedyKind.CONCURRENCY, 53), "NVIDIA")
    assert fewer.workload.load.concurrency == 53
    narrower = apply_remedy(
        replace(scenario, kv=Precision.FP16), 1, make_remedy(FitRemedyKind.KV, Precision.FP8), "NVIDIA"
    )
    assert narrower.kv == Precision.FP8


def test_memory_fraction_changes_for_all_columns(scenario: Scenario) -> None:
    edited = apply_remedy(scenario, 0, make_remedy(FitRemedyKind.FRACTION, 0.97), "NVIDIA")
    assert edited == replace(scenario, memory_fraction=0.97)


@pytest.mark.parametrize(
    ("weights", "vendor", "expected"),
    [
        (Precision.NVFP4, "NVIDIA", Precision.FP4),
        (Precision.MXFP4, "AMD", Precision.FP4),
        (Precision.MXFP4, "NVIDIA", Precision.MXFP4),
        (Precision.INT4, "NVIDIA", Precision.INT4),
    ],
)
def test_vendor_format_becomes_the_common_one(weights: Precision, vendor: str, expected: Precision) -> None:
    assert choose_stated_format(weights, vendor) is expected


def test_deployment_keeps_a_format_already_in_the_scenario(scenario: Scenario) -> None:
    same_format = replace_deployment(replace(scenario, weights=Precision.NVFP4), 1, Precision.NVFP4, 1, "NVIDIA")
    assert same_format.weights == Precision.NVFP4
    assert same_format.accelerators[1].count == 1
    other_format = replace_deployment(scenario, 0, Precision.INT4, 1, "NVIDIA")
    assert (other_format.weights, other_format.accelerators[0].count) == (Precision.INT4, 1)


def test_new_pair_becomes_the_baseline(scenario: Scenario) -> None:
    edited = replace_model_and_baseline(scenario, "phi-4", Precision.FP4, Precision.FP8, "mi355x", 2)
    assert (edited.model, edited.weights, edited.kv) == ("phi-4", Precision.FP4, Precision.FP8)
    assert [(choice.accelerator, choice.count) for choice in edited.accelerators] == [
        ("mi355x", 2),
        ("h200-sxm", 2),
        ("b200-hgx", 2),
    ]
    assert len({choice.slot for choice in edited.accelerators}) == 3
    assert edited.workload == scenario.workload


def test_existing_accelerator_moves_with_its_color_without_its_plan(scenario: Scenario) -> None:
    planned_choice = AcceleratorChoice("b200-hgx", 2, tp=2, serving_engine="tgi", slot=4)
    scenario = replace(scenario, accelerators=(scenario.accelerators[0], planned_choice))
    edited = replace_model_and_baseline(scenario, "phi-4", Precision.FP8, Precision.FP8, "b200-hgx", None)
    assert edited.accelerators[0] == AcceleratorChoice("b200-hgx", slot=4)
    assert [choice.accelerator for choice in edited.accelerators] == ["b200-hgx", "h200-sxm"]


def test_seventh_accelerator_replaces_the_last(scenario: Scenario) -> None:
    accelerators = ("h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi350x", "mi355x")
    full_scenario = replace(
        scenario, accelerators=tuple(AcceleratorChoice(accelerator) for accelerator in accelerators)
    )
    edited = replace_model_and_baseline(full_scenario, "phi-4", Precision.FP8, Precision.FP8, "l40s", 1)
    assert [choice.accelerator for choice in edited.accelerators] == ["l40s", *accelerators[:5]]
