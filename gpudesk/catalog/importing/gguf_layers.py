"""Layers of a GGUF model from its keys and tensor shapes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from gpudesk.catalog.importing.gguf_header import GgufTensor, KeyValue, WindowPattern, read_gguf_formats
from gpudesk.text.messages import InputError, input_error, message

_UNUSABLE_VALUE: Final = message("import.gguf.key", "has no usable value")

#: Stands for an unknown size until the user answers.
_PLACEHOLDER: Final = 1
_LARGEST: Final = 2**31


class GgufKeys:
    """The keys of one file."""

    def __init__(self, keys: Mapping[str, KeyValue], answers: Mapping[str, object]) -> None:
        """Merge the user's answers over the keys of the file; raises `InputError` for invalid ones."""
        self._keys = dict(keys)
        self.missing: dict[str, None] = {}
        for name, value in answers.items():
            if not isinstance(value, bool | int | str):
                raise InputError(_UNUSABLE_VALUE, name)
            self._keys[name] = value
        self.file_architecture = self.text("general.architecture")
        like = answers.get(ARCHITECTURE_ALIASES)
        self.architecture = like if isinstance(like, str) else self.file_architecture

    @property
    def windows(self) -> WindowPattern | None:
        return read_gguf_formats().architectures.get(self.architecture or "")

    def full(self, name: str) -> str:
        return f"{self.file_architecture}.{name}"

    def text(self, name: str) -> str | None:
        """Return a text by its full key, without unprintable characters, or None."""
        value = self._keys.get(name)
        if not isinstance(value, str):
            return None
        return " ".join("".join(each if each.isprintable() else " " for each in value[:500]).split()) or None

    def get_layer_value(self, name: str, layer: int) -> KeyValue | None:
        """Return a key of the architecture; of a per-layer list, the layer's entry."""
        value = self._keys.get(self.full(name))
        if isinstance(value, tuple):
            return value[layer] if layer < len(value) else None
        return value

    def whole(self, name: str, layer: int = 0) -> int:
        value = self.find_layer_number(name, layer)
        if value is None:
            self.missing[self.full(name)] = None
            return _PLACEHOLDER
        return value

    def find_layer_number(self, name: str, layer: int = 0) -> int | None:
        """Return a whole number, or None without one; raises `InputError` for other values."""
        value = self.get_layer_value(name, layer)
        if value is None:
            return None
        if not isinstance(value, int) or not 0 <= value <= _LARGEST:
            raise InputError(_UNUSABLE_VALUE, self.full(name))
        return int(value)

    def plain(self, name: str) -> KeyValue | None:
        return self._keys.get(name)


#: Questions for an unknown architecture.
ARCHITECTURE_ALIASES: Final = "like_architecture"


LayerTable = dict[str, Any]

#: Norms that differ in length from the hidden size by definition.
_INNER_NORMS: Final = (
    "attn_q_norm",
    "attn_k_norm",
    "attn_q_a_norm",
    "attn_kv_a_norm",
    "ssm_norm",
    "ssm_dt_norm",
    "ssm_b_norm",
    "ssm_c_norm",
    "indexer.k_norm",
)
#: Prefixes of expected tensors, besides those that determine the kind of a layer.
_EXPECTED: Final = (
    *_INNER_NORMS,
    "attn_q.",
    "attn_k.",
    "attn_v.",
    "attn_qkv.",
    "attn_output.",
    "attn_sinks.",
    "attn_gate.",
    "attn_q_a.",
    "attn_q_b.",
    "attn_kv_a_mqa.",
    "attn_kv_b.",
    "attn_k_b.",
    "attn_v_b.",
    "attn_rot_embd.",
    "indexer.",
    "rope_",
    "ssm_",
    "ffn_gate",
    "ffn_up",
    "ffn_down",
    "ffn_latent_",
    "exp_probs_b",
)


@dataclass(slots=True)
class GgufLayer:
    """One layer: its mixer and feed-forward block as tables of a definition, and its norms.

    `unexplained` are tensors that the program cannot assign.
    """

    number: int
    mixer: LayerTable | None
    ffn: LayerTable | None
    norms: int
    unexplained: list[GgufTensor] = field(default_factory=list)


def read_layer(number: int, tensors: Mapping[str, GgufTensor], keys: GgufKeys, hidden: int) -> GgufLayer:
    """Read one layer; raises `InputError` if its shapes are inconsistent."""
    norms = [name for name in tensors if _is_norm(name) and tensors[name].shape == (hidden,)]
    unexplained = [tensor for name, tensor in tensors.items() if name not in norms and not name.startswith(_EXPECTED)]
    reader = _LayerReader(number, tensors, keys, hidden)
    # First everything that needs no key, so that all missing keys are found at once.
    ffn = reader.ffn()
    return GgufLayer(number, reader.mixer(), ffn, len(norms), unexplained)


def _is_norm(name: str) -> bool:
    return "norm" in name and not name.startswith(_INNER_NORMS)


class _LayerReader:
    """Reads the components of one layer."""

    def __init__(self, number: int, tensors: Mapping[str, GgufTensor], keys: GgufKeys, hidden: int) -> None:
        self.number = number
        self.tensors = tensors
        self.keys = keys
        self.hidden = hidden

    def has(self, *names: str) -> bool:
        return any(f"{name}.weight" in self.tensors for name in names)

    def bias(self, *names: str) -> bool:
        return any(f"{name}.bias" in self.tensors for name in names)

    def shape(self, name: str, least: int = 2) -> tuple[int, ...]:
        """Return the shape of a required weight with this many dimensions."""
        tensor = self.tensors.get(f"{name}.weight")
        if tensor is None or len(tensor.shape) < least:
            raise self.wrong(name)
        return tensor.shape

    def whole(self, name: str) -> int:
        return self.keys.whole(name, self.number)

    def divided(self, width: int, parts: int, name: str) -> int:
        """Return the width of equal parts; heads of a layer never differ in width."""
        if not parts or width % parts or not width:
            raise self.wrong(name)
        return width // parts

    def wrong(self, name: str) -> InputError:
        tensor = f"blk.{self.number}.{name}.weight"
        return input_error("import.gguf.odd_tensor", "does not match the heads and widths in the file", tensor)

    # Mixers

    def mixer(self) -> LayerTable | None:
        """Return the token mixer, or None for a layer without one."""
        state_space = self.has("ssm_out", "ssm_conv1d_q")
        attention = self.has("attn_q", "attn_kv_a_mqa") or (self.has("attn_qkv") and not state_space)
        if state_space and attention and not self.has("ssm_conv1d_q"):
            raise input_error(
                "import.gguf.two_mixers",
                "layer {layer} has parallel attention and state space, which GPU Desk does not support",
                f"blk.{self.number}",
                layer=self.number,
            )
        if self.has("ssm_conv1d_q"):
            return self._read_kimi_delta()
        if state_space:
            if self.has("ssm_x"):
                rank, inner = self.shape("ssm_dt")
                table: LayerTable = {
                    "kind": "mamba1",
                    "inner_size": inner,
                    "state_size": self._halve_width(self.shape("ssm_x")[1] - rank, "ssm_x"),
                    "conv_kernel": self.shape("ssm_conv1d")[0],
                    "dt_rank": rank,
                }
                if self.has("ssm_dt_norm"):
                    table["inner_norms"] = True
                return table
            if self.has("ssm_ba", "ssm_alpha", "ssm_beta"):
                return self._read_gated_delta_net()
            return self._read_mamba2()
        if self.has("attn_kv_a_mqa"):
            return self._read_mla()
        return self._read_attention() if attention else None

    def _read_attention(self) -> LayerTable:
        heads = self.whole("attention.head_count")
        given_kv = self.keys.find_layer_number("attention.head_count_kv", self.number)
        kv_heads = heads if given_kv is None else given_kv
        head_dim, value_dim, queries = self._derive_head_sizes(heads, kv_heads)
        table: LayerTable = {"kind": "attention", "heads": heads, "kv_heads": kv_heads, "head_dim": head_dim}
        if value_dim != head_dim:
            table["v_head_dim"] = value_dim
        table |= self._read_window()
        if self.bias("attn_q", "attn_qkv"):
            table["qkv_bias"] = True
        if self.bias("attn_output"):
            table["output_bias"] = True
        if self.has("attn_q_norm"):
            table["qk_norm"] = self._derive_qk_norm(heads, head_dim)
        if queries == 2 * heads * head_dim:
            table["output_gate"] = "element"
        elif self.has("attn_gate"):
            width = self.shape("attn_gate")[1]
            if width not in (heads, heads * value_dim):
                raise self.wrong("attn_gate")
            table["output_gate"] = "head" if width == heads else "element"
        if self.has("attn_sinks"):
            table["sinks"] = True
        if self.has("attn_k") and not self.has("attn_v"):
            table["shared_kv_projection"] = True
        return table

    def _derive_head_sizes(self, heads: int, kv_heads: int) -> tuple[int, int, int]:
        """Return the width of a key head and a value head, and that of all queries."""
        if self.has("attn_qkv"):
            return self._derive_fused_sizes(heads, kv_heads)
        head_dim = self.divided(self.shape("attn_k")[1], kv_heads, "attn_k")
        value_dim = head_dim
        if self.has("attn_v"):
            value_dim = self.divided(self.shape("attn_v")[1], kv_heads, "attn_v")
        queries = self.shape("attn_q")[1]
        if queries not in (heads * head_dim, 2 * heads * head_dim):
            raise self.wrong("attn_q")
        if self.shape("attn_output")[0] != heads * value_dim:
            raise self.wrong("attn_output")
        return head_dim, value_dim, queries

    def _derive_fused_sizes(self, heads: int, kv_heads: int) -> tuple[int, int, int]:
        head_dim = self.divided(self.shape("attn_qkv")[1], heads + 2 * kv_heads, "attn_qkv")
        if self.shape("attn_output")[0] != heads * head_dim:
            raise self.wrong("attn_output")
        return head_dim, head_dim, heads * head_dim

    def _derive_qk_norm(self, heads: int, head_dim: int) -> str:
        tensor = self.tensors["attn_q_norm.weight"]
        if tensor.elements == head_dim:
            return "head"
        if tensor.elements != heads * head_dim:
            raise self.wrong("attn_q_norm")
        return "full"

    def _read_window(self) -> LayerTable:
        rule = self.keys.windows
        listed = self.keys.get_layer_value("attention.sliding_window_pattern", self.number)
        if listed is None and rule is None:
            return {}
        if rule is not None and rule.layers not in (None, self.whole("block_count")):
            return {}
        if isinstance(listed, bool):
            slides = listed
        else:
            period = listed if isinstance(listed, int) else rule.period if rule is not None else 1
            slides = period == 1 or (period > 1 and self.number % period < period - 1)
        if not slides:
            return {}
        # The window of a layer; architectures whose layers all have windows can lack one.
        kind = "sliding" if rule is None else rule.kind
        window_length = self.keys.find_layer_number("attention.sliding_window", self.number)
        window = (None if rule is None else rule.window) if window_length is None else window_length
        if window is None:
            if rule is not None and rule.period == 1:
                return {}
            window = self.whole("attention.sliding_window")
        if not window:
            return {}
        return {"window": window} if kind == "sliding" else {"window": window, "window_kind": kind}

    def _read_mla(self) -> LayerTable:
        heads = self.whole("attention.head_count")
        latent, rope = self.whole("attention.kv_lora_rank"), self.whole("rope.dimension_count")
        if self.shape("attn_kv_a_mqa")[1] != latent + rope:
            raise self.wrong("attn_kv_a_mqa")
        if self.has("attn_k_b"):
            nope, value = self.shape("attn_k_b")[0], self.shape("attn_v_b")[1]
        else:
            both = self.divided(self.shape("attn_kv_b")[1], heads, "attn_kv_b")
            value = self.whole("attention.value_length")
            nope = both - value
        table: LayerTable = {
            "kind": "mla",
            "heads": heads,
            "kv_lora_rank": latent,
            "qk_nope_head_dim": nope,
            "qk_rope_head_dim": rope,
            "v_head_dim": value,
        }
        queries = "attn_q_b" if self.has("attn_q_a") else "attn_q"
        if self.shape(queries)[1] != heads * (nope + rope):
            raise self.wrong(queries)
        if self.has("attn_q_a"):
            table["q_lora_rank"] = self.shape("attn_q_a")[1]
        if self.has("indexer.attn_k"):
            table["indexer"] = {
                "heads": self.whole("attention.indexer.head_count"),
                "head_dim": self.whole("attention.indexer.key_length"),
                "top_k": self.whole("attention.indexer.top_k"),
            }
        return table

    def _read_mamba2(self) -> LayerTable:
        heads, inner = self.whole("ssm.time_step_rank"), self.shape("ssm_out")[0]
        groups = self.whole("ssm.group_count")
        shared = self._halve_width(self.shape("ssm_conv1d")[1] - inner, "ssm_conv1d")
        return {
            "kind": "mamba2",
            "heads": heads,
            "head_dim": self.divided(inner, heads, "ssm_out"),
            "state_size": self.divided(shared, groups, "ssm_conv1d"),
            "groups": groups,
            "conv_kernel": self.shape("ssm_conv1d")[0],
        }

    def _read_gated_delta_net(self) -> LayerTable:
        key_heads, value_heads = self.whole("ssm.group_count"), self.whole("ssm.time_step_rank")
        values = self.shape("ssm_out")[0]
        kernel, channels = self.shape("ssm_conv1d")[:2]
        return {
            "kind": "gated_delta_net",
            "key_heads": key_heads,
            "value_heads": value_heads,
            "key_head_dim": self.divided(channels - values, 2 * key_heads, "ssm_conv1d"),
            "value_head_dim": self.divided(values, value_heads, "ssm_out"),
            "conv_kernel": kernel,
        }

    def _read_kimi_delta(self) -> LayerTable:
        head_dim = self.whole("kda.head_dim")
        return {
            "kind": "kimi_delta",
            "heads": self.divided(self.shape("attn_q")[1], head_dim, "attn_q"),
            "head_dim": head_dim,
            "conv_kernel": self.shape("ssm_conv1d_q")[0],
        }

    def _halve_width(self, width: int, name: str) -> int:
        return self.divided(width, 2, name)

    # Feed-forward blocks

    def ffn(self) -> LayerTable | None:
        """Return the feed-forward block, or None for a layer without one."""
        if self.has("ffn_down_exps"):
            width, _, experts = self.shape("ffn_down_exps", 3)
            table: LayerTable = {
                "kind": "moe",
                "experts": experts,
                "experts_per_token": self.whole("expert_used_count"),
                "intermediate_size": width,
            }
            if self.has("ffn_down_shexp"):
                table["shared_intermediate_size"] = self.shape("ffn_down_shexp")[0]
            if self.has("ffn_gate_inp_shexp"):
                table["shared_gate"] = True
            if not self.has("ffn_gate_exps", "ffn_gate_up_exps"):
                table["gated"] = False
            if self.bias("ffn_up_exps", "ffn_down_exps", "ffn_gate_up_exps"):
                table["bias"] = True
            if self.bias("exp_probs_b", "ffn_gate_inp") or "ffn_gate_inp.scale" in self.tensors:
                table["router_bias"] = True
            if self.has("ffn_latent_down"):
                table["latent_size"] = self.shape("ffn_latent_down")[1]
            if self.has("ffn_down"):
                table["parallel_dense_intermediate_size"] = self.shape("ffn_down")[0]
            return table
        return self._read_dense_ffn() if self.has("ffn_down") else None

    def _read_dense_ffn(self) -> LayerTable:
        width, rows = self.shape("ffn_down")[0], self.shape("ffn_up")[1]
        if rows not in (width, 2 * width):
            raise self.wrong("ffn_up")
        table: LayerTable = {"kind": "dense", "intermediate_size": width}
        # Without a separate gate, it can be in one tensor with the up projection.
        if not self.has("ffn_gate") and rows == width:
            table["gated"] = False
        if self.bias("ffn_up", "ffn_down"):
            table["bias"] = True
        return table
