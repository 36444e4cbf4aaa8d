"""Sentences of the catalog: user facts, imports, exports and packs."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

CONFIG_SENTENCES: Final = MappingProxyType(
    {
        # What cannot be read
        "import.hf.no_object": "holds no table of fields; take the config.json of a model",
        "import.hf.short_list": "has {found} entries, and there are {wanted} layers",
        "import.hf.heads_divide": "{hidden} does not divide into {heads} heads; state head_dim",
        "import.hf.short_header": "ends before its header does; take the file from its beginning",
        "import.hf.broken_header": "has no shape and format that can be read",
        # What the user must say
        "import.hf.missing": "{of}; the file does not say it",
        # How it was read
        "import.hf.unknown": "The architecture {name} is not known. It was read like Llama: check every dimension",
        "import.hf.answered": "Yours, not of the file: {names}",
        "import.hf.class_defaults": "Left out of the file, so taken as the class has them: {names}",
        "import.hf.unread": "Not understood, and left aside: {names}",
        "import.hf.hash_layers": "The first {count} layers route by tables from token to experts, which are "
        "not counted: {low} in all, or {high} where a serving engine keeps wide numbers",
        "import.hf.hash_layers:one": "The first layer routes by a table from token to experts, which is not "
        "counted: {low}, or {high} where a serving engine keeps wide numbers",
        "import.hf.replaced_blocks": "{count} blocks are replaced by one matrix each; they were read as they "
        "were before",
        "import.hf.replaced_blocks:one": "One block is replaced by one matrix; it was read as it was before",
        # What is stored
        "import.hf.float32": "The checkpoint stores 32 bits; serving engines load it in 16",
        "import.hf.unknown_quantisation": "The number format {name} is not known, so what the checkpoint "
        "stores is left open",
        "import.hf.mixed_rest": "Beside the routed experts some matrices are stored in another format; all "
        "of them are counted as {name}",
        # Whether it adds up
        "import.hf.same_count": "{count} parameters, as many as the checkpoint holds",
        "import.hf.more_stored": "{count} parameters; the checkpoint holds {found}, with parts that are left out here",
        "import.hf.other_count": "{count} parameters, but the checkpoint holds {found}: {difference} apart, "
        "so check the dimensions",
        # What is left out
        "import.hf.other_senses": "The encoders of images or sound: this is the text model",
        "import.hf.draft_layers": "{count} layers that draft further tokens",
        "import.hf.draft_layers:one": "One layer that drafts further tokens",
        "import.hf.head_bias": "The bias of the LM head, {count} numbers",
    }
)

CONFIG_COUNTED: Final = MappingProxyType(
    {"import.hf.hash_layers": "count", "import.hf.replaced_blocks": "count", "import.hf.draft_layers": "count"}
)

#: What the fields of a configuration mean, by their names.
CONFIG_WORDS: Final = MappingProxyType(
    {
        "hidden_size": "How wide a token is between the layers",
        "num_hidden_layers": "How many layers there are",
        "vocab_size": "How many tokens the vocabulary has",
        "num_attention_heads": "How many query heads a layer has",
        "num_key_value_heads": "How many key and value heads a layer has",
        "head_dim": "How wide a head is",
        "intermediate_size": "How wide the feed-forward block is",
        "moe_intermediate_size": "How wide an expert is",
        "num_experts": "How many experts a layer has",
        "num_experts_per_tok": "How many experts a token takes",
        "tie_word_embeddings": "Whether the LM head is the embedding table",
        "attention_bias": "Whether the projections of attention have biases",
        "qk_norm": "Whether queries and keys are normalised: in no way, a head at a time, or all heads together",
        "gated_mlp": "Whether the feed-forward block has a gate, that is three matrices instead of two",
        "other_size": "A size that this architecture has",
    }
)


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
        "import.gguf.list": ("has a list {key} of {length} entries, longer than the rest of the file; fetch it again"),
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
        "import.prices.columns": ("has no columns by which a list of prices is known; these can be read: {columns}"),
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
        "import.part.pcie": ("{attribute}: 16 lanes of PCIe {generation} carry {full}, both directions together"),
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


PACK_SENTENCES: Final = MappingProxyType(
    {
        "table.format": "{suffix} is no form of a table; there are {known}",
        # Packs that are read
        "pack.foreign": "is not a catalog pack; take a file that ends with .gpudeskpack",
        "pack.cut": "is a catalog pack that was cut off; get the file again",
        "pack.newer": "is a catalog pack of format {version}; this program reads format {known}: use a newer GPU Desk",
        "pack.changed": "was changed after it was made; get the file again from whoever made it",
        "pack.broken_signature": "does not hold: pack or signature was changed; get the file again from "
        "whoever signed it",
        "pack.no_signature": "is no key or signature; get the file again from whoever signed it",
        "pack.algorithm": "{given} is no kind of signature that this program knows; it knows {known}",
        "pack.unknown_signer": "is signed by {name}, whom you do not trust yet; compare the fingerprint "
        "{fingerprint} with the signer, then trust the key",
        "pack.too_many": "holds {count} facts; a pack has {most} at the most",
        "pack.twice": "states a fact that stands there already; remove one",
        "pack.too_deep": "is nested too deep to be a model",
        "pack.other_id": "is the structure of {id}; it must be that of the model that states it",
        "pack.no_id": "{given} is no id; ids have small letters, digits and hyphens",
        "pack.not_own_source": "{given} is no source of a user; their ids begin with own-",
        "pack.signer_unknown": "there is no signer {number}; `gpudesk catalog signers` lists them",
        "pack.nothing_chosen": "nothing is chosen; choose a fact",
        # Packs that are made
        "pack.empty": "there is nothing to hand on; state a figure of your own first",
        "pack.key_file": "your signing key cannot be used: {reason}",
        "pack.no_key": "is no signing key; move it away, and the next signature makes a new one",
        "pack.no_library": "signatures need PyNaCl, which cannot be loaded ({reason}): install GPU Desk again",
    }
)


CATALOG_SENTENCES: Final = MappingProxyType(
    {
        **CONFIG_SENTENCES,
        **IMPORT_SENTENCES,
        **PACK_SENTENCES,
        # The user's own facts
        "own.title_missing": "is missing: every figure needs a source; say who states it",
        "own.reason_missing": "is missing: say why this claim is to be taken",
        "own.unknown_unit": "{given} is no unit of this, which is kept in {unit}",
        "own.not_an_address": "{given} is no address; begin with https:// or leave it out",
        "own.follows": "{name} follows from the groups of layers; change one of those",
        "own.no_such_model": "makes no model: {reason}",
        "own.shape": "does not go with the rest of the model: {fault}",
        "own.required": "{attribute} is needed for every estimate: state it",
        "own.no_such_thing": "there is no entry {id} that this is about; add it first",
        "own.no_such_source": "there is no source {id}; state where the figure comes from",
        "own.price_order": "is below the low end; exchange the two",
        "own.exists": "{id} is there already; choose another id",
        "own.not_own": "{id} is an entry of the shipped catalog, which stays; only your own can be removed",
        "own.same_value": "says what the catalog holds already",
        "own.no_claims": "nobody states a value; enter one of yours",
        "own.no_such_claim": "nobody states this value; choose one of the claims",
        "own.too_large": "is too large to be kept exactly; write a smaller number",
        "own.no_number": "is no number that can be kept; write a figure",
        "own.dangling_source": "leaves a claim or a price without its source, so nothing was changed; "
        "keep the source, or remove what rests on it too",
        "own.changed_elsewhere": "was changed by another program in the meantime, so nothing was written; "
        "look at what holds now, then do it again",
        # Facts of the user that wait
        "own.waits.thing": "the entry {id} is no longer in the catalog",
        "own.waits.taken": "the catalog has an entry {id} of its own by now, which holds",
        "own.waits.two": "an accelerator of yours has the id {id} too, and it holds",
        "own.waits.unreadable": "its structure cannot be read",
        "own.waits.attribute": "the entry {id} has nothing of this name any more; nothing rests on it",
        "own.waits.cannot_be": "such an entry cannot have this value; nothing rests on it",
        "own.waits.claim": "nobody states {value} any more; the catalog's own choice holds",
        "own.waits.claim_yours": "nobody states {value} any more; another value of yours holds",
        "own.waits.claim_none": "nobody states {value} any more; no value is taken",
        "own.waits.dimension": "makes no model with the other dimensions; the catalog's own choice holds",
        "own.waits.dimension_yours": "makes no model with the other dimensions; another value of yours holds",
        "own.waits.dimension_none": "makes no model with the other dimensions; the model's own value holds",
        # The file of the user's facts
        "own.file.link": "is a link to {target}, which is not there; nothing was changed: connect the disk "
        "that it leads to, or remove the link",
        "own.file.folder": "is a folder where the file of your facts belongs; nothing was changed: move it away",
        "own.file.no_file": "is no plain file, so your facts cannot be in it; nothing was changed: move it away",
        "own.file.foreign": "is not a file of your facts; it was left as it is: move it away, or restore a backup",
        "own.file.cut": "is cut short: {size} of {expected} bytes; it was left as it is: restore a backup",
        "own.file.damaged": "is damaged ({reason}); it was left as it is: restore a backup",
        "own.file.newer": "has version {version}; this program writes version {supported}; it was left as it "
        "is: use a newer GPU Desk",
        "own.file.locked": "is in use by another program, and nothing was changed; close that program, then try again",
        "own.file.full": "cannot be written, since the disk is full; your facts are as before: free some "
        "space, then try again",
        "own.file.read_only": "cannot be written: the file or its folder is read-only; your facts are as "
        "before: allow writing there, or set GPUDESK_HOME to another folder",
        "own.file.no_access": "cannot be opened ({reason}); nothing was changed: look at the permissions of "
        "the file and its folder",
        "own.file.faulty": "cannot be read or written ({reason}); what it held is as before: look at the "
        "disk, then try again",
        "own.file.removed": "was removed while it was in use, so nothing was written; your facts are still "
        "here: write them anew, put the file back, or restore a backup",
        "own.backup.unknown": "there is no backup {number}; `gpudesk catalog backups` lists those there are",
        "own.backup.gone": "is not there; choose another backup",
        "own.backup.cut": "is cut short: {size} of {expected} bytes; choose another backup",
        "own.backup.damaged": "is damaged ({reason}); choose another backup",
        "own.backup.foreign": "is not a backup of your facts; choose another",
        # Steps that can be undone
        "own.step.state": "Your value for {attribute} of {thing}",
        "own.step.prefer": "Choice of a claim for {attribute} of {thing}",
        "own.step.take_shipped": "Shipped choice for {attribute} of {thing}",
        "own.step.revert": "Shipped value for {attribute} of {thing}",
        "own.step.add": "Add {name}",
        "own.step.change": "Change {name}",
        "own.step.rename": "Rename {name} to {new}",
        "own.step.remove": "Remove {name}",
        "own.step.forget": "Remove {attribute} of {thing}",
        "own.step.price": "Price of {thing}",
        "own.step.remove_price": "Remove price of {thing}",
        "own.step.source": "Change source {title}",
        "scenario.carries_entries": "names {names}, which your catalog lacks and the file brings along; "
        "import the file first",
        "import.carries_nothing": "is a scenario that carries no facts of its author; open it instead",
        # Handing on
        "handing_on.pack": "Writing the pack",
        "handing_on.table": "Writing the table",
        # Models of the user's
        "import.model.attribute": "{name} is no attribute that a model can have",
        "import.model.field": "{problem}",
        "import.model.large": "is larger than {largest}, the most that is read",
        "import.model.many_groups": "are more than {most} groups; put layers that are alike into one",
        "import.model.no_kind": "names {name}, which is not described",
        "import.model.too_many_parameters": "make more than 10^15 parameters; check the sizes of the experts",
        "import.model.nothing_kept": "no layer of the same shape keeps a cache that this one could reuse",
        "import.model.multiple": "{value} is no multiple of {dimension} {other_value}",
        "import.model.at_most": "{value} is more than {dimension} {other_value}",
        # Files that are brought in
        "import.reading": "Reading {file}",
        "import.prices": "Prices of {file}",
        "import.writing": "Writing {name}",
        "import.unknown": (
            "holds nothing that can be brought in: take the config.json of a model, a GGUF file, an "
            "accelerator as JSON, prices as CSV, or a catalog pack"
        ),
        "import.is_other": "is a {format} file; unpack or export it first, and take what is inside",
        "import.empty": "is empty",
        "import.folder": "holds neither a config.json nor a GGUF file",
        "import.no_file": "is a pipe or a device, and only files are read",
        "import.too_big": "is larger than {most}, the most that is read",
        "import.not_text": "is no text in UTF-8",
        "import.not_json": "is no JSON from line {line} on; fetch the file again, or mend it there",
        "import.nested": "is nested deeper, or has longer numbers, than any such file",
        "import.fields_missing": "does not state {fields}; say it by --answer FIELD=VALUE or in the window",
        "import.answer": "{given} stands where {wanted} belongs",
        "import.no_model": "is for models, and this file holds none",
        "import.choice": "{given} is none of {choices}",
        "import.id": "has small letters, digits, single dots and hyphens, at most {longest}",
    }
)

#: What a message with a sentence for one of them counts.
CATALOG_COUNTED: Final[MappingProxyType[str, str]] = MappingProxyType({**CONFIG_COUNTED, **IMPORT_COUNTED})

CATALOG_WORDS: Final[MappingProxyType[str, str]] = MappingProxyType({**CONFIG_WORDS})
