"""`gpudesk cost`: what a comparison costs, owned, rented and by the token."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.faults import DONE
from gpudesk.cli.options import add_json, add_scenario_options, number, scenario_from, whole
from gpudesk.domain.messages import InputError, message
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.cost_inputs import CostSettings
    from gpudesk.domain.scenarios import Scenario
    from gpudesk.workbench.workbench import Workbench

_DRAWS, _MOST_DRAWS, _SEED = 100_000, 10_000_000, 1
_HIGHEST_SEED = 2**32 - 1
_SET: Final = "--set"
_WORKBOOK: Final = ".xlsx"


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    summary = tr(
        "Say what a comparison costs: tokens owned and rented, all years, break-evens, what is unknown."
    )
    parser = commands.add_parser(
        "cost",
        help=summary,
        description=" ".join((summary, tr("Amounts are US dollars, taxes excluded."))),
    )
    _add_costs(parser.add_argument_group(tr("costs, otherwise of the catalog and of defaults")))
    add_scenario_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar=tr("FILE"),
        help=tr("write the cash flow month by month: .xlsx, with live formulas"),
    )
    add_json(parser)
    parser.set_defaults(run=run)


def _add_costs(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        _SET,
        action="append",
        default=[],
        dest="stated",
        metavar="NAME=VALUE",
        help=tr(
            "an input of all, as energy_usd_per_kwh=0.1, or of one accelerator, as mi325x.price_usd=22000; "
            "LOW:LIKELY:HIGH where it is not known; can be repeated"
        ),
    )
    group.add_argument(
        "--list-inputs",
        action="store_true",
        help=tr("list the inputs with their values and sources, and end"),
    )
    group.add_argument(
        "--rent-term", metavar="TERM", help=tr("on_demand, spot or reserved; on_demand if omitted")
    )
    group.add_argument(
        "--runs-on",
        metavar=tr("PLATFORM"),
        help=tr("the platform that the team's software runs on; CUDA if omitted"),
    )
    group.add_argument(
        "--around",
        metavar="F",
        type=number,
        help=tr("take every input to be known to this share on either side, as 0.2"),
    )
    group.add_argument(
        "--reported-discounts",
        action="store_true",
        help=tr("take the discounts that unnamed buyers report of their vendors"),
    )
    group.add_argument(
        "--currency",
        metavar="CODE=RATE@DATE",
        help=tr("show amounts in a currency of which RATE were a dollar on DATE; JSON stays in dollars"),
    )
    group.add_argument(
        "--draws", metavar="N", type=whole, default=_DRAWS, help=tr("draws; 100000 if omitted")
    )
    group.add_argument("--seed", metavar="N", type=whole, default=_SEED, help=tr("seed of the draws"))


def run(options: argparse.Namespace) -> int:
    """Work the costs out."""
    from gpudesk.workbench.workbench import Workbench

    if not 1 <= options.draws <= _MOST_DRAWS:
        raise InputError(message("field.range", given=str(options.draws), low=1, high=_MOST_DRAWS), "--draws")
    if not 0 <= options.seed <= _HIGHEST_SEED:
        given = str(options.seed)
        raise InputError(message("field.range", given=given, low=0, high=_HIGHEST_SEED), "--seed")
    target = None if options.output is None else Path(options.output)
    if target is not None and target.suffix.lower() != _WORKBOOK:
        raise InputError(message("sheet.format", suffix=target.suffix, known=(_WORKBOOK,)), str(target))
    with Workbench.open() as workbench:
        scenario = scenario_from(options, workbench)
        settings = _settings(options, scenario, workbench)
        scenario = replace(scenario, costs=settings)
        if target is None:
            _show(options, scenario, workbench)
        else:
            _write(options, scenario, workbench, target)
    return DONE


def _settings(options: argparse.Namespace, scenario: Scenario, workbench: Workbench) -> CostSettings:
    """Return the settings of options over those of the scenario; raises `InputError` naming the option."""
    from gpudesk.workbench.cost_fields import cost_fields, parse_costs

    fields = cost_fields(scenario.costs)
    named = {"rent_term": options.rent_term, "runs_on": options.runs_on, "around": options.around}
    fields |= {name: value for name, value in named.items() if value is not None}
    if options.currency is not None:
        fields["currency"] = _currency(options.currency)
    for given in options.stated:
        _state(fields, given, {choice.accelerator for choice in scenario.accelerators})
    try:
        settings = parse_costs(fields)
    except InputError as error:
        raise InputError(error.problem, _option(error.where)) from error
    return workbench.costing.with_reported(settings, scenario) if options.reported_discounts else settings


def _state(fields: dict[str, Any], given: str, present: set[str]) -> None:
    """Put what `--set` states among the fields."""
    left, equals, value = given.partition("=")
    part, dot, name = left.strip().rpartition(".")
    if not equals or not name:
        raise InputError(message("costs.set", given=given), _SET)
    if dot and part not in present:
        raise InputError(message("costs.no_part", given=part, known=tuple(sorted(present))), _SET)
    numbers = [_number(each, given) for each in value.split(":")]
    stated: Any = numbers[0] if len(numbers) == 1 else numbers
    if dot:
        fields.setdefault("accelerators", {}).setdefault(part, {})[name] = stated
    else:
        fields.setdefault("inputs", {})[name] = stated


def _number(text: str, given: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(message("costs.set", given=given), _SET) from error


def _currency(given: str) -> dict[str, Any]:
    code, equals, rest = given.partition("=")
    rate, at, date = rest.partition("@")
    try:
        if equals and at:
            return {"code": code, "per_usd": float(rate), "date": date}
    except ValueError:
        pass
    raise InputError(message("costs.currency", given=given), "--currency")


def _option(where: str | None) -> str | None:
    """Return the option that a field of the settings comes from, with what follows the section's name."""
    place = (where or "").removeprefix("costs").lstrip(".")
    head = place.partition(".")[0]
    if head in ("rent_term", "runs_on", "around", "currency"):
        return "--" + head.replace("_", "-")
    return f"{_SET} {place.partition('.')[2]}".strip()


def _write(options: argparse.Namespace, scenario: Scenario, workbench: Workbench, target: Path) -> None:
    """Write the cash flow as a workbook."""
    from gpudesk.domain.comparison import column_keys
    from gpudesk.sheets.cash_flow import cash_flow_workbook
    from gpudesk.sheets.dates import today
    from gpudesk.sheets.names import column_names
    from gpudesk.workbench.files import write_atomically

    answer = workbench.answer(scenario)
    names = dict(zip(column_keys(scenario.accelerators), column_names(answer), strict=True))
    revision = answer.catalog_revision[:8]
    costs = workbench.costs(answer)
    book = cash_flow_workbook(costs, names, title=scenario.name, revision=revision, made_on=today())
    write_atomically(target, book)
    output.written(target, as_json=options.json, content_hash=answer.content_hash)


def _show(options: argparse.Namespace, scenario: Scenario, workbench: Workbench) -> None:
    """Write what was found to standard output."""
    answer = workbench.answer(scenario, with_curves=options.json)
    costs = workbench.costs(answer)
    costing = workbench.costing
    if options.list_inputs:
        from gpudesk.cli.cost_text import input_lines

        for line in input_lines(costs, answer, output.width(), output.strong):
            output.say(line)
        return
    owned, rented = (
        costing.draws(answer, rented=by_rent, count=options.draws, seed=options.seed)
        for by_rent in (False, True)
    )
    if options.json:
        from gpudesk.sheets.cost_json import cost_fields

        output.say_json(cost_fields(costs, owned, rented))
        return
    from gpudesk.cli.cost_text import cost_lines

    for line in cost_lines(costs, answer, (owned, rented), output.width(), output.strong):
        output.say(line)
