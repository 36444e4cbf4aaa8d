"""Keys for forms, as a person presses them."""

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gpudesk.desktop.pages.catalog.editors.form import FormDialog

Show = Callable[[FormDialog], None]


def focused() -> QWidget:
    found = QApplication.focusWidget()
    assert found is not None
    return found


def typed(text: str) -> None:
    QTest.keyClicks(focused(), text)


def tab(times: int = 1) -> None:
    for _ in range(times):
        QTest.keyClick(focused(), Qt.Key.Key_Tab)


def key(which: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(focused(), which, modifier)
