"""Files of a window: suffixes, folders that are proposed, and what is said when something fails."""

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
    made = NoteBar(theme)
    qtbot.addWidget(made)
    return made


@pytest.fixture
def files(desk: Desk, settings: UserSettings, note: NoteBar) -> FileActions:
    # The window belongs to the note, which is deleted when the test ends.
    window = QWidget(note)
    document = Document(desk, settings, RecoveryFile(window), window)
    document.open_template(FOUR)
    return FileActions(document, settings, note, window)


def answer(monkeypatch: pytest.MonkeyPatch, chosen: Path | None) -> list[str]:
    """Answer questions for a file with this one; return what was proposed."""
    proposed: list[str] = []

    def ask(_parent: QWidget, _title: str, start: str, _filter: str) -> tuple[str, str]:
        proposed.append(start)
        return ("" if chosen is None else str(chosen), "")

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", ask)
    return proposed


@pytest.mark.parametrize(
    ("chosen", "written"),
    [("a", "a.gpudesk"), ("a.gpudesk", "a.gpudesk"), ("a.GPUDESK", "a.GPUDESK"), ("a.b", "a.b.gpudesk")],
)
def test_a_name_without_the_suffix_gets_it(
    files: FileActions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, written: str
) -> None:
    answer(monkeypatch, tmp_path / chosen)
    assert files.save()
    assert (tmp_path / written).is_file()


def test_the_folder_of_the_last_file_is_proposed(
    files: FileActions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = answer(monkeypatch, tmp_path / "a.gpudesk")
    files.save()
    assert home == [str(Path.home() / "Llama 3.1 70B chat, four accelerators compared.gpudesk")]
    proposed = answer(monkeypatch, None)
    assert files.ask_for_file() is None
    assert not files.save_as()
    assert proposed == [str(tmp_path), str(tmp_path / "a.gpudesk")]


def test_a_name_that_is_known_is_not_asked_for(
    files: FileActions, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, tmp_path / "a.gpudesk")
    files.save()
    asked = answer(monkeypatch, None)
    desk.edit("Change of name", name="Other")
    assert files.save()
    assert asked == []
    assert '"Other"' in (tmp_path / "a.gpudesk").read_text()


def test_a_fault_is_said_until_something_succeeds(files: FileActions, note: NoteBar, tmp_path: Path) -> None:
    assert not files.open(tmp_path / "gone.gpudesk")
    assert note.text == (
        f"File not opened: {tmp_path / 'gone.gpudesk'}: cannot be read: no such file or directory. "
        "The current scenario is unchanged."
    )
    assert files.open_template(FOUR)
    assert note.text == ""


def test_what_can_be_opened_is_looked_at_without_opening_it(
    files: FileActions, desk: Desk, note: NoteBar, tmp_path: Path
) -> None:
    good = tmp_path / "good.gpudesk"
    desk.service.save_scenario(read_template("405b-one-node"), good)
    before = desk.scenario
    assert files.can_open(good)
    assert not files.can_open(tmp_path)
    assert note.text.startswith("File not opened: ")
    assert desk.scenario is before


def test_nothing_is_asked_where_nothing_would_be_lost(files: FileActions) -> None:
    assert files.may_close()


def test_a_file_that_would_get_the_suffix_is_replaced_only_when_the_user_says_so(
    files: FileActions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.gpudesk").write_text("somebody's")
    names = iter(["a", "a", "b.gpudesk"])
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / next(names)), ""))
    asked: list[str] = []

    def ask(_parent: QWidget, _title: str, question: str, *_: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(qt_support, "ask_question", ask)
    assert files.save_as()
    assert asked == ["Replace “a.gpudesk”?"] * 2
    assert (tmp_path / "a.gpudesk").read_text() == "somebody's"
    assert (tmp_path / "b.gpudesk").is_file()


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_document_that_was_changed_elsewhere_is_not_replaced_without_a_word(
    files: FileActions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_replaced: bool
) -> None:
    answer(monkeypatch, tmp_path / "a.gpudesk")
    assert files.save()
    (tmp_path / "a.gpudesk").write_text("somebody's")
    monkeypatch.setattr(file_actions, "ask_question", lambda *_: is_replaced)
    assert files.save() is is_replaced
    assert ((tmp_path / "a.gpudesk").read_text() != "somebody's") is is_replaced
