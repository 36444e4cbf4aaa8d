"""Published configurations as they lie in tests/data/hf, and the same models of the shipped catalog."""

from __future__ import annotations

import json
import struct
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

from catalog_build.records import MODEL_FILE
from gpudesk.catalog.importing.huggingface.reader import propose_model
from gpudesk.catalog.model_definition import parse_model
from gpudesk.domain.model import Ffn, Mixer, Model
from gpudesk.domain.user_facts import ImportProposal, UserModel
from gpudesk.engine.tensors import count_parameters

ROOT = Path(__file__).parents[4]
CONFIGS = ROOT / "tests" / "data" / "hf"
SHIPPED = ROOT / "data" / "models"
TODAY = "2026-12-01"
_QUANTIZATION = ".hf_quant_config"

#: Every configuration by the name of its file; those of hf_quant_config.json lie next to theirs.
NAMES = sorted(path.stem for path in CONFIGS.glob("*.json") if not path.stem.endswith(_QUANTIZATION))


def read_config(name: str) -> dict[str, Any]:
    table: dict[str, Any] = json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))
    return table


def read_quantization(name: str) -> dict[str, bytes]:
    path = CONFIGS / f"{name}{_QUANTIZATION}.json"
    return {"hf_quant_config.json": path.read_bytes()} if path.exists() else {}


def propose(name: str, **changes: object) -> ImportProposal:
    """Return the proposal of a configuration with some fields changed; None takes one away."""
    table = read_config(name) | changes
    table = {key: value for key, value in table.items() if value is not None or key not in changes}
    return propose_model(
        json.dumps(table).encode(), read_quantization(name), name=name, today=TODAY, parameters_of=count_parameters
    )


def parse_proposed_model(proposal: ImportProposal) -> Model:
    assert not proposal.missing
    (user_model,) = (fact for fact in proposal.facts if isinstance(fact, UserModel))
    return parse_model(json.loads(user_model.definition))


def import_model(name: str, **changes: object) -> Model:
    return parse_proposed_model(propose(name, **changes))


def read_shipped_model(name: str) -> Model:
    table = tomllib.loads((SHIPPED / f"{name}.toml").read_text(encoding="utf-8"))
    return parse_model(MODEL_FILE.model_validate(table).definition())


def count_layers(model: Model) -> Counter[tuple[Mixer | None, Ffn | None, int]]:
    counts: Counter[tuple[Mixer | None, Ffn | None, int]] = Counter()
    for group in model.layers:
        counts[group.mixer, group.ffn, group.norms] += group.count
    return counts


#: The tensors of a model of one layer, as a header has them: format and shape by name.
TINY_TENSORS: dict[str, tuple[str, list[int]]] = {
    "model.embed_tokens.weight": ("BF16", [1000, 64]),
    "model.layers.0.self_attn.q_proj.weight": ("BF16", [64, 64]),
    "model.layers.0.self_attn.k_proj.weight": ("BF16", [32, 64]),
    "model.layers.0.self_attn.v_proj.weight": ("BF16", [32, 64]),
    "model.layers.0.self_attn.o_proj.weight": ("BF16", [64, 64]),
    "model.layers.0.mlp.gate_proj.weight": ("BF16", [128, 64]),
    "model.layers.0.mlp.up_proj.weight": ("BF16", [128, 64]),
    "model.layers.0.mlp.down_proj.weight": ("BF16", [64, 128]),
    "model.layers.0.input_layernorm.weight": ("BF16", [64]),
    "model.layers.0.post_attention_layernorm.weight": ("BF16", [64]),
    "model.norm.weight": ("BF16", [64]),
    "lm_head.weight": ("BF16", [1000, 64]),
}


def header_of(tensors: dict[str, tuple[str, list[int]]]) -> bytes:
    """Return the beginning of a safetensors file: the length of the header, and the header."""
    table = {name: {"dtype": dtype, "shape": shape} for name, (dtype, shape) in tensors.items()}
    header = json.dumps({"__metadata__": {"format": "pt"}} | table).encode()
    return struct.pack("<Q", len(header)) + header
