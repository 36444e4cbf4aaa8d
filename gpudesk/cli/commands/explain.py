"""`gpudesk explain`: the working of a figure, term by term."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gpudesk.cli import output
from gpudesk.cli.faults import AT_FAULT, DONE, report
from gpudesk.cli.options import add_json, add_scenario_options, scenario_from
from gpudesk.domain.messages import InputError
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.answers import Term
    from gpudesk.workbench.workbench import Workbench

_FIGURE = "output_tokens_per_s"


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    description = tr("Show how a figure comes about: formulas, numbers, units and sources.")
    parser = commands.add_parser("explain", help=description, description=description)
    parser.add_argument(
        "figure",
        nargs="?",
        default=_FIGURE,
        metavar=tr("FIGURE"),
        help=tr("such as output_tokens_per_s, ttft_ms, tpot_ms, max_concurrency or memory"),
    )
    add_scenario_options(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain the figure for each accelerator."""
    from gpudesk.sentences import problem
    from gpudesk.workbench.workbench import Workbench

    explained: list[tuple[str, Term]] = []
    code = DONE
    with Workbench.open() as workbench:
        scenario = scenario_from(options, workbench)
        for choice, request in zip(scenario.accelerators, scenario.requests(), strict=True):
            try:
                term = workbench.explain(workbench.estimate(request), options.figure)
            except InputError as error:
                code = AT_FAULT
                report(f"{choice.accelerator}: {problem(error)}", "explain")
            else:
                explained.append((choice.accelerator, term))
        _show(explained, workbench, options)
    return code


def _show(explained: list[tuple[str, Term]], workbench: Workbench, options: argparse.Namespace) -> None:
    if options.json:
        output.say_json(
            {
                "figure": options.figure,
                "accelerators": [
                    {"accelerator": name, "term": _fields(term, workbench)} for name, term in explained
                ],
            }
        )
        return
    for position, (name, term) in enumerate(explained):
        if position:
            output.say()
        output.say(output.strong(workbench.catalog.accelerator(name).name))
        for line in term_lines(term, workbench):
            output.say(line)


def _fields(term: Term, workbench: Workbench) -> dict[str, Any]:
    from gpudesk.sheets.terms import named_formula

    return {
        "name": term.name,
        "value": term.value,
        "unit": term.unit,
        "formula": named_formula(term),
        "source": None if term.source is None else workbench.source_text(term.source),
        "inputs": [_fields(part, workbench) for part in term.inputs],
    }


def term_lines(term: Term, workbench: Workbench, lead: str = "", below: str = "") -> Iterator[str]:
    """Yield a term and, below it, what enters: value, formula, source."""
    from gpudesk.domain.formatting import UNKNOWN, Formatter
    from gpudesk.sentences import sentence
    from gpudesk.sheets.terms import named_formula

    if isinstance(term.value, int | float):
        value = Formatter().quantity(term.value, term.unit)
    else:
        value = UNKNOWN if term.value is None else term.value
    source = "" if term.source is None else f"  [{workbench.source_text(term.source)}]"
    yield f"{lead}{tr(term.name)} = {value}{source}"
    rule = "│ " if term.inputs else "  "
    formula = named_formula(term)
    if formula:
        yield f"{below}{rule}= {formula}"
    if term.note is not None:
        yield f"{below}{rule}{sentence(term.note)}"
    for number, part in enumerate(term.inputs, 1):
        is_last = number == len(term.inputs)
        yield from term_lines(
            part, workbench, below + ("└ " if is_last else "├ "), below + ("  " if is_last else "│ ")
        )
