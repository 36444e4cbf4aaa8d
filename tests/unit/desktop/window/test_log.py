"""The log: its file, its last lines, lines of another process, and messages of Qt."""

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QMessageLogContext, QtMsgType, qInfo

from gpudesk import paths
from gpudesk.desktop.window.faults import log as module
from gpudesk.desktop.window.faults.log import LAST_LINES, LogFile, QtMessageHandler, read_log_lines, start_log

ROOT = logging.getLogger("gpudesk")


@pytest.fixture(autouse=True)
def _isolate_root_logger() -> Iterator[None]:
    level, before = ROOT.level, list(ROOT.handlers)
    for handler in before:
        ROOT.removeHandler(handler)
    yield
    for handler in list(ROOT.handlers):
        ROOT.removeHandler(handler)
        handler.close()
    for handler in before:
        ROOT.addHandler(handler)
    ROOT.setLevel(level)


@pytest.fixture
def file() -> Path:
    return paths.get_logs_dir() / "gpudesk.log"


def test_log_is_started_once(file: Path) -> None:
    assert start_log() is start_log()
    module.log.info("one line")
    assert file.read_text(encoding="utf-8").count("one line") == 1


def test_last_lines_are_retained_without_a_folder(user_home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    user_home.write_text("no folder")
    last = start_log()
    module.log.info("a line")
    assert last.lines[-1].endswith("a line")
    assert capfd.readouterr().err == ""


def test_deleted_folder_is_ignored(user_home: Path, capfd: pytest.CaptureFixture[str]) -> None:
    start_log()
    (user_home / "logs").rmdir()
    module.log.info("into nothing")
    assert capfd.readouterr().err == ""


@pytest.mark.logs_warnings
def test_first_lines_of_the_last_records_are_retained() -> None:
    last = start_log()
    for number in range(LAST_LINES + 5):
        module.log.error("number %d\nand more\n%s", number, "x" * 5000)
    assert len(last.lines) == LAST_LINES
    assert last.lines[0].endswith("number 5")
    assert f"[{os.getpid()}] ERROR" in last.lines[0]


def test_lines_of_another_process_until_its_end(file: Path) -> None:
    file.parent.mkdir(parents=True)
    end = datetime(2026, 5, 4, 12, 0, 30)  # noqa: DTZ001 - as in the log
    older = [f"2026-05-04 12:00:{second:02},123 [77] INFO a: old {second}" for second in range(20)]
    newer = [
        "2026-05-04 12:00:29,000 [78] INFO a: other",
        "2026-05-04 12:00:30,900 [77] ERROR a: last",
        "Traceback [77]",
        "2026-05-04 12:00:31,000 [77] INFO a: a later process of this number",
    ]
    file.with_name("gpudesk.log.1").write_text("\n".join(older) + "\n")
    file.write_text("\n".join(newer) + "\n")
    assert read_log_lines(77, end) == [*older, newer[1]]
    assert read_log_lines(77, end - timedelta(days=1)) == []
    assert read_log_lines(79, end) == []


class QtLog:
    """The messages of Qt in the log."""

    def __init__(self) -> None:
        self.fatal: list[str] = []
        self.messages = QtMessageHandler(self.fatal.append)
        self.last = start_log()

    def emit(self, kind: QtMsgType, text: str) -> None:
        self.messages.take(kind, QMessageLogContext(), text)

    @property
    def lines(self) -> list[str]:
        return [line.partition("] ")[2] for line in self.last.lines]


NAME = "gpudesk.desktop.window.faults.log"


@pytest.mark.logs_warnings
def test_repeated_qt_message_is_counted() -> None:
    qt_log = QtLog()
    for _ in range(1000):
        qt_log.emit(QtMsgType.QtWarningMsg, "QPainter::begin: no")
    assert qt_log.lines[0] == f"WARNING {NAME}: Qt, default: QPainter::begin: no"
    assert qt_log.lines[-1] == f"WARNING {NAME}: Qt, default: QPainter::begin: no (512 times)"
    assert len(qt_log.lines) == 10
    assert qt_log.fatal == []


@pytest.mark.logs_warnings
def test_fatal_qt_message_is_reported_first() -> None:
    qt_log = QtLog()
    qt_log.emit(QtMsgType.QtFatalMsg, "no platform")
    assert qt_log.fatal == ["no platform"]
    assert qt_log.lines == [f"CRITICAL {NAME}: Qt, default: no platform"]


@pytest.mark.parametrize(
    "text",
    [
        "This plugin does not support raise()",
        'Could not find accessible on path: "/org/a11y/atspi/accessible/2147487128"',
    ],
)
def test_harmless_qt_warning_is_dropped(text: str) -> None:
    qt_log = QtLog()
    qt_log.emit(QtMsgType.QtWarningMsg, text)
    assert qt_log.lines == []


def test_former_message_handler_is_still_called() -> None:
    former_texts: list[str] = []
    former = QtMessageHandler(lambda _: None)
    former.take = lambda *arguments: former_texts.append(arguments[2])  # type: ignore[method-assign]
    former.install()
    try:
        qt_log = QtLog()
        qt_log.messages.install()
        qInfo("to both")
        qt_log.messages.remove()
        qInfo("to one")
    finally:
        former.remove()
    assert former_texts == ["to both", "to one"]
    assert qt_log.lines == [f"INFO {NAME}: Qt, default: to both"]


def test_large_log_is_rotated_at_the_next_start(file: Path) -> None:
    file.parent.mkdir(parents=True)
    for number in range(5):
        file.write_text(f"{number}" * (1 << 20) + "and more")
        start_log()
        module.log.info("after %d", number)
        assert "after" in file.read_text(encoding="utf-8")
        assert file.stat().st_size < 200
        for handler in list(ROOT.handlers):
            ROOT.removeHandler(handler)
            handler.close()
    names = sorted(each.name for each in file.parent.iterdir())
    assert names == ["gpudesk.log", "gpudesk.log.1", "gpudesk.log.2", "gpudesk.log.3"]
    assert [file.with_name(name).read_text()[0] for name in names[1:]] == ["4", "3", "2"]


def test_log_imports_no_socket_module() -> None:
    program = "import sys, gpudesk.desktop.window.faults.reporter; print('socket' in sys.modules)"
    completed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert completed.stdout.strip() == "False"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipe_at_the_path_of_the_log_is_renamed(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "gpudesk.log")
    handler = LogFile(tmp_path / "gpudesk.log")
    handler.emit(logging.makeLogRecord({"msg": "a line"}))
    handler.close()
    assert "a line" in (tmp_path / "gpudesk.log").read_text()
    assert (tmp_path / "gpudesk.log.1").is_fifo()
