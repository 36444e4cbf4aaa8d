"""Prefill and decode on pools of their own: what holds for all of them, and cases computed by hand."""

import math
from dataclasses import dataclass, fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.domain.estimate import LoadKind, ParallelPlan
from gpudesk.engine.disaggregation import (
    DECODE_STATION,
    LINK_STATION,
    PREFILL_STATION,
    DisaggregatedResults,
    PoolPair,
    compute_pool_bounds,
    serve_pools,
    split_pool_rounds,
)
from gpudesk.engine.serving import LOAD_CODES, DeploymentLoads
from gpudesk.engine.steps import (
    LIMITERS,
    ReplicaRequests,
    StepCoefficients,
    compute_decode_step,
    compute_request_prefill,
)
from tests.unit.engine import published
from tests.unit.engine.bench import H200, SERVING, Case, plant, requests_of, rows_of, serve_one
from tests.unit.engine.strategies import cases, plants

SLACK = 1 + 1e-9
#: Each example searches the rate by halving an interval many times.
PLANT = plant(H200, published.llama_3_1_70b(), ParallelPlan(tp=8))
STEADY = Case(PLANT.row, 2000.0, 500.0, 200.0, LoadKind.CONCURRENCY, 64.0)


@dataclass(frozen=True, slots=True)
class Split:
    """A load on the decode pool's replicas of `case`, with the prefill pool and the link before it."""

    case: Case
    prefill: StepCoefficients
    prefill_replicas: float = 1.0
    prompts: float = 100.0
    transfer: float = 0.01
    spacing: float = 0.002
    handover: float = 0.05


@dataclass(frozen=True, slots=True)
class Found:
    """The results of one split as plain numbers."""

    concurrency: float
    admitted: float
    running: float
    waiting: float
    rate: float
    ttft: float
    tpot: float
    duration: float
    stable: bool
    limiter: int
    prefill_busy: float
    link_busy: float
    decode_busy: float
    binding: int


def arrays(split: Split) -> tuple[PoolPair, ReplicaRequests, DeploymentLoads]:
    case = split.case

    def one(value: float) -> np.ndarray:
        return np.array([value])

    pools = PoolPair(
        prefill=rows_of(split.prefill),
        decode=rows_of(case.row),
        prefill_replicas=one(split.prefill_replicas),
        decode_replicas=one(case.replicas),
        prompts=one(split.prompts),
        transfer=one(split.transfer),
        spacing=one(split.spacing),
        handover=one(split.handover),
    )
    loads = DeploymentLoads(
        kind=np.array([LOAD_CODES[case.kind]], dtype=np.int8),
        amount=one(case.amount),
        total=one(case.total),
        ttft=one(case.ttft),
        tpot=one(case.tpot),
        p99=np.array([case.p99]),
        replicas=one(case.replicas),
    )
    return pools, requests_of([case]), loads


def results_of(split: Split) -> DisaggregatedResults:
    pools, requests, loads = arrays(split)
    return serve_pools(split.case.kind, pools, requests, loads, SERVING)


def serve_split(split: Split) -> Found:
    results = results_of(split)
    return Found(**{field.name: getattr(results, field.name)[0].item() for field in fields(Found)})


@st.composite
def splits(draw: st.DrawFn, kinds: tuple[LoadKind, ...] = tuple(LoadKind)) -> Split:
    transfer = draw(st.floats(1e-6, 2.0))
    return Split(
        draw(cases(kinds)),
        draw(plants()).row,
        prefill_replicas=float(draw(st.integers(1, 20))),
        prompts=float(draw(st.integers(1, 500))),
        transfer=transfer,
        spacing=transfer / draw(st.integers(1, 64)),
        handover=draw(st.sampled_from([0.0, 0.05])),
    )


def first_token(split: Split) -> float:
    pools, requests, _ = arrays(split)
    each, chunk = compute_request_prefill(pools.prefill, requests.prompt, np.ones(1), requests.cached)
    fill = (1 - 1 / split.prefill.stages) * float(chunk.total[0])
    return split.prefill.latency + float(each[0]) + fill + split.transfer + split.handover


def decoding(split: Split, running: float) -> float:
    """Seconds of the decode steps of a request when `running` share a replica."""
    case = split.case
    step = compute_decode_step(rows_of(case.row), np.array([running]), requests_of([case]).context)
    later = case.output - 1
    return max(later / case.row.tokens_per_step, min(later, 1.0)) * float(step.total[0])


@given(splits())
def test_figures_are_finite_positive_or_without_meaning(split: Split) -> None:
    figures, case = serve_split(split), split.case
    nothing = case.kind is LoadKind.LIMITS and figures.concurrency == 0
    silent = nothing or (case.kind is LoadKind.REQUEST_RATE and not figures.stable)
    assert math.isnan(figures.rate) == nothing
    assert math.isnan(figures.ttft) == silent
    assert math.isnan(figures.tpot) == (silent or case.output == 1)
    for value in (figures.rate, figures.ttft, figures.tpot, figures.duration):
        assert math.isnan(value) or 0 < value < math.inf
    assert 0 <= figures.limiter < len(LIMITERS) - 1
    for busy in (figures.prefill_busy, figures.link_busy, figures.decode_busy):
        assert 0 <= busy <= 1
    assert figures.admitted <= figures.concurrency * SLACK
    assert figures.admitted <= case.capacity * case.replicas * SLACK
    assert nothing or figures.concurrency >= 1 / SLACK


@given(splits())
def test_nothing_is_served_faster_than_by_either_pool_or_the_link(split: Split) -> None:
    figures, case = serve_split(split), split.case
    rate = 0.0 if math.isnan(figures.rate) else figures.rate
    pools, requests, _ = arrays(split)
    each, _ = compute_request_prefill(pools.prefill, requests.prompt, np.array([figures.waiting]), requests.cached)
    assert rate <= split.prefill_replicas / float(each[0]) * SLACK
    assert rate <= SLACK / split.spacing
    most = min(figures.admitted / case.replicas, case.capacity) if figures.admitted else case.capacity
    if case.output > 1:
        assert rate * decoding(split, max(most, 1.0)) <= max(most, 1.0) * case.replicas * SLACK


@given(splits())
def test_no_first_token_comes_before_its_prompt_is_handed_over(split: Split) -> None:
    figures = serve_split(split)
    assert math.isnan(figures.ttft) or figures.ttft * SLACK >= first_token(split)


@given(splits())
def test_tokens_come_no_later_than_where_prompts_are_in_between(split: Split) -> None:
    case, figures = split.case, serve_split(split)
    if math.isnan(figures.tpot):
        return
    # As many sequences on the same plan, which prefills their prompts too.
    together = serve_one(
        replace(
            case, kind=LoadKind.CONCURRENCY, amount=max(1.0, math.ceil(figures.running)), total=math.inf, replicas=1.0
        )
    )
    assert figures.tpot <= together.tpot * (1 + 1e-6)


@given(splits((LoadKind.CONCURRENCY, LoadKind.SATURATE, LoadKind.LIMITS)), st.floats(1.0, 100.0))
def test_a_faster_link_never_serves_fewer_requests(split: Split, times: float) -> None:
    faster = replace(split, transfer=split.transfer / times, spacing=split.spacing / times)
    slow, fast = serve_split(split).rate, serve_split(faster).rate
    assert math.isnan(slow) or fast * (1 + 1e-6) >= slow


@given(splits((LoadKind.CONCURRENCY, LoadKind.SATURATE)), st.integers(2, 8))
def test_more_prefill_replicas_never_serve_fewer_requests(split: Split, times: int) -> None:
    # The prompts of a burst share more replicas, so that chunks may be less full: whole chunks only.
    split = replace(split, prompts=1.0)
    more = replace(split, prefill_replicas=split.prefill_replicas * times)
    assert serve_split(more).rate * (1 + 1e-6) >= serve_split(split).rate


@given(splits((LoadKind.CONCURRENCY,)))
def test_in_a_steady_state_clients_are_as_many_as_come_in_a_round(split: Split) -> None:
    split = replace(split, case=replace(split.case, total=math.inf))
    figures = serve_split(split)
    residence = figures.ttft + decoding(split, figures.running)
    assert figures.rate * residence == pytest.approx(split.case.amount, rel=1e-9)


@given(splits())
def test_what_is_reached_stays_within_the_bounds_of_its_own_rows(split: Split) -> None:
    pools, requests, _ = arrays(split)
    results = results_of(split)
    bound = compute_pool_bounds(replace(pools, handover=np.zeros(1)), requests, results)
    assert not results.rate[0] > bound.rate[0] * (1 + 1e-6)
    assert not results.tpot[0] * (1 + 1e-6) < bound.tpot[0]
    assert not results.ttft[0] * SLACK < bound.ttft[0]


def test_single_client_never_queues() -> None:
    split = Split(replace(STEADY, amount=1.0), PLANT.row)
    figures = serve_split(split)
    assert figures.ttft == pytest.approx(first_token(split), rel=1e-9)
    assert figures.tpot == pytest.approx(decoding(split, 1.0) / 499, rel=1e-9)


def test_the_slowest_station_binds() -> None:
    slow_link = Split(STEADY, PLANT.row, transfer=0.5, spacing=0.5)
    many = replace(STEADY, amount=5000.0)
    assert serve_split(Split(STEADY, PLANT.row, prefill_replicas=50.0)).binding == DECODE_STATION
    assert serve_split(Split(replace(many, output=2.0), PLANT.row)).binding == PREFILL_STATION
    assert serve_split(slow_link).binding == LINK_STATION
    assert serve_split(slow_link).rate == pytest.approx(2.0, rel=0.01)


def test_a_full_decode_pool_makes_requests_wait_before_their_first_token() -> None:
    split = Split(replace(STEADY, amount=1000.0, capacity=50.0), PLANT.row, prefill_replicas=20.0)
    figures = serve_split(split)
    assert figures.admitted == 50
    assert figures.running == pytest.approx(50)
    assert figures.rate * (figures.ttft + 499 * figures.tpot) == pytest.approx(1000, rel=1e-9)


def test_open_loop_reaches_its_rate_until_overload() -> None:
    open_loop = replace(STEADY, kind=LoadKind.REQUEST_RATE, amount=2.0)
    figures = serve_split(Split(open_loop, PLANT.row))
    assert figures.stable
    assert figures.rate == 2.0
    assert figures.tpot == pytest.approx(decoding(Split(open_loop, PLANT.row), figures.running) / 499)
    overload = serve_split(Split(replace(open_loop, amount=1e4), PLANT.row))
    assert not overload.stable
    assert overload.rate < 1e4


@pytest.mark.parametrize("p99", [False, True])
def test_limits_are_kept(p99: bool) -> None:
    case = replace(STEADY, kind=LoadKind.LIMITS, ttft=1.0, tpot=0.02, p99=p99)
    figures = serve_split(Split(case, PLANT.row, prefill_replicas=4.0))
    assert 0 < figures.tpot <= 0.02
    assert 0 < figures.ttft <= 1.0
    tight = serve_split(Split(replace(case, ttft=0.01), PLANT.row))
    assert math.isnan(tight.rate)
    assert tight.concurrency == 0


def test_those_that_wait_for_prefill_are_not_admitted() -> None:
    patient = Case(PLANT.row, 2000.0, 4.0, 50.0, LoadKind.LIMITS, ttft=1e4, tpot=10.0)
    figures = serve_split(Split(patient, PLANT.row))
    assert figures.admitted == 50
    assert figures.concurrency > 50
    assert figures.rate * (figures.ttft + 3 * figures.tpot) == pytest.approx(figures.concurrency)


def test_a_run_of_one_wave_is_a_burst() -> None:
    closed = serve_split(Split(replace(STEADY, total=64.0), PLANT.row))
    burst = serve_split(Split(replace(STEADY, kind=LoadKind.SATURATE, total=64.0), PLANT.row))
    assert closed.rate == pytest.approx(burst.rate, rel=0.1)
    assert closed.ttft == pytest.approx(burst.ttft, rel=0.1)
    long = serve_split(Split(replace(STEADY, total=64_000.0), PLANT.row))
    endless = serve_split(Split(STEADY, PLANT.row))
    assert long.rate == pytest.approx(endless.rate, rel=0.01)


def test_the_parts_of_a_request_add_up_to_its_time_on_both_pools() -> None:
    split = Split(STEADY, PLANT.row)
    pools, requests, _ = arrays(split)
    results = results_of(split)
    rounds = split_pool_rounds(pools, requests, results)
    each, _ = compute_request_prefill(pools.prefill, requests.prompt, results.waiting, requests.cached)
    whole = float(each[0] + rounds.decoding[0]) + split.transfer + split.handover + split.prefill.latency
    assert sum(float(part[0]) for part in rounds.parts) == pytest.approx(whole, rel=1e-9)


def test_many_cases_at_once_give_what_each_gives_alone() -> None:
    rows = [PLANT.row, plant(H200, published.deepseek_v3(), ParallelPlan(tp=8, ep=8, attention_dp=True)).row]
    loads = [replace(STEADY, amount=amount, row=row) for amount in (1.0, 30.0, 700.0) for row in rows]
    alone = [results_of(Split(case, PLANT.row)) for case in loads]
    parts = [arrays(Split(case, PLANT.row)) for case in loads]
    pools = PoolPair(
        prefill=rows_of(*[PLANT.row] * len(loads)),
        decode=rows_of(*(case.row for case in loads)),
        **{
            name: np.concatenate([getattr(pool, name) for pool, _, _ in parts])
            for name in ("prefill_replicas", "decode_replicas", "prompts", "transfer", "spacing", "handover")
        },
    )
    joined = DeploymentLoads(
        *(np.concatenate([getattr(load, f.name) for _, _, load in parts]) for f in fields(DeploymentLoads))
    )
    together = serve_pools(LoadKind.CONCURRENCY, pools, requests_of(loads), joined, SERVING)
    for field in fields(DisaggregatedResults):
        figures = getattr(together, field.name)
        expected = np.concatenate([getattr(each, field.name) for each in alone])
        np.testing.assert_array_equal(figures, expected)
