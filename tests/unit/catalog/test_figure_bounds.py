"""Figures of accelerators that no one can compute with: from packs, from forms, in the file of others."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store import edits
from gpudesk.documents.user_fact_json import read_user_facts, write_record
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.estimate import Estimate
from gpudesk.domain.registry import ATTRIBUTES
from gpudesk.domain.user_facts import UserClaim, UserFact, UserFacts
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.estimator import Estimator
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, format_input_error
from tests.unit.documents.test_dimension_choices import choose
from tests.unit.domain.asking import ask, closed
from tests.unit.domain.user_samples import ACCELERATOR as OURS
from tests.unit.domain.user_samples import LAB, TODAY

PART = "h200-sxm"
VALUES: st.SearchStrategy[Any] = (
    st.sampled_from([0, -1, True, "", "abc", "=1+1", ("a", "b"), 1, 1e-9, 8.5, 9 * 10**18, 1e30, math.nan])
    | st.integers()
    | st.floats()
)


@given(name=st.sampled_from(sorted(ATTRIBUTES)), value=VALUES)
def test_values_from_any_writer_can_be_computed_with(facts: Catalog, name: str, value: ClaimValue) -> None:
    merged = facts.with_user_facts(UserFacts.of(choose(name, value, PART)))
    part = merged.accelerator(PART)
    assert isinstance(part.platform, str)
    assert part.platform
    for figure in (part.memory_bytes, part.memory_bandwidth, *part.peak_dense.values()):
        assert 0 < figure < 1e19
    attribute = next((each for each in merged.attributes(PART) if each.name == name), None)
    if attribute is not None and attribute.overridden:
        assert attribute.value == value
        assert type(attribute.value) is type(value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("memory", 1e30),
        ("memory", "much"),
        ("peak_dense_fp8", 10**19),
        ("scale_up_domain", 8.5),
        ("software_platform", ("CUDA", "ROCm")),
        ("supported_precisions", "fp8"),
        ("memory_stacks", True),
    ],
)
def test_a_pack_with_such_a_figure_is_refused_at_the_field(name: str, value: ClaimValue) -> None:
    records = [write_record(fact) for fact in choose(name, value, PART)]
    with pytest.raises(InputError) as caught:
        read_user_facts(records)
    assert caught.value.where == "records[1].value"
    assert format_input_error(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "unit"),
    [
        ("memory", 1e20, "GiB"),
        ("peak_dense_fp8", 1e10, "PFLOPS"),
        ("tdp", 1e20, "W"),
        ("scale_up_domain", 8.5, "accelerators"),
    ],
)
def test_a_form_with_such_a_figure_is_refused_at_the_field(facts: Catalog, name: str, value: float, unit: str) -> None:
    with pytest.raises(InputError) as caught:
        edits.state_value(facts, PART, name, value, unit, LAB, today=TODAY)
    assert caught.value.where == "value"
    assert format_input_error(caught.value)


def test_a_part_without_peaks_is_refused_and_the_others_are_answered(facts: Catalog, calibration: Calibration) -> None:
    merged = facts.with_user_facts(UserFacts.of([LAB, *OURS]))
    assert not merged.accelerator("ours-x1").peak_dense
    requests = [ask(part, "llama-3.1-8b", "bf16", closed(8)) for part in ("ours-x1", PART)]
    refused, answered = Estimator(merged, calibration).estimate_many(requests)
    assert isinstance(refused, InputError)
    assert "Ours X1 needs a peak in BF16 or wider to compute times" in format_input_error(refused)
    assert isinstance(answered, Estimate)


@pytest.mark.parametrize("peaks", [{"peak_dense_bf16": 1.0}, {"peak_dense_fp16": 9e18}])
@pytest.mark.parametrize("size", [1, 10**18])
def test_accelerator_with_extreme_values_gets_an_answer(
    facts: Catalog, calibration: Calibration, peaks: dict[str, float], size: int
) -> None:
    user_facts: list[UserFact] = [
        dataclasses.replace(fact, value=size)
        if isinstance(fact, UserClaim) and fact.attribute in ("memory", "memory_bandwidth")
        else fact
        for fact in OURS
    ]
    user_facts += [UserClaim("ours-x1", name, flops, LAB.id, SourceKind.USER, TODAY) for name, flops in peaks.items()]
    merged = facts.with_user_facts(UserFacts.of([LAB, *user_facts]))
    (estimate,) = Estimator(merged, calibration).estimate_many(
        [ask("ours-x1", "llama-3.1-8b", "bf16", closed(8), count=8)]
    )
    assert isinstance(estimate, Estimate)
    assert estimate.fits == (size > 1)
