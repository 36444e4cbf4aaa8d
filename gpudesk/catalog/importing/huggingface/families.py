"""Families of decoders by `model_type`, and readers of those with a number that depends on a field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, Final

from gpudesk import paths
from gpudesk.catalog.importing.fields import ConfigFields
from gpudesk.catalog.importing.huggingface.decoder import DecoderFamily
from gpudesk.catalog.importing.huggingface.linear import read_mamba1, read_pure_mamba2
from gpudesk.catalog.importing.huggingface.structure import (
    LayerPart,
    ModelStructure,
    StructureReader,
    read_layer_count,
    repeat_layer,
)
from gpudesk.files import read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.input_records import parse_record


@frozen_dataclass
class Architectures:
    """The content of data/model_architectures/huggingface.toml, where its parts are described."""

    bases: dict[str, DecoderFamily]
    families: dict[str, DecoderFamily]
    aliases: dict[str, str]
    classes: dict[str, str]
    defaults: dict[str, dict[str, int]]
    older_defaults: dict[str, dict[str, int]]


@cache
def read_architectures() -> Architectures:
    """Return the known architectures, each family with the fields of the base that it differs from."""
    path = paths.get_data_path("model_architectures/huggingface.toml")
    document = read_toml(path)
    bases: dict[str, dict[str, Any]] = {}
    for name, fields in document["bases"].items():
        bases[name] = bases.get(fields.pop("like", ""), {}) | fields
    families = {name: bases.get(fields.pop("like", ""), {}) | fields for name, fields in document["families"].items()}
    return parse_record(Architectures, {**document, "bases": bases, "families": families}, f"{path}:")


def _find_base(name: str) -> DecoderFamily:
    return read_architectures().bases[name]


def _read_stablelm(f: ConfigFields) -> ModelStructure:
    norms = 2 if f.yes("use_parallel_residual", default=False) else 4
    return DecoderFamily(qkv_bias=("use_qkv_bias", False), output_bias=False, norms=norms, final_norms=2).read(f)


def _read_hyperclovax(f: ConfigFields) -> ModelStructure:
    return replace(_find_base("llama"), norms=4 if f.yes("use_post_norm", default=False) else 2).read(f)


def _read_gpt_bigcode(f: ConfigFields) -> ModelStructure:
    return replace(_find_base("gpt2"), kv_heads=1 if f.yes("multi_query", default=True) else None).read(f)


def _read_step(f: ConfigFields) -> ModelStructure:
    """Step 3.5 and 3.7: window heads in a separate table, and the layers with experts as a text."""
    other = f.table("attention_other_setting") or ConfigFields({}, parent=f)
    values: dict[str, object] = {
        "num_key_value_heads": f.find_whole("num_key_value_heads", "num_attention_groups"),
        "swa_num_attention_heads": f.find_whole("num_sliding_attention_heads")
        or other.find_whole("num_attention_heads"),
        "swa_num_key_value_heads": other.find_whole("num_attention_groups"),
        "swa_head_dim": other.find_whole("head_dim"),
    }
    if not f.has("layer_types"):
        values["sliding_window"] = 0
    listed = f.word("moe_layers_enum")
    if listed:
        values["moe_layers"] = [int(part) for part in listed.split(",") if part.strip().isdecimal() and len(part) < 8]
    return _find_base("step").read(f.with_values(values))


def _read_dbrx(f: ConfigFields) -> ModelStructure:
    """DBRX, with heads and experts in separate tables."""
    tables = [f.table(name) for name in ("attn_config", "ffn_config")]
    values = {name: table.raw(name) for table in tables if table is not None for name in table.names()}
    fields = f.with_values({**values, "num_key_value_heads": values.get("kv_n_heads")})
    return DecoderFamily(qkv_bias=False, output_bias=False, experts=True).read(fields)


def _read_grok(f: ConfigFields) -> ModelStructure:
    """Grok 1, and Grok 2, which has a full block parallel to the experts and a separate LM head."""
    return DecoderFamily(experts=True, norms=4, tied=not f.yes("residual_moe", default=False)).read(f)


def _read_minimax_m2(f: ConfigFields) -> ModelStructure:
    return replace(_find_base("minimax_m2"), qk_norm=read_minimax_norm(f, "per_layer")).read(f)


def _repeat_mixer(mixer: Callable[[ConfigFields], LayerPart], *, tied: bool) -> StructureReader:
    """Return the reader of an architecture whose layers are one mixer behind one norm."""
    return lambda f: ModelStructure(repeat_layer(mixer(f), None, read_layer_count(f), 1), tied=tied)


#: By `model_type`: families with a number that depends on a field, and those without any block.
VARIANTS: Final[Mapping[str, StructureReader]] = {
    "stablelm": _read_stablelm,
    "hyperclovax": _read_hyperclovax,
    "gpt_bigcode": _read_gpt_bigcode,
    "step3p5": _read_step,
    "step3p7": _read_step,
    "dbrx": _read_dbrx,
    "grok-1": _read_grok,
    "minimax_m2": _read_minimax_m2,
    "mamba": _repeat_mixer(read_mamba1, tied=True),
    "falcon_mamba": _repeat_mixer(read_mamba1, tied=True),
    "mamba2": _repeat_mixer(read_pure_mamba2, tied=False),
}


def read_minimax_norm(f: ConfigFields, default: str) -> str:
    if not f.yes("use_qk_norm", default=True):
        return "none"
    return "head" if f.word("qk_norm_type", default=default) == "per_head" else "full"
