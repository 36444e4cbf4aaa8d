"""What a sheet says of how many accelerators are needed."""

import json
import re
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Answer, SheetExtras
from gpudesk.domain.decision import DecisionSettings
from gpudesk.domain.sizing import AcceleratorNeeds, Demand, DemandKind
from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
from gpudesk.report.comparison.tables import CellMarking, ComparisonSheet
from gpudesk.report.sizing import explain_degrees
from gpudesk.report.writers.csv import write_sheet_csv
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.json import write_sheet_json
from gpudesk.report.writers.markdown import write_sheet_markdown
from gpudesk.service import GpuDeskService


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    return service.answer(read_template("405b-one-node"))


@pytest.fixture(scope="module")
def how_many(service: GpuDeskService, answer: Answer) -> AcceleratorNeeds:
    return service.how_many(answer.scenario)


def list_counts(sheet: ComparisonSheet, title: str) -> dict[str, list[tuple[str, str | None]]]:
    group = next(group for group in sheet.how_many.groups if group.title == title)
    return {row.label: [(cell.text, cell.detail) for cell in row.cells] for row in group.rows}


def test_sheet_without_sizing_has_no_counts(answer: Answer) -> None:
    sheet = build_sheet(answer)
    assert sheet.how_many.groups == ()
    assert "Accelerators needed" not in write_sheet_html(sheet)


def test_counts_are_those_that_were_found(answer: Answer, how_many: AcceleratorNeeds) -> None:
    sheet = build_sheet(answer, further=SheetExtras(how_many))
    titles = [group.title for group in sheet.how_many.groups]
    assert titles[0].startswith("Accelerators needed: ")
    assert titles[0].endswith(" in flight")
    printed_counts = list_counts(sheet, titles[0])
    assert [cell[0] for cell in printed_counts["FP8 weights"]] == [
        "—" if (size := next(each.load for each in needed if each.bits == 8)) is None else str(size.count)
        for needed in how_many.needed
    ]


def test_sheet_notes_counts_that_the_user_set(service: GpuDeskService) -> None:
    """The scenario states one accelerator each, the demand needs two or more."""
    scenario = replace(read_template("70b-chat-on-four"), demand=Demand(DemandKind.CONCURRENCY, 64.0))
    answer = service.answer(scenario)
    texts = [remark.text for remark in build_sheet(answer, further=service.make_sheet_extras(answer)).sizing]
    assert [text.startswith(("2 ×", "3 ×")) for text in texts] == [True] * 4
    assert all(text.endswith(". The recommendation keeps the 1 that you set") for text in texts)
    free = replace(scenario, accelerators=tuple(replace(each, count=None) for each in scenario.accelerators))
    answer = service.answer(free)
    texts = [remark.text for remark in build_sheet(answer, further=service.make_sheet_extras(answer)).sizing]
    assert not any("recommendation" in text for text in texts)
    fast = replace(free, decision=DecisionSettings({"tpot_limit_ms": 30.0}))
    answer = service.answer(fast)
    texts = [remark.text for remark in build_sheet(answer, further=service.make_sheet_extras(answer)).sizing]
    assert any(re.search(r"\. Your answers change the count to \d+$", text) for text in texts)


def test_abbreviations_in_the_counts_are_spelled_out(answer: Answer, how_many: AcceleratorNeeds) -> None:
    remarks = [remark.text for remark in build_sheet(answer, further=SheetExtras(how_many)).remarks]
    assert any(text.startswith("TP: tensor parallel") for text in remarks)
    one = tuple(tuple(replace(each, load=each.one) for each in column[-1:]) for column in how_many.needed[-1:])
    assert explain_degrees(one) == "", "one accelerator needs no plan"


def test_impossible_value_is_marked_with_its_reason(answer: Answer, how_many: AcceleratorNeeds) -> None:
    sheet = build_sheet(answer, further=SheetExtras(how_many))
    cells = [cell for group in sheet.how_many.groups for row in group.rows for cell in row.cells]
    assert {cell.mark for cell in cells if cell.text == "—"} <= {CellMarking.FAILS}
    assert all(cell.detail for cell in cells if cell.text == "—")


def test_every_form_of_the_sheet_has_the_counts(answer: Answer, how_many: AcceleratorNeeds) -> None:
    sheet = build_sheet(answer, further=SheetExtras(how_many))
    for document in (
        write_sheet_html(sheet),
        write_sheet_markdown(sheet),
        write_sheet_csv(build_machine_sheet(answer, SheetExtras(how_many))),
    ):
        assert "Accelerators needed: " in document
        assert "FP8 weights" in document
    needed = json.loads(write_sheet_json(answer, SheetExtras(how_many)))["needed"]
    assert [each["accelerator"] for each in needed] == [column.accelerator.id for column in answer.columns]
    eight = next(each for each in needed[0]["formats"] if each["bits"] == 8)
    eight_bit = next(each for each in how_many.needed[0] if each.bits == 8)
    assert eight_bit.one is not None
    assert eight["one_request"]["count"] == eight_bit.one.count
    assert eight["one_request"]["parallel"]["tp"] == eight_bit.one.plan.tp
