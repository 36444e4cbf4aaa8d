"""Tables in files: every form holds the same cells, opens in what reads it, and holds nothing that is run."""

import csv
import io
import json
import math
import re
from collections.abc import Iterable

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.cell import Cell

from gpudesk.domain.claim import Source, SourceKind
from gpudesk.report.catalog_export import write_table
from gpudesk.report.writers.export_table import ExportCellKind, ExportColumn, ExportFormat, ExportTable, ExportValue
from gpudesk.report.writers.xlsx import write_xlsx

SOURCE = Source("own-x", "=SUM(A1) | <b>", "Pub|lisher", SourceKind.USER, "https://example.org/a_b", "2026-05")
HEAD = (
    ExportColumn("part", "Part"),
    ExportColumn("memory", "Memory", "GiB", ExportCellKind.NUMBER),
    ExportColumn("memory_source", "Memory: source", about="memory"),
    ExportColumn("own", "Own", kind=ExportCellKind.YES_NO),
    ExportColumn("date", "Date", kind=ExportCellKind.DATE),
)
ROWS: tuple[tuple[ExportValue, ...], ...] = (
    ("h200-sxm", 141.0, "own-x", True, "2024-11"),
    ('a, "b" | c\nd', 3.35, "own-x", False, None),
    ("ünknown", None, None, None, None),
)
TABLE = ExportTable("Parts: [all]", HEAD, ROWS, ("A note.",), (SOURCE,))

FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "  =1",
    "\u00a0=1",
    "\ufeff=1",
    "\u200b=1",
    "\uff1d1+1",
    "\uff0b1",
    "\uff0d1",
    "\uff20x",
    '=HYPERLINK("http://example.org","x")',
    "-nan",
]


def write(table: ExportTable, form: ExportFormat) -> bytes:
    target = io.BytesIO()
    write_table(table, form, target)
    return target.getvalue()


def csv_rows(table: ExportTable) -> list[list[str]]:
    return list(csv.reader(io.StringIO(write(table, ExportFormat.CSV).decode(), newline="")))


def xlsx_sheets(raw: bytes) -> dict[str, list[tuple[Cell, ...]]]:
    book = openpyxl.load_workbook(io.BytesIO(raw))
    return {sheet.title: list(sheet.iter_rows()) for sheet in book.worksheets}


def of_texts(texts: Iterable[str]) -> ExportTable:
    return ExportTable("Texts", (ExportColumn("text", "Text"),), [(text,) for text in texts])


def test_csv_is_that_of_the_standard() -> None:
    raw = write(TABLE, ExportFormat.CSV)
    assert raw.startswith(b"Part,Memory (GiB),Memory: source,Own,Date\r\n")
    assert csv_rows(TABLE)[1:] == [
        ["h200-sxm", "141.0", "own-x", "true", "2024-11"],
        ['a, "b" | c\nd', "3.35", "own-x", "false", ""],
        ["ünknown", "", "", "", ""],
    ]


def test_json_has_the_unknown_as_null_and_units_next_to_the_columns() -> None:
    document = json.loads(write(TABLE, ExportFormat.JSON))
    assert document["rows"][0] == {
        "part": "h200-sxm",
        "memory": 141.0,
        "memory_source": "own-x",
        "own": True,
        "date": "2024-11",
    }
    assert document["rows"][2]["memory"] is None
    assert document["columns"][1] == {"key": "memory", "name": "Memory", "unit": "GiB", "about": None}
    assert document["sources"][0]["title"] == SOURCE.title
    assert document["notes"] == ["A note."]


def test_markdown_has_one_line_a_row_and_names_sources_by_number() -> None:
    text = write(TABLE, ExportFormat.MARKDOWN).decode()
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert lines[0] == "| Part | Memory (GiB) | Own | Date |"
    assert lines[2] == "| h200-sxm | 141.0 \\[1\\] | yes | 2024-11 |"
    assert lines[3] == '| a, "b" \\| c d | 3.35 \\[1\\] | no | — |'
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {5}
    assert "1. =SUM(A1) \\| \\<b\\>, Pub\\|lisher, entered by you, 2026-05, https://example.org/a\\_b" in text
    assert "<" not in re.sub(r"\\<", "", text)


def test_xlsx_opens_with_types_a_fixed_head_a_filter_and_the_sources() -> None:
    book = openpyxl.load_workbook(io.BytesIO(write(TABLE, ExportFormat.XLSX)))
    assert book.sheetnames == ["Parts   all", "Notes", "Sources"]
    sheet = book["Parts   all"]
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == [
        [column.head for column in HEAD],
        ["h200-sxm", 141, "own-x", True, "2024-11"],
        ['a, "b" | c\nd', 3.35, "own-x", False, None],
        ["ünknown", None, None, None, None],
    ]
    assert sheet["B2"].number_format == "#,##0.00"
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("B2", "A1:E4")
    assert sheet.column_dimensions["C"].hidden
    assert sheet.column_dimensions["C"].outline_level == 1
    assert sheet.column_dimensions["A"].width > sheet.column_dimensions["D"].width
    assert book["Sources"]["B2"].value == "=SUM(A1) | <b>"
    assert book["Sources"]["B2"].data_type == "s"
    assert book["Sources"]["F2"].hyperlink is None


@pytest.mark.parametrize("text", FORMULAS)
def test_no_form_holds_a_formula(text: str) -> None:
    table = of_texts([text])
    (cell,) = csv_rows(table)[1]
    assert cell.startswith("'")
    text_cell = xlsx_sheets(write(table, ExportFormat.XLSX))["Texts"][1][0]
    assert text_cell.data_type == "s"
    assert text_cell.quotePrefix
    assert json.loads(write(table, ExportFormat.JSON))["rows"][0]["text"] == text


def test_plain_text_and_numbers_stay_as_they_are() -> None:
    head = (ExportColumn("text", "Text"), ExportColumn("n", "n", kind=ExportCellKind.MIXED))
    table = ExportTable("T", head, [("a-b=c", -5), ("7", -0.25), ("ok", 1e15)])
    assert csv_rows(table)[1:] == [["a-b=c", "-5"], ["7", "-0.25"], ["ok", "1000000000000000.0"]]
    cells = xlsx_sheets(write(table, ExportFormat.XLSX))["T"]
    assert [(row[0].value, row[1].value, row[0].quotePrefix) for row in cells[1:]] == [
        ("a-b=c", -5, False),
        ("7", -0.25, False),
        ("ok", 10**15, False),
    ]


def test_numbers_that_a_spreadsheet_has_no_room_for_are_kept_or_unknown() -> None:
    head = (ExportColumn("n", "n", kind=ExportCellKind.NUMBER),)
    table = ExportTable("N", head, [(2**70,), (math.nan,), (math.inf,), (1e300,), (-(10**400),)])
    rows = xlsx_sheets(write(table, ExportFormat.XLSX))["N"]
    assert [row[0].value for row in rows[1:]] == [str(2**70), None, None, str(1e300), str(-(10**400))]
    assert [row[0] if row else "" for row in csv_rows(table)[1:4]] == [str(2**70), "", ""]
    assert json.loads(write(table, ExportFormat.JSON))["rows"][1]["n"] is None


def test_what_no_file_can_hold_is_shown_by_a_sign() -> None:
    text = "a\x00b\x1b[31mc\ud800d\u202eevil\x85\uffff\u2028e"
    for form in ExportFormat:
        write(of_texts([text]), form).decode("utf-8", "strict" if form is not ExportFormat.XLSX else "replace")
    (cell,) = csv_rows(of_texts([text]))[1]
    assert cell == "a␀b␛[31mc\ufffdd\ufffdevil\ufffd\ufffd\u2028e"
    assert xlsx_sheets(write(of_texts([text]), ExportFormat.XLSX))["Texts"][1][0].value == cell
    assert json.loads(write(of_texts([text]), ExportFormat.JSON))["rows"][0]["text"] == text.replace("\ud800", "\ufffd")


def test_text_longer_than_a_cell_is_cut_and_not_lost() -> None:
    cell = xlsx_sheets(write(of_texts(["x" * 40_000]), ExportFormat.XLSX))["Texts"][1][0]
    assert cell.value == "x" * 32_767


def test_sheets_of_a_workbook_have_names_that_excel_takes() -> None:
    titles = ["a/b:c*d?[e]\\" * 5, "same", "SAME", "'", "Sources", "History"]
    target = io.BytesIO()
    write_xlsx([ExportTable(title, HEAD, ROWS, (), (SOURCE,)) for title in titles], target)
    names = openpyxl.load_workbook(io.BytesIO(target.getvalue())).sheetnames
    assert len({name.casefold() for name in names}) == len(titles) + 2
    assert "History" not in names
    assert all(0 < len(name) <= 31 and not re.search(r"[\[\]:*?/\\]", name) for name in names)


@given(st.lists(st.text(st.characters(codec=None)), min_size=1, max_size=4))
def test_text_survives_a_round_trip_in_every_format(texts: list[str]) -> None:
    table = of_texts(texts)
    cells = [row[0] if row else "" for row in csv_rows(table)[1:]]
    assert len(cells) == len(texts)
    for cell in cells:
        assert not cell.strip("\ufeff\u200b\u200c\u200d\u200e\u200f \t\r\n\xa0").startswith(("=", "+", "-", "@"))
    rows = xlsx_sheets(write(table, ExportFormat.XLSX))["Texts"]
    assert all(cell.data_type != "f" for row in rows for cell in row)
    assert len(json.loads(write(table, ExportFormat.JSON))["rows"]) == len(texts)
    lines = [line for line in write(table, ExportFormat.MARKDOWN).decode().split("\n") if line.startswith("|")]
    assert len(lines) == len(texts) + 2
