"""A scenario that carries its author's values, opened by another user."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from gpudesk.desktop.pages.catalog.import_pack import PackDialog
from gpudesk.desktop.window.main_window import MainWindow
from gpudesk.service import GpuDeskService
from tests.unit.catalog.carried_samples import save_of_author


@pytest.fixture
def scenario_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "shared.gpudesk"
    with monkeypatch.context() as author:
        author.setenv("GPUDESK_HOME", str(tmp_path / "author"))
        save_of_author(path)
    return path


def press(window: MainWindow, text: str) -> None:
    button = next(each for each in window.note.findChildren(QPushButton) if each.text() == text)
    QTest.keyClick(button, Qt.Key.Key_Space)


def open_pack(window: MainWindow, qtbot: QtBot) -> PackDialog:
    def list_dialogs() -> list[PackDialog]:
        return [each for each in window.findChildren(PackDialog) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(list_dialogs()))
    return list_dialogs()[0]


def test_missing_entries_are_imported_before_opening(
    user_window: MainWindow, user_service: GpuDeskService, scenario_file: Path, qtbot: QtBot
) -> None:
    assert not user_window.open_path(scenario_file)
    assert "Acme 1" in user_window.note.text
    assert len(user_service.user_catalog.facts) == 0
    press(user_window, "Review values…")
    dialog = open_pack(user_window, qtbot)
    dialog.trust.setChecked(True)
    dialog.accept()
    qtbot.waitUntil(lambda: user_window.document.path == scenario_file)
    user_window.desk.flush()
    assert user_window.desk.problem is None
    assert [each.accelerator for each in user_window.desk.scenario.accelerators] == ["acme-1", "mi325x"]
    assert user_service.catalog.attribute("mi325x", "memory_bandwidth").overridden


def test_differing_values_are_offered_after_opening(
    user_window: MainWindow, user_service: GpuDeskService, scenario_file: Path, qtbot: QtBot
) -> None:
    document = json.loads(scenario_file.read_text())
    document["scenario"]["accelerators"] = [{"accelerator": "mi325x", "count": 1}]
    scenario_file.write_text(json.dumps(document))
    assert user_window.open_path(scenario_file)
    assert "use your values" in user_window.note.text
    press(user_window, "Review values…")
    open_pack(user_window, qtbot).reject()
    assert len(user_service.user_catalog.facts) == 0
    assert user_window.document.path == scenario_file
