"""`gpudesk estimate`: one estimate for each accelerator, or one for each JSON line."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.faults import AT_FAULT, DONE, UsageError, report
from gpudesk.cli.options import add_json, add_scenario_options, scenario_from
from gpudesk.domain.messages import InputError, message
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.workbench.workbench import Workbench


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    description = tr("Estimate how fast deployments serve a workload, and whether they hold it.")
    parser = commands.add_parser("estimate", help=description, description=description)
    add_scenario_options(parser)
    group = parser.add_argument_group(tr("many at once"))
    group.add_argument(
        "--batch", metavar="FILE|-", help=tr("answer a file of JSON lines, or standard input, line by line")
    )
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Do what the options ask for."""
    from gpudesk.workbench.workbench import Workbench

    with Workbench.open() as workbench:
        if options.batch is not None:
            return _batch(options, workbench)
        return _each(scenario_from(options, workbench), workbench, as_json=options.json)


def _batch(options: argparse.Namespace, workbench: Workbench) -> int:
    """Answer JSON lines; the exit code says whether all of them could be answered."""
    others = {"batch", "json", "run", "command", "version", "self_test"}
    given = [name for name, value in vars(options).items() if name not in others and value is not None]
    if given:
        raise UsageError(
            tr(
                "--batch takes all of a question from its line; leave {option} out",
                option="--" + given[0].replace("_", "-"),
            )
        )
    target = sys.stdout.buffer
    if options.batch == "-":
        faults = workbench.estimate_lines(sys.stdin.buffer, target)
    else:
        try:
            with Path(options.batch).open("rb") as source:
                faults = workbench.estimate_lines(source, target)
        except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
            reason = (error.strerror or "").lower()
            raise InputError(message("file.unreadable", reason=reason), options.batch) from error
    return AT_FAULT if faults else DONE


def _each(scenario: Scenario, workbench: Workbench, *, as_json: bool) -> int:
    """Estimate every accelerator of a scenario; those that cannot be are reported one line each."""
    from gpudesk.cli.estimate_text import estimate_lines
    from gpudesk.domain.formatting import Formatter
    from gpudesk.sentences import problem
    from gpudesk.workbench.estimate_json import estimate_fields
    from gpudesk.workbench.plan_json import plan_fields

    found = workbench.estimator.estimate_many(scenario.requests())
    code = DONE
    for position, (choice, result) in enumerate(zip(scenario.accelerators, found, strict=True)):
        if isinstance(result, InputError):
            code = AT_FAULT
            report(f"{choice.accelerator}: {problem(result)}", "estimate")
        elif as_json:
            plans = plan_fields(workbench.plans(result))
            output.say_json_line(
                estimate_fields(result) | {"accelerator": choice.accelerator, "plans": plans}
            )
        else:
            if position:
                output.say()
            name = workbench.catalog.accelerator(choice.accelerator).name
            made = workbench.plans(result)
            for line in estimate_lines(result, name, Formatter(), output.width(), output.strong, made):
                output.say(line)
    return code
