"""The preview of the comparison sheet: its pages as printed, for printing or saving as PDF."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, QSize, QStandardPaths, Qt, QTimer, Signal
from PySide6.QtGui import QKeySequence, QPainter, QPaintEvent, QPixmap, QResizeEvent, QShortcut, QShowEvent, QWheelEvent
from PySide6.QtPrintSupport import QPrintDialog
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QWidget

from gpudesk.desktop.pages.profile.views import ProfilePreferences
from gpudesk.desktop.session.settings import UserSettings, get_folder
from gpudesk.desktop.ui.printing.layout import lay_out_sheet
from gpudesk.desktop.ui.printing.paper import (
    UNITS,
    PaperSize,
    SheetPages,
    SheetPainter,
    find_usual_paper,
    is_print_service_there,
    is_printer_installed,
    make_printer,
    print_pages,
)
from gpudesk.desktop.ui.printing.profile_pages import lay_out_profile
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, IconButton, SegmentedControl
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FullWidthScrollArea, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import ask_save_path, format_key, make_menu, pop_up
from gpudesk.documents.scenario_file import format_answered_scenario, get_valid_note, make_title
from gpudesk.documents.settings_file import make_age_rule
from gpudesk.domain.answer import Answer, SheetExtras
from gpudesk.files import write_atomically
from gpudesk.report.comparison.sheet import build_sheet
from gpudesk.report.comparison.tables import ComparisonSheet
from gpudesk.report.explanation.working import WorkingSource
from gpudesk.report.labels import get_today, list_accelerator_names
from gpudesk.report.profile_sections import ProfileTables
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import LANGUAGE_NAMES, get_language, list_available_languages, tr, trn, use_language

if TYPE_CHECKING:
    from gpudesk.desktop.session.evaluated_answer import EvaluatedAnswer
    from gpudesk.desktop.window.document_window import DocumentWindow
    from gpudesk.domain.decision import WayOut


#: One step of the zoom.
ZOOM_STEP = 1.25
#: Device-independent pixels per point at 100%.
PIXELS_PER_POINT = 96 / 72
LEAST_ZOOM = 0.25
MOST_ZOOM = 4.0

_GAP = 16
#: Larger page pictures are not cached but drawn each time.
_MOST_PIXELS = 16_000_000


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


class PreviewBar(QWidget):
    """Shows the page of a preview, and has its commands."""

    def __init__(self, theme: Theme, preview: PagesPreview) -> None:
        super().__init__()
        self._theme = theme
        self._paper = SegmentedControl(
            theme, tr("Paper"), [(PaperSize.A4.value, tr("A4")), (PaperSize.LETTER.value, tr("Letter"))]
        )
        self._paper.set_value(preview.pages.paper.size.value)
        self._paper.chosen.connect(lambda value: preview.set_paper(PaperSize(value)))
        codes = [code for code in list_available_languages() if code in LANGUAGE_NAMES]
        self.language = SegmentedControl(
            theme, tr("Language of the sheet"), [(code, LANGUAGE_NAMES[code]) for code in codes]
        )
        self.language.set_value(get_language())
        self.language.chosen.connect(preview.set_language)
        make_button = partial(IconButton, theme)
        self._smaller = make_button("zoom-out", tr("Zoom out"), lambda: preview.zoom_by(1 / ZOOM_STEP), key="Ctrl+-")
        self._zoom = ThemedLabel(theme, font="small", color="text2")
        self._zoom.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._larger = make_button("zoom-in", tr("Zoom in"), lambda: preview.zoom_by(ZOOM_STEP), key="Ctrl++")
        self._whole = make_button("maximize", tr("Fit page"), lambda: preview.fit_to(_PAGE), key="Ctrl+0")
        self._back = make_button("chevron-up", tr("Previous page"), lambda: preview.turn(-1), key="PgUp")
        self._on = make_button("chevron-down", tr("Next page"), lambda: preview.turn(1), key="PgDown")
        self._place = ThemedLabel(theme, font="small", color="text2")
        self._options = QHBoxLayout()
        self.rules = QCheckBox(tr("Rules"))
        self.rules.setAccessibleName(tr("Append all rules"))
        self.rules.setToolTip(tr("Append all recommendation rules"))
        self.rules.hide()
        self._print = Button(theme, tr("Print…"), preview.print_pages, icon="printer", key=format_key("Ctrl+P"))
        self.save = Button(
            theme, tr("Save PDF…"), preview.ask_and_save, icon="file-down", kind="primary", key=format_key("Ctrl+S")
        )
        self._arrange()
        # Only now that it has a parent: before, it would be shown as a window.
        self.language.setVisible(len(codes) > 1)
        theme.follow(self._dress)

    def add_option(self, widget: QWidget) -> None:
        """Show an option for the content of the pages."""
        self._options.addWidget(widget)
        QWidget.setTabOrder(self._on, widget)

    def show_zoom(self, zoom: float) -> None:
        """Show the zoom in percent."""
        text = tr("{n}%", n=round(zoom * 100))
        self._zoom.setText(text)
        self._zoom.setAccessibleName(tr("Zoom {zoom}", zoom=text))

    def show_place(self, number: int, count: int) -> None:
        """Show the number of the visible page; `number` counts from 0."""
        self._place.setText(tr("Page {number} of {count}", number=number + 1, count=count))
        self._back.setEnabled(number > 0)
        self._on.setEnabled(number < count - 1)

    def forbid_printing(self, reason: str) -> None:
        self._print.setEnabled(False)
        self._print.setToolTip(reason)
        self._print.setAccessibleDescription(reason)

    def _arrange(self) -> None:
        make_row(
            self._paper,
            12,
            self.language,
            12,
            self._smaller,
            self._zoom,
            self._larger,
            self._whole,
            12,
            self._back,
            self._on,
            self._place,
            8,
            STRETCH,
            self._options,
            8,
            self.rules,
            12,
            self._print,
            4,
            self.save,
            gap=4,
            margins=(16, 10, 16, 10),
            on=self,
        )

    def _dress(self) -> None:
        # As wide as the widest zoom, so that nothing next to it moves.
        self._zoom.setFixedWidth(self._theme.px(44))


_SUFFIX: Final = ".pdf"
#: Characters that some system forbids in file names.
_NOT_IN_NAMES: Final = re.compile(r'[\\/:*?"<>|\x00-\x1f]+')
_LONGEST_NAME: Final = 80

_PAPER: Final = "sheet.paper"
_FOLDER: Final = "sheet.folder"

#: Zoom modes that follow the window.
_PAGE: Final = "page"
_WIDTH: Final = "width"


class PagesPreview(ThemedDialog):
    """Shows pages as printed.

    Subclasses implement `title`, `lay_out`, `make_pdf`, `describe`, `show_language` and `reopen`.
    """

    manual_topic = "sheet"

    #: The file of the saved pages, as a `Path`.
    saved = Signal(object)
    printed = Signal()

    def __init__(
        self, theme: Theme, settings: UserSettings, formatter: Formatter, parent: QWidget | None = None
    ) -> None:
        """Lay out the pages on the last used paper, else on that of the user's country."""
        super().__init__(theme, "", (900, 860), parent)
        self._settings = settings
        self._formatter = formatter
        self._language = get_language()
        #: The pages as printed.
        self.pages = self._lay_out_pages(_read_paper_size(settings))
        self._fit: str | None = _PAGE
        self._build()
        self._add_shortcuts()
        self._bar.save.setFocus()
        # Printers are queried on demand: that can be slow, and communicates with other services.
        if not is_print_service_there():
            self._forbid_printing()

    # To implement in subclasses

    @property
    def title(self) -> str:
        raise NotImplementedError

    def lay_out(self, size: PaperSize) -> SheetPages:
        """Return the pages in the language that is active."""
        raise NotImplementedError

    def make_pdf(self) -> bytes:
        raise NotImplementedError

    def describe(self) -> str:
        """Return the content of the pages, for a screen reader."""
        return self.title

    def show_language(self) -> None:
        """Apply the chosen language and its formatter."""

    def reopen(self, window: DocumentWindow) -> None:
        """Open the same preview above another window, in the language of that window."""
        raise NotImplementedError

    # Display

    @property
    def note(self) -> str:
        return self._note.text()

    def set_paper(self, size: PaperSize) -> None:
        self._settings.put(_PAPER, size.value)
        self.pages = self._lay_out_pages(size)
        self._view.set_pages(self.pages)
        self._refit()

    def set_language(self, code: str) -> None:
        """Lay out the pages in another language than the window's."""
        self._language = code
        with use_language(code):
            self._formatter = Formatter()
            self.show_language()
        self.set_paper(self.pages.paper.size)

    def _lay_out_pages(self, size: PaperSize) -> SheetPages:
        with use_language(self._language):
            return self.lay_out(size)

    # Saving and printing

    def ask_and_save(self) -> None:
        proposed = self._get_folder_path() / _make_file_name(self.title)
        target = ask_save_path(self, tr("Save sheet"), proposed, [(tr("PDF files"), _SUFFIX)])
        if target is not None:
            self.save_to(target)

    def save_to(self, target: Path) -> bool:
        """Save the sheet, show the result in place, and return whether it was saved."""
        with use_language(self._language):
            raw = self.make_pdf()
        try:
            write_atomically(target, raw)
        except InputError as error:
            self._show_state(tr("Not saved: {problem}", problem=format_input_error(error)), fault=True)
            return False
        self._settings.put(_FOLDER, str(target.parent))
        self._show_state(tr("Saved: {file}", file=target))
        self.saved.emit(target)
        return True

    def print_pages(self) -> None:
        if not (is_print_service_there() and is_printer_installed()):
            self._forbid_printing()
            return
        printer = make_printer(self.pages, self.title)
        dialog = QPrintDialog(printer, self)
        dialog.setOption(QPrintDialog.PrintDialogOption.PrintPageRange)
        dialog.setMinMax(1, self._view.count)
        if dialog.exec() != QDialog.DialogCode.Accepted:
            return
        try:
            with use_language(self._language):
                print_pages(printer, self.pages, self.lay_out)
        except InputError as error:
            self._show_state(tr("Not printed: {problem}", problem=format_input_error(error)), fault=True)
            return
        self._show_state(tr("Sent to printer {name}", name=printer.printerName()))
        self.printed.emit()

    def _forbid_printing(self) -> None:
        reason = tr("No printer is installed. Save a PDF and print it elsewhere.")
        self._bar.forbid_printing(reason)
        self._show_state(reason)

    def _get_folder_path(self) -> Path:
        """Return the folder of the last saved sheet if it exists, else the documents, else home."""
        documents = Path(QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation))
        return get_folder(self._settings, _FOLDER, documents if documents.is_dir() else None)

    def _show_state(self, text: str, *, fault: bool = False) -> None:
        self._note.setText(text)
        self._note.set_color("unfit" if fault else "text2")
        self._note.show()

    # Zoom and pages

    def zoom_by(self, factor: float) -> None:
        self._fit = None
        self._set_zoom(self._view.zoom * factor)

    def fit_to(self, fit: str | None) -> None:
        """Show whole pages (`page`), their `width`, or with None the actual paper size."""
        self._fit = fit
        if fit is None:
            self._set_zoom(1.0)
        else:
            self._refit()

    def turn(self, step: int) -> None:
        self.go_to(self._find_current_page() + step)

    def go_to(self, number: int) -> None:
        """Bring a page into sight, counted from 0."""
        number = min(self._view.count - 1, max(0, number))
        bar = self._scroll.verticalScrollBar()
        bar.setValue(round(self._view.compute_page_rect(number).top()) - 8 if number else 0)
        self._show_place()

    def _refit(self) -> None:
        if self._fit is not None:
            room = self._scroll.maximumViewportSize()
            self._set_zoom(self._view.zoom_to_fit(room, whole_page=self._fit == _PAGE))
        self._show_place()

    def _set_zoom(self, zoom: float) -> None:
        current = self._find_current_page()
        self._view.set_zoom(zoom)
        self._bar.show_zoom(self._view.zoom)
        # The scroll bars get the new size only after events are processed.
        QTimer.singleShot(0, self, lambda: self.go_to(current))

    def _find_current_page(self) -> int:
        bar = self._scroll.verticalScrollBar()
        if bar.value() == bar.maximum() and bar.maximum() > 0:
            return self._view.count - 1
        return self._view.find_page_at(bar.value() + self._scroll.viewport().height() / 2)

    def _show_place(self) -> None:
        self._bar.show_place(self._find_current_page(), self._view.count)

    # Construction

    def _build(self) -> None:
        self._bar = PreviewBar(self._theme, self)
        self._view = PagesView(self.pages, self._theme)
        self._view.setAccessibleDescription(self.describe())
        self._scroll = FullWidthScrollArea(sideways=True)
        self._scroll.setWidget(self._view)
        self._scroll.setAccessibleName(tr("Sheet pages"))
        self._scroll.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._scroll.verticalScrollBar().valueChanged.connect(self._show_place)
        self._scroll.viewport().installEventFilter(self)
        self._note = ThemedLabel(self._theme, font="small", color="text2", wrap=True)
        self._note.setContentsMargins(16, 8, 16, 10)
        self._note.hide()
        make_column(self._bar, (self._scroll, 1), self._note, gap=0, on=self)

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

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._refit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self.isVisible():
            QTimer.singleShot(0, self, self._refit)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QWheelEvent) and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            up = event.angleDelta().y() > 0
            self.zoom_by(ZOOM_STEP if up else 1 / ZOOM_STEP)
            return True
        return super().eventFilter(watched, event)


class SheetPreview(PagesPreview):
    """Shows the sheet of an answer. The answer needs its curves for those of the sheet."""

    def __init__(
        self,
        answer: Answer,
        theme: Theme,
        settings: UserSettings,
        formatter: Formatter,
        *,
        explain: WorkingSource | None = None,
        further: SheetExtras | None = None,
        heading: tuple[str, str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Show title and note of the scenario, or those of `heading`.

        With `explain` the sheet derives its headline figures if there is space, with `further` it has counts and costs.
        """
        self._build_profile: Callable[[str, Formatter], ProfileTables] | None = None
        self._profiles: dict[str, ProfileTables] = {}
        self._answer = answer
        self._explain, self._further, self._heading = explain, further or SheetExtras(), heading
        self._rule = make_age_rule(settings.values)
        self.sheet = self._build_sheet(formatter)
        super().__init__(theme, settings, formatter, parent)
        self.setWindowTitle(tr("Comparison sheet"))
        self._bar.rules.setVisible(self._further.decision is not None)
        self._bar.rules.toggled.connect(self.set_rules)
        self.profiles = Button(theme, tr("Add profile"), self._open_profiles)
        self.profiles.hide()
        self._bar.add_option(self.profiles)

    @property
    def title(self) -> str:
        return self.sheet.title

    def lay_out(self, size: PaperSize) -> SheetPages:
        return lay_out_sheet(self.sheet, size, self._formatter, tuple(self._profiles.values()))

    def make_pdf(self) -> bytes:
        return self.pages.render_pdf(self.sheet.title, format_answered_scenario(self._answer))

    def describe(self) -> str:
        headline_texts = (f"{each.label}: {each.text}, {each.detail}." for each in self.sheet.headlines)
        return " ".join((self.sheet.title, *headline_texts))

    def show_language(self) -> None:
        self.sheet = self._build_sheet(self._formatter)
        self._profiles = {key: tables.with_formatter(self._formatter) for key, tables in self._profiles.items()}

    def reopen(self, window: DocumentWindow) -> None:
        show_preview(window)

    def offer_profiles(self, build: Callable[[str, Formatter], ProfileTables]) -> None:
        """Let the user append profiles of the accelerators; `build` makes one by id."""
        self._build_profile = build
        self.profiles.show()

    def _open_profiles(self) -> None:
        menu = make_menu(parent=self.profiles)
        names = zip(self._answer.columns, list_accelerator_names(self._answer), strict=True)
        for accelerator, name in {column.accelerator.id: name for column, name in names}.items():
            entry = menu.addAction(name.replace("&", "&&"))
            entry.setCheckable(True)
            entry.setChecked(accelerator in self._profiles)
            entry.triggered.connect(partial(self.toggle_profile, accelerator))
        pop_up(menu, self.profiles.mapToGlobal(QPoint(0, self.profiles.height() + 4)))

    def toggle_profile(self, accelerator: str) -> None:
        """Append the profile of an accelerator of the sheet, or remove it."""
        if self._build_profile is None:
            return
        try:
            if self._profiles.pop(accelerator, None) is None:
                self._profiles[accelerator] = self._build_profile(accelerator, self._formatter)
        except InputError as error:
            self._show_state(tr("Profile not added: {problem}", problem=format_input_error(error)), fault=True)
        count = len(self._profiles)
        self.profiles.setText(trn("{n} profile", "{n} profiles", count) if count else tr("Add profile"))
        self.set_paper(self.pages.paper.size)

    def set_rules(self, is_visible: bool) -> None:
        """Append every rule of the recommendation, or remove them."""
        self._further = replace(self._further, with_rules=is_visible)
        with use_language(self._language):
            self.sheet = self._build_sheet(self._formatter)
        self.set_paper(self.pages.paper.size)

    def _build_sheet(self, formatter: Formatter) -> ComparisonSheet:
        sheet = build_sheet(
            self._answer, formatter, date=get_today(), explain=self._explain, rule=self._rule, further=self._further
        )
        return sheet if self._heading is None else replace(sheet, title=self._heading[0], note=self._heading[1])


class ProfilePreview(PagesPreview):
    """Shows the profile of an accelerator on two pages; `data_date` is that of the catalog."""

    manual_topic = "profile"

    def __init__(
        self, tables: ProfileTables, theme: Theme, settings: UserSettings, data_date: str, parent: QWidget | None = None
    ) -> None:
        self._tables, self._data_date = tables, data_date
        super().__init__(theme, settings, tables.formatter, parent)
        self.setWindowTitle(tr("Accelerator profile"))

    @property
    def title(self) -> str:
        return self._tables.profile.accelerator.name

    def lay_out(self, size: PaperSize) -> SheetPages:
        return lay_out_profile(self._tables, size, get_today(), self._data_date)

    def make_pdf(self) -> bytes:
        return self.pages.render_pdf(self.title, None)

    def describe(self) -> str:
        return f"{self.title}. {self._tables.headline()}"

    def show_language(self) -> None:
        self._tables = self._tables.with_formatter(self._formatter)

    def reopen(self, window: DocumentWindow) -> None:
        show_profile_preview(window, self._tables.with_formatter(window.desk.formatter))


def _read_paper_size(settings: UserSettings) -> PaperSize:
    try:
        return PaperSize(settings.get(_PAPER, ""))
    except ValueError:
        return find_usual_paper()


def _make_file_name(title: str) -> str:
    name = " ".join(_NOT_IN_NAMES.sub(" ", title).split())[:_LONGEST_NAME].strip(". ")
    return f"{name or tr('comparison')}{_SUFFIX}"


log = logging.getLogger(__name__)


def show_preview(window: DocumentWindow) -> None:
    """Open the preview of the sheet, at once or after the search for ways out that it shows."""
    desk = window.desk
    desk.flush()
    evaluated = desk.evaluate_with_curves()
    if evaluated is None:
        window.note.show_note(tr("Nothing to print yet. Choose a model and an accelerator."), fault=False)
        return
    if not evaluated.sheet_lacks_ways_out:
        _open_sheet_preview(window, evaluated)
        return

    def show(ways: tuple[WayOut, ...]) -> None:
        evaluated.keep_ways_out(ways)
        _open_sheet_preview(window, evaluated)

    def fail(error: InputError) -> None:
        window.note.show_note(format_input_error(error), fault=True)

    steps = desk.service.way_out_steps(evaluated.answer, evaluated.decision)
    window.jobs.start("sheet", steps, show, fail)


def _open_sheet_preview(window: DocumentWindow, evaluated: EvaluatedAnswer) -> None:
    desk, scenario = window.desk, evaluated.answer.scenario
    dialog = SheetPreview(
        evaluated.answer_with_costs,
        window.theme,
        window.settings,
        desk.formatter,
        explain=desk.service.explain,
        further=evaluated.make_sheet_extras(),
        heading=(make_title(scenario, desk.service.catalog), get_valid_note(scenario)),
        parent=window,
    )
    dialog.offer_profiles(partial(_build_profile, window))
    _open_preview(window, dialog)


def _build_profile(window: DocumentWindow, accelerator: str, formatter: Formatter) -> ProfileTables:
    service = window.desk.service
    question = ProfilePreferences(window.settings).question(window.desk.scenario, accelerator)
    return ProfileTables.from_entries(service.profile(question), formatter, service.catalog.things())


def show_profile_preview(window: DocumentWindow, tables: ProfileTables) -> None:
    data_date = window.desk.service.catalog.data_date
    _open_preview(window, ProfilePreview(tables, window.theme, window.settings, data_date, window))


def _open_preview(window: DocumentWindow, dialog: PagesPreview) -> None:
    dialog.saved.connect(lambda path: _show_state(window, "saved", tr("Sheet saved: {file}", file=path)))
    dialog.printed.connect(lambda: _show_state(window, "printed", tr("Sheet sent to printer")))
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()


def _show_state(window: DocumentWindow, outcome: str, text: str) -> None:
    log.info("sheet %s", outcome)
    window.status.show_message(text)
