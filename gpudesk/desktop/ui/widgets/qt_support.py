"""Helpers for Qt: accessible roles, key names, menus, questions, arrow keys, calls after a paint."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, QTimerEvent
from PySide6.QtGui import QAccessible, QAccessibleInterface, QAction, QGuiApplication, QIcon, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QAccessibleWidget, QFileDialog, QLineEdit, QMenu, QMessageBox, QWidget

from gpudesk.text.translation import tr

AccessibleRole = QAccessible.Role


def install_accessible_roles() -> None:
    """Install the accessible roles; call once, after the application is created."""
    QAccessible.installFactory(_make_accessible_interface)


def _make_accessible_interface(class_name: str, thing: QObject | None) -> QAccessibleInterface | None:
    """Return the accessible interface of the widgets of the program; None leaves it to Qt."""
    del class_name
    role = getattr(thing, "accessible_role", None)
    if not isinstance(thing, QWidget) or not isinstance(role, AccessibleRole):
        return None
    return QAccessibleWidget(thing, role)


#: Keys with word names; letters and symbols have the same name in every language.
_KEY_NAMES: Final = (
    *("Alt", "Backspace", "Ctrl", "Del", "Down", "End", "Enter", "Esc", "Home", "Ins", "Left", "PgDown", "PgUp"),
    *("Return", "Right", "Shift", "Space", "Tab", "Up"),
)


def format_key(key: str, between: str = " ") -> str:
    """Return a portable key sequence with localized key names."""
    native = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
    # The key + itself comes last.
    names = f"{native[:-1].replace('+', chr(0))}{native[-1:]}".split(chr(0))
    return between.join(tr(name) if name in _KEY_NAMES else name for name in names)


#: Platforms that always composite, so that window corners can be transparent.
_COMPOSITING = frozenset({"wayland", "windows", "cocoa", "offscreen"})


def make_menu(title: str = "", parent: QWidget | None = None) -> QMenu:
    menu = QMenu(title, parent)
    if round_corners(menu):
        menu.setProperty("round", "true")
    return menu


def add_entry(menu: QMenu, icon: QIcon, text: str, act: Callable[[], object]) -> QAction:
    """Add an entry with an icon; an ampersand in its text is shown literally."""
    entry = menu.addAction(icon, text.replace("&", "&&"))
    entry.triggered.connect(lambda _checked: act())
    return entry


def set_manual_topic(topic: str, *widgets: QWidget) -> None:
    """Let F1 open this topic of the manual on widgets whose class does not set `manual_topic`."""
    for widget in widgets:
        widget.setProperty("manualTopic", topic)


def pop_up(menu: QMenu, place: QPoint) -> None:
    """Show a menu at a screen position, and delete it when closed."""
    menu.aboutToHide.connect(menu.deleteLater)
    menu.popup(place)


def ask_question(parent: QWidget, title: str, question: str, more: str, verb: str, keep: str) -> bool:
    """Ask for confirmation of a removal; return the answer. Enter and Esc decline."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.NoIcon)
    box.setWindowTitle(title)
    box.setText(question)
    box.setInformativeText(more)
    remove = box.addButton(verb, QMessageBox.ButtonRole.DestructiveRole)
    stay = box.addButton(keep, QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(stay)
    box.setEscapeButton(stay)
    box.exec()
    return box.clickedButton() is remove


#: The name of a file type, and its suffix.
FileType = tuple[str, str]


def ask_save_path(parent: QWidget, title: str, proposed: Path, types: Sequence[FileType]) -> Path | None:
    """Return the file to write, with a suffix of these types; None if canceled.

    The dialog asks before replacing the file of the typed name. It does not know the suffix added later, so the
    question for that file is asked here.
    """
    filters = ";;".join(f"{label} (*{suffix})" for label, suffix in types)
    while True:
        typed, chosen_type = QFileDialog.getSaveFileName(parent, title, str(proposed), filters)
        if not typed:
            return None
        proposed = _add_suffix(Path(typed), chosen_type, types)
        if proposed == Path(typed) or not os.path.lexists(proposed) or _may_replace(parent, proposed):
            return proposed


def _add_suffix(path: Path, chosen_type: str, types: Sequence[FileType]) -> Path:
    """Return a path with a known suffix unchanged, else with the suffix of the chosen type added."""
    if path.suffix.lower() in [suffix for _, suffix in types]:
        return path
    suffix = next((suffix for label, suffix in types if chosen_type.startswith(f"{label} (")), types[0][1])
    return path.with_name(path.name + suffix)


def _may_replace(parent: QWidget, path: Path) -> bool:
    return ask_question(
        parent,
        tr("GPU Desk"),
        tr("Replace “{file}”?", file=path.name),
        tr("A file with this name already exists."),
        tr("Replace"),
        tr("Choose another name"),
    )


def leaves_undo(edit: QLineEdit, event: QEvent) -> bool:
    """Leave undo and redo to the window unless there is typed text to undo; return whether that is so."""
    if edit.isModified() or event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
        return False
    keys = (QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo)
    if not any(event.matches(key) for key in keys):
        return False
    event.ignore()
    return True


def mark_fault(field: QWidget, wrong: bool) -> None:
    if wrong != (field.property("fault") == "true"):
        field.setProperty("fault", "true" if wrong else "false")
        field.style().unpolish(field)
        field.style().polish(field)


_STEPS: Final = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_SIDEWAYS: Final = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}
_ENDS: Final = {Qt.Key.Key_Home: 0, Qt.Key.Key_End: -1}


class ArrowKeyGroup(QObject):
    """Buttons with a single tab stop; arrow keys, Home and End move the focus to the others."""

    def __init__(self, parent: QObject, *, sideways: bool = False, wraps: bool = False) -> None:
        """With `sideways` ← and → move it too; with `wraps` the last is followed by the first."""
        super().__init__(parent)
        self._steps = _STEPS | _SIDEWAYS if sideways else _STEPS
        self._wraps = wraps
        self._buttons: list[QAbstractButton] = []

    def add(self, button: QAbstractButton) -> None:
        self._buttons.append(button)
        button.installEventFilter(self)

    def clear(self) -> None:
        for button in self._buttons:
            button.removeEventFilter(self)
        self._buttons.clear()

    def set_tab_stop(self, only: QAbstractButton) -> None:
        """Let Tab reach only one button; clicks reach all."""
        for button in self._buttons:
            reach = Qt.FocusPolicy.StrongFocus if button is only else Qt.FocusPolicy.ClickFocus
            button.setFocusPolicy(reach)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return False
        key, alt = Qt.Key(event.key()), event.modifiers() & Qt.KeyboardModifier.AltModifier
        if alt or not (key in self._steps or key in _ENDS):
            return False
        last = len(self._buttons) - 1
        target = next((n for n, button in enumerate(self._buttons) if button is watched), 0) + self._steps.get(key, 0)
        target = _ENDS[key] if key in _ENDS else target % (last + 1) if self._wraps else min(max(target, 0), last)
        self.set_tab_stop(self._buttons[target])
        self._buttons[target].setFocus(Qt.FocusReason.TabFocusReason)
        return True


def round_corners(window: QWidget) -> bool:
    """Make a window's corners transparent and return True; without compositing they would be black."""
    if QGuiApplication.platformName() not in _COMPOSITING:
        return False
    hints = Qt.WindowType.FramelessWindowHint | Qt.WindowType.NoDropShadowWindowHint
    window.setWindowFlags(window.windowFlags() | hints)
    window.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
    return True


def make_delay(parent: QObject, milliseconds: int, act: Callable[[], object]) -> QTimer:
    """Return a timer which calls once when it has been started and this time has passed."""
    timer = QTimer(parent, singleShot=True, interval=milliseconds)
    timer.timeout.connect(act)
    return timer


def collect_garbage() -> None:
    """Collect all garbage, also what was frozen before it became garbage, and freeze what is left.

    Frozen objects take no time in other collections, but stay when a view or window with cycles is deleted.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def call_after_paint(widget: QWidget, act: Callable[[], object]) -> None:
    """Call once after the next paint of the widget and its children; never if it is not painted any more."""
    _PaintWaiter(widget, act)


class _PaintWaiter(QObject):
    """Waits for one paint of its parent."""

    def __init__(self, widget: QWidget, act: Callable[[], object]) -> None:
        super().__init__(widget)
        self._act = act
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the paint; children are painted in the same event."""
        if event.type() == QEvent.Type.Paint:
            watched.removeEventFilter(self)
            # A single-shot timer would keep a reference if the widget is deleted before.
            self.startTimer(0)
        return False

    def timerEvent(self, event: QTimerEvent) -> None:
        self.killTimer(event.timerId())
        self.deleteLater()
        self._act()
