"""Why a plan was taken: each option does what it does when it is given, and its reason can be checked."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Literal

import pytest

from gpudesk.domain.estimate import (
    ConsideredPlan,
    Estimate,
    EstimateRequest,
    Load,
    LoadKind,
    ParallelPlan,
    PlanChoice,
    format_plan,
)
from gpudesk.domain.estimate_json import write_plan_choice_json
from gpudesk.engine.calibration import IntervalFactors
from gpudesk.estimation.estimator import Estimator
from gpudesk.text import translation
from gpudesk.text.messages import Message, join_messages
from tests.unit.domain.asking import ask, closed

QUEUED = Load(LoadKind.SATURATE, requests=2000)
ASKED = {
    "dense": ask("h200-sxm", "llama-3.1-70b", "fp8", closed(64), count=8),
    "count left open": ask("h100-sxm", "llama-3.1-70b", "bf16", closed(256)),
    "queued": ask("h100-sxm", "llama-3.1-70b", "fp8", QUEUED, count=8),
    "few requests": ask("h200-sxm", "llama-3.1-70b", "fp8", closed(4), count=8),
    "experts": ask("h200-sxm", "deepseek-r1", "fp8", closed(512)),
    "two hosts": ask("h100-sxm", "deepseek-r1", "fp8", closed(512)),
    "batch": ask("mi300x", "mixtral-8x7b", "bf16", Load(LoadKind.BATCH, batch=32), count=16),
    "rate": ask("h200-sxm", "llama-3.1-70b", "fp8", Load(LoadKind.REQUEST_RATE, request_rate=2.0), count=8),
    "pcie": ask("l40s", "llama-3.1-70b", "fp8", closed(32), count=8),
    "one left open": ask("h200-sxm", "llama-3.1-70b", "fp8", closed(64), count=8, tp=4),
}


def limits(ttft_ms: float, tpot_ms: float) -> EstimateRequest:
    load = Load(LoadKind.LIMITS, ttft_ms=ttft_ms, tpot_ms=tpot_ms)
    return ask("h200-sxm", "llama-3.1-70b", "fp8", load, count=8)


ASKED |= {"limits": limits(500, 40), "tight limits": limits(2000, 15)}


def asked_for(estimator: Estimator, request: EstimateRequest) -> tuple[Estimate, PlanChoice]:
    estimate = estimator.estimate(request)
    return estimate, estimator.plans(estimate)


def make_request(request: EstimateRequest, plan: ParallelPlan) -> EstimateRequest:
    """Return the question with this plan and no choice left."""
    return replace(
        request, count=plan.count, tp=plan.tp, pp=plan.pp, ep=plan.ep, dp=plan.dp, attention_dp=plan.attention_dp
    )


def of(choice: PlanChoice, name: str) -> ConsideredPlan:
    return next(option for option in choice.options if format_plan(option.plan) == name)


def reason_with(choice: PlanChoice, message_id: str) -> tuple[ConsideredPlan, Message]:
    return next((option, each) for option in choice.options for each in option.reasons if each.id == message_id)


def near(value: object) -> object:
    return pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("name", ASKED)
def test_the_plan_of_the_estimate_comes_first_with_its_own_figures(estimator: Estimator, name: str) -> None:
    estimate, choice = asked_for(estimator, ASKED[name])
    first = choice.options[0]
    assert choice.chosen is first
    assert first.plan == estimate.plan
    assert (first.output_tokens_per_s, first.ttft_ms, first.tpot_ms) == (
        estimate.output_tokens_per_s,
        estimate.ttft_ms,
        estimate.tpot_ms,
    )
    assert [option.is_chosen for option in choice.options].count(True) == 1
    assert len({option.plan for option in choice.options}) == len(choice.options)


@pytest.mark.parametrize("name", ASKED)
def test_plan_options_equal_estimates_with_that_plan(estimator: Estimator, name: str) -> None:
    estimate, choice = asked_for(estimator, ASKED[name])
    fitting = [option for option in choice.options if option.fits]
    alone = estimator.estimate_many([make_request(estimate.request, option.plan) for option in fitting])
    for option, alone_estimate in zip(fitting, alone, strict=True):
        assert isinstance(alone_estimate, Estimate)
        assert alone_estimate.fits
        for figure in ("output_tokens_per_s", "ttft_ms", "tpot_ms"):
            here, there = getattr(option, figure), getattr(alone_estimate, figure)
            assert (here is None) == (there is None)
            assert here is None or tuple(here) == near(tuple(there))
    rates = [0.0 if o.output_tokens_per_s is None else o.output_tokens_per_s.value for o in fitting]
    assert all(rates[0] >= rate * 0.998 for rate in rates)
    assert all(one >= other * 0.998 for one, other in pairwise(rates))


@pytest.mark.parametrize("name", ASKED)
def test_deployment_that_does_not_fit_stays_so_when_requested(estimator: Estimator, name: str) -> None:
    _, choice = asked_for(estimator, ASKED[name])
    for option in choice.options:
        if option.fits is False:
            assert not estimator.estimate(make_request(ASKED[name], option.plan)).fits
            assert option.reasons[0].id in ("plan.weights_do_not_fit", "plan.does_not_fit")
            assert option.output_tokens_per_s is None


@pytest.mark.parametrize("name", ASKED)
def test_a_share_behind_is_that_of_the_figures(estimator: Estimator, name: str) -> None:
    estimate, choice = asked_for(estimator, ASKED[name])
    assert estimate.output_tokens_per_s is not None
    for option in choice.options[1:]:
        behind = option.reasons[0].parameters.get("behind")
        if behind is not None:
            assert option.output_tokens_per_s is not None
            ratio = option.output_tokens_per_s.value / estimate.output_tokens_per_s.value
            assert 1.0 - ratio == near(behind)


@pytest.mark.parametrize("name", ASKED)
def test_a_part_that_is_named_grew(estimator: Estimator, name: str) -> None:
    _, choice = asked_for(estimator, ASKED[name])
    for option in choice.options[1:]:
        parameters = option.reasons[0].parameters
        if option.reasons[0].id == "plan.slower_share":
            assert 1.0 >= parameters["now"] > parameters["before"] >= 0.0  # type: ignore[operator]
        elif option.reasons[0].id == "plan.slower_times":
            assert parameters["times"] > 1.0  # type: ignore[operator]
        else:
            # No plan is left without a reason that can be looked up.
            assert option.reasons[0].id != "plan.slower"


def test_smaller_deployment_shows_why_it_was_rejected(estimator: Estimator) -> None:
    estimate, choice = asked_for(estimator, ASKED["count left open"])
    assert estimate.count == 2
    single = of(choice, "TP 1")
    assert join_messages(single.reasons) == "does not fit: weights take 131 of 80.0 GiB"
    assert of(choice, "PP 2").fits


def test_fewer_sequences_are_the_reason_where_more_would_mend_it(estimator: Estimator) -> None:
    estimate, choice = asked_for(estimator, ASKED["queued"])
    option, reason = reason_with(choice, "plan.slower_fewer")
    alone = estimator.estimate(make_request(estimate.request, option.plan))
    assert reason.parameters["admitted"] == alone.admitted
    assert reason.parameters["most"] == estimate.admitted
    assert (alone.admitted or 0) < (estimate.admitted or 0)


def test_replicas_without_a_request_are_named(estimator: Estimator) -> None:
    _, choice = asked_for(estimator, ASKED["few requests"])
    assert "4 of 8 replicas are idle" in join_messages(of(choice, "DP 8").reasons)


def test_missed_limit_is_met_when_set_to_the_reported_value(estimator: Estimator) -> None:
    request = ASKED["tight limits"]
    _, choice = asked_for(estimator, request)
    option, reason = reason_with(choice, "plan.misses_tpot")
    value = list_stated(reason, "tpot")
    assert reason.parameters["limit"] == 15
    for limit, is_met in ((value * 1.001, True), (value * 0.999, False)):
        load = replace(request.workload.load, tpot_ms=limit)
        loosened = replace(request, workload=replace(request.workload, load=load))
        estimate = estimator.estimate(make_request(loosened, option.plan))
        assert (estimate.output_tokens_per_s is not None) is is_met


def test_fewer_in_flight_within_limits_are_explained_at_equal_numbers(estimator: Estimator) -> None:
    estimate, choice = asked_for(estimator, ASKED["limits"])
    option, reason = reason_with(choice, "plan.as_many_share")
    assert reason.parameters["most"] == estimate.admitted
    alone = estimator.estimate(make_request(estimate.request, option.plan))
    assert option.reasons[0].parameters["admitted"] == alone.admitted
    assert (alone.admitted or 0) < (estimate.admitted or 0)
    # With as many in flight it would be too slow for the limits: that is why it has fewer.
    as_many = replace(estimate.request.workload, load=closed(estimate.admitted or 0))
    slow = estimator.estimate(make_request(replace(estimate.request, workload=as_many), option.plan))
    assert slow.tpot_ms is not None
    assert estimate.tpot_ms is not None
    assert slow.tpot_ms.value > estimate.tpot_ms.value


def test_the_limit_that_is_missed_by_more_is_named(estimator: Estimator) -> None:
    _, choice = asked_for(estimator, limits(60, 1000))
    missed = {o.reasons[-1].id for o in choice.options if o.fits and o.output_tokens_per_s is None}
    assert missed == {"plan.misses_ttft"}


def test_where_no_plan_meets_the_limits_each_says_by_how_much(estimator: Estimator) -> None:
    _, choice = asked_for(estimator, limits(2000, 1))
    assert choice.chosen is not None
    assert join_messages(choice.chosen.reasons).startswith(
        "no plan meets the latency limits; this one is closest; misses the TPOT limit"
    )
    fitting = [option for option in choice.options if option.fits]
    assert all(option.reasons[-1].id == "plan.misses_tpot" for option in fitting)
    missed = [list_stated(option.reasons[-1], "tpot") for option in fitting]
    assert missed == sorted(missed)
    assert missed[0] < 0.5 * missed[-1]


def list_stated(reason: Message, name: str) -> float:
    value = reason.parameters[name]
    assert isinstance(value, tuple)
    assert isinstance(value[0], float)
    return value[0]


@pytest.mark.parametrize("limit", ["p99", "mean"])
@pytest.mark.parametrize("kind", ["ttft", "tpot"])
def test_the_plan_nearest_to_limits_is_the_first_to_meet_them_once_they_are_wider(
    estimator: Estimator, kind: str, limit: Literal["p99", "mean"]
) -> None:
    tight = {"ttft": (20.0, 1000.0), "tpot": (2000.0, 1.0)}[kind]
    load = Load(LoadKind.LIMITS, ttft_ms=tight[0], tpot_ms=tight[1], limit=limit)
    request = ask("h200-sxm", "llama-3.1-70b", "fp8", load, count=8)
    estimate, choice = asked_for(estimator, request)
    assert estimate.output_tokens_per_s is None
    assert choice.chosen is not None
    least = list_stated(choice.chosen.reasons[-1], kind)
    for factor, is_met in ((1.001, True), (0.999, False)):
        limit_ms = least * factor
        wider = replace(load, ttft_ms=limit_ms) if kind == "ttft" else replace(load, tpot_ms=limit_ms)
        wider_estimate = estimator.estimate(replace(request, workload=replace(request.workload, load=wider)))
        assert (wider_estimate.output_tokens_per_s is not None) is is_met
        assert wider_estimate.plan == estimate.plan


def test_plan_far_ahead_is_described_by_its_factor(estimator: Estimator) -> None:
    """Where the next plan meets the limit with a single request, the one taken runs many."""
    _, narrow = asked_for(estimator, limits(2000, 1))
    second = [list_stated(option.reasons[-1], "tpot") for option in narrow.options if option.fits][1]
    _, choice = asked_for(estimator, limits(2000, 1.001 * second))
    winner, following = (option.output_tokens_per_s for option in choice.options[:2])
    assert winner is not None
    assert following is not None
    assert choice.chosen is not None
    reason = choice.chosen.reasons[0]
    assert reason.id == "plan.ahead_times"
    assert reason.parameters["times"] == near(winner.value / following.value)
    assert " times as fast as the next plan, " in join_messages([reason])


def test_at_equal_throughput_the_pace_decides(estimator: Estimator) -> None:
    _, choice = asked_for(estimator, ASKED["rate"])
    assert choice.chosen is not None
    assert choice.chosen.reasons[0].id == "plan.sooner"
    paces = [option.tpot_ms.value for option in choice.options if option.tpot_ms]
    assert paces == sorted(paces)


def test_overloaded_plan_has_a_reason(estimator: Estimator) -> None:
    count = 0
    for rate in (5.0, 10.0, 15.0, 20.0, 30.0):
        load = Load(LoadKind.REQUEST_RATE, request_rate=rate)
        request = ask("h200-sxm", "llama-3.1-70b", "fp8", load, count=8)
        _, choice = asked_for(estimator, request)
        for option in choice.options:
            if option.reasons[0].id == "plan.overloaded":
                count += 1
                assert estimator.estimate(make_request(request, option.plan)).stable is False
                parameters = option.reasons[0].parameters
                assert 0 < parameters["served"] < parameters["asked"] == rate  # type: ignore[operator]
    assert count


def with_bands(monkeypatch: pytest.MonkeyPatch, low: float, high: float) -> None:
    bands = IntervalFactors(low, high)
    monkeypatch.setattr("gpudesk.estimation.estimator.find_plan_interval", lambda *_: bands)


def test_choice_names_a_simpler_plan_within_the_error(estimator: Estimator, monkeypatch: pytest.MonkeyPatch) -> None:
    with_bands(monkeypatch, 0.01, 100.0)
    _, choice = asked_for(estimator, ASKED["experts"])
    assert choice.chosen is not None
    plan = choice.chosen.reasons[-1].parameters["plan"]
    assert choice.chosen.reasons[-1].id == "plan.simpler_would_do"
    assert plan in (("TP 8",), ("PP 8",))
    assert all(option.within_error for option in choice.options[2:] if option.fits)


def test_exact_intervals_leave_no_plan_within_the_error(estimator: Estimator, monkeypatch: pytest.MonkeyPatch) -> None:
    with_bands(monkeypatch, 1.0, 1.0)
    for request in ASKED.values():
        _, choice = asked_for(estimator, request)
        assert not any(option.within_error for option in choice.options)
        assert "plan.within_error" not in {each.id for o in choice.options for each in o.reasons}


def test_a_difference_within_the_error_is_marked_and_one_beyond_is_not(
    estimator: Estimator, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_bands(monkeypatch, 0.8, 1.25)
    _, choice = asked_for(estimator, ASKED["dense"])
    best = choice.options[0].output_tokens_per_s
    assert best is not None
    for option in choice.options[1:]:
        assert option.output_tokens_per_s is not None
        ratio = option.output_tokens_per_s.value / best.value
        assert option.within_error is (0.8 <= ratio <= 0.995)
        assert ("plan.within_error" in [each.id for each in option.reasons]) is option.within_error
    assert {option.within_error for option in choice.options[1:]} == {True, False}


# What is not tried


SHARED_OBJECTION = (
    "vLLM cannot split the shared experts of Qwen3-Next 80B-A3B Thinking across 8 ranks: 512 / 8 is not a multiple "
    "of the FP8 block of 128"
)
BLOCK_OBJECTION = (
    "vLLM cannot split the experts of Qwen3 235B-A22B across 8 ranks: 1,536 / 8 is not a multiple of the FP8 block "
    "of 128"
)


@pytest.mark.parametrize(
    ("request_", "name", "why"),
    [
        (ASKED["two hosts"], "TP 16", "not tried: TP 16 would span hosts with 8 accelerators"),
        (
            ask("h100-sxm", "mixtral-8x7b", "bf16", closed(8), count=4, serving_engine="tgi"),
            "TP 4 + EP 4",
            "TGI does not support expert parallelism",
        ),
        (
            ask("h100-sxm", "mixtral-8x7b", "bf16", closed(8), count=4, serving_engine="tgi"),
            "TP 4 + EP 4 + attention DP",
            "TGI does not support data-parallel attention",
        ),
        (
            ask("h100-sxm", "mixtral-8x7b", "bf16", closed(8), count=4, serving_engine="tgi"),
            "PP 2 × DP 2",
            "TGI does not support pipeline parallelism",
        ),
        (
            ask("h100-sxm", "phi-4", "bf16", closed(8), count=4),
            "TP 4",
            "vLLM can neither split nor evenly replicate the 10 KV heads of Phi-4 14B with TP 4",
        ),
        (ask("h200-sxm", "qwen3-235b-a22b", "fp8", closed(8), count=8, serving_engine="vllm"), "TP 8", BLOCK_OBJECTION),
        (
            ask("h200-sxm", "qwen3-next-80b-a3b", "fp8", closed(8), count=8, serving_engine="vllm"),
            "TP 8 + EP 8",
            SHARED_OBJECTION,
        ),
        (
            ask("h100-sxm", "llama-3.1-8b", "int4", closed(8), count=4, serving_engine="llama.cpp"),
            "TP 2 × DP 2",
            "llama.cpp splits a model by layers: use PP instead of TP",
        ),
    ],
    ids=("host", "experts", "attention", "stages", "heads", "blocks", "shared", "layers"),
)
def test_reason_against_a_plan_is_named(estimator: Estimator, request_: EstimateRequest, name: str, why: str) -> None:
    _, choice = asked_for(estimator, request_)
    option = of(choice, name)
    assert option.fits is None
    assert join_messages(option.reasons) == why


def test_what_the_user_fixed_rules_nothing_out(estimator: Estimator) -> None:
    _, choice = asked_for(estimator, ASKED["one left open"])
    assert {option.plan.tp for option in choice.options} == {4}


def test_a_given_plan_and_a_single_accelerator_leave_no_choice(estimator: Estimator) -> None:
    dense = ASKED["dense"]
    for request, why in (
        (make_request(dense, ParallelPlan(4, dp=2)), "as specified"),
        (replace(dense, count=1), "the only plan with one accelerator"),
    ):
        _, choice = asked_for(estimator, request)
        assert not choice.searched
        assert join_messages(choice.options[0].reasons) == why


def test_no_plan_is_chosen_if_none_fits(estimator: Estimator) -> None:
    request = ask("h100-sxm", "llama-3.1-405b", "bf16", closed(8), count=4)
    estimate, choice = asked_for(estimator, request)
    assert not estimate.fits
    assert choice.chosen is None
    assert choice.options
    assert not any(option.fits for option in choice.options)


# In words


@pytest.mark.parametrize("name", ASKED)
def test_every_reason_is_shown_and_translated(estimator: Estimator, name: str) -> None:
    _, choice = asked_for(estimator, ASKED[name])
    translation.set_language("pseudo")
    for option in choice.options:
        for part in join_messages(option.reasons).split("; "):
            assert re.match(r"⟦.*", part)


def test_names_of_plans_leave_out_degrees_of_one() -> None:
    assert format_plan(ParallelPlan()) == "TP 1"
    assert format_plan(ParallelPlan(4, dp=2)) == "TP 4 × DP 2"
    assert format_plan(ParallelPlan(8, 2, 8)) == "TP 8 × PP 2 + EP 8"
    assert format_plan(ParallelPlan(8, ep=8, attention_dp=True)) == "TP 8 + EP 8 + attention DP"


def test_plans_as_json(estimator: Estimator) -> None:
    estimate, choice = asked_for(estimator, ASKED["count left open"])
    fields = write_plan_choice_json(choice)
    assert list(fields[0]) == [
        "tp",
        "pp",
        "ep",
        "dp",
        "attention_dp",
        "fits",
        "output_tokens_per_s",
        "ttft_ms",
        "tpot_ms",
        "taken",
        "within_error",
        "reason",
    ]
    assert estimate.output_tokens_per_s is not None
    assert fields[0]["output_tokens_per_s"]["value"] == estimate.output_tokens_per_s.value
    assert fields[0]["taken"]
    assert fields[-1]["fits"] is False
    assert fields[-1]["output_tokens_per_s"] is None
    assert fields[-1]["reason"].startswith("does not fit: weights take 131")
