"""The entry point: finds the command, and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
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
    report_unexpected,
)
from gpudesk.domain.messages import InputError
from gpudesk.text import tr

#: What an argument that a window opens ends with: a scenario, a sheet that carries one, a pack of facts.
_FOR_THE_WINDOW: Final = (output.SCENARIO_SUFFIX, ".pdf", output.PACK_SUFFIX)


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
    if not arguments or all(argument.lower().endswith(_FOR_THE_WINDOW) for argument in arguments):
        return _open_window(arguments)
    from gpudesk.cli.parser import make_parser

    options = make_parser().parse_args(arguments)
    if options.version:
        output.say(f"gpudesk {__version__}")
        return DONE
    if options.self_test:
        from gpudesk.cli.commands import self_test

        return self_test.run()
    if options.command is None:
        return _open_window([])
    code: int = options.run(options)
    return code


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
            return run(files)
        finally:
            gc.enable()
    report(tr("{problem}; `gpudesk compare` and `gpudesk sheet` work without", problem=problem))
    return AT_FAULT


def _failed(error: Exception, arguments: list[str]) -> int:
    """Report an error in one line and return its exit code."""
    from gpudesk.paths import MissingFileError
    from gpudesk.sentences import problem

    if isinstance(error, UsageError):
        report(str(error))
        return USAGE
    if isinstance(error, InputError):
        report(problem(error))
    elif isinstance(error, MissingFileError):
        report(str(error))
    elif isinstance(error, OSError) and error.filename is None:
        # Standard output cannot be written: the disk is full, the terminal is gone.
        report(tr("the output cannot be written: {reason}", reason=error.strerror or error))
        output.silence()
    else:
        report_unexpected(error, arguments)
    return AT_FAULT
