"""A layout that sets widgets in lines as words are set: what has no room begins the next line."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Keeps the size hint of each widget; hidden ones take no room."""

    def __init__(self, gap: int = 8, parent: QWidget | None = None) -> None:
        """Leave `gap` pixels between widgets and between lines."""
        super().__init__(parent)
        self._gap = gap
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        """Take an item as the last one."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, place: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Return an item, None beyond the last."""
        return self._items[place] if 0 <= place < len(self._items) else None

    def takeAt(self, place: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Let an item go."""
        return self._items.pop(place) if 0 <= place < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        """Ask for no more than is needed."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:  # noqa: N802 - Qt's name
        """Say that the height follows from the width."""
        return True

    def heightForWidth(self, width: int) -> int:  # noqa: N802 - Qt's name
        """Return the height of the lines in a width."""
        return self._set(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 - Qt's name
        """Place all items."""
        super().setGeometry(rect)
        self._set(rect, move=True)

    def sizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size of the largest item."""
        return self.minimumSize()

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the size of the largest item."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _set(self, rect: QRect, *, move: bool) -> int:
        """Go through the items line by line; return the height that they take."""
        margins = self.contentsMargins()
        inner = rect.marginsRemoved(margins)
        x, y, line = inner.left(), inner.top(), 0
        for item in self._items:
            if item.isEmpty():
                continue
            size = item.sizeHint()
            if x > inner.left() and x + size.width() > inner.right() + 1:
                x, y, line = inner.left(), y + line + self._gap, 0
            if move:
                item.setGeometry(QRect(QPoint(x, y), size))
            x += size.width() + self._gap
            line = max(line, size.height())
        return y + line - rect.top() + margins.bottom()
