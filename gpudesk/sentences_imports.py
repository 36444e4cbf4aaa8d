"""The sentences of readers of files: GGUF headers, accelerators, prices.

`gpudesk.sentences_catalog` merges these tables with its own.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

IMPORT_SENTENCES: Final = MappingProxyType(
    {
        # GGUF files
        "import.gguf.foreign": "is no GGUF file: it does not begin with GGUF",
        "import.gguf.version": "is GGUF of version {version}; convert the model anew to version 2 or 3",
        "import.gguf.cut": "ends inside its header, at byte {position}: the file was cut off; fetch it again",
        "import.gguf.long": "has a header of more than {longest}, which no model has; fetch the file again",
        "import.gguf.counts": "counts {keys} keys and {tensors} tensors, which no model has; fetch it again",
        "import.gguf.text": (
            "has a name of more than {longest} bytes at byte {position}; the file is damaged, fetch it again"
        ),
        "import.gguf.list": (
            "has a list {key} of {length} entries, longer than the rest of the file; fetch it again"
        ),
        "import.gguf.kind": "has {key} in form {form}; a number, a text or a plain list can be read",
        "import.gguf.key": "has no value that can be used",
        "import.gguf.odd_key": "has {key} with a value that cannot be used; fetch the file again",
        "import.gguf.twice": "has {name} twice; the file is damaged, fetch it again",
        "import.gguf.tensor_type": "has {name} in format {form}, which this program does not know",
        "import.gguf.shape": "has {name} in a shape that cannot be; the file is damaged, fetch it again",
        "import.gguf.no_model": "holds {what} and no language model; take the file of the model itself",
        "import.gguf.no_architecture": "does not say its architecture: general.architecture is missing",
        "import.gguf.no_embedding": "is missing or in an odd shape, so the sizes of the model are not known",
        "import.gguf.no_layers": "has no layers; take the file of the model itself",
        "import.gguf.layer_missing": (
            "is missing: layer {layer} of {count} has no tensors; the file is a part, or damaged"
        ),
        "import.gguf.more_layers": "is a layer beyond the {count} that the file counts; fetch the file again",
        "import.gguf.odd_tensor": "does not go with the heads and widths that the file states",
        "import.gguf.two_mixers": (
            "layer {layer} has attention and a state space side by side, which the program cannot describe"
        ),
        "import.gguf.part_name": (
            "is part {number} of {count}, and its list of tensors is that of this part alone; name the parts "
            "NAME-00001-of-00003.gguf and so on, so that the others are found"
        ),
        "import.gguf.part_missing": (
            "is part {number} of {count}, and its list of tensors is that of this part alone; put {missing} "
            "into the same folder"
        ),
        "import.gguf.other_split": "is a part of another file; take parts that were made together",
        "import.gguf.same_part": "repeats tensors of another part; take parts that were made together",
        "import.gguf.unknown_architecture": (
            "The architecture {architecture} is not known. Its tensors tell layers and sizes, but not which "
            "layers look at a window alone; choose the known one that it is built like"
        ),
        "import.gguf.missing_key": "The file does not state {key}, and no tensor shows it",
        "import.gguf.parameters": "{parameters} parameters, counted from the shapes of all tensors",
        "import.gguf.stored": "Stored as {file_type}: {stored} bits a weight in the layers",
        "import.gguf.bits": (
            "Stored as {file_type}: {stored} bits a weight in the layers, scales counted. Estimates take the "
            "nearest format, {precision} with {taken} bits"
        ),
        "import.gguf.like": "{architecture} is not known; its windows are those of {like}",
        "import.gguf.parts": "Read from all {count} parts of the file",
        "import.gguf.short": "The file is shorter than its header says; what is described is the whole model",
        "import.gguf.vocabulary": "The embedding has {rows} rows for {words} tokens; rows count",
        "import.gguf.draft_layers": "{count} layers for multi-token prediction",
        "import.gguf.draft_layers:one": "{count} layer for multi-token prediction",
        "import.gguf.unexplained": (
            "{parameters} parameters in tensors that the program does not know ({names}); they count in the "
            "total, and neither in memory nor in time"
        ),
        "import.gguf.unused_window": (
            "A window of {window} tokens: the file names it, and this architecture has none in llama.cpp"
        ),
        # Lists of prices
        "import.prices.columns": (
            "has no columns by which a list of prices is known; these can be read: {columns}"
        ),
        "import.prices.damaged": "cannot be read from row {row} on; a quotation mark there is never closed",
        "import.prices.many": "has more than {most} rows, the most that are read",
        "import.prices.none": "has no row with an accelerator and a price",
        "import.prices.no_part": (
            "has no price of an accelerator that the catalog has, as far as its names tell ({names})"
        ),
        "import.prices.repeated": (
            "{count} rows repeat a price of the same instance, region and day, as those of several zones do"
        ),
        "import.prices.repeated:one": "{count} row repeats a price of the same instance, region and day",
        "import.prices.undated": "The file does not say of which day its prices are; they stay undated",
        "import.prices.h200": "H200 is taken to be the SXM module where the list does not say NVL",
        "import.prices.unknown": "{count} rows of accelerators that the catalog does not have: {names}",
        "import.prices.unknown:one": "{count} row of an accelerator that the catalog does not have: {names}",
        "import.prices.ambiguous": (
            "{count} rows whose name can be several parts, where neither memory nor instance tells: {names}"
        ),
        "import.prices.ambiguous:one": (
            "{count} row whose name can be several parts, where neither memory nor instance tells: {names}"
        ),
        "import.prices.other_part": (
            "{count} rows of a variant that the catalog does not have, by memory or form: {names}"
        ),
        "import.prices.other_part:one": (
            "{count} row of a variant that the catalog does not have, by memory or form: {names}"
        ),
        "import.prices.no_price": "{count} rows without a price",
        "import.prices.no_price:one": "{count} row without a price",
        "import.prices.no_accelerator": "{count} rows without an accelerator",
        "import.prices.no_accelerator:one": "{count} row without an accelerator",
        "import.prices.odd": (
            "{count} rows with a cell that cannot be: no plain number, an amount that nobody asks, a date "
            "to come, or characters that do not print"
        ),
        "import.prices.odd:one": (
            "{count} row with a cell that cannot be: no plain number, an amount that nobody asks, a date "
            "to come, or characters that do not print"
        ),
        # Accelerators: whether their figures can be
        "import.part.impossible": "{attribute}: outside of what can be, {low} to {high}; check the unit",
        "import.part.unusual": "{attribute}: outside of what known parts have, {low} to {high}",
        "import.part.named_memory": "{attribute}: parts of this name are sold with {sizes} GiB",
        "import.part.label": "{attribute}: the label says {label}",
        "import.part.stack_too_large": (
            "{attribute}: {given} GiB a stack, and no stack of {type} holds more than {most} GiB"
        ),
        "import.part.stack_size": "{attribute}: {given} GiB a stack; stacks of {type} have {sizes} GiB",
        "import.part.reads_a_second": (
            "{attribute}: reads all memory {given} times a second; known parts do so {low} to {high} times"
        ),
        "import.part.stack_bandwidth": (
            "{attribute}: {given} a stack; stacks of {type} give {low} to {high} in known parts"
        ),
        "import.part.too_fast": "{attribute}: {type} of this size gives at most {most}; check the unit",
        "import.part.too_few_channels": "{attribute}: a bus of {type} this fast carries at most {most}",
        "import.part.ratio": "{attribute}: {given} times the peak in {precision}, where {known} is usual",
        "import.part.intensity": (
            "{attribute}: {given} FLOP a byte of memory bandwidth; known parts have {low} to {high}"
        ),
        "import.part.per_watt": "{attribute}: {given} TFLOPS a watt; known parts have {low} to {high}",
        "import.part.sparse_below": "{attribute}: below the dense peak, which cannot be; exchange the two",
        "import.part.sparse_ratio": (
            "{attribute}: {given} times the dense peak, where sparsity doubles it; is one given as the other?"
        ),
        "import.part.pcie": (
            "{attribute}: 16 lanes of PCIe {generation} carry {full}, both directions together"
        ),
        "import.part.link_over_memory": "{attribute}: more than the memory itself gives",
        "import.part.price_order": "{attribute}: below the low end; exchange the two",
        "import.part.platform": "{attribute}: no serving engine is known for it; those known run on {known}",
        # Files of accelerators
        "import.part.required": "is missing: no estimate is possible without",
        "import.part.attribute": "is no attribute that an accelerator can have",
        "import.part.unit": "{given} is no unit of this, which is kept in {unit}",
        "import.part.no_unit": "has the unit {given}, and words have none",
        "import.part.other_kind": "is not an accelerator; models come from config.json or GGUF files",
        "import.part.generation": (
            "The file does not say which generation the accelerator behaves like. Estimates take the "
            "constants of that generation; a new word is uncalibrated"
        ),
        "import.part.no_source": "is missing: every figure needs a source; say who states it",
        "import.part.unknown_source": "{given} is no entry of sources",
        "import.part.two_values": "differs from the value of its claim; change both, or remove one",
        "import.part.twice": "is there twice; remove one",
        "import.part.many": "has more than {most} entries",
        "import.part.same_source": "{count} further values of sources that already state one",
        "import.part.same_source:one": "{count} further value of a source that already states one",
        "import.part.other_fields": "Fields that are not read: {names}",
    }
)

#: What a message with a sentence for one of them counts.
IMPORT_COUNTED: Final = MappingProxyType(
    {
        "import.gguf.draft_layers": "count",
        "import.prices.repeated": "count",
        "import.prices.unknown": "count",
        "import.prices.ambiguous": "count",
        "import.prices.other_part": "count",
        "import.prices.no_price": "count",
        "import.prices.no_accelerator": "count",
        "import.prices.odd": "count",
        "import.part.same_source": "count",
    }
)
