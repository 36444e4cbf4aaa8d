"""`gpudesk cost`: costs of a comparison, owned, rented and per token."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.options import (
    add_flags,
    add_options,
    add_provider_class_option,
    add_scenario_options,
    build_scenario,
    finish_command,
    open_service,
    parse_number,
    parse_whole,
)
from gpudesk.cli.output import EXIT_DONE
from gpudesk.domain.answer import Answer
from gpudesk.domain.cost import COST_INPUTS, RENT_TERMS, CostAnswer, CostColumn, CostDistribution, DeploymentEfficiency
from gpudesk.domain.field_checks import describe_out_of_range
from gpudesk.files import describe_unknown_format
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.break_even import describe_break_evens
from gpudesk.report.comparison.verdicts import describe_token_cost
from gpudesk.report.costs import (
    MoneyFormatter,
    describe_bought_singly,
    describe_cheapest_rents,
    describe_input_source,
    describe_old_prices,
    describe_other_prices,
    describe_prices_used,
    describe_rent_terms,
    describe_server_share,
    describe_software_share,
    describe_utilization,
    format_input_range,
    format_system_count,
    label_cost_input,
    label_cost_line,
    list_api_remarks,
    list_missing_costs,
    list_partly_used,
    list_provider_rent_heads,
    list_provider_rent_rows,
    list_rent_class_remarks,
    list_same_provider_rents,
)
from gpudesk.report.labels import format_odds, format_years, list_column_names, map_column_names
from gpudesk.report.writers.text import (
    align_table,
    indent_hanging,
    list_verdict_lines,
    measure_text,
    pad_text,
    wrap_text,
)
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import InputError, Message, input_error, message, quote_input, to_sentence
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.answer import Scenario
    from gpudesk.domain.cost import CostSettings
    from gpudesk.service import GpuDeskService


@frozen_dataclass
class _CostTextContext:
    """Names of columns, by key, and formats of amounts and lines."""

    names: Mapping[str, str]
    money: MoneyFormatter
    formatter: Formatter
    width: int


def list_cost_lines(
    costs: CostAnswer, answer: Answer, draws: tuple[CostDistribution, CostDistribution], width: int
) -> Iterator[str]:
    settings = answer.scenario.costs
    formatter = Formatter()
    money = MoneyFormatter(formatter, settings.currency)
    named_columns = zip(costs.columns, list_column_names(answer), strict=True)
    context = _CostTextContext({column.key: name for column, name in named_columns}, money, formatter, width)
    terms = (
        tr("{currency}, without taxes", currency=money.code),
        describe_utilization(costs.utilisation, formatter),
        describe_rent_terms(settings.rent_term, costs),
        describe_server_share(costs.columns, formatter),
        describe_bought_singly(settings),
        describe_software_share(costs.columns, formatter),
    )
    yield from list_verdict_lines(describe_token_cost(answer, formatter), width, output.make_bold)
    note = tr("{terms}. All assumptions: gpudesk cost --list-inputs.", terms="; ".join(filter(None, terms)))
    yield from wrap_text(note, width)
    if any(each.count is None for each in answer.scenario.accelerators):
        fewest = tr("Without a count, each has the fewest accelerators that fit. Cheapest count: gpudesk decide.")
        yield from wrap_text(fewest, width)
    rents = list_rent_class_remarks(costs, context.names) or list_same_provider_rents(costs, context.names)
    prices = (
        describe_prices_used(costs.columns, context.names, money),
        describe_old_prices(costs.columns, context.names, formatter),
    )
    for line in (*prices, *rents):
        if line:
            yield from wrap_text(to_sentence(line), width)
    for rows in (_format_token_table, _format_ownership_table, _format_efficiency_table):
        yield ""
        yield from rows(costs, context)
    yield ""
    for line in _list_remarks(costs, context):
        yield from wrap_text(to_sentence(line), width)
    yield ""
    yield from _list_draws(draws, context)


def list_provider_lines(costs: CostAnswer, answer: Answer, width: int) -> Iterator[str]:
    """Yield the rents on record by provider as a table, or a line if none exists."""
    names = map_column_names(answer)
    money = MoneyFormatter(Formatter(), answer.scenario.costs.currency)
    rows = list_provider_rent_rows(costs, names, money)
    if rows:
        yield from align_table(list_provider_rent_heads(), rows, width, right=(3, 4), strong=output.make_bold)
    else:
        yield tr("No provider on record rents these accelerators on these terms.")


def _list_remarks(costs: CostAnswer, context: _CostTextContext) -> Iterator[str]:
    for column in costs.columns:
        if rents := describe_cheapest_rents(column.provider_rents, context.names[column.key], context.money):
            yield rents
    yield from list_partly_used(costs.columns, context.names, context.formatter)
    if prices := describe_other_prices(costs.columns, context.names, context.money):
        yield prices
    for column in costs.columns:
        yield from list_missing_costs(column, context.names[column.key])
    yield from list_api_remarks(costs)
    yield from describe_break_evens(costs, context.names, context.formatter, context.money)


def _format_token_table(costs: CostAnswer, context: _CostTextContext) -> list[str]:
    money = context.money
    head = (
        tr("Million output tokens"),
        tr("Owned"),
        tr("80% interval"),
        tr("Bought"),
        tr("Rented"),
        tr("80% interval"),
        tr("Rent per hour"),
    )
    rows = [
        (
            context.names[each.key],
            money.small(each.owned.output.value if each.owned else None),
            money.band(each.owned.output if each.owned else None),
            ", ".join(filter(None, format_system_count(each.bought, context.formatter)))
            if each.bought
            else MISSING_VALUE_TEXT,
            money.small(each.rented.output.value if each.rented else None),
            money.band(each.rented.output if each.rented else None),
            money.small(each.rent_usd_per_hour),
        )
        for each in costs.columns
    ]
    if costs.api is not None:
        api = tr("Hosted API, input included")
        rows.append((api, money.small(costs.api.value), money.band(costs.api), "", "", "", ""))
    return align_table(head, rows, context.width, right=range(1, 7), strong=output.make_bold)


def _format_ownership_table(costs: CostAnswer, context: _CostTextContext) -> list[str]:
    owned = [each for each in costs.columns if each.tco is not None]
    if not owned or owned[0].tco is None:
        return [tr("Cost of ownership: unknown, for the reasons below.")]
    money = context.money
    years = format_years(owned[0].tco.years, context.formatter)
    head = (tr("{years}, thousand {code}", years=years, code=money.code), *(context.names[each.key] for each in owned))
    lines = [each.tco.lines for each in owned if each.tco is not None]
    rows = [
        (label_cost_line(line.name), *(money.thousands(each[place].usd) for each in lines))
        for place, line in enumerate(lines[0])
        if any(each[place].usd for each in lines)
    ]
    rows.append((tr("Total"), *(money.thousands(each.tco.total_usd) for each in owned if each.tco)))
    return align_table(head, rows, context.width, right=range(1, len(head)), strong=output.make_bold)


def _format_efficiency_table(costs: CostAnswer, context: _CostTextContext) -> list[str]:
    head = (
        tr("Efficiency"),
        tr("tok/s per kW"),
        tr("tok/s per rack"),
        tr("J per token"),
        tr("{code} per GiB", code=context.money.code),
        tr("{code} per KV GiB", code=context.money.code),
        tr("{code} per request", code=context.money.code),
    )
    rows = [_yield_row(each, context) for each in costs.columns]
    return align_table(head, rows, context.width, right=range(1, 7), strong=output.make_bold)


def _yield_row(column: CostColumn, context: _CostTextContext) -> tuple[str, ...]:
    name, money, formatter = context.names[column.key], context.money, context.formatter
    efficiency: DeploymentEfficiency | None = column.efficiency
    tokens = column.owned or column.rented
    if efficiency is None:
        return (name, *[MISSING_VALUE_TEXT] * 6)
    banded = (efficiency.tokens_per_s_per_kw, efficiency.tokens_per_s_per_rack, efficiency.joules_per_token)
    return (
        name,
        *(formatter.estimate(None if each is None else each.value) for each in banded),
        money.rounded(efficiency.usd_per_gib),
        money.rounded(efficiency.usd_per_gib_for_kv),
        money.small(None if tokens is None else tokens.request.value),
    )


def _list_draws(draws: tuple[CostDistribution, CostDistribution], context: _CostTextContext) -> Iterator[str]:
    money, formatter = context.money, context.formatter
    n = formatter.count(draws[0].n)
    yield output.make_bold(
        tr("{n} simulations of all inputs: 80% interval, and odds of being the cheapest", n=n)
        if any(each.compared for each in draws)
        else tr("{n} simulations of all inputs: 80% interval", n=n)
    )
    for each in draws:
        if not each.quantiles:
            continue
        lead = tr("Rented: ") if each.rented else tr("Owned: ")
        texts = []
        for key, (low, _, high) in sorted(each.quantiles.items(), key=lambda pair: -each.compared.get(pair[0], 0.0)):
            text = f"{context.names[key]} {money.small(low)} – {money.small(high)}"
            if key in each.compared:
                text = f"{text} ({format_odds(each.compared[key], formatter)})"
            texts.append(text)
        yield from indent_hanging(lead, f"{'; '.join(texts)}.", context.width)


def list_input_lines(costs: CostAnswer, answer: Answer, width: int) -> Iterator[str]:
    formatter = Formatter()
    if costs.columns:
        yield output.make_bold(tr("All accelerators"))
        yield from _list_input_lines(costs.columns[0], answer, formatter, width, each=False)
    for column, name in zip(costs.columns, list_column_names(answer), strict=True):
        yield ""
        yield output.make_bold(name)
        yield from _list_input_lines(column, answer, formatter, width, each=True)


def _list_input_lines(
    column: CostColumn, answer: Answer, formatter: Formatter, width: int, *, each: bool
) -> Iterator[str]:
    prefix = f"{column.accelerator}." if each else ""
    inputs = [cost_input for name, cost_input in column.inputs.items() if COST_INPUTS[name].each is each]
    names = max(measure_text(prefix + cost_input.name) for cost_input in inputs)
    labels = max(measure_text(label_cost_input(cost_input.name)) for cost_input in inputs)
    for cost_input in inputs:
        value = format_input_range(cost_input.name, cost_input.spread, formatter, answer.scenario.costs.currency)
        left_text = (
            f"{pad_text(prefix + cost_input.name, names)}  {pad_text(label_cost_input(cost_input.name), labels)}"
        )
        yield f"{left_text}  {value}"
        origin = describe_input_source(cost_input)
        yield from (" " * (names + 2) + line for line in wrap_text(origin, max(width - names - 2, 30)))


# A million draws take 350 MB and a few seconds, and no printed digit changes with more.
_DRAWS, _MOST_DRAWS, _SEED = 100_000, 1_000_000, 1
_HIGHEST_SEED = 2**32 - 1
_SET: Final = "--set"
_WORKBOOK: Final = ".xlsx"


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    summary = tr("Compute cost per token, total cost of ownership and break-even points.")
    parser = commands.add_parser(
        "cost", help=summary, description=" ".join((summary, tr("Amounts are in US dollars, without taxes.")))
    )
    group = parser.add_argument_group(tr("cost inputs (default: catalog and built-in values)"))
    add_cost_options(group)
    add_flags(
        group,
        ("--list-inputs", tr("list all inputs with values and sources, then exit")),
        ("--providers", tr("list rents by provider, the cheapest tokens first, then exit")),
    )
    group.add_argument(
        "--single",
        action=argparse.BooleanOptionalAction,
        dest="single_accelerators",
        help=tr("pay only for accelerators in use, not for whole systems"),
    )
    add_options(group, ("--draws", "N", parse_whole, tr("number of simulations (default: 100000)")), default=_DRAWS)
    add_options(group, ("--seed", "N", parse_whole, tr("seed of the random numbers (default: 1)")), default=_SEED)
    add_scenario_options(parser)
    text = tr("save the monthly cash flow as .xlsx with live formulas")
    add_options(parser, ("-o --output", tr("FILE"), str, text))
    finish_command(parser, run)


def add_cost_options(group: argparse._ArgumentGroup) -> None:
    """Add the options for cost inputs."""
    text = tr("set an input to a value or to LOW:LIKELY:HIGH; repeatable")
    add_options(group, (_SET, tr("NAME=VALUE"), str, text), action="append", default=[], dest="settings")
    add_options(group, ("--rent-term", "|".join(RENT_TERMS), str, tr("kind of rental price (default: on_demand)")))
    add_provider_class_option(group)
    add_options(
        group,
        (
            "--runs-on",
            tr("PLATFORM"),
            str,
            tr("software platform that the team uses today; others add porting costs (default: none)"),
        ),
        ("--around", tr("FRACTION"), parse_number, tr("vary every input by this fraction up and down, such as 0.2")),
    )
    add_flags(group, ("--reported-discounts", tr("apply discounts that anonymous buyers report")))
    text = tr("show amounts in this currency (not in JSON); RATE is per US dollar")
    add_options(group, ("--currency", tr("CODE=RATE@DATE"), str, text))


def run(options: argparse.Namespace) -> int:

    if not 1 <= options.draws <= _MOST_DRAWS:
        raise InputError(describe_out_of_range(str(options.draws), 1, _MOST_DRAWS), "--draws")
    if not 0 <= options.seed <= _HIGHEST_SEED:
        seed_text = str(options.seed)
        raise InputError(describe_out_of_range(seed_text, 0, _HIGHEST_SEED), "--seed")
    target = None if options.output is None else Path(options.output)
    if target is not None and target.suffix.lower() != _WORKBOOK:
        raise InputError(describe_unknown_format(target.suffix, (_WORKBOOK,)), str(target))
    with open_service(options) as service:
        scenario = build_scenario(options, service)
        settings = read_cost_settings(options, scenario, service)
        scenario = replace(scenario, costs=settings)
        if target is None:
            _show(options, scenario, service)
        else:
            _write(options, scenario, service, target)
    return EXIT_DONE


def read_cost_settings(options: argparse.Namespace, scenario: Scenario, service: GpuDeskService) -> CostSettings:
    """Return the options' settings merged over those of the scenario; raises `InputError` naming the option."""
    from gpudesk.domain.cost import parse_costs, write_cost_section

    fields = write_cost_section(scenario.costs)
    names = ("rent_term", "provider_class", "runs_on", "around", "single_accelerators")
    option_values = {name: getattr(options, name, None) for name in names}
    fields |= {name: value for name, value in option_values.items() if value is not None}
    if options.currency is not None:
        fields["currency"] = _parse_currency(options.currency)
    for option in options.settings:
        _state(fields, option, {choice.accelerator for choice in scenario.accelerators})
    try:
        settings = parse_costs(fields)
    except InputError as error:
        raise InputError(error.problem, _find_option(error.where)) from error
    return service.costing.add_reported_discounts(settings, scenario) if options.reported_discounts else settings


def _state(fields: dict[str, Any], text: str, present: set[str]) -> None:
    input_name, equals, value = text.partition("=")
    part, dot, name = input_name.strip().rpartition(".")
    if not equals or not name:
        raise InputError(_describe_wrong_setting(text), _SET)
    if dot and part not in present:
        raise input_error(
            "costs.no_part",
            "{given} is not in the scenario; it has {known}",
            _SET,
            given=quote_input(part),
            known=tuple(sorted(present)),
        )
    numbers = [_parse_number(each, text) for each in value.split(":")]
    parsed_value: Any = numbers[0] if len(numbers) == 1 else numbers
    if dot:
        fields.setdefault("accelerators", {}).setdefault(part, {})[name] = parsed_value
    else:
        fields.setdefault("inputs", {})[name] = parsed_value


def _parse_number(text: str, number_text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise InputError(_describe_wrong_setting(number_text), _SET) from error


def _parse_currency(text: str) -> dict[str, Any]:
    code, equals, rest = text.partition("=")
    rate, at, date = rest.partition("@")
    try:
        if equals and at:
            return {"code": code, "per_usd": float(rate), "date": date}
    except ValueError:
        pass
    raise input_error(
        "costs.currency",
        "{given} is not CODE=RATE@DATE; example: EUR=0.92@2026-11-01",
        "--currency",
        given=quote_input(text),
    )


def _find_option(where: str | None) -> str | None:
    place = (where or "").removeprefix("costs").lstrip(".")
    head = place.partition(".")[0]
    if head in ("rent_term", "provider_class", "runs_on", "around", "currency"):
        return "--" + head.replace("_", "-")
    return f"{_SET} {place.partition('.')[2]}".strip()


def _write(options: argparse.Namespace, scenario: Scenario, service: GpuDeskService, target: Path) -> None:
    from gpudesk.files import write_atomically
    from gpudesk.report.cash_flow import build_cash_flow_workbook
    from gpudesk.report.labels import get_today

    answer = service.answer(scenario)
    names = map_column_names(answer)
    revision = answer.catalog_revision[:8]
    costs = service.costing.costs(answer)
    book = build_cash_flow_workbook(costs, names, title=scenario.name, revision=revision, made_on=get_today())
    write_atomically(target, book)
    output.report_written_file(target, as_json=options.json, content_hash=answer.content_hash)


def _show(options: argparse.Namespace, scenario: Scenario, service: GpuDeskService) -> None:
    answer = service.answer(scenario, with_curves=options.json)
    costs = service.costing.costs(answer)
    costing = service.costing
    if options.list_inputs:
        output.print_lines(list_input_lines(costs, answer, output.get_terminal_width()))
        return
    if options.providers and not options.json:
        output.print_lines(list_provider_lines(costs, answer, output.get_terminal_width()))
        return
    owned, rented = (
        costing.draws(answer, rented=by_rent, count=options.draws, seed=options.seed) for by_rent in (False, True)
    )
    if options.json:
        from gpudesk.report.writers.json_values import encode_costs

        output.print_json(encode_costs(costs, owned, rented))
        return

    answer = costing.add_costs(answer, costs)
    output.print_lines(list_cost_lines(costs, answer, (owned, rented), output.get_terminal_width()))


def _describe_wrong_setting(text: str) -> Message:
    return message(
        "costs.set",
        "{given} is not NAME=VALUE; examples: energy_usd_per_kwh=0.1, mi325x.price_usd=22000",
        given=quote_input(text),
    )
