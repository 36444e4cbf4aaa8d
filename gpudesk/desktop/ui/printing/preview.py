"""Pages on screen as printed, the print service, and printing."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPageSize, QPainter, QPaintEvent, QPixmap
from PySide6.QtPrintSupport import QPrinter, QPrinterInfo
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.ui.printing.paper import UNITS, PaperSize, SheetPages, SheetPainter
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.text.messages import InputError, message
from gpudesk.text.translation import trn

#: Device-independent pixels per point at 100%.
PIXELS_PER_POINT = 96 / 72
LEAST_ZOOM = 0.25
MOST_ZOOM = 4.0

_GAP = 16
#: Larger page pictures are not cached but drawn each time.
_MOST_PIXELS = 16_000_000

_REFUSED: Final = message("printer.refused", "the printer rejected the job; check that it is on, or save a PDF")

_SOCKETS: Final = (Path("/run/cups/cups.sock"), Path("/var/run/cups/cups.sock"))
_SETTINGS: Final = (Path("/etc/cups/client.conf"), Path("~/.cups/client.conf"))
_SERVER: Final = re.compile(rb"^[ \t]*ServerName[ \t]+\S", re.MULTILINE | re.IGNORECASE)
_MOST_BYTES: Final = 1 << 16
_POINTS_PER_INCH: Final = 72


class PagesView(QWidget):
    """All pages below each other on a quiet background, at a zoom."""

    #: The zoom or the pages have changed, and with them the size.
    resized = Signal()

    def __init__(self, pages: SheetPages, theme: Theme) -> None:
        super().__init__()
        self._pages = pages
        self._theme = theme
        self.zoom = 1.0
        self._pictures: dict[int, QPixmap] = {}
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        theme.changed.connect(self.update)
        self._settle()

    @property
    def count(self) -> int:
        return len(self._pages.pages)

    def set_pages(self, pages: SheetPages) -> None:
        self._pages = pages
        self._settle()

    def set_zoom(self, zoom: float) -> None:
        self.zoom = min(MOST_ZOOM, max(LEAST_ZOOM, zoom))
        self._settle()

    def zoom_to_fit(self, room: QSize, *, whole_page: bool) -> float:
        paper = self._pages.paper
        across = (room.width() - 2 * _GAP) / (paper.width * PIXELS_PER_POINT)
        down = (room.height() - 2 * _GAP) / (paper.height * PIXELS_PER_POINT)
        return min(across, down) if whole_page else across

    def compute_page_rect(self, number: int) -> QRectF:
        """Return the rectangle of a page, counted from 0."""
        wide, high = self._compute_page_size()
        left = max(_GAP, (self.width() - wide) / 2)
        return QRectF(round(left), _GAP + number * (high + _GAP), wide, high)

    def find_page_at(self, y: float) -> int:
        _, high = self._compute_page_size()
        return min(self.count - 1, max(0, int((y - _GAP / 2) // (high + _GAP))))

    def sizeHint(self) -> QSize:
        wide, high = self._compute_page_size()
        return QSize(wide + 2 * _GAP, _GAP + self.count * (high + _GAP))

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), self._theme.color("sunken"))
            for number in range(self.count):
                rect = self.compute_page_rect(number)
                if rect.intersects(QRectF(event.rect())):
                    self._draw_page(painter, number, rect)

    def _draw_page(self, painter: QPainter, number: int, rect: QRectF) -> None:
        ratio = self.devicePixelRatioF()
        if rect.width() * rect.height() * ratio * ratio > _MOST_PIXELS:
            painter.save()
            painter.setClipRect(rect, Qt.ClipOperation.IntersectClip)
            painter.translate(rect.topLeft())
            self._print_page(painter, number, rect)
            painter.restore()
        else:
            painter.drawPixmap(rect.topLeft(), self._get_page_picture(number, rect, ratio))
        ThemePainter(painter, self._theme).frame(rect.adjusted(-1, -1, 1, 1), "strong", radius=0)

    def _get_page_picture(self, number: int, rect: QRectF, ratio: float) -> QPixmap:
        picture = self._pictures.get(number)
        if picture is None or picture.devicePixelRatio() != ratio:
            picture = QPixmap(round(rect.width() * ratio), round(rect.height() * ratio))
            picture.setDevicePixelRatio(ratio)
            with QPainter(picture) as painter:
                self._print_page(painter, number, rect)
            self._pictures[number] = picture
        return picture

    def _print_page(self, painter: QPainter, number: int, rect: QRectF) -> None:
        """Draw a page with the top left corner of the paper at the painter's origin."""
        painter.fillRect(QRectF(0, 0, rect.width(), rect.height()), Qt.GlobalColor.white)
        scale = self.zoom * PIXELS_PER_POINT / UNITS
        painter.scale(scale, scale)
        self._pages.draw(number, SheetPainter(painter))

    def _compute_page_size(self) -> tuple[int, int]:
        scale = self.zoom * PIXELS_PER_POINT
        return round(self._pages.paper.width * scale), round(self._pages.paper.height * scale)

    def _settle(self) -> None:
        self._pictures.clear()
        self.setMinimumSize(self.sizeHint())
        self.resize(self.sizeHint().expandedTo(self.size()))
        self.setAccessibleName(trn("Comparison sheet, {n} page", "Comparison sheet, {n} pages", self.count))
        self.update()
        self.resized.emit()


# Printing


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
