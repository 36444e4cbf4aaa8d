"""Fixtures for tests of imports: a window over a service with a real user file, and a model configuration."""

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
def user_window(qapp: QApplication, user_service: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, user_service)
    main_window = program.open_new_window()
    main_window.resize(1440, 900)
    main_window.open_template(FOUR)
    main_window.activateWindow()
    qtbot.waitUntil(main_window.isActiveWindow)
    yield main_window
    program.end()


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    path = tmp_path / "My-Llama" / "config.json"
    path.parent.mkdir()
    path.write_text(json.dumps(LLAMA))
    return path
