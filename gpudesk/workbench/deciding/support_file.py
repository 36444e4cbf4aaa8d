"""What is said of software on each platform, read from one file for each software."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gpudesk.domain.accelerators import PLATFORMS
from gpudesk.domain.messages import InputError, message
from gpudesk.domain.software_support import SoftwareSupport, SupportEntry, SupportLevel
from gpudesk.workbench.deciding.toml_entries import Entry, read_entries, require_once

_LEVELS: Final = {each.value: each for each in SupportLevel}
_PLATFORMS: Final = {each: each for each in PLATFORMS}


def read_support(folder: Path) -> SoftwareSupport:
    """Return all entries, by file; raises `InputError` that names file and place."""
    entries: list[SupportEntry] = []
    found: list[str] = []
    for path in sorted(folder.glob("*.toml")):
        of_file = tuple(_of_file(read_entries(path)))
        entries += of_file
        found += dict.fromkeys(entry.software for entry in of_file)
    if not entries:
        raise InputError(message("beside.no_files"), str(folder))
    require_once(found, str(folder))
    return SoftwareSupport(tuple(entries))


def _of_file(document: Entry) -> Iterator[SupportEntry]:
    software, name = document.text("software"), document.text("name")
    for entry in document.tables("entries"):
        yield SupportEntry(
            software=software,
            name=name,
            platform=entry.word("platform", _PLATFORMS),
            level=entry.word("level", _LEVELS),
            scope=entry.text("scope"),
            source=entry.text("source"),
            date=entry.optional_date("date"),
            statements=entry.texts("statements"),
            disputes=entry.texts("disputes"),
        )
        entry.end()
    document.end()
