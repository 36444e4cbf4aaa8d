"""The check of the installation: it runs while one can go on looking, and its result can be copied."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication, QHideEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpudesk.desktop.session.installation_check import (
    Checked,
    InstallationCheck,
    Verdict,
    progress_text,
)
from gpudesk.desktop.shell.geometry import take_size
from gpudesk.desktop.theme.focus_ring import FocusRing
from gpudesk.desktop.theme.theme import Theme
from gpudesk.desktop.widgets.buttons import Button
from gpudesk.desktop.widgets.label import Label
from gpudesk.desktop.widgets.plain_list import show_as_list
from gpudesk.text import tr

_WIDTH, _HEIGHT = 680.0, 540.0
#: White above and below what a row says, and beside a name; the share of the width that names may have.
_AROUND, _GAP, _NAMES = 6.0, 12.0, 0.4
#: Icon and colour of how a check came out.
_MARKS: Final = {
    "ok": ("circle-check", "best_text"),
    "warning": ("triangle-alert", "disputed_text"),
    "failed": ("circle-alert", "unfit"),
}


class InstallationDialog(QDialog):
    """Shows how far the check is, then what it found. Closing it ends a check that still runs."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, command: list[str] | None = None) -> None:
        """Begin the check; `command` runs another one, for tests."""
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        self.setWindowTitle(tr("Check of the installation"))
        self.said = Label(theme, progress_text(0), font="section", wrap=True)
        self.table = self._make_table()
        self._make_buttons()
        self._lay_out()
        self._ring = FocusRing(self, theme)
        self.check = InstallationCheck(self)
        self.check.advanced.connect(lambda done: self.said.setText(progress_text(done)))
        self.check.ended.connect(self._show)
        self.check.failed.connect(self._fail)
        take_size(self, theme.px(_WIDTH), theme.px(_HEIGHT))
        self.leave.setFocus()
        self.check.start(command)

    @property
    def text(self) -> str:
        """What is copied, empty while there is no result."""
        return self._text

    def copy_text(self) -> None:
        """Put the result on the clipboard, and say so on the button."""
        QGuiApplication.clipboard().setText(self._text)
        self.copy.setText(tr("Copied"))

    def resizeEvent(self, event: QResizeEvent) -> None:  # noqa: N802 - Qt's name
        """Break what was found anew."""
        super().resizeEvent(event)
        self._fit()

    def hideEvent(self, event: QHideEvent) -> None:  # noqa: N802 - Qt's name
        """End the check with the dialog."""
        self.check.stop()
        super().hideEvent(event)

    # Making it

    def _make_table(self) -> QTableWidget:
        theme = self._theme
        table = QTableWidget(0, 3)
        table.setAccessibleName(tr("Checks"))
        table.setFont(theme.font("small"))
        table.setIconSize(QSize(theme.px(16), theme.px(16)))
        show_as_list(table, [tr("Check"), tr("Found"), tr("Time taken")])
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        table.verticalHeader().setMinimumSectionSize(1)
        return table

    def _make_buttons(self) -> None:
        self.copy = Button(self._theme, tr("Copy"), icon="copy")
        self.copy.setAutoDefault(False)
        self.copy.setEnabled(False)
        self.copy.clicked.connect(self.copy_text)
        self.leave = Button(self._theme, tr("Cancel"), kind="primary")
        self.leave.setDefault(True)
        self.leave.clicked.connect(self.reject)

    def _lay_out(self) -> None:
        px = self._theme.px
        # Without ends: how many checks there are is not known before the last.
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(px(4))
        self.bar.setAccessibleName(tr("The installation is being checked"))
        foot = QHBoxLayout()
        foot.setSpacing(px(8))
        foot.addWidget(self.copy)
        foot.addStretch(1)
        foot.addWidget(self.leave)
        column = QVBoxLayout(self)
        column.setContentsMargins(px(24), px(20), px(24), px(16))
        column.setSpacing(px(12))
        column.addWidget(self.said)
        column.addWidget(self.bar)
        column.addWidget(self.table, 1)
        column.addLayout(foot)

    # Filling it

    def _show(self, verdict: Verdict) -> None:
        self._end(verdict.said, verdict.text)
        self.table.setRowCount(len(verdict.checks))
        for row, check in enumerate(verdict.checks):
            self._fill_row(row, check)
        wrong = [row for row, check in enumerate(verdict.checks) if check.outcome != "ok"]
        self.table.selectRow(wrong[0] if wrong else 0)
        self._fit()

    def _fail(self, reason: str, output: str) -> None:
        said = tr("The installation could not be checked: {reason}. Install GPU Desk again.", reason=reason)
        self._end(said, f"{said}\n{output}")

    def _end(self, said: str, text: str) -> None:
        self._text = text
        self.said.setText(said)
        self.bar.hide()
        self.copy.setEnabled(True)
        self.leave.setText(tr("Close"))

    def _fill_row(self, row: int, check: Checked) -> None:
        icon, colour = _MARKS.get(check.outcome, _MARKS["failed"])
        name = QTableWidgetItem(self._theme.icon(icon, colour), check.name)
        name.setData(Qt.ItemDataRole.AccessibleTextRole, f"{check.name}: {_word(check.outcome)}")
        name.setToolTip(_word(check.outcome))
        found = QTableWidgetItem(check.found)
        found.setToolTip(check.found)
        seconds = QTableWidgetItem(tr("{seconds} s", seconds=f"{check.seconds:.2f}"))
        seconds.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        seconds.setForeground(self._theme.colour("text3"))
        for column, item in enumerate((name, found, seconds)):
            self.table.setItem(row, column, item)

    def _fit(self) -> None:
        """Give names what they need, within bounds, and each row the height of what it says."""
        table, px = self.table, self._theme.px
        table.resizeColumnToContents(0)
        table.resizeColumnToContents(2)
        most = int(table.viewport().width() * _NAMES)
        table.setColumnWidth(0, min(table.columnWidth(0) + px(_GAP), most))
        table.resizeRowsToContents()
        for row in range(table.rowCount()):
            table.setRowHeight(row, table.rowHeight(row) + px(_AROUND))


def _word(outcome: str) -> str:
    return {"ok": tr("ok"), "warning": tr("warning")}.get(outcome, tr("failed"))
