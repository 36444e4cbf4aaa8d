"""Notes below the scenario bar with their remedies, and showing a folder in the file manager."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QRectF, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import PaintedWidget, ThemePainter
from gpudesk.desktop.ui.widgets.buttons import Button, IconButton
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column, make_row
from gpudesk.text.messages import explain_system_error
from gpudesk.text.translation import tr

#: The text and the function of a note's button.
NoteAction = tuple[str, Callable[[], object]]


class NoteBar(QWidget):
    """Shows one note at a time until it is resolved or closed, and offers, which notes do not replace.

    Hidden without either.
    """

    #: A line that had the focus is gone: the page takes it, instead of the next widget in the tab order.
    focus_lost = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._offers: list[_NoteLine] = []
        self._note = _NoteLine(theme)
        self._note.closed.connect(self.clear)
        self._note.hide()
        self._column = make_column(self._note, gap=0, on=self)
        self.hide()

    @property
    def text(self) -> str:
        return self._note.text if not self._note.isHidden() else ""

    @property
    def offers(self) -> list[str]:
        return [offer.text for offer in self._offers]

    def show_note(self, text: str, remedies: Sequence[NoteAction] = (), *, fault: bool = True) -> None:
        """Show a note, in the error color or plain, with a button for each remedy."""
        self._note.show_text(text, remedies, fault=fault)
        self.setAccessibleName(text)
        self._note.show()
        self.show()

    def offer(
        self, text: str, remedies: Sequence[NoteAction], closed: Callable[[], object] | None = None
    ) -> Callable[[], None]:
        """Show an offer above the note; it stays until it is accepted or closed.

        The returned function withdraws it; `closed` is called when the user closes it or accepts a remedy.
        """
        offer = _NoteLine(self._theme)
        offer.show_text(text, remedies, fault=False)
        offer.closed.connect(lambda: self._drop(offer))
        if closed is not None:
            offer.closed.connect(closed)
        self._column.insertWidget(len(self._offers), offer)
        self._offers.append(offer)
        offer.show()
        self.show()
        return lambda: self._drop(offer)

    def clear(self) -> None:
        self._hide(self._note)

    def _drop(self, offer: _NoteLine) -> None:
        if offer not in self._offers:
            return
        self._offers.remove(offer)
        self._hide(offer)
        offer.deleteLater()

    def _hide(self, line: _NoteLine) -> None:
        had_focus = any(each.hasFocus() for each in line.findChildren(QWidget))
        line.hide()
        self.setVisible(bool(self._offers) or not self._note.isHidden())
        if had_focus:
            self.focus_lost.emit()


class _NoteLine(PaintedWidget):
    """One sentence with its remedies."""

    #: A remedy was accepted, or the note was closed by hand.
    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme)
        self._is_fault = True
        self._buttons: list[Button] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self._label = ThemedLabel(theme, font="small", wrap=True, selectable=True)
        close = IconButton(theme, "x", tr("Dismiss"), self.closed)
        self._row = make_row((self._label, 1), close, gap=8, margins=(40, 6, 12, 6), scaled=theme, on=self)
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        return self._label.text()

    def show_text(self, text: str, remedies: Sequence[NoteAction], *, fault: bool) -> None:
        self._drop_buttons()
        self._is_fault = fault
        self._label.setText(text)
        self.setAccessibleName(text)
        for title, run in remedies:
            button = Button(self._theme, title, parent=self)
            button.clicked.connect(self.closed)
            button.clicked.connect(run)
            self._row.insertWidget(self._row.count() - 1, button)
            self._buttons.append(button)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)

    def paint(self, pen: ThemePainter) -> None:
        pen.painter.fillRect(self.rect(), self._theme.color("unfit_tint" if self._is_fault else "sunken"))
        side = float(self._theme.px(15))
        icon, color = ("circle-alert", "unfit") if self._is_fault else ("info", "text2")
        rect = QRectF(self._label.geometry())
        pen.icon(icon, self._theme.px(16), rect.center().y() - side / 2, side, color)
        pen.hairline(0, self.height() - 1, self.width(), self.height() - 1)

    def _drop_buttons(self) -> None:
        for button in self._buttons:
            button.hide()
            button.deleteLater()
        self._buttons = []


#: Environment variables of a frozen program: where the loader and Qt find its libraries.
_OURS = ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH")
_FORMER = "_ORIG"


def show_folder(folder: Path, show_note: Callable[[str, Sequence[NoteAction]], object]) -> bool:
    """Show a folder, creating it if necessary; if that fails, show its path with a button to copy it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        show_note(tr("Cannot create folder {path}: {reason}.", path=folder, reason=explain_system_error(error)), [])
        return False
    if QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        return True
    copy = (tr("Copy path"), lambda: QGuiApplication.clipboard().setText(str(folder)))
    show_note(tr("No file manager found. The folder is {path}.", path=folder), [copy])
    return False


def free_child_library_path() -> None:
    """Let child processes find their own libraries, not those of a frozen program.

    Call this once Qt has started, which has read its variables by then.
    """
    if not getattr(sys, "frozen", False):
        return
    for name in _OURS:
        former = os.environ.pop(name + _FORMER, None)
        if former is not None:
            os.environ[name] = former
        else:
            os.environ.pop(name, None)
