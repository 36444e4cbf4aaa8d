"""`gpudesk --self-test`: whether an installation is whole and computes what it should."""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from gpudesk.cli import output
from gpudesk.cli.commands.self_test import drawing, facts, figures, files, network, sheets, user_folder
from gpudesk.cli.commands.self_test.found import Check, FailedError, Found
from gpudesk.cli.commands.self_test.report import Outcome, Report, Result
from gpudesk.cli.faults import AT_FAULT, DONE
from gpudesk.text import tr

#: The checks in their order, each with a short name for programs and one for people. The network comes last:
#: it is about all that the others did.
CHECKS: Final[tuple[tuple[str, str, Check], ...]] = (
    ("resources", "Resources", files.check_resources),
    ("catalog", "Catalog", facts.check_catalog),
    ("own_facts", "Your own facts", facts.check_own_file),
    ("calibration", "Calibration", facts.check_calibration),
    ("golden", "Figures of the engine", figures.check_golden),
    ("memory", "Memory of known models", figures.check_memory),
    ("speed", "Speed within memory bandwidth", figures.check_speed),
    ("sheets", "Sheets", sheets.check_sheets),
    ("icons", "Icons", drawing.check_icons),
    ("fonts", "Fonts", drawing.check_fonts),
    ("paper", "Paper", sheets.check_paper),
    ("window", "Window", drawing.check_window),
    ("display", "Plug-ins for the screen", drawing.check_display),
    ("user_folder", "Your folder", user_folder.check_user_folder),
    ("network", "No network", network.check_network),
)


def main(arguments: Sequence[str]) -> int:
    """Run all checks as the command line asks for, and return the exit code."""
    network.watch()
    options = _parse(arguments)
    report = run(say=not options.json)
    report.keep()
    if options.json:
        output.say_json(report.fields())
    else:
        for line in report.verdict_lines():
            output.say(line)
    if options.output is not None:
        report.write(Path(options.output))
    elif sys.__stdout__ is None and not options.json:
        report.show_file()
    return DONE if report.ok else AT_FAULT


def run(*, say: bool) -> Report:
    """Run all checks, and say each as it is done where that is wished; none keeps another from running."""
    # What is logged meanwhile is not for standard error: a check that minds it says so itself.
    log, quiet = logging.getLogger("gpudesk"), logging.NullHandler()
    log.addHandler(quiet)
    report = Report()
    try:
        drawing.begin()
        if say:
            output.say(report.head)
        for identity, name, check in CHECKS:
            report.results.append(_result(identity, tr(name), check))
            if say:
                output.say(report.results[-1].line)
                sys.stdout.flush()
    finally:
        log.removeHandler(quiet)
    return report


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    from gpudesk.cli.options import add_json
    from gpudesk.cli.parser import Parser

    parser = Parser(
        prog="gpudesk --self-test",
        usage="gpudesk --self-test [-h] [--json] [-o FILE]",
        description=tr("Check that everything is in place and computes right."),
    )
    parser.add_argument("--self-test", action="store_true", help=argparse.SUPPRESS)
    add_json(parser)
    parser.add_argument(
        *("-o", "--output"), metavar="FILE", help=tr("write the result to a file too, as JSON if it ends so")
    )
    return parser.parse_args(arguments)


def _result(identity: str, name: str, check: Check) -> Result:
    began = time.perf_counter()
    try:
        found = check()
        outcome = Outcome.DOUBT if found.doubt else Outcome.OK
    except Exception as error:  # noqa: BLE001 - whatever it is, the check failed and says so
        found, outcome = Found(_reason(error)), Outcome.FAILED
    return Result(identity, name, outcome, found.text, time.perf_counter() - began)


def _reason(error: Exception) -> str:
    from gpudesk.domain.messages import InputError
    from gpudesk.paths import MissingFileError
    from gpudesk.sentences import problem

    if isinstance(error, InputError):
        return problem(error)
    if isinstance(error, FailedError | MissingFileError):
        return str(error)
    return f"{type(error).__name__}: {error}"
