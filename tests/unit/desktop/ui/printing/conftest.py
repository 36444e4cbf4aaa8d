"""Answers of the templates, laid out on paper, and what is read back out of a PDF."""

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
from gpudesk.desktop.ui.printing.pdf import encode_scenario, render_pdf
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice, Answer, Scenario, SheetExtras
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import ComparisonSheet
from gpudesk.service import GpuDeskService
from gpudesk.text import translation
from gpudesk.text.formatting import Formatter

DATE = "2026-11-20"

MakeSheet = Callable[..., ComparisonSheet]

#: How many each answered scenario takes and what that costs, which its sheets say.
FURTHER: dict[str, SheetExtras] = {}

needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="reads PDF with poppler-utils")


@pytest.fixture(scope="session")
def answer_to(service: GpuDeskService, qapp: QApplication) -> Callable[[Scenario], Answer]:
    known: dict[str, Answer] = {}

    def answered(scenario: Scenario) -> Answer:
        key = repr(scenario)
        if key not in known:
            known[key] = service.answer(scenario, with_curves=True)
            FURTHER[repr(known[key].scenario)] = service.make_sheet_extras(known[key])
        return known[key]

    return answered


def parts(template: str, *choices: str, name: str = "Others", note: str = "") -> Scenario:
    """Return the template with other parts, as `id` or `id:count`."""
    split = (choice.partition(":") for choice in choices)
    chosen = tuple(AcceleratorChoice(part, int(count) if count else None) for part, _, count in split)
    return replace(read_template(template), accelerators=chosen, name=name, note=note)


class PrintedAnswer:
    """An answer on paper in the language of the moment, laid out and rendered once for all tests that look at it."""

    def __init__(self, answer: Answer, size: PaperSize) -> None:
        self.answer = answer
        self.sheet = build_sheet(answer, date=DATE, further=FURTHER.get(repr(answer.scenario)))
        self.pages = lay_out_sheet(self.sheet, size, Formatter())

    @cached_property
    def pdf(self) -> bytes:
        return render_pdf(self.pages, self.sheet.title, encode_scenario(self.answer))


_PRINTED: dict[tuple[int, PaperSize, str], PrintedAnswer] = {}


def print_answer(answer: Answer, size: PaperSize) -> PrintedAnswer:
    key = id(answer), size, translation.get_language()
    if key not in _PRINTED:
        _PRINTED[key] = PrintedAnswer(answer, size)
    return _PRINTED[key]


def laid_out(answer: Answer, size: PaperSize = PaperSize.A4) -> tuple[ComparisonSheet, SheetPages]:
    printed = print_answer(answer, size)
    return printed.sheet, printed.pages


def saved(answer: Answer, target: Path, size: PaperSize = PaperSize.A4) -> Path:
    target.write_bytes(print_answer(answer, size).pdf)
    return target


def words_of(pdf: Path) -> str:
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], check=True, capture_output=True, text=True).stdout
    return re.sub(r"\s+", " ", text)


def info_of(pdf: Path) -> dict[str, str]:
    said = subprocess.run(["pdfinfo", pdf], check=True, capture_output=True, text=True).stdout
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in said.splitlines())}


def ink_of(pdf: Path, folder: Path, dpi: int = 60) -> list[tuple[tuple[int, int], tuple[int, int, int, int]]]:
    """Return each page's size and the box of what is not white in pixels: left, top, right, bottom."""
    subprocess.run(["pdftoppm", "-r", str(dpi), "-gray", pdf, folder / "page"], check=True)
    return [_box(file) for file in sorted(folder.glob("page*.pgm"))]


def _box(file: Path) -> tuple[tuple[int, int], tuple[int, int, int, int]]:
    head, wide, high, _, pixels = re.split(rb"\s", file.read_bytes(), maxsplit=4)
    assert head == b"P5"
    width, height = int(wide), int(high)
    rows = [pixels[start : start + width] for start in range(0, width * height, width)]
    blank = b"\xff" * width
    inked = [number for number, row in enumerate(rows) if row != blank]
    lefts = [len(row) - len(row.lstrip(b"\xff")) for row in rows if row != blank]
    rights = [len(row.rstrip(b"\xff")) for row in rows if row != blank]
    return (width, height), (min(lefts), inked[0], max(rights), inked[-1] + 1)
