"""Readers of recurrent mixers: delta rules, state spaces, linear attention."""

from __future__ import annotations

import math

from gpudesk.catalog.importing.fields import ConfigFields
from gpudesk.catalog.importing.huggingface.structure import DefinitionTable, LayerPart, drop_defaults


def read_delta_net(f: ConfigFields) -> LayerPart:
    """Return a gated delta net with the default sizes of Qwen 3 Next."""
    return LayerPart(
        "linear",
        {
            "kind": "gated_delta_net",
            "key_heads": f.read_whole_or(16, "linear_num_key_heads"),
            "value_heads": f.read_whole_or(32, "linear_num_value_heads"),
            "key_head_dim": f.read_whole_or(128, "linear_key_head_dim"),
            "value_head_dim": f.read_whole_or(128, "linear_value_head_dim"),
            "conv_kernel": f.read_whole_or(4, "linear_conv_kernel_dim"),
        },
    )


def read_mamba1(f: ConfigFields, *, inner_norms: bool = False) -> LayerPart:
    """Return a state space of the first kind, whose rank is by default a sixteenth of the hidden size."""
    hidden = f.whole("hidden_size")
    inner = f.read_whole_or(2, "mamba_expand", "expand", high=64) * hidden
    rank = f.raw("mamba_dt_rank") if f.has("mamba_dt_rank") else f.raw("time_step_rank")
    return LayerPart(
        "mamba",
        {
            "kind": "mamba1",
            "inner_size": inner,
            "state_size": f.read_whole_or(16, "mamba_d_state", "state_size"),
            "conv_kernel": f.read_whole_or(4, "mamba_d_conv", "conv_kernel"),
            "dt_rank": math.ceil(hidden / 16) if rank in (None, "auto") else f.whole("mamba_dt_rank", "time_step_rank"),
        }
        | drop_defaults({"inner_norms": inner_norms}),
    )


def read_mamba2(f: ConfigFields) -> LayerPart:
    """Return a state space of the second kind; heads divide the inner size unless a head width is stated."""
    heads = f.read_whole_or(128, "mamba_n_heads", "mamba_num_heads", "n_mamba_heads", "num_heads")
    inner = f.find_whole("mamba_d_ssm") or f.read_whole_or(2, "mamba_expand", "expand", high=64) * f.whole(
        "hidden_size"
    )
    width = f.raw("mamba_d_head")
    if width in (None, "auto"):
        head_dim = f.find_whole("mamba_head_dim", "mamba_headdim", "head_dim") or max(inner // heads, 1)
    else:
        head_dim = f.whole("mamba_d_head")
    return make_mamba2(
        f,
        heads,
        head_dim,
        f.read_whole_or(256, "mamba_d_state", "ssm_state_size", "state_size"),
        f.read_whole_or(1, "mamba_n_groups", "mamba_ngroups", "n_groups"),
    )


def make_mamba2(f: ConfigFields, heads: int, head_dim: int, state: int, groups: int) -> LayerPart:
    table: DefinitionTable = {
        "kind": "mamba2",
        "heads": heads,
        "head_dim": head_dim,
        "state_size": state,
        "groups": groups,
        "conv_kernel": f.read_whole_or(4, "conv_kernel", "mamba_d_conv"),
    }
    if not f.yes("mamba_rms_norm", default=True):
        table["gated_norm"] = False
    return LayerPart("mamba", table)


def read_pure_mamba2(f: ConfigFields) -> LayerPart:
    """Return the state space of Mamba 2 itself, whose fields have names without a prefix."""
    return make_mamba2(f, f.whole("num_heads"), f.whole("head_dim"), f.whole("state_size"), f.whole("n_groups"))


def read_short_convolution(f: ConfigFields) -> LayerPart:
    table = {
        "kind": "short_convolution",
        "inner_size": f.read_whole_or(f.whole("hidden_size"), "conv_dim"),
        "conv_kernel": f.read_whole_or(3, "conv_L_cache"),
    }
    return LayerPart("convolution", table)


def read_full_rank_delta(f: ConfigFields) -> LayerPart:
    """Return Kimi's delta attention whose gates are full matrices, as Bailing has it."""
    return LayerPart(
        "linear",
        {
            "kind": "kimi_delta",
            "heads": f.whole("linear_num_heads", "num_attention_heads"),
            "head_dim": f.read_whole_or(128, "linear_head_dim"),
            "conv_kernel": f.read_whole_or(4, "linear_conv_kernel_dim", "short_conv_kernel_size"),
            "full_rank_gate": True,
            "full_rank_decay": True,
        },
    )


def read_kimi_delta(f: ConfigFields) -> LayerPart:
    """Return Kimi's delta attention, from a separate table or from fields with a prefix."""
    table = f.table("linear_attn_config")
    linear, prefix = (f, "linear_") if table is None else (table, "")
    return LayerPart(
        "linear",
        {
            "kind": "kimi_delta",
            "heads": linear.read_whole_or(32, f"{prefix}num_heads"),
            "head_dim": linear.read_whole_or(128, f"{prefix}head_dim"),
            "conv_kernel": linear.read_whole_or(4, "short_conv_kernel_size", "linear_conv_kernel_dim"),
        }
        | drop_defaults({"full_rank_gate": linear.yes("use_full_rank_gate", default=False)}),
    )
