"""What tests of the shell share: a desk with four accelerators, and a window over the real service."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.service import GpuDeskService

FOUR = "70b-chat-on-four"


@pytest.fixture
def window(qapp: QApplication, service: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, service)
    made = program.open_new_window()
    made.resize(1440, 900)
    made.open_template(FOUR)
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    yield made
    program.end()
