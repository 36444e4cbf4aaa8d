"""The list that drops from a field: narrowed by typing, driven by arrow keys, Enter and Esc."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QVBoxLayout, QWidget

from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.menu import round_corners
from gpudesk.desktop.widgets.option_delegate import OptionDelegate
from gpudesk.desktop.widgets.options import OPTION_ROLE, Option, OptionModel
from gpudesk.text import tr

#: Lists longer than this can be narrowed by typing.
_SEARCH_FROM = 9
_MOST_ROWS = 12.5
_WIDEST = 720.0
_PADDING = 5

_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
_PAGES = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}


class ChoicePopup(QFrame):
    """A floating list of options."""

    #: The key of the option that was chosen.
    chosen = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        """Belong to a field; `name` says what is chosen."""
        super().__init__(parent, Qt.WindowType.Popup)
        self._theme = theme
        self._round = round_corners(self)
        self._model = OptionModel(self)
        self._view = QListView(self)
        self._delegate = OptionDelegate(theme, self._model, self._view)
        self._search = QLineEdit(self)
        self._nothing = Label(theme, font="small", colour="text3", parent=self)
        self._build(name)

    def open_below(self, field: QRect, options: Sequence[Option], current: str, typed: str = "") -> None:
        """Show options below a rectangle in screen coordinates, or above it where there is more room."""
        self._model.set_options(options)
        self._delegate.current = current
        searchable = len(options) >= _SEARCH_FROM
        self._search.setVisible(searchable)
        self._search.setText(typed if searchable else "")
        self._narrow(self._search.text())
        if not typed:
            self._go_to(self._model.row_of(current))
        self._place(field)
        self.show()
        (self._search if searchable else self._view).setFocus(Qt.FocusReason.PopupFocusReason)
        self._view.scrollTo(self._view.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802 - Qt's name
        """Take the keys of the list from the line that is typed in."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the frame."""
        painter = QPainter(self)
        try:
            radius = 8.0 if self._round else 0.0
            pen = Pen(painter, self._theme)
            pen.frame(QRectF(self.rect()), radius=radius, fill="raised")
            if self._search.isVisibleTo(self):
                place, side = self._search.geometry(), self._theme.px(14)
                pen.icon("search", _PADDING + self._theme.px(8), place.center().y() - side / 2, side, "text3")
                level = place.bottom() + 2
                pen.hairline(1, level, self.width() - 1, level)
        finally:
            painter.end()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """Say that nothing more will be chosen."""
        super().hideEvent(event)
        self.closed.emit()

    def _build(self, name: str) -> None:
        self.setAccessibleName(name)
        self._search.setProperty("kind", "bare")
        self._search.setAccessibleName(tr("{name}: type to narrow the list", name=name))
        self._search.setPlaceholderText(tr("Type to narrow the list"))
        self._search.textChanged.connect(self._narrow)
        self._search.installEventFilter(self)
        view = self._view
        view.setModel(self._model)
        view.setItemDelegate(self._delegate)
        view.setAccessibleName(name)
        view.setFrameShape(QFrame.Shape.NoFrame)
        view.setProperty("kind", "raised")
        view.setMouseTracking(True)
        view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.installEventFilter(self)
        view.entered.connect(lambda index: self._go_to(index.row(), only_selectable=True))
        view.clicked.connect(self._choose)
        column = QVBoxLayout(self)
        column.setContentsMargins(_PADDING, _PADDING, _PADDING, _PADDING)
        column.setSpacing(4)
        column.addWidget(self._search)
        column.addWidget(view)
        column.addWidget(self._nothing)

    def _narrow(self, text: str) -> None:
        self._model.narrow(text)
        found = self._model.rowCount() > 0
        self._view.setVisible(found)
        self._nothing.setVisible(not found)
        self._nothing.setText(tr("Nothing in the list matches “{text}”", text=text))
        self._go_to(self._model.next_row(-1, 1))

    def _go_to(self, row: int, *, only_selectable: bool = False) -> None:
        index = self._model.index(row)
        selectable = bool(self._model.flags(index) & Qt.ItemFlag.ItemIsSelectable)
        if selectable:
            self._view.setCurrentIndex(index)
        elif not only_selectable and self._model.next_row(-1, 1) >= 0:
            self._view.setCurrentIndex(self._model.index(self._model.next_row(-1, 1)))

    def _key(self, event: QKeyEvent) -> bool:
        """Act on a key of the list; say whether it was one."""
        key = Qt.Key(event.key())
        if key in _STEPS:
            row = self._model.next_row(self._view.currentIndex().row(), _STEPS[key])
            if row >= 0:
                self._go_to(row)
        elif key in _PAGES:
            self._page(_PAGES[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(self._view.currentIndex())
        elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self.hide()
        else:
            return False
        return True

    def _page(self, direction: int) -> None:
        row = self._view.currentIndex().row()
        for _ in range(int(_MOST_ROWS) - 2):
            following = self._model.next_row(row, direction)
            if following < 0:
                break
            row = following
        self._go_to(row)

    def _choose(self, index: QModelIndex) -> None:
        row = index.data(OPTION_ROLE)
        if isinstance(row, Option) and not row.reason:
            self.hide()
            self.chosen.emit(row.key)

    def _place(self, field: QRect) -> None:
        """Take a size that shows the options, within the screen, on the side of the field with more room."""
        theme = self._theme
        self._search.setFixedHeight(theme.px(30))
        self._search.setTextMargins(theme.px(26), 0, 0, 0)
        self._nothing.setContentsMargins(theme.px(10), theme.px(8), theme.px(10), theme.px(10))
        scroll = theme.px(12)
        width = int(min(max(self._delegate.measure() + scroll, field.width()), theme.px(_WIDEST)))
        rows = min(float(self._model.rowCount()), _MOST_ROWS)
        list_height = int(rows * theme.px(30))
        extra = 2 * _PADDING + (theme.px(30) + 4 if self._search.isVisibleTo(self) else 0)
        screen = self.screen().availableGeometry()
        below, above = screen.bottom() - field.bottom(), field.top() - screen.top()
        downwards = below >= min(list_height + extra, theme.px(240)) or below >= above
        height = min(list_height + extra, max(theme.px(120), (below if downwards else above) - 8))
        x = max(screen.left(), min(field.left(), screen.right() - width))
        y = field.bottom() + 4 if downwards else field.top() - height - 4
        self.setFixedSize(width + 2 * _PADDING, height)
        self.move(QPoint(x, y))
