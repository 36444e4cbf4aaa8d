"""The plans beside a recommendation, and the watch list, as lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gpudesk.domain.buying import BuyOrWait
from gpudesk.domain.decisions import Rule
from gpudesk.domain.formatting import UNKNOWN, Formatter
from gpudesk.domain.ranges import Range
from gpudesk.domain.routing import RoutedPlan, Routing
from gpudesk.domain.watching import Watched
from gpudesk.sheets.beside_lines import Line
from gpudesk.sheets.money import Money
from gpudesk.sheets.routing_words import (
    beyond_text,
    mix_text,
    mixing_text,
    plan_title,
    pool_cell,
    ranking_text,
    reason_text,
    routing_notes,
    shared_pool_lines,
)
from gpudesk.sheets.waiting_words import (
    RangeRow,
    against_text,
    computed_text,
    document_text,
    price_rows,
    rule_text,
    slip_summary,
    waiting_figures,
    waiting_notes,
    waiting_title,
    waiting_turns,
)
from gpudesk.sheets.watch_words import watch_sentence
from gpudesk.text import tr


def waiting_lines(
    found: BuyOrWait, names: Mapping[str, str], money: Money, formatter: Formatter
) -> Iterator[Line]:
    """Yield whether to buy or to wait, whose word that is, the figures, and where it turns.

    `names` are what accelerators are called, by their ids.
    """
    yield Line(0, tr("Buy or wait: {title}", title=waiting_title(found, names)))
    yield Line(1, tr("Documents: {said}.", said=document_text(found)))
    yield Line(1, tr("Arithmetic: {said}.", said=computed_text(found, formatter)))
    yield from _texts(1, (against_text(found),))
    yield from _texts(2, map(rule_text, found.rules))
    yield from (Line(1, _figure(row)) for row in waiting_figures(found, names, money, formatter))
    yield from _texts(1, (slip_summary(found, names, formatter),))
    for what, value in waiting_turns(found, names, money, formatter):
        yield Line(1, tr("It turns where {what}: {value}", what=what, value=value))
    for row in price_rows(found, money):
        span = f" ({row.span})" if row.span else ""
        yield Line(
            1,
            tr(
                "Next part at {price}: waiting saves {saved}, {verdict}",
                price=f"{row.price} {money.code}",
                saved=f"{row.saved}{span}",
                verdict=row.verdict,
            ),
        )
    yield from _texts(1, waiting_notes(found, formatter))


def _figure(row: RangeRow) -> str:
    unit = f" {row.unit}" if row.unit else ""
    text = tr("{name}: {value}", name=row.name, value=f"{row.likely}{unit}")
    return tr("{text}, from {low} to {high}", text=text, low=row.low, high=row.high) if row.low else text


def vendors_lines(
    found: Routing, rules: Sequence[Rule], names: Mapping[str, str], money: Money, formatter: Formatter
) -> Iterator[Line]:
    """Yield the plans for requests of two kinds over two parts, and what documents say of that.

    `names` are what columns are called, by their keys.
    """
    yield Line(0, tr("Two vendors"))
    yield Line(1, mix_text(found, formatter))
    for plan in found.plans:
        title = plan_title(plan.plan, found, names).whole
        yield Line(1, tr("{title}: {said}", title=title, said=_plan(plan, found, names, money, formatter)))
    for paid, ranking in ((tr("Owned"), found.owned), (tr("Rented"), found.rented)):
        yield Line(1, tr("{paid}: {text}", paid=paid, text=ranking_text(ranking, found, names)))
        if ranking is not None:
            yield from _texts(2, (beyond_text(each, found, names, money) for each in ranking.beyond))
    yield from _texts(1, shared_pool_lines(found, formatter))
    yield from _texts(1, routing_notes(found, formatter))
    yield Line(0, tr("What documents say of mixing"))
    yield from _texts(1, map(mixing_text, rules))


def _plan(
    plan: RoutedPlan, found: Routing, names: Mapping[str, str], money: Money, formatter: Formatter
) -> str:
    """Return what a plan takes and costs, or why it cannot be."""
    if plan.reason is not None:
        return reason_text(plan, formatter)
    parts = []
    for key in found.keys:
        total, *details = pool_cell(plan, key, formatter)
        detail = ", ".join(each for each in details if each)
        parts.append(f"{names[key]} {total}" + (f" ({detail})" if detail else ""))
    parts.append(tr("owned {amount}", amount=_amount(plan.owned_usd, money)))
    parts.append(tr("rented {amount}", amount=_amount(plan.rented_usd, money)))
    return "; ".join(parts)


def _amount(spread: Range | None, money: Money) -> str:
    if spread is None:
        return UNKNOWN
    text = f"{money.whole(spread.likely)} {money.code}"
    if spread.is_known:
        return text
    low, high = money.whole(spread.low), money.whole(spread.high)
    return tr("{text} ({low} to {high})", text=text, low=low, high=high)


def watch_lines(signals: Iterable[tuple[Watched, str]], formatter: Formatter) -> Iterator[Line]:
    """Yield every signal with what is known of it; each comes with the title of the record's source."""
    yield Line(0, tr("Watch list"))
    yield from (Line(1, watch_sentence(each, source, formatter)) for each, source in signals)


def _texts(depth: int, texts: Iterable[str]) -> Iterator[Line]:
    return (Line(depth, text) for text in texts if text)
