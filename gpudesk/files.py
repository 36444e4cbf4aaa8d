"""Read files within a size limit, and write them so that a crash leaves one complete version."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
import tomllib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any, Final

from gpudesk.domain.field_checks import parse_bounded_json
from gpudesk.text.messages import InputError, Message, explain_system_error, input_error, message

PIPE: Final = message("import.no_file", "is a pipe or device; choose a regular file")


def read_bytes(path: Path, most: int) -> bytes:
    """Return the contents of a file of at most `most` bytes; raises `InputError` that names it."""
    try:
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except (OSError, ValueError) as error:
        # A path that is not a valid file name raises ValueError.
        raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from error
    if len(raw) > most:
        raise InputError(describe_too_large(most), str(path))
    return raw


def read_change_time(path: Path) -> datetime:
    """Return when a file was last written, in local time; the beginning of 1970 if that is unknown or no valid date."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime).astimezone()
    except (OSError, ValueError, OverflowError):
        return datetime.fromtimestamp(0).astimezone()


def refuse_pipe(path: Path) -> None:
    """Raise `InputError` for a pipe or device, on which a window could wait forever."""
    with contextlib.suppress(OSError, ValueError):
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise InputError(PIPE, str(path))


def read_side_file(path: Path, most: int) -> dict[str, Any]:
    """Return the JSON object in one of the program's own small files; raises `InputError` for anything else.

    A damaged file must not prevent the start. A pipe is refused, because reading it could block forever.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InputError(describe_unreadable("not a regular file"), str(path))
            raw = file.read(most + 1)
    except OSError as error:
        raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from error
    return parse_bounded_json(raw, str(path), most, nan=False)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a data file of the program; raises `InputError` that names it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from error


def write_atomically(path: Path, contents: bytes, *, private: bool = False) -> None:
    """Write a complete file; a `private` file is readable by the user alone."""
    with open_replacement(path, private=private) as file:
        file.write(contents)


@contextlib.contextmanager
def open_replacement(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Yield a temporary file that replaces `path` once it is complete, and is removed otherwise.

    A link is followed, so that its target is replaced; the permissions of an existing file are kept. A device or a pipe
    is written to directly. System errors raise `InputError` that names the file.
    """
    # Unlike `Path.resolve`, this accepts a link that leads to itself, which is then replaced.
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            with target.open("wb", buffering=0) as file:
                yield file
        else:
            with _open_temporary(target, 0o600 if private else _get_mode(target)) as file:
                yield file
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise input_error("file.long_name", "has too long a name; choose a shorter one", str(path)) from error
        raise input_error(
            "file.unwritable",
            "cannot be written: {reason}; choose another folder",
            str(path),
            reason=explain_system_error(error),
        ) from error


#: Characters of the target's name in that of its temporary file, of at most four bytes each.
_MOST_NAMED: Final = 60


@contextlib.contextmanager
def _open_temporary(target: Path, mode: int) -> Iterator[IO[bytes]]:
    """Yield a temporary file in the folder of `target`, which it finally replaces."""
    # Short enough where the target has the longest name that a folder takes, 255 bytes.
    temporary = target.with_name(f".{target.name[:_MOST_NAMED]}.{secrets.token_hex(4)}")
    # The name is known before there is such a file: a signal may stop the program at any point from there on.
    try:
        with open(temporary, "xb", opener=_open_privately) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(mode)
        temporary.replace(target)
    except BaseException:
        # Also if the user interrupts it.
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def _open_privately(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _get_mode(target: Path) -> int:
    try:
        return stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def describe_unreadable(reason: str) -> Message:
    return message("file.unreadable", "cannot be read: {reason}", reason=reason)


def describe_too_large(most: float) -> Message:
    return message("file.too_big", "is larger than {most}; it is not a GPU Desk file", most=(float(most), "B"))


def describe_unknown_format(suffix: str, known_formats: tuple[str, ...]) -> Message:
    if not suffix:
        return message("file.no_suffix", "has no suffix; use {known}", known=known_formats)
    return message(
        "sheet.format", "{suffix} is not a supported format; use {known}", suffix=suffix, known=known_formats
    )
