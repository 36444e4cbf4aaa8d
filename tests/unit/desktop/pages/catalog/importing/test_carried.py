"""A scenario with facts of its author is opened by someone else, through the real window."""

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
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "shared.gpudesk"
    with monkeypatch.context() as author:
        author.setenv("GPUDESK_HOME", str(tmp_path / "author"))
        save_of_author(path)
    return path


def press(window: MainWindow, text: str) -> None:
    button = next(each for each in window.note.findChildren(QPushButton) if each.text() == text)
    QTest.keyClick(button, Qt.Key.Key_Space)


def open_pack(window: MainWindow, qtbot: QtBot) -> PackDialog:
    def shown() -> list[PackDialog]:
        return [each for each in window.findChildren(PackDialog) if each.isVisible()]

    qtbot.waitUntil(lambda: bool(shown()))
    return shown()[0]


def test_entries_that_are_lacking_are_offered_and_the_scenario_opened_with_them(
    own_window: MainWindow, user_service: GpuDeskService, shared: Path, qtbot: QtBot
) -> None:
    assert not own_window.open_path(shared)
    assert "Acme 1" in own_window.note.text
    assert len(user_service.user_catalog.facts) == 0
    press(own_window, "Review values…")
    dialog = open_pack(own_window, qtbot)
    dialog.trust.setChecked(True)
    dialog.accept()
    qtbot.waitUntil(lambda: own_window.document.path == shared)
    own_window.desk.flush()
    assert own_window.desk.problem is None
    assert [each.accelerator for each in own_window.desk.scenario.accelerators] == ["acme-1", "mi325x"]
    assert user_service.catalog.attribute("mi325x", "memory_bandwidth").overridden


def test_other_figures_are_told_after_opening_and_left_where_nobody_takes_them(
    own_window: MainWindow, user_service: GpuDeskService, shared: Path, qtbot: QtBot
) -> None:
    document = json.loads(shared.read_text())
    document["scenario"]["accelerators"] = [{"accelerator": "mi325x", "count": 1}]
    shared.write_text(json.dumps(document))
    assert own_window.open_path(shared)
    assert "use your values" in own_window.note.text
    press(own_window, "Review values…")
    open_pack(own_window, qtbot).reject()
    assert len(user_service.user_catalog.facts) == 0
    assert own_window.document.path == shared
