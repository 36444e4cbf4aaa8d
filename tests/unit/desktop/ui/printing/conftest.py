"""Laid out answers of templates, and helpers that read PDF files."""

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import PaperSize, SheetPages
from gpudesk.documents.scenario_file import format_answered_scenario, read_template
from gpudesk.domain.answer import AcceleratorChoice, Answer, Scenario, SheetExtras
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import ComparisonSheet
from gpudesk.service import GpuDeskService
from gpudesk.text import translation
from gpudesk.text.formatting import Formatter

DATE = "2026-11-20"

MakeSheet = Callable[..., ComparisonSheet]

#: Fleet and cost figures for the sheet, by representation of the answered scenario.
SHEET_EXTRAS: dict[str, SheetExtras] = {}

needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="reads PDF with poppler-utils")


@pytest.fixture(scope="session")
def answer_to(service: GpuDeskService, qapp: QApplication) -> Callable[[Scenario], Answer]:
    answers: dict[str, Answer] = {}

    def compute_answer(scenario: Scenario) -> Answer:
        key = repr(scenario)
        if key not in answers:
            answers[key] = service.answer(scenario, with_curves=True)
            SHEET_EXTRAS[repr(answers[key].scenario)] = service.make_sheet_extras(answers[key])
        return answers[key]

    return compute_answer


def replace_accelerators(template: str, *choices: str, name: str = "Others", note: str = "") -> Scenario:
    """Return the template with other accelerators, given as `id` or `id:count`."""
    split = (choice.partition(":") for choice in choices)
    accelerators = tuple(
        AcceleratorChoice(accelerator, int(count) if count else None) for accelerator, _, count in split
    )
    return replace(read_template(template), accelerators=accelerators, name=name, note=note)


class PrintedAnswer:
    """An answer on paper in the current language, laid out and rendered once for all tests."""

    def __init__(self, answer: Answer, size: PaperSize) -> None:
        self.answer = answer
        self.sheet = build_sheet(answer, date=DATE, further=SHEET_EXTRAS.get(repr(answer.scenario)))
        self.pages = lay_out_sheet(self.sheet, size, Formatter())

    @cached_property
    def pdf(self) -> bytes:
        return self.pages.render_pdf(self.sheet.title, format_answered_scenario(self.answer))


_PRINTED_ANSWERS: dict[tuple[int, PaperSize, str], PrintedAnswer] = {}


def print_answer(answer: Answer, size: PaperSize) -> PrintedAnswer:
    key = id(answer), size, translation.get_language()
    if key not in _PRINTED_ANSWERS:
        _PRINTED_ANSWERS[key] = PrintedAnswer(answer, size)
    return _PRINTED_ANSWERS[key]


def lay_out_answer(answer: Answer, size: PaperSize = PaperSize.A4) -> tuple[ComparisonSheet, SheetPages]:
    printed_answer = print_answer(answer, size)
    return printed_answer.sheet, printed_answer.pages


def save_pdf(answer: Answer, target: Path, size: PaperSize = PaperSize.A4) -> Path:
    target.write_bytes(print_answer(answer, size).pdf)
    return target


def read_words(pdf: Path) -> str:
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, capture_output=True, text=True).stdout
    return re.sub(r"\s+", " ", text)


def read_info(pdf: Path) -> dict[str, str]:
    output = subprocess.run(["pdfinfo", pdf], check=True, capture_output=True, text=True).stdout
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in output.splitlines())}


def measure_ink(pdf: Path, folder: Path, dpi: int = 60) -> list[tuple[tuple[int, int], tuple[int, int, int, int]]]:
    """Return for each page its size and the bounding box of its ink, in pixels: left, top, right, bottom."""
    subprocess.run(["pdftoppm", "-r", str(dpi), "-gray", pdf, folder / "page"], check=True)
    return [_measure_box(file) for file in sorted(folder.glob("page*.pgm"))]


def _measure_box(file: Path) -> tuple[tuple[int, int], tuple[int, int, int, int]]:
    head, width_text, height_text, _, pixels = re.split(rb"\s", file.read_bytes(), maxsplit=4)
    assert head == b"P5"
    width, height = int(width_text), int(height_text)
    rows = [pixels[start : start + width] for start in range(0, width * height, width)]
    blank = b"\xff" * width
    inked_rows = [number for number, row in enumerate(rows) if row != blank]
    lefts = [len(row) - len(row.lstrip(b"\xff")) for row in rows if row != blank]
    rights = [len(row.rstrip(b"\xff")) for row in rows if row != blank]
    return (width, height), (min(lefts), inked_rows[0], max(rights), inked_rows[-1] + 1)
