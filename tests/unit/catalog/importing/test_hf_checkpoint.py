"""What a checkpoint stores, and whether its tensors add up to the model that was read."""

from __future__ import annotations

import json
import struct

import pytest

from gpudesk.catalog.importing.huggingface.reader import propose_model
from gpudesk.domain.precision import Precision
from gpudesk.domain.user_facts import ImportProposal
from gpudesk.engine.tensors import count_parameters
from gpudesk.text.messages import InputError, format_message
from tests.unit.catalog.importing.configs import (
    TINY_TENSORS,
    TODAY,
    header_of,
    import_model,
    parse_proposed_model,
    propose,
    read_config,
    read_quantization,
)


@pytest.mark.parametrize(
    ("name", "precision", "covered", "other", "group"),
    [
        ("deepseek-r1", "fp8", "linear", "bf16", None),
        ("qwen3-235b-a22b-fp8", "fp8", "linear", "bf16", None),
        ("llama-3.1-70b-fp8", "fp8", "linear", "bf16", None),
        ("qwen3-235b-a22b-nvfp4", "nvfp4", "linear", "bf16", None),
        ("nemotron-3-nano-30b-a3b-nvfp4", "nvfp4", "linear", "bf16", None),
        ("glm-5.1-nvfp4", "nvfp4", "experts", "bf16", None),
        ("deepseek-v4-flash", "mxfp4", "experts", "fp8", None),
        ("deepseek-v4-flash-nvfp4", "nvfp4", "experts", "fp8", None),
        ("deepseek-v4-flash-nvfp4-fp8", "nvfp4", "ffn", "fp8", None),
        ("laguna-s-2.1-fp8", "fp8", "experts", "bf16", None),
        ("gpt-oss-20b", "mxfp4", "experts", "bf16", None),
        ("kimi-k2.5", "int4", "experts", "bf16", 32),
        ("kimi-k3", "mxfp4", "experts", "bf16", None),
        ("gemma-4-31b-nvfp4", "nvfp4", "ffn", "bf16", None),
        ("qwen2.5-7b-awq", "int4", "linear", "bf16", None),
        ("llama-2-7b", "fp16", "linear", "bf16", None),
        ("olmo-2-7b", "bf16", "linear", "bf16", None),
    ],
)
def test_precision_of_the_checkpoint(name: str, precision: str, covered: str, other: str, group: int | None) -> None:
    model = import_model(name)
    assert model.native_precision is not None
    assert (
        model.native_precision.value,
        model.quantised_tensors,
        model.native_other_precision.value,
        model.native_group_size,
    ) == (precision, covered, other, group)


@pytest.mark.parametrize(
    ("quantization", "precision", "group"),
    [
        ({"quant_method": "gptq", "bits": 4, "group_size": 32}, "int4", 32),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, "int8", None),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4", 64),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8", None),
        ({"quant_method": "fbgemm_fp8"}, "fp8", None),
        ({"quant_method": "modelopt", "quant_algo": "W4A16_AWQ", "group_size": 128}, "int4", None),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "int"}}},
            },
            "int8",
            None,
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "g": {"targets": ["Linear"], "weights": {"num_bits": 4, "type": "float", "group_size": 16}}
                },
            },
            "nvfp4",
            None,
        ),
        (
            {"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4", "group_size": 32}}},
            "mxfp4",
            None,
        ),
    ],
)
def test_dialects_of_number_formats(quantization: dict[str, object], precision: str, group: int | None) -> None:
    model = import_model("qwen2.5-7b", quantization_config=quantization)
    assert model.native_precision is not None
    assert (model.native_precision.value, model.native_group_size) == (precision, group)


def _quantize(*targets: str, ignore: tuple[str, ...] = ()) -> dict[str, object]:
    group = {"targets": list(targets), "weights": {"num_bits": 8, "type": "float"}}
    return {"quant_method": "compressed-tensors", "config_groups": {"g": group}, "ignore": list(ignore)}


@pytest.mark.parametrize(
    ("name", "quantization", "covered"),
    [
        ("qwen2.5-7b", _quantize("re:.*(gate|up|down)_proj$", "re:.*(q|k|v|o)_proj$"), "linear"),
        ("qwen2.5-7b", _quantize(r"re:.*mlp\.(gate|up|down)_proj.*"), "ffn"),
        ("qwen2.5-7b", _quantize("Linear", ignore=("re:.*(q|k|v|o)_proj",)), "ffn"),
        ("qwen3-235b-a22b", _quantize(r"re:.*mlp\.experts\.\d+\.(gate|up|down)_proj"), "experts"),
        ("mixtral-8x7b", _quantize(r"re:.*block_sparse_moe\.experts.*"), "experts"),
        ("kimi-k2", _quantize("Linear", ignore=(r"re:.*self_attn.*", "re:.*shared_experts.*")), "experts"),
        (
            "qwen2.5-7b",
            {
                "quant_method": "quark",
                "layer_quant_config": {"*mlp*": {"weight": {"dtype": "fp8_e4m3"}}, "*self_attn*": {"weight": None}},
            },
            "ffn",
        ),
    ],
)
def test_expressions_among_targets_are_tried_on_names_of_matrices(
    name: str, quantization: dict[str, object], covered: str
) -> None:
    changes = {"quantization_config": None} if "quantization_config" in read_config(name) else {}
    model = import_model(name, **(changes | {"quantization_config": quantization, "torch_dtype": "bfloat16"}))
    assert (model.native_precision, model.quantised_tensors) == (Precision.FP8, covered)


@pytest.mark.parametrize("target", [r"re:.*tower\.blocks.*", "re:(.+)+x", "SomeLinearOfMine"])
def test_targets_that_name_no_matrix_are_asked_about(target: str) -> None:
    table = read_config("qwen2.5-7b") | {"quantization_config": _quantize(target)}
    raw = json.dumps(table).encode()
    (field,) = propose_model(raw, {}, name="x", today=TODAY).missing
    assert (field.name, field.choices) == (
        "quantization_config.quantized_matrices",
        ("all", "feed_forward", "experts", "nothing"),
    )
    expected = {
        "all": (Precision.FP8, "linear"),
        "feed_forward": (Precision.FP8, "ffn"),
        "nothing": (Precision.BF16, "linear"),
    }
    for answer, formats in expected.items():
        model = parse_proposed_model(propose_model(raw, {}, {field.name: answer}, name="x", today=TODAY))
        assert (model.native_precision, model.quantised_tensors) == formats


@pytest.mark.parametrize(
    ("name", "quantization", "block"),
    [
        ("deepseek-r1", None, 128),
        ("qwen3-235b-a22b-fp8", None, 128),
        ("llama-3.1-70b-fp8", None, None),
        ("qwen2.5-7b", {"quant_method": "fp8", "weight_block_size": [1, 128]}, None),
        ("qwen2.5-7b", {"quant_method": "modelopt", "quant_algo": "FP8_PB_WO"}, 128),
        (
            "qwen2.5-7b",
            {
                "quant_method": "compressed-tensors",
                "config_groups": {
                    "g": {
                        "targets": ["Linear"],
                        "weights": {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]},
                    }
                },
            },
            128,
        ),
    ],
)
def test_blocks_of_fp8_scales_are_read(name: str, quantization: dict[str, object] | None, block: int | None) -> None:
    model = import_model(name) if quantization is None else import_model(name, quantization_config=quantization)
    assert (model.native_precision, model.fp8_block) == (Precision.FP8, block)


def test_unknown_format_is_left_open_and_reported() -> None:
    proposal = propose("qwen2.5-7b", quantization_config={"quant_method": "aqlm"})
    assert parse_proposed_model(proposal).native_precision is None
    assert [format_message(note) for note in proposal.notes] == [
        "The number format aqlm is unknown, so the stored format stays open"
    ]


def test_unsupported_formats_are_reported() -> None:
    (note,) = [format_message(each) for each in propose("glm-5.1-nvfp4").notes]
    assert note == "Some matrices outside the routed experts use another format; all count as bf16"


# What lies next to it


def _index(**metadata: object) -> dict[str, bytes]:
    names = ("model.embed_tokens.weight", "model.layers.0.input_layernorm.weight", "lm_head.weight")
    table = {"metadata": metadata, "weight_map": dict.fromkeys(names, "model-1.safetensors")}
    return {"model.safetensors.index.json": json.dumps(table).encode()}


def _with(files: dict[str, bytes], name: str = "llama-3.1-8b") -> ImportProposal:
    raw = json.dumps(read_config(name)).encode()
    return propose_model(raw, files, name=name, today=TODAY, parameters_of=count_parameters)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"total_size": 16_060_522_496}, "8,030,261,248 parameters, the same as the checkpoint"),
        ({"total_parameters": 8_030_261_248, "total_size": 7}, "the same as the checkpoint"),
        (
            {"total_size": 16_060_522_498},
            "parameters, but the checkpoint has 8,030,261,249: 1 apart, so check the dimensions",
        ),
    ],
)
def test_parameters_are_held_against_the_index(metadata: dict[str, object], message: str) -> None:
    (note,) = [format_message(each) for each in _with(_index(**metadata)).notes]
    assert note.endswith(message)


@pytest.mark.parametrize("size", [None, 0, -1, "16060522496", 1e400, True, [1]])
def test_empty_totals_are_ignored(size: object) -> None:
    assert _with(_index(total_size=size)).notes == ()


def test_more_than_the_text_model_in_the_checkpoint_is_no_fault() -> None:
    files = _index(total_size=17_000_000_000)
    table = json.loads(files["model.safetensors.index.json"])
    table["weight_map"]["visual.patch_embed.weight"] = "model-1.safetensors"
    files["model.safetensors.index.json"] = json.dumps(table).encode()
    (note,) = [format_message(each) for each in _with(files).notes]
    assert note == (
        "8,030,261,248 parameters; the checkpoint has 8,500,000,000, including components that are excluded here"
    )


TINY: dict[str, object] = {
    "model_type": "llama",
    "hidden_size": 64,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 1000,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}


def _tiny(header: bytes, **changes: object) -> ImportProposal:
    raw = json.dumps(TINY | changes).encode()
    return propose_model(raw, {"model.safetensors": header}, name="tiny", today=TODAY, parameters_of=count_parameters)


def test_headers_are_counted_tensor_by_tensor_without_drafts_and_encoders() -> None:
    more = {
        "model.layers.1.eh_proj.weight": ("BF16", [64, 128]),
        "visual.patch.weight": ("BF16", [64, 64]),
        "model.layers.0.self_attn.rotary_emb.inv_freq": ("F32", [8]),
    }
    (note,) = [format_message(each) for each in _tiny(header_of(TINY_TENSORS | more)).notes]
    assert note == "165,056 parameters, the same as the checkpoint"


def test_packed_matrices_count_what_they_unpack_to() -> None:
    packed = dict(TINY_TENSORS)
    for name in list(packed):
        if "_proj" in name:
            _, (rows, columns) = packed.pop(name)
            stem = name.removesuffix(".weight")
            packed |= {f"{stem}.qweight": ("I32", [rows, columns // 8]), f"{stem}.scales": ("F16", [rows, 1])}
            packed |= {f"{stem}.qzeros": ("I32", [rows, 1]), f"{stem}.g_idx": ("I32", [columns])}
    proposal = _tiny(header_of(packed), quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 128})
    (note,) = [format_message(each) for each in proposal.notes]
    assert note == "165,056 parameters, the same as the checkpoint"


def test_tensors_decide_whether_the_head_is_the_embedding() -> None:
    tied = {name: tensor for name, tensor in TINY_TENSORS.items() if not name.startswith("lm_head")}
    assert parse_proposed_model(_tiny(header_of(tied))).tied_embeddings
    assert not parse_proposed_model(_tiny(header_of(TINY_TENSORS), tie_word_embeddings=True)).tied_embeddings


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"", "ends before its header does"),
        (struct.pack("<Q", 100) + b"{}", "ends before its header does"),
        (struct.pack("<Q", 2**63) + b"{}", "ends before its header does"),
        (struct.pack("<Q", 2) + b"[]", "contains no fields"),
        (header_of({"a": ("BF16", [-1])}), "has no readable shape and format"),
        (header_of({"a": ("BF16", ["x"])}), "has no readable shape and format"),  # type: ignore[list-item]
    ],
)
def test_broken_headers_are_refused(header: bytes, message: str) -> None:
    with pytest.raises(InputError) as refused:
        _tiny(header)
    assert message in format_message(refused.value.problem)
    assert str(refused.value.where).startswith("model.safetensors")


def test_broken_companion_files_are_named() -> None:
    raw = json.dumps(read_config("llama-3.1-8b")).encode()
    for name in ("hf_quant_config.json", "model.safetensors.index.json"):
        with pytest.raises(InputError) as refused:
            propose_model(raw, {name: b"{"}, name="x", today=TODAY)
        assert refused.value.where == name
    assert read_quantization("llama-3.1-70b-fp8").keys() == {"hf_quant_config.json"}
