"""Loads whose requests are counted: a static batch, all queued at once, a closed loop."""

import math
from dataclasses import replace

import pytest

from gpudesk.domain.estimate import Limiter, LoadKind, ParallelPlan
from gpudesk.engine.steps import LIMITERS
from tests.unit.engine import published
from tests.unit.engine.bench import H200, PLAIN, SERVING, Case, plant, serve_one

#: A token takes a millisecond, and a chunk has up to 4000 of them.
SLOW = replace(PLAIN, dense_flop=1e-3, chunk_tokens=4000.0)
LLAMA = plant(H200, published.llama_3_1_70b(), ParallelPlan(tp=8))


def case(
    prompt: float, output: float, kind: LoadKind, amount: float = 1.0, total: float = math.inf, replicas: float = 1.0
) -> Case:
    """A load on Llama 3.1 70B on eight H200."""
    capacity = LLAMA.capacity(int(prompt + output))
    return Case(LLAMA.row, prompt, output, capacity, kind, amount, total, replicas=replicas)


def test_prompts_that_share_a_chunk_finish_together() -> None:
    # One chunk of 4 x 1000 tokens takes 4 s, and no one has a first token before.
    one_chunk = serve_one(Case(SLOW, 1000, 1, 100, LoadKind.BATCH, 4))
    assert one_chunk.ttft == pytest.approx(4.0)
    assert one_chunk.duration == pytest.approx(4.0)
    # Three such chunks end after 4, 8 and 12 s.
    three = serve_one(Case(SLOW, 1000, 1, 100, LoadKind.BATCH, 12))
    assert three.ttft == pytest.approx(8.0)
    # Prompts longer than a chunk finish one after the other.
    long = serve_one(Case(SLOW, 8000, 1, 100, LoadKind.BATCH, 3))
    assert long.ttft == pytest.approx((8 + 16 + 24) / 3)


def test_a_batch_beyond_the_capacity_goes_in_rounds() -> None:
    # A setting holds the others back.
    first = replace(LLAMA.row, mixes=0.0, step_batch_cap=4.0)
    one = replace(case(1000, 100, LoadKind.BATCH, 32), row=first, varied=False)
    whole = serve_one(one)
    halves = serve_one(replace(one, amount=64, capacity=32))
    assert halves.admitted == 32
    under_way = LLAMA.row.latency
    assert halves.duration == pytest.approx(2 * whole.duration - under_way)
    assert halves.ttft == pytest.approx(whole.ttft + (whole.duration - under_way) / 2)
    assert halves.tpot == pytest.approx(whole.tpot)
    # Five in a capacity of four: the last one goes alone, in steps that are hardly shorter.
    five = serve_one(replace(one, amount=5, capacity=4))
    assert (five.concurrency, five.admitted, five.running) == (5, 4, 4)
    alone = serve_one(replace(one, amount=1))
    assert five.duration < serve_one(replace(one, amount=4)).duration + alone.duration
    assert five.rate < 0.9 * serve_one(replace(one, amount=4)).rate


def test_a_batch_over_replicas_takes_as_long_as_the_fullest() -> None:
    alone = serve_one(case(1000, 100, LoadKind.BATCH, 3))
    spread = serve_one(case(1000, 100, LoadKind.BATCH, 17, replicas=8))
    assert spread.duration == pytest.approx(alone.duration)
    assert spread.rate == pytest.approx(17 / alone.duration)
    # More replicas than requests: some stand idle.
    idle = serve_one(case(1000, 100, LoadKind.BATCH, 2, replicas=8))
    assert idle.duration == pytest.approx(serve_one(case(1000, 100, LoadKind.BATCH, 1)).duration)
    assert idle.admitted == 2


@pytest.mark.parametrize("plan", [ParallelPlan(tp=8), ParallelPlan(tp=2, pp=4), ParallelPlan(pp=8)])
@pytest.mark.parametrize(("prompt", "output"), [(1, 1), (100, 2), (8000, 1), (30_000, 300)])
def test_one_request_is_the_same_under_every_load(plan: ParallelPlan, prompt: float, output: float) -> None:
    row = plant(H200, published.llama_3_1_70b(), plan).row
    batch, closed, queued = (
        serve_one(Case(row, prompt, output, 50, kind, 1, total))
        for kind, total in ((LoadKind.BATCH, math.inf), (LoadKind.CONCURRENCY, math.inf), (LoadKind.SATURATE, 1.0))
    )
    for other in (closed, queued):
        assert other.ttft == pytest.approx(batch.ttft)
        assert other.rate == pytest.approx(batch.rate)
        assert other.tpot == pytest.approx(batch.tpot, nan_ok=True)


def test_a_prompt_passes_all_stages_before_its_first_token() -> None:
    # Four stages of equal layers: as long as one stage would take.
    row = replace(SLOW, stages=4.0)
    assert serve_one(Case(row, 1000, 1, 8, LoadKind.BATCH, 1)).ttft == pytest.approx(1.0)
    # Two chunks: the second is one stage behind the first.
    assert serve_one(Case(row, 8000, 1, 8, LoadKind.BATCH, 1)).ttft == pytest.approx(4.0 + 1.0)
    assert serve_one(Case(row, 8000, 1, 8, LoadKind.CONCURRENCY, 1)).ttft == pytest.approx(4.0 + 1.0)


def test_a_single_output_token_has_no_pace() -> None:
    for kind, total in (
        (LoadKind.BATCH, math.inf),
        (LoadKind.CONCURRENCY, 100.0),
        (LoadKind.SATURATE, 20.0),
        (LoadKind.REQUEST_RATE, math.inf),
        (LoadKind.LIMITS, math.inf),
    ):
        figures = serve_one(case(1000, 1, kind, 10, total=total))
        assert math.isnan(figures.tpot)
        assert figures.ttft > 0
        assert figures.rate > 0


@pytest.mark.parametrize("queued", [1, 7, 32, 33, 60, 500])
def test_no_request_outlives_a_saturated_run(queued: int) -> None:
    figures = serve_one(replace(case(2000, 200, LoadKind.SATURATE, total=queued), capacity=32))
    assert figures.ttft + 199 * figures.tpot <= figures.duration * (1 + 1e-12)
    assert figures.rate == pytest.approx(queued / figures.duration)
    assert figures.admitted == min(queued, 32)


@pytest.mark.parametrize("chunk", [16.0, 128.0, 512.0])
@pytest.mark.parametrize("output", [3.0, 20.0])
def test_tokens_between_small_chunks_have_a_pace(chunk: float, output: float) -> None:
    many = plant(H200, published.deepseek_v3(), ParallelPlan(pp=16)).row
    row = replace(many, chunk_tokens=chunk, mixes=1.0)
    figures = serve_one(Case(row, 1000, output, 2048, LoadKind.SATURATE, total=1e6))
    # Each comes in a step that a chunk of someone's prompt goes through too.
    lone = serve_one(Case(row, 1000, output, 1, LoadKind.CONCURRENCY))
    assert figures.tpot > lone.tpot


def test_a_saturated_run_that_memory_holds_is_a_batch() -> None:
    batch = case(500, 300, LoadKind.BATCH, 40)
    queued = case(500, 300, LoadKind.SATURATE, total=40)
    loop = case(500, 300, LoadKind.CONCURRENCY, 40, total=40)
    for varied in (False, True):
        alike, other, third = (serve_one(replace(one, varied=varied)) for one in (batch, queued, loop))
        for figure in ("rate", "ttft", "tpot", "duration"):
            assert getattr(other, figure) == pytest.approx(getattr(alike, figure))
            assert getattr(third, figure) == pytest.approx(getattr(alike, figure))
    # Where lengths vary the longest outlasts the others, in steps that are not much shorter.
    even, spread = (serve_one(replace(queued, varied=varied)) for varied in (False, True))
    assert 1.2 * even.duration < spread.duration < SERVING.longest * even.duration
    assert spread.ttft == even.ttft


def test_latency_of_a_closed_loop_agrees_with_its_throughput() -> None:
    # Little: concurrency = rate x residence, also where a part of the clients queues.
    for clients, capacity in ((1, 64), (16, 64), (64, 64), (200, 64)):
        figures = serve_one(replace(case(3000, 400, LoadKind.CONCURRENCY, clients), capacity=capacity))
        assert figures.admitted == min(clients, capacity)
        assert figures.rate * (figures.ttft + 399 * figures.tpot) == pytest.approx(clients)


def test_a_long_closed_loop_is_its_steady_state() -> None:
    steady = serve_one(case(1000, 200, LoadKind.CONCURRENCY, 100))
    long = serve_one(case(1000, 200, LoadKind.CONCURRENCY, 100, total=1e8))
    assert long.rate == pytest.approx(steady.rate, rel=1e-5)
    assert long.ttft == pytest.approx(steady.ttft, rel=1e-5)
    assert math.isnan(steady.duration)
    assert long.duration == pytest.approx(1e8 / long.rate)


def test_more_clients_than_requests_are_as_many_as_requests() -> None:
    few = serve_one(case(1000, 200, LoadKind.CONCURRENCY, 100, total=8))
    assert few == serve_one(case(1000, 200, LoadKind.CONCURRENCY, 8, total=8))
    assert (few.concurrency, few.admitted) == (8, 8)
    # Also over more replicas than there are requests.
    spread = serve_one(case(1000, 200, LoadKind.CONCURRENCY, 100, total=4, replicas=8))
    one = serve_one(case(1000, 200, LoadKind.CONCURRENCY, 1, total=1))
    assert spread.admitted == 4
    assert spread.ttft == pytest.approx(one.ttft)
    assert spread.rate == pytest.approx(4 * one.rate)


@pytest.mark.parametrize("varied", [False, True])
def test_two_whole_waves_pay_for_no_third(varied: bool) -> None:
    # Equal requests: twice the time of one wave. Of varied ones the last outlast the others in both.
    one = replace(case(100, 2000, LoadKind.CONCURRENCY, 64, total=64), varied=varied)
    two = serve_one(replace(one, total=128)).duration / serve_one(one).duration
    more = serve_one(replace(one, total=129)).duration / serve_one(one).duration
    assert two < 2.001
    assert (more > 2.3) == (not varied)


def test_outputs_that_lie_close_together_outlast_each_other_little() -> None:
    ask = case(100, 2000, LoadKind.CONCURRENCY, 64, total=64)
    even, near, spread = (
        serve_one(each).duration
        for each in (replace(ask, varied=False), replace(ask, spread=0.05), replace(ask, spread=1.0))
    )
    assert 1.05 * even < near < 1.2 * even
    assert spread > 2.0 * near


def test_one_client_has_nobody_to_outlast() -> None:
    one = serve_one(case(1000, 200, LoadKind.CONCURRENCY, 1, total=1)).duration
    assert serve_one(case(1000, 200, LoadKind.CONCURRENCY, 1, total=100)).duration == pytest.approx(100 * one)


def test_equal_requests_keep_in_step_where_prompts_come_first() -> None:
    # 64 prompts of 4000 tokens, two to a chunk.
    mixing = replace(case(4000, 200, LoadKind.CONCURRENCY, 64), varied=False)
    mixing = replace(mixing, row=replace(mixing.row, burst_equal=0.0, burst_varied=0.0))
    first = replace(mixing, row=replace(mixing.row, mixes=0.0))
    batch = serve_one(replace(first, kind=LoadKind.BATCH))
    cohort = serve_one(first)
    assert cohort.ttft == pytest.approx(batch.ttft)
    assert cohort.tpot == pytest.approx(batch.tpot)
    # Elsewhere only those stay together that shared a chunk, whether lengths are equal or not.
    for varied in (False, True):
        assert serve_one(replace(mixing, varied=varied)).ttft < 0.25 * cohort.ttft


def test_equal_prompts_that_share_a_chunk_share_the_next_one() -> None:
    # A prompt takes a second, and four of them a chunk; nothing is decoded.
    row = replace(SLOW, latency=0.5)
    figures = serve_one(Case(row, 1000, 1, 100, LoadKind.CONCURRENCY, 40, varied=False))
    assert figures.ttft > 4.5
    alone = serve_one(Case(row, 1000, 1, 100, LoadKind.CONCURRENCY, 1, varied=False))
    assert alone.ttft == pytest.approx(1.5)
    assert alone.rate == pytest.approx(1 / 1.5)


def test_mixed_steps_share_time_between_prompt_and_tokens() -> None:
    # A step takes a second with any content: mixed into one of 999, a prompt costs nothing.
    row = replace(PLAIN, overhead_fixed=1.0, burst_varied=0.0)
    mixing = Case(row, 8192, 1000, 64, LoadKind.CONCURRENCY, 64)
    apart = replace(mixing, row=replace(row, mixes=0.0))
    assert 64 / serve_one(apart).rate == pytest.approx(999 + 64)
    assert 64 / serve_one(mixing).rate == pytest.approx(999 + 1, rel=4e-3)
    # No one goes with the only one.
    alone = replace(mixing, amount=1)
    assert 1 / serve_one(alone).rate == pytest.approx(999 + 1)


def test_on_demand_cache_admits_more_requests() -> None:
    open_case = replace(case(1000, 3000, LoadKind.CONCURRENCY, 80), capacity=60, varied=False)
    open_case = replace(open_case, row=replace(open_case.row, on_demand=0.0))
    whole = serve_one(open_case)
    grown = serve_one(replace(open_case, row=replace(open_case.row, on_demand=1.0, step_batch_cap=256.0)))
    assert (whole.running, grown.running) == (60, 80)
    assert grown.ttft < 0.5 * whole.ttft
    assert grown.tpot > whole.tpot
    assert grown.rate > whole.rate
    # The serving engine's own limit holds for them too.
    few = serve_one(replace(open_case, row=replace(open_case.row, on_demand=1.0, step_batch_cap=60.0)))
    assert (few.ttft, few.tpot, few.rate) == (whole.ttft, whole.tpot, whole.rate)


@pytest.mark.parametrize(
    "cache", [{"state": 1e-3}, {"kv1_token": 1e-6, "kv1_window": 512.0}, {}], ids=["state", "window", "none"]
)
def test_caches_that_do_not_grow_let_no_more_begin(cache: dict[str, float]) -> None:
    row = replace(PLAIN, overhead_fixed=0.02, on_demand=1.0, step_batch_cap=256.0, **cache)
    full = serve_one(Case(row, 1000, 3000, 60, LoadKind.CONCURRENCY, 80, varied=False))
    assert full.running == 60


def test_prompt_of_a_single_sequence_stalls_no_other() -> None:
    # One at a time: the next prompt comes when the last token is out.
    figures = serve_one(Case(SLOW, 1000, 11, 1, LoadKind.SATURATE, total=50))
    assert figures.tpot == pytest.approx(1e-3)


def test_server_time_can_bind() -> None:
    row = replace(PLAIN, dense_read=1e-3, request=1.0)
    figures = serve_one(Case(row, 10, 10, 64, LoadKind.CONCURRENCY, 32))
    assert LIMITERS[figures.limiter] is Limiter.OVERHEAD


def test_no_prompt_is_computed_twice_for_a_started_round() -> None:
    # Prefill alone: 96 prompts take as long as 96 prompts, however many run at once.
    figures = serve_one(Case(replace(PLAIN, dense_flop=1e-3), 1000, 1, 64, LoadKind.CONCURRENCY, 64, total=96))
    assert figures.duration == pytest.approx(96.0)


def test_where_nothing_is_decoded_nobody_waits_for_decode_steps() -> None:
    one, two = (serve_one(case(10, 1, LoadKind.CONCURRENCY, clients)) for clients in (1, 2))
    assert two.rate >= one.rate


def test_of_a_number_that_memory_sets_any_part_may_be_left_for_the_last_wave() -> None:
    alone = replace(case(100, 2000, LoadKind.SATURATE, total=128), capacity=64, varied=False)
    last_wave = replace(alone, row=replace(alone.row, on_demand=0.0, step_batch_cap=64.0))
    measured = replace(alone, row=replace(alone.row, on_demand=0.0, step_batch_cap=256.0))
    # A setting holds back all but 64: there are two waves and no third.
    assert serve_one(measured).duration > 1.2 * serve_one(last_wave).duration
    # A few more or less make no step.
    steps = [serve_one(replace(measured, total=total)).duration for total in (191, 192, 193)]
    assert steps[2] - steps[1] == pytest.approx(steps[1] - steps[0], rel=0.2)
