"""Weights beside mixers and feed-forward blocks: what mixes several streams, and inputs of the layers."""

from __future__ import annotations

from gpudesk.domain.models import Model
from gpudesk.engine.tensor_types import Split, Tensor, TensorClass, matrix, norm, vector


def layer_sides(model: Model) -> list[Tensor]:
    """Weights of one layer that are neither in its mixer nor in its feed-forward block."""
    tensors: list[Tensor] = []
    if model.residual_streams > 1:
        tensors += _hyper_connections(model)
    if model.altup_streams > 1:
        tensors += _alternating_updates(model)
    if model.laurel_rank:
        tensors += _augmented_residual(model)
    if model.layer_input_size:
        tensors += _layer_input(model)
    return tensors


def outer_sides(model: Model) -> list[Tensor]:
    """Weights of the same kinds that the model has once."""
    tensors: list[Tensor] = []
    if model.residual_streams > 1:
        streams = model.residual_streams
        tensors.append(vector("hyper_head", streams * streams * model.hidden_size + streams + 1))
    if model.altup_streams > 1:
        # Every stream but the first has a matrix on the way in and one on the way out.
        size = (model.altup_streams - 1) * model.hidden_size**2
        names = ("altup_projections", "altup_unembed_projections")
        tensors += [matrix(name, size, TensorClass.DENSE_FFN, quantisable=False) for name in names]
    if model.layer_input_size:
        vocabulary = model.layer_input_vocab_size or model.vocab_size
        table = vocabulary * model.layer_count * model.layer_input_size
        tensors.append(Tensor("embed_tokens_per_layer", TensorClass.LAYER_EMBEDDING, Split.TENSOR, table))
        tensors.append(norm("per_layer_projection_norm", model.layer_input_size))
    return tensors


def _hyper_connections(model: Model) -> list[Tensor]:
    """Mixing weights of the residual streams, once before the mixer and once before the feed-forward block.

    Each maps all streams to one weight in and one out a stream and a stream-by-stream matrix, with a
    bias for each output and three scales.
    """
    streams = model.residual_streams
    outputs = (2 + streams) * streams
    size = outputs * streams * model.hidden_size + outputs + 3
    return [vector("hyper_connection.mixer", size), vector("hyper_connection.ffn", size)]


def _alternating_updates(model: Model) -> list[Tensor]:
    """What predicts all streams from their mix and corrects them by the one that was computed.

    A router over the streams, a matrix of predictions and a vector of corrections for each of its outputs,
    and a scale as wide as the stream.
    """
    streams, hidden = model.altup_streams, model.hidden_size
    return [
        vector("altup.modality_router", hidden * streams),
        vector("altup.coefficients", streams**3 + streams**2),
        vector("altup.correct_output_scale", hidden),
        norm("altup.router_norm", hidden),
    ]


def _augmented_residual(model: Model) -> list[Tensor]:
    size = model.hidden_size * model.laurel_rank
    return [
        matrix("laurel.linear_left", size, TensorClass.DENSE_FFN),
        matrix("laurel.linear_right", size, TensorClass.DENSE_FFN),
        norm("laurel.post_laurel_norm", model.hidden_size),
    ]


def _layer_input(model: Model) -> list[Tensor]:
    """The gate of a layer's own input, the input's way into the stream, and the projection it is made by.

    The projections of all layers are one matrix in the checkpoint, of which each layer needs a slice. Serving
    engines divide that one over the ranks and repeat the other two.
    """
    size = model.hidden_size * model.layer_input_size
    return [
        matrix("per_layer_input_gate", size, TensorClass.DENSE_FFN, Split.REPLICATED),
        matrix("per_layer_projection", size, TensorClass.DENSE_FFN, Split.REPLICATED),
        matrix("per_layer_model_projection", size, TensorClass.DENSE_FFN),
        norm("post_per_layer_input_norm", model.hidden_size),
    ]
