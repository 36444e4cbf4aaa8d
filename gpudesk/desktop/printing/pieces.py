"""What a sheet is made of: pieces that know their height and how to draw themselves at a place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gpudesk.desktop.printing.ink import Ink
from gpudesk.desktop.printing.letters import Line, ascent, line_height

#: Draws at a place: the left end and the top, in points.
Draw = Callable[[Ink, float, float], None]


@dataclass(frozen=True, slots=True)
class Piece:
    """Something with a height that is drawn at a place; its width was settled when it was made."""

    height: float
    draw: Draw


@dataclass(frozen=True, slots=True)
class Placed:
    """A piece with its place on a page."""

    x: float
    y: float
    piece: Piece

    def draw(self, ink: Ink) -> None:
        """Draw the piece where it belongs."""
        self.piece.draw(ink, self.x, self.y)


def space(height: float) -> Piece:
    """Return a gap."""
    return Piece(height, lambda *_: None)


def stacked(pieces: Sequence[Piece]) -> Piece:
    """Return pieces below each other as one."""

    def draw(ink: Ink, x: float, y: float) -> None:
        for piece in pieces:
            piece.draw(ink, x, y)
            y += piece.height

    return Piece(sum(piece.height for piece in pieces), draw)


def beside(pieces: Sequence[Piece], steps: Sequence[float]) -> Piece:
    """Return pieces side by side with a common top; `steps` are their left ends."""

    def draw(ink: Ink, x: float, y: float) -> None:
        for piece, step in zip(pieces, steps, strict=True):
            piece.draw(ink, x + step, y)

    return Piece(max((piece.height for piece in pieces), default=0.0), draw)


def paragraph(lines: Sequence[Line], style: str, step: float | None = None) -> Piece:
    """Return lines of text; `step` is their distance where it is not the style's own."""
    each = line_height(style) if step is None else step

    def draw(ink: Ink, x: float, y: float) -> None:
        for number, line in enumerate(lines):
            draw_line(ink, line, x, y + number * each + first_baseline(style, each))

    return Piece(each * len(lines), draw)


def first_baseline(style: str, height: float) -> float:
    """Return where letters stand that are in the middle of a line of some height."""
    return (height + ascent(style)) / 2


def draw_line(ink: Ink, line: Line, x: float, baseline: float) -> None:
    """Draw one line of words."""
    for word in line:
        ink.text(x + word.x, baseline, word.text, style=word.style, colour=word.colour)


def rule(width: float, colour: str, thickness: float) -> Piece:
    """Return a line across."""
    return Piece(
        thickness,
        lambda ink, x, y: ink.rule(x, y, x + width, y, colour=colour, width=thickness),
    )
