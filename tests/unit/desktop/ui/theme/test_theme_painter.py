"""The theme painter: sharp rules, aligned figures, symmetrical markers."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from gpudesk.desktop.ui.theme.glyphs import GLYPHS, make_marker_path, split_dashes_from_center
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTER, RIGHT, ThemePainter
from gpudesk.desktop.ui.theme.tokens import DASHES, MARKERS, PALETTE_SIZE, PaintStyle, PaperPaintStyle

WIDTH, HEIGHT = 200, 60


def render(look: PaintStyle, draw: Callable[[ThemePainter], object], ratio: float = 1.0) -> QImage:
    image = QImage(round(WIDTH * ratio), round(HEIGHT * ratio), QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(look.color("page"))
    with QPainter(image) as painter:
        draw(ThemePainter(painter, look))
    return image


def find_ink(image: QImage, page: QColor) -> QRect:
    """Return the smallest rectangle that contains all drawn pixels."""
    box = QRect()
    for x in range(image.width()):
        for y in range(image.height()):
            if image.pixelColor(x, y) != page:
                box = box.united(QRect(x, y, 1, 1))
    return box


def test_text_is_elided_to_its_rectangle(theme: Theme) -> None:
    rect = QRectF(20, 10, 80, 20)
    image = render(theme, lambda pen: pen.text(rect, "Instinct MI325X with a long name"))
    assert rect.adjusted(-1, 0, 1, 0).toRect().contains(find_ink(image, theme.color("page")))
    assert render(theme, lambda pen: pen.text(rect, "MI325X")) != image


@pytest.mark.parametrize("text", ["1,731", "1,111", "−5%", "0.04"])
def test_figures_are_right_aligned(theme: Theme, text: str) -> None:
    image = render(theme, lambda pen: pen.text(QRectF(0, 0, 150, 30), text, font="figure", align=RIGHT))
    box = find_ink(image, theme.color("page"))
    assert 145 <= box.right() <= 150


def test_text_is_centered(theme: Theme) -> None:
    image = render(theme, lambda pen: pen.text(QRectF(0, 0, WIDTH, HEIGHT), "H", font="figure", align=CENTER))
    box = find_ink(image, theme.color("page"))
    assert box.center().x() == pytest.approx(WIDTH / 2, abs=1)
    assert box.center().y() == pytest.approx(HEIGHT / 2, abs=1)


@pytest.mark.parametrize("pitch", [13, 14])
def test_text_has_the_same_baseline_in_every_row(theme: Theme, pitch: int) -> None:
    starts = [QPointF(0, 20.5 + pitch * row) for row in range(3)]
    images = [render(theme, partial(ThemePainter.text, where=start, text="H")) for start in starts]
    boxes = [find_ink(image, theme.color("page")) for image in images]
    assert {after.top() - before.top() for before, after in pairwise(boxes)} == {pitch}


def test_measured_width_equals_the_drawn_width(theme: Theme) -> None:
    widths: list[float] = []
    render(theme, lambda pen: widths.extend((pen.width("1,731", "body"), pen.text(QPointF(0, 20), "1,731"))))
    assert widths[0] == widths[1] > 20


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
def test_rules_are_sharp_at_every_scale(theme: Theme, ratio: float) -> None:
    image = render(theme, lambda pen: pen.hairline(0, 20.3, WIDTH, 20.3), ratio)
    page, hair = theme.color("page"), theme.color("hair")
    column = [image.pixelColor(50, y) for y in range(image.height())]
    assert [color for color in column if color not in (page, hair)] == []
    assert column.count(hair) == max(1, round(ratio))


def test_rules_on_paper_are_not_snapped_to_pixels(theme: Theme) -> None:
    image = render(PaperPaintStyle(), lambda pen: pen.rule(0, 20.5, WIDTH, 20.5, "text1", 1.0))
    assert image.pixelColor(50, 20) == theme.color("text1")
    unaligned = render(PaperPaintStyle(), lambda pen: pen.rule(0, 20.0, WIDTH, 20.0, "text1", 1.0))
    assert unaligned.pixelColor(50, 20) not in (theme.color("text1"), theme.color("page"))


def test_lines_wrap_at_spaces_and_the_last_is_elided(theme: Theme) -> None:
    text = "Five claims differ by more than what rounding could explain"
    wrapped: list[list[str]] = []
    render(theme, lambda pen: wrapped.extend((pen.lines(text, 120), pen.lines(text, 120, most=2))))
    assert " ".join(wrapped[0]) == text
    assert len(wrapped[0]) > 2
    assert len(wrapped[1]) == 2
    assert wrapped[1][1].endswith("…")


@pytest.mark.parametrize("phrase", ["2 × NeuronCore-v2", "6.5 TB/s", "B200 SXM", "1 rack", "Zen 4"])
def test_lines_keep_a_figure_with_its_unit_or_name(theme: Theme, phrase: str) -> None:
    lines: list[str] = []
    render(theme, lambda pen: lines.extend(pen.lines(f"One {phrase}", pen.width(f"One {phrase}", "body") - 2)))
    assert [line.replace("\u00a0", " ").replace("\u2060", "") for line in lines] == ["One", phrase]


@pytest.mark.parametrize("slot", range(1, PALETTE_SIZE + 1))
def test_swatch_is_symmetrical(theme: Theme, slot: int) -> None:
    image = render(theme, lambda pen: pen.swatch(20, 30, slot), 2.0)
    box = find_ink(image, theme.color("page"))
    assert box.width() <= 40
    for step in range(20):
        left, right = image.pixelColor(40 + step, 60), image.pixelColor(79 - step, 60)
        assert max(abs(left.red() - right.red()), abs(left.blue() - right.blue())) <= 4


def test_swatch_of_a_variant_is_hollow(theme: Theme) -> None:
    for slot in (1, 2, 4, 8):
        filled = render(theme, partial(ThemePainter.swatch, x=20, y=30, slot=slot), 2.0)
        variant = render(theme, partial(ThemePainter.swatch, x=20, y=30, slot=slot, is_variant=True), 2.0)
        assert filled.pixelColor(60, 60) == theme.mark_color(slot)
        assert variant.pixelColor(60, 60) == theme.color("page")


def test_accelerator_outside_the_scenario_is_gray(theme: Theme) -> None:
    assert theme.mark_color(0) == theme.name_color(0) == theme.color("text3")
    assert render(theme, lambda pen: pen.swatch(20, 30, 0)).pixelColor(30, 30) == theme.color("text3")


@pytest.mark.parametrize("dash", DASHES)
def test_dashes_from_the_center_stay_within_and_apart(dash: tuple[float, ...]) -> None:
    strokes = split_dashes_from_center(tuple(dash), 2.0, 50.0)
    assert strokes[0][0] == 0
    assert strokes[-1][1] <= 50
    assert all(start < end for start, end in strokes)
    assert all(before[1] < after[0] for before, after in pairwise(strokes))


@pytest.mark.parametrize("name", MARKERS)
def test_markers_have_about_the_size_of_a_circle(name: str) -> None:
    box = make_marker_path(name).boundingRect()
    assert box.center().manhattanLength() < 0.01
    assert 1.6 <= max(box.width(), box.height()) <= 2.6


@pytest.mark.parametrize("name", GLYPHS)
@pytest.mark.parametrize("preference", ["light", DARK])
def test_glyphs_are_centered_in_both_themes(theme: Theme, name: str, preference: str) -> None:
    theme.set_preference(preference)
    box = find_ink(render(theme, lambda pen: pen.glyph(name, 50, 30)), theme.color("page"))
    assert box.center().x() == pytest.approx(50, abs=1.5)
    assert box.center().y() == pytest.approx(30, abs=1.5)
    assert 6 <= max(box.width(), box.height()) <= 14


def test_glyphs_are_distinct(theme: Theme) -> None:
    pictures: list[QImage] = []
    for name in GLYPHS:
        if name == "fits":
            continue  # a tick as well, in another color and place
        image = render(theme, partial(ThemePainter.glyph, name=name, x=50, y=30, color="text1"))
        assert image not in pictures, name
        pictures.append(image)


def test_glyphs_scale_with_the_text(theme: Theme) -> None:
    page = theme.color("page")
    before = find_ink(render(theme, lambda pen: pen.glyph("disputed", 50, 30)), page)
    theme.set_font_percent(150)
    assert find_ink(render(theme, lambda pen: pen.glyph("disputed", 50, 30)), page).width() > before.width() * 1.3


def test_hatch_stays_in_its_rectangle(theme: Theme) -> None:
    rect = QRectF(30, 10, 60, 14)
    box = find_ink(render(theme, lambda pen: pen.hatch(rect, "unfit")), theme.color("page"))
    assert rect.toRect().contains(box)
    assert box.width() > 55


def test_tag_has_the_returned_width(theme: Theme) -> None:
    widths: list[float] = []
    image = render(theme, lambda pen: widths.append(pen.tag(10, 30, "Announced", dashed=True)))
    box = find_ink(image, theme.color("page"))
    assert (box.left(), box.height()) == (10, 18)
    assert box.right() <= 10 + widths[0]
