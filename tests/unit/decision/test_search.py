"""Shortlists of the whole catalog, and which question to answer next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.decision import AnswerValue, DecisionSettings, DecisionVerdict, WayOutKind
from gpudesk.domain.estimate import Estimate, EstimateRequest, Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.progress import run_to_end
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError
from tests.fakes import replace_data_path


def make_scenario(model: str, *parts: str, in_flight: int = 10, **answers: AnswerValue) -> Scenario:
    return Scenario(
        name="A case",
        model=model,
        weights=Precision.FP8,
        kv=Precision.FP8,
        workload=Workload(800, 300, Load(LoadKind.CONCURRENCY, concurrency=in_flight)),
        accelerators=tuple(map(AcceleratorChoice, parts)),
        decision=DecisionSettings(answers=answers),
    )


@pytest.mark.parametrize("priority", ["cost", "speed", "users"])
def test_a_shortlist_has_the_best_of_the_catalog(service: GpuDeskService, priority: str) -> None:
    shortlist = service.shortlist(make_scenario("llama-3.1-70b", priority=priority))
    assert 2 <= len(shortlist.accelerators) <= 6
    assert all(choice.count for choice in shortlist.accelerators)
    best = service.decide(service.answer(shortlist))
    listed = {choice.accelerator for choice in shortlist.accelerators}
    for part in service.catalog.accelerators():
        if part.id not in listed:
            other = replace(shortlist, accelerators=(*shortlist.accelerators[:5], AcceleratorChoice(part.id)))
            assert service.decide(service.answer(other)).recommended == best.recommended, part.id


def test_a_shortlist_leaves_out_what_costs_many_times_as_much(service: GpuDeskService) -> None:
    scenario = make_scenario("llama-3.1-70b", in_flight=64, current_platform="ROCm", acquisition="own")
    decision = service.decide(service.answer(service.shortlist(scenario)))
    costs = sorted(each.value.value for each in decision.candidates if each.value is not None)
    assert 3 <= len(costs) < 6
    assert all(cost < 5.0 * costs[0] for cost in costs[:-1]), "porting to other platforms costs more than hardware"
    assert decision.recommended is not None
    assert service.catalog.accelerator(decision.recommended.accelerator).vendor == "AMD"


def test_a_shortlist_does_not_rest_on_a_price_of_years_ago(service: GpuDeskService) -> None:
    """The only price of Gaudi 2 is of 2022, which would make it the cheapest, and which no seller asks today."""
    scenario = make_scenario("llama-3.3-70b", priority="cost", acquisition="own", ttft_limit_ms=300.0)
    scenario = replace(scenario, demand=Demand(DemandKind.USERS, 200.0, ttft_ms=300.0, tpot_ms=50.0))
    shortlist = service.shortlist(scenario)
    gaudi = AcceleratorChoice("gaudi2", 8, tp=4, dp=2)
    named = replace(shortlist, accelerators=(*shortlist.accelerators[:-1], gaudi))
    candidate = service.decide(service.answer(named)).candidates[-1]
    assert candidate.payment == "owned"
    assert candidate.odds > 0.2
    assert "gaudi2" not in {choice.accelerator for choice in shortlist.accelerators}


def test_few_users_of_a_small_model_need_no_large_accelerator(service: GpuDeskService) -> None:
    """Fifty people ask for so many tokens and no more: what carries that for the least money is found.

    The spare that the size counts stays a replica; it is not merged into a larger one.
    """
    scenario = make_scenario("llama-3.1-8b", priority="cost", acquisition="rent")
    demand = Demand(DemandKind.USERS, 50.0, ttft_ms=2000.0, tpot_ms=60.0)
    shortlist = service.shortlist(replace(scenario, demand=demand))
    decision = service.decide(service.answer(shortlist))
    lead = decision.recommended
    assert lead is not None
    assert service.catalog.accelerator(lead.accelerator).memory_bytes < 60 * 2**30
    assert demand.spare_replicas == 1
    assert all(each.plan is not None and each.plan.dp >= 2 for each in decision.candidates)


def test_a_shortlist_has_discontinued_accelerators_only_for_rent(service: GpuDeskService) -> None:
    def search(acquisition: str) -> list[bool]:
        shortlist = service.shortlist(
            make_scenario("llama-3.1-8b", in_flight=4, priority="cost", acquisition=acquisition)
        )
        return [service.catalog.accelerator(each.accelerator).discontinued for each in shortlist.accelerators]

    assert any(search("rent"))
    assert not any(search("own"))
    assert not any(search("undecided"))


@pytest.mark.parametrize(
    ("answers", "ways"),
    [({"shape": "one", "precision": "fp4"}, {WayOutKind.WEIGHTS, WayOutKind.COUNT}), ({"ttft_limit_ms": 1.0}, set())],
)
def test_limits_that_nothing_meets_leave_the_nearest_and_ways_out(
    service: GpuDeskService, answers: dict[str, Any], ways: set[WayOutKind]
) -> None:
    shortlist = service.shortlist(make_scenario("llama-3.1-405b", **answers))
    assert len(shortlist.accelerators) == 6
    decision = service.decide(service.answer(shortlist))
    assert decision.verdict is DecisionVerdict.NONE_FITS
    assert {way.kind for way in decision.ways_out} >= ways


def test_the_nearest_to_a_budget_cost_little_more(service: GpuDeskService) -> None:
    scenario = make_scenario("llama-3.3-70b", in_flight=3, acquisition="own", budget_usd=15_000.0)
    shortlist = service.shortlist(replace(scenario, weights=Precision.FP4))
    decision = service.decide(service.answer(shortlist))
    assert decision.verdict is DecisionVerdict.NONE_FITS
    larger = next(way for way in decision.ways_out if way.kind is WayOutKind.BUDGET)
    assert larger.budget_usd is not None
    assert larger.budget_usd < 25_000


def test_the_platform_is_asked_first_where_it_can_change_the_answer(service: GpuDeskService) -> None:
    scenario = make_scenario("llama-3.1-70b", "h200-sxm", "mi325x", in_flight=64, priority="cost", acquisition="own")
    answer = service.answer(scenario)
    questions = run_to_end(service.find_questions_in_steps(answer))
    assert next(iter(questions)) == "current_platform"
    lead = service.decide(answer).recommended
    answers = dict(scenario.decision.answers)
    decisions = {value: service.decide(answer, {**answers, "current_platform": value}) for value in ("CUDA", "ROCm")}
    assert any(other.recommended != lead for other in decisions.values())
    assert decisions.items() <= questions["current_platform"].items()


def test_no_question_remains_if_only_one_accelerator_fits(service: GpuDeskService) -> None:
    answer = service.answer(make_scenario("llama-3.1-8b", "h200-sxm", "b200-hgx", porting="yes", site="hgx"))
    every = run_to_end(service.find_questions_in_steps(answer))
    for name in every:
        assert name not in answer.scenario.decision.answers
    fixed = replace(answer.scenario, accelerators=answer.scenario.accelerators[:1])
    one = service.answer(fixed)
    for name in run_to_end(service.find_questions_in_steps(one)):
        # Of one candidate alone only limits can change the answer.
        assert name in {"serving_engine", "precision", "ttft_limit_ms", "tpot_limit_ms", "destination", "budget_usd"}


def test_what_the_first_decision_and_figure_rest_on_is_loaded_beforehand(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with GpuDeskService.open(with_user_facts=False) as opened:
        run_to_end(opened.load_steps())
        assert {"estimator", "costing", "decider", "reference_data", "records"} <= opened.__dict__.keys()
    (tmp_path / "seed.toml").write_text("rules = [", encoding="utf-8")
    replace_data_path(monkeypatch, "rules", lambda: tmp_path)
    with GpuDeskService.open(with_user_facts=False) as opened:
        # A caller that asks for the rules is told what is wrong with them.
        run_to_end(opened.load_steps())
        assert "decider" not in opened.__dict__


def test_deployments_follow_the_demand_though_no_estimate_changes(service: GpuDeskService) -> None:
    answer = service.answer(make_scenario("llama-3.1-70b", "h200-sxm", "mi325x"))
    few, many = (
        service.decide(replace(answer, scenario=replace(answer.scenario, demand=Demand(DemandKind.USERS, users))))
        for users in (100.0, 20_000.0)
    )
    for one, other in zip(few.candidates, many.candidates, strict=True):
        assert one.count is not None
        assert other.count is not None
        assert one.count * 10 < other.count


def test_counts_of_a_shortlist_for_a_demand_are_not_the_users(service: GpuDeskService) -> None:
    scenario = replace(make_scenario("qwen3-8b", ttft_limit_ms=1000.0), demand=Demand(DemandKind.USERS, 200.0))
    listed = service.shortlist(scenario)
    assert all(choice.count for choice in listed.accelerators)
    assert service.decide(service.answer(listed)).set_counts == {}
    first, *others = listed.accelerators
    more = replace(listed, accelerators=(replace(first, count=16, dp=None), *others))
    assert service.decide(service.answer(more)).set_counts == {first.accelerator: first.count}


def test_budgets_that_buy_the_same_fleet_estimate_it_once(
    service: GpuDeskService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search for tipping points varies the budget: replicas for a demand do not depend on it."""
    own: dict[str, AnswerValue] = {"priority": "cost", "acquisition": "own"}
    users = replace(make_scenario("llama-3.1-70b", "h200-sxm", "mi325x"), demand=Demand(DemandKind.USERS, 321.0))
    calls: list[str] = []
    estimate_many = service.estimator.estimate_many

    def count(requests: Sequence[EstimateRequest]) -> list[Estimate | InputError]:
        calls.extend(each.accelerator for each in requests)
        return estimate_many(requests)

    monkeypatch.setattr(service.estimator, "estimate_many", count)
    sizes = []
    for budget in (3e6, 2.9e6, 2.8e6):
        answers: dict[str, AnswerValue] = {**own, "budget_usd": budget}
        sizes.append(service.size(replace(users, decision=DecisionSettings(answers=answers))))
        if budget == 3e6:
            assert calls
            calls.clear()
    assert not calls
    assert sizes[0].candidates[0].count == sizes[2].candidates[0].count


def test_the_closest_to_a_budget_have_a_price_that_can_be_paid_today(service: GpuDeskService) -> None:
    """Gaudi 2 has a price of 2022; MI350X has none, so that no budget is known to buy it."""
    scenario = make_scenario("llama-3.1-405b", acquisition="own", budget_usd=30_000.0)
    decision = service.decide(service.answer(service.shortlist(scenario)))
    assert all(part["spend_usd"] is not None for part in decision.parts)
    assert not {"gaudi2", "mi350x"} & {each.accelerator for each in decision.candidates}
