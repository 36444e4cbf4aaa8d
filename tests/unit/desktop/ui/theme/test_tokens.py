"""Contrast of both palettes, as the Web Content Accessibility Guidelines compute it."""

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


def compute_luminance(color: str) -> float:
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4 for channel in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def compute_contrast(first: str, second: str) -> float:
    dark, light = sorted((compute_luminance(first), compute_luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def test_contrast_of_known_colors() -> None:
    assert compute_contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert compute_contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_of_text(palette: Palette) -> None:
    colors = palette.colors
    weak = {
        pair: round(ratio, 2)
        for pair in TEXT_PAIRS
        if (ratio := compute_contrast(colors[pair[0]], colors[pair[1]])) < 4.5
    }
    assert weak == {}


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_of_marks(palette: Palette) -> None:
    colors = palette.colors
    weak = {
        pair: round(ratio, 2)
        for pair in MARK_PAIRS
        if (ratio := compute_contrast(colors[pair[0]], colors[pair[1]])) < 3
    }
    assert weak == {}


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_contrast_of_palette_colors(palette: Palette) -> None:
    page = palette.colors["page"]
    assert len(palette.marks) == len(palette.labels) == len(DASHES) == len(MARKERS) == PALETTE_SIZE == 8
    assert [mark for mark in palette.marks if compute_contrast(mark, page) < 3] == []
    assert [label for label in palette.labels if compute_contrast(label, page) < 4.5] == []


def test_both_palettes_have_the_same_tokens() -> None:
    assert LIGHT.colors.keys() == DARK.colors.keys()


def test_palette_entries_differ_without_color() -> None:
    assert len(set(DASHES)) == len(set(MARKERS)) == PALETTE_SIZE


def test_svg_charts_use_the_same_colors() -> None:
    assert LIGHT.marks == svg.COLORS


def test_type_styles_have_valid_weights_and_line_heights() -> None:
    for style in (*TYPE_STYLES.values(), *PAPER_TYPE_STYLES.values()):
        assert style.weight in (400, 500, 600)
        assert style.line >= style.pixels * 1.2
    assert min(style.pixels for style in TYPE_STYLES.values()) == 11
