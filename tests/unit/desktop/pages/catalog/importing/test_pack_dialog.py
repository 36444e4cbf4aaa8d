"""The dialog of a value pack: selection by row, all or none, and trust in the signer."""

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


def set_power(service: GpuDeskService, entry_id: str, watts: int) -> None:
    source = make_user_source(f"Measured on {entry_id}")
    service.user_catalog.do(state_value(service.catalog, entry_id, "tdp", watts, "W", source, today="2026-11-21"))


def write_pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "") -> Path:
    with monkeypatch.context() as other:
        other.setenv("GPUDESK_HOME", str(tmp_path / "other"))
        with GpuDeskService.open() as service:
            set_power(service, "mi300x", 650)
            set_power(service, "gaudi3", 860)
            facts = service.user_catalog.facts
            signer = load_signer(name) if name else None
            raw = make_pack(
                facts, list(facts.facts), "Lab", date="2026-11-21", about=service.catalog.revision, signer=signer
            )
    path = tmp_path / "lab.gpudeskpack"
    path.write_bytes(raw)
    return path


def open_dialog(window: MainWindow, path: Path, qtbot: QtBot) -> PackDialog:
    # A finished dialog may not be deleted yet.
    former = window.findChildren(PackDialog)
    import_files(window, [path])
    qtbot.waitUntil(lambda: any(each not in former for each in window.findChildren(PackDialog)))
    (dialog,) = (each for each in window.findChildren(PackDialog) if each not in former)
    qtbot.waitExposed(dialog)
    return dialog


def get_power(service: GpuDeskService, entry_id: str) -> object:
    return service.catalog.attribute(entry_id, "tdp").value


def test_all_values_are_selected_by_default_and_imported(
    user_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = open_dialog(user_window, write_pack(tmp_path, monkeypatch), qtbot)
    assert dialog.signer.text().startswith("Not signed")
    assert dialog.save_button.text() == "Import 6 values"
    assert not dialog.save_button.isEnabled()
    assert dialog.trust.text() == "Import without a signature: I trust this file"
    dialog.trust.setChecked(True)
    QTest.keyClick(dialog.table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: user_window.note.text.startswith("Imported Lab."))
    assert (get_power(user_service, "mi300x"), get_power(user_service, "gaudi3")) == (650, 860)


def test_rows_are_selected_by_keyboard(
    user_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pack(tmp_path, monkeypatch)
    set_power(user_service, "mi300x", 700)
    dialog = open_dialog(user_window, path, qtbot)
    QAbstractItemModelTester(dialog.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    dialog.model.choose_all()
    count = len(dialog.model.chosen)
    dialog.model.choose_none()
    assert not dialog.save_button.isEnabled()
    labels = [dialog.model.index(row, 0).data() for row in range(dialog.model.rowCount())]
    row = next(n for n, label in enumerate(labels) if label.startswith("Gaudi 3") and "chosen" in label)
    dialog.table.setCurrentIndex(dialog.model.index(row, 2))
    QTest.keyClick(dialog.table, Qt.Key.Key_Space)
    assert len(dialog.model.chosen) == 1 < count
    assert dialog.model.index(row, 0).data(Qt.ItemDataRole.CheckStateRole) == Qt.CheckState.Checked
    dialog.trust.setChecked(True)
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.saved)
    assert (get_power(user_service, "mi300x"), get_power(user_service, "gaudi3")) == (700, 860)


def test_unknown_signer_must_be_trusted_first(
    user_window: MainWindow, user_service: GpuDeskService, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pack(tmp_path, monkeypatch, "The lab")
    dialog = open_dialog(user_window, path, qtbot)
    assert "Signed by The lab, whose key you do not trust yet" in dialog.signer.text()
    assert not dialog.save_button.isEnabled()
    dialog.accept()
    assert not user_window.jobs.running
    QTest.keyClick(dialog.trust, Qt.Key.Key_Space)
    assert dialog.save_button.isEnabled()
    dialog.accept()
    qtbot.waitUntil(lambda: dialog.saved)
    assert [each.name for each in user_service.user_catalog.signers()] == ["The lab"]
    user_service.user_catalog.undo()
    second = open_dialog(user_window, path, qtbot)
    assert second.signer.text() == "Signed by The lab, whose key you trust."
    assert second.save_button.isEnabled()


def test_altered_pack_is_refused(
    user_window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_pack(tmp_path, monkeypatch, "The lab")
    path.write_bytes(path.read_bytes().replace(b"650", b"651"))
    import_files(user_window, [path])
    qtbot.waitUntil(lambda: bool(user_window.note.text))
    assert user_window.note.text.startswith("Import failed: lab.gpudeskpack")
    assert not user_window.findChildren(PackDialog)
