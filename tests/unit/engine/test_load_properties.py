"""Properties of time that hold for every deployment under every load."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gpudesk.domain.estimate import LoadKind, ParallelPlan
from gpudesk.engine.loads import compute_bounds
from gpudesk.engine.serving import CASES_PER_CHUNK, ServingResults
from gpudesk.engine.steps import LIMITERS
from tests.unit.engine import published
from tests.unit.engine.bench import (
    H200,
    SERVING,
    Case,
    Figures,
    Plant,
    plant,
    requests_of,
    rows_of,
    serve_cases,
    serve_one,
)
from tests.unit.engine.strategies import cases, lengths, plants

COUNTED = (LoadKind.BATCH, LoadKind.CONCURRENCY, LoadKind.SATURATE)
PLANT = plant(H200, published.llama_3_1_70b(), ParallelPlan(tp=8))
#: Rounding of sums in another order.
SLACK = 1 + 1e-9


def residence(case: Case, figures: Figures) -> float:
    return figures.ttft + (0.0 if case.output == 1 else (case.output - 1) * figures.tpot)


@given(cases())
def test_figures_are_finite_positive_or_without_meaning(case: Case) -> None:
    figures = serve_one(case)
    nothing = case.kind is LoadKind.LIMITS and figures.running == 0
    silent = nothing or (case.kind is LoadKind.REQUEST_RATE and not figures.stable)
    assert math.isnan(figures.rate) == nothing
    assert math.isnan(figures.ttft) == silent
    assert math.isnan(figures.tpot) == (silent or case.output == 1)
    for value in (figures.rate, figures.ttft, figures.tpot, figures.duration):
        assert math.isnan(value) or 0 < value < math.inf
    assert 0 <= figures.limiter < len(LIMITERS) - 1


@given(cases())
def test_no_more_run_than_are_admitted_and_none_beyond_the_capacity(case: Case) -> None:
    figures = serve_one(case)
    # Of equal requests more begin where memory is given as they grow.
    grow = not case.varied and case.row.on_demand * case.row.mixes > 0
    most = max(case.capacity, case.row.step_batch_cap) if grow else case.capacity
    assert figures.running <= most
    assert figures.admitted <= most * case.replicas * SLACK
    assert figures.admitted <= figures.concurrency * SLACK
    if case.kind in (LoadKind.BATCH, LoadKind.CONCURRENCY):
        assert figures.concurrency <= case.amount
        admitted = min(case.amount, case.total)
        if admitted <= case.capacity:
            assert figures.admitted == pytest.approx(admitted)


@given(plants(), lengths(), cases())
def test_no_deployment_beats_the_roofline(plant: Plant, size: tuple[float, float, float], load: Case) -> None:
    # The bound counts an embedding of its own as read, which is more than all else in the smallest models.
    assume(plant.ideal.dense_read <= plant.row.dense_read)
    prompt, output, cached = size
    case = replace(load, row=plant.row, prompt=prompt, output=output, cached=cached, replicas=1.0)
    figures = serve_one(case)
    running = np.array([max(figures.running, 1.0)])
    bound = compute_bounds(rows_of(plant.ideal), requests_of([case]), running)
    assert not figures.rate > bound.rate.item() * SLACK
    assert not figures.tpot < bound.tpot.item() / SLACK
    assert not figures.ttft < bound.ttft.item() / SLACK


@given(cases(COUNTED))
def test_no_request_outlives_a_finite_run(case: Case) -> None:
    figures = serve_one(case)
    if not math.isnan(figures.duration):
        # Short outputs of varied ones have a slow pace, which a mean request does not keep to its end.
        assert (figures.ttft if case.varied else residence(case, figures)) <= figures.duration * SLACK


@given(cases((LoadKind.CONCURRENCY,)))
def test_a_steady_closed_loop_obeys_littles_law(case: Case) -> None:
    steady = replace(case, total=math.inf)
    figures = serve_one(steady)
    assert figures.rate * residence(steady, figures) == pytest.approx(figures.concurrency)
    long = serve_one(replace(case, total=1e9 * case.amount))
    assert long.rate == pytest.approx(figures.rate, rel=1e-5)
    assert long.ttft == pytest.approx(figures.ttft, rel=1e-5)


@given(cases((LoadKind.REQUEST_RATE, LoadKind.LIMITS)))
def test_requests_that_come_by_themselves_obey_littles_law(case: Case) -> None:
    figures = serve_one(case)
    if math.isnan(figures.ttft):
        assert figures.concurrency == figures.admitted == figures.running * case.replicas
        return
    inside = max(figures.rate * residence(case, figures), 1.0)
    assert figures.concurrency == pytest.approx(inside)
    assert figures.admitted == pytest.approx(min(inside, case.capacity * case.replicas))


@given(cases((LoadKind.BATCH,)))
def test_one_request_is_one_request_under_every_load(case: Case) -> None:
    one = serve_one(replace(case, amount=1.0))
    for kind in (LoadKind.CONCURRENCY, LoadKind.SATURATE):
        other = serve_one(replace(case, kind=kind, amount=1.0, total=1.0))
        assert other.rate == pytest.approx(one.rate)
        assert other.ttft == pytest.approx(one.ttft)
        assert other.tpot == pytest.approx(one.tpot, nan_ok=True)


@given(cases((LoadKind.CONCURRENCY, LoadKind.SATURATE, LoadKind.BATCH)), st.integers(1, 200))
def test_more_sequences_never_lower_throughput(case: Case, more: int) -> None:
    capacity = 4000.0
    fewer = replace(case, capacity=capacity, replicas=1.0, total=math.inf, amount=min(case.amount, 3000.0))
    if case.kind is LoadKind.SATURATE:
        fewer = replace(fewer, total=min(case.total, 3000.0))
    greater = replace(fewer, amount=fewer.amount + more, total=fewer.total + more)
    before, after = serve_one(fewer), serve_one(greater)
    assert after.rate * SLACK >= before.rate


#: Coefficients that shrink when a part gets better in one respect.
BETTER = {
    "bandwidth": (
        "dense_read",
        "expert_read",
        "head_read",
        "kv_token",
        "kv1_token",
        "kv2_token",
        "state",
        "activation_token",
    ),
    "peak": (
        "dense_flop",
        "expert_flop",
        "head_flop",
        "att_token",
        "att1_token",
        "att2_token",
        "patt_token",
        "patt1_token",
    ),
    "link": ("comm_fixed", "comm_token", "ring_fixed", "ring_token"),
    "software": ("overhead_fixed", "host_fixed", "host_sequence", "request"),
}
RESPECT = st.sampled_from(sorted(BETTER))
TIMES_BETTER = st.floats(1.0, 10.0)


def improved(case: Case, respect: str, factor: float) -> Case:
    """Return the case on a part that is `factor` times better in one respect."""
    row = case.row
    return replace(case, row=replace(row, **{name: getattr(row, name) / factor for name in BETTER[respect]}))


@given(cases(COUNTED), RESPECT, TIMES_BETTER)
def test_a_better_part_never_serves_less_or_later(case: Case, respect: str, factor: float) -> None:
    before, after = serve_one(case), serve_one(improved(case, respect, factor))
    assert after.rate * SLACK >= before.rate
    assert residence(case, after) <= residence(case, before) * SLACK
    if case.kind is not LoadKind.CONCURRENCY:
        # In a closed loop faster decoding brings the next prompts sooner, which may queue.
        assert not after.ttft > before.ttft * SLACK


@given(cases((LoadKind.REQUEST_RATE,)), RESPECT, TIMES_BETTER)
def test_better_accelerator_never_lengthens_waits(case: Case, respect: str, factor: float) -> None:
    before, after = serve_one(case), serve_one(improved(case, respect, factor))
    assert after.rate * SLACK >= before.rate
    if before.stable:
        assert after.stable
        # Fewer run at once, so that prompts share chunks with slightly fewer others.
        assert residence(case, after) <= residence(case, before) * 1.01


@given(cases(tuple(LoadKind)), st.floats(1, 10))
def test_more_memory_never_serves_less(case: Case, factor: float) -> None:
    # A p99 limit of the first token takes off what longer steps cost, so only means are compared.
    case = replace(case, p99=False)
    before = serve_one(case)
    after = serve_one(replace(case, capacity=math.floor(case.capacity * factor)))
    # A run that ends pays for its last round, which counts for more when there are few rounds.
    ends = case.kind in (LoadKind.CONCURRENCY, LoadKind.SATURATE) and math.isfinite(case.total)
    slack = 1 + SERVING.tail_wave / 2 if ends else SLACK
    assert not after.rate * slack < before.rate
    assert after.admitted * SLACK >= before.admitted


@given(st.lists(cases(), min_size=2, max_size=20))
def test_many_cases_are_served_as_each_alone(mixed: list[Case]) -> None:
    assert_same(serve_cases(mixed), [serve_one(case) for case in mixed])


@pytest.mark.parametrize("kind", list(LoadKind))
@pytest.mark.parametrize("length", [CASES_PER_CHUNK - 1, CASES_PER_CHUNK, CASES_PER_CHUNK + 1, 2 * CASES_PER_CHUNK + 3])
def test_borders_of_chunks_do_not_show(kind: LoadKind, length: int) -> None:
    base = Case(PLANT.row, 1000.0, 200.0, 100.0, kind, total=50.0, ttft=2.0, tpot=0.05)
    amounts = [float(1 + 7 * i % 300) for i in range(length)]
    together = serve_cases([replace(base, amount=amount, total=50 + amount) for amount in amounts])
    positions = sorted(
        {0, 1, CASES_PER_CHUNK - 2, min(CASES_PER_CHUNK, length) - 1, CASES_PER_CHUNK % length, length - 1}
    )
    alone = [serve_one(replace(base, amount=amounts[i], total=50 + amounts[i])) for i in positions]
    at = np.array(positions)
    picked = ServingResults(**{name: getattr(together, name)[at] for name in Figures.__slots__})
    assert_same(picked, alone)


def assert_same(together: ServingResults, alone: list[Figures]) -> None:
    for name in Figures.__slots__:
        expected = np.array([getattr(figures, name) for figures in alone])
        np.testing.assert_allclose(getattr(together, name), expected, rtol=1e-12, err_msg=name)
