"""One program for one user folder: a later start hands its files over."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from gpudesk.desktop.session.single_instance import Instance, hand_over, server_name

#: Ends with 1 where the running program took the files.
HANDS_OVER = """
import sys
from gpudesk.desktop.session.single_instance import hand_over
sys.exit(hand_over(sys.argv[1:]))
"""


@pytest.fixture
def instance(qtbot: QtBot) -> Instance:
    return Instance()


def test_a_first_start_finds_nobody(qtbot: QtBot) -> None:
    assert not hand_over(["a.gpudesk"])


def test_a_later_start_hands_over_absolute_paths(instance: Instance, tmp_path: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(instance.asked) as asked:
        later = subprocess.Popen(
            [sys.executable, "-c", HANDS_OVER, "a.gpudesk", "/b.pdf"], cwd=tmp_path, env=os.environ
        )
    assert asked.args == [[tmp_path / "a.gpudesk", Path("/b.pdf")]]
    qtbot.waitUntil(lambda: later.poll() is not None)
    assert later.returncode == 1
    instance.close()


def test_every_user_folder_has_a_program_of_its_own(tmp_path: Path) -> None:
    names = {server_name(tmp_path / "a"), server_name(tmp_path / "b"), server_name(tmp_path / "a")}
    assert len(names) == 2


def test_a_socket_that_a_crash_left_is_replaced(qtbot: QtBot) -> None:
    crashed = (
        "import os; from PySide6.QtCore import QCoreApplication as A; a = A([]);"
        "from gpudesk.desktop.session.single_instance import Instance; i = Instance();"
        "assert i.listening; os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", crashed], check=True, env=os.environ)
    after = Instance()
    assert after.listening
    after.close()
    qtbot.wait(1)


@pytest.mark.parametrize("sent", [b"{\n", b'"text"\n', b"[1]\n", json.dumps({"a": 1}).encode() + b"\n"])
def test_what_is_no_list_of_files_is_not_taken(instance: Instance, qtbot: QtBot, sent: bytes) -> None:
    asked: list[object] = []
    instance.asked.connect(asked.append)
    socket = QLocalSocket()
    socket.connectToServer(server_name())
    assert socket.waitForConnected(500)
    socket.write(sent)
    socket.flush()
    qtbot.wait(60)
    assert asked == []
    assert bytes(socket.readAll().data()) == b""
    socket.abort()
    instance.close()
