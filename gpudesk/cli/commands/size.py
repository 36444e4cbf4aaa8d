"""`gpudesk size`: how many of each accelerator a demand needs."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.faults import DONE, UsageError
from gpudesk.cli.options import add_json, add_scenario_options, number, scenario_from, whole
from gpudesk.domain.messages import InputError, message
from gpudesk.text import tr

if TYPE_CHECKING:
    from gpudesk.domain.demand import Demand, Sizing
    from gpudesk.workbench.workbench import Workbench

#: Options that say how much is asked -> how that is stated.
_AMOUNTS: Final = {"users": "users", "request_rate": "request_rate", "tokens_per_day": "tokens_per_day"}
#: Further options of a demand -> field. Those of the limits have names that loads have too.
_FURTHER: Final = {
    "requests_per_user_hour": "requests_per_user_hour",
    "peak_factor": "peak_factor",
    "demand_ttft_ms": "ttft_ms",
    "demand_tpot_ms": "tpot_ms",
    "utilisation": "utilisation_cap",
    "spare": "spare_replicas",
}
_OPTION: Final = {
    "ttft_ms": "--ttft-ms",
    "tpot_ms": "--tpot-ms",
    "utilisation_cap": "--utilisation",
    "spare_replicas": "--spare",
}
#: Stands in for a load: that of each replica follows from the demand.
_LOAD: Final = {"concurrency": 1}


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse keeps its type to itself
    """Add the command to the parser."""
    summary = tr("Say how many of each accelerator a demand needs, in reserve too, and why so many.")
    parser = commands.add_parser(
        "size",
        help=summary,
        description=" ".join((summary, tr("Counts that are given with the parts are left open."))),
    )
    _add_demand(parser.add_argument_group(tr("demand, one of")))
    _add_further(parser.add_argument_group(tr("what it has to meet")))
    add_scenario_options(parser, load=False)
    add_json(parser)
    parser.set_defaults(run=run)


def _add_demand(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--users", metavar="N", type=number, help=tr("users who are active at once"))
    group.add_argument(
        "--request-rate",
        "--requests-per-second",
        metavar="R",
        type=number,
        help=tr("R requests a second on average"),
    )
    group.add_argument("--tokens-per-day", metavar="N", type=number, help=tr("output tokens a day"))


def _add_further(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--requests-per-user-hour",
        metavar="R",
        type=number,
        help=tr("with --users: requests of one in an hour; 12 if omitted"),
    )
    group.add_argument(
        "--peak-factor", metavar="F", type=number, help=tr("busiest time over the average; 2 if omitted")
    )
    group.add_argument(
        "--ttft-ms",
        dest="demand_ttft_ms",
        metavar="X",
        type=number,
        help=tr("limit of TTFT for 99 requests of 100; none if omitted"),
    )
    group.add_argument(
        "--tpot-ms",
        dest="demand_tpot_ms",
        metavar="X",
        type=number,
        help=tr("limit of TPOT for 99 requests of 100; none if omitted"),
    )
    group.add_argument(
        "--utilisation",
        metavar="F",
        type=number,
        help=tr("share of its highest rate that a replica is loaded with at the peak; 0.8 if omitted"),
    )
    group.add_argument(
        "--spare",
        metavar="N",
        type=whole,
        help=tr("replicas that stand by for those that fail; 1 if omitted"),
    )


def run(options: argparse.Namespace) -> int:
    """Size the demand."""
    from dataclasses import replace

    from gpudesk.workbench.workbench import Workbench

    if options.dp is not None:
        raise UsageError(tr("--dp is what sizing works out; leave it out"))
    with Workbench.open() as workbench:
        scenario = scenario_from(options, workbench, load=_LOAD)
        scenario = replace(scenario, demand=_demand(options, scenario.demand))
        show(workbench.size(scenario), workbench, as_json=options.json)
    return DONE


def _demand(options: argparse.Namespace, base: Demand | None) -> Demand:
    """Return the demand of the options over that of the scenario; raises `InputError` naming the option."""
    from gpudesk.workbench.demand_fields import parse_demand

    given = {name: getattr(options, name) for name in _AMOUNTS if getattr(options, name) is not None}
    if len(given) > 1:
        first, second = ("--" + name.replace("_", "-") for name in list(given)[:2])
        raise UsageError(tr("{first} and {second} do not go together; give one", first=first, second=second))
    fields: dict[str, Any] = {} if base is None else asdict(base)
    for name, amount in given.items():
        fields |= {"kind": _AMOUNTS[name], "amount": amount}
    if not fields:
        raise InputError(message("sizing.no_option"))
    stated = {field: getattr(options, option) for option, field in _FURTHER.items()}
    fields |= {field: value for field, value in stated.items() if value is not None}
    try:
        return parse_demand(fields)
    except InputError as error:
        raise InputError(error.problem, _option(error.where, given)) from error


def _option(where: str | None, given: dict[str, Any]) -> str | None:
    """Return the option that a field of a demand comes from."""
    name = (where or "").rpartition(".")[2]
    if name == "amount" and given:
        name = next(iter(given))
    return _OPTION.get(name, "--" + name.replace("_", "-")) if name else where


def show(sizing: Sizing, workbench: Workbench, *, as_json: bool) -> None:
    """Write what was found to standard output."""
    names = tuple(workbench.catalog.accelerator(each.accelerator).name for each in sizing.candidates)
    if as_json:
        from gpudesk.sheets.sizing_json import sizing_fields

        output.say_json(sizing_fields(sizing, names))
        return
    from gpudesk.cli.size_text import size_lines
    from gpudesk.domain.formatting import Formatter

    for line in size_lines(sizing, names, Formatter(), output.width(), output.strong):
        output.say(line)
