"""The header of a GGUF file, versions 2 and 3 in either byte order: its keys and the list of its tensors.

Only the header is read, piece by piece as it is understood, so that a file of hundreds of gigabytes costs
what its vocabulary costs. Nothing in it is believed before it is measured against what is left of the file.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Final

from gpudesk.catalog.importing.gguf_types import TENSOR_TYPES, TensorType
from gpudesk.domain.messages import InputError, Message, message

#: A vocabulary of half a million words with its merges takes about 20 MB.
LONGEST_HEADER: Final = 64 * 2**20
MAGIC: Final = b"GGUF"
VERSIONS: Final = (2, 3)

_CHUNK: Final = 2**20
_MOST_KEYS: Final = 10_000
_MOST_TENSORS: Final = 100_000
_LONGEST_NAME: Final = 4096
_MOST_DIMENSIONS: Final = 4
_MOST_ELEMENTS: Final = 2**46
#: Lists with one entry a layer are kept; of longer ones, such as the vocabulary, the length.
_LONGEST_KEPT: Final = 4096
_LEAST_ALIGNMENT: Final = 8
_DEFAULT_ALIGNMENT: Final = 32

#: Number of a value's type -> its letter for `struct`.
_SCALARS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING: Final = 8
_ARRAY: Final = 9

Scalar = int | float | bool | str


@dataclass(frozen=True, slots=True)
class LongList:
    """A list that is not kept, by its length."""

    length: int

    def __len__(self) -> int:
        """Return the length."""
        return self.length


KeyValue = Scalar | tuple[Scalar, ...] | LongList


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor: its shape with the input side first, its format, and where its bytes begin in the data."""

    name: str
    shape: tuple[int, ...]
    type: TensorType
    offset: int

    @property
    def elements(self) -> int:
        """How many numbers it holds."""
        return prod(self.shape)

    @property
    def stored_bytes(self) -> int:
        """How many bytes it takes in the file."""
        return self.elements // self.type.block * self.type.block_bytes


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says before its tensors begin; `data_start` is where they do."""

    version: int
    keys: Mapping[str, KeyValue]
    tensors: Mapping[str, TensorInfo]
    data_start: int
    file_size: int

    @property
    def expected_size(self) -> int:
        """The bytes that the file must have to hold the tensors of its list."""
        ends = (tensor.offset + tensor.stored_bytes for tensor in self.tensors.values())
        return self.data_start + max(ends, default=0)


def read_header(path: Path) -> GgufHeader:
    """Read the header of a file; raises `InputError` naming the file where it is none that can be read."""
    try:
        with path.open("rb") as file:
            return _read(file, path.stat().st_size)
    except OSError as error:
        raise InputError(message("file.unreadable", reason=error.strerror or str(error)), str(path)) from None
    except _BrokenHeaderError as error:
        raise InputError(error.problem, str(path)) from None


class _BrokenHeaderError(Exception):
    """What is wrong with a header."""

    def __init__(self, problem: Message) -> None:
        super().__init__(problem.id)
        self.problem = problem


class _Stream:
    """Takes the header from a file, never more of it than is asked for in steps of a megabyte."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._size = size
        self._buffer = b""
        self._start = 0
        self._place = 0
        self.order = "<"

    @property
    def position(self) -> int:
        """Bytes taken so far."""
        return self._start + self._place

    @property
    def left(self) -> int:
        """Bytes of the file that are not taken yet."""
        return self._size - self.position

    def need(self, count: int) -> None:
        """Make sure that the next bytes are in the buffer; refuses what the file or a header cannot hold."""
        if count > self.left:
            raise _BrokenHeaderError(message("import.gguf.cut", position=self.position))
        if self.position + count > LONGEST_HEADER:
            raise _BrokenHeaderError(message("import.gguf.long", longest=(float(LONGEST_HEADER), "B")))
        if self._place + count > len(self._buffer):
            rest = self._buffer[self._place :]
            more = self._file.read(max(_CHUNK, count - len(rest)))
            self._start, self._place, self._buffer = self.position, 0, rest + more
            if len(self._buffer) < count:
                raise _BrokenHeaderError(message("import.gguf.cut", position=self.position))

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        self.need(count)
        taken = self._buffer[self._place : self._place + count]
        self._place += count
        return taken

    def skip(self, count: int) -> None:
        """Pass over bytes, holding no more of them than a step at a time."""
        if count > self.left:
            raise _BrokenHeaderError(message("import.gguf.cut", position=self.position))
        while count:
            step = min(count, _CHUNK)
            self.need(step)
            self._place += step
            count -= step

    def number(self, letter: str) -> int:
        """Return the next whole number of a kind."""
        return int(struct.unpack(self.order + letter, self.take(struct.calcsize("=" + letter)))[0])

    def scalar(self, letter: str) -> Scalar:
        """Return the next number of a kind, or a truth value."""
        value: Scalar = struct.unpack(self.order + letter, self.take(struct.calcsize("=" + letter)))[0]
        return value

    def text(self, longest: int) -> str:
        """Return the next text."""
        length = self.number("Q")
        if length > longest:
            raise _BrokenHeaderError(message("import.gguf.text", longest=longest, position=self.position))
        return self.take(length).decode("utf-8", "replace")


def _read(file: IO[bytes], size: int) -> GgufHeader:
    stream = _Stream(file, size)
    if size < len(MAGIC) or stream.take(len(MAGIC)) != MAGIC:
        raise _BrokenHeaderError(message("import.gguf.foreign"))
    version = _version(stream)
    tensor_count, key_count = stream.number("Q"), stream.number("Q")
    if key_count > _MOST_KEYS or tensor_count > _MOST_TENSORS:
        raise _BrokenHeaderError(message("import.gguf.counts", keys=key_count, tensors=tensor_count))
    keys = _keys(stream, key_count)
    tensors = _tensors(stream, tensor_count)
    alignment = keys.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment < _LEAST_ALIGNMENT or alignment > _CHUNK:
        raise _BrokenHeaderError(message("import.gguf.odd_key", key="general.alignment"))
    start = -(-stream.position // alignment) * alignment
    return GgufHeader(version, keys, tensors, start, size)


def _version(stream: _Stream) -> int:
    """Read the version, which gives the byte order away, as no version is as large as 65,536."""
    raw = stream.take(4)
    (version,) = struct.unpack("<I", raw)
    if version & 0xFFFF == 0:
        stream.order = ">"
        (version,) = struct.unpack(">I", raw)
    if version not in VERSIONS:
        raise _BrokenHeaderError(message("import.gguf.version", version=version))
    return int(version)


def _keys(stream: _Stream, count: int) -> dict[str, KeyValue]:
    found: dict[str, KeyValue] = {}
    for _ in range(count):
        key = stream.text(_LONGEST_NAME)
        if key in found:
            raise _BrokenHeaderError(message("import.gguf.twice", name=key))
        found[key] = _value(stream, stream.number("I"), key)
    return found


def _value(stream: _Stream, kind: int, key: str) -> KeyValue:
    if kind in _SCALARS:
        return stream.scalar(_SCALARS[kind])
    if kind == _STRING:
        return stream.text(min(stream.left, LONGEST_HEADER))
    if kind != _ARRAY:
        raise _BrokenHeaderError(message("import.gguf.kind", key=key, form=kind))
    return _list(stream, key)


def _list(stream: _Stream, key: str) -> KeyValue:
    """Read a list of numbers or texts; a long one is passed over."""
    kind, length = stream.number("I"), stream.number("Q")
    least = 8 if kind == _STRING else struct.calcsize("=" + _SCALARS[kind]) if kind in _SCALARS else 0
    if not least:
        raise _BrokenHeaderError(message("import.gguf.kind", key=key, form=kind))
    if length * least > stream.left:
        raise _BrokenHeaderError(message("import.gguf.list", key=key, length=length))
    if kind in _SCALARS:
        if length > _LONGEST_KEPT:
            stream.skip(length * least)
            return LongList(length)
        return tuple(stream.scalar(_SCALARS[kind]) for _ in range(length))
    if length > _LONGEST_KEPT:
        for _ in range(length):
            stream.skip(stream.number("Q"))
        return LongList(length)
    return tuple(stream.text(min(stream.left, LONGEST_HEADER)) for _ in range(length))


def _tensors(stream: _Stream, count: int) -> dict[str, TensorInfo]:
    found: dict[str, TensorInfo] = {}
    for _ in range(count):
        tensor = _tensor(stream)
        if tensor.name in found:
            raise _BrokenHeaderError(message("import.gguf.twice", name=tensor.name))
        found[tensor.name] = tensor
    return found


def _tensor(stream: _Stream) -> TensorInfo:
    """Read one entry of the list of tensors."""
    name = stream.text(_LONGEST_NAME)
    dimensions = stream.number("I")
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise _BrokenHeaderError(message("import.gguf.shape", name=name))
    shape = tuple(stream.number("Q") for _ in range(dimensions))
    kind, offset = stream.number("I"), stream.number("Q")
    if kind not in TENSOR_TYPES:
        raise _BrokenHeaderError(message("import.gguf.tensor_type", name=name, form=kind))
    tensor_type = TENSOR_TYPES[kind]
    if not all(shape) or prod(shape) > _MOST_ELEMENTS or shape[0] % tensor_type.block:
        raise _BrokenHeaderError(message("import.gguf.shape", name=name))
    if offset > _MOST_ELEMENTS:
        raise _BrokenHeaderError(message("import.gguf.shape", name=name))
    return TensorInfo(name, shape, tensor_type, offset)
