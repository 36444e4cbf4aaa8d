"""From files to facts through the real window: by menu, by drop; refusals; and the window never freezes."""

import gc
import json
import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.editors.fields import TextRow
from gpudesk.desktop.pages.catalog.import_dialog import ImportDialog
from gpudesk.desktop.window.catalog_files import import_files
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.service import GpuDeskService
from tests.llama_config import LLAMA

HEAD = "provider,instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot\n"


def drop(window: MainWindow, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(400, 400), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    window.dropEvent(event)


def dialog_of(window: MainWindow, qtbot: QtBot) -> ImportDialog:
    def visible() -> list[ImportDialog]:
        return [each for each in window.findChildren(ImportDialog) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(visible()))
    return visible()[0]


def press(window: MainWindow, text: str) -> None:
    button = next(each for each in window.note.findChildren(QPushButton) if each.text() == text)
    QTest.keyClick(button, Qt.Key.Key_Space)


def prices(path: Path, n: int) -> Path:
    rows = (f"lab,i{i},eu-{i},{2 + i / 10000:.4f},8,64,1,MI325X,256,False\n" for i in range(n))
    path.write_text(HEAD + "".join(rows))
    return path


def test_a_model_that_is_dropped_is_added_and_set(
    own_window: MainWindow, user_service: GpuDeskService, llama: Path, qtbot: QtBot
) -> None:
    drop(own_window, llama)
    dialog = dialog_of(own_window, qtbot)
    name = dialog.row("name")
    assert isinstance(name, TextRow)
    QTest.keyClick(name.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: own_window.note.text.startswith("Imported My-Llama."))
    assert user_service.catalog.thing("my-llama").own
    press(own_window, "Set as model")
    assert own_window.desk.scenario.model == "my-llama"
    own_window.desk.flush()
    answer = own_window.desk.answer
    assert answer is not None
    assert own_window.desk.problem is None
    assert answer.scenario.model == "my-llama"


def test_a_folder_is_as_good_as_its_configuration(own_window: MainWindow, llama: Path, qtbot: QtBot) -> None:
    drop(own_window, llama.parent)
    assert dialog_of(own_window, qtbot).proposal.name == "My-Llama"


def test_undo_in_the_note_takes_all_of_it_back(
    own_window: MainWindow, user_service: GpuDeskService, llama: Path, qtbot: QtBot
) -> None:
    import_files(own_window, [llama])
    dialog_of(own_window, qtbot).accept()
    qtbot.waitUntil(lambda: own_window.note.text.startswith("Imported"))
    press(own_window, "Undo")
    assert len(user_service.user_catalog.facts) == 0


def test_files_are_chosen_by_the_key_of_the_menu(
    own_window: MainWindow, llama: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_arguments: object) -> tuple[list[str], str]:
        return [str(llama)], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", ask)
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(own_window, Qt.Key.Key_O, modifiers)
    assert dialog_of(own_window, qtbot).proposal.name == "My-Llama"


def test_several_files_come_one_after_the_other(
    own_window: MainWindow, user_service: GpuDeskService, llama: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    other = tmp_path / "Other" / "config.json"
    other.parent.mkdir()
    other.write_text(json.dumps({**LLAMA, "num_hidden_layers": 40}))
    drop(own_window, llama, other)
    first = dialog_of(own_window, qtbot)
    assert first.windowTitle().endswith("1 of 2")
    QTest.keyClick(first, Qt.Key.Key_Escape)
    second = dialog_of(own_window, qtbot)
    assert second.windowTitle().endswith("2 of 2")
    second.accept()
    qtbot.waitUntil(lambda: own_window.note.text.startswith("Imported Other."))
    assert {thing.id for thing in user_service.catalog.things() if thing.own} == {"other"}


def broken(folder: Path) -> list[tuple[Path, str]]:
    """Return files that cannot be brought in, and what is said of each."""
    (folder / "zip.json").write_bytes(b"PK\x03\x04" + b"\x00" * 100)
    (folder / "deep.json").write_bytes(b'{"a":' * 100_000)
    (folder / "folder.json").mkdir()
    (folder / "huge.json").write_text(json.dumps({**LLAMA, "hidden_size": 10**12}))
    os.mkfifo(folder / "pipe.csv")
    return [
        (folder / "zip.json", "is a ZIP file"),
        (folder / "deep.json", "nested too deeply"),
        (folder / "folder.json", "contains no config.json or GGUF file"),
        (folder / "huge.json", "hidden_size"),
        (folder / "pipe.csv", "is a pipe"),
        (folder / "gone.json", "no such file"),
    ]


def test_what_cannot_be_brought_in_is_said_and_nothing_is_written(
    own_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    for path, said in broken(folder):
        own_window.note.clear()
        drop(own_window, path)
        qtbot.waitUntil(lambda: bool(own_window.note.text))
        assert own_window.note.text.startswith("Import failed: ")
        assert said in own_window.note.text
        assert own_window.note.text.endswith("Nothing was changed.")
        assert not own_window.findChildren(ImportDialog)
    assert len(user_service.user_catalog.facts) == 0
    assert not user_service.user_catalog.path or not user_service.user_catalog.path.exists()


def turns(done: Callable[[], bool], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return how long the event loop was away each time until something is done, in seconds.

    What tests before left in memory is none of the window's: no collection of it is measured.
    """
    gc.disable()
    monkeypatch.setattr(gc, "collect", lambda _generation=2: 0)
    beats = [time.perf_counter()]
    timer = QTimer()
    timer.setInterval(0)
    timer.timeout.connect(lambda: beats.append(time.perf_counter()))
    timer.start()
    try:
        qtbot.waitUntil(done, timeout=20_000)
    finally:
        gc.enable()
        timer.stop()
    return [later - sooner for sooner, later in pairwise(beats)]


def test_the_window_goes_on_while_ten_thousand_prices_come(
    own_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_files(own_window, [prices(tmp_path / "many.csv", 10_000)])
    reading = turns(lambda: not own_window.jobs.running, qtbot, monkeypatch)
    dialog_of(own_window, qtbot).accept()
    writing = turns(lambda: not own_window.jobs.running, qtbot, monkeypatch)
    qtbot.waitUntil(lambda: own_window.note.text.startswith("Imported"))
    assert sum(price.own for price in user_service.catalog.prices("mi325x")) == 10_000
    # It comes by again and again, never away for most of the time; how short it is away is a benchmark.
    for away in (reading, writing):
        assert len(away) > 10
        assert max(away) < sum(away) / 2


def test_a_long_reading_is_cancelled_from_the_status_bar(
    own_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot
) -> None:
    import_files(own_window, [prices(tmp_path / "many.csv", 200_000)])
    qtbot.waitUntil(lambda: "of 200,0" in own_window.status.job, timeout=20_000)
    own_window.jobs.cancel()
    qtbot.waitUntil(lambda: not own_window.jobs.running)
    assert not own_window.findChildren(ImportDialog)
    assert own_window.status.job == ""
    assert len(user_service.user_catalog.facts) == 0


def test_closing_the_window_ends_a_reading(own_window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    import_files(own_window, [prices(tmp_path / "many.csv", 200_000)])
    qtbot.wait(50)
    assert own_window.jobs.running
    jobs = own_window.jobs
    own_window.close()
    assert not jobs.running
