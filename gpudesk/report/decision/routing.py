"""Two request classes on two pools, in words: inputs, plans, ranking."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import DecisionRule
from gpudesk.domain.estimate import format_plan
from gpudesk.domain.routing import (
    RequestClass,
    RequestKind,
    RequestRateOrigin,
    RoutedPlan,
    RoutePlan,
    RouteRanking,
    RoutingResult,
    SplitSurcharge,
)
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.data_table import DataCell, DataColumn, DataRow, DataTable
from gpudesk.report.decision.rules import label_rule_source
from gpudesk.report.explanation.working import format_named_formula, format_numeric_formula
from gpudesk.report.labels import format_date
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.messages import capitalize_first, format_message, lower_for_sentence
from gpudesk.text.translation import tr, translate_data, trn

#: Writes an amount.
AmountFormatter = Callable[[float], str]

_SPACE: Final = "\N{NO-BREAK SPACE}"

_INPUTS: Final[Mapping[str, str]] = {
    "vendor_a": "First accelerator",
    "vendor_b": "Second accelerator",
    "long_share": "Long requests",
    "long_input_tokens": "Input of long requests",
    "long_output_tokens": "Output of long requests",
    "requests_per_s": "Total request rate",
    "other_model": "Another model",
    "other_model_kind": "Requests for it",
    "other_model_weights": "Weights of it",
}
_ORIGINS: Final[Mapping[str, str]] = {
    "vendor_a": "the first column",
    "vendor_b": "the first column of another vendor or accelerator",
    "long_share": "assumption: no source gives a value",
    "long_input_tokens": "four times the scenario's input, up to the context limit",
    "long_output_tokens": "from the scenario",
    "other_model": "none: the scenario's model answers all requests",
    "other_model_kind": "default: long requests",
    "other_model_weights": "from the scenario",
}


class RoutedPlanTitle(NamedTuple):
    """The name of a plan: the routes of its requests, on one line or two."""

    first: str
    second: str = ""

    @property
    def whole(self) -> str:
        return ", ".join(part for part in self if part)


class RoutedPoolCell(NamedTuple):
    """The accelerators of one kind in a plan, their replicas, and the number of spares."""

    total: str
    replicas: str = ""
    spare: str = ""


# Inputs


def label_routing_input(name: str) -> str:
    return tr(_INPUTS[name])


def label_request_class(kind: RequestKind) -> str:
    """Return the name of a kind of requests, `long requests`."""
    return tr("long requests") if kind is RequestKind.LONG else tr("short requests")


def describe_routing_origin(name: str, origin: RequestRateOrigin, *, is_user_value: bool) -> str:
    """Return the origin of an input's value; `origin` is that of the request rate."""
    if name == "requests_per_s":
        return origin.label
    return tr("entered by you") if is_user_value else tr(_ORIGINS[name])


def describe_request_mix(routing: RoutingResult, formatter: Formatter, models: Mapping[str, str] | None = None) -> str:
    """Return how many requests of each kind there are; with `models`, names by id, also the serving model."""
    kinds = "; ".join(_describe_kind(kind, formatter, models) for kind in routing.classes)
    rate = formatter.estimate(routing.requests_per_s)
    return tr("{rate} requests/s ({origin}): {kinds}.", rate=rate, origin=routing.rate_origin.label, kinds=kinds)


def _describe_kind(kind: RequestClass, formatter: Formatter, models: Mapping[str, str] | None) -> str:
    text = tr(
        "{rate}/s {kind}, {input} input and {output} output tokens",
        rate=formatter.estimate(kind.requests_per_s),
        kind=kind.kind.label,
        input=formatter.count(kind.input_tokens),
        output=formatter.count(kind.output_tokens),
    )
    if models is None:
        return text
    return tr("{text}, by {model}", text=text, model=models.get(kind.model, kind.model))


# Plans


def format_routed_plan(plan: RoutePlan, routing: RoutingResult, names: Mapping[str, str]) -> RoutedPlanTitle:
    one, other = (names[key] for key in routing.keys)
    if plan is RoutePlan.ALL_A:
        return RoutedPlanTitle(tr("All on {name}", name=one))
    if plan is RoutePlan.ALL_B:
        return RoutedPlanTitle(tr("All on {name}", name=other))
    long, short = (one, other) if plan is RoutePlan.LONG_A else (other, one)
    return RoutedPlanTitle(tr("Long on {name}", name=long), tr("short on {name}", name=short))


def build_pool_cell(plan: RoutedPlan, key: str, formatter: Formatter) -> RoutedPoolCell:
    """Return the accelerators of a column in a plan, including spares, and their replicas."""
    pools = [pool for pool in plan.pools if pool.key == key]
    if not plan.pools:
        return RoutedPoolCell(MISSING_VALUE_TEXT)
    if not pools:
        return RoutedPoolCell(formatter.count(0))
    details = []
    for pool in pools:
        text = formatter.count(pool.replicas + pool.spare_replicas)
        if pool.plan.count > 1:
            text = f"{text}{_SPACE}×{_SPACE}{format_plan(pool.plan)}"
        if len(pools) > 1:
            kinds = " + ".join(kind.label for kind in pool.kinds)
            details.append(tr("{n} {kinds}", n=text, kinds=kinds))
        elif pool.plan.count > 1:
            details.append(text)
    spare_text = _format_spares(sum(pool.spare for pool in pools), formatter)
    return RoutedPoolCell(formatter.count(sum(pool.count for pool in pools)), ", ".join(details), spare_text)


def _format_spares(count: int | None, formatter: Formatter) -> str:
    return trn("{n} spare", "{n} spare", count, n=formatter.count(count)) if count else ""


def describe_impossible_plan(plan: RoutedPlan, formatter: Formatter) -> str:
    """Return why a plan is impossible, as a sentence; empty if it is possible."""
    if plan.reason is None:
        return ""
    return f"{capitalize_first(format_message(plan.reason, formatter))}."


def format_span(spread: UncertainValue | None, text: AmountFormatter) -> str:
    """Return the ends of an amount; empty if it is certain or unknown."""
    if spread is None or spread.is_known:
        return ""
    return f"{text(spread.low)}{_SPACE}–{_SPACE}{text(spread.high)}"


def format_signed_amount(usd: float, text: AmountFormatter) -> str:
    amount = text(usd)
    return f"+{amount}" if usd > 0.0 and amount != text(0.0) else amount


def find_extra_cost(ranking: RouteRanking | None, plan: RoutePlan) -> SplitSurcharge | None:
    """Return the extra cost of a split over the cheaper single-accelerator plan; None for the latter."""
    each = () if ranking is None else ranking.beyond
    return next((surcharge for surcharge in each if surcharge.plan is plan), None)


def build_routing_table(
    routing: RoutingResult, looks: Mapping[str, tuple[str, int, bool]], money: MoneyFormatter, formatter: Formatter
) -> DataTable:
    """Return a row for each plan, costs in thousands; `looks` are name, palette index and variant by column keys."""
    names = {key: name for key, (name, _, _) in looks.items()}
    spans, extra = tr("range"), f"{tr('Extra')} {tr('vs. one vendor')}"
    columns = (
        DataColumn(tr("Plan"), stretch=1),
        *(
            DataColumn(name, True, slot=slot, is_variant=variant, detail=tr("replicas"))
            for name, slot, variant in map(looks.__getitem__, routing.keys)
        ),
        DataColumn(tr("Total"), True, detail=tr("spare")),
        *(DataColumn(head, True, detail=spans) for head in (tr("Owned"), extra, tr("Rented"), extra)),
    )
    rows = tuple(_build_plan_row(plan, routing, names, columns, money, formatter) for plan in routing.plans)
    return DataTable("routing", tr("Plans"), "", columns, rows)


def _build_plan_row(
    plan: RoutedPlan,
    routing: RoutingResult,
    names: Mapping[str, str],
    columns: Sequence[DataColumn],
    money: MoneyFormatter,
    formatter: Formatter,
) -> DataRow:
    title, reason = format_routed_plan(plan.plan, routing, names), describe_impossible_plan(plan, formatter)
    if reason:
        name = DataCell(title.whole, reason, icon="circle-slash-2", is_strong=True)
    else:
        name = DataCell(title.first, title.second, is_strong=True)
    pools = [build_pool_cell(plan, key, formatter) for key in routing.keys]
    cells = (
        *(DataCell(pool.total, pool.replicas, sentence=pool.spare) for pool in pools),
        DataCell(formatter.count(plan.count), _format_spares(plan.spare, formatter)),
        _build_plan_cost(plan, plan.owned_usd, routing.owned, money),
        _build_extra_cost(plan, routing.owned, money),
        _build_plan_cost(plan, plan.rented_usd, routing.rented, money),
        _build_extra_cost(plan, routing.rented, money),
    )
    figures = (
        replace(cell, sentence=_describe_plan_cell(title.whole, column, cell))
        for column, cell in zip(columns[1:], cells, strict=True)
    )
    return DataRow(plan.plan.value, (name, *figures), f"{title.whole}: {reason}" if reason else title.whole)


def _build_plan_cost(
    plan: RoutedPlan, usd: UncertainValue | None, ranking: RouteRanking | None, money: MoneyFormatter
) -> DataCell:
    if usd is None:
        return DataCell(MISSING_VALUE_TEXT)
    text = money.rounded_thousands
    cell = DataCell(text(usd.likely), format_span(usd, text))
    if ranking is None or not (plan.plan is ranking.cheapest or plan.plan in ranking.level):
        return cell
    mark, rank = ("", tr("cheapest")) if ranking.decided else ("overlap", tr("too close to call with the cheapest"))
    return replace(cell, mark=mark, is_best=True, is_strong=True, sentence=rank)


def _build_extra_cost(plan: RoutedPlan, ranking: RouteRanking | None, money: MoneyFormatter) -> DataCell:
    surcharge = find_extra_cost(ranking, plan.plan)
    if surcharge is None:
        return DataCell("" if not plan.plan.is_split else MISSING_VALUE_TEXT)
    text = money.rounded_thousands
    return DataCell(format_signed_amount(surcharge.usd.likely, text), format_span(surcharge.usd, text))


def _describe_plan_cell(plan: str, column: DataColumn, cell: DataCell) -> str:
    """Return the full text of a cell; its own sentence is the text beyond its cells."""
    text = tr("{plan}, {head}: {value}", plan=plan, head=column.head, value=cell.text or tr("not applicable"))
    below = f"{column.detail} {cell.detail}" if cell.detail else ""
    return "; ".join(filter(None, (text, below, cell.sentence)))


def describe_ranking(ranking: RouteRanking | None, routing: RoutingResult, names: Mapping[str, str]) -> str:
    if ranking is None:
        return tr("no ranking: a cost is unknown")
    cheapest = format_routed_plan(ranking.cheapest, routing, names).whole
    if ranking.decided:
        return tr("{plan} is cheapest", plan=lower_for_sentence(cheapest))
    if len(ranking.level) + 1 == len(routing.plans) > 2:
        return tr("all {n} plans are too close to call", n=str(len(routing.plans)))
    level = [cheapest, *(format_routed_plan(plan, routing, names).whole for plan in ranking.level)]
    # The name of a split has a comma itself.
    return tr("too close to call ({plans})", plans="; ".join(lower_for_sentence(plan) for plan in level))


def describe_extra_cost(
    surcharge: SplitSurcharge, routing: RoutingResult, names: Mapping[str, str], money: MoneyFormatter
) -> str:
    """Return the extra cost of a split over one vendor, with its software share, as a sentence."""
    values = {
        "split": format_routed_plan(surcharge.plan, routing, names).whole,
        "amount": _format_amount(surcharge.usd, money),
        "single": lower_for_sentence(format_routed_plan(surcharge.single, routing, names).whole),
    }
    software, alone = surcharge.software_usd, surcharge.software_alone_usd
    if not any((*software, *alone)):
        return tr("{split}: {amount} compared with {single}, with no software cost.", **values)
    return tr(
        "{split}: {amount} compared with {single}. Software: {software}, or {alone} if no other service shares it.",
        software=_format_amount(software, money),
        alone=_format_amount(alone, money),
        **values,
    )


def _format_amount(spread: UncertainValue, money: MoneyFormatter) -> str:
    text = format_signed_amount(spread.likely, lambda usd: money.add_currency(money.rounded(usd)))
    if spread.is_known:
        return text
    low, high = (money.add_currency(money.rounded(each)) for each in (spread.low, spread.high))
    return tr("{likely} ({low} to {high})", likely=text, low=low, high=high)


def list_routing_notes(routing: RoutingResult, formatter: Formatter) -> list[str]:
    """Return the assumptions and omissions of the figures, except the origin of the requests."""
    covered_ids = ("routing.rate_of_baseline", "routing.rate_of_load")
    return [f"{format_message(note, formatter)}." for note in routing.notes if note.id not in covered_ids]


# A shared pool


def list_shared_pool_lines(routing: RoutingResult, formatter: Formatter) -> tuple[str, ...]:
    """Return the loss of a pool shared by both accelerators, and the formula in words and in numbers; empty without."""
    loss, working = routing.shared_loss, routing.shared_working
    if loss is None or working is None:
        return ()
    likely = formatter.per_cent(loss.likely)
    if not loss.is_known:
        low, high = (formatter.per_cent(each) for each in (loss.low, loss.high))
        likely = tr("{likely} ({low} to {high})", likely=likely, low=low, high=high)
    lines = tr(
        "One mixed pool with equal shares per replica loses {share} of throughput: the slower "
        "accelerator sets the pace.",
        share=likely,
    )
    formula, numbers = format_named_formula(working), format_numeric_formula(working, formatter)
    return (lines, f"{formula} = {numbers} = {formatter.per_cent(loss.likely)}")


# What documents say


def format_mixing_line(rule: DecisionRule) -> str:
    """Return a document's statement on mixing vendors, with its date, source and strength."""
    advice = next((case.advice for case in rule.cases if case.advice is not None), "")
    text = f"{translate_data(rule.why)} {translate_data(advice)}".strip()
    strength = lower_for_sentence(rule.strength.label)
    dated = format_date(rule.dated) if rule.dated else MISSING_VALUE_TEXT
    head = ", ".join(part for part in (dated, label_rule_source(rule), strength) if part)
    return tr("{title} ({head}). {text}", title=translate_data(rule.title), head=head, text=text)
