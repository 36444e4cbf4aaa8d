"""A desk over a service that writes to a real file of the user's, and keys for its forms."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.editors.form import FormDialog
from gpudesk.desktop.session.desk import Desk
from gpudesk.documents.scenario_file import read_template
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter
from tests.unit.desktop.pages.catalog.editors.keys import Show


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GPUDESK_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "catalog.sqlite"


@pytest.fixture
def bench(own_file: Path) -> Iterator[GpuDeskService]:
    with GpuDeskService.open() as opened:
        yield opened


@pytest.fixture
def desk(bench: GpuDeskService, qtbot: QtBot) -> Desk:
    made = Desk(bench, Formatter(ENGLISH_NUMBERS))
    made.open(read_template("70b-chat-on-four"))
    return made


def put_away(dialog: FormDialog) -> None:
    """Let a form go at the end of a test without a question."""
    dialog.done(0)


@pytest.fixture
def show(qtbot: QtBot) -> Show:
    """Return what shows a form and waits until keys reach it."""

    def shown(dialog: FormDialog) -> None:
        qtbot.addWidget(dialog, before_close_func=put_away)
        dialog.show()
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)

    return shown


@pytest.fixture
def answer_box(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    def answering(button: str) -> list[str]:
        asked: list[str] = []

        def press(box: QMessageBox) -> int:
            asked.append(f"{box.text()} {box.informativeText()}")
            wanted = next(each for each in box.buttons() if each.text() == button)
            wanted.click()
            return 0

        monkeypatch.setattr(QMessageBox, "exec", press)
        return asked

    return answering
