"""A process of its own that does one thing with a user's file; it is killed, confined or kept from the file.

`python -m tests.unit.catalog.user_file_process NAME PATH`: says `ready`, then a line of JSON for each thing
done.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sqlite3
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

from gpudesk.catalog.user_store.migrations import USER_STEPS, migrate
from gpudesk.catalog.user_store.user_file import UserFile, list_backups, restore_backup
from gpudesk.domain.claim import Source
from gpudesk.domain.user_facts import FactEdit
from gpudesk.text.messages import InputError
from tests.unit.catalog.user_samples import numbered

NOBODY = 65534


def print_json(**fields: object) -> None:
    sys.stdout.write(json.dumps(fields) + "\n")
    sys.stdout.flush()


def try_step(file: UserFile, edit: FactEdit) -> str | None:
    """Make a step, and return the id of what was in its way; the facts must be as before then."""
    before = file.facts
    try:
        file.apply(edit)
    except InputError as error:
        assert file.facts is before
        return error.problem.id
    return None


def write(path: Path) -> None:
    """Write steps of every size, one after the other, without end."""
    with UserFile.open(path) as file:
        number = sum(isinstance(fact, Source) for fact in file.facts)
        while True:
            file.apply(numbered(number, claims=30 if number % 7 == 0 else 4))
            print_json(done=number)
            number += 1


def change(path: Path) -> None:
    with UserFile.open(path) as file:
        file.apply(numbered(1))


def restore(path: Path) -> None:
    """Restore the two newest backups in turn, without end."""
    (one, other) = list_backups(path.parent / "kept")
    while True:
        for number, backup in enumerate((one, other)):
            restore_backup(path, backup.path)
            print_json(restored=number)


def die_in_a_migration(path: Path) -> None:
    """End by the hardest signal when the last step of the tables is done and not yet committed."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.create_function("die", 0, lambda: os.kill(os.getpid(), signal.SIGKILL))
    *former, last = USER_STEPS
    migrate(connection, (*former, (*last, "SELECT die()")))


def lock(path: Path) -> None:
    """Keep the file from everybody else until standard input ends."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    print_json(locked=True)
    sys.stdin.read()


def fill(path: Path) -> None:
    """Write until the disk is full, say so, make room, and write again."""
    ballast = path.parent / "ballast"
    ballast.write_bytes(bytes(1_000_000))
    _fill(path, ballast.unlink)


def fill_what_is_allowed(path: Path) -> None:
    """Write until the file is as large as the system lets it grow, then have it let more."""
    (_, hard) = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (250_000, hard))
    _fill(path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard)))


def _fill(path: Path, make_room: Callable[[], None]) -> None:
    with UserFile.open(path) as file:
        number = 0
        while (problem := try_step(file, numbered(number))) is None:
            number += 1
        print_json(done=number, problem=problem, again=try_step(file, numbered(number)))
        make_room()
        print_json(problem=try_step(file, numbered(number)))
        # A large step needs a backup before it.
        print_json(problem=try_step(file, numbered(number + 1, claims=30)))


def become_nobody(path: Path) -> None:
    """Try to write as a user who may not, and say what was read and what was in the way."""
    if os.geteuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    look(path)


def look(path: Path) -> None:
    try:
        with UserFile.open(path) as file:
            writable = file.writable
            print_json(facts=len(file.facts), writable=writable, problem=try_step(file, numbered(10_000)))
    except InputError as error:
        print_json(opening=error.problem.id)


DOINGS: dict[str, Callable[[Path], None]] = {
    doing.__name__: doing
    for doing in (write, change, restore, die_in_a_migration, lock, fill, fill_what_is_allowed, become_nobody, look)
}


def work(doing: Callable[[Path], None], path: Path, connection: Connection) -> None:
    """Do one thing in a process that was forked, and say over a connection what is done."""
    sys.stdout = os.fdopen(os.dup(connection.fileno()), "w", encoding="utf-8")
    print_json(ready=True)
    doing(path)


if __name__ == "__main__":
    print_json(ready=True)
    DOINGS[sys.argv[1]](Path(sys.argv[2]))
