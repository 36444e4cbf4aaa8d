"""Checksums of the bundled files: `packaging/bundle_manifest.py` writes them, the self-test checks them."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Final

from gpudesk.frozen_dataclass import frozen_dataclass
from gpudesk.text.messages import input_error

#: The list itself is in the bundle, but not listed.
MANIFEST: Final = "SHA256SUMS"
#: In the bundle of a frozen program: the names of the libraries and modules around it. Signing changes their contents.
PROGRAM_FILES: Final = "program-files.txt"

#: Files that file managers leave in folders.
_STRAYS: Final = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})
_LINE: Final = re.compile(r"([0-9a-f]{64})  (.+)")


@frozen_dataclass
class BundleDifferences:
    """Differences between a bundle and its list: files by kind of difference, and the number of unchanged files."""

    unharmed: int
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    added: tuple[str, ...]


def list_files_below(folder: Path) -> dict[str, Path]:
    """Return all files of a folder by their relative names, except the list and files of file managers."""
    files = (file for file in folder.rglob("*") if file.is_file() and file.name not in _STRAYS)
    files_by_path = {file.relative_to(folder).as_posix(): file for file in files}
    files_by_path.pop(MANIFEST, None)
    return files_by_path


def list_missing_program_files(folder: Path) -> tuple[str, ...]:
    """Return the missing files around the bundle of a frozen program; empty for any other installation."""
    try:
        names = (folder / PROGRAM_FILES).read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        # A missing or damaged list is reported by its own line in the list of the bundle.
        return ()
    return tuple(name for name in names if not (folder.parents[1] / name).exists())


def compare_bundle(folder: Path) -> BundleDifferences:
    """Compare a bundle with its list; raises `InputError` if the list cannot be read."""
    listed = _read_manifest(folder / MANIFEST)
    there = list_files_below(folder)
    changed = [name for name in listed if name in there and not _is_unharmed(there[name], listed[name])]
    missing = [name for name in listed if name not in there]
    return BundleDifferences(
        unharmed=len(listed) - len(changed) - len(missing),
        changed=tuple(changed),
        missing=tuple(missing),
        added=tuple(sorted(there.keys() - listed.keys())),
    )


def _read_manifest(manifest: Path) -> dict[str, str]:
    try:
        lines = manifest.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise input_error(
            "bundle.no_list",
            "the list of the program's files cannot be read: {reason}",
            str(manifest),
            reason=str(error),
        ) from error
    parsed = [_LINE.fullmatch(line) for line in lines]
    listed = {entry[2]: entry[1] for entry in parsed if entry is not None}
    if not listed or len(listed) < len(lines):
        raise input_error("bundle.bad_list", "the list of the program's files is no longer whole", str(manifest))
    return listed


def _is_unharmed(file: Path, digest: str) -> bool:
    """Whether a file matches its checksum; an unreadable file does not."""
    try:
        return compute_file_digest(file) == digest
    except OSError:
        return False


def compute_file_digest(file: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal digits."""
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
