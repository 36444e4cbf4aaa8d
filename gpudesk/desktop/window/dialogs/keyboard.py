"""Keyboard shortcuts, searchable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QWidget

from gpudesk.desktop.session.actions import ActionSpec, MenuId
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column
from gpudesk.desktop.ui.widgets.qt_support import format_key
from gpudesk.desktop.window.command_palette import PaletteDelegate, PaletteEntry, PaletteModel
from gpudesk.text.translation import tr

_WIDTH, _HEIGHT = 560.0, 620.0
_LIST_KEYS = frozenset({Qt.Key.Key_Down, Qt.Key.Key_Up, Qt.Key.Key_PageDown, Qt.Key.Key_PageUp})


def list_shortcuts(specs: Sequence[ActionSpec], titles: Mapping[MenuId, str]) -> list[PaletteEntry]:
    """Return the actions with a shortcut, menu by menu; those of the visible page come last."""
    groups: list[MenuId | None] = [*titles, None]
    return [
        _make_entry(spec, titles[menu].replace("&", "") if menu is not None else tr("This page"))
        for menu in groups
        for spec in specs
        if spec.menu is menu and (spec.shortcuts or spec.own_keys)
    ]


def _make_entry(spec: ActionSpec, group: str) -> PaletteEntry:
    keys = [format_key(key) for key in (*spec.shortcuts, *spec.own_keys)]
    return PaletteEntry(
        group=group,
        title=(spec.palette or spec.text).removesuffix("…"),
        detail=_describe_key_scope(spec),
        icon=spec.icon or "keyboard",
        shortcut=tr(" or ").join(keys),
        run=spec.run,
        words=" ".join(keys),
    )


def _describe_key_scope(spec: ActionSpec) -> str:
    if spec.single_key:
        return tr("when no field has focus")
    return tr("in the list") if spec.own_keys else ""


class KeyboardDialog(ThemedDialog):
    """Lists shortcuts; typing filters the list, ↑ ↓ move in it, Esc closes. It runs no action."""

    manual_topic = "keyboard"

    def __init__(self, theme: Theme, entries: Sequence[PaletteEntry], parent: QWidget | None = None) -> None:
        super().__init__(theme, tr("Keyboard shortcuts"), (_WIDTH, _HEIGHT), parent)
        self._model = PaletteModel(self)
        self._model.set_entries(entries)
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search commands and keys"))
        self.search.setAccessibleName(tr("Search commands and keys"))
        self.search.addAction(theme.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.search.textChanged.connect(self._narrow)
        self.search.installEventFilter(self)
        self.view = self._list()
        self._nothing = ThemedLabel(theme, tr("No matching shortcuts."), color="text2")
        self._nothing.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        column = make_column(gap=theme.px(8), margins=(theme.px(12), theme.px(16), theme.px(12), theme.px(12)), on=self)
        for part in (self.search, self.view, self._nothing):
            column.addWidget(part, 0 if part is self.search else 1)
        self._narrow("")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if Qt.Key(event.key()) in _LIST_KEYS:
                self.view.setFocus(Qt.FocusReason.TabFocusReason)
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                return True
        return super().eventFilter(watched, event)

    def _list(self) -> QListView:
        view = QListView()
        view.setModel(self._model)
        view.setItemDelegate(PaletteDelegate(self._theme, view))
        view.setAccessibleName(tr("Keyboard shortcuts"))
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        return view

    def _narrow(self, text: str) -> None:
        self._model.search(text)
        some = self._model.match_count > 0
        self.view.setVisible(some)
        self._nothing.setVisible(not some)
        self.search.setAccessibleDescription(tr("{n} of {total}", n=self._model.match_count, total=self._model.total))
        if some:
            self.view.setCurrentIndex(self._model.index(self._model.next_row(-1, 1)))
            self.view.scrollToTop()
