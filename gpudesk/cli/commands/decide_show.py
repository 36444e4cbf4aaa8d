"""`gpudesk decide --show`: advisory information on the recommendation, as text or JSON values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gpudesk.cli import output
from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.decision import DecisionRule
from gpudesk.domain.purchase import DeferralAnalysis
from gpudesk.domain.reference_data import SignalStatus
from gpudesk.domain.routing import RoutedPlan, RoutingResult
from gpudesk.frozen_dataclass import frozen_dataclass
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
    from gpudesk.domain.answer import Answer, Scenario
    from gpudesk.domain.decision import Decision
    from gpudesk.domain.reference_data import ReferenceDeployment
    from gpudesk.service import GpuDeskService


def list_deferral_lines(
    analysis: DeferralAnalysis, names: Mapping[str, str], money: MoneyFormatter, formatter: Formatter
) -> Iterator[AdvisoryLine]:
    """Yield whether to buy or to wait, the basis, the figures, and the values at which the verdict changes.

    `names` are accelerator names by id.
    """
    yield AdvisoryLine(0, tr("Buy or wait: {title}", title=format_deferral_verdict(analysis, names)))
    yield AdvisoryLine(1, tr("Documents: {verdict}.", verdict=describe_document_verdict(analysis)))
    yield AdvisoryLine(1, tr("Arithmetic: {verdict}.", verdict=describe_computed_verdict(analysis, formatter)))
    yield from _make_lines(1, (describe_contradiction(analysis),))
    yield from _make_lines(2, map(describe_deferral_rule, analysis.rules))
    yield from (
        AdvisoryLine(1, _format_figure(row)) for row in list_deferral_figures(analysis, names, money, formatter)
    )
    yield from _make_lines(1, (describe_release_slip(analysis, names, formatter),))
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
    yield from _make_lines(1, list_deferral_notes(analysis, formatter))


def _format_figure(row: RangeFigureRow) -> str:
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
    """Yield the plans for two kinds of requests on two accelerators, and the documents' statements.

    `names` are column names by key.
    """
    yield AdvisoryLine(0, tr("Two vendors"))
    yield AdvisoryLine(1, describe_request_mix(routing, formatter))
    for plan in routing.plans:
        title = format_routed_plan(plan.plan, routing, names).whole
        yield AdvisoryLine(
            1, tr("{title}: {result}", title=title, result=_describe_plan(plan, routing, names, money, formatter))
        )
    for paid, ranking in ((tr("Owned"), routing.owned), (tr("Rented"), routing.rented)):
        yield AdvisoryLine(1, tr("{paid}: {text}", paid=paid, text=describe_ranking(ranking, routing, names)))
        if ranking is not None:
            yield from _make_lines(2, (describe_extra_cost(each, routing, names, money) for each in ranking.beyond))
    yield from _make_lines(1, list_shared_pool_lines(routing, formatter))
    yield from _make_lines(1, list_routing_notes(routing, formatter))
    yield AdvisoryLine(0, tr("Documents on mixed vendors"))
    yield from _make_lines(1, map(format_mixing_line, rules))


def _describe_plan(
    plan: RoutedPlan, routing: RoutingResult, names: Mapping[str, str], money: MoneyFormatter, formatter: Formatter
) -> str:
    """Return the size and cost of a plan, or why it is impossible."""
    if plan.reason is not None:
        return describe_impossible_plan(plan, formatter)
    parts = []
    for key in routing.keys:
        total, *details = build_pool_cell(plan, key, formatter)
        detail = ", ".join(each for each in details if each)
        parts.append(f"{names[key]} {total}" + (f" ({detail})" if detail else ""))
    parts.append(tr("owned {amount}", amount=_format_amount(plan.owned_usd, money)))
    parts.append(tr("rented {amount}", amount=_format_amount(plan.rented_usd, money)))
    return "; ".join(parts)


def _format_amount(spread: UncertainValue | None, money: MoneyFormatter) -> str:
    if spread is None:
        return MISSING_VALUE_TEXT
    text = f"{money.rounded(spread.likely)} {money.code}"
    if spread.is_known:
        return text
    low, high = money.rounded(spread.low), money.rounded(spread.high)
    return tr("{text} ({low} to {high})", text=text, low=low, high=high)


def list_watch_lines(signals: Iterable[tuple[SignalStatus, str]], formatter: Formatter) -> Iterator[AdvisoryLine]:
    """Yield every signal with its known values; each with the title of the record's source."""
    yield AdvisoryLine(0, tr("Watch list"))
    yield from (AdvisoryLine(1, describe_signal(each, source, formatter)) for each, source in signals)


def _make_lines(depth: int, texts: Iterable[str]) -> Iterator[AdvisoryLine]:
    return (AdvisoryLine(depth, text) for text in texts if text)


#: Options of --show.
ADVISORY_TOPICS: Final = ("waiting", "vendors", "export", "negotiation", "software", "references", "loading", "watch")
_INDENT: Final = "  "


@frozen_dataclass
class AdvisoryRequest:
    """A decision with its inputs; `names` are column names by key, `today` is an ISO day."""

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
        """Return whether to buy now or to wait; raises `InputError` for invalid inputs."""
        from gpudesk.decision.purchasing.plan_inputs import find_bought_position

        candidate = self.decision.recommended
        position = find_bought_position(self.scenario, None if candidate is None else candidate.key)
        return self.reference_data.buy_or_wait(self.scenario, position, self.today)


def encode_advisory(names: Sequence[str], request: AdvisoryRequest) -> dict[str, Any]:
    """Return the requested information as JSON values; raises `InputError` for invalid inputs of plans."""
    # Imported here, because it is slow to load and rarely needed.
    from gpudesk.report.writers import decision_json

    data, scenario, plans = request.reference_data, request.scenario, request.scenario.decision.plans
    encoders: Mapping[str, Callable[[], Any]] = {
        "waiting": lambda: decision_json.encode_buy_or_wait(request.buy_or_wait(), plans),
        "vendors": lambda: decision_json.encode_routing(data.routing(scenario), plans),
        "export": lambda: decision_json.encode_export_checks(data.export_checks(scenario), data.export_rules),
        "negotiation": lambda: decision_json.encode_negotiation(
            data.negotiation(scenario, request.decision, request.today)
        ),
        "software": lambda: decision_json.encode_software_support(data.support, request.platforms),
        "references": lambda: decision_json.encode_reference_deployments(request.references),
        "loading": lambda: decision_json.encode_weight_loading(data.loadings(request.answer)),
        "watch": lambda: decision_json.encode_watch_list(data.watch_list()),
    }
    return {name: encoders[name]() for name in dict.fromkeys(names)}


def list_advisory_text(names: Sequence[str], request: AdvisoryRequest, width: int) -> Iterator[str]:
    """Yield the requested information as text; raises `InputError` for invalid inputs of plans."""
    from gpudesk.decision.purchasing.routing import list_mixing_rules
    from gpudesk.report.decision import advisory

    data, scenario, formatter, money = request.reference_data, request.scenario, Formatter(), request.money
    source = request.service.catalog.source
    makers: Mapping[str, Callable[[], Iterator[AdvisoryLine]]] = {
        "waiting": lambda: list_deferral_lines(request.buy_or_wait(), request.part_names, money, formatter),
        "vendors": lambda: list_routing_lines(
            data.routing(scenario), list_mixing_rules(request.service.decider.rules), request.names, money, formatter
        ),
        "export": lambda: advisory.list_export_lines(data.export_checks(scenario), data.export_rules, formatter),
        "negotiation": lambda: advisory.list_negotiation_lines(
            data.negotiation(scenario, request.decision, request.today), formatter
        ),
        "software": lambda: advisory.list_support_lines(data.support, request.platforms),
        "references": lambda: advisory.list_reference_lines(request.references, formatter),
        "loading": lambda: advisory.list_loading_lines(data.loadings(request.answer), request.names, formatter),
        "watch": lambda: list_watch_lines(
            ((each, "" if each.known is None else source(each.known.source).title) for each in data.watch_list()),
            formatter,
        ),
    }
    for name in dict.fromkeys(names):
        for line in makers[name]():
            if line.depth == 0:
                yield ""
                yield from map(output.make_bold, indent_hanging("", line.text, width))
            else:
                yield from indent_hanging(_INDENT * line.depth, line.text, width)
