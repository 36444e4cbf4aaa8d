"""The command palette: everything that can be done or chosen, found by typing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QModelIndex,
    QObject,
    QPoint,
    QPropertyAnimation,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QStyle, QWidget

from gpudesk.desktop.shell.palette_box import FOOT, HEAD, PaletteBox
from gpudesk.desktop.shell.palette_delegate import PaletteDelegate
from gpudesk.desktop.shell.palette_model import FOUND_ROLE, Found, PaletteEntry, PaletteModel
from gpudesk.desktop.theme.theme import Theme
from gpudesk.text import tr

_WIDTH, _TOP, _LOWEST = 640.0, 92.0, 24
_LIST = 410.0
_SLIDE_MS, _SLIDE = 120, 12

_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_PAGES = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}
_PAGE_ROWS = 8


class CommandPalette(QWidget):
    """Lies over its window while it is open; then the focus goes back where it was.

    ↑ ↓ PgUp PgDn choose, Enter runs, Tab changes the group that is searched, Esc or a click outside closes.
    """

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Belong to a window; hidden until it is opened."""
        super().__init__(parent)
        self._theme = theme
        self._window = parent
        self._before: QWidget | None = None
        self._model = PaletteModel(self)
        self._box = PaletteBox(theme, self)
        self._delegate = PaletteDelegate(theme, self._box.view)
        self._slide = QPropertyAnimation(self._box, b"pos", self)
        self._slide.setDuration(_SLIDE_MS)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._connect()
        self.setAccessibleName(tr("Command palette"))
        self.hide()
        parent.installEventFilter(self)
        theme.changed.connect(self._restyle)

    @property
    def search(self) -> QLineEdit:
        """The line that is typed in."""
        return self._box.search

    @property
    def view(self) -> QListView:
        """The list of what is found."""
        return self._box.view

    def open(self, entries: Sequence[PaletteEntry]) -> None:
        """Show entries to choose from, with nothing typed."""
        if not self.isVisible():
            focus: QWidget | None = self._window.focusWidget()
            self._before = None if focus is None or self.isAncestorOf(focus) else focus
        self._model.set_entries(entries)
        self._box.search.clear()
        self._found()
        self.setGeometry(self._window.rect())
        self.raise_()
        self.show()
        self._place()
        self._box.search.setFocus(Qt.FocusReason.PopupFocusReason)
        if self.style().styleHint(QStyle.StyleHint.SH_Widget_Animation_Duration) > 0:
            end = self._box.pos()
            self._slide.setStartValue(end - QPoint(0, _SLIDE))
            self._slide.setEndValue(end)
            self._slide.start()

    def close_palette(self) -> None:
        """Go away, and give the focus back."""
        if not self.isVisible():
            return
        self._slide.stop()
        before, self._before = self._before, None
        self.hide()
        if before is not None and before.isVisible() and before.isEnabled():
            before.setFocus(Qt.FocusReason.PopupFocusReason)
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Follow the window's size; take the keys of the list from the line that is typed in."""
        kind = event.type()
        if watched is self._window:
            if kind == QEvent.Type.Resize and self.isVisible():
                self.setGeometry(self._window.rect())
                self._place()
        elif kind == QEvent.Type.ShortcutOverride:
            # While the palette is open no shortcut reaches what lies behind it.
            event.accept()
            return True
        elif isinstance(event, QKeyEvent) and kind == QEvent.Type.KeyPress:
            return self._act_on_key(event)
        return super().eventFilter(watched, event)

    def mousePressEvent(self, event: QMouseEvent) -> None:  # noqa: N802 - Qt's name
        """Close where the click is outside."""
        if not self._box.geometry().contains(event.position().toPoint()):
            self.close_palette()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the shade over the window."""
        painter = QPainter(self)
        try:
            painter.fillRect(self.rect(), self._theme.colour("scrim"))
        finally:
            painter.end()

    def _connect(self) -> None:
        search, view = self._box.search, self._box.view
        search.setProperty("kind", "bare")
        search.setAccessibleName(tr("Search or run a command"))
        search.setPlaceholderText(tr("Search or run a command"))
        search.textChanged.connect(self._typed)
        search.installEventFilter(self)
        view.setModel(self._model)
        view.setItemDelegate(self._delegate)
        view.setProperty("kind", "raised")
        view.setAccessibleName(tr("What is found"))
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        view.setMouseTracking(True)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.entered.connect(self._point_at)
        view.clicked.connect(self._run)

    def _typed(self, text: str) -> None:
        self._model.search(text)
        self._found()
        self._place()

    def _found(self) -> None:
        """Show what is found, with the first chosen, and how many."""
        model, box = self._model, self._box
        box.count = tr("{n} of {total}", n=model.found, total=model.total)
        box.filter = model.group or tr("all")
        box.search.setAccessibleDescription(box.count)
        box.arrange()
        first = model.next_row(-1, 1)
        box.view.setVisible(model.found > 0)
        box.nothing.setVisible(model.found == 0)
        if model.group:
            box.nothing.setText(tr("Nothing matches in {group}. Tab searches elsewhere.", group=model.group))
        else:
            box.nothing.setText(tr("Nothing matches. Use fewer letters."))
        box.view.scrollToTop()
        if first >= 0:
            box.view.setCurrentIndex(model.index(first))
        self._announce(tr("{count}: {first}", count=box.count, first=self._current_text()))
        box.update()

    def _current_text(self) -> str:
        row = self._box.view.currentIndex().data(FOUND_ROLE)
        return row.entry.spoken if isinstance(row, Found) else ""

    def _announce(self, text: str) -> None:
        """Say to those who listen what changed while the focus stays in the line."""
        if QAccessible.isActive() and self.isVisible():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self._box.search, text))

    def _act_on_key(self, event: QKeyEvent) -> bool:
        """Act on a key of the list; say whether it was one."""
        key = Qt.Key(event.key())
        if key in _STEPS:
            self._step(_STEPS[key], 1)
        elif key in _PAGES:
            self._step(_PAGES[key], _PAGE_ROWS)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self._box.view.currentIndex())
        elif key == Qt.Key.Key_Tab:
            self._next_group(1)
        elif key == Qt.Key.Key_Backtab:
            self._next_group(-1)
        elif key == Qt.Key.Key_Escape:
            self.close_palette()
        else:
            return False
        return True

    def _step(self, by: int, count: int) -> None:
        """Go on by so many rows, or to the last; a single step from the end begins anew."""
        row = self._box.view.currentIndex().row()
        target = row
        for _ in range(count):
            following = self._model.next_row(target, by)
            if following < 0:
                break
            target = following
        if target == row and count == 1:
            target = self._model.next_row(-1 if by > 0 else self._model.rowCount(), by)
        if target >= 0:
            self._go_to(target)
            self._announce(self._current_text())

    def _go_to(self, row: int) -> None:
        view = self._box.view
        view.setCurrentIndex(self._model.index(row))
        if row > 0 and self._model.next_row(row, -1) < 0:
            # Show the name of the group above the first entry.
            view.scrollToTop()

    def _next_group(self, by: int) -> None:
        groups = ("", *self._model.groups)
        self._model.keep_group(groups[(groups.index(self._model.group) + by) % len(groups)])
        self._found()
        self._place()

    def _point_at(self, index: QModelIndex) -> None:
        if self._model.flags(index) & Qt.ItemFlag.ItemIsSelectable:
            self._box.view.setCurrentIndex(index)

    def _run(self, index: QModelIndex) -> None:
        row = index.data(FOUND_ROLE)
        if isinstance(row, Found) and row.entry.enabled:
            self.close_palette()
            row.entry.run()

    def _place(self) -> None:
        """Take the height of what is found, as far as the window has room."""
        px = self._theme.px
        rows = (self._model.index(row).data(FOUND_ROLE) for row in range(min(self._model.rowCount(), 24)))
        listed = sum(self._delegate.height_of(row) for row in rows) + px(10)
        body = px(72) if self._model.found == 0 else min(listed, px(_LIST))
        width = min(px(_WIDTH), self.width() - 2 * _LOWEST)
        wanted = px(HEAD) + body + px(FOOT)
        top = min(px(_TOP), max(_LOWEST, self.height() - wanted - _LOWEST))
        height = min(wanted, self.height() - top - _LOWEST)
        self._slide.stop()
        self._box.setGeometry((self.width() - width) // 2, top, width, height)

    def _restyle(self) -> None:
        self._box.view.doItemsLayout()
        if self.isVisible():
            self._place()
            self.update()
