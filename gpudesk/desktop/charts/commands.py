"""What every chart can be asked for: its picture, its numbers, its table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QMimeData, QPoint, Qt
from PySide6.QtGui import QContextMenuEvent, QGuiApplication, QPixmap
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QWidget

from gpudesk.desktop.charts.data_table import Data, DataDialog
from gpudesk.desktop.theme.theme import Theme
from gpudesk.domain.formatting import MACHINE, Formatter
from gpudesk.text import tr

Command = tuple[str, Callable[[], object]]


class Shown(Protocol):
    """A chart, whatever it is painted with."""

    theme: Theme
    formatter: Formatter

    def grab(self) -> QPixmap:
        """Return the chart as it stands."""

    def data(self, formatter: Formatter) -> Data:
        """Return the chart's numbers."""

    def window(self) -> QWidget:
        """Return the window that the chart is in."""


def copy(charts: list[Shown], picture: QPixmap) -> None:
    """Copy a picture of charts, and their numbers for what takes text."""
    mime = QMimeData()
    mime.setImageData(picture.toImage())
    tables = [chart.data(Formatter(MACHINE)) for chart in charts]
    mime.setText("\n".join(f"{table.title}\n{table.tab_separated()}" for table in tables))
    QGuiApplication.clipboard().setMimeData(mime)


def copy_picture(chart: Shown) -> None:
    """Copy the chart as it stands."""
    QGuiApplication.clipboard().setPixmap(chart.grab())


def copy_data(chart: Shown) -> None:
    """Copy the numbers for a spreadsheet."""
    QGuiApplication.clipboard().setText(chart.data(Formatter(MACHINE)).tab_separated())


def show_table(chart: Shown) -> DataDialog:
    """Show the numbers in a table."""
    texts, machine = chart.data(chart.formatter), chart.data(Formatter(MACHINE))
    dialog = DataDialog(texts, machine, chart.theme, chart.window())
    dialog.show()
    return dialog


def save_picture(chart: Shown) -> None:
    """Ask for a file and write the chart as it stands."""
    name, _ = QFileDialog.getSaveFileName(chart.window(), tr("Save picture"), "", tr("Pictures (*.png)"))
    if name and not chart.grab().save(str(Path(name).with_suffix(".png"))):
        QMessageBox.warning(
            chart.window(),
            tr("Not saved"),
            tr("{file} cannot be written. Choose another folder", file=Path(name).with_suffix(".png")),
        )


def commands(chart: Shown) -> list[Command]:
    """Return what the context menu offers, in order."""
    return [
        (tr("Copy picture"), lambda: copy_picture(chart)),
        (tr("Copy data"), lambda: copy_data(chart)),
        (tr("Show as table"), lambda: show_table(chart)),
        (tr("Save picture…"), lambda: save_picture(chart)),
    ]


def context_menu(chart: Shown, parent: QWidget, more: list[tuple[Command, bool]]) -> QMenu:
    """Make the menu of a chart; `more` are commands of its own, each with whether it can be used."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    for text, run in commands(chart):
        menu.addAction(text).triggered.connect(run)
    if more:
        menu.addSeparator()
    for (text, run), enabled in more:
        action = menu.addAction(text)
        action.triggered.connect(run)
        action.setEnabled(enabled)
    return menu


def menu_position(event: QContextMenuEvent, widget: QWidget) -> QPoint:
    """Return where a context menu opens: at the mouse, or for the keyboard in the middle."""
    if event.reason() == QContextMenuEvent.Reason.Keyboard:
        return widget.mapToGlobal(QPoint(widget.width() // 2, widget.height() // 2))
    return event.globalPos()
