"""Language models: layer groups and their dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message, message

#: Sliding windows move with each token; chunked windows restart at every multiple of the window.
WindowKind = Literal["sliding", "chunked"]
#: Norms on queries and keys: one shared by all heads, or one as wide as all heads together.
QkNorm = Literal["none", "head", "full"]
#: Gate on the attention output: one number per head, or per element.
OutputGate = Literal["none", "head", "element"]
#: What a quantized format covers: every matrix inside the blocks, only the routed experts, or only the feed-forward
#: blocks including experts.
QuantizedTensors = Literal["linear", "experts", "ffn"]


@frozen_dataclass
class AttentionIndexer:
    """A small scorer that picks which cached tokens attention reads; it caches one key of `head_dim` per `pool` tokens.

    `top_k` is in cache entries, picked in blocks of `block`. A `reused` indexer has no weights and no keys of its own:
    the layer reuses the selection of an earlier layer.
    """

    heads: int
    head_dim: int
    top_k: int
    block: int = 1
    pool: int = 1
    reused: bool = False


@frozen_dataclass
class Attention:
    """Softmax attention with its own key and value heads: MHA, GQA and MQA, global or in a window.

    `v_head_dim` is None if values are as wide as keys. With `shared_kv_projection` the values come from the key
    projection, without v_proj; both are still cached, as only keys are rotated. A layer that `reuses_cache` has no key
    and value projections and caches nothing: it reads the cache of an earlier layer of its shape.
    """

    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int | None = None
    window: int | None = None
    window_kind: WindowKind = "sliding"
    qkv_bias: bool = False
    output_bias: bool = False
    qk_norm: QkNorm = "none"
    output_gate: OutputGate = "none"
    sinks: bool = False
    shared_kv_projection: bool = False
    reuses_cache: bool = False
    indexer: AttentionIndexer | None = None

    @property
    def value_dim(self) -> int:
        return self.head_dim if self.v_head_dim is None else self.v_head_dim


@frozen_dataclass
class MLA:
    """Multi-head latent attention: the cache holds one latent and one rotary key per token for all heads.

    `qk_rope_head_dim` is 0 without rotary keys; `q_lora_rank` is None if queries are projected in one step.
    """

    heads: int
    kv_lora_rank: int
    qk_nope_head_dim: int
    v_head_dim: int
    qk_rope_head_dim: int = 0
    q_lora_rank: int | None = None
    output_gate: bool = False
    indexer: AttentionIndexer | None = None


@frozen_dataclass
class Compressed:
    """Attention over one shared key-value head with a compressed past, `compress_ratio` tokens per entry.

    The last `window` tokens stay uncompressed. `compress_ratio` None: only the window. Layers with an indexer compress
    overlapping spans, which doubles the width of the compressing projections.
    """

    heads: int
    head_dim: int
    q_lora_rank: int
    o_lora_rank: int
    o_groups: int
    window: int
    compress_ratio: int | None = None
    indexer: AttentionIndexer | None = None


@frozen_dataclass
class GatedDeltaNet:
    """Linear attention by the gated delta rule; the state is key_head_dim x value_head_dim per value head."""

    key_heads: int
    value_heads: int
    key_head_dim: int
    value_head_dim: int
    conv_kernel: int


@frozen_dataclass
class KimiDelta:
    """Kimi delta attention: a delta rule with a decay per channel; a head_dim x head_dim state per head.

    The output gate is one full matrix, or with `full_rank_gate` False two thin ones of rank head_dim; the same holds
    for the decay, by `full_rank_decay`.
    """

    heads: int
    head_dim: int
    conv_kernel: int
    full_rank_gate: bool = False
    full_rank_decay: bool = False


@frozen_dataclass
class Mamba1:
    """Selective state space of the first kind: `state_size` numbers for each of `inner_size` channels."""

    inner_size: int
    state_size: int
    conv_kernel: int
    dt_rank: int
    inner_norms: bool = False


@frozen_dataclass
class Mamba2:
    """State space duality: a head_dim x state_size state per head, input and output maps per group.

    `gated_norm`: the output is normalized before its projection.
    """

    heads: int
    head_dim: int
    state_size: int
    groups: int
    conv_kernel: int
    gated_norm: bool = True

    @property
    def inner_size(self) -> int:
        return self.heads * self.head_dim


@frozen_dataclass
class Lightning:
    """Linear attention with a fixed decay per head; a head_dim x head_dim state per head."""

    heads: int
    head_dim: int


@frozen_dataclass
class ShortConvolution:
    """A gated convolution over the last `conv_kernel` tokens of `inner_size` channels, the only state."""

    inner_size: int
    conv_kernel: int


Mixer = Attention | MLA | Compressed | GatedDeltaNet | KimiDelta | Mamba1 | Mamba2 | Lightning | ShortConvolution


def reuses_cache(mixer: Mixer | None) -> bool:
    return isinstance(mixer, Attention) and mixer.reuses_cache


@frozen_dataclass
class DenseFfn:
    """A feed-forward block for every token; gated blocks have three matrices, others two."""

    intermediate_size: int
    gated: bool = True
    bias: bool = False


@frozen_dataclass
class MoeFfn:
    """Routed experts, and blocks for every token next to them.

    `intermediate_size` is per expert; `shared_intermediate_size` is the total of all shared experts. With `latent_size`
    the experts work on vectors of that width, projected down before and up after (`latent_norm`: normalized on the way
    up). `parallel_dense_intermediate_size` is a full dense block that runs in parallel to the experts.
    """

    experts: int
    experts_per_token: int
    intermediate_size: int
    shared_intermediate_size: int = 0
    shared_gate: bool = False
    gated: bool = True
    bias: bool = False
    router_bias: bool = False
    latent_size: int | None = None
    latent_norm: bool = False
    parallel_dense_intermediate_size: int | None = None


Ffn = DenseFfn | MoeFfn

#: Names of the kinds in the data files.
MIXER_KINDS: Final[Mapping[str, type[Mixer]]] = {
    "attention": Attention,
    "mla": MLA,
    "compressed": Compressed,
    "gated_delta_net": GatedDeltaNet,
    "kimi_delta": KimiDelta,
    "mamba1": Mamba1,
    "mamba2": Mamba2,
    "lightning": Lightning,
    "short_convolution": ShortConvolution,
}
FFN_KINDS: Final[Mapping[str, type[Ffn]]] = {"dense": DenseFfn, "moe": MoeFfn}


@frozen_dataclass
class LayerGroup:
    """`count` equal layers. `norms` counts the vectors as long as the hidden size in one layer."""

    count: int
    mixer: Mixer | None = None
    ffn: Ffn | None = None
    norms: int = 2


@frozen_dataclass
class Model:
    """An open-weights network. If its dimensions are not published, `layers` is empty and the sizes are 0.

    `native_precision` is the format of the published checkpoint for the matrices in `quantized_tensors`, None if no
    source states it; `native_other_precision` is that of the other matrices inside the blocks. `native_group_size` is
    the number of elements per scale if it differs from the format's usual one. `fp8_block` is the side of the squares
    that share a scale in the publisher's FP8 checkpoint, None if scales are per tensor or channel, or unknown.

    `max_context` is in tokens. `final_norms` counts the vectors of the norm before the LM head. `residual_streams` is
    the number of parallel residual streams of hyper-connections (1: an ordinary residual), mixed by a learned matrix
    with `residual_mixing` and joined by learned weights with `residual_head`. `altup_streams` is that of alternating
    updates (AltUp), which predict all streams and compute one. `laurel_rank` is that of the low-rank path parallel to
    each attention (learned augmented residual), 0 without.

    With per-layer embeddings, `layer_input_size` is their width and `layer_input_vocab_size` the number of tokens in
    their table (None: that of the vocabulary). `scalars` counts the parameters outside all named matrices and norms:
    position embeddings, biases of the LM head, learned scales. `generic_architecture` names an unknown architecture,
    which was read as a plain decoder; `unread_fields` are unused fields of its configuration that could change memory
    or time. `own` marks a model of the user.
    """

    id: str
    name: str
    organisation: str
    hidden_size: int
    vocab_size: int
    tied_embeddings: bool
    max_context: int | None
    native_precision: Precision | None
    layers: tuple[LayerGroup, ...]
    quantised_tensors: QuantizedTensors = "linear"
    native_other_precision: Precision = Precision.BF16
    native_group_size: int | None = None
    fp8_block: int | None = None
    native_note: str | None = None
    final_norms: int = 1
    residual_streams: int = 1
    residual_mixing: bool = True
    residual_head: bool = True
    altup_streams: int = 1
    laurel_rank: int = 0
    layer_input_size: int = 0
    layer_input_vocab_size: int | None = None
    scalars: int = 0
    generic_architecture: str | None = None
    unread_fields: tuple[str, ...] = ()
    own: bool = False
    notes: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Hash by the id: models are cache keys, and hashing their layers each time is slow."""
        return hash(self.id)

    @property
    def dimensions_known(self) -> bool:
        """Whether the layers are known, which memory and time need."""
        return bool(self.layers)

    @property
    def layer_count(self) -> int:
        return sum(group.count for group in self.layers)


def describe_generic_model(model: Model) -> Message | None:
    """Return the warning for every result of a model of unknown architecture; None for other models."""
    if model.generic_architecture is None:
        return None
    if not model.unread_fields:
        return message(
            "model.generic",
            "{model}: unknown architecture {architecture}, estimated as a plain decoder; check its dimensions",
            model=model.name,
            architecture=model.generic_architecture,
        )
    return message(
        "model.generic_unread",
        "{model}: unknown architecture {architecture}, estimated as a plain decoder without {fields}; memory and "
        "speed may differ",
        model=model.name,
        architecture=model.generic_architecture,
        fields=model.unread_fields,
    )
