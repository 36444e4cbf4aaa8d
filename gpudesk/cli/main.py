"""The entry point: finds the command, and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gpudesk import __version__
from gpudesk.cli import output
from gpudesk.cli.display import display_problem
from gpudesk.cli.faults import (
    AT_FAULT,
    DONE,
    INTERRUPTED,
    USAGE,
    UsageError,
    report,
    tell_in_window,
    unexpected,
)
from gpudesk.domain.messages import InputError
from gpudesk.text import tr

#: What an argument that a window opens ends with: a scenario, a sheet that carries one, a pack of facts.
_FOR_THE_WINDOW: Final = (output.SCENARIO_SUFFIX, output.PDF_SUFFIX, output.PACK_SUFFIX)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 input or data at fault, 2 usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # numpy starts a thread a core for linear algebra, of which nothing is used here: half of its loading.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    output.prepare()
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read this has had enough.
        output.silence()
        return DONE
    except KeyboardInterrupt:
        output.silence()
        return INTERRUPTED
    except SystemExit as end:
        # Only --help ends so; errors of the parser are UsageError.
        return end.code if isinstance(end.code, int) else DONE
    except Exception as error:  # noqa: BLE001 - the one place where every mistake ends in one line
        return _failed(error, arguments)
    return code


def gui_main() -> int:
    """Open the window with the files that were given; there may be no terminal to say anything on."""
    return main()


def _run(arguments: list[str]) -> int:
    if all(argument.lower().endswith(_FOR_THE_WINDOW) for argument in arguments):
        return _open_window(arguments)
    if "--self-test" in arguments and arguments[0].startswith("-"):
        from gpudesk.cli.commands import self_test

        return self_test.main(arguments)
    from gpudesk.cli.parser import make_parser

    try:
        options = make_parser().parse_args(arguments)
    except UsageError:
        _refuse_files(arguments)
        raise
    if options.version:
        output.say(f"gpudesk {__version__}")
        return DONE
    if options.command is None:
        return _open_window([])
    code: int = options.run(options)
    return code


def _refuse_files(arguments: Sequence[str]) -> None:
    """Say of files that no window opens that they are none of those, and not that they are no command."""
    if not all(Path(argument).is_file() for argument in arguments):
        return
    other = next(each for each in arguments if not each.lower().endswith(_FOR_THE_WINDOW))
    raise UsageError(
        tr(
            "{file} is no scenario (.gpudesk), sheet (.pdf) or pack (.gpudeskpack), which a window opens; "
            "`gpudesk import` takes models, accelerators and prices",
            file=other,
        )
    )


def _open_window(files: Sequence[str]) -> int:
    """Open the window, or say in one line why there is none and what works without."""
    problem = display_problem()
    if problem is None:
        # While all is loaded there is little garbage, and looking for it takes time. Once there is a window
        # to be seen, it is looked for again.
        gc.disable()
        try:
            from gpudesk.desktop.app import run
        except ImportError as error:
            problem = tr("Qt cannot be loaded ({reason})", reason=error)
        else:
            try:
                return run(files)
            except Exception as error:  # noqa: BLE001 - as in `main`, but there may be no terminal
                return _failed(error, files, tell=tell_in_window)
        finally:
            gc.enable()
    report(tr("{problem}; `gpudesk compare` and `gpudesk sheet` work without", problem=problem))
    return AT_FAULT


def _failed(
    error: Exception, arguments: Sequence[str], tell: Callable[[str, Exception], object] | None = None
) -> int:
    """Report an error in one line, by `tell` too if given, and return its exit code."""
    text = _said(error, arguments)
    report(text)
    if tell is not None:
        tell(text, error)
    if isinstance(error, UsageError):
        return USAGE
    if isinstance(error, OSError) and error.filename is None:
        output.silence()
    return AT_FAULT


def _said(error: Exception, arguments: Sequence[str]) -> str:
    """Return what is said of an error; what nobody expected is written to the log."""
    from gpudesk.paths import MissingFileError
    from gpudesk.sentences import problem

    if isinstance(error, InputError):
        return problem(error)
    if isinstance(error, UsageError | MissingFileError):
        return str(error)
    if isinstance(error, OSError) and error.filename is None:
        # Standard output cannot be written: the disk is full, the terminal is gone.
        return tr("the output cannot be written: {reason}", reason=error.strerror or error)
    return unexpected(error, arguments)
