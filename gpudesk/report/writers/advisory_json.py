"""Advisory information as JSON values: buy or wait, routing, export control, software, purchase, loading.

Figures are in the units that field names say; what is not known is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpudesk.domain.deployment_analysis import WeightLoading, WeightLoadTime
from gpudesk.domain.derivation import DerivationTerm
from gpudesk.domain.purchase import DeferralAnalysis, NegotiationSheet, ProcurementStepStatus
from gpudesk.domain.reference_data import (
    ExportCheck,
    ExportRuleCheck,
    ExportRuleSet,
    ReferenceDeployment,
    SoftwareSupport,
)
from gpudesk.domain.routing import RouteRanking, RoutingResult
from gpudesk.domain.watch_list import SignalStatus
from gpudesk.report.decision.advisory import group_by_software, list_load_workings
from gpudesk.report.decision.buy_or_wait import find_signal_state
from gpudesk.report.decision.export_control import describe_rule_outcome, get_export_warning
from gpudesk.report.writers.decision_json import TESTED_CONDITION
from gpudesk.report.writers.json_values import encode_each, encode_fields, encode_value
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import Message, format_message


def encode_buy_or_wait(analysis: DeferralAnalysis, inputs: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return whether to buy or to wait, with all figures; `inputs` are those that the user states."""
    return {
        **encode_fields(analysis, "accelerator=chosen next=next_part"),
        "inputs": dict(inputs or {}),
        **encode_fields(
            analysis,
            "months_to_launch months_to_next slip_months delivery_months gap_months years verdict document computed "
            "computed_likely=likely",
        ),
        "rules": encode_each(analysis.rules, "rule verdict decides=strong said=text"),
        **encode_fields(analysis, "tokens_per_month tokens_from=tokens_origin"),
        "monthly": encode_fields(
            analysis.monthly,
            "buy_usd next_usd without_usd without_from=without_origin without_rent_of=stopgap buy_usd_per_million "
            "next_usd_per_million",
        ),
        **encode_fields(analysis, "sums turns prices notes"),
    }


def encode_routing(routing: RoutingResult, inputs: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return the plans for requests of two kinds; `inputs` are those that the user states."""
    return {
        "columns": list(routing.keys),
        "inputs": dict(inputs or {}),
        **encode_fields(
            routing, "requests_per_s requests_from=rate_origin utilisation_cap spare_replicas years classes"
        ),
        "plans": [
            {
                **encode_fields(plan, "plan count counts spare"),
                "pools": encode_each(
                    plan.pools,
                    "column=key accelerator kinds parallel=plan replicas spare_replicas count counts requests_per_s",
                ),
                **encode_fields(plan, "owned_usd rented_usd software_usd software_alone_usd reason"),
            }
            for plan in routing.plans
        ],
        "owned": _encode_ranking(routing.owned),
        "rented": _encode_ranking(routing.rented),
        "shared_pool": {
            "loss": encode_value(routing.shared_loss),
            "working": _encode_shared_pool(routing.shared_working),
        },
        "notes": encode_value(routing.notes),
    }


def _encode_ranking(ranking: RouteRanking | None) -> dict[str, Any] | None:
    if ranking is None:
        return None
    return encode_fields(ranking, "cheapest decided within_error=level beyond_one_vendor=beyond")


def _encode_shared_pool(term: DerivationTerm | None) -> dict[str, Any] | None:
    if term is None:
        return None
    inputs = {each.name: encode_fields(each, "value unit") for each in term.inputs}
    return {**encode_fields(term, "formula value"), "inputs": inputs}


def encode_watch_list(watched: Iterable[SignalStatus]) -> list[dict[str, Any]]:
    return [_encode_watched_signal(each) for each in watched]


def _encode_watched_signal(watched: SignalStatus) -> dict[str, Any]:
    signal, note = watched.signal, "value date source note"
    return {
        **encode_fields(signal, "id title look_for document=source dated threshold"),
        "state": find_signal_state(watched).value,
        **encode_fields(watched, "value date missing"),
        "note": None if watched.note is None else encode_fields(watched.note, note),
        "note_without_effect": None if watched.idle is None else encode_fields(watched.idle, note),
        **encode_fields(signal, "known if_passed if_not statements disputes"),
    }


# Export control


def encode_export_checks(checks: Sequence[ExportCheck], rules: ExportRuleSet) -> dict[str, Any]:
    """Return the rules, the newest first, and how each accelerator stands to them; `warning` goes with it."""
    return {
        "warning": get_export_warning(),
        "read": rules.read,
        "destination": checks[0].destination if checks else None,
        "rules": encode_each(
            rules.rules,
            "id name publisher title reference url published in_force not_enforced_since superseded_by counts covers "
            "note read_in",
        ),
        "accelerators": [_encode_export_check(each) for each in checks],
    }


def _encode_export_check(check: ExportCheck) -> dict[str, Any]:
    return {
        **encode_fields(check, "accelerator name tpp"),
        "scores": encode_each(check.scores, "precision flops bits tpp"),
        "rules": [_encode_rule_check(each) for each in check.rules],
        "refused": encode_each(check.refused, "statement dispute rule peak_flops=peak bits tpp limit worked"),
        "notes": encode_value(check.notes),
    }


def _encode_rule_check(check: ExportRuleCheck) -> dict[str, Any]:
    threshold = check.threshold
    return {
        "rule": check.rule.id,
        "threshold": None if threshold is None else threshold.limit.value,
        "standing": None if threshold is None else threshold.standing.value,
        **encode_fields(check, "described=met names_destination=named"),
        "sentence": describe_rule_outcome(check),
        "lines": [
            {
                "name": line.line.name,
                "described": line.met,
                "note": line.line.note,
                "limits": [
                    {
                        **encode_fields(comparison.limit, "measured limit=value at_least"),
                        **encode_fields(comparison, "value standing"),
                    }
                    for comparison in line.held
                ],
            }
            for line in check.lines
        ],
    }


# Software and deployments


def encode_software_support(support: SoftwareSupport, platforms: Iterable[str]) -> list[dict[str, Any]]:
    """Return the statements about software on each platform, one per entry, the newest first."""
    return [
        {
            "platform": platform,
            "software": [
                {
                    **encode_fields(entries[0], "id=software name"),
                    "entries": encode_each(entries, "level scope date source statements disputes"),
                }
                for entries in group_by_software(support, platform)
            ],
        }
        for platform in platforms
    ]


def encode_reference_deployments(references: Iterable[ReferenceDeployment]) -> list[dict[str, Any]]:
    """Return deployments that documents tell of; `count` is null where no number is printed."""
    return encode_each(
        references, "id who named what basis platform accelerators count date source statements disputes"
    )


# A purchase


def encode_negotiation(sheet: NegotiationSheet) -> dict[str, Any]:
    """Return the steps of a purchase, what is done of them, and whether each applies: null if untold."""
    return {"done": sheet.done, "steps": [_encode_purchase_step(each) for each in sheet.lines]}


def _encode_purchase_step(line: ProcurementStepStatus) -> dict[str, Any]:
    step = line.step
    return {
        **encode_fields(step, "id title strength source dated until"),
        **encode_fields(line, "past applies"),
        "tested": encode_each(line.tested, TESTED_CONDITION),
        "missing": list(line.missing),
        **encode_fields(step, "ask why otherwise"),
        **encode_fields(line, "done note"),
        "points": [
            {**encode_fields(each.point, "id text"), **encode_fields(each, "done note")} for each in line.points
        ],
        "figures": encode_each(
            step.figures, "label value high unit dated accelerators anecdotal statements disputes worked"
        ),
        **encode_fields(step, "statements disputes"),
    }


# Loading


def encode_weight_loading(loadings: Mapping[str, WeightLoading | Message]) -> list[dict[str, Any]]:
    """Return the time to load by the key of each column; a message says why there is none."""
    return [
        {"key": key, "reason": format_message(loading)}
        if isinstance(loading, Message)
        else _encode_loading_of_column(key, loading)
        for key, loading in loadings.items()
    ]


def _encode_loading_of_column(key: str, loading: WeightLoading) -> dict[str, Any]:
    return {
        "key": key,
        **encode_fields(loading, "accelerator weights_bytes in_host link_bytes_per_s storage_bytes_per_s"),
        "one": _encode_load_time(loading.one),
        "host": _encode_load_time(loading.host),
        "quoted": encode_each(
            loading.quoted, "statement=claim date=dated low_bytes_per_s high_bytes_per_s slowest_s fastest_s"
        ),
        "notes": encode_value(loading.notes),
    }


def _encode_load_time(time: WeightLoadTime) -> dict[str, Any]:
    return {
        **encode_fields(time, "seconds link_s storage_s"),
        "working": list(list_load_workings(time, Formatter())),
        "reason": encode_value(time.reason),
    }
