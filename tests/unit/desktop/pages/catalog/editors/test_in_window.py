"""A figure changed over the real window: everything that depends on it follows, and can be undone."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.editors.value_editor import ValueEditor
from gpudesk.desktop.session.selection import EditorKind, EditorRequest
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.number_edit import ValueEdit
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.service import GpuDeskService
from tests.unit.desktop.pages.catalog.editors.keys import key, tab, typed

PART, NAME = "mi325x", "memory_bandwidth"


@pytest.fixture
def window(qapp: QApplication, bench: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, bench)
    made = program.open_new_window()
    made.open_template("70b-chat-on-four")
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    yield made
    program.end()


def throughput(window: MainWindow) -> float:
    answer = window.desk.answer
    assert answer is not None
    column = window.desk.column(PART)
    assert column is not None
    assert column.estimate is not None
    assert column.estimate.output_tokens_per_s is not None
    return column.estimate.output_tokens_per_s.value


def test_value_is_stated_over_the_window_and_the_answer_follows(window: MainWindow, qtbot: QtBot) -> None:
    before = throughput(window)
    window.catalog.open_editor(EditorRequest(EditorKind.VALUE, thing=PART, attribute=NAME))
    (dialog,) = window.findChildren(ValueEditor)
    qtbot.waitUntil(dialog.isActiveWindow)
    typed("5.3")
    dialog.source.title.focus_control()
    typed("Own run")
    tab()
    key(Qt.Key.Key_Return)
    assert dialog.saved
    window.desk.flush()
    after = throughput(window)
    assert after < before
    assert window.desk.impact is not None
    window.desk.service.user_catalog.undo()
    window.desk.flush()
    assert throughput(window) == before


@pytest.mark.parametrize(
    ("editing", "least"),
    [
        (EditorRequest(EditorKind.ACCELERATOR, thing=PART), 10),
        (EditorRequest(EditorKind.SYSTEM), 3),
        (EditorRequest(EditorKind.STALENESS), 2),
        (EditorRequest(EditorKind.VALUE, thing=PART, attribute=NAME), 1),
        (EditorRequest(EditorKind.PRICE, thing=PART), 1),
    ],
)
def test_typing_replaces_the_number_of_each_field(
    window: MainWindow, qtbot: QtBot, editing: EditorRequest, least: int
) -> None:
    window.catalog.open_editor(editing)
    (dialog,) = (each for each in window.findChildren(QDialog) if each.isVisible())
    qtbot.waitUntil(dialog.isActiveWindow)
    fields = [each for each in dialog.findChildren(ValueEdit) if not each.keeps_text and each.isEnabled()]
    shown = [each for each in fields if each.isVisible()]
    assert len(shown) >= least
    for place, field in enumerate(shown):
        dialog.setFocus()
        field.setText("12")
        if place % 2:
            QTest.mouseClick(field, Qt.MouseButton.LeftButton)
        else:
            field.setFocus(Qt.FocusReason.TabFocusReason)
        typed("7")
        assert field.text() == "7", field.accessibleName()
