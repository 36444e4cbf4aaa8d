"""Claims of the catalog in words: what each states, who says so, and how it stands to the value taken."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from gpudesk.domain.claims import PRICE_ENDS, Attribute, Claim, Dispute, Kind, Stance, is_figure
from gpudesk.domain.formatting import UNKNOWN, Formatter, Quantity, display_unit, quantity_of
from gpudesk.sheets.explanation import ClaimGroup, ClaimLine, Detail, DisputeLine
from gpudesk.sheets.labels import attribute_label, kind_label, precision_name
from gpudesk.sheets.specs import as_sentence
from gpudesk.text import tr

#: What attributes are called where they stand alone, without the heading of their group.
_ALONE: Final = MappingProxyType(
    {
        "memory": "Memory capacity",
        "memory_label": "Memory as sold",
        "memory_bandwidth": "Memory bandwidth",
        "price_low": "Purchase price",
        "price_high": "Purchase price",
    }
)

#: What the dimensions of models are called, by the last word of their path.
_DIMENSIONS: Final = MappingProxyType(
    {
        "hidden_size": "Hidden size",
        "vocab_size": "Vocabulary",
        "tied_embeddings": "Tied embeddings",
        "max_context": "Longest context",
        "native_precision": "Published precision",
        "quantised_tensors": "Tensors that are quantised",
        "layer_count": "Layers",
        "heads": "Attention heads",
        "kv_heads": "KV heads",
        "head_dim": "Size of a head",
        "intermediate_size": "Width of the feed-forward block",
        "experts": "Experts",
        "experts_per_token": "Experts for each token",
        "kv_lora_rank": "Rank of the KV latent",
        "window": "Attention window",
        "reuses_cache": "Takes keys and values of an earlier layer",
        "layer_input_size": "Width of the layers' own inputs",
        "layer_input_vocab_size": "Vocabulary of the layers' own inputs",
        "altup_streams": "Streams of alternating updates",
        "laurel_rank": "Rank of the augmented residual",
    }
)


def label_alone(name: str) -> str:
    """Return what an attribute of a part or of a model is called outside a table."""
    known = _ALONE.get(name) or _DIMENSIONS.get(name.rpartition(".")[2])
    if known:
        return tr(known)
    label = attribute_label(name)
    if label != name:
        return label
    words = name.rpartition(".")[2].replace("_", " ")
    return tr(words[:1].upper() + words[1:])


def figure_of(attributes: Mapping[str, Attribute], name: str, formatter: Formatter) -> tuple[str, str | None]:
    """Return the value that the catalog takes, in its unit on display, and that unit; prices as a range."""
    if name in PRICE_ENDS:
        ends = [attributes[end].value for end in PRICE_ENDS if end in attributes]
        stated = [formatter.catalog(end, Quantity.USD) for end in ends if end is not None]
        return " – ".join(dict.fromkeys(stated)) or UNKNOWN, display_unit(Quantity.USD)
    attribute = attributes[name]
    return _shown(attribute, attribute.preferred, formatter)


def claim_group(attribute: Attribute, formatter: Formatter, high: Attribute | None = None) -> ClaimGroup:
    """Return all claims about an attribute; `high` is the upper end of what is stated as a range."""
    rivals = sorted(attribute.rivals, key=lambda claim: not claim.own)
    claims = (*filter(None, (attribute.preferred,)), *rivals)
    return ClaimGroup(
        key=f"{attribute.thing}/{attribute.name}",
        label=label_alone(attribute.name),
        claims=tuple(_line(attribute, claim, formatter, high) for claim in claims),
        # The user's own reason is told with the day on which it was given.
        reason=as_sentence(attribute.reason) if attribute.reason and not attribute.overridden else None,
    )


def input_group(attribute: Attribute, formatter: Formatter) -> ClaimGroup:
    """Return the claim that a working rests on, and the rivals that differ from it."""
    whole = claim_group(attribute, formatter)
    kept = tuple(claim for claim in whole.claims if claim.stance is not Stance.AGREES)
    return ClaimGroup(whole.key, whole.label, kept, whole.reason if len(kept) > 1 else None)


def range_text(attribute: Attribute, formatter: Formatter, high: Attribute | None = None) -> str:
    """Return in words how far the claims lie apart; `high` is the upper end of what is stated as a range."""
    count = len(attribute.claims)
    if attribute.preferred is None:
        return tr("Nothing is known")
    if not attribute.disputed:
        return tr("One claim") if count == 1 else tr("All {n} claims agree", n=formatter.count(count))
    stated = [
        claim.value
        for claim in (*attribute.claims, *(() if high is None else high.claims))
        if is_figure(claim.value)
    ]
    if len(set(stated)) < 2:
        return tr("{n} claims, which differ", n=formatter.count(count))
    quantity = quantity_of(attribute.name, attribute.unit)
    least, most = (formatter.catalog(end, quantity) for end in (min(stated), max(stated)))
    return tr("Range of claims {low} to {high}", low=least, high=most)


def kind_text(claim: Claim) -> str:
    """Return what kind of source a claim has and of what time, as a sentence begins."""
    kind = kind_label(claim.kind)
    return f"{kind[:1].upper()}{kind[1:]}, {claim.source.date or tr('no date')}"


def dispute_lines(disputes: tuple[Dispute, ...], thing: str, name: str) -> tuple[DisputeLine, ...]:
    """Return the judged contradictions about one attribute of one thing."""
    return tuple(dispute_line(dispute) for dispute in disputes if dispute.concerns(thing, name))


def dispute_line(dispute: Dispute) -> DisputeLine:
    """Return a judged contradiction."""
    return DisputeLine(
        disagreement=as_sentence(dispute.disagreement),
        verdict=dispute.verdict.rstrip("."),
        reason=as_sentence(dispute.reason),
        refused_by=refused_by(dispute),
    )


def refused_by(dispute: Dispute) -> str:
    """Return what refuses a statement that no other statement does; empty where another does."""
    if dispute.claim_b == "ARITHMETIC":
        return tr("Refused by arithmetic")
    return tr("Refused by public record") if dispute.claim_b == "PUBLIC-RECORD" else ""


def _line(attribute: Attribute, claim: Claim, formatter: Formatter, high: Attribute | None) -> ClaimLine:
    value, unit = _shown(attribute, claim, formatter)
    upper = None if high is None else _of_source(high, claim)
    if upper is not None and upper.value != claim.value:
        value = f"{value} – {formatter.catalog(upper.value, Quantity.USD)}"
    stance = attribute.stance(claim)
    details = _details(claim, attribute.verdict(claim), value, unit)
    who = _title(claim)
    said = stance_word(stance)
    verdict = claim.verdict if stance is Stance.REFUSED else None
    if is_shipped(attribute, claim) and not claim.preferred:
        verdict = tr("what the shipped catalog takes")
    figure = f"{value} {unit}" if unit else value
    return ClaimLine(
        value=value,
        unit=unit,
        stance=stance,
        title=_title(claim),
        origin=f"{short_kind(claim.kind)} · {claim.source.date or tr('no date')}",
        source=", ".join(
            part for part in (who, kind_label(claim.kind), claim.source.date, claim.source.url) if part
        ),
        verdict=verdict,
        details=details,
        source_id=claim.source.id,
        sentence=", ".join(part for part in (figure, said, who, kind_text(claim), verdict) if part),
    )


def is_shipped(attribute: Attribute, claim: Claim) -> bool:
    """Whether the user takes another claim, and this is the one that the shipped catalog takes."""
    shipped = attribute.shipped
    return shipped is not None and (claim.source.id, claim.value) == (shipped.source.id, shipped.value)


def stance_word(stance: Stance) -> str:
    """Return how a claim stands in one word."""
    return {
        Stance.TAKEN: tr("taken"),
        Stance.AGREES: tr("agrees"),
        Stance.DIFFERS: tr("differs"),
        Stance.REFUSED: tr("refused"),
    }[stance]


#: Kinds where there is little room.
_SHORT_KINDS: Final = MappingProxyType(
    {
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
)


def short_kind(kind: Kind) -> str:
    """Return the kind of a source where there is little room."""
    return tr(_SHORT_KINDS[kind])


def _title(claim: Claim) -> str:
    """Return publisher and title; a publisher that is not known is left out."""
    source = claim.source
    return source.title if source.publisher == "not stated" else f"{source.publisher}, {source.title}"


def _of_source(attribute: Attribute, claim: Claim) -> Claim | None:
    return next((each for each in attribute.claims if each.source.id == claim.source.id), None)


def _shown(attribute: Attribute, claim: Claim | None, formatter: Formatter) -> tuple[str, str | None]:
    if claim is None or claim.value is None:
        return UNKNOWN, None
    if isinstance(claim.value, bool):
        return (tr("yes") if claim.value else tr("no")), None
    if attribute.name == "supported_precisions" and isinstance(claim.value, tuple):
        return ", ".join(map(precision_name, claim.value)), None
    if not isinstance(claim.value, int | float):
        return formatter.catalog(claim.value, Quantity.TEXT), None
    quantity = quantity_of(attribute.name, attribute.unit)
    unit = display_unit(quantity, attribute.name)
    if unit is None and attribute.unit == "tokens":
        unit = tr("tokens")
    return formatter.catalog(claim.value, quantity), unit


def _details(claim: Claim, verdict: str | None, value: str, unit: str | None) -> tuple[Detail, ...]:
    """Return what else is known about a claim; what is not known is left out."""
    source = claim.source
    published = claim.published
    if published in (value, f"{value} {unit}"):
        published = None
    stated: tuple[tuple[str, str | None], ...] = (
        (tr("As published"), published),
        (tr("Conditions"), claim.conditions),
        (tr("Title"), source.title),
        (tr("Publisher"), source.publisher),
        (tr("Kind"), kind_label(claim.kind)),
        (tr("Date"), source.date or tr("no date")),
        (tr("Retrieved"), claim.retrieved),
        (tr("Verdict"), verdict),
        (tr("Statement"), ", ".join(claim.statements)),
        (tr("Note"), claim.note),
        (tr("Remark"), source.trust),
    )
    found = tuple(Detail(label, text) for label, text in stated if text)
    return (*found, Detail(tr("Address"), source.url, url=True)) if source.url else found
