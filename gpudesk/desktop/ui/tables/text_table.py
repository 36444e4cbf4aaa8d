"""A read-only table of texts, as high as its rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from gpudesk.desktop.ui.tables.item_model import TableItemModel
from gpudesk.desktop.ui.tables.rows_view import RowsView
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.text.translation import tr

#: Between a number and the words after it.
_GAP: Final = "\u2003"
_AROUND: Final = 22.0


class TextModel(TableItemModel):
    """Rows of texts; those of `numbers` are set flush right."""

    def __init__(self, heads: Sequence[str], numbers: Collection[int]) -> None:
        super().__init__()
        self._heads, self._numbers = tuple(heads), frozenset(numbers)
        self.rows: tuple[tuple[str, ...], ...] = ()

    def show_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.exchange(lambda: self._replace_rows(rows), is_alike=len(rows) == len(self.rows))

    def _replace_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.rows = tuple(tuple(row) for row in rows)

    def count_rows(self) -> int:
        return len(self.rows)

    def count_columns(self) -> int:
        return len(self._heads)

    def get_text(self, row: int, column: int) -> str:
        text = self.rows[row][column]
        return text + _GAP if column in self._numbers else text

    def sentence(self, row: int, column: int) -> str:
        """Return what a screen reader says of a cell: no cell is without a name."""
        return self.rows[row][column] or tr("empty")

    def get_head(self, section: int, *, spoken: bool) -> str | None:
        head = self._heads[section]
        return head + _GAP if section in self._numbers and not spoken else head

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignRight if column in self._numbers else Qt.AlignmentFlag.AlignLeft


class TextTable(RowsView):
    """Columns take what they need; those that give way share what is left."""

    row_height = 25.0
    below = 2

    def __init__(
        self,
        theme: Theme,
        name: str,
        heads: Sequence[str],
        *,
        numbers: Collection[int] = (),
        giving: Collection[int] = (),
        parent: QWidget | None = None,
    ) -> None:
        """Begin without rows; columns in `numbers` are set flush right, those in `giving` give way."""
        self._model = TextModel(heads, numbers)
        super().__init__(theme, self._model, parent=parent)
        self._model.setParent(self)
        self._giving = frozenset(giving)
        self.setAccessibleName(name)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWordWrap(False)
        theme.follow(self.measure)

    def set_rows(self, rows: Sequence[Sequence[str]]) -> None:
        self.show_anew(lambda: self._model.show_rows(rows))

    def texts(self) -> list[tuple[str, ...]]:
        return list(self._model.rows)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.fit_columns()

    def measure(self) -> None:
        self.setFont(self._theme.font("small"))
        super().measure()

    def fit_columns(self) -> None:
        """Give columns what they hold; those that give way share what is left by what they hold."""
        around, used_width = self._theme.px(_AROUND), 0
        for column in range(self._model.columnCount()):
            if column not in self._giving:
                head = self.horizontalHeader().sectionSizeHint(column)
                # Set once: each new width lays the table out anew.
                self.setColumnWidth(column, max(self.sizeHintForColumn(column), head) + around)
                used_width += self.columnWidth(column)
        remaining = max(self.viewport().width() - used_width, 0)
        natural_widths = {column: max(self.sizeHintForColumn(column), 1) for column in self._giving}
        # The narrowest first, so that what it takes beyond its share is missing where there is more.
        for column in sorted(natural_widths, key=natural_widths.__getitem__):
            share = max(remaining * natural_widths[column] // sum(natural_widths.values()), self._theme.px(80))
            self.setColumnWidth(column, share)
            remaining -= share
            del natural_widths[column]
