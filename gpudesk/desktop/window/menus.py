"""Menus and shortcuts from the list of actions, the order of Tab and F6 through a window, and topics of F1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractSpinBox,
    QApplication,
    QDialog,
    QLineEdit,
    QMenu,
    QMenuBar,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.fields import ChoiceField
from gpudesk.desktop.ui.widgets.qt_support import format_key, make_menu
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.window.document_window import DocumentWindow


#: Actions in the application menu of macOS. All others stay in place, regardless of Qt's heuristics on their texts.
_ROLES = {"help.about": QAction.MenuRole.AboutRole, "file.quit": QAction.MenuRole.QuitRole}
#: Widgets that accept letters: one-letter shortcuts are inactive while one of these is focused.
_TAKE_LETTERS = (QLineEdit, QTextEdit, QPlainTextEdit, QAbstractSpinBox, ChoiceField)


def list_menu_titles() -> dict[MenuId, str]:
    return {
        MenuId.FILE: tr("&File"),
        MenuId.EDIT: tr("&Edit"),
        MenuId.VIEW: tr("&View"),
        MenuId.SCENARIO: tr("&Scenario"),
        MenuId.CATALOG: tr("&Catalog"),
        MenuId.HELP: tr("&Help"),
    }


class WindowMenus(QObject):
    """Keeps the window's menus and shortcuts up to date with the list of actions."""

    def __init__(self, bar: QMenuBar, theme: Theme, specs: Callable[[], Sequence[ActionSpec]], window: QWidget) -> None:
        """Fill the bar; a menu is refilled each time it opens, since its content can have changed.

        The system's global menu bar on macOS needs the entries and their keys beforehand.
        """
        super().__init__(window)
        self._bar = bar
        self._theme = theme
        self._specs = specs
        self._window = window
        self._menus: dict[MenuId, QMenu] = {}
        self._shortcuts: list[tuple[QShortcut, ActionSpec]] = []
        for menu, title in list_menu_titles().items():
            menu_widget = make_menu(title, bar)
            menu_widget.aboutToShow.connect(lambda menu=menu: self._fill(menu))
            bar.addMenu(menu_widget)
            self._menus[menu] = menu_widget
        QApplication.instance().focusChanged.connect(self._focus_changed)  # type: ignore[union-attr]
        self.bind()

    def bind(self) -> None:
        for shortcut, _ in self._shortcuts:
            shortcut.setEnabled(False)
            shortcut.deleteLater()
        self._shortcuts = []
        if self._bar.isNativeMenuBar():
            # Not at once: the page can have been chosen in the menu that is refilled.
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
        own_keys = getattr(new, "own_keys", ())
        for shortcut, spec in self._shortcuts:
            if spec.single_key:
                shortcut.setEnabled(not typing and own_keys != spec.shortcuts)

    def _fill_all(self) -> None:
        for menu in self._menus:
            self._fill(menu)

    def _fill(self, menu: MenuId) -> None:
        menu_widget = self._menus[menu]
        menu_widget.clear()
        specs = [spec for spec in self._specs() if spec.menu is menu]
        section = None
        submenus: dict[str, QMenu] = {}
        groups: dict[str, QActionGroup] = {}
        for spec in sorted(specs, key=lambda spec: spec.section):
            if section is not None and spec.section != section:
                menu_widget.addSeparator()
            section = spec.section
            target = menu_widget
            if spec.group is not None:
                if spec.group not in submenus:
                    submenus[spec.group] = make_menu(spec.group, menu_widget)
                    groups[spec.group] = QActionGroup(submenus[spec.group])
                    menu_widget.addMenu(submenus[spec.group])
                target = submenus[spec.group]
            action = self._add_entry(spec, target)
            if spec.group is not None and spec.checked is not None:
                groups[spec.group].addAction(action)

    def _add_entry(self, spec: ActionSpec, menu: QMenu) -> QAction:
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
        """Show the key in the entry; the window handles it, so that it is not handled twice."""
        if not spec.shortcuts:
            return
        key = QKeySequence(spec.shortcuts[0])
        if not self._bar.isNativeMenuBar():
            action.setText(f"{action.text()}\t{format_key(spec.shortcuts[0], '+')}")
        elif not spec.single_key:
            # There the system handles keys before the window does, even a letter while typing.
            action.setShortcut(key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)


#: The default manual topic.
_CONTENTS: Final = "contents"

BLOCK: Final = "readAsBlock"


def chain_tab_order(regions: Sequence[QWidget]) -> tuple[QWidget, QWidget] | None:
    """Set the Tab order through the visible controls of the regions: line by line, from the left.

    Return the first and the last control, None without any. Controls change with the scenario, and pages with their
    first use, so this runs when Tab is pressed rather than after each change.
    """
    widgets = [widget for region in regions for widget in _list_in_reading_order(region)]
    for before, after in pairwise(widgets):
        QWidget.setTabOrder(before, after)
    return (widgets[0], widgets[-1]) if widgets else None


@dataclass(slots=True)
class _PlacedControl:
    """A control, or a block of several, in the window's coordinates."""

    widget: QWidget
    rect: QRect
    block: bool


def _list_in_reading_order(region: QWidget) -> Iterator[QWidget]:
    """Yield the controls of a region; a line has those whose middle is above the lower edge of the topmost."""
    line: list[_PlacedControl] = []
    for control in sorted(_locate_controls(region), key=lambda each: each.rect.top()):
        if line and control.rect.center().y() > line[0].rect.bottom():
            yield from _list_from_left(line)
            line = []
        line.append(control)
    yield from _list_from_left(line)


def _list_from_left(line: list[_PlacedControl]) -> Iterator[QWidget]:
    for control in sorted(line, key=lambda each: each.rect.left()):
        if control.block:
            yield from _list_in_reading_order(control.widget)
        else:
            yield control.widget


def _locate_controls(region: QWidget) -> Iterator[_PlacedControl]:
    window = region.window()
    # Most controls are on hidden pages.
    visible = [widget for widget in (region, *region.findChildren(QWidget)) if widget.isVisible()]
    blocks = [widget for widget in visible if widget is not region and widget.property(BLOCK)]
    for widget in visible:
        if any(block is not widget and block.isAncestorOf(widget) for block in blocks):
            continue
        block = widget in blocks
        takes_tab = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus) and widget.focusProxy() is None
        if (block or takes_tab) and widget.window() is window:
            place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
            yield _PlacedControl(widget, place, block)


def go_to_region(window: DocumentWindow, by: int) -> None:
    """Focus the next (1) or previous (-1) of scenario, accelerators, page and panel."""
    regions: list[QWidget] = [window.scenario, window.chips, window.body.stack]
    if window.body.panel is not None and window.body.panel_shown:
        regions.append(window.body.panel)
    focus = window.focused()
    now = next((n for n, region in enumerate(regions) if focus is not None and region.isAncestorOf(focus)), -1)
    region = regions[(now + by) % len(regions)]
    reason = Qt.FocusReason.TabFocusReason
    if region is window.body.stack:
        window.focus_page()
    elif region is window.scenario:
        window.scenario.model.setFocus(reason)
    elif region is window.chips:
        (window.chips.chips[0] if window.chips.chips else window.chips.add).setFocus(reason)
    else:
        region.setFocus(reason)


def wrap_tab_focus(window: DocumentWindow, *, following: bool) -> bool:
    """Wrap the Tab key from the last control to the first; return whether that was the case.

    The order is the reading order: scenario, page, panel, top bar, list of pages, bottom bar.
    """
    regions: list[QWidget] = [window.scenario, window.chips, window.note, window.body.stack]
    if window.body.panel is not None:
        regions.append(window.body.panel)
    ends = chain_tab_order([*regions, window.top, window.rail, window.status])
    if ends is None or window.focusWidget() is not ends[following]:
        return False
    # Only invisible widgets are between the last control and the first.
    reason = Qt.FocusReason.TabFocusReason if following else Qt.FocusReason.BacktabFocusReason
    ends[not following].setFocus(reason)
    return True


def find_manual_topic(widget: QWidget | None) -> str:
    """Return the topic of a widget or of its nearest parent with one, else the contents."""
    while widget is not None:
        topic: str = widget.property("manualTopic") or getattr(widget, "manual_topic", "")
        if topic:
            return topic
        widget = widget.parentWidget()
    return _CONTENTS


class DialogHelpKeys(QObject):
    """Adds F1 to every dialog when first activated: while it is open, keys of the window below are inactive."""

    #: A topic of the manual.
    asked = Signal(str)

    def __init__(self, app: QApplication, parent: QObject) -> None:
        super().__init__(parent)
        app.focusChanged.connect(self._add_key)

    def _add_key(self, _old: QWidget | None, new: QWidget | None) -> None:
        dialog = None if new is None else new.window()
        if isinstance(dialog, QDialog) and not dialog.property("helpKey"):
            dialog.setProperty("helpKey", True)
            key = QShortcut(QKeySequence(Qt.Key.Key_F1), dialog)
            # A closure over the dialog would keep it alive after closing.
            key.activated.connect(self._ask)

    def _ask(self) -> None:
        dialog = self.sender().parent()
        if isinstance(dialog, QDialog):
            focus: QWidget | None = dialog.focusWidget()
            self.asked.emit(find_manual_topic(dialog if focus is None else focus))
