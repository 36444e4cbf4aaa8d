"""Both palettes can be read: contrasts as the Web Content Accessibility Guidelines compute them."""

import pytest

from gpudesk.desktop.ui.theme.tokens import (
    DARK,
    DASHES,
    LIGHT,
    MARKERS,
    PALETTE_SIZE,
    PAPER_TYPE_STYLES,
    TYPE_STYLES,
    Palette,
)
from gpudesk.report.writers import svg

SURFACES = ["page", "chrome", "sunken", "raised", "hover"]
TEXT_PAIRS = [
    *((text, surface) for text in ("text1", "text2", "text3") for surface in SURFACES),
    *((text, surface) for text in ("text1", "text2") for surface in ("selection", "selection_raised")),
    *((text, surface) for text in ("link", "unfit", "disputed_text") for surface in ("page", "chrome", "raised")),
    ("text1", "best"),
    ("best_text", "best"),
    ("best_text", "page"),
    ("text1", "disputed_tint"),
    ("disputed_text", "disputed_tint"),
    ("text1", "unfit_tint"),
    ("unfit", "unfit_tint"),
    ("button_text", "button"),
    ("button_text", "button_hover"),
    ("page", "focus"),
    ("page", "ink1"),
    ("text1", "ink2"),
    ("text1", "ink3"),
    ("text1", "ink4"),
    ("text1", "segment"),
]
MARK_PAIRS = [
    (mark, surface)
    for mark in ("control", "focus", "disputed", "unfit", "link", "text2", "selection_bar")
    for surface in ("page", "chrome")
]


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_known_colors() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_what_it_stands_on(palette: Palette) -> None:
    colors = palette.colors
    weak = {pair: round(found, 2) for pair in TEXT_PAIRS if (found := contrast(colors[pair[0]], colors[pair[1]])) < 4.5}
    assert weak == {}


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_can_be_seen(palette: Palette) -> None:
    colors = palette.colors
    weak = {pair: round(found, 2) for pair in MARK_PAIRS if (found := contrast(colors[pair[0]], colors[pair[1]])) < 3}
    assert weak == {}


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_slots_reach_their_contrast_on_the_page(palette: Palette) -> None:
    page = palette.colors["page"]
    assert len(palette.marks) == len(palette.labels) == len(DASHES) == len(MARKERS) == PALETTE_SIZE == 8
    assert [mark for mark in palette.marks if contrast(mark, page) < 3] == []
    assert [label for label in palette.labels if contrast(label, page) < 4.5] == []


def test_both_palettes_have_the_same_tokens() -> None:
    assert LIGHT.colors.keys() == DARK.colors.keys()


def test_slots_tell_apart_without_color() -> None:
    assert len(set(DASHES)) == len(set(MARKERS)) == PALETTE_SIZE


def test_sheets_without_a_window_use_the_same_colors() -> None:
    assert LIGHT.marks == svg.COLORS


def test_letters_have_one_of_three_weights_and_a_line_that_holds_them() -> None:
    for style in (*TYPE_STYLES.values(), *PAPER_TYPE_STYLES.values()):
        assert style.weight in (400, 500, 600)
        assert style.line >= style.pixels * 1.2
    assert min(style.pixels for style in TYPE_STYLES.values()) == 11
