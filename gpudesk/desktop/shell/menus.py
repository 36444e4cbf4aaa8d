"""From the list of actions to menus and shortcuts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from gpudesk.desktop.actions import ActionSpec, Menu
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.field import ChoiceField
from gpudesk.desktop.widgets.menu import make_menu
from gpudesk.text import tr

#: Actions that macOS has in the menu that bears the program's name. All others stay where they are, whatever
#: their words may suggest to Qt.
_ROLES = {"help.about": QAction.MenuRole.AboutRole, "file.quit": QAction.MenuRole.QuitRole}
#: What takes letters itself: keys of one letter rest while one of these has the focus.
_TAKE_LETTERS = (QLineEdit, QTextEdit, QPlainTextEdit, QAbstractSpinBox, ChoiceField)


def menu_titles() -> dict[Menu, str]:
    """Return what the menus are called, in their order."""
    return {
        Menu.FILE: tr("&File"),
        Menu.EDIT: tr("&Edit"),
        Menu.VIEW: tr("&View"),
        Menu.SCENARIO: tr("&Scenario"),
        Menu.CATALOG: tr("&Catalog"),
        Menu.HELP: tr("&Help"),
    }


class Menus(QObject):
    """Keeps the window's menus and shortcuts in step with the list of actions."""

    def __init__(
        self,
        bar: QMenuBar,
        theme: Theme,
        specs: Callable[[], Sequence[ActionSpec]],
        window: QWidget,
    ) -> None:
        """Fill the bar; a menu is filled anew each time it opens, since what it offers may have changed.

        The system's own menu bar, which macOS has, wants to know the entries and their keys beforehand.
        """
        super().__init__(window)
        self._bar = bar
        self._theme = theme
        self._specs = specs
        self._window = window
        self._menus: dict[Menu, QMenu] = {}
        self._shortcuts: list[tuple[QShortcut, ActionSpec]] = []
        for menu, title in menu_titles().items():
            made = make_menu(title, bar)
            made.aboutToShow.connect(lambda menu=menu: self._fill(menu))
            bar.addMenu(made)
            self._menus[menu] = made
        QApplication.instance().focusChanged.connect(self._focus_changed)  # type: ignore[union-attr]
        self.bind()

    def bind(self) -> None:
        """Put the shortcuts of the actions in force."""
        for shortcut, _ in self._shortcuts:
            shortcut.setEnabled(False)
            shortcut.deleteLater()
        self._shortcuts = []
        if self._bar.isNativeMenuBar():
            # Not at once: the page may have been chosen in the very menu that is filled anew.
            QTimer.singleShot(0, self, self._fill_all)
        for spec in self._specs():
            for key in spec.shortcuts:
                shortcut = QShortcut(QKeySequence(key), self._window)
                shortcut.activated.connect(lambda spec=spec: self._run(spec))
                self._shortcuts.append((shortcut, spec))
        self._focus_changed(None, QApplication.focusWidget())

    @staticmethod
    def _run(spec: ActionSpec) -> None:
        if spec.enabled():
            spec.run()

    def _focus_changed(self, _old: QWidget | None, new: QWidget | None) -> None:
        typing = isinstance(new, _TAKE_LETTERS) or (
            isinstance(new, QAbstractItemView) and new.window() is not self._window
        )
        for shortcut, spec in self._shortcuts:
            if spec.single_key:
                shortcut.setEnabled(not typing)

    def _fill_all(self) -> None:
        for menu in self._menus:
            self._fill(menu)

    def _fill(self, menu: Menu) -> None:
        made = self._menus[menu]
        made.clear()
        specs = [spec for spec in self._specs() if spec.menu is menu]
        section = None
        submenus: dict[str, QMenu] = {}
        groups: dict[str, QActionGroup] = {}
        for spec in sorted(specs, key=lambda spec: spec.section):
            if section is not None and spec.section != section:
                made.addSeparator()
            section = spec.section
            target = made
            if spec.group is not None:
                if spec.group not in submenus:
                    submenus[spec.group] = make_menu(spec.group, made)
                    groups[spec.group] = QActionGroup(submenus[spec.group])
                    made.addMenu(submenus[spec.group])
                target = submenus[spec.group]
            action = self._entry(spec, target)
            if spec.group is not None and spec.checked is not None:
                groups[spec.group].addAction(action)

    def _entry(self, spec: ActionSpec, menu: QMenu) -> QAction:
        action = menu.addAction(spec.text.replace("&", "&&"))
        self._show_key(action, spec)
        if spec.icon and spec.checked is None:
            action.setIcon(self._theme.icon(spec.icon))
        action.setMenuRole(_ROLES.get(spec.id, QAction.MenuRole.NoRole))
        action.setEnabled(spec.enabled())
        if spec.checked is not None:
            action.setCheckable(True)
            action.setChecked(spec.checked())
        action.triggered.connect(lambda _checked: self._run(spec))
        return action

    def _show_key(self, action: QAction, spec: ActionSpec) -> None:
        """Show the key in the entry; what answers it is the window's, so that it is not taken twice."""
        if not spec.shortcuts:
            return
        key = QKeySequence(spec.shortcuts[0])
        if not self._bar.isNativeMenuBar():
            action.setText(f"{action.text()}\t{key.toString(QKeySequence.SequenceFormat.NativeText)}")
        elif not spec.single_key:
            # There the system answers keys before the window does, also a letter in the midst of a word.
            action.setShortcut(key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
