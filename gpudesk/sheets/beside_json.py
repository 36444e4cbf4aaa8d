"""What stands beside a recommendation as JSON values: exports, software, deployments, a purchase, loading.

Figures are in the units used inside, which the names of fields say; what is not known is null.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from gpudesk.domain.export_control import ExportCheck, ExportRule, ExportRules, Held, RefusedClaim, RuleCheck
from gpudesk.domain.formatting import Formatter
from gpudesk.domain.messages import Message
from gpudesk.domain.procurement import NegotiationSheet, StepFigure, StepLine
from gpudesk.domain.references import Reference
from gpudesk.domain.software_support import SoftwareSupport, SupportEntry
from gpudesk.domain.weight_loading import LoadTime, QuotedLink, WeightLoading
from gpudesk.sentences import sentence
from gpudesk.sheets.decision_json import fact_value
from gpudesk.sheets.export_words import export_warning, outcome_text
from gpudesk.sheets.loading_words import working_lines
from gpudesk.sheets.support_words import by_software

# Export control


def export_fields(checks: Sequence[ExportCheck], rules: ExportRules) -> dict[str, Any]:
    """Return the rules, the newest first, and how each accelerator stands to them; `warning` goes with it."""
    return {
        "warning": export_warning(),
        "read": rules.read,
        "destination": checks[0].destination if checks else None,
        "rules": [_rule(each) for each in rules.rules],
        "accelerators": [_check(each) for each in checks],
    }


def _rule(rule: ExportRule) -> dict[str, Any]:
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


def _check(check: ExportCheck) -> dict[str, Any]:
    return {
        "accelerator": check.accelerator,
        "name": check.name,
        "tpp": check.tpp,
        "scores": [
            {"precision": each.precision, "flops": each.flops, "bits": each.bits, "tpp": each.tpp}
            for each in check.scores
        ],
        "rules": [_rule_check(each) for each in check.rules],
        "refused": [_refused(each) for each in check.refused],
        "notes": _sentences(check.notes),
    }


def _rule_check(check: RuleCheck) -> dict[str, Any]:
    threshold = check.threshold
    return {
        "rule": check.rule.id,
        "threshold": None if threshold is None else threshold.limit.value,
        "standing": None if threshold is None else threshold.standing.value,
        "described": check.met,
        "names_destination": check.named,
        "sentence": outcome_text(check),
        "lines": [
            {
                "name": line.line.name,
                "described": line.met,
                "note": line.line.note,
                "limits": [_held(each) for each in line.held],
            }
            for line in check.lines
        ],
    }


def _held(held: Held) -> dict[str, Any]:
    return {
        "measured": held.limit.measured.value,
        "limit": held.limit.value,
        "at_least": held.limit.at_least,
        "value": held.value,
        "standing": held.standing.value,
    }


def _refused(claim: RefusedClaim) -> dict[str, Any]:
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


def support_fields(support: SoftwareSupport, platforms: Iterable[str]) -> list[dict[str, Any]]:
    """Return what is said of software on each platform, each entry by itself and the newest first."""
    return [
        {
            "platform": platform,
            "software": [
                {"id": found[0].software, "name": found[0].name, "entries": [_entry(each) for each in found]}
                for found in by_software(support, platform)
            ],
        }
        for platform in platforms
    ]


def _entry(entry: SupportEntry) -> dict[str, Any]:
    return {
        "level": entry.level.value,
        "scope": entry.scope,
        "date": entry.date,
        "source": entry.source,
        "statements": list(entry.statements),
        "disputes": list(entry.disputes),
    }


def reference_fields(references: Iterable[Reference]) -> list[dict[str, Any]]:
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


def negotiation_fields(sheet: NegotiationSheet) -> dict[str, Any]:
    """Return the steps of a purchase, what is done of them, and whether each applies: null if untold."""
    return {"done": sheet.done, "steps": [_step(each) for each in sheet.lines]}


def _step(line: StepLine) -> dict[str, Any]:
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
                "left": fact_value(each.left),
                "right": fact_value(each.right),
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
            {"id": each.point.id, "text": each.point.text, "done": each.done, "note": each.note}
            for each in line.points
        ],
        "figures": [_figure(each) for each in step.figures],
        "statements": list(step.statements),
        "disputes": list(step.disputes),
    }


def _figure(figure: StepFigure) -> dict[str, Any]:
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


def loading_fields(loadings: Mapping[str, WeightLoading | Message]) -> list[dict[str, Any]]:
    """Return the time to load by the key of each column; a message says why there is none."""
    return [
        {"key": key, "reason": sentence(found)} if isinstance(found, Message) else _loading(key, found)
        for key, found in loadings.items()
    ]


def _loading(key: str, loading: WeightLoading) -> dict[str, Any]:
    return {
        "key": key,
        "accelerator": loading.accelerator,
        "weights_bytes": loading.weights_bytes,
        "in_host": loading.in_host,
        "link_bytes_per_s": loading.link_bytes_per_s,
        "storage_bytes_per_s": loading.storage_bytes_per_s,
        "one": _time(loading.one),
        "host": _time(loading.host),
        "quoted": [_quoted(each) for each in loading.quoted],
        "notes": _sentences(loading.notes),
    }


def _time(time: LoadTime) -> dict[str, Any]:
    return {
        "seconds": time.seconds,
        "link_s": time.link_s,
        "storage_s": time.storage_s,
        "working": list(working_lines(time, Formatter())),
        "reason": None if time.reason is None else sentence(time.reason),
    }


def _quoted(quoted: QuotedLink) -> dict[str, Any]:
    return {
        "statement": quoted.claim,
        "date": quoted.dated,
        "low_bytes_per_s": quoted.low_bytes_per_s,
        "high_bytes_per_s": quoted.high_bytes_per_s,
        "slowest_s": quoted.slowest_s,
        "fastest_s": quoted.fastest_s,
    }


def _sentences(notes: Iterable[Message]) -> list[str]:
    return [sentence(each) for each in notes]
