"""The profile of an accelerator as JSON values."""

from __future__ import annotations

from typing import Any

from gpudesk.domain.claim import AttributeClaims
from gpudesk.domain.estimate import EstimateRequest
from gpudesk.domain.profile import AcceleratorProfile, Capability, Trait
from gpudesk.report.writers.json_values import encode_each, encode_fields, encode_value
from gpudesk.text.messages import format_message


def write_profile_json(profile: AcceleratorProfile) -> dict[str, Any]:
    """Return a profile as JSON values: figures as {value, low, high}, messages as sentences."""
    question = profile.question
    return {
        "question": {
            **encode_fields(
                question, "accelerator input_tokens output_tokens concurrency serving_engine mode budget_usd"
            ),
            "model": profile.model,
            "weights": encode_value(profile.weights),
            "single_accelerators": question.costs.single_accelerators,
            "tiers": None if question.tiers is None else dict(question.tiers),
        },
        "headline": format_message(profile.headline),
        "accelerator": encode_fields(profile.accelerator, "id name vendor announced status form_factor platform")
        | {"category": profile.category, "released": _find_text(profile, "release_date")},
        "tags": encode_each(profile.tags, "id text rule"),
        "specifications": [_write_specification(each) for each in profile.attributes.values() if each.preferred],
        "strengths": [_write_trait(each) for each in profile.traits if each.is_strength],
        "considerations": [_write_trait(each) for each in profile.traits if not each.is_strength],
        "capabilities": [_write_capability(each) for each in profile.capabilities],
        "diffusion": [_write_capability(each) for each in profile.diffusion],
        "limits": encode_each(profile.limits, "resource headroom used remedy reason"),
        "scale": encode_each(
            profile.scale, "count memory_bytes models_held models figure per_accelerator bandwidth_rule reason"
        ),
        "out_of_reach": [
            encode_fields(each, "model weights missing_bytes count smaller_format figure usd_per_million_output reason")
            | {"request": _write_request(each.request)}
            for each in profile.out_of_reach
        ],
        "upgrades": encode_each(
            profile.upgrades,
            "accelerator count unlocked speedup extra_usd usd_per_unlocked announced within_budget reason",
        ),
        "recommendations": [
            encode_fields(each, "job model weights score factors context_tokens single figure serving_engine basis why")
            | {"request": _write_request(each.request)}
            for each in profile.recommendations
        ],
        "peers": encode_each(profile.peers, "attribute value mean members rivals"),
        "category_members": list(profile.category_members),
        "generation_members": list(profile.generation_members),
        "rivals_by_price": list(profile.rivals_by_price),
        "rivals_by_memory": list(profile.rivals_by_memory),
        "advice": encode_fields(profile.advice, "verdict runs_well fits models rule checks"),
        "notes": [format_message(each) for each in profile.notes],
    }


def _find_text(profile: AcceleratorProfile, attribute: str) -> str | None:
    claims = profile.attributes.get(attribute)
    return None if claims is None or claims.value is None else str(claims.value)


def _write_specification(claims: AttributeClaims) -> dict[str, Any]:
    """Return an attribute with the preferred value and its source."""
    claim = claims.preferred
    source = None if claim is None else claim.source
    return {
        "attribute": claims.name,
        "value": encode_value(claims.value),
        "unit": claims.unit,
        "disputed": claims.disputed,
        "source": None if source is None else encode_fields(source, "id title publisher url date"),
        "retrieved": None if claim is None else claim.retrieved,
    }


def _write_capability(capability: Capability) -> dict[str, Any]:
    """Return a row; for images and videos with their settings, for text with its request."""
    row = encode_fields(
        capability, "task status model weights count context_tokens figure single unit basis queues reason"
    )
    if capability.unit == "tok/s":
        return row | {"request": _write_request(capability.request)}
    estimate = capability.diffusion
    if estimate is None:
        return row | {"settings": None, "grade": None}
    settings = encode_fields(estimate.request, "width height frames steps batch software")
    return row | {"settings": settings, "grade": encode_value(estimate.grade)}


def _write_trait(trait: Trait) -> dict[str, Any]:
    return encode_fields(trait, "id text attribute standing")


def _write_request(request: EstimateRequest | None) -> dict[str, Any] | None:
    """Return the options of `gpudesk estimate` for the scenario of a row."""
    if request is None:
        return None
    work = request.workload
    return encode_fields(request, "accelerator model weights kv count serving_engine") | {
        "input_tokens": work.input_tokens,
        "output_tokens": work.output_tokens,
        "concurrency": work.load.concurrency,
    }
