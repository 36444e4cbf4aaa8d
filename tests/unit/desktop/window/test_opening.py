"""Folders in the system's file manager, and what is said where none exists."""

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

FORMER = "/usr/lib/their-own"


class Said:
    """What was said, and offered."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.remedies: list[NoteAction] = []

    def __call__(self, text: str, remedies: Sequence[NoteAction]) -> None:
        self.texts.append(text)
        self.remedies += remedies


@pytest.fixture
def no_manager(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _: False)


def test_a_folder_is_made_and_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> None:
    shown: list[QUrl] = []

    def show(url: QUrl) -> bool:
        shown.append(url)
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", show)
    said, folder = Said(), tmp_path / "new here" / "näher"
    assert show_folder(folder, said)
    assert Path(shown[0].toLocalFile()) == folder
    assert folder.is_dir()
    assert said.texts == []


@pytest.mark.usefixtures("no_manager")
def test_without_a_file_manager_the_path_is_said_and_copied(tmp_path: Path, qtbot: QtBot) -> None:
    said = Said()
    assert not show_folder(tmp_path, said)
    assert said.texts == [f"No file manager found. The folder is {tmp_path}."]
    ((title, copy),) = said.remedies
    copy()
    assert title == "Copy path"
    assert QGuiApplication.clipboard().text() == str(tmp_path)


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "file").write_text("")
    said = Said()
    assert not show_folder(tmp_path / "file" / "logs", said)
    assert said.texts == [f"Cannot create folder {tmp_path / 'file' / 'logs'}: not a directory."]


@pytest.mark.usefixtures("no_manager")
def test_the_folder_of_logs_is_named_in_the_note(window: MainWindow, user_home: Path) -> None:
    window.program.open_logs()
    assert str(user_home / "logs") in window.note.text
    assert (user_home / "logs").is_dir()


@pytest.mark.usefixtures("no_manager")
def test_the_folder_of_backups_can_be_copied_where_it_cannot_be_shown(
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
def test_what_a_frozen_program_starts_finds_its_own_libraries(monkeypatch: pytest.MonkeyPatch, had_one: bool) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/gpudesk/_internal")
    monkeypatch.setenv("QT_PLUGIN_PATH", "/opt/gpudesk/_internal/PySide6/Qt/plugins")
    if had_one:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", FORMER)
    free_child_library_path()
    assert os.environ.get("LD_LIBRARY_PATH") == (FORMER if had_one else None)
    assert "QT_PLUGIN_PATH" not in os.environ
    assert "LD_LIBRARY_PATH_ORIG" not in os.environ


def test_a_program_that_is_not_frozen_keeps_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LD_LIBRARY_PATH", FORMER)
    free_child_library_path()
    assert os.environ["LD_LIBRARY_PATH"] == FORMER
