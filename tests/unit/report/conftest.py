"""Answers to make sheets from."""

from collections.abc import Callable

import pytest

from gpudesk.domain.answer import AcceleratorChoice, Answer, Scenario
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.estimation.estimator import answer_scenario
from tests.fakes import FakeCatalog, FakeEstimator

MakeAnswer = Callable[..., Answer]


@pytest.fixture
def make_answer() -> MakeAnswer:
    def make(*parts: str, input_tokens: int = 2000, name: str = "Two for 70B", note: str = "") -> Answer:
        scenario = Scenario(
            name=name,
            model="llama-3.1-70b",
            weights=Precision.FP8,
            workload=Workload(input_tokens, 500, Load(LoadKind.CONCURRENCY, concurrency=64)),
            accelerators=tuple(AcceleratorChoice(part, 1) for part in parts),
            note=note,
        )
        return answer_scenario(scenario, FakeCatalog(), FakeEstimator(), "2026-08")

    return make
