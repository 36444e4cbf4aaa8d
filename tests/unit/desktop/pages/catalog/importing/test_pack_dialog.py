"""A catalog pack in the window: row by row, all or none, and the question whom to trust."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from gpudesk.catalog.user_store.edits import state_value
from gpudesk.catalog.user_store.entry import make_user_source
from gpudesk.desktop.pages.catalog.import_pack import PackDialog
from gpudesk.desktop.window.catalog_files import import_files
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.documents.pack_file import load_signer
from gpudesk.documents.packs import make_pack
from gpudesk.service import GpuDeskService


def state(service: GpuDeskService, thing: str, watts: int) -> None:
    source = make_user_source(f"Measured on {thing}")
    service.user_catalog.do(state_value(service.catalog, thing, "tdp", watts, "W", source, today="2026-11-21"))


def pack_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "") -> Path:
    with monkeypatch.context() as other:
        other.setenv("GPUDESK_HOME", str(tmp_path / "other"))
        with GpuDeskService.open() as service:
            state(service, "mi300x", 650)
            state(service, "gaudi3", 860)
            own = service.user_catalog.facts
            by = load_signer(name) if name else None
            raw = make_pack(own, list(own.facts), "Lab", date="2026-11-21", about=service.catalog.revision, signer=by)
    path = tmp_path / "lab.gpudeskpack"
    path.write_bytes(raw)
    return path


def dialog_of(window: MainWindow, path: Path, qtbot: QtBot) -> PackDialog:
    # One that has done its work may not be gone yet.
    former = window.findChildren(PackDialog)
    import_files(window, [path])
    qtbot.waitUntil(lambda: any(each not in former for each in window.findChildren(PackDialog)))
    (dialog,) = (each for each in window.findChildren(PackDialog) if each not in former)
    qtbot.waitExposed(dialog)
    return dialog


def power(service: GpuDeskService, thing: str) -> object:
    return service.catalog.attribute(thing, "tdp").value


def test_all_that_differs_from_nothing_is_chosen_and_taken(
    own_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = dialog_of(own_window, pack_of(tmp_path, monkeypatch), qtbot)
    assert dialog.signer.text().startswith("Not signed")
    assert dialog.save_button.text() == "Import 6 values"
    assert not dialog.save_button.isEnabled()
    assert dialog.trust.text() == "Import without a signature: I trust this file"
    dialog.trust.setChecked(True)
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: own_window.note.text.startswith("Imported Lab."))
    assert (power(user_service, "mi300x"), power(user_service, "gaudi3")) == (650, 860)


def test_rows_are_chosen_by_keyboard_and_all_or_none_at_once(
    own_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack_of(tmp_path, monkeypatch)
    state(user_service, "mi300x", 700)
    dialog = dialog_of(own_window, path, qtbot)
    QAbstractItemModelTester(dialog.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    dialog.model.choose_all()
    everything = len(dialog.model.chosen)
    dialog.model.choose_none()
    assert not dialog.save_button.isEnabled()
    labels = [dialog.model.index(row, 0).data() for row in range(dialog.model.rowCount())]
    row = next(n for n, label in enumerate(labels) if label.startswith("Gaudi 3") and "chosen" in label)
    dialog.table.setCurrentIndex(dialog.model.index(row, 2))
    QTest.keyClick(dialog.table, Qt.Key.Key_Space)
    assert len(dialog.model.chosen) == 1 < everything
    assert dialog.model.index(row, 0).data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    dialog.trust.setChecked(True)
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.saved)
    assert (power(user_service, "mi300x"), power(user_service, "gaudi3")) == (700, 860)


def test_an_unknown_signer_is_to_be_trusted_first(
    own_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack_of(tmp_path, monkeypatch, "The lab")
    dialog = dialog_of(own_window, path, qtbot)
    assert "Signed by The lab, whose key you do not trust yet" in dialog.signer.text()
    assert not dialog.save_button.isEnabled()
    dialog.accept()
    assert not own_window.jobs.running
    QTest.keyClick(dialog.trust, Qt.Key.Key_Space)
    assert dialog.save_button.isEnabled()
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.saved)
    assert [each.name for each in user_service.user_catalog.signers()] == ["The lab"]
    user_service.user_catalog.undo()
    again = dialog_of(own_window, path, qtbot)
    assert again.signer.text() == "Signed by The lab, whose key you trust."
    assert again.save_button.isEnabled()


def test_a_pack_that_was_changed_is_refused(
    own_window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack_of(tmp_path, monkeypatch, "The lab")
    path.write_bytes(path.read_bytes().replace(b"650", b"651"))
    import_files(own_window, [path])
    qtbot.waitUntil(lambda: bool(own_window.note.text))
    assert own_window.note.text.startswith("Import failed: lab.gpudeskpack")
    assert not own_window.findChildren(PackDialog)
