"""Runs the program as a user does: its commands here or in a process of their own, and a user at its window."""

import gc
import io
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.cli.main import main
from gpudesk.desktop.window.faults.log import LastLines, LogFile
from gpudesk.desktop.window.faults.reporter import FaultReporter
from gpudesk.desktop.window.file_actions import FileActions
from gpudesk.documents.scenario_file import read_template, write_scenario
from gpudesk.text import translation
from tests.e2e.window_user import User

Completed = subprocess.CompletedProcess[str]
RunProgram = Callable[..., Completed]
StartProgram = Callable[..., None]


@pytest.fixture(autouse=True)
def _no_hints(monkeypatch: pytest.MonkeyPatch) -> None:
    """Show no hints of the first use: every test here is one."""
    monkeypatch.setattr("gpudesk.desktop.window.start_page.FirstHints.show_next", lambda _hints: None)


@pytest.fixture
def gpudesk(tmp_path: Path, qapp: QApplication) -> RunProgram:
    """Return what runs `gpudesk` in this process, in a tenth of the time of a start, and gives its output.

    With the application there, no command that draws makes one that windows of later tests could not use.
    """

    def run(*arguments: str, stdin: str = "", environment: Mapping[str, str] | None = None) -> Completed:
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        with pytest.MonkeyPatch.context() as patch:
            for name, value in {**_settings(tmp_path), **(environment or {})}.items():
                patch.setenv(name, value)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8"))
            patch.setattr(sys, "stdout", out)
            patch.setattr(sys, "stderr", err)
            translation.set_language(None)
            code = main(arguments)
        translation.set_language(None)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read())
        return Completed(arguments, code, *texts)

    return run


@pytest.fixture
def gpudesk_process(tmp_path: Path) -> RunProgram:
    """Return what runs `gpudesk` with arguments in a process of its own and gives its output."""

    def run(*arguments: str, stdin: str = "", environment: Mapping[str, str] | None = None) -> Completed:
        return subprocess.run(
            [sys.executable, "-m", "gpudesk", *arguments],
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, **_settings(tmp_path), **(environment or {})},
            timeout=120,
            check=False,
        )

    return run


def _settings(folder: Path) -> dict[str, str]:
    home = str(folder / "home")
    return {"GPUDESK_HOME": home, "GPUDESK_LANGUAGE": "en", "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def program(qtbot: QtBot, qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> StartProgram:
    """Return what starts the program in this process and lets a user do something at its window.

    The program's own event loop runs meanwhile. What the user leaves open is closed without a question, and
    no fault may have been reported.
    """
    user = User(qtbot, monkeypatch)
    monkeypatch.setattr(FaultReporter, "show", lambda *arguments_of_call: user.reports.append(arguments_of_call[-1]))

    def start(do: Callable[[User], object], *arguments: str) -> None:
        raised: list[BaseException] = []
        asks = FileActions.may_close

        def act() -> None:
            try:
                user.until(lambda: user.windows and QApplication.activeWindow() is not None)
                do(user)
            except BaseException as error:  # noqa: BLE001 - raised again outside of Qt
                raised.append(error)
            finally:
                user.leave()
                monkeypatch.setattr(FileActions, "may_close", lambda _: True)
                while (modal := QApplication.activeModalWidget()) is not None:
                    modal.close()
                for window in user.windows:
                    window.close()
                if raised:
                    qapp.exit(1)

        QTimer.singleShot(0, qapp, act)
        code = main(list(arguments))
        monkeypatch.setattr(FileActions, "may_close", asks)
        if raised:
            raise raised[0]
        assert code == 0
        assert user.reports == []

    return start


@pytest.fixture(autouse=True)
def log_of_its_own() -> Iterator[None]:
    """Release the log file that a program run in this process opened, and of its garbage collection."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    logger = logging.getLogger("gpudesk")
    for handler in list(logger.handlers):
        if isinstance(handler, LogFile | LastLines):
            logger.removeHandler(handler)
            handler.close()
    logger.setLevel(logging.NOTSET)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "chat.gpudesk"
    write_scenario(read_template("70b-chat-on-four"), path)
    return path
