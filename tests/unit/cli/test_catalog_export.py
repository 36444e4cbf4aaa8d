"""`gpudesk catalog export` and `sheet -o x.xlsx`: files that open in what reads them."""

import csv
import io
import json
from pathlib import Path

import openpyxl
import pytest

from gpudesk.cli import main as entry
from gpudesk.cli.commands.catalog_user_data import EXPORTABLE_KINDS
from gpudesk.report.catalog_export import EXPORT_KINDS

Capture = pytest.CaptureFixture[str]
SHEET = ["sheet", "--accelerators", "h200-sxm:1,mi325x:1", "--model", "llama-3.1-8b", "--title", "=1+1"]
LOAD = ["--input-tokens", "100", "--output-tokens", "100", "--concurrency", "8"]


def test_the_kinds_of_the_option_are_those_that_there_are() -> None:
    assert EXPORTABLE_KINDS == EXPORT_KINDS


def test_a_table_is_written_in_the_form_of_its_suffix(tmp_path: Path, capsys: Capture) -> None:
    for suffix in ("csv", "xlsx", "json", "md"):
        target = tmp_path / f"prices.{suffix.upper()}"
        assert entry.main(["catalog", "export", "prices", "-o", str(target)]) == 0
        assert capsys.readouterr().out == f"Wrote {target}\n"
    with (tmp_path / "prices.CSV").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    prices = json.loads((tmp_path / "prices.JSON").read_text("utf-8"))
    book = openpyxl.load_workbook(tmp_path / "prices.XLSX")
    assert len(rows) - 1 == len(prices["rows"]) == book["Prices"].max_row - 1
    assert book.sheetnames == ["Prices", "Notes", "Sources"]


def test_standard_output_gets_the_table_alone(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert entry.main(["catalog", "export", "sources", "-o", "-", "--format", "csv"]) == 0
    rows = list(csv.reader(io.StringIO(capsysbinary.readouterr().out.decode(), newline="")))
    assert {len(row) for row in rows} == {8}


@pytest.mark.parametrize(
    ("target", "code", "message"),
    [
        ("x.txt", 1, "x.txt: unknown table format .txt; use one of .csv, .xlsx, .json, .md"),
        ("x", 1, "x: unknown table format -; use one of .csv, .xlsx, .json, .md"),
        ("-", 2, "--format is required for standard output"),
        ("no/such/x.csv", 1, "cannot be written"),
    ],
)
def test_a_target_that_cannot_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture, target: str, code: int, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert entry.main(["catalog", "export", "sources", "-o", target]) == code
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) in ([], [tmp_path / "user"])


def test_the_comparison_is_a_workbook_with_numbers_and_no_formula(tmp_path: Path) -> None:
    target = tmp_path / "x.xlsx"
    assert entry.main([*SHEET, *LOAD, "-o", str(target)]) == 0
    book = openpyxl.load_workbook(target)
    assert book.sheetnames[0] == "Comparison"
    assert {"Scenario", "Sources"} <= set(book.sheetnames)
    cells = [cell for sheet in book.worksheets for row in sheet.iter_rows() for cell in row]
    assert all(cell.data_type != "f" for cell in cells)
    assert "=1+1" in {cell.value for cell in cells}
    head, *rows = book["Comparison"].iter_rows(values_only=True)
    assert head[:4] == ("Section", "Item", "Unit", "H200 SXM")
    rate = next(row for row in rows if row[1] == "Output throughput" and row[2] == "tok/s")
    assert all(isinstance(value, int | float) for value in (*rate[3:6], *rate[7:10]))
    assert 0 < rate[4] < rate[3] < rate[5]


def test_sheet_marks_stale_prices_by_the_users_limit(tmp_path: Path, user_home: Path) -> None:
    def write_sheet() -> str:
        target = tmp_path / "x.md"
        assert entry.main([*SHEET, *LOAD, "-o", str(target)]) == 0
        return target.read_text("utf-8")

    assert "Purchase prices older" in write_sheet()
    user_home.mkdir(exist_ok=True)
    rule = {"catalog.stale_price_days": 36_500, "catalog.stale_fact_days": 36_500}
    (user_home / "settings.json").write_text(json.dumps(rule), "utf-8")
    assert "Purchase prices older" not in write_sheet()
