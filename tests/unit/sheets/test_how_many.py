"""What a sheet says of how many accelerators are needed."""

import json
from collections.abc import Iterator

import pytest

from gpudesk.domain.answers import Answer
from gpudesk.domain.further import Further
from gpudesk.domain.sizing import HowMany
from gpudesk.sheets.csv import sheet_csv
from gpudesk.sheets.html import sheet_html
from gpudesk.sheets.json import sheet_json
from gpudesk.sheets.markdown import sheet_markdown
from gpudesk.sheets.sections import machine_sheet, make_sheet
from gpudesk.sheets.sheet import Mark, Sheet
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open(with_own=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def answer(workbench: Workbench) -> Answer:
    return workbench.answer(read_template("405b-one-node"))


@pytest.fixture(scope="module")
def how_many(workbench: Workbench, answer: Answer) -> HowMany:
    return workbench.how_many(answer.scenario)


def counts(sheet: Sheet, title: str) -> dict[str, list[tuple[str, str | None]]]:
    group = next(group for group in sheet.how_many.groups if group.title == title)
    return {row.label: [(cell.text, cell.detail) for cell in row.cells] for row in group.rows}


def test_a_sheet_says_how_many_only_where_it_is_told(answer: Answer) -> None:
    sheet = make_sheet(answer)
    assert sheet.how_many.groups == ()
    assert "Accelerators needed" not in sheet_html(sheet)


def test_counts_are_those_that_were_found(answer: Answer, how_many: HowMany) -> None:
    sheet = make_sheet(answer, further=Further(how_many))
    titles = [group.title for group in sheet.how_many.groups]
    assert titles[0].startswith("Accelerators needed: ")
    assert titles[0].endswith(" in flight")
    shown = counts(sheet, titles[0])
    assert [cell[0] for cell in shown["Weights in FP8"]] == [
        "—" if (size := next(each.load for each in needed if each.bits == 8)) is None else str(size.count)
        for needed in how_many.needed
    ]


def test_what_cannot_be_is_marked_with_its_reason(answer: Answer, how_many: HowMany) -> None:
    sheet = make_sheet(answer, further=Further(how_many))
    cells = [cell for group in sheet.how_many.groups for row in group.rows for cell in row.cells]
    assert {cell.mark for cell in cells if cell.text == "—"} <= {Mark.FAILS}
    assert all(cell.detail for cell in cells if cell.text == "—")


def test_every_form_of_the_sheet_has_the_counts(answer: Answer, how_many: HowMany) -> None:
    sheet = make_sheet(answer, further=Further(how_many))
    for made in (
        sheet_html(sheet),
        sheet_markdown(sheet),
        sheet_csv(machine_sheet(answer, Further(how_many))),
    ):
        assert "Accelerators needed: " in made
        assert "Weights in FP8" in made
    needed = json.loads(sheet_json(answer, Further(how_many)))["needed"]
    assert [each["accelerator"] for each in needed] == [column.accelerator.id for column in answer.columns]
    eight = next(each for each in needed[0]["formats"] if each["bits"] == 8)
    found = next(each for each in how_many.needed[0] if each.bits == 8)
    assert found.one is not None
    assert eight["one_request"]["count"] == found.one.count
    assert eight["one_request"]["parallel"]["tp"] == found.one.plan.tp
