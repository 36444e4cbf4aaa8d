"""Models from published configurations: equal to the shipped ones, as large as their classes build them."""

import json
from dataclasses import replace
from typing import Any

import pytest

from gpudesk.catalog.importing.huggingface.reader import propose_model
from gpudesk.domain.claim import Source, SourceKind
from gpudesk.domain.estimate import ParallelPlan
from gpudesk.domain.model import MLA, Attention, Compressed, GatedDeltaNet, KimiDelta, Lightning, Mamba2
from gpudesk.domain.precision import Precision
from gpudesk.domain.user_facts import UserClaim, UserModel
from gpudesk.engine.memory import compute_cache_profile
from gpudesk.engine.tensors import count_parameters
from gpudesk.text.messages import InputError, format_message
from tests.unit.catalog.importing.configs import (
    NAMES,
    SHIPPED,
    TODAY,
    count_layers,
    import_model,
    parse_proposed_model,
    propose,
    read_config,
    read_shipped_model,
)

#: Parameters of the text model as the published classes build it, counted there tensor by tensor.
PARAMETERS = {
    "baichuan2-13b": 13_896_668_160,
    "hunyuan-a13b": 80_393_183_232,
    "mistral-small-3.1-24b": 23_572_403_200,
    "command-r-plus": 103_810_674_688,
    "deepseek-r1": 671_026_419_200,
    "deepseek-v2": 235_741_434_880,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3.2": 671_877_944_064,
    "deepseek-v4-flash": 284_332_240_471,
    "dots.llm1": 142_774_381_696,
    "ernie-4.5-21b-a3b": 21_825_437_888,
    "falcon-7b": 6_921_720_704,
    "falcon-180b": 178_557_088_768,
    "gemma-2-27b": 27_227_128_320,
    "gemma-3-4b": 3_880_263_168,
    "gemma-3n-e2b": 4_435_182_688,
    "gemma-3n-e4b": 6_835_235_568,
    "gemma-4-e2b": 4_628_569_344,
    "gemma-4-e4b": 7_463_013_376,
    "gemma-4-26b-a4b": 25_233_141_760,
    "gemma-4-31b-nvfp4": 30_697_345_280,
    "glm-4-9b": 9_399_951_360,
    "glm-4.5": 352_797_829_024,
    "glm-5.2": 743_377_019_904,
    "gpt-oss-120b": 116_829_156_672,
    "granite-3.1-8b": 8_170_848_256,
    "granite-4.0-h-tiny": 6_939_037_248,
    "jamba-v0.1": 51_570_323_328,
    "kimi-k2": 1_026_408_232_448,
    "kimi-linear-48b-a3b": 49_122_681_728,
    # Added up by hand: vllm and PrimeRL have a gate per head if `gating` is "per-head".
    "laguna-s-2.1-fp8": 117_561_977_600,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.2-1b": 1_235_814_400,
    "llama-4-maverick": 400_711_848_960,
    "mimo-v2-flash": 308_778_780_864,
    "minimax-m1": 456_089_655_296,
    "minimax-m2.5": 228_689_764_864,
    "mistral-large-2-123b": 122_610_069_504,
    "mixtral-8x7b": 46_702_792_704,
    "nemotron-3-super-120b-a12b-fp8": 120_668_707_840,
    "nemotron-h-56b": 56_324_350_464,
    "olmo-2-7b": 7_298_617_344,
    "phi-3.5-moe": 41_873_153_344,
    "qwen2-57b-a14b": 57_408_658_944,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-235b-a22b": 235_093_634_560,
    "qwen3-next-80b-a3b": 79_674_391_296,
    "qwen3-vl-2b": 1_720_574_976,
    "qwen3.5-27b": 26_895_998_464,
    "qwen3.5-122b-a10b": 122_111_526_912,
    "seed-oss-36b": 36_151_104_512,
    "smollm3-3b": 3_075_098_624,
    "starcoder2-15b": 15_957_889_024,
    "yi-34b": 34_388_917_248,
}

#: What the shipped catalog has no source for, though the configuration says it.
_NOT_SHIPPED = {"command-a-111b": "native_precision"}
_SAME = [name for name in NAMES if (SHIPPED / f"{name}.toml").exists()]


def test_most_configurations_have_a_shipped_model_to_be_held_against() -> None:
    assert len(_SAME) >= 50
    assert PARAMETERS.keys() <= set(NAMES)


def test_import_equals_the_shipped_definition(subtests: pytest.Subtests) -> None:
    for name in _SAME:
        with subtests.test(name=name):
            model, shipped_model = import_model(name), read_shipped_model(name)
            assert count_layers(model) == count_layers(shipped_model)
            # Groups, names and notes are the file's own; what a model is lies in the rest.
            alike: dict[str, Any] = {"name": "", "organisation": "", "layers": (), "notes": (), "native_note": None}
            # Of a checkpoint in another format the catalog tells the blocks of the one in FP8.
            assert None in {model.fp8_block, shipped_model.fp8_block} or model.fp8_block == shipped_model.fp8_block
            alike["fp8_block"] = None
            if name in _NOT_SHIPPED:
                alike[_NOT_SHIPPED[name]] = None
            assert replace(model, **alike) == replace(shipped_model, **alike)


def test_parameters_are_those_that_the_class_builds(subtests: pytest.Subtests) -> None:
    for name, count in PARAMETERS.items():
        with subtests.test(name=name):
            proposal = propose(name)
            assert count_parameters(parse_proposed_model(proposal)) == count
            values = [f.value for f in proposal.facts if isinstance(f, UserClaim) and f.attribute == "total_parameters"]
            assert values == [count]


@pytest.mark.parametrize(
    ("name", "bytes_a_token"),
    [
        ("llama-3.1-8b", 32 * 2 * 8 * 128 * 2),
        ("llama-2-7b", 32 * 2 * 32 * 128 * 2),
        ("qwen2.5-7b", 28 * 2 * 4 * 128 * 2),
        ("falcon-7b", 32 * 2 * 64 * 2),
        ("glm-4-9b", 40 * 2 * 2 * 128 * 2),
        ("deepseek-r1", 61 * (512 + 64) * 2),
        ("kimi-linear-48b-a3b", 7 * (512 + 64) * 2),
        ("qwen3-next-80b-a3b", 12 * 2 * 2 * 256 * 2),
        ("nemotron-super-49b", 49 * 2 * 8 * 128 * 2),
        ("jamba-v0.1", 4 * 2 * 8 * 128 * 2),
        ("minimax-m1", 10 * 2 * 8 * 128 * 2),
        ("mimo-v2-flash", 9 * 4 * (192 + 128) * 2),
    ],
)
def test_kv_cache_grows_by_the_bytes_that_the_layers_add_up_to(name: str, bytes_a_token: int) -> None:
    profile = compute_cache_profile(import_model(name), Precision.FP16, ParallelPlan())
    grown = sum(growth.per_token for growth in profile.stored if growth.window is None)
    assert grown == bytes_a_token


def test_every_dimension_comes_from_the_file() -> None:
    proposal = propose("qwen3-8b")
    source, own, *claims = proposal.facts
    assert isinstance(source, Source)
    assert (source.title, source.kind) == ("qwen3-8b, config.json", SourceKind.CONFIG_COPY)
    assert source.id.startswith("own-")
    assert isinstance(own, UserModel)
    assert own.id == "qwen3-8b"
    assert {claim.source for claim in claims if isinstance(claim, UserClaim)} == {source.id}
    values = {claim.attribute: claim.value for claim in claims if isinstance(claim, UserClaim)}
    assert values["mixers.attention.kv_heads"] == 8
    assert values["max_context"] == 40960


@pytest.mark.parametrize(
    ("file_name", "name", "organisation", "identity"),
    [
        ("Qwen/Qwen3-8B", "Qwen3-8B", "Qwen", "qwen3-8b"),
        ("models--Qwen--Qwen3-8B", "Qwen3-8B", "Qwen", "qwen3-8b"),
        ("/home/me/models/My Model_v1.0/", "My Model_v1.0", "unknown", "my-model-v1.0"),
        ("…", "…", "unknown", "file"),
        ("\x00\u202eabc\n", "abc", "unknown", "abc"),
        ("", "model", "unknown", "model"),
    ],
)
def test_names_come_from_the_folder(file_name: str, name: str, organisation: str, identity: str) -> None:
    raw = json.dumps(read_config("qwen3-8b")).encode()
    proposal = propose_model(raw, {}, name=file_name, today=TODAY)
    (own,) = (fact for fact in proposal.facts if isinstance(fact, UserModel))
    assert (own.name, own.organisation, own.id) == (name, organisation, identity)
    assert proposal.name == name


def test_omitted_components_are_reported() -> None:
    messages = {name: [format_message(each) for each in propose(name).left_out] for name in NAMES}
    assert "Image or audio encoders are excluded: this is the text model" in messages["qwen3.5-27b"]
    assert "One layer for draft tokens" in messages["deepseek-r1"]
    assert "3 layers for draft tokens" in messages["step-3.7-flash"]
    assert messages["llama-3.1-8b"] == []


def test_routing_tables_are_reported_with_their_size() -> None:
    # 129,280 tokens of six experts each in three layers, four or eight bytes a number.
    (note,) = [format_message(each) for each in propose("deepseek-v4-flash").notes]
    assert note.startswith("The first 3 layers route tokens to experts with tables, which are not counted")
    assert (129_280 * 6 * 3 * 4, 129_280 * 6 * 3 * 8) == (9_308_160, 18_616_320)
    assert "8.88 MiB in total, or 17.8 MiB" in note
    (one,) = [format_message(each) for each in propose("deepseek-v4-flash", num_hash_layers=1).notes]
    assert "The first layer routes tokens to experts with a table, which is not counted: 2.96 MiB, or 5.92 MiB" in one


def test_missing_sizes_use_class_defaults_and_are_reported() -> None:
    proposal = propose("gemma-3-4b")
    (note,) = [format_message(each) for each in proposal.notes]
    assert note.startswith("Not in the file, class defaults used: ")
    for message in ("text_config.num_attention_heads 8", "text_config.vocab_size 262208"):
        assert message in note


@pytest.mark.parametrize(
    ("name", "global_bytes", "windowed_bytes", "read_again"),
    [
        # Of 35 layers 15 keep a cache, every fifth a global one: one head of 512 there, of 256 in windows.
        ("gemma-4-e2b", 3 * 2 * 512 * 2, 12 * 2 * 256 * 2, (4 * 2 * 512 * 2, 16 * 2 * 256 * 2)),
        # Of 42 layers 24 do, every sixth a global one: two heads.
        ("gemma-4-e4b", 4 * 4 * 512 * 2, 20 * 4 * 256 * 2, (3 * 4 * 512 * 2, 15 * 4 * 256 * 2)),
        # Of 30 layers 20 do, and of 35 as many: two heads of 256.
        ("gemma-3n-e2b", 4 * 4 * 256 * 2, 16 * 4 * 256 * 2, (2 * 4 * 256 * 2, 8 * 4 * 256 * 2)),
        ("gemma-3n-e4b", 4 * 4 * 256 * 2, 16 * 4 * 256 * 2, (3 * 4 * 256 * 2, 12 * 4 * 256 * 2)),
    ],
)
def test_layers_that_reuse_a_cache_keep_none_and_read_it(
    name: str, global_bytes: int, windowed_bytes: int, read_again: tuple[int, int]
) -> None:
    proposal = propose(name)
    profile = compute_cache_profile(parse_proposed_model(proposal), Precision.FP16, ParallelPlan())
    stored = {growth.window: growth.per_token for growth in profile.stored}
    read = {growth.window: growth.per_token for growth in profile.growths}
    assert stored == {None: global_bytes, 512: windowed_bytes}
    assert read == {None: global_bytes + read_again[0], 512: windowed_bytes + read_again[1]}
    assert [each.id for each in proposal.left_out] == ["import.hf.other_senses"]


def test_a_cache_that_no_layer_keeps_cannot_be_reused() -> None:
    table: dict[str, Any] = read_config("gemma-4-e2b")
    # Four layers before the first that reuses, none of them global.
    table["text_config"] |= {"num_kv_shared_layers": 31}
    with pytest.raises(InputError) as refused:
        propose_model(json.dumps(table).encode(), {}, name="e", today=TODAY)
    assert refused.value.where == "layers.2.reuses_cache"
    assert format_message(refused.value.problem) == ("no layer of the same shape has a cache to reuse")


def test_kinds_of_layers_are_distinguished() -> None:
    kinds = {
        "deepseek-v4-pro": Compressed,
        "qwen3.5-27b": GatedDeltaNet,
        "kimi-k3": KimiDelta,
        "minimax-m1": Lightning,
        "nemotron-h-56b": Mamba2,
        "exaone-4.0-32b": Attention,
    }
    for name, kind in kinds.items():
        assert any(isinstance(group.mixer, kind) for group in import_model(name).layers), name
    windows = [
        group.count
        for group in import_model("exaone-4.0-32b").layers
        if isinstance(group.mixer, Attention) and group.mixer.window == 4096
    ]
    assert windows == [48]


def test_listed_windows_hold_for_architectures_that_have_none_of_their_own() -> None:
    kinds = ["sliding_attention"] * 3 + ["full_attention"]
    model = import_model("llama-3.1-8b", layer_types=kinds * 8, sliding_window=2048)
    windows = {group.mixer.window: group.count for group in model.layers if isinstance(group.mixer, Attention)}
    assert windows == {2048: 24, None: 8}


#: The defaults of the class in Transformers, but for the pools of the published GLM 5.3 Flash.
_GLM_NEXT: dict[str, Any] = {
    "vocab_size": 154_880,
    "hidden_size": 4096,
    "intermediate_size": 12_288,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 45,
    "num_attention_heads": 64,
    "num_key_value_heads": 64,
    "max_position_embeddings": 2**20,
    "n_shared_experts": 1,
    "n_routed_experts": 288,
    "num_experts_per_tok": 8,
    "first_k_dense_replace": 3,
    "kv_lora_rank": 512,
    "q_lora_rank": 1536,
    "qk_nope_head_dim": 256,
    "qk_rope_head_dim": 0,
    "v_head_dim": 256,
    "index_topk": 2048,
    "index_head_dim": 128,
    "index_n_heads": 32,
    "index_kpool": 4,
    "hc_mult": 4,
}


@pytest.mark.parametrize(
    "linear",
    [
        {"linear_attn_config": {"num_heads": 64, "head_dim": 128, "short_conv_kernel_size": 4}},
        {"linear_num_heads": 64, "linear_head_dim": 128, "linear_conv_kernel_dim": 4},
    ],
)
def test_glm_5_next_is_read_without_rotary_keys(linear: dict[str, Any]) -> None:
    text = {**_GLM_NEXT, **linear, "model_type": "glm5_next_text"}
    raw = json.dumps({"model_type": "glm5_next", "text_config": text}).encode()
    model = parse_proposed_model(propose_model(raw, {}, name="g", today=TODAY, parameters_of=count_parameters))
    latent = [(group.count, group.mixer) for group in model.layers if isinstance(group.mixer, MLA)]
    assert [(count, mixer.qk_rope_head_dim, mixer.indexer and mixer.indexer.pool) for count, mixer in latent] == [
        (11, 0, 4)
    ]
    assert sum(group.count for group in model.layers if isinstance(group.mixer, KimiDelta)) == 34
    # As the class builds them, tensor by tensor; without the encoder of images and the layer that predicts tokens.
    hidden, width = 4096, 64 * 128
    delta = 4 * hidden * width + 3 * width * 4 + 2 * (hidden * 128 + 128 * width) + hidden * 64 + width + 64 + 128
    queries = hidden * 1536 + 1536 + 1536 * 64 * 256
    keys = hidden * 512 + 512 + 512 * 64 * (256 + 256)
    indexer = 1536 * 32 * 128 + hidden * (128 + 32 + 128) + 2 * 128 + 4 * 128
    attention = queries + keys + indexer + 64 * 256 * hidden
    experts = 289 * 3 * hidden * 2048 + 288 * hidden + 288
    streams = 2 * (24 * 4 * hidden + 24 + 3) + 2 * hidden
    layers = 34 * delta + 11 * attention + 42 * experts + 3 * 3 * hidden * 12_288 + 45 * streams
    assert count_parameters(model) == 2 * 154_880 * hidden + hidden + layers
    # A latent of 512 in 16 bits for each token, and for every fourth a key in FP8 with its scale.
    cache = compute_cache_profile(model, Precision.FP16, ParallelPlan())
    assert cache.sequence_bytes(8192) - cache.sequence_bytes(4096) == 4096 * 11 * (512 * 2 + (128 + 4) / 4)
