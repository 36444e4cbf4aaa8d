"""What spreading a model costs: shares of a step, what links cost, and the reasons for slower rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpudesk.domain.deployment_analysis import (
    AcceleratorScaling,
    ScalingRow,
    ScalingRuleOfThumb,
    TopologyComparison,
    get_throughput,
)
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind
from gpudesk.estimation.estimator import Estimator
from gpudesk.text.messages import InputError, format_message
from tests.unit.domain.asking import ask, closed

PARTS = ("h100-sxm", "mi300x", "b200-hgx", "l40s", "gb200-nvl72", "gaudi3")


def scaling_of(estimator: Estimator, request: EstimateRequest, *, brief: bool = False) -> AcceleratorScaling:
    (scaling,) = estimator.scalings([request], brief=brief)
    assert isinstance(scaling, AcceleratorScaling)
    return scaling


def row_of(scaling: AcceleratorScaling, count: int) -> ScalingRow:
    return next(row for row in scaling.rows if row.count == count)


def seventy(part: str, load: int = 32, **rest: object) -> EstimateRequest:
    return ask(part, "llama-3.1-70b", "bf16", closed(load), (2000, 500), **rest)


@pytest.fixture(scope="module")
def pair(estimator: Estimator) -> TopologyComparison:
    """Return two H100 against one MI300X."""
    return compared(estimator, 32)


def compared(estimator: Estimator, load: int) -> TopologyComparison:
    requests = [seventy("h100-sxm", load, count=2), seventy("mi300x", load, count=1)]
    return estimator.topology(*(estimator.estimate(request) for request in requests))


# By count


def test_scaling_includes_counts_that_do_not_fit(estimator: Estimator) -> None:
    scaling = scaling_of(estimator, seventy("h100-sxm"))
    assert [row.count for row in scaling.rows] == [1, 2, 4, 8, 16, 32, 64]
    assert [row.fits for row in scaling.rows] == [False, *[True] * 6]
    assert scaling.start is row_of(scaling, 2)
    assert scaling.efficiency(row_of(scaling, 2)) == 1.0
    assert row_of(scaling, 1).bandwidth is None
    assert row_of(scaling, 2).memory_bytes == 160 * 2**30


def test_the_preset_next_to_the_model_is_that_of_the_published_table(estimator: Estimator) -> None:
    scaling = scaling_of(estimator, seventy("mi325x"))
    flat = [round(row.by_rule[ScalingRuleOfThumb.FLAT] / 1e9) for row in scaling.rows[:4]]
    assert flat == [6000, 10_560, 21_120, 42_240]


def test_a_row_is_the_estimate_of_one_replica(estimator: Estimator) -> None:
    scaling = scaling_of(estimator, seventy("h200-sxm", serving_engine="vllm"))
    for row in scaling.rows:
        request = seventy("h200-sxm", serving_engine="vllm", count=row.count, dp=1)
        assert row.estimate == estimator.estimate(request)
        assert row.estimate is not None
        assert row.estimate.plan.dp == 1


def test_the_count_of_the_scenario_is_looked_at_too(estimator: Estimator) -> None:
    counts = [row.count for row in scaling_of(estimator, seventy("mi300x", count=6)).rows]
    assert 6 in counts
    assert counts == sorted(counts)


def test_replicas_are_named_where_they_are_faster(estimator: Estimator) -> None:
    for row in scaling_of(estimator, seventy("mi300x")).rows:
        if row.replicas is not None:
            assert row.replicas.plan.dp > 1
            assert (get_throughput(row.replicas) or 0.0) > (get_throughput(row.estimate) or 0.0)
    assert row_of(scaling_of(estimator, seventy("mi300x")), 64).replicas is not None


def test_brief_rows_have_the_same_figures(estimator: Estimator) -> None:
    whole, brief = (scaling_of(estimator, seventy("mi300x"), brief=each) for each in (False, True))
    for one, other in zip(whole.rows, brief.rows, strict=True):
        assert (one.estimate, one.spread, one.falls) == (other.estimate, other.spread, other.falls)
        assert other.single is None
        assert other.replicas is None


def test_unknown_accelerator_fails_alone(estimator: Estimator) -> None:
    scalings = estimator.scalings([seventy("no-such-part"), seventy("mi300x")])
    assert isinstance(scalings[0], InputError)
    assert isinstance(scalings[1], AcceleratorScaling)


# Properties


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("load", [1, 64])
@pytest.mark.parametrize(("model", "weights"), [("llama-3.1-70b", "bf16"), ("qwen3-235b-a22b", "bf16")])
def test_links_leave_no_more_than_there_is(
    estimator: Estimator, part: str, load: int, model: str, weights: str
) -> None:
    scaling = scaling_of(estimator, ask(part, model, weights, closed(load)))
    assert any(row.fits for row in scaling.rows)
    for row in scaling.rows:
        if not row.fits:
            assert row.spread is None
            continue
        assert row.spread is not None
        assert row.bandwidth is not None
        assert row.bandwidth_per_s is not None
        assert 0.0 <= row.spread.collectives < 1.0
        assert 0.0 < row.spread.stage_occupancy <= 1.0
        assert 0.0 <= row.spread.overhead < 1.0
        assert 0.0 < row.bandwidth_per_s <= row.count * scaling.bandwidth
        assert 0.0 < row.bandwidth <= row.count * scaling.bandwidth
        if row.count == 1:
            assert row.spread.collectives == 0.0
            assert row.bandwidth == scaling.bandwidth


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("load", [1, 16])
def test_links_take_more_of_a_step_the_wider_tensors_are_split(estimator: Estimator, part: str, load: int) -> None:
    """Inside a host each doubling of TP halves what is read and leaves as many collectives."""
    shares = []
    for tp in (1, 2, 4, 8):
        request = ask(part, "llama-3.1-8b", "bf16", closed(load), count=tp, tp=tp)
        estimate = estimator.estimate(request)
        shares_of = estimator.compute_time_shares(estimate)
        assert shares_of is not None
        shares.append({share.name: share.share for share in shares_of.decode}["interconnect"])
    assert shares[0] == 0.0
    assert shares == sorted(shares)
    assert shares[-1] > shares[1]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("load", [1, 8, 64, 512])
def test_more_accelerators_are_slower_only_for_a_reason(estimator: Estimator, part: str, load: int) -> None:
    best = 0.0
    for row in scaling_of(estimator, seventy(part, load)).rows:
        rate = get_throughput(row.estimate)
        if rate is None:
            continue
        if rate < best * 0.995:
            assert row.falls is not None, row.count
            assert format_message(row.falls).startswith("slower than on ")
        else:
            assert row.falls is None
        best = max(best, rate)


# Sharding against fewer accelerators


def test_shares_and_times_are_those_of_the_step(estimator: Estimator, pair: TopologyComparison) -> None:
    many, few = pair.baseline, pair.other
    shares = estimator.compute_time_shares(many.estimate)
    assert shares is not None
    named = {share.name: share.share for share in shares.decode}
    assert many.spread.collectives == pytest.approx(named["interconnect"])
    assert many.spread.overhead == pytest.approx(named["overhead"])
    assert few.spread.collectives == 0.0
    assert few.effective_bandwidth == few.bandwidth == 5.3e12
    assert many.single.plan == many.estimate.plan
    assert many.single.concurrency == 1


def test_without_links_a_request_saves_what_links_take(pair: TopologyComparison) -> None:
    many, few = pair.baseline, pair.other
    assert many.single.tpot_ms is not None
    assert many.free_single_tpot_ms == pytest.approx(
        many.single.tpot_ms.value - many.single_spread.collective_ms, rel=1e-3
    )
    assert few.single.tpot_ms is not None
    assert few.free_single_tpot_ms == pytest.approx(few.single.tpot_ms.value)
    assert few.free_output_tokens_per_s == pytest.approx(get_throughput(few.estimate))
    assert (many.free_output_tokens_per_s or 0.0) > (get_throughput(many.estimate) or 0.0)


def test_two_h100_against_one_mi300x(pair: TopologyComparison) -> None:
    """The page's argument by the numbers: the pair reads more, the single part has more room."""
    many, few = pair.baseline, pair.other
    assert many.ceiling == pytest.approx(41.8, abs=0.05)
    assert few.ceiling == pytest.approx(37.6, abs=0.05)
    assert 0.03 < many.single_spread.collectives < 0.12
    assert many.single_effective_bandwidth > few.single_effective_bandwidth
    assert few.kv_room_bytes > 2 * many.kv_room_bytes
    assert many.estimate.max_concurrency < 32 < few.estimate.max_concurrency
    text = " ".join(format_message(each) for each in pair.sentences)
    assert " more than 1 × Instinct MI300X (5.3 TB/s)." in text
    assert "KV cache: 1 × Instinct MI300X holds " in text
    assert "A single request is faster on 2 × H100 SXM 80GB (84% odds) despite sharding: 30.7 ms" in text


@pytest.mark.parametrize("load", [1, 8, 32, 64])
def test_winners_are_those_of_the_odds(estimator: Estimator, load: int) -> None:
    comparison = compared(estimator, load)
    sides = comparison.baseline.estimate, comparison.other.estimate
    assert comparison.differences == estimator.differences(*sides)
    winner = next(each.winner for each in comparison.differences if each.figure == "output_tokens_per_s")
    (sentence_id,) = (each.id for each in comparison.sentences if each.id.startswith("topology.load_"))
    expected = {None: "topology.load_none", "h100-sxm": "topology.load_many"}
    assert sentence_id in {expected.get(winner, "topology.load_few"), f"{expected.get(winner, 'x')}_by_room"}


def test_the_order_of_the_two_changes_no_word(estimator: Estimator, pair: TopologyComparison) -> None:
    swapped = estimator.topology(pair.other.estimate, pair.baseline.estimate)
    assert [each.id for each in swapped.sentences] == [each.id for each in pair.sentences]
    assert [format_message(each) for each in swapped.sentences] == [format_message(each) for each in pair.sentences]


def test_two_that_are_not_spread_lose_nothing_to_links(estimator: Estimator) -> None:
    parts = ("h200-sxm", "mi300x")
    one, other = (estimator.estimate(ask(part, "llama-3.1-8b", "bf16", closed(8), count=1)) for part in parts)
    ids = [each.id for each in estimator.topology(one, other).sentences]
    assert ids[0] == "topology.unspread"
    assert not any(each.startswith("topology.bandwidth") for each in ids)


def test_the_same_part_in_two_counts_can_be_compared(estimator: Estimator) -> None:
    one, other = (estimator.estimate(seventy("mi300x", count=count)) for count in (1, 8))
    text = " ".join(format_message(each) for each in estimator.topology(one, other).sentences)
    assert "A single request is faster on 8 × Instinct MI300X" in text


def test_deployment_that_does_not_fit_is_refused_with_its_reason(
    estimator: Estimator, pair: TopologyComparison
) -> None:
    small: Estimate = estimator.estimate(seventy("h100-sxm", count=1))
    assert not small.fits
    with pytest.raises(InputError) as raised:
        estimator.topology(small, pair.other.estimate)
    assert raised.value.problem == small.reason


def test_other_loads_have_their_figures(estimator: Estimator, pair: TopologyComparison) -> None:
    loads = (
        Load(LoadKind.BATCH, batch=8),
        Load(LoadKind.SATURATE, requests=100),
        Load(LoadKind.REQUEST_RATE, request_rate=0.2),
        Load(LoadKind.LIMITS, ttft_ms=5000.0, tpot_ms=100.0),
    )
    for load in loads:
        request = pair.baseline.estimate.request
        other_request = replace(request, workload=replace(request.workload, load=load))
        scaling = scaling_of(estimator, other_request)
        assert get_throughput(row_of(scaling, 8).estimate)
        estimates = [estimator.estimate(replace(other_request, accelerator=part, count=8)) for part in PARTS[:2]]
        comparison = estimator.topology(*estimates)
        assert all(format_message(each) for each in comparison.sentences)
        assert (comparison.baseline.free_output_tokens_per_s or 0.0) > 0.0
