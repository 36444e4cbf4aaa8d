"""About: what this program is made of, to read and to copy into a question or a report."""

from __future__ import annotations

import platform
from collections.abc import Sequence

import PySide6
from PySide6.QtCore import Qt, qVersion
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpudesk import __version__, paths
from gpudesk.desktop.shell.dialogs.licences import Licence, version_of
from gpudesk.desktop.theme.focus_ring import FocusRing
from gpudesk.desktop.theme.icons import program_icon
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.domain.formatting import UNKNOWN
from gpudesk.text import tr
from gpudesk.workbench.workbench import Workbench

#: What a line says, and of what.
Fact = tuple[str, str]

#: As many characters of a revision as tell it from others.
_SHOWN = 16
_WIDTH, _HEIGHT, _ICON = 560.0, 560.0, 48.0


def program_facts(workbench: Workbench) -> list[Fact]:
    """Return what is asked for first when a figure or a fault is looked into."""
    catalog, calibration = workbench.catalog, workbench.calibration
    return [
        (tr("Version"), __version__),
        (tr("Catalog"), tr("{date}, revision {revision}", date=catalog.data_date, revision=catalog.revision)),
        (
            tr("Calibration"),
            tr("{name}, revision {revision}", name=calibration.name, revision=calibration.revision[:_SHOWN]),
        ),
        ("Python", platform.python_version()),
        ("Qt", qVersion()),
        ("PySide6", PySide6.__version__),
        ("NumPy", version_of("numpy") or UNKNOWN),
        ("pyqtgraph", version_of("pyqtgraph") or UNKNOWN),
        (tr("System"), f"{platform.system()} {platform.release()}"),
        (tr("Your data"), str(paths.user_dir())),
    ]


class AboutDialog(QDialog):
    """Shows facts and licences; Copy puts all of it on the clipboard."""

    def __init__(
        self,
        theme: Theme,
        facts: Sequence[Fact],
        licences: Sequence[Licence],
        parent: QWidget | None = None,
    ) -> None:
        """Show what is given."""
        super().__init__(parent)
        self._theme = theme
        self._facts = tuple(facts)
        self._licences = tuple(licences)
        self.setWindowTitle(tr("About GPU Desk"))
        column = QVBoxLayout(self)
        column.setContentsMargins(theme.px(24), theme.px(20), theme.px(24), theme.px(16))
        column.setSpacing(theme.px(12))
        column.addLayout(self._head())
        column.addLayout(self._grid())
        column.addWidget(Label(theme, tr("Works of others, with their licences"), font="section"))
        column.addWidget(self._table(), 1)
        column.addLayout(self._buttons())
        self.resize(theme.px(_WIDTH), theme.px(_HEIGHT))
        self._ring = FocusRing(self, theme)

    @property
    def text(self) -> str:
        """All that is shown, as plain text."""
        facts = [f"{name}: {value}" for name, value in self._facts]
        works = [f"{_work(each)}: {each.licence}" for each in self._licences]
        return "\n".join(["GPU Desk", *facts, "", *works]) + "\n"

    def copy_text(self) -> None:
        """Put all of it on the clipboard, and say so on the button."""
        QGuiApplication.clipboard().setText(self.text)
        self.copy.setText(tr("Copied"))

    def _head(self) -> QHBoxLayout:
        theme = self._theme
        icon = QLabel()
        icon.setPixmap(program_icon().pixmap(theme.px(_ICON)))
        row = QHBoxLayout()
        row.setSpacing(theme.px(16))
        row.addWidget(icon)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(Label(theme, "GPU Desk", font="verdict"))
        about = tr("Compares AI accelerators for one workload, on this computer alone. Apache License 2.0.")
        words.addWidget(Label(theme, about, font="small", colour="text2", wrap=True))
        row.addLayout(words, 1)
        return row

    def _grid(self) -> QGridLayout:
        theme = self._theme
        grid = QGridLayout()
        grid.setHorizontalSpacing(theme.px(16))
        grid.setVerticalSpacing(theme.px(2))
        grid.setColumnStretch(1, 1)
        for line, (name, value) in enumerate(self._facts):
            caption = Label(theme, name, font="small", colour="text3")
            shown = Label(theme, value, font="small", wrap=True)
            shown.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            shown.setAlignment(Qt.AlignmentFlag.AlignTop)
            shown.setAccessibleName(f"{name}: {value}")
            grid.addWidget(caption, line, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(shown, line, 1)
        return grid

    def _table(self) -> QTableWidget:
        theme = self._theme
        table = QTableWidget(len(self._licences), 2)
        table.setAccessibleName(tr("Works of others, with their licences"))
        for line, each in enumerate(self._licences):
            table.setItem(line, 0, QTableWidgetItem(_work(each)))
            licence = QTableWidgetItem(each.licence)
            licence.setToolTip(each.licence)
            table.setItem(line, 1, licence)
        table.setFont(theme.font("small"))
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.px(24))
        table.horizontalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setStretchLastSection(True)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        return table

    def _buttons(self) -> QHBoxLayout:
        self.copy = Button(self._theme, tr("Copy"), icon="copy")
        self.copy.setAutoDefault(False)
        self.copy.clicked.connect(self.copy_text)
        close = Button(self._theme, tr("Close"), kind="primary")
        close.setDefault(True)
        close.clicked.connect(self.accept)
        close.setFocus()
        row = QHBoxLayout()
        row.setSpacing(self._theme.px(8))
        row.addWidget(self.copy)
        row.addStretch(1)
        row.addWidget(close)
        return row


def _work(licence: Licence) -> str:
    return f"{licence.work} {licence.version}".rstrip()
