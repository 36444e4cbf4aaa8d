"""Buying or waiting, two vendors and the watch list in words and as JSON: what they say of real plans."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from gpudesk.decision.purchasing.routing import list_mixing_rules
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Scenario
from gpudesk.domain.cost import DisplayCurrency, UncertainValue
from gpudesk.domain.decision import AnswerValue, DecisionSettings
from gpudesk.domain.purchase import (
    DeferralAnalysis,
    DeferralMonthlyCosts,
    DeferralThresholds,
    DeferralVerdict,
    GapCostOrigin,
    RuleOpinion,
    TokenDemandOrigin,
)
from gpudesk.domain.reference_data import (
    SignalStatus,
    SignalThreshold,
    ThresholdDirection,
    WatchNote,
    WatchSignal,
    make_watch_list,
)
from gpudesk.domain.routing import RequestKind, RequestRateOrigin, RoutePlan, RouteRanking, RoutingResult
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.decision.buy_or_wait import (
    SignalState,
    describe_computed_verdict,
    describe_contradiction,
    describe_deferral_origin,
    describe_deferral_rule,
    describe_document_verdict,
    describe_idle_note,
    describe_known_value,
    describe_recorded_value,
    describe_release_slip,
    describe_signal,
    describe_signal_distance,
    describe_signal_effect,
    describe_signal_note,
    find_lacking_costs,
    find_signal_state,
    format_deferral_verdict,
    format_signal_value,
    format_threshold,
    get_deferral_unit,
    list_deferral_figures,
    list_deferral_flips,
    list_deferral_notes,
    list_future_price_rows,
)
from gpudesk.report.decision.routing import (
    build_pool_cell,
    describe_extra_cost,
    describe_impossible_plan,
    describe_ranking,
    describe_request_mix,
    describe_routing_origin,
    find_extra_cost,
    format_mixing_line,
    format_routed_plan,
    format_signed_amount,
    label_request_class,
    list_routing_notes,
    list_shared_pool_lines,
)
from gpudesk.report.labels import format_months, shorten_name
from gpudesk.report.writers.decision_json import encode_buy_or_wait, encode_routing, encode_watch_list
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import GERMAN_NUMBERS, Formatter
from gpudesk.text.messages import message

TODAY = "2026-11-23"
FORMATTER = Formatter()
USD = MoneyFormatter(FORMATTER)
H200, MI325X, B200, MI355X = range(4)
COLUMNS = {"h200-sxm": "H200 SXM", "mi325x": "MI325X", "b200-hgx": "B200 SXM", "mi355x": "MI355X"}


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return read_template("70b-chat-on-four")


@pytest.fixture(scope="module")
def names(service: GpuDeskService) -> dict[str, str]:
    return {part.id: shorten_name(part.name) for part in service.catalog.accelerators()}


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def make_planned_scenario(scenario: Scenario, launch: float = 9.0, **plans: AnswerValue) -> Scenario:
    return replace(scenario, decision=DecisionSettings(answers={"months_to_launch": launch}, plans=plans))


@pytest.fixture(scope="module")
def near(service: GpuDeskService, scenario: Scenario) -> DeferralAnalysis:
    """Return whether to buy an H200 now or wait six months for a B200, with a launch in three."""
    costs = scenario.costs
    for part, price in (("h200-sxm", 35_000.0), ("b200-hgx", 40_000.0)):
        costs = costs.with_input("price_usd", UncertainValue.exactly(price), part)
    costs = costs.with_input("rent_usd_per_hour", UncertainValue(3.0, 3.59, 10.0), "h200-sxm")
    question_scenario = make_planned_scenario(
        replace(scenario, costs=costs), 3.0, next_part="b200-hgx", months_to_next=6
    )
    return service.reference_data.buy_or_wait(question_scenario, H200, TODAY)


@pytest.fixture(scope="module")
def unpriced(service: GpuDeskService, scenario: Scenario) -> DeferralAnalysis:
    """Return whether to buy an MI325X now or wait for what is announced, which has no price."""
    return service.reference_data.buy_or_wait(make_planned_scenario(scenario), MI325X, TODAY)


def make_analysis(**more: object) -> DeferralAnalysis:
    values: dict[str, object] = {
        "chosen": "h200-sxm",
        "next_part": "b200-hgx",
        "months_to_launch": 9.0,
        "years": 3.0,
        "rules": (),
        "computed": DeferralVerdict.OPEN,
        "likely": DeferralVerdict.OPEN,
        "slip_months": UncertainValue(0.0, 0.0, 6.0),
        **more,
    }
    return DeferralAnalysis(**values)  # type: ignore[arg-type]


# Buying or waiting


@pytest.mark.parametrize(
    ("verdict", "following", "title"),
    [
        (DeferralVerdict.BUY, "b200-hgx", "Buy H200 SXM now"),
        (DeferralVerdict.WAIT, "b200-hgx", "Wait for B200 SXM"),
        (DeferralVerdict.EQUAL, "b200-hgx", "Same cost: buy H200 SXM now, or wait for B200 SXM"),
        (DeferralVerdict.OPEN, "b200-hgx", "Undecided: buy H200 SXM now, or wait for B200 SXM"),
        (DeferralVerdict.WAIT, None, "Do without H200 SXM"),
        (DeferralVerdict.OPEN, None, "Undecided: buy H200 SXM now, or do without it"),
    ],
)
def test_title_names_the_action(
    verdict: DeferralVerdict, following: str | None, title: str, names: dict[str, str]
) -> None:
    assert format_deferral_verdict(make_analysis(computed=verdict, next_part=following), names) == title


def test_documents_and_arithmetic_are_shown_together(near: DeferralAnalysis) -> None:
    assert describe_document_verdict(near) == "buy now (D002-16)"
    assert describe_computed_verdict(near, FORMATTER).startswith("most likely wait; waiting saves money in ")
    assert describe_deferral_rule(near.rules[0]).startswith("Launch within 6 months: buy")


def test_documents_may_leave_it_open_or_contradict_each_other() -> None:
    buy = RuleOpinion(
        "D002-16",
        DeferralVerdict.BUY,
        message(
            "buying.launch_soon", "Launch within {months} months: buy (AMD stack scorecard, February 2024)", months=6
        ),
        strong=True,
    )
    wait = RuleOpinion(
        "D002-18",
        DeferralVerdict.WAIT,
        message(
            "buying.tuned",
            "Models tuned for {accelerator}: wait (AMD stack scorecard, February 2024)",
            accelerator="B200",
        ),
        strong=True,
    )
    assert describe_document_verdict(make_analysis()) == "undecided"
    assert describe_document_verdict(make_analysis(rules=(buy, wait))) == "contradictory (D002-16, D002-18)"
    against = make_analysis(
        notes=(
            message(
                "buying.computed_wait", "The documents' rules recommend buying; the computed costs recommend waiting"
            ),
        )
    )
    assert (
        describe_contradiction(against)
        == "The documents' rules recommend buying; the computed costs recommend waiting."
    )
    assert describe_contradiction(make_analysis()) == ""
    assert list_deferral_notes(against, FORMATTER) == [], "said with the verdict"


def test_figures_have_their_ends_and_units(near: DeferralAnalysis, names: dict[str, str]) -> None:
    rows = {row.name: row for row in list_deferral_figures(near, names, USD, FORMATTER)}
    assert rows["Delay after launch"].unit == "months"
    assert rows["Delay after launch"].likely == "3.0"
    month = rows["Monthly cost on H200 SXM"]
    assert near.monthly.buy_usd is not None
    assert month.likely == FORMATTER.estimate(near.monthly.buy_usd.likely)
    assert month.unit == "USD/month"
    assert near.sums is not None
    assert rows["Total saved by waiting"].likely == FORMATTER.estimate(near.sums.saved_usd.likely)
    assert rows["Total saved by waiting"].low.startswith("−")


def test_amounts_are_in_the_currency_of_the_scenario(near: DeferralAnalysis, names: dict[str, str]) -> None:
    euros = MoneyFormatter(Formatter(GERMAN_NUMBERS), DisplayCurrency("EUR", 0.5, "2026-11-01"))
    rows = {row.name: row for row in list_deferral_figures(near, names, euros, Formatter(GERMAN_NUMBERS))}
    assert near.monthly.buy_usd is not None
    half = f"{near.monthly.buy_usd.likely / 2:,.0f}".replace(",", ".")
    assert (rows["Monthly cost on H200 SXM"].likely, rows["Monthly cost on H200 SXM"].unit) == (half, "EUR/month")
    assert get_deferral_unit("usd_per_month", euros) == "EUR/month"
    assert get_deferral_unit("buy_part", euros) == ""


def test_tipping_point_is_shown_with_its_interval(near: DeferralAnalysis, names: dict[str, str]) -> None:
    turns = dict(list_deferral_flips(near, names, USD, FORMATTER))
    assert near.turns.slip_months is not None
    assert turns["Release slips by"] == format_months(near.turns.slip_months, FORMATTER)
    assert plain(turns["Price per B200 SXM"]).startswith("$")
    assert "–" in turns["Price per B200 SXM"]
    endless = make_analysis(turns=DeferralThresholds(price_usd=UncertainValue(10.0, 20.0, float("inf"))))
    (turn,) = list_deferral_flips(endless, names, USD, FORMATTER)
    assert (turn[0], plain(turn[1])) == ("Price per B200 SXM", "$20.0 (10.0 – no limit)")
    assert list_deferral_flips(make_analysis(), names, USD, FORMATTER) == []


def test_months_are_counted() -> None:
    assert format_months(1.0, FORMATTER) == "1 month"
    assert format_months(1.04, FORMATTER) == "1 month"
    assert format_months(10.66, FORMATTER) == "10.7 months"


def test_slip_is_summed_up(near: DeferralAnalysis, names: dict[str, str]) -> None:
    assert describe_release_slip(near, names, FORMATTER).startswith(
        "Waiting for B200 SXM pays off if it slips by at most 11.9 months."
    )
    always = replace(near, turns=DeferralThresholds())
    assert describe_release_slip(always, names, FORMATTER) == "Waiting for B200 SXM pays off at any delay."
    never = replace(near, turns=DeferralThresholds(), likely=DeferralVerdict.BUY)
    assert "even if B200 SXM is on time" in describe_release_slip(never, names, FORMATTER)
    assert describe_release_slip(make_analysis(), names, FORMATTER) == ""


def test_missing_cost_is_named_and_savings_follow_the_price(
    unpriced: DeferralAnalysis, near: DeferralAnalysis, service: GpuDeskService
) -> None:
    name = service.catalog.accelerator("mi455x").name
    assert find_lacking_costs(unpriced, name) == {"price", "power"}
    assert find_lacking_costs(unpriced, "another") == frozenset()
    assert describe_computed_verdict(unpriced, FORMATTER) == "undecided: a cost is unknown"
    assert any(
        note.startswith(f"Missing purchase price for {name}") for note in list_deferral_notes(unpriced, FORMATTER)
    )
    rows = list_future_price_rows(near, USD)
    assert len(rows) == 5
    assert rows[2].saved == "0"
    assert [row.saved.startswith("\N{MINUS SIGN}") for row in rows] == [False, False, False, True, True]


def test_inputs_name_their_source(near: DeferralAnalysis, unpriced: DeferralAnalysis, names: dict[str, str]) -> None:
    def origin(name: str, analysis: DeferralAnalysis = unpriced, *, is_stated: bool = False) -> str:
        return describe_deferral_origin(name, analysis, is_user_value=is_stated, names=names)

    assert origin("months_to_launch", is_stated=True) == "your answer"
    assert origin("months_to_launch").startswith("default")
    assert origin("years", is_stated=True) == "entered by you"
    assert "is planned for H2 2026" in origin("months_to_next")
    assert "two quarters" in origin("slip_likely")
    assert origin("usd_per_month") == "rent of MI325X in the meantime, including software"
    assert origin("tokens_per_month").startswith("full output of MI325X")
    rival = DeferralMonthlyCosts(without_origin=GapCostOrigin.RIVAL_RENT, gap_rental="h200-sxm")
    assert "also compared" in origin("usd_per_month", make_analysis(monthly=rival))
    assert origin("usd_per_month", make_analysis()).startswith("unknown")
    assert origin("tokens_per_month", make_analysis()) == "unknown"
    assert origin("tokens_per_month", make_analysis(tokens_origin=TokenDemandOrigin.DEMAND)) == "average demand"
    assert origin("buy_part", near) == "the recommended accelerator, or the baseline"


def test_a_plan_is_plain_json(near: DeferralAnalysis, unpriced: DeferralAnalysis) -> None:
    fields = encode_buy_or_wait(near, {"next_part": "b200-hgx"})
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields
    assert (fields["verdict"], fields["document"], fields["computed_likely"]) == ("buy", "buy", "wait")
    assert fields["inputs"] == {"next_part": "b200-hgx"}
    assert fields["rules"][0]["rule"] == "D002-16"
    assert fields["sums"]["saved_usd"]["low"] < fields["sums"]["saved_usd"]["high"]
    assert encode_buy_or_wait(unpriced)["sums"] is None
    endless = make_analysis(turns=DeferralThresholds(price_usd=UncertainValue(10.0, 20.0, float("inf"))))
    assert encode_buy_or_wait(endless)["turns"]["price_usd"] == {"low": 10.0, "likely": 20.0, "high": None}


# Two vendors


@pytest.fixture(scope="module")
def routed(service: GpuDeskService, scenario: Scenario) -> RoutingResult:
    """Return ten requests per second over an H200 and an MI325X."""
    return service.reference_data.routing(make_planned_scenario(scenario, requests_per_s=10))


@pytest.fixture(scope="module")
def demanded(service: GpuDeskService, scenario: Scenario) -> RoutingResult:
    """Return the plans of a demand, with spare replicas of several accelerators."""
    free = tuple(replace(choice, count=None) for choice in scenario.accelerators)
    demand = Demand(DemandKind.USERS, 2000.0, ttft_ms=3000.0, tpot_ms=80.0)
    return service.reference_data.routing(replace(scenario, accelerators=free, demand=demand))


def test_plans_are_called_by_their_parts(routed: RoutingResult) -> None:
    titles = [format_routed_plan(plan, routed, COLUMNS) for plan in RoutePlan]
    assert titles[0].whole == "All on H200 SXM"
    assert (titles[2].first, titles[2].second) == ("Long on H200 SXM", "short on MI325X")
    assert titles[3].whole == "Long on MI325X, short on H200 SXM"


def test_request_mix_is_described_with_its_origin(routed: RoutingResult, demanded: RoutingResult) -> None:
    description = describe_request_mix(routed, FORMATTER)
    assert description.startswith(
        "10.0 requests/s (entered by you): 8.00/s short, 4,000 input and 1,000 output tokens; "
    )
    assert "2.00/s long, 16,000 input" in description
    assert "(peak demand of the scenario)" in describe_request_mix(demanded, FORMATTER)
    assert "by Llama" in describe_request_mix(routed, FORMATTER, {"llama-3.1-70b": "Llama"})


def test_pool_cells_have_accelerators_and_replicas(routed: RoutingResult, demanded: RoutingResult) -> None:
    plan = next(each for each in routed.plans if each.plan is RoutePlan.ALL_A)
    none = build_pool_cell(plan, "mi325x", FORMATTER)
    assert (none.total, none.replicas, none.spare) == ("0", "", "")
    assert build_pool_cell(plan, "h200-sxm", FORMATTER).total == str(plan.count)
    cells = [build_pool_cell(plan, key, FORMATTER) for plan in demanded.plans for key in demanded.keys if plan.pools]
    assert any("×" in cell.replicas for cell in cells)
    assert any(cell.spare.endswith(" spare") for cell in cells)
    totals = [sum(int(cell.total) for cell in cells[place : place + 2]) for place in range(0, len(cells), 2)]
    assert totals == [plan.count for plan in demanded.plans]


def test_routing_plan_that_fails_has_a_reason(service: GpuDeskService, scenario: Scenario) -> None:
    comparison = service.reference_data.routing(
        make_planned_scenario(scenario, requests_per_s=10, other_model="deepseek-v3")
    )
    reasons = [describe_impossible_plan(plan, FORMATTER) for plan in comparison.plans]
    assert any(reasons)
    assert all(reason == "" or reason[0].isupper() for reason in reasons)
    failed = next(plan for plan in comparison.plans if plan.reason is not None)
    assert build_pool_cell(failed, comparison.keys[0], FORMATTER).total == "—"


def test_cheapest_is_named_or_too_close_to_call(routed: RoutingResult) -> None:
    decided = RouteRanking(RoutePlan.LONG_B, (), ())
    ranking = describe_ranking(decided, routed, COLUMNS)
    assert ranking == "long on MI325X, short on H200 SXM is cheapest"
    level = RouteRanking(RoutePlan.ALL_A, (RoutePlan.ALL_B,), ())
    ranking = describe_ranking(level, routed, COLUMNS)
    assert ranking == "too close to call (all on H200 SXM; all on MI325X)"
    level = RouteRanking(RoutePlan.ALL_A, tuple(plan for plan in RoutePlan if plan is not RoutePlan.ALL_A), ())
    assert describe_ranking(level, routed, COLUMNS) == f"all {len(routed.plans)} plans are too close to call"
    assert describe_ranking(None, routed, COLUMNS).startswith("no ranking")


def test_split_over_two_vendors_shows_its_extra_cost(routed: RoutingResult) -> None:
    extra = find_extra_cost(routed.owned, RoutePlan.LONG_A)
    assert extra is not None
    description = describe_extra_cost(extra, routed, COLUMNS, USD)
    assert description.startswith("Long on H200 SXM, short on MI325X: ")
    assert "software" in description
    assert find_extra_cost(routed.owned, RoutePlan.ALL_A) is None
    assert find_extra_cost(None, RoutePlan.LONG_A) is None
    plain = replace(extra, software_usd=UncertainValue.exactly(0.0), software_alone_usd=UncertainValue.exactly(0.0))
    assert describe_extra_cost(plain, routed, COLUMNS, USD).endswith("with no software cost.")
    assert format_signed_amount(5.0, USD.whole) == "+5"
    assert format_signed_amount(-5.0, USD.whole) == "−5"
    assert format_signed_amount(0.2, USD.whole) == "0"


def test_one_shared_pool_has_its_loss_and_formula(routed: RoutingResult) -> None:
    lines, formula = list_shared_pool_lines(routed, FORMATTER)
    assert "loses" in lines
    assert formula.startswith("1 − 2 × slower replica ÷ (slower replica + faster replica) = 1 − 2 × ")
    assert formula.endswith("%")
    assert list_shared_pool_lines(replace(routed, shared_loss=None, shared_working=None), FORMATTER) == ()


def test_documents_on_mixing_have_dates_but_no_ids(service: GpuDeskService) -> None:
    lines = [format_mixing_line(rule) for rule in list_mixing_rules(service.decider.rules)]
    assert lines[0].startswith("Two software stacks are maintained (2024-02, AMD stack scorecard")
    assert not any(re.search(r"D\d{3}-\d", line) for line in lines)
    assert "Use one platform per pool" in lines[-1]


def test_inputs_of_requests_name_their_source(routed: RoutingResult) -> None:
    assert (
        describe_routing_origin("long_share", RequestRateOrigin.LOAD, is_user_value=False)
        == "assumption: no source gives a value"
    )
    assert describe_routing_origin("long_share", RequestRateOrigin.LOAD, is_user_value=True) == "entered by you"
    assert describe_routing_origin("requests_per_s", RequestRateOrigin.DEMAND, is_user_value=True).startswith(
        "peak demand"
    )
    assert label_request_class(RequestKind.LONG) == "long requests"
    assert not any("baseline" in note for note in list_routing_notes(routed, FORMATTER))


def test_routing_is_plain_json(routed: RoutingResult) -> None:
    fields = encode_routing(routed, {"requests_per_s": 10})
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields
    assert fields["requests_from"] == "yours"
    assert [plan["plan"] for plan in fields["plans"]] == [plan.value for plan in RoutePlan]
    assert fields["plans"][0]["pools"][0]["column"] == "h200-sxm"
    assert fields["owned"]["beyond_one_vendor"][0]["plan"] == "long on A, short on B"
    assert fields["shared_pool"]["working"]["inputs"]["slower replica"]["unit"] == "requests/s"


# The watch list


def watched(signals: tuple[WatchSignal, ...], signal: str, *notes: WatchNote) -> SignalStatus:
    return next(each for each in make_watch_list(signals, notes) if each.signal.id == signal)


def test_signal_shows_its_state(service: GpuDeskService) -> None:
    signals = service.reference_data.signals
    gap = watched(signals, "W002-01")
    assert find_signal_state(gap) is SignalState.NOT
    assert plain(format_threshold(gap.signal, FORMATTER)) == "below 12%"
    assert plain(describe_signal_distance(gap, FORMATTER)) == "11% to go"
    assert plain(describe_known_value(gap, "Scorecard", FORMATTER)) == "23%, 2024-01 (Scorecard)"
    assert describe_signal_note(gap) == "FlashAttention 2, CDNA 3 behind Hopper"
    assert describe_signal_effect(gap) == (
        "Nothing changes. If passed: software becomes a weaker argument against AMD."
    )
    assert plain(describe_recorded_value(gap, "Scorecard", FORMATTER)) == ""
    unknown = watched(signals, "W002-02")
    assert find_signal_state(unknown).label == "unknown"
    assert describe_known_value(unknown, "", FORMATTER) == "no value"
    assert describe_signal_effect(unknown).startswith("If passed: the integration is finished")
    assert format_signal_value(unknown.signal, None, FORMATTER) == "—"


def test_user_note_precedes_the_record(service: GpuDeskService) -> None:
    note = WatchNote("W002-01", 9, "2026-10", "Our own test", "read twice")
    gap = watched(service.reference_data.signals, "W002-01", note)
    assert find_signal_state(gap).label == "passed"
    assert plain(describe_known_value(gap, "Scorecard", FORMATTER)) == "9%, 2026-10 (yours: Our own test)"
    assert describe_signal_note(gap) == "read twice"
    assert plain(describe_recorded_value(gap, "Scorecard", FORMATTER)) == "catalog: 23%, 2024-01 (Scorecard)"
    assert plain(describe_signal_distance(gap, FORMATTER)) == ""
    assert describe_signal_effect(gap) == "Software becomes a weaker argument against AMD."
    description = plain(describe_signal(gap, "Scorecard", FORMATTER))
    assert description.startswith("ROCm attention kernel gap: passed; threshold below 12%; 9%, 2026-10")


def test_note_of_another_form_is_reported_as_ineffective(service: GpuDeskService) -> None:
    note = WatchNote("W002-01", True, "2026-10", "Our own test")
    gap = watched(service.reference_data.signals, "W002-01", note)
    assert "is ignored" in describe_idle_note(gap)
    assert describe_idle_note(watched(service.reference_data.signals, "W002-01")) == ""


def test_a_signal_may_have_to_rise() -> None:
    limit = SignalThreshold(3.0, "GB/s", ThresholdDirection.ABOVE)
    signal = WatchSignal("S", "seed-002", "2024-02", "Rate", "Look", "Yes", "No", limit)
    assert plain(format_threshold(signal, FORMATTER)) == "above 3 GB/s"
    assert plain(format_signal_value(signal, 2.5, FORMATTER)) == "2.5 GB/s"


def test_the_watch_list_is_plain_json(service: GpuDeskService) -> None:
    notes = (WatchNote("W002-01", 9, "2026-10", "Our own test"), WatchNote("W002-03", 3, "2026-10", "Old"))
    fields = encode_watch_list(make_watch_list(service.reference_data.signals, notes))
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields
    by_id = {each["id"]: each for each in fields}
    assert by_id["W002-01"]["state"] == "passed"
    assert by_id["W002-01"]["note"]["source"] == "Our own test"
    assert by_id["W002-01"]["known"][0]["value"] == 23
    assert by_id["W002-03"]["note_without_effect"]["value"] == 3
    assert by_id["W002-02"]["value"] is None
