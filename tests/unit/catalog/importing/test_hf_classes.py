"""Configurations with the defaults of their classes: parameters as the classes build them, layers as they are listed.

The counts are those of Transformers 5.24 on the meta device, with the score corrections of routers, without encoders.
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
    assert len(CLASSES) >= 128
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


def _find_text(config: dict[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = config.get("text_config", config)
    return inner
