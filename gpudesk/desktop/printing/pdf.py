"""A sheet as PDF: vectors, our fonts as subsets, text that can be found, and the scenario inside."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLibraryInfo, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication, QPainter, QPdfWriter

from gpudesk import __version__
from gpudesk.desktop.printing.ink import Ink
from gpudesk.desktop.printing.layout import Pages, lay_out
from gpudesk.desktop.printing.letters import UNITS
from gpudesk.desktop.printing.paper import PaperSize, usual_paper
from gpudesk.domain.age_rule import AgeRule
from gpudesk.domain.answers import Answer
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.further import Further
from gpudesk.paths import MissingFileError
from gpudesk.sheets.dates import today
from gpudesk.sheets.sections import make_sheet
from gpudesk.sheets.sheet import Sheet
from gpudesk.sheets.working_text import Explain
from gpudesk.text import tr
from gpudesk.workbench.files import write_atomically
from gpudesk.workbench.pdf_attachment import ATTACHMENT_NAME, ATTACHMENT_TYPE
from gpudesk.workbench.scenario_file import scenario_text

log = logging.getLogger(__name__)

_POINTS_PER_INCH = 72


def write_pdf(
    sheet: Sheet,
    target: Path,
    *,
    scenario: bytes,
    paper: PaperSize | None = None,
    formatter: Formatter | None = None,
) -> None:
    """Write a sheet with its scenario inside; paper of the user's country unless another is asked for.

    The file is written as a whole or not at all: raises `InputError` that names it and says what to do.
    """
    ensure_application()
    pages = lay_out(sheet, paper or usual_paper(), formatter or Formatter())
    write_atomically(target, pdf_bytes(pages, sheet.title, scenario))


def save_answer(
    answer: Answer,
    target: Path,
    paper: str | None,
    explain: Explain | None = None,
    rule: AgeRule | None = None,
    further: Further | None = None,
) -> None:
    """Write the sheet of an answer, made today, with figures as English writes them."""
    sheet = make_sheet(answer, date=today(), explain=explain, rule=rule, further=further)
    size = None if paper is None else PaperSize(paper)
    write_pdf(sheet, target, scenario=scenario_bytes(answer), paper=size)


def pdf_bytes(pages: Pages, title: str, scenario: bytes) -> bytes:
    """Return the PDF of pages that are laid out."""
    raw = QByteArray()
    buffer = QBuffer(raw)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_POINTS_PER_INCH * UNITS)
    writer.setPageLayout(pages.paper.page_layout())
    writer.setTitle(title)
    writer.setCreator(f"GPU Desk {__version__}")
    writer.addFileAttachment(ATTACHMENT_NAME, QByteArray(scenario), ATTACHMENT_TYPE)
    painter = QPainter(writer)
    try:
        ink = Ink(painter)
        for number in range(len(pages.pages)):
            if number:
                writer.newPage()
            pages.draw(number, ink)
    finally:
        painter.end()
    buffer.close()
    return bytes(raw.data())


def scenario_bytes(answer: Answer) -> bytes:
    """Return the scenario of an answer as its file would be saved now."""
    saved = replace(answer.scenario, catalog_revision=answer.catalog_revision)
    return scenario_text(saved).encode()


def ensure_application() -> None:
    """Begin what Qt needs to draw, where no window has; it wants no screen and stays silent."""
    global _application
    if QGuiApplication.instance() is None:
        need_screenless()
        qInstallMessageHandler(lambda kind, _, text: log.debug("%s: %s", kind.name, text))
        _application = QGuiApplication(["gpudesk", "-platform", "offscreen"])


def need_screenless() -> None:
    """Raise `MissingFileError` without the plug-in that draws without a screen; Qt would end the process."""
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms"
    if not any(folder.glob("*qoffscreen*")):
        raise MissingFileError(
            tr("Qt's plug-in qoffscreen is missing in {folder}; install GPU Desk again", folder=folder)
        )


#: Qt's application lives as long as the program.
_application: QGuiApplication | None = None
