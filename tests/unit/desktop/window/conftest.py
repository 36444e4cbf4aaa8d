"""Fixtures for tests of the window: a main window over the real service, with four accelerators."""

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
    window = program.open_new_window()
    window.resize(1440, 900)
    window.open_template(FOUR)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield window
    program.end()
