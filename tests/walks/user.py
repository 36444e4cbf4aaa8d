"""A user at the program's window who knows keys and what screen readers are told, and nothing of the code."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMainWindow, QWidget

from tests.walks.calls import CallCounter

Wanted = TypeVar("Wanted", bound=QWidget)

_PAUSE_S = 0.01
_PUT_OFF_MS = 40
_LONGEST_WAIT_S = 60.0
#: The program is at rest once it has called nothing of its own for so long.
_REST_S = 0.4


class PaintWatch(QObject):
    """Notes whether a widget, or something inside it, was painted."""

    def __init__(self, watched: QWidget) -> None:
        """Begin to look."""
        super().__init__()
        self._watched = watched
        self.painted = False
        QApplication.instance().installEventFilter(self)  # type: ignore[union-attr]

    def stop(self) -> None:
        """Look no more."""
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let each event go its way."""
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            self.painted = self.painted or watched is self._watched or self._watched.isAncestorOf(watched)
        return False


class TimerDelay(QObject):
    """Puts off timers that wait for a while, such as the one that keeps what is not saved.

    Whether they end within a walk would depend on how fast the machine is.
    """

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Swallow the event of such a timer; the timer goes on."""
        waits = isinstance(watched, QTimer) and watched.interval() >= _PUT_OFF_MS
        return waits and event.type() == QEvent.Type.Timer


class WalkUser:
    """Presses keys and clicks in the one window of the program."""

    def __init__(self, counter: CallCounter) -> None:
        """Know how to tell that the program rests."""
        self._counter = counter

    @property
    def window(self) -> QMainWindow:
        """The window."""
        windows = [each for each in QApplication.topLevelWidgets() if isinstance(each, QMainWindow)]
        assert len(windows) == 1, f"{len(windows)} windows"
        return windows[0]

    def widget(self, kind: type[Wanted], name: str) -> Wanted:
        """Return the first visible widget of a kind that is called this, or begins or ends so."""
        for each in self.window.findChildren(kind):
            if each.isVisible():
                label = each.accessibleName() or (each.text() if isinstance(each, QAbstractButton) else "")
                if label.startswith(name) or label.endswith(name):
                    return each
        raise AssertionError(f"no {kind.__name__} is called {name!r}")

    def page(self, name: str) -> QWidget:
        """Return the page that is called this; so is the button that leads to it."""
        for each in self.window.findChildren(QWidget):
            if each.isVisible() and each.accessibleName() == name and not isinstance(each, QAbstractButton):
                return each
        raise AssertionError(f"the page {name} is not shown")

    def said_by(self, name: str) -> list[str]:
        """Return the names of all that a page shows."""
        return [each.accessibleName() for each in self.page(name).findChildren(QWidget) if each.isVisible()]

    def come_to(self, window: QWidget | None) -> None:
        """Give the keyboard to a window, which the platform without a screen does not do by itself."""
        assert window is not None
        window.activateWindow()
        self.until(window.isActiveWindow, "the keyboard is there")

    def press(self, *keys: str) -> None:
        """Press keys where the focus is, each written as in menus."""
        for key in keys:
            QTest.keySequence(self._target(), QKeySequence(key))

    def hold(self, key: Qt.Key) -> None:
        """Press a key where the focus is and keep it pressed; again, it repeats itself."""
        QTest.keyPress(self._target(), key)

    def click(self, name: str) -> None:
        """Click a button in its middle."""
        button = self.widget(QAbstractButton, name)
        QTest.mouseClick(button, Qt.MouseButton.LeftButton, pos=QPoint(button.width() // 2, button.height() // 2))

    @contextmanager
    def count_calls(self) -> Iterator[None]:
        """Count the calls of what is done."""
        app = QApplication.instance()
        assert app is not None
        delay = TimerDelay()
        app.installEventFilter(delay)
        try:
            with self._counter.counting():
                yield
        finally:
            app.removeEventFilter(delay)

    def until(self, holds: Callable[[], object], what: str) -> None:
        """Let the event loop turn until something holds."""
        end = time.monotonic() + _LONGEST_WAIT_S
        while not holds():
            assert time.monotonic() < end, f"waited in vain until {what}"
            self.turn()

    def _target(self) -> QWidget:
        """Return what the keyboard goes to."""
        return QApplication.focusWidget() or QApplication.activeModalWidget() or self.window

    @staticmethod
    def turn() -> None:
        """Let the event loop turn once, and delete what waits for it."""
        QApplication.processEvents()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        time.sleep(_PAUSE_S)

    def rest(self) -> None:
        """Let the program finish what it does, jobs and timers included."""
        self._counter.last_call_s = time.monotonic()
        self.until(lambda: time.monotonic() - self._counter.last_call_s > _REST_S, "the program rests")

    def until_painted(self, widget: QWidget, act: Callable[[], object]) -> None:
        """Do something, and let the event loop turn until the widget, or what it holds, was painted."""
        watch = PaintWatch(widget)
        try:
            act()
            self.until(lambda: watch.painted, f"{widget.accessibleName()} is painted")
        finally:
            watch.stop()
