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
from tests.unit.catalog.importing.configs import ROOT, TODAY, model

CLASSES: dict[str, dict[str, Any]] = json.loads(
    (ROOT / "tests" / "data" / "hf_class_defaults.json").read_text(encoding="utf-8")
)


def _read(name: str) -> Model:
    raw = json.dumps(CLASSES[name]["config"]).encode()
    return model(propose_model(raw, {}, name=name, today=TODAY))


def test_decoders_have_as_many_parameters_as_their_classes(subtests: pytest.Subtests) -> None:
    assert len(CLASSES) >= 133
    for name, stated in CLASSES.items():
        with subtests.test(name=name):
            found = _read(name)
            assert count_parameters(found) == stated["parameters"]
            assert found.generic_architecture is None


def test_layers_have_windows_as_they_are_listed(subtests: pytest.Subtests) -> None:
    listed = {name: _find_text(stated["config"]) for name, stated in CLASSES.items()}
    windowed = {name: f["layer_types"].count("sliding_attention") for name, f in listed.items() if "layer_types" in f}
    assert sum(count > 0 for count in windowed.values()) >= 20
    for name, count in windowed.items():
        with subtests.test(name=name):
            found = sum(
                group.count
                for group in _read(name).layers
                if isinstance(group.mixer, Attention) and group.mixer.window is not None
                if group.mixer.window_kind == "sliding"
            )
            assert found == count


#: As far as serving engines read them; xAI states 314 and 270 thousand million parameters.
_GROK = {
    "hidden_size": 6144,
    "intermediate_size": 32768,
    "num_hidden_layers": 64,
    "num_attention_heads": 48,
    "num_key_value_heads": 8,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 131072,
    "architectures": ["Grok1ForCausalLM"],
}
_GROK_2 = _GROK | {
    "hidden_size": 8192,
    "num_attention_heads": 64,
    "head_dim": 128,
    "moe_intermediate_size": 16384,
    "residual_moe": True,
}


@pytest.mark.parametrize(("config", "billions"), [(_GROK, 314), (_GROK_2, 270)])
def test_grok_has_the_parameters_that_its_publisher_states(config: dict[str, Any], billions: int) -> None:
    found = model(propose_model(json.dumps(config).encode(), {}, name="grok", today=TODAY))
    assert count_parameters(found) / 1e9 == pytest.approx(billions, rel=0.01)


def _find_text(config: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = config.get("text_config", config)
    return inner
