"""Options shared by several commands, lists in one option, and the scenario that they define."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli.output import UsageError, report_error
from gpudesk.text.messages import InputError, format_input_error, format_message, input_error, quote_input
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.answer import Scenario
    from gpudesk.domain.fleet import FleetSettings
    from gpudesk.service import GpuDeskService


#: Options of the scenario itself -> field.
_SCENARIO: Final = (
    "model",
    "weights",
    "kv",
    "serving_engine",
    "date",
    "memory_fraction",
    "max_batch",
    "max_batched_tokens",
)
_WORKLOAD: Final = (
    "input_tokens",
    "output_tokens",
    "lengths",
    "server",
    "eager",
    "prefix_hit_rate",
    "acceptance_length",
)
_PLAN: Final = ("tp", "pp", "ep", "dp", "attention_dp")
#: One term of a pool: its count, or a degree with its name.
_POOL_DEGREE: Final = re.compile(r"(?P<name>tp|pp|ep|dp)?(?P<value>[0-9]+)")
#: Options of the load -> field.
_LOAD: Final = {
    "concurrency": "concurrency",
    "batch_size": "batch",
    "request_rate": "request_rate",
    "ttft_ms": "ttft_ms",
    "tpot_ms": "tpot_ms",
}


def parse_whole(text: str) -> int:
    """Read a whole number of an option; underscores can separate thousands."""
    try:
        return int(text)
    except ValueError:
        problem = tr("{given} is not a whole number", given=quote_input(text))
        raise argparse.ArgumentTypeError(problem) from None


def parse_number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        problem = tr("{given} is not a number", given=quote_input(text))
        raise argparse.ArgumentTypeError(problem) from None
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(tr("{given} is not a finite number", given=quote_input(text)))
    return number


def add_options(
    group: argparse._ActionsContainer,
    *lines: tuple[str, str, Callable[[str], Any], str],
    **settings: Any,  # noqa: ANN401 - any setting of argparse
) -> None:
    """Add options with a value; each line has its names, its placeholder, its parser and its help.

    The settings of argparse apply to all of them.
    """
    for names, placeholder, parse, text in lines:
        group.add_argument(*names.split(), metavar=placeholder, type=parse, help=text, **settings)


def add_words(
    group: argparse._ActionsContainer, name: str, words: Iterable[str], text: str, default: str | None = None
) -> None:
    """Add an option with one of some words, which are also its placeholder."""
    choices = [str(word) for word in words]
    group.add_argument(name, choices=choices, metavar="|".join(choices), help=text, default=default)


def add_flags(group: argparse._ActionsContainer, *lines: tuple[str, str]) -> None:
    """Add options without a value, each with its help."""
    for name, text in lines:
        group.add_argument(name, action="store_true", help=text)


def add_json_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help=tr("print JSON only"))


def add_facts_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--without-user-facts", action="store_true", help=tr("use only the shipped catalog, without your values")
    )


def finish_command(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], int]) -> None:
    """Add the final options of catalog commands, and the function that runs the command."""
    add_facts_option(parser)
    add_json_option(parser)
    parser.set_defaults(run=run)


def open_service(options: argparse.Namespace) -> GpuDeskService:
    """Open the service with the user's facts, unless the options exclude them; report unreadable rows.

    Raises `InputError` if the file of these facts is unusable: an answer without them would differ.
    """
    from gpudesk.service import GpuDeskService

    without: bool | None = getattr(options, "without_user_facts", None)
    service = GpuDeskService.open(with_user_facts=not without)
    user_catalog = service.user_catalog
    if user_catalog.problem is not None:
        service.close()
        if without is None:
            raise user_catalog.problem
        raise input_error(
            "own.no_answer",
            "{problem}; to use only the shipped catalog, add --without-user-facts",
            user_catalog.problem.where,
            problem=format_message(user_catalog.problem.problem),
        )
    for row in user_catalog.unreadable:
        report_error(format_input_error(InputError(row, str(user_catalog.path))))
    return service


def add_scenario_options(parser: argparse.ArgumentParser, *, load: bool = True) -> None:
    """Add the options of a scenario, those of its load only with `load`."""
    group = parser.add_argument_group(tr("scenario"))
    add_options(
        group,
        ("--scenario", tr("FILE"), str, tr("scenario file; other options override it")),
        ("--template", tr("NAME"), str, tr("ready-made scenario, from `gpudesk catalog list templates`")),
        (
            "--accelerators --accelerator",
            tr("ID[:COUNT],…"),
            str,
            tr("up to six, baseline first (default count: smallest that fits)"),
        ),
        ("--model", "ID", str, tr("model id, such as llama-3.1-70b")),
        ("--weights", tr("PRECISION"), str, tr("weight precision (default: native precision of the model)")),
        ("--kv", tr("PRECISION"), str, tr("KV cache precision (default: fp16)")),
        ("--input-tokens", tr("TOKENS"), parse_whole, tr("input tokens per request")),
        ("--output-tokens", tr("TOKENS"), parse_whole, tr("output tokens per request")),
        ("--title", tr("TEXT"), str, tr("title of the comparison")),
    )
    if load:
        add_options(
            parser.add_argument_group(tr("load, one of")),
            ("--concurrency", "N", parse_whole, tr("requests in flight (closed loop)")),
            ("--requests", "N", parse_whole, tr("total requests of the run, with --concurrency")),
            ("--batch-size", "N", parse_whole, tr("static batch: requests started together")),
            ("--saturate", "N", parse_whole, tr("requests queued at once (offline throughput)")),
            ("--request-rate", tr("RATE"), parse_number, tr("requests per second (open loop)")),
            ("--ttft-ms", "MS", parse_number, tr("TTFT limit in milliseconds, with --tpot-ms")),
            ("--tpot-ms", "MS", parse_number, tr("TPOT limit in milliseconds, with --ttft-ms")),
            ("--limit", "p99|mean", str, tr("statistic that the limits apply to (default: p99)")),
        )
    _add_plan(parser.add_argument_group(tr("deployment (default: chosen automatically)")))
    add_details(parser.add_argument_group(tr("details")))


def _add_plan(group: argparse._ArgumentGroup) -> None:
    add_options(
        group,
        ("--serving-engine", "ID", str, tr("vllm, sglang, tensorrt-llm, llama.cpp or tgi")),
        ("--tp", "N", parse_whole, tr("tensor parallel degree")),
    )
    add_further_degrees(group)
    group.add_argument(
        "--disaggregated",
        action=argparse.BooleanOptionalAction,
        help=tr("use separate prefill and decode pools, split automatically"),
    )
    group.add_argument(
        "--pools",
        metavar="prefill=8:tp4,decode=16:tp8",
        help=tr("counts and degrees (tp, pp, ep, dp, attention-dp) per pool"),
    )


def add_further_degrees(group: argparse._ArgumentGroup) -> None:
    """Add the options of a plan other than the tensor parallel degree."""
    add_options(
        group,
        ("--pp", "N", parse_whole, tr("pipeline parallel degree")),
        ("--ep", "N", parse_whole, tr("expert parallel degree")),
        ("--dp", "N", parse_whole, tr("data parallel degree: independent replicas")),
    )
    group.add_argument(
        "--attention-dp",
        action=argparse.BooleanOptionalAction,
        help=tr("use data-parallel attention across the TP group"),
    )


def add_details(group: argparse._ArgumentGroup) -> None:
    add_options(
        group,
        ("--date", "YYYY-MM", str, tr("release month of the serving software (default: latest measured)")),
        (
            "--memory-fraction",
            tr("FRACTION"),
            parse_number,
            tr("fraction of memory that the engine may use (default: engine setting)"),
        ),
        ("--max-batch", "N", parse_whole, tr("max requests per step (vLLM: max_num_seqs)")),
        ("--max-batched-tokens", tr("TOKENS"), parse_whole, tr("max tokens per step (vLLM: max_num_batched_tokens)")),
        ("--lengths", "fixed|varied", str, tr("fixed or varied request lengths (default: varied)")),
    )
    group.add_argument(
        "--server", action=argparse.BooleanOptionalAction, help=tr("serve through the HTTP server of the engine")
    )
    group.add_argument("--eager", action="store_true", default=None, help=tr("disable graph capture"))
    add_options(
        group,
        ("--prefix-hit-rate", tr("FRACTION"), parse_number, tr("fraction of input tokens found in the prefix cache")),
        ("--acceptance-length", tr("TOKENS"), parse_number, tr("tokens per step with speculative decoding")),
    )


#: Options of the site, named like the fields of the section `fleet`.
SITE_FIELDS: Final = ("cooling", "kw_per_rack", "months_to_live")


def add_site_options(group: argparse._ArgumentGroup) -> None:
    from gpudesk.domain.fleet import SiteCooling

    text = tr("cooling of the site: air alone, or air and liquid (default: no limit)")
    add_words(group, "--cooling", SiteCooling, text)
    add_options(
        group,
        ("--kw-per-rack", "KW", parse_number, tr("power per rack in kW (default: no limit)")),
        ("--months-to-live", "N", parse_number, tr("months until the fleet must be in service")),
    )


def read_site(options: argparse.Namespace, settings: FleetSettings) -> FleetSettings:
    """Return settings with the site options; raises `InputError` naming the option."""
    from gpudesk.documents.scenario_file import parse_fleet, write_fleet_section

    option_values = {name: getattr(options, name) for name in SITE_FIELDS}
    fields = {name: value for name, value in option_values.items() if value is not None}
    try:
        return parse_fleet(write_fleet_section(settings) | fields)
    except InputError as error:
        name = (error.where or "").removeprefix("fleet.")
        where = f"--{name.replace('_', '-')}" if name in fields else error.where
        raise InputError(error.problem, where) from error


def add_provider_class_option(group: argparse._ArgumentGroup) -> None:
    from gpudesk.domain.cost import COMPARED_CLASSES

    text = tr("kind of provider that rents are taken from (default: the first kind with a rent)")
    add_words(group, "--provider-class", COMPARED_CLASSES, text)


def build_scenario(
    options: argparse.Namespace,
    service: GpuDeskService,
    *,
    load: Mapping[str, Any] | None = None,
    open_accelerators: bool = False,
) -> Scenario:
    """Return the scenario of the options; raises `InputError` with the option as the place.

    With `load` the load and the accelerator counts are left open: it is a placeholder. With `open_accelerators` none
    needs to be named.
    """
    from gpudesk.documents.scenario_file import get_valid_note, make_title, parse_scenario_fields
    from gpudesk.domain.answer import check_context, check_scenario_ids

    base = load_base_scenario(options, service)
    if base is None and (options.accelerators or open_accelerators) and not options.model:
        text = "no model given; add --model ID, such as --model llama-3.1-70b; gpudesk catalog list models has all"
        raise UsageError(tr(text))
    if base is None and not (options.model and (options.accelerators or open_accelerators)):
        raise UsageError(tr("no scenario given; use --accelerators with --model, or --scenario, or --template"))
    fields = _make_base_fields(base)
    if load is not None:
        fields["workload"]["load"] = dict(load)
    try:
        _apply(options, fields, service, keep_counts=load is None)
        scenario = parse_scenario_fields(
            fields,
            catalog_revision=None if base is None else base.catalog_revision,
            user_records=() if base is None else base.user_records,
            unknown_sections={} if base is None else base.unknown_sections,
        )
        check_scenario_ids(scenario, service.catalog)
        # Sizing and sweeps, with a load of their own, report unsupported use of the model next to each figure.
        if scenario.model and load is None:
            check_context(scenario, service.catalog.model(scenario.model))
    except InputError as error:
        raise _name_options(error, has_traffic=open_accelerators) from error
    if base is not None:
        scenario = replace(scenario, demand=base.demand, fleet=base.fleet, costs=base.costs, decision=base.decision)
    return replace(scenario, name=make_title(scenario, service.catalog), note=get_valid_note(scenario))


def _name_options(error: InputError, *, has_traffic: bool) -> Exception:
    """Return an error of a scenario with the options that would mend it; `has_traffic` are those of users or tokens."""
    from gpudesk.domain.field_checks import MISSING_FIELD

    if error.problem.id == "load.none":
        if has_traffic:
            return input_error(
                "load.no_traffic",
                "no load given; use one of --users, --tokens-per-day, --concurrency, --batch-size, --saturate, or "
                "--request-rate",
            )
        return input_error(
            "load.no_option",
            "no load given; use one of --concurrency, --batch-size, --saturate, --request-rate, or "
            "--ttft-ms with --tpot-ms",
        )
    if error.problem.id == MISSING_FIELD.id and _is_length(error.where):
        return input_error(
            "options.no_lengths", "no request length given; state both, such as --input-tokens 1000 --output-tokens 300"
        )
    if error.problem.id == MISSING_FIELD.id and _is_latency_limit(error.where):
        return input_error("options.one_limit", "one latency limit is missing; state both --ttft-ms and --tpot-ms")
    return make_option_error(error, find_option_of_place(error.where))


def make_option_error(error: InputError, option: str | None) -> Exception:
    """Return an error with its option as the place, as `UsageError` where options contradict each other."""
    option_error = InputError(error.problem, option)
    return UsageError(format_input_error(option_error)) if error.problem.id == "load.two" else option_error


def _is_latency_limit(where: str | None) -> bool:
    return where is not None and where.endswith(("ttft_ms", "tpot_ms"))


def _is_length(where: str | None) -> bool:
    """Whether a place in a scenario is a request length."""
    return where in ("scenario.workload.input_tokens", "scenario.workload.output_tokens")


def load_base_scenario(options: argparse.Namespace, service: GpuDeskService) -> Scenario | None:
    """Return the scenario named by file or template; None without either."""
    if options.scenario and options.template:
        raise UsageError(tr("use either --scenario or --template"))
    if options.scenario:
        return service.read_scenario(Path(options.scenario))
    if options.template:
        from gpudesk.documents.scenario_file import read_template

        return read_template(options.template)
    return None


def _make_base_fields(base: Scenario | None) -> dict[str, Any]:
    from gpudesk.documents.scenario_file import write_scenario_section

    if base is not None:
        return write_scenario_section(base)
    return {"name": "", "workload": {"load": {}}}


def _apply(options: argparse.Namespace, fields: dict[str, Any], service: GpuDeskService, *, keep_counts: bool) -> None:
    """Merge the options over the fields of the scenario; unless `keep_counts`, counts are dropped."""
    fields |= _select_stated(options, _SCENARIO)
    fields["workload"] |= _select_stated(options, _WORKLOAD)
    load = _load(options)
    if load or not fields["workload"]["load"]:
        if set(load) <= {"requests", "limit"}:
            load = fields["workload"]["load"] | load
        fields["workload"]["load"] = load
    if options.accelerators:
        fields["accelerators"] = [_parse_choice(text) for text in options.accelerators.split(",")]
    plan = _select_stated(options, _PLAN) | _read_pools(options)
    for choice in fields.setdefault("accelerators", []):
        choice.update(plan)
        if not keep_counts:
            choice.pop("count", None)
    if fields.get("weights") is None:
        try:
            native = service.catalog.model(fields["model"]).native_precision
        except InputError as error:
            raise InputError(error.problem, "scenario.model") from error
        fields["weights"] = None if native is None else native.value
    if options.title:
        fields["name"] = options.title


def _select_stated(options: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(options, name, None)) is not None}


def _refuse_two_loads(values: Mapping[str, Any]) -> None:
    """Refuse options of different kinds of load; both latency limits are one kind."""
    kinds = {option.replace("tpot", "ttft"): option for option in values}
    if len(kinds) > 1:
        first, second = (f"--{option.replace('_', '-')}" for option in list(kinds.values())[:2])
        raise UsageError(tr("use either {first} or {second}", first=first, second=second))


def _load(options: argparse.Namespace) -> dict[str, Any]:
    values = _select_stated(options, ("saturate", *_LOAD))
    _refuse_two_loads(values)
    load = {_LOAD[option]: value for option, value in values.items() if option in _LOAD}
    load |= _select_stated(options, ("requests", "limit"))
    if (queued := getattr(options, "saturate", None)) is not None:
        load |= {"saturate": True, "requests": queued}
    return load


def parse_accelerator_choice(text: str) -> tuple[str, int | None]:
    """Return the id and the count of ID or ID:COUNT; raises `UsageError` for anything else."""
    name, colon, count = text.strip().partition(":")
    if not name or (colon and not count.isdecimal()):
        raise UsageError(
            tr("--accelerators: {given} is not ID or ID:COUNT; example: h200-sxm:8", given=quote_input(text))
        )
    return name, int(count) if colon else None


def _parse_choice(text: str) -> dict[str, Any]:
    name, count = parse_accelerator_choice(text)
    return {"accelerator": name} if count is None else {"accelerator": name, "count": count}


def _read_pools(options: argparse.Namespace) -> dict[str, Any]:
    """Return the pool request: none, the program's choice, or the fixed values of each pool."""
    if options.pools is not None:
        if options.disaggregated is False:
            raise UsageError(tr("use either --pools or --no-disaggregated"))
        pools = [_parse_pool(text, options.pools) for text in options.pools.split(",")]
        if len(dict(pools)) < len(pools):
            raise UsageError(tr("--pools lists a pool twice; list each pool once"))
        return {"disaggregated": dict(pools)}
    return _select_stated(options, ("disaggregated",))


def _parse_pool(text: str, whole_text: str) -> tuple[str, dict[str, int | bool]]:
    """Read one pool: its name, and its count and degrees if given."""
    name, _, degrees = text.strip().partition("=")
    fields: dict[str, int | bool] = {}
    for part in filter(None, degrees.strip().split(":")):
        if part == "attention-dp":
            fields["attention_dp"] = True
        elif (match := _POOL_DEGREE.fullmatch(part)) is not None:
            fields[match["name"] or "count"] = int(match["value"])
        else:
            name = ""
    if name not in ("prefill", "decode"):
        raise UsageError(
            tr(
                "--pools: {given} is not a list of pools; example: prefill=8:tp4,decode=16:tp8",
                given=quote_input(whole_text),
            )
        )
    return name, fields


def find_option_of_place(where: str | None) -> str | None:
    if where is None or not where.startswith("scenario"):
        return where
    if ".disaggregated" in where:
        return "--pools"
    last = where.rpartition(".")[2]
    if last in ("accelerator", "count") or where.startswith("scenario.accelerators["):
        return f"--{last}" if last in _PLAN else "--accelerators"
    if last in ("load", "saturate"):
        return tr("load")
    if last == "batch":
        return "--batch-size"
    return "--" + last.replace("_", "-")


_RANGE: Final = re.compile(r"([\d_]+)\.\.([\d_]+)(?:([+*])([\d_]+))?")
#: Maximum values in one range.
_LONGEST: Final = 100_000


def split_list(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if not all(parts):
        problem = tr("{given} has an empty item between commas", given=quote_input(text))
        raise argparse.ArgumentTypeError(problem)
    return parts


def parse_number_list(text: str) -> list[int]:
    return [number for part in split_list(text) for number in _parse_range(part)]


def _parse_range(part: str) -> list[int]:
    if ".." not in part:
        return [parse_whole(part)]
    fault = argparse.ArgumentTypeError(
        tr("{given} is not a range; examples: 1..64+8, 1..256*2", given=quote_input(part))
    )
    match = _RANGE.fullmatch(part)
    if match is None:
        raise fault
    first, last = parse_whole(match[1]), parse_whole(match[2])
    sign, step = match[3] or "+", parse_whole(match[4] or "1")
    if first > last or step < (2 if sign == "*" else 1) or (sign == "*" and first == 0):
        raise fault
    if sign == "+":
        steps = range(first, last + 1, step)
        if len(steps) > _LONGEST:
            problem = tr("{given} has more than {most} values", given=quote_input(part), most=_LONGEST)
            raise argparse.ArgumentTypeError(problem)
        return list(steps)
    numbers = []
    while first <= last:
        numbers.append(first)
        first *= step
    return numbers
