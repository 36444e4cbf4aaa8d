"""A sheet on a terminal: aligned, marked by signs, as wide as the terminal at most."""

import pytest

from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.writers.text import list_sheet_lines, measure_text
from tests.unit.report.conftest import MakeAnswer, make_answer

__all__ = ["make_answer"]

PARTS = ("h200-sxm", "mi325x", "b200-hgx", "mi355x")


def lines_of(make_answer: MakeAnswer, *parts: str, width: int = 100) -> list[str]:
    return list(list_sheet_lines(build_sheet(make_answer(*parts)), width, str))


def test_figures_and_signs_are_aligned(make_answer: MakeAnswer) -> None:
    lines = lines_of(make_answer, "h200-sxm", "mi325x")
    throughput = [line for line in lines if line.startswith("  Output throughput")]
    assert throughput[0].split() == ["Output", "throughput", "%", "baseline", "+25"]
    assert throughput[1].split() == ["Output", "throughput", "tok/s", "1,000", "1,250", "*"]
    below = lines[lines.index(throughput[1]) + 1]
    assert below.split("  ")[-1].strip() == "1,120 – 1,380"
    assert below.rindex("1,380") + 5 == throughput[1].rindex("1,250") + 5
    bandwidth = next(line for line in lines if line.startswith("  Bandwidth"))
    assert bandwidth.split() == ["Bandwidth", "TB/s", "4.8", "6.0", "*◇1"]


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_no_line_is_wider_than_the_terminal(make_answer: MakeAnswer, width: int) -> None:
    lines = lines_of(make_answer, *PARTS, width=width)
    assert max(measure_text(line) for line in lines) <= width


def test_columns_that_do_not_fit_come_below(make_answer: MakeAnswer) -> None:
    wide = lines_of(make_answer, *PARTS, width=140)
    narrow = lines_of(make_answer, *PARTS, width=80)
    assert sum(line.startswith("At this workload") for line in wide) == 1
    assert sum(line.startswith("At this workload") for line in narrow) == 2
    for name in ("H200-SXM", "MI325X", "B200-HGX", "MI355X"):
        assert any(name in line for line in narrow)


def test_tie_is_reported(make_answer: MakeAnswer) -> None:
    text = "\n".join(lines_of(make_answer, "h200-sxm", "mi355x"))
    assert "1,040 or 1,000" in text
    assert "tie: too close to call" in text


def test_heads_are_strong_where_the_terminal_can(make_answer: MakeAnswer) -> None:
    sheet = build_sheet(make_answer("h200-sxm", "mi325x"))
    strong = [line for line in list_sheet_lines(sheet, 100, lambda text: f"<{text}>") if line.startswith("<")]
    assert f"<{sheet.title}>" in strong
