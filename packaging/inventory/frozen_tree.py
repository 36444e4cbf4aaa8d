"""What lies in a frozen program: its files, by the places that its packages gave them, and its modules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

#: Where the program's own files lie, as `gpudesk.paths` looks for them.
BUNDLE: Final = "gpudesk/_bundled"
#: What installers show and lay beside the program; written into the tree.
NOTICES: Final = "THIRD_PARTY_NOTICES.txt"

#: What makes a folder an application of macOS.
_OF_THE_APPLICATION: Final = ("Contents/Info.plist", "Contents/PkgInfo", "Contents/_CodeSignature/")


class TreeError(Exception):
    """A folder is no frozen program, or one that cannot be moved."""


@dataclass(frozen=True)
class FrozenTree:
    """A folder that PyInstaller made, or an application of macOS."""

    root: Path

    @cached_property
    def bundle(self) -> Path:
        """The folder of the program's own files."""
        for folder in sorted(self.root.rglob(BUNDLE)):
            if folder.is_dir() and not folder.resolve().is_relative_to(self.root.resolve()):
                raise TreeError(f"{folder} leads out of {self.root}")
            if folder.is_dir():
                return folder.resolve()
        raise TreeError(f"{self.root} has no {BUNDLE}: it is no frozen GPU Desk")

    @cached_property
    def files(self) -> dict[str, Path]:
        """All files by place: below the folder of the packages as they name it, at the top by `/` and name.

        A link counts as what it leads to.
        """
        whole, _ = self.root.resolve(), self.bundle
        found = {}
        for path in sorted(whole.rglob("*")):
            if path.is_symlink():
                target = path.resolve()
                if not target.exists() or not target.is_relative_to(whole):
                    raise TreeError(f"{path} leads to {target}, which is not in the tree")
            elif path.is_file():
                found[self._place(path)] = path
        return found

    @cached_property
    def programs(self) -> dict[str, Path]:
        """The files at the top that start the program, by place."""
        at_the_top = {place: path for place, path in self.files.items() if place.startswith("/")}
        return {place: path for place, path in at_the_top.items() if _archive_of(path) is not None}

    @cached_property
    def modules(self) -> set[str]:
        """The names of all frozen modules, those of the frame included."""
        found: set[str] = set()
        for path in self.programs.values():
            archive = _archive_of(path)
            for name, entry in archive.toc.items():
                if name.endswith(".pyz"):
                    found.update(archive.open_embedded_archive(name).toc)
                # Scripts are the hooks of the frame and, under a name of its own, the program's beginning.
                elif entry[-1] in {"m", "M"} or name.startswith("pyi"):
                    found.add(name)
        return found

    def is_the_programs_own(self, place: str) -> bool:
        """Whether a file is GPU Desk's, unless a part of it is someone's."""
        return (
            place.startswith("gpudesk/")
            or place == f"/{NOTICES}"
            or any(place.startswith(f"/{name}") for name in _OF_THE_APPLICATION)
            or place.endswith(".icns")
        )

    def _place(self, path: Path) -> str:
        """Return the place of a file."""
        whole = self.root.resolve()
        for folder in (self.bundle.parents[1], whole / "Contents/Frameworks", whole / "Contents/Resources"):
            if path.is_relative_to(folder):
                return path.relative_to(folder).as_posix()
        return f"/{path.relative_to(whole).as_posix()}"


def _archive_of(path: Path) -> Any:  # noqa: ANN401 - of a package that is there where programs are frozen only
    """Return what PyInstaller appended to a program, None for any other file."""
    from PyInstaller.archive.readers import ArchiveReadError, CArchiveReader, NotAnArchiveError

    try:
        return CArchiveReader(str(path))
    except (ArchiveReadError, NotAnArchiveError, OSError):
        return None
