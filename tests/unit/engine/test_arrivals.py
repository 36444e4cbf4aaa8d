"""Open loops and latency limits: random arrivals, overload, and the best batch within limits."""

import math
from dataclasses import replace

import pytest

from gpudesk.domain.estimate import LoadKind, ParallelPlan
from tests.unit.engine import published
from tests.unit.engine.bench import H200, SERVING, Case, Figures, plant, serve_one

LLAMA = plant(H200, published.llama_3_1_70b(), ParallelPlan(tp=8))


def make_case(prompt: float, output: float) -> Case:
    """Requests to Llama 3.1 70B on eight H200."""
    return Case(LLAMA.row, prompt, output, LLAMA.capacity(int(prompt + output)))


def at_rate(case: Case, rate: float) -> Figures:
    """Serve random arrivals at `rate` a second."""
    return serve_one(replace(case, kind=LoadKind.REQUEST_RATE, amount=rate))


def within(case: Case, ttft: float = math.inf, tpot: float = math.inf, *, p99: bool = False) -> Figures:
    """Serve as much as the limits in seconds allow."""
    return serve_one(replace(case, kind=LoadKind.LIMITS, ttft=ttft, tpot=tpot, p99=p99))


LENGTHS = [(128, 128), (1000, 1000), (8000, 50), (100, 4000)]


@pytest.mark.parametrize(("prompt", "output"), LENGTHS)
def test_the_ceiling_of_an_open_loop_is_that_of_a_closed_one(prompt: float, output: float) -> None:
    case = make_case(prompt, output)
    # With many clients it does not count how long answers are under way.
    full = serve_one(replace(case, amount=1e9)).rate
    assert at_rate(case, 0.999 * full).stable
    over = at_rate(case, 1.001 * full)
    assert not over.stable
    assert over.rate == pytest.approx(full)
    assert math.isnan(over.ttft)
    assert math.isnan(over.tpot)
    assert over.running == case.capacity


@pytest.mark.parametrize(("prompt", "output"), LENGTHS)
def test_a_stable_open_loop_serves_what_arrives(prompt: float, output: float) -> None:
    case = make_case(prompt, output)
    full = serve_one(replace(case, amount=case.capacity)).rate
    paces = []
    for share in (0.1, 0.3, 0.5, 0.7, 0.9):
        figures = at_rate(case, share * full)
        assert figures.stable
        assert figures.rate == share * full
        assert figures.running <= case.capacity
        paces.append((figures.running, figures.tpot))
    assert paces == sorted(paces)


def test_hardly_any_arrivals_find_the_replica_idle() -> None:
    case = make_case(1000, 200)
    alone = serve_one(replace(case, amount=1.0))
    rare = at_rate(case, 1e-6)
    assert rare.running == 1.0
    assert rare.tpot == pytest.approx(alone.tpot, rel=1e-3)
    assert alone.ttft <= rare.ttft <= alone.ttft + alone.tpot


def test_as_many_run_as_arrive_in_a_round() -> None:
    # Little: what is decoding is the rate times the time that decoding takes, prefill work between included.
    case = make_case(2000, 500)
    figures = at_rate(case, 5.0)
    assert figures.running > 2
    assert 5.0 * 499 * figures.tpot == pytest.approx(figures.running, rel=1e-3)


def test_replicas_share_the_arrivals() -> None:
    case = make_case(2000, 500)
    four = at_rate(replace(case, replicas=4.0), 20.0)
    one = at_rate(case, 5.0)
    assert four.ttft == one.ttft
    assert four.admitted == pytest.approx(4 * one.admitted)
    assert four.rate == pytest.approx(20.0)


@pytest.mark.parametrize(("prompt", "output"), LENGTHS)
def test_without_limits_the_best_is_a_full_closed_loop(prompt: float, output: float) -> None:
    case = make_case(prompt, output)
    full = serve_one(replace(case, amount=1e9))
    free = within(case)
    assert free.running == case.capacity
    assert free.rate == pytest.approx(full.rate)


@pytest.mark.parametrize(("prompt", "output"), LENGTHS)
@pytest.mark.parametrize(("ttft", "tpot"), [(0.5, 0.02), (2.0, 0.05), (10.0, 0.2), (math.inf, 0.03)])
@pytest.mark.parametrize("p99", [False, True])
def test_the_best_point_meets_its_limits_and_no_larger_batch_does(
    prompt: float, output: float, ttft: float, tpot: float, p99: bool
) -> None:
    case = make_case(prompt, output)
    figures = within(case, ttft, tpot, p99=p99)
    margin = SERVING.p99_margin if p99 else 1.0
    assert math.isnan(figures.rate) == (figures.running == 0)
    if figures.running == 0:
        return
    assert figures.running == int(figures.running)
    assert figures.ttft <= ttft
    assert figures.ttft < math.inf
    assert figures.tpot <= margin * tpot
    assert figures.rate > 0
    if figures.running < case.capacity:
        more = within(replace(case, capacity=figures.running + 1), ttft, tpot, p99=p99)
        assert more.running == figures.running


def test_limits_that_one_request_breaks_leave_nothing() -> None:
    case = make_case(8000, 100)
    for ttft, tpot in ((1e-4, 1.0), (10.0, 1e-4)):
        figures = within(case, ttft, tpot)
        assert figures.running == 0
        assert figures.admitted == 0
        assert math.isnan(figures.rate)
        assert math.isnan(figures.ttft)


def test_a_percentile_costs_throughput() -> None:
    case = make_case(1000, 500)
    mean, p99 = within(case, 1.0, 0.04), within(case, 1.0, 0.04, p99=True)
    assert p99.running < mean.running
    assert p99.rate < mean.rate


def test_attention_ranks_take_prompts_together_as_far_as_the_limit_allows() -> None:
    case = make_case(1000, 500)
    gathering = replace(case, row=replace(case.row, gather_steps=9.0))
    at_once, gathered = within(case, 5.0, 0.04, p99=True), within(gathering, 5.0, 0.04, p99=True)
    assert gathered.rate == at_once.rate
    # Half of nine steps on average, of which each lasts no longer than a token does.
    assert 1.0 * at_once.tpot < gathered.ttft - at_once.ttft <= 4.5 * at_once.tpot
    assert within(gathering, 5.0, 0.04).ttft == within(case, 5.0, 0.04).ttft
    for ttft in (0.1, 0.2, 0.5):
        figures = within(gathering, ttft, 0.04, p99=True)
        assert math.isnan(figures.ttft) or figures.ttft <= ttft


def test_a_tighter_limit_never_raises_throughput() -> None:
    case = make_case(1000, 500)
    by_pace = [within(case, 5.0, tpot).rate for tpot in (0.015, 0.02, 0.03, 0.05, 0.1)]
    assert by_pace == sorted(by_pace)
    by_first = [within(case, ttft, 0.1).rate for ttft in (0.1, 0.2, 0.5, 1.0, 5.0)]
    assert by_first == sorted(by_first)
