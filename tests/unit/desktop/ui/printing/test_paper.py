"""Which paper a country uses, and where lines break."""

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
def test_paper_is_that_of_the_country(name: str, size: str) -> None:
    assert find_usual_paper(QLocale(name)) is PaperSize(size)


def test_paper_across_is_wider_than_high() -> None:
    upright, across = Paper(PaperSize.A4), Paper(PaperSize.A4, landscape=True)
    assert (across.width, across.height) == (upright.height, upright.width) == (842, 595)


def said(lines: tuple[tuple[object, ...], ...]) -> list[str]:
    return ["".join(getattr(word, "text", "") for word in line) for line in lines]


def test_lines_keep_within_their_room() -> None:
    words = "Dense against dense, one part leads; the lead told in 2024 set a peak against a rate. " * 3
    for room in (40.0, 90.0, 240.0):
        lines = wrap_text(words, "small", room)
        assert all(measure_width(line, "small") <= room for line in said(lines))
        assert " ".join(" ".join(said(lines)).split()) == " ".join(words.split())


def test_number_stays_with_its_unit_and_its_thousands() -> None:
    words = "reads 7.7 TB/s of 151 397 597 184 bytes and no more"
    for room in range(60, 200, 3):
        lines = said(wrap_text(words, "small", float(room)))
        assert any("7.7 TB/s" in line for line in lines)
        assert any("151 397 597 184 bytes" in line for line in lines) or room < measure_width(
            "151 397 597 184 bytes", "small"
        )


def test_word_without_room_is_broken_not_cut() -> None:
    word = "Geschwindigkeitsbegrenzung" * 4
    lines = said(wrap_text(word, "small", 50.0))
    assert "".join(lines) == word
    assert all(measure_width(line, "small") <= 50.0 for line in lines)


def test_styles_change_within_a_line() -> None:
    (line,) = wrap_runs((TextRun("Part: ", "small_strong"), TextRun("plain")), 300.0)
    assert [(word.text, word.style) for word in line] == [("Part:", "small_strong"), ("plain", "small")]
    assert line[1].x > measure_width("Part:", "small_strong")


def test_what_is_left_out_is_shown_by_an_ellipsis() -> None:
    lines = wrap_text("one two three four five six seven eight nine ten", "small", 60.0)
    short = said(limit_lines(lines, 2, 60.0))
    assert len(short) == 2
    assert short[1].endswith("…")
    assert measure_width(short[1], "small") <= 60.0
    assert limit_lines(lines, 50, 60.0) == lines
