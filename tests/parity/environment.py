"""The surroundings in which both states of the program are recorded: the same day, language and width.

Nothing here knows a module of the program but its entry point, so that it serves states whose modules lie
elsewhere.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
DATA: Final = ROOT / "tests" / "data"
#: The moment at which everything is recorded.
NOW: Final = dt.datetime(2026, 11, 24, 12, 0, 0, tzinfo=dt.UTC)

_DATE: Final = dt.date
_DATETIME: Final = dt.datetime

#: What a run says of its own speed.
_SPEEDS: Final = (
    (re.compile(r'("(?:evaluation_s|writing_s|seconds|elapsed_s)": )[0-9.e+-]+'), r"\1<seconds>"),
    (re.compile(r"\bin [0-9.]+ (?:s|ms) \([0-9,.]+/s\)"), "in <seconds> (<rate>)"),
    (re.compile(r"\b[0-9.,]+ ms\b(?= *$)", re.MULTILINE), "<time> ms"),
)


class _SameDay(type):
    """Takes real dates for its own, so that checks of types hold."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _DATETIME if issubclass(cls, _DATETIME) else _DATE)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return type.__subclasscheck__(_DATETIME if cls.__name__ == "datetime" else _DATE, subclass)


def stop_the_clock() -> None:
    """Let every date and moment be the same one; before the program is imported."""

    class datetime(dt.datetime, metaclass=_SameDay):  # noqa: N801 - it stands in for the type of that name
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:  # noqa: ANN401
            return NOW.replace(tzinfo=None) if tz is None else NOW.astimezone(tz)

        @classmethod
        def today(cls) -> Any:  # noqa: ANN401
            return NOW.replace(tzinfo=None)

    class date(dt.date, metaclass=_SameDay):  # noqa: N801 - it stands in for the type of that name
        @classmethod
        def today(cls) -> Any:  # noqa: ANN401
            return NOW.date()

    dt.datetime = datetime  # type: ignore[misc]
    dt.date = date  # type: ignore[misc]


def surround(tree: Path) -> None:
    """Make this process one of the program of a tree; before the program is imported."""
    os.environ.update(
        COLUMNS="100",
        GPUDESK_LANGUAGE="en",
        LC_ALL="C.UTF-8",
        QT_QPA_PLATFORM="offscreen",
        QT_SCALE_FACTOR="1",
        TZ="UTC",
    )
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_CURRENT_DESKTOP", "LINES"):
        os.environ.pop(name, None)
    stop_the_clock()
    sys.path.insert(0, str(tree))
    import gpudesk

    home = Path(str(gpudesk.__file__)).resolve().parents[1]
    if home != tree.resolve():
        raise SystemExit(f"the program came from {home} and not from {tree}")


class Places:
    """Takes out of a text what differs from one run to the next."""

    def __init__(self, **folders: Path) -> None:
        """Know folders by the names that stand in for them."""
        replacements = [(str(path), f"<{name}>") for name, path in folders.items()]
        replacements += [(str(path.resolve()), f"<{name}>") for name, path in folders.items()]
        self._known = sorted(replacements, key=lambda pair: -len(pair[0]))

    def plain(self, text: str) -> str:
        """Return the text with names of folders and speeds taken out."""
        for path, name in self._known:
            text = text.replace(path, name)
        for pattern, instead in _SPEEDS:
            text = pattern.sub(instead, text)
        return text

    def plain_value(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return a JSON value whose texts are plain."""
        if isinstance(value, str):
            return self.plain(value)
        if isinstance(value, list):
            return [self.plain_value(each) for each in value]
        if isinstance(value, dict):
            return {self.plain(name): self.plain_value(each) for name, each in value.items()}
        return value


class Said:
    """What a command wrote, and how it ended."""

    def __init__(self, code: int | str, out: str, err: str) -> None:
        """Keep it."""
        self.code, self.out, self.err = code, out, err


def run_command(arguments: list[str], stdin: str = "") -> Said:
    """Run one command line in this process."""
    from gpudesk.cli.main import main

    with _streams(stdin) as (out, err):
        code = _ended(main, arguments, err)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(ValueError):
                stream.flush()
        return Said(code, *(raw.getvalue().decode("utf-8", "backslashreplace") for raw in (out, err)))


def _ended(main: Callable[[list[str]], int], arguments: list[str], err: io.BytesIO) -> int | str:
    try:
        return main(arguments)
    except BaseException as error:  # noqa: BLE001 - a crash is a result too
        err.write(traceback.format_exception_only(error)[-1].encode())
        return type(error).__name__


@contextlib.contextmanager
def _streams(stdin: str) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    former = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
    sys.stderr = io.TextIOWrapper(err, encoding="utf-8", write_through=True)
    streams = sys.stdout, sys.stderr
    try:
        yield out, err
    finally:
        for stream in streams:
            # Else the bytes would be closed with it.
            with contextlib.suppress(ValueError):
                stream.detach()
        sys.stdin, sys.stdout, sys.stderr = former
