"""The user's catalog file in the window: backups, and what happens when the file is unusable."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from gpudesk import paths
from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.catalog.user_store.user_catalog import UserCatalog
from gpudesk.catalog.user_store.user_file import UserFile
from gpudesk.desktop.pages.catalog.backups import BackupsDialog
from gpudesk.desktop.pages.catalog.editors.value_editor import ValueEditor
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.window.app import DesktopProgram
from gpudesk.desktop.window.catalog_link import show_backups, show_user_file_problem
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.service import GpuDeskService
from tests.unit.catalog.user_samples import QUOTE, RENT, step
from tests.unit.desktop.window.conftest import FOUR


@pytest.fixture
def user_window(qapp: QApplication, user_service: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, user_service)
    main_window = program.open_new_window()
    main_window.resize(1280, 800)
    main_window.open_template(FOUR)
    yield main_window
    program.end()


def set_power(service: GpuDeskService, watts: int) -> None:
    source = make_user_source(f"Note {watts}")
    service.user_catalog.do(state_value(service.catalog, "mi300x", "tdp", watts, "W", source, today="2026-11-21"))


def get_power(service: GpuDeskService) -> object:
    return service.catalog.attribute("mi300x", "tdp").value


def open_backups(window: MainWindow, qtbot: QtBot) -> BackupsDialog:
    show_backups(window)
    dialog = window.findChild(BackupsDialog)
    assert dialog is not None
    qtbot.waitExposed(dialog)
    return dialog


def read_rows(dialog: BackupsDialog) -> list[list[str]]:
    return [list(texts[1:]) for texts in dialog.table.texts()]


def find_button(window: MainWindow, text: str) -> QPushButton:
    return next(each for each in window.note.findChildren(QPushButton) if each.text() == text)


def test_empty_list_of_backups_has_a_hint(user_window: MainWindow, qtbot: QtBot) -> None:
    dialog = open_backups(user_window, qtbot)
    assert read_rows(dialog) == []
    assert dialog.status_label.text().startswith("No backups yet.")
    assert not dialog.restore.isEnabled()


def test_backup_is_restored_by_keyboard(user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot) -> None:
    set_power(user_service, 640)
    set_power(user_service, 650)
    dialog = open_backups(user_window, qtbot)
    before = len(dialog.table.selectionModel().selectedRows())
    assert before == 1
    restored = dialog.chosen
    assert restored is not None
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    QTest.keyClick(dialog.restore, Qt.Key.Key_Space)
    assert dialog.status_label.text().startswith("Restored ")
    assert read_rows(dialog)[0][0] == "a backup was restored"
    assert len(user_service.user_catalog.facts) == restored.facts
    assert user_service.user_catalog.undo_text is None


def test_note_offers_to_rewrite_a_deleted_file(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    set_power(user_service, 640)
    paths.get_user_catalog_path().unlink()
    user_window.catalog.undo()
    assert "was removed while in use" in user_window.note.text
    QTest.mouseClick(find_button(user_window, "Save your values again"), Qt.MouseButton.LeftButton)
    assert user_window.note.text == "Saved your 3 values to a new file. Repeat the change that failed."
    user_window.catalog.undo()
    assert get_power(user_service) == 750


def test_list_of_backups_offers_to_rewrite_a_deleted_file(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    set_power(user_service, 640)
    dialog = open_backups(user_window, qtbot)
    assert not dialog.anew.isVisible(), "the file is there"
    dialog.accept()
    paths.get_user_catalog_path().unlink()
    dialog = [open_backups(user_window, qtbot), *user_window.findChildren(BackupsDialog)][-1]
    assert dialog.note.text.startswith("The file with your values was deleted.")
    QTest.keyClick(dialog.anew, Qt.Key.Key_Space)
    assert not dialog.note.text
    assert not dialog.anew.isVisible()
    assert dialog.status_label.text().startswith("Saved your 3 values to a new file.")
    assert paths.get_user_catalog_path().is_file()


def test_editor_offers_to_rewrite_a_deleted_file(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    set_power(user_service, 640)
    form = ValueEditor(user_window.desk, user_window.theme, "mi300x", "memory_bandwidth", parent=user_window)
    form.open()
    assert not form.anew.isVisible()
    source = make_user_source("Meter")
    step = state_value(user_service.catalog, "mi300x", "tdp", 660, "W", source, today="2026-11-21")
    paths.get_user_catalog_path().unlink()
    form.apply_immediately(lambda: step)
    assert "was removed while in use" in form.note.text
    QTest.keyClick(form.anew, Qt.Key.Key_Space)
    assert form.note.text.startswith("Saved your 3 values to a new file.")
    assert not form.anew.isVisible()
    form.apply_immediately(lambda: step)
    assert form.saved
    assert get_power(user_service) == 660


def test_damaged_backup_is_marked_and_not_restored(
    user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    set_power(user_service, 640)
    set_power(user_service, 650)
    (backup,) = user_service.user_catalog.backups()
    backup.path.write_bytes(backup.path.read_bytes()[:3000])
    dialog = open_backups(user_window, qtbot)
    problem, facts = read_rows(dialog)[0][:2]
    assert problem.startswith("is truncated: ")
    assert problem.endswith("choose another backup")
    assert facts == "—"
    assert not dialog.restore.isEnabled()
    assert dialog.status_label.text().startswith("This backup cannot be restored: ")
    dialog.restore_chosen()
    assert get_power(user_service) == 650


def test_deleted_backup_is_reported(user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot) -> None:
    set_power(user_service, 640)
    set_power(user_service, 650)
    dialog = open_backups(user_window, qtbot)
    (backup,) = user_service.user_catalog.backups()
    backup.path.unlink()
    dialog.restore_chosen()
    assert dialog.note.text.startswith("Not restored: ")
    assert get_power(user_service) == 650


def test_folder_is_opened(user_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    opened_folders: list[str] = []

    def open_url(url: QUrl) -> bool:
        opened_folders.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    dialog = open_backups(user_window, qtbot)
    QTest.keyClick(dialog.folder, Qt.Key.Key_Space)
    assert opened_folders == [str(paths.get_user_dir())]


@pytest.fixture
def broken_file(user_home: Path) -> Path:
    """Write a file that is not a catalog to the path of the user's catalog."""
    path = paths.get_user_catalog_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"not a database at all\n" * 300)
    return path


@pytest.mark.usefixtures("broken_file")
def test_broken_file_is_reported_with_remedies(user_window: MainWindow, qtbot: QtBot) -> None:
    show_user_file_problem(user_window)
    assert user_window.note.text.startswith("Your values are not loaded: ")
    assert user_window.note.text.endswith("Their file is unchanged.")
    QTest.keyClick(find_button(user_window, "Show backups"), Qt.Key.Key_Space)
    dialog = user_window.findChild(BackupsDialog)
    assert dialog is not None
    assert dialog.note.text.startswith("Your values cannot be used: ")


def test_broken_file_is_renamed_and_a_new_one_started(
    broken_file: Path, user_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    raw = broken_file.read_bytes()
    show_user_file_problem(user_window)
    QTest.keyClick(find_button(user_window, "Start with an empty file"), Qt.Key.Key_Space)
    assert user_service.user_catalog.problem is None
    assert "The old file is kept as " in user_window.note.text
    (renamed_file,) = [each for each in broken_file.parent.glob("*broken*") if each.is_file()]
    assert renamed_file.read_bytes() == raw
    set_power(user_service, 640)
    assert get_power(user_service) == 640


def test_valid_file_shows_no_note(user_window: MainWindow) -> None:
    show_user_file_problem(user_window)
    assert user_window.note.text == ""


@pytest.fixture
def damaged_row(user_home: Path) -> None:
    with UserFile.open(paths.get_user_catalog_path()) as file:
        file.apply(step(QUOTE, RENT))
    with closing(sqlite3.connect(paths.get_user_catalog_path())) as connection:
        connection.execute("UPDATE price SET kind = 'gossip'")
        connection.commit()


@pytest.mark.usefixtures("damaged_row")
def test_invalid_row_is_named(user_window: MainWindow) -> None:
    show_user_file_problem(user_window)
    assert user_window.note.text.startswith("1 of your values cannot be used: row 1 of the table price (own-price-2)")


def test_activated_window_checks_the_file_for_changes(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[bool] = []
    monkeypatch.setattr(UserCatalog, "read_changes", lambda _: checks.append(True))
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: not window.isActiveWindow())
    assert not checks
    window.activateWindow()
    qtbot.waitUntil(lambda: bool(checks))
