"""Number format of checkpoint weights from the quantization settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gpudesk.catalog.importing.fields import ConfigFields, clean_text
from gpudesk.catalog.importing.huggingface.structure import ModelStructure
from gpudesk.domain.precision import STORAGE_FORMATS, Precision
from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import Message, message

#: Classes of matrices that files treat alike.
_ATTENTION: Final = "attention"
_EXPERTS: Final = "experts"
_SHARED: Final = "shared"
_DENSE: Final = "dense"
_CLASSES: Final = (_ATTENTION, _EXPERTS, _SHARED, _DENSE)

_WIDE: Final[Mapping[str, Precision]] = {
    "bfloat16": Precision.BF16,
    "bf16": Precision.BF16,
    "float16": Precision.FP16,
    "fp16": Precision.FP16,
    "half": Precision.FP16,
}
#: Names of formats in the dialects of ModelOpt, Quark and compressed-tensors, by prefix.
_NAMED: Final = (
    ("w4a8_mxfp4", Precision.MXFP4),
    ("w4a16_mxfp4", Precision.MXFP4),
    ("w4a16_nvfp4", Precision.NVFP4),
    ("w4a8_nvfp4", Precision.NVFP4),
    ("mxfp4", Precision.MXFP4),
    ("nvfp4", Precision.NVFP4),
    ("mxfp6", Precision.FP6),
    ("mxfp8", Precision.FP8),
    ("fp8", Precision.FP8),
    ("float8", Precision.FP8),
    ("fp4", Precision.MXFP4),
    ("w8a8", Precision.INT8),
    ("w4a", Precision.INT4),
    ("int8", Precision.INT8),
    ("int4", Precision.INT4),
    ("uint4", Precision.INT4),
)
_LAYER_NUMBER: Final = re.compile(r"(?:^|\.)(\d{1,6})(?=\.|$|\*)")
#: The side of ModelOpt's blocks of FP8 weights.
_MODEL_OPT_BLOCK: Final = 128
#: Prefixes of regular expressions among the targets of compressed-tensors and Quark.
_EXPRESSION: Final = "re:"
#: Names of the matrices of each class, in common architectures, below a layer.
_MATRIX_NAMES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    _ATTENTION: (
        ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"),
        ("self_attn.q_a_proj", "self_attn.q_b_proj", "self_attn.kv_b_proj", "self_attn.o_proj"),
        ("self_attn.qkv_proj", "self_attn.o_proj"),
        ("attention.wq", "attention.wk", "attention.wv", "attention.wo"),
        ("attn.wq_a", "attn.wq_b", "attn.wkv", "attn.wo_a", "attn.wo_b"),
        ("attn.fused_wqa_wkv", "attn.wq_b", "attn.wo_a", "attn.wo_b"),
    ),
    _EXPERTS: (
        ("mlp.experts.7.gate_proj", "mlp.experts.7.up_proj", "mlp.experts.7.down_proj"),
        ("mlp.experts.gate_up_proj", "mlp.experts.down_proj"),
        ("block_sparse_moe.experts.7.w1", "block_sparse_moe.experts.7.w2", "block_sparse_moe.experts.7.w3"),
        ("feed_forward.experts.7.gate_proj", "feed_forward.experts.7.up_proj", "feed_forward.experts.7.down_proj"),
        ("ffn.experts.7.gate_proj", "ffn.experts.7.up_proj", "ffn.experts.7.down_proj"),
        ("ffn.experts.7.w1", "ffn.experts.7.w2", "ffn.experts.7.w3"),
    ),
    _SHARED: (
        ("mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj", "mlp.shared_experts.down_proj"),
        ("mlp.shared_expert.gate_proj", "mlp.shared_expert.up_proj", "mlp.shared_expert.down_proj"),
        ("ffn.shared_experts.gate_proj", "ffn.shared_experts.up_proj", "ffn.shared_experts.down_proj"),
        ("ffn.shared_experts.w1", "ffn.shared_experts.w2", "ffn.shared_experts.w3"),
    ),
    _DENSE: (
        ("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"),
        ("mlp.gate_up_proj", "mlp.down_proj"),
        ("feed_forward.w1", "feed_forward.w2", "feed_forward.w3"),
    ),
}
#: Expressions that take exponential time on names have a repeated group, or many repetitions.
_COSTLY: Final = re.compile(r"\)\s*[*+{?]|\(\?[^:]|\\[1-9]")
_MOST_REPETITIONS: Final = 4
_LONGEST_EXPRESSION: Final = 300
_MOST_EXPRESSIONS: Final = 64
#: Characters of patterns that match any name.
_MARKS: Final = re.compile(r"[\\^$*?()]|re:")


@frozen_dataclass
class StoredPrecision:
    """The stored formats, by the fields of a definition, with notes."""

    native_precision: Precision | None
    quantised_tensors: str = "linear"
    native_other_precision: Precision = Precision.BF16
    native_group_size: int | None = None
    fp8_block: int | None = None
    notes: tuple[Message, ...] = ()

    def fields(self) -> dict[str, Any]:
        field_values: dict[str, Any] = {"quantised_tensors": self.quantised_tensors}
        if self.native_precision is not None:
            field_values["native_precision"] = self.native_precision.value
        if self.native_other_precision is not Precision.BF16:
            field_values["native_other_precision"] = self.native_other_precision.value
        if self.native_group_size is not None:
            field_values["native_group_size"] = self.native_group_size
        if self.fp8_block is not None and self.native_precision is Precision.FP8:
            field_values["fp8_block"] = self.fp8_block
        return field_values


@dataclass(slots=True)
class _StatedFormat:
    """The format of each class of matrices (None: unquantized), a group size, and a side of FP8 blocks.

    `unmatched`: the format of a group whose targets name no class of matrices.
    """

    formats: dict[str, Precision | None]
    group: int | None = None
    block: int | None = None
    unmatched: Precision | None = None


def read_stored_precision(
    whole: ConfigFields, text: ConfigFields, quantization: Mapping[str, Any] | None, structure: ModelStructure
) -> StoredPrecision:
    """Return the stored formats of a checkpoint.

    `quantization` is the table `quantization` of hf_quant_config.json next to the configuration, which has more than
    the copy inside.
    """
    wide, notes = _find_wide_format(whole, text)
    inside = whole.table("quantization_config") or text.table("quantization_config")
    table = inside
    if quantization is not None:
        table = ConfigFields(quantization, "quantization")
    if table is None and inside is None:
        return StoredPrecision(wide, notes=notes)
    stated_format = _read_stated_format(inside, table, text, len(structure.layers))
    if stated_format is None:
        method = (inside or table or text).raw("quant_method")
        name = method if isinstance(method, str) else "?"
        return StoredPrecision(
            None,
            notes=(
                message(
                    "import.hf.unknown_quantisation",
                    "The number format {name} is unknown, so the stored format stays open",
                    name=clean_text(name, 60),
                ),
            ),
        )
    classes = _list_matrix_classes(structure)
    if stated_format.unmatched is not None and not any(stated_format.formats[kind] for kind in classes):
        _cover_as_answered(stated_format, stated_format.unmatched, inside or text)
    return replace(_resolve_precision(stated_format, wide or Precision.BF16, classes), fp8_block=stated_format.block)


#: The field for the coverage of a quantized format, and the meaning of each answer.
_COVERS: Final = "quantized_matrices"
_COVERED: Final[Mapping[str, tuple[str, ...]]] = {
    "all": _CLASSES,
    "feed_forward": (_EXPERTS, _SHARED, _DENSE),
    "experts": (_EXPERTS,),
    "nothing": (),
}


def _cover_as_answered(stated_format: _StatedFormat, narrow: Precision, f: ConfigFields) -> None:
    """Ask which matrices have a format whose targets are unknown, and apply the answer."""
    covered = _COVERED.get(f.word(_COVERS))
    if covered is None:
        f.ask(_COVERS, "word", tuple(_COVERED))
        return
    stated_format.formats |= dict.fromkeys(covered, narrow)


def _list_matrix_classes(structure: ModelStructure) -> frozenset[str]:
    classes = {_ATTENTION} if any(layer.mixer is not None for layer in structure.layers) else set()
    for layer in structure.layers:
        if layer.ffn is not None:
            table = layer.ffn.table
            classes.add(_EXPERTS if table["kind"] == "moe" else _DENSE)
            if "shared_intermediate_size" in table:
                classes.add(_SHARED)
            if "parallel_dense_intermediate_size" in table:
                classes.add(_DENSE)
    return frozenset(classes)


def _find_wide_format(whole: ConfigFields, text: ConfigFields) -> tuple[Precision | None, tuple[Message, ...]]:
    """Return the unquantized format; none for 32 bits, which serving engines load in 16."""
    for fields in (text, whole):
        for name in ("torch_dtype", "dtype"):
            table_value = fields.raw(name)
            if isinstance(table_value, str):
                word = table_value.removeprefix("torch.").lower()
                if word in _WIDE:
                    return _WIDE[word], ()
                if word in {"float32", "fp32", "float"}:
                    return Precision.BF16, (
                        message("import.hf.float32", "The checkpoint stores 32 bits; serving engines load it in 16"),
                    )
    return None, ()


def _read_stated_format(
    inside: ConfigFields | None, table: ConfigFields | None, text: ConfigFields, layers: int
) -> _StatedFormat | None:
    """Return the format of each class by the dialect of the tables."""
    method = inside.word("quant_method") if inside is not None else ""
    stated_format: _StatedFormat | None = None
    if method in {"fp8", "fbgemm_fp8"}:
        stated_format = _StatedFormat(dict.fromkeys(_CLASSES, Precision.FP8))
        if text.word("expert_dtype") == "fp4":
            stated_format.formats[_EXPERTS] = Precision.MXFP4
        stated_format.block = _read_block_side(inside, "weight_block_size")
        if inside is not None and not inside.has("quantized_layers"):
            _widen(stated_format, _list_excepted_modules(inside), layers)
    elif method == "mxfp4":
        stated_format = _StatedFormat(dict.fromkeys(_CLASSES))
        stated_format.formats[_EXPERTS] = Precision.MXFP4
    elif method in {"awq", "gptq", "gptq_marlin", "awq_marlin", "auto-round", "intel/auto-round"}:
        stated_format = _read_bits(inside, layers)
    elif method == "bitsandbytes" and inside is not None:
        stated_format = _read_bits_and_bytes(inside, layers)
    elif inside is not None and method in {"compressed-tensors", "quark"}:
        stated_format = _read_groups(inside, layers)
    if table is not None and (stated_format is None or table.has("quantized_layers")):
        stated_format = _read_model_opt(table, layers, stated_format) or stated_format
    if stated_format is None and inside is not None:
        stated_format = _read_groups(inside, layers)
    return stated_format


def _read_bits(table: ConfigFields | None, layers: int) -> _StatedFormat | None:
    if table is None:
        return None
    width = table.find_whole("bits", "w_bit", low=1, high=64)
    precision = {4: Precision.INT4, 8: Precision.INT8}.get(width or 0)
    if precision is None:
        return None
    stated_format = _StatedFormat(
        dict.fromkeys(_CLASSES, precision), table.find_whole("group_size", "q_group_size", low=-1)
    )
    _widen(stated_format, _list_excepted_modules(table), layers)
    return stated_format


def _read_bits_and_bytes(table: ConfigFields, layers: int) -> _StatedFormat | None:
    if table.yes("load_in_8bit", "_load_in_8bit", default=False):
        stated_format = _StatedFormat(dict.fromkeys(_CLASSES, Precision.INT8))
    elif table.yes("load_in_4bit", "_load_in_4bit", default=False):
        stated_format = _StatedFormat(dict.fromkeys(_CLASSES, Precision.INT4), 64)
    else:
        return None
    _widen(stated_format, _list_excepted_modules(table), layers)
    return stated_format


def _read_model_opt(table: ConfigFields, layers: int, base: _StatedFormat | None) -> _StatedFormat | None:
    """ModelOpt: one algorithm with exceptions, or one per module for mixed precision."""
    listed = table.table("quantized_layers")
    if listed is None:
        precision = _parse_format_name(table.raw("quant_algo"))
        if precision is None:
            return None
        stated_format = _StatedFormat(dict.fromkeys(_CLASSES, precision), table.find_whole("group_size"))
        if str(table.raw("quant_algo")).upper().startswith("FP8_PB"):
            stated_format.block = _MODEL_OPT_BLOCK
        _widen(stated_format, _list_excepted_modules(table), layers)
        return stated_format
    stated_format = base or _StatedFormat(dict.fromkeys(_CLASSES))
    for name in listed.names():
        module = listed.raw(name)
        kind = _find_module_class(name)
        if isinstance(module, Mapping) and kind is not None:
            precision = _parse_format_name(module.get("quant_algo"))
            if precision is not None:
                stated_format.formats[kind] = precision
    stated_format.group = table.find_whole("group_size")
    return stated_format if any(stated_format.formats.values()) else None


def _read_groups(table: ConfigFields, layers: int) -> _StatedFormat | None:
    """compressed-tensors and Quark: groups of modules, each with the format of its weights."""
    groups = table.table("config_groups")
    tables = [(groups.table(name), "") for name in groups.names()[:64]] if groups is not None else []
    tables.append((table.table("global_quant_config"), ""))
    by_layer = table.table("layer_quant_config")
    tables += [(by_layer.table(name), name) for name in by_layer.names()[:10_000]] if by_layer is not None else []
    stated_format: _StatedFormat | None = None
    for group, target in tables:
        weights = None if group is None else group.table("weights") or group.table("weight")
        precision = None if weights is None else _find_weight_format(weights)
        if group is None or weights is None or precision is None:
            continue
        stated_format = stated_format or _StatedFormat(dict.fromkeys(_CLASSES))
        if stated_format.group is None:
            stated_format.group = weights.find_whole("group_size")
        stated_format.block = stated_format.block or _read_block_side(weights, "block_structure")
        targets = list(_list_target_classes(group, layers) if not target else _list_named_classes([target], layers))
        stated_format.formats |= dict.fromkeys(targets, precision)
        if not targets:
            stated_format.unmatched = precision
    if stated_format is not None:
        _widen(stated_format, _list_excepted_modules(table), layers)
    return stated_format


def _read_block_side(table: ConfigFields | None, name: str) -> int | None:
    """Return the side of the squares that share a scale; None for other shapes."""
    if table is None or not table.is_list(name):
        return None
    rows, columns = table.read_whole_list(name, 2) or (0, 0)
    return rows if rows == columns and rows > 0 else None


def _list_target_classes(group: ConfigFields, layers: int) -> Iterable[str]:
    """Return the classes that a group covers: all if it names the kind of module, else those named."""
    targets = group.raw("targets")
    if not isinstance(targets, list) or not targets or "Linear" in targets:
        return _CLASSES
    return _list_named_classes([name for name in targets[:10_000] if isinstance(name, str)], layers)


def _list_named_classes(targets: Sequence[str], layers: int) -> Iterable[str]:
    """Return the classes of which names or expressions cover at least half of the matrices."""
    expressions = [expression for name in targets if (expression := _compile_expression(name)) is not None]
    plain = {_find_module_class(name) for name in targets if _compile_expression(name) is None}
    covered = {
        kind
        for kind, builds in _MATRIX_NAMES.items()
        for names in builds
        if 2 * sum(_matches(expressions[:_MOST_EXPRESSIONS], f"model.layers.{layers // 2}.{name}") for name in names)
        >= len(names)
    }
    return sorted(kind for kind in covered | plain if kind is not None)


def _matches(expressions: Sequence[re.Pattern[str]], name: str) -> bool:
    return any(expression.match(name) for expression in expressions)


def _compile_expression(name: str) -> re.Pattern[str] | None:
    """Return a compiled expression or wildcard pattern; None for plain names and too slow ones."""
    if name.startswith(_EXPRESSION):
        pattern = re.sub(r"(?:\.\*)+", ".*", name.removeprefix(_EXPRESSION))
    elif "*" in name:
        pattern = re.sub(r"(?:\.\*)+", ".*", re.escape(name).replace(r"\*", ".*") + "$")
    else:
        return None
    repetitions = sum(map(pattern.count, "*+{?"))
    if len(pattern) > _LONGEST_EXPRESSION or repetitions > _MOST_REPETITIONS or _COSTLY.search(pattern):
        return None
    try:
        return re.compile(pattern)
    except re.error:
        return None


def _find_weight_format(weights: ConfigFields) -> Precision | None:
    precision = _parse_format_name(weights.raw("dtype"))
    if precision is not None:
        return precision
    width = weights.find_whole("num_bits", low=1, high=64)
    group = weights.find_whole("group_size", low=-1)
    if weights.word("type") == "float":
        if width == 8:
            return Precision.FP8
        if width == 6:
            return Precision.FP6
        return {16: Precision.NVFP4, 32: Precision.MXFP4}.get(group or 0) if width == 4 else None
    return {4: Precision.INT4, 8: Precision.INT8}.get(width or 0)


def _parse_format_name(text: object) -> Precision | None:
    if not isinstance(text, str):
        return None
    word = text.lower().removeprefix("torch.")
    return next((precision for start, precision in _NAMED if word.startswith(start)), None)


def _list_excepted_modules(table: ConfigFields) -> list[str]:
    """Return the modules that a table excepts, under any name of the list."""
    modules: list[str] = []
    for name in ("modules_to_not_convert", "ignore", "exclude_modules", "exclude", "llm_int8_skip_modules"):
        entries = table.raw(name)
        if isinstance(entries, list):
            modules += [entry for entry in entries[:100_000] if isinstance(entry, str)]
    return modules


def _widen(stated_format: _StatedFormat, names: list[str], layers: int) -> None:
    """Leave classes unquantized whose modules are excepted: by a pattern, or in half of the layers one by one."""
    single: dict[str, set[str]] = {}
    # Together: each may name one matrix of a block.
    for_all = [name for name in names if name.startswith(_EXPRESSION) and _LAYER_NUMBER.search(name) is None]
    stated_format.formats |= dict.fromkeys(_list_named_classes(for_all, layers))
    for name in set(names).difference(for_all):
        kind = _find_module_class(name)
        if kind is None:
            continue
        number = _LAYER_NUMBER.search(name)
        if number is None:
            stated_format.formats[kind] = None
        else:
            single.setdefault(kind, set()).add(number[1])
    for kind, numbers in single.items():
        if 2 * len(numbers) >= layers:
            stated_format.formats[kind] = None


#: Suffixes of whole blocks or their matrices, as opposed to norms, routers and other small tensors.
_MATRICES: Final = ("proj", "attn", "attention", "mlp", "experts", "expert", "mixer", "ffn", "dense")


def _find_module_class(name: str) -> str | None:
    """Return the class of matrices of a module's name, None for norms, routers and similar."""
    plain = _MARKS.sub("", name[:300].lower()).strip(".")
    if "norm" in plain or "indexer" in plain or "vision" in plain or "visual" in plain:
        return None
    last = re.split(r"[.|]", plain)[-1]
    if "shared" in plain and "expert" in plain:
        return None if last.endswith("gate") else _SHARED
    if "experts" in plain or ".expert" in plain:
        return _EXPERTS
    if not last.endswith(_MATRICES):
        return None
    if "attn" in plain or "attention" in plain or "mixer" in plain:
        return _ATTENTION
    if "mlp" in plain or "ffn" in plain or "feed_forward" in plain:
        return _DENSE
    return None


def _resolve_precision(stated_format: _StatedFormat, wide: Precision, classes: frozenset[str]) -> StoredPrecision:
    """Merge the formats of four classes into one for the experts, the blocks or all, and one for the rest."""
    formats = {kind: precision or wide for kind, precision in stated_format.formats.items()}
    main = formats[_EXPERTS] if _EXPERTS in classes else formats[_DENSE]
    other = formats[_ATTENTION] if _ATTENTION in classes else main
    group = _find_group_size(main, stated_format.group)
    blocks = {formats[kind] for kind in classes - {_ATTENTION}}
    if blocks | {other} == {main}:
        return StoredPrecision(main, native_group_size=group)
    if blocks <= {main} and classes - {_ATTENTION} != {_EXPERTS}:
        return StoredPrecision(main, "ffn", other, group)
    note = message(
        "import.hf.mixed_rest",
        "Some matrices outside the routed experts use another format; all count as {name}",
        name=other.value,
    )
    if other == main:
        return StoredPrecision(main, native_group_size=group, notes=(note,))
    alike = {formats[kind] for kind in classes - {_EXPERTS}} == {other}
    return StoredPrecision(main, "experts", other, group, notes=() if alike else (note,))


def _find_group_size(precision: Precision, group: int | None) -> int | None:
    """Return a group size that differs from the format's usual one; formats without groups have none."""
    usual = STORAGE_FORMATS.get(precision)
    if usual is None or not usual.scale_bytes or group is None or group < 1 or group == usual.block:
        return None
    return group
