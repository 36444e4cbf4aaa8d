"""How many full estimates one core computes in a second."""

import sys
from time import perf_counter

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from gpudesk.domain.estimate import LoadKind, ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.engine.serving import LOAD_CODES, DeploymentLoads, ServingResults, serve_loads
from gpudesk.engine.steps import Array, CoefficientColumns, ReplicaRequests
from tests.unit.engine import published
from tests.unit.engine.bench import H200, MI325X, SERVING, Plant, plant

CASES = 200_000
#: Full estimates a second on one core.
TARGET = 2_000_000

DEPLOYMENTS: list[tuple[Model, ParallelPlan]] = [
    (published.llama_3_1_70b(), ParallelPlan(tp=2)),
    (published.llama_3_1_70b(), ParallelPlan(tp=8)),
    (published.gemma_3_27b(), ParallelPlan()),
    (published.deepseek_v3(), ParallelPlan(tp=8, ep=8, attention_dp=True)),
    (published.gpt_oss_120b(), ParallelPlan(tp=4, dp=2)),
    (published.qwen3_next_80b(), ParallelPlan(tp=2, pp=2)),
]


class Questions:
    """Independent questions: each has its deployment, lengths and load; memory is divided per question."""

    def __init__(self, plants: list[Plant], kind: LoadKind) -> None:
        dice = np.random.default_rng(1)
        self.table = CoefficientColumns.table([plant.row for plant in plants])
        self.index = dice.integers(0, len(plants), CASES)
        self.input = dice.integers(16, 16_000, CASES).astype(np.float64)
        self.output = dice.integers(2, 2_000, CASES).astype(np.float64)
        self.amount = dice.integers(1, 500, CASES).astype(np.float64)
        self.total = dice.integers(500, 5_000, CASES).astype(np.float64)
        self.kind = np.full(CASES, LOAD_CODES[kind], dtype=np.int8)
        self.replicas = np.array([float(plant.plan.dp) for plant in plants])
        self.pool = np.array([float(plant.budget.pool_bytes) for plant in plants])
        self.state = np.array([float(plant.budget.cache.state_bytes) for plant in plants])
        self.ranks = np.array([float(plant.budget.attention_ranks) for plant in plants])
        self.most = np.array([plant.max_batch * plant.budget.attention_ranks for plant in plants])
        growths = [plant.budget.cache.stored for plant in plants]
        windows = max(len(stored) for stored in growths)
        self.per_token = np.zeros((windows, len(plants)))
        self.window = np.full((windows, len(plants)), np.inf)
        for column, stored in enumerate(growths):
            for place, growth in enumerate(stored):
                self.per_token[place, column] = growth.per_token
                self.window[place, column] = np.inf if growth.window is None else growth.window

    def capacity(self) -> Array:
        """Sequences that the memory of one replica admits, by the pool and the bytes of a sequence."""
        tokens = self.input + self.output
        capacity_by_state = self.state[self.index]
        for per_token, window in zip(self.per_token, self.window, strict=True):
            capacity_by_state += per_token[self.index] * np.minimum(tokens, window[self.index])
        admitted = np.floor(self.pool[self.index] / capacity_by_state) * self.ranks[self.index]
        capacity: Array = np.clip(admitted, 1.0, self.most[self.index])
        return capacity

    def answer(self) -> ServingResults:
        capacity = self.capacity()
        nothing = np.full(CASES, np.inf)
        return serve_loads(
            CoefficientColumns(self.table, self.index),
            ReplicaRequests(self.input, self.input, self.output, capacity, np.ones(CASES, dtype=np.bool_)),
            DeploymentLoads(
                kind=self.kind,
                amount=self.amount,
                total=self.total,
                ttft=nothing,
                tpot=nothing,
                p99=np.zeros(CASES, dtype=np.bool_),
                replicas=self.replicas[self.index],
            ),
            SERVING,
        )


@pytest.mark.parametrize("kind", [LoadKind.CONCURRENCY, LoadKind.SATURATE, LoadKind.BATCH])
def test_full_estimates_a_second(
    benchmark: BenchmarkFixture, kind: LoadKind, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = (H200, MI325X)
    questions = Questions([plant(part, model, plan) for part in parts for model, plan in DEPLOYMENTS], kind)
    seconds: list[float] = []

    def answer() -> ServingResults:
        start = perf_counter()
        results = questions.answer()
        seconds.append(perf_counter() - start)
        return results

    results = benchmark(answer)
    assert np.all(results.rate > 0)
    rate = CASES / min(seconds)
    benchmark.extra_info["estimates_per_second"] = round(rate)
    with capsys.disabled():
        sys.stdout.write(f"\n{kind}: {rate / 1e6:.2f} million full estimates a second on one core\n")
    assert rate >= TARGET
