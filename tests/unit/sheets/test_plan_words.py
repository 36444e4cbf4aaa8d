"""Buying or waiting, two vendors and the watch list in words and as JSON: what they say of real plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpudesk.domain.buying import BuyOrWait, MonthlyCosts, MonthOrigin, RuleSays, TokenOrigin, Turns, Verdict
from gpudesk.domain.cost_inputs import Currency
from gpudesk.domain.demand import Demand, DemandKind
from gpudesk.domain.formatting import GERMAN, Formatter
from gpudesk.domain.messages import message
from gpudesk.domain.questions import AnswerValue, DecisionSettings
from gpudesk.domain.ranges import Range
from gpudesk.domain.routing import Ranking, RateOrigin, RequestKind, RoutePlan, Routing
from gpudesk.domain.scenarios import Scenario
from gpudesk.domain.watching import Direction, Signal, Threshold, Watched, WatchNote, watch_list
from gpudesk.sheets.money import Money
from gpudesk.sheets.names import short_name
from gpudesk.sheets.plans_json import routing_fields, waiting_fields, watch_fields
from gpudesk.sheets.routing_words import (
    beyond_of,
    beyond_text,
    kind_label,
    mix_text,
    mixing_text,
    plan_title,
    pool_cell,
    ranking_text,
    reason_text,
    routing_notes,
    routing_origin,
    shared_pool_lines,
    signed_text,
)
from gpudesk.sheets.waiting_words import (
    against_text,
    computed_text,
    document_text,
    lacking_of,
    months_text,
    price_rows,
    rule_text,
    slip_summary,
    waiting_figures,
    waiting_notes,
    waiting_origin,
    waiting_title,
    waiting_turns,
    waiting_unit,
)
from gpudesk.sheets.watch_words import (
    WatchState,
    about_text,
    changes_text,
    idle_text,
    known_text,
    missing_text,
    record_text,
    state_text,
    threshold_text,
    value_text,
    watch_sentence,
    watch_state,
)
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench

TODAY = "2026-11-23"
FORMATTER = Formatter()
USD = Money(FORMATTER)
H200, MI325X, B200, MI355X = range(4)
COLUMNS = {"h200-sxm": "H200 SXM", "mi325x": "MI325X", "b200-hgx": "B200 SXM", "mi355x": "MI355X"}


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open(with_own=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return read_template("70b-chat-on-four")


@pytest.fixture(scope="module")
def names(workbench: Workbench) -> dict[str, str]:
    return {part.id: short_name(part.name) for part in workbench.catalog.accelerators()}


def plain(text: str) -> str:
    """Return a text with spaces that may break."""
    return text.replace("\N{NO-BREAK SPACE}", " ")


def planned(scenario: Scenario, launch: float = 9.0, **plans: AnswerValue) -> Scenario:
    return replace(scenario, decision=DecisionSettings(answers={"months_to_launch": launch}, plans=plans))


@pytest.fixture(scope="module")
def near(workbench: Workbench, scenario: Scenario) -> BuyOrWait:
    """Return whether to buy an H200 now or wait six months for a B200, with a launch in three."""
    asked = planned(scenario, 3.0, next_part="b200-hgx", months_to_next=6)
    return workbench.beside.buy_or_wait(asked, H200, TODAY)


@pytest.fixture(scope="module")
def unpriced(workbench: Workbench, scenario: Scenario) -> BuyOrWait:
    """Return whether to buy an MI325X now or wait for what is announced, which has no price."""
    return workbench.beside.buy_or_wait(planned(scenario), MI325X, TODAY)


def bare(**more: object) -> BuyOrWait:
    """Return a plan of which nothing is known but what is given."""
    given: dict[str, object] = {
        "chosen": "h200-sxm",
        "next_part": "b200-hgx",
        "months_to_launch": 9.0,
        "years": 3.0,
        "rules": (),
        "computed": Verdict.OPEN,
        "likely": Verdict.OPEN,
        "slip_months": Range(0.0, 0.0, 6.0),
        **more,
    }
    return BuyOrWait(**given)  # type: ignore[arg-type]


# Buying or waiting


@pytest.mark.parametrize(
    ("verdict", "following", "title"),
    [
        (Verdict.BUY, "b200-hgx", "Buy H200 SXM now"),
        (Verdict.WAIT, "b200-hgx", "Wait for B200 SXM"),
        (Verdict.EQUAL, "b200-hgx", "Buy H200 SXM now or wait for B200 SXM: it costs the same"),
        (Verdict.OPEN, "b200-hgx", "Buy H200 SXM now or wait for B200 SXM: it cannot be told"),
        (Verdict.WAIT, None, "Do without H200 SXM"),
        (Verdict.OPEN, None, "Buy H200 SXM now or do without: it cannot be told"),
    ],
)
def test_the_title_says_what_to_do(
    verdict: Verdict, following: str | None, title: str, names: dict[str, str]
) -> None:
    assert waiting_title(bare(computed=verdict, next_part=following), names) == title


def test_documents_and_arithmetic_stand_beside_one_another(near: BuyOrWait) -> None:
    assert document_text(near) == "buy now (D002-16)"
    assert computed_text(near, FORMATTER).startswith("most likely wait; waiting saves in ")
    assert rule_text(near.rules[0]).startswith("A launch within 6 months is for buying")


def test_documents_may_leave_it_open_or_contradict_each_other() -> None:
    buy = RuleSays("D002-16", Verdict.BUY, message("buying.launch_soon", months=6), strong=True)
    wait = RuleSays("D002-18", Verdict.WAIT, message("buying.tuned", accelerator="B200"), strong=True)
    assert document_text(bare()) == "leave it open"
    assert document_text(bare(rules=(buy, wait))) == "contradict each other (D002-16, D002-18)"
    against = bare(notes=(message("buying.computed_wait"),))
    assert against_text(against) == "The documents’ rules say to buy, the arithmetic says to wait."
    assert against_text(bare()) == ""
    assert waiting_notes(against, FORMATTER) == [], "said with the verdict"


def test_figures_have_their_ends_and_units(near: BuyOrWait, names: dict[str, str]) -> None:
    rows = {row.name: row for row in waiting_figures(near, names, USD, FORMATTER)}
    assert rows["Months without either"].unit == "months"
    assert rows["Months without either"].likely == "3.0"
    month = rows["A month on H200 SXM"]
    assert near.monthly.buy_usd is not None
    assert month.likely == f"{near.monthly.buy_usd.likely:,.0f}"
    assert month.unit == "USD/month"
    assert near.sums is not None
    assert rows["Saved by waiting, in all"].likely == f"{near.sums.saved_usd.likely:,.0f}"
    assert rows["Saved by waiting, in all"].low.startswith("−")


def test_amounts_are_in_the_currency_of_the_scenario(near: BuyOrWait, names: dict[str, str]) -> None:
    euros = Money(Formatter(GERMAN), Currency("EUR", 0.5, "2026-11-01"))
    rows = {row.name: row for row in waiting_figures(near, names, euros, Formatter(GERMAN))}
    assert near.monthly.buy_usd is not None
    half = f"{near.monthly.buy_usd.likely / 2:,.0f}".replace(",", ".")
    assert (rows["A month on H200 SXM"].likely, rows["A month on H200 SXM"].unit) == (half, "EUR/month")
    assert waiting_unit("usd_per_month", euros) == "EUR/month"
    assert waiting_unit("buy_part", euros) == ""


def test_where_it_turns_is_told_with_its_doubt(near: BuyOrWait, names: dict[str, str]) -> None:
    turns = dict(waiting_turns(near, names, USD, FORMATTER))
    assert near.turns.slip_months is not None
    assert turns["It slips by"] == f"{near.turns.slip_months:.1f} months"
    assert plain(turns["B200 SXM costs, each"]).endswith(" USD")
    assert "–" in turns["B200 SXM costs, each"]
    endless = bare(turns=Turns(price_usd=Range(10.0, 20.0, float("inf"))))
    (turn,) = waiting_turns(endless, names, USD, FORMATTER)
    assert (turn[0], plain(turn[1])) == ("B200 SXM costs, each", "20 (10 – no limit) USD")
    assert waiting_turns(bare(), names, USD, FORMATTER) == []


def test_months_are_counted() -> None:
    assert months_text(1.0, FORMATTER) == "1 month"
    assert months_text(1.04, FORMATTER) == "1 month"
    assert months_text(10.66, FORMATTER) == "10.7 months"


def test_slip_is_summed_up(near: BuyOrWait, names: dict[str, str]) -> None:
    assert slip_summary(near, names, FORMATTER).startswith(
        "Waiting pays up to a slip of 10.7 months of B200 SXM"
    )
    always = replace(near, turns=Turns())
    assert slip_summary(always, names, FORMATTER) == "Waiting for B200 SXM pays however late it is."
    never = replace(near, turns=Turns(), likely=Verdict.BUY)
    assert "even if it is not late" in slip_summary(never, names, FORMATTER)
    assert slip_summary(bare(), names, FORMATTER) == ""


def test_what_has_no_price_is_told_by_prices(
    unpriced: BuyOrWait, near: BuyOrWait, workbench: Workbench
) -> None:
    name = workbench.catalog.accelerator("mi455x").name
    assert lacking_of(unpriced, name) == {"price", "power"}
    assert lacking_of(unpriced, "another") == frozenset()
    assert computed_text(unpriced, FORMATTER) == "cannot be told, since a cost is not known"
    assert any("No purchase price of" in note for note in waiting_notes(unpriced, FORMATTER))
    rows = price_rows(near, USD)
    assert len(rows) == 5
    assert rows[2].saved == "0"
    assert rows[-1].verdict == "buy now"


def test_inputs_say_where_they_come_from(near: BuyOrWait, unpriced: BuyOrWait, names: dict[str, str]) -> None:
    def origin(name: str, found: BuyOrWait = unpriced, *, stated: bool = False) -> str:
        return waiting_origin(name, found, stated=stated, names=names)

    assert origin("months_to_launch", stated=True) == "said in the dialogue"
    assert origin("months_to_launch").startswith("assumed")
    assert origin("years", stated=True) == "stated by you"
    assert "is planned for 2026-H2" in origin("months_to_next")
    assert "two quarters" in origin("slip_likely")
    assert origin("usd_per_month") == "what renting MI325X meanwhile costs with its software"
    assert origin("tokens_per_month").startswith("all that MI325X works out")
    rival = MonthlyCosts(without_origin=MonthOrigin.RIVAL_RENT, stopgap="h200-sxm")
    assert "which is compared too" in origin("usd_per_month", bare(monthly=rival))
    assert origin("usd_per_month", bare()).startswith("not known")
    assert origin("tokens_per_month", bare()) == "not known"
    assert origin("tokens_per_month", bare(tokens_origin=TokenOrigin.DEMAND)) == "the demand, on average"
    assert origin("buy_part", near) == "as recommended, else the baseline"


def test_a_plan_is_plain_json(near: BuyOrWait, unpriced: BuyOrWait) -> None:
    fields = waiting_fields(near, {"next_part": "b200-hgx"})
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields
    assert (fields["verdict"], fields["document"], fields["computed_likely"]) == ("buy", "buy", "wait")
    assert fields["inputs"] == {"next_part": "b200-hgx"}
    assert fields["rules"][0]["rule"] == "D002-16"
    assert fields["sums"]["saved_usd"]["low"] < fields["sums"]["saved_usd"]["high"]
    assert waiting_fields(unpriced)["sums"] is None
    endless = bare(turns=Turns(price_usd=Range(10.0, 20.0, float("inf"))))
    assert waiting_fields(endless)["turns"]["price_usd"] == {"low": 10.0, "likely": 20.0, "high": None}


# Two vendors


@pytest.fixture(scope="module")
def routed(workbench: Workbench, scenario: Scenario) -> Routing:
    """Return ten requests a second over an H200 and an MI325X."""
    return workbench.beside.routing(planned(scenario, requests_per_s=10))


@pytest.fixture(scope="module")
def demanded(workbench: Workbench, scenario: Scenario) -> Routing:
    """Return the plans of a demand, with spare replicas of several accelerators."""
    free = tuple(replace(choice, count=None) for choice in scenario.accelerators)
    demand = Demand(DemandKind.USERS, 2000.0, ttft_ms=3000.0, tpot_ms=80.0)
    return workbench.beside.routing(replace(scenario, accelerators=free, demand=demand))


def test_plans_are_called_by_their_parts(routed: Routing) -> None:
    titles = [plan_title(plan, routed, COLUMNS) for plan in RoutePlan]
    assert titles[0].whole == "All on H200 SXM"
    assert (titles[2].first, titles[2].second) == ("Long on H200 SXM", "short on MI325X")
    assert titles[3].whole == "Long on MI325X, short on H200 SXM"


def test_the_mix_is_told_with_where_it_comes_from(routed: Routing, demanded: Routing) -> None:
    said = mix_text(routed, FORMATTER)
    assert said.startswith("10.0 requests/s (stated by you): 8.00/s short, 4,000 tokens in, 1,000 out; ")
    assert "2.00/s long, 16,000 tokens in" in said
    assert "(the demand of the scenario, at its peak)" in mix_text(demanded, FORMATTER)
    assert "by Llama" in mix_text(routed, FORMATTER, {"llama-3.1-70b": "Llama"})


def test_pools_count_accelerators_and_tell_replicas(routed: Routing, demanded: Routing) -> None:
    none = pool_cell(routed.by_plan[RoutePlan.ALL_A], "mi325x", FORMATTER)
    assert (none.total, none.replicas, none.spare) == ("0", "", "")
    plan = routed.by_plan[RoutePlan.ALL_A]
    assert pool_cell(plan, "h200-sxm", FORMATTER).total == str(plan.count)
    told = [pool_cell(plan, key, FORMATTER) for plan in demanded.plans for key in demanded.keys if plan.pools]
    assert any("×" in cell.replicas for cell in told)
    assert any(cell.spare.endswith(" spare") for cell in told)
    counted = [sum(int(cell.total) for cell in told[place : place + 2]) for place in range(0, len(told), 2)]
    assert counted == [plan.count for plan in demanded.plans]


def test_a_plan_that_cannot_be_says_why(workbench: Workbench, scenario: Scenario) -> None:
    found = workbench.beside.routing(planned(scenario, requests_per_s=10, other_model="deepseek-v3"))
    reasons = [reason_text(plan, FORMATTER) for plan in found.plans]
    assert any(reasons)
    assert all(reason == "" or reason[0].isupper() for reason in reasons)
    failed = next(plan for plan in found.plans if plan.reason is not None)
    assert pool_cell(failed, found.keys[0], FORMATTER).total == "—"


def test_the_cheapest_is_named_or_said_to_be_within_the_error(routed: Routing) -> None:
    decided = Ranking(RoutePlan.LONG_B, (), ())
    said = ranking_text(decided, routed, COLUMNS)
    assert said == "the cheapest: long on MI325X, short on H200 SXM"
    level = Ranking(RoutePlan.ALL_A, (RoutePlan.ALL_B,), ())
    said = ranking_text(level, routed, COLUMNS)
    assert said == "≈ within the error: all on H200 SXM or all on MI325X"
    assert ranking_text(None, routed, COLUMNS).startswith("cannot be ranked")


def test_a_split_says_what_it_costs_beyond_one_vendor(routed: Routing) -> None:
    found = beyond_of(routed.owned, RoutePlan.LONG_A)
    assert found is not None
    said = beyond_text(found, routed, COLUMNS, USD)
    assert said.startswith("Long on H200 SXM, short on MI325X: ")
    assert "of it software" in said
    assert beyond_of(routed.owned, RoutePlan.ALL_A) is None
    assert beyond_of(None, RoutePlan.LONG_A) is None
    plain = replace(found, software_usd=Range.exactly(0.0), software_alone_usd=Range.exactly(0.0))
    assert beyond_text(plain, routed, COLUMNS, USD).endswith("none of it software.")
    assert signed_text(5.0, USD.whole) == "+5"
    assert signed_text(-5.0, USD.whole) == "−5"
    assert signed_text(0.2, USD.whole) == "0"


def test_one_shared_pool_has_its_loss_and_formula(routed: Routing) -> None:
    said, formula = shared_pool_lines(routed, FORMATTER)
    assert "loses" in said
    assert formula.startswith("1 − 2 × slower replica ÷ (slower replica + faster replica) = 1 − 2 × ")
    assert formula.endswith(" %")
    assert shared_pool_lines(replace(routed, shared_loss=None, shared_working=None), FORMATTER) == ()


def test_documents_on_mixing_are_told_with_dates_and_rivals(workbench: Workbench) -> None:
    lines = [mixing_text(rule) for rule in workbench.beside.rules_on_mixing()]
    assert lines[0].startswith("A second path of software is kept up (2024-02, D002-07, Seed 002")
    assert "against D002-20, D002-07" in lines[-1]
    assert "Take one platform for one pool" in lines[-1]


def test_inputs_of_requests_say_where_they_come_from(routed: Routing) -> None:
    assert routing_origin("long_share", RateOrigin.LOAD, stated=False) == "assumed: nobody states it"
    assert routing_origin("long_share", RateOrigin.LOAD, stated=True) == "stated by you"
    assert routing_origin("requests_per_s", RateOrigin.DEMAND, stated=True).startswith("the demand")
    assert kind_label(RequestKind.LONG) == "long requests"
    assert not any("baseline" in note for note in routing_notes(routed, FORMATTER))


def test_routing_is_plain_json(routed: Routing) -> None:
    fields = routing_fields(routed, {"requests_per_s": 10})
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields
    assert fields["requests_from"] == "yours"
    assert [plan["plan"] for plan in fields["plans"]] == [plan.value for plan in RoutePlan]
    assert fields["plans"][0]["pools"][0]["column"] == "h200-sxm"
    assert fields["owned"]["beyond_one_vendor"][0]["plan"] == "long on A, short on B"
    assert fields["shared_pool"]["working"]["inputs"]["slower replica"]["unit"] == "requests/s"


# The watch list


def watched(signals: tuple[Signal, ...], signal: str, *notes: WatchNote) -> Watched:
    return next(each for each in watch_list(signals, notes) if each.signal.id == signal)


def test_a_signal_says_how_it_stands(workbench: Workbench) -> None:
    signals = workbench.beside.signals
    gap = watched(signals, "W002-01")
    assert watch_state(gap) is WatchState.NOT
    assert plain(threshold_text(gap.signal, FORMATTER)) == "below 12 %"
    assert plain(missing_text(gap, FORMATTER)) == "11 % to go"
    assert plain(known_text(gap, "Scorecard", FORMATTER)) == "23 %, 2024-01; Scorecard"
    assert about_text(gap) == "FlashAttention 2, CDNA 3 behind Hopper"
    assert changes_text(gap) == "Nothing changes. If it passes: software speaks less against AMD parts."
    assert plain(record_text(gap, "Scorecard", FORMATTER)) == ""
    unknown = watched(signals, "W002-02")
    assert state_text(watch_state(unknown)) == "not known"
    assert known_text(unknown, "", FORMATTER) == "nothing on record"
    assert changes_text(unknown).startswith("If it passes: the work of integration")
    assert value_text(unknown.signal, None, FORMATTER) == "—"


def test_a_note_of_the_user_stands_before_the_record(workbench: Workbench) -> None:
    note = WatchNote("W002-01", 9, "2026-10", "Our own test", "read twice")
    gap = watched(workbench.beside.signals, "W002-01", note)
    assert state_text(watch_state(gap)) == "passed"
    assert plain(known_text(gap, "Scorecard", FORMATTER)) == "9 %, 2026-10; yours: Our own test"
    assert about_text(gap) == "read twice"
    assert plain(record_text(gap, "Scorecard", FORMATTER)) == "on record: 23 %, 2024-01; Scorecard"
    assert plain(missing_text(gap, FORMATTER)) == ""
    assert changes_text(gap) == "Software speaks less against AMD parts."
    said = plain(watch_sentence(gap, "Scorecard", FORMATTER))
    assert said.startswith("Gap of attention kernels on ROCm: passed; threshold below 12 %; 9 %, 2026-10")


def test_a_note_of_another_form_is_said_to_have_no_effect(workbench: Workbench) -> None:
    note = WatchNote("W002-01", True, "2026-10", "Our own test")
    gap = watched(workbench.beside.signals, "W002-01", note)
    assert "has no effect" in idle_text(gap)
    assert idle_text(watched(workbench.beside.signals, "W002-01")) == ""


def test_a_signal_may_have_to_rise() -> None:
    limit = Threshold(3.0, "GB/s", Direction.ABOVE)
    signal = Signal("S", "seed-002", "2024-02", "Rate", "Look", "Yes", "No", limit)
    assert plain(threshold_text(signal, FORMATTER)) == "above 3 GB/s"
    assert plain(value_text(signal, 2.5, FORMATTER)) == "2.5 GB/s"


def test_the_watch_list_is_plain_json(workbench: Workbench) -> None:
    notes = (WatchNote("W002-01", 9, "2026-10", "Our own test"), WatchNote("W002-03", 3, "2026-10", "Old"))
    fields = watch_fields(watch_list(workbench.beside.signals, notes))
    assert json.loads(json.dumps(fields, allow_nan=False)) == fields
    by_id = {each["id"]: each for each in fields}
    assert by_id["W002-01"]["state"] == "passed"
    assert by_id["W002-01"]["note"]["source"] == "Our own test"
    assert by_id["W002-01"]["known"][0]["value"] == 23
    assert by_id["W002-03"]["note_without_effect"]["value"] == 3
    assert by_id["W002-02"]["value"] is None
