"""One call for any mix of loads: each case gets its own, and the limiter is what makes it slow."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from gpudesk.domain.accelerator import Accelerator
from gpudesk.domain.estimate import Limiter, LoadKind, ParallelPlan
from gpudesk.engine.steps import LIMITERS, CoefficientColumns
from tests.unit.engine import published
from tests.unit.engine.bench import H200, PLAIN, Case, plant, serve_cases, serve_one

LLAMA = published.llama_3_1_70b()


@pytest.mark.parametrize(
    ("part", "limiter"),
    [
        (replace(H200, memory_bandwidth=1e9), Limiter.MEMORY_BANDWIDTH),
        (replace(H200, peak_dense=MappingProxyType({"bf16": 1e10})), Limiter.COMPUTE),
        (replace(H200, scale_up_bandwidth=1e6), Limiter.INTERCONNECT),
        (
            replace(H200, memory_bandwidth=1e18, scale_up_bandwidth=1e18, peak_dense=MappingProxyType({"bf16": 1e22})),
            Limiter.INTERCONNECT,  # the fixed time of 160 collectives
        ),
    ],
)
@pytest.mark.parametrize("kind", list(LoadKind))
def test_missing_resource_is_the_limiter(part: Accelerator, limiter: Limiter, kind: LoadKind) -> None:
    row = plant(part, LLAMA, ParallelPlan(tp=8)).row
    figures = serve_one(Case(row, 500, 100, 64, kind, 32, total=64))
    assert LIMITERS[figures.limiter] is limiter


@pytest.mark.parametrize("kind", list(LoadKind))
def test_overhead_is_what_remains_of_one_infinitely_fast_part(kind: LoadKind) -> None:
    fast = replace(H200, memory_bandwidth=1e18, peak_dense=MappingProxyType({"bf16": 1e22}))
    row = plant(fast, LLAMA, ParallelPlan()).row
    figures = serve_one(Case(row, 500, 100, 64, kind, 32, total=64))
    assert LIMITERS[figures.limiter] is Limiter.OVERHEAD


def test_a_mix_of_loads_keeps_its_order() -> None:
    row = plant(H200, LLAMA, ParallelPlan(tp=8)).row
    kinds = [kind for _ in range(3) for kind in reversed(LoadKind)]
    mixed = [Case(row, 500, 100, 64, kind, 2.0 + i, total=100) for i, kind in enumerate(kinds)]
    together = serve_cases(mixed)
    for position, case in enumerate(mixed):
        alone = serve_one(case)
        assert together.rate[position] == pytest.approx(alone.rate)
        assert together.ttft[position] == pytest.approx(alone.ttft)
        assert together.limiter[position] == alone.limiter


@pytest.mark.parametrize("kind", [LoadKind.CONCURRENCY, LoadKind.SATURATE, LoadKind.REQUEST_RATE, LoadKind.LIMITS])
def test_replicas_that_share_evenly_serve_as_many_times_more(kind: LoadKind) -> None:
    row = plant(H200, LLAMA, ParallelPlan(tp=8)).row
    case = Case(row, 500, 100, 64, kind, 20, total=200, ttft=2.0, tpot=0.03)
    one = serve_one(case)
    four = serve_one(replace(case, amount=80.0, total=800.0, replicas=4.0))
    assert four.rate == pytest.approx(4 * one.rate)
    assert four.admitted == pytest.approx(4 * one.admitted)
    assert (four.running, four.ttft) == (one.running, one.ttft)


def test_fewer_clients_than_replicas_use_as_many_replicas() -> None:
    row = plant(H200, LLAMA, ParallelPlan(tp=8)).row
    one = serve_one(Case(row, 500, 100, 64, LoadKind.CONCURRENCY, 1))
    three = serve_one(Case(row, 500, 100, 64, LoadKind.CONCURRENCY, 3, replicas=8))
    assert three.rate == pytest.approx(3 * one.rate)
    assert three.admitted == 3
    queued = serve_one(Case(row, 500, 100, 64, LoadKind.SATURATE, total=3, replicas=8))
    assert queued.admitted == 3
    assert queued.duration == pytest.approx(serve_one(Case(row, 500, 100, 64, LoadKind.SATURATE, total=1)).duration)


def test_selected_rows_are_those_of_their_cases() -> None:
    table = CoefficientColumns.table([replace(PLAIN, dense_read=float(i)) for i in range(4)])
    rows = CoefficientColumns(table, np.array([3, 3, 0, 2]))
    assert rows.dense_read.tolist() == [3, 3, 0, 2]
    assert rows.select(slice(1, 3)).dense_read.tolist() == [3, 0]
    assert rows.select(np.array([True, False, False, True])).dense_read.tolist() == [3, 2]


def test_no_cases_give_no_results() -> None:
    assert len(serve_cases([]).rate) == 0
