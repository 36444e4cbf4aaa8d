"""Sharding: exact bytes and arithmetic on the most loaded accelerator of a deployment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import LayerGroup, Model, MoeFfn, QuantizedTensors
from gpudesk.domain.precision import STORAGE_FORMATS, WIDE_FORMAT, Precision, StorageFormat
from gpudesk.engine.tensors import TensorClass, TensorSplit, WeightTensor, list_layer_tensors, list_outer_tensors
from gpudesk.frozen_dataclass import frozen_dataclass

#: Classes that attention-DP replicates over the tensor-parallel group.
_REPLICATED_BY_ATTENTION_DP = frozenset(
    {
        TensorClass.MIXER,
        TensorClass.SHARED_EXPERT,
        TensorClass.EMBEDDING,
        TensorClass.LAYER_EMBEDDING,
        TensorClass.LM_HEAD,
        TensorClass.SMALL,
        TensorClass.NORM,
    }
)
#: Classes quantized in formats that do not cover all matrices.
_NARROWED: Final[Mapping[QuantizedTensors, frozenset[TensorClass]]] = {
    "experts": frozenset({TensorClass.EXPERT}),
    "ffn": frozenset({TensorClass.EXPERT, TensorClass.SHARED_EXPERT, TensorClass.DENSE_FFN}),
}


class TensorShare(NamedTuple):
    """What one accelerator holds of a class of tensors: elements, and bytes with block scales."""

    elements: int
    stored_bytes: int


class ExpertPadding(NamedTuple):
    """Multiples to which kernels pad the matrices of experts: of the hidden size, of a rank's width."""

    hidden: int = 1
    intermediate: int = 1

    def added(self, stored_bytes: int, hidden: int, intermediate: int) -> int:
        """Padding bytes of `stored_bytes` of matrices of `hidden` times `intermediate` elements."""
        if self == NO_PADDING:
            return 0
        padded = _round_up(hidden, self.hidden) * _round_up(intermediate, self.intermediate)
        return stored_bytes * padded // (hidden * intermediate) - stored_bytes


NO_PADDING = ExpertPadding()


def _round_up(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


class ModelShards(NamedTuple):
    """What the most loaded accelerator of a plan holds, and what a step touches.

    `resident_bytes` is exact for the most loaded stage, including `padding_bytes` of padded experts that no step
    needs. The shares are totals over all layers for one rank of each stage, which is what a token passes through:
    `dense` (everything in the layers that every step reads), `experts` (routed experts), `head` (LM head and related
    matrices). A step reads only a few rows of the embedding (`embedding_lookup_bytes`) and of the per-layer input
    table. `active_expert_elements` are the routed-expert elements that one token multiplies with, undivided.
    """

    resident_bytes: int
    padding_bytes: int
    dense: TensorShare
    experts: TensorShare
    head: TensorShare
    embedding_lookup_bytes: int
    dense_elements_undivided: int
    active_expert_elements: int
    layers: int
    moe_layers: int
    ffn_layers: int
    collectives: int
    experts_per_token: int
    expert_count: int


def get_storage_format(tensor: WeightTensor, model: Model, weights: Precision) -> StorageFormat:
    """Return the format in which a tensor is stored with the weights in `weights`.

    Embeddings, LM head, norms, routers and small tensors stay 16 bits wide. In checkpoints that quantize only some
    matrices the others keep their published format.
    """
    if not tensor.is_quantizable:
        return WIDE_FORMAT
    narrow = STORAGE_FORMATS[weights]
    if is_partly_narrow(model, weights) and tensor.tensor_class not in _NARROWED[model.quantised_tensors]:
        return STORAGE_FORMATS[model.native_other_precision]
    if model.native_group_size is not None and weights is model.native_precision:
        return replace(narrow, block=model.native_group_size)
    return narrow


def is_partly_narrow(model: Model, weights: Precision) -> bool:
    """Whether `weights` covers only some matrices, as in the published checkpoint of `model`.

    Checkpoints in the published format do, and third-party ones below 8 bits; third-party 8-bit checkpoints cover all.
    """
    if model.quantised_tensors == "linear":
        return False
    return STORAGE_FORMATS[weights].bits < 8 or weights is model.native_precision


def compute_narrow_share(model: Model, weights: Precision) -> float:
    """Share of the matrices outside routed experts that `weights` covers, by element count."""
    return _compute_covered_share(model) if is_partly_narrow(model, weights) else 1.0


@lru_cache(maxsize=500)
def _compute_covered_share(model: Model) -> float:
    """Return the share of the matrices outside routed experts that a partial format covers."""
    narrowed = _NARROWED[model.quantised_tensors]
    covered = every = 0
    for group, layer in zip(model.layers, _list_layers(model), strict=True):
        matrices = [tensor for tensor in layer.dense if tensor.is_quantizable]
        every += group.count * sum(each.parameters for each in matrices)
        covered += group.count * sum(each.parameters for each in matrices if each.tensor_class in narrowed)
    return covered / every if every else 0.0


#: Whole numbers that stand for the fields of tensors or plans, one per tensor.
_Columns = NDArray[np.int64]
#: More ranks than any plan has.
_ANY_RANKS: Final = 1 << 40


def tabulate_tensors(tensors: Iterable[tuple[WeightTensor, StorageFormat]]) -> _Columns:
    """Return tensors with their formats as numbers, for `divide_tensors`: shape (fields, tensors)."""
    rows = [
        (
            tensor.elements,
            tensor.copies,
            tensor.split is TensorSplit.EXPERT,
            # Ranks beyond the KV heads hold copies of them.
            {TensorSplit.REPLICATED: 1, TensorSplit.KV_HEADS: tensor.kv_heads}.get(tensor.split) or _ANY_RANKS,
            tensor.tensor_class in _REPLICATED_BY_ATTENTION_DP,
            storage_format.bits,
            storage_format.block,
            storage_format.scale_bytes,
        )
        for tensor, storage_format in tensors
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 8).T


def divide_tensors(tensors: _Columns, plans: _Columns) -> tuple[_Columns, _Columns]:
    """Return elements and bytes of tensors (with all their copies) on the most loaded rank, exact.

    `plans` has TP, EP and attention-DP, for each of the tensors of `tabulate_tensors` or for all.
    """
    elements, copies, is_expert, most_ranks, is_replicated, bits, block, scale_bytes = tensors
    tp, ep, attention_dp = plans
    copies = np.where(is_expert, -(-copies // ep), copies)
    ranks = np.where(is_replicated & attention_dp, 1, np.minimum(tp, most_ranks))
    share: Any = -(-elements // np.where(is_expert, np.maximum(tp // ep, 1), ranks))
    formats: Any = bits, block, scale_bytes
    return share * copies, StorageFormat(*formats).compute_tensor_bytes(share) * copies


@frozen_dataclass
class _ShardedLayer:
    """The tensors of one layer of a group, sorted once for all plans, and everything independent of the plan."""

    experts: tuple[WeightTensor, ...]
    dense: tuple[WeightTensor, ...]
    dense_elements: int
    active_expert_elements: int


@lru_cache(maxsize=2_000)
def _list_layers(model: Model) -> tuple[_ShardedLayer, ...]:
    """Return one layer of each group of the model, in order."""
    layers = []
    for group in model.layers:
        tensors = list_layer_tensors(model, group)
        dense = _exclude_classes(tensors, TensorClass.EXPERT)
        layers.append(
            _ShardedLayer(
                experts=_select_classes(tensors, TensorClass.EXPERT),
                dense=_merge_tensors(dense),
                dense_elements=sum(t.elements * t.copies for t in dense if t.is_quantizable),
                active_expert_elements=_count_active_expert_elements(group, tensors),
            )
        )
    return tuple(layers)


def _merge_tensors(tensors: tuple[WeightTensor, ...]) -> tuple[WeightTensor, ...]:
    """Merge tensors of equal shape and treatment into copies of one, which divides the same way."""
    alike: dict[tuple[object, ...], WeightTensor] = {}
    for tensor in tensors:
        key = (tensor.tensor_class, tensor.split, tensor.elements, tensor.kv_heads, tensor.is_quantizable)
        equal_tensor = alike.get(key)
        alike[key] = (
            tensor if equal_tensor is None else replace(equal_tensor, copies=equal_tensor.copies + tensor.copies)
        )
    return tuple(alike.values())


def _select_classes(tensors: tuple[WeightTensor, ...], *classes: TensorClass) -> tuple[WeightTensor, ...]:
    return tuple(tensor for tensor in tensors if tensor.tensor_class in classes)


def _exclude_classes(tensors: tuple[WeightTensor, ...], *classes: TensorClass) -> tuple[WeightTensor, ...]:
    return tuple(tensor for tensor in tensors if tensor.tensor_class not in classes)


def _count_active_expert_elements(group: LayerGroup, tensors: tuple[WeightTensor, ...]) -> int:
    if not isinstance(group.ffn, MoeFfn):
        return 0
    total = sum(t.elements * t.copies for t in _select_classes(tensors, TensorClass.EXPERT))
    return total * group.ffn.experts_per_token // group.ffn.experts


#: Parts of a model, of which each group of layers with experts adds one after the last.
_EMBEDDING, _LAYER_EMBEDDING, _OTHERS, _HEAD_READ, _DENSE, _EXPERTS = range(6)


class _StoredModel(NamedTuple):
    """The tensors of a model in a weight format, and everything that does not depend on the plan.

    `counts` are the layers that have each tensor, `parts` the part of the model that it belongs to. `experts` has the
    dimensions of the experts of each group: of what they read, and their own. `constants` are the last fields of
    `ModelShards`.
    """

    tensors: _Columns
    counts: _Columns
    parts: _Columns
    experts: tuple[tuple[int, int], ...]
    constants: tuple[int, ...]
    tied: bool


@lru_cache(maxsize=500)
def _store_model(model: Model, weights: Precision) -> _StoredModel:
    """Return the tensors of a model; raises ValueError if its dimensions are not known."""
    if not model.dimensions_known:
        raise ValueError(model.id)
    outer, layers = list_outer_tensors(model), _list_layers(model)
    # A matrix outside the layers that is not a lookup table takes part in every step, like the LM head.
    parts = [
        (1, _EMBEDDING, _select_classes(outer, TensorClass.EMBEDDING)),
        (1, _LAYER_EMBEDDING, _select_classes(outer, TensorClass.LAYER_EMBEDDING)),
        (1, _OTHERS, _exclude_classes(outer, TensorClass.EMBEDDING, TensorClass.LAYER_EMBEDDING)),
        (1, _HEAD_READ, _select_classes(outer, TensorClass.LM_HEAD, TensorClass.DENSE_FFN)),
    ]
    experts: list[tuple[int, int]] = []
    undivided = active = moe_layers = ffn_layers = collectives = per_token = expert_count = 0
    for group, layer in zip(model.layers, layers, strict=True):
        count = group.count
        parts.append((count, _DENSE, layer.dense))
        undivided += count * layer.dense_elements
        active += count * layer.active_expert_elements
        ffn_layers += count * (group.ffn is not None)
        collectives += count * ((group.mixer is not None) + (group.ffn is not None))
        if isinstance(group.ffn, MoeFfn):
            parts.append((count, _EXPERTS + len(experts), layer.experts))
            experts.append((group.ffn.latent_size or model.hidden_size, group.ffn.intermediate_size))
            moe_layers += count
            per_token, expert_count = group.ffn.experts_per_token, group.ffn.experts
    listed = [(count, part, tensor) for count, part, tensors in parts for tensor in tensors]
    counts, numbers = np.array([each[:2] for each in listed], dtype=np.int64).T
    return _StoredModel(
        tabulate_tensors((tensor, get_storage_format(tensor, model, weights)) for _, _, tensor in listed),
        counts,
        numbers,
        tuple(experts),
        (undivided, active, model.layer_count, moe_layers, ffn_layers, collectives, per_token, expert_count),
        model.tied_embeddings,
    )


#: What the shards of a plan depend on: a model, its weights, TP, PP, EP and attention-DP of a replica, and padding.
ShardingCase = tuple[Model, Precision, tuple[int, int, int, bool], ExpertPadding]

#: Cached shards, of about 1 kB each: those of all models on all accelerators in one format.
_MOST_SHARDS: Final = 2_000
_known_shards: dict[ShardingCase, ModelShards] = {}


def shard_model(
    model: Model, weights: Precision, plan: ParallelPlan, padding: ExpertPadding = NO_PADDING
) -> ModelShards:
    """Shard `model` with `weights` (a concrete format) over `plan`; exact integers.

    Raises ValueError if the model's dimensions are not known.
    """
    case = model, weights, plan.replica_shape, padding
    return _known_shards.get(case) or _add_shards([case])[case]


def prepare_shards(cases: Iterable[ShardingCase]) -> None:
    """Shard many cases at once, which takes a tenth of the time of each alone; raises ValueError as above."""
    unknown = [case for case in dict.fromkeys(cases) if case not in _known_shards]
    if unknown:
        _add_shards(unknown)


def _add_shards(cases: Sequence[ShardingCase]) -> dict[ShardingCase, ModelShards]:
    shards = dict(zip(cases, _compute_shards(cases), strict=True))
    if len(_known_shards) + len(shards) > _MOST_SHARDS:
        _known_shards.clear()
    _known_shards.update(shards)
    return shards


def _compute_shards(cases: Sequence[ShardingCase]) -> Iterator[ModelShards]:
    stored = [_store_model(model, weights) for model, weights, *_ in cases]
    lengths = [len(each.parts) for each in stored]
    plans = np.array([shape for _, _, shape, _ in cases], dtype=np.int64).T
    tp, pp, ep, attention_dp = np.repeat(plans, lengths, axis=1)
    tensors = np.concatenate([each.tensors for each in stored], axis=1)
    elements, stored_bytes = divide_tensors(tensors, np.array((tp, ep, attention_dp)))
    counts = np.concatenate([each.counts for each in stored])
    parts = np.concatenate([each.parts for each in stored])
    # A cell for each sum, part and case.
    shape = 3, _EXPERTS + max(len(each.experts) for each in stored), len(cases)
    cells = parts * shape[2] + np.repeat(np.arange(shape[2]), lengths)
    values = elements * counts, stored_bytes * counts, stored_bytes * -(-counts // pp)
    places = np.concatenate([cells + each * shape[1] * shape[2] for each in range(3)])
    # Sums below 2^53 are exact.
    sums = np.bincount(places, np.concatenate(values), math.prod(shape)).reshape(shape)
    all_elements, all_bytes, stage_bytes = sums.astype(np.int64)
    padding = _compute_padding(cases, stored, stage_bytes[_EXPERTS:])
    tied = np.array([each.tied for each in stored], dtype=np.int64)
    # The first stage has the embeddings, the last the output head; both need a tied table.
    embedding, tables, others = all_bytes[_EMBEDDING], all_bytes[_EMBEDDING] + all_bytes[_LAYER_EMBEDDING], all_bytes[2]
    ends = np.where(plans[1] == 1, tables + others, np.maximum(tables, others + tied * embedding))
    columns = (
        stage_bytes[_DENSE:].sum(axis=0) + ends + padding,
        padding,
        all_elements[_DENSE],
        all_bytes[_DENSE],
        all_elements[_EXPERTS:].sum(axis=0),
        all_bytes[_EXPERTS:].sum(axis=0),
        all_elements[_HEAD_READ] + tied * all_elements[_EMBEDDING],
        all_bytes[_HEAD_READ] + tied * embedding,
        (1 - tied) * embedding,
    )
    for each, row in zip(stored, np.array(columns).T.tolist(), strict=True):
        shares = TensorShare(*row[2:4]), TensorShare(*row[4:6]), TensorShare(*row[6:8])
        yield ModelShards(row[0], row[1], *shares, row[8], *each.constants)


def _compute_padding(cases: Sequence[ShardingCase], stored: Sequence[_StoredModel], stage_bytes: _Columns) -> _Columns:
    """Return the padding bytes of each case; `stage_bytes` are those of the experts of each group, by case."""
    padding = np.zeros(len(cases), dtype=np.int64)
    for place, ((_, _, (tp, _, ep, _), kernel), of_model) in enumerate(zip(cases, stored, strict=True)):
        if kernel == NO_PADDING:
            continue
        for (hidden, intermediate), group_bytes in zip(of_model.experts, stage_bytes[:, place].tolist(), strict=False):
            width = -(-intermediate // max(1, tp // ep))
            padding[place] += kernel.added(group_bytes, hidden, width)
    return padding
