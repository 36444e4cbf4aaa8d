"""The closed forms of the loads against a replica that is simulated step by step."""

from dataclasses import replace

import numpy as np
import pytest

from gpudesk.domain.estimate import LoadKind
from gpudesk.engine.steps import StepCoefficients
from tests.unit.engine.bench import Case, serve_one
from tests.unit.engine.simulation import ROW, Simulated, arriving, looping

#: The other way to schedule: prompts first.
FIRST = replace(ROW, mixes=0.0)


def exponential(mean: float, count: int, seed: int = 1) -> list[int]:
    lengths = np.minimum(np.random.default_rng(seed).exponential(mean, count), 4.0 * mean)
    return [max(1, round(float(each))) for each in lengths * (mean / lengths.mean())]


def several(row: StepCoefficients, prompt: int, output: int, total: int, clients: int, capacity: int) -> Simulated:
    runs = [looping(row, prompt, exponential(output, total, seed), clients, capacity) for seed in range(1, 6)]
    return Simulated(
        rate=5.0 / sum(1.0 / one.rate for one in runs),
        ttft=sum(one.ttft for one in runs) / 5.0,
        tpot=sum(one.tpot for one in runs) / 5.0,
    )


@pytest.mark.parametrize(("prompt", "output"), [(500, 50), (2000, 50)])
@pytest.mark.parametrize("busy", [0.1, 0.3, 0.5, 0.7])
def test_random_arrivals_wait_as_long_as_in_a_simulation(prompt: int, output: int, busy: float) -> None:
    rate = busy / (ROW.dense_flop * prompt)
    times = np.cumsum(np.random.default_rng(3).exponential(1.0 / rate, 1500))
    simulated = arriving(ROW, prompt, [output] * 1500, times)
    figures = serve_one(Case(ROW, prompt, output, 1000, LoadKind.REQUEST_RATE, rate))
    assert figures.ttft == pytest.approx(simulated.ttft, rel=0.2)
    assert figures.tpot == pytest.approx(simulated.tpot, rel=0.2)


@pytest.mark.parametrize("prompt", [4000, 8000, 20000])
def test_prompts_that_fill_a_chunk_wait_their_turn_as_in_a_simulation(prompt: int) -> None:
    """Only prompts of the same chunk finish together; with others, a request waits for those before it."""
    rate = 0.8 / (ROW.dense_flop * prompt)
    times = np.cumsum(np.random.default_rng(3).exponential(1.0 / rate, 1500))
    simulated = arriving(ROW, prompt, [100] * 1500, times)
    figures = serve_one(Case(ROW, prompt, 100, 1000, LoadKind.REQUEST_RATE, rate))
    assert figures.ttft == pytest.approx(simulated.ttft, rel=0.1)


@pytest.mark.parametrize("clients", [4, 16, 64])
@pytest.mark.parametrize(("row", "near"), [(FIRST, 0.03), (ROW, 0.12)])
def test_equal_requests_of_a_closed_loop_keep_in_step_as_in_a_simulation(
    row: StepCoefficients, near: float, clients: int
) -> None:
    total = 6 * clients
    simulated = looping(row, 1000, [100] * total, clients, 200)
    case = Case(row, 1000, 100, 200, LoadKind.CONCURRENCY, clients, total, varied=False)
    figures = serve_one(case)
    assert figures.ttft == pytest.approx(simulated.ttft, rel=near)
    assert figures.tpot == pytest.approx(simulated.tpot, rel=0.1)
    assert figures.rate == pytest.approx(simulated.rate, rel=0.08)


@pytest.mark.parametrize("clients", [100, 200])
def test_clients_beyond_the_capacity_queue_as_in_a_simulation(clients: int) -> None:
    simulated = looping(ROW, 500, [200] * 600, clients, 60)
    case = Case(ROW, 500, 200, 60, LoadKind.CONCURRENCY, clients, 600, varied=False)
    figures = serve_one(case)
    assert figures.ttft == pytest.approx(simulated.ttft, rel=0.15)
    assert figures.tpot == pytest.approx(simulated.tpot, rel=0.1)
    assert figures.rate == pytest.approx(simulated.rate, rel=0.08)


@pytest.mark.parametrize("row", [FIRST, ROW], ids=["prompts first", "mixed"])
@pytest.mark.parametrize(("prompt", "output"), [(100, 100), (1000, 100), (4000, 200), (1000, 20)])
@pytest.mark.parametrize(("capacity", "total"), [(50, 400), (50, 100), (50, 120), (400, 400)])
def test_a_queue_of_equal_requests_is_served_as_in_a_simulation(
    row: StepCoefficients, prompt: int, output: int, capacity: int, total: int
) -> None:
    simulated = looping(row, prompt, [output] * total, total, capacity)
    figures = serve_one(Case(row, prompt, output, capacity, LoadKind.SATURATE, total=total, varied=False))
    assert figures.ttft == pytest.approx(simulated.ttft, rel=0.07)
    assert figures.tpot == pytest.approx(simulated.tpot, rel=0.12)
    assert figures.rate == pytest.approx(simulated.rate, rel=0.09)


@pytest.mark.parametrize("row", [FIRST, ROW], ids=["prompts first", "mixed"])
@pytest.mark.parametrize(("prompt", "output"), [(100, 200), (1000, 200), (4000, 50)])
@pytest.mark.parametrize(("capacity", "total"), [(400, 50), (400, 400), (50, 400), (50, 100)])
def test_a_queue_of_varied_requests_is_served_as_in_a_simulation(
    row: StepCoefficients, prompt: int, output: int, capacity: int, total: int
) -> None:
    simulated = several(row, prompt, output, total, total, capacity)
    figures = serve_one(Case(row, prompt, output, capacity, LoadKind.SATURATE, total=total))
    assert figures.ttft == pytest.approx(simulated.ttft, rel=0.15)
    # Which outputs are the shortest, and how short they are, is left to chance.
    assert figures.tpot == pytest.approx(simulated.tpot, rel=0.3)
    assert figures.rate == pytest.approx(simulated.rate, rel=0.15)


@pytest.mark.parametrize("row", [FIRST, ROW], ids=["prompts first", "mixed"])
@pytest.mark.parametrize(("prompt", "output"), [(1000, 200), (4000, 50), (16000, 50)])
@pytest.mark.parametrize(("clients", "waves"), [(4, 10), (64, 1), (64, 4)])
def test_a_closed_loop_of_varied_requests_ends_as_in_a_simulation(
    row: StepCoefficients, prompt: int, output: int, clients: int, waves: int
) -> None:
    total = waves * clients
    simulated = several(row, prompt, output, total, clients, clients)
    figures = serve_one(Case(row, prompt, output, clients, LoadKind.CONCURRENCY, clients, total))
    # Between real clients and the replica the next prompt comes in the middle of a step, not with its end.
    assert 0.85 * simulated.ttft < figures.ttft < 1.4 * simulated.ttft
    assert figures.tpot == pytest.approx(simulated.tpot, rel=0.25)
    assert figures.rate == pytest.approx(simulated.rate, rel=0.15)


@pytest.mark.parametrize("row", [FIRST, ROW], ids=["prompts first", "mixed"])
@pytest.mark.parametrize("launch", [0.05, 0.1])
@pytest.mark.parametrize(("output", "clients", "waves"), [(200, 64, 10), (200, 64, 4), (500, 100, 5), (200, 16, 20)])
def test_prompts_that_come_one_by_one_cost_a_launch_each_as_in_a_simulation(
    row: StepCoefficients, launch: float, output: int, clients: int, waves: int
) -> None:
    row, total = replace(row, prefill_fixed=launch), waves * clients
    simulated = several(row, 300, output, total, clients, clients)
    figures = serve_one(Case(row, 300, output, clients, LoadKind.CONCURRENCY, clients, total))
    assert figures.rate == pytest.approx(simulated.rate, rel=0.12)
    assert figures.tpot == pytest.approx(simulated.tpot, rel=0.2)
    assert 0.85 * simulated.ttft < figures.ttft < 1.4 * simulated.ttft


@pytest.mark.parametrize(("prompt", "output", "capacity"), [(217, 200, 60), (1000, 200, 40), (100, 400, 64)])
def test_requests_that_give_way_in_a_full_cache_keep_the_pace_of_a_simulation(
    prompt: int, output: int, capacity: int
) -> None:
    row, total = replace(ROW, on_demand=1.0, step_batch_cap=1024.0), 10 * capacity
    pool = capacity * (prompt + output)
    lengths = [exponential(output, total, seed) for seed in range(1, 4)]
    runs = [looping(row, prompt, each, total, 1024, pool) for each in lengths]
    figures = serve_one(Case(row, prompt, output, capacity, LoadKind.SATURATE, total=total))
    assert figures.tpot == pytest.approx(np.mean([one.tpot for one in runs]), rel=0.3)
    assert figures.rate == pytest.approx(np.mean([one.rate for one in runs]), rel=0.12)
    # Where the full length is set aside the pace is better, and more are served.
    whole = serve_one(Case(replace(row, on_demand=0.0), prompt, output, capacity, LoadKind.SATURATE, total=total))
    assert whole.tpot < figures.tpot
    assert whole.rate > figures.rate
