"""The dialog of errors and crashes: the event, the stored data, the report to copy."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox, QWidget

from gpudesk import paths
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, CopyButton, IconButton
from gpudesk.desktop.ui.widgets.layouts import STRETCH, FixedWidthText, ThemedLabel, make_column, make_row
from gpudesk.desktop.ui.widgets.note_bar import show_folder
from gpudesk.desktop.window.faults.crash import CrashReport, collect_program_facts, format_report
from gpudesk.desktop.window.faults.log import FaultRecord, make_fault
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import capitalize_first
from gpudesk.text.translation import tr, trn

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow


_WIDTH, _HEIGHT = 680.0, 460.0
_SIGN, _MARGIN = 20.0, 8.0
#: Interval at which a recurring error is counted again.
_COUNTED_EVERY_MS = 500


@frozen_dataclass
class FaultMessage:
    """The report of one error; `fault` is counted while it recurs."""

    title: str
    happened: str
    state_of_work: str
    report: str
    fault: FaultRecord | None = None


def make_fault_message(fault: FaultRecord, state_of_work: str, report: str) -> FaultMessage:
    if fault.place:
        happened = tr("An operation failed: {kind} in {place}.", kind=fault.kind, place=fault.place)
    else:
        happened = tr("An operation failed: {kind}.", kind=fault.kind)
    return FaultMessage(tr("Internal error"), happened, state_of_work, report, fault)


class FaultDialog(ThemedDialog):
    """Shows one error at a time. Later ones are added, with navigation between them."""

    manual_topic = "troubleshooting#crash"

    def __init__(
        self, theme: Theme, fault_messages: Sequence[FaultMessage], leave: str, parent: QWidget | None = None
    ) -> None:
        """Show the first error; `leave` is the text of the close button."""
        super().__init__(theme, tr("GPU Desk"), (_WIDTH, _HEIGHT), parent)
        self._messages = list(fault_messages)
        self._number = 0
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.title = ThemedLabel(theme, font="page", wrap=True)
        self.happened = ThemedLabel(theme, wrap=True)
        self.work_label = ThemedLabel(theme, wrap=True)
        self.again = ThemedLabel(theme, font="small", color="text2", wrap=True)
        self.status_label = ThemedLabel(theme, font="small", color="text2", wrap=True)
        self.report = FixedWidthText(theme)
        self.report.setAccessibleName(tr("Report"))
        self._make_buttons(leave)
        top = Qt.AlignmentFlag.AlignTop
        sign, title = (_FaultSign(self._theme), 0, top), (self.title, 1, top)
        head = make_row(sign, title, self.former, self.place, self.next, gap=8, scaled=theme)
        foot = make_row(self.copy, self.folder, STRETCH, self.leave, gap=8, margins=(0, 4, 0, 0), scaled=theme)
        parts = (head, self.happened, self.work_label, self.again, (self.report, 1), self.status_label, foot)
        make_column(*parts, gap=8, margins=(24, 20, 24, 16), scaled=theme, on=self)
        self._timer = QTimer(self, interval=_COUNTED_EVERY_MS)
        self._timer.timeout.connect(self._count)
        self._timer.start()
        theme.follow(self._dress)
        self._show_one(0)
        self.leave.setFocus()

    def present(self) -> None:
        """Show it above everything without blocking the caller."""
        self.setWindowModality(Qt.WindowModality.ApplicationModal)
        self.show()
        self.raise_()
        self.activateWindow()

    def add(self, fault_message: FaultMessage) -> None:
        """Add an error; the dialog stays at the current one."""
        self._messages.append(fault_message)
        self._show_place()

    @property
    def count(self) -> int:
        return len(self._messages)

    def open_folder(self) -> None:
        """Show the log folder, or its path if that fails."""
        show_folder(paths.get_logs_dir(), lambda text, _: self._show_state(text))

    def step(self, by: int) -> None:
        self._show_one(max(0, min(len(self._messages) - 1, self._number + by)))

    # Construction

    def _make_buttons(self, leave: str) -> None:
        theme = self._theme
        self.copy = CopyButton(theme, tr("Copy report"), self.report.toPlainText)
        self.folder = Button(theme, tr("Open log folder"), self.open_folder, icon="folder")
        self.leave = Button(theme, leave, self.accept, kind="primary")
        self.former = IconButton(theme, "chevron-left", tr("Show previous error"), lambda: self.step(-1))
        self.next = IconButton(theme, "chevron-right", tr("Show next error"), lambda: self.step(1))
        self.place = ThemedLabel(theme, font="small", color="text2")

    def _dress(self) -> None:
        self.report.document().setDocumentMargin(self._theme.px(_MARGIN))

    # Content

    def _show_one(self, number: int) -> None:
        self._number = number
        fault_message = self._messages[number]
        self.title.setText(fault_message.title)
        self.happened.setText(fault_message.happened)
        self.work_label.show_text(fault_message.state_of_work)
        self.report.setPlainText(fault_message.report)
        self.copy.reset()
        self._show_state(tr("The report stays on this computer. Review it before you share it."))
        self._show_place()
        self._count()
        self.setAccessibleDescription(
            " ".join(filter(None, (f"{fault_message.title}.", fault_message.happened, fault_message.state_of_work)))
        )

    def _show_place(self) -> None:
        several = len(self._messages) > 1
        for widget in (self.former, self.place, self.next):
            widget.setVisible(several)
        self.place.setText(tr("{n} of {total}", n=self._number + 1, total=len(self._messages)))
        self.former.setEnabled(self._number > 0)
        self.next.setEnabled(self._number < len(self._messages) - 1)

    def _count(self) -> None:
        """Show how often the fault has occurred; polled, since it may occur thousands of times per second."""
        fault = self._messages[self._number].fault
        count = 1 if fault is None else fault.count
        self.again.setVisible(count > 1)
        if fault is not None and count > 1:
            text = trn("Occurred {n} time, last at {time}.", "Occurred {n} times, last at {time}.", count,
                       time=f"{fault.last:%H:%M:%S}")  # fmt: skip
            if text != self.again.text():
                self.again.setText(text)

    def _show_state(self, text: str) -> None:
        self.status_label.setText(text)
        self.status_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)


class _FaultSign(PaintedWidget):
    """The error icon next to the title."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        theme.follow(self._dress)

    def _dress(self) -> None:
        self.setFixedSize(self._theme.px(_SIGN), self._theme.line("page"))

    def paint(self, pen: ThemePainter) -> None:
        side = float(self._theme.px(_SIGN))
        rect = QRectF(self.rect())
        pen.icon("circle-alert", 0, rect.center().y() - side / 2, side, "unfit")


def offer_crashes(window: DocumentWindow, crashes: Sequence[CrashReport]) -> None:
    """Offer the reports, the newest first; unanswered ones are offered again at the next start."""

    def show() -> None:
        # Show the reports; they stay in the log folder, and are not offered again.
        title = tr("GPU Desk ended unexpectedly")
        state_of_work = tr("The start page offers any unsaved edits.")
        fault_messages = []
        for crash in crashes:
            crash.mark_shown()
            fault_messages.append(
                FaultMessage(title, tr("Time: {when}.", when=_format_crash_time(crash)), state_of_work, crash.report)
            )
        FaultDialog(window.theme, fault_messages, tr("Close"), window).present()

    def discard() -> None:
        for crash in crashes:
            crash.discard()

    times = len(crashes)
    text = trn(
        "GPU Desk ended unexpectedly on {when}.",
        "GPU Desk ended unexpectedly {n} times, last on {when}.",
        times,
        when=_format_crash_time(crashes[0]),
    )
    show_title = trn("Show report", "Show reports", times)
    window.note.offer(text, [(show_title, show), (tr("Discard"), discard)])


def _format_crash_time(crash: CrashReport) -> str:
    return f"{crash.ended:%Y-%m-%d %H:%M}"


#: Qt platforms with invisible windows, where a dialog would wait forever.
_UNSEEN = frozenset({"offscreen", "minimal", "vnc"})


def show_startup_failure(text: str, error: BaseException) -> None:
    """Show why the program ends, and wait until the dialog is closed; do nothing without a display."""
    app = QApplication.instance() or QApplication(sys.argv[:1])
    if not isinstance(app, QApplication):
        return
    if sys.__stderr__ is not None and QGuiApplication.platformName() in _UNSEEN:
        return
    try:
        from gpudesk.desktop.ui.theme.theme import Theme

        facts = collect_program_facts()
        with contextlib.suppress(Exception):
            facts = collect_program_facts(ask_git=True)
        trace = make_fault(type(error), error, error.__traceback__).trace
        state_of_work = tr("Your saved files are unchanged.")
        fault_message = FaultMessage(
            tr("GPU Desk could not start"),
            capitalize_first(text).rstrip(".") + ".",
            state_of_work,
            format_report(facts, trace, []),
        )
        dialog: QDialog = FaultDialog(Theme(app), [fault_message], tr("Close"))
    except Exception:  # noqa: BLE001 - a damaged installation can lack modules of the dialog
        box = QMessageBox()
        box.setWindowTitle(tr("GPU Desk"))
        box.setText(text)
        dialog = box
    dialog.exec()
