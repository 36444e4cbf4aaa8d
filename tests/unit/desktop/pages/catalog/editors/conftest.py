"""Fixtures for tests of editors: a desk over a service with a real user file, and answers to message boxes."""

from collections.abc import Callable

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
def desk(user_service: GpuDeskService, qtbot: QtBot) -> Desk:
    desk = Desk(user_service, Formatter(ENGLISH_NUMBERS))
    desk.open(read_template("70b-chat-on-four"))
    return desk


def close_form(dialog: FormDialog) -> None:
    """Close a form without a question."""
    dialog.done(0)


@pytest.fixture
def show(qtbot: QtBot) -> Show:
    """Return a function that shows a form and waits until keys reach it."""

    def show_dialog(dialog: FormDialog) -> None:
        qtbot.addWidget(dialog, before_close_func=close_form)
        dialog.show()
        dialog.activateWindow()
        qtbot.waitUntil(dialog.isActiveWindow)

    return show_dialog


@pytest.fixture
def answer_box(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    def answer_boxes(button: str) -> list[str]:
        questions: list[str] = []

        def press(box: QMessageBox) -> int:
            questions.append(f"{box.text()} {box.informativeText()}")
            next(each for each in box.buttons() if each.text() == button).click()
            return 0

        monkeypatch.setattr(QMessageBox, "exec", press)
        return questions

    return answer_boxes
