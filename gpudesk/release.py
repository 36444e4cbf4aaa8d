"""Version, commit and installation type of the running program.

A wheel and a frozen program carry a record written when they were built. A checkout has none and asks git, which takes
milliseconds: so nothing here runs at startup, only on request.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from gpudesk import __version__, paths
from gpudesk.frozen_dataclass import frozen_dataclass

#: How the program was installed.
Installation = Literal["checkout", "package", "frozen", "portable"]

#: A source archive has no history: a record made with it is at its top level.
SOURCE_RECORD: Final = "build-record.json"

#: Length of an abbreviated commit hash.
_SHORT: Final = 10
#: Seconds to wait for git: About must not hang on a slow disk.
_PATIENCE_S: Final = 1.0


@frozen_dataclass
class ProgramRelease:
    """Version and commit of the program; None if not recorded.

    `commit` is the full hash, `committed` its time in UTC (ISO 8601), and `modified` says that files differed from it.
    """

    version: str
    commit: str | None = None
    committed: str | None = None
    modified: bool = False

    @property
    def short_commit(self) -> str | None:
        """The abbreviated hash, with a plus if files differed from the commit."""
        if self.commit is None:
            return None
        return self.commit[:_SHORT] + ("+" if self.modified else "")

    def record(self) -> dict[str, Any]:
        return asdict(self)


@functools.cache
def get_release() -> ProgramRelease:
    """Return the running release; in a checkout the first call asks git, so never call it at startup."""
    record = paths.find_build_record_path()
    if record is not None:
        return read_record(record)
    data = paths.data_dir()
    return ProgramRelease(__version__) if data is None else read_release(data.parent)


def read_record(path: Path) -> ProgramRelease:
    """Return the content of a record; an unreadable one gives the version of this code."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return ProgramRelease(
            str(record["version"]),
            _convert_to_text(record["commit"]),
            _convert_to_text(record["committed"]),
            bool(record.get("modified")),
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return ProgramRelease(__version__)


def read_release(root: Path, patience_s: float = _PATIENCE_S) -> ProgramRelease:
    """Return the release of a source folder: from its own history, else from its record."""
    if not (root / ".git").exists():
        # Not the history of a surrounding repository.
        return read_record(root / SOURCE_RECORD)
    described = _run_git(root, patience_s, "log", "-1", "--format=%H %ct")
    changes = _run_git(root, patience_s, "status", "--porcelain")
    if not described or changes is None:
        return ProgramRelease(__version__)
    commit, seconds = described.split()
    committed = datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return ProgramRelease(__version__, commit, committed, modified=bool(changes))


def find_installation() -> Installation:
    """Return how this program was installed; a portable program keeps the user's files next to it."""
    if getattr(sys, "frozen", False):
        return "portable" if paths.is_portable() else "frozen"
    return "package" if paths.data_dir() is None else "checkout"


def _run_git(root: Path, patience_s: float, *arguments: str) -> str | None:
    """Return the output of git, None if it fails or takes too long."""
    import subprocess

    # Variables of a calling git would point to another repository; and queries take no lock.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        process = subprocess.run(
            ["git", *arguments],
            cwd=root,
            env=environment,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=patience_s,
            check=True,
            # On Windows a program without a terminal would open a console for this.
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return process.stdout.strip()


def _convert_to_text(value: object) -> str | None:
    return None if value is None else str(value)
