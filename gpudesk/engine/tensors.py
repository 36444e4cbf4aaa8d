"""Which weights a model has: the one authority that memory, sharding and time count from.

Embedding, LM head, norms, routers and small tensors stay wide whatever the weight format;
`Tensor.quantisable` marks the matrices that a narrow format covers when it covers all linear layers.
"""

from __future__ import annotations

from gpudesk.domain.models import DenseFfn, LayerGroup, Model, MoeFfn
from gpudesk.engine.mixer_tensors import mixer_tensors
from gpudesk.engine.side_tensors import layer_sides, outer_sides
from gpudesk.engine.tensor_types import Split, Tensor, TensorClass, matrix, norm, vector

__all__ = [
    "Split",
    "Tensor",
    "TensorClass",
    "active_parameter_count",
    "layer_tensors",
    "outer_tensors",
    "parameter_count",
]


def layer_tensors(model: Model, group: LayerGroup) -> tuple[Tensor, ...]:
    """Weights of one layer of the group."""
    tensors: list[Tensor] = []
    if group.mixer is not None:
        tensors += mixer_tensors(group.mixer, model.hidden_size)
    if isinstance(group.ffn, DenseFfn):
        tensors += _dense(group.ffn, model.hidden_size)
    elif isinstance(group.ffn, MoeFfn):
        tensors += _moe(group.ffn, model.hidden_size)
    if group.norms:
        tensors.append(norm("norms", group.norms * model.hidden_size))
    return (*tensors, *layer_sides(model))


def outer_tensors(model: Model) -> tuple[Tensor, ...]:
    """Weights outside the layers: embeddings, LM head unless it is the embedding, final norm."""
    table = model.vocab_size * model.hidden_size
    tensors = [Tensor("embed_tokens", TensorClass.EMBEDDING, Split.TENSOR, table)]
    if not model.tied_embeddings:
        tensors.append(Tensor("lm_head", TensorClass.LM_HEAD, Split.TENSOR, table))
    tensors.append(norm("norm", model.final_norms * model.hidden_size))
    return (*tensors, *outer_sides(model))


def parameter_count(model: Model) -> int:
    """Parameters of the text model; 0 where its dimensions are not known."""
    if not model.dimensions_known:
        return 0
    total = sum(tensor.parameters for tensor in outer_tensors(model))
    for group in model.layers:
        total += group.count * sum(tensor.parameters for tensor in layer_tensors(model, group))
    return total


def active_parameter_count(model: Model, *, with_embedding: bool = False) -> int:
    """Parameters that one token passes through: the chosen experts, everything else, and the LM head.

    Tables of which a token reads one row are left out unless asked for: the embedding and that of the layers'
    own inputs. A tied embedding is the LM head and always counts.
    """
    if not model.dimensions_known:
        return 0
    left_out = set() if with_embedding else {TensorClass.LAYER_EMBEDDING}
    if not (model.tied_embeddings or with_embedding):
        left_out.add(TensorClass.EMBEDDING)
    outer = sum(each.parameters for each in outer_tensors(model) if each.tensor_class not in left_out)
    return outer + sum(group.count * _active_in_layer(model, group) for group in model.layers)


def _active_in_layer(model: Model, group: LayerGroup) -> int:
    total = 0
    for tensor in layer_tensors(model, group):
        copies = tensor.copies
        if tensor.tensor_class is TensorClass.EXPERT and isinstance(group.ffn, MoeFfn):
            copies = group.ffn.experts_per_token
        total += tensor.elements * copies
    return total


def _dense(ffn: DenseFfn, hidden: int) -> list[Tensor]:
    size = hidden * ffn.intermediate_size
    names = ("gate_proj", "up_proj", "down_proj") if ffn.gated else ("up_proj", "down_proj")
    tensors = [matrix(name, size, TensorClass.DENSE_FFN) for name in names]
    if ffn.bias:
        tensors.append(vector("up_bias", (len(names) - 1) * ffn.intermediate_size, Split.TENSOR))
        tensors.append(vector("down_bias", hidden))
    return tensors


def _moe(ffn: MoeFfn, hidden: int) -> list[Tensor]:
    width = hidden if ffn.latent_size is None else ffn.latent_size
    names = ("gate_proj", "up_proj", "down_proj") if ffn.gated else ("up_proj", "down_proj")
    tensors = [
        Tensor("router", TensorClass.ROUTER, Split.REPLICATED, hidden * ffn.experts),
        *(
            Tensor(
                f"experts.{name}",
                TensorClass.EXPERT,
                Split.EXPERT,
                width * ffn.intermediate_size,
                copies=ffn.experts,
                quantisable=True,
            )
            for name in names
        ),
    ]
    if ffn.bias:
        biases = (len(names) - 1) * ffn.intermediate_size + width
        tensors.append(Tensor("experts.bias", TensorClass.EXPERT, Split.EXPERT, biases, copies=ffn.experts))
    if ffn.router_bias:
        tensors.append(Tensor("router_bias", TensorClass.ROUTER, Split.REPLICATED, ffn.experts))
    return [*tensors, *_beside_experts(ffn, hidden, names)]


def _beside_experts(ffn: MoeFfn, hidden: int, names: tuple[str, ...]) -> list[Tensor]:
    """What every token passes in a layer with experts."""
    tensors: list[Tensor] = []
    if ffn.latent_size is not None:
        size = hidden * ffn.latent_size
        names_of_latent = ("latent_down_proj", "latent_up_proj")
        tensors += [matrix(name, size, TensorClass.DENSE_FFN, Split.REPLICATED) for name in names_of_latent]
        if ffn.latent_norm:
            tensors.append(norm("latent_norm", ffn.latent_size))
    if ffn.shared_intermediate_size:
        size = hidden * ffn.shared_intermediate_size
        tensors += [matrix(f"shared_expert.{name}", size, TensorClass.SHARED_EXPERT) for name in names]
    if ffn.shared_gate:
        tensors.append(Tensor("shared_expert_gate", TensorClass.ROUTER, Split.REPLICATED, hidden))
    if ffn.parallel_dense_intermediate_size is not None:
        size = hidden * ffn.parallel_dense_intermediate_size
        tensors += [matrix(name, size, TensorClass.DENSE_FFN) for name in names]
    return tensors
