"""A sheet on a printer, drawn with the same code as the PDF."""

from __future__ import annotations

from PySide6.QtGui import QPageSize, QPainter
from PySide6.QtPrintSupport import QPrinter, QPrinterInfo

from gpudesk.desktop.printing.ink import Ink
from gpudesk.desktop.printing.layout import Pages, lay_out
from gpudesk.desktop.printing.letters import UNITS
from gpudesk.desktop.printing.paper import PaperSize
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import InputError, message
from gpudesk.sheets.sheet import Sheet

_POINTS_PER_INCH = 72


def printer_is_installed() -> bool:
    """Whether the system knows any printer."""
    return bool(QPrinterInfo.availablePrinterNames())


def make_printer(pages: Pages, title: str) -> QPrinter:
    """Return a printer set to the paper of the pages; the margins are the sheet's own."""
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setDocName(title)
    printer.setCreator("GPU Desk")
    printer.setFullPage(True)
    printer.setPageLayout(pages.paper.page_layout())
    return printer


def print_sheet(sheet: Sheet, printer: QPrinter, pages: Pages, formatter: Formatter) -> None:
    """Print the pages that the user chose on the paper that the user chose.

    On the other known size the sheet is laid out anew; on any other paper it is made to fit. Raises
    `InputError` where the printer does not take the job.
    """
    pages = _on_paper_of(printer, sheet, pages, formatter)
    printer.setFullPage(True)
    printer.setPageOrientation(pages.paper.page_layout().orientation())
    painter = QPainter()
    if not painter.begin(printer):
        raise InputError(message("printer.refused"), printer.printerName() or None)
    try:
        paper = printer.paperRect(QPrinter.Unit.DevicePixel)
        unit = printer.resolution() / (_POINTS_PER_INCH * UNITS)
        fitting = min(
            paper.width() / (pages.paper.width * UNITS), paper.height() / (pages.paper.height * UNITS)
        )
        scale = min(unit, fitting)
        painter.scale(scale, scale)
        ink = Ink(painter)
        for position, number in enumerate(_chosen(printer, len(pages.pages))):
            if position and not printer.newPage():
                raise InputError(message("printer.refused"), printer.printerName() or None)
            pages.draw(number, ink)
    finally:
        painter.end()


def _on_paper_of(printer: QPrinter, sheet: Sheet, pages: Pages, formatter: Formatter) -> Pages:
    """Return the pages for the paper that the printer is set to."""
    sizes = {QPageSize.PageSizeId.A4: PaperSize.A4, QPageSize.PageSizeId.Letter: PaperSize.LETTER}
    wanted = sizes.get(printer.pageLayout().pageSize().id(), pages.paper.size)
    return pages if wanted is pages.paper.size else lay_out(sheet, wanted, formatter)


def _chosen(printer: QPrinter, count: int) -> range:
    """Return the positions of the pages that the user asked for; all where no range is set."""
    first, last = printer.fromPage(), printer.toPage()
    return range(max(first, 1) - 1, min(last, count) if last else count)
