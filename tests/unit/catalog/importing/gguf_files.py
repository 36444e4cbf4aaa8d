"""Writes real GGUF files: keys and the list of tensors, and a hole on the disk for the weights."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

Value = int | float | bool | str | Sequence[int] | Sequence[str] | Sequence[bool]

F32, F16, Q8_0, Q4_K, Q6_K, BF16, MXFP4 = 0, 1, 8, 12, 14, 30, 39
BLOCKS = {F32: (1, 4), F16: (1, 2), Q8_0: (32, 34), Q4_K: (256, 144), Q6_K: (256, 210), BF16: (1, 2)}
BLOCKS[MXFP4] = (32, 17)

Tensor = tuple[str, tuple[int, ...], int]


@dataclass
class Gguf:
    """What goes into a file; `hidden` and other sizes are only in the tensors."""

    architecture: str
    keys: dict[str, Value] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)
    version: int = 3
    order: str = "<"
    kind: int = BF16

    def add(self, name: str, *shape: int, kind: int | None = None) -> None:
        """Put a tensor on the list; vectors and small tables are kept in F32, as converters do."""
        tensor_kind = self.kind if kind is None else kind
        if len(shape) == 1 or shape[0] % BLOCKS[tensor_kind][0]:
            tensor_kind = F32
        self.tensors.append((name, shape, tensor_kind))

    def header(self) -> bytes:
        keys = {"general.architecture": self.architecture, **self.keys}
        out = b"GGUF" + struct.pack(self.order + "IQQ", self.version, len(self.tensors), len(keys))
        out += b"".join(self._key(name, value) for name, value in keys.items())
        offset = 0
        for name, shape, kind in self.tensors:
            out += self._text(name) + struct.pack(self.order + "I", len(shape))
            out += struct.pack(self.order + f"{len(shape)}QIQ", *shape, kind, offset)
            offset += stored_bytes(shape, kind)
        return out + bytes(-len(out) % 32)

    def write(self, path: Path, *, whole: bool = True) -> Path:
        """Write a file that is as long as its tensors, without taking room on the disk."""
        header = self.header()
        with path.open("wb") as file:
            file.write(header)
            if whole:
                file.truncate(len(header) + sum(stored_bytes(shape, kind) for _, shape, kind in self.tensors))
        return path

    def _text(self, text: str) -> bytes:
        raw = text.encode()
        return struct.pack(self.order + "Q", len(raw)) + raw

    def _key(self, name: str, value: Value) -> bytes:
        return self._text(name) + self._value(value)

    def _value(self, value: Value) -> bytes:
        kind, body = self._typed(value)
        return struct.pack(self.order + "I", kind) + body

    def _typed(self, value: Value) -> tuple[int, bytes]:
        if isinstance(value, bool):
            return 7, struct.pack("?", value)
        if isinstance(value, int):
            return 4, struct.pack(self.order + "I", value)
        if isinstance(value, float):
            return 6, struct.pack(self.order + "f", value)
        if isinstance(value, str):
            return 8, self._text(value)
        items = [self._typed(item) for item in value]
        kind = items[0][0] if items else 4
        return 9, struct.pack(self.order + "IQ", kind, len(items)) + b"".join(body for _, body in items)


def stored_bytes(shape: Sequence[int], kind: int) -> int:
    count = 1
    for side in shape:
        count *= side
    block, size = BLOCKS[kind]
    return count // block * size


def parameters(gguf: Gguf, *, without: tuple[str, ...] = ("rope_",)) -> int:
    """Count the numbers of all tensors but those named."""
    total = 0
    for name, shape, _ in gguf.tensors:
        if not any(part in name for part in without):
            count = 1
            for side in shape:
                count *= side
            total += count
    return total


def make_gguf(architecture: str, hidden: int, vocabulary: int, layers: int, **keys: Value) -> Gguf:
    """Return a file with an embedding and a final norm; `keys` are those of the architecture, _ for a dot."""
    gguf = Gguf(architecture)
    gguf.keys = {f"{architecture}.block_count": layers, f"{architecture}.embedding_length": hidden}
    gguf.keys |= {f"{architecture}.{name.replace('__', '.')}": value for name, value in keys.items()}
    gguf.add("token_embd.weight", hidden, vocabulary)
    gguf.add("output_norm.weight", hidden)
    return gguf


def head(gguf: Gguf, hidden: int, vocabulary: int) -> None:
    gguf.add("output.weight", hidden, vocabulary)


def norms(gguf: Gguf, layer: int, hidden: int, *names: str) -> None:
    for name in names or ("attn_norm", "ffn_norm"):
        gguf.add(f"blk.{layer}.{name}.weight", hidden)


def attention(
    gguf: Gguf,
    layer: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    head_dim: int,
    *,
    bias: bool = False,
    gate: bool = False,
) -> None:
    name = f"blk.{layer}.attn_"
    gguf.add(f"{name}q.weight", hidden, heads * head_dim * (2 if gate else 1))
    gguf.add(f"{name}k.weight", hidden, kv_heads * head_dim)
    gguf.add(f"{name}v.weight", hidden, kv_heads * head_dim)
    gguf.add(f"{name}output.weight", heads * head_dim, hidden)
    if bias:
        for part, width in (("q", heads), ("k", kv_heads), ("v", kv_heads)):
            gguf.add(f"{name}{part}.bias", width * head_dim)


def dense(gguf: Gguf, layer: int, hidden: int, width: int, *, gated: bool = True) -> None:
    name = f"blk.{layer}.ffn_"
    if gated:
        gguf.add(f"{name}gate.weight", hidden, width)
    gguf.add(f"{name}up.weight", hidden, width)
    gguf.add(f"{name}down.weight", width, hidden)


def experts(
    gguf: Gguf, layer: int, hidden: int, width: int, count: int, *, shared: int = 0, kind: int | None = None
) -> None:
    name = f"blk.{layer}.ffn_"
    gguf.add(f"{name}gate_inp.weight", hidden, count, kind=F32)
    for part in ("gate", "up"):
        gguf.add(f"{name}{part}_exps.weight", hidden, width, count, kind=kind)
    gguf.add(f"{name}down_exps.weight", width, hidden, count, kind=kind)
    if shared:
        gguf.add(f"{name}gate_shexp.weight", hidden, shared)
        gguf.add(f"{name}up_shexp.weight", hidden, shared)
        gguf.add(f"{name}down_shexp.weight", shared, hidden)


def make_small_gguf(**keys: Value) -> Gguf:
    gguf = make_gguf("llama", 64, 512, 2, attention__head_count=4, attention__head_count_kv=2, **keys)
    gguf.keys["tokenizer.ggml.tokens"] = [f"t{number}" for number in range(512)]
    head(gguf, 64, 512)
    for layer in range(2):
        norms(gguf, layer, 64)
        attention(gguf, layer, 64, 4, 2, 16)
        dense(gguf, layer, 64, 128)
    return gguf


def split_gguf(gguf: Gguf, count: int) -> Iterator[Gguf]:
    """Yield a file in parts: the first has all keys, each some of the tensors."""
    share = -(-len(gguf.tensors) // count)
    for number in range(count):
        keys: dict[str, Value] = dict(gguf.keys) if number == 0 else {}
        keys |= {"split.no": number, "split.count": count, "split.tensors.count": len(gguf.tensors)}
        yield Gguf(gguf.architecture, keys, gguf.tensors[number * share : (number + 1) * share])
