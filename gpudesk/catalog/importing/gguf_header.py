"""GGUF headers, versions 2 and 3: keys, tensors, number formats, split files."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from functools import cache
from math import prod
from pathlib import Path
from typing import IO, Final, Literal

from gpudesk import paths
from gpudesk.domain.precision import Precision
from gpudesk.files import describe_unreadable, read_toml
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.input_records import parse_record
from gpudesk.text.messages import InputError, Message, explain_system_error, input_error, message


@frozen_dataclass
class GgufTensorType:
    """The storage format of a tensor: `block` numbers together take `block_bytes`."""

    name: str
    block: int
    block_bytes: int

    @property
    def bits(self) -> float:
        return 8 * self.block_bytes / self.block


@frozen_dataclass
class WindowPattern:
    """The alternation of an architecture: of `period` layers the last is global; 1 means that all have a window.

    `window` is the default if the file names none; without either there are no windows. `layers` is the number of
    layers to which the rule is bound, None for any.
    """

    period: int
    kind: Literal["sliding", "chunked"] = "sliding"
    window: int | None = None
    layers: int | None = None


@frozen_dataclass
class GgufFormats:
    """The content of data/model_architectures/gguf.toml, where it is described; formats by their number in files."""

    architectures: Mapping[str, WindowPattern | None]
    tensor_types: Mapping[int, GgufTensorType]
    file_types: Mapping[int, str]


@cache
def read_gguf_formats() -> GgufFormats:
    path = paths.get_data_path("model_architectures/gguf.toml")
    document = read_toml(path)
    windows = {name: parse_record(WindowPattern, each, f"{path}:") for name, each in document["windows"].items()}
    return GgufFormats(
        {**dict.fromkeys(document["windowless"]), **windows},
        {int(number): GgufTensorType(*each) for number, each in document["tensor_types"].items()},
        {int(number): name for number, name in document["file_types"].items()},
    )


_EXACT: Final = {
    "BF16": Precision.BF16,
    "F16": Precision.FP16,
    "F32": Precision.FP16,
    "MXFP4": Precision.MXFP4,
    "NVFP4": Precision.NVFP4,
}
#: Bits per number above which the next wider format is the nearest: between 4.1 and 8 of INT4 and INT8.
_INT8_FROM: Final = 6.06
_FP16_FROM: Final = 12.0


def find_nearest_precision(types: dict[GgufTensorType, int]) -> Precision:
    """Return the nearest format of tensors, given as numbers of elements by type.

    A format with its own name is used directly; for others the mean of their bits decides, as GGUF's formats are
    integers with scales.
    """
    largest = max(types, key=lambda kind: types[kind])
    if largest.name in _EXACT:
        return _EXACT[largest.name]
    bits = compute_mean_bits(types)
    if bits >= _FP16_FROM:
        return Precision.FP16
    return Precision.INT8 if bits >= _INT8_FROM else Precision.INT4


def compute_mean_bits(types: dict[GgufTensorType, int]) -> float:
    return sum(kind.bits * count for kind, count in types.items()) / sum(types.values())


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
#: Lists with one number per layer are kept; of longer ones, and of the vocabulary, only the length.
_LONGEST_KEPT: Final = 4096
#: Maximum entries of all lists. A large vocabulary with types, scores and merges has 1.5 million.
_MOST_ENTRIES: Final = 4_000_000
_LEAST_ALIGNMENT: Final = 8
_DEFAULT_ALIGNMENT: Final = 32

#: Number of a value's type -> its letter for `struct`.
_SCALARS: Final = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING: Final = 8
_ARRAY: Final = 9

Scalar = int | float | bool | str


@frozen_dataclass
class TruncatedList:
    """The length of a list that is not kept."""

    length: int

    def __len__(self) -> int:
        return self.length


KeyValue = Scalar | tuple[Scalar, ...] | TruncatedList


@frozen_dataclass
class GgufTensor:
    """One tensor: its shape with the input side first, its format, and the offset of its bytes in the data."""

    name: str
    shape: tuple[int, ...]
    type: GgufTensorType
    offset: int

    @property
    def elements(self) -> int:
        return prod(self.shape)

    @property
    def stored_bytes(self) -> int:
        """Its bytes in the file."""
        return self.elements // self.type.block * self.type.block_bytes


@frozen_dataclass
class GgufHeader:
    """The content of a GGUF file before its tensors; `data_start` is where they begin."""

    version: int
    keys: Mapping[str, KeyValue]
    tensors: Mapping[str, GgufTensor]
    data_start: int
    file_size: int

    @property
    def expected_size(self) -> int:
        """The size of a file that holds all tensors of its list."""
        ends = (tensor.offset + tensor.stored_bytes for tensor in self.tensors.values())
        return self.data_start + max(ends, default=0)


def read_header(path: Path) -> GgufHeader:
    """Read the header of a file; raises `InputError` naming the file if that fails."""
    try:
        with path.open("rb") as file:
            return _read_from(file, path.stat().st_size)
    except OSError as error:
        raise InputError(describe_unreadable(explain_system_error(error)), str(path)) from None
    except _BrokenHeaderError as error:
        raise InputError(error.problem, str(path)) from None


class _BrokenHeaderError(Exception):
    """A fault of a header."""

    def __init__(self, problem: Message) -> None:
        super().__init__(problem.id)
        self.problem = problem


class _HeaderStream:
    """Reads the header from a file, in steps of a megabyte."""

    def __init__(self, file: IO[bytes], size: int) -> None:
        self._file = file
        self._size = size
        self._buffer = b""
        self._start = 0
        self._place = 0
        self._entries = 0
        self.order = "<"

    @property
    def position(self) -> int:
        return self._start + self._place

    @property
    def remaining_bytes(self) -> int:
        """Remaining bytes of the file."""
        return self._size - self.position

    def need(self, count: int) -> None:
        """Ensure that the next bytes are in the buffer; refuses more than a file or header can hold."""
        if count > self.remaining_bytes:
            raise _BrokenHeaderError(_describe_cut(self.position))
        if self.position + count > LONGEST_HEADER:
            raise _BrokenHeaderError(
                message(
                    "import.gguf.long",
                    "has a header of more than {longest}, longer than any model; download the file again",
                    longest=(float(LONGEST_HEADER), "B"),
                )
            )
        if self._place + count > len(self._buffer):
            rest = self._buffer[self._place :]
            more = self._file.read(max(_CHUNK, count - len(rest)))
            self._start, self._place, self._buffer = self.position, 0, rest + more
            if len(self._buffer) < count:
                raise _BrokenHeaderError(_describe_cut(self.position))

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        self.need(count)
        chunk = self._buffer[self._place : self._place + count]
        self._place += count
        return chunk

    def skip(self, count: int) -> None:
        """Skip bytes, holding at most one step of them in memory."""
        if count > self.remaining_bytes:
            raise _BrokenHeaderError(_describe_cut(self.position))
        while count:
            step = min(count, _CHUNK)
            self.need(step)
            self._place += step
            count -= step

    def skip_texts(self, count: int) -> None:
        """Skip texts: a vocabulary has half a million, so the buffer is scanned in one loop."""
        unpack = struct.Struct(self.order + "Q").unpack_from
        while count:
            buffer, place = self._buffer, self._place
            last = len(buffer) - 8
            while count and place <= last:
                following = place + 8 + unpack(buffer, place)[0]
                if following > len(buffer):
                    break
                place = following
                count -= 1
            self._place = place
            if count:
                # It extends beyond the buffer.
                self.skip(self.number("Q"))
                count -= 1

    def scalars(self, letter: str, count: int) -> tuple[Scalar, ...]:
        return struct.unpack(f"{self.order}{count}{letter}", self.take(count * struct.calcsize("=" + letter)))

    def count_entries(self, count: int) -> None:
        """Count the entries of a list; refuses a file with more than any model."""
        self._entries += count
        if self._entries > _MOST_ENTRIES:
            raise _BrokenHeaderError(
                message(
                    "import.gguf.entries",
                    "has lists with more than {most} entries in total, more than any model; download it again",
                    most=_MOST_ENTRIES,
                )
            )

    def number(self, letter: str) -> int:
        return int(struct.unpack(self.order + letter, self.take(struct.calcsize("=" + letter)))[0])

    def read_scalar(self, letter: str) -> Scalar:
        value: Scalar = struct.unpack(self.order + letter, self.take(struct.calcsize("=" + letter)))[0]
        return value

    def text(self, longest: int) -> str:
        length = self.number("Q")
        if length > longest:
            raise _BrokenHeaderError(
                message(
                    "import.gguf.text",
                    "has a name of more than {longest} bytes at byte {position}; the file is damaged, download it "
                    "again",
                    longest=longest,
                    position=self.position,
                )
            )
        return self.take(length).decode("utf-8", "replace")


def _read_from(file: IO[bytes], size: int) -> GgufHeader:
    stream = _HeaderStream(file, size)
    if size < len(MAGIC) or stream.take(len(MAGIC)) != MAGIC:
        raise _BrokenHeaderError(message("import.gguf.foreign", "is not a GGUF file: it does not start with GGUF"))
    version = _read_version(stream)
    tensor_count, key_count = stream.number("Q"), stream.number("Q")
    if key_count > _MOST_KEYS or tensor_count > _MOST_TENSORS:
        raise _BrokenHeaderError(
            message(
                "import.gguf.counts",
                "declares {keys} keys and {tensors} tensors, more than any model; download it again",
                keys=key_count,
                tensors=tensor_count,
            )
        )
    keys = _read_keys(stream, key_count)
    tensors = _read_tensors(stream, tensor_count)
    alignment = keys.get("general.alignment", _DEFAULT_ALIGNMENT)
    if not isinstance(alignment, int) or alignment < _LEAST_ALIGNMENT or alignment > _CHUNK:
        raise _BrokenHeaderError(
            message(
                "import.gguf.odd_key",
                "has {key} with an invalid value; download the file again",
                key="general.alignment",
            )
        )
    start = -(-stream.position // alignment) * alignment
    return GgufHeader(version, keys, tensors, start, size)


def _read_version(stream: _HeaderStream) -> int:
    """Read the version, which reveals the byte order, as no version is as large as 65,536."""
    raw = stream.take(4)
    (version,) = struct.unpack("<I", raw)
    if version & 0xFFFF == 0:
        stream.order = ">"
        (version,) = struct.unpack(">I", raw)
    if version not in VERSIONS:
        raise _BrokenHeaderError(
            message(
                "import.gguf.version",
                "is GGUF version {version}; convert the model again to version 2 or 3",
                version=version,
            )
        )
    return int(version)


def _read_keys(stream: _HeaderStream, count: int) -> dict[str, KeyValue]:
    keys: dict[str, KeyValue] = {}
    for _ in range(count):
        key = stream.text(_LONGEST_NAME)
        if key in keys:
            raise _BrokenHeaderError(_describe_repeated(key))
        keys[key] = _read_value(stream, stream.number("I"), key)
    return keys


def _read_value(stream: _HeaderStream, kind: int, key: str) -> KeyValue:
    if kind in _SCALARS:
        return stream.read_scalar(_SCALARS[kind])
    if kind == _STRING:
        return stream.text(min(stream.remaining_bytes, LONGEST_HEADER))
    if kind != _ARRAY:
        raise _BrokenHeaderError(_describe_wrong_form(key, kind))
    return _read_list(stream, key)


def _read_list(stream: _HeaderStream, key: str) -> KeyValue:
    """Read a list of numbers; a long list, or one of texts, is skipped."""
    kind, length = stream.number("I"), stream.number("Q")
    least = 8 if kind == _STRING else struct.calcsize("=" + _SCALARS[kind]) if kind in _SCALARS else 0
    if not least:
        raise _BrokenHeaderError(_describe_wrong_form(key, kind))
    if length * least > stream.remaining_bytes:
        raise _BrokenHeaderError(
            message(
                "import.gguf.list",
                "has a list {key} with {length} entries, longer than the rest of the file; download it again",
                key=key,
                length=length,
            )
        )
    stream.count_entries(length)
    if kind in _SCALARS:
        if length > _LONGEST_KEPT:
            stream.skip(length * least)
            return TruncatedList(length)
        return stream.scalars(_SCALARS[kind], length)
    stream.skip_texts(length)
    return TruncatedList(length)


def _read_tensors(stream: _HeaderStream, count: int) -> dict[str, GgufTensor]:
    tensors: dict[str, GgufTensor] = {}
    for _ in range(count):
        name = stream.text(_LONGEST_NAME)
        dimensions = stream.number("I")
        if not 1 <= dimensions <= _MOST_DIMENSIONS:
            raise _BrokenHeaderError(_describe_wrong_shape(name))
        shape = tuple(stream.number("Q") for _ in range(dimensions))
        kind, offset = stream.number("I"), stream.number("Q")
        if (tensor_type := read_gguf_formats().tensor_types.get(kind)) is None:
            raise _BrokenHeaderError(
                message("import.gguf.tensor_type", "has {name} in the unknown format {form}", name=name, form=kind)
            )
        if not all(shape) or prod(shape) > _MOST_ELEMENTS or shape[0] % tensor_type.block:
            raise _BrokenHeaderError(_describe_wrong_shape(name))
        if offset > _MOST_ELEMENTS:
            raise _BrokenHeaderError(_describe_wrong_shape(name))
        tensor = GgufTensor(name, shape, tensor_type, offset)
        if tensor.name in tensors:
            raise _BrokenHeaderError(_describe_repeated(tensor.name))
        tensors[tensor.name] = tensor
    return tensors


_PART: Final = re.compile(r"(?P<stem>.+)-\d{5}-of-(?P<count>\d{5})(?P<suffix>\.gguf)", re.IGNORECASE)
_MOST_PARTS: Final = 1000


@frozen_dataclass
class GgufFiles:
    """One file or all parts of a split one: the header of the first, every tensor, and the number of parts."""

    header: GgufHeader
    tensors: Mapping[str, GgufTensor]
    parts: int
    short: bool


def read_gguf_files(path: Path) -> GgufFiles:
    """Read a file; if it is one part of several, all of them."""
    header = read_header(path)
    count = header.keys.get("split.count", 1)
    if not isinstance(count, int) or count <= 1:
        return GgufFiles(header, header.tensors, 1, header.file_size < header.expected_size)
    number = header.keys.get("split.no", 0)
    paths = _list_part_paths(path, count, number if isinstance(number, int) else 0)
    headers = [read_header(each) for each in paths]
    tensors: dict[str, GgufTensor] = {}
    for each, part in zip(paths, headers, strict=True):
        if part.keys.get("split.count") != count:
            raise input_error(
                "import.gguf.other_split", "is a shard of another file; use shards of the same file", str(each)
            )
        if tensors.keys() & part.tensors.keys():
            raise input_error(
                "import.gguf.same_part", "repeats tensors of another shard; use shards of the same file", str(each)
            )
        tensors |= part.tensors
    short = any(part.file_size < part.expected_size for part in headers)
    return GgufFiles(headers[0], tensors, count, short)


def _list_part_paths(path: Path, count: int, number: int) -> list[Path]:
    """Return the paths of all parts; they are counted by their names, so that none can point to another."""
    match = _PART.fullmatch(path.name)
    if match is None or int(match["count"]) != count or count > _MOST_PARTS:
        raise input_error(
            "import.gguf.part_name",
            "is shard {number} of {count} and lists only its own tensors; name the shards like "
            "NAME-00001-of-00003.gguf to load all of them",
            str(path),
            number=number + 1,
            count=count,
        )
    paths = [
        path.with_name(f"{match['stem']}-{each:05d}-of-{match['count']}{match['suffix']}")
        for each in range(1, count + 1)
    ]
    for each in paths:
        if not each.is_file():
            problem = message(
                "import.gguf.part_missing",
                "is shard {number} of {count} and lists only its own tensors; put {missing} into the same folder",
                number=number + 1,
                count=count,
                missing=each.name,
            )
            raise InputError(problem, str(path))
    return paths


def find_stem(path: Path) -> str:
    """Return the name of a file without its suffix and the number of its part."""
    part = _PART.fullmatch(path.name)
    return part["stem"] if part else path.stem


def _describe_cut(position: int) -> Message:
    return message(
        "import.gguf.cut",
        "ends inside its header at byte {position}: the file is incomplete; download it again",
        position=position,
    )


def _describe_wrong_form(key: str, form: int) -> Message:
    return message(
        "import.gguf.kind", "has {key} in form {form}; supported forms: number, text, plain list", key=key, form=form
    )


def _describe_wrong_shape(name: str) -> Message:
    return message(
        "import.gguf.shape", "has {name} in an impossible shape; the file is damaged, download it again", name=name
    )


def _describe_repeated(name: str) -> Message:
    return message("import.gguf.twice", "has {name} twice; the file is damaged, download it again", name=name)
