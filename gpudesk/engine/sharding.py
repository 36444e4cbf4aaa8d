"""Sharding: exact bytes and arithmetic on the most loaded accelerator of a deployment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from typing import Final, NamedTuple

from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import LayerGroup, Model, MoeFfn, QuantisedTensors
from gpudesk.domain.precision import STORAGE_FORMATS, WIDE_FORMAT, Precision, StorageFormat
from gpudesk.engine.tensors import TensorClass, TensorSplit, WeightTensor, list_layer_tensors, list_outer_tensors

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
_NARROWED: Final[Mapping[QuantisedTensors, frozenset[TensorClass]]] = {
    "experts": frozenset({TensorClass.EXPERT}),
    "ffn": frozenset({TensorClass.EXPERT, TensorClass.SHARED_EXPERT, TensorClass.DENSE_FFN}),
}


@dataclass(frozen=True, slots=True)
class TensorShare:
    """What one accelerator holds of a class of tensors: elements, and bytes with block scales."""

    elements: int = 0
    stored_bytes: int = 0

    def __add__(self, other: TensorShare) -> TensorShare:
        return TensorShare(self.elements + other.elements, self.stored_bytes + other.stored_bytes)


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


@dataclass(frozen=True, slots=True)
class ModelShards:
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
    if not tensor.quantisable:
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
        matrices = [tensor for tensor in layer.dense if tensor.quantisable]
        every += group.count * sum(each.parameters for each in matrices)
        covered += group.count * sum(each.parameters for each in matrices if each.tensor_class in narrowed)
    return covered / every if every else 0.0


_StoredTensors = Iterable[tuple[WeightTensor, StorageFormat]]


def sum_shares(tensors: _StoredTensors, plan: ParallelPlan) -> TensorShare:
    """Return what the most loaded rank of `plan` holds of tensors of one layer (with all their copies)."""
    elements = stored = 0
    for tensor, storage_format in tensors:
        copies, ranks = tensor.copies, 1
        if tensor.split is TensorSplit.EXPERT:
            copies = -(-copies // plan.ep)
            ranks = max(1, plan.tp // plan.ep)
        elif tensor.split is not TensorSplit.REPLICATED and not (
            plan.attention_dp and tensor.tensor_class in _REPLICATED_BY_ATTENTION_DP
        ):
            # Ranks beyond the KV heads hold copies of them.
            ranks = min(plan.tp, tensor.kv_heads or plan.tp) if tensor.split is TensorSplit.KV_HEADS else plan.tp
        share = -(-tensor.elements // ranks)
        elements += share * copies
        stored += storage_format.compute_tensor_bytes(share) * copies
    return TensorShare(elements, stored)


@dataclass(frozen=True, slots=True)
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
                dense_elements=sum(t.elements * t.copies for t in dense if t.quantisable),
                active_expert_elements=_count_active_expert_elements(group, tensors),
            )
        )
    return tuple(layers)


def _merge_tensors(tensors: tuple[WeightTensor, ...]) -> tuple[WeightTensor, ...]:
    """Merge tensors of equal shape and treatment into copies of one, which divides the same way."""
    alike: dict[tuple[object, ...], WeightTensor] = {}
    for tensor in tensors:
        key = (tensor.tensor_class, tensor.split, tensor.elements, tensor.kv_heads, tensor.quantisable)
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


_TABLES = (TensorClass.EMBEDDING, TensorClass.LAYER_EMBEDDING)


@dataclass(frozen=True, slots=True)
class _OuterShares:
    """What one rank holds outside the layers, and what a step reads of the head."""

    embedding: TensorShare
    layer_embedding: TensorShare
    head: TensorShare
    head_read: TensorShare

    def fullest(self, *, tied: bool, stages: int) -> TensorShare:
        """Return the share on the most loaded stage: the first has the embedding, the last the output head."""
        first = self.embedding + self.layer_embedding
        if stages == 1:
            return first + self.head
        # Both stages need a tied table.
        last = self.head + self.embedding if tied else self.head
        return max(first, last, key=lambda share: share.stored_bytes)


@lru_cache(maxsize=2_000)
def _split_outer_tensors(model: Model) -> tuple[tuple[WeightTensor, ...], ...]:
    """Return embeddings, per-layer input tables, everything else, and what every step reads of that."""
    outer = list_outer_tensors(model)
    # A matrix outside the layers that is not a lookup table takes part in every step, like the LM head.
    return (
        _select_classes(outer, TensorClass.EMBEDDING),
        _select_classes(outer, TensorClass.LAYER_EMBEDDING),
        _exclude_classes(outer, *_TABLES),
        _select_classes(outer, TensorClass.LM_HEAD, TensorClass.DENSE_FFN),
    )


@lru_cache(maxsize=250)
def _store_tensors(
    model: Model, weights: Precision
) -> tuple[tuple[_StoredTensors, ...], tuple[tuple[_StoredTensors, _StoredTensors], ...]]:
    """Return the tensors of `_split_outer_tensors`, and experts and dense of `_list_layers`, with their formats."""

    def store(tensors: tuple[WeightTensor, ...]) -> _StoredTensors:
        return tuple([(tensor, get_storage_format(tensor, model, weights)) for tensor in tensors])

    layers = tuple((store(layer.experts), store(layer.dense)) for layer in _list_layers(model))
    return tuple(map(store, _split_outer_tensors(model))), layers


@lru_cache(maxsize=500)
def _divide_tensors(
    model: Model, weights: Precision, plan: ParallelPlan
) -> tuple[_OuterShares, tuple[tuple[TensorShare, TensorShare], ...]]:
    """Return the shares outside the layers, and experts and dense of a layer of each group.

    Plans that differ in stages and replicas share the result.
    """
    outer, layers = _store_tensors(model, weights)
    embedding, layer_embedding, head, head_read = [sum_shares(tensors, plan) for tensors in outer]
    ends = _OuterShares(
        embedding=embedding,
        layer_embedding=layer_embedding,
        head=head,
        head_read=embedding + head_read if model.tied_embeddings else head_read,
    )
    return ends, tuple([(sum_shares(experts, plan), sum_shares(dense, plan)) for experts, dense in layers])


def shard_model(
    model: Model, weights: Precision, plan: ParallelPlan, padding: ExpertPadding = NO_PADDING
) -> ModelShards:
    """Shard `model` with `weights` (a concrete format) over `plan`; exact integers.

    Raises ValueError if the model's dimensions are not known.
    """
    return _shard_replica(model, weights, plan.tp, plan.pp, plan.ep, plan.attention_dp, padding)


@lru_cache(maxsize=1_500)
def _shard_replica(
    model: Model, weights: Precision, tp: int, pp: int, ep: int, attention_dp: bool, padding: ExpertPadding
) -> ModelShards:
    """Return the shards of all plans that differ only in their replicas."""
    if not model.dimensions_known:
        raise ValueError(model.id)
    # Stages and replicas divide no tensor.
    outer, layers = _divide_tensors(model, weights, ParallelPlan(tp, 1, ep, ep // gcd(ep, tp), attention_dp))
    stage_bytes = dense_bytes = dense_elements = expert_bytes = expert_elements = 0
    undivided = active = moe_layers = ffn_layers = collectives = per_token = expert_count = padded = 0
    for group, layer, (experts, dense) in zip(model.layers, _list_layers(model), layers, strict=True):
        count, on_stage = group.count, -(-group.count // pp)
        stage_bytes += (experts.stored_bytes + dense.stored_bytes) * on_stage
        dense_bytes += dense.stored_bytes * count
        dense_elements += dense.elements * count
        expert_bytes += experts.stored_bytes * count
        expert_elements += experts.elements * count
        undivided += count * layer.dense_elements
        active += count * layer.active_expert_elements
        ffn_layers += count * (group.ffn is not None)
        collectives += count * ((group.mixer is not None) + (group.ffn is not None))
        if isinstance(group.ffn, MoeFfn):
            width = -(-group.ffn.intermediate_size // max(1, tp // ep))
            padded += padding.added(experts.stored_bytes * on_stage, group.ffn.latent_size or model.hidden_size, width)
            moe_layers += count
            per_token, expert_count = group.ffn.experts_per_token, group.ffn.experts
    ends = outer.fullest(tied=model.tied_embeddings, stages=pp)
    return ModelShards(
        resident_bytes=stage_bytes + ends.stored_bytes + padded,
        padding_bytes=padded,
        dense=TensorShare(dense_elements, dense_bytes),
        experts=TensorShare(expert_elements, expert_bytes),
        head=outer.head_read,
        embedding_lookup_bytes=0 if model.tied_embeddings else outer.embedding.stored_bytes,
        dense_elements_undivided=undivided,
        active_expert_elements=active,
        layers=model.layer_count,
        moe_layers=moe_layers,
        ffn_layers=ffn_layers,
        collectives=collectives,
        experts_per_token=per_token,
        expert_count=expert_count,
    )
