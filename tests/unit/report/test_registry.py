"""One entry in a registry is enough: the attribute or the figure then stands on every surface."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import openpyxl
import pytest

from gpudesk.catalog.importing.accelerator_plausibility import check_plausibility
from gpudesk.catalog.importing.entry_reader import propose_accelerator
from gpudesk.catalog.list_rows import make_catalog_table
from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import ValueKind, make_new_entry, make_user_source
from gpudesk.cli import main as entry
from gpudesk.cli.commands.estimate import list_estimate_lines
from gpudesk.domain import registry
from gpudesk.domain.answer import AcceleratorChoice, Answer, ConcurrencyCurve, IntervalSeries, LimiterShares, Scenario
from gpudesk.domain.attributes import CatalogSection
from gpudesk.domain.claim import CatalogEntryKind, PlausibilityGrade, SourceKind
from gpudesk.domain.deployment_analysis import DerivationTerm
from gpudesk.domain.estimate import Estimate, Load, LoadKind, Workload
from gpudesk.domain.estimate_json import write_estimate_json
from gpudesk.domain.precision import Precision
from gpudesk.domain.user_facts import UserClaim
from gpudesk.estimation.sweep.evaluation import list_figure_columns
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.catalog_export import build_catalog_table
from gpudesk.report.catalog_lists import describe_column, label_column
from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
from gpudesk.report.comparison.table import build_comparison_table
from gpudesk.report.explanation.working import build_sheet_workings
from gpudesk.report.writers.csv import write_sheet_csv
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.json import encode_answer
from gpudesk.report.writers.markdown import write_sheet_markdown
from gpudesk.report.writers.text import list_sheet_lines
from gpudesk.report.writers.xlsx import write_sheet_xlsx
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter, IntervalEstimate
from tests.unit.report.conftest import MakeAnswer

PLAIN = Formatter()
ATTRIBUTE = registry.Attribute(
    "boost_power",
    "Boost power",
    "W",
    explanation="Power while it is boosted, W",
    more_is_better=False,
    plausible=registry.PlausibleRange(10, 50, 5000, 50_000),
    compare=registry.Placement("power", 50),
    sheet=registry.Placement("system", 50),
    form=registry.Placement("power", 50),
    listed=registry.ListColumn(99, head="Boost", terminal=9),
)
FIGURE = registry.Figure(
    "joules_per_token",
    "Energy of a token",
    "J",
    more_is_better=False,
    compare=50,
    sheet=50,
    in_curves=True,
    is_headline=True,
)
TODAY = "2026-11-20"


@pytest.fixture
def service(user_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GpuDeskService]:
    """Return a service over a user's file that states the new attribute of MI325X."""
    monkeypatch.setitem(registry.ATTRIBUTES, ATTRIBUTE.key, ATTRIBUTE)
    source = make_user_source("Our meter", "Lab", url=None, date="2026-11-18", kind=SourceKind.USER)
    with GpuDeskService.open() as opened:
        step = state_value(
            opened.catalog, "mi325x", ATTRIBUTE.key, 1234, "W", source, today=TODAY, reason="measured on our rack"
        )
        opened.user_catalog.do(step)
        yield opened


def answer_pair(service: GpuDeskService) -> Answer:
    scenario = Scenario(
        name="Two for 70B",
        model="llama-3.1-70b",
        weights=Precision.FP8,
        workload=Workload(2000, 500, Load(LoadKind.CONCURRENCY, concurrency=64)),
        accelerators=(AcceleratorChoice("h200-sxm", 1), AcceleratorChoice("mi325x", 1)),
    )
    return service.answer(scenario)


def list_xlsx_texts(data: bytes) -> set[str]:
    book = openpyxl.load_workbook(io.BytesIO(data))
    return {str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row}


def test_a_new_attribute_is_compared_on_screen_on_paper_and_in_every_file(service: GpuDeskService) -> None:
    answer = answer_pair(service)
    group = next(each for each in build_comparison_table(answer, PLAIN).groups if each.key == "power")
    row = next(each for each in group.rows if each.key == ATTRIBUTE.key)
    assert [cell.value for cell in row.cells] == [None, 1234.0]
    sheet = build_sheet(answer, PLAIN)
    table_row = next(each for each in sheet.table.rows if each.key == ATTRIBUTE.key)
    assert (table_row.label, table_row.unit, table_row.cells[1].text) == ("Boost power", "W", "1,234")
    assert any(each.key == f"source.{ATTRIBUTE.key}" for each in sheet.whose.rows)
    assert any("Boost power" in note.text for note in sheet.notes)
    plain = build_machine_sheet(answer)
    assert any("1234" in line and "Boost power" in line for line in csv.reader(io.StringIO(write_sheet_csv(plain))))
    assert {"Boost power", "1234"} <= list_xlsx_texts(write_sheet_xlsx(plain))
    terminal = "\n".join(list_sheet_lines(sheet, 100, str))
    for text in (write_sheet_markdown(sheet), write_sheet_html(sheet), terminal):
        assert "Boost power" in text
        assert "1,234" in text
    encoded = [each for each in encode_answer(answer)["accelerators"][1]["attributes"] if each["name"] == ATTRIBUTE.key]
    assert [(each["value"], each["unit"]) for each in encoded] == [(1234, "W")]


def test_a_new_attribute_is_listed_shown_exported_and_entered(
    service: GpuDeskService, capsys: pytest.CaptureFixture[str]
) -> None:
    table = make_catalog_table(CatalogSection.ACCELERATORS, service.catalog)
    place = table.place(ATTRIBUTE.key)
    assert next(row.values[place] for row in table.rows if row.key == "mi325x") == 1234
    assert label_column(table.section, table.columns[place]) == "Boost"
    assert describe_column(table.section, table.columns[place]) == "Power while it is boosted, W"
    exported = build_catalog_table("accelerators", service.catalog)
    assert any(column.key == ATTRIBUTE.key and column.unit == "W" for column in exported.head)
    form = make_new_entry(service.catalog, CatalogEntryKind.ACCELERATOR, ATTRIBUTE.key)
    assert (form.kind, [unit.label for unit in form.units]) == (ValueKind.NUMBER, ["W", "kW"])
    assert ATTRIBUTE in registry.list_form_attributes("power")
    assert entry.main(["catalog", "list", "accelerators"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert "Boost" in listed[0]
    assert any(line.startswith("mi325x ") and "1,234" in line for line in listed)
    assert entry.main(["catalog", "show", "mi325x"]) == 0
    assert any(line.startswith(ATTRIBUTE.key) and "1,234 W" in line for line in capsys.readouterr().out.splitlines())
    assert entry.main(["catalog", "show", "mi325x", "--json"]) == 0
    assert ATTRIBUTE.key in {each["name"] for each in json.loads(capsys.readouterr().out)["attributes"]}


def test_a_new_attribute_is_imported_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.ATTRIBUTES, ATTRIBUTE.key, ATTRIBUTE)
    file = {
        "name": "Example 1",
        "vendor": "Example",
        "generation": "hopper",
        "announced": False,
        "sources": {"sheet": {"title": "Data sheet", "publisher": "Example", "kind": "vendor_datasheet"}},
        "attributes": {
            "memory": {"value": 192, "unit": "GiB", "source": "sheet"},
            "memory_bandwidth": {"value": 5.3, "unit": "TB/s"},
            "software_platform": {"value": "ROCm"},
            ATTRIBUTE.key: {"value": 1.2, "unit": "kW"},
        },
    }
    proposal = propose_accelerator(json.dumps(file).encode(), name="part.json", today=TODAY)
    claims = {fact.attribute: fact.value for fact in proposal.facts if isinstance(fact, UserClaim)}
    assert claims[ATTRIBUTE.key] == 1200
    (finding,) = check_plausibility({ATTRIBUTE.key: 1e6}, "")
    assert (finding.attribute, finding.grade) == (ATTRIBUTE.key, PlausibilityGrade.REFUSED)


def test_a_peak_in_int4_that_the_user_states_is_compared(user_home: Path) -> None:
    source = make_user_source("Our own sheet", "Lab", url=None, date="2026-11-18", kind=SourceKind.USER)
    with GpuDeskService.open() as service:
        service.user_catalog.do(
            state_value(
                service.catalog, "mi325x", "peak_dense_int4", 5000, "TOPS", source, today=TODAY, reason="it has it"
            )
        )
        table = build_comparison_table(answer_pair(service), PLAIN)
    row = next(each for each in table.rows if each.key == "peak_dense_int4")
    assert (row.label, row.unit, row.cells[1].text) == ("INT4", "TOPS", "5,000")


@frozen_dataclass
class EstimateWithEnergy(Estimate):
    """An estimate with one figure more."""

    joules_per_token: IntervalEstimate | None = None


@frozen_dataclass
class CurveWithEnergy(ConcurrencyCurve):
    """A curve with one figure more."""

    joules_per_token: IntervalSeries


def add_energy(estimate: Estimate) -> EstimateWithEnergy:
    values = {field.name: getattr(estimate, field.name) for field in fields(Estimate)}
    return EstimateWithEnergy(**values, joules_per_token=IntervalEstimate(4.5, 4.0, 5.0))


def test_new_figure_is_swept_charted_and_derived(make_answer: MakeAnswer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.FIGURES, FIGURE.key, FIGURE)
    assert {f"{FIGURE.key}{end}" for end in ("", "_low", "_high")} <= set(list_figure_columns())
    answer = make_answer("h200-sxm")
    (column,) = answer.columns
    assert column.estimate is not None
    shares = LimiterShares((0.6,), (0.2,), (0.1,), (0.1,))
    series = IntervalSeries((4.5,), (4.0,), (5.0,))
    curve = CurveWithEnergy((1,), series, series, series, series, ("compute",), shares, 1, series)
    answer = replace(answer, columns=(replace(column, estimate=add_energy(column.estimate), curve=curve),))
    encoded = encode_answer(answer)["accelerators"][0]["curve"]
    assert encoded[FIGURE.key] == [{"value": 4.5, "low": 4.0, "high": 5.0}]

    def explain(_: Estimate, figure: str) -> DerivationTerm:
        return DerivationTerm(figure, 4.5, "J")

    workings = build_sheet_workings(answer, ("H200",), PLAIN, explain)
    assert "Joules_per_token" in {working.figure for working in workings}


def test_new_figure_is_shown_everywhere(make_answer: MakeAnswer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.FIGURES, FIGURE.key, FIGURE)
    answer = make_answer("h200-sxm", "mi325x")
    columns = tuple(
        replace(column, estimate=None if column.estimate is None else add_energy(column.estimate))
        for column in answer.columns
    )
    answer = replace(answer, columns=columns)
    row = next(each for each in build_comparison_table(answer, PLAIN).rows if each.key == FIGURE.key)
    assert (row.label, row.unit, row.cells[0].text, row.cells[0].band) == (
        "Energy of a token",
        "J",
        "4.50",
        "4.00 – 5.00",
    )
    sheet = build_sheet(answer, PLAIN)
    table_row = next(each for each in sheet.table.rows if each.key == FIGURE.key)
    assert [cell.low_text for cell in table_row.cells] == ["4.00", "4.00"]
    plain = build_machine_sheet(answer)
    assert any(
        "Energy of a token" in line and "4.5" in line for line in csv.reader(io.StringIO(write_sheet_csv(plain)))
    )
    assert {"Energy of a token", "4.5"} <= list_xlsx_texts(write_sheet_xlsx(plain))
    terminal = "\n".join(list_sheet_lines(sheet, 100, str))
    for text in (write_sheet_markdown(sheet), write_sheet_html(sheet), terminal):
        assert "Energy of a token" in text
    interval = {"value": 4.5, "low": 4.0, "high": 5.0}
    assert encode_answer(answer)["accelerators"][0]["estimate"][FIGURE.key] == interval
    estimate = columns[0].estimate
    assert estimate is not None
    assert write_estimate_json(estimate)[FIGURE.key] == interval
    assert any("Energy of a token" in line for line in list_estimate_lines(estimate, "H200", PLAIN, 100))
