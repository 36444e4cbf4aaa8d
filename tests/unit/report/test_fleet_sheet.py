"""What a sheet says of fleets, in every form of it."""

import re
from dataclasses import replace

import pytest

from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Answer, SheetExtras
from gpudesk.domain.fleet import Supply
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
from gpudesk.report.comparison.tables import CellMarking, ComparisonSheet
from gpudesk.report.labels import label_system
from gpudesk.report.writers.csv import write_sheet_csv
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.markdown import write_sheet_markdown
from gpudesk.report.writers.xlsx import write_sheet_xlsx
from gpudesk.service import GpuDeskService
from gpudesk.text import translation
from gpudesk.text.formatting import IntervalEstimate
from tests.fleets import make_fleets


@pytest.fixture(scope="module")
def answer(service: GpuDeskService) -> Answer:
    return service.answer(read_template("70b-chat-on-four"))


@pytest.fixture(scope="module")
def sheet(answer: Answer) -> ComparisonSheet:
    fleets = make_fleets([each.accelerator for each in answer.scenario.accelerators])
    return build_sheet(answer, further=SheetExtras(fleet=fleets))


def test_a_sheet_has_fleets_where_the_scenario_has_a_demand(service: GpuDeskService, answer: Answer) -> None:
    assert service.make_sheet_extras(answer).fleet is None
    demand = Demand(DemandKind.USERS, 500.0)
    with_demand = replace(answer, scenario=replace(answer.scenario, demand=demand))
    fleet = service.make_sheet_extras(with_demand).fleet
    assert fleet is not None
    assert len(fleet.options) == len(answer.columns)
    assert build_sheet(answer).fleet is None


def test_the_table_has_systems_accelerators_and_costs(sheet: ComparisonSheet) -> None:
    assert sheet.fleet is not None
    (group,) = sheet.fleet.table.groups
    assert group.title == "Fleet over 3 years: office hours"
    rows = {row.key.removeprefix("fleet."): row.cells for row in group.rows}
    assert [cell.text for cell in rows["systems"]] == ["5", "3", "22", "—"]
    assert rows["systems"][-1].mark is CellMarking.FAILS
    assert rows["systems"][-1].detail == "No deployment meets the limits"
    assert rows["used"][0].detail == "2 spare, 4 idle"
    best = [(key, place) for key, cells in rows.items() for place, cell in enumerate(cells) if cell.mark]
    assert best == [("systems", 3), (Supply.OWNED.value, 1)]
    assert rows[Supply.OWNED][1].band == "34,500 – 48,700"


def test_rent_shows_the_count_of_paid_accelerators_if_some_are_idle(service: GpuDeskService) -> None:
    """MI355X is rented by the eight, the others singly."""
    scenario = replace(read_template("70b-chat-on-four"), demand=Demand(DemandKind.CONCURRENCY, 64.0))
    answer = service.answer(scenario)
    fleet = build_sheet(answer, further=service.make_sheet_extras(answer)).fleet
    assert fleet is not None
    rows = {row.key.removeprefix("fleet."): row.cells for row in fleet.table.rows}
    assert [cell.detail for cell in rows[Supply.RENTED]] == [None, None, None, "for 8"]


def test_the_order_names_systems_and_their_accelerators(sheet: ComparisonSheet) -> None:
    assert sheet.fleet is not None
    second = sheet.heads[1]
    order = f"Buy 3 × XE9680 with 24 {second.name}: $40,600 per month on average over 3 years"
    assert sheet.fleet.verdict[0] == f"{order} (72% odds of being the cheapest)."
    assert any(each.startswith("Best other accelerator: renting") for each in sheet.fleet.verdict)
    first = sheet.fleet.order.removeprefix("Fleet for the demand: ")
    assert first == sheet.fleet.verdict[0], "page one says how sure the order is"


def test_a_sheet_explains_the_utilizations_of_costs_and_fleets(service: GpuDeskService) -> None:
    """The costs of 2,000 users assume 40%, a fleet of whole replicas less; page one names neither."""
    template = read_template("mi325x-or-h200-70b")
    parts = tuple(replace(each, count=None) for each in template.accelerators)
    answer = service.answer(replace(template, demand=Demand(DemandKind.USERS, 2000.0), accelerators=parts))
    sheet = build_sheet(answer, further=service.make_sheet_extras(answer))
    assert (
        "Utilization of 40%: demand averages 50% of its peak, and replicas carry at most 80%. "
        "Fleets round up to whole replicas"
    ) in [each.text for each in sheet.remarks]
    assert sheet.fleet is not None
    assert [row.label for row in sheet.fleet.table.rows if "tilization" in row.label] == ["Utilization, whole replicas"]
    assert sheet.verdict[0].startswith("Cheapest to own for this demand: ")
    assert "utilization" not in " ".join((*sheet.verdict, sheet.fleet.order))


def test_autoscaled_order_names_its_condition(service: GpuDeskService) -> None:
    template = read_template("70b-chat-on-four")
    parts = tuple(replace(each, count=None) for each in template.accelerators)
    demand = Demand(DemandKind.USERS, 2000.0, ttft_ms=2000.0)
    answer = service.answer(replace(template, demand=demand, accelerators=parts))
    fleet = build_sheet(answer, further=service.make_sheet_extras(answer)).fleet
    assert fleet is not None
    assert fleet.order.startswith("Cheaper if capacity follows the load: rent up to 11 ")


def test_the_nearest_alternative_can_be_another_way_to_pay_for_the_same(answer: Answer) -> None:
    fleets = make_fleets([each.accelerator for each in answer.scenario.accelerators])
    assert fleets.cheapest is not None
    key, how = fleets.cheapest
    place = next(at for at, each in enumerate(fleets.options) if each.accelerator == key)
    option = fleets.options[place]
    own = option.find_supply_cost(how)
    assert own is not None
    assert own.per_month_usd is not None
    dearer = own.per_month_usd.value * 1.01
    rented = replace(own, supply=Supply.RENTED, per_month_usd=IntervalEstimate(dearer, dearer, dearer))
    options = (*fleets.options[:place], replace(option, costs=(own, rented)), *fleets.options[place + 1 :])
    sheet = build_sheet(answer, further=SheetExtras(fleet=replace(fleets, options=options)))
    assert sheet.fleet is not None
    name = sheet.heads[place].name
    verdict = " ".join(sheet.fleet.verdict)
    assert f"Next cheapest: renting {name}, " in verdict
    assert "Best other accelerator: " in verdict
    # A fleet that cannot scale down has the same amount twice, which offers nothing.
    same = replace(rented, per_month_usd=own.per_month_usd)
    options = (*fleets.options[:place], replace(option, costs=(own, same)), *fleets.options[place + 1 :])
    assert replace(fleets, options=options).nearest == replace(fleets, options=options).runner_up


def test_no_odds_are_certain(answer: Answer) -> None:
    fleets = make_fleets([each.accelerator for each in answer.scenario.accelerators])
    sure = build_sheet(answer, further=SheetExtras(fleet=replace(fleets, odds=1.0))).fleet
    assert sure is not None
    assert sure.verdict[0].endswith(" (over 99% odds of being the cheapest).")
    open_ = build_sheet(answer, further=SheetExtras(fleet=replace(fleets, odds=0.34))).fleet
    assert open_ is not None
    assert open_.verdict[0].endswith("; too close to call (34% odds of being the cheapest).")


def test_every_form_of_the_sheet_has_the_fleets(answer: Answer, sheet: ComparisonSheet) -> None:
    assert sheet.fleet is not None
    for text in (write_sheet_html(sheet), write_sheet_markdown(sheet), write_sheet_csv(sheet)):
        assert "XE9680" in text
        assert sheet.fleet.verdict[0].split(":")[0] in text
        assert "Rent, autoscaled, per month" in text
    machine = build_machine_sheet(
        answer, SheetExtras(fleet=make_fleets([each.accelerator for each in answer.scenario.accelerators]))
    )
    assert len(write_sheet_xlsx(machine)) > len(write_sheet_xlsx(build_machine_sheet(answer)))


def test_the_picture_in_html_has_a_title_for_each_rack(sheet: ComparisonSheet) -> None:
    html = write_sheet_html(sheet)
    picture = html[html.index('<svg class="chart racks"') :]
    picture = picture[: picture.index("</svg>")]
    assert len(re.findall("<title>", picture)) == 6
    assert "5 racks with 4 systems: 32 in use; 40.8 kW, $1,140k" in picture
    assert "B200 SXM: 22 × HGX Y" in picture


def test_plain_words_in_the_name_of_a_system_are_translated() -> None:
    translation.set_language("de")
    assert label_system("Dell PowerEdge XE9785, 8 MI355X, air-cooled") == "Dell PowerEdge XE9785, 8 MI355X, luftgekühlt"
    assert label_system("NVIDIA GB300 NVL36x2, both racks") == "NVIDIA GB300 NVL36x2, beide Racks"
    assert label_system("Self-built workstation, 2 RTX 5090") == "Selbst gebaute Workstation, 2 RTX 5090"
    assert label_system("Verda H200, 8 accelerators") == "Verda H200, 8 Beschleuniger"
    assert label_system("NVIDIA DGX H200") == "NVIDIA DGX H200"
