"""`gpudesk explain`: the working of a figure, term by term, and why the parallel plan was taken."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from gpudesk.cli import output
from gpudesk.cli.faults import AT_FAULT, DONE, report
from gpudesk.cli.options import add_json, add_scenario_options, scenario_from
from gpudesk.domain.messages import InputError
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.answers import Term
    from gpudesk.domain.plans import PlanChoice
    from gpudesk.workbench.workbench import Workbench

_FIGURE = "output_tokens_per_s"
#: What is explained by a table of parallel plans and not by formulas.
_PLAN = "plan"


class _Explained(NamedTuple):
    """One accelerator with the working of its figure, None for the plan, and its parallel plans."""

    accelerator: str
    term: Term | None
    plans: PlanChoice


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    description = tr("Show how a figure comes about: formulas, numbers, units and sources.")
    parser = commands.add_parser("explain", help=description, description=description)
    parser.add_argument(
        "figure",
        nargs="?",
        default=_FIGURE,
        metavar=tr("FIGURE"),
        help=tr("such as output_tokens_per_s, ttft_ms, tpot_ms, max_concurrency, memory or plan"),
    )
    add_scenario_options(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain the figure for each accelerator."""
    from gpudesk.sentences import problem
    from gpudesk.workbench.workbench import Workbench

    explained: list[_Explained] = []
    code = DONE
    with Workbench.open() as workbench:
        scenario = scenario_from(options, workbench)
        for choice, request in zip(scenario.accelerators, scenario.requests(), strict=True):
            try:
                estimate = workbench.estimate(request)
                term = None if options.figure == _PLAN else workbench.explain(estimate, options.figure)
            except InputError as error:
                code = AT_FAULT
                report(f"{choice.accelerator}: {problem(error)}", "explain")
            else:
                explained.append(_Explained(choice.accelerator, term, workbench.plans(estimate)))
        if options.json:
            _say_json(explained, workbench, options.figure)
        else:
            _say(explained, workbench)
    return code


def _say_json(explained: list[_Explained], workbench: Workbench, figure: str) -> None:
    from gpudesk.workbench.plan_json import plan_fields

    parts = [
        {
            "accelerator": each.accelerator,
            "term": None if each.term is None else _fields(each.term, workbench),
            "plans": plan_fields(each.plans),
        }
        for each in explained
    ]
    output.say_json({"figure": figure, "accelerators": parts})


def _say(explained: list[_Explained], workbench: Workbench) -> None:
    from gpudesk.cli.plan_text import plan_block, plan_table
    from gpudesk.domain.formatting import Formatter

    made = (Formatter(), output.width(), output.strong)
    for position, each in enumerate(explained):
        if position:
            output.say()
        output.say(output.strong(workbench.catalog.accelerator(each.accelerator).name))
        lines = list(plan_table(each.plans, *made))
        if each.term is not None:
            block = list(plan_block(each.plans, *made))
            lines = [*term_lines(each.term, workbench), *([""] if block else []), *block]
        for line in lines:
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
