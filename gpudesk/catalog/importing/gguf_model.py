"""A model from a GGUF file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from gpudesk.catalog.importing.fields import clean_text, describe_too_large_size, make_file_slug, make_file_source
from gpudesk.catalog.importing.gguf_header import (
    GgufFiles,
    GgufTensor,
    GgufTensorType,
    TruncatedList,
    compute_mean_bits,
    find_nearest_precision,
    find_stem,
    read_gguf_files,
    read_gguf_formats,
)
from gpudesk.catalog.importing.gguf_layers import ARCHITECTURE_ALIASES, GgufKeys, GgufLayer, LayerTable, read_layer
from gpudesk.catalog.importing.huggingface.structure import LayerLayout, LayerPart, ModelStructure, make_layer_tables
from gpudesk.catalog.importing.model_facts import make_model_facts
from gpudesk.domain.claim import SourceKind
from gpudesk.domain.precision import STORAGE_FORMATS
from gpudesk.domain.user_facts import UNKNOWN_MAKER, ImportProposal, MissingImportField
from gpudesk.text.messages import InputError, Message, input_error, message, message_n

_NO_LAYERS: Final = message("import.gguf.no_layers", "has no layers; choose the file of the model itself")

_BLOCK: Final = re.compile(r"blk\.(\d{1,6})\.(.+)")
_MOST_LAYERS: Final = 4096
#: Tables of angles: computed when the model is loaded, not parameters.
_NOT_LOADED: Final = ("rope_freqs", "rope_factors_long", "rope_factors_short")
#: Matrices that stay wide in any format.
_WIDE: Final = ("ffn_gate_inp", "ssm_conv1d", "ssm_a", "ssm_x", "ssm_dt", "ssm_ba", "ssm_alpha", "ssm_beta")
_MOST_NAMED: Final = 5


class GgufModel:
    """The model of a file: read once, returned as a definition and as notes."""

    def __init__(self, file: GgufFiles, keys: GgufKeys) -> None:
        """Read every layer; raises `InputError` naming the inconsistent tensor or key."""
        self._file = file
        self._keys = keys
        self._outer, self._blocks, self._skipped = _sort_tensors(file.tensors, keys)
        embedding = self._outer.get("token_embd.weight")
        if embedding is None or len(embedding.shape) != 2:
            raise input_error(
                "import.gguf.no_embedding",
                "is missing or has an unusual shape, so the model sizes are unknown",
                "token_embd.weight",
            )
        self.hidden, self.vocabulary = embedding.shape
        self._layers = list(self._read_layers())

    def _read_layers(self) -> Iterator[GgufLayer]:
        """Read the layers; sizes need not be consistent while one of them is unanswered."""
        for number, tensors in sorted(self._blocks.items()):
            try:
                yield read_layer(number, tensors, self._keys, self.hidden)
            except InputError:
                if not self._keys.missing:
                    raise

    @property
    def _mixers(self) -> list[LayerTable]:
        return [layer.mixer for layer in self._layers if layer.mixer is not None]

    @property
    def organisation(self) -> str:
        for key in ("general.organization", "general.author", "general.base_model.0.organization"):
            if name := clean_text(self._keys.text(key) or ""):
                return name
        return UNKNOWN_MAKER

    @property
    def parameters(self) -> int:
        """Parameters of all tensors loaded to serve text."""
        blocks = (tensor for tensors in self._blocks.values() for tensor in tensors.values())
        return sum(tensor.elements for tensor in (*self._outer.values(), *blocks))

    def definition(self, title: str) -> LayerTable:
        """Return the model in the form of a file of data/models/."""
        kinds = {table["kind"] for table in self._mixers}
        windows = {"window" in table for table in self._mixers if table["kind"] == "attention"}
        layers = tuple(
            LayerLayout(
                None if each.mixer is None else LayerPart(_find_mixer_name(each.mixer, kinds, windows), each.mixer),
                None if each.ffn is None else LayerPart("moe" if each.ffn["kind"] == "moe" else "mlp", each.ffn),
                each.norms,
            )
            for each in self._layers
        )
        fields: LayerTable = {**self._find_precisions(), "native_note": self._describe_storage()}
        if context := self._keys.find_layer_number("context_length"):
            fields["max_context"] = context
        norms = sum(f"output_norm.{part}" in self._outer for part in ("weight", "bias"))
        if norms > 1:
            fields["final_norms"] = norms
        return {
            "id": make_file_slug(title, 60),
            "name": title,
            "organisation": self.organisation,
            "hidden_size": self.hidden,
            "vocab_size": self.vocabulary,
            "tied_embeddings": "output.weight" not in self._outer,
            **fields,
            **make_layer_tables(ModelStructure(layers)),
        }

    def list_claim_values(self) -> dict[str, int]:
        return {"total_parameters": self.parameters}

    # Precision

    def _find_precisions(self) -> LayerTable:
        """Return the formats of the matrices inside the blocks, experts separately if they differ."""
        experts, others = self._count_types(experts=True), self._count_types(experts=False)
        wide = find_nearest_precision(others or experts)
        narrow = find_nearest_precision(experts or others)
        if narrow is wide:
            return {"native_precision": narrow.value, "quantised_tensors": "linear"}
        fields = {"native_precision": narrow.value, "quantised_tensors": "experts"}
        return fields if wide.value == "bf16" else {**fields, "native_other_precision": wide.value}

    def _count_types(self, *, experts: bool | None) -> dict[GgufTensorType, int]:
        """Count the numbers of matrices inside the blocks by format: routed experts, the others, or all."""
        counts: Counter[GgufTensorType] = Counter()
        for tensors in self._blocks.values():
            for name, tensor in tensors.items():
                if len(tensor.shape) < 2 or name.startswith(_WIDE):
                    continue
                if experts is None or experts == ("_exps." in name):
                    counts[tensor.type] += tensor.elements
        if not counts and not any(self._blocks.values()):
            raise InputError(_NO_LAYERS, "blk.0")
        return dict(counts)

    @property
    def _file_type(self) -> str:
        number = self._keys.plain("general.file_type")
        types = self._count_types(experts=None)
        largest = max(types, key=lambda kind: types[kind]).name
        return read_gguf_formats().file_types.get(number, largest) if isinstance(number, int) else largest

    @property
    def _bits(self) -> float:
        """Stored bits per parameter, over all loaded tensors."""
        blocks = (tensor for tensors in self._blocks.values() for tensor in tensors.values())
        tensors = [*self._outer.values(), *blocks]
        return 8 * sum(tensor.stored_bytes for tensor in tensors) / self.parameters

    def _describe_storage(self) -> str:
        return f"{self._file_type}: {self._bits:.2f} bits a parameter, scales counted."

    # Notes

    def notes(self) -> Iterator[Message]:
        """Yield the assumptions and what the user should know."""
        yield message(
            "import.gguf.parameters",
            "{parameters} parameters, counted from all tensor shapes",
            parameters=self.parameters,
        )
        types = self._count_types(experts=None)
        precision = find_nearest_precision(types)
        storage = STORAGE_FORMATS[precision]
        bits = storage.bits + 8 * storage.scale_bytes / storage.block
        stored = f"{compute_mean_bits(types):.2f}"
        if stored == f"{bits:.2f}":
            yield message(
                "import.gguf.stored",
                "Stored as {file_type}: {stored} bits per weight in the layers",
                file_type=self._file_type,
                stored=stored,
            )
        else:
            yield message(
                "import.gguf.bits",
                "Stored as {file_type}: {stored} bits per weight in the layers, including scales. Estimates use the "
                "nearest format, {precision} with {taken} bits",
                file_type=self._file_type,
                stored=stored,
                precision=precision.value,
                taken=f"{bits:.2f}",
            )
        if self._keys.architecture != self._keys.file_architecture:
            yield message(
                "import.gguf.like",
                "{architecture} is unknown; its sliding windows follow {like}",
                architecture=self._keys.file_architecture or "",
                like=self._keys.architecture or "",
            )
        if self._file.parts > 1:
            yield message("import.gguf.parts", "Read from all {count} shards of the file", count=self._file.parts)
        if self._file.short:
            yield message(
                "import.gguf.short",
                "The file is shorter than its header declares; the description covers the whole model",
            )
        words = self._keys.plain("tokenizer.ggml.tokens")
        length = len(words) if isinstance(words, TruncatedList | tuple) else self.vocabulary
        if length != self.vocabulary:
            yield message(
                "import.gguf.vocabulary",
                "The embedding has {rows} rows for {words} tokens; GPU Desk uses the rows",
                rows=self.vocabulary,
                words=length,
            )

    def left_out(self) -> Iterator[Message]:
        if self._skipped:
            yield message_n(
                "import.gguf.draft_layers",
                "{count} layer for multi-token prediction",
                "{count} layers for multi-token prediction",
                "count",
                count=self._skipped,
            )
        odd = [tensor for layer in self._layers for tensor in layer.unexplained]
        if odd:
            names = tuple(dict.fromkeys(_BLOCK.sub(r"\2", tensor.name) for tensor in odd))[:_MOST_NAMED]
            yield message(
                "import.gguf.unexplained",
                "{parameters} parameters in unknown tensors ({names}); the total includes them, memory and time do not",
                names=names,
                parameters=sum(tensor.elements for tensor in odd),
            )
        if (window := self._find_unused_window()) is not None:
            yield message(
                "import.gguf.unused_window",
                "Sliding window of {window} tokens: it is in the file, but llama.cpp has none for this architecture",
                window=window,
            )

    def _find_unused_window(self) -> int | None:
        attention = [table for table in self._mixers if table["kind"] == "attention"]
        used = any("window" in table for table in attention)
        return None if used or not attention else self._keys.find_layer_number("attention.sliding_window") or None


def _sort_tensors(
    tensors: Mapping[str, GgufTensor], keys: GgufKeys
) -> tuple[dict[str, GgufTensor], dict[int, dict[str, GgufTensor]], int]:
    """Return the tensors outside the layers, those of each layer, and the number of omitted draft layers."""
    outer: dict[str, GgufTensor] = {}
    blocks: dict[int, dict[str, GgufTensor]] = {}
    for name, tensor in tensors.items():
        block = _BLOCK.fullmatch(name)
        if block is None:
            if not name.startswith(_NOT_LOADED):
                outer[name] = tensor
        elif not block[2].startswith(_NOT_LOADED):
            blocks.setdefault(int(block[1]), {})[block[2]] = tensor
    drafts = [
        number for number, block_tensors in blocks.items() if any(name.startswith("nextn.") for name in block_tensors)
    ]
    for number in drafts:
        del blocks[number]
    for block_tensors in blocks.values():
        # Old files hold the projection of latents both whole and in two halves.
        if "attn_k_b.weight" in block_tensors:
            block_tensors.pop("attn_kv_b.weight", None)
    _check_numbers(blocks, keys, len(drafts))
    return outer, blocks, len(drafts)


def _check_numbers(blocks: Mapping[int, Any], keys: GgufKeys, drafts: int) -> None:
    """Refuse a file whose layers do not match its count."""
    count = keys.whole("block_count")
    if keys.missing:
        return
    if count > _MOST_LAYERS:
        raise InputError(describe_too_large_size(_MOST_LAYERS), keys.full("block_count"))
    if not count or not blocks:
        raise InputError(_NO_LAYERS, keys.full("block_count"))
    numbers = range(count if max(blocks) >= count - drafts else count - drafts)
    absent = next((number for number in numbers if number not in blocks), None)
    if absent is not None:
        raise input_error(
            "import.gguf.layer_missing",
            "is missing: layer {layer} of {count} has no tensors; the file is incomplete or damaged",
            f"blk.{absent}",
            layer=absent,
            count=count,
        )
    if len(blocks) > len(numbers):
        raise input_error(
            "import.gguf.more_layers",
            "is a layer beyond the {count} layers of the file; download the file again",
            f"blk.{max(blocks)}",
            count=count,
        )


def _find_mixer_name(mixer: LayerTable, kinds: set[str], windows: set[bool]) -> str:
    """Return the name of a mixer among the others of its model, as in the shipped models."""
    kind = mixer["kind"]
    if kind in ("mamba1", "mamba2"):
        return "mamba"
    if kind in ("gated_delta_net", "kimi_delta"):
        return "linear"
    if kinds & {"gated_delta_net", "kimi_delta"}:
        return "full"
    if kind == "attention" and windows == {True, False}:
        return mixer.get("window_kind", "sliding") if "window" in mixer else "global"
    return "attention"


def propose_gguf(path: Path, answers: Mapping[str, object] = MappingProxyType({}), *, today: str) -> ImportProposal:
    """Return the model of a GGUF file; of a split file any part can be given.

    `answers` are the user's values for missing fields, by name. Raises `InputError` for other files and for models that
    cannot be described.
    """
    file = read_gguf_files(path)
    keys = GgufKeys(file.header.keys, answers)
    # Refuse files other than language models: adapters, projectors, importance matrices.
    kind = keys.text("general.type") or "model"
    if kind != "model" or keys.file_architecture == "clip":
        raise input_error(
            "import.gguf.no_model",
            "contains {what} instead of a language model; choose the file of the model itself",
            str(path),
            what=kind,
        )
    if keys.file_architecture is None:
        raise input_error(
            "import.gguf.no_architecture", "has no architecture: general.architecture is missing", str(path)
        )
    title = clean_text(keys.text("general.name") or find_stem(path)) or "GGUF"
    if keys.architecture not in read_gguf_formats().architectures:
        return ImportProposal("model", title, (), missing=(_make_unknown_error(keys),))
    try:
        model = GgufModel(file, keys)
    except InputError:
        if keys.missing:
            return ImportProposal("model", title, (), missing=tuple(map(_make_missing_field, keys.missing)))
        raise
    if keys.missing:
        return ImportProposal("model", title, (), missing=tuple(map(_make_missing_field, keys.missing)))
    source = make_file_source(
        path.name, keys.text("general.quantized_by") or model.organisation, SourceKind.CONFIG_COPY
    )
    definition = model.definition(title)
    if keys.file_architecture not in read_gguf_formats().architectures:
        definition["generic_architecture"] = keys.file_architecture
    facts = make_model_facts(
        definition, source, today=today, claim_values=model.list_claim_values(), answered=tuple(answers)
    )
    return ImportProposal("model", title, facts, tuple(model.notes()), tuple(model.left_out()))


def _make_unknown_error(keys: GgufKeys) -> MissingImportField:
    return MissingImportField(
        ARCHITECTURE_ALIASES,
        "word",
        message(
            "import.gguf.unknown_architecture",
            "Unknown architecture {architecture}. Its tensors show layers and sizes, but not the sliding-window "
            "layers; choose a similar known architecture",
            architecture=keys.file_architecture or "",
        ),
        tuple(sorted(read_gguf_formats().architectures)),
    )


def _make_missing_field(key: str) -> MissingImportField:
    return MissingImportField(
        key, "whole", message("import.gguf.missing_key", "{key} is missing, and no tensor shows it", key=key)
    )
