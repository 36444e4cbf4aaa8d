"""The recommendation on paper: on the first page, and with its trace on pages of its own."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import FOOT, SIDE, TOP, PaperSize, SheetPages
from gpudesk.desktop.ui.printing.pdf import encode_scenario, render_pdf
from gpudesk.desktop.ui.printing.table import PaperTable, TableDensity
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import Answer
from gpudesk.domain.decision import AnswerValue, DecisionFlip, DecisionVerdict
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import ComparisonSheet
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from tests.unit.desktop.ui.printing.conftest import DATE, ink_of, needs_poppler, words_of

#: By template: answers that leave a winner, no one, or none.
CASES: dict[str, tuple[str, dict[str, AnswerValue]]] = {
    "six": ("405b-one-node", {"priority": "users", "acquisition": "rent", "months_to_launch": 4.0}),
    "four": ("70b-chat-on-four", {"priority": "cost", "team": "rocm", "ttft_limit_ms": 700.0}),
    "two": ("mi325x-or-h200-70b", {"priority": "cost"}),
    "none": ("70b-chat-on-four", {"site": "pcie", "precision": "fp4"}),
}


@cache
def printed(
    service: GpuDeskService, case: str, size: PaperSize
) -> tuple[Answer, ComparisonSheet, SheetPages, SheetPages]:
    """Return the sheet of a case with its pages, and the pages that it takes without a recommendation."""
    template, said = CASES[case]
    scenario = read_template(template)
    scenario = replace(scenario, decision=replace(scenario.decision, answers=said))
    answer = service.answer(scenario, with_curves=True)
    flip = DecisionFlip("serving_engine", "any", "tgi", (), DecisionVerdict.NONE_FITS)
    sheet = build_sheet(answer, date=DATE, further=service.make_sheet_extras(answer, (flip,) * 12, with_rules=True))
    plain = replace(sheet, recommendation=None, trace=())
    return answer, sheet, lay_out_sheet(sheet, size, Formatter()), lay_out_sheet(plain, size, Formatter())


@pytest.mark.parametrize("case", CASES)
def test_the_comparison_takes_no_more_pages_and_the_trace_its_own(
    service: GpuDeskService, qapp: QApplication, case: str
) -> None:
    for size in PaperSize:
        _, sheet, pages, plain = printed(service, case, size)
        assert sheet.recommendation is not None
        short = replace(sheet, recommendation=replace(sheet.recommendation, lines=()), trace=())
        assert len(lay_out_sheet(short, size, Formatter()).pages) == len(plain.pages)
        assert len(plain.pages) < len(pages.pages) <= len(plain.pages) + 4
        for page in pages.pages:
            end = 0.0
            for placed in page:
                assert placed.y >= end - 0.01
                end = placed.y + placed.piece.height
            assert end <= pages.paper.height - FOOT + 0.01


@pytest.mark.parametrize("case", CASES)
def test_what_a_customer_reads_is_one_page(service: GpuDeskService, qapp: QApplication, case: str) -> None:
    for size in PaperSize:
        _, sheet, _, plain = printed(service, case, size)
        short = lay_out_sheet(replace(sheet, trace=()), size, Formatter())
        assert len(short.pages) == len(plain.pages) + 1


@needs_poppler
@pytest.mark.parametrize("case", CASES)
def test_everything_is_text_within_the_margins(
    service: GpuDeskService, qapp: QApplication, tmp_path: Path, case: str
) -> None:
    answer, sheet, pages, _ = printed(service, case, PaperSize.A4)
    file = tmp_path / "sheet.pdf"
    file.write_bytes(render_pdf(pages, sheet.title, encode_scenario(answer)))
    words = words_of(file)
    found = sheet.recommendation
    assert found is not None
    said = [found.verdict, found.reason]
    said += [part for each in found.candidates for part in (each.deployment, each.value, each.odds_text)]
    said += [part for line in found.lines for part in (line.subject, line.text)]
    said += [part for row in sheet.trace for part in (row.rule, row.row.label, row.row.detail)]
    said += [cell.text for row in sheet.trace for cell in row.row.cells]
    # A narrow cell breaks a long word where its room ends.
    missing = [word for text in said for word in text.split() if word not in words and word != "—"]
    assert [word for word in missing if "-" not in word or word.split("-")[0] not in words] == []
    dpi, point = 60, 60 / 72
    for (width, height), (left, top, right, bottom) in ink_of(file, tmp_path, dpi):
        assert left >= SIDE * point - 1.5
        assert right <= width - SIDE * point + 1.5
        assert top >= TOP * point - 1.5
        assert bottom <= height - FOOT * point + 1.5


@needs_poppler
def test_a_plan_before_a_count_is_in_parentheses(service: GpuDeskService, qapp: QApplication, tmp_path: Path) -> None:
    _, sheet, pages, _ = printed(service, "four", PaperSize.A4)
    target = tmp_path / "sheet.pdf"
    target.write_bytes(render_pdf(pages, sheet.title, b""))
    assert "(TP 2) 2" in words_of(target)


def test_one_wide_interval_leaves_the_rows_around_it_on_one_line(service: GpuDeskService, qapp: QApplication) -> None:
    _, sheet, _, _ = printed(service, "four", PaperSize.A4)
    group = next(group for group in sheet.table.groups if any(row.key == "tpot_ms" for row in group.rows))
    table = PaperTable(sheet.table, 520.0, TableDensity(12.0, 6.0, 16.0))
    place = sheet.table.groups.index(group)
    before = sum(len(each.rows) for each in sheet.table.groups[:place])
    heights = {
        row.key: piece.height for row, piece in zip(group.rows, table.rows[before:][: len(group.rows)], strict=True)
    }
    assert heights["output_tokens_per_s"] > heights["tpot_ms"]
