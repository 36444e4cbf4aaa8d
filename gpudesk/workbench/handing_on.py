"""What is handed on, in steps that can be shown: packs of the user's own facts."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpudesk.domain.messages import message
from gpudesk.domain.own_facts import Key, OwnFacts
from gpudesk.domain.progress import Progress, Steps
from gpudesk.workbench.files import write_atomically
from gpudesk.workbench.pack import make_pack
from gpudesk.workbench.pack_signing import signer

#: Parts of the user's facts that can be handed on, by the tables that they lie in.
PARTS: Final[dict[str, frozenset[str]]] = {
    "all": frozenset({"source", "accelerator", "model", "claim", "preference", "price"}),
    "things": frozenset({"accelerator", "model"}),
    "figures": frozenset({"claim", "preference"}),
    "prices": frozenset({"price"}),
}


def keys_of(facts: OwnFacts, part: str) -> frozenset[Key]:
    """Return the keys of the facts of one of `PARTS`; of an own accelerator or model its figures too."""
    tables = PARTS[part]
    own = {key[1] for key in facts.facts if key[0] in PARTS["things"]}
    return frozenset(
        key
        for key in facts.facts
        if key[0] in tables or (part == "things" and key[0] in PARTS["figures"] and key[1] in own)
    )


def write_pack(
    facts: OwnFacts, part: str, name: str, target: Path, *, made: str, about: str, signed_by: str | None
) -> Steps[Path]:
    """Write a pack of a part of the user's facts; raises `InputError` at `name`, or where that fails."""
    yield Progress(message("handing_on.pack"))
    by = None if signed_by is None else signer(signed_by)
    raw = make_pack(facts, keys_of(facts, part), name, made=made, about=about, signer=by)
    yield Progress(message("handing_on.pack"))
    write_atomically(target, raw)
    return target
