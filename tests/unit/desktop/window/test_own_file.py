"""The file of the user's own facts in the window: its backups, and what is said where it cannot be used."""

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
from tests.unit.catalog.own_samples import QUOTE, RENT, step
from tests.unit.desktop.window.conftest import FOUR


@pytest.fixture
def own_window(qapp: QApplication, user_service: GpuDeskService, theme: Theme, qtbot: QtBot) -> Iterator[MainWindow]:
    program = DesktopProgram(qapp, user_service)
    made = program.open_new_window()
    made.resize(1280, 800)
    made.open_template(FOUR)
    yield made
    program.end()


def state(service: GpuDeskService, watts: int) -> None:
    source = make_user_source(f"Note {watts}")
    service.user_catalog.do(state_value(service.catalog, "mi300x", "tdp", watts, "W", source, today="2026-11-21"))


def power(service: GpuDeskService) -> object:
    return service.catalog.attribute("mi300x", "tdp").value


def dialog_of(window: MainWindow, qtbot: QtBot) -> BackupsDialog:
    show_backups(window)
    dialog = window.findChild(BackupsDialog)
    assert dialog is not None
    qtbot.waitExposed(dialog)
    return dialog


def rows(dialog: BackupsDialog) -> list[list[str]]:
    table = dialog.table
    return [
        [table.item(row, column).text() for column in range(1, table.columnCount())]  # type: ignore[union-attr]
        for row in range(table.rowCount())
    ]


def button(window: MainWindow, text: str) -> QPushButton:
    return next(each for each in window.note.findChildren(QPushButton) if each.text() == text)


def test_without_backups_it_says_when_they_are_made(own_window: MainWindow, qtbot: QtBot) -> None:
    dialog = dialog_of(own_window, qtbot)
    assert rows(dialog) == []
    assert dialog.status_label.text().startswith("No backups yet.")
    assert not dialog.restore.isEnabled()


def test_a_backup_is_restored_by_keyboard(own_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot) -> None:
    state(user_service, 640)
    state(user_service, 650)
    dialog = dialog_of(own_window, qtbot)
    before = len(dialog.table.selectionModel().selectedRows())
    assert before == 1
    restored = dialog.chosen
    assert restored is not None
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    QTest.keyClick(dialog.restore, Qt.Key.Key_Space)
    assert dialog.status_label.text().startswith("Restored ")
    assert rows(dialog)[0][0] == "a backup was restored"
    assert len(user_service.user_catalog.facts) == restored.facts
    assert user_service.user_catalog.undo_text is None


def test_where_the_file_was_removed_a_note_offers_to_write_it_anew(
    own_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    state(user_service, 640)
    paths.get_user_catalog_path().unlink()
    own_window.catalog.undo()
    assert "was removed while in use" in own_window.note.text
    QTest.mouseClick(button(own_window, "Save your values again"), Qt.MouseButton.LeftButton)
    assert own_window.note.text == "Saved your 3 values to a new file. Repeat the change that failed."
    own_window.catalog.undo()
    assert power(user_service) == 750


def test_the_list_of_backups_offers_to_write_the_facts_anew(
    own_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    state(user_service, 640)
    dialog = dialog_of(own_window, qtbot)
    assert not dialog.anew.isVisible(), "the file is there"
    dialog.accept()
    paths.get_user_catalog_path().unlink()
    dialog = [dialog_of(own_window, qtbot), *own_window.findChildren(BackupsDialog)][-1]
    assert dialog.note.text.startswith("The file with your values was deleted.")
    QTest.keyClick(dialog.anew, Qt.Key.Key_Space)
    assert not dialog.note.text
    assert not dialog.anew.isVisible()
    assert dialog.status_label.text().startswith("Saved your 3 values to a new file.")
    assert paths.get_user_catalog_path().is_file()


def test_a_form_that_was_refused_offers_it_and_saves_after_it(
    own_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    state(user_service, 640)
    form = ValueEditor(own_window.desk, own_window.theme, "mi300x", "memory_bandwidth", parent=own_window)
    form.open()
    assert not form.anew.isVisible()
    source = make_user_source("Meter")
    step = state_value(user_service.catalog, "mi300x", "tdp", 660, "W", source, today="2026-11-21")
    paths.get_user_catalog_path().unlink()
    form.take(step)
    assert "was removed while in use" in form.note.text
    QTest.keyClick(form.anew, Qt.Key.Key_Space)
    assert form.note.text.startswith("Saved your 3 values to a new file.")
    assert not form.anew.isVisible()
    form.take(step)
    assert form.saved
    assert power(user_service) == 660


def test_a_damaged_one_is_marked_and_not_restored(
    own_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    state(user_service, 640)
    state(user_service, 650)
    (backup,) = user_service.user_catalog.backups()
    backup.path.write_bytes(backup.path.read_bytes()[:3000])
    dialog = dialog_of(own_window, qtbot)
    problem, facts = rows(dialog)[0][:2]
    assert problem.startswith("is truncated: ")
    assert problem.endswith("choose another backup")
    assert facts == "—"
    assert not dialog.restore.isEnabled()
    assert dialog.status_label.text().startswith("This backup cannot be restored: ")
    dialog.restore_chosen()
    assert power(user_service) == 650


def test_one_that_goes_meanwhile_is_said_and_nothing_changes(
    own_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    state(user_service, 640)
    state(user_service, 650)
    dialog = dialog_of(own_window, qtbot)
    (backup,) = user_service.user_catalog.backups()
    backup.path.unlink()
    dialog.restore_chosen()
    assert dialog.note.text.startswith("Not restored: ")
    assert power(user_service) == 650


def test_the_folder_is_shown(own_window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def open_url(url: QUrl) -> bool:
        shown.append(url.toLocalFile())
        return True

    monkeypatch.setattr(QDesktopServices, "openUrl", open_url)
    dialog = dialog_of(own_window, qtbot)
    QTest.keyClick(dialog.folder, Qt.Key.Key_Space)
    assert shown == [str(paths.get_user_dir())]


@pytest.fixture
def broken_file(user_home: Path) -> Path:
    """Put a file that is not a catalog in the place of the user's."""
    path = paths.get_user_catalog_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"not a database at all\n" * 300)
    return path


@pytest.mark.usefixtures("broken_file")
def test_a_broken_file_is_said_with_what_can_be_done(own_window: MainWindow, qtbot: QtBot) -> None:
    show_user_file_problem(own_window)
    assert own_window.note.text.startswith("Your values are not loaded: ")
    assert own_window.note.text.endswith("Their file is unchanged.")
    QTest.keyClick(button(own_window, "Show backups"), Qt.Key.Key_Space)
    dialog = own_window.findChild(BackupsDialog)
    assert dialog is not None
    assert dialog.note.text.startswith("Your values cannot be used: ")


def test_it_is_set_aside_and_one_begins_anew(
    broken_file: Path, own_window: MainWindow, user_service: GpuDeskService, qtbot: QtBot
) -> None:
    raw = broken_file.read_bytes()
    show_user_file_problem(own_window)
    QTest.keyClick(button(own_window, "Start with an empty file"), Qt.Key.Key_Space)
    assert user_service.user_catalog.problem is None
    assert "The old file is kept as " in own_window.note.text
    (kept,) = [each for each in broken_file.parent.glob("*broken*") if each.is_file()]
    assert kept.read_bytes() == raw
    state(user_service, 640)
    assert power(user_service) == 640


def test_nothing_is_said_where_all_is_well(own_window: MainWindow) -> None:
    show_user_file_problem(own_window)
    assert own_window.note.text == ""


@pytest.fixture
def damaged_row(user_home: Path) -> None:
    with UserFile.open(paths.get_user_catalog_path()) as file:
        file.apply(step(QUOTE, RENT))
    with closing(sqlite3.connect(paths.get_user_catalog_path())) as connection:
        connection.execute("UPDATE price SET kind = 'gossip'")
        connection.commit()


@pytest.mark.usefixtures("damaged_row")
def test_a_row_that_is_left_out_is_named(own_window: MainWindow) -> None:
    show_user_file_problem(own_window)
    assert own_window.note.text.startswith("1 of your values cannot be used: row 1 of the table price (own-price-2)")


def test_a_window_that_becomes_active_looks_for_changes_of_the_file(
    window: MainWindow, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[bool] = []
    monkeypatch.setattr(UserCatalog, "look_again", lambda _: looks.append(True))
    other = QWidget()
    qtbot.addWidget(other)
    other.show()
    other.activateWindow()
    qtbot.waitUntil(lambda: not window.isActiveWindow())
    assert not looks
    window.activateWindow()
    qtbot.waitUntil(lambda: bool(looks))
