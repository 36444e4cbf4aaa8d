"""Files that the operating system asks the program to open, also before there is a window."""

import ctypes
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.single_instance import APPLICATION_ID, DesktopApplication, set_windows_app_id, split_files


@pytest.fixture
def application(qapp: QApplication) -> Iterator[DesktopApplication]:
    assert isinstance(qapp, DesktopApplication)
    yield qapp
    qapp.give_files_to(None)


def test_files_queue_until_a_window_opens_them(application: DesktopApplication, qtbot: QtBot) -> None:
    opened: list[Sequence[Path]] = []
    for name in ("/a/one.gpudesk", "/a/Grüße und mehr.gpudesk"):
        assert QApplication.sendEvent(application, QFileOpenEvent(name))
    QApplication.processEvents()
    application.give_files_to(opened.append)
    assert opened == [[Path("/a/one.gpudesk"), Path("/a/Grüße und mehr.gpudesk")]]
    for name in ("/a/three.gpudeskpack", "/a/four.gpudesk"):
        QApplication.sendEvent(application, QFileOpenEvent(name))
    qtbot.waitUntil(lambda: len(opened) == 2)
    assert opened[1] == [Path("/a/three.gpudeskpack"), Path("/a/four.gpudesk")]


def test_web_address_is_ignored(application: DesktopApplication) -> None:
    opened: list[Sequence[Path]] = []
    application.give_files_to(opened.append)
    QApplication.sendEvent(application, QFileOpenEvent(QUrl("https://example.org/a.gpudesk")))
    QApplication.processEvents()
    assert opened == []


def test_packs_and_tables_are_split_from_documents() -> None:
    files = [Path("a.gpudesk"), Path("B.GPUDESKPACK"), Path("c.PDF"), Path("prices.csv")]
    assert split_files(files) == ([Path("a.gpudesk"), Path("c.PDF")], [Path("B.GPUDESKPACK"), Path("prices.csv")])


def test_app_id_is_set_on_windows_only(monkeypatch: pytest.MonkeyPatch) -> None:
    app_ids: list[str] = []
    shell = SimpleNamespace(SetCurrentProcessExplicitAppUserModelID=app_ids.append)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(shell32=shell), raising=False)
    set_windows_app_id()
    assert app_ids == [], "only Windows has application IDs"
    monkeypatch.setattr(sys, "platform", "win32")
    set_windows_app_id()
    assert app_ids == [APPLICATION_ID]
