"""Check that the program made no connections: no socket was opened here, and none is open."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gpudesk.cli.self_test.report import CheckFinding, fail_on_faults
from gpudesk.text.translation import tr

#: Modules that an offline program does not need, and a frozen one does not contain.
_CLIENTS: Final = ("http.client", "ssl", "urllib.request", "PySide6.QtNetwork")

#: Tables of the sockets of a process, and the column of the inode.
_TABLES: Final = {
    **{f"{kind}{version}": 9 for kind in ("tcp", "udp", "udplite", "raw", "icmp") for version in ("", "6")},
    "packet": 8,
    "netlink": 9,
}
_UNIX_COLUMN: Final = 6
#: Reads only the system's own name.
_HARMLESS: Final = frozenset({"socket.gethostname"})
_PROCESS: Final = Path("/proc/self")
_SOCKET: Final = re.compile(r"socket:\[(\d+)\]")


class SocketWatch:
    """Records every socket that Python opens from now on; a singleton, since audit hooks cannot be removed."""

    def __init__(self) -> None:
        self.reports: list[str] = []
        self.inherited = frozenset(_open_sockets())
        sys.addaudithook(self._note)

    def _note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith("socket.") and event not in _HARMLESS:
            # The first argument is the socket itself, possibly half initialized.
            arguments_text = ", ".join(str(each) for each in arguments[1:])
            self.reports.append(f"{event.removeprefix('socket.')}({arguments_text})")


_watch: SocketWatch | None = None


def watch() -> None:
    global _watch
    if _watch is None:
        _watch = SocketWatch()


def check_network() -> CheckFinding:
    """No connection was opened, none is open, and a frozen program lacks the modules for one."""
    watch()
    assert _watch is not None
    faults = [tr("a network socket was used: {what}", what=what) for what in _watch.reports]
    numbers = _open_sockets() - _watch.inherited
    faults += [tr("a network socket is open: {kind}", kind=kind) for kind in sorted(_kinds(numbers))]
    if getattr(sys, "frozen", False):
        faults += [tr("{name} must not ship with the program", name=name) for name in _CLIENTS if _is_there(name)]
    fail_on_faults(faults)
    return CheckFinding(tr("no network socket opened"))


def _open_sockets() -> set[str]:
    """Return the inodes of the open sockets of this process; empty if the system does not list them."""
    numbers: set[str] = set()
    try:
        descriptors = list((_PROCESS / "fd").iterdir())
    except OSError:
        return numbers
    for descriptor in descriptors:
        # The descriptor of the listing itself is closed by now.
        with suppress(OSError):
            match = _SOCKET.fullmatch(str(descriptor.readlink()))
            if match is not None:
                numbers.add(match[1])
    return numbers


def _kinds(numbers: set[str]) -> Iterator[str]:
    """Yield the kinds of the sockets with these inodes that can reach other machines.

    A socket that is not connected is in no table; local ones always are in theirs.
    """
    within = _listed("unix", _UNIX_COLUMN)
    if within is None:
        return
    for number in numbers - within:
        kinds = (name for name, column in _TABLES.items() if number in (_listed(name, column) or ()))
        yield next(kinds, tr("unknown kind"))


def _listed(table: str, column: int) -> set[str] | None:
    """Return the inodes of the sockets of a table, None if the system does not show it."""
    try:
        lines = (_PROCESS / "net" / table).read_text().splitlines()[1:]
    except OSError:
        return None
    return {fields[column] for line in lines if len(fields := line.split()) > column}


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False
