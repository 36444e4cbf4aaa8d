"""Configurations with the defaults of their classes: parameters as the classes build them, layers as they are listed.

The counts are those of Transformers 5.24 on the meta device, with the score corrections of routers, without encoders
and without what the class of LongCat Flash keeps for experts that compute nothing.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpudesk.catalog.importing.huggingface.reader import propose_model
from gpudesk.domain.model import Attention, Model
from gpudesk.engine.tensors import count_parameters
from tests.unit.catalog.importing.configs import ROOT, TODAY, parse_proposed_model

CLASSES: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "tests" / "data" / "hf_class_defaults.json").read_text(encoding="utf-8")
)


def _size(hidden: int, layers: int, tokens: int) -> dict[str, Any]:
    return {"hidden_size": hidden, "num_hidden_layers": layers, "vocab_size": tokens}


def _read(name: str) -> Model:
    raw = json.dumps(CLASSES[name]["config"]).encode()
    return parse_proposed_model(propose_model(raw, {}, name=name, today=TODAY))


def test_decoders_have_as_many_parameters_as_their_classes(subtests: pytest.Subtests) -> None:
    assert len(CLASSES) >= 133
    for name, expected in CLASSES.items():
        with subtests.test(name=name):
            model = _read(name)
            assert count_parameters(model) == expected["parameters"]
            assert model.generic_architecture is None


def test_layers_have_windows_as_they_are_listed(subtests: pytest.Subtests) -> None:
    listed = {name: _find_text(expected["config"]) for name, expected in CLASSES.items()}
    windowed = {name: f["layer_types"].count("sliding_attention") for name, f in listed.items() if "layer_types" in f}
    assert sum(count > 0 for count in windowed.values()) >= 20
    for name, count in windowed.items():
        with subtests.test(name=name):
            windowed_layers = sum(
                group.count
                for group in _read(name).layers
                if isinstance(group.mixer, Attention) and group.mixer.window is not None
                if group.mixer.window_kind == "sliding"
            )
            assert windowed_layers == count


_GROK = {"num_key_value_heads": 8, "num_experts_per_tok": 2, "intermediate_size": 32768}
#: Published dimensions of models whose classes lie outside Transformers, with the parameters in thousand million that
#: their publishers state.
_PUBLISHED: list[tuple[str, dict[str, Any], float]] = [
    ("grok-1", _GROK | {"num_attention_heads": 48, "num_experts": 8} | _size(6144, 64, 131072), 314),
    (
        "grok-1",
        _GROK
        | {"num_attention_heads": 64, "moe_intermediate_size": 16384, "residual_moe": True, "num_local_experts": 8}
        | _size(8192, 64, 131072),
        270,
    ),
    (
        "dbrx",
        {
            "d_model": 6144,
            "n_heads": 48,
            "n_layers": 40,
            "vocab_size": 100352,
            "attn_config": {"kv_n_heads": 8},
            "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
            "tie_word_embeddings": False,
        },
        131.6,
    ),
    (
        "qwen",
        {"num_attention_heads": 32, "num_key_value_heads": 32, "kv_channels": 128, "intermediate_size": 22016}
        | _size(4096, 32, 151936),
        7.721,
    ),
    (
        "deepseek",
        {
            "num_attention_heads": 16,
            "num_key_value_heads": 16,
            "intermediate_size": 10944,
            "moe_intermediate_size": 1408,
            "n_routed_experts": 64,
            "n_shared_experts": 2,
            "num_experts_per_tok": 6,
            "first_k_dense_replace": 1,
        }
        | _size(2048, 28, 102400),
        16.4,
    ),
    (
        "bailing_moe_v2",
        {
            "num_attention_heads": 64,
            "num_key_value_heads": 8,
            "head_dim": 128,
            "intermediate_size": 18432,
            "moe_intermediate_size": 2048,
            "moe_shared_expert_intermediate_size": 2048,
            "num_experts": 256,
            "num_shared_experts": 1,
            "num_experts_per_tok": 8,
            "first_k_dense_replace": 4,
        }
        | _size(8192, 80, 157184),
        1000,
    ),
]


@pytest.mark.parametrize(("name", "config", "billions"), _PUBLISHED)
def test_models_have_the_parameters_that_their_publishers_state(
    name: str, config: dict[str, Any], billions: float
) -> None:
    raw = json.dumps(config | {"model_type": name}).encode()
    model = parse_proposed_model(propose_model(raw, {}, name=name, today=TODAY))
    assert count_parameters(model) / 1e9 == pytest.approx(billions, rel=0.01)


def _find_text(config: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = config.get("text_config", config)
    return inner
