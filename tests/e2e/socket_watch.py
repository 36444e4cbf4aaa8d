"""Notes which sockets a program has open, where `strace` may not be used.

    python socket_watch.py FILE COMMAND …

becomes the command; a child of it looks into /proc every few milliseconds until it has ended. Python code
says by itself what sockets it makes. The notes are written as `strace` writes calls.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

_EVERY_S = 0.005
#: Files of /proc/PID/net: what is in them, and in which column its number stands.
_KINDS = {
    "tcp": ("AF_INET, SOCK_STREAM", 9),
    "tcp6": ("AF_INET6, SOCK_STREAM", 9),
    "udp": ("AF_INET, SOCK_DGRAM", 9),
    "udp6": ("AF_INET6, SOCK_DGRAM", 9),
    "raw": ("AF_INET, SOCK_RAW", 9),
    "raw6": ("AF_INET6, SOCK_RAW", 9),
    "icmp": ("AF_INET, SOCK_DGRAM", 9),
    "netlink": ("AF_NETLINK, SOCK_RAW", 9),
    "packet": ("AF_PACKET, SOCK_RAW", 8),
}
#: Families and types by their numbers, as Linux has them.
_FAMILIES = {1: "AF_UNIX", 2: "AF_INET", 10: "AF_INET6", 16: "AF_NETLINK", 17: "AF_PACKET"}
_TYPES = {1: "SOCK_STREAM", 2: "SOCK_DGRAM", 3: "SOCK_RAW", 5: "SOCK_SEQPACKET"}

#: Run by the interpreter as it starts, before any code of the program.
_HOOK = """
import os, sys
_file = os.open({file!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
def _note(event, arguments):
    if event == "socket.__new__":
        family, kind = {families}.get(arguments[1], "AF_OTHER"), {types}.get(arguments[2] & 15, "SOCK_OTHER")
        os.write(_file, f"{{os.getpid()}} socket({{family}}, {{kind}}, made by Python)\\n".encode())
sys.addaudithook(_note)
"""


def watch(program: int, file: Path) -> None:
    """Write every socket of a program and its children once, until it ends."""
    noted: set[tuple[int, str]] = set()
    with file.open("a", encoding="utf-8", buffering=1) as notes:
        while _runs(program):
            for process in _family(program):
                for socket in _sockets(process) - {each for number, each in noted if number == process}:
                    noted.add((process, socket))
                    notes.write(f"{process} socket({socket})\n")
            time.sleep(_EVERY_S)
        # The first line names the program, so that what was noted last is found by it.
        notes.write(f"{program} +++ ended +++\n")


def _runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def _family(program: int) -> list[int]:
    """Return a program and all that it has started, but not this process."""
    members, unseen = [], [program]
    while unseen:
        process = unseen.pop()
        members.append(process)
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            try:
                unseen += [int(each) for each in children.read_text().split() if int(each) != os.getpid()]
            except OSError:
                continue
    return members


def _sockets(process: int) -> set[str]:
    """Return kind and number of each socket that a process has open."""
    numbers, kinds = _numbers(process), _kinds(process)
    # One that has no kind was closed in between, or leads nowhere yet.
    gone = numbers - kinds.keys() - _numbers(process)
    return {f"{kinds.get(each, 'AF_OTHER, SOCK_OTHER')}, seen as {each}" for each in numbers - gone}


def _numbers(process: int) -> set[str]:
    try:
        descriptors = list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return set()
    targets = {_target(descriptor) for descriptor in descriptors}
    return {target[len("socket:[") : -1] for target in targets if target.startswith("socket:[")}


def _target(descriptor: Path) -> str:
    try:
        return str(descriptor.readlink())
    except OSError:
        # Closed meanwhile.
        return ""


def _kinds(process: int) -> dict[str, str]:
    net = Path(f"/proc/{process}/net")
    kinds = {row[column]: kind for name, (kind, column) in _KINDS.items() for row in _rows(net / name)}
    for row in _rows(net / "unix"):
        kinds[row[6]] = f"AF_UNIX, {_TYPES.get(int(row[4], 16), row[4])}"
    return kinds


def _rows(file: Path) -> list[list[str]]:
    try:
        return [line.split() for line in file.read_text(encoding="utf-8").splitlines()[1:]]
    except OSError:
        return []


def main(file: Path, command: list[str]) -> None:
    program = os.getpid()
    file.write_text(f"{program} started\n", encoding="utf-8")
    folder = Path(tempfile.mkdtemp(dir=file.parent))
    (folder / "sitecustomize.py").write_text(
        _HOOK.format(file=str(file), families=_FAMILIES, types=_TYPES), encoding="utf-8"
    )
    if os.fork() == 0:
        watch(program, file)
        os._exit(0)
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *([before] if before else [])])
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
