"""The sentences of what the catalog says: the user's own facts, their file, imports, exports and packs.

`gpudesk.sentences` merges these tables with its own, where their form is described.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from gpudesk.sentences_configs import CONFIG_COUNTED, CONFIG_SENTENCES, CONFIG_WORDS
from gpudesk.sentences_imports import IMPORT_COUNTED, IMPORT_SENTENCES
from gpudesk.sentences_packs import PACK_SENTENCES

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
        "own.file.folder": "is a folder where the file of your facts belongs; nothing was changed: move "
        "it away",
        "own.file.no_file": "is no plain file, so your facts cannot be in it; nothing was changed: move "
        "it away",
        "own.file.foreign": "is not a file of your facts; it was left as it is: move it away, or restore a "
        "backup",
        "own.file.cut": "is cut short: {size} of {expected} bytes; it was left as it is: restore a backup",
        "own.file.damaged": "is damaged ({reason}); it was left as it is: restore a backup",
        "own.file.newer": "has version {version}; this program writes version {supported}; it was left as it "
        "is: use a newer GPU Desk",
        "own.file.locked": "is in use by another program, and nothing was changed; close that program, then "
        "try again",
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
