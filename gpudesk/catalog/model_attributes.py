"""The attributes of a model: each dimension with the configuration as its source, and what is claimed.

A preferred claim about a dimension takes the place of the configuration, which does not state it. Claims
that are not preferred are rivals beside it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from gpudesk.catalog.attribute_names import MODEL_STATED, model_unit
from gpudesk.catalog.definitions import MODEL_FIELDS
from gpudesk.catalog.model_schema import ModelClaimRecord, ModelFile
from gpudesk.catalog.schemas import AttributeRecord, ClaimRecord

#: Words about the checkpoint, whose source is that of its precision where a file names no configuration.
_OF_THE_CHECKPOINT: Final = frozenset({"quantised_tensors", "native_other_precision", "native_group_size"})


def dimensions(model: ModelFile) -> dict[str, Any]:
    """Return every dimension that the file states by its path, in the order of the file."""
    definition = model.definition()
    found = {name: definition[name] for name in MODEL_FIELDS if name in definition and name != "native_note"}
    for part in ("mixers", "ffns"):
        for name, table in definition[part].items():
            found |= dict(_leaves(f"{part}.{name}", table))
    return found | _layer_dimensions(definition["layers"])


def _leaves(path: str, table: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(f"{path}.{key}", value)
        elif value is not None:
            yield f"{path}.{key}", value


def _layer_dimensions(layers: list[dict[str, Any]]) -> dict[str, Any]:
    """Number the groups of layers from 1; `layers.norms` holds where all have the same."""
    found: dict[str, Any] = {}
    if not layers:
        return found
    found["layer_count"] = sum(group["count"] for group in layers)
    alike = len({group["norms"] for group in layers}) == 1
    if alike:
        found["layers.norms"] = layers[0]["norms"]
    for number, group in enumerate(layers, start=1):
        words = ("count", "mixer", "ffn") if alike else ("count", "mixer", "ffn", "norms")
        found |= {f"layers.{number}.{word}": group[word] for word in words if group[word] is not None}
    return found


def model_attributes(model: ModelFile) -> dict[str, AttributeRecord]:
    """Return the attributes by name: dimensions in the order of the file, then what else is claimed."""
    stated = dimensions(model)
    claimed: dict[str, list[ModelClaimRecord]] = {}
    for claim in model.claims:
        claimed.setdefault(claim.attribute, []).append(claim)
    found: dict[str, AttributeRecord] = {}
    for name in [*stated, *(name for name in claimed if name not in stated)]:
        claims = claimed.get(name, [])
        records: list[ClaimRecord] = [*claims]
        if name in stated and not any(claim.preferred for claim in claims):
            source = _source_of(name, model, claimed)
            if source is not None:
                records.insert(0, ClaimRecord(value=stated[name], source=source, preferred=True))
        if records:
            found[name] = AttributeRecord(
                claims=records,
                unit=model_unit(name),
                reason=next((claim.reason for claim in claims if claim.reason is not None), None),
                none_preferred=not any(record.preferred for record in records),
            )
    return found


def _source_of(name: str, model: ModelFile, claimed: dict[str, list[ModelClaimRecord]]) -> str | None:
    """Return the source of a dimension that no preferred claim is about, or None where there is none."""
    if model.dimensions_source is not None or name not in _OF_THE_CHECKPOINT:
        return model.dimensions_source
    return next((claim.source for claim in claimed.get("native_precision", ()) if claim.preferred), None)


def claim_problems(model: ModelFile) -> Iterator[tuple[str, str]]:
    """Yield what is wrong between the claims and the dimensions of a file, as (field, problem)."""
    stated = dimensions(model)
    for number, claim in enumerate(model.claims, start=1):
        field = f"claims.{number}"
        if claim.attribute in stated:
            value = stated[claim.attribute]
            if claim.preferred and (
                claim.value != value or isinstance(claim.value, bool) != isinstance(value, bool)
            ):
                yield f"{field}.value", f"{claim.value!r} is preferred, but the file has {value!r}"
        elif claim.attribute in MODEL_FIELDS:
            if claim.preferred:
                yield f"{field}.value", f"is preferred, but the file has no {claim.attribute}"
        elif claim.attribute not in MODEL_STATED:
            yield (
                f"{field}.attribute",
                f"{claim.attribute!r} is neither an attribute nor a dimension stated here",
            )
        if not claim.preferred and claim.verdict is None:
            yield f"{field}.verdict", "is missing: say why the claim is not taken"
    sourced = model_attributes(model)
    for name in stated:
        if name not in sourced:
            yield name, "has no source: name a dimensions_source or claim it"
