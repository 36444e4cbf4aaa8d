"""What the painter's helper draws: sharp rules, figures that end on one line, marks that are symmetrical."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from gpudesk.desktop.ui.theme.glyphs import GLYPHS, make_marker_path, split_dashes_from_center
from gpudesk.desktop.ui.theme.theme import DARK, Theme
from gpudesk.desktop.ui.theme.theme_painter import CENTRE, RIGHT, ThemePainter
from gpudesk.desktop.ui.theme.tokens import DASHES, MARKERS, PALETTE_SIZE, PaintStyle, PaperPaintStyle

WIDTH, HEIGHT = 200, 60


def drawn(look: PaintStyle, draw: Callable[[ThemePainter], object], ratio: float = 1.0) -> QImage:
    image = QImage(round(WIDTH * ratio), round(HEIGHT * ratio), QImage.Format.Format_ARGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(look.color("page"))
    with QPainter(image) as painter:
        draw(ThemePainter(painter, look))
    return image


def ink(image: QImage, page: QColor) -> QRect:
    """Return the smallest rectangle, in pixels, outside of which nothing was drawn."""
    box = QRect()
    for x in range(image.width()):
        for y in range(image.height()):
            if image.pixelColor(x, y) != page:
                box = box.united(QRect(x, y, 1, 1))
    return box


def test_text_is_cut_to_its_rectangle(theme: Theme) -> None:
    place = QRectF(20, 10, 80, 20)
    image = drawn(theme, lambda pen: pen.text(place, "Instinct MI325X with a long name"))
    assert place.adjusted(-1, 0, 1, 0).toRect().contains(ink(image, theme.color("page")))
    assert drawn(theme, lambda pen: pen.text(place, "MI325X")) != image


@pytest.mark.parametrize("text", ["1,731", "1,111", "−5%", "0.04"])
def test_figures_end_on_one_line(theme: Theme, text: str) -> None:
    image = drawn(theme, lambda pen: pen.text(QRectF(0, 0, 150, 30), text, font="figure", align=RIGHT))
    box = ink(image, theme.color("page"))
    assert 145 <= box.right() <= 150


def test_text_stands_in_the_middle(theme: Theme) -> None:
    image = drawn(theme, lambda pen: pen.text(QRectF(0, 0, WIDTH, HEIGHT), "H", font="figure", align=CENTRE))
    box = ink(image, theme.color("page"))
    assert box.center().x() == pytest.approx(WIDTH / 2, abs=1)
    assert box.center().y() == pytest.approx(HEIGHT / 2, abs=1)


@pytest.mark.parametrize("pitch", [13, 14])
def test_text_stands_alike_in_rows_of_one_height(theme: Theme, pitch: int) -> None:
    starts = [QPointF(0, 20.5 + pitch * n) for n in range(3)]
    images = [drawn(theme, partial(ThemePainter.text, where=start, text="H")) for start in starts]
    boxes = [ink(image, theme.color("page")) for image in images]
    assert {after.top() - before.top() for before, after in pairwise(boxes)} == {pitch}


def test_a_width_is_told_and_is_that_of_what_is_drawn(theme: Theme) -> None:
    told: list[float] = []
    drawn(theme, lambda pen: told.extend((pen.width("1,731", "body"), pen.text(QPointF(0, 20), "1,731"))))
    assert told[0] == told[1] > 20


@pytest.mark.parametrize("ratio", [1.0, 1.25, 1.5, 2.0])
def test_rules_are_sharp_at_every_scale(theme: Theme, ratio: float) -> None:
    image = drawn(theme, lambda pen: pen.hairline(0, 20.3, WIDTH, 20.3), ratio)
    page, hair = theme.color("page"), theme.color("hair")
    column = [image.pixelColor(50, y) for y in range(image.height())]
    assert [color for color in column if color not in (page, hair)] == []
    assert column.count(hair) == max(1, round(ratio))


def test_rules_on_paper_stay_where_they_are(theme: Theme) -> None:
    image = drawn(PaperPaintStyle(), lambda pen: pen.rule(0, 20.5, WIDTH, 20.5, "text1", 1.0))
    assert image.pixelColor(50, 20) == theme.color("text1")
    moved = drawn(PaperPaintStyle(), lambda pen: pen.rule(0, 20.0, WIDTH, 20.0, "text1", 1.0))
    assert moved.pixelColor(50, 20) not in (theme.color("text1"), theme.color("page"))


def test_lines_are_broken_at_spaces_and_the_last_is_cut(theme: Theme) -> None:
    text = "Five claims differ by more than what rounding could explain"
    broken: list[list[str]] = []
    drawn(theme, lambda pen: broken.extend((pen.lines(text, 120), pen.lines(text, 120, most=2))))
    assert " ".join(broken[0]) == text
    assert len(broken[0]) > 2
    assert len(broken[1]) == 2
    assert broken[1][1].endswith("…")


@pytest.mark.parametrize("slot", range(1, PALETTE_SIZE + 1))
def test_a_swatch_is_as_wide_as_told_and_symmetrical(theme: Theme, slot: int) -> None:
    image = drawn(theme, lambda pen: pen.swatch(20, 30, slot), 2.0)
    box = ink(image, theme.color("page"))
    assert box.width() <= 40
    for step in range(20):
        left, right = image.pixelColor(40 + step, 60), image.pixelColor(79 - step, 60)
        assert max(abs(left.red() - right.red()), abs(left.blue() - right.blue())) <= 4


def test_a_hollow_swatch_shows_the_page_in_the_middle(theme: Theme) -> None:
    for slot in (1, 2, 4, 8):
        full = drawn(theme, partial(ThemePainter.swatch, x=20, y=30, slot=slot), 2.0)
        is_variant = drawn(theme, partial(ThemePainter.swatch, x=20, y=30, slot=slot, is_variant=True), 2.0)
        assert full.pixelColor(60, 60) == theme.mark_color(slot)
        assert is_variant.pixelColor(60, 60) == theme.color("page")


def test_a_part_outside_the_scenario_is_grey(theme: Theme) -> None:
    assert theme.mark_color(0) == theme.name_color(0) == theme.color("text3")
    assert drawn(theme, lambda pen: pen.swatch(20, 30, 0)).pixelColor(30, 30) == theme.color("text3")


@pytest.mark.parametrize("dash", DASHES)
def test_strokes_from_the_centre_stay_within_and_apart(dash: tuple[float, ...]) -> None:
    strokes = split_dashes_from_center(tuple(dash), 2.0, 50.0)
    assert strokes[0][0] == 0
    assert strokes[-1][1] <= 50
    assert all(start < end for start, end in strokes)
    assert all(before[1] < after[0] for before, after in pairwise(strokes))


@pytest.mark.parametrize("name", MARKERS)
def test_markers_are_about_as_heavy_as_a_circle(name: str) -> None:
    box = make_marker_path(name).boundingRect()
    assert box.center().manhattanLength() < 0.01
    assert 1.6 <= max(box.width(), box.height()) <= 2.6


@pytest.mark.parametrize("name", GLYPHS)
@pytest.mark.parametrize("preference", ["light", DARK])
def test_glyphs_are_drawn_around_their_point_in_both_themes(theme: Theme, name: str, preference: str) -> None:
    theme.set_preference(preference)
    box = ink(drawn(theme, lambda pen: pen.glyph(name, 50, 30)), theme.color("page"))
    assert box.center().x() == pytest.approx(50, abs=1.5)
    assert box.center().y() == pytest.approx(30, abs=1.5)
    assert 6 <= max(box.width(), box.height()) <= 14


def test_every_glyph_looks_different(theme: Theme) -> None:
    pictures: list[QImage] = []
    for name in GLYPHS:
        if name == "fits":
            continue  # a tick as well, in another color and place
        image = drawn(theme, partial(ThemePainter.glyph, name=name, x=50, y=30, color="text1"))
        assert image not in pictures, name
        pictures.append(image)


def test_glyphs_scale_with_the_letters(theme: Theme) -> None:
    page = theme.color("page")
    before = ink(drawn(theme, lambda pen: pen.glyph("disputed", 50, 30)), page)
    theme.set_font_percent(150)
    assert ink(drawn(theme, lambda pen: pen.glyph("disputed", 50, 30)), page).width() > before.width() * 1.3


def test_a_hatch_stays_in_its_rectangle(theme: Theme) -> None:
    place = QRectF(30, 10, 60, 14)
    box = ink(drawn(theme, lambda pen: pen.hatch(place, "unfit")), theme.color("page"))
    assert place.toRect().contains(box)
    assert box.width() > 55


def test_a_tag_is_as_wide_as_told(theme: Theme) -> None:
    told: list[float] = []
    image = drawn(theme, lambda pen: told.append(pen.tag(10, 30, "Announced", dashed=True)))
    box = ink(image, theme.color("page"))
    assert (box.left(), box.height()) == (10, 18)
    assert box.right() <= 10 + told[0]
