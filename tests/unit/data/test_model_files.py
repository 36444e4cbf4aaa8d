"""The model files: complete, consistent with themselves, and adding up to the published sizes."""

import dataclasses
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gpudesk.domain.model import FFN_KINDS, MIXER_KINDS, AttentionIndexer, Ffn, LayerGroup, Mixer, Model, MoeFfn
from gpudesk.domain.precision import Precision
from gpudesk.engine.tensors import count_active_parameters, count_parameters

DATA = Path(__file__).parents[3] / "data"
FILES = {file.stem: file for file in sorted((DATA / "models").glob("*.toml"))}
REQUIRED = {"attribute", "value", "source", "retrieved"}
OPTIONAL = {"preferred", "reason", "kind", "conditions", "note", "verdict"}
#: Claims that are not about a value of the file itself.
STATED = {"release_date", "licence", "total_parameters", "active_parameters", "architecture", "layers"}

#: Exact counts of the text models. Where a checkpoint's own total is known the number is that one.
COUNTS = {
    "gpt-j-6b": 6_050_832_384,
    "llama-2-7b": 6_738_415_616,
    "llama-2-13b": 13_015_864_320,
    "llama-2-70b": 68_976_648_192,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.1-405b": 405_853_388_800,
    "llama-3.3-70b": 70_553_706_496,
    "llama-4-scout": 107_769_861_120,
    "llama-4-maverick": 400_711_848_960,
    "mistral-7b-v0.3": 7_248_023_552,
    "mistral-7b-v0.1": 7_241_732_096,
    "mistral-nemo-12b": 12_247_782_400,
    "mistral-small-3-24b": 23_572_403_200,
    "mistral-large-2-123b": 122_610_069_504,
    "mixtral-8x7b": 46_702_792_704,
    "mixtral-8x22b": 140_620_634_112,
    "falcon-40b": 41_303_293_952,
    "falcon-180b": 178_557_088_768,
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-14b": 14_770_033_664,
    "qwen2.5-32b": 32_763_876_352,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-8b": 8_190_735_360,
    "qwen3-32b": 32_762_123_264,
    "qwen3-14b": 14_768_307_200,
    "qwen3-30b-a3b": 30_532_122_624,
    "qwen3-235b-a22b": 235_093_634_560,
    "qwen3-coder-480b-a35b": 480_154_875_392,
    "qwen3-next-80b-a3b": 79_674_391_296,
    "qwen3.5-122b-a10b": 122_111_526_912,
    "qwen3.5-35b-a3b": 34_660_610_688,
    "qwen3.5-397b-a17b": 396_346_350_336,
    "qwen3.5-27b": 26_895_998_464,
    "qwen3.6-35b-a3b": 34_660_610_688,
    "qwen3.8-2.4t-a95b": 2_419_804_697_984,
    "deepseek-v2": 235_741_434_880,
    "deepseek-v2-lite": 15_706_484_224,
    "deepseek-v3": 671_026_419_200,
    "deepseek-r1": 671_026_419_200,
    "deepseek-v3.1": 671_026_419_200,
    "deepseek-v3.2": 671_877_944_064,
    "deepseek-v4-flash": 284_332_240_471,
    "deepseek-v4-pro": 1_572_997_201_763,
    "kimi-k2": 1_026_408_232_448,
    "kimi-k2-thinking": 1_026_408_232_448,
    "kimi-k2.5": 1_026_408_232_448,
    "kimi-k3": 2_779_484_476_000,
    "glm-4.5": 352_797_829_024,
    "glm-4.5-air": 106_852_251_264,
    "glm-4.6": 352_797_829_024,
    "glm-4.7": 352_797_829_024,
    "glm-4.7-flash": 29_943_393_920,
    "glm-5": 743_911_218_432,
    "glm-5.1": 743_911_218_432,
    "glm-5.2": 743_377_019_904,
    "minimax-m1": 456_089_655_296,
    "minimax-m2": 228_689_764_864,
    "minimax-m2.5": 228_689_764_864,
    "minimax-m2.7": 228_689_764_864,
    "minimax-m3": 426_174_572_928,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "gemma-2-9b": 9_241_705_984,
    "gemma-2-27b": 27_227_128_320,
    "gemma-3-12b": 11_766_034_176,
    "gemma-3-27b": 27_009_346_304,
    "gemma-4-26b-a4b": 25_233_141_760,
    "gemma-4-31b": 30_697_345_280,
    "phi-3-mini-4k": 3_821_079_552,
    "phi-4": 14_659_507_200,
    "command-r-08-2024": 32_296_476_672,
    "command-a-111b": 111_057_580_032,
    "nemotron-super-49b": 49_867_145_216,
    "nemotron-h-56b": 56_324_350_464,
    "nemotron-3-nano-30b-a3b": 31_577_940_288,
    "nemotron-3-super-120b-a12b": 120_668_707_840,
    "nemotron-3-ultra-550b-a55b": 549_308_993_536,
    "jamba-v0.1": 51_570_323_328,
    "step-3.7-flash": 196_956_130_368,
    "mimo-v2-flash": 308_778_780_864,
    "yi-34b": 34_388_917_248,
}


@cache
def read(name: str) -> dict[str, Any]:
    """Return the parsed file of a model."""
    return tomllib.loads(FILES[name].read_text(encoding="utf-8"))


def mixer(table: dict[str, Any]) -> Mixer:
    """Build a mixer; a key that its kind does not know fails."""
    fields = {key: value for key, value in table.items() if key != "kind"}
    if "indexer" in fields:
        fields["indexer"] = AttentionIndexer(**fields["indexer"])
    return MIXER_KINDS[table["kind"]](**fields)


def ffn(table: dict[str, Any]) -> Ffn:
    """Build a feed-forward block; a key that its kind does not know fails."""
    return FFN_KINDS[table["kind"]](**{key: value for key, value in table.items() if key != "kind"})


def build(name: str) -> Model:
    """Build the model of a file; a key that the model does not know fails."""
    table = dict(read(name))
    mixers = {key: mixer(value) for key, value in table.pop("mixers", {}).items()}
    ffns = {key: ffn(value) for key, value in table.pop("ffns", {}).items()}
    layers = tuple(
        LayerGroup(
            group["count"],
            mixers[group["mixer"]] if "mixer" in group else None,
            ffns[group["ffn"]] if "ffn" in group else None,
            group["norms"],
        )
        for group in table.pop("layers", [])
    )
    for key in ("claims", "dimensions_source"):
        table.pop(key, None)
    for key in ("native_precision", "native_other_precision"):
        if key in table:
            table[key] = Precision(table[key])
    unknown = {"hidden_size": 0, "vocab_size": 0, "tied_embeddings": False}
    table = unknown | {"max_context": None, "native_precision": None} | table
    return Model(layers=layers, **table | {"notes": tuple(table.get("notes", ()))})


def test_every_model_with_dimensions_has_an_exact_count() -> None:
    names = {name for name in FILES if build(name).dimensions_known}
    assert names == set(COUNTS)
    assert set(FILES) - names == {"devstral-2-123b"}


def test_file_is_named_after_its_model_and_uses_all_it_defines(subtests: pytest.Subtests) -> None:
    for name in FILES:
        with subtests.test(name=name):
            table = read(name)
            assert table["id"] == name
            for part, reference in (("mixers", "mixer"), ("ffns", "ffn")):
                used = {group[reference] for group in table.get("layers", []) if reference in group}
                assert used == set(table.get(part, {}))
            assert all(group["count"] > 0 for group in table.get("layers", []))


def test_count_is_exact(subtests: pytest.Subtests) -> None:
    for name, count in COUNTS.items():
        with subtests.test(name=name):
            assert count_parameters(build(name)) == count


def test_every_source_is_listed(subtests: pytest.Subtests, sources: dict[str, Any]) -> None:
    for name in FILES:
        with subtests.test(name=name):
            table = read(name)
            named = {claim["source"] for claim in table["claims"]} if "claims" in table else set()
            if table.get("layers"):
                named.add(table["dimensions_source"])
            assert named
            assert named <= sources.keys()


def test_rival_claims_show_why_they_are_not_preferred(subtests: pytest.Subtests) -> None:
    for name in FILES:
        with subtests.test(name=name):
            preferred: set[str] = set()
            for claim in read(name).get("claims", []):
                assert REQUIRED <= set(claim) <= REQUIRED | OPTIONAL
                if claim.get("preferred", False):
                    assert claim["attribute"] not in preferred
                    assert "verdict" not in claim
                    preferred.add(claim["attribute"])
                else:
                    assert claim["verdict"]


def test_preferred_claims_are_what_the_file_says(subtests: pytest.Subtests) -> None:
    for name in FILES:
        with subtests.test(name=name):
            table = read(name)
            for claim in table.get("claims", []):
                if claim["attribute"] in STATED or not claim.get("preferred", False):
                    continue
                if claim["attribute"] == "layers.norms":
                    assert {group["norms"] for group in table["layers"]} == {claim["value"]}
                    continue
                value: Any = table
                for step in claim["attribute"].split("."):
                    value = value[step]
                assert value == claim["value"], claim["attribute"]


def test_stated_sizes_are_near_the_counts(subtests: pytest.Subtests) -> None:
    for name in COUNTS:
        with subtests.test(name=name):
            # Names round, and some totals include a vision encoder or layers for multi-token prediction.
            built = build(name)
            counts = {"total_parameters": count_parameters(built), "active_parameters": count_active_parameters(built)}
            for claim in read(name).get("claims", []):
                if claim["attribute"] in counts and claim.get("preferred", False):
                    error = counts[claim["attribute"]] / claim["value"] - 1
                    allowed = 0.06 if claim["attribute"] == "total_parameters" else 0.25
                    assert abs(error) < allowed, (claim["attribute"], error)


def test_checkpoint_of_kimi_k3_has_the_published_number_of_bytes() -> None:
    # 1,560,936,091,448 bytes in all: experts at 4.25 bits, the rest at 16, and about 1 GB of vision encoder.
    built = build("kimi-k3")
    experts = 92 * 896 * 3 * 3584 * 3072
    text_bytes = experts * 17 // 32 + 2 * (count_parameters(built) - experts)
    assert 0 < 1_560_936_091_448 - text_bytes < 1_100_000_000


@pytest.mark.parametrize(("name", "packed"), [("deepseek-v4-flash", 158.1e9), ("deepseek-v4-pro", 861.6e9)])
def test_packed_counts_of_deepseek_v4_are_explained(name: str, packed: float) -> None:
    # The hub counts two four-bit weights as one and each scale of 32 as another; the layer for multi-token
    # prediction is like one of the others.
    built = build(name)
    moe = next(group.ffn for group in built.layers if isinstance(group.ffn, MoeFfn))
    experts = 3 * moe.experts * moe.intermediate_size * built.hidden_size
    layers = built.layer_count + 1
    rest = (count_parameters(built) - built.layer_count * experts) * layers / built.layer_count
    outer = 2 * built.hidden_size * built.vocab_size / built.layer_count
    assert layers * experts * (1 / 2 + 1 / 32) + rest - outer == pytest.approx(packed, rel=0.002)


def test_every_mixer_and_block_is_hashable() -> None:
    # Memory and time are cached by model.
    for name in FILES:
        built = build(name)
        assert hash(built) == hash(dataclasses.replace(built))
