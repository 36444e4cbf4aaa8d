"""`gpudesk compare`: up to six accelerators side by side."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.faults import DONE
from gpudesk.cli.options import add_json, add_scenario_options, scenario_from
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.answers import Answer


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    description = tr("Put up to six accelerators side by side for one model and workload.")
    parser = commands.add_parser("compare", help=description, description=description)
    add_scenario_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar=tr("FILE"),
        help=tr("write the sheet: .pdf, .html, .md, .csv, .xlsx, .json; or .gpudesk for the scenario"),
    )
    add_ranking(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def add_ranking(parser: argparse.ArgumentParser) -> None:
    """Add what asks for announced parts among those that are ranked."""
    parser.add_argument(
        "--rank-announced", action="store_true", help=tr("rank announced parts beside shipping ones")
    )


def run(options: argparse.Namespace) -> int:
    """Show the comparison, or write it to a file."""
    from gpudesk.workbench.workbench import Workbench

    target = None if options.output is None else Path(options.output)
    if target is not None:
        output.check_format(target)
    with Workbench.open() as workbench:
        workbench.rank_announced = options.rank_announced
        answer = workbench.answer(scenario_from(options, workbench), with_curves=target is not None)
        if target is not None and target.suffix.lower() == output.SCENARIO_SUFFIX:
            workbench.save_scenario(answer.scenario, target)
        elif target is not None:
            paper = getattr(options, "paper", None)
            flips = workbench.flips(answer) if answer.scenario.decision.answers else ()
            further = workbench.further(answer, flips)
            output.write_sheet(answer, target, paper, workbench.explain, further)
    if target is not None:
        output.written(target, as_json=options.json, content_hash=answer.content_hash)
    else:
        show(answer, as_json=options.json)
    return DONE


def show(answer: Answer, *, as_json: bool = False) -> None:
    """Write an answer to standard output."""
    if as_json:
        from gpudesk.sheets.json import answer_fields

        output.say_json(answer_fields(answer))
        return
    from gpudesk.cli.sheet_text import sheet_lines
    from gpudesk.sheets.sections import make_sheet

    for line in sheet_lines(make_sheet(answer), output.width(), output.strong):
        output.say(line)
