"""Fields that a configuration does not state: named with what they mean, and answered by the user."""

from __future__ import annotations

import json

import pytest

from gpudesk.catalog.importing.huggingface.reader import propose_model
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.model import Attention, GatedDeltaNet, Model, MoeFfn, describe_generic_model
from gpudesk.domain.user_facts import ImportProposal, UserClaim
from gpudesk.engine.tensors import count_parameters
from gpudesk.text.messages import InputError, format_input_error, format_message
from tests.unit.catalog.importing.configs import (
    TINY_TENSORS,
    TODAY,
    count_layers,
    header_of,
    parse_proposed_model,
    propose,
    read_config,
    read_shipped_model,
)


def test_known_architecture_names_missing_fields() -> None:
    proposal = propose("llama-3.1-8b", hidden_size=None, num_attention_heads=None, head_dim=None)
    assert proposal.facts == ()
    assert [(field.name, field.kind) for field in proposal.missing] == [
        ("num_attention_heads", "whole"),
        ("hidden_size", "whole"),
    ]
    assert format_message(proposal.missing[1].why) == ("Width of a token between layers; not in the file")


def test_answers_complete_a_configuration_with_missing_fields() -> None:
    raw = json.dumps(
        {key: value for key, value in read_config("llama-3.1-8b").items() if key != "num_attention_heads"}
    ).encode()
    proposal = propose_model(raw, {}, {"num_attention_heads": 32}, name="llama-3.1-8b", today=TODAY)
    assert count_layers(parse_proposed_model(proposal)) == count_layers(read_shipped_model("llama-3.1-8b"))
    assert "Entered by you: num_attention_heads" in map(format_message, proposal.notes)


def test_a_field_inside_a_table_is_named_and_answered_by_its_path() -> None:
    table = read_config("qwen3-vl-2b")
    table["text_config"].pop("num_hidden_layers")
    raw = json.dumps(table).encode()
    (field,) = propose_model(raw, {}, name="x", today=TODAY).missing
    assert field.name == "text_config.num_hidden_layers"
    proposal = propose_model(raw, {}, {field.name: 28}, name="x", today=TODAY)
    assert count_parameters(parse_proposed_model(proposal)) == 1_720_574_976


UNKNOWN = {
    "model_type": "newarch",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "mamba_ratio": 3,
}


def test_unknown_architecture_requests_fields_that_differ_from_llama() -> None:
    proposal = propose_model(json.dumps(UNKNOWN).encode(), {}, name="new", today=TODAY)
    assert {field.name: field.choices for field in proposal.missing} == {
        "qk_norm": ("none", "head", "full"),
        "attention_bias": (),
        "gated_mlp": (),
        "tie_word_embeddings": (),
    }
    messages = [format_message(note) for note in proposal.notes]
    assert messages[0].startswith("Unknown architecture newarch, read like Llama")
    assert "Unknown fields, ignored: mamba_ratio" in messages
    answers = {"qk_norm": "none", "attention_bias": False, "gated_mlp": True, "tie_word_embeddings": False}
    with_answers = propose_model(json.dumps(UNKNOWN).encode(), {}, answers, name="new", today=TODAY)
    assert count_layers(parse_proposed_model(with_answers)) == count_layers(read_shipped_model("llama-3.1-8b"))


def test_names_of_tensors_answer_for_an_unknown_architecture() -> None:
    raw = json.dumps(UNKNOWN | {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2}).encode()
    files = {"model.safetensors": header_of(TINY_TENSORS)}
    proposal = propose_model(raw, files, name="new", today=TODAY)
    assert not proposal.missing
    assert not parse_proposed_model(proposal).tied_embeddings


def test_an_unknown_architecture_with_experts_and_latents_is_read_with_them() -> None:
    table = read_config("deepseek-v2-lite") | {"model_type": "newer", "architectures": ["NewerForCausalLM"]}
    answers = {"qk_norm": "none", "attention_bias": False, "gated_mlp": True, "tie_word_embeddings": False}
    proposal = propose_model(json.dumps(table).encode(), {}, answers, name="newer", today=TODAY)
    assert count_layers(parse_proposed_model(proposal)) == count_layers(read_shipped_model("deepseek-v2-lite"))


def _read_unknown(**changes: object) -> Model:
    table = {key: value for key, value in (UNKNOWN | changes).items() if value is not None}
    answers = {"qk_norm": "none", "attention_bias": False, "gated_mlp": True, "tie_word_embeddings": False}
    return parse_proposed_model(propose_model(json.dumps(table).encode(), {}, answers, name="new", today=TODAY))


def test_unknown_architecture_keeps_unread_fields() -> None:
    proposal = _read_unknown()
    assert (proposal.generic_architecture, proposal.unread_fields) == ("newarch", ("mamba_ratio",))
    description = describe_generic_model(proposal)
    assert description is not None
    assert "newarch" in format_message(description)
    assert "mamba_ratio" in format_message(description)
    llama = parse_proposed_model(propose("llama-3.1-8b"))
    assert (llama.generic_architecture, llama.unread_fields) == (None, ())


@pytest.mark.parametrize(
    "changes",
    [
        {"layer_types": ["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"] * 8},
        {"sliding_window_pattern": 4},
        {"sliding_window_pattern": "LLLG"},
    ],
)
def test_an_unknown_architecture_has_the_windows_that_its_file_states(changes: dict[str, object]) -> None:
    proposal = _read_unknown(sliding_window=1024, mamba_ratio=None, **changes)
    windows = [
        group.mixer.window
        for group in proposal.layers
        for _ in range(group.count)
        if isinstance(group.mixer, Attention)
    ]
    assert (windows.count(1024), windows.count(None)) == (24, 8)
    assert proposal.unread_fields == ()


def test_synonyms_of_read_fields_are_not_reported_as_unread() -> None:
    proposal = _read_unknown(
        mamba_ratio=None, sliding_window=1024, sliding_window_size=1024, sliding_window_pattern=4, attn_scale=2
    )
    assert proposal.unread_fields == ()


def test_window_without_named_layers_is_ignored_and_reported() -> None:
    proposal = _read_unknown(sliding_window=1024, mamba_ratio=None)
    assert {group.mixer.window for group in proposal.layers if isinstance(group.mixer, Attention)} == {None}
    assert proposal.unread_fields == ("sliding_window",)


def test_an_unknown_architecture_has_the_heads_and_blocks_that_its_file_lists_by_layer() -> None:
    proposal = _read_unknown(
        mamba_ratio=None,
        num_key_value_heads=[8] * 16 + [2] * 16,
        mlp_layer_types=["dense"] * 2 + ["sparse"] * 30,
        num_experts=16,
        num_experts_per_tok=2,
        moe_intermediate_size=512,
    )
    heads = {group.mixer.kv_heads: 0 for group in proposal.layers if isinstance(group.mixer, Attention)}
    assert heads.keys() == {8, 2}
    sparse = sum(group.count for group in proposal.layers if isinstance(group.ffn, MoeFfn))
    assert (sparse, proposal.layer_count) == (30, 32)
    assert proposal.unread_fields == ()


def test_layers_of_a_kind_that_cannot_be_computed_are_reported() -> None:
    proposal = _read_unknown(mamba_ratio=None, layer_types=["conv", "full_attention"] * 16)
    assert proposal.unread_fields == ("layer_types",)


def test_delta_nets_of_an_unknown_architecture_keep_a_state_and_no_cache() -> None:
    proposal = _read_unknown(
        mamba_ratio=None,
        layer_types=["linear_attention", "full_attention"] * 16,
        linear_num_key_heads=16,
        linear_num_value_heads=32,
        linear_key_head_dim=128,
        linear_value_head_dim=128,
        linear_conv_kernel_dim=4,
    )
    assert sum(group.count for group in proposal.layers if isinstance(group.mixer, GatedDeltaNet)) == 16
    assert proposal.unread_fields == ()


def test_layers_of_an_unknown_architecture_keep_a_cache_unless_a_field_says_otherwise() -> None:
    sizes = {"mamba_n_heads": 64, "mamba_d_state": 128, "mamba_ratio": None}
    proposal = _read_unknown(**sizes)
    assert all(isinstance(group.mixer, Attention) for group in proposal.layers)
    assert proposal.unread_fields == ("mamba_n_heads", "mamba_d_state")
    with_indices = _read_unknown(**sizes, attn_layer_indices=[3, 7])
    assert sum(group.count for group in with_indices.layers if isinstance(group.mixer, Attention)) == 2
    assert with_indices.unread_fields == ()
    every_fourth = _read_unknown(**sizes, full_attention_interval=4)
    assert sum(group.count for group in every_fourth.layers if isinstance(group.mixer, Attention)) == 8


def test_values_that_the_user_typed_have_the_user_as_their_source() -> None:
    raw = json.dumps(UNKNOWN)
    answers = {"qk_norm": "head", "attention_bias": True, "gated_mlp": True, "tie_word_embeddings": True}
    facts = propose_model(raw.encode(), {}, answers, name="new", today=TODAY, parameters_of=count_parameters).facts
    file, yours = (fact for fact in facts if isinstance(fact, Source))
    assert (file.kind, yours.kind) == (SourceKind.CONFIG_COPY, SourceKind.USER)
    claims = {fact.attribute: (fact.source, fact.kind) for fact in facts if isinstance(fact, UserClaim)}
    for name in ("tied_embeddings", "total_parameters", "mixers.attention.qk_norm", "mixers.attention.qkv_bias"):
        assert claims[name] == (yours.id, SourceKind.USER)
    for name in ("hidden_size", "mixers.attention.heads", "mixers.attention.kv_heads"):
        assert claims[name] == (file.id, SourceKind.CONFIG_COPY)


def test_a_proposal_without_answers_has_the_file_as_its_only_source() -> None:
    assert sum(isinstance(fact, Source) for fact in propose("llama-3.1-8b").facts) == 1


def _read_with_total(**metadata: int) -> ImportProposal:
    layer = "model.layers.0"
    names = (
        f"{layer}.self_attn.q_norm.weight",
        f"{layer}.mlp.gate_proj.weight",
        "model.embed_tokens.weight",
        "lm_head.weight",
    )
    index = {"metadata": metadata, "weight_map": dict.fromkeys(names, "model-1.safetensors")}
    files = {"model.safetensors.index.json": json.dumps(index).encode()}
    raw = json.dumps(UNKNOWN | {"torch_dtype": "bfloat16"}).encode()
    return propose_model(raw, files, name="new", today=TODAY, parameters_of=count_parameters)


@pytest.mark.parametrize("metadata", [{"total_parameters": 8_030_269_440}, {"total_size": 2 * 8_030_269_440}])
def test_parameter_count_of_an_index_fills_missing_fields(metadata: dict[str, int]) -> None:
    proposal = _read_with_total(**metadata)
    assert not proposal.missing
    (mixer,) = {group.mixer for group in parse_proposed_model(proposal).layers}
    assert isinstance(mixer, Attention)
    assert (mixer.qk_norm, mixer.qkv_bias) == ("head", False)
    assert any("qk_norm head" in format_message(note) for note in proposal.notes)


def test_count_outside_all_readings_completes_no_memory() -> None:
    assert _read_with_total(total_parameters=8_030_269_441).missing


def test_parameters_of_an_index_match_the_publisher() -> None:
    names = ("model.embed_tokens.weight", "model.layers.0.mlp.up_proj.weight", "lm_head.weight")
    index = {"metadata": {"total_parameters": 8_030_261_249}, "weight_map": dict.fromkeys(names, "a.safetensors")}
    files = {"model.safetensors.index.json": json.dumps(index).encode()}
    raw = json.dumps(read_config("llama-3.1-8b")).encode()
    facts = propose_model(raw, files, name="llama", today=TODAY, parameters_of=count_parameters).facts
    assert [fact.value for fact in facts if isinstance(fact, UserClaim) and fact.attribute == "total_parameters"] == [
        8_030_261_249
    ]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 768}, "a model with an encoder (bert)"),
        ({"model_type": "t5gemma2", "is_encoder_decoder": True, "hidden_size": 768}, "with an encoder (t5gemma2)"),
        ({"peft_type": "LORA", "r": 16, "base_model_name_or_path": "x/y"}, "an adapter (LoRA)"),
        ({"_class_name": "FluxTransformer2DModel", "num_layers": 19}, "a part of a diffusion model"),
        ({"max_position_embeddings": 4096}, "does not describe a model"),
    ],
)
def test_model_that_is_not_a_decoder_is_refused(table: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as refused:
        propose_model(json.dumps(table).encode(), {}, name="x", today=TODAY)
    assert words in format_input_error(refused.value)
