"""The installation check: the self-test in a separate process, and its result."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QProgressBar, QWidget

from gpudesk.desktop.ui.tables.data_table import TextTable
from gpudesk.desktop.ui.theme.focus_ring import ThemedDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import Button, CopyButton
from gpudesk.desktop.ui.widgets.layouts import STRETCH, ThemedLabel, make_column, make_row
from gpudesk.files import read_side_file
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.data_table import DataCell
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr, trn

#: Milliseconds until a terminated process must have ended.
_PATIENCE_MS: Final = 2000
_MOST_BYTES: Final = 1 << 20


@frozen_dataclass
class InstallationCheckLine:
    """One check: its label, its outcome (`ok`, `warning`, `failed`), its finding."""

    name: str
    outcome: str
    finding: str
    seconds: float


@frozen_dataclass
class InstallationVerdict:
    """The overall result; `text` is for the clipboard."""

    sentence: str
    ok: bool
    checks: tuple[InstallationCheckLine, ...]
    text: str


def make_self_test_command() -> list[str]:
    if getattr(sys, "frozen", False):
        return [*_find_loader(), sys.executable, "--self-test"]
    # -P: a folder of the same name in the working directory is not imported.
    return [sys.executable, "-P", "-m", "gpudesk", "--self-test"]


def _find_loader() -> list[str]:
    """Return the Linux loader if it runs the program: some removable drives have no executable bits."""
    running = Path("/proc/self/exe")
    if os.access(sys.executable, os.X_OK) or not running.exists():
        return []
    return [str(running.readlink())]


class InstallationCheck(QObject):
    """One run of the self-test. It reports progress, and finally exactly one of two signals."""

    #: The number of completed checks.
    advanced = Signal(int)
    #: All are done: a `Verdict`.
    ended = Signal(object)
    #: It failed to run: the reason, and its output.
    failed = Signal(str, str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._output = ""
        self._process = QProcess(self)
        self._process.setProcessChannelMode(QProcess.ProcessChannelMode.MergedChannels)
        self._process.readyReadStandardOutput.connect(self._read_output)
        self._process.finished.connect(self._finished)
        self._process.errorOccurred.connect(self._error)

    @property
    def running(self) -> bool:
        return self._folder is not None

    def start(self, command: list[str] | None = None) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="gpudesk-", ignore_cleanup_errors=True)
        program, *arguments = command or make_self_test_command()
        environment = QProcessEnvironment.systemEnvironment()
        # The executable would otherwise be taken for a child process of a frozen program.
        environment.insert("PYINSTALLER_RESET_ENVIRONMENT", "1")
        environment.insert("PYTHONIOENCODING", "utf-8")
        self._process.setProcessEnvironment(environment)
        self._process.start(program, [*arguments, "-o", str(self._get_result_path(self._folder))])

    def stop(self) -> None:
        """Terminate it silently; no effect if it has ended."""
        if self.running:
            self._drop_folder()
            self._process.kill()
            self._process.waitForFinished(_PATIENCE_MS)

    @staticmethod
    def _get_result_path(folder: tempfile.TemporaryDirectory[str]) -> Path:
        return Path(folder.name) / "result.json"

    def _read_output(self) -> None:
        self._output += bytes(self._process.readAllStandardOutput().data()).decode("utf-8", "replace")
        # The first line identifies the program.
        self.advanced.emit(max(0, self._output.count("\n") - 1))

    def _error(self, error: QProcess.ProcessError) -> None:
        if error == QProcess.ProcessError.FailedToStart and self.running:
            self._drop_folder()
            self.failed.emit(self._process.errorString(), "")

    def _finished(self, code: int, _status: QProcess.ExitStatus) -> None:
        if self._folder is None:
            return
        verdict = _read_verdict(self._get_result_path(self._folder))
        self._drop_folder()
        if verdict is not None:
            self.ended.emit(verdict)
        else:
            self.failed.emit(tr("the check stopped with exit code {code}", code=code), self._output)

    def _drop_folder(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
        self._folder = None


def _read_verdict(file: Path) -> InstallationVerdict | None:
    """Return the output of a self-test, None if missing or invalid."""
    try:
        side_file = read_side_file(file, _MOST_BYTES)
        checks = tuple(
            InstallationCheckLine(str(each["check"]), str(each["outcome"]), str(each["found"]), float(each["seconds"]))
            for each in side_file["checks"]
        )
        return InstallationVerdict(str(side_file["verdict"]), bool(side_file["ok"]), checks, str(side_file["text"]))
    except (InputError, ValueError, LookupError, TypeError):
        return None


def format_progress(check_count: int) -> str:
    if not check_count:
        return tr("Checking the installation. This takes a few seconds.")
    return trn("{n} check completed.", "{n} checks completed.", check_count)


_WIDTH, _HEIGHT = 680.0, 540.0
#: Icon of an outcome.
_ICONS: Final = {"ok": "circle-check", "warning": "triangle-alert", "failed": "circle-alert"}


class InstallationDialog(ThemedDialog):
    """Shows the progress of the check, then the findings. Closing it cancels a running check."""

    manual_topic = "troubleshooting#window"

    def __init__(self, theme: Theme, parent: QWidget | None = None, command: list[str] | None = None) -> None:
        super().__init__(theme, tr("Installation check"), (_WIDTH, _HEIGHT), parent)
        self.text = ""
        self.status_label = ThemedLabel(theme, format_progress(0), font="section", wrap=True)
        self.table = TextTable(
            theme, tr("Checks"), [tr("Check"), tr("Result"), tr("Time")], numbers=(2,), giving=(1,), scrolls=True
        )
        self.copy = CopyButton(self._theme, tr("Copy"), lambda: self.text)
        self.copy.setEnabled(False)
        self.leave = Button(self._theme, tr("Cancel"), self.reject, kind="primary")
        px = self._theme.px
        # Indeterminate: the number of checks is known only at the end.
        self.bar = QProgressBar()
        self.bar.setRange(0, 0)
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(px(4))
        self.bar.setAccessibleName(tr("Checking the installation"))
        foot = make_row(self.copy, STRETCH, self.leave, gap=px(8))
        make_column(
            self.status_label,
            self.bar,
            (self.table, 1),
            foot,
            gap=px(12),
            margins=(px(24), px(20), px(24), px(16)),
            on=self,
        )
        self.check = InstallationCheck(self)
        self.check.advanced.connect(lambda check_count: self.status_label.setText(format_progress(check_count)))
        self.check.ended.connect(self._show)
        self.check.failed.connect(self._fail)
        self.leave.setFocus()
        self.check.start(command)

    def hideEvent(self, event: QHideEvent) -> None:
        self.check.stop()
        super().hideEvent(event)

    # Content

    def _show(self, verdict: InstallationVerdict) -> None:
        self._end(verdict.sentence, verdict.text)
        self.table.set_cells({str(place): _make_cells(check) for place, check in enumerate(verdict.checks)})
        wrong = [place for place, check in enumerate(verdict.checks) if check.outcome != "ok"]
        self.table.choose_row(str(wrong[0] if wrong else 0))

    def _fail(self, reason: str, output: str) -> None:
        text = tr("Installation check failed: {reason}. Reinstall GPU Desk.", reason=reason)
        self._end(text, f"{text}\n{output}")

    def _end(self, result_text: str, text: str) -> None:
        self.text = text
        self.status_label.setText(result_text)
        self.bar.hide()
        self.copy.setEnabled(True)
        self.leave.setText(tr("Close"))


def _make_cells(check: InstallationCheckLine) -> list[DataCell]:
    icon, outcome = _ICONS.get(check.outcome, _ICONS["failed"]), _label_outcome(check.outcome)
    seconds = tr("{seconds} s", seconds=f"{check.seconds:.2f}")
    return [
        DataCell(check.name, icon=icon, sentence=f"{check.name}: {outcome}"),
        DataCell(check.finding),
        DataCell(seconds, is_quiet=True),
    ]


def _label_outcome(outcome: str) -> str:
    return {"ok": tr("ok"), "warning": tr("warning")}.get(outcome, tr("failed"))
