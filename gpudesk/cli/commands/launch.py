"""`gpudesk launch`: the commands that start a deployment and benchmark it."""

from __future__ import annotations

import argparse
from typing import Any

from gpudesk.cli import output
from gpudesk.cli.options import add_scenario_options, build_scenario, finish_command, open_service
from gpudesk.cli.output import EXIT_AT_FAULT, EXIT_DONE, report_error
from gpudesk.report.launch import list_launch_lines, write_launch_json
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import InputError, format_input_error
from gpudesk.text.translation import tr, trn


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    description = tr("Print the commands that start a deployment and benchmark it, for each host.")
    parser = commands.add_parser("launch", help=description, description=description)
    add_scenario_options(parser)
    group = parser.add_argument_group(tr("commands"))
    group.add_argument("--engine-version", metavar="V", help=tr("serving engine version (default: latest known)"))
    group.add_argument("--reproduce", action="store_true", help=tr("disable prefix caching, as the estimate assumes"))
    finish_command(parser, run)


def run(options: argparse.Namespace) -> int:
    with open_service(options) as service:
        scenario = build_scenario(options, service)
        estimates = service.estimator.estimate_many(scenario.requests())
        code = EXIT_DONE
        formatter, separate = Formatter(), False
        for choice, result in zip(scenario.accelerators, estimates, strict=True):
            try:
                if isinstance(result, InputError):
                    raise result
                plan = service.launch(result, version=options.engine_version, reproduce=options.reproduce)
            except InputError as error:
                code = EXIT_AT_FAULT
                text = f"{choice.accelerator}: {format_input_error(error)}"
                needs = None if isinstance(result, InputError) or result.fits else result.needs
                if needs is not None:
                    n = formatter.count(needs)
                    text = trn(
                        "{problem}; {n} accelerator fits", "{problem}; {n} accelerators fit", needs, problem=text, n=n
                    )
                report_error(text, "launch")
                continue
            if options.json:
                output.print_json_line({"accelerator": choice.accelerator} | write_launch_json(plan))
                continue
            if separate:
                output.print_line()
            separate = True
            name = service.catalog.accelerator(choice.accelerator).name
            output.print_lines(list_launch_lines(plan, name, formatter, output.get_terminal_width(), output.make_bold))
        return code
