"""Advisory information as JSON values: buy or wait, routing, export control, software, purchase, loading.

Figures are in the units that field names say; what is not known is null.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpudesk.domain.cost import UncertainValue
from gpudesk.domain.deployment_analysis import QuotedLinkRate, WeightLoading, WeightLoadTime
from gpudesk.domain.derivation import DerivationTerm
from gpudesk.domain.purchase import (
    DeferralAnalysis,
    NegotiationSheet,
    NextPricePoint,
    ProcurementFigure,
    ProcurementStepStatus,
    RuleOpinion,
)
from gpudesk.domain.reference_data import (
    ExportCheck,
    ExportRule,
    ExportRuleCheck,
    ExportRuleSet,
    LimitComparison,
    ReferenceDeployment,
    RefutedStatement,
    SoftwareSupport,
    SupportEntry,
)
from gpudesk.domain.routing import RequestClass, RoutedPlan, RoutedPool, RouteRanking, RoutingResult, SplitSurcharge
from gpudesk.domain.watch_list import KnownSignalValue, SignalStatus, WatchNote
from gpudesk.report.decision.advisory import group_by_software, list_load_workings
from gpudesk.report.decision.buy_or_wait import find_signal_state
from gpudesk.report.decision.export_control import describe_rule_outcome, get_export_warning
from gpudesk.report.writers.decision_json import encode_fact
from gpudesk.report.writers.sizing_json import encode_plan
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import Message, format_message


def encode_buy_or_wait(found: DeferralAnalysis, inputs: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return whether to buy or to wait, with all figures; `inputs` are those that the user states."""
    sums, turns, monthly = found.sums, found.turns, found.monthly
    return {
        "accelerator": found.chosen,
        "next": found.next_part,
        "inputs": dict(inputs or {}),
        "months_to_launch": found.months_to_launch,
        "months_to_next": _encode_range(found.months_to_next),
        "slip_months": _encode_range(found.slip_months),
        "delivery_months": _encode_range(found.delivery_months),
        "gap_months": _encode_range(found.gap_months),
        "years": found.years,
        "verdict": found.verdict.value,
        "document": None if found.document is None else found.document.value,
        "computed": found.computed.value,
        "computed_likely": found.likely.value,
        "rules": [_encode_deciding_rule(each) for each in found.rules],
        "tokens_per_month": _encode_range(found.tokens_per_month),
        "tokens_from": None if found.tokens_origin is None else found.tokens_origin.value,
        "monthly": {
            "buy_usd": _encode_range(monthly.buy_usd),
            "next_usd": _encode_range(monthly.next_usd),
            "without_usd": _encode_range(monthly.without_usd),
            "without_from": None if monthly.without_origin is None else monthly.without_origin.value,
            "without_rent_of": monthly.stopgap,
            "buy_usd_per_million": _encode_range(monthly.buy_usd_per_million),
            "next_usd_per_million": _encode_range(monthly.next_usd_per_million),
        },
        "sums": None
        if sums is None
        else {
            "gap_usd": _encode_range(sums.gap_usd),
            "avoided_usd": _encode_range(sums.avoided_usd),
            "waiting_usd": _encode_range(sums.waiting_usd),
            "gain_usd": _encode_range(sums.gain_usd),
            "saved_usd": _encode_range(sums.saved_usd),
            "wait_share": sums.wait_share,
        },
        "turns": {
            "gap_months": turns.gap_months,
            "delivery_months": turns.delivery_months,
            "slip_months": turns.slip_months,
            "launch_months": turns.launch_months,
            "usd_per_million": _encode_range(turns.usd_per_million),
            "price_usd": _encode_range(turns.price_usd),
        },
        "prices": [_encode_future_price(each) for each in found.prices],
        "notes": [format_message(note) for note in found.notes],
    }


def encode_routing(found: RoutingResult, inputs: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return the plans for requests of two kinds; `inputs` are those that the user states."""
    return {
        "columns": list(found.keys),
        "inputs": dict(inputs or {}),
        "requests_per_s": found.requests_per_s,
        "requests_from": found.rate_origin.value,
        "utilisation_cap": found.utilisation_cap,
        "spare_replicas": found.spare_replicas,
        "years": found.years,
        "classes": [_encode_request_class(each) for each in found.classes],
        "plans": [_encode_routed_plan(each) for each in found.plans],
        "owned": _encode_ranking(found.owned),
        "rented": _encode_ranking(found.rented),
        "shared_pool": {"loss": _encode_range(found.shared_loss), "working": _encode_shared_pool(found.shared_working)},
        "notes": [format_message(note) for note in found.notes],
    }


def encode_watch_list(watched: Iterable[SignalStatus]) -> list[dict[str, Any]]:
    return [_encode_watched_signal(each) for each in watched]


# Pieces of them


def _encode_range(spread: UncertainValue | None) -> dict[str, float | None] | None:
    """Return a range; an end without a limit is null."""
    if spread is None:
        return None
    return {name: value if math.isfinite(value) else None for name, value in spread._asdict().items()}


def _encode_deciding_rule(said: RuleOpinion) -> dict[str, Any]:
    return {
        "rule": said.rule,
        "verdict": None if said.verdict is None else said.verdict.value,
        "decides": said.strong,
        "said": format_message(said.said),
    }


def _encode_future_price(point: NextPricePoint) -> dict[str, Any]:
    return {"price_usd": point.price_usd, "saved_usd": _encode_range(point.saved_usd), "verdict": point.verdict.value}


def _encode_request_class(kind: RequestClass) -> dict[str, Any]:
    return {
        "kind": kind.kind.value,
        "model": kind.model,
        "weights": kind.weights.value,
        "input_tokens": kind.input_tokens,
        "output_tokens": kind.output_tokens,
        "share": kind.share,
        "requests_per_s": kind.requests_per_s,
    }


def _encode_routed_plan(plan: RoutedPlan) -> dict[str, Any]:
    return {
        "plan": plan.plan.value,
        "count": plan.count,
        "counts": _encode_range(plan.counts),
        "spare": plan.spare,
        "pools": [_encode_routed_pool(pool) for pool in plan.pools],
        "owned_usd": _encode_range(plan.owned_usd),
        "rented_usd": _encode_range(plan.rented_usd),
        "software_usd": _encode_range(plan.software_usd),
        "software_alone_usd": _encode_range(plan.software_alone_usd),
        "reason": None if plan.reason is None else format_message(plan.reason),
    }


def _encode_routed_pool(pool: RoutedPool) -> dict[str, Any]:
    return {
        "column": pool.key,
        "accelerator": pool.accelerator,
        "kinds": [kind.value for kind in pool.kinds],
        "parallel": encode_plan(pool.plan),
        "replicas": pool.replicas,
        "spare_replicas": pool.spare_replicas,
        "count": pool.count,
        "counts": _encode_range(pool.counts),
        "requests_per_s": {kind.value: rate._asdict() for kind, rate in pool.requests_per_s.items()},
    }


def _encode_ranking(ranking: RouteRanking | None) -> dict[str, Any] | None:
    if ranking is None:
        return None
    return {
        "cheapest": ranking.cheapest.value,
        "decided": ranking.decided,
        "within_error": [plan.value for plan in ranking.level],
        "beyond_one_vendor": [_encode_extra_cost(each) for each in ranking.beyond],
    }


def _encode_extra_cost(found: SplitSurcharge) -> dict[str, Any]:
    return {
        "plan": found.plan.value,
        "single": found.single.value,
        "usd": _encode_range(found.usd),
        "software_usd": _encode_range(found.software_usd),
        "software_alone_usd": _encode_range(found.software_alone_usd),
    }


def _encode_shared_pool(term: DerivationTerm | None) -> dict[str, Any] | None:
    if term is None:
        return None
    return {
        "formula": term.formula,
        "value": term.value,
        "inputs": {each.name: {"value": each.value, "unit": each.unit} for each in term.inputs},
    }


def _encode_watched_signal(watched: SignalStatus) -> dict[str, Any]:
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
        "state": find_signal_state(watched).value,
        "value": watched.value,
        "date": watched.date,
        "missing": watched.missing,
        "note": None if watched.note is None else _encode_signal_note(watched.note),
        "note_without_effect": None if watched.idle is None else _encode_signal_note(watched.idle),
        "known": [_encode_known_value(each) for each in signal.known],
        "if_passed": signal.if_passed,
        "if_not": signal.if_not,
        "statements": list(signal.statements),
        "disputes": list(signal.disputes),
    }


def _encode_signal_note(note: WatchNote) -> dict[str, Any]:
    return {"value": note.value, "date": note.date, "source": note.source, "note": note.note}


def _encode_known_value(known: KnownSignalValue) -> dict[str, Any]:
    return {
        "value": known.value,
        "date": known.date,
        "source": known.source,
        "about": known.about,
        "statements": list(known.statements),
        "disputes": list(known.disputes),
    }


# Export control


def encode_export_checks(checks: Sequence[ExportCheck], rules: ExportRuleSet) -> dict[str, Any]:
    """Return the rules, the newest first, and how each accelerator stands to them; `warning` goes with it."""
    return {
        "warning": get_export_warning(),
        "read": rules.read,
        "destination": checks[0].destination if checks else None,
        "rules": [_encode_export_rule(each) for each in rules.rules],
        "accelerators": [_encode_export_check(each) for each in checks],
    }


def _encode_export_rule(rule: ExportRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "publisher": rule.publisher,
        "title": rule.title,
        "reference": rule.reference,
        "url": rule.url,
        "published": rule.published,
        "in_force": rule.in_force,
        "not_enforced_since": rule.not_enforced_since,
        "superseded_by": rule.superseded_by,
        "counts": rule.counts,
        "covers": list(rule.covers),
        "note": rule.note,
        "read_in": [{"title": each.title, "url": each.url, "date": each.date} for each in rule.read_in],
    }


def _encode_export_check(check: ExportCheck) -> dict[str, Any]:
    return {
        "accelerator": check.accelerator,
        "name": check.name,
        "tpp": check.tpp,
        "scores": [
            {"precision": each.precision, "flops": each.flops, "bits": each.bits, "tpp": each.tpp}
            for each in check.scores
        ],
        "rules": [_encode_rule_check(each) for each in check.rules],
        "refused": [_encode_refused_claim(each) for each in check.refused],
        "notes": _write_sentences(check.notes),
    }


def _encode_rule_check(check: ExportRuleCheck) -> dict[str, Any]:
    threshold = check.threshold
    return {
        "rule": check.rule.id,
        "threshold": None if threshold is None else threshold.limit.value,
        "standing": None if threshold is None else threshold.standing.value,
        "described": check.met,
        "names_destination": check.named,
        "sentence": describe_rule_outcome(check),
        "lines": [
            {
                "name": line.line.name,
                "described": line.met,
                "note": line.line.note,
                "limits": [_encode_measured_limit(each) for each in line.held],
            }
            for line in check.lines
        ],
    }


def _encode_measured_limit(held: LimitComparison) -> dict[str, Any]:
    return {
        "measured": held.limit.measured.value,
        "limit": held.limit.value,
        "at_least": held.limit.at_least,
        "value": held.value,
        "standing": held.standing.value,
    }


def _encode_refused_claim(claim: RefutedStatement) -> dict[str, Any]:
    return {
        "statement": claim.statement,
        "dispute": claim.dispute,
        "rule": claim.rule,
        "peak_flops": claim.peak,
        "bits": claim.bits,
        "tpp": claim.tpp,
        "limit": claim.limit,
        "worked": claim.worked,
    }


# Software and deployments


def encode_software_support(support: SoftwareSupport, platforms: Iterable[str]) -> list[dict[str, Any]]:
    """Return what is said of software on each platform, each entry by itself and the newest first."""
    return [
        {
            "platform": platform,
            "software": [
                {
                    "id": found[0].software,
                    "name": found[0].name,
                    "entries": [_encode_support_entry(each) for each in found],
                }
                for found in group_by_software(support, platform)
            ],
        }
        for platform in platforms
    ]


def _encode_support_entry(entry: SupportEntry) -> dict[str, Any]:
    return {
        "level": entry.level.value,
        "scope": entry.scope,
        "date": entry.date,
        "source": entry.source,
        "statements": list(entry.statements),
        "disputes": list(entry.disputes),
    }


def encode_reference_deployments(references: Iterable[ReferenceDeployment]) -> list[dict[str, Any]]:
    """Return deployments that documents tell of; `count` is null where no number is printed."""
    return [
        {
            "id": each.id,
            "who": each.who,
            "named": each.named,
            "what": each.what,
            "basis": each.basis,
            "platform": each.platform,
            "accelerators": list(each.accelerators),
            "count": each.count,
            "date": each.date,
            "source": each.source,
            "statements": list(each.statements),
            "disputes": list(each.disputes),
        }
        for each in references
    ]


# A purchase


def encode_negotiation(sheet: NegotiationSheet) -> dict[str, Any]:
    """Return the steps of a purchase, what is done of them, and whether each applies: null if untold."""
    return {"done": sheet.done, "steps": [_encode_purchase_step(each) for each in sheet.lines]}


def _encode_purchase_step(line: ProcurementStepStatus) -> dict[str, Any]:
    step = line.step
    return {
        "id": step.id,
        "title": step.title,
        "strength": step.strength.value,
        "source": step.source,
        "dated": step.dated,
        "until": step.until,
        "past": line.past,
        "applies": line.applies,
        "tested": [
            {
                "condition": each.text,
                "left": encode_fact(each.left),
                "right": encode_fact(each.right),
                "holds": each.holds,
            }
            for each in line.tested
        ],
        "missing": list(line.missing),
        "ask": step.ask,
        "why": step.why,
        "otherwise": step.otherwise,
        "done": line.done,
        "note": line.note,
        "points": [
            {"id": each.point.id, "text": each.point.text, "done": each.done, "note": each.note} for each in line.points
        ],
        "figures": [_encode_step_figure(each) for each in step.figures],
        "statements": list(step.statements),
        "disputes": list(step.disputes),
    }


def _encode_step_figure(figure: ProcurementFigure) -> dict[str, Any]:
    return {
        "label": figure.label,
        "value": figure.value,
        "high": figure.high,
        "unit": figure.unit,
        "dated": figure.dated,
        "accelerators": list(figure.accelerators),
        "anecdotal": figure.anecdotal,
        "statements": list(figure.statements),
        "disputes": list(figure.disputes),
        "worked": list(figure.worked),
    }


# Loading


def encode_weight_loading(loadings: Mapping[str, WeightLoading | Message]) -> list[dict[str, Any]]:
    """Return the time to load by the key of each column; a message says why there is none."""
    return [
        {"key": key, "reason": format_message(found)}
        if isinstance(found, Message)
        else _encode_loading_of_column(key, found)
        for key, found in loadings.items()
    ]


def _encode_loading_of_column(key: str, loading: WeightLoading) -> dict[str, Any]:
    return {
        "key": key,
        "accelerator": loading.accelerator,
        "weights_bytes": loading.weights_bytes,
        "in_host": loading.in_host,
        "link_bytes_per_s": loading.link_bytes_per_s,
        "storage_bytes_per_s": loading.storage_bytes_per_s,
        "one": _encode_load_time(loading.one),
        "host": _encode_load_time(loading.host),
        "quoted": [_encode_quoted_link(each) for each in loading.quoted],
        "notes": _write_sentences(loading.notes),
    }


def _encode_load_time(time: WeightLoadTime) -> dict[str, Any]:
    return {
        "seconds": time.seconds,
        "link_s": time.link_s,
        "storage_s": time.storage_s,
        "working": list(list_load_workings(time, Formatter())),
        "reason": None if time.reason is None else format_message(time.reason),
    }


def _encode_quoted_link(quoted: QuotedLinkRate) -> dict[str, Any]:
    return {
        "statement": quoted.claim,
        "date": quoted.dated,
        "low_bytes_per_s": quoted.low_bytes_per_s,
        "high_bytes_per_s": quoted.high_bytes_per_s,
        "slowest_s": quoted.slowest_s,
        "fastest_s": quoted.fastest_s,
    }


def _write_sentences(notes: Iterable[Message]) -> list[str]:
    return [format_message(each) for each in notes]
