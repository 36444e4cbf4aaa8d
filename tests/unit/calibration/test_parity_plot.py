"""Parity plots: where points and lines lie, and what the file holds."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from accuracy_report.parity_plot import SIDE, ParityPalette, ParityPanel, ParityPoint, draw_parity_svg

LIGHT = ParityPalette("white", "black", "gray", "silver", "gray", {"NVIDIA": "blue", "AMD": "red"})
DARK = ParityPalette("black", "white", "gray", "gray", "gray", {"NVIDIA": "cyan", "AMD": "orange"})
SPACE = "{http://www.w3.org/2000/svg}"
POINTS = [ParityPoint("NVIDIA", 10.0, 10.0), ParityPoint("NVIDIA", 1000.0, 500.0), ParityPoint("AMD", 100.0, 100.0)]


def draw(*panels: ParityPanel) -> ET.Element:
    return ET.fromstring(draw_parity_svg(panels or (ParityPanel("TPOT", "ms", POINTS),), LIGHT, DARK))


def texts(root: ET.Element) -> list[str]:
    return [each.text or "" for each in root.iter(f"{SPACE}text")]


def test_a_perfect_prediction_lies_on_the_diagonal() -> None:
    root = draw()
    dots = next(p for p in root.iter(f"{SPACE}path") if "h.01M" in p.attrib["d"])
    x, y = map(float, re.findall(r"M([\d.]+) ([\d.]+?)h.01", dots.attrib["d"])[0])
    assert x + y == SIDE


def test_legend_axes_and_margins_have_spoken_names() -> None:
    words = texts(draw())
    for expected in ("NVIDIA, 2 figures", "AMD, 1 figure", "measured, ms", "predicted, ms", "+25%", "−25%"):
        assert expected in words
    assert {"10", "100", "1k"} <= set(words)


def test_title_shows_how_many_are_close() -> None:
    title = draw().find(f"{SPACE}title")
    assert title is not None
    assert title.text == "TPOT: 2 of 3 predictions are within 25% of the measurement."


def test_dark_surroundings_replace_every_color() -> None:
    style = draw().find(f"{SPACE}style")
    assert style is not None
    assert style.text is not None
    assert "prefers-color-scheme: dark" in style.text
    classes = {each.attrib["class"] for each in draw().iter() if "class" in each.attrib}
    assert all(f".{name}{{" in style.text for name in classes)


def test_panels_stand_side_by_side() -> None:
    one, two = draw(), draw(ParityPanel("TPOT", "ms", POINTS), ParityPanel("TTFT", "ms", POINTS))
    assert float(two.attrib["width"]) > 2 * SIDE > float(one.attrib["width"]) - SIDE / 2


def test_thousands_of_points_stay_small() -> None:
    many = [ParityPoint("NVIDIA", 1.1**place, 1.1 ** (place * 7 % 100)) for place in range(100)] * 40
    assert len(draw_parity_svg([ParityPanel("TPOT", "ms", many)], LIGHT, DARK)) < 20_000
