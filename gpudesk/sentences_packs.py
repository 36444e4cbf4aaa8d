"""The sentences of what is handed on: tables, and packs of the user's facts.

`gpudesk.sentences_catalog` merges them with the others of the catalog.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

PACK_SENTENCES: Final = MappingProxyType(
    {
        "table.format": "{suffix} is no form of a table; there are {known}",
        # Packs that are read
        "pack.foreign": "is not a catalog pack; take a file that ends with .gpudeskpack",
        "pack.cut": "is a catalog pack that was cut off; get the file again",
        "pack.newer": "is a catalog pack of format {version}; this program reads format {known}: use a newer "
        "GPU Desk",
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
        "pack.no_library": "signatures need PyNaCl, which cannot be loaded ({reason}): install GPU Desk "
        "again",
    }
)
