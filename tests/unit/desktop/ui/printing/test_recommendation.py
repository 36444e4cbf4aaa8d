"""The recommendation on paper: on the first page, with its rules on their own pages."""

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import FOOT, SIDE, TOP, PaperSize, SheetPages
from gpudesk.desktop.ui.printing.table import PaperTable, TableDensity
from gpudesk.documents.scenario_file import format_answered_scenario, read_template
from gpudesk.domain.answer import Answer
from gpudesk.domain.decision import AnswerValue, DecisionFlip, DecisionVerdict
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import ComparisonSheet
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from tests.unit.desktop.ui.printing.conftest import DATE, measure_ink, needs_poppler, read_words

#: Template and answers with a clear winner, a close call, or no accelerator left.
CASES: dict[str, tuple[str, dict[str, AnswerValue]]] = {
    "six": ("405b-one-node", {"priority": "users", "acquisition": "rent", "months_to_launch": 4.0}),
    "four": ("70b-chat-on-four", {"priority": "cost", "team": "rocm", "ttft_limit_ms": 700.0}),
    "two": ("mi325x-or-h200-70b", {"priority": "cost"}),
    "none": ("70b-chat-on-four", {"site": "pcie", "precision": "fp4"}),
}


@cache
def lay_out_case(
    service: GpuDeskService, case: str, size: PaperSize
) -> tuple[Answer, ComparisonSheet, SheetPages, SheetPages]:
    """Return the answer, the sheet, its pages, and the pages without a recommendation."""
    template, answers = CASES[case]
    scenario = read_template(template)
    scenario = replace(scenario, decision=replace(scenario.decision, answers=answers))
    answer = service.answer(scenario, with_curves=True)
    flip = DecisionFlip("serving_engine", "any", "tgi", (), DecisionVerdict.NONE_FITS)
    sheet = build_sheet(answer, date=DATE, further=service.make_sheet_extras(answer, (flip,) * 12, with_rules=True))
    plain = replace(sheet, recommendation=None, trace=())
    return answer, sheet, lay_out_sheet(sheet, size, Formatter()), lay_out_sheet(plain, size, Formatter())


@pytest.mark.parametrize("case", CASES)
def test_rules_have_their_own_pages(service: GpuDeskService, qapp: QApplication, case: str) -> None:
    for size in PaperSize:
        _, sheet, pages, plain = lay_out_case(service, case, size)
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
def test_recommendation_is_one_page(service: GpuDeskService, qapp: QApplication, case: str) -> None:
    for size in PaperSize:
        _, sheet, _, plain = lay_out_case(service, case, size)
        short = lay_out_sheet(replace(sheet, trace=()), size, Formatter())
        assert len(short.pages) == len(plain.pages) + 1


@needs_poppler
@pytest.mark.parametrize("case", CASES)
def test_all_texts_are_within_the_margins(
    service: GpuDeskService, qapp: QApplication, tmp_path: Path, case: str
) -> None:
    answer, sheet, pages, _ = lay_out_case(service, case, PaperSize.A4)
    file = tmp_path / "sheet.pdf"
    file.write_bytes(pages.render_pdf(sheet.title, format_answered_scenario(answer)))
    words = read_words(file)
    recommendation = sheet.recommendation
    assert recommendation is not None
    texts = [recommendation.verdict, recommendation.reason]
    texts += [piece for each in recommendation.candidates for piece in (each.deployment, each.value, each.odds_text)]
    texts += [piece for line in recommendation.lines for piece in (line.subject, line.text)]
    texts += [piece for row in sheet.trace for piece in (row.rule, row.row.label, row.row.detail)]
    texts += [cell.text for row in sheet.trace for cell in row.row.cells]
    # A narrow cell may break a long word.
    missing = [word for text in texts for word in text.split() if word not in words and word != "—"]
    assert [word for word in missing if "-" not in word or word.split("-")[0] not in words] == []
    dpi, point = 60, 60 / 72
    for (width, height), (left, top, right, bottom) in measure_ink(file, tmp_path, dpi):
        assert left >= SIDE * point - 1.5
        assert right <= width - SIDE * point + 1.5
        assert top >= TOP * point - 1.5
        assert bottom <= height - FOOT * point + 1.5


@needs_poppler
def test_plan_is_in_parentheses_before_a_count(service: GpuDeskService, qapp: QApplication, tmp_path: Path) -> None:
    _, sheet, pages, _ = lay_out_case(service, "four", PaperSize.A4)
    target = tmp_path / "sheet.pdf"
    target.write_bytes(pages.render_pdf(sheet.title, b""))
    assert "(TP 2) 2" in read_words(target)


def test_wide_interval_wraps_only_its_row(service: GpuDeskService, qapp: QApplication) -> None:
    _, sheet, _, _ = lay_out_case(service, "four", PaperSize.A4)
    group = next(group for group in sheet.table.groups if any(row.key == "tpot_ms" for row in group.rows))
    table = PaperTable(sheet.table, 520.0, TableDensity(12.0, 6.0, 16.0))
    position = sheet.table.groups.index(group)
    before = sum(len(each.rows) for each in sheet.table.groups[:position])
    heights = {
        row.key: piece.height for row, piece in zip(group.rows, table.rows[before:][: len(group.rows)], strict=True)
    }
    assert heights["output_tokens_per_s"] > heights["tpot_ms"]


def test_long_group_title_wraps_within_the_table(service: GpuDeskService, qapp: QApplication) -> None:
    """German titles of costs are wider than the page."""
    _, sheet, _, _ = lay_out_case(service, "four", PaperSize.A4)
    group = sheet.table.groups[0]
    short, long = (
        PaperTable(replace(sheet.table, groups=(replace(group, title=title),)), 520.0, TableDensity(12.0, 6.0, 16.0))
        for title in ("Cost", "on-demand rent including idle hours, " * 5)
    )
    assert long.groups[0].height > short.groups[0].height
