"""The results of decisions in cases that documents answer, some of them wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from gpudesk.catalog.model_definition import to_canonical_json
from gpudesk.decision.facts.accelerator_facts import get_interval, get_number, list_timing_facts
from gpudesk.decision.outcome.decision import Decider
from gpudesk.domain.answer import AcceleratorChoice, Answer, Scenario
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import (
    COUNTED_IN_USE,
    COUNTED_WHOLE,
    QUESTIONS,
    SYSTEMS_COUNTED,
    AnswerValue,
    Decision,
    DecisionSettings,
    DecisionVerdict,
    FactorLevel,
    FactValue,
    RuleEffect,
    TraceLine,
    WayOutKind,
)
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.fleet import FleetSettings, SiteCooling
from gpudesk.domain.precision import Precision
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.domain.user_facts import FactEdit, UserModel
from gpudesk.report.decision.recommendation import list_decision_assumptions, list_removed_columns
from gpudesk.report.decision.verdict import describe_verdict_reason, describe_verdict_terms, format_verdict
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter, IntervalEstimate
from gpudesk.text.messages import message

DENSE_200B = "dense-200b"


@pytest.fixture(scope="module")
def service() -> Iterator[GpuDeskService]:
    """Return the shipped catalog with a dense model of 200 billion parameters next to it."""
    with GpuDeskService.open(with_user_facts=False) as opened:
        definition = dict(opened.catalog.definition("llama-3.1-405b"))
        definition |= {"id": DENSE_200B, "name": "Dense 200B"}
        definition["ffns"] = {"mlp": {**definition["ffns"]["mlp"], "intermediate_size": 52_608}}
        definition["layers"] = [{**definition["layers"][0], "count": 62}]
        model = UserModel(DENSE_200B, "Dense 200B", "Nobody", to_canonical_json(definition))
        opened.user_catalog.do(FactEdit(message("own.step.add", "Add {name}", name="Dense 200B"), after=(model,)))
        yield opened


def make_scenario(
    model: str = "llama-3.1-70b",
    parts: tuple[str, ...] = ("mi325x", "h200-sxm"),
    weights: Precision = Precision.FP8,
    tokens: tuple[int, int] = (1000, 1000),
    **answers: AnswerValue,
) -> Scenario:
    """Return a scenario with 16 requests in flight, counts left to the program, and answers."""
    load = Load(LoadKind.CONCURRENCY, concurrency=16)
    return Scenario(
        name="A case",
        model=model,
        weights=weights,
        kv=Precision.FP8 if weights is not Precision.FP16 else Precision.FP16,
        workload=Workload(*tokens, load),
        accelerators=tuple(AcceleratorChoice(part) for part in parts),
        decision=DecisionSettings(answers=answers),
    )


def decide(service: GpuDeskService, scenario: Scenario) -> Decision:
    return service.decide(service.answer(scenario))


def find_line(decision: Decision, rule: str) -> TraceLine:
    return next(each for each in decision.trace if each.rule.id == rule)


def list_effects(decision: Decision, rule: str) -> dict[str, RuleEffect]:
    line = find_line(decision, rule)
    return {key: cell.effect for key, cell in zip(decision.columns, line.cells, strict=True)}


def removed_by(decision: Decision) -> dict[str, set[str]]:
    return {each.key: set(each.removed) for each in decision.candidates if each.removed}


def test_200_billion_parameters_at_fp16_fit_no_single_accelerator_whatever_a_document_claims(
    service: GpuDeskService,
) -> None:
    scenario = make_scenario(DENSE_200B, weights=Precision.FP16, shape="one")
    decision = decide(service, scenario)
    assert decision.facts["weights_gb"] == pytest.approx(400.0, rel=0.01)
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert decision.recommended is None
    for key in ("mi325x", "h200-sxm"):
        assert {"D000-01", "D003-09"} <= removed_by(decision)[key]
    refused = find_line(decision, "D000-01").rule
    assert refused.disputes == ("D-023", "D-081", "D-082")
    assert refused.corrected is not None
    assert "400 GB" in refused.corrected


def test_counts_of_200_billion_parameters_at_fp16_are_those_of_the_memory(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario(DENSE_200B, weights=Precision.FP16, acquisition="rent"))
    counts = {key: cell.value for key, cell in zip(decision.columns, find_line(decision, "D004-05").cells, strict=True)}
    assert counts == {"mi325x": 2.0, "h200-sxm": 4.0}
    assert decision.recommended is not None
    assert decision.recommended.count == counts[decision.recommended.key]


def test_405b_at_fp8_takes_two_mi325x_or_four_h200(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario("llama-3.1-405b"))
    assert {key: part["count"] for key, part in zip(decision.columns, decision.parts, strict=True)} == {
        "mi325x": 2.0,
        "h200-sxm": 4.0,
    }
    assert list_effects(decision, "D001-01") == {"mi325x": RuleEffect.FAVORS, "h200-sxm": RuleEffect.NONE}


def test_tensorrt_llm_excludes_amd_accelerators(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario(serving_engine="tensorrt-llm"))
    assert removed_by(decision) == {"mi325x": {"D000-06"}}
    assert decision.verdict is DecisionVerdict.WINNER
    assert decision.recommended is not None
    assert decision.recommended.key == "h200-sxm"
    (excluded,) = decision.exclusions
    assert (excluded.key, excluded.rule.id) == ("mi325x", "D000-06")


def test_fp4_in_production_removes_the_mi300_family(service: GpuDeskService) -> None:
    parts = ("mi300x", "mi325x", "b200-hgx", "mi355x")
    decision = decide(service, make_scenario(parts=parts, precision="fp4"))
    assert removed_by(decision) == {"mi300x": {"D002-04"}, "mi325x": {"D002-04"}}


def test_memory_decides_long_contexts_of_70b_by_the_numbers(service: GpuDeskService) -> None:
    parts = "h200-sxm", "mi325x"
    scenario = make_scenario(parts=parts, tokens=(100_000, 16_000), long_context="yes", acquisition="rent")
    decision = decide(service, scenario)
    small, large = decision.candidates
    assert small.count is not None
    assert large.count is not None
    assert small.count > large.count
    for candidate, part in zip(decision.candidates, decision.parts, strict=True):
        room, needed = part["kv_room_gb"], part["kv_needed_gb"]
        assert isinstance(room, float)
        assert isinstance(needed, float)
        assert room >= needed * 1.1, candidate.key


def test_memory_weighs_nothing_for_a_small_model_and_a_small_team(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario("llama-3.1-8b", team="small", current_platform="CUDA"))
    by_memory = {"leads_memory", "leads_kv_room", "leads_count", "fits_alone", "leads_coverage"}
    for each in decision.trace:
        if each.case.favours is not None and by_memory & set(each.case.favours.split()):
            assert RuleEffect.FAVORS not in {cell.effect for cell in each.cells}, each.rule.id
    assert list_effects(decision, "D001-04")["h200-sxm"] is RuleEffect.FAVORS


def test_a_port_does_not_pay_back_below_a_thousand_rented_hours_a_month(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario(acquisition="rent", monthly_hours=900.0, current_platform="CUDA"))
    assert list_effects(decision, "D000-15") == {"mi325x": RuleEffect.NONE, "h200-sxm": RuleEffect.FAVORS}
    hours = dict(zip(decision.columns, decision.parts, strict=True))["mi325x"]["payback_hours"]
    assert isinstance(hours, float)
    assert hours > 900.0


def test_a_limit_inside_a_band_removes_nothing_and_one_beyond_it_does(service: GpuDeskService) -> None:
    answer = service.answer(make_scenario())
    estimate = answer.columns[0].estimate
    assert estimate is not None
    assert estimate.ttft_ms is not None
    band = estimate.ttft_ms
    open_case = service.decide(answer, {"ttft_limit_ms": band.value})
    assert list_effects(open_case, "L-01")["mi325x"] is RuleEffect.UNDECIDED
    assert open_case.candidates[0].open_rules == ("L-01",)
    assert open_case.candidates[0].odds > 0.0
    out = service.decide(answer, {"ttft_limit_ms": band.low * 0.5})
    assert list_effects(out, "L-01")["mi325x"] is RuleEffect.REMOVES


def test_unknown_facts_request_nothing(service: GpuDeskService) -> None:
    answer = service.answer(make_scenario())
    skipped = service.decide(answer, {"team": "unknown", "tuning": "unknown"})
    assert skipped.trace == service.decide(answer).trace
    assert {each.rule.id for each in skipped.trace}.isdisjoint({"D000-03", "D003-04", "D001-05"})


def test_weight_changes_only_its_arguments_and_no_odds(service: GpuDeskService) -> None:
    scenario = make_scenario(months_to_launch=3.0)
    decision = decide(service, scenario)
    heavy = replace(scenario, decision=replace(scenario.decision, weights={"D000-05": 5.0}))
    weighed = decide(service, heavy)
    assert (find_line(decision, "D000-05").weight, find_line(weighed, "D000-05").weight) == (0.0, 5.0)
    scores = {each.key: each.score for each in weighed.candidates}
    assert scores["h200-sxm"] > scores["mi325x"]
    assert [each.odds for each in weighed.candidates] == [each.odds for each in decision.candidates]


def test_tipping_points_change_the_verdict_when_applied(service: GpuDeskService) -> None:
    answer = service.answer(make_scenario())
    present = service.decide(answer)
    assert present.recommended is not None
    flips = service.flips(answer)
    assert flips
    for flip in flips:
        if flip.input not in QUESTIONS:
            continue
        after = service.decide(answer, {flip.input: flip.after})
        becomes = () if after.recommended is None else (after.recommended.key,)
        assert becomes == flip.becomes != (present.recommended.key,), flip.input


@pytest.mark.parametrize(("question", "value"), [("priority", "latency"), ("porting", "no"), ("tuning", "full")])
def test_brief_decision_has_the_recommendation_and_the_odds_of_the_full_one(
    service: GpuDeskService, question: str, value: str
) -> None:
    answer = service.answer(make_scenario(parts=("mi325x", "h200-sxm", "b200-hgx")))
    answers: dict[str, AnswerValue] = {"current_platform": "ROCm", question: value}
    full, brief = service.decider.decide(answer, answers), service.decider.decide(answer, answers, brief=True)
    assert (brief.recommended, brief.verdict, brief.tied_by) == (full.recommended, full.verdict, full.tied_by)
    assert [(each.merit, each.odds, each.removed) for each in brief.candidates] == [
        (each.merit, each.odds, each.removed) for each in full.candidates
    ]


def test_tipping_prices_are_located_in_few_decisions(service: GpuDeskService, monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs are linear in prices: halving a range of a factor of 30 to 2% takes eight decisions."""
    parts = ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi355x")
    scenario = make_scenario(parts=parts, priority="cost", acquisition="undecided")
    answer = service.answer(replace(scenario, demand=Demand(DemandKind.USERS, 2000.0)))
    prices: list[str] = []
    decide_trial = Decider.decide

    def count(
        self: Decider, answer: Answer, answers: Mapping[str, AnswerValue] | None = None, *, brief: bool = False
    ) -> Decision:
        prices.extend(answer.scenario.costs.parts)
        return decide_trial(self, answer, answers, brief=brief)

    monkeypatch.setattr(Decider, "decide", count)
    flips = [each.input for each in service.flips(answer) if each.input not in (*QUESTIONS, SYSTEMS_COUNTED)]
    assert len(flips) >= 8
    assert len(prices) <= 6 * len(set(flips))


def test_no_budget_is_a_flip_where_the_leader_has_no_price(service: GpuDeskService) -> None:
    """Every budget rules out MI355X as long as its price is unknown: none is the point where that begins."""
    parts = ("mi355x", "mi325x", "h200-sxm")
    answer = service.answer(make_scenario(parts=parts, priority="users", acquisition="own"))
    present = service.decide(answer)
    assert present.recommended is not None
    assert present.recommended.key == "mi355x"
    assert "budget_usd" not in [each.input for each in service.flips(answer)]


def test_paying_for_whole_systems_or_for_those_in_use_is_a_flip_where_it_changes_the_leader(
    service: GpuDeskService,
) -> None:
    scenario = make_scenario(parts=("mi325x", "b200-hgx"), tokens=(4000, 1000))
    answer = service.answer(replace(scenario, demand=Demand(DemandKind.USERS, 1000.0)))
    whole = service.decide(answer)
    flip = service.flips(answer)[0]
    assert (flip.input, flip.before, flip.after) == (SYSTEMS_COUNTED, COUNTED_WHOLE, COUNTED_IN_USE)
    costs = replace(answer.scenario.costs, single_accelerators=True)
    shared = service.decide(replace(answer, scenario=replace(answer.scenario, costs=costs)))
    assert whole.recommended is not None
    assert shared.recommended is not None
    assert flip.becomes == (shared.recommended.key,) != (whole.recommended.key,)


def test_flips_with_a_new_winner_come_first(service: GpuDeskService) -> None:
    flips = service.flips(service.answer(make_scenario(priority="cost")))
    outcomes = [bool(each.becomes) for each in flips]
    assert set(outcomes) == {True, False}
    assert outcomes == sorted(outcomes, reverse=True)


def test_prices_that_only_bring_another_tie_come_after_answers(service: GpuDeskService) -> None:
    parts = ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi355x")
    flips = [each for each in service.flips(service.answer(make_scenario(parts=parts))) if each.becomes]
    ties = [each.verdict is DecisionVerdict.OPEN and each.input not in QUESTIONS for each in flips]
    assert set(ties) == {True, False}
    assert ties == sorted(ties)


def test_costs_that_decide_nothing_are_compared_in_one_way_to_pay(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario(parts=("h200-sxm", "mi355x", "b200-hgx"), priority="speed"))
    costs = [each for each in (*decision.reasons, *decision.against) if (each.fact or "").endswith("usd_per_million")]
    assert costs
    for each in costs:
        assert each.fact in ("owned_usd_per_million", "rented_usd_per_million")
        other = decision.parts[decision.columns.index(each.other or "")]
        assert each.theirs == other[each.fact]


def test_shares_add_up_and_are_the_same_each_time(service: GpuDeskService) -> None:
    answer = service.answer(make_scenario())
    one, other = service.decide(answer), service.decide(answer)
    assert one == other
    assert sum(each.odds for each in one.candidates) == pytest.approx(1.0)


def test_announced_accelerator_needs_consent_to_wait(service: GpuDeskService) -> None:
    scenario = make_scenario(parts=("h200-sxm", "vera-rubin-nvl72"))
    assert removed_by(decide(service, scenario)) == {"vera-rubin-nvl72": {"L-04"}}
    waiting = replace(scenario, decision=DecisionSettings(answers={"waiting": "priced"}))
    assert "L-04" not in removed_by(decide(service, waiting)).get("vera-rubin-nvl72", set())


def test_site_excludes_systems_beyond_its_cooling_or_power(service: GpuDeskService) -> None:
    scenario = make_scenario(parts=("h200-sxm", "gb300-nvl72", "b200-hgx", "l40s"))
    hot = replace(scenario, fleet=FleetSettings(cooling=SiteCooling.AIR))
    assert removed_by(decide(service, hot)) == {"gb300-nvl72": {"L-06"}}
    weak = replace(scenario, fleet=FleetSettings(cooling=SiteCooling.LIQUID, kw_per_rack=10.15))
    assert removed_by(decide(service, weak)) == {"gb300-nvl72": {"L-07"}, "b200-hgx": {"L-07"}}
    strong = replace(scenario, fleet=FleetSettings(kw_per_rack=140.0))
    assert removed_by(decide(service, strong)) == {}
    rented = replace(hot, decision=DecisionSettings(answers={"acquisition": "rent"}))
    assert removed_by(decide(service, rented)) == {}


def test_power_that_is_not_published_decides_with_its_likely_value(service: GpuDeskService) -> None:
    scenario = make_scenario(parts=("mi300x", "h200-sxm"))
    tight = decide(service, replace(scenario, fleet=FleetSettings(kw_per_rack=11.5)))
    assert list_effects(tight, "L-07") == {"mi300x": RuleEffect.UNDECIDED, "h200-sxm": RuleEffect.PASSES}
    tighter = decide(service, replace(scenario, fleet=FleetSettings(kw_per_rack=10.5)))
    assert removed_by(tighter) == {"mi300x": {"L-07"}}
    weak = decide(service, replace(scenario, fleet=FleetSettings(kw_per_rack=5.0)))
    assert removed_by(weak) == {"mi300x": {"L-07"}, "h200-sxm": {"L-07"}}


def test_likely_miss_of_a_limit_excludes(service: GpuDeskService) -> None:
    """An interval that contains the limit does not hide why no candidate is left."""
    scenario = make_scenario(parts=("h200-sxm", "mi300x"), acquisition="rent")
    one = replace(scenario, accelerators=tuple(replace(choice, count=1) for choice in scenario.accelerators))
    figures = [get_interval(part, "ttft_ms") for part in decide(service, one).parts]
    assert None not in figures
    limit = 0.97 * min(each.value for each in figures if each is not None)
    assert all(each.low < limit < each.value for each in figures if each is not None)
    limited = replace(one, decision=DecisionSettings(answers={"acquisition": "rent", "ttft_limit_ms": limit}))
    decision = decide(service, limited)
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert removed_by(decision) == {"h200-sxm": {"L-01"}, "mi300x": {"L-01"}}
    assert [each.holds for exclusion in decision.exclusions for each in exclusion.because] == [False, False]
    assert WayOutKind.COUNT in {way.kind for way in decision.ways_out}


def test_late_delivery_excludes_buying(service: GpuDeskService) -> None:
    scenario = make_scenario(parts=("b200-hgx", "h200-sxm"), acquisition="own")
    late = replace(scenario, fleet=FleetSettings(months_to_live=6.0))
    decision = decide(service, late)
    assert decision.facts["months_to_launch"] == 6.0
    assert removed_by(decision) == {"b200-hgx": {"L-08"}, "h200-sxm": {"L-08"}}
    assert decision.ways_out[0].kind is WayOutKind.RENT
    # No delivery time of H200 SXM is on record: systems like it take 6.9 to 10 months.
    later = decide(service, replace(scenario, fleet=FleetSettings(months_to_live=9.0)))
    assert removed_by(later) == {}
    assert list_effects(later, "L-08") == {"b200-hgx": RuleEffect.PASSES, "h200-sxm": RuleEffect.UNDECIDED}
    answered = replace(late, decision=DecisionSettings(answers={"acquisition": "own", "months_to_launch": 12.0}))
    assert removed_by(decide(service, answered)) == {}


def test_a_candidate_states_the_systems_that_are_bought(service: GpuDeskService) -> None:
    scenario = make_scenario(parts=("h200-sxm", "l40s"), acquisition="own")
    h200, l40s = decide(service, scenario).candidates
    assert h200.count is not None
    assert h200.systems is not None
    assert (h200.systems.size, h200.systems.used) == (8, h200.count)
    assert l40s.systems is None


def replace_load(scenario: Scenario, load: Load) -> Scenario:
    return replace(scenario, workload=replace(scenario.workload, load=load))


def test_unsupported_accelerator_is_not_recommended(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario("llama-3.1-405b", parts=("tpu-v5e",)))
    assert removed_by(decision)["tpu-v5e"] >= {"D004-03"}
    assert decision.verdict is DecisionVerdict.NONE_FITS


@pytest.mark.parametrize(
    "load", [Load(LoadKind.LIMITS, ttft_ms=1.0, tpot_ms=1.0), Load(LoadKind.REQUEST_RATE, request_rate=500.0)]
)
def test_overloaded_accelerator_is_not_recommended(service: GpuDeskService, load: Load) -> None:
    scenario = replace_load(make_scenario(), load)
    fixed = replace(scenario, accelerators=tuple(replace(choice, count=1) for choice in scenario.accelerators))
    decision = decide(service, fixed)
    assert all("L-05" in each.removed for each in decision.candidates)
    assert decision.verdict is DecisionVerdict.NONE_FITS


def test_the_order_of_columns_decides_nothing(service: GpuDeskService) -> None:
    load = Load(LoadKind.LIMITS, ttft_ms=3000.0, tpot_ms=60.0)
    parts = ("h100-sxm", "mi300x", "l40s")
    orders = (parts, parts[::-1], (parts[1], parts[0], parts[2]))
    decisions = [
        decide(service, replace_load(make_scenario(parts=order, tokens=(6000, 600)), load)) for order in orders
    ]
    shares = [{each.key: each.odds for each in decision.candidates} for decision in decisions]
    assert shares[0] == pytest.approx(shares[1])
    assert shares[0] == pytest.approx(shares[2])


def test_a_dear_rival_makes_no_port_pay(service: GpuDeskService) -> None:
    hours = [
        dict(zip(decision.columns, decision.parts, strict=True))["mi325x"]["payback_hours"]
        for parts in (("h200-sxm", "mi325x"), ("h200-sxm", "mi325x", "h100-sxm"))
        for decision in (decide(service, make_scenario(parts=parts, acquisition="rent", monthly_hours=20_000.0)),)
    ]
    assert hours[0] == hours[1]


def test_who_is_out_sets_no_measure(service: GpuDeskService) -> None:
    two = decide(service, make_scenario(parts=("h200-sxm", "b200-hgx"), site="hgx"))
    three = decide(service, make_scenario(parts=("h200-sxm", "b200-hgx", "l4"), site="hgx"))
    assert removed_by(three) == {"l4": {"D004-06"}}
    assert [each.score for each in three.candidates[:2]] == [each.score for each in two.candidates]


def test_where_none_remains_the_factors_still_compare_all(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario(ttft_limit_ms=1.0))
    assert decision.verdict is DecisionVerdict.NONE_FITS
    levels = {factor.id: [cell.level for cell in factor.cells] for factor in decision.factors}
    assert levels["experts"] == [FactorLevel.PREFERRED, FactorLevel.CAPABLE], "256 GB compared with 141 GB"


def test_no_part_that_is_only_announced_starts_today(service: GpuDeskService) -> None:
    scenario = make_scenario(parts=("h200-sxm", "vera-rubin-nvl72"), waiting="priced", months_to_launch=0.0)
    assert removed_by(decide(service, scenario)) == {"vera-rubin-nvl72": {"L-04"}}


def test_another_platform_than_the_common_two_is_not_ported_to_itself(service: GpuDeskService) -> None:
    scenario = make_scenario(parts=("tpu-v6e", "h200-sxm"), current_platform="other", porting="no")
    assert removed_by(decide(service, scenario)) == {"h200-sxm": {"D000-10"}}


def test_a_limit_that_is_not_set_has_the_nearest_flip(service: GpuDeskService) -> None:
    # With counts left open a tighter limit takes more of each, and the order may stay.
    scenario = make_scenario()
    one = replace(scenario, accelerators=tuple(replace(choice, count=1) for choice in scenario.accelerators))
    answer = service.answer(one)
    flip = next(each for each in service.flips(answer) if each.input == "tpot_limit_ms")
    assert isinstance(flip.after, float)
    lead = service.decide(answer).recommended
    looser = service.decide(answer, {"tpot_limit_ms": flip.after * 1.1}).recommended
    assert lead is not None
    assert looser is not None
    assert looser.key == lead.key


def test_accelerator_that_arrives_after_the_launch_is_compared_as_rented(service: GpuDeskService) -> None:
    answer = service.answer(make_scenario(parts=("h200-sxm", "h200-nvl"), priority="cost", site="open"))
    payments = {
        months: [each.payment for each in service.decide(answer, {"months_to_launch": months}).candidates]
        for months in ("unknown", 12.0, 2.0, 0.5)
    }
    # Cards usually arrive in weeks, systems in months.
    assert payments["unknown"] == payments[12.0]
    assert payments[2.0] == ["rented", payments[12.0][1]]
    assert payments[0.5] == ["rented", "rented"]
    assert "owned" in payments[12.0]
    bought = service.decide(answer, {"months_to_launch": 0.5, "acquisition": "own"})
    assert [part["arrives_late"] for part in bought.parts] == [True, True]
    assert removed_by(bought) == {"h200-sxm": {"L-08"}, "h200-nvl": {"L-08"}}


def test_time_to_production_needs_an_offer_or_a_delivery(service: GpuDeskService) -> None:
    """No one rents out MI350P; an announced accelerator is delivered after its release."""
    answer = service.answer(make_scenario(parts=("mi350p", "h200-sxm"), priority="certainty"))
    months = {
        way: [get_number(part, "months_to_production") for part in service.decide(answer, {"acquisition": way}).parts]
        for way in ("rent", "undecided", "own")
    }
    assert months["rent"] == [None, 0.0]
    assert months["undecided"] == [months["own"][0], 0.0]
    assert min(each or 0.0 for each in months["own"]) > 0.0
    part: dict[str, FactValue] = {"announced": True, "available": "2027-03", "delivery_months": 4.0}
    timing = list_timing_facts(part, "2026-12-01", None, "own")
    assert timing["months_to_production"] == IntervalEstimate(7.5, 7.0, 8.0)
    for planned, wait in (("2026-H2", IntervalEstimate(4.5, 4.0, 5.0)), ("2026-Q3", None), ("soon", None)):
        timing = list_timing_facts({**part, "available": planned}, "2026-12-01", None, "own")
        assert timing["months_to_production"] == wait


def test_what_is_there_first_is_rented_and_says_how_it_is_paid_for(service: GpuDeskService) -> None:
    """Time is not money: no cost is compared, nothing is measured, and a planned half of a year is named."""
    answer = service.answer(make_scenario(parts=("b200-hgx", "mi355x", "mi455x"), priority="certainty"))
    names = {key: key for key in answer.keys}
    decision = service.decide(answer)
    assert [each.payment for each in decision.candidates if each.eligible] == ["rented", "rented"]
    assert format_verdict(decision, names, Formatter()).startswith("Rent ")
    assert decision.pilot is None
    assert [each.like_for_like for each in decision.candidates] == [None] * 3
    waiting: dict[str, AnswerValue] = {
        "priority": "certainty",
        "acquisition": "own",
        "waiting": "yes",
        "months_to_launch": 24.0,
    }
    decision = service.decide(answer, waiting)
    assert get_interval(decision.parts[2], "months_to_production") is not None
    lines = list(list_decision_assumptions(decision, names, Formatter()))
    assert "mi455x is planned for 2026-H2; the middle of the remaining time is counted" in lines
    terms = describe_verdict_terms(decision, names, Formatter())
    assert " sold in systems of 8. " in terms
    assert "costs count" not in terms


def test_one_of_several_with_a_price_is_not_the_only_one_within_the_limits(service: GpuDeskService) -> None:
    scenario = make_scenario(parts=("b300-hgx", "mi350p", "trainium2"), priority="cost", acquisition="own")
    decision = decide(service, scenario)
    names = {each: each for each in decision.columns}
    assert removed_by(decision).keys() == {"trainium2"}
    assert format_verdict(decision, names, Formatter()).endswith("(the only one with a known price)")
    limited = decide(service, replace(scenario, accelerators=(scenario.accelerators[0], scenario.accelerators[2])))
    assert format_verdict(limited, names, Formatter()).endswith("(the only one that meets every limit)")


def test_a_model_without_dimensions_has_no_figures_rather_than_missed_limits(service: GpuDeskService) -> None:
    decision = decide(service, make_scenario("devstral-2-123b"))
    names = {each: each for each in decision.columns}
    assert format_verdict(decision, names, Formatter()) == "No recommendation: figures are missing"
    assert len(list(list_removed_columns(decision, names, Formatter()))) == 1


def test_ports_of_all_that_a_verdict_names_are_stated(service: GpuDeskService) -> None:
    decision = decide(
        service,
        make_scenario("mistral-large-2-123b", ("mi355x", "h200-sxm"), priority="latency", current_platform="ROCm"),
    )
    names = {each: each for each in decision.columns}
    reason = describe_verdict_reason(decision, names, Formatter())
    assert decision.verdict is DecisionVerdict.OPEN
    assert "h200-sxm needs your software ported." in reason
    assert "Without porting" not in reason


def test_unset_limits_begin_to_matter_at_a_round_number_close_to_the_change(service: GpuDeskService) -> None:
    parts = ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x", "mi355x")
    scenario = make_scenario(parts=parts, priority="cost", acquisition="rent")
    answer = service.answer(replace(scenario, demand=Demand(DemandKind.USERS, 3000.0)))
    lead = service.decide(answer).recommended
    assert lead is not None
    flips = [each for each in service.flips(answer) if each.input in ("ttft_limit_ms", "tpot_limit_ms")]
    assert flips
    for flip in flips:
        assert isinstance(flip.after, float)
        assert flip.after == float(f"{flip.after:.4g}")
        looser = service.decide(answer, {**scenario.decision.answers, flip.input: flip.after * 1.02}).recommended
        assert looser is not None
        assert looser.key == lead.key


def test_a_price_changes_the_costs_of_its_accelerator_alone(service: GpuDeskService) -> None:
    answer = service.answer(make_scenario(parts=("h200-sxm", "mi325x")))
    costs = answer.scenario.costs.with_input("price_usd", UncertainValue.exactly(20_000.0), "mi325x")
    changed = replace(answer, scenario=replace(answer.scenario, costs=costs))
    before, after = service.costing.costs(answer).columns, service.costing.costs(changed).columns
    assert after[0] is before[0]
    assert after[1].inputs["price_usd"].spread == UncertainValue.exactly(20_000.0)
    assert before[1] == service.costing.costs(answer).columns[1] != after[1]


def test_as_many_are_bought_as_the_budget_pays_for(service: GpuDeskService) -> None:
    """More of them answer faster, but those that no budget pays for must not stand for the few that it does."""
    answers = {"acquisition": "own", "priority": "latency", "current_platform": "CUDA"}
    scenario = make_scenario("qwen3-32b", ("l40s", "mi210"), Precision.FP16, (1000, 1000), **answers)
    most = [get_number(part, "spend_usd") or 0.0 for part in decide(service, scenario).parts]

    def count(budget: float, scenario: Scenario = scenario) -> list[int | None]:
        decision = service.decide(service.answer(scenario), {**answers, "budget_usd": budget})
        spends = [get_number(part, "spend_usd") or 0.0 for part in decision.parts]
        assert [each.eligible for each in decision.candidates] == [spend <= budget for spend in spends]
        return [each.count for each in decision.candidates]

    assert count(most[1]) == [8, 8]
    # Porting to ROCm is paid from the same budget.
    assert count(most[1] - 1.0) == [8, 4]
    assert count(most[0] / 2.0) == [4, 2]
    # A lower price buys more of them for the same budget.
    cheaper = scenario.costs.with_input("price_usd", UncertainValue.exactly(3_000.0), "l40s")
    assert count(most[0] / 2.0, replace(scenario, costs=cheaper)) == [8, 2]


def test_more_than_one_machine_is_taken_for_speed_only_if_the_model_needs_it(service: GpuDeskService) -> None:
    """A rack is compared with machines of eight by as many accelerators, unless the model needs more."""
    scenario = make_scenario("deepseek-r1", ("gb200-nvl72", "mi355x"), Precision.FP8, (1024, 1024), priority="latency")
    scenario = replace(scenario, workload=replace(scenario.workload, load=Load(LoadKind.CONCURRENCY, concurrency=192)))
    decision = decide(service, scenario)
    assert [each.count for each in decision.candidates] == [8, 8]

    wide = replace(scenario, weights=Precision.BF16, model="kimi-k2", accelerators=(AcceleratorChoice("gb200-nvl72"),))
    (rack,) = decide(service, wide).candidates

    def seconds(count: int) -> float:
        (column,) = service.answer(replace(wide, accelerators=(AcceleratorChoice("gb200-nvl72", count=count),))).columns
        assert column.estimate is not None
        assert column.estimate.request_s is not None
        return column.estimate.request_s.value

    assert rack.count is not None
    assert rack.count > 8
    assert seconds(rack.count) < 0.8 * seconds(rack.count // 2)


def test_few_accelerators_of_a_bought_rack_do_not_lead_by_a_small_gain_in_speed(service: GpuDeskService) -> None:
    """GB300 answers four long requests 9% faster than B300, but is sold in racks of 72 at nine times the cost."""
    parts = ("gb300-nvl72", "b300-hgx", "b200-hgx")
    scenario = make_scenario(
        "llama-3.1-405b", parts, Precision.FP8, (100_000, 1_000), priority="latency", acquisition="own"
    )
    scenario = replace(scenario, workload=replace(scenario.workload, load=Load(LoadKind.CONCURRENCY, concurrency=4)))
    decision = decide(service, scenario)
    rack, single, _ = decision.candidates
    assert rack.value is not None
    assert single.value is not None
    assert rack.lots is not None
    assert rack.lots.accelerators == 72
    assert rack.value.value < single.value.value
    assert (decision.recommended and decision.recommended.key, decision.tied_by) == ("b300-hgx", "gb300-nvl72")
    names, formatter = {"gb300-nvl72": "GB300", "b300-hgx": "B300", "b200-hgx": "B200"}, Formatter()
    assert "GB300" not in format_verdict(decision, names, formatter)
    assert "GB300 costs 9.3 times as much per token." in describe_verdict_reason(decision, names, formatter)


def test_recommendation_that_needs_porting_names_the_best_without(service: GpuDeskService) -> None:
    scenario = make_scenario(
        "llama-3.1-405b", ("b300-hgx", "mi355x"), Precision.FP8, priority="latency", current_platform="ROCm"
    )
    names, formatter = {"b300-hgx": "B300", "mi355x": "MI355X"}, Formatter()
    reason = describe_verdict_reason(decide(service, scenario), names, formatter)
    assert re.search(r"B300 needs your software ported\. Without porting: 8 × MI355X, \d+\.\d s\.", reason)
    at_home = replace(scenario, decision=DecisionSettings({**scenario.decision.answers, "current_platform": "CUDA"}))
    assert "port" not in describe_verdict_reason(decide(service, at_home), names, formatter)


def test_nearly_as_fast_and_much_cheaper_accelerator_is_named(service: GpuDeskService) -> None:
    scenario = make_scenario(
        "llama-3.1-70b", ("b200-hgx", "mi325x"), Precision.FP8, (1000, 500), priority="latency", acquisition="rent"
    )
    decision = decide(
        service,
        replace(
            scenario, costs=scenario.costs.with_input("rent_usd_per_hour", UncertainValue.exactly(20.0), "b200-hgx")
        ),
    )
    assert decision.recommended is not None
    assert decision.recommended.key == "b200-hgx"
    words = describe_verdict_reason(decision, {"b200-hgx": "B200", "mi325x": "MI325X"}, Formatter())
    assert re.search(r"\d × MI325X takes \d+% longer at \d+% of the cost\.", words.replace("\N{NO-BREAK SPACE}", " "))


def test_demand_beyond_the_budget_shows_its_cost(service: GpuDeskService) -> None:
    scenario = make_scenario("llama-3.1-70b", ("h100-sxm", "mi325x"), Precision.FP8, (1000, 500), acquisition="own")
    scenario = replace(scenario, demand=Demand(DemandKind.USERS, 2_000.0))
    spends = [get_number(part, "spend_usd") or 0.0 for part in decide(service, scenario).parts]
    assert max(spends) > 100_000.0

    def sizes(budget: float) -> tuple[list[bool], list[bool]]:
        answers = {**scenario.decision.answers, "budget_usd": budget}
        limited = replace(scenario, decision=DecisionSettings(answers))
        notes = [[note.id for note in each.notes] for each in service.size(limited).candidates]
        eligible = [each.eligible for each in decide(service, limited).candidates]
        return ["sizing.over_budget" in each for each in notes], eligible

    assert sizes(max(spends)) == ([False, False], [True, True])
    assert sizes(min(spends) / 2.0) == ([True, True], [False, False])


def test_old_release_may_no_longer_be_sold_new(service: GpuDeskService) -> None:
    answers = {"priority": "cost", "acquisition": "own"}
    scenario = make_scenario("llama-3.1-8b", ("t4", "l4"), Precision.INT8, (800, 300), **answers)
    old, new = decide(service, scenario).candidates
    assert "old_release" in old.doubts
    assert "old_release" not in new.doubts
    rented = decide(
        service, make_scenario("llama-3.1-8b", ("t4", "l4"), Precision.INT8, (800, 300), acquisition="rent")
    )
    assert "old_release" not in rented.candidates[0].doubts
    assert "t4" not in {each.accelerator for each in service.shortlist(scenario).accelerators}


def test_much_cheaper_purchase_is_named(service: GpuDeskService) -> None:
    """One user is served by a desktop at a quarter of the price, whose tokens cost little more."""
    answers = {"priority": "cost", "acquisition": "own"}
    scenario = make_scenario(
        "gpt-oss-120b", ("rtx-pro-6000-blackwell", "gb10"), Precision.MXFP4, (1500, 600), **answers
    )
    scenario = replace(scenario, workload=replace(scenario.workload, load=Load(LoadKind.CONCURRENCY, concurrency=1)))
    decision = decide(service, scenario)
    assert decision.recommended is not None
    assert decision.recommended.accelerator == "rtx-pro-6000-blackwell"
    names = {"rtx-pro-6000-blackwell": "RTX PRO", "gb10": "GB10"}
    words = describe_verdict_reason(decision, names, Formatter())
    assert re.match(r"1 × GB10 costs 2\d% as much to buy and \d+% more per token\.", words)
    terms = describe_verdict_terms(decision, names, Formatter())
    # In whole dollars, as among the key figures.
    assert re.search(r"Up-front cost with network: \$\d\d,\d{3} \(RTX PRO\)\.", terms)


def test_every_limit_that_rules_out_all_is_named_with_the_best_value(service: GpuDeskService) -> None:
    scenario = make_scenario(
        "llama-3.1-405b", ("h200-sxm", "b200-hgx"), Precision.FP8, ttft_limit_ms=20.0, tpot_limit_ms=1.0
    )
    decision = decide(service, scenario)
    words = describe_verdict_reason(replace(decision, ways_out=()), {"h200-sxm": "H", "b200-hgx": "B"}, Formatter())
    assert words.startswith("“TTFT limit” and “TPOT limit” each rule out all 2: relax them")
    assert re.search(
        r"Best reached: time to first token [\d,.]+\sms \(B\), time per output token [\d.]+\sms \(B\)\.$", words
    )


def test_ways_out_of_a_demand_keep_its_spares(service: GpuDeskService) -> None:
    answers: dict[str, AnswerValue] = {"priority": "cost", "acquisition": "own", "budget_usd": 150_000.0}
    scenario = make_scenario("llama-3.1-70b", ("h100-sxm", "mi300x"), Precision.FP8, (1000, 400), **answers)
    scenario = replace(scenario, demand=Demand(DemandKind.USERS, 300.0, tpot_ms=60.0))
    ways = decide(service, scenario).ways_out
    assert any(way.kind is WayOutKind.ACCELERATOR for way in ways)
    for way in ways:
        if way.kind is WayOutKind.ACCELERATOR:
            request = way.estimate.request
            others = replace(scenario, accelerators=(AcceleratorChoice(request.accelerator),), weights=request.weights)
            (sized,) = service.size(others).candidates
            assert sized.count is not None
            assert way.estimate.count >= sized.count >= 2, "one works, one is spare"


def test_interactive_service_prefers_the_faster_at_equal_cost(service: GpuDeskService) -> None:
    """A larger bill for the same cost per token buys speed, which is worth nothing to a batch."""
    answers = {"priority": "cost", "acquisition": "rent"}
    scenario = make_scenario(
        "llama-3.3-70b", ("b200-hgx", "rtx-pro-6000-blackwell"), Precision.FP4, (2000, 500), **answers
    )
    scenario = replace(scenario, workload=replace(scenario.workload, load=Load(LoadKind.CONCURRENCY, concurrency=72)))

    def lead(work: str) -> str:
        decision = service.decide(service.answer(scenario), {**answers, "service": work})
        assert decision.recommended is not None
        return decision.recommended.key

    assert lead("interactive") == "b200-hgx"
    assert lead("offline") == "rtx-pro-6000-blackwell"
