"""How the rows of the command palette are painted: icon, title with what matches in it, detail, shortcut."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpudesk.desktop.shell.palette_model import FOUND_ROLE, Found
from gpudesk.desktop.theme.pen import RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme

ROW, GROUP_ROW = 36.0, 33.0
_INSET, _ICON_X, _TEXT_X, _SIDE, _GAP = 8.0, 20.0, 48.0, 20.0, 14.0
_ICON = 16.0
#: More than half of a row is the title's.
_MOST_DETAIL = 0.45


class PaletteDelegate(QStyledItemDelegate):
    """Paints rows of a `PaletteModel`."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        """Paint for one list."""
        super().__init__(parent)
        self._theme = theme

    def sizeHint(  # noqa: N802 - Qt's name
        self,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: QModelIndex | QPersistentModelIndex,
    ) -> QSize:
        """Return the height of a row; all rows are as wide as the list."""
        return QSize(0, self.height_of(index.data(FOUND_ROLE)))

    def height_of(self, row: Found | str) -> int:
        """Return the height of an entry or of the name of a group."""
        return self._theme.px(GROUP_ROW if isinstance(row, str) else ROW)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw a row."""
        painter.save()
        try:
            row: Found | str = index.data(FOUND_ROLE)
            pen, rect = Pen(painter, self._theme), QRectF(option.rect)
            if isinstance(row, str):
                px = self._theme.px
                pen.text(rect.adjusted(px(_SIDE), px(6), -px(_SIDE), 0), row,
                         font="small_strong", colour="text3")  # fmt: skip
                return
            state: QStyle.StateFlag = option.state
            self._paint_entry(pen, rect, row, bool(state & QStyle.StateFlag.State_Selected))
        finally:
            painter.restore()

    def _paint_entry(self, pen: Pen, rect: QRectF, row: Found, selected: bool) -> None:
        px, entry, middle = self._theme.px, row.entry, rect.center().y()
        if selected:
            inset = px(_INSET)
            pen.tint(rect.adjusted(inset, 1, -inset, -1), "selection_raised", 6.0)
        colour = "text1" if entry.enabled else "disabled"
        quiet = "text2" if entry.enabled else "disabled"
        side = float(px(_ICON))
        pen.icon(entry.icon, px(_ICON_X), middle - side / 2, side, colour if selected else quiet)
        right = rect.right() - px(_SIDE)
        if entry.shortcut:
            right -= pen.tag_width(entry.shortcut)
            # The quiet third tone cannot be read on the ground of a selected row.
            pen.tag(right, middle, entry.shortcut, colour=quiet if selected else "text3")
            right -= px(_GAP)
        if entry.detail:
            width = min(pen.width(entry.detail, "small") + 1, _MOST_DETAIL * rect.width())
            place = QRectF(right - width, rect.top(), width, rect.height())
            pen.text(place, entry.detail, font="small", colour=quiet, align=RIGHT)
            right -= width + px(_GAP)
        room = QRectF(px(_TEXT_X), rect.top(), max(0.0, right - px(_TEXT_X)), rect.height())
        self._paint_title(pen, room, row, colour)

    @staticmethod
    def _paint_title(pen: Pen, room: QRectF, row: Found, colour: str) -> None:
        """Write a title with what matches set stronger; plainly where it has to be cut."""
        title = row.entry.title
        runs = list(_runs(title, row.matched))
        if sum(pen.width(part, font) for part, font in runs) > room.width():
            pen.text(room, title, colour=colour)
            return
        used = 0.0
        for part, font in runs:
            used += pen.text(room.adjusted(used, 0, 2, 0), part, font=font, colour=colour)


def _runs(title: str, matched: Iterable[int]) -> Iterable[tuple[str, str]]:
    """Return the parts of a title with their fonts."""
    places = frozenset(matched)
    for strong, part in groupby(enumerate(title), key=lambda each: each[0] in places):
        yield "".join(character for _, character in part), "section" if strong else "body"
