"""Files that are double-clicked: given at the start, or by the event with which macOS asks for them."""

from pathlib import Path

import pytest
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.cli.main import main
from gpudesk.desktop.pages.catalog.import_pack import PackDialog
from gpudesk.service import GpuDeskService
from tests.e2e.conftest import StartProgram
from tests.e2e.window_user import User, names


def ask_to_open(*files: Path) -> None:
    application = QApplication.instance()
    assert application is not None
    for file in files:
        QApplication.sendEvent(application, QFileOpenEvent(str(file)))


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with monkeypatch.context() as other:
        other.setenv("GPUDESK_HOME", str(tmp_path / "somebody else"))
        with GpuDeskService.open() as service:
            source = make_user_source("Measured here")
            step = state_value(service.catalog, "mi300x", "tdp", 650, "W", source, today="2026-11-21")
            service.user_catalog.do(step)
        pack_path = tmp_path / "Our figures.gpudeskpack"
        assert main(["catalog", "pack", "-o", str(pack_path)]) == 0
    return pack_path


def preview_of(user: User) -> PackDialog:
    user.until(lambda: isinstance(QApplication.activeModalWidget(), PackDialog))
    dialog = QApplication.activeModalWidget()
    assert isinstance(dialog, PackDialog)
    return dialog


def test_scenario_from_the_system_replaces_the_start_page(program: StartProgram, file: Path) -> None:
    def at_window(user: User) -> None:
        ask_to_open(file)
        user.until(lambda: names(user.windows) == ["chat.gpudesk"])
        ask_to_open(file)
        QApplication.processEvents()
        assert names(user.windows) == ["chat.gpudesk"], "it is open already"

    program(at_window)


def test_scenario_at_start_opens_in_the_first_window(program: StartProgram, file: Path) -> None:
    ask_to_open(file)

    def at_window(user: User) -> None:
        user.until(lambda: names(user.windows) == ["chat.gpudesk"])

    program(at_window)


@pytest.mark.parametrize("way", ["given", "asked for"])
def test_pack_is_previewed_before_import(program: StartProgram, pack: Path, way: str) -> None:
    def at_window(user: User) -> None:
        if way == "asked for":
            ask_to_open(pack)
        dialog = preview_of(user)
        assert len(user.windows) == 1
        assert len(user.window.desk.service.user_catalog.facts) == 0
        dialog.reject()
        user.until(lambda: QApplication.activeModalWidget() is None)
        assert len(user.window.desk.service.user_catalog.facts) == 0

    program(at_window, *([str(pack)] if way == "given" else []))


def test_scenario_and_pack_together_open_in_one_window(program: StartProgram, file: Path, pack: Path) -> None:
    def at_window(user: User) -> None:
        ask_to_open(pack, file)
        preview_of(user).reject()
        assert names(user.windows) == ["chat.gpudesk"]

    program(at_window)


@pytest.mark.parametrize(
    ("name", "message"), [("gone.gpudesk", "File not opened: "), ("gone.gpudeskpack", "Import failed: ")]
)
@pytest.mark.parametrize("way", ["given", "asked for"])
def test_missing_file_is_reported_in_the_window(
    program: StartProgram, tmp_path: Path, name: str, message: str, way: str
) -> None:
    gone = tmp_path / name

    def at_window(user: User) -> None:
        if way == "asked for":
            ask_to_open(gone)
        user.until(lambda: user.window.note.text)
        assert user.window.note.text.startswith(message)
        assert name in user.window.note.text
        assert "no such file" in user.window.note.text.lower()

    program(at_window, *([str(gone)] if way == "given" else []))
