"""Claims and disputes of the catalog in words, and explanations as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from gpudesk.domain.claim import (
    PRICE_BOUND_ATTRIBUTES,
    AttributeClaims,
    Claim,
    ClaimStatus,
    Dispute,
    SourceKind,
    is_figure,
)
from gpudesk.domain.registry import find_quantity
from gpudesk.report.explanation.parts import (
    ClaimGroup,
    ClaimLine,
    DisputeLine,
    ExplainedPlans,
    Explanation,
    ExplanationDetail,
    MeasuredRunLines,
    TermLine,
    list_details,
)
from gpudesk.report.labels import describe_refusal, label_attribute_alone, label_date, label_precision, translate_title
from gpudesk.text.formatting import MISSING_VALUE_TEXT, Formatter, Quantity, get_display_unit, join_unit, translate_unit
from gpudesk.text.messages import capitalize_first, to_sentence
from gpudesk.text.translation import tr, translate_data, trn


def format_attribute_value(
    attributes: Mapping[str, AttributeClaims], name: str, formatter: Formatter
) -> tuple[str, str | None]:
    """Return the catalog's preferred value in its displayed unit, and that unit; prices as a range."""
    if name in PRICE_BOUND_ATTRIBUTES:
        ends = [attributes[end].value for end in PRICE_BOUND_ATTRIBUTES if end in attributes]
        texts = [formatter.catalog(end, Quantity.USD) for end in ends if end is not None]
        return " – ".join(dict.fromkeys(texts)) or MISSING_VALUE_TEXT, get_display_unit(Quantity.USD)
    attribute = attributes[name]
    return _format_claim_value(attribute, attribute.preferred, formatter)


def build_claim_group(
    attribute: AttributeClaims, formatter: Formatter, high: AttributeClaims | None = None
) -> ClaimGroup:
    """Return all claims about an attribute; `high` is the upper end of a range."""
    rivals = sorted(attribute.rivals, key=lambda claim: not claim.own)
    claims = (*filter(None, (attribute.preferred,)), *rivals)
    return ClaimGroup(
        key=f"{attribute.thing}/{attribute.name}",
        label=label_attribute_alone(attribute.name),
        claims=tuple(_build_claim_line(attribute, claim, formatter, high) for claim in claims),
        # The user's own reason is shown with its date.
        reason=to_sentence(attribute.reason) if attribute.reason and not attribute.overridden else None,
    )


def build_input_claims(attribute: AttributeClaims, formatter: Formatter) -> ClaimGroup:
    """Return the claim behind an input of a derivation, and the rivals that differ from it."""
    whole = build_claim_group(attribute, formatter)
    claims = tuple(claim for claim in whole.claims if claim.stance is not ClaimStatus.AGREES)
    return ClaimGroup(whole.key, whole.label, claims, whole.reason if len(claims) > 1 else None)


def describe_claim_range(attribute: AttributeClaims, formatter: Formatter, high: AttributeClaims | None = None) -> str:
    """Return the spread of the claims in words; `high` is the upper end of a range."""
    count = len(attribute.claims)
    if attribute.preferred is None:
        return tr("Unknown")
    if not attribute.disputed:
        return trn("One claim", "All {n} claims agree", count, n=formatter.count(count))
    values = [
        claim.value for claim in (*attribute.claims, *(() if high is None else high.claims)) if is_figure(claim.value)
    ]
    if len(set(values)) < 2:
        return trn("{n} claim disagrees", "{n} claims disagree", count, n=formatter.count(count))
    quantity = find_quantity(attribute.name, attribute.unit)
    least, most = (formatter.catalog(end, quantity) for end in (min(values), max(values)))
    return tr("Claims range from {low} to {high}", low=least, high=most)


def describe_claim_kind(claim: Claim) -> str:
    kind = claim.kind.label
    return f"{capitalize_first(kind)}, {label_date(claim.source.date)}"


def list_disputes_about(disputes: tuple[Dispute, ...], thing: str, name: str) -> tuple[DisputeLine, ...]:
    return tuple(build_dispute_line(dispute) for dispute in disputes if dispute.concerns(thing, name))


def build_dispute_line(dispute: Dispute) -> DisputeLine:
    return DisputeLine(
        disagreement=to_sentence(dispute.disagreement),
        verdict=translate_data(dispute.verdict).rstrip("."),
        reason=to_sentence(dispute.reason),
        refused_by=describe_refusal(dispute),
    )


def _build_claim_line(
    attribute: AttributeClaims, claim: Claim, formatter: Formatter, high: AttributeClaims | None
) -> ClaimLine:
    value, unit = _format_claim_value(attribute, claim, formatter)
    upper = None if high is None else next((each for each in high.claims if each.source.id == claim.source.id), None)
    if upper is not None and upper.value != claim.value:
        value = f"{value} – {formatter.catalog(upper.value, Quantity.USD)}"
    stance = attribute.stance(claim)
    details = _list_claim_details(claim, attribute.verdict(claim), value, unit)
    who = _format_source_title(claim)
    stance_text = stance.label
    verdict = translate_data(claim.verdict or "") if stance is ClaimStatus.REFUSED else None
    if is_shipped_claim(attribute, claim) and not claim.preferred:
        verdict = tr("used by the shipped catalog")
    figure = join_unit(value, unit, " ") if unit else value
    dated = None if claim.source.date is None else label_date(claim.source.date)
    return ClaimLine(
        value=value,
        unit=unit,
        stance=stance,
        title=_format_source_title(claim),
        origin=f"{label_kind_shortly(claim.kind)} · {label_date(claim.source.date)}",
        source=", ".join(part for part in (who, claim.kind.label, dated, claim.source.url) if part),
        verdict=verdict,
        details=details,
        source_id=claim.source.id,
        sentence=", ".join(part for part in (figure, stance_text, who, describe_claim_kind(claim), verdict) if part),
    )


def is_shipped_claim(attribute: AttributeClaims, claim: Claim) -> bool:
    """Whether the user prefers another claim, and this is the one that the shipped catalog prefers."""
    shipped = attribute.shipped
    return shipped is not None and (claim.source.id, claim.value) == (shipped.source.id, shipped.value)


#: Short names of kinds.
_SHORT_KINDS: Final = {
    "vendor_datasheet": "Data sheet",
    "vendor_claim": "Vendor claim",
    "config_copy": "Configuration",
    "measured_vendor": "Vendor, measured",
    "measured_mlperf": "MLPerf",
    "measured_independent": "Measured",
    "independent": "Independent",
    "press": "Press",
    "estimate": "Estimate",
    "user": "Yours",
}


def label_kind_shortly(kind: SourceKind) -> str:
    return tr(_SHORT_KINDS[kind])


def _format_source_title(claim: Claim) -> str:
    """Return publisher and title; an unknown publisher is left out."""
    return ", ".join(filter(None, (claim.source.named_publisher, translate_title(claim.source.title))))


def _format_claim_value(
    attribute: AttributeClaims, claim: Claim | None, formatter: Formatter
) -> tuple[str, str | None]:
    if claim is None or claim.value is None:
        return MISSING_VALUE_TEXT, None
    if isinstance(claim.value, bool):
        return (tr("yes") if claim.value else tr("no")), None
    if attribute.name == "supported_precisions" and isinstance(claim.value, tuple):
        return ", ".join(map(label_precision, claim.value)), None
    if not isinstance(claim.value, int | float):
        return formatter.catalog(claim.value, Quantity.TEXT), None
    quantity = find_quantity(attribute.name, attribute.unit)
    unit = get_display_unit(quantity)
    if unit is None and attribute.unit == "tokens":
        unit = translate_unit("tokens")
    return formatter.catalog(claim.value, quantity), unit


def _list_claim_details(
    claim: Claim, verdict: str | None, value: str, unit: str | None
) -> tuple[ExplanationDetail, ...]:
    """Return further details of a claim; unknown ones are left out."""
    source = claim.source
    published = claim.published
    if published in (value, f"{value} {unit}"):
        published = None
    return list_details(
        (tr("As published"), published),
        (tr("Conditions"), translate_data(claim.conditions or "")),
        (tr("Title"), translate_title(source.title)),
        (tr("Publisher"), source.named_publisher),
        (tr("Kind"), claim.kind.label),
        (tr("Date"), label_date(source.date)),
        (tr("Retrieved"), Formatter().date(claim.retrieved or "")),
        (tr("Verdict"), translate_data(verdict or "")),
        (tr("Statement"), ", ".join(claim.statements)),
        (tr("Note"), translate_data(claim.note or "")),
        (tr("Note"), translate_data(source.trust or "")),
        url=source.url,
    )


def format_explanation(explanation: Explanation) -> str:
    head = f"{explanation.what}: {explanation.value or explanation.conditions}"
    conditions = explanation.conditions if explanation.value else ""
    lines = [head, explanation.band, explanation.basis, explanation.age, conditions]
    if explanation.decision is not None:
        lines += explanation.decision.list_text_lines()
    lines += explanation.facts
    lines += [f"{detail.label}: {detail.value}" for detail in explanation.details]
    if explanation.limits is not None and explanation.limits.shares:
        shares = ", ".join(f"{share.label} {share.text}" for share in explanation.limits.shares)
        lines.append(f"{tr('Limited by')}: {shares}")
    lines += _list_run_lines(explanation.record)
    lines += _list_plan_lines(explanation.plans)
    lines += _list_claim_lines(explanation)
    lines += [f"{dispute.disagreement} {dispute.judged} {dispute.reason}" for dispute in explanation.disputes]
    lines += explanation.remarks
    if explanation.statements:
        lines.append(f"{tr('As published')}:")
        lines += [f"- {line.sentence}" for line in explanation.statements]
    for group in explanation.statement_groups:
        lines.append(f"{group.label}:")
        lines += [f"- {detail.label}: {detail.value}" for detail in group.figures]
    return "\n".join(line for line in lines if line) + "\n"


def format_working(term: TermLine) -> str:
    return "".join(f"{line}\n" for line in _list_term_lines(term, 0))


def format_runs_title(record: MeasuredRunLines) -> str:
    if record.of:
        return tr("Similar measured runs of {figure} (predicted without them)", figure=record.of)
    return tr("Similar measured runs (predicted without them)")


def _list_run_lines(record: MeasuredRunLines | None) -> Iterator[str]:
    if record is None:
        return
    yield f"{format_runs_title(record)}:"
    if record.remark:
        yield f"{record.remark}."
    for line in record.lines:
        yield "- " + ", ".join(part for part in (line.sentence, line.address) if part)


def _list_plan_lines(plans: ExplainedPlans | None) -> Iterator[str]:
    if plans is not None:
        yield f"{tr('Why this plan')}:"
        yield from (f"- {line.sentence}" for line in plans.first_plans)


def _list_claim_lines(explanation: Explanation) -> Iterator[str]:
    if explanation.claims:
        yield f"{tr('Sources')}:"
    for group in explanation.claims:
        for claim in group.claims:
            value = join_unit(claim.value, claim.unit, " ") if claim.unit else claim.value
            verdict = f" ({translate_data(claim.verdict)})" if claim.verdict else ""
            yield f"- {group.label}, {claim.stance.label}: {value}{verdict}; {claim.source}"
        if group.reason:
            yield f"  {group.reason}"


def _list_term_lines(term: TermLine, level: int) -> Iterator[str]:
    value = join_unit(term.value, term.unit, " ") if term.unit else term.value
    formula = f" = {term.formula}" if term.formula else ""
    source = f" [{term.source}]" if term.source else ""
    yield f"{'  ' * level}{term.label}: {value}{formula}{source}"
    for each in term.inputs:
        yield from _list_term_lines(each, level + 1)
