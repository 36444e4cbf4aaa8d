"""An own part that says what a shipped one says is answered like it; what is reverted leaves no trace."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gpudesk.catalog.read import Catalog
from gpudesk.catalog.user_store import edits
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.estimate import Estimate, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.user_facts import UserAccelerator, UserClaim, UserFacts
from gpudesk.engine.calibration import Calibration
from gpudesk.estimation.estimator import Estimator
from gpudesk.service import GpuDeskService
from tests.unit.domain.asking import ask, closed
from tests.unit.domain.user_samples import LAB, TODAY

PARTS = ("h200-sxm", "mi325x", "b200-hgx", "rtx-4090")


def twin(catalog: Catalog, part: str) -> UserFacts:
    """Return an accelerator of the user's that says of itself what a shipped one says."""
    original = catalog.accelerator(part)
    return UserFacts.of(
        [
            LAB,
            UserAccelerator("twin", "Twin", original.vendor, original.generation, original.announced),
            *(
                UserClaim("twin", each.name, each.value, LAB.id, SourceKind.USER, TODAY)
                for each in catalog.attributes(part)
                if each.value is not None
            ),
        ]
    )


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("model", ["llama-3.1-8b", "deepseek-v3"])
def test_identical_accelerator_gets_identical_estimates(
    facts: Catalog, calibration: Calibration, part: str, model: str
) -> None:
    merged = facts.with_user_facts(twin(facts, part))
    named = facts.accelerator(part).name
    assert dataclasses.replace(merged.accelerator("twin"), id=part, name=named) == facts.accelerator(part)
    request = [ask(each, model, "fp8", closed(32), count=8) for each in (part, "twin")]
    one, other = Estimator(merged, calibration).estimate_many(request)
    if not isinstance(one, Estimate) or not isinstance(other, Estimate):
        assert type(one) is type(other)
        return
    for name in (each.name for each in dataclasses.fields(Estimate)):
        if name not in ("request", "notes", "reason"):
            assert getattr(one, name) == getattr(other, name), name


def test_more_bandwidth_and_more_memory_never_lower_what_is_reported(facts: Catalog, calibration: Calibration) -> None:
    throughputs = []
    for factor in (1, 2, 4):
        grown = [
            dataclasses.replace(fact, value=fact.value * factor)
            if isinstance(fact, UserClaim)
            and fact.attribute in ("memory", "memory_bandwidth")
            and isinstance(fact.value, int | float)
            else fact
            for fact in twin(facts, "h200-sxm")
        ]
        merged = facts.with_user_facts(UserFacts.of(grown))
        (estimate,) = Estimator(merged, calibration).estimate_many(
            [ask("twin", "llama-3.1-70b", "fp8", closed(16), count=4)]
        )
        assert isinstance(estimate, Estimate)
        assert estimate.output_tokens_per_s is not None
        throughputs.append((estimate.max_concurrency, estimate.output_tokens_per_s.value))
    assert throughputs == sorted(throughputs)
    assert throughputs[0] < throughputs[-1]


def test_reverted_value_restores_the_exact_answer(tmp_path: Path) -> None:
    scenario = Scenario(
        "twin",
        "llama-3.1-8b",
        Precision.FP8,
        Workload(1000, 1000, closed(16)),
        (AcceleratorChoice("mi325x", 1), AcceleratorChoice("h200-sxm", 1)),
    )
    with GpuDeskService(GpuDeskService.open().catalog, user_file=tmp_path / "catalog.sqlite") as bench:
        before, revision = bench.answer(scenario), bench.catalog.revision
        steps = (
            lambda: edits.state_value(bench.catalog, "mi325x", "memory_bandwidth", 3.0, "TB/s", LAB, today=TODAY),
            lambda: edits.revert_attribute(bench.catalog, "mi325x", "memory_bandwidth"),
        )
        bench.user_catalog.do(steps[0]())
        changed = bench.answer(scenario)
        assert changed.content_hash != before.content_hash
        assert bench.catalog.revision != revision
        bench.user_catalog.do(steps[1]())
        assert bench.catalog.revision == revision
        assert bench.answer(scenario).content_hash == before.content_hash
        assert bench.answer(scenario).columns == before.columns
