"""What tests of imports share: a service over a user's file of their own, a window on it, and files."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.service import GpuDeskService
from tests.llama_config import LLAMA

FOUR = "70b-chat-on-four"


@pytest.fixture
def own_window(qapp: QApplication, user_service: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, user_service)
    made = program.open_new_window()
    made.resize(1440, 900)
    made.open_template(FOUR)
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    yield made
    program.end()


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    path = tmp_path / "My-Llama" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA))
    return path
