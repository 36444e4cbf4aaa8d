"""Inputs of plans: what a document may say, what holds without it, and where wrong ones are told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.purchasing.deferral_costs import compute_slip_curve
from gpudesk.decision.purchasing.plan_inputs import (
    ASSUMED_LAUNCH,
    NO_PART,
    PLAN_INPUTS,
    WHERE,
    find_bought_position,
    find_removed_key,
    find_split_positions,
    get_launch_months,
    get_slip,
    make_request_mix,
    make_wait_question,
    parse_plan,
    parse_plans,
)
from gpudesk.decision.purchasing.routing import list_mixing_rules
from gpudesk.documents.scenario_file import (
    format_scenario,
    parse_decision,
    read_scenario,
    read_template,
    write_decision_section,
)
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import AnswerValue, DecisionSettings
from gpudesk.domain.precision import Precision
from gpudesk.domain.progress import run_to_end
from gpudesk.domain.purchase import NEWEST_ACCELERATOR, DeferralVerdict
from gpudesk.domain.routing import RequestKind, RequestMix, RequestRateOrigin, RoutePlan
from gpudesk.report.decision.buy_or_wait import label_deferral_input
from gpudesk.report.decision.routing import label_routing_input
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError

TODAY = "2026-11-23"
H200, MI325X, B200, MI355X = range(4)


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return read_template("70b-chat-on-four")


def make_planned_scenario(scenario: Scenario, launch: float | None = None, **plans: AnswerValue) -> Scenario:
    answers: dict[str, AnswerValue] = {} if launch is None else {"months_to_launch": launch}
    return replace(scenario, decision=DecisionSettings(answers=answers, plans=plans))


def saying(scenario: Scenario, plans: dict[str, AnswerValue]) -> Scenario:
    return replace(scenario, decision=DecisionSettings(plans=plans))


# What a document may say


def numbers(name: str) -> st.SearchStrategy[AnswerValue]:
    spec = PLAN_INPUTS[name]
    if spec.words:
        return st.sampled_from(spec.words)
    if spec.bounds is None:
        return st.sampled_from(["h200-sxm", "mi455x"])
    low, high, above = spec.bounds
    if spec.whole:
        return st.integers(int(low), int(high))
    # Rates next to zero are refused as mistakes.
    return st.floats(max(low, 1e-9) if above else low, high, exclude_min=above)


@given(st.sampled_from(sorted(PLAN_INPUTS)).flatmap(lambda name: st.tuples(st.just(name), numbers(name))))
def test_every_input_is_read_as_it_was_written(values: tuple[str, AnswerValue]) -> None:
    name, value = values
    settings = DecisionSettings(plans={name: value})
    fields = json.loads(json.dumps(write_decision_section(settings)))
    assert parse_decision(fields) == settings


@pytest.mark.parametrize(
    ("plans", "where", "problem"),
    [
        ({"next_parts": "mi455x"}, "decision.plans", "field.unknown_near"),
        ({"months_to_next": "soon"}, "decision.plans.months_to_next", "field.type"),
        ({"months_to_next": -1}, "decision.plans.months_to_next", "field.range"),
        ({"months_to_next": True}, "decision.plans.months_to_next", "field.type"),
        ({"slip_high": 241}, "decision.plans.slip_high", "field.range"),
        ({"slip_low": 5, "slip_likely": 3}, "decision.plans.slip_likely", "costs.range"),
        ({"slip_likely": 9, "slip_high": 3}, "decision.plans.slip_likely", "costs.range"),
        ({"years": 0}, "decision.plans.years", "field.range"),
        ({"tokens_per_month": 0}, "decision.plans.tokens_per_month", "field.range_above"),
        ({"long_share": 1.2}, "decision.plans.long_share", "field.range"),
        ({"long_input_tokens": 1.5}, "decision.plans.long_input_tokens", "field.type"),
        ({"requests_per_s": 0}, "decision.plans.requests_per_s", "field.range_above"),
        ({"other_model_kind": "middling"}, "decision.plans.other_model_kind", "field.word"),
        ({"other_model_weights": "fp3"}, "decision.plans.other_model_weights", "field.word"),
        ({"competing_quote": "perhaps"}, "decision.plans.competing_quote", "field.word"),
        ({"vendor_a": ""}, "decision.plans.vendor_a", "field.empty"),
        ({"vendor_a": 1}, "decision.plans.vendor_a", "field.type"),
    ],
)
def test_impossible_value_is_reported_with_its_place(
    tmp_path: Path, scenario: Scenario, plans: dict[str, AnswerValue], where: str, problem: str
) -> None:
    with pytest.raises(InputError) as refused:
        parse_plans(WHERE, plans)
    error = refused.value
    assert (error.problem.id, (error.where or "").startswith(where)) == (problem, True)
    fields = json.loads(format_scenario(make_planned_scenario(scenario, buy_part="h200-sxm")))
    assert "buy_part" in json.dumps(fields)
    path = tmp_path / "wrong.gpudesk"
    path.write_text(json.dumps(fields).replace('{"buy_part": "h200-sxm"}', json.dumps(plans)), encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_scenario(path)
    assert where in (raised.value.where or "")


def test_empty_input_is_left_out() -> None:
    assert parse_plans(WHERE, {"next_part": None, "years": 4}) == {"years": 4.0}


def test_every_input_of_a_form_has_a_name() -> None:
    names = list(PLAN_INPUTS)
    deferral, routing = names.index("buy_part"), names.index("vendor_a")
    assert all(map(label_deferral_input, names[deferral:routing]))
    assert all(map(label_routing_input, names[routing : names.index("competing_quote")]))


def test_defaults_are_values_that_can_be_stated() -> None:
    for name, spec in PLAN_INPUTS.items():
        if spec.default is not None:
            assert parse_plan(name, spec.default) == spec.default


# Buying or waiting


def test_without_a_word_the_question_is_that_of_the_catalog(scenario: Scenario) -> None:
    question = make_wait_question(scenario, today=TODAY)
    assert (question.next_part, question.months_to_launch, question.today) == (
        NEWEST_ACCELERATOR,
        ASSUMED_LAUNCH,
        TODAY,
    )
    assert (question.slip_months, question.months_to_next, question.years) == (None, None, None)
    assert get_launch_months(scenario) == (ASSUMED_LAUNCH, False)


def test_launch_follows_the_dialog(scenario: Scenario) -> None:
    assert get_launch_months(make_planned_scenario(scenario, 3.0)) == (3.0, True)
    unknown = replace(scenario, decision=DecisionSettings(answers={"months_to_launch": "unknown"}))
    assert get_launch_months(unknown) == (ASSUMED_LAUNCH, False)


def test_user_inputs_reach_the_question(scenario: Scenario) -> None:
    planned = make_planned_scenario(
        scenario,
        next_part="b200-hgx",
        months_to_next=6,
        slip_low=1,
        slip_likely=2,
        slip_high=4,
        years=5,
        usd_per_month=900,
        tokens_per_month=1e9,
    )
    question = make_wait_question(planned, today=TODAY)
    assert question.next_part == "b200-hgx"
    assert question.months_to_next == UncertainValue.exactly(6.0)
    assert question.slip_months == UncertainValue(1.0, 2.0, 4.0)
    assert (question.years, question.tokens_per_month) == (5.0, 1e9)
    assert question.usd_per_month == UncertainValue.exactly(900.0)
    assert make_wait_question(make_planned_scenario(scenario, next_part=NO_PART), today=TODAY).next_part is None


@pytest.mark.parametrize(
    ("plans", "slip"),
    [
        ({}, None),
        ({"slip_likely": 3.0}, UncertainValue(0.0, 3.0, 6.0)),
        ({"slip_likely": 9.0}, UncertainValue(0.0, 9.0, 9.0)),
        ({"slip_low": 2.0}, UncertainValue(2.0, 2.0, 6.0)),
        ({"slip_high": 12.0}, UncertainValue(0.0, 0.0, 12.0)),
        ({"slip_low": 1.0, "slip_high": 3.0}, UncertainValue(1.0, 1.0, 3.0)),
    ],
)
def test_missing_ends_of_a_slip_follow_the_others(plans: dict[str, AnswerValue], slip: UncertainValue | None) -> None:
    assert get_slip(plans) == slip


def test_accelerator_to_buy_is_the_users_else_the_recommended(scenario: Scenario) -> None:
    assert find_bought_position(scenario) == H200
    assert find_bought_position(scenario, "b200-hgx") == B200
    assert find_bought_position(make_planned_scenario(scenario, buy_part="mi325x"), "b200-hgx") == MI325X


def test_a_column_that_is_not_compared_any_more_is_passed_over(scenario: Scenario) -> None:
    stale = make_planned_scenario(scenario, buy_part="gaudi3", vendor_a="gaudi3")
    assert find_bought_position(stale, "b200-hgx") == B200
    assert find_removed_key(stale, "buy_part") == "gaudi3"
    assert find_removed_key(scenario, "buy_part") is None
    assert find_split_positions(stale, vendor_of) == (H200, MI325X)


def test_deferral_analysis_names_the_verdict_of_the_document(service: GpuDeskService, scenario: Scenario) -> None:
    analysis = service.reference_data.buy_or_wait(
        make_planned_scenario(scenario, 3.0, next_part="b200-hgx"), H200, TODAY
    )
    assert (analysis.chosen, analysis.next_part, analysis.document) == ("h200-sxm", "b200-hgx", DeferralVerdict.BUY)
    assert analysis.months_to_launch == 3.0
    alone = service.reference_data.buy_or_wait(make_planned_scenario(scenario, next_part=NO_PART), H200, TODAY)
    assert alone.next_part is None


def test_models_tuned_for_the_next_part_are_known_from_the_dialogue(
    service: GpuDeskService, scenario: Scenario
) -> None:
    tuned = DecisionSettings(answers={"tuned_for": "cdna4", "months_to_launch": 9.0}, plans={"next_part": "mi355x"})
    analysis = service.reference_data.buy_or_wait(replace(scenario, decision=tuned), MI325X, TODAY)
    assert "D002-18" in [rule.rule for rule in analysis.rules]
    assert analysis.document is DeferralVerdict.WAIT
    has_it = service.reference_data.buy_or_wait(
        replace(scenario, decision=replace(tuned, plans={"next_part": "mi455x"})), MI325X, TODAY
    )
    assert "D002-18" not in [rule.rule for rule in has_it.rules]


@pytest.mark.parametrize(
    ("plans", "where", "problem"),
    [
        ({"next_part": "mi999x"}, "decision.plans.next_part", "catalog.unknown"),
        ({"next_part": "h200-sxm"}, "decision.plans.next_part", "buying.same"),
    ],
)
def test_impossible_next_accelerator_is_reported_by_its_input(
    service: GpuDeskService, scenario: Scenario, plans: dict[str, AnswerValue], where: str, problem: str
) -> None:
    with pytest.raises(InputError) as refused:
        service.reference_data.buy_or_wait(saying(scenario, plans), H200, TODAY)
    assert (refused.value.where, refused.value.problem.id) == (where, problem)


def test_the_curve_over_the_slip_goes_through_what_was_found(service: GpuDeskService, scenario: Scenario) -> None:
    with_slip = make_planned_scenario(
        scenario, 3.0, next_part="b200-hgx", months_to_next=6, slip_low=2, slip_likely=2, slip_high=2
    )
    analysis = service.reference_data.buy_or_wait(with_slip, H200, TODAY)
    points = {point.slip_months: point for point in compute_slip_curve(analysis)}
    assert analysis.sums is not None
    assert points[2.0].waiting_usd == pytest.approx(analysis.sums.waiting_usd.likely)
    assert points[2.0].gain_usd == pytest.approx(analysis.sums.gain_usd.likely)
    turn = analysis.turns.slip_months
    assert turn is not None
    crossed = [point.gain_usd - point.waiting_usd > 0.0 for point in compute_slip_curve(analysis)]
    slips = [point.slip_months for point in compute_slip_curve(analysis)]
    assert crossed == [slip < turn for slip in slips]
    assert slips[-1] > turn
    unpriced = service.reference_data.buy_or_wait(make_planned_scenario(scenario, next_part="mi355x"), H200, TODAY)
    assert compute_slip_curve(unpriced) == ()


# Two parts


def vendor_of(part: str) -> str:
    return "AMD" if part.startswith("mi") else "NVIDIA"


def test_two_parts_are_of_two_vendors_where_they_can_be(scenario: Scenario) -> None:
    def pair(*parts: str, **plans: AnswerValue) -> tuple[int, int]:
        columns = tuple(AcceleratorChoice(part) for part in parts)
        return find_split_positions(saying(replace(scenario, accelerators=columns), plans), vendor_of)

    assert pair("h200-sxm", "b200-hgx", "mi325x") == (0, 2)
    assert pair("h200-sxm", "b200-hgx") == (0, 1)
    assert pair("h200-sxm", "b200-hgx", "mi325x", vendor_b="b200-hgx") == (2, 1)
    assert pair("h200-sxm", "b200-hgx", "mi325x", vendor_a="mi325x") == (2, 0)
    assert pair("h200-sxm", "b200-hgx", "mi325x", vendor_a="b200-hgx", vendor_b="h200-sxm") == (1, 0)
    with pytest.raises(InputError) as refused:
        pair("h200-sxm")
    assert refused.value.problem.id == "plans.one_part"


def test_requests_are_those_stated(scenario: Scenario) -> None:
    assert make_request_mix(scenario) == (RequestMix(), None)
    planned = make_planned_scenario(
        scenario,
        long_share=0.5,
        long_input_tokens=9000,
        long_output_tokens=70,
        requests_per_s=4,
        other_model="llama-3.1-8b",
        other_model_kind="short",
        other_model_weights="fp16",
    )
    mix = RequestMix(0.5, 9000, 70, "llama-3.1-8b", RequestKind.SHORT, Precision.FP16)
    assert make_request_mix(planned) == (mix, 4.0)
    assert make_request_mix(make_planned_scenario(scenario, other_model_weights="fp16"))[0].weights is None


def test_routing_compares_all_plans_at_the_users_rate(service: GpuDeskService, scenario: Scenario) -> None:
    comparison = service.reference_data.routing(
        make_planned_scenario(scenario, vendor_b="b200-hgx", vendor_a="h200-sxm", requests_per_s=10)
    )
    assert comparison.keys == ("h200-sxm", "b200-hgx")
    assert (comparison.requests_per_s, comparison.rate_origin) == (10.0, RequestRateOrigin.YOURS)
    assert [plan.plan for plan in comparison.plans] == list(RoutePlan)


@pytest.mark.parametrize(
    ("plans", "where"),
    [
        ({"vendor_a": "h200-sxm", "vendor_b": "h200-sxm"}, "decision.plans.vendor_b"),
        ({"other_model": "llama-9"}, "decision.plans.other_model"),
    ],
)
def test_impossible_routing_is_reported_by_its_input(
    service: GpuDeskService, scenario: Scenario, plans: dict[str, AnswerValue], where: str
) -> None:
    with pytest.raises(InputError) as refused:
        service.reference_data.routing(saying(scenario, plans))
    assert refused.value.where == where


def test_rules_on_mixing_are_those_that_disagree_with_their_dates(service: GpuDeskService) -> None:
    rules = list_mixing_rules(service.decider.rules)
    assert [rule.id for rule in rules] == ["D002-07", "D002-20", "D000-21"]
    assert [rule.dated for rule in rules] == sorted(rule.dated or "" for rule in rules)
    assert all(rule.against for rule in rules)


def test_plans_in_steps_equal_direct_plans(service: GpuDeskService, scenario: Scenario) -> None:
    beside = service.reference_data
    assert run_to_end(beside.plan_deferral_in_steps(scenario, H200, TODAY)) == beside.buy_or_wait(scenario, H200, TODAY)
    assert run_to_end(beside.plan_routing_in_steps(scenario)).plans == beside.routing(scenario).plans
