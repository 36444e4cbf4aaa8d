"""The sentences of models that come from a Hugging Face configuration.

`gpudesk.sentences_catalog` merges these tables with its own.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

CONFIG_SENTENCES: Final = MappingProxyType(
    {
        # What cannot be read
        "import.hf.no_object": "holds no table of fields; take the config.json of a model",
        "import.hf.short_list": "has {found} entries, and there are {wanted} layers",
        "import.hf.heads_divide": "{hidden} does not divide into {heads} heads; state head_dim",
        "import.hf.short_header": "ends before its header does; take the file from its beginning",
        "import.hf.broken_header": "has no shape and format that can be read",
        # What the user must say
        "import.hf.missing": "{of}; the file does not say it",
        # How it was read
        "import.hf.unknown": "The architecture {name} is not known. It was read like Llama: check every "
        "dimension",
        "import.hf.answered": "Yours, not of the file: {names}",
        "import.hf.class_defaults": "Left out of the file, so taken as the class has them: {names}",
        "import.hf.unread": "Not understood, and left aside: {names}",
        "import.hf.hash_layers": "The first {count} layers route by tables from token to experts, which are "
        "not counted: {low} in all, or {high} where a serving engine keeps wide numbers",
        "import.hf.hash_layers:one": "The first layer routes by a table from token to experts, which is not "
        "counted: {low}, or {high} where a serving engine keeps wide numbers",
        "import.hf.replaced_blocks": "{count} blocks are replaced by one matrix each; they were read as they "
        "were before",
        "import.hf.replaced_blocks:one": "One block is replaced by one matrix; it was read as it was before",
        # What is stored
        "import.hf.float32": "The checkpoint stores 32 bits; serving engines load it in 16",
        "import.hf.unknown_quantisation": "The number format {name} is not known, so what the checkpoint "
        "stores is left open",
        "import.hf.mixed_rest": "Beside the routed experts some matrices are stored in another format; all "
        "of them are counted as {name}",
        # Whether it adds up
        "import.hf.same_count": "{count} parameters, as many as the checkpoint holds",
        "import.hf.more_stored": "{count} parameters; the checkpoint holds {found}, with parts that are left "
        "out here",
        "import.hf.other_count": "{count} parameters, but the checkpoint holds {found}: {difference} apart, "
        "so check the dimensions",
        # What is left out
        "import.hf.other_senses": "The encoders of images or sound: this is the text model",
        "import.hf.draft_layers": "{count} layers that draft further tokens",
        "import.hf.draft_layers:one": "One layer that drafts further tokens",
        "import.hf.head_bias": "The bias of the LM head, {count} numbers",
    }
)

CONFIG_COUNTED: Final = MappingProxyType(
    {
        "import.hf.hash_layers": "count",
        "import.hf.replaced_blocks": "count",
        "import.hf.draft_layers": "count",
    }
)

#: What the fields of a configuration mean, by their names.
CONFIG_WORDS: Final = MappingProxyType(
    {
        "hidden_size": "How wide a token is between the layers",
        "num_hidden_layers": "How many layers there are",
        "vocab_size": "How many tokens the vocabulary has",
        "num_attention_heads": "How many query heads a layer has",
        "num_key_value_heads": "How many key and value heads a layer has",
        "head_dim": "How wide a head is",
        "intermediate_size": "How wide the feed-forward block is",
        "moe_intermediate_size": "How wide an expert is",
        "num_experts": "How many experts a layer has",
        "num_experts_per_tok": "How many experts a token takes",
        "tie_word_embeddings": "Whether the LM head is the embedding table",
        "attention_bias": "Whether the projections of attention have biases",
        "qk_norm": "Whether queries and keys are normalised: in no way, a head at a time, or all heads "
        "together",
        "gated_mlp": "Whether the feed-forward block has a gate, that is three matrices instead of two",
        "other_size": "A size that this architecture has",
    }
)
