"""What the system asks the program to open: no file is lost before there is a window."""

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


def test_files_wait_until_somebody_opens_them(application: DesktopApplication, qtbot: QtBot) -> None:
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


def test_address_that_is_no_file_is_not_taken(application: DesktopApplication) -> None:
    opened: list[Sequence[Path]] = []
    application.give_files_to(opened.append)
    QApplication.sendEvent(application, QFileOpenEvent(QUrl("https://example.org/a.gpudesk")))
    QApplication.processEvents()
    assert opened == []


def test_packs_and_other_files_are_looked_through_and_not_opened() -> None:
    files = [Path("a.gpudesk"), Path("B.GPUDESKPACK"), Path("c.PDF"), Path("prices.csv")]
    assert split_files(files) == ([Path("a.gpudesk"), Path("c.PDF")], [Path("B.GPUDESKPACK"), Path("prices.csv")])


def test_windows_is_told_the_name_under_which_it_gathers_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    shell = SimpleNamespace(SetCurrentProcessExplicitAppUserModelID=told.append)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(shell32=shell), raising=False)
    set_windows_app_id()
    assert told == [], "no other system has that name"
    monkeypatch.setattr(sys, "platform", "win32")
    set_windows_app_id()
    assert told == [APPLICATION_ID]
