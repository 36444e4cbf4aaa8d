"""The entry point: finds the command, and turns every error into one line and an exit code."""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NoReturn

from gpudesk import __version__
from gpudesk.cli import output
from gpudesk.cli.output import (
    EXIT_AT_FAULT,
    EXIT_DONE,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    UsageError,
    log_unexpected,
    report_error,
    show_error_window,
)
from gpudesk.text.messages import InputError
from gpudesk.text.translation import tr

#: Qt platforms that need no display.
_NEED_NONE: Final = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")
_LOCAL: Final = re.compile(r"(?:unix)?:(\d+)(?:\.\d+)?")
#: Seconds of retries with an X server that refuses the connection, and between them.
_PATIENCE_S: Final = 0.5
_AGAIN_S: Final = 0.02
#: Displays that keep a connection open.
_connected_displays: Final[set[int]] = set()


def find_display_problem() -> str | None:
    """Return why no window can be opened; None if one can."""
    if not sys.platform.startswith("linux"):
        return None
    platform = os.environ.get("QT_QPA_PLATFORM", "").partition(":")[0]
    if platform in _NEED_NONE or os.environ.get("WAYLAND_DISPLAY"):
        return None
    display = os.environ.get("DISPLAY", "")
    if not display:
        return tr("no display to open a window on")
    local = _LOCAL.fullmatch(display)
    try:
        if local is None or _lets_us_in(int(local.group(1))):
            return None
    except OSError as error:
        return tr("Qt cannot be loaded ({reason})", reason=error)
    return tr("cannot connect to display {name}", name=display)


def _lets_us_in(number: int) -> bool:
    """Connect to the X server of a number with Qt's library; raises OSError without it.

    A server whose last client disconnects resets, and refuses connections meanwhile. So this retries for a moment, and
    keeps the connection until the program ends, so that Qt is not refused.
    """
    import ctypes

    if number in _connected_displays:
        return True
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    for name in ("xcb_connection_has_error", "xcb_disconnect"):
        getattr(xcb, name).argtypes = [ctypes.c_void_p]
    end = time.monotonic() + _PATIENCE_S
    while True:
        # The library connects only locally by this name; without the slash, newer versions refuse it.
        connection = xcb.xcb_connect(f"unix/:{number}".encode(), None)
        if not xcb.xcb_connection_has_error(connection):
            _connected_displays.add(number)
            return True
        xcb.xcb_disconnect(connection)
        if time.monotonic() > end:
            return False
        time.sleep(_AGAIN_S)


#: Suffixes of files that a window opens: a scenario, a sheet with one, a pack of facts.
_FOR_THE_WINDOW: Final = (output.SCENARIO_SUFFIX, output.PDF_SUFFIX, output.PACK_SUFFIX)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 bad input or data, 2 usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # numpy starts one thread per core for linear algebra, unused here: half of its loading time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    output.prepare_streams()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the pipe closed it.
        output.silence_output()
        return EXIT_DONE
    except KeyboardInterrupt:
        output.silence_output()
        return EXIT_INTERRUPTED
    except SystemExit as end:
        # From --help and SIGTERM; errors of the parser are UsageError.
        return end.code if isinstance(end.code, int) else EXIT_DONE
    except Exception as error:  # noqa: BLE001 - the only place that turns every bug into one line
        return _report_failure(error, arguments)
    return code


def gui_main() -> int:
    """Open the window with the given files; there may be no terminal for messages."""
    return main()


def _run(arguments: list[str]) -> int:
    if all(argument.lower().endswith(_FOR_THE_WINDOW) for argument in arguments):
        return _open_window(arguments)
    if "--self-test" in arguments and arguments[0].startswith("-"):
        from gpudesk.cli.self_test import command

        return command.main(arguments)
    if arguments == ["--version"]:
        # Without the options of every command, whose modules take 0.2 s to load.
        output.print_line(f"gpudesk {__version__}")
        return EXIT_DONE
    from gpudesk.cli.parser import make_parser

    try:
        options = make_parser(arguments).parse_args(arguments)
    except UsageError:
        _refuse_files(arguments)
        raise
    if options.version:
        output.print_line(f"gpudesk {__version__}")
        return EXIT_DONE
    if options.command is None:
        return _open_window([])
    with _unwind_when_terminated():
        code: int = options.run(options)
    return code


@contextlib.contextmanager
def _unwind_when_terminated() -> Iterator[None]:
    """Let SIGTERM end a command like an exception, so that no partial file remains."""
    code: int | None = None

    def leave(number: int, _frame: object) -> NoReturn:
        nonlocal code
        code = 128 + number
        raise SystemExit(code)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    except Exception as error:
        if code is None:
            raise
        # While a class is made, Python puts another exception in the place of any.
        raise SystemExit(code) from error
    finally:
        signal.signal(signal.SIGTERM, former)


def _refuse_files(arguments: Sequence[str]) -> None:
    """Report arguments that are files of another kind as such, instead of as unknown commands."""
    if not all(Path(argument).is_file() for argument in arguments):
        return
    other = next(each for each in arguments if not each.lower().endswith(_FOR_THE_WINDOW))
    raise UsageError(
        tr(
            "cannot open {file}: not a scenario (.gpudesk), sheet (.pdf) or value pack (.gpudeskpack); "
            "for models, accelerators and prices, use `gpudesk import`",
            file=other,
        )
    )


def _open_window(files: Sequence[str]) -> int:
    problem = find_display_problem()
    if problem is None:
        # Loading creates little garbage, and collecting it is slow. Collection resumes once a window is shown.
        gc.disable()
        try:
            from gpudesk.desktop.window.app import run_window
        except ImportError as error:
            problem = tr("Qt cannot be loaded ({reason})", reason=error)
        else:
            try:
                return run_window(files)
            except Exception as error:  # noqa: BLE001 - as in `main`, but there may be no terminal
                return _report_failure(error, files, report=show_error_window)
        finally:
            gc.enable()
    report_error(tr("{problem}; `gpudesk compare` and `gpudesk sheet` work without a window", problem=problem))
    return EXIT_AT_FAULT


def _report_failure(
    error: Exception, arguments: Sequence[str], report: Callable[[str, Exception], object] | None = None
) -> int:
    """Report an error in one line, also by `report` if given, and return its exit code."""
    text = _describe_error(error, arguments)
    report_error(text)
    if report is not None:
        report(text, error)
    if isinstance(error, UsageError):
        return EXIT_USAGE
    if isinstance(error, OSError) and error.filename is None:
        output.silence_output()
    return EXIT_AT_FAULT


def _describe_error(error: Exception, arguments: Sequence[str]) -> str:
    """Return the message of an error; unexpected errors are written to the log."""
    from gpudesk.paths import MissingFileError
    from gpudesk.text.messages import explain_system_error, format_input_error

    if isinstance(error, InputError):
        return format_input_error(error)
    if isinstance(error, UsageError | MissingFileError):
        return str(error)
    if isinstance(error, OSError) and error.filename is None:
        # Standard output is not writable: the disk is full, or the terminal closed.
        return tr("cannot write output: {reason}", reason=explain_system_error(error))
    return log_unexpected(error, arguments)
