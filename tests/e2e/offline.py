"""Watches from outside what the program reaches while it is used: every socket, without a network.

What may be reached are the services of the desktop that the program runs in, each of which is named here with
its reason. Two kinds of program are watched so: the checkout, and the frozen one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

from gpudesk import paths
from tests.e2e.x_session import SCRIPT, SYSTEM_PYTHON, missing_packages, x_server
from tests.llama_config import LLAMA

PROGRAM: Final = (sys.executable, "-m", "gpudesk")
TEMPLATE: Final = paths.resource("templates/70b-chat-on-four.gpudesk")

#: Ways into a part of the machine that has no network, the first of which that works is gone.
_WAYS: Final = (("unshare", "--net"), ("unshare", "--user", "--map-root-user", "--net"))
#: Where a program starts, what makes a socket, and what names another end. Over a datagram socket data can be
#: sent elsewhere without these, so there is to be none.
_CALLS: Final = "execve,socket,socketpair,connect,bind,listen,accept,accept4"
_WATCH: Final = Path(__file__).with_name("socket_watch.py")
_ENDED_WITHIN_S: Final = 20.0

_CALL: Final = re.compile(r"\d+ +(?P<name>\w+)\((?P<arguments>.*)")
_PLACE: Final = re.compile(r'sun_path=@?"(?P<place>[^"]*)"')

#: Command lines, and what is to come of them.
COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "estimate": (
        *("estimate", "--accelerators", "h200-sxm:1", "--model", "llama-3.1-8b", "--weights", "fp8"),
        *("--input-tokens", "1000", "--output-tokens", "100", "--concurrency", "8"),
    ),
    "sheet": ("sheet", "--scenario", str(TEMPLATE), "-o", "sheet.pdf"),
    "catalog": ("catalog", "list"),
    "import": ("import", "config.json", "--name", "Brought in"),
}


def without_network() -> tuple[str, ...]:
    """Return what runs a command where there is no network; skips the test where the system forbids that."""
    problem = ""
    for way in _WAYS:
        completed = subprocess.run([*way, "true"], capture_output=True, encoding="utf-8", check=False)
        if completed.returncode == 0:
            return way
        problem = completed.stderr.strip()
    pytest.skip(f"this system lets nobody be without a network: {problem}")


@dataclass(frozen=True, slots=True)
class Watch:
    """Notes the calls of a program and its children that have to do with sockets.

    By `strace` all of them. Where no process may be traced, by looking every few milliseconds which sockets
    are open, and by asking Python for those that it opens itself: without the ends that they lead to.
    """

    file: Path
    exact: bool

    @classmethod
    def into(cls, file: Path) -> Watch:
        """Return a watch that writes into a file."""
        completed = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True, check=False)
        return cls(file, exact=completed.returncode == 0)

    def around(self, command: Sequence[str]) -> list[str]:
        """Return a command that is watched. Its process stays the one that was started."""
        if self.exact:
            options = ("--daemonize=grandchild", "--follow-forks", "--seccomp-bpf", f"--trace={_CALLS}")
            return ["strace", *options, f"--output={self.file}", *command]
        return [sys.executable, str(_WATCH), str(self.file), *command]

    def calls(self) -> list[str]:
        end = time.monotonic() + _ENDED_WITHIN_S
        while time.monotonic() < end:
            lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
            # The first line is that of the program's start; its other threads and children end before it.
            program = lines[0].split(maxsplit=1)[0] if lines else ""
            if any(line.startswith(f"{program} ") and " +++ " in line for line in lines):
                return [line for line in lines if _CALL.match(line) and " execve(" not in line]
            time.sleep(0.05)
        pytest.fail(f"the watch over the program has not ended: {self.file}")


def find_unlisted_calls(calls: Sequence[str], allowed: Mapping[str, str]) -> list[str]:
    """Return the calls that reach for something else than the allowed places of this machine."""
    return [call for call in calls if not _is_known(call, allowed)]


def _is_known(call: str, allowed: Mapping[str, str]) -> bool:
    match = _CALL.match(call)
    if match is None:
        return False
    name, arguments = match["name"], match["arguments"]
    if name in {"socket", "socketpair"}:
        # Both ends of a pair are the program's own.
        return arguments.startswith("AF_UNIX, SOCK_STREAM") or name == "socketpair"
    place = _PLACE.search(arguments)
    return name == "connect" and place is not None and place["place"] in allowed


@dataclass(frozen=True, slots=True)
class Walk:
    """What came of a walk through the program."""

    report: Mapping[str, Any]
    calls: Sequence[str]
    exact: bool
    display: str
    log: str
    files: Mapping[str, bytes]

    def complaints(self) -> list[str]:
        return [line for line in self.log.splitlines() if not re.search(" (INFO|DEBUG) ", line)]

    def allowed(self) -> dict[str, str]:
        """Return the places that belong to the desktop, each with what the program wants there."""
        services: Mapping[str, str] = self.report["services"]
        number = self.display.removeprefix(":")
        return {
            f"/tmp/.X11-unix/X{number}": "the X server, which shows the windows",
            _place_of(services["session"]): "the bus of the session: theme, file dialogs, where assistants are",
            _place_of(services["accessibility"]): "the bus of assistants, such as a screen reader",
        }


def _place_of(address: str) -> str:
    match = re.search(r"unix:(?:path|abstract)=([^,;]+)", address)
    assert match is not None, address
    return match[1]


@cache
def walk_checkout() -> Walk:
    """Walk through the program of this checkout, without a network where the system allows that."""
    try:
        around = without_network()
    except pytest.skip.Exception:
        around = ()
    with TemporaryDirectory() as folder:
        return walk(PROGRAM, Path(folder), around=around)


def walk(program: Sequence[str], folder: Path, *, around: Sequence[str] = ()) -> Walk:
    absent = [*missing_packages(), *(["strace"] if shutil.which("strace") is None else [])]
    if absent:
        pytest.fail(f"run packaging/setup_debian.sh test; missing: {', '.join(absent)}", pytrace=False)
    home, runtime, report_path = folder / "home", folder / "run", folder / "met.json"
    home.mkdir(mode=0o700)
    runtime.mkdir(mode=0o700)
    (home / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    watch = Watch.into(folder / "calls.txt")
    with x_server() as display:
        watched = watch.around([*program, str(TEMPLATE)])
        completed = subprocess.run(
            [*around, "dbus-run-session", "--", SYSTEM_PYTHON, SCRIPT, "whole-program", report_path, *watched],
            env={**_environment(home), "DISPLAY": display, "XDG_RUNTIME_DIR": str(runtime)},
            capture_output=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
    log = "".join(file.read_text(encoding="utf-8") for file in sorted((home / "logs").glob("*.log")))
    assert completed.returncode == 0, f"{completed.stderr}\n{log}"
    return Walk(
        report=json.loads(report_path.read_text(encoding="utf-8")),
        calls=watch.calls(),
        exact=watch.exact,
        display=display,
        log=log,
        files={name: (home / name).read_bytes() for name in ("saved.gpudesk", "sheet.pdf")},
    )


def calls_of(program: Sequence[str], command: str, folder: Path) -> list[str]:
    """Run one of the command lines without a display, and return what it did with sockets."""
    (folder / "config.json").write_text(json.dumps(LLAMA), encoding="utf-8")
    watch = Watch.into(folder / "calls.txt")
    completed = subprocess.run(
        watch.around([*program, *COMMANDS[command]]),
        cwd=folder,
        env=_environment(folder / "home"),
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    return watch.calls()


def _environment(home: Path) -> dict[str, str]:
    variables = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**variables, "GPUDESK_HOME": str(home), "GPUDESK_LANGUAGE": "en", "LC_ALL": "C.UTF-8"}


def check_that_all_worked(result: Walk) -> None:
    """Fail where the walk had a network after all, or where something of it did not come about."""
    assert result.report["network"] == {"127.0.0.1": "ENETUNREACH", "192.0.2.1": "ENETUNREACH"}
    assert len(result.report["pages"]) >= 4
    assert json.loads(result.files["saved.gpudesk"])
    assert result.files["sheet.pdf"].startswith(b"%PDF-")


def check_sockets(result: Walk) -> None:
    """Fail where anything was reached that is not named here."""
    assert any("AF_UNIX" in call for call in result.calls), "the watch has seen nothing, not even the window's"
    assert find_unlisted_calls(result.calls, result.allowed()) == []


def check_that_all_was_seen(result: Walk) -> None:
    """Say where the sockets could only be looked for, so that no one takes it for a count."""
    if not result.exact:
        pytest.skip("strace is forbidden here: sockets were looked for every few milliseconds")
    assert any("connect(" in call for call in result.calls)
