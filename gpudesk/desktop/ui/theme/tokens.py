"""Design tokens: colors of both themes, type, palette entries of accelerators, fonts and looks."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, Protocol

from PySide6.QtGui import QColor, QFont, QFontDatabase

from gpudesk import paths
from gpudesk.frozen_dataclass import frozen_dataclass

#: The font family of the program; see packaging/make_fonts.py.
FAMILY: Final = "Desk Sans"


@frozen_dataclass
class Palette:
    """The colors of one theme as `#RRGGBB`, by token.

    `marks` and `labels` are those of the slots, the first for slot 1. The alphas run from 0 to 255: `band` for the area
    around a curve, `scrim` for the (black) shade behind floating content.
    """

    colors: Mapping[str, str]
    marks: tuple[str, ...]
    labels: tuple[str, ...]
    band_alpha: int
    scrim_alpha: int


@frozen_dataclass
class TypeStyle:
    """Text style: height and line in device-independent pixels at font size 100%, and weight."""

    pixels: int
    weight: int
    line: int


LIGHT: Final = Palette(
    colors={
        "page": "#FFFFFF",
        "chrome": "#F6F7F8",
        "sunken": "#EFF1F3",
        "raised": "#FFFFFF",
        "hair": "#E3E6EA",
        "strong": "#C9CED6",
        "control": "#868F9B",
        "grid": "#ECEEF1",
        "axis": "#AEB5BF",
        "text1": "#16191D",
        "text2": "#4E5763",
        "text3": "#5F6875",
        "disabled": "#A3ABB6",
        "segment": "#FFFFFF",
        "hover": "#EFF1F4",
        "selection": "#E6E9EE",
        "selection_raised": "#E6E9EE",
        "selection_bar": "#16191D",
        "focus": "#2F6BE0",
        "link": "#1F5BC4",
        "button": "#16191D",
        "button_text": "#FFFFFF",
        "button_hover": "#4E5763",
        "best": "#E4F1EA",
        "best_text": "#0B6B4F",
        "disputed": "#B97A00",
        "disputed_text": "#8A5A00",
        "disputed_tint": "#FFF4DC",
        "unfit": "#A8321F",
        "unfit_tint": "#FBEBE8",
        "ink1": "#5B6470",
        "ink2": "#9AA3AF",
        "ink3": "#C9CFD7",
        "ink4": "#E4E7EB",
    },
    marks=("#3458B6", "#AF4213", "#12A594", "#66274F", "#A4872D", "#377FB5", "#8B130C", "#6C6D6E"),
    labels=("#3458B6", "#A33C10", "#0A7468", "#66274F", "#7A6318", "#2A6796", "#8B130C", "#5C5E61"),
    band_alpha=36,
    scrim_alpha=60,
)

DARK: Final = Palette(
    colors={
        "page": "#15181C",
        "chrome": "#1B1F24",
        "sunken": "#22272E",
        "raised": "#262B33",
        "hair": "#2B3138",
        "strong": "#414954",
        "control": "#737D8A",
        "grid": "#23282F",
        "axis": "#59616C",
        "text1": "#E8EAED",
        "text2": "#A9B1BC",
        "text3": "#949DA9",
        "disabled": "#59616C",
        "segment": "#414954",
        "hover": "#23282F",
        "selection": "#2B313A",
        "selection_raised": "#38414D",
        "selection_bar": "#E8EAED",
        "focus": "#6C9BFF",
        "link": "#8DB2FF",
        "button": "#E8EAED",
        "button_text": "#15181C",
        "button_hover": "#A9B1BC",
        "best": "#17302A",
        "best_text": "#6FCFA6",
        "disputed": "#E8B14C",
        "disputed_text": "#E8B14C",
        "disputed_tint": "#33291A",
        "unfit": "#F0897A",
        "unfit_tint": "#3A211D",
        "ink1": "#9BA4B0",
        "ink2": "#5A6370",
        "ink3": "#3D4550",
        "ink4": "#2B3138",
    },
    marks=("#6A8CF0", "#E59830", "#55E0C8", "#A674A0", "#E9E07A", "#5FB4EA", "#C96444", "#A9A6A2"),
    labels=("#86A3F6", "#E59830", "#55E0C8", "#C39ABE", "#E9E07A", "#5FB4EA", "#E08A6C", "#A9A6A2"),
    band_alpha=46,
    scrim_alpha=120,
)

#: Minimum height of controls that are clicked, in design lengths.
LEAST_TARGET: Final = 24.0

#: Alpha of a band on paper, with the light colors.
PRINT_BAND_ALPHA: Final = 30

PALETTE_SIZE: Final = len(LIGHT.marks)

#: Strokes and gaps of each slot's curve in pen widths; empty for a solid line.
DASHES: Final[tuple[tuple[float, ...], ...]] = (
    (),
    (7, 3),
    (2, 2.5),
    (8, 2.5, 2, 2.5),
    (12, 3),
    (4, 2),
    (10, 2, 2, 2, 2, 2),
    (1, 3),
)

MARKERS: Final = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "pentagon", "hexagon")

#: Text styles on screen.
TYPE_STYLES: Final[Mapping[str, TypeStyle]] = {
    "figure": TypeStyle(24, 600, 32),
    "headline": TypeStyle(22, 600, 30),
    "verdict": TypeStyle(20, 600, 28),
    "page": TypeStyle(17, 600, 24),
    "option": TypeStyle(14, 600, 20),
    "section": TypeStyle(13, 600, 20),
    "body": TypeStyle(13, 400, 20),
    "body_strong": TypeStyle(13, 500, 20),
    "small": TypeStyle(12, 400, 17),
    "small_strong": TypeStyle(12, 500, 17),
    "label": TypeStyle(12, 600, 17),
    "caption": TypeStyle(11, 400, 15),
    "caption_strong": TypeStyle(11, 500, 15),
    "present": TypeStyle(34, 600, 44),
    "present_text": TypeStyle(18, 400, 28),
    "present_small": TypeStyle(15, 400, 22),
}

#: Text styles on paper, in points.
PAPER_TYPE_STYLES: Final[Mapping[str, TypeStyle]] = {
    "title": TypeStyle(18, 600, 22),
    "verdict": TypeStyle(13, 600, 17),
    "lead": TypeStyle(9, 400, 12),
    "head": TypeStyle(9, 600, 12),
    "group": TypeStyle(8, 600, 11),
    "body": TypeStyle(8, 400, 11),
    "body_strong": TypeStyle(8, 500, 11),
    "best": TypeStyle(8, 600, 11),
    "small": TypeStyle(7, 400, 9),
    "small_strong": TypeStyle(7, 500, 9),
    "note_number": TypeStyle(7, 600, 9),
}


log = logging.getLogger(__name__)

WEIGHTS: Final = ("Regular", "Medium", "SemiBold")

_are_fonts_loaded = False


def load_fonts() -> None:
    """Register the font family of the program with Qt. If a file is missing, Qt uses another family."""
    global _are_fonts_loaded
    if _are_fonts_loaded:
        return
    for weight in WEIGHTS:
        file = paths.get_resources_dir() / "fonts" / f"DeskSans-{weight}.ttf"
        if QFontDatabase.addApplicationFont(str(file)) < 0:
            log.warning("the font %s cannot be loaded; install GPU Desk again", file)
    _are_fonts_loaded = True


def make_font(pixels: int, weight: int) -> QFont:
    """Return the font of the program at a size in painter units; widths do not depend on the platform's hinting."""
    font = QFont(FAMILY)
    font.setPixelSize(max(1, pixels))
    font.setWeight(QFont.Weight(weight))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def make_scaled_font(style: TypeStyle, scale: float = 1.0) -> QFont:
    """Return the font of a style at a scale, its size rounded to whole units."""
    return make_font(int(style.pixels * scale + 0.5), style.weight)


class PaintStyle(Protocol):
    """Colors, fonts and lengths by token."""

    def color(self, token: str) -> QColor: ...

    def mark_color(self, slot: int) -> QColor:
        """Return the color of a slot's curves and markers; slot 0 is gray."""

    def name_color(self, slot: int) -> QColor: ...

    def band_color(self, slot: int) -> QColor: ...

    def dash_pattern(self, slot: int) -> list[float]:
        """Return strokes and gaps in pen widths; empty for a solid line."""

    def marker_name(self, slot: int) -> str: ...

    def font(self, token: str) -> QFont: ...

    def length(self, n: float) -> float:
        """Return a design length in painter units."""

    @property
    def snaps(self) -> bool:
        """Whether lines and base lines are on whole pixels, as required on screen and avoided on paper."""


class PaperPaintStyle:
    """Paper: light colors, sizes in points.

    `units` is painter units per point; text sizes are rounded to whole units, so 10 gives tenths of a point. Mark
    lengths, which the design gives in pixels, are points here, scaled by `marks`.
    """

    def __init__(self, units: float = 1.0, marks: float = 0.75) -> None:
        load_fonts()
        self._units = units
        self._marks = marks

    def color(self, token: str) -> QColor:
        """Return a light color; tokens of controls are white on paper."""
        return QColor(LIGHT.colors["page" if token == "chrome" else token])

    def mark_color(self, slot: int) -> QColor:
        """Return the color of a slot's curves and markers; slot 0 is gray."""
        return QColor(LIGHT.marks[(slot - 1) % PALETTE_SIZE]) if slot > 0 else self.color("text3")

    def name_color(self, slot: int) -> QColor:
        return QColor(LIGHT.labels[(slot - 1) % PALETTE_SIZE]) if slot > 0 else self.color("text3")

    def band_color(self, slot: int) -> QColor:
        color = self.mark_color(slot)
        color.setAlpha(PRINT_BAND_ALPHA)
        return color

    def dash_pattern(self, slot: int) -> list[float]:
        """Return strokes and gaps in pen widths; empty for a solid line."""
        return list(DASHES[(slot - 1) % PALETTE_SIZE]) if slot > 0 else []

    def marker_name(self, slot: int) -> str:
        return MARKERS[(slot - 1) % PALETTE_SIZE] if slot > 0 else MARKERS[0]

    def font(self, token: str) -> QFont:
        return make_scaled_font(PAPER_TYPE_STYLES[token], self._units)

    def line(self, token: str) -> float:
        """Return the line height in painter units."""
        return PAPER_TYPE_STYLES[token].line * self._units

    def length(self, n: float) -> float:
        """Return the length of a mark in painter units."""
        return n * self._marks * self._units

    @property
    def snaps(self) -> bool:
        return False
