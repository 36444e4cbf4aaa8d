"""Costs on the sheet: the figures of the command line, in every form, and what they rest on."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gpudesk.domain.answers import Answer
from gpudesk.domain.cost_inputs import Currency
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.further import Further
from gpudesk.sheets.case_words import case_conclusion, case_title
from gpudesk.sheets.csv import sheet_csv
from gpudesk.sheets.html import sheet_html
from gpudesk.sheets.json import sheet_json
from gpudesk.sheets.markdown import sheet_markdown
from gpudesk.sheets.money import Money
from gpudesk.sheets.sections import machine_sheet, make_sheet
from gpudesk.sheets.sheet import Mark
from gpudesk.workbench.templates import read_template
from gpudesk.workbench.workbench import Workbench


@pytest.fixture(scope="module")
def workbench() -> Iterator[Workbench]:
    with Workbench.open(with_own=False) as opened:
        yield opened


@pytest.fixture(scope="module")
def answer(workbench: Workbench) -> Answer:
    return workbench.answer(read_template("70b-chat-on-four"), with_curves=True)


@pytest.fixture(scope="module")
def further(workbench: Workbench, answer: Answer) -> Further:
    return workbench.further(answer)


def rows(answer: Answer, further: Further) -> dict[str, list[str]]:
    """Return the texts of the cost rows by their labels."""
    (group,) = make_sheet(answer, further=further).costs.groups
    return {row.label: [cell.text for cell in row.cells] for row in group.rows}


def test_costs_are_those_that_were_worked_out(answer: Answer, further: Further) -> None:
    assert further.costs is not None
    money, shown = Money(Formatter()), rows(answer, further)
    columns = further.costs.columns
    assert shown["Owned"] == [
        money.small(each.owned.output.value if each.owned else None) for each in columns
    ]
    assert shown["3 years of owning"] == [
        money.thousands(each.tco.total_usd if each.tco else None) for each in columns
    ]
    assert shown["Below rent after"] == ["21.8", "26.3", "12.1", UNKNOWN]


def test_what_has_no_price_is_marked_and_named(answer: Answer, further: Further) -> None:
    sheet = make_sheet(answer, further=further)
    owned = sheet.costs.groups[0].rows[0]
    assert [cell.mark for cell in owned.cells] == [None, None, None, Mark.FAILS]
    said = [remark.text for remark in sheet.remarks if remark.subject == "Cost"]
    assert "MI355X: no purchase price found" in said
    assert any(text.startswith("Taken for granted") and "Energy 0.14" in text for text in said)


def test_a_sheet_tells_costs_only_where_it_is_told(answer: Answer) -> None:
    sheet = make_sheet(answer)
    assert sheet.costs.groups == ()
    assert not any(remark.subject == "Cost" for remark in sheet.remarks)


def test_every_form_of_the_sheet_has_the_costs(answer: Answer, further: Further) -> None:
    sheet = make_sheet(answer, further=further)
    table = sheet_csv(machine_sheet(answer, further))
    for made in (sheet_html(sheet), sheet_markdown(sheet), table):
        assert "Cost of a million output tokens in USD" in made
        assert "no purchase price found" in made
    costs = json.loads(sheet_json(answer, further))["costs"]
    assert [each["accelerator"] for each in costs["candidates"]] == [
        "h200-sxm",
        "mi325x",
        "b200-hgx",
        "mi355x",
    ]
    assert "draws" not in costs


def test_amounts_are_in_the_currency_of_the_scenario(workbench: Workbench, answer: Answer) -> None:
    euro = replace(answer.scenario.costs, currency=Currency("EUR", 0.5, "2026-11-01"))
    other = replace(answer, scenario=replace(answer.scenario, costs=euro))
    sheet = make_sheet(other, further=workbench.further(other))
    (group,) = sheet.costs.groups
    assert "in EUR" in group.title
    assert [row.unit for row in group.rows[:4]] == ["EUR", "EUR", "EUR/h", "kEUR"]
    assert group.rows[3].cells[0].text == "32.4"


@pytest.mark.parametrize(
    ("usd", "small", "thousands"),
    [
        (0.0123456, "0.0123", "0.0"),
        (0.556, "0.56", "0.0"),
        (22.5, "22.50", "0.0"),
        (1234.5, "1,234", "1.2"),
        (123_456.0, "123,456", "123"),
        (None, UNKNOWN, UNKNOWN),
    ],
)
def test_amounts_have_the_digits_that_they_deserve(usd: float | None, small: str, thousands: str) -> None:
    money = Money(Formatter())
    assert (money.small(usd), money.thousands(usd)) == (small, thousands)


def test_conclusions_of_cases_are_made_of_worked_out_figures(workbench: Workbench) -> None:
    figures = workbench.worked_examples
    said = case_conclusion("model_of_800", figures, Formatter())
    for number in ("19.4 %", "1.168", "0.264", "23.3 to 27.4", "2,100", "12,075"):
        assert number in said
    said = case_conclusion("listed_rents", figures, Formatter())
    for number in ("710 to 1,300", "2,000", "3.5 times", "17.5", "592"):
        assert number in said
    titles = {case_title(each.id) for each in workbench.costing.assumptions.cases}
    assert len(titles) == 3
