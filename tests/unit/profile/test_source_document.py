"""What the fifth source document decides and computes, answered by the profile of its accelerator."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpudesk import paths
from gpudesk.decision.rules.data_files import read_rules
from gpudesk.domain.precision import Precision
from gpudesk.domain.profile import AcceleratorProfile, CapabilityStatus, ProfileQuestion
from gpudesk.domain.sizing import FitQuestion
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import format_message

#: Rules of the document -> where the profile answers them.
RULES: dict[str, Callable[[AcceleratorProfile], object]] = {
    "D004-01": lambda profile: profile.weights,
    "D004-02": lambda profile: {each.job for each in profile.recommendations},
    "D004-03": lambda profile: [each.status for each in profile.capabilities],
    "D004-04": lambda profile: [each.context_tokens for each in profile.capabilities],
    "D004-05": lambda profile: [each.count for each in profile.capabilities if (each.count or 0) > 1],
    "D004-06": lambda profile: [each for each in profile.advice.checks if each.id == "profile.check.form"],
    "D004-07": lambda profile: [each for each in profile.upgrades if each.within_budget is not None],
    "D004-08": lambda profile: [each for each in profile.traits if each.id == "same_compute"],
    "D004-09": lambda profile: [each for each in profile.traits if each.id in ("engines", "cuda_rival")],
    "D004-10": lambda profile: profile.advice.fits - (profile.advice.runs_well or 0),
    "D004-11": lambda profile: [each for each in profile.limits if each.headroom is not None],
    "D004-12": lambda profile: [each.unlocked for each in profile.upgrades if each.count == 1 and each.unlocked],
    "D004-14": lambda profile: [each.diffusion for each in profile.capabilities if each.unit == "s"],
    "D004-13": lambda profile: [each.usd_per_unlocked for each in profile.upgrades if each.usd_per_unlocked],
}
#: Printed figures that the document gives no inputs for.
HIDDEN = frozenset(f"W004-{number}" for number in range(51, 59))


@pytest.fixture(scope="module")
def profile(service: GpuDeskService) -> AcceleratorProfile:
    return service.profile(ProfileQuestion("mi325x", budget_usd=50_000.0))


def test_every_rule_is_answered(profile: AcceleratorProfile) -> None:
    ids = {rule.id for rule in read_rules(paths.get_data_path("rules")) if rule.source == "seed-004"}
    assert set(RULES) == ids
    for rule, answer in RULES.items():
        assert answer(profile), rule


def test_every_worked_example_is_computed_again_or_cannot_be(service: GpuDeskService) -> None:
    figures = {each.example.id: each for each in service.worked_examples if each.example.id.startswith("W004-")}
    assert set(figures) == {f"W004-{number:02d}" for number in range(1, 59)}
    assert {name for name, each in figures.items() if each.example.expected is None} == HIDDEN


def test_the_table_of_counts_is_that_of_the_document(service: GpuDeskService, profile: AcceleratorProfile) -> None:
    printed = {each.example.id: each.example.expected for each in service.worked_examples}
    for step, example in zip(profile.scale, ("W004-01", "W004-02", "W004-03", "W004-04"), strict=True):
        assert step.bandwidth_rule == pytest.approx((printed[example] or 0.0) * 1e9)
    for step, example in zip(profile.scale, ("W004-13", "W004-14", "W004-15", "W004-16"), strict=True):
        assert step.memory_bytes / 2**30 == printed[example]


def test_405b_on_one_accelerator_is_refused_as_published(service: GpuDeskService, profile: AcceleratorProfile) -> None:
    """Weights of 810 GB at 16 bits need four, at 8 bits two, at 4 bits one (W004-18 to W004-22)."""
    for weights, count in ((Precision.BF16, 4), (Precision.FP8, 2), (Precision.INT4, 1)):
        (row,) = service.fit_matrix(FitQuestion(weights, context=5000), ["mi325x"], ["llama-3.1-405b"]).rows
        assert row[0].count == count
    huge = next(each for each in profile.capabilities if each.task == "huge_405b")
    assert huge.status is CapabilityStatus.QUANTIZED
    refusal = next(each for each in profile.traits if each.id == "needs_more.huge_405b")
    assert "811.7 GB" in format_message(refusal.text)


def test_the_largest_memory_is_computed(profile: AcceleratorProfile) -> None:
    memory = next(each for each in profile.traits if each.attribute == "memory" and each.standing is not None)
    assert memory.standing is not None
    assert memory.standing.rank > 1
    assert memory.standing.best > profile.accelerator.memory_bytes


def test_counts_of_the_document_are_explained(profile: AcceleratorProfile) -> None:
    notes = [format_message(each) for each in profile.notes]
    assert any("363 of 374" in each and f"{profile.advice.models} models" in each for each in notes)
    assert profile.advice.fits != 363
