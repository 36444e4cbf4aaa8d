"""The font: weights, tabular figures, characters, and text extraction from PDF."""

import re
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QFontInfo, QFontMetricsF, QGuiApplication, QPainter, QPdfWriter, QRawFont

from gpudesk import paths
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.theme.tokens import FAMILY, WEIGHTS, PaperPaintStyle, load_fonts, make_font

NEEDED = "≈≥≤±×÷–—−µ½²↑↓→…√Ω°€·“”’\u2009\u202f\u00a0\u2007"
LINE = "TensorRT-LLM on 8 × H200: 1,731 tok/s, −5% ± 0.25, 913 – 1,139, $4.50 (12:30) = 3.35 TB/s"


@pytest.fixture(autouse=True)
def _load_fonts(qapp: QGuiApplication) -> None:
    load_fonts()


@pytest.mark.parametrize("weight", [400, 500, 600])
def test_each_weight_has_its_file(weight: int) -> None:
    info = QFontInfo(make_font(13, weight))
    assert info.family() == FAMILY
    assert info.weight() == weight


@pytest.mark.parametrize("weight", [400, 500, 600])
def test_figures_and_signs_are_equally_wide(weight: int) -> None:
    metrics = QFontMetricsF(make_font(13, weight))
    digits = {metrics.horizontalAdvance(digit) for digit in "0123456789"}
    assert len(digits) == 1
    assert metrics.horizontalAdvance("−") == metrics.horizontalAdvance("+")
    assert metrics.horizontalAdvance("-") < digits.pop() * 0.8


@pytest.mark.parametrize("style", WEIGHTS)
def test_files_have_all_needed_characters(style: str) -> None:
    file = paths.resource(f"fonts/DeskSans-{style}.ttf")
    font = QRawFont(str(file), 13)
    assert [sign for sign in NEEDED if not font.supportsCharacter(ord(sign))] == []
    assert file.stat().st_size < 130_000


def test_license_is_next_to_the_files() -> None:
    terms = paths.resource("fonts/LICENSE").read_text(encoding="utf-8")
    assert "SIL OPEN FONT LICENSE Version 1.1" in terms


def write_pdf(folder: Path) -> Path:
    file = folder / "figures.pdf"
    writer = QPdfWriter(str(file))
    writer.setResolution(720)
    with QPainter(writer) as painter:
        pen = ThemePainter(painter, PaperPaintStyle(units=10))
        for row, font in enumerate(("body", "body_strong", "best", "small")):
            pen.text(QPointF(100, 500 + 300 * row), LINE, font=font)
    return file


def test_pdf_embeds_each_weight(tmp_path: Path) -> None:
    content = write_pdf(tmp_path).read_bytes()
    names = {name.split(b"+")[-1] for name in re.findall(rb"/FontName /([A-Za-z+#0-9-]+)", content)}
    assert len(names) == 3
    streams = [_decompress(data) for data in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL)]
    maps = [stream for stream in streams if b"beginbfrange" in stream or b"beginbfchar" in stream]
    assert len(maps) == 3


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not installed")
def test_text_is_extracted_from_a_pdf(tmp_path: Path) -> None:
    file = write_pdf(tmp_path)
    completed = subprocess.run(["pdftotext", "-layout", file, "-"], capture_output=True, check=True)
    lines = [line.strip() for line in completed.stdout.decode().splitlines() if line.strip()]
    assert lines == [LINE] * 4


def _decompress(compressed: bytes) -> bytes:
    try:
        return zlib.decompress(compressed.strip(b"\r\n"))
    except zlib.error:
        return compressed
