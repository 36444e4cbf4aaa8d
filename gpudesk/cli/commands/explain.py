"""`gpudesk explain`: the derivation of a figure, its parallel plans and measured runs; worked examples."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gpudesk.cli import output
from gpudesk.cli.options import add_scenario_options, build_scenario, finish_command, open_service, parse_number
from gpudesk.cli.output import EXIT_AT_FAULT, EXIT_DONE, report_error
from gpudesk.domain.deployment_analysis import ComparableRun
from gpudesk.domain.estimate import ConsideredPlan, Estimate, PlanChoice, format_plan
from gpudesk.domain.estimate_json import encode_fields
from gpudesk.report.explanation.claims import format_runs_title
from gpudesk.report.explanation.working import (
    build_explained_plans,
    build_measured_runs,
    format_named_formula,
    format_term_value,
)
from gpudesk.report.labels import list_model_warnings
from gpudesk.report.writers.text import align_table, indent_hanging, measure_text, wrap_text
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, format_message, input_error, join_messages, quote_input
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.deployment_analysis import DerivationTerm, WorkedFigure
    from gpudesk.service import GpuDeskService


_BULLET = "- "


def list_plan_table(choice: PlanChoice, formatter: Formatter, width: int) -> list[str]:
    head = (tr("Plan"), tr("Output tok/s"), tr("TTFT ms"), tr("TPOT ms"), tr("Reason"))
    rows = [_make_row(option, formatter) for option in choice.options]
    return align_table(head, rows, width, right=(1, 2, 3), strong=output.make_bold)


def _make_row(option: ConsideredPlan, formatter: Formatter) -> tuple[str, ...]:
    figures = (option.output_tokens_per_s, option.ttft_ms, option.tpot_ms)
    cells = (MISSING_VALUE_TEXT if each is None else formatter.estimate(each.value) for each in figures)
    reason = join_messages(option.reasons, formatter)
    if option.is_chosen:
        reason = tr("chosen: {reason}", reason=reason)
    return (format_plan(option.plan), *cells, reason)


def list_plan_block(choice: PlanChoice, formatter: Formatter, width: int) -> Iterator[str]:
    """Yield the reason for the plan, its nearest alternatives, and the number of others; or nothing."""
    lines = build_explained_plans(choice, formatter)
    if lines is None:
        return
    yield output.make_bold(tr("Why this plan"))
    for plan in lines.first_plans:
        yield from indent_hanging(_BULLET, plan.sentence, width)
    for group in lines.more:
        yield from indent_hanging(_BULLET, group.label, width)


def list_measured_runs(
    estimate: Estimate, figure: str, records: tuple[ComparableRun, ...], formatter: Formatter, width: int
) -> Iterator[str]:
    """Yield the nearest published figures; nothing for an unpublished figure."""
    runs = build_measured_runs(estimate, figure, records, formatter)
    if runs is None:
        return
    yield output.make_bold(format_runs_title(runs))
    if runs.remark is not None:
        yield from indent_hanging("", f"{runs.remark}.", width)
    for line in runs.lines:
        text = ", ".join(part for part in (line.sentence, line.address) if part)
        yield from indent_hanging(_BULLET, text, width)


_ALL: Final = "examples"
_NUMBER: Final = re.compile(r"[a-z]+\d*-\d+", re.IGNORECASE)


def print_worked_examples(figure: str, service: GpuDeskService, *, as_json: bool) -> None:
    """Write one example or all of them; raises `InputError` for an unknown one."""
    chosen = _select_figures(figure, service)
    if as_json:
        output.print_json({"examples": [_encode_worked_example(each) for each in chosen]})
        return
    lines = _list(chosen) if figure == _ALL else _explain_one(chosen[0], service)
    output.print_lines(lines)


def _select_figures(figure: str, service: GpuDeskService) -> list[WorkedFigure]:
    examples = service.worked_examples
    if figure == _ALL:
        return list(examples)
    matches = [each for each in examples if each.example.id == figure.upper()]
    if not matches:
        raise input_error(
            "worked.unknown",
            "unknown checked claim {given}; list all with `gpudesk explain examples`",
            tr("figure"),
            given=quote_input(figure),
        )
    return matches


def _list(examples: list[WorkedFigure]) -> list[str]:
    from gpudesk.report.explanation.worked_examples import (
        format_computed_figure,
        format_printed_figure,
        label_worked_claim,
        label_worked_verdict,
    )

    formatter = Formatter()
    head = (tr("Number"), tr("Published"), tr("Computed"), tr("Verdict"), tr("Claim"))
    rows = [
        (
            each.example.id,
            format_printed_figure(each, formatter),
            format_computed_figure(each, formatter),
            label_worked_verdict(each),
            label_worked_claim(each),
        )
        for each in examples
    ]
    return align_table(head, rows, output.get_terminal_width(), right=(1, 2), strong=output.make_bold)


def _explain_one(figure: WorkedFigure, service: GpuDeskService) -> Iterator[str]:
    from gpudesk.report.explanation.worked_examples import (
        describe_worked_note,
        describe_worked_verdict,
        label_worked_claim,
        list_worked_arithmetic,
    )

    formatter, width = Formatter(), output.get_terminal_width()
    example = figure.example
    yield output.make_bold(f"{example.id}  {label_worked_claim(figure)}")
    if example.source is not None:
        yield from wrap_text(service.catalog.source(example.source).title, width)
    for line in list_worked_arithmetic(figure, formatter):
        yield from wrap_text(line, width, "  ")
    yield from wrap_text(
        " ".join(filter(None, (describe_worked_verdict(figure, formatter), describe_worked_note(example)))), width
    )


def _encode_worked_example(figure: WorkedFigure) -> dict[str, Any]:
    working = figure.working
    derived: dict[str, Any] = {"value": None, "unit": None, "formula": None, "inputs": {}}
    if working is not None:
        inputs = {each.name: encode_fields(each, "value=number unit") for each in working.inputs}
        derived = {**encode_fields(working, "value=number unit"), "formula": format_named_formula(working)}
        derived["inputs"] = inputs
    return {
        **encode_fields(
            figure.example, "id source statement stated=published stated_low=published_low stated_high=published_high"
        ),
        **derived,
        "verdict": figure.verdict.value,
        "note": figure.example.note,
    }


_FIGURE = "output_tokens_per_s"
#: Explained by a table of parallel plans, not by formulas.
_PLAN = "plan"
#: Prefix of the names of fleet figures.
_OF_FLEETS = "fleet_"


class _ExplainedColumn(NamedTuple):
    """One accelerator with the derivation of its figure (None for the plan), its plans, and measured runs.

    `record` is None if the published figures cannot be read, with the `fault`.
    """

    accelerator: str
    estimate: Estimate
    term: DerivationTerm | None
    plans: PlanChoice
    record: tuple[ComparableRun, ...] | None
    fault: InputError | None = None


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    description = tr("Show how a figure is computed: formulas, inputs, units and sources.")
    parser = commands.add_parser("explain", help=description, description=description)
    parser.add_argument(
        "figure",
        nargs="?",
        default=_FIGURE,
        metavar=tr("FIGURE"),
        help=tr(
            "figure such as ttft_ms, memory, plan, fleet_power or fleet_owned_month; or a checked claim such as "
            "W001-05; or examples to list all checked claims"
        ),
    )
    demand = parser.add_argument_group(tr("demand of a fleet (or a load option below)"))
    demand.add_argument("--users", metavar="N", type=parse_number, help=tr("active users, daily average"))
    demand.add_argument("--tokens-per-day", metavar=tr("TOKENS"), type=parse_number, help=tr("output tokens per day"))
    add_scenario_options(parser)
    finish_command(parser, run)


def run(options: argparse.Namespace) -> int:
    from gpudesk.text.messages import format_input_error

    explained: list[_ExplainedColumn] = []
    code = EXIT_DONE
    with open_service(options) as service:
        if options.figure == _ALL or _NUMBER.fullmatch(options.figure) is not None:
            print_worked_examples(options.figure, service, as_json=options.json)
            return EXIT_DONE
        if options.figure.startswith(_OF_FLEETS):
            return _explain_fleets(options, service)
        scenario = build_scenario(options, service)
        _check_figure(options.figure)
        for choice, request in zip(scenario.accelerators, scenario.requests(), strict=True):
            try:
                estimate = service.estimate(request)
                explained.append(_explain_column(choice.accelerator, estimate, options.figure, service))
            except InputError as error:
                code = EXIT_AT_FAULT
                report_error(f"{choice.accelerator}: {format_input_error(error)}", "explain")
        if options.json:
            from gpudesk.domain.estimate_json import write_plan_choice_json, write_record_json

            parts = [
                {
                    "accelerator": each.accelerator,
                    "term": None if each.term is None else _encode_term(each.term, service.source_text),
                    "plans": write_plan_choice_json(each.plans),
                    "record": None if each.record is None else write_record_json(each.record),
                }
                for each in explained
            ]
            output.print_json({"figure": options.figure, "accelerators": parts})
        else:
            _print_explanation(explained, options.figure, service)
    # All records come from the same files.
    for fault in [each.fault for each in explained if each.fault is not None][:1]:
        code = EXIT_AT_FAULT
        report_error(
            tr("similar measured runs are unavailable: {problem}", problem=format_input_error(fault)), "explain"
        )
    return code


def _explain_fleets(options: argparse.Namespace, service: GpuDeskService) -> int:
    """Print the derivation of a figure of each fleet for the demand of the options, or of the scenario."""
    from gpudesk.cli.commands.size import OPEN_LOAD, read_demand
    from gpudesk.report.explanation.fleet import (
        FLEET_FIGURES,
        derive_fleet_figure,
        describe_fleet_source,
        gather_derived_fleet,
    )

    figure, formatter, code = options.figure, Formatter(), EXIT_DONE
    _check_figure(figure, FLEET_FIGURES)
    scenario = build_scenario(options, service, load=OPEN_LOAD)
    scenario = replace(scenario, demand=read_demand(options, scenario.demand))
    answer, explained = service.fleet(scenario), []
    for option in answer.options:
        part, count = service.catalog.accelerator(option.accelerator), option.used or 1
        inputs = service.costing.resolve_inputs(part, count, scenario)
        fleet = gather_derived_fleet(option, answer, scenario, inputs, formatter)
        term = None if fleet is None else derive_fleet_figure(fleet, figure)
        if term is None:
            code = EXIT_AT_FAULT
            report_error(tr("{name}: this fleet has no such figure", name=part.name), "explain")
        else:
            explained.append((part, term))
    if options.json:
        terms = [
            {"accelerator": part.id, "term": _encode_term(term, describe_fleet_source)} for part, term in explained
        ]
        output.print_json({"figure": figure, "accelerators": terms})
        return code
    for position, (part, term) in enumerate(explained):
        output.print_lines([*([""] if position else []), output.make_bold(part.name)])
        output.print_lines(list_term_lines(term, describe_fleet_source, output.get_terminal_width()))
    return code


def _check_figure(figure: str, known: tuple[str, ...] = ()) -> None:
    """Refuse an unknown figure; known ones are those of estimates by default."""
    from gpudesk.estimation.derivation.figures import EXPLAINED_FIGURES, describe_unknown_figure

    figure_names = known or (*EXPLAINED_FIGURES, _PLAN)
    if figure not in figure_names:
        raise InputError(describe_unknown_figure(figure, figure_names))


def _explain_column(accelerator: str, estimate: Estimate, figure: str, service: GpuDeskService) -> _ExplainedColumn:
    """Return everything behind a figure; raises InputError if it has no derivation."""
    term = None if figure == _PLAN else service.explain(estimate, figure)
    plans = service.estimator.plans(estimate)
    try:
        return _ExplainedColumn(accelerator, estimate, term, plans, service.record(estimate, figure))
    except InputError as error:
        return _ExplainedColumn(accelerator, estimate, term, plans, None, error)


def _print_explanation(explained: list[_ExplainedColumn], figure: str, service: GpuDeskService) -> None:
    style = (Formatter(), output.get_terminal_width())
    for position, each in enumerate(explained):
        if position:
            output.print_line()
        output.print_line(output.make_bold(service.catalog.accelerator(each.accelerator).name))
        if each.term is None:
            blocks = [
                list_plan_table(each.plans, *style) if each.plans.options else _list_pools(each.estimate, style[0])
            ]
        else:
            lines = list(list_term_lines(each.term, service.source_text, style[1]))
            blocks = [lines, list(list_plan_block(each.plans, *style))]
            if each.record is not None:
                blocks.append(list(list_measured_runs(each.estimate, figure, each.record, *style)))
        warnings = list_model_warnings(service.catalog.model(each.estimate.request.model), style[0])
        blocks.append([line for text in warnings for line in wrap_text(f"{text}.", style[1])])
        for number, block in enumerate(filter(None, blocks)):
            output.print_lines(["", *block] if number else block)


def _list_pools(estimate: Estimate, formatter: Formatter) -> list[str]:
    from gpudesk.cli.commands.estimate import list_pool_lines

    return list_pool_lines(estimate, formatter)


def _encode_term(term: DerivationTerm, source_text: Callable[[str], str]) -> dict[str, Any]:
    return {
        **encode_fields(term, "name value unit"),
        "formula": format_named_formula(term),
        "source": None if term.source is None else source_text(term.source),
        "inputs": [_encode_term(part, source_text) for part in term.inputs],
    }


def list_term_lines(
    term: DerivationTerm, source_text: Callable[[str], str], width: int, lead: str = "", below: str = ""
) -> Iterator[str]:
    """Yield a term and, indented, its inputs: value, formula, source; lines of at most `width` where words allow."""
    value, unit = format_term_value(term, Formatter())
    if isinstance(term.value, int | float) and term.unit == "B":
        # In both units, since there is room.
        value = Formatter().memory(term.value)
    elif unit is not None:
        value = f"{value} {unit}"
    source = "" if term.source is None else f"  [{source_text(term.source)}]"
    rule = "│ " if term.inputs else "  "
    yield from _wrap_branch(f"{tr(term.name)} = {value}{source}", width, lead, f"{below}{rule}  ")
    formula = format_named_formula(term)
    if formula:
        yield from _wrap_branch(f"= {formula}", width, below + rule, f"{below}{rule}  ")
    if term.note is not None:
        yield from _wrap_branch(format_message(term.note), width, below + rule, below + rule)
    for number, part in enumerate(term.inputs, 1):
        is_last = number == len(term.inputs)
        yield from list_term_lines(
            part, source_text, width, below + ("└ " if is_last else "├ "), below + ("  " if is_last else "│ ")
        )


def _wrap_branch(text: str, width: int, lead: str, below: str) -> Iterator[str]:
    if measure_text(lead + text) <= width:
        yield lead + text
        return
    first, *rest = wrap_text(text, max(width - measure_text(below), 20))
    yield lead + first
    yield from (below + line for line in rest)
