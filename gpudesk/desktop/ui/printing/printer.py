"""Printing a sheet, and whether there is a print service at all."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtGui import QPageSize, QPainter
from PySide6.QtPrintSupport import QPrinter, QPrinterInfo

from gpudesk.desktop.ui.printing.layout import SheetPages
from gpudesk.desktop.ui.printing.paper import UNITS, PaperSize
from gpudesk.desktop.ui.printing.pieces import SheetPainter
from gpudesk.text.messages import InputError, message

_REFUSED: Final = message("printer.refused", "the printer rejected the job; check that it is on, or save a PDF")

_SOCKETS: Final = (Path("/run/cups/cups.sock"), Path("/var/run/cups/cups.sock"))
_SETTINGS: Final = (Path("/etc/cups/client.conf"), Path("~/.cups/client.conf"))
_SERVER: Final = re.compile(rb"^[ \t]*ServerName[ \t]+\S", re.MULTILINE | re.IGNORECASE)
_MOST_BYTES: Final = 1 << 16


def is_print_service_there() -> bool:
    """Whether printers can be asked for; on other systems than Linux they always can."""
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
        # No such file, or no home that it could lie in.
        return False


_POINTS_PER_INCH = 72


def is_printer_installed() -> bool:
    return bool(QPrinterInfo.availablePrinterNames())


def make_printer(pages: SheetPages, title: str) -> QPrinter:
    """Return a printer set to the paper of the pages; the margins are the sheet's own."""
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setDocName(title)
    printer.setCreator("GPU Desk")
    printer.setFullPage(True)
    printer.setPageLayout(pages.paper.page_layout())
    return printer


def print_pages(printer: QPrinter, pages: SheetPages, lay_out: Callable[[PaperSize], SheetPages]) -> None:
    """Print the pages that the user chose on the paper that the user chose.

    On the other known size they are laid out anew; on any other paper they are made to fit. Raises
    `InputError` where the printer does not take the job.
    """
    size = _find_size(printer, pages.paper.size)
    pages = pages if size is pages.paper.size else lay_out(size)
    printer.setFullPage(True)
    printer.setPageOrientation(pages.paper.page_layout().orientation())
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
        for position, number in enumerate(_chosen(printer, len(pages.pages))):
            if position and not printer.newPage():
                raise InputError(_REFUSED, printer.printerName() or None)
            pages.draw(number, ink)
    finally:
        painter.end()


def _find_size(printer: QPrinter, otherwise: PaperSize) -> PaperSize:
    sizes = {QPageSize.PageSizeId.A4: PaperSize.A4, QPageSize.PageSizeId.Letter: PaperSize.LETTER}
    return sizes.get(printer.pageLayout().pageSize().id(), otherwise)


def _chosen(printer: QPrinter, count: int) -> range:
    """Return the positions of the pages that the user asked for; all where no range is set."""
    first, last = printer.fromPage(), printer.toPage()
    return range(max(first, 1) - 1, min(last, count) if last else count)
