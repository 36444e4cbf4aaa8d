"""The preview of the sheet: its pages as they will be printed, and from here to paper or to a PDF."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, QStandardPaths, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QResizeEvent, QShortcut, QShowEvent, QWheelEvent
from PySide6.QtPrintSupport import QPrintDialog
from PySide6.QtWidgets import QDialog, QFileDialog, QVBoxLayout, QWidget

from gpudesk import paths
from gpudesk.desktop.printing.layout import Pages, lay_out
from gpudesk.desktop.printing.pages_view import PagesView
from gpudesk.desktop.printing.paper import PaperSize, usual_paper
from gpudesk.desktop.printing.pdf import pdf_bytes, scenario_bytes
from gpudesk.desktop.printing.preview_bar import ZOOM_STEP, PreviewBar
from gpudesk.desktop.printing.printer import make_printer, print_sheet, printer_is_installed
from gpudesk.desktop.printing.service import service_is_there
from gpudesk.desktop.session.settings import Settings
from gpudesk.desktop.theme.focus_ring import FocusRing
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.domain.answers import Answer
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.further import Further
from gpudesk.domain.messages import InputError
from gpudesk.sentences import problem
from gpudesk.sheets.dates import today
from gpudesk.sheets.sections import make_sheet
from gpudesk.sheets.working_text import Explain
from gpudesk.text import tr
from gpudesk.workbench.files import write_atomically
from gpudesk.workbench.settings_file import age_rule

_SUFFIX: Final = ".pdf"
#: Characters that some system does not take in names of files.
_NOT_IN_NAMES: Final = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
_LONGEST_NAME: Final = 80

_PAPER: Final = "sheet.paper"
_FOLDER: Final = "sheet.folder"

#: How the zoom follows the window.
_PAGE: Final = "page"
_WIDTH: Final = "width"


class SheetPreview(QDialog):
    """Shows the sheet of an answer. The answer needs its curves, or the sheet has none."""

    #: The file that the sheet was saved to, as a `Path`.
    saved = Signal(object)
    printed = Signal()

    def __init__(
        self,
        answer: Answer,
        theme: Theme,
        settings: Settings,
        formatter: Formatter,
        *,
        explain: Explain | None = None,
        further: Further | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Lay the sheet out on the paper that was used last, else on that of the user's country.

        With `explain` the sheet tells how its headline figures come about, where there is room, with
        `further` how many are needed and what that costs.
        """
        super().__init__(parent)
        self._answer = answer
        self._theme = theme
        self._settings = settings
        self._formatter = formatter
        rule = age_rule(settings.values)
        self._sheet = make_sheet(answer, formatter, date=today(), explain=explain, rule=rule, further=further)
        self._pages = self._laid_out(_remembered(settings))
        self._fit: str | None = _PAGE
        self.setWindowTitle(tr("Comparison sheet"))
        self._build()
        self._add_shortcuts()
        self._ring = FocusRing(self, theme)
        self._bar.save.setFocus()
        # Printers are asked for when one is wanted: that may take long, and is talk with others.
        if not service_is_there():
            self._forbid_printing()

    # What is shown

    @property
    def pages(self) -> Pages:
        """The pages as they are laid out now."""
        return self._pages

    @property
    def note(self) -> str:
        """What is said below the pages."""
        return self._note.text()

    def set_paper(self, size: PaperSize) -> None:
        """Lay the sheet out anew on another paper, and remember it."""
        self._settings.put(_PAPER, size.value)
        self._pages = self._laid_out(size)
        self._view.set_pages(self._pages)
        self._refit()

    def _laid_out(self, size: PaperSize) -> Pages:
        return lay_out(self._sheet, size, self._formatter)

    # Saving and printing

    def ask_and_save(self) -> None:
        """Ask where to, and save the sheet there as PDF with its scenario inside."""
        proposed = Path(self._folder()) / _file_name(self._sheet.title)
        chosen, _ = QFileDialog.getSaveFileName(
            self, tr("Save the sheet"), str(proposed), tr("PDF files (*.pdf)")
        )
        if chosen:
            self.save_to(Path(chosen))

    def save_to(self, target: Path) -> bool:
        """Save the sheet; say in place what came of it, and return whether it went well."""
        if target.suffix.lower() != _SUFFIX:
            target = target.with_name(target.name + _SUFFIX)
        raw = pdf_bytes(self._pages, self._sheet.title, scenario_bytes(self._answer))
        try:
            write_atomically(target, raw)
        except InputError as error:
            self._say(tr("Not saved: {problem}", problem=problem(error)), fault=True)
            return False
        self._settings.put(_FOLDER, str(target.parent))
        self._say(tr("Saved: {file}", file=target))
        self.saved.emit(target)
        return True

    def print_pages(self) -> None:
        """Ask for a printer and print."""
        if not (service_is_there() and printer_is_installed()):
            self._forbid_printing()
            return
        printer = make_printer(self._pages, self._sheet.title)
        dialog = QPrintDialog(printer, self)
        dialog.setOption(QPrintDialog.PrintDialogOption.PrintPageRange)
        dialog.setMinMax(1, self._view.count)
        if dialog.exec() != QDialog.DialogCode.Accepted:
            return
        try:
            print_sheet(self._sheet, printer, self._pages, self._formatter)
        except InputError as error:
            self._say(tr("Not printed: {problem}", problem=problem(error)), fault=True)
            return
        self._say(tr("Sent to the printer {name}", name=printer.printerName()))
        self.printed.emit()

    def _forbid_printing(self) -> None:
        reason = tr("No printer is installed. Save a PDF and print it elsewhere.")
        self._bar.forbid_printing(reason)
        self._say(reason)

    def _folder(self) -> str:
        """Return where the last sheet was saved while that is there, else the documents, else home."""
        last = self._settings.get(_FOLDER, "")
        if last and Path(last).is_dir():
            return last
        documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
        return documents if Path(documents).is_dir() else str(paths.home_dir())

    def _say(self, text: str, *, fault: bool = False) -> None:
        self._note.setText(text)
        self._note.set_colour("unfit" if fault else "text2")
        self._note.show()

    # Zoom and pages

    def zoom_by(self, factor: float) -> None:
        """Zoom in or out, and stay there when the window changes."""
        self._fit = None
        self._set_zoom(self._view.zoom * factor)

    def fit_to(self, fit: str | None) -> None:
        """Show whole pages (`page`), their `width`, or with None the size of the paper."""
        self._fit = fit
        if fit is None:
            self._set_zoom(1.0)
        else:
            self._refit()

    def turn(self, step: int) -> None:
        """Go to the page before or after."""
        self.go_to(self._current() + step)

    def go_to(self, number: int) -> None:
        """Bring a page into sight, counted from 0."""
        number = min(self._view.count - 1, max(0, number))
        bar = self._scroll.verticalScrollBar()
        bar.setValue(round(self._view.page_rect(number).top()) - 8 if number else 0)
        self._show_place()

    def _refit(self) -> None:
        if self._fit is not None:
            room = self._scroll.maximumViewportSize()
            self._set_zoom(self._view.zoom_to_fit(room, whole_page=self._fit == _PAGE))
        self._show_place()

    def _set_zoom(self, zoom: float) -> None:
        current = self._current()
        self._view.set_zoom(zoom)
        self._bar.show_zoom(self._view.zoom)
        # The scroll bars learn of the new size only when events are processed.
        QTimer.singleShot(0, self, lambda: self.go_to(current))

    def _current(self) -> int:
        """Return the page in the middle of what is in sight."""
        bar = self._scroll.verticalScrollBar()
        if bar.value() == bar.maximum() and bar.maximum() > 0:
            return self._view.count - 1
        return self._view.page_at(bar.value() + self._scroll.viewport().height() / 2)

    def _show_place(self) -> None:
        self._bar.show_place(self._current(), self._view.count)

    # Building

    def _build(self) -> None:
        self._bar = PreviewBar(self._theme, self._pages.paper.size)
        self._bar.paper_chosen.connect(lambda value: self.set_paper(PaperSize(value)))
        self._bar.zoomed.connect(self.zoom_by)
        self._bar.whole_page_wanted.connect(lambda: self.fit_to(_PAGE))
        self._bar.turned.connect(self.turn)
        self._bar.print_wanted.connect(self.print_pages)
        self._bar.save_wanted.connect(self.ask_and_save)
        self._view = PagesView(self._pages, self._theme)
        self._view.setAccessibleDescription(self._summary())
        self._scroll = ScrollArea(sideways=True)
        self._scroll.setWidget(self._view)
        self._scroll.setAccessibleName(tr("Pages of the sheet"))
        self._scroll.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._scroll.verticalScrollBar().valueChanged.connect(self._show_place)
        self._scroll.viewport().installEventFilter(self)
        self._note = Label(self._theme, font="small", colour="text2", wrap=True)
        self._note.setContentsMargins(16, 8, 16, 10)
        self._note.hide()
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(0)
        rows.addWidget(self._bar)
        rows.addWidget(self._scroll, 1)
        rows.addWidget(self._note)
        self.resize(self._theme.px(900), self._theme.px(860))

    def _add_shortcuts(self) -> None:
        standard = QKeySequence.StandardKey
        keys = (
            (QKeySequence(standard.Save), self.ask_and_save),
            (QKeySequence(standard.Print), self.print_pages),
            (QKeySequence(standard.ZoomIn), lambda: self.zoom_by(ZOOM_STEP)),
            (QKeySequence("Ctrl+="), lambda: self.zoom_by(ZOOM_STEP)),
            (QKeySequence(standard.ZoomOut), lambda: self.zoom_by(1 / ZOOM_STEP)),
            (QKeySequence("Ctrl+0"), lambda: self.fit_to(_PAGE)),
            (QKeySequence("Ctrl+1"), lambda: self.fit_to(None)),
            (QKeySequence("Ctrl+2"), lambda: self.fit_to(_WIDTH)),
            (QKeySequence("PgUp"), lambda: self.turn(-1)),
            (QKeySequence("PgDown"), lambda: self.turn(1)),
            (QKeySequence("Home"), lambda: self.go_to(0)),
            (QKeySequence("End"), lambda: self.go_to(self._view.count - 1)),
        )
        for sequence, run in keys:
            QShortcut(sequence, self).activated.connect(run)

    def _summary(self) -> str:
        """Return the headline answers in words, for those who hear the sheet."""
        said = (f"{each.question}: {each.answer}, {each.detail}." for each in self._sheet.headlines)
        return " ".join((self._sheet.title, *said))

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802 - Qt's name
        """Show a whole page at first."""
        super().showEvent(event)
        self._refit()

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Keep the page fitting."""
        super().resizeEvent(event)
        if self.isVisible():
            QTimer.singleShot(0, self, self._refit)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Zoom with the wheel while Ctrl is held."""
        if isinstance(event, QWheelEvent) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            up = event.angleDelta().y() > 0
            self.zoom_by(ZOOM_STEP if up else 1 / ZOOM_STEP)
            return True
        return super().eventFilter(watched, event)


def _remembered(settings: Settings) -> PaperSize:
    try:
        return PaperSize(settings.get(_PAPER, ""))
    except ValueError:
        return usual_paper()


def _file_name(title: str) -> str:
    """Return a name for the file that any system takes."""
    name = " ".join(_NOT_IN_NAMES.sub(" ", title).split())[:_LONGEST_NAME].strip(". ")
    return f"{name or tr('comparison')}{_SUFFIX}"
