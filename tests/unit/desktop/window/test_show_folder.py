"""Opening folders in the system's file manager, and what happens without one."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.backups import BackupsDialog
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.note_bar import NoteAction, free_child_library_path, show_folder
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.service import GpuDeskService
from gpudesk.text.formatting import ENGLISH_NUMBERS, Formatter

FORMER_PATH = "/usr/lib/their-own"


class Notes:
    """The notes that were shown, and their actions."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.actions: list[NoteAction] = []

    def __call__(self, text: str, actions: Sequence[NoteAction]) -> None:
        self.texts.append(text)
        self.actions += actions


@pytest.fixture
def no_file_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _: False)


def test_folder_is_created_and_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    urls: list[QUrl] = []

    def open_url(url: QUrl) -> bool:
        urls.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    notes, folder = Notes(), tmp_path / "new here" / "näher"
    assert show_folder(folder, notes)
    assert Path(urls[0].toLocalFile()) == folder
    assert folder.is_dir()
    assert notes.texts == []


@pytest.mark.usefixtures("no_file_manager")
def test_path_is_copied_without_a_file_manager(tmp_path: Path, qtbot: QtBot) -> None:
    notes = Notes()
    assert not show_folder(tmp_path, notes)
    assert notes.texts == [f"No file manager found. The folder is {tmp_path}."]
    ((title, copy),) = notes.actions
    copy()
    assert title == "Copy path"
    assert QGuiApplication.clipboard().text() == str(tmp_path)


def test_failure_to_create_the_folder_is_reported(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "file").write_text("")
    notes = Notes()
    assert not show_folder(tmp_path / "file" / "logs", notes)
    assert notes.texts == [f"Cannot create folder {tmp_path / 'file' / 'logs'}: not a directory."]


@pytest.mark.usefixtures("no_file_manager")
def test_folder_of_logs_is_named_in_the_note(window: MainWindow, user_home: Path) -> None:
    window.program.open_logs()
    assert str(user_home / "logs") in window.note.text
    assert (user_home / "logs").is_dir()


@pytest.mark.usefixtures("no_file_manager")
def test_path_of_backups_is_copied_without_a_file_manager(
    theme: Theme, user_service: GpuDeskService, user_home: Path, qtbot: QtBot
) -> None:
    dialog = BackupsDialog(theme, user_service.user_catalog, Formatter(ENGLISH_NUMBERS))
    qtbot.addWidget(dialog)
    dialog.folder.click()
    assert str(user_home) in dialog.note.text
    assert dialog.folder.text() == "Copy path"
    dialog.folder.click()
    assert QGuiApplication.clipboard().text().startswith(str(user_home))


@pytest.mark.parametrize("had_one", [True, False])
def test_child_of_a_frozen_program_gets_its_own_library_path(monkeypatch: pytest.MonkeyPatch, had_one: bool) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/gpudesk/_internal")
    monkeypatch.setenv("QT_PLUGIN_PATH", "/opt/gpudesk/_internal/PySide6/Qt/plugins")
    if had_one:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", FORMER_PATH)
    free_child_library_path()
    assert os.environ.get("LD_LIBRARY_PATH") == (FORMER_PATH if had_one else None)
    assert "QT_PLUGIN_PATH" not in os.environ
    assert "LD_LIBRARY_PATH_ORIG" not in os.environ


def test_environment_is_unchanged_unless_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", FORMER_PATH)
    free_child_library_path()
    assert os.environ["LD_LIBRARY_PATH"] == FORMER_PATH
