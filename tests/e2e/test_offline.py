"""The whole program in a machine without a network, and every socket that it opens meanwhile."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e import offline
from tests.e2e.offline import PROGRAM, Watch, walk_checkout

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs namespaces and strace of Linux")


def test_everything_works_without_a_network() -> None:
    offline.without_network()
    offline.check_that_all_worked(walk_checkout())


def test_no_warning_is_logged() -> None:
    assert " INFO " in walk_checkout().log
    assert walk_checkout().complaints() == []


def test_only_desktop_services_are_contacted() -> None:
    offline.check_sockets(walk_checkout())


def test_watch_reports_every_socket_call() -> None:
    offline.check_that_all_was_seen(walk_checkout())


@pytest.mark.parametrize("command", offline.COMMANDS)
def test_a_command_line_opens_no_socket(command: str, tmp_path: Path) -> None:
    assert offline.calls_of(PROGRAM, command, tmp_path) == []


# That the watch sees what it is there for

REACHES_OUT = """
import socket
with socket.socket(socket.AF_INET) as reaching:
    reaching.settimeout(0.2)
    reaching.connect_ex(("127.0.0.1", 9))
"""
#: As compiled code does it, of which Python knows nothing.
REACHES_OUT_UNSEEN = """
import ctypes, time
library = ctypes.CDLL(None)
descriptor = library.socket({family}, {type}, 0)
time.sleep(0.2)
"""


IN_A_CHILD = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import socket; socket.socket()'])"
DATAGRAMS = "import socket; socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)"
REACHING = {
    "Python": REACHES_OUT,
    "compiled": REACHES_OUT_UNSEEN.format(family=16, type=3),
    "child": IN_A_CHILD,
    "datagrams": DATAGRAMS,
}


@pytest.mark.parametrize("exact", [True, False], ids=["strace", "looking"])
@pytest.mark.parametrize("code", REACHING)
def test_watch_reports_connections(code: str, exact: bool, tmp_path: Path) -> None:
    watch = Watch(tmp_path / "calls.txt", exact)
    if exact and not Watch.into(watch.file).exact:
        pytest.skip("strace is forbidden here")
    subprocess.run(watch.around([sys.executable, "-c", REACHING[code]]), check=True)
    assert offline.find_unlisted_calls(watch.calls(), {}) != []


def test_unlisted_address_is_reported() -> None:
    calls = (
        '7 connect(3, {sa_family=AF_UNIX, sun_path=@"/tmp/.X11-unix/X7"}, 20) = 0',
        '7 connect(3, {sa_family=AF_UNIX, sun_path="/run/other"}, 13 <unfinished ...>',
        '7 bind(3, {sa_family=AF_UNIX, sun_path="/tmp/.X11-unix/X7"}, 20) = 0',
        '7 connect(3, {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("192.0.2.1")}, 16) = 0',
    )
    assert offline.find_unlisted_calls(calls, {"/tmp/.X11-unix/X7": "X"}) == list(calls[1:])
