"""The check that no socket was opened: each in a process of its own, since a watch cannot be removed."""

import socket
import subprocess
import sys

import pytest

CODE = """
from gpudesk.cli.self_test.command import installation
installation.watch()
{deed}
try:
    print(installation.check_network().text)
except Exception as error:
    print(type(error).__name__, error)
"""
COMPILED = "import ctypes; ctypes.CDLL(None).socket({family}, {kind}, 0)"


def run_client(deed: str, stdin: int = subprocess.DEVNULL) -> str:
    command = [sys.executable, "-c", CODE.format(deed=deed)]
    completed = subprocess.run(command, check=True, stdin=stdin, stdout=subprocess.PIPE, text=True)
    return completed.stdout.strip()


def test_program_that_opens_none_passes() -> None:
    assert run_client("from gpudesk.service import GpuDeskService") == "no network socket opened"


@pytest.mark.parametrize(
    ("deed", "report"),
    [
        ("import socket; socket.socket().close()", "a network socket was used: __new__("),
        ("import socket; socket.getaddrinfo('127.0.0.1', 80)", "a network socket was used: getaddrinfo(80"),
        ("import socket; socket.socketpair()", "a network socket was used: __new__("),
    ],
)
def test_closed_python_socket_is_reported(deed: str, report: str) -> None:
    assert run_client(deed).startswith(f"CheckFailedError {report}")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists what a process has open")
@pytest.mark.parametrize(
    ("family", "kind", "report"),
    [(socket.AF_INET, socket.SOCK_STREAM, "unknown kind"), (socket.AF_INET6, socket.SOCK_DGRAM, "unknown kind")],
)
def test_open_socket_of_compiled_code_is_reported(family: int, kind: int, report: str) -> None:
    deed = COMPILED.format(family=int(family), kind=int(kind))
    assert run_client(deed) == f"CheckFailedError a network socket is open: {report}"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists what a process has open")
def test_bound_socket_is_reported_by_its_kind() -> None:
    place = socket.AF_INET.to_bytes(2, "little") + bytes([0, 0, 127, 0, 0, 1]) + bytes(8)
    call = f"system.socket({int(socket.AF_INET)}, {int(socket.SOCK_DGRAM)}, 0)"
    deed = f"import ctypes; system = ctypes.CDLL(None); assert system.bind({call}, {place!r}, 16) == 0"
    assert run_client(deed) == "CheckFailedError a network socket is open: udp"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lists what a process has open")
def test_socket_within_this_machine_is_the_desktops() -> None:
    deed = COMPILED.format(family=int(socket.AF_UNIX), kind=int(socket.SOCK_STREAM))
    assert run_client(deed) == "no network socket opened"


def test_inherited_socket_is_ignored() -> None:
    ours, theirs = socket.socketpair(socket.AF_INET if sys.platform == "win32" else socket.AF_UNIX)
    with ours, theirs, socket.socket() as network:
        assert run_client("pass", stdin=theirs.fileno()) == "no network socket opened"
        assert run_client("pass", stdin=network.fileno()) == "no network socket opened"


def test_client_in_a_frozen_program_is_reported() -> None:
    output = run_client("import sys; sys.frozen = True")
    assert output.startswith("CheckFailedError http.client must not ship with the program")
    assert run_client("import sys; sys.frozen = True; installation._CLIENTS = ('no.such.module',)") == (
        "no network socket opened"
    )
