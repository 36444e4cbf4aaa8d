"""`gpudesk fleet`: the systems for a demand over the day, and the cost of owning, renting or an API."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.cli.commands.cost import add_cost_options, read_cost_settings
from gpudesk.cli.commands.size import OPEN_LOAD, add_demand_options, read_demand, refuse_replicas
from gpudesk.cli.options import (
    SITE_FIELDS,
    add_options,
    add_scenario_options,
    add_site_options,
    build_scenario,
    finish_command,
    open_service,
    parse_number,
    parse_whole,
    split_list,
)
from gpudesk.cli.output import EXIT_DONE
from gpudesk.domain.estimate import format_plan
from gpudesk.domain.fleet import FleetAnswer, FleetCost, FleetOption, LoadCurveKind
from gpudesk.domain.sizing import Demand, DemandKind
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.fleet_tables import count_racks, describe_fleets, format_amount, format_hour, list_fleet_notes
from gpudesk.report.labels import format_years
from gpudesk.report.rack_drawing import label_order, label_use, list_rack_heads, list_rack_rows, sketch_fleets
from gpudesk.report.sizing import describe_demand
from gpudesk.report.writers.text import align_table, list_verdict_lines, wrap_text
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, IntervalEstimate
from gpudesk.text.messages import InputError, capitalize_first, format_message, input_error, quote_input
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.domain.answer import Scenario
    from gpudesk.domain.fleet import FleetSettings
    from gpudesk.service import GpuDeskService

_INDENT: Final = "  "
_CURVE: Final = "--curve"
_PRESETS: Final = tuple(kind.value for kind in LoadCurveKind if kind is not LoadCurveKind.OWN)
#: Options -> fields of the section `fleet`.
_FIELDS: Final = {"growth": "growth_per_year", "spare_systems": "spare_systems", **{name: name for name in SITE_FIELDS}}
_OPTIONS: Final = {
    **{field: "--" + option.replace("_", "-") for option, field in _FIELDS.items()},
    "own_multipliers": _CURVE,
    "systems": "--system",
    "instances": "--instance",
}


def add_parser(commands: Any) -> None:  # noqa: ANN401 - argparse does not export this type
    summary = tr("Plan whole systems for your traffic over the day, and compare buying, renting and an API.")
    counts = tr("Counts given with --accelerators are ignored.")
    parser = commands.add_parser("fleet", help=summary, description=f"{summary} {counts}")
    add_demand_options(parser, peak=False)
    group = parser.add_argument_group(tr("fleet and site"))
    traffic = tr("traffic over the day, or 24 numbers with commas, from midnight (default: office)")
    add_options(
        group,
        (_CURVE, "|".join(_PRESETS), str, traffic),
        ("--growth", tr("FRACTION"), parse_number, tr("growth of traffic per year, such as 0.3 (default: 0)")),
        ("--years", "N", parse_number, tr("years of the comparison (default: 3)")),
        ("--spare-systems", "N", parse_whole, tr("spare systems (default: 0)")),
    )
    for name, text in (
        ("--system", tr("system to buy instead of the program's choice; repeatable")),
        ("--instance", tr("instance to rent instead of single accelerators; repeatable")),
    ):
        add_options(group, (name, "ID", str, text), action="append", default=[])
    add_site_options(group)
    add_cost_options(parser.add_argument_group(tr("cost inputs (default: catalog and built-in values)")))
    add_scenario_options(parser, load=False)
    finish_command(parser, run)


def run(options: argparse.Namespace) -> int:
    refuse_replicas(options)
    if options.years is not None:
        options.settings.append(f"years={options.years}")
    with open_service(options) as service:
        scenario = build_scenario(options, service, load=OPEN_LOAD)
        scenario = replace(
            scenario,
            demand=read_demand(options, scenario.demand),
            fleet=_read_settings(options, scenario, service),
            costs=read_cost_settings(options, scenario, service),
        )
        try:
            answer = service.fleet(scenario)
        except InputError as error:
            raise InputError(error.problem, _find_option(error.where)) from error
        _show(answer, scenario, service, as_json=options.json)
    return EXIT_DONE


def _read_settings(options: argparse.Namespace, scenario: Scenario, service: GpuDeskService) -> FleetSettings:
    """Return the options' settings merged over those of the scenario; raises `InputError` naming the option."""
    from gpudesk.documents.scenario_file import parse_fleet, write_fleet_section

    fields = write_fleet_section(scenario.fleet)
    option_values = {field: getattr(options, option) for option, field in _FIELDS.items()}
    fields |= {field: value for field, value in option_values.items() if value is not None}
    if options.curve is not None:
        fields |= _parse_curve(options.curve)
    for field, names in (("systems", options.system), ("instances", options.instance)):
        for name in names:
            accelerator = _find_accelerator(name, _OPTIONS[field], scenario, service)
            fields[field] = {**fields.get(field, {}), accelerator: name}
    try:
        return parse_fleet(fields)
    except InputError as error:
        raise InputError(error.problem, _find_option(error.where)) from error


def _parse_curve(text: str) -> dict[str, Any]:
    if text in _PRESETS:
        return {"curve": text}
    try:
        return {"curve": LoadCurveKind.OWN.value, "own_multipliers": [float(each) for each in split_list(text)]}
    except ValueError as error:
        raise input_error(
            "fleet.curve_word",
            "{given} is not a load curve; use one of {known}, or 24 numbers with commas",
            _CURVE,
            given=quote_input(text),
            known=_PRESETS,
        ) from error


def _find_accelerator(name: str, option: str, scenario: Scenario, service: GpuDeskService) -> str:
    try:
        accelerator = service.catalog.system(name).accelerator
    except InputError as error:
        raise InputError(error.problem, option) from error
    present = tuple(dict.fromkeys(choice.accelerator for choice in scenario.accelerators))
    if accelerator not in present:
        raise input_error(
            "fleet.system_of_other",
            "{name} has {accelerator}; the scenario has {known}",
            option,
            name=name,
            accelerator=accelerator,
            known=present,
        )
    return accelerator


def _find_option(where: str | None) -> str | None:
    if where is None or not where.startswith("fleet."):
        return where
    name = where.removeprefix("fleet.").partition(".")[0].partition("[")[0]
    return _OPTIONS.get(name, where)


def _show(answer: FleetAnswer, scenario: Scenario, service: GpuDeskService, *, as_json: bool) -> None:
    if as_json:
        from gpudesk.report.writers.json_values import encode_fleets

        output.print_json(encode_fleets(answer))
        return
    names = {each.accelerator: service.catalog.accelerator(each.accelerator).name for each in answer.options}
    formatter = Formatter()
    money = MoneyFormatter(formatter, scenario.costs.currency)
    assert scenario.demand is not None
    text = _FleetText(answer, scenario.demand, names, formatter, money, output.get_terminal_width())
    output.print_lines(text.list_lines())


@frozen_dataclass
class _FleetText:
    """The printed text of fleets; `names` are accelerator names by id."""

    answer: FleetAnswer
    demand: Demand
    names: Mapping[str, str]
    formatter: Formatter
    money: MoneyFormatter
    width: int

    @property
    def looks(self) -> dict[str, tuple[str, int]]:
        return {accelerator: (name, 0) for accelerator, name in self.names.items()}

    def list_lines(self) -> Iterator[str]:
        answer = self.answer
        sentences = describe_fleets(answer, self.looks, self.formatter, self.money)
        yield from list_verdict_lines(sentences, self.width, output.make_bold)
        demand = replace(self.demand, peak_factor=round(answer.curve.peak_factor, 2))
        curve = tr("Load curve: {name}.", name=answer.curve.kind.label)
        yield from wrap_text(f"{describe_demand(demand, self.formatter)}. {curve}", self.width)
        for note in answer.notes:
            yield from wrap_text(f"{format_message(note, self.formatter)}.", self.width)
        for option in answer.options:
            yield ""
            yield from self._list_option(option)
        if answer.api is not None:
            yield ""
            yield output.make_bold(tr("Hosted API"))
            if answer.api.total_usd is not None:
                yield from self._list_costs((answer.api,))
            if (api_note := answer.api.missing or answer.api.source) is not None:
                yield from self._indent(f"{format_message(api_note, self.formatter)}.")
        fleets = [option for option in answer.options if option.reason is None]
        if not fleets:
            return
        yield ""
        yield from self._list_hours(fleets)
        if any(year.added for option in fleets for year in option.years):
            yield ""
            yield from self._list_years(fleets)
        racks = list(list_rack_rows(sketch_fleets(answer, self.looks, self.formatter, self.money), self.formatter))
        if racks:
            yield ""
            yield from align_table(list_rack_heads(), racks, self.width, right=range(1, 9), strong=output.make_bold)

    def _list_option(self, option: FleetOption) -> Iterator[str]:
        name = self.names[option.accelerator]
        if option.reason is not None:
            yield output.make_bold(name)
            yield from self._indent(f"{capitalize_first(format_message(option.reason, self.formatter))}.")
            return
        yield output.make_bold(f"{name}: {label_order(option, self.formatter)}")
        facts = [label_use(option.used, option.spare, option.idle, self.formatter)]
        if option.sizing is not None:
            facts.append(tr("replicas of {plan}", plan=format_plan(option.sizing.plan)))
        if option.racks:
            facts.append(count_racks(len(option.racks), self.formatter))
        if option.power_max_kw is not None and option.power_average_kw is not None:
            most = self.formatter.estimate(option.power_max_kw)
            average = self.formatter.estimate(option.power_average_kw)
            estimated = tr("power up to {most} kW (estimated), {average} kW on average", most=most, average=average)
            published = tr("power up to {most} kW, {average} kW on average", most=most, average=average)
            facts.append(estimated if option.power_estimated else published)
        facts.append(tr("utilization {share}", share=self.formatter.per_cent(option.utilization)))
        yield from self._indent(f"{'; '.join(facts)}.")
        yield from self._list_costs(option.costs)
        answer = replace(self.answer, api=None, notes=())
        for note in list_fleet_notes(option, answer, name, self.formatter, self.money):
            yield from self._indent(note)

    def _indent(self, text: str) -> Iterator[str]:
        yield from (_INDENT + line for line in wrap_text(text, self.width - len(_INDENT)))

    def _list_costs(self, costs: tuple[FleetCost, ...]) -> Iterator[str]:
        per_user = any(cost.per_user_month_usd is not None for cost in costs)
        head = [
            tr("Supply"),
            tr("{code} per month", code=self.money.code),
            tr("80% interval"),
            format_years(self.answer.horizon_years, self.formatter),
            *([tr("Per user-month")] if per_user else []),
            tr("Per 1M output tokens"),
        ]
        rows = [self._make_row(cost, per_user=per_user) for cost in costs]
        width = self.width - len(_INDENT)
        table = align_table(head, rows, width, right=range(1, len(head)), strong=output.make_bold)
        yield from (_INDENT + line for line in table)

    def _make_row(self, cost: FleetCost, *, per_user: bool) -> list[str]:
        month = cost.per_month_usd
        interval = MISSING_VALUE_TEXT
        if month is not None:
            interval = self.formatter.interval(*map(self.money.convert_to_currency, (month.low, month.high)))
        return [
            cost.supply.label,
            self._format_amount(month),
            interval,
            self._format_amount(cost.total_usd),
            *([self._format_amount(cost.per_user_month_usd)] if per_user else []),
            self._format_amount(cost.per_million_tokens_usd),
        ]

    def _format_amount(self, interval: IntervalEstimate | None) -> str:
        return MISSING_VALUE_TEXT if interval is None else format_amount(interval.value, self.money)

    def _list_hours(self, fleets: list[FleetOption]) -> Iterator[str]:
        yield output.make_bold(tr("Replicas in use over the day"))
        # Each accelerator answers requests in flight at its own rate.
        has_rate = self.demand.kind is not DemandKind.CONCURRENCY
        first = (tr("Hour"), tr("Requests/s")) if has_rate else (tr("Hour"),)
        rows = []
        for hour, each in enumerate(fleets[0].hours):
            rate = [self.formatter.estimate(each.requests_per_s)] if has_rate else []
            replicas = (self.formatter.count(fleet.hours[hour].replicas) for fleet in fleets)
            rows.append((format_hour(hour), *rate, *replicas))
        yield from self._align(first, fleets, rows)

    def _list_years(self, fleets: list[FleetOption]) -> Iterator[str]:
        yield output.make_bold(tr("Systems to own at the start of each year"))
        owned = [each for each in fleets if each.years]
        rows = [
            (
                self.formatter.count(year.year),
                f"× {self.formatter.estimate(year.demand_factor)}",
                *(self.formatter.count(each.years[place].systems) for each in owned),
            )
            for place, year in enumerate(owned[0].years)
        ]
        yield from self._align((tr("Year"), tr("Demand")), owned, rows)

    def _align(self, first: tuple[str, ...], fleets: list[FleetOption], rows: list[tuple[str, ...]]) -> list[str]:
        head = (*first, *(self.names[each.accelerator] for each in fleets))
        table = align_table(head, rows, self.width - len(_INDENT), right=range(1, len(head)))
        return [_INDENT + line for line in table]
