"""`gpudesk size`: how many of each accelerator a demand needs."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.options import (
    add_options,
    add_scenario_options,
    build_scenario,
    finish_command,
    open_service,
    parse_number,
    parse_whole,
)
from gpudesk.cli.output import EXIT_DONE, UsageError
from gpudesk.domain.estimate import format_plan
from gpudesk.domain.sizing import SizingOption, SizingResult
from gpudesk.report.labels import describe_requests, label_estimate_basis, label_serving_engine, shorten_name
from gpudesk.report.sizing import (
    describe_counts,
    describe_demand,
    describe_owned_systems,
    describe_peak,
    describe_sizing,
    format_max_power,
    format_sizing_factor,
    label_sizing_factor,
    list_bound_lines,
)
from gpudesk.report.writers.text import align_table, list_labeled_lines, wrap_text
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, join_unit
from gpudesk.text.messages import InputError, format_message, input_error
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.answer import Scenario
    from gpudesk.domain.sizing import Demand
    from gpudesk.service import GpuDeskService


_INDENT = "  "


def list_size_lines(
    sizing: SizingResult, requests: str, names: Sequence[str], formatter: Formatter, width: int
) -> Iterator[str]:
    if len(names) > 1:
        yield from map(output.make_bold, wrap_text(describe_counts(sizing, names, formatter), width))
    yield from wrap_text(f"{requests}.", width)
    yield from wrap_text(f"{describe_demand(sizing.demand, formatter)}.", width)
    if peak := describe_peak(sizing, formatter):
        yield from wrap_text(f"{peak}.", width)
    for candidate, name in zip(sizing.candidates, names, strict=True):
        yield ""
        yield from _describe_candidate(sizing, candidate, name, formatter, width)


def _describe_candidate(
    sizing: SizingResult, candidate: SizingOption, name: str, formatter: Formatter, width: int
) -> Iterator[str]:
    if candidate.count is None:
        yield output.make_bold(name)
    else:
        yield output.make_bold(f"{formatter.count(candidate.count)} × {name}")
    text = describe_sizing(sizing, candidate, name, formatter)
    yield from (_INDENT + line for line in wrap_text(text, width - len(_INDENT)))
    if candidate.count is None:
        return
    yield from list_labeled_lines(_list_facts(candidate, formatter), width)
    yield ""
    yield from (_INDENT + line for line in _format_factors(candidate, formatter, width - len(_INDENT)))
    yield ""
    for line in list_bound_lines(candidate, formatter):
        yield from (_INDENT + part for part in wrap_text(line, width - len(_INDENT)))
    for note in candidate.notes:
        yield from (_INDENT + line for line in wrap_text(f"{format_message(note, formatter)}.", width - len(_INDENT)))


def _list_facts(candidate: SizingOption, formatter: Formatter) -> list[tuple[str, str]]:
    estimate, rate = candidate.estimate, candidate.output_tokens_per_s
    power, basis = format_max_power(candidate, formatter)
    spare = candidate.spare // candidate.plan.replica
    facts = [
        (tr("One replica"), format_plan(candidate.plan)),
        (tr("Replicas"), tr("{n} active, {m} spare", n=formatter.count(candidate.replicas), m=formatter.count(spare))),
        (tr("Hosts"), formatter.count(candidate.nodes)),
        (tr("Requests in flight at peak"), _format_in_flight(candidate, formatter)),
        (
            tr("Max throughput within limits"),
            MISSING_VALUE_TEXT if rate is None else formatter.estimate_with_interval(rate, "tok/s"),
        ),
        (tr("Power, max"), f"{join_unit(power, 'kW')} ({basis})" if basis else power),
    ]
    if candidate.systems is not None:
        facts.insert(2, (tr("Systems"), describe_owned_systems(candidate.systems, formatter)))
    if estimate is not None:
        engine = f"{label_serving_engine(estimate.serving_engine)}, {label_estimate_basis(estimate)}"
        facts.insert(1, (tr("Serving engine"), engine))
    return facts


def _format_in_flight(candidate: SizingOption, formatter: Formatter) -> str:
    each, total = candidate.concurrency_per_replica, candidate.concurrency
    return tr("{n} per replica, {m} total", n=formatter.count(each), m=formatter.count(total))


def _format_factors(candidate: SizingOption, formatter: Formatter, width: int) -> list[str]:
    rows = [(f"× {format_sizing_factor(each, formatter)}", label_sizing_factor(each)) for each in candidate.factors]
    rows[0] = (rows[0][0].removeprefix("× "), rows[0][1])
    rows.append((f"= {formatter.count(candidate.count)}", tr("accelerators")))
    return align_table((tr("Factor"), tr("Meaning")), rows, width, right=(0,))


#: Options of the amount -> the kind of demand.
_AMOUNTS: Final = {name: name for name in ("users", "request_rate", "tokens_per_day", "concurrency")}
#: Further options of a demand -> field. Those of the limits share names with loads.
_FURTHER: Final = {
    "requests_per_user_hour": "requests_per_user_hour",
    "peak_factor": "peak_factor",
    "demand_ttft_ms": "ttft_ms",
    "demand_tpot_ms": "tpot_ms",
    "utilization": "utilisation_cap",
    "spare": "spare_replicas",
}
_OPTION: Final = {
    "ttft_ms": "--ttft-ms",
    "tpot_ms": "--tpot-ms",
    "utilisation_cap": "--utilization",
    "spare_replicas": "--spare",
}
#: A placeholder load: that of each replica follows from the demand.
OPEN_LOAD: Final = {"concurrency": 1}


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    summary = tr("Compute how many accelerators your traffic needs, including spares, and why.")
    parser = commands.add_parser(
        "size", help=summary, description=" ".join((summary, tr("Counts given with --accelerators are ignored.")))
    )
    add_demand_options(parser)
    add_scenario_options(parser, load=False)
    finish_command(parser, run)


def add_demand_options(parser: argparse.ArgumentParser, *, peak: bool = True) -> None:
    """Add the options of a demand; without `peak` its peak is defined elsewhere."""
    group = parser.add_argument_group(tr("demand, one of"))
    add_traffic_options(group)
    add_options(
        group,
        ("--request-rate --requests-per-second", tr("RATE"), parse_number, tr("average requests per second")),
        ("--concurrency", "N", parse_whole, tr("requests in flight at peak")),
    )
    group = parser.add_argument_group(tr("service requirements"))
    add_peak_options(group, peak=peak)
    for name, text in (
        ("ttft", tr("p99 TTFT limit in milliseconds (default: no limit)")),
        ("tpot", tr("p99 TPOT limit in milliseconds (default: no limit)")),
    ):
        add_options(group, (f"--{name}-ms", "MS", parse_number, text), dest=f"demand_{name}_ms")
    most = tr("max load of a replica at peak, as a fraction of its capacity (default: 0.8)")
    add_options(
        group,
        ("--utilization --utilisation", tr("FRACTION"), parse_number, most),
        ("--spare", "N", parse_whole, tr("spare replicas (default: 1)")),
    )


def add_traffic_options(group: argparse._ArgumentGroup) -> None:
    """Add the amounts of a demand that no load has."""
    add_options(
        group,
        ("--users", "N", parse_number, tr("active users, daily average")),
        ("--tokens-per-day", tr("TOKENS"), parse_number, tr("output tokens per day")),
    )


def add_peak_options(group: argparse._ArgumentGroup, *, peak: bool = True) -> None:
    hourly = tr("requests per user per hour, with --users (default: 12)")
    add_options(group, ("--requests-per-user-hour", tr("RATE"), parse_number, hourly))
    if peak:
        ratio = tr("peak traffic ÷ average traffic (default: 2)")
        add_options(group, ("--peak-factor", tr("RATIO"), parse_number, ratio))


def refuse_replicas(options: argparse.Namespace) -> None:
    """Raise `UsageError` if options fix the number of replicas, which sizing computes."""
    if options.dp is not None:
        raise UsageError(tr("--dp cannot be set here: sizing computes the number of replicas"))


def run(options: argparse.Namespace) -> int:
    from dataclasses import replace

    refuse_replicas(options)
    with open_service(options) as service:
        scenario = build_scenario(options, service, load=OPEN_LOAD)
        scenario = replace(scenario, demand=read_demand(options, scenario.demand))
        print_sizing(service.size(scenario), scenario, service, as_json=options.json)
    return EXIT_DONE


def read_demand(options: argparse.Namespace, base: Demand | None) -> Demand:
    """Return the demand of the options merged over that of the scenario; raises `InputError` naming the option."""
    from gpudesk.documents.scenario_file import parse_demand

    amounts = {name: getattr(options, name) for name in _AMOUNTS if getattr(options, name) is not None}
    if len(amounts) > 1:
        first, second = ("--" + name.replace("_", "-") for name in list(amounts)[:2])
        raise UsageError(tr("use either {first} or {second}", first=first, second=second))
    fields: dict[str, Any] = {} if base is None else asdict(base)
    for name, amount in amounts.items():
        fields |= {"kind": _AMOUNTS[name], "amount": amount}
    if not fields:
        raise input_error(
            "sizing.no_option", "no demand given; use one of --users, --request-rate, --tokens-per-day, --concurrency"
        )
    option_values = {field: getattr(options, option, None) for option, field in _FURTHER.items()}
    fields |= {field: value for field, value in option_values.items() if value is not None}
    try:
        return parse_demand(fields)
    except InputError as error:
        raise InputError(error.problem, _find_option(error.where, amounts)) from error


def _find_option(where: str | None, amounts: dict[str, Any]) -> str | None:
    name = (where or "").rpartition(".")[2]
    if name == "amount" and amounts:
        name = next(iter(amounts))
    return _OPTION.get(name, "--" + name.replace("_", "-")) if name else where


def print_sizing(sizing: SizingResult, scenario: Scenario, service: GpuDeskService, *, as_json: bool) -> None:
    names = tuple(service.catalog.accelerator(each.accelerator).name for each in sizing.candidates)
    if as_json:
        from gpudesk.report.writers.json_values import encode_sizing

        output.print_json(encode_sizing(sizing, names))
        return
    model, formatter = service.catalog.model(scenario.model).name, Formatter()
    requests = describe_requests(model, scenario.weights, scenario.workload, formatter)
    short_names = tuple(map(shorten_name, names))
    output.print_lines(list_size_lines(sizing, requests, short_names, formatter, output.get_terminal_width()))
