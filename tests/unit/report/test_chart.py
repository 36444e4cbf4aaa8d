"""The drawings of a sheet: curves within their frame, ends where memory ends, labels apart."""

import re
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import SheetMemoryBar, ThroughputSeries
from gpudesk.report.writers.html import write_sheet_html
from gpudesk.report.writers.svg import draw_memory_chart, draw_swatch, draw_throughput_chart
from gpudesk.text.formatting import Formatter
from tests.unit.report.conftest import MakeAnswer


def curve(slot: int, most: int, rate: float) -> ThroughputSeries:
    points = tuple(2**exponent for exponent in range(most.bit_length()))
    value = tuple(rate * point / points[-1] for point in points)
    return ThroughputSeries(
        slot, f"Part {slot}", points, value, tuple(each * 0.8 for each in value), tuple(each * 1.2 for each in value)
    )


def draw(*series: ThroughputSeries, concurrency: int | None = None, height: float = 180.0) -> ET.Element:
    return ET.fromstring(draw_throughput_chart(series, concurrency, height, Formatter()))


def numbers(path: str) -> list[float]:
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", path)]


@pytest.mark.parametrize("count", [1, 2, 4, 6])
def test_everything_lies_within_the_frame(count: int) -> None:
    chart = draw(*(curve(slot, 256, 1000.0 / slot) for slot in range(1, count + 1)), concurrency=64)
    _, _, width, height = numbers(chart.attrib["viewBox"])
    for text in chart.iter("text"):
        assert 0 <= float(text.attrib["x"]) <= width
        assert 0 <= float(text.attrib["y"]) <= height
    for path in chart.iter("path"):
        start = numbers(path.attrib["d"])[:2]
        assert 0 <= start[0] <= width
        assert 0 <= start[1] <= height


def test_labels_do_not_overlap_and_name_the_memory_limit() -> None:
    chart = draw(curve(1, 64, 1000.0), curve(2, 256, 1001.0), curve(3, 128, 999.0))
    names = [text for text in chart.iter("text") if (text.text or "").startswith("Part")]
    heights = sorted(float(text.attrib["y"]) for text in names)
    assert all(below - above >= 20 for above, below in pairwise(heights))
    texts = [text.text for text in chart.iter("text")]
    assert {"full at 64", "full at 256", "full at 128"} <= set(texts)


def test_curves_differ_by_dash_as_well_as_by_hue() -> None:
    chart = draw(*(curve(slot, 64, 1000.0) for slot in range(1, 7)))
    dashes = {path.attrib["stroke-dasharray"] for path in chart.iter("path") if "stroke-dasharray" in path.attrib}
    assert len(dashes) == 6
    assert len({draw_swatch(slot) for slot in range(1, 7)}) == 6


def test_axis_begins_at_zero_and_has_round_steps() -> None:
    chart = draw(curve(1, 64, 1731.0))
    ticks = [text.text for text in chart.iter("text") if text.attrib["class"] == "tick"]
    assert ticks[:5] == ["0", "500", "1,000", "1,500", "2,000"]


def test_chart_has_a_text_alternative() -> None:
    chart = draw(curve(1, 64, 1731.0))
    assert chart.attrib["aria-label"] == ("Part 1: 1,730 tok/s at 64 requests in flight, when memory is full")


def test_memory_bars_keep_to_their_capacity() -> None:
    bars = (
        SheetMemoryBar(1, "A & B", (("weights", 70.0), ("KV cache", 20.0), ("other", 3.0)), 141.0, "141.0"),
        SheetMemoryBar(2, "C", (("weights", 70.0), ("KV cache", 20.0), ("other", 3.0)), 256.0, "256.0"),
    )
    chart = ET.fromstring(draw_memory_chart(bars))
    widths = [float(rectangle.attrib["width"]) for rectangle in chart.iter("rect")]
    assert widths[0] / widths[4] == pytest.approx(141 / 256, rel=0.01)
    assert sum(widths[1:4]) < widths[0]
    assert chart.attrib["aria-label"].startswith("A & B: weights 70, KV cache 20, other 3 of 141.0 GiB")


def test_sheet_draws_curves_only_where_it_has_some(make_answer: MakeAnswer) -> None:
    assert 'class="throughput"' not in write_sheet_html(build_sheet(make_answer("h200-sxm", "mi325x")))


def test_sheet_says_that_its_curves_are_of_closed_loops_where_the_load_is_none(make_answer: MakeAnswer) -> None:
    sheet = replace(build_sheet(make_answer("h200-sxm", "mi325x")), throughput=(curve(1, 64, 1000.0),))
    assert "<h2>Output throughput, tok/s</h2>" in write_sheet_html(sheet)
    assert "<h2>Output throughput (closed loop), tok/s</h2>" in write_sheet_html(replace(sheet, concurrency=None))
