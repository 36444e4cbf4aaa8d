"""Verdicts in a sentence, and the cost of tokens as a figure of the comparison."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import ScenarioTemplate, list_templates, read_template
from gpudesk.domain.answer import AcceleratorChoice, Answer, compute_win_odds, rank_figures
from gpudesk.domain.cost import CostSettings
from gpudesk.domain.decision import DecisionSettings
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.domain.profile import ProfileQuestion
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.comparison.headlines import build_screen_headlines
from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
from gpudesk.report.comparison.table import build_comparison_table
from gpudesk.report.comparison.tables import CellMarking, ComparisonRow, ComparisonSheet
from gpudesk.report.comparison.verdicts import (
    describe_comparison,
    describe_cost_terms,
    describe_figure_lead,
    describe_fit,
    describe_payback,
    describe_price_doubts,
    describe_throughput,
    describe_token_cost,
)
from gpudesk.report.decision.verdict import describe_verdict_reason
from gpudesk.report.labels import list_column_names
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.report.writers.csv import write_sheet_csv
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.json import write_sheet_json
from gpudesk.report.writers.markdown import write_sheet_markdown
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from tests.words.rules import find_faults

PLAIN = Formatter(ENGLISH_NUMBERS)
RENTED, OWNED = "rented_usd_per_million_output", "owned_usd_per_million_output"


def join_sentences(describe: Callable[..., Sequence[str]], *arguments: object) -> str:
    return " ".join(describe(*arguments))


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    return service.costing.add_costs(service.answer(read_template("70b-chat-on-four")))


@pytest.fixture(scope="module")
def queueing(service: GpuDeskService) -> Answer:
    """BF16 weights leave one H200 memory for fewer than the 64 requests that are in flight."""
    parts = tuple(AcceleratorChoice(part, 1) for part in ("h200-sxm", "mi325x"))
    scenario = replace(read_template("70b-chat-on-four"), weights=Precision.BF16, accelerators=parts)
    return service.costing.add_costs(service.answer(scenario))


def test_cost_of_a_queue_on_all_columns_is_unknown(service: GpuDeskService) -> None:
    template = read_template("70b-chat-on-four")
    workload = replace(template.workload, load=Load(LoadKind.CONCURRENCY, concurrency=5000))
    answer = service.costing.add_costs(service.answer(replace(template, workload=workload)))
    assert describe_token_cost(answer, PLAIN) == ["Cost per token unknown: requests queue."]


def test_one_accelerator_with_and_without_a_count_is_compared_by_name(service: GpuDeskService) -> None:
    """The decision once named both by the count that it chose, which no column has."""
    parts = (AcceleratorChoice("gb300-nvl72"), AcceleratorChoice("gb300-nvl72", 64), AcceleratorChoice("mi355x"))
    answer = service.answer(replace(read_template("405b-one-node"), accelerators=parts))
    decision = service.decide(answer)
    assert decision.columns == answer.keys
    assert "GB300" in join_sentences(describe_comparison, answer, decision, PLAIN)


def test_odds_of_rents_are_those_of_the_decision(service: GpuDeskService, answer: Answer) -> None:
    decision = service.decide(answer, {"acquisition": "rent"})
    assert {each.payment for each in decision.candidates} == {"rented"}
    odds = compute_win_odds(answer, RENTED)
    assert [odds[place] for place in range(4)] == pytest.approx([each.odds for each in decision.candidates])


def test_odds_of_costs_that_are_all_owned_are_those_of_the_row_though_renting_is_open(
    service: GpuDeskService, answer: Answer
) -> None:
    """The head once had draws with the cheaper way to pay in each, and differed by a point from the row."""
    scenario = replace(answer.scenario, accelerators=answer.scenario.accelerators[:3])
    priced = service.costing.add_costs(service.answer(scenario))
    decision = service.decide(priced)
    assert {each.payment for each in decision.candidates} == {"owned"}
    odds = compute_win_odds(priced, OWNED)
    assert [odds[place] for place in range(3)] == pytest.approx([each.odds for each in decision.candidates])
    assert join_sentences(describe_comparison, priced, decision, PLAIN).startswith("Cheapest to own at 100%")


def test_tied_rents_of_unlike_providers_have_no_distance(service: GpuDeskService) -> None:
    """The odds compare MI355X at the price of a specialized cloud, not at its hyperscaler's."""
    answer = service.costing.add_costs(service.answer(read_template("405b-one-node")))
    headlines = {each.figure: each for each in build_sheet(answer, PLAIN).headlines}
    assert re.fullmatch(r"too close to call: MI300X \d+%, MI355X at a hyperscaler \d+% odds", headlines[RENTED].detail)


def test_counts_behind_the_odds_of_a_verdict_are_all_named(service: GpuDeskService) -> None:
    """MI325X is neither first nor second, but its other count changes the odds of both."""
    scenario = read_template("405b-one-node")
    parts = tuple(map(AcceleratorChoice, ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x")))
    load = Load(LoadKind.CONCURRENCY, concurrency=32)
    workload = replace(scenario.workload, load=load)
    renting = DecisionSettings({"acquisition": "rent"})
    scenario = replace(scenario, accelerators=parts, workload=workload, decision=renting)
    answer = service.costing.add_costs(service.answer(scenario))
    decision = service.decide(answer)
    verdict = join_sentences(describe_comparison, answer, decision, PLAIN)
    counts = [
        (candidate.accelerator, column.estimate.count)
        for column, candidate in zip(answer.columns, decision.candidates, strict=True)
        if column.estimate is not None and candidate.eligible and candidate.count != column.estimate.count
    ]
    assert counts == [("mi325x", 2)]
    assert "mi325x" not in (decision.recommended and decision.recommended.key, decision.runner_up)
    assert " The table shows 2 × MI325X. " in verdict


def test_costs_leave_the_hash_of_an_answer_alone(service: GpuDeskService, answer: Answer) -> None:
    assert service.answer(answer.scenario).content_hash == answer.content_hash


def test_a_missing_price_is_a_dash_with_its_reason(answer: Answer) -> None:
    rows = {row.key: row for row in build_comparison_table(answer, PLAIN).rows}
    cell = rows[OWNED].cells[3]
    assert (cell.text, cell.value, cell.reason) == ("—", None, "no purchase price")
    # No rent is clearly the lowest; that of a hyperscaler ties at comparable rents, as its cell shows.
    assert [cell.mark for cell in rows[RENTED].cells] == [CellMarking.OPEN] * 4
    details = [cell.detail for cell in rows[RENTED].cells]
    assert details[:3] == [None] * 3
    assert (details[3] or "").startswith("elsewhere ≈ 0.")
    assert rows[RENTED].cells[3].line_below == details[3]
    assert rows[RENTED].cells[1].delta == "−9%"


def test_the_headline_of_costs_takes_the_place_of_the_time_of_a_token(answer: Answer) -> None:
    headlines = {each.figure: each for each in build_screen_headlines(answer, PLAIN)}
    assert list(headlines) == ["output_tokens_per_s", "ttft_ms", RENTED, "max_concurrency"]
    assert [leader.name for leader in headlines[RENTED].leaders] == ["MI325X", "H200 SXM", "B200 SXM", "MI355X"]
    assert sum(odds for _, odds in headlines[RENTED].odds) == pytest.approx(1.0)
    assert headlines["max_concurrency"].odds == ()


def test_every_format_of_the_sheet_has_the_verdict(service: GpuDeskService, answer: Answer) -> None:
    open_ = join_sentences(describe_comparison, answer, service.decide(answer), PLAIN)
    assert open_.startswith("Cheapest at 100% utilization: MI325X ($"), "MI355X can only be rented"
    assert ", owned, " in open_
    assert "B200 SXM is " in open_, "what speaks for the rival"
    assert " No purchase price: MI355X. " in open_, "who is left out, and why"
    certain = "Per accelerator, MI325X compared with B200 SXM: 42% more memory and 47% lower price."
    assert certain in open_, "what is known exactly of two that are too close to call"
    assert " Costs count only accelerators in use, not whole systems." in open_, "what a figure counts"
    assert open_.replace("\N{NO-BREAK SPACE}", " ").endswith(" Per user: 14.5 tok/s on MI325X, 23.4 tok/s on B200 SXM.")
    scenario = replace(answer.scenario, decision=DecisionSettings({"acquisition": "rent"}))
    answer = replace(answer, scenario=scenario)
    further = service.make_sheet_extras(answer)
    verdict = join_sentences(describe_comparison, answer, service.decide(answer), PLAIN)
    assert verdict.startswith("Cheapest to rent at 100% utilization: MI325X ($")
    assert " or MI355X ($" in verdict
    assert " elsewhere, 27%), too close to call." in verdict
    sheet = build_sheet(answer, further=further)
    assert " ".join(sheet.verdict) == verdict
    assert f'<p class="verdict">{sheet.verdict[0]}</p><p>' in write_sheet_html(sheet), "the answer stands out"
    assert "Cheapest to rent at 100% utilization: MI325X" in write_sheet_markdown(sheet)
    assert "Cheapest to rent at 100% utilization: MI325X" in write_sheet_csv(build_machine_sheet(answer, further))
    assert json.loads(write_sheet_json(answer, further))["verdict"] == verdict


@pytest.mark.parametrize("template", list_templates(), ids=lambda each: each.id)
def test_sentences_of_verdicts_are_short_with_all_names_and_figures(
    service: GpuDeskService, template: ScenarioTemplate
) -> None:
    answer = service.costing.add_costs(service.answer(template.scenario))
    texts = [
        *describe_comparison(answer, service.decide(answer), PLAIN),
        *describe_throughput(answer, PLAIN),
        *describe_fit(answer, PLAIN),
        *describe_token_cost(answer, PLAIN),
    ]
    assert {text: faults for text in texts if (faults := list(find_faults(text)))} == {}


def test_verdicts_of_pages_name_leaders_limiters_and_costs(answer: Answer) -> None:
    one, two = (PLAIN.estimate(rank_figures(answer, "output_tokens_per_s")[place].value) for place in (2, 3))
    odds = {place: f"{share:.0%}" for place, share in compute_win_odds(answer, "output_tokens_per_s").items()}
    assert join_sentences(describe_throughput, answer, PLAIN) == (
        f"Output throughput: B200 SXM ({one} tok/s, {odds[2]} odds) or MI355X ({two} tok/s, {odds[3]}),"
        " too close to call. All are limited by memory bandwidth."
    )
    assert describe_figure_lead(answer, "ttft_ms", PLAIN).startswith("Time to first token: B200 SXM (")
    assert join_sentences(describe_fit, answer, PLAIN) == (
        "All 4 accelerators hold 64 requests in memory; MI355X has room for the most, 276."
    )
    assert answer.costs is not None
    assert join_sentences(describe_token_cost, answer, PLAIN) == (
        "When owned, MI325X ($0.55 per million output tokens at 100% utilization) and B200 SXM ($0.58)"
        " are too close to call. When rented, 4 are too close to call: MI325X ($1.15), B200 SXM ($1.17),"
        " H200 SXM ($1.26) and MI355X ($1.79 at a hyperscaler)."
    )
    for price, sentence in ((0.4, "A hosted API costs less: $0.40."), (0.9, "A hosted API costs $0.90.")):
        hosted = replace(answer.costs, api=IntervalEstimate(price, price, price))
        assert join_sentences(describe_token_cost, replace(answer, costs=hosted), PLAIN).endswith(f" {sentence}")
    # The verdict names the utilization, the assumptions have the prices.
    assert describe_cost_terms(answer, PLAIN) == (
        "On-demand rent; servers add 25% to the purchase price;"
        " costs count only accelerators in use, not whole systems."
    )
    assert describe_price_doubts(answer, PLAIN).startswith("MI355X is priced at a hyperscaler; specialized clouds")
    assert join_sentences(describe_payback, answer, PLAIN) == (
        "Buying pays back after 13.0 months (MI325X), 14.4 months (B200 SXM) and 19.6 months (H200 SXM) of 24/7 use."
        " Below 48–63% utilization, renting by the hour is cheaper."
    )


def test_a_sheet_cites_the_newest_sources_of_its_prices(service: GpuDeskService, answer: Answer) -> None:
    sheet = build_sheet(answer, further=service.make_sheet_extras(answer))
    numbers = {str(source.number) for source in sheet.sources}
    rows = {row.label: row for row in sheet.whose.rows}
    for label in ("Purchase price", "Rental price"):
        cells = [cell.text for cell in rows[label].cells]
        assert [text for text in cells if text != MISSING_VALUE_TEXT]
        assert set(re.findall(r"\d+", " ".join(re.findall(r"\[.*?\]", " ".join(cells))))) <= numbers
    assert answer.costs is not None
    rent = answer.costs.columns[0].inputs["rent_usd_per_hour"].prices
    assert rent is not None
    assert rows["Rental price"].cells[0].text.endswith(f"] and {len(rent.sources) - 2} more")


def test_a_recommendation_on_a_sheet_counts_the_idle_of_its_own_deployments(service: GpuDeskService) -> None:
    scenario = replace(read_template("70b-chat-on-four"), costs=CostSettings())
    parts = tuple(replace(each, count=None) for each in scenario.accelerators)
    demand = Demand(DemandKind.USERS, 900.0)
    settings = replace(scenario.decision, answers={"priority": "cost"})
    answer = service.answer(replace(scenario, accelerators=parts, demand=demand, decision=settings))
    extras = service.make_sheet_extras(answer)
    recommendation = build_sheet(answer, further=extras).recommendation
    assert recommendation is not None
    assert extras.decision is not None
    count = extras.decision.candidates[3].count
    assert count is not None
    idle = f"its rental cost includes {-count % 8} idle accelerators"
    assert [line.text for line in recommendation.lines if line.text.endswith(idle)]


def find_rows(sheet: ComparisonSheet, key: str) -> list[ComparisonRow]:
    return [row for table in (sheet.table, sheet.costs) for row in table.rows if row.key == key]


def test_all_places_show_the_purchase_price_of_the_costs(service: GpuDeskService, answer: Answer) -> None:
    """Single accelerators have other prices than those in systems: each place shows the one of the costs."""
    assert answer.costs is not None
    whole = service.costing.add_costs(
        replace(answer, costs=None, scenario=replace(answer.scenario, costs=CostSettings()))
    )
    for each, label in ((answer, "Purchase price, single"), (whole, "Purchase price in a system")):
        assert each.costs is not None
        rows = find_rows(build_sheet(each, further=service.make_sheet_extras(each)), "price")
        rows.append(next(row for row in build_comparison_table(each, PLAIN).rows if row.key == "price"))
        assert len(rows) == 2
        for row in rows:
            assert row.label == label
            used = [column.inputs["price_usd"].spread for column in each.costs.columns]
            assert [cell.value for cell in row.cells] == [None if spread is None else spread.likely for spread in used]
        profile = service.profile(ProfileQuestion.from_scenario(each.scenario, "mi325x"))
        header = ProfileTables(profile, PLAIN, str)
        assert header.list_headline_specifications()[-1].text == rows[0].cells[1].text


def test_a_partly_idle_system_is_named_next_to_its_cost(service: GpuDeskService, answer: Answer) -> None:
    whole = service.costing.add_costs(
        replace(answer, costs=None, scenario=replace(answer.scenario, costs=CostSettings()))
    )
    keys = [row.key for row in build_sheet(whole).table.rows]
    assert keys[keys.index(OWNED) + 1] == "instances"
    (row,) = find_rows(build_sheet(whole), "systems")
    assert (row.cells[0].text, row.cells[0].detail) == ("1 system of 8", "7 idle")
    (row,) = find_rows(build_sheet(answer), "systems")
    assert row.label == "Hardware bought"
    assert [cell.text for cell in row.cells] == [*["1 in a system of 8"] * 3, "—"]


def test_a_verdict_about_other_counts_names_the_column_without_a_queue(service: GpuDeskService) -> None:
    """The decision is about as many as carry the load: the queues of smaller columns are not those of its leaders."""
    parts = tuple(AcceleratorChoice(part) for part in ("h100-sxm", "h200-sxm", "b200-hgx", "mi300x", "mi325x"))
    work = Workload(32_000, 500, Load(LoadKind.CONCURRENCY, concurrency=16))
    scenario = replace(read_template("70b-chat-on-four"), kv=Precision.FP16, workload=work, accelerators=parts)
    answer = service.costing.add_costs(service.answer(scenario))
    waiting = [column.queues for column in answer.columns]
    decision = service.decide(answer)
    assert waiting == [True] * 4 + [False]
    assert decision.recommended is not None
    assert decision.recommended.key != "mi325x"
    count = answer.columns[-1].estimate.count if answer.columns[-1].estimate else 0
    assert f"Requests queue on all except {count} × MI325X." in join_sentences(
        describe_comparison, answer, decision, PLAIN
    )


def test_announced_accelerators_are_named(service: GpuDeskService) -> None:
    parts = tuple(AcceleratorChoice(part, 4) for part in ("mi355x", "mi455x", "vera-rubin-nvl72"))
    answer = service.answer(replace(read_template("70b-chat-on-four"), accelerators=parts))
    verdict = join_sentences(
        describe_comparison, answer, service.decide(answer, {"priority": "speed", "waiting": "unpriced"}), PLAIN
    )
    assert "Announced, but not available yet (" in verdict
    available = join_sentences(describe_comparison, answer, service.decide(answer, {"priority": "speed"}), PLAIN)
    assert "Announced, but" not in available


def test_weak_prices_of_those_ahead_are_named(service: GpuDeskService) -> None:
    parts = tuple(map(AcceleratorChoice, ("gaudi3", "rtx-6000-ada", "h100-sxm")))
    scenario = replace(read_template("70b-chat-on-four"), model="llama-3.1-8b", accelerators=parts)
    answer = service.costing.add_costs(service.answer(scenario))
    decision = service.decide(answer, {"acquisition": "own"})
    verdict = join_sentences(describe_comparison, answer, decision, PLAIN)
    assert "Price from 2024: ask for a current quote (Gaudi 3)." in verdict
    used = "The price is that of used accelerators: check supply and warranty (RTX 6000 Ada Generation)."
    assert used in verdict
    assert used in describe_verdict_reason(
        decision, dict(zip(answer.keys, list_column_names(answer), strict=True)), PLAIN
    )


def test_only_one_without_a_queue_is_reported(service: GpuDeskService) -> None:
    parts = tuple(AcceleratorChoice(part, 1) for part in ("h200-sxm", "mi325x", "b200-hgx"))
    scenario = replace(read_template("70b-chat-on-four"), kv=Precision.FP16, accelerators=parts)
    answer = service.costing.add_costs(service.answer(scenario))
    verdict = join_sentences(describe_comparison, answer, service.decide(answer), PLAIN)
    assert verdict.startswith("Only MI325X runs all 64 requests at once: $")
    assert verdict.endswith("Requests queue on all except 1 × MI325X.")
    assert "of 64 requests at its default of 92% of memory; 98% would fit " in join_sentences(
        describe_fit, answer, PLAIN
    ), "memory holds more, but vLLM does not use it"
    estimate = answer.columns[2].estimate
    assert estimate is not None
    most = next(row for row in build_comparison_table(answer, PLAIN).rows if row.key == "max_concurrency").cells[2]
    assert most.detail == f"{estimate.admitted} at the default 92%"


@pytest.mark.parametrize(
    "load", [Load(LoadKind.CONCURRENCY, concurrency=400), Load(LoadKind.REQUEST_RATE, request_rate=40.0)]
)
def test_where_every_accelerator_queues_the_counts_that_do_not_are_named(service: GpuDeskService, load: Load) -> None:
    parts = tuple(AcceleratorChoice(part, 1) for part in ("h200-sxm", "b200-hgx"))
    template = read_template("70b-chat-on-four")
    scenario = replace(template, workload=replace(template.workload, load=load), accelerators=parts)
    answer = service.costing.add_costs(service.answer(scenario))
    counts = [column.enough for column in answer.columns]
    if load.kind is LoadKind.CONCURRENCY:
        # The counts that links and the matrix of the Memory page show.
        sizes = [each.load for formats in service.needed(scenario) for each in formats if each.bits == 8]
        assert counts == [size.count if size else None for size in sizes]
    verdict = join_sentences(describe_throughput, answer, PLAIN)
    assert f"Enough for this load: {counts[0]} × H200 SXM or {counts[1]} × B200 SXM." in verdict
    enough = tuple(replace(part, count=count) for part, count in zip(parts, counts, strict=True))
    assert not any(column.queues for column in service.answer(replace(scenario, accelerators=enough)).columns)


def test_queueing_column_never_leads(service: GpuDeskService, queueing: Answer) -> None:
    rows = {row.key: row for row in build_comparison_table(queueing, PLAIN).rows}
    for figure in ("output_tokens_per_s", RENTED, OWNED):
        assert rows[figure].cells[0].mark is CellMarking.QUEUES
    for headline in build_screen_headlines(queueing, PLAIN):
        assert "h200-sxm" not in [leader.key for leader in headline.leaders]
    for verdict in (
        join_sentences(describe_throughput, queueing, PLAIN),
        join_sentences(describe_fit, queueing, PLAIN),
        join_sentences(describe_token_cost, queueing, PLAIN),
    ):
        assert "MI325X" in verdict.split(".")[0]
        assert "H200 SXM" not in verdict.split(".")[0]
    assert "Requests queue on 1 × H200 SXM." in join_sentences(describe_throughput, queueing, PLAIN)
    assert join_sentences(describe_token_cost, queueing, PLAIN).endswith(" Requests queue on 1 × H200 SXM.")


def test_deployments_that_miss_latency_limits_are_named(service: GpuDeskService) -> None:
    template = read_template("70b-chat-on-four")
    load = Load(LoadKind.LIMITS, ttft_ms=1.0, tpot_ms=1.0)
    scenario = replace(template, accelerators=template.accelerators[:2], workload=replace(template.workload, load=load))
    answer = service.answer(scenario)
    names = "1 × H200 SXM and 1 × MI325X"
    assert describe_throughput(answer, PLAIN) == [f"Latency limits missed by {names}."]


def test_only_candidate_comes_with_the_reason_against_the_others(service: GpuDeskService) -> None:
    """A reader looked for the limit that the other misses: it was a license."""
    parts = tuple(AcceleratorChoice(part, 1) for part in ("rtx-4090", "l40s"))
    template = read_template("70b-chat-on-four")
    workload = replace(template.workload, load=Load(LoadKind.BATCH, batch=8))
    scenario = replace(template, model="llama-3.1-8b", weights=Precision.INT4, accelerators=parts, workload=workload)
    answer = service.costing.add_costs(service.answer(scenario))
    verdict = describe_comparison(answer, service.decide(answer), PLAIN)
    assert verdict[0].startswith("Only L40S meets every limit: ")
    assert verdict[1].startswith("Ruled out: RTX 4090: ")


def test_counts_that_a_model_needs_are_in_one_sentence(service: GpuDeskService) -> None:
    too_few = service.answer(replace(read_template("70b-chat-on-four"), model="llama-3.1-405b"))
    needed = "The model needs at least 4 × H200 SXM, 2 × MI325X, 4 × B200 SXM or 2 × MI355X."
    assert join_sentences(describe_throughput, too_few, PLAIN) == needed
