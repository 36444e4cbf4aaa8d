"""Imports in the window: by menu and by drop, refusals, and that the window stays responsive."""

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


def wait_for_dialog(window: MainWindow, qtbot: QtBot) -> ImportDialog:
    def visible() -> list[ImportDialog]:
        return [each for each in window.findChildren(ImportDialog) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(visible()))
    return visible()[0]


def press(window: MainWindow, text: str) -> None:
    button = next(each for each in window.note.findChildren(QPushButton) if each.text() == text)
    QTest.keyClick(button, Qt.Key.Key_Space)


def write_prices(path: Path, n: int) -> Path:
    rows = (f"lab,i{i},eu-{i},{2 + i / 10000:.4f},8,64,1,MI325X,256,False\n" for i in range(n))
    path.write_text(HEAD + "".join(rows))
    return path


def test_dropped_model_is_imported_and_chosen(
    user_window: MainWindow, user_service: GpuDeskService, llama: Path, qtbot: QtBot
) -> None:
    drop(user_window, llama)
    dialog = wait_for_dialog(user_window, qtbot)
    name = dialog.row("name")
    assert isinstance(name, TextRow)
    QTest.keyClick(name.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: user_window.note.text.startswith("Imported My-Llama."))
    assert user_service.catalog.thing("my-llama").own
    press(user_window, "Set as model")
    assert user_window.desk.scenario.model == "my-llama"
    user_window.desk.flush()
    answer = user_window.desk.answer
    assert answer is not None
    assert user_window.desk.problem is None
    assert answer.scenario.model == "my-llama"


def test_model_folder_is_imported(user_window: MainWindow, llama: Path, qtbot: QtBot) -> None:
    drop(user_window, llama.parent)
    assert wait_for_dialog(user_window, qtbot).proposal.name == "My-Llama"


def test_undo_in_the_note_removes_the_import(
    user_window: MainWindow, user_service: GpuDeskService, llama: Path, qtbot: QtBot
) -> None:
    import_files(user_window, [llama])
    wait_for_dialog(user_window, qtbot).accept()
    qtbot.waitUntil(lambda: user_window.note.text.startswith("Imported"))
    press(user_window, "Undo")
    assert len(user_service.user_catalog.facts) == 0


def test_shortcut_opens_the_file_dialog(
    user_window: MainWindow, llama: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def choose_files(*_arguments: object) -> tuple[list[str], str]:
        return [str(llama)], ""

    monkeypatch.setattr(QFileDialog, "getOpenFileNames", choose_files)
    modifiers = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    QTest.keyClick(user_window, Qt.Key.Key_O, modifiers)
    assert wait_for_dialog(user_window, qtbot).proposal.name == "My-Llama"


def test_several_files_are_imported_in_turn(
    user_window: MainWindow, user_service: GpuDeskService, llama: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    other = tmp_path / "Other" / "config.json"
    other.parent.mkdir()
    other.write_text(json.dumps({**LLAMA, "num_hidden_layers": 40}))
    drop(user_window, llama, other)
    first = wait_for_dialog(user_window, qtbot)
    assert first.windowTitle().endswith("1 of 2")
    QTest.keyClick(first, Qt.Key.Key_Escape)
    second = wait_for_dialog(user_window, qtbot)
    assert second.windowTitle().endswith("2 of 2")
    second.accept()
    qtbot.waitUntil(lambda: user_window.note.text.startswith("Imported Other."))
    assert {entry.id for entry in user_service.catalog.things() if entry.own} == {"other"}


def write_broken_files(folder: Path) -> list[tuple[Path, str]]:
    """Return files that cannot be imported, each with a part of its error message."""
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


def test_faulty_files_are_reported_and_change_nothing(
    user_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    for path, expected_text in write_broken_files(folder):
        user_window.note.clear()
        drop(user_window, path)
        qtbot.waitUntil(lambda: bool(user_window.note.text))
        assert user_window.note.text.startswith("Import failed: ")
        assert expected_text in user_window.note.text
        assert user_window.note.text.endswith("Nothing was changed.")
        assert not user_window.findChildren(ImportDialog)
    assert len(user_service.user_catalog.facts) == 0
    assert not user_service.user_catalog.path or not user_service.user_catalog.path.exists()


def measure_gaps(is_finished: Callable[[], bool], qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the gaps between turns of the event loop until a condition holds, in seconds.

    Garbage collection is off, since it would walk over objects that other tests left.
    """
    gc.disable()
    monkeypatch.setattr(gc, "collect", lambda _generation=2: 0)
    times = [time.perf_counter()]
    timer = QTimer()
    timer.setInterval(0)
    timer.timeout.connect(lambda: times.append(time.perf_counter()))
    timer.start()
    try:
        qtbot.waitUntil(is_finished, timeout=20_000)
    finally:
        gc.enable()
        timer.stop()
    return [later - earlier for earlier, later in pairwise(times)]


def test_window_stays_responsive_while_importing_10000_prices(
    user_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_files(user_window, [write_prices(tmp_path / "many.csv", 10_000)])
    reading_gaps = measure_gaps(lambda: not user_window.jobs.running, qtbot, monkeypatch)
    wait_for_dialog(user_window, qtbot).accept()
    writing_gaps = measure_gaps(lambda: not user_window.jobs.running, qtbot, monkeypatch)
    qtbot.waitUntil(lambda: user_window.note.text.startswith("Imported"))
    assert sum(price.own for price in user_service.catalog.prices("mi325x")) == 10_000
    # The event loop keeps turning, without one gap that takes most of the time; a benchmark limits the gaps. On a busy
    # machine any gap can last a few tenths of a second.
    for gaps in (reading_gaps, writing_gaps):
        assert len(gaps) > 10
        assert max(gaps) < max(sum(gaps) / 2, 0.5)


def test_reading_is_canceled(
    user_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot
) -> None:
    import_files(user_window, [write_prices(tmp_path / "many.csv", 200_000)])
    qtbot.waitUntil(lambda: "of 200,0" in user_window.status.job, timeout=20_000)
    user_window.jobs.cancel()
    qtbot.waitUntil(lambda: not user_window.jobs.running)
    assert not user_window.findChildren(ImportDialog)
    assert user_window.status.job == ""
    assert len(user_service.user_catalog.facts) == 0


def test_closing_the_window_stops_reading(user_window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    import_files(user_window, [write_prices(tmp_path / "many.csv", 200_000)])
    qtbot.wait(50)
    assert user_window.jobs.running
    jobs = user_window.jobs
    user_window.close()
    assert not jobs.running
