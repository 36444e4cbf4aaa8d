"""The forms of a sheet: the same figures in each, and nothing in them that could be run."""

import csv
import io
import json
import re
from html.parser import HTMLParser

import pytest

from gpudesk.report.comparison.sheet import build_machine_sheet, build_sheet
from gpudesk.report.writers.csv import write_sheet_csv
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.json import write_sheet_json
from gpudesk.report.writers.markdown import write_sheet_markdown
from tests.unit.report.conftest import MakeAnswer

_VOID = {"meta", "col", "br"}


class Reader(HTMLParser):
    """Collects texts and table cells, and checks that every element is closed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def test_html_is_whole_and_needs_nothing_else(make_answer: MakeAnswer) -> None:
    reader = read(write_sheet_html(build_sheet(make_answer("h200-sxm", "mi325x", "b200-hgx"))))
    assert "script" not in reader.tags
    assert "link" not in reader.tags
    assert "img" not in reader.tags
    fetched = [value for name, value in reader.attributes if name in ("src", "srcset", "data", "poster")]
    assert fetched == []
    assert "url(" not in "".join(reader.texts)
    assert "@import" not in "".join(reader.texts)


def test_html_and_markdown_show_the_same_figures(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x", "mi355x"), date="2026-11-20")
    html_text = " ".join(read(write_sheet_html(sheet)).texts)
    markdown = write_sheet_markdown(sheet).replace("\\", "")
    for group in sheet.table.groups:
        for row in group.rows:
            for cell in row.cells:
                for text in (cell.text, cell.band, cell.detail):
                    assert text is None or text in html_text
                    assert text is None or text in markdown
    for note in sheet.notes:
        assert note.text in html_text
        assert note.text in markdown
    assert "2026-11-20" in html_text
    assert "2026-11-20" in markdown


def test_markup_in_names_stays_text(make_answer: MakeAnswer) -> None:
    name = '<script>alert("x")</script> | *a* [b](c)'
    sheet = build_sheet(make_answer("h200-sxm", "mi325x", name=name, note="a & b < c"))
    reader = read(write_sheet_html(sheet))
    assert "script" not in reader.tags
    assert name in reader.texts
    assert "a & b < c" in reader.texts
    first = write_sheet_markdown(sheet).splitlines()[0]
    assert first == '# \\<script\\>alert("x")\\</script\\> \\| \\*a\\* \\[b\\](c)'


def test_markdown_tables_have_as_many_cells_in_every_row(make_answer: MakeAnswer) -> None:
    markdown = write_sheet_markdown(build_sheet(make_answer("h200-sxm", "mi325x", name="a|b")))
    for table in re.findall(r"(?:^\|.*\n)+", markdown, re.MULTILINE):
        lines = table.splitlines()
        assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_csv_has_plain_numbers_and_as_many_cells_in_every_row(make_answer: MakeAnswer) -> None:
    rows = rows_of(write_sheet_csv(build_machine_sheet(make_answer("h200-sxm", "mi325x"))))
    assert {len(row) for row in rows} == {11}
    throughput = next(row for row in rows if row[:2] == ["At this workload", "Output throughput"])
    assert throughput[2:] == ["tok/s", "1000", "900", "1100", "", "1250", "1125", "1375", "best"]
    slower = next(
        row for row in rows if row[:2] == ["Change from H200-SXM, with odds of being better", "Time to first token"]
    )
    assert slower[7:10] == ["-20", "-35.78067506", "-0.3415248308"]
    assert any(row[0] == "Sources" and row[3] == "Data sheet" for row in rows)


def test_sentences_in_files_are_those_of_paper(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x")
    paper, machine = build_sheet(answer), build_machine_sheet(answer)
    assert machine.headlines == paper.headlines
    assert (machine.remarks, machine.notes) == (paper.remarks, paper.notes)


@pytest.mark.parametrize("name", ["=1+1", "+cmd", "-2+3", "@sum", "\t=1", "=HYPERLINK(x)"])
def test_csv_holds_no_formulas(make_answer: MakeAnswer, name: str) -> None:
    text = write_sheet_csv(build_machine_sheet(make_answer("h200-sxm", "mi325x", name=name)))
    cells = [cell for row in rows_of(text) for cell in row]
    assert f"'{name}" in cells
    for cell in cells:
        if cell.startswith(("=", "+", "-", "@", "\t")):
            float(cell)


def test_json_has_full_figures_claims_and_sources(make_answer: MakeAnswer) -> None:
    answer = make_answer("h200-sxm", "mi325x", "mi355x")
    document = json.loads(write_sheet_json(answer))
    assert [part["accelerator"] for part in document["accelerators"]] == ["h200-sxm", "mi325x", "mi355x"]
    bandwidth = next(
        attribute for attribute in document["accelerators"][1]["attributes"] if attribute["name"] == "memory_bandwidth"
    )
    assert (bandwidth["value"], bandwidth["unit"], bandwidth["source"]) == (6.0e12, "B/s", "maker-sheet")
    assert bandwidth["rivals"][0]["value"] == 5.3e12
    assert bandwidth["rivals"][0]["verdict"] == "another part's figure"
    assert document["sources"]["seed-000"]["title"] == "Which card?"
    assert document["accelerators"][0]["estimate"]["output_tokens_per_s"]["low"] == 900.0
    assert set(document["no_winner"]["output_tokens_per_s"]) == {"mi325x", "mi355x"}, "odds against all, not in pairs"
    throughput = [each for each in document["differences"] if each["figure"] == "output_tokens_per_s"]
    assert [(each["baseline"], each["accelerator"]) for each in throughput] == [
        ("h200-sxm", "mi325x"),
        ("h200-sxm", "mi355x"),
        ("mi325x", "mi355x"),
    ]
    assert [each["odds"] for each in throughput] == pytest.approx([0.903, 0.597, 0.137], abs=1e-3)
    assert [each["winner"] for each in throughput] == ["mi325x", None, "mi325x"]
    assert document["content_hash"] == answer.content_hash
    assert [dispute["id"] for dispute in document["disputes"]] == ["D-001"]
