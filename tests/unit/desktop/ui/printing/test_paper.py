"""Paper sizes by country, and line breaking."""

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication

from gpudesk.desktop.ui.printing.paper import (
    Paper,
    PaperSize,
    TextRun,
    find_usual_paper,
    limit_lines,
    measure_width,
    wrap_runs,
    wrap_text,
)
from gpudesk.desktop.ui.theme.tokens import load_fonts


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
