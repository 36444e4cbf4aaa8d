"""Tensors of a checkpoint: names, parameter counts, comparison with the configuration."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Generator, Iterator, Mapping
from dataclasses import field
from typing import Any, Final

from gpudesk.catalog.importing.fields import ConfigFields, clean_text
from gpudesk.domain.field_checks import parse_bounded_json
from gpudesk.domain.precision import Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import InputError, Message, input_error, message
from gpudesk.text.units import MIB

#: The id of the message that the checkpoint has as many parameters as computed.
SAME_COUNT: Final = "import.hf.same_count"
_SHORT_HEADER: Final = message(
    "import.hf.short_header", "ends before its header does; choose a file with the complete header"
)

INDEX: Final = "model.safetensors.index.json"
_SUFFIX: Final = ".safetensors"
#: The file name of single-file models.
_WHOLE: Final = "model.safetensors"
#: An index names every tensor of models with hundreds of experts.
_INDEX_BYTES: Final = 64 * MIB
#: The longest header that the format allows.
_HEADER_BYTES: Final = 100_000_000
_LAYER: Final = re.compile(r"(?:^|\.)layers\.(\d{1,6})\.")
#: Modules of other modalities, and draft layers with their own name.
_NOT_TEXT: Final = re.compile(
    r"visual|vision|audio|mm_projector|multi_modal|image_newline|embed_vision|speech|(?:^|\.)mtp\b|mtp_"
)
#: Tensors stored with a packed matrix: scales, zero points, orders, tables.
_BESIDE: Final = re.compile(
    r"(?:scale(?:s|_inv|_2|_inv_2)?|qzeros|zeros|zero_point|g_idx|absmax|quant_map|weight_shape|inv_freq"
    r"|tid2eid|nested_.*|quant_state.*|_amax|input_global_scale|weight_global_scale)$"
)
_BITS: Final = {"I32": 32, "U8": 8, "I8": 8}


@frozen_dataclass
class StoredTensor:
    """The location of a tensor for counting: its layer (None: outside), its format, its kind."""

    layer: int | None
    dtype: str
    is_matrix: bool


@frozen_dataclass
class Checkpoint:
    """Known tensors: `names` of all, and if every header is available, `elements` of each kind.

    The elements are those of the text model and its draft layers, without auxiliary tensors of packed matrices.
    """

    names: frozenset[str] = frozenset()
    elements: Mapping[StoredTensor, int] = field(default_factory=dict)
    total_bytes: int | None = None
    total_parameters: int | None = None

    def is_tied(self) -> bool | None:
        """Whether the LM head is the embedding, by the names; None if they do not show."""
        if not any("embed" in name for name in self.names):
            return None
        return not any("lm_head" in name or name.startswith(("output.", "head.")) for name in self.names)


def read_checkpoint(siblings: Mapping[str, bytes]) -> Checkpoint:
    """Read the index and the headers among the files; raises `InputError` naming the broken file."""
    steps = read_checkpoint_in_steps(siblings)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            checkpoint: Checkpoint = end.value
            return checkpoint


def read_checkpoint_in_steps(siblings: Mapping[str, bytes]) -> Generator[tuple[int, int], None, Checkpoint]:
    """The same as `read_checkpoint`, but yields before each file how many are read, and of how many."""
    names: frozenset[str] = frozenset()
    shards: frozenset[str] | None = None
    sizes: ConfigFields | None = None
    if INDEX in siblings:
        index = ConfigFields(parse_bounded_json(siblings[INDEX], INDEX, _INDEX_BYTES))
        weight_map = index.table("weight_map")
        sizes = index.table("metadata")
        if weight_map is not None:
            names = frozenset(weight_map.names())
            shards = frozenset(file for name in names if isinstance(file := weight_map.raw(name), str))
    files = _select_model_files({name: data for name, data in siblings.items() if name.endswith(_SUFFIX)}, shards)
    file_names: set[str] = set()
    elements: dict[StoredTensor, int] = {}
    for number, (file, data) in enumerate(files.items()):
        yield number, len(files)
        for name, dtype, shape in _read_tensor_shapes(file, data):
            file_names.add(name)
            if not (_NOT_TEXT.search(name) or _BESIDE.search(name)):
                tensor = StoredTensor(_find_layer(name), dtype, len(shape) > 1)
                elements[tensor] = elements.get(tensor, 0) + math.prod(shape)
    whole = shards is None or shards <= files.keys()
    return Checkpoint(
        names or frozenset(file_names),
        elements if whole else {},
        _read_total(sizes, "total_size"),
        _read_total(sizes, "total_parameters"),
    )


def _select_model_files(files: dict[str, bytes], shards: frozenset[str] | None) -> dict[str, bytes]:
    """Return the files that contain the model: others next to them can repeat the same tensors."""
    names = {_WHOLE} if shards is None and _WHOLE in files else shards
    return files if names is None else {name: data for name, data in files.items() if name in names}


def _read_total(sizes: ConfigFields | None, name: str) -> int | None:
    """Return a total of the index, which some writers put in quotes or with a fraction."""
    total = None if sizes is None else sizes.raw(name)
    if isinstance(total, float) and math.isfinite(total):
        total = int(total)
    return total if isinstance(total, int) and not isinstance(total, bool) and total > 0 else None


def _read_tensor_shapes(name: str, data: bytes) -> Iterator[tuple[str, str, list[int]]]:
    """Read the header of one file, eight bytes with its length, then JSON: names, formats, shapes."""
    if len(data) < 8:
        raise InputError(_SHORT_HEADER, name)
    (length,) = struct.unpack("<Q", data[:8])
    if length > _HEADER_BYTES or len(data) < 8 + length:
        raise InputError(_SHORT_HEADER, name)
    table: dict[str, Any] = parse_bounded_json(data[8 : 8 + length], name, _HEADER_BYTES)
    for tensor, described in table.items():
        if tensor == "__metadata__":
            continue
        shape = described.get("shape") if isinstance(described, Mapping) else None
        dtype = described.get("dtype") if isinstance(described, Mapping) else None
        sized = isinstance(shape, list) and all(
            isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 2**40 for size in shape
        )
        if not sized or not isinstance(shape, list) or len(shape) > 8 or not isinstance(dtype, str):
            raise input_error(
                "import.hf.broken_header", "has no readable shape and format", f"{name}: {clean_text(tensor, 80)}"
            )
        yield tensor, dtype, shape


def count_text_parameters(checkpoint: Checkpoint, layers: int, stored: Precision | None) -> int | None:
    """Return the parameters of the text model by the headers, or None if some are missing.

    Draft layers beyond `layers` and modules of other modalities do not count; packed matrices count unpacked, in the
    format that the checkpoint stores.
    """
    if not checkpoint.elements:
        return None
    return sum(
        elements * _count_packed(tensor, stored)
        for tensor, elements in checkpoint.elements.items()
        if tensor.layer is None or tensor.layer < layers
    )


def _find_layer(name: str) -> int | None:
    number = _LAYER.search(name)
    return None if number is None else int(number[1])


def _is_text(name: str, layers: int) -> bool:
    number = _find_layer(name)
    return not _NOT_TEXT.search(name) and (number is None or number < layers)


def _count_packed(tensor: StoredTensor, stored: Precision | None) -> int:
    bits = _BITS.get(tensor.dtype)
    if bits is None or not tensor.is_matrix or stored is None:
        return 1
    width = {Precision.INT4: 4, Precision.MXFP4: 4, Precision.NVFP4: 4, Precision.FP4: 4, Precision.INT8: 8}
    return max(bits // width.get(stored, bits), 1)


def find_stated_parameters(
    checkpoint: Checkpoint, layers: int, stored: Precision | None, *, narrow: bool
) -> int | None:
    """Return the parameters of the text model as stated by the checkpoint, None without them.

    An index counts everything stored, so it is useless if there is more than the text model.
    """
    parameters = count_text_parameters(checkpoint, layers, stored)
    if parameters is not None or not checkpoint.names or not all(_is_text(name, layers) for name in checkpoint.names):
        return parameters
    return _count_indexed(checkpoint, stored, narrow=narrow)


def _count_indexed(checkpoint: Checkpoint, stored: Precision | None, *, narrow: bool) -> int | None:
    if narrow or checkpoint.total_parameters is not None:
        return None if narrow else checkpoint.total_parameters
    in_two_bytes = checkpoint.total_bytes is not None and stored in {Precision.BF16, Precision.FP16}
    return (checkpoint.total_bytes or 0) // 2 if in_two_bytes else None


def compare_parameters(
    checkpoint: Checkpoint, computed_count: int, layers: int, stored: Precision | None, *, narrow: bool
) -> Message | None:
    """Return a note if the checkpoint's parameter count differs from `computed_count`, that of the dimensions.

    By the headers if all are available; else by the totals of the index, which count everything stored and are useless
    for a `narrow` checkpoint.
    """
    parameters = count_text_parameters(checkpoint, layers, stored)
    if parameters is None:
        parameters = _count_indexed(checkpoint, stored, narrow=narrow)
    if parameters is None:
        return None
    if parameters == computed_count:
        return message("import.hf.same_count", "{count} parameters, the same as the checkpoint", count=computed_count)
    stores_all = parameters > computed_count and not checkpoint.elements
    if stores_all and any(not _is_text(name, layers) for name in checkpoint.names):
        return message(
            "import.hf.more_stored",
            "{count} parameters; the checkpoint has {found}, including components that are excluded here",
            count=computed_count,
            found=parameters,
        )
    return message(
        "import.hf.other_count",
        "{count} parameters, but the checkpoint has {found}: {difference} apart, so check the dimensions",
        count=computed_count,
        found=parameters,
        difference=abs(parameters - computed_count),
    )


def find_hints(checkpoint: Checkpoint) -> dict[str, object]:
    """Return hints from tensor names about fields that an unknown configuration leaves open."""
    names = checkpoint.names
    if not any("layers." in name or ".h." in name for name in names):
        return {}
    hints: dict[str, object] = {
        "attention_bias": any(re.search(r"(?:q|qkv|query_key_value)_?(?:proj)?\.bias$", name) for name in names),
        "gated_mlp": any("gate_proj" in name or "gate_up" in name or ".w3." in name for name in names),
    }
    if not any(re.search(r"q_?(?:layer)?norm|query_(?:layer)?norm", name) for name in names):
        hints["qk_norm"] = "none"
    return hints
