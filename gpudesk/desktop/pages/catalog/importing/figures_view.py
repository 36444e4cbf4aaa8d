"""What an import would bring: the figures of a model or an accelerator, the ranges of prices, and remarks."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from gpudesk.desktop.pages.catalog.editors.rows import Remark
from gpudesk.desktop.theme.pen import Pen
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.scroll_area import ScrollArea
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.imports import ImportFigures
from gpudesk.sheets.import_lines import ImportLine, PriceLine, import_lines, price_head, price_lines
from gpudesk.text import tr

_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
#: Ranges of prices that are shown; of more the others are counted.
_MOST_PRICES = 60
#: Places of the columns that are flushed right, and the room between two rows.
_FIGURES = range(2, 6)
_ROW_GAP = 8.0


class FiguresView(QWidget):
    """Shows figures under a title, and below them what is to be said of them; can be filled anew."""

    def __init__(self, theme: Theme, formatter: Formatter) -> None:
        """Show nothing yet."""
        super().__init__()
        self._theme = theme
        self._formatter = formatter
        self._body: QWidget | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)

    def show_figures(self, figures: ImportFigures, notes: Sequence[str], left_out: Sequence[str]) -> None:
        """Show what would come, what was taken for granted, and what is not taken."""
        column = self._begin(tr("What comes"))
        if figures.prices:
            column.addWidget(_price_table(self._theme, price_lines(figures.prices, self._formatter)))
        else:
            column.addWidget(_lines(self._theme, import_lines(figures, self._formatter)))
        self._remarks(column, tr("How it was read"), "info", "text3", notes)
        self._remarks(column, tr("Left out"), "minus", "text3", left_out)
        column.addStretch(1)

    def show_sentence(self, text: str, notes: Sequence[str] = ()) -> None:
        """Say why there are no figures."""
        column = self._begin(tr("What comes"))
        column.addWidget(Label(self._theme, text, font="small", colour="text2", wrap=True))
        self._remarks(column, tr("How it was read"), "info", "text3", notes)
        column.addStretch(1)

    def _begin(self, title: str) -> QVBoxLayout:
        if self._body is not None:
            self._body.hide()
            self._body.deleteLater()
        self._body = QWidget()
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(self._theme.px(6))
        column.addWidget(Label(self._theme, title, font="section"))
        self._column.addWidget(self._body)
        return column

    def _remarks(
        self, column: QVBoxLayout, title: str, icon: str, colour: str, sentences: Sequence[str]
    ) -> None:
        if not sentences:
            return
        column.addSpacing(self._theme.px(8))
        column.addWidget(Label(self._theme, title, font="section"))
        for text in sentences:
            remark = Remark(self._theme, icon, colour, "text2")
            remark.say(text)
            column.addWidget(remark)


def _lines(theme: Theme, lines: Sequence[ImportLine]) -> QWidget:
    """Set labels left, values right, and notes below the values."""
    table = QWidget()
    grid = QGridLayout(table)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.px(16))
    grid.setVerticalSpacing(theme.px(4))
    grid.setColumnStretch(1, 1)
    row = 0
    for line in lines:
        value = Label(theme, line.value, font="body_strong", wrap=True)
        value.setAlignment(_RIGHT)
        value.setAccessibleName(f"{line.label}: {line.value}")
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(Label(theme, line.label, colour="text2"), row, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(value, row, 1)
        row += 1
        if line.note:
            note = Label(theme, line.note, font="caption", colour="text3", wrap=True)
            note.setAlignment(_RIGHT)
            grid.addWidget(note, row, 0, 1, 2)
            row += 1
    return table


def _price_table(theme: Theme, lines: Sequence[PriceLine]) -> QWidget:
    """Set the ranges in columns with their heads above the figures."""
    table = _RuledGrid(theme)
    grid = table.grid
    grid.setColumnStretch(0, 1)
    heads = price_head()
    for place, head in enumerate(heads):
        label = Label(theme, head, font="caption_strong", colour="text3")
        label.setAlignment(_RIGHT if place in _FIGURES else _LEFT)
        grid.addWidget(label, 0, place)
    for row, line in enumerate(lines[:_MOST_PRICES], start=1):
        for place, text in enumerate(line.cells):
            strong, aside = place in (0, 4), place in (1, 6)
            label = Label(
                theme, text, font="body_strong" if strong else "body", colour="text2" if aside else "text1"
            )
            label.setAlignment(_RIGHT if place in _FIGURES else _LEFT)
            label.setAccessibleName(f"{line.cells[0]}, {line.cells[1]}, {heads[place]}: {text}")
            grid.addWidget(label, row, place)
    unit = tr("US dollars an hour for one accelerator; of purchases, US dollars for one")
    if len(lines) > _MOST_PRICES:
        more = tr("And {n} more lines, whose prices come too", n=len(lines) - _MOST_PRICES)
        unit = f"{more}. {unit}"
    whole = QWidget()
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(theme.px(6))
    column.addWidget(table)
    column.addWidget(Label(theme, unit, font="caption", colour="text3", wrap=True))
    return whole


class _RuledGrid(QWidget):
    """A grid whose rows are divided by rules, the head by a stronger one."""

    def __init__(self, theme: Theme) -> None:
        """Begin empty."""
        super().__init__()
        self._theme = theme
        self.grid = QGridLayout(self)
        self.grid.setContentsMargins(0, 0, 0, theme.px(_ROW_GAP) // 2)
        self.grid.setHorizontalSpacing(theme.px(20))
        self.grid.setVerticalSpacing(theme.px(_ROW_GAP))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Draw the rules between the rows."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            below = self._theme.px(_ROW_GAP) / 2
            for row in range(self.grid.rowCount()):
                level = self.grid.cellRect(row, 0).bottom() + 1 + below
                pen.hairline(0, level, self.width(), level, "grid" if row else "strong")
        finally:
            painter.end()


class FiguresAside(QWidget):
    """Figures beside a form, on the panel's colour, divided from the rows; what has no room scrolls."""

    def __init__(self, theme: Theme, figures: FiguresView) -> None:
        """Hold figures."""
        super().__init__()
        self._theme = theme
        self._figures = figures
        self._body = QWidget()
        inside = QVBoxLayout(self._body)
        inside.setContentsMargins(*(theme.px(16) for _ in range(4)))
        inside.addWidget(figures)
        area = ScrollArea()
        area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        area.setAccessibleName(tr("What comes"))
        area.show_widget(self._body)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 0, 0, 0)
        column.addWidget(area)

    def height_for(self, width: int) -> int:
        """Return the height that shows all figures in a width."""
        return max(self._body.heightForWidth(width), self._body.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: N802, ARG002 - Qt's name
        """Lie on the panel's colour, divided from the rows."""
        painter = QPainter(self)
        try:
            pen = Pen(painter, self._theme)
            painter.fillRect(self.rect(), self._theme.colour("chrome"))
            pen.hairline(0, 0, 0, self.height())
            pen.hairline(0, 0, self.width(), 0)
        finally:
            painter.end()
