"""The keys of a GGUF file by the names that its architecture gives them, with what the user adds.

A key that is needed and not there is remembered, so that all of them can be asked for at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

from gpudesk.catalog.importing.gguf_header import KeyValue
from gpudesk.domain.messages import InputError, message

#: Stands for a size that is not known, until it is asked for.
_PLACEHOLDER: Final = 1
_LARGEST: Final = 2**31


@dataclass(frozen=True, slots=True)
class Windows:
    """How an architecture alternates: of `period` layers the last is global; 1 means that all slide.

    `window` is taken where the file names none; without either there are no windows. `layers` is the number
    of layers to which the rule is bound, None for any.
    """

    period: int
    kind: Literal["sliding", "chunked"] = "sliding"
    window: int | None = None
    layers: int | None = None


#: Architectures that are known, and what their tensors do not show: the windows of their attention.
ARCHITECTURES: Final[Mapping[str, Windows | None]] = MappingProxyType(
    {
        "llama": None,
        "llama4": Windows(4, "chunked", 8192),
        "deci": None,
        "mistral3": None,
        "qwen2": None,
        "qwen2moe": None,
        "qwen2vl": None,
        "qwen3": None,
        "qwen3moe": None,
        "qwen3next": None,
        "qwen3vl": None,
        "qwen3vlmoe": None,
        "qwen35": None,
        "qwen35moe": None,
        "gemma": None,
        "gemma2": Windows(2, window=4096),
        "gemma3": Windows(6),
        "gemma4": Windows(6),
        "phi3": Windows(1),
        "phimoe": Windows(1),
        "command-r": None,
        "cohere2": Windows(4),
        "deepseek": None,
        "deepseek2": None,
        "glm4": None,
        "glm4moe": None,
        "glm-dsa": None,
        "gpt-oss": Windows(2),
        "minimax-m2": None,
        "mamba": None,
        "mamba2": None,
        "jamba": None,
        "nemotron": None,
        "nemotron_h": None,
        "nemotron_h_moe": None,
        "granite": None,
        "granitemoe": None,
        "granitehybrid": None,
        "falcon": None,
        "kimi-linear": None,
        "starcoder2": None,
        "olmo2": Windows(4),
        "olmoe": None,
        "internlm2": None,
        "exaone4": Windows(4, layers=64),
        "smollm3": None,
        "seed_oss": None,
        "dots1": None,
        "ernie4_5": None,
        "ernie4_5-moe": None,
        "hunyuan-moe": None,
        "hunyuan-dense": None,
        "mimo2": None,
        "step35": None,
    }
)


class Keys:
    """The keys of one file."""

    def __init__(self, keys: Mapping[str, KeyValue], answers: Mapping[str, object]) -> None:
        """Put what the user says over what the file says; raises `InputError` where it cannot be."""
        self._keys = dict(keys)
        self.missing: dict[str, None] = {}
        for name, value in answers.items():
            if not isinstance(value, bool | int | str):
                raise InputError(message("import.gguf.key"), name)
            self._keys[name] = value
        self.stated = self.text("general.architecture")
        like = answers.get(LIKE)
        self.architecture = like if isinstance(like, str) else self.stated

    @property
    def windows(self) -> Windows | None:
        """The windows of the architecture."""
        return ARCHITECTURES.get(self.architecture or "")

    def full(self, name: str) -> str:
        """Return a key of the architecture by its whole name."""
        return f"{self.stated}.{name}"

    def text(self, name: str) -> str | None:
        """Return a text by its whole name, without characters that no line has, or None."""
        value = self._keys.get(name)
        if not isinstance(value, str):
            return None
        return " ".join("".join(each if each.isprintable() else " " for each in value[:500]).split()) or None

    def of_layer(self, name: str, layer: int) -> KeyValue | None:
        """Return a key of the architecture; of a list with an entry a layer, that entry."""
        value = self._keys.get(self.full(name))
        if isinstance(value, tuple):
            return value[layer] if layer < len(value) else None
        return value

    def whole(self, name: str, layer: int = 0) -> int:
        """Return a whole number that must be there."""
        found = self.optional(name, layer)
        if found is None:
            self.missing[self.full(name)] = None
            return _PLACEHOLDER
        return found

    def optional(self, name: str, layer: int = 0) -> int | None:
        """Return a whole number, or None where the file has none; raises `InputError` where it is no such."""
        value = self.of_layer(name, layer)
        if value is None:
            return None
        if not isinstance(value, int) or not 0 <= value <= _LARGEST:
            raise InputError(message("import.gguf.key"), self.full(name))
        return int(value)

    def plain(self, name: str) -> KeyValue | None:
        """Return a key by its whole name."""
        return self._keys.get(name)


#: What the user is asked for an architecture that is not known.
LIKE: Final = "like_architecture"
