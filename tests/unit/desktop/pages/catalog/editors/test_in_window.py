"""An edit of a figure in the window: dependent results follow, and can be undone."""

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
from tests.unit.desktop.pages.catalog.editors.keys import press_key, press_tab, type_text

ACCELERATOR, NAME = "mi325x", "memory_bandwidth"


@pytest.fixture
def window(qapp: QApplication, user_service: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, user_service)
    main_window = program.open_new_window()
    main_window.open_template("70b-chat-on-four")
    main_window.activateWindow()
    qtbot.waitUntil(main_window.isActiveWindow)
    yield main_window
    program.end()


def get_throughput(window: MainWindow) -> float:
    answer = window.desk.answer
    assert answer is not None
    column = window.desk.column(ACCELERATOR)
    assert column is not None
    assert column.estimate is not None
    assert column.estimate.output_tokens_per_s is not None
    return column.estimate.output_tokens_per_s.value


def test_new_value_updates_the_answer(window: MainWindow, qtbot: QtBot) -> None:
    before = get_throughput(window)
    window.catalog.open_editor(EditorRequest(EditorKind.VALUE, thing=ACCELERATOR, attribute=NAME))
    (dialog,) = window.findChildren(ValueEditor)
    qtbot.waitUntil(dialog.isActiveWindow)
    type_text("5.3")
    dialog.source.title.focus_control()
    type_text("Own run")
    press_tab()
    press_key(Qt.Key.Key_Return)
    assert dialog.saved
    window.desk.flush()
    after = get_throughput(window)
    assert after < before
    assert window.desk.impact is not None
    window.desk.service.user_catalog.undo()
    window.desk.flush()
    assert get_throughput(window) == before


@pytest.mark.parametrize(
    ("editor_request", "least"),
    [
        (EditorRequest(EditorKind.ACCELERATOR, thing=ACCELERATOR), 10),
        (EditorRequest(EditorKind.SYSTEM), 3),
        (EditorRequest(EditorKind.STALENESS), 2),
        (EditorRequest(EditorKind.VALUE, thing=ACCELERATOR, attribute=NAME), 1),
        (EditorRequest(EditorKind.PRICE, thing=ACCELERATOR), 1),
    ],
)
def test_typing_replaces_the_number_of_each_field(
    window: MainWindow, qtbot: QtBot, editor_request: EditorRequest, least: int
) -> None:
    window.catalog.open_editor(editor_request)
    (dialog,) = (each for each in window.findChildren(QDialog) if each.isVisible())
    qtbot.waitUntil(dialog.isActiveWindow)
    fields = [each for each in dialog.findChildren(ValueEdit) if not each.keeps_text and each.isEnabled()]
    visible_fields = [each for each in fields if each.isVisible()]
    assert len(visible_fields) >= least
    for position, field in enumerate(visible_fields):
        dialog.setFocus()
        field.setText("12")
        if position % 2:
            QTest.mouseClick(field, Qt.MouseButton.LeftButton)
        else:
            field.setFocus(Qt.FocusReason.TabFocusReason)
        type_text("7")
        assert field.text() == "7", field.accessibleName()
