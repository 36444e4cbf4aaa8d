"""Time of one step: its parts by hand, and where they bend."""

import math
from dataclasses import replace

import numpy as np
import pytest

from gpudesk.domain.estimate import Limiter, ParallelPlan
from gpudesk.domain.model import Model
from gpudesk.engine.rates import LOSSLESS_RATES, compute_coefficients, compute_single_step_model
from gpudesk.engine.step_work import StepWork, compute_expert_skew
from gpudesk.engine.steps import (
    LIMITERS,
    Array,
    CoefficientColumns,
    StepCoefficients,
    StepTime,
    compute_decode_step,
    compute_prefill_step,
    compute_request_prefill,
    find_limiter,
    split_time,
)
from tests.unit.engine import published
from tests.unit.engine.bench import H200, PLAIN, calibration, configure, deploy, plant, rows_of


def at(value: float) -> Array:
    return np.array([value])


def decode(row: StepCoefficients, sequences: float, context: float = 1000.0) -> StepTime:
    return compute_decode_step(rows_of(row), at(sequences), at(context))


def prefill(row: StepCoefficients, prompt: float, waiting: float, cached: float = 0.0) -> tuple[float, float]:
    """Tokens of a chunk and its seconds."""
    chunk, step = compute_prefill_step(rows_of(row), at(prompt), at(waiting), at(cached))
    return chunk.item(), step.total.item()


def test_a_row_is_read_by_the_names_of_its_fields() -> None:
    rows = rows_of(replace(PLAIN, dense_read=2.0), replace(PLAIN, dense_read=3.0))
    assert rows.dense_read.tolist() == [2.0, 3.0]
    assert rows.select(np.array([1])).dense_read.tolist() == [3.0]
    assert len(rows) == 2
    with pytest.raises(AttributeError, match="nothing"):
        _ = rows.nothing


def test_reading_and_arithmetic_join_smoothly() -> None:
    row = replace(PLAIN, dense_read=3.0, dense_flop=0.5)
    step = decode(row, 8.0)
    assert step.total.item() == pytest.approx(5.0)
    assert step.arithmetic.item() == step.total.item()
    assert decode(row, 4.0).read_time.item() == pytest.approx(13.0**0.5)


def test_parts_add_up_to_the_step() -> None:
    row = plant(H200, published.deepseek_v3(), ParallelPlan(tp=8, ep=8)).row
    _, chunk = compute_prefill_step(rows_of(row), at(3000.0), at(2.5))
    for step in (decode(row, 77.0), chunk):
        parts = step.read_time + step.arithmetic + step.collectives + step.overhead
        assert parts.item() == pytest.approx(step.total.item(), rel=1e-12)


def test_a_batch_touches_experts_by_chance() -> None:
    miss = 1 - 8 / 256
    row = replace(PLAIN, expert_read=1.0, expert_log_miss=math.log(miss), expert_evenness=1e7)
    assert decode(row, 1.0).total.item() == pytest.approx(8 / 256)
    assert decode(row, 2.0).total.item() == pytest.approx(1 - miss**2)
    assert decode(row, 4096.0).total.item() == pytest.approx(1.0)
    # Two replicas that share the experts touch more of them.
    shared = replace(row, expert_spread=2.0)
    assert decode(shared, 1.0).total.item() == pytest.approx(1 - miss**2)


def test_a_batch_touches_fewer_experts_the_more_some_are_favored() -> None:
    even = replace(PLAIN, expert_read=1.0, expert_log_miss=math.log(1 - 8 / 256), expert_evenness=1e7)
    # The mean over experts whose chance is spread by a gamma distribution, drawn instead of integrated.
    favor = np.random.default_rng(7).gamma(2.0, 1.0 / 2.0, 400_000)
    for tokens in (1.0, 2.0, 16.0, 300.0):
        share = 1 - (1 - 8 / 256) * np.mean(np.exp((tokens - 1) * favor * math.log(1 - 8 / 256)))
        touched = decode(replace(even, expert_evenness=2.0), tokens).total.item()
        assert touched == pytest.approx(share, rel=5e-3)
        assert touched * (1 + 1e-12) >= 8 / 256
        assert touched <= decode(even, tokens).total.item() * (1 + 1e-12)


def test_collectives_go_the_quicker_way() -> None:
    row = replace(PLAIN, comm_fixed=1.0, comm_token=7.0, ring_fixed=10.0, ring_token=1.0)
    assert [decode(row, tokens).collectives.item() for tokens in (1.0, 1.5, 2.0, 90.0)] == [8.0, 11.5, 12.0, 100.0]
    _, chunk = compute_prefill_step(rows_of(row), at(512.0), at(1.0))
    assert chunk.collectives.item() == 522.0


def test_cache_is_read_up_to_its_windows() -> None:
    row = replace(PLAIN, kv_token=1.0, kv1_token=10.0, kv1_window=128.0, kv2_token=100.0, kv2_window=1024.0, state=5.0)
    for context, expected in ((100, 11_100), (128, 14_208), (1000, 102_280), (5000, 108_680)):
        assert decode(row, 3.0, context).read_time.item() == 3 * (expected + 5)


def test_a_step_of_few_sequences_waits_for_one_attention_rank() -> None:
    row = replace(PLAIN, attention_ranks=8.0, kv_token=1.0 / 8, dense_flop=1.0 / 8, head_flop=1.0)
    one, eight, nine = (decode(row, n, 1.0).total.item() for n in (1.0, 8.0, 9.0))
    assert one == eight == pytest.approx(3.0)
    assert nine == pytest.approx(3.0 * 9 / 8)


def test_speculation_computes_every_verified_token_and_reads_the_cache_once() -> None:
    row = replace(PLAIN, verified_tokens=4.0, dense_flop=1.0, head_flop=10.0, att_token=100.0)
    assert decode(row, 2.0, 1.0).total.item() == pytest.approx(4 * 2 * 111.0)
    assert decode(replace(PLAIN, verified_tokens=4.0, kv_token=1.0), 2.0, 1.0).total.item() == 2.0


def test_stages_share_the_sequences() -> None:
    row = replace(PLAIN, stages=4.0, kv_token=1.0, bubble=0.1)
    assert decode(row, 8.0, 1.0).total.item() == pytest.approx(2 * 1.3)
    # A micro-batch holds one sequence at least.
    assert decode(row, 2.0, 1.0).total.item() == pytest.approx(1.3)


def test_stages_wait_for_one_another_only_with_several_sequences() -> None:
    row = replace(PLAIN, stages=2.0, dense_read=1.0, bubble=1.0)
    assert decode(row, 1.0).total.item() == pytest.approx(1.0)
    assert decode(row, 2.0).total.item() == pytest.approx(2.0)
    prompts = [compute_request_prefill(rows_of(row), at(8192.0), at(waiting))[0].item() for waiting in (1.0, 2.0, 9.0)]
    assert prompts == [pytest.approx(0.5), pytest.approx(1.0), pytest.approx(1.0)]


def test_a_chunk_takes_whole_prompts_or_part_of_one() -> None:
    row = replace(PLAIN, dense_read=1.0)
    assert prefill(row, 100.0, 3.0) == (300.0, 1.0)
    assert prefill(row, 100.0, 300.0) == (8192.0, 1.0)
    assert prefill(row, 20_000.0, 1.0) == (8192.0, 1.0)
    each, _ = compute_request_prefill(rows_of(row), at(20_000.0), at(1.0))
    assert each.item() == pytest.approx(20_000 / 8192)


def test_prefill_attends_to_half_of_the_prompt_and_to_all_that_is_cached() -> None:
    row = replace(PLAIN, patt_token=1.0)
    assert prefill(row, 1000.0, 1.0)[1] == 1000.0 * 500.0
    assert prefill(row, 1000.0, 1.0, cached=9000.0)[1] == 1000.0 * 9500.0
    windowed = replace(PLAIN, patt1_token=1.0, patt1_window=128.0)
    assert prefill(windowed, 1000.0, 1.0, cached=9000.0)[1] == 1000.0 * 128.0


def test_a_lone_prompt_runs_on_one_attention_rank() -> None:
    # Each rank computes 1/8 of what all tokens need when the prompts spread evenly.
    row = replace(PLAIN, attention_ranks=8.0, dense_flop=1.0 / 8, chunk_tokens=8 * 8192.0)
    assert prefill(row, 1000.0, 1.0) == (1000.0, 1000.0)
    assert prefill(row, 1000.0, 2.0) == (2000.0, 1000.0)
    assert prefill(row, 1000.0, 8.0) == (8000.0, 1000.0)
    assert prefill(row, 1000.0, 16.0) == (16_000.0, 2000.0)
    # One rank takes no more tokens in a step than it may.
    assert prefill(row, 100_000.0, 1.0)[0] == 8192.0
    assert prefill(row, 100_000.0, 100.0)[0] == 8 * 8192.0


def test_a_prompt_in_the_cache_still_computes_its_last_token() -> None:
    row = replace(PLAIN, dense_read=1.0, dense_flop=1e-3, request=0.25)
    each, step = compute_request_prefill(rows_of(row), at(0.0), at(1.0), at(500.0))
    assert step.total.item() == pytest.approx(1.0)
    assert each.item() == pytest.approx(1.25)


def test_stages_work_on_different_chunks() -> None:
    row = replace(PLAIN, dense_read=1.0, stages=4.0, request=0.5)
    each, step = compute_request_prefill(rows_of(row), at(8192.0), at(1.0))
    assert step.total.item() == 1.0
    assert each.item() == 0.25 + 0.5


@pytest.mark.parametrize(
    ("name", "limiter"),
    [
        ("dense_read", Limiter.MEMORY_BANDWIDTH),
        ("kv_token", Limiter.MEMORY_BANDWIDTH),
        ("state", Limiter.MEMORY_BANDWIDTH),
        ("activation_token", Limiter.MEMORY_BANDWIDTH),
        ("dense_flop", Limiter.COMPUTE),
        ("head_flop", Limiter.COMPUTE),
        ("comm_fixed", Limiter.INTERCONNECT),
        ("comm_token", Limiter.INTERCONNECT),
        ("overhead_fixed", Limiter.OVERHEAD),
        ("host_sequence", Limiter.OVERHEAD),
    ],
)
def test_the_largest_part_is_the_limiter(name: str, limiter: Limiter) -> None:
    row = replace(
        PLAIN,
        dense_read=1.0,
        dense_flop=0.5,
        comm_fixed=0.8,
        ring_fixed=100.0,
        overhead_fixed=0.9,
        kv_token=1e-3,
        att_token=1e-6,
    )
    row = replace(row, **{name: 50.0})
    index = find_limiter(split_time(at(0.0), (at(1.0), decode(row, 1.0))))
    assert LIMITERS[index[0]] is limiter


def test_time_next_to_the_steps_is_overhead() -> None:
    step = decode(replace(PLAIN, dense_read=1.0), 1.0)
    assert LIMITERS[find_limiter(split_time(at(2.0), (at(3.0), step)))[0]] is Limiter.MEMORY_BANDWIDTH
    assert LIMITERS[find_limiter(split_time(at(4.0), (at(3.0), step)))[0]] is Limiter.OVERHEAD


def test_steps_of_many_cases_are_those_of_each() -> None:
    row = plant(H200, published.gpt_oss_120b(), ParallelPlan(tp=8, ep=8, attention_dp=True)).row
    batches = np.array([1.0, 3.0, 64.0, 1000.0])
    together = compute_decode_step(CoefficientColumns(CoefficientColumns.table([row] * 4)), batches, np.full(4, 500.0))
    alone = [decode(row, batch, 500.0).total.item() for batch in batches]
    assert together.total.tolist() == pytest.approx(alone, rel=1e-12)
    assert alone == sorted(alone)


def test_overlapped_host_time_is_hidden_by_the_accelerator() -> None:
    row = replace(PLAIN, dense_read=1.0, host_fixed=0.4, host_sequence=0.1)
    assert decode(row, 4.0).total.item() == pytest.approx(1.8)
    assert decode(replace(row, host_overlap=1.0), 4.0).total.item() == pytest.approx(1.0)
    assert decode(replace(row, host_overlap=0.5), 4.0).total.item() == pytest.approx(1.4)
    # No more than the accelerator has to do.
    assert decode(replace(row, host_overlap=1.0), 40.0).total.item() == pytest.approx(4.4)


def test_every_attention_rank_schedules_its_own_sequences() -> None:
    row = replace(PLAIN, dense_read=1.0, host_sequence=0.1, attention_ranks=4.0)
    assert decode(row, 8.0).overhead.item() == pytest.approx(0.2)


def test_a_prefill_chunk_takes_as_long_as_the_host_needs_to_launch_it() -> None:
    row = replace(PLAIN, dense_flop=1e-6, overhead_fixed=1e-4, prefill_fixed=2e-3)
    assert prefill(row, 100.0, 1.0)[1] == pytest.approx(2e-3)
    # Longer chunks hide the launches, and decode steps are captured.
    assert prefill(row, 4000.0, 1.0)[1] == pytest.approx(4.1e-3)
    assert decode(row, 1.0).total.item() == pytest.approx(1e-6 + 1e-4)


def test_prompts_pass_over_the_recurrent_states_once_per_64_tokens() -> None:
    row = replace(PLAIN, dense_flop=1e-6, pstate_token=3e-6)
    assert prefill(row, 1000.0, 1.0)[1] == pytest.approx(1000.0 * (1e-6 + 3e-6))
    # A token of a decode step reads and writes its state, which is counted apart.
    assert decode(row, 1.0).total.item() == pytest.approx(1e-6)
    work = make_work(ParallelPlan(), published.qwen3_next_80b())
    rates = replace(LOSSLESS_RATES, state_traffic=2.0, prefill_state_s=1e-3)
    coefficients = compute_coefficients(work, rates)
    assert coefficients.pstate_token == pytest.approx(2.0 * work.state_bytes / 64 / work.bandwidth)
    assert coefficients.prefill_fixed == pytest.approx(36 * 1e-3)


def test_short_prompts_lose_the_attention_to_some_more_tokens() -> None:
    row = replace(PLAIN, patt_token=1e-9, patt_offset=300.0)
    assert prefill(row, 1000.0, 1.0)[1] == pytest.approx(1000.0 * (500.0 + 300.0) * 1e-9)
    window = replace(PLAIN, patt1_token=1e-9, patt1_window=128.0, patt_offset=300.0)
    assert prefill(window, 1000.0, 1.0)[1] == pytest.approx(1000.0 * (128.0 + 300.0) * 1e-9)


def test_the_busiest_expert_parallel_rank_decides() -> None:
    model = published.deepseek_v3()
    divided, shared = (make_work(ParallelPlan(tp=8, ep=ranks), model) for ranks in (1, 8))
    assert divided.expert_skew == 0.0
    # The largest of eight normal variates is 1.42 standard deviations above their mean.
    assert shared.expert_skew == pytest.approx(1.42 * (7.0 / 256.0) ** 0.5, rel=0.02)
    rates = replace(LOSSLESS_RATES, expert_skew=2.0)
    even, skewed = (compute_coefficients(shared, each).expert_flop for each in (LOSSLESS_RATES, rates))
    assert skewed / even == pytest.approx(1.0 + 2.0 * shared.expert_skew)


def test_the_busiest_expert_parallel_rank_touches_more_of_its_experts() -> None:
    # Of 8 choices among 256 experts on 8 ranks, drawn at random, the most loaded rank has 2.6 on average.
    row = replace(PLAIN, expert_read=1.0, expert_log_miss=math.log(1 - 8 / 256), expert_evenness=1e7)
    ranks = replace(row, expert_skew=float(compute_expert_skew(8.0, 256.0)))
    expert_ranks = np.random.default_rng(7).permuted(np.tile(np.arange(256) // 32, (2000, 1)), axis=1)[:, :8]
    busiest = np.mean([np.bincount(each, minlength=8).max() for each in expert_ranks])
    assert decode(ranks, 1.0).total.item() * 32 == pytest.approx(busiest, rel=0.2)
    assert decode(ranks, 4096.0).total.item() == pytest.approx(1.0)


def test_calls_of_touched_experts_come_on_top_of_their_products() -> None:
    row = replace(PLAIN, expert_read=1.0, expert_log_miss=math.log(0.5), expert_evenness=1e7)
    called = replace(row, expert_call_fixed=4.0)
    assert decode(called, 1.0).total.item() == pytest.approx(0.5 * (1.0 + 4.0))
    assert prefill(called, 1.0, 1.0)[1] == pytest.approx(0.5 * (1.0 + 4.0))


def test_expert_parallel_ranks_that_pass_all_rows_save_no_traffic() -> None:
    model = published.deepseek_v3()
    divided, shared = (make_work(ParallelPlan(tp=8, ep=ranks), model) for ranks in (1, 8))
    all_rows = replace(LOSSLESS_RATES, routing_traffic=3.0, routing_divided=0.0)
    own_rows = replace(all_rows, routing_divided=1.0)
    tokens = [compute_coefficients(work, all_rows).activation_token for work in (divided, shared)]
    assert tokens[0] == pytest.approx(tokens[1])
    assert compute_coefficients(shared, own_rows).activation_token == pytest.approx(tokens[1] / 8)
    # Tokens that are dispatched reach the ranks of their experts alone.
    wide = make_work(ParallelPlan(tp=1, ep=8, dp=8), model)
    assert wide.gathered_ranks == 1.0


def make_work(plan: ParallelPlan, model: Model) -> StepWork:
    steps = compute_single_step_model(deploy(configure(H200, model), plan), calibration())
    return steps.work
