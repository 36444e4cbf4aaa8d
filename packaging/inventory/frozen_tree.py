"""The content of a frozen program: its files, by their paths in packages, and its modules."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

#: Folder of the program's own files, as in `gpudesk.paths`.
BUNDLE: Final = "gpudesk/_bundled"
#: Files for installers, written into the tree.
NOTICES: Final = "THIRD_PARTY_NOTICES.txt"

#: The suffix of a macOS application.
_OF_THE_APPLICATION: Final = ("Contents/Info.plist", "Contents/PkgInfo", "Contents/_CodeSignature/")


class TreeError(Exception):
    """A folder that is not a frozen program, or one that cannot be moved."""


@dataclass(frozen=True)
class FrozenTree:
    """A folder made by PyInstaller, or an application of macOS."""

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
        """All files by path: below the packages' folder by their relative path, at the top by `/` and name.

        A link counts as its target.
        """
        whole, _ = self.root.resolve(), self.bundle
        paths = {}
        for path in sorted(whole.rglob("*")):
            if path.is_symlink():
                target = path.resolve()
                if not target.exists() or not target.is_relative_to(whole):
                    raise TreeError(f"{path} leads to {target}, which is not in the tree")
            elif path.is_file():
                paths[self._place(path)] = path
        return paths

    @cached_property
    def programs(self) -> dict[str, Path]:
        """The executables at the top, by path."""
        at_the_top = {place: path for place, path in self.files.items() if place.startswith("/")}
        return {place: path for place, path in at_the_top.items() if _archive_of(path) is not None}

    @cached_property
    def modules(self) -> set[str]:
        """The names of all frozen modules, including those of PyInstaller."""
        names: set[str] = set()
        for path in self.programs.values():
            archive = _archive_of(path)
            for name, entry in archive.toc.items():
                if name.endswith(".pyz"):
                    names.update(archive.open_embedded_archive(name).toc)
                # Scripts are PyInstaller's hooks and the program's entry point.
                elif entry[-1] in {"m", "M"} or name.startswith("pyi"):
                    names.add(name)
        return names

    def is_the_programs_own(self, place: str) -> bool:
        """Whether a file is GPU Desk's, unless a component of it is third-party."""
        return (
            place.startswith("gpudesk/")
            or place == f"/{NOTICES}"
            or any(place.startswith(f"/{name}") for name in _OF_THE_APPLICATION)
            or place.endswith(".icns")
        )

    def _place(self, path: Path) -> str:
        """Return the path of a file."""
        whole = self.root.resolve()
        for folder in (self.bundle.parents[1], whole / "Contents/Frameworks", whole / "Contents/Resources"):
            if path.is_relative_to(folder):
                return path.relative_to(folder).as_posix()
        return f"/{path.relative_to(whole).as_posix()}"


def _archive_of(path: Path) -> Any:  # noqa: ANN401 - of a package that is installed only where programs are frozen
    """Return PyInstaller's archive appended to an executable, None for any other file."""
    from PyInstaller.archive.readers import ArchiveReadError, CArchiveReader, NotAnArchiveError

    try:
        return CArchiveReader(str(path))
    except (ArchiveReadError, NotAnArchiveError, OSError):
        return None
