"""The numbers behind a chart: table model, dialog, and the commands that copy and save them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

from PySide6.QtCore import QAbstractTableModel, QMimeData, QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt
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
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.qt_support import ask_save_path
from gpudesk.text.formatting import MACHINE_NUMBERS, Formatter
from gpudesk.text.translation import tr

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class ChartData:
    """Rows of texts under heads; columns from `first_number` on hold figures."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    first_number: int = 1

    def tab_separated(self) -> str:
        return "".join("\t".join(cells) + "\n" for cells in (self.heads, *self.rows))


class ChartDataModel(QAbstractTableModel):
    """An item model of a chart's numbers."""

    def __init__(self, data: ChartData, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._data = data

    def rowCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._data.rows)

    def columnCount(self, parent: _Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._data.heads)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's
        if not index.isValid():
            return None
        text = self._data.rows[index.row()][index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            row = self._data.rows[index.row()]
            row_name = ", ".join(row[: self._data.first_number])
            head = self._data.heads[index.column()]
            return text if index.column() < self._data.first_number else f"{row_name}, {head}: {text}"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            number = index.column() >= self._data.first_number
            side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401 - Qt's
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(self._data.heads):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._data.heads[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            number = section >= self._data.first_number
            side = Qt.AlignmentFlag.AlignRight if number else Qt.AlignmentFlag.AlignLeft
            return int(side | Qt.AlignmentFlag.AlignVCenter)
        return None


_LEAST_WIDTH = 420.0
_MOST_WIDTH = 920.0


class ChartDataDialog(QDialog):
    """Shows the numbers of a chart beside it; `machine` is the same table with numbers for programs."""

    manual_topic = "performance#numbers-of-a-chart"

    def __init__(self, data: ChartData, machine: ChartData, theme: Theme, parent: QWidget | None = None) -> None:
        """Build the dialog; it stays as it is while the chart goes on."""
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(data.title)
        self._data, self._machine = data, machine
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
        """Give the columns what they need and air between; return the width that shows them."""
        self.view.resizeColumnsToContents()
        columns = range(len(self._data.heads))
        for column in columns:
            self.view.setColumnWidth(column, self.view.columnWidth(column) + theme.px(20))
        width = sum(self.view.columnWidth(column) for column in columns) + theme.px(48)
        return min(max(width, theme.px(_LEAST_WIDTH)), theme.px(_MOST_WIDTH))

    def copy(self) -> None:
        QGuiApplication.clipboard().setText(self._machine.tab_separated())

    def copy_selected(self) -> None:
        rows = sorted({index.row() for index in self.view.selectedIndexes()})
        chosen = replace(self._machine, rows=tuple(self._machine.rows[row] for row in rows))
        QGuiApplication.clipboard().setText(chosen.tab_separated())


ChartCommand = tuple[str, Callable[[], object]]


class CopyableChart(Protocol):
    """A chart, whatever it is painted with."""

    theme: Theme
    formatter: Formatter

    def grab(self) -> QPixmap: ...

    def data(self, formatter: Formatter) -> ChartData: ...

    def window(self) -> QWidget: ...


def copy_to_clipboard(charts: list[CopyableChart], picture: QPixmap) -> None:
    """Copy a picture of charts, and their numbers for what takes text."""
    mime = QMimeData()
    mime.setImageData(picture.toImage())
    tables = [chart.data(Formatter(MACHINE_NUMBERS)) for chart in charts]
    mime.setText("\n".join(f"{table.title}\n{table.tab_separated()}" for table in tables))
    QGuiApplication.clipboard().setMimeData(mime)


def copy_picture(chart: CopyableChart) -> None:
    QGuiApplication.clipboard().setPixmap(chart.grab())


def copy_data(chart: CopyableChart) -> None:
    QGuiApplication.clipboard().setText(chart.data(Formatter(MACHINE_NUMBERS)).tab_separated())


def show_data_table(chart: CopyableChart) -> ChartDataDialog:
    texts, machine = chart.data(chart.formatter), chart.data(Formatter(MACHINE_NUMBERS))
    dialog = ChartDataDialog(texts, machine, chart.theme, chart.window())
    dialog.show()
    return dialog


def save_picture(chart: CopyableChart) -> None:
    target = ask_save_path(chart.window(), tr("Save image"), paths.home_dir() / "chart.png", [(tr("Images"), ".png")])
    if target is not None and not chart.grab().save(str(target)):
        QMessageBox.warning(
            chart.window(), tr("Not saved"), tr("Cannot write {file}. Choose another folder", file=target)
        )


def list_chart_commands(chart: CopyableChart) -> list[ChartCommand]:
    return [
        (tr("Copy image"), lambda: copy_picture(chart)),
        (tr("Copy data"), lambda: copy_data(chart)),
        (tr("Show as table"), lambda: show_data_table(chart)),
        (tr("Save image…"), lambda: save_picture(chart)),
    ]


def make_chart_menu(chart: CopyableChart, parent: QWidget, more: list[tuple[ChartCommand, bool]]) -> QMenu:
    """Make the menu of a chart; `more` are commands of its own, each with whether it can be used."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for text, run in list_chart_commands(chart):
        menu.addAction(text).triggered.connect(run)
    if more:
        menu.addSeparator()
    for (text, run), enabled in more:
        action = menu.addAction(text)
        action.triggered.connect(run)
        action.setEnabled(enabled)
    return menu


def find_menu_position(event: QContextMenuEvent, widget: QWidget) -> QPoint:
    """Return where a context menu opens: at the mouse, or for the keyboard in the middle."""
    if event.reason() == QContextMenuEvent.Reason.Keyboard:
        return widget.mapToGlobal(QPoint(widget.width() // 2, widget.height() // 2))
    return event.globalPos()
