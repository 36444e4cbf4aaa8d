"""The deployments that documents tell of, read from their file."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gpudesk.domain.accelerators import PLATFORMS
from gpudesk.domain.references import Reference
from gpudesk.workbench.deciding.toml_entries import Entry, read_entries, require_once

_PLATFORMS: Final = {each: each for each in PLATFORMS}


def read_references(path: Path) -> tuple[Reference, ...]:
    """Return the references, the newest first; raises `InputError` that names file and place."""
    document = read_entries(path)
    found = [_reference(entry) for entry in document.tables("references")]
    document.end()
    require_once((each.id for each in found), str(path))
    return tuple(sorted(found, key=lambda each: each.date or "", reverse=True))


def _reference(entry: Entry) -> Reference:
    reference = Reference(
        id=entry.text("id"),
        who=entry.text("who"),
        named=entry.flag("named"),
        what=entry.text("what"),
        basis=entry.text("basis"),
        source=entry.text("source"),
        platform=entry.word("platform", _PLATFORMS) if entry.has("platform") else None,
        accelerators=entry.texts("accelerators"),
        count=entry.optional_whole("count"),
        date=entry.optional_date("date"),
        statements=entry.texts("statements"),
        disputes=entry.texts("disputes"),
    )
    entry.end()
    return reference
