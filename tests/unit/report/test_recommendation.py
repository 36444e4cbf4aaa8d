"""The recommendation on the sheet: verdict, reasons and trace in every form, only where there are answers."""

import csv
import io
import json
import math
import zipfile
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, Answer, SheetExtras
from gpudesk.domain.decision import AnswerValue, Decision, DecisionFlip, DecisionVerdict, RuleEffect
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
from gpudesk.report.comparison.tables import CellMarking, ComparisonSheet
from gpudesk.report.costs import describe_utilization
from gpudesk.report.decision.facts import label_fact
from gpudesk.report.decision.recommendation import (
    build_trace_table,
    format_recommended_deployment,
    list_candidate_lines,
    list_decision_assumptions,
    list_delivered_figures,
    list_recommendation_lines,
)
from gpudesk.report.decision.verdict import describe_verdict_terms, find_leading_column, format_verdict
from gpudesk.report.labels import list_column_names
from gpudesk.report.writers.csv import write_sheet_csv
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.json import write_sheet_json
from gpudesk.report.writers.markdown import write_sheet_markdown
from gpudesk.report.writers.xlsx import write_sheet_xlsx
from gpudesk.service import GpuDeskService
from gpudesk.text import translation
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from tests.unit.report.test_forms import read

FLIP = DecisionFlip("serving_engine", "any", "tensorrt-llm", ("b200-hgx",), DecisionVerdict.WINNER)


def answer_with(service: GpuDeskService, **answers: AnswerValue) -> Answer:
    scenario = read_template("70b-chat-on-four")
    return service.answer(replace(scenario, decision=replace(scenario.decision, answers=answers)))


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    return answer_with(service, priority="cost", ttft_limit_ms=650.0, acquisition="rent")


@pytest.fixture(scope="module")
def further(service: GpuDeskService, answer: Answer) -> SheetExtras:
    return service.make_sheet_extras(answer, (FLIP,), with_rules=True)


@pytest.fixture(scope="module")
def sheet(answer: Answer, further: SheetExtras) -> ComparisonSheet:
    return build_sheet(answer, further=further)


def decision_of(further: SheetExtras) -> Decision:
    assert further.decision is not None
    return further.decision


def test_spares_for_a_demand_are_named_with_the_deployment(service: GpuDeskService) -> None:
    scenario = read_template("70b-chat-on-four")
    demand = Demand(DemandKind.USERS, 300.0, spare_replicas=1)
    columns = (AcceleratorChoice("b200-hgx"), AcceleratorChoice("mi355x"))
    question = replace(
        scenario, accelerators=columns, demand=demand, decision=replace(scenario.decision, answers={"priority": "cost"})
    )
    deployed = {
        spares: format_recommended_deployment(
            service.decide(service.answer(replace(question, demand=replace(demand, spare_replicas=spares)))),
            Formatter(),
        )
        for spares in (0, 1)
    }
    assert deployed == {0: "2 accelerators, DP 2", 1: "3 accelerators, DP 3; 1 replica is a spare"}


def test_without_answers_nothing_is_recommended(service: GpuDeskService) -> None:
    answer = answer_with(service)
    further = service.make_sheet_extras(answer)
    assert further.decision is None
    sheet = build_sheet(answer, further=further)
    assert sheet.recommendation is None
    assert sheet.trace == ()
    assert "Recommendation" not in write_sheet_markdown(sheet)
    assert "decision" not in json.loads(write_sheet_json(answer, further))
    assert 'class="recommendation"' not in write_sheet_html(sheet)


def test_rules_are_there_only_on_request(answer: Answer, further: SheetExtras) -> None:
    short = build_sheet(answer, further=replace(further, with_rules=False))
    assert short.trace == ()
    assert short.recommendation == build_sheet(answer, further=further).recommendation
    assert "favors it" not in write_sheet_markdown(short)
    assert 'class="trace"' not in write_sheet_html(short)


def test_verdict_is_shown_with_all_odds(sheet: ComparisonSheet, further: SheetExtras) -> None:
    recommendation, decision = sheet.recommendation, decision_of(further)
    assert recommendation is not None
    odds = [each.odds for each in recommendation.candidates]
    assert odds == sorted((each.odds for each in decision.candidates if each.eligible), reverse=True)
    assert math.fsum(odds) == pytest.approx(1.0)
    assert {each.slot for each in recommendation.candidates} <= {head.slot for head in sheet.heads}
    assert all(each.value.startswith("$") for each in recommendation.candidates)


def test_a_winner_has_its_swatch(service: GpuDeskService) -> None:
    answer = answer_with(service, porting="no")
    further = service.make_sheet_extras(answer)
    decision = replace(decision_of(further), verdict=DecisionVerdict.WINNER)
    recommendation = build_sheet(answer, further=replace(further, decision=decision)).recommendation
    assert recommendation is not None
    assert decision.recommended is not None
    place = decision.columns.index(decision.recommended.key)
    assert recommendation.slot == build_sheet(answer).heads[place].slot


SUBJECTS = (
    *(
        "Key figures",
        "For B200 SXM",
        "Against B200 SXM",
        "Alternatives",
        "Rental price",
        "Missing figures",
        "Tipping points",
        "Ruled out",
    ),
    *("Measure next", "Next steps", "Assumptions", "Your answers"),
)


def test_lines_contain_everything_in_order(sheet: ComparisonSheet, further: SheetExtras) -> None:
    recommendation, decision = sheet.recommendation, decision_of(further)
    assert recommendation is not None
    subjects = list(dict.fromkeys(line.subject for line in recommendation.lines))
    assert subjects == [each for each in SUBJECTS if each in subjects]
    by_subject = {
        subject: [line.text for line in recommendation.lines if line.subject == subject] for subject in SUBJECTS
    }
    assert len(by_subject["Ruled out"]) == len({each.key for each in decision.exclusions})
    assert len(by_subject["For B200 SXM"]) == len(decision.reasons)
    assert len(by_subject["Against B200 SXM"]) == len(decision.against)
    assert len(by_subject["Your answers"]) == 3
    assert by_subject["Tipping points"] == ["Serving engine: TensorRT-LLM (now any): B200 SXM leads"]
    assert by_subject["Key figures"][0] == "Deployment: 1 accelerator"
    assert by_subject["Assumptions"][0] == "Rented accelerators are paid around the clock"
    assert "Porting cost is excluded, because your current platform is unknown" in by_subject["Assumptions"]
    assert not any(line.text.endswith(".") for line in recommendation.lines)


def test_remarks_on_rents_name_no_accelerator_that_is_ruled_out(service: GpuDeskService) -> None:
    """TensorRT-LLM does not run on AMD: its lower rent at another provider is nothing to the user."""
    answer = answer_with(service, priority="cost", acquisition="rent", serving_engine="tensorrt-llm")
    extras = service.make_sheet_extras(answer)
    decision, names = decision_of(extras), dict(zip(answer.keys, list_column_names(answer), strict=True))
    out = {names[each.key] for each in decision.candidates if each.removed}
    assert out
    remarks = [
        line.text
        for line in list_recommendation_lines(decision, (), names, Formatter(), extras.costs)
        if line.subject == "Rental price"
    ]
    assert remarks
    assert not any(name in remark for name in out for remark in remarks)


def test_count_precedes_a_name_once(service: GpuDeskService) -> None:
    """Columns of one accelerator have the count in their name."""
    scenario = read_template("70b-chat-on-four")
    choices = tuple(AcceleratorChoice("h100-sxm", count=count) for count in (4, 8))
    answer = service.answer(replace(scenario, accelerators=choices))
    decision, names = service.decide(answer), dict(zip(answer.keys, list_column_names(answer), strict=True))
    lines = [each.deployment for each in list_candidate_lines(decision, names, Formatter())]
    assert sorted(lines) == ["4 × H100 SXM", "8 × H100 SXM"]
    assert format_verdict(decision, names, Formatter()).count("×") in (1, 2)


def test_a_sheet_shows_the_nearest_changes_only(answer: Answer, further: SheetExtras) -> None:
    recommendation = build_sheet(answer, further=replace(further, flips=(FLIP,) * 20)).recommendation
    assert recommendation is not None
    assert [line.subject for line in recommendation.lines].count("Tipping points") == 6


@pytest.mark.parametrize(
    ("answers", "assumed", "not_assumed"),
    [
        ({"acquisition": "own"}, "used for 3 years", "Buy or rent is not answered"),
        ({"priority": "cost"}, "Buy or rent is not answered", "Porting cost is included"),
        (
            {"priority": "cost", "current_platform": "CUDA"},
            "Porting cost is included, shared by",
            "Porting cost is excluded",
        ),
        ({"priority": "speed", "current_platform": "ROCm"}, "Porting cost is included, shared by", "Buy or rent"),
    ],
)
def test_cost_assumptions_are_listed(
    service: GpuDeskService, answers: dict[str, AnswerValue], assumed: str, not_assumed: str
) -> None:
    answer = answer_with(service, **answers)
    extras = service.make_sheet_extras(answer)
    lines = list(list_decision_assumptions(decision_of(extras), {}, Formatter(), extras.costs))
    assert any(assumed in line for line in lines)
    assert not any(not_assumed in line for line in lines)
    assert extras.costs is not None
    utilization = describe_utilization(extras.costs.utilisation, Formatter())
    terms = describe_verdict_terms(decision_of(extras), dict(zip(answer.keys, answer.keys, strict=True)), Formatter())
    assert (utilization in lines, terms.startswith(f"At {utilization}. ")) in ((True, False), (False, True)), "once"


@pytest.mark.parametrize(
    ("acquisition", "expected"), [("rent", {"rent"}), ("own", {"own"}), ("undecided", {"rent", "own"})]
)
def test_figures_are_of_the_way_to_pay_that_is_open(
    service: GpuDeskService, acquisition: str, expected: set[str]
) -> None:
    answer = answer_with(service, priority="cost", acquisition=acquisition)
    decision = service.decide(answer)
    key = find_leading_column(decision)
    assert key is not None
    labels = {label for label, _ in list_delivered_figures(decision, key, Formatter())}
    facts = {"rent": ("rented_usd_per_million", "rent_usd_h"), "own": ("owned_usd_per_million", "spend_usd")}
    part = decision.parts[decision.columns.index(key)]
    for way, names in facts.items():
        expected_labels = {label_fact(name) for name in names if part[name] is not None}
        assert {label_fact(name) for name in names} & labels == (expected_labels if way in expected else set())


def test_other_goals_assume_nothing_of_costs_that_they_do_not_name(service: GpuDeskService) -> None:
    decision = decision_of(service.make_sheet_extras(answer_with(service, priority="speed")))
    decision = replace(decision, reasons=(), against=())
    assert list(list_decision_assumptions(decision, {}, Formatter())) == []


def test_same_advice_of_several_rules_is_listed_once(service: GpuDeskService) -> None:
    decision = decision_of(service.make_sheet_extras(answer_with(service, months_to_launch=3.0)))
    twice = replace(decision, advice=(*decision.advice, decision.advice[0]._replace(rule="D999-01")))
    names = {key: key for key in decision.columns}
    lines = [line.text for line in list_recommendation_lines(twice, (), names, Formatter())]
    text = decision.advice[0].text.rstrip(".")
    assert [each for each in lines if each.startswith(text)] == [text]


def test_systems_of_one_accelerator_are_not_counted_twice(service: GpuDeskService) -> None:
    scenario = answer_with(service, acquisition="own", priority="cost").scenario
    for part, has_systems in (("gb10", False), ("h200-sxm", True)):
        small = replace(scenario, model="llama-3.1-8b", accelerators=(AcceleratorChoice(part, count=1),))
        small = replace(small, costs=replace(small.costs, single_accelerators=False))
        decision = service.decide(service.answer(small))
        assert decision.candidates[0].systems is not None
        lines = [line.text for line in list_recommendation_lines(decision, (), {part: part}, Formatter())]
        assert any(line.startswith("To buy: 1 system of 8") for line in lines) is has_systems
        assert any(line.startswith("To buy: ") for line in lines) is has_systems


def test_the_trace_has_a_row_for_each_rule_that_fired(sheet: ComparisonSheet, further: SheetExtras) -> None:
    decision = decision_of(further)
    assert [row.rule for row in sheet.trace] == [line.rule.id for line in decision.trace]
    for row, line in zip(sheet.trace, decision.trace, strict=True):
        assert row.effects == tuple(cell.effect for cell in line.cells)
        assert row.source.startswith(("MI", "B200", "AMD", "Your limit"))
        assert row.source in row.row.detail
        assert row.answer in row.row.detail
    by_rule = {row.rule: row for row in sheet.trace}
    cost = by_rule["D000-02"]
    assert cost.row.unit == "USD/M tokens"
    assert all(cell.low is not None for cell in cost.row.cells)
    assert cost.weight == "weight 3"
    assert any(row.weight.startswith("counted with ") for row in sheet.trace)
    assert by_rule["D004-03"].weight == ""


def test_trace_signs_show_the_effect_of_a_rule(sheet: ComparisonSheet) -> None:
    signed_rows = {row.label: row for group in build_trace_table(sheet).groups for row in group.rows}
    limit = next(row for label, row in signed_rows.items() if label.startswith("L-01 "))
    assert limit.cells[0].text.startswith("⊘ ")
    assert limit.cells[0].mark is CellMarking.FAILS
    favored = next(row for label, row in signed_rows.items() if label.startswith("D000-02 "))
    assert {cell.text[0] for cell in favored.cells} <= set("↑·?")
    unsigned_rows = {row.label: row for group in build_trace_table(sheet, signed=False).groups for row in group.rows}
    for label, row in unsigned_rows.items():
        for cell in row.cells:
            assert "⊘" not in cell.text, label
            assert cell.text
    titles = [group.title for group in build_trace_table(sheet).groups]
    assert titles == [each for each in ("Decisive", "Arguments", "No effect") if each in titles]
    assert titles[0] == "Decisive"


def test_plain_trace_has_a_word_in_every_cell(service: GpuDeskService) -> None:
    answer = answer_with(service, destination="controlled", site="pcie")
    sheet = build_sheet(answer, further=service.make_sheet_extras(answer, with_rules=True))
    assert sheet.trace
    for group in build_trace_table(sheet, signed=False).groups:
        for row in group.rows:
            assert all(cell.text != MISSING_VALUE_TEXT for cell in row.cells)


def test_pages_of_html_and_markdown_carry_verdict_and_trace(sheet: ComparisonSheet) -> None:
    recommendation = sheet.recommendation
    assert recommendation is not None
    html = read(write_sheet_html(sheet))
    page_text = " ".join(" ".join(html.texts).split())
    markdown = write_sheet_markdown(sheet)
    assert recommendation.verdict in page_text
    for each in recommendation.candidates:
        for cell_text in (each.deployment, each.value, each.odds_text):
            assert cell_text in page_text
        assert f"| {each.deployment} | {each.value} | {each.odds_text} |" in markdown.replace("\\", "")
    for line in recommendation.lines:
        assert " ".join(f"{line.text}.".split()) in page_text
    assert f"**{recommendation.verdict}**" in markdown.replace("\\", "")
    assert "### For" in markdown
    for row in sheet.trace:
        assert f"{row.rule} {row.row.label}" in page_text
        assert row.rule in markdown
    assert "⊘ rules it out, ↑ favors it, ✓ passes, · no effect, ? undecided" in markdown
    widths = [value for name, value in html.attributes if name == "style"]
    assert len(widths) >= len(recommendation.candidates)


def test_tables_for_programs_carry_effects_and_figures(answer: Answer, further: SheetExtras) -> None:
    sheet = build_machine_sheet(answer, further)
    lines = list(csv.reader(io.StringIO(write_sheet_csv(sheet))))
    assert len({len(line) for line in lines}) == 1
    assert ["Recommendation", "Verdict"] in [line[:2] for line in lines]
    trace = [line for line in lines if line[0].startswith("Rules: ")]
    assert len(trace) == len(sheet.trace)
    limit = next(line for line in trace if line[1].startswith("L-01 "))
    assert limit[2] == "ms"
    assert float(limit[4]) < float(limit[3]) < float(limit[5])
    assert limit[6] == "rules it out"
    with zipfile.ZipFile(io.BytesIO(write_sheet_xlsx(sheet))) as book:
        names = book.read("xl/workbook.xml").decode()
        strings = book.read("xl/sharedStrings.xml").decode()
    assert 'name="Recommendation"' in names
    assert 'name="Rules"' in names
    assert "MI325X effect" in strings
    assert "MI325X vs H200" in strings


def test_json_has_the_whole_decision(answer: Answer, further: SheetExtras) -> None:
    document = json.loads(write_sheet_json(answer, further))["decision"]
    decision = decision_of(further)
    assert document["verdict"] == decision.verdict.value
    assert len(document["trace"]) == len(decision.trace)
    assert document["flips"] == [
        {"input": "serving_engine", "from": "any", "to": "tensorrt-llm", "becomes": ["b200-hgx"], "verdict": "winner"}
    ]
    effects = {cell["effect"] for line in document["trace"] for cell in line["effects"].values()}
    assert effects <= {each.value for each in RuleEffect}


def test_every_word_of_the_program_is_translated(answer: Answer, further: SheetExtras) -> None:
    translation.set_language("pseudo")
    sheet = build_sheet(answer, further=further)
    recommendation = sheet.recommendation
    assert recommendation is not None
    texts = [recommendation.verdict, recommendation.reason, *(line.subject for line in recommendation.lines)]
    texts += [line.text for line in recommendation.lines if line.subject != recommendation.lines[0].subject]
    texts += [part for row in sheet.trace for part in (row.strength, row.answer, row.source)]
    trace = build_trace_table(sheet)
    texts += [trace.title, *(group.title for group in trace.groups)]
    # Titles and advice of rules are data, as their documents' words are.
    decision = decision_of(further)
    titles = {line.title for line in decision.trace} | {each.text.rstrip(".") for each in decision.advice}
    assert [each for each in texts if "⟦" not in each and each not in titles] == []
