"""Sheets and profiles written as PDF without a window."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QLibraryInfo, qInstallMessageHandler
from PySide6.QtGui import QGuiApplication

from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import PaperSize, find_usual_paper
from gpudesk.desktop.ui.printing.profile_pages import lay_out_profile
from gpudesk.documents.scenario_file import format_answered_scenario
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
    write_atomically(target, pages.render_pdf(sheet.title, scenario))


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
    write_pdf(sheet, target, scenario=format_answered_scenario(answer), paper=size, profiles=profiles)


def save_profile_as_pdf(tables: ProfileTables, target: Path, paper: str | None, data_date: str) -> None:
    """Write the pages of a profile, dated today, atomically; raises `InputError`."""
    ensure_application()
    size = find_usual_paper() if paper is None else PaperSize(paper)
    pages = lay_out_profile(tables, size, get_today(), data_date)
    write_atomically(target, pages.render_pdf(tables.profile.accelerator.name, None))


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
