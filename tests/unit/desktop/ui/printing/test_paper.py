"""Paper sizes by country, line breaking, and pages that hold all their pieces."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.printing.charts import PaperThroughputChart
from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import (
    MM,
    Paper,
    PaperSize,
    SheetPiece,
    TextRun,
    find_usual_paper,
    limit_lines,
    measure_width,
    wrap_runs,
    wrap_text,
)
from gpudesk.desktop.ui.theme.tokens import load_fonts
from gpudesk.documents.scenario_file import read_template
from gpudesk.domain.answer import AcceleratorChoice
from gpudesk.domain.estimate import Load, LoadKind, Workload
from gpudesk.domain.precision import Precision
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import use_language


@pytest.fixture(autouse=True)
def fonts(qapp: QApplication) -> None:
    load_fonts()


@pytest.mark.parametrize(
    ("name", "size"), [("en_US", "letter"), ("fr_CA", "letter"), ("es_MX", "letter"), ("en_GB", "a4"), ("de_DE", "a4")]
)
def test_paper_size_follows_the_country(name: str, size: str) -> None:
    assert find_usual_paper(QLocale(name)) is PaperSize(size)


def test_landscape_paper_is_wider_than_high() -> None:
    upright, across = Paper(PaperSize.A4), Paper(PaperSize.A4, landscape=True)
    assert (across.width, across.height) == (upright.height, upright.width) == (842, 595)


def read_lines(lines: tuple[tuple[object, ...], ...]) -> list[str]:
    return ["".join(getattr(word, "text", "") for word in line) for line in lines]


def test_lines_fit_their_width() -> None:
    words = "Dense against dense, one part leads; the lead told in 2024 set a peak against a rate. " * 3
    for width in (40.0, 90.0, 240.0):
        lines = wrap_text(words, "small", width)
        assert all(measure_width(line, "small") <= width for line in read_lines(lines))
        assert " ".join(" ".join(read_lines(lines)).split()) == " ".join(words.split())


def test_number_is_not_separated_from_its_unit() -> None:
    words = "reads 7.7 TB/s of 151 397 597 184 bytes and no more"
    for width in range(60, 200, 3):
        lines = read_lines(wrap_text(words, "small", float(width)))
        assert any("7.7 TB/s" in line for line in lines)
        assert any("151 397 597 184 bytes" in line for line in lines) or width < measure_width(
            "151 397 597 184 bytes", "small"
        )


@pytest.mark.parametrize(
    ("word", "lines"),
    [
        ("Speicherbandbreite", ["Speicher-", "bandbreite"]),
        ("Vergleichsbasis", ["Vergleichs-", "basis"]),
        ("(vergleichbares", ["(vergleich-", "bares"]),
    ],
)
def test_german_compound_is_hyphenated(word: str, lines: list[str]) -> None:
    assert read_lines(wrap_text(word, "body", 51.0)) == lines
    assert read_lines(wrap_text(word, "body", 200.0)) == [word]


def test_parallel_degree_stays_with_its_name() -> None:
    assert read_lines(wrap_text("(NVFP4, TP 2)", "small", 40.0)) == ["(NVFP4,", "TP 2)"]


def test_long_word_is_broken() -> None:
    word = "Geschwindigkeitsbegrenzung" * 4
    lines = read_lines(wrap_text(word, "small", 50.0))
    assert "".join(lines) == word
    assert all(measure_width(line, "small") <= 50.0 for line in lines)


def test_styles_change_within_a_line() -> None:
    (line,) = wrap_runs((TextRun("Part: ", "small_strong"), TextRun("plain")), 300.0)
    assert [(word.text, word.style) for word in line] == [("Part:", "small_strong"), ("plain", "small")]
    assert line[1].x > measure_width("Part:", "small_strong")


def test_omitted_lines_end_with_an_ellipsis() -> None:
    lines = wrap_text("one two three four five six seven eight nine ten", "small", 60.0)
    short = read_lines(limit_lines(lines, 2, 60.0))
    assert len(short) == 2
    assert short[1].endswith("…")
    assert measure_width(short[1], "small") <= 60.0
    assert limit_lines(lines, 50, 60.0) == lines


@pytest.mark.parametrize("size", list(PaperSize))
def test_high_head_of_a_page_leaves_its_charts_readable(service: GpuDeskService, size: PaperSize) -> None:
    """Below long names and six full columns, charts once had less than no height."""
    parts = {"mi300x": 4, "mi300a": 16, "l40": 4, "inferentia2": 72, "tpu-v5e": 2, "gb300-desktop": 1024}
    scenario = replace(
        read_template("405b-one-node"),
        model="deepseek-v3.1",
        weights=Precision.BF16,
        workload=Workload(2048, 131_072, Load(LoadKind.SATURATE, requests=1_000_000)),
        accelerators=tuple(AcceleratorChoice(*each) for each in parts.items()),
    )
    answer = service.add_curves(service.costing.add_costs(service.answer(scenario)))
    formatter = Formatter()
    sheet = build_sheet(answer, formatter, further=service.make_sheet_extras(answer))
    laid_out = lay_out_sheet(sheet, size, formatter)
    for piece in (each for page in laid_out.pages for each in page):
        assert piece.piece.height >= 0.0
        assert piece.y + piece.piece.height <= laid_out.paper.height
    assert laid_out.render_pdf("Sheet", None).startswith(b"%PDF")


def test_short_parenthesis_is_not_broken() -> None:
    assert read_lines(wrap_text("B200 SXM costs less (under 1%).", "small", 90.0))[-1].endswith("(under 1%).")
    long = "H200 SXM costs less (renting on demand)"
    assert read_lines(wrap_text(long, "small", 90.0)) != [long]


@pytest.mark.parametrize("size", list(PaperSize))
@pytest.mark.parametrize("count", [1, 2, 6])
def test_charts_are_high_enough_to_read(
    service: GpuDeskService, monkeypatch: pytest.MonkeyPatch, size: PaperSize, count: int
) -> None:
    """Charts were once 25 mm high, of which title, ticks and axis title took 16."""
    charts: list[SheetPiece] = []
    make = PaperThroughputChart.piece

    def record(chart: PaperThroughputChart, room: float, height: float) -> SheetPiece:
        charts.append(make(chart, room, height))
        return charts[-1]

    monkeypatch.setattr(PaperThroughputChart, "piece", record)
    for template in ("405b-one-node", "70b-chat-on-four"):
        scenario = read_template(template)
        scenario = replace(scenario, accelerators=scenario.accelerators[:count])
        answer = service.add_curves(service.costing.add_costs(service.answer(scenario)))
        formatter = Formatter()
        sheet = build_sheet(answer, formatter, further=service.make_sheet_extras(answer))
        pages = lay_out_sheet(sheet, size, formatter)
        assert len(pages.pages) <= 3
        assert min(chart.height for chart in charts) >= 30 * MM


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("size", list(PaperSize))
def test_six_accelerators_are_set_in_landscape(
    service: GpuDeskService, qapp: QApplication, size: PaperSize, language: str
) -> None:
    with use_language(language):
        answer = service.costing.add_costs(service.answer(read_template("405b-one-node"), with_curves=True))
        sheet = build_sheet(answer, date="2026-11-26", further=service.make_sheet_extras(answer))
        pages = lay_out_sheet(sheet, size, Formatter())
    assert pages.paper.landscape
    assert len(pages.pages) <= 4
