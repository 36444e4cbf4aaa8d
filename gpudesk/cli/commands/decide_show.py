"""`gpudesk decide --show`: advisory information on the recommendation, as text or JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import DecisionRule
from gpudesk.domain.purchase import DeferralAnalysis
from gpudesk.domain.routing import RoutedPlan, RoutingResult
from gpudesk.domain.watch_list import SignalStatus
from gpudesk.report.costs import MoneyFormatter
from gpudesk.report.decision.advisory import AdvisoryLine
from gpudesk.report.decision.buy_or_wait import (
    RangeFigureRow,
    describe_computed_verdict,
    describe_contradiction,
    describe_deferral_rule,
    describe_document_verdict,
    describe_release_slip,
    describe_signal,
    format_deferral_verdict,
    list_deferral_figures,
    list_deferral_flips,
    list_deferral_notes,
    list_future_price_rows,
)
from gpudesk.report.decision.routing import (
    build_pool_cell,
    describe_extra_cost,
    describe_impossible_plan,
    describe_ranking,
    describe_request_mix,
    format_mixing_line,
    format_routed_plan,
    list_routing_notes,
    list_shared_pool_lines,
)
from gpudesk.report.writers.text import indent_hanging
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter
from gpudesk.text.translation import tr

if TYPE_CHECKING:
    from gpudesk.decision.purchasing.reference_data import ReferenceData
    from gpudesk.domain.answer import Answer
    from gpudesk.domain.decision import Decision
    from gpudesk.domain.reference_data import ReferenceDeployment
    from gpudesk.domain.scenario import Scenario
    from gpudesk.service import GpuDeskService


def list_deferral_lines(
    analysis: DeferralAnalysis, names: Mapping[str, str], money: MoneyFormatter, formatter: Formatter
) -> Iterator[AdvisoryLine]:
    """Yield whether to buy or to wait, whose word that is, the figures, and where it turns.

    `names` are what accelerators are called, by their ids.
    """
    yield AdvisoryLine(0, tr("Buy or wait: {title}", title=format_deferral_verdict(analysis, names)))
    yield AdvisoryLine(1, tr("Documents: {verdict}.", verdict=describe_document_verdict(analysis)))
    yield AdvisoryLine(1, tr("Arithmetic: {verdict}.", verdict=describe_computed_verdict(analysis, formatter)))
    yield from _texts(1, (describe_contradiction(analysis),))
    yield from _texts(2, map(describe_deferral_rule, analysis.rules))
    yield from (AdvisoryLine(1, _figure(row)) for row in list_deferral_figures(analysis, names, money, formatter))
    yield from _texts(1, (describe_release_slip(analysis, names, formatter),))
    for what, value in list_deferral_flips(analysis, names, money, formatter):
        yield AdvisoryLine(1, tr("Changes at {what}: {value}", what=what, value=value))
    for row in list_future_price_rows(analysis, money):
        span = f" ({row.span})" if row.span else ""
        yield AdvisoryLine(
            1,
            tr(
                "Next accelerator at {price}: waiting saves {saved}, {verdict}",
                price=f"{row.price} {money.code}",
                saved=f"{row.saved}{span}",
                verdict=row.verdict,
            ),
        )
    yield from _texts(1, list_deferral_notes(analysis, formatter))


def _figure(row: RangeFigureRow) -> str:
    unit = f" {row.unit}" if row.unit else ""
    text = tr("{name}: {value}", name=row.name, value=f"{row.likely}{unit}")
    return tr("{text} ({low} to {high})", text=text, low=row.low, high=row.high) if row.low else text


def list_routing_lines(
    routing: RoutingResult,
    rules: Sequence[DecisionRule],
    names: Mapping[str, str],
    money: MoneyFormatter,
    formatter: Formatter,
) -> Iterator[AdvisoryLine]:
    """Yield the plans for requests of two kinds over two parts, and what documents say of that.

    `names` are what columns are called, by their keys.
    """
    yield AdvisoryLine(0, tr("Two vendors"))
    yield AdvisoryLine(1, describe_request_mix(routing, formatter))
    for plan in routing.plans:
        title = format_routed_plan(plan.plan, routing, names).whole
        yield AdvisoryLine(
            1, tr("{title}: {result}", title=title, result=_plan(plan, routing, names, money, formatter))
        )
    for paid, ranking in ((tr("Owned"), routing.owned), (tr("Rented"), routing.rented)):
        yield AdvisoryLine(1, tr("{paid}: {text}", paid=paid, text=describe_ranking(ranking, routing, names)))
        if ranking is not None:
            yield from _texts(2, (describe_extra_cost(each, routing, names, money) for each in ranking.beyond))
    yield from _texts(1, list_shared_pool_lines(routing, formatter))
    yield from _texts(1, list_routing_notes(routing, formatter))
    yield AdvisoryLine(0, tr("Documents on mixed vendors"))
    yield from _texts(1, map(format_mixing_line, rules))


def _plan(
    plan: RoutedPlan, routing: RoutingResult, names: Mapping[str, str], money: MoneyFormatter, formatter: Formatter
) -> str:
    """Return what a plan takes and costs, or why it cannot be."""
    if plan.reason is not None:
        return describe_impossible_plan(plan, formatter)
    parts = []
    for key in routing.keys:
        total, *details = build_pool_cell(plan, key, formatter)
        detail = ", ".join(each for each in details if each)
        parts.append(f"{names[key]} {total}" + (f" ({detail})" if detail else ""))
    parts.append(tr("owned {amount}", amount=_amount(plan.owned_usd, money)))
    parts.append(tr("rented {amount}", amount=_amount(plan.rented_usd, money)))
    return "; ".join(parts)


def _amount(spread: UncertainValue | None, money: MoneyFormatter) -> str:
    if spread is None:
        return MISSING_VALUE_TEXT
    text = f"{money.rounded(spread.likely)} {money.code}"
    if spread.is_known:
        return text
    low, high = money.rounded(spread.low), money.rounded(spread.high)
    return tr("{text} ({low} to {high})", text=text, low=low, high=high)


def list_watch_lines(signals: Iterable[tuple[SignalStatus, str]], formatter: Formatter) -> Iterator[AdvisoryLine]:
    """Yield every signal with what is known of it; each comes with the title of the record's source."""
    yield AdvisoryLine(0, tr("Watch list"))
    yield from (AdvisoryLine(1, describe_signal(each, source, formatter)) for each, source in signals)


def _texts(depth: int, texts: Iterable[str]) -> Iterator[AdvisoryLine]:
    return (AdvisoryLine(depth, text) for text in texts if text)


#: What can be shown.
ADVISORY_TOPICS: Final = ("waiting", "vendors", "export", "negotiation", "software", "references", "loading", "watch")
_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class AdvisoryRequest:
    """A decision with what it was made from; `names` are those of columns by key, `today` is an ISO day."""

    answer: Answer
    decision: Decision
    names: Mapping[str, str]
    service: GpuDeskService
    today: str

    @property
    def scenario(self) -> Scenario:
        return self.answer.scenario

    @property
    def reference_data(self) -> ReferenceData:
        return self.service.reference_data

    @property
    def money(self) -> MoneyFormatter:
        from gpudesk.report.costs import MoneyFormatter

        return MoneyFormatter(Formatter(), self.scenario.costs.currency)

    @property
    def part_names(self) -> dict[str, str]:
        from gpudesk.report.labels import shorten_name

        return {part.id: shorten_name(part.name) for part in self.service.catalog.accelerators()}

    @property
    def platforms(self) -> tuple[str, ...]:
        from gpudesk.report.decision.advisory import split_platforms

        platforms_by_column = (split_platforms(column.accelerator.platform) for column in self.answer.columns)
        return tuple(dict.fromkeys(each for names in platforms_by_column for each in names))

    @property
    def references(self) -> tuple[ReferenceDeployment, ...]:
        from gpudesk.domain.reference_data import find_references

        parts = (column.accelerator.id for column in self.answer.columns)
        return find_references(self.reference_data.references, *parts)

    def buy_or_wait(self) -> DeferralAnalysis:
        """Return whether to buy now or to wait; raises `InputError` for inputs that cannot be."""
        from gpudesk.decision.purchasing.plan_inputs import find_bought_position

        candidate = self.decision.recommended
        position = find_bought_position(self.scenario, None if candidate is None else candidate.key)
        return self.reference_data.buy_or_wait(self.scenario, position, self.today)


# As JSON values


def encode_advisory(names: Sequence[str], request: AdvisoryRequest) -> dict[str, Any]:
    """Return what is to be shown by its names; raises `InputError` for inputs of plans that cannot be."""
    return {name: _FIELDS[name](request) for name in dict.fromkeys(names)}


def _waiting_fields(request: AdvisoryRequest) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.report.writers.decision_json import encode_buy_or_wait

    return encode_buy_or_wait(request.buy_or_wait(), request.scenario.decision.plans)


def _vendors_fields(request: AdvisoryRequest) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.report.writers.decision_json import encode_routing

    return encode_routing(request.reference_data.routing(request.scenario), request.scenario.decision.plans)


def _export_fields(request: AdvisoryRequest) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.report.writers.decision_json import encode_export_checks

    return encode_export_checks(
        request.reference_data.export_checks(request.scenario), request.reference_data.export_rules
    )


def _negotiation_fields(request: AdvisoryRequest) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.report.writers.decision_json import encode_negotiation

    return encode_negotiation(request.reference_data.negotiation(request.scenario, request.decision, request.today))


def _software_fields(request: AdvisoryRequest) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.report.writers.decision_json import encode_software_support

    return encode_software_support(request.reference_data.support, request.platforms)


def _reference_fields(request: AdvisoryRequest) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.report.writers.decision_json import encode_reference_deployments

    return encode_reference_deployments(request.references)


def _loading_fields(request: AdvisoryRequest) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.report.writers.decision_json import encode_weight_loading

    return encode_weight_loading(request.reference_data.loadings(request.answer))


def _watch_fields(request: AdvisoryRequest) -> Any:  # noqa: ANN401 - whatever JSON has for it
    from gpudesk.report.writers.decision_json import encode_watch_list

    return encode_watch_list(request.reference_data.watch_list())


_FIELDS: Final[Mapping[str, Callable[[AdvisoryRequest], Any]]] = {
    "waiting": _waiting_fields,
    "vendors": _vendors_fields,
    "export": _export_fields,
    "negotiation": _negotiation_fields,
    "software": _software_fields,
    "references": _reference_fields,
    "loading": _loading_fields,
    "watch": _watch_fields,
}


# As text


def list_advisory_text(
    names: Sequence[str], request: AdvisoryRequest, width: int, strong: Callable[[str], str]
) -> Iterator[str]:
    """Yield what is to be shown as text; raises `InputError` for inputs of plans that cannot be."""
    for name in dict.fromkeys(names):
        for line in _LINES[name](request):
            if line.depth == 0:
                yield ""
                yield from map(strong, indent_hanging("", line.text, width))
            else:
                yield from indent_hanging(_INDENT * line.depth, line.text, width)


def _waiting_lines(request: AdvisoryRequest) -> Iterator[AdvisoryLine]:

    return list_deferral_lines(request.buy_or_wait(), request.part_names, request.money, Formatter())


def _vendors_lines(request: AdvisoryRequest) -> Iterator[AdvisoryLine]:
    from gpudesk.decision.purchasing.routing import list_mixing_rules

    routing = request.reference_data.routing(request.scenario)
    rules = list_mixing_rules(request.service.decider.rules)
    return list_routing_lines(routing, rules, request.names, request.money, Formatter())


def _export_lines(request: AdvisoryRequest) -> Iterator[AdvisoryLine]:
    from gpudesk.report.decision.advisory import list_export_lines

    return list_export_lines(
        request.reference_data.export_checks(request.scenario), request.reference_data.export_rules, Formatter()
    )


def _negotiation_lines(request: AdvisoryRequest) -> Iterator[AdvisoryLine]:
    from gpudesk.report.decision.advisory import list_negotiation_lines

    return list_negotiation_lines(
        request.reference_data.negotiation(request.scenario, request.decision, request.today), Formatter()
    )


def _software_lines(request: AdvisoryRequest) -> Iterator[AdvisoryLine]:
    from gpudesk.report.decision.advisory import list_support_lines

    return list_support_lines(request.reference_data.support, request.platforms)


def _reference_lines(request: AdvisoryRequest) -> Iterator[AdvisoryLine]:
    from gpudesk.report.decision.advisory import list_reference_lines

    return list_reference_lines(request.references, Formatter())


def _loading_lines(request: AdvisoryRequest) -> Iterator[AdvisoryLine]:
    from gpudesk.report.decision.advisory import list_loading_lines

    return list_loading_lines(request.reference_data.loadings(request.answer), request.names, Formatter())


def _watch_lines(request: AdvisoryRequest) -> Iterator[AdvisoryLine]:

    source = request.service.catalog.source
    signals = (
        (each, "" if each.known is None else source(each.known.source).title)
        for each in request.reference_data.watch_list()
    )
    return list_watch_lines(signals, Formatter())


_LINES: Final[Mapping[str, Callable[[AdvisoryRequest], Iterator[AdvisoryLine]]]] = {
    "waiting": _waiting_lines,
    "vendors": _vendors_lines,
    "export": _export_lines,
    "negotiation": _negotiation_lines,
    "software": _software_lines,
    "references": _reference_lines,
    "loading": _loading_lines,
    "watch": _watch_lines,
}
