"""What goes wrong in one line: usage, input, files that are missing, and the program's own mistakes."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from gpudesk import __version__, paths
from gpudesk.text import tr

DONE = 0
AT_FAULT = 1
USAGE = 2
INTERRUPTED = 130

_LOG_NAME = "gpudesk.log"
#: A log that has grown past this is begun anew.
_LONGEST_LOG = 1 << 20


class UsageError(Exception):
    """A command line that cannot be understood; the text says what and what to do."""


def report(text: str, command: str | None = None) -> None:
    """Say what went wrong on standard error, in one line."""
    name = f"gpudesk {command}" if command else "gpudesk"
    line = " ".join(text.split())
    print(f"{name}: {line}", file=sys.stderr)


def report_unexpected(error: BaseException, arguments: Sequence[str]) -> None:
    """Write a report of a mistake of the program to its log and say in one line where that is."""
    try:
        where = str(_log(error, arguments))
    except OSError as fault:
        where = tr("nowhere, since no log could be written: {reason}", reason=fault.strerror or fault)
    report(
        tr(
            "an unexpected fault ({kind}) stopped this; the report is in {path}",
            kind=type(error).__name__,
            path=where,
        )
    )


def _log(error: BaseException, arguments: Sequence[str]) -> Path:
    """Append the report to the log in the user's folder, or in a temporary one where that cannot be."""
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    head = f"{now} gpudesk {__version__} python {sys.version.split()[0]} {list(arguments)}\n"
    text = head + "".join(traceback.format_exception(error)) + "\n"
    try:
        return _append(paths.ensure_user_dir() / _LOG_NAME, text)
    except OSError:
        import tempfile

        return _append(Path(tempfile.gettempdir()) / _LOG_NAME, text)


def _append(path: Path, text: str) -> Path:
    mode = "w" if path.exists() and path.stat().st_size > _LONGEST_LOG else "a"
    with path.open(mode, encoding="utf-8", errors="backslashreplace") as log:
        log.write(text)
    return path
