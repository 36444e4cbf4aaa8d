"""How a model lies on the accelerators of a deployment: bytes and arithmetic on the fullest one, exact.

Rules: matrices of attention and feed-forward blocks divide over the tensor-parallel ranks; key and value
projections divide over at most as many ranks as there are KV heads and are replicated beyond; experts
divide over the expert-parallel group and, within it, like matrices; norms, routers and MLA's
down-projections are replicated. With attention-DP the attention (and what surrounds it outside the
experts) is replicated and the sequences divide instead. Pipeline stages hold equal numbers of layers of
every kind, the fullest rounded up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import gcd
from types import MappingProxyType
from typing import Final

from gpudesk.domain.deployments import ParallelPlan
from gpudesk.domain.models import LayerGroup, Model, MoeFfn, QuantisedTensors
from gpudesk.domain.precision import FORMATS, WIDE, Precision, StorageFormat
from gpudesk.engine.tensors import Split, Tensor, TensorClass, layer_tensors, outer_tensors

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
#: Classes that a format covers which does not cover all matrices.
_NARROWED: Final[Mapping[QuantisedTensors, frozenset[TensorClass]]] = MappingProxyType(
    {
        "experts": frozenset({TensorClass.EXPERT}),
        "ffn": frozenset({TensorClass.EXPERT, TensorClass.SHARED_EXPERT, TensorClass.DENSE_FFN}),
    }
)


@dataclass(frozen=True, slots=True)
class Share:
    """What one accelerator holds of a class of tensors: elements, and bytes with block scales."""

    elements: int = 0
    stored_bytes: int = 0

    def __add__(self, other: Share) -> Share:
        """Add elements and bytes."""
        return Share(self.elements + other.elements, self.stored_bytes + other.stored_bytes)

    def times(self, count: int) -> Share:
        """Return `count` of it."""
        return Share(self.elements * count, self.stored_bytes * count)


@dataclass(frozen=True, slots=True)
class Padding:
    """Multiples up to which kernels fill the matrices of experts: of the hidden size, of a rank's width."""

    hidden: int = 1
    intermediate: int = 1

    def added(self, stored_bytes: int, hidden: int, intermediate: int) -> int:
        """Bytes added to `stored_bytes` of matrices of `hidden` times `intermediate` elements."""
        padded = _filled(hidden, self.hidden) * _filled(intermediate, self.intermediate)
        return stored_bytes * padded // (hidden * intermediate) - stored_bytes


NO_PADDING = Padding()


def _filled(size: int, multiple: int) -> int:
    return -(-size // multiple) * multiple


@dataclass(frozen=True, slots=True)
class Shards:
    """What the fullest accelerator of a plan holds, and what a step touches.

    `resident_bytes` is exact for the fullest pipeline stage, with `padding_bytes` of filled-up experts that
    no step needs. The shares are totals over all layers for one rank of each stage, which is what a token
    passes through: `dense` (everything in the layers that every step reads), `experts` (routed experts),
    `head` (LM head, and matrices beside it). Of the embedding (`embedding_lookup_bytes`) and of the table of
    the layers' own inputs a step reads a few rows only. `active_expert_elements` are the routed-expert
    elements that one token multiplies with, undivided.
    """

    resident_bytes: int
    padding_bytes: int
    dense: Share
    experts: Share
    head: Share
    embedding_lookup_bytes: int
    dense_elements_undivided: int
    active_expert_elements: int
    layers: int
    moe_layers: int
    ffn_layers: int
    collectives: int
    experts_per_token: int
    expert_count: int


def storage(tensor: Tensor, model: Model, weights: Precision) -> StorageFormat:
    """Return the format in which a tensor is stored when the weights are in `weights`.

    Embeddings, LM head, norms, routers and small tensors stay 16 bits wide. In checkpoints that narrow only
    some of their matrices the others keep their published format.
    """
    if not tensor.quantisable:
        return WIDE
    narrow = FORMATS[weights]
    if narrows_in_part(model, weights) and tensor.tensor_class not in _NARROWED[model.quantised_tensors]:
        return FORMATS[model.native_other_precision]
    if model.native_group_size is not None and weights is model.native_precision:
        return replace(narrow, block=model.native_group_size)
    return narrow


def narrows_in_part(model: Model, weights: Precision) -> bool:
    """Whether `weights` covers some matrices alone, as in the published checkpoint of `model`.

    Checkpoints in the published format do, and those of other makers below eight bits; what they make in
    eight bits covers all.
    """
    if model.quantised_tensors == "linear":
        return False
    return FORMATS[weights].bits < 8 or weights is model.native_precision


def narrow_share(model: Model, weights: Precision) -> float:
    """Share of the matrices outside routed experts that `weights` covers, by their elements."""
    return _covered(model) if narrows_in_part(model, weights) else 1.0


@lru_cache(maxsize=500)
def _covered(model: Model) -> float:
    """Return the share of the matrices outside routed experts that a format covers which covers some."""
    narrowed = _NARROWED[model.quantised_tensors]
    covered = every = 0
    for group, layer in zip(model.layers, _layers(model), strict=True):
        matrices = [tensor for tensor in layer.dense if tensor.quantisable]
        every += group.count * sum(each.parameters for each in matrices)
        covered += group.count * sum(each.parameters for each in matrices if each.tensor_class in narrowed)
    return covered / every if every else 0.0


def tensor_share(tensor: Tensor, stored: StorageFormat, plan: ParallelPlan) -> Share:
    """Return what the fullest rank of `plan` holds of one layer's `tensor` (all its copies)."""
    copies, ranks = tensor.copies, 1
    replicated = plan.attention_dp and tensor.tensor_class in _REPLICATED_BY_ATTENTION_DP
    if tensor.split is Split.EXPERT:
        copies = -(-tensor.copies // plan.ep)
        ranks = max(1, plan.tp // plan.ep)
    elif tensor.split is Split.TENSOR and not replicated:
        ranks = plan.tp
    elif tensor.split is Split.KV_HEADS and not replicated:
        ranks = min(plan.tp, tensor.kv_heads or plan.tp)
    elements = -(-tensor.elements // ranks)
    return Share(elements * copies, stored.tensor_bytes(elements) * copies)


def _sum(tensors: tuple[Tensor, ...], model: Model, weights: Precision, plan: ParallelPlan) -> Share:
    elements = stored = 0
    for tensor in tensors:
        share = tensor_share(tensor, storage(tensor, model, weights), plan)
        elements += share.elements
        stored += share.stored_bytes
    return Share(elements, stored)


@dataclass(frozen=True, slots=True)
class _Layer:
    """The tensors of one layer of a group, sorted once for all plans, and what does not depend on a plan."""

    experts: tuple[Tensor, ...]
    dense: tuple[Tensor, ...]
    dense_elements: int
    active_expert_elements: int


@lru_cache(maxsize=2_000)
def _layers(model: Model) -> tuple[_Layer, ...]:
    """Return one layer of each group of the model, in their order."""
    layers = []
    for group in model.layers:
        tensors = layer_tensors(model, group)
        dense = _not_of(tensors, TensorClass.EXPERT)
        layers.append(
            _Layer(
                experts=_of(tensors, TensorClass.EXPERT),
                dense=_merged(dense),
                dense_elements=sum(t.elements * t.copies for t in dense if t.quantisable),
                active_expert_elements=_active_expert_elements(group, tensors),
            )
        )
    return tuple(layers)


def _merged(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Return tensors of one shape and treatment as copies of one, which divides them alike but once."""
    alike: dict[tuple[object, ...], Tensor] = {}
    for tensor in tensors:
        key = (tensor.tensor_class, tensor.split, tensor.elements, tensor.kv_heads, tensor.quantisable)
        known = alike.get(key)
        alike[key] = tensor if known is None else replace(known, copies=known.copies + tensor.copies)
    return tuple(alike.values())


def _of(tensors: tuple[Tensor, ...], *classes: TensorClass) -> tuple[Tensor, ...]:
    return tuple(tensor for tensor in tensors if tensor.tensor_class in classes)


def _not_of(tensors: tuple[Tensor, ...], *classes: TensorClass) -> tuple[Tensor, ...]:
    return tuple(tensor for tensor in tensors if tensor.tensor_class not in classes)


def _active_expert_elements(group: LayerGroup, tensors: tuple[Tensor, ...]) -> int:
    if not isinstance(group.ffn, MoeFfn):
        return 0
    total = sum(t.elements * t.copies for t in _of(tensors, TensorClass.EXPERT))
    return total * group.ffn.experts_per_token // group.ffn.experts


def _like(plan: ParallelPlan) -> ParallelPlan:
    """Return the smallest plan that divides each tensor as `plan` does: stages and replicas divide none."""
    return ParallelPlan(plan.tp, 1, plan.ep, plan.ep // gcd(plan.ep, plan.tp), plan.attention_dp)


_TABLES = (TensorClass.EMBEDDING, TensorClass.LAYER_EMBEDDING)


@dataclass(frozen=True, slots=True)
class _Ends:
    """What one rank holds outside the layers, and what of the head a step reads."""

    embedding: Share
    layer_embedding: Share
    head: Share
    head_read: Share

    def fullest(self, *, tied: bool, stages: int) -> Share:
        """Return what lies on the stage that has most of it: the first looks up, the last predicts."""
        first = self.embedding + self.layer_embedding
        if stages == 1:
            return first + self.head
        # A tied table is needed on both.
        last = self.head + self.embedding if tied else self.head
        return max(first, last, key=lambda share: share.stored_bytes)


@lru_cache(maxsize=4_000)
def _divided(
    model: Model, weights: Precision, plan: ParallelPlan
) -> tuple[_Ends, tuple[tuple[Share, Share], ...]]:
    """Return what lies outside the layers, and experts and dense of a layer of each group.

    Many plans share it, which differ in stages and replicas.
    """
    outer = outer_tensors(model)
    embedding = _sum(_of(outer, TensorClass.EMBEDDING), model, weights, plan)
    # A matrix outside the layers that is no table takes part in every step, as the LM head does.
    read = _sum(_of(outer, TensorClass.LM_HEAD, TensorClass.DENSE_FFN), model, weights, plan)
    ends = _Ends(
        embedding=embedding,
        layer_embedding=_sum(_of(outer, TensorClass.LAYER_EMBEDDING), model, weights, plan),
        head=_sum(_not_of(outer, *_TABLES), model, weights, plan),
        head_read=embedding + read if model.tied_embeddings else read,
    )
    layers = tuple(
        (_sum(layer.experts, model, weights, plan), _sum(layer.dense, model, weights, plan))
        for layer in _layers(model)
    )
    return ends, layers


@lru_cache(maxsize=2_000)
def shard(model: Model, weights: Precision, plan: ParallelPlan, padding: Padding = NO_PADDING) -> Shards:
    """Lay `model` with `weights` (a concrete format) out over `plan`; exact integers.

    Raises ValueError where the model's dimensions are not known.
    """
    if not model.dimensions_known:
        raise ValueError(model.id)
    outer, layers = _divided(model, weights, _like(plan))
    stage, dense, experts = Share(), Share(), Share()
    undivided = active = moe_layers = ffn_layers = collectives = per_token = expert_count = padded = 0
    for group, layer, (layer_experts, layer_dense) in zip(model.layers, _layers(model), layers, strict=True):
        stage = stage + (layer_experts + layer_dense).times(-(-group.count // plan.pp))
        dense = dense + layer_dense.times(group.count)
        experts = experts + layer_experts.times(group.count)
        undivided += group.count * layer.dense_elements
        active += group.count * layer.active_expert_elements
        ffn_layers += group.count * (group.ffn is not None)
        collectives += group.count * ((group.mixer is not None) + (group.ffn is not None))
        if isinstance(group.ffn, MoeFfn):
            on_stage = layer_experts.times(-(-group.count // plan.pp)).stored_bytes
            padded += _padding_bytes(on_stage, model, group.ffn, plan, padding)
            moe_layers += group.count
            per_token, expert_count = group.ffn.experts_per_token, group.ffn.experts
    ends = outer.fullest(tied=model.tied_embeddings, stages=plan.pp)
    return Shards(
        resident_bytes=stage.stored_bytes + ends.stored_bytes + padded,
        padding_bytes=padded,
        dense=dense,
        experts=experts,
        head=outer.head_read,
        embedding_lookup_bytes=0 if model.tied_embeddings else outer.embedding.stored_bytes,
        dense_elements_undivided=undivided,
        active_expert_elements=active,
        layers=sum(group.count for group in model.layers),
        moe_layers=moe_layers,
        ffn_layers=ffn_layers,
        collectives=collectives,
        experts_per_token=per_token,
        expert_count=expert_count,
    )


def _padding_bytes(stored_bytes: int, model: Model, ffn: MoeFfn, plan: ParallelPlan, padding: Padding) -> int:
    """Bytes by which `stored_bytes` of routed experts grow on a rank."""
    if padding == NO_PADDING:
        return 0
    width = -(-ffn.intermediate_size // max(1, plan.tp // plan.ep))
    return padding.added(stored_bytes, ffn.latent_size or model.hidden_size, width)
