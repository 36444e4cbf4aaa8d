"""What painting asks of a look: the theme on screen, or the light colours in points on paper."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtGui import QColor, QFont

from gpudesk.desktop.theme import tokens
from gpudesk.desktop.theme.fonts import font_of, load_fonts


class Look(Protocol):
    """Colours, fonts and lengths by token."""

    def colour(self, token: str) -> QColor:
        """Return the colour of a token."""

    def slot_mark(self, slot: int) -> QColor:
        """Return the colour of a slot's curves and markers; slot 0 is grey."""

    def slot_label(self, slot: int) -> QColor:
        """Return the colour of a slot's name."""

    def slot_band(self, slot: int) -> QColor:
        """Return the colour of the area that a slot's band fills, with its alpha."""

    def slot_dash(self, slot: int) -> list[float]:
        """Return strokes and gaps in pen widths; empty for a solid line."""

    def slot_marker(self, slot: int) -> str:
        """Return the name of a slot's marker."""

    def font(self, token: str) -> QFont:
        """Return the font of a token."""

    def length(self, n: float) -> float:
        """Return a length of the design in the painter's units."""

    @property
    def snaps(self) -> bool:
        """Whether rules and base lines lie on whole pixels, as they must on screen and must not on paper."""


class PaperLook:
    """Paper: light colours, sizes in points.

    `units` is how many of the painter's units make a point; the sizes of letters are rounded to whole units,
    so 10 gives tenths of a point. Lengths of marks, which the design gives in pixels, are points here, at
    `marks` times their size.
    """

    def __init__(self, units: float = 1.0, marks: float = 0.75) -> None:
        """Load the fonts and keep the scale."""
        load_fonts()
        self._units = units
        self._marks = marks

    def colour(self, token: str) -> QColor:
        """Return a light colour; what is chrome on screen is white on paper."""
        return QColor(tokens.LIGHT.colours["page" if token == "chrome" else token])

    def slot_mark(self, slot: int) -> QColor:
        """Return the colour of a slot's curves and markers; slot 0 is grey."""
        return QColor(tokens.LIGHT.marks[(slot - 1) % tokens.SLOTS]) if slot > 0 else self.colour("text3")

    def slot_label(self, slot: int) -> QColor:
        """Return the colour of a slot's name."""
        return QColor(tokens.LIGHT.labels[(slot - 1) % tokens.SLOTS]) if slot > 0 else self.colour("text3")

    def slot_band(self, slot: int) -> QColor:
        """Return the colour of the area that a slot's band fills, with its alpha."""
        colour = self.slot_mark(slot)
        colour.setAlpha(tokens.PRINT_BAND_ALPHA)
        return colour

    def slot_dash(self, slot: int) -> list[float]:
        """Return strokes and gaps in pen widths; empty for a solid line."""
        return list(tokens.DASHES[(slot - 1) % tokens.SLOTS]) if slot > 0 else []

    def slot_marker(self, slot: int) -> str:
        """Return the name of a slot's marker."""
        return tokens.MARKERS[(slot - 1) % tokens.SLOTS] if slot > 0 else tokens.MARKERS[0]

    def font(self, token: str) -> QFont:
        """Return a font of the paper's own table."""
        return font_of(tokens.PAPER_TYPE[token], self._units)

    def line(self, token: str) -> float:
        """Return the height of a line in the painter's units."""
        return tokens.PAPER_TYPE[token].line * self._units

    def length(self, n: float) -> float:
        """Return a length of a mark in the painter's units."""
        return n * self._marks * self._units

    @property
    def snaps(self) -> bool:
        """Paper has no pixels."""
        return False
