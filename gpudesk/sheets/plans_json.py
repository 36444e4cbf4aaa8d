"""The plans beside a recommendation, and the watch list, as JSON values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from gpudesk.domain.answers import Term
from gpudesk.domain.buying import BuyOrWait, PricePoint, RuleSays
from gpudesk.domain.ranges import Range
from gpudesk.domain.routing import Beyond, Ranking, RequestClass, RoutedPlan, RoutedPool, Routing
from gpudesk.domain.watching import Known, Watched, WatchNote
from gpudesk.sentences import sentence
from gpudesk.sheets.how_many_json import plan_fields
from gpudesk.sheets.watch_words import watch_state


def waiting_fields(found: BuyOrWait, inputs: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return whether to buy or to wait, with all figures; `inputs` are those that the user states."""
    sums, turns, monthly = found.sums, found.turns, found.monthly
    return {
        "accelerator": found.chosen,
        "next": found.next_part,
        "inputs": dict(inputs or {}),
        "months_to_launch": found.months_to_launch,
        "months_to_next": _range(found.months_to_next),
        "slip_months": _range(found.slip_months),
        "delivery_months": _range(found.delivery_months),
        "gap_months": _range(found.gap_months),
        "years": found.years,
        "verdict": found.verdict.value,
        "document": None if found.document is None else found.document.value,
        "computed": found.computed.value,
        "computed_likely": found.likely.value,
        "rules": [_rule(each) for each in found.rules],
        "tokens_per_month": _range(found.tokens_per_month),
        "tokens_from": None if found.tokens_origin is None else found.tokens_origin.value,
        "monthly": {
            "buy_usd": _range(monthly.buy_usd),
            "next_usd": _range(monthly.next_usd),
            "without_usd": _range(monthly.without_usd),
            "without_from": None if monthly.without_origin is None else monthly.without_origin.value,
            "without_rent_of": monthly.stopgap,
            "buy_usd_per_million": _range(monthly.buy_usd_per_million),
            "next_usd_per_million": _range(monthly.next_usd_per_million),
        },
        "sums": None
        if sums is None
        else {
            "gap_usd": _range(sums.gap_usd),
            "avoided_usd": _range(sums.avoided_usd),
            "waiting_usd": _range(sums.waiting_usd),
            "gain_usd": _range(sums.gain_usd),
            "saved_usd": _range(sums.saved_usd),
            "wait_share": sums.wait_share,
        },
        "turns": {
            "gap_months": turns.gap_months,
            "delivery_months": turns.delivery_months,
            "slip_months": turns.slip_months,
            "launch_months": turns.launch_months,
            "usd_per_million": _range(turns.usd_per_million),
            "price_usd": _range(turns.price_usd),
        },
        "prices": [_price(each) for each in found.prices],
        "notes": [sentence(note) for note in found.notes],
    }


def routing_fields(found: Routing, inputs: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return the plans for requests of two kinds; `inputs` are those that the user states."""
    return {
        "columns": list(found.keys),
        "inputs": dict(inputs or {}),
        "requests_per_s": found.requests_per_s,
        "requests_from": found.rate_origin.value,
        "utilisation_cap": found.utilisation_cap,
        "spare_replicas": found.spare_replicas,
        "years": found.years,
        "classes": [_class(each) for each in found.classes],
        "plans": [_plan(each) for each in found.plans],
        "owned": _ranking(found.owned),
        "rented": _ranking(found.rented),
        "shared_pool": {"loss": _range(found.shared_loss), "working": _working(found.shared_working)},
        "notes": [sentence(note) for note in found.notes],
    }


def watch_fields(watched: Iterable[Watched]) -> list[dict[str, Any]]:
    """Return every signal of the watch list with what is known of it."""
    return [_watched(each) for each in watched]


# Pieces of them


def _range(spread: Range | None) -> dict[str, float | None] | None:
    """Return a range; an end without a limit is null."""
    if spread is None:
        return None
    return {name: value if math.isfinite(value) else None for name, value in spread._asdict().items()}


def _rule(said: RuleSays) -> dict[str, Any]:
    return {
        "rule": said.rule,
        "verdict": None if said.verdict is None else said.verdict.value,
        "decides": said.strong,
        "said": sentence(said.said),
    }


def _price(point: PricePoint) -> dict[str, Any]:
    return {
        "price_usd": point.price_usd,
        "saved_usd": _range(point.saved_usd),
        "verdict": point.verdict.value,
    }


def _class(kind: RequestClass) -> dict[str, Any]:
    return {
        "kind": kind.kind.value,
        "model": kind.model,
        "weights": kind.weights.value,
        "input_tokens": kind.input_tokens,
        "output_tokens": kind.output_tokens,
        "share": kind.share,
        "requests_per_s": kind.requests_per_s,
    }


def _plan(plan: RoutedPlan) -> dict[str, Any]:
    return {
        "plan": plan.plan.value,
        "count": plan.count,
        "counts": _range(plan.counts),
        "spare": plan.spare,
        "pools": [_pool(pool) for pool in plan.pools],
        "owned_usd": _range(plan.owned_usd),
        "rented_usd": _range(plan.rented_usd),
        "software_usd": _range(plan.software_usd),
        "software_alone_usd": _range(plan.software_alone_usd),
        "reason": None if plan.reason is None else sentence(plan.reason),
    }


def _pool(pool: RoutedPool) -> dict[str, Any]:
    return {
        "column": pool.key,
        "accelerator": pool.accelerator,
        "kinds": [kind.value for kind in pool.kinds],
        "parallel": plan_fields(pool.plan),
        "replicas": pool.replicas,
        "spare_replicas": pool.spare_replicas,
        "count": pool.count,
        "counts": _range(pool.counts),
        "requests_per_s": {kind.value: rate._asdict() for kind, rate in pool.requests_per_s.items()},
    }


def _ranking(ranking: Ranking | None) -> dict[str, Any] | None:
    if ranking is None:
        return None
    return {
        "cheapest": ranking.cheapest.value,
        "decided": ranking.decided,
        "within_error": [plan.value for plan in ranking.level],
        "beyond_one_vendor": [_beyond(each) for each in ranking.beyond],
    }


def _beyond(found: Beyond) -> dict[str, Any]:
    return {
        "plan": found.plan.value,
        "single": found.single.value,
        "usd": _range(found.usd),
        "software_usd": _range(found.software_usd),
        "software_alone_usd": _range(found.software_alone_usd),
    }


def _working(term: Term | None) -> dict[str, Any] | None:
    if term is None:
        return None
    return {
        "formula": term.formula,
        "value": term.value,
        "inputs": {each.name: {"value": each.value, "unit": each.unit} for each in term.inputs},
    }


def _watched(watched: Watched) -> dict[str, Any]:
    signal = watched.signal
    limit = signal.threshold
    return {
        "id": signal.id,
        "title": signal.title,
        "look_for": signal.look_for,
        "document": signal.source,
        "dated": signal.dated,
        "threshold": None
        if limit is None
        else {"value": limit.value, "unit": limit.unit, "direction": limit.direction.value},
        "state": watch_state(watched).value,
        "value": watched.value,
        "date": watched.date,
        "missing": watched.missing,
        "note": None if watched.note is None else _note(watched.note),
        "note_without_effect": None if watched.idle is None else _note(watched.idle),
        "known": [_known(each) for each in signal.known],
        "if_passed": signal.if_passed,
        "if_not": signal.if_not,
        "statements": list(signal.statements),
        "disputes": list(signal.disputes),
    }


def _note(note: WatchNote) -> dict[str, Any]:
    return {"value": note.value, "date": note.date, "source": note.source, "note": note.note}


def _known(known: Known) -> dict[str, Any]:
    return {
        "value": known.value,
        "date": known.date,
        "source": known.source,
        "about": known.about,
        "statements": list(known.statements),
        "disputes": list(known.disputes),
    }
