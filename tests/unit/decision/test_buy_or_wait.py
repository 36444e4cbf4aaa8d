"""Buying now or waiting: one case by hand, real accelerators, what documents say, and what is refused."""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpudesk.decision.purchasing.deferral import compare_buy_and_wait
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, Scenario
from gpudesk.domain.cost import COST_INPUTS, CostSettings, UncertainValue
from gpudesk.domain.purchase import (
    DeferralAnalysis,
    DeferralQuestion,
    DeferralVerdict,
    GapCostOrigin,
    TokenDemandOrigin,
)
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.service import GpuDeskService
from gpudesk.text.messages import InputError, format_message

#: The columns of the template: H200, MI325X, B200, MI355X.
H200, MI325X, B200, MI355X = range(4)
NOW = "2026-11-21"
NO_SLIP = UncertainValue.exactly(0.0)
#: Nothing costs anything but the hardware, which is used all hours for three years.
HARDWARE_ALONE = dict.fromkeys(COST_INPUTS, 0.0) | {
    "years": 3.0,
    "utilisation": 1.0,
    "requests_per_user_month": 1.0,
    "accelerator_w": 700.0,
    "draw": 1.0,
    "pue": 1.0,
    "fleet": 1.0,
    "rack_kw": 10.0,
}


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """Return Llama 3.1 70B on one each of H200, MI325X, B200 and MI355X, of which the last has no price."""
    return read_template("70b-chat-on-four")


def of_hardware_alone(scenario: Scenario, **prices: float) -> Scenario:
    """Return the scenario in which nothing but hardware costs anything, at these prices."""
    names = [name for name in HARDWARE_ALONE if name not in ("price_usd", "rent_usd_per_hour")]
    inputs = {name: UncertainValue.exactly(HARDWARE_ALONE[name]) for name in names}
    settings = CostSettings(inputs, single_accelerators=True)
    for part, usd in prices.items():
        settings = settings.with_input("price_usd", UncertainValue.exactly(usd), part.replace("_", "-"))
    return replace(scenario, costs=settings)


def priced(scenario: Scenario, part: str, usd: float) -> Scenario:
    return replace(scenario, costs=scenario.costs.with_input("price_usd", UncertainValue.exactly(usd), part))


def make_question(months: float = 9.0, next_part: str | None = "b200-hgx", **more: object) -> DeferralQuestion:
    inputs = {"months_to_next": UncertainValue.exactly(15.0), "slip_months": NO_SLIP, "today": NOW, **more}
    return DeferralQuestion(months, next_part, **inputs)  # type: ignore[arg-type]


def compute_saving(analysis: DeferralAnalysis) -> float:
    assert analysis.sums is not None
    return analysis.sums.saved_usd.likely


def test_plain_case_matches_the_calculation_by_hand(service: GpuDeskService, scenario: Scenario) -> None:
    """An H200 for 36,000 is 1,000 a month; a B200 for 27,000 is 750 for what its own tokens are.

    It comes in month 15, six after the launch, and each of these months costs 1,500.
    """
    plain = of_hardware_alone(scenario, h200_sxm=36_000.0, b200_hgx=27_000.0)
    question = make_question(usd_per_month=UncertainValue.exactly(1500.0))
    analysis = compare_buy_and_wait(plain, H200, question, service)
    rates = [service.estimate(plain.requests()[place]).output_tokens_per_s for place in (H200, B200)]
    assert rates[0] is not None
    assert rates[1] is not None
    month = 750.0 * rates[0].value / rates[1].value
    assert analysis.monthly.buy_usd is not None
    assert analysis.monthly.next_usd is not None
    assert analysis.sums is not None
    assert analysis.monthly.buy_usd.likely == pytest.approx(1000.0)
    assert analysis.monthly.next_usd.likely == pytest.approx(month)
    assert analysis.sums.gap_usd.likely == pytest.approx(9000.0)
    assert analysis.sums.avoided_usd.likely == pytest.approx(6000.0)
    assert analysis.sums.gain_usd.likely == pytest.approx((1000.0 - month) * 30)
    assert compute_saving(analysis) == pytest.approx((1000.0 - month) * 30 - 3000.0)
    assert analysis.turns.gap_months == pytest.approx((1000.0 - month) * 36 / (1500.0 - month))
    assert analysis.gap_months == UncertainValue.exactly(6.0)
    assert analysis.tokens_per_month is not None
    assert analysis.tokens_per_month.likely == pytest.approx(rates[0].value * 730 * 3600)
    assert (analysis.monthly.without_origin, analysis.monthly.gap_rental) == (GapCostOrigin.YOURS, None)


def test_figures_agree_with_those_of_costs(service: GpuDeskService, scenario: Scenario) -> None:
    analysis = compare_buy_and_wait(scenario, H200, make_question(), service)
    own, _, following, _ = service.costing.costs(service.answer(scenario)).columns
    assert own.owned is not None
    assert own.rented is not None
    assert following.owned is not None
    assert analysis.monthly.buy_usd_per_million is not None
    assert analysis.monthly.next_usd_per_million is not None
    assert analysis.monthly.without_usd is not None
    assert analysis.tokens_per_month is not None
    assert analysis.monthly.buy_usd_per_million.likely == pytest.approx(own.owned.output.value)
    assert analysis.monthly.next_usd_per_million.likely == pytest.approx(following.owned.output.value)
    millions = analysis.tokens_per_month.likely / 1e6
    assert analysis.monthly.without_usd.likely == pytest.approx(own.rented.output.value * millions)
    assert (analysis.monthly.without_origin, analysis.monthly.gap_rental) == (GapCostOrigin.RENT, "h200-sxm")


def test_likely_value_lies_in_every_range(service: GpuDeskService, scenario: Scenario) -> None:
    question = make_question(slip_months=UncertainValue(0.0, 3.0, 9.0), months_to_next=UncertainValue(6.0, 8.0, 12.0))
    analysis = compare_buy_and_wait(scenario, H200, question, service)
    assert analysis.sums is not None
    ranges = [
        value
        for owner in (analysis, analysis.monthly, analysis.sums, analysis.turns)
        for value in (getattr(owner, each.name) for each in fields(owner))
        if isinstance(value, UncertainValue)
    ]
    assert len(ranges) > 14
    assert all(each.in_order for each in ranges)
    assert analysis.gap_months is not None
    assert analysis.gap_months.low < analysis.gap_months.likely < analysis.gap_months.high


# Real accelerators


def test_buy_or_wait_flips_at_the_reported_slip_and_price(service: GpuDeskService, scenario: Scenario) -> None:
    analysis = compare_buy_and_wait(scenario, H200, make_question(months_to_next=UncertainValue.exactly(6.0)), service)
    turns = analysis.turns
    assert analysis.likely is DeferralVerdict.WAIT
    assert turns.slip_months is not None
    assert turns.price_usd is not None
    late = make_question(
        months_to_next=UncertainValue.exactly(6.0), slip_months=UncertainValue.exactly(turns.slip_months)
    )
    assert compute_saving(compare_buy_and_wait(scenario, H200, late, service)) == pytest.approx(0.0, abs=1e-4)
    later = replace(late, slip_months=UncertainValue.exactly(turns.slip_months + 0.5))
    assert compare_buy_and_wait(scenario, H200, later, service).likely is DeferralVerdict.BUY
    sooner = replace(late, slip_months=UncertainValue.exactly(turns.slip_months - 0.5))
    assert compare_buy_and_wait(scenario, H200, sooner, service).likely is DeferralVerdict.WAIT
    tied = priced(scenario, "b200-hgx", turns.price_usd.likely)
    at_price = compare_buy_and_wait(tied, H200, make_question(months_to_next=UncertainValue.exactly(6.0)), service)
    assert compute_saving(at_price) == pytest.approx(0.0, abs=1e-4)
    assert at_price.likely is DeferralVerdict.EQUAL


def test_mi355x_has_no_price_so_that_one_is_solved_for(service: GpuDeskService, scenario: Scenario) -> None:
    question = make_question(next_part="mi355x", months_to_next=UncertainValue.exactly(11.0))
    scenario = replace(scenario, costs=scenario.costs.with_input("fleet", UncertainValue.exactly(800.0)))
    analysis = compare_buy_and_wait(scenario, MI325X, question, service)
    assert analysis.computed is DeferralVerdict.OPEN
    assert analysis.sums is None
    assert "deciding.lacks" in {note.id for note in analysis.notes}
    price = analysis.turns.price_usd
    assert price is not None
    assert 0.0 < price.low < price.likely < price.high
    assert len(analysis.prices) == 5
    gains = [point.saved_usd.likely for point in analysis.prices]
    assert gains == sorted(gains, reverse=True)
    tied = compare_buy_and_wait(priced(scenario, "mi355x", price.likely), MI325X, question, service)
    assert compute_saving(tied) == pytest.approx(0.0, abs=1e-4)
    cheap = compare_buy_and_wait(priced(scenario, "mi355x", price.low * 0.7), MI325X, question, service)
    assert cheap.computed is DeferralVerdict.WAIT
    dear = compare_buy_and_wait(priced(scenario, "mi355x", price.high * 1.5), MI325X, question, service)
    assert dear.likely is DeferralVerdict.BUY


def test_mi455x_is_what_mi325x_waits_for(service: GpuDeskService, scenario: Scenario) -> None:
    """It has neither price nor power, which leaves what a million of its tokens may cost."""
    analysis = compare_buy_and_wait(scenario, MI325X, DeferralQuestion(9.0, today=NOW), service)
    assert analysis.next_part == "mi455x"
    assert analysis.computed is DeferralVerdict.OPEN
    lacks = {note.parameters["kind"] for note in analysis.notes if note.id == "deciding.lacks"}
    assert lacks == {"lacks.price", "lacks.power"}
    assert analysis.turns.price_usd is None
    assert analysis.turns.usd_per_million is not None
    settings = scenario.costs.with_input("accelerator_w", UncertainValue.exactly(2300.0), "mi455x")
    powered = replace(scenario, costs=settings)
    price = compare_buy_and_wait(powered, MI325X, DeferralQuestion(9.0, today=NOW), service).turns.price_usd
    assert price is not None
    assert price.likely > 0.0


@pytest.mark.parametrize(
    ("part", "following"), [("h200-sxm", "vera-rubin-nvl72"), ("mi300x", "mi455x"), ("mi455x", "vera-rubin-nvl72")]
)
def test_the_next_part_is_the_newest_announced_one(
    service: GpuDeskService, scenario: Scenario, part: str, following: str
) -> None:
    alone = replace(scenario, accelerators=(AcceleratorChoice(part, count=1),))
    assert compare_buy_and_wait(alone, 0, DeferralQuestion(9.0, today=NOW), service).next_part == following


def test_a_vendor_without_an_announced_part_waits_for_anothers(service: GpuDeskService, scenario: Scenario) -> None:
    alone = replace(scenario, accelerators=(AcceleratorChoice("gaudi3"),))
    analysis = compare_buy_and_wait(alone, 0, DeferralQuestion(9.0, today=NOW), service)
    assert analysis.next_part is not None
    assert service.catalog.accelerator(analysis.next_part).announced


def test_a_planned_date_is_counted_from_today(service: GpuDeskService, scenario: Scenario) -> None:
    def delivery(today: str) -> tuple[UncertainValue | None, str]:
        analysis = compare_buy_and_wait(scenario, MI325X, DeferralQuestion(9.0, today=today), service)
        return analysis.months_to_next, analysis.notes[0].id

    assert delivery("2026-01-01") == (UncertainValue(6.0, 9.0, 12.0), "buying.planned")
    assert delivery("2027-03-01") == (UncertainValue.exactly(0.0), "buying.overdue")
    ships = compare_buy_and_wait(scenario, H200, DeferralQuestion(9.0, "b200-hgx", today=NOW), service)
    assert (ships.months_to_next, ships.notes[0].id) == (UncertainValue.exactly(0.0), "buying.shipping")


def test_without_a_next_part_one_buys_unless_rent_is_cheaper(service: GpuDeskService, scenario: Scenario) -> None:
    analysis = compare_buy_and_wait(scenario, MI325X, make_question(next_part=None, months_to_next=None), service)
    assert analysis.next_part is None
    assert analysis.computed is DeferralVerdict.BUY
    settings = scenario.costs.with_input("rent_usd_per_hour", UncertainValue.exactly(0.1), "mi325x")
    rented = replace(scenario, costs=settings)
    cheap = compare_buy_and_wait(rented, MI325X, make_question(next_part=None, months_to_next=None), service)
    assert cheap.computed is DeferralVerdict.WAIT
    assert "buying.rent_is_cheaper" in {note.id for note in cheap.notes}


# What it rests on


def test_a_rival_is_rented_where_the_chosen_part_cannot_be(service: GpuDeskService, scenario: Scenario) -> None:
    columns = (AcceleratorChoice("gh200-144gb", count=1), AcceleratorChoice("h200-sxm", count=1))
    settings = scenario.costs.with_input("price_usd", UncertainValue.exactly(30_000.0), "gh200-144gb")
    pair = replace(scenario, accelerators=columns, costs=settings)
    analysis = compare_buy_and_wait(pair, 0, make_question(), service)
    assert (analysis.monthly.without_origin, analysis.monthly.gap_rental) == (GapCostOrigin.RIVAL_RENT, "h200-sxm")
    alone = replace(pair, accelerators=columns[:1])
    lone = compare_buy_and_wait(alone, 0, make_question(), service)
    assert lone.monthly.without_usd is None
    assert lone.computed is DeferralVerdict.OPEN
    assert "buying.no_rent" in {note.id for note in lone.notes}
    in_time = compare_buy_and_wait(alone, 0, make_question(months_to_next=UncertainValue.exactly(2.0)), service)
    assert in_time.sums is not None


def test_the_tokens_are_those_of_the_demand_or_those_stated(service: GpuDeskService, scenario: Scenario) -> None:
    """Ten requests per second of 1,000 tokens on average, with any peak: 26.28 thousand million a month."""
    demand = Demand(DemandKind.REQUEST_RATE, 10.0, peak_factor=3.0)
    analysis = compare_buy_and_wait(replace(scenario, demand=demand), H200, make_question(), service)
    assert analysis.tokens_origin is TokenDemandOrigin.DEMAND
    assert analysis.tokens_per_month is not None
    assert analysis.tokens_per_month.likely == pytest.approx(10_000 * 730 * 3600)
    with_user_tokens = compare_buy_and_wait(scenario, H200, make_question(tokens_per_month=1e9), service)
    assert (with_user_tokens.tokens_origin, with_user_tokens.tokens_per_month) == (
        TokenDemandOrigin.YOURS,
        UncertainValue.exactly(1e9),
    )
    twice = compare_buy_and_wait(scenario, H200, make_question(tokens_per_month=2e9), service)
    assert compute_saving(twice) == pytest.approx(2 * compute_saving(with_user_tokens))
    assert twice.computed is with_user_tokens.computed


def test_years_of_use_are_those_stated(service: GpuDeskService, scenario: Scenario) -> None:
    analysis = compare_buy_and_wait(scenario, H200, make_question(years=5.0), service)
    assert analysis.years == 5.0
    assert compare_buy_and_wait(scenario, H200, make_question(), service).years == 3.0


def test_a_chosen_part_without_a_price_leaves_it_open(service: GpuDeskService, scenario: Scenario) -> None:
    analysis = compare_buy_and_wait(scenario, MI355X, make_question(), service)
    assert analysis.computed is DeferralVerdict.OPEN
    assert analysis.monthly.buy_usd is None


def test_accelerator_without_throughput_notes_the_reason(service: GpuDeskService, scenario: Scenario) -> None:
    small = replace(scenario, accelerators=(AcceleratorChoice("l4", count=1), *scenario.accelerators))
    analysis = compare_buy_and_wait(small, 0, make_question(), service)
    assert analysis.computed is DeferralVerdict.OPEN
    ids = [note.id for note in analysis.notes]
    assert ids[ids.index("deciding.no_throughput") + 1] == "estimate.weights_do_not_fit"


# What documents say


@pytest.mark.parametrize(
    ("months", "document"),
    [(0.0, DeferralVerdict.BUY), (5.9, DeferralVerdict.BUY), (6.0, None), (11.9, None), (12.0, DeferralVerdict.WAIT)],
)
def test_documents_decide_what_is_near_and_what_is_far(
    service: GpuDeskService, scenario: Scenario, months: float, document: DeferralVerdict | None
) -> None:
    analysis = compare_buy_and_wait(scenario, H200, make_question(months), service)
    assert analysis.document is document
    assert analysis.verdict is (document or analysis.computed)


def test_contradiction_of_arithmetic_and_documents_is_reported(service: GpuDeskService, scenario: Scenario) -> None:
    cheap = priced(scenario, "b200-hgx", 5_000.0)
    soon = compare_buy_and_wait(cheap, H200, make_question(5.0, months_to_next=UncertainValue.exactly(4.0)), service)
    assert (soon.document, soon.computed) == (DeferralVerdict.BUY, DeferralVerdict.WAIT)
    assert soon.notes[-1].id == "buying.computed_wait"
    dear = priced(scenario, "b200-hgx", 400_000.0)
    far = compare_buy_and_wait(dear, H200, make_question(14.0), service)
    assert (far.document, far.computed) == (DeferralVerdict.WAIT, DeferralVerdict.BUY)
    assert far.notes[-1].id == "buying.computed_buy"


def test_rules_that_contradict_each_other_leave_it_to_arithmetic(service: GpuDeskService, scenario: Scenario) -> None:
    analysis = compare_buy_and_wait(scenario, H200, make_question(3.0, tuned_for_next=True), service)
    assert analysis.document is None
    assert analysis.verdict is analysis.computed
    assert "buying.rules_contradict" in {note.id for note in analysis.notes}
    between = compare_buy_and_wait(scenario, H200, make_question(9.0, tuned_for_next=True), service)
    assert between.verdict is DeferralVerdict.WAIT


def test_unstated_slip_uses_the_documents_value(service: GpuDeskService, scenario: Scenario) -> None:
    analysis = compare_buy_and_wait(scenario, H200, make_question(slip_months=None), service)
    assert analysis.slip_months == UncertainValue(0.0, 0.0, 6.0)
    rules = {rule.rule: (rule.verdict, rule.text.id) for rule in analysis.rules}
    assert rules["D002-19"] == (DeferralVerdict.BUY, "buying.slip_assumed")
    assert rules["D003-25"] == (None, "buying.not_live")
    assert rules["D000-26"] == (None, "buying.level_software")
    text_ids = {
        rule.rule: rule.text.id for rule in compare_buy_and_wait(scenario, H200, make_question(0.0), service).rules
    }
    assert text_ids["D002-19"] == "buying.slip_stated"
    assert text_ids["D003-25"] == "buying.live"
    assert text_ids["D000-26"] == "buying.weigh_software"


def test_every_message_has_a_sentence(service: GpuDeskService, scenario: Scenario) -> None:
    for months, more in ((0.0, {}), (9.0, {"slip_months": None}), (14.0, {"tuned_for_next": True})):
        analysis = compare_buy_and_wait(scenario, MI325X, make_question(months, "mi455x", **more), service)
        for message in (*(rule.text for rule in analysis.rules), *analysis.notes):
            assert "{" not in format_message(message)


# What is refused


@pytest.mark.parametrize(
    ("question", "where"),
    [
        (make_question(-1.0), "months_to_launch"),
        (make_question(float("nan")), "months_to_launch"),
        (make_question(slip_months=UncertainValue(3.0, 2.0, 4.0)), "slip_months"),
        (make_question(slip_months=UncertainValue(-1.0, 2.0, 4.0)), "slip_months"),
        (make_question(months_to_next=UncertainValue(0.0, 1.0, 1e4)), "months_to_next"),
        (make_question(years=0.0), "years"),
        (make_question(usd_per_month=UncertainValue.exactly(-5.0)), "usd_per_month"),
        (make_question(tokens_per_month=0.0), "tokens_per_month"),
        (make_question(next_part="h200-sxm"), "next_part"),
    ],
)
def test_impossible_value_is_refused_by_its_name(
    service: GpuDeskService, scenario: Scenario, question: DeferralQuestion, where: str
) -> None:
    with pytest.raises(InputError) as refused:
        compare_buy_and_wait(scenario, H200, question, service)
    assert refused.value.where == where


def test_an_unknown_part_is_refused(service: GpuDeskService, scenario: Scenario) -> None:
    with pytest.raises(InputError):
        compare_buy_and_wait(scenario, H200, make_question(next_part="b9000"), service)


# What holds of all slips


@given(slip=st.floats(0.0, 20.0), later=st.floats(0.0, 20.0), wide=st.floats(0.0, 6.0))
def test_more_slip_never_favors_waiting(
    service: GpuDeskService, scenario: Scenario, slip: float, later: float, wide: float
) -> None:
    leaning = (DeferralVerdict.BUY, DeferralVerdict.OPEN, DeferralVerdict.EQUAL, DeferralVerdict.WAIT)
    analyses = [
        compare_buy_and_wait(
            scenario, H200, make_question(slip_months=UncertainValue(start, start + wide / 2, start + wide)), service
        )
        for start in (slip, slip + later)
    ]
    assert compute_saving(analyses[1]) <= compute_saving(analyses[0]) + 1e-6
    assert analyses[0].sums is not None
    assert analyses[1].sums is not None
    assert analyses[1].sums.wait_share <= analyses[0].sums.wait_share
    assert leaning.index(analyses[1].computed) <= leaning.index(analyses[0].computed)
