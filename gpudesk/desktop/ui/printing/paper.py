"""Paper sizes and margins, text measured and wrapped, the elements of pages, and printing. Lengths are points."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLocale, QMarginsF, QPointF, QRectF, Qt
from PySide6.QtGui import QFont, QFontMetricsF, QPageLayout, QPageSize, QPainter, QPdfWriter, QPen, QPolygonF
from PySide6.QtPrintSupport import QPrinter, QPrinterInfo

from gpudesk import __version__
from gpudesk.desktop.ui.theme.glyphs import FLAT
from gpudesk.desktop.ui.theme.theme_painter import CENTER, LEFT, RIGHT, ThemePainter
from gpudesk.desktop.ui.theme.tokens import PAPER_TYPE_STYLES, PaperPaintStyle, make_font
from gpudesk.documents.scenario_file import ATTACHMENT_NAME, ATTACHMENT_TYPE
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.formatting import FIGURE_UNITS
from gpudesk.text.messages import InputError, message
from gpudesk.text.translation import tr

#: Points in a millimetre.
MM: Final = 72 / 25.4
_POINTS_PER_INCH: Final = 72

#: Page margin, in points.
SIDE: Final = 15 * MM
TOP: Final = 12 * MM
FOOT: Final = 11 * MM


class PaperSize(StrEnum):
    """A paper size for sheets."""

    A4 = "a4"
    LETTER = "letter"


_IDS: Final = {PaperSize.A4: QPageSize.PageSizeId.A4, PaperSize.LETTER: QPageSize.PageSizeId.Letter}

#: Regions with US Letter as the usual paper, by the Unicode locale data.
_LETTER_COUNTRIES: Final = frozenset(
    {
        QLocale.Country.UnitedStates,
        QLocale.Country.Canada,
        QLocale.Country.Mexico,
        QLocale.Country.Belize,
        QLocale.Country.Chile,
        QLocale.Country.Colombia,
        QLocale.Country.CostaRica,
        QLocale.Country.ElSalvador,
        QLocale.Country.Guatemala,
        QLocale.Country.Nicaragua,
        QLocale.Country.Panama,
        QLocale.Country.Philippines,
        QLocale.Country.PuertoRico,
        QLocale.Country.Venezuela,
    }
)


def find_usual_paper(locale: QLocale | None = None) -> PaperSize:
    """Return the usual paper of a locale; by default of the system's."""
    country = (locale or QLocale.system()).territory()
    return PaperSize.LETTER if country in _LETTER_COUNTRIES else PaperSize.A4


@frozen_dataclass
class Paper:
    """One side of paper with its orientation; lengths in points."""

    size: PaperSize
    landscape: bool = False

    @property
    def width(self) -> float:
        return self._sides[1 if self.landscape else 0]

    @property
    def height(self) -> float:
        return self._sides[0 if self.landscape else 1]

    @property
    def inner_width(self) -> float:
        return self.width - 2 * SIDE

    @property
    def bottom(self) -> float:
        return self.height - FOOT

    def make_page_layout(self) -> QPageLayout:
        """Return the page layout for a printer or PDF, without margins: the sheet draws its own."""
        orientation = QPageLayout.Orientation
        return QPageLayout(
            QPageSize(_IDS[self.size]),
            orientation.Landscape if self.landscape else orientation.Portrait,
            QMarginsF(0, 0, 0, 0),
        )

    @property
    def _sides(self) -> tuple[float, float]:
        size = QPageSize.size(_IDS[self.size], QPageSize.Unit.Point)
        return size.width(), size.height()


#: Painter units per point: fonts have whole sizes in units, so this allows fractions of a point.
UNITS: Final = 20

_ELLIPSIS: Final = "…"

#: Size in points, weight and line distance: the styles of paper, and those of running text only.
_STYLES: Final[dict[str, tuple[float, int, float]]] = {
    **{name: (style.pixels, style.weight, style.line) for name, style in PAPER_TYPE_STYLES.items()},
    "raised": (6, 500, 7),
    "fine": (6.4, 400, 7.8),
    "fine_strong": (6.4, 500, 7.8),
    "fine_number": (6.4, 600, 7.8),
}


@frozen_dataclass
class TextRun:
    """Text in one style: a token of `PAPER_TYPE` and a color token."""

    text: str
    style: str = "small"
    color: str = "text1"


@frozen_dataclass
class PlacedRun:
    """Text of a run on a line, from the line's left end."""

    x: float
    text: str
    style: str
    color: str


TextLine = tuple[PlacedRun, ...]

#: Minimum letters of a word before an ellipsis.
_LONGEST_CUT: Final = 10
#: Maximum letters of an unbreakable parenthesis.
_SHORT_PARENTHESIS: Final = 14
#: Digits of a group of thousands.
_GROUP: Final = 3
#: Starts of German compounds that are wider than a column; they are hyphenated after these.
_COMPOUND_START: Final = re.compile(r"\(?(?:Speicher|Rechen|Vergleichs|vergleich)(?=\w)")
#: Parallel degrees, which stay with their number.
_DEGREES: Final = frozenset({"TP", "PP", "DP", "EP"})


@cache
def make_paper_font(style: str) -> QFont:
    size, weight, _ = _STYLES[style]
    return make_font(round(size * UNITS), weight)


@cache
def _get_font_metrics(style: str) -> QFontMetricsF:
    return QFontMetricsF(make_paper_font(style))


@lru_cache(maxsize=1 << 11)
def measure_width(text: str, style: str) -> float:
    return _get_font_metrics(style).horizontalAdvance(text) / UNITS


def find_widest(texts: Iterable[str], style: str) -> float:
    return max((measure_width(text, style) for text in texts), default=0.0)


def measure_line_height(style: str) -> float:
    return _STYLES[style][2]


@lru_cache(maxsize=1 << 8)
def wrap_runs(runs: tuple[TextRun, ...], room: float) -> tuple[TextLine, ...]:
    """Return the lines of text in several styles; a sheet is laid out in ten ways to choose one.

    Lines break at spaces, never between a number and its unit; a word that does not fit is hyphenated or broken
    anywhere.
    """
    lines: list[TextLine] = []
    line: list[PlacedRun] = []
    x = 0.0
    for word in _split_into_words(runs):
        gap = measure_width(" ", word[0].style) if line else 0.0
        needed = sum(measure_width(part.text, part.style) for part in word)
        if line and x + gap + needed > room:
            lines.append(tuple(line))
            line, x, gap = [], 0.0, 0.0
        for part in _break_word(word, room) if needed > room else (word,):
            if part is not word and line:
                lines.append(tuple(line))
                line, x, gap = [], 0.0, 0.0
            x = _append(line, part, x, gap)
    if line:
        lines.append(tuple(line))
    return tuple(lines)


_Word = list[TextRun]


def _split_into_words(runs: Sequence[TextRun]) -> Iterator[_Word]:
    """Yield unbreakable pieces: words, also across runs, and numbers with their units."""
    word: _Word = []
    for run in runs:
        for position, text in enumerate(run.text.split(" ")):
            if position and word and not _keeps(word, text):
                yield word
                word = []
            elif position and word:
                text = f" {text}"  # noqa: PLW2901 - the space inside an unbreakable piece
            if text:
                word.append(TextRun(text, run.style, run.color))
    if word:
        yield word


def _keeps(word: _Word, text: str) -> bool:
    """Whether the next word stays: a unit, the next three digits, a count, a range, or a short parenthesis' end.

    For example `5 ms`, `× 8`, `TP 8`, `(under 1%)`.
    """
    if text in ("×", "–") or word[-1].text.endswith(("×", "–")) or word[-1].text.removeprefix("(") in _DEGREES:
        return True
    last = word[-1].text
    if last.startswith("(") and text.rstrip(".,;:").endswith(")") and len(last) + len(text) < _SHORT_PARENTHESIS:
        return True
    ending = text.rstrip(".,;:)]")
    grouped = len(ending) == _GROUP and ending.isdigit() and word[-1].text.strip().isdigit()
    return word[-1].text[-1:].isdigit() and (grouped or ending in FIGURE_UNITS)


def _break_word(word: _Word, room: float) -> Iterator[_Word]:
    for part in word:
        text = part.text
        start = _COMPOUND_START.match(text)
        if start is not None and measure_width(f"{start[0]}-", part.style) <= room:
            yield [TextRun(f"{start[0]}-", part.style, part.color)]
            text = text[start.end() :]
        while text:
            count = len(text)
            while count > 1 and measure_width(text[:count], part.style) > room:
                count = max(1, min(count - 1, int(count * room / measure_width(text[:count], part.style))))
            yield [TextRun(text[:count], part.style, part.color)]
            text = text[count:]


def _append(line: list[PlacedRun], word: _Word, x: float, gap: float) -> float:
    """Append a word to a line; words of one style become one piece. Return the new end."""
    start = x + gap
    for part in word:
        last = line[-1] if line else None
        if last is not None and (last.style, last.color) == (part.style, part.color):
            space = " " if gap else ""
            line[-1] = PlacedRun(last.x, f"{last.text}{space}{part.text}", last.style, last.color)
        else:
            line.append(PlacedRun(start, part.text, part.style, part.color))
        start += measure_width(part.text, part.style)
        gap = 0.0
    return start


def wrap_text(text: str, style: str, room: float, color: str = "text1") -> tuple[TextLine, ...]:
    if measure_width(text, style) <= room and "\n" not in text:
        return ((PlacedRun(0.0, text, style, color),),) if text else ()
    return tuple(
        line
        for paragraph in text.splitlines()
        for line in wrap_runs((TextRun(paragraph, style, color),), room) or ((),)
    )


def limit_lines(lines: tuple[TextLine, ...], most: int, room: float) -> tuple[TextLine, ...]:
    """Return the first lines; the last of them ends in an ellipsis if there are more."""
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    if not last:
        return lines[:most]
    end = last[-1]
    text = end.text
    while text and end.x + measure_width(text + _ELLIPSIS, end.style) > room:
        text = text[:-1]
    if " " in text[-_LONGEST_CUT:]:
        # A word with only a few letters left is dropped.
        text = text[: text.rindex(" ")]
    shortened = PlacedRun(end.x, text.rstrip() + _ELLIPSIS, end.style, end.color)
    return (*lines[: most - 1], (*last[:-1], shortened))


#: Size of glyphs next to figures of 8 points, relative to the window.
_GLYPH_SCALE: Final = 0.72
#: Size of swatches, markers and glyphs in points, corresponding to the window's pixels.
_MARKS: Final = 0.9

#: Width of a swatch, in points.
SWATCH: Final = 20.0 * _MARKS

_ALIGN: Final = {"left": LEFT, "right": RIGHT, "center": CENTER}
#: Half the height of the mark at a curve's end.
_CAP: Final = 4.0


class SheetPainter:
    """Draws in points from the top left corner of the paper. Colors are tokens; `slotN` is an accelerator's name."""

    def __init__(self, painter: QPainter) -> None:
        """Use a painter whose units are a `UNITS`th of a point; it stays the caller's."""
        self._painter = painter
        self._look = PaperPaintStyle(UNITS, _MARKS)
        self._pen = ThemePainter(painter, self._look)

    def text(self, x: float, baseline: float, text: str, *, style: str, color: str, align: str = "left") -> None:
        """Write one line from, to or around a point on its base line."""
        where = QPointF(x, baseline) * UNITS
        self._pen.text(where, text, font=make_paper_font(style), color=color, align=_ALIGN[align])

    def rule(self, x1: float, y1: float, x2: float, y2: float, *, color: str, width: float) -> None:
        self._pen.rule(x1 * UNITS, y1 * UNITS, x2 * UNITS, y2 * UNITS, color, width * UNITS)

    def tint(self, x: float, y: float, width: float, height: float, color: str, *, radius: float) -> None:
        """Fill a rectangle; the radius is in points."""
        self._pen.tint(_scale_rect(x, y, width, height), color, radius / _MARKS)

    def bar(self, x: float, y: float, width: float, height: float, slot: int) -> None:
        self._pen.tint(_scale_rect(x, y, width, height), self._look.mark_color(slot), 1.5 / _MARKS)

    def hatch(self, x: float, y: float, width: float, height: float, color: str) -> None:
        self._pen.hatch(_scale_rect(x, y, width, height), color)

    def swatch(self, x: float, y: float, slot: int, *, is_variant: bool) -> None:
        """Draw the swatch of an accelerator around the height `y`."""
        self._pen.swatch(x * UNITS, y * UNITS, slot, is_variant=is_variant)

    def marker(self, x: float, y: float, slot: int, *, radius: float, is_variant: bool) -> None:
        """Draw the marker of an accelerator around a point; the radius is in points."""
        self._pen.marker(x * UNITS, y * UNITS, slot, radius=radius / _MARKS, is_variant=is_variant)

    def paint(
        self, x: float, y: float, width: float, height: float, draw: Callable[[ThemePainter, QRectF], object]
    ) -> None:
        """Let a picture shared with the screen paint itself into a rectangle."""
        draw(self._pen, _scale_rect(x, y, width, height))

    def glyph(self, name: str, x: float, y: float) -> None:
        self._painter.save()
        self._painter.translate(x * UNITS, y * UNITS)
        self._painter.scale(_GLYPH_SCALE, _GLYPH_SCALE)
        self._pen.glyph(name, 0.0, 0.0)
        self._painter.restore()

    def band(self, corners: Sequence[QPointF], slot: int) -> None:
        self._painter.setPen(Qt.PenStyle.NoPen)
        self._painter.setBrush(self._look.band_color(slot))
        self._painter.drawPolygon(QPolygonF([corner * UNITS for corner in corners]))

    def curve(self, points: Sequence[QPointF], slot: int, width: float) -> None:
        color = self._look.mark_color(slot)
        pen = QPen(color, width * UNITS, Qt.PenStyle.SolidLine, FLAT)
        dash = self._look.dash_pattern(slot)
        if dash:
            pen.setDashPattern(dash)
        self._painter.setPen(pen)
        self._painter.drawPolyline(QPolygonF([point * UNITS for point in points]))
        end = points[-1]
        self._pen.rule(
            end.x() * UNITS, (end.y() - _CAP) * UNITS, end.x() * UNITS, (end.y() + _CAP) * UNITS, color, width * UNITS
        )

    def leader(self, start: QPointF, end: QPointF, slot: int) -> None:
        self._painter.setPen(QPen(self._look.mark_color(slot), 0.5 * UNITS, Qt.PenStyle.SolidLine, FLAT))
        self._painter.drawLine(start * UNITS, end * UNITS)


def _scale_rect(x: float, y: float, width: float, height: float) -> QRectF:
    return QRectF(x * UNITS, y * UNITS, width * UNITS, height * UNITS)


#: Draws at a position: the left end and the top, in points.
DrawPiece = Callable[[SheetPainter, float, float], object]


@frozen_dataclass
class SheetPiece:
    """A piece with a height, drawn at a position; its width is fixed."""

    height: float
    draw: DrawPiece


@frozen_dataclass
class PlacedPiece:
    """A piece with its position on a page."""

    x: float
    y: float
    piece: SheetPiece

    def draw(self, ink: SheetPainter) -> None:
        self.piece.draw(ink, self.x, self.y)


@frozen_dataclass
class SheetPages:
    """Pages laid out on paper."""

    paper: Paper
    pages: tuple[tuple[PlacedPiece, ...], ...]

    def draw(self, number: int, ink: SheetPainter) -> None:
        for piece in self.pages[number]:
            piece.draw(ink)

    def render_pdf(self, title: str, scenario: bytes | None) -> bytes:
        """Return the pages as PDF: vectors, font subsets, searchable text, the scenario file attached."""
        raw = QByteArray()
        buffer = QBuffer(raw)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        writer = QPdfWriter(buffer)
        writer.setResolution(_POINTS_PER_INCH * UNITS)
        writer.setPageLayout(self.paper.make_page_layout())
        writer.setTitle(title)
        writer.setCreator(f"GPU Desk {__version__}")
        if scenario is not None:
            writer.addFileAttachment(ATTACHMENT_NAME, QByteArray(scenario), ATTACHMENT_TYPE)
        with QPainter(writer) as painter:
            ink = SheetPainter(painter)
            for number in range(len(self.pages)):
                if number:
                    writer.newPage()
                self.draw(number, ink)
        buffer.close()
        return bytes(raw.data())


def make_space(height: float) -> SheetPiece:
    return SheetPiece(height, lambda *_: None)


def stack_pieces(pieces: Sequence[SheetPiece]) -> SheetPiece:
    def draw(ink: SheetPainter, x: float, y: float) -> None:
        for piece in pieces:
            piece.draw(ink, x, y)
            y += piece.height

    return SheetPiece(sum(piece.height for piece in pieces), draw)


def put_side_by_side(pieces: Sequence[SheetPiece], steps: Sequence[float]) -> SheetPiece:
    """Return pieces side by side with a common top; `steps` are their left ends."""

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        for piece, step in zip(pieces, steps, strict=True):
            piece.draw(ink, x + step, y)

    return SheetPiece(max((piece.height for piece in pieces), default=0.0), draw)


def make_paragraph(lines: Sequence[TextLine], style: str) -> SheetPiece:
    height = measure_line_height(style) * len(lines)
    return SheetPiece(height, lambda ink, x, y: draw_lines(ink, lines, x, y, style))


def draw_lines(
    ink: SheetPainter, lines: Sequence[TextLine], x: float, top: float, style: str, *, is_right: bool = False
) -> float:
    """Draw lines from `x` on, or with `is_right` up to it; return the y below them."""
    step = measure_line_height(style)
    for number, line in enumerate(lines):
        left = x - measure_line(line) if is_right else x
        draw_line(ink, line, left, top + number * step + find_first_baseline(style, step))
    return top + len(lines) * step


def find_first_baseline(style: str, height: float) -> float:
    """Return the base line of letters in the middle of a line of some height."""
    return (height + (_get_font_metrics(style).capHeight() / UNITS)) / 2


def measure_line(line: TextLine) -> float:
    """Return where the last run of a line ends."""
    return max((run.x + measure_width(run.text, run.style) for run in line), default=0.0)


def draw_line(ink: SheetPainter, line: TextLine, x: float, baseline: float) -> None:
    for word in line:
        ink.text(x + word.x, baseline, word.text, style=word.style, color=word.color)


def make_rule(width: float, color: str, thickness: float) -> SheetPiece:
    return SheetPiece(thickness, lambda ink, x, y: ink.rule(x, y, x + width, y, color=color, width=thickness))


def make_brand(kind: str, date: str, room: float) -> SheetPiece:
    """Return the program's name with the kind of document, and the date at the right."""

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        ink.text(x, y + 7, "GPU Desk", style="group", color="text1")
        start = x + measure_width("GPU Desk", "group") + 4
        ink.text(start, y + 7, kind, style="body", color="text2")
        ink.text(x + room, y + 7, date, style="body", color="text2", align="right")

    return SheetPiece(16, draw)


def make_foot(lines: Sequence[TextLine], number: int, count: int, room: float) -> SheetPiece:
    """Return lines of small text below a rule, and the page number at the right."""
    paragraph = make_paragraph(lines, "small")
    place = tr("Page {number} of {count}", number=number, count=count)

    def draw(ink: SheetPainter, x: float, y: float) -> None:
        make_rule(room, "hair", 0.5).draw(ink, x, y + 2)
        paragraph.draw(ink, x, y + 4)
        ink.text(x + room, y + 11, place, style="small", color="text3", align="right")

    return SheetPiece(paragraph.height + 4, draw)


_REFUSED: Final = message("printer.refused", "the printer rejected the job; check that it is on, or save a PDF")

_SOCKETS: Final = (Path("/run/cups/cups.sock"), Path("/var/run/cups/cups.sock"))
_SETTINGS: Final = (Path("/etc/cups/client.conf"), Path("~/.cups/client.conf"))
_SERVER: Final = re.compile(rb"^[ \t]*ServerName[ \t]+\S", re.MULTILINE | re.IGNORECASE)
_MOST_BYTES: Final = 1 << 16


def is_print_service_there() -> bool:
    """Whether a print service is available; on systems other than Linux it always is."""
    if not sys.platform.startswith("linux"):
        return True
    if os.environ.get("CUPS_SERVER"):
        return True
    return any(path.is_socket() for path in _SOCKETS) or any(map(_names_a_server, _SETTINGS))


def _names_a_server(path: Path) -> bool:
    try:
        with path.expanduser().open("rb") as file:
            return _SERVER.search(file.read(_MOST_BYTES)) is not None
    except (OSError, RuntimeError):
        # No such file, or no home directory.
        return False


def is_printer_installed() -> bool:
    return bool(QPrinterInfo.availablePrinterNames())


def make_printer(pages: SheetPages, title: str) -> QPrinter:
    """Return a printer with the paper of the pages; the margins are the sheet's own."""
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setDocName(title)
    printer.setCreator("GPU Desk")
    printer.setFullPage(True)
    printer.setPageLayout(pages.paper.make_page_layout())
    return printer


def print_pages(printer: QPrinter, pages: SheetPages, lay_out: Callable[[PaperSize], SheetPages]) -> None:
    """Print the chosen pages on the chosen paper.

    On the other known size they are laid out again; on any other paper they are scaled to fit. Raises `InputError` if
    the printer rejects the job.
    """
    sizes = {QPageSize.PageSizeId.A4: PaperSize.A4, QPageSize.PageSizeId.Letter: PaperSize.LETTER}
    size = sizes.get(printer.pageLayout().pageSize().id(), pages.paper.size)
    pages = pages if size is pages.paper.size else lay_out(size)
    printer.setFullPage(True)
    printer.setPageOrientation(pages.paper.make_page_layout().orientation())
    painter = QPainter()
    if not painter.begin(printer):
        raise InputError(_REFUSED, printer.printerName() or None)
    try:
        paper = printer.paperRect(QPrinter.Unit.DevicePixel)
        unit = printer.resolution() / (_POINTS_PER_INCH * UNITS)
        fitting = min(paper.width() / (pages.paper.width * UNITS), paper.height() / (pages.paper.height * UNITS))
        scale = min(unit, fitting)
        painter.scale(scale, scale)
        ink = SheetPainter(painter)
        # The positions of the chosen pages; all without a range.
        count = len(pages.pages)
        first, last = printer.fromPage(), printer.toPage()
        for position, number in enumerate(range(max(first, 1) - 1, min(last, count) if last else count)):
            if position and not printer.newPage():
                raise InputError(_REFUSED, printer.printerName() or None)
            pages.draw(number, ink)
    finally:
        painter.end()
