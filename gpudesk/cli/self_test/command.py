"""`gpudesk --self-test`: whether an installation is complete and computes correctly."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpudesk.cli import output
from gpudesk.cli.output import EXIT_AT_FAULT, EXIT_DONE
from gpudesk.cli.self_test import installation, presentation
from gpudesk.cli.self_test.report import (
    Check,
    CheckFailedError,
    CheckFinding,
    CheckOutcome,
    CheckResult,
    SelfTestReport,
)
from gpudesk.text.translation import tr

#: The checks in order, each with a short name for programs and a label for people. The network is last: it is about the
#: activity of all others.
CHECKS: Final[tuple[tuple[str, str, Check], ...]] = (
    ("resources", "Resources", installation.check_resources),
    ("catalog", "Catalog", installation.check_catalog),
    ("own_facts", "Your own facts", installation.check_user_file),
    ("calibration", "Calibration", installation.check_calibration),
    ("golden", "Figures of the engine", installation.check_golden),
    ("memory", "Memory of known models", installation.check_memory),
    ("speed", "Speed within memory bandwidth", installation.check_speed),
    ("sheets", "Sheets", presentation.check_sheets),
    ("icons", "Icons", presentation.check_icons),
    ("fonts", "Fonts", presentation.check_fonts),
    ("paper", "Paper", presentation.check_paper),
    ("window", "Window", presentation.check_window),
    ("display", "Plug-ins for the screen", presentation.check_display),
    ("user_folder", "Your folder", installation.check_user_folder),
    ("network", "No network", installation.check_network),
)


def main(arguments: Sequence[str]) -> int:
    installation.watch()
    from gpudesk.cli.options import add_json_option
    from gpudesk.cli.parser import Parser

    parser = Parser(
        prog="gpudesk --self-test",
        usage="gpudesk --self-test [-h] [--json] [-o FILE]",
        description=tr("Check the installation and its results."),
    )
    parser.add_argument("--self-test", action="store_true", help=argparse.SUPPRESS)
    add_json_option(parser)
    parser.add_argument(
        *("-o", "--output"),
        metavar=tr("FILE"),
        help=tr("also save the result to a file; JSON if the name ends with .json"),
    )
    options = parser.parse_args(arguments)
    report = run_checks(show_progress=not options.json)
    report.keep()
    if options.json:
        output.print_json(report.fields())
    else:
        output.print_lines(report.list_verdict_lines())
    if options.output is not None:
        report.write(Path(options.output))
    elif sys.__stdout__ is None and not options.json:
        report.show_file()
    return EXIT_DONE if report.ok else EXIT_AT_FAULT


def run_checks(*, show_progress: bool) -> SelfTestReport:
    """Run all checks, and report each on request; a failure does not stop the others."""
    # Logs do not belong on standard error now: a check that captures them reports them itself.
    log, quiet = logging.getLogger("gpudesk"), logging.NullHandler()
    log.addHandler(quiet)
    report = SelfTestReport()
    try:
        presentation.start_offscreen_qt()
        if show_progress:
            output.print_line(report.head)
        for identity, name, check in CHECKS:
            began = time.perf_counter()
            try:
                finding = check()
                outcome = CheckOutcome.DOUBT if finding.doubt else CheckOutcome.OK
            except Exception as error:  # noqa: BLE001 - any exception is a failed check
                finding, outcome = CheckFinding(_describe_failure(error)), CheckOutcome.FAILED
            report.results.append(CheckResult(identity, tr(name), outcome, finding.text, time.perf_counter() - began))
            if show_progress:
                output.print_line(report.results[-1].line)
                sys.stdout.flush()
    finally:
        log.removeHandler(quiet)
    return report


def _describe_failure(error: Exception) -> str:
    from gpudesk.paths import MissingFileError
    from gpudesk.text.messages import InputError, format_input_error

    if isinstance(error, InputError):
        return format_input_error(error)
    if isinstance(error, CheckFailedError | MissingFileError):
        return str(error)
    return f"{type(error).__name__}: {error}"
