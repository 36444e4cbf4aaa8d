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
    }
)

#: What a message with a sentence for one of them counts.
IMPORT_COUNTED: Final = MappingProxyType({"import.gguf.draft_layers": "count"})
