"""A sheet as PDF: vectors, font subsets, searchable text, the scenario attached."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QLibraryInfo, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication, QPainter, QPdfWriter

from gpudesk import __version__
from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import UNITS, PaperSize, SheetPages, SheetPainter, find_usual_paper
from gpudesk.desktop.ui.printing.profile_pages import lay_out_profile
from gpudesk.documents.scenario_file import ATTACHMENT_NAME, ATTACHMENT_TYPE, format_scenario
from gpudesk.domain.answer import Answer, SheetExtras
from gpudesk.domain.claim import StalenessLimits
from gpudesk.files import write_atomically
from gpudesk.paths import MissingFileError
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import ComparisonSheet
from gpudesk.report.explanation.working import WorkingSource
from gpudesk.report.labels import get_today
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

log = logging.getLogger(__name__)

_POINTS_PER_INCH = 72


def write_pdf(
    sheet: ComparisonSheet,
    target: Path,
    *,
    scenario: bytes,
    paper: PaperSize | None = None,
    profiles: Sequence[ProfileTables] = (),
) -> None:
    """Write a sheet with its scenario inside; by default on the paper of the user's country.

    The file is written atomically: raises `InputError` that names it and the remedy.
    """
    ensure_application()
    pages = lay_out_sheet(sheet, paper or find_usual_paper(), Formatter(), profiles)
    write_atomically(target, render_pdf(pages, sheet.title, scenario))


def save_answer_as_pdf(
    answer: Answer,
    target: Path,
    paper: str | None,
    explain: WorkingSource | None = None,
    rule: StalenessLimits | None = None,
    further: SheetExtras | None = None,
    profiles: Sequence[ProfileTables] = (),
) -> None:
    """Write the sheet of an answer, dated today, with English number formats."""
    sheet = build_sheet(answer, date=get_today(), explain=explain, rule=rule, further=further)
    size = None if paper is None else PaperSize(paper)
    write_pdf(sheet, target, scenario=encode_scenario(answer), paper=size, profiles=profiles)


def save_profile_as_pdf(tables: ProfileTables, target: Path, paper: str | None, data_date: str) -> None:
    """Write the pages of a profile, dated today, atomically; raises `InputError`."""
    ensure_application()
    size = find_usual_paper() if paper is None else PaperSize(paper)
    pages = lay_out_profile(tables, size, get_today(), data_date)
    write_atomically(target, render_pdf(pages, tables.profile.accelerator.name, None))


def render_pdf(pages: SheetPages, title: str, scenario: bytes | None) -> bytes:
    raw = QByteArray()
    buffer = QBuffer(raw)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_POINTS_PER_INCH * UNITS)
    writer.setPageLayout(pages.paper.make_page_layout())
    writer.setTitle(title)
    writer.setCreator(f"GPU Desk {__version__}")
    if scenario is not None:
        writer.addFileAttachment(ATTACHMENT_NAME, QByteArray(scenario), ATTACHMENT_TYPE)
    with QPainter(writer) as painter:
        ink = SheetPainter(painter)
        for number in range(len(pages.pages)):
            if number:
                writer.newPage()
            pages.draw(number, ink)
    buffer.close()
    return bytes(raw.data())


def encode_scenario(answer: Answer) -> bytes:
    saved = replace(answer.scenario, catalog_revision=answer.catalog_revision)
    return format_scenario(saved).encode()


def ensure_application() -> None:
    """Start what Qt needs to draw, unless a window did; without a screen and without output."""
    global _application
    if QGuiApplication.instance() is None:
        require_offscreen_plugin()
        qInstallMessageHandler(lambda kind, _, text: log.debug("%s: %s", kind.name, text))
        _application = QGuiApplication(["gpudesk", "-platform", "offscreen"])


def require_offscreen_plugin() -> None:
    """Raise `MissingFileError` without the offscreen plug-in; Qt would end the process."""
    folder = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath)) / "platforms"
    if not any(folder.glob("*qoffscreen*")):
        raise MissingFileError(tr("Qt plug-in qoffscreen is missing in {folder}; reinstall GPU Desk", folder=folder))


#: Qt's application lives as long as the program.
_application: QGuiApplication | None = None
