"""A decision and its advisory information as JSON values; field names state the units of figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpudesk.domain.decision import (
    QUESTIONS,
    AnswerValue,
    Decision,
    DecisionCandidate,
    DecisionFactor,
    DecisionFlip,
    DecisionQuestion,
    DecisionReason,
    DecisionRule,
    QuestionAnswer,
    RuleEffect,
    RuleExclusion,
    TraceLine,
)
from gpudesk.domain.deployment_analysis import DerivationTerm, WeightLoading, WeightLoadTime
from gpudesk.domain.estimate_json import encode_each, encode_fields, encode_value
from gpudesk.domain.purchase import DeferralAnalysis, NegotiationSheet, ProcurementStepStatus
from gpudesk.domain.reference_data import (
    ExportCheck,
    ExportRuleCheck,
    ExportRuleSet,
    ReferenceDeployment,
    SignalStatus,
    SoftwareSupport,
)
from gpudesk.domain.routing import RoutingResult
from gpudesk.report.decision.advisory import group_by_software, list_load_workings
from gpudesk.report.decision.buy_or_wait import find_signal_state
from gpudesk.report.decision.export_control import describe_rule_outcome, get_export_warning
from gpudesk.report.decision.facts import get_option_texts
from gpudesk.report.decision.no_recommendation import describe_way_out
from gpudesk.report.decision.questions import get_question_reason, get_question_text
from gpudesk.report.decision.recommendation import describe_pilot
from gpudesk.report.decision.rules import describe_exclusion, describe_reason, get_reason_figure, list_exclusion_tests
from gpudesk.report.decision.verdict import (
    describe_verdict_reason,
    describe_verdict_terms,
    find_leading_column,
    format_verdict,
)
from gpudesk.report.writers.json_values import SYSTEM_COUNT
from gpudesk.text.formatting import Formatter
from gpudesk.text.messages import Message, format_message

#: Fields of a tested condition, by their keys.
TESTED_CONDITION = "condition=text left right holds"


def encode_buy_or_wait(analysis: DeferralAnalysis, inputs: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return whether to buy or to wait, with all figures; `inputs` are the user's."""
    return {
        **encode_fields(analysis, "accelerator=chosen next=next_part"),
        "inputs": dict(inputs or {}),
        **encode_fields(
            analysis,
            "months_to_launch months_to_next slip_months delivery_months gap_months years verdict document computed "
            "computed_likely=likely rules(rule verdict decides=strong said=text) tokens_per_month "
            "tokens_from=tokens_origin monthly(buy_usd next_usd without_usd without_from=without_origin "
            "without_rent_of=gap_rental buy_usd_per_million next_usd_per_million) sums turns prices notes",
        ),
    }


def encode_routing(routing: RoutingResult, inputs: Mapping[str, object] | None = None) -> dict[str, Any]:
    """Return the plans for requests of two kinds; `inputs` are the user's."""
    ranking = "(cheapest decided within_error=level beyond_one_vendor=beyond)"
    return {
        "columns": list(routing.keys),
        "inputs": dict(inputs or {}),
        **encode_fields(
            routing,
            "requests_per_s requests_from=rate_origin utilisation_cap spare_replicas years classes "
            "plans(plan count counts spare pools(column=key accelerator kinds parallel=plan replicas spare_replicas "
            "count counts requests_per_s) owned_usd rented_usd software_usd software_alone_usd reason) "
            f"owned{ranking} rented{ranking}",
        ),
        "shared_pool": {
            "loss": encode_value(routing.shared_loss),
            "working": _encode_shared_pool(routing.shared_working),
        },
        "notes": encode_value(routing.notes),
    }


def _encode_shared_pool(term: DerivationTerm | None) -> dict[str, Any] | None:
    if term is None:
        return None
    inputs = {each.name: encode_fields(each, "value unit") for each in term.inputs}
    return {**encode_fields(term, "formula value"), "inputs": inputs}


def encode_watch_list(watched: Iterable[SignalStatus]) -> list[dict[str, Any]]:
    return [_encode_watched_signal(each) for each in watched]


def _encode_watched_signal(watched: SignalStatus) -> dict[str, Any]:
    note = "(value date source note)"
    return {
        **encode_fields(watched.signal, "id title look_for document=source dated threshold"),
        "state": find_signal_state(watched).value,
        **encode_fields(watched, f"value date missing note{note} note_without_effect=idle{note}"),
        **encode_fields(watched.signal, "known if_passed if_not statements disputes"),
    }


# Export control


def encode_export_checks(checks: Sequence[ExportCheck], rules: ExportRuleSet) -> dict[str, Any]:
    """Return the rules, the newest first, and each accelerator's results; `warning` is included."""
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
        **encode_fields(check, "accelerator name tpp scores(precision flops bits tpp)"),
        "rules": [_encode_rule_check(each) for each in check.rules],
        **encode_fields(check, "refused(statement dispute rule peak_flops=peak bits tpp limit worked) notes"),
    }


def _encode_rule_check(check: ExportRuleCheck) -> dict[str, Any]:
    return {
        **encode_fields(
            check,
            "rule=rule.id threshold=threshold.limit.value standing=threshold.standing described=met "
            "names_destination=named",
        ),
        "sentence": describe_rule_outcome(check),
        **encode_fields(
            check,
            "lines(name=line.name described=met note=line.note limits=comparisons(measured=limit.measured "
            "limit=limit.value at_least=limit.at_least value standing))",
        ),
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
    """Return deployments reported by documents; `count` is null if no number is printed."""
    return encode_each(
        references, "id who named what basis platform accelerators count date source statements disputes"
    )


# A purchase


def encode_negotiation(sheet: NegotiationSheet) -> dict[str, Any]:
    """Return the steps of a purchase, completed points, and whether each applies: null if undecided."""
    return {"done": sheet.done, "steps": [_encode_purchase_step(each) for each in sheet.lines]}


def _encode_purchase_step(line: ProcurementStepStatus) -> dict[str, Any]:
    return {
        **encode_fields(line.step, "id title strength source dated until"),
        **encode_fields(line, f"past applies tested({TESTED_CONDITION}) missing"),
        **encode_fields(line.step, "ask why otherwise"),
        **encode_fields(line, "done=is_done note points(id=point.id text=point.text done=is_done note)"),
        **encode_fields(
            line.step,
            "figures(label value high unit dated accelerators anecdotal statements disputes worked) statements "
            "disputes",
        ),
    }


# Loading


def encode_weight_loading(loadings: Mapping[str, WeightLoading | Message]) -> list[dict[str, Any]]:
    """Return the loading time by column key; a message explains its absence."""
    return [
        {"key": key, "reason": format_message(loading)}
        if isinstance(loading, Message)
        else {
            "key": key,
            **encode_fields(loading, "accelerator weights_bytes in_host link_bytes_per_s storage_bytes_per_s"),
            "one": _encode_load_time(loading.one),
            "host": _encode_load_time(loading.host),
            **encode_fields(
                loading, "quoted(statement=claim date=dated low_bytes_per_s high_bytes_per_s slowest_s fastest_s) notes"
            ),
        }
        for key, loading in loadings.items()
    ]


def _encode_load_time(time: WeightLoadTime) -> dict[str, Any]:
    return {
        **encode_fields(time, "seconds link_s storage_s"),
        "working": list(list_load_workings(time, Formatter())),
        "reason": encode_value(time.reason),
    }


ColumnNamesByKey = Mapping[str, str]


def encode_decision(decision: Decision, flips: Sequence[DecisionFlip], names: ColumnNamesByKey) -> dict[str, Any]:
    """Return a decision as JSON values: numbers are finite, unknown values are null.

    `names` are those of the columns by key.
    """
    formatter = Formatter()
    pilot, other = decision.pilot, decision.other_payment
    return {
        **encode_fields(decision, "recommendation=recommended(accelerator key count parallel=plan) verdict"),
        "sentence": format_verdict(decision, names, formatter),
        "why": describe_verdict_reason(decision, names, formatter),
        "terms": describe_verdict_terms(decision, names, formatter),
        "leading": find_leading_column(decision),
        **encode_fields(decision, "runner_up tied_by robustness api_usd_per_million_output=api_usd"),
        "other_payment": None
        if other is None
        else {
            **encode_fields(other, "payment leading=leader.key runner_up=runner_up.key"),
            "odds": {each.key: each.odds for each in (other.leader, other.runner_up) if each is not None},
        },
        **encode_fields(decision, "scope"),
        "candidates": [_encode_candidate(each, decision) for each in decision.candidates],
        "reasons": [_encode_reason(each, names, formatter) for each in decision.reasons],
        "against": [_encode_reason(each, names, formatter) for each in decision.against],
        "excluded": [_encode_exclusion(each, decision, names, formatter) for each in decision.exclusions],
        "ways_out": [
            {
                **encode_fields(way, "kind budget_usd"),
                **encode_fields(
                    way.estimate,
                    "accelerator=request.accelerator weights=request.weights "
                    "input_tokens=request.workload.input_tokens count parallel=plan output_tokens_per_s",
                ),
                "sentence": ": ".join(describe_way_out(way, formatter)),
            }
            for way in decision.ways_out
        ],
        "trace": [_encode_trace_line(line, decision.columns) for line in decision.trace],
        "silent": list(decision.silent),
        "flips": encode_each(flips, "input from=before to=after becomes verdict"),
        "shares": {each.key: each.odds for each in decision.candidates},
        **encode_fields(decision, "answers advice"),
        "conflicts": [list(each) for each in decision.conflicts],
        "pilot": None
        if pilot is None
        else {
            **encode_fields(pilot, "accelerators=keys figure requests hours"),
            "sentence": describe_pilot(pilot, names, formatter),
        },
        "factors": [_encode_factor(each, decision.columns) for each in decision.factors],
        "weights": {line.rule.id: line.weight for line in decision.trace},
    }


def _encode_candidate(candidate: DecisionCandidate, decision: Decision) -> dict[str, Any]:
    objective = decision.objective
    return {
        **encode_fields(candidate, "key accelerator count parallel=plan eligible odds"),
        "objective": {
            "name": objective.name.value,
            "unit": objective.unit,
            "better": "lower" if objective.lower_is_better else "higher",
            **encode_fields(candidate, "payment value=value.value low=value.low high=value.high"),
        },
        **encode_fields(
            candidate, f"missing needed arguments=score removed open=open_rules systems({SYSTEM_COUNT}) like_for_like"
        ),
    }


def _encode_reason(reason: DecisionReason, names: ColumnNamesByKey, formatter: Formatter) -> dict[str, Any]:
    figure, unit = get_reason_figure(reason)
    return {
        "text": describe_reason(reason, names, formatter),
        "figure": encode_value(figure),
        "unit": unit,
        "rule": None if reason.line is None else reason.line.rule.id,
        "fact": reason.fact,
        "against": reason.other,
    }


def _encode_exclusion(
    exclusion: RuleExclusion, decision: Decision, names: ColumnNamesByKey, formatter: Formatter
) -> dict[str, Any]:
    return {
        "accelerator": exclusion.key,
        "rule": exclusion.rule.id,
        "because": encode_each(list_exclusion_tests(exclusion, decision), TESTED_CONDITION),
        "sentence": describe_exclusion(exclusion, names, formatter, decision),
    }


def _encode_trace_line(line: TraceLine, columns: Sequence[str]) -> dict[str, Any]:
    cells = dict(zip(columns, line.cells, strict=True))
    rule = line.rule
    return {
        **encode_fields(line, "rule=rule.id title strength=rule.strength"),
        "theme": line.case.theme or rule.theme,
        "source": rule.source,
        "dated": rule.dated or None,
        **encode_fields(line, f"pair=rule.pair answer=answers tested({TESTED_CONDITION})"),
        "favours": [key for key, cell in cells.items() if cell.effect is RuleEffect.FAVORS],
        **encode_fields(line, "role weight counted_with shows=rule.shows"),
        "effects": {
            key: encode_fields(cell, f"effect value tested({TESTED_CONDITION})") for key, cell in cells.items()
        },
        **encode_fields(line, "advice=case.advice"),
        **encode_fields(rule, "printed corrected unfounded disputes"),
    }


def _encode_factor(factor: DecisionFactor, columns: Sequence[str]) -> dict[str, Any]:
    cells = zip(columns, factor.cells, strict=True)
    return {
        **encode_fields(factor, "id fact"),
        "cells": {key: encode_fields(cell, "level value") for key, cell in cells},
        "stated": list(factor.rules),
    }


# Questions and weights


def encode_questions(answers: Mapping[str, QuestionAnswer]) -> dict[str, Any]:
    return {"questions": [_encode_question(each, answers[each.id]) for each in QUESTIONS.values()]}


def _encode_question(question: DecisionQuestion, answered: QuestionAnswer) -> dict[str, Any]:
    bounds = question.bounds
    return {
        **encode_fields(question, "id screen strength=screen.strength"),
        "title": get_question_text(question.id),
        "why": get_question_reason(question.id),
        "options": [_encode_option(question.id, each) for each in question.options],
        "number": None
        if bounds is None
        else {"unit": question.unit, **encode_fields(bounds, "low high above"), "presets": list(question.presets)},
        "default": question.default,
        **encode_value(answered),
    }


def _encode_option(question: str, option: AnswerValue) -> dict[str, Any]:
    words = get_option_texts(question, option, Formatter())
    return {"id": option, "title": words.title, "use": words.use}


def encode_rules(rules: Sequence[tuple[DecisionRule, float]]) -> dict[str, Any]:
    return {"rules": [_encode_rule(rule, weight) for rule, weight in rules]}


def _encode_rule(rule: DecisionRule, weight: float) -> dict[str, Any]:
    return {
        **encode_fields(rule, "id strength title theme why source"),
        "dated": rule.dated or None,
        "pair": list(rule.pair),
        "weight": weight,
        **encode_fields(
            rule, "asks cases(when requires favours checks advice) printed corrected unfounded disputes against"
        ),
    }
