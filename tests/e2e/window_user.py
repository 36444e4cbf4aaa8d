"""A user at the window: presses keys, clicks, looks at what is there, while the program's own loop runs."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.window.main_window import MainWindow

Wanted = TypeVar("Wanted", bound=QWidget)

_NO_BUTTON = Qt.MouseButton.NoButton
_NO_KEYS = Qt.KeyboardModifier.NoModifier


class User:
    """Acts on the window that is in front."""

    def __init__(self, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
        self.qtbot = qtbot
        self._monkeypatch = monkeypatch
        #: The faults that the program reported.
        self.reports: list[str] = []
        #: What dialogs asked.
        self.asked: list[str] = []
        self._answers: list[QTimer] = []

    def leave(self) -> None:
        for timer in self._answers:
            timer.stop()

    # What there is

    @property
    def windows(self) -> list[MainWindow]:
        main_windows = [each for each in QApplication.topLevelWidgets() if isinstance(each, MainWindow)]
        visible_windows = [window for window in main_windows if window.isVisible()]
        return (
            [window for window in visible_windows[0].program.windows if window in visible_windows]
            if visible_windows
            else []
        )

    @property
    def window(self) -> MainWindow:
        """The window that is in front, else the newest."""
        active = QApplication.activeWindow()
        return active if isinstance(active, MainWindow) else self.windows[-1]

    def widget(self, kind: type[Wanted], name: str, inside: QWidget | None = None) -> Wanted:
        widgets = [
            each
            for each in (inside or self.window).findChildren(kind)
            if each.isVisible() and _name(each).startswith(name)
        ]
        assert len(widgets) == 1, f"{len(widgets)} of {kind.__name__} {name!r}"
        return widgets[0]

    def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds: for long, since some of it waits for other processes on a busy machine."""
        self.qtbot.waitUntil(lambda: bool(holds()), timeout=90_000)

    # Keys and mouse

    def press(self, *keys: str) -> None:
        """Press keys one after the other where the focus is, each written as in menus."""
        for key in keys:
            QTest.keySequence(self._target(), QKeySequence(key))
            QApplication.processEvents()

    def type(self, text: str) -> None:
        QTest.keyClicks(self._target(), text)
        QApplication.processEvents()

    def click(self, name: str, inside: QWidget | None = None) -> None:
        QTest.mouseClick(self.widget(QAbstractButton, name, inside), Qt.MouseButton.LeftButton)
        QApplication.processEvents()

    def drop(self, *files: Path) -> None:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
        window, place = self.window, QPoint(300, 300)
        copy = Qt.DropAction.CopyAction
        enter = QDragEnterEvent(place, copy, data, Qt.MouseButton.LeftButton, _NO_KEYS)
        QApplication.sendEvent(window, enter)
        assert enter.isAccepted()
        drop = QDropEvent(QPointF(place), copy, data, _NO_BUTTON, _NO_KEYS)
        QApplication.sendEvent(window, drop)
        QApplication.processEvents()

    def _target(self) -> QWidget:
        """Return what the keyboard goes to: what has popped up, else what has the focus."""
        popup = QApplication.activePopupWidget()
        if popup is not None:
            inner: QWidget | None = popup.focusWidget()
            return popup if inner is None else inner
        if QApplication.activeWindow() is None:
            # The platform without a screen does not give the keyboard back when a dialog closes.
            self.window.activateWindow()
            QApplication.processEvents()
        return QApplication.focusWidget() or QApplication.activeModalWidget() or self.window

    # Dialogs of the system

    def will_choose(self, path: Path | None) -> None:
        dialog_result = ("" if path is None else str(path), "")
        for question in ("getOpenFileName", "getSaveFileName"):
            self._monkeypatch.setattr(QFileDialog, question, lambda *_: dialog_result)

    def will_answer(self, button: str) -> None:
        """Wait for the next question in a box, and click the button of this name; "Esc" is the key."""
        timer = QTimer()
        timer.setInterval(5)
        self._answers.append(timer)

        def look() -> None:
            box = QApplication.activeModalWidget()
            if not isinstance(box, QMessageBox) or not box.isVisible():
                return
            timer.stop()
            self.asked.append(box.text())
            if button == "Esc":
                QTest.keyClick(box, Qt.Key.Key_Escape)
                return
            (button_to_press,) = [each for each in box.buttons() if each.text() == button]
            QTest.mouseClick(button_to_press, Qt.MouseButton.LeftButton)

        timer.timeout.connect(look)
        timer.start()


def _name(widget: QWidget) -> str:
    if widget.accessibleName():
        return widget.accessibleName()
    return widget.text() if isinstance(widget, QAbstractButton) else ""


def names(windows: Sequence[MainWindow]) -> list[str]:
    return [window.document.title for window in windows]
