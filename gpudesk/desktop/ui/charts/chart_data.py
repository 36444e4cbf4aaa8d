"""The numbers behind a chart: table model, dialog, and the commands that copy and save them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from PySide6.QtCore import QMimeData, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QKeySequence, QPixmap, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QMenu,
    QMessageBox,
    QPushButton,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from gpudesk import paths
from gpudesk.desktop.ui.charts.scales import Box, FloatArray
from gpudesk.desktop.ui.tables.table_base import TableItemModel
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.qt_support import ask_save_path
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.writers.clipboard import format_tab_separated
from gpudesk.text.formatting import Formatter
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.desktop.ui.theme.theme import Theme
    from gpudesk.desktop.ui.theme.theme_painter import TextPainter


@frozen_dataclass
class ChartData:
    """Rows of texts below heads; columns from `first_number` on hold figures."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    first_number: int = 1

    def format_tab_separated(self) -> str:
        return format_tab_separated((self.heads, *self.rows))


class ChartDataModel(TableItemModel):
    """An item model of a chart's numbers."""

    def __init__(self, data: ChartData, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data = data

    def count_rows(self) -> int:
        return len(self._data.rows)

    def count_columns(self) -> int:
        return len(self._data.heads)

    def get_text(self, row: int, column: int) -> str:
        return self._data.rows[row][column]

    def sentence(self, row: int, column: int) -> str:
        texts, first_number = self._data.rows[row], self._data.first_number
        if column < first_number:
            return texts[column]
        return f"{', '.join(texts[:first_number])}, {self._data.heads[column]}: {texts[column]}"

    def get_head(self, section: int, *, spoken: bool) -> str:  # noqa: ARG002 - the head explains it
        return self._data.heads[section]

    def get_alignment(self, column: int) -> Qt.AlignmentFlag:
        return Qt.AlignmentFlag.AlignRight if column >= self._data.first_number else Qt.AlignmentFlag.AlignLeft


_LEAST_WIDTH = 420.0
_MOST_WIDTH = 920.0


class ChartDataDialog(QDialog):
    """Shows the numbers of a chart as a table, to read and to copy."""

    manual_topic = "performance#numbers-of-a-chart"

    def __init__(self, data: ChartData, theme: Theme, parent: QWidget | None = None) -> None:
        """Build the dialog, which does not follow later changes of the chart."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(data.title)
        self._data = data
        self.view = QTableView(self)
        self.view.setAccessibleName(data.title)
        self.view.setModel(ChartDataModel(data, self))
        self.view.setShowGrid(False)
        self.view.verticalHeader().hide()
        self.view.verticalHeader().setDefaultSectionSize(theme.px(27))
        self.view.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.view.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        buttons = QDialogButtonBox(self)
        self._copy = QPushButton(tr("Copy table"))
        self._copy.clicked.connect(self.copy)
        buttons.addButton(self._copy, QDialogButtonBox.ButtonRole.ActionRole)
        close = buttons.addButton(QDialogButtonBox.StandardButton.Close)
        close.setText(tr("Close"))
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(self.view)
        layout.addWidget(buttons)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Copy), self.view, self.copy_selected)
        self.resize(QSize(self._fit_columns(theme), theme.px(460)).boundedTo(self.screen().availableSize() * 0.9))
        self.view.setFocus()

    def _fit_columns(self, theme: Theme) -> int:
        """Set column widths with some space; return the total width."""
        self.view.resizeColumnsToContents()
        columns = range(len(self._data.heads))
        for column in columns:
            self.view.setColumnWidth(column, self.view.columnWidth(column) + theme.px(20))
        width = sum(self.view.columnWidth(column) for column in columns) + theme.px(48)
        return min(max(width, theme.px(_LEAST_WIDTH)), theme.px(_MOST_WIDTH))

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self._data.format_tab_separated())

    def copy_selected(self) -> None:
        rows = sorted({index.row() for index in self.view.selectedIndexes()})
        chosen = replace(self._data, rows=tuple(self._data.rows[row] for row in rows))
        QGuiApplication.clipboard().setText(chosen.format_tab_separated())


class CopyableChart(Protocol):
    """A chart of any kind."""

    theme: Theme
    formatter: Formatter

    def grab(self) -> QPixmap: ...

    def data(self, formatter: Formatter) -> ChartData: ...

    def window(self) -> QWidget: ...


class DeskAnswerChart(CopyableChart, Protocol):
    """A chart that shows the answer of a desk by itself."""

    def refresh(self) -> None: ...


def copy_to_clipboard(charts: list[CopyableChart], picture: QPixmap) -> None:
    """Copy a picture of charts, and their numbers as text."""
    mime = QMimeData()
    mime.setImageData(picture.toImage())
    tables = [chart.data(chart.formatter) for chart in charts]
    mime.setText("\n\n".join(f"{table.title}\n{table.format_tab_separated()}" for table in tables))
    QGuiApplication.clipboard().setMimeData(mime)


def copy_data(chart: CopyableChart) -> None:
    QGuiApplication.clipboard().setText(chart.data(chart.formatter).format_tab_separated())


def show_data_table(chart: CopyableChart) -> ChartDataDialog:
    dialog = ChartDataDialog(chart.data(chart.formatter), chart.theme, chart.window())
    dialog.show()
    return dialog


def save_picture(chart: CopyableChart) -> None:
    target = ask_save_path(
        chart.window(), tr("Save image"), paths.get_home_dir() / "chart.png", [(tr("Images"), ".png")]
    )
    if target is not None and not chart.grab().save(str(target)):
        QMessageBox.warning(
            chart.window(), tr("Not saved"), tr("Cannot write {file}. Choose another folder", file=target)
        )


def show_chart_menu(
    chart: CopyableChart, widget: QWidget, event: QContextMenuEvent, *more: tuple[str, Callable[[], object], bool]
) -> None:
    """Show the menu of a chart, which is a widget: at the mouse, or for the keyboard in its middle.

    `more` are its own commands, as text, function and whether it is enabled.
    """
    menu = QMenu(widget)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.addAction(tr("Copy image")).triggered.connect(lambda: QGuiApplication.clipboard().setPixmap(chart.grab()))
    menu.addAction(tr("Copy data")).triggered.connect(lambda: copy_data(chart))
    menu.addAction(tr("Show as table")).triggered.connect(lambda: show_data_table(chart))
    menu.addAction(tr("Save image…")).triggered.connect(lambda: save_picture(chart))
    if more:
        menu.addSeparator()
    for text, run, enabled in more:
        action = menu.addAction(text)
        action.triggered.connect(run)
        action.setEnabled(enabled)
    by_keyboard = event.reason() == QContextMenuEvent.Reason.Keyboard
    middle = widget.mapToGlobal(QPoint(widget.width() // 2, widget.height() // 2))
    menu.popup(middle if by_keyboard else event.globalPos())


@dataclass(frozen=True, eq=False)
class PlotCurve:
    """One curve of an accelerator.

    `x` and `y` are the values along the axes, `low` and `high` the interval of `y`. `count` is the number of requests
    in flight at each point (`x` itself if the axis shows that). `end` is the text where the curve stops; `capped` marks
    that end as a limit. `dash` is the palette index of its dash, 0 for its own, to distinguish several curves of one
    accelerator.
    """

    key: str
    slot: int
    is_variant: bool
    name: str
    x: FloatArray
    y: FloatArray
    low: FloatArray | None = None
    high: FloatArray | None = None
    count: FloatArray | None = None
    end: str = ""
    capped: bool = True
    dash: int = 0

    @property
    def identity(self) -> tuple[str, int, bool, str]:
        """The first fields of a readout's row too."""
        return self.key, self.slot, self.is_variant, self.name

    def same_drawing(self, other: PlotCurve) -> bool:
        if self is other:
            return True
        mine, theirs = ((*each.identity, each.dash, each.end, each.capped) for each in (self, other))
        return mine == theirs and all(
            _are_arrays_equal(getattr(self, name), getattr(other, name)) for name in ("x", "y", "low", "high")
        )

    def at(self, x: float) -> CurveReading | None:
        """Return the values at a position along `x`, which must rise; None beyond the curve's ends.

        Between points the logarithms of the values are interpolated linearly.
        """
        if not len(self.x) or not self.x[0] <= x <= self.x[-1]:
            return None
        y, low, high = (self._interpolate(x, values) for values in (self.y, self.low, self.high))
        return None if y is None else CurveReading(y, y if low is None else low, y if high is None else high)

    def _interpolate(self, x: float, values: FloatArray | None) -> float | None:
        if values is None:
            return None
        if np.any(values <= 0):
            return float(np.interp(x, self.x, values))
        return float(np.exp(np.interp(np.log(x), np.log(self.x), np.log(values))))


@frozen_dataclass
class CurveReading:
    """A value read from a curve, with its interval."""

    value: float
    low: float
    high: float


def _are_arrays_equal(one: FloatArray | None, other: FloatArray | None) -> bool:
    if one is other:
        return True
    return one is not None and other is not None and np.array_equal(one, other)


def are_curves_equal(one: tuple[PlotCurve, ...], other: tuple[PlotCurve, ...]) -> bool:
    # During a drag most curves are identical objects.
    return one == other or (
        len(one) == len(other) and all(before.same_drawing(after) for before, after in zip(one, other, strict=True))
    )


@frozen_dataclass
class PointMark:
    """A reading point: a circle on a curve, or the slot's `marker`; `text` is its label."""

    key: str
    slot: int
    x: float
    y: float
    is_variant: bool = False
    marker: bool = False
    text: str = ""


@frozen_dataclass
class CursorLine:
    """A line across the plot at a value of `x`: solid, or dashed with a tab for reading.

    `text` is its tick label.
    """

    value: float
    text: str
    read_off: bool = False
    movable: bool = True


@frozen_dataclass
class LimitLine:
    """A limit on `y` set by the load, with its text."""

    value: float
    text: str


@frozen_dataclass
class CursorReadoutRow:
    """One accelerator's figures: the first cell is the main one, the others give details."""

    key: str
    slot: int
    is_variant: bool
    name: str
    cells: tuple[str, ...]


@frozen_dataclass
class CursorReadout:
    """Figures at one position, in reading order; `heads` name the cells."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[CursorReadoutRow, ...]


@dataclass(frozen=True, eq=False)
class PlotDrawing:
    """The full content of a plot. `note` is shown in its middle if there is nothing to draw.

    `ghost_label` is near the left end of each pinned curve.
    """

    lines: tuple[PlotCurve, ...] = ()
    ghosts: tuple[PlotCurve, ...] = ()
    marks: tuple[PointMark, ...] = ()
    rule: CursorLine | None = None
    limit: LimitLine | None = None
    cursor_readout: CursorReadout | None = None
    note: str = ""
    ghost_label: str = ""


@frozen_dataclass
class ReadoutSize:
    """The size of a readout, its column widths, and the space between them."""

    width: float
    height: float
    name: float
    cells: tuple[float, ...]
    gap: float


def find_corner_boxes(area: QRectF, size: ReadoutSize, inset: float) -> list[Box]:
    lefts = (area.left() + inset, area.right() - inset - size.width)
    tops = (area.top() + inset, area.bottom() - inset - size.height)
    return [(x, y, x + size.width, y + size.height) for y in tops for x in lefts]


def sample_points(rect: QRectF) -> FloatArray:
    xs = np.linspace(rect.left() + 1, rect.right() - 1, 5)
    ys = np.linspace(rect.top() + 1, rect.bottom() - 1, 5)
    return np.array([(x, y) for x in xs for y in ys])


def find_right_edges(box: QRectF, size: ReadoutSize, inset: float) -> list[float]:
    """Return the right ends of the cells, from the first."""
    right = box.right() - inset
    ends = []
    for width in reversed(size.cells):
        ends.append(right)
        right -= width + size.gap
    return ends[::-1]


READOUT_INSET: Final = 10
#: Fonts of the main figure, and of details.
CELL_FONTS: Final = ("label", "caption", "caption")


def measure_readout(cursor_readout: CursorReadout, letters: TextPainter, theme: Theme) -> ReadoutSize:
    # Many columns are closer together.
    gap = float(theme.px(16 if len(cursor_readout.heads) < 3 else 11))
    name = 0.0
    cells = [letters.width(head, "caption") for head in cursor_readout.heads]
    for row in cursor_readout.rows:
        name = max(name, letters.width(row.name, "small"))
        for number, (cell, font) in enumerate(zip(row.cells, CELL_FONTS, strict=False)):
            cells[number] = max(cells[number], letters.width(cell, font))
    swatch = float(theme.px(28))
    width = swatch + name + sum(cells) + gap * len(cells)
    head = letters.width(cursor_readout.title, "caption_strong") + gap + sum(cells[1:]) + gap * max(0, len(cells) - 1)
    head += letters.width(cursor_readout.heads[0], "caption") if cursor_readout.heads else 0.0
    name += max(0.0, head - width)
    width = max(width, head) + 2 * theme.px(READOUT_INSET)
    height = theme.px(26) + len(cursor_readout.rows) * theme.px(18) + theme.px(7)
    return ReadoutSize(width, float(height), name, tuple(cells), gap)
