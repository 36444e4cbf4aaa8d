"""Files of a window: suffixes, suggested folders, and messages about failures."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.desk import Desk
from gpudesk.desktop.session.document import Document, RecoveryFile
from gpudesk.desktop.session.settings import UserSettings
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets import qt_support
from gpudesk.desktop.ui.widgets.note_bar import NoteBar
from gpudesk.desktop.window import file_actions
from gpudesk.desktop.window.file_actions import FileActions
from gpudesk.documents.scenario_file import read_template
from tests.unit.desktop.window.conftest import FOUR


@pytest.fixture
def note(theme: Theme, qtbot: QtBot) -> NoteBar:
    note_bar = NoteBar(theme)
    qtbot.addWidget(note_bar)
    return note_bar


@pytest.fixture
def files(desk: Desk, settings: UserSettings, note: NoteBar) -> FileActions:
    # The window belongs to the note, which is deleted when the test ends.
    window = QWidget(note)
    document = Document(desk, settings, RecoveryFile(window), window)
    document.open_template(FOUR)
    return FileActions(document, settings, note, window)


def answer_file_dialogs(monkeypatch: pytest.MonkeyPatch, path: Path | None) -> list[str]:
    """Make file dialogs return a path; return the list of paths that they suggest."""
    suggestions: list[str] = []

    def choose_path(_parent: QWidget, _title: str, start: str, _filter: str) -> tuple[str, str]:
        suggestions.append(start)
        return ("" if path is None else str(path), "")

    monkeypatch.setattr(QFileDialog, "getSaveFileName", choose_path)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", choose_path)
    return suggestions


@pytest.mark.parametrize(
    ("typed_name", "file_name"),
    [("a", "a.gpudesk"), ("a.gpudesk", "a.gpudesk"), ("a.GPUDESK", "a.GPUDESK"), ("a.b", "a.b.gpudesk")],
)
def test_missing_suffix_is_appended(
    files: FileActions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed_name: str, file_name: str
) -> None:
    answer_file_dialogs(monkeypatch, tmp_path / typed_name)
    assert files.save()
    assert (tmp_path / file_name).is_file()


def test_folder_of_the_last_file_is_suggested(
    files: FileActions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_suggestions = answer_file_dialogs(monkeypatch, tmp_path / "a.gpudesk")
    files.save()
    assert first_suggestions == [str(Path.home() / "Llama 3.1 70B chat, four accelerators compared.gpudesk")]
    suggestions = answer_file_dialogs(monkeypatch, None)
    assert files.ask_for_file() is None
    assert not files.save_as()
    assert suggestions == [str(tmp_path), str(tmp_path / "a.gpudesk")]


def test_saving_a_named_document_asks_nothing(
    files: FileActions, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_file_dialogs(monkeypatch, tmp_path / "a.gpudesk")
    files.save()
    suggestions = answer_file_dialogs(monkeypatch, None)
    desk.edit("Change of name", name="Other")
    assert files.save()
    assert suggestions == []
    assert '"Other"' in (tmp_path / "a.gpudesk").read_text()


def test_failure_is_shown_until_the_next_success(files: FileActions, note: NoteBar, tmp_path: Path) -> None:
    assert not files.open(tmp_path / "gone.gpudesk")
    assert note.text == (
        f"File not opened: {tmp_path / 'gone.gpudesk'}: cannot be read: no such file or directory. "
        "The current scenario is unchanged."
    )
    assert files.open_template(FOUR)
    assert note.text == ""


def test_checking_a_file_does_not_open_it(files: FileActions, desk: Desk, note: NoteBar, tmp_path: Path) -> None:
    good = tmp_path / "good.gpudesk"
    desk.service.save_scenario(read_template("405b-one-node"), good)
    before = desk.scenario
    assert files.can_open(good)
    assert not files.can_open(tmp_path)
    assert note.text.startswith("File not opened: ")
    assert desk.scenario is before


def test_unedited_document_closes_without_a_question(files: FileActions) -> None:
    assert files.may_close()


def test_replacing_a_file_after_adding_the_suffix_is_confirmed(
    files: FileActions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.gpudesk").write_text("other contents")
    names = iter(["a", "a", "b.gpudesk"])
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / next(names)), ""))
    questions: list[str] = []

    def ask(_parent: QWidget, _title: str, question: str, *_: str) -> bool:
        questions.append(question)
        return False

    monkeypatch.setattr(qt_support, "ask_question", ask)
    assert files.save_as()
    assert questions == ["Replace “a.gpudesk”?"] * 2
    assert (tmp_path / "a.gpudesk").read_text() == "other contents"
    assert (tmp_path / "b.gpudesk").is_file()


@pytest.mark.parametrize("is_replaced", [False, True])
def test_file_changed_on_disk_is_replaced_only_on_confirmation(
    files: FileActions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    answer_file_dialogs(monkeypatch, tmp_path / "a.gpudesk")
    assert files.save()
    (tmp_path / "a.gpudesk").write_text("other contents")
    monkeypatch.setattr(file_actions, "ask_question", lambda *_: is_replaced)
    assert files.save() is is_replaced
    assert ((tmp_path / "a.gpudesk").read_text() != "other contents") is is_replaced
