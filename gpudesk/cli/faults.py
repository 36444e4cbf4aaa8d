"""What goes wrong in one line: usage, input, files that are missing, and the program's own mistakes."""

from __future__ import annotations

import contextlib
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

#: In the folder of logs, beside that of the window, which is written as long as it is open.
_LOG_NAME = "faults.log"
#: A log that has grown past this is begun anew.
_LONGEST_LOG = 1 << 20


class UsageError(Exception):
    """A command line that cannot be understood; the text says what and what to do."""


def report(text: str, command: str | None = None) -> None:
    """Say what went wrong on standard error, in one line."""
    name = f"gpudesk {command}" if command else "gpudesk"
    line = " ".join(text.split())
    print(f"{name}: {line}", file=sys.stderr)


def unexpected(error: BaseException, arguments: Sequence[str]) -> str:
    """Write a report of a mistake of the program to its log and return the line that says where that is."""
    try:
        where = str(_log(error, arguments))
    except OSError as fault:
        where = tr("nowhere, since no log could be written: {reason}", reason=fault.strerror or fault)
    return tr(
        "an unexpected fault ({kind}) stopped this; the report is in {path}",
        kind=type(error).__name__,
        path=where,
    )


def tell_in_window(text: str, error: BaseException) -> None:
    """Say in a dialog why there is no window, where there is no terminal to say it on: after a start by icon.

    Where that fails too, nothing more can be done.
    """
    # The stream that the process was given: what it was replaced by is no terminal either.
    if sys.__stderr__ is not None and sys.__stderr__.isatty():
        return
    with contextlib.suppress(Exception):
        from gpudesk.desktop.faults.starting import tell_no_start

        tell_no_start(text, error)


def _log(error: BaseException, arguments: Sequence[str]) -> Path:
    """Append the report to the log in the user's folder, or in a temporary one where that cannot be."""
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    head = f"{now} gpudesk {__version__} python {sys.version.split()[0]} {list(arguments)}\n"
    text = head + "".join(traceback.format_exception(error)) + "\n"
    try:
        paths.ensure_user_dir()
        folder = paths.logs_dir()
        folder.mkdir(exist_ok=True)
        return _append(folder / _LOG_NAME, text)
    except OSError:
        import tempfile

        return _append(Path(tempfile.gettempdir()) / _LOG_NAME, text)


def _append(path: Path, text: str) -> Path:
    mode = "w" if path.exists() and path.stat().st_size > _LONGEST_LOG else "a"
    with path.open(mode, encoding="utf-8", errors="backslashreplace") as log:
        log.write(text)
    return path
