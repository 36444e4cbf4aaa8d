"""Cash flows as workbooks: formulas that give what stands in their cells, and what the program computes."""

import io
import math
import zipfile
from dataclasses import replace

import openpyxl
import pytest

from gpudesk.costing.accelerator_costs import OF_OWNING, OF_RENTING, OwnershipInputs, list_ownership_lines
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.accelerator import SystemCount
from gpudesk.domain.answer import Answer
from gpudesk.domain.cost import (
    COST_INPUTS,
    CostAnswer,
    CostColumn,
    CostInputOrigin,
    ResolvedCostInput,
    TotalCostOfOwnership,
    UncertainValue,
)
from gpudesk.report.cash_flow import COUNT, IDLE, IDLE_RENTED, OPEN_INPUTS, build_cash_flow_workbook
from gpudesk.report.costs import label_cost_input, label_cost_line
from gpudesk.report.labels import list_column_names
from gpudesk.service import GpuDeskService
from gpudesk.text import translation
from gpudesk.text.formatting import MISSING_VALUE_TEXT
from gpudesk.text.units import HOURS_PER_YEAR
from tests.unit.report.live_book import TOKEN, Book, Value, get_number

Names = dict[str, str]
#: Numbers that a formula may hold: one, half, a first match, and what units are made of.
CONSTANTS = {"0", "1", "2", "12", "1000", "3600", "8760", "1000000"}


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    """Return Llama 3.1 70B on one each of H200, MI325X, B200 and MI355X, of which the last has no price.

    The team's software runs on CUDA, so that it is ported to the others.
    """
    template = read_template("70b-chat-on-four")
    return service.answer(replace(template, costs=replace(template.costs, runs_on="CUDA")))


@pytest.fixture(scope="module")
def costs(service: GpuDeskService, answer: Answer) -> CostAnswer:
    return service.costing.costs(answer)


@pytest.fixture(scope="module")
def names(costs: CostAnswer, answer: Answer) -> Names:
    return {column.key: name for column, name in zip(costs.columns, list_column_names(answer), strict=True)}


@pytest.fixture(scope="module")
def raw(costs: CostAnswer, names: Names) -> bytes:
    return write_book(costs, names)


@pytest.fixture(scope="module")
def book(raw: bytes) -> Book:
    return Book(raw)


def write_book(costs: CostAnswer, names: Names) -> bytes:
    return build_cash_flow_workbook(costs, names, title="Chat on four", revision="2026-08", made_on="2026-08-31")


def compute_costs(service: GpuDeskService, answer: Answer, **inputs: float) -> CostAnswer:
    inputs_by_name = {name: UncertainValue.exactly(value) for name, value in inputs.items()}
    settings = replace(answer.scenario.costs, inputs=inputs_by_name)
    return service.costing.costs(replace(answer, scenario=replace(answer.scenario, costs=settings)))


def with_column(costs: CostAnswer, **changes: ResolvedCostInput) -> CostAnswer:
    first, *rest = costs.columns
    return replace(costs, columns=(replace(first, inputs={**first.inputs, **changes}), *rest))


def list_owned_columns(costs: CostAnswer) -> list[tuple[CostColumn, TotalCostOfOwnership]]:
    return [(column, column.tco) for column in costs.columns if column.tco is not None]


def summary(book: Book, name: str) -> list[Value]:
    """Return the row of an accelerator in the summary, without its name."""
    return [book.value(book.beside("Summary", name, letter)) for letter in "BCDEFGHI"]


def assert_agrees(book: Book) -> None:
    """Every formula gives what its cell holds."""
    for place in book.formulas:
        value, cached = book.value(place), book.cached[place]
        if isinstance(cached, str):
            assert value == cached, place
        else:
            assert value == pytest.approx(cached, rel=1e-9), place


def assert_is_of(book: Book, costs: CostAnswer, names: Names) -> None:
    """What the formulas give is what the program computes."""
    for column, tco in list_owned_columns(costs):
        name = names[column.key]
        count, years, total, at_once, per_month, per_million, rented, _ = summary(book, name)
        assert column.owned is not None
        assert column.count is not None
        assert (count, years) == (column.count, tco.years)
        assert total == pytest.approx(tco.total_usd, rel=1e-9)
        assert at_once == pytest.approx(tco.at_once_usd, rel=1e-9)
        assert per_month == pytest.approx(tco.per_month_usd, rel=1e-9)
        assert per_million == pytest.approx(column.owned.output.value, rel=1e-9)
        assert column.rent_usd_per_hour is not None
        software = math.fsum(line.usd for line in tco.lines if line.name in ("porting", "upkeep"))
        rent = column.count * column.rent_usd_per_hour * 8760 * tco.years
        assert rented == pytest.approx(rent + software, rel=1e-9)
        # Texts of lines and figures may be the same; lines stand between their head and the total.
        first = int(book.beside(name, "Cost item")[1][1:]) + 1
        for row, line in enumerate(tco.lines, start=first):
            assert book.cached[name, f"A{row}"] == label_cost_line(line.name)
            assert book.value((name, f"B{row}")) == pytest.approx(line.usd, rel=1e-9)
        assert book.cached[name, f"A{first + len(tco.lines)}"] == "Total"


def assert_months_are_of(book: Book, costs: CostAnswer, names: Names) -> None:
    """What is paid by the end is what is paid at once and in all months."""
    for column, tco in list_owned_columns(costs):
        months = book.months(names[column.key])
        term = tco.years * 12.0
        assert [row[0] for row in months] == list(range(math.ceil(term) + 1))
        assert months[-1][2] == pytest.approx(tco.at_once_usd + tco.per_month_usd * term, rel=1e-9)
        assert months[-1][4] == pytest.approx(summary(book, names[column.key])[6], rel=1e-9)
        assert math.fsum(get_number(row[1]) for row in months) == pytest.approx(months[-1][2])


def test_every_formula_evaluates_to_its_cached_value(book: Book) -> None:
    assert len(book.formulas) > 3 * 7 * 180
    assert_agrees(book)


def test_formulas_hold_no_numbers_but_those_of_units(book: Book) -> None:
    numbers = {
        token.group()
        for formula in book.formulas.values()
        for token in TOKEN.finditer(formula)
        if token.lastgroup == "number"
    }
    assert numbers <= CONSTANTS


def test_workbook_costs_equal_those_of_the_program(book: Book, costs: CostAnswer, names: Names) -> None:
    assert len(list_owned_columns(costs)) == 3
    assert len({line.name for line in list_owned_columns(costs)[0][1].lines}) == 14
    assert_is_of(book, costs, names)
    assert_months_are_of(book, costs, names)


def test_idle_accelerators_of_a_partly_used_system_are_paid_for(costs: CostAnswer, names: Names) -> None:
    first, *rest = costs.columns
    assert first.count is not None
    values = {name: each.spread.likely for name, each in first.inputs.items() if each.spread is not None}
    lines = list_ownership_lines(OwnershipInputs(values, first.count, 7))
    idle = replace(first, systems=SystemCount(1, first.count + 7, first.count))
    book = Book(write_book(replace(costs, columns=(idle, *rest)), names))
    assert_agrees(book)
    row = int(book.beside(names[first.key], "Cost item")[1][1:]) + 1
    for place, usd in enumerate(lines.values(), start=row):
        assert book.value((names[first.key], f"B{place}")) == pytest.approx(usd, rel=1e-9)


def test_idle_accelerators_of_rented_instances_are_paid_for(costs: CostAnswer, names: Names) -> None:
    first, *rest = costs.columns
    assert first.count is not None
    assert first.rent_usd_per_hour is not None
    assert first.tco is not None
    more = replace(first, idle_rented=7)
    book, plain = (Book(write_book(replace(costs, columns=(column, *rest)), names)) for column in (more, first))
    assert_agrees(book)
    rented, before = (summary(each, names[first.key])[6] for each in (book, plain))
    assert isinstance(rented, float)
    assert isinstance(before, float)
    assert rented - before == pytest.approx(7 * first.rent_usd_per_hour * first.tco.years * HOURS_PER_YEAR)


def test_inputs_are_those_that_costs_rest_on_as_plain_numbers(book: Book, costs: CostAnswer, names: Names) -> None:
    assert set(OPEN_INPUTS) == {*OF_OWNING, *OF_RENTING, COUNT, IDLE, IDLE_RENTED}
    # A fleet that no one states is the deployment itself, also after its count was changed.
    of_fleet = {book.beside("Inputs", label_cost_input("fleet"), letter) for letter in "BCD"}
    assert {place for place in book.formulas if place[0] == "Inputs"} == of_fleet
    heads = [book.cached["Inputs", f"{letter}4"] for letter in "ABCDEF"]
    assert heads == ["Input", *(names[column.key] for column, _ in list_owned_columns(costs)), "Unit", "Source"]
    for number, (column, _) in enumerate(list_owned_columns(costs)):
        for name in set(OPEN_INPUTS) & set(COST_INPUTS):
            spread = column.inputs[name].spread
            assert spread is not None
            assert book.value(book.beside("Inputs", label_cost_input(name), "BCD"[number])) == spread.likely
    assert book.cached[book.beside("Inputs", "Electricity price", "E")] == "USD/kWh"
    assert str(book.cached[book.beside("Inputs", "Electricity price", "F")]).startswith("assumption: price at")
    note_lines = str(book.cached[book.beside("Inputs", "Rental price", "F")]).splitlines()
    assert [line.partition(":")[0] for line in note_lines] == [
        names[column.key] for column, _ in list_owned_columns(costs)
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("energy_usd_per_kwh", 0.31),
        ("years", 5.0),
        ("years", 1.3),
        ("years", 0.25),
        ("years", 15.0),
        ("discount", 0.2),
        ("residual", 0.35),
        ("spares", 0.0),
        ("capital_rate", 0.11),
        ("utilisation", 0.5),
        ("demand_usd_per_kw_month", 9.0),
        ("porting_engineer_months", 7.0),
        ("engineers", 2.0),
        ("fleet", 64.0),
        ("rent_usd_per_hour", 4.5),
    ],
)
def test_changed_workbook_cell_recomputes_like_the_program(
    service: GpuDeskService, answer: Answer, names: Names, book: Book, name: str, value: float
) -> None:
    cells = [book.beside("Inputs", label_cost_input(name), letter) for letter in "BCD"]
    changed = book.with_changes(dict.fromkeys(cells, value))
    expected = compute_costs(service, answer, **{name: value})
    assert_is_of(changed, expected, names)
    assert_months_are_of(changed, expected, names)
    assert any(changed.value(place) != changed.cached[place] for place in changed.formulas)


@pytest.mark.parametrize("years", [0.25, 2.05, 3.3, 4.0])
def test_terms_that_end_within_a_month(service: GpuDeskService, answer: Answer, names: Names, years: float) -> None:
    costs = compute_costs(service, answer, years=years)
    book = Book(write_book(costs, names))
    assert_agrees(book)
    assert_is_of(book, costs, names)
    assert_months_are_of(book, costs, names)


def test_more_accelerators_cost_as_many_times_as_much(book: Book) -> None:
    place = book.beside("Inputs", "Accelerators")
    more = book.with_changes({place: 8.0})
    name = book.titles[2]
    before, after = summary(book, name), summary(more, name)
    assert after[2:7] == pytest.approx([8.0 * get_number(each) for each in before[2:7]], rel=1e-9)
    assert after[7] == before[7]


def test_more_accelerators_of_one_deployment_share_its_software(book: Book, costs: CostAnswer, names: Names) -> None:
    column, tco = next(each for each in list_owned_columns(costs) if each[0].key == "mi325x")
    name = names[column.key]
    letter = next(place[1][0] for place, text in book.cached.items() if place[0] == "Inputs" and text == name)
    more = book.with_changes({book.beside("Inputs", "Accelerators", letter): 8.0})
    software = math.fsum(line.usd for line in tco.lines if line.name in ("porting", "upkeep"))
    assert software > 0.0
    assert get_number(summary(more, name)[2]) == pytest.approx(8.0 * (tco.total_usd - software) + software, rel=1e-9)


def test_the_month_is_the_first_in_which_more_went_for_rent(book: Book, costs: CostAnswer, names: Names) -> None:
    for column, tco in list_owned_columns(costs):
        assert column.count is not None
        assert column.rent_usd_per_hour is not None
        software = column.software
        assert software is not None
        rent = column.count * column.rent_usd_per_hour * 8760 / 12 + software.per_month_usd
        paid = tco.at_once_usd - software.at_once_usd
        expected = math.floor(paid / (rent - tco.per_month_usd)) + 1
        assert summary(book, names[column.key])[7] == expected
        for row in book.months(names[column.key]):
            assert get_number(row[5]) == pytest.approx(get_number(row[4]) - get_number(row[2]))
            assert row[6] == (1.0 if get_number(row[0]) >= expected else -1.0)


def test_renting_that_stays_cheaper_shows_a_dash(book: Book) -> None:
    cheap = book.with_changes({book.beside("Inputs", "Rental price"): 0.01})
    first = cheap.titles[2]
    assert cheap.value(cheap.beside(first, "Payback month")) == MISSING_VALUE_TEXT
    assert summary(cheap, first)[7] == MISSING_VALUE_TEXT


def test_a_rent_that_is_not_known_stays_open_for_the_reader(costs: CostAnswer, names: Names) -> None:
    nowhere = ResolvedCostInput("rent_usd_per_hour", CostInputOrigin.NOWHERE, None)
    raw = write_book(with_column(costs, rent_usd_per_hour=nowhere), names)
    book = Book(raw)
    assert_agrees(book)
    first = book.titles[2]
    assert summary(book, first)[6:] == [MISSING_VALUE_TEXT, MISSING_VALUE_TEXT]
    assert all(row[3:] == [""] * 4 for row in book.months(first))
    place = book.beside("Inputs", "Rental price")
    assert book.cached[place] == ""
    filled = book.with_changes({place: 3.0})
    assert summary(filled, first)[6] == pytest.approx(3.0 * 8760 * 3)


def test_missing_prices_are_skipped_and_reported(book: Book, costs: CostAnswer, names: Names) -> None:
    assert names["mi355x"] not in book.titles
    assert book.titles == ["Summary", "Inputs", *(names[column.key] for column, _ in list_owned_columns(costs))]
    assert book.cached[book.beside("Summary", names["mi355x"])] == "no purchase price"
    head = book.beside("Summary", "Not included")
    assert int(book.beside("Summary", names["mi355x"])[1][1:]) > int(head[1][1:])


def test_workbook_without_prices_reports_it(costs: CostAnswer, names: Names) -> None:
    none = replace(costs, columns=tuple(each for each in costs.columns if each.tco is None))
    book = Book(write_book(none, names))
    assert book.titles == ["Summary", "Inputs"]
    assert book.formulas == {}
    assert book.cached[book.beside("Summary", names["mi355x"])] == "no purchase price"


def test_the_same_costs_make_the_same_file(raw: bytes, costs: CostAnswer, names: Names) -> None:
    assert write_book(costs, names) == raw
    with zipfile.ZipFile(io.BytesIO(raw)) as parts:
        about = parts.read("docProps/core.xml").decode()
    assert "Chat on four" in about
    assert about.count("2026-08-31T00:00:00Z") == 2
    odd = build_cash_flow_workbook(costs, names, title="x", revision="own", made_on="last week")
    assert odd == build_cash_flow_workbook(costs, names, title="x", revision="own", made_on="last week")


def test_summary_names_units_and_catalog(book: Book) -> None:
    assert [book.cached["Summary", f"A{row}"] for row in (1, 2, 3)] == [
        "Chat on four",
        "Amounts are in US dollars, before tax.",
        "Catalog 2026-08, created on 2026-08-31.",
    ]


def test_names_of_sheets_are_legal_and_unlike(costs: CostAnswer, names: Names) -> None:
    long = "An accelerator: [with] a/long\\name * that? goes on"
    called = {**names, "h200-sxm": long, "mi325x": f"{long} and on", "b200-hgx": "'Summary'"}
    book = Book(write_book(costs, called))
    assert book.titles == [
        "Summary",
        "Inputs",
        "An accelerator   with  a long n",
        "An accelerator   with  a lo (2)",
        "Summary (2)",
    ]
    assert_agrees(book)
    assert summary(book, f"{long} and on")[2] == pytest.approx(list_owned_columns(costs)[1][1].total_usd)
    quoted = Book(write_book(costs, {**names, "h200-sxm": "Bob's =1+1"}))
    assert "Bob's =1+1" in quoted.titles
    assert_agrees(quoted)


def test_a_name_that_looks_like_a_formula_is_text(costs: CostAnswer, names: Names) -> None:
    raw = write_book(costs, {**names, "h200-sxm": "=1+1"})
    cell = openpyxl.load_workbook(io.BytesIO(raw))["Summary"]["A6"]
    assert (cell.value, cell.data_type, cell.quotePrefix) == ("=1+1", "s", True)


def test_all_words_are_translated(costs: CostAnswer, names: Names) -> None:
    translation.set_language("pseudo")
    plain = {"", "kW", "%", "W", "Chat on four", *names.values()}
    book = Book(write_book(costs, names))
    left = {
        value
        for value in book.cached.values()
        if isinstance(value, str) and value not in plain and "⟦" not in value and "USD" not in value
    }
    assert left <= {"tok/s", MISSING_VALUE_TEXT}
    assert all("⟦" in title for title in book.titles[:2])
