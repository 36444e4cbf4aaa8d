"""`gpudesk explain`: the working of a figure, term by term, and why the parallel plan was taken."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from gpudesk.cli import output
from gpudesk.cli.faults import AT_FAULT, DONE, report
from gpudesk.cli.options import add_json, add_scenario_options, scenario_from
from gpudesk.domain.messages import InputError, message
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.answers import Term
    from gpudesk.domain.estimates import Estimate
    from gpudesk.domain.plans import PlanChoice
    from gpudesk.domain.records import Record
    from gpudesk.workbench.workbench import Workbench

_FIGURE = "output_tokens_per_s"
#: What is explained by a table of parallel plans and not by formulas.
_PLAN = "plan"


class _Explained(NamedTuple):
    """One accelerator with the working of its figure, None for the plan, its plans, and our record.

    `record` is None where the published figures cannot be read, and `fault` says why.
    """

    accelerator: str
    estimate: Estimate
    term: Term | None
    plans: PlanChoice
    record: tuple[Record, ...] | None
    fault: InputError | None = None


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    description = tr("Show how a figure comes about: formulas, numbers, units and sources.")
    parser = commands.add_parser("explain", help=description, description=description)
    parser.add_argument(
        "figure",
        nargs="?",
        default=_FIGURE,
        metavar=tr("FIGURE"),
        help=tr(
            "such as output_tokens_per_s, ttft_ms, tpot_ms, max_concurrency, memory or plan; or a worked "
            "example by its number, such as W001-05, or examples for a list of them"
        ),
    )
    add_scenario_options(parser)
    add_json(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain the figure for each accelerator."""
    from gpudesk.cli.worked_text import is_example, say_examples
    from gpudesk.sentences import problem
    from gpudesk.workbench.workbench import Workbench

    explained: list[_Explained] = []
    code = DONE
    with Workbench.open() as workbench:
        if is_example(options.figure):
            say_examples(options.figure, workbench, as_json=options.json)
            return DONE
        scenario = scenario_from(options, workbench)
        _check_figure(options.figure)
        for choice, request in zip(scenario.accelerators, scenario.requests(), strict=True):
            try:
                estimate = workbench.estimate(request)
                explained.append(_explained(choice.accelerator, estimate, options.figure, workbench))
            except InputError as error:
                code = AT_FAULT
                report(f"{choice.accelerator}: {problem(error)}", "explain")
        if options.json:
            _say_json(explained, workbench, options.figure)
        else:
            _say(explained, options.figure, workbench)
    # The same files are behind all records.
    for fault in [each.fault for each in explained if each.fault is not None][:1]:
        code = AT_FAULT
        report(tr("our record cannot be shown: {problem}", problem=problem(fault)), "explain")
    return code


def _check_figure(figure: str) -> None:
    """Raise InputError that names what can be explained."""
    from gpudesk.workbench.working import FIGURES

    known = (*FIGURES, _PLAN)
    if figure not in known:
        raise InputError(message("explain.unknown", figure=figure, known=known), tr("figure"))


def _explained(accelerator: str, estimate: Estimate, figure: str, workbench: Workbench) -> _Explained:
    """Ask for everything behind a figure; raises InputError where it has no working."""
    term = None if figure == _PLAN else workbench.explain(estimate, figure)
    plans = workbench.plans(estimate)
    try:
        return _Explained(accelerator, estimate, term, plans, workbench.record(estimate, figure))
    except InputError as error:
        return _Explained(accelerator, estimate, term, plans, None, error)


def _say_json(explained: list[_Explained], workbench: Workbench, figure: str) -> None:
    from gpudesk.workbench.plan_json import plan_fields
    from gpudesk.workbench.record_json import record_fields

    parts = [
        {
            "accelerator": each.accelerator,
            "term": None if each.term is None else _fields(each.term, workbench),
            "plans": plan_fields(each.plans),
            "record": None if each.record is None else record_fields(each.record),
        }
        for each in explained
    ]
    output.say_json({"figure": figure, "accelerators": parts})


def _say(explained: list[_Explained], figure: str, workbench: Workbench) -> None:
    from gpudesk.cli.estimate_text import pool_lines
    from gpudesk.cli.plan_text import plan_block, plan_table
    from gpudesk.cli.record_text import record_block
    from gpudesk.domain.formatting import Formatter

    made = (Formatter(), output.width(), output.strong)
    for position, each in enumerate(explained):
        if position:
            output.say()
        output.say(output.strong(workbench.catalog.accelerator(each.accelerator).name))
        blocks = (
            [plan_table(each.plans, *made)] if each.plans.options else [pool_lines(each.estimate, made[0])]
        )
        if each.term is not None:
            blocks = [
                list(term_lines(each.term, workbench)),
                list(plan_block(each.plans, *made)),
            ]
            if each.record is not None:
                blocks.append(list(record_block(each.estimate, figure, each.record, *made)))
        for number, block in enumerate(filter(None, blocks)):
            for line in ["", *block] if number else block:
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
    from gpudesk.domain.formatting import Formatter
    from gpudesk.sentences import sentence
    from gpudesk.sheets.terms import named_formula, term_value

    value, unit = term_value(term, Formatter())
    if isinstance(term.value, int | float) and term.unit == "B":
        # In both units, since there is room.
        value = Formatter().memory(term.value)
    elif unit is not None:
        value = f"{value} {unit}"
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
