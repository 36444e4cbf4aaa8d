"""How an alternative is painted in a list: mark, text with what was typed in it, tag, notes on the right."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpudesk.desktop.theme.pen import RIGHT, Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.options import OPTION_ROLE, Option, OptionModel

_ROW = 30.0
_GROUP_ROW = 28.0
_GUTTER = 28.0
_PADDING = 10.0
_GAP = 16.0


class OptionDelegate(QStyledItemDelegate):
    """Paints rows of an `OptionModel`; `current` is the key of the option in force, which gets a tick."""

    def __init__(self, theme: Theme, model: OptionModel, parent: QWidget) -> None:
        """Paint for one list."""
        super().__init__(parent)
        self._theme = theme
        self._model = model
        self.current = ""
        self._columns: tuple[float, ...] = ()

    def measure(self) -> float:
        """Measure the columns of notes over all options; return the width that the widest row needs."""
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
        return theme.px(_GUTTER) + texts + notes + 2 * theme.px(_PADDING)

    def sizeHint(  # noqa: N802 - Qt's name
        self,
        option: QStyleOptionViewItem,  # noqa: ARG002 - Qt's signature
        index: QModelIndex | QPersistentModelIndex,
    ) -> QSize:
        """Return the height of a row; all rows are as wide as the list."""
        row = index.data(OPTION_ROLE)
        return QSize(0, self._theme.px(_GROUP_ROW if isinstance(row, str) else _ROW))

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw a row."""
        painter.save()
        try:
            row = index.data(OPTION_ROLE)
            pen = Pen(painter, self._theme)
            rect = QRectF(option.rect)
            if isinstance(row, str):
                inner = rect.adjusted(self._theme.px(_PADDING), self._theme.px(4), 0, 0)
                pen.text(inner, row, font="caption_strong", colour="text3")
                return
            state: QStyle.StateFlag = option.state
            selected = bool(state & QStyle.StateFlag.State_Selected) and not row.reason
            if selected:
                pen.tint(rect, "selection_raised", 4.0)
            self._paint_option(pen, rect, row, selected)
        finally:
            painter.restore()

    def _paint_option(self, pen: Pen, rect: QRectF, option: Option, selected: bool) -> None:
        px = self._theme.px
        middle = rect.center().y()
        if option.key == self.current:
            side = px(14)
            pen.icon("check", rect.left() + px(8), middle - side / 2, side, "text1")
        colour = "disabled" if option.reason else "text1"
        quiet = "disabled" if option.reason else "text2" if selected else "text3"
        right = rect.right() - px(_PADDING)
        notes = option.notes if not option.reason else (option.reason,)
        widths = self._columns if not option.reason else (pen.width(option.reason, "small"),)
        for note, width in reversed(list(zip(notes, widths, strict=False))):
            pen.text(QRectF(right - width - 1, rect.top(), width + 1, rect.height()), note,
                     font="small", colour="text3" if option.reason else quiet, align=RIGHT)  # fmt: skip
            right -= width + px(_GAP)
        if option.tag:
            right -= pen.tag_width(option.tag) + px(8)
        left = rect.left() + px(_GUTTER)
        room = QRectF(left, rect.top(), max(0.0, right - left), rect.height())
        width = self._paint_found(pen, room, option.text, colour)
        if option.tag:
            pen.tag(left + width + px(8), middle, option.tag, colour=quiet, dashed=True)

    def _paint_found(self, pen: Pen, room: QRectF, text: str, colour: str) -> float:
        """Write a text with the first of the words typed set stronger; return its width."""
        wanted = self._model.wanted
        at = text.casefold().find(wanted[0]) if wanted else -1
        metrics = pen.metrics("section")
        if at < 0 or metrics.horizontalAdvance(text) > room.width():
            return min(room.width(), pen.text(room, text, colour=colour))
        end = at + len(wanted[0])
        used = 0.0
        for part, font in ((text[:at], "body"), (text[at:end], "section"), (text[end:], "body")):
            used += pen.text(room.adjusted(used, 0, 2, 0), part, font=font, colour=colour) if part else 0.0
        return used
