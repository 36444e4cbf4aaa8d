"""A model definition as user facts: validated, one claim per dimension."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

from pydantic import ValidationError

from gpudesk.catalog.importing.fields import describe_too_large_size, make_file_source
from gpudesk.catalog.model_definition import (
    ShapeFault,
    ShapeRelation,
    find_shape_faults,
    parse_model,
    to_canonical_json,
)
from gpudesk.catalog.model_record import MODEL_RECORD, ModelRecord, list_dimensions, list_validation_problems
from gpudesk.domain.attributes import MODEL_STATED_UNITS
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.field_checks import MISSING_FIELD
from gpudesk.domain.model import Model, MoeFfn
from gpudesk.domain.user_facts import UserClaim, UserFact, UserModel
from gpudesk.text.formatting import ClaimValue
from gpudesk.text.messages import InputError, Message, format_message, input_error, message

#: Maximum sizes; other whole numbers up to `_LARGEST_OTHER`. Far above every network, and small enough that no product
#: of them overflows.
_LARGEST: Final = {
    "hidden_size": 2**18,
    "vocab_size": 2**24,
    "layer_input_vocab_size": 2**24,
    "altup_streams": 2**6,
    "max_context": 2**31,
    "count": 2**12,
    "window": 2**31,
    "top_k": 2**31,
    "intermediate_size": 2**22,
    "shared_intermediate_size": 2**22,
    "parallel_dense_intermediate_size": 2**22,
    "inner_size": 2**22,
    "experts": 2**14,
    "scalars": 2**31,
    "experts_per_token": 2**14,
}
_LARGEST_OTHER: Final = 2**16
_MOST_LAYERS: Final = 2**12
#: Groups of layers, each of which is computed separately.
_MOST_GROUPS: Final = 2**9
#: Maximum parameters of the feed-forward blocks of a model with estimates.
_MOST_PARAMETERS: Final = 10**15
#: Suffixes of dimension paths by the field of a file that they come from, if the names differ.
_DIMENSIONS_OF_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    field: ends
    for fields, ends in (
        (("num_hidden_layers", "block_count"), ("count", "layer_count")),
        (("embedding_length",), ("hidden_size",)),
        (("num_attention_heads", "head_count"), ("heads", "kv_heads", "head_dim")),
        (("num_key_value_heads", "head_count_kv"), ("kv_heads",)),
        (("key_length",), ("head_dim",)),
        (("value_length",), ("v_head_dim",)),
        (("feed_forward_length",), ("intermediate_size",)),
        (("moe_intermediate_size",), ("intermediate_size", "shared_intermediate_size")),
        (("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "expert_count"), ("experts",)),
        (
            ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "expert_used_count"),
            ("experts_per_token",),
        ),
        (("tie_word_embeddings",), ("tied_embeddings",)),
        (("max_position_embeddings", "context_length"), ("max_context",)),
        (("sliding_window",), ("window",)),
        (("attention_bias",), ("qkv_bias", "output_bias")),
        (("gated_mlp",), ("gated",)),
        (("quantized_matrices",), ("quantised_tensors", "native_precision")),
    )
    for field in fields
}
#: Required fields of a model with layers.
_REQUIRED_FIELDS: Final = ("hidden_size", "vocab_size", "tied_embeddings")


def make_model_facts(
    definition: Mapping[str, Any],
    source: Source,
    *,
    today: str,
    claim_values: Mapping[str, ClaimValue] = MappingProxyType({}),
    answered: Collection[str] = (),
) -> tuple[UserFact, ...]:
    """Return the source, the model, and a claim for each dimension and for every other value in `claim_values`.

    `definition` has the keys of a file in data/models/ without `dimensions_source` and `claims`; `claim_values` are by
    attribute (`total_parameters`, `license`, …) in the internal unit. `answered` are the fields of the file that the
    user filled in: the dimensions that follow from them have a second source, the user's. Raises `InputError` with the
    path of the invalid field.
    """
    record = check_model_definition(definition)
    plain = record.definition()
    claimed: dict[str, ClaimValue] = {name: _to_claim_value(value) for name, value in list_dimensions(record).items()}
    for name, value in claim_values.items():
        if name not in MODEL_STATED_UNITS:
            raise input_error("import.model.attribute", "{name} is not an attribute of models", name, name=name)
        claimed[name] = value
    # The dimensions, by their paths, whose values come from fields that the user filled in.
    fields = {field.rpartition(".")[2] for field in answered}
    ends = {end for field in fields for end in _DIMENSIONS_OF_FIELDS.get(field, (field,))}
    entered = frozenset(name for name in claimed if name.rpartition(".")[2] in ends)
    title = format_message(message("import.entered", "{name}, entered at import", name=record.name))
    user_source = make_file_source(title, format_message(message("import.entered_by", "you")), SourceKind.USER)
    return (
        source,
        *((user_source,) if entered else ()),
        UserModel(record.id, record.name, record.organisation, to_canonical_json(plain)),
        *(
            UserClaim(record.id, name, value, origin.id, origin.kind, retrieved=today)
            for name, value in claimed.items()
            for origin in (user_source if name in entered else source,)
        ),
    )


def check_model_definition(definition: Mapping[str, Any]) -> ModelRecord:
    """Return a definition as a record of its schema; raises `InputError` with the invalid field."""
    _check_sizes("", definition)
    try:
        record = MODEL_RECORD.model_validate(dict(definition))
    except ValidationError as error:
        where, text = next(list_validation_problems(error))
        raise input_error("import.model.field", "{problem}", where, problem=text) from None
    for field, problem in _find_faults(record):
        raise InputError(problem, field)
    return record


def _check_sizes(path: str, table: object) -> None:
    """Refuse sizes that no network has, before they are multiplied."""
    if isinstance(table, Mapping):
        for name, value in table.items():
            _check_sizes(f"{path}.{name}" if path else str(name), value)
    elif isinstance(table, list | tuple):
        for number, value in enumerate(table, start=1):
            _check_sizes(f"{path}.{number}", value)
    elif isinstance(table, int) and not isinstance(table, bool):
        largest = _LARGEST.get(path.rpartition(".")[2], _LARGEST_OTHER)
        if table > largest:
            raise InputError(describe_too_large_size(largest), path)


def _find_faults(record: ModelRecord) -> Iterator[tuple[str, Message]]:
    plain = record.definition()
    for name in _REQUIRED_FIELDS:
        if plain.get(name) is None:
            yield name, MISSING_FIELD
    if not record.layers:
        yield "layers", MISSING_FIELD
    for number, group in enumerate(record.layers, start=1):
        for part, kind, definitions in (("mixer", group.mixer, record.mixers), ("ffn", group.ffn, record.ffns)):
            if kind is not None and kind not in definitions:
                yield (
                    f"layers.{number}.{part}",
                    message("import.model.no_kind", "uses {name}, which is not described", name=kind),
                )
    if len(record.layers) > _MOST_GROUPS:
        yield (
            "layers",
            message(
                "import.model.many_groups", "exceed {most} groups; combine equal layers in one group", most=_MOST_GROUPS
            ),
        )
    if sum(group.count for group in record.layers) > _MOST_LAYERS:
        yield "layers", describe_too_large_size(_MOST_LAYERS)
    model = parse_model(plain)
    yield from (
        (f"layers.{fault.group}.{fault.dimension}", _describe_fault(fault)) for fault in find_shape_faults(model)
    )
    if _count_ffn_parameters(model) > _MOST_PARAMETERS:
        yield ("layers", message("import.model.too_many_parameters", "exceed 10^15 parameters; check the expert sizes"))


def _count_ffn_parameters(model: Model) -> int:
    """Return the minimum parameters of the feed-forward blocks, which have nearly all parameters."""
    total = 0
    for group in model.layers:
        if group.ffn is not None:
            copies = group.ffn.experts if isinstance(group.ffn, MoeFfn) else 1
            total += group.count * copies * group.ffn.intermediate_size * model.hidden_size
    return total


def _describe_fault(fault: ShapeFault) -> Message:
    if fault.relation is ShapeRelation.KEPT:
        return message("import.model.nothing_kept", "no layer of the same shape has a cache to reuse")
    if fault.relation is ShapeRelation.MULTIPLE:
        return message(
            "import.model.multiple",
            "{value} is not a multiple of {dimension} {other_value}",
            value=fault.value,
            dimension=fault.other,
            other_value=fault.other_value,
        )
    return message(
        "import.model.at_most",
        "{value} exceeds {dimension} {other_value}",
        value=fault.value,
        dimension=fault.other,
        other_value=fault.other_value,
    )


def _to_claim_value(value: object) -> ClaimValue:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(map(str, value))
    raise TypeError(f"a dimension is no {type(value).__name__}")
