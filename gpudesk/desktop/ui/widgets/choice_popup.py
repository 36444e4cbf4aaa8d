"""Options to choose from: grouped lists, how an option is painted, and the popup of a field."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import groupby
from typing import Any, Final

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QFontMetricsF, QHideEvent, QKeyEvent, QPainter, QPainterStateGuard, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.theme.theme_painter import RIGHT, ThemePainter
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, make_column
from gpudesk.desktop.ui.widgets.qt_support import round_corners
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.translation import tr

Index = QModelIndex | QPersistentModelIndex

#: Role of a row's content: an option of the list, or the name of a group as str.
ROW_ROLE = Qt.ItemDataRole.UserRole + 1


@frozen_dataclass
class ChoiceOption:
    """One alternative.

    `notes` are at the right, each in a separate column. `tag` is next to the text in a frame. An option with a `reason`
    is disabled, and shows it. `group` is the heading of consecutive options that share it. `words` are hidden search
    words.
    """

    key: str
    text: str
    notes: tuple[str, ...] = ()
    tag: str = ""
    reason: str = ""
    group: str = ""
    words: str = ""

    @property
    def spoken(self) -> str:
        return ", ".join(part for part in (self.text, self.tag, *self.notes, self.reason) if part)


_LEAF: Final = Qt.ItemFlag.ItemNeverHasChildren
_SELECTABLE: Final = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | _LEAF
#: Keys that move through a list, and the direction of each.
STEP_KEYS: Final = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
PAGE_KEYS: Final = {Qt.Key.Key_PageDown: 1, Qt.Key.Key_PageUp: -1}


class GroupedListModel(QAbstractListModel):
    """Rows grouped under headings. Subclasses define what a row shows, and whether it is enabled."""

    #: Role of group names.
    group_flags = _LEAF

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Any] = []

    def get_text(self, row: Any, role: int) -> str | None:  # noqa: ANN401 - of the subclass
        raise NotImplementedError

    def can_choose(self, row: Any) -> bool:  # noqa: ANN401 - of the subclass
        raise NotImplementedError

    def next_row(self, row: int, by: int) -> int:
        """Return the nearest enabled row from here on, in steps of 1 or -1; -1 without one."""
        row += by
        while 0 <= row < len(self._rows):
            if self.flags(self.index(row)) & Qt.ItemFlag.ItemIsSelectable:
                return row
            row += by
        return -1

    def walk(self, row: int, by: int, count: int) -> int:
        """Return the enabled row this many steps away, or the last."""
        for _ in range(count):
            following = self.next_row(row, by)
            if following < 0:
                break
            row = following
        return row

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's name and default
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's type
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        if role == ROW_ROLE:
            return row
        if isinstance(row, str):
            return row if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole) else None
        return self.get_text(row, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        row = self._rows[index.row()]
        if isinstance(row, str):
            return self.group_flags
        return _SELECTABLE if self.can_choose(row) else _LEAF


def set_up_list(view: QListView, model: GroupedListModel, delegate: QStyledItemDelegate, name: str) -> None:
    view.setModel(model)
    view.setItemDelegate(delegate)
    view.setAccessibleName(name)
    view.setFrameShape(QFrame.Shape.NoFrame)
    view.setProperty("kind", "raised")
    view.setMouseTracking(True)
    view.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)


class ChoiceOptionModel(GroupedListModel):
    """Options that match the search text; those with a reason against them are disabled."""

    group_flags = Qt.ItemFlag.ItemIsEnabled | _LEAF

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.options: tuple[ChoiceOption, ...] = ()
        self.search_words: tuple[str, ...] = ()

    def set_options(self, options: Sequence[ChoiceOption]) -> None:
        self.options = tuple(options)
        self._fill()

    def narrow(self, text: str) -> None:
        """Keep the options that contain all words of a text; those that start with it come first."""
        self.search_words = tuple(text.casefold().split())
        self._fill()

    def row_of(self, key: str) -> int:
        """Return the row of an option, -1 if it is filtered out."""
        return next((n for n, row in enumerate(self._rows) if isinstance(row, ChoiceOption) and row.key == key), -1)

    def get_text(self, row: ChoiceOption, role: int) -> str | None:
        if role == Qt.ItemDataRole.ToolTipRole:
            return row.reason or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return row.spoken
        return row.text if role == Qt.ItemDataRole.DisplayRole else None

    def can_choose(self, row: ChoiceOption) -> bool:
        return not row.reason

    def _fill(self) -> None:
        self.beginResetModel()
        matching = [option for option in self.options if self._matches(option)]
        if self.search_words:
            first = self.search_words[0]
            matching.sort(key=lambda option: not option.text.casefold().startswith(first))
        self._rows = []
        group = ""
        for option in matching:
            if option.group != group and not self.search_words:
                group = option.group
                self._rows.append(group)
            self._rows.append(option)
        self.endResetModel()

    def _matches(self, option: ChoiceOption) -> bool:
        text = f"{option.text} {option.tag} {option.group} {option.words}".casefold()
        return all(word in text for word in self.search_words)


class GroupedListDelegate(QStyledItemDelegate):
    """Paints the names of groups; subclasses paint other rows. Lengths are design lengths."""

    row_height, group_height = 30.0, 28.0
    #: Font, inset and lowering of the name of a group.
    group_look = ("caption_strong", 10.0, 4.0)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def paint_row(self, pen: ThemePainter, rect: QRectF, row: Any, *, is_selected: bool) -> None:  # noqa: ANN401 - of the subclass
        raise NotImplementedError

    def measure_row(self, row: object) -> int:
        return self._theme.px(self.group_height if isinstance(row, str) else self.row_height)

    def sizeHint(
        self,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: QModelIndex | QPersistentModelIndex,
    ) -> QSize:
        """Return the height of a row; all rows are as wide as the list."""
        return QSize(0, self.measure_row(index.data(ROW_ROLE)))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        with QPainterStateGuard(painter):
            row, pen, rect = index.data(ROW_ROLE), ThemePainter(painter, self._theme), QRectF(option.rect)
            if isinstance(row, str):
                font, inset, lowering = self.group_look
                inner = rect.adjusted(self._theme.px(inset), self._theme.px(lowering), -self._theme.px(inset), 0)
                pen.text(inner, row, font=font, color="text3")
                return
            state: QStyle.StateFlag = option.state
            self.paint_row(pen, rect, row, is_selected=bool(state & QStyle.StateFlag.State_Selected))


def paint_matches(pen: ThemePainter, room: QRectF, text: str, places: Container[int], color: str) -> float:
    """Write a text with the characters at these places in bold, plain if it has to be cut; return its width."""
    runs = [
        ("".join(character for _, character in run), "section" if is_match else "body")
        for is_match, run in groupby(enumerate(text), key=lambda each: each[0] in places)
    ]
    if sum(pen.width(part, font) for part, font in runs) > room.width():
        return min(room.width(), pen.text(room, text, color=color))
    used = 0.0
    for part, font in runs:
        used += pen.text(room.adjusted(used, 0, 2, 0), part, font=font, color=color)
    return used


_GUTTER = 28.0
_ROW_PADDING = 10.0
_GAP = 16.0


class ChoiceOptionDelegate(GroupedListDelegate):
    """Paints rows of a `ChoiceOptionModel`; `current` is the key of the current option, which gets a check mark."""

    def __init__(self, theme: Theme, model: ChoiceOptionModel, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self._model = model
        self.current = ""
        self._columns: tuple[float, ...] = ()

    def measure(self) -> float:
        """Measure the note columns over all options; return the width of the widest row."""
        theme = self._theme
        small = QFontMetricsF(theme.font("small"))
        strong = QFontMetricsF(theme.font("section"))
        options = self._model.options
        count = max((len(option.notes) for option in options), default=0)
        self._columns = tuple(
            max(small.horizontalAdvance(option.notes[n]) for option in options if len(option.notes) > n)
            for n in range(count)
        )
        caption = QFontMetricsF(theme.font("caption_strong"))
        texts = max(
            (
                strong.horizontalAdvance(option.text)
                + (caption.horizontalAdvance(option.tag) + theme.px(24) if option.tag else 0)
                + (small.horizontalAdvance(option.reason) + theme.px(_GAP) if option.reason else 0)
                for option in options
            ),
            default=0.0,
        )
        notes = sum(self._columns) + theme.px(_GAP) * len(self._columns)
        return theme.px(_GUTTER) + texts + notes + 2 * theme.px(_ROW_PADDING)

    def paint_row(self, pen: ThemePainter, rect: QRectF, option: ChoiceOption, *, is_selected: bool) -> None:
        px = self._theme.px
        if is_selected and not option.reason:
            pen.tint(rect, "selection_raised", 4.0)
        middle = rect.center().y()
        if option.key == self.current:
            side = px(14)
            pen.icon("check", rect.left() + px(8), middle - side / 2, side, "text1")
        color = "disabled" if option.reason else "text1"
        quiet = "disabled" if option.reason else "text2" if is_selected else "text3"
        right = rect.right() - px(_ROW_PADDING)
        notes = option.notes if not option.reason else (option.reason,)
        widths = self._columns if not option.reason else (pen.width(option.reason, "small"),)
        for note, width in reversed(list(zip(notes, widths, strict=False))):
            pen.text(QRectF(right - width - 1, rect.top(), width + 1, rect.height()), note,
                     font="small", color="text3" if option.reason else quiet, align=RIGHT)  # fmt: skip
            right -= width + px(_GAP)
        if option.tag:
            right -= pen.tag_width(option.tag) + px(8)
        left = rect.left() + px(_GUTTER)
        room = QRectF(left, rect.top(), max(0.0, right - left), rect.height())
        word = "".join(self._model.search_words[:1])
        at = option.text.casefold().find(word)
        width = paint_matches(pen, room, option.text, range(at, at + len(word)) if at >= 0 else (), color)
        if option.tag:
            pen.tag(left + width + px(8), middle, option.tag, color=quiet, dashed=True)


#: Longer lists have a search field.
_SEARCH_FROM = 9
_MOST_ROWS = 12.5
_WIDEST = 720.0
_POPUP_PADDING = 5


class ChoicePopup(QFrame):
    """A floating list of options."""

    #: The key of the chosen option.
    chosen = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self._theme = theme
        self._round = round_corners(self)
        self._model = ChoiceOptionModel(self)
        self._view = QListView(self)
        self._delegate = ChoiceOptionDelegate(theme, self._model, self._view)
        self._search = QLineEdit(self)
        self._nothing = ThemedLabel(theme, font="small", color="text3", parent=self)
        self.setAccessibleName(name)
        self._search.setProperty("kind", "bare")
        self._search.setAccessibleName(tr("{name}: type to filter", name=name))
        self._search.setPlaceholderText(tr("Type to filter"))
        self._search.textChanged.connect(self._narrow)
        self._search.installEventFilter(self)
        view = self._view
        set_up_list(view, self._model, self._delegate, name)
        view.installEventFilter(self)
        view.entered.connect(lambda index: self._go_to(index.row(), only_selectable=True))
        view.clicked.connect(self._choose)
        make_column(
            self._search,
            view,
            self._nothing,
            gap=4,
            margins=(_POPUP_PADDING, _POPUP_PADDING, _POPUP_PADDING, _POPUP_PADDING),
            on=self,
        )

    def open_below(self, field: QRect, options: Sequence[ChoiceOption], current: str, typed: str = "") -> None:
        """Open below a rectangle in screen coordinates, or above it if there is more space."""
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

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            # Handle a key of the list; return whether it was one.
            key = Qt.Key(event.key())
            if key in STEP_KEYS:
                row = self._model.next_row(self._view.currentIndex().row(), STEP_KEYS[key])
                if row >= 0:
                    self._go_to(row)
            elif key in PAGE_KEYS:
                self._go_to(self._model.walk(self._view.currentIndex().row(), PAGE_KEYS[key], int(_MOST_ROWS) - 2))
            elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self._view.currentIndex())
            elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
                self.hide()
            else:
                return False
            return True
        return super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's name
        with QPainter(self) as painter:
            radius = 8.0 if self._round else 0.0
            pen = ThemePainter(painter, self._theme)
            pen.frame(QRectF(self.rect()), radius=radius, fill="raised")
            if self._search.isVisibleTo(self):
                place, side = self._search.geometry(), self._theme.px(14)
                pen.icon("search", _POPUP_PADDING + self._theme.px(8), place.center().y() - side / 2, side, "text3")
                level = place.bottom() + 2
                pen.hairline(1, level, self.width() - 1, level)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.closed.emit()
        QTimer.singleShot(0, self, self._release)

    def _release(self) -> None:
        """Release the native window and its backing store of a megabyte: a window has dozens of such lists."""
        if not self.isVisible():
            self.destroy()

    def _narrow(self, text: str) -> None:
        self._model.narrow(text)
        has_matches = self._model.rowCount() > 0
        self._view.setVisible(has_matches)
        self._nothing.setVisible(not has_matches)
        self._nothing.setText(tr("No matches for “{text}”", text=text))
        self._go_to(self._model.next_row(-1, 1))

    def _go_to(self, row: int, *, only_selectable: bool = False) -> None:
        index = self._model.index(row)
        selectable = bool(self._model.flags(index) & Qt.ItemFlag.ItemIsSelectable)
        if selectable:
            self._view.setCurrentIndex(index)
        elif not only_selectable and self._model.next_row(-1, 1) >= 0:
            self._view.setCurrentIndex(self._model.index(self._model.next_row(-1, 1)))

    def _choose(self, index: QModelIndex) -> None:
        row = index.data(ROW_ROLE)
        if isinstance(row, ChoiceOption) and not row.reason:
            self.hide()
            self.chosen.emit(row.key)

    def _place(self, field: QRect) -> None:
        theme = self._theme
        self._search.setFixedHeight(theme.px(30))
        self._search.setTextMargins(theme.px(26), 0, 0, 0)
        self._nothing.setContentsMargins(theme.px(10), theme.px(8), theme.px(10), theme.px(10))
        scroll = theme.px(12)
        width = int(min(max(self._delegate.measure() + scroll, field.width()), theme.px(_WIDEST)))
        rows = min(float(self._model.rowCount()), _MOST_ROWS)
        list_height = int(rows * theme.px(30))
        extra = 2 * _POPUP_PADDING + (theme.px(30) + 4 if self._search.isVisibleTo(self) else 0)
        screen = self.screen().availableGeometry()
        below, above = screen.bottom() - field.bottom(), field.top() - screen.top()
        downwards = below >= min(list_height + extra, theme.px(240)) or below >= above
        height = min(list_height + extra, max(theme.px(120), (below if downwards else above) - 8))
        x = max(screen.left(), min(field.left(), screen.right() - width))
        y = field.bottom() + 4 if downwards else field.top() - height - 4
        self.setFixedSize(width + 2 * _POPUP_PADDING, height)
        self.move(QPoint(x, y))
