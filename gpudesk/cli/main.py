"""The entry point: finds the command, and turns whatever goes wrong into one line and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gpudesk import __version__
from gpudesk.cli import output
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 input or data at fault, 2 usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
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
    """Open the window. This version has none yet, so the sample is shown as text."""
    return main([])


def _run(arguments: list[str]) -> int:
    from gpudesk.cli.parser import make_parser

    if arguments and arguments[0].endswith(output.SCENARIO_SUFFIX):
        arguments = ["compare", "--scenario", *arguments]
    options = make_parser().parse_args(arguments)
    if options.version:
        output.say(f"gpudesk {__version__}")
        return DONE
    if options.self_test:
        from gpudesk.cli.commands import self_test

        return self_test.run()
    if options.command is None:
        from gpudesk.cli.commands import compare

        output.say(tr("This version has no window yet; here is the sample comparison as text."))
        output.say()
        return compare.show_sample()
    code: int = options.run(options)
    return code


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
