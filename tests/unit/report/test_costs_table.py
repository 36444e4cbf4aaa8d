"""Costs on the sheet: the figures of the command line, in every form, and what they rest on."""

import json
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Answer, SheetExtras
from gpudesk.domain.claim import PURCHASE_TERM, PriceSummary, ProviderClass
from gpudesk.domain.cost import DisplayCurrency, ProviderRent, UncertainValue
from gpudesk.report.catalog_lists import format_price_summary
from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
from gpudesk.report.costs import MoneyFormatter, describe_cheapest_rents, format_input_range
from gpudesk.report.explanation.worked_examples import describe_cost_case, label_cost_case
from gpudesk.report.writers.csv import write_sheet_csv
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.json import write_sheet_json
from gpudesk.report.writers.markdown import write_sheet_markdown
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    return service.answer(read_template("70b-chat-on-four"), with_curves=True)


@pytest.fixture(scope="module")
def further(service: GpuDeskService, answer: Answer) -> SheetExtras:
    return service.make_sheet_extras(answer)


def rows(answer: Answer, further: SheetExtras) -> dict[str, list[str]]:
    (group,) = build_sheet(answer, further=further).costs.groups
    return {row.label: [cell.text for cell in row.cells] for row in group.rows}


def test_costs_equal_the_computed_ones(answer: Answer, further: SheetExtras) -> None:
    assert further.costs is not None
    money, cost_rows = MoneyFormatter(Formatter()), rows(answer, further)
    columns = further.costs.columns
    assert cost_rows["Rental price, median"] == [money.small(each.rent_usd_per_hour) for each in columns]
    assert cost_rows["Cost over 3 years, owned"] == [
        money.thousands(each.tco.total_usd if each.tco else None) for each in columns
    ]
    assert cost_rows["Payback period"] == ["19.6", "13.0", "14.4", MISSING_VALUE_TEXT]


def test_missing_prices_are_marked_and_named(answer: Answer, further: SheetExtras) -> None:
    sheet = build_sheet(answer, further=further)
    _, price, owned_row = sheet.costs.groups[0].rows[:3]
    assert [cell.text for cell in price.cells] == ["35,000", "22,000", "41,500", MISSING_VALUE_TEXT]
    assert price.cells[0].detail == "8 prices, 2026-05"
    assert owned_row.cells[3].text == MISSING_VALUE_TEXT
    assert not any(remark.subject == "Cost" for remark in sheet.remarks), "the same word before every sentence"
    remarks = [remark.text for remark in sheet.remarks]
    assert "MI355X: no purchase price" in remarks
    assert any(text.startswith("Cost assumptions") and "Electricity price $0.14" in text for text in remarks)


def test_sheet_without_extras_has_no_costs(answer: Answer) -> None:
    sheet = build_sheet(answer)
    assert sheet.costs.groups == ()
    assert not any("cost" in remark.text.casefold() for remark in sheet.remarks)


def test_every_form_of_the_sheet_has_the_costs(answer: Answer, further: SheetExtras) -> None:
    sheet = build_sheet(answer, further=further)
    table = write_sheet_csv(build_machine_sheet(answer, further))
    for document in (write_sheet_html(sheet), write_sheet_markdown(sheet), table):
        assert "Cost in USD: 100% utilization" in document
        assert "no purchase price" in document
    costs = json.loads(write_sheet_json(answer, further))["costs"]
    assert [each["accelerator"] for each in costs["candidates"]] == ["h200-sxm", "mi325x", "b200-hgx", "mi355x"]
    assert "draws" not in costs


def test_amounts_are_in_the_currency_of_the_scenario(service: GpuDeskService, answer: Answer) -> None:
    euro = replace(answer.scenario.costs, currency=DisplayCurrency("EUR", 0.5, "2026-11-01"))
    other = replace(answer, scenario=replace(answer.scenario, costs=euro))
    sheet = build_sheet(other, further=service.make_sheet_extras(other))
    (group,) = sheet.costs.groups
    assert "in EUR" in group.title
    assert [row.unit for row in group.rows[:3]] == ["EUR/h", "EUR", "thousand EUR"]
    assert group.rows[2].cells[0].text == "33.3"


@pytest.mark.parametrize(
    ("usd", "small", "thousands"),
    [
        (0.0123456, "0.0123", "0.0"),
        (0.556, "0.56", "0.0"),
        (22.5, "22.50", "0.0"),
        (1234.5, "1,234", "1.2"),
        (123_456.0, "123,456", "123"),
        (None, MISSING_VALUE_TEXT, MISSING_VALUE_TEXT),
    ],
)
def test_amounts_have_the_digits_that_they_deserve(usd: float | None, small: str, thousands: str) -> None:
    money = MoneyFormatter(Formatter())
    assert (money.small(usd), money.thousands(usd)) == (small, thousands)


def test_shown_amounts_of_inputs_and_comparisons_are_rounded() -> None:
    money, rent = MoneyFormatter(Formatter()), UncertainValue(2.0, 2.2075, 3.5)
    text = format_input_range("rent_usd_per_hour", rent, Formatter()).replace("\N{NO-BREAK SPACE}", " ")
    assert text == "$2.21/h (2.00 – 3.50)"
    assert (money.rounded(1_234_567.0), money.rounded_thousands(1_234_567.0)) == ("1,230,000", "1,230")
    bought = PriceSummary("mi325x", PURCHASE_TERM, 30_000.0, 36_468.5, 41_250.0, 3, 0, None, None, 3, ())
    assert format_price_summary(bought, Formatter()) == ("30,000", "36,500", "41,250")


def test_conclusions_of_cases_use_computed_figures(service: GpuDeskService) -> None:
    figures = service.worked_examples
    conclusion = describe_cost_case("model_of_800", figures, Formatter())
    for number in ("19.4%", "1.17", "$0.264/kWh", "23.3 and 27.4", "$2,100", "$12,075"):
        assert number in conclusion
    conclusion = describe_cost_case("listed_rents", figures, Formatter())
    for number in ("$710 to $1,300", "$2,000", "3.5 times", "17.5", "592"):
        assert number in conclusion
    titles = {label_cost_case(each.id) for each in service.costing.assumptions.cases}
    assert len(titles) == 3


@pytest.mark.parametrize("provider_class", ProviderClass)
def test_rents_of_providers_of_every_class_are_described(provider_class: ProviderClass) -> None:
    """A provider that only the user names has no class."""
    rent = ProviderRent("Mine", provider_class, "on_demand", 0.42, "2026-11-20")
    assert "Mine (" in describe_cheapest_rents([rent], "H200", MoneyFormatter(Formatter(), None))
